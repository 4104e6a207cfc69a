"""Every finite feature map against its kernel, the perceptron in both forms, and what they must refuse."""

import math
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize
from sklearn.preprocessing import PolynomialFeatures

from rkhs_notes import settings
from rkhs_notes.base.contracts import fuzz
from rkhs_notes.base.errors import (
    ConvergenceFailure,
    IndefiniteKernel,
    LawBroken,
    NoFiniteFeatureMap,
)
from rkhs_notes.deeper.zoo import (
    Bilinear,
    Delta,
    FiniteRank,
    Integral,
    Laplace,
    Matern,
    Precomputed,
    Rank1,
    Sobolev,
    SobolevFull,
)
from rkhs_notes.engines.features.feature_maps import (
    FeatureFunction,
    FeatureMap,
    MonomialMap,
    check_feature_map,
    feature_dimension,
    feature_map,
    feature_rule,
    finite_feature_map,
)
from rkhs_notes.engines.features.monomials import cost_table
from rkhs_notes.engines.functions.measures import gauss_legendre
from rkhs_notes.engines.kernels.composites import Anova, Tensor
from rkhs_notes.engines.machines.separation import (
    is_separable,
    novikoff_bound,
    perceptron_dual,
    perceptron_primal,
    widest_margin,
)
from rkhs_notes.kernels import (
    Brownian,
    Constant,
    Gaussian,
    Kernel,
    Linear,
    Polynomial,
    Product,
    Sigmoid,
)
from shared import Letters


def total(X):
    return X.sum(axis=1) if X.ndim == 2 else X


def wavy(X):
    return np.cos(total(X))


def squares(X):
    return X**2


def by_node(X, z):
    return np.cos(X.sum(axis=-1) * z) if np.ndim(X) == 3 else np.cos(X * z)


A = np.array([[2.0, 1, 0], [1, 2, 0], [0, 0, 1]])
sizes = st.floats(0.1, 3).map(lambda x: round(x, 2))
linear_algebra = st.one_of(
    st.just(Linear()),
    st.builds(Constant, st.one_of(st.just(0.0), st.floats(1e-9, 3))),
    st.just(Bilinear(A)),
    st.builds(Polynomial, st.integers(1, 3), st.sampled_from([0.0, 0.5, 1.0]), sizes),
    st.just(Linear().on([0, 2])),
    st.just(Anova(Linear(), 2)),
    st.just(Anova(Linear(), 3, up_to=True)),
    st.just(Tensor(Linear(), Linear() + Constant(1), split=1)),
)
leaves = st.one_of(
    linear_algebra,
    st.just(Rank1(wavy)),
    st.just(FiniteRank([1, 0.5], [wavy, total])),
    st.just(Linear().on(squares)),
    st.just(Integral(by_node, gauss_legendre(0, 1, 3))),
)


def grow(leaf):
    return st.recursive(
        leaf,
        lambda part: st.one_of(
            part.flatmap(lambda a: part.map(lambda b: a + b)),
            part.flatmap(lambda a: part.map(lambda b: a * b)),
            st.tuples(st.one_of(st.just(0.0), st.floats(1e-9, 10)), part).map(
                lambda pair: pair[0] * pair[1]
            ),
            part.map(lambda k: k.normalized()),
            st.tuples(part, st.integers(1, 2)).map(lambda pair: pair[0] ** pair[1]),
        ),
        max_leaves=3,
    )


finite_kernels = grow(leaves).filter(lambda k: feature_dimension(k, 3) < 3000)
sparse_kernels = grow(linear_algebra).filter(lambda k: feature_dimension(k, 3) < 3000)
data = arrays(
    float,
    st.tuples(st.integers(1, 8), st.just(3)),
    elements=st.floats(-3, 3).map(lambda x: round(x, 2)),
)


# maps


@given(finite_kernels, data)
def test_every_map_reproduces_its_kernel(k, X):
    phi = k.feature_map(3)
    check_feature_map(phi, k, X)
    assert phi.dim == feature_dimension(k, 3) == phi(X).shape[1]


@given(finite_kernels)
def test_a_dimension_bounds_every_rank(k):
    X = np.random.default_rng(0).normal(size=(40, 3))
    assert np.linalg.matrix_rank(k(X), tol=1e-9 * np.abs(k(X)).max()) <= feature_dimension(k, 3)


@given(sparse_kernels, data)
def test_sparse_points_give_the_same_features(k, X):
    X = np.where(np.abs(X) > 1, X, 0.0)
    F, G = k.feature_map(3)(sp.csr_matrix(X)), k.feature_map(3)(X)
    assert sp.issparse(F)
    np.testing.assert_allclose(F.toarray(), G, atol=1e-12 * max(1.0, np.abs(G).max(initial=0)))


@pytest.mark.parametrize(
    "make",
    [
        sp.csr_array,
        sp.csc_matrix,
        sp.coo_matrix,
        sp.lil_array,
        sp.dok_matrix,
        sp.dia_array,
        sp.bsr_matrix,
    ],
)
def test_any_sparse_format_will_do(make):
    X = np.array([[0.0, 1, 2], [0, 0, 0], [3, 0, 1]])
    check_feature_map(Polynomial(3).feature_map(3), Polynomial(3), make(X))
    np.testing.assert_allclose(Polynomial(3)(make(X)), Polynomial(3)(X), rtol=1e-14)


@pytest.mark.parametrize("kind", [bool, np.int8, np.uint8, np.float32, float])
def test_entries_given_three_times_are_added_as_floats(kind):
    times = np.array([100, 100, 100, 7]).astype(kind)
    X = np.array([[0.0, times[:3].sum(dtype=float)], [times[3], 0.0]])
    rows = sp.csr_array((times, [1, 1, 1, 0], [0, 3, 4]), shape=(2, 2))
    entries = sp.coo_array((times, ([0, 0, 0, 1], [1, 1, 1, 0])), shape=(2, 2))
    for sparse in (rows, entries):
        for k in (Linear(), Gaussian(200.0)):
            np.testing.assert_allclose(k(sparse), k(X), rtol=1e-6)
        phi = Polynomial(2).feature_map(2)
        np.testing.assert_allclose(phi(sparse).toarray(), phi(X), rtol=1e-6)


