"Streams: classes block by block, files and Dask arrays; the cuts of the regressor are in test_estimators"

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import Ridge
from sklearn.metrics import log_loss
from sklearn.utils.class_weight import compute_class_weight

import rkhs_notes as rn
from rkhs_notes.apps.estimators import StreamingKernelClassifier, StreamingKernelRidge
from rkhs_notes.engines.data.sums import FileBlocks
from rkhs_notes.kernels import Gaussian

WEIGHTS = [None, {"a": 2.0, "d": 5.0}, "balanced"]


def kinds(n, seed=0):
    "Points of four kinds, of which one is rare, and weights, some of them 0"
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    c = (X[:, 0] > 0).astype(int) + (np.abs(X[:, 1]) > 1) + (X[:, 2] > 2.0)
    c = np.where(rng.random(n) < 0.1, rng.integers(0, 3, n), c)
    w = rng.uniform(0, 2, n) * (rng.random(n) > 0.1)
    return X, np.array(["a", "b", "c", "d"])[c], w


def streamed(X, y, ends=(), w=None, classes=None, **options):
    "The stream, cut at these rows"
    fit = StreamingKernelClassifier(**dict(n_features=40) | options)
    w = np.ones(X.shape[0]) if w is None else w
    for a, b in zip([0, *ends], [*ends, X.shape[0]], strict=True):
        if w[a:b].any():
            fit.partial_fit(X[a:b], y[a:b], classes, w[a:b])
    return fit


@pytest.mark.parametrize("sort", [False, True])
@pytest.mark.parametrize("class_weight", WEIGHTS, ids=str)
@pytest.mark.parametrize("digits", [9, 0])
def test_no_cut_of_a_stream_of_classes_changes_it(class_weight, sort, digits):
    "Also where classes come one after the other, rows repeat and some weigh nothing"
    X, y, w = kinds(2700 + 2600 * sort)  # so many that not all scores are kept
    X = np.round(X, digits)
    if sort:
        order = np.argsort(y, kind="stable")
        X, y, w = X[order], y[order], w[order]
    cuts = ([1, 2, 3], [999, 1000, 1001, 2000], range(130, len(X), 130))
    whole = streamed(X, y, (), w, class_weight=class_weight)
    for ends in cuts:
        fit = streamed(X, y, ends, w, class_weight=class_weight)
        assert fit.lam_ == whole.lam_ and fit.sums_.n == whole.sums_.n == np.count_nonzero(w)
        assert list(fit.classes_) == list(whole.classes_) == ["a", "b", "c", "d"]
        assert fit.chosen_.split(";")[1:] == whole.chosen_.split(";")[1:]
        np.testing.assert_allclose(fit.predict_proba(X), whole.predict_proba(X), atol=1e-6)


@pytest.mark.second_route("StreamingKernelClassifier", "scikit-learn")
@pytest.mark.parametrize("class_weight", WEIGHTS, ids=str)
@pytest.mark.parametrize("n", [600, 2500])
def test_it_is_ridge_on_a_column_for_each_class(class_weight, n):
    "Weights of classes are weights of rows, and balanced ones those of all rows together"
    X, y, _ = kinds(n)
    fit = streamed(X, y, range(100, n, 100), lam=0.5, class_weight=class_weight)
    names, Y = np.unique(y), (y[:, None] == np.unique(y)).astype(float)
    w = class_weight or {}
    if w == "balanced":
        w = dict(zip(names, compute_class_weight("balanced", classes=names, y=y), strict=True))
    F = fit.sums_.phi(X)
    theirs = Ridge(alpha=0.5).fit(F, Y, np.array([w.get(c, 1.0) for c in y]))
    np.testing.assert_allclose(fit.function_(X) + fit.offset_, theirs.predict(F), atol=1e-8)
    values = np.maximum(theirs.predict(F), fit.floor_)
    P = softmax(np.log(values) / fit.temperature_, axis=1)
    np.testing.assert_allclose(fit.predict_proba(X), P, atol=1e-7)


