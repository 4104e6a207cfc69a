"""The machines against scikit-learn on random problems, quadratic programs, degenerate data and bad input."""

import math
import signal
import sys
import warnings
from dataclasses import replace

import array_api_strict as strict
import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize
from scipy.sparse import csr_array
from scipy.stats import multivariate_normal
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, SVR, OneClassSVM

from rkhs_notes import linear_machines, settings, smo, subsets
from rkhs_notes.base.errors import ConvergenceFailure, IndefiniteKernel, LawBroken
from rkhs_notes.deeper.machines import (
    _largest_evidence,
    _log_evidence,
    bayes_point,
    nu_svc,
    nu_svr,
    relevance_machine,
    svc_multiclass,
)
from rkhs_notes.deeper.variants import logistic_primal, one_class, svm_primal, svr, svr_primal
from rkhs_notes.deeper.zoo import Laplace, Matern, Precomputed
from rkhs_notes.engines.machines import libsvm
from rkhs_notes.engines.machines.boxes import BoxProblem, PairDistances
from rkhs_notes.engines.machines.kernel_machines import check_kkt, in_libsvm, svc, svc_path
from rkhs_notes.engines.machines.linear_machines import (
    by_features,
    hinge_by_newton,
    logistic_by_newton,
    rounded_hinge,
)
from rkhs_notes.engines.machines.prices import from_first, unit_of
from rkhs_notes.engines.machines.smo import solve_box
from rkhs_notes.engines.machines.support import gap_of
from rkhs_notes.kernels import Gaussian, Kernel, Linear, Polynomial, Sigmoid
from rkhs_notes.rkhs import RKHSFunction
from shared import Counted, Letters, counted

SEEDS = range(24)


def problem(seed):
    "A random data set: points, noisy labels ±1, a measurement, bandwidth and price"
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(10, 150)), int(rng.integers(1, 6))
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1, -1)
    y[:2] = 1, -1
    return (
        X,
        y,
        X[:, 0] ** 2 + 0.1 * rng.normal(size=n),
        float(rng.uniform(0.5, 3)),
        float(10 ** rng.uniform(-2, 2)),
    )


def coefficients(peer, n):
    b = np.zeros(n)
    b[peer.support_] = peer.dual_coef_[0]
    return b


@pytest.mark.second_route("SupportVectorMachine", "svc", "scikit-learn")
@pytest.mark.parametrize("seed", SEEDS)
def test_classification_is_libsvms(seed):
    X, y, _, bandwidth, C = problem(seed)
    ours = svc(Gaussian(bandwidth), X, y, C, tol=1e-7)
    peer = SVC(C=C, gamma=0.5 / bandwidth**2, tol=1e-7).fit(X, y)
    np.testing.assert_allclose(ours.dual, coefficients(peer, len(X)), atol=1e-3 * C)
    np.testing.assert_allclose(ours.offset, peer.intercept_[0], atol=1e-4)
    np.testing.assert_allclose(ours.decision(X), peer.decision_function(X), atol=1e-3)
    assert (ours.predict(X) == peer.predict(X)).all() and 0 <= ours.gap + 1e-12 < 1e-5
    check_kkt(ours, X, y, C, tol=1e-6)


@pytest.mark.second_route("svr", "scikit-learn")
@pytest.mark.parametrize("seed", SEEDS)
def test_regression_is_libsvms(seed):
    X, _, t, bandwidth, C = problem(seed)
    ours = svr(Gaussian(bandwidth), X, t, C, eps=0.1, tol=1e-7)
    peer = SVR(C=C, gamma=0.5 / bandwidth**2, epsilon=0.1, tol=1e-7).fit(X, t)
    np.testing.assert_allclose(ours.dual, coefficients(peer, len(X)), atol=2e-2 * C)
    np.testing.assert_allclose(ours.offset, peer.intercept_[0], atol=1e-3)
    np.testing.assert_allclose(ours.predict(X), peer.predict(X), atol=1e-3)
    check_kkt(ours, X, t, C, eps=0.1, tol=1e-6)


@pytest.mark.second_route("one_class", "scikit-learn")
@pytest.mark.parametrize("seed", SEEDS)
def test_one_class_is_libsvms(seed):
    X, _, _, bandwidth, _ = problem(seed)
    nu = float(np.random.default_rng(seed).uniform(0.05, 0.9))
    ours = one_class(Gaussian(bandwidth), X, nu, tol=1e-7)
    peer = OneClassSVM(nu=nu, gamma=0.5 / bandwidth**2, tol=1e-7).fit(X)
    np.testing.assert_allclose(ours.dual, coefficients(peer, len(X)), atol=1e-3)
    np.testing.assert_allclose(ours.offset, peer.intercept_[0], atol=1e-4)
    np.testing.assert_allclose(ours.decision(X), peer.decision_function(X), atol=1e-4)
    assert np.mean(ours.decision(X) < -1e-5) <= nu <= len(ours.support) / len(X) + 1e-12
    check_kkt(ours, X, nu=nu, tol=1e-6)


@pytest.mark.second_route("MulticlassMachine", "svc_multiclass", "scikit-learn")
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("strategy", ["one-vs-one", "one-vs-rest"])
def test_many_classes(seed, strategy):
    X, _, _, bandwidth, C = problem(seed)
    place = np.random.default_rng(seed).integers(0, 4, len(X))
    place[:4] = range(4)
    y = np.array(["ape", "bee", "cat", "dog"])[place]
    ours, g = svc_multiclass(Gaussian(bandwidth), X, y, C, strategy, tol=1e-6), 0.5 / bandwidth**2
    if strategy == "one-vs-one":
        peer = SVC(C=C, gamma=g, tol=1e-6, decision_function_shape="ovo").fit(X, y)
        assert (ours.predict(X) == peer.predict(X)).all()
        np.testing.assert_allclose(
            ours.decision(X), -peer.decision_function(X), atol=1e-4
        )  # our sign: the later class
    else:
        columns = [
            SVC(C=C, gamma=g, tol=1e-6).fit(X, y == c).decision_function(X) for c in ours.classes
        ]
        np.testing.assert_allclose(ours.decision(X), np.transpose(columns), atol=1e-4)
    assert (
        ours.dual.shape == (len(X), len(ours.pairs))
        and not ours.dual[~np.isin(range(len(X)), ours.support)].any()
    )


@pytest.mark.second_route("svm_primal", "the dual machine")
@pytest.mark.parametrize("seed", range(10))
def test_features_and_kernel_agree(seed):
    X, y, _, _, C = problem(seed)
    d = X.shape[1]
    primal = svm_primal(Polynomial(2).feature_map(d), X, y, C, tol=1e-5)
    dual = svc(Polynomial(2), X, y, C, tol=1e-5)
    np.testing.assert_allclose(primal.objective, dual.objective, rtol=1e-5)
    np.testing.assert_allclose(primal.function(X), dual.function(X), atol=2e-2)
    assert primal.violation <= 1e-5 and abs(primal.gap) < 1e-3
    check_kkt(primal, X, y, C, tol=1e-4)


@pytest.mark.parametrize(
    "k",
    [Linear(), Polynomial(3), Laplace(2.0), Matern(1.5, 1.0), 2 * Gaussian(1.0) + Linear()],
    ids=str,
)
def test_laws_for_other_kernels(k):
    X, y, t, _, _ = problem(3)
    check_kkt(svc(k, X, y, 2.0), X, y, 2.0)
    check_kkt(svr(k, X, t, 0.5, 0.2), X, t, 0.5, eps=0.2)
    check_kkt(one_class(k, X, 0.3), X, nu=0.3)


@pytest.mark.second_route("svc", "SciPy's quadratic program")
@pytest.mark.parametrize("seed", range(4))
def test_a_quadratic_program_has_the_same_maximum(seed):
    X, y, _, bandwidth, C = problem(seed)
    X, y = X[:20], y[:20]
    Q = y[:, None] * Gaussian(bandwidth)(X) * y
    found = minimize(
        lambda a: a @ Q @ a / 2 - a.sum(),
        np.zeros(20),
        jac=lambda a: Q @ a - 1,
        method="SLSQP",
        bounds=[(0, C)] * 20,
        constraints=LinearConstraint(y, 0, 0),
        options=dict(ftol=1e-13, maxiter=500),
    )
    np.testing.assert_allclose(
        svc(Gaussian(bandwidth), X, y, C, tol=1e-8).objective, -found.fun, rtol=1e-6
    )


# ---------------------------------------------------------------- the engine


def large(n=1500, d=8):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, np.where(
        np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0
    )


def test_single_precision_is_certified_in_double():
    X, y = large()
    k, box = Gaussian(8**0.5), BoxProblem(y, np.minimum(0, 10 * y), np.maximum(0, 10 * y))
    single = solve_box(PairDistances(k, X, single=True), box)
    double = solve_box(PairDistances(k, X), box, tol=1e-7)
    f = k(X) @ single.b
    np.testing.assert_allclose(single.f, f, atol=1e-9 * np.abs(single.b).sum())
    assert (
        single.violation == pytest.approx(box.violation(single.b, y - f), abs=1e-9)
        and single.violation <= 1e-3
    )
    assert abs(box.dual(single.b, single.f) - box.dual(double.b, double.f)) < 1e-5 * box.dual(
        double.b, double.f
    )


def test_rows_computed_when_needed():
    X, y = large(3000)
    box = BoxProblem(y, np.minimum(0, y), np.maximum(0, y))
    whole = solve_box(PairDistances(Gaussian(2.0), X, single=True), box)
    rows = PairDistances(Gaussian(2.0), X, single=True, cache_mib=16)
    few = solve_box(rows, box)
    assert rows.whole is None and rows._recent.rows.shape == (1398, 3000) and few.violation <= 1e-3
    np.testing.assert_allclose(box.dual(few.b, few.f), box.dual(whole.b, whole.f), rtol=1e-6)


@pytest.mark.parametrize("scale, shift", [(1e-6, 0), (1e6, 0), (1, 1e8), (1e-3, 1e5)])
def test_measurements_of_any_size(scale, shift):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 2))
    t = scale * np.sin(2 * X[:, 0]) + shift
    found = svr(Gaussian(1.0), X, t, C=10 * scale, eps=0.1 * scale)
    assert found.converged and np.abs(found.predict(X) - t).max() < 0.3 * scale


def test_far_from_zero_single_precision_sees_nothing():
    X, y = large(1200, 3)
    near, far = svc(Gaussian(1.0), X, y), svc(Gaussian(1.0), X + 1e6, y)
    np.testing.assert_allclose(far.objective, near.objective, rtol=1e-5)


