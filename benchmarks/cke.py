"""Coupled kernel embedding against the dense generalised eigenproblem, and at 5000 pairs; eigenvalues first.

The dense peer is scipy.linalg.eigh on the two 2n × 2n matrices of the problem; their common null
vectors, the constants, get a small eigenvalue so that the right one is positive definite. It ends
at a thousand pairs; below some three hundred it is the faster one, since a pivot costs a few steps
of Python. At 5000 the peer has the same number of columns, chosen by scikit-learn's Nystroem, and
solves the same problem by Cholesky whitening and one SVD.
"""

from functools import partial

import numpy as np
import scipy.linalg
from runner import Race, main
from sklearn.kernel_approximation import Nystroem

from rkhs_notes.engines.data.pictures import image_pairs
from rkhs_notes.engines.solving.couplings import coupled_embedding, pair_laplacian
from rkhs_notes.kernels import Gaussian, median_bandwidth

OURS, AXES, REG = "rkhs_notes", 10, 0.5


def rows(quick):
    "The races; quick: 200 and 800 pairs instead of 600, 1000 and 5000"
    few, many, columns = ((200,), 800, 200) if quick else ((600, 1000), 5000, 1000)
    return [*(partial(dense, n) for n in few), partial(large, many, columns)]


def made(n):
    L, H, _ = image_pairs(n // 5, 5, np.random.default_rng(0), noise=0.3)
    return (Gaussian(median_bandwidth(L)), Gaussian(median_bandwidth(H))), L, H


def pencil(kernels, L, H):
    "The smallest λ of (𝐊𝐋𝐊 + γ𝐊) v = λ (𝐊𝐃𝐊 + γ𝐊) v, W = I."
    n = len(L)
    centred = []
    for k, X in zip(kernels, (L, H), strict=True):
        K = k(X)
        K -= K.mean(axis=0)
        K -= K.mean(axis=1)[:, None]
        centred.append(
            K + 1e-3 / n
        )  # the constants get the eigenvalue 0.001, far down the list of λ
    K = scipy.linalg.block_diag(*centred)
    right = K @ K + REG * K
    left = K @ (pair_laplacian(np.eye(n)) @ K) + REG * K
    return scipy.linalg.eigh(left, right, eigvals_only=True, subset_by_index=[0, AXES - 1])


def dense(n):
    kernels, L, H = made(n)
    return Race(
        title=f"coupled embedding, {n} pairs, all columns, {AXES} axes",
        contenders={
            OURS: lambda: (
                coupled_embedding(*kernels, L, H, n_components=AXES, reg=REG, rank=n).eigenvalues
            ),
            "scipy eigh, dense": lambda: pencil(kernels, L, H),
        },
        agree=partial(np.testing.assert_allclose, rtol=0, atol=1e-6),
        repeats=3,
    )


def nystroem(kernels, L, H, columns):
    whitened = []
    for k, X in zip(kernels, (L, H), strict=True):
        Z = Nystroem(
            gamma=1 / (2 * k.bandwidth**2), n_components=columns, random_state=0
        ).fit_transform(X)
        Z -= Z.mean(axis=0)
        R = scipy.linalg.cholesky(Z.T @ Z + REG * np.eye(columns))
        whitened.append((Z, R))
    (Zl, Rl), (Zh, Rh) = whitened
    M = scipy.linalg.solve_triangular(Rl, Zl.T @ Zh, trans="T")
    M = scipy.linalg.solve_triangular(Rh, M.T, trans="T")
    return 1 - scipy.linalg.svdvals(M)[:AXES]


def large(n, columns):
    kernels, L, H = made(n)
    return Race(
        title=f"coupled embedding, {n} pairs, {columns} columns, {AXES} axes",
        contenders={
            OURS: lambda: (
                coupled_embedding(
                    *kernels, L, H, n_components=AXES, reg=REG, rank=columns
                ).eigenvalues
            ),
            "sklearn Nystroem + scipy SVD": lambda: nystroem(kernels, L, H, columns),
        },
        agree=partial(np.testing.assert_allclose, rtol=0, atol=0.02),
        repeats=3,
    )


if __name__ == "__main__":
    main(__file__, rows)
