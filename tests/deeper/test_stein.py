"""Stein kernels and goodness of fit: finite differences, quadrature, closed forms, levels, chains."""

import importlib.util
import tracemalloc

import numpy as np
import pandas as pd
import pytest

import rkhs_notes as rn
import rkhs_notes.deeper.stein as stein
from rkhs_notes import (
    Cauchy,
    Constant,
    Gaussian,
    Kernel,
    Laplace,
    LawBroken,
    Linear,
    Mahalanobis,
    Matern,
    Periodic,
    Polynomial,
    RationalQuadratic,
    gauss_hermite,
)
from rkhs_notes.deeper.stein import (
    SteinKernel,
    check_stein,
    goodness_of_fit_test,
    stein_discrepancy,
    torch_score,
)
from rkhs_notes.engines.testing.resampling import binomial_interval

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(6, 3)), RNG.normal(size=(5, 3))
IMQ = RationalQuadratic(alpha=0.5, bandwidth=1.0)


def score(x):
    return np.sin(x) - x * np.array([1.0, 0.5, 2.0])


def normal(x):
    return -x


KERNELS = [
    Gaussian(0.9),
    IMQ,
    RationalQuadratic(3.0, 0.7),
    Matern(2.5, 1.1),
    Matern(1.5, 1.1),
    Matern(1.2, 1.0),
    Matern(3.3, 1.2),
    Cauchy(1.2),
    Periodic(2.0, 1.3),
    Mahalanobis([0.5, 1.0, 2.0]),
    Gaussian([0.5, 1.0, 2.0]) + 2 * Matern(2.5, [2.0, 0.7, 1.0]),
    RationalQuadratic(3.0, [0.5, 1.0, 2.0]),
    Cauchy([0.5, 1.0, 2.0]) * Gaussian(1.5),
    Linear(),
    Polynomial(3, 0.5, 0.7),
    Constant(2.0) + Gaussian(2.0),
    Gaussian(1.0) * Linear() + 2 * Polynomial(2),
    (Gaussian(1.0) + Linear()) ** 3,
    Gaussian(1.0) ** 1,
    Gaussian(0.7).exp(),
    Linear().exp(),
    Gaussian(1.0).on([0, 2]) * Cauchy(2.0),
    IMQ * Matern(2.5) * Gaussian(2.0),
]


def by_differences(k, X, Y, h=1e-4):
    "The four terms of (15b.3), derivatives by central differences of k itself"
    S, R = score(X), score(Y)
    total = (S @ R.T) * k(X, Y)
    for i, e in enumerate(h * np.eye(X.shape[1])):
        total += S[:, i, None] * (k(X, Y + e) - k(X, Y - e)) / (2 * h)
        total += R[:, i] * (k(X + e, Y) - k(X - e, Y)) / (2 * h)
        total += (k(X + e, Y + e) - k(X + e, Y - e) - k(X - e, Y + e) + k(X - e, Y - e)) / (
            4 * h * h
        )
    return total


@pytest.mark.second_route("SteinKernel", "finite differences")
@pytest.mark.parametrize("k", KERNELS, ids=str)
def test_the_stein_kernel_is_what_differences_say(k):
    u = SteinKernel(k, score)
    expected = by_differences(k, X, Y)
    np.testing.assert_allclose(u(X, Y), expected, atol=3e-7 * np.abs(expected).max())
    U = u(X)
    np.testing.assert_allclose(U, u(X, X), rtol=1e-12, atol=1e-10)
    np.testing.assert_allclose(u.diag(X), U.diagonal(), rtol=1e-10)
    np.testing.assert_allclose(u.pairs(X[:5], Y), u(X[:5], Y).diagonal(), rtol=1e-10, atol=1e-12)
    assert np.linalg.eigvalsh(U)[0] > -1e-10 * np.abs(U).max()


@pytest.mark.parametrize("k", [k for k in KERNELS if stein.rule(k, stein.SLOPES)], ids=str)
def test_slopes_and_jets_agree(k):
    "The two routes: three products of matrices, and d derivatives each"
    S, R, whole = score(X), score(Y), (slice(None), slice(None))
    fast = stein._of_slopes(stein.rule(k, stein.SLOPES), X, S, Y, R)(*whole)
    slow = stein._of_jets(stein.jet_of(k), X, S, Y, R)(*whole)
    np.testing.assert_allclose(fast, slow, rtol=1e-10, atol=1e-11 * np.abs(slow).max())


