"""The command rkhs-notes: what it copies, refuses, repairs, and the status with which it ends."""

import contextlib
import json
import os
import re
import shlex
import subprocess
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote

import nbformat
import numpy as np
import pytest
from packaging.requirements import Requirement

import rkhs_notes
from conftest import ROOT, refuse
from rkhs_notes import cli
from rkhs_notes.apps.classroom import without_solutions
from rkhs_notes.base import errors


@pytest.fixture
def few(tmp_path, monkeypatch):
    "Three notebooks and a picture in place of all"
    folder = tmp_path / "source"
    (folder / "images").mkdir(parents=True)
    make = nbformat.v4
    texts = {"01_b": "words\n# Second #1\n# Third", "00_a": "## no\n# First", "answers_00": "# Key"}
    for name, text in texts.items():
        nbformat.write(
            make.new_notebook(cells=[make.new_markdown_cell(text)]), folder / f"{name}.ipynb"
        )
    (folder / "images" / "x.png").write_bytes(b"png")
    monkeypatch.setattr(cli, "notebook_folder", lambda: folder)
    return folder


@pytest.mark.second_route("notebook_titles", "known titles")
def test_titles_are_first_headings_in_order(few):
    assert cli.notebook_titles(few) == {
        "00_a.ipynb": "First", "01_b.ipynb": "Second #1", "answers_00.ipynb": "Key"}  # fmt: skip
    assert list(cli.notebook_titles(ROOT / "nbs"))[:2] == ["00_hilbert.ipynb", "01_kernels.ipynb"]


@pytest.mark.second_route("copy_notebooks", "the files, listed")
def test_a_copy_leaves_what_is_there_and_a_students_has_no_key(few, tmp_path, capsys):
    there = tmp_path / "copy"
    there.mkdir()
    (there / "00_a.ipynb").write_text("mine")
    assert [p.name for p in cli.copy_notebooks(there)] == [
        "01_b.ipynb",
        "answers_00.ipynb",
        "x.png",
    ]
    assert (there / "00_a.ipynb").read_text() == "mine"
    assert (there / "images" / "x.png").read_bytes() == b"png"
    names = [p.name for p in cli.copy_notebooks(tmp_path / "other", student=True)]
    assert names == ["00_a.ipynb", "01_b.ipynb", "x.png"]
    assert cli.main(["lab", str(there), "--student", "--copy-only"]) == 2
    assert cli.main(["lab", str(tmp_path / "other"), "--student", "--copy-only"]) == 0
    assert "0 files copied" in capsys.readouterr().out


def test_a_file_where_the_copy_should_stand_ends_in_one_line(few, tmp_path):
    (tmp_path / "afile").touch()
    for job in (["lab", "--copy-only", str(tmp_path / "afile")],
                ["lab", "--student", str(tmp_path / "afile" / "below")],
                ["run", "--folder", str(tmp_path / "afile")]):  # fmt: skip
        with pytest.raises(SystemExit, match="no copy in .*afile.*name another folder"):
            cli.main(job)


def test_numbers_on_the_command_line_lie_strictly_within():
    options = cli._parser().parse_args
    assert options(["compare", "a", "b", "--level", "0.9999"]).level == 0.9999
    assert options(["compare", "a", "b", "--seed", "0"]).seed == 0
    for wrong in (["--level", "0"], ["--level", "1"], ["--level", "nan"], ["--permutations", "0"],
                  ["--permutations", "2.5"], ["--seed", "-1"]):  # fmt: skip
        with pytest.raises(SystemExit) as end:
            options(["compare", "a", "b", *wrong])
        assert end.value.code == 2


def test_the_doctor_sees_a_wrong_number(monkeypatch, capsys):
    rows = cli.self_check()
    assert len(rows) == 4 and not any(advice for *_, advice in rows)
    good = cli.rbf_kernel
    monkeypatch.setattr(
        cli, "rbf_kernel", lambda X, gamma: good(X, gamma=gamma) + 1e-9 * np.eye(len(X))
    )
    assert [bool(advice) for *_, advice in cli.self_check()] == [True, False, False, False]
    for ill in (True, False):
        for part in ("packages_found", "machine_found", "self_check"):
            monkeypatch.setattr(cli, part, lambda ill=ill: [("a part", "found", "mend it" * ill)])
        assert cli.doctor() == ill
        out = capsys.readouterr().out
        assert out.count("a part  ") == out.count(" found\n") == 3
        assert ("findings with advice, above: 3" in out) == ill


def machine(part, monkeypatch, **environ):
    "(found, advice) of the rows about a part of the machine, with these variables alone"
    for name in cli._LIMITS:
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    return [row[1:] for row in cli.machine_found() if row[0] == part]


