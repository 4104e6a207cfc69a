"""Hilbert spaces: each argument refused by name, near misses of every law, vectors and points of any kind."""

import pickle
from functools import partial

import numpy as np
import pytest
from numpy.polynomial import Polynomial

from rkhs_notes.base.contracts import fuzz
from rkhs_notes.base.errors import LawBroken
from rkhs_notes.engines.functions.measures import (
    Measure,
    empirical,
    gauss_hermite,
    gauss_legendre,
    lp_norm,
    uniform_grid,
)
from rkhs_notes.engines.functions.vectors import (
    check_inner_product,
    check_norm,
    combine,
    gram_schmidt,
    parallelogram_defect,
    project,
    riesz_representer,
)

EPS = np.finfo(float).eps
INTERVAL = dict(a=lambda rng: float(rng.uniform(-5, 0)), b=lambda rng: float(rng.uniform(1, 5)))


DRAWS = {
    combine: dict(coefficients=lambda rng: [1.0, 2.0], vectors=lambda rng: rng.normal(size=(2, 3))),
    gauss_legendre: INTERVAL,
    uniform_grid: INTERVAL,
    gauss_hermite: {},
    empirical: {},
    lp_norm: {},
    check_inner_product: {},
    check_norm: {},
    parallelogram_defect: {},
    gram_schmidt: {},
    project: {},
    riesz_representer: {},
}


@pytest.mark.parametrize("f, draws", DRAWS.items(), ids=lambda f: getattr(f, "__name__", ""))
def test_every_bad_argument_is_refused_by_name(f, draws):
    assert fuzz(f, 0, **draws) > 3 * len(f.plan.words)


VECTORS = np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.5, -1.0, 2.0]])
UNITS = VECTORS / np.linalg.norm(VECTORS, axis=1)[:, None]
SLACK = 100 * len(VECTORS) * EPS  # what check_inner_product allows a cosine


def skewed(size):
    "⟨u, v⟩ − ⟨v, u⟩ is at most `size`, for the unit vectors"
    J = np.array([[0, 1, 1], [-1, 0, 1], [-1, -1, 0]])
    most = 2 * np.abs(UNITS @ J @ UNITS.T).max()
    return lambda u, v: u @ v + u @ J @ v * size / most


def test_symmetry_is_kept_to_rounding():
    check_inner_product(skewed(SLACK / 3), VECTORS)
    with pytest.raises(LawBroken, match="= ⟨g, f⟩"):
        check_inner_product(skewed(3 * SLACK), VECTORS)


def test_positivity_is_kept_to_rounding():
    vectors = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 1.0]])

    def product(size):  # the smallest eigenvalue of the cosines is −size/4
        return lambda u, v: u @ np.diag([1.0, 1.0, -size]) @ v

    cosines = product(1e-6)(vectors, vectors.T) / np.outer([1, 1, 2**0.5], [1, 1, 2**0.5])
    np.testing.assert_allclose(np.linalg.eigvalsh(cosines)[0], -1e-6 / 4, rtol=1e-5)
    with pytest.raises(LawBroken, match="only for f = 0"):  # so little counts as no length at all
        check_inner_product(product(4 * SLACK / 3), vectors)
    with pytest.raises(LawBroken, match="≥ 0"):
        check_inner_product(product(4 * SLACK * 3), vectors)


def test_linearity_is_kept_to_rounding():
    rng = np.random.default_rng(0)
    C = rng.normal(size=(10, 3)) / np.linalg.norm(VECTORS, axis=1)
    most = max(np.linalg.norm(c @ VECTORS) for c in C)

    def bent(size):
        return lambda u, v: (
            u @ v
            + (
                0
                if any(np.array_equal(u, w) for w in VECTORS)
                else size * np.linalg.norm(u) * np.linalg.norm(v) / most
            )
        )

    check_inner_product(bent(10 * SLACK / 3), VECTORS, rng=0)
    with pytest.raises(LawBroken, match="linear"):
        check_inner_product(bent(30 * SLACK), VECTORS, rng=0)


