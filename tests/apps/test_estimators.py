"""scikit-learn's interface: its own checks, and what it cannot know: kernels, merged rows, honest choices."""

import copy
import inspect
import pickle
import re
import tracemalloc
import warnings
from functools import partial

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize, minimize_scalar
from scipy.special import softmax
from scipy.stats import norm
from sklearn import config_context
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_friedman1
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.kernel_ridge import KernelRidge as TheirRidge
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer, log_loss
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR, OneClassSVM
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

import rkhs_notes
import rkhs_notes as rn
import rkhs_notes.apps.estimators as estimators
import rkhs_notes.apps.streaming as streaming
import rkhs_notes.apps.streaming_classes as streaming_classes
import rkhs_notes.engines.machines.laplace_method as laplace_method
import rkhs_notes.engines.solving.searches as search_engine
from conftest import ROOT
from rkhs_notes.apps.comparison import compare_tables
from rkhs_notes.apps.estimators import (
    CoupledEmbedding,
    GaussianProcess,
    KernelCCA,
    KernelLogistic,
    KernelPCA,
    KernelRidge,
    KernelSVC,
    KernelSVR,
    NystromFeatures,
    OneClassKernelSVM,
    RandomFeatures,
    StreamingKernelClassifier,
    StreamingKernelRidge,
    TwoSampleDrift,
)
from rkhs_notes.base.arrays import as_sparse_rows
from rkhs_notes.base.datasets import load, smiley
from rkhs_notes.base.errors import NotPositiveDefinite
from rkhs_notes.base.objects import Objects
from rkhs_notes.base.words import Classes
from rkhs_notes.deeper.machines import svc_multiclass, svc_probability
from rkhs_notes.deeper.risks import minimize_risk
from rkhs_notes.deeper.structured import Spectrum
from rkhs_notes.deeper.two_samples import mmd_test
from rkhs_notes.deeper.zoo import Laplace, Mahalanobis, Matern
from rkhs_notes.engines.data.stored import from_expression
from rkhs_notes.engines.machines.kernel_machines import check_kkt
from rkhs_notes.engines.machines.laplace_method import gp_classification
from rkhs_notes.engines.machines.support import coupled, dealt
from rkhs_notes.engines.solving.correlations import kernel_cca
from rkhs_notes.engines.solving.couplings import coupled_embedding
from rkhs_notes.engines.solving.evidence import fit_hyperparameters, gaussian_process, log_marginal
from rkhs_notes.engines.solving.learned_noise import learn_noise
from rkhs_notes.engines.solving.ridge_fits import ridge, ridge_path
from rkhs_notes.kernels import Gaussian, Linear, Polynomial, Sum

CLASSES = [
    value
    for room in (estimators, streaming, streaming_classes)
    for name, value in vars(room).items()
    if inspect.isclass(value)
    and issubclass(value, BaseEstimator)
    and value.__module__ == room.__name__
    and not name.startswith("_")
    and value is not estimators.KernelEstimator
]
VARIANTS = [
    KernelRidge(Gaussian(1.0), lam=0.1, offset=False),
    KernelRidge(bandwidth="median"),
    KernelSVC(Gaussian(1.0), C=1.0, class_weight="balanced"),
    StreamingKernelClassifier(n_features=50, class_weight="balanced"),
]

# scikit-learn's own estimators skip the same checks, for the same reason
SKIPPED = {"check_array_api_input": "SCIPY_ARRAY_API is not set"}


@parametrize_with_checks([cls() for cls in CLASSES] + VARIANTS)
def test_scikit_learns_checks(estimator, check):
    try:
        check(estimator)
    except BaseException as skip:
        name = getattr(check, "func", check).__name__
        if type(skip).__name__ == "SkipTest" and SKIPPED.get(name, "another reason") not in str(
            skip
        ):
            pytest.fail(f"{name} was skipped: {skip}")
        raise


def test_the_checks_can_fail():
    class Forgetful(KernelRidge):
        def predict(self, X):
            return np.zeros(len(X))

    with warnings.catch_warnings(), pytest.raises(AssertionError):
        warnings.simplefilter("ignore")
        check_estimator(Forgetful())


def test_no_check_is_avoided_by_a_tag():
    for cls in CLASSES:
        if hasattr(BaseEstimator, "__sklearn_tags__"):
            tags = cls().__sklearn_tags__()
            assert not tags.no_validation and not tags.non_deterministic and not tags._skip_test
            assert not getattr(tags.regressor_tags, "poor_score", False)
            assert not getattr(tags.classifier_tags, "poor_score", False)
        else:
            tags = cls()._get_tags()
            assert not any(
                tags[name] for name in ("no_validation", "non_deterministic", "poor_score")
            )
            assert not tags["_xfail_checks"] and not tags["_skip_test"]


# ------------------------------------------------------------------ kernels inside scikit-learn
def test_a_search_over_a_kernels_parameter_changes_predictions_and_no_kernel():
    X, y = smiley(120, 0)
    k = Sum(trend=Linear(), rough=Gaussian(9.0))
    before = pickle.dumps(k)
    grid = {"kernel__rough__bandwidth": [0.1, 0.3, 30.0]}
    search = GridSearchCV(KernelRidge(k, lam=0.1), grid, cv=3).fit(X, y)
    by_hand = [
        cross_val_score(
            KernelRidge(Sum(trend=Linear(), rough=Gaussian(b)), lam=0.1), X, y, cv=3
        ).mean()
        for b in grid["kernel__rough__bandwidth"]
    ]
    assert len(set(by_hand)) == 3 and np.allclose(search.cv_results_["mean_test_score"], by_hand)
    assert pickle.dumps(k) == before
    assert (
        search.best_estimator_.kernel_.get_params()["rough__bandwidth"]
        == search.best_params_.popitem()[1]
    )


def test_whole_kernels_can_be_searched():
    X, y = smiley(90, 0)
    kernels = [Linear(), Gaussian(0.1), 2 * Gaussian(0.2) + Polynomial(2)]
    search = GridSearchCV(KernelSVC(), {"kernel": kernels}, cv=3).fit(X, y)
    assert list(search.cv_results_["param_kernel"]) == kernels
    assert len(set(search.cv_results_["mean_test_score"])) > 1


def test_kernels_are_shared_by_clones_and_changed_in_none():
    one = KernelRidge(Gaussian(2.0))
    two = clone(one).set_params(kernel__bandwidth=3.0)
    assert clone(one).kernel == one.kernel == Gaussian(2.0) and two.kernel == Gaussian(3.0)
    assert one.get_params()["kernel__bandwidth"] == 2.0
    assert KernelRidge().set_params(kernel=Gaussian(1.0), kernel__bandwidth=5.0).kernel == Gaussian(
        5.0
    )


@pytest.mark.parametrize(
    "params, message",
    [
        (dict(kernel__bandwidht=1.0), "Gaussian.* has no parameter 'bandwidht'; it has bandwidth"),
        (dict(gamma=1.0), "Invalid parameter 'gamma'"),
        (dict(lam__x=1.0), "lam of KernelRidge is 'loo', which has no 'x'"),
    ],
)
def test_unknown_parameters_are_named(params, message):
    with pytest.raises(ValueError, match=message):
        KernelRidge(Gaussian(1.0)).set_params(**params)


@pytest.mark.parametrize(
    "estimator, message",
    [
        (KernelRidge(lam="cv"), "lam must be a number or 'loo', not 'cv'"),
        (KernelSVC(C="auto"), "C must be a number or 'loo', not 'auto'"),
        (KernelSVC(class_weight="balance"), "class_weight = 'balance': pass 'balanced', or a dict"),
        (KernelSVR(epsilon="auto"), "epsilon must be a number or 'loo'"),
        (KernelLogistic(scale="loo"), "scale must be a number or 'evidence'"),
        (GaussianProcess(noise="auto"), "noise must be a number or 'evidence'"),
        (StreamingKernelRidge(lam="gcv"), "lam must be a number or 'ahead'"),
        (KernelPCA(bandwidth="loo"), "bandwidth must be a number or 'median', not 'loo'"),
        (KernelSVC(C=None), "C = None: pass"),
        (KernelRidge("rbf"), "kernel is of type str, not a Kernel; pass"),
        (KernelSVC(Gaussian), "kernel is the class Gaussian, not a Kernel; pass"),
    ],
)
def test_unknown_words_are_refused_by_name(estimator, message):
    X = np.random.default_rng(0).normal(size=(12, 2))
    with pytest.raises((ValueError, TypeError), match=message):
        estimator.fit(X, X[:, 0] > 0 if is_classifier(estimator) else X[:, 0])


def test_texts_are_points():
    words = ["kernel", "kernels", "colonel", "ridge", "bridge", "ridges"] * 3
    y = np.array([0, 0, 0, 1, 1, 1] * 3)
    k = Spectrum(2).normalized()
    machine = KernelSVC(k).fit(words, y)
    assert machine.predict(["kernelled", "ridged"]).tolist() == [0, 1]
    fit = KernelRidge(k, lam=0.1).fit(pd.Series(words), y)
    assert np.allclose(fit.predict(words), KernelRidge(k, lam=0.1).fit(words, y).predict(words))
    assert cross_val_score(KernelSVC(k), words, y, cv=3).mean() == 1.0


BAGS = np.random.default_rng(3).normal(size=(12, 4, 2))
STRUCTURED = {
    "trees": (rn.Subtree(0.5), [("S", "a"), ("S", ("NP", "x"), "b"), ("S", ("NP", "y"), "b")] * 4),
    "tuples": (Spectrum(1), [("a",), ("a", "b"), ("b", "c", "c")] * 4),
    "tuples of numbers": (Spectrum(1), [(1, 2), (2, 3), (3, 3)] * 4),
    "ragged bags": (rn.SetKernel(Gaussian(1.0)), [B[: 1 + i % 3] for i, B in enumerate(BAGS)]),
    "equal bags": (rn.SetKernel(Gaussian(1.0)), list(BAGS)),
    "an array of bags": (rn.SetKernel(Gaussian(1.0)), BAGS),
    "texts of polars": (Spectrum(1), pl.Series(["ab", "b", "cca"] * 4)),
}


@pytest.mark.parametrize("name", STRUCTURED)
def test_points_of_any_kind_are_those_of_the_chapters(name):
    "Whether points are rows is for the kernel to say, in every estimator and also of one point"
    (k, X), c = STRUCTURED[name], np.arange(12) % 3 == 0
    y = c + np.random.default_rng(0).normal(size=12)
    values = KernelRidge(k, lam=0.1, offset=False).fit(X, y)
    assert np.allclose(values.predict(X), ridge(k, X, y, 0.1)(X))
    assert np.allclose(values.predict(X[:1]), values.predict(X)[:1])
    process = GaussianProcess(k, noise=0.1, tune=False).fit(X, y)
    assert np.allclose(process.process_(X), ridge(k, X, y - y.mean(), 0.1)(X))
    both, own = KernelCCA(k, k).fit(X, X[::-1]), kernel_cca(k, k, X, X[::-1], 1.0, 1)
    assert np.allclose(both.correlations_, own.correlations)
    rows = KernelCCA(kernel_y=k).fit(y[:, None], X)
    assert np.allclose(rows.transform_y(X)[:1], rows.transform_y(X[:1]))
    for estimator in (KernelSVC(k), KernelSVR(k), KernelLogistic(k), OneClassKernelSVM(k, nu=0.5)):
        found = estimator.fit(X, c if is_classifier(estimator) else y)
        assert np.isclose(found.predict(X)[0], found.predict(X[:1])[0])
    for maps in (KernelPCA(k), NystromFeatures(k, landmarks=X[:3]), CoupledEmbedding(k, k)):
        assert np.allclose(maps.fit(X, X).transform(X)[:1], maps.transform(X[:1]))
    with pytest.raises(ValueError, match=r"numbers of samples: \[12, 11\]"):
        KernelRidge(k, lam=0.1).fit(X, y[:11])


# ------------------------------------------------------------------ ridge
@pytest.mark.parametrize("exact", [10_000, 40])
def test_one_lam_a_target(exact, monkeypatch, tmp_path):
    monkeypatch.setattr(estimators, "_EXACT", exact)  # above it, on centres
    rng = np.random.default_rng(0)
    X, lams = rng.normal(size=(60, 2)), [0.01, 1.0, 30.0]
    Y = np.column_stack([np.sin(X[:, 0]), X[:, 1], X.sum(axis=1)]) + 0.1 * rng.normal(size=(60, 3))
    fit = KernelRidge(Gaussian(1.0), lam=lams).fit(X, Y)
    for j, lam in enumerate(lams):
        alone = KernelRidge(Gaussian(1.0), lam=lam).fit(X, Y[:, j])
        assert np.allclose(fit.predict(X)[:, j], alone.predict(X), atol=1e-5)
    assert fit.lam_ == lams and clone(fit).get_params()["lam"] == lams
    assert KernelRidge(lam=lams).fit(X, Y).predict(X).shape == (60, 3)  # its bandwidth is elected
    with pytest.raises(ValueError, match="lam holds 2 numbers"):
        KernelRidge(Gaussian(1.0), lam=[0.1, 1.0]).fit(X, Y)
    fit.save(tmp_path / "fit.npz")
    assert np.array_equal(rn.load_model(tmp_path / "fit.npz").predict(X), fit.predict(X))


@pytest.mark.second_route("KernelRidge", "scikit-learn")
def test_ridge_is_the_chapters_and_scikit_learns():
    rng = np.random.default_rng(0)
    X, y, Z = rng.normal(size=(40, 3)), rng.normal(size=(40, 2)), rng.normal(size=(7, 3))
    plain = KernelRidge(Gaussian(2.0), lam=0.3, offset=False).fit(X, y)
    theirs = TheirRidge(kernel="rbf", gamma=1 / 8, alpha=0.3).fit(X, y)
    assert np.allclose(plain.predict(Z), theirs.predict(Z)) and plain.predict(Z).shape == (7, 2)
    ours, chapters = (
        KernelRidge(Gaussian(2.0), lam=0.3).fit(X, y),
        ridge(Gaussian(2.0), X, y, 0.3, True),
    )
    assert np.allclose(ours.predict(Z), chapters(Z)) and np.allclose(ours.offset_, chapters.offset)


def test_the_leave_one_out_error_is_that_of_refitting():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(25, 2))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=25)
    fit = KernelRidge(Gaussian(1.0)).fit(X, y)
    fixed = KernelRidge(Gaussian(1.0), lam=fit.lam_)
    errors = [
        fixed.fit(np.delete(X, i, 0), np.delete(y, i)).predict(X[[i]])[0] - y[i] for i in range(25)
    ]
    assert np.isclose(np.mean(np.square(errors)), fit.loo_)


def test_leaving_out_one_of_two_equal_rows_does_not_leave_its_answer_in():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    once, twice = KernelRidge().fit(X, y), KernelRidge().fit(np.r_[X, X], np.r_[y, y])
    assert np.isclose(once.loo_, twice.loo_) and twice.loo_ > 0.5
    naive = ridge_path(Gaussian(0.1), np.r_[X, X], np.r_[y, y], offset=True)
    assert naive.loo.min() < 0.1 * once.loo_  # what it would believe of pure noise


def test_weights_are_repetitions_also_for_texts():
    words, y, w = ["aa", "ab", "bb", "ba"], [0.0, 1.0, 2.0, 1.0], [1, 3, 0, 2]
    k = Spectrum(1) + Spectrum(2)
    again = [word for word, times in zip(words, w, strict=True) for _ in range(times)]
    answers = np.repeat(y, w)
    left = KernelRidge(k, lam=0.1).fit(words, y, sample_weight=w).predict(words)
    assert np.allclose(left, KernelRidge(k, lam=0.1).fit(again, answers).predict(words))


@pytest.mark.parametrize(
    "cls, chosen",
    [(KernelRidge, "lam_"), (KernelSVC, "C_"), (KernelSVR, "C_"), (KernelLogistic, "temperature_")],
)
def test_repeated_texts_choose_as_weights_and_as_rows_of_numbers_do(cls, chosen):
    words = "abcab abdab xyzxy xywxw abzab xyaxy bcbca zxyzx cabca wxyxy".split()
    k, y = Spectrum(2).normalized(), np.random.default_rng(0).normal(size=10)
    if cls in (KernelSVC, KernelLogistic):
        y = y > 0
    F = np.linalg.cholesky(k(words, words))  # rows of the same inner products
    many, often = cls(k).fit(words * 4, np.tile(y, 4)), cls(k).fit(words, y, sample_weight=[4] * 10)
    numbers = cls(Linear()).fit(np.tile(F, (4, 1)), np.tile(y, 4))
    for other in (often, numbers):
        assert np.isclose(getattr(many, chosen), getattr(other, chosen), rtol=1e-6)


@pytest.mark.parametrize("cls", [KernelSVC, KernelSVR])
@pytest.mark.parametrize("size", [1e-9, 1e-2, 1.0])
def test_a_kernel_of_small_values_has_a_price_as_large(cls, size):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = X @ [1, 2.0] + 0.1 * rng.normal(size=120)
    if cls is KernelSVC:
        y = y > 0
    usual, small = cls(Gaussian(1.0)).fit(X, y), cls(size * Gaussian(1.0)).fit(X, y)
    assert np.isclose(small.C_ * size, usual.C_) and small.score(X, y) > 0.95


def test_the_least_penalty_is_told_and_no_warning():
    X = np.random.default_rng(0).normal(size=(100, 2))
    assert "lam = 0.001 is the least that was tried" in KernelSVR(Linear()).fit(X, X[:, 0]).chosen_


