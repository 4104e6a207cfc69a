"""Hostile calls, drawn from the contracts: every public function, every argument, every kind of hostility.

Constructors of values and the methods of what functions answer are called in the same way.

    python tests/fuzzing.py [--cases 50000] [--seed N] [--only module.function] [--case I]

A case is one call, and its number and the seed say all about it. It takes arguments that the words of the
signature draw, and changes one of them:
  disguised   the same numbers in another container, type or layout: the answer is that of the plain array
  permuted    the points in another order: the answer is the same, or follows them
  recolumned  the columns of the points in another order, under a Gaussian: likewise
  scaled      points and bandwidths times 2ᵏ: the answer is the same, times a power of 2ᵏ
  moved       the points 2²⁰ further on, under a Gaussian: the answer is the same, or moves with them
  weighed     weights 1, 2, 3: the answer is that of points that are there so many times
  measured    the targets in another unit, times 2^±10: the answer is the same, times a power of that
  repeated    some points twice, all points equal, one point: an answer, or a refusal
  rare        one label of a class, or one class alone: an answer, or a refusal
  sized       1e-300 … 1e300, subnormal numbers, entries of both sizes: an answer, or a refusal
  spoiled     what is no finite number, no array, of another shape: an answer, or a refusal
A refusal is an error that this package raises, that names an argument or is one of rkhs_notes.errors.
An answer is finite, no warning comes with it, no argument is another afterwards, and it comes in time.
What goes wrong is counted by root cause, one line each, with the case that shows it.
"""

import argparse
import contextlib
import copy
import datetime
import decimal
import fractions
import importlib.util
import inspect
import io
import re
import secrets
import signal
import sys
import time
import traceback
import types
import warnings
from collections import Counter
from functools import partial
from typing import NamedTuple

from conftest import ROOT  # noqa: F401  # isort: skip (first: it puts the tests' folders on the path)
import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse
from matplotlib import pyplot as plt
from test_contracts import CONTRACTS, STAR, call, drawn, public
from test_contracts import DRAWS as OTHERS

from rkhs_notes.apps.exercises import Verdict
from rkhs_notes.base.errors import RKHSError
from rkhs_notes.base.factors import PivotedCholesky
from rkhs_notes.kernels import Gaussian, Kernel
from rkhs_notes.rkhs import RKHSFunction

# warnings of this package that may come with an answer
OURS = (
    r".*(may lie beyond|still rises|is nothing beside Gram matrices)|stopped after"
    r"|after \d+ (iterations|Newton steps)|\d+ features from"
)
DRAWS = OTHERS | {
    "normals.sobol_normals": {"d": lambda rng: 3},
    "variants.svm_primal": {"phi": lambda rng: bounded_features},
    "variants.logistic_primal": {"phi": lambda rng: bounded_features},
}
# answers that may follow the order of the points: greedy choices, pairs in a row, factors of a matrix
ORDERED = (r"(svm|kernel_machines|variants|machines|bins|landmarks|lowrank|processes|evidence|"
           r"learned_noise|laplace_method)\.|laws.check_gradient|curves.check"
           r"|ridge_fits.ridge_path|known.(Conditioned|PowerFunction)$|conformal.jackknife_plus$"
           r"|spaces.RKHS.power_function$|principal.pca_primal$")  # fmt: skip
SINGLE = (
    "ridge_fits.ridge_path",
    "kpca.",
    "principal.",
    "correlations.",
    "unmixing.",
    "kernel_machines.svc_path",
)  # which lams and directions are above rounding, at which step a path is within tol
SEARCHED = "learned_noise.learn_"  # where a search stops, rounding moves it by √eps of its size
UNITS = (
    "stein.",
    "processes.check_sample_space",
)  # scores, and spaces, have the unit of the points
FAR = 2.0**20
# among its arguments: a function of the place, a law that stays where it is, features that are drawn
PLACED = (r"stein\.|processes.check_sample_space|generalization.bias|conditioning.kernel_"
          r"|scale.gaussian_process_l|bounds.check_unbiased")  # fmt: skip
# what has another argument in the unit of y: a kernel of variances, noise, a tube, a step, other targets
IN_UNITS = (r"(processes|evidence|learned_noise|laplace_method|sgd|bills|descent|budgets|"
            r"convex)\.|variants.svr(_primal)?$|machines.(nu_svr|relevance)|curves.double"
            r"|scale.gaussian_process_l|.*\.check_")  # fmt: skip
# where a row is a step, a point of a rule, a landmark, left out by itself; and where answers are equally good
COUNTED = (r"(sgd|bills|descent|budgets)\.|"
           r"scale\.|hilbert\.|spectra\.|ridge_fits.ridge_path|.*\.check_|evidence.fit_hyper"
           r"|machines.nu_svr|measures.Measure$|kernel_machines.svc_path")  # fmt: skip
