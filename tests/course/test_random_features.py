"""Random features: every sampler against its kernel, by z-scores and by quadrature."""

import pickle
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.integrate import quad
from scipy.linalg import hadamard, qr
from scipy.special import gammaln
from scipy.stats import t as student

from rkhs_notes import settings
from rkhs_notes.base.errors import LawBroken, NoSpectralMeasure
from rkhs_notes.deeper.zoo import (
    Cauchy,
    Delta,
    Laplace,
    Mahalanobis,
    Matern,
    Periodic,
    RationalQuadratic,
)
from rkhs_notes.engines.features.bins import binning_features
from rkhs_notes.engines.features.bounds import (
    check_unbiased,
    features_for,
    hoeffding_bound,
    uniform_bound,
)
from rkhs_notes.engines.features.fourier import cosines_and_sines, shifted_cosines
from rkhs_notes.engines.features.normals import (
    orthogonal_normals,
    sobol_normals,
    structured_normals,
)
from rkhs_notes.engines.features.random_maps import _shares as shares
from rkhs_notes.engines.features.random_maps import random_feature_map
from rkhs_notes.engines.features.spectral import (
    OfDifference,
    SpectralMeasure,
    fourier_features,
    spectral_from_function,
    spectral_rule,
)
from rkhs_notes.engines.kernels.composites import Anova, Tensor
from rkhs_notes.engines.solving.landmarks import nystrom_features
from rkhs_notes.kernels import Brownian, Constant, Gaussian, Linear, Polynomial, Product

X = np.random.default_rng(7).normal(size=(6, 3))


def positive(A):
    return 1 + np.cos(A[:, 0]) ** 2


SPECTRAL = [
    Gaussian(1.3),
    Mahalanobis([0.5, 1, 2]),
    Laplace(2),
    Cauchy(1.2),
    Matern(0.5, 1.7),
    Matern(0.05),
    Matern(2.5),
    RationalQuadratic(0.4, 1.8),
    Periodic(2.0, 1.3),
    Constant(2.0),
    3 * Gaussian(1.0) + Laplace(2),
    Gaussian(1) * Cauchy(2) * Periodic(3, 2),
    Gaussian(1) ** 3,
    (Gaussian(1) + Laplace(2)) ** 2,
    Gaussian(1.0).on([0, 2]) + Laplace(1).on(1),
    (2 * Gaussian(2)).normalized(),
    Gaussian(2).exp(),
    Laplace(2).gaussian_of(0.8),
    Linear().gaussian_of(1.2),
    Tensor(Gaussian(1), Laplace(1), split=1),
    Anova(Gaussian(1), 2),
    Anova(Laplace(1), 2, up_to=True),
    Gaussian(1.0).on([0, 0, 1]),
    Gaussian([0.5, 1, 2]),
    Laplace([0.5, 1, 2]),
    Cauchy([0.5, 1, 2]),
    Matern(2.5, [0.5, 1, 2]),
    RationalQuadratic(1.4, [0.5, 1, 2]),
]


@pytest.mark.second_route("RandomFeatureMap", "fourier_features", "the mean of many draws")
@pytest.mark.parametrize("k", SPECTRAL, ids=str)
def test_fourier_features_are_unbiased(k):
    check_unbiased(lambda rng: fourier_features(k, 3, 64, rng), k, X, 0)
    check_unbiased(lambda rng: fourier_features(k, 3, 63, rng, kind="phase"), k, X, 1)
    if not k.spectral(3).gaussian:
        with pytest.raises(ValueError, match="Gaussian vectors"):
            fourier_features(k, 3, 64, 0, coupling="orthogonal")


# no mixture, scales of its own, two mixtures, a power, chosen coordinates
COUPLED = [SPECTRAL[i] for i in (0, 1, 4, 7, 12, 22, -2, -1)]


@pytest.mark.parametrize("coupling", ["orthogonal", "qmc", "structured"])
@pytest.mark.parametrize("k", COUPLED, ids=str)
def test_coupled_features_are_unbiased(k, coupling):
    check_unbiased(partial(fourier_features, k, 3, 64, coupling=coupling), k, X, 2)


@pytest.mark.parametrize("d", [1, 3, 64, 100])
@pytest.mark.parametrize(
    "k", [Gaussian(2.0), 3 * Matern(1.5, 2.0), RationalQuadratic(0.4, 1.8)], ids=str
)
@pytest.mark.parametrize("kind", ["paired", "phase"])
def test_structured_features_are_those_of_their_frequencies(k, d, kind):
    X = np.random.default_rng(d).normal(size=(9, d))
    phi = fourier_features(k, d, 150, 0, kind, "structured")
    P = X @ phi.frequencies.T
    waves = (
        np.hstack([np.cos(P), np.sin(P)]) if kind == "paired" else np.cos(P + phi.function.phases)
    )
    np.testing.assert_allclose(phi(X), phi.function.weight * waves, atol=1e-12)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(phi))(X), phi(X))
    np.testing.assert_allclose(phi(X.astype(np.float32)), phi(X), atol=1e-5)
    np.testing.assert_allclose(phi(sp.csr_matrix(X)), phi(X), atol=1e-12)
    assert isinstance(k.spectral(d).sample(5, 0, "structured"), np.ndarray)


