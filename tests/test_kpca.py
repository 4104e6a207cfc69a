"""Centred Gram matrices: kernel PCA, pre-images, CCA, dependence and ICA, each against another route."""

import pickle
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
from rkhs_notes import settings
from rkhs_notes.errors import ConvergenceFailure, IndefiniteKernel, LawBroken
from rkhs_notes.kernels import (
    Brownian,
    Constant,
    Delta,
    Gaussian,
    Kernel,
    Laplace,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
)
from rkhs_notes.kpca import (
    amari_distance,
    center,
    center_cross,
    check_kernel_cca,
    check_kernel_pca,
    hsic,
    hsic_test,
    hsic_u,
    kernel_cca,
    kernel_generalized_variance,
    kernel_ica,
    kernel_mutual_information,
    kernel_pca,
    pca_primal,
)
from rkhs_notes.resampling import binomial_interval
from rkhs_notes.rkhs import RKHSFunction
from scipy.sparse.linalg import eigsh
from sklearn.decomposition import PCA, FastICA, KernelPCA

rng = np.random.default_rng(0)
n = 120
hidden = rng.normal(size=n)
X = np.c_[hidden + 0.3 * rng.normal(size=n), rng.normal(size=n)]
Y = np.c_[hidden**2 + 0.3 * rng.normal(size=n), rng.normal(size=n), hidden]

KERNELS = [
    Gaussian(1.0),
    Laplace(2.0),
    Polynomial(2),
    Linear() + Delta(),
    Gaussian(1.0).on([0]) + Linear().on(1),
    1e-12 * Gaussian(1.0),
    1e12 * Gaussian(1.0),
]


def H(m):
    return np.eye(m) - np.full((m, m), 1 / m)


# centring
@pytest.mark.parametrize("k", KERNELS, ids=str)
def test_centring_is_two_projections(k):
    K, Kxz = k(X[:80]), k(X[80:], X[:80])
    top = np.abs(K).max()
    np.testing.assert_allclose(center(K), H(80) @ K @ H(80), atol=1e-13 * top)
    # the mean feature of the sample, written out in the Gram matrix of everything
    everything, w = k(X), np.r_[np.full(80, 1 / 80), np.zeros(n - 80)]
    D = np.eye(n) - np.outer(np.ones(n), w)
    np.testing.assert_allclose(center_cross(Kxz, K), (D @ everything @ D.T)[80:, :80], atol=1e-13 * top)
    np.testing.assert_allclose(center_cross(K, K), center(K), atol=1e-13 * top)
    assert (center(K) == center(K).T).all()


# canonical correlations
def classical(A, B):
    "Canonical correlations by QR and SVD (Björck and Golub)"
    Qa, Qb = (np.linalg.qr(M - M.mean(axis=0))[0] for M in (A, B))
    return np.linalg.svd(Qa.T @ Qb, compute_uv=False)


def test_linear_kernels_give_classical_cca():
    cca = kernel_cca(Linear(), Linear(), X, Y, reg=1e-9, n=2)
    np.testing.assert_allclose(cca.correlations, classical(X, Y)[:2], atol=1e-9)
    u, v = cca.transform_x(X), cca.transform_y(Y)
    np.testing.assert_allclose(np.corrcoef(u.T, v.T)[:2, 2:], np.diag(cca.correlations), atol=1e-8)


def test_polynomial_kernels_give_classical_cca_of_the_features():
    kx, ky = Polynomial(2), Polynomial(2)
    features = [k.feature_map(A.shape[1])(A) for k, A in ((kx, X), (ky, Y))]
    features = [A[:, A.std(axis=0) > 1e-12] for A in features]
    cca = kernel_cca(kx, ky, X, Y, reg=1e-8, n=5)
    np.testing.assert_allclose(cca.correlations, classical(*features)[:5], atol=1e-7)


@pytest.mark.parametrize("kx", KERNELS, ids=str)
@pytest.mark.parametrize("reg", [1e-2, 1.0, 100.0])
def test_correlations_are_singular_values_of_two_smoothers(kx, reg):
    ky, scale = Gaussian(1.5), kx.diag(X).mean()
    kx = kx / scale
    cca = kernel_cca(kx, ky, X, Y, reg, n=3)
    Kx, Ky = center(kx(X)), center(ky(Y))
    zero = np.zeros((n, n))
    A = np.block([[zero, Kx @ Ky], [Ky @ Kx, zero]])
    B = scipy.linalg.block_diag(Kx @ Kx + reg * Kx, Ky @ Ky + reg * Ky)
    rounding = 1e-10 * np.abs(B).max()
    rho = scipy.linalg.eigh(A, B + rounding * np.eye(2 * n), eigvals_only=True)[::-1][:3]
    np.testing.assert_allclose(cca.correlations, rho, atol=1e-3)
    Rx, Ry = (scipy.linalg.solve(K + reg * np.eye(n), K) for K in (Kx, Ky))
    squares = np.sort(np.linalg.eigvals(Rx @ Ry).real)[::-1][:3]
    np.testing.assert_allclose(cca.correlations, np.sqrt(squares), atol=1e-7)
    check_kernel_cca(cca, X, Y)


