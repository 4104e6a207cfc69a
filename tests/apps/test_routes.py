"""Routes for many rows: what is counted and said, and each of them against the exact fit."""

import pickle
import re
import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import rkhs_notes as rn
import rkhs_notes.apps.estimators as estimators
from rkhs_notes.apps.estimators import (
    GaussianProcess,
    KernelLogistic,
    KernelPCA,
    KernelRidge,
    KernelSVC,
    KernelSVR,
)
from rkhs_notes.base import settings

k = rn.Gaussian(1.5)
GIVEN = {  # nothing is elected, so that routes differ in the solver only
    "ridge": KernelRidge(k, lam=0.1, offset=False),
    "process": GaussianProcess(k, noise=0.05, tune=False),
    "svr": KernelSVR(k, C=1.0, epsilon=0.05),
    "two classes": KernelSVC(k, C=1.0),
    "three classes": KernelSVC(k, C=1.0),
    "two log-odds": KernelLogistic(k, scale=3.0),
    "three log-odds": KernelLogistic(k, scale=3.0),
    "components": KernelPCA(k, n_components=3),
}


def rows(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.sin(2 * X[:, 0]) + X[:, 1] / 2 + 0.1 * rng.normal(size=n)
    return X, y


def task(name, y):
    "What y is for the estimator of this name"
    if "two" in name:
        return np.where(y > 0, "yes", "no")
    if "three" in name:
        return np.digitize(y, [-0.5, 0.5])
    return y


def fitted(name, route, X, y, **options):
    return clone(GIVEN[name]).set_params(route=route).fit(X, task(name, y), **options)


def values(fit, Z):
    "Numbers that the fit gives at Z, components up to their sign"
    if isinstance(fit, KernelPCA):
        return np.abs(fit.transform(Z))
    return getattr(fit, "decision_function", getattr(fit, "predict", None))(Z)


def fewest(name, monkeypatch, rows=100, most=60):
    "What is comfortable ends at so many rows of a factor, and a route has so many landmarks"
    monkeypatch.setattr(estimators, "_EXACT", rows)
    monkeypatch.setattr(estimators, "_CENTRES", most)
    if name not in ("ridge", "process"):
        monkeypatch.setattr(type(GIVEN[name]), "_most", most)


@pytest.mark.parametrize("name", GIVEN)
def test_with_enough_landmarks_the_fit_is_the_exact_one(name, monkeypatch):
    monkeypatch.setattr(estimators, "_CENTRES", 250)  # of 400; of others all
    (X, y), Z = rows(), rows(50, 1)[0]
    exact, near = (values(fitted(name, route, X, y), Z) for route in ("exact", "landmarks"))
    np.testing.assert_allclose(near, exact, atol=5e-3 * np.abs(exact).max())
    assert np.abs(exact).max() > 0.1


@pytest.mark.parametrize("name", [name for name in GIVEN if name != "process"])
def test_features_come_near_and_more_of_them_nearer(name, monkeypatch):
    (X, y), Z, errors = rows(), rows(50, 1)[0], []
    exact = values(fitted(name, "exact", X, y), Z)
    for many in (20, 1500):
        monkeypatch.setattr(type(GIVEN[name]), "_most", many)
        monkeypatch.setattr(estimators, "_CENTRES", many)
        monkeypatch.setattr(estimators.settings, "result_mib", 2.0**14)
        fit = fitted(name, "features", np.concatenate([X] * 4), np.tile(y, 4), **fourth(name, X))
        errors.append(np.abs(values(fit, Z) - exact).max() / np.abs(exact).max())
    assert errors[1] < 0.6 * errors[0] and errors[1] < 0.4


def fourth(name, X):
    "Weights under which four copies are one"
    return {} if name == "components" else dict(sample_weight=np.full(4 * len(X), 0.25))


@pytest.mark.parametrize("name", GIVEN)
def test_auto_says_at_once_what_routes_take_and_takes_landmarks(name, monkeypatch):
    (X, y), Z = rows(), rows(50, 1)[0]
    exact = values(fitted(name, "exact", X, y), Z)
    fewest(name, monkeypatch)
    with pytest.warns(UserWarning, match=r"^of 400 rows exact .* operations and .* GiB") as heard:
        fit = fitted(name, "auto", X, y)
    said = str(heard[0].message)
    assert "60 landmarks" in said and "route 'landmarks'" in said and "pass route=" in said
    assert fit.route_ == "landmarks" and said.partition(". To choose")[0] in fit.chosen_
    again = fitted(name, "landmarks", X, y)  # the same, without a warning
    assert np.array_equal(values(fit, Z), values(again, Z))
    gap = np.abs(values(fit, Z) - exact)
    assert 0 < gap.max() < 0.15 * np.abs(exact).max()


@pytest.mark.parametrize("name", GIVEN)
def test_the_sentence_comes_before_the_work(name, monkeypatch):
    X, y = rows()
    fewest(name, monkeypatch)

    class Work(Exception):
        pass

    def work(*of, **options):
        raise Work

    for part in ("_elected", "_proposed"):
        monkeypatch.setattr(estimators, part, work)
    with pytest.warns(UserWarning, match="of 400 rows"), pytest.raises(Work):
        fitted(name, "auto", X, y)


@pytest.mark.parametrize("name", GIVEN)
def test_nothing_is_said_where_all_is_comfortable_or_chosen(name):
    X, y = rows()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fits = [fitted(name, route, X, y) for route in ("auto", "exact", "landmarks")]
    assert [fit.route_ for fit in fits] == ["exact", "exact", "landmarks"]
    assert ["of 400 rows" in fit.chosen_ for fit in fits] == [False, False, True]
    assert np.array_equal(values(fits[0], X), values(fits[1], X))


@pytest.mark.parametrize("name", ["ridge", "two log-odds", "three log-odds"])
def test_exact_refuses_a_matrix_that_does_not_fit(name):
    X, y = rows(900)
    with settings.using(result_mib=4):
        with pytest.raises(MemoryError, match=r"exact .* 0.0\d+ GiB.*pass route='landmarks'"):
            fitted(name, "exact", X, y)
        with pytest.warns(UserWarning, match="route 'landmarks'"):
            fit = fitted(name, "auto", X, y)
    assert fit.route_ == "landmarks" and fit._many <= 4 * 2**20 / 8 / 900


@pytest.mark.parametrize(
    "name, own, atol",
    [("components", {}, 1e-5), ("two classes", {"tol": 5e-5}, 2e-4)],  # two solvers end within tol
)
def test_exact_goes_on_by_tiles(name, own, atol):
    (X, y), fits = rows(900), []
    for most in (4, settings.result_mib):
        with settings.using(result_mib=most):
            fit = clone(GIVEN[name]).set_params(route="exact", **own)
            fits.append(values(fit.fit(X, task(name, y)), X))
    np.testing.assert_allclose(*fits, atol=atol)


def test_counts_are_those_of_the_tables():
    X, y = rows(500)
    fit = fitted("ridge", "landmarks", X, y)
    assert f"exact {500**3 / 3:.1e} operations and {8 * 500**2 / 2**30:.2g} GiB" in fit._told
    assert f"500 landmarks {2 * 500**2 * (24 + 500):.1e} operations" in fit._told
    fit = fitted("three log-odds", "features", X, y)  # m = 500, q = 3, d = 2
    assert f"features {12 * 3 * 500**3 + 500**2 * 24:.1e} operations" in fit._told
    sparse = sp.csr_matrix(np.eye(500, 2000))
    told = KernelPCA(rn.Linear(), 2, route="landmarks").fit(sparse)._told
    assert f"landmarks {500 * 500 * (22 + 2 * 500):.1e} operations" in told  # one entry a row


def counted(name, route, n):
    "{route: (operations, bytes)} as the sentence of a fit to n rows tells them"
    sentence = fitted(name, route, *rows(n)).chosen_
    found = re.findall(r"(exact|landmarks|features) (\S+) operations and (\S+) GiB", sentence)
    return {each: (float(many), float(gib) * 2**30) for each, many, gib in found}


@pytest.mark.parametrize("name", GIVEN)
def test_the_memory_that_is_told_is_about_what_is_taken(name, monkeypatch):
    fewest(name, monkeypatch, most=150)
    monkeypatch.setitem(GIVEN, "svr", KernelSVR(k, epsilon=1.0))  # a wide tube is soon found
    for route in ("exact", "landmarks", "features")[: 3 - (name == "process")]:
        tracemalloc.start()
        _, stored = counted(name, route, 500)[route]
        taken = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert 0.05 < stored / taken < 20, (route, stored, taken)


@pytest.mark.parametrize("name", GIVEN)
def test_exact_grows_with_squares_or_cubes_and_the_other_routes_with_the_rows(name, monkeypatch):
    fewest(name, monkeypatch, most=20)
    few, many = (counted(name, "landmarks", n) for n in (400, 1600))
    solved = name in ("ridge", "process", "two log-odds", "three log-odds")  # by a factor
    powers = {route: np.log(np.divide(many[route], few[route])) / np.log(4) for route in few}
    np.testing.assert_allclose(powers.pop("exact"), [2 + solved, 2], atol=0.1)
    for operations, stored in powers.values():
        assert operations == pytest.approx(1, abs=0.1) and stored < 1.1


@pytest.mark.parametrize("name", GIVEN)
def test_a_weight_is_as_many_rows_on_every_route(name, monkeypatch):
    if name == "components":
        pytest.skip("takes no weights")
    (X, y), w = rows(200), np.random.default_rng(2).integers(0, 4, 200)
    monkeypatch.setattr(estimators, "_CENTRES", 50)
    monkeypatch.setattr(type(GIVEN[name]), "_most", 50)
    routes = ["landmarks"] + ["features"] * (name != "process")
    for route in routes:
        one = fitted(name, route, X, y, sample_weight=w)
        many = fitted(name, route, np.repeat(X, w, axis=0), np.repeat(y, w))
        np.testing.assert_allclose(values(one, X), values(many, X), atol=1e-9)
        plain = fitted(name, route, X[w > 0], y[w > 0])
        assert np.abs(values(plain, X) - values(one, X)).max() > 1e-3


@pytest.mark.parametrize("name", GIVEN)
def test_routes_travel(name, tmp_path):
    (X, y), routes = rows(150), ["landmarks"] + ["features"] * (name != "process")
    for route in routes:
        fit = fitted(name, route, X, y)
        fit.save(tmp_path / "fit.npz")
        for again in (rn.load_model(tmp_path / "fit.npz"), pickle.loads(pickle.dumps(fit))):
            assert np.array_equal(values(again, X), values(fit, X)) and again.route_ == route


@pytest.mark.parametrize("name", [name for name in GIVEN if name != "process"])
def test_texts_have_landmarks_and_no_features(name):
    rng = np.random.default_rng(3)
    words = ["".join(rng.choice(list("abc"), 8)) for _ in range(60)]
    y = np.array([w.count("a") - 2.5 for w in words])
    spectrum = rn.Spectrum(2).normalized()
    exact, near = (
        clone(GIVEN[name]).set_params(kernel=spectrum, route=route).fit(words, task(name, y))
        for route in ("exact", "landmarks")
    )
    np.testing.assert_allclose(values(near, words), values(exact, words), atol=1e-2)
    with pytest.raises(TypeError, match="rows of numbers: pass route='landmarks'"):
        clone(near).set_params(route="features").fit(words, task(name, y))


@pytest.mark.parametrize("name", GIVEN)
def test_sparse_rows_and_named_columns_take_routes(name):
    pandas = pytest.importorskip("pandas")
    X, y = rows(150)
    X[np.abs(X) < 0.3] = 0
    routes = ["landmarks"] + ["features"] * (name != "process")
    for route in routes:
        dense = fitted(name, route, X, y)
        sparse = fitted(name, route, sp.csr_matrix(X), y)
        near = dict(atol=1e-6 * np.abs(values(dense, X)).max(), rtol=1e-5)
        np.testing.assert_allclose(values(sparse, sp.csr_matrix(X)), values(dense, X), **near)
        X, y = rows(150)  # no two of them alike in one column
        frame = pandas.DataFrame(X, columns=["a", "b"])
        named = clone(GIVEN[name]).set_params(kernel=k.on(["b"]), route=route)
        named.fit(frame, task(name, y))
        other = clone(GIVEN[name]).set_params(kernel=k.on([1]), route=route).fit(X, task(name, y))
        np.testing.assert_allclose(values(named, frame), values(other, X), **near)


def test_several_targets_and_one_lam_each_take_routes(monkeypatch):
    X, y = rows(300)
    Y = np.column_stack([y, y**2])
    monkeypatch.setattr(estimators, "_CENTRES", 250)
    for lam in (0.1, [0.1, 1.0]):
        exact = KernelRidge(k, lam=lam, offset=False, route="exact").fit(X, Y).predict(X)
        landmarks = KernelRidge(k, lam=lam, offset=False, route="landmarks").fit(X, Y).predict(X)
        np.testing.assert_allclose(landmarks, exact, atol=2e-3)
        features = KernelRidge(k, lam=lam, offset=False, route="features").fit(X, Y).predict(X)
        assert features.shape == exact.shape and np.median(np.abs(features - exact)) < 0.1
    process = GaussianProcess(k, noise=0.05, tune=False)
    exact, large = (clone(process).set_params(route=r).fit(X, Y) for r in ("exact", "landmarks"))
    np.testing.assert_allclose(large.predict(X), exact.predict(X), atol=2e-2)
    spread = large.predict(X, return_std=True)[1] / exact.predict(X, return_std=True)[1]
    assert spread.shape == (300, 2) and 0.8 < np.median(spread) < 1.25
    assert large.predict(X[:4], return_cov=True)[1].shape == (4, 4, 2)
    assert large.sample_y(X[:4], 3).shape == exact.sample_y(X[:4], 3).shape == (4, 2, 3)


def test_a_process_on_landmarks_knows_where_it_does_not_know(monkeypatch):
    monkeypatch.setattr(estimators, "_CENTRES", 250)
    X, y = rows(300)
    exact, large = (
        GaussianProcess(k, noise=0.05, tune=False, route=r).fit(X, y)
        for r in ("exact", "landmarks")
    )
    Z = np.array([[0.0, 0.0], [9.0, 9.0]])
    near, far = large.predict(Z, return_std=True)[1]
    np.testing.assert_allclose(far, exact.predict(Z, return_std=True)[1][1], rtol=0.3)
    assert near < 0.5 * far
    drawn = large.sample_y(Z, 2000)
    np.testing.assert_allclose(drawn.std(axis=1), [near, far], rtol=0.1)
    with pytest.raises(ValueError, match="'landmarks'"):
        clone(large).set_params(route="features").fit(X, y)


def test_components_tell_how_far_their_eigenvalues_may_be(monkeypatch):
    X, _ = rows()
    exact = fitted("components", "exact", X, None).components_
    monkeypatch.setattr(KernelPCA, "_most", 8)
    fit = fitted("components", "landmarks", X, None)
    found, gap = fit.components_, exact.eigenvalues - fit.components_.eigenvalues
    assert (gap > -1e-9).all() and 0.01 < gap.sum() <= found.error_bound  # (14.12)
    assert f"eigenvalues to {found.error_bound:.3g}" in fit.chosen_
    assert found.explained.sum() <= exact.explained.sum() + 1e-9
    monkeypatch.setattr(KernelPCA, "_most", 300)
    fit = fitted("components", "landmarks", X, None)
    error = np.linalg.norm(fit.inverse_transform(fit.transform(X)) - X)
    assert error < 0.6 * np.linalg.norm(X - X.mean(axis=0))


def test_progress_is_seen_from_the_first_second(monkeypatch, capsys):
    fewest("components", monkeypatch)
    with pytest.warns(UserWarning, match="of 400 rows"):
        fitted("components", "auto", rows()[0], None)
    assert "covariance" in capsys.readouterr().err
    fitted("components", "landmarks", rows()[0], None)
    assert "covariance" not in capsys.readouterr().err


def test_probabilities_take_the_route_of_the_machine():
    X, y = rows(300)
    c = np.digitize(y, [-0.5, 0.5])
    exact, near = (
        KernelSVC(k, C=1.0, probability=True, route=r).fit(X, c) for r in ("exact", "landmarks")
    )
    np.testing.assert_allclose(near.predict_proba(X), exact.predict_proba(X), atol=0.02)
    log = [KernelLogistic(k, scale=3.0, route=r).fit(X, c) for r in ("exact", "landmarks")]
    np.testing.assert_allclose(*(fit.predict_proba(X) for fit in log), atol=1e-3)
    assert abs(log[0].temperature_ - log[1].temperature_) < 1e-3
    near, exact = log[1].classifiers_[0], log[0].classifiers_[0]
    np.testing.assert_allclose(near.probability(X), exact.probability(X), atol=1e-3)


@pytest.mark.parametrize("route", ["median", "fast", None, 3])
def test_another_word_is_refused(route):
    with pytest.raises((TypeError, ValueError), match="route"):
        KernelRidge(route=route).fit(*rows(30))


@parametrize_with_checks(
    [
        cls(route="landmarks")
        for cls in (KernelRidge, KernelSVC, KernelSVR, KernelLogistic, KernelPCA, GaussianProcess)
    ]
)
def test_scikit_learns_checks_hold_on_landmarks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("far", [0.0, 1e4])
def test_ridge_on_landmarks_finds_its_offset_wherever_the_columns_are(far, monkeypatch):
    monkeypatch.setattr(estimators, "_CENTRES", 80)
    X, y = rows()
    X = X + far
    exact, near = (
        KernelRidge(rn.Linear(), lam=0.1, route=route).fit(X, y).predict(X)
        for route in ("exact", "landmarks")
    )
    np.testing.assert_allclose(near, exact, atol=1e-3)
    assert np.corrcoef(exact, y)[0, 1] > 0.4


@pytest.mark.parametrize("lam", [1e-8, 0.1])
def test_ridge_on_landmarks_is_least_squares_with_their_features(lam, monkeypatch):
    monkeypatch.setattr(estimators, "_CENTRES", 80)
    X, y = rows()
    fit = KernelRidge(rn.Matern(1.5, 2.0), lam=lam, route="landmarks").fit(X, y)
    Z = fit.function_.Z
    F = np.linalg.solve(np.linalg.cholesky(fit.kernel_(Z)), fit.kernel_(Z, X)).T
    A = np.block([[F, np.ones((400, 1))], [np.sqrt(lam) * np.eye(80), np.zeros((80, 1))]])
    found = np.linalg.lstsq(A, np.append(y, np.zeros(80)), rcond=None)[0]
    np.testing.assert_allclose(fit.predict(X), A[:400] @ found, atol=1e-6)
    assert len(Z) == 80 and isinstance(fit.function_, rn.RKHSFunction)


@pytest.mark.parametrize("route", ["exact", "landmarks", "features"])
@pytest.mark.parametrize("offset", [True, False])
def test_one_column_of_targets_is_one_of_answers(route, offset, monkeypatch):
    monkeypatch.setattr(estimators, "_CENTRES", 50)
    X, y = rows(100)
    column, plain = (
        KernelRidge(k, lam=0.1, offset=offset, route=route).fit(X, Y).predict(X)
        for Y in (y[:, None], y)
    )
    assert column.shape == (100, 1) and np.array_equal(column[:, 0], plain)
