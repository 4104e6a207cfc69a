"""What a page says of itself: folded imports and `#| checked: ...` cells, alt texts, the minutes of its card.

python -m website.fold [notebook ...]    sets all of these in place
"""

import re
import sys
from pathlib import Path

import nbformat

from .counts import time
from .notebooks import all_pages, is_setup, read, split

TIME = re.compile(r"(?m)^(\| \*\*Time\*\* \| ).*( \|)$")


def setup_cells(nb):
    """The import cells of a page: those that are exported, and those before any other code

    #| code-fold: false keeps one in sight, where readers paste what they see.
    """
    found, opening = [], True
    for cell in nb.cells:
        if cell.cell_type != "code":
            continue
        options, body = split(cell.source)
        if {"export", "exporti"} & set(options):
            found += [cell] if is_setup(body) else []
        elif "default_exp" not in options and "hide" not in options:
            opening = opening and is_setup(body)
            found += [cell] if opening and options.get("code-fold") != "false" else []
    return found


def hidden(nb):
    "The cells of which a page shows one line that opens"
    code = [cell for cell in nb.cells if cell.cell_type == "code"]
    return setup_cells(nb) + [cell for cell in code if "checked" in split(cell.source)[0]]


def fold(nb):
    "Sets what a page says of itself; returns the cells that this changed"
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
    card, before = nb.cells[0], nb.cells[0].source
    card.source = TIME.sub(lambda row: row[1] + time(nb) + row[2], before)
    return changed + [card] * (card.source != before)


def main(paths):
    for path in paths:
        nb = read(path)
        if fold(nb):
            nbformat.write(nb, path)


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]] or all_pages())
