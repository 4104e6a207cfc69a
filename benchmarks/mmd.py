"""Two-sample tests against a loop and hyppo; a large one against goodpoints.

The loop draws the very relabellings that ours draws, so its null distribution must be ours. At n = m = 2000
the peers cannot be run to the end: they make 4 relabellings of the 1000. hyppo's statistic is not MMD²: of
it only the decision is compared.
"""

import sys
import warnings
from functools import partial

import numpy as np
from runner import Race, main

from rkhs_notes.deeper.two_samples import mmd_test
from rkhs_notes.engines.features.spectral import fourier_features
from rkhs_notes.engines.testing.resampling import random_labels
from rkhs_notes.kernels import Gaussian

OURS = "rkhs_notes"
try:
    from hyppo.ksample import MMD
except ImportError:
    MMD = None  # pip install '.[bench]'
    print("not installed, left out: hyppo", file=sys.stderr)
try:
    from goodpoints.ctt import ctt
except ImportError:
    ctt = None
    print("not installed, left out: goodpoints", file=sys.stderr)


def rows(quick):
    "The races; quick: 60 points instead of 250 and 2000, 1024 instead of 65 536"
    small, large = (40, 60) if quick else (250, 2000)
    races = [partial(whole, small, 1000), partial(in_part, large, 1000)]
    return races + [partial(many_points, 1024 if quick else 65_536, 199)] * (ctt is not None)


def samples(n, d=10, shift=0.3):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)), rng.normal(size=(n, d)) + shift


def literal(k, X, Y, B):
    "The statistic of B relabellings by indexing the Gram matrix anew for each: K[p][:, p]"
    m, K = len(X), k(np.concatenate([X, Y]))
    np.fill_diagonal(K, 0.0)
    n, null = len(Y), np.empty(B)
    for b, flags in enumerate(random_labels(m, m + n, B, 0).T):
        p = np.argsort(1 - flags, kind="stable")
        P = K[p][:, p]
        null[b] = (
            P[:m, :m].sum() / (m * (m - 1)) + P[m:, m:].sum() / (n * (n - 1)) - 2 * P[:m, m:].mean()
        )
    return null


def by_hyppo(X, Y, B, bandwidth):
    "hyppo's p-value; its kernel's gamma is 1 / (2 bandwidth²)"
    test = MMD(compute_kernel="rbf", gamma=0.5 / bandwidth**2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it prefers 1000 relabellings or more
        return test.test(X, Y, reps=B, workers=1, auto=False).pvalue


def peers(X, Y, B, bandwidth):
    found = {"loop K[p][:, p]": lambda: literal(Gaussian(bandwidth), X, Y, B)}
    if MMD:
        found["hyppo MMD"] = lambda: by_hyppo(X, Y, B, bandwidth)
    return found


def agree(ours, theirs):
    "Equal null distributions, as far as theirs goes; or the same decision"
    if np.ndim(theirs):
        gap = np.abs(ours.null[: len(theirs)] - theirs).max()
        assert gap < 1e-13, f"The null distributions differ by {gap:.2g}."
    else:
        assert (theirs <= 0.05) == ours.rejects(), (
            f"Theirs has p = {theirs:.3g}, ours {ours.pvalue:.3g}."
        )


def whole(n, B, bandwidth=4.0):
    "All B relabellings, everybody"
    X, Y = samples(n)
    return Race(
        title=f"permutation test, n=m={n}, B={B}",
        contenders={
            OURS: lambda: mmd_test(Gaussian(bandwidth), X, Y, B, rng=0),
            **peers(X, Y, B, bandwidth),
        },
        agree=agree,
        repeats=3,
    )


def in_part(n, B, bandwidth=4.0, some=4):
    "B relabellings of ours against some of theirs"
    X, Y = samples(n)

    def agree_in_part(ours, theirs):
        if np.ndim(theirs):  # a p-value of 4 relabellings decides nothing
            agree(ours, theirs)

    return Race(
        title=f"permutation test, n=m={n}, ours B={B}; theirs in part, to be extrapolated",
        contenders={
            OURS: lambda: mmd_test(Gaussian(bandwidth), X, Y, B, rng=0),
            **{
                f"{name}, {some} of {B}": work
                for name, work in peers(X, Y, some, bandwidth).items()
            },
        },
        agree=agree_in_part,
        repeats=3,
    )


def many_points(n, B, bandwidth=4.0, D=200):
    "D paired random features against compress-then-test; both see the shift"
    X, Y = samples(n, shift=12.8 / n**0.5)

    def by_features():
        return mmd_test(fourier_features(Gaussian(bandwidth), 10, D, 0), X, Y, B, rng=0)

    def compressed():
        values = ctt(
            X, Y, 4, B=B, lam=bandwidth * 2**0.5, null_seed=0, statistic_seed=0
        ).estimator_values
        return (1 + np.sum(values[:-1] >= values[-1])) / (B + 1)

    return Race(
        title=f"test of n=m={n}, B={B}",
        contenders={f"{OURS}, D={D}": by_features, "goodpoints CTT": compressed},
        agree=agree,
        repeats=3,
    )


if __name__ == "__main__":
    main(__file__, rows)
