"""Habits of scikit-learn's users, with every estimator, on a table with words, gaps and numbers."""

import inspect
import re

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from matplotlib import pyplot as plt
from sklearn import config_context
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.impute import SimpleImputer
from sklearn.inspection import PartialDependenceDisplay, partial_dependence, permutation_importance
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from conftest import since
from rkhs_notes.apps import estimators, streaming, streaming_classes
from rkhs_notes.apps.estimators import KernelRidge, KernelSVC, StreamingKernelRidge, TwoSampleDrift
from rkhs_notes.deeper.structured import Spectrum
from rkhs_notes.deeper.zoo import Laplace, Mahalanobis
from rkhs_notes.engines.data.stored import load_model
from rkhs_notes.kernels import Gaussian, Linear, Polynomial, Sum

CLASSES = [
    value
    for module in (estimators, streaming, streaming_classes)
    for name, value in vars(module).items()
    if inspect.isclass(value)
    and issubclass(value, estimators.KernelEstimator)
    and not name.startswith("_")
    and value.__module__ == module.__name__
    and value is not estimators.KernelEstimator
]
CLASSIFIERS = [cls for cls in CLASSES if is_classifier(cls())]
PREDICTORS = [cls for cls in CLASSES if is_classifier(cls()) or is_regressor(cls())]
TRANSFORMERS = [cls for cls in CLASSES if hasattr(cls, "transform")]
WEIGHTED = [cls for cls in PREDICTORS if "sample_weight" in inspect.signature(cls.fit).parameters]
NUMBERS, WORDS = ["age", "pay", "children"], ["town", "kind"]


def people(n=72, seed=0):
    "(frame, numbers to predict, labels): rent by town, age and pay; columns have gaps but `kind`"
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 70, n).astype(float),
            "pay": np.exp(rng.normal(7, 0.6, n)),
            "children": pd.array(rng.integers(0, 4, n), "Int64"),
            "town": rng.choice(["Bonn", "Kiel", "Ulm"], n),
            "kind": pd.Categorical(rng.choice(["new", "old"], n)),
        },
        index=np.arange(500, 500 + n),
    )
    y = 0.05 * frame["age"] + 2.0 * (frame["town"] == "Kiel") + np.log(frame["pay"])
    y += 0.1 * rng.normal(size=n)
    for name in ("age", "pay", "children", "town"):
        frame.loc[rng.random(n) < 0.08, name] = None
    return frame, y, pd.Series(np.where(y > y.median(), "dear", "cheap"), frame.index)


FRAME, RENTS, LABELS = people()
TIDY = FRAME[["age", "pay"]].fillna(40.0)  # for those who make no pipeline


def prepared(sparse=True):
    "What makes numbers of the table, alike on every part of it"
    filled = SimpleImputer(strategy="constant", fill_value=0.0)
    words = OneHotEncoder(handle_unknown="ignore", sparse_output=sparse)
    numbers = make_pipeline(filled, StandardScaler())
    return ColumnTransformer([("numbers", numbers, NUMBERS), ("words", words, WORDS)])


def chain(cls, *args, **options):
    return make_pipeline(prepared(), cls(*args, **options))


def target(cls):
    return LABELS if cls in CLASSIFIERS else RENTS


def answers(fit, X):
    name = next(a for a in ("predict", "transform", "score") if hasattr(fit, a))
    return np.asarray(getattr(fit, name)(X))


def inside(cls, **grid):
    "A grid for the estimator at the end of a chain"
    return {f"{cls.__name__.lower()}__{name}": values for name, values in grid.items()}


# -- tables in and out -----------------------------------------------------------------------


def test_the_table_is_as_people_have_it():
    assert len(CLASSES) >= 13 and len(PREDICTORS) >= 6 and len(TRANSFORMERS) >= 5
    assert FRAME[NUMBERS].isna().any().all() and FRAME["town"].isna().any()
    assert FRAME["children"].dtype == "Int64" and FRAME["kind"].dtype == "category"


