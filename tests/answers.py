"""What everyone may ask is answered as before: thousands of calls of the whole public surface.

    python tests/answers.py     asks all again, writes answers.json, says what changed

Three sources of calls: the lines of catalogue.py, with each argument of theirs spoiled as well; arguments
that the words of a signature draw, for every function, constructor and method; cases of fuzzing.py. What a
call gives is reduced to leaves: an array of floats to a weighted sum of its entries, words and all else to a
few letters of their hash; a refusal to its type and, where it is ours, its words.

A sum agrees within 1e-9 of the sum of its sizes (3e-4 in float32), or within 100 times what it changes when
every coordinate of the data moves by an ulp, three times at random, or when another processor sums, three of
them. What that changes altogether, a count of steps, a sign, is not kept. A kept answer says that nothing
changed, not that it is right: that is what all other tests are for. Where an answer is meant to change, write
the file again and read the list. Last digits, and the words of libraries, hang on versions: where those are
others than when the file was written, the test is skipped, and says so.
"""

import ast
import contextlib
import dataclasses
import functools
import hashlib
import importlib
import inspect
import io
import json
import math
import os
import pickle
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import types
import warnings
import zlib
from importlib.metadata import version
from pathlib import Path

import numpy as np

from conftest import ROOT  # isort: skip (it puts the tests' folders on the path)
from matplotlib import pyplot as plt
from test_contracts import STAR, from_here
from test_contracts import drawn as drawn_for
from test_imports import public_names

from catalogue import CALLS, FOLDER, KERNELS, OF_A_KERNEL, data, helpers, points
from catalogue import drawn as shown
from fuzzing import COLUMNS, DRAWS, draw_case, everything
from rkhs_notes import settings

KEPT = Path(__file__).with_name("answers.json")
TOLERANCE = {"float64": 1e-9, "float32": 3e-4, "complex128": 1e-9}
CONDITION, VAGUE = 100, 1e-2  # a sum that an ulp moves by more than VAGUE / CONDITION is not kept
LEAST = 1e-13  # what is smaller altogether is rounding
CORES = {
    "Prescott": "",
    "Haswell": "",
    "Barcelona": "AVX2 FMA3",
}  # OpenBLAS sums in another order there
MOVES = None, 1, 2, 3  # the data as they are, then moved by an ulp
TURNS = 4  # cases of fuzzing and drawn calls of each function
# They wait, draw on the screen, read the clock, download, or print what a version of a library says
LEFT_OUT = (
    r"play\.|exercises\.|cli\.|settings\.|peers\.|machines.svc_prob|bills.calibrate|scale.recommend"
)


# what a call gives, in leaves


def worded(text):
    "Without addresses in memory and the place of the checkout"
    return (
        re.sub(r"0x[0-9a-f]+", "0x…", str(text))
        .replace(FOLDER, "FOLDER")
        .replace(str(ROOT), "CHECKOUT")
    )


def plain_text(text):
    "The words, and the numbers with a decimal point: they may differ by rounding"
    number = r"\d+\.\d+(?:e[+-]?\d+)?|\d+e[+-]?\d+"
    found = re.findall(number, text)
    words = re.sub(number, "#", text)
    return {"words": words, "numbers": np.array(found, float)} if found else text


def pictured(value, out):
    "What a value shows in a notebook, and what its picture draws"
    for way in ("_repr_html_", "_repr_latex_"):
        if callable(getattr(value, way, None)):
            out[way] = plain_text(worded(getattr(value, way)()))
    with contextlib.suppress(Exception):
        out["plot"] = plain(shown(value.plot()))


def plain_object(value, depth):
    "Type, print, fields and properties of a value of ours; a kernel is its print"
    out = {"type": type(value).__name__, "print": plain_text(worded(repr(value)))}
    if any(c.__name__ == "Kernel" for c in type(value).__mro__):
        return out
    if depth == 0:
        pictured(value, out)
    fields = dataclasses.fields(value) if dataclasses.is_dataclass(value) else ()
    names = {f.name for f in fields} or {*getattr(value, "__dict__", ())}
    names |= {n for n, v in inspect.getmembers_static(type(value)) if isinstance(v, property)}
    for name in sorted(name for name in names if name[0] != "_"):
        try:
            out[name] = plain(getattr(value, name), depth + 1)
        except Exception as error:  # noqa: BLE001
            out[name] = f"raises {type(error).__name__}"
    return out


