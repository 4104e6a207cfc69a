"""The whole zoo and the whole algebra against every law; what is combined, printed, tuned and simplified."""

import copy
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import tracemalloc
import warnings
from fractions import Fraction
from math import comb, factorial

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rkhs_notes import settings
from rkhs_notes.apps.estimators import KernelRidge
from rkhs_notes.base.blocks import in_parallel, n_threads
from rkhs_notes.base.errors import IndefiniteKernel, LawBroken
from rkhs_notes.deeper.metrics import align
from rkhs_notes.deeper.structured import SetKernel, Spectrum
from rkhs_notes.deeper.zoo import (
    Bilinear,
    Cauchy,
    Delta,
    FiniteRank,
    Integral,
    Laplace,
    Mahalanobis,
    Matern,
    Periodic,
    Precomputed,
    Rank1,
    RationalQuadratic,
    Sobolev,
    SobolevFull,
)
from rkhs_notes.engines.functions.measures import gauss_legendre
from rkhs_notes.engines.kernels.composites import Anova, Conjugate, Tensor
from rkhs_notes.engines.kernels.gram import as_kernel
from rkhs_notes.engines.kernels.laws import check_gradient
from rkhs_notes.engines.solving.ridge_fits import ridge
from rkhs_notes.kernels import (
    Brownian,
    Constant,
    Gaussian,
    Kernel,
    Linear,
    Polynomial,
    Product,
    Sigmoid,
    Sum,
    check_kernel,
    indefinite_witness,
    is_psd,
    median_bandwidth,
)
from rkhs_notes.rkhs import RKHSFunction
from shared import Letters


def first(X):
    return X if X.ndim == 1 else X[:, 0]


def wave(X):
    return np.cos(X if X.ndim == 1 else X.sum(axis=1))


def doubled(X):
    return 2 * X


def below(x, z):
    return np.maximum(x - z, 0)


widths = st.floats(0.05, 50)


def weights(most):
    "0, or what leaves the squares of features above the smallest floats"
    return st.one_of(st.just(0.0), st.floats(1e-9, most))


stationary = st.one_of(
    st.builds(Gaussian, widths),
    st.builds(Laplace, widths),
    st.builds(Cauchy, widths),
    st.builds(Matern, st.sampled_from([0.5, 0.7, 1, 1.5, 2, 2.5, 4.2, 20]), widths),
    st.builds(RationalQuadratic, st.floats(0.1, 20), widths),
    st.builds(Periodic, st.floats(0.1, 10), st.floats(0.2, 10)),
    st.just(Delta()),
)
others = st.one_of(
    st.just(Linear()),
    st.builds(Polynomial, st.integers(1, 3), weights(3), st.floats(0.1, 3)),
    st.builds(Constant, weights(5)),
    st.just(Rank1(wave)),
    st.just(Rank1(first)),
    st.builds(FiniteRank, st.tuples(weights(3), weights(3)), st.just((wave, first))),
)
leaves = st.one_of(stationary, others)


def composites(part):
    return st.one_of(
        st.builds(lambda a, b: a + b, part, part),
        st.builds(lambda a, b: a * b, part, part),
        st.builds(lambda c, k: c * k, weights(10), part),
        st.builds(lambda k: k**2, part),
        st.builds(Kernel.normalized, part),
        st.builds(Kernel.gaussian_of, part, st.floats(0.2, 20)),
        st.builds(Conjugate, part, st.just(wave)),
        st.builds(lambda k: k.on(0), part),
        st.builds(lambda k: k.on(doubled), part),
        st.builds(lambda k: (0.5 * k).exp(), stationary),
        st.builds(Anova, stationary, st.integers(1, 3), st.just(True)),
    )


kernels = st.recursive(leaves, composites, max_leaves=4)


@st.composite
def points(draw, max_n=10, scales=(1e-6, 1e-3, 1.0, 1e3, 1e6)):
    "1 to 10 points in up to three dimensions, at a scale from 1e-6 to 1e6, with repeated rows"
    n, d = draw(st.integers(1, max_n)), draw(st.integers(1, 3))
    X = draw(arrays(float, (n, d), elements=st.floats(-3, 3).map(lambda x: round(x, 3))))
    X = X * draw(st.sampled_from(scales))
    return (
        X[draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n))]
        if draw(st.booleans())
        else X
    )


def is_pasteable(k):
    return not any(word in repr(k) for word in ("wave", "first", "doubled"))


# laws


@given(leaves, points())
def test_every_leaf_obeys_every_law(k, X):
    check_kernel(k, X)


@given(kernels, points(scales=(1e-3, 1.0, 30.0)))
def test_every_rule_of_the_algebra_preserves_the_law(k, X):
    check_kernel(k, X)


half_line = [
    Brownian(),
    Brownian(-2),
    Sobolev(1),
    Sobolev(2),
    Sobolev(3),
    SobolevFull(1),
    SobolevFull(3),
    Integral(below, gauss_legendre(0, 3, 20)),
    2 * Sobolev(2) + Brownian() * Gaussian(1),
]


@given(
    st.sampled_from(half_line),
    arrays(float, st.integers(1, 10), elements=st.floats(0, 3)),
    st.sampled_from([1e-3, 1.0, 1e3]),
)
def test_kernels_of_the_half_line(k, x, scale):
    check_kernel(k, scale * x)


@given(points(scales=(1e-3, 1.0, 1e3)), st.integers(0, 99))
def test_kernels_that_fix_the_dimension(X, seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(X.shape[1], 2))
    check_kernel(Bilinear(A @ A.T), X)
    check_kernel(Mahalanobis(np.exp(rng.normal(size=X.shape[1]))), X)
    check_kernel(Tensor(Gaussian(1), Linear(), split=1), np.hstack([X, X]))
    check_kernel(Anova(Linear(), X.shape[1]), X)


@given(leaves, points(scales=(1.0,)), st.sampled_from([1e-6, 1e6]))
def test_an_offset_is_exact(k, X, scale):
    "points k/8 apart near 1e8 are exact, so that a shift-invariant kernel must not move at all"
    if k.is_shift_invariant and not isinstance(k, Periodic):
        X = np.round(8 * X) / 8
        np.testing.assert_allclose(k(X + 2.0**27), k(X), atol=1e-8)
        np.testing.assert_allclose(
            k.pairs(X + 2.0**27, X[::-1] + 2.0**27), k.pairs(X, X[::-1]), atol=1e-8
        )


# one value, many forms


@given(kernels)
def test_an_expression_is_a_value(k):
    if is_pasteable(k):
        assert eval(repr(k)) == k and hash(eval(repr(k))) == hash(k)
    assert pickle.loads(pickle.dumps(k)) == k == copy.deepcopy(k)
    assert k.with_params(**k.get_params()) == k


@given(kernels, points(scales=(1.0,)))
def test_simplify_changes_the_form_only(k, X):
    K, simple = k(X), k.simplify()
    np.testing.assert_allclose(simple(X), K, rtol=1e-9, atol=1e-9 * max(1e-300, np.abs(K).max()))
    assert simple.simplify() == simple


def test_gradients_do_not_need_the_square_of_the_data():
    X, Y = np.random.default_rng(0).normal(size=(3000, 2)), np.zeros((10, 2))
    G = np.ones((3000, 10))
    assert peak_mib(lambda: Polynomial(2).normalized()._vjp(X, Y, G)) < 16 < 3000**2 * 8 / 2**20


