"""Partial Cholesky factors against LAPACK and the definition, for many kernels, scales and broken inputs."""

import pickle
import tracemalloc

import numpy as np
import pytest
from scipy.linalg.lapack import dpstrf

from rkhs_notes import settings
from rkhs_notes.base.errors import IndefiniteKernel
from rkhs_notes.deeper.zoo import Delta, Laplace, Matern, Precomputed
from rkhs_notes.engines.solving.lowrank import pivoted_cholesky
from rkhs_notes.kernels import Brownian, Constant, Gaussian, Kernel, Linear, Polynomial, Sigmoid

cloud = np.random.default_rng(0).normal(size=(200, 3))
KERNELS = [
    Gaussian(1.0),
    Gaussian(30.0),
    Laplace(2.0),
    Matern(1.5, 1.0),
    Linear(),
    Polynomial(3),
    Delta() + Gaussian(1),
    Gaussian(1.0).on([0]) + Linear().on(1),
    1e-12 * Gaussian(1.0),
    1e12 * Gaussian(1.0),
    Constant(2.0),
]
PIVOTS = [dict(pivots="greedy"), dict(rng=7)]


@pytest.mark.second_route("LowRankGram", "pivoted_cholesky", "the residual matrix, multiplied out")
@pytest.mark.parametrize("k", KERNELS, ids=str)
@pytest.mark.parametrize("how", PIVOTS)
@pytest.mark.parametrize("tol", [1e-1, 1e-6, 1e-12, 0])
def test_the_factor_is_what_it_says(k, how, tol):
    K, found = k(cloud), pivoted_cholesky(k, cloud, tol=tol, **how)
    R, top = K - found.factor @ found.factor.T, K.diagonal().max()
    assert np.abs(R.diagonal() - found.residual).max() < 1e-10 * top and (found.residual >= 0).all()
    assert np.linalg.norm(R) <= (tol + 1e-10) * np.trace(K)
    assert np.linalg.eigvalsh(R)[0] > -1e-9 * top
    assert np.isclose(found.trace, np.trace(K)) and np.isclose(
        found.error, found.residual.sum() / np.trace(K), atol=0
    )
    assert np.abs(R[found.pivots]).max() < 1e-10 * top, "columns of pivots are exact"
    assert len(set(found.pivots)) == found.rank == found.factor.shape[1]
    assert (np.triu(found.factor[found.pivots], 1) == 0).all()
    assert found.stopped in (("tol", "rounding") if tol == 0 else ("tol",))


@pytest.mark.second_route("pivoted_cholesky", "LAPACK")
@pytest.mark.parametrize("k", KERNELS, ids=str)
def test_greedy_pivots_are_those_of_lapack(k):
    K, found = k(cloud), pivoted_cholesky(k, cloud, rank=8, pivots="greedy")
    _, order, _, _ = dpstrf(K, lower=1)
    if k.diag(cloud).std() > 0:  # else the first pivot is a tie
        assert found.pivots.tolist() == (order[: found.rank] - 1).tolist()
    assert found.rank <= 8 and found.stopped in ("rank", "tol")


@pytest.mark.parametrize("how", PIVOTS)
@pytest.mark.parametrize("k", KERNELS, ids=str)
def test_new_points(k, how):
    found = pivoted_cholesky(k, cloud[:100], tol=1e-6, **how)
    top = np.sqrt(k.diag(cloud).max())
    assert np.abs(found(cloud[:100]) - found.factor).max() < 1e-5 * top
    cross = found(cloud[100:]) @ found.triangle.T  # with the pivots the map is exact
    assert np.abs(cross - k(cloud[100:], found.points)).max() < 1e-8 * top**2


def test_rank_deficient_kernels_stop_early():
    assert [pivoted_cholesky(Linear(), cloud, rank=50, **r).rank for r in PIVOTS] == [3, 3]
    repeated = np.tile(cloud[:7], (20, 1))
    for r in PIVOTS:
        found = pivoted_cholesky(Gaussian(1), repeated, rank=50, **r, tol=0)
        assert found.rank == 7 and found.stopped == "rounding" and not found.residual.any()
    assert "rounding" in repr(found) and "7 of 140" in repr(found)


def test_nothing_to_represent():
    found = pivoted_cholesky(Constant(0), cloud)
    assert found.rank == 0 and found.error == 0 and found(cloud).shape == (200, 0)


@pytest.mark.parametrize("shift", [0, 1e6])
@pytest.mark.parametrize("scale", [1e-8, 1, 1e8])
@pytest.mark.parametrize("how", PIVOTS)
def test_units_do_not_matter(shift, scale, how):
    found = pivoted_cholesky(Gaussian(scale), scale * (cloud + shift), tol=1e-4, **how)
    plain = pivoted_cholesky(Gaussian(1.0), cloud, tol=1e-4, **how)
    assert abs(found.rank - plain.rank) <= 2 and found.error <= 1e-4


