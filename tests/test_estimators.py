"""scikit-learn's interface: its own checks, and what it cannot know: kernels, merged rows, honest choices."""

import inspect
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import rkhs_notes.estimators as estimators
from rkhs_notes.datasets import load, smiley
from rkhs_notes.estimators import KernelRidge, KernelSVC, KernelSVR, OneClassKernelSVM
from rkhs_notes.kernels import Gaussian, Linear, Polynomial, Sum
from rkhs_notes.machines import svc_multiclass
from rkhs_notes.representer import ridge, ridge_path
from rkhs_notes.structured import Spectrum
from rkhs_notes.svm import check_kkt
from rkhs_notes.zoo import Mahalanobis
from sklearn.base import BaseEstimator, clone
from sklearn.kernel_ridge import KernelRidge as TheirRidge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, OneClassSVM
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

CLASSES = [
    value
    for name, value in vars(estimators).items()
    if inspect.isclass(value)
    and issubclass(value, BaseEstimator)
    and value.__module__ == estimators.__name__
    and not name.startswith("_")
    and value is not estimators.KernelEstimator
]
VARIANTS = [
    KernelRidge(Gaussian(1.0), lam=0.1, offset=False),
    KernelRidge(bandwidth="median"),
    KernelSVC(Gaussian(1.0), C=1.0, class_weight="balanced"),
]

# scikit-learn's own estimators skip the same checks, for the same reason
SKIPPED = {"check_array_api_input": "SCIPY_ARRAY_API is not set"}


@parametrize_with_checks([cls() for cls in CLASSES] + VARIANTS)
def test_scikit_learns_checks(estimator, check):
    try:
        check(estimator)
    except BaseException as skip:
        name = getattr(check, "func", check).__name__
        if type(skip).__name__ == "SkipTest" and SKIPPED.get(name, "another reason") not in str(skip):
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
            assert not any(tags[name] for name in ("no_validation", "non_deterministic", "poor_score"))
            assert not tags["_xfail_checks"] and not tags["_skip_test"]


# ------------------------------------------------------------------ kernels inside scikit-learn
def test_a_search_over_a_kernels_parameter_changes_predictions_and_no_kernel():
    X, y = smiley(120, 0)
    k = Sum(trend=Linear(), rough=Gaussian(9.0))
    before = pickle.dumps(k)
    grid = {"kernel__rough__bandwidth": [0.1, 0.3, 30.0]}
    search = GridSearchCV(KernelRidge(k, lam=0.1), grid, cv=3).fit(X, y)
    by_hand = [
        cross_val_score(KernelRidge(Sum(trend=Linear(), rough=Gaussian(b)), lam=0.1), X, y, cv=3).mean()
        for b in grid["kernel__rough__bandwidth"]
    ]
    assert len(set(by_hand)) == 3 and np.allclose(search.cv_results_["mean_test_score"], by_hand)
    assert pickle.dumps(k) == before
    assert search.best_estimator_.kernel_.get_params()["rough__bandwidth"] == search.best_params_.popitem()[1]


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
    assert KernelRidge().set_params(kernel=Gaussian(1.0), kernel__bandwidth=5.0).kernel == Gaussian(5.0)


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


def test_texts_are_points():
    words = ["kernel", "kernels", "colonel", "ridge", "bridge", "ridges"] * 3
    y = np.array([0, 0, 0, 1, 1, 1] * 3)
    k = Spectrum(2).normalized()
    machine = KernelSVC(k).fit(words, y)
    assert machine.predict(["kernelled", "ridged"]).tolist() == [0, 1]
    fit = KernelRidge(k, lam=0.1).fit(pd.Series(words), y)
    assert np.allclose(fit.predict(words), KernelRidge(k, lam=0.1).fit(words, y).predict(words))
    assert cross_val_score(KernelSVC(k), words, y, cv=3).mean() == 1.0


