"""Exported code imports only what stands below it, and `import rkhs_notes` imports nothing."""

import ast
import subprocess
import sys

import rkhs_notes

from cells import module, read
from conftest import NOTEBOOKS, ROOT, refuse

GROUPS = ["ABCDE", "S", "0123456789", "VWXY"]  # appendices, engines, chapters, what stands above them
ALLOWED = {("kernels", "Kernel.feature_map", "features"), ("kernels", "Kernel.spectral", "random_features")}


def rank(stem):
    "The place of a notebook in the order of imports"
    return next(i for i, letters in enumerate(GROUPS) if stem[0] in letters), stem


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
        for i, name in enumerate(["low", "kernels", "features"])
    ]
    (tmp_path / "low.py").write_text("from .kernels import Kernel\n")
    (tmp_path / "features.py").write_text("from rkhs_notes.low import x\nfrom . import kernels\n")
    (tmp_path / "kernels.py").write_text(
        "class Kernel:\n def feature_map(self):\n  from .features import f\n"
        " def other(self):\n  from .features import f\n"
    )
    assert upward_imports(paths, tmp_path) == [
        ("kernels", "Kernel.other", "features"),
        ("low", "", "kernels"),
    ]


def test_importing_the_package_imports_nothing_heavy():
    script = "import rkhs_notes, sys; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    loaded = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "rkhs_notes" in loaded and not {"numpy", "scipy", "matplotlib", "sklearn"} & set(loaded)


def test_every_public_name_is_at_the_top():
    for name, owner in public_names(ROOT / "rkhs_notes"):
        assert getattr(rkhs_notes, name) is getattr(getattr(rkhs_notes, owner), name)
        assert name in dir(rkhs_notes)


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
