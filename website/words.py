"""The page of words: what the house calls things, where each is defined, and what others call it.

A line of words.txt: the word | one sentence | the statement, formula or page that defines it | other names.
"""

import re
from pathlib import Path

from .notation import definitions

WORDS = Path(__file__).with_suffix(".txt")
PAGE = """# Words of the house

{count} words, each with one sentence, the place that defines it, and what others say. Symbols are on the page
[Notation](notation.md).

| word | what it means here | where | elsewhere |
|---|---|---|---|
{rows}
"""


def lines():
    "[(word, sentence, place, elsewhere)]"
    text = WORDS.read_text(encoding="utf-8")
    return [[part.strip() for part in line.split(" |")] for line in text.splitlines()]


def place(where, found):
    "A link to a statement, a formula or a page"
    if where in found:
        page, anchor, title, _ = found[where]
        return f"[{title}](../{page}.ipynb#{anchor})"
    number = re.match(r"(\d\d[a-z]?)_", where)
    title = f"chapter {number[1]}" if number else where.partition("_")[2] or "front page"
    return f"[{title}](../{where}.ipynb)"


def bare(text):
    return re.sub(r"[\W_]+", " ", text.lower())


def page():
    "The page, as Markdown"
    found = definitions()
    rows = [f"| **{w}** | {s} | {place(p, found)} | {e} |" for w, s, p, e in lines()]
    return PAGE.format(count=len(rows), rows="\n".join(rows))
