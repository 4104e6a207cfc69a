"""The code of notebooks, tests and tooling is in the house style, as ruff reads it from pyproject.toml."""

import ast
import subprocess
import sys

from conftest import ROOT


def ruff(path):
    "Exit status of ruff, with this project's settings"
    command = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--no-cache",
        "--config",
        ROOT / "pyproject.toml",
        path,
    ]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_style():
    found = ruff(".")
    assert found.returncode == 0, found.stdout


def test_the_formatter_has_laid_out_every_cell_and_module():
    command = [sys.executable, "-m", "ruff", "format", "--no-cache", "--check", "nbs", "website"]
    command += ["tests", "benchmarks", "e2e"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout


def test_an_unused_import_is_noticed(tmp_path):
    (tmp_path / "bad.py").write_text("import os\n")
    assert "F401" in ruff(tmp_path / "bad.py").stdout


def runs_what_it_reads(source):
    "Lines that import pickle and its like, or call eval or exec"
    for node in ast.walk(ast.parse(source)):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        called = isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("eval", "exec")
        if called or {"pickle", "marshal", "shelve", "dill", "joblib"} & {
            n.partition(".")[0] for n in names
        }:
            yield node.lineno


def test_no_module_runs_what_it_reads():
    for slip in (
        "import pickle",
        "from joblib import load",
        "x = eval('1')",
        "def f(s):\n    exec(s)",
    ):
        assert list(runs_what_it_reads(slip)), slip
    sources = {
        path.name: path.read_text(encoding="utf-8") for path in (ROOT / "rkhs_notes").rglob("*.py")
    }
    found = {name for name, source in sources.items() if list(runs_what_it_reads(source))}
    assert found == {"classroom.py"}  # one's own answers, when they are written for handing in


def test_no_module_asserts():
    "python -O leaves assertions out"
    for path in (ROOT / "rkhs_notes").rglob("*.py"):
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        asserts = [node.lineno for node in nodes if isinstance(node, ast.Assert)]
        assert not asserts, f"{path.name}, lines {asserts}: raise, or use require"
