"""Fold what is not read, from what the cells say: import cells, and cells with `#| checked: what holds`.

python -m website.fold [notebook ...]    folds them in place and gives stored pictures their alt texts
"""

import ast
import sys
from pathlib import Path

import nbformat

from .notebooks import all_pages, parsed, read, split

SETUP = {"use_style"}  # what may stand beside imports: these calls, and rng = ...


def is_setup(source):
    "Is there nothing but imports, the style of the figures and the seed?"
    try:
        statements = parsed(source).body
    except SyntaxError:
        return False
    imports = [o for o in statements if isinstance(o, (ast.Import, ast.ImportFrom))]
    style = [o for o in statements if isinstance(o, ast.Expr) and isinstance(o.value, ast.Call)]
    style = [o for o in style if getattr(o.value.func, "id", "") in SETUP]
    seed = [
        o
        for o in statements
        if isinstance(o, ast.Assign) and getattr(o.targets[0], "id", "") == "rng"
    ]
    return bool(imports) and len(imports) + len(style) + len(seed) == len(statements)


def setup_cells(nb):
    "The import cells of a page: those that are exported, and those before any other code"
    found, opening = [], True
    for cell in nb.cells:
        if cell.cell_type != "code":
            continue
        options, body = split(cell.source)
        if {"export", "exporti"} & set(options):
            found += [cell] if is_setup(body) else []
        elif "default_exp" not in options and "hide" not in options:
            opening = opening and is_setup(body)
            found += [cell] if opening else []
    return found


def hidden(nb):
    "The cells of which a page shows one line that opens"
    code = [cell for cell in nb.cells if cell.cell_type == "code"]
    return setup_cells(nb) + [cell for cell in code if "checked" in split(cell.source)[0]]


def fold(nb):
    "Sets what JupyterLab and a forge read: folded sources, alt texts. Returns the cells that this changed"
    changed, folded = [], {id(cell) for cell in hidden(nb)}
    for cell in (cell for cell in nb.cells if cell.cell_type == "code"):
        before = nbformat.from_dict({**cell})
        before.metadata, before.outputs = dict(cell.metadata), [dict(o) for o in cell.outputs]
        cell.metadata.pop("jupyter", None)
        if id(cell) in folded:
            cell.metadata["jupyter"] = {"source_hidden": True}
        alt = split(cell.source)[0].get("fig-alt")
        for output in cell.outputs:
            if "image/png" in output.get("data", {}):
                output.metadata = {"image/png": {"alt": alt}} if alt else {}
        if cell != before:
            changed.append(cell)
    return changed


def main(paths):
    for path in paths:
        nb = read(path)
        if fold(nb):
            nbformat.write(nb, path)


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]] or all_pages())
