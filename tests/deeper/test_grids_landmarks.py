"""Grids, sketches and landmarks: every map against its kernel, by z-scores, dictionaries and projections."""

import pickle
import warnings

import numpy as np
import pytest

from rkhs_notes import grids
from rkhs_notes.base.arrays import as_points
from rkhs_notes.base.blocks import in_parallel
from rkhs_notes.base.errors import LawBroken, NoFiniteFeatureMap
from rkhs_notes.deeper.structured import Spectrum
from rkhs_notes.deeper.zoo import (
    Cauchy,
    Delta,
    Laplace,
    Matern,
    Periodic,
    Precomputed,
    RationalQuadratic,
)
from rkhs_notes.engines.features.bins import binning_features, hat_mixture
from rkhs_notes.engines.features.bounds import check_unbiased
from rkhs_notes.engines.features.grids import Cells, hats
from rkhs_notes.engines.features.random_maps import random_feature_map
from rkhs_notes.engines.features.spectral import OfDifference, spectral_from_function
from rkhs_notes.engines.kernels.composites import Anova, Tensor
from rkhs_notes.engines.solving.landmarks import nystrom_features
from rkhs_notes.kernels import Brownian, Constant, Gaussian, Linear, Polynomial, Sigmoid

X = np.random.default_rng(7).normal(size=(6, 3))


def positive(A):
    return 1 + np.cos(A[:, 0]) ** 2


# grids

GRIDS = [
    Laplace(1),
    2 * Laplace(1.0) + Laplace(3) * Laplace(2),
    Laplace(2) ** 2,
    Laplace(1).on([0, 2]) + Constant(0.5),
    Laplace(2).exp(),
    Laplace(2).gaussian_of(0.8),
    Anova(Laplace(1.0), 2, up_to=True),
    Tensor(Laplace(1), Laplace(2), split=1),
    Delta() + Laplace(1),
    (3 * Laplace(1.0)).normalized(),
    Matern(0.3).on(1) + Matern(0.5).on(0),
]


@pytest.mark.parametrize("k", GRIDS, ids=str)
def test_binning_is_unbiased(k):
    points = np.vstack([X, X[:1]])
    check_unbiased(lambda rng: binning_features(k, points, 20, rng), k, points, 0, 100)


@pytest.mark.second_route("binning_features", "cells in a dictionary")
@pytest.mark.parametrize("d, bandwidth", [(1, 0.01), (3, 1.0), (40, 3.0), (130, 50.0)])
def test_binning_is_what_a_dictionary_gives(d, bandwidth):
    rng = np.random.default_rng(d)
    A, B = rng.normal(size=(200, d)) + 1e6, rng.normal(size=(150, d)) * 2 + 1e6
    phi = binning_features(Laplace(bandwidth), A, 30, 5)
    F, G = phi(A), phi(B)
    assert F.nnz == 200 * 30 and (F.sum(axis=0) > 0).all() and F.shape == (200, phi.dim)
    corner, inner = A.min(axis=0), np.zeros((200, 150))
    for cells in phi.function.tables:
        first, second = (
            [tuple(row) for row in np.floor((Z - corner) * cells.inverse + cells.shift)]
            for Z in (A, B)
        )
        inner += [[a == b for b in second] for a in first]
    assert np.allclose((F @ G.T).toarray(), inner / 30)
    assert np.array_equal(pickle.loads(pickle.dumps(phi))(B).toarray(), G.toarray())


def test_many_grids_have_the_kernel():
    points = np.array([0.0, 0.2, 0.5, 1.0, 2.0, 4.0])
    for k, P in ((Laplace(1.0), 20_000), (Matern(0.3) * Laplace(3.0), 3000)):
        F, K = binning_features(k, points, P, 0)(points), k(points)
        assert (np.abs((F @ F.T).toarray() - K) <= 5 * np.sqrt(K * (1 - K) / P) + 1e-3).all()


@pytest.mark.parametrize("height", [0.2, 3.0])
def test_grids_of_a_function_have_its_height_and_its_shape(height):
    k = OfDifference(lambda t: height / (1 + np.abs(t)) ** 4)
    points = np.array([0.0, 0.1, 0.2, 0.5, 1.0])
    F, K = binning_features(k, points, 1000, 0)(points), k(points)
    error = np.abs((F @ F.T).toarray() - K)
    assert (error <= 5 * np.sqrt(K * (height - K) / 1000) + 1e-9).all()


