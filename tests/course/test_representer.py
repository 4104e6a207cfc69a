"""Chapter 05 beyond its notebook: solvers against those of others, certificates, refits, bad input."""

import pickle
import warnings
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import special
from scipy.interpolate import CubicSpline, make_smoothing_spline
from scipy.optimize import brentq, minimize, minimize_scalar
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, QuantileRegressor
from sklearn.svm import LinearSVC, LinearSVR

from rkhs_notes import arrays
from rkhs_notes.base import factors
from rkhs_notes.base.datasets import load
from rkhs_notes.base.errors import (
    ConvergenceFailure,
    IndefiniteKernel,
    LawBroken,
    NotPositiveDefinite,
)
from rkhs_notes.base.factors import psd_factor, solve_psd
from rkhs_notes.base.words import Vector
from rkhs_notes.deeper.processes import nadaraya_watson
from rkhs_notes.deeper.risks import (
    check_representer,
    minimize_risk,
    regularized_risk,
    semiparametric,
    smoothing_spline,
)
from rkhs_notes.deeper.structured import Spectrum
from rkhs_notes.deeper.variants import logistic_primal
from rkhs_notes.deeper.zoo import (
    Laplace,
    Mahalanobis,
    Matern,
    Periodic,
    Precomputed,
    RationalQuadratic,
    Sobolev,
)
from rkhs_notes.engines.functions import splines
from rkhs_notes.engines.machines import linear_machines
from rkhs_notes.engines.machines.laplace_method import _curvature, _mode, gp_classification
from rkhs_notes.engines.solving import convex, ridge_fits
from rkhs_notes.engines.solving.convex import certificate, lowest, minimize_convex
from rkhs_notes.engines.solving.evidence import fit_hyperparameters, gaussian_process, log_marginal
from rkhs_notes.engines.solving.losses import (
    Loss,
    PiecewiseQuadratic,
    Squared,
    absolute,
    as_loss,
    check_loss,
    epsilon_insensitive,
    hinge,
    huber,
    logistic,
    quantile,
    squared,
    squared_hinge,
)
from rkhs_notes.engines.solving.ridge_fits import ridge, ridge_path
from rkhs_notes.kernels import (
    Bilinear,
    Brownian,
    Constant,
    FiniteRank,
    Gaussian,
    Linear,
    Polynomial,
    Sigmoid,
    median_bandwidth,
)
from rkhs_notes.rkhs import RKHSFunction
from shared import Letters, counted

REGRESSION = [squared, absolute, huber(0.7), quantile(0.2), epsilon_insensitive(0.3)]
CLASSIFICATION = [logistic, hinge, squared_hinge]
LOSSES = REGRESSION + CLASSIFICATION
KERNELS = [
    Gaussian(0.7),
    Linear(),
    Polynomial(3),
    Laplace(1.0),
    Matern(1.5, 1.0),
    Gaussian(50.0),
    Constant(0),
]
by_name = dict(ids=str)


def problem(seed=0, n=40, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.standard_t(2, size=n)
    return X, y, np.where(y + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)


# ------------------------------------------------------------------ any convex loss


@pytest.mark.second_route("regularized_risk", "the optimum that the solver certifies")
@pytest.mark.parametrize("loss", LOSSES, **by_name)
@pytest.mark.parametrize("k", KERNELS, **by_name)
def test_every_loss_meets_the_law(loss, k):
    X, y, sign = problem()
    for lam in (1e-6, 0.1, 1e3):
        found = minimize_risk(k, X, sign if loss.labels else y, loss, lam)
        assert found.gap <= 1e-6 and np.isfinite(found.function.alpha).all()
        if lam == 0.1:
            check_representer(found.function, X, sign if loss.labels else y, lam, loss=loss)
            assert found.primal == pytest.approx(
                regularized_risk(found.function, X, sign if loss.labels else y, lam, loss), abs=1e-6
            )


@pytest.mark.parametrize("loss", LOSSES, **by_name)
def test_conjugates(loss):
    check_loss(loss, [-1.0, 1.0])


@pytest.mark.parametrize("name", ["diabetes", "breast_cancer"])
@pytest.mark.parametrize("factor", [0.1, 1.0, 100.0])
def test_real_data_and_ill_conditioned_grams(name, factor):
    data = load(name)
    X = (data.X - data.X.mean(0)) / data.X.std(0)
    X, y = X[:250], data.y[:250]
    losses, y = (
        ((absolute, quantile(0.9), huber(10.0)), y)
        if name == "diabetes"
        else (CLASSIFICATION, 2.0 * y - 1)
    )
    k = Gaussian(factor * median_bandwidth(X))
    for loss in losses:
        for lam in (1e-6, 1e-2, 1e3):
            found = minimize_risk(k, X, y, loss, lam)
            assert abs(found.primal - found.dual) <= 1e-6 * max(1, abs(found.primal))
            assert found.iterations < 100


def factor_of(K):
    "Phi with K = Phi Phiᵀ"
    eigenvalues, Q = np.linalg.eigh(K)
    return Q * np.sqrt(eigenvalues.clip(0))


@pytest.mark.second_route("RiskSolution", "minimize_risk", "scikit-learn and SciPy")
def test_linear_models_of_scikit_learn():
    "The same objectives, in the coordinates of the feature map"
    X, y, sign = problem(n=80, d=4)
    lam, K = 0.3, Linear()(X)

    def f(loss, target):
        return minimize_risk(Linear(), X, target, loss, lam)(X)

    C, tight = 1 / (2 * lam), dict(fit_intercept=False, max_iter=1_000_000, tol=1e-10)
    peers = {
        logistic: LogisticRegression(C=C, fit_intercept=False, solver="newton-cholesky", tol=1e-12),
        hinge: LinearSVC(C=C, loss="hinge", **tight),
        squared_hinge: LinearSVC(C=C, loss="squared_hinge", **tight),
    }
    for loss, peer in peers.items():
        np.testing.assert_allclose(f(loss, sign), peer.fit(X, sign).decision_function(X), atol=1e-4)
    peer = LinearSVR(C=C, epsilon=0.3, **tight).fit(X, y)
    np.testing.assert_allclose(f(epsilon_insensitive(0.3), y), peer.predict(X), atol=1e-4)
    phi = factor_of(K)[:, -4:]

    def J(w):
        r = np.abs(y - phi @ w)
        return np.sum(np.where(r < 0.7, r**2 / 2, 0.7 * r - 0.245)) + lam * w @ w

    np.testing.assert_allclose(
        minimize_risk(Linear(), X, y, huber(0.7), lam).primal,
        minimize(J, np.zeros(4)).fun,
        rtol=1e-9,
    )


@pytest.mark.parametrize("tau", [0.1, 0.5, 0.9])
def test_quantiles_as_the_penalty_vanishes(tau):
    X, y, _ = problem(n=60, d=2)
    k = Linear() + Constant(1.0)
    peer = QuantileRegressor(quantile=tau, alpha=0.0, solver="highs").fit(X, y)
    ours = minimize_risk(k, X, y, quantile(tau), lam=1e-7)

    def loss(values):
        return quantile(tau)(y, values).sum()

    assert loss(ours(X)) == pytest.approx(loss(peer.predict(X)), abs=1e-5)
    assert abs(np.mean(y <= ours(X) + 1e-9) - tau) < 4 / 60


def test_optimality_of_the_support_vector_machine():
    "The conditions of Karush, Kuhn and Tucker for min ½ tᵀ(yᵢ K̃ yⱼ)t − Σ t on a box, t = −y u"
    X, _, sign = problem(n=30)
    lam, K = 0.2, Gaussian(0.7)(X)
    found = minimize_convex(K, sign, hinge, lam)
    t = -found.u * sign
    assert t.min() >= 0 and t.max() <= 1
    gradient = (sign[:, None] * K * sign) @ t / (2 * lam) - 1
    assert (
        np.abs(
            np.where(
                t == 0, np.minimum(gradient, 0), np.where(t == 1, np.maximum(gradient, 0), gradient)
            )
        ).max()
        < 1e-5
    )


@pytest.mark.parametrize("loss", LOSSES, **by_name)
@pytest.mark.parametrize("kind", ["u1", "i1", "u2", bool])
def test_losses_of_whole_numbers_are_those_of_floats(loss, kind):
    "8 bits hold neither 10 − 200 nor 100 · 100, nor −1 where they have no sign"
    loss, top = as_loss(loss), np.array([1, 120, 200, 300]).astype(kind)
    for y, f in ((top, top[::-1]), (top[:1].repeat(4), top)):
        floats = y.astype(float), f.astype(float)
        for part in (loss, loss.conjugate, *_slopes(loss)):
            assert np.array_equal(part(y, f), part(*floats))
    if isinstance(loss, PiecewiseQuadratic):
        np.testing.assert_array_equal(loss.interval(top), loss.interval(top.astype(float)))


def _slopes(loss):
    return () if isinstance(loss, PiecewiseQuadratic) else (loss.derivative, loss.curvature)


def test_losses_of_bytes_by_hand():
    a, b = np.array([200, 10], "u1"), np.array([10, 200], "u1")
    assert huber()(a, b).tolist() == huber()(a, f=b).tolist() == [189.5, 189.5]
    assert quantile(0.5)(a, b).tolist() == [95, 95] and absolute(a, b).tolist() == [190, 190]
    assert squared(np.array([100], "i1"), np.array([-100], "i1")).tolist() == [40_000]
    assert logistic.derivative(np.array([1], "u1"), np.array([0], "u1")).tolist() == [-0.5]
    assert squared(np.float32([3]), np.float32([1])).dtype == np.float32

    class Own(Squared):
        def __call__(self, y, f):
            return (f - y) ** 2

    assert Own()(a, b).tolist() == [36_100, 36_100]


def test_a_loss_of_ones_own():
    class Poisson(Loss):
        "exp(f) − y f, y ≥ 0 a count"

        def __call__(self, y, f):
            return np.exp(f) - y * f

        def derivative(self, y, f):
            return np.exp(f) - y

        def curvature(self, y, f):
            return np.exp(f)

        def conjugate(self, y, u):
            t = u + y
            return np.where(
                t < 0, np.inf, np.where(t > 0, t * np.log(np.where(t > 0, t, 1)) - t, 0.0)
            )

    X, _, _ = problem()
    counts = np.random.default_rng(1).poisson(np.exp(1 + np.sin(X[:, 0])))
    check_loss(Poisson(), [0.0, 3.0])
    found = minimize_risk(Gaussian(1.0), X, counts, Poisson(), lam=0.5)
    assert found.gap < 1e-9
    K = Gaussian(1.0)(X)

    def J(a):
        return np.sum(np.exp(K @ a) - counts * (K @ a)) + 0.5 * a @ K @ a

    steps = np.random.default_rng(2).normal(size=(20, len(X))) * 1e-3
    assert all(J(found.function.alpha + h) >= found.primal for h in steps)
    with pytest.raises(LawBroken):
        Poisson.conjugate = lambda self, y, u: (u + y) ** 2
        check_loss(Poisson(), [0.0, 3.0])


@pytest.mark.parametrize("seed", range(10))
def test_odd_problems(seed):
    "Repeated points with different targets, constant targets, one point, huge and tiny targets"
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.normal(size=(5, 2)), 3, axis=0)
    for y in (
        rng.normal(size=15),
        np.ones(15),
        1e6 * rng.normal(size=15),
        1e-9 * rng.normal(size=15),
    ):
        for loss in REGRESSION:
            for lam in (1e-4, 1.0):
                assert minimize_risk(Gaussian(1.0), X, y, loss, lam).gap <= 1e-6
    sign = np.where(rng.normal(size=15) > 0, 1, -1)
    for loss in CLASSIFICATION:
        assert minimize_risk(Gaussian(1.0), X, sign, loss, 1e-3).gap <= 1e-6
        one = minimize_risk(Gaussian(1.0), X[:1], [1], loss, 1.0)
        assert one.gap <= 1e-6 and one(X[:1])[0] > 0
    assert minimize_risk(Gaussian(1.0), X.astype(np.float32), sign, "hinge", 0.1).gap <= 1e-6


def test_medians_by_hand():
    "One point far from all others for each target: f(x) = y or a bound of the dual"
    X = 100.0 * np.arange(4)
    y = np.array([0.2, -3.0, 5.0, 0.0])
    found = minimize_risk(Gaussian(1.0), X, y, "absolute", lam=1.0)
    np.testing.assert_allclose(found(X), np.clip(y, -0.5, 0.5), atol=1e-6)  # soft at 1 / (2 lam)
    tube = minimize_risk(Gaussian(1.0), X, y, epsilon_insensitive(0.1), lam=1.0)
    np.testing.assert_allclose(tube(X), np.sign(y) * np.clip(np.abs(y) - 0.1, 0, 0.5), atol=1e-6)
    np.testing.assert_allclose(
        minimize_risk(Gaussian(1.0), X, y, quantile(0.9), 1.0)(X),
        np.clip(y, -0.05, 0.45),
        atol=1e-6,
    )


