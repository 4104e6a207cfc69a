"""Generalization: exact parts of an error against draws, bounds against the truth, half of each refuted."""

import numpy as np
import pytest

import rkhs_notes as rn
from rkhs_notes import Delta, Gaussian, Linear, NotPositiveDefinite, minimize_risk, ridge, svc
from rkhs_notes.base.errors import IndefiniteKernel
from rkhs_notes.deeper.generalization import (
    BiasVariance,
    bias_variance,
    effective_dimension,
    gap_bound,
    loo_bound,
    margin_bound,
    rademacher,
    stability_bound,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(25, 2))
Z = RNG.normal(size=(60, 2))
K = Gaussian(1.2)


def truth(X):
    return np.sin(2 * X[:, 0]) + X[:, 1]


# bias and variance


@pytest.mark.second_route("BiasVariance", "bias_variance", "NumPy")
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
        bias_variance(K, X, truth, 0.3, [0.01, 1.0]),
        bias_variance(K, X, truth, 0.3, [0.01, 1.0], at=X),
    )


@pytest.mark.second_route("effective_dimension", "the Mercer expansion")
def test_effective_dimension_is_that_of_chapter_four():
    measure = rn.Measure(X, np.ones(25))
    d = bias_variance(K, X, truth, 1.0, 0.7).dimension
    wanted = rn.mercer_expansion(K, measure).effective_dimension(0.7)
    assert d == pytest.approx(wanted, rel=1e-8)
    assert effective_dimension(K, X, 0.7) == pytest.approx(wanted, rel=1e-8)
    np.testing.assert_allclose(effective_dimension(K, X, [0.7, 1e9]), [wanted, 25e-9], rtol=1e-6)


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
    assert (
        bias_variance(rn.Spectrum(1), words, lambda s: [len(w) for w in s], 0.0, 1e-6).bias2 < 1e-9
    )
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


# norm balls


@pytest.mark.second_route("Rademacher", "rademacher", "brute force over all signs")
@pytest.mark.parametrize("n", [1, 2, 9])
def test_rademacher_is_the_mean_over_all_signs(n):
    "Every sign vector, and the sup by solving for the best f"
    signs = 2.0 * (np.arange(2**n)[:, None] >> np.arange(n) & 1) - 1
    sups = [s @ K(X[:n]) @ s for s in signs]
    exact = 3.0 * np.mean(np.sqrt(sups)) / n
    ball = rademacher(K, X[:n], 3.0, draws=4000, rng=3)
    assert abs(ball.estimate - exact) <= 4 * ball.error + 1e-12
    assert (
        exact <= ball.bound == pytest.approx(3.0 / n**0.5) and ball.bound <= 2**0.5 * exact + 1e-12
    )


def test_the_best_function_of_a_ball_attains_the_supremum():
    s = np.sign(RNG.normal(size=25))
    best = rn.RKHSFunction(K, X, s)
    best = best * (2.0 / best.norm())
    assert s @ best(X) == pytest.approx(2.0 * np.sqrt(s @ K(X) @ s))
    for _ in range(50):  # others of the ball do no better
        f = rn.RKHSFunction(K, RNG.normal(size=(6, 2)), RNG.normal(size=6))
        assert s @ f(X) * 2.0 / f.norm() <= s @ best(X)


def test_both_constants_of_the_ball_are_attained():
    flat, twice = rademacher(Delta(), X), rademacher(K, X[[0, 0]], draws=20000)
    assert flat.estimate == pytest.approx(flat.bound, rel=1e-12) and flat.error < 1e-12
    assert twice.estimate == pytest.approx(twice.bound / 2**0.5, abs=4 * twice.error)


def test_rademacher_of_words_and_of_an_impostor():
    assert rademacher(rn.Spectrum(2), ["acca", "caca"], draws=50).bound > 0
    with pytest.raises(IndefiniteKernel, match="σᵀKσ"):
        rademacher(Impostor(), X, draws=50)
    with pytest.raises(ValueError, match="draws"):
        rademacher(K, X, draws=1)


class Impostor(rn.Kernel):
    "Of trace n, and far from positive"

    def _gram(self, X, Y, xp):
        return xp.where(rn.Delta()(X, Y) > 0, 1.0, -1.0)


