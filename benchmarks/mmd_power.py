"""Power at level 5 %: how often each test sees a shift, a change of scale, and tilted blobs.

Every test gets the same 100 pairs of samples and B = 199. hyppo and alibi-detect take part where they are
installed; on the blobs, where hyppo takes seconds a test, they get the first ten pairs. All of it takes
about two minutes of one core.
"""

import sys

import mmd as peers
import numpy as np
from runner import RESULTS, described, machine, parser, write

from rkhs_notes.deeper.two_samples import gaussian_grid, mmd_test, mmd_test_aggregated, mmd_test_split
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


def median(X, Y):
    return gaussian_grid(X, Y, 1)[0]


TESTS = {
    "U, bandwidth 1": lambda X, Y, rng: mmd_test(Gaussian(1.0), X, Y, 199, rng=rng).pvalue,
    "U, median bandwidth": lambda X, Y, rng: mmd_test(median(X, Y), X, Y, 199, rng=rng).pvalue,
    "U1 (swaps), median": lambda X, Y, rng: mmd_test(median(X, Y), X, Y, 199, statistic="u1", rng=rng).pvalue,
    "block, median": lambda X, Y, rng: mmd_test(median(X, Y), X, Y, 199, statistic="block", rng=rng).pvalue,
    "linear, median": lambda X, Y, rng: mmd_test(median(X, Y), X, Y, 199, statistic="linear", rng=rng).pvalue,
    "aggregated over 7": lambda X, Y, rng: mmd_test_aggregated(None, X, Y, 199, rng=rng).pvalue,
    "split, 7 bandwidths": lambda X, Y, rng: mmd_test_split(None, X, Y, 0.5, 199, rng=rng).pvalue,
}
OURS = tuple(TESTS)
if peers.MMD:
    TESTS["hyppo MMD, median"] = lambda X, Y, rng: peers.by_hyppo(
        X.reshape(len(X), -1), Y.reshape(len(Y), -1), 199, median(X, Y).bandwidth
    )
if peers.MMDDrift:
    TESTS["alibi-detect, median"] = lambda X, Y, rng: peers.by_alibi(
        X.reshape(len(X), -1), Y.reshape(len(Y), -1), 199, median(X, Y).bandwidth
    )
THEIRS = set(TESTS) - set(OURS)


def main(arguments=None):
    "Run every test on every alternative, print the table and write the JSON"
    asked, results = parser("mmd_power").parse_args(arguments), []
    for name in peers.missing:
        print(f"not installed, left out: {name}", file=sys.stderr)
    facts = machine()
    print(described(facts), "share of rejections, and of how many pairs of samples\n", sep="\n")
    for alternative in (shift, scale, blobs):
        for name, test in TESTS.items():
            if asked.only not in f"{alternative.__name__} {name}":
                continue
            n_tests = 10 if asked.quick or (alternative is blobs and name in THEIRS) else 100
            draws = (np.random.default_rng([11, seed]) for seed in range(n_tests))
            power = np.mean([test(*alternative(rng), rng) <= 0.05 for rng in draws])
            results.append(dict(race=alternative.__name__, contender=name, power=float(power), tests=n_tests))
            print(f"{alternative.__name__:8}{name:28}{power:.2f} of {n_tests}", flush=True)
    write(asked.json or RESULTS / "mmd_power.json", "mmd_power", facts, results)


if __name__ == "__main__":
    main()