# ------------------------------------------------------------------ ridge


@pytest.mark.parametrize("offset", [False, True])
@pytest.mark.parametrize("targets", [1, 3])
def test_weights_are_repetitions(offset, targets):
    X, y, _ = problem()
    y = np.column_stack([y, y**2, X[:, 0]])[:, :targets]
    y = y[:, 0] if targets == 1 else y
    w = np.random.default_rng(0).integers(0, 4, len(X))
    ours = ridge(Gaussian(1.0), X, y, 0.1, offset=offset, weights=w)
    repeated = ridge(Gaussian(1.0), np.repeat(X, w, 0), np.repeat(y, w, 0), 0.1, offset=offset)
    np.testing.assert_allclose(ours(X), repeated(X), atol=1e-10)
    assert np.shape(ours(X)) == np.shape(y)
    if not offset:
        peer = KernelRidge(kernel="rbf", gamma=0.5, alpha=0.1).fit(X, y, sample_weight=w)
        np.testing.assert_allclose(ours(X), peer.predict(X), atol=1e-9)


def test_an_offset_moves_with_the_targets():
    X, y, _ = problem()
    for lam in (1e-3, 1.0, 1e6):
        a, b = (ridge(Gaussian(1.0), X, y + c, lam, offset=True) for c in (0, 1e6))
        np.testing.assert_allclose(b(X) - 1e6, a(X), atol=1e-8)
        assert a.function.alpha.sum() == pytest.approx(0, abs=1e-9)
    assert a.offset == pytest.approx(y.mean(), abs=1e-4)


@pytest.mark.parametrize("offset", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [Gaussian(1.0), Linear() + 3.0 * Laplace(2.0)], **by_name)
def test_one_lam_a_target_is_each_column_with_its_own(k, weighted, offset):
    X, y, _ = problem(n=25)
    Y, lams = np.column_stack([y, 100 + X[:, 0], y**2]), [1e-3, 2.0, 50.0]
    w = np.random.default_rng(1).integers(0, 4, 25) * 1.0 if weighted else None
    together = ridge(k, X, Y, lams, offset, w)
    for j, lam in enumerate(lams):
        alone = ridge(k, X, Y[:, j], lam, offset, w)
        size = np.abs(Y[:, j]).max()
        np.testing.assert_allclose(together(X)[:, j], alone(X), atol=1e-8 * size)
        if offset:
            assert together.offset[j] == pytest.approx(alone.offset, abs=1e-8 * size)
    assert np.ptp(together(X)[:, 1]) > 1.2 * np.ptp(ridge(k, X, Y[:, 1], 200.0, offset, w)(X))


def test_one_lam_a_target_takes_one_eigendecomposition(monkeypatch):
    X, y, _ = problem(n=25)
    Y, calls = np.column_stack([y] * 5), []
    eigh = ridge_fits.eigenpairs
    monkeypatch.setattr(ridge_fits, "eigenpairs", lambda *a, **b: calls.append(1) or eigh(*a, **b))
    f = ridge(Gaussian(1.0), X, Y, np.geomspace(0.01, 10, 5))
    assert len(calls) == 1 and (np.diff(f.norm()) < 0).all()  # a larger lam, a shorter f
    single = ridge(Gaussian(1.0), X.astype("f"), Y.astype("f"), [0.1] * 5)
    assert single.alpha.dtype == np.float32
    one = ridge(Gaussian(1.0), X[:1], Y[:1], [0.1] * 5, offset=True)  # nothing is left out here
    np.testing.assert_allclose(one(X[:1]), Y[:1])
    w = np.eye(25)[3]  # all the weight on one of them
    heavy = ridge(Gaussian(1.0), X, Y, [0.1] * 5, weights=w)(X)
    np.testing.assert_allclose(heavy, ridge(Gaussian(1.0), X, Y, 0.1, weights=w)(X), atol=1e-9)
    for lam, words in (
        ([1.0, 2.0], "lam holds 2 numbers, and y has shape"),
        ([1.0] * 4 + [0.0], "lam holds 0; pass numbers > 0"),
        ([1e-30] * 5, "below the rounding"),
    ):
        with pytest.raises(ValueError, match=words):
            ridge(Gaussian(1.0), X, Y, lam)
    with pytest.raises(ValueError, match="one a column of y"):
        ridge(Gaussian(1.0), X, y, [1.0])


@pytest.mark.second_route("RidgePath", "ridge_path", "refits without each point")
@pytest.mark.parametrize("offset", [False, True])
@pytest.mark.parametrize("k", [Gaussian(1.0), Linear(), Polynomial(2)], **by_name)
def test_paths_are_refits(offset, k):
    X, y, _ = problem(n=15)
    y = np.column_stack([y, 100 + X[:, 0]])
    path = ridge_path(k, X, y, [1e-3, 1.0, 100.0], offset=offset)
    for lam, loo in zip(path.lams, path.loo, strict=True):
        residuals = [
            y[i] - ridge(k, np.delete(X, i, 0), np.delete(y, i, 0), lam, offset)(X[i : i + 1])[0]
            for i in range(15)
        ]
        assert loo == pytest.approx(np.mean(np.square(residuals)), rel=1e-6)
        np.testing.assert_allclose(
            path.function(lam)(X), ridge(k, X, y, lam, offset)(X), atol=1e-7 * np.abs(y).max()
        )


def test_the_range_of_lams_has_the_unit_of_the_kernel():
    X, y, _ = problem()
    plain, large = (ridge_path(c * Gaussian(1.0), X, y) for c in (1.0, 1e6))
    np.testing.assert_allclose(large.lams, 1e6 * plain.lams)
    np.testing.assert_allclose(large.loo, plain.loo, rtol=1e-6)


@pytest.mark.parametrize("t", [1, 3])
def test_gcv_is_by_its_definition(t):
    "The mean square of (y − Sy) / (tr(I − S) / n), with S = K (K + lam I)⁻¹, over all targets"
    rng = np.random.default_rng(0)
    X, y, k = rng.normal(size=(20, 2)), rng.normal(size=(20, t)), Gaussian(1.0)
    path = ridge_path(k, X, y if t > 1 else y[:, 0], [0.01, 1.0])
    for lam, gcv in zip(path.lams, path.gcv, strict=True):
        left = np.eye(20) - k(X) @ np.linalg.inv(k(X) + lam * np.eye(20))
        assert gcv == pytest.approx(np.mean((left @ y) ** 2) / (np.trace(left) / 20) ** 2, rel=1e-7)


@pytest.mark.second_route("Precomputed", "scikit-learn")
def test_precomputed_gram():
    X, y, _ = problem()
    K = Gaussian(1.0)(X)
    ours = ridge(Precomputed(K), np.arange(30), y[:30], 0.1)
    peer = KernelRidge(kernel="precomputed", alpha=0.1).fit(K[:30, :30], y[:30])
    np.testing.assert_allclose(ours(np.arange(30, 40)), peer.predict(K[30:, :30]), rtol=1e-9)
    path = ridge_path(Precomputed(K), np.arange(30), y[:30], [0.1])
    np.testing.assert_allclose(path.function()(np.arange(40)), ours(np.arange(40)), rtol=1e-8)


def test_factorisation_in_panels(monkeypatch):
    "What happens above 12 000 rows, at 300"
    rng = np.random.default_rng(0)
    A = rng.normal(size=(300, 300))
    A, b = A @ A.T + np.eye(300), rng.normal(size=(300, 2))
    plain = solve_psd(A, b)
    monkeypatch.setattr(factors, "_LARGEST_POTRF", 0)
    monkeypatch.setattr(factors._panel_cholesky, "__defaults__", (64,))
    np.testing.assert_allclose(solve_psd(A, b), plain, rtol=1e-9)
    np.testing.assert_allclose(solve_psd(A.copy(), b, overwrite=True), plain, rtol=1e-9)
    single = solve_psd(A.astype(np.float32), b.astype(np.float32))
    assert single.dtype == np.float32
    factor, lower = psd_factor(A)
    U = np.triu(factor) if not lower else np.tril(factor).T
    np.testing.assert_allclose(U.T @ U, A, atol=1e-9)
    X, y, _ = problem()
    gp = gaussian_process(Gaussian(1.0), X, y, 0.1)
    monkeypatch.undo()
    other = gaussian_process(Gaussian(1.0), X, y, 0.1)
    np.testing.assert_allclose(gp.var(X), other.var(X), rtol=1e-9)
    assert gp.log_marginal == pytest.approx(other.log_marginal)


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("limit", [0, 12_000])
def test_what_is_not_definite_is_measured(monkeypatch, overwrite, limit):
    monkeypatch.setattr(factors, "_LARGEST_POTRF", limit)
    monkeypatch.setattr(factors._panel_cholesky, "__defaults__", (3,))
    A = np.diag(np.arange(10.0)) + 0.1
    A[7, 7] = -2.0
    low = np.linalg.eigvalsh(A)[0] + 0.5
    with pytest.raises(NotPositiveDefinite, match=f"smallest eigenvalue {low:.2g}"):
        solve_psd(A.copy(), np.ones(10), shift=0.5, overwrite=overwrite)


# ------------------------------------------------------------------ unpenalised parts and splines


@pytest.mark.second_route("NaturalSpline", "smoothing_spline", "SciPy")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [2, 3, 4, 5, 30, 400])
def test_three_roads_to_the_spline(n, weighted):
    rng = np.random.default_rng(n)
    x = np.sort(rng.uniform(0, 1, n))
    y, w = np.sin(6 * x) + 0.1 * rng.normal(size=n), rng.uniform(0.5, 2, n) if weighted else None
    grid = np.linspace(-0.5, 1.5, 60)
    for lam in (1e-6, 1e-3, 1.0):
        ours = smoothing_spline(x, y, lam, weights=w)
        size = np.abs(ours(grid)).max()
        if n >= 5:
            peer = make_smoothing_spline(x, y, w=w, lam=lam)
            digits = (
                1e-8 if n < 400 else 1e-4 * lam**0.5 + 1e-8
            )  # SciPy's, where neighbours nearly touch
            np.testing.assert_allclose(ours(x), peer(x), atol=digits)
        if n <= 30:
            bordered = semiparametric(
                Sobolev(2), x, y, [lambda x: 1.0, lambda x: x], lam, weights=w
            )
            np.testing.assert_allclose(
                ours(grid[grid > 0]), bordered(grid[grid > 0]), atol=1e-6 * size
            )
        assert np.abs(np.diff(ours(np.linspace(2, 3, 5)), 2)).max() < 1e-9 * size


def wave(n, seed=0, noise=0.2):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(0, 10, n))
    return x, np.sin(x) + noise * rng.normal(size=n), rng.uniform(0.5, 2, n)


@pytest.mark.parametrize("n", [3, 4, 7, 8, 40])
def test_scores_of_a_spline_by_a_dense_inverse(n):
    "(5b.1) by eigenvalues: I − S = (I + W^½ Q R⁻¹ Qᵀ W^½ / …)⁻¹ of the whitened problem"
    x, y, w = wave(n)
    h = np.diff(x)
    Qt = np.diff(np.diff(np.eye(n), axis=0) / h[:, None], axis=0)
    R = np.diag((h[:-1] + h[1:]) / 3) + np.diag(h[1:-1] / 6, 1) + np.diag(h[1:-1] / 6, -1)
    rough = (Qt.T @ np.linalg.solve(R, Qt)) / np.sqrt(np.outer(w, w))
    values, U = np.linalg.eigh((rough + rough.T) / 2)
    for lam in (1e-3, 0.1, 10.0):
        kept = lam * values.clip(0) / (1 + lam * values.clip(0))  # of I − S
        rest, own = U @ (kept * (U.T @ (np.sqrt(w) * y))), U**2 @ kept
        scores = splines.left_out(x, y, w, lam)
        assert scores["loo"] == pytest.approx(np.sum((rest / own) ** 2) / w.sum(), rel=1e-6)
        assert scores["gcv"] == pytest.approx(np.sum((rest / own.mean()) ** 2) / w.sum(), rel=1e-6)


@pytest.mark.parametrize("offset", [False, True])
def test_scores_do_not_count_what_weighs_nothing(offset):
    rng = np.random.default_rng(3)
    x, y, w = rng.normal(size=60), rng.normal(size=60), np.repeat([0.0, 2.0], [20, 40])
    lams = np.logspace(-2, 1, 4)
    all_ = ridge_path(Gaussian(1.0), x, y, lams, offset, w)
    few = ridge_path(Gaussian(1.0), x[20:], y[20:], lams, offset, w[20:])
    np.testing.assert_allclose(all_.gcv, few.gcv, rtol=1e-9)
    np.testing.assert_allclose(all_.loo, few.loo, rtol=1e-9)


