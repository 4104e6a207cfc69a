"""Mean embeddings and MMD: closed forms, brute force, levels, every kind of sample and kernel, bad input."""

import pickle
import tracemalloc
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
import pytest

from rkhs_notes import settings
from rkhs_notes.base.errors import LawBroken
from rkhs_notes.deeper.embeddings import check_mmd
from rkhs_notes.deeper.two_samples import (
    AggregatedTest,
    MMDTest,
    check_level,
    check_power,
    gaussian_grid,
    mmd2_threshold,
    mmd_detectable,
    mmd_test,
    mmd_test_aggregated,
    mmd_test_split,
)
from rkhs_notes.deeper.zoo import Delta, Laplace, Matern, Precomputed
from rkhs_notes.engines.features.feature_maps import MonomialMap
from rkhs_notes.engines.features.random_maps import random_feature_map
from rkhs_notes.engines.functions.measures import Measure, empirical, gauss_hermite
from rkhs_notes.engines.kernels.composites import Tensor
from rkhs_notes.engines.testing.discrepancies import (
    DistanceInduced,
    GaussianEmbedding,
    herding,
    mean_embedding,
    mmd2_block,
    mmd2_features,
    mmd2_gaussians,
    mmd2_incomplete,
    mmd2_linear,
    mmd2_u,
    mmd2_u1,
    mmd2_v,
    witness,
)
from rkhs_notes.engines.testing.resampling import binomial_interval
from rkhs_notes.kernels import Brownian, Constant, Gaussian, Kernel, Linear, Polynomial, Sigmoid
from rkhs_notes.rkhs import RKHSFunction

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(20, 3)), rng.normal(size=(31, 3)) + 0.4
KERNELS = [
    Gaussian(1.3),
    Laplace(2.0),
    Matern(1.5, 1.0),
    Linear(),
    Polynomial(3),
    DistanceInduced(),
    Gaussian(0.5) + 3 * Linear(),
    Gaussian(1.0).on([0, 2]),
    Delta(),
    Constant(2.0),
]


def by_hand(k, X, Y, w=None, v=None, unbiased=False):
    "The double sums, typed out"
    w = np.full(len(X), 1 / len(X)) if w is None else w / w.sum()
    v = np.full(len(Y), 1 / len(Y)) if v is None else v / v.sum()
    total = 0.0
    for K, a, b, sign in ((k(X), w, w, 1), (k(Y), v, v, 1), (k(X, Y), w, v, -2)):
        W = np.outer(a, b)
        if unbiased and sign == 1:
            np.fill_diagonal(W, 0)
            W = W / W.sum()
        total += sign * (W * K).sum()
    return total


# ------------------------------------------------------------------ numbers


@pytest.mark.parametrize(
    "arguments, value",
    [
        ((0, 1, 1, 1), 0.177267634919862),
        ((0, 1, 0.5, 1), 0.047123955847628),
        ((0, 1, 0, 2), 0.024563864689584),
        ((0, 1, 0, 4), 0.094187021595233),
        ((0, 1, 1, 4), 0.159470483676465),
        ((np.zeros(2), np.eye(2), np.eye(2)[0], np.eye(2)), 0.102345516739591),
        ((np.zeros(10), np.eye(10), np.eye(10)[0], np.eye(10), 10**0.5), 0.032801683779306),
        (([0, 0], np.eye(2), [1, -1], [[2, 0.5], [0.5, 1]], 1.5), 0.219270842047979),
        ((3, 2, 3, 2), 0.0),
    ],
)
def test_normal_laws(arguments, value):
    assert mmd2_gaussians(*arguments) == pytest.approx(value, rel=1e-11, abs=1e-15)
    moved = [np.add(a, 1e6) if i in (0, 2) else a for i, a in enumerate(arguments)]
    assert mmd2_gaussians(*moved) == pytest.approx(value, rel=1e-8, abs=1e-12)


@pytest.mark.second_route("GaussianEmbedding", "mmd2_gaussians", "quadrature and draws")
def test_normal_laws_against_quadrature():
    P, Q = gauss_hermite(0.3, 1.0, 80), gauss_hermite(-0.4, 1.5, 80)
    assert mmd2_v(Gaussian(0.9), P, Q) == pytest.approx(
        mmd2_gaussians(0.3, 1.0, -0.4, 2.25, 0.9), abs=1e-13
    )
    mu = GaussianEmbedding([1.0, 2.0], [[1.0, 0.3], [0.3, 0.5]], 0.7)
    draws = rng.multivariate_normal(mu.mean, mu.cov, size=40_000)
    at = rng.normal(size=(5, 2)) + 1
    np.testing.assert_allclose(Gaussian(0.7)(draws, at).mean(axis=0), mu(at), atol=0.01)
    point = GaussianEmbedding(0.5, 0.0, 1.0)
    assert point.norm() == 1 and point @ mean_embedding(Gaussian(1.0), [0.7]) == pytest.approx(
        np.exp(-0.02)
    )


def test_units_far_apart_do_not_overflow():
    assert GaussianEmbedding(0, 1e200, 1e-200).norm() == pytest.approx(
        2**-0.25 * 1e-150, rel=1e-6, abs=0
    )
    assert mmd2_gaussians(0, [[1e300]], 0, [[1.0]], 1e-150) == pytest.approx(
        1e-150 / 2**0.5, rel=1e-6, abs=0
    )


def test_moments_of_the_coin():
    coin, normal = empirical([-1.0, 1.0]), gauss_hermite(0, 1, 10)
    np.testing.assert_allclose(
        [mmd2_v(Polynomial(p), coin, normal) for p in (1, 2, 3, 4)], [0, 0, 0, 4], atol=1e-12
    )
    assert mmd2_v(Polynomial(2), normal, gauss_hermite(1, 1, 10)) == pytest.approx(3)


@pytest.mark.second_route("mmd2_threshold", "the paper's printed numbers")
def test_bounds_of_the_paper():
    for m, v, u in ((50, 0.6895, 0.9791), (250, 0.3084, 0.4379), (1000, 0.1542, 0.2189)):
        assert mmd2_threshold(m, m) ** 0.5 == pytest.approx(v, abs=6e-5)
        assert mmd2_threshold(m, m, statistic="u1") == pytest.approx(u, abs=6e-5)
    assert mmd2_threshold(10, 20, bound=4.0) == pytest.approx(4 * mmd2_threshold(20, 10))


# ------------------------------------------------------------------ estimators


