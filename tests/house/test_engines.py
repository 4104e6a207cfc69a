"""Arrays of other libraries: every public function answers with the same numbers, in the library, type
and device of its arguments, or refuses them by name. `make engines` adds the extras, PyTorch and JAX."""

import functools
import importlib.util
import inspect
import json
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from test_contracts import CONTRACTS, DRAWS, STAR, drawn, from_here

import rkhs_notes as rn
from conftest import ROOT
from rkhs_notes.base.arrays import as_floats
from rkhs_notes.base.distances import sqdist
from rkhs_notes.base.errors import NotPositiveDefinite, RKHSError
from rkhs_notes.base.objects import Objects
from rkhs_notes.deeper.benign import relu_features
from rkhs_notes.deeper.variants import OfFeatures
from rkhs_notes.engines.features.feature_maps import FeatureFunction
from rkhs_notes.engines.features.spectral import OfDifference
from rkhs_notes.engines.kernels.gram import Expression
from rkhs_notes.engines.solving import systems

rng = np.random.default_rng(5)
PLANE, LINE = rng.uniform(0.1, 2, (9, 2)), rng.uniform(0.1, 2, (9, 1))
y = np.sin(3 * PLANE[:, 0])
G = rn.Gaussian(0.7)


class Engine:
    "A library: how an array of NumPy becomes one of its own, and one of its own an array of NumPy"

    def __init__(self, module, to, back=np.asarray):
        self.module, self.to, self.back = module, to, back

    def owns(self, A):
        return type(A).__module__.partition(".")[0] in (self.module, f"{self.module}lib")


def strict():
    import array_api_strict

    return Engine("array_api_strict", array_api_strict.asarray)


def torch():
    import torch

    return Engine("torch", lambda A: torch.asarray(np.array(A)), lambda A: A.numpy(force=True))


def jax():
    import jax

    jax.config.update("jax_enable_x64", True)
    return Engine("jax", jax.numpy.asarray)


def dask():
    import dask.array as da

    return Engine(
        "dask", lambda A: da.from_array(np.array(A), chunks=4), lambda A: np.asarray(A.compute())
    )


MAKERS = {"strict": strict, "dask": dask, "torch": torch, "jax": jax}
MISSING = [name for name in ("torch", "jax") if not importlib.util.find_spec(name)]
each_engine = pytest.mark.parametrize("name", [name for name in MAKERS if name not in MISSING])
each_eager = pytest.mark.parametrize("name", [n for n in MAKERS if n not in (*MISSING, "dask")])
needs_torch = pytest.mark.skipif("torch" in MISSING, reason="PyTorch is missing: make engines")
needs_jax = pytest.mark.skipif("jax" in MISSING, reason="JAX is missing: make engines")


@functools.cache
def engine(name):
    return MAKERS[name]()


def sent(e, value):
    "The arrays of numbers in an argument, as arrays of the library"
    if type(value) is np.ndarray and value.dtype.kind in "fiub" and value.ndim:
        return e.to(value)
    return tuple(sent(e, part) for part in value) if type(value) is tuple else value


def numbers(e, value, depth=0):
    "All numbers of a result, as arrays of NumPy, in order"
    if e and e.owns(value):
        return [e.back(value)]
    if isinstance(value, (np.ndarray, np.generic, float, int, bool)):
        return [np.asarray(value)]
    if hasattr(value, "add_artist"):  # axes, which both calls drew on
        return []
    if hasattr(value, "tocsr"):
        return [value.toarray()]
    if isinstance(value, (tuple, list, Objects)):
        return [x for part in value for x in numbers(e, part, depth + 1)]
    if (
        isinstance(value, Expression)
        or depth > 4
        or inspect.isroutine(value)
        or not hasattr(value, "__dict__")
    ):
        return []
    return [x for _, part in sorted(vars(value).items()) for x in numbers(e, part, depth + 1)]


def kept(e, ours, theirs):
    "Is every array of the result one of the library, of the same type, under the same names?"
    if isinstance(ours, np.ndarray) and ours.dtype.kind in "fiub":
        return e.owns(theirs) and str(theirs.dtype).rpartition(".")[2] == ours.dtype.name
    if isinstance(ours, (tuple, list)):
        return type(theirs) is type(ours) and all(
            kept(e, a, b) for a, b in zip(ours, theirs, strict=True)
        )
    return True