def test_a_class_that_is_met_late_was_there_from_the_start():
    "To the last bit: its column of 0 adds nothing"
    X, y, _ = kinds(2600)
    late = np.flatnonzero(y == "d")
    order = np.r_[np.flatnonzero(y != "d"), late]
    X, y = X[order], y[order]
    cut = [700, 1800, len(y) - len(late)]
    found, told = streamed(X, y, cut), streamed(X, y, cut, classes=["d", "a", "c", "b"])
    assert list(found.classes_) == list(told.classes_)
    for part in ("high", "low"):
        both = (getattr(fit.sums_._state.sum, part) for fit in (found, told))
        assert np.array_equal(*both)
    np.testing.assert_allclose(found.predict_proba(X), told.predict_proba(X), atol=1e-8)
    before = streamed(X[:1800], y[:1800], classes=["a", "b", "c", "d"])
    assert before.predict_proba(X).shape == (len(X), 4)
    assert set(before.predict(X)) == {"a", "b", "c"}


@pytest.mark.parametrize("classes, y", [([0, 1], ["a", "b"]), (["a", "b"], [0, 1])])
def test_labels_of_another_type_than_declared_are_none_of_those_declared(classes, y):
    fit, X = StreamingKernelClassifier(Gaussian(1.0), n_features=8), np.eye(2)
    with pytest.raises(ValueError, match="none of those declared at the first call"):
        fit.partial_fit(X, y, classes=classes)
    assert not hasattr(fit, "classes_")


def test_what_classes_were_declared_is_kept_to():
    X, y, _ = kinds(300)
    fit = StreamingKernelClassifier(n_features=20).partial_fit(X, y, list("abcd"))
    P = fit.predict_proba(X)
    with pytest.raises(ValueError, match=r"y has the class 'e', .*none of those declared"):
        fit.partial_fit(X[:2], ["a", "e"])
    with pytest.raises(ValueError, match=r"classes = \['a', 'b'\] here, and .* before"):
        fit.partial_fit(X, y, ["a", "b"])
    assert np.array_equal(fit.predict_proba(X), P) and fit.sums_.n == 300
    fit.partial_fit(X, y, list("dcba")).fit(X[:9], np.arange(9) % 2)
    assert list(fit.classes_) == [0, 1] and fit.sums_.n == 9
    with pytest.raises(TypeError, match="text and numbers are never one class"):
        fit.partial_fit(X[:2], ["a", "b"])
    with pytest.raises(ValueError, match="none of those declared"):
        StreamingKernelClassifier().partial_fit(X, y, ["a"])
    some = StreamingKernelClassifier(n_features=20).partial_fit(X, np.where(y == "d", "a", y))
    assert list(some.partial_fit(X, y, list("abcde")).classes_) == list("abcde")


def test_one_class_is_predicted_until_another_comes():
    X, y, _ = kinds(200)
    fit = StreamingKernelClassifier(n_features=20).partial_fit(X, ["a"] * 200)
    assert set(fit.predict(X)) == {"a"} and (fit.predict_proba(X) == 1).all()
    assert fit.decision_function(X).shape == (200,)
    fit.partial_fit(X, np.where(X[:, 0] > 0, "a", "b"))
    assert fit.predict_proba(X).shape == (200, 2) and set(fit.predict(X)) == {"a", "b"}


