"""Support vector classification against libsvm: machines are compared before the clock is read.

Both get the points and give a fitted machine at the same tolerance; everything is counted, Gram
matrices too. Ours is right if the dual objective, in double precision, and the decisions agree.
"""

import os
from functools import partial

import numpy as np
from runner import Race, main
from sklearn.datasets import load_digits
from sklearn.svm import SVC

from rkhs_notes.deeper.machines import svc_multiclass
from rkhs_notes.kernels import Gaussian
from rkhs_notes.rkhs import RKHSFunction
from rkhs_notes.svm import svc

OURS, PEER = "rkhs_notes", "sklearn SVC"
MNIST = os.environ.get("MNIST_NPZ", "")  # a file with X (n, 784 or 28 × 28) and y; else small digits


def rows(quick):
    "The races; quick: 500 points instead of 5000 and 10 000, and no MNIST"
    sizes = (500,) if quick else (5000, 10_000)
    return [partial(two_classes, n) for n in sizes] + [partial(many_classes, quick)]


def points(n, d=20, seed=0):
    "Normal points whose classes overlap: at C = 10 about half of them are support vectors."
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    level = np.sin(1.5 * X[:, 0]) + X[:, 1] * X[:, 2] / 2 + 0.3 * X[:, 3] + 0.5 * rng.standard_normal(n)
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


def many_classes(quick, C=5.0, tol=1e-3):
    "Ten digits, one machine a pair: fit on one half, predict the other."
    if not quick and MNIST:
        data = np.load(MNIST, allow_pickle=False)
        X, y, bandwidth, title = (
            data["X"][:20_000].reshape(20_000, -1) / 255.0,
            data["y"][:20_000],
            4.0,
            "MNIST",
        )
    else:
        (X, y), bandwidth, title = load_digits(return_X_y=True), 2.0, "digits"
        X = X / 16
    half = len(X) // 2
    train, test, labels = X[:half], X[half:], y[:half]

    def agree(ours, theirs):
        share = np.mean(ours == theirs)
        assert share >= 0.999, f"Only {share:.2%} of the predictions are equal."

    return Race(
        title=f"svc_multiclass, {title}, {half} points and {len(test)} predictions, C={C:g}",
        contenders={
            OURS: lambda: svc_multiclass(Gaussian(bandwidth), train, labels, C, tol=tol).predict(test),
            PEER: lambda: SVC(C=C, gamma=0.5 / bandwidth**2, tol=tol).fit(train, labels).predict(test),
        },
        agree=agree,
        repeats=3,
    )


if __name__ == "__main__":
    main(__file__, rows)
