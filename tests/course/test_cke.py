"""Coupled embeddings against a dense solver, kernel CCA and discriminants; graphs; errors."""

import ast
import json
import pickle
import re
import tracemalloc
import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.linalg
import scipy.sparse
from scipy.spatial.distance import cdist
from sklearn.cross_decomposition import CCA

from conftest import ROOT
from rkhs_notes import settings
from rkhs_notes.apps.exercises import check_exercises
from rkhs_notes.base.distances import sqdist
from rkhs_notes.base.errors import IndefiniteKernel, LawBroken
from rkhs_notes.deeper.zoo import Laplace, Matern, Precomputed
from rkhs_notes.engines.data.pictures import image_pairs, low_resolution
from rkhs_notes.engines.solving.correlations import kernel_cca
from rkhs_notes.engines.solving.couplings import (
    _in_order,
    affinity,
    check_coupling,
    coupled_embedding,
    coupling_loss,
    pair_laplacian,
    tune_coupling,
)
from rkhs_notes.engines.solving.views import splits, whitening
from rkhs_notes.kernels import Constant, Gaussian, Linear, Polynomial, Sigmoid
from rkhs_notes.rkhs import RKHS, RKHSFunction

rng = np.random.default_rng(0)
L, H, WHO = image_pairs(16, 5, rng, side=8, factor=2, noise=0.3)
N = len(L)
KERNELS = {
    "gaussian": (Gaussian(3.0), Gaussian(8.0)),
    "mixed": (Laplace(20.0), Matern(1.5, 8.0)),
    "finite": (Linear(), Polynomial(2, scale=0.1)),
    "sum": (Gaussian(2.0) + 0.1 * Linear(), 2 * Gaussian(8.0) * Gaussian(20.0)),
}
WEIGHTS = {
    "identity": affinity(H),
    "knn": affinity(H, kind="knn"),
    "class": affinity(H, WHO, "class"),
    "any": rng.random((N, N)) ** 3,
}


def dense(kernels, L, H, W, reg, p):
    "The smallest λ of the pencil, on the range of 𝐊"
    n, W = len(L), W.toarray() if scipy.sparse.issparse(W) else W
    C = np.eye(n) - 1 / n
    K = scipy.linalg.block_diag(*(C @ k(X) @ C for k, X in zip(kernels, (L, H), strict=True)))
    G, D = pair_laplacian(W).toarray(), np.concatenate([W.sum(axis=1), W.sum(axis=0)])
    values, B = np.linalg.eigh(K)
    B = B[:, values > 1e-10 * values[-1]]
    left, right = (B.T @ (K @ A @ K + reg * K) @ B for A in (G, np.diag(D)))
    return scipy.linalg.eigh(left, right, eigvals_only=True)[:p]