@given(kernels, points(scales=(1.0,)), points(scales=(1.0,)))
def test_gradients_are_those_of_central_differences(k, X, Y):
    Y = np.resize(Y, (len(Y), X.shape[1]))
    G = np.cos(np.arange(len(X) * len(Y))).reshape(len(X), -1)
    K = k(X, Y)
    for name, slope in k._vjp(X, Y, G).items():
        value = np.atleast_1d(k.get_params()[name]).astype(float)
        for i, v in enumerate(value):
            if v < 0.05:
                continue  # too close to the end of its range for a difference on both sides
            shape, unit = np.shape(k.get_params()[name]), np.eye(len(value))[i]

            def total(x, name=name, value=value, shape=shape, unit=unit):
                changed = (value + (x - value @ unit) * unit).reshape(shape)
                return np.sum(G * k.with_params(**{name: changed})(X, Y))

            h = 1e-4 * v  # two steps, extrapolated: the error is of order h⁴
            wide, narrow = ((total(v + s) - total(v - s)) / (2 * s) for s in (h, h / 2))
            size = np.sum(np.abs(K)) / v + abs(np.atleast_1d(slope)[i])
            assert abs((4 * narrow - wide) / 3 - np.atleast_1d(slope)[i]) <= 2e-5 * size + 1e-9


@pytest.mark.parametrize("scale, offset", [(0.5, 0.3), (2.0, 1.0)])
def test_gradients_are_those_of_central_differences_for_tanh(scale, offset):
    "Which is no kernel, but has a formula as they have"
    X, Y, k = np.linspace(-1, 1, 5)[:, None], np.linspace(0, 2, 4)[:, None], Sigmoid(scale, offset)
    G, h = np.cos(np.arange(20.0)).reshape(5, 4), 1e-5
    for name, slope in k._vjp(X, Y, G).items():
        up, down = (
            np.sum(G * k.with_params(**{name: k.get_params()[name] + s})(X, Y)) for s in (h, -h)
        )
        assert slope == pytest.approx((up - down) / (2 * h), rel=1e-8)


def test_gradients_in_matrices():
    rng = np.random.default_rng(0)
    X, Y, A = rng.normal(size=(5, 3)), rng.normal(size=(4, 3)), np.eye(3) + 0.1
    G, E = rng.normal(size=(5, 4)), rng.normal(size=(3, 3)) * 1e-6
    slope = Bilinear(A)._vjp(X, Y, G)["A"]
    change = np.sum(G * (Bilinear(A + E + E.T)(X, Y) - Bilinear(A)(X, Y)))
    np.testing.assert_allclose(np.sum(slope * (E + E.T)), change, rtol=1e-6)
    K, i, j = Precomputed(A), [0.0, 2.0], [1.0, 1.0, 0.0]
    slope = K._vjp(K._points(i, "i"), K._points(j, "j"), G[:2, :3])["K"]
    np.testing.assert_allclose(np.sum(slope * A), np.sum(G[:2, :3] * K(i, j)))
    scales = np.array([1.0, 2.0, 0.5])
    slope = Mahalanobis(scales)._vjp(X, Y, G)["scales"]
    for i in range(3):
        h = 1e-6 * np.eye(3)[i]
        difference = (Mahalanobis(scales + h)(X, Y) - Mahalanobis(scales - h)(X, Y)) / 2e-6
        np.testing.assert_allclose(slope[i], np.sum(G * difference), rtol=1e-6)


@given(kernels, points(scales=(1e-2, 1.0)))
def test_float32_is_honoured(k, X):
    narrow = X.astype(np.float32)
    try:
        K = k(narrow.astype(float))
    except ValueError:
        return
    assert k(narrow).dtype == k.diag(narrow).dtype == k.pairs(narrow, narrow).dtype == np.float32
    size = np.sqrt(np.outer(K.diagonal(), K.diagonal())) + 1e-3
    if "normalized" not in repr(k) and "Delta" not in repr(k) and "Periodic" not in repr(k):
        assert np.abs((k(narrow) - K) / size).max() < 2e-3


# tiles and threads


@given(kernels, points(max_n=30, scales=(1.0,)), st.sampled_from([1e-6, 1e-3, 1e-2]))
def test_tiles_change_nothing(k, X, block_mib):
    whole = k(X), k(X, X[::-1]), k.distance(X), k.pairs(X, X[::-1])
    with settings.using(block_mib=block_mib):
        parts = k(X), k(X, X[::-1]), k.distance(X), k.pairs(X, X[::-1])
    for a, b in zip(whole, parts, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9 * np.abs(a).max() + 1e-7)
    assert (parts[0] == parts[0].T).all() and (parts[2].diagonal() == 0).all()


@pytest.mark.parametrize("d", [5, 100])
def test_one_thread_or_several_give_equal_values(d, monkeypatch):
    X, seen = np.random.default_rng(d).normal(size=(900, d)), []
    monkeypatch.setattr(
        "rkhs_notes.base.blocks.in_parallel", lambda *a: seen.append(1) or in_parallel(*a)
    )
    values = []
    for each in (0.0, 1000.0):
        monkeypatch.setattr(Gaussian, "_nanoseconds", lambda k, d, each=each: each)
        values.append(
            (Gaussian()(X), Gaussian()(X, X[::-1]), RKHSFunction(Gaussian(), X, np.ones(900))(X))
        )
        assert bool(seen) == (each > 0)
    for alone, together in zip(*values, strict=True):
        np.testing.assert_array_equal(alone, together)


@pytest.mark.parametrize("d", [1, 2, 3, 20, 100])
@pytest.mark.parametrize("n, m", [(1500, 1100), (1100, 1500), (1, 3000), (3000, 1)])
def test_large_matrices_agree_with_the_formula(n, m, d):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(n, d)), rng.normal(size=(m, d))
    rows, columns = rng.integers(n, size=200), rng.integers(m, size=200)
    direct = np.exp(-((X[rows] - Y[columns]) ** 2).sum(axis=1) / 2)
    np.testing.assert_allclose(Gaussian()(X, Y)[rows, columns], direct, rtol=1e-10)
    with settings.using(block_mib=1):  # rows and columns in several parts
        np.testing.assert_allclose(Gaussian()(X, Y)[rows, columns], direct, rtol=1e-10)
    far = Gaussian(d**0.5)(X + 1e4, Y + 1e4)[rows, columns]
    np.testing.assert_allclose(far, direct ** (1 / d), rtol=1e-9)
    if n == 1500:
        K = Gaussian()(X)
        other = rng.integers(n, size=200)
        direct = np.exp(-((X[rows] - X[other]) ** 2).sum(axis=1) / 2)
        np.testing.assert_allclose(K[rows, other], direct, rtol=1e-10)
        assert (K == K.T).all() and (K.diagonal() == 1).all()


def test_two_threads_at_once_and_a_loop_inside_a_loop():
    X = np.random.default_rng(0).normal(size=(900, 5))
    expected, results, before = Gaussian()(X), [None] * 6, n_threads()

    def work(i):
        results[i] = Gaussian()(X)

    workers = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    in_parallel(work, [4, 5])
    for K in results:
        np.testing.assert_allclose(K, expected, rtol=1e-12)
    assert n_threads() == before


