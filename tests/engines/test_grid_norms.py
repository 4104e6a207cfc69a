"""Norms by frequencies: circulant systems by hand, spectra right, scaled, and of other kernels."""

import math

import numpy as np
import pytest
from scipy.integrate import quad

from rkhs_notes import (
    RKHS,
    Cauchy,
    Gaussian,
    Laplace,
    LawBroken,
    Linear,
    Matern,
    NoSpectralMeasure,
    NotPositiveDefinite,
    RationalQuadratic,
    check_fourier_norm,
    grid_norm,
)

CENTRES, ALPHA = np.array([[-1.0, 0.3], [0.2, -0.5], [1.5, 0.8]]), [1.0, -2.0, 0.7]


def spectrum(k, d=1):
    return lambda w: (2 * math.pi) ** d * k.spectral(d).density(w)


def function(k, d=1):
    return RKHS(k).function(CENTRES[:, :d], ALPHA)


def by_solving(k, values, spacing, copies):
    "√(yᵀ K⁻¹ y) with the kernel of all copies of the points, one system of equations"
    axes = [spacing * np.arange(n) for n in values.shape]
    X = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, values.ndim)
    periods = spacing * np.array(values.shape)
    K = 0
    for shift in np.ndindex(*(2 * copies + 1,) * values.ndim):
        K = K + k(X, X + periods * (np.array(shift) - copies))
    y = values.ravel()
    return math.sqrt(y @ np.linalg.solve(K, y))


@pytest.mark.second_route("grid_norm", "a dense system with all copies of the kernel")
@pytest.mark.parametrize("k", [Matern(1.5, 0.4), Laplace(0.5), Gaussian(0.3), 3 * Matern(0.5, 0.2)])
@pytest.mark.parametrize("shape", [(9,), (4, 5), (3, 2, 4)])
def test_a_norm_on_a_grid_solves_the_periodic_system(k, shape):
    values = np.random.default_rng(0).normal(size=shape)
    expected = by_solving(k, values, 0.5, copies=9 if len(shape) < 3 else 8)
    assert grid_norm(k, values, 0.5) == pytest.approx(expected, rel=1e-5)


def test_a_norm_on_a_grid_is_that_of_the_interpolant_and_grows():
    k, norms = Matern(1.5, 0.5), []
    f = RKHS(k).function([0.1, 0.83], [1.0, -1.0])
    for h in (0.5, 0.25, 0.125):
        x = np.arange(-12, 12, h)
        norms.append(grid_norm(k, f(x), h))
        assert norms[-1] == pytest.approx(RKHS(k).interpolate(x, f(x)).norm(), rel=1e-9)
    assert norms[0] < norms[1] < norms[2] < f.norm() < 1.01 * norms[2]


def test_a_grid_that_is_no_grid_for_its_kernel_is_refused():
    with pytest.raises(NotPositiveDefinite, match="wider spacing"):
        grid_norm(Gaussian(1.0), np.ones(40), 0.01)
    with pytest.raises(NoSpectralMeasure, match="not shift-invariant"):
        grid_norm(Linear(), np.ones(4), 1.0)
    with pytest.raises(ValueError, match="does not die away"):
        grid_norm(RationalQuadratic(0.2, 1.0), np.ones(4), 1.0)


@pytest.mark.second_route("check_fourier_norm", "closed spectra pass, others are refused")
@pytest.mark.parametrize(
    ("k", "d", "h"),
    [
        (Gaussian(1.0), 1, 0.2),
        (Gaussian(0.7), 2, 0.3),
        (2 * Matern(2.5, 1.3), 1, 0.05),
        (Laplace(1.0), 1, 0.03),
        (Matern(1.5), 2, 0.2),
    ],
)
def test_a_spectrum_is_told_from_others(k, d, h):
    f, hat = function(k, d), spectrum(k, d)
    assert check_fourier_norm(f, hat, h) >= 0
    for wrong, words in (
        (lambda w: (2 * math.pi) ** d * hat(w), "≤ κ"),
        (lambda w: hat(w) / (2 * math.pi) ** d, "too small"),
        (lambda w: 1.3**d * hat(1.3 * w), "bandwidth"),
    ):
        with pytest.raises(LawBroken, match=words):
            check_fourier_norm(f, wrong, h)


def test_the_spectrum_of_a_kernel_with_fat_tails_is_seen_in_the_plane():
    def hat(w):
        return math.pi**2 * np.exp(-np.abs(w).sum(axis=1))  # π e^−|ω| is that of a factor

    f = RKHS(Cauchy(1.0)).section([0.0, 0.0])
    assert check_fourier_norm(f, hat, 0.8) < 0.1
    with pytest.raises(LawBroken, match="too small"):
        check_fourier_norm(f, lambda w: hat(w) / 1.1, 0.8)


@pytest.mark.parametrize(("k", "h"), [(Laplace(1.0), 0.05), (Matern(1.5), 0.1), (Matern(2.5), 0.2)])
def test_near_misses_of_a_spectrum(k, h):
    f, hat = function(k), spectrum(k)
    unseen = 1 - quad(lambda w: hat(np.array([w]))[0], 0, math.pi / h, limit=500)[0] / math.pi
    check_fourier_norm(f, lambda w: (1 + unseen / 3) * hat(w), h)
    with pytest.raises(LawBroken, match="≤ κ"):
        check_fourier_norm(f, lambda w: (1 + 3 * unseen) * hat(w), h)


def test_the_bound_of_the_law_follows_the_proposition():
    "A bandwidth that is off by so much that the norms differ by thrice the bound, and by a third"
    k, h = Matern(2.5), 0.1
    f, square = function(k), function(k) @ function(k)
    hat = spectrum(k)
    w = 2 * math.pi * np.fft.fftfreq(2**12, h)
    tail = 1 - np.sum(hat(w)) / (2**12 * h)
    folded = sum(hat(w + 2 * math.pi * j / h) for j in range(-50, 51))
    bound = ((folded / hat(w)).max() + 2) * tail * np.abs(ALPHA).sum() ** 2

    def off_by(times):
        "(b, the gap of norms): κ̂ of bandwidth b has the mass of the right one"
        low, high = 1.0, 2.0
        for _ in range(60):
            b = (low + high) / 2
            F = hat(w) * np.abs(np.exp(-1j * np.outer(w, CENTRES[:, 0])) @ ALPHA)
            gap = abs(np.sum(F**2 / spectrum(Matern(2.5, b))(w)) / (2**12 * h) - square)
            low, high = (b, high) if gap < times * bound else (low, b)
        return b

    check_fourier_norm(f, spectrum(Matern(2.5, off_by(1 / 3))), h)
    with pytest.raises(LawBroken, match="bandwidth"):
        check_fourier_norm(f, spectrum(Matern(2.5, off_by(3))), h)


@pytest.mark.parametrize("unit", [1e-200, 1e300])
def test_values_have_any_unit(unit):
    values = np.exp(-(np.linspace(-5, 5, 64) ** 2))
    usual = grid_norm(Laplace(1.0), values, 0.3)
    np.testing.assert_allclose(grid_norm(Laplace(1.0), unit * values, 0.3) / unit, usual)
