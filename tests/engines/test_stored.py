"""Values as files: the same value comes back, to the last bit, and nothing but that."""

import json
import os
import sys
import zipfile
from functools import partial

import numpy as np
import pytest

import rkhs_notes as rn
import rkhs_notes.engines.data.stored as stored
from rkhs_notes.base.objects import Objects
from rkhs_notes.engines.data.stored import (
    from_expression,
    read_expression,
    to_expression,
    write_expression,
)
from rkhs_notes.engines.features.random_maps import (
    blocked,
    chosen,
    joined,
    multiplied,
    over_lengths,
    times,
)
from rkhs_notes.engines.functions.measures import empirical
from rkhs_notes.engines.functions.series import sines

X = np.random.default_rng(1).uniform(0.1, 1, size=(7, 2))
WORDS, GRAPHS = (
    ["abba", "cab", "abcab"],
    [rn.Graph([(0, 1), (1, 2)], "CCO"), rn.Graph([(0, 1)], "CO")],
)
BAGS = [X[:2], X[3:6]]
EXPANSION = rn.mercer_expansion(rn.Gaussian(0.4), empirical(X), 4)

KERNELS = {
    "number by number": (rn.Gaussian(0.1) + 1 / 3 * rn.Linear(), X),
    "named terms": (
        rn.Sum(trend=rn.Linear(), season=rn.Product(rn.Gaussian(0.3), rn.Laplace(2.0))),
        X,
    ),
    "a sum within a sum": (rn.Sum(k1=rn.Linear() + rn.Cauchy(0.7), rest=rn.Constant(0.2)), X),
    "powers": (((rn.Linear() + rn.Constant(1)) ** 3).exp().normalized().gaussian_of(0.3), X),
    "columns": (rn.Matern(2.5, 0.3).on([1]) * rn.RationalQuadratic(0.3, 2), X),
    "arrays": (rn.Mahalanobis([0.1, 0.7]) + rn.Bilinear(np.cov(X.T)), X),
    "lengths": (rn.Matern(1.5, [0.1, 0.7]) * rn.Laplace([0.3, 2]) + rn.Gaussian([1 / 3, 2]), X),
    "pairs": (
        rn.Tensor(rn.Periodic(0.9), rn.Gaussian(1), 1) + rn.Tensor(rn.Linear(), rn.Linear()),
        X,
    ),
    "orders": (rn.Anova(rn.Gaussian(1), 2, True) + rn.Anova(rn.Linear(), 1), X),
    "on the line": (rn.Brownian(-1) + rn.Sobolev(3) + rn.SobolevFull(1) + rn.Delta(), X[:, 0]),
    "precomputed": (rn.Precomputed(rn.Gaussian(1)(X)), np.arange(7)),
    "a spectrum": (EXPANSION.kernel + rn.Linear(), X),
    "closed form": (rn.gaussian_spectrum(0.5, 0.0, 1.0, 5).kernel, X[:, :1]),
    "sines": (rn.brownian_spectrum(6).kernel, X[:, 0]),
    "waves": (rn.periodic_spectrum(rn.Periodic(1.3), 5).kernel, X[:, 0]),
    "words": (rn.Spectrum(2).normalized() + 2 * rn.Subsequence(2, 0.5), WORDS),
    "graphs": (rn.WeisfeilerLehman(2) + rn.ShortestPath(), GRAPHS),
    "bags": (rn.SetKernel(rn.Gaussian(0.4)), BAGS),
    "a model": (rn.Fisher(rn.markov_chain(WORDS, "abc"), np.eye(9)), WORDS),
}
LIST = rn.Spectrum(2)
MAPS = {
    "paired": (rn.fourier_features(rn.Gaussian(0.3), 2, 10, rng=0), X),
    "phase": (rn.fourier_features(rn.Laplace(0.3) + rn.Gaussian(1), 2, 9, rng=0, kind="phase"), X),
    "structured": (rn.fourier_features(rn.Gaussian(0.3), 2, 70, rng=0, coupling="structured"), X),
    "orthogonal": (rn.fourier_features(rn.Matern(1.5), 2, 10, rng=0, coupling="orthogonal"), X),
    "nystrom": (rn.nystrom_features(rn.Gaussian(0.3), X, 4, rng=0), X),
    "nystrom of words": (rn.nystrom_features(rn.Spectrum(2).normalized(), WORDS, 2, rng=0), WORDS),
    "rpcholesky": (rn.nystrom_features(rn.Gaussian(0.3), X, 4, rng=0, landmarks="rpcholesky"), X),
    "pivoted": (rn.pivoted_cholesky(rn.Gaussian(0.3), X, rank=4, rng=0), X),
    "binning": (rn.binning_features(rn.Laplace(0.5) + rn.Delta(), X, 8, rng=0), X),
    "monomials": (rn.MonomialMap(3, 0.5), X),
    "by the table": (
        ((rn.Linear() + rn.Constant(2)) ** 2 * rn.Polynomial(2).on(0)).feature_map(2),
        X,
    ),
    "for these words": (LIST.feature_map(WORDS), WORDS),
    "mercer": (EXPANSION.feature_map(), X),
    "neurons": (rn.relu_features(2, 12, rng=0), X),
    "sketch": (rn.random_feature_map(rn.Polynomial(5), 2, 12, rng=0), X),
    "sums": (rn.random_feature_map(rn.Laplace(1) * rn.Linear() + rn.Gaussian(1), 2, 40, rng=0), X),
    "of features": (rn.random_feature_map((rn.Linear() ** 2).exp(), 2, 30, rng=0), X),
    "of angles": (
        rn.random_feature_map(rn.Polynomial(6).normalized() * rn.Gaussian(1), 2, 20, rng=0),
        X,
    ),
    "of columns": (rn.random_feature_map(rn.Laplace(1).on(1) + 3 * rn.Cauchy(1), 2, 20, rng=0), X),
}