def test_structured_frequencies_are_orthogonal_and_have_covariance_1():
    G = np.array([np.asarray(structured_normals(64, 64, seed)) for seed in range(300)])
    inner = G[0] @ G[0].T
    np.testing.assert_allclose(inner, np.diag(inner.diagonal()), atol=1e-12)
    second = np.einsum("sni,snj->ij", G, G) / (300 * 64)
    np.testing.assert_allclose(second, np.eye(64), atol=0.08)
    assert np.asarray(structured_normals(7, 5, 0)).shape == (7, 5)


@pytest.mark.parametrize(
    "change, n_maps",
    [
        (
            lambda W: W / W.lengths[:, None] * 8.0,
            4000,
        ),  # every length √p: a bias of −r⁴e^{−r²/2}/4p
        (lambda W: np.asarray(W)[:, :1] * np.eye(1, 64), 300),  # one coordinate only
    ],
)
def test_structured_mutants_are_refused(change, n_maps):
    X = np.vstack(
        [np.zeros(64), 2 * np.eye(64)[0], np.random.default_rng(0).normal(size=(4, 64)) / 6]
    )

    def draw(rng):
        phi = fourier_features(Gaussian(1), 64, 128, rng, coupling="structured")
        return replace(phi, function=replace(phi.function, W=change(phi.function.W)))

    with pytest.raises(LawBroken, match="standard errors"):
        check_unbiased(draw, Gaussian(1), X, 0, n_maps)


@pytest.mark.second_route("structured_normals", "SciPy's Hadamard matrices, multiplied out")
def test_structured_normals_are_the_product_that_their_name_says():
    "diag(lengths) H D₁ H D₂ H D₃, block below block, where NumPy's matrices multiply"
    W, H = structured_normals(150, 50, 3), hadamard(64) / 8.0
    blocks = [
        H @ np.diag(D[0]) @ H @ np.diag(D[1]) @ H @ np.diag(D[2]) for D in W.signs.astype(float)
    ]
    rows = W.lengths[:, None] * np.vstack(blocks)[:150, :50]
    np.testing.assert_allclose(np.asarray(W), rows, atol=1e-13)
    column = np.arange(1.0, 151)[:, None]
    dense = np.asarray(W)
    for made in (
        lambda W: W / 3.0,
        lambda W: 2.0 * W,
        lambda W: W * np.arange(1.0, 51),
        lambda W: column * W,
        lambda W: W / column,
        lambda W: 1.0 / W,
        lambda W: column / W,
        lambda W: W + 1.0,
    ):
        with np.errstate(divide="ignore"):
            np.testing.assert_allclose(np.asarray(made(W)), made(dense), rtol=1e-9, atol=1e-12)


def test_lengths_of_structured_normals_are_those_of_normal_vectors():
    "chi with p degrees of freedom: squares of mean p and variance 2 p"
    squares = structured_normals(2**14, 64, 0).lengths ** 2
    assert abs(squares.mean() - 64) < 5 * (128 / 2**14) ** 0.5
    assert abs(squares.var() / 128 - 1) < 5 * ((2 + 12 / 64) / 2**14) ** 0.5  # kurtosis 3 + 12 / p


def test_large_structured_maps_keep_no_matrix():
    phi = fourier_features(Gaussian(100.0), 2**16, 2**17, 0, coupling="structured")
    assert phi(np.ones((1, 2**16))).shape == (1, 2**17) and len(pickle.dumps(phi)) < 2**21
    with pytest.raises(MemoryError):
        phi.frequencies  # noqa: B018


@pytest.mark.parametrize("k", SPECTRAL, ids=str)
def test_many_frequencies_have_the_kernel_for_characteristic_function(k):
    points = np.random.default_rng(1).normal(size=(20, 3)) * np.geomspace(0.2, 3, 20)[:, None]
    measure = k.spectral(3)
    waves = np.exp(1j * points @ measure.sample(40_000, 0).T) * measure.mass
    exact = k(points, np.zeros((1, 3)))[:, 0]
    for part, value in ((waves.real, exact), (waves.imag, 0.0)):  # symmetric: no imaginary part
        assert (np.abs(part.mean(axis=1) - value) < 5 * part.std(axis=1) / 200 + 1e-12).all()


@pytest.mark.parametrize("k", SPECTRAL, ids=str)
def test_second_moment_is_the_curvature_at_0(k):
    h, origin = 1e-3, np.zeros((1, 3))
    at_0 = k(origin, origin.copy())[0, 0]
    curvature = sum(2 * (at_0 - k(h * e[None], origin)[0, 0]) / h**2 for e in np.eye(3)) / at_0
    measure = k.spectral(3)
    assert measure.mass == pytest.approx(at_0, rel=1e-12)
    if np.isfinite(measure.second_moment):
        assert measure.second_moment == pytest.approx(curvature, rel=1e-4, abs=1e-8)
    else:
        assert curvature > 100


