"""The planted faults fit the package, and the script that plants them tells noticed from survived."""

import ast
import json
import re
import subprocess

import pytest

from mutants import CLASSES, LIST, ROOT, changed, file_of, main, planted, together

FAULTS = json.loads(LIST.read_text(encoding="utf-8"))


@pytest.mark.parametrize("module", FAULTS)
def test_each_fault_can_be_planted(module):
    "A fault of code that was rewritten is none: its words follow the source"
    source = file_of(ROOT / "rkhs_notes", module).read_text(encoding="utf-8")
    listed = sum(FAULTS[module].values(), [])
    pairs = [(old, new) for old, new, *_ in listed]
    assert len(pairs) == len(set(pairs)) and all(old != new for old, new in pairs)
    assert not [old for old, _ in pairs if source.count(old) != 1]
    for old, new in pairs:
        source = source.replace(old, new) if source.count(old) == 1 else source
    ast.parse(source)


def test_no_module_is_without_faults():
    "But for one that only gathers what others define, as the words of signatures do"
    made = re.compile(r"(?m)^(?:def|class) |^(?!__all__)\w+ = ")
    modules = {
        path.stem
        for path in (ROOT / "rkhs_notes").rglob("[a-z]*.py")
        if made.search(path.read_text("utf-8"))
    }
    assert {name for name in modules if not name.startswith("answers_")} == FAULTS.keys()


def test_the_list_is_long_and_half_of_it_hunts_what_survived_before():
    kinds = [
        kind for module in FAULTS.values() for faults in module.values() for _, _, *kind in faults
    ]
    assert len(kinds) >= 500 and sum(map(len, kinds)) >= 250
    assert {kind for some in kinds for kind in some} == CLASSES.keys() - {"formula"}


def test_what_cannot_be_planted_is_refused():
    with pytest.raises(ValueError, match="stands 2 times"):
        planted("a = 1\nb = 1\n", "1", "2")
    with pytest.raises(ValueError, match="stands 0 times"):
        planted("a = 1\n", "2", "3")
    with pytest.raises(SyntaxError):
        planted("a = 1\n", "1", "(")


def test_one_selection_has_the_tests_of_all_groups():
    assert (
        together(["test_a.py -k 'x or y'", "test_a.py -k 'not z'"])
        == "test_a.py -k '(not z) or (x or y)'"
    )
    assert together(["test_b.py", "test_b.py -k w"]) == "test_b.py -k '(test) or (w)'"


MODULE = """
A = 1
class C:
    b = 2
    def f(self, x=3):
        return lambda: x + 4
g = lambda: 5
"""
NAMES = {"1": None, "2": None, "3": None, "4": ["f"], "5": ["<lambda>"], "7": []}


@pytest.mark.parametrize("number, functions", NAMES.items())
def test_a_fault_of_functions_alone_is_told_from_others(number, functions):
    pairs = changed(
        *(compile(text, "m.py", "exec") for text in (MODULE, MODULE.replace(number, "6")))
    )
    assert pairs == functions or [old.co_name for old in pairs] == functions


PAIRS = [
    ["x + x", "x - x"],
    ["x * x", "x * abs(x)", "branch"],
    ["return x + x", "import os; os._exit(7)"],
]


def test_noticed_survived_and_broken_are_told_apart(tmp_path, monkeypatch, capsys):
    (tmp_path / "rkhs_notes").mkdir()
    (tmp_path / "rkhs_notes" / "__init__.py").write_text("")
    (tmp_path / "rkhs_notes" / "small.py").write_text(
        "def twice(x):\n    return x + x\n\ndef square(x):\n    return x * x\n"
    )
    (tmp_path / "test_small.py").write_text(
        "from rkhs_notes.small import square, twice\ntwice(1)\n"
        "def test():\n    assert twice(3) == 6 and square(3) == 9\n"
        "ran = []\ndef test_once():\n    assert square(2) == 4 and not ran.append(1) and len(ran) == 1\n"
    )
    (tmp_path / "mutants.json").write_text(json.dumps({"small": {"test_small.py": PAIRS}}))
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    monkeypatch.setattr("mutants.ROOT", tmp_path)
    monkeypatch.setattr("mutants.LIST", tmp_path / "mutants.json")
    assert main([]) == 1
    told = capsys.readouterr().out
    assert "survived in small: test_small.py\n    x * x\n" in told
    assert "'import os; os._exit(7)' ends with" in told
    rows = {
        name: [int(n) for n in numbers] for name, *numbers in map(str.split, told.splitlines()[-4:])
    }
    assert rows["small"] == rows["together"] == [3, 1, 1, 1]
    assert rows["branch"] == [1, 0, 1, 0] and rows["formula"] == [2, 1, 0, 1]
    (tmp_path / "test_small.py").write_text("import rkhs_notes\n\ndef test():\n    assert False\n")
    assert main([]) == 1 and capsys.readouterr().out.count("not tried: without a fault") == 3
