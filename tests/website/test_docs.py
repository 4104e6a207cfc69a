"""Every public name says what it is, and is used in its own notebook."""

import ast
import doctest
import importlib
import re

import numpy as np
import pytest

import rkhs_notes
from conftest import NOTEBOOKS, ROOT, each_notebook, refuse
from website.notebooks import module, read, split

# the thirty names that the notebooks and their readers call most, each with an example in its help
MOST_USED = """
Kernel Linear Polynomial Gaussian Laplace Matern check_kernel median_bandwidth RKHS RKHSFunction
mercer_expansion ridge ridge_path minimize_risk gaussian_process fit_hyperparameters kernel_sgd svc svr
kernel_pca kernel_cca feature_map perceptron_primal fourier_features nystrom_features features_for
mean_embedding mmd_test coupled_embedding load
""".split()

DEFINITIONS = (ast.FunctionDef, ast.ClassDef)


def code_cells(path, exported):
    "Bodies of the code cells that are, or are not, exported; magics left out"
    for cell in read(path).cells:
        options, body = split(cell.source)
        if cell.cell_type == "code" and bool({"export", "exporti"} & set(options)) == exported:
            yield options, re.sub(r"(?m)^\s*[%!].*$", "", body)


def definitions(path):
    "Public functions and classes that a notebook exports, with the lines of their cell"
    for options, body in code_cells(path, exported=True):
        for node in ast.parse(body).body:
            if (
                "export" in options
                and isinstance(node, DEFINITIONS)
                and not node.name.startswith("_")
            ):
                yield node, body.splitlines()


def parameters(node):
    "Names of the arguments of a function, or of a class's __init__"
    if isinstance(node, ast.ClassDef):
        node = next(
            (o for o in node.body if isinstance(o, ast.FunctionDef) and o.name == "__init__"), None
        )
        if node is None:
            return []
    every = [
        *node.args.posonlyargs,
        *node.args.args,
        node.args.vararg,
        *node.args.kwonlyargs,
        node.args.kwarg,
    ]
    return [arg.arg for arg in every if arg and arg.arg != "self"]


def documented(docstring):
    "Names in the section Parameters that are followed by a type or a shape"
    section = re.search(r"(?ms)^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n---|\Z)", docstring)
    found = re.findall(r"(?m)^([*\w, ]+?)(?: : |  +)\S", section[1]) if section else []
    return {name.strip(" *") for names in found for name in names.split(",")}


# their fields have words
VALUES = {
    "Value",
    "Kernel",
    "Indefinite",
    "Frequencies",
    "RKHS",
    "_WithPointsOf",
}
VALUES |= {"Fit", "Scores", "Band", "Conditional", "Weighted", "Series"}
VALUES |= {"SupportMachine", "Deciding", "SupportVectorMachine"}


def said_by_words(node, docstring):
    "Arguments or fields that a contract documents, by a word or by a line of their own"
    if isinstance(node, ast.ClassDef):
        if not any(getattr(base, "id", "") in VALUES for base in node.bases):
            return set()
        annotated = {o.target.id for o in node.body if isinstance(o, ast.AnnAssign)}
    elif any(getattr(getattr(o, "func", o), "id", "") == "contract" for o in node.decorator_list):
        arguments = [
            *node.args.posonlyargs,
            *node.args.args,
            *node.args.kwonlyargs,
            node.args.vararg,
        ]
        annotated = {arg.arg for arg in arguments if arg and arg.annotation}
    else:
        return set()
    lines = re.findall(r"(?m)^([*\w, ]+?) : \S", docstring)
    return annotated | {name.strip(" *") for names in lines for name in names.split(",")}


def docstring_problems(path):
    "Public definitions without a docstring, and parameters without a type or shape"
    problems = []
    for node, lines in definitions(path):
        docstring = ast.get_docstring(node)
        if not docstring:
            problems.append(f"{node.name} has no docstring")
            continue
        known = documented(docstring) | said_by_words(node, docstring)
        problems += [
            f"{node.name}: {name} is not under Parameters"
            for name in parameters(node)
            if name not in known
        ]
        fields = (
            [o for o in node.body if isinstance(o, ast.AnnAssign)]
            if isinstance(node, ast.ClassDef)
            else []
        )
        problems += [
            f"{node.name}.{field.target.id} has neither a comment nor an entry under Parameters"
            for field in fields
            if field.target.id not in known and "#" not in lines[field.end_lineno - 1]
        ]
    return problems


