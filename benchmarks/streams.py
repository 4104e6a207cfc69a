"""Ridge regression on random features of a stream, against RBFSampler + Ridge and the unavoidable products.

The peer maps the whole sample and solves its normal equations; ours is fed the same array in blocks. Two
random maps never agree entry by entry, so both must predict fresh points equally well. The limit makes the
waves' angles (GEMM) and the Gram matrix of D features (syrk), block by block, and nothing else. Memory is
measured by the runner, each contender in a process of its own.
"""

from functools import partial

import numpy as np
from runner import FULL, Race, main
from scipy.linalg.blas import dsyrk
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import Ridge

from rkhs_notes.deeper.streams import stream_ridge
from rkhs_notes.engines.features.spectral import fourier_features
from rkhs_notes.kernels import Gaussian

OURS = "rkhs_notes stream_ridge"
PEER = "sklearn RBFSampler + Ridge"
LIMIT = "GEMM + syrk"


def rows(quick):
    "The races; quick: 5000 points and 200 features instead of 100 000 (10⁶ with PROFILE=full) and 1000"
    many = 1_000_000 if FULL else 100_000
    return [partial(streaming, *((5000, 200) if quick else (many, 1000)))]


def target(X):
    return np.sin(X[:, 0]) + X[:, 1] * np.cos(X[:, 2])


def streaming(n, D, d=50, lam=1.0):
    "One pass over n points of ℝᵈ, D features"
    rng = np.random.default_rng(0)
    X, fresh = rng.standard_normal((n, d)), rng.standard_normal((2000, d))
    y = target(X) + 0.1 * rng.standard_normal(n)
    k, gamma = Gaussian(bandwidth=d**0.5), 1 / (2 * d)
    phi = fourier_features(k, d, D, 0)
    V = np.ascontiguousarray(phi.frequencies.T)

    def theirs():
        sampler = RBFSampler(gamma=gamma, n_components=D, random_state=0)
        model = Ridge(alpha=lam, fit_intercept=False, solver="cholesky").fit(
            sampler.fit_transform(X), y
        )
        return model.predict(sampler.transform(fresh))

    def limit():
        G, F = np.zeros((D, D), order="F"), np.empty((4096, D))
        for i in range(0, n, 4096):
            rows = X[i : i + 4096]
            np.matmul(rows, V, out=F[: len(rows), : D // 2])
            G = dsyrk(1.0, F[: len(rows)].T, beta=1.0, c=G, overwrite_c=True)
        return G

    def error(values):
        return float(np.sqrt(np.mean((values - target(fresh)) ** 2)))

    def agree(ours, peers):
        np.testing.assert_array_less(error(ours), 1.1 * error(peers) + 0.05)

    contenders = {OURS: lambda: stream_ridge(phi, (X, y), lam)(fresh), PEER: theirs, LIMIT: limit}
    return Race(
        f"streaming ridge n={n} d={d} D={D}",
        contenders,
        agree,
        limit=LIMIT,
        error=error,
        repeats=3,
    )


if __name__ == "__main__":
    main(__file__, rows)
