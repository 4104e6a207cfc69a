"""The numbered things of the notebooks: statements in their boxes, tagged formulas, exercises."""

import re
from dataclasses import dataclass
from functools import cache

from .notebooks import read

KINDS = (
    "Theorem",
    "Definition",
    "Lemma",
    "Proposition",
    "Corollary",
    "Example",
    "Law",
    "Algorithm",
)
BOX = re.compile(
    rf"(?m)^> \*\*(?P<kind>{'|'.join(KINDS)}) (?P<number>(?:\d+[a-z]?|[A-Z]+)\.\d+[a-z]?)"
    r"(?: \((?P<name>.+?)\))?\.\*\*(?P<body>.*(?:\n>.*)*)"
)
TAGGED = re.compile(r"\\tag\{(?P<tag>\w+\.\d+[a-z]?)\}")
EXERCISE = re.compile(r"(?m)^\*\*(?P<number>\d\d[a-z]?\.\d+) ★")
FOREIGN = re.compile(r"\b(1[89]|20)\d\d\)?,? $")  # Steinwart and Christmann 2008, Corollary 4.36
ANCHOR = re.compile(r'<a id="([^"]+)"></a>')


@dataclass(frozen=True)
class Statement:
    "A numbered box: where it stands, how it is called, what it says"

    page: str  # 03_rkhs
    cell: int
    kind: str
    number: str  # 3.10a
    name: str  # Moore–Aronszajn, or nothing
    anchor: str
    text: str

    @property
    def title(self):
        return f"{self.kind} {self.number}"


def slug(kind, number):
    "eq-3-10a, ex-05-1: the end of a link"
    return f"{kind}-{number.replace('.', '-')}"


def statements(path):
    "The statements of a notebook, in order"
    return _statements(path, path.stat().st_mtime_ns)


@cache
def _statements(path, written):
    found = []
    for i, cell in enumerate(read(path).cells):
        for box in BOX.finditer(cell.source) if cell.cell_type == "markdown" else ():
            anchor = ANCHOR.search(box["body"])
            body = re.sub(r"\n>[ ]?", "\n", ANCHOR.sub("", box["body"])).strip()
            name, here = box["name"] or "", anchor[1] if anchor else ""
            found.append(Statement(path.stem, i, box["kind"], box["number"], name, here, body))
    return found


def formulas(path):
    "{tag: formula} of the tagged formulas of a notebook"
    shown = (match[1] for match in re.finditer(r"(?s)\$\$(.*?)\$\$", markdown(path)))
    return {match["tag"]: text for text in shown for match in TAGGED.finditer(text)}


def exercises(path):
    "The numbers of the exercises that stand in a notebook"
    return EXERCISE.findall(markdown(path))


def markdown(path):
    "All text of a notebook"
    return "\n\n".join(cell.source for cell in read(path).cells if cell.cell_type == "markdown")


def order(number):
    "3.9 < 3.10 < 3.10a < 3a.1"
    return [int(p) if p.isdigit() else p for p in re.findall(r"\d+|\.|[a-z]", number)]
