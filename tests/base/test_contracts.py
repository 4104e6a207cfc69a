"""An argument is one fact: its word validates it, documents it and fuzzes it, for every public function."""

import gc
import importlib
import inspect
import pickle
import re
import sys
import threading
import traceback
import warnings
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF
from test_imports import public_names

import rkhs_notes.base.contracts as contracts
from conftest import ROOT, refuse
from rkhs_notes.base import points, values, words
from rkhs_notes.base.arrays import as_points
from rkhs_notes.base.contracts import contract, fuzz
from rkhs_notes.base.errors import RKHSError
from rkhs_notes.base.points import ARRAYS, Points, marked, prepared, remarked, taken_of
from rkhs_notes.base.values import Value
from rkhs_notes.base.words import Positive, Rng, Targets, Weights, Word, number
from rkhs_notes.deeper.benign import relu_features
from rkhs_notes.deeper.conditioning import conditional_embedding
from rkhs_notes.deeper.structured import MarkovChain
from rkhs_notes.deeper.zoo import Laplace, Periodic
from rkhs_notes.engines.features.spectral import fourier_features
from rkhs_notes.engines.functions.measures import gauss_hermite
from rkhs_notes.engines.machines.boxes import BoxProblem, PairDistances
from rkhs_notes.engines.solving.ridge_fits import ridge_path
from rkhs_notes.kernels import Gaussian, Linear
from rkhs_notes.rkhs import RKHS

HOSTILE = (
    None,
    "text",
    -1,
    0,
    np.nan,
    [],
    {},
    object(),
    [[np.nan]],
    1e300,
    True,
    1j,
    ["a", "b"],
    int,
)


def public(kind):
    "[(module.name, object)] of the public names that are of this kind, defined in their module"
    found = []
    for name, module in public_names(ROOT / "rkhs_notes"):
        value = getattr(importlib.import_module(f"rkhs_notes.{module}"), name)
        if kind(value) and not isinstance(value, Word):
            found.append((f"{module}.{name}", value))
    return found


FUNCTIONS = public(inspect.isfunction)
CONTRACTS = [pair for pair in FUNCTIONS if hasattr(pair[1], "plan")]

# Public functions that take arguments without a contract, by module. The numbers may only shrink.
# `python tests/test_contracts.py` prints the names, `--tighten` lowers the numbers to what they are.
WITHOUT = {
    "cli": 3,  # copy_notebooks, notebook_titles, open_lab: argparse reads what they get
    "contracts": 1,  # contract, the decorator itself
    "errors": 2,  # require, expect_fail: below the contracts, which raise through them
    "feature_maps": 1,  # feature_rule, a table of rules that dispatches on the class of k
    "gram": 1,  # as_kernel is what the word AKernel calls
    "random_maps": 1,  # random_rule, a table of rules
    "resampling": 2,  # linear_forms, quadratic_forms: called once a block, on arrays of the package
    "settings": 3,  # size, using, quoted: below the contracts, which read the settings
    "spectral": 1,  # spectral_rule, a table of rules
}


def without_contract():
    "{module: [names]} of public functions that read arguments without words"
    found = {}
    for name, f in FUNCTIONS:
        if not hasattr(f, "plan") and inspect.signature(f).parameters:
            module, _, short = name.partition(".")
            found.setdefault(module, []).append(short)
    return found


def test_public_functions_have_contracts():
    problems = []
    for module, names in without_contract().items():
        if len(names) > WITHOUT.get(module, 0):
            allowed = WITHOUT.get(module, 0)
            problems.append(
                f"{module}: {len(names)} without a contract, not {allowed}: {' '.join(names)}"
            )
    refuse(problems)


def test_the_list_of_exceptions_shrinks():
    now = {module: len(names) for module, names in without_contract().items()}
    refuse(
        [
            f"{module}: tighten WITHOUT from {allowed} to {now.get(module, 0)}"
            for module, allowed in WITHOUT.items()
            if now.get(module, 0) < allowed
        ]
    )


# fuzz: every contract, from its signature alone

STAR = inspect.Parameter.VAR_POSITIONAL

SOME = np.random.default_rng(0).normal(size=(5, 2))


def embedding(rng):
    return conditional_embedding(Gaussian(0.8), Gaussian(1.0), SOME, rng.normal(size=(5, 2)), 0.1)