@pytest.mark.parametrize("by", ["gcv", "loo"])
@pytest.mark.parametrize("ties", [False, True])
def test_the_lam_of_a_spline_is_of_least_score(by, ties):
    x, y, w = wave(120)
    if ties:
        x = np.round(x, 1)
    fit = smoothing_spline(x, y, by, weights=w)
    least = splines.left_out(x, y, w, fit.lam)[by]
    near = [splines.left_out(x, y, w, fit.lam * c)[by] for c in np.geomspace(1e-3, 1e3, 61)]
    assert 0.9999 * least <= min(near) and least <= near[28] and least <= near[32]
    np.testing.assert_array_equal(fit(x), smoothing_spline(x, y, fit.lam, weights=w)(x))
    if by == "loo":  # the score is what refitting gives
        refits = [
            smoothing_spline(*(np.delete(v, i) for v in (x, y)), fit.lam, np.delete(w, i))(x[[i]])[
                0
            ]
            for i in range(len(x))
        ]
        assert least == pytest.approx(np.average((y - refits) ** 2, weights=w), rel=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_gcv_of_a_spline_is_that_of_scipy(seed):
    x, y, _ = wave(150, seed)
    ours, peer = smoothing_spline(x, y, "gcv"), make_smoothing_spline(x, y)

    def apart(log):
        return np.abs(make_smoothing_spline(x, y, lam=np.exp(log))(x) - peer(x)).max()

    near = np.log(ours.lam) + np.array([-2.0, 2.0])  # SciPy keeps its lam for itself
    theirs = np.exp(minimize_scalar(apart, bounds=near, method="bounded").x)
    assert ours.lam == pytest.approx(theirs, rel=0.01)
    np.testing.assert_allclose(ours(x), peer(x), atol=1e-3)
    own, other = (splines.left_out(x, y, np.ones(150), lam)["gcv"] for lam in (ours.lam, theirs))
    assert own <= other * (1 + 1e-9)


def test_the_lam_of_a_spline_through_many_points():
    x, y, _ = wave(10_000)  # where SciPy says "ill-posed"
    fit = smoothing_spline(x, y, "gcv")
    assert np.sqrt(np.mean((fit(x) - np.sin(x)) ** 2)) < 0.02


def test_the_lam_of_a_spline_has_the_units_of_the_data():
    x, y, w = wave(60)
    fit = smoothing_spline(x, y, "gcv")
    moved = smoothing_spline(5 + 1e-3 * x, 1e4 * y, "gcv", weights=np.full(60, 3.0))
    assert moved.lam == pytest.approx(3 * 1e-9 * fit.lam, rel=1e-3)
    np.testing.assert_allclose(moved(5 + 1e-3 * x), 1e4 * fit(x), atol=1.0)
    twice = smoothing_spline(np.r_[x, x], np.r_[y, y], 0.5)
    np.testing.assert_allclose(smoothing_spline(x, y, 0.5, weights=np.full(60, 2.0))(x), twice(x))
    again = pickle.loads(pickle.dumps(fit))
    assert again.lam == fit.lam and smoothing_spline(x, y, 0.5).lam == 0.5
    assert smoothing_spline(x, y, 0.5, loss="absolute").lam == 0.5


@pytest.mark.filterwarnings("ignore:.*that was tried")
@pytest.mark.parametrize("by", ["gcv", "loo"])
@pytest.mark.parametrize("kind", ["in the middle", "least", "largest"])
def test_the_lam_of_a_spline_grows_with_the_cube_of_the_unit(by, kind):
    "Where it is inside and at both edges of what is tried, which the unit moves, too"
    x = np.linspace(0, 1, 40)
    y = {
        "in the middle": np.sin(6 * x) + 0.2 * np.random.default_rng(0).normal(size=40),
        "least": np.exp(x) * np.sin(20 * x),
        "largest": 2 * x + np.where(np.arange(40) % 2, 0.1, -0.1),
    }[kind]
    fit = smoothing_spline(x, y, by)
    for c in (2.0**-20, 2.0**20):
        moved = smoothing_spline(c * x, y, by)
        assert moved.lam == pytest.approx(c**3 * fit.lam, rel=1e-4)  # log lam is sought to 1e-4
        np.testing.assert_allclose(moved(c * x), fit(x), atol=1e-5)


@pytest.mark.parametrize("c", [1.1e-60, 1e-40, 9e59])
def test_a_spline_of_any_unit_up_to_its_limits_is_the_same(c):
    x, y, w = np.array([0.0, 0.2, 0.5, 0.9, 1.0]), [0.0, 1.0, 0.0, 2.0, 1.0], [2, 1, 1, 1, 1]
    fit, beyond = smoothing_spline(x, y, 1e-3), 1e-61 if c < 1 else 1.1e60
    np.testing.assert_allclose(smoothing_spline(c * x, y, 1e-3 * c**3)(c * x), fit(x), atol=1e-14)
    with pytest.raises(ValueError, match="rescale x, or merge"):
        smoothing_spline(beyond * x, y, 1e-3 * beyond**3)
    if c < 1:  # and neighbours as close are one knot of their weights
        near, twice = np.insert(x, 1, c), smoothing_spline(x, y, 1e-3, weights=w)
        np.testing.assert_allclose(smoothing_spline(near, [0, *y], 1e-3)(x), twice(x), atol=1e-14)
        with pytest.raises(ValueError, match="neighbours are 1.0e-61 apart"):
            smoothing_spline(np.insert(x, 1, 1e-61), [0, *y], 1e-3)


def test_a_lam_of_a_spline_at_an_edge_says_so():
    x = np.linspace(0, 1, 40)
    with pytest.warns(UserWarning, match="least that was tried.*no noise"):
        smoothing_spline(x, np.exp(x) * np.sin(20 * x), "gcv")
    noise = np.where(np.arange(40) % 2, 0.1, -0.1)
    with pytest.warns(UserWarning, match="largest that was tried.*noise around a line"):
        line = smoothing_spline(x, 2 * x + noise, "loo")
    np.testing.assert_allclose(line(x), np.polyval(np.polyfit(x, 2 * x + noise, 1), x), atol=1e-3)
    for bad, words in (
        (lambda: smoothing_spline([0, 0, 1], [1, 2, 3], "loo"), "x holds 2 different numbers"),
        (lambda: smoothing_spline(x, x, "gcv", loss="huber"), "lam='gcv' is for the squared loss"),
        (lambda: smoothing_spline(x, x, "aic"), "lam = 'aic'"),
    ):
        with pytest.raises((ValueError, TypeError), match=words):
            bad()


def test_splines_of_any_order_with_ties():
    x = np.array([3.0, 1, 2, 2, 0, 5])
    y = np.array([1.0, 0, 2, 4, 1, 0])
    merged = smoothing_spline([0, 1, 2, 3, 5], [1, 0, 3, 1, 0], 0.1, weights=[1, 1, 2, 1, 1])
    grid = np.linspace(-1, 6, 50)
    np.testing.assert_allclose(smoothing_spline(x, y, 0.1)(grid), merged(grid), atol=1e-12)
    exact = smoothing_spline([0, 1, 2, 3, 5], [1, 0, 3, 1, 0], 1e-12)
    inside = np.linspace(0, 5, 40)
    peer = CubicSpline([0, 1, 2, 3, 5], [1, 0, 3, 1, 0], bc_type="natural")
    np.testing.assert_allclose(exact(inside), peer(inside), atol=1e-9)
    bend = peer.derivative(2)
    nodes, weights = np.polynomial.legendre.leggauss(3)
    by_quadrature = sum(
        (b - a) / 2 * weights @ bend((a + b) / 2 + (b - a) / 2 * nodes) ** 2
        for a, b in ((0, 1), (1, 2), (2, 3), (3, 5))
    )
    assert exact.roughness == pytest.approx(by_quadrature)


def in_sixty_digits(x, y, lam):
    "Reinsch's five diagonals in decimals"
    from decimal import Decimal, localcontext

    with localcontext() as context:
        context.prec = 60
        x, y, lam = [Decimal(float(v)) for v in x], [Decimal(float(v)) for v in y], Decimal(lam)
        h = [b - a for a, b in zip(x, x[1:], strict=False)]
        m = len(h) - 1
        q = [(1 / h[j], -1 / h[j] - 1 / h[j + 1], 1 / h[j + 1]) for j in range(m)]
        z = [(y[j + 2] - y[j + 1]) / h[j + 1] - (y[j + 1] - y[j]) / h[j] for j in range(m)]
        d, one, two = [Decimal(0)] * m, [Decimal(0)] * (m + 1), [Decimal(0)] * (m + 2)
        for i in range(m):  # L D Lᵀ; one[i] and two[i] are row i's entries left of the diagonal
            b = lam * q[i - 2][2] * q[i][0] if i > 1 else Decimal(0)
            a = (
                h[i] / 6 + lam * (q[i - 1][1] * q[i][0] + q[i - 1][2] * q[i][1])
                if i
                else Decimal(0)
            )
            two[i] = b / d[i - 2] if i > 1 else Decimal(0)
            one[i] = (
                (a - (two[i] * d[i - 2] * one[i - 1] if i > 1 else 0)) / d[i - 1]
                if i
                else Decimal(0)
            )
            d[i] = (h[i] + h[i + 1]) / 3 + lam * sum(t * t for t in q[i])
            d[i] -= (one[i] ** 2 * d[i - 1] if i else 0) + (two[i] ** 2 * d[i - 2] if i > 1 else 0)
            z[i] -= (one[i] * z[i - 1] if i else 0) + (two[i] * z[i - 2] if i > 1 else 0)
        z = [a / b for a, b in zip(z, d, strict=True)]
        for i in reversed(range(m)):
            z[i] -= (one[i + 1] * z[i + 1] if i + 1 < m else 0) + (
                two[i + 2] * z[i + 2] if i + 2 < m else 0
            )
        for j in range(m):
            for row in range(3):
                y[j + row] -= lam * q[j][row] * z[j]
        return np.array([float(v) for v in y])


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9])
def test_neighbours_that_nearly_touch(gap):
    "SciPy's answer and the five diagonals lose up to eight digits here"
    rng = np.random.default_rng(0)
    x = np.sort(
        np.concatenate(
            [rng.uniform(0, 1, 200), np.linspace(0.1, 0.9, 50) + gap, np.linspace(0.1, 0.9, 50)]
        )
    )
    y = np.sin(6 * x) + 0.1 * rng.normal(size=300)
    for lam in (1e-6, 1e-2, 100.0):
        np.testing.assert_allclose(
            smoothing_spline(x, y, lam)(x), in_sixty_digits(x, y, lam), atol=2e-12
        )


def test_a_spline_through_many_points():
    x = np.linspace(0, 1, 100_000)
    y = np.sin(6 * x) + 0.3 * np.random.default_rng(0).normal(size=len(x))
    spline = smoothing_spline(x, y, 1e-3)
    assert np.abs(spline(x) - np.sin(6 * x))[1000:-1000].max() < 0.02
    np.testing.assert_allclose(np.sum(y - spline(x)), 0, atol=1e-6)  # lines are free: residuals ⊥ 1


@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_free_functions_that_only_points_without_weight_tell_apart(kind):
    draw = np.random.default_rng(0)
    x, weights = draw.normal(size=12).astype(kind), np.repeat([1.0, 0.0], [8, 4])
    bend = np.where(np.arange(12) < 8, 0, draw.normal(size=12)).astype(kind)
    two = lambda _: np.column_stack([x, x * x.dtype.type(0.7) + bend])  # noqa: E731
    assert semiparametric(Gaussian(), x, np.sin(x), two, 0.1).gap == 0
    for w in (weights, weights.astype(kind)):
        with pytest.raises(ValueError, match="linearly dependent"):
            semiparametric(Gaussian(), x, np.sin(x), two, 0.1, weights=w)


def test_null_spaces():
    X, y, _ = problem()
    k = Gaussian(1.0)
    a = semiparametric(k, X, y, lambda X: np.column_stack([np.ones(len(X)), X]), 0.1)
    b = semiparametric(
        k, X, y, [lambda X: 1.0, lambda X: X[:, 0], lambda X: X[:, 1], lambda X: X[:, 2]], 0.1
    )
    np.testing.assert_allclose(a(X), b(X), atol=1e-10)
    plane = X @ [1.0, -2.0, 3.0] + 4
    exact = semiparametric(k, X, plane, lambda X: np.column_stack([np.ones(len(X)), X]), 0.1)
    np.testing.assert_allclose(exact.null_part.beta, [4, 1, -2, 3], atol=1e-9)
    assert exact.function.norm() < 1e-8
    several = semiparametric(k, X, np.column_stack([y, plane]), lambda X: X, 0.1)
    assert several(X).shape == (40, 2)


# ------------------------------------------------------------------ Gaussian processes

