"""Author and year are the key: mentions of references.bib in text, and the page that lists the entries.

"Aronszajn, *Theory of reproducing kernels* (1950)" is a mention: names, perhaps a title, a year. It resolves
to the one entry that has these names, this year and a title that begins so.
"""

import ast
import re
from collections import defaultdict
from functools import cache
from typing import NamedTuple

from cells import NBS, split

DEFINITIONS = (ast.FunctionDef, ast.ClassDef)
BIB = NBS / "references.bib"
ENTRY = re.compile(r"(?ms)^@(\w+)\{([\w-]+),\n(.*?)^\}")
FIELD = re.compile(r"(?m)^  (\w+) = \{(.*)\},$")
YEAR = r"(?:1[89]|20)\d\d[a-z]?"
GAP = r"(?:(?:['’]s)?(?: [a-z]+){0,2}\*?)?(?P<title>,? \*[^*\n]+\*)?(?:,? (?:PNAS|JMLR) \d+)?,? ?\(?"
# where a year is read as that of a source: behind a name, behind a title, or alone in brackets
LIKE = re.compile(rf"(?:(?P<before>[A-ZÀ-Ž][\w’'-]+|et al\.|others|\*),? \(?|\()(?P<year>{YEAR})\b(?=[),;:.]| \(|$)")
MONTHS = "January February March April May June July August September October November December".split()
# what holds no mention: code, formulas, comments, tags, the targets of links, links as a whole, headings
HIDDEN = re.compile(
    r"(?ms)^```.*?^```|`[^`\n]+`|\$\$.*?\$\$|\$(?:\\.|[^$\\])+\$|<!--.*?-->|<[a-z/][^>\n]*>|\[[^]\n]*\]\([^)\n]*\)|^#+ .*?$"
)


class Entry(NamedTuple):
    kind: str
    key: str
    fields: dict

    @property
    def names(self):
        "Last names of the authors"
        return [name.split(",")[0].strip("{}") for name in self.fields["author"].split(" and ")]

    @property
    def year(self):
        "'2012a': the year, and the letter of the key where two papers share the rest"
        letter = re.search(r"\d{4}([a-z]?)$", self.key)
        return self.fields.get("year", "") + (letter[1] if letter else "")

    @property
    def forms(self):
        "How the authors are named in text"
        names = self.names
        if len(names) == 1:
            return names
        lists = [f"{', '.join(names[:-1])} and {names[-1]}", ", ".join(names)]
        return lists if len(names) == 2 else [*lists, f"{names[0]} et al.", f"{names[0]} and others"]


class Mention(NamedTuple):
    start: int  # of the year
    end: int
    text: str
    keys: list  # one, if all is well


@cache
def entries(path=BIB):
    "{key: Entry}, in the order of the file"
    found = ENTRY.findall(path.read_text(encoding="utf-8"))
    return {key: Entry(kind, key, dict(FIELD.findall(body))) for kind, key, body in found}


def plain(title):
    "Letters and digits only, to compare titles"
    return re.sub(r"\W", "", title).casefold()


@cache
def named():
    "{'Bach and Jordan': [entries]} of all forms of all names, and the pattern that finds one with its years"
    known = defaultdict(list)
    for entry in entries().values():
        if "shorthand" not in entry.fields:
            for form in entry.forms:
                known[form].append(entry)
    forms = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
    return known, re.compile(rf"(?<![\w-])(?P<names>{forms}){GAP}(?P<years>{YEAR}(?:, {YEAR})*)\b")


def fitting(candidates, year, title=""):
    "Keys of the entries of this year and title; without its letter a year will do if one entry has it"
    titled = [e for e in candidates if plain(e.fields["title"]).startswith(plain(title or ""))]
    exact = [e.key for e in titled if e.year == year]
    return exact or [e.key for e in titled if e.year[:4] == year]


def blank(text):
    "The text with everything hidden replaced by spaces, so that places stay"
    return HIDDEN.sub(lambda match: re.sub(r"[^\n]", "\0", match[0]), text)


def mentions(markdown):
    "Every mention in a text, and every year that looks like one and resolves to nothing (keys [])"
    text, found = re.sub(r"\n(?=\S)", " ", blank(markdown)), {}
    known, pattern = named()
    for match in pattern.finditer(text):
        others = re.search(r"[A-ZÀ-Ž][\w’-]+(?:,| and) $", text[: match.start()])
        for year in re.finditer(YEAR, match["years"]):
            at = match.start("years")
            keys = fitting(known[match["names"]], year[0], match["title"])
            place = (at + year.start(), at + year.end())
            found[place] = Mention(*place, match[0], [] if others else keys)
    for match in LIKE.finditer(text):
        place = match.span("year")
        if place not in found and match["before"] not in MONTHS:
            title = re.search(r"\*([^*]+)\*,? \(?$", text[: place[0]])  # a second title of the same authors
            keys = fitting(entries().values(), match["year"], title[1]) if title else []
            found[place] = Mention(*place, text[max(0, place[0] - 50) : place[1]], keys)
    return [found[place] for place in sorted(found)]


def docstrings(source):
    "The docstrings of a code cell, each on one line"
    tree = ast.parse(re.sub(r"(?m)^\s*[%!].*$", "", source))
    found = [ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, DEFINITIONS)]
    return "\n\n".join(re.sub(r"\s+", " ", text) for text in found if text)


def texts(cell):
    "What a cell says in words"
    return cell.source if cell.cell_type == "markdown" else docstrings(split(cell.source)[1])
