"""Expansions of every kernel under every measure, closed forms, and what they must refuse."""

import pickle
import warnings
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from rkhs_notes import settings
from rkhs_notes.apps.exercises import check_exercises
from rkhs_notes.base.contracts import fuzz
from rkhs_notes.base.errors import IndefiniteKernel, LawBroken
from rkhs_notes.deeper.zoo import (
    Delta,
    Laplace,
    Matern,
    Periodic,
    Precomputed,
    Rank1,
    RationalQuadratic,
    Sobolev,
)
from rkhs_notes.engines.features.feature_maps import check_feature_map, finite_feature_map
from rkhs_notes.engines.functions.measures import (
    Measure,
    empirical,
    gauss_hermite,
    gauss_legendre,
    uniform_grid,
)
from rkhs_notes.engines.kernels.composites import Anova
from rkhs_notes.engines.solving.closed_spectra import (
    BrownianBridge,
    bridge_spectrum,
    brownian_spectrum,
    gaussian_spectrum,
    periodic_spectrum,
)
from rkhs_notes.engines.solving.gram_operators import GramOperator
from rkhs_notes.engines.solving.mercer_expansions import (
    check_mercer,
    integral_operator,
    mercer_expansion,
)
from rkhs_notes.engines.solving.ridge_fits import ridge
from rkhs_notes.engines.solving.spectra import leading_eigenpairs
from rkhs_notes.kernels import (
    Brownian,
    Constant,
    Gaussian,
    Kernel,
    Linear,
    Polynomial,
    Sigmoid,
    check_kernel,
)
from rkhs_notes.rkhs import RKHS
from shared import SharedLetters

KERNELS = [
    Linear(),
    Constant(2),
    Polynomial(3),
    Gaussian(0.4),
    Laplace(1),
    Matern(1.5, 0.5),
    Delta(),
    RationalQuadratic(1, 0.5),
    Periodic(1, 0.7),
    Gaussian(1) * Linear() + Constant(0.1),
    3 * Laplace(2),
    Gaussian(1).normalized(),
    (Polynomial(2) / 10).exp(),
    Rank1(np.cos),
]
rng = np.random.default_rng(0)


def on_line(k, measure):
    return mercer_expansion(k, measure, 25)


# laws


@pytest.mark.parametrize("k", KERNELS, ids=str)
@pytest.mark.parametrize(
    "measure",
    [
        gauss_legendre(-1, 1, 40),
        gauss_hermite(0, 0.5, 30),
        empirical(rng.normal(size=30)),
        Measure(np.linspace(-1, 1, 9), [0, 1, 0.01, 3, 0, 2, 1, 1e-6, 1]),
        Measure([0.5, 0.5, -0.5, 0.5], [1, 2, 3, 4]),
    ],
    ids=["legendre", "hermite", "sample", "weights", "repeated"],
)
def test_every_kernel_under_every_measure(k, measure):
    expansion = mercer_expansion(k, measure)
    check_mercer(expansion, k, rng.uniform(-1, 1, size=15))
    nodes = np.unique(measure.points[measure.weights > 1e-3])
    check_mercer(
        expansion, k, nodes, within=1e-5 * k.diag(nodes).max()
    )  # all terms: exact at the nodes
    assert expansion.tail() <= 1e-9 * expansion.total


@pytest.mark.parametrize(
    "k", [Gaussian(2), Linear(), Laplace(3), Anova(Gaussian(1), 2), Polynomial(2)], ids=str
)
def test_samples_of_space(k):
    X = rng.normal(size=(60, 3))
    expansion = mercer_expansion(k, empirical(X), 12)
    check_mercer(expansion, k, rng.normal(size=(20, 3)))
    values = np.linalg.eigvalsh(k(X))[::-1][: expansion.n_terms] / 60
    np.testing.assert_allclose(expansion.eigenvalues, values, atol=1e-13 * values[0])


@given(st.integers(1, 12), st.integers(0, 1000), st.sampled_from([1e-100, 1e-3, 1.0, 1e100]))
def test_any_weights(n, seed, mass):
    draw = np.random.default_rng(seed)
    points = draw.integers(-2, 3, size=n) / 2
    weights = draw.uniform(size=n) * draw.integers(0, 2, size=n)
    weights[0] = 1
    expansion = mercer_expansion(Gaussian(0.7), Measure(points, mass * weights))
    assert np.isfinite(expansion.eigenfunctions([0.3])).all()
    np.testing.assert_allclose(expansion.eigenvalues.sum() + expansion.tail(), mass * weights.sum())
    np.testing.assert_allclose(expansion.kernel(points[:1]), [[1.0]], atol=1e-6)


@pytest.mark.second_route("IntegralOperator", "integral_operator", "quadrature")
def test_the_operator():
    mu = gauss_legendre(0, 1, 60)
    T, g = integral_operator(Gaussian(0.5), mu), RKHS(Gaussian(0.5)).function([0.1, 0.9], [1, -2])
    f = np.sin
    assert np.isclose(T(f) @ g, mu.inner(f, g)) and np.isclose(
        T(f).norm() ** 2, T.quadratic_form(f)
    )
    exact = quad(lambda u: np.exp(-2 * (0.3 - u) ** 2) * np.sin(u), 0, 1)[0]
    assert np.isclose(T(f)([0.3])[0], exact) and np.isclose(T.trace(), 1)
    np.testing.assert_allclose(T(f(mu.points))([0.3]), T(f)([0.3]))


@pytest.mark.second_route("empirical", "mercer_expansion", "NumPy's eigenvalues")
def test_many_nodes_and_few_agree_with_the_matrix():
    X = rng.normal(size=(800, 2))
    expansion = mercer_expansion(Gaussian(1), empirical(X), 20)
    np.testing.assert_allclose(
        expansion.eigenvalues, np.linalg.eigvalsh(Gaussian(1)(X))[::-1][:20] / 800, atol=1e-14
    )
    check_mercer(expansion, Gaussian(1), X[:30])
    with settings.using(result_mib=2):  # K takes 4.9 MiB: tiles
        tiles = mercer_expansion(Gaussian(1), empirical(X), 20)
    np.testing.assert_allclose(tiles.eigenvalues, expansion.eigenvalues, atol=1e-13)


