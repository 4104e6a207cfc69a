"""Independence: HSIC by several routes, its tests at their level, several variables, a condition."""

from itertools import permutations, product

import numpy as np
import pytest

import rkhs_notes as rn
from rkhs_notes.base.errors import LawBroken
from rkhs_notes.deeper.dependence import (
    check_hsic,
    conditional_independence_test,
    dhsic,
    dhsic_test,
    generalized_covariance_test,
    hsic,
    hsic_test,
    hsic_u,
)
from rkhs_notes.deeper.zoo import Delta, Laplace, Precomputed
from rkhs_notes.engines.features.spectral import fourier_features
from rkhs_notes.engines.testing.resampling import binomial_interval, random_signs
from rkhs_notes.engines.testing.swaps import (
    by_grams,
    by_products,
    by_tensors,
    invariants,
    over_cosets,
    over_shifts,
    pairing_moments,
)
from rkhs_notes.kernels import Constant, Gaussian, Linear, Polynomial
from rkhs_notes.kpca import center
from shared import H, X, Y, n


# two variables
@pytest.mark.second_route("hsic", "hsic_u", "the trace and the sum of its definitions")
def test_hsic_by_the_definition():
    k, ky = Gaussian(0.7), Laplace(1.3)
    few = slice(0, 8)
    K, L = k(X[few]), ky(Y[few])
    np.testing.assert_allclose(
        hsic(k, ky, X[few], Y[few]), np.trace(K @ H(8) @ L @ H(8)) / 64, rtol=1e-12
    )
    total, count = 0.0, 0
    for i in range(8):
        for j in range(8):
            for q in range(8):
                for r in range(8):
                    if len({i, j, q, r}) == 4:
                        total, count = (
                            total + K[i, j] * (L[i, j] + L[q, r] - 2 * L[i, q]),
                            count + 1,
                        )
    np.testing.assert_allclose(hsic_u(k, ky, X[few], Y[few]), total / count, rtol=1e-11)


def test_hsic_of_linear_kernels_is_the_covariance():
    A, B = X - X.mean(axis=0), Y - Y.mean(axis=0)
    np.testing.assert_allclose(
        hsic(Linear(), Linear(), X + 1e6, Y), np.square(A.T @ B / n).sum(), rtol=1e-3
    )
    np.testing.assert_allclose(
        hsic(Linear(), Linear(), X, Y), np.square(A.T @ B / n).sum(), rtol=1e-12
    )


def test_hsic_with_labels_is_mmd():
    labels = (X[:, 0] > 0.3).astype(float)
    zeros, ones = n - labels.sum(), labels.sum()
    s = np.where(labels == 0, 1 / zeros, -1 / ones)
    mmd2 = s @ Gaussian(1.0)(X) @ s
    value = hsic(Gaussian(1.0), Delta(), X, labels)
    np.testing.assert_allclose(value, 2 * (zeros * ones) ** 2 / n**4 * mmd2, rtol=1e-12)


def test_hsic_u_is_unbiased_under_independence():
    draw = np.random.default_rng(5)
    values = [hsic_u(Gaussian(1), Gaussian(1), *draw.normal(size=(2, 15))) for _ in range(600)]
    biased = [hsic(Gaussian(1), Gaussian(1), *draw.normal(size=(2, 15))) for _ in range(100)]
    error = np.std(values) / np.sqrt(600)
    assert abs(np.mean(values)) < 4 * error < np.mean(biased)


@pytest.mark.second_route("hsic_test", "a loop over permutations")
@pytest.mark.parametrize("k", [Gaussian(1.0), Laplace(0.1)], ids=str)
def test_both_routes_of_the_test_are_one_permutation_null(k):
    A, B = X[:60, 0], Y[:60, 0]
    result = hsic_test(k, k, A, B, 30, rng=2, tol=0)
    draw, K, L = np.random.default_rng(2), center(k(A)), center(k(B))
    null = [np.vdot(K, L[p][:, p]) / 3600 for p in (draw.permutation(60) for _ in range(30))]
    np.testing.assert_allclose(result.null, null, rtol=1e-8)
    np.testing.assert_allclose(result.statistic, hsic(k, k, A, B), rtol=1e-8)
    assert result.pvalue == (1 + sum(np.array(null) >= result.statistic * (1 - 1e-12))) / 31