def test_kernels_and_features_refuse_the_same_sparse_points():
    beyond = sp.dia_array(
        (np.array([[1.0, 2.0, np.nan]]), [-1]), shape=(3, 3)
    )  # its NaN lies outside
    assert Linear()(beyond).tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 4]]
    added = sp.coo_array(([1e308, 1e308], ([0, 0], [0, 0])), shape=(2, 2))
    for X in (sp.csr_array((0, 3)), sp.csr_array((3, 0)), added):
        for read in (Linear(), Linear().feature_map(3)):
            with pytest.raises(
                ValueError, match="not finite" if X is added else "one point at least"
            ):
                read(X)


@pytest.mark.second_route("feature_dimension", "the rank that NumPy counts")
@pytest.mark.parametrize(
    "k, d, dim",
    [
        (Linear(), 5, 5),
        (Constant(2), 3, 1),
        (Constant(0), 3, 0),
        (0 * Gaussian(1), 2, 0),
        (Polynomial(3), 4, math.comb(7, 3)),
        (Polynomial(3, offset=0), 4, math.comb(6, 3)),
        (Linear() ** 3, 4, math.comb(6, 3)),
        (Bilinear(np.diag([1.0, 0, 2])), 3, 2),
        (Bilinear(A), 3, 3),
        (Linear() + Constant(1), 3, 4),
        (Polynomial(2).on([0, 1]), 5, 6),
        (Anova(Linear(), 2), 5, 10),
        (Anova(Polynomial(1), 2), 3, 12),
        (Anova(Linear(), 2, up_to=True), 4, 11),
        (Rank1(wavy), 3, 1),
        (Tensor(Linear(), Polynomial(2)), 4, 12),
        (Tensor(Linear(), Linear(), split=1), 4, 3),
        (Linear().normalized(), 3, 3),
        (Linear().conjugate(wavy), 3, 3),
        (Linear().on(squares), 3, 3),
        (FiniteRank([2, 3], [total, wavy]), 3, 2),
        (Constant(1).exp(), 2, 1),
        (Constant(1).gaussian_of(), 2, 1),
        (Polynomial(2) * Constant(3), 3, 10),
    ],
)
def test_dimensions_are_ranks(k, d, dim):
    X = np.random.default_rng(1).normal(size=(max(2 * dim, 20), d))
    assert feature_dimension(k, d) == k.feature_map(d).dim == dim
    check_feature_map(k.feature_map(d), k, X)
    if isinstance(k, Anova) and isinstance(k.base, Polynomial):
        return  # its constants coincide: 12 features, rank 7
    assert np.linalg.matrix_rank(k(X), tol=1e-8) == dim


def test_functions_of_numbers_are_asked_with_numbers():
    k = Linear().on(lambda x: np.stack([x, x**2], axis=1))
    assert feature_dimension(k, 1) == 2
    check_feature_map(k.feature_map(1), k, [0.5, 1.0, 2.0])


@pytest.mark.second_route("cost_table", "known numbers")
def test_dimensions_need_no_features():
    assert feature_dimension(Polynomial(20), 1000) == math.comb(1020, 20)
    assert feature_dimension(Polynomial(2) * Polynomial(3), 100) == math.comb(102, 2) * math.comb(
        103, 3
    )
    assert (Linear() * Linear()).feature_map(3).dim == 9
    assert (Linear() * Linear()).simplify().feature_map(3).dim == 6
    assert [feature_dimension(Polynomial(2), N) for N in (3, 10, 100)] == [10, 66, 5151]
    assert [row["explicit"] for row in cost_table(100)] == [2575.5, 88425.5, 2299063.0]
    assert [round(row["leading"]) for row in cost_table(100)] == [2500, 83333, 2083333]


@given(st.integers(1, 4), st.sampled_from([0.0, 0.3, 1.0]), sizes, data)
def test_monomials_are_those_of_the_formula(p, offset, scale, X):
    phi = MonomialMap(p, offset, scale)
    E, c = phi.exponents(3), phi.coefficients(3)
    assert len(set(map(tuple, E.tolist()))) == len(E) == feature_dimension(phi.kernel, 3)
    literally = np.sqrt(c) * np.prod(X[:, None, :] ** E, axis=2)
    np.testing.assert_allclose(phi(X), literally, rtol=1e-10, atol=1e-12)


@pytest.mark.second_route("MonomialMap", "scikit-learn")
def test_monomials_are_scikit_learns_up_to_weights():
    X = np.random.default_rng(0).normal(size=(9, 4))
    for p in (1, 2, 3, 4):
        ours = MonomialMap(p)(X) / np.sqrt(MonomialMap(p).coefficients(4))
        theirs = PolynomialFeatures(p).fit_transform(X)
        np.testing.assert_allclose(np.sort(ours), np.sort(theirs), rtol=1e-10)


def test_float32_is_honoured():
    X = np.random.default_rng(0).normal(size=(8, 3)).astype(np.float32)
    for k in (
        Polynomial(3),
        Linear().normalized() + Constant(2),
        Bilinear(A) * Linear(),
        0.3 * Linear(),
        Anova(Linear(), 2),
        FiniteRank([1, 2], [wavy, total]),
    ):
        for points in (X, sp.csr_matrix(X)):
            if sp.issparse(points) and isinstance(k, FiniteRank):
                continue
            assert k.feature_map(3)(points).dtype == np.float32
            check_feature_map(k.feature_map(3), k, points)


@pytest.mark.second_route("finite_feature_map", "F Fᵀ, multiplied out")
@given(
    arrays(float, (5, 3), elements=st.floats(-2, 2).map(lambda x: round(x, 2))),
    st.floats(1e-6, 1e6),
)
def test_a_gram_matrix_has_its_features(B, scale):
    K = scale * B @ B.T
    F = finite_feature_map(K)
    np.testing.assert_allclose(F @ F.T, K, atol=1e-12 * max(np.abs(K).max(), 1e-300))
    assert F.shape[1] <= 3
    tol = 0.1
    coarse = finite_feature_map(K, tol=tol)
    assert np.abs(coarse @ coarse.T - K).max() <= tol * np.linalg.eigvalsh(K)[-1] + 1e-12 * scale


def test_every_kernel_of_a_precomputed_one_has_a_map():
    X = np.random.default_rng(0).normal(size=(6, 2))
    given_ = Precomputed(Gaussian(1)(X))
    for k in (
        given_,
        given_.exp(),
        given_.gaussian_of(0.5),
        given_ + Gaussian(1),
        given_**2,
        (given_ * Delta()).normalized(),
        Constant(2) * given_,
    ):
        check_feature_map(k.feature_map(1), k, np.array([0, 3, 3, 5]))