@pytest.mark.second_route(
    "mmd2_block", "mmd2_incomplete", "mmd2_linear", "mmd2_u", "mmd2_u1", "mmd2_v", "double sums"
)
@pytest.mark.parametrize("k", KERNELS, ids=str)
def test_estimators_are_the_double_sums(k):
    w, v = rng.uniform(size=20), rng.uniform(size=31)
    scale = k.diag(X).max() + k.diag(Y).max()
    for P, Q, a, b in (
        (X, Y, None, None),
        (Measure(X, w), Measure(Y, v), w, v),
        (Measure(X, w), Y, w, None),
    ):
        assert abs(mmd2_v(k, P, Q) - by_hand(k, X, Y, a, b)) < 1e-14 * scale
        assert abs(mmd2_u(k, P, Q) - by_hand(k, X, Y, a, b, unbiased=True)) < 1e-14 * scale
    n = 20
    H = k(X) + k(Y[:n]) - k(X, Y[:n]) - k(Y[:n], X)
    np.fill_diagonal(H, 0)
    assert abs(mmd2_u1(k, X, Y[:n]) - H.sum() / (n * (n - 1))) < 1e-14 * scale
    assert (
        abs(mmd2_linear(k, X, Y[:n]) - H[np.arange(0, n, 2), np.arange(1, n, 2)].mean())
        < 1e-14 * scale
    )
    blocks = [H[i : i + 6, i : i + 6].sum() / 30 for i in (0, 6, 12)]
    assert abs(mmd2_block(k, X, Y[:n], 6) - np.mean(blocks)) < 1e-14 * scale
    diagonals = np.concatenate([np.diagonal(H, r) for r in (1, 2, 3)])
    assert abs(mmd2_incomplete(k, X, Y[:n], 3) - diagonals.mean()) < 1e-14 * scale


@pytest.mark.parametrize("k", KERNELS[:-1], ids=str)
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e3])
def test_laws_hold_for_every_kernel(k, scale):
    assert check_mmd(k, scale * X, scale * Y[:20]) < 1e-11


@pytest.mark.parametrize("factor", [1e-12, 1e12])
def test_units_of_the_kernel_do_not_matter(factor):
    a, b = mmd_test(Gaussian(1.0), X, Y, 99), mmd_test(factor * Gaussian(1.0), X, Y, 99)
    assert b.pvalue == a.pvalue and b.statistic == pytest.approx(
        factor * a.statistic, rel=1e-6, abs=0
    )
    assert a.witness(X) == pytest.approx(b.witness(X) / factor**0.5)


def test_data_far_from_the_origin():
    near, far = mmd_test(Gaussian(1.0), X, Y, 99), mmd_test(Gaussian(1.0), X + 1e6, Y + 1e6, 99)
    assert far.statistic == pytest.approx(near.statistic, abs=1e-9) and far.pvalue == near.pvalue
    k = DistanceInduced(origin=[1e6] * 3)
    assert mmd2_v(k, X + 1e6, Y + 1e6) == pytest.approx(mmd2_v(DistanceInduced(), X, Y), abs=1e-8)


@pytest.mark.second_route("mmd2_features", "the same statistic of the kernel")
def test_features_agree_with_their_kernel():
    phi, k = Polynomial(3).feature_map(3), Polynomial(3)
    P, Q = Measure(X, np.arange(1.0, 21)), Measure(Y, np.arange(1.0, 32))
    for A, B in ((X, Y), (P, Q)):
        assert mmd2_features(phi, A, B) == pytest.approx(mmd2_v(k, A, B))
        assert mmd2_features(phi, A, B, unbiased=True) == pytest.approx(mmd2_u(k, A, B))
        for statistic in ("u", "v"):
            ours, theirs = (mmd_test(h, A, B, 99, statistic=statistic) for h in (phi, k))
            np.testing.assert_allclose(ours.null, theirs.null, atol=1e-11 * k.diag(X).max())
            assert ours.pvalue == theirs.pvalue
            np.testing.assert_allclose(ours.witness(X), theirs.witness(X), rtol=1e-6, atol=1e-9)
    assert mmd2_features(MonomialMap(2), X, Y) == pytest.approx(mmd2_v(Polynomial(2), X, Y))


# ------------------------------------------------------------------ tests