@pytest.mark.parametrize("cls", CLASSES)
def test_a_table_with_words_and_gaps_is_fitted_whatever_library_holds_it(cls):
    y, found = np.asarray(target(cls)), []
    for library, table in (("pandas", FRAME), ("polars", pl.from_pandas(FRAME))):
        words = prepared(sparse=False).set_output(transform=library)
        fit = make_pipeline(words, cls()).fit(table, y)
        assert list(fit[-1].feature_names_in_[:3]) == [f"numbers__{name}" for name in NUMBERS]
        found.append(answers(fit, table))
    assert np.array_equal(*found)
    assert len(np.unique(found[0])) > 1 or cls is TwoSampleDrift


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("cls", TRANSFORMERS)
def test_names_come_out_of_a_chain_and_of_columns(cls, library):
    tidy = make_pipeline(prepared(sparse=False), cls()).set_output(transform=library)
    out = tidy.fit(FRAME, RENTS).transform(FRAME)
    names = [f"{cls.__name__.lower()}{i}" for i in range(out.shape[1])]
    assert list(out.columns) == list(tidy.get_feature_names_out()) == names
    assert np.array_equal(
        out.to_numpy(), tidy[-1].set_output(transform="default").transform(tidy[0].transform(FRAME))
    )
    assert library == "polars" or out.index.equals(FRAME.index)
    beside = ColumnTransformer([("k", cls(), ["age", "pay"])]).set_output(transform=library)
    beside.fit(TIDY, RENTS)
    assert list(beside.transform(TIDY).columns)[0] == f"k__{cls.__name__.lower()}0"


def as_table(dtype):
    return lambda frame: frame.astype(dtype)


LIBRARIES = {
    "Float64": as_table("Float64"),
    "Arrow": as_table("double[pyarrow]"),
    "objects": as_table(object),
    "polars": pl.from_pandas,
    "table of Arrow": lambda frame: pa.table(dict(frame)),
}


@pytest.mark.parametrize("held", LIBRARIES)
@pytest.mark.parametrize("cls", CLASSES)
def test_numbers_of_any_type_are_the_same_numbers(cls, held):
    table, y = LIBRARIES[held](TIDY), target(cls)
    fit = cls().fit(table, y)
    assert np.array_equal(answers(fit, table), answers(cls().fit(TIDY, y), TIDY))
    assert list(fit.feature_names_in_) == ["age", "pay"]


@pytest.mark.parametrize("cls", CLASSIFIERS)
@pytest.mark.parametrize("dtype", ["Int64", "boolean", "bool[pyarrow]", "int8", bool, "category"])
def test_labels_keep_their_type(cls, dtype):
    y = (LABELS == "dear").astype(dtype)
    fit = cls(Gaussian(30.0)).fit(TIDY, y)
    assert fit.predict(TIDY).dtype == fit.classes_.dtype == np.asarray(y).dtype
    assert fit.predict(TIDY).dtype.kind in "bi"
    table = cls(Gaussian(30.0)).fit(pl.from_pandas(TIDY), pl.Series(y.tolist()))
    assert np.array_equal(table.predict(TIDY.to_numpy()), fit.predict(TIDY.to_numpy()))


# -- refusals that name the column -----------------------------------------------------------


@pytest.mark.parametrize("cls", CLASSES)
def test_gaps_and_words_are_refused_by_the_name_of_their_column(cls):
    if cls is TwoSampleDrift:
        return  # it takes both: below
    age, pay = FRAME[["age", "pay"]].isna().sum()
    said = f"NaN: {age} in column 'age', {pay} in column 'pay'. Drop or impute"
    for held in ("Float64", "Arrow", "objects", "polars"):
        with pytest.raises(ValueError, match=re.escape(said)):
            cls().fit(LIBRARIES[held](FRAME[["age", "pay"]]), target(cls))
    with pytest.raises(ValueError, match="infinity.*: 1 in column 'pay'"):
        cls().fit(TIDY.assign(pay=[np.inf, *TIDY["pay"][1:]]), target(cls))
    with pytest.raises(TypeError, match="column 'town'.*OneHotEncoder"):
        cls().fit(TIDY.assign(town=FRAME["town"], kind="new"), target(cls))
    with pytest.raises(TypeError, match="column 'day'.*Subtract a date"):
        cls().fit(TIDY.assign(day=pd.Timestamp("2024-05-01")), target(cls))


