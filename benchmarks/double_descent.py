"""A double descent curve on the digits by updating triangles, against NumPy's lstsq at every width.

The features are the same draws for both; test errors and norms are compared at all widths, the peak
included, before the clock is read. The second race leaves the features out.
"""

from functools import partial

import numpy as np
from runner import Race, main

from rkhs_notes.base.datasets import load
from rkhs_notes.double_descent import double_descent_curve
from rkhs_notes.engines.solving.paths import min_norm_path
from rkhs_notes.kernels import Gaussian
from rkhs_notes.random_features import fourier_features

OURS, PEER = "rkhs_notes", "numpy lstsq at each width"


def rows(quick):
    "The races; quick: 12 widths up to 600 and one draw instead of 40 up to 4000 and five"
    largest, count, draws = (600, 12, 1) if quick else (4000, 40, 5)
    widths = sorted({300, *(2 * int(D / 2) for D in np.geomspace(20, largest, count - 1))})
    return [partial(curve, widths, draws), partial(fits, widths)]


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
                np.hstack([np.sqrt(D) * phi(A) for D, phi in zip(np.diff([0, *widths]), maps, strict=True)])
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

    def agree(ours, theirs):
        for mine, other in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-7)

    return Race(
        title=f"curve, n=300, {len(widths)} widths to {widths[-1]}, {draws} draws",
        contenders={OURS: ours, PEER: theirs},
        agree=agree,
        repeats=3,
    )


def fits(widths):
    "The fits alone, on one matrix of features."
    X, Y, *_, features = digits()
    Z = features(widths[-1], np.random.default_rng(0))(X)

    def agree(ours, theirs):
        for mine, other in zip(ours, theirs, strict=True):
            gap = float(np.abs(mine - other).max() / np.abs(other).max())
            assert gap < 1e-9, f"At D = {len(mine)} they differ by {gap:.1e} of the largest coefficient."

    return Race(
        title=f"fits, n=300, {len(widths)} widths to {widths[-1]}",
        contenders={
            OURS: lambda: min_norm_path(Z, Y, widths),
            PEER: lambda: [np.linalg.lstsq(Z[:, :D], Y, rcond=None)[0] for D in widths],
        },
        agree=agree,
        repeats=3,
    )


if __name__ == "__main__":
    main(__file__, rows)
