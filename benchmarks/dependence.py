"""Tests of independence at n = 1000, 200 re-pairings (PROFILE=full: 500), against hyppo and plain loops.

The statistics are compared first: ours is exact on the whole Gram matrices, hyppo's is the root of
HSIC / √(HSIC(x, x) HSIC(y, y)). hyppo takes part where it is installed; the loops over permuted Gram
matrices are what one writes first. In ten dimensions no kernel has a narrow factor, and the cyclic null,
of the same exact level, is one Fourier transform.
"""

import sys
from functools import partial

import numpy as np
from runner import FULL, Race, main

from rkhs_notes.deeper.dependence import dhsic, dhsic_test, hsic, hsic_test
from rkhs_notes.kernels import Gaussian
from rkhs_notes.kpca import center

try:
    from hyppo.d_variate import dHsic
    from hyppo.independence import Hsic
except ImportError:
    Hsic = dHsic = None
    print("not installed, left out: hyppo", file=sys.stderr)

OURS, LOOP = "rkhs_notes", "loop over permuted Gram matrices"


def rows(quick):
    "The races; quick: 200 points and 49 re-pairings"
    n, B = (200, 49) if quick else (1000, 500 if FULL else 200)
    return [partial(two, n, B, 1), partial(two, n, B, 10), partial(three, n, B)]


def data(n, d):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    return X, 0.3 * X**2 + rng.standard_normal((n, d))


def near(ours, theirs):
    gap = abs(ours[0] - theirs[0]) / abs(ours[0])
    assert gap <= 1e-10, f"The statistics differ by {gap:.1e}; 1e-10 is allowed."
    gap = abs(np.mean(ours[1]) - np.mean(theirs[1])) / np.mean(ours[1])
    allowed = (
        3 / len(ours[1]) ** 0.5
    )  # other draws: their standard deviation is about half their mean
    assert gap <= allowed, f"The means of the nulls differ by {gap:.2f}; {allowed:.2f} is allowed."


def two(n, B, d):
    "HSIC; narrow factors in one dimension, none in ten"
    (X, Y), k = data(n, d), Gaussian(d**0.5)
    null = "permutation" if d == 1 else "cyclic"
    norm = np.sqrt(hsic(k, k, X, X) * hsic(k, k, Y, Y))

    def ours():
        test = hsic_test(k, k, X, Y, B, rng=0, null=null, tol=1e-13)
        return hsic(k, k, X, Y), test.null

    def loop():
        rng, K, L = np.random.default_rng(0), center(k(X)), center(k(Y))
        draws = [np.mean(K * L[p][:, p]) for p in (rng.permutation(n) for _ in range(B))]
        return np.mean(K * L), np.array(draws)

    def theirs():
        test = Hsic(compute_kernel="rbf", bias=True, gamma=0.5 / d)
        statistic, _ = test.test(X, Y, reps=B, auto=False, workers=1, random_state=0)
        return statistic**2 * norm, np.array(test.null_dist) ** 2 * norm

    peers = {LOOP: loop} | ({"hyppo": theirs} if Hsic else {})
    title = f"HSIC, d={d}, n={n}, {B} re-pairings ({null})"
    return Race(title, {OURS: ours, **peers}, near, repeats=3)


def three(n, B):
    "dHSIC of three variables"
    rng, k = np.random.default_rng(0), Gaussian(1.0)
    x, y, z = rng.standard_normal((3, n))
    z = np.where(rng.random(n) < 0.4, np.abs(z) * np.sign(x * y), z)
    samples = [x, y, z]

    def ours():
        return dhsic(k, samples), dhsic_test(k, samples, B, rng=0).null

    def value(Ks):
        means = np.stack([K.mean(axis=0) for K in Ks])
        return (
            np.mean(np.prod(Ks, axis=0))
            + np.prod(means.mean(axis=1))
            - 2 * np.mean(means.prod(axis=0))
        )

    def loop():
        draw, (K, *others) = np.random.default_rng(0), [k(v) for v in samples]
        orders = ([draw.permutation(n) for _ in others] for _ in range(B))
        draws = [
            value([K, *(L[p][:, p] for L, p in zip(others, both, strict=True))]) for both in orders
        ]
        return value([K, *others]), np.array(draws)

    def theirs():
        np.random.seed(0)
        test = dHsic(compute_kernel="rbf", bias=True, gamma=0.5)
        statistic, _ = test.test(*(v[:, None] for v in samples), reps=B, workers=1)
        return statistic, np.array(test.null_dist)

    peers = {LOOP: loop} | ({"hyppo": theirs} if Hsic else {})
    title = f"dHSIC of three, n={n}, {B} re-pairings"
    return Race(title, {OURS: ours, **peers}, near, repeats=3)


if __name__ == "__main__":
    main(__file__, rows)