THREADS_ARE_GIVEN_BACK = """
import numpy as np
from rkhs_notes.arrays import n_threads, one_blas_thread
from rkhs_notes.kernels import Gaussian
assert n_threads() == 2
seen = []
Gaussian(1).each_tile(np.zeros((3000, 3)), np.zeros((3000, 3)), lambda r, c, block: seen.append(n_threads()))
assert set(seen) == {1} and n_threads() == 2
with one_blas_thread(), one_blas_thread():
    assert n_threads() == 1
assert n_threads() == 2
"""


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs two cores")
def test_blas_gets_its_threads_back():
    environment = dict(
        os.environ, OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="2", MKL_NUM_THREADS="2"
    )
    subprocess.run([sys.executable, "-c", THREADS_ARE_GIVEN_BACK], env=environment, check=True)


def gram_in_a_child(queue):
    queue.put(float(Gaussian()(np.arange(900.0)).sum()))


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="no fork on this system"
)
def test_a_forked_process_can_compute():
    expected = float(Gaussian()(np.arange(900.0)).sum())
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=gram_in_a_child, args=(queue,))
    child.start()
    assert queue.get(timeout=60) == expected
    child.join(timeout=60)


@pytest.mark.parametrize(
    "k",
    [
        2 * (3 * (Linear() + Gaussian(1))),
        1e-200 * (1e-200 * Linear()),
        1e200 * (1e200 * (1e-300 * Gaussian(1))),
        (1e-200 * Linear()) ** 2,
        2 * (Constant(3) * (Linear() + Gaussian(1))),
        Gaussian(1) * Delta(),
    ],
)
def test_simplify_at_the_ends_of_the_range(k):
    for unit in (1.0, 1e150):  # where a weight of 1e-400 in all is no 0
        X = unit * np.array([[0.0, 1.0], [2.0, 1.0]])
        np.testing.assert_allclose(k.simplify()(X), k(X), rtol=1e-12)


@pytest.mark.parametrize(
    "k, simple",
    [
        (Gaussian(2) * Gaussian(3), Gaussian),
        (Gaussian(2) ** 5, Gaussian),
        (Laplace(2) * Laplace(3), Laplace),
        (Laplace(2) ** 3, Laplace),
        (Mahalanobis([1.0, 2.0]) * Mahalanobis([3.0, 0.5]), Mahalanobis),
        (Mahalanobis([1.0, 2.0]) ** 3, Mahalanobis),
        (Linear() ** 3, Polynomial),
        (Polynomial(2, 0.5, 2) ** 2, Polynomial),
        ((3 * Linear()).gaussian_of(2), Gaussian),
        (Delta() * Gaussian(1), Delta),
        (Constant(2) ** 3, Constant),
        ((2 * Gaussian(1)).normalized(), Gaussian),
        (Constant(2).exp(), Constant),
    ],
)
def test_simplify_finds_the_one_kernel(k, simple):
    X = np.random.default_rng(0).normal(size=(9, 2))
    assert type(k.simplify()) is simple
    np.testing.assert_allclose(k.simplify()(X), k(X), rtol=1e-10)


@pytest.mark.parametrize(
    "k, X",
    [
        (Delta() * Linear().normalized(), [0.0, 1.0]),
        (Delta() * Spectrum(3).normalized(), ["ab", "abc"]),
        (Linear().normalized().normalized(), [0.0, -2.0]),
    ],
    ids=str,
)
def test_simplify_where_a_feature_is_0(k, X):
    np.testing.assert_array_equal(k.simplify()(X), k(X))


@pytest.mark.parametrize("kind", [Sum, Product])
def test_a_term_that_is_added_takes_no_name_of_another(kind):
    join = {Sum: lambda a, b: a + b, Product: lambda a, b: a * b}[kind]
    for named in (kind(k2=Gaussian(1.0)), kind(k1=Gaussian(1.0), k3=Linear())):
        with pytest.raises(ValueError, match=r"two terms are named 'k[23]'"):
            join(named, Linear())
    assert join(kind(k1=Gaussian(1.0)), Linear()).names == ("k1", "k2")


@pytest.mark.second_route("Sobolev", "SobolevFull", "quadrature")
@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_sobolev_is_its_integral(order):
    "by Gauss rules on [0, min(x, y)], where the integrand is a polynomial"
    for x, y in ((0.3, 2.0), (1.5, 1.5), (4.0, 0.7)):

        def product(z, x=x, y=y):
            return ((x - z) * (y - z)) ** (order - 1) / factorial(order - 1) ** 2

        integral = gauss_legendre(0, min(x, y), 2 * order).integrate(product)
        np.testing.assert_allclose(Sobolev(order)([x], [y]), integral, rtol=1e-12)
        taylor = sum((x * y) ** j / factorial(j) ** 2 for j in range(order))
        np.testing.assert_allclose(SobolevFull(order)([x], [y]), integral + taylor, rtol=1e-12)


def test_pairs_are_pairs_in_every_composition():
    x, u = np.array([0.0, 1.0, 3.0, 4.0]), np.array([2.0, 0.0, 0.0, 1.0])
    t, K = (
        Tensor(Gaussian(1), Linear()),
        Gaussian(1)(np.array([0.0, 1.0, 3.0, 4.0])) * np.outer(u, u),
    )
    both = np.stack([x, u], axis=1)
    np.testing.assert_allclose(t((x, u)), K)
    for k in (t + Gaussian(1), Gaussian(1) + t):
        np.testing.assert_allclose(k((x, u)), K + Gaussian(1)(both))
    np.testing.assert_allclose(t.on([0, 1])((x, u)), K)
    np.testing.assert_allclose(t.normalized()((x, u)), t.normalized()(both))


@pytest.mark.parametrize(
    "k",
    [
        Linear() + Linear(),
        Linear() * 1 + Constant(1),
        Bilinear(np.eye(3)),
        Polynomial(1),
        FiniteRank([1.0, 1.0, 1.0], [first, lambda X: X[:, 1], lambda X: X[:, 2]]),
    ],
)
def test_the_metric_keeps_its_digits_far_away(k):
    X = np.random.default_rng(0).integers(-9, 9, size=(20, 3)) / 8
    np.testing.assert_allclose(k.gaussian_of(1)(X + 2.0**27), k.gaussian_of(1)(X), atol=1e-8)
    near = Laplace(1).distance([[0.0]], [[1e-18]]), Periodic(1).distance([[0.0]], [[1e-12]])
    np.testing.assert_allclose(near[0], np.sqrt(2e-18))
    np.testing.assert_allclose(near[1], 2 * np.pi * 1e-12)


def test_arrays_of_a_kernel_are_its_own():
    A = np.eye(2)
    view = A.view()
    view.flags.writeable = False
    k = Bilinear(view)
    A[0, 0] = -100
    assert k([[1.0, 0.0]]) == 1 and Bilinear([[0.0, 0.0], [-0.0, 1]]) == Bilinear(
        [[0.0, 0.0], [0.0, 1]]
    )
    for other in (pickle.loads(pickle.dumps(k)), copy.deepcopy(k)):
        with pytest.raises(ValueError, match="read-only"):
            other.A[0, 0] = 3
    wide = Mahalanobis(np.arange(1, 100) / 7)
    assert eval(repr(wide)) == wide and len(str(wide)) < 300