def test_ctrl_c_leaves_a_feasible_machine():
    X, y = large(3000)
    stop = []

    def callback(steps, violation):
        if not stop:
            stop.append(steps), signal.raise_signal(signal.SIGINT)

    handler = signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # a job in the background ignores it
    try:
        with pytest.warns(RuntimeWarning, match="feasible, but not optimal"):
            found = svc(Gaussian(2.0), X, y, C=100.0, callback=callback)
    finally:
        signal.signal(signal.SIGINT, handler)
    assert (
        not found.converged
        and abs(found.dual.sum()) < 1e-8 * np.abs(found.dual).sum()
        and found.gap > 0
    )
    again = svc(Gaussian(2.0), X, y, C=100.0, start=found.dual)
    assert again.converged and again.objective > found.objective


def test_a_callback_stops():
    X, y = large()
    seen = []
    with pytest.warns(RuntimeWarning) as said:
        found = svc(
            Gaussian(2.0),
            X,
            y,
            100.0,
            callback=lambda steps, violation: seen.append(violation) or len(seen) == 2,
        )
    assert len(seen) == 2 and not found.converged and said[0].filename == __file__


@pytest.mark.parametrize(
    "fit",
    [
        lambda k, X, y: svc(k, X, y, max_iter=2),
        lambda k, X, y: svr(k, X, X[:, 0], max_iter=2),
        lambda k, X, y: one_class(k, X, max_iter=2),
        lambda k, X, y: svc_multiclass(k, X, np.arange(len(X)) % 3, max_iter=2),
        lambda k, X, y: svc_multiclass(
            k, X, np.arange(len(X)) % 3, strategy="one-vs-rest", max_iter=2
        ),
        lambda k, X, y: svc(k, strict.asarray(X), y, max_iter=2),
    ],
)
def test_a_warning_names_the_line_that_called_the_package(fit):
    X, y, *_ = problem(3)
    with pytest.warns(RuntimeWarning, match="not optimal") as said:
        fit(Gaussian(0.5), X, y)
    assert {warning.filename for warning in said} == {__file__}


@pytest.mark.parametrize("solve, given", [(svc, {}), (svc_path, {"Cs": [1.0]})])
def test_progress(solve, given, capsys):
    X, y = large()
    solve(Gaussian(2.0), X, y, **given)
    assert not capsys.readouterr().err
    solve(Gaussian(2.0), X, y, **given, progress=True)
    assert "violation" in capsys.readouterr().err


def test_a_callback_beside_a_progress_line_hears_the_same(capsys):
    "First the number of steps, then the violation, which falls to tol at the end"
    heard = {}
    X, y = large()
    for progress in (False, True):
        rows = heard[progress] = []
        svc(
            Gaussian(2.0),
            X,
            y,
            callback=lambda *told, rows=rows: rows.append(told),
            progress=progress,
        )
    assert heard[True] == heard[False] and len(heard[True]) > 1
    steps, violations = zip(*heard[True], strict=True)
    assert all(float(n).is_integer() for n in steps) and list(steps) == sorted(steps)
    assert violations[-1] < violations[0]


# ---------------------------------------------------------------- degenerate data


def test_equal_points_with_both_labels():
    X = np.repeat(np.random.default_rng(0).normal(size=(10, 2)), 2, axis=0)
    y = np.tile([-1, 1], 10)
    found = svc(Gaussian(1.0), X, y, C=3.0)
    np.testing.assert_allclose(found.decision(X), 0, atol=1e-9)
    np.testing.assert_allclose(found.objective, 2 * 3.0 * 10)  # each pair pays 2 C
    with pytest.raises(ConvergenceFailure, match="equal points"):
        svc(Gaussian(1.0), X, y, C=math.inf)


def test_constant_features_take_the_majority():
    found = svc(Gaussian(1.0), np.ones((10, 3)), np.arange(10) < 3, C=2.0)
    assert not found.predict(np.ones((1, 3)))[0]
    np.testing.assert_allclose(found.objective, 2 * 2.0 * 3)


def test_price_to_zero_and_to_infinity():
    X, y, _, _, _ = problem(1)
    y = np.where(X[:, 0] > 0.1, 1, -1)
    least = svc(Gaussian(1.0), X, y, C=1e-10)
    assert least.converged and least.function.norm() < 1e-6
    np.testing.assert_allclose(
        least.objective, 2e-10 * min(np.sum(y > 0), np.sum(y < 0)), rtol=1e-6
    )
    hard = svc(Gaussian(1.0), X, y, C=math.inf, tol=1e-5)
    almost = svc(Gaussian(1.0), X, y, C=1e9, tol=1e-5)
    np.testing.assert_allclose(
        hard.decision(X), almost.decision(X), atol=1e-3 * np.abs(hard.decision(X)).max()
    )
    assert (y * hard.decision(X)).min() >= 1 - 1e-4 and hard.gap < 1e-3


def test_two_points_and_weights_zero():
    two = svc(Gaussian(1.0), [[0.0], [1.0]], ["no", "yes"])
    assert list(two.predict([[0.0], [1.0]])) == ["no", "yes"] and two.labels == ("no", "yes")
    X, y, _, _, _ = problem(2)
    w = np.where(np.arange(len(X)) % 3, 1.0, 0.0)
    np.testing.assert_allclose(
        svc(Gaussian(1.0), X, y, weights=w, tol=1e-8).decision(X),
        svc(Gaussian(1.0), X[w > 0], y[w > 0], tol=1e-8).decision(X),
        atol=1e-6,
    )
    hard = np.where(X[:, 0] > 0, 1, -1)
    kept = svc(Gaussian(1.0), X, hard, C=math.inf, weights=w, tol=1e-6)
    assert (kept.dual[w == 0] == 0).all()
    flat = svr(Gaussian(1.0), X, np.full(len(X), 3.0))
    assert len(flat.support) == 0 and (flat.predict(X) == 3.0).all()
    assert (
        one_class(Gaussian(1.0), X, 1.0).converged
        and one_class(Gaussian(1.0), X[:1], 0.5).converged
    )


def test_a_path_is_its_machines_found_in_fewer_steps():
    X, y, _, bandwidth, _ = problem(3)
    k, prices, w = Gaussian(bandwidth), np.geomspace(0.1, 100, 20), np.linspace(0.5, 2, len(X))
    path = svc_path(k, X, y, prices, w)
    cold = [svc(k, X, y, C, w) for C in prices]
    objectives = [[machine.objective for machine in machines] for machines in (path, cold)]
    np.testing.assert_allclose(*objectives, rtol=2e-3)
    steps = [sum(machine.iterations for machine in machines) for machines in (path, cold)]
    assert steps[0] < 0.9 * steps[1]


def test_class_weights_are_libsvms():
    X, y, _, _, _ = problem(4)
    peer = SVC(gamma=0.5, class_weight={1: 3.0, -1: 0.5}, tol=1e-7).fit(X, y)
    ours = svc(Gaussian(1.0), X, y, class_weights={1: 3.0, -1: 0.5}, tol=1e-7)
    np.testing.assert_allclose(ours.decision(X), peer.decision_function(X), atol=1e-4)
    peer = SVC(gamma=0.5, class_weight="balanced", tol=1e-7).fit(X, y)
    np.testing.assert_allclose(
        svc(Gaussian(1.0), X, y, class_weights="balanced", tol=1e-7).decision(X),
        peer.decision_function(X),
        atol=1e-4,
    )


@pytest.mark.parametrize(
    "labels", [["b", "a"], [True, False], [7, -3], [1.5, 0.5], [np.int8(1), np.int8(0)]], ids=str
)
def test_labels_of_any_type(labels):
    X, y, _, _, _ = problem(5)
    mine = np.array(labels)[(y > 0).astype(int)]
    found = svc(Gaussian(1.0), X, mine)
    assert found.labels[1] == max(labels) and set(found.predict(X)) <= set(labels)
    assert ((found.decision(X) >= 0) == (found.predict(X) == max(labels))).all()


def test_points_are_row_numbers_and_float32():
    X, y, _, _, _ = problem(6)
    K = Gaussian(1.0)(X)
    by_number = svc(Precomputed(K), np.arange(len(X)), y)
    np.testing.assert_allclose(
        by_number.decision(np.arange(len(X))), svc(Gaussian(1.0), X, y).decision(X), atol=1e-9
    )
    low = svc(Gaussian(1.0), X.astype(np.float32), y)
    np.testing.assert_allclose(low.decision(X), svc(Gaussian(1.0), X, y).decision(X), atol=5e-3)


# ---------------------------------------------------------------- bad input


class Tanh(Kernel):
    "Indefinite, and does not say so"

    def _gram(self, X, Y, xp):
        return xp.tanh(X @ Y.T - 1)