def there_and_back(value, tmp_path, known=()):
    "The value after a trip through a file"
    write_expression(tmp_path / "value.npz", value)
    return read_expression(tmp_path / "value.npz", known)


def same(A, B):
    "Are two matrices, dense or sparse, equal to the bit?"
    A, B = (M.toarray() if hasattr(M, "toarray") else M for M in (A, B))
    return A.dtype == B.dtype and A.shape == B.shape and A.tobytes() == B.tobytes()


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_comes_back(name, tmp_path):
    k, points = KERNELS[name]
    back = there_and_back(k, tmp_path)
    assert back == k and repr(back) == repr(k) and same(back(points), k(points))


@pytest.mark.parametrize("part", [blocked, chosen, joined, multiplied, over_lengths, times, sines])
def test_a_name_in_a_file_is_this_function(part):
    assert stored._named(part.__name__) is part


@pytest.mark.parametrize("name", MAPS)
def test_a_feature_map_comes_back(name, tmp_path):
    phi, points = MAPS[name]
    back = there_and_back(phi, tmp_path)
    assert type(back) is type(phi) and repr(back) == repr(phi) and same(back(points), phi(points))


def test_float32_stays(tmp_path):
    few = X.astype(np.float32)
    phi = rn.nystrom_features(rn.Gaussian(0.3), few, 4, rng=0)
    back = there_and_back(phi, tmp_path)
    assert back.function.Z.dtype == np.float32 and same(back(few), phi(few))


@pytest.mark.second_route("read_expression", "the values that were written")
def test_functions_and_collections_come_back(tmp_path):
    f = rn.ridge(rn.Gaussian(0.3), X, X[:, 0], 0.1)
    whole = {
        "f": f,
        "offset": np.float64(0.1),
        "names": ("a", None, True),
        "mean": -np.inf,
        "labels": np.array(["no", "yes"]),
        "few": [1, 2.0, {3: "three"}],
    }
    back = there_and_back(whole, tmp_path)
    assert same(back["f"](X), f(X)) and back["names"] == whole["names"]
    assert back["mean"] == -np.inf and back["few"] == whole["few"] and back["offset"] == 0.1
    assert back["labels"].tolist() == ["no", "yes"] and type(back["offset"]) is np.float64
    objects = there_and_back(Objects(GRAPHS), tmp_path)
    assert type(objects) is Objects and list(objects) == GRAPHS
    codes = [b"ab", b"\x00\xff", b""]
    back = there_and_back(rn.ridge(LIST, codes, X[:3, 0], 0.1), tmp_path)
    assert list(back.Z) == codes and [type(code) for code in back.Z] == [bytes] * 3


def test_what_was_one_object_is_one_object():
    part = rn.Linear().feature_map(2)
    first, second = from_expression(*to_expression([part, part]))
    assert first is second
    _, arrays = to_expression([X, X, X.copy()])
    assert len(arrays) == 2


