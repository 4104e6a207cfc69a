"""What every weight means: 0 leaves a point out, 2 is the point twice; in whatever order they come."""

import inspect

import numpy as np
import pytest

import answers
import rkhs_notes as rn
from rkhs_notes import Gaussian, Laplace, Linear

rng = np.random.default_rng(0)
n = 30
X = rng.normal(size=(n, 2))
y = np.sin(X[:, 0]) + 0.2 * rng.normal(size=n)
signs = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0.4, 1, -1)
three = np.digitize(X[:, 1], [-0.5, 0.5])
other = np.c_[X[:, 1], X[:, 0] ** 2]
line = np.sort(rng.normal(size=n))
new = rng.normal(size=(7, 2))
k = Gaussian(1.3)
phi = rn.fourier_features(k, 2, 12, rng=0)
first = lambda X: X[:, 0]  # noqa: E731


def machines():
    "{name: what it decides, of rows i with weights w}"
    for balance in (None, "balanced"):
        of = dict(tol=1e-7, class_weights=balance)
        yield "svc", lambda i, w, of=of: rn.svc(k, X[i], signs[i], weights=w, **of).decision(new)
        yield (
            "svc_multiclass",
            lambda i, w, of=of: rn.svc_multiclass(k, X[i], three[i], weights=w, **of).decision(new),
        )
        yield (
            "svm_primal",
            lambda i, w, of=of: rn.svm_primal(phi, X[i], signs[i], weights=w, **of).decision(new),
        )
        yield (
            "logistic_primal",
            lambda i, w, balance=balance: rn.logistic_primal(
                phi, X[i], signs[i], 1.0, w, 1e-10, class_weights=balance
            ).decision(new),
        )
        yield (
            "svc_path",
            lambda i, w, balance=balance: [
                m.decision(new)
                for m in rn.svc_path(k, X[i], signs[i], [0.5, 2.0], w, balance, 1e-7)
            ],
        )
    yield "nu_svc", lambda i, w: rn.nu_svc(k, X[i], signs[i], 0.3, 1e-7, w).decision(new)
    yield "nu_svr", lambda i, w: rn.nu_svr(k, X[i], y[i], 1.0, 0.4, 1e-7, w).decision(new)
    yield "svr", lambda i, w: rn.svr(k, X[i], y[i], 1.0, 0.1, w, 1e-7).decision(new)
    yield "svr_primal", lambda i, w: rn.svr_primal(phi, X[i], y[i], 1.0, 0.1, w, 1e-7).decision(new)
    yield "one_class", lambda i, w: rn.one_class(k, X[i], 0.3, 1e-7, weights=w).decision(new)