X, y, t, _, _ = problem(0)
k = Gaussian(1.0)
BAD = {
    "one label": (lambda: svc(k, X, np.ones(len(X))), ValueError, "one label only"),
    "three labels": (lambda: svc(k, X, np.arange(len(X)) % 3), ValueError, "svc_multiclass"),
    "labels nan": (lambda: svc(k, X, y * np.nan), ValueError, "y is not finite"),
    "labels in a column": (lambda: svc(k, X, y[:, None]), ValueError, r"y has shape \(\d+, 1\)"),
    "too few labels": (lambda: svc(k, X, y[:-1]), ValueError, r"y has shape \(\d+,\), but X has"),
    "mixed labels": (
        lambda: svc(k, X[:2], np.array(["a", 1], dtype=object)),
        TypeError,
        "mixes labels",
    ),
    "C zero": (lambda: svc(k, X, y, 0), ValueError, "C = 0"),
    "C nan": (lambda: svc(k, X, y, math.nan), ValueError, "C = nan"),
    "C minus infinity": (lambda: svc(k, X, y, -math.inf), ValueError, "C = -inf"),
    "C text": (lambda: svc(k, X, y, "1"), TypeError, "C = '1'"),
    "tol": (lambda: svc(k, X, y, tol=0), ValueError, "tol = 0"),
    "weights": (lambda: svc(k, X, y, weights=-np.ones(len(X))), ValueError, "least entry -1"),
    "weights of one class": (lambda: svc(k, X, y, weights=(y > 0) * 1.0), ValueError, "weight 0"),
    "class weights": (lambda: svc(k, X, y, class_weights={5: 1.0}), ValueError, "class_weights"),
    "points nan": (lambda: svc(k, X * np.nan, y), ValueError, "X is not finite"),
    "no kernel": (lambda: svc(np.dot, X, y), TypeError, "not a Kernel"),
    "sigmoid": (lambda: svc(Sigmoid(), X, y), IndefiniteKernel, "cᵀKc"),
    "tanh": (lambda: svr(Tanh(), X, t), IndefiniteKernel, "cᵀKc"),
    "tanh, fenced": (lambda: one_class(Tanh(), X), IndefiniteKernel, "cᵀKc"),
    "start": (lambda: svc(k, X, y, start=np.ones(3)), ValueError, "start has shape"),
    "columns": (lambda: svc(k, X, y).decision(X[:, :1]), ValueError, "columns"),
    "eps": (lambda: svr(k, X, t, eps=-1), ValueError, "eps = -1"),
    "C infinite": (lambda: svr(k, X, t, C=math.inf), ValueError, "C = inf"),
    "targets": (lambda: svr(k, X, np.c_[t, t]), ValueError, "one column at a time"),
    "target text": (lambda: svr(k, X, ["a"] * len(X)), TypeError, "y holds text"),
    "nu zero": (lambda: one_class(k, X, 0), ValueError, "nu = 0"),
    "nu above one": (lambda: one_class(k, X, 1.1), ValueError, "nu = 1.1"),
    "strategy": (lambda: svc_multiclass(k, X, y, strategy="all"), ValueError, "one-vs-rest"),
    "one class among many": (
        lambda: svc_multiclass(k, X, np.zeros(len(X))),
        ValueError,
        "one label only",
    ),
    "prices": (lambda: svc_path(k, X, y, [1, -1]), ValueError, r"Cs\[1\] = -1"),
    "features nan": (
        lambda: svm_primal(lambda X: X * np.nan, X, y),
        ValueError,
        "not finite everywhere",
    ),
    "sparse, hard": (
        lambda: svm_primal(lambda X: csr_array(X), X, y, C=math.inf),
        ValueError,
        "finite C",
    ),
    "features huge": (
        lambda: svm_primal(lambda X: X * 1e200, X, y),
        ValueError,
        "rescale the features",
    ),
    "no features": (lambda: svm_primal(None, X, y), TypeError, "phi is of type NoneType"),
    "no iterations": (lambda: svm_primal(np.abs, X, y, max_iter=0), ValueError, "max_iter = 0"),
    "other columns": (
        lambda: svm_primal(np.abs, X, y).decision(np.c_[X, X]),
        ValueError,
        "columns",
    ),
    "labels ragged": (lambda: svc(k, X[:2], [[1], [2, 3]]), ValueError, "rows of unequal length"),
    "labels masked": (lambda: svc(k, X, np.ma.masked_less(y, 0)), TypeError, "masked"),
    "labels no time": (
        lambda: svc(k, X[:2], np.array(["2020-01-01", "NaT"], dtype="M8[D]")),
        ValueError,
        "missing entries",
    ),
    "price times weight": (
        lambda: svc(k, X, y, 1e10, weights=np.full(len(X), 1e300)),
        ValueError,
        "weight .* = inf",
    ),
    "price too small": (
        lambda: svr(k, X, t, weights=np.full(len(X), 1e-310)),
        ValueError,
        "≥ 1e-30",
    ),
    "tol below rounding": (
        lambda: svc(k, X, y, tol=1e-300),
        ConvergenceFailure,
        "cannot be rounded",
    ),
    "callback": (lambda: svc(k, X, y, callback=3), TypeError, "callback is of type int"),
    "distances": (lambda: svc(k, X, y, distances=3), TypeError, "PairDistances"),
    "distances of others": (
        lambda: svc(k, X, y, distances=PairDistances(k, X[:5])),
        ValueError,
        "make new ones",
    ),
    "prices text": (lambda: svc_path(k, X, y, ["a"]), TypeError, r"Cs\[0\] = 'a'"),
    "no prices": (lambda: svc_path(k, X, y, []), ValueError, "Cs is empty"),
    "path from a start": (lambda: svc_path(k, X, y, [1.0], start=y), TypeError, "start"),
    "drawn on other points": (lambda: svc(k, X, y).plot(X[:3], y[:3]), ValueError, "made from"),
    "law, other points": (lambda: check_kkt(svc(k, X, y), X[:3], y[:3]), ValueError, "made from"),
    "law, fewer labels": (
        lambda: check_kkt(svc(k, X, y), X, y[1:]),
        ValueError,
        r"y has shape .*; pass \(",
    ),
    "law, fewer measurements": (
        lambda: check_kkt(svr(k, X, t, 0.5, 0.2), X, t[1:], 0.5, eps=0.2),
        ValueError,
        r"y has shape .*; pass \(",
    ),
    "law, no labels": (lambda: check_kkt(svc(k, X, y), X), ValueError, "pass y and C"),
    "law, no machine": (lambda: check_kkt(None, X, y), TypeError, "machine is of type NoneType"),
    "law, other labels": (lambda: check_kkt(svc(k, X, y), X, y + 3), LawBroken, "labels"),
    "target huge": (lambda: relevance_machine(k, X, t * 1e200), ValueError, "< 1e.140"),
    "relevance max_iter": (
        lambda: relevance_machine(k, X, t, max_iter=0),
        ValueError,
        "max_iter = 0",
    ),
    "features of other points": (
        lambda: svm_primal(lambda X: X[:3], X, y),
        ValueError,
        r"phi\(X\) has shape",
    ),
    "features far from 0": (
        lambda: svm_primal(lambda X: X + 1e9, X, y),
        ConvergenceFailure,
        "take away the mean",
    ),
    "features of one class": (
        lambda: svm_primal(lambda X: X, X, np.ones(len(X))),
        ValueError,
        "one label only",
    ),
    "constant target": (lambda: relevance_machine(k, X, np.ones(len(X))), ValueError, "varies"),
    "no perceptron": (
        lambda: bayes_point(Linear(), X, np.arange(len(X)) % 2, max_epochs=5),
        ConvergenceFailure,
        "mistakes",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    call, error, words = BAD[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(error, match=words):
            call()


@pytest.mark.second_route("check_kkt", "impostors refused")
def test_the_law_rejects_mutants():
    machine = svc(k, X, y, 2.0, tol=1e-6)
    check_kkt(machine, X, y, 2.0, tol=1e-5)
    some = machine.support[0]
    nudged = machine.dual.copy()
    nudged[some] *= 0.9
    for mutant, C in (
        (replace(machine, offset=machine.offset + 0.01), 2.0),
        (machine, 1.0),
        (machine, 4.0),
        (replace(machine, function=1.01 * machine.function), 2.0),
        (replace(machine, dual=nudged), 2.0),
        (replace(machine, dual=-machine.dual, function=-machine.function), 2.0),
    ):
        with pytest.raises(LawBroken):
            check_kkt(mutant, X, y, C, tol=1e-5)
    with pytest.raises(LawBroken):
        check_kkt(one_class(k, X, 0.3), X, nu=0.5)


class Longer(RKHSFunction):
    "A norm that is off, by so much in its square"

    by = 0.0

    def norm(self):
        return math.sqrt(super().norm() ** 2 + self.by)


def test_the_law_refuses_three_times_its_tolerance(monkeypatch):
    "Each line of (7.5) alone: three times what it allows is refused, a third of it is not"
    C, tol = 2.0, 1e-4
    machine = svc(k, X, y, C, tol=1e-9)
    f, b = machine.function, machine.dual
    size, inner = np.abs(b).sum(), np.flatnonzero((np.abs(b) > 0.1) & (np.abs(b) < C - 0.1))

    def moved(i, by):
        "A coefficient in both places where it stands"
        dual, alpha = b.copy(), f.alpha.copy()
        dual[i] += by
        alpha[machine.support == i] += by
        return replace(machine, dual=dual, function=RKHSFunction(k, f.Z, alpha))

    zero = next(i for i in range(len(y)) if b[i] == 0 and y[i] > 0)
    full = next(i for i in range(len(y)) if b[i] >= C and y[i] > 0)
    monkeypatch.setattr(Longer, "by", 0.0)
    longer = replace(machine, function=Longer(k, f.Z, f.alpha))
    for times, refused in ((0.3, False), (3.0, True)):
        box, total, gap = times * 1e-9 * C, times * 1e-7 * size, times * 2 * tol * C * len(y)
        outside = replace(machine, dual=b - box * (np.arange(len(y)) == zero))
        wrong = [(moved(full, box), "y b"), (outside, "y b"), (moved(inner[0], total), "its value")]
        wrong.append(
            (replace(machine, function=(1 + times * 1e-9 * size / np.abs(f(X)).max()) * f), "f = Σ")
        )
        wrong += [
            (replace(machine, offset=machine.offset + s * times * tol), "right side")
            for s in (1, -1)
        ]
        for mutant, words in wrong:
            if refused:
                with pytest.raises(LawBroken, match=words):
                    check_kkt(mutant, X, y, C, tol=tol)
            else:
                check_kkt(mutant, X, y, C, tol=tol)
        for by in (2 * gap, -2 * gap):
            Longer.by = by
            if refused:
                with pytest.raises(LawBroken, match="P = D"):
                    check_kkt(longer, X, y, C, tol=tol)
            else:
                check_kkt(longer, X, y, C, tol=tol)


def test_fewer_relevant_points_and_the_evidence_is_right():
    rng = np.random.default_rng(1)
    u = np.linspace(-5, 5, 60)
    values = 3 * np.sinc(u) + 7 + 0.1 * rng.normal(size=60)
    found = relevance_machine(Gaussian(1.0), u, values)
    assert len(found.support) < 15 and 0.003 < found.noise < 0.03
    mean, std = found.predict(u)
    assert np.mean(np.abs(mean - values) < 2 * std) > 0.85
    scaled = relevance_machine(Gaussian(1.0), u, 1000 * values)
    np.testing.assert_allclose(scaled.predict(u)[0], 1000 * mean, rtol=1e-6)


@pytest.mark.parametrize("strategy", ["one-vs-one", "one-vs-rest"])
def test_many_classes_with_weights(strategy):
    w = np.random.default_rng(1).uniform(0, 3, len(X)).round()
    classes = np.arange(len(X)) % 3
    with_weights = svc_multiclass(k, X, classes, 2.0, strategy, weights=w, tol=1e-8)
    rows = np.repeat(np.arange(len(X)), w.astype(int))  # weight 2 is the point twice
    repeated = svc_multiclass(k, X[rows], classes[rows], 2.0, strategy, tol=1e-8)
    np.testing.assert_allclose(with_weights.function(X), repeated.function(X), atol=1e-5)
    assert not with_weights.dual[w == 0].any()


@pytest.mark.second_route("RelevanceMachine", "relevance_machine", "SciPy's normal law")
def test_the_evidence_is_that_of_the_marginal_normal_law():
    rng = np.random.default_rng(2)
    u = np.linspace(-3, 3, 25)
    values = np.sin(u) + 0.1 * rng.normal(size=25)
    found = relevance_machine(Gaussian(1.0), u, values)
    P = np.column_stack([np.ones(25), Gaussian(1.0)(u, u[found.support])])
    prior = np.linalg.inv(np.linalg.inv(found.covariance) - P.T @ P / found.noise)
    law = multivariate_normal(
        np.full(25, values.mean()), P @ prior @ P.T + found.noise * np.eye(25)
    )
    np.testing.assert_allclose(found.log_evidence, law.logpdf(values), rtol=1e-6)
    mean, std = found.predict(u)
    w = found.covariance @ P.T @ (values - values.mean()) / found.noise
    np.testing.assert_allclose(mean, values.mean() + P @ w, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(std**2, found.noise + np.diag(P @ found.covariance @ P.T), rtol=1e-9)


def test_at_the_end_the_evidence_is_stationary_in_its_noise():
    rng = np.random.default_rng(0)
    P = np.column_stack([np.ones(60), rng.normal(size=(60, 8))])
    t = P @ [1.0, 2.0, -1.0, 0, 0, 0.5, 0, 0, 0] + 0.3 * rng.normal(size=60)
    kept, a, noise, change = _largest_evidence(P, t, 1e-10, 10_000)
    assert change < 1e-9
    at = [_log_evidence(P[:, kept], t, a, noise * s) for s in (1 - 1e-4, 1.0, 1 + 1e-4)]
    assert abs(at[2] - at[0]) < 1e-3 * (2 * at[1] - at[0] - at[2]) / 1e-4 and max(at) == at[1]


def test_the_search_for_the_evidence_ends_where_it_is_still():
    "One round more is allowed, and none is taken"
    u = np.linspace(-3, 3, 40)
    values = np.sin(2 * u) + 0.1 * np.random.default_rng(1).normal(size=40)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first, more = (relevance_machine(Gaussian(1.0), u, values, n, 0.1) for n in (500, 501))
    assert first.noise == more.noise and np.array_equal(first.covariance, more.covariance)


def test_where_no_column_helps_the_answer_is_the_mean_and_equally_sure_everywhere():
    u = np.linspace(-3, 3, 30)
    values = 2.0 + np.resize([1.0, -1.0], 30)
    found = relevance_machine(Gaussian(3.0), u, values)
    assert len(found.support) == 0
    mean, std = found.predict(np.linspace(-5, 5, 21))
    np.testing.assert_allclose(mean, 2.0, rtol=1e-12)
    assert np.ptp(std) < 1e-12 and 0.999 < std[0] ** 2 < 1.001 * (1 + 1 / 30)


def test_exact_targets_and_empty_columns():
    found = relevance_machine(Linear(), X[:, 0], 3 * X[:, 0], tol=0.1)
    np.testing.assert_allclose(found.predict(X[:, 0])[0], 3 * X[:, 0], atol=1e-3)
    assert len(relevance_machine(Linear(), 0 * X, t).support) == 0
    with pytest.warns(RuntimeWarning, match="Raise max_iter") as said:
        relevance_machine(k, X, t, max_iter=1)
    assert said[0].filename == __file__


def test_a_machine_of_few_points_keeps_within_a_small_budget():
    X, y = large(690, 3)
    whole = svc(Gaussian(1.0), X, y)
    with settings.using(result_mib=3):
        few = svc(Gaussian(1.0), X, y)
    np.testing.assert_allclose(few.objective, whole.objective, rtol=1e-5)


@pytest.mark.parametrize("unit", [2.0**-200, 2.0**200])
def test_a_small_budget_leaves_no_unit_of_the_points_out(unit):
    "Also those that single precision, in which points are looked for, does not hold"
    X, y = large(690, 3)
    with settings.using(result_mib=3):
        plain, other = svc(Gaussian(1.0), X, y), svc(Gaussian(unit), unit * X, y)
    np.testing.assert_allclose(other.objective, plain.objective, rtol=1e-5)
    assert (other.predict(unit * X) == plain.predict(X)).mean() > 0.99


def test_balanced_classes_do_not_count_what_weighs_nothing():
    rng = np.random.default_rng(5)
    X, w = rng.normal(size=(80, 1)), np.repeat([0.0, 1.0], 40)
    y = np.where(rng.normal(size=80) + X[:, 0] + np.repeat([3, 0], 40) > 0, 1, -1)
    few = svc(Gaussian(1.0), X[40:], y[40:], class_weights="balanced")
    all_ = svc(Gaussian(1.0), X, y, weights=w, class_weights="balanced")
    twice = svc(Gaussian(1.0), X, y, weights=2 * w, class_weights="balanced", C=0.5)
    for machine in (all_, twice):
        np.testing.assert_allclose(machine.decision(X), few.decision(X), atol=1e-2)


def test_a_small_budget_for_results_computes_rows():
    X, y = large(2000, 3)
    whole = svc(Gaussian(1.0), X, y)
    with settings.using(result_mib=12):
        few = svc(Gaussian(1.0), X, y)
        assert PairDistances(Gaussian(1.0), X, single=True).whole is None
    np.testing.assert_allclose(few.objective, whole.objective, rtol=1e-5)


@pytest.mark.parametrize("n, C", [(2, 1e-3), (2, 100.0), (3, 1.0), (40, 1e-6), (40, 1e4)])
def test_nasty_data_with_weights_is_libsvms(n, C):
    rng = np.random.default_rng(n)
    X = np.repeat(rng.normal(size=(n, 2)) * [1, 30], 2, axis=0)[:n]
    y = np.where(np.arange(n) % 7 == 0, 1, -1)
    w = rng.uniform(0.1, 5, n)
    ours = svc(Gaussian(2.0), X, y, C, weights=w, class_weights="balanced", tol=1e-8)
    total = {label: w[y == label].sum() for label in (-1, 1)}  # a weight is a repetition, here too
    each = {label: w.sum() / 2 / total[label] for label in total}
    peer = SVC(C=C, gamma=1 / 8, class_weight=each, tol=1e-8).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(
        ours.function(X), peer.decision_function(X) - peer.intercept_[0], atol=1e-5 * min(1, C)
    )
    b, K = coefficients(peer, n), Gaussian(2.0)(X)
    np.testing.assert_allclose(ours.objective, y @ b - b @ K @ b / 2, rtol=1e-6)
    factor = np.array([each[label] for label in y])
    check_kkt(ours, X, y, C, weights=w * factor, tol=1e-6)
    fit = SVR(C=C, gamma=1 / 8, epsilon=0.2, tol=1e-8).fit(X, X[:, 0], sample_weight=w)
    line = svr(Gaussian(2.0), X, X[:, 0], C, 0.2, weights=w, tol=1e-8)
    np.testing.assert_allclose(
        line.function(X), fit.predict(X) - fit.intercept_[0], atol=1e-5 * min(1, C)
    )


def test_the_gap_bounds_the_distance_to_the_optimum():
    best = svc(k, X, y, 5.0, tol=1e-9).objective
    for steps in (1, 5, 20, 50):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            partial = svc(k, X, y, 5.0, max_iter=steps)
        f = partial.function(X)
        primal = partial.dual @ f / 2 + 5.0 * np.maximum(0, 1 - y * (f + partial.offset)).sum()
        assert partial.objective <= best * (1 + 1e-9) <= primal * (1 + 1e-8)
        np.testing.assert_allclose(
            partial.gap, (primal - partial.objective) / max(1, primal), rtol=1e-9, atol=1e-12
        )


def test_every_search_ends(monkeypatch):
    monkeypatch.setattr(smo, "_PATIENCE", 1000)
    with pytest.warns(RuntimeWarning, match="feasible, but not optimal.*smaller C"):
        points = np.random.default_rng(0).normal(
            size=10
        )  # which overlap, and a box far beyond them
        found = svc(Linear(), points, np.arange(10) % 2, C=1e8)
    assert found.iterations == 1000 + 10 * 1000 and not found.converged and found.gap > 0.9


@pytest.mark.second_route("bayes_point", "known norms")
def test_perceptrons_are_normalised_and_offsets_averaged():
    labels = np.where(X[:, 0] > 0, 1, -1)
    np.testing.assert_allclose(bayes_point(Gaussian(0.3), X, labels, samples=1).norm(), 1.0)
    assert bayes_point(Gaussian(0.3), X, labels, samples=5).norm() < 1.0
    box = BoxProblem(np.zeros(3), np.zeros(3), np.ones(3))
    np.testing.assert_allclose(box.offset(np.full(3, 0.5), np.array([1.0, 2.0, 6.0])), 3.0)
    np.testing.assert_allclose(
        box.offset(np.array([0.0, 1.0, 1.0]), np.array([1.0, 2.0, 6.0])), 1.5
    )


def test_coefficients_at_the_price_stay_there_when_features_are_rescaled():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 3))
    y = np.where(X[:, 0] + rng.normal(size=300) > 0, 1, -1)
    for price in np.linspace(5, 10, 12):  # p * s² / s² is another number for some of them
        machine = svm_primal(lambda X: X, X, y, C=price)
        assert machine.violation <= 1e-3 and machine.gap < 1e-3
        assert np.sum(np.abs(machine.dual) == price) > 50


# ---------------------------------------------------------------- labels and points of any kind


class Column:
    "What a column of a table is: an index of its own, and text that is no array of NumPy's"

    def __init__(self, values):
        self.values = list(values)

    def __len__(self):
        return len(self.values)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=object)

    def __getitem__(self, i):
        raise KeyError(i)


@pytest.mark.parametrize(
    "kind",
    [list, tuple, Column, lambda v: np.array(v, dtype=object)],
    ids=["list", "tuple", "column", "object array"],
)
def test_labels_from_tables(kind):
    names = np.where(y > 0, "good", "bad").tolist()
    machine = svc(k, X, kind(names), 2.0)
    assert machine.labels == ("bad", "good") and (machine.dual == svc(k, X, y, 2.0).dual).all()
    assert set(machine.predict(X)) <= {"bad", "good"}
    assert svc_multiclass(k, X, kind(names)).classes.tolist() == ["bad", "good"]
    assert svm_primal(lambda X: X, X, kind(names)).labels == ("bad", "good")
    assert svc_path(k, X, kind(names), [1.0])[0].labels == ("bad", "good")
    assert bayes_point(k, X[:20], kind(names[:20])).k == k
    with pytest.raises(ValueError, match="missing"):
        svc(k, X, kind([None, *names[1:]]))


@pytest.mark.parametrize(
    "call",
    [
        lambda k: svc(k, X, y),
        lambda k: svc_path(k, X, y, [0.1, 1.0]),
        lambda k: svr(k, X, t),
        lambda k: one_class(k, X),
        lambda k: svc_multiclass(k, X, np.arange(len(X)) % 3),
        lambda k: svc_multiclass(k, X, np.arange(len(X)) % 3, strategy="one-vs-rest"),
        lambda k: relevance_machine(k, X, t),
        lambda k: bayes_point(k + 1e-3 * Gaussian(0.01), X[:30], y[:30]),
    ],
)
def test_each_call_looks_at_its_points_once(call):
    assert counted(call) == (1, 1)


def test_each_prediction_looks_at_its_points_once():
    for machine in (
        svc(Counted(1.0), X, y),
        svr(Counted(1.0), X, t),
        relevance_machine(Counted(1.0), X, t),
    ):
        Counted.looks.clear()
        machine.predict(X), machine(X)
        assert len(Counted.looks) == 2


WORDS = [
    "".join(np.random.default_rng(i).choice(list("abcd"), 6, p=[0.4, 0.3, 0.2, 0.1]))
    for i in range(30)
]


@pytest.mark.parametrize(
    "fit",
    [
        lambda k, X: svc(k, X, first),
        lambda k, X: svc(k, X, first, C=5.0, weights=np.arange(30) % 3, start=np.ones(30)),
        lambda k, X: svc_path(k, X, first, [0.1, 1.0])[-1],
        lambda k, X: svr(k, X, lengths),
        lambda k, X: one_class(k, X, 0.3),
        lambda k, X: svc_multiclass(k, X, np.arange(30) % 3),
        lambda k, X: relevance_machine(k, X, lengths),
    ],
)
def test_words_are_points(fit):
    k, G = Letters(), Precomputed(Letters()(WORDS))
    ours, theirs = fit(k, WORDS), fit(G, np.arange(30))
    assert np.array_equal(ours.support, theirs.support) and ours.k == k
    np.testing.assert_allclose(ours(WORDS[:7]), theirs(np.arange(7)), atol=1e-9)
    assert np.array_equal(ours.predict(WORDS)[0], theirs.predict(np.arange(30))[0])
    assert "\n" not in repr(ours)
    if hasattr(ours, "labels"):
        assert ours.function.norm() == pytest.approx(theirs.function.norm())


first = [word < "aca" for word in WORDS]
lengths = np.array([word.count("a") / 6 for word in WORDS])


def test_a_machine_is_called_and_added_an_offset():
    for machine in (
        svc(k, X, y),
        svr(k, X, t),
        one_class(k, X),
        svc_multiclass(k, X, np.arange(len(X)) % 3),
    ):
        np.testing.assert_array_equal(machine(X), machine.decision(X))
        np.testing.assert_allclose(machine(X), machine.function(X) + machine.offset)
        assert machine.k is k and not machine.dual.flags.writeable


# ---------------------------------------------------------------- from parts, by libsvm, and verified


def two_box(y, each):
    return BoxProblem(y, np.where(y > 0, 0.0, -each), np.where(y > 0, each, 0.0))


def ring(n, d=4, noise=0.05):
    "Few support vectors: inside or outside of a sphere"
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, d))
    return X, np.where(np.linalg.norm(X, axis=1) + noise * rng.normal(size=n) > d**0.5, 1.0, -1.0)