COMPOSITES = [
    2 * Gaussian(0.7) + 0.3 * Linear() + Constant(0.2),
    1.5 * Matern(2.5, 0.8) * RationalQuadratic(1.2, 2.0),
    0.5 * Periodic(2.0, 1.1) * Gaussian(3.0),
    Mahalanobis([0.5, 1.0, 2.0]) + Polynomial(2, 0.5, 0.3).normalized(),
    (0.3 * Laplace(1.0)).exp(),
    1.5 * Matern(2.5, [0.8, 2.0, 0.4]) + RationalQuadratic(1.2, [2.0, 0.5, 1.0]),
    Gaussian([0.8, 2.0, 0.4]) * Laplace([3.0, 2.0, 1.0]),
]


@pytest.mark.second_route("log_marginal", "the posterior's evidence and finite differences")
@pytest.mark.parametrize("k", COMPOSITES, **by_name)
@pytest.mark.parametrize("vector", [False, True])
def test_gradient_of_the_evidence(k, vector):
    X, y, _ = problem(n=25)
    noise = np.linspace(0.1, 0.5, 25) if vector else 0.2
    value, slope = log_marginal(k, X, y, noise)
    assert value == pytest.approx(gaussian_process(k, X, y, noise).log_marginal, rel=1e-12)
    for name in k._vjp(X, X, np.zeros((25, 25))):
        at = np.asarray(k.get_params()[name], dtype=float)
        for i in np.ndindex(at.shape):
            h = np.zeros_like(at)
            h[i] = 1e-5 * at[i]
            up, down = (
                log_marginal(
                    k.with_params(**{name: at + s * h if at.ndim else float(at + s * h)}),
                    X,
                    y,
                    noise,
                )[0]
                for s in (1, -1)
            )
            assert np.asarray(slope[name])[i] == pytest.approx(
                (up - down) / (2 * h[i]), rel=2e-4, abs=1e-5
            )
    bump = np.eye(25)[3] * 1e-6 if vector else 1e-6
    up, down = (log_marginal(k, X, y, noise + s * bump)[0] for s in (1, -1))
    assert (slope["noise"][3] if vector else slope["noise"]) == pytest.approx(
        (up - down) / 2e-6, rel=1e-4
    )


@pytest.mark.second_route("GaussianProcess", "gaussian_process", "scikit-learn")
def test_process_against_scikit_learn():
    X, y, _ = problem()
    new = problem(seed=5)[0]
    ours = gaussian_process(2 * Gaussian(0.7), X, y, 0.2)
    peer = GaussianProcessRegressor(ConstantKernel(2.0) * RBF(0.7), alpha=0.2, optimizer=None).fit(
        X, y
    )
    mean, cov = peer.predict(new, return_cov=True)
    np.testing.assert_allclose(ours.mean(new), mean, atol=1e-10)
    np.testing.assert_allclose(ours.cov(new), cov, atol=1e-10)
    np.testing.assert_allclose(ours.cov(new, new[:3]), cov[:, :3], atol=1e-10)
    np.testing.assert_allclose(ours.var(new), cov.diagonal(), atol=1e-10)
    assert ours.log_marginal == pytest.approx(peer.log_marginal_likelihood_value_)
    noise = np.random.default_rng(0).uniform(0.1, 1, len(X))
    varied = gaussian_process(2 * Gaussian(0.7), X, y, noise)
    peer = GaussianProcessRegressor(
        ConstantKernel(2.0) * RBF(0.7), alpha=noise, optimizer=None
    ).fit(X, y)
    np.testing.assert_allclose(varied.mean(new), peer.predict(new), atol=1e-10)
    as_weights = ridge(2 * Gaussian(0.7), X, y, 1.0, weights=1 / noise)
    np.testing.assert_allclose(varied.mean(new), as_weights(new), atol=1e-10)
    assert ours.sample(new, 3, 0).shape == (3, 40)
    np.testing.assert_array_equal(
        ours.sample(new, 3, 0), ours.sample(new, 3, np.random.default_rng(0))
    )


@pytest.mark.parametrize("noise", [0.2, "each"])
@pytest.mark.parametrize("weighted", [False, True])
def test_several_outputs_are_processes_of_one_kernel(noise, weighted):
    X, y, _ = problem(n=25)
    Y, Z, k = np.column_stack([y, X[:, 1], y**2]), X[:7] + 0.1, 1.3 * Gaussian(1.5)
    rng = np.random.default_rng(2)
    noise = rng.uniform(0.1, 0.5, 25) if noise == "each" else noise
    w = rng.integers(0, 3, 25) * 1.0 if weighted else None
    together = gaussian_process(k, X, Y, noise, w)
    alone = [gaussian_process(k, X, column, noise, w) for column in Y.T]
    np.testing.assert_allclose(together(Z), np.column_stack([gp(Z) for gp in alone]), rtol=1e-9)
    np.testing.assert_allclose(together.cov(Z), alone[0].cov(Z), atol=1e-12)
    assert together.log_marginal == pytest.approx(sum(gp.log_marginal for gp in alone))
    assert together.mean[1].norm() == pytest.approx(alone[1].mean.norm())
    if w is None:
        value, slope = log_marginal(k, X, Y, noise)
        parts = [log_marginal(k, X, column, noise) for column in Y.T]
        assert value == pytest.approx(sum(part for part, _ in parts))
        for name, found in slope.items():
            np.testing.assert_allclose(found, sum(part[name] for _, part in parts), rtol=1e-8)


def test_samples_of_several_outputs():
    X, y, _ = problem(n=12)
    Z, k = X[:3] + 0.5, Gaussian(1.5)
    two = gaussian_process(k, X, np.column_stack([y, X[:, 1]]), 0.1)
    drawn = two.sample(Z, 20_000, rng=0)
    assert drawn.shape == (20_000, 3, 2)
    np.testing.assert_allclose(drawn.mean(axis=0), two(Z), atol=0.05)
    for column in drawn.transpose(2, 0, 1):
        np.testing.assert_allclose(np.cov(column.T), two.cov(Z), atol=0.03)
    between = np.corrcoef(drawn[:, 0, 0], drawn[:, 0, 1])[0, 1]
    assert abs(between) < 0.03  # outputs are independent given the data
    one = gaussian_process(k, X, y, 0.1)
    assert one.sample(Z, 4, rng=0).shape == (4, 3)
    on_a_line = gaussian_process(k, X[:, 0], np.column_stack([y, X[:, 1]]), 0.1)
    assert len(on_a_line.plot(ax=plt.figure().add_subplot()).lines) == 2
    plt.close("all")


@pytest.mark.parametrize("weighted", [False, True])
def test_one_kernel_for_several_outputs_is_found_by_their_sum(weighted):
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 6, 40)
    Y = np.column_stack([np.sin(X), np.cos(X)]) + 0.1 * rng.normal(size=(40, 2))
    w = rng.integers(1, 3, 40) * 1.0 if weighted else None
    found = fit_hyperparameters(1.0 * Gaussian(0.5), X, Y, 0.3, weights=w)
    evidence = lambda k, noise: gaussian_process(k, X, Y, noise, w).log_marginal  # noqa: E731
    assert found.log_marginal == pytest.approx(evidence(found.kernel, found.noise))
    for c in (0.95, 1.05):
        moved = found.kernel.with_params(k__bandwidth=c * found.kernel.k.bandwidth)
        assert evidence(moved, found.noise) < found.log_marginal
        assert evidence(found.kernel, c * found.noise) < found.log_marginal
    assert found.noise == pytest.approx(0.01, rel=0.6)


def test_interpolation_without_noise():
    x = np.linspace(0, 3, 6)
    exact = gaussian_process(Brownian(start=-1), x, np.sin(x), 0.0)
    np.testing.assert_allclose(exact(x), np.sin(x), atol=1e-12)
    np.testing.assert_allclose(exact.var(x), 0, atol=1e-12)


@pytest.mark.second_route("Hyperparameters", "fit_hyperparameters", "scikit-learn")
def test_hyperparameters_meet_scikit_learns():
    X, y, _ = problem(n=60, d=2)
    ours = fit_hyperparameters(1.0 * Mahalanobis([1.0, 1.0]), X, y, 0.1)
    kernel = ConstantKernel(1.0, (1e-6, 1e6)) * RBF([1.0, 1.0], (1e-6, 1e6)) + WhiteKernel(
        0.1, (1e-7, 1e5)
    )
    peer = GaussianProcessRegressor(kernel, alpha=0.0).fit(X, y)
    assert ours[2] >= peer.log_marginal_likelihood_value_ - 1e-4
    assert ours[2] == pytest.approx(log_marginal(ours[0], X, y, ours[1])[0])
    again = fit_hyperparameters(1.0 * Mahalanobis([1.0, 1.0]), X, y, 0.1, restarts=2, rng=3)
    assert again[2] >= ours[2] - 1e-6
    kept = fit_hyperparameters(1.0 * Gaussian(1.0), X, y, 0.1, fit_noise=False)
    assert kept[1] == 0.1
    each = fit_hyperparameters(1.0 * Gaussian(1.0), X, y, np.full(60, 0.1))
    assert each[2] == pytest.approx(kept[2], abs=1e-5) and each[1].shape == (60,)
    same = fit_hyperparameters(Brownian(start=-9), X[:, 0], y, 0.1, fit_noise=False)
    assert same[0] == Brownian(start=-9) and same[2] == pytest.approx(
        log_marginal(same[0], X[:, 0], y, 0.1)[0]
    )


@pytest.mark.parametrize(
    "fixed",
    [
        Bilinear([[2.0, 0.5], [0.5, 1.0]]),
        Bilinear([[2.0, -0.5], [-0.5, 1.0]]),
        FiniteRank([1.0, 0.0], [lambda X: X[:, 0], lambda X: X[:, 1]]),
        Polynomial(2, offset=0.0, scale=1.0),
    ],
    ids=lambda k: type(k).__name__,
)
def test_a_matrix_and_a_zero_stay_as_they_are(fixed):
    "Only what is positive, and no matrix, has a logarithm to move along"
    local = np.random.default_rng(0)
    X = local.normal(size=(20, 2))
    found = fit_hyperparameters(Gaussian(1.0) + fixed, X, np.sin(X[:, 0]), 0.1, max_iter=5)
    kept = found.kernel.terms[1].get_params()
    for name, value in fixed.get_params().items():
        if np.ndim(value) == 2 or name in ("weights", "offset"):
            np.testing.assert_array_equal(kept[name], value)
    assert found.kernel.terms[0] != Gaussian(1.0)


@pytest.mark.second_route("LaplaceClassifier", "gp_classification", "scikit-learn")
def test_labels_against_scikit_learn():
    X, _, sign = problem(n=80)
    for k, kernel in ((4 * Gaussian(1.0), ConstantKernel(4.0) * RBF(1.0)),):
        ours, peer = (
            gp_classification(k, X, sign),
            GaussianProcessClassifier(kernel, optimizer=None).fit(X, sign),
        )
        assert ours.log_marginal == pytest.approx(peer.log_marginal_likelihood_value_, rel=1e-5)
        new = problem(seed=3)[0]
        np.testing.assert_allclose(ours.probability(new), peer.predict_proba(new)[:, 1], atol=5e-3)
        assert (ours.predict(new) == peer.predict(new)).all() and (ours.var(new) >= 0).all()
    words = gp_classification(4 * Gaussian(1.0), X, np.where(sign > 0, "yes", "no"))
    assert set(words.predict(X)) <= {"yes", "no"}
    np.testing.assert_allclose(words.probability(X), ours.probability(X))


@pytest.mark.second_route("nadaraya_watson", "a weighted mean, written out")
def test_local_average():
    X, y, _ = problem()
    weights = np.exp(-((X[:5, None] - X[None]) ** 2).sum(axis=2) / 2)
    by_hand = weights @ y / weights.sum(axis=1)
    np.testing.assert_allclose(nadaraya_watson(Gaussian(1.0), X, y)(X[:5]), by_hand)
    assert nadaraya_watson(Gaussian(1.0), X, np.column_stack([y, y]))(X).shape == (40, 2)


# ------------------------------------------------------------------ bad input

