"""The command rkhs-notes: what it copies, refuses, repairs, and the status with which it ends."""

import json
from pathlib import Path

import nbformat
import numpy as np
import pytest

from conftest import ROOT
from rkhs_notes import cli


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
        assert (
            cli.doctor() == ill
            and ("findings with advice, above: 3" in capsys.readouterr().out) == ill
        )


@pytest.mark.parametrize("share", [0.6, 0.4])
def test_the_doctor_sees_budgets_above_half_of_the_memory(share):
    memory = float(
        next(found for what, found, _ in cli.machine_found() if what == "memory").split()[0]
    )
    with cli.settings.using(result_mib=share * memory):
        *_, advice = next(row for row in cli.machine_found() if row[0] == "memory")
    assert (f"set result_mib = {memory / 3:.0f}" in advice) == (share > 0.5) and bool(advice) == (
        share > 0.5
    )


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