# ------------------------------------------------------------------ ridge
def test_ridge_is_the_chapters_and_scikit_learns():
    rng = np.random.default_rng(0)
    X, y, Z = rng.normal(size=(40, 3)), rng.normal(size=(40, 2)), rng.normal(size=(7, 3))
    plain = KernelRidge(Gaussian(2.0), lam=0.3, offset=False).fit(X, y)
    theirs = TheirRidge(kernel="rbf", gamma=1 / 8, alpha=0.3).fit(X, y)
    assert np.allclose(plain.predict(Z), theirs.predict(Z)) and plain.predict(Z).shape == (7, 2)
    ours, chapters = KernelRidge(Gaussian(2.0), lam=0.3).fit(X, y), ridge(Gaussian(2.0), X, y, 0.3, True)
    assert np.allclose(ours.predict(Z), chapters(Z)) and np.allclose(ours.offset_, chapters.offset)


def test_the_leave_one_out_error_is_that_of_refitting():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(25, 2))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=25)
    fit = KernelRidge(Gaussian(1.0)).fit(X, y)
    fixed = KernelRidge(Gaussian(1.0), lam=fit.lam_)
    errors = [fixed.fit(np.delete(X, i, 0), np.delete(y, i)).predict(X[[i]])[0] - y[i] for i in range(25)]
    assert np.isclose(np.mean(np.square(errors)), fit.loo_)


def test_leaving_out_one_of_two_equal_rows_does_not_leave_its_answer_in():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    once, twice = KernelRidge().fit(X, y), KernelRidge().fit(np.r_[X, X], np.r_[y, y])
    assert np.isclose(once.loo_, twice.loo_) and twice.loo_ > 0.5
    naive = ridge_path(Gaussian(0.1), np.r_[X, X], np.r_[y, y], offset=True)
    assert naive.loo.min() < 0.1 * once.loo_  # what it would believe of pure noise


def test_weights_are_repetitions_also_for_texts_of_which_none_is_merged():
    words, y, w = ["aa", "ab", "bb", "ba"], [0.0, 1.0, 2.0, 1.0], [1, 3, 0, 2]
    k = Spectrum(1) + Spectrum(2)
    again = [word for word, times in zip(words, w, strict=True) for _ in range(times)]
    answers = np.repeat(y, w)
    left = KernelRidge(k, lam=0.1).fit(words, y, sample_weight=w).predict(words)
    assert np.allclose(left, KernelRidge(k, lam=0.1).fit(again, answers).predict(words))


# ------------------------------------------------------------------ choices
def test_columns_of_different_scale_are_warned_of_and_measured_apart():
    X, y = load("wine").X, load("wine").y
    with pytest.warns(UserWarning, match=r"differ in scale by 2\.5e\+03: each was measured in its own"):
        machine = KernelSVC().fit(X, y)
    assert isinstance(machine.kernel_, Mahalanobis) and machine.score(X, y) > 0.95
    with pytest.warns(UserWarning, match=r"Gaussian\(bandwidth=1\) measures all of them by one.*StandardSc"):
        KernelSVC(Gaussian(1.0)).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make_pipeline(StandardScaler(), KernelSVC()).fit(X, y)
        KernelSVC(Mahalanobis(X.std(axis=0)), C=1.0).fit(X, y)


def test_the_choice_is_the_best_of_those_that_stood():
    X, y = smiley(200, 0)
    fit = KernelRidge().fit(X, y)
    kernels = estimators._gaussians(X, "loo")
    errors = [ridge_path(k, X, y, offset=True).loo.min() for k in kernels]
    assert len(kernels) == 10 and fit.kernel_ == kernels[int(np.argmin(errors))]
    assert np.isclose(fit.loo_, min(errors)) and f"lam={fit.lam_:.3g}" in fit.chosen_
    for bandwidth in ("medain", "silverman"):
        with pytest.raises(ValueError, match=f"'median' or 'loo', not '{bandwidth}'"):
            KernelRidge(bandwidth=bandwidth).fit(X, y)