@pytest.mark.second_route("SpectralMeasure", "quadrature")
@pytest.mark.parametrize(
    "k",
    [
        Gaussian(0.7),
        Mahalanobis([0.5]),
        Laplace(0.6),
        Cauchy(0.8),
        Matern(0.5, 0.7),
        Matern(3.2, 0.7),
        RationalQuadratic(2.3, 0.8),
        Gaussian(0.7) + 2 * Laplace(0.5),
        Gaussian(0.7) * Laplace(0.5),
        Gaussian(0.7) * Gaussian(0.4),
        Periodic(2, 1) * Gaussian(0.5),
        Cauchy(0.8).on(0),
    ],
    ids=str,
)
def test_density_transforms_back(k):
    measure = k.spectral(1)

    def density(w):
        return float(measure.density(np.array([w]))[0])

    for t in (0.0, 0.5, 1.7)[: 2 if isinstance(k, Product) else 3]:
        weight = dict(weight="cos", wvar=t, limlst=49) if t else {}
        value = 2 * quad(density, 0, np.inf, limit=400, **weight)[0]
        assert value == pytest.approx(k([[t]], [[0.0]])[0, 0], abs=1e-7)


@pytest.mark.second_route("spectral_from_function", "densities in closed form")
@pytest.mark.parametrize(
    "make",
    [
        lambda c: Gaussian(0.7 * c),
        lambda c: Laplace(0.5 * c),
        lambda c: Cauchy(0.4 * c),
        lambda c: Matern(1.5, c),
        lambda c: Matern(0.7, c),
        lambda c: RationalQuadratic(2.0, c),
        lambda c: Mahalanobis([0.3 * c]),
        lambda c: Gaussian(0.7 * c) * Laplace(0.5 * c),
        lambda c: Gaussian(c) * Cauchy(50 * c),
        lambda c: Matern(1.5, c) * RationalQuadratic(2.0, c),
        lambda c: Periodic(2 * c, 1) * Gaussian(0.5 * c),
        lambda c: Matern(1.5, c) + 2 * Cauchy(c),
    ],
)
def test_densities_by_fft_and_in_any_units(make):
    w = np.array([0, 0.3, 1.0, 4.0])
    density = make(1.0).spectral(1).density(w)
    # a tail like 1/t² is cut at about 300, where its integral is 1/300
    cut = 2e-3 if make(1.0)(300.0 * np.ones(1), [0.0])[0, 0] > 1e-6 else 5e-5
    assert np.allclose(spectral_from_function(make(1.0)).density(w), density, rtol=1e-4, atol=cut)
    for c in (1e-8, 1e-2, 1e3, 1e100):
        assert np.allclose(make(c).spectral(1).density(w / c) / c, density, rtol=1e-6)


@pytest.mark.parametrize("alpha", [0.3, 0.5, 1, 30, 400, 1e4, 1e6])
@pytest.mark.parametrize("d", [1, 2, 10, 90])
def test_rational_quadratic_is_a_gamma_mixture_of_gaussians(alpha, d):
    def gaussian(u, w):  # precisions e^u / alpha, weighted by Gamma(alpha)
        log = alpha * u - np.exp(u) - gammaln(alpha)
        return np.exp(
            log - d / 2 * np.log(2 * np.pi * np.exp(u) / alpha) - w * w * alpha / 2 / np.exp(u)
        )

    peak = np.log(alpha)
    u = np.linspace(
        peak - 40 / min(alpha, 1), max(peak, 0) + 6, 2_000_001 if alpha > 1e3 else 100_001
    )
    for w in (0.1, 1.0, 3.0):
        value = RationalQuadratic(alpha).spectral(d).density(w * np.eye(d)[:1])[0]
        assert value == pytest.approx(np.trapezoid(gaussian(u, w), u), rel=1e-6, abs=0)
    assert RationalQuadratic(alpha).spectral(d).density(1e12 * np.eye(d)[:1])[0] == 0


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize(
    "k",
    [Matern(1.5, 0.7), RationalQuadratic(2.3, 0.8), RationalQuadratic(0.7), Gaussian(2)],
    ids=str,
)
def test_radial_densities_have_the_mass_of_the_kernel(k, d):
    area = 2 * np.pi if d == 2 else 4 * np.pi

    def along(r):
        return float(k.spectral(d).density(np.eye(d)[:1] * r)[0]) * area * r ** (d - 1)

    mass = sum(quad(along, *ends, limit=300)[0] for ends in [(0, 1), (1, np.inf)])
    assert mass == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("nu", [1, 1.01, 1.5, 4])
def test_second_moment_of_matern_is_that_of_students_law(nu):
    assert Matern(nu, 2.0).spectral(3).second_moment == pytest.approx(3 * student(2 * nu).var() / 4)


def test_second_moment_of_very_narrow_periods():
    measure = Periodic(1.0, 1e-9).spectral(2)  # normal steps in place of counted ones
    squares = measure.sample(4000, 0) ** 2
    assert squares.sum(axis=1).mean() == pytest.approx(measure.second_moment, rel=5 / 4000**0.5)