# every fifth turn
SLOW = r"play\.|plots\.|machines.svc_prob|exercises|spectral.spectral_from|curves.double"
LIMIT = 3.0  # seconds a case may take


def bounded_features(X):
    return np.hstack([X, np.sin(X)])


class Hang(BaseException):
    "The time of a case is over"


@contextlib.contextmanager
def within(seconds):
    "Raises Hang in what takes longer, in time of the processor"

    def over(*frame):
        raise Hang

    before = signal.signal(signal.SIGPROF, over)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


# answers, taken apart

CODE = (
    types.FunctionType,
    types.MethodType,
    types.ModuleType,
    type,
    np.random.Generator,
    str,
    bytes,
)


def numbers_in(answer, path="", seen=None):
    "[(where, array)] of the numbers that an answer holds, in containers and in attributes without underscore"
    seen = set() if seen is None else seen
    if isinstance(answer, (bool, int, float, complex, np.generic, np.ndarray)):
        A = np.asarray(answer)
        return [(path, A)] if A.dtype.kind in "biufc" else []
    if answer is None or isinstance(answer, CODE) or id(answer) in seen:
        return []
    seen.add(id(answer))
    if isinstance(answer, dict):
        parts = answer.items()
    elif isinstance(answer, (list, tuple)):
        parts = enumerate(answer)
    elif scipy.sparse.issparse(answer):
        parts = [("data", answer.toarray())]
    elif isinstance(answer, PivotedCholesky):
        parts = [("L Lᵀ", answer.L @ answer.L.T), ("of", np.sort(answer.order))]
    elif isinstance(
        answer, Verdict
    ):  # the rest are fresh inputs, and what the caller's function gave
        parts = [("passed", answer.passed)]
    elif type(answer).__module__.startswith("rkhs_notes"):
        held = getattr(answer, "__dict__", {})  # how many steps it took is no part of an answer
        parts = [(name, v) for name, v in held.items() if name[0] != "_" and name != "steps"]
    else:
        return []
    return [found for name, part in parts for found in numbers_in(part, f"{path}.{name}", seen)]


SMALL_GAP = 5e-3


def differences(one, other, same):
    "Where two answers differ: in kind, in shape, or where not same(array, array)"
    if isinstance(one, list) and isinstance(other, np.ndarray) and len(one) == len(other):
        one = np.array(one)  # as many vectors, in the container that came
    if type(one) is not type(other):
        return f"{type(one).__name__}, not {type(other).__name__}"
    one, other = numbers_in(one), numbers_in(other)
    if [path for path, _ in one] != [path for path, _ in other]:
        return "parts"
    for (path, a), (_, b) in zip(one, other, strict=True):
        if a.shape == b.shape and path.endswith((".gap", ".violation")):
            if np.max([a, b]) < SMALL_GAP:
                continue  # how far from the best: rounding decides which step is the last
        if a.shape != b.shape or not same(a, b):
            return f"{path or 'value'}: {brief(a)}, not {brief(b)}"
    return ""


def brief(A):
    return np.array2string(A.ravel()[:3], precision=6, separator=" ") + str(A.shape)


def close(a, b, tol=1e-7):
    "Equal up to a share of the largest entry; counts of steps are no part of an answer"
    if a.dtype.kind in "iu" and b.dtype.kind in "iu" and a.ndim == 0:
        return True
    a, b = np.asarray(a, float), np.asarray(b, float)
    if np.array_equal(a, b, equal_nan=True):
        return True
    size = max(np.abs(a).max(initial=0), np.abs(b).max(initial=0))
    with np.errstate(invalid="ignore"):
        return bool(np.abs(a - b).max(initial=0) <= tol * size + max(1e-12, tol**2))


# what is called beside the functions


def can_be_drawn(c):
    "Has the class fields with words, and a word that draws for each that must be given?"
    plan = getattr(c, "plan", None)
    words = {} if plan is None or c._own_init else plan.words
    drawn = {name for name, word in words.items() if word.draw or word.role == "kernel"}
    return drawn and all(p.default is not p.empty or n in drawn for n, p in plan.parameters.items())


VALUES = public(lambda c: inspect.isclass(c) and can_be_drawn(c))
COLUMNS = {}  # of the points that a method takes, by its name


