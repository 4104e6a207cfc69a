"""Plain mentions of numbered things become links, and nothing else does."""

import re
from types import SimpleNamespace

import pytest
from docutils import nodes

from conftest import NOTEBOOKS, refuse
from website import links, previews
from website.labels import exercises
from website.notebooks import ROOT, read

FOUND = SimpleNamespace(
    statements={
        "5.2": ("Theorem", "05_x", "thm-5-2"),
        "5.2a": ("Theorem", "05_x", "thm-5-2a"),
        "3.7": ("Lemma", "03_y", "lem-3-7"),
    },
    formulas={"5.14": ("05_x", "eq-5-14"), "0.5": ("00_z", "eq-0-5")},
    exercises={"03.1": ("03_y", "ex-03-1")},
    chapters={"03": ("03_y", ""), "05": ("05_x", "")},
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("By Theorem 5.2 (b),", "By [Theorem 5.2](#thm-5-2) (b),"),
        ("Theorems 5.2 and 5.2a.", "[Theorems 5.2](#thm-5-2) and [5.2a](#thm-5-2a)."),
        ("| Lemma 3.7 |", "| [Lemma 3.7](03_y.ipynb#lem-3-7) |"),
        ("equation (5.14)", "equation [(5.14)](#eq-5-14)"),
        ("by (5.14), $x$ (0.5)", "by [(5.14)](#eq-5-14), $x$ (0.5)"),
        ("exercise 03.1", "[exercise 03.1](03_y.ipynb#ex-03-1)"),
        ("chapters 03 and 05", "[chapters 03](03_y.ipynb) and 05"),
    ],
)
def test_a_mention_becomes_a_link(text, expected):
    assert links.link(text, "05_x", FOUND) == (expected, [])


@pytest.mark.parametrize(
    "text",
    [
        "`Theorem 5.2`",
        "```\n(5.14)\n```",
        "$f(5.14)$ and $$x = (5.14) \\tag{5.14}$$",
        "## Theorem 5.2",
        "[a proof of Theorem 5.2](#thm-5-2)",
        "> **Theorem 5.2 (ridge).** all",
        "<details><summary>Theorem 5.2</summary> Theorem 5.2\nand (5.14)</details>",
        "<!-- Theorem 5.2 -->",
        "Wendland 2005, Theorem 5.2",
        "half (0.5), a third (0.33), (5.0), (2.75), theirs (A.18), Gaussian(5.14)",
    ],
)
def test_nothing_else_does(text):
    assert links.link(text, "05_x", FOUND) == (text, [])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Theorem 5.9 holds", "Theorem 5.9: '5.9'"),
        ("Lemma 5.2 holds", "Lemma 5.2: '5.2 is a Theorem'"),
        ("see equation (5.15)", "equation (5.15): '5.15'"),
        ("see (5.15)", "(5.15): '5.15'"),
        ("chapter 17", "chapter 17: '17'"),
    ],
)
def test_a_number_that_nothing_carries_is_noticed(text, problem):
    assert links.link(text, "05_x", FOUND) == (text, [problem])


def test_every_mention_in_the_notebooks_has_a_place():
    found, problems, count = links.places(), [], 0
    for path in NOTEBOOKS:
        for cell in read(path).cells:
            if cell.cell_type == "markdown":
                text, wrong = links.link(cell.source, path.stem, found)
                problems += [f"{path.stem}: {problem}" for problem in wrong]
                count += text.count("](") - cell.source.count("](")
    refuse(problems)
    print(f"{count} mentions became links")
    assert count > len(found.statements)


def test_exercises_are_ends_of_links():
    text = links.mark_exercises("**05.1 ★** Given\n\n**05.1** is not one")
    assert text == '<a id="ex-05-1"></a>**05.1 ★** Given\n\n**05.1** is not one'


def test_no_number_is_that_of_two_exercises():
    numbers = [number for path in NOTEBOOKS for number in exercises(path)]
    assert len(numbers) > 300
    refuse([f"exercise {n} stands twice" for n in set(numbers) if numbers.count(n) > 1])


def test_a_preview_has_no_links_and_ids():
    shown = '<p class="box" id="b"><a id="thm-1"></a><a href="#x">T</a> \\(x\\)</p>'
    assert previews.inert(shown) == '<p class="box">T \\(x\\)</p>'


def test_what_a_page_has_to_show():
    opening = nodes.paragraph("", "", nodes.raw("", '<a id="thm-5-2"></a>'))
    box = nodes.block_quote("", opening, classes=["box"])
    other = nodes.block_quote("", nodes.paragraph("", "no box"))
    formula = nodes.math_block("", r"\[a<b \tag{5.14}\]")
    doctree = nodes.container("", box, other, formula, nodes.math_block("", "c"))
    assert previews.things(doctree, lambda node: f"<p id='x'>{len(node)}</p>") == {
        "thm-5-2": "<p id='x'>1</p>",
        "eq-5-14": r'<div class="math">\[a&lt;b \tag{5.14}\]</div>',
    }


def test_the_script_is_small_and_asks_nobody():
    script = (ROOT / "website" / "static" / "previews.js").read_text()
    assert len(script.encode()) <= 10_000 and not re.search("https?:|fetch|XMLHttp", script)