def unused_names(path):
    "Exported names that no other cell of the notebook uses"
    used = {
        name for _, body in code_cells(path, exported=False) for name in re.findall(r"\w+", body)
    }
    return [node.name for node, _ in definitions(path) if node.name not in used]


@each_notebook
def test_docstrings(path):
    refuse(docstring_problems(path))


@each_notebook
def test_exported_names_are_used(path):
    refuse(unused_names(path))


def test_every_module_has_a_notebook():
    package = ROOT / "rkhs_notes"
    paths = [path.relative_to(package).with_suffix("").parts for path in package.rglob("*.py")]
    modules = {".".join(parts) for parts in paths if parts == ("__init__",) or parts[-1][0] != "_"}
    assert modules == {name for path in NOTEBOOKS if (name := module(read(path)))}


def examples(module):
    "The examples in the docstrings of a module, with all names that a reader has after `import rkhs_notes`"
    module = importlib.import_module(f"rkhs_notes.{rkhs_notes._modules()[module]}")
    known = (
        {name: getattr(rkhs_notes, name) for name in dir(rkhs_notes)} | {"np": np} | vars(module)
    )
    return [test for test in doctest.DocTestFinder().find(module, globs=known) if test.examples]


MODULES = sorted(path.stem for path in (ROOT / "rkhs_notes").rglob("[a-z]*.py"))


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings(module):
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    refuse([test.name for test in examples(module) if runner.run(test).failed])


def test_the_names_used_most_have_examples():
    silent = [name for name in MOST_USED if ">>>" not in (getattr(rkhs_notes, name).__doc__ or "")]
    assert len(MOST_USED) == 30 and silent == []


@pytest.mark.parametrize("module", MODULES)
def test_public_properties_say_what_they_are(module):
    module = importlib.import_module(f"rkhs_notes.{rkhs_notes._modules()[module]}")
    kinds = [vars(module)[name] for name in getattr(module, "__all__", [])]
    refuse(
        [
            f"{kind.__name__}.{name}"
            for kind in kinds
            if isinstance(kind, type)
            for name, value in vars(kind).items()
            if isinstance(value, property) and name[0] != "_" and not value.__doc__
        ]
    )


def key_problems(paths):
    "Answers outside of the answer keys, and keys that do not warn"
    problems = []
    for path in paths:
        key = path.stem.startswith("answers_")
        written = "\n".join(body for _, body in code_cells(path, exported=True))
        if key and "Spoilers:" not in read(path).cells[0].source:
            problems.append(f"{path.stem} does not warn of spoilers")
        if not key and re.search(r"^_exercises\b", written, re.M):
            problems.append(f"{path.stem} has answers: they belong in answers_{path.stem[:2]}")
    return problems


def test_answers_stand_apart():
    refuse(key_problems(NOTEBOOKS))


def test_answers_in_a_chapter_are_noticed(write_notebook):
    answers = "code:#| exporti\n_exercises = {}"
    paths = [write_notebook(f"{stem}.ipynb", "# X", answers) for stem in ("03_x", "answers_03")]
    assert key_problems(paths) == [
        "03_x has answers: they belong in answers_03",
        "answers_03 does not warn of spoilers",
    ]


def test_missing_words_are_noticed(write_notebook):
    path = write_notebook(
        "03_x.ipynb",
        "code:#| export\ndef f(x): return x",
        'code:#| export\ndef g(x, y):\n    """Sum\n\n    Parameters\n    ----------\n    x : float\n    """',
        'code:#| export\nclass K:\n    "k"\n    a: float  # width\n    b: float',
        "code:#| exporti\ndef h(x): pass",
        'code:#| export\n@contract\ndef c(x: Points, y, z):\n    """Sum\n\n    y : one more\n    """',
        'code:#| export\nclass V(Value):\n    "v"\n    a: Positive',
        "code:f(1), c(1), V(1)",
    )
    assert docstring_problems(path) == [
        "f has no docstring",
        "g: y is not under Parameters",
        "K.b has neither a comment nor an entry under Parameters",
        "c: z is not under Parameters",
    ]
    assert unused_names(path) == ["g", "K"]