def test_pairs_of_points():
    rng = np.random.default_rng(0)
    k = Tensor(Polynomial(2), Linear())
    pair = rng.normal(size=(7, 2)), rng.normal(size=(7, 2))
    F = k.feature_map(4)(pair)
    np.testing.assert_allclose(F @ F.T, k(pair), rtol=1e-10)


@pytest.mark.parametrize(
    "k",
    [
        Gaussian(1),
        Laplace(1),
        Matern(1.5),
        Delta(),
        Brownian(),
        Sobolev(1),
        SobolevFull(2),
        Linear().exp(),
        Polynomial(2).gaussian_of(),
        Linear() + 3 * Gaussian(1),
        (Linear() * Gaussian(1)).normalized(),
        Gaussian(1).on([0]),
        Anova(Gaussian(1), 1),
        Tensor(Linear(), Gaussian(1), split=1),
        Gaussian(2) ** 2,
    ],
)
def test_where_there_is_no_finite_map(k):
    d = 1 if isinstance(k, (Brownian, Sobolev, SobolevFull)) else 2
    for use in (k.feature_map, lambda d: feature_dimension(k, d)):
        with pytest.raises(NoFiniteFeatureMap, match="random features.*Mercer") as caught:
            use(d)
        assert str(k) in str(caught.value)


@pytest.mark.second_route("NoFiniteFeatureMap", "raised where it should be")
def test_a_kernel_without_rule_says_how_to_teach_one():
    class Plain(Kernel):
        def _gram(self, X, Y, xp):
            return X @ Y.T

    with pytest.raises(NoFiniteFeatureMap, match="feature_rule.register"):
        (Plain() + Linear()).feature_map(2)
    feature_rule.register(Plain)(lambda k, d: (d, lambda X: X))
    check_feature_map((Plain() * Linear()).feature_map(2), Plain() * Linear(), np.eye(2))


MUTANTS = {
    "weights without root": (
        lambda X: MonomialMap(2)(X) * np.sqrt(MonomialMap(2).coefficients(2)),
        Polynomial(2),
    ),
    "no weights": (lambda X: PolynomialFeatures(2).fit_transform(X), Polynomial(2)),
    "sum instead of both": (lambda X: X + X**2, Linear() + Linear().on(squares)),
    "both instead of products": (lambda X: np.hstack([X, X]), Linear() * Linear()),
    "scale without root": (lambda X: 4 * X, 4 * Linear()),
    "a feature lost": (lambda X: MonomialMap(2)(X)[:, 1:], Polynomial(2)),
    "length not divided out": (lambda X: X, Linear().normalized()),
    "a wrong order": (lambda X: X[::-1], Linear()),
    "a point lost": (lambda X: X[1:], Linear()),
}


def test_a_map_under_test_gets_arrays():
    def squares(x):
        return np.stack([x, x**2], axis=1)

    for X in ([1.0, 2.0], (1, 2), np.array([1.0, 2.0])):
        assert check_feature_map(squares, Linear() + Linear() ** 2, X) < 1e-10
    assert check_feature_map(lambda X: 2 * X, 4 * Linear(), [[1, 2], [3, 4]]) < 1e-10
    with pytest.raises(ValueError, match="the map gives nan"):
        check_feature_map(lambda X: X * np.nan, Linear(), [[1.0], [2.0]])
    assert (
        check_feature_map(lambda words: np.eye(2)[[len(w) for w in words]], Delta(), ["", "a"]) == 0
    )


@pytest.mark.parametrize("mutant", MUTANTS)
def test_check_feature_map_refuses(mutant):
    phi, k = MUTANTS[mutant]
    with pytest.raises(LawBroken):
        check_feature_map(phi, k, np.random.default_rng(0).normal(size=(10, 2)))


# separation


@pytest.mark.second_route("is_separable", "brute force over all labellings")
@pytest.mark.parametrize("m", [2, 3, 4, 5])
@pytest.mark.parametrize("D", [1, 2, 3])
def test_labellings_are_counted_by_covers_formula(m, D):
    X = np.random.default_rng(m + 10 * D).normal(size=(m, D))
    labellings = list(product([-1.0, 1.0], repeat=m))
    cover = lambda D: 2 * sum(math.comb(m - 1, i) for i in range(D))  # noqa: E731
    assert sum(is_separable(X, y) for y in labellings) == cover(D)
    assert sum(is_separable(X, y, offset=True) for y in labellings) == cover(D + 1)


@given(st.integers(0, 200), st.integers(2, 20), st.integers(1, 5))
def test_margin_programme_and_perceptron_agree(seed, n, D):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, D)), rng.choice([-1.0, 1.0], n)
    if is_separable(X, y):
        w, margin = widest_margin(X, y)
        assert np.isclose(np.min(y * (X @ w)), margin) and np.isclose(np.linalg.norm(w), 1)
        machine = perceptron_primal(X, y, max_epochs=10**5)
        assert (
            machine.mistakes <= novikoff_bound(X, y) <= novikoff_bound(X, y, machine.w) * (1 + 1e-9)
        )
    else:
        with pytest.raises(ConvergenceFailure):
            widest_margin(X, y)
        with pytest.raises(ConvergenceFailure, match="through"):
            perceptron_primal(X, y, max_epochs=50)


@pytest.mark.second_route("widest_margin", "scikit-learn")
def test_the_widest_margin_is_that_of_a_support_vector_machine():
    from sklearn.svm import SVC

    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = np.sign(X @ [1, 2, -1])
    mirrored, labels = np.vstack([X, -X]), np.r_[y, -y]  # forces the offset to 0
    peer = SVC(kernel="linear", C=1e9, tol=1e-8).fit(mirrored, labels)
    assert np.isclose(widest_margin(X, y)[1], 1 / np.linalg.norm(peer.coef_), rtol=1e-4)


# the perceptron

integers = arrays(
    float, st.tuples(st.integers(2, 12), st.just(3)), elements=st.integers(-4, 4).map(float)
)


def test_the_symmetry_of_a_gram_matrix_is_judged_by_its_largest_entry():
    "Entries of a million, some of 0: a rounding of a billionth is none, a thousandth is"
    K = np.diag([1e6, 1e6]) + [[0, 1e-9], [0, 0]]
    assert perceptron_dual(K, [1, -1]).alpha.tolist() == [1, -1]
    with pytest.raises(ValueError, match="symmetric"):
        perceptron_dual(K + [[0, 1e-3], [0, 0]], [1, -1])


