"""Author and year are the key: mentions of references.bib in text, and the page that lists the entries.

"Aronszajn, *Theory of reproducing kernels* (1950)" is a mention: names, perhaps a title, a year. It resolves
to the one entry that has these names, this year and a title that begins so.
"""

import ast
import json
import re
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import NamedTuple

from .notebooks import all_pages, parsed, split

DEFINITIONS = (ast.FunctionDef, ast.ClassDef)
BIB = Path(__file__).with_name("references.bib")
ENTRY = re.compile(r"(?ms)^@(\w+)\{([\w-]+),\n(.*?)^\}")
FIELD = re.compile(r"(?m)^  (\w+) = \{(.*)\},$")
YEAR = r"(?:1[89]|20)\d\d[a-z]?"
GAP = (
    r"(?:(?:['’]s)?(?: [a-z]+){0,2}\*?)?(?P<title>,? \*[^*\n]+\*)?(?:,? (?:PNAS|JMLR) \d+)?,? ?\(?"
)
# where a year is read as that of a source: behind a name, behind a title, or alone in brackets
BEFORE = r"(?:(?P<before>[A-ZÀ-Ž][\w’'-]+|et al\.|others|\*),? \(?|\()"
LIKE = re.compile(rf"{BEFORE}(?P<year>{YEAR})\b(?=[),;:.]| \(|$)")
MONTHS = (
    "January February March April May June July August September October November December".split()
)
# what holds no mention: code, formulas, comments, tags, the targets of links, links as a whole, headings
HIDDEN = re.compile(
    r"(?ms)^```.*?^```|`[^`\n]+`|\$\$.*?\$\$|\$(?:\\.|[^$\\])+\$|<!--.*?-->|<[a-z/][^>\n]*>"
    r"|\[[^]\n]*\]\([^)\n]*\)|^#+ .*?$"
)
SOURCES = re.compile(r"(?m)^\*\*Sources\.\*\*.*$")
LECTURE = re.compile(r"\b(?:MR|PK|MD|FL|CK)\b(?!\])")
PLACES = ("journal", "booktitle", "publisher", "institution", "note")
PAGE = """# Bibliography

{count} sources, each with the pages that cite it. The text cites by authors and year; a letter tells two
papers of one year apart. The same list for BibTeX: {{download}}`references.bib`.

## The lectures

The notebooks follow five public university lectures and call them by two letters.

{lectures}

{rest}
"""


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
    def short(self):
        "Aronszajn, Bach and Jordan, Gretton et al."
        names = self.names
        return f"{names[0]} et al." if len(names) > 2 else " and ".join(names)

    @property
    def forms(self):
        "How the authors are named in text"
        names = self.names
        if len(names) == 1:
            return names
        lists = [f"{', '.join(names[:-1])} and {names[-1]}", ", ".join(names)]
        return (
            lists if len(names) == 2 else [*lists, f"{names[0]} et al.", f"{names[0]} and others"]
        )


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


@cache
def mentions(markdown):
    "Every mention in a text, and every year that looks like one and resolves to nothing (keys [])"
    if not re.search(YEAR, markdown):
        return []
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
            title = re.search(
                r"\*([^*]+)\*,? \(?$", text[: place[0]]
            )  # a second title of the same authors
            keys = fitting(entries().values(), match["year"], title[1]) if title else []
            found[place] = Mention(*place, text[max(0, place[0] - 50) : place[1]], keys)
    return [found[place] for place in sorted(found)]


def docstrings(source):
    "The docstrings of a code cell, each on one line"
    nodes = ast.walk(parsed(source))
    found = [ast.get_docstring(node) or "" for node in nodes if isinstance(node, DEFINITIONS)]
    return "\n\n".join(re.sub(r"\s+", " ", text) for text in found if text)


def texts(path):
    "What the cells of a notebook say in words: markdown, and the docstrings of code"
    return _texts(path, path.stat().st_mtime_ns)


@cache
def _texts(path, written):
    nb = json.loads(path.read_text(encoding="utf-8"))
    cells = [(cell["cell_type"], "".join(cell["source"])) for cell in nb["cells"]]
    return [text if kind == "markdown" else docstrings(split(text)[1]) for kind, text in cells]


def link(markdown, where):
    "The text with the year of each mention, and each lecture under **Sources.**, linked to its entry"
    for start, end, _, keys in reversed(mentions(markdown)):
        if len(keys) == 1:
            markdown = (
                f"{markdown[:start]}[{markdown[start:end]}]({where}#{keys[0]}){markdown[end:]}"
            )
    return SOURCES.sub(
        lambda part: LECTURE.sub(rf"[\g<0>]({where}#lecture-\g<0>)", part[0]), markdown
    )


def cited():
    "{key: pages that cite it}, lectures by their shorthand"
    pages = defaultdict(list)
    for path in all_pages()[1:]:
        keys = {key for text in texts(path) for mention in mentions(text) for key in mention.keys}
        letters = {name for text in texts(path) for name in LECTURE.findall(text)}
        for key, entry in entries().items():
            if key in keys or entry.fields.get("shorthand") in letters:
                pages[key].append(path.stem)
    return pages


def place(fields):
    "Where it was published: 'Machine Learning 45(1), 5–32', 'arXiv:2207.06503', 'MIT Press'"
    if "eprint" in fields:
        return f"[arXiv:{fields['eprint']}](https://arxiv.org/abs/{fields['eprint']})"
    where = next((fields[name] for name in PLACES if name in fields), "")
    number = f"({fields['number']})" if "number" in fields else ""
    volume = f" {fields.get('volume', '')}{number}".rstrip()
    pages = f", {fields['pages']}" if "pages" in fields else ""
    return f"{where}{volume}{pages}".replace("--", "–")


def item(entry, pages):
    "The entry as an item of the list"
    f = entry.fields
    named = [
        " ".join(reversed(name.strip("{}").split(", "))) for name in f["author"].split(" and ")
    ]
    authors = " and ".join(filter(None, [", ".join(named[:-1]), named[-1]]))
    anchor = f"lecture-{f['shorthand']}" if "shorthand" in f else entry.key
    name = f.get("shorthand") or f"{entry.short} {entry.year}"
    title = re.sub(r"([_*])", r"\\\1", f["title"])
    doi = f" [doi:{f['doi']}](https://doi.org/{f['doi']})." if "doi" in f else ""
    short = {page: page.partition("_")[0] if page[0].isdigit() else page for page in pages}
    back = ", ".join(f"[{name}](../{page}.ipynb)" for page, name in short.items())
    way = f" [Item by item](way_{name}.md)." if "shorthand" in f else ""
    return f'* <a id="{anchor}"></a>**{name}.** {authors}. *{title}*. {place(f)}.{doi}{way} Cited in {back}.'


def page():
    "The page Bibliography, as Markdown"
    pages, groups = cited(), defaultdict(list)
    for key, entry in sorted(
        entries().items(), key=lambda pair: (plain(pair[1].short), pair[1].year)
    ):
        group = "The lectures" if "shorthand" in entry.fields else key[0].upper()
        groups[group].append(item(entry, pages[key]))
    lectures = groups.pop("The lectures")
    letters = [f"## {letter}\n\n" + "\n".join(groups[letter]) for letter in sorted(groups)]
    return PAGE.format(
        count=len(entries()), lectures="\n".join(lectures), rest="\n\n".join(letters)
    )


def download():
    "references.bib, for the site"
    return BIB.read_bytes()