@pytest.mark.second_route(
    "CoupledKernelEmbedding", "coupled_embedding", "SciPy's dense eigensolver"
)
@pytest.mark.parametrize("reg", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("name", KERNELS)
def test_dense_solver_and_law(name, kind, reg):
    W = WEIGHTS[kind]
    e = coupled_embedding(*KERNELS[name], L, H, W, 6, reg)
    np.testing.assert_allclose(
        e.eigenvalues, dense(KERNELS[name], L, H, W, reg, 6), rtol=0, atol=1e-8
    )
    check_coupling(e, L, H, W)


@pytest.mark.parametrize("reg", [0.01, 1.0])
@pytest.mark.parametrize("name", KERNELS)
def test_identity_weights_are_kernel_cca(name, reg):
    e = coupled_embedding(*KERNELS[name], L, H, n_components=6, reg=reg)
    cca = kernel_cca(*KERNELS[name], L, H, reg=reg, n=6, tol=1e-13)
    np.testing.assert_allclose(e.correlations, cca.correlations, rtol=0, atol=1e-8)
    f, g = cca.transform_x(L[:9]), e.transform_low(L[:9])
    np.testing.assert_allclose(
        np.abs(f[:, 0]), np.sqrt(2) * np.abs(g[:, 0]), rtol=0, atol=1e-6 * np.abs(f).max()
    )


@pytest.mark.second_route("coupled_embedding", "scikit-learn's CCA")
def test_linear_kernels_with_little_penalty_are_classical_cca():
    few = L[:, :3]
    theirs = CCA(n_components=2, scale=False, max_iter=5000, tol=1e-12).fit(few, H[:, :4])
    x, y = theirs.transform(few, H[:, :4])
    wanted = [np.corrcoef(a, b)[0, 1] for a, b in zip(x.T, y.T, strict=True)]
    e = coupled_embedding(Linear(), Linear(), few, H[:, :4], n_components=2, reg=1e-9)
    np.testing.assert_allclose(e.correlations, wanted, rtol=0, atol=1e-5)


@pytest.mark.parametrize("reg", [1e-9, 1e-5])
def test_both_ways_of_whitening_agree(reg):
    "Below reg = 1e-6 ‖F‖² by SVD, above by Cholesky"
    W = WEIGHTS["knn"]
    for scale in (1.0, 1e-6):  # one penalty, relative to the kernels, on each side of the switch
        kernels = [scale * k for k in KERNELS["mixed"]]
        e = coupled_embedding(*kernels, L, H, W, 5, reg * scale * N)
        check_coupling(e, L, H, W, tol=1e-5)
        np.testing.assert_allclose(
            e.eigenvalues, dense(KERNELS["mixed"], L, H, W, reg * N, 5), rtol=0, atol=1e-7
        )


def test_without_penalty_only_the_graph_remains():
    spectra = []
    for kernels in ((Laplace(20.0), Matern(0.5, 8.0)), (Matern(0.5, 9.0), Laplace(60.0))):
        with pytest.warns(RuntimeWarning, match="depends on W alone") as said:
            spectra.append(coupled_embedding(*kernels, L, H, WEIGHTS["knn"], 8, 0.0).eigenvalues)
        assert said[0].filename == __file__
    np.testing.assert_allclose(spectra[0], spectra[1], rtol=0, atol=1e-9)
    np.testing.assert_allclose(
        spectra[0], 1 - np.linalg.svd(WEIGHTS["knn"].toarray())[1][1:9], rtol=0, atol=1e-9
    )


def test_no_warning_where_the_kernels_have_finite_rank():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        coupled_embedding(Linear(), Linear(), L[:, :3], H[:, :4], n_components=2, reg=0.0)


def test_fewer_columns_are_fewer_functions():
    whole = coupled_embedding(*KERNELS["mixed"], L, H, n_components=5, reg=0.1)
    for rank in (15, 40, N):
        part = coupled_embedding(*KERNELS["mixed"], L, H, n_components=5, reg=0.1, rank=rank, rng=3)
        check_coupling(part, L, H)
        assert (part.eigenvalues >= whole.eigenvalues - 1e-10).all()
        assert len(part.function_low.Z) == rank and (part.error_low > 0.01) == (rank < N)
    np.testing.assert_allclose(part.eigenvalues, whole.eigenvalues, rtol=0, atol=1e-10)


def test_many_pairs_use_the_iterative_solver():
    many_low, many_high, _ = image_pairs(350, 2, 1, side=8, factor=2, noise=0.3)
    kernels = Gaussian(3.0), Gaussian(8.0)
    e = coupled_embedding(*kernels, many_low, many_high, n_components=6, reg=0.3)
    np.testing.assert_allclose(
        e.correlations,
        kernel_cca(*kernels, many_low, many_high, reg=0.3, n=6, tol=1e-12, rng=0).correlations,
        rtol=0,
        atol=1e-8,
    )
    check_coupling(e, many_low, many_high)


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_units_of_the_kernel_do_not_matter(scale):
    kernels = KERNELS["gaussian"]
    e = coupled_embedding(*kernels, L, H, WEIGHTS["knn"], 5, 0.1)
    other = coupled_embedding(*(scale * k for k in kernels), L, H, WEIGHTS["knn"], 5, 0.1 * scale)
    np.testing.assert_allclose(other.eigenvalues, e.eigenvalues, rtol=0, atol=1e-9)
    np.testing.assert_allclose(
        np.abs(other.transform_low(L)),
        np.abs(e.transform_low(L)),
        rtol=0,
        atol=1e-7 * np.abs(e.transform_low(L)).max(),
    )
    check_coupling(other, L, H, WEIGHTS["knn"])


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_units_of_the_points_and_of_the_weights(scale):
    e = coupled_embedding(Gaussian(3.0), Gaussian(8.0), L, H, WEIGHTS["knn"], 5, 0.1)
    other = coupled_embedding(
        Gaussian(3.0 * scale), Gaussian(8.0 * scale), scale * L, scale * H, WEIGHTS["knn"], 5, 0.1
    )
    np.testing.assert_allclose(other.eigenvalues, e.eigenvalues, rtol=0, atol=1e-8)
    heavier = coupled_embedding(
        Gaussian(3.0), Gaussian(8.0), L, H, scale * WEIGHTS["knn"], 5, 0.1 * scale
    )
    np.testing.assert_allclose(heavier.eigenvalues, e.eigenvalues, rtol=0, atol=1e-8)


def test_kinds_of_input():
    e = coupled_embedding(Gaussian(3.0), Gaussian(8.0), L, H, n_components=4)
    single = coupled_embedding(
        Gaussian(3.0), Gaussian(8.0), L.astype(np.float32), H.astype(np.float32), n_components=4
    )
    np.testing.assert_allclose(single.eigenvalues, e.eigenvalues, rtol=0, atol=1e-5)
    rounded = (
        X.astype(np.float32).astype(float) for X in (L, H)
    )  # single points, double arithmetic
    wide = coupled_embedding(Gaussian(3.0), Gaussian(8.0), *rounded, n_components=4)
    np.testing.assert_allclose(single.eigenvalues, wide.eigenvalues, rtol=0, atol=1e-12)
    lists = coupled_embedding(
        Gaussian(3.0), Gaussian(8.0), L.tolist(), np.asfortranarray(H), np.eye(N), 4
    )
    np.testing.assert_allclose(lists.eigenvalues, e.eigenvalues, rtol=0, atol=1e-12)
    indices = coupled_embedding(
        Precomputed(Gaussian(3.0)(L)), Gaussian(8.0), np.arange(N), H, n_components=4
    )
    np.testing.assert_allclose(indices.eigenvalues, e.eigenvalues, rtol=0, atol=1e-8)
    line = coupled_embedding(Gaussian(1.0), Gaussian(8.0), L[:, 0], H, n_components=2)
    assert line.transform_low([0.5, 1.0]).shape == (2, 2)
    some = coupled_embedding(Gaussian(3.0).on([0, 1, 2]), Gaussian(8.0), L, H, n_components=2)
    check_coupling(some, L, H)
    again = pickle.loads(pickle.dumps(e))
    np.testing.assert_array_equal(again.transform_high(H), e.transform_high(H))
    assert "4 axes" in repr(e)


def test_columns_are_drawn_from_the_generator():
    "All columns: the draw changes nothing but signs; some of them: the generator decides and goes on"
    one, other = (
        coupled_embedding(*KERNELS["gaussian"], L, H, n_components=5, rng=r) for r in (1, None)
    )
    np.testing.assert_allclose(
        np.abs(one.transform_low(L)), np.abs(other.transform_low(L)), rtol=0, atol=1e-10
    )
    draws = np.random.default_rng(5)
    part = coupled_embedding(*KERNELS["gaussian"], L, H, n_components=5, rank=20, rng=draws)
    again = coupled_embedding(*KERNELS["gaussian"], L, H, n_components=5, rank=20, rng=5)
    np.testing.assert_array_equal(part.eigenvalues, again.eigenvalues)
    following = coupled_embedding(*KERNELS["gaussian"], L, H, n_components=5, rank=20, rng=draws)
    assert np.abs(following.eigenvalues - part.eigenvalues).max() > 1e-6


def test_shifted_points():
    "A Gaussian does not see a shift; a linear kernel's centred Gram matrix loses digits, and says so in time"
    e = coupled_embedding(*KERNELS["gaussian"], L, H, n_components=5)
    far = coupled_embedding(*KERNELS["gaussian"], L + 1e6, H + 1e6, n_components=5)
    np.testing.assert_allclose(far.eigenvalues, e.eigenvalues, rtol=0, atol=1e-9)
    e = coupled_embedding(Linear(), Linear(), L, H, n_components=5)
    far = coupled_embedding(Linear(), Linear(), L + 1e3, H + 1e3, n_components=5)
    np.testing.assert_allclose(far.eigenvalues, e.eigenvalues, rtol=0, atol=1e-7)


def test_memory_grows_with_the_pairs_not_with_their_square():
    many_low, many_high, _ = image_pairs(4000, 5, 1, side=4, factor=2)
    tracemalloc.start()
    try:
        e = coupled_embedding(Gaussian(3.0), Gaussian(8.0), many_low, many_high, rank=50)
        e.match(many_low[:2000], many_high)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 10 * 8 * 20_000 * 50  # ten factors; a Gram matrix would be 400 of them
    assert len(pickle.dumps(e)) < 100_000


def test_inputs_stay_and_answers_repeat():
    low, high, W = L.copy(), H.copy(), WEIGHTS["any"].copy()
    first = coupled_embedding(*KERNELS["gaussian"], low, high, W, 5)
    second = coupled_embedding(*KERNELS["gaussian"], low, high, W, 5)
    np.testing.assert_array_equal(first.transform_low(L), second.transform_low(L))
    assert (low == L).all() and (high == H).all() and (W == WEIGHTS["any"]).all()


def test_repeated_pairs():
    e = coupled_embedding(
        *KERNELS["gaussian"],
        np.repeat(L[:30], 2, axis=0),
        np.repeat(H[:30], 2, axis=0),
        n_components=4,
    )
    once = coupled_embedding(*KERNELS["gaussian"], L[:30], H[:30], n_components=4, reg=0.5)
    np.testing.assert_allclose(
        e.eigenvalues, once.eigenvalues, rtol=0, atol=1e-9
    )  # twice the sums: half the reg
    check_coupling(e, np.repeat(L[:30], 2, axis=0), np.repeat(H[:30], 2, axis=0))


def test_class_weights_have_one_axis_less_than_classes():
    e = coupled_embedding(*KERNELS["gaussian"], L, H, WEIGHTS["class"], 15, 0.1)
    assert e.correlations[-1] > 1e-4
    with pytest.raises(ValueError, match="only 15 axes correlate"):
        coupled_embedding(*KERNELS["gaussian"], L, H, WEIGHTS["class"], 16, 0.1)


def test_matching():
    e = coupled_embedding(*KERNELS["gaussian"], L, H, n_components=6, reg=0.1)
    f, g, rho = e.transform_low(L), e.transform_high(H), e.correlations
    np.testing.assert_array_equal(e.match(L, H), cdist(f, g).argmin(axis=1))
    w = np.arange(6.0)
    np.testing.assert_allclose(
        e.distances(L, H, w),
        cdist(f * np.sqrt(w), g * np.sqrt(w), "sqeuclidean"),
        rtol=1e-6,
        atol=1e-12,
    )
    likely = ((f[:, None] - rho * g) ** 2 / (1 - rho**2)).sum(axis=2)
    np.testing.assert_allclose(e.distances(L, H, "likelihood"), likely, rtol=1e-6, atol=1e-12)
    np.testing.assert_array_equal(e.match(L, H, "likelihood"), likely.argmin(axis=1))
    few = e.leading(2)
    np.testing.assert_allclose(few.transform_low(L), f[:, :2], rtol=0, atol=1e-14)
    check_coupling(few, L, H)


def test_affinities():
    for W in (WEIGHTS["identity"], WEIGHTS["knn"], WEIGHTS["class"], affinity(H, WHO, "knn", 9)):
        dense_W = W.toarray()
        assert scipy.sparse.issparse(W) and (dense_W >= 0).all()
        np.testing.assert_allclose(dense_W, dense_W.T, rtol=0, atol=1e-15)
        np.testing.assert_allclose(dense_W.sum(axis=1), 1, rtol=0, atol=1e-12)
    same = WHO[:, None] == WHO
    np.testing.assert_allclose(WEIGHTS["class"].toarray(), same / 5, rtol=0, atol=1e-15)
    assert not affinity(H, WHO, "knn", 9).toarray()[~same].any()
    texts = affinity(H, np.array(list("abcdefghijklmnop"))[WHO], "class")
    np.testing.assert_array_equal(texts.toarray(), WEIGHTS["class"].toarray())


@pytest.mark.second_route("affinity", "the heat kernel among nearest neighbours, by sorting")
def test_knn_affinity_is_a_scaled_heat_kernel():
    W = affinity(H, kind="knn", neighbours=4, bandwidth=5.0).toarray()
    squared = sqdist(H)
    rank = np.argsort(np.argsort(squared + np.diag(np.full(N, -1.0)), axis=1), axis=1)
    tied = (rank <= 4) | (rank <= 4).T
    assert ((W > 0) == tied).all()
    heat = np.where(tied, np.exp(-squared / 50), 0)
    c = np.sqrt(np.diag(W))  # heat has ones on the diagonal
    np.testing.assert_allclose(W, c[:, None] * heat * c, rtol=0, atol=1e-12)


def test_knn_affinity_of_repeated_points():
    W = affinity(
        np.repeat(H[:20], 2, axis=0), kind="knn", neighbours=1
    ).toarray()  # each has its twin
    np.testing.assert_allclose(W, np.kron(np.eye(20), np.full((2, 2), 0.5)), rtol=0, atol=1e-12)
    W = affinity(np.zeros((6, 2)), kind="knn", neighbours=2).toarray()
    np.testing.assert_allclose(W.sum(axis=0), 1, rtol=0, atol=1e-12)


@pytest.mark.parametrize("bandwidth", [1e-300, 1e300])
@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_knn_affinity_at_the_ends_of_the_range(scale, bandwidth):
    "Pairs that repeat keep their weight, whatever the bandwidth; others lose or keep it"
    twice = scale * np.repeat(H[:20], 2, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        W = affinity(twice, kind="knn", neighbours=3, bandwidth=bandwidth).toarray()
    np.testing.assert_allclose(W.sum(axis=0), 1, rtol=0, atol=1e-12)
    assert (W[np.arange(0, 40, 2), np.arange(1, 40, 2)] > 1e-3).all()
    far = bandwidth < 1e-3 * scale
    assert (np.count_nonzero(W) == 80) == far


@pytest.mark.second_route("coupling_loss", "pair_laplacian", "a double loop")
def test_loss_and_laplacian():
    U, V, W = rng.normal(size=(7, 3)), rng.normal(size=(7, 3)), rng.random((7, 7))
    looped = sum(W[i, j] * np.sum((U[i] - V[j]) ** 2) for i in range(7) for j in range(7))
    A = np.concatenate([U, V])
    np.testing.assert_allclose(coupling_loss(U, V, W), looped, rtol=1e-13)
    np.testing.assert_allclose(np.trace(A.T @ pair_laplacian(W) @ A), looped, rtol=1e-12)
    np.testing.assert_allclose(pair_laplacian(W) @ np.ones(14), 0, rtol=0, atol=1e-14)


@pytest.mark.second_route("image_pairs", "moments in closed form")
def test_portraits_have_variance_1_and_a_quarter_for_each_picture():
    "Of side² grey values, on average; two pictures share the person, 4000 of whom are drawn"
    _, H, who = image_pairs(4000, 2, 0, side=8, factor=2)
    one, two = H[::2], H[1::2]
    assert np.array_equal(who[::2], who[1::2]) and len(set(who.tolist())) == 4000
    for found, exact in (
        (np.mean(one * two), 1.0),
        (np.mean((one - two) ** 2), 0.5),
        (H.mean(), 0.0),
    ):
        assert abs(found - exact) < 5 * 2 / 4000**0.5  # of each person a number of variance below 4


@pytest.mark.second_route("low_resolution", "means of blocks")
def test_low_resolution():
    pictures = rng.random((5, 24))
    plain = low_resolution(pictures, 2, shape=(4, 6))
    assert plain.shape == (5, 6)
    np.testing.assert_allclose(plain[2, 0], pictures[2].reshape(4, 6)[:2, :2].mean(), rtol=1e-14)
    np.testing.assert_array_equal(low_resolution(pictures, 1, shape=(4, 6)), pictures)
    moved = low_resolution(np.tile(np.eye(1, 25, 12), (200, 1)), 1, shift=1, rng=0)
    places = np.argwhere(moved.reshape(200, 5, 5))[:, 1:]
    assert set(map(tuple, places.tolist())) == {(a, b) for a in (1, 2, 3) for b in (1, 2, 3)}
    framed = low_resolution(np.ones((50, 25)), 1, shift=2, rng=0).reshape(50, 5, 5)
    assert {f.sum() for f in framed} == {h * w for h in (3, 4, 5) for w in (3, 4, 5)}  # 0 comes in
    noise = low_resolution(np.zeros((200, 100)), 2, noise=0.5, rng=1)
    assert abs(noise.std() - 0.5) < 0.02
    unseeded, seeded = (
        low_resolution(pictures, 2, shape=(4, 6), noise=1.0, rng=r) for r in (None, settings.seed)
    )
    np.testing.assert_array_equal(unseeded, seeded)


@pytest.mark.second_route("TunedCoupling", "tune_coupling", "folds, one by one")
@pytest.mark.parametrize("unseen", [False, True])
def test_tuning_scores_are_held_out(unseen):
    "No probe in its gallery, no label of it in training when unseen; the score by the public functions"
    kernels, options = (
        KERNELS["gaussian"],
        dict(regs=1.0, components=3, weights=None, folds=2, unseen=unseen),
    )
    tuned = tune_coupling([kernels], L, H, WHO, "class", rng=3, **options)
    right, tried = 0, []
    for train, gallery, probes in splits(WHO, 2, unseen, np.random.default_rng(3)):
        assert not np.intersect1d(gallery, probes).size and not np.intersect1d(train, probes).size
        assert not (unseen and np.intersect1d(WHO[train], WHO[probes]).size)
        e = coupled_embedding(
            *kernels, L[train], H[train], affinity(H[train], WHO[train], "class"), 3, 1.0
        )
        right += np.sum(WHO[gallery][e.match(L[probes], H[gallery])] == WHO[probes])
        tried.extend(probes)
    assert len(set(tried)) == len(tried) == (N // 2 if unseen else N)
    assert tuned.score == right / len(tried)


def test_tuning_takes_the_first_of_equal_candidates():
    first, again = (Gaussian(3.0), Gaussian(8.0)), (Gaussian(3.0) + 0 * Linear(), Gaussian(8.0))
    tuned = tune_coupling([first, again], L, H, WHO, regs=1.0, components=3, weights=None, folds=2)
    best = [choice["kernels"] for choice, score in tuned.scores if score == tuned.score]
    assert best[0] == first and again in best and tuned.choice["kernels"] == first


def test_axes_correlate_from_1e_7_on():
    kernels = KERNELS["gaussian"]
    [rho] = coupled_embedding(*kernels, L, H, WEIGHTS["knn"], 1, 1e7).correlations
    assert 1e-7 < rho < 1e-6  # and as 1 / reg
    with pytest.raises(ValueError, match="only 0 axes correlate"):
        coupled_embedding(*kernels, L, H, WEIGHTS["knn"], 1, 1e8)


@pytest.mark.parametrize("reg, kept", [(0.0, 2), (1e-12, 3)])
def test_whitening_without_penalty_keeps_what_a_gram_matrix_can_tell(reg, kept):
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(20, 3)))[0]
    white, _ = whitening(SimpleNamespace(centred=Q * [1.0, 1e-3, 1e-9]), np.ones(20), reg)
    assert white(np.eye(3)).shape == (kept, 3)


def test_tuning_counts_a_candidate_once():
    once = tune_coupling(
        [KERNELS["gaussian"]], L, H, WHO, regs=1.0, components=3, weights=None, folds=2
    )
    twice = tune_coupling(
        [KERNELS["gaussian"]],
        L,
        H,
        WHO,
        regs=(1, 1.0),
        components=(3, 3),
        weights=(None, None),
        folds=2,
    )
    assert once.score == twice.score <= 1 and len(twice.scores) == 3
    assert [choice["kind"] for choice, _ in once.scores] == ["identity", "knn", "class"]


def test_candidates_by_themselves():
    "A linear kernel and Gaussians, of variance 1 in any units; the choice is the best of all scores"
    wide = tune_coupling("auto", 255 * L, 1e-3 * H, WHO, regs=0.1, components=(4, 9), folds=2)
    tuned = tune_coupling("auto", L, H, WHO, regs=0.1, components=(4, 9), folds=2)
    assert len(tuned.scores) == 4 * 3 * 2 * 2 and tuned.score == max(
        score for _, score in tuned.scores
    )
    assert {k: v for k, v in wide.choice.items() if k != "kernels"} == {
        k: v for k, v in tuned.choice.items() if k != "kernels"
    }
    np.testing.assert_array_equal(wide.match(255 * L, 1e-3 * H), tuned.match(L, H))
    for choice, _ in tuned.scores:
        for k, X in zip(choice["kernels"], (L, H), strict=True):
            np.testing.assert_allclose(k.diag(X).mean() - k(X).mean(), 1, rtol=1e-10)
    assert tuned.embedding.error_low < 1e-10


def test_tuning_uses_the_training_pairs_alone():
    pairs = [KERNELS["gaussian"], (Gaussian(1e-3), Gaussian(1e-3))]
    for unseen in (False, True):
        tuned = tune_coupling(pairs, L, H, WHO, "knn", components=(2, 8), folds=2, unseen=unseen)
        assert tuned.choice["kernels"] is pairs[0] and tuned.score == max(
            score for _, score in tuned.scores
        )
        check_coupling(tuned.embedding, L, H, affinity(H, kind="knn"))
        assert tuned.match(L[:5], H).shape == (5,) and len(tuned.scores) == 2 * 3 * 2 * 2
        again = tune_coupling(pairs, L, H, WHO, "knn", components=(2, 8), folds=2, unseen=unseen)
        assert again.choice == tuned.choice and again.score == tuned.score


MUTANTS = {
    "means": lambda e: dict(offset_low=e.offset_low + 0.1),
    "ascending": lambda e: dict(eigenvalues=e.eigenvalues[::-1]),
    "= 1": lambda e: dict(function_low=1.01 * e.function_low, offset_low=1.01 * e.offset_low),
    "every section": lambda e: dict(eigenvalues=e.eigenvalues * 0.99),
}


@pytest.mark.parametrize("words", MUTANTS)
def test_the_law_refuses(words):
    e = coupled_embedding(*KERNELS["gaussian"], L, H, WEIGHTS["knn"], 4, 0.5)
    with pytest.raises(LawBroken, match=words):
        check_coupling(replace(e, **MUTANTS[words](e)), L, H, WEIGHTS["knn"])


@pytest.mark.parametrize("factor", [3, -3])
def test_the_law_refuses_three_times_its_tolerance(factor):
    e = coupled_embedding(*KERNELS["gaussian"], L, H, WEIGHTS["knn"], 4, 0.5)
    size = np.abs(e.transform_low(L)).max()
    with pytest.raises(LawBroken, match="means"):
        check_coupling(
            replace(e, offset_low=e.offset_low + factor * 1e-6 * size), L, H, WEIGHTS["knn"]
        )
    with pytest.raises(LawBroken, match="= 1"):
        f, scale = e.function_low, 1 + factor * 1e-6
        check_coupling(
            replace(e, function_low=scale * f, offset_low=scale * e.offset_low),
            L,
            H,
            WEIGHTS["knn"],
        )


def hidden_part(f, X):
    "A function of norm 1 that vanishes on X, as an addition to the first of four"
    new = X.mean(axis=0) + 1
    h = RKHS(f.k).section(new)
    h = h - RKHS(f.k).interpolate(X, h(X))
    return RKHSFunction(h.k, h.Z, h.alpha[:, None] / h.norm() * [1.0, 0, 0, 0])


@pytest.mark.parametrize("side", ["f", "g"])
def test_a_near_miss_of_stationarity(side):
    "A part that no pair sees: only the sections at its own centre notice"
    e = coupled_embedding(*KERNELS["gaussian"], L, H, WEIGHTS["knn"], 4, 0.5)
    name, X = {"f": ("function_low", L), "g": ("function_high", H)}[side]
    f = getattr(e, name)
    h = hidden_part(f, X)
    sections = f.k(X, (f + h).Z)
    sections = sections - sections.mean(axis=0)
    own = (e.transform_low if side == "f" else e.transform_high)(X)
    size = np.abs(sections.T @ own + e.reg * f((f + h).Z)).max()
    unit = 1e-6 * size / (e.reg * np.abs(e.correlations[0] * h((f + h).Z)).max())
    words = f"D {side} \\+ γ {side}"
    with pytest.raises(LawBroken, match=words):
        check_coupling(replace(e, **{name: f + 3 * unit * h}), L, H, WEIGHTS["knn"])
    check_coupling(replace(e, **{name: f + unit / 3 * h}), L, H, WEIGHTS["knn"])


@pytest.mark.parametrize("by", [0.75e-6, -0.75e-6])
def test_a_near_miss_of_the_sum_of_the_eigenvalues(by):
    "Each of four is off by less than its own law allows"
    e = coupled_embedding(*KERNELS["gaussian"], L, H, WEIGHTS["knn"], 4, 0.5)
    check_coupling(replace(e, eigenvalues=e.eigenvalues + by / 9), L, H, WEIGHTS["knn"])
    with pytest.raises(LawBroken, match="Σ λ"):
        check_coupling(replace(e, eigenvalues=e.eigenvalues + by), L, H, WEIGHTS["knn"])


@pytest.mark.second_route("check_coupling", "near misses refused")
@pytest.mark.parametrize("by", [1e-6, -1e-6])
def test_near_misses_of_the_eigenvalues(by):
    e = coupled_embedding(*KERNELS["gaussian"], L, H, WEIGHTS["knn"], 4, 0.5)
    check_coupling(replace(e, eigenvalues=e.eigenvalues + by / 10), L, H, WEIGHTS["knn"])
    with pytest.raises(LawBroken, match="every section"):
        check_coupling(replace(e, eigenvalues=e.eigenvalues + 3 * by), L, H, WEIGHTS["knn"])
    lam = np.array([0.0, 0.5, 0.5, 1.0])
    for wrong in ([-1, 0, 0, 0], [0, 0, -1, 0], [0, 0, 0, 1]):
        _in_order(lam + 1e-6 / 3 * np.array(wrong), 1e-6)
        with pytest.raises(LawBroken, match="ascending"):
            _in_order(lam + 3e-6 * np.array(wrong), 1e-6)


@pytest.mark.parametrize("reg", [0.4, 0.6])
def test_the_law_refuses_another_penalty(reg):
    e = coupled_embedding(*KERNELS["gaussian"], L, H, WEIGHTS["knn"], 4, 0.5)
    with pytest.raises(LawBroken):
        check_coupling(replace(e, reg=reg), L, H, WEIGHTS["knn"])


g = KERNELS["gaussian"]
E = coupled_embedding(*g, L, H, n_components=4)
BAD = {
    "unpaired": (lambda: coupled_embedding(*g, L, H[1:]), ValueError, "one row of H for each"),
    "constant low": (
        lambda: coupled_embedding(*g, np.ones((N, 2)), H),
        ValueError,
        "L is constant",
    ),
    "constant high": (
        lambda: coupled_embedding(*g, L, np.ones((N, 2))),
        ValueError,
        "H is constant",
    ),
    "constant kernel": (
        lambda: coupled_embedding(Constant(1.0), g[1], L, H),
        ValueError,
        "L is constant",
    ),
    "far away": (
        lambda: coupled_embedding(Linear(), g[1], L + 1e9, H),
        ValueError,
        "too few digits",
    ),
    "two pairs": (
        lambda: coupled_embedding(*g, L[:2], H[:2]),
        ValueError,
        "holds 2 points; pass 3",
    ),
    "few pairs": (
        lambda: coupled_embedding(*g, L[:5], H[:5], n_components=5),
        ValueError,
        "only 4 axes",
    ),
    "rank": (
        lambda: coupled_embedding(Linear(), g[1], L[:, :2], H, n_components=3),
        ValueError,
        "only 2 axes",
    ),
    "huge reg": (lambda: coupled_embedding(*g, L, H, reg=1e30), ValueError, "dwarf"),
    "negative reg": (lambda: coupled_embedding(*g, L, H, reg=-1), ValueError, "reg = -1"),
    "text reg": (lambda: coupled_embedding(*g, L, H, reg="a"), TypeError, "reg"),
    "no components": (
        lambda: coupled_embedding(*g, L, H, n_components=0),
        ValueError,
        "n_components",
    ),
    "half components": (lambda: coupled_embedding(*g, L, H, n_components=2.5), ValueError, "whole"),
    "rank 0": (lambda: coupled_embedding(*g, L, H, rank=0), ValueError, "rank"),
    "nan": (
        lambda: coupled_embedding(*g, np.where(L == L[0, 0], np.nan, L), H),
        ValueError,
        "L is not finite",
    ),
    "text": (lambda: coupled_embedding(*g, [["a"]] * N, H), TypeError, "L holds text"),
    "no kernel": (lambda: coupled_embedding("rbf", g[1], L, H), TypeError, "(?i)kernel"),
    "a class": (lambda: coupled_embedding(Gaussian, g[1], L, H), TypeError, "(?i)kernel"),
    "indefinite": (
        lambda: coupled_embedding(Sigmoid(1, -1), g[1], L, H),
        IndefiniteKernel,
        "positive semidefinite",
    ),
    "seed": (lambda: coupled_embedding(*g, L, H, rng=-1), TypeError, "rng"),
    "W kind": (lambda: coupled_embedding(*g, L, H, "class"), TypeError, "affinity"),
    "W shape": (lambda: coupled_embedding(*g, L, H, np.eye(3)), ValueError, "W has shape"),
    "W 1-D": (lambda: coupled_embedding(*g, L, H, np.ones(N)), ValueError, "W has shape"),
    "W zero": (lambda: coupled_embedding(*g, L, H, np.zeros((N, N))), ValueError, "singular"),
    "W sparse zero": (
        lambda: coupled_embedding(*g, L, H, scipy.sparse.csr_array((N, N))),
        ValueError,
        "singular",
    ),
    "W row": (lambda: coupled_embedding(*g, L, H, np.diag(np.arange(N))), ValueError, "row 0"),
    "W column": (
        lambda: coupled_embedding(*g, L, H, np.eye(1, N) + np.zeros((N, 1))),
        ValueError,
        "column 1",
    ),
    "W negative": (lambda: coupled_embedding(*g, L, H, -np.eye(N)), ValueError, "W holds -1; pass"),
    "W nan": (lambda: coupled_embedding(*g, L, H, np.full((N, N), np.nan)), ValueError, "finite"),
    "W sparse nan": (
        lambda: coupled_embedding(*g, L, H, scipy.sparse.csr_array(np.diag(np.full(N, np.nan)))),
        ValueError,
        "finite",
    ),
    "new columns": (lambda: E.transform_low(H), ValueError, "columns"),
    "W huge": (
        lambda: coupled_embedding(*g, L, H, np.full((N, N), 1e308)),
        ValueError,
        "too large",
    ),
    "match words": (lambda: E.match(L, H, "best"), ValueError, "likelihood"),
    "match weights": (lambda: E.match(L, H, np.ones(3)), ValueError, "one number"),
    "match negative": (lambda: E.match(L, H, -np.ones(4)), ValueError, "numbers ≥ 0"),
    "leading": (lambda: E.leading(5), ValueError, "n_components = 5: .* ≤ 4"),
    "kind": (lambda: affinity(H, kind="heat"), ValueError, "kind = 'heat'"),
    "no labels": (lambda: affinity(H, kind="class"), ValueError, "needs labels"),
    "few labels": (lambda: affinity(H, WHO[1:], "class"), ValueError, "one row of labels"),
    "missing labels": (
        lambda: affinity(H, [1, None] * (N // 2), "class"),
        ValueError,
        "labels has missing entries",
    ),
    "nan labels": (
        lambda: affinity(H, np.where(WHO == 1, np.nan, WHO), "class"),
        ValueError,
        "labels is not finite",
    ),
    "neighbours": (lambda: affinity(H[:4], kind="knn"), ValueError, "neighbours = 5: .* ≤ 3"),
    "bandwidth": (lambda: affinity(H, kind="knn", bandwidth=0), ValueError, "bandwidth"),
    "loss shapes": (lambda: coupling_loss(L, H, np.eye(N)), ValueError, "both must hold"),
    "laplacian": (lambda: pair_laplacian(np.ones((2, 3))), ValueError, "W has shape"),
    "laplacian 1-D": (lambda: pair_laplacian([1.0, 2.0]), ValueError, "W has shape"),
    "pixels": (lambda: low_resolution(H, 3), ValueError, "factor must divide"),
    "no square": (lambda: low_resolution(H[:, :7], 1), ValueError, "shape"),
    "width": (lambda: low_resolution(H[:, :24], 4, shape=(4, 6)), ValueError, "factor must divide"),
    "people": (lambda: image_pairs(0, 2, 0), ValueError, "n_people"),
    "bad rng": (lambda: image_pairs(2, 2, "0"), TypeError, "rng"),
    "law": (lambda: check_coupling(3, L, H), TypeError, "CoupledKernelEmbedding"),
    "law pairs": (lambda: check_coupling(E, L[:9], H[:8]), ValueError, "one row of V for each"),
    "folds": (lambda: tune_coupling([g], L[:5], H[:5], WHO[:5]), ValueError, "number of pairs = 5"),
    "unseen folds": (
        lambda: tune_coupling([g], L[:20], H[:20], WHO[:20], unseen=True),
        ValueError,
        "labels",
    ),
    "no candidates": (lambda: tune_coupling([], L, H, WHO), ValueError, "candidate"),
    "no list": (lambda: tune_coupling(None, L, H, WHO), TypeError, "pairs"),
    "no way": (lambda: tune_coupling([g], L, H, WHO, weights=3), ValueError, "likelihood"),
    "all strangers": (
        lambda: tune_coupling([g], L, H, np.arange(N)),
        ValueError,
        "labels must repeat",
    ),
    "law zero": (
        lambda: check_coupling(
            replace(E, function_low=0.0 * E.function_low, offset_low=0 * E.offset_low), L, H
        ),
        LawBroken,
        "= 1",
    ),
    "no pair": (lambda: tune_coupling([Gaussian(1)], L, H, WHO), TypeError, "pairs"),
    "no auto": (lambda: tune_coupling("automatic", L, H, WHO), TypeError, "pairs"),
    "no kind": (lambda: tune_coupling([g], L, H, WHO, "classes"), ValueError, "Did you mean class"),
    "tune lengths": (
        lambda: tune_coupling([g], L[1:], H, WHO),
        ValueError,
        "one row of H for each",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case):
    act, error, words = BAD[case]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(error, match=words):
            act()


def test_exercises():
    assert check_exercises("12") > 25


STORED = {  # how the table of chapter 12 begins its rows, and the name of the method in 12a
    "enlarged probe": "enlarged probe",
    "shrunken gallery": "shrunken gallery",
    "nine shrunken copies": "nine shrunken copies",
    "a support vector machine": "SVM, low resolution",
    "coupled embedding, chosen": "coupled, chosen",
}


def cells(page):
    return [
        "".join(cell["source"]) for cell in json.loads((ROOT / "nbs" / page).read_text())["cells"]
    ]


def stored_rates():
    "{method: {column of chapter 12: (mean, standard error)}} as 12a stores them"
    source = next(cell for cell in cells("deeper/12a_resolution.ipynb") if "FACES = {" in cell)
    columns, table = ast.parse(source).body
    names = ast.literal_eval(columns.value.args[0].args[1])
    places = [f"{who}, {name}" for who in ("known", "strangers") for name in names]
    return {
        method: dict(zip(places, row, strict=True))
        for method, row in ast.literal_eval(table.value).items()
    }


def quoted_rates(text):
    "The same of the rows of a table, read from the text"
    rows = [[entry.strip(" *") for entry in row.split("|")[1:-1]] for row in text.splitlines()]
    head, _, *rows = [row for row in rows if len(row) == 5]
    for name, *entries in rows:
        (method,) = [STORED[start] for start in STORED if name.startswith(start)]
        rates = [tuple(map(float, re.split(" ± ", entry))) for entry in entries]
        yield method, dict(zip(head[1:], rates, strict=True))


def test_chapter_12_quotes_the_faces_of_12a():
    stored = stored_rates()
    (text,) = [cell for cell in cells("12_cke.ipynb") if "| enlarged probe |" in cell]
    quoted = dict(quoted_rates(text))
    assert set(quoted) == set(STORED.values())
    for method, rates in quoted.items():
        assert rates == {column: stored[method][column] for column in rates}, method
    with pytest.raises(AssertionError):
        wrong = dict(quoted_rates(text.replace("94.8 ± 0.4", "94.9 ± 0.4")))
        assert all(wrong[m][c] == stored[m][c] for m in wrong for c in wrong[m])

    # what the text below the table says
    def rate(method, column):
        return quoted[method][column][0]

    for who in ("known", "strangers"):
        plain, coupled, machine = (
            rate(method, f"{who}, 4×4")
            for method in ("shrunken gallery", "coupled, chosen", "SVM, low resolution")
        )
        assert abs(plain - coupled) < 2 and machine >= max(plain, coupled)
        for rival in ("enlarged probe", "shrunken gallery", "SVM, low resolution"):
            column = f"{who}, 8×8 moved"
            assert rate("coupled, chosen", column) >= rate(rival, column) + 5


def test_folds_keep_the_names_of_their_columns():
    V = np.random.default_rng(2).normal(size=(24, 2))
    D, labels = pd.DataFrame(V, columns=["a", "b"]), np.repeat(np.arange(6), 4)
    options = dict(kind="class", regs=[0.1], components=[1], rng=0)
    named = tune_coupling([(Gaussian(1.0).on(["b"]),) * 2], D, D, labels, **options)
    plain = tune_coupling([(Gaussian(1.0).on([1]),) * 2], V, V, labels, **options)
    assert [n for _, n in named.scores] == [n for _, n in plain.scores]