@pytest.mark.second_route("perceptron_dual", "the primal form, without rounding")
@given(integers, st.integers(0, 99))
def test_both_perceptrons_make_the_same_mistakes(X, seed):
    # integer data: both compute without rounding, so that ties are ties in both
    w = np.array([3.0, -2.0, 1.5]) + seed % 7
    X = X[X @ w != 0]
    if len(X) < 2:
        return
    y = np.sign(X @ w)
    primal, dual = perceptron_primal(X, y, 10**5), perceptron_dual(X @ X.T, y, 10**5)
    assert primal.trace == dual.trace and primal.epochs == dual.epochs
    np.testing.assert_array_equal(primal.alpha, dual.alpha)
    np.testing.assert_array_equal(primal.w, X.T @ dual.alpha)
    np.testing.assert_array_equal(primal.decision(X), dual.decision(X @ X.T))
    assert (y * primal.decision(X) > 0).all() and primal.mistakes <= novikoff_bound(X, y) * (
        1 + 1e-9
    )


def slow_perceptron(X, y, w):
    "The listing of the lecture, word by word"
    trace, clean = [], False
    while not clean:
        clean = True
        for j in range(len(y)):
            if y[j] * (X[j] @ w) <= 0:
                w, clean = w + y[j] * X[j], False
                trace.append(j)
    return w, tuple(trace)


@pytest.mark.second_route("Perceptron", "perceptron_primal", "a plain loop")
@pytest.mark.parametrize("n", [5, 64, 65, 300])
def test_blocks_change_nothing(n):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 4))
    X = X[np.abs(X @ np.ones(4)) > 0.2]
    y, start = np.sign(X @ np.ones(4)), rng.normal(size=4)
    for begin in (None, start):
        machine = perceptron_primal(X, y, start=begin)
        w, trace = slow_perceptron(X, y, np.zeros(4) if begin is None else begin)
        assert machine.trace == trace
        np.testing.assert_allclose(machine.w, w)
        assert machine.mistakes <= novikoff_bound(X, y, start=begin)
        sparse = perceptron_primal(sp.csr_matrix(X), y, start=begin)
        assert sparse.trace == trace


def test_a_strict_rule_would_never_start():
    X, y = np.array([[1.0, 0], [-1, 1]]), np.array([1.0, -1])
    assert perceptron_primal(X, y).mistakes > 0 and perceptron_dual(X @ X.T, y).trace[0] == 0