def test_ties_count():
    flags = np.tile([0.0, 1.0], 10)
    result = hsic_test(Delta(), Delta(), flags, flags, 99, rng=0)
    assert result.pvalue == 0.01 and result.statistic >= result.null.max() - 1e-12
    same = hsic_test(Delta(), Delta(), [0, 1], [0, 1], 20)  # both pairings give one value
    assert same.pvalue == 1.0


@pytest.mark.parametrize("seed", range(8))
def test_signs_that_are_all_alike_count_as_ties(seed):
    A, B, C = np.random.default_rng(seed).uniform(0.1, 2, size=(3, 6, 7))
    alike = (np.abs(random_signs(6, 999, 0).sum(axis=0, dtype=int)) == 6).sum()
    assert alike > 10
    for order in "CF":
        k, given = Gaussian(1), np.array(C, order=order)
        assert (
            conditional_independence_test(k, k, k, A, B, given, 0, "wild").pvalue
            >= (1 + alike) / 1000
        )


def test_the_level_is_exact_at_small_n():
    draw = np.random.default_rng(8)
    p = [
        hsic_test(Polynomial(2), Gaussian(1), *draw.normal(size=(2, 7)), 19, rng=draw).pvalue
        for _ in range(1000)
    ]
    for level in (0.05, 0.2, 0.5):
        low, high = binomial_interval(level, 1000)
        assert low <= np.sum(np.array(p) <= level) <= high


def test_the_level_is_kept_by_coarse_factors():
    "Both sides must not choose the same rows as pivots: that would look at the pairing"
    draw = np.random.default_rng(1)
    p = [
        hsic_test(
            Gaussian(0.05), Gaussian(0.05), *draw.normal(size=(2, 40)), 99, rng=draw, tol=0.97
        ).pvalue
        for _ in range(120)
    ]
    for level in (0.05, 0.2):
        low, high = binomial_interval(level, 120)
        assert low <= np.sum(np.array(p) <= level) <= high


@pytest.mark.parametrize("dtype", ["f", "d"])
@pytest.mark.parametrize("k", [Gaussian(0.7), Gaussian(0.7) + Delta(), Gaussian(30.0)], ids=str)
def test_ties_count_in_either_precision(k, dtype):
    "No pairing of these eight points has a smaller HSIC, and many have the same"
    a, b = np.array([0, 0, 0, 1, 1, 1, 2, 2], dtype), np.array([0, 1, 2, 0, 1, 2, 0, 1], dtype)
    K, L = center(k(a.astype(float))), center(k(b.astype(float)))
    draw = np.random.default_rng(1)
    null = np.array([np.vdot(K, L[p][:, p]) for p in (draw.permutation(8) for _ in range(500))])
    exact = (1 + np.sum(null >= np.vdot(K, L) - 1e-9 * np.abs(null).max())) / 501
    assert hsic_test(k, k, a, b, 500, rng=1).pvalue == exact


@pytest.mark.parametrize("k", [Linear(), Polynomial(2), Linear() + Constant(1e8)], ids=str)
@pytest.mark.parametrize("shift", [0, 1e3, 1e5])
def test_a_mean_far_away_hides_nothing(k, shift):
    result = hsic_test(k, Linear(), X + shift, Y + shift, 9)
    np.testing.assert_allclose(result.statistic, hsic(k, Linear(), X + shift, Y + shift), rtol=1e-4)


def test_power_of_the_test():
    draw = np.random.default_rng(8)
    x = draw.normal(size=100)
    assert (
        hsic_test(Gaussian(1), Gaussian(1), x, x**2 + 0.3 * draw.normal(size=100), 99).pvalue
        == 0.01
    )


# the statistic of many pairings
@pytest.mark.parametrize("size", [4, 5, 6, 7])
def test_moments_over_all_pairings(size):
    draw = np.random.default_rng(size)
    A, B = (center(Gaussian(0.7)(draw.normal(size=(size, 2)))) for _ in range(2))
    every = by_grams(A, B)[0](np.array(list(permutations(range(size)))).T)
    np.testing.assert_allclose(
        pairing_moments(size, *(invariants(M.diagonal(), np.vdot(M, M)) for M in (A, B))),
        (every.mean(), every.var()),
        rtol=1e-10,
    )


@pytest.mark.parametrize("size", [2, 3, 10, 11])
def test_shifts_by_fourier_are_shifts(size):
    draw = np.random.default_rng(size)
    A, B = (center(Laplace(0.7)(draw.normal(size=size))) for _ in range(2))
    i = np.arange(size)
    wanted = [np.sum(A * B[np.ix_((i + s) % size, (i + s) % size)]) for s in range(size)]
    np.testing.assert_allclose(over_shifts(A, B), wanted, atol=1e-13)
    own, draws = over_cosets(A, B, 25, draw)
    assert np.isclose(own, wanted[0]) and (len(draws) + 1) % size == 0 and len(draws) >= 25