@pytest.mark.parametrize("cls", CLASSES)
def test_other_columns_than_those_of_the_fit_are_refused(cls):
    fit = cls().fit(TIDY, target(cls))
    for table, said in (
        (TIDY[["pay", "age"]], "same order"),
        (TIDY.rename(columns={"pay": "wage"}), "(?s)unseen.*wage.*missing.*pay"),
        (TIDY[["pay"]], "(?s)missing.*age"),
        (TIDY.assign(more=1.0), "(?s)unseen.*more"),
    ):
        with pytest.raises(ValueError, match=said):
            answers(fit, table)
    with pytest.warns(UserWarning, match="valid feature names"):
        assert np.array_equal(answers(fit, TIDY.to_numpy()), answers(fit, TIDY))


def test_missing_answers_and_odd_weights_are_refused_by_their_name():
    gaps = pd.Series(pd.array([1, 0, None] * 24, "Int64"))
    with pytest.raises(ValueError, match="y contains NaN"):
        KernelSVC().fit(TIDY, gaps)
    with pytest.raises(ValueError, match="y has missing entries: 24 of 72"):
        KernelSVC().fit(TIDY, gaps.astype("boolean"))
    with pytest.raises(TypeError, match="y holds Python objects, text"):
        KernelRidge().fit(TIDY, gaps.astype("string"))
    for weights, said in (
        (pd.array([1.0, 1.0, None] * 24, "Float64"), "is not finite everywhere: 24 of 72"),
        (-np.ones(72), "has the least entry -1"),
        (np.ones(70), r"has shape \(70,\)"),
    ):
        with pytest.raises(ValueError, match=f"^sample_weight {said}"):
            KernelRidge().fit(TIDY, RENTS, sample_weight=weights)
    with pytest.raises(TypeError, match="^sample_weight holds text"):
        KernelRidge().fit(TIDY, RENTS, sample_weight=["a"] * 72)


def test_drift_takes_a_frame_of_numbers_with_gaps():
    watch = TwoSampleDrift(n_permutations=99).fit(FRAME[["age", "pay"]])
    more = people(72, 1)[0][["age", "pay"]]
    assert watch.score(more) > 0.05 and not watch.drifted(pl.from_pandas(more))
    assert watch.drifted(more.assign(age=None).astype(float))  # nothing but gaps
    assert watch.drifted(more.assign(pay=3 * more["pay"]))
    with pytest.raises(ValueError, match="holds words or gaps"):
        TwoSampleDrift(Gaussian(1.0)).fit(FRAME[["age", "pay"]])


# -- copies and files ------------------------------------------------------------------------


@pytest.mark.parametrize("cls", CLASSES)
def test_clones_caches_and_dumps_of_a_chain_answer_alike(cls, tmp_path):
    y = target(cls)
    fit = chain(cls).fit(FRAME, y)
    found, fresh = answers(fit, FRAME), clone(fit)
    with pytest.raises(NotFittedError):
        answers(fresh[-1], TIDY)
    assert np.array_equal(answers(fresh.fit(FRAME, y), FRAME), found)
    for _ in range(2):  # computed, and read back
        cached = make_pipeline(prepared(), cls(), memory=str(tmp_path / "cache")).fit(FRAME, y)
        assert np.array_equal(answers(cached, FRAME), found)
    joblib.dump(fit, tmp_path / "fit.joblib", compress=3)
    assert np.array_equal(answers(joblib.load(tmp_path / "fit.joblib"), FRAME), found)