def test_the_scores_that_are_kept_are_of_fits_that_had_not_seen_the_row():
    "By refitting: after 1000 rows and after 2000, at the lam that was best by then"
    X, y, w = kinds(2900, 1)
    w += 0.1
    fit = streamed(X, y, [500, 1700], w)
    F, Y, lams = fit.sums_.phi(X), (y[:, None] == fit.classes_) * 1.0, np.logspace(-6, 3, 25)
    errors, shown = [], []
    for n, end in ((1000, 2000), (2000, 2900)):
        S = np.stack(
            [Ridge(alpha=a).fit(F[:n], Y[:n], w[:n]).predict(F[n:end]) for a in lams], axis=1
        )
        errors.append(w[n:end] @ np.sum((S - Y[n:end, None]) ** 2, axis=2))
        shown.append(S)
    ahead = fit._ahead
    np.testing.assert_allclose(ahead.before.sum(axis=0), errors[0], rtol=1e-6)
    np.testing.assert_allclose(ahead.now.sum(axis=0), errors[1], rtol=1e-6)
    assert fit.lam_ == pytest.approx(lams[np.sum(errors, axis=0).argmin()])
    kept = ahead.later  # all of the 900: 2000 were to be kept of 2000
    np.testing.assert_allclose(kept[:, :4], shown[1][:, ahead.best], atol=1e-6)
    assert np.array_equal(kept[:, 4], np.searchsorted(fit.classes_, y[2000:]))
    assert np.array_equal(kept[:, 5], w[2000:]) and len(ahead.earlier) == 1000


def test_a_fit_that_never_met_a_class_is_no_judge_of_its_probabilities():
    X, y, _ = kinds(5000, 6)
    y[:2100][y[:2100] == "b"] = "a"
    fit = streamed(X, y, [2100, 3000, 3900])
    table = fit._ahead.later
    assert fit._ahead.due == 8000 and "b" in fit.classes_[table[:, 4].astype(int)]
    before = fit._ahead.earlier  # by the fit after 2000 rows
    assert "b" not in fit.classes_[before[:, 4].astype(int)]
    assert len(before) == np.sum(y[2000:4000] != "b")


def test_balance_is_not_begun_in_mid_stream():
    X, y, _ = kinds(300)
    for one, other in ((None, "balanced"), ("balanced", None)):
        fit = streamed(X, y, class_weight=one).set_params(class_weight=other)
        with pytest.raises(ValueError, match="in mid-stream: the sums were begun"):
            fit.partial_fit(X, y)
        assert fit.fit(X, y).sums_.n == 300


def test_while_rows_are_few_each_is_scored_by_a_fit_without_it():
    X, y, w = kinds(40, 2)
    w += 0.1
    for class_weight in (None, "balanced"):
        fit = streamed(X, y, [15], w, n_features=20, class_weight=class_weight)
        names, factors = list(fit.classes_), np.ones(len(fit.classes_))
        if class_weight:
            factors = w.sum() / len(names) / np.array([w[y == c].sum() for c in names])
        F, Y, by = fit.sums_.phi(X), (y[:, None] == fit.classes_) * 1.0, w.copy()
        by *= factors[np.searchsorted(names, y)]
        lam, rows = np.logspace(-6, 3, 25)[_best(fit, factors)], np.arange(40)
        assert fit.lam_ == lam
        model = [Ridge(alpha=lam).fit(F[rows != i], Y[rows != i], by[rows != i]) for i in rows]
        scores = np.concatenate([m.predict(F[[i]]) for i, m in enumerate(model)])
        table = fit._ahead.scores
        found = {tuple(np.round(row, 6)) for row in np.c_[scores, np.searchsorted(names, y), w]}
        assert found == {tuple(np.round(row, 6)) for row in table}


def _best(fit, factors):
    return (factors @ fit._ahead.errors).argmin()


@pytest.mark.parametrize("n", [500, 3000])
def test_labels_that_are_noise_are_given_their_shares(n):
    "A fit of almost no lam follows them; what it says of rows ahead shows that it knows nothing"
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(n, 2)), (rng.random(n) < 0.3).astype(int)
    fit = StreamingKernelClassifier(Gaussian(0.2), lam=1e-6, n_features=300).fit(X, y)
    new, c = rng.normal(size=(4000, 2)), (rng.random(4000) < 0.3).astype(int)
    values = fit.function_(new) + fit.offset_
    assert np.abs(values - 0.5).max() > 1.0
    lost = log_loss(c, fit.predict_proba(new))
    hasty = softmax(np.log(np.maximum(values, 0.01)), axis=1)
    assert lost < 0.70 and lost < log_loss(c, hasty) - 0.03 and fit.temperature_ > 1.5
    assert np.array_equal(fit.predict(new), values.argmax(axis=1))
    chosen = StreamingKernelClassifier(Gaussian(0.2), n_features=300).fit(X, y)
    assert log_loss(c, chosen.predict_proba(new)) < 0.63  # the entropy of the shares is 0.611