# the two inner products


def test_norms_and_coordinates():
    k, mu = Gaussian(0.5), gauss_legendre(0, 1, 60)
    expansion, f = mercer_expansion(k, mu), RKHS(k).function([0.2, 0.5, 0.7], [1.0, 2.0, -1.0])
    assert np.isclose(expansion.norm(f), f.norm(), rtol=1e-6)
    np.testing.assert_allclose(
        expansion.coefficients(f) @ expansion.coefficients(f), mu.inner(f, f)
    )
    x = RKHS(k).section(0.3)
    lam, psi = expansion.eigenvalues, expansion.eigenfunctions([0.3])[0]
    np.testing.assert_allclose(expansion.coefficients(x), lam * psi, atol=1e-9)
    assert np.isclose(expansion.norm(f(expansion.measure.points)), expansion.norm(f))


def test_eigenfunctions_in_h():
    k, X = Matern(1.5, 0.5), rng.normal(size=25)
    psi = mercer_expansion(k, empirical(X)).functions
    np.testing.assert_allclose(
        (psi @ psi) * mercer_expansion(k, empirical(X)).eigenvalues, np.eye(25), atol=1e-6
    )


def test_doubled_weights():
    mu = gauss_legendre(0, 1, 30)
    one, two = on_line(Gaussian(1), mu), on_line(Gaussian(1), Measure(mu.points, 2 * mu.weights))
    m = 6
    np.testing.assert_allclose(two.eigenvalues[:m], 2 * one.eigenvalues[:m])
    np.testing.assert_allclose(
        two.feature_map()([0.3])[:, :m], one.feature_map()([0.3])[:, :m], atol=1e-8
    )


# feature maps and truncated kernels


def test_three_maps_have_one_gram():
    k, X = Gaussian(0.5), rng.uniform(size=12)
    phi, F = mercer_expansion(k, gauss_legendre(0, 1, 50)).feature_map(), finite_feature_map(k(X))
    np.testing.assert_allclose(phi(X) @ phi(X).T, F @ F.T, atol=1e-7)
    check_feature_map(phi, k, X, tol=1e-7)


def test_the_truncated_kernel_is_a_kernel():
    low = mercer_expansion(Gaussian(1), empirical(rng.normal(size=(30, 2))), 5).kernel
    X = rng.normal(size=(12, 2))
    check_kernel(low, X)
    np.testing.assert_allclose(low.pairs(X, X[::-1]), np.diag(low(X, X[::-1])), atol=1e-15)
    np.testing.assert_allclose(low.diag(X), np.diag(low(X)), atol=1e-15)
    composite = low * Linear() + 2 * low
    assert composite.feature_map(2).dim == 15
    check_feature_map(composite.feature_map(2), composite, X)
    f = ridge(low, X, X[:, 0], lam=0.1)
    F = low.feature_map(2)(X)
    np.testing.assert_allclose(
        f(X), F @ np.linalg.solve(F.T @ F + 0.1 * np.eye(5), F.T @ X[:, 0]), atol=1e-10
    )
    with settings.using(block_mib=0.01):
        np.testing.assert_allclose(low(X), composite.k1.k1(X), atol=1e-15)


@pytest.mark.parametrize(
    "expansion",
    [
        brownian_spectrum(4),
        bridge_spectrum(4),
        gaussian_spectrum(1, 0, 1, 4),
        periodic_spectrum(Periodic(1), 4),
        mercer_expansion(Gaussian(1.0), empirical(np.linspace(0, 1, 9)), 4),
    ],
    ids=lambda expansion: str(expansion.k),
)
def test_an_expansion_on_a_line_takes_one_column(expansion):
    "A formula reads the first column only: others would be dropped without a word"
    plane = np.full((3, 2), 0.5)
    for call in expansion.eigenfunctions, expansion.kernel:
        with pytest.raises(ValueError, match=r"X has shape \(3, 2\); pass \(n, 1\)"):
            call(plane)


@pytest.mark.parametrize(
    "make",
    [
        lambda: mercer_expansion(Gaussian(1), empirical(rng.normal(size=20)), 4),
        lambda: brownian_spectrum(4),
        lambda: gaussian_spectrum(1, 0, 1, 4),
        lambda: periodic_spectrum(Periodic(1), 4),
    ],
)
def test_expansions_pickle(make):
    expansion = make()
    again = pickle.loads(pickle.dumps(expansion))
    assert (again.kernel([0.2, 0.4]) == expansion.kernel([0.2, 0.4])).all()
    phi = pickle.loads(pickle.dumps(expansion.feature_map()))
    assert (phi([0.3]) == expansion.feature_map()([0.3])).all()


def test_same_answer_twice():
    X = rng.normal(size=(700, 2))
    one, two = (mercer_expansion(Gaussian(1), empirical(X), 9) for _ in range(2))
    assert (one.eigenfunctions(X[:5]) == two.eigenfunctions(X[:5])).all()


# closed forms


@pytest.mark.second_route("uniform_grid", "spectra in closed form")
@pytest.mark.parametrize(
    "exact, measure",
    [
        (brownian_spectrum(60), uniform_grid(0, 1, 900)),
        (bridge_spectrum(60), uniform_grid(0, 1, 900)),
        (gaussian_spectrum(1, 0, 1, 30), gauss_hermite(0, 1, 80)),
        (gaussian_spectrum(0.5, -3, 0.7, 40), gauss_hermite(-3, 0.7, 120)),
        (periodic_spectrum(Periodic(3, 0.3), 41), uniform_grid(0, 3, 200)),
    ],
    ids=lambda o: str(o)[:40],
)
def test_numerical_spectra_meet_the_closed_ones(exact, measure):
    scaled = Measure(measure.points, measure.weights / measure.mass)
    found = mercer_expansion(exact.k, scaled, exact.n_terms)
    np.testing.assert_allclose(found.eigenvalues, exact.eigenvalues[: found.n_terms], atol=1e-6)
    assert abs(found.tail() - exact.tail()) < 1e-2 * exact.tail() + 1e-13