@pytest.mark.parametrize("cls", CLASSES)
def test_a_file_of_skops_beside_ours(cls, tmp_path):
    skops_io = pytest.importorskip("skops.io")
    fit = chain(cls).fit(FRAME, target(cls))
    skops_io.dump(fit, tmp_path / "fit.skops")
    strange = skops_io.get_untrusted_types(file=tmp_path / "fit.skops")
    assert {name.partition(".")[0] for name in strange} <= {"rkhs_notes", "numpy", "scipy"}
    again = skops_io.load(tmp_path / "fit.skops", trusted=strange)
    assert np.array_equal(answers(again, FRAME), answers(fit, FRAME))
    with pytest.raises(skops_io.exceptions.UntrustedTypesFoundException):
        skops_io.load(tmp_path / "fit.skops")
    fit[-1].save(tmp_path / "fit.rkhs")
    ours = make_pipeline(fit[0], load_model(tmp_path / "fit.rkhs"))
    assert np.array_equal(answers(ours, FRAME), answers(fit, FRAME))


@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian(1.0) + 2 * Linear(),
        Sum(a=Gaussian(30.0), b=Polynomial(1)),
        Gaussian(30.0).on(["age"]),
        Mahalanobis([3.0, 900.0]),
        Laplace(9.0).normalized() ** 2,
        Spectrum(2),
    ],
    ids=str,
)
def test_kernels_and_streams_come_back_from_skops(kernel, tmp_path):
    skops_io = pytest.importorskip("skops.io")
    X = TIDY
    if kernel == Spectrum(2):
        X = list(FRAME["kind"])
    fit = KernelRidge(kernel, lam=1e3).fit(X, RENTS)
    skops_io.dump(fit, tmp_path / "k.skops")
    known = skops_io.get_untrusted_types(file=tmp_path / "k.skops")
    again = skops_io.load(tmp_path / "k.skops", trusted=known)
    assert again.kernel_ == kernel and hash(again.kernel_) == hash(kernel)
    assert repr(again.kernel_) == repr(kernel) and np.array_equal(again.predict(X), fit.predict(X))


def test_a_stream_goes_on_after_skops(tmp_path):
    skops_io = pytest.importorskip("skops.io")
    stream = StreamingKernelRidge().fit(TIDY[:40], RENTS[:40])
    skops_io.dump(stream, tmp_path / "s.skops")
    known = skops_io.get_untrusted_types(file=tmp_path / "s.skops")
    again = skops_io.load(tmp_path / "s.skops", trusted=known)
    before = stream.predict(TIDY)
    for fit in (stream, again):
        fit.partial_fit(TIDY[40:], RENTS[40:])
    assert np.array_equal(again.predict(TIDY), stream.predict(TIDY))
    assert not np.array_equal(before, stream.predict(TIDY))


# -- searches --------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", PREDICTORS)
def test_searches_over_kernels_and_inside_them(cls):
    y, one = target(cls), chain(cls, Gaussian(1.0))
    grid = inside(cls, kernel__bandwidth=[1e-3, 2.0])
    search = GridSearchCV(one, grid, cv=3).fit(FRAME, y)
    assert search.best_estimator_[-1].kernel == Gaussian(2.0)
    assert search.cv_results_["mean_test_score"][0] < search.best_score_ - 0.1
    kernels = [Gaussian(1e-3), Laplace(3.0), Gaussian(2.0)]
    search = GridSearchCV(one, inside(cls, kernel=kernels), cv=3).fit(FRAME, y)
    assert search.best_index_ > 0
    halving = HalvingGridSearchCV(
        one,
        inside(cls, kernel__bandwidth=[1e-4, 1e-3, 1e-2, 2.0]),
        cv=3,
        min_resources=24,
        factor=3,
        random_state=0,
    ).fit(FRAME, y)
    assert halving.best_estimator_[-1].kernel == Gaussian(2.0)
    assert list(halving.n_resources_) == [24, 72] and halving.n_candidates_ == [4, 2]


@pytest.mark.parametrize("cls", [KernelRidge, KernelSVC])
def test_two_processes_search_as_one(cls):
    y, kernels = target(cls), [Gaussian(0.5), Laplace(3.0), Gaussian(1.0) + Linear()]
    one, two = (
        GridSearchCV(chain(cls), inside(cls, kernel=kernels), cv=3, n_jobs=jobs).fit(FRAME, y)
        for jobs in (1, 2)
    )
    scores = [search.cv_results_["mean_test_score"] for search in (one, two)]
    assert np.array_equal(*scores) and len(set(scores[0])) == 3
    assert one.best_params_ == two.best_params_