# {"module.function": {argument: rng ↦ value}} where a word cannot know what fits
DRAWS = {
    "feature_maps.feature_map": {"k": lambda rng: Linear() ** 2, "d": lambda rng: 3},
    "feature_maps.feature_dimension": {"k": lambda rng: Linear() ** 2, "d": lambda rng: 3},
    "grid_norms.grid_norm": {"k": lambda rng: Laplace(0.5), "spacing": lambda rng: 0.5},
    "grid_norms.check_fourier_norm": {
        "f": lambda rng: RKHS(Laplace(1.0)).function([0.0, 1.0], rng.normal(size=2)),
        "spectrum": lambda rng: lambda w: 2 / (1 + w[:, 0] ** 2),
        "spacing": lambda rng: 0.05,
    },
    "subspaces.check_inclusion": {
        "k1": lambda rng: Gaussian(1),
        "k2": lambda rng: Gaussian(1) + Linear(),
        "c": lambda rng: 1.0,
    },
    "pictures.low_resolution": {
        "H": lambda rng: rng.normal(size=(3, 16)),
        "factor": lambda rng: 2,
        "shape": lambda rng: (2, 8),
    },
    "machines.nu_svc": {"nu": lambda rng: 0.2},
    "structured.fisher_information": {
        "model": lambda rng: MarkovChain("ac", np.full((2, 2), 0.5)),
        "X": lambda rng: ["acca", "ca"],
    },
    "closed_spectra.periodic_spectrum": {"kernel": lambda rng: Periodic(1.0), "n": lambda rng: 3},
    "smo.solve_box": {
        "distances": lambda rng: PairDistances(Gaussian(1), SOME),
        "problem": lambda rng: BoxProblem(SOME[:, 0], -np.ones(5), np.ones(5)),
        "start": lambda rng: np.zeros(5),
    },
    "evidence.fit_hyperparameters": {"noise": lambda rng: 0.3},
    "evidence.gaussian_process": {"noise": lambda rng: rng.uniform(0.1, 1)},
    "evidence.log_marginal": {"noise": lambda rng: 0.3},
    "learned_noise.learn_noise": {"max_iter": lambda rng: 20},
    "processes.check_sample_space": {
        "k": lambda rng: Gaussian(0.3),
        "space": lambda rng: Laplace(0.3),
        "X": lambda rng: rng.permutation(np.linspace(0, 1, 32)),
    },
    "plots.plot_classes": {"X": lambda rng: rng.normal(size=(4, 2)), "y": lambda rng: [0, 1, 0, 1]},
    "plots.plot_decision": {
        "X": lambda rng: rng.normal(size=(4, 2)),
        "y": lambda rng: [0, 1, 0, 1],
    },
    "convex.certificate": {"loss": lambda rng: "squared"},
    "convex.minimize_convex": {"K": lambda rng: np.eye(4), "y": lambda rng: rng.normal(size=4)},
    "curves.check_min_norm": {
        "Phi": lambda rng: np.eye(3),
        "y": lambda rng: [1.0, 2.0, 3.0],
        "beta": lambda rng: [1.0, 2.0, 3.0],
        "lam": lambda rng: 0.0,
    },
    "curves.double_descent_curve": {
        "features": lambda rng: lambda D, seed: relu_features(2, D, seed),
        "X": lambda rng: rng.normal(size=(6, 2)),
        "y": lambda rng: rng.normal(size=6),
        "X_test": lambda rng: rng.normal(size=(4, 2)),
        "y_test": lambda rng: rng.normal(size=4),
        "draws": lambda rng: 1,
    },
    "double_descent.least_squares_risk": {"p": lambda rng: int(rng.integers(12, 20))},
    "bounds.check_unbiased": {
        "draw": lambda rng: lambda seed: fourier_features(Gaussian(0.8), 2, 20, seed),
        "k": lambda rng: Gaussian(0.8),
        "X": lambda rng: rng.normal(size=(3, 2)),
        "n_maps": lambda rng: 40,
    },
    "bins.binning_features": {"k": lambda rng: Laplace(rng.uniform(0.5, 2))},
    "bins.hat_mixture": {"f": lambda rng: lambda t: np.exp(-t)},
    "rates.learning_curve": {
        "fit": lambda rng: lambda X, y: lambda Z: np.full(len(Z), y.mean()),
        "sizes": lambda rng: [4, 8, 12, 16],
        "draws": lambda rng: 3,
        "floor": lambda rng: 0.0,
        "error": lambda rng: "squared",
    },
    "rates.selection_cost": {
        "choose": lambda rng: lambda X, y: (lambda Z: np.full(len(Z), y.mean()), 1.0),
        "folds": lambda rng: 2,
    },
    "streams.check_merge": {
        "phi": lambda rng: fourier_features(Gaussian(1.0), 2, 10, 0),
        "X": lambda rng: rng.normal(size=(6, 2)),
        "y": lambda rng: rng.normal(size=6),
        "lam": lambda rng: 0.1,
    },
    "streams.stream_ridge": {
        "phi": lambda rng: fourier_features(Gaussian(1.0), 2, 10, 0),
        "blocks": lambda rng: [(rng.normal(size=(6, 2)), rng.normal(size=6))],
    },
    "conditioning.check_conditional_embedding": {"E": embedding},
    "conditioning.kernel_sum_rule": {"E": embedding, "prior": lambda rng: rng.normal(size=(4, 2))},
    "conditioning.kernel_chain_rule": {
        "E": embedding,
        "prior": lambda rng: rng.normal(size=(4, 2)),
    },
    "conditioning.kernel_bayes": {
        "X": lambda rng: rng.normal(size=(5, 2)),
        "Y": lambda rng: rng.normal(size=(5, 2)),
        "prior": lambda rng: rng.normal(size=(4, 2)),
    },
    "conditioning.conditional_effect": {
        "treated": embedding,
        "control": embedding,
        "x": lambda rng: rng.normal(size=(3, 2)),
    },
    "conditioning.nearest_measure": {
        "f": lambda rng: RKHS(Gaussian(1.0)).function(rng.normal(size=(5, 2)), rng.uniform(size=5)),
        "Z": lambda rng: rng.normal(size=(6, 2)),
    },
    "kpca.center": {"K": lambda rng: np.eye(4)},
    "metrics.alignment": {
        "K": lambda rng: np.eye(4),
        "L": lambda rng: np.diag([1.0, 2.0, 3.0, 4.0]),
    },
    "kpca.center_cross": {"Kxz": lambda rng: rng.normal(size=(3, 4)), "K": lambda rng: np.eye(4)},
    "unmixing.kernel_ica": {"X": lambda rng: rng.laplace(size=(40, 2))},
    "stein.check_stein": {
        "k": lambda rng: Gaussian(1.5),
        "score": lambda rng: lambda x: -x,
        "law": lambda rng: gauss_hermite(0.0, 1.0, 60),
        "Z": lambda rng: rng.normal(size=(4, 1)),
        "u": lambda rng: None,
    },
    "stein.stein_discrepancy": {"score": lambda rng: np.cos},
    "stein.goodness_of_fit_test": {"score": lambda rng: np.cos},
    "stein.torch_score": {"log_density": lambda rng: np.sum},
    "normals.sobol_normals": {"d": lambda rng: int(rng.integers(1, 30))},
    "zoo.from_sklearn": {"kernel": lambda rng: RBF(1.0)},
    "spaces.kernel_from_space": {"gram": lambda rng: np.eye(2) + rng.uniform(0, 0.9)},
}


