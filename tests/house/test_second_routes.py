"""Second routes for names that the other tests only pass through: each against something of its own."""

import json
import math
import re
import sys
import zipfile

import matplotlib
import matplotlib.pyplot
import numpy as np
import pytest
import scipy.optimize
import sklearn.gaussian_process.kernels
from scipy.special import ndtri
from scipy.stats import qmc
from sklearn.decomposition import KernelPCA as PeerPCA
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge as PeerRidge
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel, rbf_kernel, sigmoid_kernel
from sklearn.svm import SVC

from conftest import ROOT
from rkhs_notes import settings
from rkhs_notes.apps.cli import notebook_folder, open_lab
from rkhs_notes.apps.comparison import ColumnChange, compare_tables
from rkhs_notes.apps.estimators import KernelPCA, KernelRidge
from rkhs_notes.apps.play import (
    Draggable,
    drag_interpolant,
    drag_machine,
    drag_posterior,
    drag_witness,
    script,
)
from rkhs_notes.base.arrays import SparseRows
from rkhs_notes.base.contracts import contract, fuzz
from rkhs_notes.base.errors import (
    IndefiniteKernel,
    NoFiniteFeatureMap,
    NoSpectralMeasure,
    RKHSError,
)
from rkhs_notes.base.plots import palette, use_style
from rkhs_notes.base.words import Count
from rkhs_notes.deeper.conditioning import ConditionalEmbedding, conditional_embedding
from rkhs_notes.deeper.streams import FeatureComponents, StreamingMeans
from rkhs_notes.deeper.two_samples import gaussian_grid
from rkhs_notes.deeper.zoo import (
    Bilinear,
    Cauchy,
    Delta,
    FiniteRank,
    Integral,
    Laplace,
    Mahalanobis,
    Matern,
    Periodic,
    Rank1,
    RationalQuadratic,
    from_gamma,
    from_sklearn,
    to_gamma,
)
from rkhs_notes.engines.data.stored import write_expression
from rkhs_notes.engines.features.feature_maps import feature_map, feature_rule
from rkhs_notes.engines.features.normals import sobol_normals
from rkhs_notes.engines.features.random_maps import random_rule
from rkhs_notes.engines.features.spectral import mixture, spectral_measure, spectral_rule
from rkhs_notes.engines.functions.known import PowerFunction
from rkhs_notes.engines.functions.measures import gauss_legendre, lp_norm
from rkhs_notes.engines.functions.series import Formula
from rkhs_notes.engines.functions.vectors import parallelogram_defect
from rkhs_notes.engines.kernels.composites import Anova, Conjugate, GaussianOf, Tensor
from rkhs_notes.engines.kernels.gram import as_kernel
from rkhs_notes.engines.machines.kernel_machines import svc_path
from rkhs_notes.engines.solving.closed_spectra import (
    BrownianBridge,
    bridge_spectrum,
    brownian_spectrum,
    periodic_spectrum,
)
from rkhs_notes.engines.solving.convex import ConvexSolution, minimize_convex
from rkhs_notes.engines.solving.losses import (
    Absolute,
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    PiecewiseQuadratic,
    Quantile,
    Squared,
    SquaredHinge,
)
from rkhs_notes.engines.solving.mercer_expansions import TruncatedKernel
from rkhs_notes.engines.solving.ridge_fits import OffsetFit, ridge
from rkhs_notes.engines.solving.systems import NullPart
from rkhs_notes.engines.testing.discrepancies import DistanceInduced, mean_embedding, witness
from rkhs_notes.engines.testing.resampling import linear_forms
from rkhs_notes.kernels import (
    Brownian,
    Constant,
    Exp,
    Gaussian,
    Indefinite,
    Linear,
    Normalized,
    On,
    Polynomial,
    Power,
    Product,
    Scaled,
    Sigmoid,
    Sum,
)
from rkhs_notes.rkhs import RKHSFunction

X = np.random.default_rng(0).normal(size=(12, 2))
close = np.testing.assert_allclose


def same_gram(kind, k, K):
    assert isinstance(k, kind)
    close(k(X), K, rtol=1e-10, atol=1e-13)