def test_cosets_are_pairings_of_the_data():
    "Every value occurs among those of all pairings, and the own one is that of the data"
    draw = np.random.default_rng(0)
    A, B = (center(Gaussian(1.0)(draw.normal(size=5))) for _ in range(2))
    every = by_grams(A, B)[0](np.array(list(permutations(range(5)))).T)
    own, draws = over_cosets(A, B, 99, draw)
    assert np.isclose(own, np.sum(A * B))
    assert np.abs(draws[:, None] - every).min(axis=1).max() < 1e-13
    assert len(np.unique(draws.round(10))) > 50  # and many different ones, of 120


@pytest.mark.parametrize("null", ["permutation", "cyclic"])
@pytest.mark.parametrize("size", [6, 40])
def test_exact_nulls_keep_their_level(null, size):
    draw = np.random.default_rng(8)
    p = np.array([
        hsic_test(Gaussian(1), Laplace(1), *draw.normal(size=(2, size)), 19, rng=draw, null=null).pvalue
        for _ in range(500)
    ])  # fmt: skip
    for level in (0.05, 0.2, 0.5):
        assert np.sum(p <= level) <= binomial_interval(level, 500)[1]
    low, high = binomial_interval(0.5, 500)
    assert size == 6 or low <= np.sum(p <= 0.5) <= high


def test_rows_in_order_do_not_help_the_shifts():
    "Sorted and smooth in time, yet independent: a shift by one would look like the data"
    draw, p = np.random.default_rng(3), []
    for _ in range(200):
        x, y = np.sort(draw.normal(size=60)), draw.normal(size=60)
        p.append(hsic_test(Gaussian(1), Gaussian(1), x, y, 19, rng=draw, null="cyclic").pvalue)
    low, high = binomial_interval(0.2, 200)
    assert low <= np.sum(np.array(p) <= 0.2) <= high


def test_gamma_law_has_the_moments_of_the_pairings():
    A, B = X[:60], Y[:60]
    gamma = hsic_test(Gaussian(1), Gaussian(2), A, B, 4000, null="gamma", tol=1e-10)
    K, L = center(Gaussian(1)(A)), center(Gaussian(2)(B))
    mean, variance = pairing_moments(60, *(invariants(M.diagonal(), np.vdot(M, M)) for M in (K, L)))
    np.testing.assert_allclose(gamma.null.mean(), mean / 3600, rtol=1e-3)
    np.testing.assert_allclose(gamma.null.var(), variance / 60**4, rtol=0.02)
    np.testing.assert_allclose(gamma.statistic, hsic(Gaussian(1), Gaussian(2), A, B), rtol=1e-7)
    assert not gamma.exact and 0 < gamma.pvalue < 1e-4


def test_feature_maps_stand_for_their_kernels():
    phi = Polynomial(2).feature_map(2)
    by_map = hsic_test(phi, Linear(), X, Y, 49, rng=4)
    by_kernel = hsic_test(Polynomial(2), Linear(), X, Y, 49, rng=4, tol=1e-14)
    np.testing.assert_allclose(by_map.null, by_kernel.null, rtol=1e-8)
    wide = fourier_features(Gaussian(0.1), 2, 400, rng=0)
    K = center(wide(X) @ wide(X).T)
    value = np.mean(K * center(Linear()(Y)))
    for null in ("permutation", "cyclic", "gamma"):
        np.testing.assert_allclose(
            hsic_test(wide, Linear(), X, Y, 9, null=null).statistic, value, rtol=1e-9
        )


def test_memory_stays_linear_for_maps(monkeypatch):
    "Gram matrices that do not fit are never asked for"
    monkeypatch.setattr(rn.settings, "result_mib", 0.2)
    draw = np.random.default_rng(0)
    x = draw.normal(size=600)
    phi = fourier_features(Gaussian(1.0), 1, 24, rng=0)
    for null in ("permutation", "gamma"):
        assert hsic_test(phi, phi, x, x**2, 19, rng=0, null=null).pvalue <= 0.05
    with pytest.raises(MemoryError, match="random pairings"):
        hsic_test(phi, phi, x, x**2, 19, null="cyclic")
    with pytest.raises(MemoryError, match="feature maps"):
        hsic(Gaussian(1), Gaussian(1), x, x)