BAD = {
    "three labels": (
        lambda: perceptron_dual(np.eye(3), [0, 1, 2]),
        ValueError,
        "3 different labels",
    ),
    "three labels, primal": (
        lambda: perceptron_primal(np.eye(3), [1, 2, 3]),
        ValueError,
        "3 different",
    ),
    "a row of labels too few": (
        lambda: perceptron_primal(np.eye(3), [1, -1]),
        ValueError,
        "y has shape",
    ),
    "two columns of labels": (
        lambda: is_separable(np.eye(2), np.ones((2, 2))),
        ValueError,
        "one column",
    ),
    "not square": (lambda: perceptron_dual(np.ones((2, 3)), [1, -1]), ValueError, "Gram"),
    "start of another length": (
        lambda: perceptron_primal(np.eye(2), [1, -1], start=[1.0]),
        ValueError,
        "start",
    ),
    "epochs": (
        lambda: perceptron_primal(np.eye(2), [1, -1], max_epochs=0),
        ValueError,
        "max_epochs = 0",
    ),
    "inseparable": (
        lambda: perceptron_dual(np.ones((2, 2)), [1, -1]),
        ConvergenceFailure,
        "Constant",
    ),
    "a zero feature": (
        lambda: perceptron_primal(np.zeros((2, 1)), [1, -1]),
        ConvergenceFailure,
        "origin",
    ),
    "no margin": (lambda: novikoff_bound([[1.0], [2]], [1, -1]), ConvergenceFailure, "margin"),
    "a direction that fails": (
        lambda: novikoff_bound([[1.0], [2]], [1, 1], w=[-1.0]),
        ValueError,
        "wrong side",
    ),
    "indefinite": (
        lambda: finite_feature_map([[0, 1], [1, 0]]),
        IndefiniteKernel,
        "eigenvalue .* is -1",
    ),
    "asymmetric": (lambda: finite_feature_map([[1, 2], [0, 1]]), ValueError, "symmetric"),
    "oblong": (lambda: finite_feature_map(np.ones((2, 3))), ValueError, "square"),
    "tol": (lambda: finite_feature_map(np.eye(2), tol=-1), ValueError, "tol = -1"),
    "columns": (lambda: Linear().feature_map(3)(np.eye(2)), ValueError, "another one for 2"),
    "no columns": (lambda: Linear().feature_map(0), ValueError, "d = 0"),
    "half a column": (lambda: Linear().feature_map(1.5), ValueError, "whole"),
    "no kernel": (lambda: feature_map(np.dot, 2), TypeError, "not a Kernel"),
    "a sigmoid": (lambda: feature_map(Sigmoid(), 2), IndefiniteKernel, "cᵀKc"),
    "columns of a matrix": (lambda: Bilinear(A).feature_map(2), ValueError, "3 columns"),
    "a column that is not there": (
        lambda: Linear().on(4).feature_map(2),
        ValueError,
        "5 columns or more",
    ),
    "an odd number": (lambda: Tensor(Linear(), Linear()).feature_map(3), ValueError, "split"),
    "too few coordinates": (
        lambda: Anova(Linear(), 3).feature_map(2),
        ValueError,
        "3 columns or more",
    ),
    "a function of sparse points": (
        lambda: Rank1(total).feature_map(3)(sp.eye(3)),
        TypeError,
        "toarray",
    ),
    "a function without domain": (
        lambda: Linear().on(lambda x: 1 / 0).feature_map(1),
        ValueError,
        "asked",
    ),
    "sparse infinity": (
        lambda: Linear().feature_map(1)(sp.csr_matrix([[np.inf]])),
        ValueError,
        "finite",
    ),
    "sparse text": (lambda: MonomialMap(2)(sp.csr_matrix([[1j]])), TypeError, "real"),
    "degree": (lambda: MonomialMap(0), ValueError, "degree = 0"),
    "too large": (lambda: Polynomial(6).feature_map(100)(np.ones((50, 100))), MemoryError, "GiB"),
    "too large a map": (lambda: MonomialMap(6)(np.ones((50, 100))), MemoryError, "GiB"),
    "a map of wrong shape": (
        lambda: FeatureMap(Linear(), 2, 3, lambda X: X)(np.eye(2)),
        ValueError,
        "must give",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case):
    use, error, words = BAD[case]
    with pytest.raises(error, match=words):
        use()


def test_a_small_budget_refuses_features_that_do_not_fit():
    with settings.using(result_mib=1):
        Polynomial(2).feature_map(20)(np.ones((100, 20)))
        with pytest.raises(MemoryError, match="result_mib"):
            Product(Polynomial(2), Polynomial(2)).feature_map(20)(np.ones((100, 20)))
        few = sp.random(300, 50, density=0.4, format="csr", random_state=0)
        with pytest.raises(MemoryError, match="the kernel itself"):  # 210 entries a row
            Polynomial(2, offset=0).feature_map(50)(few)
        assert Polynomial(2, offset=0).feature_map(50)(few[:100]).shape == (100, 1275)


@pytest.mark.parametrize("n, d", [(100, 3), (3, 20)], ids=["more rows", "more columns"])
@pytest.mark.parametrize("p", [1, 2, 3])
def test_features_that_just_fit_are_made_and_a_row_more_is_refused(n, d, p):
    phi, D = Polynomial(p, offset=0).feature_map(d), math.comb(d + p - 1, p)
    with settings.using(result_mib=n * D * 8 / 2**20):
        assert phi(np.ones((n, d))).shape == (n, D)
        with pytest.raises(MemoryError, match=rf"shape \({n + 1}, {D}\).*the kernel"):
            phi(np.ones((n + 1, d)))


def test_a_map_without_features_is_made_and_fewer_are_refused_in_words():
    none = lambda X: np.zeros((len(X), 0))  # noqa: E731
    for D in (0, np.int64(0), 0.0):
        phi = FeatureMap(Constant(0.0), 1, D, none)
        assert phi.dim == 0 and phi(np.ones((3, 1))).shape == (3, 0)
    for D in (-1, np.int64(-1)):
        with pytest.raises(ValueError, match="dim = -1: pass a whole number ≥ 0"):
            FeatureMap(Constant(0.0), 1, D, none)


# what a second reader broke


@pytest.mark.parametrize("shift", [0.0, 1e5, 1.7e9])
@pytest.mark.parametrize("scale", [1e-10, 1.0, 1e10])
def test_separability_knows_no_origin_and_no_units(shift, scale):
    rng = np.random.default_rng(0)
    for _ in range(10):
        X = np.round(rng.normal(size=(7, 2)), 1)
        y = rng.choice([-1, 1], size=7)
        moved = (X + shift) * scale
        if np.unique(np.round(moved / scale, 6), axis=0).shape == np.unique(X, axis=0).shape:
            assert is_separable(moved, y, offset=True) == is_separable(X, y, offset=True)
    assert is_separable([100001.0, 100002.0, 100003.0, 100004.0], [1, 1, -1, -1], offset=True)
    assert is_separable(np.eye(2) * 1e-200, [1, 1]) and is_separable(
        [[1, 1e-8], [-1, 1e-8]], [1, 1]
    )


def test_sparse_points_have_few_features_in_a_huge_space():
    S = sp.random(5, 10**5, density=1e-4, format="csr", random_state=0)
    phi = Polynomial(3, offset=0).feature_map(10**5)
    F, y = phi(S), [1, -1, 1, -1, 1]
    assert F.shape[1] == phi.dim > 10**14 and F.nnz < 5000
    check_feature_map(phi, phi.kernel, S)
    with pytest.raises(MemoryError, match="perceptron_dual"):
        perceptron_primal(F, y)
    with pytest.raises(MemoryError, match="10\\^"):
        Polynomial(20).feature_map(1000)(sp.random(5, 1000, density=0.003, format="csr"))
    with pytest.raises(MemoryError):
        MonomialMap(2).exponents(3000)
    with pytest.raises(MemoryError, match="10\\^"):
        Polynomial(3000).feature_map(10**4)(np.ones((2, 10**4)))
    assert "10^" in repr(Polynomial(3000).feature_map(10**6))
    for kind in (sp.csr_matrix, sp.csr_array):
        for k in (
            Linear(),
            Polynomial(2),
            Linear() + Constant(1),
            Linear() ** 2,
            Linear().normalized(),
        ):
            assert isinstance(k.feature_map(4)(kind(np.eye(4))), kind)


class Doubled(Linear):
    def _gram(self, X, Y, xp):
        return 2 * (X @ Y.T)


def test_a_new_formula_does_not_inherit_the_rule():
    with pytest.raises(NoFiniteFeatureMap, match="has no rule"):
        Doubled().feature_map(2)


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_novikoff_is_an_upper_bound_where_it_is_tight(n):
    run = perceptron_primal(np.eye(n), np.ones(n))
    assert run.mistakes == n <= novikoff_bound(np.eye(n), np.ones(n)) < n + 1e-9


def test_overflow_is_said():
    X = 1e200 * np.array([[-1.0, -1], [1, -1], [-1, 0]])
    with pytest.raises(ValueError, match="overflow"):
        perceptron_primal(
            np.vstack([X, 1e308 * np.ones((1, 2)), -1e308 * np.ones((1, 2))]), [1, 1, 1, 1, 1]
        )
    with pytest.raises(ValueError, match="overflows"):
        Polynomial(60).feature_map(1)([1e6, 1.0])
    with pytest.raises(ValueError, match="overflows"):
        MonomialMap(8)(np.array([[1e6]], dtype=np.float32))
    F = finite_feature_map(1e308 * np.array([[1, 0.9], [0.9, 1]]))
    np.testing.assert_allclose((F / 1e154) @ (F / 1e154).T, [[1, 0.9], [0.9, 1]])


def test_maps_of_gram_matrices_meet_their_own_law():
    X = np.r_[np.zeros((1499, 1)), [[2.14e-5]]]
    k = Precomputed(Gaussian(1)(X))
    check_feature_map(k.feature_map(1), k, np.arange(1500))
    noisy = Precomputed([[1, 0.5], [0.5 + 1e-13, 1]])
    check_feature_map(noisy.feature_map(1), noisy, [0, 1])
    rng = np.random.default_rng(0)
    for n in (5, 40, 120):  # the rank, not one rounded eigenvalue more
        B = rng.normal(size=(n, 3))
        assert finite_feature_map(B @ B.T).shape == (n, 3)
    with pytest.raises(ValueError, match="tol = 1"):
        finite_feature_map(np.eye(2), tol=1)


def test_finite_domains_have_maps_at_every_depth():
    K = Precomputed(Gaussian(1)(np.arange(4.0)))
    check_feature_map(K.exp().on(0).feature_map(1), K.exp().on(0), np.arange(4))
    pair = Tensor(K, K.exp())
    check_feature_map(pair.feature_map(2), pair, np.stack([np.arange(4), [3, 1, 0, 0]], axis=1))
    mixed = K.exp().on([0]) * Linear()
    check_feature_map(mixed.feature_map(1), mixed, np.arange(4))
    for zero in (
        0 * Gaussian(1),
        Constant(0) * Gaussian(1),
        Gaussian(1) * Constant(0),
        Tensor(Constant(0), Gaussian(1), split=1),
    ):
        assert feature_dimension(zero, 2) == 0
    check_feature_map((0 * Brownian(1)).exp().feature_map(1), (0 * Brownian(1)).exp(), [1.0, 2.0])


def log_of_the_rest(x):
    return np.log(x - 5)


def broken(x):
    return undefined_name  # noqa: F821


def test_functions_are_asked_for_columns_only():
    k = Linear().on(log_of_the_rest)
    check_feature_map(k.feature_map(1), k, [6.0, 7.0])
    with pytest.raises(ValueError, match="NameError"):
        Linear().on(broken).feature_map(1)


def test_maps_are_values():
    import pickle

    phi = (Linear() + Polynomial(2)).feature_map(3)
    X = np.random.default_rng(0).normal(size=(4, 3))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(phi))(X), phi(X))
    before, F = X.copy(), Linear().feature_map(3)(X)
    F *= 2
    np.testing.assert_array_equal(X, before)
    with pytest.raises(ValueError, match="one point is"):
        phi(X[0])
    run = perceptron_dual(np.eye(3), [1, -1, 1])
    assert "3 mistakes" in repr(run) and not run.alpha.flags.writeable
    with pytest.raises(ValueError, match="2 columns|shape .1, 2."):
        run.decision(np.ones((1, 2)))


