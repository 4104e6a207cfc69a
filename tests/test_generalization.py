"""Generalization: exact parts of an error against draws, bounds against the truth, half of each refuted."""

import numpy as np
import pytest
import rkhs_notes as rn
from rkhs_notes import Gaussian, Linear, NotPositiveDefinite, ridge
from rkhs_notes.generalization import BiasVariance, bias_variance

RNG = np.random.default_rng(0)
X = RNG.normal(size=(25, 2))
Z = RNG.normal(size=(60, 2))
K = Gaussian(1.2)


def truth(X):
    return np.sin(2 * X[:, 0]) + X[:, 1]


# bias and variance


@pytest.mark.parametrize("lam", [1e-3, 0.3, 20.0])
@pytest.mark.parametrize("at", [None, Z], ids=["fixed", "elsewhere"])
def test_parts_are_those_of_the_linear_map(lam, at):
    "By solving, not by eigenvectors: the fit is a matrix times y"
    where = X if at is None else Z
    S = np.linalg.solve(K(X) + lam * np.eye(25), K(X, where)).T
    bias2, variance, d = bias_variance(K, X, truth, 0.3, lam, at)
    assert bias2 == pytest.approx(np.mean((truth(where) - S @ truth(X)) ** 2), rel=1e-8)
    assert variance == pytest.approx(0.3 * np.sum(S**2) / len(where), rel=1e-8)
    assert d == pytest.approx(np.trace(np.linalg.solve(K(X) + lam * np.eye(25), K(X))), rel=1e-9)


@pytest.mark.parametrize("at", [None, Z], ids=["fixed", "elsewhere"])
def test_parts_are_those_of_draws(at):
    where, rng, lam = X if at is None else Z, np.random.default_rng(1), 0.2
    fits = ridge(K, X, truth(X)[:, None] + 0.5 * rng.normal(size=(25, 4000)), lam)(where)
    exact = bias_variance(K, X, truth, 0.25, lam, at)
    errors = ((fits - truth(where)[:, None]) ** 2).mean(axis=0)
    assert abs(errors.mean() - exact.error) < 4 * errors.std() / 4000**0.5
    assert fits.var(axis=1, ddof=1).mean() == pytest.approx(exact.variance, rel=0.05)


def test_many_lams_are_one_at_a_time():
    lams = np.array([0.01, 1.0, 5.0])
    for at in (None, Z):
        many = bias_variance(K, X, truth, 0.3, lams, at)
        for i, lam in enumerate(lams):
            single = bias_variance(K, X, truth, 0.3, lam, at)
            np.testing.assert_allclose([part[i] for part in many], single, rtol=1e-12)
            assert all(isinstance(part, float) for part in single)
    assert isinstance(many, BiasVariance) and many.error.shape == (3,)


def test_at_the_points_themselves_both_formulas_agree():
    np.testing.assert_allclose(
        bias_variance(K, X, truth, 0.3, [0.01, 1.0]), bias_variance(K, X, truth, 0.3, [0.01, 1.0], at=X)
    )


def test_effective_dimension_is_that_of_chapter_four():
    measure = rn.Measure(X, np.ones(25))
    d = bias_variance(K, X, truth, 1.0, 0.7).dimension
    assert d == pytest.approx(rn.mercer_expansion(K, measure).effective_dimension(0.7), rel=1e-8)


def test_truth_of_any_kind():
    f = rn.RKHSFunction(K, X[:3], [1.0, -2.0, 0.5])
    assert bias_variance(K, X, f, 0.0, 1e-8).bias2 < 1e-12 * f.norm() ** 2
    assert bias_variance(K, X, lambda X: 2.0, 0.1, 1.0) == bias_variance(
        K, X, lambda X: np.full(len(X), 2.0), 0.1, 1.0
    )
    line = np.linspace(0, 1, 9)
    assert bias_variance(K, line, np.sin, 0.1, 1.0) == bias_variance(
        K, line[:, None], lambda x: np.sin(x), 0.1, 1.0
    )
    words = ["acca", "ca", "cc"]
    assert bias_variance(rn.Spectrum(1), words, lambda s: [len(w) for w in s], 0.0, 1e-6).bias2 < 1e-9
    with pytest.raises(ValueError, match=r"f\(X\) has shape"):
        bias_variance(K, X, lambda X: X, 0.1, 1.0)
    with pytest.raises(TypeError, match="f is"):
        bias_variance(K, X, truth(X), 0.1, 1.0)
    with pytest.raises(ValueError, match=r"f\(X\)"):
        bias_variance(K, X, lambda X: np.full(len(X), np.nan), 0.1, 1.0)


def test_a_penalty_that_rounding_hides_is_refused():
    with pytest.raises(NotPositiveDefinite, match="below the rounding"):
        bias_variance(Linear(), X, truth, 0.1, 1e-18)


def test_a_small_norm_predicts():
    "Corollary 16.2 on random functions, and with equality"
    rng = np.random.default_rng(2)
    for k in (K, Linear(), rn.Laplace(0.5)):
        for _ in range(20):
            f = rn.RKHSFunction(k, rng.normal(size=(4, 2)), rng.normal(size=4))
            noise, trace = rng.uniform(0.1, 2), k.diag(X).sum()
            error = bias_variance(k, X, f, noise, (noise * trace) ** 0.5 / f.norm()).error
            assert error <= 0.5 * noise**0.5 * f.norm() * trace**0.5 / 25
    error = bias_variance(rn.Delta(), X, lambda X: 0.6, 0.36, 1.0).error
    assert error == pytest.approx(0.5 * 0.36, rel=1e-12)
