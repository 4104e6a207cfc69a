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
from rkhs_notes import settings
from rkhs_notes.cli import open_lab
from rkhs_notes.comparison import ColumnChange, compare_tables
from rkhs_notes.conditioning import ConditionalEmbedding, conditional_embedding
from rkhs_notes.contracts import Count, contract, fuzz
from rkhs_notes.convex import (
    Absolute,
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    Quantile,
    Squared,
    SquaredHinge,
)
from rkhs_notes.errors import IndefiniteKernel, NoFiniteFeatureMap, NoSpectralMeasure, RKHSError
from rkhs_notes.estimators import KernelRidge
from rkhs_notes.features import feature_map, feature_rule
from rkhs_notes.functions import Combination
from rkhs_notes.gram import as_kernel
from rkhs_notes.grids_landmarks import random_rule
from rkhs_notes.hilbert import lp_norm, parallelogram_defect
from rkhs_notes.interpolation import PowerFunction
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
)
from rkhs_notes.mercer import TruncatedKernel, bridge_spectrum, brownian_spectrum, periodic_spectrum
from rkhs_notes.metrics import GaussianOf
from rkhs_notes.normals import sobol_normals
from rkhs_notes.play import Draggable, drag_interpolant, drag_machine, drag_posterior, drag_witness, script
from rkhs_notes.plots import palette, use_style
from rkhs_notes.random_features import mixture, spectral_measure, spectral_rule
from rkhs_notes.rkhs import RKHSFunction
from rkhs_notes.series import Formula
from rkhs_notes.stored import write_expression
from rkhs_notes.streams import FeatureComponents, StreamingMeans
from rkhs_notes.zoo import Periodic, from_gamma, from_sklearn, to_gamma
from scipy.special import ndtri
from scipy.stats import qmc
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge as PeerRidge
from sklearn.metrics.pairwise import rbf_kernel

from conftest import ROOT

X = np.random.default_rng(0).normal(size=(12, 2))
close = np.testing.assert_allclose


def same_gram(kind, k, K):
    assert isinstance(k, kind)
    close(k(X), K, rtol=1e-10, atol=1e-13)


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


def test_bandwidths_in_the_words_of_others():
    close(from_gamma(0.3)(X), rbf_kernel(X, gamma=0.3), rtol=1e-12)
    assert to_gamma(Gaussian(2.0)) == 1 / 8
    close(from_sklearn(RBF(0.7))(X), RBF(0.7)(X), rtol=1e-12)


def test_losses_by_their_cases():
    r = np.linspace(-3, 3, 25)
    zero, one, by = np.zeros(25), np.ones(25), r.tolist()
    close(Squared()(r, zero), [u * u for u in by], atol=1e-15)
    close(Absolute()(r, zero), [max(u, -u) for u in by], atol=1e-15)
    close(Huber(0.7)(r, zero), [u * u / 2 if abs(u) <= 0.7 else 0.7 * abs(u) - 0.245 for u in by], atol=1e-15)
    close(Quantile(0.3)(r, zero), [0.3 * u if u > 0 else -0.7 * u for u in by], atol=1e-15)
    close(EpsilonInsensitive(0.5)(r, zero), [max(0.0, u - 0.5, -u - 0.5) for u in by], atol=1e-15)
    close(Hinge()(one, r), [1 - u if u < 1 else 0.0 for u in by], atol=1e-15)
    close(SquaredHinge()(one, r), [(1 - u) ** 2 if u < 1 else 0.0 for u in by], atol=1e-15)
    close(Logistic()(one, r), [math.log(1 + math.exp(-u)) for u in by], rtol=1e-13)


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


def test_the_rule_of_finite_features_is_exact():
    D, function = random_rule(Linear(), 2, 64, np.random.default_rng(0))
    close(function(X) @ function(X).T, X @ X.T, atol=1e-14)
    assert function(X).shape == (12, D)
    with pytest.raises(NoFiniteFeatureMap):
        random_rule(Brownian(), 1, 64, np.random.default_rng(0))


def test_the_spectral_rule_of_a_gaussian_draws_its_normals():
    w = spectral_rule(Gaussian(0.5), 1).sample(20000, np.random.default_rng(0))
    for d in (0.3, 1.0):  # the transform of a normal law
        close(np.mean(np.cos(np.ravel(w) * d)), np.exp(-2 * d * d), atol=4 / 20000**0.5)
    with pytest.raises(NoSpectralMeasure):
        spectral_rule(Linear(), 1)


def test_the_measure_of_a_sum_has_the_sum_for_its_transform():
    mu = mixture([spectral_measure(Gaussian(0.5), 1), spectral_measure(3 * Gaussian(2.0), 1)])
    w = np.ravel(mu.sample(20000, np.random.default_rng(0)))
    for d in (0.3, 1.0, 2.5):  # E cos(ω d) of the normal law of density exp(-d²/2σ²)
        wanted = (np.exp(-2 * d * d) + 3 * np.exp(-d * d / 8)) / 4
        close(np.mean(np.cos(w * d)), wanted, atol=4 / 20000**0.5)


