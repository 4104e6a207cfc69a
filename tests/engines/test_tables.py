"""Real tables: labels of any type, columns by name, sparse rows, weights, habits of other libraries."""

import dataclasses
import pickle
import tracemalloc
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.decomposition import KernelPCA
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.svm import SVC

import rkhs_notes as rn
from rkhs_notes.engines.data.sums import FileBlocks
from rkhs_notes.engines.data.tables import Table, encoded, read_table

rng = np.random.default_rng(3)
X = rng.normal(size=(60, 3))
y = np.sin(X[:, 0])
signs = np.where(X[:, 0] + 0.1 * rng.normal(size=60) > 0, 1, -1)
k = rn.Gaussian(1.5)
both = k + 2 * rn.Linear()


# -- inside scikit-learn ---------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [k, both, rn.Polynomial(2).on([0, 2])])
def test_kernels_are_what_scikit_learn_clones_and_evaluates(kernel):
    assert clone(kernel) == kernel and clone(SVC(kernel=kernel)).kernel == kernel
    ridge = KernelRidge(kernel=kernel, alpha=0.1).fit(X, y)
    np.testing.assert_allclose(ridge.predict(X[:5]), rn.ridge(kernel, X, y, 0.1)(X[:5]), atol=1e-8)
    theirs, ours = KernelPCA(2, kernel=kernel).fit(X), rn.kernel_pca(kernel, X, 2)
    np.testing.assert_allclose(theirs.eigenvalues_, ours.eigenvalues, rtol=1e-8)
    landmarks = Nystroem(kernel=kernel, n_components=60, random_state=0).fit_transform(X)
    np.testing.assert_allclose(landmarks @ landmarks.T, kernel(X), atol=1e-6)


def test_searches_over_kernels_find_the_one_that_fits():
    narrow = rn.Gaussian(0.01)
    assert cross_val_score(SVC(kernel=k), X, signs, cv=3).mean() > 0.7
    for model in (SVC(C=10), KernelRidge(alpha=0.1)):
        found = GridSearchCV(model, {"kernel": [narrow, k]}, cv=3).fit(X, signs)
        assert found.best_params_["kernel"] == k
        assert found.cv_results_["mean_test_score"][0] < found.best_score_


def test_a_kernel_is_not_searched_inside():
    with pytest.raises(
        TypeError, match=r"no search can set its 'bandwidth'.*with_params\(bandwidth"
    ):
        GridSearchCV(SVC(kernel=k), {"kernel__bandwidth": [1, 2]}, cv=3).fit(X, signs)
    assert k.set_params() is k and k.get_params(deep=False) == {"bandwidth": 1.5}
    KernelRidge(kernel=k).fit(X, y)
    with pytest.raises((TypeError, AttributeError), match="gaussian_process"):
        GaussianProcessRegressor(kernel=k).fit(X, y)


def test_other_processes_take_kernels_that_hold_a_lambda():
    holder = k.conjugate(lambda P: 1 + P[:, 0] ** 2)
    scores = cross_val_score(
        SVC(kernel=holder), X, signs, cv=2, n_jobs=2
    )  # joblib ships the function
    np.testing.assert_array_equal(scores, cross_val_score(SVC(kernel=holder), X, signs, cv=2))
    assert pickle.loads(pickle.dumps(both)) == both


# -- words of other libraries ----------------------------------------------------------------


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: rn.Gaussian(gamma=0.5), r"bandwidth\? It is \(2 \* gamma\) \*\* -0\.5"),
        (lambda: rn.Matern(nu=1.5, length_scale=1), "mean bandwidth"),
        (lambda: rn.Polynomial(2, coef0=1), "mean offset"),
        (lambda: rn.Gaussian(bandwith=1), "mean bandwidth"),
        (lambda: rn.Periodic(periodicity=1), "mean period"),
        (lambda: rn.Linear(offset=1), "Linear has no offset"),
        (lambda: rn.ridge(k, X, y, alpha=1), "mean lam"),
        (lambda: rn.ridge(k, X, y, sample_weight=y), "mean weights"),
        (lambda: rn.minimize_risk(k, X, signs, "hinge", C=2), r"mean lam\? It is 1 / \(2 \* C\)"),
        (lambda: rn.gaussian_process(k, X, y, alpha=1), "mean noise"),
        (lambda: rn.ridge(k, X, y, fit_intercept=True), "offset"),
        (lambda: rn.svc(k, X, signs, class_weight="balanced"), "mean class_weights"),
        (lambda: rn.svc(k, X, signs, gamma=1), "gamma belongs to the kernel: k=Gaussian"),
        (lambda: rn.mmd_test(k, X, X, random_state=0), "mean rng"),
        (lambda: rn.affinity(X, kind="knn", n_neighbors=3), "mean neighbours"),
        (lambda: rn.nystrom_features(k, X, n_landmarks=3), "mean m"),
        (lambda: rn.kernel_sgd(k, X, signs, learning_rate=1), "mean step_size"),
    ],
)
def test_keywords_of_other_libraries(call, words):
    with pytest.raises(TypeError, match=words):
        call()


@pytest.mark.parametrize(
    "habit, name",
    [
        ("rbf", "Gaussian"),
        ("gamma", "from_gamma"),
        ("length_scale", "Gaussian"),
        ("GridSearchCV", "ridge_path"),
        ("n_neighbors", "affinity"),
        ("reg", "ridge"),
    ],
)
def test_names_of_other_libraries(habit, name):
    with pytest.raises(AttributeError, match=f"did you mean {name}"):
        getattr(rn, habit)


# -- labels of any type ----------------------------------------------------------------------

