"""Chapters 05, 05a and 05c beyond their notebooks: free parts, learned noise, the spaces of samples."""

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog, minimize
from scipy.special import expit
from scipy.stats import norm
from sklearn.datasets import load_diabetes

import rkhs_notes as rn
from rkhs_notes.base import settings
from rkhs_notes.base.errors import (
    ConvergenceFailure,
    IndefiniteKernel,
    LawBroken,
    NotPositiveDefinite,
)
from rkhs_notes.base.factors import PivotedCholesky
from rkhs_notes.base.words import Classes
from rkhs_notes.deeper.processes import check_sample_space
from rkhs_notes.deeper.risks import (
    SemiparametricFit,
    check_representer,
    minimize_risk,
    semiparametric,
    smoothing_spline,
)
from rkhs_notes.deeper.structured import Spectrum
from rkhs_notes.deeper.zoo import Laplace, Mahalanobis, Matern, Precomputed, Sobolev
from rkhs_notes.engines.features.spectral import fourier_features
from rkhs_notes.engines.machines import laplace_method
from rkhs_notes.engines.machines.laplace_method import gp_classification, laplace_on_features
from rkhs_notes.engines.solving.conformal import jackknife_plus
from rkhs_notes.engines.solving.evidence import fit_hyperparameters, gaussian_process, log_marginal
from rkhs_notes.engines.solving.landmarks import landmark_map
from rkhs_notes.engines.solving.learned_noise import LearnedNoise, check_noise, learn_noise
from rkhs_notes.engines.solving.losses import (
    absolute,
    epsilon_insensitive,
    hinge,
    huber,
    logistic,
    quantile,
    squared,
    squared_hinge,
)
from rkhs_notes.engines.solving.ridge_fits import OffsetFit, ridge
from rkhs_notes.engines.solving.searches import highest
from rkhs_notes.engines.solving.systems import NullPart, clipped, eigenpairs, squarable
from rkhs_notes.kernels import Brownian, Constant, Gaussian, Linear
from rkhs_notes.rkhs import RKHSFunction

K = Gaussian(0.5)
LOSSES = [
    absolute,
    huber(0.5),
    quantile(0.8),
    epsilon_insensitive(0.1),
    logistic,
    hinge,
    squared_hinge,
]


def problem(n=40, seed=0):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(0, 2, n))
    y = 5 + 3 * x + np.sin(6 * x) + 0.2 * rng.standard_t(2, n)
    return x, y, np.where(rng.random(n) < 1 / (1 + np.exp(-2 * np.sin(4 * x))), 1.0, -1.0)


def line(x):
    return np.column_stack([np.ones(len(x)), x])


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("lam", [1e-3, 0.1, 10.0])
def test_free_parts_under_any_loss(loss, lam):
    x, y, sign = problem()
    y = sign if loss.labels else y
    fit = semiparametric(K, x, y, line, lam, loss=loss)
    assert fit.gap <= 1e-6
    check_representer(fit, x, y, lam, loss=loss)
    beta, alpha = fit.null_part.beta, fit.function.alpha
    values = fit.function(x)

    def J(step):
        return float(np.sum(loss(y, values + line(x) @ (beta + step))))

    steps = np.random.default_rng(1).normal(size=(30, 2)) * np.array(
        [[0.1], [0.01], [1e-3]]
    ).repeat(10, 0)
    assert all(J(step) >= J(np.zeros(2)) - 1e-6 * (1 + abs(J(np.zeros(2)))) for step in steps)
    assert np.abs(line(x).T @ alpha).max() <= 1e-6 * np.abs(alpha).sum()


@pytest.mark.parametrize("tau", [0.2, 0.5])
def test_a_line_alone_is_a_linear_program(tau):
    "With a penalty so large that f vanishes the free line is the quantile regression line"
    x, y, _ = problem()
    T, n = line(x), len(x)
    c = np.r_[np.zeros(4), tau * np.ones(n), (1 - tau) * np.ones(n)]
    A = np.hstack([T, -T, np.eye(n), -np.eye(n)])
    best = linprog(c, A_eq=A, b_eq=y, method="highs").fun
    fit = semiparametric(K, x, y, line, 1e4, loss=quantile(tau))
    assert np.sum(quantile(tau)(y, fit(x))) == pytest.approx(best, rel=1e-3)


@pytest.mark.second_route("SemiparametricFit", "semiparametric", "SciPy's minimiser")
def test_a_smooth_loss_against_a_general_optimiser():
    x, _, sign = problem(15)
    G, T, lam = K(x), line(x), 0.2

    def J(v):
        alpha, beta = v[:15], v[15:]
        return np.sum(logistic(sign, G @ alpha + T @ beta)) + lam * alpha @ G @ alpha

    peer = minimize(J, np.zeros(17), method="BFGS", options=dict(gtol=1e-9, maxiter=5000))
    fit = semiparametric(K, x, sign, line, lam, loss="logistic")
    np.testing.assert_allclose(fit(x), G @ peer.x[:15] + T @ peer.x[15:], atol=1e-4)


