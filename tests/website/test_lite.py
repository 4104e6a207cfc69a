"""Runs without installing: what can be said of them without a network and without Pyodide."""

import json
import re
import subprocess
import sys
import zipfile

import nbformat
import pytest

from conftest import ROOT
from website import lite
from website.notebooks import NBS, flat, read


def test_without_pyodide_it_says_what_to_bring(tmp_path):
    run = [sys.executable, "-m", "website.lite", tmp_path]
    said = subprocess.run(run, capture_output=True, text=True)
    assert said.returncode == 1 and "PYODIDE=folder" in said.stderr
    assert f"Missing in {tmp_path}: pyodide.mjs and pyodide-lock.json" in said.stderr
    (tmp_path / "pyodide.mjs").touch()
    with pytest.raises(SystemExit, match=r": pyodide-lock.json\.$"):
        lite.distribution(tmp_path)
    (tmp_path / "pyodide-lock.json").touch()
    assert lite.distribution(tmp_path) == tmp_path


def test_notebooks_install_the_package_and_carry_no_outputs(tmp_path):
    path = NBS / "03_rkhs.ipynb"
    copy = read(lite.stage([path], tmp_path / "stage", tmp_path) / path.name)
    nbformat.validate(copy)
    assert copy.cells[0].source == "%pip install -q rkhs_notes"
    assert not any(cell.get("outputs") for cell in copy.cells)
    assert [c.source for c in copy.cells[1:]] == [
        flat(c.source) if c.cell_type == "markdown" else c.source for c in read(path).cells
    ]


def test_the_commands(tmp_path):
    make = lite.commands(tmp_path, tmp_path / "out")
    wheels = next(make)
    assert wheels[1:4] == ["-m", "pip", "wheel"] and ROOT in wheels and "--no-deps" in wheels
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / "a-1-py3-none-any.whl").touch()
    build = list(map(str, next(make)))
    assert build[1:5] == ["-m", "jupyter", "lite", "build"]
    assert f"--piplite-wheels={tmp_path / 'wheels' / 'a-1-py3-none-any.whl'}" in build
    assert build[build.index("--output-dir") + 1] == str(tmp_path / "out")


def test_the_page_is_built_and_finds_pyodide_and_the_package(tmp_path):
    pytest.importorskip("jupyterlite_pyodide_kernel", reason="comes with rkhs_notes[lite]")
    pyodide, work, out = tmp_path / "pyodide", tmp_path / "stage", tmp_path / "out"
    pyodide.mkdir()
    (pyodide / "pyodide.mjs").write_text("// stands for Pyodide")
    (pyodide / "pyodide-lock.json").write_text('{"info": {}, "packages": {}}')
    lite.stage([NBS / "03_rkhs.ipynb"], work, pyodide)
    build = lite.commands(work, out)
    next(build)  # what makes the wheels asks an index: one is written here
    (work / "wheels").mkdir()
    with zipfile.ZipFile(work / "wheels" / "rkhs_notes-1-py3-none-any.whl", "w") as wheel:
        about = "Metadata-Version: 2.1\nName: rkhs_notes\nVersion: 1\n"
        wheel.writestr("rkhs_notes-1.dist-info/METADATA", about)
    subprocess.run(list(map(str, next(build))), check=True, capture_output=True, cwd=work)
    config = json.loads((out / "jupyter-lite.json").read_text())["jupyter-config-data"]
    kernel = config["litePluginSettings"]["@jupyterlite/pyodide-kernel-extension:kernel"]
    assert (out / kernel["pyodideUrl"]).read_text() == "// stands for Pyodide"
    assert any(
        "rkhs-notes" in (out / url.partition("?")[0]).read_text() for url in kernel["pipliteUrls"]
    )
    assert (out / "files" / "03_rkhs.ipynb").exists() and list(
        (out / "pypi").glob("rkhs_notes-1-*.whl")
    )


def test_binder_installs_an_extra_that_exists_on_a_python_that_will_do():
    text = (ROOT / "pyproject.toml").read_text()
    extra = re.search(
        r"--editable \.\[(\w+)\]", (ROOT / ".binder" / "requirements.txt").read_text()
    )[1]
    assert re.search(rf"(?m)^{extra} = \[", text)
    least = re.search(r'requires-python = ">=3\.(\d+)"', text)[1]
    assert int((ROOT / ".binder" / "runtime.txt").read_text().removeprefix("python-3.")) >= int(
        least
    )