text = np.where(signs > 0, "good", "bad")
LABELS = {
    "list of str": text.tolist(),
    "str": text,
    "object": text.astype(object),
    "Series": pd.Series(text),
    "Categorical": pd.Series(pd.Categorical(text, categories=["good", "bad"])),
    "bool": signs > 0,
    "0 and 1": (signs > 0).astype(int),
    "pandas string": pd.Series(text, dtype="string"),
    "Int64": pd.Series(signs > 0).astype("Int64"),
    "boolean": pd.Series(signs > 0, dtype="boolean"),
    "polars": pl.Series(text.tolist()),
    "bytes": text.astype("S"),
}
LEARNERS = {
    "minimize_risk": lambda y: rn.minimize_risk(k, X, y, "logistic", lam=0.1),
    "semiparametric": lambda y: rn.semiparametric(
        k, X, y, [lambda P: np.ones(len(P))], 0.1, loss="hinge"
    ),
    "kernel_sgd": lambda y: rn.kernel_sgd(k, X, y, steps=300),
    "kernel_sgd on features": lambda y: rn.kernel_sgd(
        rn.Polynomial(2), X, y, "hinge", 1, 300, 0.01
    ),
    "budgeted_sgd": lambda y: rn.budgeted_sgd(k, X, y, budget=20, steps=300),
    "gp_classification": lambda y: rn.gp_classification(k, X, y),
    "svc": lambda y: rn.svc(k, X, y),
}
ARRAYS = {
    "sgd_primal": lambda y: rn.sgd_primal(X, y, steps=100),
    "sgd_dual": lambda y: rn.sgd_dual(k(X), y, steps=100),
    "perceptron_primal": lambda y: rn.perceptron_primal(k(X), y).w,
    "perceptron_dual": lambda y: rn.perceptron_dual(k(X) + np.eye(60), y).alpha,
    "widest_margin": lambda y: rn.widest_margin(k(X), y)[0],
    "smoothing_spline": lambda y: rn.smoothing_spline(X[:, 1], y, 0.1, loss="logistic").values,
    "align": lambda y: rn.align([k, rn.Linear()], X, y)(X[:4]),
    "affinity": lambda y: rn.affinity(X, y, kind="class").toarray(),
    "regularized_risk": lambda y: rn.regularized_risk(rn.ridge(k, X, signs), X, y, 0.1, "hinge"),
}


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("learner", LEARNERS)
def test_labels_of_any_type_are_learned_and_predicted(learner, labels):
    as_signs, given = LEARNERS[learner](signs), LABELS[labels]
    fit = LEARNERS[learner](given)
    np.testing.assert_array_equal(fit(X), as_signs(X))  # the decision does not see the names
    high = np.unique(np.asarray(given))[1]
    np.testing.assert_array_equal(fit.predict(X) == high, as_signs(X) >= 0)
    assert set(fit.predict(X).tolist()) == set(np.asarray(given).tolist())
    np.testing.assert_array_equal(as_signs.predict(X), np.where(as_signs(X) >= 0, 1, -1))


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("function", ARRAYS)
def test_labels_of_any_type_give_the_same_numbers(function, labels):
    found, known = ARRAYS[function](LABELS[labels]), ARRAYS[function](signs)
    np.testing.assert_allclose(found, known, rtol=1e-10, atol=1e-12)


def test_labels_where_numbers_belong_are_refused_by_name():
    for call, words in [
        (lambda: rn.ridge(k, X, text), "Labels are for svc"),
        (lambda: rn.minimize_risk(k, X, text), "'bad', 'good'.*squared measures numbers"),
        (lambda: rn.kernel_sgd(k, X, text, "huber"), "measures numbers"),
        (lambda: rn.semiparametric(k, X, text, np.cos), "measures numbers"),
    ]:
        with pytest.raises(TypeError, match=words):
            call()
    for y, words in [
        (np.arange(60) % 3, "3 different labels"),
        ([*text[1:], None], "1 of 60 labels"),
        (["one"] * 60, "one label only"),
    ]:
        with pytest.raises(ValueError, match=words):
            rn.minimize_risk(k, X, y, "logistic")


def test_several_labels_become_a_column_each():
    three = np.array(["a", "b", "c"])[np.arange(60) % 3]
    columns = (three[:, None] == ["a", "b", "c"]).astype(float)
    assert rn.align([k, rn.Linear()], X, three) == rn.align([k, rn.Linear()], X, columns)


def test_a_learned_decision_keeps_its_labels_in_a_file(tmp_path):
    f = rn.kernel_sgd(k, X, text, steps=300)
    again = pickle.loads(pickle.dumps(f))
    np.testing.assert_array_equal(again.predict(X), f.predict(X))
    assert (2.0 * f).labels is None  # a multiple is a function, no decision


# -- data frames, columns by name ------------------------------------------------------------

TABLE = pd.DataFrame(X, columns=["age", "income", "score"])
WAVES = rn.fourier_features(k, 3, 40, rng=0)
FRAMES = {"pandas": TABLE, "polars": pl.DataFrame({c: TABLE[c].to_numpy() for c in TABLE})}
FITS = {
    "ridge": lambda T: rn.ridge(k, T, y, 0.1),
    "minimize_risk": lambda T: rn.minimize_risk(k, T, text, "hinge"),
    "gaussian_process": lambda T: rn.gaussian_process(k, T, y, 0.1),
    "svc": lambda T: rn.svc(k, T, text),
    "by name": lambda T: rn.ridge(k.on(["age"]) + rn.Linear().on(["score", "income"]), T, y, 0.1),
    "interpolation": lambda T: rn.RKHS(k).interpolate(T, y),
    # through maps that were made without data, and have no names of their own
    "svm_primal": lambda T: rn.svm_primal(WAVES, T, text),
    "logistic_primal": lambda T: rn.logistic_primal(WAVES, T, text),
    "svm_primal, exact map": lambda T: rn.svm_primal(rn.Polynomial(2).feature_map(3), T, text),
    "svm_primal, landmarks": lambda T: rn.svm_primal(rn.nystrom_features(k, T, 12, 0), T, text),
    "svm_primal, bins": lambda T: rn.svm_primal(
        rn.binning_features(rn.Laplace(1.0), T, 20, 0), T, text
    ),
    "kernel_sgd": lambda T: rn.kernel_sgd(k, T, text, option=5, steps=200, rng=0, features=WAVES),
    "stream_ridge": lambda T: rn.stream_ridge(WAVES, (T, y), 0.1),
    "stream_ridge, offset": lambda T: rn.stream_ridge(WAVES, (T, y), 0.1, offset=True).function,
    "embedding": lambda T: rn.StreamingMeans(WAVES).update(T).mean_embedding(),
    "witness": lambda T: rn.mmd_test(WAVES, T, T[:40], 19, rng=0).witness,
    "sum": lambda T: 2 * rn.stream_ridge(WAVES, (T, y), 0.1) - rn.stream_ridge(WAVES, (T, y), 0.2),
}


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize("fit", FITS)
def test_columns_in_another_order_are_put_right(fit, library):
    table = FRAMES[library]
    f = FITS[fit](table)
    other = table[["score", "age", "income"]]
    for machine in (f, pickle.loads(pickle.dumps(f))):  # names survive a file
        np.testing.assert_array_equal(machine.predict(other), machine.predict(table))
        with pytest.raises(ValueError, match="'score'"):
            machine.predict(table[["age", "income"]])
    if hasattr(f, "var"):
        np.testing.assert_array_equal(f.var(other), f.var(table))


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize("fit", FITS)
def test_a_saved_fit_keeps_the_names(fit, library, tmp_path):
    f = FITS[fit](FRAMES[library])
    f.save(tmp_path / "fit")
    other = rn.load_model(tmp_path / "fit")
    np.testing.assert_array_equal(
        other.predict(TABLE[["score", "age", "income"]]), f.predict(TABLE)
    )