def test_automatic_machines_do_not_lose_to_tuned_ones():
    X, y = smiley(400, 0)
    grid = {"C": [1, 10, 100, 1000], "gamma": [1, 10, 100]}
    tuned = GridSearchCV(SVC(), grid, cv=5).fit(X[:300], y[:300])
    assert KernelSVC().fit(X[:300], y[:300]).score(X[300:], y[300:]) > tuned.score(X[300:], y[300:]) - 0.02


# ------------------------------------------------------------------ machines
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
    assert np.allclose(ours.predict(Z), SVR(C=3, epsilon=0.1, **rbf).fit(X, y).predict(Z), atol=1e-4)
    ours, theirs = OneClassKernelSVM(k, nu=0.2, tol=1e-6).fit(X), OneClassSVM(nu=0.2, **rbf).fit(X)
    assert np.allclose(ours.decision_function(Z), theirs.decision_function(Z), atol=1e-4)


def test_support_counts_the_rows_one_passed():
    rng = np.random.default_rng(4)
    X, y = smiley(150, 1)
    X, y = X[rng.permutation(150)], y
    machine = KernelSVC(Gaussian(0.2), C=5.0).fit(X, y)
    f = machine.function_
    assert np.array_equal(np.sort(f.Z, axis=0), np.sort(X[machine.support_], axis=0)) and machine.gap_ < 1e-3
    order = np.lexsort(X.T[::-1])
    check_kkt(machine.machine_, X[order], y[order], C=5.0)


def test_labels_of_any_type_and_votes():
    X, y = load("iris").X, np.array(["setosa", "versicolor", "virginica"], dtype=object)[load("iris").y]
    machine = KernelSVC(Gaussian(1.0), C=1.0).fit(X, pd.Series(y))
    chapters = svc_multiclass(Gaussian(1.0), X, y)
    assert machine.predict(X).tolist() == chapters.predict(X).tolist()
    assert machine.decision_function(X).shape == (150, 3) and list(machine.classes_) == sorted(set(y))


def test_probabilities_are_calibrated_and_only_where_asked_for():
    X, y = smiley(900, 5)
    y = np.where(np.random.default_rng(0).random(900) < 0.15, -y, y)  # a sixth of the labels flipped
    machine = KernelSVC(probability=True).fit(X[:600], y[:600])
    p = machine.predict_proba(X[600:])
    assert np.allclose(p.sum(axis=1), 1) and not hasattr(KernelSVC(), "predict_proba")
    sure = p.max(axis=1) > np.median(p.max(axis=1))
    right = machine.classes_[p.argmax(axis=1)] == y[600:]
    for half in (sure, ~sure):  # the frequency of right answers is what was promised, within 3 deviations
        promised, n = p.max(axis=1)[half].mean(), half.sum()
        assert abs(right[half].mean() - promised) < 3 * np.sqrt(promised * (1 - promised) / n)


# ------------------------------------------------------------------ tables, files, pages
def test_frames_pipelines_and_names():
    table = load("diabetes")
    frame = pd.DataFrame(table.X, columns=table.feature_names)
    fit = make_pipeline(StandardScaler().set_output(transform="pandas"), KernelRidge()).fit(frame, table.y)
    assert list(fit[-1].feature_names_in_) == list(table.feature_names) and fit.score(frame, table.y) > 0.4
    with pytest.raises(ValueError, match="feature names"):
        fit[-1].predict(frame[frame.columns[::-1]])


def test_estimators_travel():
    X, y = smiley(60, 0)
    fit = KernelSVC(Sum(a=Gaussian(0.2), b=Linear())).fit(X, y)
    again = pickle.loads(pickle.dumps(fit))
    assert np.array_equal(again.decision_function(X), fit.decision_function(X))
    assert again.kernel_ == fit.kernel_


def test_the_kernel_is_typeset_above_the_diagram():
    X, y = smiley(60, 0)
    fit = KernelSVC(Gaussian(0.2)).fit(X, y)
    page = fit._repr_mimebundle_(include=None, exclude=None)["text/html"]
    assert fit.kernel_._repr_latex_().split("{")[0] in page and "sk-" in page and "as passed" in page