def methods(makers, seed=0):
    "[(module.name.method, method)] of what functions and classes answer to the first good arguments"
    found = {}
    for name, f in makers:
        given = drawn(f, np.random.default_rng(seed), DRAWS.get(name, {}))
        answer, _ = call(f, given)
        kind = type(answer)
        for part in dir(kind) if kind.__module__.startswith("rkhs_notes") else ():
            own = getattr(getattr(kind, part), "plan", None)
            if own and own.words and (part == "__call__" or part[0] != "_"):
                found.setdefault((kind, part), (f"{name}.{part}", getattr(answer, part)))
                columns = [v.shape[1] for v in given.values() if getattr(v, "ndim", 0) == 2]
                COLUMNS[f"{name}.{part}"] = {"d": columns[0]} if columns else {}
    return list(found.values())


def everything():
    "Functions, constructors, methods"
    return (makers := CONTRACTS + VALUES) + methods(makers)


# one call


class Outcome(NamedTuple):
    answer: object = None
    error: BaseException = None
    trouble: str = ""
    where: str = ""


def place(error):
    "file:line of this package that an error comes from, and whether it raised it itself"
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if "/rkhs_notes/" in f.filename]
    last = own[-1] if own else frames[-1]
    raised = bool(own) and last is frames[-1] and (last.line or "").startswith(("raise", "if"))
    return f"{last.filename.rpartition('/')[2]}:{last.lineno} {last.name}", raised


def attempt(f, arguments):
    "The outcome of a call: an answer or a refusal, or else the trouble"
    before = {name: snapshot(value) for name, value in arguments.items()}
    parameters = f.plan.parameters
    star = next((v for n, v in arguments.items() if parameters[n].kind is STAR), ())
    plain = {n: v for n, v in arguments.items() if parameters[n].kind is not STAR}
    asked = [value for value in arguments.values() if type(value) is int]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", OURS)
        try:
            with (
                within(LIMIT / 3 if 10**9 in asked else LIMIT),
                contextlib.redirect_stderr(io.StringIO()),
            ):
                answer = f(*plain.values(), *star) if star else f(**plain)
        except Hang as error:
            if 10**9 in asked:
                return Outcome(None, error)  # it was asked for, and can be stopped
            return Outcome(None, error, f"no end in {LIMIT:g} s", place(error)[0])
        except Exception as error:  # noqa: BLE001
            where, own = place(error)
            return Outcome(None, error, words_of(error, own, f, arguments), where)
        finally:
            plt.close("all")
    if changed := [n for n, value in arguments.items() if not unchanged(before[n], value)]:
        return Outcome(answer, None, "an argument is another afterwards", changed[0])
    infinite = re.search(r"\binf\b|∞", f.__doc__ or "")  # the help says where
    wrong = np.isnan if infinite else lambda A: ~np.isfinite(A)
    if bad := [path for path, A in numbers_in(answer) if wrong(A).any()]:
        return Outcome(answer, None, "not finite", bad[0] or "value")
    return Outcome(answer)


NOUNS = ("points?", "pairs?", "plot draws", "weights?", "vectors?", "features?", "labels?", "samples?",
         "classes", "arrays", "bandwidth", "pairings?", "one kernel", "No such file")  # fmt: skip


def words_of(error, own, f, arguments):
    "What is wrong with an error; nothing, if it is a refusal"
    if isinstance(error, Warning):
        return f"warning: {error}"
    if not own or not isinstance(error, (TypeError, ValueError, MemoryError, OSError, RKHSError)):
        return f"raw {type(error).__name__}: {error}"
    words = rf"\b({'|'.join([*f.plan.parameters, *NOUNS])})\b"
    names = re.search(words, str(error)) or "<lambda>" in str(
        error
    )  # the name of the argument itself
    kernel = any(
        isinstance(v, Kernel) and type(v).__name__ in str(error) for v in arguments.values()
    )
    refuses = names or kernel or isinstance(error, (RKHSError, MemoryError))
    return "" if refuses else f"names no argument: {error}"


def snapshot(value):
    try:
        return copy.deepcopy(value)
    except Exception:  # noqa: BLE001   what cannot be copied is not watched
        return None


def unchanged(before, now):
    if isinstance(now, np.ndarray) and before is not None and now.dtype.kind != "O":
        return before.shape == now.shape and before.tobytes() == now.tobytes()
    return True


# disguises: (the plain array, the same numbers otherwise), from an array of floats


def eighths(A):
    "The array in multiples of 1/8, which half floats hold; nothing becomes 0"
    B = np.round(A * 8) / 8
    return np.where((B == 0) & (A != 0), np.sign(A) / 8, B)


def whole(A):
    "The array in whole numbers; nothing becomes 0"
    return np.where(A != 0, np.sign(A) * np.ceil(np.abs(3 * A)), A)


def spread(A):
    "A view with gaps between its rows, of a larger array"
    return np.repeat(A, 2, axis=0)[::2]


def backwards(A):
    "A view with negative strides"
    return A[::-1].copy()[::-1]


