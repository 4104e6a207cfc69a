"""Projections, compression, sums and products of spaces against dense algebra, and what they refuse."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st

from rkhs_notes import settings
from rkhs_notes.base.errors import IndefiniteKernel, LawBroken, NotPositiveDefinite
from rkhs_notes.deeper.interpolation import check_projection
from rkhs_notes.deeper.subspaces import (
    FiniteDimensionalRKHS,
    check_inclusion,
    least_norm_split,
    sum_norm,
    tensor_product,
)
from rkhs_notes.deeper.zoo import Delta, FiniteRank, Laplace, Matern, Precomputed
from rkhs_notes.engines.functions.functions import RKHSFunction
from rkhs_notes.engines.functions.known import Conditioned, PowerFunction
from rkhs_notes.engines.functions.measures import gauss_legendre
from rkhs_notes.engines.functions.spaces import check_reproducing
from rkhs_notes.engines.kernels.composites import Tensor
from rkhs_notes.kernels import (
    Brownian,
    Constant,
    Gaussian,
    Kernel,
    Linear,
    Polynomial,
    Sigmoid,
    check_kernel,
    indefinite_witness,
)
from rkhs_notes.rkhs import RKHS, kernel_from_space
from shared import SharedLetters

KERNELS = [
    Gaussian(0.8),
    Matern(1.5, 1.0),
    Laplace(0.5) + 0.5 * Gaussian(2.0),
    Polynomial(3),
    Linear() * Gaussian(1.0),
    Tensor(Gaussian(1.0), Linear()),
]
each_kernel = pytest.mark.parametrize("k", KERNELS, ids=str)


def dense_norm(k, Z, alpha):
    "√(αᵀKα) from the eigenvalues of K, none negative"
    values, U = np.linalg.eigh(k(Z))
    return np.sqrt(np.clip(values, 0, None) @ (U.T @ alpha) ** 2)


# compress


@each_kernel
@pytest.mark.parametrize("tol", [0.3, 1e-2, 1e-4])
def test_compress_keeps_its_word(k, tol):
    rng = np.random.default_rng(0)
    Z, T = rng.normal(size=(150, 2)), rng.normal(size=(40, 2))
    f = RKHS(k).function(Z, rng.normal(size=150))
    g = f.compress(tol)
    left = dense_norm(k, np.r_[f.Z, g.Z], np.r_[f.alpha, -g.alpha])
    assert left <= 1.001 * tol * f.norm() + 1e-6
    assert (abs(f(T) - g(T)) <= tol * f.norm() * np.sqrt(k.diag(T)) + 1e-6).all()
    assert len(g.Z) < 150 or tol < 1e-3
    assert {tuple(z) for z in g.Z} <= {tuple(z) for z in f.Z}


def test_compress_needs_the_memory_of_the_centres_that_it_keeps():
    "All 300 sections are orthogonal, and the basis has as many columns: 0.69 MiB, not 512 columns"
    f = RKHS(Gaussian(1e-3)).function(np.arange(300.0), np.arange(300.0) + 1)
    with settings.using(result_mib=0.7):
        assert len(f.compress(1e-6).Z) == 300
        assert len(f.compress(0.999).Z) < 20
    with settings.using(result_mib=0.68), pytest.raises(MemoryError, match="a larger tol"):
        f.compress(1e-6)


def test_compress_finds_the_rank():
    rng = np.random.default_rng(1)
    f = RKHS(Polynomial(2)).function(rng.normal(size=(300, 2)), rng.normal(size=300))
    assert len(f.compress(1e-6).Z) == 6


def test_compress_several_functions_keeps_each_bound():
    rng = np.random.default_rng(2)
    Z, alpha = rng.normal(size=(200, 1)), rng.normal(size=(200, 3)) * [1, 1e-3, 1e3]
    f = RKHS(Gaussian(1)).function(Z, alpha)
    g = f.compress(1e-3)
    assert g.alpha.shape == (len(g.Z), 3) and len(g.Z) < 40
    for j in range(3):
        left = dense_norm(f.k, np.r_[f.Z, g.Z], np.r_[f.alpha[:, j], -g.alpha[:, j]])
        assert left <= 1.01e-3 * f[j].norm()


def test_compress_joins_repeated_centres():
    f = RKHS(Gaussian(1)).function([0.0, 1.0, 0.0, 2.0], [1.0, 2.0, 3.0, 0.0])
    g = f.compress(0)
    assert g.Z.ravel().tolist() == [0, 1] and g.alpha.tolist() == [4, 2]
    zero = (f - f).compress()
    assert len(zero.Z) == 1 and zero.norm() == 0
    hidden = RKHS(Linear()).function([1.0, 2.0], [2.0, -1.0])  # 0, written as a sum
    assert hidden.compress()([3.0])[0] == 0
    assert RKHS(Precomputed(np.eye(3))).function(
        [0, 2, 0], [1, 1, 1]
    ).compress().alpha.tolist() == [2, 1]


def test_compress_honours_float32():
    rng = np.random.default_rng(3)
    Z = rng.normal(size=(200, 1)).astype("f")
    f = RKHS(Gaussian(1)).function(Z, rng.normal(size=200).astype("f"))
    g = f.compress(1e-2)
    assert g.alpha.dtype == np.float32 == g.Z.dtype and len(g.Z) < 40
    assert abs(f(Z) - g(Z)).max() < 1.1e-2 * f.norm()


@pytest.mark.parametrize("tol", [1e-4, 1e-9])
def test_compress_of_float32_is_judged_by_the_coefficients_that_it_returns(tol):
    "Rounded, they leave 1e-8 to 1e-7: below one bound, above the other"
    for seed in range(8):
        rng = np.random.default_rng(seed)
        Z, alpha = rng.normal(size=(60, 2)).astype("f"), rng.normal(size=60).astype("f")
        f = RKHS(Polynomial(2)).function(Z, alpha)
        g = f.compress(tol)
        both = [np.r_[f.Z, g.Z].astype(float), np.r_[f.alpha, -g.alpha].astype(float)]
        assert dense_norm(f.k, *both) <= (tol + 1e-7) * f.norm()
        assert len(g.Z) == (6 if tol == 1e-4 else 60)


def test_compress_gives_f_back_where_rounding_forbids():
    rng = np.random.default_rng(4)
    f = RKHS(Gaussian(1)).function(rng.normal(size=(60, 1)), rng.normal(size=60))
    assert f.compress(1e-15).distance(f) == 0
    exact = f.alpha * 0
    exact[0] = 1  # one section, which 60 centres write without an error
    both = RKHS(f.k).function(f.Z, np.stack([exact, f.alpha], axis=1))
    assert (both.compress(1e-15).distance(both) == 0).all()


def test_compress_where_rounding_hides_the_norm():
    "Far from the origin the coefficients cancel; the bound is checked in exact arithmetic"
    for seed in range(20):
        rng = np.random.default_rng(seed)
        Z, alpha = 1e4 + 1e-3 * rng.normal(size=(10, 2)), rng.normal(size=10)
        f = RKHS(Linear()).function(Z, np.stack([alpha - alpha.mean(), np.ones(10)], axis=1))
        for g in f[0].compress(3.7e-7), f.compress(3.7e-7)[0]:  # also beside one that is easy
            terms = [
                (np.vectorize(Fraction)(h.alpha), np.vectorize(Fraction)(h.Z)) for h in (f[0], g)
            ]
            w, v = (a @ A for a, A in terms)
            error2, norm2 = (
                sum((a - b) ** 2 for a, b in zip(w, v, strict=True)),
                sum(a**2 for a in w),
            )
            assert float(error2 / norm2) <= 3.7e-7**2


def test_compress_waits_for_the_last_of_several():
    Z = np.linspace(0, 1, 30)
    alpha = np.zeros((30, 2))
    alpha[0, 0], alpha[:, 1] = 1, np.cos(9 * Z)
    f = RKHS(Laplace(1.0)).function(Z, alpha)
    g = f.compress(1e-3)
    assert f[1].distance(g[1]) <= 1e-3 * f[1].norm() and len(g.Z) > 10
    f = RKHS(Gaussian(0.3)).function(Z, alpha)
    g = f.compress(1e-3)
    assert f[1].distance(g[1]) <= 1e-3 * f[1].norm() and 3 < len(g.Z) < 15


def test_compress_at_the_ends_of_the_scale():
    f = RKHS(Gaussian(1)).function(np.linspace(0, 1, 50), np.ones(50))
    few = len(f.compress(0.1).Z)
    assert few < 10 and len((1e200 * f).compress(0.1).Z) == few == len((1e-160 * f).compress(0.1).Z)
    assert len(f.compress(1e300).Z) == 1


# projections


@each_kernel
@given(st.integers(0, 999))
def test_projection(k, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(6, 2))
    f = RKHS(k).function(rng.normal(size=(9, 2)), rng.normal(size=9))
    s = RKHS(k).project(f, X)
    assert check_projection(f, s, X, rng.normal(size=(20, 2))) <= 1 + 1e-6
    np.testing.assert_allclose(s(X), f(X), atol=1e-7 * (1 + abs(f(X)).max()))
    size = np.sqrt(k.diag(X))
    K = k(X) / size / size[:, None]
    by_pinv = k(f.Z, X) / size @ np.linalg.pinv(K, hermitian=True) @ (f(X) / size)
    kept = [
        v for v in np.linalg.eigvalsh(K) if v > 1e-15 * len(K)
    ]  # pinv loses eps times their ratio
    error = 6 * np.finfo(float).eps * max(kept) / min(kept)
    np.testing.assert_allclose(
        s(f.Z), by_pinv, rtol=0, atol=error * f.norm() * np.sqrt(k.diag(f.Z).max())
    )
    again = RKHS(k).project(s, X)
    # values are right up to eps Σ |α|, norms up to that over the root of the least eigenvalue
    rounding = np.finfo(float).eps * np.abs(s.alpha).sum() / min(kept) ** 0.5
    assert again.distance(s) < 1e-5 * (1 + s.norm()) + rounding


def test_projection_is_symmetric_and_repeats_change_nothing():
    rng = np.random.default_rng(0)
    H, X = RKHS(Matern(2.5, 1.0)), rng.normal(size=(5, 2))
    f, g = (H.function(rng.normal(size=(7, 2)), rng.normal(size=7)) for _ in "fg")
    assert H.project(f, X) @ g == pytest.approx(f @ H.project(g, X))
    many = H.project(f, np.r_[X, X[::-1], X[:2]])
    assert len(many.Z) == 5 and many.distance(H.project(f, X)) < 1e-6
    both = H.project(H.function(X + 1, rng.normal(size=(5, 2))), X)
    assert both.alpha.shape == (5, 2)


@pytest.mark.second_route("RKHS", "NumPy's pseudo-inverse")
@each_kernel
def test_power_function_is_the_largest_value_of_functions_that_vanish(k):
    rng = np.random.default_rng(1)
    X, T = rng.normal(size=(4, 2)), rng.normal(size=(15, 2))
    P = RKHS(k).power_function(X)
    K, Kx = k(X), k(X, T)
    direct = k.diag(T) - np.sum(Kx * (np.linalg.pinv(K, hermitian=True) @ Kx), axis=0)
    np.testing.assert_allclose(P(T) ** 2, direct, atol=1e-9 * k.diag(T).max())
    assert P(X).max() <= 1e-6 * np.sqrt(k.diag(X).max())
    H = RKHS(k)
    for _ in range(5):
        h = H.function(rng.normal(size=(5, 2)), rng.normal(size=5))
        h = h - H.project(h, X)
        assert (abs(h(T)) <= P(T) * h.norm() + 1e-6).all()
    best = H.section(T[0]) - H.project(H.section(T[0]), X)
    assert abs(best(T[:1])[0]) == pytest.approx(P(T[:1])[0] * best.norm(), abs=1e-6)
    assert (H.power_function(np.r_[X, T[:3]])(T) <= P(T) + 1e-7).all()  # more points, less error


def test_projection_where_lengths_differ_widely():
    H = RKHS(Polynomial(3))
    f = H.function([1.0], [1.0])
    s = H.project(f, [0.0, 1e6])
    np.testing.assert_allclose(s([0.0, 1e6]), f([0.0, 1e6]), rtol=1e-9)
    B = RKHS(Brownian())
    assert B.project(1e16 * B.section(1e-16), [1e-16, 1.0]).norm() == pytest.approx(1e8)
    assert B.power_function([0.0, 0.5, 1.0])([0.0, 0.25]) == pytest.approx([0, 0.25**0.5 / 2**0.5])


@pytest.mark.parametrize("h", [1e-9, 3e-9, 1e-8, 3e-8, 1e-7, 1e-4])
def test_near_repeats_are_no_false_alarm(h):
    H = RKHS(Gaussian(1.0))
    f = H.section(2.0)
    check_projection(f, H.project(f, [0.0, h]), [0.0, h], [0.5])


def moved_grid(m, d, draw=0):
    "m + 1 points a side of the unit cube, moved inside by one pattern again and again"
    index = np.stack(np.meshgrid(*[np.arange(m + 1)] * d), axis=-1).reshape(-1, d)
    moves = np.random.default_rng(draw).uniform(-0.2, 0.2, (4,) * d + (d,))[tuple(index.T % 4)]
    return (index + moves * ((index > 0) & (index < m))) / m


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_power_functions_fall_in_the_plane_as_on_the_line(nu):
    "sup P is of the order h^ν in every dimension   (3d.6)"
    m, fine = np.array([4, 8, 16]), np.stack(np.meshgrid(*[np.arange(97) / 96] * 2), axis=-1)
    H = RKHS(Matern(nu, 4.0))
    sup = [H.power_function(moved_grid(n, 2))(fine.reshape(-1, 2)).max() for n in m]
    assert abs(np.polyfit(np.log(m), np.log(sup), 1)[0] + nu) < 0.1


def test_in_the_mean_square_interpolation_gains_half_a_dimension_and_twice():
    "The worst function errs by h^(ν + d/2), ∫ k(·, y) dy by the square of that"
    H, T, rows = RKHS(Matern(1.5, 1.0)), (np.arange(400) + 0.5) / 400, []
    f, m = H.function(T, np.full(400, 1 / 400)), np.array([8, 16, 32])
    for X in (moved_grid(n, 1) for n in m):
        worst = np.linalg.eigvalsh(Conditioned(H.k, X)(T) / 400)[-1] ** 0.5
        rows.append([worst, np.mean((f - H.project(f, X))(T) ** 2) ** 0.5])
    found = -np.polyfit(np.log(m), np.log(rows), 1)[0]
    assert np.abs(found / [2, 4] - 1).max() < 0.1


def test_a_function_that_is_no_kernel_has_no_power_function():
    class Tanh(Kernel):
        def _gram(self, X, Y, xp):
            return xp.tanh(X @ Y.T - 1)

    with pytest.raises(IndefiniteKernel, match="not positive"):
        RKHS(Tanh()).power_function([1.0, 2.0])([0.1, 3.0])


def test_power_functions_survive_pickling():
    P = RKHS(Gaussian(1.0)).power_function([0.0, 1.0, 0.0])
    Q = pickle.loads(pickle.dumps(P))
    np.testing.assert_array_equal(P([0.3]), Q([0.3]))
    assert repr(P).endswith("2 of 3 points")
    for R in (P, Q):
        with pytest.raises(ValueError, match="read-only"):
            R.X[0] = 7


def test_power_function_in_blocks_and_float32(monkeypatch):
    rng = np.random.default_rng(2)
    X, T = rng.normal(size=(30, 3)), rng.normal(size=(500, 3))
    P = RKHS(Gaussian(1.0)).power_function(X)
    whole = P(T)
    monkeypatch.setattr(settings, "block_mib", 0.01)
    np.testing.assert_allclose(P(T), whole, atol=1e-12)
    small = RKHS(Gaussian(1.0)).power_function(X.astype("f"))(T.astype("f"))
    assert small.dtype == np.float32 and abs(small - whole).max() < 1e-3


@given(st.integers(0, 999), st.sampled_from([(), (3,)]))
def test_leave_one_out_is_refitting(seed, columns):
    rng = np.random.default_rng(seed)
    H, X, y = RKHS(Matern(1.5, 1.0)), rng.normal(size=(8, 2)), rng.normal(size=(8, *columns))
    left = H.leave_one_out(X, y)
    assert left.shape == y.shape
    for i in range(8):
        s = H.interpolate(np.delete(X, i, axis=0), np.delete(y, i, axis=0))
        np.testing.assert_allclose(left[i], y[i] - s(X[i : i + 1])[0], rtol=1e-6, atol=1e-8)


def test_membership_norms_grow_to_the_norm():
    f = RKHS(Gaussian(0.7)).function([-0.5, 0.4], [1.0, -1.5])
    norms = [RKHS(f.k).project(f, np.linspace(-1, 1, n)).norm() for n in (2, 3, 5, 9)]
    assert np.all(np.diff(norms) > -1e-9) and norms[-1] == pytest.approx(f.norm(), rel=1e-3)
    assert norms[-1] <= f.norm() + 1e-9


class Halved(RKHSFunction):
    def norm(self):
        return super().norm() / 2


@pytest.mark.second_route("check_projection", "impostors refused")
def test_check_projection_refuses_impostors():
    rng = np.random.default_rng(0)
    H, X, T = RKHS(Gaussian(1.0)), np.array([-1.0, 0.0, 1.5]), np.linspace(-3, 3, 50)
    f = H.function(rng.normal(size=5), rng.normal(size=5))
    s = H.project(f, X)
    assert 0 < check_projection(f, s, X, T) <= 1
    assert check_projection(s, s, X, T) == 0
    for impostor, words in (
        (0.99 * s, "s = f on X"),
        (f, "least"),
        (H.project(f, np.r_[X, 0.5]), "least"),
    ):
        with pytest.raises(LawBroken, match=words):
            check_projection(f, impostor, X, T)
    with pytest.raises(LawBroken, match="‖f‖²"):
        check_projection(Halved(f.k, f.Z, f.alpha), s, X, T)


@pytest.mark.parametrize("places", ["f4", "f8"])
@pytest.mark.parametrize("theirs", ["f4", "f8"])
@pytest.mark.parametrize("seed", range(5))
def test_a_projection_in_single_precision_is_one_wherever_it_is_looked_at(seed, theirs, places):
    rng = np.random.default_rng(seed)
    H, Z, X = RKHS(Gaussian(1.0)), rng.normal(size=(6, 1)), np.array([[-1.0], [0], [1.5]], "f4")
    f = H.function(Z.astype(theirs), rng.normal(size=6).astype(theirs))
    s = H.function(f.Z.astype("f4"), f.alpha.astype("f4"))
    s, T = H.project(s, X), np.linspace(-3, 3, 50)[:, None].astype(places)
    assert s.Z.dtype == np.float32 and check_projection(f, s, X.astype(places), T) <= 1 + 1e-3
    with pytest.raises(LawBroken):
        check_projection(f, 0.5 * s, X.astype(places), T)


@pytest.mark.parametrize("seed", range(8))
def test_what_single_precision_leaves_is_rounding_at_places_of_doubles(seed):
    X = np.random.default_rng(seed).normal(size=(5, 1)).astype("f4")
    T = np.r_[np.linspace(-3, 3, 50)[:, None], X]
    coarse = PowerFunction(Gaussian(1.0), X)
    fine = PowerFunction(Gaussian(1.0), coarse.X.astype(float))
    np.testing.assert_allclose(coarse(T), fine(T), atol=5e-3)


class Wiggling(RKHSFunction):
    "Right at the points 0, ±1, wrong between them"

    def __call__(self, X):
        return super().__call__(X) + 3 * np.sin(np.pi * np.ravel(X))


def test_check_projection_sees_small_faults():
    H, X, T = RKHS(Gaussian(1.0)), np.array([-1.0, 0.0, 1.0]), np.linspace(-2, 2, 41)
    f = H.function([-0.5, 0.3, 1.7], [1.0, -1.0, 2.0])
    s = H.project(f, X)
    away = (1 / f.distance(s)) * (f - s)
    with pytest.raises(LawBroken, match="f − s. ≤ P"):
        check_projection(f, Wiggling(s.k, s.Z, s.alpha), X, T)
    for size in (0.3, 1e-2, 1e-3):
        with pytest.raises(LawBroken):
            check_projection(f, s + size * s.norm() * away, X, T)
        with pytest.raises(LawBroken):
            check_projection(f, (1 + size) * s, X, T)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5, 1))
    f = H.function(rng.normal(size=(5, 1)), rng.normal(size=5))
    with pytest.raises(LawBroken, match="‖f‖²"):
        check_projection(Halved(f.k, f.Z, f.alpha), H.project(f, X), X, T)


# values


@pytest.mark.parametrize("scale", [1e-200, 1e-30, 1e160, 1e200])
def test_norms_neither_vanish_nor_overflow(scale):
    f = RKHS(Gaussian(1.0)).function([0.0, 1.0], [1.0, -2.0])
    assert (scale * f).norm() == pytest.approx(scale * f.norm(), rel=1e-6, abs=0)
    assert (scale * f).distance(scale * f) == 0
    k1, k2 = Gaussian(1.0), Linear()
    g = RKHS(k1 + k2).function([0.0, 1.0], [1.0, -2.0])
    assert sum_norm(scale * g, k1, k2) == pytest.approx(scale * g.norm(), rel=1e-6, abs=0)
    H = FiniteDimensionalRKHS([1.0, 2.0], [np.sin, np.cos])
    assert H.norm([scale, 0]) == pytest.approx(scale, rel=1e-6, abs=0)


def test_one_number_comes_as_a_float_and_several_as_an_array():
    H = RKHS(Gaussian(1.0) + Linear())
    one, two = (H.function([0.0, 1.0], c) for c in ([1.0, -2.0], [[1.0, 0.0], [-2.0, 3.0]]))
    for number in (
        lambda f: f.norm(),
        lambda f: f.distance(one if f is one else two),
        lambda f: f.inner(one),
        lambda f: sum_norm(f, Gaussian(1.0), Linear()),
    ):
        assert type(number(one)) is float
        assert number(two).shape in {(2,), (2, 1)}


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_a_negative_square_is_told_wherever_it_stands(order):
    "Sections at 0 have the square −1, those at π/2 the square 1"

    class Saddle(Kernel):
        def _gram(self, X, Y, xp):
            return np.sin(X) * np.sin(Y.T) - np.cos(X) * np.cos(Y.T)

    assert RKHS(Saddle()).section(np.pi / 2).norm() == pytest.approx(1)
    with pytest.raises(IndefiniteKernel, match="alphaᵀ K alpha, for alpha scaled to 1, is -1"):
        RKHSFunction(Saddle(), [0.0, np.pi / 2], np.eye(2)[:, order]).norm()


def test_functions_survive_pickling_and_stay_read_only():
    f = RKHS(Gaussian(1.0)).function([[0.0, 1.0]], [2.0])
    g = pickle.loads(pickle.dumps(f))
    assert g.k == f.k and g.distance(f) == 0
    with pytest.raises(ValueError, match="read-only"):
        g.alpha[0] = 3


def test_one_of_several():
    f = RKHS(Gaussian(1.0)).function([0.0, 1.0], [[1.0, 2.0], [3.0, 4.0]])
    assert f[1].alpha.tolist() == [2, 4] and f[-1].alpha.tolist() == [2, 4]
    assert [g.alpha.tolist() for g in f] == [[1, 3], [2, 4]]  # iteration stops
    with pytest.raises(IndexError, match="2 functions"):
        f[2]
    with pytest.raises(TypeError, match="one function"):
        f[0][0]


def test_points_of_other_kinds():
    pairs = RKHS(Tensor(Gaussian(1.0), Linear(), split=1))
    f = pairs.section((0.5, [1.0, 2.0]))
    assert f.Z.tolist() == [[0.5, 1.0, 2.0]]
    np.testing.assert_allclose(f(([0.0], [[3.0, 4.0]])), np.exp(-0.125) * 11)
    rows = RKHS(Precomputed(np.array([[2.0, 1.0], [1.0, 3.0]])))
    assert rows.section(1).norm() ** 2 == pytest.approx(3)
    assert rows.interpolate([0, 1], [1.0, 0.0])([0, 1]) == pytest.approx([1, 0], abs=1e-12)
    assert RKHS(Delta()).function([1.0, 2.0], [3.0, 4.0]).norm() == 5


def test_plot_where_centres_coincide():
    import matplotlib

    matplotlib.use("Agg")
    f = RKHS(Brownian()).section(0.5)
    assert f.plot().lines[-1].get_xdata()[0] == 0
    ax = RKHS(Gaussian(1.0)).function([0.0, 1.0], np.eye(2)).plot(0, 2)
    assert len(ax.lines) >= 2
    matplotlib.pyplot.close("all")


# sums

PAIRS = [
    (Gaussian(1.0), Linear()),
    (Polynomial(2), Polynomial(3)),
    (Brownian(), Constant(2.0)),
    (FiniteRank([1.0, 2.0], [np.sin, np.cos]), FiniteRank([0.5, 1.0], [np.cos, np.exp])),
]


@pytest.mark.parametrize("k1, k2", PAIRS, ids=str)
def test_sum_norm(k1, k2):
    rng = np.random.default_rng(0)
    Z = rng.uniform(0, 2, size=7)
    f = RKHS(k1 + k2).function(Z, rng.normal(size=7))
    f1, f2 = least_norm_split(f, k1, k2)
    assert sum_norm(f, k1, k2) == pytest.approx(f.norm(), rel=1e-6)
    assert np.hypot(f1.norm(), f2.norm()) == pytest.approx(f.norm())
    T = np.linspace(0, 2, 9)
    np.testing.assert_allclose(f1(T) + f2(T), f(T))
    alone = RKHS(k1).function(Z, rng.normal(size=7))
    assert sum_norm(alone, k1, k2) <= alone.norm() * (1 + 1e-6)
    many = sum_norm(RKHS(k1 + k2).function(Z, rng.normal(size=(7, 2))), k1, k2)
    assert many.shape == (2,)


@pytest.mark.parametrize("at", [0.4, 1.0, 0.36, 0.9, 1.4, 2.0, 0.7], ids=str)
def test_a_kernel_that_differs_at_the_centres_or_beside_them_does_not_split(at):
    "0.4 and 1 are the centres; nine tenths of them, 1 more, and their middle"
    bent = Gaussian(1.0).on(lambda X: np.where(np.abs(X - at) < 1e-9, X + 0.5, X))
    f = RKHS(Gaussian(1.0)).function([0.4, 1.0], [1.0, -2.0])
    with pytest.raises(ValueError, match="another kernel"):
        least_norm_split(f, bent)


@pytest.mark.second_route("sum_norm", "SciPy's minimiser")
def test_sum_norm_is_the_minimum_that_an_optimiser_finds():
    b1, b2 = [lambda x: 1 + 0 * x, lambda x: x], [lambda x: x, lambda x: x**2]
    mu1, mu2 = np.array([1.0, 2.0]), np.array([1.0, 0.5])
    k1, k2 = FiniteRank(mu1, b1), FiniteRank(mu2, b2)
    target = np.array([0.3, -1.1, 0.8])  # 0.3 − 1.1 x + 0.8 x²
    best = scipy.optimize.minimize(
        lambda a: (a[:2] ** 2 / mu1).sum() + (a[2:] ** 2 / mu2).sum(),
        np.zeros(4),
        constraints={"type": "eq", "fun": lambda a: [a[0], a[1] + a[2], a[3]] - target},
        tol=1e-14,
    )
    found = sum_norm(lambda x: np.polyval(target[::-1], x), k1, k2, X=np.linspace(-1, 1, 6))
    assert found == pytest.approx(np.sqrt(best.fun), rel=1e-6)


@pytest.mark.second_route("least_norm_split", "the price of another split")
def test_moving_a_common_part_costs_its_norms():
    k1, k2 = Linear(), Polynomial(2)
    f = RKHS(k1 + k2).function([[0.5], [-1.0]], [1.0, 2.0])
    f1, f2 = least_norm_split(f, k1, k2)
    x1, x2 = RKHS(k1).section(1.0), RKHS(k2).function([1.0, -1.0], [0.25, -0.25])  # both are x
    np.testing.assert_allclose(x1([0.7]), x2([0.7]))
    for t in (-0.5, 0.2, 1.0):
        price = (f1 + t * x1).norm() ** 2 + (f2 - t * x2).norm() ** 2
        assert price == pytest.approx(f.norm() ** 2 + t**2 * (x1.norm() ** 2 + x2.norm() ** 2))


def test_sum_norm_of_kernels_of_different_sizes():
    f, X = (lambda x: x**2), [1.0, 2.0, 3.0, 4.0]
    assert sum_norm(f, 1e-4 * Polynomial(2), Linear(), X=X) <= 100.01
    assert sum_norm(f, Polynomial(2), 1e-12 * Linear(), X=X) == pytest.approx(1, rel=1e-6)
    rng = np.random.default_rng(0)
    k1, k2 = Gaussian(1.0), Polynomial(3)
    g = RKHS(k1 + k2).function(100 * rng.normal(size=6), rng.normal(size=6))
    assert sum_norm(g, k1, k2) == pytest.approx(g.norm(), rel=1e-5)
    with pytest.raises(ValueError, match="no function"):  # one column cannot hide another
        sum_norm(lambda x: np.c_[1e8 * x, x**2], Linear(), Constant(1.0), X=[1.0, 2.0, 3.0])


# products


@pytest.mark.second_route("tensor_product", "products of values and inner products")
@given(st.integers(0, 999))
def test_tensor_products_multiply_inner_products(seed):
    rng = np.random.default_rng(seed)
    H1, H2 = RKHS(Gaussian(0.7)), RKHS(Matern(1.5, 1.0))

    def make(H, d):
        return H.function(rng.normal(size=(3, d)), rng.normal(size=3))

    f, f_, g, g_ = make(H1, 2), make(H1, 2), make(H2, 1), make(H2, 1)
    h, h_ = tensor_product(f, g), tensor_product(f_, g_)
    assert h @ h_ == pytest.approx((f @ f_) * (g @ g_), abs=1e-10)
    X, U = rng.normal(size=(5, 2)), rng.normal(size=5)
    np.testing.assert_allclose(h((X, U)), f(X) * g(U), atol=1e-12)
    check_reproducing(h, np.c_[X, U])


def test_pairs_of_centres_beyond_the_memory_are_refused():
    f = RKHS(Gaussian(1.0)).function(np.arange(200.0), np.ones(200))
    with settings.using(result_mib=0.6), pytest.raises(MemoryError, match="f.compress"):
        tensor_product(f, f)  # 40 000 pairs of floats take 0.61 MiB
    with settings.using(result_mib=0.62):
        assert len(tensor_product(f, f).Z) == 40_000


def test_products_of_functions_are_short_in_the_product_space():
    rng = np.random.default_rng(0)
    f = RKHS(Gaussian(0.8)).function(rng.normal(size=4), rng.normal(size=4))
    g = RKHS(Matern(2.5, 1.0)).function(rng.normal(size=4), rng.normal(size=4))
    X = np.linspace(-2, 2, 12)
    assert RKHS(f.k * g.k).interpolate(X, f(X) * g(X)).norm() <= f.norm() * g.norm()


# spaces of finite dimension


@pytest.mark.second_route("kernel_from_space", "another basis, and NumPy's inverse")
def test_kernel_from_space_by_two_bases():
    mu = gauss_legendre(0, 2, 20)
    b = [np.sin, np.cos, lambda x: x]
    G = [[mu.inner(p, q) for p in b] for q in b]
    k, x = kernel_from_space(b, G), np.linspace(0, 2, 6)
    mixed = [lambda x: np.sin(x) + x, lambda x: 2 * np.cos(x), lambda x: np.sin(x) - x]
    G_ = [[mu.inner(p, q) for p in mixed] for q in mixed]
    np.testing.assert_allclose(k(x), kernel_from_space(mixed, G_)(x), rtol=1e-8)
    for p in b:
        np.testing.assert_allclose([mu.inner(p, k([t], mu.points)[0]) for t in x], p(x), atol=1e-10)
    plane = kernel_from_space([lambda X: X[:, 0], lambda X: X[:, 1]], [[2.0, 1.0], [1.0, 2.0]])
    X = np.random.default_rng(0).normal(size=(4, 2))
    np.testing.assert_allclose(plane(X), X @ np.linalg.inv([[2, 1], [1, 2]]) @ X.T)


def test_a_space_has_no_unit():
    lines = [np.ones_like, lambda x: x]  # on [0, T]
    for T in (1e-60, 3e-8, 1.0, 1.7e9, 1e60):
        k = kernel_from_space(lines, [[T, T**2 / 2], [T**2 / 2, T**3 / 3]])
        np.testing.assert_allclose(T * k([0, T / 2, T]), [[4, 1, -2], [1, 1, 1], [-2, 1, 4]], 1e-9)
    k, x = kernel_from_space([np.sin, np.cos], [[1, 0], [0, 1e-16]]), np.linspace(0, 1, 4)
    np.testing.assert_allclose(k.diag(x), np.sin(x) ** 2 + 1e16 * np.cos(x) ** 2)


@pytest.mark.second_route("FiniteDimensionalRKHS", "the kernel's own inner product")
def test_coordinates():
    rng = np.random.default_rng(0)
    H = FiniteDimensionalRKHS([1.0, 0.5, 2.0], [np.sin, np.cos, lambda x: x])
    f, g = (H.function(rng.normal(size=4), rng.normal(size=4)) for _ in "fg")
    a, c = H.coordinates(f), H.coordinates(g)
    assert H.inner(a, c) == pytest.approx(f @ g) and H.norm(a) == pytest.approx(f.norm())
    x = rng.normal(size=5)
    np.testing.assert_allclose(H.combination(a)(x), f(x))
    assert H.inner(a, H.coordinates(H.section(0.3))) == pytest.approx(f([0.3])[0])
    assert H.coordinates(H.function([0.0, 1.0], np.eye(2))).shape == (3, 2)


# points of any kind


WORDS = ["kernel", "hilbert", "space", "riesz", "section"]
OF_WORDS = [
    SharedLetters(),
    SharedLetters().normalized(),
    SharedLetters() + 2 * SharedLetters(),
    SharedLetters() * SharedLetters(),
    SharedLetters().normalized() ** 2 + SharedLetters(),
]


@pytest.mark.parametrize("k", OF_WORDS, ids=str)
def test_functions_of_words(k):
    H, new = RKHS(k), ["gram", "bump", "tent"]
    f, g = (
        H.function(WORDS, [1.0, -1.0, 2.0, 0.5, 1.0]),
        H.section("banach") - 2 * H.section("space"),
    )
    K, Kg = k(WORDS), k(WORDS, ["banach", "space"])
    np.testing.assert_allclose(K, K.T)
    np.testing.assert_allclose(f(new), k(new, WORDS) @ f.alpha)
    assert f @ g == pytest.approx(f.alpha @ Kg @ [1, -2]) and f.norm() ** 2 == pytest.approx(
        f.alpha @ K @ f.alpha
    )
    np.testing.assert_allclose((f + g)(new), f(new) + g(new))
    assert (f + f).Z == f.Z and (f - f).norm() == 0 and "5 centres" in repr(f)
    twice = H.function(WORDS + WORDS, [*f.alpha, *f.alpha])
    assert len(twice.compress(0).Z) == 5 and twice.compress(1e-9).distance(2 * f) < 1e-6
    s = H.interpolate(WORDS, f(WORDS))
    np.testing.assert_allclose(s.alpha, f.alpha, atol=1e-9)
    left = H.leave_one_out(WORDS, f(WORDS))
    np.testing.assert_allclose(left, f.alpha / np.linalg.inv(K).diagonal(), rtol=1e-9)
    P = H.power_function(WORDS + WORDS[:2])
    assert len(P.X) == 5 and P(WORDS).max() < 1e-6 and P(["fox"])[0] > 0.1
    check_reproducing(f, new)
    check_projection(f, H.project(f, WORDS[:3]), WORDS[:3], new)
    again = pickle.loads(pickle.dumps(f))
    assert again.Z == f.Z and again(new).tolist() == f(new).tolist()
    with pytest.raises(TypeError, match="no words"):
        f([1.0, 2.0])


def test_sums_of_spaces_of_words():
    k1, k2 = SharedLetters(), SharedLetters().normalized()
    f = RKHS(k1 + k2).function(WORDS, [1.0, -1.0, 2.0, 0.5, 1.0])
    f1, f2 = least_norm_split(f, k1, k2)
    assert f1.norm() ** 2 + f2.norm() ** 2 == pytest.approx(f.norm() ** 2)
    assert sum_norm(f, k1, k2) == pytest.approx(f.norm())
    with pytest.raises(TypeError, match="pairs of arrays"):
        tensor_product(f, f)
    with pytest.raises(TypeError, match="f.Z is of type Objects"):
        f.plot()


# one look at the arguments


class Counted:
    "The square, and how often it was asked for how many points"

    def __init__(self):
        self.asked = []

    def __call__(self, x):
        self.asked.append(len(x))
        return x**2


def calls(act):
    "The sets of points for which the function of Gaussian().on(g) ran"
    g = Counted()
    H = RKHS(Gaussian(1.0).on(g))
    f, X = H.function([0.0, 1.0, 2.0], [1.0, -1.0, 0.5]), np.linspace(0, 3, 5)
    g.asked.clear()
    act(H, f, X)
    return sorted(g.asked)


def test_the_function_of_a_kernel_runs_once_for_each_set_of_points():
    y = np.arange(5.0)
    assert calls(lambda H, f, X: f(X)) == [5]
    assert calls(lambda H, f, X: f.norm()) == []
    assert calls(lambda H, f, X: H.function(X, y)) == [5]
    assert calls(lambda H, f, X: f @ H.function(X, y)) == [5]
    assert calls(lambda H, f, X: f + H.function(X, y)) == [5]
    assert calls(lambda H, f, X: H.interpolate(X, y)) == [5]
    assert calls(lambda H, f, X: H.leave_one_out(X, y)) == [5]
    assert calls(lambda H, f, X: H.project(f, X)) == [5]
    assert calls(lambda H, f, X: H.power_function(X)) == [5]
    assert calls(lambda H, f, X: f.compress(1e-3)) == []
    assert calls(lambda H, f, X: H.section(2.0)) == [1]
    assert calls(lambda H, f, X: check_projection(f, f, f.Z, X)) == [5]


def test_arguments_are_read_once(monkeypatch):
    from rkhs_notes.engines.kernels import forms

    read = []
    monkeypatch.setattr(
        forms,
        "as_points",
        lambda X, name="X", plain=forms.as_points: read.append(name) or plain(X, name),
    )
    H, X, y = RKHS(Gaussian(1.0)), np.linspace(0, 3, 5), np.arange(5.0)
    f = H.interpolate(X, y)
    assert read == ["X"]
    for act in (
        lambda: f(X),
        lambda: H.leave_one_out(X, y),
        lambda: H.project(f, X),
        lambda: H.power_function(X),
    ):
        read.clear()
        act()
        assert read == ["X"]


# what is left of a kernel


class MinusHalf(Kernel):
    def _gram(self, X, Y, xp):
        return -0.5 * Gaussian(1.0)._gram(X, Y, xp)


@pytest.mark.second_route("Conditioned", "NumPy's pseudo-inverse")
@pytest.mark.parametrize("noise", [0.0, 0.3, np.array([0.1, 0.0, 0.5, 2.0])])
@each_kernel
def test_conditioned(k, noise):
    rng = np.random.default_rng(0)
    X, T = rng.normal(size=(4, 2)), rng.normal(size=(9, 2))
    left = Conditioned(k, X, noise)
    inverse = np.linalg.pinv(k(X) + noise * np.eye(4), hermitian=True)
    dense = k(T) - k(T, X) @ inverse @ k(X, T)
    np.testing.assert_allclose(left(T), dense, atol=1e-9 * k.diag(T).max())
    np.testing.assert_allclose(
        left(T, X), k(T, X) - k(T, X) @ inverse @ k(X), atol=1e-9 * k.diag(T).max()
    )
    np.testing.assert_allclose(left.diag(T), dense.diagonal(), atol=1e-9 * k.diag(T).max())
    np.testing.assert_allclose(
        left.pairs(T[:4], T[4:8]), dense[:4, 4:8].diagonal(), atol=1e-9 * k.diag(T).max()
    )
    check_kernel(left, T)
    if not np.any(noise):
        np.testing.assert_array_equal(RKHS(k).power_function(X)(T), np.sqrt(left.diag(T)))
    assert left == Conditioned(k, X, noise) != Conditioned(k, X, noise + 1) and hash(left)
    again = pickle.loads(pickle.dumps(left))
    np.testing.assert_array_equal(again(T), left(T))
    assert (2 * left + k)(T).shape == (9, 9)


@pytest.mark.parametrize("noise", [0.0, 1e-6])
@pytest.mark.parametrize("n", [3, 5, 7, 8, 10, 12])
def test_what_is_left_near_known_points_is_a_kernel_with_fewer_digits(n, noise):
    known = np.linspace(0, 3, n)
    left = Conditioned(Gaussian(0.7), known, noise)
    for X in (np.linspace(0.03, 2.98, 9), np.linspace(-3, 6, 17)):
        assert check_kernel(left, X) > -1e-7

    class Longer(Conditioned):
        def _diag(self, X, xp):
            return super()._diag(X, xp) + 1e-6

    with pytest.raises(LawBroken, match="diag agrees"):
        check_kernel(Longer(Gaussian(0.7), known, noise), np.linspace(-3, 6, 17))
    T = [0.2, 2.8]  # the inverse of what is left is a block of the inverse of the whole
    if n < 8:
        inverse = np.linalg.inv(
            Gaussian(0.7)(np.r_[T, known]) + np.diag(np.r_[0, 0, 0 * known + noise])
        )
        cosine = inverse[0, 1] / np.sqrt(inverse[0, 0] * inverse[1, 1])
        assert check_kernel(left, T) == pytest.approx(1 - abs(cosine), abs=1e-6)


def test_one_term_without_digits_lets_no_other_pass():
    X = np.random.default_rng(0).normal(size=(15, 2))

    class Bad(Kernel):
        def _gram(self, X, Y, xp):
            return Gaussian(1.0)(X, Y) - 3e-4 * np.cos(40 * (X[:, :1] - Y[:, 0]))

    left = Conditioned(Gaussian(1.0), X)
    for k in (Bad(), Bad() + 1e-12 * left, Bad() + left):
        assert np.linalg.eigvalsh(k(X))[0] < -1e-4
        with pytest.raises(LawBroken, match="negative"):
            check_kernel(k, X)
        assert indefinite_witness(k, X) is not None
    for scale in (1e-9, 1e6):
        check_kernel(scale * Conditioned(Gaussian(0.7), np.linspace(0, 3, 8)), np.linspace(0, 3, 9))


def test_what_is_left_at_known_points_only_is_rounding():
    known = np.linspace(0, 3, 10)
    left = Conditioned(Gaussian(0.7), known)
    for law in (check_kernel, indefinite_witness):
        with pytest.raises(ValueError, match="no digits left.*fewer points"):
            law(left, known)
    check_kernel(Gaussian(0.7) + left, known)
    check_kernel(1e-9 * left, known + 0.15)


def test_conditioned_on_no_kernel_raises_and_never_clips():
    for noise in (0.0, 3.0):
        with pytest.raises(IndefiniteKernel, match=r"at point 0, k\(x, x\) is -0.5"):
            Conditioned(MinusHalf(), [0.0, 1.0], noise)
    with pytest.raises(IndefiniteKernel, match=r"at point 0, k\(x, x\) is -0.5"):
        RKHS(MinusHalf()).power_function([0.0, 1.0])

    class Lowered(Kernel):  # k(x, x) = 0.1 > 0
        def _gram(self, X, Y, xp):
            return Gaussian(1.0)._gram(X, Y, xp) - 0.9

    for noise in (0.0, 0.1):
        left = Conditioned(Lowered(), [0.0], noise)
        for value in (lambda left=left: left.diag([3.0]), lambda left=left: left([3.0])):
            with pytest.raises(IndefiniteKernel, match="is -"):
                value()
    with pytest.raises(ValueError, match="noise has shape"):
        Conditioned(Gaussian(1.0), [0.0, 1.0], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="noise"):
        Conditioned(Gaussian(1.0), [0.0, 1.0], -1.0)


# near misses: three times the tolerance


class Off(RKHSFunction):
    "Values that are off by a constant"

    by = 0.0

    def __call__(self, X):
        return super().__call__(X) + self.by


class Longer(RKHSFunction):
    "A norm that is off by a factor"

    factor = 1.0

    def norm(self):
        return super().norm() * self.factor


class Shorter(Longer):
    pass


class Away(RKHSFunction):
    "A value that is off at one place"

    by, at = 0.0, [[1e-9]]

    def __call__(self, X):
        return super().__call__(X) + self.by * (np.asarray(X)[:, 0] == 1e-9)


def reproducing_tolerance(f):
    "8 m eps^(3/4) Σ |alphaⱼ| √k(zⱼ, zⱼ), of a value over √k(x, x)"
    return (
        8 * len(f.Z) * np.finfo(float).eps ** 0.75 * np.sum(abs(f.alpha) * np.sqrt(f.k.diag(f.Z)))
    )


def test_check_reproducing_meets_near_misses():
    Z, alpha, T = [0.0, 1.0, 2.5], [1.0, -2.0, 0.5], np.linspace(-2, 3, 11)
    f = RKHSFunction(Gaussian(1.0), Z, alpha)
    tol, size = reproducing_tolerance(f), 3.5
    for times, refused in ((0.3, False), (3.0, True)):
        off, longer = Off(f.k, Z, alpha), Longer(f.k, Z, alpha)
        type(off).by, type(longer).factor = (
            times * tol,
            np.sqrt(1 + times * tol * size / f.norm() ** 2),
        )
        shorter, Shorter.factor = (
            Shorter(f.k, Z, alpha),
            np.sqrt(1 - times * tol * size / f.norm() ** 2),
        )
        for impostor, words in ((off, "⟨f, k_x⟩"), (longer, "⟨f, f⟩"), (shorter, "⟨f, f⟩")):
            if refused:
                with pytest.raises(LawBroken, match=words):
                    check_reproducing(impostor, T)
            else:
                check_reproducing(impostor, T)
    top = RKHSFunction(f.k, [0.0], [1.0])  # |f(0)| = ‖f‖ √k(0, 0)
    Off.by, Shorter.factor = 0.0, 1.0

    class Both(Longer):
        def inner(self, g):
            return super().inner(g) * (self.factor**2 if g is self else 1)

    short = Both(top.k, top.Z, top.alpha)
    Both.factor = 1 - 3 * reproducing_tolerance(top)
    with pytest.raises(LawBroken, match="√k"):
        check_reproducing(short, [0.0])
    Both.factor = 1 - 0.3 * reproducing_tolerance(top)
    check_reproducing(short, [0.0])


def test_sections_that_cancel_keep_the_laws():
    H = RKHS(Gaussian(1.0))
    for gap in 10.0 ** -np.arange(1, 13):
        f = H.section(0.0) - H.section(gap)
        check_reproducing(f, [1.0, 2.0])
        check_reproducing(f / gap, [1.0, 2.0])
        norm = np.sqrt(-2 * np.expm1(-(gap**2) / 2))
        assert abs(f.norm() - norm) < 2 * np.sqrt(np.finfo(float).eps)  # as its docstring says


@pytest.mark.parametrize("share", [1.0, 3e-3], ids=["far", "near"])  # near: ‖f − s‖ adds little
def test_check_projection_meets_near_misses(share):
    H, X, T = RKHS(Matern(1.5, 1.0)), np.array([-1.0, 0.0, 1.5]), np.linspace(-2, 2, 9)
    f = H.function([-0.5, 0.7, 2.0], [1.0, -1.0, 2.0])
    s = H.project(f, X)
    f = s + share * (f - s)  # of the same projection
    size, gap, eps = (
        np.abs(f.alpha).sum() + np.abs(s.alpha).sum(),
        f.distance(s),
        np.finfo(float).eps,
    )
    rounding, lost = 8 * (len(f.Z) + 3 + 3) * eps**0.75 * size, np.sqrt(4 * 3 * eps)  # k(x, x) = 1
    value, square = rounding + lost * gap, 4 * rounding * size + lost * gap * (size + gap)
    bound = value + np.sqrt(rounding * size) * lost
    away = f - s
    for times, refused in ((0.3, False), (3.0, True)):
        shifted, wrong = Off(s.k, s.Z, s.alpha), Longer(f.k, f.Z, f.alpha)
        Off.by, Longer.factor = times * value, np.sqrt(1 + times * square / f.norm() ** 2)
        shorter = Shorter(f.k, f.Z, f.alpha)
        Shorter.factor = np.sqrt(1 - times * square / f.norm() ** 2)
        longer = s + np.sqrt(times * square) / away.norm() * away  # ‖s‖² grows by times · square
        near = (
            (f, shifted, "s = f on X"),
            (wrong, s, "‖f‖²"),
            (shorter, s, "‖f‖²"),
            (f, longer, "least"),
        )
        for first, second, words in near:
            if refused:
                with pytest.raises(LawBroken, match=words):
                    check_projection(first, second, X, T)
            elif words == "‖f‖²":
                check_projection(first, second, X, T)
        Away.by = times * bound  # where the bound is 0 but for rounding: on the points themselves
        beyond = Away(s.k, s.Z, s.alpha)
        if refused:
            with pytest.raises(LawBroken, match=r"P ‖f − s‖"):
                check_projection(f, beyond, X, Away.at)
        else:
            check_projection(f, beyond, X, Away.at)
    Off.by, Longer.factor, Shorter.factor, Away.by = 0.0, 1.0, 1.0, 0.0


@pytest.mark.second_route("check_inclusion", "near misses refused")
def test_check_inclusion_meets_near_misses():
    k1, k2, X = Gaussian(1.0), Gaussian(0.5), 0.6 * np.arange(8)
    least = check_inclusion(k1, k2, 2.0, X)
    assert least == pytest.approx(np.linalg.eigvals(np.linalg.solve(k2(X), k1(X))).real.max())
    tol = 8 * 8 * np.finfo(float).eps ** 0.75
    assert check_inclusion(k1, k2, least * (1 - 0.3 * tol), X) == least
    with pytest.raises(LawBroken, match="ask for c ≥ 1"):
        check_inclusion(k1, k2, least * (1 - 3 * tol), X)
    with pytest.raises(
        NotPositiveDefinite, match=r"of k2 .* Pass fewer points, or points further apart"
    ):
        check_inclusion(k1, Linear(), 1.0, X)
    assert check_inclusion(k1, k1 + Linear(), 1.0, X) <= 1 + 1e-9


# theorems against dense algebra


def test_pull_back_is_the_shortest_preimage():
    k, u = Matern(1.5, 1.0), np.abs
    X = np.array([-1.0, 0.5, 2.0])
    g = RKHS(k.on(u)).function(X, [1.0, -2.0, 0.5])
    shortest = RKHS(k).function(u(X), g.alpha)
    assert g.norm() == pytest.approx(shortest.norm())
    other = (
        shortest
        + RKHS(k).section(-3.0)
        - RKHS(k).project(RKHS(k).section(-3.0), np.linspace(0, 4, 40))
    )
    assert other.norm() > shortest.norm()


@given(st.integers(0, 99))
def test_gaussian_space_by_power_series(seed):
    rng = np.random.default_rng(seed)
    a, sigma = rng.normal(size=3), rng.uniform(0.7, 1.5)
    X = sigma * np.linspace(-6, 6, 23)
    s = RKHS(Gaussian(sigma)).interpolate(
        X, (a[0] + a[1] * X + a[2] * X**2) * np.exp(-(X**2) / 2 / sigma**2)
    )
    exact = a[0] ** 2 + sigma**2 * a[1] ** 2 + 2 * sigma**4 * a[2] ** 2
    assert s.norm() ** 2 == pytest.approx(exact, rel=1e-4)


# what is refused

k, X, y = Gaussian(1.0), np.arange(8.0).reshape(4, 2), np.arange(4.0)
H = RKHS(k)
f = H.function(X, y)
BAD = {
    "tol": (lambda: f.compress(-1), ValueError, "tol = -1"),
    "tol nan": (lambda: f.compress(np.nan), ValueError, "tol"),
    "another space": (lambda: RKHS(Linear()).project(f, X), ValueError, "need one space"),
    "a callable": (lambda: H.project(np.sin, X), TypeError, "interpolate"),
    "repeated and equal": (
        lambda: H.interpolate(X[[0, 1, 0]], [1.0, 2.0, 1.0]),
        NotPositiveDefinite,
        "drop one",
    ),
    "repeated and different": (
        lambda: H.interpolate(X[[0, 1, 0]], [1.0, 2.0, 3.0]),
        NotPositiveDefinite,
        "points 0 and 2 of X are equal, but y is not",
    ),
    "repeated, left out": (
        lambda: H.leave_one_out(X[[0, 1, 0]], [1.0, 2.0, 3.0]),
        NotPositiveDefinite,
        "points 0 and 2",
    ),
    "one point left out": (lambda: H.leave_one_out(X[:1], y[:1]), ValueError, "leaves none"),
    "targets": (lambda: H.interpolate(X, y[:3]), ValueError, "X has 4 points"),
    "no feature": (lambda: RKHS(Brownian()).power_function([0.0]), ValueError, "zero function"),
    "indefinite": (lambda: RKHS(Sigmoid(1.0, -1.0)), ValueError, "not positive semidefinite"),
    "power of nan": (lambda: H.power_function(X)(X * np.nan), ValueError, "not finite"),
    "distance to a number": (lambda: f.distance(3), TypeError, "not an RKHSFunction"),
    "split of another, one centre": (
        lambda: least_norm_split(RKHS(k + Brownian()).section(0.5), Gaussian(3.0), Brownian()),
        ValueError,
        "another kernel",
    ),
    "split of another, one centre at 0": (
        lambda: least_norm_split(RKHS(Gaussian(1.0)).section(0.0), Gaussian(2.0)),
        ValueError,
        "another kernel",
    ),
    "noise below rounding": (
        lambda: Conditioned(k, [0.0, 0.0], 1e-18),
        ValueError,
        "Try a larger noise",
    ),
    "f[True]": (lambda: H.function(X, X)[True], TypeError, "whole number"),
    "f[1.0]": (lambda: H.function(X, X)[1.0], TypeError, "whole number"),
    "f[0:1]": (lambda: H.function(X, X)[0:1], TypeError, "whole number"),
    "f[mask]": (lambda: H.function(X, X)[np.array([True, False])], TypeError, "whole number"),
    "other variables": (lambda: f + H.section(1.0), ValueError, "on 1 columns, not in .* on 2;"),
    "other variables, inner": (
        lambda: f @ H.section(1.0),
        ValueError,
        "on 1 columns, not in .* on 2;",
    ),
    "other variables, power": (lambda: H.power_function(X)([1.0]), ValueError, "x has shape"),
    "other variables, project": (lambda: H.project(f, [1.0]), ValueError, "X has shape"),
    "other variables, check": (
        lambda: check_projection(f, f, X, [1.0]),
        ValueError,
        "at has shape",
    ),
    "check of a number": (lambda: check_reproducing(3, X), TypeError, "RKHSFunction"),
    "check of a callable": (
        lambda: check_projection(np.sin, f, X, X),
        TypeError,
        "f is of type ufunc",
    ),
    "sum of a number": (lambda: sum_norm(3, k, k, X=[1.0]), TypeError, "not an RKHSFunction"),
    "no functions": (lambda: kernel_from_space(None, [[1.0]]), TypeError, "list of one or more"),
    "norm of f": (
        lambda: FiniteDimensionalRKHS([1.0], [np.sin]).norm(f),
        TypeError,
        "coordinates",
    ),
    "limits of text": (lambda: RKHS(k).section(0.0).plot("a", "b"), TypeError, "a limit of plot"),
    "infinite limit": (lambda: RKHS(k).section(0.0).plot(0, np.inf), ValueError, "a limit of plot"),
    "multiple overflows": (lambda: (f * 1e308) * 1e308, ValueError, "overflow"),
    "inner product overflows": (lambda: (1e200 * f) @ (1e200 * f), ValueError, "overflows"),
    "check out of range": (
        lambda: check_reproducing(1e200 * f, X),
        ValueError,
        "larger squares overflow",
    ),
    "triple": (lambda: H.section((1.0, [2.0], 3.0)), TypeError, "pairs are the points"),
    "gram skew and large": (
        lambda: kernel_from_space([np.sin, np.cos], [[1e20, 1], [0, 1]]),
        ValueError,
        "differs from its transpose",
    ),
    "gram of zeros": (lambda: kernel_from_space([np.sin], [[0.0]]), ValueError, "eigenvalue 0"),
    "split of another": (lambda: least_norm_split(f, k, k), ValueError, "another kernel"),
    "split of nothing": (lambda: least_norm_split(f), ValueError, "no kernel"),
    "split of an array": (lambda: least_norm_split(y, k), TypeError, "RKHSFunction"),
    "sum without points": (lambda: sum_norm(np.sin, k, k), TypeError, "and X"),
    "sum out of reach": (
        lambda: sum_norm(np.exp, Linear(), Constant(1.0), X=y),
        ValueError,
        "no function",
    ),
    "tensor of columns": (lambda: tensor_product(H.function(X, X), f), ValueError, "one at a time"),
    "weights": (lambda: FiniteDimensionalRKHS([1.0, 0.0], [np.sin, np.cos]), ValueError, "> 0"),
    "weights below 0": (
        lambda: FiniteDimensionalRKHS([1.0, -1.0], [np.sin, np.cos]),
        ValueError,
        "> 0",
    ),
    "coordinates": (
        lambda: FiniteDimensionalRKHS([1.0], [np.sin]).norm([1.0, 2.0]),
        ValueError,
        "1 coordinates",
    ),
    "coordinates of another": (
        lambda: FiniteDimensionalRKHS([1.0], [np.sin]).coordinates(f),
        ValueError,
        "not in",
    ),
    "gram shape": (lambda: kernel_from_space([np.sin], np.eye(2)), ValueError, "functions has 1"),
    "gram skew": (
        lambda: kernel_from_space([np.sin, np.cos], [[1, 1], [0, 1]]),
        ValueError,
        "transpose",
    ),
    "gram singular": (
        lambda: kernel_from_space([np.sin, np.cos], np.ones((2, 2))),
        ValueError,
        "linearly dependent",
    ),
    "gram negative": (
        lambda: kernel_from_space([np.sin], [[-1.0]]),
        ValueError,
        "No inner product",
    ),
    "pictures": (lambda: f.plot(0, 1), ValueError, "limits"),
    "turned limits": (lambda: RKHS(k).section(0.0).plot(2, 1), ValueError, "a < b"),
    "check of several": (
        lambda: check_projection(H.function(X, X), f, X, X),
        ValueError,
        "one at a time",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case):
    call, error, words = BAD[case]
    with pytest.raises(error, match=words):
        call()
