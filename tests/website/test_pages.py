"""The page is the program: how long its cells are, what is folded, how a forge and the site show it."""

import ast
import re

import nbformat
import pytest

from conftest import (
    NOTEBOOKS,
    each_notebook,
    refuse,
)  # first: it puts the site's tooling on the path

from website import pages  # isort: skip
from website.notebooks import is_setup, read, split  # isort: skip
from website.counts import EXERCISES, counted, minutes, size, time  # isort: skip
from website.fold import fold, setup_cells  # isort: skip

# what a page may have at most; a limit that is not named is 0
EVERY_PAGE = {
    "wide lines": 0,  # of code, over 120 columns
    "long imports": 0,  # import cells over 20 lines, where a forge shows them
    "checks": 0,  # checked cells over 150 syntax nodes, with an output, or that check nothing
    "folded cells": 0,  # but for import cells and checked cells, which fold by themselves
    "stale folds": 0,  # cells that website/fold.py would change: run make prepare
    "raw sources": 0,  # formulas, links and code in a block of HTML that no blank line ends: never drawn
    "lecture numbers": 0,  # L1 to L5 for lectures, which look like L¹: the index has their short names
}
RAW = re.compile(
    r"(?m)^ {0,3}</?(?:details|summary|div|p|table|figure)\b(?:.+\n?)+"
)  # up to a blank line
SOURCE = re.compile(r"\$[^$]+\$|\]\(|`")
CHAPTER = {"words": 3000}
COURSE = {  # a page of the course is a meeting of ninety minutes, and its code is for reading
    "minutes": 105,
    "exported lines": 80,
    "exported share in a hundred": 35,
    "longest exported cell": 25,
    "import lines": 12,
    "machinery": 0,
}
MACHINERY = re.compile(r"_vjp|_tex\w*|_tile|_family|native=True|\bWord\(|\bAnnotated\[")
APPENDIX = {"no sentence": 0}  # exported cells without a sentence before them


def limits(path):
    "{limit: at most} of a page"
    if path.stem == "index":
        return EVERY_PAGE
    return EVERY_PAGE | (CHAPTER if path.stem[0].isdigit() else APPENDIX)


def exported(nb):
    "(place, cell, cell before) of the cells that make the module, without those of imports only"
    for i, cell in enumerate(nb.cells):
        if cell.cell_type == "code" and {"export", "exporti"} & set(split(cell.source)[0]):
            if not is_setup(split(cell.source)[1]):
                yield i, cell, nb.cells[i - 1] if i else None


def defined(cell):
    "The names that a cell defines"
    tree = ast.parse(split(cell.source)[1])
    return {node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}


def says_something(cell):
    "Is this a markdown cell with more than a heading?"
    if cell is None or cell.cell_type != "markdown":
        return False
    return len(re.findall(r"\w+", re.sub(r"(?m)^#.*|<!--.*?-->", "", cell.source))) > 2


def measure(path):
    "({limit: value}, {limit: [where]}) of a page"
    nb, chapter = read(path), path.stem[0].isdigit()
    where = {name: [] for name in limits(path)}
    imports = {id(cell) for cell in setup_cells(nb)}
    for i, cell in enumerate(nb.cells):
        where["lecture numbers"] += [
            f"{i}: {name}" for name in re.findall(r"\bL[1-5]\b", cell.source)
        ]
        if cell.cell_type != "code":
            raw = [block for block in RAW.findall(cell.source) if SOURCE.search(block)]
            where["raw sources"] += [f"{i}: {block[:60]}…" for block in raw]
            continue
        lines = lines_of(cell)
        where["wide lines"] += [f"{i}: {line.strip()[:40]}…" for line in lines if len(line) > 120]
        if id(cell) in imports and len(lines) > 20:
            where["long imports"].append(f"{i}: {len(lines)} lines")
        options = split(cell.source)[0]
        asserts = re.search(r"\b(assert|check_|expect_fail)", cell.source)
        if "checked" in options and (
            size(split(cell.source)[1])[0] > 150 or cell.outputs or not asserts
        ):
            where["checks"].append(f"{i}: {len(lines)} lines, {len(cell.outputs)} outputs")
        if options.get("code-fold") == "true" and id(cell) not in imports:
            where["folded cells"].append(f"{i}: {lines[0][:40]}…")
    for i, cell, before in exported(nb) if not chapter else ():
        if not says_something(before):
            where["no sentence"].append(f"{i}: {', '.join(sorted(defined(cell)))}")
    where["stale folds"] = [f"{i}" for i in stale(nb)]  # last: it folds
    values = {name: len(found) for name, found in where.items()}
    if chapter:
        values["words"] = words(nb)
    return values, where