@pytest.mark.parametrize(
    "draw, size",
    [
        (orthogonal_normals, 128 * 64 * 16),
        (sobol_normals, 128 * 64 * 16),
        (structured_normals, 2 * 3 * 64 * 2),
    ],
)
def test_normals_that_just_fit_are_drawn_and_more_are_refused(draw, size):
    "The limit is that of the array and of a copy, or of the signs of two blocks as they are drawn"
    with settings.using(result_mib=size / 2**20):
        assert draw(128, 64, 0).shape == (128, 64)
        with pytest.raises(MemoryError, match="Instead: "):
            draw(129, 64, 0)


@pytest.mark.parametrize("first", [2**20, 2**31 - 9, 2**31, 2**40])
def test_bins_are_counted_beyond_32_bits(first):
    "The same bins after others: as many columns further on"
    points = np.linspace(0, 1, 20)[:, None]
    bins = binning_features(Laplace(), points, 3, 0).function
    few, many = bins(points), replace(bins, starts=bins.starts + first)(points)
    np.testing.assert_array_equal(many.indices, few.indices.astype(np.int64) + first)
    assert many.shape == (20, few.shape[1] + first)


def test_structured_normals_are_an_array_to_numpy():
    Omega = structured_normals(5, 3, 0)
    A = np.asarray(Omega)
    for result, expected in (
        (-Omega, -A),
        (np.cos(Omega), np.cos(A)),
        (np.add.reduce(Omega), A.sum(axis=0)),
        (2 * Omega / [1.0, 2.0, 4.0], 2 * A / [1.0, 2.0, 4.0]),
        (np.arange(5.0)[:, None] * Omega, np.arange(5.0)[:, None] * A),
        (1 / Omega, 1 / A),
        (Omega - Omega, 0 * A),
        (Omega * Omega, A * A),
    ):
        np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-12)
    with settings.using(result_mib=A.nbytes / 2**20):
        assert np.asarray(Omega).shape == (5, 3)
    with settings.using(result_mib=(A.nbytes - 1) / 2**20):
        with pytest.raises(MemoryError, match="without the matrix"):
            np.cos(Omega)


@pytest.mark.second_route("OfDifference", "NumPy")
def test_functions_of_the_difference():
    x, y = np.array([0.0, 1.0, 3.0]), np.array([1.0, 2.0])
    assert np.array_equal(OfDifference(np.cos)(x, y), np.cos(np.subtract.outer(x, y)))


def test_atoms_of_the_circle():
    frequencies, masses = Periodic(2.0, 0.7).spectral(1).atoms
    t = np.linspace(-3, 3, 50)
    values = np.cos(np.outer(t, frequencies)) @ masses
    assert np.allclose(values, Periodic(2.0, 0.7)(t, [0.0])[:, 0], atol=1e-14)


@pytest.mark.parametrize(
    "f",
    [
        lambda t: np.exp(-(t**2) / 2),
        lambda t: np.exp(-np.abs(t) * 1e6),
        lambda t: 1 / (1 + t * t),
        lambda t: np.maximum(0, 1 - np.abs(t) / 1e7),
        lambda t: 3 * np.exp(-(t**2) / 2) * np.cos(3 * t),
    ],
    ids=["gauss", "laplace", "cauchy", "hat", "modulated"],
)
def test_transform_of_a_function(f):
    measure = spectral_from_function(f)
    assert measure.mass == f(np.zeros(1))[0]
    width = 1 / np.median(np.abs(measure.sample(1000, 1)))
    t = width * np.linspace(0, 3, 7)
    waves = measure.mass * np.cos(np.outer(t, measure.sample(100_000, 0)))
    z = (waves.mean(axis=1) - f(t)) / (waves.std(axis=1) / 100_000**0.5 + 1e-12)
    assert np.abs(z).max() < 5


@pytest.mark.parametrize(
    "f, words",
    [
        (lambda t: 1.0 * (np.abs(t) <= 1), "frequency 4.5"),
        (lambda t: np.exp(-(np.abs(t) ** 3)), "below 0"),
        (lambda t: (1 - t**2) * np.exp(-(t**2)) * np.exp(-t), "not even"),
        (np.cos, "does not die away"),
        (lambda t: np.sum(t), "shape"),
    ],
)
def test_functions_that_are_no_kernels(f, words):
    with pytest.raises(ValueError, match=words):
        spectral_from_function(f)


@pytest.mark.second_route("NoSpectralMeasure", "raised where it should be")
def test_functions_that_are_nearly_kernels():
    "A density of −2e-12 at one frequency, a hundred times its rounding; one part in 10⁷ that is odd"
    bell = lambda t: np.exp(-(t**2) / 2)  # noqa: E731
    for c, words in ((1e-11, "not a kernel"), (1e-16, None)):
        waved = lambda t, c=c: bell(t) * (1 - c * np.cos(8 * t))  # noqa: E731
        odd = lambda t, c=c: bell(t) * (1 + 1e4 * c * np.tanh(t))  # noqa: E731
        if words is None:
            assert spectral_from_function(waved, 12.0, 0.01).mass == pytest.approx(1.0)
            assert spectral_from_function(odd, 12.0, 0.01).mass == pytest.approx(1.0)
        else:
            with pytest.raises(NoSpectralMeasure, match=words):
                spectral_from_function(waved, 12.0, 0.01)
            with pytest.raises(ValueError, match="is not even"):
                spectral_from_function(odd, 12.0, 0.01)