def test_a_low_rank_is_within_its_bound():
    whole = kernel_cca(Laplace(2), Laplace(2), X, Y, 5.0, 2)
    for rank, pivots in [(60, "greedy"), (60, "random"), (30, "greedy")]:
        part = kernel_cca(Laplace(2), Laplace(2), X, Y, 5.0, 2, rank=rank, pivots=pivots)
        assert np.abs(part.correlations - whole.correlations).max() <= part.error
        assert len(part.function_x.Z) == rank


def test_scaling_a_kernel_is_scaling_the_penalty():
    one = kernel_cca(Gaussian(1), Gaussian(1), X, Y, 2.0, 2)
    two = kernel_cca(1e6 * Gaussian(1), 1e6 * Gaussian(1), X, Y, 2e6, 2)
    np.testing.assert_allclose(one.correlations, two.correlations, atol=1e-7)
    tiny = kernel_cca(Gaussian(1e-8), Gaussian(1), 1e-8 * X, Y, 2.0, 2)
    np.testing.assert_allclose(one.correlations, tiny.correlations, atol=1e-7)


def test_without_penalty_everything_correlates():
    noise = np.random.default_rng(1).normal(size=(n, 2))
    cca = kernel_cca(Gaussian(0.5), Gaussian(0.5), X, noise, 1e-9, n=20)
    assert cca.correlations.min() > 0.999
    assert kernel_cca(Gaussian(0.5), Gaussian(0.5), X, noise, 30.0).correlations[0] < 0.5


def test_cca_takes_what_kernels_take():
    reference = kernel_cca(Gaussian(1), Linear(), X[:, 0], Y[:, 0], 1.0)
    for A, B in [(X[:, :1], Y[:, :1]), (list(X[:, 0]), list(Y[:, 0])), (X[::1, 0].copy(), Y.T[0])]:
        np.testing.assert_array_equal(
            kernel_cca(Gaussian(1), Linear(), A, B, 1.0).correlations, reference.correlations
        )
    index = kernel_cca(Precomputed(Gaussian(1)(X[:, 0])), Linear(), np.arange(n), Y[:, 0], 1.0)
    np.testing.assert_allclose(index.correlations, reference.correlations, atol=1e-8)
    single = kernel_cca(Gaussian(1), Linear(), X[:, 0].astype("f"), Y[:, 0].astype("f"), 1.0)
    np.testing.assert_allclose(single.correlations, reference.correlations, atol=1e-4)
    same = pickle.loads(pickle.dumps(reference))
    np.testing.assert_array_equal(same.transform_x(X[:, 0]), reference.transform_x(X[:, 0]))
    assert reference.transform_y(Y[:5, 0]).shape == (5, 1)


def test_mutants_of_cca_are_refused():
    cca = kernel_cca(Gaussian(1), Gaussian(1), X, Y, 1.0, 2)
    mutants = {
        "mean over the sample": replace(cca, offset_x=cca.offset_x * 0),
        "reg scaled": replace(cca, reg=cca.reg * n),
        "correlations": replace(cca, correlations=cca.correlations**2),
        "orthogonal": replace(cca, function_x=cca.function_x * 2.0, offset_x=cca.offset_x * 2),
    }
    f, g = cca.function_x, cca.function_y
    mutants["no larger correlation is left out"] = replace(
        cca,
        correlations=cca.correlations[1:],
        function_x=RKHSFunction(f.k, f.Z, f.alpha[:, 1:]),
        function_y=RKHSFunction(g.k, g.Z, g.alpha[:, 1:]),
        offset_x=cca.offset_x[1:],
        offset_y=cca.offset_y[1:],
    )
    for words, mutant in mutants.items():
        with pytest.raises(LawBroken, match=words):
            check_kernel_cca(mutant, X, Y)
    single = X.astype("f"), Y.astype("f")
    check_kernel_cca(kernel_cca(Gaussian(1), Gaussian(1), *single, 1.0, 2), *single)


# kernel PCA
@pytest.mark.parametrize("k", KERNELS, ids=str)
@pytest.mark.parametrize("m", [1, 4])
def test_kernel_pca_obeys_its_law(k, m):
    pca = kernel_pca(k, X, m)
    check_kernel_pca(pca), check_kernel_pca(pca, X)
    K = center(k(X))
    values = np.linalg.eigvalsh(K)[::-1]
    np.testing.assert_allclose(pca.eigenvalues, values[:m], atol=1e-11 * values[0])
    assert np.isclose(pca.trace, np.trace(K)) and np.isclose(
        pca.explained.sum(), values[:m].sum() / np.trace(K)
    )
    np.testing.assert_allclose(
        pca.residual(X), K.diagonal() - (pca.scores**2).sum(axis=1), atol=1e-11 * values[0]
    )
    rebuilt = pca.scores @ pca.scores.T  # the best approximation of rank m
    assert np.isclose(np.linalg.norm(K - rebuilt, 2), values[m], rtol=1e-6)