X, Y, SIGN = problem(n=8)
G = Gaussian(1.0)
BAD = {
    "loss name": (lambda: minimize_risk(G, X, Y, "l2"), ValueError, "loss = 'l2': pass"),
    "loss number": (lambda: minimize_risk(G, X, Y, "quantile(2)"), ValueError, "tau = 2"),
    "loss words": (lambda: minimize_risk(G, X, Y, "quantile(high)"), ValueError, "quantile"),
    "loss with a number too many": (
        lambda: minimize_risk(G, X, Y, "hinge(2)"),
        ValueError,
        r"loss = .hinge\(2\).: pass",
    ),
    "loss function": (lambda: minimize_risk(G, X, Y, np.abs), TypeError, "pass a Loss"),
    "one label": (lambda: minimize_risk(G, X, SIGN > 9, "hinge"), ValueError, "one label only"),
    "several targets": (
        lambda: minimize_risk(G, X, np.ones((8, 2)), "absolute"),
        ValueError,
        "one column",
    ),
    "lam zero": (lambda: minimize_risk(G, X, Y, "absolute", 0), ValueError, "lam = 0"),
    "lam text": (lambda: minimize_risk(G, X, Y, "absolute", "a"), TypeError, "lam = 'a'"),
    "tol": (lambda: minimize_risk(G, X, Y, "absolute", 1, tol=-1), ValueError, "tol = -1"),
    "too few steps": (
        lambda: minimize_risk(G, X, Y, "absolute", 1, max_iter=1),
        ConvergenceFailure,
        "gap of",
    ),
    "target nan": (lambda: minimize_risk(G, X, Y * np.nan, "absolute"), ValueError, "not finite"),
    "indefinite": (
        lambda: minimize_risk(Sigmoid(1, -1), X, SIGN, "hinge"),
        IndefiniteKernel,
        "not positive",
    ),
    "delta": (lambda: huber(-1), ValueError, "delta = -1"),
    "eps": (lambda: epsilon_insensitive(-1), ValueError, "eps = -1"),
    "weights negative": (lambda: ridge(G, X, Y, weights=-np.ones(8)), ValueError, "least entry -1"),
    "weights short": (
        lambda: ridge(G, X, Y, weights=np.ones(7)),
        ValueError,
        r"shape \(7,\), but X has 8",
    ),
    "weights zero": (lambda: ridge(G, X, Y, weights=np.zeros(8)), ValueError, "not all 0"),
    "null space of text": (
        lambda: semiparametric(G, X, Y, ["1"]),
        TypeError,
        "null_space is of type",
    ),
    "targets beside a loss": (
        lambda: semiparametric(G, X, np.c_[Y, Y], [lambda X: 1.0], loss="absolute"),
        ValueError,
        "the loss absolute takes one target",
    ),
    "null space empty": (lambda: semiparametric(G, X, Y, []), TypeError, "null_space is of type"),
    "null space twice": (
        lambda: semiparametric(G, X, Y, [lambda X: 1.0] * 2),
        ValueError,
        "dependent",
    ),
    "null space too large": (
        lambda: semiparametric(G, X[:2], Y[:2], lambda X: X),
        ValueError,
        "dependent",
    ),
    "null space short": (
        lambda: semiparametric(G, X, Y, lambda X: X[1:]),
        ValueError,
        "for 8 points",
    ),
    "null space nan": (
        lambda: semiparametric(G, X, Y, lambda X: np.nan * X),
        ValueError,
        "not finite",
    ),
    "spline plane": (lambda: smoothing_spline(X, Y, 1), ValueError, "has shape .8, 3."),
    "spline point": (lambda: smoothing_spline([1.0, 1.0], [0, 1], 1), ValueError, "all x equal"),
    "spline lam": (lambda: smoothing_spline([1.0, 2], [0, 1], 0), ValueError, "lam = 0"),
    "spline lengths": (
        lambda: smoothing_spline([1.0, 2], [0, 1, 2], 1),
        ValueError,
        "x has 2 points",
    ),
    "noise negative": (lambda: gaussian_process(G, X, Y, -1), ValueError, "noise = -1"),
    "noise vector": (
        lambda: gaussian_process(G, X, Y, np.ones(3)),
        ValueError,
        "pass .8,., one a point",
    ),
    "noise signs": (lambda: gaussian_process(G, X, Y, -np.ones(8)), ValueError, "noise holds -1"),
    "noise too small": (
        lambda: gaussian_process(Gaussian(1e4), X, Y, 0),
        NotPositiveDefinite,
        "Try noise=",
    ),
    "sample with a word": (
        lambda: gaussian_process(G, X, Y, 1).sample(X, 1, "x"),
        TypeError,
        "rng",
    ),
    "process in 3-d": (lambda: gaussian_process(G, X, Y, 1).plot(), ValueError, "has shape .8, 3."),
    "fit from zero": (lambda: fit_hyperparameters(G, X, Y, 0), ValueError, "noise = 0"),
    "one class": (lambda: gp_classification(G, X, np.ones(8)), ValueError, "one label only"),
    "three classes": (
        lambda: gp_classification(G, X, np.arange(8) % 3),
        ValueError,
        "3 different labels",
    ),
    "label nan": (lambda: gp_classification(G, X, SIGN * np.nan), ValueError, "not finite"),
    "huge targets": (
        lambda: minimize_risk(G, X, 1e300 * Y, "absolute"),
        ValueError,
        "larger ones overflow",
    ),
    "huge process": (
        lambda: gaussian_process(G, X, 1e300 * Y, 1),
        ValueError,
        "larger ones overflow",
    ),
    "huge path": (lambda: ridge_path(G, X, 1e300 * Y), ValueError, "larger ones overflow"),
    "far away": (lambda: nadaraya_watson(G, X, Y)(X + 1e3), ValueError, "too far"),
    "other centres": (
        lambda: check_representer(ridge(G, X[:4], Y[:4]), X, Y, 1, loss="absolute"),
        ValueError,
        "centres X",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    call, error, words = BAD[name]
    with pytest.raises(error, match=words):
        call()


@pytest.mark.second_route("check_representer", "impostors refused")
@pytest.mark.parametrize("loss", LOSSES, **by_name)
def test_the_law_refuses(loss):
    X, y, sign = problem()
    y = sign if loss.labels else y
    f = minimize_risk(Gaussian(0.7), X, y, loss, 1.0).function
    check_representer(f, X, y, 1.0, loss=loss)
    wrong = RKHSFunction(f.k, X, np.roll(f.alpha, 1))
    for g, lam in ((1.01 * f, 1.0), (f, 1.1), (0.0 * f, 1.0), (wrong, 1.0)):
        with pytest.raises(LawBroken):
            check_representer(g, X, y, lam, loss=loss)


class LopsidedBetween(Gaussian):
    "k(x, y) is not k(y, x) where x lies between whole numbers"

    def _gram(self, X, Y, xp):
        return super()._gram(X, Y, xp) * (1 + (X[:, :1] % 1 > 0))


@pytest.mark.parametrize("loss", [squared, huber(1.0)], **by_name)
def test_steps_lead_between_the_data(loss):
    X, y = np.arange(6.0)[:, None], np.sin(np.arange(6.0))
    f = minimize_risk(LopsidedBetween(1.0), X, y, loss, 0.1)
    with pytest.raises(LawBroken, match="f [+] h"):
        check_representer(f, X, y, 0.1, loss=loss)


def test_steps_stay_at_the_data_where_nothing_lies_between():
    rows, y, K = np.arange(6), np.sin(np.arange(6.0)), Gaussian(1.0)(np.arange(6.0))
    for k, X in (Precomputed(K), rows), (Spectrum(2), ["ab", "bc", "abc", "bca", "cab", "bb"]):
        assert check_representer(ridge(k, X, y, 0.1), X, y, 0.1) < 1e-12


def test_the_law_refuses_three_times_its_tolerance():
    "A coefficient moved: the first equation misses by a third, then by three times, of what it allows"
    X, y, _ = problem()
    lam, k, n = 0.5, Gaussian(0.7), len(X)
    f, K = ridge(k, X, y, lam), k(X)
    size = np.abs(y).max() + np.abs(f.alpha).sum()
    allowed = 2 * n * np.finfo(float).eps ** 0.75 * size * (lam + n)
    unit = np.zeros(n)
    unit[3] = 1 / np.abs(K @ (lam * np.eye(n) + K))[:, 3].max()
    check_representer(RKHSFunction(k, X, f.alpha + allowed / 3 * unit), X, y, lam)
    with pytest.raises(LawBroken, match="lam f = "):
        check_representer(RKHSFunction(k, X, f.alpha + 3 * allowed * unit), X, y, lam)


@pytest.mark.parametrize("loss", ["absolute", "huber", "logistic"])
def test_the_law_refuses_three_times_the_gap_it_allows(loss):
    X, y, sign = problem()
    k, lam, loss = Gaussian(0.7), 1.0, as_loss(loss)
    y, K = sign if loss.labels else y, k(X)
    alpha = minimize_risk(k, X, y, loss, lam, tol=1e-9).function.alpha

    def gap(s):
        return certificate(K, y, loss, lam, (1 - s) * alpha, -2 * lam * (1 - s) * alpha)[2]

    for allowed, refused in ((0.3e-5, False), (3e-5, True)):
        f = RKHSFunction(k, X, (1 - brentq(lambda s, to=allowed: gap(s) - to, 0, 0.5)) * alpha)
        if refused:
            with pytest.raises(LawBroken, match="the duality gap is zero"):
                check_representer(f, X, y, lam, loss=loss)
        else:
            check_representer(f, X, y, lam, loss=loss)


@pytest.mark.second_route("certificate", "known numbers")
def test_a_gap_is_relative_to_the_primal_value():
    y = np.array([30.0, -40.0])
    assert certificate(np.eye(2), y, squared, 1.0, 0 * y, 0 * y) == (2500.0, 0.0, 1.0)
    for unit in (1e-9, 1e-2, 1.0, 1e6):  # 0 has the gap 1 in all units
        assert certificate(np.eye(2), unit * y, squared, 1.0, 0 * y, 0 * y)[2] == pytest.approx(1)
    assert certificate(np.eye(2), 0 * y, squared, 1.0, 0 * y, 0 * y) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("unit", [1e-9, 1e-3, 1.0, 1e6])
@pytest.mark.parametrize("kind", [huber, epsilon_insensitive])
def test_check_loss_sees_a_wrong_conjugate_in_any_unit(kind, unit):
    class Wrong(kind):
        def conjugate(self, y, u):
            return super().conjugate(y, u) + 0.01 * unit * np.abs(u)

    targets = unit * np.array([-2.0, 0.0, 3.0])
    assert check_loss(kind(unit), targets) < 1e-6
    with pytest.raises(LawBroken, match="= u f at the slope"):
        check_loss(Wrong(unit), targets)


UNITS = 1e-6, 1e-3, 1e4
IN_UNITS = {  # the loss in the units of y, and the power in which its value grows
    "huber": (lambda unit: huber(0.3 * unit), 2),
    "absolute": (lambda unit: "absolute", 1),
    "quantile": (lambda unit: quantile(0.8), 1),
    "tube": (lambda unit: epsilon_insensitive(0.2 * unit), 1),
}


@pytest.mark.parametrize("name", IN_UNITS)
@pytest.mark.parametrize("lam", [1e-3, 1.0, 1e5])
@pytest.mark.second_route("semiparametric", "smoothing_spline", "other units")
def test_fits_of_any_loss_are_the_same_in_other_units(name, lam):
    "Small targets are no excuse for a gap, a large lam none for a refusal"
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 1))
    y = 3 + np.sin(2 * X[:, 0]) + 0.3 * rng.standard_t(2, 30)
    loss, power = IN_UNITS[name]

    def fits(unit):
        given = unit * y, loss(unit), lam * unit ** (power - 2)
        risk = minimize_risk(Gaussian(1.0), X, *given)
        beside = semiparametric(Gaussian(1.0), X, given[0], np.ones_like, given[2], loss=given[1])
        spline = smoothing_spline(X[:, 0], given[0], given[2], loss=given[1])
        return np.array([risk(X), beside(X), spline(X[:, 0])]) / unit

    once = fits(1.0)
    for unit in UNITS:
        np.testing.assert_allclose(fits(unit), once, atol=3e-3)
    if lam > 1e3:  # nothing but what is free: a constant of least loss, and a line
        asked = as_loss(loss(1.0))
        best = min(np.sum(asked(y, c)) for c in np.linspace(2, 5, 30_001))
        assert np.sum(asked(y, once[1])) <= best * (1 + 1e-3)


@pytest.mark.parametrize("lam", [1e-5, 1e-3, 0.1, 10.0])
def test_a_fit_of_another_lam_is_not_the_minimiser(lam):
    "Twice, half, n times: also where lam is small beside K and rounding beside lam is not"
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 2))
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=60)
    check_representer(ridge(Gaussian(1.0), X, y, lam), X, y, lam)
    for factor in (0.5, 2.0, 60.0):
        other = ridge(Gaussian(1.0), X, y, factor * lam)
        with pytest.raises(LawBroken):
            check_representer(other, X, y, lam)


@pytest.mark.parametrize("n, away, lam", [(30, 10, 1e-4), (200, 100, 1e-2), (2, 100, 1.0)])
def test_an_offset_beside_features_far_from_0_is_no_other_lam(n, away, lam):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, 2)) + away
    y = 2 * X[:, 0] - X[:, 1] + 1
    check_representer(ridge(Linear(), X, y, lam, offset=True), X, y, lam)


