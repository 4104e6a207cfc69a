"""The zoo and what measures with it: every leaf by the array standard, in two precisions, at its ends."""

import pickle
import warnings

import array_api_strict
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gamma

import rkhs_notes as rn
from rkhs_notes.base.errors import IndefiniteKernel, LawBroken
from rkhs_notes.engines.kernels.bessel import matern
from rkhs_notes.engines.kernels.composites import GaussianOf, _lost
from rkhs_notes.engines.kernels.forms import divided

plane = np.random.default_rng(3).normal(size=(9, 2))
half_line = np.abs(plane[:, :1])


def wave(X):
    return np.cos(X if X.ndim == 1 else X.sum(axis=1))


SMOOTH = [
    rn.Bilinear([[2.0, 0.5], [0.5, 1.0]]),
    rn.Mahalanobis([0.5, 2.0]),
    rn.Matern(0.5, 2.0),
    rn.Matern(1.5, 0.7),
    rn.Matern(2.5, 0.7),
    rn.RationalQuadratic(0.7, 2.0),
    rn.Laplace(2.0),
    rn.Cauchy(0.7),
    rn.Periodic(2.7, 0.8),
    rn.Delta(),
]
MADE = [
    rn.Tensor(rn.Linear(), rn.Matern(1.5)),
    rn.Tensor(rn.Polynomial(2), rn.Laplace(2.0), split=1),
    rn.Anova(rn.Laplace(0.8), 2),
    rn.Anova(rn.Cauchy(0.8), 3, up_to=True),
    rn.Linear().gaussian_of(0.7),
    rn.Polynomial(2).gaussian_of(3.0),
    (2 * rn.Laplace() + rn.Linear()).gaussian_of(0.9),
    rn.Gaussian().on([1, 0]),
]
ON_LINE = [rn.Sobolev(1), rn.Sobolev(3), rn.SobolevFull(2)]
BESSEL = [rn.Matern(0.3), rn.Matern(1.1, 2.0), rn.Matern(7.0)]
OF_FUNCTIONS = [
    rn.Rank1(wave),
    rn.FiniteRank([0.5, 2.0], [wave, np.sin]).on(0),
    rn.Gaussian().conjugate(wave),
]
PLACES = [(k, plane) for k in SMOOTH + MADE + BESSEL + OF_FUNCTIONS] + [
    (k, half_line) for k in ON_LINE
]
names = [str(k) for k, _ in PLACES]


def strict(A):
    return array_api_strict.asarray(A)


STANDARD = [(k, plane) for k in SMOOTH + MADE[:-1]] + [(k, half_line) for k in ON_LINE]