def test_arrays_that_come_back_cannot_be_written_into(tmp_path):
    back = there_and_back(rn.fourier_features(rn.Gaussian(1), 2, 4, rng=0), tmp_path)
    with pytest.raises(ValueError, match="read-only"):
        back.function.W[0] = 0


class Cosh(rn.Kernel):
    "One's own kernel with a parameter"

    rate: float = 1.0

    def _gram(self, X, Y, xp):
        return xp.cosh(self.rate * (X @ Y.T))


class OwnInit(rn.Kernel):
    "One's own kernel that hides its parameters"

    def __init__(self, rate):
        self.rate = rate

    _gram = Cosh._gram


def test_a_class_of_ones_own_is_handed_over(tmp_path):
    k = 2 * Cosh(0.5) + rn.Linear()
    assert there_and_back(k, tmp_path, [Cosh]) == k
    with pytest.raises(ValueError, match=r"'Cosh' is no value of this package.*known=\[Cosh\]"):
        read_expression(tmp_path / "value.npz")
    with pytest.raises(TypeError, match="OwnInit has an __init__ of its own: list its fields"):
        to_expression(OwnInit(2.0))


CODE = {
    "rank one": rn.Rank1(np.sin),
    "several": rn.FiniteRank([1.0], [lambda x: x]),
    "a factor": rn.Gaussian(1).conjugate(lambda x: x),
    "an image": rn.Linear().on(np.tanh) + rn.Gaussian(1),
    "an integral": rn.Integral(lambda x, z: x * z, empirical([1.0, 2.0])),
    "a map": rn.FeatureMap(rn.Linear(), 1, 1, lambda X: X),
}


@pytest.mark.parametrize("name", CODE)
def test_code_is_refused_with_advice(name, tmp_path):
    with pytest.raises(TypeError, match="a file holds no code.*known=.*Precomputed"):
        write_expression(tmp_path / "code.npz", CODE[name])
    assert os.listdir(tmp_path) == []


def test_what_is_no_value_of_this_package_is_refused():
    with pytest.raises(TypeError, match="type ZipInfo is no value of this package"):
        to_expression({"here": zipfile.ZipInfo()})
    square = np.empty((2, 2), object)  # as a list of rows it would lose its shape
    with pytest.raises(TypeError, match="type ndarray is no value of this package"):
        to_expression(square)


def test_arguments_with_a_name_are_not_lost():
    back = from_expression(*to_expression(partial(sines, 3)))
    assert back.func is sines and back.args == (3,)
    with pytest.raises(TypeError, match="the Python function partial"):
        to_expression(partial(sines, k=3))


@pytest.mark.second_route("from_expression", "to_expression", "JSON, there and back")
def test_the_tree_is_strict_json():
    "Which knows neither Infinity nor NaN"
    tree, _ = to_expression([np.inf, -np.inf, np.nan, 0.1])
    back = from_expression(json.loads(json.dumps(tree, allow_nan=False)), {})
    np.testing.assert_array_equal(back, [np.inf, -np.inf, np.nan, 0.1])


HARMFUL = [
    {"eval": ["1 + 1"]}, {"os.system": ["true"]}, {"ridge": []}, {"__import__": ["os"]},
    {"Gaussian": {"bandwidth": -1.0}}, {"Gaussian": {"width": 1.0}}, {"Gaussian": 3}, {"array": "a9"},
    {"Gaussian": {}, "Linear": {}}, {}, {"Sum": {}}, {"FeatureMap": [1, 2]}, {"dict": [1]},
    {"median_bandwidth": [[[0.0], [1.0]]]}, {"LawBroken": ["a class, but of no value"]},
    {"float": ["x"]}, {"sparse": [1, 2, 3]}, {"Landmarks": 7}, {"feature_map": [{"Gaussian": {}}, 2]},
]  # fmt: skip


@pytest.mark.parametrize("tree", HARMFUL, ids=json.dumps)
def test_a_strange_expression_is_refused(tree):
    with pytest.raises(ValueError, match="this expression cannot be read"):
        from_expression(tree, {})


def test_a_deep_expression_is_refused():
    tree = {"Linear": {}}
    for _ in range(3000):
        tree = {"Exp": {"k": tree}}
    with pytest.raises(ValueError, match="this expression cannot be read"):
        from_expression(tree, {})


def test_a_file_holds_no_pickle(tmp_path):
    path = tmp_path / "p.npz"
    write_expression(path, {"phi": rn.nystrom_features(rn.Spectrum(2), WORDS, 2, rng=0), "X": X})
    with np.load(path, allow_pickle=False) as arrays:
        assert {arrays[name].dtype.kind for name in arrays.files if name != "expression.json"} == {
            "f"
        }
    with zipfile.ZipFile(path) as archive:
        assert json.loads(archive.read("expression.json"))["format"] == stored.FORMAT


