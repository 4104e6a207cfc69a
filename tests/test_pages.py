"""What a page shows: import cells and checked cells are folded, pictures carry their alt texts."""

import nbformat
import pytest

import pages
from cells import read
from fold import fold, is_setup, setup_cells


@pytest.mark.parametrize(
    "source, setup",
    [
        ("import math\nfrom a import b\n\nuse_style()\nrng = np.random.default_rng(0)", True),
        ("%config x\nimport math", True),
        ("import math\nx = 1", False),
        ("import math\ndraw()", False),
        ("use_style()", False),
        ("not python", False),
    ],
)
def test_what_an_import_cell_is(source, setup):
    assert is_setup(source) == setup


def test_import_cells_of_a_page(write_notebook):
    path = write_notebook(
        "03_x.ipynb",
        "code:#| default_exp x",
        "code:#| export\nimport math",
        "code:import re",
        "code:f()",
        "code:import os",
        "code:#| export\nimport ast",
    )
    nb = read(path)
    assert [cell.source for cell in setup_cells(nb)] == [
        "#| export\nimport math",
        "import re",
        "#| export\nimport ast",
    ]


def test_what_folding_sets(write_notebook):
    path = write_notebook("03_x.ipynb", "code:import re", "code:#| checked: one\nassert 1", "code:f()")
    nb = read(path)
    nb.cells[2].source = "#| fig-alt: a line\nplot()"
    nb.cells[2].metadata["jupyter"] = {"source_hidden": True}  # by hand, and its content says otherwise
    nb.cells[2].outputs = [nbformat.v4.new_output("display_data", {"image/png": "", "text/plain": ""})]
    assert len(fold(nb)) == 3 and not fold(nb)
    assert [cell.metadata for cell in nb.cells] == [{"jupyter": {"source_hidden": True}}] * 2 + [{}]
    assert nb.cells[2].outputs[0].metadata == {"image/png": {"alt": "a line"}}


def test_what_the_site_folds():
    "One line that opens: the sentence of a checked cell"
    cell = nbformat.v4.new_code_cell("#| checked: 1 is true\nassert 1")
    (on_page,) = pages.shown(cell, "", folded=True)
    assert on_page.source == "assert 1" and on_page.metadata.tags == ["hide-input"]
    assert on_page.metadata.mystnb["code_prompt_show"] == "✓ checked: 1 is true"
