"""Fit and search in one: estimators that choose for themselves against a grid search by five folds.

What is compared: R² on points that nobody saw. An estimator without an argument may not be worse than
the best of the grid by more than 2 %.
"""

from functools import partial

import numpy as np
from runner import Race, main
from sklearn.datasets import make_friedman1
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.kernel_ridge import KernelRidge as TheirRidge
from sklearn.model_selection import GridSearchCV

from rkhs_notes.apps.estimators import GaussianProcess, KernelRidge


def rows(quick):
    "The races; quick: 120 points instead of 800"
    return [partial(ridge_row, 120 if quick else 800), partial(process_row, 120 if quick else 800)]


def race(title, n, ours, theirs):
    "Both on the same points, scored on the same others"
    X, y = make_friedman1(2 * n, noise=1.0, random_state=0)
    y = (y - y[:n].mean()) / y[:n].std()

    def agree(own, search):
        scores = [fit.score(X[n:], y[n:]) for fit in (own, search)]
        assert scores[0] > 0.98 * scores[1], (
            f"R² {scores[0]:.3f} against {scores[1]:.3f} of the grid"
        )

    contenders = {
        "rkhs_notes, nothing passed": lambda: ours().fit(X[:n], y[:n]),
        "sklearn GridSearchCV, cv=5": lambda: theirs().fit(X[:n], y[:n]),
    }
    return Race(title=f"{title}, n={n}, d=10", contenders=contenders, agree=agree, repeats=3)


def ridge_row(n):
    "Kernel ridge: ten kernels and fifty penalties by leave-one-out; five by ten by folds."
    grid = dict(gamma=np.geomspace(0.02, 5, 5), alpha=np.geomspace(1e-4, 10, 10))
    theirs = TheirRidge(kernel="rbf")
    return race("KernelRidge().fit", n, KernelRidge, lambda: GridSearchCV(theirs, grid, cv=5))


def process_row(n):
    "A Gaussian process: the evidence climbed; scikit-learn's own, tuned by five folds."
    kernels = [ConstantKernel(c) * RBF(b) for c in (1.0, 10.0, 100.0) for b in (0.5, 1.0, 2.0, 4.0)]
    grid = dict(kernel=kernels, alpha=[0.003, 0.03, 0.3])
    theirs = GaussianProcessRegressor(optimizer=None)
    return race(
        "GaussianProcess().fit", n, GaussianProcess, lambda: GridSearchCV(theirs, grid, cv=5)
    )


if __name__ == "__main__":
    main(__file__, rows)
