"""Support vector machines against libsvm over a grid of problems, drawn afresh: the worst cell counts.

Few support vectors and many, balanced and 10 %, 2 to 26 classes, 4 to 300 columns. libsvm runs at its
defaults. A run takes six cells, drawn too; with PROFILE=full it takes all.
"""

import os
from functools import partial

import numpy as np
from runner import FULL, Race, main
from sklearn.svm import SVC

from rkhs_notes.deeper.machines import svc_multiclass
from rkhs_notes.engines.machines.kernel_machines import svc
from rkhs_notes.kernels import Gaussian

OURS, PEER = "rkhs_notes", "sklearn SVC"
# points, columns, classes, share of the smaller of two classes (None: equal), noise: the more noise,
# the more points are support vectors, from 1 to 85 %
GRID = [
    (150, 4, 2, None, 1.0),
    (150, 50, 2, 0.1, 0.3),
    (500, 4, 2, 0.1, 2.5),
    (500, 300, 2, None, 1.0),
    (2000, 4, 2, None, 2.5),
    (2000, 50, 2, 0.1, 0.3),
    (5000, 20, 2, 0.1, 1.0),
    (5000, 300, 2, 0.1, 1.0),
    (5000, 4, 2, None, 1.0),
    (20_000, 20, 2, 0.1, 0.3),
    (20_000, 20, 2, 0.1, 1.0),
    (200, 9, 6, None, 1.0),
    (2000, 50, 10, None, 0.3),
    (3000, 16, 26, None, 0.3),
    (5000, 256, 10, None, 1.0),
]
# new draws each run: GRID_SEED=7 python benchmarks/svc_grid.py repeats those of a title
GRID_SEED = int(os.environ.setdefault("GRID_SEED", str(np.random.SeedSequence().entropy % 10**6)))


def rows(quick):
    "The races; quick: the first cell"
    some = np.random.default_rng(GRID_SEED).permutation(len(GRID))[:6]
    chosen = [0] if quick else range(len(GRID)) if FULL else sorted(some)
    return [partial(one_cell, GRID_SEED + i, *GRID[i]) for i in chosen]


def mixture(n, d, classes, minority, noise, seed):
    "Three clouds a class, scaled so that a bandwidth of 0.7 suits any number of columns"
    rng = np.random.default_rng(seed)
    share = None if minority is None else [1 - minority, minority]
    y = rng.choice(classes, size=n, p=share)
    y[: 2 * classes] = np.tile(np.arange(classes), 2)
    centres = rng.standard_normal((classes, 3, d))
    X = centres[y, rng.integers(0, 3, n)] + noise * rng.standard_normal((n, d))
    return X / np.sqrt(2 * d * (1 + noise**2)), y


def one_cell(seed, n, d, classes, minority, noise, C=10.0, bandwidth=0.7):
    "One problem of the grid: fits only, contracts, Gram matrices and certificates included."
    X, y = mixture(n, d, classes, minority, noise, seed)
    k, fit = Gaussian(bandwidth), svc if classes == 2 else svc_multiclass

    def theirs():
        machine = SVC(C=C, gamma=0.5 / bandwidth**2).fit(X, y)
        return machine.decision_function(X[:500]) if classes == 2 else machine.predict(X[:500])

    def ours():
        machine = fit(k, X, y, C)
        return machine.decision(X[:500]) if classes == 2 else machine.predict(X[:500])

    def agree(one, other):
        far = np.abs(one - other).max() if classes == 2 else np.mean(one != other)
        assert far <= 0.01, f"Decisions, or the share of other predictions, differ by {far:.2g}."

    return Race(
        title=f"svc grid, n={n}, d={d}, {classes} classes, minority={minority}, noise={noise}, seed={seed}",
        contenders={OURS: ours, PEER: theirs},
        agree=agree,
        repeats=7 if n < 1000 else 3,
    )


if __name__ == "__main__":
    main(__file__, rows)