def test_functions_of_columns_in_two_orders_do_not_add():
    f, g = (rn.stream_ridge(WAVES, (T, y), 0.1) for T in (TABLE, TABLE[["score", "age", "income"]]))
    with pytest.raises(ValueError, match="age, income, score and score, age, income"):
        f + g
    with pytest.raises(ValueError, match="in one order"):
        f @ g
    plain = rn.stream_ridge(WAVES, (X, y), 0.1)  # arrays have no names, and take them
    np.testing.assert_array_equal((plain + f)(TABLE[["score", "age", "income"]]), 2 * f(TABLE))


@pytest.mark.parametrize("fit", [
    lambda T: rn.mercer_expansion(k, rn.empirical(T), 4).eigenfunctions,
    lambda T: rn.mercer_expansion(k, rn.empirical(T), 4).feature_map(),
    lambda T: rn.nystrom_features(k, T, 12, 0),
    lambda T: rn.kernel_pca(k + rn.Linear().on([0]), T, 2).residual,
    lambda T: rn.gaussian_process_large(k, T, y, 0.1, rng=0).var,
    lambda T: rn.StreamingMeans(WAVES).update(T).components(3),
], ids=["eigenfunctions", "Mercer map", "landmarks", "residual", "large variance", "components"])  # fmt: skip
def test_what_was_made_of_a_frame_knows_its_columns(fit):
    f = fit(TABLE)
    np.testing.assert_allclose(f(TABLE[["score", "age", "income"]]), f(TABLE), atol=1e-12)


def test_maps_made_of_a_frame_are_copied_with_their_names():
    for phi in (
        rn.nystrom_features(k, TABLE, 12, 0),
        rn.binning_features(rn.Laplace(1.0), TABLE, 20, 0),
    ):
        other = pickle.loads(pickle.dumps(phi))
        assert abs(other(TABLE[["score", "age", "income"]]) - phi(TABLE)).max() == 0


def test_two_frames_of_one_call_agree_by_name():
    shuffled = TABLE[["income", "score", "age"]]
    np.testing.assert_array_equal(k(TABLE, shuffled), k(X, X[:, :]))
    assert rn.mmd2_v(k, TABLE, shuffled) == pytest.approx(0, abs=1e-12)
    assert (
        rn.mmd2_features(WAVES, TABLE, shuffled) == 0 < rn.mmd2_features(WAVES, X, X[:, [1, 2, 0]])
    )
    assert rn.mmd2_v(k, X, X[:, [1, 2, 0]]) > 1e-4  # plain arrays have no names
    np.testing.assert_array_equal(k(TABLE, shuffled.assign(more=1.0)), k(X, X[:, :]))
    with pytest.raises(ValueError, match="'age'.*mean Age"):
        k(TABLE, shuffled.rename(columns={"age": "Age"}))


def test_kernels_of_columns_by_name():
    by_name, by_number = k.on(["income", "age"]), k.on([1, 0])
    np.testing.assert_array_equal(by_name(TABLE), by_number(X))
    both_columns = by_name * rn.Linear().on("score")
    np.testing.assert_array_equal(both_columns(TABLE), (by_number * rn.Linear().on(2))(X))
    assert eval(repr(by_name), vars(rn.kernels)) == by_name != by_number
    for call, words in [
        (lambda: by_name(X), "is no data frame.*'income'"),
        (lambda: k.on("incom")(TABLE), "mean income"),
        (lambda: rn.Linear().on("age").feature_map(3), "by number"),
    ]:
        with pytest.raises((TypeError, ValueError), match=words):
            call()


def test_what_is_no_number_in_a_frame_is_named_truthfully():
    when, missing = TABLE.assign(when=pd.Timestamp("2020-01-01")), TABLE.astype("Float64")
    missing.loc[3, "age"] = pd.NA
    cases = [
        (when, "dates"),
        (missing, "missing values"),
        (TABLE.assign(word=text), "column of text"),
        (FRAMES["polars"].with_columns(when=pl.date(2020, 1, 1)), "dates in the column 'when'"),
    ]
    for table, words in cases:
        with pytest.raises(TypeError, match=words):
            rn.ridge(k, table, y)


# -- sparse features -------------------------------------------------------------------------

BINS = rn.binning_features(rn.Laplace(1.0), X, 20, 0)  # CSR rows
DENSE = rn.FeatureMap(rn.Laplace(1.0), 3, BINS.dim, lambda P: BINS(P).toarray())


@pytest.mark.parametrize(
    "how", [{}, {"batch": 4}, {"lam": 0.5, "average": True}, {"batch": 3, "lam": 0.2}]
)
@pytest.mark.parametrize("option", [5, 6])
def test_steps_on_sparse_features_are_those_on_dense_ones(option, how):
    one, other = (
        rn.kernel_sgd(rn.Laplace(1.0), X, text, "logistic", option, 200, rng=0, features=phi, **how)
        for phi in (BINS, DENSE)
    )
    np.testing.assert_allclose(one.w, other.w, atol=1e-14)
    assert np.mean(one.predict(X) == text) > 0.8


def test_sparse_steps_that_run_away_are_stopped():
    with pytest.raises(rn.ConvergenceFailure, match="too long"):
        rn.kernel_sgd(rn.Laplace(1.0), X, y, "squared", 6, 2000, 50.0, features=BINS)


