"""Every kernel against every law, on points drawn by hypothesis; and every law against its mutants."""

import copy
import pickle
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.kernel_ridge import KernelRidge

import rkhs_notes as rn
from rkhs_notes import settings
from rkhs_notes.apps.exercises import _CHAPTERS, check_exercises
from rkhs_notes.base.distances import sqdist
from rkhs_notes.base.errors import IndefiniteKernel, LawBroken, NotPositiveDefinite
from rkhs_notes.base.factors import smallest_eigenvalue, solve_psd
from rkhs_notes.deeper.risks import check_representer
from rkhs_notes.engines.functions.measures import gauss_hermite, gauss_legendre, lp_norm
from rkhs_notes.engines.functions.vectors import (
    check_inner_product,
    check_norm,
    gram_schmidt,
    project,
    riesz_representer,
)
from rkhs_notes.engines.kernels.forms import overwritten
from rkhs_notes.engines.solving.ridge_fits import ridge, ridge_path
from rkhs_notes.kernels import (
    Brownian,
    Constant,
    Gaussian,
    Kernel,
    Linear,
    Polynomial,
    check_kernel,
)
from rkhs_notes.rkhs import RKHS, RKHSFunction, check_reproducing

scales = st.sampled_from([1e-6, 1e-3, 1.0, 1e3, 1e6])
widths = st.floats(0.01, 100)
leaves = st.one_of(
    st.builds(Gaussian, widths),
    st.just(Linear()),
    st.builds(Polynomial, st.integers(1, 4), st.floats(0, 3), st.floats(0.1, 3)),
    st.builds(Constant, st.floats(0, 5)),
)
kernels = st.recursive(
    leaves,
    lambda part: st.one_of(
        part.flatmap(lambda a: part.map(lambda b: a + b)),
        part.flatmap(lambda a: part.map(lambda b: a * b)),
        st.tuples(st.just(0.0) | st.floats(1e-9, 9), part).map(lambda pair: pair[0] * pair[1]),
    ),
    max_leaves=4,
)


@st.composite
def points(draw, max_n=12):
    "1 to 12 points in up to three dimensions, at a scale from 1e-6 to 1e6, with repeated rows"
    n, d = draw(st.integers(1, max_n)), draw(st.integers(1, 3))
    X = draw(arrays(float, (n, d), elements=st.floats(-3, 3).map(lambda x: round(x, 3)))) * draw(
        scales
    )
    return (
        X[draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n))]
        if draw(st.booleans())
        else X
    )


# kernels


@given(kernels, points())
def test_every_kernel_obeys_every_law(k, X):
    check_kernel(k, X)


@given(st.floats(-5, 5), arrays(float, st.integers(1, 12), elements=st.floats(0, 100)), scales)
def test_brownian_obeys_every_law(start, x, scale):
    check_kernel(Brownian(start), start + scale * x)


@given(kernels)
def test_an_expression_pastes_back(k):
    assert eval(repr(k)) == k and hash(eval(repr(k))) == hash(k)
    assert k.with_params(**k.get_params()) == k


@given(kernels, points())
def test_blocks_change_nothing(k, X):
    whole = k(X), k(X, X[::-1])
    with settings.using(block_mib=1e-6):
        parts = k(X), k(X, X[::-1])
    for a, b in zip(whole, parts, strict=False):
        np.testing.assert_allclose(
            a, b, rtol=1e-10, atol=1e-10 * np.abs(a).max() + np.finfo(float).tiny
        )
    assert (parts[0] == parts[0].T).all()


@given(kernels, points())
def test_gradients_are_those_of_central_differences(k, X):
    X = X / max(1.0, np.abs(X).max())
    G = np.cos(np.arange(len(X) ** 2)).reshape(len(X), -1)
    for name, slope in k._vjp(X, X, G).items():
        value, step = k.get_params()[name], 1e-4
        if value < 0.05:
            continue  # too close to the end of its range for a difference on both sides
        step *= value
        up, down = (np.sum(G * k.with_params(**{name: value + s})(X)) for s in (step, -step))
        size = np.sum(np.abs(k(X))) / value + abs(slope)
        assert abs((up - down) / (2 * step) - slope) <= 1e-5 * size + np.finfo(float).tiny