@pytest.mark.parametrize("loss", ["huber(1000)", "absolute"])
def test_splines_under_other_losses(loss):
    "Huber with a wide middle is half the square; lines are reproduced by all"
    x, y, _ = problem()
    grid = np.linspace(-1, 3, 50)
    if loss != "absolute":
        half = smoothing_spline(x, y, 0.01, loss=loss)
        np.testing.assert_allclose(half(grid), smoothing_spline(x, y, 0.02)(grid), atol=1e-4)
    straight = smoothing_spline(x, 2 - 3 * x, 0.01, loss=loss)
    np.testing.assert_allclose(straight(grid), 2 - 3 * grid, atol=1e-5)
    moved = smoothing_spline(10 * x - 7, y, 10, loss=loss)  # lam goes with the cube of lengths
    np.testing.assert_allclose(
        moved(10 * grid - 7), smoothing_spline(x, y, 0.01, loss=loss)(grid), atol=1e-3
    )


FITS = {  # what takes a loss and weights
    "with a line": lambda x, y, w, loss: semiparametric(K, x, y, line, 0.1, weights=w, loss=loss),
    "a spline": lambda x, y, w, loss: smoothing_spline(x, y, 0.1, weights=w, loss=loss),
    "alone": lambda x, y, w, loss: minimize_risk(K, x, y, loss, 0.1, weights=w),
}


@pytest.mark.parametrize("kind", FITS)
@pytest.mark.parametrize("loss", [squared, *LOSSES], ids=str)
def test_weights_are_repetitions_under_any_loss(loss, kind):
    x, y, sign = problem(25)
    y = sign if loss.labels else y
    w = np.random.default_rng(2).integers(0, 4, 25)
    ours = FITS[kind](x, y, w, loss)
    repeated = FITS[kind](np.repeat(x, w), np.repeat(y, w), None, loss)
    np.testing.assert_allclose(ours(x), repeated(x), atol=2e-3 * np.abs(repeated(x)).max())
    if kind != "a spline":
        assert not ours.function.alpha[w == 0].any()


@pytest.mark.parametrize("loss", [squared, huber(0.3), *LOSSES], ids=str)
def test_weights_that_are_no_whole_numbers_have_a_certificate(loss):
    "w u / w may lie a rounding beyond the interval of the loss; a small lam asks for every digit"
    for seed in range(12):
        x, y, sign = problem(30, seed)
        y, w = sign if loss.labels else y, np.random.default_rng(seed).uniform(0.2, 3, 30)
        for lam in (1e-3, 0.7):
            fit = semiparametric(K, x, y, line, lam, weights=w, loss=loss)
            assert 0 <= fit.gap + 1e-12 <= 2e-6
            values = smoothing_spline(x, y, lam, weights=w, loss=loss)(x)
            fewer = smoothing_spline(x, y, lam, weights=2 * w, loss=loss)(x)
            assert w @ loss(y, fewer) <= w @ loss(y, values) * (1 + 1e-5) + 1e-6  # fits closer


def test_no_minimiser_is_said():
    x, _, _ = problem()
    with pytest.raises(ConvergenceFailure, match="nothing is least"):
        semiparametric(K, x, np.sign(x - 1), line, 0.1, loss="logistic")
    with pytest.raises(ValueError, match="no line"):
        smoothing_spline(np.ones(3), np.arange(3.0), 1.0, loss="absolute")


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_the_law_of_free_parts_refuses(loss):
    "Near misses: a coefficient moved by little, a constant fitted afterwards, a line that is charged"
    x, y, _ = problem()
    fit = semiparametric(K, x, y, line, 0.1, loss=loss)
    check_representer(fit, x, y, 0.1, loss=loss)
    f, beta = fit.function, fit.null_part.beta
    nudged = RKHSFunction(K, f.Z, f.alpha + 1e-3 * np.abs(f.alpha).mean() * np.cos(5 * x))
    alone = minimize_risk(K, x, y - y.mean(), loss, 0.1).function
    charged = minimize_risk(K + Constant(4.0), x, y, loss, 0.1).function.alpha
    for wrong in (
        SemiparametricFit(nudged, fit.null_part),
        SemiparametricFit(f, NullPart(line, beta + [0.01, 0.0])),
        OffsetFit(alone, float(y.mean())),
        OffsetFit(RKHSFunction(K, f.Z, charged), 4.0 * charged.sum()),
    ):
        with pytest.raises(LawBroken):
            check_representer(wrong, x, y, 0.1, loss=loss)


@pytest.mark.parametrize("unit", [1e-4, 1.0, 1e4])
def test_the_law_of_free_parts_holds_in_every_unit_of_x(unit):
    x, y, _ = problem()
    fit = semiparametric(Gaussian(0.5 * unit), unit * x, y, line, 0.1)
    check_representer(fit, unit * x, y, 0.1)


@pytest.mark.parametrize("scale", [1e-10, 1.0, 1e10])
@pytest.mark.parametrize("unit", [1e-8, 1e8])
def test_the_law_holds_in_every_unit_of_the_kernel_and_of_y(scale, unit):
    x, y, _ = problem()
    k = scale * Gaussian(0.5)
    f = ridge(k, x, unit * y, 0.1 * scale)
    check_representer(f, x, unit * y, 0.1 * scale)
    with pytest.raises(LawBroken):
        check_representer(1.001 * f, x, unit * y, 0.1 * scale)


