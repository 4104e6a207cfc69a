"""Ridge on M centres, up to n = 100 000: one pass over the data, against two ways of others.

Everybody fits the same data with as many centres and the same lam, and predicts 2000 new points; the
error is the distance of the predictions from the true function. Falkon is the algorithm of Rudi,
Carratino and Rosasco (2017) as one writes it in NumPy: blocks of rows, as many steps as it takes to
a relative residual of 1e-6. Nystroem keeps all n × M features.
"""

from functools import partial

import numpy as np
from runner import FULL, Race, main
from scipy.linalg import solve_triangular
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge

from rkhs_notes.deeper.scale import ridge_large
from rkhs_notes.kernels import Gaussian

OURS, PEER, FALKON = "ridge_large", "sklearn Nystroem + Ridge", "Falkon in NumPy"
D, LAM, NOISE = 10, 1.0, 0.1
WIDTH = D**0.5


def rows(quick):
    "The race; quick: 3000 points, 100 centres instead of 20 000, 1000 (PROFILE=full: 100 000, 2000)"
    sizes = (100_000, 2000) if FULL else (20_000, 1000)
    return [partial(on_centres, *((3000, 100) if quick else sizes))]


def data(n, seed=0):
    "Standard normal points, a smooth function of them with noise; new points and their true values"
    rng = np.random.default_rng(seed)
    X, new, W = (
        rng.standard_normal((n, D)),
        rng.standard_normal((2000, D)),
        rng.standard_normal((D, 3)),
    )
    truth = partial(smooth, W / WIDTH)
    return X, truth(X) + NOISE * rng.standard_normal(n), new, truth(new)


def smooth(W, X):
    a, b, c = (X @ W).T
    return np.sin(a) + 0.3 * b * c


def gram(X, Z):
    "The Gaussian kernel in three lines of NumPy"
    K = X @ Z.T
    K -= 0.5 * np.sum(X**2, axis=1)[:, None]
    K -= 0.5 * np.sum(Z**2, axis=1)
    K /= WIDTH**2
    return np.exp(np.minimum(K, 0, out=K), out=K)


def falkon(X, y, M, block=4096):
    n, Z = len(X), X[np.random.default_rng(1).choice(len(X), M, replace=False)]
    KZZ = gram(Z, Z)
    T = np.linalg.cholesky(KZZ + 1e-10 * M * np.eye(M)).T
    A = np.linalg.cholesky(T @ T.T / M + LAM / n * np.eye(M)).T

    def back(b):
        return solve_triangular(T, solve_triangular(A, b))

    def forth(a):
        return solve_triangular(A, solve_triangular(T, a, trans="T"), trans="T")

    def sums(of):
        total = np.zeros(M)
        for i in range(0, n, block):
            K = gram(X[i : i + block], Z)
            total += K.T @ of(K, slice(i, i + block))
        return total

    b, r = np.zeros(M), forth(sums(lambda K, rows: y[rows]))
    p, rr = r, r @ r
    goal = 1e-12 * rr
    while rr > goal:
        a = back(p)
        Hp = forth(sums(lambda K, rows: K @ a) + LAM * (KZZ @ a))  # noqa: B023
        step = rr / (p @ Hp)
        b, r = b + step * p, r - step * Hp
        old, rr = rr, r @ r
        p = r + rr / old * p
    return lambda new: gram(new, Z) @ back(b)


def nystroem(X, y, M):
    features = Nystroem(kernel="rbf", gamma=0.5 / WIDTH**2, n_components=M, random_state=0)
    machine = Ridge(alpha=LAM, fit_intercept=False).fit(features.fit_transform(X), y)
    return lambda new: machine.predict(features.transform(new))


def on_centres(n, M, peers=(PEER, FALKON), repeats=3):
    "From points and targets to predictions at new points"
    X, y, new, true = data(n)
    k = Gaussian(WIDTH)
    ways = {
        OURS: lambda: ridge_large(k, X, y, LAM, n_centres=M, progress=False)(new),
        PEER: lambda: nystroem(X, y, M)(new),
        FALKON: lambda: falkon(X, y, M)(new),
    }

    def error(values):
        return float(np.sqrt(np.mean((values - true) ** 2)))

    def agree(ours, theirs):
        a, b = error(ours), error(theirs)
        assert a <= 1.1 * b, f"Ours is off by {a:.4f}, theirs by {b:.4f}."

    return Race(
        title=f"ridge on {M} centres, n={n}, d={D}",
        contenders={name: ways[name] for name in (OURS, *peers)},
        agree=agree,
        error=error,
        repeats=repeats,
    )


if __name__ == "__main__":
    main(__file__, rows)