def test_jumps_save_most_steps_of_hard_margins():
    "libsvm takes pair steps alone; of single problems some need nearly as many"
    ours, theirs = 0, 0
    for seed in range(6):
        X = np.random.default_rng(seed).normal(size=(200, 2))
        y = np.sign(np.sin(2 * X[:, 0]) + X[:, 1])
        ours += svc(Gaussian(2.0), X, y, math.inf).iterations
        theirs += SVC(C=1e12, gamma=1 / 8).fit(X, y).n_iter_[0]
    assert ours < theirs / 2


@pytest.mark.parametrize(
    "k", [Gaussian(1.5), Linear(), Polynomial(3, offset=0.5, scale=0.2), Matern(1.5, 2.0)], ids=str
)
@pytest.mark.parametrize("weighted", [False, True])
def test_libsvm_below_scikit_learn_is_its_class(k, weighted):
    X, y, t, _, _ = problem(3)
    each = np.random.default_rng(0).uniform(0.5, 2, len(X)) if weighted else np.full(len(X), 2.0)
    P, theirs = k.points(X), in_libsvm(k, X)
    points, options = libsvm._for_libsvm(k, P, theirs)
    common = dict(C=each.max(), tol=1e-4, **options)
    for box, target, peer in (
        (two_box(y.astype(float), each), y, SVC(**common)),
        (BoxProblem(t, -each, each, 0.1), t, SVR(epsilon=0.1, **common)),
    ):
        b, steps, f = libsvm.by_libsvm(k, P, box, 1e-4, theirs)
        if theirs is None:
            np.testing.assert_allclose(f, k(X) @ b, atol=1e-12 * np.abs(b).sum())
        else:
            assert f is None
        peer.fit(points, target, each / each.max())
        np.testing.assert_allclose(b, coefficients(peer, len(X)), atol=1e-9)
        assert steps == np.sum(peer.n_iter_) > 0 and abs(b.sum()) < 1e-9 * np.abs(b).sum()
        assert (
            box.violation(b, box.p - k(X) @ b) < 3e-4
            and (box.lo <= b).all()
            and (b <= box.hi).all()
        )
        assert (np.abs(b) == each).any()  # at the price, to the last digit