def plain(value, depth=0):
    "A value as nested dicts and lists of numbers, arrays and words"
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | complex):
        return value
    if isinstance(value, str | Path | np.dtype | slice | range):
        return plain_text(worded(value))
    if isinstance(value, np.ndarray):
        value = np.ma.filled(value, math.nan) if np.ma.isMaskedArray(value) else value
        return value if value.dtype.kind in "fciub" else [plain(v) for v in value.ravel().tolist()]
    if hasattr(value, "toarray"):
        return {"sparse": value.toarray()}
    if isinstance(value, dict):
        return {str(key): plain(v, depth + 1) for key, v in value.items()}
    if isinstance(value, set | frozenset):
        value = sorted(value, key=repr)
    if isinstance(value, list | tuple | types.GeneratorType):
        return [plain(v, depth + 1) for v in value]
    if isinstance(value, types.ModuleType | type):
        return value.__name__
    if type(value).__module__.startswith("rkhs_notes") and depth < 6:
        return plain_object(value, depth)
    return "function" if callable(value) else "object"


def leaves(value, path=""):
    "{path: leaf} of nested dicts and lists"
    if isinstance(value, dict):
        return {p: v for key in value for p, v in leaves(value[key], f"{path}.{key}").items()}
    if isinstance(value, list):
        inner = {p: v for i, x in enumerate(value) for p, v in leaves(x, f"{path}[{i}]").items()}
        return {f"{path}.len": len(value)} | inner
    return {path: value}


def short(words):
    return hashlib.sha1(words.encode()).hexdigest()[:6]


def reduced(leaf):
    "(words in short, sum of the entries with weights between 1 and 2, sum of sizes, tolerance) of a leaf"
    a = np.asarray(leaf) if isinstance(leaf, float | complex | np.ndarray) else None
    if a is None or a.dtype.kind not in "fc":
        return short(repr(leaf.tolist() if a is not None else leaf)), 0.0, 0.0, 0.0
    finite = np.isfinite(a)
    words = f"{a.dtype} {a.shape}" + (
        f" {a[~finite]}{np.flatnonzero(~finite)}" * (not finite.all())
    )
    v = (a.real + 2 * a.imag if a.dtype.kind == "c" else a)[finite].astype(float).ravel()
    if np.abs(v).max(initial=0) > 1e200:  # sums of sizes would overflow
        v = np.ldexp(v, -600)
    weights = 1 + np.arange(v.size) * 0.618 % 1
    return (
        short(words),
        float(weights @ v),
        float(weights @ np.abs(v)),
        TOLERANCE.get(str(a.dtype), 1e-9),
    )


def outcome(work):
    "{path: reduced leaf} of what a call gives; an error is its type and, where it is ours, its words"
    with (
        warnings.catch_warnings(record=True) as heard,
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("always")
        try:
            found = leaves(plain(work()))
        except Exception as error:  # noqa: BLE001
            said = plain_text(worded(error)) if from_here(error) else ""
            found = leaves({"error": type(error).__name__, "said": said})
    places = "rkhs_notes", "tests", "catalogue"  # of ours: they name the line of the caller
    ours = [w for w in heard if any(place in w.filename for place in places)]
    ours = [w for w in ours if w.category not in (DeprecationWarning, ResourceWarning)]
    found["warnings"] = sorted(
        {re.sub(r"[-+.\d]+(e[-+]\d+)?", "#", f"{w.category.__name__}: {w.message}") for w in ours}
    )
    found["warnings"] = worded(found["warnings"])
    return {path: reduced(leaf) for path, leaf in found.items()}


# the lines of the catalogue


def statements(block):
    "(source, tree, tolerance) of each statement"
    lines = block.splitlines()
    for node in ast.parse(block).body:
        stated = re.search(r"# tol (\S+?):?( |$)", lines[node.end_lineno - 1])
        yield ast.get_source_segment(block, node), node, float(stated[1]) if stated else 0.0


def run(node, names):
    "Execute a statement; an assignment has the value it binds"
    if isinstance(node, ast.Assign):
        exec(compile(ast.Module([node], []), "catalogue", "exec"), names)
        bound = [names[n.id] for n in ast.walk(node.targets[0]) if isinstance(n, ast.Name)]
        return bound[0] if len(bound) == 1 else bound
    return eval(compile(ast.Expression(node.value), "catalogue", "eval"), names)


def members(node):
    "The parts of a statement `a, b, c`, which are asked one by one: one that raises hides no other"
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Tuple):
        return [ast.Expr(v) for v in node.value.elts]
    return [node]


