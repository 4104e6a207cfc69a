"""One alphabet for the whole book: an argument is what its name says, in every signature."""

import inspect
import re

import pytest
from test_contracts import public

from conftest import refuse
from rkhs_notes.base.contracts import Plan, contract
from rkhs_notes.base.points import Points
from rkhs_notes.base.words import Count, Flag, Positive, Targets, Vector
from rkhs_notes.engines.kernels.gram import AKernel

# {argument: what help() says behind it, as a regular expression}
ALPHABET = {
    "X": r"array \([nm], [d2]\)|array \(n,\) or \(n, [d1]\)",  # data
    "Y": r"array \([nm], d\)",
    "Z": r"array \(m, d\)",  # centres
    "y": r"array \(n,\)($| or \(n, t\)|, (two different )?labels|, or (two )?labels| of −1 and \+1)",
    "k": r".*\bKernel\b",
    "kx": r"Kernel",
    "ky": r"Kernel",
    "K": r"array \((\w), \1\)",  # Gram matrix
    "Kxz": r"array \(m, n\)",
    "Phi": r"array( or sparse matrix)? \(n, D\)",  # rows of features
    "phi": r"FeatureMap|function",
    "f": r".*([Ff]unction|FeatureMap)",
    "g": r".*[Ff]unction",
    "alpha": r"array \([nm],\)",  # coefficients of an expansion
    "lam": r"float [>≥] 0|array \(\) or \(L,\), > 0",  # weight of ‖f‖²
    "bandwidth": r"float > 0",
    "C": r"float (> 0(, or inf)?$|≥ 1e-30)",
    "nu": r"float > 0",
    "eps": r"float [>≥] 0",
    "loss": r"Loss",
    "max_iter": r"int ≥ 1",
    "tol": r"float [>≥] 0",
    "level": r"float > 0, < 1",
    "weights": r"array \(\w,\), [>≥] 0",
    "labels": r"array \(n,\), labels|list of labels",
    "rng": r"Generator or seed",
    "n": r"int ≥ \d",
    "m": r"int ≥ \d",
    "d": r"int ≥ \d",
    "D": r"int ≥ \d",
}

# Arguments that are something else, and why; one that needs no exception any more fails.
EXCEPTIONS = {
    "couplings.tune_coupling.weights": "the weightings of .match, by name, to choose from",
    "separation.Perceptron.alpha": "None for the perceptron in the weights",
    "dependence.conditional_independence_test.Z": "what is given, points of kz beside those of X and Y",
    "dependence.generalized_covariance_test.X": "columns of numbers, whose residuals are multiplied",
    "dependence.generalized_covariance_test.Y": "columns of numbers, whose residuals are multiplied",
    "dependence.generalized_covariance_test.Z": "what is given, points of kz beside the rows of X and Y",
    "descent.check_span.rng": "two trainers get it, so it must be a seed",
    "structured.markov_chain.X": "texts: the law of a Markov chain, no kernel among the arguments",
    "plots.heatmap.K": "of a cross-Gram matrix too",
    "sums.FileBlocks.weights": "the name of the column that holds them",
    "play.drag_interpolant.X": "numbers on a line that one can drag",
    "play.drag_posterior.X": "numbers on a line that one can drag",
    "play.drag_witness.X": "numbers on a line that one can drag",
    "play.drag_witness.Y": "numbers on a line that one can drag",
    "leaves.RationalQuadratic.alpha": "the name of the exponent in every library",
}


def contracts():
    "[(module.name, plan)] of the contracts of public functions, of values and of their public methods"
    found = [(name, f.plan) for name, f in public(inspect.isfunction) if hasattr(f, "plan")]
    for name, cls in public(inspect.isclass):
        found += [(name, cls.plan)] if "plan" in vars(cls) else []
        methods = {
            method: f
            for method, f in vars(cls).items()
            if inspect.isfunction(f) and hasattr(f, "plan")
        }
        found += [(f"{name}.{method}", f.plan) for method, f in methods.items()]
    return found


def misnamed(pairs):
    "{module.name.argument: what its word says} of arguments that are not what their name promises"
    return {
        f"{name}.{argument}": word.says
        for name, plan in pairs
        for argument, word in plan.words.items()
        if argument in ALPHABET and not re.match(ALPHABET[argument], word.says)
    }


def test_a_name_means_one_thing():
    wrong = misnamed(contracts())
    refuse([f"{where}: {says}" for where, says in wrong.items() if where not in EXCEPTIONS])
    refuse([f"{where}: no exception any more" for where in EXCEPTIONS if where not in wrong])


def test_every_letter_is_in_use():
    used = {argument for _, plan in contracts() for argument in plan.words}
    assert set(ALPHABET) <= used


@contract
def planted(
    k: Positive, X: Targets, y: Points, lam: Count, K: Points, n: Positive, weights: Vector
):
    "Every argument is something else than its name says"


@contract
def named(k: AKernel, X: Points, y: Targets, lam: Positive, n: Count):
    "Every argument is what its name says"


def test_a_wrong_word_for_a_name_is_noticed():
    assert list(misnamed([("x.planted", planted.plan), ("x.named", named.plan)])) == [
        f"x.planted.{name}" for name in inspect.signature(planted).parameters
    ]


@pytest.mark.parametrize("name", ALPHABET)
def test_no_name_takes_a_flag(name):
    flag = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=Flag)
    assert misnamed([("x.f", Plan({name: flag}))]) == {f"x.f.{name}": "bool"}
