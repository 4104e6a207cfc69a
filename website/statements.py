"""The page of all statements: number, name, place, and the code that executes them.

Code *says its number* if an exported function or class names the statement or one of its formulas (5.3) in
its docstring or in a comment. Code *checks it below* if it stands after the box, in its section and before
the next box that follows any code: laws (check_...), assertions, impostors refused (expect_fail).
"""

import ast
import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from itertools import groupby

from .labels import BOX, FOREIGN, KINDS, order, statements
from .notebooks import all_pages, chapters, find, parsed, read, room, split

NUMBER = r"\d+[a-z]?\.\d+[a-z]?"
MENTION = re.compile(
    rf"\b(?:{'|'.join(KINDS)})s? {NUMBER}(?:(?:, | and ){NUMBER})*|(?<![\w\])])\({NUMBER}\)"
)
PAGE = """# Statements

The pages number {count} definitions, lemmas, propositions, theorems and corollaries. {named} of them are
named, by their number or by that of one of their formulas, in the code that executes them; {checked} are
followed, in their section, by laws, assertions or impostors that must be refused. Tests run all of this.

{sections}

## Without a cell that executes them

{apart}
"""


@dataclass(frozen=True)
class Evidence:
    "What executes a statement"

    names: tuple = ()  # public functions and classes that say its number
    laws: tuple = ()  # check_... called below it
    asserts: int = 0
    refused: int = 0

    def checks(self):
        "The laws, `2 assertions`, `1 impostor refused`"
        counts = [(self.asserts, "assertion", ""), (self.refused, "impostor", " refused")]
        return [f"`{law}`" for law in self.laws] + [
            f"{n} {what}{'s' * (n > 1)}{end}" for n, what, end in counts if n
        ]


def mentions(source):
    "Statements 5.2 and formulas (5.2) that a piece of code names; those of other people's papers left out"
    for match in MENTION.finditer(source):
        if match[0].startswith("("):
            yield match[0]
        elif not FOREIGN.search(source[: match.start()]):
            yield from re.findall(NUMBER, match[0])


@cache
def said():
    "{5.2 or (5.2): public names whose definitions say it}, of all modules but the answer keys"
    found = defaultdict(list)
    for path in all_pages():
        for cell in [] if room(path) == "answers" else read(path).cells:
            if cell.cell_type == "code" and "export" in split(cell.source)[0]:
                body = split(cell.source)[1]
                for node in parsed(body).body:
                    if name := public_name(node):
                        for label in mentions(ast.get_source_segment(body, node)):
                            found[label] += [name] if name not in found[label] else []
    return found


def public_name(node):
    "The name that a definition gives, if readers may call it"
    name = getattr(node, "name", "_")
    return None if name.startswith("_") else name


def cells_below(statement, cells):
    "Code cells of its section that follow the box, up to a box that follows any of them"
    found = []
    for cell in cells[statement.cell + 1 :]:
        if cell.cell_type == "code":
            found.append(cell)
        elif re.search(r"(?m)^#{1,2} ", cell.source) or (found and BOX.search(cell.source)):
            break
    return found


def evidence(statement, cells):
    "The code that says the statement's number, and the checks below it"
    tags = [f"({tag})" for tag in re.findall(rf"\\tag\{{({NUMBER})\}}", statement.text)]
    names = [name for label in (statement.number, *tags) for name in said().get(label, ())]
    codes = [split(cell.source)[1] for cell in cells_below(statement, cells)]
    nodes = [node for code in codes for node in ast.walk(parsed(code))]
    calls = [node.func for node in nodes if isinstance(node, ast.Call)]
    called = [getattr(f, "id", getattr(f, "attr", "")) for f in calls]
    return Evidence(
        tuple(dict.fromkeys(names)),
        tuple(sorted({name for name in called if name.startswith("check_")})),
        sum(isinstance(node, ast.Assert) for node in nodes),
        called.count("expect_fail"),
    )


def everything():
    "[(statement, evidence)] of all chapters"
    found = []
    for path in chapters():
        cells = read(path).cells
        found += [(statement, evidence(statement, cells)) for statement in statements(path)]
    return sorted(found, key=lambda pair: order(pair[0].number))


def place(statement):
    return f"[{statement.title}](../{statement.page}.ipynb#{statement.anchor})"


def row(statement, found):
    names = ", ".join(f"`{name}`" for name in found.names)
    return f"| {place(statement)} | {statement.name} | {names} | {', '.join(found.checks())} |"


def heading(page):
    "What a page's first line calls it, without its number"
    return re.match(r"# (?:\w+ · )?(.+)", read(find(page)).cells[0].source)[1]


def section(number, pairs):
    "The table of one chapter"
    pages = sorted({statement.page for statement, _ in pairs})
    head = "| | name | code that says its number | checked below it |\n|---|---|---|---|\n"
    rows = "\n".join(row(*pair) for pair in pairs)
    return f"## Chapter {number}: {' · '.join(map(heading, pages))}\n\n{head}{rows}"


def page():
    "The page, as Markdown"
    pairs = everything()
    groups = groupby(pairs, key=lambda pair: order(pair[0].number)[0])
    apart = [
        place(s) + (f" ({s.name})" if s.name else "")
        for s, e in pairs
        if not (e.names or e.checks())
    ]
    return PAGE.format(
        count=len(pairs),
        named=sum(bool(found.names) for _, found in pairs),
        checked=sum(bool(found.checks()) for _, found in pairs),
        sections="\n\n".join(section(number, list(group)) for number, group in groups),
        apart=", ".join(apart) + "." if apart else "None.",
    )