def test_what_a_stream_spends_can_be_the_number_of_its_features():
    grid = {"bandwidth": [1e-3, 1.0, 500.0]}
    search = HalvingGridSearchCV(
        StreamingKernelRidge(),
        grid,
        resource="n_features",
        min_resources=20,
        max_resources=60,
        cv=3,
    ).fit(TIDY, RENTS)
    assert search.best_params_ == {"bandwidth": 500.0, "n_features": 60}


# -- a look inside ---------------------------------------------------------------------------


@pytest.mark.parametrize("cls", PREDICTORS)
def test_what_is_left_out_is_predicted_fold_by_fold(cls):
    y, folds = target(cls), KFold(3)
    found = cross_val_predict(chain(cls), FRAME, y, cv=folds)
    for some, rest in folds.split(FRAME):
        by_hand = chain(cls).fit(FRAME.iloc[some], y.iloc[some]).predict(FRAME.iloc[rest])
        assert np.array_equal(found[rest], by_hand)
    if cls in CLASSIFIERS:
        odds = cross_val_predict(chain(cls), FRAME, y, cv=3, method="decision_function")
        assert odds.shape == (72,) and np.mean((odds > 0) == (y == "dear")) > 0.7


@since("scikit-learn", "1.7", "partial_dependence with values of one's own")
@pytest.mark.parametrize("cls", PREDICTORS)
def test_what_matters_is_told_by_permutations_and_partial_dependence(cls):
    y, kernel = target(cls), Gaussian(3.0)
    fit = chain(cls, kernel).fit(FRAME, y)
    matters = permutation_importance(fit, FRAME, y, n_repeats=5, random_state=0).importances_mean
    told = dict(zip(FRAME, matters, strict=True))
    assert min(told["age"], told["pay"], told["town"]) > max(told["children"], told["kind"])
    grid = {"custom_values": {"age": [30.0, 60.0]}, "kind": "average", "method": "brute"}
    answer = {"response_method": "decision_function"} if cls in CLASSIFIERS else {}
    values = partial_dependence(fit, FRAME, ["age"], **grid, **answer)["average"][0]
    asked = getattr(fit, answer.get("response_method", "predict"))
    by_hand = [np.mean(asked(FRAME.assign(age=age))) for age in (30.0, 60.0)]
    np.testing.assert_allclose(values, by_hand)
    assert values[1] > values[0]  # the old pay more
    towns = partial_dependence(fit, FRAME.dropna(), ["town"], categorical_features=["town"])
    best = towns["grid_values"][0][towns["average"][0].argmax()]
    assert best == "Kiel"
    shown = PartialDependenceDisplay.from_estimator(fit, FRAME.dropna(), ["age"], grid_resolution=4)
    assert len(shown.lines_.ravel()[0].get_xdata()) == 4
    plt.close("all")


# -- estimators of estimators ----------------------------------------------------------------


@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_calibration_of_three_classes_by_folds(cls):
    y = np.asarray(pd.qcut(RENTS, 3, labels=["low", "mid", "high"]))
    fit = CalibratedClassifierCV(chain(cls, Gaussian(3.0)), cv=3).fit(FRAME, y)
    P = fit.predict_proba(FRAME)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    assert list(fit.classes_) == ["high", "low", "mid"]
    new, rents, _ = people(300, 5)
    cuts = np.quantile(RENTS, [1 / 3, 2 / 3])
    truth = np.array(["low", "mid", "high"])[np.digitize(rents, cuts)]
    assert log_loss(truth, fit.predict_proba(new)) < 0.9 < np.log(3)


