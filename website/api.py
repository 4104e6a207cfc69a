"""The API: a page for each public name, called after it, and an index of them with their first lines."""

import inspect
import re
from functools import cache

import rkhs_notes as rn

from .notebooks import all_pages, module, read

PAGE = """:orphan:

{title}
{rule}

Written and explained in :doc:`../{notebook}`.
"""
FUNCTION = """
.. autofunction:: {path}
"""
CLASS = """
.. autoclass:: {path}
   :members:
   :special-members: __call__
"""
INDEX = """# Every name

With `import rkhs_notes as rn`, each is `rn.NAME`. What to call for what stands on the [cheat
sheet](../cheat_sheet.ipynb).

## Of daily use

`from rkhs_notes import *` gives these, and tab completion shows them.

{daily}

## All others

{others}
"""
TABLE = "| name | what it is | page |\n|---|---|---|\n"


@cache
def homes():
    "{public function or class: (its module, the notebook that writes it)}"
    pages = {name: path.stem for path in all_pages() if (name := module(read(path)))}
    owners = {name: home for name, home in rn._owners().items() if callable(getattr(rn, name))}
    return {name: (home, pages[home]) for name, home in owners.items()}


def pages():
    "{page: names on it}: Huber stands with huber, for file systems that see no difference"
    found = {}
    for name in sorted(homes(), key=lambda name: (name.lower(), name.swapcase())):
        found.setdefault(name.lower(), []).append(name)
    return {names[0]: names for names in found.values()}


def page(names):
    "reStructuredText of one page"
    title, known = " and ".join(f"rn.{name}" for name in names), homes()
    text = PAGE.format(title=title, rule="=" * len(title), notebook=known[names[0]][1])
    for name in names:
        shown = CLASS if inspect.isclass(getattr(rn, name)) else FUNCTION
        text += shown.format(path=f"rkhs_notes.{known[name][0]}.{name}")
    return text


def row(name, home):
    "A line of the index"
    line = " ".join(inspect.getdoc(getattr(rn, name)).splitlines()[0].split())
    line = re.sub(r"([|$*])", r"\\\1", line)
    stem = homes()[name][1]
    return f"| [`{name}`]({home}.rst) | {line} | [{stem}](../{stem}.ipynb) |"


def index():
    "Markdown of the page of all names"
    rows = {name: row(name, home) for home, names in pages().items() for name in names}
    daily = [rows.pop(name) for name in list(rows) if name in rn._DAILY]
    return INDEX.format(daily=TABLE + "\n".join(daily), others=TABLE + "\n".join(rows.values()))


def files():
    "(file below the stage, its text) of the index and of each name's page"
    yield "api/index.md", index()
    for home, names in pages().items():
        yield f"api/{home}.rst", page(names)