@pytest.mark.parametrize("share", [0.6, 0.4])
def test_the_doctor_sees_budgets_above_half_of_the_memory(share, monkeypatch):
    memory = float(machine("memory", monkeypatch)[0][0].split()[0])
    monkeypatch.setitem(cli.settings._DEFAULTS, "result_mib", str(share * memory))
    with cli.settings.using(result_mib=share * memory):
        ((_, advice),) = machine("memory", monkeypatch)
    assert (f"set result_mib = {memory / 3:.0f}" in advice) == (share > 0.5) == bool(advice)


def test_the_doctor_does_not_blame_what_was_set(monkeypatch):
    with cli.settings.using(result_mib=10**8):
        ((found, advice),) = machine("memory", monkeypatch)
    assert "results up to 1e+08 MiB, as set" in found and not advice
    slow = [{"user_api": "blas", "internal_api": "blas", "num_threads": 1}, {"user_api": "openmp"}]
    monkeypatch.setattr(cli, "threadpool_info", lambda: slow)
    monkeypatch.setattr(cli.os, "sched_getaffinity", lambda pid: {0, 1, 2, 3}, raising=False)
    ((found, advice),) = machine("blas", monkeypatch)
    assert found == "1 of 4 cores" and "OPENBLAS_NUM_THREADS=4" in advice
    for name in cli._LIMITS:
        ((found, advice),) = machine("blas", monkeypatch, **{name: "1"})
        assert found == f"1 of 4 cores, set by {name}=1" and not advice
    monkeypatch.setattr(cli.os, "sched_getaffinity", lambda pid: {3}, raising=False)
    ((found, advice),) = machine("blas", monkeypatch)
    assert found == "1 of 1 cores" and not advice  # all that there are