def test_batches_do_not_change_the_draws(monkeypatch):
    whole = hsic_test(Gaussian(1), Gaussian(1), X, Y, 40, rng=0).null
    monkeypatch.setattr(rn.settings, "block_mib", 0.05)
    np.testing.assert_allclose(
        hsic_test(Gaussian(1), Gaussian(1), X, Y, 40, rng=0).null, whole, rtol=1e-12
    )


# laws
@pytest.mark.parametrize(
    "k", [Gaussian(1.0), 1e9 * Gaussian(1.0), Linear(), Polynomial(2), Delta()], ids=str
)
def test_the_laws_hold(k):
    assert check_hsic(k, Laplace(1.0), X, Y) < 1e-8
    for seed in range(20):  # few points, of which single precision keeps few digits
        A, B = np.random.default_rng(seed).uniform(size=(2, 6, 3)).astype("f")
        for pair in (A, B), (A, B.astype(float)), (A.astype(float), B):
            assert check_hsic(k, Laplace(1.0), *pair) < 1e-3


MUTANTS = {
    "not centred": (lambda kx, ky, A, B: np.mean(kx(A) * ky(B)), "the MMD²"),
    "unbiased": (hsic_u, "the MMD²"),
    "three times its tolerance": (lambda *g: hsic(*g) + 3e-8 * scale_of(*g), "the MMD²"),
    "first pair twice": (
        lambda kx, ky, A, B: hsic(kx, ky, A, B) * (1 + 1e-3 * np.ravel(A)[0]),
        "MMD²|order",
    ),
    "other sides": (lambda kx, ky, A, B: hsic(kx, kx, A, A), "the MMD²"),
}


def scale_of(kx, ky, A, B):
    same = np.sqrt(hsic(kx, kx, A, A) * hsic(ky, ky, B, B))
    return same + 1e-5 * kx.diag(A).max() * ky.diag(B).max()


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_refused(name):
    value, words = MUTANTS[name]
    with pytest.raises(LawBroken, match=words):
        check_hsic(Gaussian(1.0), Laplace(1.0), X[:40], Y[:40], value)


@pytest.mark.second_route("check_hsic", "impostors refused")
@pytest.mark.parametrize("what", ["order", "exchanged", "constant"])
def test_each_law_can_fail_alone(what):
    "Right on the data as they are, wrong where the law looks"

    def value(kx, ky, A, B):
        known = np.array_equal(A, seen[0]) and np.array_equal(B, seen[1])
        constant = len(np.unique(A)) == 1
        swapped = isinstance(kx, Laplace)
        wrong = {
            "order": not (known or constant or swapped),
            "exchanged": swapped,
            "constant": constant,
        }
        return hsic(kx, ky, A, B) + 1e-3 * wrong[what]

    few = np.random.default_rng(0).permutation(30)
    seen = X[:30, 0][few][:, None], Y[:30, 0][few][:, None]
    with pytest.raises(LawBroken, match=what):
        check_hsic(Gaussian(1.0), Laplace(1.0), X[:30, 0], Y[:30, 0], value, rng=0)


def test_a_side_that_is_0_has_no_scale():
    assert check_hsic(Gaussian(1.0), Linear(), X[:30], 0 * Y[:30]) == 0
    with pytest.raises(LawBroken):
        check_hsic(Gaussian(1.0), Linear(), X[:30], 0 * Y[:30], lambda *given: hsic(*given) + 1.0)


# several variables: the engine
def test_tensors_and_products_agree():
    draw = np.random.default_rng(0)
    Ks = [Gaussian(1.0)(draw.normal(size=(9, 2))) for _ in range(3)]
    orders = [draw.permutation(9), draw.permutation(9)]
    F = [np.linalg.cholesky(K) for K in Ks]
    np.testing.assert_allclose(by_tensors(F)(orders), by_products(Ks)(orders), rtol=1e-9)


# several variables
def literal_dhsic(Ks):
    "The squared norm of μ − ⊗ μ_l on the grid of all tuples"
    n, m = len(Ks[0]), len(Ks)
    places = [(i,) * m for i in range(n)] + list(product(range(n), repeat=m))
    weights = np.r_[np.full(n, 1 / n), np.full(n**m, -1 / n**m)]
    columns = np.array(places).T
    joint = np.prod([K[np.ix_(c, c)] for K, c in zip(Ks, columns, strict=True)], axis=0)
    return weights @ joint @ weights