@pytest.mark.second_route("gap_bound", "the formula, term by term")
def test_gap_bound_has_its_terms():
    n, log = 25, np.log
    wanted = 2 * 0.5 * 3 * n**0.5 / n + np.sqrt(log(20) / (2 * n))  # k(x, x) = 1: no draw
    assert gap_bound(K, X, 3.0, 0.5) == pytest.approx(wanted)
    trace = np.sum(X**2)
    wanted = 2 * 3 * trace**0.5 / n + 3 * np.sqrt(log(2 / 0.1) / (2 * n))
    assert gap_bound(Linear(), X, 3.0, delta=0.1) == pytest.approx(wanted)


def test_the_uniform_bound_holds_for_the_worst_function():
    "A law of 400 atoms; functions that hunt for a gap; the share of failures is at most delta"
    rng = np.random.default_rng(5)
    atoms = rng.normal(size=(400, 2))
    y, G = np.sign(atoms[:, 0] + 0.3 * rng.normal(size=400)), K(atoms)
    failures, largest = 0, 0.0
    for _ in range(200):
        rows = rng.integers(400, size=60)
        a = np.bincount(rows, minlength=400) / 60 - 1 / 400
        gaps = []
        for b in (y * a, y * a + 0.05 * y / 400):
            f = 3.0 * G @ b / np.sqrt(b @ G @ b)
            gaps.append(-a @ np.clip(1 - y * f, 0, 1))
        failures += max(gaps) > gap_bound(K, atoms[rows], 3.0, 1.0, 0.05)
        largest = max(largest, *gaps)
    assert failures <= 10 and largest > 0.1


# margins

TWO = np.where(X[:, 0] + 0.3 * X[:, 1] > 0, "yes", "no")


NOISY = np.where(
    RNG.random(25) < 0.3, np.where(TWO == "yes", "no", "yes"), TWO
)  # some on the wrong side


def by_hand(g, c, k, y, delta):
    "Margins, and the right side of (16.12) by level, written anew"
    s = np.where(y == "yes", 1, -1)
    size = np.sqrt(g.norm() ** 2 + (0 if c is None else c**2))
    margins = s * (g(X) + (c or 0)) / size
    trace = k.diag(X).sum() + (0 if c is None else 25)
    sides = {}
    for j in range(-30, 10):
        ramp = np.mean([min(1, max(0, 1 - t / 2.0**j)) for t in margins])
        share = delta * 2.0 ** -abs(j) / 3
        luck = np.sqrt(np.log(1 / share) / 50)
        if not k.is_shift_invariant:
            luck = 3 * np.sqrt(np.log(2 / share) / 50)
        sides[2.0**j] = ramp + 2 / 2.0**j * np.sqrt(trace) / 25 + luck
    return margins, sides


@pytest.mark.second_route("MarginBound", "margin_bound", "the bound at every level")
@pytest.mark.parametrize("k", [K, Linear()], ids=["shift-invariant", "linear"])
@pytest.mark.parametrize("y", [TWO, NOISY], ids=["clean", "noisy"])
def test_margin_bound_by_hand(k, y):
    machine = svc(k, X, y, 5.0)
    plain = minimize_risk(k, X, y, "hinge", 0.1)
    for f, c, delta in ((machine, machine.offset, 0.1), (plain, None, 0.05)):
        found = margin_bound(f, X, y, delta)
        margins, sides = by_hand(f.function, c, k, y, delta)
        np.testing.assert_allclose(found.margins, margins)
        np.testing.assert_allclose(
            found.bounds, [sides[level] for level in found.levels], rtol=1e-10
        )
        assert found.bound == pytest.approx(min(1, *sides.values())) and found.level in found.levels


def test_margin_bound_does_not_care_for_length_and_shows_itself():
    f = ridge(K, X, np.where(TWO == "yes", 1.0, -1.0), 0.1)
    one, ten = margin_bound(f, X, TWO), margin_bound(10 * f, X, TWO)
    np.testing.assert_allclose(one.bounds, ten.bounds)
    assert "with probability 0.95" in repr(one) and one.plot().get_xlabel() == "margin"
    with pytest.raises(ValueError, match="no sign"):
        margin_bound(0.0 * f, X, TWO)
    with pytest.raises(ValueError, match="two"):
        margin_bound(f, X, np.arange(25))