@pytest.mark.parametrize(
    "k, words",
    [
        (Linear(), "not shift-invariant"),
        (Brownian(), "not shift-invariant"),
        (Delta(), "not continuous"),
        (Gaussian() + Linear(), "contains a part"),
        (Gaussian().on(np.sin), "apply|applies"),
    ],
)
def test_no_spectral_measure(k, words):
    with pytest.raises(NoSpectralMeasure, match=words):
        k.spectral(1)


def test_maps_and_measures_pickle():
    for k in SPECTRAL:
        phi = fourier_features(k, 3, 10, 0)
        assert np.array_equal(pickle.loads(pickle.dumps(phi))(X), phi(X))
        again = pickle.loads(pickle.dumps(k.spectral(3)))
        assert np.array_equal(again.sample(5, 1), k.spectral(3).sample(5, 1))


# the engine


@pytest.mark.parametrize("dtype, bound", [(np.float64, 4), (np.float32, 4)])
def test_waves_at_poles_and_far_away(dtype, bound):
    rng = np.random.default_rng(0)
    x = np.concatenate(
        [np.pi * np.arange(-501, 502), rng.uniform(-1e15, 1e15, 10**5), [0, 1e-300, 1e300]]
    )
    x = x[np.abs(x) < (1e300 if dtype == np.float64 else 1e30) * 1.1].astype(dtype)
    one = np.ones((1, 1))
    exact = np.column_stack([np.cos(x.astype(float)), np.sin(x.astype(float))])
    assert np.abs(cosines_and_sines(x[:, None], one) - exact).max() <= bound * np.finfo(dtype).eps
    b = np.array([0.7])
    shifted = shifted_cosines(x[np.abs(x) < 10, None], one, b, 3.0)[:, 0]
    assert (
        np.abs(shifted - 3 * np.cos(x[np.abs(x) < 10].astype(float) + 0.7)).max()
        < 100 * np.finfo(dtype).eps
    )


def test_blocks_and_threads_do_not_change_the_waves(monkeypatch):
    from rkhs_notes import arrays, fourier, settings

    rng = np.random.default_rng(0)
    A, W = rng.normal(size=(1000, 7)), rng.normal(size=(33, 7))
    exact = np.hstack([np.cos(A @ W.T), np.sin(A @ W.T)])
    for mib in (64, 0.01):
        with settings.using(block_mib=mib):
            assert np.allclose(cosines_and_sines(A, W), exact, atol=1e-13)
    assert np.allclose(cosines_and_sines(A[::2, ::-1], W[:, ::-1]), exact[::2], atol=1e-13)
    many, V = rng.normal(size=(9000, 7)), rng.normal(size=(200, 7))
    by_one = cosines_and_sines(many, V)
    for module in (arrays, fourier):
        monkeypatch.setattr(module, "n_threads", lambda: 3)
    assert np.array_equal(cosines_and_sines(many, V), by_one)
    assert np.allclose(cosines_and_sines(sp.csr_matrix(A), W), exact, atol=1e-13)


# bounds


@pytest.mark.parametrize(
    "f, words",
    [  # parts of (0, 1) that are allowed: of oddness 1e-8, of a density below 0 what rounding explains
        (lambda t, part: np.exp(-(t**2) / 2) * (1 - part * 1.04e-8 * np.tanh(t)), "not even"),
        (lambda t, part: np.exp(-(t**2) / 2) * (1 - part * 1.15e-13 * np.cos(8 * t)), "below 0"),
    ],
)
def test_near_misses_of_kernels(f, words):
    spectral_from_function(lambda t: f(t, 1 / 3))
    with pytest.raises(ValueError, match=words):
        spectral_from_function(lambda t: f(t, 3))