@pytest.mark.second_route("dhsic", "brute force over all tuples")
@pytest.mark.parametrize("m", [2, 3, 4])
def test_dhsic_by_the_definition(m):
    draw = np.random.default_rng(m)
    samples = [draw.normal(size=(5, 2)) for _ in range(m)]
    kernels = [Gaussian(1.0), Laplace(0.7), Polynomial(2), Linear()][:m]
    wanted = literal_dhsic([k(A) for k, A in zip(kernels, samples, strict=True)])
    np.testing.assert_allclose(dhsic(kernels, samples), wanted, rtol=1e-10)


def test_dhsic_of_two_is_hsic():
    assert dhsic([Gaussian(1), Laplace(2)], [X, Y]) == pytest.approx(
        hsic(Gaussian(1), Laplace(2), X, Y)
    )


@pytest.mark.second_route("dhsic_test", "a loop over permutations")
@pytest.mark.parametrize("k", [Gaussian(1.0), Laplace(0.05)], ids=["narrow", "wide"])
def test_the_null_of_dhsic_is_that_of_a_loop(k):
    draw = np.random.default_rng(4)
    samples = list(draw.normal(size=(3, 40)))
    result = dhsic_test(k, samples, 20, rng=7, tol=1e-13)
    np.testing.assert_allclose(result.statistic, dhsic(k, samples), rtol=1e-8)
    again, Ks = np.random.default_rng(7), [k(A) for A in samples]
    again.spawn(1)
    for value in result.null:
        p, q = again.permutation(40), again.permutation(40)
        wanted = dhsic(k, [samples[0], samples[1][p], samples[2][q]])
        np.testing.assert_allclose(value, wanted, rtol=1e-6, atol=1e-14)
    assert len(Ks) == 3


@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize(("unit", "width"), [(1.0, 2e3), (1.0, 1e4), (1e-4, 1.0), (1e-4, 5.0)])
def test_wide_kernels_see_the_covariances(m, unit, width):
    "To first order k is 1 − ‖x − y‖² / 2 width², and dHSIC the sum of cov² / width⁴ over pairs"
    draw, k = np.random.default_rng(0), Gaussian(width)
    x = draw.normal(size=200)
    samples = [unit * x, *unit * (x + draw.normal(size=(m - 1, 200)))]
    C = np.cov(samples, bias=True) / width**2
    wanted = pytest.approx(np.sum(np.triu(C, 1) ** 2), rel=1e-4, abs=0)
    assert dhsic(k, samples) == wanted
    for tol in (1e-6, 1e-13):
        found = dhsic_test(k, samples, 99, rng=0, tol=tol)
        assert found.statistic == wanted and found.pvalue == 0.01
    assert dhsic_test(k, [*samples[:-1], 0 * x], 99, rng=0).pvalue == (1.0 if m == 2 else 0.01)


def test_the_level_of_dhsic():
    draw = np.random.default_rng(2)
    p = np.array([dhsic_test(Gaussian(1), list(draw.normal(size=(3, 12))), 19, rng=draw).pvalue
                  for _ in range(300)])  # fmt: skip
    for level in (0.05, 0.2, 0.5):
        low, high = binomial_interval(level, 300)
        assert low <= np.sum(p <= level) <= high


def test_dhsic_sees_what_pairs_do_not():
    draw = np.random.default_rng(1)
    a, b = draw.integers(0, 2, size=(2, 80)).astype(float)
    bits = [a, b, (a + b) % 2]
    assert dhsic_test(Gaussian(0.5), bits, 99, rng=0).pvalue == 0.01
    assert min(hsic_test(Gaussian(0.5), Gaussian(0.5), bits[i], bits[j], 99, rng=0).pvalue
               for i, j in ((0, 1), (0, 2), (1, 2))) > 0.01  # fmt: skip


# given a third
def driven(draw, size=150, shared=0.0, hidden=0.0):
    z, e, u = draw.normal(size=(3, size))
    return np.sin(z) + 0.5 * e, np.cos(z) + 0.5 * (u + shared * e + hidden * (e**2 - 1)), z