def drawn(f, rng, own, **known):
    "Arguments that the words of f draw; a Gaussian for a kernel; optional arguments now and then"
    sizes = {letter: int(rng.integers(3, 8)) for letter in "nmtdDrsNM"} | known
    letters = {
        letter.partition(" ")[0] for word in f.plan.words.values() for letter in word.letters
    }
    others = sorted(letter for letter in letters - sizes.keys() if not letter.isdigit())
    sizes |= {letter: int(rng.integers(3, 8)) for letter in others}
    given = {}
    for name, word in f.plan.words.items():
        parameter = f.plan.parameters[name]
        optional = parameter.default is not inspect.Parameter.empty
        if name in own:
            given[name] = own[name](rng)
        elif parameter.kind is STAR:
            given[name] = [Gaussian(0.8), Linear()] if word.role == "kernel" else []
        elif word.role == "kernel":
            given[name] = [Gaussian(0.8), Linear() + Gaussian(2.0), Gaussian(1.0) * 2][
                int(rng.integers(3))
            ]
        elif word.draw and not (optional and rng.random() < 0.5):
            given[name] = word.draw(rng, sizes)
    return given


def from_here(error):
    "Was it raised by this package, and not by a library that it called?"
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return "rkhs_notes" in frame.filename


def finite(value):
    "Are all numbers in this result finite? What holds none passes"
    if isinstance(value, (tuple, list)):
        return all(map(finite, value))
    if isinstance(value, (float, np.floating, np.ndarray)) and np.asarray(value).dtype.kind == "f":
        return bool(np.isfinite(value).all())
    return True


