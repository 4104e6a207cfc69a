"""Centred Gram matrices: kernel PCA and pre-images, each against another route."""

import pickle
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse.linalg import eigsh
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA, KernelPCA

import rkhs_notes as rn
from rkhs_notes import settings
from rkhs_notes.base.errors import ConvergenceFailure, IndefiniteKernel, LawBroken
from rkhs_notes.deeper.zoo import Laplace, Precomputed
from rkhs_notes.engines.solving import principal
from rkhs_notes.engines.solving.principal import KernelComponents, check_kernel_pca, pca_primal
from rkhs_notes.engines.solving.ridge_fits import ridge_path
from rkhs_notes.kernels import (
    Constant,
    Gaussian,
    Kernel,
    Linear,
    Polynomial,
    Sigmoid,
    median_bandwidth,
)
from rkhs_notes.kpca import center, center_cross, kernel_pca
from rkhs_notes.rkhs import RKHSFunction
from shared import KERNELS, H, X, Y, n


# centring
@pytest.mark.second_route("center", "center_cross", "two projections, multiplied out")
@pytest.mark.parametrize("k", KERNELS, ids=str)
def test_centring_is_two_projections(k):
    K, Kxz = k(X[:80]), k(X[80:], X[:80])
    top = np.abs(K).max()
    np.testing.assert_allclose(center(K), H(80) @ K @ H(80), atol=1e-13 * top)
    # the mean feature of the sample, written out in the Gram matrix of everything
    everything, w = k(X), np.r_[np.full(80, 1 / 80), np.zeros(n - 80)]
    D = np.eye(n) - np.outer(np.ones(n), w)
    np.testing.assert_allclose(
        center_cross(Kxz, K), (D @ everything @ D.T)[80:, :80], atol=1e-13 * top
    )
    np.testing.assert_allclose(center_cross(K, K), center(K), atol=1e-13 * top)
    assert (center(K) == center(K).T).all()


# kernel PCA
@pytest.mark.parametrize("k", KERNELS, ids=str)
@pytest.mark.parametrize("m", [1, 4])
def test_kernel_pca_obeys_its_law(k, m):
    pca = kernel_pca(k, X, m)
    check_kernel_pca(pca), check_kernel_pca(pca, X)
    K = center(k(X))
    values = np.linalg.eigvalsh(K)[::-1]
    np.testing.assert_allclose(pca.eigenvalues, values[:m], atol=1e-11 * values[0])
    np.testing.assert_allclose(pca.trace, np.trace(K))
    np.testing.assert_allclose(pca.explained.sum(), values[:m].sum() / np.trace(K))
    np.testing.assert_allclose(
        pca.residual(X), K.diagonal() - (pca.scores**2).sum(axis=1), atol=1e-11 * values[0]
    )
    rebuilt = pca.scores @ pca.scores.T  # the best approximation of rank m
    assert np.isclose(np.linalg.norm(K - rebuilt, 2), values[m], rtol=1e-6, atol=0)


@pytest.mark.second_route("KernelComponents", "kernel_pca", "scikit-learn")
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


@pytest.mark.second_route("pca_primal", "scikit-learn")
def test_plain_pca_by_both_doors():
    scores, directions, deviations = pca_primal(Y, 2)
    plain = PCA(2).fit(Y)
    np.testing.assert_allclose(np.abs(scores), np.abs(plain.transform(Y)), atol=1e-12)
    np.testing.assert_allclose(deviations**2 * n / (n - 1), plain.explained_variance_, rtol=1e-12)
    np.testing.assert_allclose(
        np.abs(kernel_pca(Linear(), Y, 2).scores), np.abs(scores), atol=1e-11
    )
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
    "two sizes of clusters": (
        Gaussian(1.0),
        np.repeat(99.0 * np.arange(30), [20] * 15 + [60] * 15),
        20,
    ),
    "39 equal ones": (Gaussian(1.0), np.repeat(99.0 * np.arange(40), 18), 39),
    "pairs on a circle": (Gaussian(0.3), np.c_[np.cos(angles), np.sin(angles)], 30),
}