def outcome(e, call, *arguments, tol=1e-8):
    "'right', 'refused: …' in our words about this library, or what is wrong"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = call(*arguments)
        try:
            theirs = call(*(sent(e, a) for a in arguments))
            found = numbers(e, theirs)
        except (TypeError, ValueError, MemoryError, RKHSError) as error:
            named = from_here(error) and ("NumPy" in str(error) or e.module in str(error))
            return f"refused: {error}" if named else f"raw: {type(error).__name__}: {error}"
        except Exception as error:
            return f"raw: {type(error).__name__}: {error}"
    wanted = numbers(None, ours)
    if len(found) != len(wanted):
        return f"wrong: {len(found)} numbers or arrays for {len(wanted)}"
    for a, b in zip(wanted, found, strict=True):
        size = 1.0 if a.dtype.kind not in "fiub" else min(np.abs(a).max(initial=1), 1e300)
        if a.shape != b.shape or (
            a.dtype.kind in "fiub" and not np.allclose(a, b, tol, tol * size)
        ):
            return f"wrong: {str(b)[:60]} for {str(a)[:60]}"
    return "right" if kept(e, ours, theirs) else f"moved: {type(theirs).__module__}"


def test_the_table_sees_what_is_wrong():
    e = engine("strict")
    assert outcome(e, lambda X: X, PLANE) == "right"
    assert outcome(e, lambda X: np.asarray(X), PLANE).startswith("moved")
    assert outcome(e, lambda X: X if type(X) is np.ndarray else X * 1.0001, PLANE).startswith(
        "wrong"
    )
    assert outcome(e, lambda X: np.linalg.norm(X[0]), PLANE).startswith("raw")
    empty = lambda X: X if type(X) is np.ndarray else as_floats(X[:, :0])  # noqa: E731
    assert outcome(e, empty, PLANE).startswith("raw")  # in our words, but not about the library


# every kernel


def wave(X):
    "Written for every library: one number a point"
    return 1 + (X if X.ndim == 1 else X[:, 0]) ** 2 / 4


def product(x, z):
    return 1 + 0 * x + x * z / 4


ON_PLANE = [
    *(
        rn.Linear(),
        rn.Polynomial(3),
        G,
        rn.Constant(2.0),
        rn.Sigmoid(0.4, 0.2),
        rn.Mahalanobis([0.5, 2.0]),
    ),
    *(family(bandwidth=[0.5, 2.0]) for family in (rn.Gaussian, rn.Matern, rn.Laplace, rn.Cauchy)),
    *(
        rn.RationalQuadratic(0.7, [1.2, 0.4]),
        rn.Matern(0.5, [0.6, 1.7]),
        rn.Matern(1.1, [2.0, 0.3]),
    ),
    *(rn.Bilinear([[2.0, 0.3], [0.3, 1.0]]), rn.Matern(0.5), rn.Matern(1.5, 0.6), rn.Matern(2.5)),
    *(
        rn.Matern(1.1),
        rn.RationalQuadratic(0.7, 1.2),
        rn.Laplace(0.8),
        rn.Cauchy(0.9),
        rn.Periodic(1.3, 0.8),
    ),
    *(
        rn.Delta(),
        rn.DistanceInduced(),
        rn.ArcCosine(),
        rn.Rank1(wave),
        rn.FiniteRank([0.5, 2.0], [wave, wave]),
    ),
    *(
        rn.Tensor(G, rn.Laplace()),
        rn.Anova(G, 2),
        rn.Anova(rn.Cauchy(0.8), 2, up_to=True),
        G.conjugate(wave),
    ),
    *(
        rn.Linear().gaussian_of(0.7),
        rn.Polynomial(2).gaussian_of(3.0),
        G + rn.Linear() * rn.Polynomial(2),
    ),
    *(
        2 * G,
        G**3,
        (rn.Linear() / 9).exp(),
        rn.Polynomial(2).normalized(),
        G.on([1]),
        G.on(lambda X: X**2),
    ),
    *(rn.Conditioned(G, PLANE[:3], 0.1), rn.mercer_expansion(G, rn.empirical(PLANE), 3).kernel),
]
ON_LINE = [
    *(rn.Brownian(), rn.Sobolev(1), rn.Sobolev(3), rn.SobolevFull(2)),
    *(rn.Integral(product, rn.gauss_legendre(0, 1, 5)), OfDifference(lambda t: np.exp(-t * t))),
]
KERNELS = [(k, PLANE) for k in ON_PLANE] + [(k, LINE) for k in ON_LINE]
KERNELS.append((rn.mercer.BrownianBridge(), LINE / 3))
KERNELS.append((OfFeatures(lambda X: np.cos(X)), PLANE))
KERNELS.append((rn.Precomputed(np.eye(12) + 0.1), np.arange(9.0)[:, None]))
each_kernel = pytest.mark.parametrize("k, X", KERNELS, ids=[str(k)[:60] for k, _ in KERNELS])
CALLS = {
    "k(X)": lambda k, X: k(X),
    "k(X, Y)": lambda k, X: k(X, X[:4, ...]),
    "k.diag": lambda k, X: k.diag(X),
    "k.pairs": lambda k, X: k.pairs(X[:4, ...], X[4:8, ...]),
    "k.distance": lambda k, X: k.distance(X),
}


