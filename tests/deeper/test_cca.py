"""Two views: canonical correlations, dependence and unmixing, each against another route."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.linalg
from sklearn.decomposition import FastICA

from rkhs_notes import settings
from rkhs_notes.base.errors import ConvergenceFailure, IndefiniteKernel, LawBroken
from rkhs_notes.deeper.zoo import Delta, Laplace, Precomputed
from rkhs_notes.engines.solving.correlations import check_kernel_cca, kernel_cca
from rkhs_notes.engines.solving.unmixing import (
    _best_angle,
    _whitened,
    amari_distance,
    kernel_generalized_variance,
    kernel_ica,
    kernel_mutual_information,
)
from rkhs_notes.engines.testing.smoothers import smoother
from rkhs_notes.kernels import Brownian, Gaussian, Linear, Polynomial, Sigmoid
from rkhs_notes.kpca import center, kernel_pca
from rkhs_notes.rkhs import RKHSFunction
from shared import KERNELS, X, Y, n


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


def test_single_precision_is_in_the_error_of_a_smoother():
    k, A, centring = Gaussian(1.0), X.astype("f4"), np.eye(n) - 1 / n
    found = smoother(k, k.points(A), 0.01, "X")
    K = centring @ k(A.astype(float)) @ centring
    exact = K @ np.linalg.inv(K + 0.01 * np.eye(n))
    off = np.linalg.norm((found.left * found.gain**2) @ found.left.T - exact, 2)
    assert 1e-7 < off <= found.error < 1
    with pytest.raises(ValueError, match="reg = 1e-06: .* the rounding of the Gram matrix of X"):
        kernel_cca(k, k, A, Y.astype("f4"), reg=1e-6)


def test_polynomial_kernels_give_classical_cca_of_the_features():
    kx, ky = Polynomial(2), Polynomial(2)
    features = [k.feature_map(A.shape[1])(A) for k, A in ((kx, X), (ky, Y))]
    features = [A[:, A.std(axis=0) > 1e-12] for A in features]
    cca = kernel_cca(kx, ky, X, Y, reg=1e-8, n=5)
    np.testing.assert_allclose(cca.correlations, classical(*features)[:5], atol=1e-7)


@pytest.mark.second_route("KernelCorrelations", "kernel_cca", "SciPy's generalized eigenvalues")
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


def lost(f, P):
    "The trace of what the points of f leave of the kernel at P"
    return np.trace(f.k(P) - f.k(P, f.Z) @ np.linalg.solve(f.k(f.Z), f.k(f.Z, P)))


def test_a_low_rank_is_within_its_bound():
    for k, most in ((Laplace(2), 11.0), (Gaussian(1.5), 0.1)):
        whole = kernel_cca(k, k, X, Y, 5.0, 2)
        for rank, pivots in [(60, "greedy"), (60, "random"), (30, "greedy")]:
            part = kernel_cca(k, k, X, Y, 5.0, 2, rank=rank, pivots=pivots)
            left = (lost(part.function_x, X) + lost(part.function_y, Y)) / 5.0
            assert part.error == pytest.approx(left, rel=1e-6) and part.error < most
            assert np.abs(part.correlations - whole.correlations).max() <= part.error
            assert len(part.function_x.Z) == rank


def test_the_errors_of_both_factors_count():
    "One kernel has an exact factor of two columns, the other one lost some: on either side"
    k = Gaussian(1.5)
    whole = kernel_cca(Linear(), k, X, Y, 5.0)
    for swap in (False, True):
        given = (k, Linear(), Y, X) if swap else (Linear(), k, X, Y)
        part = kernel_cca(*given, 5.0, rank=30, pivots="greedy")
        off = np.abs(part.correlations - whole.correlations).max()
        assert 1e-5 < off <= part.error < 0.1


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


@pytest.mark.second_route(
    "kernel_generalized_variance",
    "kernel_mutual_information",
    "SciPy's square roots and a determinant",
)
@pytest.mark.parametrize("reg", [0.1, 10.0])
def test_the_determinant_ratio(reg):
    sides = [X[:, 0], X[:, 1], Y[:, 0]]
    Ks = [center(Gaussian(1.0)(A)) for A in sides]
    smoothers = [scipy.linalg.solve(K + reg * np.eye(n), K, assume_a="sym") for K in Ks]
    roots = [scipy.linalg.sqrtm((R + R.T) / 2).real for R in smoothers]
    joint = np.block(
        [[np.eye(n) if i == j else roots[i] @ roots[j] for j in range(3)] for i in range(3)]
    )
    value = kernel_mutual_information(Gaussian(1.0), sides, reg)
    np.testing.assert_allclose(value, -np.linalg.slogdet(joint)[1] / 2, rtol=1e-4)
    np.testing.assert_allclose(
        kernel_generalized_variance([Gaussian(1.0)] * 3, sides, reg), np.exp(-2 * value)
    )


def test_samples_that_determine_each_other():
    for reg in (1.0, 1e-3, 1e-9):
        same = kernel_mutual_information(Gaussian(1.0), [X[:, 0]] * 3, reg)
        assert np.isfinite(same) and same > kernel_mutual_information(
            Gaussian(1.0), [X[:, 0], X[:, 1]], reg
        )


# independent components
@pytest.mark.second_route(
    "IndependentSources", "kernel_ica", "scikit-learn's FastICA and the true sources"
)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("m", [2, 3])
def test_sources_come_back(seed, m):
    draw = np.random.default_rng(seed)
    S = np.c_[draw.uniform(size=600), draw.laplace(size=600), draw.exponential(size=600)][:, :m]
    A = draw.normal(size=(m, m))
    found = kernel_ica(S @ A.T + 1e3)
    rival = amari_distance(FastICA(random_state=0).fit(S @ A.T).components_, A)
    assert amari_distance(found.unmixing, A) < max(0.08, 1.5 * rival)
    np.testing.assert_allclose(
        np.cov(found.transform(S @ A.T + 1e3).T, bias=True), np.eye(m), atol=1e-8
    )


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
        np.testing.assert_allclose(
            again.unmixing, plain.unmixing, atol=1e-6 * np.abs(plain.unmixing).max()
        )


def test_units_and_missing_directions_of_mixtures():
    draw = np.random.default_rng(1)
    S = draw.uniform(size=(500, 2))
    A = np.array([[1.0, 0.5], [0.3, 1.0], [1.0, 1.0]])
    plain = kernel_ica(S @ A[:2].T)
    scaled = kernel_ica(S @ A[:2].T * [1e8, 1e-8] + [1e9, 0])
    assert amari_distance(scaled.unmixing * [1e8, 1e-8], A[:2]) < 0.05
    assert amari_distance(kernel_ica(S @ A.T, n_sources=2).unmixing, A) < 0.05
    with pytest.raises(ValueError, match="too few for n_sources = 3. Pass at most 2"):
        kernel_ica(S @ A.T)
    again = pickle.loads(pickle.dumps(plain))
    np.testing.assert_array_equal(again.unmixing, kernel_ica(S @ A[:2].T).unmixing)


def of_angle(f):
    "A dependence that is f of the angle by which (1, 0), (0, 1) were turned"
    return lambda a, b: f(np.arctan2(a[1], a[0]))


E1, E2 = np.eye(2)


@pytest.mark.parametrize("best", [0.3, -0.7, np.pi / 4 - 0.01, 0.01 - np.pi / 4])
def test_the_best_angle_has_no_better_name(best):
    "Turns by a quarter only exchange the sources: one of them lies in [−π/4, π/4)"
    angle, spread = _best_angle(of_angle(lambda t: 1 - np.cos(4 * (t - best))), E1, E2, 1e-6)
    assert angle == pytest.approx(best, abs=1e-5) and 1 < spread <= 2


def test_where_no_turn_is_better_none_is_made():
    assert _best_angle(of_angle(lambda t: 0.0), E1, E2, 1e-3) == (0.0, 0.0)
    assert _best_angle(of_angle(lambda t: 1.0), E1, E2, 1e-3) == (0.0, 0.0)


def test_whitened_mixtures_have_covariance_1_and_say_how():
    mixed = (
        np.random.default_rng(0).normal(size=(50, 3)) @ [[1, 2, 0], [0, 1e-6, 1], [3, 0, 1e6]] + 7
    )
    Z, W, mean = _whitened(mixed, 2)
    np.testing.assert_allclose(Z.T @ Z / 50, np.eye(2), atol=1e-12)
    np.testing.assert_allclose((mixed - mean) @ W.T, Z, atol=1e-8)


def test_a_column_that_changes_by_rounding_only_is_no_direction():
    rng = np.random.default_rng(0)
    noise = np.where(rng.random(60) < 0.5, 0.3, 0.1 + 0.2)
    mixed = np.c_[rng.uniform(size=(60, 2)), noise]
    assert len(set(noise)) == 2 and _whitened(mixed, 2)[1].shape == (2, 3)
    with pytest.raises(ValueError, match="Pass at most 2"):
        _whitened(mixed, 3)


def test_a_kernel_that_sees_rounding_only_sees_nothing():
    for bandwidth in (300.0, 500.0, 1000.0):  # spreads of 6e-14, 3e-15 and 1e-16 nats
        with pytest.raises(ValueError, match="sees nothing"):
            kernel_ica(np.random.default_rng(0).uniform(size=(50, 2)), k=Gaussian(bandwidth))


@pytest.mark.second_route("amari_distance", "known numbers")
def test_amari():
    A = np.random.default_rng(0).normal(size=(3, 3))
    assert amari_distance(np.diag([2.0, -1, 5])[[2, 0, 1]] @ np.linalg.inv(A), A) < 1e-12
    assert np.isclose(amari_distance(np.ones((3, 3)), np.eye(3)), 1)


BAD = {
    "ica tiny": (lambda: kernel_ica(1e-310 * X), ValueError, "rescale X"),
    "reg 0": (lambda: kernel_cca(Linear(), Linear(), X, Y, 0), ValueError, "reg"),
    "reg tiny": (
        lambda: kernel_cca(Gaussian(1), Gaussian(1), X, Y, 1e-14),
        ValueError,
        "rounding of the Gram matrix",
    ),
    "far from 0": (
        lambda: kernel_cca(Linear().normalized(), Linear(), X + 1e9, Y, 1.0),
        ValueError,
        "take their mean away",
    ),
    "ica reg": (lambda: kernel_ica(X, reg=1e-30), ValueError, "is usual for"),
    "ica gaussian": (lambda: kernel_ica(X, max_sweeps=1, tol=1e-9), ConvergenceFailure, "sweep"),
    "reg text": (lambda: kernel_cca(Linear(), Linear(), X, Y, "a"), TypeError, "reg"),
    "pairs": (
        lambda: kernel_cca(Linear(), Linear(), X, Y[:-1], 1.0),
        ValueError,
        "one row of Y for each",
    ),
    "too many": (
        lambda: kernel_cca(Linear(), Linear(), X, Y, 1.0, n=3),
        ValueError,
        "too few for n = 3",
    ),
    "constant": (
        lambda: kernel_cca(Linear(), Linear(), 0 * X + 5, Y, 1.0),
        ValueError,
        "features of X span 0",
    ),
    "one point": (
        lambda: kernel_cca(Linear(), Linear(), [1.0], [2.0], 1.0),
        ValueError,
        "features of X span 0",
    ),
    "indefinite": (
        lambda: kernel_cca(Linear(), Sigmoid(1, -1), X, Y, 1.0),
        IndefiniteKernel,
        "cᵀKc",
    ),
    "no kernel": (lambda: kernel_cca(np.dot, Linear(), X, Y, 1.0), TypeError, "not a Kernel"),
    "nan": (
        lambda: kernel_cca(Linear(), Linear(), X * np.nan, Y, 1.0),
        ValueError,
        "X is not finite",
    ),
    "domain": (
        lambda: kernel_cca(Linear(), Brownian(), X, -np.abs(Y[:, 0]), 1.0),
        ValueError,
        "outside",
    ),
    "no kernel for kmi": (
        lambda: kernel_mutual_information(None, [X, Y], 1.0),
        TypeError,
        "not a Kernel",
    ),
    "ica linear": (lambda: kernel_ica(X, k=Linear()), ValueError, "only correlations"),
    "ica delta": (lambda: kernel_ica(X, k=Delta()), ValueError, "sees nothing"),
    "ica overflow": (
        lambda: kernel_ica(1e308 * np.sign(X)),
        ValueError,
        "overflows float64; rescale X",
    ),
    "one sample": (
        lambda: kernel_mutual_information(Linear(), [X], 1.0),
        ValueError,
        "two or more",
    ),
    "kernels": (
        lambda: kernel_mutual_information([Linear()] * 3, [X, Y], 1.0),
        ValueError,
        "number of kernels.* = 3",
    ),
    "an array": (lambda: kernel_generalized_variance(Linear(), X, 1.0), ValueError, "list"),
    "ica columns": (lambda: kernel_ica(X, 3), ValueError, "too few for n_sources = 3"),
    "ica constant": (lambda: kernel_ica(np.ones((9, 2))), ValueError, "All points coincide"),
    "ica one": (lambda: kernel_ica(np.ones((1, 2))), ValueError, "All points coincide"),
    "ica nan": (lambda: kernel_ica(X * np.nan), ValueError, "not finite"),
    "ica new": (
        lambda: kernel_ica(X).transform(Y),
        ValueError,
        r"X has shape \(120, 3\); pass \(n, 2\)",
    ),
    "amari": (lambda: amari_distance(np.eye(2), np.eye(3)), ValueError, "must agree"),
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
    k = Bigrams()
    G = Precomputed(k(A + B))
    ours, theirs = kernel_pca(k, A, 3), kernel_pca(G, np.arange(24), 3)
    np.testing.assert_allclose(ours.transform(B), theirs.transform(np.arange(24, 33)), atol=1e-8)


@pytest.mark.parametrize("use", [lambda k: kernel_pca(k, X),
                                 lambda k: kernel_cca(k, k, X, Y[:, :2], 1.0)])  # fmt: skip
def test_the_function_of_a_kernel_runs_once_for_each_sample(use):
    seen = []
    use(Gaussian(1.0).on(lambda x: seen.append(len(x)) or x**2))
    assert len(seen) <= 2 and set(seen) == {n}


def test_errors_of_both_sides_add_up():
    def error(kx, ky):
        return kernel_cca(kx, ky, X, Y, 5.0, 1, rank=30, pivots="greedy").error

    of_x, of_y = error(Laplace(2), Linear()), error(Linear(), Laplace(1))
    assert min(of_x, of_y) > 0.01 and error(Laplace(2), Laplace(1)) == pytest.approx(of_x + of_y)


@pytest.mark.second_route("check_kernel_cca", "near misses refused")
def test_near_misses_of_cca():
    "Each law refuses three times its tolerance, and lets a tenth of it pass"
    cca, tol = kernel_cca(Gaussian(1), Gaussian(1), X, Y, 1.0, 2), 1e-6
    share = cca.reg * max((f @ f).diagonal().max() for f in (cca.function_x, cca.function_y))

    def mutants(e):
        return {
            "mean over the sample": replace(cca, offset_y=cca.offset_y + e),
            "reg scaled": replace(cca, reg=cca.reg * (1 + e / share)),
            "correlations": replace(cca, correlations=cca.correlations - [e, 0]),
        }

    for words, mutant in mutants(3 * tol).items():
        with pytest.raises(LawBroken, match=words):
            check_kernel_cca(mutant, X, Y)
    for mutant in mutants(tol / 10).values():
        check_kernel_cca(mutant, X, Y)


def some_pairs(cca, turn_x, turn_y):
    "The pairs of functions of cca, combined by two matrices (m, r)"
    f, g = (
        RKHSFunction(f.k, f.Z, f.alpha @ turn)
        for f, turn in ((cca.function_x, turn_x), (cca.function_y, turn_y))
    )
    return replace(
        cca,
        correlations=cca.correlations @ turn_y,
        function_x=f,
        function_y=g,
        offset_x=cca.offset_x @ turn_x,
        offset_y=cca.offset_y @ turn_y,
    )


def test_a_near_miss_of_the_eigenproblem():
    "The first function of x, turned by an angle towards the third: orthonormal still"
    cca = kernel_cca(Gaussian(1), Gaussian(1), X, Y, 1.0, 3)
    u = np.abs(cca.transform_x(X))
    unit = 1e-6 * u[:, :2].max() / (cca.correlations[0] * u[:, 2].max())
    for by, refused in ((3, True), (-3, True), (1 / 3, False)):
        turn = np.eye(3)[:, :2]
        turn[[0, 2], 0] = np.cos(by * unit), np.sin(by * unit)
        other = some_pairs(cca, turn, np.eye(3)[:, :2])
        if refused:
            with pytest.raises(LawBroken, match="ρ times that of x"):
                check_kernel_cca(other, X, Y)
        else:
            check_kernel_cca(other, X, Y)


def test_a_near_miss_of_the_largest_correlations():
    "The second pair left out for the third, whose squared correlation is smaller by three tolerances"
    Q = np.linalg.qr(np.c_[np.ones(30), np.random.default_rng(1).normal(size=(30, 6))])[0][:, 1:]
    for by, refused in ((3e-6, True), (3e-7, False)):
        c = np.sqrt([0.8, 0.5, 0.5 - by * 1.01**2])
        A, B = 10 * Q[:, :3], 10 * (Q[:, :3] * c + Q[:, 3:] * np.sqrt(1 - c**2))
        cca = kernel_cca(Linear(), Linear(), A, B, 1.0, 3, tol=1e-12)
        other = some_pairs(cca, np.eye(3)[:, [0, 2]], np.eye(3)[:, [0, 2]])
        if refused:
            with pytest.raises(LawBroken, match="left out"):
                check_kernel_cca(other, A, B)
        else:
            check_kernel_cca(other, A, B)


def test_a_seed_left_out_is_that_of_the_settings():
    both = Gaussian(1), Gaussian(1)
    plain, seeded = (kernel_cca(*both, X, Y, 2.0, rank=20, rng=r) for r in (None, settings.seed))
    np.testing.assert_array_equal(plain.function_x.Z, seeded.function_x.Z)
    greedy = kernel_cca(*both, X, Y, 2.0, rank=20, pivots="greedy")
    assert (greedy.function_x.Z != plain.function_x.Z).any()


def test_named_columns_are_unmixed_in_order():
    S = np.random.default_rng(8).laplace(size=(120, 2)) @ [[1.0, 0.4], [0.0, 2.0]]
    D = pd.DataFrame(S, columns=["a", "b"])
    for found in (f := kernel_ica(D), pickle.loads(pickle.dumps(f))):
        expected = (S - found.mean) @ found.unmixing.T
        for frame in (D, D[["b", "a"]], D.assign(c=1.0)):
            np.testing.assert_allclose(found.transform(frame), expected, rtol=1e-12)
        np.testing.assert_allclose(found.transform(S), expected, rtol=1e-12)
        with pytest.raises(ValueError, match="X has no column 'b'; it has a"):
            found.transform(D[["a"]])


@pytest.mark.parametrize("bandwidth", [0.01, 0.3])
def test_the_dependence_of_a_narrow_kernel_is_told_and_exact(bandwidth):
    "100 functions miss most of k = Gaussian(0.01): by the whole Gram matrices, pair by pair"
    S = np.random.default_rng(3).uniform(-1, 1, (150, 3)) @ [[1, 0.4, 0], [0, 2, 1], [1, 0, 1]]
    k = Gaussian(bandwidth)
    if bandwidth < 0.1:
        with pytest.warns(RuntimeWarning, match=r"functions .* miss \d\d % of k\(z, z\)"):
            found = kernel_ica(S, k=k)
    else:
        found = kernel_ica(S, k=k)
    Z = found.transform(S)
    pairs = [[Z[:, i], Z[:, j]] for i, j in ((0, 1), (0, 2), (1, 2))]
    whole = sum(kernel_mutual_information(k, pair, reg=1.5) for pair in pairs)
    assert found.dependence == pytest.approx(whole, rel=1e-4)


@pytest.mark.parametrize("reg", [1e3, 1e6, 1e12])
def test_a_huge_penalty_leaves_small_correlations_that_are_right(reg):
    "They tend to the singular values of (K̃ + reg I)^{−½} K̃½ L̃½ (L̃ + reg I)^{−½}; no law is lost"
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 2))
    Y = np.c_[X[:, 0] ** 2, rng.normal(size=40)]
    found = kernel_cca(Gaussian(1), Gaussian(1), X, Y, reg, n=2)
    roots = []
    for A in (X, Y):
        w, V = np.linalg.eigh(center(Gaussian(1)(A)))
        w = np.maximum(w, 0)
        roots.append(V * np.sqrt(w / (w + reg)) @ V.T)
    truth = np.linalg.svd(roots[0] @ roots[1])[1][:2]
    np.testing.assert_allclose(found.correlations, truth, rtol=1e-6)
    check_kernel_cca(found, X, Y)
    for factor in (0.0, 1.1):
        other = replace(found, correlations=factor * found.correlations)
        with pytest.raises(LawBroken):
            check_kernel_cca(other, X, Y)