@pytest.mark.parametrize("how", PIVOTS)
def test_kinds_of_points(how):
    line = np.arange(12.0)
    whole = [
        pivoted_cholesky(Brownian(), x, **how)
        for x in (line, line.astype(int), list(line), line[:, None])
    ]
    for found in whole:
        np.testing.assert_array_equal(found.factor, whole[0].factor)
    indices = pivoted_cholesky(Precomputed(Gaussian(1)(cloud)), np.arange(200), tol=1e-6, **how)
    direct = pivoted_cholesky(Gaussian(1), cloud, tol=1e-6, **how)
    assert (indices.pivots == direct.pivots).all()
    np.testing.assert_allclose(indices.factor, direct.factor, atol=1e-9)
    single = pivoted_cholesky(Gaussian(1), cloud.astype("f"), tol=1e-3, **how)
    assert (
        single.factor.dtype == single(cloud.astype("f")).dtype == np.float32
        and single.error <= 1e-3
    )
    assert pivoted_cholesky(Gaussian(1), [3.0], **how).factor.tolist() == [[1.0]]
    assert pivoted_cholesky(Gaussian(1), cloud[::2, ::2], **how).stopped == "tol"
    assert pivoted_cholesky(Gaussian(1), cloud.astype("f"), tol=0).stopped == "rounding"


def test_blocks_of_random_pivots_have_the_law_of_single_ones():
    "Ordered triples of first pivots, against the product of conditional probabilities"
    x = np.array([0.0, 0.3, 1.0, 3.0])
    K, expected = Gaussian(1.0)(x) * np.outer([1, 2, 1, 1], [1, 2, 1, 1]), {}
    for p in range(4):
        R = K - np.outer(K[:, p], K[p]) / K[p, p]
        for q in range(4):
            if q != p:
                left = R.diagonal() - R[:, q] ** 2 / R[q, q]
                for s in set(range(4)) - {p, q}:
                    expected[p, q, s] = (
                        K[p, p]
                        / np.trace(K)
                        * R[q, q]
                        / np.trace(R)
                        * left[s]
                        / left[[i for i in range(4) if i not in (p, q)]].sum()
                    )
    rng, draws, k = np.random.default_rng(0), 2000, Precomputed(K)
    seen = dict.fromkeys(expected, 0)
    for _ in range(draws):
        seen[tuple(pivoted_cholesky(k, np.arange(4), rank=3, rng=rng).pivots.tolist())] += 1
    chi2 = sum((seen[t] - draws * expected[t]) ** 2 / (draws * expected[t]) for t in expected)
    assert np.isclose(sum(expected.values()), 1) and chi2 < 23 + 5 * np.sqrt(46)


def test_pivots_are_random_from_the_seed_of_the_settings_unless_greedy():
    plain, seeded = (pivoted_cholesky(Gaussian(1), cloud, 20, rng=r) for r in (None, settings.seed))
    greedy = [pivoted_cholesky(Gaussian(1), cloud, 20, rng=r, pivots="greedy") for r in (None, 3)]
    assert (plain.pivots == seeded.pivots).all() and (plain.pivots != greedy[0].pivots).any()
    assert (greedy[0].pivots == greedy[1].pivots).all()


def test_random_pivots_repeat_with_the_seed_and_leave_the_input_alone():
    X = cloud.copy()
    one, two = (pivoted_cholesky(Gaussian(1), X, 20, rng=5) for _ in range(2))
    assert (one.pivots == two.pivots).all() and (X == cloud).all()
    assert (pivoted_cholesky(Gaussian(1), X, 20, rng=6).pivots != one.pivots).any()
    same = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(same(cloud), one(cloud))


def test_the_tolerance_is_met_with_the_fewest_columns_also_in_blocks():
    for how in PIVOTS:
        found = pivoted_cholesky(Gaussian(1), cloud, tol=1e-3, **how)
        shorter = found.factor[:, :-1]
        assert np.trace(Gaussian(1)(cloud) - shorter @ shorter.T) > 1e-3 * 200


class Twisted(Kernel):
    "cos(x² + y²) off the diagonal, 1 on it: indefinite"

    def _gram(self, X, Y, xp):
        return np.cos(X[:, :1] ** 2 + Y[:, :1].T ** 2) + 0 * X[:, :1]

    def _diag(self, X, xp):
        return np.ones(len(X))