@each_engine
@each_kernel
def test_every_kernel_has_the_same_values_in_every_library(name, k, X):
    for what, call in CALLS.items():
        tol = 1e-6 if (name, what) == ("dask", "k.distance") else 1e-8  # k(X) is k(X, X): √rounding
        got = outcome(engine(name), functools.partial(call, k), X, tol=tol)
        assert got == "right", f"{what}: {got}"


def test_no_kernel_of_the_book_on_arrays_was_left_out():
    def below(cls):
        return {cls, *(c for sub in cls.__subclasses__() for c in below(sub))}

    def parts(k):
        return {type(k), *(c for _, part in k._parts() for c in parts(part))}

    tried = {c for k, _ in KERNELS for c in parts(k)}
    # an example of a docstring may have left a class that says it is the module's, and is not
    book = {
        c
        for c in below(rn.Kernel)
        if c.__module__.startswith("rkhs_notes.")
        and c._gram is not rn.Kernel._gram
        and getattr(sys.modules[c.__module__], c.__name__, None) is c
    }
    objects = {
        c for c in book if c.__module__.rpartition(".")[2] in ("structured", "graphs", "strings")
    }
    left = {c.__name__ for c in book - tried - objects}
    assert not left - {"Indefinite", "SteinKernel"}, (
        left
    )  # a kind of kernels; a function of its user


# every function with a contract


@functools.cache
def good(name):
    "Arguments with arrays that this function answers; None where no argument is an array"
    f = dict(CONTRACTS)[name]
    for seed in range(1, 6):
        given = drawn(f, np.random.default_rng(seed), DRAWS.get(name, {}))
        given = {n: v for n, v in given.items() if f.plan.parameters[n].kind is not STAR}
        arrays_in = [
            n
            for n, v in given.items()
            if type(v) is np.ndarray and v.dtype.kind in "fiub" and v.ndim
        ]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                f(**given)
        except (TypeError, ValueError, MemoryError, RKHSError):
            continue
        return (f, given, arrays_in) if arrays_in else None


def tried(f, given):
    return lambda *values: f(**dict(zip(given, values, strict=True)))


@each_engine
@pytest.mark.parametrize("function", [name for name, _ in CONTRACTS])
def test_every_function_has_the_same_numbers_or_refuses_by_name(name, function):
    if (found := good(function)) is None:
        return  # takes no arrays
    f, given, _ = found
    got = outcome(engine(name), tried(f, given), *given.values())
    assert got == "right" or (name == "dask" and got.startswith("refused")), got


def test_most_functions_were_tried():
    assert sum(good(name) is not None for name, _ in CONTRACTS) >= 100


@each_eager
def test_no_function_loses_an_imaginary_part(name):
    answered = []
    for function, _ in CONTRACTS:
        found = good(function)
        for argument in found[2] if found else ():
            f, given, _ = found
            if "labels" in f.plan.words[argument].says:
                continue  # any kind of label will do
            spoiled = engine(name).to(given[argument] + 1j)
            try:
                f(**given | {argument: spoiled})
            except (TypeError, ValueError) as error:
                if from_here(error):
                    continue
            answered.append(f"{function}({argument})")
    assert not answered


# what is fitted