@pytest.mark.second_route("kernel_pca", "SciPy's Lanczos iteration")
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
    np.testing.assert_allclose(
        shifted.reconstruct(X[:6] + 1e6) - 1e6, plain.reconstruct(X[:6]), atol=1e-4
    )


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
    slope = np.array(
        [(g(z + h) - g(z - h)) / 2e-5 for h in (np.array([1e-5, 0]), np.array([0, 1e-5]))]
    )
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
        for fit, Z in ((pca, X), (far, X + 7)):
            means = fit.reconstruct(Z, "ridge").mean(axis=0)
            np.testing.assert_allclose(means, Z.mean(axis=0), atol=1e-10)
    given = kernel_pca(Gaussian(1.0), X, 5)
    one = given.reconstruct(X, "ridge", lam=0.1)
    assert ((one - X) ** 2).mean() < X.var()


def test_pre_images_of_weighted_points_are_those_of_repeated_ones():
    w = np.random.default_rng(0).integers(1, 4, n)
    weighted = kernel_pca(Gaussian(0.8), X, 5, weights=w)
    again = kernel_pca(Gaussian(0.8), np.repeat(X, w, axis=0), 5)
    new = X[:10] + 0.05
    one, two = (pca.pre_image(pca.transform(new), tol=1e-10) for pca in (weighted, again))
    np.testing.assert_allclose(one, two, atol=1e-6)


def test_pre_images_that_do_not_exist():
    pca = kernel_pca(Gaussian(1.0), X, 3)
    with pytest.raises(ConvergenceFailure, match="row 0: it still moves by .* after 1 steps"):
        pca.reconstruct(X + 0.3, max_iter=1, tol=1e-12)
    three = kernel_pca(Gaussian(1.0), [[-0.09, -0.28], [-0.04, 0.27], [-0.23, 0.48]], 2)
    beyond = -8 * np.sign(three.components(three.components.Z).mean(axis=0)) * [0.5, 4]
    with pytest.raises(ConvergenceFailure, match="row 1: the projection is negative at every"):
        three.pre_image([three.scores[0], beyond])
    assert np.isfinite(three.pre_image(beyond, "ridge", lam=1e-3)).all()


def test_where_the_nearest_start_is_no_hill_all_points_are_tried():
    "Scores whose projection is negative at the point of nearest scores, and positive at another"
    local = np.random.default_rng(129)
    few = local.normal(size=(int(local.integers(3, 9)), 2)) * local.choice([0.2, 0.5, 1.0])
    pca = kernel_pca(Gaussian(1.0), few, 2)
    target = np.array([-1.63171016, 13.00643441])
    values = pca.components(pca.components.Z) @ target
    nearest = np.linalg.norm(pca.scores - target, axis=1).argmin()
    assert values.argmax() != nearest
    one, all_of_them = (pca.pre_image(target[None], starts=s) for s in (1, len(few)))
    np.testing.assert_allclose(one, all_of_them, atol=1e-6)


@pytest.mark.parametrize("tol", [1e-1, 1e-3])
def test_a_pre_image_does_not_depend_on_the_rows_beside_it(tol):
    "Each stops by its own last step, as soon as that is below tol"
    pca = kernel_pca(Gaussian(1.0), X, 3)
    scores = pca.transform(X[:20] + 0.3)
    alone = np.vstack([pca.pre_image(row[None], tol=tol) for row in scores])
    np.testing.assert_allclose(pca.pre_image(scores, tol=tol), alone, atol=1e-9)


def test_the_default_way_back_beats_linear_pca():
    digits, rng = load_digits().data / 16, np.random.default_rng(0)
    digits = digits[rng.permutation(len(digits))]
    clean, test = digits[:600], digits[600:900]
    noisy = test + 0.35 * rng.normal(size=test.shape)
    error = lambda back: np.square(back - test).mean()  # noqa: E731
    _, axes, _ = pca_primal(clean, 40)
    mean, onto = clean.mean(axis=0), [axes[:, :m] @ axes[:, :m].T for m in range(1, 41)]
    plain = [error(mean + (noisy - mean) @ plane) for plane in onto]
    whole = kernel_pca(Gaussian(median_bandwidth(clean)), clean, 40)
    for m in (10, 20, 30, 40):
        assert error(whole.first(m).reconstruct(noisy)) < 0.95 * plain[m - 1]
    assert error(whole.first(30).reconstruct(noisy)) < 0.85 * min(plain)


