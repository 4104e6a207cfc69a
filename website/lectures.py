"""What the five lectures hold and where it lives in these notes; and their slips, from the chapters' tables.

catalogue.csv has a line for everything that the lectures define, prove, compute, draw or set. A cell of a
notebook says which of these rows it treats: <!-- rows: 03.02 03.05 -->. slips.csv numbers what is wrong,
missing or misleading; a line of a chapter's table says which: <!-- slip: MR.05 -->.
"""

import csv
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

from .notebooks import all_pages, chapters, find, flat
from .references import texts

HERE = Path(__file__).parent
LECTURES = "MR", "PK", "MD", "FL", "CK"
ROWS = re.compile(r"<!--\s*rows:([^>]*)-->")
SLIP = re.compile(r"<!-- slip: ([^>]*?) -->")
HEADING = re.compile(r"(?m)^#+ +(.+)$")
TABLE = re.compile(
    r"(?s)\*\*Slips met in the lectures?(?: (\w\w))?\.?\*\*(?: All in (\w\w))?[^|]*?\n\n(\|.*?)(?:\n\n|\Z)"
)
COLUMN = re.compile(r"(?<!\\)\|")
CATALOGUE_PAGE = """# From the lectures

{count} things that the five [lectures](bibliography.md#the-lectures) define, state, prove, compute, draw or
set, in our words, each with the section that treats it. The first two digits are the chapter.
One lecture at a time, in its own order: {ways}.

{tables}
"""
SLIPS_PAGE = """# Slips

What the lectures print that is wrong, incomplete or misleading, what is right, and the place that shows it:
{count} points, {kinds}. No blame: a lecture is spoken, and these notes will have slips of their own.

{tables}
"""


class Place(NamedTuple):
    page: str
    heading: str  # "" stands for the page as a whole
    section: str = ""  # the heading of level two that it stands under

    @property
    def link(self):
        anchor = re.sub(r"[^\w\- ]", "", self.heading).strip().lower().replace(" ", "-")
        number = f"{self.page.partition('_')[0]}, " if self.page[0].isdigit() else ""
        name = f"{number}{self.heading}" if anchor else title(self.page)
        return f"[{name}](../{self.page}.ipynb{'#' if anchor else ''}{anchor})"


class Slip(NamedTuple):
    numbers: list
    lecture: str
    printed: str
    right: str
    shown: str

    @property
    def row(self):
        return f"| {self.printed} | {self.right} | {self.shown} |"


def table(name):
    "The lines of a table beside this file, as dictionaries"
    with open(HERE / name, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def title(page):
    "What the heading of a notebook says"
    return HEADING.search(texts(find(page))[0])[1]


def places():
    "{row: [places]} as the notebooks claim them"
    found = defaultdict(list)
    for path in all_pages():
        heading = section = ""
        for i, text in enumerate(texts(path)):
            for match in re.finditer(rf"{HEADING.pattern}|{ROWS.pattern}", text):
                if match[1]:
                    heading = "" if i == 0 and match[0].startswith("# ") else match[1]
                    section = heading if match[0].startswith("## ") else section
                for row in (match[2] or "").split():
                    found[row].append(Place(path.stem, heading, section))
    return found


def shown(found):
    "Links to some places, each once"
    return "; ".join(dict.fromkeys(place.link for place in found))


def catalogue():
    "The page From the lectures, as Markdown"
    rows, where, groups = table("catalogue.csv"), places(), defaultdict(list)
    for line in rows:
        cells = (line["row"], line["lecture"], line["topic"], shown(where[line["row"]]))
        groups[line["row"][:2]].append(f"| {' | '.join(cells)} |")
    head = "| row | lecture | what | where |\n|---|---|---|---|\n"
    names = {path.stem[:2]: title(path.stem) for path in reversed(all_pages("")[1:])}
    names["FM"] = "Around the lectures"
    tables = [f"## {names[group]}\n\n{head}" + "\n".join(lines) for group, lines in groups.items()]
    ways = ", ".join(f"[{letters}](way_{letters}.md)" for letters in LECTURES)
    return CATALOGUE_PAGE.format(count=len(rows), ways=ways, tables="\n\n".join(tables))


def away(cell, page):
    "A table's cell whose links lead from front/ into the notebook; without one, to the table itself"
    cell = re.sub(r"\]\(#", f"](../{page}.ipynb#", cell)
    cell = re.sub(r"\]\((\w+\.ipynb)", r"](../\1", flat(cell))
    return cell if "](" in cell else f"[{cell}](../{page}.ipynb#slips)"


def slips(path):
    "The lines of a chapter's table of slips"
    match = TABLE.search("\n\n".join(texts(path)))
    for line in match[3].splitlines()[2:] if match else ():
        numbers = SLIP.search(line)
        cells = [cell.strip() for cell in COLUMN.split(SLIP.sub("", line).strip().strip("|"))]
        named = re.match(r"((?:MR|PK|MD|FL|CK)(?:, \w\w)*): (.*)", cells[0])
        lecture = named[1] if named else match[1] or match[2] or ""
        if len(cells) == 4:
            lecture, *cells = cells
        printed = named[2] if named else cells[0]
        listed = numbers[1].split() if numbers else []
        yield Slip(listed, lecture, printed, cells[1], away(cells[2], path.stem))


def slips_page():
    "The page Slips, as Markdown"
    known = table("slips.csv")
    counted = Counter(line["kind"] for line in known).most_common()
    tables = []
    for path in chapters():
        lines = [f"| {slip.lecture} {slip.row}" for slip in slips(path)]
        if lines:
            head = f"## {title(path.stem)}\n\n| lecture | printed | right | shown |\n|---|---|---|---|\n"
            tables.append(head + "\n".join(lines))
    names = {
        "error": "errors",
        "slip": "slips of the pen",
        "hypothesis": "missing hypotheses",
        "gap": "gaps",
    }
    names |= {"misleading": "that mislead", "notation": "of notation"}
    kinds = ", ".join(f"{n} {names[kind]}" for kind, n in counted)
    return SLIPS_PAGE.format(count=len(known), kinds=kinds, tables="\n\n".join(tables))