def fits():
    "{name: function of points}: what is fitted to arrays of NumPy answers at points of every library"
    signs, phi, k = np.where(y > y.mean(), 1, -1), rn.fourier_features(G, 2, 20, 0), G
    X, Y, gp = PLANE, np.stack([y, y**2], axis=1), rn.gaussian_process(G, PLANE, y, 0.1)
    path, svc, law = rn.ridge_path(k, X, y), rn.svc(k, X, signs, 1.0), rn.empirical(X)
    machine = rn.svm_primal(phi, X, signs, 1.0)
    polynomial = (rn.Linear() * rn.Polynomial(2) + rn.Constant(1.0)).normalized()
    tensor = rn.Tensor(rn.Linear(), rn.Polynomial(2))
    return {
        "ridge": rn.ridge(k, X, y, 0.1),
        "columns": rn.ridge(k, X, Y, 0.1),
        "a lam each": rn.ridge(k, X, Y, [0.1] * 2),
        "path": path,
        "best": path.function,
        "offset": rn.ridge(k, X, y, 0.1, offset=True),
        "huber": rn.minimize_risk(k, X, y, "huber", 0.1),
        "sgd": rn.kernel_sgd(k, X, y, "squared"),
        "mean": rn.mean_embedding(k, X),
        "witness": rn.witness(k, X, X + 1),
        "sgd on features": rn.kernel_sgd(k, X, y, "squared", option=5, features=phi),
        "law": rn.mmd.GaussianEmbedding(np.zeros(2), np.eye(2), 1.0),
        "interpolant": rn.RKHS(k).interpolate(X[:4], y[:4]),
        "phi": phi,
        "phase": rn.fourier_features(k, 2, 20, 0, kind="phase"),
        "relu": relu_features(2, 10, 0),
        "any map": rn.random_feature_map(k * rn.Polynomial(2), 2, 40, 0),
        "w": FeatureFunction(phi, np.ones(20)),
        "monomials": rn.Polynomial(3).feature_map(2),
        "MonomialMap": rn.MonomialMap(2),
        "closure": polynomial.feature_map(2),
        "anova map": rn.Anova(rn.Linear(), 2).feature_map(2),
        "pairs map": tensor.feature_map(2),
        "nystrom": rn.nystrom_features(k, X, 4, 0),
        "mercer map": rn.mercer_expansion(k, law, 3).feature_map(),
        "gp": gp,
        "gp.var": gp.var,
        "gp.cov": gp.cov,
        "probability": rn.gp_classification(k, X, signs).probability,
        "svc": svc,
        "svc.predict": svc.predict,
        "svr": rn.svr(k, X, y, 1.0, 0.1),
        "one": rn.one_class(k, X, 0.5),
        "multi": rn.svc_multiclass(k, X, np.arange(9) % 3, 1.0).predict,
        "svm_primal": machine.decision,
        "kpca": rn.kernel_pca(k, X, 2).transform,
        "mercer": rn.mercer_expansion(k, law, 3).eigenfunctions,
        "power": rn.RKHS(k).power_function(X[:4]),
        "density": rn.kde(X, 0.5),
        "average": rn.nadaraya_watson(k, X, y),
        "sqdist": sqdist,
    }


LAZY = {*"ridge columns path best offset huber sgd mean witness phi phase relu w monomials closure".split(),
        *("sgd on features", "any map", "anova map", "pairs map", "nystrom", "mercer map", "interpolant",
          "gp", "kpca", "MonomialMap", "sqdist", "law")}  # fmt: skip


@each_engine
def test_a_fit_answers_in_the_library_of_the_points(name):
    e, found = engine(name), {}
    for what, f in fits().items():
        got = outcome(e, f, PLANE)
        found[what] = got if got == "right" or name != "dask" else got.partition(":")[0]
    wanted = {
        what: "right" if name != "dask" or found[what] == "right" else "refused" for what in found
    }
    assert found == wanted
    if name == "dask":
        assert {what for what in found if found[what] == "right"} >= LAZY - {"MonomialMap", "law"}