@pytest.mark.parametrize("cls", [KernelRidge, KernelSVR, GaussianProcess])
def test_answers_beyond_the_squares_of_floats_are_refused_by_name(cls):
    X = np.random.default_rng(0).normal(size=(60, 2))
    for unit in (1e-165, 1e155):
        with pytest.raises(ValueError, match=r"the largest \|?(of )?y.*rescale y"):
            cls(Gaussian(1.0)).fit(X, X[:, 0] * unit)
    with pytest.raises(TypeError, match="y holds text"):
        cls(Spectrum(2)).fit(["ab", "ba", "aa"], ["a", "b", "c"])
    with pytest.raises(ValueError, match="y is not finite everywhere"):
        cls(Spectrum(2)).fit(["ab", "ba", "aa"], [1, 2, np.inf])


def repeated(seed, n=30):
    "(X, y, weights, X and y with every row as often as its weight)"
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(n, 2)), rng.integers(0, 4, n)
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=n)
    return X, y, w, np.repeat(X, w, axis=0), np.repeat(y, w)


@pytest.mark.parametrize(
    "estimator",
    [
        KernelRidge(),
        KernelRidge(bandwidth="evidence"),
        GaussianProcess(),
        GaussianProcess(Gaussian(1.0), noise=0.1),
        KernelSVR(),
        KernelSVC(probability=True),
        KernelLogistic(),
        OneClassKernelSVM(Gaussian(1.0), nu=0.3),
        StreamingKernelRidge(Gaussian(1.0)),
        StreamingKernelClassifier(Gaussian(1.0)),
    ],
    ids=repr,
)
def test_a_weight_is_as_many_rows_and_is_not_ignored(estimator):
    X, y, w, X_again, y_again = repeated(16)
    y, y_again = (v > 0 if is_classifier(estimator) else v for v in (y, y_again))
    weighted, again = (
        clone(estimator).fit(X, y, sample_weight=w),
        clone(estimator).fit(X_again, y_again),
    )
    plain = clone(estimator).fit(X, y)
    for name in ("decision_function", "predict_proba", "predict"):
        if hasattr(weighted, name):
            values = getattr(weighted, name)(X)
            assert np.allclose(values, getattr(again, name)(X), rtol=1e-4, atol=1e-6)
            assert name == "predict" or not np.allclose(values, getattr(plain, name)(X), atol=1e-3)
    if isinstance(weighted, GaussianProcess):
        assert np.isclose(weighted.noise_, again.noise_, rtol=1e-3, atol=0)
        assert np.isclose(weighted.process_.log_marginal, again.process_.log_marginal, rtol=1e-4)
        slow = gaussian_process(
            weighted.kernel_, X_again, y_again - y_again.mean(), weighted.noise_
        )
        assert np.isclose(slow.log_marginal, weighted.process_.log_marginal)
        assert np.allclose(slow.var(X), weighted.predict(X, return_std=True)[1] ** 2)


def test_class_weights_are_weights():
    X, y, *_ = repeated(17, 60)
    c = np.where(y > 0.7, "rare", "common")
    for estimator in (KernelLogistic(Gaussian(1.0)), KernelSVC(Gaussian(1.0), C=1.0, tol=1e-8)):
        by_class = clone(estimator).set_params(class_weight={"rare": 5.0}).fit(X, c)
        by_row = clone(estimator).fit(X, c, sample_weight=np.where(c == "rare", 5.0, 1.0))
        assert np.allclose(by_class.decision_function(X), by_row.decision_function(X), atol=1e-5)
        balanced = clone(estimator).set_params(class_weight="balanced").fit(X, c)
        share = (c == "rare").mean()
        halves = clone(estimator).fit(X, c, np.where(c == "rare", 0.5 / share, 0.5 / (1 - share)))
        assert np.allclose(balanced.decision_function(X), halves.decision_function(X), atol=1e-5)
        plain = clone(estimator).fit(X, c)
        assert balanced.decision_function(X).mean() > plain.decision_function(X).mean() + 1e-3


@pytest.mark.parametrize(
    "estimator", [KernelSVC(C=1.0, tol=1e-8), KernelLogistic(scale=1.0)], ids=repr
)
def test_balanced_classes_are_those_of_the_weights(estimator):
    "W / (q W_c) of a class whose weights add to W_c, and W those of all"
    X, y, *_ = repeated(17, 60)
    c, w = np.where(y > 0.3, "b", "a"), np.random.default_rng(1).uniform(0.1, 2, 60)
    w[c == "b"] *= 3
    given = {name: w.sum() / 2 / w[c == name].sum() for name in "ab"}
    both = [
        clone(estimator).set_params(class_weight=by, kernel=Gaussian(1.0))
        for by in ("balanced", given)
    ]
    first, second = (fit.fit(X, c, w).decision_function(X) for fit in both)
    np.testing.assert_allclose(first, second, atol=1e-5)


@pytest.mark.parametrize(
    "estimator", [KernelSVC(Gaussian(1.0)), KernelLogistic(Gaussian(1.0))], ids=repr
)
def test_a_class_of_no_weight_is_not_learned(estimator):
    X, y, *_ = repeated(18, 60)
    c = np.array(["a", "b", "c"])[np.digitize(y, [-0.5, 0.5])]
    without = clone(estimator).fit(X[c != "a"], c[c != "a"])
    fit = clone(estimator).fit(X, c, sample_weight=np.where(c == "a", 0.0, 1.0))
    assert fit.classes_.tolist() == ["b", "c"] and np.array_equal(
        fit.predict(X), without.predict(X)
    )
    with pytest.raises(ValueError, match="y has one class, 'c', where the weights are not zero"):
        clone(estimator).fit(X, c, sample_weight=np.where(c == "c", 1.0, 0.0))


def test_many_rows_are_fitted_on_centres_of_which_enough_are_exact(monkeypatch):
    rng = np.random.default_rng(9)
    X = rng.uniform(-2, 2, (500, 2))
    y = 50 + np.sin(2 * X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=500)
    exact = KernelRidge().fit(X[:400], y[:400])
    monkeypatch.setattr(estimators, "_PATH", 100)
    monkeypatch.setattr(estimators, "_EXACT", 100)
    monkeypatch.setattr(estimators, "_CENTRES", 120)
    large = KernelRidge().fit(X, y)
    assert len(large.function_.Z) <= 120 and "on 400 points" in large.chosen_
    few, all_ = (np.std(fit.predict(X[400:]) - y[400:]) for fit in (large, exact))
    assert few < 1.1 * all_ < 0.2
    assert KernelRidge(offset=False).fit(X, y).offset_ == 0.0


@pytest.mark.parametrize("lam", [1e-3, [1e-3, 1.0]], ids=["one", "each"])
@pytest.mark.parametrize("kernel", [Linear(), Gaussian(2.0)], ids=["linear", "gaussian"])
def test_the_offset_on_centres_is_the_best_one(kernel, lam, monkeypatch):
    "Not the mean of y: a linear f is far from 0 where x is far from 0"
    monkeypatch.setattr(estimators, "_CENTRES", 60)  # more would be all of H
    rng = np.random.default_rng(1)
    X = rng.normal(5, 1, (400, 1))
    Y = np.c_[2 * X[:, 0] + 3, X[:, 0] ** 2] + 0.1 * rng.normal(size=(400, 2))
    w = rng.integers(0, 3, 400)
    exact, large = (
        KernelRidge(kernel, lam=lam, route=route).fit(X, Y, w) for route in ("exact", "landmarks")
    )
    assert large.route_ == "landmarks" and len(large.function_.Z) <= 60 < len(exact.function_.Z)
    values = [fit.predict(X) for fit in (exact, large)]
    np.testing.assert_allclose(*values, atol=1e-3 * np.abs(Y).max())
    left = w @ (Y - values[1])  # the errors sum to 0
    assert np.abs(left).max() < 1e-5 * (w @ np.abs(Y)).max()
    plain = KernelRidge(kernel, lam=lam, route="landmarks", offset=False).fit(X, Y, w)
    assert np.all(plain.offset_ == 0.0)


def test_leave_one_out_is_of_answers_not_of_their_means():
    "Ages, doses, grids: x repeats, and what answers at one x differ by is error too"
    rng = np.random.default_rng(0)
    x = np.repeat(np.arange(40.0) / 6, 25)[:, None]
    f, noise = np.sin(x[:, 0]), rng.normal(size=1000)
    fit = KernelRidge().fit(x, f + noise)
    place = np.arange(1000) // 25
    averages = np.bincount(place, f + noise) / 25
    within = np.mean((f + noise - averages[place]) ** 2)
    path = ridge_path(fit.kernel_, x[::25], averages, None, True, np.full(40, 25.0))
    assert fit.loo_ == pytest.approx(path.loo.min() + within)
    fresh = np.mean((fit.predict(x) - f) ** 2) + 1.0  # what new answers have, noise of variance 1
    assert fit.loo_ == pytest.approx(fresh, rel=0.15) and f"{fit.loo_:.4g}" in fit.chosen_
    assert KernelSVR().fit(x, f + noise).epsilon_ == pytest.approx(0.5, rel=0.15)  # half of r
    assert "on 1000 points; lam" in KernelRidge(bandwidth="evidence").fit(x, f + noise).chosen_


@pytest.mark.parametrize("estimator", [KernelRidge, KernelSVR, KernelSVC])
def test_the_unit_of_the_weights_says_nothing(estimator):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(120, 1))
    y = np.sin(2 * x[:, 0]) + 0.1 * rng.normal(size=120)
    if estimator is KernelSVC:
        y = y > 0.2
    plain, light = (estimator().fit(x, y, np.full(120, unit)) for unit in (1.0, 1e-4))
    assert light.lam_ == pytest.approx(1e-4 * plain.lam_)
    decide = "decision_function" if estimator is KernelSVC else "predict"
    ours, theirs = (getattr(fit, decide)(x) for fit in (plain, light))
    np.testing.assert_allclose(ours, theirs, atol=1e-2)


@pytest.mark.parametrize("first", [True, False], ids=["a first fit", "another fit"])
def test_a_fit_that_fails_changes_nothing(first):
    "And what was never fitted says so, in words"
    x, y = sinc()
    fit = KernelRidge(Gaussian(1.0), lam=1.0)
    if not first:
        fit.fit(x, y)
    before = dict(vars(fit))
    with pytest.raises(NotPositiveDefinite):
        fit.set_params(lam=1e-300).fit(x, y)
    assert vars(fit) == before | dict(lam=1e-300)
    if first:
        with pytest.raises(NotFittedError):
            fit.predict(x)
    else:
        assert fit.predict(x).shape == y.shape


def test_the_unit_of_a_column_says_nothing_about_another_in_a_stream():
    rng = np.random.default_rng(7)
    x = rng.uniform(-3, 3, (1500, 1))  # the start, and judged rows
    Y = np.c_[np.sin(3 * x[:, 0]) + 0.02 * rng.normal(size=1500), rng.normal(size=1500)]
    one, other = (StreamingKernelRidge().fit(x, Y * [1.0, unit]) for unit in (1.0, 2000.0))
    assert one.lam_ == other.lam_
    for when in ("before", "now"):  # of the start, and of what came after it
        errors = (getattr(fit._ahead, when) for fit in (one, other))
        np.testing.assert_allclose(*errors, rtol=1e-6)
    np.testing.assert_allclose(one.predict(x), other.predict(x) / [1.0, 2000.0], atol=1e-6)


def test_what_an_earlier_fit_found_is_gone():
    x, y = sinc()
    fit = KernelRidge().fit(x, y)
    assert fit.loo_ > 0 and not hasattr(fit.set_params(lam=1.0).fit(x, y), "loo_")
    side = y > np.median(y)
    machine = KernelSVC(probability=True).fit(x, side)
    assert hasattr(machine, "curve_")
    assert not hasattr(machine.set_params(probability=False).fit(x, side), "curve_")
    with pytest.raises(ValueError, match="NaN"):  # what is refused changes nothing
        fit.fit(x, np.full(len(y), np.nan))
    assert fit.lam_ == 1.0


def test_one_bandwidth_in_numbers_is_told_as_one():
    X = np.random.default_rng(0).normal(size=(60, 2)) * [1, 1000]
    with pytest.warns(UserWarning, match="measures all of them by one bandwidth"):
        KernelRidge(bandwidth=1.0).fit(X, X[:, 0])


def test_a_stream_in_blocks_is_the_fit_of_the_whole():
    rng = np.random.default_rng(10)
    X, Z = rng.normal(size=(300, 3)), rng.normal(size=(9, 3))
    y = np.c_[np.sin(X[:, 0]), X[:, 1] ** 2] + 0.1 * rng.normal(size=(300, 2))
    whole = StreamingKernelRidge(Gaussian(2.0)).fit(X, y)
    parts = StreamingKernelRidge(Gaussian(2.0))
    for rows in np.array_split(rng.permutation(300), 7):
        parts.partial_fit(X[rows], y[rows])
    assert parts.lam_ == whole.lam_ and parts.sums_.n == 300
    assert np.allclose(parts.predict(Z), whole.predict(Z), rtol=1e-6) and whole.predict(
        Z
    ).shape == (9, 2)
    F = whole.sums_.phi(X)
    ridge_ = Ridge(alpha=whole.lam_).fit(F, y)
    assert np.allclose(ridge_.predict(whole.sums_.phi(Z)), whole.predict(Z), atol=1e-6)
    assert StreamingKernelRidge(lam=0.5).fit(X, y[:, 0]).predict(Z).shape == (9,)


def streamed(X, y, ends, weights=None, **options):
    "The stream, cut at these rows"
    fit, w = (
        StreamingKernelRidge(n_features=40, **options),
        np.ones(len(X)) if weights is None else weights,
    )
    for a, b in zip([0, *ends], [*ends, len(X)], strict=True):
        fit.partial_fit(X[a:b], y[a:b], w[a:b])
    return fit