@pytest.mark.second_route(
    "Exp", "GaussianOf", "Kernel", "Normalized", "On", "Power", "Product", "Scaled",
    "matrices, entry by entry",
)  # fmt: skip
def test_the_algebra_of_kernels_entry_by_entry():
    inner = X @ X.T
    G, lengths = np.exp(-squares(inner) / 2), 1 + (X * X).sum(axis=1)
    same_gram(Product, Gaussian(1.0) * Linear(), G * inner)
    same_gram(Scaled, 3 * Gaussian(1.0), 3 * G)
    same_gram(Power, Linear() ** 3, inner * inner * inner)
    same_gram(Exp, Linear().exp(), np.exp(inner))
    same_gram(On, Linear().on([1]), np.outer(X[:, 1], X[:, 1]))
    same_gram(GaussianOf, Polynomial(2).gaussian_of(2.0), np.exp(-squares((inner + 1) ** 2) / 8))
    normalized = (inner + 1) / np.sqrt(np.outer(lengths, lengths))
    same_gram(Normalized, (Linear() + Constant(1.0)).normalized(), normalized)


def squares(K):
    "‖φ(x) − φ(y)‖² of the features of a Gram matrix"
    return np.diag(K)[:, None] + np.diag(K) - 2 * K


@pytest.mark.second_route(
    "Gaussian", "Laplace", "Linear", "Mahalanobis", "Matern", "Periodic", "Polynomial",
    "RationalQuadratic", "Sigmoid", "scikit-learn",
)  # fmt: skip
def test_leaves_by_scikit_learn():
    inner, theirs = X @ X.T, sklearn.gaussian_process.kernels
    close(Linear()(X), inner, rtol=1e-12)
    close(Gaussian(0.7)(X), rbf_kernel(X, gamma=1 / 0.98), rtol=1e-12)
    close(Polynomial(3)(X), polynomial_kernel(X, degree=3, gamma=1, coef0=1), rtol=1e-12)
    close(Sigmoid(0.5, 0.3)(X), sigmoid_kernel(X, gamma=0.5, coef0=0.3), rtol=1e-12)
    close(Laplace(0.7)(X), laplacian_kernel(X, gamma=1 / 0.7), rtol=1e-12)
    close(Mahalanobis([0.5, 2.0])(X), RBF([0.5, 2.0])(X), rtol=1e-12)
    close(RationalQuadratic(2.0, 0.7)(X), theirs.RationalQuadratic(0.7, 2.0)(X), rtol=1e-12)
    for nu in (0.5, 0.8, 1.5, 3.2):
        close(Matern(nu, 0.7)(X), theirs.Matern(0.7, nu=nu)(X), rtol=1e-9, atol=1e-14)
    line = X[:, :1]
    close(Periodic(1.3, 0.7)(line), theirs.ExpSineSquared(0.7, 1.3)(line), rtol=1e-10)


@pytest.mark.second_route(
    "Anova", "Bilinear", "Cauchy", "Conjugate", "Constant", "Delta", "DistanceInduced", "FiniteRank",
    "Rank1", "Sum", "Tensor", "brute force over all pairs",
)  # fmt: skip
def test_leaves_pair_by_pair():
    A, d, f = np.array([[2.0, 0.5], [0.5, 1.0]]), X[:, None] - X, np.sin(X[:, 0])
    outer, parts = np.outer(f, f), np.exp(-(d**2) / 2)
    close(
        Cauchy(0.7)(X),
        [[1 / ((1 + (u / 0.7) ** 2) * (1 + (v / 0.7) ** 2)) for u, v in row] for row in d],
    )
    close(Bilinear(A)(X), [[x @ A @ y for y in X] for x in X], rtol=1e-12)
    close(Rank1(lambda X: np.sin(X[:, 0]))(X), outer, rtol=1e-12)
    both = FiniteRank([2.0, 3.0], [lambda X: np.sin(X[:, 0]), lambda X: X[:, 1]])
    close(both(X), 2 * outer + 3 * np.outer(X[:, 1], X[:, 1]), rtol=1e-12)
    close(Conjugate(Linear(), lambda X: np.sin(X[:, 0]))(X), outer * (X @ X.T), rtol=1e-12)
    close(Anova(Gaussian(1.0), 1)(X), parts.sum(axis=2), rtol=1e-12)
    close(Anova(Gaussian(1.0), 2)(X), parts[:, :, 0] * parts[:, :, 1], rtol=1e-12)
    close(Anova(Gaussian(1.0), 2, up_to=True)(X), (1 + parts).prod(axis=2), rtol=1e-12)
    close(
        Tensor(Linear(), Gaussian(1.0))(X), np.outer(X[:, 0], X[:, 0]) * parts[:, :, 1], rtol=1e-12
    )
    length = [np.sqrt(x @ x) for x in X]
    apart = [[np.sqrt((x - y) @ (x - y)) for y in X] for x in X]
    close(DistanceInduced()(X), (np.add.outer(length, length) - apart) / 2, atol=1e-14)
    close((Constant(2.0) + Linear() + Delta())(X), 2 + X @ X.T + np.eye(12), rtol=1e-12)
    assert isinstance(Constant(2.0) + Linear(), Sum)