def test_an_offset_that_leaves_little_to_gain_is_refused():
    "Σ alpha = 0, missed by three times what is allowed, where the other laws see nothing"
    x, y, _ = problem()
    k, size = Gaussian(0.01), 2 * len(x) * np.finfo(float).eps ** 0.75
    fit = ridge(k, x, y, 0.1, offset=True)
    size *= np.abs(y).max() + np.abs(fit.function.alpha).sum()
    check_representer(OffsetFit(fit.function, fit.offset + 0.3 * size), x, y, 0.1)
    with pytest.raises(LawBroken, match="Tᵀ alpha"):
        check_representer(OffsetFit(fit.function, fit.offset + 3 * size), x, y, 0.1)
    y = y - semiparametric(K, x, y, lambda x: 1.0, 0.1, loss=huber(5.0)).null_part.beta
    fit = semiparametric(K, x, y, lambda x: 1.0, 0.1, loss=huber(5.0))  # now with an offset of 0
    alpha, away = fit.function.alpha, 1e-5 * np.abs(fit.function.alpha).sum() / len(x)
    for times, refused in ((0.3, False), (3.0, True)):
        f = SemiparametricFit(RKHSFunction(K, fit.function.Z, alpha + times * away), fit.null_part)
        if refused:
            with pytest.raises(LawBroken, match="Tᵀ alpha"):
                check_representer(f, x, y, 0.1, loss=huber(5.0))
        else:
            check_representer(f, x, y, 0.1, loss=huber(5.0))


def test_offsets_meet_the_law():
    x, y, _ = problem()
    for b in (0.0, 1e6):
        check_representer(ridge(K, x, y + b, 0.1, offset=True), x, y + b, 0.1)


def noisy(n=80, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 4, n)
    return x, np.sin(2 * x) + np.exp(x - 3) * rng.normal(size=n)


@pytest.mark.second_route("LearnedNoise", "learn_noise", "the noise that was drawn")
def test_noise_that_grows_is_learned():
    x, y = noisy(200)
    fit = learn_noise(1.0 * Gaussian(1.0), x, y)
    check_noise(fit)
    grid = np.linspace(0.5, 3.5, 30)
    assert np.abs(np.log(fit(grid)) - 2 * (grid - 3)).mean() < 0.6
    assert fit.log_marginal > fit.constant.log_marginal + fit.lam * fit.function.norm() ** 2
    assert fit.log_marginal == pytest.approx(log_marginal(fit.process.k, x, y, fit(x))[0])
    assert fit.k == (1.0 * Gaussian(1.0)).normalized() and "\n" not in repr(fit)
    np.testing.assert_array_equal(fit.predict(grid), fit(grid))


def test_a_strong_penalty_leaves_one_noise():
    x, y = noisy()
    fit = learn_noise(1.0 * Gaussian(1.0), x, y, lam=1e8)
    np.testing.assert_allclose(fit(x), fit.constant.noise, rtol=1e-3)


@pytest.mark.second_route("check_noise", "near misses refused")
def test_the_law_of_noise_refuses_near_misses():
    x, y = noisy()
    fit = learn_noise(1.0 * Gaussian(1.0), x, y, k_noise=Gaussian(1.0))
    gain = check_noise(fit)
    assert gain < 1e-4 and check_noise(fit, tol=3 * gain + 1e-12) == gain

    def given(g, c, lam=0.5):
        process = gaussian_process(fit.process.k, x, y, np.exp(g(x) + c))
        return LearnedNoise(process, g, c, lam, fit.constant)

    check_noise(given(fit.function, fit.offset))
    one = np.log(fit.constant.noise)
    for wrong in (
        given(1.2 * fit.function, fit.offset),
        given(fit.function, fit.offset + 0.1),
        given(fit.function, fit.offset, lam=0.6),
        given(0.0 * fit.function, float(one)),
    ):
        with pytest.raises(LawBroken, match="stationary"):
            check_noise(wrong)
    with pytest.raises(LawBroken, match="stationary"):
        check_noise(fit, tol=gain / 3)
    level = fit.log_marginal - fit.lam * fit.function.norm() ** 2
    for times, refused in ((0.3, False), (3.0, True)):
        better = fit.constant._replace(log_marginal=level + times * 1e-2)
        moved = replace(fit, offset=fit.offset + times * 1e-8), replace(fit, constant=better)
        for wrong, words in zip(moved, ("exp", "constant noise"), strict=True):
            if refused:
                with pytest.raises(LawBroken, match=words):
                    check_noise(wrong)
            else:
                check_noise(wrong)
    with pytest.raises(TypeError, match="learn_noise"):
        check_noise(fit.process)


