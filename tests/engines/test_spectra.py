"""Leading eigenpairs against LAPACK and ARPACK, in every form an operator may take."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, aslinearoperator, eigsh

from rkhs_notes import settings
from rkhs_notes.base.contracts import fuzz
from rkhs_notes.base.errors import ConvergenceFailure, IndefiniteKernel
from rkhs_notes.deeper.zoo import Delta, Laplace, Precomputed
from rkhs_notes.engines.solving.gram_operators import GramOperator
from rkhs_notes.engines.solving.spectra import leading_eigenpairs
from rkhs_notes.kernels import Brownian, Constant, Gaussian, Linear, Polynomial, Sigmoid

rng = np.random.default_rng(0)
cloud = rng.normal(size=(700, 4))


@cache
def orthonormal(n):
    return np.linalg.qr(np.random.default_rng(0).normal(size=(n, n)))[0]


def matrix_with(values):
    "A symmetric matrix with these eigenvalues"
    basis = orthonormal(len(values))
    A = basis * np.asarray(values) @ basis.T
    return (A + A.T) / 2


def certify(A, found, tol=1e-10, scale=None):
    "The vectors are orthonormal and every residual is what it is said to be"
    V, scale = found.vectors, scale or np.abs(found.values).max() or 1.0
    assert np.abs(V.T @ V - np.eye(V.shape[1])).max() < tol
    residuals = np.linalg.norm((A @ V - V * found.values) / scale, axis=0)
    np.testing.assert_allclose(residuals, found.residuals / scale, atol=1e-13)
    assert residuals.max() < tol and (np.diff(found.values) <= 0).all()


SPECTRA = {
    "fast": 0.8 ** np.arange(700),
    "slow": 1 / np.arange(1, 701),
    "finite rank": np.r_[np.ones(5), np.zeros(695)],
    "thirty equal": np.r_[np.ones(30), 0.9 ** np.arange(1, 671)],
    "zero": np.zeros(700),
    "two levels": np.r_[np.full(40, 2.0), np.full(60, 1.0), np.zeros(600)],
    "negative too": np.r_[1 / np.arange(1, 401), -1 / np.arange(1, 301)],
    "all negative": -1 / np.arange(1, 701),
    "huge": 1e200 / np.arange(1, 701),
    "tiny": 1e-200 / np.arange(1, 701) ** 2,
    "flat": np.linspace(1, 2, 700),
}


@pytest.mark.parametrize("name", SPECTRA)
@pytest.mark.parametrize("dense", [True, False])
def test_every_spectrum(name, dense):
    values = np.sort(SPECTRA[name])[::-1]
    A = matrix_with(values)
    found = leading_eigenpairs(A, 25, dense=dense)
    scale = np.abs(values).max() or 1.0
    np.testing.assert_allclose(found.values / scale, values[:25] / scale, atol=1e-11)
    certify(A, found, scale=scale)


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 100), st.booleans())
def test_small_matrices(n, n_terms, seed, integers):
    draw = np.random.default_rng(seed)
    B = draw.integers(-2, 3, size=(n, n)) if integers else draw.normal(size=(n, n))
    A, n_terms = B @ B.T, min(n, n_terms)
    found = leading_eigenpairs(A, n_terms)
    size = max(np.abs(A).max(), 1)
    np.testing.assert_allclose(
        found.values, np.linalg.eigvalsh(A)[::-1][:n_terms], atol=1e-12 * n * size
    )
    certify(A, found, 1e-9)


@pytest.mark.second_route(
    "Eigenpairs", "GramOperator", "leading_eigenpairs", "SciPy's Lanczos iteration"
)
@pytest.mark.parametrize(
    "k",
    [
        Gaussian(2),
        Laplace(3),
        Linear() + Constant(1),
        Delta() + Gaussian(2),
        Linear() * Gaussian(3),
    ],
)
@pytest.mark.parametrize("centred", [False, True])
def test_every_form_of_an_operator_is_one_matrix(k, centred):
    w = np.random.default_rng(3).uniform(0, 2, size=700)
    u = np.sqrt(w) / np.linalg.norm(np.sqrt(w))
    A = np.sqrt(w)[:, None] * k(cloud) * np.sqrt(w)
    H = np.eye(700) - np.outer(u, u)
    A = H @ A @ H if centred else A
    with settings.using(result_mib=1):
        in_tiles = GramOperator(k, cloud, w, centred)
        assert in_tiles.K is None
        small = leading_eigenpairs(in_tiles, 6)
    stored = GramOperator(k, cloud, w, centred)
    forms = [leading_eigenpairs(form, 6) for form in (stored, A, aslinearoperator(A))]
    scale = forms[0].values[0]
    A = (A + A.T) / 2
    top = eigsh(A, k=6)[0][::-1]
    for found in [small, *forms]:
        np.testing.assert_allclose(found.values, top, atol=1e-9 * scale)
        certify(A, found)
    assert np.isclose(stored.trace(), np.trace(A)) and np.isclose(in_tiles.trace(), np.trace(A))
    assert np.abs(stored.matrix() - A).max() < 1e-12 * np.abs(A).max()


@pytest.mark.parametrize("block_mib", [0.02, 0.3, 64])
def test_short_memory_restarts(block_mib):
    A = matrix_with(1 / np.arange(1, 801) ** 1.5)
    with settings.using(block_mib=block_mib):
        found = leading_eigenpairs(A, 30)
    np.testing.assert_allclose(found.values, 1 / np.arange(1, 31) ** 1.5, atol=1e-12)
    certify(A, found)


def test_float32_stays_and_reaches_its_precision():
    A = GramOperator(Gaussian(2), cloud.astype("f"))
    found = leading_eigenpairs(A, 10)
    assert found.vectors.dtype == A.dtype == np.float32
    np.testing.assert_allclose(
        found.values, np.linalg.eigvalsh(Gaussian(2)(cloud))[::-1][:10], rtol=1e-4
    )


@pytest.mark.parametrize("n", [50, 700])
def test_float32_pairs_are_float32(n):
    found = leading_eigenpairs(np.diag(np.arange(n)).astype("f"), 5, dense=n < 600)
    assert found.values.dtype == found.vectors.dtype == found.residuals.dtype == np.float32
    np.testing.assert_allclose(found.values, np.arange(n - 1, n - 6, -1), rtol=1e-5)


@pytest.mark.parametrize("multiplicity", [11, 13, 17, 24, 25, 60])
def test_no_hidden_vectors(multiplicity):
    values = np.r_[
        5, 4, 3, np.ones(multiplicity), np.full(multiplicity, 0.5), np.linspace(0, 0.4, 400)
    ]
    values = np.sort(values[:400])[::-1]
    A = matrix_with(values)
    for n_terms in (6, 3 + multiplicity, 3 + min(2 * multiplicity, 60)):
        found = leading_eigenpairs(A, n_terms, dense=False)
        np.testing.assert_allclose(found.values, values[:n_terms], atol=1e-11)
        certify(A, found)


@pytest.mark.parametrize(
    "n, n_terms", [(1, 1), (5, 2), (13, 13), (30, 30), (60, 12), (60, 13), (700, 700)]
)
def test_a_basis_of_the_whole_space(n, n_terms):
    values = np.sort(1 / np.arange(1, n + 1))[::-1]
    found = leading_eigenpairs(matrix_with(values), n_terms, dense=False)
    np.testing.assert_allclose(found.values, values[:n_terms], atol=1e-12)


@pytest.mark.parametrize("n", [40, 700])
@pytest.mark.parametrize(
    "k, shift", [(Constant(1), 0), (Linear(), 1e3), (Linear(), 1e6), (Polynomial(2), 1e3)]
)
def test_centring_may_cancel_most_of_the_matrix(n, k, shift):
    X = cloud[:n] + shift
    with settings.using(result_mib=0.001 if n == 700 else 4096):
        found = leading_eigenpairs(GramOperator(k, X, centred=True), 3)
    K = k(X) - k(X).mean(axis=0)
    K -= K.mean(axis=1)[:, None]
    rounding = 1e-13 * np.trace(k(X))
    np.testing.assert_allclose(
        found.values, np.linalg.eigvalsh((K + K.T) / 2)[::-1][:3], atol=rounding
    )
    assert found.residuals.max() < rounding


class Bare:
    "An operator with shape and @, and nothing else"

    def __init__(self, A):
        self.A, self.shape = A, A.shape

    def __matmul__(self, V):
        return self.A @ V


@pytest.mark.parametrize("n", [50, 700])
@pytest.mark.parametrize(
    "wrap",
    [Bare, aslinearoperator, csr_array, lambda A: GramOperator(Precomputed(A), np.arange(len(A)))],
)
def test_what_may_stand_for_a_matrix(wrap, n):
    values = 0.9 ** np.arange(n)
    found = leading_eigenpairs(wrap(matrix_with(values)), 4)
    np.testing.assert_allclose(found.values, values[:4], atol=1e-12)


@pytest.mark.parametrize("mib", [0.01, 4096])
@pytest.mark.parametrize("centred", [False, True])
def test_products_of_one_vector_and_of_several(mib, centred):
    with settings.using(result_mib=mib):
        A = GramOperator(Gaussian(1), cloud[:50], np.arange(50), centred)
    M, V = GramOperator(Gaussian(1), cloud[:50], np.arange(50), centred).matrix(), np.eye(50)[:, :3]
    np.testing.assert_allclose(A @ V, M @ V, atol=1e-12)
    np.testing.assert_allclose(A @ list(V[:, 1]), M[:, 1], atol=1e-12)
    assert (A @ V[:, 1]).shape == (50,) and np.abs(M - M.T).max() < 1e-14


def test_no_product_is_made_twice():
    seen = []

    def multiply(V):
        seen.append(V.shape[1])
        return K @ V

    found = leading_eigenpairs(
        LinearOperator((700, 700), lambda v: K @ v, matmat=multiply, dtype=float), 4
    )
    assert sum(seen) == found.products


def test_same_seed_same_answer():
    A = Gaussian(1)(cloud)
    one, two = leading_eigenpairs(A, 9), leading_eigenpairs(A, 9)
    assert (one.vectors == two.vectors).all()
    other = leading_eigenpairs(A, 9, rng=5)
    assert (other.vectors == leading_eigenpairs(A, 9, rng=np.random.default_rng(5)).vectors).all()
    np.testing.assert_allclose(other.vectors, one.vectors, atol=1e-7)


def test_the_input_is_left_alone():
    A = matrix_with(1 / np.arange(1, 801))
    before = A.copy()
    leading_eigenpairs(A, 5), leading_eigenpairs(A[:50, :50], 5)
    assert (A == before).all()


def test_points_may_be_indices():
    K = matrix_with(1 / np.arange(1, 51))
    found = leading_eigenpairs(GramOperator(Precomputed(K), np.arange(50)), 3)
    np.testing.assert_allclose(found.values, [1, 1 / 2, 1 / 3], atol=1e-12)


class Short(Bare):
    def __matmul__(self, V):
        return (self.A @ V)[:-1]


K = Gaussian(1)(cloud)
BAD = {
    "not square": (lambda: leading_eigenpairs(K[:, :5], 2), ValueError, "square"),
    "a vector": (lambda: leading_eigenpairs(K[0], 2), ValueError, "square"),
    "not symmetric": (lambda: leading_eigenpairs(np.triu(K), 2), ValueError, "not symmetric"),
    "not symmetric, small": (
        lambda: leading_eigenpairs([[1, 2], [0, 1]], 1),
        ValueError,
        "not symmetric",
    ),
    "nan": (lambda: leading_eigenpairs(np.full((700, 700), np.nan), 2), ValueError, "not finite"),
    "nan product": (
        lambda: leading_eigenpairs(LinearOperator((700, 700), lambda v: v * np.nan), 2),
        ValueError,
        "not finite",
    ),
    "too many terms": (lambda: leading_eigenpairs(np.eye(3), 4), ValueError, "≤ 3"),
    "no terms": (lambda: leading_eigenpairs(K, 0), ValueError, "n_terms = 0"),
    "half a term": (lambda: leading_eigenpairs(K, 2.5), ValueError, "whole"),
    "terms as text": (lambda: leading_eigenpairs(K, "all"), TypeError, "n_terms"),
    "tol": (lambda: leading_eigenpairs(K, 2, tol=0), ValueError, "tol = 0"),
    "text": (lambda: leading_eigenpairs("K", 2), (TypeError, ValueError), "A "),
    "no convergence": (
        lambda: leading_eigenpairs(K, 20, max_products=60),
        ConvergenceFailure,
        "max_products",
    ),
    "weights": (
        lambda: GramOperator(Gaussian(1), cloud, np.ones(3)),
        ValueError,
        "weights has shape",
    ),
    "negative weights": (
        lambda: GramOperator(Gaussian(1), cloud, -np.ones(700)),
        ValueError,
        "least entry -1",
    ),
    "no weights": (
        lambda: GramOperator(Gaussian(1), cloud, np.zeros(700)),
        ValueError,
        "not all 0",
    ),
    "a number": (lambda: leading_eigenpairs(3.0, 1), ValueError, "square"),
    "complex": (lambda: leading_eigenpairs(aslinearoperator(1j * K), 2), TypeError, "complex128"),
    "complex products": (lambda: leading_eigenpairs(Bare(1j * K), 2), TypeError, "complex"),
    "overflow": (lambda: leading_eigenpairs(np.full((4, 4), 1e308), 2), ValueError, "divide A by"),
    "overflow, float32": (
        lambda: leading_eigenpairs(np.full((4, 4), 3e38, "f"), 2),
        ValueError,
        "overflows float32",
    ),
    "overflow, products": (
        lambda: leading_eigenpairs(np.full((700, 700), 1e307), 2),
        ValueError,
        "overflow",
    ),
    "tiny": (lambda: leading_eigenpairs(np.full((4, 4), 1e-320), 2), ValueError, "too small"),
    "product of another shape": (
        lambda: leading_eigenpairs(Short(K), 2),
        ValueError,
        "the shape of V",
    ),
    "tol above 1": (lambda: leading_eigenpairs(K, 2, tol=2), ValueError, "tol = 2"),
    "tol below rounding": (
        lambda: leading_eigenpairs(K, 2, tol=1e-300),
        ValueError,
        "rounding begins",
    ),
    "rng": (lambda: leading_eigenpairs(K, 2, rng="a"), TypeError, "rng"),
    "no kernel": (lambda: GramOperator(np.dot, cloud), TypeError, "not a Kernel"),
    "indefinite": (lambda: GramOperator(Sigmoid(1, -1), cloud), IndefiniteKernel, "cᵀKc"),
    "weights nan": (
        lambda: GramOperator(Gaussian(1), cloud, np.full(700, np.nan)),
        ValueError,
        "weights is not finite",
    ),
    "weights too large": (
        lambda: GramOperator(Gaussian(1), cloud.astype("f"), np.full(700, 1e60)),
        ValueError,
        "range of float32.*float64 points",
    ),
    "weights too small": (
        lambda: GramOperator(Gaussian(1), cloud, np.full(700, 1e-320)),
        ValueError,
        "rescale the weights",
    ),
    "vector of another length": (
        lambda: GramOperator(Gaussian(1), cloud) @ np.ones(3),
        ValueError,
        r"pass \(700,\)",
    ),
    "domain": (lambda: GramOperator(Brownian(), [-1.0, 1.0]), ValueError, "outside"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case):
    use, error, words = BAD[case]
    with pytest.raises(error, match=words):
        use()


def test_a_product_that_changes_is_noticed():
    noise = np.random.default_rng(0)
    A = LinearOperator((700, 700), lambda v: K @ v + 1e-4 * noise.normal(size=v.shape))
    with pytest.raises((ValueError, ConvergenceFailure)):
        leading_eigenpairs(A, 3)


def test_too_large_for_a_matrix():
    with settings.using(result_mib=1), pytest.raises(MemoryError, match="fewer terms"):
        leading_eigenpairs(Bare(K), 500)
    with settings.using(result_mib=1), pytest.raises(MemoryError, match="fewer terms"):
        leading_eigenpairs(GramOperator(Gaussian(1), cloud), 500)


# near misses: three times what is allowed is refused, a third of it is not


def crooked(A, gap):
    "A with one entry above the diagonal larger by gap"
    A = A.copy()
    A[0, 1] += gap
    return A


@pytest.mark.parametrize("n", [5, 300])
def test_a_near_miss_of_symmetry_for_lapack(n):
    A = np.diag(np.linspace(0.75, 0.1, n))  # nearest power of two: 1
    allowed = 100 * n * np.finfo(float).eps
    leading_eigenpairs(crooked(A, allowed / 3), 2)
    with pytest.raises(ValueError, match="not symmetric"):
        leading_eigenpairs(crooked(A, 3 * allowed), 2)


@pytest.mark.parametrize("tol", [1e-12, 1e-9])
def test_a_near_miss_of_symmetry_in_the_iteration(tol):
    "What the first block of T shows: its asymmetry is that of A between the first random rows"
    A, n, block = matrix_with(1 / np.arange(1, 701)), 700, 8
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((block, n)).T)[0]
    B = np.outer(Q[:, 0], Q[:, 1])
    size = max(np.abs(Q.T @ A @ Q).max(), np.abs(A @ Q - Q @ (Q.T @ A @ Q)).max())
    allowed = 1e3 * block * max(tol, np.finfo(float).eps ** 0.75) * size
    with pytest.raises(ValueError, match="A is not symmetric: it differs"):
        leading_eigenpairs(A + 3 * allowed * B, 3, tol=tol, rng=0)
    try:
        leading_eigenpairs(A + allowed / 3 * B, 3, tol=tol, rng=0)
    except ConvergenceFailure as e:  # passed here, and found out by the residual
        assert "not symmetric, or its product" in str(e) or "has not settled" in str(e)


class Jump(Bare):
    "A symmetric operator whose last product is off by `gap` in the first vector"

    def __init__(self, A, calls, gap):
        super().__init__(A)
        self.left, self.gap = calls, gap

    def __matmul__(self, V):
        self.left -= 1
        product = self.A @ V
        if self.left == 0:
            product[:, 0] += self.gap * V[::-1, 0] / np.linalg.norm(V[:, 0])
        return product


@pytest.mark.parametrize("tol", [1e-10, 1e-6])
def test_a_near_miss_of_the_certificate(tol):
    A = matrix_with(0.7 ** np.arange(700))
    calls = Jump(A, 10**6, 0)
    leading_eigenpairs(calls, 3, tol=tol)
    count = 10**6 - calls.left
    leading_eigenpairs(Jump(A, count, 1e3 * tol / 3), 3, tol=tol)
    with pytest.raises(ConvergenceFailure, match="‖A v − θ v‖ is"):
        leading_eigenpairs(Jump(A, count, 3e3 * tol), 3, tol=tol)


def test_a_near_miss_of_equal_eigenvalues():
    "A probe costs products: asked for by a gap of 1e-8 / 3 among `block` values, not by 3e-8"
    products = []
    for gap in (3e-9, 3e-8):
        top = np.r_[1 + gap, np.ones(12)]  # first and 12th differ by gap, none else within the 13
        values = np.r_[1 + gap * np.linspace(1, 0, 12), 0.3 * 0.8 ** np.arange(688)]
        assert len(top) == 13 and len(values) == 700
        products.append(leading_eigenpairs(matrix_with(values), 12, dense=False, tol=1e-9).products)
    assert products[0] > products[1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_near_miss_of_the_smallest_tolerance(dtype):
    A, least = np.diag(np.arange(3)).astype(dtype), 4 * float(np.finfo(dtype).eps)
    leading_eigenpairs(A, 1, tol=least)
    with pytest.raises(ValueError, match="rounding begins"):
        leading_eigenpairs(A, 1, tol=least / 3)


def test_words_of_the_signature():
    assert fuzz(leading_eigenpairs, 0, n_terms=lambda rng: 1) > 60
    A = GramOperator(Gaussian(1), cloud[:9], centred=True)
    assert repr(A) == "GramOperator of Gaussian(bandwidth=1), 9 points, centred"
    with pytest.raises(AttributeError, match="value"):
        A.centred = False
    with pytest.raises(TypeError, match="centred"):
        GramOperator(Gaussian(1), cloud[:9], centred="yes")


def test_the_lowest_value_is_that_of_the_whole_matrix():
    assert leading_eigenpairs(np.diag([3.0, 1.0, -2.0, 0.5]), 2).lowest == -2.0


@pytest.mark.parametrize("rows", [1, 30, 1100])
def test_products_of_any_width_are_those_of_the_matrix(rows):
    "One vector, a few, and so many that the product is made in one piece"
    rng = np.random.default_rng(0)
    X, V = rng.normal(size=(1000, 2)), rng.normal(size=(rows, 1000))
    A, K = GramOperator(Gaussian(1.0), X), Gaussian(1.0)(X)
    np.testing.assert_allclose(A @ V.T, K @ V.T, atol=1000 * np.finfo(float).eps * 4)


@pytest.mark.parametrize("near", [(0, 0.8), (33, 0.97), (60, 0.99)], ids=str)
@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_copies_of_the_leading_value_beyond_the_width_of_a_block_are_found(tol, near):
    """In exact arithmetic a block of 8 sees 8 copies: the others come with fresh random rows, which
    are followed until no copy can hide among values that are near"""
    n_near, value = near
    for seed in range(4):
        rng = np.random.default_rng(seed)
        values = np.repeat([1.0, value], [20, n_near])
        values = np.append(values, rng.uniform(0, 0.8, 460 - len(values)))
        Q = np.linalg.qr(rng.normal(size=(460, 460)))[0]
        A = Q * values @ Q.T
        found = leading_eigenpairs((A + A.T) / 2, 12, rng=seed, tol=tol, dense=False).values
        np.testing.assert_allclose(found, 1.0, atol=min(10 * tol, 3e-3))


@pytest.mark.parametrize("seed", range(3))
def test_a_doubt_about_copies_alone_is_no_failure(seed):
    "Below 8 equal values lie many: to exclude a ninth takes more products than there are"
    values = np.random.default_rng(seed).uniform(0, 1, 600)
    values[:8] = 1.1
    found = leading_eigenpairs(np.diag(values), 12, rng=0)
    np.testing.assert_allclose(found.values, np.sort(values)[:-13:-1], rtol=1e-11)