@pytest.mark.parametrize("k, X", STANDARD, ids=[str(k) for k, _ in STANDARD])
def test_the_array_standard_is_enough(k, X):
    K, wanted = k(strict(X)), k(X)
    assert type(K) is type(strict(X))
    np.testing.assert_allclose(np.asarray(K), wanted, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(np.asarray(k(strict(X), strict(X[:4]))), wanted[:, :4], atol=1e-12)
    np.testing.assert_allclose(np.asarray(k.diag(strict(X))), np.diag(wanted), rtol=1e-12)


@pytest.mark.parametrize("k", BESSEL, ids=str)
def test_bessel_functions_are_numpys_and_their_values_go_back(k):
    K = k(strict(plane))
    assert type(K) is type(strict(plane))
    np.testing.assert_array_equal(np.asarray(K), k(plane))


@pytest.mark.parametrize("k, X", PLACES, ids=names)
def test_laws_and_gradients(k, X):
    rn.check_kernel(k, X)
    rn.check_gradient(k, X[:6])


def test_gradients_of_matrices_and_of_both_halves():
    rn.check_gradient(rn.Precomputed(rn.Gaussian()(plane)), [[0.0], [3.0], [3.0]])
    rn.check_gradient(rn.Sigmoid(0.4, 0.2), plane[:5])
    assert set(rn.Tensor(rn.Polynomial(2), rn.Laplace()).get_params()) == {
        "k1__degree", "k1__offset", "k1__scale", "k2__bandwidth"}  # fmt: skip


@pytest.mark.parametrize("k, X", PLACES, ids=names)
def test_every_formula_typesets_itself(k, X):
    formula = k._tex("x", "y")
    assert "x" in formula and "y" in formula and type(k).__name__ + "(" not in formula
    assert formula.count("{") == formula.count("}")
    assert formula.count(r"\left") == formula.count(r"\right")
    assert k._repr_latex_() == f"$k(x, y) = {formula}$"


def test_some_formulas():
    assert rn.Matern(1.5, 2)._tex("x", "y") == r"M_{1.5}\!\left(\frac{\left\|x-y\right\|}{2}\right)"
    assert rn.Laplace()._tex("a", "b") == r"\exp\left(-\left\|a-b\right\|_1\right)"
    assert rn.Delta()._tex("x", "y") == "1_{x=y}"


@pytest.mark.parametrize("k, X", PLACES, ids=names)
def test_two_precisions_meet_in_the_finer_one(k, X):
    single = X.astype(np.float32)
    np.testing.assert_array_equal(k(single, X), k(single.astype(float), X))
    assert k(single).dtype == np.float32
    np.testing.assert_allclose(k(single), k(single.astype(float)), rtol=2e-4, atol=2e-4)


WIDE = [rn.Matern(0.5), rn.Matern(1.5), rn.Matern(2.5), rn.Matern(1.1), rn.RationalQuadratic(), rn.Laplace(),
        rn.Cauchy(), rn.Periodic(1.7)]  # fmt: skip


@pytest.mark.parametrize("k", WIDE, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_narrowest_and_the_widest(k, dtype):
    "Any bandwidth: the identity at one end, all ones at the other, no NaN and no warning"
    X = np.array([[0.0], [0.0], [0.3], [40.0]], dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for tiny in (1e-320, 1e-200, 1e-40, 1e-30):
            K = k.with_params(bandwidth=tiny)(X)
            np.testing.assert_allclose(K, X == X.T, atol=1e-7)
        np.testing.assert_allclose(k.with_params(bandwidth=1e300)(X), 1, atol=1e-6)


def test_columns_in_another_order():
    k = rn.Mahalanobis([1.0, 3.0])
    np.testing.assert_array_equal(k.on([1, 0])(plane), k(plane[:, ::-1]))
    assert np.abs(k.on([1, 0])(plane) - k(plane)).max() > 0.01


# Bessel functions


def test_matern_against_its_power_series():
    "near 0 and nu < 1:  1 − Γ(1−ν)/Γ(1+ν) (s/2)^2ν, with s = √(2ν) r"
    for r in (1e-150, 1e-100, 1e-40):
        s = np.sqrt(0.02) * r
        expected = 1 - gamma(0.99) / gamma(1.01) * (s / 2) ** 0.02
        np.testing.assert_allclose(rn.Matern(0.01)([[0.0]], [[r]]), expected, rtol=1e-10)


@pytest.mark.parametrize("nu", [20.0, 57.3, 100.0])
def test_matern_of_large_order_near_zero(nu):
    "1 − s²/(4(ν−1)) + s⁴/(32(ν−1)(ν−2)) − …, where K_ν overflows and where it does not"
    s = np.geomspace(1e-8, 1, 60)
    series = 1 - s**2 / (4 * (nu - 1)) * (1 - s**2 / (8 * (nu - 2)) * (1 - s**2 / (12 * (nu - 3))))
    np.testing.assert_allclose(matern(nu, s.copy(), np), series, rtol=1e-8)
    r = np.linspace(-5, 9, 4001)  # t = e^r of a Gamma law
    law = np.exp(nu * r - np.exp(r) - nu * np.log(nu) + nu)
    mixture = np.sum(law * np.exp(-0.25 / np.exp(r))) / np.sum(law)
    np.testing.assert_allclose(matern(nu, np.ones(1), np), mixture, rtol=1e-9)


def test_matern_of_order_100_where_only_the_series_is_left():
    "There K_ν is beyond the floats, and three terms are all digits"
    s, nu = np.geomspace(1e-8, 0.05, 20), 100.0
    series = 1 - s**2 / (4 * (nu - 1)) * (1 - s**2 / (8 * (nu - 2)) * (1 - s**2 / (12 * (nu - 3))))
    np.testing.assert_allclose(matern(nu, s.copy(), np), series, rtol=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_quotients_by_a_square_beyond_the_range(dtype):
    "r2 / (2 length²), where 1 / length² is no float of this type, and the quotient is one"
    unit = dtype(2.0) ** (np.finfo(dtype).maxexp * 3 // 4)
    for length in (float(unit), 1 / float(unit)):
        r2 = np.array([0.0, 3.0], dtype) * dtype(length)
        np.testing.assert_array_equal(
            divided(r2.copy(), 2, length, np), np.array([0.0, 1.5]) / length
        )


# words of parameters


@pytest.mark.parametrize(
    "make, says",
    [
        (lambda: rn.Mahalanobis([1.0, 0.0]), "scales"),
        (lambda: rn.Mahalanobis(1.0), "scales"),
        (lambda: rn.FiniteRank([1.0], [np.sin, np.cos]), "functions"),
        (lambda: rn.FiniteRank([-1.0], [np.sin]), "weights"),
        (lambda: rn.FiniteRank([1.0], np.sin), "functions"),
        (lambda: rn.Integral(3.0, rn.gauss_legendre(0, 1, 3)), "G is"),
        (lambda: rn.Integral(np.minimum, 3.0), "measure"),
        (lambda: rn.Precomputed([[1.0, 2.0], [2.0, 1.0]]), "eigenvalue is -1"),
        (lambda: rn.Precomputed(np.eye(2))([2.0]), "row numbers"),
        (lambda: rn.Matern(101), "≤ 100"),
        (lambda: rn.Matern(0), "nu = 0"),
        (lambda: rn.Anova(rn.Gaussian(), 3)(plane), "needs 3 coordinates"),
        (lambda: rn.Tensor(rn.Gaussian(), rn.Gaussian())(plane[:, :1]), "in two"),
        (lambda: rn.Rank1(None), "f is"),
    ],
)  # fmt: skip
def test_parameters_are_refused_by_name(make, says):
    with pytest.raises((TypeError, ValueError), match=says):
        make()


def test_arrays_of_parameters_are_copies():
    scales = np.array([1.0, 2.0])
    k, g = rn.Mahalanobis(scales), rn.Gaussian(scales)
    scales[0] = 9
    assert k == rn.Mahalanobis([1, 2]) and not k.scales.flags.writeable
    assert g == rn.Gaussian([1, 2]) != rn.Gaussian(1.0) and not g.bandwidth.flags.writeable


# Gaussians of a metric


class Off(GaussianOf):
    "A Gaussian of a metric with a wrong diagonal"

    by: float = 0.0

    def _diag(self, X, xp):
        return super()._diag(X, xp) + self.by


def test_a_gaussian_of_lost_digits_is_refused():
    X = 100 + plane
    for pair in ((X,), (X, plane), (plane, X)):
        with pytest.raises(ValueError, match=r"no digits left"):
            rn.Polynomial(3).gaussian_of(0.1)(*pair)
    k = rn.Polynomial(3)
    edge = np.sqrt(_lost(k, X, np) / (2 * np.finfo(float).eps ** 0.25))
    k.gaussian_of(1.01 * edge)(X)
    for other in (k, k + rn.Linear(), 1.0 * k, k.on([0, 1])):
        with pytest.raises(ValueError, match="no digits left"):
            other.gaussian_of(edge / np.sqrt(3))(X)
    for wider in (1.01, 10.0, 1e4):  # what rounding may move is allowed, and no more
        rn.check_kernel(k.gaussian_of(wider * edge), X)
    loss = _lost(k, X, np) / (2 * (10 * edge) ** 2)
    rn.check_kernel(Off(k, 10 * edge, by=loss), X)
    with pytest.raises(rn.LawBroken, match="diag agrees"):
        rn.check_kernel(Off(k, 10 * edge, by=3 * 8 * loss), X)


def test_metrics_that_keep_their_digits_are_not_refused():
    X = 1e8 + plane
    for k in (rn.Linear(), 2 * rn.Linear() + rn.Laplace(), rn.Linear().on([1]), rn.Polynomial(1)):
        rn.check_kernel(k.gaussian_of(0.5), X)
    kernels = (
        rn.Gaussian(),
        rn.Laplace(),
        rn.Periodic(),
        rn.RationalQuadratic(),
        rn.Gaussian([1, 2]),
    )
    for k in (*kernels, 2 * rn.Gaussian() + rn.Linear(), rn.Gaussian().on([1])):  # 1 − k vanishes
        d = k.distance(1e-9 * plane)
        np.testing.assert_allclose(
            k.gaussian_of(d.max())(1e-9 * plane), np.exp(-((d / d.max()) ** 2) / 2), rtol=1e-14
        )


# conditionally negative definite functions


@given(st.floats(0.05, 2.0), st.integers(1, 3), st.integers(0, 99))
def test_powers_up_to_two_are_conditionally_negative(p, d, seed):
    X = np.random.default_rng(seed).normal(size=(12, d))
    rn.check_conditionally_negative(lambda X, Y: rn.sqdist(X, Y) ** (p / 2), X)


@given(st.floats(2.01, 6.0))
def test_powers_beyond_two_are_not(p):
    with pytest.raises(LawBroken):
        rn.check_conditionally_negative(lambda X, Y: np.abs(X - Y.T) ** p, [-1.0, 0.0, 1.0])


@pytest.mark.parametrize("k, X", PLACES, ids=names)
def test_the_metric_of_a_kernel_is_conditionally_negative(k, X):
    rn.check_conditionally_negative(lambda X, Y: k.distance(X, Y) ** 2, X)
    rn.check_conditionally_negative(lambda X, Y: -k(X, Y), X)


@pytest.mark.second_route("check_conditionally_negative", "near misses refused")
def test_a_near_miss_of_the_condition():
    x, v = np.array([-1.0, 0.0, 1.0]), np.array([1.0, -2.0, 1.0]) / np.sqrt(6)
    slack = 3 * 8 * np.finfo(float).eps ** 0.75 * 4

    def bent(size):
        return lambda X, Y: rn.sqdist(X, Y) + size * np.outer(v, v)

    rn.check_conditionally_negative(bent(slack / 3), x)
    with pytest.raises(LawBroken, match="at the points 1 and"):
        rn.check_conditionally_negative(bent(3 * slack), x)
    with pytest.raises(ValueError, match=r"pass \(3, 3\)"):
        rn.check_conditionally_negative(lambda X, Y: np.ones(3), x)
    assert rn.check_conditionally_negative(lambda X, Y: 0 * rn.sqdist(X, Y), [1.0]) == 0


@pytest.mark.parametrize("times, refused", [(0.3, False), (3.0, True)])
def test_a_near_miss_of_symmetric_distances(times, refused):
    x, bend = np.array([-1.0, 0.0, 1.0]), np.triu(np.ones((3, 3)), 1)
    allowed = 2 * 8 * np.finfo(float).eps ** 0.75 * 4  # relative to the largest, 4
    psi = lambda X, Y: rn.sqdist(X, Y) - times * allowed * bend  # noqa: E731
    if refused:
        with pytest.raises(LawBroken, match="psi.x, y. = psi.y, x."):
            rn.check_conditionally_negative(psi, x)
    else:
        rn.check_conditionally_negative(psi, x)


# alignment


@pytest.mark.second_route("alignment", "the cosine of two matrices, typed out")
def test_alignment_is_a_cosine():
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(9, 4)), rng.normal(size=(9, 4))
    K, L = A @ A.T, B @ B.T
    H = np.eye(9) - 1 / 9
    cosine = np.trace(H @ K @ H @ L) / np.sqrt(np.trace(H @ K @ H @ K) * np.trace(H @ L @ H @ L))
    np.testing.assert_allclose(rn.alignment(K, L), cosine)
    np.testing.assert_allclose(rn.alignment(K, 3 * K), 1)
    assert rn.alignment(np.ones((9, 9)), L) == 0 < rn.alignment(np.ones((9, 9)), L, centred=False)


def test_alignment_at_the_ends_of_the_range():
    K = rn.Gaussian()(plane)
    for size in (1e308, 1e-300):
        np.testing.assert_allclose(rn.alignment(size * K, K), 1)
    assert rn.alignment(np.full((9, 9), 0.1), K) == 0 == rn.alignment(0 * K, K)


@pytest.mark.second_route("align", "many random mixtures, none better")
@given(st.integers(0, 999))
def test_align_is_optimal(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(25, 3)), rng.normal(size=25)
    wide, narrow = rn.Gaussian(1), rn.Gaussian(0.3)
    parts = [rn.Linear(), wide, narrow, rn.Linear().on(0), rn.Linear(), 5 * wide]
    ideal = np.outer(y - y.mean(), y - y.mean())
    learned = rn.alignment(rn.align(parts, X, y)(X), ideal)
    for _ in range(30):
        mixture = sum(w * k for w, k in zip(rng.dirichlet(np.full(6, 0.3)), parts, strict=True))
        assert rn.alignment(mixture(X), ideal) <= learned + 1e-9


def test_align_speaks_for_itself():
    "Its solver is never heard"
    y = plane[:, 0]
    with pytest.raises(ValueError, match="y is constant"):
        rn.align([rn.Gaussian()], plane, np.full(9, 0.1))
    with pytest.raises(ValueError, match="every Gram matrix"):
        rn.align([rn.Constant(0.1), rn.Constant(2)], plane, y)
    with pytest.raises(ValueError, match="features are orthogonal"):
        rn.align(
            [rn.Rank1(lambda X: X[:, 0] - 5)], [[4.0, 0], [6, 0], [4, 1], [6, 1]], [1.0, 1, -1, -1]
        )
    for bad in ([], None, [3.0]):
        with pytest.raises(TypeError, match="kernels"):
            rn.align(bad, plane, y)
    pair = [rn.Gaussian(), rn.Linear()]
    plain = rn.align(pair, plane, y)
    for size in (1e300, 1e-300):
        np.testing.assert_allclose(rn.align(pair, plane, size * y)(plane), plain(plane))


# matrices and weights that make a kernel

EPS = np.finfo(float).eps


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
@pytest.mark.parametrize(
    "make, rounding", [(rn.Bilinear, 4 * EPS), (rn.Precomputed, 8 * EPS**0.75)]
)
def test_matrices_of_kernels_are_semidefinite_up_to_rounding(make, rounding, scale):
    "An entry is right to `rounding` of the largest one; a third of that passes, three times that does not"
    for share, fits in ((1 / 3, True), (3.0, False)):
        low = np.diag([1.0, 1.0, -3 * rounding * share])
        skew = np.array([[1.0, 0.5, 0.0], [0.5 + 2 * rounding * share, 1.0, 0.0], [0.0, 0.0, 1.0]])
        for A, error in ((low, rn.IndefiniteKernel), (skew, ValueError)):
            if fits:
                make(scale * A)
            else:
                with pytest.raises(error, match="symmetric|< 0"):
                    make(scale * A)
    a, b = (make([[0.0, 0.0], [zero, 1.0]]) for zero in (0.0, -0.0))
    assert a == b and hash(a) == hash(b)


def test_scales_are_positive_and_weights_may_be_0():
    with pytest.raises(ValueError, match="scales holds 0"):
        rn.Mahalanobis([1.0, 0.0])
    assert rn.FiniteRank([1.0, 0.0], [wave, wave]).weights.tolist() == [1.0, 0.0]
    with pytest.raises(ValueError, match="weights holds -1"):
        rn.FiniteRank([1.0, -1.0], [wave, wave])


# densities


@pytest.mark.second_route("kde", "quadrature")
@given(st.integers(0, 99), st.floats(0.3, 2), st.integers(1, 2))
def test_kde_integrates_to_one(seed, bandwidth, d):
    X = np.random.default_rng(seed).uniform(-1, 1, size=(6, d))
    side = rn.gauss_legendre(-1 - 9 * bandwidth, 1 + 9 * bandwidth, 90)
    if d == 1:
        total = side.integrate(rn.kde(X, bandwidth, weights=np.arange(6)))
    else:
        square = np.stack(np.meshgrid(side.points, side.points), axis=-1).reshape(-1, 2)
        total = np.outer(side.weights, side.weights).ravel() @ rn.kde(X, bandwidth)(square)
    np.testing.assert_allclose(total, 1, atol=1e-8)


def test_a_density_keeps_its_data():
    X = plane.copy()
    density, before = rn.kde(X, 1.0), rn.kde(plane, 1.0)(plane)
    X[:] = 0
    np.testing.assert_array_equal(density(plane), before)
    with pytest.raises(ValueError, match=r"pass \(n, 2\)"):
        density([1.0])


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("rank", [2, 9])
def test_a_gram_matrix_in_floats_of_half_the_length_keeps_its_tolerance(rank, size):
    F = np.random.default_rng(rank).normal(size=(60, rank))
    K, rows = (size * (F @ F.T)).astype(np.float32), np.arange(60)
    assert rn.is_psd(K) and np.linalg.eigvalsh(K.astype(float))[0] < -1e-8 * size
    k = rn.Precomputed(K)
    again = (
        (2 * k).with_params(k__K=K).simplify(),
        pickle.loads(pickle.dumps(k)),
        k.with_params(K=K),
    )
    assert all(other(rows).dtype == np.float32 for other in again)
    np.testing.assert_array_equal(k(rows, rows[:5]), K[:, :5])
    assert rn.check_kernel(k, rows) > -1e-4 and k.feature_map(1)(rows).shape[1] >= rank
    np.testing.assert_allclose(rn.Bilinear(K[:4, :4])(np.eye(4)), K[:4, :4], rtol=1e-6)
    allowed = 60 * 8 * np.finfo("f").eps ** 0.75 * np.abs(K).max()
    with pytest.raises(IndefiniteKernel, match="least eigenvalue"):
        rn.Precomputed(K - np.float32(2 * allowed) * np.eye(60, dtype="f"))
    assert rn.Precomputed(np.eye(3, dtype=int))(rows[:3]).dtype == float


def test_a_density_takes_named_columns_in_order():
    D = pd.DataFrame(np.random.default_rng(3).normal([0, 5], size=(20, 2)), columns=["a", "b"])
    density = rn.kde(D, 0.7)
    by_hand = np.exp(-((D.values[:, None] - D.values) ** 2).sum(2) / 0.98).mean(1) / 0.98 / np.pi
    for frame in (D, D[["b", "a"]], D.values):
        np.testing.assert_allclose(density(frame), by_hand, rtol=1e-9)
    with pytest.raises(ValueError, match="T has no column 'b'; it has a"):
        density(D[["a"]])