def test_the_learned_way_back_is_kept(monkeypatch):
    fits = []
    monkeypatch.setattr(
        principal, "ridge_path", lambda *a, **b: fits.append(a) or ridge_path(*a, **b)
    )
    pca = kernel_pca(Gaussian(1.0), X, 5)
    once = pca.reconstruct(X, "ridge")
    np.testing.assert_allclose(pca.reconstruct(X[:9], "ridge"), once[:9], atol=1e-9)
    assert len(fits) == 1
    again = ridge_path(Gaussian(median_bandwidth(pca.scores)), pca.scores, X, offset=True).function
    np.testing.assert_allclose(once, again(pca.scores), atol=1e-9)
    assert not np.allclose(pca.reconstruct(X, "ridge", k=Laplace(1.0)), once) and len(fits) == 2
    assert (
        not np.allclose(pca.pre_image(pca.scores, "ridge", targets=2 * X), once) and len(fits) == 3
    )
    assert not np.allclose(pca.first(2).reconstruct(X, "ridge"), once) and len(fits) == 4


def test_ridge_with_a_large_lam_leads_back_to_the_mean():
    pca = kernel_pca(Gaussian(1.0), X + 3, 4)
    back = pca.pre_image(pca.scores, "ridge", lam=1e9)
    np.testing.assert_allclose(back, np.tile((X + 3).mean(axis=0), (len(X), 1)), atol=1e-5)


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
    "cross shape": (lambda: center_cross(np.ones((4, 5)), np.eye(3)), ValueError, "5 points"),
    "twisted": (lambda: kernel_pca(Twisted(), 3 * X, 2), IndefiniteKernel, "eigenvalue"),
    "no components": (lambda: kernel_pca(Linear(), X, 0), ValueError, "n_components = 0"),
    "too many components": (
        lambda: kernel_pca(Gaussian(1), X, n),
        ValueError,
        "too few for n_components = 120",
    ),
    "rank": (lambda: kernel_pca(Linear(), X, 3), ValueError, "span 2 directions"),
    "one point pca": (lambda: kernel_pca(Linear(), [2.0]), ValueError, "span 0 directions"),
    "constant data": (
        lambda: kernel_pca(Gaussian(1), np.ones((9, 2)), 1),
        ValueError,
        "All points coincide",
    ),
    "constant kernel": (lambda: kernel_pca(Constant(3), X, 1), ValueError, "All points coincide"),
    "duplicates": (
        lambda: kernel_pca(Gaussian(1), np.tile(X[:3], (9, 1)), 3),
        ValueError,
        "Pass at most 2",
    ),
    "empty": (lambda: kernel_pca(Gaussian(1), np.zeros((0, 2))), ValueError, "empty"),
    "pca indefinite": (lambda: kernel_pca(Sigmoid(1, -1), X), IndefiniteKernel, "cᵀKc"),
    "pca text": (lambda: kernel_pca(Gaussian(1), X, "all"), TypeError, "n_components"),
    "new columns": (lambda: kernel_pca(Gaussian(1), X).transform(Y), ValueError, "columns"),
    "residual columns": (lambda: kernel_pca(Gaussian(1), X).residual(Y), ValueError, "columns"),
    "scores": (
        lambda: kernel_pca(Gaussian(1), X).pre_image(Y),
        ValueError,
        r"scores has shape \(120, 3\); pass \(l, 2\), one number for each component",
    ),
    "method": (
        lambda: kernel_pca(Gaussian(1), X).reconstruct(X, "magic"),
        ValueError,
        "fixed_point",
    ),
    "not Gaussian": (lambda: kernel_pca(Laplace(1), X).reconstruct(X), TypeError, "method='ridge'"),
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
    "first": (lambda: kernel_pca(Gaussian(1), X).first(9), ValueError, "m = 9"),
    "primal": (lambda: pca_primal(X, 5), ValueError, "Pass at most 2"),
    "cross overflow": (
        lambda: center_cross(np.full((2, 3), 1e308), np.eye(3)),
        ValueError,
        "overflows float64.*rescale Kxz and K",
    ),
    "primal overflow": (
        lambda: pca_primal(1e308 * np.sign(X)),
        ValueError,
        "overflows float64; rescale X",
    ),
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
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case):
    use, error, words = BAD[case]
    with pytest.raises(error, match=words):
        use()