def test_margins_of_many_easy_points_give_a_small_bound():
    "At fixed margins the bound falls like 1/√n"
    rng = np.random.default_rng(0)
    bounds = []
    for n in (400, 6400):
        P = rng.normal(size=(n, 2)) + np.where(np.arange(n) % 2, 4.0, -4.0)[:, None]
        s = np.where(np.arange(n) % 2, 1.0, -1.0)
        Z = np.array([[4.0, 4.0], [-4.0, -4.0]])
        f = rn.RKHSFunction(Gaussian(4.0), Z, [1.0, -1.0])
        bounds.append(margin_bound(f, P, s).bound)
    assert bounds[1] < 0.25 and 2.5 < bounds[0] / bounds[1] < 4.2


# leaving out

SIGNS = np.where(TWO == "yes", 1.0, -1.0)


@pytest.mark.parametrize(
    "loss", ["hinge", "squared_hinge", "logistic", "absolute", "huber", "squared"]
)
@pytest.mark.parametrize(
    "k", [K, Linear() + rn.Constant(1), rn.Laplace(0.7)], ids=["g", "linear", "laplace"]
)
def test_one_point_less(loss, k):
    "Theorem 16.7 by refitting: the change has the sign of b and at most its size; and in norm"

    def fit(rows):
        return minimize_risk(k, X[rows], SIGNS[rows], loss, 0.3, tol=1e-9).function

    f, errors = fit(np.arange(25)), 0
    for p in range(25):
        less = fit(np.delete(np.arange(25), p))
        change, top = float((f - less)(X[[p]])[0]), abs(f.alpha[p]) * k.diag(X[[p]])[0]
        assert -1e-5 <= change * np.sign(f.alpha[p]) <= top + 1e-5
        assert (f - less).norm() <= np.sqrt(top * abs(f.alpha[p])) + 1e-4
        errors += less(X[[p]])[0] * SIGNS[p] <= 0
    assert errors / 25 <= loo_bound(f, X, TWO)


def test_theta_of_ridge_is_the_power_function():
    f, lam = ridge(K, X, SIGNS, 0.3), 0.3
    rows = np.arange(1, 25)
    less = ridge(K, X[rows], SIGNS[rows], lam)
    v = K(X[rows], X[[0]])[:, 0]
    power2 = 1 - v @ np.linalg.solve(K(X[rows]) + lam * np.eye(24), v)
    assert f(X[[0]])[0] - less(X[[0]])[0] == pytest.approx(f.alpha[0] * power2, rel=1e-9)


def test_loo_bound_of_machines():
    machine = svc(K, X, TWO, 1.0)
    assert loo_bound(machine, X, TWO) == len(machine.support) / 25
    left = rn.svc_leave_one_out(K, X, TWO, 1.0)
    assert left.error[0] <= loo_bound(machine, X, TWO)
    assert (
        loo_bound(svc(Delta(), X[:4], ["a", "b", "a", "b"], 0.1), X[:4], ["a", "b", "a", "b"])
        == 1.0
    )
    with pytest.raises(ValueError, match="the X that f was made of"):
        loo_bound(machine, X[:9], TWO[:9])


def test_a_machine_without_a_free_point_has_no_bound():
    "All coefficients at C: another offset may do for the others, and Theorem 7a.4 is silent"
    x, y = [1.0, -3.0, 3.0, 0.0, 4.0], [1, 1, -1, 1, -1]
    machine = svc(Linear(), x, y, 0.25, tol=1e-9)
    assert len(machine.support) == 2 and np.allclose(np.abs(machine.dual[machine.support]), 0.25)
    assert loo_bound(machine, x, y) == 1.0


def test_two_free_points_have_a_bound():
    "b = ½ at both, far below C: the numbers alone do not say that C is not ½, the margins do"
    x, y = [-2.0, -1.0, 1.0, 2.0], [-1, -1, 1, 1]
    left = rn.svc_leave_one_out(Linear(), x, y, 10.0)
    for k, X in ((Linear(), x), (Linear(), np.float32(x)), (1e6 * Linear(), np.divide(x, 1e3))):
        machine = svc(k, X, y, 10.0)
        assert machine.support.tolist() == [1, 2]
        assert loo_bound(machine, X, y) == left.bound[0] == 0.5


@pytest.mark.parametrize("bound", [margin_bound, loo_bound, stability_bound])
def test_what_is_free_has_no_bound(bound):
    "A null part of any size costs no norm: 16.5 and 16.7 are about the penalised part alone"
    free = rn.semiparametric(K, X, SIGNS, lambda x: x[:, 0], 0.7)
    with pytest.raises(TypeError, match="f is of type SemiparametricFit, not a fit without a null"):
        bound(free, X, *[TWO] * (bound is not stability_bound))