class Trap:
    "What makes a folder when it is unpickled"

    def __init__(self, place):
        self.place = place

    def __reduce__(self):
        return os.mkdir, (self.place,)


def test_a_pickle_in_a_file_is_not_opened(tmp_path):
    "The file is whole but for that"
    path, place = tmp_path / "p.npz", str(tmp_path / "made")
    write_expression(path, X)
    with zipfile.ZipFile(path) as archive:
        head = archive.read("expression.json")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("expression.json", head)
        with archive.open("a0.npy", "w") as file:
            np.lib.format.write_array(file, np.array([Trap(place)]), allow_pickle=True)
    with pytest.raises(ValueError, match="damaged, cut off, or no file"):
        read_expression(path)
    assert not os.path.exists(place)


def rewrite(path, **changes):
    "The same file with another head"
    with zipfile.ZipFile(path) as archive:
        head = json.loads(archive.read("expression.json")) | changes
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("expression.json", json.dumps(head))


@pytest.mark.parametrize("version", [2, None, "1", 0])
def test_another_format_is_refused(version, tmp_path):
    path = tmp_path / "k.npz"
    write_expression(path, rn.Linear())
    rewrite(path, format=version, rkhs_notes="9.9")
    with pytest.raises(ValueError, match="written by rkhs_notes 9.9; this version reads format 1"):
        read_expression(path)


def test_every_broken_byte_is_noticed(tmp_path):
    "Whatever byte is changed, the value is the same or the file is refused"
    path, value = tmp_path / "f.npz", {"k": rn.Mahalanobis([0.1, 0.7]), "w": np.arange(5.0)}
    write_expression(path, value)
    whole, rng, refused = path.read_bytes(), np.random.default_rng(0), 0
    for at in range(len(whole)):
        path.write_bytes(
            whole[:at] + bytes([whole[at] ^ (1 << int(rng.integers(8)))]) + whole[at + 1 :]
        )
        try:
            back = read_expression(path)
            assert back["k"] == value["k"] and same(back["w"], value["w"])
        except ValueError as e:
            refused += 1
            assert "damaged" in str(e) or "format" in str(e) or "cannot be read" in str(e)
    assert refused > 0.7 * len(whole)  # the rest are dates and the like


def test_every_cut_is_noticed(tmp_path):
    path = tmp_path / "f.npz"
    write_expression(path, rn.Mahalanobis([0.1, 0.7]))
    whole = path.read_bytes()
    for end in range(len(whole)):
        path.write_bytes(whole[:end])
        with pytest.raises(ValueError, match="damaged, cut off, or no file"):
            read_expression(path)


PACKED = {"deflated": dict(compression=zipfile.ZIP_DEFLATED), "twice": {}}


@pytest.mark.parametrize("how", PACKED)
def test_a_file_that_would_unpack_to_more_than_itself_is_refused(how, tmp_path):
    "Ten million zeros in ten thousand bytes; and one array that the directory lists a hundred times"
    path = tmp_path / "m.npz"
    write_expression(path, [np.zeros(10**4)])
    with zipfile.ZipFile(path) as archive:
        head, zeros = archive.read("expression.json"), archive.read("a0.npy")
    with zipfile.ZipFile(path, "w", **PACKED[how]) as archive:
        archive.writestr("expression.json", head)
        archive.writestr("a0.npy", zeros)
        if how == "twice":
            archive.filelist += 100 * archive.filelist[1:]
    with pytest.raises(ValueError, match=r"damaged, cut off, or no file .* bytes would become \d+"):
        read_expression(path)