def test_far_from_the_origin_nothing_is_lost():
    moved = SteinKernel(Gaussian(1.0), lambda x: score(x - 1e6))(X + 1e6)
    np.testing.assert_allclose(moved, SteinKernel(Gaussian(1.0), score)(X), rtol=1e-6, atol=1e-6)


def test_memory_is_linear_in_the_sample():
    tracemalloc.start()
    big = np.random.default_rng(8).normal(size=(6000, 2))  # 275 MiB as a matrix
    stein_discrepancy(IMQ, normal, big)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 80 * 2**20


def test_blocks_change_nothing():
    big = RNG.normal(size=(120, 3))
    for k in (IMQ, Cauchy(1.0)):
        whole = SteinKernel(k, score)(big)
        v = stein_discrepancy(k, score, big, biased=True)
        with rn.settings.using(block_mib=0.05):
            np.testing.assert_allclose(SteinKernel(k, score)(big), whole, rtol=1e-10, atol=1e-10)
            assert np.isclose(stein_discrepancy(k, score, big, biased=True), v)


@pytest.mark.parametrize(
    "k",
    [
        Laplace(1.0),
        Matern(0.5),
        Matern(1.0),
        rn.Brownian(),
        Gaussian().on(np.cos),
        Gaussian() + Laplace(),
    ],
    ids=str,
)
def test_kernels_without_derivatives_are_refused(k):
    with pytest.raises(TypeError, match="k is of type"):
        stein_discrepancy(k, normal, np.abs(X[:, :1]))


def test_twice_the_same_column_is_refused():
    with pytest.raises(TypeError, match="different columns"):
        SteinKernel(Gaussian(1.0).on([0, 0]), score)(X)


def test_a_kernel_of_ones_own_joins_by_its_jet():
    class Own(Kernel):
        def _gram(self, X, Y, xp):
            return X @ Y.T

        def _jet(self, X, Y):
            return stein._linear(self, X, Y)

    for made in (
        lambda k: k,
        lambda k: k + Gaussian(1.0),
        lambda k: 2 * k * k,
        lambda k: (k**2).exp(),
        lambda k: k.on([1, 0]) + k,
    ):
        np.testing.assert_allclose(
            SteinKernel(made(Own()), score)(X), SteinKernel(made(Linear()), score)(X)
        )


def test_a_score_of_another_shape_is_named():
    for wrong in (lambda x: x[:, 0], lambda x: x[:2], lambda x: np.full_like(x, np.nan)):
        with pytest.raises(ValueError, match=r"score\(X\)"):
            stein_discrepancy(IMQ, wrong, X)
    one = stein_discrepancy(IMQ, lambda x: -x[:, 0], X[:, :1])  # on the line (n,) will do
    assert np.isclose(one, stein_discrepancy(IMQ, normal, X[:, 0]))
    with pytest.raises(ValueError, match="X"):
        stein_discrepancy(IMQ, normal, X[:1])


# the law

MIXTURE = gauss_hermite(1.0, 2.0, 200)
Z = np.array([[-3.0], [0.0], [1.0], [4.0]])


def right(x):
    return (1 - x) / 4


@pytest.mark.parametrize(
    "k", [Gaussian(1.5), Gaussian(2.0) + Gaussian(1.5).exp(), Polynomial(3), Linear()], ids=str
)
def test_the_mean_is_zero_under_the_model(k):
    assert check_stein(k, right, MIXTURE, Z) < 1e-3
    sample = 1 + 2 * np.random.default_rng(1).normal(size=(3000, 1))
    assert check_stein(k, right, sample, Z) < 1


@pytest.mark.second_route("check_stein", "near misses refused")
@pytest.mark.parametrize(
    "wrong",
    [
        lambda x: -right(x),
        lambda x: right(x) * (1 + 3e-8),
        lambda x: (1 - x) / 2,
        lambda x: right(x) + 3e-8,
    ],
    ids=["sign", "near miss", "deviation for variance", "shift"],
)
def test_the_law_refuses_other_scores(wrong):
    with pytest.raises(LawBroken, match="with its sign"):
        check_stein(Gaussian(1.5), wrong, MIXTURE, Z)


