"""Choosing lam: exact leave-one-out along a path against five-fold cross-validation by refitting, at every
tenth lam.

The limit is the eigendecomposition. What is compared: scikit-learn's own fit at some values of lam
against the path's, and the path's leave-one-out error against the formula and a refit.
"""

from functools import partial

import numpy as np
from ridge import data
from runner import Race, main
from scipy.linalg import eigh
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV

from rkhs_notes.engines.solving.ridge_fits import ridge, ridge_path
from rkhs_notes.kernels import Gaussian

OURS, PEER, LIMIT = "rkhs_notes path + exact LOO", "sklearn GridSearchCV, cv=5, in part", "eigh"


def rows(quick):
    "The races; quick: 200 points instead of 3000"
    return [partial(choose, 200 if quick else 3000, 10, 50)]


def choose(n, d, values):
    "The best of many lam; theirs is the best of every tenth."
    X, y = data(n, d, 1)
    k, lams = Gaussian(bandwidth=d**0.5), np.geomspace(1e-4, 1e2, values)
    K = k(X)

    def peer():
        search = GridSearchCV(
            KernelRidge(kernel="rbf", gamma=0.5 / d),
            {"alpha": lams[5::10]},
            cv=5,
            scoring="neg_mean_squared_error",
            refit=False,
        )
        return search.fit(X, y)

    def agree(path, search):
        few = slice(0, None, n // 7)
        for lam in lams[:: values // 3]:
            theirs = KernelRidge(kernel="rbf", gamma=0.5 / d, alpha=lam).fit(X, y).predict(X[few])
            np.testing.assert_allclose(path.function(lam)(X[few]), theirs, rtol=1e-6, atol=1e-6)
        G = np.linalg.inv(K + path.best * np.eye(n))
        np.testing.assert_allclose(path.loo.min(), np.mean((G @ y / G.diagonal()) ** 2), rtol=1e-6)
        i = n // 2
        without = ridge(k, np.delete(X, i, 0), np.delete(y, i), path.best)(X[i : i + 1])[0]
        np.testing.assert_allclose(y[i] - without, (G @ y)[i] / G[i, i], rtol=1e-6)
        five_fold = float(-search.best_score_)
        ratio = path.loo[5::10].min() / five_fold  # a little better: more points to learn from
        assert 0.7 < ratio < 1.05, f"Leave-one-out is {ratio:.2f} times the five-fold error."

    return Race(
        title=f"{values} values of lam, n={n}, d={d}; {values // 10} of theirs, to be extrapolated",
        contenders={
            OURS: lambda: ridge_path(k, X, y, lams),
            PEER: peer,
            LIMIT: lambda: eigh(K, driver="evd"),
        },
        agree=agree,
        limit=LIMIT,
        repeats=3,
    )


if __name__ == "__main__":
    main(__file__, rows)