@each_eager
def test_what_was_fitted_abroad_stays_there(name):
    e, X = engine(name), PLANE
    there = e.to
    for f in (
        lambda X, t: rn.ridge(G, X, t, 0.1),
        lambda X, t: rn.kernel_sgd(G, X, t, "squared"),
        lambda X, t: rn.ridge(G, X, t, 0.1).compress(1e-3),
        lambda X, t: rn.mean_embedding(G, X),
        lambda X, t: rn.ridge(G, X, t, 0.1) + 2 * rn.ridge(G, X, t, 1.0) / 3,
        lambda X, t: -rn.witness(G, X, X + 1),
    ):
        home, abroad = f(X, y), f(there(X), there(y))
        assert e.owns(abroad.alpha) and e.owns(abroad.Z) and repr(abroad) == repr(home)
        np.testing.assert_allclose(e.back(abroad([[0.5, 1.0]])), home([[0.5, 1.0]]), rtol=1e-7)
        assert e.owns(abroad([[0.5, 1.0]]))  # also at points of a list
        assert abs(abroad.norm() - home.norm()) < 1e-8 and abs(abroad @ abroad - home @ home) < 1e-7
    phi = rn.fourier_features(G, 2, 20, 0)
    beta = rn.min_norm_fit(phi(there(X)), there(y))
    assert e.owns(beta)
    np.testing.assert_allclose(e.back(beta), rn.min_norm_fit(phi(X), y), rtol=1e-6, atol=1e-9)


@each_eager
def test_single_precision_stays_single(name):
    e, X = engine(name), PLANE.astype(np.float32)
    for call in (
        G,
        G.diag,
        rn.fourier_features(G, 2, 8, 0),
        rn.ridge(G, X, y.astype(np.float32), 0.1),
    ):
        assert call(X).dtype == np.float32 and str(call(e.to(X)).dtype).endswith("float32")
    assert (
        outcome(e, rn.Linear(), np.arange(6).reshape(3, 2)) == "right"
    )  # whole numbers become float64


@each_eager
def test_one_foreign_array_takes_the_others_along_and_two_libraries_do_not_mix(name):
    e = engine(name)
    assert e.owns(G(e.to(PLANE), PLANE)) and e.owns(G(PLANE, e.to(PLANE)))
    assert e.owns(rn.ridge(G, e.to(PLANE), y.tolist(), 0.1).alpha)
    other = engine("dask" if name == "strict" else "strict")
    with pytest.raises(TypeError, match="do not mix|Dask"):
        G(e.to(PLANE), other.to(PLANE))


@each_eager
def test_many_points_of_three_coordinates_and_near_ones(name):
    X = np.random.default_rng(0).normal(size=(70, 3))
    X[1], X[2] = X[0], X[0] + 1e-9
    for k in (G, rn.Matern(1.5), rn.Linear()):
        for call in (k, k.distance, lambda X, k=k: k(X, X[:30, ...])):
            assert outcome(engine(name), call, X) == "right"
    with rn.settings.using(block_mib=0.02):
        assert (
            outcome(engine(name), lambda X: (G(X), rn.ridge(G, X, X[:, 0], 0.1)(X)), X) == "right"
        )


@each_eager
@pytest.mark.parametrize("n, d", [(267, 3), (158, 70), (204, 70)])
def test_matrices_are_put_together_from_tiles_of_any_height(name, n, d, monkeypatch):
    "Of parts of unequal length, once: their strips had other heights, and did not fit each other"
    e, X = engine(name), np.random.default_rng(n).normal(size=(n, d))
    k, wanted = rn.Matern(1.5, d**0.5), rn.Matern(1.5, d**0.5)(X)
    monkeypatch.setattr(rn.settings, "block_mib", 0.03 if d > 3 else 0.01)
    K = e.back(k(e.to(X)))
    np.testing.assert_allclose(K, wanted, atol=1e-12)
    np.testing.assert_allclose(e.back(k(e.to(X), e.to(X[:40]))), wanted[:, :40], atol=1e-7)
    assert (K == K.T).all() and (np.diag(K) == 1).all()


@each_eager
def test_bad_points_are_refused_in_the_same_words(name):
    e = engine(name)
    for bad, words in (
        ([[np.nan]], "not finite"),
        ([[1e200]], "overflow"),
        ([[[1.0]]], "shape"),
        ([], "empty"),
    ):
        with pytest.raises(ValueError, match=words):
            rn.Polynomial(2)(e.to(np.array(bad)))
    with pytest.raises(ValueError, match="lives on"):
        rn.Brownian()(e.to(np.array([[-1.0]])))
    with pytest.raises(rn.NotPositiveDefinite, match="repeated rows"):
        rn.ridge(G, e.to(PLANE[[0, 0, 1]]), e.to(y[:3]), 1e-18)
    with pytest.raises(MemoryError, match="result_mib"), rn.settings.using(result_mib=1e-4):
        G(e.to(PLANE))


