"""The numbered things of the notebooks: statements in their boxes, and tagged formulas."""

import re
from dataclasses import dataclass
from functools import cache

from cells import NBS, read

KINDS = ("Theorem", "Definition", "Lemma", "Proposition", "Corollary", "Example", "Law", "Algorithm")
BOX = re.compile(
    rf"(?m)^> \*\*(?P<kind>{'|'.join(KINDS)}) (?P<number>[0-9A-Z]+\.\d+[a-z]?)"
    r"(?: \((?P<name>.+?)\))?\.\*\*(?P<body>.*(?:\n>.*)*)"
)
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


def chapters():
    "The notebooks of the chapters, in order"
    return sorted(NBS.glob("[0-9]*.ipynb"))


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


def order(number):
    "3.10 < 3.10a < 3.11"
    chapter, place, letter = re.fullmatch(r"(\d+)\.(\d+)([a-z]?)", number).groups()
    return int(chapter), int(place), letter