def rows_of_a_stream(seed, n=2600, repeated=0.4):
    "Noisy answers at points of which some, or many, are repeated; heavy tails"
    rng = np.random.default_rng(seed)
    X = rng.standard_t(3, size=(n, 3))
    again = rng.random(n) < repeated
    X[again] = X[rng.integers(0, 1 + n // 8, again.sum())]
    return X, np.sin(X[:, 0]) + 0.3 * np.abs(X[:, 1]) + 0.3 * rng.normal(size=n), rng


@pytest.mark.parametrize("repeated", [0.0, 0.4, 0.9])
@pytest.mark.parametrize("seed", range(3))
def test_no_cut_of_a_stream_changes_its_fit(seed, repeated):
    "lam, bandwidth and fit, whatever the blocks, also with repeated rows and weights; up to rounding"
    X, y, rng = rows_of_a_stream(seed, repeated=repeated)
    Z, w = rng.normal(size=(50, 3)), rng.uniform(0, 2, len(X)) if seed else None
    cuts = [[], [1, 2, 3], [999, 1000, 1001, 2000], range(130, len(X), 130),
            np.sort(rng.choice(np.arange(1, len(X)), 7, replace=False))]  # fmt: skip
    whole, *others = (streamed(X, y, list(ends), w) for ends in cuts)
    for fit in others:
        assert fit.lam_ == whole.lam_ and fit.sums_.n == whole.sums_.n
        assert fit.chosen_.split(";")[1:] == whole.chosen_.split(";")[1:]
        np.testing.assert_allclose(fit.predict(Z), whole.predict(Z), rtol=1e-6, atol=1e-6 * y.std())


def test_the_order_of_the_first_thousand_rows_and_of_repetitions_changes_nothing():
    X, y, rng = rows_of_a_stream(4, n=700)
    order, w = rng.permutation(700), rng.integers(1, 4, 700)
    whole = streamed(X, y, [], w.astype(float))
    for fit in (streamed(X[order], y[order], [20, 400], w[order].astype(float)),
                streamed(np.repeat(X, w, axis=0), np.repeat(y, w), [5, 900])):  # fmt: skip
        assert fit.lam_ == whole.lam_
        np.testing.assert_allclose(fit.predict(X), whole.predict(X), atol=1e-7 * y.std())


@pytest.mark.parametrize("seed", range(4))
def test_more_features_of_a_stream_do_not_ruin_it(seed):
    "Columns with heavy tails, scaled: few rows have most of the leverage, and GCV takes the least lam"
    rng = np.random.default_rng(seed)
    X = np.exp(1.5 * rng.normal(size=(4000, 4)))
    y = np.sin(X[:, 0]) + np.log(X[:, 1]) + 0.5 * rng.normal(size=4000)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    errors = []
    for D in (100, 300):
        fit = StreamingKernelRidge(n_features=D).fit(X[:3000], y[:3000])
        errors.append(np.mean((fit.predict(X[3000:]) - y[3000:]) ** 2))
    F = fit.sums_.phi(X)
    best = min(np.mean((Ridge(alpha=lam).fit(F[:3000], y[:3000]).predict(F[3000:]) - y[3000:]) ** 2)
               for lam in np.logspace(-6, 3, 13))  # fmt: skip
    assert errors[1] < 1.1 * errors[0] and errors[1] < 1.2 * best


def test_a_first_block_of_equal_rows_fixes_no_bandwidth():
    rng = np.random.default_rng(0)
    X, first = 40 * rng.normal(size=(1500, 2)), np.ones((50, 2))
    y = np.sin(X[:, 0] / 40)
    fit = StreamingKernelRidge(n_features=60).partial_fit(first, np.ones(50))
    assert fit.kernel_.bandwidth == 1.0 and fit.predict(first) == pytest.approx(1.0)
    assert fit.partial_fit(X, y).kernel_.bandwidth > 20 and fit.score(X, y) > 0.9


@pytest.mark.parametrize("unit", [2.0**-40, 2.0**40])
def test_a_lam_at_the_edge_is_warned_of_in_every_unit_of_y(unit):
    X = np.random.default_rng(1).normal(size=(300, 2))
    with pytest.warns(UserWarning, match="lam = 1e-06 is the least that was tried"):
        StreamingKernelRidge(Gaussian(1.0)).fit(X, unit * np.sin(X[:, 0]))


def test_a_lam_at_the_edge_is_told_and_warned_of_once():
    X = np.random.default_rng(1).normal(size=(400, 2))
    fit = StreamingKernelRidge(Gaussian(1.0))
    with pytest.warns(
        UserWarning, match="lam = 1e-06 is the least that was tried.*pass lam=, a number"
    ):
        fit.partial_fit(X[:300], np.sin(X[:300, 0]))
    assert "lam=1e-06, the best of 25 by leave-one-out; lam = 1e-06 is the least" in fit.chosen_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit.partial_fit(X[300:], np.sin(X[300:, 0]))
        assert "lam" not in StreamingKernelRidge(lam=0.5).fit(X, X[:, 0]).chosen_


def test_a_block_that_is_wrong_adds_nothing():
    X, y, _ = rows_of_a_stream(5, n=1500)
    fit = streamed(X, y, [700])
    before = fit.predict(X)
    for bad, words in ((np.c_[y, y], "as before"), (1e200 * y, "rescale")):
        with pytest.raises(ValueError, match=words):
            fit.partial_fit(X, bad)
    assert np.array_equal(fit.predict(X), before) and fit.sums_.n == 1500
    twice = streamed(np.r_[X, X], np.r_[y, y], [1500])
    np.testing.assert_allclose(fit.partial_fit(X, y).predict(X), twice.predict(X))


@pytest.mark.second_route("StreamingKernelRidge", "scikit-learn")
def test_weights_of_a_stream_are_those_of_ridge_on_its_features():
    rng = np.random.default_rng(10)
    X, y, w = rng.normal(size=(100, 2)), rng.normal(size=100), rng.uniform(0.1, 3, 100)
    fit = StreamingKernelRidge(Gaussian(2.0), lam=0.5, n_features=20)
    fit.partial_fit(X[:30], y[:30], w[:30]).partial_fit(X[30:], y[30:], w[30:])
    F = fit.sums_.phi(X)
    np.testing.assert_allclose(fit.predict(X), Ridge(alpha=0.5).fit(F, y, w).predict(F), rtol=1e-6)


def test_each_lam_of_a_stream_is_judged_by_its_last_two_fits_on_rows_they_had_not_seen():
    rng = np.random.default_rng(12)
    X, w, lams = rng.normal(size=(2500, 2)), rng.uniform(0.1, 3, 2500), np.logspace(-6, 3, 25)
    y = np.sin(X[:, 0]) + rng.normal(size=2500)
    fit = StreamingKernelRidge(Gaussian(2.0), n_features=20).fit(X, y, w)
    F, errors = fit.sums_.phi(X), np.zeros(25)
    for n, end in ((1000, 2000), (2000, 2500)):
        told = [Ridge(alpha=lam).fit(F[:n], y[:n], w[:n]).predict(F[n:end]) for lam in lams]
        errors += (np.array(told) - y[n:end]) ** 2 @ w[n:end]
    np.testing.assert_allclose(fit._ahead.errors, errors, rtol=1e-6)
    assert fit.lam_ == pytest.approx(lams[errors.argmin()])


def test_whole_weights_of_a_stream_are_repetitions_beyond_its_first_thousand_rows():
    rng = np.random.default_rng(11)
    X, times = rng.normal(size=(2500, 2)), rng.integers(1, 4, 2500)
    y, again = np.sin(X[:, 0]) + rng.normal(size=2500), np.repeat(np.arange(2500), times)
    once = StreamingKernelRidge(Gaussian(2.0), 0.5, 20).fit(X, y, times)
    repeated = StreamingKernelRidge(Gaussian(2.0), 0.5, 20).fit(X[again], y[again])
    np.testing.assert_allclose(once.predict(X[:50]), repeated.predict(X[:50]), rtol=1e-9, atol=1e-9)


# ------------------------------------------------------------------ choices
@pytest.mark.parametrize("ratio, warned", [(99.0, False), (101.0, True)])
def test_a_hundred_times_the_scale_is_warned_of(ratio, warned):
    X = np.column_stack([np.linspace(0, 1, 9), ratio * np.linspace(0, 1, 9)[::-1]])
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        KernelRidge(Gaussian(1.0), lam=1.0).fit(X, X[:, 0])
    assert any("differ in scale" in str(w.message) for w in seen) == warned


def test_prices_and_tubes_are_those_of_ridges_leave_one_out():
    "C = 1 / (2 lam) of classes, r / lam of numbers, and a tube of r / 2, in the units of y"
    rng = np.random.default_rng(3)
    X, k, lams = rng.normal(size=(40, 2)), Gaussian(0.7), KernelSVR._penalties
    y = 30 * (np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=40))
    path, fit = ridge_path(k, X, y, lams, offset=True), KernelSVR(k).fit(X, y)
    r = np.sqrt(path.loo.min())
    assert (fit.lam_, fit.C_, fit.epsilon_) == pytest.approx((path.best, r / path.best, r / 2))
    place = np.digitize(y, [-10, 10])
    against_rest = np.where(place[:, None] == np.arange(3), 1.0, -1.0)
    fit = KernelSVC().fit(X, place)
    best = ridge_path(fit.kernel_, X, against_rest, lams, offset=True)
    assert (fit.lam_, fit.C_) == pytest.approx((best.best, 1 / (2 * best.best)))
    for other in (Gaussian(0.7), Matern(1.5, 2.0), Laplace(8.0)):
        assert best.loo.min() <= ridge_path(other, X, against_rest, lams, offset=True).loo.min()
    three = SVC(C=1.0, gamma=1 / 0.98, decision_function_shape="ovr", tol=1e-6).fit(X, place)
    ours = KernelSVC(k, C=1.0, tol=1e-6).fit(X, place).decision_function(X)
    np.testing.assert_allclose(ours, three.decision_function(X), atol=1e-4)


def test_columns_of_different_scale_are_warned_of_and_measured_apart():
    X, y = load("wine").X, load("wine").y
    with pytest.warns(
        UserWarning, match=r"differ in scale by 2\.6e\+03: each was measured in"
    ) as said:
        machine = KernelSVC().fit(X, y)
    assert said[0].filename == __file__
    width = next(v for v in machine.kernel_.get_params().values() if np.ndim(v))
    assert width.shape == (13,) and machine.score(X, y) > 0.95
    with pytest.warns(
        UserWarning, match=r"Gaussian\(bandwidth=1\) measures all of them by one.*StandardSc"
    ):
        KernelSVC(Gaussian(1.0)).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make_pipeline(StandardScaler(), KernelSVC()).fit(X, y)
        KernelSVC(Mahalanobis(X.std(axis=0)), C=1.0).fit(X, y)


def test_the_choice_is_the_best_of_those_that_stood():
    X, y = smiley(200, 0)
    fit = KernelRidge().fit(X, y)
    standing, units = estimators._standing(X)
    poll = estimators._Poll(400, X, y[:, None], np.ones(200), None, True, units)
    poll.count(sum(standing, []))
    assert [len(family) for family in standing] == [2] + [len(standing[1])] * 2
    assert fit.loo_ < min(poll.errors.values())  # of those that are in the middle
    for factor in (0.5, 2.0):
        (name,) = {"bandwidth", "scales"} & set(fit.kernel_.get_params())
        other = fit.kernel_.with_params(**{name: getattr(fit.kernel_, name) * factor})
        assert ridge_path(other, X, y, offset=True).loo.min() > fit.loo_
    assert f"lam={fit.lam_:.3g}" in fit.chosen_ and "on 200 points" in fit.chosen_
    for bandwidth in ("medain", "silverman"):
        with pytest.raises(ValueError, match=f"'median' or 'loo', not '{bandwidth}'"):
            KernelRidge(bandwidth=bandwidth).fit(X, y)


SMALL = {
    "quick": ([(60, 2, 1.0), (200, 2, 1.0)], 300),
    "full": ([(60, 3, 1.0), (200, 3, 1.0), (400, 3, 0.5)], 600),
}


def test_more_voters_overrule_few_ones(monkeypatch):
    "Sixty points prefer a rough kernel; of two hundred the smooth one is the better, and it is"
    X, y = make_friedman1(1600, noise=1.0, random_state=0)
    train, test = (X[:600], y[:600]), (X[600:], y[600:])
    monkeypatch.setattr(estimators, "_PATH", 100)
    scores, fits = {}, {}
    for name, rounds in (("few", ([(60, 2, 1.0)], 60)), ("more", SMALL["quick"])):
        monkeypatch.setitem(estimators._ROUNDS, "quick", rounds)
        fits[name] = KernelRidge().fit(*train)
        scores[name] = fits[name].score(*test)
    assert "on 60 points; " in fits["few"].chosen_ and fits["few"].kernel_ != fits["more"].kernel_
    assert re.search(r"of \d+ on 60 points, of \d+ on 200 points; lam", fits["more"].chosen_)
    assert "by leave-one-out on 300 points, mean squared" in fits["more"].chosen_
    assert scores["more"] > scores["few"] + 0.02
    again = KernelRidge().fit(*train)
    assert again.chosen_ == fits["more"].chosen_ and again.kernel_ == fits["more"].kernel_


@pytest.mark.filterwarnings("ignore:lam = ")
def test_the_last_round_compares_two_or_searches_on_and_is_for_penalties(monkeypatch):
    "The rounds of the page, with a twentieth of the voters"
    for effort, (rounds, last) in estimators._ROUNDS.items():
        fewer = [(voters // 20, *others) for voters, *others in rounds]
        monkeypatch.setitem(estimators._ROUNDS, effort, (fewer, last // 20))
    monkeypatch.setattr(estimators, "_PATH", 150)
    X = np.random.default_rng(0).normal(size=(220, 2))
    y = np.sin(2 * X[:, 0]) + X[:, 1]

    def voters(estimator, y):
        return re.findall(r"(?:(\d+) )?on (\d+) points", estimator.fit(X, y).chosen_)

    for estimator, target in ((KernelRidge(lam=1.0), y), (KernelSVC(), y > 0)):
        (_, first), (_, second), last = voters(estimator, target)
        assert (first, second, last) == ("20", "50", ("2", "100"))
        *_, (many, at) = voters(estimator.set_params(effort="full"), target)
        assert int(many) >= 3 * 3 - 2 and at == "100"  # three, each beside two bandwidths
    assert [at for _, at in voters(KernelLogistic(), y > 0)] == ["20", "50"]
    assert [at for _, at in voters(KernelLogistic(effort="full"), y > 0)] == ["20", "50", "100"]
    assert [voters(KernelRidge(effort=e), y)[-1][1] for e in ("quick", "full")] == ["100", "200"]


@pytest.mark.filterwarnings("ignore:lam = ")
@pytest.mark.parametrize("effort", ["quick", "full"])
def test_no_bandwidth_a_step_away_from_the_elected_is_better(effort):
    X, y = make_friedman1(600, noise=0.3, random_state=0)
    fit = KernelRidge(effort=effort).fit(X, y)
    for step in (0.5, 2.0):  # of the points, which is that of the bandwidth the other way
        assert fit.loo_ <= KernelRidge(fit.kernel_).fit(step * X, y).loo_


def test_the_evidence_is_climbed_on_few_points_before_all(monkeypatch):
    "Shapes by leave-one-out of 200 points, their starts and climbs on 400, the last one on all"
    voted, climbed = [], []

    def noted(f, sizes, at):
        return lambda *of, **given: sizes.append(len(of[at])) or f(*of, **given)

    monkeypatch.setattr(estimators, "ridge_path", noted(estimators.ridge_path, voted, 1))
    monkeypatch.setattr(estimators, "tuned", noted(estimators.tuned, climbed, 2))
    X = np.linspace(0, 1, 410)[:, None]
    fit = GaussianProcess(noise=0.01).fit(X, np.sin(9 * X[:, 0]))
    assert fit.score(X, np.sin(9 * X[:, 0])) > 0.99
    assert voted[0] == 200 and set(voted) == {200, 400}
    assert climbed[-1] == 410 and set(climbed[:-1]) == {400}


def test_full_effort_asks_more_points_and_more_kernels(monkeypatch):
    for name, rounds in SMALL.items():
        monkeypatch.setitem(estimators._ROUNDS, name, rounds)
    X, y = make_friedman1(500, noise=1.0, random_state=1)
    monkeypatch.setattr(estimators, "_PATH", 100)
    quick, full = (KernelRidge(effort=effort).fit(X, y) for effort in ("quick", "full"))
    many = [int(n) for n in re.findall(r"(\d+) on \d+ points", full.chosen_)]
    assert re.findall(r"on (\d+) points", full.chosen_) == ["60", "200", "400", "500"]
    assert many[0] > int(re.search(r"of (\d+) on 60", quick.chosen_)[1])
    loo = [ridge_path(f.kernel_, X, y, None, True).loo.min() for f in (quick, full)]
    assert loo[1] <= loo[0] and full.loo_ == pytest.approx(loo[1])
    for effort, kind in (
        ("much", ValueError),
        (2, TypeError),
        (np.array(["quick"] * 2), TypeError),
    ):
        for estimator in (KernelRidge(), KernelSVR(), GaussianProcess()):
            with pytest.raises(kind, match="effort must be 'quick' or 'full'"):
                estimator.set_params(effort=effort).fit(X[:20], y[:20])


@pytest.mark.parametrize(
    "estimator",
    [
        KernelRidge(Gaussian(1.0), lam=0.1),
        KernelRidge(bandwidth=1.0, lam=0.1),
        KernelRidge(bandwidth="median", lam=0.2),
        KernelSVC(Laplace(1.0), C=2.0),
        KernelSVR(bandwidth=2.0, C=2.0, epsilon=0.1),
        KernelLogistic(Matern(1.5, 2.0)),
        KernelLogistic(bandwidth=1.0, scale=3.0),
        GaussianProcess(Gaussian(1.0), noise=0.1, tune=False),
    ],
    ids=repr,
)
def test_what_was_given_is_not_elected(estimator, monkeypatch):
    X, y, c, _ = mostly_zero()
    monkeypatch.setattr(estimators, "ridge_path", lambda *a: pytest.fail("a vote"))
    y = targets(estimator, y, c)
    fit = clone(estimator).fit(X, y)
    assert "leave-one-out" not in fit.chosen_
    width = fit.kernel_.get_params()
    if estimator.kernel is not None and not isinstance(
        estimator, (KernelLogistic, GaussianProcess)
    ):
        assert width == estimator.kernel.get_params()
    if isinstance(estimator, (KernelRidge, KernelSVR)):
        with pytest.raises(pytest.fail.Exception, match="a vote"):
            clone(estimator).set_params(kernel=None, bandwidth="loo").fit(X, y)


def test_who_stands_for_election():
    "Three families where the columns are few and full; no product over columns of zeros"
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))

    def families(X):
        return {k.family for of_one in estimators._standing(X)[0] for k in of_one}

    assert families(X) == {Gaussian, Matern, Laplace}
    assert (
        families(as_sparse_rows(sp.csr_array(X))) == families(X * (X > 0.5)) == {Gaussian, Matern}
    )
    assert families(rng.normal(size=(60, 101))) == {Gaussian, Matern}
    steps = np.floor(4 * rng.uniform(size=(300, 3)))
    x = rng.uniform(size=(300, 3))
    y = np.abs(x - 0.5).sum(axis=1) + 0.1 * steps[:, 0]
    assert isinstance(KernelRidge().fit(x, y).kernel_, Laplace)
    y = np.sin(4 * x.sum(axis=1)) + 0.05 * rng.normal(size=300)
    assert isinstance(KernelRidge().fit(x, y).kernel_, (Gaussian, Mahalanobis))


def test_a_bandwidth_at_the_edge_is_told():
    "Two heaps far apart, an answer inside of each: the median distance is that between them"
    rng = np.random.default_rng(0)
    inside = rng.normal(size=(200, 1))
    X, noise = 0.02 * inside + (np.arange(200) % 2)[:, None], 0.1 * rng.normal(size=200)
    fit = KernelRidge().fit(X, np.sin(12 * inside[:, 0]) + noise)
    assert re.search(
        r"bandwidth in median distances = [.\d]+ is the least that was tried; lam", fit.chosen_
    )
    assert "distances" not in KernelRidge().fit(inside, np.sin(2 * inside[:, 0])).chosen_
    poll = estimators._Poll(400, X, noise[:, None], np.ones(200), None, True, {False: 1.0})
    best = estimators._Candidate(Gaussian, False, -estimators._POWERS)
    poll.count([best])
    poll.errors |= {best: 1.0, best.moved(1): 1.01, best.moved(2): 2.0}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "= 0.0625 is the least that was tried" in poll.edge(best)
        assert not poll.edge(best.moved(1))
    poll.errors[best.moved(1)] = 1.03
    with pytest.warns(UserWarning, match="best may lie beyond: pass kernel="):
        poll.edge(best)


def test_automatic_machines_do_not_lose_to_tuned_ones():
    grid, lost = {"C": [1, 10, 100, 1000], "gamma": [1, 10, 100]}, []
    for seed in range(3):
        (X, y), (new, labels) = smiley(300, seed), smiley(1000, 100 + seed)
        tuned = GridSearchCV(SVC(), grid, cv=5).fit(X, y)
        lost.append(tuned.score(new, labels) - KernelSVC().fit(X, y).score(new, labels))
    assert np.mean(lost) < 0.01


# ------------------------------------------------------------------ machines
@pytest.mark.second_route("KernelSVC", "KernelSVR", "OneClassKernelSVM", "scikit-learn")
def test_machines_are_libsvms():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 2))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=80)
    Z, k = rng.normal(size=(20, 2)), Gaussian(0.7)
    rbf = dict(gamma=1 / (2 * 0.7**2), tol=1e-6)
    ours = KernelSVC(k, C=3.0, tol=1e-6).fit(X, y > 0)
    theirs = SVC(C=3, **rbf).fit(X, y > 0)
    assert np.allclose(ours.decision_function(Z), theirs.decision_function(Z), atol=1e-4)
    ours = KernelSVR(k, C=3.0, epsilon=0.1, tol=1e-6).fit(X, y)
    assert np.allclose(
        ours.predict(Z), SVR(C=3, epsilon=0.1, **rbf).fit(X, y).predict(Z), atol=1e-4
    )
    ours, theirs = OneClassKernelSVM(k, nu=0.2, tol=1e-6).fit(X), OneClassSVM(nu=0.2, **rbf).fit(X)
    assert np.allclose(ours.decision_function(Z), theirs.decision_function(Z), atol=1e-4)