def test_float32_is_honoured():
    X = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
    for k in (Gaussian(1), Linear(), Polynomial(2), 2 * Gaussian(1) + Linear() * Constant(3)):
        assert k(X).dtype == k.diag(X).dtype == np.float32
        np.testing.assert_allclose(k(X), k(X.astype(float)), rtol=1e-4, atol=1e-4)


def test_an_offset_of_1e8_leaves_the_gram_matrix_alone():
    X = np.random.default_rng(0).integers(-3, 4, size=(60, 5)) / 4  # exact, also with the offset
    np.testing.assert_allclose(Gaussian(1)(X + 1e8), Gaussian(1)(X), atol=1e-12)


class Sign(Gaussian):
    def _gram(self, X, Y, xp):
        return -super()._gram(X, Y, xp)

    def _pairs(self, X, Y, xp):
        return -super()._pairs(X, Y, xp)

    def _diag(self, X, xp):
        return -super()._diag(X, xp)


class MissingTwo(Gaussian):
    "the values of pairs lack the factor 2 of 2 σ²"

    def _pairs(self, X, Y, xp):
        return super()._pairs(X, Y, xp) ** 2


class Lopsided(Linear):
    def _gram(self, X, Y, xp):
        return X @ Y.T + X.sum(axis=1)[:, None]


class Tanh(Kernel):
    def __repr__(self):
        return "tanh"

    def _gram(self, X, Y, xp):
        return np.tanh(X @ Y.T)


class Difference(Kernel):
    def __repr__(self):
        return "difference"

    def _gram(self, X, Y, xp):
        return Gaussian(2)._gram(X, Y, xp) - Gaussian(1)._gram(X, Y, xp) * 0.9


@pytest.mark.parametrize(
    "k, words",
    [
        (Sign(1), "negative eigenvalue"),
        (MissingTwo(1), "pairs"),
        (Lopsided(), "symmetric"),
        (Tanh(), "negative eigenvalue"),
        (Difference(), "negative eigenvalue"),
    ],
)
def test_check_kernel_refuses(k, words):
    with pytest.raises(LawBroken, match=words):
        check_kernel(k, np.random.default_rng(0).normal(size=(30, 3)))


class Plain(Kernel):
    "a user's kernel, without dataclass"

    def _gram(self, X, Y, xp):
        return xp.exp(-abs(X - Y.T))


@dataclass(frozen=True, repr=False, eq=False)
class Weighted(Kernel):
    "a user's kernel with an array for a parameter"

    w: np.ndarray

    def _gram(self, X, Y, xp):
        return (X * self.w) @ Y.T


def test_kernels_of_users_are_values():
    X = np.arange(6.0).reshape(3, 2)
    check_kernel(Plain() + Gaussian(1), X[:, :1])
    a, b, c = (
        Weighted(np.array([1.0, 2.0])),
        Weighted(np.array([1.0, 2.0])),
        Weighted(np.array([1.0, 3.0])),
    )
    assert a == b and hash(a) == hash(b) and a != c and {a: 1}[b] == 1 and Plain() == Plain()
    check_kernel(a, X)
    f = ridge(a, X, X[:, 0], 0.1)
    assert np.isclose((f - ridge(b, X, X[:, 0], 0.1)).norm(), 0)
    for k in (2 * Gaussian(0.5) + Linear(), a, Plain()):
        assert pickle.loads(pickle.dumps(k)) == copy.deepcopy(k) == k
    assert sum([Linear(), Gaussian(1)]) == Linear() + Gaussian(1)
    with pytest.raises(NotImplementedError, match="_vjp"):
        (a + Gaussian(1))._vjp(X, X, np.ones((3, 3)))