@pytest.mark.second_route("check_sample_space", "NumPy's trace")
@pytest.mark.parametrize(
    "k, space",
    [
        (Sobolev(2), Brownian()),
        (Matern(2.5, 0.3), Laplace(0.3)),
        (Linear(), Linear() + 0.1 * Laplace(0.3)),
    ],
    ids=str,
)
def test_samples_live_in_a_larger_space(k, space):
    x = np.random.default_rng(0).permutation(np.linspace(0, 1, 257)[1:])
    found = check_sample_space(k, space, x, rng=0)
    x = x[PivotedCholesky(space(x)).order]
    R, G = space(x), k(x)
    for value, n in zip(found, (32, 64, 128, 256), strict=True):
        by_definition = np.trace(np.linalg.solve(R[:n, :n], G[:n, :n]))
        assert value == pytest.approx(by_definition, rel=1e-6)


def test_a_sample_space_is_told_from_16_points_on():
    x = np.linspace(0, 1, 17)[1:]
    found = check_sample_space(Sobolev(2), Brownian(), x, rng=0)
    assert found[-1] == pytest.approx(np.trace(np.linalg.solve(Brownian()(x), Sobolev(2)(x))))
    with pytest.raises(ValueError, match="X holds 15 points; pass 16 or more"):
        check_sample_space(Sobolev(2), Brownian(), x[1:], rng=0)


@pytest.mark.second_route("check_sample_space", "near misses refused")
@pytest.mark.parametrize(
    "k, space",
    [
        (Brownian(), Brownian()),
        (Matern(1.5, 0.3), Matern(1.2, 0.3)),
        (Laplace(0.3), Matern(1.5, 0.3)),
        *((Matern(nu, 0.3), Matern(nu - 0.5, 0.3)) for nu in (1.0, 1.5, 2.5)),  # just missed
        *((Matern(1.5, 0.3), Matern(nu, 0.3)) for nu in (1.05, 1.1)),
    ],
    ids=str,
)
def test_samples_leave_a_space_that_is_too_small(k, space):
    x = np.random.default_rng(0).permutation(np.linspace(0, 1, 257)[1:])
    with pytest.raises(LawBroken, match="levels off"):
        check_sample_space(k, space, x, rng=0)
    with pytest.raises(NotPositiveDefinite, match="take fewer"):
        check_sample_space(k, Gaussian(5.0), x)


@pytest.mark.parametrize(
    "tail, is_level", [(1e-6, True), (1e-4, True), (4e-4, True), (2e-3, False)]
)
def test_a_tail_below_a_thousandth_of_all_is_level(tail, is_level):
    "The parts of (5a.9) are the variances themselves where the space has an orthonormal basis"
    variances = np.repeat([1.0, 0.5 * tail, tail], [4, 4, 8])
    k, space, X = Precomputed(np.diag(variances)), Precomputed(np.eye(16)), np.arange(16)
    assert is_level == (8 * tail - 0.92 * 2 * tail < 1e-3 * variances.sum())
    if is_level:
        found = check_sample_space(k, space, X, rng=0)
        np.testing.assert_allclose(found, np.cumsum(variances)[[1, 3, 7, 15]])
    else:
        with pytest.raises(LawBroken, match="levels off"):
            check_sample_space(k, space, X, rng=0)


def mean_of_logistic(m, s):
    "E 1 / (1 + exp(−m − s Z)) by Gauss–Legendre on pieces that are short where the logistic is steep"
    nodes, weights = np.polynomial.legendre.leggauss(40)
    steep = -m / s + np.linspace(-45, 45, 91) / s
    cuts = np.unique(np.clip(np.r_[np.linspace(-12, 12, 97), steep], -12, 12))
    half = np.diff(cuts)[:, None] / 2
    z = cuts[:-1, None] + half * (1 + nodes)
    return np.sum(expit(m + s * z) * np.exp(-z * z / 2) / np.sqrt(2 * np.pi) * weights * half)


def test_the_averaged_logistic_at_every_mean_and_scale():
    rng = np.random.default_rng(0)
    m = rng.normal(size=400) * 10 ** rng.uniform(-3, 3, 400)
    s = 10 ** rng.uniform(-8, 6, 400)
    m[:5], s[:5] = (12.5, 1e3, -1e3, 3.0, -3.0), (100.0, 1e6, 1e-6, 1.0, 1.0000001)
    ours = laplace_method._averaged(m, s)
    np.testing.assert_allclose(
        ours, [mean_of_logistic(*pair) for pair in zip(m, s, strict=True)], atol=1e-12
    )
    assert abs(ours[0] - 0.54973) < 5e-6
    assert np.array_equal(ours > 0.5, m > 0)
    np.testing.assert_allclose(laplace_method._averaged(m, 0 * s), expit(m), rtol=1e-14)
    one = [
        laplace_method._averaged(m, np.full(400, width)) for width in (1.0, 1 + 1e-13)
    ]  # both forms
    np.testing.assert_allclose(*one, atol=1e-12)


def test_a_process_of_steep_labels_promises_what_its_latent_promises():
    "A scale of 1e6: f is up to 1000 wide, and the sign of its mean decides"
    X = np.random.default_rng(3).normal(size=(40, 2)) + np.repeat([[-2.0, 0], [2, 0]], 20, axis=0)
    fit = gp_classification(1e6 * Gaussian(1.0), X, np.repeat([0, 1], 20))
    new = np.random.default_rng(4).uniform(-4, 4, (50, 2))
    m, s = fit.mean(new), np.sqrt(fit.var(new))
    expected = [mean_of_logistic(*pair) for pair in zip(m, s, strict=True)]
    np.testing.assert_allclose(fit.probability(new), expected, atol=1e-9)
    assert np.array_equal(fit.predict(new) == 1, fit.probability(new) > 0.5)
    assert np.mean(fit.predict(X) == np.repeat([0, 1], 20)) > 0.95


