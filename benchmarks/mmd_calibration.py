"""Type-I errors: how often each two-sample test rejects when both samples come from one law.

Each row draws 2000 pairs of samples from N(0, I₂), tests every pair, and counts p ≤ 5 %. A test called exact
must reject within the 99 % binomial interval; the approximate ones are reported. The last row is a test known
to be wrong, the bandwidth chosen by the largest statistic on the data that test it: it must fall outside.
"""

import sys

import numpy as np
from runner import RESULTS, described, machine, parser, write

from rkhs_notes.deeper.two_samples import gaussian_grid, mmd_test, mmd_test_aggregated, mmd_test_split
from rkhs_notes.engines.testing.resampling import binomial_interval
from rkhs_notes.hilbert import Measure
from rkhs_notes.kernels import Gaussian
from rkhs_notes.random_features import fourier_features

LEVEL = 0.05


def median(X, Y):
    return gaussian_grid(X, Y, 1)[0]


def weighted(X, Y, rng):
    "Pairs (point, weight) of one law: the weight depends on the point, alike in both samples."
    X, Y = (Measure(A, 1 / (1 + np.exp(-A[:, 0]))) for A in (X, Y))
    return mmd_test(Gaussian(1.0), X, Y, 199, rng=rng)


def exact(statistic, null=None, **options):
    return lambda X, Y, rng: mmd_test(median(X, Y), X, Y, 199, null, statistic, rng, **options)


TESTS = {  # (test of X, Y, rng; sizes m, n; is its level exact?)
    "permutation, U": (exact("u"), 30, 30, True),
    "permutation, V": (exact("v"), 30, 30, True),
    "permutation, U, m = 20, n = 45": (exact("u"), 20, 45, True),
    "permutation, U, float32 product": (exact("u", single=True), 30, 30, True),
    "permutation, U, weighted pairs": (weighted, 30, 30, True),
    "permutation, U, rounded data with ties": (
        lambda X, Y, rng: exact("u")(np.round(X), np.round(Y), rng),
        30,
        30,
        True,
    ),
    "permutation, 40 random features": (
        lambda X, Y, rng: mmd_test(fourier_features(Gaussian(1.5), 2, 40, rng), X, Y, 199, rng=rng),
        30,
        30,
        True,
    ),
    "swaps, U1": (exact("u1"), 30, 30, True),
    "swaps, linear": (exact("linear"), 30, 30, True),
    "swaps, block": (exact("block"), 30, 30, True),
    "swaps, incomplete": (exact("incomplete"), 30, 30, True),
    "aggregated over 7 bandwidths": (
        lambda X, Y, rng: mmd_test_aggregated(None, X, Y, 199, rng=rng),
        30,
        30,
        True,
    ),
    "split, 7 bandwidths": (lambda X, Y, rng: mmd_test_split(None, X, Y, 0.5, 199, rng=rng), 30, 30, True),
    "gamma, U": (exact("u", "gamma"), 30, 30, False),
    "gamma, V": (exact("v", "gamma"), 30, 30, False),
    "spectral, U": (exact("u", "spectral"), 30, 30, False),
    "spectral, V": (exact("v", "spectral"), 30, 30, False),
    "gamma, U, m = n = 100": (exact("u", "gamma"), 100, 100, False),
    "spectral, U, m = n = 100": (exact("u", "spectral"), 100, 100, False),
}


def cheat(X, Y, rng):
    "The kernel with the largest U in units of its null, tested on the data that chose it"
    tests = [mmd_test(k, X, Y, 199, rng=rng) for k in gaussian_grid(X, Y)]
    return max(tests, key=lambda test: test.statistic / test.null.std())


TESTS["bandwidth chosen on the same data"] = (cheat, 30, 30, None)


def rejections(test, m, n, n_tests):
    "How many of n_tests pairs of samples of one law are rejected"
    count = 0
    for seed in range(n_tests):
        rng = np.random.default_rng([7, seed])
        X, Y = rng.normal(size=(m, 2)), rng.normal(size=(n, 2))
        count += test(X, Y, rng).pvalue <= LEVEL
    return count


def main(arguments=None):
    "Run every row, print the table and write the JSON; the exit status is 1 if an exact test is not exact"
    asked, rows = parser("mmd_calibration").parse_args(arguments), []
    n_tests = 50 if asked.quick else 2000
    low, high = binomial_interval(LEVEL, n_tests)
    facts = machine()
    print(
        described(facts),
        f"level {LEVEL}, {n_tests} tests, 99 % interval {low} to {high} rejections\n",
        sep="\n",
    )
    for name, (test, m, n, exact) in TESTS.items():
        if asked.only not in name:
            continue
        count = rejections(test, m, n, n_tests)
        inside = low <= count <= high
        expected = {True: inside, False: None, None: not inside}[exact]
        kind = {True: "exact", False: "approximate", None: "wrong"}[exact]
        rows.append(
            dict(
                race=name,
                m=m,
                n=n,
                kind=kind,
                tests=n_tests,
                rejections=count,
                interval=[low, high],
                inside=inside,
                reached=expected,
            )
        )
        print(
            f"{name:42} m={m:3} n={n:3} {kind:12} {count / n_tests:.4f} {'inside' if inside else 'OUTSIDE'}",
            flush=True,
        )
    write(asked.json or RESULTS / "mmd_calibration.json", "mmd_calibration", facts, rows)
    return int(not asked.quick and any(row["reached"] is False for row in rows))


if __name__ == "__main__":
    sys.exit(main())