@pytest.mark.parametrize("loss", ["absolute", "quantile(0.3)", "huber", "epsilon_insensitive"])
@pytest.mark.parametrize("level", [0.0, 3.0])
def test_targets_that_the_free_functions_explain(loss, level):
    X, constant = np.random.default_rng(0).standard_normal((40, 2)), lambda X: np.ones(len(X))
    for k, lam in ((Linear(), 1e-3), (Gaussian(1.0), 1e-2), (Linear(), 1e4)):
        fit = semiparametric(k, X, np.full(40, level), constant, lam, loss=loss)
        within = 0.1 if loss == "epsilon_insensitive" else 0.0
        assert np.abs(fit(X) - level).max() <= within + 1e-4 and fit.gap <= 1e-6


@pytest.mark.parametrize("loss", ["absolute", "quantile(0.3)"])
def test_what_is_accepted_as_least_is_least_where_roundings_rule(loss):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 2)), 1e-9 * rng.standard_normal(40)
    check_representer(minimize_risk(Linear(), X, y, loss, 1e-6), X, y, 1e-6, loss=loss)


@pytest.mark.parametrize("unit", [1e-6, 1e-3])
def test_no_fit_is_right_because_its_targets_are_small(unit):
    X, y, _ = problem()
    y = unit * y
    whole = minimize_risk(Gaussian(1.0), X, y, huber(unit), lam=0.1)
    check_representer(whole, X, y, 0.1, loss=huber(unit))
    with pytest.raises(LawBroken, match="duality gap"):
        check_representer(0.5 * whole.function, X, y, 0.1, loss=huber(unit))
    with pytest.raises(ConvergenceFailure):
        minimize_risk(Gaussian(1.0), X, y, huber(unit), lam=0.1, max_iter=1)


def test_names_and_instances_agree():
    X, y, _ = problem()
    for name, loss in (
        ("quantile(0.2)", quantile(0.2)),
        ("huber", huber),
        ("squared", squared),
        (" hinge ", hinge),
    ):
        assert as_loss(name) == as_loss(loss) and repr(as_loss(name)) == repr(as_loss(loss))
    a, b = (
        minimize_risk(Gaussian(1.0), X, y, loss, 0.1)
        for loss in ("quantile(tau=0.2)", quantile(tau=0.2))
    )
    np.testing.assert_array_equal(a(X), b(X))


# ------------------------------------------------------------------ what a maintainer tried


def test_a_clear_shift_needs_no_condition_number():
    "Skipping the estimate is for semidefinite matrices: a pivot below the shift tells them apart"
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(30, 30)))[0]
    for overwrite in (False, True):
        good = (Q * np.linspace(0, 1, 30)) @ Q.T
        good = (good + good.T) / 2
        x = solve_psd(good.copy(), Q[:, 0], shift=0.1, overwrite=overwrite)
        np.testing.assert_allclose(x, Q[:, 0] / 0.1, atol=1e-12)
        for negative in (-0.1 + 1e-17, -0.2):
            bad = np.diag(np.r_[np.ones(29), negative])
            with pytest.raises(NotPositiveDefinite, match="eigenvalue"):
                solve_psd(bad, np.ones(30), shift=0.1, overwrite=overwrite)
    for eps, dtype in (
        (1e-14, np.float64),
        (1e-6, np.float32),
    ):  # a shift that is not clear is measured
        with pytest.raises(NotPositiveDefinite):
            solve_psd(np.ones((30, 30), dtype), np.ones(30, dtype), shift=eps / 100)
    with pytest.raises(ValueError, match="overflow"):
        solve_psd(np.full((3, 3), 1e308) + np.diag([7e307] * 3), np.ones(3))


def test_the_condition_number_is_estimated_only_where_it_decides(monkeypatch):
    calls, real = [], arrays.scipy.linalg.get_lapack_funcs

    def counting(names, *args, **kwargs):
        found = real(names, *args, **kwargs)
        if "pocon" not in names:
            return found
        return [
            (lambda *a, f=f, name=name, **k: (calls.append(name), f(*a, **k))[1])
            for name, f in zip(names, found, strict=True)
        ]

    monkeypatch.setattr(arrays.scipy.linalg, "get_lapack_funcs", counting)
    A = np.ones((10, 10)) + np.eye(10)
    psd_factor(A, 1e-3)
    assert calls == []
    psd_factor(A, 1e-20)
    assert calls == ["pocon"]


@pytest.mark.parametrize("offset", [False, True])
def test_weights_of_any_ratio(offset):
    "A huge weight pins the function to its target, a tiny one drops the point, their unit is lam's"
    X, y, _ = problem()
    w = np.r_[1e30, np.ones(38), 1e-30]
    f = ridge(Gaussian(1.0), X, y, 0.1, offset=offset, weights=w)
    assert f(X[:1])[0] == pytest.approx(y[0], rel=1e-9)
    dropped = ridge(Gaussian(1.0), X[:-1], y[:-1], 0.1, offset=offset, weights=w[:-1])
    np.testing.assert_allclose(f(X), dropped(X), atol=1e-9)
    for c in (1e-150, 1e200):
        scaled = ridge(Gaussian(1.0), X, y, 1e-3, weights=np.full(40, c / 1e5))
        np.testing.assert_allclose(
            scaled(X), ridge(Gaussian(1.0), X, y, 1e-3 / c, weights=np.full(40, 1e-5))(X), rtol=1e-6
        )
    with pytest.raises(NotPositiveDefinite, match="Try lam="):
        ridge(Gaussian(1e4), X, y, 1e-20, weights=np.ones(40))


def test_an_offset_path_keeps_its_digits_where_lam_is_tiny():
    "Against leaving each point out, where lam is 1e-11 of the largest eigenvalue"
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 2)), 10 + rng.normal(size=12)
    k, lam = Laplace(0.01), 1e-12
    residuals = [
        y[i] - ridge(k, np.delete(X, i, 0), np.delete(y, i), lam, offset=True)(X[i : i + 1])[0]
        for i in range(12)
    ]
    path = ridge_path(k, X, y, [lam], offset=True)
    assert path.loo[0] == pytest.approx(np.mean(np.square(residuals)), rel=1e-9)


def test_targets_of_any_size():
    "min Σ |y − f| + lam ‖f‖² with c y and lam / c is c times the same"
    X, y, _ = problem()
    c = 1e-13
    for make in (
        lambda c: as_loss("absolute"),
        lambda c: epsilon_insensitive(0.1 * c),
        lambda c: huber(c),
    ):
        lam = 1e-3
        big = minimize_risk(Gaussian(1.0), X, y, make(1.0), lam)
        small = minimize_risk(Gaussian(1.0), X, c * y, make(c), lam if make(1).a else lam / c)
        np.testing.assert_allclose(small(X) / c, big(X), atol=1e-4 * np.abs(y).max())


def test_the_dual_point_is_not_rounded_to_zero():
    X, y, _ = problem(n=8)
    f = minimize_risk(Gaussian(1.0), X, 1e-12 * y, epsilon_insensitive(1e-13), 1.0)
    assert np.abs(f(X) - 1e-12 * y).max() <= 1.01e-13


def test_single_precision_stays():
    X, y, _ = problem()
    x32, y32 = X.astype(np.float32), y.astype(np.float32)
    k = Gaussian(1.0)
    for f in (
        ridge(k, x32, y32),
        ridge(k, x32, y32, offset=True),
        ridge(k, x32, y32, weights=np.ones(40)),
        ridge_path(k, x32, y32).function(),
        semiparametric(k, x32, y32, [lambda x: 1.0]),
        nadaraya_watson(k, x32, y32),
    ):
        assert f(x32).dtype == np.float32


def test_a_function_of_the_user_cannot_write_into_the_points():
    X, y, _ = problem()
    before = X.copy()
    with pytest.raises(ValueError, match="read-only"):
        semiparametric(Gaussian(1.0), X, y, lambda X: X.__imul__(2))
    np.testing.assert_array_equal(X, before)


class Exponential(Loss):
    "exp(−y f), y = ±1"

    labels = True

    def __call__(self, y, f):
        return np.exp(-y * f)

    def derivative(self, y, f):
        return -y * np.exp(-y * f)

    def curvature(self, y, f):
        return np.exp(-y * f)

    def conjugate(self, y, u):
        t = -u * y
        return np.where(t >= 0, special.xlogy(t, np.abs(t)) - t, np.inf)


class HalfAsSteep(Exponential):
    def derivative(self, y, f):
        return super().derivative(y, f) / 2


class NotANumber(Exponential):
    def __call__(self, y, f):
        return np.full_like(f, np.nan)


@pytest.mark.parametrize("seed", range(12))  # those of 1, 2 and 10 overflow
def test_a_right_loss_is_right_wherever_it_is_tried(seed):
    assert check_loss(Exponential(), [-1.0, 1.0], rng=seed) < 1e-5
    with pytest.raises(LawBroken, match="derivative is the slope"):
        check_loss(HalfAsSteep(), [-1.0, 1.0], rng=seed)
    with pytest.raises(ValueError, match="NaN"):
        check_loss(NotANumber(), [-1.0, 1.0], rng=seed)
    with pytest.raises(ValueError, match="rescale y"):
        check_loss(squared, [1e200], rng=seed)


def test_a_loss_with_fields_of_any_kind_is_a_value():
    class Named(Exponential):
        name: str = "x"
        at: Vector = (1.0, 2.0)
        of: Any = None

    X, y, _ = problem()
    ours, same, other = Named(), Named(at=[1, 2]), Named(at=[1.0, 3.0])
    assert repr(ours) == "named('x', array (2,), None)" == repr(other)
    assert ours == same and hash(ours) == hash(same) and ours != other != Exponential()
    assert huber(2) == huber(2.0) != huber(3)
    found = minimize_risk(Gaussian(1.0), X, np.sign(y), ours, 1.0)
    np.testing.assert_array_equal(
        found(X), minimize_risk(Gaussian(1.0), X, np.sign(y), Exponential(), 1.0)(X)
    )


@pytest.mark.second_route("check_loss", "impostors refused")
@pytest.mark.second_route("Loss", "ridge regression")
def test_wrong_losses_are_found():
    X, y, _ = problem()

    class Right(Loss):
        "(y − f)²"

        def __call__(self, y, f):
            return (y - f) ** 2

        def derivative(self, y, f):
            return 2 * (f - y)

        def curvature(self, y, f):
            return np.full_like(f, 2.0)

        def conjugate(self, y, u):
            return u**2 / 4 + y * u

    check_loss(Right(), y[:3])
    own = minimize_risk(Gaussian(1.0), X, y, Right(), 0.1)
    np.testing.assert_allclose(own(X), ridge(Gaussian(1.0), X, y, 0.1)(X), atol=1e-7)
    wrong = dict(
        conjugate=[lambda self, y, u: u**2 / 8 + y * u, lambda self, y, u: u**2 / 2 + y * u],
        derivative=[lambda self, y, f: 2 * (y - f), lambda self, y, f: f - y],
        curvature=[lambda self, y, f: np.full_like(f, -2.0)],
    )
    for name, functions in wrong.items():
        for function in functions:
            loss = type("Wrong", (Right,), {name: function})()
            with pytest.raises(LawBroken):
                check_loss(loss, y[:3])
            with pytest.raises((ValueError, ConvergenceFailure), match="check_loss"):
                minimize_risk(Gaussian(1.0), X, y, loss, 0.1)
    short = type("Short", (Right,), dict(conjugate=lambda self, y, u: 0.0))()
    with pytest.raises(ValueError, match="one number a target"):
        minimize_risk(Gaussian(1.0), X, y, short, 0.1)


class Nearly(Loss):
    "(y − f)², with a derivative, a curvature and a conjugate that are off by little"

    slope, bend, least, hill = 0.0, 0.0, 0.0, 0.0

    def __call__(self, y, f):
        return (y - f) ** 2 * (1 - self.hill)

    def derivative(self, y, f):
        return 2 * (f - y) * (1 + self.slope)

    def curvature(self, y, f):
        return np.full_like(f, 2.0 * (1 + self.bend))

    def conjugate(self, y, u):
        return u**2 / 4 + y * u + self.least


@pytest.mark.second_route("check_loss", "near misses refused")
@pytest.mark.parametrize(
    "name, near, wrong, words",
    [
        ("hill", 0.0, 11.0, "is convex"),
        ("slope", 0.3e-4, 3e-4, "derivative is the slope"),
        ("bend", 0.3e-4, 3e-4, "curvature is the slope"),
        ("least", -1e-10, -1e-8, "≥ u f"),
        ("least", 1e-6, 1e-4, "= u f at the slope"),
    ],
)
def test_losses_that_are_nearly_right(name, near, wrong, words):
    y = np.array([-0.5, 0.4])
    check_loss(type("Near", (Nearly,), {name: near})(), y)
    with pytest.raises(LawBroken, match=words):
        check_loss(type("Wrong", (Nearly,), {name: wrong})(), y)


