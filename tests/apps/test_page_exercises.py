"""What the exercises of a page hold: enough of them, of every kind, each with its solution."""

import re

import pytest

from conftest import NOTEBOOKS, refuse  # first: it puts the site's tooling on the path

from website.notebooks import read  # isort: skip

BESIDE = {
    "00a",
    "01c",
    "02a",
    "03a",
    "03b",
    "03c",
    "03d",
    "04a",
    "05b",
    "05c",
    "06a",
    "06b",
    "07b",
    "07c",
    "08a",
    "08b",
    "08c",
    "09b",
    "09c",
    "10a",
    "11b",
    "11c",
    "12a",
    "14b",
    "15c",
}  # pages made of sections that left a page of the course: three exercises are enough
PAGES = [path for path in NOTEBOOKS if path.stem[0].isdigit()]
KINDS = {
    "a flaw to find": r"(?i)find the flaw",
    "an open task": r"(?i)open task|open data|\(open:",
    "a proof": r"(?i)\bprove\b",
}


def exercises(nb):
    "({number: text with its stars}, text of the solutions) of a page"
    whole = "\n\n".join(cell.source for cell in nb.cells if cell.cell_type == "markdown")
    part = re.search(r"(?ms)^## Exercises(.*?)^## On one screen", whole)[1]
    asked, _, solved = part.partition("<summary>Solutions</summary>")
    pieces = re.split(r"(?m)^\*\*(\d\d[a-z]?\.\d+) (?=★)", asked)
    return dict(zip(pieces[1::2], pieces[2::2], strict=True)), solved


def lacking(nb, few=8, many=40, first=0):
    "What the exercises of a page do not have, as sentences"
    asked, solved = exercises(nb)
    problems = [f"no solution of {number}" for number in asked if f"**{number}**" not in solved]
    if not few <= len(asked) <= many:
        problems.append(f"{len(asked)} exercises, {few} to {many} are wanted")
    if few == 3:
        return problems
    every = "\n".join(asked.values())
    problems += [f"without {kind}" for kind, words in KINDS.items() if not re.search(words, every)]
    stars = {len(re.match("★+", text)[0]) for text in asked.values()}
    marked = sum("*first*" in text[:20] for text in asked.values())
    if marked != first:
        problems.append(f"{marked} exercises are marked *first*, {first} are wanted")
    return problems + [f"no exercise of {n} stars" for n in (2, 3, 4) if n not in stars]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_exercises_of_a_page(path):
    number = path.stem.partition("_")[0]
    limits = {}
    if number in BESIDE:
        limits = {"few": 3}
    elif path.parent.name == "nbs":
        limits = {"few": 6, "many": 8, "first": 4}
    refuse(lacking(read(path), **limits))


def test_a_page_that_lacks_some_is_noticed(write_notebook):
    page = write_notebook(
        "02_x.ipynb",
        "## Exercises\n\n**02.1 ★** One?\n\n**02.2 ★★ Prove** it.",
        "<details><summary>Solutions</summary>\n\n**02.1** Yes.\n</details>\n\n## On one screen",
    )
    assert lacking(read(page), 3) == [
        "no solution of 02.2",
        "2 exercises, 3 to 40 are wanted",
    ]
    assert "2 exercises, 8 to 40 are wanted" in lacking(read(page))
    assert lacking(read(page), 6, 8, 4) == [
        "no solution of 02.2",
        "2 exercises, 6 to 8 are wanted",
        "without a flaw to find",
        "without an open task",
        "0 exercises are marked *first*, 4 are wanted",
        "no exercise of 3 stars",
        "no exercise of 4 stars",
    ]
