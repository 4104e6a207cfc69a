"""Ridge on 1000 random features of ten million points that are made block by block: twenty minutes.

Nobody keeps them, so there is no peer in scikit-learn; the plain loop sums FᵀF and Fᵀy of the same blocks,
as one writes it in NumPy. Memory must not depend on n, and the runner measures it.
"""

from functools import partial

import numpy as np
import scipy.linalg
from runner import Race, main
from scipy.linalg.blas import dsyrk
from streams import target

from rkhs_notes.deeper.streams import stream_ridge
from rkhs_notes.kernels import Gaussian
from rkhs_notes.random_features import fourier_features

BLOCK = 50_000


def rows(quick):
    "The race; quick: two blocks and 200 features"
    return [partial(streaming, *((100_000, 200) if quick else (10_000_000, 1000)))]


def blocks(n, d):
    "(X, y) of BLOCK points, the same each time"
    for seed in range(n // BLOCK):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((BLOCK, d))
        yield X, target(X) + 0.1 * rng.standard_normal(BLOCK)


def streaming(n, D, d=50, lam=1.0):
    fresh = np.random.default_rng(n).standard_normal((2000, d))
    phi = fourier_features(Gaussian(bandwidth=d**0.5), d, D, 0)
    V = np.ascontiguousarray(phi.frequencies.T)

    def plain():
        G, b = np.zeros((D, D)), np.zeros(D)
        for X, y in blocks(n, d):
            F = phi(X)
            G += F.T @ F
            b += F.T @ y
        return phi(fresh) @ scipy.linalg.solve(G + lam * np.eye(D), b, assume_a="pos")

    def limit():
        G, F = np.zeros((D, D), order="F"), np.empty((4096, D))
        for X, _ in blocks(n, d):
            for i in range(0, BLOCK, 4096):
                some = X[i : i + 4096]
                np.matmul(some, V, out=F[: len(some), : D // 2])
                G = dsyrk(1.0, F[: len(some)].T, beta=1.0, c=G, overwrite_c=True)
        return G

    contenders = {
        "rkhs_notes stream_ridge": lambda: stream_ridge(phi, blocks(n, d), lam)(fresh),
        "sums in NumPy": plain,
        "GEMM + syrk": limit,
    }
    agree = partial(np.testing.assert_allclose, rtol=1e-5, atol=1e-5)
    return Race(f"streaming ridge n={n} d={d} D={D}, from a generator", contenders, agree,
                limit="GEMM + syrk", repeats=1)


if __name__ == "__main__":
    main(__file__, rows)