@pytest.mark.second_route("MMDTest", "mmd_test", "double sums of every relabelling")
@pytest.mark.parametrize("statistic", ["u", "v"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_null_is_made_of_relabellings(statistic, weighted):
    from rkhs_notes.engines.testing.resampling import random_labels

    w = rng.uniform(0.5, 2, size=51) if weighted else np.ones(51)
    P, Q = Measure(X, w[:20]), Measure(Y, w[20:])
    result = mmd_test(Gaussian(1.0), P, Q, 30, statistic=statistic, rng=5)
    Z = np.vstack([X, Y])
    for s, T in zip(random_labels(20, 51, 30, 5).T == 1, result.null, strict=True):
        expected = by_hand(Gaussian(1.0), Z[s], Z[~s], w[s], w[~s], unbiased=statistic == "u")
        assert T == pytest.approx(expected, abs=1e-14)


def test_swaps_are_swaps():
    from rkhs_notes.engines.testing.resampling import random_signs

    signs = random_signs(20, 40, 3).T
    B = Y[:20]
    for statistic, estimator in (("u1", mmd2_u1), ("linear", mmd2_linear), ("block", mmd2_block),
                                 ("incomplete", mmd2_incomplete)):  # fmt: skip
        result = mmd_test(Gaussian(1.0), X, B, 40, statistic=statistic, rng=3)
        for s, T in zip(signs, result.null, strict=True):
            keep = (s == 1)[:, None]
            swapped = estimator(Gaussian(1.0), np.where(keep, X, B), np.where(keep, B, X))
            assert T == pytest.approx(swapped, abs=1e-14)
        assert result.statistic == pytest.approx(estimator(Gaussian(1.0), X, B), abs=1e-14)


@pytest.mark.parametrize("statistic", ["u", "v", "u1", "linear", "block", "incomplete"])
def test_memory_changes_nothing(statistic):
    n = 20 if statistic not in "uv" else 31
    whole = mmd_test(Gaussian(1.0), X, Y[:n], 200, statistic=statistic, rng=1)
    with settings.using(result_mib=0.0028, block_mib=0.01):
        parts = mmd_test(Gaussian(1.0), X, Y[:n], 200, statistic=statistic, rng=1)
    np.testing.assert_allclose(parts.null, whole.null, atol=1e-14)
    assert parts.pvalue == whole.pvalue and parts.statistic == pytest.approx(
        whole.statistic, abs=1e-14
    )


def test_memory_changes_no_gamma_law():
    whole = mmd_test(Gaussian(1.0), X, Y, 50, "gamma")
    with settings.using(result_mib=0.017, block_mib=0.005):
        parts = mmd_test(Gaussian(1.0), X, Y, 50, "gamma")
    np.testing.assert_allclose(parts.null, whole.null, rtol=1e-9)


def test_single_precision_decides_as_double_does():
    for seed in range(20):
        r = np.random.default_rng(seed)
        A, B = r.normal(size=(2, 40, 2))
        a, b = (mmd_test(Gaussian(2.0), A, B, 199, single=single) for single in (False, True))
        assert a.pvalue == b.pvalue and np.abs(a.null - b.null).max() < 1e-6


def test_seeds_are_honoured():
    a, b, c = (mmd_test(Gaussian(1.0), X, Y, 50, rng=seed) for seed in (1, 1, 2))
    assert (a.null == b.null).all() and (a.null != c.null).any()
    generator = np.random.default_rng(1)
    assert (mmd_test(Gaussian(1.0), X, Y, 50, rng=generator).null == a.null).all()


def test_ties_count():
    assert mmd_test(Gaussian(1.0), np.ones(7), np.ones(9), 49).pvalue == 1
    assert mmd_test(Constant(1.0), X, Y, 49).pvalue == 1
    a, b = rng.integers(0, 2, size=(2, 12)).astype(float)
    p = mmd_test(Gaussian(0.1), a, b, 499).pvalue
    K = mmd_test(Delta(), a, b, 499)
    assert p == pytest.approx(K.pvalue) and p > 0.002
    same = mmd_test_aggregated([Gaussian(1.0), Linear()], np.ones(7), np.ones(9), 49)
    assert same.pvalue == 1


@pytest.mark.parametrize(
    "statistic, null", [("u", None), ("v", None), ("u1", None), ("block", None)]
)
def test_levels(statistic, null):
    def draw(r):
        return r.normal(size=(16, 2)), r.normal(size=(16, 2))

    def test(A, B, r):
        return mmd_test(Gaussian(1.0), A, B, 19, null, statistic, r)

    assert 0 < check_level(test, draw, n_tests=300) < 0.1


def test_fitted_nulls_are_near_to_permutations():
    A, B = rng.normal(size=(150, 2)), rng.normal(size=(100, 2))
    for statistic in ("u", "v"):
        exact = mmd_test(Gaussian(1.0), A, B, 1999, statistic=statistic)
        for null in ("gamma", "spectral"):
            fitted = mmd_test(Gaussian(1.0), A, B, 1999, null=null, statistic=statistic)
            assert not fitted.exact and fitted.pvalue == pytest.approx(exact.pvalue, abs=0.06)
            assert fitted.critical() == pytest.approx(exact.critical(), rel=0.2)


@pytest.mark.parametrize(  # of the last, a quarter of Σ λ² lies beyond the hundredth
    "n, d, bandwidth", [(350, 2, 0.03), (350, 2, 0.06), (1000, 1, 0.001)]
)
def test_the_spectral_null_has_all_eigenvalues(n, d, bandwidth):
    "A narrow kernel has many small ones: by the entries of the centred matrix, and by relabelling"
    A, B = np.random.default_rng(5).normal(size=(2, n, d))
    k, N = Gaussian(bandwidth), 2 * n
    fitted = mmd_test(k, A, B, 4999, null="spectral", rng=1)
    K = k(np.vstack([A, B]))
    K = K - K.mean(0) - K.mean(1)[:, None] + K.mean()
    squares = ((K**2).sum() - (K.diagonal() ** 2).sum()) / (N * (N - 1))
    assert fitted.null.std() == pytest.approx(2 / n * np.sqrt(2 * squares), rel=0.05)
    drawn = mmd_test(k, A, B, 1999, rng=2).null
    assert 0.03 < np.mean(drawn > fitted.critical()) < 0.07


@pytest.mark.second_route("mmd_test_split", "a clear difference, found")
def test_the_test_finds_what_is_there():
    draw = np.random.default_rng(0)
    A, B = draw.normal(size=400), draw.normal(size=400) + 0.8
    for statistic in ("u", "v", "u1", "linear", "block", "incomplete"):
        assert mmd_test(Gaussian(1.0), A, B, 99, statistic=statistic).pvalue <= 0.02
    for null in ("gamma", "spectral"):
        assert mmd_test(Gaussian(1.0), A, B, 999, null=null).pvalue <= 0.002
    assert (
        mmd_test_aggregated(None, A, B, 99).pvalue
        == 0.01
        == mmd_test_split(None, A, B, 0.5, 99).pvalue
    )


def test_precomputed_pairs_and_lists():
    Z, k = np.vstack([X, Y]), Gaussian(1.0)
    r = mmd_test(Precomputed(k(Z)), np.arange(20), np.arange(20, 51), 99)
    assert r.pvalue == mmd_test(k, X, Y, 99).pvalue and r.statistic == pytest.approx(
        mmd2_u(k, X, Y), abs=1e-14
    )
    pair = Tensor(Gaussian(1.0), Linear())
    assert mmd2_v(pair, (X[:, :1], X[:, 1:2]), (Y[:, :1], Y[:, 1:2])) == pytest.approx(
        mmd2_v(pair, X[:, :2], Y[:, :2])
    )
    assert mmd2_u(k, X.tolist(), Y.tolist()) == mmd2_u(k, X, Y)
    assert mmd2_u(k, np.asfortranarray(X), Y[::-1]) == pytest.approx(mmd2_u(k, X, Y))
    assert mmd2_u(Brownian(), [1, 2, 3], np.array([2, 5])) == pytest.approx(
        mmd2_u(Brownian(), [1.0, 2, 3], [2.0, 5])
    )


def test_float32():
    A, B = X.astype(np.float32), Y.astype(np.float32)
    a, b = mmd_test(Gaussian(1.0), A, B, 199), mmd_test(Gaussian(1.0), X, Y, 199)
    assert a.statistic == pytest.approx(b.statistic, abs=1e-6) and abs(a.pvalue - b.pvalue) <= 0.01
    assert check_mmd(Gaussian(1.0), A, B[:20]) < 1e-4
    phi = Gaussian(1.0).on([0])
    assert mmd2_v(phi, A, Y) == pytest.approx(mmd2_v(phi, X, Y), abs=1e-6)


def test_nothing_is_changed_in_place():
    A, B, K = X.copy(), Y.copy(), Gaussian(1.0)(np.vstack([X, Y]))
    K0 = K.copy()
    (
        mmd_test(Gaussian(1.0), A, B, 9),
        mmd_test_aggregated(None, A, B, 9),
        herding(Gaussian(1.0), A, 3),
    )
    mmd_test(Precomputed(K), np.arange(20), np.arange(20, 51), 9)
    assert (A == X).all() and (B == Y).all() and (K == K0).all()


# ------------------------------------------------------------------ results, witness, herding


def test_results_pickle_print_and_draw():
    for points in (X[:, :1], X[:, :2], X):
        d = points.shape[1]
        r = mmd_test(Gaussian(1.0), points, Y[:, :d], 99)
        again = pickle.loads(pickle.dumps(r))
        assert (
            isinstance(again, MMDTest) and repr(again) == repr(r) and "one distribution" in repr(r)
        )
        assert (again.witness(points) == r.witness(points)).all()
        assert r.plot() is not None and r.plot(plt.figure().gca()).get_xlabel() == r.name
        assert r.witness(points)[r.typical(points, 1)[0]] == r.witness(points).max()
        assert r.witness(points)[r.typical(points, 1, least=True)[0]] == r.witness(points).min()
    plt.close("all")
    r = mmd_test_aggregated(None, X, Y, 49)
    again = pickle.loads(pickle.dumps(r))
    assert (
        isinstance(again, AggregatedTest)
        and again.best == r.best
        and (again.scores == r.scores).all()
    )
    assert len(r.kernels) == 7 and r.witness.k == r.best


@pytest.mark.parametrize("d", [1, 2])
def test_the_picture_of_a_witness_shows_every_point_of_both_samples(d):
    ax = plt.figure().gca()
    mmd_test(Gaussian(1.0), X[:, :d], Y[:, :d], 19).plot(witness_ax=ax, ax=plt.figure().gca())
    first, second = (line.get_xydata() for line in ax.lines[-2:])
    for drawn, sample in ((first, X), (second, Y)):
        assert sorted(map(tuple, drawn[:, :d])) == sorted(map(tuple, sample[:, :d]))
    if d == 1:  # a row of ticks each, below the curve
        curve = ax.lines[0].get_ydata()
        assert np.ptp(first[:, 1]) == np.ptp(second[:, 1]) == 0
        assert second[0, 1] < first[0, 1] < curve.min()
    plt.close("all")


def test_a_witness_of_many_columns_has_a_legend_and_one_of_features_is_refused():
    ax = plt.figure().gca()
    mmd_test(Gaussian(1.0), X, Y, 19).plot(witness_ax=ax, ax=plt.figure().gca())
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["first", "second"]
    by_features = mmd_test(random_feature_map(Gaussian(1.0), 3, 50, 0), X, Y, 19)
    with pytest.raises(TypeError, match="keeps no samples .*Kernel instead of a FeatureMap"):
        by_features.plot(witness_ax=ax)
    assert by_features.plot().patches
    plt.close("all")


def test_the_witness_attains_the_supremum():
    f = witness(Gaussian(1.0), X, Y)
    gap = f(X).mean() - f(Y).mean()
    assert f.norm() == pytest.approx(1) and gap == pytest.approx(mmd2_v(Gaussian(1.0), X, Y) ** 0.5)
    for seed in range(20):
        r = np.random.default_rng(seed)
        g = RKHSFunction(Gaussian(1.0), r.normal(size=(6, 3)), r.normal(size=6))
        assert (g(X).mean() - g(Y).mean()) / g.norm() < gap
    zero = witness(Gaussian(1.0), X, X)
    assert np.abs(zero(X)).max() < 1e-12
    for statistic in ("u", "v", "u1"):
        r = mmd_test(Gaussian(1.0), X, Y[:20], 9, statistic=statistic)
        assert r.witness.norm() == pytest.approx(1)


@pytest.mark.second_route("herding", "a greedy loop")
def test_herding_is_greedy_and_beats_chance():
    k, P = Gaussian(1.0), empirical(rng.normal(size=(300, 2)), rng.uniform(size=300))
    chosen, mu = [], mean_embedding(k, P)
    for t in range(12):
        score = mu(P.points) - (
            k(P.points, np.array(chosen)).sum(axis=1) / (t + 1) if chosen else 0
        )
        chosen.append(P.points[score.argmax()])
    np.testing.assert_array_equal(herding(k, P, 12), chosen)
    drawn = [mmd2_v(k, P.points[rng.choice(300, 50, p=P.weights)], P) for _ in range(10)]
    assert mmd2_v(k, herding(k, P, 50), P) < min(drawn) / 3
    assert len(herding(k, P, 4, candidates=np.zeros((1, 2)))) == 4


def test_the_grid_does_not_know_the_labels():
    Z = rng.normal(size=(1500, 2))
    order = rng.permutation(1500)
    assert gaussian_grid(Z[:700], Z[700:]) == gaussian_grid(Z[order][:700], Z[order][700:])
    assert (
        len(gaussian_grid(X, Y, 1)) == 1 and gaussian_grid(X, Y, 3)[1] == gaussian_grid(X, Y, 1)[0]
    )


@pytest.mark.second_route("AggregatedTest", "mmd_test_aggregated", "the test with one kernel")
def test_columns_of_mostly_zeros_are_tested_and_not_refused():
    "of 10 % ones against 60 % more than half of all pairs coincide; an empty sample draws nothing"
    rng = np.random.default_rng(0)
    few, many = (rng.random((100, 1)) < share for share in (0.1, 0.6))
    single = mmd_test(Gaussian(1.0), few, many, rng=0).pvalue
    assert single == mmd_test_aggregated(None, few, many, rng=0).pvalue == 0.001
    assert mmd_test_split(None, few, many, rng=0).pvalue <= 0.01
    assert gaussian_grid(few, few[:9], 1) == [Gaussian(1.0)]
    table = np.where(rng.random((2, 60, 3)) < 0.05, rng.normal(size=(2, 60, 3)), 0.0)
    assert 0.05 < mmd_test_aggregated(None, *table, 99, rng=0).pvalue


def test_the_split_uses_fresh_data():
    r = mmd_test_split([Gaussian(0.5), Gaussian(2.0)], X, Y, 0.25, 49, rng=0)
    assert len(r.witness.Z) == 15 + 23 and r.witness.k in (Gaussian(0.5), Gaussian(2.0))


# ------------------------------------------------------------------ mutants and bad input

MUTANTS = [
    (dict(u=mmd2_v), "diagonal"),
    (dict(v=mmd2_u), "‖μ_X − μ_Y‖²"),
    (dict(u1=mmd2_u), "i = j"),
    (dict(v=lambda k, X, Y: mmd2_v(k, X, Y) ** 0.5), "‖μ_X − μ_Y‖²"),
    (dict(u=lambda k, X, Y: mmd2_u(k, X, Y) * (len(X) - 1) / len(X)), "n (n − 1)"),
    (dict(u=lambda k, X, Y: np.nan), "not a number"),
    (dict(f=lambda A: -witness(Gaussian(1.0), X, Y[:20])(A)), "witness"),
]


@pytest.mark.second_route("check_mmd", "impostors refused")
@pytest.mark.parametrize("mutant, words", MUTANTS)
def test_mutants_are_refused(mutant, words):
    with pytest.raises(LawBroken, match="."):
        check_mmd(Gaussian(1.0), X, Y[:20], **mutant)
    with pytest.raises(LawBroken) as error:
        check_mmd(Gaussian(1.0), X, Y[:20], **mutant)
    assert words in str(error.value)


@pytest.mark.parametrize("name, estimator", [("v", mmd2_v), ("u", mmd2_u), ("u1", mmd2_u1)])
def test_near_misses_are_refused(name, estimator):
    eps = np.finfo(float).eps
    tol = 64 * eps + 16 * eps**0.75 / 20
    near, far = (lambda k, X, Y, c=c: estimator(k, X, Y) + c * tol for c in (0.3, 3.0))
    check_mmd(Gaussian(1.0), X, Y[:20], **{name: near})
    with pytest.raises(LawBroken):
        check_mmd(Gaussian(1.0), X, Y[:20], **{name: far})


def test_a_near_miss_of_the_witness():
    f, eps = witness(Gaussian(1.0), X, Y[:20]), np.finfo(float).eps
    tol = 64 * eps + 16 * eps**0.75 / 20
    attained = f(X).mean() - f(Y[:20]).mean()  # the law weighs it by MMD, of kernel values up to 1
    near, far = ((1 + c * tol / attained**2) * f for c in (0.3, 3.0))
    check_mmd(Gaussian(1.0), X, Y[:20], f=near)
    with pytest.raises(LawBroken, match="witness"):
        check_mmd(Gaussian(1.0), X, Y[:20], f=far)


def test_laws_that_count_are_sharp():
    "As many rejections as the interval holds pass, and a third of them; one more is refused, three times too"
    high, low = binomial_interval(0.05, 400)[1], binomial_interval(0.8, 400)[0]

    def test_that_rejects(count):
        p_values = iter([0.0] * count + [1.0] * (400 - count))
        return lambda A, B, r: next(p_values)

    for count in (high // 3, high):
        assert check_level(test_that_rejects(count), lambda r: (X, Y), 400) == count / 400
    for count in (high + 1, 3 * high):
        with pytest.raises(LawBroken, match="rejections without a difference"):
            check_level(test_that_rejects(count), lambda r: (X, Y), 400)
    missed = 400 - low
    for count in (missed // 3, missed):
        assert (
            check_power(test_that_rejects(400 - count), lambda r: (X, Y), 0.8, 400)
            == 1 - count / 400
        )
    for count in (missed + 1, 3 * missed):
        with pytest.raises(LawBroken, match="differences missed"):
            check_power(test_that_rejects(400 - count), lambda r: (X, Y), 0.8, 400)


G = Gaussian(1.0)
BAD = [
    (lambda: mmd2_v(G, [], Y), "empty"),
    (lambda: mmd2_v(G, X, Y[:, :2]), "columns"),
    (lambda: mmd2_v(G, X, np.full((3, 3), np.nan)), "not finite"),
    (lambda: mmd2_v(G, X, None), "Y"),
    (lambda: mmd2_v("gauss", X, Y), "Kernel"),
    (lambda: mmd2_v(Sigmoid(1.0, -1.0), X, Y), "semidefinite"),
    (lambda: mean_embedding(Gaussian, X), "class"),
    (lambda: mmd2_v(Brownian(), [-1.0], [1.0]), "-1"),
    (lambda: mmd2_u(G, X[:1], Y), "needs two"),
    (lambda: mmd2_u(G, X, Measure(Y[:2], [1.0, 0.0])), "positive weight"),
    (lambda: mmd2_u1(G, X, Y), "m = n ≥ 2"),
    (lambda: mmd2_linear(G, X[:1], Y[:1]), "m = n ≥ 2"),
    (lambda: mmd2_u1(G, Measure(X, np.arange(1.0, 21)), Y[:20]), "no weights"),
    (lambda: mmd2_block(G, X, Y[:20], 21), "block_size = 21"),
    (lambda: mmd2_block(G, X, Y[:20], 1), "block_size"),
    (lambda: mmd2_incomplete(G, X, Y[:20], 20), "≤ 19"),
    (lambda: mmd2_features(G, X, Y), "feature map"),
    (lambda: mmd2_features(lambda A: A[:, :1] if len(A) == 20 else A, X, Y), "equally many"),
    (lambda: mmd_test(G, X, Y, 0), "n_permutations"),
    (lambda: mmd_test(G, X, Y, 2.5), "n_permutations"),
    (lambda: mmd_test(G, X, Y, "many"), "n_permutations"),
    (lambda: mmd_test(G, X, Y, 9, rng=-1), "rng"),
    (lambda: mmd_test(G, X, Y, 9, rng="0"), "rng"),
    (lambda: mmd_test(G, X, Y, 9, statistic="w"), "'u1'"),
    (lambda: mmd_test(G, X, Y, 9, null="bootstrap"), "'permutation'"),
    (lambda: mmd_test(G, X, Y[:20], 9, null="permutation", statistic="u1"), "pairing"),
    (lambda: mmd_test(G, X, Y, 9, null="wild"), "swaps"),
    (lambda: mmd_test(G, X, Y, 9, statistic="u1"), "m = n ≥ 2"),
    (lambda: mmd_test(G, X[:1], Y, 9), "needs two"),
    (lambda: mmd_test(Polynomial(2).feature_map(3), X, Y, 9, null="gamma"), "kernel"),
    (lambda: mmd_test(G, Measure(X, np.arange(1.0, 21)), Y, 9), "has none"),
    (
        lambda: mmd_test(G, Measure(X, np.arange(1.0, 21)), empirical(Y), 9, null="gamma"),
        "unweighted",
    ),
    (lambda: mmd_test(Constant(1.0), X, Y, 9, null="spectral"), "constant"),
    (lambda: mmd_test_aggregated([], X, Y), "at least one kernel"),
    (lambda: mmd_test_aggregated("gauss", X, Y), "list"),
    (lambda: mmd_test_split(None, X, Y, 1.0), "share"),
    (lambda: mmd_test_split(None, X, Y, 0.01), "both parts"),
    (lambda: mmd2_threshold(5, 6, statistic="u1"), "m = n"),
    (lambda: mmd2_threshold(5, 5, level=1.0), "level"),
    (lambda: mmd2_threshold(5, 5, bound=0), "bound"),
    (lambda: GaussianEmbedding(0, -1), "variance"),
    (lambda: GaussianEmbedding([0, 0], [[1, 2], [0, 1]]), "symmetric"),
    (lambda: GaussianEmbedding([0, 0], np.eye(3)), "mean has 2 columns"),
    (lambda: GaussianEmbedding(0, 1) @ GaussianEmbedding([0, 0], np.eye(2)), "one space"),
    (lambda: GaussianEmbedding(0, 1) @ GaussianEmbedding(0, 1, 2), "one space"),
    (lambda: GaussianEmbedding(0, 1)(X), "columns"),
    (lambda: GaussianEmbedding(0, 1).inner(mean_embedding(Gaussian(2.0), [0.0])), "one space"),
    (lambda: GaussianEmbedding(0, 1).inner(3), "g is of type int"),
    (lambda: herding(G, X, 0), "n = 0"),
    (lambda: herding(G, X, 3, candidates=Y[:, :1]), "columns"),
    (lambda: DistanceInduced([[0.0]])(X), "origin"),
    (lambda: DistanceInduced([0.0, 1.0])(X), "columns"),
    (lambda: gaussian_grid(np.ones(5), np.ones(5)), "coincide"),
]


@pytest.mark.parametrize("call, words", BAD)
def test_bad_input_is_refused_in_words(call, words):
    with pytest.raises((TypeError, ValueError)) as error:
        call()
    assert words in str(error.value), str(error.value)


def test_more_points_than_fit_are_refused():
    with pytest.raises(MemoryError, match="fewer points"):
        herding(G, X, 10**9)


def test_features_are_kept_only_if_they_fit():
    phi = Polynomial(2).feature_map(3)
    P, Q = Measure(X, np.r_[0.0, np.arange(1.0, 20)]), Measure(Y, np.arange(1.0, 32))
    for A, B in ((X, Y), (P, Q)):
        kept, by_kernel = mmd_test(phi, A, B, 50), mmd_test(Polynomial(2), A, B, 50)
        with settings.using(result_mib=0.003, block_mib=0.01):
            made_again = mmd_test(phi, A, B, 50)
        for other in (made_again, by_kernel):
            np.testing.assert_allclose(kept.null, other.null, atol=1e-11)
            np.testing.assert_allclose(kept.witness(X[:9]), other.witness(X[:9]), atol=1e-11)
            assert kept.pvalue == other.pvalue


# ------------------------------------------------------------------ strings, far data, mutants of the code


@dataclass(frozen=True, repr=False, eq=False)
class Letters(Kernel):
    "⟨counts of letters, counts of letters⟩ of words, kept as rows of code points"

    def _points(self, X, name):
        if isinstance(X, np.ndarray) and X.dtype == float:
            return X
        return np.array([[float(ord(c)) for c in word.ljust(8)] for word in X])

    def _gram(self, X, Y, xp):
        counts = [(A[:, :, None] == np.arange(97.0, 123)).sum(axis=1).astype(float) for A in (X, Y)]
        return counts[0] @ counts[1].T


def words(p, n, r):
    return ["".join(r.choice(list("abc"), size=r.integers(4, 9), p=p)) for _ in range(n)]


def test_lists_of_strings():
    r = np.random.default_rng(0)
    A, B = words([0.5, 0.3, 0.2], 24, r), words([0.2, 0.3, 0.5], 24, r)
    K = np.array(
        [[sum(a.count(c) * b.count(c) for c in "abc") for b in A + B] for a in A + B], dtype=float
    )
    k, G = Letters(), Precomputed(K)
    i, j = np.arange(24), np.arange(24, 48)
    for options in ({}, dict(statistic="v"), dict(statistic="u1"), dict(statistic="incomplete"),
                    dict(null="spectral"), dict(null="gamma")):  # fmt: skip
        ours, theirs = mmd_test(k, A, B, 99, **options), mmd_test(G, i, j, 99, **options)
        assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-10)
        assert ours.pvalue == pytest.approx(theirs.pvalue, rel=1e-6)
        assert ours.witness(A) == pytest.approx(theirs.witness(i), abs=1e-8)
    assert mmd_test_aggregated([k, k.normalized()], A, B, 99).pvalue <= 0.05
    assert len(mmd_test_split([k, k.normalized()], A, B, 0.25, 49).witness.Z) == 36
    assert mmd2_v(k, A, B) == pytest.approx(mmd2_v(G, i, j)) and len(herding(k, A, 3)) == 3


def test_a_split_takes_points_as_kernels_do():
    pair = Tensor(Gaussian(1.0), Linear())
    r = mmd_test_split([pair], (X[:, :1], X[:, 1:2]), (Y[:, :1], Y[:, 1:2]), 0.5, 19)
    assert r.witness.Z.shape == (10 + 15, 2)


def test_a_far_origin_is_no_tie():
    for statistic in ("u", "v", "u1"):
        near, far = (
            mmd_test(Linear(), X + c, Y[:20] + c, 99, statistic=statistic) for c in (0.0, 1e6)
        )
        assert far.pvalue == near.pvalue < 0.1
        assert far.statistic == pytest.approx(near.statistic, rel=1e-8)
    for null in ("gamma", "spectral"):
        assert mmd_test(Linear(), X + 1e6, Y + 1e6, 99, null=null).pvalue == pytest.approx(
            mmd_test(Linear(), X, Y, 99, null=null).pvalue, rel=1e-9
        )


@pytest.mark.filterwarnings("error")
def test_huge_values_in_single_precision():
    k = Polynomial(3, offset=0.0)
    for scale in (1e-8, 1.0, 1e8):
        a, b = (mmd_test(k, scale * X, scale * Y, 199, single=single) for single in (False, True))
        assert a.pvalue == b.pvalue == mmd_test(k, X, Y, 199).pvalue
        np.testing.assert_allclose(a.null, b.null, atol=1e-5 * np.abs(a.null).max())


@pytest.mark.filterwarnings("error")
def test_weights_of_any_unit_and_of_zero():
    w, v = np.arange(1.0, 21), np.arange(2.0, 33)
    for unit in (1e-300, 1e306):
        P, Q = Measure(X, unit * w), Measure(Y, unit * v)
        assert mmd2_u(G, P, Q) == pytest.approx(mmd2_u(G, Measure(X, w), Measure(Y, v)))
        assert mmd_test(G, P, Q, 99).pvalue == mmd_test(G, Measure(X, w), Measure(Y, v), 99).pvalue
        assert mmd2_features(MonomialMap(2), P, Q) == pytest.approx(
            mmd2_v(Polynomial(2), Measure(X, w), Measure(Y, v))
        )
    few = np.r_[1.0, 2.0, 3.0, np.zeros(17)]
    P, Q = Measure(X, few), Measure(Y[:20], few[::-1])
    for statistic in ("u", "v"):
        some, only = (
            mmd_test(G, A, B, 99, statistic=statistic)
            for A, B in ((P, Q), (Measure(X[:3], few[:3]), Measure(Y[17:20], few[2::-1])))
        )
        np.testing.assert_allclose(some.null, only.null, atol=1e-14)


def test_weights_count_in_the_statistic():
    P, Q = Measure(X, np.arange(1.0, 21)), Measure(Y, np.arange(2.0, 33))
    for statistic, estimate in (("u", mmd2_u), ("v", mmd2_v)):
        found = mmd_test(G, P, Q, 9, statistic=statistic).statistic
        assert found == pytest.approx(estimate(G, P, Q)) and abs(found - estimate(G, X, Y)) > 1e-2


def test_the_witness_of_near_laws_has_norm_1():
    assert witness(Gaussian(1.0), [0.0], [0.01]).norm() == pytest.approx(1.0)  # MMD² = 1e-4


def test_the_weighted_u_is_moved_by_functions_of_one_point():
    P, Q = Measure(X, np.arange(1.0, 21)), Measure(Y, np.arange(1.0, 32))
    k, moved = (
        DistanceInduced(),
        DistanceInduced(origin=[5.0, 0.0, 0.0]),
    )  # the same, but for g(x) + g(y)
    assert mmd2_u(moved, X, Y) == pytest.approx(mmd2_u(k, X, Y))
    assert mmd2_v(moved, P, Q) == pytest.approx(mmd2_v(k, P, Q))
    assert abs(mmd2_u(moved, P, Q) - mmd2_u(k, P, Q)) > 1e-3
    assert mmd2_u(k + Constant(7.0), P, Q) == pytest.approx(mmd2_u(k, P, Q))


def test_memory_of_the_incomplete_statistic():
    A, B = rng.normal(size=(2, 20_000, 1))
    tracemalloc.start()
    mmd2_incomplete(G, A, B)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20 * 12  # its 2.8 million pairs of pairs would take 22 MB for one array


def test_lists_of_numbers_as_features():
    assert mmd2_features(lambda A: A, [1.0, 2.0], [3, 4]) == pytest.approx(4.0)
    assert mmd2_features(lambda A: A, X.tolist(), Y.tolist()) == pytest.approx(
        mmd2_v(Linear(), X, Y)
    )


def test_far_normal_laws_have_disjoint_embeddings():
    with np.errstate(over="raise"):
        assert mmd2_gaussians(0, 1, 1e200, 1) == pytest.approx(2 / 3**0.5)


MORE_BAD = [
    (lambda: mmd_test(G, X, Y, 9, size=3), "only 'block'"),
    (lambda: mmd_test(G, X, Y[:20], 9, statistic="u1", size=3), "only 'block'"),
    (lambda: mmd_test(G, X, Y[:20], 9, statistic="u1", single=True), "relabellings"),
    (lambda: mmd_test(G, X, Y, 9, null="gamma", single=True), "relabellings"),
    (lambda: mmd2_u(G, Measure(X, np.r_[1e20, np.ones(19)]), Y), "all the weight"),
    (lambda: mmd_test_split([G], Measure(X, np.arange(1.0, 21)), Y), "has none"),
    (lambda: mmd2_features(lambda A: A[:3], X, Y), "(3, 3); pass (20, D)"),
    (lambda: mmd2_features(lambda A: A, [], Y), "empty"),
    (lambda: mmd2_features(lambda A: A, 3.0, Y), "single number"),
    (lambda: mmd2_features(lambda A: A, None, Y), "X"),
    (lambda: check_level(lambda A, B, r: np.nan, lambda r: (X, Y), 9), "p-value"),
]


@pytest.mark.parametrize("call, words", MORE_BAD)
def test_more_bad_input_is_refused_in_words(call, words):
    with pytest.raises((TypeError, ValueError)) as error:
        call()
    assert words in str(error.value), str(error.value)


@pytest.mark.second_route("check_level", "impostors refused")
@pytest.mark.parametrize(
    "test, words",
    [
        (lambda A, B, r: np.mean(mmd_test(G, A, B, 5, rng=r).null >= mmd2_u(G, A, B)), "left out"),
        (
            lambda A, B, r: min(mmd_test(k, A, B, 19, rng=r).pvalue for k in gaussian_grid(A, B)),
            "chosen",
        ),
    ],
)
def test_the_law_of_levels_refuses(test, words):
    with pytest.raises(LawBroken, match=words):
        check_level(test, lambda r: r.normal(size=(2, 12, 2)), n_tests=400)


@pytest.mark.second_route("check_power", "impostors refused")
def test_the_law_of_power():
    def test(A, B, r):
        return mmd_test(G, A, B, 19, rng=r)

    def twice(r):
        return r.normal(size=(2, 12, 2)) * np.array([1.0, 6.0])[:, None, None]

    assert check_power(test, twice, 0.8, n_tests=40) > 0.8
    with pytest.raises(LawBroken, match="blind"):
        check_power(lambda A, B, r: mmd_test(Linear(), A, B, 19, rng=r), twice, 0.8, n_tests=40)
    near_miss = iter([0.0] * 85 + [1.0] * 15)  # 0.85 found: 0.8 may be claimed, 0.95 not
    assert check_power(lambda A, B, r: next(near_miss), twice, 0.8) == 0.85
    near_miss = iter([0.0] * 85 + [1.0] * 15)
    with pytest.raises(LawBroken, match="15, allowed"):
        check_power(lambda A, B, r: next(near_miss), twice, 0.95)


@pytest.mark.second_route("mmd_detectable", "the formula, term by term")
def test_what_is_detectable():
    s = (1 / 40 + 1 / 60) ** 0.5
    tails = (2 * np.log(20)) ** 0.5 + 2 * np.log(800) ** 0.5
    assert mmd_detectable(40, 60) == pytest.approx(s * (1 + 2**0.5 + tails))
    assert mmd_detectable(40, 60, bound=4.0) == pytest.approx(2 * mmd_detectable(60, 40))
    assert mmd_detectable(40, 60, miss=0.01) > mmd_detectable(40, 60) > mmd_detectable(400, 600)


def test_the_null_has_the_mean_of_the_theorem():
    K = G(np.vstack([X, Y]))
    expected = (1 / 20 + 1 / 31) * (K.trace() - K.sum() / 51) / 50
    null = mmd_test(G, X, Y, 4000, statistic="v").null
    assert null.mean() == pytest.approx(expected, abs=4 * null.std() / 4000**0.5)


def test_a_kernel_stands_for_its_feature_map():
    assert mmd2_features(Polynomial(2), X, Y) == pytest.approx(mmd2_v(Polynomial(2), X, Y))
    assert (
        mmd_test_aggregated(Gaussian(1.0), X, Y, 49).pvalue
        == mmd_test_aggregated([G], X, Y, 49).pvalue
    )


def counted(r, gap):
    "The p-value if draws below the statistic by less than gap are ties"
    return (1 + np.sum(r.null >= r.statistic - gap)) / (len(r.null) + 1)


@pytest.mark.parametrize("dtype, low, high", [(np.float64, 1e-13, 1e-9), (np.float32, 1e-7, 5e-5)])
def test_ties_are_found_through_the_rounding(dtype, low, high):
    k = Gaussian(1.0)
    for seed in range(12):
        r = np.random.default_rng(seed)
        A, B = r.integers(0, 3, size=(2, 10, 1)).astype(dtype) * dtype(0.7)
        plain = mmd_test(k, A, B, 199, rng=np.random.default_rng(seed).integers(2**63))
        assert mmd_test_aggregated([k], A, B, 199, rng=seed).pvalue == plain.pvalue
        for result in (plain, mmd_test(k, A, B, 199, statistic="u1", rng=seed)):
            assert counted(result, low) <= result.pvalue <= counted(result, high)
        assert mmd_test(k, A, B, 199, single=True).pvalue == mmd_test(k, A, B, 199).pvalue


def test_ties_of_reflected_labels_are_found_where_a_wide_kernel_hardly_varies():
    "0.3 − 0.2 is not 0.1 − 0 in floating point, and over the spread of the draws that is far above 1e-9"
    k, Z = Gaussian(1000.0), 0.1 * np.arange(10)
    for seed in range(12):
        first = np.random.default_rng(seed).permutation(10) < 5
        plain = mmd_test(
            k, Z[first], Z[~first], 199, rng=np.random.default_rng(seed).integers(2**63)
        )
        assert mmd_test_aggregated([k], Z[first], Z[~first], 199, rng=seed).pvalue == plain.pvalue


def test_all_kernels_see_the_same_relabellings():
    one, two = (mmd_test_aggregated([Gaussian(1.0)] * t, X, Y, 99, rng=3) for t in (1, 2))
    np.testing.assert_allclose(one.null, two.null, atol=1e-12)
    assert one.pvalue == two.pvalue and one.statistic == pytest.approx(two.statistic)


def test_the_gamma_null_has_the_moments_of_the_centred_gram():
    from rkhs_notes.engines.testing.resampling import gamma_null

    k, Z = Polynomial(2), np.vstack([X, Y])
    N, rate = 51, 1 / 20 + 1 / 31
    C = np.eye(N) - 1 / N
    K = C @ k(Z) @ C
    squares = (K**2).sum() - (K.diagonal() ** 2).sum()
    trace = K.trace() / (N - 1)
    expected = gamma_null(rate * trace, 2 * rate**2 * squares / (N * (N - 1)), 49)[1]
    got = mmd_test(k, X, Y, 49, null="gamma", statistic="v")
    np.testing.assert_allclose(got.null, expected, rtol=1e-8)


def counting():
    "A Gaussian on g and one by itself, with the calls of g and of _points they have seen"
    seen, read = [], []

    class Watched(Gaussian):
        def _points(self, X, name):
            read.append(name)
            return super()._points(X, name)

    return Gaussian(1.0).on(lambda x: seen.append(len(x)) or x**2), Watched(1.0), seen, read


READERS = {
    "v": lambda k: mmd2_v(k, X, Y), "u": lambda k: mmd2_u(k, X, Y), "witness": lambda k: witness(k, X, Y),
    "u1": lambda k: mmd2_u1(k, X, Y[:20]), "linear": lambda k: mmd2_linear(k, X, Y[:20]),
    "test": lambda k: mmd_test(k, X, Y, 9), "gamma": lambda k: mmd_test(k, X, Y, 9, null="gamma"),
    "spectral": lambda k: mmd_test(k, X, Y, 9, null="spectral"),
    "wild": lambda k: mmd_test(k, X, Y[:20], 9, statistic="u1"), "check": lambda k: check_mmd(k, X, Y[:20]),
    "aggregated": lambda k: mmd_test_aggregated([k], X, Y, 9), "herding": lambda k: herding(k, X, 3, Y),
    "split": lambda k: mmd_test_split([k], X, Y, 0.5, 9),
}  # fmt: skip


@pytest.mark.parametrize("name", READERS)
def test_each_sample_is_read_once(name):
    on, watched, seen, read = counting()
    READERS[name](on), READERS[name](watched)
    assert len(seen) == 2 and seen[0] == 20 and len(read) == 2


class Bigrams(Kernel):
    "⟨counts of pairs of letters, counts of pairs of letters⟩ of words"

    def _points(self, X, name):
        if not all(isinstance(word, str) for word in X):
            raise TypeError(f"{name} holds things that are no words; pass a list of str.")
        return list(X)

    def _gram(self, X, Y, xp):
        def pairs(a):
            return [a[i : i + 2] for i in range(len(a) - 1)]

        return np.array([[float(sum(pairs(b).count(p) for p in pairs(a))) for b in Y] for a in X])


def test_points_may_be_strings():
    r = np.random.default_rng(0)
    A, B = words([0.5, 0.3, 0.2], 24, r), words([0.2, 0.3, 0.5], 24, r)
    k, i, j = Bigrams(), np.arange(24), np.arange(24, 48)
    G = Precomputed(k(A + B))
    for f in (mmd2_u, mmd2_v, mmd2_u1):
        assert f(k, A, B) == pytest.approx(f(G, i, j), rel=1e-10)
    assert mean_embedding(k, A)(B) == pytest.approx(mean_embedding(G, i)(j))
    assert witness(k, A, B)(A) == pytest.approx(witness(G, i, j)(i))
    for options in ({}, dict(statistic="u1"), dict(null="spectral")):
        ours, theirs = mmd_test(k, A, B, 99, **options), mmd_test(G, i, j, 99, **options)
        assert ours.pvalue == pytest.approx(theirs.pvalue)
        assert ours.witness(A) == pytest.approx(theirs.witness(i))
    assert list(herding(k, A, 3, B)) == [B[c - 24] for c in herding(G, i, 3, j)[:, 0].astype(int)]
    with pytest.raises(TypeError, match="no words"):
        mmd2_u(k, A, [1.0, 2.0])


def test_a_covariance_is_symmetric_up_to_the_rounding_of_its_largest_entry():
    "1e-8 beside 1e6 is rounding, also where other entries are 0; a thousandth is not"
    exact, ours = np.diag([1e6, 1.0]), np.array([[1e6, 1e-8], [0, 1.0]])

    def of(S):
        return mmd2_gaussians([0, 0], S, [0, 0], np.eye(2))

    assert of(ours) == pytest.approx(of(exact), rel=1e-9)
    with pytest.raises(ValueError, match="symmetric"):
        of(exact + [[0, 1e-3], [0, 0]])


def test_samples_of_unequal_sizes_keep_their_sides():
    "The statistic of the test is MMD²_u, with seven points on one side and twelve on the other"
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(7, 2)), rng.normal(0.5, 2, size=(12, 2))
    for a, b in ((X, Y), (Y, X)):
        result = mmd_test(Gaussian(1.0), a, b, 99, rng=0)
        assert result.statistic == pytest.approx(mmd2_u(Gaussian(1.0), a, b), rel=1e-10)
        at = np.array([[0.3, -0.2]])
        mean = Gaussian(1.0)(at, a).mean() - Gaussian(1.0)(at, b).mean()
        length = mmd2_v(Gaussian(1.0), a, b) ** 0.5  # the witness has norm 1
        np.testing.assert_allclose(result.witness(at), mean / length, rtol=1e-9)


@pytest.mark.parametrize("d", [1, 3])
def test_pictures_of_a_test_name_their_axes(d):
    "The witness is a curve, or a histogram of its values"
    rng = np.random.default_rng(0)
    test = mmd_test(Gaussian(1.0), rng.normal(size=(20, d)), rng.normal(size=(20, d)), rng=0)
    axes = test.plot().figure.axes
    assert len(axes) >= 2 and all(ax.get_xlabel() for ax in axes[:2])
    plt.close("all")