# devices


def stays_there(to, where):
    "Everything at once on one device, and the device of what comes out"
    X, t = to(PLANE), to(y)
    f, phi = rn.ridge(G, X, t, 0.1, offset=True, weights=to(y + 2)), rn.fourier_features(G, 2, 8, 0)
    sgd = rn.kernel_sgd(G, X, t, "squared")
    for k in (
        G,
        rn.Mahalanobis([1.0, 2.0]),
        rn.Matern(1.5, [1.0, 2.0]),
        rn.Laplace([1.0, 2.0]),
        rn.Cauchy([1.0, 2.0]),
        rn.DistanceInduced(),
        rn.Polynomial(2).normalized(),
        2 * rn.Matern(1.1),
    ):
        yield from (where(k(X)), where(k(X, X[:3, ...])), where(k.diag(X)), where(k.distance(X)))
    yield from (
        where(f(X)),
        where(f.function.alpha),
        where(sgd(X)),
        where(phi(X)),
        where(rn.mmd2_u(G, X, X + 1)),
    )
    yield from (
        where(rn.min_norm_fit(phi(X), t)),
        where(rn.svc(G, PLANE, y > 0, 1.0)(X)),
        where(rn.witness(G, X, X)(X)),
    )


def test_results_stay_on_their_device():
    import array_api_strict as xp

    there = xp.Device("device1")
    found = list(stays_there(lambda A: xp.asarray(np.array(A), device=there), lambda A: A.device))
    assert len(found) == 40 and set(found) == {there}


@needs_torch
def test_results_stay_on_the_gpu():
    import torch

    if not torch.cuda.is_available():
        pytest.skip(
            "no CUDA device here: the same lines ran on the second device of array_api_strict"
        )
    found = list(stays_there(lambda A: torch.asarray(np.array(A)).cuda(), lambda A: A.device.type))
    assert set(found) == {"cuda"}


# gradients


def slope(f, X, h=1e-6):
    "Central differences of f: array → number"
    D = np.zeros_like(X)
    for i in np.ndindex(*X.shape):
        step = np.zeros_like(X)
        step[i] = h
        D[i] = (f(X + step) - f(X - step)) / (2 * h)
    return D


def check_torch_gradient(f, X):
    "The gradient of Σ c f(X), c random, that torch finds, against differences"
    import torch

    x = torch.tensor(X, requires_grad=True)
    out = f(x)
    c = torch.tensor(np.random.default_rng(0).normal(size=tuple(out.shape)))
    (c * out).sum().backward()
    wanted = slope(lambda Z: float((c * f(torch.tensor(Z))).sum()), X)
    np.testing.assert_allclose(x.grad.numpy(), wanted, atol=2e-6 * max(1, np.abs(wanted).max()))


FLAT = (rn.Constant, rn.Delta, rn.Precomputed)
SMOOTH = [(k, X) for k, X in KERNELS if k.everywhere and not isinstance(k, FLAT)]


@needs_torch
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("k, X", SMOOTH, ids=[str(k)[:60] for k, _ in SMOOTH])
def test_gradients_of_gram_matrices_flow(k, X):
    import torch

    Y = torch.tensor(X[:4] + 0.03)
    for call in (k, lambda x: k(x, Y), lambda x: k.pairs(x[:4], Y), lambda x: k.distance(x, Y)):
        check_torch_gradient(call, X)
    again = torch.tensor(X[[0, 0, 1, 2]], requires_grad=True)  # two points coincide
    (k(again).sum() + k.distance(again).sum() + k.diag(again).sum()).backward()
    assert torch.isfinite(again.grad).all()


@needs_torch
def test_at_coinciding_points_smooth_kernels_have_their_gradient():
    import torch

    X = np.random.default_rng(1).normal(size=(40, 3))  # so many that the Gram matrix is one product
    X[1] = X[0]
    for Z in (X, X[:6], X[:6, :2]):
        for k in (
            G,
            rn.Matern(1.5),
            rn.Matern(2.5),
            rn.Cauchy(1.0),
            rn.Periodic(2.0),
            rn.Anova(G, 2),
            rn.ArcCosine(),
        ):
            check_torch_gradient(k, Z)
    at_0 = torch.zeros(2, 3, dtype=torch.float64, requires_grad=True)
    rn.ArcCosine()(at_0).sum().backward()
    assert (at_0.grad == 0).all()