def test_probabilities_come_true_and_agree_with_what_is_predicted():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(12_000, 2))
    truth = softmax(np.c_[2 * np.sin(2 * X[:, 0]), X[:, 1], 0 * X[:, 0]], axis=1)
    y = (rng.random((12_000, 1)) > truth.cumsum(axis=1)).sum(axis=1)
    fit = StreamingKernelClassifier(n_features=100).fit(X[:6000], y[:6000])
    P = fit.predict_proba(X[6000:])
    assert log_loss(y[6000:], P) < log_loss(y[6000:], truth[6000:]) + 0.02
    assert np.array_equal(fit.predict(X[6000:]), P.argmax(axis=1))
    odds = fit.decision_function(X[6000:])
    np.testing.assert_allclose(softmax(odds, axis=1), P)
    for low, high in ((0.2, 0.3), (0.4, 0.5), (0.6, 0.7)):
        some = (P > low) & (P < high)
        assert np.mean((y[6000:, None] == np.arange(3))[some]) == pytest.approx(
            P[some].mean(), abs=0.04
        )


def test_balance_finds_the_rare_class():
    X, y, _ = kinds(6000, 5)
    plain, balanced = (streamed(X[:4000], y[:4000], class_weight=cw) for cw in (None, "balanced"))
    rare = y[4000:] == "d"
    found = [(fit.predict(X[4000:])[rare] == "d").mean() for fit in (plain, balanced)]
    assert found[1] > found[0] + 0.1
    with pytest.raises(ValueError, match=r"class_weight = .*'balanced', or a dict"):
        streamed(X, y, class_weight="auto")
    with pytest.raises(ValueError, match=r"class_weight\['a'\]"):
        streamed(X, y, class_weight={"a": 0.0})
    with pytest.raises(ValueError, match="class_weight"):
        StreamingKernelClassifier(class_weight={"z": 2.0}).fit(X, y)
    with pytest.raises(ValueError, match="class_weight"):
        streamed(X, y, class_weight={"z": 2.0}, classes=list("abcd"))
    later = streamed(X[:500], np.where(y == "d", "a", y)[:500], class_weight={"d": 3.0})
    assert later.partial_fit(X, y).classes_[3] == "d"


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_a_block_of_classes_that_is_wrong_adds_nothing(class_weight, monkeypatch):
    X, y, _ = kinds(1500)
    fit = streamed(X, y, [1200], class_weight=class_weight)
    P, rest = fit.predict_proba(X), pickle.loads(pickle.dumps(fit))
    bad = np.where(np.arange(1500)[:, None] == 1499, np.inf, X)
    with pytest.raises(ValueError, match="infinity"):
        fit.partial_fit(bad, y)
    with pytest.raises(ValueError, match="missing"):
        fit.partial_fit(X[:2], np.array(["a", None], dtype=object))

    def interrupted(self):
        raise KeyboardInterrupt

    with monkeypatch.context() as m, pytest.raises(KeyboardInterrupt):
        m.setattr(StreamingKernelClassifier, "_calibrate", interrupted)
        fit.partial_fit(X, np.where(y == "a", "new", y))
    assert np.array_equal(fit.predict_proba(X), P) and list(fit.classes_) == list("abcd")
    for one in (fit, rest):
        one.partial_fit(X, y)
    assert np.array_equal(fit.predict_proba(X), rest.predict_proba(X)) and fit.sums_.n == 3000