def test_samples_are_compared_by_sparse_features():
    for unbiased in (False, True):
        assert rn.mmd2_features(BINS, X[:30], X[30:], unbiased) == pytest.approx(
            rn.mmd2_features(DENSE, X[:30], X[30:], unbiased), abs=1e-12
        )
    assert rn.mmd2_features(np.cos, [1.0], [2.0]) == pytest.approx((np.cos(1) - np.cos(2)) ** 2)
    with pytest.raises(ValueError):  # of one point there is no pair
        rn.mmd2_features(np.cos, [1.0], [2.0], unbiased=True)
    one, other = (
        rn.mmd_test(phi, X[:30], X[30:] + 2, n_permutations=99, rng=0) for phi in (BINS, DENSE)
    )
    assert one.pvalue == other.pvalue == 0.01 and one.statistic == pytest.approx(other.statistic)


@pytest.mark.parametrize("kernel", [rn.Linear(), rn.Polynomial(2), rn.Gaussian(1.0)])
def test_samples_of_sparse_points_far_from_zero_are_compared(kernel):
    "As dense ones, up to the digits that values of this size lose"
    P = np.random.default_rng(0).normal(size=(40, 3)) + [1e5, 0, 0]
    S, lost = scipy.sparse.csr_array(P), 8 * np.finfo(float).eps * kernel.diag(P).max()
    found = rn.mmd2_u(kernel, S[:20], S[20:])
    assert found == pytest.approx(rn.mmd2_u(kernel, P[:20], P[20:]), rel=1e-9, abs=lost)


def test_what_does_not_fit_names_the_way_out():
    many, zeros = np.arange(60_000.0), np.zeros(60_000)
    for call in (
        lambda: rn.ridge(k, many, zeros),
        lambda: rn.ridge_path(k, many, zeros),
        lambda: k(many),
        lambda: rn.gaussian_process(k, many, zeros, 0.1),
    ):
        with pytest.raises(
            MemoryError, match=r"26.8 GiB.*result_mib.*ridge_large.*k\.feature_map\(X\)"
        ):
            call()


# -- weights ---------------------------------------------------------------------------------

W = np.random.default_rng(5).integers(0, 4, 60).astype(float)  # how often each point counts
AGAIN = np.repeat(np.arange(60), W.astype(int))
PLACES = rng.normal(size=(9, 3))
three = np.array(["a", "b", "c"])[np.digitize(X[:, 1] + X[:, 2], [-0.7, 0.7])]
WEIGHTED = {
    **{
        f"minimize_risk {loss}": lambda r, loss=loss, **w: rn.minimize_risk(
            k, X[r], (signs if rn.convex.as_loss(loss).labels else y)[r], loss, 0.1, **w
        )
        for loss in ("squared", "huber(0.3)", "absolute", "quantile(0.9)", "logistic", "hinge")
    },
    "gaussian_process": lambda r, **w: rn.gaussian_process(k, X[r], y[r], 0.1, **w),
    "several noises": lambda r, **w: rn.gaussian_process(
        k, X[r], y[r], (1 + X**2).sum(axis=1)[r], **w
    ),
    "gp_classification": lambda r, **w: rn.gp_classification(k, X[r], text[r], **w),
    "nu_svc": lambda r, **w: rn.nu_svc(k, X[r], text[r], 0.3, 1e-7, **w),
    "nu_svr": lambda r, **w: rn.nu_svr(k, X[r], y[r], 2.0, 0.3, 1e-7, **w),
    "one_class": lambda r, **w: rn.one_class(k, X[r], 0.2, 1e-7, **w),
    "svc_multiclass": lambda r, **w: rn.svc_multiclass(k, X[r], three[r], tol=1e-7, **w),
}


@pytest.mark.parametrize("learner", WEIGHTED)
def test_a_weight_of_two_is_the_point_twice(learner):
    fit, every = WEIGHTED[learner], np.arange(60)
    one, other, plain = fit(every, weights=W), fit(AGAIN), fit(every)
    np.testing.assert_allclose(one(PLACES), other(PLACES), atol=2e-6)
    assert np.abs(one(PLACES) - plain(PLACES)).max() > 1e-3
    for number in ("log_marginal", "primal", "dual", "objective", "C", "eps"):
        if isinstance(value := getattr(other, number, None), float):
            assert getattr(one, number) == pytest.approx(value, rel=1e-6, abs=1e-6), number
    if hasattr(other, "var"):
        np.testing.assert_allclose(one.var(PLACES), other.var(PLACES), rtol=1e-9)


@pytest.mark.parametrize("strategy", ["one-vs-one", "one-vs-rest"])
def test_classes_have_weights_where_they_are_several(strategy):
    def fit(**how):
        return rn.svc_multiclass(k, X, three, 0.3, strategy, tol=1e-7, **how)(PLACES)

    given = {"a": 3.0, "c": 0.5}
    np.testing.assert_allclose(
        fit(class_weights=given), fit(weights=[given.get(label, 1.0) for label in three]), atol=1e-9
    )
    each = 60 / (3 * np.array([(three == label).sum() for label in three]))
    np.testing.assert_allclose(fit(class_weights="balanced"), fit(weights=each), atol=1e-9)
    theirs = SVC(
        C=0.3, gamma=1 / 4.5, class_weight="balanced", tol=1e-7, decision_function_shape="ovo"
    ).fit(X, three)
    if strategy == "one-vs-one":
        found = -fit(class_weights="balanced")
        np.testing.assert_allclose(found, theirs.decision_function(PLACES), atol=1e-4)
    with pytest.raises(ValueError, match="class_weights.*'a', 'b', 'c'"):
        fit(class_weights={"d": 1.0})


def test_check_kkt_knows_the_weights_of_one_class():
    machine = rn.one_class(k, X, 0.2, weights=W)
    rn.check_kkt(machine, X, nu=0.2, weights=W)
    with pytest.raises(rn.LawBroken):
        rn.check_kkt(machine, X, nu=0.2)


