"""Appendix C: factors of positive definite matrices against dense algebra, both sides of every bound."""

import pickle
import pkgutil
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from decimal import Decimal
from fractions import Fraction
from itertools import permutations

import array_api_strict as strict
import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from threadpoolctl import ThreadpoolController, threadpool_info, threadpool_limits

import rkhs_notes
from rkhs_notes import arrays, settings
from rkhs_notes.base import blocks, factors
from rkhs_notes.base.arrays import (
    as_count,
    as_floats,
    as_labels,
    as_number,
    as_points,
    as_sparse_rows,
    as_targets,
    as_weights,
)
from rkhs_notes.base.distances import sqdist
from rkhs_notes.base.errors import IndefiniteKernel, NotPositiveDefinite
from rkhs_notes.base.factors import (
    Cholesky,
    Factored,
    PivotedCholesky,
    centred,
    norm1,
    psd_factor,
    require_symmetric,
    schur,
    schur_rounding,
    signed,
    signs,
)
from rkhs_notes.base.objects import Objects, differ, distinct, joined, ranked, taken
from rkhs_notes.engines.machines.kernel_machines import svc
from rkhs_notes.engines.machines.laplace_method import gp_classification
from rkhs_notes.engines.solving.evidence import gaussian_process
from rkhs_notes.kernels import Gaussian, Kernel, Linear

rng = np.random.default_rng(0)


def positive(n, dtype=float):
    A = rng.normal(size=(n, n + 2))
    return (A @ A.T / n + np.eye(n)).astype(dtype)


class Negative(Kernel):
    "−½ Gaussian: its Gram matrix plus 3 I is positive definite, it is no kernel"

    def _gram(self, X, Y, xp):
        return -0.5 * Gaussian(1.0)(X, Y)


@pytest.fixture(params=["potrf", "panels", "L", "L in Fortran's order"])
def factored(request, monkeypatch):
    "A and its factor, by every road that leads to one"
    A = positive(40)
    if request.param == "panels":
        monkeypatch.setattr(factors, "_LARGEST_POTRF", 0)
        monkeypatch.setattr(factors._panel_cholesky, "__defaults__", (7,))
        assert Cholesky(A).lower == 0  # not potrf's triangle
    if request.param.startswith("L"):
        L = np.linalg.cholesky(A)
        return A, Factored(
            np.asfortranarray(L) if "Fortran" in request.param else np.ascontiguousarray(L)
        )
    return A, Cholesky(A)


@pytest.mark.second_route("Cholesky", "NumPy")
def test_all_that_a_factor_knows(factored):
    A, done = factored
    b, B = rng.normal(size=40), rng.normal(size=(40, 3))
    L = np.linalg.cholesky(A)
    np.testing.assert_allclose(done.L, L, atol=1e-14)
    for right in (b, B):
        np.testing.assert_allclose(done.solve(right), np.linalg.solve(A, right), atol=1e-13)
        np.testing.assert_allclose(done.half_solve(right), np.linalg.solve(L, right), atol=1e-13)
        np.testing.assert_allclose(
            done.half_solve(right, transposed=True), np.linalg.solve(L.T, right), atol=1e-13
        )
    assert done.log_det() == pytest.approx(np.linalg.slogdet(A)[1], rel=1e-13)
    np.testing.assert_allclose(done.inverse(), np.linalg.inv(A), atol=1e-14)
    np.testing.assert_allclose(done.inverse_diagonal(), np.linalg.inv(A).diagonal(), rtol=1e-12)
    np.testing.assert_allclose(done.explained(B), B.T @ np.linalg.solve(A, B), atol=1e-13)
    np.testing.assert_allclose(
        done.explained(B, b[:, None])[:, 0], B.T @ np.linalg.solve(A, b), atol=1e-13
    )
    assert len(done) == 40 and "40 rows" in repr(done) and "\n" not in repr(done)
    again = pickle.loads(pickle.dumps(done))
    np.testing.assert_array_equal(again.solve(b), done.solve(b))
    with pytest.raises(ValueError, match="read-only"):
        done.factor[0, 0] = 2.0


@pytest.mark.parametrize("n", [1, 255, 256, 257, 600])
def test_inverses_in_blocks(n):
    A = positive(n)
    done = Cholesky(A)
    np.testing.assert_allclose(done.inverse(), np.linalg.inv(A), atol=1e-12)
    np.testing.assert_allclose(done.inverse_diagonal(), np.linalg.inv(A).diagonal(), rtol=1e-10)


def test_half_solve_in_the_memory_of_b():
    done, B = Cholesky(positive(9)), np.asfortranarray(rng.normal(size=(9, 2)))
    expected, kept = done.half_solve(B), B.copy()
    np.testing.assert_array_equal(B, kept)
    assert np.shares_memory(done.half_solve(B, overwrite=True), B)
    np.testing.assert_array_equal(B, expected)
    single = Factored(np.linalg.cholesky(positive(9, np.float32)))
    assert (
        single.half_solve(np.ones(9)).dtype == float
        and single.solve(np.ones(9)).dtype == np.float32
    )


def test_the_memory_of_the_matrix():
    A = positive(30)
    kept, shift = A.copy(), rng.uniform(1, 2, 30)
    done = Cholesky(A, shift)
    np.testing.assert_array_equal(A, kept)
    np.testing.assert_allclose(done.L @ done.L.T, A + np.diag(shift), atol=1e-13)
    assert np.shares_memory(Cholesky(A, shift, overwrite=True).factor, A)
    factor, lower = psd_factor(kept, shift)
    np.testing.assert_array_equal(np.tril(factor) if lower else np.triu(factor).T, done.L)


