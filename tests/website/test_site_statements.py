"""The page of statements holds every numbered box, in order, and says which code executes it."""

import re
from collections import Counter
from itertools import pairwise

import pytest

from conftest import refuse
from website import statements
from website.labels import order
from website.labels import statements as boxes
from website.notebooks import chapters, read

# counted without labels.py: any blockquote line that opens in bold with a capital word and a number
ANY_BOX = re.compile(r"(?m)^> ?\*\*([A-Z][a-z]+ \d+[a-z]?\.\d+[a-z]?)\b")
ROW = re.compile(
    r"(?m)^\| \[(\w+) (\d+[a-z]?\.\d+[a-z]?)\]\(\.\./(\w+)\.ipynb#([\w-]*)\) \| (.*?) \|"
)


@pytest.fixture(scope="module")
def page():
    return statements.page()


def test_every_box_is_on_the_page(page):
    standing = Counter(
        (path.stem, title)
        for path in chapters()
        for cell in read(path).cells
        if cell.cell_type == "markdown"
        for title in ANY_BOX.findall(cell.source)
    )
    listed = Counter((stem, f"{kind} {number}") for kind, number, stem, _, _ in ROW.findall(page))
    assert listed == standing and f"The pages number {standing.total()} " in page
    print(f"{standing.total()} statements")


def test_each_has_a_place_and_a_name(page):
    places = {
        path.stem: re.findall(r'<a id="([\w-]+)">', str(read(path).cells)) for path in chapters()
    }
    refuse(
        [
            f"{kind} {number} of {stem}: {'no name' if not name else 'no place'}"
            for kind, number, stem, anchor, name in ROW.findall(page)
            if not name or anchor not in places[stem]
        ]
    )


def test_numbers_rise(page):
    numbers = [order(number) for _, number, *_ in ROW.findall(page)]
    assert all(a < b for a, b in pairwise(numbers))


def test_evidence(write_notebook):
    path = write_notebook(
        "03_x.ipynb",
        '> **Theorem 3.1 (A).** <a id="thm-3-1"></a> a',
        '> **Lemma 3.2 (B).** <a id="lem-3-2"></a> b',
        "code:check_a(x)\nassert f(0.5)",
        "code:with expect_fail(LawBroken): rn.check_b(x)\nassert a; assert b",
        '> **Lemma 3.3 (C).** <a id="lem-3-3"></a> c',
        "## Next",
        "code:assert g",
    )
    a, b, c = (statements.evidence(box, read(path).cells) for box in boxes(path))
    assert a.laws == b.laws == ("check_a", "check_b") and (a.asserts, a.refused) == (3, 1)
    assert a.checks() == ["`check_a`", "`check_b`", "3 assertions", "1 impostor refused"]
    assert (c.laws, c.asserts, c.refused) == ((), 0, 0)


def test_mentions():
    code = "Solves (5.3), Theorem 5.2 and Theorems 5.6, 5.6a; Wendland 2005, Theorem 11.22; f(0.5)[0](1.5)"
    assert list(statements.mentions(code)) == ["(5.3)", "5.2", "5.6", "5.6a"]