@pytest.mark.second_route("conditional_independence_test", "NumPy")
def test_the_conditional_statistic_by_dense_algebra():
    g, h, lam = Gaussian(1.0), Laplace(2.0), 0.4
    x, y, z = driven(np.random.default_rng(0), 60)
    R = lam * np.linalg.inv(H(60) @ h(z) @ H(60) + lam * np.eye(60))
    M = (R @ center(g(x) * h(z)) @ R) * (R @ center(g(y)) @ R)
    result = conditional_independence_test(g, g, h, x, y, z, lam=lam, n_draws=5000)
    np.testing.assert_allclose(result.statistic, M.sum() / 60, rtol=1e-9)
    np.testing.assert_allclose(result.null.mean(), np.trace(M) / 60, rtol=1e-3)
    np.testing.assert_allclose(result.null.var(), 2 * np.square(M).sum() / 3600, rtol=0.02)
    signs = conditional_independence_test(
        g, g, h, x, y, z, rng=1, null="wild", n_draws=3000, lam=lam
    )
    np.testing.assert_allclose(signs.null.mean(), np.trace(M) / 60, rtol=0.05)
    assert signs.statistic == pytest.approx(result.statistic)


@pytest.mark.parametrize("k", [Gaussian(1.0), Gaussian(20.0), Linear() ** 2])
def test_float32_is_judged_by_its_own_rounding(k):
    "The same numbers, read from float32, as doubles: one statistic, and no kernel is refused"
    rng = np.random.default_rng(4)
    Z = rng.normal(size=(80, 2)).astype(np.float32)
    X, Y = (Z[:, :1] + rng.normal(size=(80, 1)).astype(np.float32) for _ in "XY")
    data, wide = (X, Y, Z), [A.astype(float) for A in (X, Y, Z)]
    one = conditional_independence_test(k, k, k, *data)
    other = conditional_independence_test(k, k, k, *wide)
    assert one.statistic == pytest.approx(other.statistic, rel=1e-9)
    assert one.pvalue == pytest.approx(other.pvalue, rel=1e-9)
    a, b = (generalized_covariance_test(k, *some, 1) for some in (data, wide))
    assert a.statistic == pytest.approx(b.statistic, rel=1e-9)


def test_a_result_says_which_test_it_is_and_what_is_tested():
    x, y, z = driven(np.random.default_rng(0), 40)
    three = [Gaussian(1.0)] * 3
    for result, name, hypothesis in (
        (hsic_test(*three[:2], x, y, rng=0), "HSIC", "independent"),
        (dhsic_test(three, [x, y, z], rng=0), "dHSIC", "independent"),
        (conditional_independence_test(*three, x, y, z), "conditional HSIC", "given Z"),
        (
            conditional_independence_test(*three, x, y, z, null="wild", rng=0),
            "conditional HSIC",
            "given Z",
        ),
        (generalized_covariance_test(three[0], x, y, z), "covariance", "Z"),
    ):
        assert name in result.name and hypothesis in result.hypothesis
        assert result.name in repr(result)


@pytest.mark.second_route(
    "TestResult", "generalized_covariance_test", "ridge residuals and SciPy's normal law"
)
def test_the_covariance_measure_by_ridge():
    from scipy.stats import norm

    g, lam = Gaussian(1.0), 0.3
    x, y, z = driven(np.random.default_rng(3), 80, shared=0.25)
    left = [v - rn.ridge(g, z, v, lam, offset=True)(z) for v in (x, y)]
    R = left[0] * left[1]
    T = abs(R.sum()) / np.sqrt(80) / R.std()
    result = generalized_covariance_test(g, x, y, z, rng=0, n_draws=4000, lam=lam)
    np.testing.assert_allclose(result.statistic, T, rtol=1e-7)
    assert abs(result.pvalue - 2 * norm.sf(T)) < 4 * np.sqrt(norm.sf(T) / 2000) + 1e-3
    both = generalized_covariance_test(g, np.c_[y[::-1], x], np.c_[z**3, y], z, rng=0, lam=lam)
    assert both.statistic >= T * (1 - 1e-9)


def test_the_penalty_is_that_of_leave_one_out():
    g = Gaussian(1.0)
    x, y, z = driven(np.random.default_rng(5), 50)
    path = rn.ridge_path(g, z, x, offset=True)
    given = rn.dependence._Unexplained(g, g.points(z))
    errors = given.loo(np.outer(x - x.mean(), x - x.mean()), path.lams)
    np.testing.assert_allclose(errors, path.loo, rtol=1e-6)


def refitted(K, x, lam):
    "The mean squared leave-one-out error of ridge with a free constant, one fit a row"
    errors = []
    for i in range(len(x)):
        rest = np.delete(np.arange(len(x)), i)
        C, own = H(len(rest)), K[np.ix_(rest, rest)]
        alpha = C @ np.linalg.solve(C @ own @ C + lam * np.eye(len(rest)), C @ x[rest])
        errors.append(x[i] - x[rest].mean() - (K[i, rest] - own.mean(axis=0)) @ alpha)
    return np.mean(np.square(errors))