def test_libsvm_takes_the_same_steps_wherever_the_points_lie():
    "Eighths beside 2²⁶: their squares have more digits than floats, their mean has not"
    X, y = ring(256)
    X, k, box = np.round(8 * X) / 8, Gaussian(1.5), two_box(y, np.full(256, 2.0))
    (b, steps, _), (far, as_many, _) = (
        libsvm.by_libsvm(k, k.points(A), box, 1e-4, in_libsvm(k, A)) for A in (X, X + 2.0**26)
    )
    assert steps == as_many
    np.testing.assert_array_equal(b, far)


def test_pairs_find_what_libsvm_finds_should_a_release_move_it(monkeypatch):
    X, y = ring(300)
    place, k = np.arange(300) % 4, Gaussian(2.0)
    ways = (
        lambda: svc(k, X, y, 10.0),
        lambda: svr(k, X, X[:, 0], 1.0, 0.1),
        lambda: one_class(k, X, 0.2),
        lambda: svc_multiclass(k, X + place[:, None], place, 3.0),
    )
    theirs = [way() for way in ways]
    monkeypatch.setitem(sys.modules, "sklearn.svm._libsvm", None)
    monkeypatch.setattr(subsets, "by_libsvm", None)
    monkeypatch.setattr(subsets, "_libsvm", None)
    for way, right in zip(ways, theirs, strict=True):
        found = way()
        assert found.converged
        np.testing.assert_allclose(found(X), right(X), atol=0.02)


@pytest.mark.parametrize("k", [Gaussian(2.0), Matern(1.5, 3.0)], ids=str)
def test_parts_find_the_machine_of_the_whole(k):
    X, y = ring(8000)
    seen = []
    found = svc(k, X, y, C=10.0, callback=lambda steps, violation: seen.append(violation))
    whole = solve_box(PairDistances(k, k.points(X), True), two_box(y, np.full(8000, 10.0)))
    assert len(found.support) < 800 and seen[-1] <= 1e-3 and found.violation <= 1e-3
    assert found.objective == pytest.approx(
        two_box(y, np.full(8000, 10.0)).dual(whole.b, whole.f), rel=1e-5
    )
    check_kkt(found, X, y, 10.0)


@pytest.mark.parametrize("n", [900, 4000])
def test_parts_for_regression_and_points_of_weight_zero(n):
    rng = np.random.default_rng(0)
    X, w = rng.uniform(-3, 3, (n, 1)), np.arange(n) % 5 > 0
    t = np.sinc(X[:, 0]) + 0.05 * rng.normal(size=n)
    k = Gaussian(0.7)
    found, peer = (
        svr(k, X, t, 1.0, 0.2, weights=w),
        SVR(C=1.0, gamma=0.5 / 0.49, epsilon=0.2).fit(X[w], t[w]),
    )
    assert 0 < len(found.support) < 400 and not found.dual[~w].any()
    np.testing.assert_allclose(found.predict(X), peer.predict(X), atol=5e-3)
    check_kkt(found, X, t, 1.0, eps=0.2, weights=w * 1.0)


def test_a_stop_between_parts_is_honoured():
    X, y = ring(8000)
    with pytest.warns(RuntimeWarning, match="feasible, but not optimal"):
        found = svc(Gaussian(2.0), X, y, 10.0, callback=lambda steps, violation: True)
    assert not found.converged and found.violation > 1e-3 and abs(found.dual.sum()) < 1e-8
    assert svc(Gaussian(2.0), X, y, 10.0).objective > found.objective


@pytest.mark.parametrize("by", ["its answer", "Ctrl-C"])
def test_who_watches_the_parts_is_not_asked_after_the_stop(by):
    X, y = ring(8000)
    seen = []

    def report(steps, violation):
        seen.append(steps)
        if by == "Ctrl-C" and len(seen) == 1:
            raise KeyboardInterrupt
        return len(seen) == 1

    with pytest.warns(RuntimeWarning, match="feasible, but not optimal"):
        found = svc(Gaussian(2.0), X, y, 10.0, callback=report)
    assert seen == [found.iterations] and not found.converged


@pytest.mark.parametrize("n", [300, 5000])
def test_what_libsvm_leaves_is_finished_here(n, monkeypatch):
    X, y = ring(n)
    k, right = Gaussian(2.0), svc(Gaussian(2.0), X, y, 10.0, tol=1e-3)
    honest = libsvm.by_libsvm
    monkeypatch.setattr(subsets, "by_libsvm", lambda k, X, box, *_: honest(k, X, box, 0.3))
    found = svc(Gaussian(2.0), X, y, 10.0, tol=1e-3)
    assert found.converged and found.violation <= 1e-3
    assert found.objective == pytest.approx(right.objective, rel=1e-5)
    np.testing.assert_allclose(found.decision(X), right.decision(X), atol=0.02)
    if n == 300:  # both have their steps counted
        P, box = k.points(X), two_box(y, np.full(n, 10.0))
        b, steps, _ = honest(k, P, box, 0.3)
        assert found.iterations == steps + solve_box(PairDistances(k, P), box, b, 1e-3).iterations


@pytest.mark.parametrize("spread", [1.0, 2.0, 30.0])
def test_libsvm_is_not_asked_for_more_digits_than_it_has(spread):
    "A tolerance of 2e-5 times the spread of p, which counts as 1 at least"
    X, y = ring(40)
    k, box = Gaussian(2.0), BoxProblem(y * spread / 2, np.full(40, -1.0), np.full(40, 1.0))
    for times, is_asked in ((0.9, False), (1.1, True)):
        found = subsets.answered(k, k.points(X), box, times * 2e-5 * spread, None, in_libsvm(k, X))
        assert (found is not None) == is_asked


def test_who_joins_a_part_breaks_its_conditions_most():
    "By plain loops: bᵢ that may rise gains gᵢ − c, bᵢ that may fall c − gᵢ, in a part all over its optimum"
    rng = np.random.default_rng(0)
    X, y = ring(60)
    box, W, K = two_box(y, np.full(60, 1.0)), np.arange(0, 60, 3), Gaussian(2.0)(X)
    b = np.zeros(60)
    b[W] = y[W] * rng.choice([0.0, 0.5, 1.0], len(W))
    g, gain = y - K @ b, {}
    c = g[W][(0 < abs(b[W])) & (abs(b[W]) < 1)].mean()
    for i in range(60):
        gain[i] = max(
            g[i] - c if b[i] < box.hi[i] else -np.inf, c - g[i] if b[i] > box.lo[i] else -np.inf
        )
    outside = [gain[i] for i in range(60) if i not in W and gain[i] > 0]
    tol = float(np.median(outside))
    assert tol / 2 < min(g for g in outside if g > tol / 2) < tol and max(gain[i] for i in W) > tol
    join, violation = subsets._would_join(box, W, b, K @ b, tol)
    wanted = sorted(
        (i for i in range(60) if i not in W and gain[i] > tol / 2), key=gain.get, reverse=True
    )
    assert join.tolist() == wanted and violation == pytest.approx(box.violation(b, g))