@pytest.mark.second_route("Brownian", "BrownianBridge", "Integral", "brute force over all pairs")
def test_kernels_of_an_interval_pair_by_pair():
    t, nodes = [0.1, 0.4, 0.4, 0.9], gauss_legendre(0, 1, 7)
    close(Brownian()(t), [[min(x, y) for y in t] for x in t])
    close(BrownianBridge()(t), [[min(x, y) - x * y for y in t] for x in t], rtol=1e-14)
    z, w = np.ravel(nodes.points), nodes.weights
    close(
        Integral(lambda x, z: x + z**2, nodes)(t),
        [[w @ ((x + z**2) * (y + z**2)) for y in t] for x in t],
    )


@pytest.mark.second_route("from_gamma", "from_sklearn", "to_gamma", "scikit-learn")
def test_bandwidths_in_the_words_of_others():
    close(from_gamma(0.3)(X), rbf_kernel(X, gamma=0.3), rtol=1e-12)
    assert to_gamma(Gaussian(2.0)) == 1 / 8
    close(from_sklearn(RBF(0.7))(X), RBF(0.7)(X), rtol=1e-12)


@pytest.mark.second_route(
    "Absolute", "EpsilonInsensitive", "Hinge", "Huber", "Logistic", "Quantile", "Squared",
    "SquaredHinge", "their cases, one by one",
)  # fmt: skip
def test_losses_by_their_cases():
    r = np.linspace(-3, 3, 25)
    zero, one, by = np.zeros(25), np.ones(25), r.tolist()
    close(Squared()(r, zero), [u * u for u in by], atol=1e-15)
    close(Absolute()(r, zero), [max(u, -u) for u in by], atol=1e-15)
    close(
        Huber(0.7)(r, zero),
        [u * u / 2 if abs(u) <= 0.7 else 0.7 * abs(u) - 0.245 for u in by],
        atol=1e-15,
    )
    close(Quantile(0.3)(r, zero), [0.3 * u if u > 0 else -0.7 * u for u in by], atol=1e-15)
    close(EpsilonInsensitive(0.5)(r, zero), [max(0.0, u - 0.5, -u - 0.5) for u in by], atol=1e-15)
    close(Hinge()(one, r), [1 - u if u < 1 else 0.0 for u in by], atol=1e-15)
    close(SquaredHinge()(one, r), [(1 - u) ** 2 if u < 1 else 0.0 for u in by], atol=1e-15)
    close(Logistic()(one, r), [math.log(1 + math.exp(-u)) for u in by], rtol=1e-13)


PIECEWISE = [Absolute(), Huber(0.7), Quantile(0.3), EpsilonInsensitive(0.5), Hinge()]


@pytest.mark.second_route("PiecewiseQuadratic", "the largest of many differences")
@pytest.mark.parametrize("loss", PIECEWISE, ids=str)
def test_a_conjugate_is_the_largest_difference(loss):
    "ℓ*(u) = max over f of u f − ℓ(y, f), at many f"
    f = np.linspace(-4, 4, 80_001)
    assert isinstance(loss, PiecewiseQuadratic)
    for y in (1.0, -1.0):
        for u in (-0.9 * y, -0.2 * y, 0.0) if loss.labels else (-0.2, 0.0, 0.25):
            by_hand = np.max(u * f - loss(np.full(f.shape, y), f))
            close(loss.conjugate(np.array([y]), np.array([u])), by_hand, atol=1e-6)