@pytest.mark.second_route(
    "features_for", "hoeffding_bound", "uniform_bound", "the formulas, typed out"
)
def test_bounds_and_counts_agree():
    for kind in ("paired", "phase", "binning"):
        D = features_for(0.1, 0.01, kind=kind)
        step = 2 if kind == "paired" else 1
        assert hoeffding_bound(D, 0.1, kind) <= 0.01 < hoeffding_bound(D - step, 0.1, kind)
        D = features_for(0.1, 0.01, d=3, sigma_p=2.0, diam=1.5, kind=kind)
        assert (
            uniform_bound(D, 0.1, 3, 2.0, 1.5, kind)
            <= 0.01
            < uniform_bound(D - step, 0.1, 3, 2.0, 1.5, kind)
        )
    assert hoeffding_bound(100, 0.2) == pytest.approx(2 * np.exp(-1))
    assert hoeffding_bound(100, 0.2, "phase") == pytest.approx(2 * np.exp(-0.5))
    assert uniform_bound(5000, 0.2, 4, 2, 3) == pytest.approx(
        66 * 30**2 * np.exp(-5000 * 0.04 / 48)
    )
    assert uniform_bound(5000, 0.2, 4, 2, 3, "phase") == pytest.approx(
        98 * 30**2 * np.exp(-5000 * 0.04 / 160)
    )
    assert uniform_bound(10, 0.2, 4, np.inf, 3) == np.inf
    # a small set, σ_p ℓ < ε: the power of the proof, 2d/(d + 2), and not 2
    small = 66 * 0.5 ** (2 * 4 / 6) * np.exp(-500 * 0.04 / 48)
    assert uniform_bound(500, 0.2, 4, 0.1, 1.0) == pytest.approx(small)
    boxes = np.ceil(4 * 4 * 2 * 3 / 0.2)
    assert uniform_bound(3000, 0.2, 4, 2, 3, "binning") == pytest.approx(
        2 * boxes**8 * np.exp(-3000 * 0.02)
    )
    assert hoeffding_bound(100, 0.2, "binning") == pytest.approx(2 * np.exp(-8))
    for kind in ("paired", "phase"):  # proved for failures of at most ⅛
        few, eighth = (
            features_for(0.1, p, d=3, sigma_p=2.0, diam=1.5, kind=kind) for p in (0.5, 0.125)
        )
        assert few == eighth < features_for(0.1, 0.12, d=3, sigma_p=2.0, diam=1.5, kind=kind)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: features_for(0.1, 1.5), "delta = 1.5: pass a finite number > 0, < 1"),
        (lambda: features_for(0.1, 0.01, d=3), "together"),
        (lambda: features_for(0.1, 0.01, d=3, sigma_p=np.inf, diam=1), "second moment"),
        (lambda: hoeffding_bound(10, 0.1, "both"), "kind"),
        (lambda: hoeffding_bound(10, -1), "eps"),
        (lambda: uniform_bound(10, 0.1, 2, np.nan, 1), "sigma_p"),
        (lambda: fourier_features(Gaussian(), 2, 5, 0), "pass 6"),
        (lambda: fourier_features(Gaussian(), 2, 4, 0, kind="a"), "kind"),
        (lambda: fourier_features(Gaussian(), 2, 4, 0, coupling="a"), "coupling"),
        (lambda: fourier_features(Mahalanobis([1, 2]), 3, 4, 0), "needs points with 2 columns"),
        (lambda: fourier_features(Gaussian().on(3), 3, 4, 0), "4 columns or more"),
        (lambda: fourier_features(Gaussian(), 2, 4, 0)(X), "made for 2"),
        (lambda: fourier_features(Gaussian(), 3, 4, 0)(X[0]), "one point is"),
        (lambda: fourier_features(Gaussian(1e-300), 3, 4, 0)(X * 1e300), "overflow"),
        (lambda: fourier_features(Gaussian(), 3, 4, 0)(np.full((2, 3), np.nan)), "not finite"),
        (lambda: fourier_features((800 * Gaussian()).exp(), 3, 4, 0), "overflow"),
        (lambda: Gaussian(1).gaussian_of(1e-6).spectral(2).sample(10_000, 0), "larger bandwidth"),
        (lambda: Gaussian().spectral(2).density(X), "needs points with 2 columns"),
        (lambda: Constant(1).spectral(2).density(X[:, :2]), "no density"),
        (lambda: Gaussian(1e150).spectral(3).density(np.zeros((1, 3))), "other units"),
        (lambda: Laplace(1e-308).spectral(3).sample(100, 0), "other units"),
        (lambda: Periodic(1e-308, 1.0).spectral(1), "other units"),
        (lambda: binning_features(Laplace(), X, 10**9, 0), "fewer grids"),
        (lambda: features_for(1e-200, 0.1), "2⁶³"),
        (lambda: features_for(1e-9, 0.1, d=3, sigma_p=1e300, diam=1e300, kind="binning"), "2⁶³"),
        (lambda: hoeffding_bound(10, 0.1, ["paired"]), "kind"),
    ],
)
def test_errors_teach(call, words):
    with pytest.raises((ValueError, MemoryError), match=words):
        call()


def test_a_generator_is_not_used_by_a_refused_call():
    for call in (
        lambda rng: fourier_features(Gaussian(), 2, 5, rng),
        lambda rng: fourier_features(Laplace(), 2, 6, rng, coupling="orthogonal"),
        lambda rng: binning_features(Gaussian(), X, 5, rng),
        lambda rng: nystrom_features(Gaussian(), X, 5, rng, "none"),
        lambda rng: random_feature_map(Gaussian() + Brownian(), 1, 20, rng),
    ):
        rng = np.random.default_rng(0)
        with pytest.raises(ValueError):
            call(rng)
        assert rng.bit_generator.state == np.random.default_rng(0).bit_generator.state
    with pytest.raises(TypeError, match="rng"):
        fourier_features(Gaussian(), 2, 4, "seed")


class Counting(Laplace):
    "A kernel that counts how often it reads points"

    read = 0

    def _points(self, X, name):
        type(self).read += 1
        return super()._points(X, name)


@pytest.mark.parametrize("landmarks, times", [("uniform", 1), ("rpcholesky", 1), ("kmeans", 2)])
def test_points_are_read_once(landmarks, times):
    "Cluster centres are points of their own"
    Counting.read = 0
    phi = nystrom_features(Counting(1.0), X, 4, 0, landmarks)
    assert Counting.read == times
    phi(X)
    assert Counting.read == times + 1
    binning_features(Counting(1.0), X, 5, 0)
    assert Counting.read == times + 2
    phi = fourier_features(Counting(1.0).on([0, 1, 2]), 3, 8, 0)
    assert Counting.read == times + 2


