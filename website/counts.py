"""What a page costs its reader: minutes of text and of code, by section, counted from the notebook.

Text: 150 words a minute (formulas are no words), 0.3 minutes for every 80 characters of a displayed formula,
0.06 for a formula in a line. Code: 0.3 minutes a line, where a line counts at least a seventh of its syntax
nodes and a line of a docstring a third; checked cells a third. Imports cost nothing.
"""

import ast
import re
from dataclasses import dataclass

from .notebooks import flat, is_setup, split

WORDS, DISPLAYED, INLINE, LINE = 150, 0.3, 0.06, 0.3
DISPLAY = re.compile(r"(?s)\$\$(.*?)\$\$")
EXERCISES = re.compile(r"(?im)^## Exercises")
UNCOUNTED = ast.expr_context, ast.Constant, ast.operator, ast.unaryop, ast.boolop, ast.cmpop
DOCUMENTED = ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef


@dataclass
class Section:
    title: str
    text: float = 0.0  # minutes
    code: float = 0.0


def size(source):
    "(syntax nodes, lines of code, lines of docstrings) of some Python without directives"
    source = re.sub(r"(?m)^[%!].*$", "", source)
    nodes = list(ast.walk(ast.parse(source)))
    documented = [n.body[0] for n in nodes if isinstance(n, DOCUMENTED) and ast.get_docstring(n)]
    doc = sum(docstring.end_lineno - docstring.lineno + 1 for docstring in documented)
    lines = len(re.findall(r"(?m)^\s*[^#\s]", source))
    return sum(not isinstance(n, UNCOUNTED) for n in nodes), lines - doc, doc


def reading(text):
    "Minutes that some Markdown takes"
    shown = sum(-(-len(formula) // 80) for formula in DISPLAY.findall(text))
    inline = re.findall(r"\$[^$\n]+\$", DISPLAY.sub(" ", text))
    return counted(text) / WORDS + DISPLAYED * shown + INLINE * len(inline)


def running(cell):
    "Minutes that a code cell takes"
    options, body = split(cell.source)
    nodes, lines, doc = size(body)
    return LINE * (max(lines, nodes / 7) + doc / 3) / (1 + 2 * ("checked" in options))


def counted(text):
    "Words of some Markdown; a formula counts as none"
    plain = re.sub(r"(?s)\$\$.*?\$\$|\$.*?\$", " x ", flat(text))
    return len(re.findall(r"[A-Za-z]{2,}", re.sub(r"<[^>]+>", " ", plain)))


def sections(nb):
    "The sections but for the exercises, each with its minutes; imports cost nothing"
    found = [Section("")]
    for cell in nb.cells:
        if cell.cell_type == "markdown":
            for part in re.split(r"(?m)^(?=## )", cell.source):
                if part.startswith("## "):
                    found.append(Section(part.splitlines()[0].removeprefix("## ").strip()))
                found[-1].text += reading(part)
        elif cell.cell_type == "code" and not is_setup(split(cell.source)[1]):
            found[-1].code += running(cell)
    return [section for section in found if section.title != "Exercises"]


def minutes(nb):
    "(text, code), exercises apart"
    every = sections(nb)
    return sum(section.text for section in every), sum(section.code for section in every)


def hours(time):
    "215 minutes as 3 h 35"
    whole, rest = divmod(round(time), 60)
    return f"{round(time)} min" if time < 99.5 else f"{whole} h {rest:02}"


def tasks(nb):
    "[(number, stars, 'first' or nothing)] of the exercises of a page"
    text = "\n".join(cell.source for cell in nb.cells if cell.cell_type == "markdown")
    asked = EXERCISES.split(text)[-1] if EXERCISES.search(text) else ""
    return re.findall(r"\*\*(\d+[a-z]?\.\d+) (★+)\*?\*? ?(?:\*(first)\*)?", asked)


def firsts(nb):
    "Stars of the exercises to do first; of all, where none is marked"
    asked = tasks(nb)
    return len("".join([stars for _, stars, mark in asked if mark] or [o[1] for o in asked]))


def time(nb):
    "What the card says: minutes for the text, for the code, and eight a star for the exercises to do first"
    text, code = minutes(nb)
    which = "the four exercises marked *first*" if any(o[2] for o in tasks(nb)) else "the exercises"
    return f"{text:.0f} minutes for the text, {code:.0f} for the code, {8 * firsts(nb)} for {which}"