def test_the_law_refuses_other_formulas():
    u = SteinKernel(Gaussian(1.5), right)
    for other in (
        lambda X, Z: u(X, Z) + 1e-6,
        lambda X, Z: Gaussian(1.5)(X, Z),
        lambda X, Z: u(X, Z) ** 2,
    ):
        with pytest.raises(LawBroken):
            check_stein(Gaussian(1.5), right, MIXTURE, Z, other)
    sample = 1 + 2 * np.random.default_rng(1).normal(size=(3000, 1))
    with pytest.raises(LawBroken):
        check_stein(Gaussian(1.5), normal, sample, Z)


# the discrepancy


def closed_form(m, s, sigma):
    "KSD² of N(m, s²) against N(0, 1), Gaussian kernel: E[δ(x) δ(y) k], δ(x) = (1/s² − 1)(x − m) − m"
    mean = (1 + 2 * s**2 / sigma**2) ** -0.5
    squares = mean / (1 / (2 * s**2) + 1 / sigma**2)
    products = (2 * s**2 * mean - squares) / 4
    return (1 / s**2 - 1) ** 2 * products + m**2 * mean


@pytest.mark.parametrize(
    "m, s, sigma", [(0.5, 1.0, 1.0), (0.0, 1.5, 0.8), (-1.0, 0.7, 2.0), (0.0, 1.0, 1.0)]
)
def test_the_closed_form_of_normal_laws_by_quadrature(m, s, sigma):
    law = gauss_hermite(m, s, 120)
    U, w = SteinKernel(Gaussian(sigma), normal)(law.points), law.weights / law.mass
    assert np.isclose(w @ U @ w, closed_form(m, s, sigma), rtol=1e-8, atol=1e-12)


def test_the_unbiased_estimate_is_unbiased():
    rng, exact, k = np.random.default_rng(2), closed_form(0.5, 1.2, 1.0), Gaussian(1.0)
    found = [stein_discrepancy(k, normal, 0.5 + 1.2 * rng.normal(size=(30, 1))) for _ in range(600)]
    assert abs(np.mean(found) - exact) < 4 * np.std(found) / 600**0.5
    biased = [
        stein_discrepancy(k, normal, rng.normal(size=(30, 1)), biased=True) for _ in range(50)
    ]
    assert min(biased) > 0


def test_both_estimates_from_their_definitions():
    U = by_differences(IMQ, X, X)
    off = U.sum() - np.trace(U)
    assert np.isclose(stein_discrepancy(IMQ, score, X), off / 30, rtol=1e-6)
    assert np.isclose(stein_discrepancy(IMQ, score, X, biased=True), U.sum() / 36, rtol=1e-6)


def test_a_shift_in_many_dimensions():
    rng, d = np.random.default_rng(3), 6
    shift = np.zeros(d)
    shift[0] = 0.8
    found = stein_discrepancy(Gaussian(2.0), normal, rng.normal(size=(3000, d)) + shift)
    assert np.isclose(found, 0.64 * 1.5**-3, rtol=0.15)


# the test


@pytest.mark.second_route("goodness_of_fit_test", "a loop over the signs")
def test_statistic_and_draws_are_those_of_a_loop():
    sample = RNG.normal(size=(40, 3))
    result = goodness_of_fit_test(IMQ, score, sample, rng=5, n_draws=30)
    W = rn.resampling.random_signs(40, 30, 5)
    U = SteinKernel(IMQ, score)(sample)
    np.fill_diagonal(U, 0)
    assert np.isclose(result.statistic, stein_discrepancy(IMQ, score, sample))
    np.testing.assert_allclose(
        result.null, [w @ U @ w / (40 * 39) for w in W.T.astype(float)], atol=1e-12
    )
    assert result.pvalue == (1 + np.sum(result.null >= result.statistic)) / 31


@pytest.mark.parametrize("k, d", [(IMQ, 2), (Gaussian(1.0), 1)], ids=str)
def test_the_level(k, d):
    rng, n_tests = np.random.default_rng(4), 2000
    p = [
        goodness_of_fit_test(k, normal, rng.normal(size=(60, d)), rng, 99).pvalue
        for _ in range(n_tests)
    ]
    low, high = binomial_interval(0.05, n_tests)
    assert low <= np.sum(np.array(p) <= 0.05) <= high


