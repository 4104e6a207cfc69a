"""Appendix C: factors of positive definite matrices against dense algebra, both sides of every bound."""

import pickle

import numpy as np
import pytest
from rkhs_notes import arrays
from rkhs_notes.arrays import Cholesky, Factored, PivotedCholesky, norm1, psd_factor, schur, schur_rounding
from rkhs_notes.errors import IndefiniteKernel, NotPositiveDefinite
from rkhs_notes.kernels import Gaussian, Kernel
from rkhs_notes.representer import gaussian_process, gp_classification

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
        monkeypatch.setattr(arrays, "_LARGEST_POTRF", 0)
        monkeypatch.setattr(arrays._panel_cholesky, "__defaults__", (7,))
    if request.param.startswith("L"):
        L = np.linalg.cholesky(A)
        return A, Factored(np.asfortranarray(L) if "Fortran" in request.param else np.ascontiguousarray(L))
    return A, Cholesky(A)


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
    np.testing.assert_allclose(done.explained(B, b[:, None])[:, 0], B.T @ np.linalg.solve(A, b), atol=1e-13)
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
    assert single.half_solve(np.ones(9)).dtype == float and single.solve(np.ones(9)).dtype == np.float32


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
        assert Cholesky(A).rcond(norm1(A)) == pytest.approx(1 / condition)
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
        with pytest.raises(IndefiniteKernel, match="my kernel.*point 0.*never negative"):
            schur(done, c, b, name="my kernel")
    with pytest.raises(IndefiniteKernel):
        schur(done, C - 0.1 * bound, b, eps=float(np.finfo(dtype).eps) * 1e-2)  # entries known better


def test_the_bound_grows_where_the_matrix_is_nearly_singular():
    near, far = Cholesky(np.array([[1, 1 - 1e-10], [1 - 1e-10, 1]])), Cholesky(np.eye(2))
    b = np.array([[1.0], [-1.0]])
    bounds = [schur_rounding(A, np.ones(1), A.half_solve(b))[0] for A in (near, far)]
    np.testing.assert_allclose(bounds[1], np.finfo(float).eps ** 0.75 * 9, rtol=1e-3)  # ‖A⁻¹b‖₁ = 2
    np.testing.assert_allclose(bounds[0], np.finfo(float).eps ** 0.75 * 4e20, rtol=1e-3)  # 2e10
    shifted = Cholesky(np.eye(2), shift=1e9)  # a shift is exact: it does not add its eps^(3/4)
    assert schur_rounding(shifted, np.ones(1), shifted.half_solve(b))[0] < 1e-11


def test_the_worst_of_many_points_is_named():
    with pytest.raises(IndefiniteKernel, match="point 2.*less what the other points explain is -0.75"):
        schur(Cholesky(np.eye(1)), np.array([1.0, 0.9, 0.25, 1.0]), np.ones((1, 4)))


def test_independent_rows():
    G = rng.normal(size=(9, 4))
    A = G @ G.T
    A[5], A[:, 5] = 0, 0  # a section of length 0
    kept = PivotedCholesky(A)
    assert len(kept) == 4 and 5 not in kept.order
    np.testing.assert_allclose(kept.L @ kept.L.T, A[np.ix_(kept.order, kept.order)], atol=1e-12)
    H = kept.half_solve(A[kept.order])
    np.testing.assert_allclose(H.T @ H, A, atol=1e-10)  # they explain all the others
    stretched = PivotedCholesky(A * np.outer(scale := 10.0 ** np.arange(9), scale))
    np.testing.assert_array_equal(stretched.order, kept.order)  # measured in units of √aᵢᵢ
    assert not np.shares_memory(kept.factor, A) and (A[5] == 0).all()


# ------------------------------------------------------------------ on something that is no kernel


def test_a_process_on_no_kernel_raises():
    X = np.arange(5.0)
    gp = gaussian_process(Negative(), X, np.sin(X), noise=3.0)
    for ask in (lambda: gp.var(X), lambda: gp.cov(X), lambda: gp.sample(X, 2, 0)):
        with pytest.raises(IndefiniteKernel, match=r"Negative\(\).*-0\.5"):
            ask()


def test_a_covariance_with_a_negative_eigenvalue_raises():
    class Twisted(Kernel):
        "Variances 1, correlations ±0.9 that no law has"

        def _gram(self, X, Y, xp):
            close = X[:, None, 0] == Y[None, :, 0]
            return xp.where(close, 1.0, -0.9)

    gp = gaussian_process(Twisted(), [0.0, 1.0], [1.0, 0.0], noise=10.0)
    assert (gp.var([5.0, 6.0, 7.0]) > 0.5).all()
    with pytest.raises(IndefiniteKernel, match="eigenvalue -"):
        gp.sample([5.0, 6.0, 7.0], 1, 0)


def test_laplace_on_no_kernel_raises():
    class Late(Kernel):
        "A Gaussian on the data, negative beyond them"

        def _gram(self, X, Y, xp):
            return Gaussian(1.0)(X, Y) * xp.where(X[:, :1] * Y[None, :, 0] > 90, -1.0, 1.0)

    X = np.linspace(-2, 2, 12)
    fit = gp_classification(Late(), X, X > 0)
    assert (fit.var(X) > 0).all()
    with pytest.raises(IndefiniteKernel, match="never negative"):
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
