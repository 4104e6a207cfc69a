"""Learning curves, rates, consistency, features enough, choosing: against truths known exactly."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import least_squares

from rkhs_notes import Brownian, Gaussian, LawBroken, Spectrum, ridge, ridge_path
from rkhs_notes.deeper.rates import (
    LearningCurve,
    check_rate,
    jackknife,
    learning_curve,
    leave_groups_out,
    power_law,
    ridge_rate,
    selection_cost,
    spectral_risk,
)
from rkhs_notes.engines.testing.resampling import binomial_interval

N = np.array([50, 100, 200, 400, 800, 1600])


def least_squares_fit(X, y):
    b = np.linalg.lstsq(X, y, rcond=None)[0]
    return lambda Z: Z @ b


def relative(e, p):
    return (p[0] + p[1] * N ** -p[2]) / e - 1


def law_curve(rng, floor=0.0, known=0.0, draws=12, a=3.0, c=0.75, level=0.95):
    "Rows b + a n^(−c), the second part times Γ noise: a curve whose law is known"
    rows = floor + a * N**-c * rng.gamma(6, 1 / 6, (draws, len(N)))
    return LearningCurve(N, rows, known, level, 0.0)


# ------------------------------------------------------------------ the law of a curve


@pytest.mark.parametrize(
    "floor,a,c", [(0.0, 2.0, 0.5), (0.3, 2.0, 0.8), (0.01, 5.0, 1.5), (2.0, 0.4, 0.3)]
)
def test_an_exact_law_is_found_again(floor, a, c):
    e = floor + a * N**-c
    np.testing.assert_allclose(power_law(N.astype(float), e), (floor, a, c), rtol=2e-3, atol=1e-6)
    np.testing.assert_allclose(power_law(N.astype(float), e, floor), (floor, a, c), rtol=1e-9)


def test_the_law_is_the_best_there_is():
    "against a general optimiser from several starts"
    rng = np.random.default_rng(0)
    for _ in range(5):
        e = (0.2 + 3 * N**-0.7) * rng.uniform(0.9, 1.1, len(N))
        b, a, c = power_law(N.astype(float), e)
        cost = partial(relative, e)
        ours = np.sum(cost((b, a, c)) ** 2)
        box = ([0, 0, 0.02], [np.inf, np.inf, 4])
        starts = [(0.1, 1.0, 0.5), (0.0, 3.0, 1.0), (0.2, 30.0, 2.0)]
        theirs = min(
            2 * least_squares(cost, s, bounds=box, xtol=1e-12, ftol=1e-12).cost for s in starts
        )
        assert b >= 0 and a >= 0 and ours <= theirs * (1 + 1e-6)


@pytest.mark.parametrize("floor, c", [(0.0, 0.5), (0.3, 1.5)])
def test_a_known_law_is_continued_to_all_digits(floor, c):
    rows = np.tile(floor + 3.0 * N**-c, (4, 1))
    curve = LearningCurve(N, rows, floor, 0.95, 0.0)
    for n in 7, 2**25 + 1:
        assert curve.at(n) == pytest.approx(floor + 3.0 * float(n) ** -c, rel=1e-11)


def test_slope_does_not_depend_on_units():
    rng = np.random.default_rng(1)
    curve = law_curve(rng, 0.1, None)
    other = LearningCurve(10 * N, 1e6 * curve.errors, None, 0.95, 0.0)
    np.testing.assert_allclose(other.slope, curve.slope, rtol=1e-4)
    np.testing.assert_allclose(other.interval, curve.interval, rtol=1e-3)
    np.testing.assert_allclose(other.floor, 1e6 * curve.floor, rtol=1e-3)
    np.testing.assert_allclose(other.at(5000), 1e6 * curve.at(500), rtol=1e-3)


@pytest.mark.parametrize("floor,known", [(0.0, 0.0), (0.1, 0.1), (0.1, None)])
def test_the_interval_covers_as_often_as_it_says(floor, known):
    "within what 100 curves can tell, for the slope and the forecast; half the width would not"
    rng, hits = np.random.default_rng(2), np.zeros(3, int)
    truth = floor + 3 * 6400**-0.75
    for _ in range(100):
        curve = law_curve(rng, floor, known, draws=10)
        low, high = curve.interval
        half = abs(curve.slope + 0.75) < (high - low) / 4
        between = curve.between(6400)
        hits += [low < -0.75 < high, between[0] < truth < between[1], half]
    low, high = binomial_interval(0.95, 100)
    assert (low <= hits[:2]).all() and hits[2] < low
    assert known is None or (hits[:2] <= high).all()


def test_the_jackknife_of_a_mean_is_students_interval():
    rows = np.random.default_rng(3).normal(size=(9, 1))
    low, high = jackknife(lambda e: e[0], rows, 0.9)
    from scipy.stats import t

    half = t.ppf(0.95, 8) * rows.std(ddof=1) / 3
    np.testing.assert_allclose([low, high], [rows.mean() - half, rows.mean() + half])
    wide = jackknife(lambda e: e[0], rows, 0.9, overlap=1.0)
    np.testing.assert_allclose(np.ptp(wide), np.ptp([low, high]) * np.sqrt(1 / 9 + 1) * 3)


# ------------------------------------------------------------------ learning_curve


def noisy_plane(n, rng, d=6):
    X = rng.normal(size=(n, d))
    return X, X @ np.full(d, 0.4) + rng.normal(size=n)


@pytest.mark.second_route("LearningCurve", "learning_curve", "closed form")
def test_least_squares_has_its_exact_curve():
    "the risk of least squares on Gaussian points is 1 + d / (n − d − 1)"
    sizes = [20, 40, 80, 160]
    curve = learning_curve(least_squares_fit, noisy_plane, sizes, 0, draws=400, floor=1.0)
    exact = 1 + 6 / (np.array(sizes) - 7)
    assert np.abs(curve.mean - exact).max() < 0.05
    assert -1.5 < curve.slope < -1.0


def test_splits_of_one_data_set():
    "no point is learned from and judged by; y may have columns; texts are points"
    seen = []

    def fit(X, y):
        seen.append(len(X))
        known = set(X.ravel())
        return lambda Z: np.full((len(Z), 1), 2.0) if not known & set(Z.ravel()) else np.nan

    X, y = np.arange(30.0), np.ones((30, 1))
    curve = learning_curve(fit, (X, y), [3, 6, 9, 12], 0, draws=3, floor=0.0)
    assert seen == 3 * [3, 6, 9, 12] and (curve.errors == 1).all()
    assert curve.overlap == 18 / 12
    words = np.array(["ab", "ba", "abba", "baab", "aabb", "bbaa", "abab", "baba"], object)

    def of_texts(X, y):
        return ridge(Spectrum(2), list(X), y, 0.1)

    def judged(X, y):
        return lambda Z: of_texts(X, y)(list(Z))

    values = np.array([len(w) + i / 9 for i, w in enumerate(words)])
    curve = learning_curve(judged, (words, values), [3, 4, 5, 6], 0, draws=3, floor=0.0)
    assert np.isfinite(curve.errors).all()


def test_overlap_makes_the_interval_cover():
    "300 points split again and again: without the correction the forecast is far too sure"
    truth, found = 1 + 6 / (2000 - 7), {0.0: 0, None: 0}
    for rep in range(40):
        data = noisy_plane(300, np.random.default_rng([4, rep]))
        curve = learning_curve(least_squares_fit, data, [20, 30, 50, 80, 120, 200], rep, draws=10)
        assert curve.overlap == 0.5
        for overlap in found:
            c = (
                curve
                if overlap is None
                else LearningCurve(curve.sizes, curve.errors, None, 0.95, overlap)
            )
            low, high = c.between(2000)
            found[overlap] += low < truth < high
    assert found[None] >= 36 > 33 >= found[0.0]


def test_draws_are_their_own():
    "the same seed, the same rows, whatever their number; labels and functions as errors"
    few = learning_curve(least_squares_fit, noisy_plane, [20, 40], 5, draws=3, floor=0.0)
    many = learning_curve(least_squares_fit, noisy_plane, [20, 40], 5, draws=6, floor=0.0)
    np.testing.assert_array_equal(few.errors, many.errors[:3])
    assert not np.isin(many.errors[3:], few.errors).any()

    def absolute(values, y):
        return np.mean(np.abs(values - y))

    other = learning_curve(
        least_squares_fit, noisy_plane, [20, 40], 5, draws=3, error=absolute, floor=0.0
    )
    assert (other.errors < few.errors**0.5).all()

    def signs(n, rng):
        return (lambda X, y: (X, np.sign(y)))(*noisy_plane(n, rng))

    labels = learning_curve(
        least_squares_fit, signs, [20, 400], 5, draws=3, error="label", floor=0.0
    )
    assert (labels.errors < 0.5).all() and (labels.errors * 400 % 1 < 1e-9).all()


def test_refusals():
    with pytest.raises(ValueError, match="number of sizes = 3"):
        learning_curve(least_squares_fit, noisy_plane, [20, 40, 80], 0)
    with pytest.raises(ValueError, match="last of sizes = 30.*≤ 29"):
        learning_curve(
            least_squares_fit, noisy_plane(30, np.random.default_rng(0)), [5, 30], 0, floor=0.0
        )
    with pytest.raises(ValueError, match="not below the mean error"):
        learning_curve(least_squares_fit, noisy_plane, [20, 40], 0, floor=5.0)
    with pytest.raises(ValueError, match="not below the mean error"):

        def exact(X, y):
            return lambda Z: Z @ np.full(6, 0.4)

        learning_curve(exact, lambda n, rng: (*(p := noisy_plane(n, rng)), p[0], p[0] @ np.full(6, 0.4)),
                       [20, 40], 0, floor=0.0)  # fmt: skip
    with pytest.raises(ValueError, match="y by its sign, and it holds 0: pass −1 and 1"):
        learning_curve(
            least_squares_fit,
            lambda n, rng: (lambda X, y: (X, y > 0))(*noisy_plane(n, rng)),
            [20, 40],
            0,
            error="label",
            floor=0.0,
        )
    with pytest.raises(ValueError, match="fit.X, y..X_test. is not finite"):
        learning_curve(
            lambda X, y: lambda Z: np.full(len(Z), np.nan), noisy_plane, [20, 40], 0, floor=0.0
        )


def test_a_curve_draws_itself_and_says_what_it_is():
    import matplotlib.pyplot as plt

    curve = law_curve(np.random.default_rng(6), 0.1, None)
    ax = curve.plot(plt.subplots()[1], "one")
    assert ax.get_xscale() == "log" and len(ax.lines) == 2 and "slope" in repr(curve)
    share, low, high = curve.gain(3200)
    np.testing.assert_allclose(share, curve.at(3200) / curve.mean[-1])
    assert low < share < high
    plt.close("all")


# ------------------------------------------------------------------ rates


@pytest.mark.second_route("ridge_rate", "the formulas of others")
def test_rates_by_other_formulas():
    "with Caponnetto and De Vito's c = 2r: bc / (bc + 1); of Sobolev smoothness s in d: 2s / (2s + d)"
    for b, c in ((2, 1), (4, 1.5), (3, 2)):
        np.testing.assert_allclose(ridge_rate(b, c / 2), b * c / (b * c + 1))
    for s, d, order in (
        (1, 1, 2),
        (2, 3, 3),
    ):  # target of order s, kernel of that order, μⱼ ≍ j^(−2 order/d)
        np.testing.assert_allclose(ridge_rate(2 * order / d, s / (2 * order)), 2 * s / (2 * s + d))
    assert ridge_rate(2, 1) == ridge_rate(2, 7) == 0.8 < ridge_rate(2, 7, passes=2)


@pytest.mark.second_route("spectral_risk", "NumPy")
def test_the_sequence_model_is_ridge_where_the_eigenvectors_are_orthonormal():
    "all of ℤ/n with the uniform law: bias² and variance of ridge there, from its hat matrix"
    rng = np.random.default_rng(7)
    n, lam, noise = 40, 0.7, 0.3
    A = rng.normal(size=(n, n))
    K, f = A @ A.T / n, rng.normal(size=n)
    hat = K @ np.linalg.inv(K + lam * np.eye(n))
    values, V = np.linalg.eigh(K)
    for passes in (1, 3):
        smoother = np.eye(n) - np.linalg.matrix_power(np.eye(n) - hat, passes)
        bias2, variance = spectral_risk(values / n, V.T @ f / n**0.5, noise, n, lam, passes)
        np.testing.assert_allclose(bias2, np.mean((smoother @ f - f) ** 2))
        np.testing.assert_allclose(variance, noise * np.sum(smoother**2) / n)


def test_spectral_risk_for_many_lam_and_without_a_spectrum():
    mu, theta = np.arange(1.0, 50) ** -2, np.arange(1.0, 50) ** -1.5
    lams = np.geomspace(1e-3, 10, 7)
    many = spectral_risk(mu, theta, 0.1, 30, lams)
    for i, lam in enumerate(lams):
        np.testing.assert_allclose(
            [part[i] for part in many], spectral_risk(mu, theta, 0.1, 30, lam)
        )
    bias2, variance = spectral_risk([0.0, 1.0], [2.0, 0.0], 0.1, 30, 1.0)
    np.testing.assert_allclose([bias2, variance], [4.0, 0.1 / 30 * (30 / 31) ** 2])
    limit = spectral_risk(
        [0.0, 1.0], [2.0, 3.0], 0.1, 30, 0.0
    )  # what has no spectrum stays unlearned
    np.testing.assert_allclose(limit, [4.0, 0.1 / 30])
    np.testing.assert_allclose(
        limit, spectral_risk([0.0, 1.0], [2.0, 3.0], 0.1, 30, 1e-12), rtol=1e-9
    )
    assert not isinstance(limit[0], np.ndarray)


@pytest.mark.second_route("check_rate", "near misses refused")
def test_the_law_of_slopes_refuses_a_near_miss():
    "at three times the half width, on both sides"
    curve = law_curve(np.random.default_rng(8), draws=30)
    low, high = curve.interval
    assert check_rate(curve, -curve.slope) == 0
    for sign in (-1, 1):
        with pytest.raises(LawBroken, match="slope"):
            check_rate(curve, -curve.slope + sign * 1.01 * (high - low) / 2)
        assert check_rate(curve, -curve.slope + sign * 0.99 * (high - low) / 2)


def test_ridge_on_the_ramp_has_its_rate():
    "Brownian kernel, min(x, ½): r = ¾, b = 2"
    grid = (np.arange(300) + 0.5) / 300
    truth = np.repeat(np.minimum(grid, 0.5)[:, None], 24, axis=1)

    def sample(n, rng):
        X = rng.random(n)
        return X, np.minimum(X, 0.5)[:, None] + 0.2 * rng.normal(size=(n, 24)), grid, truth

    def fit(X, y):
        return ridge(Brownian(), X, y, 0.1 * len(X) ** 0.5)

    curve = learning_curve(fit, sample, [64, 128, 256, 512], 9, draws=12, floor=0.0, level=0.99)
    check_rate(curve, ridge_rate(2, 3 / 4))
    for wrong in (1 / 2, 1.0):
        with pytest.raises(LawBroken):
            check_rate(curve, wrong)

    def constant(X, y):
        return ridge(Brownian(), X, y, 30.0)  # lam that does not follow n

    with pytest.raises(LawBroken):
        check_rate(
            learning_curve(constant, sample, [64, 128, 256, 512], 9, draws=12, floor=0.0), 3 / 4
        )


def test_gaussian_on_data_from_somewhere_runs():
    X, y = noisy_plane(120, np.random.default_rng(10))
    curve = learning_curve(
        lambda X, y: ridge(Gaussian(3.0), X, y, 1.0), (X, y), [20, 30, 45, 70], 0, draws=4
    )
    assert 0 <= curve.floor < curve.mean.min()


# ------------------------------------------------------------------ choosing


@pytest.mark.second_route("leave_groups_out", "refits without each group")
@pytest.mark.parametrize("columns", [None, 2])
def test_groups_left_out_are_refits(columns):
    rng = np.random.default_rng(11)
    X, y = rng.normal(size=(20, 2)), rng.normal(size=(20, columns) if columns else 20)
    groups = np.array(list("abcdeabcdfabcdgabcdh"))
    left = leave_groups_out(Gaussian(1.0), X, y, 0.3, groups)
    for g in set(groups):
        f = ridge(Gaussian(1.0), X[groups != g], y[groups != g], 0.3)
        np.testing.assert_allclose(
            left[groups == g], y[groups == g] - f(X[groups == g]), atol=1e-10
        )
    path = ridge_path(Gaussian(1.0), X, y, [0.3])
    alone = leave_groups_out(Gaussian(1.0), X, y, 0.3, np.arange(20))
    np.testing.assert_allclose(path.loo, np.mean(alone**2))
    together = leave_groups_out(Gaussian(1.0), X, y, 0.3, ["all"] * 20)
    np.testing.assert_allclose(together, y, atol=1e-10)  # the fit to no point is 0


@pytest.mark.second_route("SelectionCost", "selection_cost", "folds, one by one")
def test_nested_validation_is_k_fold_of_the_choice():
    "by hand, for a choice whose score is known; the mean of its own data is the fit"
    rng = np.random.default_rng(12)
    X, y, calls = np.arange(12.0), rng.normal(size=12), []

    def choose(X, y):
        calls.append(set(X.ravel()))
        return lambda Z: np.full(len(Z), y.mean()), float(len(y))

    cost = selection_cost(choose, X, y, 4, 0)
    assert cost.apparent == 12 and [len(c) for c in calls] == [12, 9, 9, 9, 9]
    held = [set(X) - c for c in calls[1:]]
    assert set.union(*held) == set(X) and sum(map(len, held)) == 12
    for fold, out in zip(cost.folds, held, strict=True):
        inside = np.isin(X, list(out))
        np.testing.assert_allclose(fold, np.mean((y[inside] - y[~inside].mean()) ** 2))
    np.testing.assert_allclose(cost.honest, cost.folds.mean())
    np.testing.assert_allclose(cost.optimism, cost.folds.mean() - 12)
    assert "says 12" in repr(cost)
    with pytest.raises(ValueError, match="≤ 12"):
        selection_cost(choose, X, y, 13, 0)


def test_leave_one_out_is_fair_to_one_point_fewer():
    "the mean over samples, within four standard errors; twins break it"
    rng, differences, twins = np.random.default_rng(13), [], []
    k, new = Gaussian(0.7), np.linspace(-1, 1, 200)
    for _ in range(300):
        X = rng.uniform(-1, 1, 12)
        y = np.abs(X) + 0.3 * rng.normal(size=12)
        risk = np.mean((ridge(k, X[1:], y[1:], 0.5)(new) - np.abs(new)) ** 2) + 0.09
        differences.append(ridge_path(k, X, y, [0.5]).loo[0] - risk)
        two = ridge_path(k, np.repeat(X, 2), np.repeat(y, 2), [0.05])
        twins.append(two.loo[0] - np.mean((two.function_at(0.05)(new) - np.abs(new)) ** 2) - 0.09)
    for found, holds in ((differences, True), (twins, False)):
        error = 4 * np.std(found) / len(found) ** 0.5
        # the points are uniform, the new ones equally spaced: the same mean
        assert bool(abs(np.mean(found)) < error) == holds


def test_the_bound_of_consistency_holds_and_is_sharp_for_strangers():
    "E E(f_{n−1}) ≤ (1 + κ²/λ)² J/n on every sample; with K = I the quotient is 1 + κ²/λ"
    rng = np.random.default_rng(14)
    for lam in (0.01, 1.0, 30.0):
        for k in (Gaussian(0.3), 4.0 * Gaussian(2.0), Brownian()):
            X, y = rng.random(25), rng.normal(size=25)
            f, top = ridge(k, X, y, lam), k.diag(X).max()
            objective = np.sum((y - f(X)) ** 2) + lam * f.norm() ** 2
            assert ridge_path(k, X, y, [lam]).loo[0] <= (1 + top / lam) ** 2 * objective / 25
        apart = leave_groups_out(Gaussian(1e-3), np.arange(25.0), y, lam, np.arange(25))
        np.testing.assert_allclose(
            np.mean(apart**2) * lam / (1 + lam) * (1 + 1 / lam), np.mean(y**2)
        )


def test_what_choose_returns_is_asked_for():
    X, y = np.eye(12), np.arange(12.0)
    with pytest.raises(TypeError, match=r"choose\(X, y\).*a pair \(f, score\)"):
        selection_cost(lambda X, y: 3.0, X, y)
    with pytest.raises(ValueError, match="the number of sizes = 1.*which the law needs"):
        learning_curve(least_squares_fit, noisy_plane, [20])


def test_rows_keep_the_names_of_their_columns():
    V = np.random.default_rng(2).normal(size=(30, 2))
    D, y = pd.DataFrame(V, columns=["a", "b"]), V[:, 1] ** 2
    k, plain = Gaussian(1.0).on(["b"]), Gaussian(1.0).on([1])
    curves, costs = [], []
    for kernel, points in ((k, D), (plain, V)):
        fit = partial(ridge, kernel, lam=0.1)
        curves.append(learning_curve(fit, (points, y), [5, 8, 12, 20], 0, 3).errors)
        costs.append(selection_cost(lambda X, y: (fit(X, y), 0.0), points, y, rng=0).folds)  # noqa: B023
    np.testing.assert_allclose(*curves)
    np.testing.assert_allclose(*costs)


@pytest.mark.parametrize(
    "law, slope", [(lambda n: 5.0 * n**-6, -4), (lambda n: 3 - 0.02 * np.log(n), -0.02)]
)
def test_a_slope_at_the_end_of_its_range_is_told(law, slope):
    "Exact data, which no law with an exponent in the range follows: no interval of width 0"
    numbers = np.random.default_rng(6)

    def fit(X, y):
        root = np.sqrt(law(len(X)) * np.exp(1e-4 * numbers.normal()))
        return lambda Z: np.full(len(Z), root)

    def sample(n, rng):
        return np.zeros(n), np.zeros(n), [0.0], [0.0]

    with pytest.warns(RuntimeWarning, match=rf"slope {slope} is an end of .* floor=0\."):
        curve = learning_curve(fit, sample, [4, 8, 16, 32], 0, 6)
    low, high = curve.interval
    assert curve.slope == slope and high - low > 0.01
    if slope == -4:
        assert low == -np.inf and check_rate(curve, 6.0) == pytest.approx(2)
        with pytest.raises(LawBroken):
            check_rate(curve, 3.0)
        known = learning_curve(fit, sample, [4, 8, 16, 32], 0, 6, floor=0.0)
        assert check_rate(known, 6.0) < 0.01
    else:
        assert high >= 0


def test_a_known_floor_lies_below_the_mean_without_any_one_draw():
    "Else the law has no logarithm there, and its interval no numbers"
    values = np.array([[1.0, 0.5], [1.0, 0.5], [1.0, 0.9]])
    nothing = {"fit": lambda X, y: np.zeros_like, "sample": lambda n, rng: (np.zeros(n),) * 2}

    def curve(floor):
        given = iter(values.ravel())
        error = lambda f, y: next(given)  # noqa: E731
        return learning_curve(**nothing, sizes=[10, 20], draws=3, error=error, floor=floor)

    assert np.isfinite(curve(0.49).interval).all()
    with pytest.raises(ValueError, match="floor = 0.55 .* 0.5 without one of the draws"):
        curve(0.55)  # the mean of all is 0.633
