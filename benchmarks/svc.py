"""Support vector classification against libsvm: machines are compared before the clock is read.

Both get the points and give a fitted machine at the same tolerance; everything is counted, Gram
matrices too. Ours is right if the dual objective, in double precision, and the decisions agree.
"""

from functools import partial

import numpy as np
from runner import Race, main
from sklearn.svm import SVC

from rkhs_notes.engines.machines.kernel_machines import svc
from rkhs_notes.kernels import Gaussian
from rkhs_notes.rkhs import RKHSFunction

OURS, PEER = "rkhs_notes", "sklearn SVC"


def rows(quick):
    "The races; quick: 500 points instead of 5000 and 10 000"
    sizes = (500,) if quick else (5000, 10_000)
    return [partial(two_classes, n) for n in sizes]


def points(n, d=20, seed=0):
    "Normal points whose classes overlap: at C = 10 about half of them are support vectors."
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    level = (
        np.sin(1.5 * X[:, 0]) + X[:, 1] * X[:, 2] / 2 + 0.3 * X[:, 3] + 0.5 * rng.standard_normal(n)
    )
    return X, np.where(level > 0, 1.0, -1.0)


def two_classes(n, C=10.0, tol=1e-3):
    "A Gaussian machine on two classes."
    X, y = points(n)
    k = Gaussian(bandwidth=20**0.5)

    def theirs():
        machine = SVC(C=C, gamma=1 / 40, tol=tol).fit(X, y)
        b = np.zeros(n)
        b[machine.support_] = machine.dual_coef_[0]
        return b

    def objective(b):
        some = np.flatnonzero(b)
        return float(y @ b - b @ RKHSFunction(k, X[some], b[some])(X) / 2)

    def agree(ours, peer):
        ours, best = objective(ours), objective(peer)
        assert abs(ours - best) <= 1e-6 * best, (
            f"Objectives {ours:.9g} and {best:.9g} differ by more than 1e-6."
        )

    return Race(
        title=f"svc, Gaussian, n={n}, d=20, C={C:g}, tol={tol:g}",
        contenders={OURS: lambda: svc(k, X, y, C, tol=tol).dual, PEER: theirs},
        agree=agree,
        repeats=5,
    )


if __name__ == "__main__":
    main(__file__, rows)
