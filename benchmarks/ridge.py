"""Exact kernel ridge regression: the whole fit against scikit-learn and the Cholesky factorisation.

The limit is the Cholesky factorisation of the matrix, which is ready, into memory that is ready.
"""

from functools import partial

import numpy as np
from runner import Race, main
from scipy.linalg import lapack
from sklearn.kernel_ridge import KernelRidge

from rkhs_notes.engines.solving.ridge_fits import ridge
from rkhs_notes.kernels import Gaussian

OURS, PEER, LIMIT = "rkhs_notes", "sklearn KernelRidge", "Cholesky"
LAM = 0.1


def rows(quick):
    "The races; quick: 500 points instead of 5000"
    n = 500 if quick else 5000
    return [partial(fit, n, 10, targets) for targets in (1, 20)]


def data(n, d, targets, seed=0):
    "Standard normal points and smooth targets with noise."
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.sin(X @ rng.standard_normal((d, targets))) + 0.1 * rng.standard_normal((n, targets))
    return X, y[:, 0] if targets == 1 else y


def fit(n, d, targets):
    "From points and targets to coefficients."
    X, y = data(n, d, targets)
    k = Gaussian(bandwidth=d**0.5)
    K = k(X)
    K.flat[:: n + 1] += LAM
    room = np.empty_like(K)

    def cholesky():
        np.copyto(room, K)
        return lapack.dpotrf(room.T, lower=1, clean=0, overwrite_a=1)[0]

    def agree(ours, theirs):
        size = np.abs(K).sum(axis=1).max() * np.abs(ours).max()  # of the terms of K alpha
        gap, allowed = (
            float(np.abs(K @ (ours - theirs)).max()),
            100 * n * np.finfo(float).eps * size,
        )
        assert gap <= allowed, (
            f"Fitted values differ by {gap:.2g}; rounding explains {allowed:.2g}."
        )
        left = float(np.abs(K @ ours - y).max())
        assert left <= allowed, f"Ours leaves {left:.2g} in (K + lam I) alpha = y."

    return Race(
        title=f"ridge, n={n}, d={d}, {targets} target{'s' * (targets > 1)}",
        contenders={
            OURS: lambda: ridge(k, X, y, LAM).alpha,
            PEER: lambda: KernelRidge(kernel="rbf", gamma=0.5 / d, alpha=LAM).fit(X, y).dual_coef_,
            LIMIT: cholesky,
        },
        agree=agree,
        limit=LIMIT,
    )


if __name__ == "__main__":
    main(__file__, rows)