def unaligned(A):
    return np.frombuffer(b"\0" + A.tobytes(), np.uint8)[1:].view(A.dtype).reshape(A.shape)


def locked(A):
    A = A.copy()
    A.flags.writeable = False
    return A


def frame(A, library):
    if A.ndim == 1:
        return library.Series(A)
    return library.DataFrame({f"c{j}": A[:, j] for j in range(A.shape[1])})


def within_type(dtype, base):
    "base(A) as far as the type has numbers"
    limits = np.iinfo(dtype)
    return lambda A: np.clip(base(A), limits.min, limits.max)


def to_float32(A):
    "The array in numbers of float32 that are as irregular as before: eighths lie in ties"
    return A.astype(np.float32).astype(float)


def typed(dtype, base=eighths):
    return lambda A: (base(A), base(A).astype(dtype))


def held(put, base=lambda A: A):
    return lambda A: (base(A), put(base(A)))


DISGUISES = {
    "float16": typed(np.float16), "longdouble": typed(np.longdouble), "big-endian": typed(">f8"),
    "int8": typed(np.int8, within_type(np.int8, whole)), "int64": typed(np.int64, whole),
    "uint16": typed(np.uint16, within_type(np.uint16, lambda A: np.abs(whole(A)))),
    "object": typed(object), "bool": typed(bool, lambda A: 1.0 * (A > 0)),
    "mixed objects": held(lambda A: np.array([int(v) if v == int(v) else v for v in A.flat],
                                             object).reshape(A.shape), eighths),
    "Fractions": held(lambda A: np.array([fractions.Fraction(v) for v in A.flat], object).reshape(A.shape)),
    "gaps": held(spread), "backwards": held(backwards), "Fortran": held(np.asfortranarray),
    "read-only": held(locked), "unaligned": held(unaligned), "memoryview": held(memoryview),
    "masked, nothing hidden": held(np.ma.masked_array), "lists": held(lambda A: A.tolist()),
    "tuples": held(lambda A: tuple(tuple(r) if np.ndim(r) else r for r in A.tolist())),
    "list of arrays": held(list), "pandas": held(lambda A: frame(A, pd)),
    "polars": held(lambda A: frame(A, pl)), "pandas, other index": held(
        lambda A: frame(A, pd).set_axis(range(len(A), 0, -1))),
    "pandas Float64": held(lambda A: frame(A, pd).astype("Float64")),
    "negative zeros": held(lambda A: np.where(A == 0, -0.0, A)),
    "float32": typed(np.float32, to_float32),
}  # fmt: skip
if importlib.util.find_spec("torch"):
    import torch

    DISGUISES["torch"] = held(lambda A: torch.asarray(A.copy()))

NUMBERS = {  # of one float
    "np.float64": np.float64,
    "0-d array": np.array,
    "Fraction": fractions.Fraction,
    "Decimal": decimal.Decimal,
    "longdouble": np.longdouble,
}
COUNTS = {"np.int64": np.int64, "np.uint32": np.uint32}


# what is no finite array of numbers


def spoil(A, value, rng, dtype=None):
    "The array with one entry replaced"
    B = np.array(A, dtype=dtype or A.dtype)
    B.flat[int(rng.integers(B.size))] = value
    return B