class Fixed(np.random.Generator):
    "Draws all unit vectors in turn, of one length: the mean of ‖A z‖² is that times tr(AᵀA), exactly"

    length = 1.0

    def standard_normal(self, shape):
        n, draws = shape
        return np.sqrt(n) * self.length * np.tile(np.eye(n), draws // n)


def test_samples_of_another_size_are_a_near_miss():
    x = np.random.default_rng(0).permutation(np.linspace(0, 1, 65)[1:])
    k, space = Matern(2.5, 0.3), Laplace(0.3)
    M, rng = np.linalg.solve(space(x), k(x)), Fixed(np.random.PCG64(0))
    allowed = 6 * np.sqrt(2 * np.trace(M @ M) / 128)
    for times, refused in ((0.9, False), (1.1, True), (-0.9, False), (-1.1, True)):
        rng.length = np.sqrt(1 + times * allowed / np.trace(M))
        if refused:
            with pytest.raises(LawBroken, match="tr.R⁻¹ K"):
                check_sample_space(k, space, x, 128, rng)
        else:
            check_sample_space(k, space, x, 128, rng)


def two_hills(theta):
    "Of heights 1 at -2 and 2 at 2; no value above 2.1"
    [t], heights, tops = theta, np.array([1.0, 2.0]), np.array([-2.0, 2.0])
    if t > 2.1:
        raise ValueError(f"refused at {t:g}")
    hills = heights * np.exp(-((t - tops) ** 2))
    return hills.sum(), np.array([hills @ (2 * (tops - t))])


def test_a_search_goes_on_after_refusals_and_keeps_the_best_end():
    box = [(-5.0, 5.0)]
    for starts in ([-2.5], [3.0], [0.9]), ([0.9], [3.0], [-2.5]):
        theta, value = highest(two_hills, starts, box, progress=False)
        assert theta == pytest.approx([2.0], abs=1e-4) and value == pytest.approx(2.0, abs=1e-6)
    with pytest.raises(ValueError, match="refused at 3"):
        highest(two_hills, ([3.0], [4.0]), box, progress=False)


def test_widths_apart_never_end_below_widths_together():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 6))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=60)
    for width in (0.3, 3.0):
        one = fit_hyperparameters(1.0 * Gaussian(width), X, y, 0.1)
        six = fit_hyperparameters(1.0 * Mahalanobis(np.full(6, width)), X, y, 0.1)
        assert six.log_marginal > one.log_marginal - 1e-6
    kernel, noise, value = six
    assert value == pytest.approx(log_marginal(kernel, X, y, noise)[0])


@pytest.mark.parametrize("seed, n, d", [(5, 30, 5), (1, 50, 3), (146, 36, 5), (260, 36, 5)])
def test_widths_apart_never_end_below_on_generated_rows(seed, n, d):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    no_lower(X, np.sign(X[:, 0]) * np.cos(X[:, 1]) + 0.3 * rng.normal(size=n))


def test_widths_apart_never_end_below_on_the_rows_of_diabetes():
    X, y = load_diabetes(return_X_y=True)
    no_lower(20 * X[:80], (y[:80] - 150) / 77)


def no_lower(X, y):
    for width, noise in ((0.14, 0.18), (0.3, 0.02), (2.0, 1.0)):
        one = fit_hyperparameters(1.0 * Gaussian(width), X, y, noise)
        many = fit_hyperparameters(1.0 * Mahalanobis(np.full(X.shape[1], width)), X, y, noise)
        assert many.log_marginal > one.log_marginal - 1e-6 * len(y)


def test_rounding_has_a_limit():
    values = np.array([-2e-10, 1.0])
    assert clipped(values, lambda: 3e-10, "K", K)[0] == 0
    with pytest.raises(ValueError, match="eigenvalue"):
        clipped(3 * values, lambda: 3e-10, "K", K)


def test_negative_eigenvalues_and_squares_of_targets_have_limits():
    "n eps^¾ of the largest eigenvalue is rounding; a sum of 4 n squares is a float"
    allowed = 3 * np.finfo(float).eps ** 0.75
    assert eigenpairs(np.diag([-0.3 * allowed, 0.5, 1.0]), K)[0][0] == 0
    with pytest.raises(IndefiniteKernel, match="eigenvalue"):
        eigenpairs(np.diag([-3 * allowed, 0.5, 1.0]), K)
    for dtype in (np.float32, np.float64):
        room = np.sqrt(float(np.finfo(dtype).max) / 36)
        squarable(np.full(9, 0.9 * room, dtype))
        with pytest.raises(ValueError, match="squares of larger ones overflow"):
            squarable(np.full(9, 1.1 * room, dtype))


