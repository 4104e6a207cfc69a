"""Runs without installing: what can be said of them without a network and without Pyodide."""

import re
import subprocess
import sys

import nbformat
import pytest

import lite
from cells import NBS, read
from conftest import ROOT


def test_without_pyodide_it_says_what_to_bring(tmp_path):
    run = [sys.executable, ROOT / "nbs" / "site" / "lite.py", tmp_path]
    said = subprocess.run(run, capture_output=True, text=True)
    assert said.returncode == 1 and "PYODIDE=folder" in said.stderr
    assert f"Missing in {tmp_path}: pyodide.js and pyodide-lock.json" in said.stderr
    (tmp_path / "pyodide.js").touch()
    with pytest.raises(SystemExit, match=r": pyodide-lock.json\.$"):
        lite.distribution(tmp_path)
    (tmp_path / "pyodide-lock.json").touch()
    assert lite.distribution(tmp_path) == tmp_path


def test_notebooks_install_the_package_and_carry_no_outputs(tmp_path):
    path = NBS / "03_rkhs.ipynb"
    copy = read(lite.stage([path], tmp_path / "stage") / path.name)
    nbformat.validate(copy)
    assert copy.cells[0].source == "%pip install -q rkhs_notes"
    assert not any(cell.get("outputs") for cell in copy.cells)
    assert [c.source for c in copy.cells[1:]] == [c.source for c in read(path).cells]


def test_the_commands(tmp_path):
    make = lite.commands(tmp_path / "pyodide", tmp_path, tmp_path / "out")
    wheels = next(make)
    assert wheels[1:4] == ["-m", "pip", "wheel"] and ROOT in wheels and "--no-deps" in wheels
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / "a-1-py3-none-any.whl").touch()
    build = list(map(str, next(make)))
    assert build[1:5] == ["-m", "jupyter", "lite", "build"] and f"--pyodide={tmp_path / 'pyodide'}" in build
    assert f"--piplite-wheels={tmp_path / 'wheels' / 'a-1-py3-none-any.whl'}" in build
    assert build[build.index("--output-dir") + 1] == str(tmp_path / "out")


def test_binder_installs_an_extra_that_exists_on_a_python_that_will_do():
    text = (ROOT / "pyproject.toml").read_text()
    extra = re.search(r"--editable \.\[(\w+)\]", (ROOT / ".binder" / "requirements.txt").read_text())[1]
    assert re.search(rf"(?m)^{extra} = \[", text)
    least = re.search(r'requires-python = ">=3\.(\d+)"', text)[1]
    assert int((ROOT / ".binder" / "runtime.txt").read_text().removeprefix("python-3.")) >= int(least)
