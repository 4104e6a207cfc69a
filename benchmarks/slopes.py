"""How the cost grows with n: slopes on log-log axes against what the algorithm should cost.

Each job runs at five sizes that double, the best of three turns at each. The slope is that of the last
three. It should not lie above theory by more than a quarter, which is what small sizes, caches and the
share of cheaper parts account for; below it may lie: a part that grows faster has not taken over yet.
"""

from functools import partial

import levels
import numpy as np

from rkhs_notes.deeper.scale import ridge_large
from rkhs_notes.deeper.streams import stream_ridge
from rkhs_notes.deeper.two_samples import mmd_test
from rkhs_notes.engines.features.spectral import fourier_features
from rkhs_notes.engines.machines.kernel_machines import svc
from rkhs_notes.engines.solving.ridge_fits import ridge
from rkhs_notes.kernels import Gaussian
from rkhs_notes.kpca import kernel_pca

D, ROOM = 10, 0.25
K = Gaussian(bandwidth=D**0.5)
WAVES = fourier_features(K, D, 400, 0)


def sample(n):
    "Points, smooth targets with noise, and labels that overlap"
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, D))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] / 2
    return X, y + 0.1 * rng.standard_normal(n), np.sign(y + 0.5 * rng.standard_normal(n))


JOBS = {  # name: (largest n, exponent of theory, what it counts, work(X, y, labels))
    "ridge": (6400, 3, "n³/3 of Cholesky", lambda X, y, _: ridge(K, X, y, 0.1)),
    "svc": (6400, 2, "a row of n for each of about n steps", lambda X, _, s: svc(K, X, s, 1.0)),
    "kernel_pca": (6400, 2, "n² for each of a fixed number of products",
                   lambda X, *_: kernel_pca(K, X, min(10, len(X) // 2))),
    "mmd_test": (6400, 2, "n² for each relabelling",
                 lambda X, *_: mmd_test(K, X[: len(X) // 2], X[len(X) // 2 :], 199, rng=0)),
    "ridge_large": (102_400, 1, "n M for each step, M = 200",
                    lambda X, y, _: ridge_large(K, X, y, 1.0, n_centres=200, progress=False)),
    "streaming": (204_800, 1, "n D² for D features", lambda X, y, _: stream_ridge(WAVES, (X, y), 1.0)),
}  # fmt: skip


def slope(sizes, seconds):
    "Of the line of least squares through the logarithms of the last three"
    return float(np.polyfit(np.log(sizes[-3:]), np.log(seconds[-3:]), 1)[0])


def measured(name, quick, clock):
    "One job at five sizes"
    largest, theory, counts, work = JOBS[name]
    sizes, seconds = [largest // (64 if quick else 1) // 2**i for i in (4, 3, 2, 1, 0)], []
    for n in sizes:
        data, turns = sample(n), []
        for _ in range(1 if quick else 3):
            start = clock()
            work(*data)
            turns.append(clock() - start)
        seconds.append(min(turns))
    found = slope(sizes, seconds)
    return dict(
        race=f"slope of {name}",
        job=name,
        n=sizes,
        seconds=seconds,
        slope=found,
        theory=theory,
        counts=counts,
        reached=None if quick else found <= theory + ROOM,
    )


def told(name, quick, clock):
    row = measured(name, quick, clock)
    points = ", ".join(f"{t:.3g} at {n}" for n, t in zip(row["n"], row["seconds"], strict=True))
    print(f"{name:12} {row['slope']:5.2f} {row['theory']:6} {points}", flush=True)
    return [row]


if __name__ == "__main__":
    jobs = {name: partial(told, name) for name in JOBS}
    levels.main(__file__, jobs, f"\n{'':12} slope theory   seconds at n")