def fits():
    "{name: numbers, of rows i with weights w}"
    yield "ridge", lambda i, w: rn.ridge(k, X[i], y[i], 0.1, True, w)(new)
    yield "ridge_large", lambda i, w: rn.ridge_large(k, X[i], y[i], 0.1, weights=w, tol=1e-10)(new)
    yield "min_norm_fit", lambda i, w: rn.min_norm_fit(phi(X[i]), y[i], 0.1, weights=w)
    for loss in (rn.huber(0.1), rn.quantile(0.3), rn.epsilon_insensitive(0.1)):
        yield (
            "minimize_risk",
            lambda i, w, loss=loss: rn.minimize_risk(k, X[i], y[i], loss, 0.1, weights=w)(new),
        )
    for loss in ("squared", rn.huber(0.1)):
        yield (
            "semiparametric",
            lambda i, w, loss=loss: rn.semiparametric(k, X[i], y[i], [first], 0.1, w, loss)(new),
        )
    yield "smoothing_spline", lambda i, w: rn.smoothing_spline(line[i], y[i], 0.1, w)(new[:, 0])
    yield "gaussian_process", lambda i, w: rn.gaussian_process(k, X[i], y[i], 0.1, w)(new)
    yield "gaussian_process", lambda i, w: rn.gaussian_process(k, X[i], y[i], 0.1, w).var(new)
    yield (
        "gaussian_process",
        lambda i, w: rn.gaussian_process(k, X[i], y[i], 0.1, w).log_marginal,
    )
    yield (
        "gaussian_process_large",
        lambda i, w: rn.gaussian_process_large(k, X[i], y[i], 0.1, weights=w, rng=0, tol=1e-8).mean(
            new
        ),
    )
    yield (
        "fit_hyperparameters",
        lambda i, w: rn.fit_hyperparameters(k, X[i], y[i], 0.1, weights=w, tol=1e-12).log_marginal,
    )
    yield "gp_classification", lambda i, w: rn.gp_classification(k, X[i], signs[i], w).mean(new)
    yield "gp_classification", lambda i, w: rn.gp_classification(k, X[i], signs[i], w).log_marginal
    yield "kde", lambda i, w: rn.kde(X[i], 0.5, w)(new)
    yield "align", lambda i, w: rn.align([k, Linear(), Laplace(1.0)], X[i], y[i], w)(new)
    yield "empirical", lambda i, w: rn.mean_embedding(k, rn.empirical(X[i], w))(new)
    yield (
        "empirical",
        lambda i, w: rn.mercer_expansion(k, rn.empirical(X[i], w), 4).eigenvalues,
    )
    yield "kernel_pca", lambda i, w: rn.kernel_pca(k, X[i], 2, weights=w).eigenvalues
    yield "kernel_pca", lambda i, w: np.abs(rn.kernel_pca(k, X[i], 2, weights=w).transform(new))
    yield (
        "kernel_cca",
        lambda i, w: rn.kernel_cca(k, k, X[i], other[i], 0.1, 2, weights=w).correlations,
    )


def scores():
    "Those that leave a point out; a point that came twice is left out once"
    for offset in (False, True):
        path = lambda i, w, offset=offset: rn.ridge_path(k, X[i], y[i], None, offset, w)  # noqa: E731
        for part in ("lams", "loo", "gcv"):
            yield "ridge_path", lambda i, w, path=path, part=part: getattr(path(i, w), part)
        yield (
            "StreamingRidge",
            lambda i, w, offset=offset: (
                rn.StreamingRidge(phi).update(X[i], y[i], w).gcv([0.1], offset)
            ),
        )
    for by in ("gcv", "loo"):
        yield "smoothing_spline", lambda i, w, by=by: rn.smoothing_spline(line[i], y[i], by, w).lam


def close(ours, theirs):
    theirs = np.asarray(theirs)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-5 * np.abs(theirs).max())


CASES = [*machines(), *fits()]


@pytest.mark.parametrize(
    "of", [of for _, of in [*CASES, *scores()]], ids=[c for c, _ in [*CASES, *scores()]]
)
def test_a_point_of_weight_0_is_left_out(of):
    left = np.arange(8, n)
    close(of(np.arange(n), np.where(np.arange(n) < 8, 0.0, 1.0)), of(left, None))


@pytest.mark.parametrize("of", [of for _, of in CASES], ids=[name for name, _ in CASES])
def test_a_point_of_weight_2_is_there_twice(of):
    rows = np.arange(8, n)
    close(of(rows, np.where(rows < 13, 2.0, 1.0)), of(np.r_[rows, rows[:5]], None))


@pytest.mark.parametrize(
    "of", [of for _, of in [*CASES, *scores()]], ids=[c for c, _ in [*CASES, *scores()]]
)
def test_the_order_of_the_points_says_nothing(of):
    order, w = np.random.default_rng(1).permutation(n), np.linspace(0.5, 2.0, n)
    close(of(order, w[order]), of(np.arange(n), w))


def test_no_function_with_weights_is_left_out():
    "Those that take turns, or read what another one found, have their own tests"
    own = {"check_kkt", "check_kernel_cca", "irrelevant_columns", "kernel_sgd", "tune_coupling"}
    named = {name for name, _ in [*CASES, *scores()]}
    found = {
        name.rpartition(".")[2]
        for name, thing in answers.everyone().items()
        if inspect.isfunction(thing) and "weights" in inspect.signature(thing).parameters
    }
    assert {"svc", "ridge", "kde"} <= found
    assert found <= named | own, sorted(found - named - own)