def test_print_shows_six_digits_and_repr_all():
    k = 0.1 * Gaussian(0.1 + 0.2) + Gaussian(1 / 7e9) ** 2
    assert str(k) == "0.1 * Gaussian(bandwidth=0.3) + Gaussian(bandwidth=1.42857e-10) ** 2"
    assert eval(repr(k)) == k and str(Gaussian(0.015625)) == repr(Gaussian(0.015625))
    third = Gaussian(1 / 3)
    assert (
        f"{third}" == "Gaussian(bandwidth=0.333333)"
        and f"{third!r}" == f"Gaussian(bandwidth={1 / 3!r})"
    )


def writes(X):
    X -= 1
    return X[:, 0]


def test_functions_cannot_change_the_data():
    X = np.ones((4, 2))
    for k in (Rank1(writes), Gaussian(1).on(writes), Gaussian(1).conjugate(writes)):
        with pytest.raises(ValueError, match="read-only"):
            k(X)
    assert (X == 1).all()


def peak_mib(work):
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize(
    "k, d",
    [
        (Gaussian(2), 30),
        (Gaussian(2) * Matern(1.5) + Linear(), 30),
        (Anova(Gaussian(2), 3), 30),
        (Gaussian(2).normalized().gaussian_of(1), 30),
        (Gaussian(40), 1000),
    ],
)
def test_temporaries_stay_within_the_budget(k, d):
    X = np.random.default_rng(0).normal(1, 1, size=(2500, d))
    result = 2500**2 * 8 / 2**20
    with settings.using(block_mib=8):
        assert peak_mib(lambda: k(X)) < result + 3 * 8
        if d > 30:
            assert peak_mib(lambda: k(X, X + 1)) < result + 3 * 8 + X.nbytes / 2**20
        row_sums = np.zeros(2500)

        def add(rows, columns, block):
            row_sums[rows] += block.sum(axis=1)

        assert peak_mib(lambda: k.each_tile(X, X, add)) < 3 * 8
    np.testing.assert_allclose(row_sums, k(X).sum(axis=1))


def test_the_data_stay_as_they_were():
    X = np.random.default_rng(0).uniform(0.1, 1, size=(40, 1))
    before = X.copy()
    for k in (
        Gaussian(1),
        Laplace(1),
        Cauchy(1),
        Periodic(2),
        Matern(2.5),
        Sobolev(2),
        Linear().on(first),
        Gaussian(1).on(first),
        Gaussian(1).conjugate(first),
        Rank1(first),
        Polynomial(3).normalized(),
        Delta(),
    ):
        k(X), k.diag(X), k.pairs(X, X), k.distance(X), k(X, X)
        np.testing.assert_array_equal(X, before)
    X.flags.writeable = False
    Gaussian(1)(X), Cauchy(1)(X), Rank1(first)(X)


def test_use_changes_nothing_that_is_pickled_or_hashed():
    X = np.random.default_rng(0).uniform(0.1, 1, size=(12, 1))
    shared = Gaussian(1)
    for make in (
        lambda: Gaussian(1),
        lambda: Polynomial(3).normalized(),
        lambda: Linear().on(first),
        lambda: Laplace(1) + 2 * shared * Matern(2.5),
        lambda: Shifted(),
    ):
        k, fresh = make(), joblib.hash(make())
        assert joblib.hash(k) == fresh
        k(X), k.diag(X), k.distance(X), repr(k), k == shared, (k + k) * k
        if not isinstance(k, Shifted):
            KernelRidge(k, lam=0.1).fit(X, X[:, 0])
        assert joblib.hash(k) == fresh
        assert pickle.loads(pickle.dumps(k)) == k


# what is no kernel


class Shifted(Kernel):
    "exp(−r²/2) − 0.5, which has negative eigenvalues but a positive diagonal"

    def _gram(self, X, Y, xp):
        return Gaussian(1)._gram(X, Y, xp) - 0.5


class GaussianWithAnotherFormula(Gaussian):
    def _gram(self, X, Y, xp):
        return 2 * super()._gram(X, Y, xp)


@pytest.mark.parametrize("d", [2, 100])
def test_a_new_formula_is_used_in_tiles_too(d):
    X = np.random.default_rng(0).normal(size=(1200, d)) / d
    k = GaussianWithAnotherFormula(1)
    np.testing.assert_allclose(k(X, X[:1100]), 2 * Gaussian(1)(X, X[:1100]))
    check_kernel(k, X[:10])  # diag, pairs and distance follow the new formula
    for composite in (k * Gaussian(1), Gaussian(1) * k, k**2, k.normalized(), Delta() * k):
        np.testing.assert_allclose(composite.simplify()(X[:10]), composite(X[:10]))
    with pytest.raises(NotImplementedError, match="_vjp"):
        k._vjp(X, X, X)


LEAVES = [Constant(2), Linear(), Polynomial(2), Gaussian(1), Mahalanobis([1.0, 2.0]), Laplace(1)]
RULED = [
    *(k**2 for k in LEAVES), 2 * (3 * Gaussian(1)), Constant(2).exp(), Gaussian(1) + Gaussian(1),
    Gaussian(1).on([1]).on([1, 0]), (2 * Gaussian(1)).normalized(), (2 * Linear()).gaussian_of(),
]  # fmt: skip


@pytest.mark.parametrize("k", [*RULED, *LEAVES], ids=str)
def test_what_reads_points_in_its_own_way_is_simplified_to_what_reads_them_so(k):
    "A rule that merges kernels of points does not know of the squares"

    class OfSquares(type(k)):
        def _points(self, X, name):
            return super()._points(X**2, name)

    X, own = np.random.default_rng(0).normal(size=(9, 2)), OfSquares._of(**vars(k))
    assert k in LEAVES or k.simplify() != k
    K, G = k(X**2), Gaussian(1)  # which reads points as the other part of a product does
    for same, values in (own, K), (own**2, K**2), (own * own, K**2), (own * G, K * G(X**2)):
        np.testing.assert_allclose(same.simplify()(X), values, rtol=1e-9, atol=1e-12)