def spoiled(value):
    "(word, bad value) for an argument"
    if isinstance(value, bool):
        return [("'no'", "no")]
    if isinstance(value, int | float):
        return [("-1", -1), ("0", 0), ("nan", math.nan), ("'a'", "a"), ("1e300", 1e300)]
    if isinstance(value, str):
        return [("'nonsense'", "nonsense"), ("3.5", 3.5)]
    if any(c.__name__ == "Kernel" for c in type(value).__mro__):
        return [("'a'", "a"), ("None", None)]
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.ndim and value.size > 1:
        holed = value.copy()
        holed[(0,) * value.ndim] = math.nan
        text = np.full(value.shape, "text")
        cube = value.reshape(1, 1, -1)
        return [("with NaN", holed), ("text", text), ("a row short", value[:-1]), ("a cube", cube)]
    return []


def calls_within(node):
    "The calls in a statement, not those inside functions and loops"
    todo = [node]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Call):
            yield node
        if not isinstance(node, ast.Lambda | ast.ListComp | ast.DictComp | ast.GeneratorExp):
            todo.extend(ast.iter_child_nodes(node))


def refusals(node, names, known, seen):
    "(words, call) with each argument of each call of a known name spoiled, unless the same was done before"
    for call in calls_within(node):
        root = call.func
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name) or root.id not in known:
            continue
        callee = ast.unparse(call.func)
        arguments = [*enumerate(call.args), *((k.arg, k.value) for k in call.keywords if k.arg)]
        for place, argument in arguments:
            if (callee, place) not in seen and not isinstance(argument, ast.Starred):
                seen.add((callee, place))
                yield from spoiled_calls(call, callee, place, argument, names)


def spoiled_calls(call, callee, place, argument, names):
    try:
        value = eval(compile(ast.Expression(argument), "catalogue", "eval"), names)
    except Exception:  # noqa: BLE001
        return
    bad = ast.Name("BAD", ast.Load())
    args = [bad if i == place else a for i, a in enumerate(call.args)]
    keywords = [ast.keyword(k.arg, bad if k.arg == place else k.value) for k in call.keywords]
    tree = ast.fix_missing_locations(ast.Expression(ast.Call(call.func, args, keywords)))
    code = compile(tree, "catalogue", "eval")
    for word, bad_value in spoiled(value):
        yield (
            f"{callee}(argument {place} = {word})",
            functools.partial(eval, code, names | {"BAD": bad_value}),
        )


@functools.cache
def everyone():
    "{name: value} of all public names"
    pairs = public_names(ROOT / "rkhs_notes")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # former addresses
        return {
            name: getattr(importlib.import_module(f"rkhs_notes.{m}"), name) for name, m in pairs
        }


def lines_of(block, which, spoil, move):
    "{line: (outcome, stated tolerance)} of a block of the catalogue"
    import rkhs_notes

    names = everyone() | {"settings": rkhs_notes.settings} | helpers(everyone()) | data(move)
    names |= points(which, names) if which else {}
    found, known, seen = {}, {*everyone()}, set()
    for source, node, tolerance in statements(block):
        parts = members(node)
        for part in parts:
            text = source if len(parts) == 1 else ast.unparse(part)
            found[text] = given = outcome(lambda p=part: run(p, names)), tolerance
        plt.close("all")
        if isinstance(node, ast.Assign):
            known |= {n.id for n in ast.walk(node.targets[0]) if isinstance(n, ast.Name)}
            seen = {pair for pair in seen if pair[0].split(".")[0] not in known - {*everyone()}}
            if which and ".error" in given[0]:
                break  # no such kernel: nothing to call
        for text, call in refusals(node, names, known, seen) if spoil else ():
            found[text] = outcome(call), tolerance
            plt.close("all")
    return found