def test_sparse_and_dense_perceptrons_are_one():
    rng = np.random.default_rng(0)
    Phi = np.round(rng.normal(size=(300, 20))) * (rng.random((300, 20)) < 0.3)
    Phi = Phi[np.abs(Phi).sum(axis=1) > 0]
    y = np.where(Phi @ rng.integers(1, 5, size=20) > 0, 1, -1)
    if is_separable(Phi, y):
        assert perceptron_primal(sp.csr_matrix(Phi), y).trace == perceptron_primal(Phi, y).trace
    assert perceptron_primal(sp.csr_matrix(np.eye(4)), [1, 1, -1, 1]).trace == (0, 1, 2, 3)


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_array, sp.coo_array])
def test_sparse_features_are_separated_like_dense_ones(kind):
    Phi, y = np.array([[0, 2.0, 0], [1, 0, 0], [0, -1, -3]]), [1, 1, -1]
    (w, margin), (v, other) = (widest_margin(rows, y) for rows in (kind(Phi), Phi))
    assert w.tolist() == v.tolist() and margin == other
    for rows in Phi, -Phi[:, :1]:
        for offset in False, True:
            assert is_separable(kind(rows), y, offset) == is_separable(rows, y, offset)
    with settings.using(result_mib=1e-5):
        for method in is_separable, widest_margin:
            with pytest.raises(MemoryError, match="perceptron_primal, which keeps them sparse"):
                method(kind(Phi), y)


@pytest.mark.parametrize(
    "use, words",
    [
        (lambda: novikoff_bound(np.eye(2), [1, 1], w=[1.0]), "w has 1 entries, Phi has 2"),
        (lambda: novikoff_bound(np.eye(2), [1, 1], w=[0.0, 0.0]), "margin"),
        (lambda: novikoff_bound(np.eye(2), [1, 1], start=[1.0, np.nan]), "start"),
        (lambda: perceptron_primal(np.eye(2), [1, 1], start=3.0), "start has shape"),
        (lambda: perceptron_dual([[1, 0], [5, 1]], [1, -1]), "not symmetric"),
        (lambda: perceptron_dual([[-1.0]], [1]), "diagonal"),
        (lambda: perceptron_primal(np.eye(2), [[1], [1]]), "ravel"),
        (lambda: cost_table(0), "N = 0"),
        (lambda: cost_table(3, degrees=[2.5]), "degrees = 2.5"),
    ],
)
def test_bad_input_in_words(use, words):
    with pytest.raises(ValueError, match=words):
        use()


def test_lengths_at_the_ends_of_the_range():
    for scale in (1e-200, 1.0, 1e200):
        F = Linear().normalized().feature_map(2)([[scale, scale], [0, 0]])
        np.testing.assert_allclose(np.linalg.norm(F, axis=1), [1, 0])
    w, margin = widest_margin([[1e4, 0], [0, 1.0]], [1, 1])
    np.testing.assert_allclose(margin, 1.0, rtol=1e-6)
    np.testing.assert_allclose(widest_margin([[1e6, 0], [0, 1.0]], [1, 1])[1], 1.0, rtol=1e-2)
    with pytest.raises(ConvergenceFailure, match="rescale the features"):
        widest_margin([[1e12, 0], [0, 1.0]], [1, 1])


@pytest.mark.second_route("widest_margin", "a quadratic programme")
@pytest.mark.parametrize("seed", [0, 1, 29])
@pytest.mark.parametrize("unit", [1.0, 1e3, 1e6])
def test_a_margin_is_right_or_refused_in_any_unit_of_a_column(unit, seed):
    rng, v, units = (
        np.random.default_rng(seed),
        np.array([1, -1, 1, 2.0]),
        np.array([1, 1, unit, 1]),
    )
    X = rng.normal(size=(200, 4))
    y = np.where(X @ v > 0, 1, -1)
    X = X + 0.1 * y[:, None] * v / 7
    if unit == 1e6:
        with pytest.raises(ConvergenceFailure, match="scale the columns"):
            widest_margin(X * units, y)
        with pytest.raises(ConvergenceFailure, match="scale the columns"):
            novikoff_bound(X * units, y)
        return
    shortest = minimize(  # of u = w · units
        lambda u: (u / units) @ (u / units),
        v / np.min(y * (X @ v)),
        jac=lambda u: 2 * u / units**2,
        constraints=dict(type="ineq", fun=lambda u: y * (X @ u) - 1, jac=lambda u: y[:, None] * X),
        method="SLSQP",
        options=dict(ftol=1e-12, maxiter=500),
    )
    assert shortest.success
    w, margin = widest_margin(X * units, y)
    np.testing.assert_allclose(margin, shortest.fun**-0.5, rtol=1e-5)
    np.testing.assert_allclose(np.min(y * (X * units @ w)), margin, rtol=1e-9)