def test_weights_of_the_evidence_are_repetitions():
    rng = np.random.default_rng(21)
    x, w = rng.uniform(-3, 3, (25, 1)), rng.integers(0, 4, 25)
    y = np.sin(2 * x[:, 0]) + 0.2 * rng.normal(size=25)
    k = 2.0 * Gaussian(0.5)
    weighted = fit_hyperparameters(k, x, y, 0.1, weights=w)
    again = fit_hyperparameters(k, np.repeat(x, w, axis=0), np.repeat(y, w), 0.1)
    assert np.isclose(weighted.log_marginal, again.log_marginal)
    assert np.isclose(weighted.noise, again.noise, rtol=1e-3)
    for name, value in again.kernel.get_params().items():
        assert np.isclose(weighted.kernel.get_params()[name], value, rtol=1e-3)
    kept = fit_hyperparameters(k, x, y, 0.1, weights=w, fit_noise=False)
    assert kept.noise == 0.1 and kept.log_marginal < weighted.log_marginal
    slow = gaussian_process(kept.kernel, np.repeat(x, w, axis=0), np.repeat(y, w), 0.1)
    assert np.isclose(kept.log_marginal, slow.log_marginal)
    plain = fit_hyperparameters(k, x, y, 0.1)
    assert abs(plain.noise - weighted.noise) > 0.01 * plain.noise


def test_a_log_likelihood_beyond_the_floats_is_refused():
    X, y = np.array([[0.0], [1.0]]), np.array([1.0, -1.0])
    assert np.isfinite(
        gaussian_process(Linear() + Gaussian(2), X, y, 0.5, weights=[1e300, 2]).log_marginal
    )
    with pytest.raises(ValueError, match=r"log p\(y\) overflows"):
        gaussian_process(Linear() + Gaussian(2), X, y, 0.9, weights=[1.7e308, 1.7e308])


def test_powers_of_a_likelihood_need_noise():
    x, y = [0.0, 1.0, 5.0], [1.0, 2.0, 3.0]
    with pytest.raises(ValueError, match="noise = 0: a likelihood without noise has no powers"):
        gaussian_process(K, x, y, 0.0, weights=[2.0, 2.0, 1.0])
    without = gaussian_process(K, x, y, 0.0, weights=[1.0, 1.0, 0.0])
    assert without.log_marginal == pytest.approx(
        gaussian_process(K, x[:2], y[:2], 0.0).log_marginal
    )
    twice = gaussian_process(K, x, y, [0.0, 0.1, 0.1], weights=[1.0, 2.0, 1.0])
    repeated = gaussian_process(K, [0.0, 1.0, 1.0, 5.0], [1.0, 2.0, 2.0, 3.0], [0.0, 0.1, 0.1, 0.1])
    assert twice.log_marginal == pytest.approx(repeated.log_marginal)


def test_a_search_that_its_box_stopped_says_so():
    "Start and data without noise that are a factor 10⁷ apart; a column that matters not is no cause"
    x = np.linspace(0, 3, 12)
    with pytest.warns(
        UserWarning, match="still rises where noise ends, a factor 1e6 from the start"
    ):
        found = fit_hyperparameters(Gaussian(1.0), x, np.sin(x), noise=0.1)
    assert found.noise == pytest.approx(1e-7)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y = X[:, 0] + 0.1 * rng.normal(size=60)
        fit_hyperparameters(Mahalanobis(np.ones(2)), X, y, 0.1)
        found = fit_hyperparameters(
            Gaussian(1.0) + Constant(1.0), X[20:], y[20:], 0.1
        )  # at the end, flat
        assert found.kernel.terms[1].c == pytest.approx(1e-6)