def test_the_first_part_chooses_the_way():
    assert (
        subsets._other_way(50_000, 20, 300, 3000, 100, True, False) == "libsvm"
    )  # ten steps a point
    assert subsets._other_way(50_000, 20, 300, 3000, 100, False, False) == ""
    assert subsets._other_way(50_000, 20, 300, 300, 30_000, True, False) == "pairs"
    assert subsets._other_way(50_000, 300, 300, 300, 30_000, False, False) == ""
    assert subsets._other_way(5000, 20, 300, 300, 100, True, False) == ""
    assert (
        subsets._other_way(5000, 20, 300, 300, 1100, True, False) == "libsvm"
    )  # a fifth disagrees
    assert subsets._other_way(5000, 20, 300, 900, 600, True, False) == "libsvm"  # hard, and a tenth
    assert subsets._other_way(5000, 20, 300, 900, 100, True, False) == ""
    assert subsets._other_way(2000, 20, 300, 300, 500, False, True) == "libsvm"  # on the matrix
    assert subsets._other_way(2000, 20, 300, 300, 1500, True, True) == "libsvm"
    assert subsets._other_way(2000, 20, 300, 300, 100, False, True) == ""


@pytest.mark.parametrize("share", [0.3, 0.0], ids=["many support it", "few do"])
@pytest.mark.parametrize("k", [Gaussian(2.0), Matern(1.5, 2.0)], ids=str)
def test_up_to_3000_points_the_matrix_is_made_where_many_support_the_machine(k, share, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 4))
    y = np.where(np.sign(X[:, 0]) * (rng.uniform(size=1500) - share) > 0, 1.0, -1.0)
    honest, calls = libsvm.by_libsvm, []

    def seen(k, X, box, tol, theirs=None):
        calls.append((len(X), theirs))
        return honest(k, X, box, tol, theirs)

    monkeypatch.setattr(subsets, "by_libsvm", seen)
    found = svc(k, X, y, 10.0)
    assert ((1500, None) in calls) == (share > 0) and calls[0][0] < 200
    right = solve_box(PairDistances(k, k.points(X)), two_box(y, np.full(1500, 10.0)), tol=1e-3)
    assert found.converged and found.violation <= 1e-3
    assert found.objective == pytest.approx(
        two_box(y, np.full(1500, 10.0)).dual(right.b, right.f), rel=1e-4
    )


@pytest.mark.parametrize(
    "k, n", [(Gaussian(1.0), 260), (Gaussian(1.0), 1200), (Matern(1.5, 1.0), 260)]
)
def test_all_pairs_at_once(k, n, monkeypatch, d=3):
    rng = np.random.default_rng(n)
    place = rng.integers(0, 7, n)
    X, w = rng.normal(size=(n, d)) + place[:, None] / 2, rng.uniform(0.5, 2, n)
    with monkeypatch.context() as alone:
        alone.setattr(subsets, "climbed", None)  # in its tolerance, libsvm needs no pairs behind it
        ours = svc_multiclass(k, X, place, 3.0, weights=w)
    alone = svc_multiclass(
        k, X, place, 3.0, weights=w, max_iter=10**6
    )  # pairs, one machine after the other
    assert (
        ours.pairs == alone.pairs
        and ours.converged
        and ours.gap == pytest.approx(alone.gap, abs=1e-3)
    )
    np.testing.assert_allclose(ours(X), alone(X), atol=6e-3)
    np.testing.assert_allclose(ours.offset, alone.offset, atol=6e-3)
    assert (ours.dual.sum(axis=0) < 1e-9).all() and (np.abs(ours.dual) <= 3 * w[:, None]).all()
    rows = np.flatnonzero(np.isin(place, ours.pairs[5]))
    one = svc(k, X[rows], place[rows], 3.0, weights=w[rows])
    np.testing.assert_allclose(ours.dual[rows, 5], one.dual, atol=0.1)
    np.testing.assert_allclose((ours(X[rows])[:, 5]), one(X[rows]), atol=6e-3)


def test_a_pair_that_libsvm_leaves_is_finished_alone(monkeypatch):
    rng = np.random.default_rng(0)
    place = np.arange(300) % 5
    X = rng.normal(size=(300, 2)) + place[:, None]
    right = svc_multiclass(Gaussian(1.0), X, place, 5.0)
    honest = libsvm._libsvm
    monkeypatch.setattr(subsets, "_libsvm", lambda *a: honest(*a[:3], 0.4, *a[4:]))
    found = svc_multiclass(Gaussian(1.0), X, place, 5.0)
    assert found.converged and found.gap < 1e-2
    np.testing.assert_allclose(found(X), right(X), atol=6e-3)


def test_pairs_of_which_all_points_are_at_the_price_have_the_middle_for_an_offset():
    "Then f is almost 0, and any offset between −1 and 1 costs the same"
    place = np.arange(30) % 3
    X = np.random.default_rng(0).normal(size=(30, 2))
    found = svc_multiclass(Gaussian(1.0), X, place, 1e-6)
    assert (np.abs(found.dual).sum(axis=0) == pytest.approx(20e-6)) and np.abs(
        found.offset
    ).max() < 1e-4


def test_pairs_converge_only_if_all_do(monkeypatch):
    rng, place = np.random.default_rng(0), np.arange(300) % 5
    k, X = Gaussian(1.0), rng.normal(size=(300, 2)) + place[:, None]
    honest, seen = libsvm._libsvm, []

    def stops_at_once(distances, box, b, tol):
        f = distances.gram_times(b)
        seen.append(box.violation(b, box.p - f))
        return smo.SmoResult(b, f, seen[-1], 0, seen[-1] <= tol)

    monkeypatch.setattr(subsets, "_libsvm", lambda *a: honest(*a[:3], 0.4, *a[4:]))
    monkeypatch.setattr(subsets, "climbed", stops_at_once)
    converged = lambda tol: subsets.all_pairs(k, k.points(X), place, np.full(300, 5.0), tol)[3]  # noqa: E731
    assert converged(1.0) and not seen and not converged(1e-4)
    violations = np.sort(seen)
    assert violations[0] < violations[-1] and not converged(float(violations[:-1].mean()))
    assert not converged(float(violations[-2:].mean())) and not converged(float(violations[0]) / 2)


# ---------------------------------------------------------------- many or sparse features


def sparse_features(n=1200, D=300, seed=0):
    rng = np.random.default_rng(seed)
    F = np.where(rng.random((n, D)) < 0.05, rng.normal(size=(n, D)), 0.0)
    return F, np.where(F @ rng.normal(size=D) + 0.3 * rng.normal(size=n) > 0, "yes", "no")


@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_features_give_the_dense_machine(weighted):
    F, names = sparse_features()
    w = np.random.default_rng(1).integers(0, 3, len(F)) * 1.0 if weighted else None
    options = dict(C=2.0, weights=w, class_weights={"yes": 2.0})
    sparse, dense = (
        svm_primal(phi, F, names, **options) for phi in (lambda X: csr_array(X), lambda X: X)
    )
    assert sparse.converged and sparse.violation <= 1e-3 and 0 <= sparse.gap < 1e-2
    assert sparse.objective == pytest.approx(dense.objective, rel=1e-5)
    np.testing.assert_allclose(sparse(F), dense(F), atol=5e-3)
    assert sparse.labels == ("no", "yes") and abs(sparse.dual.sum()) < 1e-8
    if weighted:
        assert not sparse.dual[w == 0].any()


def test_a_million_entries_need_no_factor():
    rng = np.random.default_rng(0)
    rows, D = 100_000, 30_000
    spots = rng.integers(0, D, (rows, 10))
    S = csr_array(
        (np.ones(10 * rows), spots.ravel(), np.arange(0, 10 * rows + 1, 10)), shape=(rows, D)
    )
    labels = S @ rng.normal(size=D) + rng.normal(size=rows) > 0
    odds = logistic_primal(lambda X: S[X[:, 0].astype(int)], np.arange(rows), labels, gap=1e-4)
    assert odds.gap <= 1e-4 and odds.support.size == rows
    assert np.mean(odds.predict(np.arange(rows)) == labels) > 0.7


@pytest.mark.second_route("LogisticMachine", "logistic_primal", "scikit-learn")
@pytest.mark.parametrize("weighted", [False, True])
def test_logistic_is_scikit_learns(weighted):
    X, y, _, _, _ = problem(7)
    w = np.random.default_rng(1).uniform(0.2, 3, len(X)) if weighted else None
    ours = logistic_primal(lambda X: X, X, y, C=3.0, weights=w, gap=1e-10)
    peer = LogisticRegression(C=3.0, tol=1e-10, max_iter=10_000).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(ours.function.w, peer.coef_[0], atol=1e-4)
    np.testing.assert_allclose(ours.offset, peer.intercept_[0], atol=1e-4)
    np.testing.assert_allclose(ours.probability(X), peer.predict_proba(X)[:, 1], atol=1e-4)
    f, C = ours(X), 3.0 * (np.ones(len(X)) if w is None else w)
    primal = ours.function.w @ ours.function.w / 2 + C @ np.log1p(np.exp(-y * f))
    np.testing.assert_allclose((primal - ours.objective) / max(1, primal), ours.gap, rtol=1e-3)
    a = y * ours.dual / C  # the dual, from its definition
    dual = -C @ (a * np.log(a) + (1 - a) * np.log(1 - a)) - np.sum((X.T @ ours.dual) ** 2) / 2
    np.testing.assert_allclose(dual, ours.objective, rtol=1e-9)


def test_the_objective_of_a_rough_machine_is_below_the_optimum_and_its_primal_above():
    X, y, _, _, _ = problem(7)
    exact = logistic_primal(lambda X: X, X, y, C=3.0, gap=1e-10)
    with pytest.warns(RuntimeWarning, match="Raise max_iter"):
        rough = logistic_primal(lambda X: X, X, y, C=3.0, max_iter=2)
    primal = rough.function.w @ rough.function.w / 2 + 3.0 * np.log1p(np.exp(-y * rough(X))).sum()
    assert rough.gap > 1e-4 and rough.objective < exact.objective < primal


def test_without_a_second_class_the_sum_is_not_0_and_no_gap_is_known():
    "The dual has b = 0 alone, and what is found there bounds nothing"
    F = np.random.default_rng(0).normal(size=(20, 2))
    *_, gap, _, steps = logistic_by_newton(F, np.ones(20), np.ones(20), 1e-3, steps=3)
    assert gap == np.inf and steps == 3


