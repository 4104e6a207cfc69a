"""Datasets: the lectures' sets by their printed numbers, real sets by name, and a network that fails."""

import gzip
import socket
import subprocess
import sys
import threading
import time
import warnings
from types import SimpleNamespace
from unittest import mock
from urllib.error import URLError

import numpy as np
import pytest
import sklearn
from scipy.spatial.distance import cdist
from scipy.stats import binom

from rkhs_notes import datasets, settings
from rkhs_notes.base.arrays import as_rng
from rkhs_notes.base.datasets import (
    BUNDLED,
    FETCHED,
    DatasetUnavailable,
    digits_drift,
    digits_low_high,
    hard_1d,
    hard_2d,
    load,
    seven_points,
    smiley,
    smiley_labels,
    wainwright_11,
)
from rkhs_notes.base.errors import RKHSError

PRINTED = [
    0.8131,
    0.9254,
    0.9369,
    0.9630,
    0.8987,
    0.9683,
    0.8745,
    0.9312,
    0.9102,
    0.9837,
    0.9264,
    0.8806,
    0.9851,
    0.9286,
    0.9440,
    0.9457,
    0.9714,
    0.9857,
    0.9653,
    0.9862,
    0.9779,
]


def test_importing_datasets_imports_neither_sklearn_nor_matplotlib():
    code = "import sys, rkhs_notes.datasets; sys.exit(bool({'sklearn', 'matplotlib'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def lecture_rule(x):
    "gen_y of the Cornell notebook, one point at a time."
    if np.linalg.norm(x - [0.25, 0.75]) < 0.15 or np.linalg.norm(x - [0.75, 0.75]) < 0.15:
        return -1.0
    if (
        x[1] < 0.4
        and np.linalg.norm(x - [0.5, 0.6]) < 0.5
        and np.linalg.norm(x - [0.5, 0.55]) > 0.3
    ):
        return -1.0
    return 1.0


@pytest.mark.second_route("smiley", "smiley_labels", "the lecture's rule, point by point")
def test_smiley_labels_are_the_lectures_rule_point_by_point():
    X, y = smiley(3000, 5)
    rule = [lecture_rule(x) for x in X]
    assert np.array_equal(y, rule) and np.array_equal(smiley_labels(X), rule)
    assert X.min() >= 0 and X.max() < 1
    for mutant in (X[:, ::-1], 1 - X, X * [1, 1.1]):  # swapped, turned, stretched
        assert not np.array_equal(smiley_labels(mutant), y)


def inside(y, share, level=0.9999):
    low, high = binom.interval(level, len(y), share)
    return low <= np.sum(y < 0) <= high


def test_smiley_shares_lie_in_binomial_intervals():
    X, y = smiley(20_000, np.random.default_rng(1))
    eyes = np.where(X[:, 1] > 0.45, y, 1)
    left = np.where(X[:, 0] < 0.5, eyes, 1)
    mouth = np.where(X[:, 1] < 0.45, y, 1)
    assert inside(y, 0.2843) and inside(left, 0.0707) and inside(mouth, 0.1429)
    assert not inside(y, 0.26) and not inside(eyes, 0.0707) and not inside(-mouth, 0.1429)


@pytest.mark.second_route("hard_1d", "changes of class, counted")
def test_hard_1d_defeats_thresholds_and_yields_to_a_square():
    x, y = hard_1d()
    assert x.shape == y.shape == (12,) and np.all(np.diff(x) > 0) and set(y) == {-1.0, 1.0}
    assert np.count_nonzero(np.diff(y)) == 2  # two changes of class: no threshold
    assert (x**2)[y > 0].min() > (x**2)[y < 0].max()


@pytest.mark.second_route("hard_2d", "squared radii")
@pytest.mark.parametrize("n", [2, 3, 50, 501])
def test_hard_2d_is_balanced_and_separable_by_radius(n):
    X, y = hard_2d(n, 0)
    r2 = (X**2).sum(1)
    assert X.shape == (n, 2) and y.sum() == n % 2
    assert r2[y < 0].max() < 1 + 1e-12 and 2 - 1e-12 < r2[y > 0].min() and r2.max() < 4 + 1e-12


