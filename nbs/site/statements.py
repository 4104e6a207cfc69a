"""The page of all statements: number, name, place."""

from cells import NBS, read
from labels import chapters, statements

PAGE = """# Statements

{count} numbered definitions, lemmas, propositions, theorems and corollaries, in the order of the pages.
"""


def title(page):
    "What the heading of a notebook says"
    return next(line for line in read(NBS / f"{page}.ipynb").cells[0].source.splitlines() if line)[2:]


def row(statement):
    link = f"[{statement.title}](../{statement.page}.ipynb#{statement.anchor})"
    return f"| {link} | {statement.name} |"


def page():
    "The page, as Markdown"
    found = {path.stem: statements(path) for path in chapters()}
    parts = [PAGE.format(count=sum(map(len, found.values())))]
    for stem, rows in found.items():
        parts.append(f"## {title(stem)}\n\n| number | name |\n|---|---|\n" + "\n".join(map(row, rows)))
    return "\n\n".join(parts) + "\n"