def test_an_array_that_claims_more_than_it_brings_is_refused(tmp_path):
    path = tmp_path / "m.npz"
    write_expression(path, [np.zeros(7)])
    with zipfile.ZipFile(path) as archive:
        head, array = archive.read("expression.json"), archive.read("a0.npy")
    for claim in (b"(9,)", b"(10**13,)", b"(-7,)"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("expression.json", head)
            archive.writestr("a0.npy", array.replace(b"(7,)", claim))
        with pytest.raises(ValueError, match="damaged, cut off, or no file"):
            read_expression(path)


@pytest.mark.parametrize("head", [[], 1, None, "x", {}, {"format": 1}, {"expression": {}}])
def test_a_head_that_lacks_its_parts_is_refused(head, tmp_path):
    with zipfile.ZipFile(tmp_path / "m.npz", "w") as archive:
        archive.writestr("expression.json", json.dumps(head))
    with pytest.raises(ValueError, match="holds no model"):
        rn.load_model(tmp_path / "m.npz")


def test_saving_changes_neither_a_link_nor_what_it_points_to(tmp_path):
    there, link = tmp_path / "there.npz", tmp_path / "link.npz"
    rn.Linear().save(there)
    link.symlink_to(there.name)
    before = there.read_bytes()
    with pytest.raises(
        OSError, match="a link to there.npz, and stays as it is: nothing was written"
    ):
        rn.Gaussian(1.0).save(link)
    assert link.is_symlink() and there.read_bytes() == before
    assert rn.load_model(link) == rn.Linear()
    link.unlink()
    link.symlink_to("nowhere.npz")
    with pytest.raises(OSError, match="a link to nowhere.npz"):
        rn.Linear().save(link)
    assert sorted(os.listdir(tmp_path)) == ["link.npz", "there.npz"]


def test_a_pipe_is_neither_read_nor_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="no ordinary file"):
        rn.load_model(pipe)
    with pytest.raises(OSError, match="no ordinary file, and stays as it is: nothing was written"):
        rn.Linear().save(pipe)
    assert pipe.is_fifo()


def places(tree, path=()):
    "All places of a tree of dicts and lists"
    yield path
    if isinstance(tree, (dict, list)):
        for key, part in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from places(part, (*path, key))


def put(tree, path, value):
    "A tree with another value at a place"
    if not path:
        return value
    tree = tree.copy()
    tree[path[0]] = put(tree[path[0]], path[1:], value)
    return tree


def test_whatever_stands_in_a_tree_no_file_is_opened_and_no_text_is_raw(tmp_path):
    "A path, a hollow part or a number in each place of each stored value: read, or refused in our words"
    path = str(tmp_path / "there.csv")
    np.savetxt(path, X, delimiter=",")
    opened, tried = [], 0

    def watch(event, arguments):
        if event == "open" and arguments[0] == path and watching:
            opened.append(arguments)

    watching = True
    sys.addaudithook(watch)
    values = [*(k for k, _ in KERNELS.values()), *(phi for phi, _ in MAPS.values())]
    values += [make(MODEL_KERNEL) for make in MODELS.values()]
    for tree, arrays in map(to_expression, values):
        for place in places(tree):
            for part in (path, [path], None, [], {}, -1, {"float": ["nan"]}, {"tuple": []}):
                tried += 1
                try:
                    from_expression(put(tree, place, part), arrays)
                except ValueError as e:
                    assert str(e).startswith("this expression cannot be read: ")
    watching = False
    assert not opened and tried > 10**4


def test_a_missing_file_and_a_missing_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match="none.npz"):
        read_expression(tmp_path / "none.npz")
    with pytest.raises(OSError, match="nothing was written"):
        write_expression(tmp_path / "no" / "k.npz", rn.Linear())
    with pytest.raises(OSError, match="nothing was written"):
        write_expression(tmp_path, rn.Linear())
    assert os.listdir(tmp_path) == []


def test_a_full_disk_leaves_the_old_file(tmp_path, full_disk):
    path = tmp_path / "k.npz"
    write_expression(path, rn.Linear())
    before = path.read_bytes()
    with full_disk(20_000), pytest.raises(OSError, match="as it was. Free some space"):
        write_expression(path, {"large": np.zeros(10_000)})
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["k.npz"]
    write_expression(path, {"large": np.zeros(10_000)})  # the limit was the reason
    assert read_expression(path)["large"].shape == (10_000,)