MUTANTS = {
    "sum that subtracts": (
        Gaussian(1) + Gaussian(2),
        "_operation",
        staticmethod(lambda A, B: A - B),
    ),
    "product with a difference": (
        Gaussian(1) * Gaussian(2),
        "_operation",
        staticmethod(lambda A, B: A * (B - 0.95)),
    ),
    "power with a fraction": (Polynomial(1) ** 2, "of_value", lambda self, K, xp: np.abs(K) ** 1.5),
    "negative scaling": (2 * Gaussian(1), "of_value", lambda self, K, xp: -K),
    "exp of the negative": (Gaussian(1).exp(), "of_value", lambda self, K, xp: np.exp(-K)),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_the_law_refuses_broken_closure_rules(name, monkeypatch):
    k, method, wrong = MUTANTS[name]
    X = np.linspace(-3, 3, 30)
    check_kernel(k, X)
    monkeypatch.setattr(type(k), method, wrong)
    with pytest.raises(LawBroken):
        check_kernel(k, X)


@pytest.mark.second_route("indefinite_witness", "cᵀKc, multiplied out")
@given(st.integers(0, 999))
def test_a_witness_is_found_exactly_when_there_is_one(seed):
    X = np.random.default_rng(seed).normal(size=(30, 2))
    assert indefinite_witness(Gaussian(1), X) is None
    points, c = indefinite_witness(Shifted(), X * 3)
    assert c @ Shifted()(points) @ c < 0 and len(points) < 30
    assert {tuple(p) for p in points} <= {tuple(x) for x in X * 3}


@pytest.mark.parametrize("scale", [1e-6, 0.3, 1, 1e4])
@pytest.mark.parametrize("offset", [-3, -1e-9, 0, 1e-300, 1e-17, 1e-9, 0.2, 1, 5, 30, 1e300])
def test_the_witness_against_tanh(scale, offset):
    points, c = Sigmoid(scale, offset).witness()
    assert c @ Sigmoid(scale, offset)(points) @ c < 0
    X = np.random.default_rng(0).normal(size=(9, 2))
    for use in (
        as_kernel,
        lambda k: k + Linear(),
        lambda k: 2 * k,
        lambda k: k.normalized(),
        lambda k: k.on(0),
        lambda k: ridge(k, X, X[:, 0]),
        lambda k: RKHSFunction(k, X, X[:, 0]),
        lambda k: align([k], X, X[:, 0]),
    ):
        with pytest.raises(IndefiniteKernel, match="cᵀKc = -"):
            use(Sigmoid(scale, offset))


class Zero(Kernel):
    "small, with a zero diagonal: a relative test must see it"

    def _gram(self, X, Y, xp):
        return 1e-12 * np.abs(X - Y.T)


class Claims(Linear):
    is_shift_invariant = True


class NotANumber(Kernel):
    def _gram(self, X, Y, xp):
        return np.full((len(X), len(Y)), np.nan)


class WrongShape(Kernel):
    def _gram(self, X, Y, xp):
        return np.ones(3)


@pytest.mark.second_route("check_kernel", "impostors refused")
def test_checks_refuse_in_words():
    X = np.linspace(-1, 1, 7)
    with pytest.raises(LawBroken, match="negative eigenvalue"):
        check_kernel(Zero(), X)
    assert indefinite_witness(lambda X, Y: 1e-20 * np.sign(X - Y.T) ** 2, X) is not None
    with pytest.raises(LawBroken, match="shift-invariant"):
        check_kernel(Claims(), X)
    for k, error, words in (
        (NotANumber(), ValueError, "NaN"),
        (WrongShape(), ValueError, r"pass \(7, 7\)"),
        (Gaussian, TypeError, "class Gaussian"),
        (np.dot, TypeError, "not a Kernel"),
    ):
        with pytest.raises(error, match=words):
            check_kernel(k, X)
    for k, error, words in (
        (lambda X, Y: np.full((7, 7), np.nan), ValueError, "not finite"),
        (lambda X, Y: np.ones(3), ValueError, "shape"),
        (3, TypeError, "pass a kernel"),
        (lambda X, Y: X + 2 * Y.T, LawBroken, "is symmetric"),
    ):
        with pytest.raises(error, match=words):
            indefinite_witness(k, X)


class Alike(Kernel):
    "1 where two numbers round down to the same"

    def _gram(self, X, Y, xp):
        return xp.floor(X) == xp.floor(Y.T)

    def _diag(self, X, xp):
        return xp.floor(X[:, 0]) == xp.floor(X[:, 0])


class InFloats(Kernel):
    def _gram(self, X, Y, xp):
        return np.where(np.floor(X) == np.floor(Y.T), 1.0, 0.0)


class Whole(Kernel):
    def _gram(self, X, Y, xp):
        return (X @ Y.T).astype(int)


@pytest.mark.parametrize(
    "made",
    [
        lambda k: k + k,
        lambda k: 2.0 * (k + k) * k,
        lambda k: k.exp(),
        lambda k: k.normalized(),
        lambda k: k.gaussian_of(0.5),
    ],
)
def test_truth_values_are_numbers(made):
    x = [0.1, 0.2, 1.5, 2.5]
    k, floats = made(Alike()), made(InFloats())
    for value in (lambda k: k(x), lambda k: k.diag(x), lambda k: k.distance(x)):
        np.testing.assert_array_equal(value(k), value(floats))
    np.testing.assert_array_equal(ridge(k, x, x, 0.1)(x), ridge(floats, x, x, 0.1)(x))
    assert k(np.float32(x)).dtype == np.float32


def test_formulas_of_any_form_are_read_in_floats():
    class Mixed:
        def _gram(self, X, Y, xp):
            return X[:, :1] == Y[:, 0]

    class Same(Mixed, Kernel):
        pass

    class More(Alike):
        _diag = staticmethod(lambda X, xp: 1 + (X[:, 0] == X[:, 0]))

        def _gram(self, X, Y, xp):
            return super()._gram(X, Y, xp=xp) + 1

    x = [1.0, 2.0, 2.0]
    np.testing.assert_array_equal((Same() + Same())(x), 2.0 * np.equal.outer(x, x))
    np.testing.assert_array_equal(More()(x), 1.0 + np.equal.outer(x, x))
    np.testing.assert_array_equal(More().diag(x), [2.0, 2.0, 2.0])


def test_whole_numbers_of_a_formula_are_floats():
    assert (Whole() ** 6)([3000.0])[0, 0] == 9e6**6
    np.testing.assert_array_equal(Whole().normalized()([1.0, 2.0]), np.ones((2, 2)))


@pytest.mark.parametrize(
    "returned, words", [(1j, "Odd._gram .*complex"), (None, "Odd._gram .*None")]
)
def test_a_formula_of_no_real_numbers_is_refused(returned, words):
    class Odd(Kernel):
        def _gram(self, X, Y, xp):
            return returned and returned * (X @ Y.T)

    with pytest.raises(TypeError, match=words):
        Odd()([1.0, 2.0])


@pytest.mark.second_route("check_gradient", "impostors refused")
def test_gradients_that_are_wrong_are_refused():
    class Wrong(Gaussian):
        def _vjp(self, X, Y, G):
            return {"bandwidth": 1.001 * super()._vjp(X, Y, G)["bandwidth"]}

    X = np.random.default_rng(0).normal(size=(5, 2))
    check_gradient(Gaussian(2), X)
    check_gradient(Bilinear(np.eye(2)) * Mahalanobis([1.0, 2.0]), X, X[:3])
    with pytest.raises(LawBroken, match="bandwidth"):
        check_gradient(Wrong(2), X)


def test_a_gradient_that_overflows_breaks_the_law_without_a_warning():
    class TooSteep(Gaussian):
        def _vjp(self, X, Y, G):
            return {"bandwidth": np.sum(np.full(9, 1e308))}

    class NoNumber(TooSteep):
        def _vjp(self, X, Y, G):
            return {"bandwidth": np.subtract(np.inf, np.inf)}

    for k in (TooSteep(2.0), NoNumber(2.0)):
        with np.errstate(all="raise"), pytest.raises(LawBroken, match="gradient in bandwidth"):
            check_gradient(k, [[0.0], [1.0]])


# Near misses: objects that break one law by `by`, in the units of its tolerance.


class Bent(Gaussian):
    by: float = 0.0


class NotSymmetric(Bent):
    def _gram(self, X, Y, xp):
        return super()._gram(X, Y, xp) * (1 + self.by * (X < Y.T))


class OtherDiagonal(Bent):
    def _diag(self, X, xp):
        return super()._diag(X, xp) * (1 + self.by)


class OtherPairs(Bent):
    def _pairs(self, X, Y, xp):
        return super()._pairs(X, Y, xp) + self.by


class OtherMirror(Bent):
    def __call__(self, X, Y=None):
        return super().__call__(X, Y) * (1 + self.by * (Y is None))


class OtherDistance(Bent):
    def _distance(self, X, Y, xp):
        return np.sqrt(super()._distance(X, Y, xp) ** 2 + 4 * self.by)


class Moving(Bent):
    "seen by a shift only: the points of the test lie below 2, and are moved beyond it"

    is_shift_invariant = True

    def _gram(self, X, Y, xp):
        return super()._gram(X, Y, xp) * (1 + self.by * ((X > 2) & (Y.T > 2)))

    def _pairs(self, X, Y, xp):
        return super()._pairs(X, Y, xp) * (1 + self.by * ((X > 2) & (Y > 2)).all(axis=1))


class Skew(Bent):
    "ones on the diagonal and one other number, so that 30 points have the least eigenvalue −30 by"

    def _gram(self, X, Y, xp):
        return np.where(X == Y.T, 1.0, -(1 + 30 * self.by) / 29)

    def _pairs(self, X, Y, xp):
        return self._gram(X, Y, xp).diagonal()

    _distance = Kernel._distance


@pytest.mark.parametrize(
    "mutant, words",
    [
        (NotSymmetric, "is symmetric"),
        (OtherDiagonal, "diag agrees"),
        (OtherPairs, "pairs agrees"),
        (OtherMirror, "equals"),
        (OtherDistance, "distance² agrees"),
        (Moving, "is shift-invariant"),
        (Skew, "negative eigenvalue"),
    ],
)
def test_check_kernel_refuses_three_times_its_tolerance(mutant, words):
    X, rounding = (
        np.random.default_rng(0).uniform(1.1, 1.9, size=30),
        8 * np.finfo(float).eps ** 0.75,
    )
    check_kernel(mutant(1, by=rounding / 3), X)
    with pytest.raises(LawBroken, match=words):
        check_kernel(mutant(1, by=3 * rounding), X)


def test_a_negative_square_has_no_tolerance():
    class OnTheDiagonal(Kernel):
        def _gram(self, X, Y, xp):
            return np.where(X == Y.T, X, 0.0)

    check_kernel(OnTheDiagonal(), [0.0, 1.0, 2.0])
    with pytest.raises(LawBroken, match="not even that of one point"):
        check_kernel(OnTheDiagonal(), [-1e-300, 1.0, 2.0])


@pytest.mark.parametrize("order", [1, 2, 5])
def test_the_formula_of_a_whole_sobolev_space_ends_with_that_of_its_part(order):
    whole, part = (k._tex("x", "y") for k in (SobolevFull(order), Sobolev(order)))
    assert whole.endswith("+" + part) and part.index("(x-z)") < part.index("(y-z)")


@pytest.mark.parametrize("family", [Sobolev, SobolevFull])
def test_the_order_of_a_sobolev_space_ends_where_floats_do(family):
    a, x, y = 98, 20, 21  # ∫ of the product of both powers, by the binomial theorem, exactly
    exact = sum(
        Fraction(comb(a, j) * (y - x) ** (a - j) * x ** (a + j + 1), a + j + 1)
        for j in range(a + 1)
    ) / Fraction(factorial(a) ** 2)
    if family is SobolevFull:
        exact += sum(Fraction((x * y) ** j, factorial(j) ** 2) for j in range(a + 1))
    assert family(99)([x], [y])[0, 0] == pytest.approx(float(exact), rel=1e-12, abs=0)
    with pytest.raises(ValueError, match="order = 100: pass a whole number"):
        family(100)


ON_THE_EDGE = {
    "zero offset": (Polynomial(2, offset=0.0), [[1.0, 2.0], [0.5, 1.0]]),
    "zero constant": (Constant(0.0), [[1.0], [2.0]]),
    "zero scale": (0 * Gaussian(1.0), [[1.0], [2.0]]),
    "zero weight": (FiniteRank([1.0, 0.0], [np.sin, np.cos]), [1.0, 2.0]),
    "rank 1": (Bilinear(np.ones((2, 2))), [[1.0, 2.0], [0.5, 1.0]]),
    "zero feature": (Bilinear(np.diag([1.0, 0.0])), [[1.0, 2.0], [0.5, 1.0]]),
    "matrix of rank 1": (Precomputed(np.ones((2, 2))), [[0.0], [1.0]]),
    "at the start": (Brownian(), [0.0, 1.0, 2.0]),
    "nanometres": (Gaussian(1e-9), [1e-9, 3e-9]),
}


@pytest.mark.parametrize("k, X", ON_THE_EDGE.values(), ids=ON_THE_EDGE)
def test_gradients_of_parameters_on_the_edge_of_their_range(k, X):
    assert check_gradient(k, X) < 1e-6
    right = type(k)._vjp

    class Steeper(type(k)):
        def _vjp(self, X, Y, G):
            return {
                name: slope + 1e-3 * np.abs(slope) for name, slope in right(self, X, Y, G).items()
            }

    with pytest.raises(LawBroken, match="gradient in"):
        check_gradient(Steeper(*(value for _, value in k._values())), X)


@pytest.mark.parametrize(
    "k", [Gaussian(2), Polynomial(3), Matern(2.5), Mahalanobis([2.0]), 2 * Linear()]
)
def test_check_gradient_refuses_three_times_its_tolerance(k):
    class Steeper(type(k)):
        def _vjp(self, X, Y, G):
            return {name: (1 + self._by) * slope for name, slope in k._vjp(X, Y, G).items()}

    wrong = Steeper(*(value for _, value in k._values()))
    for by in (0.0, 3e-7):
        Steeper._by = by
        check_gradient(wrong, [[0.5]], [[2.0]])
    Steeper._by = 3e-6
    with pytest.raises(LawBroken, match="gradient in"):
        check_gradient(wrong, [[0.5]], [[2.0]])


def test_the_witness_and_is_psd_refuse_three_times_their_tolerance():
    X, rounding = np.linspace(1.1, 1.9, 30), 8 * np.finfo(float).eps ** 0.75
    assert indefinite_witness(Skew(1, by=rounding / 3), X) is None
    points, c = indefinite_witness(Skew(1, by=3 * rounding), X)
    assert len(points) == 30 and c @ Skew(1, by=3 * rounding)(points) @ c < 0
    assert indefinite_witness(NotSymmetric(1, by=rounding / 3), X) is None
    with pytest.raises(LawBroken, match="is symmetric"):
        indefinite_witness(NotSymmetric(1, by=3 * rounding), X)
    K = np.full((30, 30), -1 / 29) + np.eye(30) * 30 / 29  # its least eigenvalue is 0
    assert is_psd(K - 10e-9 * np.eye(30), 1e-9) and not is_psd(K - 90e-9 * np.eye(30), 1e-9)
    lopsided = K + 1e-9 * np.triu(np.ones((30, 30)), 1)
    assert is_psd(lopsided, 1e-9) and not is_psd(lopsided, 1e-9 / 6)


def test_near_repeated_points_make_an_honest_gram_matrix():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        half = rng.normal(size=(20, 3)) * 0.01 + rng.integers(0, 2, size=(20, 1)) * 1e3
        X = np.vstack([half, half + 1e-9 * rng.normal(size=half.shape)])
        Precomputed(Gaussian(0.01)(X))


@pytest.mark.second_route("is_psd", "matrices of known eigenvalues")
def test_is_psd_at_the_threshold():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(60, 20))
    K = A @ A.T  # rank 20: forty eigenvalues are rounding
    assert is_psd(K)
    error = 4 * np.finfo(float).eps * np.abs(K).max()
    assert is_psd(K - 20 * error * np.eye(60)) and not is_psd(K - 200 * error * np.eye(60))