def call(f, arguments):
    "(result, None) or (None, error of a kind that we raise); any other error passes through"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            plain = {n: v for n, v in arguments.items() if f.plan.parameters[n].kind is not STAR}
            star = next((v for n, v in arguments.items() if f.plan.parameters[n].kind is STAR), ())
            return (f(*star, **plain) if not star else f(*plain.values(), *star)), None
        except (TypeError, ValueError, MemoryError, OSError, RKHSError) as error:
            return None, error


@pytest.mark.parametrize("name,f", CONTRACTS, ids=[name for name, _ in CONTRACTS])
def test_good_values_are_answered_and_bad_ones_refused_by_name(name, f, rounds):
    own, (rng, n), answered = DRAWS.get(name, {}), rounds, 0
    for _ in range(n):
        result, error = call(f, drawn(f, rng, own))
        assert error is None or from_here(error), f"{name} raises raw: {error!r}"
        answered += error is None
        assert finite(result), f"{name} answers {result!r}"
        if answered > n // 2:
            break
    required = [
        n for n, p in f.plan.parameters.items() if p.default is p.empty and p.kind is not STAR
    ]
    if all(
        n in own or (w := f.plan.words.get(n)) and (w.draw or w.role == "kernel") for n in required
    ):
        assert answered, f"{name}: no drawn call was answered; give DRAWS what fits: {error}"
    good = drawn(f, rng, own)
    for argument, word in f.plan.words.items():
        if f.plan.parameters[argument].kind is STAR:
            continue
        for bad in word.bad:
            if bad is None and f.plan.parameters[argument].default is None:
                continue
            _, error = call(f, good | {argument: bad})
            assert error is not None, f"{name} takes {argument} = {bad!r}"
            named = [n for n in good if n in str(error)]
            assert argument in str(error) or named, f"{name}, {argument} = {bad!r}: {error}"


@pytest.mark.parametrize("name,f", CONTRACTS, ids=[name for name, _ in CONTRACTS])
def test_hostile_values_end_in_our_words(name, f, rounds):
    rng, _ = rounds
    good = drawn(f, rng, DRAWS.get(name, {}))
    for argument in f.plan.words:
        if f.plan.parameters[argument].kind is STAR:
            continue
        for bad in HOSTILE:
            result, error = call(f, good | {argument: bad})
            assert error is None or from_here(error), (
                f"{name}({argument}={bad!r}) raises raw: {error!r}"
            )
            assert finite(result), f"{name}({argument}={bad!r}) answers {result!r}"


@pytest.mark.parametrize("name,f", CONTRACTS, ids=[name for name, _ in CONTRACTS])
def test_help_says_what_the_words_say(name, f):
    text = inspect.getdoc(f)
    for argument, word in f.plan.words.items():
        line = next(
            (o for o in text.splitlines() if o.lstrip("*").startswith(f"{argument} : ")), ""
        )
        assert word.says in line, f"{name}: help() lacks {argument} : {word.says}"


def test_the_number_of_rows_is_said_by_the_letter_that_is_checked():
    unlike = set()
    for name, f in CONTRACTS:
        for argument, word in f.plan.words.items():
            shape = re.search(r"array \((\w+)", word.says)
            if shape and word.letters and shape[1] != word.letters[0]:
                unlike.add(f"{name}, {argument}")
    assert unlike == {"benign.gaussian_power_bound, x"}  # m is that of its formula


# a wrong word is noticed by all three of its readers

Anything = Annotated[float, number()]


def test_a_wrong_word_is_noticed_by_validation_help_and_fuzz():
    def root(x, wrong):
        @contract
        def f(x: Anything if wrong else Positive):
            "√x"
            assert x > 0, "x"
            return x**0.5

        return f

    good, bad = root("x", False), root("x", True)
    with pytest.raises(ValueError, match="x = -1"):
        good(-1)
    with pytest.raises(AssertionError):
        bad(-1)
    assert "x : float > 0" in good.__doc__ and "> 0" not in bad.__doc__
    assert fuzz(good, 0, rounds=5) > 0
    with pytest.raises(AssertionError):
        fuzz(bad, 0, rounds=20)