def reproduces(P):
    G = np.exp(-cdist(P, P, "sqeuclidean") / 10)
    return np.abs(G[np.triu_indices(7, 1)] - PRINTED).max() < 6e-5


@pytest.mark.second_route("seven_points", "the lecture's printed matrix")
def test_seven_points_reproduce_the_printed_gram_matrix():
    P = seven_points()
    turn = np.array([[0.6, 0.8], [0.8, -0.6]])
    assert reproduces(P) and reproduces(P @ turn) and np.abs(P.mean(0)).max() < 1e-6
    for mutant in (P * 1.01, P[::-1], P + 0.01 * np.eye(7, 2)):
        assert not reproduces(mutant)
    eigenvalues = np.linalg.eigvalsh(np.exp(-cdist(P, P, "sqeuclidean") / 10))[::-1]
    assert np.allclose(eigenvalues[5:], [3.755e-5, 1.370e-5], rtol=1e-3)


@pytest.mark.second_route("wainwright_11", "the printed figure's formula and errors")
def test_wainwright_figure():
    x, y = wainwright_11()
    assert np.allclose(x, [-0.5 + 0.1 * (i - 1) for i in range(1, 12)]) and x[5] == 0
    assert np.allclose(y, 3 * x / 2 - 9 * x**2 / 5)
    t = np.linspace(-0.5, 0.5, 4001)

    def sup_error(lam, y=y):
        alpha = np.linalg.solve(1 + np.minimum.outer(x, x) + lam * np.eye(11), y)
        return np.abs((1 + np.minimum.outer(t, x)) @ alpha - (1.5 * t - 1.8 * t**2)).max()

    assert abs(sup_error(0.1) - 0.2914) < 5e-5 and abs(sup_error(1.1) - 0.8262) < 5e-5
    assert abs(sup_error(0.1, 1.5 * x + 1.8 * x**2) - 0.2914) > 0.01


@pytest.mark.second_route("digits_low_high", "means of blocks")
@pytest.mark.parametrize("side", [1, 2, 4])
def test_low_resolution_is_the_mean_of_blocks(side):
    L, H, y = digits_low_high(side)
    b = 8 // side
    by_hand = [
        [H[7].reshape(8, 8)[r : r + b, c : c + b].mean() for c in range(0, 8, b)]
        for r in range(0, 8, b)
    ]
    assert L.shape == (1797, side**2) and np.allclose(L[7], np.ravel(by_hand)) and len(y) == 1797
    if side > 1:
        assert not np.allclose(L[7], np.ravel(np.transpose(by_hand)))


@pytest.mark.second_route("digits_drift", "the file, in its order")
def test_drift_halves_are_the_file_in_order():
    X, Y, x_digits, y_digits = digits_drift()
    digits = load("digits")
    assert X.shape == (898, 64) and Y.shape == (899, 64)
    assert np.array_equal(np.vstack([X, Y]), digits.X) and np.array_equal(
        np.r_[x_digits, y_digits], digits.y
    )


