"""Shares, points left out and probabilities, against libsvm, scikit-learn and trainings from scratch."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import PredefinedSplit
from sklearn.svm import SVC, NuSVC, NuSVR
from test_svm import coefficients, problem

import rkhs_notes as rn
from rkhs_notes import (
    Constant,
    Gaussian,
    Linear,
    check_kkt,
    nu_svc,
    nu_svr,
    svc,
    svc_leave_one_out,
    svc_probability,
    svr,
)
from rkhs_notes.base.errors import ConvergenceFailure, IndefiniteKernel, LawBroken, require
from rkhs_notes.deeper.machines import relevance_machine, sigmoid_of
from rkhs_notes.engines.machines.boxes import PairDistances
from rkhs_notes.engines.machines.prices import point_prices, two_classes
from rkhs_notes.engines.machines.smo import heard, one_of_many, solve_box
from rkhs_notes.engines.machines.support import without
from rkhs_notes.kernels import Sigmoid

SEEDS = range(24)


def length(b, k, X):
    "bᵀKb for Σ|b| = 1: what a ν-machine makes small"
    return b @ k(X) @ b / np.abs(b).sum() ** 2


@pytest.mark.second_route("NuMachine", "nu_svc", "scikit-learn")
@pytest.mark.parametrize("seed", SEEDS)
def test_a_share_of_errors_is_libsvms(seed):
    X, y, _, bandwidth, _ = problem(seed)
    most = 2 * min(np.sum(y > 0), np.sum(y < 0)) / len(y)
    nu = most * float(np.random.default_rng(seed).uniform(0.2, 0.95))
    k = Gaussian(0.15 * bandwidth)
    if seed == 3:  # on a line, 33 eigenvalues above rounding: libsvm, too, gives up at this share
        with pytest.raises(ConvergenceFailure, match="no margin that"):
            nu_svc(k, X, y, nu, tol=1e-6)
        nu = 0.5 * most
    ours = nu_svc(k, X, y, nu, tol=1e-6)
    peer = NuSVC(nu=nu, gamma=0.5 / k.bandwidth**2, tol=1e-10, max_iter=10**6).fit(X, y)
    assert peer.fit_status_ == 0
    theirs = peer.decision_function(X)  # libsvm's tolerance is that before the division by ρ
    np.testing.assert_allclose(ours.decision(X), theirs, atol=2e-3 * np.abs(theirs).max())
    b = coefficients(peer, len(X))
    np.testing.assert_allclose(length(ours.dual, k, X), length(b, k, X), rtol=1e-6)
    np.testing.assert_allclose(np.abs(ours.dual).sum(), nu * len(X) * ours.C, rtol=1e-8)
    assert np.mean(y * ours(X) < 1 - 1e-6) <= nu <= len(ours.support) / len(X) + 1e-12
    assert ours.converged and ours.violation <= 1e-6
    check_kkt(ours, X, y, ours.C, tol=1e-5)


@pytest.mark.parametrize("tol", [1.0, 50.0])
def test_a_share_ends_at_any_tolerance(tol):
    X, y = np.random.default_rng(0).normal(size=(6, 2)), np.where(np.arange(6) % 2, 1, -1)
    assert nu_svc(Gaussian(1.0), X, y, 0.5, tol=tol).violation <= tol


@pytest.mark.second_route("nu_svr", "scikit-learn")
@pytest.mark.parametrize("seed", SEEDS)
def test_a_share_outside_of_the_tube_is_libsvms(seed):
    X, _, t, bandwidth, C = problem(seed)
    nu = float(np.random.default_rng(seed).uniform(0.05, 0.9))
    ours = nu_svr(Gaussian(bandwidth), X, t, C, nu, tol=1e-7)
    peer = NuSVR(nu=nu, C=C, gamma=0.5 / bandwidth**2, tol=1e-6, max_iter=10**6).fit(X, t)
    np.testing.assert_allclose(ours.predict(X), peer.predict(X), atol=1e-3)
    K, both = Gaussian(bandwidth)(X), (ours.dual, coefficients(peer, len(X)))
    np.testing.assert_allclose(*[t @ b - b @ K @ b / 2 for b in both], rtol=1e-6)
    assert ours.converged
    assert ours.eps == 0 or np.isclose(np.abs(ours.dual).sum(), C * nu * len(X), rtol=1e-8)
    assert np.mean(np.abs(t - ours(X)) > ours.eps + 1e-6) <= nu or ours.eps == 0
    check_kkt(ours, X, t, C, eps=ours.eps, tol=1e-6)


def test_the_law_of_a_tube_rejects_mutants():
    X, _, t, _, _ = problem(0)
    k, n = Gaussian(1.0), len(X)

    def law(tube, nu, C, eps):
        outside = np.mean(np.abs(t - tube(X)) > eps + 1e-5)
        require("at most nu outside", outside, nu)
        require("at least nu kept", nu, len(tube.support) / n + 1e-12)
        require("sum is C nu n", abs(np.abs(tube.dual).sum() / (C * nu * n) - 1), 1e-6)

    tube = nu_svr(k, X, t, C=5.0, nu=0.3, tol=1e-6)
    law(tube, 0.3, 5.0, tube.eps)
    as_width, swapped = svr(k, X, t, C=5.0, eps=0.9), nu_svr(k, X, t, C=0.1, nu=0.6, tol=1e-6)
    shared = nu_svr(k, X, t, C=5.0 / n, nu=0.3, tol=1e-6)
    for mutant, nu, C, eps, words in (
        (as_width, 0.9, 5.0, 0.9, "at least nu kept"),
        (swapped, 0.1, 0.6, swapped.eps, "at most nu outside"),
        (shared, 0.3, 5.0, shared.eps, "sum is C nu n"),
    ):
        with pytest.raises(LawBroken, match=words):
            law(mutant, nu, C, eps)


def test_a_share_whose_price_is_a_million_is_refused_in_true_words():
    X, y = make_moons(200, noise=0.25, random_state=19_000)  # invertible K: a margin, about 8e-7
    with pytest.raises(ConvergenceFailure, match="overlap, or nearly") as refused:
        nu_svc(Gaussian(0.5), X, y, 0.05, tol=1e-6)
    rho = float(re.search(r"rho = (\S+),", str(refused.value))[1])
    assert 1e-7 < rho < 1e-5 and "rounding" not in str(refused.value)


def test_shares_at_their_ends():
    X, y, t, _, _ = problem(0)
    most = 2 * min(np.sum(y > 0), np.sum(y < 0)) / len(y)
    assert (np.abs(nu_svc(Gaussian(1.0), X, y, most).dual) > 0).mean() >= most
    with pytest.raises(ValueError, match="share nu n equally"):
        nu_svc(Gaussian(1.0), X, y, min(1.0, most + 0.01))
    assert nu_svr(Gaussian(1.0), X, t, C=1e-3, nu=1.0).eps == 0  # a cheap machine needs no tube
    flat = nu_svr(Gaussian(1.0), X, np.full(len(X), 3.0))
    assert flat.eps == 0 and (flat.predict(X) == 3).all()
    overlap = np.repeat(X[:20], 2, axis=0), np.tile([0, 1], 20)
    with pytest.raises(ConvergenceFailure, match="no margin that"):
        nu_svc(Gaussian(1.0), *overlap, nu=0.5)
    with pytest.raises(IndefiniteKernel):
        nu_svc(Sigmoid(), X, y)


@pytest.mark.second_route("LeftOut", "svc_leave_one_out", "refits without each point")
@pytest.mark.parametrize("C", [0.05, 1.0, 30.0, math.inf])
def test_left_out_is_trained_without(C):
    X, y, _, _, _ = problem(3)
    X, y = X[:45], np.where(X[:45, 0] > 0.1, 1, -1) if C == math.inf else y[:45]
    found = svc_leave_one_out(Gaussian(1.0), X, y, C, tol=1e-7)
    for i in range(len(y)):
        less = svc(Gaussian(1.0), np.delete(X, i, axis=0), np.delete(y, i), C, tol=1e-7)
        np.testing.assert_allclose(found.decisions[0, i], less.decision(X[[i]])[0], atol=2e-5)
    assert found.error[0] <= found.bound[0] <= 1
    assert (found.wrong == ((found.decisions >= 0) != (y > 0))).all()


@pytest.mark.parametrize(
    ("seed", "k", "C"), [(12, Linear(), 0.3), (10, Linear(), 0.3), (9, Gaussian(5.0), 10.0)]
)
def test_left_out_is_trained_without_where_no_support_vector_is_free(seed, k, C):
    "Then c is the middle of an interval; a coefficient that rounding keeps from its price would move it"
    rng = np.random.default_rng(seed)
    n = 2 * rng.integers(4, 11)
    X, y = rng.normal(size=(n, 2)), np.arange(n) % 2
    X[y == 1] += rng.uniform(0, 2)
    X = np.round(X) if seed % 2 else X
    left, bound = svc_leave_one_out(k, X, y, C, tol=1e-8), 0
    for i in range(n):
        others = np.flatnonzero(np.arange(n) != i)
        alone = svc(k, X[others], y[others], C, tol=1e-8)
        size = np.abs(alone.dual)
        bound += not ((size > 0) & (size < C)).any()
        assert abs(left.decisions[0, i] - alone.decision(X[[i]])[0]) < 1e-5
    assert bound > 0  # some machine has no free support vector


def test_a_path_of_prices_is_each_price_alone():
    X, y, _, _, _ = problem(5)
    X, y = X[:40], y[:40]
    Cs = [0.1, 1.0, 10.0]
    path = svc_leave_one_out(Linear(), X, y, Cs, tol=1e-6)
    for C, decisions in zip(Cs, path.decisions, strict=True):
        alone = svc_leave_one_out(Linear(), X, y, C, tol=1e-6).decisions[0]
        np.testing.assert_allclose(decisions, alone, atol=1e-4)
    assert path.support.shape == path.steps.shape == (3,)
    wrong = np.arange(20) < np.array([[6], [5], [4]])
    with pytest.warns(UserWarning, match="C = 10 is the largest that was tried"):
        assert replace(path, wrong=wrong).best == 10.0
    assert replace(path, wrong=wrong[[1, 2, 0]]).best == 1.0
    with pytest.raises(ValueError, match="at least 2 points"):
        svc_leave_one_out(Linear(), X, np.arange(len(X)) == 0, 1.0)


def test_a_decision_of_0_is_for_the_positive_class_also_where_it_is_left_out():
    "Without the point 0 all is symmetric about it"
    for y in ([1, -1, 1, -1, 1], [1, -1, 1, -1, -1]):
        found = svc_leave_one_out(Linear(), [1.0, -1.0, 1.0, -1.0, 0.0], y, 1.0)
        assert found.decisions[0, 4] == 0 and found.wrong[0, 4] == (y[4] < 0)


def test_a_coefficient_is_handed_on_within_the_box():
    X, y, _, _, _ = problem(7)
    box, pairs = (
        two_classes(y * 1.0, point_prices(2.0, None, len(y))),
        PairDistances(Gaussian(1.0), X),
    )
    whole = solve_box(pairs, box, tol=1e-8)
    for i in np.flatnonzero(whole.b)[:5]:
        value, steps = without(i, whole.b, box, pairs, 1e-8)
        lo, hi = box.lo.copy(), box.hi.copy()
        lo[i] = hi[i] = 0
        cold = solve_box(pairs, replace(box, lo=lo, hi=hi), tol=1e-8)
        c = replace(box, lo=lo, hi=hi).offset(cold.b, box.p - cold.f)
        np.testing.assert_allclose(value, cold.f[i] + c, atol=1e-6)


@pytest.mark.second_route("ProbableMachine", "svc_probability", "scikit-learn")
@pytest.mark.parametrize("seed", SEEDS[:12])
def test_probabilities_are_scikit_learns(seed):
    X, y, _, bandwidth, C = problem(seed)
    ours = svc_probability(Gaussian(bandwidth), X, y, C, folds=4, rng=seed, tol=1e-7)
    svm = SVC(C=C, gamma=0.5 / bandwidth**2, tol=1e-7)
    peer = CalibratedClassifierCV(svm, cv=PredefinedSplit(ours.folds), ensemble=False).fit(X, y)
    np.testing.assert_allclose(ours.probability(X), peer.predict_proba(X)[:, 1], atol=1e-5)
    assert (ours.predict(X) == svc(Gaussian(bandwidth), X, y, C, tol=1e-7).predict(X)).all()
    assert (ours(X) == ours.machine.decision(X)).all() and ours.labels == (-1, 1)


@pytest.mark.parametrize("tol", [0.5, 1e-8])
def test_decisions_are_those_of_machines_of_the_same_tol_that_did_not_see_the_point(tol):
    X, y, _, bandwidth, C = problem(1)
    k = Gaussian(bandwidth)
    found = svc_probability(k, X, y, C, folds=3, rng=0, tol=tol)
    for out in range(3):
        rest = found.folds == out
        part = svc(k, X[~rest], y[~rest], C, tol=tol)
        np.testing.assert_allclose(found.decisions[rest], part.decision(X[rest]), atol=1e-12)


def test_the_curve_is_a_weighted_logistic_regression():
    rng = np.random.default_rng(0)
    d = rng.normal(size=80)
    positive = d + rng.normal(size=80) > 0.3
    n1, n0 = positive.sum(), (~positive).sum()
    t = np.where(positive, (n1 + 1) / (n1 + 2), 1 / (n0 + 2))
    fit = LogisticRegression(C=1e12, tol=1e-12, max_iter=1000)
    fit.fit(np.r_[d, d][:, None], np.r_[np.ones(80), np.zeros(80)], sample_weight=np.r_[t, 1 - t])
    np.testing.assert_allclose(
        sigmoid_of(d, positive), [fit.coef_[0, 0], fit.intercept_[0]], rtol=1e-4
    )
    twice = sigmoid_of(np.r_[d, d[:30]], np.r_[positive, positive[:30]])
    np.testing.assert_allclose(
        sigmoid_of(d, positive, 1.0 + (np.arange(80) < 30)), twice, rtol=1e-6
    )
    in_units = np.divide(sigmoid_of(d, positive), [1e9, 1])
    np.testing.assert_allclose(sigmoid_of(1e9 * d, positive), in_units, rtol=1e-6)
    separated = sigmoid_of(np.r_[-np.ones(5), np.ones(5)], np.arange(10) >= 5)
    assert 0 < separated[0] < 10


def test_a_curve_never_falls_and_is_the_share_where_it_would():
    d, positive = np.arange(10.0), np.arange(10) < 3
    slope, shift = sigmoid_of(d, positive)
    share = (3 * 4 / 5 + 7 / 9) / 10
    assert slope == 0 and expit(shift) == pytest.approx(share)
    assert sigmoid_of(np.full(10, 0.3), positive) == (0.0, shift)
    assert sigmoid_of(-d, positive)[0] > 0
    slopes = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 120)), rng.integers(2, size=60)
        found = svc_probability(Linear(), X, y, rng=seed)
        slopes.append(found.slope)
        assert (np.diff(found.probability(X)[np.argsort(found(X))]) >= 0).all()
    assert min(slopes) == 0 < max(slopes)


def test_folds_share_both_classes():
    X, y, _, _, _ = problem(1)
    found = svc_probability(Gaussian(1.0), X, y, folds=5, rng=1)
    assert found.plot == found.machine.plot
    for c in (-1, 1):
        counts = np.bincount(found.folds[y == c])
        assert counts.max() - counts.min() <= 1
    few = (
        np.arange(len(X)) % (len(X) // 3) == 0
    )  # of the rarer class one point for each fold, so fewer folds
    found = svc_probability(Gaussian(1.0), X, few, folds=50, rng=1)
    assert (
        np.bincount(found.folds[few]).tolist() == [1] * few.sum()
        and found.folds.max() == few.sum() - 1
    )
    with pytest.raises(ValueError, match="at least 2 points"):
        svc_probability(Gaussian(1.0), X, np.arange(len(X)) == 0)


def test_without_a_relevance_vector_only_the_constant_is_uncertain():
    "A flat target with a little noise: the function is a constant, as sure far away as near"
    X = np.linspace(0, 9, 60)[:, None]
    y = 3 + 1e-3 * np.resize([1.0, -1.0], 60)
    found = relevance_machine(Gaussian(5.0), X, y)
    assert len(found.support) == 0
    mean, std = found.predict([[0.0], [4.0], [50.0]])
    np.testing.assert_allclose(mean, y.mean(), atol=1e-6)
    np.testing.assert_allclose(std, std[0], rtol=1e-9)
    assert std[0] == pytest.approx(y.std(), rel=0.05)


SERIES = {
    "svc_multiclass": lambda k, X, y: rn.svc_multiclass(k, X, y + (X[:, 0] > 0), max_iter=10**6),
    "one against the rest": lambda k, X, y: rn.svc_multiclass(
        k, X, y + (X[:, 0] > 0), strategy="one-vs-rest"
    ),
    "svc_leave_one_out": lambda k, X, y: svc_leave_one_out(k, X, y, [1.0]),
    "svc_probability": lambda k, X, y: svc_probability(k, X, y, folds=2, rng=0),
    "nu_svc": lambda k, X, y: nu_svc(k, X, y, nu=0.5),
    "nu_svr": lambda k, X, y: nu_svr(k, X, y * 1.0, nu=0.5),
    "one_class": lambda k, X, y: rn.one_class(k, X),
    "svc, by parts": lambda k, X, y: svc(k, np.repeat(X, 150, axis=0), np.repeat(y, 150)),
    "a series that Ctrl-C ended": lambda k, X, y: cut_short(),
}


def cut_short():
    with pytest.raises(KeyboardInterrupt), one_of_many():
        heard()


@pytest.mark.parametrize("series", SERIES)
def test_after_a_series_ctrl_c_gives_a_single_machine_back_again(series):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = np.where(X[:, 1] + 0.3 * rng.normal(size=40) > 0, 1, -1)
    SERIES[series](Gaussian(1.0), X, y)

    def stop(steps, violation):
        raise KeyboardInterrupt

    try:
        with pytest.warns(RuntimeWarning, match="feasible, but not optimal"):
            found = svc(Gaussian(1.0), X, y, 10.0, callback=stop)
    except KeyboardInterrupt:  # which would end pytest
        pytest.fail("Ctrl-C lost the machine")
    assert not found.converged and abs(found.dual.sum()) < 1e-8


@pytest.mark.parametrize("other", [lambda k: k + Constant(1e-30), lambda k: 1e-140 * k])
def test_relevance_of_points_whose_values_are_0_far_away(other):
    "Nothing that is added to those zeros, and no unit of the kernel, changes the function"
    X, k = np.linspace(0, 300, 80)[:, None], Gaussian(3.0)
    y = np.sin(X[:, 0] / 6)
    assert (k(X) == 0).any(axis=0).all()
    found, same = relevance_machine(k, X, y), relevance_machine(other(k), X, y)
    assert found.support.tolist() == same.support.tolist()
    np.testing.assert_allclose(found.predict(X), same.predict(X), atol=1e-6)
    assert np.abs(found.predict(X)[0] - y).max() < 0.01


def test_a_tube_that_holds_everything_and_weights_at_the_end_of_the_floats():
    X, y = np.linspace(0, 1, 5)[:, None], np.array([0.1, -0.3, 0.2, 0.0, -0.1])
    phi = rn.fourier_features(Gaussian(1.0), 1, 10, 0)
    for machine in (
        rn.svr(Gaussian(1.0), X, y, eps=1.7e308),
        rn.svr_primal(phi, X, y, eps=1.7e308),
    ):
        assert machine.gap == 0 and not machine.dual.any()
    with pytest.raises(ValueError, match="a price C · weight"):
        rn.nu_svr(Gaussian(1.0), X, y, weights=np.full(5, 5e307))
    with pytest.raises(ValueError, match="W is too large or singular"):
        rn.coupled_embedding(Gaussian(1.0), Gaussian(1.0), X, X, W=1e308 * np.eye(5))


def test_a_tube_with_a_share_outside_that_is_not_optimal_says_so(monkeypatch):
    monkeypatch.setattr("rkhs_notes.engines.machines.smo._PATIENCE", 100)
    rng = np.random.default_rng(0)
    t = rng.uniform(0, 6, 60)
    z = np.sin(1.5 * t) + 0.2 * rng.normal(size=60)
    with pytest.warns(RuntimeWarning, match="not optimal. A smaller C helps"):
        assert not nu_svr(Gaussian(1.0), t, z, C=1e7, nu=0.3).converged
    both = np.repeat([-1, 1], 60)
    with pytest.raises(ConvergenceFailure, match="nu = 0.05 has no margin"):
        nu_svc(Gaussian(1.0), np.r_[t, t], both, nu=0.05, weights=np.full(120, 4.0))


@pytest.mark.parametrize("shift", [0.0, 30.0, 1e4])
@pytest.mark.second_route("logistic_primal", "scikit-learn")
def test_log_odds_far_from_0_and_of_classes_that_are_apart(shift):
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=200) > 0, 1, -1)
    found = rn.logistic_primal(lambda Z: Z, X + shift, y, C=1.0, gap=1e-10)
    peer = LogisticRegression(C=1.0, tol=1e-10).fit(X, y).predict_proba(X)[:, 1]
    assert found.gap <= 1e-10 and found.iterations < 20
    np.testing.assert_allclose(found.probability(X + shift), peer, atol=1e-5)
    apart = X + 3 * np.sign(y)[:, None] + shift
    for C in (1e2, 1e5):
        assert rn.logistic_primal(lambda Z: Z, apart, y, C=C).gap < 1e-6
