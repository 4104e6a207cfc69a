"""What a contract costs: a thousand calls of one function with its arguments read, and without."""

from functools import partial

import numpy as np
from runner import Race, main

from rkhs_notes.base.contracts import contract
from rkhs_notes.base.points import Points
from rkhs_notes.base.words import Positive, Targets
from rkhs_notes.engines.kernels.gram import AKernel
from rkhs_notes.kernels import Gaussian

READ, BARE, CALLS = "five arguments read", "the same function bare", 1000


@contract
def sum_of_targets(k: AKernel, X: Points, y: Targets, lam: Positive, tol: Positive = 1e-3):
    "Σ y: next to nothing beside the reading of five arguments"
    return y.sum()


def rows(quick):
    "The races; quick: fewer calls"
    return [partial(calls, 50 if quick else CALLS)]


def calls(times):
    "Five points of the plane; the medians in ms for a thousand calls are µs a call."
    rng = np.random.default_rng(0)
    k, X, y = Gaussian(1.0), rng.normal(size=(5, 2)), rng.normal(size=5)

    def work(f):
        return sum(f(k, X, y, 0.1, 1e-3) for _ in range(times))

    return Race(
        title=f"{times} calls of a contract, five arguments, n=5",
        contenders={READ: partial(work, sum_of_targets), BARE: partial(work, sum_of_targets.__wrapped__)},
        agree=np.testing.assert_array_equal,
        repeats=15,
    )


if __name__ == "__main__":
    main(__file__, rows)
