"""Power at level 5 %: how often each test sees a shift, a change of scale, tilted blobs, a column, a drift.

Every test gets the same 100 pairs of samples and B = 199. hyppo takes part where it is installed; on the
blobs, where it takes seconds a test, it gets the first ten pairs. All of it takes about three minutes of one
core.
"""

from functools import cache, partial

import levels
import mmd as peers
import numpy as np

from rkhs_notes.base.datasets import digits_drift
from rkhs_notes.deeper.power import choose_kernel
from rkhs_notes.deeper.two_samples import (
    gaussian_grid,
    mmd_test,
    mmd_test_aggregated,
    mmd_test_split,
)
from rkhs_notes.kernels import Gaussian


def shift(rng):
    return rng.normal(size=50), rng.normal(size=50) + 0.5


def scale(rng):
    return rng.normal(size=(50, 2)), 1.5 * rng.normal(size=(50, 2))


def blobs(rng, n=300, tilt=0.75):
    "Nine clusters on a grid; inside each, the second sample is correlated"
    root = np.linalg.cholesky([[1, tilt], [tilt, 1]])
    X, Y = 5.0 * rng.integers(0, 3, size=(2, n, 2))
    return X + rng.normal(size=(n, 2)), Y + rng.normal(size=(n, 2)) @ root.T


def column(rng, n=200, spread=1.8):
    "Twenty columns; in the second sample, one has a larger spread"
    X, Y = rng.normal(size=(2, n, 20))
    Y[:, 7] *= spread
    return X, Y


drift = cache(digits_drift)


def digits(rng, n=100):
    "Images of the first and of the second half of the digits file"
    return tuple(A[rng.permutation(len(A))[:n]] / 16 for A in drift()[:2])


def median(X, Y):
    return gaussian_grid(X, Y, 1)[0]


def by_mmd(statistic, null=None, kernel=median, **options):
    return lambda X, Y, rng: (
        mmd_test(kernel(X, Y), X, Y, 199, null, statistic, rng, **options).pvalue
    )


def aggregated(X, Y, rng):
    return mmd_test_aggregated(None, X, Y, 199, rng=rng).pvalue


def split(X, Y, rng):
    return mmd_test_split(None, X, Y, 0.5, 199, rng=rng).pvalue


def by_criterion(X, Y, rng):
    return mmd_test_split(partial(choose_kernel, None), X, Y, 0.5, 199, rng=rng).pvalue


def by_hyppo(X, Y, rng):
    X, Y = (A.reshape(len(A), -1) for A in (X, Y))
    return peers.by_hyppo(X, Y, 199, median(X, Y).bandwidth)


TESTS = {
    "U, bandwidth 1": by_mmd("u", kernel=lambda X, Y: Gaussian(1.0)),
    "U, median bandwidth": by_mmd("u"),
    "U1 (swaps), median": by_mmd("u1"),
    "block, median": by_mmd("block"),
    "linear, median": by_mmd("linear"),
    "aggregated over 7": aggregated,
    "split, 7 bandwidths": split,
    "split, a scale a column": by_criterion,
} | ({"hyppo MMD, median": by_hyppo} if peers.MMD else {})


def power(alternative, name, quick, clock):
    n_tests = 10 if quick or (alternative is blobs and TESTS[name] is by_hyppo) else 100
    share = levels.rejections(levels.one_stream(11, alternative, TESTS[name]), n_tests) / n_tests
    print(f"{alternative.__name__:8}{name:28}{share:.2f} of {n_tests}", flush=True)
    return [dict(race=alternative.__name__, contender=name, power=share, tests=n_tests)]


if __name__ == "__main__":
    jobs = {f"{alternative.__name__} {name}": partial(power, alternative, name)
            for alternative in (shift, scale, blobs, column, digits) for name in TESTS}  # fmt: skip
    levels.main(__file__, jobs, "share of rejections, and of how many pairs of samples\n")
