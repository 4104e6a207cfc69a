"""Goodness of fit by the kernel Stein discrepancy: against a matrix and a loop, and 16 384 points.

No package that pip installs has this test, so its peer has the whole matrix from NumPy, term by term, and
loops over the draws. The signs are those of our own draws, so that
statistics and draws agree to rounding. The large row is the V-statistic in blocks, of which the runner
measures the memory: the matrix would take 2 GiB.
"""

from functools import partial

import numpy as np
from runner import Race, main, points

from rkhs_notes.deeper.stein import SteinKernel, goodness_of_fit_test, stein_discrepancy
from rkhs_notes.deeper.zoo import RationalQuadratic
from rkhs_notes.engines.testing.resampling import random_signs

OURS = "rkhs_notes"
DRAWS = "NumPy matrix, loop over draws"


def rows(quick):
    "The races; quick: 60 and 300 points instead of 1000, 4096 instead of 16 384"
    sizes = [(60, 50), (300, 100)] if quick else [(1000, 500)]
    return [partial(fit, n, B, quick) for n, B in sizes] + [
        partial(large, 4096 if quick else 16_384)
    ]


def normal(X):
    return -X


def fit(n, B, quick, d=2):
    "The test with B draws"
    X, k = points(n, d), RationalQuadratic(0.5, 1.0)
    W = random_signs(n, B, 1).astype(float)

    def of_matrix(U):
        np.fill_diagonal(U, 0)
        return np.array([U.sum(), *(w @ U @ w for w in W.T)]) / (n * (n - 1))

    def by_draws():
        r = X[:, None] - X
        t = (r**2).sum(axis=2)
        first, second = -0.5 * (1 + t) ** -1.5, 0.75 * (1 + t) ** -2.5
        scores = (1 + t) ** -0.5 * (X @ X.T)
        return of_matrix(scores + 2 * first * t - 2 * d * first - 4 * t * second)

    def ours():
        result = goodness_of_fit_test(k, normal, X, rng=1, n_draws=B)
        return np.array([result.statistic, *result.null])

    agree = partial(np.testing.assert_allclose, rtol=1e-10, atol=1e-12)
    contenders = {OURS: ours, DRAWS: by_draws}
    return Race(f"goodness of fit n={n} B={B}", contenders, agree, repeats=3)


def large(n, d=2):
    "The V-statistic of n points in blocks, against the same sum over strips of rows"
    X, k = points(n, d), RationalQuadratic(0.5, 1.0)

    def strips():
        u = SteinKernel(k, normal)
        return sum(u(X[i : i + 256], X).sum() for i in range(0, n, 256)) / n**2

    agree = partial(np.testing.assert_allclose, rtol=1e-8)
    contenders = {
        OURS: lambda: stein_discrepancy(k, normal, X, biased=True),
        "strips of rows": strips,
    }
    return Race(f"KSD n={n}", contenders, agree, repeats=1)


if __name__ == "__main__":
    main(__file__, rows)
