"""Every notebook runs, top to bottom, in a kernel of its own."""

import pytest
from nbformat.v4 import new_output

from conftest import NOTEBOOKS, each_notebook
from website import run
from website.forks import fork_kernels
from website.notebooks import read
from website.run import attempt, data_missing, fit_to_commit, store

fork_kernels(draw_once=True)


@each_notebook
def test_runs(path):
    _, error, _ = attempt(path, "notest")
    if error:
        pytest.fail(f"{path.name}\n{error}", pytrace=False)


def test_a_failing_cell_is_shown(write_notebook):
    _, error, _ = attempt(
        write_notebook("bad.ipynb", "code:x = 1", "code:assert x == 2, 'not two'")
    )
    assert "assert x == 2" in error and "AssertionError: not two" in error


def test_switched_off_cells_do_not_run(write_notebook):
    path = write_notebook("off.ipynb", "code:#| eval: false\n1/0", "code:#| notest\n1/0")
    assert attempt(path, "notest")[1] == "" and "ZeroDivisionError" in attempt(path)[1]


def test_the_prints_of_a_cell_are_one_output(write_notebook):
    slow = "code:import time\nfor word in 'abc':\n    print(word, flush=True)\n    time.sleep(0.05)"
    nb, error, _ = attempt(write_notebook("prints.ipynb", slow))
    assert error == "" and [o.text for o in nb.cells[0].outputs] == ["a\nb\nc\n"]


def test_what_is_committed_of_an_output():
    def kept(*mimes, text="<IPython.core.display.HTML object>"):
        data = dict.fromkeys(mimes, "") | {"text/plain": text}
        return set(fit_to_commit(new_output("display_data", data)).data)

    widget = "application/vnd.jupyter.widget-view+json"
    assert kept("image/png", "text/html", widget) == {"image/png", "text/plain"}
    assert kept("text/html", text="a table") == {"text/plain"}
    assert kept("text/html") == {"text/html", "text/plain"}


WITH_DATA = """code:from rkhs_notes import settings
if settings.data_dir:
    print("from data")
else:
    print("settings.data_dir is empty: bring them.")"""


@pytest.fixture
def page_with_data(write_notebook, tmp_path, monkeypatch):
    "Stores what a page printed when it was run with a folder of data, or without; its path"

    def here(paths):  # no pool of processes beside the kernels' server
        return ((path, attempt(path)[0]) for path in paths)

    monkeypatch.setattr(run, "execute_all", here)

    def stored(folder):
        monkeypatch.setenv("RKHS_NOTES_DATA_DIR", str(folder))
        path = write_notebook("03_real.ipynb", WITH_DATA)
        store([path])
        monkeypatch.setenv("RKHS_NOTES_DATA_DIR", "")
        return path

    return stored


def printed(path):
    return "".join(output.text for output in read(path).cells[0].outputs)


def test_outputs_from_data_that_are_not_here_stay(page_with_data, write_notebook, tmp_path, capsys):
    page, other = page_with_data(tmp_path), write_notebook("04_other.ipynb", "code:print(7)")
    before = page.read_bytes()
    with pytest.raises(SystemExit, match="left as they are: 03_real.ipynb"):
        store([page, other])
    assert (
        page.read_bytes() == before and printed(page) == "from data\n" and printed(other) == "7\n"
    )
    said = capsys.readouterr().out
    assert (
        "03_real.ipynb, cell 0" in said
        and "RKHS_NOTES_DATA_DIR" in said
        and "WITHOUT_DATA=yes" in said
    )
    store([page], without_data=True)
    assert printed(page).startswith("settings.data_dir is empty")


def test_a_page_runs_that_stored_no_outputs_from_data(page_with_data):
    page = page_with_data("")
    store([page])
    assert not list(data_missing(page)) and printed(page).startswith("settings.data_dir is empty")


def test_which_pages_keep_outputs_from_data(monkeypatch):
    monkeypatch.setenv("RKHS_NOTES_DATA_DIR", "")
    monkeypatch.setenv("RKHS_NOTES_PROFILE", "quick")
    found = [path.stem for path in NOTEBOOKS if list(data_missing(path))]
    assert found == ["09b_draws", "12a_resolution", "13_structured", "13a_graphs"]
    monkeypatch.setenv("RKHS_NOTES_DATA_DIR", "/data")
    assert not [path.stem for path in NOTEBOOKS if list(data_missing(path))]