def test_combinations_are_sums_over_their_points():
    alpha = np.arange(1.0, 13.0)
    f = RKHSFunction(Linear(), X, alpha)
    assert isinstance(f, Combination)
    close((2 * f - f / 4)(X), 1.75 * X @ (X.T @ alpha), rtol=1e-12)
    close((2 * f) @ f, 2 * alpha @ X @ X.T @ alpha, rtol=1e-12)


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


def test_the_defect_by_its_definition():
    f, g = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    close(parallelogram_defect(lambda h: lp_norm(h, 1), f, g), (2**2 + 2**2) / (2 + 2) - 1)
    close(parallelogram_defect(np.linalg.norm, f, g), 0.0, atol=1e-15)


def test_the_power_function_by_its_definition():
    places = np.array([[0.5, 0.5], [2.0, -1.0]])
    r2 = ((X[:, None] - X) ** 2).sum(axis=2)
    to = ((X[:, None] - places) ** 2).sum(axis=2)
    K, Kx = np.exp(-r2 / 2), np.exp(-to / 2)
    close(PowerFunction(Gaussian(1.0), X)(places) ** 2, 1 - (Kx * np.linalg.solve(K, Kx)).sum(0), atol=1e-9)


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


def test_a_cut_series_is_the_sum_of_its_terms():
    k, x = TruncatedKernel(brownian_spectrum(3)), np.array([0.2, 0.9])
    nodes = (np.arange(3) + 0.5) * np.pi
    close(k(x), sum(2 * np.outer(np.sin(w * x), np.sin(w * x)) / w**2 for w in nodes), rtol=1e-13)


def test_quantiles_of_a_sobol_sequence():
    by_scipy = qmc.Sobol(3, seed=np.random.default_rng(4)).random_base2(4)[:11]
    close(sobol_normals(11, 3, np.random.default_rng(4)), ndtri(by_scipy + 2.0**-31), rtol=1e-14)


def test_weights_of_a_conditional_embedding():
    y = X[:, 0] ** 2
    e = conditional_embedding(Gaussian(1.0), Gaussian(0.5), X, y, lam=0.1)
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 2)
    assert isinstance(e, ConditionalEmbedding)
    close(e.weights(X), np.linalg.solve(K + 0.1 * np.eye(12), K).T, atol=1e-12)


def test_components_of_features_are_those_of_their_covariance():
    data = np.random.default_rng(1).normal(size=(60, 3)) * [3, 2, 1]
    found = StreamingMeans(feature_map(Linear(), 3)).update(data).components(2)
    values, vectors = np.linalg.eigh(60 * np.cov(data.T, bias=True))
    assert isinstance(found, FeatureComponents)
    close(found.eigenvalues, values[::-1][:2], rtol=1e-12)
    centred = data - data.mean(axis=0)
    close(np.abs(found(data)), np.abs(centred @ vectors[:, ::-1][:, :2]), atol=1e-10)


def test_a_formula_is_its_rule():
    close(Formula(np.power, (3,))(np.array([[2], [5]])), [[8.0], [125.0]])


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


@pytest.mark.oracle("using", "known value")
def test_settings_last_as_long_as_their_block():
    with settings.using(block_mib=7):
        assert settings.block_mib == 7
    assert settings.block_mib != 7
    with pytest.raises(ValueError):
        with settings.using(block_mib=-1):
            pass


@pytest.mark.oracle("write_expression", "by hand")
def test_a_stored_kernel_is_a_formula_in_json(tmp_path):
    write_expression(tmp_path / "k", 2 * Gaussian(0.5) + Linear())
    with zipfile.ZipFile(tmp_path / "k") as archive:
        head = json.loads(archive.read("expression.json"))
    assert head["format"] == 1 and re.findall(r"Gaussian|Linear", json.dumps(head)) == ["Gaussian", "Linear"]


FIGURES = {
    "interpolant": lambda: drag_interpolant([0.0, 1.0], [2.0, -1.0], 0.5),
    "posterior": lambda: drag_posterior([0.0, 1.0], [2.0, -1.0], 0.5, 0.1),
    "machine": lambda: drag_machine([[0.0, 2.0], [1.0, -1.0]], [1, -1], 0.5, 3.0),
    "witness": lambda: drag_witness([0.0, 1.0], [2.0, -1.0], 0.5),
}


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


def test_the_script_is_the_three_files_as_they_lie_there():
    folder = ROOT / "rkhs_notes" / "figures"
    by_hand = "".join((folder / f"{name}.js").read_text("utf-8") for name in ("numerics", "kinds", "stage"))
    assert sorted(script()) == sorted(by_hand)


@pytest.mark.oracle("use_style", "known value")
def test_the_style_is_seen_in_a_picture():
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        use_style()
        figure, ax = matplotlib.pyplot.subplots()
        lines = [ax.plot([0, 1])[0].get_color() for _ in palette]
        matplotlib.pyplot.close(figure)
        assert lines == list(palette.values()) and not ax.spines["top"].get_visible()


def test_jupyterlab_is_opened_in_the_folder(monkeypatch, tmp_path):
    calls = []
    monkeypatch.setattr("subprocess.call", lambda command: calls.append(command) or 3)
    assert open_lab(tmp_path) == 3
    assert calls == [[sys.executable, "-m", "jupyterlab", str(tmp_path)]]


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
