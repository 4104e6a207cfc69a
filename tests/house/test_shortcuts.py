"""Every shortcut of every kernel gives what its formula gives, and dies with the formula: kernels are found
by looking, so that a new one is tried too, and changed in every method that their values are made of."""

import inspect
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from test_engines import KERNELS

import rkhs_notes as rn
from rkhs_notes import bins, feature_maps, random_maps, spectral
from rkhs_notes.base.errors import IndefiniteKernel, NoFiniteFeatureMap, NoSpectralMeasure
from rkhs_notes.base.points import taken_of
from rkhs_notes.deeper.stein import SteinKernel, jet_of
from rkhs_notes.engines.kernels.gram import Evaluated, one_tile, rule_of
from rkhs_notes.kernels import Indefinite, Kernel
from structured_cases import CASES

rng = np.random.default_rng(3)
PLANE = rng.uniform(0.2, 1.5, (7, 2))
STEIN = SteinKernel(rn.Gaussian(1.0) + rn.RationalQuadratic(2.0), lambda X: -X)
TRIED = [*KERNELS, *((k, draw(rng, 7)) for k, draw in CASES.values()), (STEIN, PLANE)]
every_kernel = pytest.mark.parametrize("k, X", TRIED, ids=[str(k)[:60] for k, _ in TRIED])

# what a kernel may write beside its formula and is no shortcut to it: costs, domains, names, windows
OTHER = {"_gram", "_width", "_blocks", "_nanoseconds", "_window", "_kin"}
OTHER |= {"_points", "_merged", "_named", "_facts", "_marked", "_held", "_sparse_rows"}
SHORTCUTS = {n for n in vars(Evaluated) if n[0] == "_" != n[1]} - {*OTHER, "_own_init"}
SHORTCUTS |= {"is_shift_invariant", "_tex", "_tex_formula", "_tex_precedence", "_tex_inner"}
TABLES = [
    feature_maps.feature_rule,
    spectral.spectral_rule,
    spectral.closure,
    bins.partition_rule,
    random_maps.random_rule,
]


def below(cls):
    return {cls, *(c for sub in cls.__subclasses__() for c in below(sub))}


def parts(k):
    return {type(k), *(c for _, part in k._parts() for c in parts(part))}


def shipped():
    "The classes of kernels that the package has: those of examples in docstrings are none of its modules"
    return {
        c
        for c in below(Kernel)
        if c._gram is not Kernel._gram and getattr(sys.modules[c.__module__], c.__name__, None) is c
        if c.__module__.startswith("rkhs_notes.")
    }


def test_no_kernel_of_the_book_was_left_out():
    assert not shipped() - {c for k, _ in TRIED for c in parts(k)}


def by_formula(k, A, B):
    "k of every pair, one at a time, by the formula alone"
    one = [slice(i, i + 1) for i in range(max(len(A), len(B)))]
    K = [
        [k._gram(taken_of(A, i), taken_of(B, j), np)[0, 0] for j in one[: len(B)]]
        for i in one[: len(A)]
    ]
    return np.array(K, dtype=float)


def near(a, b, tol=1e-9):
    assert np.shape(a) == np.shape(b) and np.abs(a - b).max() <= tol * (1e-300 + np.abs(b).max()), (
        a,
        b,
    )


def matrices(k, X):
    "Tiles, diagonal, pairs and distance against the formula"
    A, B = k.points(X), k.points(X[:4])
    K, L = by_formula(k, A, A), by_formula(k, A, B)
    near(k(A), K), near(k(A, B), L)
    with rn.settings.using(block_mib=0.001):
        near(k(A), K), near(k(A, B), L)
    near(k.diag(A), K.diagonal()), near(k.pairs(A, A), K.diagonal())
    near(k.pairs(B, taken_of(A, slice(3, 7))), K[:4, 3:7].diagonal())
    own = K.diagonal()
    squares = own[:, None] + own[:4] - 2 * L
    near(
        k.distance(A, B) ** 2, np.maximum(squares, 0), 1e-7
    )  # of what is no kernel some are negative
    return K