def test_matrices_and_conjugates_that_are_nearly_right():
    "The least eigenvalue that rounding may leave, and a dual value that exceeds the primal one by tol"
    y, rounding = np.array([0.0, 1.0]), 2 * np.finfo(float).eps ** 0.75
    minimize_convex(np.diag([1.0, -0.3 * rounding]), y, "squared", 1.0)
    with pytest.raises(IndefiniteKernel, match="cᵀKc"):
        minimize_convex(np.diag([1.0, -3 * rounding]), y, "squared", 1.0)
    X, y, _ = problem()
    K, tol = Gaussian(1.0)(X), 1e-6
    primal = minimize_convex(K, y, Nearly(), 1.0).primal
    for times, refused in ((0.3, False), (3.0, True)):
        loss = type("Low", (Nearly,), {"least": -times * tol * primal / len(y)})()
        if refused:
            with pytest.raises(LawBroken, match="≤ primal value"):
                minimize_convex(K, y, loss, 1.0, tol=tol)
        else:
            minimize_convex(K, y, loss, 1.0, tol=tol)


@pytest.mark.parametrize("loss", [absolute, epsilon_insensitive(0.1), quantile(0.3)], **by_name)
def test_eigenvalues_below_0_by_rounding_do_not_end_the_steps(loss):
    "Of a line through 0, whose slope a search finds, too"
    x, lam, lost = np.linspace(-1, 1, 20), 1e-9, 1e-12
    y = np.sin(9 * x)
    found = minimize_convex(np.outer(x, x) - lost * np.eye(20), y, loss, lam)
    line = minimize_scalar(lambda s: loss(y, s * x).sum() + lam * s**2, (-1, 1), tol=1e-10)
    moved = 20 * lost / (4 * lam)  # Σ uᵢ² lost / (4 lam) of the dual value, |uᵢ| ≤ 1
    assert found.primal == pytest.approx(line.fun, abs=moved)


LINES = {  # a convex function that falls at 0, its two derivatives
    "a parabola": lambda t: (t**2 - 5 * t, 2 * t - 5, 2.0),
    "far away": lambda t: (np.exp(-t) + 0.01 * t, 0.01 - np.exp(-t), np.exp(-t)),
    "steep beyond": lambda t: (np.cosh(9 * t - 1), 9 * np.sinh(9 * t - 1), 81 * np.cosh(9 * t - 1)),
    "a step too far": lambda t: (np.hypot(1, 60 * t - 3), *_hyperbola(60 * t - 3, 60)),
    "a step a million times too far": lambda t: (
        np.hypot(1, 1e6 * t - 3),
        *_hyperbola(1e6 * t - 3, 1e6),
    ),
    "without a bend": lambda t: (abs(t - 0.9), np.sign(t - 0.9), 0.0),
}


def _hyperbola(s, speed):
    return speed * s / np.hypot(1, s), speed**2 / np.hypot(1, s) ** 3


@pytest.mark.parametrize("name", LINES)
def test_the_lowest_point_of_a_line_is_about_that_of_a_search(name):
    look, least = LINES[name], minimize_scalar(lambda t: LINES[name](t)[0], (0, 1), tol=1e-10)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = lowest(look)
    fall = look(0.0)[0] - least.fun
    assert t > 0 and look(t)[0] <= least.fun + 0.12 * fall
    if name in ("a parabola", "far away"):
        assert t == pytest.approx(least.x, rel=0.1) and t > 2


def test_a_line_that_rises_below_what_rounding_sees_is_not_followed_backwards():
    "Its values are equal for |t| up to thousands, and lower at t = −2e7, where its slope points"
    assert lowest(lambda t: (1e6 + 2e-12 * t, 2e-12, 1e-19)) == 1.0


def test_where_nothing_is_lower_a_step_is_0():
    assert lowest(lambda t: (t, -1.0, 1.0)) == 0.0  # it says that it falls, and does not
    assert lowest(lambda t: (np.nan, -1.0, 1.0)) == 0.0


@pytest.mark.parametrize("name", ["weighted risk", "mode on features", "logistic_primal"])
def test_a_line_has_the_derivatives_that_it_says(name, monkeypatch):
    rng, seen = np.random.default_rng(0), []
    X, _, sign = problem(n=30)
    w = rng.uniform(0.2, 3, 30)

    def checked(look):
        for t in (0.0, 0.7, 1.6):
            (_, rise, bend), h = look(t), 1e-5
            (before, falls, _), (after, rises, _) = look(t - h), look(t + h)
            near = dict(rel=1e-5, abs=1e-6)
            assert rise == pytest.approx((after - before) / (2 * h), **near)
            assert bend == pytest.approx((rises - falls) / (2 * h), **near)
            seen.append(abs(rise))
        return 0.3  # a line later is none of the first one

    monkeypatch.setattr(convex, "lowest", checked)
    monkeypatch.setattr(linear_machines, "lowest", checked)
    if name == "weighted risk":
        with pytest.raises(ConvergenceFailure):
            minimize_risk(Gaussian(1.0), X, sign, "logistic", 0.3, weights=w, max_iter=3)
    elif name == "mode on features":
        with pytest.raises(ConvergenceFailure):
            F = rng.normal(size=(30, 4))
            _mode(F, sign, w, _curvature(F, w / 4), steps=3)
    else:
        with pytest.warns(RuntimeWarning, match="Newton step"):
            logistic_primal(lambda X: X, X, sign, 0.3, weights=w, max_iter=3)
    assert len(seen) >= 9 and min(seen) > 1e-4


LOW_RANK = {
    "linear": lambda X: X @ X.T,
    "quadratic": lambda X: (1 + (X + 1) @ (X + 1).T) ** 2,
    "wide": Gaussian(100.0),
}


@pytest.mark.parametrize("name", LOW_RANK)
def test_matrices_of_low_rank_and_large_scale_end_at_the_optimum(name):
    "Of labels that a plane divides, where long steps would enlarge what rounding left"
    for seed in range(80):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(rng.integers(2, 30), rng.integers(1, 4)))
        u, scale = X @ rng.normal(size=X.shape[1]), 10 ** rng.uniform(5, 9.5)
        y = np.where(u > np.median(u), 1.0, -1.0)
        K = scale * LOW_RANK[name](X)
        found = minimize_convex(K, y, logistic, 0.5)
        eigenvalues, Q = np.linalg.eigh(K)
        F = Q * np.sqrt(np.maximum(eigenvalues, 0))
        assert found.primal == pytest.approx(_least_logistic(F, y), rel=1e-5)


def _least_logistic(F, y):
    "The least of Σ log(1 + exp(−y F w)) + ½ ‖w‖², by halved steps of Newton in w"
    w, value = np.zeros(F.shape[1]), lambda w: np.logaddexp(0, -y * (F @ w)).sum() + w @ w / 2
    for _ in range(100):
        p = special.expit(-y * (F @ w))
        H = np.eye(len(w)) + F.T @ (F * (p * (1 - p))[:, None])
        step = np.linalg.solve(H, w - F.T @ (y * p))
        t = next((t for t in 0.5 ** np.arange(40) if value(w - t * step) < value(w)), 0.0)
        w = w - t * step
    return value(w)


@pytest.mark.parametrize("scale", [10.0, 100.0, 1000.0])
def test_log_odds_of_large_scale_take_few_steps(scale, monkeypatch):
    "Newton's own are too short: the curvature at 0 says little of that at the end"
    X, _, _ = problem(n=200)
    K, sign = scale * Gaussian(1.0)(X), np.where(X[:, 0] > 0, 1.0, -1.0)
    found = minimize_convex(K, sign, logistic, 0.5)
    monkeypatch.setattr(convex, "lowest", lambda look: 1.0)
    plain = minimize_convex(K, sign, logistic, 0.5)
    assert found.primal == pytest.approx(plain.primal, rel=1e-9)
    assert found.iterations <= 9
    assert found.iterations <= plain.iterations - {10.0: 1, 100.0: 2, 1000.0: 3}[scale]


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_no_certificate_without_a_kernel(loss):
    X, _, sign = problem(n=8)
    with pytest.raises((IndefiniteKernel, ConvergenceFailure), match="is not positive"):
        minimize_convex(-Gaussian(1.0)(X), sign, loss, 1.0)


def test_probabilities_in_blocks(monkeypatch):
    X, _, sign = problem()
    fit = gp_classification(4 * Gaussian(1.0), X, sign)
    whole = fit.probability(X)
    monkeypatch.setattr(arrays.settings, "block_mib", 1e-4)
    np.testing.assert_allclose(fit.probability(X), whole, rtol=1e-12)


K8 = G(X)
BAD_TOO = {
    "steps of text": (
        lambda: minimize_risk(G, X, Y, "absolute", 1, max_iter="a"),
        TypeError,
        "max_iter = 'a'",
    ),
    "no steps": (
        lambda: minimize_risk(G, X, Y, "absolute", 1, max_iter=0),
        ValueError,
        "max_iter = 0",
    ),
    "K nan": (lambda: minimize_convex(K8 * np.nan, Y, squared, 1), ValueError, "K is not finite"),
    "K wide": (lambda: minimize_convex(K8[:3], Y, squared, 1), ValueError, r"K has shape \(3, 8\)"),
    "K askew": (lambda: minimize_convex(np.triu(K8), Y, squared, 1), ValueError, "not symmetric"),
    "K and labels": (lambda: minimize_convex(K8, Y, hinge, 1), ValueError, "labels"),
    "lam of engine": (lambda: minimize_convex(K8, Y, squared, 0), ValueError, "lam = 0"),
    "two targets": (lambda: minimize_convex(K8, Y[:, None], squared, 1), ValueError, "ravel"),
    "certificate": (
        lambda: certificate(K8, Y, "squared", 1, Y[:3], Y),
        ValueError,
        "alpha has shape",
    ),
    "other key": (lambda: as_loss("huber(eps=2)"), ValueError, r"huber\(1\)"),
    "two numbers": (lambda: as_loss("huber(1,2)"), ValueError, r"huber\(1\)"),
    "check labels": (
        lambda: check_loss("hinge", [0.0, 1.0, 2.0]),
        ValueError,
        "3 different labels",
    ),
    "check nothing": (lambda: check_loss("squared", []), ValueError, "empty"),
    "check no trials": (lambda: check_loss("squared", [1.0], trials=0), ValueError, "trials = 0"),
    "abstract": (lambda: minimize_risk(G, X, Y, Loss, 1), NotImplementedError, "must write"),
    "risk of columns": (
        lambda: regularized_risk(ridge(G, X, Y), X, Y[:, None], 1),
        ValueError,
        "ravel",
    ),
    "risk of labels": (
        lambda: regularized_risk(ridge(G, X, Y), X, Y, 1, "hinge"),
        ValueError,
        "labels",
    ),
    "risk of a sine": (lambda: regularized_risk(np.sin, X, Y, 1), TypeError, "RKHSFunction"),
    "risk of giants": (
        lambda: regularized_risk(ridge(G, X, Y), X, 1e300 * Y, 1),
        ValueError,
        "overflows the floats; rescale f and X and y",
    ),
    "law of a fit": (lambda: check_representer(np.sin, X, Y, 1), TypeError, r"\.function"),
    "law by text": (lambda: check_representer(ridge(G, X, Y), X, Y, 1, rng="a"), TypeError, "rng"),
    "no draws": (lambda: gaussian_process(G, X, Y, 1).sample(X, -1, 0), ValueError, "n = -1"),
    "many draws": (
        lambda: gaussian_process(G, X, Y, 1).sample(X, 10**9, 0),
        MemoryError,
        "result_mib",
    ),
    "limits of text": (
        lambda: gaussian_process(G, X[:, 0], Y, 1).plot("a", "b"),
        TypeError,
        "plot = 'a'",
    ),
    "restarts": (lambda: fit_hyperparameters(G, X, Y, 1, restarts=-1), ValueError, "restarts = -1"),
    "path of zero": (
        lambda: ridge_path(Constant(0), X, Y, [1e-320]),
        NotPositiveDefinite,
        "below the rounding",
    ),
    "gradient": (lambda: log_marginal(1e-200 * G, X, Y, 1e-200), ValueError, "gradient of log p"),
    "spline far": (lambda: smoothing_spline(1e200 * X[:, 0], Y, 1), ValueError, "x spans"),
    "spline near": (lambda: smoothing_spline([0, 1e-300, 1], [0, 1, 2], 1), ValueError, "apart"),
    "spline high": (lambda: smoothing_spline(X[:, 0], 1e200 * Y, 1), ValueError, "largest .y."),
    "spline heavy": (
        lambda: smoothing_spline(X[:, 0], Y, 1, 1e200 * SIGN**2),
        ValueError,
        "largest .we",
    ),
    "null space None": (lambda: semiparametric(G, X, Y, None), TypeError, "null_space is of type"),
    "missing labels": (lambda: gp_classification(G, X, [None, "a"] * 4), ValueError, "missing"),
    "prior too wide": (
        lambda: gp_classification(1e200 * G, X, SIGN),
        ConvergenceFailure,
        "smaller scale",
    ),
}


