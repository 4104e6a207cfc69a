"""Exported code imports only what stands below it; the door shows the daily names and finds all of them."""

import ast
import importlib.util
import json
import pickle
import re
import subprocess
import sys
import typing
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter
from typing import Annotated

import pytest

import rkhs_notes
from conftest import NOTEBOOKS, ROOT, refuse
from rkhs_notes.base.words import Word, count
from website import readme
from website.notebooks import module as module_of
from website.notebooks import read, split

LEVELS = [
    "base",
    "engines",
    "course",
    "apps",
    "answers",
]  # imports go down; the treatise is course too
ALLOWED = {
    ("algebra", "Kernel.feature_map", "feature_maps"),
    ("algebra", "Kernel.spectral", "spectral"),
    ("algebra", "Kernel.conjugate", "composites"),
    ("algebra", "Kernel.gaussian_of", "composites"),
    ("rkhs", "RKHS.power_function", "interpolation"),
    ("values", "Value.save", "stored"),
}


def level(module):
    "The place of a module of this package in the order of imports: the course is the modules at the top"
    room = module.partition(".")[0] if "." in module else "course"
    return LEVELS.index("course" if room == "deeper" else room)


def imports(tree, here, modules, scope=()):
    "(qualified name of the enclosing definition, module of this package) for each import below `tree`"
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ImportFrom):
            parts = ("rkhs_notes." + here).split(".")[: -node.level] if node.level else []
            source = ".".join([*parts, *filter(None, [node.module])])
            if source.split(".")[0] == "rkhs_notes":
                for alias in node.names:
                    whole = f"{source}.{alias.name}".partition(".")[2]
                    yield ".".join(scope), whole if whole in modules else source.partition(".")[2]
        elif isinstance(node, ast.Import):
            yield from (
                (".".join(scope), alias.name.partition(".")[2])
                for alias in node.names
                if alias.name.split(".")[0] == "rkhs_notes"
            )
        inner = (*scope, node.name) if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else scope
        yield from imports(node, here, modules, inner)


def arrows(package, pages):
    "{module: {module that it imports}}, and the imports that point up: (module, where in it, what)"
    modules = {}
    for path in package.rglob("[!_]*.py"):
        modules[".".join(path.relative_to(package).with_suffix("").parts)] = path
    down, up = {module: set() for module in modules}, []
    for module, path in modules.items():
        for scope, target in imports(ast.parse(path.read_text(encoding="utf-8")), module, modules):
            name, other = module.rpartition(".")[2], target.rpartition(".")[2]
            if target not in modules or (name, scope, other) in ALLOWED:
                continue
            later = pages.get(other, "") > pages.get(name, "~") and level(target) == level(module)
            if level(target) > level(module) or later:
                up.append((name, scope, other))
            down[module].add(target)
    return down, sorted(up)


def circle(down):
    "The modules of a circle of imports, or none"
    try:
        TopologicalSorter(down).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def pages_of(paths):
    "{module: name of the page} of numbered pages"
    return {
        module.rpartition(".")[2]: path.stem
        for path in paths
        if path.stem[0].isdigit() and (module := module_of(read(path)))
    }