def promises(k, X, K):
    "What a class says of its values"
    if k._unit_length:
        near(K.diagonal(), np.ones(len(K)))
    if k._whole:
        assert (K % 1 == 0).all()
    if not isinstance(X, np.ndarray):
        return
    if k.is_shift_invariant:
        near(k(X + 0.25), K)
    if k._sparse:
        near(k(sp.csr_array(X)), K)


def refused(call, *errors):
    "The result, or None where it is refused by name"
    try:
        return call()
    except errors:
        return None


def algebra(k, X, K):
    "What simplify merges"
    G = rn.Gaussian(0.8) if isinstance(X, np.ndarray) else rn.Constant(2.0)
    other = G(X) if isinstance(X, np.ndarray) else 2.0
    near((k * k).simplify()(X), K * K), near((k**3).simplify()(X), K**3, 1e-8)
    near((k + 2 * k).simplify()(X), 3 * K), near(k.simplify()(X), K)
    (
        near((k * G).simplify()(X), K * other),
        near((k * rn.Delta()).simplify()(X), np.diag(K.diagonal())),
    )
    if (K.diagonal() > 0).all():
        cosines = K / np.sqrt(np.outer(K.diagonal(), K.diagonal()))
        near(k.normalized().simplify()(X), cosines), near(k.normalized()(X), cosines)


def gradients(k, X):
    if not isinstance(X, np.ndarray) or isinstance(k, (rn.Precomputed, rn.Bilinear)):
        return  # matrices: test_gradients_in_matrices
    if any(isinstance(v, (float, np.ndarray)) for v in k.get_params().values()):
        refused(lambda: rn.check_gradient(k, X), NotImplementedError)


def linear_maps(k, X, K):
    "Features: exact ones, Fourier ones, grids"
    d = X.shape[1] if isinstance(X, np.ndarray) else k.points(X)
    phi = refused(lambda: k.feature_map(d), NoFiniteFeatureMap)
    if phi is not None:
        F = phi(X)
        F = F.toarray() if sp.issparse(F) else F
        near(F @ F.T, K, 1e-8)
        assert np.linalg.matrix_rank(K, tol=1e-9 * np.abs(K).max()) <= phi.dim
    if not isinstance(X, np.ndarray):
        return
    law = refused(lambda: k.spectral(d), NoSpectralMeasure, NoFiniteFeatureMap, ValueError)
    if law is not None:
        W = law.sample(20_000, 1)
        waves = law.mass * np.mean([np.cos((X - x) @ np.asarray(W).T) for x in X], axis=2)
        near(waves, K, 0.06)
    for make in (
        lambda: rn.binning_features(k, X, 2000, 1),
        lambda: rn.random_feature_map(k, d, 2000, 1),
    ):
        phi = refused(make, NoFiniteFeatureMap, NoSpectralMeasure, ValueError, TypeError)
        if phi is not None:
            F = phi(X)
            F = F.toarray() if sp.issparse(F) else F
            near(F @ F.T, K, 0.2)


def slopes(k, X, K):
    "Derivatives for Stein's method against central differences"
    if not isinstance(X, np.ndarray):
        return
    jet = refused(lambda: jet_of(k), TypeError, ValueError)
    if jet is None:
        return
    found = refused(lambda: jet(X, X), TypeError, ValueError)
    if found is None:
        return
    near(found.value, K, 1e-8)
    for i in range(X.shape[1]):
        h = 1e-6 * np.eye(X.shape[1])[i]
        central = (k(X + h, X) - k(X - h, X)) / 2e-6
        off = ~np.eye(len(X), dtype=bool)
        near(np.where(off, found.x[i], 0), np.where(off, central, 0), 1e-5)