def test_components_of_weighted_points():
    weighted, again = rn.kernel_pca(k, X, 4, weights=W), rn.kernel_pca(k, X[AGAIN], 4)
    for number in ("eigenvalues", "trace", "mean_norm2"):
        np.testing.assert_allclose(getattr(weighted, number), getattr(again, number), rtol=1e-10)
    one, other = weighted.transform(PLACES), again.transform(PLACES)
    np.testing.assert_allclose(one @ one.T, other @ other.T, atol=1e-9)  # whatever the signs
    np.testing.assert_allclose(weighted.residual(PLACES), again.residual(PLACES), atol=1e-10)
    np.testing.assert_allclose(weighted.scores, weighted.transform(X[W > 0]), atol=1e-10)
    for how in ({}, {"method": "ridge", "k": rn.Gaussian(1.0), "lam": 0.1}):
        np.testing.assert_allclose(
            weighted.reconstruct(PLACES, **how), again.reconstruct(PLACES, **how), atol=1e-5
        )
    assert rn.check_kernel_pca(weighted) < 1e-12
    with pytest.raises(rn.LawBroken, match="mean 0"):
        rn.check_kernel_pca(dataclasses.replace(weighted, weights=weighted.weights[::-1]))


def test_correlations_of_weighted_pairs():
    Y = np.c_[X[:, 0] ** 2, y]
    weighted, again = (
        rn.kernel_cca(k, k, X[r], Y[r], 0.5, 2, **w)
        for r, w in ((np.arange(60), {"weights": W}), (AGAIN, {}))
    )
    np.testing.assert_allclose(weighted.correlations, again.correlations, atol=1e-6)
    one, other = weighted.transform_x(PLACES), again.transform_x(PLACES)
    np.testing.assert_allclose(np.abs(one), np.abs(other), atol=1e-5)
    assert rn.check_kernel_cca(weighted, X, Y, weights=W) < 1e-6
    with pytest.raises(rn.LawBroken, match="mean 0"):
        rn.check_kernel_cca(weighted, X, Y)


@pytest.mark.parametrize("how", [{}, {"option": 1}, {"option": 6, "features": 5}, {"lam": 0.5}])
def test_steps_of_weighted_points(how):
    "All points at once: a step is the gradient of the whole, and n only scales it"

    def fit(r, **w):
        return rn.kernel_sgd(
            rn.Polynomial(2),
            X[r],
            text[r],
            "logistic",
            steps=20,
            batch=len(r),
            rng=0,
            step_size=0.01 * len(r) / 60,
            replace=False,
            **how,
            **w,
        )

    if "features" in how:
        how = {**how, "features": rn.Polynomial(2).feature_map(3)}
    one, other = fit(np.arange(60), weights=W), fit(AGAIN)
    np.testing.assert_allclose(one(PLACES), other(PLACES), rtol=1e-9, atol=1e-12)
    single = rn.kernel_sgd(k, X, y, "squared", steps=300, step_size=0.05, weights=W, rng=1)
    longer = rn.kernel_sgd(k, X, y, "squared", steps=300, step_size=0.1, weights=W / 2, rng=1)
    np.testing.assert_allclose(single(PLACES), longer(PLACES), rtol=1e-9)


@pytest.mark.parametrize("labels", [y, three])
def test_alignment_of_weighted_points(labels):
    kernels = [k, rn.Linear(), rn.Gaussian(0.3)]
    one, other = rn.align(kernels, X, labels, weights=W), rn.align(kernels, X[AGAIN], labels[AGAIN])
    np.testing.assert_allclose(one(PLACES), other(PLACES), rtol=1e-9)
    assert np.abs(one(PLACES) - rn.align(kernels, X, labels)(PLACES)).max() > 1e-3


def test_shortest_fits_of_weighted_and_of_sparse_rows():
    Phi = np.abs(X) @ rng.normal(size=(3, 12)) + np.cos(X @ rng.normal(size=(3, 12)))
    for lam in (0.0, 0.3):
        np.testing.assert_allclose(
            rn.min_norm_fit(Phi, y, lam, weights=W),
            rn.min_norm_fit(Phi[AGAIN], y[AGAIN], lam),
            rtol=1e-8,
        )
    wide = rng.normal(size=(60, 200))
    np.testing.assert_allclose(
        rn.min_norm_fit(wide, y, weights=W + 1), rn.min_norm_fit(wide, y), atol=1e-12
    )
    rows = BINS(X)
    for lam, w in ((0.0, None), (0.1, None), (0.1, W)):
        sparse, dense = (
            rn.min_norm_fit(F, np.c_[y, signs], lam, weights=w) for F in (rows, rows.toarray())
        )
        np.testing.assert_allclose(sparse, dense, atol=1e-7)
    with pytest.raises(ValueError, match="rtol.*toarray"):
        rn.min_norm_fit(rows, y, rtol=0.1)
    with pytest.raises(rn.ConvergenceFailure, match="lam > 0"):
        rn.min_norm_fit(scipy.sparse.csr_array(np.diag(np.logspace(0, -5, 60))), y)


def test_double_descent_takes_sparse_features():
    def curve(form):
        def features(D, r):
            phi = rn.relu_features(3, D, r)
            return lambda P: form(phi(P))

        return rn.double_descent_curve(
            features, X[:40], y[:40], X[40:], y[40:], [10, 30, 60], 0, draws=2
        )

    one, other = curve(np.asarray), curve(scipy.sparse.csr_array)
    np.testing.assert_array_equal(one.test, other.test)


# -- sparse points ---------------------------------------------------------------------------

FEW = np.where(rng.random((80, 300)) < 0.05, rng.normal(size=(80, 300)), 0.0)
OTHERS = np.where(rng.random((30, 300)) < 0.05, rng.normal(size=(30, 300)), 0.0)
ROWS, COLUMNS = scipy.sparse.csr_array(FEW), scipy.sparse.csc_matrix(OTHERS)
few_y = FEW @ rng.normal(size=300)
few_three = np.digitize(few_y, [-1, 1])
few_text = np.where(few_y > 0, "up", "down")
lin, gau = rn.Linear(), rn.Gaussian(3.0)
SPARSE_KERNELS = [
    lin,
    rn.Polynomial(2),
    gau,
    rn.Matern(1.5, 3.0),
    rn.RationalQuadratic(1.0, 3.0),
    rn.Mahalanobis(np.linspace(2, 4, 300)),
    2 * lin + gau * rn.Polynomial(1),
    lin.normalized(),
    (lin / 10).exp(),
    lin + rn.Constant(1.0),
    gau**2,
]