# points of any kind


def counted(words):
    return np.array(
        [[word.count(c) for c in "abcdefghijklmnopqrstuvwxyz"] for word in words], float
    )


def lower(words):
    return [word.lower() for word in words]


def length(points):
    return np.array([len(p) if isinstance(p, str) else p.sum() for p in points], float)


WORDS = ["banana", "kernel", "hilbert", "a", "space", "abba"]


@pytest.mark.parametrize(
    "k, same",
    [
        (Constant(2), Constant(2)),
        (Delta(), Delta()),
        (Rank1(length), Rank1(length)),
        (
            FiniteRank([2, 1], [length, np.exp]).on(length),
            FiniteRank([2, 1], [length, np.exp]).on(length),
        ),
        (FiniteRank([2], [length]) + Delta(), FiniteRank([2], [length]) + Delta()),
        (Letters(), Linear()),
        (2 * Letters() + Constant(1), 2 * Linear() + Constant(1)),
        (Constant(1) + Letters(), Constant(1) + Linear()),
        (Letters() ** 2, Linear() ** 2),
        (Letters().normalized(), Linear().normalized()),
        ((Letters() / 9).exp(), (Linear() / 9).exp()),
        (Letters().on(lower), Linear()),
        (Linear().on(counted) * Letters(), Linear() ** 2),
        (
            Letters().conjugate(lambda words: [len(word) for word in words]),
            Linear().conjugate(lambda X: X.sum(axis=1)),
        ),
    ],
)
def test_points_may_be_strings(k, same):
    X = counted(WORDS)
    for points in (WORDS, tuple(WORDS), np.array(WORDS, dtype=object), k.points(WORDS)):
        np.testing.assert_allclose(k(points), same(X), rtol=1e-12)
    np.testing.assert_allclose(k(WORDS, WORDS[:2]), same(X, X[:2]), rtol=1e-12)
    np.testing.assert_allclose(k.diag(WORDS), same.diag(X), rtol=1e-12)
    np.testing.assert_allclose(k.pairs(WORDS[:3], WORDS[3:]), same.pairs(X[:3], X[3:]), rtol=1e-12)
    np.testing.assert_allclose(k.distance(WORDS), same.distance(X), atol=1e-6)
    check_kernel(k, WORDS)
    with settings.using(block_mib=1e-3):
        np.testing.assert_allclose(k(WORDS * 9), same(np.tile(X, (9, 1))), rtol=1e-12)
    with pytest.raises(TypeError):
        Letters()("one word")