def public_names(package):
    "[(name, module)] of every name in an __all__"
    found = []
    for source in sorted(package.rglob("[!_]*.py")):
        for node in ast.parse(source.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
                found += [(name, source.stem) for name in ast.literal_eval(node.value)]
    return found


def test_imports_point_downwards_and_in_no_circle():
    down, up = arrows(ROOT / "rkhs_notes", pages_of(NOTEBOOKS))
    assert len(down) > 100
    refuse(up)
    refuse(circle(down))


def test_an_upward_import_and_a_circle_are_noticed(write_notebook, tmp_path):
    paths = [
        write_notebook(f"0{i}_{name}.ipynb", f"code:#| default_exp {name}")
        for i, name in enumerate(["low", "algebra", "feature_maps"])
    ]
    package = tmp_path / "package"
    (package / "base").mkdir(parents=True)
    (package / "base" / "first.py").write_text("def f():\n from ..low import x\n")
    (package / "low.py").write_text("from .algebra import Kernel\n")
    (package / "feature_maps.py").write_text(
        "from rkhs_notes.low import x\nfrom . import algebra\n"
    )
    (package / "algebra.py").write_text(
        "class Kernel:\n def feature_map(self):\n  from .feature_maps import f\n"
        " def other(self):\n  from .feature_maps import f\n"
    )
    down, up = arrows(package, pages_of(paths))
    assert up == [
        ("algebra", "Kernel.other", "feature_maps"),
        ("first", "f", "low"),
        ("low", "", "algebra"),
    ]
    assert set(circle(down)) == {"algebra", "feature_maps"} or len(circle(down)) > 2
    assert circle({"a": {"b"}, "b": set()}) == []


def python(script, *options):
    "What a fresh interpreter prints"
    command = [sys.executable, *options, "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_importing_the_package_imports_nothing_heavy():
    loaded = python(
        "import rkhs_notes, sys; print(*{name.split('.')[0] for name in sys.modules})"
    ).split()
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
    assert "apps/cli.ipynb" in listed and "00 ? Hilbert spaces" in listed
    failing = "from rkhs_notes.errors import *\nwith expect_fail(): require('‖f‖ ≤ 1', 2, 1)"
    assert "?f? ? 1: is 2, allowed 1" in python(failing)


def test_every_public_name_is_at_the_top():
    for name, owner in public_names(ROOT / "rkhs_notes"):
        assert getattr(rkhs_notes, name) is getattr(getattr(rkhs_notes, owner), name)


def test_the_daily_names_are_shown():
    daily, package = rkhs_notes._DAILY, ROOT / "rkhs_notes"
    rooms = {path.parent.name for path in package.glob("*/__init__.py")} - {"answers"}
    assert len(daily) == len(set(daily)) <= 150
    assert set(daily) <= {name for name, _ in public_names(package)}
    shown = {"settings", "errors", "datasets", "plots"}
    assert rkhs_notes.__all__ == sorted({*shown, *daily, *rooms})
    assert set(dir(rkhs_notes)) == {"__version__", *rkhs_notes.__all__}
    assert len(dir(rkhs_notes)) <= 170
    for name in dir(rkhs_notes):
        assert getattr(rkhs_notes, name) is not None


def test_an_import_of_everything_gives_the_names_that_are_shown():
    script = "before = {*dir()}\nfrom rkhs_notes import *\nprint(*{*dir()} - before - {'before'})"
    assert sorted(python(script).split()) == rkhs_notes.__all__


@pytest.mark.parametrize("jedi", [True, False])
def test_completion_imports_nothing(jedi):
    "Nothing of this package and nothing heavy, whoever completes; a second name of it is found too"
    script = (
        "import sys\nfrom IPython.core.interactiveshell import InteractiveShell\n"
        "from IPython.core.completer import provisionalcompleter\n"
        f"shell = InteractiveShell.instance()\nshell.Completer.use_jedi = {jedi}\n"
        "shell.run_cell('import rkhs_notes as rn')\n"
        "with provisionalcompleter():\n"
        "  for text in ('rn.', 'rn.Gau', 'rn.mmd'):\n"
        "    found = list(shell.Completer.completions(text, len(text)))\n"
        "    print(len(found), found[0].text.lstrip('.'))\n"
        "print([m for m in sys.modules if m.startswith(('rkhs_notes.', 'numpy', 'sklearn'))])"
    )
    everything, one, several, loaded = python(script).splitlines()
    assert int(everything.split()[0]) == len(rkhs_notes.__all__)
    assert (one, several.split()[0], loaded) == ("1 Gaussian", "6", "[]")


def test_a_name_that_nobody_asked_for_is_found_and_kept():
    script = (
        "import inspect, rkhs_notes as rn\nlater = inspect.getattr_static(rn, 'Gaussian')\n"
        "print(type(later).__name__, rn.Gaussian.__name__, 'Gaussian' in vars(rn))\n"
        "try: rn.base.Gaussian\nexcept AttributeError as e: print(e)"
    )
    kept, refused = python(script).splitlines()
    assert kept == "_Later Gaussian True" and "has no attribute 'Gaussian'" in refused


def test_the_stub_is_up_to_date(tmp_path):
    with pytest.raises(SystemExit) as exit:
        readme.main(check=True)
    assert not exit.value.code, exit.value.code
    (tmp_path / "old.pyi").write_text(readme.STUB.read_text().replace("ridge", "rigde"))
    with pytest.raises(SystemExit, match="old.pyi; run make prepare"):
        readme.main(check=True, stub=tmp_path / "old.pyi")
    with pytest.raises(SystemExit, match="no module exports the daily names rigde"):
        readme.stub_of(["rigde", "ridge"], {"ridge": "representer"}, {})
    assert "from .representer import ridge as ridge\n" in readme.stub_of(
        ["ridge"], {"ridge": "representer"}, {}
    )


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
    addresses = json.loads((ROOT / "tests" / "data" / "wave_one.json").read_text())
    assert sum(map(len, addresses.values())) == 345
    refuse(list(lost_names(addresses)))
    for owner, names in addresses.items():
        assert set(names) <= set(rkhs_notes._FORMER[owner].split())
    later = {owner: names.split() for owner, names in rkhs_notes._FORMER.items()}
    refuse(
        list(lost_names(later | {"cca": ["hsic", "hsic_u", "kernel_cca", "IndependentSources"]}))
    )


def test_a_name_that_moved_answers_at_its_old_address(monkeypatch):
    assert list(lost_names({"errors": ["Verdict"]})) == [
        "errors.Verdict: module 'rkhs_notes.errors' has no attribute 'Verdict'"
    ]
    monkeypatch.setitem(
        rkhs_notes._FORMER, "errors", rkhs_notes._FORMER["errors"] + " Verdict gone"
    )
    assert not list(lost_names({"errors": ["Verdict"]}))
    from rkhs_notes.apps.exercises import Verdict

    assert Verdict is rkhs_notes.exercises.Verdict and "Verdict" not in vars(rkhs_notes.errors)
    with pytest.raises(AttributeError, match="'rkhs_notes.errors' has no attribute 'gone'"):
        rkhs_notes.errors.gone  # noqa: B018


def test_a_name_that_its_own_module_lost_is_no_endless_search(monkeypatch):
    monkeypatch.delitem(vars(rkhs_notes), "LawBroken", raising=False)  # as if nobody had asked
    monkeypatch.delattr(rkhs_notes.errors, "LawBroken")
    with pytest.raises(AttributeError, match="'rkhs_notes.errors' has no attribute 'LawBroken'"):
        rkhs_notes.LawBroken  # noqa: B018


@pytest.mark.parametrize(
    "slip, meant",
    [
        *[("rigde", "ridge"), ("gausian", "Gaussian"), ("ridgepath", "ridge_path"), ("SVC", "svc")],
        *[("RBF", "Gaussian"), ("rbf_kernel", "Gaussian"), ("KRR", "ridge"), ("kernel", "Kernel")],
        *[
            ("PCA", "kernel_pca"),
            ("HSIC", "hsic"),
            ("Nystroem", "nystrom_features"),
            ("plot", "plots"),
        ],
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
    names = [name for name, _ in public_names(package)] + [
        path.stem for path in package.glob("[!_]*.py")
    ]
    return sorted({name for name in names if names.count(name) > 1 or name in taken})


def test_no_two_things_share_a_name():
    modules = {path.stem for path in (ROOT / "rkhs_notes").glob("*.py")}
    command = [sys.executable, "-c", "import rkhs_notes; print(*vars(rkhs_notes))"]
    own = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    refuse(shared_names(ROOT / "rkhs_notes", taken=set(own) - modules))


def test_a_shared_name_is_noticed(tmp_path):
    (tmp_path / "a.py").write_text("__all__ = ['f', 'b', 'Path']")
    (tmp_path / "b.py").write_text("__all__ = ['f', 'g']")
    assert shared_names(tmp_path, taken={"Path"}) == ["Path", "b", "f"]


def own_names(tree):
    "Functions and constants of a module that neither begin with an underscore nor stand in its __all__"
    found, public = [], []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found.append(node.name)
        elif isinstance(node, ast.Assign):
            names = [
                part.id
                for target in node.targets
                for part in ast.walk(target)
                if isinstance(part, ast.Name)
            ]
            public += ast.literal_eval(node.value) if names == ["__all__"] else []
            found += [
                name for name in names if name.islower() or name.isupper()
            ]  # other ones are words
    return {name for name in found if not name.startswith("_")} - set(public)


def mentions(tree):
    "(module, name) of what a tree imports by name, or reads as an attribute of a module"
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from (
                ((node.module or "").rpartition(".")[2], alias.name) for alias in node.names
            )
        elif isinstance(node, ast.Attribute) and isinstance(node.value, (ast.Name, ast.Attribute)):
            yield getattr(node.value, "attr", getattr(node.value, "id", "")), node.attr


def unmarked_helpers(package, trees):
    "Names of engines and base that no other file of `trees`, pairs (name of the file, syntax tree), mentions"
    used = {
        (owner, name) for stem, tree in trees for owner, name in mentions(tree) if owner != stem
    }
    modules = [path for room in ("base", "engines") for path in (package / room).rglob("[!_]*.py")]
    for path in sorted(modules):
        names = own_names(ast.parse(path.read_text(encoding="utf-8")))
        yield from (
            f"{path.stem}.{name}" for name in sorted(names) if (path.stem, name) not in used
        )


def syntax_trees():
    "The package, what tests, measures and builds it, and the cells of the notebooks that are not exported"
    for folder in ["rkhs_notes", "tests", "benchmarks", "e2e", "website"]:
        for path in (ROOT / folder).rglob("*.py"):
            yield path.stem, ast.parse(path.read_text(encoding="utf-8"))
    for path in NOTEBOOKS:
        for cell in read(path).cells:
            directives, body = split(cell.source)
            if cell.cell_type == "code" and not {"export", "exporti"} & set(directives):
                with suppress(SyntaxError):  # a cell of the shell
                    yield path.stem, ast.parse(body)


AT_LARGE = 1  # factors.cholesky_in_place, which answers at an old address of its own


def test_helpers_that_nobody_else_uses_begin_with_an_underscore():
    found = list(unmarked_helpers(ROOT / "rkhs_notes", syntax_trees()))
    if len(found) > AT_LARGE:
        refuse([f"{name}: nothing outside its module uses it; begin it with _" for name in found])
    assert len(found) == AT_LARGE, f"only {len(found)} are left: lower AT_LARGE"


def test_an_unmarked_helper_is_noticed(tmp_path):
    (tmp_path / "base").mkdir()
    (tmp_path / "engines" / "data").mkdir(parents=True)
    (tmp_path / "deeper").mkdir()
    (tmp_path / "base" / "low.py").write_text(
        "__all__ = ['shown']\nLIMIT = FAR = 1\nWord = int\ndef shown(): pass\ndef taken(): return lonely()\n"
        "def lonely(): return _private(), LIMIT\ndef _private(): pass\ndef local(): pass\n"
    )
    (tmp_path / "engines" / "data" / "sums.py").write_text(
        "def looked_up(): pass\ndef less(): pass\n"
    )
    (tmp_path / "deeper" / "scale.py").write_text("def free(): pass\n")
    trees = [
        ("high", "from ..base.low import taken, FAR\nrn.sums.looked_up()\nother.less()\nlocal = 2"),
        ("low", "from rkhs_notes.base.low import lonely"),
    ]
    found = unmarked_helpers(tmp_path, [(stem, ast.parse(text)) for stem, text in trees])
    assert list(found) == ["low.LIMIT", "low.local", "low.lonely", "sums.less"]


def words_in(names):
    "Public names that are annotations: words of signatures, which are read in `help` and never called"
    return [
        name for name, value in names.items() if typing.get_origin(value) or isinstance(value, Word)
    ]


def test_no_word_of_a_signature_is_public():
    found = {name: getattr(rkhs_notes, name) for name, _ in public_names(ROOT / "rkhs_notes")}
    refuse(
        [f"{name}: export its cell by `#| exporti`, or begin it with _" for name in words_in(found)]
    )


def test_a_public_word_is_noticed():
    words = {
        "Count": Annotated[int, count(1)],
        "count": count(1),
        "Rows": list[int],
        "Either": int | str,
    }
    plain = {
        "Graph": rkhs_notes.Graph,
        "load": rkhs_notes.load,
        "seed": 0,
        "squared": rkhs_notes.squared,
    }
    assert words_in(words | plain) == list(words)


@pytest.mark.parametrize("word", ["TwoSizes", "MapOf", "Rule", "ColumnNames"])
def test_a_word_of_one_page_is_not_at_the_top(word):
    with pytest.raises(AttributeError, match=f"has no attribute '{word}'"):
        getattr(rkhs_notes, word)


def test_the_version_is_the_same_everywhere():
    cited = (ROOT / "CITATION.cff").read_text().partition("\nversion: ")[2].split()[0]
    changes = (ROOT / "CHANGELOG.md").read_text()
    assert (
        cited == rkhs_notes.__version__
        and f"\n## {cited}\n" in changes
        and "\n## Unreleased\n" in changes
    )


def test_a_module_names_its_neighbours_from_where_it_stands():
    "The exporter leaves an import over several lines as the notebook has it"
    modules = [path for path in (ROOT / "rkhs_notes").rglob("*.py") if path.name != "_modidx.py"]
    absolute = re.compile(r"(?m)^(?:from|import) rkhs_notes\b")
    found = [str(p.relative_to(ROOT)) for p in modules if absolute.search(p.read_text("utf-8"))]
    assert len(modules) > 100 and found == []


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name, home", rkhs_notes._JOINED.items())
def test_a_module_that_joined_another_answers_in_its_room_too(name, home):
    "Pickles of objects that were made there name it"
    now = rkhs_notes._module(rkhs_notes._modules()[home])
    room = now.__name__.rpartition(".")[0]
    assert importlib.import_module(f"{room}.{name}") is now
    assert importlib.util.find_spec(f"{room}.not_{name}") is None


def test_former_names_answer_in_the_rooms():
    "A module that is imported by its own address, before anybody asked for a former one"
    asked = [(old, name) for old in ("arrays", "plots") for name in rkhs_notes._FORMER[old].split()]
    lost = python(
        "import importlib\n"
        f"for module, name in {asked!r}:\n"
        "    hasattr(importlib.import_module(f'rkhs_notes.base.{module}'), name) or print(module, name)"
    )
    refuse(lost.splitlines())
