"""Numbers that the front page states, counted when it is written: where it says <!-- counted -->."""

import re

from .counts import exercises
from .labels import statements
from .notebooks import ROOT, chapters, read

MARK = "<!-- counted -->"


def counted():
    "{what: how many}"
    files = [path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py")]
    return {
        "pages": len(chapters()),
        "statements": sum(len(statements(path)) for path in chapters()),
        "exercises": sum(len(exercises(read(path))) for path in chapters()),
        "tests": sum(len(re.findall(r"(?m)^def test_", text)) for text in files),
    }


def sentence():
    "The numbers in words"
    return (
        "Counted as this was written: {pages} pages of chapters with {statements} numbered definitions, "
        "theorems and laws, {exercises} exercises, {tests} tests.".format(**counted())
    )


def fill(markdown):
    "The text with the mark replaced by the sentence"
    return markdown.replace(MARK, sentence()) if MARK in markdown else markdown
