"""Front matter: pages written when the site is built, from the notebooks and from tables beside this file.

A page is a line of PAGES: its file under front/ and the function that returns it, "module:function" of a
module here, or "module:function:argument"; Markdown as str, a picture or a download as bytes. Links into the
notebooks are written as in a notebook one folder down: [Theorem 3.4](../03_rkhs.ipynb#thm-3-4).
"""

from importlib import import_module

from . import downloads, gallery
from .notebooks import NBS, flat

PAGES = {
    "begin.md": "front:begin",
    "desk.md": "desk:page",
    "gallery.md": "gallery:page",
    "downloads.md": "downloads:page",
    "statements.md": "statements:page",
    "second_routes.md": "second_routes:page",
    "notation.md": "notation:page",
    "words.md": "words:page",
    "lectures.md": "lectures:catalogue",
    "way_MR.md": "ways:page:MR",
    "way_PK.md": "ways:page:PK",
    "way_MD.md": "ways:page:MD",
    "way_FL.md": "ways:page:FL",
    "way_CK.md": "ways:page:CK",
    "slips.md": "lectures:slips_page",
    "bibliography.md": "references:page",
    "references.bib": "references:download",
}
SIDEBAR = {  # caption: pages, of which some are notebooks
    "Ways in": "begin ten_minutes cheat_sheet costs desk gallery downloads",
    "Reference": "equivalences statements second_routes notation words bibliography",
    "The lectures": "lectures way_MR way_PK way_MD way_FL way_CK slips",
}


def render(where):
    "What the function named 'module:function' or 'module:function:argument' returns, as bytes"
    module, function, *given = where.split(":")
    text = getattr(import_module(f"{__package__}.{module}"), function)(*given)
    return text.encode() if isinstance(text, str) else text


def begin():
    "The page Begin here, which is written by hand: forges show it too"
    return flat((NBS / "begin.md").read_text(encoding="utf-8"), "../")


def front_pages():
    "(file name, bytes) of each page, picture and download"
    for name, where in PAGES.items():
        yield name, render(where)
    yield from gallery.thumbnails()
    yield from downloads.files()


def toctree(group):
    "What the site's index lists in a group of the sidebar"
    return [f"front/{name}" if f"{name}.md" in PAGES else name for name in SIDEBAR[group].split()]