def test_extreme_bandwidths_give_numbers():
    for width in (1e-170, 1e-25, 1e25, 1e200):
        for dtype in (float, np.float32):
            K = Gaussian(width)(np.array([0.0, 1.0], dtype=dtype))
            np.testing.assert_allclose(K, np.ones((2, 2)) if width > 1 else np.eye(2))


@given(kernels, points())
def test_distance_is_that_of_the_features(k, X):
    K = k(X)
    squared = K.diagonal()[:, None] + K.diagonal() - 2 * K
    np.testing.assert_allclose(
        k.distance(X) ** 2, squared, atol=1e-9 * max(np.abs(K).max(), 1e-300)
    )


# functions of an RKHS


def test_values_are_the_same_in_tiles():
    rng = np.random.default_rng(0)
    f = RKHSFunction(Gaussian(1), rng.normal(size=(70, 3)), rng.normal(size=(70, 2)))
    X = rng.normal(size=(90, 3))
    with settings.using(block_mib=1e-3):
        in_tiles = f(X)
    np.testing.assert_allclose(in_tiles, f(X), atol=1e-12)
    np.testing.assert_allclose(in_tiles, f.k(X, f.Z) @ f.alpha, atol=1e-12)


def test_a_function_is_a_value():
    rng = np.random.default_rng(0)
    X, y, T = rng.normal(size=(5, 2)), rng.normal(size=5), rng.normal(size=(3, 2))
    f, path = ridge(Gaussian(1), X, y, 0.1), ridge_path(Gaussian(1), X, y)
    before, later = f(T), path.function(0.1)(T)
    X *= 10
    y[:] = 0
    np.testing.assert_array_equal(f(T), before)
    np.testing.assert_array_equal(path.function(0.1)(T), later)
    with pytest.raises(ValueError, match="read-only"):
        f.alpha[0] = 9


def test_what_draws_itself_does():
    import matplotlib

    matplotlib.use("Agg")
    X = np.random.default_rng(0).normal(size=(6, 2))
    path = ridge_path(Gaussian(1), X, X[:, 0])
    assert path.plot().get_xlabel() == "lam"
    matplotlib.pyplot.figure()
    assert path.function().plot(-1, 1, -1, 1).collections
    matplotlib.pyplot.close("all")


@given(kernels, points(), st.integers(0, 99))
def test_every_function_reproduces(k, X, seed):
    rng = np.random.default_rng(seed)
    f = RKHSFunction(k, X, rng.normal(size=len(X)))
    check_reproducing(f, X)
    g = RKHSFunction(k, X[::-1] / 2, rng.normal(size=len(X)))
    slack = 1e-7 * (f.norm() + g.norm() + 1e-150) ** 2
    assert abs(f @ g) <= f.norm() * g.norm() + slack
    assert (
        abs((f + g).norm() ** 2 + (f - g).norm() ** 2 - 2 * f.norm() ** 2 - 2 * g.norm() ** 2)
        <= 4 * slack
    )
    np.testing.assert_allclose(
        (2 * f - g / 4)(X),
        2 * f(X) - g(X) / 4,
        rtol=1e-8,
        atol=1e-8 * np.abs(f(X)).max() + 1e-8 * np.abs(g(X)).max(),
    )


def test_several_functions_at_once():
    rng = np.random.default_rng(0)
    X, alpha = rng.normal(size=(6, 2)), rng.normal(size=(6, 3))
    f = RKHSFunction(Gaussian(1), X, alpha)
    single = [RKHSFunction(Gaussian(1), X, column) for column in alpha.T]
    np.testing.assert_allclose(f @ f, [[a @ b for b in single] for a in single])
    np.testing.assert_allclose(f.norm(), [a.norm() for a in single])
    np.testing.assert_allclose(f @ single[0], [a @ single[0] for a in single])
    np.testing.assert_allclose(single[0] @ f, [single[0] @ a for a in single])
    with pytest.raises(ValueError, match="as many functions as f holds"):
        f + single[0]