@pytest.mark.parametrize("delta", [0.1, 2.0])
def test_the_rounded_hinge_is_a_largest_value(delta):
    "max over 0 ≤ s ≤ 1 of s (1 − m) − delta s²/2, where it is taken, and the slope of that"
    m, s = np.linspace(-3, 3, 301), np.linspace(0, 1, 10_001)
    every = s * (1 - m[:, None]) - delta * s**2 / 2
    value, slope, bend = rounded_hinge(delta)(m)
    np.testing.assert_allclose(value, every.max(axis=1), atol=1e-6)
    np.testing.assert_allclose(slope, s[every.argmax(axis=1)], atol=2e-4)
    h, inside = 1e-6, (m > 1 - delta + 0.01) & (m < 0.99)
    assert inside.any()
    np.testing.assert_allclose(
        bend[inside], -(rounded_hinge(delta)(m + h)[1] - slope)[inside] / h, rtol=1e-6
    )
    assert not bend[(m < 0.99 - delta) | (m > 1.01)].any()


def test_a_path_of_products_that_ends_early_says_so():
    F, names = sparse_features(400, 40)
    box = two_box(np.where(names == "yes", 1.0, -1.0), np.full(400, 1.0))
    early = hinge_by_newton(F, box, 1e-3, steps=1)
    assert not early.converged and early.violation > 1e-3


@pytest.mark.parametrize("eps", [0.0, 0.1])
def test_tubes_that_products_do_not_reach_are_finished_by_pairs(eps):
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = np.sin(X[:, 0])
    found = svr_primal(lambda X: X, X, y, C=1.0, eps=eps, tol=1e-8)
    kernel = svr(Linear(), X, y, C=1.0, eps=eps, tol=1e-8)
    assert found.converged and found.violation <= 1e-8
    np.testing.assert_allclose(found.decision(X), kernel.decision(X), atol=1e-6)


def test_a_gap_that_stays_is_said():
    X, y, _, _, _ = problem(7)
    with pytest.warns(RuntimeWarning, match="Raise max_iter") as said:
        early = logistic_primal(lambda X: X, X, y, C=3.0, max_iter=1)
    assert early.gap > 1e-3 and said[0].filename == __file__


def test_a_large_dense_matrix_takes_the_path_of_products():
    F, names = sparse_features(1200, 40)
    y = np.where(names == "yes", 1.0, -1.0)
    box = two_box(y, np.full(len(y), 1.0))
    products, path = hinge_by_newton(F, box, 1e-3), by_features(F, box, 1e-6, 100)
    assert products.converged
    np.testing.assert_allclose(
        box.dual(products.b, products.f), box.dual(path.b, path.f), rtol=1e-5
    )
    assert (box.lo <= products.b).all() and (products.b <= box.hi).all()
    assert abs(path.b.sum()) <= 1e-12 * np.abs(path.b).sum()


def by_one_system(V, y, a, u, z, s, c, push_z, push_s):
    "The step of Newton for a, z, s, c from all 3 n + 1 equations at once, where z a and s u should be pushed"
    n, eye, zero = len(y), np.eye(len(y)), np.zeros((len(y), len(y)))
    A = np.block([[V @ V.T, -eye, eye, y[:, None]],
                  [np.diag(z), np.diag(a), zero, np.zeros((n, 1))],
                  [-np.diag(s), zero, np.diag(u), np.zeros((n, 1))],
                  [y[None, :], np.zeros((1, 2 * n + 1))]])  # fmt: skip
    slope = V @ (V.T @ a) - 1 + c * y - z + s
    step = np.linalg.solve(A, np.r_[-slope, push_z - a * z, push_s - u * s, -y @ a])
    return step[:n], step[n : 2 * n], step[2 * n : -1], step[-1]


def test_a_step_along_the_path_is_that_of_predictor_and_corrector():
    "Mehrotra: the linear step says how far to go, and which products the second step makes up for"
    rng = np.random.default_rng(0)
    n, C = 12, rng.uniform(1, 3, 12)
    V, y = rng.normal(size=(n, 4)), np.where(np.arange(n) % 3, 1.0, -1.0)
    a, z, s, c = C * rng.uniform(0.2, 0.8, n), rng.uniform(0.5, 2, n), rng.uniform(0.5, 2, n), 0.3
    u = C - a
    V = y[:, None] * V
    da, dz, ds, _ = by_one_system(V, y, a, u, z, s, c, 0.0, 0.0)

    def reach(*pairs):
        return min(1.0, *((-x / d)[d < 0].min(initial=np.inf) for x, d in pairs))

    t = reach((a, da), (u, -da), (z, dz), (s, ds))
    mu = (a @ z + u @ s) / (2 * n)
    later = ((a + t * da) @ (z + t * dz) + (u - t * da) @ (s + t * ds)) / (2 * n)
    centre = mu * (later / mu) ** 3
    da, dz, ds, dc = by_one_system(V, y, a, u, z, s, c, centre - da * dz, centre + da * ds)
    t = 0.995 * reach((a, da), (u, -da), (z, dz), (s, ds))
    P, Q, offset = linear_machines._step(V, y, np.stack([a, u]), np.stack([z, s]), c)
    for found, exact in (
        (P, [a + t * da, u - t * da]),
        (Q, [z + t * dz, s + t * ds]),
        (offset, c + t * dc),
    ):
        np.testing.assert_allclose(found, exact, rtol=1e-9)


def test_coefficients_near_a_bound_are_put_there_and_the_sum_stays_0():
    C, y = np.full(4, 2.0), np.array([1.0, 1.0, -1.0, -1.0])
    a = np.array([1e-9, 0.7, 0.4, 0.3 + 1e-9])
    found = linear_machines._at_bounds(a, C, y, 1e-9)
    assert found[0] == 0 and abs(y @ found) < 1e-15 and np.abs(found - a).max() < 1e-8
    upper = np.array([2 - 1e-9, 1e-9, 2 - 1e-9, 1e-9])
    np.testing.assert_array_equal(linear_machines._at_bounds(upper, C, y, 1e-9), [2, 0, 2, 0])
    odd = np.array([2 - 1e-9, 2 - 1e-9, 2 - 1e-9, 1e-9])  # no coefficient is left to make up for it
    np.testing.assert_array_equal(linear_machines._at_bounds(odd, C, y, 1e-9), odd)


def test_points_of_weight_0_are_left_out_of_dense_features():
    X, y, _, _, _ = problem(7)
    w = np.random.default_rng(1).integers(0, 3, len(X)) * 1.0
    path = by_features(X, two_box(y, w), 1e-6, 100)
    assert not path.b[w == 0].any() and (np.abs(path.b) <= w).all()
    alone = by_features(X[w > 0], two_box(y[w > 0], w[w > 0]), 1e-6, 100)
    np.testing.assert_allclose(path.b[w > 0], alone.b, atol=1e-9)


# ---------------------------------------------------------------- a fixed sum, by libsvm's steps


def fixed_sums(X, seed=0):
    "(name, box) of one class, a share of two classes, a share outside a tube; weights that differ"
    n = len(X)
    w, signs = (
        np.random.default_rng(seed).uniform(0.5, 2, n),
        np.where(X[:, 0] > 0.1 * X[:, 1], 1.0, -1.0),
    )
    zero = np.zeros(n)
    share = BoxProblem(zero, np.minimum(0, w * signs), np.maximum(0, w * signs), size=0.3 * w.sum())
    tube = BoxProblem(np.sin(9 * X[:, 0]), -2 * w, 2 * w, size=0.2 * w.sum())
    return {
        "one class": BoxProblem(zero, zero, w, total=0.2 * w.sum()),
        "share": share,
        "tube": tube,
    }


@pytest.mark.parametrize("name", ["one class", "share", "tube"])
@pytest.mark.parametrize("k", [Gaussian(1.5), Matern(1.5, 2.0)], ids=str)
def test_fixed_sums_by_libsvm_are_those_of_pairs(name, k, monkeypatch):
    X = np.random.default_rng(1).normal(size=(400, 3))
    box, P = fixed_sums(X)[name], k.points(X)
    with monkeypatch.context() as alone:
        alone.setattr(subsets, "climbed", None)  # in its tolerance, libsvm needs no pairs behind it
        found = subsets.at_once(k, P, box, 1e-4, theirs=in_libsvm(k, X))
    sums = found.b.sum() if name == "one class" else np.abs(found.b).sum()
    assert sums == pytest.approx(box.total or box.size, rel=1e-9)
    assert (box.lo <= found.b).all() and (found.b <= box.hi).all() and found.violation <= 1e-4
    np.testing.assert_allclose(found.f, k(X) @ found.b, atol=1e-13 * np.abs(found.b).sum())
    whole = solve_box(PairDistances(k, P), box, found.b, 1e-7)
    assert box.dual(found.b, found.f) == pytest.approx(box.dual(whole.b, whole.f), rel=1e-4)
    monkeypatch.setitem(sys.modules, "sklearn.svm._libsvm", None)  # a release that moved it
    assert subsets.at_once(k, P, box, 1e-4, theirs=in_libsvm(k, X)) is None


def test_what_libsvm_leaves_of_a_fixed_sum_is_finished_here(monkeypatch):
    X, k, honest = np.random.default_rng(1).normal(size=(400, 3)), Gaussian(1.5), libsvm.by_libsvm
    right = one_class(k, X, 0.2)
    monkeypatch.setattr(subsets, "by_libsvm", lambda k, X, box, *_: honest(k, X, box, 0.5))
    found = one_class(k, X, 0.2)
    assert found.converged and found.violation <= 1e-3 * abs(found.offset)
    assert found.objective == pytest.approx(right.objective, rel=1e-4)


def test_a_tube_that_needs_less_than_its_share_is_left_to_pairs():
    "Values of a function of small coefficients: at width 0 they cost less than the share"
    X, k = np.random.default_rng(1).normal(size=(30, 2)), Gaussian(1.0)
    a = np.random.default_rng(2).normal(size=30)
    a -= a.mean()
    for share, fits in ((0.5, True), (2.0, False)):
        box = BoxProblem(
            k(X) @ a, np.full(30, -9.0), np.full(30, 9.0), size=share * np.abs(a).sum()
        )
        found = subsets.at_once(k, k.points(X), box, 1e-3, theirs=in_libsvm(k, X))
        assert (found is not None) == fits and (
            not fits or np.abs(found.b).sum() == pytest.approx(box.size)
        )