@pytest.mark.parametrize("cls", PREDICTORS)
def test_votes_and_stacks_ask_every_member(cls):
    y, linear, voting, stacking, last = RENTS, Ridge(), VotingRegressor, StackingRegressor, Ridge()
    if cls in CLASSIFIERS:
        y, linear, last = LABELS, LogisticRegression(), LogisticRegression()
        voting, stacking = VotingClassifier, StackingClassifier
    members = [("ours", chain(cls, Gaussian(3.0))), ("theirs", make_pipeline(prepared(), linear))]
    vote = voting(members).fit(FRAME, y)
    each = np.array([clone(m).fit(FRAME, y).predict(FRAME) for _, m in members])
    if cls in CLASSIFIERS:
        agree = each[0] == each[1]
        assert np.array_equal(vote.predict(FRAME)[agree], each[0][agree]) and agree.mean() > 0.7
    else:
        np.testing.assert_allclose(vote.predict(FRAME), each.mean(axis=0))
    stack = stacking(members, last, cv=3, passthrough=False).fit(FRAME, y)
    new, rents, labels = people(200, 7)
    truth = rents
    if cls in CLASSIFIERS:
        truth = np.where(rents > RENTS.median(), "dear", "cheap")
    assert stack.score(new, truth) > 0.6 and len(stack.transform(new)[0]) == 2
    assert len(labels) == 200


# -- weights ---------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", WEIGHTED)
def test_weights_routed_through_a_chain_are_repetitions(cls):
    w = np.arange(72) % 3
    rows = np.repeat(np.arange(72), w)
    y = target(cls)
    repeated = chain(cls).fit(FRAME.iloc[rows], y.iloc[rows])
    with config_context(enable_metadata_routing=True):
        weighing = make_pipeline(
            SimpleImputer(strategy="constant", fill_value=0.0),
            StandardScaler().set_fit_request(sample_weight=True),
        )
        words = OneHotEncoder(handle_unknown="ignore")
        table = ColumnTransformer([("numbers", weighing, NUMBERS), ("words", words, WORDS)])
        end = cls().set_fit_request(sample_weight=True)
        fit = make_pipeline(table, end).fit(FRAME, y, sample_weight=w)
    values = [answers(f, FRAME) for f in (fit, repeated, chain(cls).fit(FRAME, y))]
    if cls in CLASSIFIERS:
        values = [f.decision_function(FRAME) for f in (fit, repeated, chain(cls).fit(FRAME, y))]
    np.testing.assert_allclose(values[0], values[1], rtol=1e-3, atol=2e-3)
    assert np.abs(values[0] - values[2]).max() > 0.02


@since("scikit-learn", "1.5", "votes that route weights")
@pytest.mark.parametrize("cls", WEIGHTED)
def test_weights_are_routed_through_searches_votes_and_scores(cls):
    w, y = 1.0 + np.arange(72) % 3, target(cls)
    with config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        asked = cls(Gaussian(1.0)).set_fit_request(sample_weight=True)
        asked = make_pipeline(scaler, asked.set_score_request(sample_weight=True))
        grid = inside(cls, kernel__bandwidth=[0.3, 2.0])
        folds = KFold(3)
        search = GridSearchCV(asked, grid, cv=folds).fit(TIDY, y, sample_weight=w)
        by_hand = []
        for some, rest in folds.split(TIDY):
            scale = StandardScaler().fit(TIDY.iloc[some])
            part = cls(Gaussian(0.3)).fit(
                scale.transform(TIDY.iloc[some]), y.iloc[some], sample_weight=w[some]
            )
            score = part.score(
                scale.transform(TIDY.iloc[rest]), y.iloc[rest], sample_weight=w[rest]
            )
            by_hand.append(score)
        np.testing.assert_allclose(search.cv_results_["mean_test_score"][0], np.mean(by_hand))
        halving = HalvingGridSearchCV(asked, grid, cv=3, min_resources=36, factor=2)
        assert halving.fit(TIDY, y, sample_weight=w).best_estimator_[-1].kernel in (
            Gaussian(0.3),
            Gaussian(2.0),
        )
        voting = VotingClassifier if cls in CLASSIFIERS else VotingRegressor
        vote = voting([("ours", asked)]).fit(TIDY, y, sample_weight=w)
        alone = clone(asked).fit(TIDY, y, sample_weight=w)
        assert np.array_equal(vote.predict(TIDY), alone.predict(TIDY))
        with pytest.raises((TypeError, ValueError), match="(?s)sample_weight.*not explicitly set"):
            make_pipeline(scaler, cls()).fit(TIDY, y, sample_weight=w)