class Doubled(RKHSFunction):
    def __call__(self, X):
        return 2 * super().__call__(X)


class NoKernelInBetween(RKHSFunction):
    def norm(self):
        return float(np.linalg.norm(self.alpha)) / 100


class NotAKernel(Kernel):
    def __repr__(self):
        return "exp(−r²/2) − 0.9"

    def _gram(self, X, Y, xp):
        return Gaussian(1)._gram(X, Y, xp) - 0.9


def test_check_reproducing_refuses_values_beyond_the_norm():
    with pytest.raises(LawBroken, match="√k"):
        check_reproducing(
            RKHSFunction(NotAKernel(), [0.0, 2.0], [1.0, -1.0]), [[-3.0], [0.0], [3.0]]
        )


@pytest.mark.second_route("check_reproducing", "impostors refused")
@pytest.mark.parametrize("impostor, words", [(Doubled, "k_x"), (NoKernelInBetween, "⟨f, f⟩")])
def test_check_reproducing_refuses(impostor, words):
    with pytest.raises(LawBroken, match=words):
        check_reproducing(impostor(Gaussian(1), [[0.0], [1.0]], [1.0, 2.0]), [[0.0], [0.5]])


def test_a_function_of_no_kernel_has_no_norm():
    with pytest.raises(IndefiniteKernel, match="not positive"):
        RKHSFunction(Sign(1), [[0.0]], [1.0]).norm()


def test_interpolation_is_the_least_norm():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(8, 2)), rng.normal(size=8)
    f = RKHS(Gaussian(0.5)).interpolate(X, y)
    np.testing.assert_allclose(f(X), y, atol=1e-9)
    other = RKHS(Gaussian(0.5)).interpolate(np.r_[X, [[9, 9]]], np.r_[y, 1.0])
    assert f.norm() < other.norm()


# ridge


@pytest.mark.second_route("ridge", "scikit-learn")
@given(st.integers(0, 999), st.floats(1e-3, 1e3), widths)
def test_ridge_is_the_minimiser_and_agrees_with_scikit_learn(seed, lam, width):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(15, 2)), rng.normal(size=15)
    f = ridge(Gaussian(width), X, y, lam)
    check_representer(f, X, y, lam)
    peer = KernelRidge(alpha=lam, kernel="rbf", gamma=1 / (2 * width**2)).fit(X, y)
    T = rng.normal(size=(9, 2))
    np.testing.assert_allclose(f(T), peer.predict(T), atol=1e-10 * max(1, np.abs(f.alpha).sum()))


@given(st.integers(0, 999), st.integers(1, 3))
def test_leave_one_out_is_refitting(seed, targets):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(9, 2)), rng.normal(size=(9, targets))
    path = ridge_path(Gaussian(1) + Linear(), X, y, lams=[0.01, 1.0])
    for lam, loo in zip(path.lams, path.loo, strict=False):
        left_out = [
            y[i] - ridge(path.k, np.delete(X, i, 0), np.delete(y, i, 0), lam)(X[i : i + 1])[0]
            for i in range(9)
        ]
        np.testing.assert_allclose(loo, np.mean(np.square(left_out)), rtol=1e-8)
        hat = path.k(X) @ np.linalg.inv(path.k(X) + lam * np.eye(9))
        gcv = np.mean((y - hat @ y) ** 2) / (1 - np.trace(hat) / 9) ** 2
        np.testing.assert_allclose(path.gcv[list(path.lams).index(lam)], gcv, rtol=1e-8)
        np.testing.assert_allclose(path.function(lam)(X), hat @ y, atol=1e-9)