@pytest.mark.second_route("ConvexSolution", "minimize_convex", "SciPy's minimiser")
def test_the_engine_of_convex_losses_finds_scipys_minimum():
    K, y = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 2), np.sign(X[:, 0])
    found = minimize_convex(K, y, "logistic", 0.3)
    by_scipy = scipy.optimize.minimize(
        lambda a: np.logaddexp(0, -y * (K @ a)).sum() + 0.3 * a @ K @ a, np.zeros(12), tol=1e-10
    )
    assert isinstance(found, ConvexSolution)
    close(found.primal, by_scipy.fun, rtol=1e-8)


@pytest.mark.second_route("NullPart", "known numbers")
@pytest.mark.second_route("OffsetFit", "the bordered system, by NumPy")
def test_an_offset_by_the_bordered_system():
    K, ones = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 2), np.ones((12, 1))
    fit = ridge(Gaussian(1.0), X, X[:, 0], 0.1, offset=True)
    solution = np.linalg.solve(
        np.block([[K + 0.1 * np.eye(12), ones], [ones.T, np.zeros((1, 1))]]), np.r_[X[:, 0], 0]
    )
    assert isinstance(fit, OffsetFit)
    close(np.r_[fit.function.alpha, fit.offset], solution, rtol=1e-9)
    part = NullPart([lambda x: 1.0, np.sin], np.array([2.0, 3.0]))
    close(part([0.0, np.pi / 2]), [2.0, 5.0])


@pytest.mark.second_route("svc_path", "scikit-learn")
def test_machines_of_several_prices_are_libsvms():
    y, Cs = np.sign(X[:, 0] + 0.3 * X[:, 1]), [0.1, 1.0, 10.0]
    for machine, C in zip(svc_path(Gaussian(1.0), X, y, Cs, tol=1e-7), Cs, strict=True):
        peer = SVC(C=C, gamma=0.5, tol=1e-7).fit(X, y)
        close(machine.decision(X), peer.decision_function(X), atol=1e-4)


@pytest.mark.second_route("KernelPCA", "scikit-learn")
def test_components_are_scikit_learns():
    ours, peer = KernelPCA(Gaussian(1.0), 2).fit(X), PeerPCA(2, kernel="rbf", gamma=0.5).fit(X)
    close(np.abs(ours.transform(X + 0.1)), np.abs(peer.transform(X + 0.1)), atol=1e-9)


@pytest.mark.second_route("FeatureMap", "feature_map", "feature_rule", "monomials, written out")
def test_features_of_a_polynomial_are_its_monomials():
    a, b = X.T
    by_hand = np.stack([a * a, 2**0.5 * a * b, b * b, 2**0.5 * a, 2**0.5 * b, np.ones(12)])
    phi = feature_map(Polynomial(2), 2)(X)
    close(phi @ phi.T, by_hand.T @ by_hand, atol=1e-14)
    close(np.sort(np.abs(phi), axis=1), np.sort(np.abs(by_hand.T), axis=1), rtol=1e-13)
    dim, function = feature_rule(Linear(), 2)
    close(function(X) @ function(X).T, X @ X.T, atol=1e-14)
    assert dim == 2
    with pytest.raises(NoFiniteFeatureMap):
        feature_rule(Gaussian(1.0), 2)


@pytest.mark.second_route("random_rule", "closed form")
def test_the_rule_of_finite_features_is_exact():
    D, function = random_rule(Linear(), 2, 64, np.random.default_rng(0))
    close(function(X) @ function(X).T, X @ X.T, atol=1e-14)
    assert function(X).shape == (12, D)
    with pytest.raises(NoFiniteFeatureMap):
        random_rule(Brownian(), 1, 64, np.random.default_rng(0))


@pytest.mark.second_route("spectral_rule", "closed form")
def test_the_spectral_rule_of_a_gaussian_draws_its_normals():
    w = spectral_rule(Gaussian(0.5), 1).sample(20000, np.random.default_rng(0))
    for d in (0.3, 1.0):  # the transform of a normal law
        close(np.mean(np.cos(np.ravel(w) * d)), np.exp(-2 * d * d), atol=4 / 20000**0.5)
    with pytest.raises(NoSpectralMeasure):
        spectral_rule(Linear(), 1)


