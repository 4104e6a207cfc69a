"""A double descent curve on the digits by updating triangles, against NumPy's lstsq at every width.

The features are the same draws for both; test errors and norms are compared at all widths, the peak
included, before the clock is read.
"""

from functools import partial

import numpy as np
from runner import Race, main

from rkhs_notes.base.datasets import load
from rkhs_notes.engines.features.spectral import fourier_features
from rkhs_notes.engines.solving.curves import double_descent_curve
from rkhs_notes.kernels import Gaussian

OURS, PEER = "rkhs_notes", "numpy lstsq at each width"


def rows(quick):
    "The race; quick: 12 widths up to 600 and one draw instead of 40 up to 4000 and five"
    largest, count, draws = (600, 12, 1) if quick else (4000, 40, 5)
    widths = sorted({300, *(2 * int(D / 2) for D in np.geomspace(20, largest, count - 1))})
    return [partial(curve, widths, draws)]


def digits(n=300):
    "Points, targets and the same for new digits; a map with D outputs."
    X, y = load("digits")
    order = np.random.default_rng(0).permutation(len(X))
    X, Y = X[order] / 16, np.eye(10)[y[order]] - 0.1
    return X[:n], Y[:n], X[n:], Y[n:], lambda D, rng: fourier_features(Gaussian(2.0), 64, D, rng)


def curve(widths, draws):
    "Features, fits and errors of several draws."
    X, Y, X_test, Y_test, features = digits()

    def ours():
        found = double_descent_curve(features, X, Y, X_test, Y_test, widths, 0, draws=draws)
        return found.test, found.norm

    def theirs():
        results = []
        for rng in np.random.default_rng(0).spawn(draws):
            maps = [features(D, rng) for D in np.diff([0, *widths])]
            Z, Z_test = (
                np.hstack(
                    [
                        np.sqrt(D) * phi(A)
                        for D, phi in zip(np.diff([0, *widths]), maps, strict=True)
                    ]
                )
                for A in (X, X_test)
            )
            betas = [np.linalg.lstsq(Z[:, :D], Y, rcond=None)[0] for D in widths]
            results.append(
                [
                    (np.mean((Z_test[:, :D] @ b - Y_test) ** 2), np.sqrt(D) * np.linalg.norm(b))
                    for D, b in zip(widths, betas, strict=True)
                ]
            )
        return tuple(np.moveaxis(np.array(results), 2, 0))

    return Race(
        title=f"curve, n=300, {len(widths)} widths to {widths[-1]}, {draws} draws",
        contenders={OURS: ours, PEER: theirs},
        agree=partial(np.testing.assert_allclose, rtol=1e-7),
        repeats=3,
    )


if __name__ == "__main__":
    main(__file__, rows)