class Coupled(Kernel):
    "c off the diagonal, 1 on it: indefinite if c > 1"

    c: float = 1.0

    def _gram(self, X, Y, xp):
        return np.where(X == Y.T, 1.0, self.c).astype(X.dtype)

    def _diag(self, X, xp):
        return np.ones(len(X), X.dtype)


BAD = {
    "no kernel": (lambda: pivoted_cholesky(np.dot, cloud), TypeError, "not a Kernel"),
    "a class": (
        lambda: pivoted_cholesky(Gaussian, cloud),
        TypeError,
        "the class Gaussian, not a Kernel",
    ),
    "indefinite": (lambda: pivoted_cholesky(Sigmoid(1, -1), cloud), IndefiniteKernel, "cᵀKc"),
    "indefinite in disguise": (
        lambda: pivoted_cholesky(Twisted(), 3 * cloud),
        IndefiniteKernel,
        "squared distance",
    ),
    "rank 0": (lambda: pivoted_cholesky(Gaussian(1), cloud, 0), ValueError, "rank = 0"),
    "rank": (lambda: pivoted_cholesky(Gaussian(1), cloud, "all"), TypeError, "rank"),
    "half": (lambda: pivoted_cholesky(Gaussian(1), cloud, 2.5), ValueError, "whole"),
    "tol": (lambda: pivoted_cholesky(Gaussian(1), cloud, tol=-1e-3), ValueError, "tol"),
    "tol nan": (lambda: pivoted_cholesky(Gaussian(1), cloud, tol=np.nan), ValueError, "tol"),
    "rng": (lambda: pivoted_cholesky(Gaussian(1), cloud, rng="x"), TypeError, "rng"),
    "seed": (lambda: pivoted_cholesky(Gaussian(1), cloud, rng=-1), TypeError, "seed"),
    "pivots": (
        lambda: pivoted_cholesky(Gaussian(1), cloud, pivots="gredy"),
        ValueError,
        "mean greedy",
    ),
    "nan": (lambda: pivoted_cholesky(Gaussian(1), [0, np.nan]), ValueError, "not finite"),
    "empty": (lambda: pivoted_cholesky(Gaussian(1), np.zeros((0, 2))), ValueError, "empty"),
    "domain": (lambda: pivoted_cholesky(Brownian(), [-1.0, 1]), ValueError, "outside"),
    "huge": (
        lambda: pivoted_cholesky(1e307 * Gaussian(1), cloud),
        ValueError,
        r"within float64: rescale 1e\+307 \*",
    ),
    "tiny": (
        lambda: pivoted_cholesky(1e-300 * Gaussian(1), cloud),
        ValueError,
        r"within float64: rescale 1e-300 \*",
    ),
    "columns": (lambda: pivoted_cholesky(Gaussian(1), cloud)(cloud[:, :2]), ValueError, "columns"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case):
    use, error, words = BAD[case]
    with pytest.raises(error, match=words):
        use()


@pytest.mark.parametrize("how", PIVOTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_square_that_is_negative_beyond_rounding_is_a_near_miss_of_bad_input(dtype, how):
    "Of [[1, c], [c, 1]] one pivot leaves 1 − c², and −eps^(3/8) is still rounding"
    tol = float(np.finfo(dtype).eps) ** 0.375
    for times, refused in ((0.3, False), (3.0, True)):
        k, X = Coupled(np.sqrt(1 + times * tol)), np.array([0, 1], dtype)
        if refused:
            with pytest.raises(IndefiniteKernel, match="squared distance"):
                pivoted_cholesky(k, X, **how)
        else:
            assert pivoted_cholesky(k, X, **how).rank == 1


@pytest.mark.parametrize("how", PIVOTS)
def test_memory_is_a_few_factors(how):
    points = np.random.default_rng(0).normal(size=(4000, 4))
    tracemalloc.start()
    try:
        found = pivoted_cholesky(Gaussian(1), points, rank=200, **how)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.rank == 200 and peak < 2.8 * found.factor.nbytes


def test_a_factor_that_does_not_fit():
    many = np.random.default_rng(0).normal(size=(400, 3))
    with settings.using(result_mib=0.5), pytest.raises(MemoryError, match="smaller rank"):
        pivoted_cholesky(Gaussian(0.1), many, tol=0)


def test_all_columns_at_once_are_the_columns_one_by_one(monkeypatch):
    def found():
        return [pivoted_cholesky(Gaussian(0.7), cloud, tol=1e-8, **how) for how in PIVOTS]

    whole = found()
    monkeypatch.setattr("rkhs_notes.engines.solving.lowrank._AT_ONCE", 0)
    for one, other in zip(whole, found(), strict=True):
        np.testing.assert_array_equal(one.pivots, other.pivots)
        np.testing.assert_allclose(one.factor, other.factor, atol=1e-7)