def test_fuzz_notices_a_word_that_takes_everything():
    careless = Annotated[
        float, Word("float", lambda v, name, call: v, (), lambda rng, sizes: 1.0, ("text",))
    ]

    @contract
    def f(x: careless):
        "x"
        return x

    with pytest.raises(AssertionError, match="took x = 'text'"):
        fuzz(f, 0)


def test_fuzz_wants_the_name_in_a_refusal():
    def refuse(value, name, call):
        raise ValueError("no") if value == "text" else ValueError("other")

    silent = Annotated[float, Word("float", lambda v, *_: v if v == 1.0 else refuse(v, *_), (),
                                   lambda rng, sizes: 1.0, ("text",))]  # fmt: skip

    @contract
    def f(xyz: silent):
        "x"
        return xyz

    with pytest.raises(AssertionError, match="xyz='text'. says only: no"):
        fuzz(f, 0)


@pytest.mark.parametrize("wrong", [True, np.False_])
def test_a_lone_truth_is_no_array(wrong):
    with pytest.raises(TypeError, match="lam = (True|False): pass numbers"):
        words.array("L?").read(wrong, "lam")
    with pytest.raises(TypeError, match="lams = (True|False): pass numbers"):
        ridge_path(Gaussian(1.0), [0.0, 1.0], [0.0, 1.0], wrong)


@pytest.mark.second_route("Word", "ends of ranges, listed")
def test_ends_of_a_range_are_among_what_is_refused():
    for word, ends in (
        (number(above=0, below=1), {0.0, 1.0}),
        (number(at_least=0, below=1), {1.0}),
    ):
        assert ends == {
            x for x in word.bad if isinstance(x, (int, float)) and x in (0, 1) and x is not True
        }
    for word, most in ((words.count(2, 5), 5), (words.count(), 10**9)):
        assert word.read(most, "n", None) == most
        for value in (most + 1, np.int64(most + 1), 1 if most == 5 else 0):
            with pytest.raises(ValueError, match="n = "):
                word.read(value, "n", None)


@pytest.mark.parametrize("least, most", [(0, 2), (2, 5), (7, 7), (1, None)])
def test_counts_are_drawn_between_both_ends(least, most):
    word, rng = words.count(least, most), np.random.default_rng(0)
    drawn = {word.draw(rng, {}) for _ in range(200)}
    assert all(word.read(n, "n", None) == n for n in drawn)
    if most:
        assert drawn == set(range(least, most + 1))


def test_the_label_that_sorts_last_is_positive_and_so_is_0():
    y = words._labels(["b", "a", "b"], "y", None)
    assert y.signs.tolist() == [1.0, -1.0, 1.0] == words.as_signs(["b", "a", "b"], "y").tolist()

    class Line(values.Predicting):
        def __call__(self, X):
            return np.asarray(X)

    assert Line().of_labels(y.names).predict([-1.0, 0.0, 2.0]).tolist() == ["a", "b", "b"]
    assert Line().predict([0.5]).tolist() == [0.5]


@pytest.mark.parametrize("value", [Gaussian(1.0), RKHS(Gaussian()), print, "ridge", 3.0])
def test_fuzz_names_what_it_cannot_call(value):
    "A value has the plan of its class, whose words are about its fields"
    kind = type(value).__name__
    with pytest.raises(TypeError, match=f"^f is of type {kind}, not a function with @contract"):
        fuzz(value, 0)
    assert fuzz(Gaussian, 0) > 0


# marks


def trusted(X, facts):
    "Is X taken as it is, unread?"
    return marked(lambda X, name: X.copy(), X, facts=facts) is X


@contract
def seen(X: Points):
    "X as it arrives"
    return X, trusted(X, ARRAYS)


def test_a_mark_sits_on_a_view_and_ends_with_the_call():
    X = np.random.default_rng(0).normal(size=(4, 2))
    inside, was_trusted = seen(X)
    assert (
        was_trusted
        and inside is not X
        and np.shares_memory(inside, X)
        and not inside.flags.writeable
    )
    assert not trusted(inside, ARRAYS) and not trusted(X, ARRAYS) and X.flags.writeable
    X[0] = np.nan
    with pytest.raises(ValueError, match="not finite"):
        seen(X)