def test_repeated_rows_do_not_break_the_law():
    X, y = np.array([[0.0], [0.0], [1.0]]), np.array([1.0, 2.0, 0.0])
    check_representer(ridge(Gaussian(1), X, y, 0.1), X, y, 0.1)
    merged = ridge(Gaussian(1), X, y, 0.1)
    total = RKHSFunction(merged.k, X[1:], [merged.alpha[:2].sum(), merged.alpha[2]])
    np.testing.assert_allclose(total(X), merged(X))


@pytest.mark.parametrize(
    "wrong, words",
    [
        (lambda k, X, y: ridge(k, X, y, 0.5 * len(X)), "lam"),
        (lambda k, X, y: ridge(k, X, y, 0.5 / len(X)), "lam"),
        (lambda k, X, y: -1.0 * ridge(k, X, y, 0.5), "lam"),
        (lambda k, X, y: RKHS(k).interpolate(X, y), "lam"),
        (lambda k, X, y: ridge(k, X, y, 0.5) + 1e-6 * RKHS(k).section(X[0] + 1), "data point"),
    ],
)
def test_check_representer_refuses(wrong, words):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 2)), rng.normal(size=12)
    with pytest.raises(LawBroken, match=words):
        check_representer(wrong(Gaussian(0.7), X, y), X, y, 0.5)


# Hilbert spaces


@pytest.mark.second_route("gauss_hermite", "gauss_legendre", "moments in closed form")
@given(st.integers(1, 12), st.floats(-5, 5), st.floats(0.1, 5))
def test_gauss_rules_are_exact_to_degree_2n_minus_1_and_no_further(n, a, length):
    mu, degree = gauss_legendre(a, a + length, n), 2 * n - 1

    def centred(x):
        return 2 * (x - a) / length - 1

    np.testing.assert_allclose(
        mu.integrate(lambda x: centred(x) ** (degree - 1)), length / degree, rtol=1e-10
    )
    assert (
        abs(mu.integrate(lambda x: centred(x) ** (2 * n)) - length / (2 * n + 1))
        > 1e-8 * length / 4**n
    )
    gaussian = gauss_hermite(a, length, n)
    np.testing.assert_allclose(gaussian.mass, 1)
    np.testing.assert_allclose(gaussian.integrate(lambda x: x), a, atol=1e-10)
    if n > 1:
        np.testing.assert_allclose(
            gaussian.integrate(lambda x: (x - a) ** 2), length**2, rtol=1e-10
        )


@pytest.mark.second_route("project", "NumPy's least squares")
@given(
    arrays(float, (4, 6), elements=st.floats(-2, 2).map(lambda x: round(x, 2))), st.integers(0, 99)
)
def test_projection_is_nearest(B, seed):
    v = np.random.default_rng(seed).normal(size=6)
    s = project(v, B)
    assert np.abs(B @ (v - s)).max() < 1e-10
    np.testing.assert_allclose(s, B.T @ np.linalg.lstsq(B.T, v, rcond=None)[0], atol=1e-8)
    q = gram_schmidt(B, drop=True)
    np.testing.assert_allclose(q @ q.T, np.eye(len(q)), atol=1e-12)


@pytest.mark.second_route("lp_norm", "NumPy")
@given(
    arrays(float, 5, elements=st.floats(-1e3, 1e3)),
    st.sampled_from([1, 1.5, 2, 3, np.inf]),
    st.sampled_from([1e-300, 1.0, 1e300]),
)
def test_lp_norm_is_numpys_at_every_scale(x, p, scale):
    np.testing.assert_allclose(
        lp_norm(x * scale / 1e3, p), np.linalg.norm(x / 1e3, p) * scale, rtol=1e-12
    )