# drawn calls and cases of fuzzing


@functools.cache
def targets():
    return [(name, f) for name, f in everything() if not re.match(LEFT_OUT, name)]


def moved(value, move):
    "An argument with its floats moved by an ulp"
    if move is None or not (isinstance(value, np.ndarray) and value.dtype == float):
        return value
    rng = np.random.default_rng(move)
    return value * (1 + np.finfo(float).eps * rng.choice([-1, 0, 1], value.shape))


def asked(f, arguments, move):
    "The outcome of a call with drawn arguments"
    arguments = {name: moved(value, move) for name, value in arguments.items()}
    parameters = f.plan.parameters
    star = next((v for n, v in arguments.items() if parameters[n].kind is STAR), ())
    plain_ones = {n: v for n, v in arguments.items() if parameters[n].kind is not STAR}
    try:
        return outcome(lambda: f(*plain_ones.values(), *star) if star else f(**plain_ones))
    finally:
        plt.close("all")


def draws_of(place, move):
    "{turn: (outcome, 0)} of calls of one function with arguments that its words draw, then cases of fuzzing"
    name, f = targets()[place]
    found = {}
    for turn in range(TURNS):
        rng = np.random.default_rng([turn, zlib.crc32(name.encode())])
        arguments = drawn_for(f, rng, DRAWS.get(name, {}), **COLUMNS.get(name, {}))
        found[f"drawn, turn {turn}"] = asked(f, arguments, move), 0.0
    for turn in range(TURNS):
        case = draw_case(zlib.crc32(name.encode()) + turn, 0, [(name, f)])
        value = case and case.arguments[case.argument]
        if case and not (type(value) is int and value > 10**8):  # it might take so many
            line = f"{case.argument} {case.kind} {case.which}, turn {turn}"
            found[line] = asked(f, case.arguments, move), 0.0
    return found


def signatures(move):
    "{name: (its arguments with their defaults and words, 0)} of all public names and their methods"
    found = {}
    for name, value in everyone().items():
        parts = {name: value}
        if inspect.isclass(value) and value.__module__.startswith("rkhs_notes"):
            own = {n: v for n, v in vars(value).items() if n[0] != "_" and callable(v)}
            parts |= {f"{name}.{n}": v for n, v in own.items()}
        for path, part in parts.items():
            if callable(part):
                found[path] = outcome(functools.partial(arguments_of, part)), 0.0
    return found


def arguments_of(part):
    given = inspect.signature(part).parameters.values()
    words = getattr(getattr(part, "plan", None), "words", {})
    defaults = [
        f"{p.name} {p.kind} {'' if p.default is p.empty else repr(p.default)}" for p in given
    ]
    return [*defaults, *(f"{name}: {word.says}" for name, word in words.items())]


# keeping and comparing


def labels():
    "{label: what gives {line: (outcome, tolerance)} for a move} of all blocks"
    found = {}
    for which, kernels in KERNELS.items():
        for text in re.split(r"\s*\|\s*|\s*\n\s*", kernels.strip()):
            block, spoil = f"k = {text}\n" + OF_A_KERNEL.strip(), text == "Gaussian(0.8) + Linear()"
            found[f"{text} on {which}"] = functools.partial(lines_of, block, which, spoil)
    for module, block in CALLS.items():
        found[module] = functools.partial(lines_of, block, None, True)
    found["signatures"] = signatures
    for place, (name, _) in enumerate(targets()):
        found[f"drawn {name}"] = functools.partial(draws_of, place)
    return found


ASKED = labels()