def test_a_measure_in_many_dimensions_is_small():
    "The variances of the frequencies, and no matrix of them"
    for k in (
        Gaussian(2.0),
        Laplace() + Gaussian() * Cauchy(),
        Anova(Gaussian(), 2),
        Constant(1.0),
    ):
        measure = k.spectral(50_000)
        assert measure.variances.shape == (50_000,) and measure.variances.nbytes <= 400_000
    assert Gaussian(2.0).spectral(50_000).second_moment == pytest.approx(12_500)
    with pytest.raises(MemoryError, match="variances"):
        Gaussian().spectral(50_000).covariance  # noqa: B018
    assert np.array_equal(Mahalanobis([0.5, 2.0]).spectral(2).covariance, np.diag([4.0, 0.25]))
    with pytest.raises(ValueError, match=r"variances has shape \(2, 2\); pass \(d,\)"):
        SpectralMeasure("", 2, 1.0, np.eye(2), lambda n, rng, normals: normals(n, 2, rng))


def test_the_measure_of_a_rule_of_ones_own_is_read():
    class Own(Mahalanobis):
        "exp(−‖(x − y) / scales‖² / 2): E ωᵢ² is 1 / scalesᵢ²"

    def draw(n, rng, normals):
        return normals(n, 2, rng) / k.scales

    def measure(variances):
        return SpectralMeasure("", 2, 1.0, variances, draw)

    k, X = Own([0.5, 2.0]), np.random.default_rng(0).normal(size=(9, 2))
    spectral_rule.register(Own, lambda k, d: measure([4.0, 0.25]))
    F = fourier_features(k, 2, 20_000, 0)(X)  # each product a mean of 10⁴ cosines
    np.testing.assert_allclose(F @ F.T, k(X), atol=5 * 10_000**-0.5)
    for variances in [4.0, 0.25], [np.inf, 0.0]:
        assert np.array_equal(measure(variances).covariance, np.diag(variances))
    for variances in [4.0, -0.25], [4.0, np.nan], 4.0:
        with pytest.raises(ValueError, match=r"variances has shape .*; pass \(d,\), all ≥ 0"):
            measure(variances)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_units_do_not_matter(scale):
    for k in (
        Gaussian,
        Laplace,
        Cauchy,
        lambda b: Matern(1.5, b),
        lambda b: RationalQuadratic(1.0, b),
    ):
        here, there = (fourier_features(k(1.0 * c), 3, 40, 0)(X * c) for c in (1.0, scale))
        assert np.allclose(here, there, atol=1e-8)
    here, there = (
        binning_features(Laplace(c), X * c, 40, 0)(X * c).toarray() for c in (1.0, scale)
    )
    assert here.shape == there.shape and np.allclose(here @ here.T, there @ there.T)
    for landmarks in ("uniform", "rpcholesky", "kmeans"):
        here, there = (
            nystrom_features(Gaussian(c), X * c, 4, 0, landmarks)(X * c) for c in (1.0, scale)
        )
        assert np.allclose(here @ here.T, there @ there.T, atol=1e-6)


@pytest.mark.second_route("check_unbiased", "impostors refused")
def test_mutants_are_refused():
    def altered(k, change, **options):
        def draw(rng):
            phi = fourier_features(k, 3, 60, rng, **options)
            return replace(phi, function=change(phi.function))

        return draw

    unit = lambda f: replace(f, W=f.W / np.linalg.norm(f.W, axis=1, keepdims=True) * 3**0.5)  # noqa: E731
    for k, draw in [
        (Gaussian(1), altered(Gaussian(1), lambda f: replace(f, weight=f.weight * 1.05))),
        (Gaussian(1), altered(Gaussian(1.1), lambda f: f)),
        (Gaussian(1), altered(Gaussian(1), unit, coupling="orthogonal")),
        (Matern(0.5), altered(Laplace(1), lambda f: f)),
        (Laplace(1) + Constant(1), altered(Laplace(1), lambda f: f)),
        (Gaussian(1) * Laplace(1), altered(Gaussian(1) + Laplace(1), lambda f: f)),
        (
            Gaussian(1),
            altered(Gaussian(1), lambda f: replace(f, phases=f.phases * 0), kind="phase"),
        ),
    ]:
        with pytest.raises(LawBroken, match="standard errors"):
            check_unbiased(draw, k, X, 0)


def test_sparse_points():
    A = sp.random(30, 3, 0.5, random_state=0, format="csr")
    for phi in (
        fourier_features(Gaussian(), 3, 10, 0),
        random_feature_map(Gaussian() * Polynomial(3, 1.0, 0.5), 3, 20, 0),
        binning_features(Laplace(), A.toarray(), 5, 0),
        nystrom_features(Gaussian(), A.toarray(), 5, 0),
    ):
        for B in (A, sp.csr_array(A)):
            F, G = phi(B), phi(A.toarray())
            F, G = (np.asarray(f.toarray() if sp.issparse(f) else f) for f in (F, G))
            assert np.allclose(F, G)


