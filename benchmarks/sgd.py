"""Kernel SGD: one epoch on a stored Gram matrix, against the same loop compiled by numba and in plain NumPy.

All contenders draw the same examples in the same order. The Gram matrix is there before the clock is read,
and numba has compiled. The compiled loop is the peer to come near: a step is one row of the matrix, read
once, and ours reads it too.
"""

from functools import partial

import numpy as np
from runner import Race, main

from rkhs_notes.base.datasets import smiley
from rkhs_notes.deeper.zoo import Precomputed
from rkhs_notes.engines.solving.descent import kernel_sgd
from rkhs_notes.engines.solving.losses import as_loss
from rkhs_notes.engines.solving.steps import Examples, Run, descend
from rkhs_notes.kernels import Gaussian

try:
    from numba import njit
except ImportError:  # pip install '.[bench]'
    njit = None

OURS = "rkhs_notes"


def rows(quick):
    "The races; quick: 128 points instead of 1024 and 4096"
    sizes = (128,) if quick else (1024, 4096)
    return [partial(epoch, n, loss) for n in sizes for loss in ("logistic", "squared", "hinge")]


def _logistic(K, y, examples, step):
    u = np.zeros(len(y))
    for i in examples:
        z = np.dot(K[i], u)
        u[i] += step * y[i] / (1.0 + np.exp(y[i] * z))
    return u


def _squared(K, y, examples, step):
    u = np.zeros(len(y))
    for i in examples:
        u[i] -= step * 2.0 * (np.dot(K[i], u) - y[i])
    return u


def _hinge(K, y, examples, step):
    u = np.zeros(len(y))
    for i in examples:
        if y[i] * np.dot(K[i], u) < 1.0:
            u[i] += step * y[i]
    return u


LOOPS = dict(logistic=_logistic, squared=_squared, hinge=_hinge)
COMPILED = {name: njit(loop) for name, loop in LOOPS.items()} if njit else {}


def epoch(n, loss, step=0.1):
    "n steps of option 4 on the smiley, with the constants of the lecture."
    X, y = smiley(n, 0)
    K = Gaussian(bandwidth=200**-0.5)(X)
    examples = np.random.default_rng(0).integers(n, size=n)
    ours, K = stored(K, y, loss, step)  # one matrix for all: a fair cache
    contenders = {OURS: ours}
    if COMPILED:
        contenders["numba loop"] = lambda: COMPILED[loss](K, y, examples, step)
    contenders["NumPy loop"] = lambda: LOOPS[loss](K, y, examples, step)

    def agree(a, b):
        gap = float(np.abs(a - b).max())
        allowed = n * np.finfo(float).eps * np.abs(a).sum()  # n sums of n products, slopes ≤ 2
        assert gap <= allowed, f"They differ by {gap:.2g}; rounding explains {allowed:.2g}."

    return Race(
        title=f"one epoch of kernel SGD, option 4, {loss}, n={n}",
        contenders=contenders,
        agree=agree,
        repeats=31,
    )


def stored(K, y, loss, step):
    "(option 4 after its first part: the steps of kernel_sgd on a matrix that is there, this matrix)"
    n, points = len(y), np.arange(len(y), dtype=float)[:, None]
    form = Examples(Precomputed(K), points, stored=True)
    fitted = kernel_sgd(
        Precomputed(K), points, y, loss, option=4, steps=n, step_size=step, rng=0
    ).alpha

    run = Run(y, as_loss(loss), n, step, np.random.default_rng(0))  # examples as numba gets them

    def work():
        return descend(run, form)

    assert (work() == fitted).all()  # the very steps of kernel_sgd
    return work, form.stored


if __name__ == "__main__":
    main(__file__, rows)
