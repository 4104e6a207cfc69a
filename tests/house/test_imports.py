"""Exported code imports only what stands below it; the door shows the daily names and finds all of them."""

import ast
import importlib
import json
import pickle
import subprocess
import sys
import typing
from typing import Annotated

import pytest
import rkhs_notes
from rkhs_notes.base.words import Word, count

from website import stub
from website.notebooks import module, read
from conftest import NOTEBOOKS, ROOT, refuse

GROUPS = ["ABCDE", "S", "0123456789", "VWXY"]  # appendices, engines, chapters, what stands above them
FIRST = ["S_gram", "S_forms"]  # the machinery of kernels, on which other engines stand
ALLOWED = {
    ("algebra", "Delegating.feature_map", "features"),
    ("algebra", "Delegating.spectral", "random_features"),
    ("algebra", "Delegating.conjugate", "metrics"),
    ("algebra", "Delegating.gaussian_of", "metrics"),
    ("rkhs", "RKHSFunction.compress", "interpolation"),
    ("rkhs", "_KnownAtPoints.interpolate", "interpolation"),
    ("rkhs", "_KnownAtPoints.leave_one_out", "interpolation"),
    ("rkhs", "RKHS.project", "interpolation"),
    ("rkhs", "RKHS.power_function", "interpolation"),
    ("contracts", "Value.save", "stored"),
}


def rank(stem):
    "The place of a notebook in the order of imports"
    first = FIRST.index(stem) if stem in FIRST else len(FIRST)
    return next(i for i, letters in enumerate(GROUPS) if stem[0] in letters), first, stem