def test_binning_of_far_points_is_not_called_biased():
    far, k = np.array([0.0, 6.0, 8.0, 12.0, 30.0])[:, None], Laplace(1.0)
    for seed in range(20):  # cells are shared once in 10² to 10¹² grids
        check_unbiased(lambda rng: binning_features(k, far, 5, rng), k, far, seed, 100)


def test_rare_matches_are_called_biased_as_rarely_as_promised():
    chance, rng, alarms = (
        16.2 / 800,
        np.random.default_rng(0),
        0,
    )  # the worst rate: 16 matches expected
    k = Precomputed([[1.0, chance], [chance, 1.0]])

    def draw(rng):
        match = float(rng.random() < chance)
        return lambda X: np.array([[1.0, 0.0], [match, 1.0 - match]])

    for _ in range(200):
        try:
            check_unbiased(draw, k, np.arange(2), rng, 800)
        except LawBroken:
            alarms += 1
    assert alarms <= 1  # 200 · 10⁻⁴ = 0.02 expected


def test_binning_of_awkward_points():
    k = Laplace(1.0)
    for points in (
        [1.0, 1.0, 2.0],
        [[5.0, 1e9]],
        np.zeros((4, 3)),
        np.arange(5),
        np.float32([0, 1, 2]),
    ):
        phi = binning_features(k, points, 7, 0)
        A = as_points(points)
        assert np.allclose(phi(points).multiply(phi(points)).sum(axis=1), 1) and phi(
            points
        ).nnz == 7 * len(A)
        assert phi(points).dtype == A.dtype
    assert phi(np.array([1e300, -1e300])).nnz == 0
    assert np.array_equal(
        binning_features(k, X, 5, 3)(X).toarray(), binning_features(k, X, 5, 3)(X).toarray()
    )


@pytest.mark.parametrize(
    "k", [Gaussian(1), Cauchy(1), RationalQuadratic(1), Matern(1.5), Periodic(50, 20)], ids=str
)
def test_no_grids_for_concave_kernels(k):
    with pytest.raises(ValueError, match="no mixture of hats|does not die"):
        binning_features(k, X[:, 0], 5, 0)
    with pytest.raises(NoFiniteFeatureMap, match="no random grids"):
        binning_features(k, X, 5, 0)


def test_a_near_miss_of_hats():
    pitch = np.geomspace(2.0**-36, 16, 8192)[7600]  # a node: all of a hat's mass stands there

    def without(mass):
        return lambda t: np.maximum(0, 1 - t / 8) - mass * np.maximum(0, 1 - t / pitch)

    assert hat_mixture(without(3e-10))[1].min() == 0
    with pytest.raises(NoFiniteFeatureMap, match="no mixture of hats"):
        hat_mixture(without(3e-9))


@pytest.mark.second_route("hat_mixture", "hats, summed up again")
def test_hats_add_up():
    t = np.linspace(0, 5, 50)
    for f in (lambda t: np.exp(-t), lambda t: 3 / (1 + t) ** 4, lambda t: np.maximum(0, 1 - t / 2)):
        pitches, masses = hat_mixture(f)
        assert masses.min() >= 0 and masses.sum() == pytest.approx(f(0.0))
        assert np.allclose(np.maximum(0, 1 - t[:, None] / pitches) @ masses, f(t), atol=2e-4)


def test_threads_number_the_same_cells(monkeypatch):
    many = np.random.default_rng(0).normal(size=(50_000, 1))
    some = many[:49_999]

    def columns(points):
        return binning_features(Laplace(1), points, 3, 0)(points).indices.reshape(-1, 3)

    used = []
    monkeypatch.setattr(
        grids, "in_parallel", lambda work, items: used.append(1) or in_parallel(work, items)
    )
    by_threads, alone = columns(many), columns(some)
    assert len(used) == 2  # to learn and to map, of the many only
    for a, b in zip(
        by_threads[:-1].T, alone.T, strict=True
    ):  # the same partitions under other names
        assert (
            len({*zip(a.tolist(), b.tolist(), strict=True)})
            == len({*a.tolist()})
            == len({*b.tolist()})
        )


# the recursion