def test_the_edge_of_one_class_is_inside():
    X = np.random.default_rng(3).normal(size=(60, 2))
    fit = OneClassKernelSVM(Gaussian(0.7), nu=0.2).fit(X)
    np.testing.assert_allclose(
        fit.decision_function(X), fit.score_samples(X) - fit.offset_, atol=1e-12
    )
    assert (fit.score_samples(X) > fit.offset_).mean() > 0.7 and fit.offset_ > 0
    one = OneClassKernelSVM(Gaussian(0.7)).fit(np.ones((5, 2)))
    assert (
        0 <= one.decision_function(np.ones((1, 2)))[0] < 1e-12
        and one.predict(np.ones((1, 2)))[0] == 1
    )


def test_support_counts_the_rows_one_passed():
    rng = np.random.default_rng(4)
    X, y = smiley(150, 1)
    X, y = X[rng.permutation(150)], y
    machine = KernelSVC(Gaussian(0.2), C=5.0).fit(X, y)
    f = machine.function_
    assert (
        np.array_equal(np.sort(f.Z, axis=0), np.sort(X[machine.support_], axis=0))
        and machine.gap_ < 1e-3
    )
    order = np.lexsort(X.T[::-1])
    check_kkt(machine.machine_, X[order], y[order], C=5.0)


def test_labels_of_any_type_and_votes():
    X, y = (
        load("iris").X,
        np.array(["setosa", "versicolor", "virginica"], dtype=object)[load("iris").y],
    )
    machine = KernelSVC(Gaussian(1.0), C=1.0).fit(X, pd.Series(y))
    chapters = svc_multiclass(Gaussian(1.0), X, y)
    assert machine.predict(X).tolist() == chapters.predict(X).tolist()
    assert machine.decision_function(X).shape == (150, 3) and list(machine.classes_) == sorted(
        set(y)
    )


def test_probabilities_are_calibrated_and_only_where_asked_for():
    assert not hasattr(KernelSVC(), "predict_proba")
    off = []
    for seed in range(6):
        X, y = smiley(2400, seed)
        y = np.where(
            np.random.default_rng(seed).random(2400) < 0.15, -y, y
        )  # a sixth of the labels flipped
        machine = KernelSVC(probability=True).fit(X[:600], y[:600])
        p = machine.predict_proba(X[600:])
        assert np.allclose(p.sum(axis=1), 1)
        sure = p.max(axis=1) > np.median(p.max(axis=1))
        right = machine.classes_[p.argmax(axis=1)] == y[600:]
        off.append([right[half].mean() - p.max(axis=1)[half].mean() for half in (sure, ~sure)])
    assert (
        np.abs(np.mean(off, axis=0)).max() < 0.08
    )  # right answers are as frequent as was promised


# ------------------------------------------------------------------ tables, files, pages
def test_frames_pipelines_and_names():
    table = load("diabetes")
    frame = pd.DataFrame(table.X, columns=table.feature_names)
    fit = make_pipeline(StandardScaler().set_output(transform="pandas"), KernelRidge()).fit(
        frame, table.y
    )
    assert (
        list(fit[-1].feature_names_in_) == list(table.feature_names)
        and fit.score(frame, table.y) > 0.4
    )
    with pytest.raises(ValueError, match="feature names"):
        fit[-1].predict(frame[frame.columns[::-1]])


def test_estimators_travel():
    X, y = smiley(60, 0)
    fit = KernelSVC(Sum(a=Gaussian(0.2), b=Linear())).fit(X, y)
    again = pickle.loads(pickle.dumps(fit))
    assert np.array_equal(again.decision_function(X), fit.decision_function(X))
    assert again.kernel_ == fit.kernel_


ANSWERS = (
    "predict",
    "predict_proba",
    "decision_function",
    "transform",
    "score_samples",
    "transform_y",
)
FITTED = [
    *(cls() for cls in CLASSES),
    KernelSVC(Sum(a=Gaussian(1.0), b=Linear()), probability=True, class_weight={"c": 2.0}),
    KernelRidge(Matern(1.5, 1.0).on([0, 2]), lam=0.3, offset=False),
]


@pytest.mark.second_route("load_model", "the estimator that was saved")
@pytest.mark.parametrize("estimator", FITTED, ids=repr)
def test_a_saved_estimator_comes_back_to_the_last_bit(estimator, tmp_path):
    rng = np.random.default_rng(12)
    frame = pd.DataFrame(rng.normal(size=(40, 3)), columns=["a", "b", "c"])
    levels = np.array(["a", "b", "c"], object)[np.digitize(frame["a"] * frame["b"], [-0.2, 0.2])]
    fit = clone(estimator).fit(frame, levels if is_classifier(estimator) else frame["a"] ** 2)
    fit.save(tmp_path / "fit.npz")
    again = rkhs_notes.load_model(tmp_path / "fit.npz")
    assert type(again) is type(fit) and repr(again) == repr(fit)
    assert (
        list(again.feature_names_in_) == ["a", "b", "c"] and vars(again).keys() == vars(fit).keys()
    )
    asked = [name for name in ANSWERS if hasattr(fit, name)] or ["score"]
    for name in asked:
        points = frame["a"] if name == "transform_y" else frame
        assert np.array_equal(getattr(again, name)(points), getattr(fit, name)(points)), name
    if is_classifier(fit):
        assert again.classes_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names"):
        getattr(again, asked[0])(frame[["b", "a", "c"]])


def test_a_loaded_stream_goes_on_and_loaded_texts_are_points(tmp_path):
    rng = np.random.default_rng(13)
    X, more = rng.normal(size=(2, 50, 2))
    fit = StreamingKernelRidge(Gaussian(1.0)).fit(X, X[:, 0])
    fit.save(tmp_path / "s.npz")
    again = rkhs_notes.load_model(tmp_path / "s.npz").partial_fit(more, more[:, 0])
    assert np.array_equal(again.predict(X), fit.partial_fit(more, more[:, 0]).predict(X))
    words = ["kernel", "kernels", "colonel", "ridge", "bridge", "ridges"]
    machine = KernelSVC(Spectrum(2).normalized()).fit(words, [0, 0, 0, 1, 1, 1])
    machine.save(tmp_path / "w.npz")
    assert rkhs_notes.load_model(tmp_path / "w.npz").predict(["kernelled", "ridged"]).tolist() == [
        0,
        1,
    ]


def test_what_cannot_be_saved_or_opened_says_what_to_do(tmp_path):
    class Mine(KernelRidge):
        pass

    X = np.random.default_rng(0).normal(size=(10, 2))
    with pytest.raises(TypeError, match="Mine is a class of your own.*joblib"):
        Mine().fit(X, X[:, 0]).save(tmp_path / "m.npz")
    with pytest.raises(TypeError, match="a file holds no code"):
        KernelRidge(Linear().on(np.tanh)).fit(X, X[:, 0]).save(tmp_path / "m.npz")
    KernelRidge().fit(X, X[:, 0]).save(tmp_path / "model.npz")
    with pytest.raises(FileNotFoundError, match="Did you mean model.npz"):
        rkhs_notes.load_model(tmp_path / "modle.npz")
    with pytest.raises(OSError, match="it is a folder"):
        rkhs_notes.load_model(tmp_path)
    with pytest.raises(OSError, match="Make the folder first"):
        KernelRidge().save(tmp_path / "no" / "m.npz")
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(KernelRidge()))
    with pytest.raises(ValueError, match="no file of this package.*make it again with save"):
        rkhs_notes.load_model(tmp_path / "m.pkl")


@pytest.mark.parametrize(
    "name", ["html", "LogisticRegression", "KernelEstimator.fit", "_elected", "os"]
)
def test_a_file_names_no_other_class_than_an_estimator(name):
    with pytest.raises(ValueError, match="is no estimator of this package"):
        from_expression({"estimator_of": [name, {"dict": []}]}, {})


def test_the_kernel_is_typeset_above_the_diagram():
    X, y = smiley(60, 0)
    fit = KernelSVC(Gaussian(0.2)).fit(X, y)
    page = fit._repr_mimebundle_(include=None, exclude=None)["text/html"]
    assert (
        fit.kernel_._repr_latex_().split("{")[0] in page and "sk-" in page and "as passed" in page
    )
    before = KernelSVC(Matern(1.5, 0.3))._repr_mimebundle_(include=None, exclude=None)["text/html"]
    assert page.startswith("<p>$") and before.startswith("<p>$") and "sk-" in before
    bare = KernelSVC()._repr_mimebundle_(include=None, exclude=None)["text/html"]
    assert not bare.startswith("<p>")  # no kernel yet, no formula
    hostile = KernelSVC(Sum(**{"a": Gaussian(0.2), "b": Linear()})).fit(
        X, np.where(y > 0, "<b>", "&")
    )
    assert (
        "<b>"
        not in hostile._repr_mimebundle_(include=None, exclude=None)["text/html"].split("sk-")[0]
    )


WEIGHTED = [cls for cls in CLASSES if "sample_weight" in inspect.signature(cls.fit).parameters]


@pytest.mark.parametrize("cls", WEIGHTED)
def test_weights_are_routed_through_a_pipeline(cls):
    assert len(WEIGHTED) >= 7
    X, y, w, *_ = repeated(20)
    y = y > 0 if is_classifier(cls()) else y
    scaler = StandardScaler()
    with config_context(enable_metadata_routing=True):
        chain = make_pipeline(scaler.set_fit_request(sample_weight=False), cls())
        with pytest.raises((ValueError, TypeError), match="(?s)sample_weight.*not explicitly set"):
            chain.fit(X, y, sample_weight=w)  # neither asked for nor declined
        chain[-1].set_fit_request(sample_weight=True)
        routed = clone(chain).fit(X, y, sample_weight=w)
    Z = StandardScaler().fit_transform(X)
    by_hand, without = cls().fit(Z, y, sample_weight=w), cls().fit(Z, y)
    name = (
        "predict"
        if hasattr(by_hand, "function_") and not hasattr(by_hand, "decision_function")
        else ("decision_function")
    )
    values = getattr(routed, name)(X)
    assert np.array_equal(values, getattr(by_hand, name)(Z))
    assert not np.allclose(values, getattr(without, name)(Z), atol=1e-3)


def test_weights_are_routed_through_a_search():
    X, y, w, *_ = repeated(21)
    lams, folds = [1e-3, 1.0, 30.0], KFold(3)
    with config_context(enable_metadata_routing=True):
        model = KernelRidge(Gaussian(1.0)).set_fit_request(sample_weight=True)
        score = get_scorer("r2").set_score_request(sample_weight=False)
        grid = {"kernelridge__lam": lams}
        search = GridSearchCV(make_pipeline(model), grid, scoring=score, cv=folds)
        search.fit(X, y, sample_weight=w)

    def fits(lam, rows):
        return KernelRidge(Gaussian(1.0), lam=lam).fit(X[rows], y[rows], w[rows])

    by_hand = [
        np.mean([fits(lam, some).score(X[rest], y[rest]) for some, rest in folds.split(X)])
        for lam in lams
    ]
    assert np.allclose(search.cv_results_["mean_test_score"], by_hand)
    plain = GridSearchCV(KernelRidge(Gaussian(1.0)), {"lam": lams}, cv=folds).fit(X, y)
    assert not np.allclose(plain.cv_results_["mean_test_score"], by_hand, atol=1e-3)
    assert np.array_equal(
        search.predict(X), fits(search.best_params_["kernelridge__lam"], slice(None)).predict(X)
    )


TRANSFORMERS = [cls for cls in CLASSES if hasattr(cls, "transform")]


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("cls", TRANSFORMERS)
def test_frames_come_out_of_every_transformer(cls, library):
    assert len(TRANSFORMERS) >= 5
    rng = np.random.default_rng(22)
    frame = pd.DataFrame(rng.normal(size=(30, 2)), columns=["a", "b"], index=np.arange(100, 130))
    chain = make_pipeline(StandardScaler(), cls()).fit(frame, frame["a"])
    values = chain.transform(frame)
    out = chain.set_output(transform=library).transform(frame)
    names = [f"{cls.__name__.lower()}{i}" for i in range(values.shape[1])]
    assert list(out.columns) == names == list(chain.get_feature_names_out())
    assert np.array_equal(out.to_numpy(), values)
    assert library == "polars" or list(out.index) == list(frame.index)


@pytest.mark.parametrize("cls", [KernelRidge, StreamingKernelRidge])
def test_several_targets_are_several_fits(cls):
    X, y, w, *_ = repeated(23)
    Y = np.c_[y, y**2, X[:, 0]]
    together = cls(Gaussian(1.0), lam=0.1).fit(X, Y, sample_weight=w)
    alone = [
        cls(Gaussian(1.0), lam=0.1).fit(X, target, sample_weight=w).predict(X) for target in Y.T
    ]
    assert (
        np.allclose(together.predict(X), np.column_stack(alone))
        and together.predict(X).shape == Y.shape
    )


@pytest.mark.parametrize("cls", CLASSES)
def test_fits_are_pickled_dumped_and_copied(cls, tmp_path):
    X, y, *_ = repeated(24)
    y = np.where(y > 0, "up", "down") if is_classifier(cls()) else y
    fit = cls().fit(X, y)
    name = next((name for name in ANSWERS if hasattr(fit, name)), "score")
    values = getattr(fit, name)(X)
    joblib.dump(fit, tmp_path / "fit.joblib")
    for again in (
        pickle.loads(pickle.dumps(fit)),
        joblib.load(tmp_path / "fit.joblib"),
        copy.deepcopy(fit),
    ):
        assert again is not fit and np.array_equal(getattr(again, name)(X), values)


def test_two_processes_score_as_one():
    X, y = smiley(80, 0)
    machine = KernelSVC(Sum(a=Gaussian(0.2), b=Linear()), C=3.0)
    one, two = (cross_val_score(machine, X, y, cv=4, n_jobs=jobs) for jobs in (1, 2))
    assert np.array_equal(one, two) and len(set(one)) > 1


def test_a_column_of_texts_beside_numbers_in_a_pipeline():
    rng = np.random.default_rng(25)
    roots = np.array(["kernel", "ridge"])
    words = [f"{roots[i % 2]}{'s' * (i % 3)}" for i in range(60)]
    frame = pd.DataFrame({"word": words, "x": rng.normal(size=60)})
    y = np.where(np.arange(60) % 2, 3.0, -1.0) + frame["x"]
    texts = NystromFeatures(Spectrum(2).normalized(), 6)
    columns = ColumnTransformer([("texts", texts, "word"), ("numbers", StandardScaler(), ["x"])])
    chain = make_pipeline(columns, Ridge(1e-3))
    fit = clone(chain).fit(frame[:40], y[:40])
    assert fit.score(frame[40:], y[40:]) > 0.99
    swapped = frame[40:].assign(word=frame["word"][39:59].to_numpy())  # the other root
    assert fit.score(swapped, y[40:]) < 0.5
    grid = {"columntransformer__texts__kernel": [Spectrum(2).normalized(), Spectrum(9)]}
    search = GridSearchCV(chain, grid, cv=3).fit(frame, y)
    assert search.best_params_["columntransformer__texts__kernel"] == Spectrum(2).normalized()


def test_a_long_climb_shows_how_far_it_is(monkeypatch):
    shown = []

    def bar(starts, **options):
        shown.append((len(starts), options["delay"]))
        return starts

    monkeypatch.setattr(search_engine, "tqdm", bar)
    x, y = sinc()
    GaussianProcess(restarts=2).fit(x, y)
    assert (3, 10) in shown  # three starts, and a bar after ten seconds


# ------------------------------------------------------------------ processes and probabilities
def sinc(n=40, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-3, 3, (n, 1))
    return x, 100 + 7 * np.sinc(x[:, 0]) + 0.5 * rng.normal(size=n)


def test_the_process_is_the_chapters_at_a_maximum_of_the_evidence():
    x, y = sinc()
    fit = GaussianProcess().fit(x, y)
    chapters = gaussian_process(fit.kernel_, x, y - y.mean(), fit.noise_)
    mean, std = fit.predict(x[:5], return_std=True)
    assert np.allclose(mean, chapters(x[:5]) + y.mean()) and np.allclose(
        std**2, chapters.var(x[:5])
    )
    assert np.allclose(fit.predict(x[:5], return_cov=True)[1], chapters.cov(x[:5]))
    top = fit.process_.log_marginal
    for name, value in fit.kernel_.get_params().items():
        for factor in (0.8, 1.25) * (not name.endswith("nu")):  # which is not tuned
            other = fit.kernel_.with_params(**{name: factor * value})
            assert log_marginal(other, x, y - y.mean(), fit.noise_)[0] < top + 1e-6
    assert log_marginal(fit.kernel_, x, y - y.mean(), 1.3 * fit.noise_)[0] < top


@pytest.mark.parametrize("seed", [0, 1])
def test_a_process_does_not_end_in_noise(seed):
    X, y = make_friedman1(300, noise=1.0, random_state=seed)
    fit = GaussianProcess().fit(X[:120], y[:120])
    assert fit.score(X[120:], y[120:]) > 0.7 and fit.noise_ < 0.3 * y.var()


