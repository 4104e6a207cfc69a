"""The house keeps its counts: size, plainness, the tower above a kernel, a datum's way.

A number grows only with a capability that the same change names; it may always shrink.
"""

import ast
import sys
from pathlib import Path

import numpy as np
import pytest

import rkhs_notes as rn
from conftest import ROOT

FREE = (ast.Constant, ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
COMPREHENSIONS = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}
HOME = Path(rn.__file__).parent
MODULES = [p for p in HOME.rglob("*.py") if p.name != "_modidx.py" and p.parent.name != "answers"]
TREES = {p: ast.parse(p.read_text(encoding="utf-8")) for p in MODULES}
NODES = [node for tree in TREES.values() for node in ast.walk(tree)]
# syntax nodes of the package without keys; constants, operators and contexts are free. Of 155 100 it
# grew by elections in rounds (1400), streams of classes (5600), routes for many rows (3000), sums on
# Dask (2000), strict tables (1400), intervals, partial means, splines and lams (3300), lengths (400),
# norms on grids (740), kernels chosen for a test (760), weights and names that mean one thing (1950),
# names of bags and files, one spelling of what tables hold, submissions of folders (1150),
# labels and floors that a curve can be drawn of (110), points of any kind in estimators and own
# kernels, names on Dask, digits of wide kernels, of short vectors and of float32 bounds (1550), long
# steps that rounding may not carry away (60), factors that serve many steps (40),
# tensors whose matrices stay on their device, put together from strips of any height (240), threads
# of one BLAS that let those of the other sleep and come back whoever ends last, re-pairings in
# threads (360)
SIZE = 176_100
CHOICES = 1.5  # conditional expressions in a thousand nodes
GUARDS = {"errstate": 34, "finite": 46, "as_number": 76}  # calls that a door does for its body
ARROWS = 9  # imports of the package inside functions
WAYS = {"k(X)": 90, "ridge": 120, "kernel_pca": 150, "mmd_test": 220}  # calls; comprehensions apart


def size(nodes):
    return sum(not isinstance(node, FREE) for node in nodes)


def calls_of(nodes, name):
    "How many calls of a function or method of this name"
    called = (node.func for node in nodes if isinstance(node, ast.Call))
    return sum(getattr(f, "id", getattr(f, "attr", "")) == name for f in called)


def own(node):
    "Does this import the package?"
    if isinstance(node, ast.ImportFrom):
        return node.level > 0 or (node.module or "").startswith("rkhs_notes")
    return isinstance(node, ast.Import) and any(a.name.startswith("rkhs_notes") for a in node.names)


def arrows(nodes):
    "Imports of the package inside functions"
    functions = [
        node for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    return {id(node) for f in functions for node in ast.walk(f) if own(node)}


def way(f):
    "How many functions of the package a warm call enters"
    f()
    calls = []

    def follow(frame, event, _):
        code = frame.f_code
        if event == "call" and Path(code.co_filename).is_relative_to(HOME):
            calls.append(code.co_name)

    sys.setprofile(follow)
    try:
        f()
    finally:
        sys.setprofile(None)
    return sum(name not in COMPREHENSIONS for name in calls)


def test_the_package_does_not_grow():
    assert 100_000 < size(NODES) <= SIZE


def test_choices_stand_in_statements():
    assert 1000 * sum(isinstance(node, ast.IfExp) for node in NODES) / size(NODES) <= CHOICES


@pytest.mark.parametrize("name", GUARDS)
def test_the_door_does_what_bodies_would_repeat(name):
    assert 0 < calls_of(NODES, name) <= GUARDS[name]


def test_few_imports_stand_inside_functions():
    assert 0 < len(arrows(NODES)) <= ARROWS


def test_a_gaussian_has_seven_classes():
    tower = [c.__name__ for c in rn.Gaussian.__mro__ if c.__module__.startswith("rkhs_notes")]
    assert len(tower) <= 7 and tower[0] == "Gaussian" and tower[-1] == "Value"


@pytest.mark.parametrize("name", WAYS)
def test_a_datum_walks_one_way(name):
    rng, k = np.random.default_rng(0), rn.Gaussian(1.0)
    X, Y = rng.normal(size=(60, 3)), rng.normal(size=(60, 3))
    calls = {
        "k(X)": lambda: k(X),
        "ridge": lambda: rn.ridge(k, X, X[:, 0], 0.1),
        "kernel_pca": lambda: rn.kernel_pca(k, X, 2),
        "mmd_test": lambda: rn.mmd_test(k, X, Y, 50, rng=0),
    }
    assert 20 < way(calls[name]) <= WAYS[name]


def test_counts_count():
    nodes = list(ast.walk(ast.parse("def f(x):\n from .a import b\n return g(x) if x else b.g(1)")))
    assert calls_of(nodes, "g") == 2 and len(arrows(nodes)) == 1 and size(nodes) == 15
    assert way(lambda: rn.base.blocks.shortened(3)) == 1
    assert not arrows(ast.walk(ast.parse("from .a import b\ndef f():\n import math")))
    assert ROOT / "rkhs_notes" == HOME