def test_power_where_the_moments_agree():
    "Laplace's law of variance 1 against the normal law"
    rng = np.random.default_rng(5)
    samples = [rng.laplace(size=(400, 1)) / 2**0.5 for _ in range(20)]
    assert (
        np.mean([goodness_of_fit_test(IMQ, normal, x, rng, 199).rejects() for x in samples]) > 0.8
    )


def chain(n, rho, rng):
    "A stationary chain with standard normal marginals"
    x = np.empty(n)
    x[0] = rng.normal()
    for i in range(1, n):
        x[i] = rho * x[i - 1] + (1 - rho**2) ** 0.5 * rng.normal()
    return x[:, None]


def test_a_chain_needs_signs_that_stay():
    rng = np.random.default_rng(6)
    samples = [chain(200, 0.9, rng) for _ in range(150)]
    share = {
        flip: np.mean(
            [goodness_of_fit_test(IMQ, normal, x, rng, 99, flip).rejects() for x in samples]
        )
        for flip in (0.5, 0.02)
    }
    assert share[0.5] > 0.3 and share[0.02] < 0.12


def test_a_far_mode_is_not_weighed():
    rng = np.random.default_rng(7)

    def of_mixture(x):
        return 6 * np.tanh(6 * x) - x  # half N(−6, 1), half N(6, 1)

    sample = rng.normal(size=(300, 1)) + 6 * rng.choice([-1, 1], (300, 1), p=[0.95, 0.05])
    assert (
        goodness_of_fit_test(IMQ, of_mixture, sample, rng).pvalue > 0.01
    )  # the blind spot of every score
    assert goodness_of_fit_test(IMQ, of_mixture, sample / 2, rng).pvalue < 0.01


@pytest.mark.parametrize("n", [50, 403])
def test_signs_that_are_all_alike_count_as_ties(n):
    "A chain that hardly forgets keeps its sign, and BLAS sums the columns of a product in other orders"
    for seed in range(5):
        points, rng = np.random.default_rng(seed).normal(size=(n, 2)), np.random.default_rng(seed)
        changes = np.where(rng.random((n, 499)) < 0.002, -1, 1)
        alike = (np.abs(np.cumprod(changes, axis=0).sum(axis=0)) == n).sum()
        test = goodness_of_fit_test(Gaussian(1.0), lambda x: -x, 2 * points, seed, flip=0.002)
        assert alike > 100 and test.pvalue >= (1 + alike) / 500


@pytest.mark.second_route("torch_score", "the gradient, by hand")
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
def test_scores_by_autodiff():
    import torch

    def log_density(x):
        return -(x**4).sum(dim=1) / 4 - torch.cos(x[:, 0] * x[:, 1])

    def by_hand(x):
        inner = np.sin(x[:, 0] * x[:, 1])
        return -(x**3) + np.column_stack([inner * x[:, 1], inner * x[:, 0], 0 * inner])

    np.testing.assert_allclose(torch_score(log_density)(X), by_hand(X), rtol=1e-10, atol=1e-12)
    assert np.isclose(
        stein_discrepancy(IMQ, torch_score(log_density), X), stein_discrepancy(IMQ, by_hand, X)
    )


def test_every_mistake_of_the_exercises_is_named():
    assert rn.exercises.check_exercises("15b") > 20


@pytest.mark.parametrize("columns", [["a"], ["b", "a"]])
def test_named_columns_are_those_of_the_numbers(columns):
    "The score is one of both columns, whichever of them k names"
    V = np.random.default_rng(2).normal(size=(30, 2))
    D, numbers = pd.DataFrame(V, columns=["a", "b"]), ["ab".index(c) for c in columns]

    def score(z):
        return -z / [1.0, 2.0]

    k, plain = (rn.Gaussian(1.0).on(some) for some in (columns, numbers))
    for test in (
        lambda k, X: rn.goodness_of_fit_test(k, score, X, 0, 49).statistic,
        lambda k, X: rn.stein_discrepancy(k, score, X),
        lambda k, X: rn.SteinKernel(k, score)(X)[0].sum(),
    ):
        assert test(k, D) == pytest.approx(test(plain, V), rel=1e-12)