@pytest.mark.parametrize("seed", [0, 1])
def test_a_process_has_a_length_for_each_column_and_says_which_do_nothing(seed):
    X, y = make_friedman1(300, noise=1.0, random_state=seed)  # columns 5 to 9 are noise
    fit, one = GaussianProcess().fit(X[:200], y[:200]), GaussianProcess(1.0 * Gaussian(1.0))
    error, other = (1 - m.score(X[200:], y[200:]) for m in (fit, one.fit(X[:200], y[:200])))
    assert error < 0.8 * other
    idle = fit.chosen_.partition("columns ")[2].split(" do nothing")[0].split(", ")
    assert set(idle) <= set("56789") and len(idle) >= 4


FLAT = {  # (X, answers, deviation of their noise) where a bandwidth of 1 a column sees no neighbour
    "two columns of eight": lambda r: (
        X := r.normal(size=(240, 8)),
        X[:, 0] + np.sin(X[:, 1]),
        0.1,
    ),
    "a line": lambda r: (X := 1.5 * r.normal(size=(240, 8)), X[:, 0], 0.01),
    "levels": lambda r: (
        X := np.round(2 * r.normal(size=(240, 6))),
        X[:, 0] + X[:, 1] ** 2 / 4,
        0.05,
    ),
}


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("kind", FLAT)
def test_a_process_does_not_stick_where_the_evidence_is_flat(kind, seed):
    "Another start reaches no more, the noise is found, and intervals keep what they promise"
    rng = np.random.default_rng(seed)
    X, f, deviation = FLAT[kind](rng)
    y, few = f + deviation * rng.normal(size=240), slice(160)
    k = Mahalanobis(np.ones(X.shape[1]))
    fit = GaussianProcess(k).fit(X[few], y[few])
    centred = y[few] - y[few].mean()
    for share in (0.5, 0.03, 1e-3):
        start = y.var() * k, share * y.var()
        other = fit_hyperparameters(start[0], X[few], centred, start[1], tol=1e-5)
        assert other.log_marginal < fit.process_.log_marginal + 3
    assert deviation**2 / 4 < fit.noise_ < 4 * deviation**2
    mean, std = fit.predict(X[160:], return_std=True)
    inside = np.abs(mean - y[160:]) < 1.645 * np.sqrt(std**2 + fit.noise_)
    assert inside.mean() > 0.75


def test_the_evidence_is_of_all_points_where_there_is_time():
    X, y = make_friedman1(600, noise=1.0, random_state=0)
    fit = GaussianProcess(Mahalanobis(np.ones(10))).fit(X, y)
    (name, scales), *_ = [
        (n, v) for n, v in fit.kernel_.get_params().items() if n.endswith("scales")
    ]
    for factor in (0.9, 1.1):
        for i in range(5):  # the columns that matter
            other = fit.kernel_.with_params(
                **{name: scales * np.where(np.arange(10) == i, factor, 1.0)}
            )
            value = log_marginal(other, X, y - y.mean(), fit.noise_)[0]
            assert value < fit.process_.log_marginal + 0.1


def test_a_process_that_is_not_tuned_keeps_what_was_passed():
    x, y = sinc()
    fit = GaussianProcess(Gaussian(0.7), noise=0.25, tune=False).fit(x, y)
    assert fit.noise_ == 0.25 and fit.kernel_ == Gaussian(0.7)
    for Y in (y, np.c_[y, 50 * y]):
        open_ = GaussianProcess(Gaussian(0.7), tune=False).fit(x, Y)
        assert open_.kernel_ == Gaussian(0.7) and open_.noise_ == open_.lam_
        assert np.all(open_.unit_ == 1.0)
    scaled = GaussianProcess(noise=0.25, tune=False).fit(x, y)  # its own kernel is as large as y
    assert np.allclose(scaled.kernel_.diag(x), y.var())
    kept = GaussianProcess(Gaussian(0.7), noise=0.25).fit(x, y)
    assert np.isclose(kept.noise_, 0.25) and kept.kernel_ != fit.kernel_


def test_what_a_process_found_is_a_process_to_keep():
    x, y = sinc()
    for Y in (100 * y, np.c_[100 * y, y]):
        fit = GaussianProcess(noise=25.0).fit(x, Y)
        again = GaussianProcess(fit.kernel_, noise=fit.noise_, tune=False).fit(x, Y)
        values = fit.predict(x, return_std=True), again.predict(x, return_std=True)
        np.testing.assert_allclose(*values, rtol=1e-9)
        own = gaussian_process(fit.kernel_, x, Y - Y.mean(axis=0), fit.noise_)
        np.testing.assert_allclose(values[0][0], own(x) + Y.mean(axis=0), rtol=1e-9)


def test_a_noise_is_in_the_units_of_y_for_every_column():
    x, y = sinc()
    one = GaussianProcess(noise=25.0).fit(x, 100 * y)
    two = GaussianProcess(noise=25.0).fit(x, np.c_[100 * y, 100 * y])
    assert two.noise_ == 25.0 and two.unit_ == 1.0
    gap = np.abs(two.predict(x) - one.predict(x)[:, None]).max()
    assert gap < 5.0  # the deviation of the noise: of two equal columns the evidence is another


@pytest.mark.parametrize("columns", [None, 1, 2])
def test_deviations_have_the_shape_of_means(columns):
    x, y = sinc()
    if columns:
        y = np.column_stack([y] * columns)
    fit, t = GaussianProcess().fit(x, y), x[:7]
    mean, std = fit.predict(t, return_std=True)
    _, cov = fit.predict(t, return_cov=True)
    assert mean.shape == std.shape == (7, *y.shape[1:]) and cov.shape == (7, 7, *y.shape[1:])
    assert fit.sample_y(t, 3).shape == (7, *y.shape[1:], 3)


@pytest.mark.parametrize(
    "weights", [None, np.r_[np.ones(100), np.full(100, 50.0)]], ids=["none", "of 50"]
)
def test_answers_without_noise_leave_what_rounding_needs(weights, monkeypatch):
    "Evidence grows as the noise falls, to where those that vote can just be factored, and all cannot"
    monkeypatch.setattr(estimators._voters, "__defaults__", (50,))
    x = np.random.default_rng(1).normal(size=(200, 1))
    fit = GaussianProcess().fit(x, np.sin(x[:, 0]), weights)
    assert np.abs(fit.predict(x) - np.sin(x[:, 0])).max() < 1e-3
    least = (
        4
        * len(x) ** 2
        * np.finfo(float).eps
        * fit.kernel_.diag(x).max()
        * (1 if weights is None else 50)
    )
    assert fit.noise_ == pytest.approx(least) and fit.chosen_.endswith("for rounding hides less")


@pytest.mark.parametrize("noise", [1e-12, 1e-11, 1e-9])
def test_a_tiny_noise_that_is_passed_leaves_a_curve_between_the_points(noise):
    "Where the kernel cannot be large against it, evidence climbs to points that know nothing of each other"
    for seed in range(3):
        x, new = np.random.default_rng(seed).normal(size=(60, 1)), np.linspace(-1, 1, 50)[:, None]
        fit = GaussianProcess(noise=noise).fit(x, np.sin(x[:, 0]))
        assert np.abs(fit.predict(new) - np.sin(new[:, 0])).max() < 1e-4


def test_the_band_of_a_process_covers_what_it_promises():
    x, y = sinc(60)
    fit = GaussianProcess().fit(x, y)
    new, answers = sinc(1000, 1)
    mean, std = fit.predict(new, return_std=True)
    inside = np.abs(answers - mean) < 1.96 * np.sqrt(std**2 + fit.noise_)
    assert 0.9 < inside.mean() < 0.99
    draws = fit.sample_y(new[:4], 4000)
    assert draws.shape == (4, 4000) and np.allclose(
        draws.mean(axis=1), mean[:4], atol=5 * std[:4].max() / 63
    )


def test_logistic_probabilities_are_calibrated_and_reach_many_classes():
    X, y = smiley(900, 5)
    y = np.where(np.random.default_rng(0).random(900) < 0.15, -y, y)
    machine = KernelLogistic().fit(X[:400], y[:400])
    p = machine.predict_proba(X[400:])[:, 1]
    for low, high in ((0.0, 0.3), (0.3, 0.7), (0.7, 1.0)):
        bin = (p >= low) & (p <= high)
        share = (y[400:][bin] > 0).mean()
        assert abs(share - p[bin].mean()) < 0.03 + 3 * np.sqrt(0.25 / bin.sum())
    iris = load("iris")
    many = KernelLogistic(Gaussian(1.0)).fit(iris.X, iris.y)
    assert (
        np.allclose(many.predict_proba(iris.X).sum(axis=1), 1) and many.score(iris.X, iris.y) > 0.95
    )


@pytest.mark.second_route("KernelLogistic", "a search over a grid")
def test_the_scale_has_the_largest_evidence():
    X, y = smiley(150, 0)
    best = KernelLogistic(Gaussian(0.2)).fit(X, y)
    top = best.classifiers_[0].log_marginal
    for scale in (1.0, 3.0, 10.0, 30.0, 100.0, 300.0):
        other = KernelLogistic(Gaussian(0.2), scale=scale).fit(X, y)
        assert other.classifiers_[0].log_marginal <= top and np.isclose(other.lam_, 0.5 / scale)


def test_all_classes_and_scales_share_one_matrix(monkeypatch):
    X, y = smiley(120, 0)
    seen, gram = [], laplace_method.gram_matrix
    monkeypatch.setattr(
        laplace_method, "gram_matrix", lambda k, X: seen.append((k, len(X))) or gram(k, X)
    )
    fit = KernelLogistic(Gaussian(0.2)).fit(X, np.arange(120) % 4)
    assert len(fit.classifiers_) == 4 and len(seen) > 5
    assert seen == list(dict.fromkeys(seen)) and {n for _, n in seen} == {120}
    seen.clear()
    KernelLogistic(Gaussian(0.2), scale=3.0).fit(X, y)
    assert seen == [(3.0 * Gaussian(0.2), 120)]


@pytest.mark.parametrize("scale", [1.0, "evidence"])
def test_log_odds_of_a_line_in_large_units(scale):
    "Its matrix has rank 1 and entries of a million: what long steps enlarge is rounding, mostly"
    x = np.array([[34.0], [-20.0], [51.0], [-47.0], [12.0], [-9.0], [28.0], [-33.0]])
    fit = KernelLogistic(Linear(), scale=scale).fit(1000 * x, x[:, 0] > 0)
    of_units = KernelLogistic(Linear(), scale=1e6 * 0.5 / fit.lam_).fit(x, x[:, 0] > 0)
    own, other = fit.classifiers_[0], of_units.classifiers_[0]
    assert own.log_marginal == pytest.approx(other.log_marginal, abs=1e-3)
    np.testing.assert_allclose(own(1000 * x), other(x), rtol=1e-3)


def clusters(seed, gap):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2)) + np.repeat([[0.0, 0], [gap, 0]], 30, axis=0)
    return X, np.repeat(["left", "right"], 30)


@pytest.mark.parametrize("seed", range(6))
def test_the_ladder_of_scales_goes_on_while_the_evidence_rises(seed):
    X, y = clusters(seed, 4.0)
    k = Gaussian(1.5)
    fit = KernelLogistic(k).fit(X, y)
    for factor in (1 / 3, 3.5):
        other = KernelLogistic(k, scale=0.5 / fit.lam_ * factor).fit(X, y)
        assert other.classifiers_[0].log_marginal <= fit.classifiers_[0].log_marginal + 0.02
    assert "tried" not in fit.chosen_


def test_a_scale_at_the_end_of_the_ladder_is_told():
    X = np.linspace(-1, 1, 60)[:, None]
    with pytest.warns(UserWarning, match="scale = 1e[+]06 is the largest that was tried"):
        fit = KernelLogistic(Gaussian(50.0)).fit(X, X[:, 0] > 0)
    assert "largest that was tried" in fit.chosen_


def test_labels_of_steep_processes_follow_the_mean():
    X, y = clusters(0, 5.0)
    fit = KernelLogistic(Gaussian(1.0), scale=1e6).fit(X, y)
    new = np.random.default_rng(1).uniform(-4, 9, (200, 2))
    assert set(fit.predict(new)) == {"left", "right"} and fit.score(X, y) > 0.95
    assert np.array_equal(fit.predict(new) == "right", fit.function_(new) > 0)
    assert np.array_equal(fit.predict_proba(new)[:, 1] > 0.5, fit.decision_function(new) > 0)
    softmax = np.exp(fit.decision_function(new)) / (1 + np.exp(fit.decision_function(new)))
    assert np.allclose(fit.predict_proba(new)[:, 1], softmax)


@pytest.mark.parametrize("seed, q", [(0, 2), (1, 3)])
def test_the_temperature_is_about_that_of_refits(seed, q):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2))
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=60), [-0.5, 0.5] if q == 3 else [0.0])
    fit = KernelLogistic(Gaussian(1.0), scale=100.0).fit(X, y)
    order = estimators._merged(X, y)[0]
    left_out = np.zeros((60, q if q > 2 else 1))
    for i in range(60):
        rest = np.delete(np.arange(60), i)
        for c, column in zip(range(q == 2, q), range(q), strict=False):
            one = gp_classification(fit.kernel_, X[rest], y[rest] == c)
            left_out[i, column] = one.mean(X[i : i + 1])[0]
    quick = np.column_stack([estimators._left_out(c, X[order]) for c in fit.classifiers_])
    assert np.corrcoef(quick.ravel(), left_out[order].ravel())[0, 1] > 0.99
    by_refits = estimators._temperature(left_out, y, np.ones(60))
    assert np.isclose(fit.temperature_, by_refits, rtol=0.2) and abs(np.log(fit.temperature_)) > 0.1
    np.testing.assert_allclose(
        fit.decision_function(X), fit.function_(X) / fit.temperature_, rtol=1e-12
    )
    odds = left_out if q > 2 else np.hstack([0 * left_out, left_out])
    least = minimize_scalar(  # of u = −log T with its prior
        lambda u: u**2 / 2 + 60 * log_loss(y, softmax(np.exp(u) * odds, axis=1)), bracket=(-1, 1)
    )
    assert by_refits == pytest.approx(np.exp(-least.x), rel=1e-5)


def test_many_classes_promise_as_much_as_they_keep():
    "Log loss within a tenth of the plain curve's, on three splits; averages are far too flat"
    digits = load("digits")
    for seed in range(3):
        few, rest = np.split(np.random.default_rng(seed).permutation(len(digits.X)), [300])
        fit = KernelLogistic().fit(digits.X[few], digits.y[few])
        odds, answers = fit.function_(digits.X[rest]), digits.y[rest]
        plain = np.exp(odds) / np.exp(odds).sum(axis=1)[:, None]
        promised = fit.predict_proba(digits.X[rest])
        ours, curve = (log_loss(answers, p) for p in (promised, plain))
        assert ours < 1.1 * curve
        assert abs(promised.max(axis=1).mean() - fit.score(digits.X[rest], answers)) < 0.04


# ------------------------------------------------------------------ transformers
@pytest.mark.second_route("NystromFeatures", "RandomFeatures", "the kernel's own matrix")
@pytest.mark.second_route("CoupledEmbedding", "KernelCCA", "the chapter's function")
def test_transformers_are_the_chapters():
    rng = np.random.default_rng(6)
    X, Y = rng.normal(size=(60, 3)), rng.normal(size=(60, 2))
    X[:, 0] += Y[:, 0]
    k, Z = Gaussian(1.5), rng.normal(size=(5, 3))
    step = NystromFeatures(k, 20, "uniform", random_state=3).fit(X)
    assert step.transform(Z).shape == (5, 20) == (5, len(step.get_feature_names_out()))
    for rule in ("rpcholesky", "uniform", "kmeans"):
        a, again, b = (
            NystromFeatures(k, 20, rule, random_state=i).fit_transform(X) for i in (3, 3, 4)
        )
        assert np.array_equal(a, again) and not np.array_equal(a, b)
    whole = NystromFeatures(k, 60).fit(X)
    assert np.allclose(whole.transform(X) @ whole.transform(Z).T, k(X, Z))
    waves = RandomFeatures(k, 4000).fit(X)
    assert np.abs(waves.transform(X) @ waves.transform(Z).T - k(X, Z)).max() < 0.1
    both = KernelCCA(k, Gaussian(1.0), 2, reg=0.5).fit(X, Y)
    assert np.allclose(
        both.correlations_, kernel_cca(k, Gaussian(1.0), X, Y, 0.5, 2, rng=0).correlations
    )
    assert both.transform(Z).shape == (5, 2) and both.transform_y(Y[:4]).shape == (4, 2)
    pair = CoupledEmbedding(k, Gaussian(1.0), 2).fit(X, Y)
    values = coupled_embedding(k, Gaussian(1.0), X, Y, n_components=2).eigenvalues
    assert np.allclose(pair.embedding_.eigenvalues, values)
    found, few = CoupledEmbedding().fit(X, Y), CoupledEmbedding().fit(X[:8], Y[:8])
    assert found.transform(Z).shape == (5, 10) and few.transform(Z).shape == (5, 7)
    searched = clone(both).set_params(kernel_y__bandwidth=3.0)
    assert searched.kernel_y == Gaussian(3.0) and both.kernel_y == Gaussian(1.0)