@pytest.mark.parametrize(("n", "few"), [(3100, 1), (4003, 2), (6000, 5), (8011, 10)])
@pytest.mark.parametrize("k", [Gaussian(1.0), Matern(1.5, 2.0)], ids=lambda k: type(k).__name__)
def test_a_rare_class_has_a_machine_at_any_size(n, few, k):
    rng = np.random.default_rng(n)
    X, y = rng.normal(size=(n, 3)), np.arange(n) < few
    X[:few] += 2.0
    order = rng.permutation(n)
    machine = svc(k, X[order], y[order], C=1.0)
    assert machine.converged and 0 <= machine.gap < 0.2
    check_kkt(machine, X[order], y[order], C=1.0)
    assert (
        abs(machine.dual.sum()) < 1e-9 * np.abs(machine.dual).sum()
        and (machine.dual != 0).sum() > few
    )


def test_a_rare_class_among_others_has_a_machine_with_each_of_them(n=6400):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 3)), np.where(np.arange(n) < 4, 7, np.arange(n) % 2)
    X[:4] += 3.0
    for strategy in ("one-vs-one", "one-vs-rest"):
        machine = svc_multiclass(Gaussian(1.0), X, y, C=1.0, strategy=strategy)
        assert machine.converged and machine.classes.tolist() == [0, 1, 7]
    pair = np.flatnonzero(y != 0)
    alone = svc(Gaussian(1.0), X[pair], y[pair], C=1.0)
    voted = svc_multiclass(Gaussian(1.0), X, y, C=1.0)
    np.testing.assert_allclose(voted.decision(X[:50])[:, 2], alone.decision(X[:50]), atol=5e-3)


def test_the_first_part_holds_a_point_of_each_class():
    for n, few in [(3100, 1), (4003, 3), (6000, 5), (9999, 7)]:
        signs = np.where(np.arange(n) % (n // few) == 3, 1.0, -1.0)
        for p in (signs, -signs):
            part = subsets._first_part(p, max(300, n // 16))
            assert set(p[part]) == {-1.0, 1.0} and (np.diff(part) > 0).all() and len(part) < n / 8


@pytest.mark.parametrize("unit", [1e-3, 1e3, 1e-9, 1e9, 1e-100, 1e100, 2.0**-9, 2.0**9, 2.0**-300])
def test_units_of_y_scale_the_answer(unit):
    "Within tol, and to the last digit where y / unit has the same digits"
    rng, exact = np.random.default_rng(5), np.frexp(unit)[0] == 0.5
    X, k = rng.normal(size=(90, 2)), Gaussian(1.0)
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=90) + 0.3
    weights = rng.uniform(0.5, 2, 90)

    def tube(t, C):
        return svr(k, X, t, C, 0.1 * C, weights)

    def share(t, C):
        return nu_svr(k, X, t, C, 0.3, weights=weights)

    for fit in (tube, share):
        one, other = fit(y, 1.0), fit(unit * y, unit)
        np.testing.assert_allclose(other(X) / unit, one(X), rtol=0, atol=1e-13 if exact else 2e-3)
        assert abs(other.gap) < 1e-3 and 0 <= other.violation / unit <= 1e-3
        if exact:
            np.testing.assert_allclose(other.dual / unit, one.dual, rtol=0, atol=1e-13)
            assert other.gap == pytest.approx(one.gap, rel=1e-6)
        assert (
            fit is tube or other.eps / unit == pytest.approx(one.eps, abs=2e-3) and one.eps > 0.05
        )
        assert other.objective / unit**2 == pytest.approx(one.objective, rel=1e-2)
        full = np.abs(other.dual) > unit * weights * (1 - 1e-9)
        assert full.any() and (np.abs(other.dual[full]) == unit * weights[full]).all()
    times = rng.integers(1, 4, 90)
    assert unit_of(unit * y, times) / unit == pytest.approx(np.repeat(y, times).std())
    if 1e-30 < unit < 1e30:
        check_kkt(tube(unit * y, unit), X, unit * y, C=unit, eps=0.1 * unit, weights=weights)
        flat = svr(k, X, unit * y, unit, 0.1 * unit, weights, tol=0.5)
        with pytest.raises(LawBroken, match="right side"):
            check_kkt(flat, X, unit * y, C=unit, eps=0.1 * unit, weights=weights)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_gaps_are_shares_of_the_primal_in_any_unit(unit):
    "k / unit with C unit is k with C, its objectives in another unit"
    rng, C, k = np.random.default_rng(3), unit, (1 / unit) * Gaussian(1.0)
    X, place = rng.normal(size=(60, 2)), np.arange(60) % 3
    X[:, 0] += place
    signs = np.where(place > 0, 1.0, -1.0)
    with pytest.warns(RuntimeWarning, match="after 1 Newton steps? the gap is 0[.]"):
        odds = logistic_primal(lambda X: X / unit**0.5, X, signs, C, max_iter=1)
    primal = odds.function.w @ odds.function.w / 2 + C * np.logaddexp(0, -signs * odds(X)).sum()
    assert odds.gap == pytest.approx((primal - odds.objective) / primal, rel=1e-6)
    found, gaps = svc_multiclass(k, X, place, C, tol=0.3), []
    for (low, high), b, values in zip(found.pairs, found.dual.T, found.decision(X).T, strict=True):
        some = np.isin(place, [low, high])
        losses = np.maximum(0, 1 - np.where(place == high, 1.0, -1.0) * values)[some]
        primal = b @ k(X) @ b / 2 + C * losses.sum()
        gaps.append((primal + b @ k(X) @ b / 2 - np.abs(b).sum()) / primal)
    assert found.gap == pytest.approx(max(gaps), rel=1e-6) and found.gap > 1e-3
    two = svc(k, X, signs, C, tol=0.3)
    b, losses = two.dual, np.maximum(0, 1 - signs * two(X))
    square = b @ k(X) @ b / 2
    primal = square + C * losses.sum()
    assert two.gap == pytest.approx((primal + square - np.abs(b).sum()) / primal, rel=1e-6)
    assert two.gap > 1e-3


@pytest.mark.parametrize("nu", [1e-9, 1e-6, 1e-3, 0.01, 0.1, 0.5, 0.99, 1.0])
def test_a_small_share_leaves_no_more_than_it_outside(nu):
    rng = np.random.default_rng(2)
    for k, X in (
        (Gaussian(1.0), np.arange(4.0)[:, None]),
        (Gaussian(0.2), rng.uniform(size=(500, 2))),
        (1e-6 * Gaussian(0.2), rng.uniform(size=(100, 2))),
        (Linear(), 1e-3 * (rng.normal(size=(120, 2)) + 5)),
        (Laplace(1.0), rng.normal(size=(200, 3))),
    ):
        machine = one_class(k, X, nu)
        assert np.mean(machine.decision(X) < 0) <= nu <= len(machine.support) / len(X) + 1e-12
        assert machine.converged and machine.violation <= 1e-3 * abs(machine.offset)
        check_kkt(machine, X, nu=nu)
        best = one_class(k, X, nu, tol=1e-7)
        assert -1e-12 < machine.gap < 0.05 and machine.objective <= best.objective * (
            1 - 1e-9
        ) + 0.05 * abs(best.objective)


def test_the_law_refuses_the_machine_of_a_small_share_that_is_none():
    X = np.linspace(0, 3, 40)[:, None]
    k, nu = Gaussian(1.0), 1e-6
    right = one_class(k, X, nu)
    wrong = np.zeros(40)
    wrong[:3] = nu * 40 / 3  # feasible, and far from the best
    c = -(k(X) @ wrong)[:3].mean()
    machine = replace(
        right, function=RKHSFunction(k, X, wrong), dual=wrong, offset=c, support=np.arange(3)
    )
    with pytest.raises(LawBroken, match="right side"):
        check_kkt(machine, X, nu=nu)
    stopped = smo_result_of_a_start(k, X, nu)
    assert stopped > 0.1


def smo_result_of_a_start(k, X, nu):
    "The gap of the first nu n points as a machine: it speaks where the dual mass is small"
    w = np.ones(len(X))
    b = from_first(w, nu * len(X))
    f = k(X) @ b
    return gap_of(BoxProblem(0 * w, 0 * w, w, total=float(b.sum())), b, f, -f[0])[0]


@pytest.mark.parametrize(
    "loss", ["svc", "svr", "nu_svc", "nu_svr", "one_class", "svm_primal", "logistic"]
)
def test_rows_that_repeat_are_weights_for_every_loss(loss):
    rng = np.random.default_rng(8)
    X, times = rng.normal(size=(50, 2)), rng.integers(1, 4, 50)
    t = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=50)
    y, k, again = t > 0.1, Gaussian(1.0), np.repeat(np.arange(50), times)
    fits = {
        "svc": lambda X, t, y, w: svc(k, X, y, 3.0, weights=w, tol=1e-8),
        "svr": lambda X, t, y, w: svr(k, X, t, 3.0, 0.1, weights=w, tol=1e-8),
        "nu_svc": lambda X, t, y, w: nu_svc(k, X, y, 0.3, weights=w, tol=1e-8),
        "nu_svr": lambda X, t, y, w: nu_svr(k, X, t, 3.0, 0.3, weights=w, tol=1e-8),
        "one_class": lambda X, t, y, w: one_class(k, X, 0.2, weights=w, tol=1e-8),
        "svm_primal": lambda X, t, y, w: svm_primal(np.tanh, X, y, 3.0, weights=w, tol=1e-8),
        "logistic": lambda X, t, y, w: logistic_primal(np.tanh, X, y, 3.0, weights=w, gap=1e-12),
    }
    fit = fits[loss]
    weighted, repeated = fit(X, t, y, times.astype(float)), fit(X[again], t[again], y[again], None)
    np.testing.assert_allclose(weighted(X), repeated(X), atol=2e-5 * np.abs(repeated(X)).max())
    other = fit(X, t, y, None)
    assert np.abs(other(X) - weighted(X)).max() > 1e-3 * np.abs(weighted(X)).max()


@pytest.mark.second_route("svr_primal", "the dual machine")
@pytest.mark.parametrize("eps", [0.0, 0.2])
def test_a_tube_on_features_is_that_of_the_dual(eps):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(300, 2))
    y, w = 5 * np.sin(X[:, 0]) + rng.normal(size=300), rng.integers(0, 3, 300).astype(float)
    k = Polynomial(3)
    primal = svr_primal(k.feature_map(2), X, y, 0.3, eps, w, tol=1e-5)
    dual = svr(k, X, y, 0.3, eps, w, tol=1e-5)
    np.testing.assert_allclose(primal(X), dual(X), atol=1e-3)
    np.testing.assert_allclose(primal.objective, dual.objective, rtol=1e-4)
    assert primal.gap < 1e-3 and abs(primal.dual.sum()) < 1e-9 * np.abs(primal.dual).sum() + 1e-9
    assert (np.abs(primal.dual) <= 0.3 * w + 1e-12).all()
    scaled = svr_primal(k.feature_map(2), X, 1e6 * y, 3e5, 1e6 * eps, w, tol=1e-5)
    np.testing.assert_allclose(scaled(X) / 1e6, primal(X), atol=1e-3)