def labelled(n=300, seed=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    place = (np.sin(2 * X[:, 0]) + 0.5 * rng.normal(size=n) > 0).astype(int)
    return X, Classes(np.array(["no", "yes"]), place), rng.integers(1, 4, n).astype(float)


@pytest.mark.second_route("LaplaceOnFeatures", "the classifier of the matrix")
def test_labels_on_all_landmarks_are_those_of_the_matrix():
    (X, y, w), k = labelled(), 5 * Gaussian(0.7)
    exact = gp_classification(k, X, y.classes[y.place], w)
    phi = landmark_map(k, X, len(X), np.random.default_rng(0))
    found = laplace_on_features(phi, phi(X), w)(y)
    Z = np.random.default_rng(1).normal(size=(30, 2)) * 2
    np.testing.assert_allclose(found(Z), exact(Z), atol=1e-3)
    np.testing.assert_allclose(found.var(Z), exact.var(Z), atol=1e-3)
    np.testing.assert_allclose(found.log_marginal, exact.log_marginal, rtol=1e-4)
    assert found.predict(Z).tolist() == exact.predict(Z).tolist()
    b = exact.gram.inverse_diagonal()
    c = (1 - b) / exact.root**2
    left_out = exact(X) - exact.mean.alpha * c / b
    np.testing.assert_allclose(found.left_out, left_out, atol=2e-3)


def test_few_landmarks_leave_the_variance_that_they_do_not_see():
    (X, y, w), k = labelled(), 5 * Gaussian(0.7)
    exact, far = gp_classification(k, X, y.classes[y.place], w), np.array([[30.0, 30.0]])
    phi = landmark_map(k, X, 20, np.random.default_rng(0))
    found = laplace_on_features(phi, phi(X), w)(y)
    np.testing.assert_allclose(found.var(far), 5.0, rtol=1e-6)  # (LAP.1): the prior's
    assert found.var(X).mean() > 0.9 * exact.var(X).mean()


def test_classifiers_on_random_features_answer_by_the_formula():
    (X, y, w), k = labelled(80), 5 * Gaussian(0.7)
    phi = fourier_features(k, 2, 30, np.random.default_rng(0))
    found, Z = laplace_on_features(phi, phi(X), w)(y), X[:9] + 0.1
    f, F = found(X), phi(Z)
    H = np.eye(30) + (phi(X).T * (w * logistic.curvature(y.signs, f))) @ phi(X)
    seen = np.einsum("ij,ij->i", F, np.linalg.solve(H, F.T).T)
    np.testing.assert_allclose(
        found.var(Z), np.maximum(5 - (F**2).sum(axis=1), 0) + seen, rtol=1e-6
    )
    draws = found(Z)[:, None] + np.sqrt(found.var(Z))[:, None] * norm.ppf(
        (np.arange(999) + 0.5) / 999
    )
    np.testing.assert_allclose(found.probability(Z), expit(draws).mean(axis=1), atol=1e-3)
    assert found.predict(Z).tolist() == np.where(found(Z) > 0, "yes", "no").tolist()
    with pytest.raises(ValueError, match="3 columns|2 columns|shape"):
        found.var(np.ones((2, 3)))


def test_a_mode_on_features_has_no_slope_after_few_steps(monkeypatch):
    (X, y, w), k = labelled(6000), 500 * Gaussian(0.7)
    y = Classes(y.classes, (X[:, 0] > 0).astype(int))  # log-odds of tens
    phi = landmark_map(k, X, 60, np.random.default_rng(0))
    F, steps, factor = phi(X), [], laplace_method._curvature
    monkeypatch.setattr(
        laplace_method, "_curvature", lambda F, bend: steps.append(len(F)) or factor(F, bend)
    )
    first = laplace_method._curvature(F, w / 4)
    beta, f, H = laplace_method._mode(F, y.signs, w, first)
    assert (few := len(steps)) <= 14
    own = np.eye(60) + (F.T * (w * logistic.curvature(y.signs, f))) @ F
    np.testing.assert_allclose(H.log_det(), np.linalg.slogdet(own)[1], rtol=1e-9)  # of this mode
    slope = F.T @ (w * logistic.derivative(y.signs, f)) + beta
    assert np.abs(slope).max() < 1e-4
    np.testing.assert_allclose(laplace_on_features(phi, F, w)(y)(X), f, atol=1e-6)
    steps.clear()
    monkeypatch.setattr(laplace_method, "along", lambda *_: 1.0)  # Newton's own length
    laplace_method._mode(F, y.signs, w, first)
    assert len(steps) >= few + 6


def test_classes_share_the_first_factor_and_later_ones_serve_more_than_one_step(monkeypatch):
    (X, y, w), k = labelled(900), 5 * Gaussian(0.7)
    phi = landmark_map(k, X, 60, np.random.default_rng(0))
    F, factors, lines = phi(X), [], []
    factor, along = laplace_method._curvature, laplace_method.along
    monkeypatch.setattr(
        laplace_method, "_curvature", lambda F, bend: factors.append(bend) or factor(F, bend)
    )
    monkeypatch.setattr(laplace_method, "along", lambda *of: lines.append(1) or along(*of))
    fit = laplace_on_features(phi, F, w)
    assert len(factors) == 1
    for place in y.place, 1 - y.place, (X[:, 1] > 0).astype(int):
        own = Classes(y.classes, place)
        factors.clear(), lines.clear()
        f = fit(own).mean(X)
        assert len(factors) < len(lines)  # and the last of them is of the mode
        np.testing.assert_allclose(factors[-1], w * logistic.curvature(own.signs, f), rtol=1e-6)
        beta = np.linalg.lstsq(F, f, rcond=None)[0]
        assert np.abs(F.T @ (w * logistic.derivative(own.signs, f)) + beta).max() < 1e-4
    lengths = iter([1.0, 1.0, 0.0])  # no lower point by the factor of an earlier one
    monkeypatch.setattr(laplace_method, "along", lambda *_: next(lengths))
    _, f, H = laplace_method._mode(F, y.signs, w, factor(F, w / 4))
    here = factor(F, w * logistic.curvature(y.signs, f))
    np.testing.assert_allclose(H.log_det(), here.log_det(), rtol=1e-12)


# ------------------------------------------------------------------ intervals by leaving out


def jackknife_by_hand(fit_to, X, y, U, level):
    "Ends by refitting without each point, for one column of y"
    n = len(y)
    keep = [np.delete(np.arange(n), i) for i in range(n)]
    fits = [fit_to(X[some], y[some]) for some in keep]
    R = [abs(y[i] - f(X[[i]])[0]) for i, f in enumerate(fits)]
    values = np.array([f(U) for f in fits])
    j = next(j for j in range(1, n + 2) if j >= level * (n + 1) - 1e-9)
    above = np.sort(values + np.array(R)[:, None], axis=0)
    below = np.sort(values - np.array(R)[:, None], axis=0)[::-1]
    return below[j - 1], above[j - 1]


@pytest.mark.second_route("JackknifePlus", "jackknife_plus", "refits without each point")
@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95])
@pytest.mark.parametrize("offset", [False, True])
@pytest.mark.parametrize("k", [Gaussian(1.0), Matern(1.5, 2.0) + Linear()], ids=str)
def test_an_interval_is_that_of_refits(k, offset, level):
    rng = np.random.default_rng(0)
    X, U = rng.normal(size=(19, 2)), rng.normal(size=(5, 2))
    Y = np.column_stack([rng.exponential(size=19), 100 + X[:, 0]])
    lower, upper = jackknife_plus(k, X, Y, 0.2, offset).conformal_interval(U, level)
    one = jackknife_plus(k, X, Y[:, 0], 0.2, offset).conformal_interval(U, level)
    for c, y in enumerate(Y.T):
        below, above = jackknife_by_hand(
            lambda X, y: rn.ridge(k, X, y, 0.2, offset), X, y, U, level
        )
        np.testing.assert_allclose(lower[:, c], below, rtol=1e-7)
        np.testing.assert_allclose(upper[:, c], above, rtol=1e-7)
    np.testing.assert_allclose(one, (lower[:, 0], upper[:, 0]))
    with settings.using(block_mib=0.001):  # a few points at a time
        again = jackknife_plus(k, X, Y, 0.2, offset).conformal_interval(U, level)
    np.testing.assert_allclose(again, (lower, upper))
    if not offset:
        process = rn.gaussian_process(k, X, Y, 0.2).conformal_interval(U, level)
        np.testing.assert_allclose(process, (lower, upper), rtol=1e-9)