@needs_torch
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("k", [G, rn.Matern(1.5), rn.Laplace(1.0)], ids=str)
def test_gradients_flow_through_fits_and_mmd(k):
    import torch

    T, X = torch.tensor, PLANE
    at, w = T(X[:3] + 0.01), T(np.linspace(0, 1, 9))
    check_torch_gradient(lambda x: rn.ridge(k, x, T(y), 0.1)(at), X)
    check_torch_gradient(lambda x: rn.ridge(k, x, T(y), 0.1, offset=True, weights=w)(at), X)
    check_torch_gradient(lambda v: rn.ridge(k, T(X), v, 0.1)(at), y)
    check_torch_gradient(rn.ridge(k, X, y, 0.1), X)  # a fit of NumPy, at tensors
    check_torch_gradient(lambda x: (rn.ridge(k, x, T(y), 0.1) * 2 / 3)(at), X)
    for mmd2 in (rn.mmd2_u, rn.mmd2_v):
        check_torch_gradient(lambda x, mmd2=mmd2: mmd2(k, x, T(X + 0.5)), X)
    check_torch_gradient(lambda x: rn.witness(k, x, T(X + 0.5))(at), X)
    check_torch_gradient(rn.fourier_features(G, 2, 8, 0), X)
    check_torch_gradient(rn.Polynomial(3).feature_map(2), X)


@needs_torch
def test_a_ridge_of_tensors_brings_no_matrix_home(monkeypatch):
    "A pivot above lam says that the matrix is positive definite; where it does not, NumPy is asked"
    import torch

    X, home, sent = torch.tensor(LINE), systems.numbers_of, []
    monkeypatch.setattr(systems, "numbers_of", lambda A: sent.append(A.ndim) or home(A))
    for weights, t in ((None, y), (np.arange(9.0), np.column_stack([y, -y]))):
        f = rn.ridge(G, X, torch.tensor(t), 0.1, weights=weights)
        here = rn.ridge(G, LINE, t, 0.1, weights=weights)
        np.testing.assert_allclose(f.alpha.numpy(), here.alpha, rtol=1e-9, atol=1e-12)
    assert not sent
    far = LINE * 20
    f = rn.ridge(G, torch.tensor(far), torch.tensor(y), 1e-17)  # below the rounding of the matrix
    assert 2 in sent
    np.testing.assert_allclose(f(far).numpy(), y, atol=1e-8)
    with pytest.raises(NotPositiveDefinite, match="Usual causes: repeated rows"):
        rn.ridge(G, X[[0, 0, 1]], torch.tensor(y[:3]), 1e-20)


@needs_torch
def test_the_race_for_a_card_runs_on_the_processor_too(tmp_path):
    arguments = [ROOT / "benchmarks" / "cards.py", "--quick", "--json", tmp_path / "cards.json"]
    environment = os.environ | dict(DEVICE="cpu", PYTHONPATH=os.pathsep.join(sys.path))
    subprocess.run([sys.executable, *arguments], env=environment, check=True)
    rows = json.loads((tmp_path / "cards.json").read_text(encoding="utf-8"))["rows"]
    assert len({row["race"] for row in rows}) == 4  # quick ones of a job are alike
    assert all(row["agrees"] for row in rows if row["role"] == "peer")


@needs_torch
@pytest.mark.parametrize("single", ["X", "y"])
def test_single_and_double_precision_meet_beside_an_offset(single):
    import torch

    kinds = {name: torch.float32 if name == single else torch.float64 for name in "Xy"}
    X, t = torch.tensor(PLANE, dtype=kinds["X"]), torch.tensor(y, dtype=kinds["y"])
    f = rn.ridge(G, X, t, 0.1, offset=True)
    here = rn.ridge(G, X.double().numpy(), t.double().numpy(), 0.1, offset=True)
    np.testing.assert_allclose(f(PLANE).numpy(), here(PLANE), atol=1e-5)


