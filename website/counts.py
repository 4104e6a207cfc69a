"""What a page costs its reader: minutes of text and of code, by section, counted from the notebook."""

import re
from dataclasses import dataclass

from .fold import setup_cells
from .notebooks import flat, split

WORDS, LINES = 130, 2  # a minute
EXERCISES = re.compile(r"(?im)^## Exercises")


@dataclass
class Section:
    title: str
    text: float = 0.0  # minutes
    code: float = 0.0


def lines_of(cell):
    "Lines of a code cell that are neither blank nor directives"
    return [line for line in split(cell.source)[1].splitlines() if line.strip()]


def counted(text):
    "Words of some Markdown; a formula counts as none"
    plain = re.sub(r"(?s)\$\$.*?\$\$|\$.*?\$", " x ", flat(text))
    return len(re.findall(r"[A-Za-z]{2,}", re.sub(r"<[^>]+>", " ", plain)))


def before_exercises(nb):
    "The cells up to the one that opens the exercises"
    for cell in nb.cells:
        if cell.cell_type == "markdown" and EXERCISES.search(cell.source):
            return
        yield cell


def sections(nb):
    "The sections before the exercises, each with its minutes; imports and checked cells cost nothing"
    imports, found = {id(cell) for cell in setup_cells(nb)}, [Section("")]
    for cell in before_exercises(nb):
        if cell.cell_type == "markdown":
            for part in re.split(r"(?m)^(?=## )", cell.source):
                if part.startswith("## "):
                    found.append(Section(part.splitlines()[0].removeprefix("## ")))
                found[-1].text += counted(part) / WORDS
        elif id(cell) not in imports and "checked" not in split(cell.source)[0]:
            found[-1].code += len(lines_of(cell)) / LINES
    return found


def words(nb):
    "Words of the text before the exercises"
    return round(sum(section.text for section in sections(nb)) * WORDS)


def minutes(nb):
    "(text, code) before the exercises: 130 words and two open lines of code a minute, imports apart"
    every = sections(nb)
    return sum(section.text for section in every), sum(section.code for section in every)


def exercises(nb):
    "{number: stars} of the exercises of a page"
    text = "\n".join(cell.source for cell in nb.cells if cell.cell_type == "markdown")
    tasks = EXERCISES.split(text)[-1] if EXERCISES.search(text) else ""
    return {number: len(stars) for number, stars in re.findall(r"\*\*(\d+[a-z]?\.\d+) (★+)", tasks)}