def test_a_mark_ends_also_when_the_call_fails():
    kept = []

    @contract
    def fails(X: Points):
        "fails"
        kept.append(X)
        raise ValueError("in the body")

    with pytest.raises(ValueError, match="in the body"):
        fails([[1.0]])
    assert not trusted(kept[0], ARRAYS)


def test_points_of_a_kernel_keep_their_mark():
    k, data = Gaussian(1), np.zeros((3, 1))
    X = k.points(data)
    assert k.points(X) is X and not X.flags.writeable and not np.shares_memory(X, data)
    inside, _ = seen(X)
    assert inside is X and trusted(X, ARRAYS)
    assert not trusted(X.copy(), ARRAYS) and not trusted(X[:2], ARRAYS)


def test_a_mark_of_one_domain_is_no_mark_of_another():
    from rkhs_notes.kernels import Brownian

    X = Gaussian(1).points([-1.0, 2.0])
    with pytest.raises(ValueError, match="lives on"):
        Brownian()(X)
    X = Brownian().points([1.0, 2.0])
    assert Brownian()._marked(X) is X and Gaussian(1)._marked(X) is X
    with pytest.raises(ValueError, match="lives on"):
        Brownian(start=1.5)(X)


def test_parts_and_copies_carry_the_mark():
    X = marked(as_points, np.arange(6.0).reshape(3, 2))
    assert trusted(taken_of(X, slice(1, 3)), ARRAYS) and taken_of(X, slice(0, 3)) is X
    assert trusted(remarked(X.copy(), X), ARRAYS)
    calls = []
    image = prepared(X, "square", lambda: calls.append(1) or X**2)
    assert prepared(X, "square", lambda: 1 / 0) is image and len(calls) == 1
    np.testing.assert_array_equal(
        prepared(taken_of(X, [2, 0]), "square", lambda: 1 / 0), image[[2, 0]]
    )
    plain = np.ones((2, 2))
    assert prepared(plain, "square", lambda: 1) == 1 and prepared(plain, "square", lambda: 2) == 2


def test_a_mark_vouches_for_all_that_is_asked_and_for_what_both_parts_have():
    few, many = frozenset(["finite"]), frozenset(["finite", "positive"])
    X, Y = (
        marked(as_points, np.ones((3, 1)), facts=many),
        marked(as_points, np.zeros((2, 1)), facts=few),
    )
    assert trusted(X, many) and trusted(X, few) and trusted(Y, few) and not trusted(Y, many)
    both = points.joined_of(X, Y)
    assert both.shape == (5, 1) and trusted(both, few) and not trusted(both, many)
    assert trusted(points.joined_of(X, X), many)


def test_columns_of_other_names_are_put_in_the_order_of_the_owner():
    "A turn of three columns, which is not its own inverse"
    X, Y = (marked(as_points, np.arange(3.0)[None, :] + start) for start in (0, 10))
    points.with_names(X, "abc"), points.with_names(Y, "cab")
    assert points.ordered(Y, X).tolist() == [[11.0, 12.0, 10.0]]
    assert points.ordered(X, X) is X


def test_marks_leave_nothing_behind():
    gc.collect()
    before = len(points._marks)
    for _ in range(50):
        seen(np.ones((2, 2)))
        Gaussian(1).points([1.0, 2.0])
    gc.collect()
    assert len(points._marks) <= before


def test_marks_in_threads():
    errors = []

    def work(seed):
        try:
            X = np.random.default_rng(seed).normal(size=(20, 2))
            for _ in range(200):
                assert seen(X)[1]
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    [t.start() for t in threads], [t.join() for t in threads]
    assert not errors


# what editors, pickles and Python ask of a function


@contract
def example(
    k: Annotated[Any, Word("Kernel", lambda v, n, c: v, role="kernel")],
    X: Points,
    y: Targets,
    lam: Positive,
    *,
    weights: Weights = None,
    rng: Rng = None,
):
    """Σ y over lam

    lam : a price

    Returns
    -------
    float
    """
    return y.sum() / lam