@pytest.mark.second_route("SparseRows", "the same rows, dense")
@pytest.mark.parametrize("kernel", SPARSE_KERNELS, ids=lambda kernel: str(kernel)[:40])
def test_gram_matrices_of_sparse_points_are_those_of_dense_ones(kernel):
    for one, other in [
        (kernel(ROWS), kernel(FEW)),
        (kernel(ROWS, COLUMNS), kernel(FEW, OTHERS)),
        (kernel.diag(ROWS), kernel.diag(FEW)),
        (kernel.distance(ROWS), kernel.distance(FEW)),
        (kernel.pairs(ROWS[:30], COLUMNS), kernel.pairs(FEW[:30], OTHERS)),
    ]:
        assert type(one) is np.ndarray
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-7 if one.ndim == 2 else 1e-12)
    np.testing.assert_allclose(kernel(ROWS), kernel(FEW), rtol=1e-11, atol=1e-12)
    single = kernel(ROWS.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, kernel(FEW), rtol=2e-4, atol=1e-4)


@pytest.mark.parametrize(
    "kernel", [rn.Laplace(1.0), lin + rn.Laplace(1.0), lin.on(np.abs), rn.Brownian()]
)
def test_kernels_that_need_all_columns_refuse_sparse_points(kernel):
    with pytest.raises(TypeError, match=r"X\.toarray\(\).*Linear, Polynomial, Gaussian"):
        kernel(ROWS)
    marked = lin.points(ROWS)  # the mark of one kernel is no mark for the other
    with pytest.raises(TypeError, match="sparse"):
        rn.ridge(kernel, marked, few_y)


def test_columns_of_sparse_points_are_picked_for_any_kernel():
    k = rn.Laplace(1.0).on([3, 5]) + lin
    np.testing.assert_allclose(k(ROWS, COLUMNS), k(FEW, OTHERS), atol=1e-12)
    np.testing.assert_allclose(k(ROWS), k(FEW), atol=1e-12)
    with pytest.raises(ValueError, match="301 coordinates|needs 301"):
        lin.on(300)(ROWS)


def _table(make):
    return lambda kernel, A, B: make(kernel, A)(B)


SPARSE_LEARNERS = {
    "ridge": _table(lambda kernel, A: rn.ridge(kernel, A, few_y, 0.1, offset=True)),
    "ridge_path": _table(lambda kernel, A: rn.ridge_path(kernel, A, few_y)),
    "minimize_risk": _table(lambda kernel, A: rn.minimize_risk(kernel, A, few_text, "hinge", 0.1)),
    "svc": _table(lambda kernel, A: rn.svc(kernel, A, few_text, tol=1e-7)),
    "svr": _table(lambda kernel, A: rn.svr(kernel, A, few_y, tol=1e-7)),
    "one_class": _table(lambda kernel, A: rn.one_class(kernel, A, 0.2, tol=1e-7)),
    "svc_multiclass": _table(lambda kernel, A: rn.svc_multiclass(kernel, A, few_three, tol=1e-7)),
    "kernel_pca": _table(lambda kernel, A: rn.kernel_pca(kernel, A, 3)),
    "gaussian_process": lambda kernel, A, B: rn.gaussian_process(kernel, A, few_y, 0.1).var(B),
    "gp_classification": lambda kernel, A, B: rn.gp_classification(kernel, A, few_text).probability(
        B
    ),
    "kernel_sgd": _table(lambda kernel, A: rn.kernel_sgd(kernel, A, few_text, option=3, steps=200)),
    "interpolate": _table(lambda kernel, A: rn.RKHS(kernel).interpolate(A[:40], few_y[:40])),
    "compress": _table(lambda kernel, A: rn.ridge(kernel, A, few_y, 0.1).compress(1e-3)),
    "nystrom": lambda kernel, A, B: rn.nystrom_features(
        kernel, A, 20, rng=0, landmarks="rpcholesky"
    )(B),
    "ridge_large": _table(lambda kernel, A: rn.ridge_large(kernel, A, few_y, 0.1, tol=1e-10)),
    "mmd_test": lambda kernel, A, B: rn.mmd_test(kernel, A[:30], B, n_permutations=99, rng=0).null,
    "spectral null": lambda kernel, A, B: (
        rn.mmd_test(kernel, A[:30], B, null="spectral", rng=0).null
    ),
    "witness": lambda kernel, A, B: rn.witness(kernel, A, B)(B),
    "hsic": lambda kernel, A, B: rn.hsic(kernel, gau, A, few_y),
    "check_kernel": lambda kernel, A, B: rn.check_kernel(kernel, A),
}


