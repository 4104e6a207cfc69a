"""Feature maps: random waves against RBFSampler at equal D; monomials of dense points.

Two random maps never agree entry by entry. Ours and the plain NumPy cosine and sine do, for they share their
frequencies; against RBFSampler the Gram matrices of 300 points must agree within six standard errors.
"""

import math
from functools import partial

import numpy as np
from runner import Race, main, points
from scipy.special import factorial
from sklearn.kernel_approximation import RBFSampler
from sklearn.preprocessing import PolynomialFeatures

from rkhs_notes.engines.features.spectral import fourier_features
from rkhs_notes.kernels import Gaussian, Polynomial

OURS = "rkhs_notes, paired"
PEER = "sklearn RBFSampler"


def rows(quick):
    "The races; quick: 2000 points instead of 100 000"
    n = 2000 if quick else 100_000
    return [partial(mapping, n, 50, 2000, dtype) for dtype in (np.float64, np.float32)] + [
        *(partial(powers, n // 5, d, degree) for d, degree in ((10, 3), (30, 2), (4, 6))),
    ]


def mapping(n, d, D, dtype):
    "φ(X) for maps that have been drawn; scikit-learn's own map computes in the precision of its input too."
    X = points(n, d, dtype)
    k, bandwidth = Gaussian(bandwidth=d**0.5), d**0.5
    phi = fourier_features(k, d, D, 0)
    sampler = RBFSampler(gamma=1 / (2 * bandwidth**2), n_components=D, random_state=0).fit(X)
    W, weight = phi.frequencies.T.astype(dtype), dtype((2 / D) ** 0.5)
    K = k(X[:300])

    def numpy():
        P = X @ W
        return np.concatenate([np.cos(P), np.sin(P)], axis=1) * weight

    def error(F):
        return np.sqrt(np.mean((F[:300] @ F[:300].T - K) ** 2))

    def agree(ours, theirs):
        np.testing.assert_array_less(error(ours), 6 / D**0.5)
        np.testing.assert_array_less(error(theirs), 6 / D**0.5)
        np.testing.assert_array_less(error(ours), 1.2 * error(theirs))

    return Race(
        f"mapping n={n} d={d} D={D} {np.dtype(dtype).name}",
        {OURS: lambda: phi(X), PEER: lambda: sampler.transform(X), "NumPy cos and sin": numpy},
        agree,
        error=error,
        repeats=3,
    )


def powers(n, d, degree):
    "All monomials up to a degree, theirs without our weights: columns of one direction, in another order."
    X = points(n, d)
    phi, theirs = Polynomial(degree).feature_map(d), PolynomialFeatures(degree)

    def agree(ours, other):
        weighted = other[:300] * np.sqrt(weights)  # the feature map of (1 + x·y)^degree
        gap = np.abs(ours[:300] @ ours[:300].T - weighted @ weighted.T).max()
        assert ours.shape == other.shape, f"{ours.shape[1]} columns against {other.shape[1]}"
        assert gap <= 1e-12 * np.abs(ours[:300] @ ours[:300].T).max(), (
            f"Gram matrices differ by {gap:.2g}."
        )

    exponents = theirs.fit(X[:2]).powers_
    rest = degree - exponents.sum(axis=1)
    weights = math.factorial(degree) / factorial(rest) / factorial(exponents).prod(axis=1)
    return Race(
        f"monomials n={n} d={d} degree={degree}",
        {
            "rkhs_notes": lambda: phi(X),
            "sklearn PolynomialFeatures": lambda: theirs.fit_transform(X),
        },
        agree,
    )


if __name__ == "__main__":
    main(__file__, rows)