def test_things_without_a_hash_are_compared():
    class Bag:
        def __init__(self, *items):
            self.items = items

        def __eq__(self, other):
            return isinstance(other, Bag) and self.items == other.items

    bags = [Bag(1), Bag(2), Bag(1)]
    assert Delta()(bags).tolist() == [[1, 0, 1], [0, 1, 0], [1, 0, 1]]
    assert (
        Delta()(bags, [1.0, 2.0]).tolist() == [[0, 0]] * 3 == Constant(0)(bags, [1.0, 2.0]).tolist()
    )
    with pytest.raises(TypeError, match="X holds text"):
        Delta()("one word")


STRICT = [
    Linear(),
    Polynomial(3),
    Gaussian(0.7),
    Constant(2),
    2 * Gaussian(1) + Linear() * Polynomial(2),
    Gaussian(1) ** 3,
    (Linear() / 9).exp(),
    Polynomial(2).normalized(),
    Gaussian(1).on([0, 2]),
]


@pytest.mark.parametrize("k", STRICT, ids=str)
def test_leaves_need_the_array_standard_only(k):
    same_on_strict_arrays(k, np.random.default_rng(0).normal(size=(7, 3)))


def same_on_strict_arrays(k, X):
    "k(X), k(X, Y) and the diagonal on array_api_strict, against NumPy"
    xp = pytest.importorskip("array_api_strict")
    A = xp.asarray(X)
    for ours, expected in ((k(A), k(X)), (k(A, A[:4, :]), k(X, X[:4])), (k.diag(A), k.diag(X))):
        assert type(ours) is type(A)
        np.testing.assert_allclose(np.asarray(ours), expected, rtol=1e-12, atol=1e-14)


def test_the_half_line_needs_the_array_standard_only():
    same_on_strict_arrays(Brownian(), np.random.default_rng(0).uniform(0, 3, size=(7, 1)))


# the algebra as a program


def test_a_function_of_the_points_runs_once_for_each_set_of_points_of_a_call():
    seen = []

    def g(X):
        seen.append(len(X))
        return 2 * X

    X, Y = np.random.default_rng(0).normal(size=(2, 30, 2))
    k = 2 * Gaussian(1).on(g).normalized() + Linear()
    with settings.using(block_mib=1e-2):
        for call, runs in (
            (lambda: k(X), 1),
            (lambda: k(X, Y), 2),
            (lambda: k.diag(X), 1),
            (lambda: k.pairs(X, Y), 2),
            (lambda: k.distance(X, Y), 2),
        ):
            seen.clear()
            call()
            assert len(seen) == runs and set(seen) == {30}


def test_names_of_terms_and_a_sum_of_thousands():
    X = np.random.default_rng(0).normal(size=(5, 2))
    many = sum([Gaussian(1)] * 2000)
    assert len(many.terms) == 2000 and many.names[-1] == "k2000" and len(many.get_params()) == 2000
    np.testing.assert_allclose(many(X), 2000 * Gaussian(1)(X))
    assert many.simplify() == 2000 * Gaussian(1) and pickle.loads(pickle.dumps(many)) == many
    k = type(many)(trend=Linear(), season=Gaussian(0.5)) + Polynomial(2)
    assert set(k.get_params()) == {"season__bandwidth", "k3__degree", "k3__offset", "k3__scale"}
    assert k.season == k.k2 == Gaussian(0.5) if "k2" in k.names else k.season == Gaussian(0.5)


SPELLED = r"\mathrm{\$\lt \{\}},\mathrm{\backslash x1b}"


@pytest.mark.parametrize(
    "k, tex",
    [
        (Linear(), r"x^\top y"),
        (Brownian(-1), r"\min(x, y) - (-1)"),
        (Constant(2), "2"),
        (Gaussian(1e-5), r"\exp\left(-\|x - y\|^2 / (2 \cdot (1 \cdot 10^{-5})^2)\right)"),
        (2 * (Linear() + Constant(1)), r"2 \cdot \left(x^\top y + 1\right)"),
        (Linear() * Constant(3), r"x^\top y \cdot 3"),
        (Linear() ** 3, r"\left(x^\top y\right)^{3}"),
        (Linear().exp(), r"\exp\left(x^\top y\right)"),
        (Linear().normalized(), r"\frac{x^\top y}{\sqrt{x^\top x \cdot y^\top y}}"),
        (Linear().on([0, 2]), r"x_{0,2}^\top y_{0,2}"),
        (Linear().on(lower), r"\mathrm{lower}(x)^\top \mathrm{lower}(y)"),
        (
            Cauchy().on(0),  # one index below another stands outside braces
            r"\prod_i\frac{1}{1+({x_{0}}_i-{y_{0}}_i)^2}",
        ),
        (
            Anova(Periodic(), 1),
            r"\sum_{|I|=1}\prod_{i\in I}\exp\Big(-2\sum_i"
            r"\sin^2\big(\pi({x_i}_i-{y_i}_i)\big)\Big)",
        ),
        (
            Laplace(1e-5),
            r"\exp\left(-\frac{\left\|x-y\right\|_1}{(1 \cdot 10^{-5})}\right)",
        ),
        (Linear().on("a_b"), r"x_{\mathrm{a\_b}}^\top y_{\mathrm{a\_b}}"),
        (Linear().on(["$<{}", "\x1b"]), rf"x_{{{SPELLED}}}^\top y_{{{SPELLED}}}"),
    ],
)
def test_formulas_are_typeset(k, tex):
    assert k._repr_latex_() == f"$k(x, y) = {tex}$" and tex.count("{") == tex.count("}")