def test_results_are_described_where_they_are_annotated():
    @contracts.contract
    def share(y: Targets) -> float:
        """Of what is positive

        returns : the share,
            at most 1
        """

    @contracts.contract
    def both(y: Targets):
        """Twice

        y : numbers
        returns : array (n, 2)

        Raises
        ------
        ValueError
        """

    @contracts.contract
    def solved(y: Targets) -> float:
        """The last one

        y : of any length
        raises TypeError, ValueError : bad y
        raises ConvergenceFailure : none is left,
            as where y is empty
        references : Gauss (1809)

        Examples
        --------
        >>> solved([1.0])
        lam
        ---
        1.0
        """

    assert share.__doc__.endswith("\n\nReturns\n-------\nfloat    the share,\n    at most 1")
    assert "numbers\n\nReturns\n-------\narray (n, 2)\n\nRaises\n------\nValueError" in both.__doc__
    assert solved.__doc__.partition("Returns")[2].splitlines() == [
        *("", "-------", "float", "", "Raises", "------", "TypeError, ValueError    bad y"),
        *("ConvergenceFailure       none is left,", "    as where y is empty", ""),
        *(
            "References",
            "----------",
            "Gauss (1809)",
            "",
            "Examples",
            "--------",
            ">>> solved([1.0])",
            "lam",
            "---",
            "1.0",
        ),
    ]
    assert "Returns" not in seen.__doc__ and inspect.signature(share).return_annotation is float


def test_a_contract_is_a_function_like_others():
    assert (
        pickle.loads(pickle.dumps(example)) is example and example.__wrapped__.__name__ == "example"
    )
    assert str(inspect.signature(example)) == "(k, X, y, lam, *, weights=None, rng=None)"
    assert "lam : float > 0    a price" in example.__doc__ and example.__doc__.index("Returns") > 0
    assert example(Gaussian(1), [1, 2], [3, 4], lam=7) == 1
    assert example(k=Gaussian(1), X=[1, 2], y=[3, 4], lam=7) == 1


@pytest.mark.parametrize(
    "arguments,words",
    [
        (dict(y=[1, 2, 3]), "y has shape (3,), but X has 2 points"),
        (dict(weights=[1]), "weights has shape (1,), but X has 2 points"),
        (dict(weights=[1, -1]), "weights"),
        (dict(lam=0), "lam = 0"),
        (dict(lam=True), "lam = True"),
        (dict(rng="a"), "rng"),
        (dict(lamda=1), "Did you mean lam?"),
        (dict(y=np.ones((2, 2, 2))), "(2,) or (2, t)"),
    ],
)
def test_refusals_name_what_came_and_what_to_pass(arguments, words):
    with pytest.raises((TypeError, ValueError)) as caught:
        example(**dict(k=Gaussian(1), X=[1, 2], y=[3, 4], lam=1) | arguments)
    assert words in str(caught.value)


@pytest.mark.second_route("contract", "shapes, listed")
@pytest.mark.parametrize(
    "letters, good, bad",
    [
        (("n", "1?"), [(3,), (3, 1)], [(3, 2), (), (3, 1, 1)]),
        (("n", "1"), [(3, 1)], [(3,), (3, 2), (1, 3)]),
        (("n", "n"), [(2, 2)], [(2, 3), (2,)]),
        (("2", "d?"), [(2,), (2, 5)], [(3,), (3, 5)]),
    ],
)
def test_an_axis_that_is_a_number_has_that_length(letters, good, bad):
    @contracts.contract
    def total(A: Annotated[Any, words.array(*letters)]):
        return A.sum()

    for shape in good:
        assert total(np.ones(shape)) == np.prod(shape)
    for shape in bad:
        with pytest.raises(ValueError, match="A has shape"):
            total(np.ones(shape))


def test_a_missing_argument_is_named():
    with pytest.raises(
        TypeError, match="missing a required argument: 'lam'. It takes k, X, y, lam"
    ):
        example(Gaussian(1), [1, 2], [3, 4])
    with pytest.raises(TypeError, match="too many positional"):
        example(Gaussian(1), [1, 2], [3, 4], 1, None, None)
    with pytest.raises(TypeError, match="multiple values for argument 'k'"):
        example(Gaussian(1), [1, 2], [3, 4], 1, k=2)