def test_an_interval_of_a_process_with_a_noise_of_each_point():
    rng = np.random.default_rng(0)
    X, y, U, noise = rng.normal(size=12), rng.normal(size=12), rng.normal(size=3), np.arange(1, 13)
    k, found = Gaussian(1.0), []
    for i in range(12):
        some = np.delete(np.arange(12), i)
        alone = rn.gaussian_process(k, X[some], y[some], noise[some] / 10)
        found.append(alone(U) + abs(y[i] - alone(X[[i]])[0]))
    upper = rn.gaussian_process(k, X, y, noise / 10).conformal_interval(U, 0.8)[1]
    np.testing.assert_allclose(upper, np.sort(found, axis=0)[10])  # the 11th of 13


def test_an_interval_of_too_few_points_is_the_line():
    x = np.arange(8.0)
    fit = jackknife_plus(Gaussian(1.0), x, x, 0.1)
    lower, upper = fit.conformal_interval([2.5], 0.9)  # 8.1 of 9 rounded up: none is that high
    assert lower[0] == -np.inf and upper[0] == np.inf
    lower, upper = fit.conformal_interval([2.5], 8 / 9)
    assert np.isfinite([lower, upper]).all()
    words, y = ["banana", "bandana", "ananas", "cabana"], [1.0, 2.0, 3.0, 4.0]
    ends = jackknife_plus(Spectrum(2), words, y, 0.5).conformal_interval(["ban"], 0.5)
    assert ends[0].shape == (1,) and ends[0] < ends[1]
    again = pickle.loads(pickle.dumps(fit))
    np.testing.assert_array_equal(again.conformal_interval([2.5], 0.5)[0],
                                  fit.conformal_interval([2.5], 0.5)[0])  # fmt: skip
    for bad, words in (
        (lambda: jackknife_plus(Gaussian(1.0), [1.0], [1.0], 0.1), "leaving out the only one"),
        (lambda: fit.conformal_interval([1.0], 1.0), "level"),
        (lambda: jackknife_plus(Gaussian(1.0), x, x, 0.0), "lam"),
    ):
        with pytest.raises(ValueError, match=words):
            bad()


@pytest.mark.parametrize("noise", ["standard_t", "exponential", "uniform"])
@pytest.mark.parametrize("lam", [1e-3, 1.0])
def test_an_interval_covers_whatever_the_noise_is(noise, lam):
    rng, hits = np.random.default_rng(1), []
    draw = getattr(rng, noise)
    e = (lambda n: draw(2, n)) if noise == "standard_t" else lambda n: draw(size=n)  # noqa: E731
    for _ in range(150):
        x, u = rng.uniform(-3, 3, 30), rng.uniform(-3, 3, 20)
        fit = jackknife_plus(Gaussian(1.0), x, np.sin(x) + abs(x) * e(30), lam, offset=True)
        lower, upper = fit.conformal_interval(u, 0.8)
        v = np.sin(u) + abs(u) * e(20)
        hits.append(np.mean((lower <= v) & (v <= upper)))
    error = np.std(hits) / np.sqrt(150)
    assert np.mean(hits) > 0.6 + 3 * error  # what is proved
    assert abs(np.mean(hits) - 0.8) < 0.05  # what is seen