def lines_of(cell):
    "Lines of a code cell that are neither blank nor directives"
    return [line for line in split(cell.source)[1].splitlines() if line.strip()]


def words(nb):
    "Words of the text before the exercises"
    texts = [cell.source for cell in nb.cells if cell.cell_type == "markdown"]
    texts = texts[: next((i for i, o in enumerate(texts) if EXERCISES.search(o)), None)]
    return sum(map(counted, texts))


def stale(nb):
    "Places of the cells that fold.py would change"
    changed = {id(cell) for cell in fold(nb)}
    return [i for i, cell in enumerate(nb.cells) if id(cell) in changed]


def problems(path):
    "Limits that a page misses"
    found = []
    values, where = measure(path)
    for name, most in limits(path).items():
        if values[name] > most:
            found.append(f"{path.stem}: {name} {values[name]}, at most {most}")
            found += [f"    cell {place}" for place in where[name]]
    return found


def of_the_course(nb):
    "{limit: value} of a page of the course, exercises apart"
    exported, taught, imports, machinery, asking = [0], 0, 0, 0, False
    for cell in nb.cells:
        if cell.cell_type == "markdown":
            for heading in re.findall(r"(?m)^## (.*)$", cell.source):
                asking = heading.strip() == "Exercises"
            continue
        options, body = split(cell.source)
        if is_setup(body):
            imports += len(lines_of(cell))
        elif {"export", "exporti"} & set(options):
            exported.append(size(body)[1])
            machinery += bool(MACHINERY.search(cell.source))
        elif not asking:
            taught += size(body)[1]
        if not asking and not is_setup(body):
            imports += len(re.findall(r"(?m)^(?:from \S+ import|import) ", body))
    return {
        "minutes": sum(minutes(nb)),
        "exported lines": sum(exported),
        "exported share in a hundred": 100 * sum(exported) / max(1, sum(exported) + taught),
        "longest exported cell": max(exported),
        "import lines": imports,
        "machinery": machinery,
    }


def too_much(nb):
    "What a page of the course asks beyond a meeting, as sentences"
    return [
        f"{name} {value:.0f}, at most {COURSE[name]}"
        for name, value in of_the_course(nb).items()
        if value > COURSE[name]
    ]


@each_notebook
def test_a_page_keeps_its_limits(path):
    refuse(problems(path))


COURSE_PAGES = [path for path in NOTEBOOKS if path.parent.name == "nbs" and path.stem != "index"]


@pytest.mark.parametrize("path", COURSE_PAGES, ids=lambda path: path.stem)
def test_a_page_of_the_course_is_a_meeting(path):
    refuse(too_much(read(path)))


def test_the_course_takes_twenty_hours():
    "Thirteen meetings of ninety minutes"
    assert len(COURSE_PAGES) == 13
    assert sum(sum(minutes(read(path))) for path in COURSE_PAGES) <= 13 * 90


def test_a_page_that_asks_for_more_is_noticed(write_notebook):
    long = "code:#| export\ndef f():\n" + "    x = 1\n" * 45
    path = write_notebook(
        "03_x.ipynb", "word " * 9000, long, long, "code:" + "import a\n" * 13,
        "code:#| export\ndef f(x, _tile): pass", "## Exercises\n" + "word " * 9000, "code:x = 1",
    )  # fmt: skip
    found = [re.sub(r" [\d.]+, at most \d+$", "", problem) for problem in too_much(read(path))]
    assert set(found) == set(COURSE) - {"minutes"}
    more = write_notebook("03_y.ipynb", "word " * 9000, "code:" + "x = 1\n" * 160)
    assert too_much(read(more)) == ["minutes 108, at most 105"]


def test_the_card_is_written_with_its_minutes(write_notebook):
    card = "# X\n\n| | |\n|---|---|\n| **Time** | an evening |"
    body = ["word " * 3000, "code:#| export\nimport math", "code:" + "x = 1\ny = 2\n" * 16]
    body += ["code:#| checked: x\nassert x", "## Exercises\n**03.1 ★★** *first* Do\n", "word " * 99]
    path = write_notebook("03_x.ipynb", card, *body, "**03.2 ★** Do", "## On one screen\nIt.")
    nb = read(path)
    assert nb.cells[0] in fold(nb)
    assert nb.cells[0].source.endswith(
        "| 20 minutes for the text, 10 for the code, 16 for the four exercises marked *first* |"
    )
    for cell in nb.cells:
        cell.source = cell.source.replace(" *first*", "")
    assert time(nb).endswith("24 for the exercises")