def test_an_interruption_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "k.npz"
    write_expression(path, rn.Linear())

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(np.lib.format, "write_array", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_expression(path, X)
    assert read_expression(path) == rn.Linear() and os.listdir(tmp_path) == ["k.npz"]


# ------------------------------------------------------------------ models

RNG = np.random.default_rng(3)
POINTS = RNG.normal(size=(30, 2))
VALUES = POINTS[:, 0] ** 2 + 0.1 * RNG.normal(size=30)
SIGNS = np.where(VALUES > 0.5, 1, -1)
LEVELS = np.array(["low", "middle", "high"])[np.digitize(VALUES, [0.2, 0.8])]
MODEL_KERNEL = rn.Gaussian(1.0) + 0.5 * rn.Linear()
MODELS = {
    "ridge": lambda k: rn.ridge(k, POINTS, VALUES, 0.1),
    "two targets": lambda k: rn.ridge(k, POINTS, np.c_[VALUES, SIGNS], 0.1),
    "an offset": lambda k: rn.ridge(k, POINTS, VALUES, 0.1, offset=True),
    "a path": lambda k: rn.ridge_path(k, POINTS, VALUES),
    "logistic": lambda k: rn.minimize_risk(k, POINTS, SIGNS, "logistic", 0.1),
    "a process": lambda k: rn.gaussian_process(k, POINTS, VALUES, 0.1),
    "a classifier": lambda k: rn.gp_classification(k, POINTS, SIGNS),
    "hyper-parameters": lambda k: rn.fit_hyperparameters(rn.Gaussian(1.0), POINTS, VALUES, 0.1),
    "learned noise": lambda k: rn.learn_noise(rn.Gaussian(1.0), POINTS, VALUES),
    "svc": lambda k: rn.svc(k, POINTS, SIGNS, 1.0),
    "svr": lambda k: rn.svr(k, POINTS, VALUES, 1.0, 0.1),
    "one class": lambda k: rn.one_class(k, POINTS, 0.2),
    "classes of words": lambda k: rn.svc_multiclass(k, POINTS, LEVELS, 1.0),
    "features": lambda k: rn.svm_primal(
        rn.fourier_features(rn.Gaussian(1.0), 2, 20, rng=0), POINTS, SIGNS, 1.0
    ),
    "components": lambda k: rn.kernel_pca(k, POINTS, 2),
    "correlations": lambda k: rn.kernel_cca(k, k, POINTS, POINTS**2, 0.1, 2),
    "a coupling": lambda k: rn.coupled_embedding(k, k, POINTS, POINTS, np.eye(30), 2, 0.1),
    "gradient steps": lambda k: rn.kernel_sgd(k, POINTS, VALUES, "squared", 4, 50, 0.1, 0),
    "an embedding": lambda k: rn.mean_embedding(k, POINTS),
    "a test": lambda k: rn.mmd_test(k, POINTS, POINTS + 1, 99, rng=0),
    "a spline": lambda k: rn.smoothing_spline(np.sort(POINTS[:, 0]), VALUES, 0.1),
    "landmarks": lambda k: rn.nystrom_features(k, POINTS, 10, rng=0),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_comes_back_to_the_last_bit(name, tmp_path):
    model = MODELS[name](MODEL_KERNEL)
    if name == "hyper-parameters":
        write_expression(tmp_path / "m.npz", model)
    else:
        model.save(tmp_path / "m.npz")
    again = rn.load_model(tmp_path / "m.npz")
    assert type(again) is type(model) and repr(again) == repr(model)
    if callable(model):
        at = POINTS[:, 0] if name == "a spline" else POINTS
        assert np.array_equal(again(at), model(at))
    if name in ("svc", "classes of words"):
        assert (
            np.array_equal(again.predict(POINTS), model.predict(POINTS)) and again.gap == model.gap
        )
    if name == "a process":
        assert np.array_equal(again.cov(POINTS[:3]), model.cov(POINTS[:3]))
    if name == "a test":
        assert np.array_equal(again.null, model.null) and np.array_equal(
            again.witness(POINTS), model.witness(POINTS)
        )


def test_names_of_columns_and_labels_come_back(tmp_path):
    import pandas

    frame = pandas.DataFrame(POINTS, columns=["a", "b"])
    turned = frame[["b", "a"]]
    f = rn.ridge(MODEL_KERNEL, frame, VALUES, 0.1)
    f.save(tmp_path / "f.npz")
    assert np.array_equal(rn.load_model(tmp_path / "f.npz")(turned), f(frame))
    with pytest.raises(ValueError, match="no column 'a'"):
        rn.load_model(tmp_path / "f.npz")(frame.rename(columns={"a": "c"}))
    words = np.where(SIGNS > 0, "up", "down")
    for model in (
        rn.minimize_risk(MODEL_KERNEL, frame, words, "logistic", 0.1),
        rn.svc(MODEL_KERNEL, frame, words, 1.0),
    ):
        model.save(tmp_path / "m.npz")
        again = rn.load_model(tmp_path / "m.npz")
        assert np.array_equal(again.predict(turned), model.predict(frame)) and set(
            again.predict(turned)
        ) <= {
            "up",
            "down",
        }