@pytest.mark.parametrize("kernel", [lin, gau, 2 * lin + gau])
@pytest.mark.parametrize("learner", SPARSE_LEARNERS)
def test_learners_take_sparse_points(learner, kernel):
    run = SPARSE_LEARNERS[learner]
    np.testing.assert_allclose(
        run(kernel, ROWS, COLUMNS), run(kernel, FEW, OTHERS), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("option", [1, 2, 3, 4, 5, 6])
def test_stochastic_gradients_take_sparse_points(option):
    phi = lin.feature_map(FEW.shape[1]) if option > 4 else None
    sparse, dense = (
        rn.kernel_sgd(lin, A, few_text, option=option, steps=200, rng=0, features=phi)(OTHERS)
        for A in (ROWS, FEW)
    )
    np.testing.assert_allclose(sparse, dense, rtol=1e-10)


def test_many_columns_are_never_written_out():
    n, d = 400, 10**6
    wide = scipy.sparse.random_array(
        (n, d), density=1e-5, rng=np.random.default_rng(0), format="csr"
    )
    tracemalloc.start()
    for kernel in (lin, gau):
        K = kernel(wide)
    f = rn.ridge(gau, wide, np.arange(n) % 7, 0.1)(wide[:50])
    g, h = (rn.ridge(lin, A, np.arange(4), 0.1) for A in (wide[:4], wide[4:8]))
    both = (g - h)(wide)
    apart = rn.mmd2_v(gau, wide[:4], wide[4:8])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 * 2**20 and K.shape == (n, n) and f.shape == (50,)  # dense: 3 GiB
    np.testing.assert_allclose(lin(wide), (wide @ wide.T).toarray(), atol=1e-12)
    np.testing.assert_allclose(both, g(wide) - h(wide), atol=1e-12)
    own, others, cross = gau(wide[:4]), gau(wide[4:8]), gau(wide[:4], wide[4:8])
    np.testing.assert_allclose(apart, own.mean() + others.mean() - 2 * cross.mean(), atol=1e-12)


@pytest.mark.parametrize(
    "kernel, A, B, C",
    [
        (lin, FEW, FEW.copy(), -FEW),
        (lin, ROWS, ROWS.copy(), -ROWS),
        (lin, ROWS, FEW, -FEW),
        (lin, FEW, ROWS, ROWS[:70]),
        (rn.Spectrum(2), ["abc", "bcd"], ["abc", "bcd"], ["bcd", "abc"]),
    ],
)
def test_sums_have_common_centres_where_points_are_equal(kernel, A, B, C):
    n = len(A) if isinstance(A, list) else A.shape[0]
    f, same, other = (rn.mean_embedding(kernel, points) for points in (A, B, C))
    assert len((f + same).alpha) == len((f - same).alpha) == n < len((f + other).alpha)
    np.testing.assert_allclose((f + other)(A), f(A) + other(A), atol=1e-12)


def test_sparse_points_are_read_once_and_never_changed():
    given = ROWS.copy()
    kept = gau.points(given)
    assert gau.points(kept) is kept
    given.data[:] = 7.0
    np.testing.assert_allclose(gau(kept), gau(FEW), rtol=1e-11)
    with pytest.raises(ValueError, match="read-only"):
        kept.data[0] = 1.0
    for bad, words in ((np.nan, "X is not finite"), (1j, "complex")):
        wrong = given.astype(type(bad))
        wrong.data[3] = bad
        with pytest.raises((TypeError, ValueError), match=words):
            gau(wrong)


def test_distances_of_sparse_points_guess_a_bandwidth():
    assert rn.median_bandwidth(ROWS, k=lin) == pytest.approx(rn.median_bandwidth(FEW), rel=1e-12)
    with pytest.raises(TypeError, match="toarray"):
        rn.median_bandwidth(ROWS)


# -- walls that were left --------------------------------------------------------------------

MIXED = TABLE.assign(word=text, day=pd.Timestamp("2020-01-01").as_unit("us"))


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize(
    "kernel",
    [
        k.on(["age"]),
        2 * k.on("age") + rn.Linear().on(["score", "income"]),
        k.on("income").normalized() * rn.Laplace(1.0).on("age"),
    ],
)
def test_columns_that_no_kernel_names_may_hold_words(kernel, library):
    mixed = MIXED if library == "pandas" else pl.DataFrame({c: MIXED[c].to_numpy() for c in MIXED})
    f = rn.ridge(kernel, mixed, y, 0.1)
    np.testing.assert_array_equal(f(mixed), rn.ridge(kernel, TABLE, y, 0.1)(TABLE))
    np.testing.assert_allclose(kernel(mixed, TABLE), kernel(TABLE), rtol=1e-12)
    np.testing.assert_array_equal(
        f.predict(mixed[["word", "score", "age", "income", "day"]]), f(mixed)
    )


def test_words_are_refused_where_a_kernel_needs_them():
    for kernel in (k, k.on(["age"]) + rn.Linear(), rn.Linear().on("word")):
        with pytest.raises(TypeError, match="text"):
            kernel(MIXED[["age", "word"]])
    with pytest.raises((TypeError, ValueError), match="'agee'.*mean age"):
        k.on("agee")(TABLE)


def test_fewer_landmarks_than_asked_for_are_said():
    with pytest.warns(RuntimeWarning, match=r"6 features from 25 landmarks"):
        assert rn.nystrom_features(rn.Polynomial(2), X[:, :2], 25, rng=0).dim == 6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rn.nystrom_features(k, X, 25, rng=0).dim == 25


@pytest.mark.parametrize(
    "draw",
    [
        lambda ax: rn.svc(k, X[:, :2], signs).plot(X[:, :2], signs, ax=ax),
        lambda ax: rn.plots.plot_classes(X[:, :2], signs, ax=ax),
        lambda ax: k.plot(ax=ax),
        lambda ax: rn.double_descent_curve(
            lambda D, r: rn.fourier_features(k, 3, D, r), X, y, X, y, [4, 8], rng=0, draws=1
        ).plot(ax=ax),
    ],
)
def test_a_word_for_axes_is_refused_and_opens_no_picture(draw):
    plt.close("all")
    with pytest.raises(TypeError, match="ax is of type str, not matplotlib Axes"):
        draw("left")
    assert not plt.get_fignums()


def test_more_nodes_than_fit_are_refused_before_they_fill_the_memory():
    for rule in (lambda n: rn.gauss_hermite(0.0, 1.0, n), lambda n: rn.gauss_legendre(0.0, 1.0, n)):
        with pytest.raises(MemoryError, match="fewer nodes"):
            rule(10**6)
        assert len(rule(50).points) == 50


# -- numbers of a table ----------------------------------------------------------------------


def halves():
    "A table whose rows come from elsewhere, in two blocks of another size than is asked for"
    yield [np.arange(3.0), np.array(["1", " 2.5 ", ""], object)]
    yield [np.arange(3.0, 5.0), np.array(["4e1", "-1"], object)]


SOURCES = {
    "a dict": {"i": np.arange(5.0), "v": ["1", " 2.5 ", None, "4e1", "-1"]},
    "pandas": pd.DataFrame({"i": range(5), "v": [1, 2.5, np.nan, 40, -1]}),
    "nullable": pd.DataFrame(
        {"i": range(5), "v": pd.array([1.0, 2.5, None, 40.0, -1.0], "Float64")}
    ),
    "polars": pl.DataFrame({"i": range(5), "v": [1.0, 2.5, None, 40.0, -1.0]}),
    "blocks": Table("blocks", ["i", "v"], halves),
    "objects": {"i": np.arange(5).astype(object), "v": [1, 2.5, None, 40, -1]},
}


@pytest.mark.parametrize("source", SOURCES)
def test_numbers_of_any_table_are_asked_for_by_name(source):
    table = read_table(SOURCES[source], name="t")
    with pytest.raises(ValueError, match="row 3: column 'v' has a gap"):
        list(table.numbers(["v", "i"], 100))
    with pytest.warns(UserWarning, match="1 of 5 rows with a gap are left out, 1 in 'v'"):
        found = np.concatenate(list(table.numbers(["v", "i"], 100, "drop")))
    assert found.tolist() == [[1, 0], [2.5, 1], [40, 3], [-1, 4]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.concatenate(list(table.numbers(["i", "i"], 100))).T.tolist() == [[*range(5)]] * 2
    with pytest.raises(ValueError, match="has no column 'w'; it has i, v"):
        list(table.numbers(["w"], 100))


def test_blocks_of_an_array_are_as_short_as_is_asked(tmp_path):
    A = np.arange(50_000.0).reshape(-1, 2)
    np.save(tmp_path / "a.npy", A)
    parts = list(read_table(tmp_path / "a.npy").numbers(["c1", "c0"], 3000))
    assert [len(part) for part in parts] == [3000] * 6 + [2000, 3000, 2000]  # read in 20 000 rows
    np.testing.assert_array_equal(np.concatenate(parts)[:, ::-1], A)
    A[24_000, 1] = np.nan
    with pytest.raises(ValueError, match="row 24001: column 'c1' has a gap"):
        list(read_table(A).numbers(["c1"], 3000))
    for weights in (3, ["c0"], ["c0", "c1"]):
        with pytest.raises(TypeError, match="^weights is of type (int|list), not the name of a"):
            FileBlocks(tmp_path / "a.npy", "c1", weights=weights)


@pytest.mark.parametrize("index", [range(9), range(9, 0, -1), [3, 1, 2] * 3, list("abcdefghi")])
@pytest.mark.parametrize("name", [None, "row"])
def test_the_index_of_a_frame_is_no_column_of_its_file(index, name, tmp_path):
    index = pd.Index(list(index) if name else index, name=name)
    frame = pd.DataFrame({"a": np.arange(9.0), "b": 1.0, "y": 2.0}, index=index)
    frame.to_parquet(tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet").columns == read_table(frame).columns == list("aby")
    ((X, y),) = FileBlocks(tmp_path / "t.parquet", "y")
    np.testing.assert_array_equal(np.column_stack([X, y]), frame)


def test_an_index_with_a_name_is_read_by_it(tmp_path):
    index = pd.Index([3.0, 1.0, 2.0], name="a")
    frame = pd.DataFrame({"b": [3.0, 4.0, 5.0], "y": [1.0, 0.0, 1.0]}, index=index)
    frame.to_parquet(tmp_path / "t.parquet")
    for wanted in (dict(columns=["a"]), dict(columns="a", weights="a")):
        ((X, *_),) = FileBlocks(tmp_path / "t.parquet", "y", **wanted)
        np.testing.assert_array_equal(X[:, 0], index)
    with pytest.raises(ValueError, match="no column 'c'"):
        list(FileBlocks(tmp_path / "t.parquet", "y", columns="c"))


def test_long_lists_in_a_column_are_told_apart_in_their_middle():
    zeros = np.zeros(2000)
    other = zeros + (np.arange(2000) == 1000)
    first = [
        next(read_table(pd.DataFrame({"v": [v, v]})).blocks())[0][0]
        for v in (zeros, 0 * zeros, other)
    ]
    assert first[0] == first[1] != first[2]


@pytest.mark.parametrize(
    "lists",
    [[[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [3.0]], [[1.0], [2.0]], [{"1": 2.0}, {"1": 3.0}]],
)
def test_a_column_of_lists_is_told_by_its_row(lists, tmp_path):
    frame = pd.DataFrame({"v": lists, "y": [1.0, 2.0]})
    frame.to_parquet(tmp_path / "t.parquet")
    for source in (tmp_path / "t.parquet", frame):
        with pytest.raises(ValueError, match=r"row 1: .[\[{].* in column 'v' is no finite"):
            list(read_table(source).numbers(["y", "v"], 9))


def test_a_source_is_asked_for_what_is_wanted():
    "Columns by their places, so many rows at once, and as numbers only where numbers are wanted"
    asked = []

    def parts(*wanted):
        asked.append(wanted)
        yield [np.arange(3.0)] * len(wanted[0]), range(1, 4)

    table = Table("t", ["a", "b", "c"], parts=parts)
    assert np.concatenate(list(table.numbers(["c", "a"], 7))).shape == (3, 2)
    assert len(next(table.blocks(["b"]))) == 1
    (numbers, rows, as_numbers), (texts, _, as_texts) = asked
    assert (numbers, rows, texts) == ([2, 0], 7, [1]) and as_numbers and not as_texts


def test_a_word_among_numbers_is_told_by_its_row():
    table = read_table({"v": ["1", "two", "3"]}, name="t")
    with pytest.raises(ValueError, match="t, row 2: 'two' in column 'v' is no finite number"):
        list(table.numbers(["v"], 100))
    table = read_table({"v": [1.0, np.inf]}, name="t")
    with pytest.raises(ValueError, match="t, row 2: .*inf.* in column 'v' is no finite number"):
        list(table.numbers(["v"], 100))


@pytest.mark.parametrize(
    "text, hint",
    [
        ("two", "a word"),
        ("inf", "infinite"),
        ("1,5", "a decimal comma"),
        ("0,125", "a decimal comma"),
        ("1,000", "a thousands mark. Leave it out. Of decimals"),
        ("-12,345,678.5", "a thousands mark"),
        ("a,b", "a word"),
    ],
)
def test_what_is_no_number_gets_the_hint_that_fits(text, hint):
    table = read_table({"v": ["1", text]}, name="t")
    with pytest.raises(ValueError, match=f"'{text}' in column 'v' is no finite number: {hint}"):
        list(table.numbers(["v"], 100))
    if "comma" in hint or "thousands" in hint:
        with pytest.raises(ValueError, match=f"of t holds '{text}': {hint}"):
            encoded(table, table)


@pytest.mark.parametrize("first", [["true", "perhaps", "false"], ["true", "false", "true"]])
def test_truth_values_beside_words_are_words(first):
    "Whether the words come in the same table or in the next one"
    A, B = pd.DataFrame({"said": first}), pd.DataFrame({"said": ["perhaps", "false", "true"]})
    encoder, *_ = encoded(A, B)
    block = [np.array(["false", "perhaps", "true"], object)]
    assert (encoder(block) == np.eye(3)).all()