CUBE = Polynomial(3, 1.0, 0.5)
EXPRESSIONS = [
    (CUBE, 10, 10),
    (CUBE, 9, 9),
    (Gaussian(1) + Linear(), 42, 41),
    (Gaussian(1) + 2 * Laplace(1) + CUBE, 80, None),
    (Gaussian(1) * Linear(), 40, 36),
    (Gaussian(1) * CUBE, 41, 41),
    (CUBE * CUBE, 30, 30),
    ((Gaussian(1) + Linear()) ** 2, 64, 64),
    (Gaussian(1).conjugate(positive), 32, 32),
    ((Gaussian(1) + Linear()).normalized(), 32, None),
    (Gaussian(1).on(np.sin), 33, 32),
    (Tensor(Gaussian(1), CUBE, split=1), 48, 48),
    (Linear().exp(), 64, 64),
    ((Linear() + Gaussian(1)).exp(), 64, None),
    (CUBE.gaussian_of(2), 64, 64),
    ((Linear() + Laplace(1)).gaussian_of(2.0), 64, 64),
    (Anova(Polynomial(2), 2, up_to=True), 16, 16),
    (Periodic(2, 1) * Linear() + Constant(2), 32, None),
    (Gaussian(1) + Gaussian(2) + Gaussian(3) + Laplace(2), 4, 4),
]


@pytest.mark.parametrize("k, D, dim", EXPRESSIONS, ids=str)
def test_the_recursion_is_unbiased(k, D, dim):
    points = np.random.default_rng(3).uniform(0.1, 1.5, size=(6, 3))
    phi = random_feature_map(k, 3, D, 0)
    assert phi.dim <= D and phi(points).shape == (6, phi.dim) and (dim is None or phi.dim == dim)
    check_unbiased(lambda rng: random_feature_map(k, 3, D, rng), k, points, 4, 300)
    again = pickle.loads(pickle.dumps(phi))
    assert np.array_equal(again(points), phi(points)) and again.kernel == k
    assert phi(points.astype(np.float32)).dtype == np.float32
    assert np.allclose(random_feature_map(k, 3, D, 0)(points), phi(points))


@pytest.mark.parametrize("k", [Polynomial(5), Laplace(1) + Linear(), Gaussian(1)], ids=str)
def test_a_constant_factor_only_weighs_the_features(k):
    points = np.random.default_rng(3).uniform(0.1, 1.5, size=(6, 3))
    one, four = (random_feature_map(f, 3, 8, 0)(points) for f in (k, Constant(4) * k))
    np.testing.assert_allclose(four, 2 * one, rtol=1e-13)


@pytest.mark.parametrize(
    "k, D, error, words",
    [
        (Brownian(), 8, NoFiniteFeatureMap, "nystrom_features"),
        (Gaussian(1) + Brownian(), 8, NoFiniteFeatureMap, "contains a part"),
        (Brownian().exp(), 8, NoFiniteFeatureMap, "without finite features"),
        (Gaussian(1), 1, ValueError, "D = 1: .* 2: for Gaussian"),
        (Gaussian(1) * Laplace(1), 1, ValueError, "D = 1: .* 2: for Gaussian.* Laplace"),
        (Laplace(2) ** 3, 1, ValueError, "D = 1: .* 2: for Laplace"),
        (Gaussian(1) + Brownian() + Linear(), 1, ValueError, "too few"),
        (Sigmoid(1, -1), 8, ValueError, "not positive semidefinite"),
        ("a", 8, TypeError, "not a Kernel"),
        (Gaussian(1), 0, ValueError, "D = 0"),
        (Gaussian(1), "a", TypeError, "D = 'a'"),
        (Gaussian(1), 2.5, ValueError, "whole"),
    ],
)
def test_what_the_recursion_refuses(k, D, error, words):
    with pytest.raises(error, match=words):
        random_feature_map(k, 1, D, 0)


# landmarks


@pytest.mark.parametrize("landmarks", ["uniform", "rpcholesky", "kmeans"])
@pytest.mark.parametrize(
    "k", [Gaussian(1), 1e-12 * Laplace(1), Linear() + Constant(1), Brownian().on(positive)], ids=str
)
def test_landmarks(k, landmarks):
    points = np.random.default_rng(2).normal(size=(80, 2))
    phi = nystrom_features(k, points, 30, 0, landmarks)
    F, K = phi(points), k(points)
    assert F.shape == (80, phi.dim) and phi.dim <= 30
    rest = K - F @ F.T
    assert np.linalg.eigvalsh(rest)[0] > -1e-9 * K.max() and rest.diagonal().min() > -1e-9 * K.max()
    Z = phi.function.Z
    assert np.abs(phi(Z) @ F.T - k(Z, points)).max() < 1e-7 * K.max()
    assert np.array_equal(pickle.loads(pickle.dumps(phi))(points), F)