def keeps_its_formula(k, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        K = matrices(k, X)
        promises(k, X, K)
        if isinstance(k, Indefinite):
            return
        algebra(k, X, K), gradients(k, X), linear_maps(k, X, K), slopes(k, X, K)


@every_kernel
def test_every_shortcut_of_a_kernel_is_its_formula(k, X):
    keeps_its_formula(k, X)


def methods(cls):
    "Names of all that the values of a kernel are made of: what its classes write, and Kernel does not know"
    doors = next(c for c in cls.__mro__ if issubclass(c, Kernel) and c._gram is Kernel._gram)
    names = {n for c in cls.__mro__ for n in vars(c)} - {*dir(doors), *cls.__dataclass_fields__}
    names |= {"_gram"} | ({"_tile"} if cls._gram is one_tile else set())
    return sorted(n for n in names if n[:2] != "__" and callable(inspect.getattr_static(cls, n)))


def halved(value):
    "The same, and half of every float in it"
    if isinstance(value, np.ndarray) or sp.issparse(value):
        return value * 0.5
    return value * 0.5 if isinstance(value, float) else value


def changed(k, name):
    "k, of a subclass in which one method gives half of what it gave"
    old = inspect.getattr_static(type(k), name)
    raw = getattr(old, "__func__", old)
    static = isinstance(old, staticmethod)

    def method(*given):
        value = raw(*given)
        if name == "_tile":
            return lambda rows, columns: halved(value(rows, columns))
        return halved(value)

    other = type("Other", (type(k),), {name: staticmethod(method) if static else method})
    found = object.__new__(other)
    vars(found).update(vars(k))
    return found


ONE_EACH = {type(k): (k, X) for k, X in reversed(TRIED)}.values()
MUTANTS = [
    pytest.param(k, X, name, id=f"{type(k).__name__}.{name}")
    for k, X in ONE_EACH
    for name in methods(type(k))
]


@pytest.mark.parametrize("k, X, name", MUTANTS)
def test_a_changed_formula_keeps_no_shortcut(k, X, name):
    other = changed(k, name)
    cls, kept = (
        type(other),
        SHORTCUTS - {name} - ({"_tile"} if type(other)._gram is one_tile else set()),
    )
    inherited = {
        n
        for n in kept
        if inspect.getattr_static(cls, n) is not inspect.getattr_static(Evaluated, n)
    }
    assert not inherited
    assert other._reduced() is other
    assert all(rule_of(rules, other) is rules.registry[object] for rules in TABLES)
    assert rn.Kernel._repr_latex_(other).startswith(r"$k(x, y) = \mathrm{Other}")
    keeps_its_formula(other, X)


def test_a_witness_of_another_formula_is_none():
    class Grown(rn.Sigmoid):
        def of_affine(self, t, xp):
            return xp.exp(t)

    with pytest.raises(IndefiniteKernel, match="< 0"):
        rn.Linear() + rn.Sigmoid()
    with pytest.raises(TypeError, match=r"cᵀKc = 23.3: write witness\(\)"):
        rn.Linear() + Grown(1.0, 0.0)


def test_points_read_anew_trust_no_mark_of_others():
    class Lower(rn.Spectrum):
        def _points(self, X, name):
            return [text.lower() for text in super()._points(X, name)]

    class Positive(rn.Gaussian):
        def _points(self, X, name):
            X = super()._points(X, name)
            if (X < 0).any():
                raise ValueError(f"{name} < 0")
            return X

    loud = rn.Spectrum(2).points(["BANANA", "Ananas"])
    assert (Lower(2)(loud) == rn.Spectrum(2)(["banana", "ananas"])).all()
    assert Positive(1.0).spectral(2).gaussian and Positive(2.0)._unit_length
    with pytest.raises(ValueError, match="X < 0"):
        Positive(1.0)(rn.Gaussian(1.0).points([[-1.0]]))
    with pytest.raises(TypeError, match="sparse"):
        Positive(1.0)(sp.csr_array([[-1.0]]))


def test_a_kernel_of_ones_own_starts_a_family():
    "Its diagonal holds for who fills in what it leaves open, and dies with what it writes"

    class Cosine(Kernel):
        def _gram(self, X, Y, xp):
            return self.of_angle(X @ Y.T, xp)

        def _diag(self, X, xp):
            return xp.ones(X.shape[0])

    class Member(Cosine):
        def of_angle(self, t, xp):
            return xp.cos(t - t)

    class Changed(Member):
        def of_angle(self, t, xp):
            return 2 * super().of_angle(t, xp)

    class Renamed(Member):
        times: float = 1.0  # a field that the formula does not know

        def __repr__(self):
            return "Renamed"

        def plot(self):
            return None

    X = np.ones((3, 1))
    assert [k.diag(X).tolist() for k in (Member(), Changed(), Renamed())] == [
        [1] * 3,
        [2] * 3,
        [1] * 3,
    ]
    assert Member._diag is Renamed._diag is Cosine._diag and Changed._kin == (Changed, object)