SPOILED = {
    "nan": lambda A, rng: spoil(A, np.nan, rng),
    "inf": lambda A, rng: spoil(A, np.inf, rng),
    "-inf": lambda A, rng: spoil(A, -np.inf, rng),
    "all nan": lambda A, rng: A * np.nan,
    "both infinities": lambda A, rng: spoil(spoil(A, np.inf, rng), -np.inf, rng),
    "None": lambda A, rng: spoil(A, None, rng, object),
    "text": lambda A, rng: spoil(A, "7", rng, object),
    "strings": lambda A, rng: A.astype(str),
    "bytes": lambda A, rng: A.astype("S"),
    "complex": lambda A, rng: A + 1j,
    "complex, no imaginary part": lambda A, rng: A.astype(complex),
    "dates": lambda A, rng: A.astype("datetime64[s]"),
    "spans": lambda A, rng: A.astype("timedelta64[s]"),
    "dates as objects": lambda A, rng: spoil(A, datetime.date(2020, 1, 1), rng, object),
    "masked": lambda A, rng: np.ma.masked_array(A, np.arange(A.size).reshape(A.shape) % 3 == 1),
    "no rows": lambda A, rng: A[:0],
    "no columns": lambda A, rng: np.zeros((len(A), 0)),
    "empty list": lambda A, rng: [],
    "three axes": lambda A, rng: np.stack([A, A], -1),
    "0-d": lambda A, rng: np.array(A.flat[0]),
    "a number": lambda A, rng: float(A.flat[0]),
    "a row less": lambda A, rng: A[:-1],
    "a row more": lambda A, rng: np.concatenate([A, A[:1]]),
    "transposed": lambda A, rng: A.T if A.ndim > 1 else A[None],
    "flat": lambda A, rng: A.ravel(),
    "a column": lambda A, rng: A.reshape(len(A), -1)[:, :1],
    "ragged": lambda A, rng: [[1.0, 2.0], [3.0]],
    "sparse": lambda A, rng: scipy.sparse.csr_array(A.reshape(len(A), -1)),
    "pandas NA": lambda A, rng: frame(A, pd).astype("Float64").mask(frame(A, pd) > A.mean()),
    "pandas dates": lambda A, rng: pd.Series(pd.date_range("2020", periods=len(A))),
    "pandas categories": lambda A, rng: pd.Series(["a", "b"] * len(A), dtype="category")[: len(A)],
    "polars nulls": lambda A, rng: pl.Series([None, *np.ravel(A).tolist()[1:]]),
    "structured": lambda A, rng: np.zeros(len(A), [("a", float), ("b", int)]),
    "longdouble above float64": lambda A, rng: A.astype(np.longdouble) * np.longdouble("1e4000"),
    "integers above float64": lambda A, rng: spoil(A, 10**400, rng, object),
    "dict": lambda A, rng: {0: A},
    "set": lambda A, rng: {1.0, 2.0},
    "generator": lambda A, rng: iter(A),
    "function": lambda A, rng: np.sin,
    "class": lambda A, rng: np.ndarray,
    "str": lambda A, rng: "X",
    "itself": lambda A, rng: (box := [A], box.append(box))[0],
}
RARE = {
    "one of its class": lambda n, rng: 1 * (np.arange(n) == rng.integers(n)),
    "all but one of its class": lambda n, rng: 1 * (np.arange(n) != rng.integers(n)),
    "one class alone": lambda n, rng: np.ones(n, int),
    "a class for each": lambda n, rng: np.arange(n),
    "words, one of its class": lambda n, rng: np.where(
        np.arange(n) == rng.integers(n), "rare", "common"
    ),
}
SIZES = (
    5e-324,
    1e-310,
    1e-300,
    1e-200,
    1e-155,
    1e-100,
    1e-30,
    1e30,
    1e100,
    1e154,
    1e200,
    1e300,
    1e308,
)
SIZED = {
    **{f"times {s:g}": lambda A, rng, s=s: A * s for s in SIZES},
    **{f"an entry {s:g}": lambda A, rng, s=s: spoil(A, s, rng) for s in SIZES},
    **{f"plus {s:g}": lambda A, rng, s=s: A + s for s in (1e8, 1e16, 1e300)},
    "zeros": lambda A, rng: A * 0,
    "minus": lambda A, rng: -A,
    "both sizes": lambda A, rng: A * 10.0 ** rng.integers(-300, 300, A.shape),
}
REPEATED = {
    "all rows equal": lambda A, rng: np.repeat(A[:1], len(A), axis=0),
    "rows twice": lambda A, rng: A[np.sort(rng.integers(0, len(A), len(A)))],
    "an ulp apart": lambda A, rng: np.nextafter(np.broadcast_to(A[0], A.shape), rng.choice([-9, 9], A.shape)),
    "constant columns": lambda A, rng: np.broadcast_to(A.flat[0], A.shape),
    "a constant column": lambda A, rng: np.where(np.arange(A.shape[-1]) == 0, 7.0, A),
    "mostly zeros": lambda A, rng: A * (rng.random(A.shape) < 0.05),
    "one entry that is not zero": lambda A, rng: A * (np.arange(A.size) == A.size // 2).reshape(A.shape),
}  # fmt: skip
OBJECTS = (
    None, "text", "", b"x", True, False, np.bool_(True), -1, 0, 1, 2.5, 10**9, 10**12, 10**400, -(10**400),
    1e-300, 1e-160, 1e160, 1e300, 5e-324, 1.7e308, np.nan, np.inf, -np.inf, -0.0, 1j, np.complex128(2),
    np.float16(3), np.longdouble("1e4000"), fractions.Fraction(1, 3), (), [], {}, [1.0],
    np.array([1.0, 2.0]), np.array(2.0), np.datetime64("2020-01-01"), np.timedelta64(1, "s"), pd.NA, pd.NaT,
    object(), int, Gaussian, Gaussian(1.0), lambda *a, **o: np.nan, lambda *a, **o: None,
    lambda *a, **o: "text", range(3), slice(2), Ellipsis, NotImplemented, np.ma.masked,
)  # fmt: skip


# drawing a case


def letters_of(word):
    return [letter.partition(" ")[0] for letter in word.letters]


def as_array(value):
    "The plain float array of an argument that is one, else None"
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.ndim in (1, 2):
        return np.ascontiguousarray(value, float)
    return None


def hostilities(f, name, value):
    "The kinds of hostility that can happen to an argument"
    word = f.plan.words[name]
    if as_array(value) is not None:
        kinds = [
            "disguised",
            "disguised",
            "repeated",
            "sized",
            "sized",
            "spoiled",
            "spoiled",
            "object",
        ]
        where = word.role == "points"
        laws = where and not {"rng", "tol", "max_iter"} & f.plan.parameters.keys()
        laws = ["permuted", "scaled"] * laws + ["moved", "recolumned"] * where
        if name == "y" and not word.role and "label" not in word.says:
            laws += ["measured"] * 2
        return kinds + laws + ["weighed"] * 4 * (name == "weights" and letters_of(word) == ["n"])
    if "labels" in word.says and letters_of(word) == ["n"] and value is not None:
        return ["rare", "rare", "object"]
    if type(value) in (int, float):
        return ["disguised", "object", "object"]
    return ["object"]


def permuted(f, arguments, name, order):
    "All arguments that have a row for each row of this one, in another order"
    letter = letters_of(f.plan.words[name])[0]
    return arguments | {
        n: value[order] if as_array(value) is not None or isinstance(value, np.ndarray) else value
        for n, value in arguments.items()
        if letters_of(f.plan.words[n])[:1] == [letter]
        and "n" not in letters_of(f.plan.words[n])[1:]
        and np.ndim(value)
    }


class Case(NamedTuple):
    name: str
    f: object
    argument: str
    kind: str
    which: str
    arguments: dict
    law: object = None  # Outcome of plain arguments ↦ (arguments, same) of what must equal it


def draw_case(seed, i, targets):
    "Case i of a seed: the functions by turns, all else at random"
    rng = np.random.default_rng([seed, i])
    turn, place = divmod(i, len(targets))
    name, f = targets[place]
    if turn % 5 and re.match(SLOW, name):
        return None
    arguments = drawn(f, rng, DRAWS.get(name, {}), **COLUMNS.get(name, {}))
    names = [n for n in f.plan.words if f.plan.parameters[n].kind is not STAR]
    if not names:
        return None
    likely = np.array([5.0 if as_array(arguments.get(n)) is not None else 1.0 for n in names])
    argument = str(rng.choice(names, p=likely / likely.sum()))
    value = arguments.get(argument)
    kind = str(rng.choice(hostilities(f, argument, value)))
    A, pick = as_array(value), lambda table: str(rng.choice(list(table)))
    if kind == "object":
        j = int(rng.integers(len(OBJECTS)))
        which = re.sub(r"0x\w+|[^ -~]", "", repr(OBJECTS[j]))[:30]
        return Case(name, f, argument, kind, which, arguments | {argument: OBJECTS[j]})
    if kind == "rare":
        which = pick(RARE)
        labels = RARE[which](len(value), rng)
        return Case(name, f, argument, kind, which, arguments | {argument: labels})
    if A is None:
        which = pick(COUNTS if type(value) is int else NUMBERS)
        other = (COUNTS if type(value) is int else NUMBERS)[which](value)
        return Case(
            name, f, argument, kind, which, arguments | {argument: other}, (arguments, close)
        )
    if kind == "disguised":
        which = pick(DISGUISES)
        plain, other = DISGUISES[which](A)
        if which == "bool" and "labels" in f.plan.words[argument].says:
            return None  # truth values are labels, and numbers are not
        if name.startswith(SINGLE) and which == "float32":
            return None
        loose = which == "float32" or ".check_" in name  # what a law misses is rounding
        tol = 2e-2 if loose else 1e-5 if name.startswith(SEARCHED) else 1e-7
        law = arguments | {argument: plain}, lambda a, b: close(a, b, tol)
        return Case(name, f, argument, kind, which, arguments | {argument: other}, law)
    if kind in ("repeated", "sized", "spoiled"):
        table = {"repeated": REPEATED, "sized": SIZED, "spoiled": SPOILED}[kind]
        which = pick(table)
        with np.errstate(all="ignore"):
            return Case(
                name, f, argument, kind, which, arguments | {argument: table[which](A, rng)}
            )
    if kind == "permuted" and re.match(ORDERED, name):
        return None
    if kind == "permuted":
        order = rng.permutation(len(A))
        return Case(
            name,
            f,
            argument,
            kind,
            "",
            permuted(f, arguments, argument, order),
            (arguments, lambda a, b: follows(a, b, order)),
        )
    if kind == "measured":
        power = int(rng.choice([-10, 10]))
        if re.match(IN_UNITS, name):
            return None
        plain = {
            n: v for n, v in arguments.items() if n != "loss"
        }  # of least squares: others have units
        return Case(name, f, argument, kind, f"2^{power}", plain | {argument: np.ldexp(A, power)},
                    (plain, lambda a, b: homogeneous(a, b, power)))  # fmt: skip
    if kind == "weighed":
        return weighed_case(name, f, argument, arguments, rng)
    if kind in ("moved", "recolumned"):
        return gaussian_case(name, f, argument, kind, arguments, rng)
    power = int(rng.choice([-600, -500, -300, -30, -3, 3, 30, 300, 500, 600]))
    kernel = f.plan.kernel
    if kernel is None or not isinstance(arguments.get(kernel), Kernel) or name.startswith(UNITS):
        return None
    factor = 2.0**power
    wide = Gaussian(0.75 * factor)
    points = {
        n: v * factor
        for n, v in arguments.items()
        if f.plan.words[n].role == "points" and as_array(v) is not None
    }
    return Case(
        name,
        f,
        argument,
        kind,
        f"2^{power}",
        arguments | points | {kernel: wide},
        (arguments | {kernel: Gaussian(0.75)}, lambda a, b: homogeneous(a, b, power)),
    )


def tolerance(f):
    return 3e-2 if {"tol", "max_iter"} & f.plan.parameters.keys() else 1e-7


class AtPoints:
    "f, whose answer is its values at some points, if it has any; else its numbers that have no row a point"

    def __init__(self, f, Z, without):
        self.f, self.Z, self.without = f, Z, without
        self.plan, self.__doc__ = f.plan, f.__doc__

    def __call__(self, *args, **kwargs):
        answer = self.f(*args, **kwargs)
        if self.Z is not None and (isinstance(answer, RKHSFunction) or hasattr(answer, "predict")):
            return answer(self.Z)
        return [
            A
            for _, A in numbers_in(answer)
            if not set(A.shape) & self.without and A.dtype.kind == "f"
        ]


def weighed_case(name, f, argument, arguments, rng):
    "Weights 1, 2, 3: each point as many times"
    n, asked = len(arguments[argument]), f.plan.parameters
    arguments = {m: v for m, v in arguments.items() if asked[m].default is inspect.Parameter.empty}
    times = rng.integers(1, 4, n)
    N = int(times.sum())
    owns = [
        m
        for m, w in f.plan.words.items()
        if letters_of(w)[:1] == ["n"] and np.ndim(arguments.get(m))
    ]
    points = [arguments[m] for m in owns if f.plan.words[m].role == "points"]
    if re.match(COUNTED, name) or any(letters_of(f.plan.words[m])[1:2] == ["n"] for m in owns):
        return None
    weighed = arguments | {argument: times.astype(float)}
    repeated = {
        m: np.repeat(np.asarray(v), times, axis=0) for m, v in arguments.items() if m in owns
    }
    repeated = {m: v for m, v in (arguments | repeated).items() if m != argument}
    once = AtPoints(f, points[0] if len(points) == 1 else None, {n, N})
    return Case(name, once, argument, "weighed", "", weighed,
                (repeated, lambda a, b: close(a, b, max(1e-6, tolerance(f)))))  # fmt: skip


def gaussian_case(name, f, argument, kind, arguments, rng):
    "Points moved, or with their columns in another order: a Gaussian does not see it"
    kernels = {n: Gaussian(0.75) for n, v in arguments.items() if isinstance(v, Kernel)}
    others = {n: eighths(v) for n, v in arguments.items()  # no digit is lost on the way
              if f.plan.words[n].role == "points" and as_array(v) is not None and v.ndim == 2}  # fmt: skip
    widths = {v.shape[1] for v in others.values()}
    if not kernels or not others or len(widths) > 1 or re.match(PLACED, name):
        return None
    plain, tol = arguments | kernels | others, tolerance(f)
    if kind == "moved":
        changed = {n: v + FAR for n, v in others.items()}
        same = lambda a, b: close(a, b, tol) or close(a, b + FAR, tol)  # noqa: E731
    else:
        order = np.roll(np.arange(columns := widths.pop()), rng.integers(1, max(columns, 2)))
        changed = {n: v[:, order] for n, v in others.items()}
        same = partial(follows, order=order, tol=tol)
    return Case(name, f, argument, kind, "", plain | changed, (plain, same))


def follows(a, b, order, tol=1e-7):
    "Is a the same as b, or b with its rows, columns, or both in this order?"
    rows = [b]
    for axis in range(b.ndim):
        rows += [np.take(B, order, axis) for B in rows if B.shape[axis] == len(order)]
    return any(close(a, B, tol) for B in rows)


def same_pivots(one, other):
    "The order in which one answer has the points that the other chose; None if it chose other points"
    Z, Y = ([A for path, A in numbers_in(answer) if re.search(r"\.(Z|centres)$", path)]
            for answer in (one, other))  # fmt: skip
    if not Z or not Y or Z[0].ndim != 2 or Z[0].shape != Y[0].shape:
        return None
    order = np.abs(Z[0][:, None] - Y[0]).max(axis=2).argmin(axis=1)
    return order if close(Z[0], Y[0][order]) and len({*order}) == len(order) else None


def homogeneous(a, b, power):
    "Is a the same as b, or b times a power of 2^power?"
    with np.errstate(all="ignore"):
        return any(close(a, np.ldexp(np.asarray(b, float), p * power)) for p in (0, 1, -1, 2, -2))


# a run


class Finding(NamedTuple):
    trouble: str
    where: str


def judge(case):
    "What is wrong with a case, or None"
    outcome = attempt(case.f, case.arguments)
    if outcome.trouble:
        return Finding(outcome.trouble, outcome.where)
    if case.law:
        plain, same = case.law
        expected = attempt(case.f, plain)
        if expected.trouble or (expected.error and outcome.error):
            return expected.trouble and Finding(expected.trouble, expected.where) or None
        if expected.error or outcome.error:
            if case.kind == "scaled" or expected.error or case.which in ("torch", "bool"):
                return None  # what overflows or underflows may be refused, and truth where a number is asked
            return Finding(f"refuses the same numbers: {outcome.error}", place(outcome.error)[0])
        difference = differences(outcome.answer, expected.answer, same)
        if (
            difference and case.which == "float32"
        ):  # where diagonals are equal, rounding picks the pivot
            order = same_pivots(outcome.answer, expected.answer)
            same = same if order is None else partial(follows, order=order, tol=2e-2)
            difference = differences(outcome.answer, expected.answer, same)
        if difference:
            return Finding(f"another answer: {difference}", f"{case.name}({case.argument})")
    return None


def plainly(text):
    "A message without its numbers: messages of one cause are one"
    return re.sub(
        r"array\(.*|[-+]?\d[\d.e+-]*|\s+", lambda m: " " if m[0].isspace() else "#", text
    )[:110]


def run(seed, cases, targets=CONTRACTS, first=0, progress=None):
    "(how many cases ran by kind, {cause: [(case, number)]})"
    ran, causes, spent = Counter(), {}, Counter()
    for i in range(first, first + cases):
        case = draw_case(seed, i, targets)
        if case is None:
            continue
        ran[case.kind] += 1
        start = time.process_time()
        found = judge(case)
        spent[case.name] += time.process_time() - start
        if found:
            trouble = found.trouble
            key = plainly("another answer" if "another answer" in trouble else trouble), found.where
            causes.setdefault(key, []).append((case, i, found))
        if progress and ran.total() % 500 == 0:
            progress(ran, causes, spent)
    return ran, causes


def report(causes):
    "One line a root cause: how often, what, where, which functions and hostility, and a case that shows it"
    lines = []
    for (trouble, where), found in sorted(causes.items(), key=lambda item: -len(item[1])):
        names = Counter(
            f"{case.name}({case.argument}: {case.kind} {case.which})" for case, _, _ in found
        )
        functions = len({case.name for case, _, _ in found})
        shown = ", ".join(name for name, _ in names.most_common(2))
        what = f"{trouble} | {where} | {functions} functions: {shown}"
        lines.append(f"{len(found):5d}  {what} | case {found[0][1]}")
    return lines


def so_far(ran, causes, spent):
    slow = {name: round(seconds, 1) for name, seconds in spent.most_common(5)}
    print(
        f"# {ran.total()} cases, {spent.total():.0f} s, {len(causes)} causes; slow: {slow}",
        flush=True,
    )
    print("\n".join(report(causes)), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**31))
    parser.add_argument("--only", default="")
    parser.add_argument("--case", type=int)
    given = parser.parse_args()
    targets = [(name, f) for name, f in everything() if given.only in name]
    if given.case is not None:
        case = draw_case(given.seed, given.case, targets)
        print(case.name, case.argument, case.kind, case.which, case.arguments, sep="\n")
        print(judge(case))
        plain = case.arguments
        return print(repr(attempt(case.f, plain)))
    print(f"seed {given.seed}")
    start = time.perf_counter()
    ran, causes = run(given.seed, given.cases, targets, progress=so_far)
    print(f"{sum(ran.values())} cases in {time.perf_counter() - start:.0f} s:", dict(ran))
    print(f"{sum(map(len, causes.values()))} troubles of {len(causes)} root causes")
    print("\n".join(report(causes)))
    return 1 if causes else 0


if __name__ == "__main__":
    sys.exit(main())
