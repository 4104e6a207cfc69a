"""Gram matrices: the Gaussian against scikit-learn and the limit, composites against their parts.

The limit is one GEMM into a matrix that is there already, and one exp in its place. A symmetric
k(X) needs only half of both, so ours may come below it.
"""

from functools import partial

import numpy as np
from runner import Race, main, points
from sklearn.gaussian_process.kernels import Matern as SklearnMatern
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel, rbf_kernel

from rkhs_notes.deeper.zoo import Laplace, Matern
from rkhs_notes.kernels import Gaussian, Linear, Polynomial

OURS = "rkhs_notes"


def rows(quick):
    "The races; quick: 500 points instead of 5000"
    n = 500 if quick else 5000
    races = [
        partial(gaussian, n, d, dtype, cross)
        for d in (10, 784)
        for dtype in (np.float64, np.float32)
        for cross in (False, True)
    ]
    races += [partial(gaussian, min(n, 1000), 784, np.float64, False)]
    return races + [partial(other, n, 10, name) for name in OTHERS]


# ---------------------------------------------------------------- right, before fast


def rounding(X, scale=1.0):
    """How far two correct Gram matrices may lie apart, entry by entry.

    ‖x‖² + ‖y‖² − 2 xᵀy is a sum of d products, whose rounding errors add up to about √d eps of
    the largest term (Higham and Mary 2019; the worst case has d). In units of the bandwidth √d
    and with slopes of the kernels of at most 3/2 that is the bound, times 8 to be safe.

    Parameters
    ----------
    X : array (n, d)
    scale : float       the largest entry of the Gram matrix

    Returns
    -------
    float
    """
    d, eps = X.shape[1], float(np.finfo(X.dtype).eps)
    longest = float(np.einsum("ij,ij->i", X, X).max()) / d
    return 8 * (d + 4) ** 0.5 * eps * (1 + longest) * scale


def sample(n):
    "About sixty indices spread over range(n)."
    return np.arange(0, n, max(1, n // 60))


def worst_error(formula, X, Y=None):
    """The function K ↦ largest error of a sample of K, against a formula in long double.

    Parameters
    ----------
    formula : function      formula(X, Y) -> (p, q) of points (p, d) and (q, d)
    X, Y : array (n, d)     the data; Y is X if left out
    """
    i, j = sample(len(X)), sample(len(X if Y is None else Y))
    left, right = (A.astype(np.longdouble) for A in (X[i], (X if Y is None else Y)[j]))

    def error(K):
        return np.abs(K[np.ix_(i, j)] - formula(left, right)).max()

    return error


def close(error, tolerance):
    "agree(ours, theirs): all entries equal to the tolerance, and ours near the formula."

    def agree(ours, theirs):
        gap = float(np.abs(ours - theirs).max()) if ours.shape == theirs.shape else np.inf
        assert gap <= tolerance, f"They differ by {gap:.2g}; rounding explains {tolerance:.2g}."
        off = float(error(ours))
        assert off <= tolerance, f"Ours is {off:.2g} from the formula, not {tolerance:.2g}."

    return agree


def by_coordinate(X, Y, summand):
    "Σᵢ summand(xᵢ − yᵢ) without the cancellation of ‖x‖² + ‖y‖² − 2 xᵀy."
    return sum(summand(X[:, i, None] - Y[None, :, i]) for i in range(X.shape[1]))


def gaussian_formula(X, Y):
    return np.exp(-by_coordinate(X, Y, np.square) / (2 * X.shape[1]))


def matern_formula(X, Y):
    s = np.sqrt(3 * by_coordinate(X, Y, np.square) / X.shape[1])
    return (1 + s) * np.exp(-s)


def laplace_formula(X, Y):
    return np.exp(-by_coordinate(X, Y, np.abs) / X.shape[1])


def cubic_formula(X, Y):
    return (X @ Y.T + 1) ** 3


# ---------------------------------------------------------------- the Gaussian


def gaussian(n, d, dtype, cross):
    "The Gaussian Gram matrix k(X), or k(X, Y), against rbf_kernel and GEMM + exp."
    X, Y = points(n, d, dtype), points(n, d, dtype, seed=1) if cross else None
    k, right = Gaussian(bandwidth=d**0.5), ((X if Y is None else Y) / d).astype(dtype)
    error, room = worst_error(gaussian_formula, X, Y), np.empty((n, n), dtype=dtype)

    def gemm_and_exp():
        np.matmul(X, right.T, out=room)
        return np.exp(room, out=room)

    return Race(
        title=f"Gaussian {'k(X, Y)' if cross else 'k(X)'}, n={n}, d={d}, {np.dtype(dtype).name}",
        contenders={
            OURS: lambda: k(X, Y),
            "sklearn rbf_kernel": lambda: rbf_kernel(X, Y, gamma=0.5 / d),
            "GEMM + exp": gemm_and_exp,
        },
        agree=close(error, rounding(X)),
        error=error,
        limit="GEMM + exp",
    )


# ---------------------------------------------------------------- composites and the zoo


def after_another(first, second, combine):
    "Two kernels, one after the other, and one pass over the result"

    def made(X):
        K = first(X)
        return combine(K, second(X), out=K)

    return made


def by_parts(name, d):
    "A composite kernel, its parts and their formula"
    g, m, linear = Gaussian(bandwidth=d**0.5), Matern(nu=1.5, bandwidth=d**0.5), Linear()
    k, parts, formula = {
        "Gaussian + Matern": (g + m, (g, m, np.add),
                              lambda X, Y: gaussian_formula(X, Y) + matern_formula(X, Y)),
        "Gaussian * Linear": (g * linear, (g, linear, np.multiply),
                              lambda X, Y: gaussian_formula(X, Y) * (X @ Y.T)),
        "2 * Gaussian": (2 * g, (g, lambda X: 2.0, np.multiply), lambda X, Y: 2 * gaussian_formula(X, Y)),
    }[name]  # fmt: skip
    return k, "its parts + one pass", after_another(*parts), formula


OTHERS = {  # name: our kernel, the peer's name and function of X, the formula; all for d coordinates
    name: partial(by_parts, name) for name in ("Gaussian + Matern", "Gaussian * Linear", "2 * Gaussian")
} | {
    "Laplace": lambda d: (
        Laplace(bandwidth=d), "sklearn laplacian_kernel",
        partial(laplacian_kernel, gamma=1 / d), laplace_formula),
    "Polynomial(3)": lambda d: (
        Polynomial(3), "sklearn polynomial_kernel",
        partial(polynomial_kernel, degree=3, gamma=1.0, coef0=1.0), cubic_formula),
    "Matern(1.5)": lambda d: (
        Matern(nu=1.5, bandwidth=d**0.5), "sklearn Matern",
        SklearnMatern(length_scale=d**0.5, nu=1.5), matern_formula),
}  # fmt: skip


def other(n, d, name):
    "A composite against its parts, or another kernel against its peer in scikit-learn."
    X = points(n, d)
    k, peer, theirs, formula = OTHERS[name](d)
    error, scale = worst_error(formula, X), float(np.abs(k.diag(X)).max())
    return Race(
        title=f"{name}, k(X), n={n}, d={d}, float64",
        contenders={OURS: lambda: k(X), peer: lambda: theirs(X)},
        agree=close(error, rounding(X, scale)),
        error=error,
    )


if __name__ == "__main__":
    main(__file__, rows)
