"""The cheat sheet and the ten minutes do what they say, pasted into an empty interpreter."""

import re
import subprocess
import sys
import warnings

import numpy as np
import pytest

from conftest import since
from rkhs_notes.apps import estimators, streaming, streaming_classes
from website.counts import minutes
from website.notebooks import find, read, split


def pasted(stem):
    "The code of a page, cell by cell"
    return [split(c.source)[1] for c in read(find(stem)).cells if c.cell_type == "code"]


def rows(first):
    "The code in the rows of the tables with a column `first`: the first of each column but the left one"
    text = "\n\n".join(c.source for c in read(find("cheat_sheet")).cells)
    tables = re.findall(rf"(?m)^\|.* {first} \|.*\n\|[-|]+\n((?:\|.*\n?)+)", text)
    lines = [line.strip("| ").split(" | ") for table in tables for line in table.splitlines()]
    return [[re.search("`(.+?)`", part)[1] for part in line[1:]] for line in lines]


WANTED = [codes[-1] for codes in rows("I want to")]
HABITS = [(codes[0], codes[-1]) for codes in rows("theirs")]


@pytest.fixture(scope="module")
def names():
    "What the cells of the page leave behind"
    given = {}
    for source in pasted("cheat_sheet"):
        exec(source, given)
    return given


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path_factory, monkeypatch):
    monkeypatch.chdir(
        tmp_path_factory.getbasetemp()
    )  # fit.npz is stored by one row, read by another


def value_of(line, names):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return eval(line, dict(names))


@pytest.mark.parametrize("line", WANTED)
def test_every_line_runs(line, names):
    names["fit"].save("fit.npz")
    answer = value_of(line, names)
    assert answer is not None or ".save(" in line


@pytest.mark.parametrize("theirs, ours", HABITS)
def test_the_same_number_under_two_names(theirs, ours, names):
    close = 1e-4 if "tol" in ours else 1e-9
    assert np.allclose(value_of(theirs, names), value_of(ours, names), rtol=1e-6, atol=close)


def test_the_noise_of_weighted_points_is_that_of_the_answers(names):
    (line,) = [line for line in WANTED if line.endswith(").noise_")]
    assert 0.01 < value_of(line, names) < 0.1  # 0.2² were added


def test_the_sheet_is_whole():
    assert len(WANTED) >= 50 and len(HABITS) >= 15 and len(set(WANTED)) == len(WANTED)
    rooms = estimators, streaming, streaming_classes
    classes = {name for r in rooms for name in r.__all__ if isinstance(getattr(r, name), type)}
    missing = classes - {"KernelEstimator"} - set(re.findall(r"\w+", f"{WANTED} {HABITS}"))
    assert not missing, missing


def test_ten_minutes_are_ten():
    assert 5 < sum(minutes(read(find("ten_minutes")))) < 10.5


@since("matplotlib", "3.10", "older ones call pyparsing by names that warn today")
def test_ten_minutes_run_as_pasted(tmp_path):
    "In an interpreter that holds nothing else, in an empty folder"
    said = "assert path.lams[0] < path.best < path.lams[-1] and abs(path.best - 0.72) < 0.005\n"
    said += "assert test.pvalue == 0.001 and machine.score(X[900:], c[900:]) > 0.95"
    cells = ["import matplotlib; matplotlib.use('agg')", *pasted("ten_minutes"), said]
    code = "\n".join(cells)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr  # which may hold a bar of progress
    assert [path.name for path in tmp_path.iterdir()] == ["digits.npz"]