@pytest.mark.second_route("SpectralMeasure", "mixture", "spectral_measure", "closed form")
def test_the_measure_of_a_sum_has_the_sum_for_its_transform():
    mu = mixture([spectral_measure(Gaussian(0.5), 1), spectral_measure(3 * Gaussian(2.0), 1)])
    w = np.ravel(mu.sample(20000, np.random.default_rng(0)))
    for d in (0.3, 1.0, 2.5):  # E cos(ω d) of the normal law of density exp(-d²/2σ²)
        wanted = (np.exp(-2 * d * d) + 3 * np.exp(-d * d / 8)) / 4
        close(np.mean(np.cos(w * d)), wanted, atol=4 / 20000**0.5)


@pytest.mark.second_route("RKHSFunction", "sums over all pairs")
def test_functions_are_sums_over_their_points():
    alpha = np.arange(1.0, 13.0)
    f = RKHSFunction(Linear(), X, alpha)
    close((2 * f - f / 4)(X), 1.75 * X @ (X.T @ alpha), rtol=1e-12)
    close((2 * f) @ f, 2 * alpha @ X @ X.T @ alpha, rtol=1e-12)


@pytest.mark.second_route("mean_embedding", "witness", "brute force over all pairs")
def test_embeddings_are_means_of_sections():
    k, Y, at = Gaussian(1.0), X[:5] + 1, X[:3] - 0.5
    means = [[np.mean([np.exp(-((x - z) @ (x - z)) / 2) for x in A]) for z in at] for A in (X, Y)]
    close(mean_embedding(k, X)(at), means[0], rtol=1e-12)
    close(witness(k, X, Y, normalized=False)(at), np.subtract(*means), rtol=1e-10)


@pytest.mark.second_route("gaussian_grid", "NumPy's median of all distances")
def test_the_grid_of_bandwidths_doubles_about_the_median():
    Z = np.vstack([X, X[:5] + 1])
    middle = np.median([np.sqrt((a - b) @ (a - b)) for i, a in enumerate(Z) for b in Z[:i]])
    close(
        [k.bandwidth for k in gaussian_grid(X, X[:5] + 1, 5)],
        middle * 2.0 ** np.arange(-2, 3),
        rtol=1e-12,
    )


@pytest.mark.second_route("Indefinite", "as_kernel", "a matrix with a negative value, typed out")
@pytest.mark.second_route("RKHSError", "raised where it should be")
def test_indefinite_functions_prove_it():
    class Minus(Indefinite):
        "min(x, y) − 1"

        def _gram(self, X, Y, xp):
            return np.minimum(X, Y.T) - 1.0

        def witness(self):
            return np.zeros((1, 1)), np.ones(1)

    close(Minus()([0.0, 3.0]), [[-1.0, -1.0], [-1.0, 2.0]])
    with pytest.raises(IndefiniteKernel, match=r"cᵀKc = -1 < 0"):
        as_kernel(Minus())
    with pytest.raises(RKHSError):
        as_kernel(Minus())
    assert as_kernel(Linear()) == Linear()
    with pytest.raises(TypeError, match="a Kernel"):
        as_kernel(np.dot)
    with pytest.raises(NotImplementedError):
        Indefinite.witness(Minus())


@pytest.mark.second_route("parallelogram_defect", "the definition, in numbers")
def test_the_defect_by_its_definition():
    f, g = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    close(parallelogram_defect(lambda h: lp_norm(h, 1), f, g), (2**2 + 2**2) / (2 + 2) - 1)
    close(parallelogram_defect(np.linalg.norm, f, g), 0.0, atol=1e-15)


@pytest.mark.second_route("PowerFunction", "NumPy")
def test_the_power_function_by_its_definition():
    places = np.array([[0.5, 0.5], [2.0, -1.0]])
    r2 = ((X[:, None] - X) ** 2).sum(axis=2)
    to = ((X[:, None] - places) ** 2).sum(axis=2)
    K, Kx = np.exp(-r2 / 2), np.exp(-to / 2)
    close(
        PowerFunction(Gaussian(1.0), X)(places) ** 2,
        1 - (Kx * np.linalg.solve(K, Kx)).sum(0),
        atol=1e-9,
    )