def test_rows_whose_squares_underflow_are_refused_by_that_name():
    for Phi in ([[1e-200], [-2e-200]], sp.csr_matrix([[1e-200, 0], [-2e-200, 0]])):
        with pytest.raises(ValueError, match="2e-200, its square underflows; rescale"):
            perceptron_primal(Phi, [0, 1])
    assert perceptron_primal([[1e-140], [-2e-140]], [0, 1]).mistakes == 1


def test_too_close_to_call_is_said():
    with pytest.raises(ConvergenceFailure, match="too close to call"):
        is_separable([[1.0, 1.0], [-1.0, -1.0 + 1e-10]], [1, 1])
    assert is_separable([[1.0, 1.0], [-1.0, -1.0 + 1e-6]], [1, 1])
    assert not is_separable([[1.0, 1.0], [-1.0, -1.0]], [1, 1])


def test_the_bound_is_never_below_the_mistakes():
    for seed in range(60):
        n = 1 + seed % 9
        Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))[0]
        assert perceptron_primal(Q, np.ones(n)).mistakes <= novikoff_bound(Q, np.ones(n))


# each checker between a third of its tolerance and three times it


@pytest.mark.second_route("check_feature_map", "near misses refused")
@pytest.mark.parametrize("dtype, tol", [(np.float64, 1e-10), (np.float32, 1e-4)])
def test_the_law_of_maps_meets_a_near_miss(dtype, tol):
    X = np.random.default_rng(0).normal(size=(6, 2)).astype(dtype)

    def off(share):  # inner products too large by share · tol
        return lambda X: X.astype(float) * math.sqrt(1 + share * tol)

    assert check_feature_map(off(1 / 3), Linear(), X) == pytest.approx(tol / 3, rel=0.05)
    with pytest.raises(LawBroken, match="allowed (1e-|0.0001)"):
        check_feature_map(off(3), Linear(), X)
    check_feature_map(off(3), Linear(), X, tol=4 * tol)
    sparse = sp.csr_matrix(X)
    with pytest.raises(LawBroken):
        check_feature_map(lambda S: S * math.sqrt(1 + 3 * tol), Linear(), sparse)


def test_the_law_sees_one_bad_pair_and_the_dimension():
    X = np.random.default_rng(0).normal(size=(9, 2))

    def turned(X):  # the first point a little turned: lengths stay
        F, a = X.copy(), 3e-10
        F[0] = [
            np.cos(a) * X[0, 0] - np.sin(a) * X[0, 1],
            np.sin(a) * X[0, 0] + np.cos(a) * X[0, 1],
        ]
        return F

    with pytest.raises(LawBroken, match="At points (0 and [1-8]|[1-8] and 0)"):
        check_feature_map(turned, Linear(), X)

    class Boasting(FeatureMap):
        def __call__(self, X):
            return self.function(X)

    with pytest.raises(LawBroken, match="dimension it states: is 1"):
        check_feature_map(Boasting(Linear(), 2, 3, lambda X: X), Linear(), X)
    with pytest.raises(LawBroken, match="one row a point"):
        check_feature_map(lambda X: X[:, 0], Linear(), X)


def test_a_gram_matrix_may_be_off_by_rounding_only():
    n, error = 4, 1e-6
    for shift, good in ((-n * error / 3, True), (-3 * n * error, False)):
        K = np.diag([1.0, 1, 1, shift])
        if good:
            assert finite_feature_map(K, entry_error=error).shape == (4, 3)
        else:
            with pytest.raises(IndefiniteKernel, match="largest at point 3"):
                finite_feature_map(K, entry_error=error)
    for skew, good in ((2 * error / 3, True), (6 * error, False)):
        K = np.eye(4) + skew * np.eye(4, k=1)
        if good:
            finite_feature_map(K, entry_error=error)
        else:
            with pytest.raises(ValueError, match=r"entry \(0, 1\)"):
                finite_feature_map(K, entry_error=error)


def test_tol_drops_what_it_says():
    K = np.diag([2.0, 1.0, 0.2, 0.02])
    assert [
        finite_feature_map(K, tol=tol).shape[1] for tol in (0, 0.0099, 0.0101, 0.099, 0.101, 0.51)
    ] == [4, 4, 3, 3, 2, 1]
    np.testing.assert_allclose(finite_feature_map(K, tol=0.3) ** 2, np.eye(4)[:, :2] * [2, 1])


def test_small_eigenvalues_count_above_rounding():
    assert finite_feature_map(np.diag([1.0, 1e-12])).shape == (2, 2)
    assert finite_feature_map(np.diag([1.0, 1e-16])).shape == (2, 1)


@pytest.mark.parametrize("share, good", [(1 / 3, True), (3, False)])
def test_the_dual_perceptron_wants_a_gram_matrix(share, good):
    eps = np.finfo(float).eps
    K = np.array([[1.0, 0.5], [0.5 + share * 100 * eps, 1.0]])
    if good:
        perceptron_dual(K, [1, -1])
    else:
        with pytest.raises(ValueError, match="not symmetric"):
            perceptron_dual(K, [1, -1])
    with pytest.raises(ValueError, match="entry is -1e-12 < 0. Pass a Gram"):
        perceptron_dual(np.diag([1.0, -1e-12]), [1, -1])


@pytest.mark.second_route("novikoff_bound", "the formula, term by term")
def test_each_term_of_novikoffs_bound():
    Phi, y = np.array([[3.0, 1.0], [0.5, -2.0]]), np.array([1, -1])
    w = np.array([1.0, 1.0])
    R2, margin = 10.0, 1.5 / math.sqrt(2)
    np.testing.assert_allclose(novikoff_bound(Phi, y, w), R2 / margin**2, rtol=1e-13)
    np.testing.assert_allclose(
        novikoff_bound(Phi, y, 7 * w, start=[3.0, -4.0]), R2 / margin**2 + 10 / margin, rtol=1e-13
    )
    assert novikoff_bound(Phi, y) < novikoff_bound(Phi, y, w)  # the widest margin is better
    np.testing.assert_allclose(novikoff_bound(sp.csr_matrix(Phi), y, w), R2 / margin**2, rtol=1e-13)
    for s in (10.0, 100.0):  # without the term of the start it would be 1
        run = perceptron_primal([[1.0]], [1], start=[-s])
        assert 1 < run.mistakes == s + 1 <= novikoff_bound([[1.0]], [1], start=[-s])