def test_landmarks_of_ones_own():
    rng = np.random.default_rng(3)
    points, Z, k = rng.normal(size=(50, 2)), 2 * rng.normal(size=(7, 2)), Laplace(1.0)
    phi = nystrom_features(k, points, landmarks=Z)
    exact = k(points, Z) @ np.linalg.solve(k(Z), k(Z, points))  # (9a.7)
    np.testing.assert_allclose(phi(points) @ phi(points).T, exact, atol=1e-12)
    assert phi.dim == 7 and {z.tobytes() for z in phi.function.Z} == {z.tobytes() for z in Z}
    assert nystrom_features(k, points, 3, landmarks=Z).dim == 3
    with pytest.warns(RuntimeWarning, match="7 features from 14 landmarks"):
        again = nystrom_features(k, points, landmarks=np.r_[Z, Z])
    np.testing.assert_allclose(again(points) @ again(points).T, exact, atol=1e-12)
    kept = phi(points)
    Z[...] = 0.0  # what was answered stays
    assert np.array_equal(phi(points), kept)
    words = ["banana", "bandana", "ananas"]
    own = nystrom_features(Spectrum(2), words, landmarks=["banana", "cabana"])
    np.testing.assert_allclose(own(["cabana"]) @ own(words).T, Spectrum(2)(["cabana"], words))
    for bad, words in (
        (np.ones((3, 4)), "X has 2 columns, landmarks has 4"),
        ([[np.nan, 1.0]], "landmarks"),
        ("none", "landmarks = 'none'"),
    ):
        with pytest.raises(ValueError, match=words):
            nystrom_features(k, points, landmarks=bad)
    with pytest.raises(TypeError, match="m is left out: pass how many"):
        nystrom_features(k, points)


def test_chosen_landmarks_explain_more():
    rng = np.random.default_rng(5)
    points = np.concatenate([rng.normal(size=(300, 2)) * 0.2 + c for c in ([0, 0], [0, 3], [4, 0])])
    points = np.concatenate([points, rng.normal(size=(30, 2)) + 8])
    left, places = {}, {}
    for landmarks in ("uniform", "rpcholesky", "kmeans"):
        maps = [nystrom_features(Gaussian(1), points, 20, seed, landmarks) for seed in range(6)]
        left[landmarks] = np.mean([1 - (phi(points) ** 2).sum(axis=1).mean() for phi in maps])
        places[landmarks] = {phi.function.Z[0].tobytes() for phi in maps}
        assert len(places[landmarks]) > 1  # the seed matters
    assert left["rpcholesky"] < 0.5 * left["uniform"] and left["kmeans"] < 0.9 * left["uniform"]


def test_dependent_landmarks_are_told_below_three_quarters():
    A = np.random.default_rng(0).normal(size=(20, 5))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert nystrom_features(Linear(), A, 6, 0).dim == 5
    with pytest.warns(RuntimeWarning, match="5 features from 7 landmarks") as said:
        nystrom_features(Linear(), A, 7, 0)
    assert said[0].filename == __file__  # the line that called, not one of the package


@pytest.mark.second_route("nystrom_features", "a matrix of low rank")
def test_landmarks_of_awkward_points():
    same = np.ones((20, 3))
    for landmarks in ("uniform", "rpcholesky", "kmeans"):
        phi = nystrom_features(Gaussian(1), same, 10, 0, landmarks)
        assert phi.dim == 1 and np.allclose(phi(same), 1)
    A = np.random.default_rng(0).normal(size=(20, 5))
    phi = nystrom_features(Precomputed(A @ A.T), np.arange(20), 12, 0)
    assert phi.dim == 5 and np.allclose(phi(np.arange(20)) @ phi(np.arange(20)).T, A @ A.T)
    with pytest.raises(ValueError, match="landmarks = 'a'"):
        nystrom_features(Gaussian(1), same, 10, 0, "a")


def test_clusters_of_repeated_points():
    "As many centres as there are different points; k-means says nothing, the map says how few"
    few = np.repeat(X[:3], 5, axis=0)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        phi = nystrom_features(Gaussian(), few, 9, 0, "kmeans")
    assert [str(w.message).split(":")[0] for w in said] == ["3 features from 9 landmarks"]
    assert phi.dim == 3
    assert np.allclose(phi(few) @ phi(few).T, Gaussian()(few))