@pytest.mark.second_route(
    "bridge_spectrum", "periodic_spectrum", "their integral equations on a fine grid"
)
def test_spectra_by_their_integral_equations():
    x = (np.arange(4000) + 0.5) / 4000
    bridge = bridge_spectrum(5)
    psi = bridge.functions(x[:, None])
    K = np.minimum(x[::40, None], x) - x[::40, None] * x
    close(K @ psi / 4000, psi[::40] * bridge.eigenvalues, atol=1e-6)
    wave = periodic_spectrum(Periodic(1.0, 0.7), 5)
    psi = wave.functions(x[:, None])
    K = np.exp(-2 * np.sin(np.pi * (x[::40, None] - x)) ** 2 / 0.7**2)
    close(K @ psi / 4000, psi[::40] * wave.eigenvalues, atol=1e-12)


@pytest.mark.second_route("TruncatedKernel", "the sum of its terms")
def test_a_cut_series_is_the_sum_of_its_terms():
    k, x = TruncatedKernel(brownian_spectrum(3)), np.array([0.2, 0.9])
    nodes = (np.arange(3) + 0.5) * np.pi
    close(k(x), sum(2 * np.outer(np.sin(w * x), np.sin(w * x)) / w**2 for w in nodes), rtol=1e-13)


@pytest.mark.second_route("sobol_normals", "SciPy's Sobol sequence")
def test_quantiles_of_a_sobol_sequence():
    by_scipy = qmc.Sobol(3, seed=np.random.default_rng(4)).random_base2(4)[:11]
    close(sobol_normals(11, 3, np.random.default_rng(4)), ndtri(by_scipy + 2.0**-31), rtol=1e-14)


@pytest.mark.second_route("ConditionalEmbedding", "NumPy")
def test_weights_of_a_conditional_embedding():
    y = X[:, 0] ** 2
    e = conditional_embedding(Gaussian(1.0), Gaussian(0.5), X, y, lam=0.1)
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 2)
    assert isinstance(e, ConditionalEmbedding)
    close(e.weights(X), np.linalg.solve(K + 0.1 * np.eye(12), K).T, atol=1e-12)


@pytest.mark.second_route("FeatureComponents", "NumPy")
def test_components_of_features_are_those_of_their_covariance():
    data = np.random.default_rng(1).normal(size=(60, 3)) * [3, 2, 1]
    found = StreamingMeans(feature_map(Linear(), 3)).update(data).components(2)
    values, vectors = np.linalg.eigh(60 * np.cov(data.T, bias=True))
    assert isinstance(found, FeatureComponents)
    close(found.eigenvalues, values[::-1][:2], rtol=1e-12)
    centred = data - data.mean(axis=0)
    close(np.abs(found(data)), np.abs(centred @ vectors[:, ::-1][:, :2]), atol=1e-10)


@pytest.mark.second_route("Formula", "known numbers")
def test_a_formula_is_its_rule():
    close(Formula(np.power, (3,))(np.array([[2], [5]])), [[8.0], [125.0]])


@pytest.mark.second_route("SparseRows", "linear_forms", "NumPy")
def test_sums_along_signs_and_sparse_rows_are_numpys():
    r, S = X[:, 0], np.sign(np.random.default_rng(1).normal(size=(12, 7))).astype(np.int8)
    close(linear_forms(r, S), [s @ r for s in S.T.astype(float)], rtol=1e-12)
    few = np.where(np.abs(X) > 0.8, X, 0.0)
    close(SparseRows(few) @ SparseRows(few[:5]).T, few @ few[:5].T, rtol=1e-14)


@pytest.mark.second_route("contract", "fuzz", "calls and refusals, counted")
def test_a_contract_reads_what_its_words_say():
    @contract
    def twice(n: Count) -> Count:
        "2 n"
        return 2 * n

    assert twice(3) == 6 and "n" in twice.__doc__
    with pytest.raises(TypeError, match="n "):
        twice("three")
    bad = len(Count.__metadata__[-1].bad)
    assert fuzz(twice, np.random.default_rng(0), 2) == 2 * bad > 0
    careless = contract(lambda n: n)
    careless.plan.words["n"] = twice.plan.words["n"]
    with pytest.raises(AssertionError):
        fuzz(careless, np.random.default_rng(0))


@pytest.mark.second_route("using", "known values")
def test_settings_last_as_long_as_their_block():
    with settings.using(block_mib=7):
        assert settings.block_mib == 7
    assert settings.block_mib != 7
    with pytest.raises(ValueError):
        with settings.using(block_mib=-1):
            pass