@pytest.mark.parametrize("margin, answer", [(3e-9, True), (3e-10, None), (0.0, False)])
def test_where_separation_is_decided(margin, answer):
    Phi = [[1.0, 1.0], [-1.0, -1.0 + 2 * margin]]
    if answer is None:
        with pytest.raises(ConvergenceFailure, match="too close to call"):
            is_separable(Phi, [1, 1])
    else:
        assert is_separable(Phi, [1, 1]) == answer


# contracts, values, points of any kind


def random_features(rng):
    return rng.normal(size=(3, 4))


@pytest.mark.parametrize(
    "f, draws",
    [
        (feature_map, dict(k=lambda rng: Polynomial(2))),
        (feature_dimension, dict(k=lambda rng: Linear())),
        (finite_feature_map, {}),
        (cost_table, {}),
        (is_separable, {}),
        (perceptron_dual, dict(max_epochs=lambda rng: 999)),
        (widest_margin, dict(Phi=lambda rng: np.eye(3), y=lambda rng: rng.choice([-1.0, 1], 3))),
        (
            perceptron_primal,
            dict(
                Phi=random_features,
                y=lambda rng: [1, -1, 1],
                start=lambda rng: np.ones(4),
                max_epochs=lambda rng: 999,
            ),
        ),
        (
            novikoff_bound,
            dict(
                Phi=lambda rng: np.eye(3),
                y=lambda rng: [1, 1, 1],
                w=lambda rng: np.ones(3),
                start=lambda rng: np.zeros(3),
            ),
        ),
    ],
    ids=lambda f: getattr(f, "__name__", ""),
)
def test_every_bad_argument_is_refused_by_name(f, draws):
    assert fuzz(f, 0, **draws) > 3 * len(f.plan.words)


@pytest.mark.parametrize(
    "bad, name",
    [
        (dict(phi=3), "phi"),
        (dict(phi=Linear), "phi"),
        (dict(k=np.dot), "k"),
        (dict(k=Sigmoid()), "Sigmoid"),
        (dict(tol=0.0), "tol = 0"),
        (dict(tol="x"), "tol"),
        (dict(X=[[np.nan, 1]]), "X"),
        (dict(X=None), "X"),
    ],
)
def test_the_law_refuses_what_it_cannot_test(bad, name):
    # the function phi sees X as it was passed, so X has no word of its own and fuzz does not draw it
    with pytest.raises((TypeError, ValueError), match=name):
        check_feature_map(**dict(phi=MonomialMap(2), k=Polynomial(2), X=np.eye(2)) | bad)


class Spelled(Letters):
    "Letters, with a rule for its features"


@feature_rule.register
def _(k: Spelled, d):
    return 26, lambda X: sp.csr_matrix(
        [[float(word.count(chr(97 + i))) for i in range(26)] for word in X]
    )


def test_points_may_be_words():
    words = ["a", "few", "words", "aaaa"]
    for k in (Spelled(), (Spelled() + Spelled()) ** 2, 3 * Spelled() * Spelled()):
        phi = k.feature_map(None)
        check_feature_map(phi, k, words)
        assert (
            phi.dim == feature_dimension(k, None) and sp.issparse(phi(words)) and "ℝ^" in repr(phi)
        )
        f = FeatureFunction(phi, np.arange(phi.dim) * 1.0)
        np.testing.assert_allclose(f(words), phi(words).toarray() @ f.w)


def test_a_map_validates_its_points_once():
    calls = []

    class Counted(Linear):
        def _points(self, X, name):
            calls.append(name)
            return super()._points(X, name)

    feature_rule.register(Counted)(lambda k, d: (d, lambda X: 1.0 * X))
    k, X = Counted(), np.ones((3, 2))
    phi = k.feature_map(2)
    for use in (
        lambda: phi(X),
        lambda: check_feature_map(phi, k, X),
        lambda: FeatureFunction(phi, [1.0, 2.0])(X),
        lambda: phi(k.points(X)),
    ):
        calls.clear()
        use()
        assert calls == ["X"]


def test_linear_functions_of_sparse_points_and_small_blocks():
    phi = Polynomial(2).feature_map(4)
    X, w = np.random.default_rng(0).normal(size=(50, 4)), np.arange(15.0)
    f = FeatureFunction(phi, w)
    with settings.using(block_mib=0.01):
        np.testing.assert_allclose(f(X), phi(X) @ w)
        np.testing.assert_allclose(f(sp.csr_array(X)), phi(X) @ w)
    assert (2 * f - f).norm() == f.norm() and (f @ f) == w @ w and "R^{15}" in f._repr_latex_()
    w[0] = np.nan
    assert np.isfinite(f.w).all() and not f.w.flags.writeable
    with pytest.raises(TypeError, match="phi is of type function"):
        FeatureFunction(squares, w)


def test_both_monomials_by_the_formula_in_float32_and_high_degree():
    X = np.random.default_rng(0).normal(size=(4, 2)).astype(np.float32)
    for points in (X, sp.csr_matrix(X)):
        F = MonomialMap(12, offset=0.5)(points)
        F = F.toarray() if sp.issparse(F) else F
        nu, c = MonomialMap(12, 0.5).exponents(2), MonomialMap(12, 0.5).coefficients(2)
        assert F.dtype == np.float32
        np.testing.assert_allclose(
            F, np.sqrt(c) * np.prod(X[:, None, :] ** nu, axis=2), rtol=1e-4, atol=1e-6
        )
    with pytest.raises(ValueError, match="exceed every float"):
        MonomialMap(1100).coefficients(1)


def test_products_of_sparse_and_dense_features_in_one_kernel():
    class Half(Linear):
        "sparse features, whatever the points"

    feature_rule.register(Half)(lambda k, d: (d, lambda X: sp.csr_matrix(X)))
    X = np.random.default_rng(0).normal(size=(6, 3))
    for k in (
        Half() * Polynomial(2),
        Half() + Linear(),
        Tensor(Half(), Linear(), split=2),
        Anova(Half(), 2),
    ):
        check_feature_map(k.feature_map(3), k, X)


@pytest.mark.parametrize("k", [Precomputed(np.eye(3)), Bilinear([[2.0, 1.0], [1.0, 1.0]])], ids=str)
def test_a_map_of_other_columns_than_the_kernel_reads_is_refused_at_once(k):
    with pytest.raises(ValueError, match=r"^d = 3: .* needs points with [12] columns"):
        k.feature_map(3)