@pytest.mark.parametrize(
    ("seed", "size", "bandwidth"), [(1020, 60, 2.0), (13, 63, 16.0), (49, 8, 4.9), (94, 8, 12.0)]
)
def test_small_directions_are_not_mixed_with_the_constant(seed, size, bandwidth):
    rng, k = np.random.default_rng(seed), Gaussian(bandwidth)
    z = rng.standard_t(2, size=(size, 1))
    x = (np.sin(z / 2) + 0.1 * rng.normal(size=z.shape))[:, 0]
    given, lams = rn.dependence._Unexplained(k, k.points(z)), [2.8e-8, 1e-6, 1e-4, 1e-2]
    errors = given.loo(np.outer(x - x.mean(), x - x.mean()), lams)
    np.testing.assert_allclose(errors, [refitted(k(z), x, lam) for lam in lams], rtol=0.01)


@pytest.mark.parametrize("null", ["gamma", "wild"])
def test_level_and_power_given_z(null):
    g, counts = Gaussian(1.0), []
    for hidden in (0.0, 1.0):
        draws = (np.random.default_rng([1, seed]) for seed in range(60))
        p = [conditional_independence_test(g, g, g, *driven(draw, 150, hidden=hidden), draw, null, 99).pvalue
             for draw in draws]  # fmt: skip
        counts.append(np.sum(np.array(p) <= 0.05))
    assert counts[0] <= binomial_interval(0.08, 60)[1] and counts[1] > 30


def test_a_label_that_explains_all():
    "x and y are one label, seen through noise: dependent, and independent given it"
    draw = np.random.default_rng(0)
    z = draw.integers(0, 3, 150).astype(float)
    x, y = z + 0.3 * draw.normal(size=150), z + 0.3 * draw.normal(size=150)
    g, same = Gaussian(1.0), Delta()
    assert hsic_test(g, g, x, y, 99, rng=0).pvalue == 0.01
    assert conditional_independence_test(g, g, same, x, y, z).pvalue > 0.05
    assert conditional_independence_test(g, g, same, x, y + x - z, z).pvalue < 0.01
    assert generalized_covariance_test(same, x, y + x - z, z, rng=0).pvalue < 0.01


@pytest.mark.parametrize("seed", range(8))
def test_the_order_of_storage_does_not_choose_the_penalty(seed):
    rng = np.random.default_rng(seed)
    x, y, z = rng.normal(size=(6, 4)), rng.normal(size=(6, 4)), 1 + rng.uniform(size=(6, 5))
    # the least w is 1e-8, of which eps is 2e-8: the penalty is found, and T then keeps its digits

    def ask(z):
        return generalized_covariance_test(2 * Gaussian(1.0), x, y, z, rng=0, n_draws=4).statistic

    assert ask(np.asfortranarray(z)) == pytest.approx(ask(z), rel=1e-7)
    assert ask(z + 1e-15) == pytest.approx(ask(z), rel=1e-7)


def test_the_exercises_diagnose():
    assert rn.exercises.check_exercises("15") > 20


# strings, and a count of the work
def test_points_may_be_strings():
    from test_mmd import Bigrams, words

    r = np.random.default_rng(0)
    A = words([0.5, 0.3, 0.2], 24, r)
    k, y = Bigrams(), np.array([float(a.count("a")) for a in A])
    G = Precomputed(k(A))
    assert hsic(k, Gaussian(1.0), A, y) == pytest.approx(hsic(G, Gaussian(1.0), np.arange(24), y))
    words_, rows = (hsic_test(h, Gaussian(1.0), P, y, 99) for h, P in ((k, A), (G, np.arange(24))))
    assert words_.pvalue == rows.pvalue


def test_the_function_of_a_kernel_runs_once_for_each_sample():
    seen = []
    k = Gaussian(1.0).on(lambda x: seen.append(len(x)) or x**2)
    hsic_test(k, k, X, Y[:, :2], 9)
    assert len(seen) <= 2 and set(seen) == {n}