def test_a_direction_that_is_hardly_seen_is_seen():
    def product(size):
        return lambda u, v: u[0] * v[0] + size * u[1] * v[1]

    vectors = np.array([[1.0, 1.0], [1.0, 2.0]])
    check_inner_product(product(1e-10), vectors)
    for size in (0.0, 1e-16):
        with pytest.raises(LawBroken, match="only for f = 0"):
            check_inner_product(product(size), vectors)


def test_two_vectors_are_one_to_the_root_of_rounding():
    blind, edge = (lambda u, v: u[0] * v[0]), 2 * 2 * np.sqrt(100 * 2 * EPS)
    for share in (1 / 3, 3):  # c = (1, −1)/√2 has length 0: is Σ cᵢ vᵢ zero?
        vectors = np.array([[1.0, 1.0], [1.0, 1.0 + share * edge]])
        if share < 1:
            check_inner_product(blind, vectors)
        else:
            with pytest.raises(LawBroken, match="only for f = 0"):
                check_inner_product(blind, vectors)


def test_norms_are_kept_to_rounding():
    slack = 100 * EPS

    def curved(size):  # homogeneous of degree 1 + size/log 2 along a ray
        return lambda v: np.linalg.norm(v) ** (1 + size / np.log(2))

    def dented(size):  # the sum of two coordinate vectors is too long
        return lambda v: np.abs(v).sum() + size * np.minimum(*np.abs(v))

    unit = [np.array([0.6, 0.8])]
    check_norm(curved(slack / 3), unit)
    with pytest.raises(LawBroken, match=r"‖c f‖"):
        check_norm(curved(3 * slack), unit)
    axes = list(np.eye(2))
    check_norm(dented(2 * slack / 3), axes)
    with pytest.raises(LawBroken, match=r"‖f \+ g‖"):
        check_norm(dented(6 * slack), axes)
    assert check_norm(np.linalg.norm, axes) == 1  # ‖f + f‖ / (‖f‖ + ‖f‖)