def test_a_process_of_several_columns(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (80, 2))
    Y = np.column_stack([np.sin(2 * X[:, 0]), 5 + np.cos(X[:, 1])])
    Y += 0.1 * rng.normal(size=Y.shape)
    fit = GaussianProcess().fit(X, Y)
    Z = rng.uniform(-2, 2, (9, 2))
    mean, std = fit.predict(Z, return_std=True)
    assert mean.shape == std.shape == (9, 2) and fit.score(X, Y) > 0.95
    assert np.abs(mean[:, 0] - np.sin(2 * Z[:, 0])).max() < 0.5
    cov = fit.predict(Z, return_cov=True)[1]
    assert cov.shape == (9, 9, 2) and np.allclose(np.einsum("iit->it", cov), std**2)
    assert fit.sample_y(Z, 5).shape == (9, 2, 5)
    many = fit.sample_y(Z, 4000)
    assert np.allclose(many.mean(axis=-1), mean, atol=0.05)
    scaled = GaussianProcess().fit(X, Y * [1.0, 1000.0])  # each column in its own unit
    assert np.allclose(scaled.predict(Z), mean * [1.0, 1000.0], rtol=1e-4, atol=1e-3)
    assert np.allclose(scaled.predict(Z, return_std=True)[1], std * [1.0, 1000.0], rtol=1e-3)
    peer = ridge(fit.kernel_, X, (Y - Y.mean(axis=0)) / Y.std(axis=0), fit.noise_)
    assert np.allclose(mean, peer(Z) * Y.std(axis=0) + Y.mean(axis=0))
    fit.save(tmp_path / "fit.npz")
    assert np.array_equal(rn.load_model(tmp_path / "fit.npz").predict(Z), mean)
    one = GaussianProcess().fit(X, Y[:, :1])
    assert one.predict(Z).shape == (9, 1)
    assert np.allclose(one.predict(Z)[:, 0], GaussianProcess().fit(X, Y[:, 0]).predict(Z))
    by_evidence = KernelRidge(bandwidth="evidence").fit(X, Y)
    assert "of largest evidence" in by_evidence.chosen_ and by_evidence.score(X, Y) > 0.9


def test_landmarks_of_ones_own(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(6).normal(size=(60, 3)), columns=list("abc"))
    Z, k = frame[["c", "a", "b"]].head(9) + 0.1, Gaussian(1.5)
    step = NystromFeatures(k, landmarks=Z[["a", "b", "c"]]).fit(frame)
    F, G = step.transform(frame), k(frame.to_numpy(), Z[["a", "b", "c"]].to_numpy())
    K = k(Z[["a", "b", "c"]].to_numpy())
    assert F.shape == (60, 9) and np.allclose(F @ F.T, G @ np.linalg.solve(K, G.T))
    plain = NystromFeatures(k, landmarks=Z[["a", "b", "c"]].to_numpy())
    assert np.allclose(clone(plain).fit(frame.to_numpy()).transform(frame.to_numpy()), F)
    step = plain.fit(frame.to_numpy())
    step.save(tmp_path / "step.npz")
    again = rn.load_model(tmp_path / "step.npz")
    assert np.array_equal(again.transform(frame.to_numpy()), step.transform(frame.to_numpy()))
    with pytest.raises(ValueError, match="features"):
        NystromFeatures(k, landmarks=np.ones((4, 2))).fit(frame.to_numpy())


def test_features_and_components_of_texts():
    words = ["kernel", "kernels", "colonel", "ridge", "bridge", "ridges", "abridged"]
    k = Spectrum(2).normalized()
    own = NystromFeatures(k, landmarks=["kernel", "bridge"]).fit(words)
    assert np.allclose(own.transform(["bridge"]) @ own.transform(words).T, k(["bridge"], words))
    F = NystromFeatures(k, 7).fit(words).transform(["kernel", "fridge"])
    assert F.shape[0] == 2 and KernelPCA(k, 2).fit(words).transform(["fridge"]).shape == (1, 2)
    chain = make_pipeline(NystromFeatures(k, 7), LogisticRegression()).fit(
        words, [0, 0, 0, 1, 1, 1, 1]
    )
    assert chain.predict(["kernelled", "fridge"]).tolist() == [0, 1]


def test_components_go_back():
    X = load("digits").X[:300] / 16
    pca = KernelPCA(n_components=60).fit(X)
    back = pca.inverse_transform(pca.transform(X))
    assert back.shape == X.shape
    assert np.linalg.norm(back - X) < 0.5 * np.linalg.norm(X - X.mean(axis=0))
    frame = pca.set_output(transform="pandas").transform(X[:3])
    assert list(frame.columns[:2]) == ["kernelpca0", "kernelpca1"]


@pytest.mark.parametrize("kernel", [None, Gaussian(1.0)])
def test_drift_is_seen_and_false_alarms_keep_their_level(kernel):
    rng = np.random.default_rng(7)
    p = []
    for _ in range(60):
        A, B = rng.normal(size=(2, 40, 2))
        p.append(TwoSampleDrift(kernel, n_permutations=99).fit(A).score(B))
    assert np.mean(np.array(p) <= 0.2) < 0.2 + 3 * np.sqrt(0.16 / 60)
    assert TwoSampleDrift(kernel).fit(A).drifted(B + 1.5) and not TwoSampleDrift(kernel).fit(
        A
    ).drifted(A)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_drift_is_seen_in_every_column_whatever_its_unit(make):
    "A shift of five deviations, found by compare column by column, is found by the test of all"
    rng = np.random.default_rng(0)
    middle, spread = [40.0, 0.0, 4e4, 7.0], [10.0, 1e-3, 1e4, 0.0]  # age, ratio, income, a constant
    A, B = middle + spread * rng.normal(size=(2, 80, 4))
    drift = TwoSampleDrift(n_permutations=199).fit(make(A))
    assert not drift.drifted(make(B))
    B += [50.0, 5e-3, 0.0, 0.0]
    assert drift.drifted(make(B))
    assert TwoSampleDrift(n_permutations=199).fit(A).compare(B).test.rejects()
    units = 2.0 ** np.array([20, -7, 3, 1])
    other = TwoSampleDrift(n_permutations=199).fit(make(A * units)).test(make(B * units))
    found = drift.test(make(B))
    assert other.pvalue == found.pvalue and other.statistic == pytest.approx(found.statistic)
    scales = np.stack([k.scales for k in found.kernels])  # the witness is asked at rows as they are
    np.testing.assert_allclose(scales[3, :3] / np.concatenate([A, B]).std(axis=0)[:3], scales[3, 3])


def test_a_drift_kernel_of_one_bandwidth_warns_of_columns_in_other_units():
    A = np.random.default_rng(0).normal(size=(40, 2)) * [1.0, 1e4]
    with pytest.warns(UserWarning, match="X differ in scale by .*measures all of them by one"):
        TwoSampleDrift(Gaussian(1.0)).fit(A)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kernel in (None, Gaussian([1.0, 1e4]), Gaussian(1.0).on([1])):
            assert TwoSampleDrift(kernel, 99).fit(A).score(A) > 0.5


@pytest.mark.parametrize("kernel", [None, Gaussian(1.0)])
def test_drift_is_a_p_value_at_most_the_level(kernel):
    A, B = np.random.default_rng(0).normal(size=(2, 30, 2))
    p = TwoSampleDrift(kernel, 99).fit(A).score(B)
    assert 0.05 < p < 0.95
    for by in (-0.01, 0.01):
        assert TwoSampleDrift(kernel, 99, level=p + by).fit(A).drifted(B) == (by > 0)


# ------------------------------------------------------------------ sparse rows, named columns, odd columns
def mostly_zero(n=80, d=6, seed=0):
    "(X, numbers, three labels, new rows): two entries of five are there"
    rng = np.random.default_rng(seed)
    X, Z = (np.where(rng.random((m, d)) < 0.4, rng.normal(size=(m, d)), 0.0) for m in (n, 9))
    y = X[:, 0] + X[:, 1] ** 2 + 0.1 * rng.normal(size=n)
    return X, y, np.digitize(y, [-0.3, 0.5]), Z


def answers(fit, Z):
    "{method: values at Z}, of features their inner products"
    asked = [name for name in ANSWERS if hasattr(fit, name) and name != "transform_y"] or ["score"]
    given = {name: getattr(fit, name)(Z) for name in asked}
    given = {name: A.toarray() if sp.issparse(A) else np.asarray(A) for name, A in given.items()}
    inner = hasattr(fit, "map_") and "transform" in given
    return {"inner": given["transform"] @ given["transform"].T} if inner else given


def targets(estimator, y, c):
    return c if is_classifier(estimator) else y


def with_tol(estimator):
    "The estimator, solved to more digits than are compared"
    tight = dict(tol=1e-10, probability=True)
    return estimator.set_params(
        **{name: tight[name] for name in tight.keys() & estimator.get_params().keys()}
    )


def alike(a, b, rtol=1e-6, atol=1e-6):
    assert a.keys() == b.keys()
    for name in a:
        np.testing.assert_allclose(a[name], b[name], rtol, atol, err_msg=name)


SPARSE_KERNELS = [
    None,
    Matern(1.5, 1.0),
    Mahalanobis(np.linspace(1, 2, 6)),
    Linear() + Polynomial(2),
    Gaussian(1.0).on([0, 2]),
]


@pytest.mark.parametrize("kernel", SPARSE_KERNELS, ids=str)
@pytest.mark.parametrize("cls", CLASSES)
def test_sparse_rows_are_the_dense_ones(cls, kernel):
    X, y, c, Z = mostly_zero()
    estimator = with_tol(cls(kernel))
    y = targets(estimator, y, c)
    dense = answers(clone(estimator).fit(X, y), Z)
    for make in (sp.csr_array, sp.csc_matrix, sp.coo_array):
        fit = clone(estimator).fit(make(X), y)
        alike(answers(fit, make(Z)), dense)
    assert cls is TwoSampleDrift or all(np.ptp(values) > 0 for values in dense.values())
    alike(answers(pickle.loads(pickle.dumps(fit)), make(Z)), dense)
    alike(answers(fit, Z), dense)  # sparse at the fit, dense later


@pytest.mark.parametrize("cls", CLASSES)
def test_repeated_and_many_sparse_rows_choose_as_the_dense_ones(cls):
    "rows merge, voters are drawn, the median is that of 1000 rows: all by the order of the rows"
    X, y, c, Z = mostly_zero(1100, 3)
    X, y = np.round(X, 1) * 3, np.round(y, 1)
    estimator = cls(n_permutations=19) if cls is TwoSampleDrift else cls()
    y = targets(estimator, y, c)
    n = 300 if cls in (KernelLogistic, GaussianProcess, KernelSVC) else len(X)
    dense, sparse = (
        clone(estimator).fit(make(X[:n]), y[:n]) for make in (np.asarray, sp.csr_array)
    )
    if hasattr(dense, "process_"):  # a length of a column that does nothing may be any large number
        evidence, other = dense.process_.log_marginal, sparse.process_.log_marginal
        assert type(dense.kernel_) is type(sparse.kernel_)
        assert abs(evidence - other) < 0.02 * abs(
            evidence
        )  # where a climb in a flat valley may end
    elif hasattr(dense, "kernel_"):
        assert dense.kernel_.get_params().keys() == sparse.kernel_.get_params().keys()
        for name, value in dense.kernel_.get_params().items():
            np.testing.assert_allclose(sparse.kernel_.get_params()[name], value, rtol=1e-3)
    alike(answers(dense, Z), answers(sparse, sp.csr_array(Z)), rtol=0.02, atol=0.02)


@pytest.mark.parametrize("cls", CLASSES)
def test_a_kernel_that_takes_no_sparse_rows_says_so(cls):
    X, y, c, _ = mostly_zero()
    estimator = cls(Laplace(1.0))
    with pytest.raises(TypeError, match=r"X is a sparse matrix; pass X\.toarray.*Gaussian"):
        estimator.fit(sp.csr_array(X), targets(estimator, y, c))
    if hasattr(BaseEstimator, "__sklearn_tags__"):
        assert not estimator.__sklearn_tags__().input_tags.sparse
        assert cls().__sklearn_tags__().input_tags.sparse
        assert cls(Linear() * Gaussian(2.0)).__sklearn_tags__().input_tags.sparse