FUNCTION = "code:#| export\ndef f():\n" + "    x = 1\n" * 45


@pytest.mark.parametrize(
    "limit, cells",
    [
        ("words", ["one two three " * 1001]),
        ("folded cells", ["code:#| export\n#| code-fold: true\ndef f(): pass"]),
        ("wide lines", ["code:x = " + "1 + " * 40 + "1"]),
        ("long imports", ["code:" + "\n".join(f"import a{i}" for i in range(21))]),
        ("checks", ["code:#| checked: all\n" + "assert a == b\n" * 40]),
        ("checks", ["code:#| checked: nothing\nx = 1"]),
        ("stale folds", ["code:import math"]),
        ("raw sources", ["<details><summary>Answer</summary> At $x$.</details>"]),
        ("raw sources", ["<details><summary>Answer</summary>\nSee [there](#a).\n\n</details>"]),
        ("lecture numbers", ["The recipe of L1, in $L^2$ and L²."]),
    ],
)
def test_a_chapter_beyond_a_limit_is_noticed(write_notebook, limit, cells):
    path = write_notebook("03_x.ipynb", *cells)
    assert any(f"03_x: {limit}" in problem for problem in problems(path))


def test_a_chapter_within_its_limits(write_notebook):
    whole = FUNCTION.replace("def f", "class Kernel").replace("():", ":")
    one = "code:#| export\ndef f(): pass"
    path = write_notebook(
        "03_x.ipynb",
        "# X $" + "word " * 4000 + "$",
        whole,
        one,
        one,
        "## Exercises",
        "word " * 4000,
    )
    assert problems(path) == []


def test_an_appendix_says_a_sentence_before_each_cell(write_notebook):
    path = write_notebook("A_x.ipynb", "## Title", FUNCTION, "What f does.", FUNCTION)
    assert problems(path) == ["A_x: no sentence 1, at most 0", "    cell 1: f"]


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
    path = write_notebook(
        "03_x.ipynb", "code:import re", "code:#| checked: one\nassert 1", "code:f()"
    )
    nb = read(path)
    nb.cells[2].source = "#| fig-alt: a line\nplot()"
    nb.cells[2].metadata["jupyter"] = {
        "source_hidden": True
    }  # by hand, and its content says otherwise
    nb.cells[2].outputs = [
        nbformat.v4.new_output("display_data", {"image/png": "", "text/plain": ""})
    ]
    assert len(fold(nb)) == 3 and not fold(nb)
    assert [cell.metadata for cell in nb.cells] == [{"jupyter": {"source_hidden": True}}] * 2 + [{}]
    assert nb.cells[2].outputs[0].metadata == {"image/png": {"alt": "a line"}}


def test_what_the_site_folds():
    "One line that opens: the sentence of a checked cell"
    cell = nbformat.v4.new_code_cell("#| checked: 1 is true\nassert 1")
    (on_page,) = pages.shown(cell, "", folded=True)
    assert on_page.source == "assert 1" and on_page.metadata.tags == ["hide-input"]
    assert on_page.metadata.mystnb["code_prompt_show"] == "✓ checked: 1 is true"


def test_imports_that_are_to_be_pasted_stay_in_sight(write_notebook):
    shown, folded = "code:#| code-fold: false\nimport re", "code:import re"
    assert setup_cells(read(write_notebook("03_x.ipynb", shown, "code:f()"))) == []
    assert len(setup_cells(read(write_notebook("04_x.ipynb", folded, "code:f()")))) == 1


def test_import_cells_share_a_bar(write_notebook):
    "Those that follow one another; an import behind a sentence keeps its own"
    nb = read(
        write_notebook(
            "03_x.ipynb", "code:#| export\nimport re", "code:import ast", "Why", "code:f()"
        )
    )
    pages.join_imports(nb)
    assert len(nb.cells) == 3 and nb.cells[1].source == "Why"
    (on_page,) = pages.shown(nb.cells[0], "x", folded=True)
    assert on_page.source == "import re\nimport ast"