def test_a_norm_is_the_same_forwards_and_backwards():
    with pytest.raises(LawBroken, match=r"‖c f‖"):  # sublinear, but ‖−f‖ ≠ ‖f‖
        check_norm(lambda v: np.abs(v).sum() + max(0.0, v.sum()) / 10, list(np.eye(2)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_representers_are_linear_to_half_the_digits(dtype):
    basis, half = np.eye(3, dtype=dtype), np.sqrt(np.finfo(dtype).eps)

    def L(bend):  # but for a share of ‖v‖; its norm is about 1
        return lambda v: float(v[0]) + bend * np.linalg.norm(v) * (np.count_nonzero(v) > 1)

    riesz_representer(L(half / 3), basis)
    with pytest.raises(LawBroken, match="linear"):
        riesz_representer(L(3 * half), basis)


@pytest.mark.second_route("riesz_representer", "the vector it was made of")
def test_float32_is_honoured_and_its_rounding_allowed():
    X = np.random.default_rng(0).normal(size=(4, 7)).astype(np.float32)
    q, v = gram_schmidt(X), X[0]
    assert q.dtype == project(v, X).dtype == combine([1, 2], X[:2]).dtype == np.float32
    np.testing.assert_allclose(riesz_representer(lambda u: u @ v, X), v, atol=1e-5)
    check_inner_product(np.dot, X)
    shaken = X[0].astype(float) * (1 + 1e-6 * np.arange(7))  # equal, as far as float32 can say
    with pytest.raises(ValueError, match="vector 1 is a combination"):
        gram_schmidt([X[0], shaken])


def test_dependence_is_told_at_the_tolerance():
    slack = 100 * 2 * EPS
    for share, dependent in ((1 / 3, True), (3, False)):
        pair = np.array([[1.0, 0.0], [1.0, share * slack]])
        if dependent:
            with pytest.raises(ValueError, match="vector 1 is a combination"):
                gram_schmidt(pair)
        assert len(gram_schmidt(pair, drop=True)) == 2 - dependent


@pytest.mark.second_route("project", "least squares")
def test_functions_are_projected_right_or_not_at_all():
    unit, value_at_1 = gauss_legendre(0, 1, 40), lambda f: f(1.0)
    x, w = unit.points.ravel(), np.sqrt(unit.weights)
    wave, right = partial(np.interp, xp=[0, 0.3, 1], fp=[0, 1, -1]), []
    for m in range(1, 18):
        powers = [lambda x, j=j: x**j for j in range(m)]
        weighted = np.stack([w * f(x) for f in powers])
        nearest = weighted.T @ np.linalg.lstsq(weighted.T, w * wave(x), rcond=None)[0]
        try:
            found = w * project(wave, powers, unit.inner)(x)
            right.append(m)
        except ValueError as refused:
            assert "is nearly a combination" in str(refused)
            with pytest.raises(ValueError, match="is nearly a combination"):
                gram_schmidt(powers, unit.inner)
            with pytest.raises(ValueError, match="is nearly a combination"):
                riesz_representer(value_at_1, powers, unit.inner)
            found = project(w * wave(x), weighted)  # as it advises
        np.testing.assert_allclose(found, nearest, atol=1e-6)
    assert max(right) in (12, 13, 14)  # about half the digits


def test_functions_in_single_precision_are_projected():
    unit, x = gauss_legendre(0, 1, 20), np.linspace(0, 1, 5)
    powers = [lambda x, j=j: x**j for j in range(4)]
    single = [lambda x, j=j: np.asarray(x, np.float32) ** j for j in range(4)]
    found, right = (project(np.exp, basis, unit.inner)(x) for basis in (single, powers))
    np.testing.assert_allclose(found, right, rtol=1e-4)


def test_short_vectors_are_vectors():
    for dtype, short in (
        (float, 1e-160),
        (float, 1e-170),
        (np.float32, 1e-22),
        (np.float32, 1e-30),
    ):
        line = np.array([[1.0, 0.1]], dtype)
        found = project(np.array([1.0, 2.0], dtype), line * dtype(short))
        np.testing.assert_allclose(found, line[0] * 1.2 / 1.01, rtol=8 * np.finfo(dtype).eps)
        np.testing.assert_allclose(gram_schmidt(np.eye(2, dtype=dtype) * dtype(short)), np.eye(2))
        with pytest.raises(LawBroken, match="Vector 0 .* underflow"):
            check_inner_product(np.dot, np.array([[short, short / 10], [0, 1]], dtype))


def test_what_the_checks_return_and_name():
    assert check_inner_product(np.dot, [[10.0, 0.0], [0.0, 1.0]]) == 1  # of cosines
    with pytest.raises(LawBroken, match=r"Vector \[0. 1.\] has ‖f‖ = 0"):  # none of those passed
        check_norm(lambda v: abs(v[0]), [[1.0, 0.0], [2.0, 3.0]])
    with pytest.raises(LawBroken, match="Vector 1 has ‖f‖ = 0"):
        check_norm(lambda v: abs(v[0]), [[1.0, 0.0], [0.0, 3.0]])


def test_the_defect_of_one_norm_alone_is_zero():
    f, g = np.array([1.0, 2.0]), np.array([-3.0, 0.5])  # not orthogonal
    assert abs(parallelogram_defect(np.linalg.norm, f, g)) < 4 * EPS
    assert abs(parallelogram_defect(partial(lp_norm, p=2 + 1e-9), f, g)) > 1e-12
    with pytest.raises(ValueError, match="not both zero"):
        parallelogram_defect(np.linalg.norm, 0 * f, 0 * g)


@pytest.mark.parametrize(
    "call",
    [
        lambda bad: combine([1.0, 1.0], [[1.0, 2.0], bad]),
        lambda bad: project(bad, np.eye(2)),
        lambda bad: project([1.0, 2.0], [bad]),
        lambda bad: parallelogram_defect(np.linalg.norm, bad, [1.0, 0.0]),
        lambda bad: gram_schmidt([bad]),
        lambda bad: check_norm(np.linalg.norm, [bad]),
    ],
)
def test_nan_does_not_pass(call):
    for bad in (np.array([np.nan, 1.0]), [np.inf, 0.0]):
        with pytest.raises(ValueError, match="not finite"):
            call(bad)


def test_vectors_of_different_spaces_and_sizes():
    with pytest.raises(ValueError, match="different spaces"):
        combine([1, 1], [np.sin, [1.0, 2.0]])
    with pytest.raises(ValueError, match="3 coefficients for 2"):
        combine([1, 1, 1], np.eye(2))
    with pytest.raises(ValueError, match="with a unit vector q of the span overflows"):
        project([1.7e308] * 3, [[1.0, 1.0, 1.0]])
    for b in (0, 1):
        with pytest.raises(ValueError, match="no interval"):
            gauss_legendre(1, b, 3)
    with pytest.raises(ValueError, match="one number a point"):
        empirical(np.eye(2)).norm(lambda X: X)


@pytest.mark.second_route("combine", "coefficients, added up")
def test_a_combination_is_flat_and_by_identity():
    f = combine([1, 2], [np.sin, np.cos])
    g = combine([3, -1], [f, np.sin])
    assert {h: c for c, h in g.terms} == {np.sin: 2, np.cos: 6} and "2 functions" in repr(g)
    mixed = combine([2, 3], [np.sin, Polynomial([0, 1])])  # a polynomial has no hash
    assert mixed(1.0) == 2 * np.sin(1.0) + 3
    again = pickle.loads(pickle.dumps(g))
    assert combine([1, 1], [again, np.exp])(0.5) == g(0.5) + np.exp(0.5)
    assert combine([2.0], [Polynomial([1, 1])]) == Polynomial([2, 2])


def test_one_number_is_a_vector_of_the_line():
    assert project(3.0, [2.0]) == 3 and gram_schmidt([2.0, 4.0], drop=True) == [1.0]


class Tree:
    def __init__(self, *children):
        self.children = children


@pytest.mark.parametrize(
    "points",
    [
        ["a", "few", "words"],
        [Tree(), Tree(Tree()), Tree()],
        [("S", ("NP", "dog")), ("S",), ("VP",)],
        [np.ones((2, 3)), np.ones((4, 3)), np.ones((1, 3))],
        np.array(["a", "b", "c"]),
    ],
    ids=["texts", "trees", "tuples", "bags", "array"],
)
def test_points_may_be_any_objects(points):
    mu = empirical(points, weights=[1, 2, 1])
    assert len(mu) == 3 and mu.mass == 1 and repr(mu) == "Measure(3 points, mass 1)"
    assert mu.integrate(lambda P: [float(P[i] is mu.points[i]) for i in range(3)]) == 1
    assert mu.norm(lambda P: [0.0, 1.0, 0.0]) == 0.5**0.5 and mu.inner([1, 1, 1], [1, 2, 3]) == 2
    assert mu.points[np.array([1, 2])].shape == (2,) and not mu.points.flags.writeable


def test_what_has_no_weight_does_not_count():
    mu = Measure([0.0, 1.0, 2.0], [0.0, 1.0, 3.0])
    assert [mu.norm([9.0, 1.0, 0.0], p) for p in (0, 1, np.inf)] == [1, 1, 1]
    assert [mu.norm([9.0, 1.0, 5.0], p) for p in (0, 1, np.inf)] == [4, 16, 5]


def test_a_measure_is_a_value():
    X = np.array([0.0, 1.0])
    mu = Measure(X, [1, 3])
    X[0] = 9
    assert mu.points[0] == 0 and mu.points.shape == (2,) and mu.mass == 4
    with pytest.raises(AttributeError, match="never changes"):
        mu.weights = [1, 1]
    again = pickle.loads(pickle.dumps(mu))
    assert again.integrate(lambda x: x) == 3 and not again.points.flags.writeable
    with pytest.raises(ValueError, match="points has 2"):
        Measure([0.0, 1.0], [1.0])
    with pytest.raises(ValueError, match="p = -1"):
        mu.norm([1, 1], p=-1)


@pytest.mark.parametrize(
    "bad",
    [["a", None], ["a", np.nan], [[1, 2], [3]], [(1.0, np.nan), (1.0, 2.0)], 3.0, [1, "a"], {}, []],
    ids=str,
)
def test_what_is_a_mistake_among_points(bad):
    with pytest.raises((TypeError, ValueError), match="^points"):
        Measure(bad, [1.0, 1.0])