def kept(runs):
    "A call in short: a hash of its words, its sums, with ~tolerance if it is wide, the places that move"
    (first, stated), *others = runs
    steady, sums, unsteady = [], [], []
    for place, (path, (words, total, size, tolerance)) in enumerate(first.items()):
        there = [other[path] for other, _ in others if path in other]
        gaps = [abs(total - t) / size if size else float(t != 0) for _, t, _, _ in there]
        wide = max(tolerance, stated, CONDITION * max(gaps, default=0.0))
        noise = 0 < size < LEAST
        if (
            noise
            or len(there) < len(others)
            or wide > VAGUE
            or any(w != words for w, _, _, _ in there)
        ):
            unsteady.append(place)
            continue
        steady.append(f"{path} {words}")
        if size:
            sums.append(f"{total:.12g}" + (f"~{wide:.0e}" if wide > tolerance else ""))
    places = [f"but {','.join(map(str, unsteady))}"] if unsteady else []
    return " ".join([short("\n".join(steady)), *sums, *places])


def changes(known, leaves):
    "What differs between a call in short and its leaves now"
    if not known:
        return ["not kept yet: python tests/answers.py"]
    known, _, places = known.partition(" but ")
    words, *sums = known.split()
    unsteady = {int(place) for place in places.split(",") if place}
    steady = [pair for place, pair in enumerate(leaves.items()) if place not in unsteady]
    if short("\n".join(f"{path} {leaf[0]}" for path, leaf in steady)) != words:
        return ["other words, types or shapes"]
    counted = [(path, leaf) for path, leaf in steady if leaf[2]]
    if len(counted) != len(sums):
        return ["zeros where there were numbers, or numbers for zeros"]
    found = []
    for (path, (_, total, size, tolerance)), was in zip(counted, sums, strict=True):
        was, _, wide = was.partition("~")
        if not abs(total - float(was)) <= max(tolerance, float(wide or 0)) * size:
            found.append(f"{path or 'value'}: the weighted sum was {was}, is {total:.12g}")
    return found


def answered(label, move=None):
    "{line: (outcome, tolerance)} of a block, whatever was asked before"
    plt.close("all")
    before = os.getcwd()
    os.chdir(FOLDER)  # where a call may write
    try:
        with plt.rc_context(), settings.using(profile="quick"):
            plt.rcdefaults()
            plt.switch_backend("Agg")
            return ASKED[label](move)
    finally:
        os.chdir(before)
        for path in Path(FOLDER).iterdir():  # no block reads what another wrote
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def made_with():
    "What the last digits and the words of libraries hang on"
    libraries = "numpy", "scipy", "scikit-learn", "matplotlib", "pandas"
    versions = [f"{name} {'.'.join(version(name).split('.')[:2])}" for name in libraries]
    python = f"Python {sys.version_info[0]}.{sys.version_info[1]}"
    return ", ".join([f"{platform.system()} {platform.machine()}", python, *versions])


def elsewhere(core):
    "{label: {line: (outcome, tolerance)}} of all blocks, as another processor sums"
    without = f"AVX512F AVX512CD AVX512_SKX {CORES[core]}".strip()
    others = {"OPENBLAS_CORETYPE": core, "NPY_DISABLE_CPU_FEATURES": without}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs"
        subprocess.run([sys.executable, __file__, path], check=True, env=os.environ | others)
        return pickle.loads(path.read_bytes())


def main():
    if sys.argv[1:]:
        runs = pickle.dumps({label: answered(label) for label in ASKED})
        return Path(sys.argv[1]).write_bytes(runs)
    old = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    others, nothing = [elsewhere(core) for core in CORES], ({}, 0.0)
    blocks = [f'"made with": {json.dumps(made_with())}']
    for label in ASKED:
        runs = [answered(label, move) for move in MOVES] + [other[label] for other in others]
        rows, before = [], old.get(label, {})
        for line, (found, _) in runs[0].items():
            key = short(line)
            for what in (
                changes(before[key], found) if key in before else ["asked for the first time"]
            ):
                print(f"{label}: {line}: {what}")
            rows.append(f'"{key}": "{kept([run.get(line, nothing) for run in runs])}"')
        blocks.append(f"{json.dumps(label)}: {{\n" + ",\n".join(rows) + "}")
    KEPT.write_text("{" + ",\n".join(blocks) + "}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