@pytest.mark.parametrize("k", [Laplace(0.5), Laplace(0.5).on(1), Delta() + Laplace(0.1)], ids=str)
def test_the_cells_of_a_point_do_not_depend_on_the_points_beside_it(k):
    "Seen or not, inside or outside of the box of the sample, near infinity"
    rng = np.random.default_rng(0)
    seen = np.vstack([np.zeros(2), rng.uniform(size=(30, 2))])
    phi = binning_features(k, seen, 40, 0)
    far = [[30, 30], [-30, -30], [1e200, -1e200]]  # in no cell of the sample
    others = [[1, 1], [1, 0], [0, 1], [-3, 0.5], seen.max(axis=0), *far]
    together = np.vstack([seen, others])
    alone = np.vstack([phi(point[None]).toarray() for point in together])
    assert np.array_equal(phi(together).toarray(), alone) and alone[:31].any(axis=1).all()
    assert not alone[-3:].any()


def test_cells_whose_numbers_are_beyond_53_bits_stay_different():
    "Four coordinates of 2^20 cells each; two points of neighbouring cells in the first alone"
    ones, top = np.ones(4), 2.0**20 - 1
    cells = Cells(np.arange(4), ones, 0 * ones, top * ones)
    Y = np.array([[0.5, 1.5, 0.6], [top, top, top], [top, top, top], [top, top, top]])
    assert cells.learn(Y) == 2
    place = cells(Y, np.stack([Y.min(axis=1), Y.max(axis=1)], axis=1))
    assert place[0] == place[2] != place[1]


def test_a_function_is_at_most_so_many_times_as_wide_at_its_foot_as_at_half_its_height():
    def two_hats(c):
        return lambda t: 0.9 * np.maximum(0, 1 - t) + 0.1 * np.maximum(0, 1 - t / c)

    for c in (2.0**11, 2.0**28):
        pitches, masses = hat_mixture(two_hats(c))
        assert masses[pitches > 2].sum() == pytest.approx(0.1, abs=1e-3)
        assert pitches @ masses == pytest.approx(0.9 + 0.1 * c, rel=1e-2)
    with pytest.raises(ValueError, match=r"does not die away: \S+\(2.68e\+08\) is 0.05 of"):
        hat_mixture(two_hats(2.0**29))
    with pytest.raises(ValueError, match=r"does not die away: \S+\(2.05e\+03\) is 0.05 of"):
        spectral_from_function(lambda t: two_hats(2.0**12)(np.abs(t)))  # a grid of equal steps


def test_slow_functions_are_mixtures_of_hats():
    "1/(1 + t) is that of the density 2δ/(1 + δ)³"
    pitches, masses = hat_mixture(lambda t: 1 / (1 + t))
    for below in (0.01, 1.0, 100.0, 1e4):
        exact = (below / (1 + below)) ** 2
        assert abs(masses[pitches < below].sum() - exact) < min(3e-4, 5e-3 * exact)
    for f in (lambda t: (1 + t) ** -1.5, lambda t: np.exp(-(t**0.3))):
        pitches, masses = hat_mixture(f)
        t = np.geomspace(0.001, 1e4, 50)
        np.testing.assert_allclose(
            np.maximum(0, 1 - t[:, None] / pitches) @ masses, f(t), atol=1e-5
        )


@pytest.mark.parametrize("reach", [2.0, 30.0])
def test_what_lies_beyond_the_last_hat_counts_as_its_rounding(reach):
    pitches, masses, rounding = hats(lambda t: np.exp(-t), reach)
    assert rounding[-1] >= np.exp(-reach) and abs(masses.sum() - 1) <= rounding.sum()
    t = np.linspace(0, reach, 50)
    mixture = masses @ np.maximum(0, 1 - t / pitches[:, None])
    np.testing.assert_allclose(mixture, np.exp(-t) - np.exp(-reach), atol=1e-5)


def test_points_that_are_no_rows_of_numbers_are_told_what_to_use():
    texts, rows = ["ab", "abc"], np.arange(9)
    for k in (Spectrum(2), Delta(), Constant(1.0)):
        with pytest.raises(TypeError, match="binning needs points of ℝᵈ.*nystrom_features"):
            binning_features(k, texts, 4)
    with pytest.raises(TypeError, match="k-means needs points of ℝᵈ.*'rpcholesky'"):
        nystrom_features(Spectrum(2), texts, 1, landmarks="kmeans")
    with pytest.raises(ValueError, match="a centre of k-means holds"):
        nystrom_features(Precomputed(np.eye(9)), rows, 2, landmarks="kmeans")
    phi = nystrom_features(Spectrum(2), texts, 2)
    np.testing.assert_allclose(phi(texts) @ phi(texts).T, Spectrum(2)(texts), atol=1e-12)