@pytest.mark.second_route("write_expression", "the file, read as JSON")
def test_a_stored_kernel_is_a_formula_in_json(tmp_path):
    write_expression(tmp_path / "k", 2 * Gaussian(0.5) + Linear())
    with zipfile.ZipFile(tmp_path / "k") as archive:
        head = json.loads(archive.read("expression.json"))
    assert head["format"] == 1 and re.findall(r"Gaussian|Linear", json.dumps(head)) == [
        "Gaussian",
        "Linear",
    ]


FIGURES = {
    "interpolant": lambda: drag_interpolant([0.0, 1.0], [2.0, -1.0], 0.5),
    "posterior": lambda: drag_posterior([0.0, 1.0], [2.0, -1.0], 0.5, 0.1),
    "machine": lambda: drag_machine([[0.0, 2.0], [1.0, -1.0]], [1, -1], 0.5, 3.0),
    "witness": lambda: drag_witness([0.0, 1.0], [2.0, -1.0], 0.5),
}


@pytest.mark.second_route(
    "Draggable", "drag_interpolant", "drag_machine", "drag_posterior", "drag_witness",
    "the data, read back from the page",
)  # fmt: skip
@pytest.mark.parametrize("kind", FIGURES)
def test_a_page_to_drag_carries_its_data(kind):
    figure = FIGURES[kind]()
    assert isinstance(figure, Draggable)
    page = figure.html()
    spec = json.JSONDecoder().raw_decode(page, page.index('{"kind"'))[0]
    flat = [number for point in spec["points"] for number in point]
    assert spec["kind"] == kind == figure.spec["kind"] and {0.0, 1.0, 2.0, -1.0} <= set(flat)
    assert spec["sliders"]["bandwidth"] == 0.5
    assert Draggable(spec, figure.caption, figure.still).html() == page


@pytest.mark.second_route("script", "the files, joined")
def test_the_script_is_the_three_files_as_they_lie_there():
    folder = ROOT / "rkhs_notes" / "figures"
    by_hand = "".join(
        (folder / f"{name}.js").read_text("utf-8") for name in ("numerics", "kinds", "stage")
    )
    assert sorted(script()) == sorted(by_hand)


@pytest.mark.second_route("use_style", "what the axes hold")
def test_the_style_is_seen_in_a_picture():
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        use_style()
        figure, ax = matplotlib.pyplot.subplots()
        lines = [ax.plot([0, 1])[0].get_color() for _ in palette]
        matplotlib.pyplot.close(figure)
        assert lines == list(palette.values()) and not ax.spines["top"].get_visible()


@pytest.mark.second_route("open_lab", "the command, typed out")
def test_jupyterlab_is_opened_in_the_folder(monkeypatch, tmp_path):
    calls = []
    monkeypatch.setattr("subprocess.call", lambda command: calls.append(command) or 3)
    assert open_lab(tmp_path) == 3
    assert calls == [[sys.executable, "-m", "jupyterlab", str(tmp_path)]]


@pytest.mark.second_route("notebook_folder", "the folder, named")
def test_the_notebooks_are_where_they_are_written():
    assert notebook_folder() == ROOT / "nbs"


@pytest.mark.second_route("ColumnChange", "NumPy's means, a rank counted")
def test_a_changed_column_says_its_means_and_corrects_its_p_value():
    rng = np.random.default_rng(0)
    A = {"x": rng.normal(size=300), "y": rng.normal(size=300)}
    B = {"x": rng.normal(size=300) + 1, "y": rng.normal(size=300)}
    found = compare_tables(A, B, n_permutations=199, rng=np.random.default_rng(1))
    x, y = found.columns
    assert isinstance(x, ColumnChange)
    means = [float(number) for number in re.findall(r"-?[\d.]+", x.says)]
    close(means, [A["x"].mean(), B["x"].mean()], rtol=1e-3)
    close(x.pvalue, 1 / 200)  # the least of 200 ranks, however many columns
    assert y.pvalue > 0.05


def test_parameters_of_a_kernel_by_name():
    ours = (
        KernelRidge(kernel=Gaussian(1.0), lam=0.1, offset=False)
        .set_params(kernel__bandwidth=2.0)
        .fit(X, X[:, 0])
    )
    peer = PeerRidge(kernel="rbf", gamma=1 / 8, alpha=0.1).fit(X, X[:, 0])
    close(ours.predict(X), peer.predict(X), rtol=1e-9)
