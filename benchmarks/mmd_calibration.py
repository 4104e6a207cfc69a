"""Type-I errors: how often each two-sample test rejects when both samples come from one law.

Each row draws 2000 pairs of samples from N(0, I₂), tests every pair, and counts p ≤ 5 %. A test called exact
must reject within the 99 % binomial interval; the approximate ones are reported. The last row is a test known
to be wrong, the bandwidth chosen by the largest statistic on the data that test it: it must fall outside.
"""

from functools import partial

import levels
import numpy as np
from mmd_power import aggregated, by_criterion, by_mmd, split

from rkhs_notes.deeper.power import choose_kernel
from rkhs_notes.deeper.two_samples import gaussian_grid, mmd_test
from rkhs_notes.engines.features.spectral import fourier_features
from rkhs_notes.engines.functions.measures import Measure
from rkhs_notes.kernels import Gaussian


def weighted(X, Y, rng):
    "Pairs (point, weight) of one law: the weight depends on the point, alike in both samples."
    X, Y = (Measure(A, 1 / (1 + np.exp(-A[:, 0]))) for A in (X, Y))
    return mmd_test(Gaussian(1.0), X, Y, 199, rng=rng).pvalue


def with_ties(X, Y, rng):
    return by_mmd("u")(np.round(X), np.round(Y), rng)


def by_features(X, Y, rng):
    return mmd_test(fourier_features(Gaussian(1.5), 2, 40, rng), X, Y, 199, rng=rng).pvalue


def chosen_on_all(X, Y, rng):
    "One bandwidth a column by the criterion, tested on the data that chose them"
    return mmd_test(choose_kernel(None, X, Y), X, Y, 199, rng=rng).pvalue


def cheat(X, Y, rng):
    "The kernel with the largest U in units of its null, tested on the data that chose it"
    tests = [mmd_test(k, X, Y, 199, rng=rng) for k in gaussian_grid(X, Y)]
    return max(tests, key=lambda test: test.statistic / test.null.std()).pvalue


TESTS = {  # (test of X, Y, rng; is its level exact?; sizes m, n, 30 each if left out)
    "permutation, U": (by_mmd("u"), "exact"),
    "permutation, V": (by_mmd("v"), "exact"),
    "permutation, U, m = 20, n = 45": (by_mmd("u"), "exact", 20, 45),
    "permutation, U, float32 product": (by_mmd("u", single=True), "exact"),
    "permutation, U, weighted pairs": (weighted, "exact"),
    "permutation, U, rounded data with ties": (with_ties, "exact"),
    "permutation, 40 random features": (by_features, "exact"),
    "swaps, U1": (by_mmd("u1"), "exact"),
    "swaps, linear": (by_mmd("linear"), "exact"),
    "swaps, block": (by_mmd("block"), "exact"),
    "swaps, incomplete": (by_mmd("incomplete"), "exact"),
    "aggregated over 7 bandwidths": (aggregated, "exact"),
    "split, 7 bandwidths": (split, "exact"),
    "split, a scale a column": (by_criterion, "exact"),
    "gamma, U": (by_mmd("u", "gamma"), "approximate"),
    "gamma, V": (by_mmd("v", "gamma"), "approximate"),
    "spectral, U": (by_mmd("u", "spectral"), "approximate"),
    "spectral, V": (by_mmd("v", "spectral"), "approximate"),
    "gamma, U, m = n = 100": (by_mmd("u", "gamma"), "approximate", 100, 100),
    "spectral, U, m = n = 100": (by_mmd("u", "spectral"), "approximate", 100, 100),
    "bandwidth chosen on the same data": (cheat, "wrong"),
    "a scale a column, on the same data": (chosen_on_all, "wrong"),
}


def one_law(m, n, rng):
    return rng.normal(size=(m, 2)), rng.normal(size=(n, 2))


def job(name, test, kind, m=30, n=30):
    return partial(
        levels.level_row, name, kind, 2000, levels.one_stream(7, partial(one_law, m, n), test)
    )


if __name__ == "__main__":
    jobs = {name: job(name, *what) for name, what in TESTS.items()}
    levels.main(__file__, jobs, f"rejections at level {levels.LEVEL}\n")