@pytest.mark.parametrize(
    "exact",
    [
        brownian_spectrum(30),
        bridge_spectrum(30),
        gaussian_spectrum(1, 0, 1, 60),
        gaussian_spectrum(0.1, 5, 2, 200),
        gaussian_spectrum(30, 0, 1, 200),
        periodic_spectrum(Periodic(2, 0.3), 61),
        periodic_spectrum(2 * Periodic(1, 1) * Periodic(1, 0.5) + Constant(0.5), 21),
    ],
    ids=lambda o: str(o)[:50],
)
def test_closed_forms_obey_the_law(exact):
    X = exact.measure.points[exact.measure.weights > 0.01 * exact.measure.weights.max()][::53]
    check_mercer(exact, exact.k, X)
    assert np.isfinite(exact.eigenvalues).all() and (exact.eigenvalues > 0).all()
    assert (np.diff(exact.eigenvalues) <= 0).all()


def test_nothing_overflows():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for ratio in (1e-3, 0.1, 1, 10, 1e3):
            expansion = gaussian_spectrum(ratio, 0, 1, 200)
            x = np.array([-1e300, -50, -8, -1, 0, 1, 8, 50, 1e300])
            features = expansion.feature_map()(x)
            assert np.isfinite(features).all() and (features**2).sum(axis=1).max() < 1 + 1e-10


@pytest.mark.second_route("gaussian_spectrum", "closed form")
def test_known_numbers():
    golden = gaussian_spectrum(1, 0, 1, 50).eigenvalues
    assert np.isclose(np.sum(golden**2), 1 / 5**0.5)  # Σλ² = ∬k²
    assert np.isclose(brownian_spectrum(1000).eigenvalues[999], 1.01e-7, rtol=0.01, atol=0)
    np.testing.assert_allclose(
        periodic_spectrum(Periodic(1, 1) ** 2, 7).eigenvalues,
        periodic_spectrum(Periodic(1, 0.5**0.5), 7).eigenvalues,
        atol=1e-14,
    )
    values = mercer_expansion(Linear(), gauss_legendre(-1, 1, 20)).eigenvalues
    np.testing.assert_allclose(values, [2 / 3])


def test_truncation_is_stated():
    assert "5 of 9 terms" in repr(
        mercer_expansion(Polynomial(2), empirical(rng.normal(size=(5, 9))), 9)
    )
    assert "rounding" not in repr(
        mercer_expansion(Polynomial(2), empirical(rng.normal(size=(5, 9))), 5)
    )
    few = gaussian_spectrum(1e4, 0, 1, 100)
    assert few.n_terms < 50 and "of 100 terms" in repr(few)
    assert mercer_expansion(Precomputed(np.eye(3)), empirical([0, 1, 2]), 2).n_terms == 2


# effective dimension


@given(st.floats(1e-3, 1e3), st.integers(0, 50))
def test_effective_dimension(lam, seed):
    X = np.random.default_rng(seed).normal(size=(20, 2))
    K, ones = Gaussian(1)(X), Measure(X, np.ones(20))
    exact = np.trace(np.linalg.solve(K + lam * np.eye(20), K))
    full, few = mercer_expansion(Gaussian(1), ones), mercer_expansion(Gaussian(1), ones, 5)
    assert np.isclose(full.effective_dimension(lam), exact)
    assert (
        few.effective_dimension(lam)
        <= exact
        <= few.effective_dimension(lam) + few.tail() / lam + 1e-9
    )
    assert np.sum(full.eigenvalues >= lam) / 2 <= exact
    assert np.isclose(
        mercer_expansion(Gaussian(1), empirical(X)).effective_dimension(lam / 20), exact
    )


# mutants and bad input

GOOD = mercer_expansion(Gaussian(0.3), gauss_legendre(0, 1, 40))


def self_extending(psi):
    "A function that is orthonormal and continued as T ψ / λ, but no eigenfunction"
    law, lam = GOOD.measure, GOOD.eigenvalues[:1]
    psi = (psi / np.sqrt(law.weights @ psi**2))[:, None]
    image = lambda X: Gaussian(0.3)(X, law.points) @ (law.weights[:, None] * psi) / lam  # noqa: E731
    return replace(GOOD, eigenvalues=lam, functions=image, node_values=psi)