@pytest.mark.second_route("check_inner_product", "impostors refused")
@pytest.mark.parametrize(
    "inner, words",
    [
        (lambda u, v: -(u @ v), "⟨f, f⟩ ≥ 0"),
        (lambda u, v: u @ v + 1, "linear|Σ"),
        (lambda u, v: u[0] * v[0] - u[1] * v[1], "≥ 0"),
        (lambda u, v: u[0] * v[0], "only for f = 0"),
        (lambda u, v: abs(u) @ abs(v), "Σ"),
        (lambda u, v: u @ np.triu(np.ones((3, 3))) @ v, "⟨g, f⟩"),
        (lambda u, v: float("nan"), "finite"),
        (lambda u, v: np.inf, "finite"),
    ],
)
def test_check_inner_product_refuses(inner, words):
    vectors = list(np.random.default_rng(1).normal(size=(4, 3)))
    check_inner_product(np.dot, vectors)
    with pytest.raises(LawBroken, match=words):
        check_inner_product(inner, vectors)


@pytest.mark.second_route("check_norm", "impostors refused")
@pytest.mark.parametrize(
    "norm, words",
    [
        (lambda v: lp_norm(v, 0.5), r"‖f \+ g‖"),
        (lambda v: lp_norm(v, 0), "‖c f‖"),
        (lambda v: v @ v, "‖c f‖"),
        (lambda v: abs(v[0]), "> 0"),
        (lambda v: float("nan"), "finite"),
        (lambda v: np.inf, "finite"),
    ],
)
def test_check_norm_refuses(norm, words):
    with pytest.raises(LawBroken, match=words):
        check_norm(norm, list(np.eye(3)))


def test_riesz_refuses_what_is_not_linear():
    for L in (lambda v: v[0] + 1, lambda v: v[0] * v[1], lambda v: abs(v[0] - v[1]) + 0.5):
        with pytest.raises(LawBroken, match="linear"):
            riesz_representer(L, np.array([[1.0, 2.0], [3.0, 1.0]]))


# arrays


@given(points(6))
def test_squared_distances_in_exact_arithmetic(X):
    for offset in (0.0, 1e8):
        P = X + offset
        rows = [[Fraction(x) for x in p] for p in P.tolist()]
        exact = [
            [float(sum((a - b) ** 2 for a, b in zip(p, q, strict=True))) for q in rows]
            for p in rows
        ]
        np.testing.assert_allclose(sqdist(P), exact, rtol=1e-11, atol=0)
        np.testing.assert_allclose(
            sqdist(P, P[::-1].copy()), np.array(exact)[:, ::-1], rtol=1e-11, atol=0
        )


def test_small_squared_distances_of_many_keep_digits_as_in_exact_arithmetic():
    "Two copies, 1e-5 apart: ‖x‖² + ‖y‖² − 2 xᵀy alone would leave five digits, and the rule leaves eps^¾"
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 20))
    P = np.concatenate([X, X + 1e-5 * rng.normal(size=X.shape)])
    exact = ((P[:, None] - P) ** 2).sum(axis=2)
    for found, wanted in ((sqdist(P), exact), (sqdist(P, P[::-1].copy()), exact[:, ::-1])):
        np.testing.assert_allclose(found, wanted, rtol=8 * np.finfo(float).eps ** 0.75, atol=0)


@pytest.mark.second_route("gram_schmidt", "inner products of all pairs")
def test_gram_schmidt_stays_orthogonal_where_one_pass_does_not():
    H = 1 / (np.arange(10)[:, None] + np.arange(10) + 1)
    q = gram_schmidt(H)
    np.testing.assert_allclose(q @ q.T, np.eye(10), atol=1e-13)


def test_gram_schmidt_evaluates_each_function_once():
    calls = []
    vectors = [lambda x, j=j: calls.append(j) or x**j for j in range(9)]
    mu = gauss_legendre(-1, 1, 12)
    q = gram_schmidt(vectors, mu.inner)
    np.testing.assert_allclose([[mu.inner(a, b) for b in q] for a in q], np.eye(9), atol=1e-10)
    calls.clear()
    q[8](mu.points)
    assert sorted(calls) == list(range(9))