@pytest.mark.parametrize("name", BAD_TOO)
def test_more_bad_input(name):
    call, error, words = BAD_TOO[name]
    with pytest.raises(error, match=words):
        call()


# one look at points, points of any kind, one meaning of function


@pytest.mark.parametrize(
    "call",
    [
        lambda k: ridge(k, X, Y),
        lambda k: ridge(k, X, Y, offset=True, weights=np.arange(8.0)),
        lambda k: ridge_path(k, X, Y),
        lambda k: gaussian_process(k, X, Y, 0.1),
        lambda k: log_marginal(k, X, Y, 0.1),
        lambda k: minimize_risk(k, X, Y, "huber"),
        lambda k: semiparametric(k, X, Y, [lambda X: 1.0]),
        lambda k: gp_classification(k, X, SIGN),
        lambda k: nadaraya_watson(k, X, Y),
    ],
)
def test_each_call_looks_at_its_points_once(call):
    assert counted(call) == (1, 1)


WORDS = ["".join(np.random.default_rng(i).choice(list("abcd"), 6)) for i in range(12)]


@pytest.mark.parametrize(
    "fit",
    [
        lambda k, X: ridge(k, X, shares, 0.1),
        lambda k, X: ridge(k, X, shares, 0.1, offset=True),
        lambda k, X: ridge_path(k, X, shares),
        lambda k, X: ridge_path(k, X, shares, offset=True),
        lambda k, X: gaussian_process(k, X, shares, 0.1),
        lambda k, X: minimize_risk(k, X, shares, "absolute"),
        lambda k, X: minimize_risk(k, X, np.where(shares > 0.2, 1, -1), "hinge"),
        lambda k, X: semiparametric(k, X, shares, lambda X: np.ones(len(X)), 0.1),
        lambda k, X: gp_classification(k, X, shares > 0.2),
    ],
)
def test_words_are_points(fit):
    k, G = Letters(), Precomputed(Letters()(WORDS))
    ours, theirs = fit(k, WORDS), fit(G, np.arange(12))
    np.testing.assert_allclose(ours(WORDS[:5]), theirs(np.arange(5)), atol=1e-9)
    assert ours.k == k and "\n" not in repr(ours)
    if hasattr(ours, "var"):
        np.testing.assert_allclose(ours.var(WORDS[:5]), theirs.var(np.arange(5)), atol=1e-9)


shares = np.array([word.count("a") / 6 for word in WORDS])


def test_the_function_of_a_path_is_one_and_still_answers_as_a_method():
    for offset in (False, True):
        path = ridge_path(G, X, Y, offset=offset)
        best = path.function_at()
        for f in (
            path.function,
            path.function(),
            path.function_at(path.best),
            path.function(path.best),
        ):
            np.testing.assert_array_equal(f(X), best(X))
        np.testing.assert_array_equal(path(X), path.predict(X))
        np.testing.assert_array_equal(path(X), path.function(X))
        np.testing.assert_array_equal(path.function(lam=0.5)(X), path.function_at(0.5)(X))
        assert path.k is G and pickle.loads(pickle.dumps(path.function))(X) == pytest.approx(
            best(X)
        )
    assert isinstance(ridge_path(G, X, Y).function, RKHSFunction)
    assert ridge_path(G, X, Y).function @ ridge(G, X, Y) == ridge_path(
        G, X, Y
    ).function_at() @ ridge(G, X, Y)


def test_the_best_of_a_path_leaves_one_out_and_is_marked():
    "Where gcv, which spreads the leverage evenly, would choose another"
    rng = np.random.default_rng(2)
    x, lams = np.r_[rng.normal(size=12), 6.0], np.logspace(-4, 2, 30)
    y = np.sin(3 * x) + 0.3 * rng.normal(size=13)
    path = ridge_path(Gaussian(0.5), x, y, lams)
    errors = [np.mean(refits_without_one(Gaussian(0.5), x, y, lam) ** 2) for lam in lams]
    assert path.best == lams[np.argmin(errors)] != lams[np.argmin(path.gcv)]
    *_, mark = path.plot(ax=plt.figure().gca()).lines
    np.testing.assert_allclose(mark.get_data(), [[path.best], [min(errors)]], rtol=1e-9)
    np.testing.assert_array_equal(path(x), path.function_at(path.best)(x))
    np.testing.assert_array_equal(path.function(np.array(0.5))(x), path.function_at(0.5)(x))


def refits_without_one(k, x, y, lam):
    every = np.arange(len(x))
    return np.array(
        [y[i] - ridge(k, x[every != i], y[every != i], lam)(x[i : i + 1])[0] for i in every]
    )


def test_a_process_is_drawn_with_two_standard_deviations():
    gp = gaussian_process(Gaussian(0.5), X[:, 0], Y, 0.3)
    ax = gp.plot(-1.0, 2.0, ax=plt.figure().gca())
    x, mean = ax.lines[0].get_data()
    assert (x[0], x[-1]) == (-1.0, 2.0)
    np.testing.assert_array_equal(mean, gp(x))
    band = ax.collections[0].get_paths()[0].vertices
    width = 2 * np.sqrt(gp.cov(x).diagonal())
    for edge in (mean - width, mean + width):
        corners = np.column_stack([x, edge])
        assert np.abs(band[:, None] - corners).max(axis=2).min(axis=0).max() < 1e-9


def test_variances_that_rounding_makes_negative_are_0():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 9, 60)
    gp = gaussian_process(Laplace(1), x, np.sin(x), 1e-300)
    assert (gp.var(x) >= 0).all() and gp.var(x).max() < 1e-14
    np.testing.assert_allclose(gp.sample(x, 3, 0) - np.sin(x), 0, atol=1e-6)


def test_what_was_fitted_is_called_and_predicts():
    for fit in (
        ridge(G, X, Y, offset=True),
        minimize_risk(G, X, Y),
        gaussian_process(G, X, Y, 0.1),
    ):
        np.testing.assert_array_equal(fit(X), fit.predict(X))
        assert fit.k is G
    classifier = gp_classification(G, X, SIGN)
    np.testing.assert_array_equal(classifier(X), classifier.decision(X))
    found = fit_hyperparameters(G, X, Y, 0.1, max_iter=3)
    kernel, noise, value = found
    assert (found.kernel, found.noise, found.log_marginal) == (kernel, noise, value)
    assert "\n" not in repr(found)


@pytest.mark.parametrize("offset", [False, True])
def test_a_path_with_weights_is_ridge_with_weights_and_its_scores_leave_one_out(offset):
    rng = np.random.default_rng(4)
    X, Y, w = (
        rng.normal(size=(30, 2)),
        rng.normal(size=(30, 2)),
        rng.integers(0, 4, 30).astype(float),
    )
    k, lams = Gaussian(0.7), [0.02, 0.5]
    path = ridge_path(k, X, Y, lams, offset=offset, weights=w)
    for lam, loo in zip(lams, path.loo, strict=True):
        fit = ridge(k, X, Y, lam, offset=offset, weights=w)
        np.testing.assert_allclose(path.function_at(lam)(X), fit(X), atol=1e-11)
        errors = [
            w[i]
            * (Y[i] - ridge(k, X[j], Y[j], lam, offset=offset, weights=w[j])(X[i : i + 1])[0]) ** 2
            for i, j in ((i, np.arange(30) != i) for i in range(30))
        ]
        assert loo == pytest.approx(np.sum(errors) / w.sum() / 2, rel=1e-9)
    twice = ridge_path(k, np.repeat(X, 2, axis=0), np.repeat(Y, 2, axis=0), lams, offset=offset)
    np.testing.assert_allclose(
        ridge_path(k, X, Y, lams, offset=offset, weights=np.full(30, 2.0)).function_at(0.5)(X),
        twice.function_at(0.5)(X),
        atol=1e-10,
    )


def test_weights_of_any_size_and_on_one_point():
    rng = np.random.default_rng(7)
    X = rng.uniform(-1, 1, (30, 1))
    y = np.sin(3 * X[:, 0]) + 0.1 * rng.standard_normal(30)
    w = rng.uniform(0.5, 2, 30)
    k = Gaussian(0.5)
    plain = ridge_path(k, X, y, weights=w)
    for size in (1e-200, 3.0, 1e200):
        scaled = ridge_path(k, X, y, weights=w * size)
        np.testing.assert_allclose(
            scaled.loo, plain.loo, rtol=1e-5
        )  # n eps over the least lam, 1e-8
        np.testing.assert_allclose(scaled.best / size, plain.best, rtol=1e-12)
    alone = np.where(np.arange(30) == 3, 1.0, 0.0)
    with pytest.raises(ValueError, match="point 3 alone"):
        ridge_path(k, X, y, weights=alone, offset=True)


def test_a_path_that_ends_at_an_edge_says_so_when_its_best_is_asked_for():
    x = np.linspace(0, 3, 40)
    noise = np.random.default_rng(0).normal(size=40)
    clean = ridge_path(Gaussian(0.5), x, np.sin(4 * x), lams=np.geomspace(1e-3, 1, 20))
    with pytest.warns(UserWarning, match="lam = 0.001 is the least that was tried"):
        assert clean.best == 1e-3
    with pytest.warns(UserWarning, match="lam = 0.1 is the largest that was tried"):
        assert ridge_path(Gaussian(0.3), x, noise, lams=np.geomspace(1e-6, 0.1, 9)).function(
            x
        ).shape == (40,)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        repr(clean), clean.function_at(0.1), clean.plot()
        assert ridge_path(Gaussian(0.5), x, np.sin(4 * x) + 0.3 * noise).best > 0


def test_the_grid_of_a_path_is_in_units_of_the_kernel():
    "50 values from 1e-8 to 1e3 times the mean of k(x, x); from n eps of it where that is more"
    X, y = np.random.default_rng(0).normal(size=(2, 30, 1))
    for scale in (1e-6, 1.0, 4e5):
        lams = ridge_path(scale * Gaussian(1.0), X, y[:, 0]).lams
        np.testing.assert_allclose(lams, scale * np.geomspace(1e-8, 1e3, 50), rtol=1e-9)
    single = ridge_path(Gaussian(1.0), X.astype(np.float32), y[:, 0].astype(np.float32)).lams
    assert single[0] == pytest.approx(30 * np.finfo(np.float32).eps, rel=1e-5)


def test_a_null_part_alone_takes_named_columns_in_order():
    D = pd.DataFrame(np.random.default_rng(4).uniform(size=(20, 2)), columns=["a", "b"])
    fit = semiparametric(Gaussian(1.0), D, D.a - 2 * D.b, lambda X: X, 0.1)
    alone = D.values @ fit.null_part.beta
    for frame in (D, D[["b", "a"]], D.values):
        np.testing.assert_allclose(fit.null_part(frame), alone, rtol=1e-12)
    np.testing.assert_allclose(fit(D[["b", "a"]]), fit.function(D) + alone, rtol=1e-12)
    with pytest.raises(ValueError, match="X has no column 'b'; it has a"):
        fit.null_part(D[["a"]])


def test_laws_of_a_fit_take_its_named_columns_in_any_order():
    D = pd.DataFrame(np.random.default_rng(4).uniform(size=(20, 2)), columns=["a", "b"])
    y = np.sin(3 * D.a.values) - D.b.values
    for k in (Gaussian(1.0).on(["a"]) + Linear(), Linear(), Gaussian([0.5, 5.0])):
        fit = ridge(k, D, y, 0.1)
        for frame in (D, D[["b", "a"]]):
            check_representer(fit, frame, y, 0.1)


def test_a_spline_of_labels_predicts_labels():
    x, y = [0.0, 1.0, 2.0, 3.0, 4.0], ["n", "y", "n", "y", "y"]
    fit = smoothing_spline(x, y, 0.1, loss="logistic")
    assert fit.predict(x).tolist() == np.where(fit(x) >= 0, "y", "n").tolist()
    assert set(fit.predict(x)) == {"n", "y"}


def test_formulas_of_an_own_loss_may_be_static_and_take_options():
    class Tilted(Loss):
        def __call__(self, y, f, by=None):
            return (y - f) ** 2 * (1 if by is None else by)

        @staticmethod
        def derivative(y, f):
            return 2 * (f - y)

    loss, y, f = Tilted(), np.array([100], "i1"), np.array([-100], "i1")
    assert loss(y, f) == loss(y, f, None) == 40_000 and loss(y, f, by=2) == 80_000
    assert loss.derivative(1.0, 2.0) == 2
    assert squared([1, -1], np.array([0.5, 0.5])).tolist() == [0.25, 2.25]