@pytest.mark.second_route("loo_bound", "stability_bound", "a loop over the points")
def test_bounds_by_coefficients_by_hand():
    "Where k(x, x) is not 1"
    k, s = Linear() * 4, np.where(np.arange(25) % 2, 1.0, -1.0)
    f = minimize_risk(k, X, s, "logistic", 2.0).function
    share = np.mean([s[i] * f(X[[i]])[0] <= abs(f.alpha[i]) * 4 * X[i] @ X[i] for i in range(25)])
    assert loo_bound(f, X, s) == share > np.mean(s * f(X) <= np.abs(f.alpha))
    by_hand = np.mean([abs(f.alpha[i]) * 4 * X[i] @ X[i] for i in range(25)])
    assert stability_bound(f, X, 0.5) == pytest.approx(by_hand / 2)


def test_half_of_the_leave_one_out_bound_fails():
    "K = I: each point is wrong when it is left out, and the bound says all; with half of b it says none"
    f = minimize_risk(Delta(), X, SIGNS, "hinge", 0.3).function
    assert loo_bound(f, X, TWO) == 1.0
    assert np.mean(SIGNS * f(X) <= 0.5 * np.abs(f.alpha)) == 0.0


def test_stability_is_attained_and_half_of_it_fails():
    y = RNG.normal(size=25)
    f = ridge(Delta(), X, y, 0.7)
    data, more = np.abs(y - f(X)).mean(), stability_bound(f, X)
    assert data + more == pytest.approx(np.abs(y).mean())  # what a new point gets: f is 0 there
    assert data + more / 2 < 0.9 * np.abs(y).mean()
    assert stability_bound(f, X, 3.0) == pytest.approx(3 * more)
    with pytest.raises(TypeError, match="without an offset"):
        stability_bound(ridge(K, X, y, 0.7, offset=True), X)


def test_stability_in_the_mean():
    "(16.16) for ridge: n − 1 draws at new points, against n draws on themselves"
    rng = np.random.default_rng(4)
    differences = []
    for _ in range(150):
        P = rng.normal(size=(20, 2))
        y = truth(P) + 0.3 * rng.normal(size=20)
        f, less = ridge(K, P, y, 0.5), ridge(K, P[1:], y[1:], 0.5)
        Q = rng.normal(size=(200, 2))
        new = np.abs(truth(Q) + 0.3 * rng.normal(size=200) - less(Q)).mean()
        differences.append(np.abs(y - f(P)).mean() + stability_bound(f, P) - new)
    assert np.mean(differences) > 4 * np.std(differences) / 150**0.5


@pytest.mark.parametrize("dtype", [float, np.float32])
def test_rounding_is_no_dimension(dtype):
    "Columns of many sizes: at most three directions, as their 3 × 3 matrix says"
    Z = (np.random.default_rng(0).normal(size=(300, 3)) * [1e4, 1e5, 1e3]).astype(dtype)
    G, truth = Z.astype(float).T @ Z.astype(float), lambda Z: Z[:, 2] / 1e3
    exact = np.trace(np.linalg.solve(G + 1e-1 * np.eye(3), G))
    assert rn.effective_dimension(Linear(), Z, 1e-1) == pytest.approx(exact, rel=1e-3)
    if dtype is float:
        found = rn.bias_variance(Linear(), Z, truth, 0.1, 1e-1, at=Z[:50] / 2)
        gain = np.linalg.solve(G + 1e-1 * np.eye(3), Z.T)
        variance = 0.1 * np.mean(np.sum((Z[:50] / 2 @ gain) ** 2, axis=1))
        assert found.dimension == pytest.approx(exact) and found.bias2 < 1e-10
        assert found.variance == pytest.approx(variance, rel=1e-6)


@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e-100, 1e100])
def test_what_is_no_kernel_is_refused_in_every_unit(scale):
    "The eigenvalues of K are 5/2, 1 and −1/2 times the scale"
    K = scale * np.array([[1.0, 1.5, 0.0], [1.5, 1.0, 0.0], [0.0, 0.0, 1.0]])

    class Spoilt(rn.Kernel):
        def _gram(self, X, Y, xp):
            return X @ K @ Y.T

    with pytest.raises(IndefiniteKernel, match="not positive"):
        effective_dimension(Spoilt(), np.eye(3), scale)