@pytest.mark.parametrize("chosen", [[], (), [[0, 1]], np.zeros((1, 1), int)])
def test_columns_are_one_list_of_numbers(chosen):
    with pytest.raises(ValueError, match="^columns "):
        rn.Gaussian(1.0).on(chosen)


@pytest.mark.parametrize("fit", [rn.ridge_path, partial(rn.ridge, lam=[1.0, 2.0])])
def test_weights_that_leave_no_room_for_a_gram_matrix_are_refused(fit):
    with pytest.raises(ValueError, match="the largest of weights"):
        fit(rn.Gaussian(1.0), [0.0, 1.0, 2.0], np.eye(3)[:, :2], weights=[1.0, 1.0, 1e305])


def test_a_singular_system_is_refused_even_when_cholesky_survives():
    for seed in range(100):
        rng = np.random.default_rng(seed)
        with pytest.raises(NotPositiveDefinite):
            RKHS(Linear()).interpolate(rng.normal(size=(4, 3)), rng.normal(size=4))


@pytest.mark.second_route("NotPositiveDefinite", "raised where it should be")
def test_solve_psd_adds_nothing_and_says_by_how_much_it_fails():
    A = np.diag([1.0, 1e-12])
    np.testing.assert_allclose(solve_psd(A, [1.0, 1.0]), [1.0, 1e12])  # no hidden jitter
    with pytest.raises(NotPositiveDefinite, match="-0.5"):
        solve_psd(np.diag([1.0, -1.5]), [1.0, 1.0], shift=1.0)
    one_half = solve_psd(
        [[2.0, 1.0], [7.0, 2.0]], [3.0, 3.0], symmetric=True
    )  # is taken at its word
    np.testing.assert_allclose(one_half, [1.0, 1.0])
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(1600, 1600)))[0]
    A = (Q * np.r_[-0.3, rng.uniform(0, 5, 1599)]) @ Q.T
    assert abs(smallest_eigenvalue((A + A.T) / 2) + 0.3) < 1e-4


# exercises


@pytest.mark.parametrize("chapter", _CHAPTERS)
def test_the_table_of_exercises(chapter):
    few = {"09a": 1}  # 09.4 and 09.5 stand on this page too, with the numbers they had
    assert check_exercises(chapter) >= 3 * few.get(chapter, 3)


def test_a_mistake_that_is_the_solution_is_noticed(monkeypatch):
    from rkhs_notes import answers_00

    entry = answers_00._exercises["00.2"]
    mistakes = {"no mistake at all": entry["answer"]}
    monkeypatch.setitem(answers_00._exercises, "00.2", {**entry, "mistakes": mistakes})
    with pytest.raises(AssertionError, match="no mistake at all"):
        check_exercises("00")


@pytest.mark.parametrize(
    "k",
    [
        rn.Gaussian(0.7),
        rn.Laplace(0.7),
        rn.Linear(),
        rn.Polynomial(3),
        rn.Gaussian(0.7) * rn.Linear(),
    ],
)
def test_points_of_two_precisions_are_compared_in_the_higher_one(k):
    "Points of float32 are numbers like others: no value is rounded to their digits"
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(80, 5)).astype(np.float32), 3 + rng.normal(size=(90, 5))
    doubles = X.astype(float)
    for found, expected in (
        (k(X, Y), k(doubles, Y)), (k(Y, X), k(Y, doubles)), (k.pairs(X, Y[:80]), k.pairs(doubles, Y[:80])),
        (k.distance(X, Y), k.distance(doubles, Y)),
    ):  # fmt: skip
        assert found.dtype == float
        np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_values_take_the_memory_of_what_they_are_made_of():
    block = np.linspace(-1, 1, 6).reshape(2, 3)
    expected = np.exp(block)
    assert overwritten(np.exp, block, np) is block
    np.testing.assert_array_equal(block, expected)