def test_near_misses_of_kernel_pca():
    "Each law refuses three times its tolerance, and lets a tenth of it pass"
    pca, tol = kernel_pca(Gaussian(1.0), X, 3), 1e-8
    top, largest = pca.eigenvalues[0], np.abs(Gaussian(1.0)(X)).max()

    def mutants(e):
        longer = 1 + e * top / pca.eigenvalues[-1] / 2
        return {
            "orthonormal": replace(
                pca, components=pca.components * longer, offset=longer * pca.offset
            ),
            "mean 0": replace(pca, offset=pca.offset + e * np.sqrt(top)),
            "ΣᵢScoreᵢ²": replace(pca, eigenvalues=pca.eigenvalues * [1 + e, 1, 1]),
            "trace": replace(pca, trace=pca.trace * (1 + e)),
            "mean_norm2": replace(pca, mean_norm2=pca.mean_norm2 + e * largest),
        }

    for words, mutant in mutants(3 * tol).items():
        with pytest.raises(LawBroken, match=words):
            check_kernel_pca(mutant)
    for mutant in mutants(tol / 10).values():
        check_kernel_pca(mutant)


def of_spectrum(values):
    "Precomputed(K) with these eigenvalues, all eigenvectors of mean 0 but one of eigenvalue 0"
    m = len(values) + 1
    Q = np.linalg.qr(np.c_[np.ones(m), np.random.default_rng(1).normal(size=(m, m - 1))])[0][:, 1:]
    K = (Q * values) @ Q.T
    return Precomputed((K + K.T) / 2), np.arange(m)


@pytest.mark.second_route("check_kernel_pca", "near misses refused")
@pytest.mark.parametrize("by", [3e-8, -3e-8])
def test_a_near_miss_of_an_eigenvector(by):
    "The first component, turned by an angle towards the fourth: still orthonormal, of mean 0"
    pca = kernel_pca(*of_spectrum([4.0, 3.0, 2.5, 2.0, 1.0]), 4)

    def turned(angle):
        turn = np.eye(4)[:, :3]
        turn[[0, 3], 0] = np.cos(angle), np.sin(angle)
        f = RKHSFunction(pca.k, pca.components.Z, pca.components.alpha @ turn)
        return replace(pca, components=f, offset=pca.offset @ turn, eigenvalues=pca.eigenvalues[:3])

    lam, u = pca.eigenvalues, np.abs(pca.components.alpha[:, 3]).max() * np.sqrt(pca.eigenvalues[3])
    angle = by * lam[0] ** 1.5 / (np.sqrt(lam[3]) * (lam[0] - lam[3]) * u)
    with pytest.raises(LawBroken, match="λ u"):
        check_kernel_pca(turned(angle))
    check_kernel_pca(turned(angle / 9))


def test_a_near_miss_of_the_largest_eigenvalues():
    "The third component left out for the fourth, whose eigenvalue is smaller by three times the tolerance"
    for by, refused in ((3e-8, True), (0.3e-8, False)):
        pca = kernel_pca(*of_spectrum([4.0, 3.0, 2.0, 2.0 - 4 * by, 1.0]), 4)
        some = [0, 1, 3]
        f = RKHSFunction(pca.k, pca.components.Z, pca.components.alpha[:, some])
        other = replace(
            pca, components=f, offset=pca.offset[some], eigenvalues=pca.eigenvalues[some]
        )
        if refused:
            with pytest.raises(LawBroken, match="left out"):
                check_kernel_pca(other)
        else:
            check_kernel_pca(other)


def test_a_near_miss_of_the_scores():
    class Off(KernelComponents):
        scores = property(lambda self: self.components.alpha * self.eigenvalues + self._by)

    pca = kernel_pca(Gaussian(1.0), X, 3)
    off = Off(pca.components, pca.offset, pca.eigenvalues, pca.trace, pca.mean_norm2)
    for by, refused in ((3e-8, True), (0.3e-8, False)):
        Off._by = by * np.sqrt(pca.eigenvalues[0])
        if refused:
            with pytest.raises(LawBroken, match="those of the functions"):
                check_kernel_pca(off)
        else:
            check_kernel_pca(off)


@pytest.mark.parametrize("use", [center, lambda K: center_cross(K[:2], K)])
def test_a_near_miss_of_symmetry(use):
    K, allowed = np.eye(4) + 0.5, 100 * 4 * np.finfo(float).eps * 1.5
    skew = np.triu(np.ones((4, 4)), 1)
    use(K + allowed / 3 * skew)
    with pytest.raises(ValueError, match="symmetric"):
        use(K + 3 * allowed * skew)


class Table(Kernel):
    "k(i, j) of a matrix that nobody looked at"

    values = np.eye(20)

    def _gram(self, X, Y, xp):
        return self.values[np.ix_(X[:, 0].astype(int), Y[:, 0].astype(int))]