def test_the_version_is_told(capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(["--version"])
    assert (
        not end.value.code and capsys.readouterr().out == f"rkhs_notes {rkhs_notes.__version__}\n"
    )


def test_what_is_missing_is_installed_by_a_line_that_works(tmp_path, monkeypatch, capsys):
    "In a checkout that of the checkout; from a wheel, which may be on no index, the packages by name"
    tomllib = pytest.importorskip("tomllib", reason="comes with Python 3.11")

    assert errors.installing("lab") == f"pip install -e '{ROOT}[lab]'"
    monkeypatch.setattr(cli, "find_spec", lambda name: None if name == "jupyterlab" else True)
    with pytest.raises(
        SystemExit, match=r"jupyterlab is not installed:  pip install -e '.*\[lab\]'"
    ):
        cli.open_lab(tmp_path)
    monkeypatch.setattr(
        errors, "find_spec", lambda name: SimpleNamespace(origin=str(tmp_path / "a" / "b.py"))
    )
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    for extra in cli.OPTIONAL.values():
        named = shlex.split(errors.installing(extra))[2:]
        assert named and sorted(map(canonical, named)) == sorted(map(canonical, extras[extra]))


def canonical(requirement):
    return str(Requirement(requirement))


def dead_links(folder):
    "Relative links of the notebooks and pages in a folder that lead to no file"
    for path in sorted([*folder.rglob("*.ipynb"), *folder.rglob("*.md")]):
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".ipynb":
            cells = json.loads(text)["cells"]
            text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
        for pair in re.findall(r"\]\(([^)\s]+)[^)]*\)|(?:src|href)=\"([^\"]+)\"", text):
            link = unquote("".join(pair).partition("#")[0])
            if link and not re.match(r"\w+:", link) and not (path.parent / link).exists():
                yield f"{path.relative_to(folder)}: {link}"


def code_of(nb):
    return ["".join(cell["source"]) for cell in nb["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize("student", [False, True])
def test_a_copy_is_whole(student, tmp_path):
    names = {path.relative_to(tmp_path) for path in cli.copy_notebooks(tmp_path, student)}
    source = cli.notebook_folder()
    wanted = {p for p in source.rglob("*.*") if p.suffix in (".ipynb", ".md", ".png", ".svg")}
    wanted = {
        p.relative_to(source) for p in wanted if "/." not in str(p.relative_to(source.parent))
    }
    if student:
        wanted = {path for path in wanted if not path.name.startswith(cli.LEFT_OUT)}
    assert names == wanted > {Path("index.ipynb"), Path("begin.md"), Path("desk.md")}
    refuse(list(dead_links(tmp_path)))
    full, made = (
        json.loads((f / "00_hilbert.ipynb").read_text(encoding="utf-8")) for f in (source, tmp_path)
    )
    told = [code_of(nb) for nb in (full, without_solutions(full))]
    assert told[0] != told[1] and code_of(made) == told[student]
    if not student:
        read, made = (f / "apps" / "cli.ipynb" for f in (source, tmp_path))
        assert read.read_bytes() == made.read_bytes()


def test_a_dead_link_is_noticed_and_loses_its_link(few, tmp_path):
    text = "[a](../gone.md#x) [b](01_b.ipynb#y) [c](https://d.org/e.md) [f](answers) ![g](images/x.png)"
    (few / "README.md").write_text(text)
    copy = tmp_path / "copy"
    cli.copy_notebooks(copy)
    kept = "a [b](01_b.ipynb#y) [c](https://d.org/e.md) f ![g](images/x.png)"
    assert (copy / "README.md").read_text() == kept and not list(dead_links(copy))
    (copy / "README.md").write_text(text)
    assert list(dead_links(copy)) == ["README.md: ../gone.md", "README.md: answers"]


def test_lab_opens_at_the_front_page_and_shows_the_folder(few, tmp_path, monkeypatch):
    server = pytest.importorskip("jupyter_server.serverapp", reason="comes with rkhs_notes[lab]")
    asked = []
    monkeypatch.setattr(cli.subprocess, "call", asked.append)
    (few / "index.ipynb").write_text((few / "00_a.ipynb").read_text())
    for folder, student in ("mine", []), ("theirs", ["--student"]):
        cli.main(["lab", str(tmp_path / folder), *student])
    cli.open_lab(few / "images")
    assert [Path(call[-1]).relative_to(tmp_path).as_posix() for call in asked] == [
        "mine/index.ipynb",
        "theirs/index.ipynb",
        "source/images",
    ]
    recipe = (ROOT / "Makefile").read_text().partition("\nlab: ")[2].splitlines()[1]
    assert recipe.split()[1:] == ["lab", "nbs/index.ipynb"]
    for page in asked[0][-1], str(ROOT / "nbs" / "index.ipynb"):
        app = server.ServerApp()
        app.parse_command_line([page])
        assert app.root_dir == str(Path(page).parent) and app.file_to_run == page


PIP = """#!/bin/sh
if [ "$1 $2" = "-m venv" ]; then mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; fi
if [ "$2" = pip ]; then echo "pip $*" >> asked; case "$*" in *--quiet*) ;; *) echo Collecting numpy;; esac; fi
"""


def test_an_installation_shows_its_progress_on_a_terminal_alone(tmp_path):
    import pty

    (tmp_path / "python").write_text(PIP)
    (tmp_path / "python").chmod(0o755)
    (tmp_path / "pyproject.toml").touch()
    make = ["make", "-C", tmp_path, "-f", ROOT / "Makefile", f"PY={tmp_path / 'python'}"]
    make += [f"VENV={tmp_path / 'venv'}", tmp_path / "venv" / ".ok"]
    plain = subprocess.run(make, capture_output=True, text=True, check=True).stdout
    (tmp_path / "venv" / ".ok").unlink()
    ours, theirs = pty.openpty()
    subprocess.run(make, stdout=theirs, check=True)
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # the end of a terminal
        while part := os.read(ours, 4096):
            shown += part
    shown = shown.decode()
    assert "Collecting numpy" in shown and "Collecting" not in plain
    assert plain.count("installing into") == shown.count("installing into") == 1
    assert [line.count("--quiet") for line in (tmp_path / "asked").read_text().splitlines()] == [
        1,
        0,
    ]


def test_one_notebook_that_fails_is_said_and_ends_with_1(few, tmp_path, monkeypatch, capsys):
    import nbclient

    class Client:
        def __init__(self, nb, **options):
            self.fails = "First" in nb.cells[0].source

        def execute(self):
            if self.fails:
                raise nbclient.exceptions.CellExecutionError(
                    "trace", "ZeroDivisionError", "by zero"
                )

    monkeypatch.setattr(nbclient, "NotebookClient", Client)
    assert cli.main(["run", "0", "--folder", str(tmp_path / "run")]) == 1
    told = capsys.readouterr().out
    assert "FAILED: ZeroDivisionError: by zero" in told and told.count("ran in") == 1
    assert cli.main(["run", "01", "--folder", str(tmp_path / "run")]) == 0
    with pytest.raises(SystemExit, match="no notebook begins with 'z'"):
        cli.main(["run", "z"])


def test_files_that_cannot_be_compared_end_in_one_line(tmp_path, capsys):
    assert cli.main(["compare", str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("rkhs-notes compare: ") and "there is no file" in line
    for name, start in (("a", 0), ("b", 5)):
        np.save(tmp_path / f"{name}.npy", np.arange(40.0)[:, None] % 7 + start)
    files = [str(tmp_path / f"{name}.npy") for name in ("a", "b")]
    assert cli.main(["compare", *files, "--permutations", "99"]) == 1
    capsys.readouterr()
    assert cli.main(["compare", files[0], files[0], "--permutations", "99", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pvalue"] > 0.05


@pytest.mark.parametrize(
    "call", ["", "folder", "folder --csv marks.csv", "--seed 5 folder", "--help"]
)
def test_grade_says_what_grades_instead_and_where_it_stands(call, capsys):
    assert cli.main(["grade", *call.split()]) == 2
    told = capsys.readouterr().err
    assert "nbgrader" in told and "otter-grader" in told and len(told.splitlines()) <= 5
    (path,) = [line for line in told.splitlines() if line.endswith(".ipynb")]
    page = Path(path).read_text(encoding="utf-8")
    assert "nbgrader autograde" in page and "otter run" in page