def test_sparse_rows_are_not_written_out():
    "20 000 × 20 000 with few entries: 3.2 GB if dense"
    rng = np.random.default_rng(0)
    X = sp.random_array((20_000, 20_000), density=1e-4, rng=rng, format="csr")
    y = X[:, :2000].sum(axis=1)
    few = KernelRidge(Gaussian(1.0), lam=1.0)
    for estimator in (
        NystromFeatures(n_landmarks=20),
        StreamingKernelRidge(n_features=20),
        few,
        KernelSVC(C=1.0),
    ):
        n = 20_000 if estimator is not few and not is_classifier(estimator) else 600
        tracemalloc.start()
        fit = estimator.fit(X[:n], y[:n] > 0.2 if is_classifier(estimator) else y[:n])
        (fit.transform if hasattr(fit, "transform") else fit.predict)(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 300 * 2**20


def test_one_hot_tables_and_texts_go_through_pipelines_grids_and_folds():
    rng = np.random.default_rng(3)
    towns = rng.integers(4, size=(120, 3)).astype(str)
    y = (towns[:, 0] == "1") * 2.0 + (towns[:, 1] == "2") + 0.1 * rng.normal(size=120)
    chain = make_pipeline(OneHotEncoder(), KernelRidge(Gaussian(1.0)))
    dense = make_pipeline(OneHotEncoder(sparse_output=False), KernelRidge(Gaussian(1.0)))
    scores = cross_val_score(chain, towns, y, cv=4)
    np.testing.assert_allclose(scores, cross_val_score(dense, towns, y, cv=4), rtol=1e-6)
    assert scores.min() > 0.9
    grid = {"kernelridge__kernel__bandwidth": [0.5, 2.0], "kernelridge__lam": [0.01, 1.0]}
    search, other = (GridSearchCV(model, grid, cv=3).fit(towns, y) for model in (chain, dense))
    assert search.best_params_ == other.best_params_
    words = [
        f"{noun} {verb} {'s' * (i % 5)}"
        for i, (noun, verb) in enumerate(
            zip(
                ["cat", "dog", "sun", "sea"] * 15,
                ["eats", "eats", "shines", "waves"] * 15,
                strict=True,
            )
        )
    ]
    labels = np.array(["animal", "animal", "thing", "thing"] * 15)
    for machine in (KernelSVC(), KernelLogistic(), KernelSVC(Linear(), probability=True)):
        letters = TfidfVectorizer(analyzer="char", dtype=np.float32)
        for reader in (TfidfVectorizer(), CountVectorizer(), letters):
            assert cross_val_score(make_pipeline(reader, machine), words, labels, cv=3).min() == 1.0
    stream = StreamingKernelRidge(Linear() + Gaussian(2.0))
    X = OneHotEncoder().fit_transform(towns)
    for rows in np.array_split(np.arange(120), 5):
        stream.partial_fit(X[rows], y[rows])
    assert stream.score(X, y) > 0.9
    second = sp.csr_array(X[:, :4])  # the second view may be sparse, too
    dense, sparse = (
        KernelCCA(n_components=2).fit(A, B).transform_y(B)
        for A, B in ((X.toarray(), second.toarray()), (X, second))
    )
    np.testing.assert_allclose(sparse, dense, atol=1e-8)
    with pytest.raises(TypeError, match="the rows of the fit are sparse.*targets=X.toarray"):
        pca = KernelPCA().fit(X)
        pca.inverse_transform(pca.transform(X))
    with pytest.raises(
        TypeError, match="compare looks at columns one by one, and these rows are sparse"
    ):
        TwoSampleDrift().fit(X).compare(X)
    with pytest.raises(TypeError, match="y is a sparse matrix; pass y.toarray"):
        KernelRidge().fit(X, sp.csr_array(X[:, :2]))


def test_a_saved_sparse_fit_comes_back(tmp_path):
    X, y, c, Z = mostly_zero()
    for estimator in (
        KernelRidge(),
        KernelSVC(),
        NystromFeatures(),
        TwoSampleDrift(n_permutations=19),
    ):
        fit = estimator.fit(sp.csr_array(X), targets(estimator, y, c))
        fit.save(tmp_path / "fit.npz")
        again = rkhs_notes.load_model(tmp_path / "fit.npz")
        alike(answers(again, sp.csr_array(Z)), answers(fit, sp.csr_array(Z)))


NAMED = [
    (Gaussian(1.0).on(["c", "a"]), Gaussian(1.0).on([2, 0])),
    (Gaussian(1.0).on("b") + Linear().on(["a"]), Gaussian(1.0).on(1) + Linear().on([0])),
    (2 * Laplace(1.0).on(["b"]), 2 * Laplace(1.0).on([1])),
]


@pytest.mark.parametrize("named, numbered", NAMED, ids=str)
@pytest.mark.parametrize("cls", CLASSES)
def test_named_columns_go_through_every_estimator(cls, named, numbered):
    rng = np.random.default_rng(4)
    X, Z = rng.normal(size=(70, 3)), rng.normal(size=(9, 3))
    y = X[:, 0] + X[:, 1] ** 2
    estimator = with_tol(cls(numbered))
    if cls is KernelSVC:  # its folds are dealt in the order of whole rows
        estimator.set_params(probability=False)
    y = targets(estimator, y, np.digitize(y, [0, 1]))
    want = answers(clone(estimator).fit(X, y), Z)
    frame = partial(pd.DataFrame, columns=["a", "b", "c"])
    for make in (frame, lambda A: pl.DataFrame(frame(A)), lambda A: frame(A).assign(town="Ulm")):
        fit = clone(estimator).set_params(kernel=named).fit(make(X), y)
        assert list(fit.feature_names_in_) == ["a", "b", "c"]
        for again in (fit, pickle.loads(pickle.dumps(fit))):
            alike(answers(again, make(Z)), want)
        with pytest.raises(ValueError, match="feature names"):
            answers(fit, make(Z)[["b", "c", "a"]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # scikit-learn's: X has no names
        alike(answers(fit, Z), want)
    with pytest.raises(
        ValueError, match="X, which is no data frame, has no column '[abc]'; it has none"
    ):
        clone(fit).fit(X, y)
    with pytest.raises(ValueError, match="X has no column '[abc]'; it has x, y, z"):
        clone(fit).fit(pd.DataFrame(X, columns=["x", "y", "z"]), y)
    if hasattr(fit, "function_") and cls is not StreamingKernelRidge:
        f = fit.function_  # a value that honours names, in any order
        np.testing.assert_allclose(f(frame(Z)[["c", "b", "a"]]), f(frame(Z)))


def test_named_columns_are_searched_scaled_and_saved(tmp_path):
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(90, 3)), columns=["a", "b", "c"])
    y = np.sin(2 * frame["b"]) + 0.1 * rng.normal(size=90)
    kernels = [Gaussian(1.0).on(["a"]), Gaussian(1.0).on(["b"]), Gaussian(1.0).on(["a", "c"])]
    search = GridSearchCV(KernelRidge(), {"kernel": kernels}, cv=3).fit(frame, y)
    assert search.best_params_["kernel"] == kernels[1] and search.best_score_ > 0.8
    grid = {"kernelridge__kernel__k__bandwidth": [0.3, 0.7, 30.0]}
    chain = make_pipeline(StandardScaler().set_output(transform="pandas"), KernelRidge(kernels[1]))
    search = GridSearchCV(chain, grid, cv=3).fit(frame, y)
    assert search.best_params_["kernelridge__kernel__k__bandwidth"] == 0.7
    fit = search.best_estimator_[-1]
    fit.save(tmp_path / "f.npz")
    again = rkhs_notes.load_model(tmp_path / "f.npz")
    assert np.array_equal(again.predict(frame), fit.predict(frame))
    drift = TwoSampleDrift(kernels[1]).fit(frame)
    assert drift.drifted(frame.assign(b=frame["b"] + 2)) and not drift.drifted(
        frame.assign(a=frame["a"] + 9)
    )
    drift.save(tmp_path / "d.npz")
    assert rkhs_notes.load_model(tmp_path / "d.npz").score(frame) == drift.score(frame)


def test_a_reference_does_not_change_under_its_owners_hands():
    A, B = np.random.default_rng(6).normal(size=(2, 40, 2))
    drift = TwoSampleDrift(Gaussian(1.0)).fit(A)
    p = drift.score(B)
    A += 5
    assert drift.score(B) == p


def odd_tables():
    "{kind: (X, numbers, labels, new rows)}: tables that real ones are like"
    rng = np.random.default_rng(7)
    X, Z = rng.normal(size=(80, 3)), rng.normal(size=(9, 3))
    y, i = X[:, 0] + X[:, 1] ** 2 + 0.1 * rng.normal(size=80), np.arange(80)
    c, few = np.digitize(y, [0, 1]), np.where(i % 20 == 0, rng.normal(size=80), 0.0)
    hot = np.eye(5)[i % 5 * (i % 3 == 0)]
    return {
        "a constant column": (np.c_[X, np.full(80, 3e9)], y, c, np.c_[Z, np.full(9, 3e9)]),
        "a column of 5 % numbers beside another": (
            np.c_[X[:, :1], few],
            y,
            c,
            np.c_[Z[:, :1], few[:9]],
        ),
        "nothing but a column of 5 % numbers": (few[:, None], y, c, Z[:, :1]),
        "a one-hot table": (hot, y, c, hot[:9]),
        "equal rows": (np.ones((80, 2)), y, c, Z[:, :2]),
        "a rare class": (X, y, (i < 3) * 1, Z),
        "one row of a class": (X, y, (i == 7) * 1, Z),
        "a constant target": (X, np.full(80, 2.5), np.zeros(80), Z),
        "a target of zeros": (X, np.zeros(80), np.zeros(80), Z),
        "two rows": (X[:2], y[:2], np.array([0, 1]), Z),
    }


@pytest.mark.parametrize("kind", odd_tables())
@pytest.mark.parametrize("cls", CLASSES)
def test_odd_tables_are_fitted_or_refused_in_our_words(cls, kind):
    X, y, c, Z = odd_tables()[kind]
    estimator = cls(probability=True) if cls is KernelSVC else cls()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found = answers(clone(estimator).fit(X, targets(estimator, y, c)), Z)
        except ValueError as refusal:
            frame = refusal.__traceback__
            while frame.tb_next is not None:
                frame = frame.tb_next
            assert str(ROOT / "rkhs_notes") in frame.tb_frame.f_code.co_filename
            assert cls in REFUSE.get(kind, ()), refusal
            assert not re.search(
                r"\b[LHY] (is|holds|span)", str(refusal)
            )  # the names are X and y here
            return
    assert {w.filename for w in told} <= {__file__}  # none of a library below
    assert all(np.isfinite(values).all() for values in found.values())
    assert cls not in REFUSE.get(kind, ()) or cls is KernelSVC
    if "target" in kind and hasattr(estimator, "score") and not hasattr(estimator, "random_state"):
        np.testing.assert_allclose(found["predict"], y[0], atol=1e-8)


TWO_VIEWS = KernelCCA, CoupledEmbedding
REFUSE = {
    "nothing but a column of 5 % numbers": (KernelSVC,),  # its probabilities hold rows out
    "equal rows": (KernelSVC, KernelPCA, *TWO_VIEWS),
    "one row of a class": (KernelSVC,),
    "a constant target": (KernelSVC, KernelLogistic, *TWO_VIEWS),
    "a target of zeros": (KernelSVC, KernelLogistic, *TWO_VIEWS),
    "two rows": (KernelSVC, KernelPCA, CoupledEmbedding),
}


def test_drift_of_columns_that_are_mostly_zero_is_seen():
    rng = np.random.default_rng(8)
    few, many = (
        np.eye(4)[rng.integers(4, size=150) * (rng.random(150) < share)] for share in (0.05, 0.6)
    )
    for make in (np.asarray, sp.csr_array):
        drift = TwoSampleDrift().fit(make(few))
        assert drift.drifted(make(many)) and not drift.drifted(make(rng.permutation(few)))
    assert TwoSampleDrift().fit(np.ones((80, 2))).score(np.ones((80, 2))) == 1
    with pytest.warns(UserWarning, match="18 permutations is below 0.053"):
        assert not TwoSampleDrift(n_permutations=18).fit(few).drifted(many)


def test_rooms_that_are_numerals_here_and_words_there_drift_as_words():
    rooms = pd.DataFrame({"room": ["12", "12b", "7"] * 20})
    drift = TwoSampleDrift(n_permutations=99).fit(rooms)
    assert drift.score(rooms[::-1]) == 1
    assert drift.drifted(rooms.replace("12b", "7"))


@pytest.mark.parametrize("of", ["datetime64[ns, UTC]", "dates", "texts of dates"])
def test_days_drift_in_whatever_form_they_come(of):
    days = pd.Series(pd.date_range("2020-01-01", periods=120))
    column = {
        "dates": days.dt.date,
        "texts of dates": days.astype(str),
    }.get(of, days.dt.tz_localize("UTC"))
    drift = TwoSampleDrift(n_permutations=99).fit(pd.DataFrame({"day": column[:60:2]}))
    assert drift.score(pd.DataFrame({"day": column[1:60:2]})) > 0.05


def test_numbers_that_came_as_texts_drift_as_numbers():
    rng = np.random.default_rng(0)
    few, many = (pd.DataFrame({"x": rng.normal(size=150) + shift}) for shift in (0, 1))
    of_texts = TwoSampleDrift(n_permutations=199).fit(few.map(repr)).score(many.map(repr))
    with_gaps = pd.concat([few, pd.DataFrame({"x": [np.nan]})])  # compared as a table, too
    assert of_texts == TwoSampleDrift(n_permutations=199).fit(few).compare(many).test.pvalue
    assert of_texts <= 0.02 and TwoSampleDrift(n_permutations=199).fit(with_gaps).drifted(many)


@pytest.mark.parametrize(
    "kind", ["a constant column", "a column of 5 % numbers beside another", "a rare class"]
)
@pytest.mark.parametrize(
    "cls", [KernelRidge, KernelSVC, KernelSVR, OneClassKernelSVM, GaussianProcess, KernelLogistic]
)
def test_the_order_of_rows_does_not_matter(cls, kind):
    X, y, c, Z = odd_tables()[kind]
    estimator = with_tol(cls())
    y, order = targets(estimator, y, c), np.random.default_rng(0).permutation(80)
    alike(answers(clone(estimator).fit(X, y), Z), answers(estimator.fit(X[order], y[order]), Z))


@pytest.mark.parametrize(
    "estimator, message",
    [
        (KernelRidge(lam=-1), "^lam = -1: pass a finite number > 0"),
        (KernelRidge(bandwidth=0), "^bandwidth = 0"),
        (KernelRidge(offset="no"), "^offset is of type str, not a bool"),
        (KernelSVC(C=-1), "^C = -1"),
        (KernelSVC(probability="yes"), "^probability is of type str"),
        (KernelSVC(class_weight={True: -1}), r"^class_weight\[True\] = -1"),
        (
            KernelSVC(class_weight=[1, 2]),
            r"^class_weight = \[1, 2\]: pass 'balanced', or a dict .*False, True",
        ),
        (KernelSVC(class_weight={"up": 2.0}), r"^class_weight = \{'up': 2.0\}: pass"),
        (KernelSVC(bandwidth="evidence"), "^bandwidth must be a number or 'median' or 'loo'"),
        (KernelSVR(epsilon=-1), "^epsilon = -1"),
        (OneClassKernelSVM(nu=2), "^nu = 2: pass a finite number > 0, ≤ 1"),
        (GaussianProcess(noise=-1), "^noise = -1"),
        (GaussianProcess(restarts=-1), "^restarts = -1"),
        (KernelLogistic(scale=-1), "^scale = -1"),
        (KernelPCA(n_components=100), "too few for n_components = 100. Pass at most"),
        (RandomFeatures(n_features=0), "^n_features = 0"),
        (RandomFeatures(n_features=1), "^n_features = 1: .*a cosine and a sine"),
        (StreamingKernelRidge(n_features=1), "^n_features = 1"),
        (NystromFeatures(n_landmarks=0), "^n_landmarks = 0"),
        (KernelCCA(kernel_y="rbf"), "^kernel_y is of type str, not a Kernel"),
        (KernelCCA(n_components=100), "too few for n_components = 100"),
        (KernelCCA(n_components=2.5), "^n_components = 2.5"),
        (CoupledEmbedding(reg=-1), "^reg = -1"),
        (TwoSampleDrift(n_permutations=0), "^n_permutations = 0"),
        (TwoSampleDrift(level=2), "^level = 2: pass a finite number > 0, < 1"),
        (TwoSampleDrift(level=0), "^level = 0"),
        (TwoSampleDrift(level="high"), "^level = 'high'"),
    ],
    ids=lambda value: repr(value) if isinstance(value, BaseEstimator) else "",
)
def test_a_parameter_is_refused_under_its_own_name(estimator, message):
    rng = np.random.default_rng(0)
    X, before = rng.normal(size=(30, 2)), repr(estimator.get_params())
    y = X[:, 0] > 0 if is_classifier(estimator) else X[:, 0]
    with pytest.raises((ValueError, TypeError), match=message):
        estimator.fit(X, y)
    assert repr(estimator.get_params()) == before


def test_probabilities_without_a_curve_say_where_they_are():
    X, y = smiley(60, 0)
    for machine in (KernelSVC(), KernelSVC().fit(X, y)):
        assert not hasattr(machine, "predict_proba")
        with pytest.raises(
            AttributeError, match=r"fit KernelSVC\(probability=True\), or use KernelLogistic"
        ):
            machine.predict_proba(X)
    with pytest.raises(NotFittedError, match="fit again"):
        machine.set_params(probability=True).predict_proba(X)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        KernelSVC(probability=True).predict_proba(X)


def test_a_class_of_one_row_cannot_be_calibrated():
    X, y = smiley(60, 0)
    y = np.where(np.arange(60) == 7, "alone", np.where(y > 0, "up", "down"))
    with pytest.raises(
        ValueError, match="class 'alone' of y has one row that differs.*or use KernelLogistic"
    ):
        KernelSVC(probability=True).fit(X, y)
    assert set(KernelSVC().fit(X, y).predict(X)) <= {"alone", "up", "down"}
    y[8] = "alone"
    p = KernelSVC(Gaussian(0.3), C=10.0, probability=True).fit(X, y).predict_proba(X)
    assert p.shape == (60, 3) and np.allclose(p.sum(axis=1), 1)


def test_platts_probabilities_are_the_chapters_on_the_same_folds():
    X, y = smiley(90, 3)
    fit = KernelSVC(Gaussian(0.2), C=2.0, probability=True).fit(X, y)
    order = np.lexsort(X.T[::-1])  # the fit sorts its rows
    chapters = svc_probability(
        Gaussian(0.2), X[order], y[order], C=2.0, rng=np.random.default_rng(0)
    )
    np.testing.assert_allclose(
        np.ravel(fit.curve_[:2]), [chapters.slope, chapters.shift], rtol=1e-6
    )
    np.testing.assert_allclose(fit.predict_proba(X)[:, 1], chapters.probability(X), atol=1e-8)
    assert not np.allclose(chapters.decisions, fit.decision_function(X[order]), atol=1e-3)


def test_probabilities_do_not_depend_on_the_order_of_rows_and_hardly_on_that_of_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (
        X[:, 0] + 0.7 * X[:, 1] + rng.normal(size=300) > 0.3
    ) * 1  # slabs of a column hold one class each
    machine, order = KernelSVC(Gaussian(2.0), C=1.0, probability=True), rng.permutation(300)
    p = machine.fit(X, y).predict_proba(X)[:, 1]
    again = clone(machine).fit(X[order], y[order]).predict_proba(X)[:, 1]
    swapped = clone(machine).fit(X[:, ::-1], y).predict_proba(X[:, ::-1])[:, 1]
    np.testing.assert_allclose(again, p, atol=1e-9)
    assert np.abs(swapped - p).max() < 0.05
    truth = norm.cdf(X[:, 0] + 0.7 * X[:, 1] - 0.3)
    assert np.abs(truth - p).mean() < 0.1


def test_equal_rows_share_a_fold_whatever_their_labels():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(40, 2)), 3, axis=0)
    y = np.where(np.arange(120) % 3 == 0, 0, np.arange(120) // 3 % 3)
    for points in (X, Objects(map(str, X[:, 0]))):
        fold = dealt(Classes(np.arange(3), y), points, 5, rng)
        assert all(len(set(fold[i : i + 3])) == 1 for i in range(0, 120, 3)) and fold.max() == 4
        assert all(len(set(fold[y == c])) == 5 for c in range(3))
        rare = [
            np.bincount(fold[y == c], minlength=5) // 2 for c in (1, 2)
        ]  # of each point two rows
        assert np.ptp(rare, axis=1).max() == 1  # who has several labels is dealt with the rarest
    with pytest.raises(ValueError, match="class 1 of y has one row that differs"):
        dealt(Classes(np.arange(2), np.array([0, 0, 1, 1])), X[[0, 3, 6, 7]], 5, rng)
    labels = Classes(np.arange(3), y)
    held_out = estimators._held_out(svc_multiclass, Gaussian(1.0), X, labels, np.ones(120), C=1.0)
    assert (
        np.ptp(held_out.reshape(40, 3, 3), axis=1).max() < 1e-12
    )  # one machine answers for equal rows


def test_the_power_of_three_classes_is_finite_where_all_are_right():
    "Then it brings 0.9 to Platt's target, 11 / 12 of ten"
    P = np.full((30, 3), 0.05) + 0.85 * np.eye(3)[np.arange(30) % 3]
    power = estimators._power(P, np.arange(30) % 3, np.ones(30))
    assert power == pytest.approx(np.log(22) / np.log(18), rel=1e-4)


def test_noise_never_turns_a_curve_around():
    flat = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(40, 80)), rng.integers(2, size=40)
        machine = KernelSVC(Linear(), C=1.0, probability=True).fit(X, y)
        p, d = machine.predict_proba(X)[:, 1], machine.decision_function(X)
        assert machine.curve_[0] >= 0 and (np.diff(p[np.argsort(d)]) >= 0).all()
        if machine.curve_[0] == 0:
            flat += 1
            np.testing.assert_allclose(p, y.mean(), atol=0.03)
    assert 0 < flat < 12


def test_probabilities_of_many_classes_agree_with_predict_and_beat_a_curve_a_class():
    digits, ours, theirs = load("digits"), [], []
    for seed in range(5):
        some = np.random.default_rng(seed).permutation(len(digits.X))
        X, y = digits.X[some] / 16, digits.y[some]
        machine = KernelSVC(Gaussian(2.0), C=10.0, probability=True)
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # none of another library leaks
            P = machine.fit(X[:400], y[:400]).predict_proba(X[400:])
        assert np.array_equal(machine.classes_[P.argmax(axis=1)], machine.predict(X[400:]))
        assert np.allclose(P.sum(axis=1), 1) and P.min() > 0
        ours.append(log_loss(y[400:], P))
        peer = CalibratedClassifierCV(SVC(gamma=0.125, C=10.0), ensemble=False).fit(
            X[:400], y[:400]
        )
        theirs.append(log_loss(y[400:], peer.predict_proba(X[400:])))
    gain = np.subtract(theirs, ours)
    assert gain.min() > 0 and np.mean(ours) < 0.6 * np.mean(theirs)


def test_probabilities_that_agree_come_back_from_their_pairs():
    P = np.random.default_rng(0).dirichlet(np.ones(5), 20)
    R = P[:, :, None] / (P[:, :, None] + P[:, None, :])
    np.testing.assert_allclose(coupled(R), P, atol=1e-10)
    R = np.random.default_rng(1).uniform(0.05, 0.95, (1, 4, 4))
    R = np.triu(R[0], 1) + np.tril(1 - R[0].T, -1)

    def loss(p):
        return ((R.T * p[:, None] - R * p) ** 2).sum()

    total = {"type": "eq", "fun": lambda p: p.sum() - 1}
    best = minimize(loss, np.full(4, 0.25), constraints=total, tol=1e-12)
    np.testing.assert_allclose(coupled(R[None])[0], best.x, atol=1e-5)