def test_a_near_miss_of_positivity(monkeypatch):
    "The least eigenvalue of H K H may be −1000 times what rounding leaves of the largest, and no less"
    Q = np.linalg.qr(np.c_[np.ones(20), np.random.default_rng(2).normal(size=(20, 19))])[0][:, 1:]
    allowed = 1e3 * np.finfo(float).eps ** 0.75 * 4.0
    for times, refused in ((0.3, False), (3.0, True)):
        K = Q[:, :3] * [4.0, 2.0, -times * allowed] @ Q[:, :3].T
        monkeypatch.setattr(Table, "values", (K + K.T) / 2 + 1.0)
        if refused:
            with pytest.raises(IndefiniteKernel, match="least eigenvalue of H K H"):
                kernel_pca(Table(), np.arange(20), 2)
        else:
            kernel_pca(Table(), np.arange(20), 2)


def test_scores_a_thousand_million_times_those_of_the_sample_have_no_pre_image():
    pca = kernel_pca(Gaussian(1.0), X, 2)
    far = np.array([[2e8 * np.abs(pca.scores).max(), 0.0]])
    with pytest.raises(ValueError, match="no point is near"):
        pca.pre_image(far)


# ------------------ signs


G, NEW = Gaussian(1.5), np.random.default_rng(8).normal(size=(20, 3))
GRID, W = np.linspace(-1, 1, 60), np.random.default_rng(7).integers(1, 4, 60).astype(float)
CLOUD = np.random.default_rng(6).normal(size=(60, 3))
BESIDE = np.column_stack([CLOUD[:, 0] ** 2, CLOUD[:, 1] * CLOUD[:, 2]]) + 0.1 * CLOUD[:, 1:]
AXES = {
    "kernel_pca": lambda p: kernel_pca(G, CLOUD[p], 5)(NEW),
    "kernel_pca, weighted": lambda p: kernel_pca(G, CLOUD[p], 5, weights=W[p])(NEW),
    "kernel_pca, on a grid": lambda p: kernel_pca(Gaussian(0.5), GRID[p], 5)(NEW[:, 0]),
    "KernelPCA": lambda p: rn.KernelPCA(n_components=5).fit(CLOUD[p]).transform(NEW),
    "pca_primal": lambda p: pca_primal(CLOUD[p])[1],
    "mercer_expansion": lambda p: rn.mercer_expansion(G, rn.empirical(CLOUD[p]), 5).eigenfunctions(NEW),
    "mercer_expansion, on a grid":
        lambda p: rn.mercer_expansion(Gaussian(0.5), rn.empirical(GRID[p]), 5).eigenfunctions(NEW[:, 0]),
    "kernel_cca": lambda p: rn.kernel_cca(G, G, CLOUD[p], BESIDE[p], 0.1, n=3).transform_x(NEW),
    "kernel_cca, the other side":
        lambda p: rn.kernel_cca(G, G, CLOUD[p], BESIDE[p], 0.1, n=3).transform_y(NEW[:, :2]),
    "coupled_embedding":
        lambda p: rn.coupled_embedding(G, G, CLOUD[p], BESIDE[p], n_components=3).transform_low(NEW),
    "finite_feature_map": lambda p: rn.finite_feature_map(G(CLOUD)[np.ix_(p, p)])[np.argsort(p), :5],
    "StreamingMeans.components":
        lambda p: rn.StreamingMeans(rn.fourier_features(G, 3, 30, rng=0)).update(CLOUD[p]).components(4)(NEW),
}  # fmt: skip


@pytest.mark.parametrize("name", AXES)
def test_no_order_of_the_points_turns_an_axis(name):
    first = AXES[name](np.arange(60))
    for seed in range(8):
        found = AXES[name](np.random.default_rng(seed).permutation(60))
        np.testing.assert_allclose(found, first, atol=2e-4 * np.abs(first).max())


@pytest.mark.parametrize("seed", range(5))
def test_weights_and_repetitions_turn_axes_alike(seed):
    X = np.random.default_rng(seed).normal(size=(60, 3))
    weighted, repeated = (
        kernel_pca(G, X, 5, weights=W),
        kernel_pca(G, np.repeat(X, W.astype(int), axis=0), 5),
    )
    np.testing.assert_allclose(weighted(NEW), repeated(NEW), atol=1e-8)


def test_components_of_the_linear_kernel_have_the_signs_of_principal_components():
    np.testing.assert_allclose(
        kernel_pca(Linear(), CLOUD, 3).scores, pca_primal(CLOUD)[0], atol=1e-10
    )
