"""Every notebook runs, top to bottom, in a kernel of its own."""

import pytest
from nbformat.v4 import new_output

from conftest import each_notebook
from forks import fork_kernels
from run import attempt, fit_to_commit

fork_kernels(draw_once=True)


@each_notebook
def test_runs(path):
    _, error, _ = attempt(path, "notest")
    if error:
        pytest.fail(f"{path.name}\n{error}", pytrace=False)


def test_a_failing_cell_is_shown(write_notebook):
    _, error, _ = attempt(write_notebook("bad.ipynb", "code:x = 1", "code:assert x == 2, 'not two'"))
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