@pytest.mark.parametrize("class_weight", WEIGHTS, ids=str)
@pytest.mark.parametrize("n", [200, 2600])
def test_a_saved_stream_of_classes_goes_on(class_weight, n, tmp_path):
    X, y, _ = kinds(n)
    fit = streamed(X, y, [n // 2], class_weight=class_weight)
    fit.save(tmp_path / "fit.npz")
    again = rn.load_model(tmp_path / "fit.npz")
    assert np.array_equal(again.predict_proba(X), fit.predict_proba(X))
    more, names, _ = kinds(900, 1)
    names = names.astype("U4")
    names[:40] = "late"
    for one in (fit, again, pickle.loads(pickle.dumps(again))):
        one.partial_fit(more, names)
    assert np.array_equal(again.predict_proba(X), fit.predict_proba(X))
    assert "late" in again.classes_ and again.sums_.n == n + 900


def test_columns_by_name_and_sparse_rows():
    X, y, _ = kinds(1300)
    frame = pd.DataFrame(X, columns=["p", "q", "r"])
    fit = StreamingKernelClassifier(Gaussian(2.0).on(["q", "p"]), n_features=40)
    fit.partial_fit(frame[:700], y[:700]).partial_fit(frame[700:], y[700:])
    plain = streamed(X[:, [1, 0]], y, kernel=Gaussian(2.0))
    np.testing.assert_allclose(
        fit.predict_proba(frame), plain.predict_proba(X[:, [1, 0]]), atol=1e-7
    )
    assert fit.score(frame, y) == plain.score(X[:, [1, 0]], y)
    sparse = np.where(np.abs(X) > 0.5, X, 0.0)
    rows, dense = (streamed(A, y, [300, 1100]) for A in (sp.csr_array(sparse), sparse))
    np.testing.assert_allclose(rows.predict_proba(sparse), dense.predict_proba(sparse), atol=1e-6)


# ------------------------------------------------------------------ files, memory maps, Dask arrays
def both_kinds(X, y):
    "(the estimator of a stream, its answers, what it says)"
    yield StreamingKernelRidge(n_features=30), np.sin(X[:, 0]) + X[:, 1], "predict"
    yield StreamingKernelClassifier(n_features=30), y, "predict_proba"
    balanced = StreamingKernelClassifier(n_features=30, class_weight="balanced")
    yield balanced, y, "predict_proba"


def cut(A, n):
    return [A[i : i + n] for i in range(0, len(A), n)]


def test_blocks_of_any_source_are_one_stream(tmp_path):
    X, y, w = kinds(2600)
    c = np.searchsorted(list("abcd"), y).astype(float)
    for fit, answers, says in both_kinds(X, c):
        whole = getattr(fit.fit(X, answers), says)(X)
        weighted = getattr(fit.fit(X, answers, w), says)(X)
        blocks = fit.fit_blocks(zip(cut(X, 300), cut(answers, 300), strict=True))
        assert fit.sums_.n == 2600
        np.testing.assert_allclose(getattr(blocks, says)(X), whole, atol=1e-6)
        triples = [cut(A, 170) for A in (X, answers, w)]
        fit.fit_blocks(zip(*triples, strict=True))
        np.testing.assert_allclose(getattr(fit, says)(X), weighted, atol=1e-6)
        np.save(tmp_path / "X.npy", X)
        mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
        np.testing.assert_allclose(
            getattr(fit.fit_blocks((mapped, answers)), says)(X), whole, atol=1e-6
        )
        table = pd.DataFrame(X, columns=["p", "q", "r"]).assign(answer=answers)
        table.to_csv(tmp_path / "table.csv", index=False)
        fit.fit_blocks(FileBlocks(tmp_path / "table.csv", target="answer", n_rows=400))
        np.testing.assert_allclose(getattr(fit, says)(X), whole, atol=1e-6)


def test_what_is_wrong_with_a_block_is_told_with_its_number_and_the_others_are_in():
    X, y, _ = kinds(1500)
    for fit, answers, says in both_kinds(X, y):
        blocks = list(zip(cut(X, 500), cut(answers, 500), strict=True))
        broken = [*blocks[:2], (np.full((9, 3), np.nan), answers[:9])]
        with pytest.raises(ValueError, match="block 2: .*NaN.*Nothing of it.*2 blocks are in"):
            fit.fit_blocks(broken)
        values = getattr(fit, says)(X)
        np.testing.assert_allclose(values, getattr(fit.fit(X[:1000], answers[:1000]), says)(X))
        with pytest.raises(TypeError, match="blocks is of type NoneType, not a stream of blocks"):
            fit.fit_blocks(None)
        with pytest.raises(ValueError, match="blocks is empty"):
            fit.fit_blocks([])


@pytest.mark.parametrize("weighted", [False, True])
def test_dask_arrays_are_the_same_stream(weighted):
    da = pytest.importorskip("dask.array")
    X, y, w = kinds(5300)
    for fit, answers, says in both_kinds(X, y):
        arrays = [X, answers, w + 0.1][: 2 + weighted]
        one = getattr(fit.fit(*arrays), says)(X)
        told, n = fit.chosen_, fit.sums_.n
        chunks = [(700, 2), 900, 1111]
        apart = [da.from_array(A, chunks=c) for A, c in zip(arrays, chunks, strict=False)]
        np.testing.assert_allclose(getattr(fit.fit_blocks(apart), says)(X), one, atol=1e-6)
        assert fit.chosen_ == told and fit.sums_.n == n == 5300
        fit.partial_fit(X[:50], answers[:50])
        assert fit.sums_.n == 5350


def test_weights_of_0_in_dask_arrays_are_no_rows():
    "Neither summed nor numbered, also where a whole block has none, or the first thousands"
    da = pytest.importorskip("dask.array")
    X, y, w = kinds(12_000)
    w = np.where(np.arange(12_000) % 5 < 2, 0.0, w + 0.1)
    for nothing in (slice(0, 0), slice(0, 4500), slice(6000, 7500)):
        w[nothing] = 0
        for fit, answers, says in both_kinds(X, y):
            fit.set_params(n_features=60)
            one = getattr(fit.fit(X, answers, sample_weight=w), says)(X)
            told, n = fit.chosen_, fit.sums_.n
            apart = [da.from_array(A, chunks=1500) for A in (X, answers, w)]
            np.testing.assert_allclose(getattr(fit.fit_blocks(apart), says)(X), one, atol=1e-6)
            assert fit.chosen_ == told and fit.sums_.n == n == np.count_nonzero(w)
            pieces = (
                (X[i : i + 1500], answers[i : i + 1500], w[i : i + 1500])
                for i in (12_000, *range(0, 12_000, 1500))  # first one of no rows
            )
            np.testing.assert_allclose(getattr(fit.fit_blocks(pieces), says)(X), one, atol=1e-6)
    with pytest.raises(ValueError, match="no row of it has a weight"):
        fit.fit_blocks([(X, answers, 0 * w)])


@pytest.mark.parametrize("kind", [object, str])
def test_labels_of_dask_are_those_in_memory(kind):
    "Text as objects, as a table has it; of rows with a weight alone, also where a block has none"
    da = pytest.importorskip("dask.array")
    X, y, _ = kinds(1500)
    y, w = np.array(y, kind), np.ones(1500)
    y[5], w[5] = "z", 0
    w[:500] = 0
    fit, lazy = (
        StreamingKernelClassifier(n_features=30),
        [da.from_array(A, chunks=400) for A in (X, y, w)],
    )
    lazy[2] = lazy[2].rechunk(100)
    for block in (lazy, [lazy[0], lazy[1].rechunk(300), w]):
        P = fit.fit_blocks(block).predict_proba(X)
        assert fit.classes_.tolist() == list("abcd")
        np.testing.assert_allclose(P, fit.fit(X, y, w).predict_proba(X), atol=1e-6)
    if kind is object:
        y[7] = None
        with pytest.raises(ValueError, match="y has missing entries"):
            fit.fit_blocks([lazy[0], da.from_array(y, chunks=400)])
    with pytest.raises(ValueError, match="weights .*one row for each point"):
        fit.fit_blocks((*lazy[:2], lazy[2][:90]))
    with pytest.raises(ValueError, match="sample_weight has shape .1500, 1"):
        fit.fit_blocks((*lazy[:2], lazy[2][:, None]))
    with pytest.warns(DataConversionWarning, match="column-vector"):
        assert len(fit.fit_blocks((lazy[0], da.from_array(kinds(1500)[1])[:, None])).classes_) == 4


def test_dask_in_processes_and_what_is_wrong_there():
    dask, da = pytest.importorskip("dask"), pytest.importorskip("dask.array")
    X, y, _ = kinds(5000)
    arrays = [da.from_array(A, chunks=1500) for A in (X, y)]
    fit = StreamingKernelClassifier(n_features=30)
    with dask.config.set(scheduler="processes", num_workers=2):
        P = fit.fit_blocks(arrays, classes=list("abcd")).predict_proba(X)
    np.testing.assert_allclose(P, fit.fit(X, y).predict_proba(X), atol=1e-6)
    bad = X.copy()
    bad[4700] = np.nan
    with pytest.raises(ValueError, match=r"block 3: .*NaN"):
        fit.fit_blocks([da.from_array(bad, chunks=1500), arrays[1]])
    assert fit.sums_.n == 4000  # the rounds before
    unknown = arrays[0][arrays[0][:, 0] > 0]
    with pytest.raises(ValueError, match="X has blocks of unknown length.*compute_chunk_sizes"):
        fit.fit_blocks((unknown, arrays[1]))
    with pytest.raises(ValueError, match="y.*one row for each point"):
        fit.fit_blocks((arrays[0], arrays[1][:90]))


def test_a_lam_that_is_given_is_kept_and_scores_are_told():
    X, y, _ = kinds(700)
    fit = streamed(X, y, lam=0.25)
    assert fit.lam_ == 0.25 and "lam" not in fit.chosen_ and "700 scores" in fit.chosen_


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_stream_of_a_file_knows_its_columns_by_name(tmp_path, kind):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=300), "b": 3 * rng.normal(size=300)})
    frame["y"], path = np.sign(5 * frame["a"] + np.sin(frame["b"])), tmp_path / f"x.{kind}"
    if kind == "csv":
        frame.to_csv(path, index=False)
    else:
        pytest.importorskip("pyarrow")
        frame.to_parquet(path)
    X, other = frame[["a", "b"]], FileBlocks(path, "y", ["b", "a"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # scikit-learn's, of names that are not known
        for kind in (StreamingKernelRidge, StreamingKernelClassifier):
            fit = kind(n_features=30).fit_blocks(FileBlocks(path, "y", n_rows=100))
            np.testing.assert_allclose(
                fit.predict(X), kind(n_features=30).fit(X, frame["y"]).predict(X)
            )
            assert list(fit.feature_names_in_) == ["a", "b"]
            rows, y = next(iter(FileBlocks(path, "y")))
            assert np.array_equal(fit.predict(rows), fit.predict(X))
            assert fit.partial_fit(rows, y).sums_.n == 600
            for wrong in (X[["b", "a"]], frame[["a", "y"]]):
                with pytest.raises(ValueError, match="feature names should match"):
                    fit.predict(wrong)
            rows, y = next(iter(other))
            message = "the fit and X were made of columns a, b and b, a"
            with pytest.raises(ValueError, match=message):
                fit.predict(rows)
            with pytest.raises(ValueError, match=message):
                fit.partial_fit(rows, y)
            assert fit.sums_.n == 600
            assert list(fit.fit_blocks(other).feature_names_in_) == ["b", "a"]
            assert not hasattr(fit.fit(X.values, frame["y"]), "feature_names_in_")