MUTANTS = {
    "twice ψ": replace(
        GOOD, functions=lambda X: 2 * GOOD.functions(X), node_values=2 * GOOD.node_values
    ),
    "n λ": replace(GOOD, eigenvalues=40 * GOOD.eigenvalues),
    "λ²": replace(GOOD, eigenvalues=GOOD.eigenvalues**2),
    "√λ": replace(GOOD, eigenvalues=GOOD.eigenvalues**0.5),
    "extension": replace(GOOD, functions=lambda X: GOOD.functions(X + 0.01)),
    "swapped": replace(GOOD, eigenvalues=GOOD.eigenvalues[[1, 0, *range(2, GOOD.n_terms)]]),
    "one sign": replace(GOOD, functions=lambda X: -GOOD.functions(X)),
    "total": replace(GOOD, total=1.1),
    "kernel": mercer_expansion(Gaussian(0.31), gauss_legendre(0, 1, 40)),
    "measure": replace(GOOD, measure=Measure(GOOD.measure.points, 2 * GOOD.measure.weights)),
    "no eigenfunction": self_extending(np.cos(9 * GOOD.measure.points)),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_the_law_refuses_mutants(name):
    X = np.linspace(0, 0.98, 20)
    check_mercer(GOOD, Gaussian(0.3), X)
    with pytest.raises(LawBroken):
        check_mercer(MUTANTS[name], Gaussian(0.3), X)


@pytest.mark.parametrize("c", [1e-200, 1e200])
def test_the_law_tells_right_from_wrong_in_any_unit(c):
    "Where squares of the eigenvalues leave the floats"
    X, k = np.linspace(0, 0.98, 20), c * Gaussian(0.3)
    expansion = mercer_expansion(k, gauss_legendre(0, 1, 40))
    assert check_mercer(expansion, k, X) < 1e-8 * c
    with pytest.raises(LawBroken, match="T ψ = λ ψ in"):
        check_mercer(expansion, c * Gaussian(0.31), X)


def test_a_series_without_a_wave_says_what_is_missing():
    with pytest.raises(ValueError, match="not made of one or more Periodic kernels"):
        periodic_spectrum(Constant(2.0), 3)
    with pytest.raises(ValueError, match="vanishes.* or take another kernel"):
        periodic_spectrum(0 * Periodic(1, 1), 3)
    wave = periodic_spectrum(Periodic(1, 1) + Constant(2.0), 1)
    assert wave.eigenvalues == pytest.approx(2 + np.mean(Periodic(1, 1)(np.arange(64) / 64, [0.0])))


def test_a_missing_pair_is_seen_by_the_error_alone():
    without = replace(
        GOOD,
        eigenvalues=GOOD.eigenvalues[1:],
        node_values=GOOD.node_values[:, 1:],
        functions=lambda X: GOOD.functions(X)[:, 1:],
    )
    assert check_mercer(without, Gaussian(0.3), [0.2, 0.5]) > 0.5
    with pytest.raises(LawBroken, match="Too few terms"):
        check_mercer(without, Gaussian(0.3), [0.2, 0.5], within=1e-3)


# near misses: three times what the law allows is refused, a third of it is not

X = np.linspace(0, 0.98, 20)
TOL, TOP = 1e-6, float(GOOD.eigenvalues[0])


def raised(by):
    "The first eigenvalue, larger by this much"
    return replace(GOOD, eigenvalues=GOOD.eigenvalues + by * np.eye(GOOD.n_terms)[0])


NEAR = {
    "∫ ψᵢ ψⱼ": lambda c: replace(GOOD, node_values=GOOD.node_values * (1 + c * TOL / 2)),
    "in L²": lambda c: raised(c * TOL * max(GOOD.total, TOP)),
    "extension": lambda c: replace(
        GOOD, functions=lambda X: GOOD.functions(X) + c * TOL / TOP * np.eye(GOOD.n_terms)[0]
    ),
    "Σ λ": lambda c: replace(GOOD, total=GOOD.total * (1 + c * TOL)),
}


@pytest.mark.parametrize("law", NEAR)
def test_a_near_miss_is_refused(law):
    check_mercer(NEAR[law](1 / 3), Gaussian(0.3), X)
    with pytest.raises(LawBroken, match=law):
        check_mercer(NEAR[law](3), Gaussian(0.3), X)
    check_mercer(NEAR[law](3), Gaussian(0.3), X, tol=1e-5)


def column(j, by):
    "`by` times column j"
    return lambda F: F * np.where(np.arange(GOOD.n_terms) == j, by, 1.0)


def turned(j):
    "Columns j and j + 1 turned by 0.05: orthonormal still"
    turn = np.eye(GOOD.n_terms)
    turn[j : j + 2, j : j + 2] = [[np.cos(0.05), -np.sin(0.05)], [np.sin(0.05), np.cos(0.05)]]
    return lambda F: F @ turn


def one_sign(j):
    "The sign of one value of column j"
    return lambda F: np.where(
        (np.arange(len(F)) == 3)[:, None] & (np.arange(GOOD.n_terms) == j), -F, F
    )


def outside(change):
    return replace(GOOD, functions=lambda X: change(GOOD.functions(X)))


def everywhere(change):
    return replace(outside(change), node_values=change(GOOD.node_values))


SMALL = {
    "λ × 1.05": lambda j: replace(GOOD, eigenvalues=column(j, 1.05)(GOOD.eigenvalues)),
    "λ without its last digits": lambda j: replace(
        GOOD, eigenvalues=column(j, 0.999)(GOOD.eigenvalues)
    ),
    "ψ × 1.05 off the nodes": lambda j: outside(column(j, 1.05)),
    "ψ × 1.05": lambda j: everywhere(column(j, 1.05)),
    "− ψ off the nodes": lambda j: outside(column(j, -1)),
    "one sign off the nodes": lambda j: outside(one_sign(j)),
    "one sign": lambda j: everywhere(one_sign(j)),
    "the next in its place off the nodes": lambda j: outside(
        lambda F: F[:, [i + (i == j) for i in range(GOOD.n_terms)]]
    ),
    "turned": lambda j: everywhere(turned(j)),
}


@pytest.mark.parametrize("j", [8, 10])  # λⱼ / λ₁ = 9e-7 and 5e-9
@pytest.mark.parametrize("fault", SMALL)
def test_a_fault_of_a_small_pair_is_refused(fault, j):
    with pytest.raises(LawBroken, match="δᵢⱼ|T ψ = λ ψ"):
        check_mercer(SMALL[fault](j), Gaussian(0.3), X)


def test_each_pair_is_measured_by_its_own_eigenvalue_also_beside_larger_errors():
    "Half of tol at pair 2 is more than twice tol at pair 9, and is allowed"
    for share, fails in ((0.5, False), (2.0, True)):
        factors = np.ones(GOOD.n_terms)
        factors[[1, 8]] += 1e-4 * np.array([0.5, share])
        near = replace(GOOD, eigenvalues=GOOD.eigenvalues * factors)
        with pytest.raises(LawBroken, match="Pair 9") if fails else np.errstate():
            check_mercer(near, Gaussian(0.3), X, tol=1e-4)


@pytest.mark.second_route("check_mercer", "impostors refused")
def test_what_the_nodes_miss_of_a_kink_is_no_fault():
    for exact in (brownian_spectrum(400), bridge_spectrum(400)):
        check_mercer(exact, exact.k, np.linspace(0, 1, 30))  # where every 29th ψ is 0
        wrong = exact.eigenvalues * (1 + 0.05 * (np.arange(400) == 200))
        with pytest.raises(LawBroken, match="Pair 201"):
            check_mercer(replace(exact, eigenvalues=wrong), exact.k, [0.3])


class Dented(Kernel):
    "A Gaussian whose one value k(2, 2) is too small by `depth`: off the nodes, seen by no integral"

    depth: float

    def _gram(self, X, Y, xp):
        return xp.exp(-((X - Y.T) ** 2) / 2 / 0.09) * (1 - self.depth * ((X == 2) & (Y.T == 2)))


def test_a_near_miss_of_positivity():
    nodes = empirical(np.linspace(1.5, 2.5, 24))  # none at 2, and all of k(2, 2) is in the span
    found = mercer_expansion(Gaussian(0.3), nodes)
    exact = float(found.kernel([2.0])[0, 0])  # 1, up to what the terms leave out
    for c, refused in ((1 / 3, False), (3, True)):
        k = Dented((1 - exact) + c * TOL)
        if refused:
            with pytest.raises(LawBroken, match="positive semidefinite"):
                check_mercer(found, k, [2.0])
        else:
            check_mercer(found, k, [2.0])


def test_a_near_miss_of_the_error():
    error = check_mercer(brownian_spectrum(9), Brownian(), [0.3, 0.8])
    check_mercer(brownian_spectrum(9), Brownian(), [0.3, 0.8], within=error * 1.001)
    with pytest.raises(LawBroken, match="Too few"):
        check_mercer(brownian_spectrum(9), Brownian(), [0.3, 0.8], within=error / 3)


class Bent(Kernel):
    "The matrix 1, 1 + excess; 1 + excess, 1 on two points: its eigenvalue −excess"

    excess: float

    def _gram(self, X, Y, xp):
        return 1 + self.excess * (X != Y.T)


@pytest.mark.parametrize("n", [2, 700])
def test_a_near_miss_of_the_operator(n):
    "A negative eigenvalue of T is refused from 8 eps^(3/4) times its trace on"
    allowed = (8 * np.finfo(float).eps ** 0.75 + n * np.finfo(float).eps) * n
    points = Measure(np.arange(n) % 2, np.ones(n))  # two points, n / 2 times each
    low = allowed / (n / 2)
    mercer_expansion(Bent(low / 3), points, 1)
    with pytest.raises(IndefiniteKernel, match="eigenvalue of T is -"):
        mercer_expansion(Bent(3 * low), points, 1)


# a sample and its law


@pytest.mark.parametrize("n", [20, 200])
def test_eigenvalues_of_a_sample(n):
    "Each step of (4a.4) and the bounds (4a.5), and mutants of the statement"
    lam, eta, off = gaussian_spectrum(1, 0, 1, 60).eigenvalues, 0.05, []
    for _ in range(100):
        x = rng.normal(size=n)
        K, sample = Gaussian(1)(x), np.zeros(max(n, 60))
        sample[:n] = np.linalg.eigvalsh(K / n)[::-1]
        truth = np.r_[lam, np.zeros(len(sample) - 60)]
        squared = np.mean(K**2) + np.sum(lam**2) - 2 * np.mean(np.exp(-(x**2) / 3)) / 3**0.5
        assert np.linalg.norm(sample - truth) <= np.sqrt(squared)
        assert np.linalg.norm(sample[::-1] - truth) > np.sqrt(squared)  # in the wrong order
        off.append(squared)
    exact = (1 - np.sum(lam**2)) / n
    assert abs(np.mean(off) - exact) < 5 * np.std(off) / 10
    assert abs(np.mean(off) - 1 / n - np.sum(lam**2) / n) > 5 * np.std(off) / 10  # a wrong sign
    bound = (1 + np.log(1 / eta) ** 0.5) / n**0.5
    assert np.mean(np.sqrt(off) > bound) <= eta and bound < 8**0.5 * (np.log(2 / eta) / n) ** 0.5


@pytest.mark.parametrize("order, constant", [(1, 2), (2, 12), (3, 2 * 3 * 5 * 4)])
def test_decay_against_smoothness(order, constant):
    "(4a.6) holds, its power is sharp, and a larger power fails"
    lam = mercer_expansion(Sobolev(order), gauss_legendre(0, 1, 250), 14).eigenvalues
    m = np.arange(1, 13 // order + 1)
    assert (lam[order * m] <= m ** (-2.0 * order) / constant).all()
    j = np.arange(4, 13)
    slope = np.polyfit(np.log(j - 0.5), np.log(lam[j - 1]), 1)[0]
    assert abs(slope + 2 * order) < 0.05


def test_positive_operators_and_positive_matrices():
    "Proposition 4a.1: the quadratic form of bumps tends to that of the Gram matrix"
    grid, points = uniform_grid(0, 1, 2000), np.array([0.1, 0.5, 0.9])
    c = np.array([1.0, -2.0, 1.5])
    for k in (Gaussian(0.5), Brownian(), Laplace(1)):
        gaps = []
        for radius in (0.04, 0.02, 0.01):
            balls = np.abs(np.subtract.outer(grid.points, points)) < radius
            f = balls / (grid.weights @ balls) @ c
            gaps.append(abs(integral_operator(k, grid).quadratic_form(f) - c @ k(points) @ c))
        assert gaps[2] < gaps[1] < gaps[0] and gaps[2] < 0.1


# points of any kind


WORDS = ["kernel", "mercer", "trace", "operator", "zoo", "trace"]


def test_the_spectrum_of_words():
    K = SharedLetters()(WORDS)
    A = GramOperator(SharedLetters(), WORDS, np.full(6, 1 / 6))
    np.testing.assert_allclose(
        leading_eigenpairs(A, 6).values, np.linalg.eigvalsh(K)[::-1] / 6, atol=1e-13
    )
    assert repr(A) == "GramOperator of SharedLetters(), 6 points" and A.trace() == np.trace(K) / 6


def test_an_expansion_on_words():
    law, k = empirical(WORDS), SharedLetters()
    found, T = mercer_expansion(k, law), integral_operator(k, law)
    np.testing.assert_allclose(
        found.eigenvalues.sum(), T.trace()
    )  # five words, one of them twice: rank 5
    assert found.n_terms == 5 and found.tail() < 1e-12 and found.effective_dimension(0.1) < 5
    rebuilt = found.node_values * found.eigenvalues @ found.node_values.T
    np.testing.assert_allclose(rebuilt, k(WORDS), atol=1e-12)  # (4.7) on the nodes
    section = k(WORDS)[:, 2]  # the values of k(trace, ·), whose norm is √k(trace, trace) = √5
    assert np.isclose(found.norm(section), 5**0.5) and found.plot().get_ylabel() == "λⱼ"


def test_objects_print_in_a_line():
    T, pairs = integral_operator(Gaussian(0.3), mu), leading_eigenpairs(np.diag([3.0, 2.0, 1.0]), 2)
    assert repr(T) == "IntegralOperator of Gaussian(bandwidth=0.3), 20 nodes"
    assert repr(pairs).startswith("Eigenpairs(2 of 3: 3 … 2, residuals")


def test_a_contract_reads_every_argument():
    refused = fuzz(gaussian_spectrum, 0) + fuzz(brownian_spectrum, 0) + fuzz(bridge_spectrum, 0)
    of_kernel = dict(k=lambda rng: Gaussian(1.0), measure=lambda rng: uniform_grid(0, 1, 5))
    refused += fuzz(mercer_expansion, 0, **of_kernel) + fuzz(integral_operator, 0, **of_kernel)
    assert refused > 200


class Liar(Kernel):
    def _gram(self, X, Y, xp):
        return xp.exp(-((X - Y.T) ** 2)) - 0.5


class Infinite(Kernel):
    def _gram(self, X, Y, xp):
        return 1 / abs(X - Y.T)


mu = gauss_legendre(0, 1, 20)
BAD = {
    "no kernel": (lambda: mercer_expansion(np.dot, mu), TypeError, "not a Kernel"),
    "no measure": (lambda: mercer_expansion(Gaussian(1), [0.0, 1.0]), TypeError, r"empirical\(X\)"),
    "operator without measure": (
        lambda: integral_operator(Gaussian(1), None),
        TypeError,
        "not a Measure",
    ),
    "indefinite": (lambda: mercer_expansion(Sigmoid(1, -1), mu), IndefiniteKernel, "cᵀKc"),
    "operator of indefinite": (
        lambda: integral_operator(Sigmoid(1, -1), mu),
        IndefiniteKernel,
        "cᵀKc",
    ),
    "a liar": (
        lambda: mercer_expansion(Liar(), gauss_legendre(-3, 3, 30)),
        IndefiniteKernel,
        "eigenvalue of T is -",
    ),
    "a liar, many nodes": (
        lambda: mercer_expansion(Liar(), gauss_legendre(-3, 3, 700), 5),
        IndefiniteKernel,
        "eigenvalue of T is -",
    ),
    "negative weights": (lambda: Measure([0.0, 1.0], [1, -1]), ValueError, "≥ 0"),
    "weights all zero": (lambda: Measure([0.0, 1.0], [0, 0]), ValueError, "not all 0"),
    "nan": (lambda: Measure([0.0, np.nan], [1, 1]), ValueError, "not finite"),
    "domain": (
        lambda: mercer_expansion(Brownian(), gauss_legendre(-1, 1, 9)),
        ValueError,
        "outside",
    ),
    "domain of Sobolev": (
        lambda: mercer_expansion(Sobolev(1), gauss_legendre(-1, 1, 9)),
        ValueError,
        "outside",
    ),
    "infinite kernel": (lambda: mercer_expansion(Infinite(), mu), ValueError, "overflow"),
    "overflow": (
        lambda: mercer_expansion(Polynomial(9), empirical([1e200, 1.0])),
        ValueError,
        "overflow",
    ),
    "zero kernel": (lambda: mercer_expansion(Constant(0), mu), ValueError, "T = 0"),
    "no terms": (lambda: mercer_expansion(Gaussian(1), mu, 0), ValueError, "n_terms = 0"),
    "half a term": (lambda: mercer_expansion(Gaussian(1), mu, 1.5), ValueError, "whole"),
    "columns": (lambda: GOOD.eigenfunctions(np.ones((3, 2))), ValueError, "columns"),
    "new points nan": (lambda: GOOD.eigenfunctions([np.nan]), ValueError, "X is not finite"),
    "values of another length": (lambda: GOOD.norm(np.ones(3)), ValueError, "one number a point"),
    "norm overflows": (
        lambda: GOOD.norm(np.full(40, 1e305) * (-1) ** np.arange(40)),
        ValueError,
        "overflows",
    ),
    "functions of another shape": (
        lambda: replace(GOOD, functions=lambda X: X).eigenfunctions([0.1]),
        ValueError,
        r"pass \(1, 15\)",
    ),
    "eigenvalues": (
        lambda: replace(GOOD, eigenvalues=-GOOD.eigenvalues),
        ValueError,
        "numbers > 0",
    ),
    "expansion": (
        lambda: check_mercer(3, Gaussian(1), [0.1]),
        TypeError,
        "pass what mercer_expansion",
    ),
    "check at nan": (
        lambda: check_mercer(GOOD, Gaussian(0.3), [np.nan]),
        ValueError,
        "X is not finite",
    ),
    "within": (
        lambda: check_mercer(GOOD, Gaussian(0.3), [0.1], within=-1),
        ValueError,
        "within = -1",
    ),
    "plot backwards": (lambda: GOOD.plot(1, 0), ValueError, "pass a < b"),
    "plot of the plane with limits": (
        lambda: mercer_expansion(Gaussian(1), empirical(np.eye(2))).plot(0, 1),
        ValueError,
        "not on a line",
    ),
    "rng": (lambda: mercer_expansion(Gaussian(1), mu, rng="a"), TypeError, "rng"),
    "weights too small": (
        lambda: mercer_expansion(Gaussian(1), Measure([0.0, 1.0], [1e-320, 1e-320])),
        ValueError,
        "rescale the weights",
    ),
    "mean": (lambda: gaussian_spectrum(1, 1e300, 1, 5), ValueError, "subtract the mean"),
    "too many terms": (lambda: brownian_spectrum(10**12), MemoryError, "fewer terms"),
    "too many values": (
        lambda: brownian_spectrum(10**5).eigenfunctions(np.zeros(10**5)),
        MemoryError,
        "fewer",
    ),
    "narrow": (lambda: periodic_spectrum(Periodic(1, 1e-6), 5), ValueError, "too slowly"),
    "narrow product": (
        lambda: periodic_spectrum(Periodic(1, 1e-6) ** 2, 5),
        ValueError,
        "too slowly",
    ),
    "zero periodic kernel": (lambda: periodic_spectrum(0 * Periodic(1), 5), ValueError, "T = 0"),
    "lam": (lambda: GOOD.effective_dimension(0), ValueError, "lam = 0"),
    "limits": (lambda: GOOD.plot(0), ValueError, "limits"),
    "outside the unit interval": (
        lambda: brownian_spectrum(3).eigenfunctions([1.5]),
        ValueError,
        r"\[0, 1\]",
    ),
    "outside the bridge": (lambda: BrownianBridge()([1.5]), ValueError, r"\[0, 1\]"),
    "bandwidth": (lambda: gaussian_spectrum(0, 0, 1, 5), ValueError, "bandwidth = 0"),
    "std": (lambda: gaussian_spectrum(1, 0, -1, 5), ValueError, "std = -1"),
    "ratio": (lambda: gaussian_spectrum(1e9, 0, 1, 5), ValueError, "bandwidth / std"),
    "n": (lambda: brownian_spectrum(0), ValueError, "n = 0"),
    "not periodic": (lambda: periodic_spectrum(Gaussian(1), 5), ValueError, "one period"),
    "two periods": (
        lambda: periodic_spectrum(Periodic(1) + Periodic(2), 5),
        ValueError,
        "one period",
    ),
    "bent": (lambda: periodic_spectrum(Periodic(1).on(np.square), 5), ValueError, "one period"),
    "tol": (lambda: check_mercer(GOOD, Gaussian(0.3), [0.1], tol=-1), ValueError, "tol = -1"),
    "too large": (
        lambda: mercer_expansion(Gaussian(1), empirical(np.zeros((40_000, 1)) + 1)),
        MemoryError,
        "GiB",
    ),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_bad_input(case):
    use, error, words = BAD[case]
    with pytest.raises(error, match=words):
        use()


def test_what_looks_odd_but_is_fine():
    assert (
        mercer_expansion(Gaussian(1), Measure([[1], [2]], [1, 1]), 99).n_terms == 2
    )  # integers, a column
    single = mercer_expansion(Gaussian(1), empirical([0.5], [3]))
    np.testing.assert_allclose(single.kernel([0.5]), [[1.0]])
    f32 = mercer_expansion(Gaussian(1), empirical(np.linspace(0, 1, 20, dtype="f")), 4)
    f64 = mercer_expansion(Gaussian(1), empirical(np.linspace(0, 1, 20)), 4)
    np.testing.assert_allclose(f32.eigenvalues, f64.eigenvalues[: f32.n_terms], atol=1e-6)
    assert np.isfinite(f32.feature_map()(np.ones(2, "f"))).all()
    assert (
        mercer_expansion(Precomputed(np.eye(3) + 1), empirical([0, 1, 2])).plot().get_ylabel()
        == "λⱼ"
    )


@pytest.mark.parametrize("nodes", ["f", "d"])
@pytest.mark.parametrize("X", ["f", "d"])
def test_values_have_the_float_type_of_the_points(nodes, X):
    sample = mercer_expansion(Gaussian(1), empirical(np.linspace(0, 1, 30, dtype=nodes)), 2)
    assert sample.eigenvalues.dtype == sample.node_values.dtype == np.dtype(nodes)
    for expansion in (
        sample,
        brownian_spectrum(3),
        gaussian_spectrum(1, 0, 1, 3),
        periodic_spectrum(Periodic(1), 3),
    ):
        x = np.linspace(0, 1, 7, dtype=X)
        low = expansion.kernel
        values = (
            expansion.eigenfunctions(x),
            expansion.feature_map()(x),
            low(x),
            low.diag(x),
            low.pairs(x, x),
        )
        assert {a.dtype for a in values} == {x.dtype}


@pytest.mark.parametrize("k", [Gaussian(1), Laplace(1), Constant(3), Polynomial(3)], ids=str)
def test_float32_obeys_the_law(k):
    X = np.random.default_rng(1).normal(size=(300, 3)).astype("f")
    for n_terms in (3, None):
        check_mercer(mercer_expansion(k, empirical(X), n_terms), k, X[:20])


def test_memory_of_values_stays_in_the_budget():
    expansion, x = brownian_spectrum(400), np.linspace(0, 1, 500)
    f = expansion.measure.points**2
    whole = expansion.eigenfunctions(x), expansion.coefficients(f)
    with settings.using(block_mib=0.1):
        np.testing.assert_array_equal(expansion.eigenfunctions(x), whole[0])
        np.testing.assert_allclose(expansion.coefficients(f), whole[1], atol=1e-14)


def test_equal_spectra_are_equal_kernels():
    assert brownian_spectrum(3).kernel == brownian_spectrum(3).kernel != brownian_spectrum(4).kernel
    assert gaussian_spectrum(1, 0, 1, 3).kernel != gaussian_spectrum(1, 0.1, 1, 3).kernel
    low = periodic_spectrum(Periodic(1), 3).kernel
    assert low == pickle.loads(pickle.dumps(low)) and hash(low) == hash(
        pickle.loads(pickle.dumps(low))
    )


def test_arrays_are_frozen():
    for values in (GOOD.eigenvalues, GOOD.node_values):
        with pytest.raises(ValueError):
            values[0] = 1


@pytest.mark.parametrize("k, rank", [(Linear(), 2), (Polynomial(2), 6)], ids=str)
def test_rounding_makes_no_eigenvalue(k, rank):
    X = np.random.default_rng(2).normal(size=(30, 2))
    assert mercer_expansion(k, empirical(X)).n_terms == rank


def test_noise_is_no_eigenvalue():
    few, exact = (
        periodic_spectrum(Periodic(1, 0.02) ** 2, 5000),
        periodic_spectrum(Periodic(1, 0.02 / 2**0.5), 5000),
    )
    assert few.n_terms < 1500
    np.testing.assert_allclose(
        few.eigenvalues, exact.eigenvalues[: few.n_terms], atol=1e-11 * exact.eigenvalues[0]
    )
    narrow = periodic_spectrum(Periodic(1, 1e-3) ** 2, 5).eigenvalues
    np.testing.assert_allclose(
        narrow, periodic_spectrum(Periodic(1, 1e-3 / 2**0.5), 5).eigenvalues, rtol=1e-9
    )


def test_plots():
    assert len(GOOD.plot(terms=3).lines) >= 3
    assert len(brownian_spectrum(2).kernel.plot().lines) > 0
    plane = mercer_expansion(Gaussian(1), empirical(rng.normal(size=(20, 2))), 5)
    assert "λ" in plane.plot().get_ylabel()
    sample = mercer_expansion(Gaussian(1), empirical([0.5, 0.1, 0.9, 0.3]), 2)
    line = sample.plot(ax=plt.figure().gca()).lines[0]
    np.testing.assert_array_equal(line.get_xdata()[[0, -1]], [0.1, 0.9])


@pytest.mark.second_route("MercerExpansion", "Series", "brownian_spectrum", "quadrature")
def test_projections_on_closed_forms_in_any_blocks():
    "Of functions on 900 nodes, whose eigenfunctions are computed block by block"
    e = brownian_spectrum(20)
    assert e.node_values is None
    whole = e.coefficients(np.sin)
    omega = (np.arange(20) + 0.5) * np.pi
    exact = [quad(lambda u, w=w: np.sin(u) * 2**0.5 * np.sin(w * u), 0, 1)[0] for w in omega]
    np.testing.assert_allclose(whole, exact, atol=1e-8)
    with settings.using(block_mib=1e-3):
        np.testing.assert_allclose(e.coefficients(np.sin), whole, atol=1e-12)


def test_a_narrow_period_keeps_the_terms_that_were_asked_for():
    "Its coefficients are those of Periodic, by Bessel functions; squares take the FFT"
    for n, bandwidth in ((401, 0.1), (127, 0.1), (127, 0.05)):
        found = periodic_spectrum(Periodic(1, bandwidth) ** 2, n)
        exact = periodic_spectrum(Periodic(1, bandwidth / 2**0.5), n).eigenvalues
        some = np.sum(exact > 5e-14 * exact[0])
        assert found.n_terms >= some > 50
        np.testing.assert_allclose(found.eigenvalues[:some], exact[:some], atol=1e-14 * exact[0])


def test_closed_forms_far_away():
    e = periodic_spectrum(Periodic(1.0, 0.5), 11)
    near, turns = np.array([0.25, 77 / 256]), 2.0**44  # exact sums
    np.testing.assert_array_equal(e.eigenfunctions(near + turns), e.eigenfunctions(near))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not gaussian_spectrum(0.5, 0.0, 0.5, 5).eigenfunctions([1e308, -1e308]).any()
    for exact in (brownian_spectrum(3), bridge_spectrum(3)):
        with pytest.raises(ValueError, match="lives on|outside|below"):
            exact.functions(np.array([[-0.1]]))


@pytest.mark.parametrize("bandwidth, std", [(1.0, 1e5), (1e5, 1.0)])
def test_a_mean_too_far_for_floats(bandwidth, std):
    with pytest.raises(ValueError, match="too coarse"):
        gaussian_spectrum(bandwidth, 1e14, std, 3)
    assert gaussian_spectrum(bandwidth, 1e11, std, 3).n_terms == 3


def test_exercises():
    assert check_exercises("04") > 15


@pytest.mark.parametrize("bandwidth, mean, std", [(0.5, 0.0, 1.0), (3.0, -2.0, 0.7)])
def test_the_law_of_a_gaussian_spectrum_is_normal(bandwidth, mean, std):
    "Its nodes and weights have the moments of N(mean, std²), up to the fourth"
    law = gaussian_spectrum(bandwidth, mean, std, 8).measure
    z, w = (law.points.ravel() - mean) / std, law.weights
    np.testing.assert_allclose([w @ z**p for p in range(5)], [1, 0, 1, 0, 3], atol=1e-9)


@pytest.mark.parametrize("ratio", [0.05, 1.0, 20.0, 100.0, 1e3])
@pytest.mark.parametrize("n", [1, 3, 20])
def test_a_normal_law_is_whole_under_any_bandwidth(n, ratio):
    "Its panels follow the law as well as the kernel"
    e = gaussian_spectrum(ratio * 0.3, 2.0, 0.3, n)
    for power, moment in ((0, 1.0), (1, 0.0), (2, 1.0), (4, 3.0)):
        found = e.measure.weights @ ((e.measure.points.ravel() - 2.0) / 0.3) ** power
        assert found == pytest.approx(moment, abs=1e-9)
