"""The code of notebooks, tests and tooling is in the house style, as ruff reads it from pyproject.toml."""

import subprocess
import sys

from conftest import ROOT


def ruff(path):
    "Exit status of ruff, with this project's settings"
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--config", ROOT / "pyproject.toml", path]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_style():
    found = ruff(".")
    assert found.returncode == 0, found.stdout


def test_an_unused_import_is_noticed(tmp_path):
    (tmp_path / "bad.py").write_text("import os\n")
    assert "F401" in ruff(tmp_path / "bad.py").stdout