BAD = {
    "hsic pairs": (lambda: hsic(Linear(), Linear(), X, Y[1:]), ValueError, "one row of Y for each"),
    "hsic few": (
        lambda: hsic_u(Linear(), Linear(), X[:3], Y[:3]),
        ValueError,
        "number of pairs.* = 3",
    ),
    "test constant": (
        lambda: hsic_test(Linear(), Linear(), X, np.ones(n)),
        ValueError,
        "features of Y span 0",
    ),
    "test pairs": (
        lambda: hsic_test(Linear(), Linear(), X, Y[1:]),
        ValueError,
        "one row of Y for each",
    ),
    "test rng": (lambda: hsic_test(Linear(), Linear(), X, Y, rng="x"), TypeError, "rng"),
    "test draws": (lambda: hsic_test(Linear(), Linear(), X, Y, 0), ValueError, "n_permutations"),
    "test kernel": (lambda: hsic_test(None, Linear(), X, Y), TypeError, "not a Kernel"),
    "hsic huge": (lambda: hsic(*[1e170 * Gaussian(1)] * 2, X, Y), ValueError, "rescale one"),
    "hsic u tiny": (lambda: hsic_u(*[1e-170 * Gaussian(1)] * 2, X, Y), ValueError, "rescale one"),
    "test huge": (
        lambda: hsic_test(*[1e170 * Gaussian(1)] * 2, X, Y, 9),
        ValueError,
        "rescale one",
    ),
    "test tiny": (
        lambda: hsic_test(*[1e-170 * Gaussian(1)] * 2, X, Y, 9),
        ValueError,
        "rescale one",
    ),
    "gamma few": (
        lambda: hsic_test(Linear(), Linear(), X[:3], Y[:3], null="gamma"),
        ValueError,
        "number of pairs.* = 3",
    ),
    "gamma alike": (
        lambda: hsic_test(Delta(), Delta(), np.arange(9), np.arange(9), null="gamma"),
        ValueError,
        "every pairing",
    ),
    "null": (
        lambda: hsic_test(Linear(), Linear(), X, Y, null="permutations"),
        ValueError,
        "Did you mean",
    ),
    "one variable": (lambda: dhsic(Linear(), [X]), ValueError, "two or more"),
    "dhsic lengths": (lambda: dhsic(Linear(), [X, Y[1:]]), ValueError, "one row of"),
    "dhsic huge": (lambda: dhsic(1e170 * Gaussian(1), [X, Y]), ValueError, "rescale one"),
    "given nothing": (
        lambda: conditional_independence_test(Linear(), Linear(), Linear(), X, Y, Y[1:]),
        ValueError,
        "one row of Z for each",
    ),
    "given constant": (
        lambda: conditional_independence_test(Linear(), Gaussian(), Linear(), X, np.ones(n), Y),
        ValueError,
        "features of Y span 0",
    ),
    "given constant X": (
        lambda: conditional_independence_test(*[Gaussian()] * 3, np.ones(n), X, Y, lam=10.0),
        ValueError,
        "features of X span 0",
    ),
    "given null": (
        lambda: conditional_independence_test(*[Linear()] * 3, X, X, Y, null="gama"),
        ValueError,
        "gamma",
    ),
    "lam": (
        lambda: conditional_independence_test(*[Linear()] * 3, X, X, Y, lam=0.0),
        ValueError,
        "lam",
    ),
    "covariance constant": (
        lambda: generalized_covariance_test(Linear(), np.ones(n), X, Y),
        ValueError,
        "constant",
    ),
    "map of others": (
        lambda: hsic_test(fourier_features(Gaussian(), 3, 8, 0), Linear(), X, Y),
        ValueError,
        "columns",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case):
    use, error, words = BAD[case]
    with pytest.raises(error, match=words):
        use()


def test_ties_of_float32_points_are_ties():
    "Re-pairings that are equal but for rounding of floats speak for independence"
    smaller = []
    for seed in range(8):
        for many in (5, 7):
            for width in (0.3, 0.7):
                rng = np.random.default_rng(seed)
                places = [rng.integers(0, 3, (many, 1)) for _ in range(3)]
                rounded = [(0.3 * i + 0.1).astype(np.float32) for i in places]
                exact = dhsic_test([Gaussian(width)] * 3, [1.0 * i for i in places], 99, rng=0)
                found = dhsic_test([Gaussian(0.3 * width)] * 3, rounded, 99, rng=0)
                smaller.append(found.pvalue < exact.pvalue - 1e-9)
    assert not any(smaller)


@pytest.mark.parametrize("null", ["gamma", "wild"])
def test_products_that_leave_the_floats_are_named(null):
    X, Y, Z = np.random.default_rng(0).normal(size=(3, 30, 1))
    with pytest.raises(ValueError, match="variance under independence overflows"):
        conditional_independence_test(
            Linear(), Linear(), Gaussian(1.0), 1e78 * X, Y, Z, 0, null, lam=1.0
        )