def test_a_matrix_of_a_stranger():
    assert Cholesky([[2, 1], [1, 2]]).log_det() == pytest.approx(np.log(3))  # integers, a list
    for bad, error, words in [
        (np.ones((2, 3)), ValueError, r"\(2, 3\)"),
        (np.ones(4), ValueError, r"\(n, n\)"),
        ([["a"]], TypeError, "text"),
        ([[2, np.nan], [np.nan, 2]], ValueError, "not finite"),
        (np.array([[2.0, np.nan], [np.nan, 2.0]]), ValueError, r"not finite.*\(0, 1\)"),
        (np.array([[-1.0]]), NotPositiveDefinite, "smallest eigenvalue -1"),
    ]:
        with pytest.raises(error, match=words):
            Cholesky(bad, name="K")
    with pytest.raises(ValueError, match=r"K.*not finite"):  # a clear shift looks at no norm
        Cholesky(np.array([[2.0, np.nan], [np.nan, 2.0]]), 1.0, name="K")
    with pytest.raises(NotPositiveDefinite, match="K has .* Try a kernel: 1e"):
        Cholesky(-np.eye(3), 0.5, name="K", remedy=lambda enough: f"Try a kernel: {enough:.0e}.")


@pytest.mark.parametrize("condition, good", [(0.3e16, True), (3e16, False)])
def test_no_digit_is_left(condition, good):
    "Near misses on both sides of 1/eps = 4.5e15, for a matrix whose condition number is known"
    A = np.diag([1.0, 1 / condition])
    if good:
        assert Cholesky(A).rcond(norm1(A)) == pytest.approx(1 / condition, rel=1e-6, abs=0)
    else:
        with pytest.raises(NotPositiveDefinite, match="cannot tell from 0"):
            Cholesky(A)


def test_attempts():
    A = positive(12)
    before = A.copy()
    done = Cholesky.attempt(A)
    np.testing.assert_allclose(done.L @ done.L.T, before, atol=1e-13)
    assert np.shares_memory(done.factor, A) and isinstance(done, Factored)
    assert Cholesky.attempt(np.diag([1.0, 1e-30])) is not None  # of any condition
    assert Cholesky.attempt(np.diag([1.0, -1e-30])) is None
    assert norm1(before) == pytest.approx(np.abs(before).sum(axis=0).max())


# ------------------------------------------------------------------ Schur complements