def test_evidence_chooses_the_bandwidth_of_a_ridge():
    rng = np.random.default_rng(14)
    X = rng.uniform(-3, 3, (60, 1))
    y = 5 + np.sin(2 * X[:, 0]) + 0.2 * rng.normal(size=60)
    fit = KernelRidge(bandwidth="evidence").fit(X, y)
    process = GaussianProcess().fit(X, y)
    assert np.isclose(fit.kernel_.bandwidth, process.kernel_.simplify().k.bandwidth, rtol=1e-2)
    assert "of largest evidence on 60 points" in fit.chosen_

    def evidence(b):  # of the best scale and noise at that bandwidth
        return max(
            log_marginal(s * Gaussian(b), X, y - y.mean(), noise)[0]
            for s in np.geomspace(0.1, 10, 13)
            for noise in np.geomspace(0.01, 0.2, 13)
        )

    best = fit.kernel_.bandwidth
    assert evidence(best) > max(evidence(0.7 * best), evidence(1.4 * best))
    twice = KernelRidge(bandwidth="evidence").fit(np.r_[X, X], np.r_[y, y])
    weighted = KernelRidge(bandwidth="evidence").fit(X, y, sample_weight=np.full(60, 2.0))
    assert np.allclose(twice.predict(X), weighted.predict(X))


FRAME = pd.DataFrame(
    {"price": np.arange(200) % 17 + 5.0, "town": np.array(["Bonn", "Ulm"])[np.arange(200) % 2]}
)


def test_weights_that_are_shares_of_rows_are_told():
    "Evidence reads them as powers of the likelihood: one row's worth of data teaches nothing"
    X = np.random.default_rng(2).normal(size=(80, 2))
    y, n = np.sin(X[:, 0]) + X[:, 1], len(X)
    for estimator in (GaussianProcess(), KernelRidge(bandwidth="evidence"), KernelLogistic()):
        targets = y > 0 if is_classifier(estimator) else y
        with pytest.warns(
            UserWarning, match="here 1 times for 80 different rows.*Multiply sample_weight by 80"
        ):
            clone(estimator).fit(X, targets, sample_weight=np.full(n, 1 / n))
        with warnings.catch_warnings():
            warnings.filterwarnings("error", "evidence counts")
            plain = clone(estimator).fit(X, targets)
            fit = clone(estimator).fit(X, targets, sample_weight=np.full(n, 1 / n) * n)
            clone(estimator).fit(X, targets, sample_weight=np.arange(n) % 2)  # half of them count
        assert fit.score(X, targets) == plain.score(X, targets) > 0.9
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "evidence counts")
        KernelRidge().fit(X, y, sample_weight=np.full(n, 1 / n))


def test_weights_that_repeat_rows_are_told_where_the_noise_is_by_evidence():
    "Its power of the noise has no bound as it falls; of weights of mean 1 the noise is the plain one"
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (60, 2))
    y, twice = np.sin(X[:, 0]) + 0.2 * rng.normal(size=60), np.full(60, 2.0)
    with pytest.warns(
        UserWarning, match="120 times for 60 different rows.*Multiply sample_weight by 0.5"
    ):
        assert GaussianProcess().fit(X, y, sample_weight=twice).noise_ < 1e-9
    with pytest.warns(UserWarning, match="120 times for 60 different rows"):
        KernelRidge(bandwidth="evidence").fit(np.r_[X, X], np.r_[y, y])
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "evidence counts")
        assert 0.02 < GaussianProcess().fit(X, y, sample_weight=0.5 * twice).noise_ < 0.06
        GaussianProcess(noise=0.04).fit(X, y, sample_weight=twice)  # given, not by evidence
        KernelLogistic().fit(X, y > 0, sample_weight=twice)  # which has no noise
        X = rng.integers(0, 10, (500, 1)).astype(float)  # where an x has two answers there is noise
        y = np.round(3 * np.sin(X[:, 0]) + rng.normal(size=500))
        assert 0.8 < GaussianProcess(kernel=Gaussian(1.0)).fit(X, y).noise_ < 1.4


def test_drift_of_objects_is_the_test_of_their_kernel(tmp_path):
    before, later = ["abab", "aabb", "abba", "bbaa"] * 5, ["aaaa", "aaab", "abab"] * 4
    for k, A, B in (
        (Spectrum(1), before, later),
        (rn.SetKernel(Gaussian(1.0)), BAGS, list(1 + BAGS[:7])),
        (  # whose bags are frames
            rn.SetKernel(Gaussian(1.0).on(["v"])),
            [pd.DataFrame(P, columns=["u", "v"]) for P in BAGS],
            [pd.DataFrame(1 + P, columns=["u", "v"]) for P in BAGS],
        ),
    ):
        drift = TwoSampleDrift(k, n_permutations=99).fit(A)
        direct = mmd_test(k, A, B, 99, rng=estimators._generator(0))
        assert drift.score(B) == direct.pvalue < 0.1 < drift.score(A)
        assert np.isclose(drift.test(B).statistic, direct.statistic)
        with pytest.raises(TypeError, match="these rows are sparse, or objects.*ask for test"):
            drift.compare(B)
    drift.save(tmp_path / "drift.npz")
    assert rn.load_model(tmp_path / "drift.npz").score(B) == drift.score(B)


@pytest.mark.second_route("TwoSampleDrift", "the comparison of two tables")
def test_drift_of_a_table_with_words_and_gaps(tmp_path):
    frame = FRAME.copy()
    frame.loc[::9, "price"] = np.nan
    later = frame.assign(town=np.where(np.arange(200) % 8 > 0, "Ulm", "Bonn"))
    drift = TwoSampleDrift(n_permutations=199).fit(frame)
    assert list(drift.feature_names_in_) == ["price", "town"] and drift.n_features_in_ == 2
    assert not drift.drifted(frame) and drift.drifted(later)
    direct = compare_tables(frame, later, n_permutations=199, rng=estimators._generator(0))
    assert (
        drift.test(later).statistic == direct.test.statistic
        and drift.score(later) == direct.test.pvalue
    )
    assert drift.compare(later).columns[0].column == "town"
    assert drift.score(later[["town", "price"]]) == drift.score(later)  # columns by name
    with pytest.raises(ValueError, match="only the reference has 'town'"):
        drift.test(later[["price"]])
    with pytest.raises(ValueError, match="holds words or gaps: pass kernel=None"):
        TwoSampleDrift(Gaussian(1.0)).fit(frame)
    drift.save(tmp_path / "d.npz")
    assert rkhs_notes.load_model(tmp_path / "d.npz").score(later) == drift.score(later)


@pytest.mark.parametrize("kernel", [None, Gaussian(1.0)])
def test_drift_of_numbers_names_the_column(kernel):
    rng = np.random.default_rng(15)
    frame = pd.DataFrame(rng.normal(size=(120, 3)), columns=["a", "b", "c"])
    drift = TwoSampleDrift(kernel, n_permutations=199).fit(frame)
    report = drift.compare(frame + [0.0, 0.0, 1.5])
    assert (
        report.columns[0].column == "c"
        and report.columns[0].pvalue <= 0.05 < report.columns[1].pvalue
    )
    bare = TwoSampleDrift(kernel, n_permutations=199).fit(frame.values)
    assert bare.compare(frame.values + [0, 0, 1.5]).columns[0].column == "2"
    with pytest.raises(ValueError, match="feature names"):
        drift.test(frame[["b", "a", "c"]])


# ------------------------------------------------------------------ bad days of machines
@pytest.mark.parametrize(
    "estimator", [KernelRidge(), KernelSVR(), GaussianProcess(), StreamingKernelRidge()]
)
@pytest.mark.parametrize("value", [0.0, 0.1, -3e9, 1e-20])
def test_a_constant_target_is_predicted(estimator, value):
    X = np.random.default_rng(0).normal(size=(30, 2))
    fit = clone(estimator).fit(X, np.full(30, value))
    np.testing.assert_allclose(fit.predict(X + 1), value, rtol=1e-9, atol=0)
    scores = cross_val_score(
        estimator, X, np.where(np.arange(30) < 12, 1.0, value), cv=KFold(2), error_score="raise"
    )
    assert np.isfinite(scores).all()


def test_a_target_that_varies_by_rounding_only_is_constant():
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = 1e9 + 1.2e-7 * (np.arange(30) % 2)
    assert 0 < np.ptp(y) < 1e-6
    np.testing.assert_allclose(KernelSVR().fit(X, y).predict(X), 1e9, rtol=1e-12)


@pytest.mark.parametrize(
    "estimator",
    [
        KernelSVC(Gaussian(1.0), C=2.0),
        KernelSVR(Gaussian(1.0), C=2.0, epsilon=0.1),
        KernelSVC(C=2.0, bandwidth="median"),
        KernelSVC(C=2.0, bandwidth=1.0),
    ],
)
def test_nothing_is_elected_where_all_is_given(estimator, monkeypatch):
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = (X[:, 0] > 0) * 1.0
    fit = clone(estimator).fit(X, y)
    assert fit.lam_ is None and fit.C_ == 2.0 and "leave-one-out" not in fit.chosen_
    monkeypatch.setattr(estimators, "_elected", lambda *a, **b: pytest.fail("an election"))
    same = clone(estimator).fit(X, y)
    assert np.array_equal(same.predict(X), fit.predict(X))
    with pytest.raises(pytest.fail.Exception, match="an election"):
        clone(estimator).set_params(C="loo").fit(X, y)


@pytest.mark.parametrize("size", [1.0, 1e5, 1e9])
@pytest.mark.parametrize("C", [1.0, "loo"])
def test_columns_of_large_values_are_separated(size, C):
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(size=(20, 2)) - 3, rng.normal(size=(20, 2)) + 3] * size
    y = np.repeat(["no", "yes"], 20)
    for k in (Linear(), Linear() + 1.0 * Gaussian(size)):
        assert KernelSVC(k, C=C).fit(X, y).score(X, y) == 1.0


@pytest.mark.parametrize("cls", [KernelSVC, KernelLogistic])
@pytest.mark.parametrize("missing", [None, pd.NA, np.nan, pd.NaT], ids=repr)
def test_labels_that_are_missing_are_counted(cls, missing):
    X = np.random.default_rng(0).normal(size=(20, 2))
    y = [missing, missing] + ["a", "b"] * 9
    for labels in (
        y,
        np.array(y, object),
        pd.Series(y, dtype=object),
        pd.Series(y, dtype="string"),
        pd.Categorical(y),
    ):
        with pytest.raises(
            ValueError, match="y has missing entries: 2 of 20 labels; drop those points"
        ):
            cls().fit(X, labels)


def test_a_class_that_is_rare_has_voters(n=3000):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(n, 2)), np.zeros(n, int)
    rare = np.setdiff1d(np.arange(n), estimators._voters(X))[:6]
    y[rare], X[rare] = 1, X[rare] * 0.2 + 3.5
    some = estimators._with_each_side(estimators._voters(X), np.where(y == 1, 1.0, -1.0)[:, None])
    assert np.isin(rare, some).all() and len(some) == 406 and np.array_equal(np.unique(some), some)
    assert np.array_equal(estimators._with_each_side(some, rng.normal(size=(n, 1))), some)
    fit = KernelSVC(class_weight="balanced").fit(X, y)
    assert (fit.predict(X[rare]) == 1).all() and np.mean(fit.predict(X) == y) > 0.98


@pytest.mark.parametrize("size", [1e-200, 1e200, 2.0**-660, 2.0**660])
@pytest.mark.parametrize(
    "estimator", [KernelSVC(), KernelSVR(), OneClassKernelSVM(), KernelRidge()]
)
def test_units_of_x_change_no_answer(estimator, size):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 3))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=60)
    y = y > 0 if isinstance(estimator, KernelSVC) else y
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one, other = clone(estimator).fit(X, y), clone(estimator).fit(X * size, y)
        found = [
            fit.decision_function(Z) if hasattr(fit, "decision_function") else fit.predict(Z)
            for fit, Z in ((one, X), (other, X * size))
        ]
    np.testing.assert_allclose(*found, atol=1e-9 if np.frexp(size)[0] == 0.5 else 1e-2)


UNITS = {  # of answers y in the unit u: predictions, and how near they are to u times those of y
    "KernelRidge": (lambda X, y, u: KernelRidge().fit(X, y).predict(X), 1e-9),
    "KernelRidge by evidence": (
        lambda X, y, u: KernelRidge(bandwidth="evidence").fit(X, y).predict(X),
        0.02,
    ),
    "GaussianProcess": (lambda X, y, u: GaussianProcess().fit(X, y).predict(X), 1e-9),
    "a path": (lambda X, y, u: ridge_path(Gaussian(1.0), X, y).function(X), 1e-9),
    "a risk": (lambda X, y, u: minimize_risk(Gaussian(1.0), X, y, "absolute", 0.1 / u)(X), 1e-6),
    "learned noise": (lambda X, y, u: np.sqrt(learn_noise(u**2 * Gaussian(1.0), X, y)(X)), 0.01),
}


@pytest.mark.parametrize("unit", [1e-3, 1e3])
@pytest.mark.parametrize("kind", UNITS)
def test_answers_scale_with_the_unit_of_y(kind, unit):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = np.sin(2 * X[:, 0]) + 0.3 + 0.2 * rng.normal(size=80)
    answer, near = UNITS[kind]
    plain = answer(X, y, 1.0)
    np.testing.assert_allclose(
        answer(X, unit * y, unit) / unit, plain, atol=near * np.abs(plain).max()
    )


def test_what_was_passed_is_said_where_the_evidence_begins():
    X, y = make_friedman1(60, random_state=0)
    passed = GaussianProcess(kernel=Matern(1.5, 1.0)).fit(X, y)
    assert "by evidence from Matern(nu=1.5, bandwidth=1)" in passed.chosen_
    families = GaussianProcess().fit(X, y).chosen_
    assert re.search(r"by evidence from [A-Z]\w+ or [A-Z]\w+\b(?!\()", families)


def test_targets_side_by_side_are_fitted_one_by_one():
    X, Y = np.random.default_rng(0).normal(size=(2, 30, 2))
    both = KernelRidge(Gaussian(1.0), lam=0.1).fit(X, Y)
    for j in (0, 1):
        one = KernelRidge(Gaussian(1.0), lam=0.1).fit(X, Y[:, j])
        np.testing.assert_allclose(both.predict(X)[:, j], one.predict(X), atol=1e-10)


def test_the_unit_of_one_column_says_nothing_about_another():
    rng = np.random.default_rng(6)
    x = rng.uniform(-3, 3, (150, 1))
    Y = np.c_[np.sin(2 * x[:, 0]), rng.normal(size=150)] + 0.05 * rng.normal(size=(150, 2))
    one, other = (KernelRidge().fit(x, Y * [1.0, unit]) for unit in (1.0, 1e6))
    assert one.kernel_ == other.kernel_ and one.lam_ == other.lam_
    assert one.loo_ == pytest.approx(other.loo_)
    np.testing.assert_allclose(one.predict(x), other.predict(x) / [1.0, 1e6], rtol=1e-9)


@pytest.mark.parametrize("estimator", [KernelCCA, CoupledEmbedding])
def test_the_second_view_is_kept_as_the_first(estimator):
    "Its columns by name, its kernel in the units of each"
    rng = np.random.default_rng(3)
    x = rng.normal(size=(80, 1))
    y = pd.DataFrame({"p": x[:, 0] ** 3, "q": rng.normal(size=80)})
    fit = estimator().fit(x, y)
    np.testing.assert_array_equal(fit.transform_y(y[["q", "p"]]), fit.transform_y(y))
    with pytest.raises(ValueError, match="y has no column 'p'"):
        fit.transform_y(y[["q"]])
    assert f"of y {fit.kernel_y_}" in fit.chosen_
    with pytest.warns(UserWarning, match="the columns of y differ in scale"):
        wide = estimator().fit(x, y * [1, 1e4])
    assert np.ptp(wide.kernel_y_.scales / y.std(ddof=0) / [1, 1e4]) < 1e-9


@pytest.mark.parametrize(
    "make", [rn.estimators.GaussianProcess, partial(KernelRidge, bandwidth="evidence")]
)
def test_evidence_gives_each_column_its_own_length_where_rows_suffice(make):
    "Also where one bandwidth for all columns won the vote: the columns are told apart"
    rng = np.random.default_rng(0)
    X, noise = rng.normal(size=(60, 2)) * [1.0, 3.0], 0.1 * rng.normal(size=60)
    fit = make().fit(X, np.sin(X).sum(axis=1) + noise)
    gap = fit.kernel_(X) - fit.kernel_(X[:, ::-1])
    assert np.abs(gap).max() > 1e-3 * np.abs(fit.kernel_(X)).max()


def test_points_that_know_their_columns_are_refused_in_another_order():
    "An array of points keeps the names of a frame, which scikit-learn does not see"
    k, frame = rn.Gaussian(1.0), pd.DataFrame({"a": [0.0, 1.0, 2.0], "b": [5.0, 3.0, 4.0]})
    model = KernelRidge(k).fit(frame, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(model.predict(k.points(frame)), model.predict(frame))
    with pytest.raises(ValueError, match="columns a, b and b, a"):
        model.predict(k.points(frame[["b", "a"]]))


@pytest.mark.parametrize("reference", [np.eye(4), pd.DataFrame({"word": ["a", "b", "a", "b"]})])
@pytest.mark.parametrize("wrong", [{"level": 2.0}, {"n_permutations": 0}], ids=str)
def test_drift_reads_its_parameters_before_any_reference(wrong, reference):
    (name,) = wrong
    with pytest.raises(ValueError, match=f"^{name} = "):
        rn.TwoSampleDrift(**wrong).fit(reference)


def test_a_vote_on_one_column_ends_in_one_bandwidth():
    "A number, as one would write it"
    x = np.linspace(0, 3, 40)[:, None]
    fit = KernelRidge().fit(x, np.sin(2 * x[:, 0]))
    assert np.ndim(fit.kernel_.get_params()["bandwidth"]) == 0