@needs_torch
def test_a_gradient_is_refused_where_it_would_end():
    import torch

    x, t = torch.tensor(PLANE, requires_grad=True), torch.tensor(y)
    for call in (
        lambda: rn.svc(G, x, y > 0, 1.0),
        lambda: rn.kernel_pca(G, x, 2),
        lambda: rn.Matern(1.1)(x),
        lambda: rn.ridge(G, PLANE, t, torch.tensor(0.1, requires_grad=True)),
        lambda: rn.Gaussian(torch.tensor(0.1, requires_grad=True)),
        lambda: rn.ridge(G, x, t, 0.1).norm(),
        lambda: rn.nystrom_features(G, PLANE, 4, 0)(x),
        lambda: rn.mmd_test(G, x, PLANE, 99),
    ):
        with pytest.raises(TypeError, match="gradient.*detach"):
            call()
    with torch.no_grad():  # no gradient is asked for here
        assert rn.Matern(1.1)(x).shape == (9, 9) and len(rn.kernel_pca(G, x, 2).eigenvalues) == 2


@needs_torch
def test_tensors_of_other_kinds():
    import torch

    with pytest.raises(TypeError, match="sparse tensor.*to_dense"):
        G(torch.eye(3).to_sparse())
    with pytest.raises(TypeError, match="complex"):
        G(torch.ones(2, 2, dtype=torch.complex128))
    assert (
        G(torch.ones(2, 2, dtype=torch.bfloat16)).dtype == torch.float64
    )  # as NumPy's half precision


@needs_jax
def test_jax_is_refused_while_it_traces():
    import jax

    for transformed in (jax.jit(G), jax.grad(lambda x: G(x).sum())):
        with pytest.raises(TypeError, match="no numbers while jax traces it"):
            transformed(jax.numpy.asarray(PLANE))


# Dask


def counted(seen, X):
    "X as a Dask array of three blocks, whose rows are counted when they are computed"
    import dask.array as da

    return da.from_array(X, chunks=(3, X.shape[1])).map_blocks(
        lambda b: seen.append(len(b)) or b, meta=X[:0]
    )


class Watched(rn.Gaussian):
    "A Gaussian that notes how many points it was given at a time"

    shapes = []

    def _points(self, X, name):
        Watched.shapes.append(X.shape)
        return super()._points(X, name)


def test_dask_arrays_are_computed_when_asked_for_and_in_blocks():
    seen, shapes, phi = [], Watched.shapes, rn.fourier_features(G, 2, 8, 0)
    shapes.clear()

    X, f = counted(seen, PLANE), rn.ridge(G, PLANE, np.stack([y, y**2], axis=1), 0.1)
    lazy = [Watched(0.7)(X), Watched(0.7)(X, PLANE[:2]), G.diag(X), G.pairs(X, X), f(X), phi(X)]
    lazy += [FeatureFunction(phi, np.ones(8))(X), FeatureFunction(phi, np.ones((8, 2)))(X)]
    assert not seen and not shapes and all(type(A).__module__.startswith("dask") for A in lazy)
    whole = [
        G(PLANE),
        G(PLANE, PLANE[:2]),
        G.diag(PLANE),
        G.pairs(PLANE, PLANE),
        f(PLANE),
        phi(PLANE),
    ]
    whole += [FeatureFunction(phi, np.ones(8))(PLANE), FeatureFunction(phi, np.ones((8, 2)))(PLANE)]
    for A, B in zip(lazy, whole, strict=True):
        assert A.shape == B.shape and A.dtype == B.dtype
        np.testing.assert_allclose(A.compute(scheduler="synchronous"), B, rtol=1e-12, atol=1e-14)
    assert max(rows for rows, _ in shapes) == 3  # never the whole


def test_dask_arrays_are_refused_where_all_numbers_are_needed_at_once():
    X = counted(seen := [], PLANE)
    for call in (
        lambda: rn.ridge(G, X, y, 0.1),
        lambda: rn.mmd2_u(G, X, PLANE),
        lambda: rn.svc(G, X, y > 0, 1.0),
    ):
        with pytest.raises(
            TypeError, match=r"Dask array, which has no numbers yet; pass X.compute\(\)"
        ):
            call()
    assert not seen


# what was left out


@pytest.mark.skipif(not MISSING, reason="every library is here")
def test_the_others_were_left_out():
    count = len(MISSING) * (len(KERNELS) + len(CONTRACTS))
    pytest.skip(
        f"about {count} engine tests left out, {' and '.join(MISSING)} missing: make engines runs them"
    )