@pytest.mark.second_route("orthogonal_normals", "SciPy's QR factors")
@pytest.mark.parametrize("n, d", [(3, 7), (7, 7), (9, 4)])
def test_orthogonal_normals_are_columns_of_whole_factors(n, d):
    rng = np.random.default_rng(5)
    lengths = np.linalg.norm(rng.standard_normal((n, d)), axis=1)
    factors = [qr(G) for G in rng.standard_normal((-(-n // d), d, d))]
    rows = np.vstack([(Q * np.sign(np.diagonal(R))).T for Q, R in factors])[:n]
    np.testing.assert_allclose(orthogonal_normals(n, d, 5), lengths[:, None] * rows, atol=1e-13)


@pytest.mark.second_route("random_feature_map", "closed form")
def test_features_of_an_exponential_grow_as_it_does():
    "exp(xᵀy) from 1 at 0 to e at 1; waves alone would end at 1"
    X = np.array([[0.0], [0.6], [1.0]])
    maps = [random_feature_map(Linear().exp(), 1, 2000, rng=seed) for seed in range(20)]
    found = np.array([phi(X) @ phi(X).T for phi in maps])
    error = found.std(axis=0) / np.sqrt(20) + 1e-12
    assert (np.abs(found.mean(axis=0) - np.exp(X @ X.T)) < 5 * error).all()


def test_shares_of_outputs_fit_and_are_fair():
    assert shares([(1.0, 50, 1.0), (1.0, None, 1.0)], 60) == [30, 30]  # 50 would be more than half
    assert shares([(1.0, 50, 1.0), (1.0, None, 1.0)], 100) == [50, 50]
    assert shares([(1.0, 3, 1.0), (3.0, None, 1.0), (1.0, None, 1.0)], 83) == [3, 60, 20]
    assert (
        shares([(1.0, None, 1.0)] * 5, 9) is None and sum(shares([(1.0, None, 1.0)] * 5, 10)) == 10
    )


@pytest.mark.parametrize(
    "k",
    [
        Gaussian(0.5),
        Cauchy(2.0),
        RationalQuadratic(1.0, 1.0),
        Matern(1.5, 3.0),
        Matern(1.0, 1.0),
        Matern(1.01, 1.0),
        Matern(1.2, 1e3),
        Laplace(1e3),
        Gaussian(1.0) + Laplace(1.0),
        Gaussian(1.0) + Matern(1.05, 1.0),
        0.6 * Gaussian(1.0) + 0.4 * Gaussian(1e-4),
    ],
    ids=str,
)
def test_the_second_moment_by_fft_is_that_of_the_law(k):
    "Not of the part below π / step: of a heavy tail it is large or infinite"
    exact = k.spectral(1).second_moment
    for step in (2.0**-10, 2.0**-13):
        measure = spectral_from_function(k, 30.0, 30.0 * step) if k([0.0], [30.0]) < 0.01 else None
        measure = measure or spectral_from_function(k)
        np.testing.assert_allclose(measure.second_moment, exact, rtol=1e-3)


@pytest.mark.parametrize("p", [0.5, 1.0, 1.97, 1.99])
def test_stable_laws_have_no_second_moment(p):
    assert spectral_from_function(lambda t: np.exp(-(np.abs(t) ** p))).second_moment == np.inf


def test_the_second_moment_asks_no_value_beyond_reach():
    def k(t):
        assert np.abs(t).max() <= 20.0
        return np.exp(-(t**2) / 2)

    assert spectral_from_function(k, 20.0).second_moment == pytest.approx(1.0, rel=1e-6)


def test_features_in_more_columns_than_sobols_sequences_have():
    for call in (
        lambda: fourier_features(Gaussian(1), 30_000, 4, coupling="qmc"),
        lambda: Gaussian(1).spectral(30_000).sample(3, 0, "qmc"),
    ):
        with pytest.raises(ValueError, match="d = 30000: pass a whole number ≥ 1, ≤ 21201"):
            call()


def test_features_without_one_row_a_point_are_refused():
    for shape in ((3, 3), (2,)):
        with pytest.raises(ValueError, match=r"draw.rng..X. has shape .*pass .2, D., one row a"):
            check_unbiased(
                lambda rng, shape=shape: lambda X: np.zeros(shape), Gaussian(1), [0.0, 1.0]
            )


@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.filterwarnings("ignore:0 features")
def test_points_that_a_kernel_cannot_see_give_no_features(kind, capfd):
    Z = np.zeros((5, 2), kind)
    values = nystrom_features(Linear(), Z, 3, rng=0)(Z)
    assert values.shape == (5, 0) and values.dtype == kind and not "".join(capfd.readouterr())


def test_features_as_plain_lists_are_tested_for_their_mean_too():
    X = np.linspace(0, 1, 4)[:, None]

    def listed(rng):
        phi = random_feature_map(Gaussian(1.0), 1, 50, rng)
        return lambda X: phi(X).tolist()

    assert check_unbiased(listed, Gaussian(1.0), X, 0, 20) < 5
