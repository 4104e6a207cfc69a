"""What a notebook says about itself: its cells, and the `#| key: value` lines that open them."""

import re
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[2]
NBS = ROOT / "nbs"
DIRECTIVE = re.compile(r"#\|\s*([\w-]+):?[ \t]*(.*)")


def read(path):
    "The notebook at `path`, as nbformat 4"
    return nbformat.read(path, as_version=4)


def split(source):
    "({'fig-alt': 'a curve', 'export': ''}, the code below): a cell's directives and its body"
    lines, found = source.splitlines(), {}
    while lines and (match := DIRECTIVE.match(lines[0])):
        found[match[1]] = match[2].strip()
        lines.pop(0)
    return found, "\n".join(lines).strip("\n")


def module(nb):
    "The module a notebook exports, or None"
    found = (split(cell.source)[0].get("default_exp") for cell in nb.cells if cell.cell_type == "code")
    return next(filter(None, found), None)


def switched_off(cell, *flags):
    "Does a directive keep this cell from running? `flags` adds names such as 'notest'."
    found = split(cell.source)[0]
    return found.get("eval") == "false" or any(flag in found for flag in flags)