@pytest.mark.parametrize("whole", [False, True])
def test_what_is_left_unexplained(whole):
    M = positive(12)
    A, B, C = M[:8, :8], M[:8, 8:], M[8:, 8:]
    left = C - B.T @ np.linalg.solve(A, B)
    got = schur(Cholesky(A), C if whole else C.diagonal(), B)
    np.testing.assert_allclose(got, left if whole else left.diagonal(), atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_rounding_and_near_misses(scale, dtype):
    "c − bᵀA⁻¹b is 0 exactly; a third of the bound below is rounding, three times the bound is not"
    A = (scale * positive(6)).astype(dtype)
    done, b = Cholesky(A), A[:, :1].copy()  # the first row again
    C = A[0, 0].reshape(1)
    bound = schur_rounding(done, C, done.half_solve(b))
    assert 0 < bound[0] < 1e3 * 6 * np.finfo(dtype).eps ** 0.75 * A.diagonal().max()
    assert abs(schur(done, C, b)[0]) <= bound[0]
    assert schur(done, C - bound / 3, b)[0] == 0
    for c in (C - 3 * bound, np.array([[C[0] - 3 * bound[0]]])):
        with pytest.raises(IndefiniteKernel, match="my kernel is not positive.*point 0"):
            schur(done, c, b, name="my kernel")
    with pytest.raises(IndefiniteKernel):
        schur(
            done, C - 0.1 * bound, b, eps=float(np.finfo(dtype).eps) * 1e-2
        )  # entries known better


def test_the_bound_grows_where_the_matrix_is_nearly_singular():
    near, far = Cholesky(np.array([[1, 1 - 1e-10], [1 - 1e-10, 1]])), Cholesky(np.eye(2))
    b = np.array([[1.0], [-1.0]])
    bounds = [schur_rounding(A, np.ones(1), A.half_solve(b))[0] for A in (near, far)]
    np.testing.assert_allclose(bounds[1], np.finfo(float).eps ** 0.75 * 9, rtol=1e-3)  # ‖A⁻¹b‖₁ = 2
    np.testing.assert_allclose(bounds[0], np.finfo(float).eps ** 0.75 * 4e20, rtol=1e-3)  # 2e10
    small = Factored(1e-4 * np.eye(2))  # the far one, its entries in other units
    bound = schur_rounding(small, np.full(1, 1e-8), small.half_solve(1e-8 * b))
    np.testing.assert_allclose(bound, 1e-8 * bounds[1], rtol=1e-3)
    shifted = Cholesky(np.eye(2), shift=1e9)  # a shift is exact: it does not add its eps^(3/4)
    assert schur_rounding(shifted, np.ones(1), shifted.half_solve(b))[0] < 1e-11


def test_the_worst_of_many_points_is_named():
    with pytest.raises(
        IndefiniteKernel, match="point 2.*less what the other points explain is -0.75 < 0"
    ):
        schur(Cholesky(np.eye(1)), np.array([1.0, 0.9, 0.25, 1.0]), np.ones((1, 4)))


@pytest.mark.second_route("PivotedCholesky", "L Lᵀ, multiplied out")
def test_independent_rows():
    G = np.random.default_rng(0).normal(size=(9, 4))
    A = G @ G.T
    A[5], A[:, 5] = 0, 0  # a section of length 0
    kept = PivotedCholesky(A)
    assert len(kept) == 4 and 5 not in kept.order
    np.testing.assert_allclose(kept.L @ kept.L.T, A[np.ix_(kept.order, kept.order)], atol=1e-12)
    H = kept.half_solve(A[kept.order])
    np.testing.assert_allclose(H.T @ H, A, atol=1e-10)  # they explain all the others
    stretched = PivotedCholesky(A * np.outer(scale := 2.0 ** np.arange(9), scale))
    np.testing.assert_array_equal(
        stretched.order, kept.order
    )  # in units of √aᵢᵢ; powers of 2 are exact
    assert not np.shares_memory(kept.factor, A) and (A[5] == 0).all()


# ------------------------------------------------------------------ on something that is no kernel


def test_a_process_on_no_kernel_raises():
    X = np.arange(5.0)
    gp = gaussian_process(Negative(), X, np.sin(X), noise=3.0)
    for ask in (lambda: gp.var(X), lambda: gp.cov(X), lambda: gp.sample(X, 2, 0)):
        with pytest.raises(IndefiniteKernel, match=r"Negative\(\) .* is -0\.[57]"):
            ask()


def test_a_covariance_with_a_negative_eigenvalue_raises():
    class Twisted(Kernel):
        "Variances 1, correlations ±0.9 that no law has"

        def _gram(self, X, Y, xp):
            close = X[:, None, 0] == Y[None, :, 0]
            return xp.where(close, 1.0, -0.9)

    gp = gaussian_process(Twisted(), [0.0, 1.0], [1.0, 0.0], noise=10.0)
    assert (gp.var([5.0, 6.0, 7.0]) > 0.5).all()
    with pytest.raises(IndefiniteKernel, match="eigenvalue of .* is -"):
        gp.sample([5.0, 6.0, 7.0], 1, 0)


def test_laplace_on_no_kernel_raises():
    class Late(Kernel):
        "A Gaussian on the data, negative beyond them"

        def _gram(self, X, Y, xp):
            return Gaussian(1.0)(X, Y) * xp.where(X[:, :1] * Y[None, :, 0] > 90, -1.0, 1.0)

    X = np.linspace(-2, 2, 12)
    fit = gp_classification(Late(), X, X > 0)
    assert (fit.var(X) > 0).all()
    with pytest.raises(IndefiniteKernel, match="at point 0, .* is -"):
        fit.var([10.0])


@pytest.mark.parametrize("noise", [1e-12, 1e-8, 1.0, 1e12])
@pytest.mark.parametrize("bandwidth", [0.01, 1.0, 100.0])
def test_a_kernel_is_never_accused(noise, bandwidth):
    "However near to singular: what is below 0 by rounding is 0"
    X = np.linspace(0, 1, 60)
    k = Gaussian(bandwidth)
    try:
        gp = gaussian_process(k, X, np.sin(X), noise)
    except NotPositiveDefinite:
        return  # refused before, with its reason
    for Z in (X, np.linspace(-5, 5, 77)):
        assert (gp.var(Z) >= 0).all() and (gp.cov(Z).diagonal() >= 0).all()
    assert gp.sample(X, 2, 0).shape == (2, 60)
    single = gaussian_process(k, X.astype("f"), np.sin(X), max(noise, 1e-4))
    assert (single.var(X) >= 0).all() and (single.var(X.astype("f")) >= 0).all()


# ------------------------------------------------------------------ what came in


NO_NUMBERS = [np.bool_(True), True, 1 + 2j, np.complex128(1 + 2j), np.array(1j), "1", b"1", None]
NO_NUMBERS += [
    np.array("1"),
    [1.0],
    np.ones(1),
    np.datetime64("2020"),
    np.timedelta64(1),
    abs,
    object(),
]


@pytest.mark.parametrize("bad", NO_NUMBERS)
def test_what_is_no_number(bad):
    for read in (lambda: as_number(bad, "lam", above=0), lambda: as_count(bad, "lam")):
        with pytest.raises(TypeError, match="^lam = .*pass one real number (> 0|≥ 1)"):
            read()


@pytest.mark.parametrize(
    "good", [2, 2.0, np.int8(2), np.float32(2), np.array(2), Fraction(2), Decimal(2)]
)
def test_what_is_a_number(good):
    assert as_number(good, "lam") == 2.0 and type(as_number(good, "lam")) is float
    assert as_count(good, "n") == 2 and type(as_count(good, "n")) is int


def test_numbers_out_of_range():
    assert as_count(2**53 + 1, "n") == 2**53 + 1  # not by way of a float
    for call, words in [
        (lambda: as_number(10**400, "lam"), "lam = inf"),
        (lambda: as_number(np.nan, "lam"), "lam = nan"),
        (lambda: as_number(0.0, "lam", above=0), "> 0"),
        (lambda: as_number(-1e-9, "lam", at_least=0), "≥ 0"),
        (lambda: as_count(1, "n", at_least=2), "n = 1: .*≥ 2"),
        (lambda: as_count(2.5, "n"), "n = 2.5: pass a whole number"),
    ]:
        with pytest.raises(ValueError, match=words):
            call()
    assert as_number(0.0, "lam", at_least=0) == 0.0


class NAType:
    "As pandas' NA: no number, and no truth value when it is compared"

    def __ne__(self, other):
        return self

    def __bool__(self):
        raise TypeError("boolean value of NA is ambiguous")

    def __repr__(self):
        return "<NA>"


@pytest.mark.parametrize(
    "value, words",
    [
        ("red", r"text.*first at index \(1, 1\): 'red'.*encode that column"),
        ("3", "text.*encode that column"),  # though float("3") is a number
        (None, "missing values.*Drop or fill"),
        (NAType(), r"missing values.*\(1, 1\): <NA>.*Drop or fill"),
        (date(2020, 1, 1), "dates.*Subtract a date"),
        (1 + 2j, "things that are no numbers"),
        (abs, "things that are no numbers"),
    ],
)
def test_tables_of_mixed_types(value, words):
    table = np.array([[1, 2.5], [True, 4]], dtype=object)
    np.testing.assert_array_equal(as_floats(table), [[1, 2.5], [1, 4]])
    table[1, 1] = value
    with pytest.raises(TypeError, match=f"^T holds Python objects, {words}"):
        as_floats(table, "T")
    dates = np.array(["2020-01-01"], "M8[D]")
    with pytest.raises(TypeError, match="holds dates.*Subtract a date"):
        as_floats(dates)
    with pytest.raises(TypeError, match="holds durations.*Divide by a unit"):
        as_floats(dates - dates)


@pytest.mark.parametrize("weights", [[0.5, 0, 2.0], None])
def test_weights(weights):
    np.testing.assert_array_equal(as_weights(weights, 3), [1, 1, 1] if weights is None else weights)
    for bad, words in [
        ([1, 2], r"\(2,\); pass \(3,\), one number for each axis"),
        ([1, -1e-300, 1], "least entry -1e-300"),
        ([0, 0, 0], "not all 0"),
        ([[1, 1, 1]], r"\(1, 3\)"),
        ([1, np.nan, 1], "not finite"),
    ]:
        with pytest.raises(ValueError, match=words):
            as_weights(bad, 3, "axis")


def objects(*labels):
    A = np.empty(len(labels), dtype=object)
    A[:] = labels
    return A


@pytest.mark.parametrize(
    "labels, kind",
    [
        (objects("b", "a", "b"), "U"),
        (objects(2, 1, 2), "i"),
        (objects(2, 1.5, 2), "f"),
        (objects(np.int64(2), 1, np.int64(2)), "i"),
        (objects(True, np.bool_(False), True), "b"),
        (objects(date(2021, 1, 1), date(2020, 1, 1), date(2021, 1, 1)), "O"),
        (["b", "a", "b"], "U"),
        ([2, 1, 2], "i"),
    ],
)
def test_labels_of_one_kind(labels, kind):
    classes, place = as_labels(labels, 3)
    assert classes.dtype.kind == kind and place.tolist() == [1, 0, 1]
    assert [classes[p] for p in place] == list(labels)


@pytest.mark.parametrize(
    "labels, error, words",
    [
        (objects("a", None, "b"), ValueError, "1 of 3"),
        (objects("a", NAType(), "b"), ValueError, "1 of 3"),
        (objects("a", np.nan, None), ValueError, "2 of 3"),
        (objects("a", 1, "b"), TypeError, "use one type"),
        (objects("True", True, False), TypeError, "use one type"),
        (np.array([1.0, np.inf, 2.0]), ValueError, "1 of 3"),
        (np.array(["2020", "NaT", "2021"], "M8[D]"), ValueError, "1 of 3"),
        (["a", "b"], ValueError, r"\(2,\); pass \(3,\), one label"),
    ],
)
def test_bad_labels(labels, error, words):
    with pytest.raises(error, match=words):
        as_labels(labels, 3, "y")


def test_labels_in_a_machine():
    X, y = np.arange(8.0), objects(*["no", "yes"] * 4)
    machine = svc(Gaussian(0.3), X, y)
    assert machine.predict(X).tolist() == y.tolist()


# ------------------ arrays of the standard, nothing else


@pytest.mark.parametrize("d", [1, 2, 3, 80])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_distances_by_the_standard_alone(d, dtype):
    ours = np.random.default_rng(d).normal(size=(7, d)).astype(dtype)
    ours = np.concatenate(
        [ours, ours + np.asarray(1e3, dtype)]
    )  # two clusters: differences are needed
    X = as_points(strict.asarray(ours[:, 0] if d == 1 else ours))
    assert X.shape == (14, d) and strict.isdtype(X.dtype, "real floating")
    exact = ((ours[:, None].astype(float) - ours[None].astype(float)) ** 2).sum(axis=2)
    error = np.finfo(dtype).eps ** 0.75 * 4 * exact
    for D in (sqdist(X), sqdist(X, X[3:, :]), sqdist(X, scales=[2.0] * d) * 4):
        whole = np.asarray(D)
        assert (np.abs(whole - exact[:, -whole.shape[1] :]) <= error[:, -whole.shape[1] :]).all()


def test_other_libraries_are_read_as_ours():
    X = strict.asarray([[1.0, 2.0], [3.0, 4.0]])
    assert as_floats(strict.asarray([1, 2])).dtype == strict.float64
    assert as_weights(X[:, 0], 2) is not None and as_targets(X, 2).shape == (2, 2)
    for bad, error, words in [
        (strict.asarray([1j, 2.0]), TypeError, "complex"),
        (strict.asarray([np.nan, 2.0]), ValueError, r"first at index \(0,\)"),
        (strict.zeros((0, 2)), ValueError, "empty"),
    ]:
        with pytest.raises(error, match=words):
            as_points(bad)
    with pytest.raises(ValueError, match="least entry -1"):
        as_weights(strict.asarray([-1.0, 1.0]), 2)
    with pytest.raises(ValueError, match="not all 0"):
        as_weights(strict.asarray([0.0, 0.0]), 2)
    np.testing.assert_array_equal(np.asarray(taken(X, np.array([1]))), [[3.0, 4.0]])
    np.testing.assert_array_equal(np.asarray(taken(X, np.array([False, True]))), [[3.0, 4.0]])
    assert joined(X, X).shape == (4, 2)
    assert sqdist([[0.0], [2.0]])[0, 1] == 4 and sqdist([0.0, 2.0], [5.0]).tolist() == [[25], [9]]


# ------------------------------------------------------------------ points that are any objects


class Graph:
    "No hash, equal by its edges"

    def __init__(self, *edges):
        self.edges = edges

    def __eq__(self, other):
        return isinstance(other, Graph) and self.edges == other.edges


@pytest.mark.second_route("Objects", "a list of Python")
def test_objects_behave_as_rows():
    words = ["tea", "ten", "to", "tea", "in"]
    X, rows = Objects(words), np.arange(5)
    for index in (
        slice(1, 3),
        slice(None, None, -2),
        [0, 3],
        np.array([4, -1]),
        rows % 2 == 0,
        [],
        [True] * 5,
    ):
        assert list(X[index]) == [
            words[i] for i in rows[index if len(np.shape(index)) == 0 or len(index) else []]
        ]
        assert isinstance(X[index], Objects)
    assert X[1] == "ten" and X[np.int64(-1)] == "in" and X[np.array(2)] == "to" and len(X) == 5
    for bad in ([5], 5, np.array([1.5]), [True]):
        with pytest.raises(IndexError):
            X[bad]
    with pytest.raises(TypeError):
        X["tea"]
    again = pickle.loads(pickle.dumps(X))
    assert again == X and hash(again) == hash(X) and weakref.ref(X)() is X
    assert X != Objects(words[:4]) and X != words and X != Objects(reversed(words))
    assert (
        "\n" not in repr(X)
        and len(repr(Objects(["a\n" * 500] * 9))) < 100
        and "5 objects: 'tea'" in repr(X)
    )
    for bad in ("tea", b"tea", 3):
        with pytest.raises(TypeError, match="one object; pass a list"):
            Objects(bad)
    with pytest.raises(AttributeError, match="never changed"):
        X._items = ()


def test_objects_are_equal_by_what_they_hold():
    bag = [np.ones((2, 3)), np.zeros(2)]
    assert Objects([bag]) == Objects([[np.ones((2, 3)), np.zeros(2)]])
    assert Objects([bag]) != Objects([[np.ones((3, 2)), np.zeros(2)]])
    assert Objects([("a", 1)]) != Objects([["a", 1]])  # a tuple is no list
    assert Objects([Graph(1)]) == Objects([Graph(1)]) != Objects([Graph(2)])


@pytest.mark.parametrize("n", [0, 1, 2, 300])
@pytest.mark.parametrize("column", ["all differ", "some are equal", "two zeros"])
def test_rows_are_ranked_by_their_entries(n, column):
    "Also where the first column alone tells them apart, which is sorted alone"
    X = np.random.default_rng(n).normal(size=(n, 3))
    if column == "some are equal":
        X = np.round(X)
    if column == "two zeros" and n:
        X[[0, -1], 0], X[[0, -1], 1] = [0.0, -0.0], [2.0, 1.0]
    _, first, place = np.unique(X, axis=0, return_index=True, return_inverse=True)
    for got, wanted in zip(ranked(X), (first, place.ravel()), strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_rows_without_columns_are_one():
    assert [part.tolist() for part in ranked(np.empty((3, 0)))] == [[0], [0, 0, 0]]


@pytest.mark.parametrize(
    "X",
    [
        np.array([[3.0, 1], [1, 2], [3, 1], [0, 0], [1, 2], [-0.0, 0.0]]),
        Objects(["c", "b", "c", "a", "b", "a"]),
        Objects([Graph(3), Graph(1), Graph(3), Graph(0), Graph(1), Graph(0)]),
        Objects([[np.ones(2)], [np.ones(3)], [np.ones(2)], (), [np.ones(3)], ()]),
    ],
)
def test_different_points_among_many(X):
    first, place = distinct(X)
    assert first.tolist() == [0, 1, 3] and place.tolist() == [0, 1, 0, 2, 1, 2]
    both = joined(X, taken(X, first))
    assert len(both) == 9 and type(both) is type(X)
    assert distinct(both)[1].tolist() == [0, 1, 0, 2, 1, 2, 0, 1, 2]
    assert len(taken(X, np.array([True] + [False] * 5))) == 1


# ------------------ one rule for signs, for centring, for rules


def test_the_largest_entry_of_each_column_has_the_sign():
    V = np.array([[1e-4, 3.0, 0.6], [-1e-3, -1.0, -1.0], [5e-4, -4.0, 0.4]])
    assert (
        signs(V).tolist() == signs(V * [1e-9, 1.0, 1e9]).tolist() == [-1, -1, -1]
    )  # each by itself
    for rows in permutations(range(3)):
        assert signs(V[list(rows)]).tolist() == [-1, -1, -1]
    root = np.array(
        [1.0, 1.0, 5.0]
    )  # 0.6, −1 and 0.08 of the last column are judged, −0.8 of the middle one
    assert signs(V, root=root).tolist() == [-1, 1, -1]


def test_of_equal_sizes_the_next_decide_and_then_the_first_point():
    v = np.array([2.0, -2.0, 1.5, -1.0, 0.3])
    x = np.array([[3.0, 1.0], [3.0, 0.0], [5.0, 0.0], [4.0, 2.0], [0.0, 0.0]])
    even = np.array([2.0, -2.0, 1.0, -1.0, 0.0])
    for rows in map(list, permutations(range(5))):
        assert signs(np.c_[v, -v, v + 1e-12 * x[:, 1]][rows]).tolist() == [1, -1, 1]
        assert signs(np.c_[even, -even][rows], x[rows]).tolist() == [
            -1,
            1,
        ]  # (3, 0) comes before (3, 1)
    assert (
        signs(even[:, None]) == 1 == -signs(even[[1, 0, 2, 3, 4], None])
    )  # without points, the first row


@pytest.mark.parametrize("rank", [1, 3])
def test_rows_that_rounding_alone_tells_apart_are_not_independent(rank):
    for seed in range(20):
        X = np.random.default_rng(seed).normal(size=(60, rank))
        assert len(PivotedCholesky(X @ X.T).order) == rank


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_near_miss_of_symmetry(dtype):
    A = np.diag(np.linspace(1, 4, 30)).astype(dtype)
    allowed = 100 * 30 * float(np.finfo(dtype).eps) * 4
    for times, refused in ((0.3, False), (3.0, True)):
        A[3, 7] = times * allowed
        if refused:
            with pytest.raises(ValueError, match=r"not symmetric: entry \((3, 7|7, 3)\)"):
                require_symmetric(A, "A")
        else:
            require_symmetric(A, "A")


def test_a_tiny_shift_is_a_near_miss_of_no_digit():
    "diag(1, 0) + s I has the condition number 1/s, and the last digit is at eps"
    eps = np.finfo(float).eps
    for times, refused in ((0.3, True), (3.0, False)):
        A = np.diag([1.0, 0.0])
        if refused:
            with pytest.raises(NotPositiveDefinite):
                Cholesky(A, times * eps)
        else:
            assert len(Cholesky(A, times * eps)) == 2


def test_signs():
    V = np.array([[0.5, -0.4, 0.0, -1.0], [-1.0, 1.0, 0.0, 0.5]])
    assert signs(V).tolist() == [-1, 1, 1, -1] and signs(V.astype("f")).dtype == np.float32
    for W in (V, -V):
        np.testing.assert_array_equal(signed(W), V * [-1, 1, 1, -1])
    ties = np.array([[1.0], [-1.0]])
    for noise in (1e-15, -1e-15):  # rounding cannot flip it
        assert (signed(ties + [[noise], [0]])[0] > 0).all()


def test_centred():
    K = positive(9)
    H = np.eye(9) - 1 / 9
    np.testing.assert_allclose(centred(K), H @ K @ H, atol=1e-15)
    np.testing.assert_array_equal(centred(K), centred(K).T)
    assert centred(K.astype("f")).dtype == np.float32


def test_spans_cover_a_range():
    assert [(s.start, s.stop) for s in blocks.spans(5, 2, start=1)] == [(1, 3), (3, 5)]


def test_blocks_of_rows_fill_the_budget_and_never_exceed_it():
    with settings.using(block_mib=1):
        assert [s.stop - s.start for s in blocks.row_blocks(300, 2**13)] == [128, 128, 44]


@pytest.mark.parametrize(
    "value, word",
    [(["a"], "text"), ([b"a"], "bytes"), ([1j], "complex numbers"), ([date(2026, 1, 1)], "dates")],
)
def test_what_is_no_number_is_called_by_its_kind(value, word):
    with pytest.raises((TypeError, ValueError), match=f"holds .*{word}"):
        arrays.as_floats(np.array(value), "X")


@pytest.mark.parametrize("n, threads", [(64, 2), (65, 1), (2000, 1), (2001, 2)])
def test_blas_has_one_thread_for_few_rows_and_all_for_many(n, threads):
    "Of 64 rows OpenBLAS makes no products in several threads"
    with threadpool_limits(2, user_api="blas"):
        if blocks.n_threads() < 2:
            pytest.skip("BLAS has one thread here")
        with blocks.few_threads(n):
            assert blocks.n_threads() == threads
        assert blocks.n_threads() == 2


def threads_of_blas():
    "By the package whose wheel brought the library; the test is skipped where both share one"
    found = {
        own: info["num_threads"]
        for info in threadpool_info()
        for own in ("numpy", "scipy")
        if f"{own}.libs" in info["filepath"] or f"{own}/.dylibs" in info["filepath"]
    }
    if len(found) < 2:
        pytest.skip("NumPy and SciPy share a BLAS here")
    return found


def test_numpy_has_one_thread_beside_the_threads_of_lapack():
    with threadpool_limits(2, user_api="blas"):
        if threads_of_blas() != {"numpy": 2, "scipy": 2}:
            pytest.skip("BLAS has one thread here")
        with blocks.one_pool(2000):
            assert threads_of_blas() == {"numpy": 1, "scipy": 1}
        with blocks.one_pool(2001):
            assert threads_of_blas() == {"numpy": 1, "scipy": 2}
        with blocks.one_pool(2001, lapack=False):
            assert threads_of_blas() == {"numpy": 2, "scipy": 1}
        with blocks.one_pool(), blocks.one_pool():
            assert threads_of_blas() == {"numpy": 1, "scipy": 2} and blocks.n_threads() == 2
            with blocks.few_threads(200), blocks.one_pool():
                assert threads_of_blas() == {"numpy": 1, "scipy": 1}
            assert threads_of_blas() == {"numpy": 1, "scipy": 2}
        assert threads_of_blas() == {"numpy": 2, "scipy": 2}


def test_limits_end_with_their_last_user_whoever_came_first():
    "threadpoolctl from 3.8 on obeys the thread that came first, as long as it lives"
    inside, leave = threading.Event(), threading.Event()

    def first():
        with blocks.one_blas_thread():
            inside.set()
            assert leave.wait(30)

    with threadpool_limits(2, user_api="blas"):
        if blocks.n_threads() < 2:
            pytest.skip("BLAS has one thread here")
    with ThreadPoolExecutor(1) as pool:  # its thread stays alive
        libraries = [library for group in blocks._blas() for library in group]
        before = [library.num_threads for library in libraries]
        for library in libraries:
            library.set_num_threads(2)
        blocks._let_go(force=True)
        try:
            job = pool.submit(first)
            assert inside.wait(30)
            with blocks.one_blas_thread():
                leave.set()
                job.result()
                assert blocks.n_threads() == 1
            assert blocks.n_threads() == 2
            with blocks.one_blas_thread():
                assert blocks.n_threads() == 1
        finally:
            for library, number in zip(libraries, before, strict=True):
                library.set_num_threads(number)
            blocks._let_go(force=True)


def test_limits_of_other_threads_are_obeyed_after_ours_and_ours_after_theirs():
    libraries = [library for group in blocks._blas() for library in group]
    before = [library.num_threads for library in libraries]

    def ask(*numbers):
        for library, number in zip(libraries, numbers, strict=True):
            library.set_num_threads(number)

    with ThreadPoolExecutor(1) as pool:  # its thread stays alive
        try:
            pool.submit(ask, *[2] * len(libraries)).result()
            if blocks.n_threads() < 2:
                pytest.skip("BLAS has one thread here")
            with blocks.one_blas_thread():
                assert blocks.n_threads() == 1
            assert blocks.n_threads() == 2
            pool.submit(ask, *[1] * len(libraries)).result()
            assert blocks.n_threads() == 1
        finally:
            blocks._let_go(force=True)
            ask(*before)
            blocks._let_go(force=True)


def test_a_limit_that_is_cut_short_is_lifted_by_the_next_user(monkeypatch):
    "Ctrl-C may come while threads are given back"
    whole, calls = blocks._as_users_ask, []

    def cut():
        calls.append(len(blocks._users))
        if len(calls) == 2:
            raise KeyboardInterrupt
        whole()

    with threadpool_limits(2, user_api="blas"):
        if blocks.n_threads() < 2:
            pytest.skip("BLAS has one thread here")
        monkeypatch.setattr(blocks, "_as_users_ask", cut)
        with pytest.raises(KeyboardInterrupt), blocks.one_blas_thread():
            pass
        assert blocks.n_threads() == 1
        with blocks.one_blas_thread():
            assert blocks.n_threads() == 1
        assert blocks.n_threads() == 2 and calls == [1, 0, 1, 0]


def test_one_library_for_both_is_not_limited(monkeypatch):
    "As in conda: there is nothing to keep apart"
    whole = ThreadpoolController().select(user_api="blas")
    monkeypatch.setattr(blocks, "_blas", lambda: ([], whole.lib_controllers))
    with threadpool_limits(2, user_api="blas"):
        if blocks.n_threads() < 2:
            pytest.skip("BLAS has one thread here")
        before = threads_of_blas()
        for lapack in (True, False):
            with blocks.one_pool(2001, lapack):
                assert threads_of_blas() == before
            with blocks.one_pool(2000, lapack):
                assert set(threads_of_blas().values()) == {1}


X, y = np.linspace(0, 1, 30)[:, None], np.sin(np.arange(30.0) + 1)
LOOPS = {  # what goes to and fro between LAPACK and products of NumPy's
    "evidence.with_slope": lambda k: rkhs_notes.fit_hyperparameters(k, X, y, 0.1),
    "learned_noise.with_slope": lambda k: rkhs_notes.learn_noise(k, X, y, max_iter=2),
    "convex._best_of": lambda k: rkhs_notes.minimize_convex(
        k(X), np.sign(y), rkhs_notes.logistic, 0.1
    ),
    "operators.dsyrk": lambda k: rkhs_notes.ridge_large(k, X, y, 0.1, n_centres=5, rng=0),
    "lowrank.Factored.half_solve": lambda k: rkhs_notes.pivoted_cholesky(k, X, 8, rng=0),
    "sums._with_gram": lambda k: rkhs_notes.StreamingMeans(
        rkhs_notes.nystrom_features(k, X, 5, rng=0)
    ).update(X),
}


@pytest.mark.parametrize("name", LOOPS)
def test_loops_between_lapack_and_products_keep_one_pool_awake(monkeypatch, name):
    seen, (module, attribute) = [], name.split(".", 1)
    folder = "data" if module == "sums" else "solving"
    target = f"rkhs_notes.engines.{folder}.{module}.{attribute}"
    f = pkgutil.resolve_name(target)
    monkeypatch.setattr(blocks, "_FEW", 20)
    monkeypatch.setattr(target, lambda *a, **o: seen.append(threads_of_blas()) or f(*a, **o))
    with threadpool_limits(2, user_api="blas"):
        before = threads_of_blas()
        LOOPS[name](Gaussian(0.3))
        assert threads_of_blas() == before
    asleep = "scipy" if module == "lowrank" else "numpy"  # its products are the larger part
    assert seen and all(threads == before | {asleep: 1} for threads in seen)


def test_sections_at_many_centres_let_numpy_sleep_before_lapack(monkeypatch):
    seen, gram = [], Gaussian._gram

    def watched(k, *args):
        seen.append(threads_of_blas()["numpy"])
        return gram(k, *args)

    with threadpool_limits(2, user_api="blas"):
        before = threads_of_blas()["numpy"]
        for n, threads in ((2000, before), (2001, 1)):
            k = rkhs_notes.Conditioned(Gaussian(0.3), np.linspace(0, 1, n), 0.1)
            with monkeypatch.context() as patch:
                patch.setattr(Gaussian, "_gram", watched)
                seen.clear()
                k.diag(X)
            assert seen == [threads]


def test_sizes_beyond_all_floats_are_told():
    with settings.using(result_mib=1):
        blocks.require_fits((2**10, 2**7))
        with pytest.raises(MemoryError, match=r"takes 0\.000984 GiB; the limit is"):
            blocks.require_fits((2**10, 2**7 + 1))
        with pytest.raises(MemoryError, match=r"takes 10\^391 GiB"):
            blocks.require_fits((10**200, 10**200))


def test_factorisations_of_some_rows_take_one_thread(monkeypatch):
    "A second one waits for its turn at every step while other programs hold the cores"
    seen, eigh, svd = [], np.linalg.eigh, np.linalg.svd
    lapack = scipy.linalg.get_lapack_funcs

    def watched(f):
        return lambda *args, **options: seen.append(blocks.n_threads()) or f(*args, **options)

    monkeypatch.setattr(np.linalg, "eigh", watched(eigh))
    monkeypatch.setattr(np.linalg, "svd", watched(svd))
    monkeypatch.setattr(
        scipy.linalg, "get_lapack_funcs", lambda *args: [watched(f) for f in lapack(*args)]
    )

    def threads(n):
        "That each routine is left, for n rows"
        seen.clear()
        K, b = np.eye(n), np.ones((n, 1))
        chol = factors.Cholesky(K, 0.5)
        chol.solve(b), chol.half_solve(b), chol.inverse(), chol.inverse_diagonal()
        factors.eigh(K[:300, :300] if n > 300 else K), factors.svd(b)
        return seen.copy()

    with threadpool_limits(2, user_api="blas"):
        if blocks.n_threads() < 2:
            pytest.skip("BLAS has one thread here")
        assert threads(200) == [1] * 7
        assert threads(60) == [2] * 7  # it takes one by itself
        assert threads(2001) == [2] * 5 + [1, 2]
        seen.clear()
        wide = np.ones((800, 800))  # columns do not wait for each other: n² m > 5e8
        for n in (800, 780):
            factors.Factored(np.eye(n)).half_solve(wide[:n])
        assert seen == [2, 1]


def test_things_without_hash_and_truth_are_different_unless_they_are_one():
    "Dicts that hold arrays: neither hash(x) nor bool(x == y) is there"
    a, b = {"x": np.zeros(2)}, {"x": np.zeros(2)}
    held = Objects([a, b, a])
    first, place = distinct(held)
    assert first.tolist() == [0, 1] and place.tolist() == [0, 1, 0]
    assert not differ(held) and differ(held[:2])


@pytest.mark.parametrize("d", [2, 5, 100])
def test_units_of_coordinates_are_read_in_the_precision_of_the_points(d):
    "Few columns, many, and those between take ways of their own"
    rng = np.random.default_rng(0)
    X, units = rng.normal(size=(50, d)).astype("f4"), 2.0 ** rng.integers(-3, 4, d)
    for own in units, units.tolist():
        squares = sqdist(X, None, own)
        assert squares.dtype == np.float32 and (squares == sqdist(X / np.float32(units))).all()
    with pytest.raises(ValueError, match="a column for each of the scales"):
        sqdist(X, None, units[1:])


def test_sparse_points_may_be_zero_everywhere():
    X, Z = scipy.sparse.csr_array((3, 2)), np.eye(2)
    for k in Linear(), Gaussian(1.0):
        assert (k(X) == k(np.zeros((3, 2)))).all() and (k(X, Z) == k(np.zeros((3, 2)), Z)).all()


def test_objects_are_shown_in_one_line():
    assert repr(Objects([np.eye(2), "a\nb"])).count("\n") == 0


@pytest.mark.parametrize("d", [2, 100])
def test_a_point_is_at_no_distance_from_itself(d):
    "However far from 0 it lies, and dense or in sparse rows"
    X = 1e3 + np.random.default_rng(0).normal(size=(40, d))
    for points in X, X.astype("f4"), as_sparse_rows(scipy.sparse.csr_array(X)):
        assert (sqdist(points).diagonal() == 0).all()