@pytest.mark.parametrize("kernel, ours", [
    (dict(kernel="rbf", gamma=0.5), Gaussian(1.0)),
    (dict(kernel="poly", degree=3, gamma=1.0, coef0=1.0), Polynomial(3)),
    (dict(kernel="linear"), Linear()),
])  # fmt: skip
def test_scikit_learn_agrees(kernel, ours):
    theirs = KernelPCA(2, **kernel).fit(X)
    pca = kernel_pca(ours, X, 2)
    new = X[:9] + 0.3
    np.testing.assert_allclose(pca.eigenvalues, theirs.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(np.abs(pca.transform(new)), np.abs(theirs.transform(new)), atol=1e-9)


def test_plain_pca_by_both_doors():
    scores, directions, deviations = pca_primal(Y, 2)
    plain = PCA(2).fit(Y)
    np.testing.assert_allclose(np.abs(scores), np.abs(plain.transform(Y)), atol=1e-12)
    np.testing.assert_allclose(deviations**2 * n / (n - 1), plain.explained_variance_, rtol=1e-12)
    np.testing.assert_allclose(np.abs(kernel_pca(Linear(), Y, 2).scores), np.abs(scores), atol=1e-11)
    np.testing.assert_allclose((Y - Y.mean(axis=0)) @ directions, scores, atol=1e-12)


@pytest.mark.parametrize("m", [2, 3, 30])
def test_without_the_matrix(m):
    big = np.random.default_rng(3).normal(size=(700, 3))
    whole = kernel_pca(Gaussian(1.0), big, m)
    with settings.using(result_mib=1):
        tiles = kernel_pca(Gaussian(1.0), big, m)
    np.testing.assert_allclose(tiles.eigenvalues, whole.eigenvalues, rtol=1e-9)
    np.testing.assert_allclose(
        tiles.transform(X[:5, [0, 1, 1]]), whole.transform(X[:5, [0, 1, 1]]), atol=1e-7
    )
    assert np.isclose(tiles.trace, whole.trace) and np.isclose(tiles.mean_norm2, whole.mean_norm2)


angles = 2 * np.pi * np.arange(700) / 700
HARD = {
    "slow decay": (Laplace(0.3), np.random.default_rng(4).normal(size=(700, 4)), 20),
    "two sizes of clusters": (Gaussian(1.0), np.repeat(99.0 * np.arange(30), [20] * 15 + [60] * 15), 20),
    "39 equal ones": (Gaussian(1.0), np.repeat(99.0 * np.arange(40), 18), 39),
    "pairs on a circle": (Gaussian(0.3), np.c_[np.cos(angles), np.sin(angles)], 30),
}


@pytest.mark.parametrize("case", HARD)
@pytest.mark.parametrize("mib", [4096, 1])
def test_leading_eigenvalues_of_hard_spectra(case, mib):
    k, points, m = HARD[case]
    K = center(k(points))
    start = np.random.default_rng(0).normal(size=len(K))
    exact = eigsh(K, k=m + 5, which="LA", v0=start, ncv=min(len(K), 6 * m))[0][::-1][:m]
    with settings.using(result_mib=mib):
        found = kernel_pca(k, points, m)
    np.testing.assert_allclose(found.eigenvalues, exact, rtol=1e-9)
    assert np.isclose(found.trace, np.trace(K))


def test_memory_without_the_matrix():
    points = np.random.default_rng(5).normal(size=(3000, 2))
    with settings.using(result_mib=8, block_mib=4):
        tracemalloc.start()
        try:
            kernel_pca(Gaussian(2.0), points, 2)
            peak = tracemalloc.get_traced_memory()[1] / 2**20
        finally:
            tracemalloc.stop()
    assert peak < 20, "the Gram matrix alone takes 69 MiB"


@pytest.mark.parametrize("scale", [1e-8, 1, 1e8])
def test_units_of_the_points(scale):
    pca, plain = kernel_pca(Gaussian(scale), scale * X, 3), kernel_pca(Gaussian(1.0), X, 3)
    np.testing.assert_allclose(pca.eigenvalues, plain.eigenvalues, rtol=1e-8)
    there = pca.reconstruct(scale * X[:6])
    np.testing.assert_allclose(there / scale, plain.reconstruct(X[:6]), atol=1e-4)
    shifted = kernel_pca(Gaussian(1.0), X + 1e6, 3)
    np.testing.assert_allclose(shifted.eigenvalues, plain.eigenvalues, rtol=1e-6)
    np.testing.assert_allclose(shifted.reconstruct(X[:6] + 1e6) - 1e6, plain.reconstruct(X[:6]), atol=1e-4)


def test_kinds_of_points():
    line = np.arange(20) % 7
    forms = [line, list(line), line[:, None].astype(float), np.repeat(line, 2)[::2]]
    results = [kernel_pca(Gaussian(1.0), form, 3) for form in forms]
    for pca in results:
        np.testing.assert_array_equal(pca.scores, results[0].scores)
    index = kernel_pca(Precomputed(Gaussian(1.0)(X)), np.arange(n), 3)
    plain = kernel_pca(Gaussian(1.0), X, 3)
    np.testing.assert_allclose(np.abs(index.scores), np.abs(plain.scores), atol=1e-10)
    back = index.pre_image(index.scores, "ridge", targets=X)
    np.testing.assert_allclose(back, plain.pre_image(plain.scores, "ridge"), atol=1e-6)
    single = kernel_pca(Gaussian(1.0), X.astype("f"), 3)
    assert single.scores.dtype == single.transform(X.astype("f")).dtype == np.float32
    np.testing.assert_allclose(np.abs(single.scores), np.abs(plain.scores), atol=1e-3)
    assert single.reconstruct(X[:3].astype("f"), tol=1e-3).shape == (3, 2)


def test_kernel_pca_keeps_no_matrix_and_pickles():
    pca = kernel_pca(Gaussian(1.0), X, 3)
    text = pickle.dumps(pca)
    assert len(text) < 8 * n * (2 + 3 + 3) + 4000
    np.testing.assert_array_equal(pickle.loads(text).transform(X[:4]), pca.transform(X[:4]))
    before = X.copy()
    pca.transform(X), pca.reconstruct(X), pca.residual(X)
    assert (X == before).all()
    np.testing.assert_array_equal(pca.first(2).transform(X), pca.transform(X)[:, :2])
    np.testing.assert_array_equal(pca.pre_image(pca.scores[4]), pca.pre_image(pca.scores[4:5])[0])


def test_mutants_of_kernel_pca_are_refused():
    pca = kernel_pca(Gaussian(1.0), X, 3)
    f = pca.components
    mutants = {
        "orthonormal": replace(pca, components=f * 2.0, offset=2 * pca.offset),
        "mean 0": replace(pca, offset=pca.offset + 0.01),
        "λ u": replace(pca, eigenvalues=pca.eigenvalues * 1.001),
        "have mean 0": replace(pca, offset=0 * pca.offset),
        "no larger eigenvalue is left out": replace(
            pca,
            components=RKHSFunction(f.k, f.Z, f.alpha[:, 1:]),
            offset=pca.offset[1:],
            eigenvalues=pca.eigenvalues[1:],
        ),
        "trace": replace(pca, trace=float(n)),
        "mean_norm2": replace(pca, mean_norm2=0.0),
    }
    for words, mutant in mutants.items():
        with pytest.raises(LawBroken, match=words):
            check_kernel_pca(mutant)
    check_kernel_pca(kernel_pca(Gaussian(1.0), X.astype("f"), 3))


# pre-images
def test_pre_images_are_stationary_and_near():
    k = 3.0 * Gaussian(0.8)
    pca = kernel_pca(k, X, 15)
    new = X[:25] + 0.05
    scores = pca.transform(new)
    z = pca.pre_image(scores, tol=1e-9)
    f = pca.components
    gamma = scores @ f.alpha.T + 1 / n
    g = lambda z: (gamma * Gaussian(0.8)(z, X)).sum(axis=1)  # noqa: E731
    slope = np.array([(g(z + h) - g(z - h)) / 2e-5 for h in (np.array([1e-5, 0]), np.array([0, 1e-5]))])
    assert np.abs(slope).max() < 1e-5
    assert (g(z) >= g(X[np.argmin(((new[:, None] - X) ** 2).sum(axis=2), axis=1)]) - 1e-12).all()
    assert np.abs(z - new).max() < 0.5


def test_a_full_projection_returns_the_sample():
    pca = kernel_pca(Gaussian(0.3), X[:20], 19)
    np.testing.assert_allclose(pca.reconstruct(X[:20], tol=1e-10), X[:20], atol=1e-6)


def test_ridge_takes_any_kernel_and_keeps_the_mean():
    for k in (Laplace(2.0), Polynomial(2), Linear()):
        pca = kernel_pca(k, X, 2)
        far = kernel_pca(k if k != Polynomial(2) else Linear(), X + 7, 2)
        assert np.abs(pca.reconstruct(X, "ridge").mean(axis=0) - X.mean(axis=0)).max() < 0.05
        assert np.abs(far.reconstruct(X + 7, "ridge").mean(axis=0) - X.mean(axis=0) - 7).max() < 0.05
    given = kernel_pca(Gaussian(1.0), X, 5)
    one = given.reconstruct(X, "ridge", lam=0.1)
    assert ((one - X) ** 2).mean() < X.var()


def test_pre_images_that_do_not_exist():
    pca = kernel_pca(Gaussian(1.0), X, 3)
    with pytest.raises(ConvergenceFailure, match="after 1 steps"):
        pca.reconstruct(X + 0.3, max_iter=1, tol=1e-12)
    three = kernel_pca(Gaussian(1.0), [[-0.09, -0.28], [-0.04, 0.27], [-0.23, 0.48]], 2)
    beyond = -8 * np.sign(three.components(three.components.Z).mean(axis=0)) * [0.5, 4]
    with pytest.raises(ConvergenceFailure, match="no pre-image for row 1"):
        three.pre_image([three.scores[0], beyond])
    assert np.isfinite(three.pre_image(beyond, "ridge", lam=1e-3)).all()


# dependence
def test_hsic_by_the_definition():
    k, ky = Gaussian(0.7), Laplace(1.3)
    few = slice(0, 8)
    K, L = k(X[few]), ky(Y[few])
    np.testing.assert_allclose(hsic(k, ky, X[few], Y[few]), np.trace(K @ H(8) @ L @ H(8)) / 64, rtol=1e-12)
    total, count = 0.0, 0
    for i in range(8):
        for j in range(8):
            for q in range(8):
                for r in range(8):
                    if len({i, j, q, r}) == 4:
                        total, count = total + K[i, j] * (L[i, j] + L[q, r] - 2 * L[i, q]), count + 1
    np.testing.assert_allclose(hsic_u(k, ky, X[few], Y[few]), total / count, rtol=1e-11)


def test_hsic_of_linear_kernels_is_the_covariance():
    A, B = X - X.mean(axis=0), Y - Y.mean(axis=0)
    np.testing.assert_allclose(hsic(Linear(), Linear(), X + 1e6, Y), np.square(A.T @ B / n).sum(), rtol=1e-3)
    np.testing.assert_allclose(hsic(Linear(), Linear(), X, Y), np.square(A.T @ B / n).sum(), rtol=1e-12)


def test_hsic_with_labels_is_mmd():
    labels = (X[:, 0] > 0.3).astype(float)
    zeros, ones = n - labels.sum(), labels.sum()
    s = np.where(labels == 0, 1 / zeros, -1 / ones)
    mmd2 = s @ Gaussian(1.0)(X) @ s
    value = hsic(Gaussian(1.0), Delta(), X, labels)
    np.testing.assert_allclose(value, 2 * (zeros * ones) ** 2 / n**4 * mmd2, rtol=1e-12)


def test_hsic_u_is_unbiased_under_independence():
    draw = np.random.default_rng(5)
    values = [hsic_u(Gaussian(1), Gaussian(1), *draw.normal(size=(2, 15))) for _ in range(600)]
    biased = [hsic(Gaussian(1), Gaussian(1), *draw.normal(size=(2, 15))) for _ in range(100)]
    error = np.std(values) / np.sqrt(600)
    assert abs(np.mean(values)) < 4 * error < np.mean(biased)


@pytest.mark.parametrize("k", [Gaussian(1.0), Laplace(0.1)], ids=str)
def test_both_routes_of_the_test_are_one_permutation_null(k):
    A, B = X[:60, 0], Y[:60, 0]
    result = hsic_test(k, k, A, B, 30, rng=2, tol=0)
    draw, K, L = np.random.default_rng(2), center(k(A)), center(k(B))
    null = [np.vdot(K, L[p][:, p]) / 3600 for p in (draw.permutation(60) for _ in range(30))]
    np.testing.assert_allclose(result.null, null, rtol=1e-8)
    np.testing.assert_allclose(result.statistic, hsic(k, k, A, B), rtol=1e-8)
    assert result.pvalue == (1 + sum(np.array(null) >= result.statistic * (1 - 1e-12))) / 31


def test_ties_count():
    flags = np.tile([0.0, 1.0], 10)
    result = hsic_test(Delta(), Delta(), flags, flags, 99, rng=0)
    assert result.pvalue == 0.01 and result.statistic >= result.null.max() - 1e-12
    same = hsic_test(Delta(), Delta(), [0, 1], [0, 1], 20)  # both pairings give one value
    assert same.pvalue == 1.0


def test_the_level_is_exact_at_small_n():
    draw = np.random.default_rng(8)
    p = [
        hsic_test(Polynomial(2), Gaussian(1), *draw.normal(size=(2, 7)), 19, rng=draw).pvalue
        for _ in range(1000)
    ]
    for level in (0.05, 0.2, 0.5):
        low, high = binomial_interval(level, 1000)
        assert low <= np.sum(np.array(p) <= level) <= high


def test_the_level_is_kept_by_coarse_factors():
    "Both sides must not choose the same rows as pivots: that would look at the pairing"
    draw = np.random.default_rng(1)
    p = [
        hsic_test(Gaussian(0.05), Gaussian(0.05), *draw.normal(size=(2, 40)), 99, rng=draw, tol=0.97).pvalue
        for _ in range(120)
    ]
    for level in (0.05, 0.2):
        low, high = binomial_interval(level, 120)
        assert low <= np.sum(np.array(p) <= level) <= high


@pytest.mark.parametrize("dtype", ["f", "d"])
@pytest.mark.parametrize("k", [Gaussian(0.7), Gaussian(0.7) + Delta(), Gaussian(30.0)], ids=str)
def test_ties_count_in_either_precision(k, dtype):
    "No pairing of these eight points has a smaller HSIC, and many have the same"
    a, b = np.array([0, 0, 0, 1, 1, 1, 2, 2], dtype), np.array([0, 1, 2, 0, 1, 2, 0, 1], dtype)
    K, L = center(k(a.astype(float))), center(k(b.astype(float)))
    draw = np.random.default_rng(1)
    null = np.array([np.vdot(K, L[p][:, p]) for p in (draw.permutation(8) for _ in range(500))])
    exact = (1 + np.sum(null >= np.vdot(K, L) - 1e-9 * np.abs(null).max())) / 501
    assert hsic_test(k, k, a, b, 500, rng=1).pvalue == exact


@pytest.mark.parametrize("k", [Linear(), Polynomial(2), Linear() + Constant(1e8)], ids=str)
@pytest.mark.parametrize("shift", [0, 1e3, 1e5])
def test_a_mean_far_away_hides_nothing(k, shift):
    result = hsic_test(k, Linear(), X + shift, Y + shift, 9)
    np.testing.assert_allclose(result.statistic, hsic(k, Linear(), X + shift, Y + shift), rtol=1e-4)


def test_power_of_the_test():
    draw = np.random.default_rng(8)
    x = draw.normal(size=100)
    assert hsic_test(Gaussian(1), Gaussian(1), x, x**2 + 0.3 * draw.normal(size=100), 99).pvalue == 0.01


@pytest.mark.parametrize("reg", [0.1, 10.0])
def test_the_determinant_ratio(reg):
    sides = [X[:, 0], X[:, 1], Y[:, 0]]
    Ks = [center(Gaussian(1.0)(A)) for A in sides]
    smoothers = [scipy.linalg.solve(K + reg * np.eye(n), K, assume_a="sym") for K in Ks]
    roots = [scipy.linalg.sqrtm((R + R.T) / 2).real for R in smoothers]
    joint = np.block([[np.eye(n) if i == j else roots[i] @ roots[j] for j in range(3)] for i in range(3)])
    value = kernel_mutual_information(Gaussian(1.0), sides, reg)
    np.testing.assert_allclose(value, -np.linalg.slogdet(joint)[1] / 2, rtol=1e-4)
    np.testing.assert_allclose(
        kernel_generalized_variance([Gaussian(1.0)] * 3, sides, reg), np.exp(-2 * value)
    )


def test_samples_that_determine_each_other():
    for reg in (1.0, 1e-3, 1e-9):
        same = kernel_mutual_information(Gaussian(1.0), [X[:, 0]] * 3, reg)
        assert np.isfinite(same) and same > kernel_mutual_information(Gaussian(1.0), [X[:, 0], X[:, 1]], reg)


# independent components
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("m", [2, 3])
def test_sources_come_back(seed, m):
    draw = np.random.default_rng(seed)
    S = np.c_[draw.uniform(size=600), draw.laplace(size=600), draw.exponential(size=600)][:, :m]
    A = draw.normal(size=(m, m))
    found = kernel_ica(S @ A.T + 1e3)
    rival = amari_distance(FastICA(random_state=0).fit(S @ A.T).components_, A)
    assert amari_distance(found.unmixing, A) < max(0.08, 1.5 * rival)
    np.testing.assert_allclose(np.cov(found.transform(S @ A.T + 1e3).T, bias=True), np.eye(m), atol=1e-8)


def test_sources_do_not_depend_on_how_the_mixtures_are_written():
    draw = np.random.default_rng(3)
    S = np.c_[draw.uniform(size=300), draw.laplace(size=300)]
    mixed, M, order = S @ draw.normal(size=(2, 2)), draw.normal(size=(2, 2)), draw.permutation(300)
    plain = kernel_ica(mixed)
    sources = plain.transform(mixed)
    forms = dict(
        rows=(mixed[order], np.argsort(order)),
        columns=(mixed[:, [1, 0]], slice(None)),
        sign=(-mixed, slice(None)),
        units=(1e8 * mixed + 1e9, slice(None)),
        basis=(mixed @ M, slice(None)),
    )
    for name, (form, back) in forms.items():
        same = np.abs(np.corrcoef(sources.T, kernel_ica(form).transform(form)[back].T)[:2, 2:])
        assert same.max(axis=1).min() > 1 - 1e-6 and len(set(same.argmax(axis=1))) == 2, name
    for scale in (1e-12, 1e12):  # the default penalty follows the kernel
        again = kernel_ica(mixed, k=scale * Gaussian(1.0))
        np.testing.assert_allclose(again.unmixing, plain.unmixing, atol=1e-6 * np.abs(plain.unmixing).max())


def test_units_and_missing_directions_of_mixtures():
    draw = np.random.default_rng(1)
    S = draw.uniform(size=(500, 2))
    A = np.array([[1.0, 0.5], [0.3, 1.0], [1.0, 1.0]])
    plain = kernel_ica(S @ A[:2].T)
    scaled = kernel_ica(S @ A[:2].T * [1e8, 1e-8] + [1e9, 0])
    assert amari_distance(scaled.unmixing * [1e8, 1e-8], A[:2]) < 0.05
    assert amari_distance(kernel_ica(S @ A.T, n_sources=2).unmixing, A) < 0.05
    with pytest.raises(ValueError, match="n_sources=2"):
        kernel_ica(S @ A.T)
    again = pickle.loads(pickle.dumps(plain))
    np.testing.assert_array_equal(again.unmixing, kernel_ica(S @ A[:2].T).unmixing)


def test_amari():
    A = rng.normal(size=(3, 3))
    assert amari_distance(np.diag([2.0, -1, 5])[[2, 0, 1]] @ np.linalg.inv(A), A) < 1e-12
    assert np.isclose(amari_distance(np.ones((3, 3)), np.eye(3)), 1)


class Twisted(Kernel):
    "1 on the diagonal, cos(x² + y²) off it: indefinite"

    def _gram(self, X, Y, xp):
        return np.cos(X[:, :1] ** 2 + Y[:, :1].T ** 2)

    def _diag(self, X, xp):
        return np.ones(len(X))


BAD = {
    "center shape": (lambda: center(X), ValueError, "square"),
    "center symmetry": (lambda: center(np.triu(np.ones((3, 3)))), ValueError, "not symmetric"),
    "center nan": (lambda: center(np.full((3, 3), np.nan)), ValueError, "not finite"),
    "center overflow": (lambda: center(np.full((4, 4), 1.5e308)), ValueError, "overflow"),
    "cross shape": (lambda: center_cross(np.ones((4, 5)), np.eye(3)), ValueError, "5 columns"),
    "reg 0": (lambda: kernel_cca(Linear(), Linear(), X, Y, 0), ValueError, "reg"),
    "reg tiny": (lambda: kernel_cca(Gaussian(1), Gaussian(1), X, Y, 1e-14), ValueError, "below the rounding"),
    "far from 0": (lambda: kernel_cca(Linear(), Linear(), X + 1e9, Y, 1.0), ValueError, "take its mean away"),
    "twisted": (lambda: kernel_pca(Twisted(), 3 * X, 2), IndefiniteKernel, "eigenvalue"),
    "ica reg": (lambda: kernel_ica(X, reg=1e-30), ValueError, "too small"),
    "ica gaussian": (lambda: kernel_ica(X, max_sweeps=1, tol=1e-9), ConvergenceFailure, "sweeps"),
    "reg text": (lambda: kernel_cca(Linear(), Linear(), X, Y, "a"), TypeError, "reg"),
    "pairs": (lambda: kernel_cca(Linear(), Linear(), X, Y[:-1], 1.0), ValueError, "one row of Y for each"),
    "too many": (lambda: kernel_cca(Linear(), Linear(), X, Y, 1.0, n=3), ValueError, "columns"),
    "constant": (lambda: kernel_cca(Linear(), Linear(), 0 * X + 5, Y, 1.0), ValueError, "X does not vary"),
    "one point": (lambda: kernel_cca(Linear(), Linear(), [1.0], [2.0], 1.0), ValueError, "does not vary"),
    "indefinite": (lambda: kernel_cca(Linear(), Sigmoid(1, -1), X, Y, 1.0), IndefiniteKernel, "cᵀKc"),
    "no kernel": (lambda: kernel_cca(np.dot, Linear(), X, Y, 1.0), TypeError, "not a Kernel"),
    "nan": (lambda: kernel_cca(Linear(), Linear(), X * np.nan, Y, 1.0), ValueError, "X is not finite"),
    "domain": (lambda: kernel_cca(Linear(), Brownian(), X, -np.abs(Y[:, 0]), 1.0), ValueError, "outside"),
    "no components": (lambda: kernel_pca(Linear(), X, 0), ValueError, "n_components = 0"),
    "too many components": (
        lambda: kernel_pca(Gaussian(1), X, n),
        ValueError,
        f"span at most {n - 1} directions",
    ),
    "rank": (lambda: kernel_pca(Linear(), X, 3), ValueError, "only 2 eigenvalues"),
    "one point pca": (lambda: kernel_pca(Linear(), [2.0]), ValueError, "from 1 point"),
    "constant data": (lambda: kernel_pca(Gaussian(1), np.ones((9, 2)), 1), ValueError, "all points coincide"),
    "constant kernel": (lambda: kernel_pca(Constant(3), X, 1), ValueError, "all points coincide"),
    "duplicates": (lambda: kernel_pca(Gaussian(1), np.tile(X[:3], (9, 1)), 3), ValueError, "n_components=2"),
    "empty": (lambda: kernel_pca(Gaussian(1), np.zeros((0, 2))), ValueError, "empty"),
    "pca indefinite": (lambda: kernel_pca(Sigmoid(1, -1), X), IndefiniteKernel, "cᵀKc"),
    "pca text": (lambda: kernel_pca(Gaussian(1), X, "all"), TypeError, "n_components"),
    "new columns": (lambda: kernel_pca(Gaussian(1), X).transform(Y), ValueError, "columns"),
    "residual columns": (lambda: kernel_pca(Gaussian(1), X).residual(Y), ValueError, "columns"),
    "scores": (lambda: kernel_pca(Gaussian(1), X).pre_image(Y), ValueError, "as many columns as components"),
    "method": (lambda: kernel_pca(Gaussian(1), X).reconstruct(X, "magic"), ValueError, "fixed_point"),
    "not Gaussian": (lambda: kernel_pca(Laplace(1), X).reconstruct(X), ValueError, "method='ridge'"),
    "indices": (
        lambda: kernel_pca(Precomputed(np.eye(5)), np.arange(5)).pre_image([0, 0], "ridge"),
        ValueError,
        "targets",
    ),
    "targets": (
        lambda: kernel_pca(Gaussian(1), X).pre_image([0, 0], "ridge", targets=Y[:5]),
        ValueError,
        "targets",
    ),
    "first": (lambda: kernel_pca(Gaussian(1), X).first(9), ValueError, "2 components"),
    "primal": (lambda: pca_primal(X, 5), ValueError, "at most 2"),
    "hsic pairs": (lambda: hsic(Linear(), Linear(), X, Y[1:]), ValueError, "one row of Y for each"),
    "hsic few": (lambda: hsic_u(Linear(), Linear(), X[:3], Y[:3]), ValueError, "4 pairs"),
    "test constant": (lambda: hsic_test(Linear(), Linear(), X, np.ones(n)), ValueError, "Y does not vary"),
    "test pairs": (lambda: hsic_test(Linear(), Linear(), X, Y[1:]), ValueError, "one row of Y for each"),
    "test rng": (lambda: hsic_test(Linear(), Linear(), X, Y, rng="x"), TypeError, "rng"),
    "test draws": (lambda: hsic_test(Linear(), Linear(), X, Y, 0), ValueError, "n_permutations"),
    "test kernel": (lambda: hsic_test(None, Linear(), X, Y), TypeError, "not a Kernel"),
    "hsic huge": (lambda: hsic(*[1e170 * Gaussian(1)] * 2, X, Y), ValueError, "rescale one"),
    "hsic u tiny": (lambda: hsic_u(*[1e-170 * Gaussian(1)] * 2, X, Y), ValueError, "rescale one"),
    "test huge": (lambda: hsic_test(*[1e170 * Gaussian(1)] * 2, X, Y, 9), ValueError, "rescale one"),
    "test tiny": (lambda: hsic_test(*[1e-170 * Gaussian(1)] * 2, X, Y, 9), ValueError, "rescale one"),
    "cross overflow": (lambda: center_cross(np.full((2, 3), 1e308), np.eye(3)), ValueError, "sums of Kxz"),
    "primal overflow": (lambda: pca_primal(1e308 * np.sign(X)), ValueError, "sums of X"),
    "scores huge": (
        lambda: kernel_pca(Gaussian(1), X).pre_image([1e200, 0]),
        ValueError,
        "those of the sample",
    ),
    "scores huge ridge": (
        lambda: kernel_pca(Gaussian(1), X).pre_image([1e200, 0], "ridge"),
        ValueError,
        "those of the sample",
    ),
    "no kernel for kmi": (lambda: kernel_mutual_information(None, [X, Y], 1.0), TypeError, "not a Kernel"),
    "ica linear": (lambda: kernel_ica(X, k=Linear()), ValueError, "only correlations"),
    "ica delta": (lambda: kernel_ica(X, k=Delta()), ValueError, "or nothing"),
    "ica overflow": (lambda: kernel_ica(1e308 * np.sign(X)), ValueError, "sums of X"),
    "one sample": (lambda: kernel_mutual_information(Linear(), [X], 1.0), ValueError, "two or more"),
    "kernels": (lambda: kernel_mutual_information([Linear()] * 3, [X, Y], 1.0), ValueError, "3 kernels"),
    "an array": (lambda: kernel_generalized_variance(Linear(), X, 1.0), ValueError, "list"),
    "ica columns": (lambda: kernel_ica(X, 3), ValueError, "2 columns"),
    "ica constant": (lambda: kernel_ica(np.ones((9, 2))), ValueError, "do not vary"),
    "ica one": (lambda: kernel_ica(np.ones((1, 2))), ValueError, "do not vary"),
    "ica nan": (lambda: kernel_ica(X * np.nan), ValueError, "not finite"),
    "ica new": (lambda: kernel_ica(X).transform(Y), ValueError, "3 columns"),
    "amari": (lambda: amari_distance(np.eye(2), np.eye(3)), ValueError, "shape"),
    "amari zeros": (lambda: amari_distance(np.zeros((2, 2)), np.eye(2)), ValueError, "lost"),
    "n 0": (lambda: kernel_cca(Linear(), Linear(), X, Y, 1.0, n=0), ValueError, "n = 0"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case):
    use, error, words = BAD[case]
    with pytest.raises(error, match=words):
        use()


def test_points_may_be_strings():
    from test_mmd import Bigrams, words

    r = np.random.default_rng(0)
    A, B = words([0.5, 0.3, 0.2], 24, r), words([0.2, 0.3, 0.5], 9, r)
    k, y = Bigrams(), np.array([float(a.count("a")) for a in A])
    K = k(A + B)
    G = Precomputed(K)
    ours, theirs = kernel_pca(k, A, 3), kernel_pca(G, np.arange(24), 3)
    np.testing.assert_allclose(ours.transform(B), theirs.transform(np.arange(24, 33)), atol=1e-8)
    assert hsic(k, Gaussian(1.0), A, y) == pytest.approx(hsic(G, Gaussian(1.0), np.arange(24), y))
    words_, rows = (hsic_test(h, Gaussian(1.0), P, y, 99) for h, P in ((k, A), (G, np.arange(24))))
    assert words_.pvalue == rows.pvalue


@pytest.mark.parametrize("use", [lambda k: kernel_pca(k, X), lambda k: hsic_test(k, k, X, Y[:, :2], 9),
                                 lambda k: kernel_cca(k, k, X, Y[:, :2], 1.0)])  # fmt: skip
def test_the_function_of_a_kernel_runs_once_for_each_sample(use):
    seen = []
    use(Gaussian(1.0).on(lambda x: seen.append(len(x)) or x**2))
    assert len(seen) <= 2 and set(seen) == {n}