def imports(tree, scope=()):
    "(qualified name of the enclosing definition, module of this package) for each import below `tree`"
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ImportFrom) and (
            node.level or (node.module or "").split(".")[0] == "rkhs_notes"
        ):
            name = (node.module or "").removeprefix("rkhs_notes").lstrip(".")
            yield from ((".".join(scope), name or alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (
                (".".join(scope), alias.name.partition(".")[2] or alias.name)
                for alias in node.names
                if alias.name.split(".")[0] == "rkhs_notes"
            )
        inner = (*scope, node.name) if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else scope
        yield from imports(node, inner)


def upward_imports(notebooks, package):
    "Imports that point upwards: module, where in it, what it imports"
    stems = {name: path.stem for path in notebooks if (name := module(read(path)))}
    found = set()
    for name, stem in stems.items():
        for scope, target in imports(ast.parse((package / f"{name}.py").read_text(encoding="utf-8"))):
            below = target in stems and rank(stems[target]) < rank(stem)
            if not below and (name, scope, target) not in ALLOWED:
                found.add((name, scope, target))
    return sorted(found)


def public_names(package):
    "[(name, module)] of every name in an __all__"
    found = []
    for source in sorted(package.glob("[!_]*.py")):
        for node in ast.parse(source.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
                found += [(name, source.stem) for name in ast.literal_eval(node.value)]
    return found


def test_imports_point_downwards():
    refuse(upward_imports(NOTEBOOKS, ROOT / "rkhs_notes"))


def test_an_upward_import_is_noticed(write_notebook, tmp_path):
    paths = [
        write_notebook(f"0{i}_{name}.ipynb", f"code:#| default_exp {name}")
        for i, name in enumerate(["low", "algebra", "features"])
    ]
    (tmp_path / "low.py").write_text("from .algebra import Delegating\n")
    (tmp_path / "features.py").write_text("from rkhs_notes.low import x\nfrom . import algebra\n")
    (tmp_path / "algebra.py").write_text(
        "class Delegating:\n def feature_map(self):\n  from .features import f\n"
        " def other(self):\n  from .features import f\n"
    )
    assert upward_imports(paths, tmp_path) == [
        ("algebra", "Delegating.other", "features"),
        ("low", "", "algebra"),
    ]


def borrowed(package):
    "(module, name) of names with an underscore that a module takes from another one of the package"
    for source in sorted(package.glob("*.py")):
        tree = ast.parse(source.read_text(encoding="utf-8"))
        taken = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level]
        names = [alias.name for node in taken for alias in node.names]
        siblings = {alias.asname or alias.name for node in taken if not node.module for alias in node.names}
        names += [
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and getattr(node.value, "id", None) in siblings
        ]
        yield from ((source.stem, name) for name in names if name.startswith("_") and name[:2] != "__")


def test_what_begins_with_an_underscore_stays_in_its_module():
    refuse(
        [f"{module} takes {name}: give it a name without _" for module, name in borrowed(ROOT / "rkhs_notes")]
    )


def test_a_borrowed_helper_is_noticed(tmp_path):
    (tmp_path / "a.py").write_text(
        "from .b import f, _g as g\nfrom . import c\ndef h(): return c._k, c.k, h._m"
    )
    (tmp_path / "b.py").write_text("from numpy import _core\nfrom . import __version__\n")
    assert list(borrowed(tmp_path)) == [("a", "_g"), ("a", "_k")]


def python(script, *options):
    "What a fresh interpreter prints"
    command = [sys.executable, *options, "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_importing_the_package_imports_nothing_heavy():
    loaded = python("import rkhs_notes, sys; print(*{name.split('.')[0] for name in sys.modules})").split()
    assert "rkhs_notes" in loaded and not {"numpy", "scipy", "matplotlib", "sklearn"} & set(loaded)


def test_the_package_works_without_docstrings_and_assertions():
    script = (
        "import rkhs_notes as rn\n"
        "print(len([getattr(rn, name) for name in dir(rn)]))\n"
        "try: rn.ridge(rn.Gaussian(1), [1, 2], [1, 2], -1)\n"
        "except ValueError as e: print(e)\n"
        "print(rn.ridge(rn.Gaussian(1), [1, 2], [1, 2], 1)([1]).shape)"
    )
    number, refusal, shape = python(script, "-OO").splitlines()
    assert int(number) == len(dir(rkhs_notes)) and "lam = -1" in refusal and shape == "(1,)"


def test_the_package_works_in_a_folder_that_is_gone(tmp_path):
    (tmp_path / "gone").mkdir()
    script = tmp_path / "script.py"  # for python -c of 3.13.0 loses exceptions in such a folder
    leave = f"import os; os.chdir({str(tmp_path / 'gone')!r}); os.rmdir(os.getcwd())"
    script.write_text(f"{leave}\nimport rkhs_notes as rn; print(rn.Gaussian(2))")
    run = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert run.stdout == "Gaussian(bandwidth=2)\n", run.stderr


def test_a_plain_terminal_is_enough(monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    listed = python("from rkhs_notes.cli import main; main(['list'])")
    assert "X_cli.ipynb" in listed and "X ? The command line" in listed
    failing = "from rkhs_notes.errors import *\nwith expect_fail(): require('‖f‖ ≤ 1', 2, 1)"
    assert "?f? ? 1: is 2, allowed 1" in python(failing)


def test_every_public_name_is_at_the_top():
    for name, owner in public_names(ROOT / "rkhs_notes"):
        assert getattr(rkhs_notes, name) is getattr(getattr(rkhs_notes, owner), name)


def test_the_daily_names_are_shown():
    daily, modules = rkhs_notes._DAILY, {path.stem for path in (ROOT / "rkhs_notes").glob("[!_]*.py")}
    modules = {module for module in modules if "answers" not in module}
    assert len(daily) == len(set(daily)) <= 150
    assert set(daily) <= {name for name, _ in public_names(ROOT / "rkhs_notes")}
    assert set(dir(rkhs_notes)) == {"__version__", *daily, *modules}


def test_the_stub_is_up_to_date(tmp_path):
    with pytest.raises(SystemExit) as exit:
        stub.main(check=True)
    assert not exit.value.code, exit.value.code
    (tmp_path / "old.pyi").write_text(stub.STUB.read_text().replace("ridge", "rigde"))
    with pytest.raises(SystemExit, match="run make prepare"):
        stub.main(check=True, stub=tmp_path / "old.pyi")
    with pytest.raises(SystemExit, match="no module exports the daily names rigde"):
        stub.render(["rigde", "ridge"], {"ridge": "representer"}, [])
    assert "from .representer import ridge as ridge\n" in stub.render(["ridge"], {"ridge": "representer"}, [])


def lost_names(addresses):
    "Names that do not answer at the top, in their old module and in a pickle with one and the same object"
    for owner, names in addresses.items():
        for name in names:
            try:
                here = getattr(rkhs_notes, name)
                there = getattr(importlib.import_module(f"rkhs_notes.{owner}"), name)
                stored = pickle.loads(f"crkhs_notes.{owner}\n{name}\n.".encode())
                if not here is there is stored:
                    yield f"{owner}.{name} is not rn.{name}"
            except AttributeError as error:
                yield f"{owner}.{name}: {error}"


def test_every_old_address_answers():
    addresses = json.loads((ROOT / "tests" / "wave_one.json").read_text())
    assert sum(map(len, addresses.values())) == 345
    refuse(list(lost_names(addresses)))
    for owner, names in addresses.items():
        assert set(names) <= set(rkhs_notes._FORMER[owner].split())


def test_a_name_that_moved_answers_at_its_old_address(monkeypatch):
    assert list(lost_names({"errors": ["Verdict"]})) == [
        "errors.Verdict: module 'rkhs_notes.base.errors' has no attribute 'Verdict'"
    ]
    monkeypatch.setitem(rkhs_notes._FORMER, "errors", rkhs_notes._FORMER["errors"] + " Verdict gone")
    assert not list(lost_names({"errors": ["Verdict"]}))
    from rkhs_notes.apps.exercises import Verdict

    assert Verdict is rkhs_notes.exercises.Verdict and "Verdict" not in vars(rkhs_notes.errors)
    with pytest.raises(AttributeError, match="'rkhs_notes.base.errors' has no attribute 'gone'"):
        rkhs_notes.errors.gone  # noqa: B018


def test_a_name_that_its_own_module_lost_is_no_endless_search(monkeypatch):
    monkeypatch.delattr(rkhs_notes.errors, "LawBroken")
    with pytest.raises(AttributeError, match="'rkhs_notes.base.errors' has no attribute 'LawBroken'"):
        rkhs_notes.LawBroken  # noqa: B018


@pytest.mark.parametrize(
    "slip, meant",
    [
        *[("rigde", "ridge"), ("gausian", "Gaussian"), ("ridgepath", "ridge_path"), ("SVC", "svc")],
        *[("RBF", "Gaussian"), ("rbf_kernel", "Gaussian"), ("KRR", "ridge"), ("kernel", "Kernel")],
        *[("PCA", "kernel_pca"), ("HSIC", "hsic"), ("Nystroem", "nystrom_features"), ("plot", "plots")],
    ],
)
def test_a_near_name_is_proposed(slip, meant):
    hint = rf"has no attribute '{slip}': did you mean {meant}( or \w+)*\?$"
    with pytest.raises(AttributeError, match=hint):
        getattr(rkhs_notes, slip)


def test_nothing_is_proposed_where_nothing_is_near():
    for name in ["xyzzy", "_ridge", "__wrapped__"]:
        with pytest.raises(AttributeError, match=rf"has no attribute '{name}'$"):
            getattr(rkhs_notes, name)


def test_habits_lead_to_names():
    for habit, name in rkhs_notes._HABITS.items():
        assert hasattr(rkhs_notes, name) and rkhs_notes._plain(habit) == habit, habit


def shared_names(package, taken=()):
    "Public names that another module, a module's own name or `taken` has too"
    names = [name for name, _ in public_names(package)] + [path.stem for path in package.glob("[!_]*.py")]
    return sorted({name for name in names if names.count(name) > 1 or name in taken})


def test_no_two_things_share_a_name():
    modules = {path.stem for path in (ROOT / "rkhs_notes").glob("*.py")}
    refuse(shared_names(ROOT / "rkhs_notes", taken=set(vars(rkhs_notes)) - modules))


def test_a_shared_name_is_noticed(tmp_path):
    (tmp_path / "a.py").write_text("__all__ = ['f', 'b', 'Path']")
    (tmp_path / "b.py").write_text("__all__ = ['f', 'g']")
    assert shared_names(tmp_path, taken={"Path"}) == ["Path", "b", "f"]


def words_in(names):
    "Public names that are annotations: words of signatures, which are read in `help` and never called"
    return [name for name, value in names.items() if typing.get_origin(value) or isinstance(value, Word)]


def test_no_word_of_a_signature_is_public():
    found = {name: getattr(rkhs_notes, name) for name, _ in public_names(ROOT / "rkhs_notes")}
    refuse([f"{name}: export its cell by `#| exporti`, or begin it with _" for name in words_in(found)])


def test_a_public_word_is_noticed():
    words = {"Count": Annotated[int, count(1)], "count": count(1), "Rows": list[int], "Either": int | str}
    plain = {"Graph": rkhs_notes.Graph, "load": rkhs_notes.load, "seed": 0, "squared": rkhs_notes.squared}
    assert words_in(words | plain) == list(words)


@pytest.mark.parametrize("word", ["TwoSizes", "MapOf", "Rule", "ColumnNames"])
def test_a_word_of_one_page_is_not_at_the_top(word):
    with pytest.raises(AttributeError, match=f"has no attribute '{word}'"):
        getattr(rkhs_notes, word)


def test_the_version_is_the_same_everywhere():
    cited = (ROOT / "CITATION.cff").read_text().partition("\nversion: ")[2].split()[0]
    changes = (ROOT / "CHANGELOG.md").read_text()
    assert cited == rkhs_notes.__version__ and f"\n## {cited}\n" in changes and "\n## Unreleased\n" in changes