@pytest.mark.parametrize("make", [smiley, hard_2d])
def test_same_seed_same_data(make):
    a, b, c = make(20, 3), make(20, np.random.default_rng(3)), make(20, 4)
    assert (
        np.array_equal(a[0], b[0]) and np.array_equal(a[1], b[1]) and not np.array_equal(a[0], c[0])
    )
    np.testing.assert_array_equal(make(20, None)[0], make(20, settings.seed)[0])
    rng = as_rng(3)
    assert not np.array_equal(make(20, rng)[0], make(20, rng)[0])  # a generator moves on


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: smiley(0, 0), ValueError, "n = 0"),
        (lambda: smiley(2.5, 0), ValueError, "n = 2.5: pass a whole number"),
        (lambda: smiley(True, 0), TypeError, "n = True"),
        (lambda: smiley(10**9, 0), MemoryError, "GiB.*draw fewer points"),
        (lambda: hard_2d(10**9, 0), MemoryError, "GiB.*draw fewer points"),
        (lambda: smiley(10, "0"), TypeError, "rng"),
        (lambda: smiley(10, -1), TypeError, "rng"),
        (lambda: smiley(10, True), TypeError, "rng"),
        (lambda: smiley(10, np.random.RandomState(0)), TypeError, "rng"),
        (lambda: smiley_labels(np.ones((4, 3))), ValueError, "pass .n, 2."),
        (lambda: smiley_labels([[np.nan, 0]]), ValueError, "finite"),
        (lambda: hard_2d(1, 0), ValueError, "n = 1: .*≥ 2"),
        (lambda: digits_low_high(3), ValueError, "1, 2 or 4"),
        (lambda: digits_low_high("2"), ValueError, "1, 2 or 4"),
        (lambda: load("breast cancer"), ValueError, "Did you mean breast_cancer"),
        (lambda: load("qqqq"), ValueError, "There are diabetes"),
        (lambda: load(["iris"]), ValueError, "no data set"),
    ],
)
def test_bad_input_teaches(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize("make", [smiley, hard_2d])
def test_points_that_just_fit_are_drawn_and_one_more_is_refused(make):
    with settings.using(result_mib=1000 * 2 * 8 / 2**20):
        assert make(1000, 0)[0].shape == (1000, 2)
        with pytest.raises(MemoryError, match=r"shape \(1001, 2\).*draw fewer points"):
            make(1001, 0)


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_sets_load_without_a_network(name):
    with mock.patch("socket.socket.connect", side_effect=OSError("no network")):
        data = load(name)
    X, y = data
    assert X is data.X and y is data.y and X.dtype == float and len(X) == len(y)
    assert len(data.feature_names) == X.shape[1] and all(type(n) is str for n in data.feature_names)
    assert repr(data).startswith(f"{name}: X {X.shape}") and data.source in repr(data)
    assert load(name).X is not X  # each call its own arrays


def test_class_numbers_index_the_class_names():
    iris = load("iris")
    assert iris.target_names == ("setosa", "versicolor", "virginica") and set(iris.y) == {0, 1, 2}
    assert load("diabetes").target_names == ()


def test_china_pixels_are_in_raster_order():
    small, big = load("china"), load("china", full=True)
    image = big.y.reshape(*big.image_shape, 3)
    assert np.allclose(small.y[128 * 3 + 40], image[15:20, 200:205].mean((0, 1)))
    assert small.X[128 * 3 + 40].tolist() == [3, 40]
    assert not np.allclose(small.y[128 * 3 + 40], image[200:205, 15:20].mean((0, 1)))


FETCHERS = dict(
    california_housing="fetch_california_housing",
    covtype="fetch_covtype",
    mnist="fetch_openml",
    adult="fetch_openml",
    olivetti="fetch_olivetti_faces",
)


@pytest.fixture
def network(monkeypatch):
    "A network, as far as anyone asks"
    monkeypatch.setattr(datasets, "_need_network", lambda: None)


@pytest.mark.second_route("DatasetUnavailable", "raised where it should be")
@pytest.mark.parametrize("name", FETCHED)
def test_no_network_says_what_to_do(name, network):
    with mock.patch(f"sklearn.datasets.{FETCHERS[name]}", side_effect=URLError("unreachable")):
        with pytest.raises(
            DatasetUnavailable, match="unreachable.*Run load.*fallback=True"
        ) as caught:
            load(name)
        assert isinstance(caught.value, RKHSError) and isinstance(caught.value, OSError)
        assert isinstance(caught.value.__cause__, URLError)
        with pytest.warns(UserWarning, match="another data set") as said:
            stand_in = load(name, fallback=True)
    assert said[0].filename == __file__
    assert stand_in.name in BUNDLED and f"load('{stand_in.name}')" in str(caught.value)


def test_a_programming_error_is_not_taken_for_a_network_error():
    with (
        mock.patch("sklearn.datasets.fetch_covtype", side_effect=KeyError("bug")),
        pytest.raises(KeyError),
    ):
        load("covtype", fallback=True)


def test_timeout_and_warning_filters_are_put_back():
    filters = list(warnings.filters)
    seen = []
    with mock.patch(
        "sklearn.datasets.fetch_covtype",
        side_effect=lambda **k: seen.append(socket.getdefaulttimeout()) or 1 / 0,
    ):
        with pytest.raises(ZeroDivisionError):
            load("covtype")
    assert seen == [15] and socket.getdefaulttimeout() is None and warnings.filters == filters
    socket.setdefaulttimeout(7.0)
    try:
        assert load("iris").X.shape == (150, 4) and socket.getdefaulttimeout() == 7
    finally:
        socket.setdefaulttimeout(None)


# scikit-learn's own fetchers, up to the line that would download

REMOTE = {
    "covtype": "sklearn.datasets._base.urlretrieve",
    "adult": "sklearn.datasets._openml.urlopen",
}


@pytest.fixture(params=REMOTE)
def fetched(request, monkeypatch, tmp_path):
    "fetched() loads a set of which there is no copy; .tries counts what went out to a server that fails"

    def fails(*args, **kwargs):
        fetched.tries += 1
        raise URLError("cut off")

    def fetched():
        return load(request.param, data_home=tmp_path)

    sleep = time.sleep
    monkeypatch.setattr("time.sleep", lambda seconds: fetched.naps.append(seconds) or sleep(0.01))
    fetched.naps, fetched.tries, version = (
        [],
        0,
        [int(part) for part in sklearn.__version__.split(".")[:2]],
    )
    fetched.retries = request.param == "adult" or version >= [1, 5]
    monkeypatch.setattr(REMOTE[request.param], fails)
    monkeypatch.setattr(datasets, "_KNOCKING", 0.3)
    monkeypatch.delenv("https_proxy", raising=False)
    return fetched


def test_without_a_network_no_fetcher_is_asked(fetched, monkeypatch):
    awake = threading.Event()  # a search for an address that hangs
    monkeypatch.setattr("socket.getaddrinfo", lambda *args, **kwargs: awake.wait(20) and [])
    start = time.monotonic()
    with pytest.raises(
        DatasetUnavailable, match="no network: within 0.3 s no answer from .*openml"
    ):
        fetched()
    awake.set()
    assert fetched.tries == 0 and time.monotonic() - start < 3


def test_a_network_that_stutters_is_tried_again(fetched, monkeypatch):
    knock = mock.Mock(side_effect=[OSError("not yet")] * 2 + [mock.Mock()] * 2)
    monkeypatch.setattr("socket.create_connection", knock)
    with pytest.raises(DatasetUnavailable, match="cut off"):
        fetched()
    again = sum(nap == 1 for nap in fetched.naps)  # scikit-learn's, for files since 1.5
    assert knock.call_count >= 3 and fetched.tries == 1 + again and again == 3 * fetched.retries


def test_a_proxy_stands_for_the_network(fetched, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        monkeypatch.setenv("https_proxy", f"http://me:word@127.0.0.1:{proxy.getsockname()[1]}")
        with pytest.raises(DatasetUnavailable, match="cut off"):
            fetched()
    with pytest.raises(DatasetUnavailable, match="no answer from 127.0.0.1"):
        fetched()


def test_where_no_thread_starts_the_fetcher_itself_finds_out(fetched, monkeypatch):
    "As in a browser"
    cannot = mock.Mock(side_effect=RuntimeError("can't start new thread"))
    monkeypatch.setattr("threading.Thread.start", cannot)
    monkeypatch.setattr(datasets, "threads_start", datasets.threads_start.__wrapped__)
    with pytest.raises(DatasetUnavailable, match="cut off"):
        fetched()
    assert cannot.called and fetched.tries > 0


def test_a_copy_is_read_without_asking_for_a_network(monkeypatch, tmp_path):
    import joblib

    monkeypatch.setattr(datasets, "_need_network", lambda: 1 / 0)
    joblib.dump(np.ones((5, 9)), tmp_path / "cal_housing_py3.pkz", compress=6)
    assert load("california_housing", data_home=tmp_path).X.shape == (5, 8)
    listed = (
        tmp_path
        / "openml/openml.org/api/v1/json/data/list/data_name/adult/limit/2/data_version/2.gz"
    )
    listed.parent.mkdir(parents=True)  # what a download that failed leaves
    with pytest.raises(ZeroDivisionError):
        load("adult", data_home=tmp_path)
    with gzip.open(listed, "wb") as file:
        file.write(b"{}")
    with pytest.raises(KeyError):  # the copy was looked into
        load("adult", data_home=tmp_path)


def test_a_large_set_is_thinned_in_order_and_always_alike():
    n = 25_000
    rows = np.arange(n)
    bunch = SimpleNamespace(
        data=rows[:, None].astype(float), target=rows % 7 + 1, feature_names=["row"]
    )
    with mock.patch("sklearn.datasets.fetch_covtype", return_value=bunch) as fetch:
        a, b, full = load("covtype"), load("covtype"), load("covtype", full=True, data_home="there")
    assert len(a.X) == 10_000 and np.array_equal(a.X, b.X) and np.all(np.diff(a.X[:, 0]) > 0)
    assert np.array_equal(a.y, a.X[:, 0] % 7) and len(full.X) == n and len(a.target_names) == 7
    assert fetch.call_args.kwargs["data_home"] == "there"


def test_mnist_is_float32_with_numbers_for_classes(network):
    bunch = SimpleNamespace(
        data=np.full((10, 784), 255.0),
        feature_names=[f"p{i}" for i in range(784)],
        target=np.array([str(i) for i in range(10)], dtype=object),
    )
    with mock.patch("sklearn.datasets.fetch_openml", return_value=bunch):
        data = load("mnist")
    assert (
        data.X.dtype == np.float32
        and data.y.tolist() == list(range(10))
        and data.image_shape == (28, 28)
    )


def test_adult_categories_become_indicators_and_the_unknown_is_all_zero(network):
    bunch = SimpleNamespace(
        data=np.array([[30.0, 1, 0], [40, np.nan, 1], [50, 0, 0]]),
        feature_names=["age", "work", "sex"],
        categories={"work": ["state", "own"], "sex": ["f", "m"]},
        target=np.array(["<=50K", ">50K", "<=50K"]),
    )
    with mock.patch("sklearn.datasets.fetch_openml", return_value=bunch):
        data = load("adult")
    assert data.feature_names == ("age", "work=state", "work=own", "sex=f", "sex=m")
    assert data.X.tolist() == [[30, 0, 1, 1, 0], [40, 0, 0, 0, 1], [50, 1, 0, 1, 0]]
    assert data.y.tolist() == [0, 1, 0] and data.target_names == ("<=50K", ">50K")


@pytest.fixture
def own(tmp_path):
    """A function that writes name.npz into the folder of the user's own data, which load looks at first"""
    with settings.using(data_dir=tmp_path):
        yield lambda name, **arrays: np.savez(tmp_path / f"{name}.npz", **arrays)


@pytest.mark.second_route("Dataset", "load", "the file itself")
@pytest.mark.parametrize("name", ["adult", "covtype", "mnist", "olivetti", "iris", "mine"])
def test_a_file_of_ones_own_comes_first(own, name, monkeypatch):
    monkeypatch.setattr(datasets, "_KNOCKING", 0.1)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), rng.permutation(20) % 4 + 1
    own(name, X=X, y=y)
    with mock.patch("socket.socket.connect", side_effect=OSError("no network")):
        data = load(name)
    assert np.array_equal(data.X, X) and np.array_equal(data.y, y - 1) and data.name == name
    assert data.target_names == ("1", "2", "3", "4") and data.feature_names == ("x1", "x2", "x3")
    assert data.source.endswith(f"{name}.npz") and data.image_shape == ()
    assert "a file of your own" in repr(data)
    with (
        settings.using(data_dir=""),
        pytest.raises((ValueError, DatasetUnavailable, AssertionError)),
    ):
        with mock.patch("socket.socket.connect", side_effect=OSError("no network")):
            assert np.array_equal(load(name).X, X)  # another folder, another answer


def test_two_columns_of_whole_numbers_are_targets_not_classes(own):
    y = np.array([[3, 5], [5, 3], [9, 5]])
    own("adult", X=ONES, y=y)
    found = load("adult")
    assert np.array_equal(found.y, y) and len(found.target_names) == 0


@pytest.mark.parametrize(
    "y, names, told",
    [
        (["dog", "cat", "dog"], ["dog", "cat"], ["dog", "cat", "dog"]),
        (["dog", "cat", "dog"], ["bird", "dog", "cat"], ["dog", "cat", "dog"]),
        ([b"dog", b"cat", b"dog"], [b"dog", b"cat"], [b"dog", b"cat", b"dog"]),
        ([0, 2, 2], ["low", "mid", "high"], ["low", "high", "high"]),
        ([True, True, True], ["no", "yes"], ["yes", "yes", "yes"]),
        ([3, 5, 3], ["low", "high"], ["low", "high", "low"]),  # in sorted order
        (["b", "a", "b"], ["Ann", "Bo"], ["Bo", "Ann", "Bo"]),
        ([7, 8, 7], [8, 7], [7, 8, 7]),
    ],
)
@pytest.mark.parametrize("X", [np.ones((3, 2)), ["p", "q", "r"]], ids=["numbers", "texts"])
def test_classes_have_the_names_that_a_file_gives_them(own, X, y, names, told):
    own("mine", X=X, y=y, target_names=names)
    found = load("mine")
    assert found.target_names == tuple(map(str, names)) and found.y.dtype.kind == "i"
    assert [found.target_names[i] for i in found.y] == list(map(str, told))


@pytest.mark.parametrize(
    "y", [["a", "b", "c"], [0, 1, 2], [5, 5, 5], ["low", "mid", "mid"]], ids=str
)
def test_names_that_are_not_those_of_the_classes_are_refused(own, y):
    own("mine", X=ONES, y=y, target_names=["low", "high"])
    with pytest.raises(ValueError, match=f"2 target_names, and y has {len(set(y))} classes from"):
        load("mine")


def test_own_images_are_rows_and_test_rows_come_last(own):
    X = np.arange(3 * 4 * 5, dtype=np.uint8).reshape(3, 4, 5)
    own(
        "olivetti",
        X=X,
        y=["b", "a", "b"],
        X_test=X[:1] + 7,
        y_test=["c"],
        target_names=["Ann", "Bo", "Cy"],
    )
    faces = load("olivetti")
    assert faces.image_shape == (4, 5) and faces.X.dtype == np.float32 and faces.X.shape == (4, 20)
    assert np.array_equal(faces.X[:3].reshape(3, 4, 5), X) and np.array_equal(
        faces.X[3], faces.X[0] + 7
    )
    assert faces.y.tolist() == [1, 0, 1, 2] and faces.target_names == ("Ann", "Bo", "Cy")
    own("mnist", X=np.zeros((2, 784), np.uint8), y=[7, 1])
    digits = load("mnist")
    assert (
        digits.image_shape == (28, 28)
        and digits.X.dtype == np.float32
        and digits.y.tolist() == [1, 0]
    )
    own("covtype", X=np.array([[1], [2]], np.int16), y=[0.5, -1.0])
    plain = load("covtype")
    assert plain.X.dtype == float and plain.y.tolist() == [0.5, -1.0] and plain.target_names == ()


def test_a_large_file_is_thinned_like_a_download(own):
    own("adult", X=np.arange(25_000.0)[:, None], y=np.arange(25_000) % 2)
    some, everything = load("adult"), load("adult", full=True)
    assert len(some.X) == 10_000 and len(everything.X) == 25_000
    assert np.array_equal(some.y, some.X[:, 0] % 2) and np.all(np.diff(some.X[:, 0]) > 0)


ONES = np.ones((3, 2))


@pytest.mark.parametrize(
    "arrays, words",
    [
        (
            dict(text=[1], y=[1]),
            r"there is no X among its arrays \(text, y\).*np.savez\('adult.npz'",
        ),
        (dict(X=ONES), "there is no y among its arrays"),
        (dict(X=ONES, y=[1, 2]), r"X is \(3, 2\) and y \(2,\)"),
        (dict(X=[1.0, 2, 3], y=[1, 2, 3]), r"X is float64 of shape \(3,\)"),
        (dict(X=np.array([["a"]] * 3), y=[1, 2, 3]), "X is <U1"),
        (dict(X=ONES * 1j, y=[1, 2, 3]), "X is complex128"),
        (dict(X=ONES * np.nan, y=[1, 2, 3]), "X holds NaN or inf"),
        (dict(X=ONES, y=[1, 2, np.inf]), "y holds NaN or inf"),
        (dict(X=ONES, y=np.array([1, "a", None], object)), "NumPy cannot read it"),
        (dict(X=np.empty((0, 2)), y=[]), r"X is float64 of shape \(0, 2\)"),
        (dict(X=ONES, y=[1, 2, 3], X_test=ONES), "y_test is float64 of shape"),
        (dict(X=ONES, y=[1, 2, 3], X_test=ONES[:1]), "y_test is float64 of shape"),
        (dict(X=ONES, y=[1, 2, 3], y_test=[1]), r"X_test is float64 of shape \(0,\)"),
        (dict(X=["a", "b"], y=[1, 2], y_test=[1]), r"X_test is float64 of shape \(0,\)"),
        (
            dict(X=ONES, y=[1, 2, 3], X_test=ONES[:, :1], y_test=[1, 2, 3]),
            r"X_test is \(3, 1\) .* beside X",
        ),
    ],
)
def test_a_file_that_is_no_data_set_is_refused(own, arrays, words):
    own("adult", **arrays)
    with pytest.raises(ValueError, match=words):
        load("adult")


@pytest.mark.parametrize(
    "content", [b"", b"PK\x03\x04 broken", b"text", b"\x93NUMPY\x01\x00v\x00{'descr'"]
)
def test_a_broken_file_is_refused_by_name(own, content):
    from pathlib import Path

    Path(settings.data_dir, "adult.npz").write_bytes(content)
    with pytest.raises(ValueError, match="adult.npz: NumPy cannot read it"):
        load("adult")


def test_an_own_name_is_a_name_and_no_path(own):
    own("mine", X=ONES, y=[1, 2, 3])
    for name in ("../mine", "./mine", "/mine", "mine.npz", "", "mine\0"):
        with pytest.raises(ValueError, match="no data set.*the files of settings.data_dir"):
            load(name)


def test_every_name_is_described_and_stands_once():
    assert not set(BUNDLED) & set(FETCHED) and set(BUNDLED) | set(FETCHED) == set(datasets._ABOUT)
    assert all(datasets._ABOUT[name][2] in BUNDLED for name in FETCHED)


def test_texts_of_your_own(tmp_path):
    "promoters and splice are files that a reader brings; so is any file of texts"
    with settings.using(data_dir=""):
        with pytest.raises(
            DatasetUnavailable, match="promoters.npz in the folder settings.data_dir"
        ):
            load("promoters")
    np.savez(tmp_path / "promoters.npz", X=np.array(["acgt", "tt", "gca"]), y=np.array([1, -1, 1]))
    np.savez(tmp_path / "mine.npz", X=np.array([b"a", b"bc"]), y=np.array(["x", "y"]))
    np.savez(tmp_path / "bad.npz", X=np.array([["a", "b"]]), y=np.array([1]))
    with settings.using(data_dir=str(tmp_path)):
        data = load("promoters")
        assert data.X.tolist() == ["acgt", "tt", "gca"] and data.y.tolist() == [1, 0, 1]
        assert (
            data.target_names == ("-1", "1")
            and "E. coli" in repr(data)
            and data.feature_names == ()
        )
        assert load("mine").X.tolist() == [b"a", b"bc"] and load("mine").target_names == ("x", "y")
        with pytest.raises(ValueError, match=r"X is <U1 of shape \(1, 2\)"):
            load("bad")