def test_each_kernel_has_its_points():
    PointsX = Annotated[Any, points.points("n", of="kx")]
    PointsY = Annotated[Any, points.points("n", of="ky")]
    Kernel = Annotated[Any, Word("Kernel", lambda v, n, c: v, role="kernel")]
    from rkhs_notes.kernels import Brownian

    @contract
    def pair(kx: Kernel, ky: Kernel, X: PointsX, Y: PointsY):
        "n"
        return len(X)

    assert (
        pair(Gaussian(1), Brownian(), [[-1.0, 2.0]], [3.0]) == 1
    )  # two columns and one: two spaces
    with pytest.raises(ValueError, match="lives on"):
        pair(Gaussian(1), Brownian(), [-1.0], [-1.0])
    with pytest.raises(ValueError, match="Y has shape"):
        pair(Gaussian(1), Brownian(), [1.0, 2.0], [1.0])


# values


class Ball(Value):
    """A ball

    centre : where
    """

    centre: Points
    radius: Positive = 1.0


class Coloured(Ball):
    "A coloured ball"

    colour: str = "red"


def test_a_value_reads_its_fields_and_never_changes():
    data = np.zeros((1, 2))
    ball = Coloured(data, colour="blue")
    data[0] = 7
    assert (ball.centre == 0).all() and ball.radius == 1.0 and "radius : float > 0" in Ball.__doc__
    with pytest.raises(AttributeError, match="never changes"):
        ball.radius = 2.0
    with pytest.raises(AttributeError, match="never changes"):
        del ball.radius
    with pytest.raises(ValueError, match="radius"):
        Coloured(data, -1)
    again = pickle.loads(pickle.dumps(ball))
    assert again.colour == "blue" and not again.centre.flags.writeable


def table(lower=None):
    "WITHOUT as it is, or with each number at most what `lower` says"
    lines = ["WITHOUT = {"]
    for module, names in sorted(without_contract().items()):
        count = len(names) if lower is None else min(len(names), lower.get(module, 0))
        lines.append(f'    "{module}": {count},')
    return "\n".join([*lines, "}"])


if __name__ == "__main__":
    if "--tighten" in sys.argv:
        text = Path(__file__).read_text(encoding="utf-8")
        old = re.search(r"(?ms)^WITHOUT = \{.*?\}$", text)[0]
        Path(__file__).write_text(text.replace(old, table(WITHOUT)), encoding="utf-8")
    else:
        for module, names in sorted(without_contract().items()):
            print(f"{module}: {len(names)}: {' '.join(names)}")


# what the door does for every body


class Held(values.Value):
    "An array that an engine made"

    x: words.Vector


@contract
def grown(x: words.Vector) -> words.Vector:
    return x * 1e300


@contract
def made(x: words.Vector):
    return Held._of(x * 1e300)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("f, what", [(grown, r"grown\(x\)"), (made, r"made\(x\)\.x")])
def test_a_door_is_silent_and_names_the_call_that_left_the_range(f, what):
    with pytest.raises(ValueError, match=f"^{what}.* overflows float64; rescale x"):
        f([1e300, 1.0])
    assert getattr(f([2.0]), "x", f([2.0])).tolist() == [2e300]


def test_what_an_engine_gives_to_a_value_is_the_values_own():
    x = np.ones(3)
    value, again = Held._of(x), Held(x)
    x[...] = 0.0
    for held in (value.x, again.x):
        assert held.tolist() == [1, 1, 1] and not held.flags.writeable
    assert value.x is not x and Held._of(value.x).x is value.x  # nobody can write into that one


def test_an_annotation_that_is_text_holds_no_word():
    def f(x: "Positive"):  # noqa: F821
        return x

    with pytest.raises(TypeError, match="annotated by the text 'Positive', which holds no word"):
        contract(f)


@contract
def stacked(X: words.Matrix, Y: Annotated[Any, words.array("m", "d")]):
    return np.vstack([X, Y])


def test_the_second_axis_of_two_arguments_must_agree_too():
    assert stacked(np.ones((2, 3)), np.ones((1, 3))).shape == (3, 3)
    with pytest.raises(ValueError, match="X has 3 columns, Y has 2; both must hold points of one"):
        stacked(np.ones((2, 3)), np.ones((1, 2)))


def test_a_mark_for_any_function_of_objects_says_nothing_of_numbers():
    lengths = Gaussian(1.0).on(lambda words: np.array([[len(w)] for w in words], float))
    words = lengths.points(["a", "bb", "ccc"])
    assert (lengths(words) == Gaussian(1.0)([1.0, 2.0, 3.0])).all()
    with pytest.raises(TypeError, match="X holds text"):
        Gaussian(1.0)(words)