def test_lengths_below_the_floats_are_refused():
    for k, x in ((Linear(), 1e-170), (Linear(), 1e-160), (Polynomial(3, offset=0), 1e-60)):
        with pytest.raises(ValueError, match="rescale X"):
            k.normalized()([x, 2 * x])
    np.testing.assert_array_equal(Linear().normalized()([0.0, -3.0]), [[0, 0], [0, 1]])
    np.testing.assert_allclose(Linear().normalized()([1e-150, 2e-150]), np.ones((2, 2)))


class Shaken(Gaussian):
    "Of which the formula is off by rounding where x = y, and the diagonal is known"

    def _gram(self, X, Y, xp):
        return super()._gram(X, Y, xp) * (1 - 1e-14)

    def _diag(self, X, xp):
        return np.ones(len(X))


@pytest.mark.parametrize("block_mib", [64, 1e-3])
def test_a_gram_matrix_has_the_kernels_own_diagonal(block_mib):
    X = np.random.default_rng(0).normal(size=(40, 2))
    with settings.using(block_mib=block_mib):
        K = Shaken(1.0)(X)
    assert (K.diagonal() == Shaken(1.0).diag(X)).all() and (K.diagonal() == 1).all()
    assert (K[0, 1:] < Gaussian(1.0)(X)[0, 1:]).all()


def test_two_entries_near_the_largest_float():
    X = np.array([[1.2e154], [1.3e154]])
    np.testing.assert_array_equal(Linear()(X), Linear()(X, X.copy()))


NO_PARAMETERS = [np.complex128(1 + 2j), 1 + 0j, np.bool_(True), True, "1", None, np.nan, -1]


@pytest.mark.parametrize("wrong", NO_PARAMETERS)
def test_what_is_no_parameter(wrong):
    offset, times, to_power = (
        lambda v: Polynomial(2, v),
        lambda v: Linear() * v,
        lambda v: Linear() ** v,
    )
    for make in (Gaussian, Constant, offset, times, to_power):
        with pytest.raises((TypeError, ValueError)):
            make(wrong)


def test_a_refusal_comes_without_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for call in (
            lambda: Linear()([1e200, 1.0]),
            lambda: Polynomial(9)([1e99, 1.0]),
            lambda: Linear().exp()([1e3, 1.0]),
            lambda: Gaussian(1)([[1e200, 0, 0], [0, 1, 1]]),
        ):
            with pytest.raises(ValueError, match="overflow"):
                call()


@pytest.mark.second_route("median_bandwidth", "NumPy's median of all distances")
@pytest.mark.parametrize("n", [40, 20_000])
def test_a_median_distance_of_zero_leaves_those_that_are_not(n):
    "a column of 5 % numbers, a one-hot table, one row that differs among 20 000, k of any kind"
    rng = np.random.default_rng(n)
    few = np.where(np.arange(n) % 20 == 0, rng.normal(size=n), 0.0)
    shown = few if n <= 1000 else few[np.random.default_rng(0).choice(n, 1000, replace=False)]
    apart = np.abs(shown[:, None] - shown)[np.triu_indices(len(shown), 1)]
    assert median_bandwidth(few, rng=0) == pytest.approx(np.median(apart[apart > 0]), rel=1e-12)
    assert median_bandwidth(np.eye(5)[np.arange(n) % 5 * (np.arange(n) % 3 == 0)]) == pytest.approx(
        2**0.5
    )
    assert median_bandwidth(np.eye(n, 1)[::-1] * 7) == 7.0
    assert median_bandwidth(["a"] * n + ["bb"], k=Spectrum(1)) == np.sqrt(5)
    same = np.column_stack(
        [np.arange(n) % 2, np.full(n, 3.0)]
    )  # half of the pairs and a constant column
    assert median_bandwidth(same) == 1.0
    with pytest.raises(
        ValueError, match=f"all {n} points in X coincide.*choose the bandwidth yourself"
    ):
        median_bandwidth(np.full((n, 2), 3.0))


def test_a_long_number_keeps_its_exponent_in_print():
    assert repr(Constant(1e300)) == "Constant(c=1e+300)" and repr(Constant(2e14)).endswith("0)")
    assert eval(repr(Constant(1e16))) == Constant(1e16)


def test_values_between_two_samples_beyond_floats_are_refused():
    with pytest.raises(ValueError, match=r"^Linear\(\) overflows float64"):
        Linear()([[1e200]], [[1e200], [1.0]])
    with pytest.raises(ValueError, match="overflows float64: it is NaN"):
        (Linear().exp() * Constant(0.0))([[30.0]], [[30.0]])


KINDS = {  # points that would be read otherwise by who does not ask the kernel
    "a pair of arrays": (
        Tensor(Gaussian(1.0), Linear(), split=4),
        (np.eye(4), np.arange(1.0, 5.0)),
    ),
    "a pair with texts": (Tensor(Gaussian(1.0), Letters()), (np.eye(4), ["a", "ba", "c", "da"])),
    "bags of one size": (SetKernel(Gaussian(1.0)), list(np.arange(24.0).reshape(4, 3, 2) / 9)),
    "bags of numbers": (SetKernel(Gaussian(1.0)), [[0.0, 1.0], [2.0, 2.5], [1.0, 0.0]]),
    "row numbers": (Precomputed(np.diag([1.0, 2.0, 3.0]) + 1), [2, 0, 1]),
    "texts": (Letters(), ["a", "ba", "c"]),
}
MADE_OF_ONE = {  # the values that they make of those of k
    "conjugate": (lambda k: k.conjugate(lambda X: np.full(len(X), 3.0)), lambda K, d: 9 * K),
    "normalized": (lambda k: k.normalized(), lambda K, d: K / np.sqrt(np.outer(d, d))),
    "gaussian_of": (
        lambda k: k.gaussian_of(2.0),
        lambda K, d: np.exp(-(d[:, None] + d - 2 * K) / 8),
    ),
    "scaled": (lambda k: 2 * k, lambda K, d: 2 * K),
    "power": (lambda k: k**2, lambda K, d: K**2),
    "exp": (lambda k: (0.1 * k).exp(), lambda K, d: np.exp(0.1 * K)),
    "sum": (lambda k: k + Constant(2.0), lambda K, d: K + 2),
    "product": (lambda k: k * Constant(2.0), lambda K, d: 2 * K),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("made", MADE_OF_ONE)
def test_what_is_made_of_a_kernel_reads_points_as_that_kernel_does(made, kind):
    (k, X), (make, values) = KINDS[kind], MADE_OF_ONE[made]
    K = k(X)
    assert np.ptp(K) > 0
    np.testing.assert_allclose(make(k)(X), values(K, k.diag(X)), rtol=1e-9, atol=1e-12)
