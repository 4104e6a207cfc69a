"""A machine finds each kind of fault and plants it; noticed, survived and unsound are told apart."""

import ast
import json
import subprocess
import sys

import pytest

import mutants
from faults import Finder, planted

ONE_EACH = {
    "x = a < b": {"x = (a <= b)", "x = (a >= b)"},
    "x = a == b": {"x = (a != b)"},
    "x = a is not b": {"x = (a is b)"},
    "x = a + b": {"x = (a - b)"},
    "x = a / b": {"x = (a * b)"},
    "x = -a": {"x = (a)"},
    "x = not a": {"x = (a)"},
    "x = a and b": {"x = (a or b)"},
    "x = 2": {"x = (3)", "x = (2000)"},
    "x = 0.5": {"x = (500.0)", "x = (0.0005)"},
    "x = 0.0": {"x = (1.0)"},
    "x = True": {"x = (False)"},
    "x = max(a, b)": {"x = (min)(a, b)"},
    "x = np.any(a)": {"x = (np.all)(a)"},
    "x = np.float64": {"x = (np.float32)"},
    "x = f(a, b)": {"x = (f(b, a))"},
    "x = f(a, c=b)": {"x = (f(a))"},
    "x = f(a, axis=0)": {"x = (f(a))", "x = f(a, axis=(1))", "x = f(a, axis=1)"},
    "x = a if b else c": {"x = a if True else c", "x = a if False else c"},
    "if a:\n    b": {"if True:\n    b", "if False:\n    b"},
    "f(a)": {"pass"},
    "a += b": {"pass"},
    "a[b] = c": {"pass"},
    "raise a": {"pass"},
    "x = a\nx = b": {"x = a\npass"},
    "x = (é, a\n + b)": {"x = (é, (a - b))"},
}


@pytest.mark.parametrize("source", ONE_EACH)
def test_each_kind_of_fault_is_found(source):
    found = {planted(source, fault.span, fault.new) for fault in Finder(source).found}
    assert found == ONE_EACH[source]


NONE = [
    "x = f(a, doc=b)",
    "x = zip(*a, strict=c)",
    '"a < 2"',
    "def f(a: 2 = None) -> 3: ...",
    'f"{a + 2}"',
    "x: a[2]",
    "x = a",
    "a @ b",
]


@pytest.mark.parametrize("source", NONE)
def test_texts_and_annotations_hold_no_faults(source):
    assert Finder(source).found == []


def test_faults_of_the_package_are_python():
    "Of the module with the most kinds of statements"
    source = (mutants.ROOT / "rkhs_notes" / "base" / "arrays.py").read_text(encoding="utf-8")
    found = Finder(source).found
    assert len(found) > 300 and len({fault.operator for fault in found}) >= 9
    for fault in found[::5]:
        assert planted(source, fault.span, fault.new) != source
        ast.parse(planted(source, fault.span, fault.new))


SMALL = """
def twice(x):
    return x + x

def square(x):
    return x * abs(x)

def nobody_calls(x):
    return x < 2
"""
TESTS = """
import os
from rkhs_notes.small import square, twice

def test_twice():
    assert twice(3) == 6

def test_square():
    assert square(1) == 1

def test_in_one_place_only():
    assert square(1) == 1 and os.environ.get("FOLLOWED")
"""


def test_noticed_survived_and_unsound_are_told_apart(tmp_path, monkeypatch, capsys):
    for folder in ("rkhs_notes", "tests/house", "_coverage"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "rkhs_notes" / "__init__.py").write_text("")
    (tmp_path / "rkhs_notes" / "small.py").write_text(SMALL)
    (tmp_path / "tests" / "house" / "test_small.py").write_text(TESTS)
    follow = mutants.ROOT / "tests" / "follow.py"
    (tmp_path / "tests" / "follow.py").write_text(follow.read_text("utf-8"))
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    monkeypatch.setenv("COVERAGE_FILE", str(tmp_path / "_coverage" / "data"))
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{tmp_path / 'tests'}")
    monkeypatch.setenv("FOLLOWED", "1")
    command = [sys.executable, "-m", "coverage", "run", "--branch", "--source=rkhs_notes", "-m"]
    options = ["pytest", "-q", "-p", "follow", "-p", "no:cacheprovider", "tests"]
    subprocess.run([*command, *options], cwd=tmp_path, check=True, capture_output=True)
    monkeypatch.delenv("FOLLOWED")
    monkeypatch.setenv("JOBS", "1")
    for name, path in {"ROOT": "", "COVERAGE": "_coverage", "KEPT": "_mutants"}.items():
        monkeypatch.setattr(mutants, name, tmp_path / path)
    (tmp_path / "equivalent.json").write_text("{}")
    monkeypatch.setattr(mutants, "EQUIVALENT", tmp_path / "equivalent.json")
    mutants.main(7, 100, [])
    told = capsys.readouterr().out
    assert "test_in_one_place_only fails without a fault as well" in told
    lines = (tmp_path / "_mutants" / "7.jsonl").read_text("utf-8").splitlines()
    noticed = {f["new"]: f["noticed"].split("::")[-1] for f in map(json.loads, lines)}
    assert noticed == {"(x - x)": "test_twice", "(x / abs(x))": "test_in_one_place_only"}
    assert "x * abs(x) → (x / abs(x))" in told
    assert told.split("together")[1].split()[:2] == ["2", "1"]
    mutants.main(7, 100, [])  # nothing is tried again
    assert (tmp_path / "_mutants" / "7.jsonl").read_text("utf-8").splitlines() == lines
    key = "small square: x * abs(x) → (x / abs(x))"
    (tmp_path / "equivalent.json").write_text(json.dumps({key: "the sign is all that is asked"}))
    mutants.main(7, 100, [])
    assert capsys.readouterr().out.split("together")[-1].split()[:2] == ["1", "1"]


@pytest.mark.parametrize("broken, told", [("", ""), ("1 / 0", "import")])
def test_a_fault_that_breaks_what_all_tests_share_is_noticed(broken, told, tmp_path):
    (tmp_path / "conftest.py").write_text(broken)
    (tmp_path / "test_one.py").write_text("def test_it(): pass")
    assert mutants.first_failure(tmp_path, ["test_one.py::test_it"], 10) == told


def test_the_list_of_equivalents_is_short_and_each_has_a_reason():
    reasons = json.loads(mutants.EQUIVALENT.read_text(encoding="utf-8"))
    assert len(reasons) <= 60 and all(len(reason.split()) >= 4 for reason in reasons.values())
    modules = {path.stem for path in (mutants.ROOT / "rkhs_notes").rglob("*.py")}
    assert {key.split()[0] for key in reasons} <= modules
