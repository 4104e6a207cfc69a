"""Sphinx extension: what the site's search reads, a line for each section, statement and public name.

It replaces Sphinx's own index of whole pages. One script, _static/sections.js, holds all; it is loaded when a
reader opens the search, from a server or from a file. static/ranking.js ranks, static/search.js shows. The
lines are taken while doctrees are resolved, which Sphinx does in one process, also where several write.
"""

import json
from functools import cache
from pathlib import Path

from docutils import nodes
from sphinx.addnodes import desc, desc_content, toctree

import rkhs_notes as rn

from . import api
from .links import places
from .notebooks import find, room
from .previews import anchor
from .words import lines

MOST = 1500  # letters of a text
LEFT_OUT = (nodes.section, nodes.title, nodes.raw, nodes.literal_block, nodes.math_block)
LEFT_OUT += (nodes.comment, nodes.caption, desc, toctree)
CLASSES = {"cell", "box", "exported"}
PAGES = {}


def text(node, *apart):
    """What a node says in one line, TeX between dollars, without code, displays, what has its own line

    apart : kinds of nodes that do not count either
    """
    node = node.deepcopy()
    for part in list(node.findall(nodes.Element)):
        if isinstance(part, nodes.math):
            part.replace_self(nodes.Text(f"${part.astext()}$"))
        elif part is not node and (
            isinstance(part, (*LEFT_OUT, *apart)) or CLASSES & {*part["classes"]}
        ):
            part.parent.remove(part)
    return " ".join(node.astext().split())[:MOST]


def found(doctree, card=False):
    "(end of the link, title, text) of each section, statement and public name of a page; its card is none"
    for section in doctree.findall(nodes.section):
        end = "" if section.parent is doctree else section["ids"][0]
        yield (
            end,
            text(section.next_node(nodes.title)),
            text(section, *([nodes.table] * (card and not end))),
        )
    for box in doctree.findall(nodes.block_quote):
        if "box" in box["classes"] and (end := anchor(box)):
            name = text(box.next_node(nodes.strong))
            yield end, name.rstrip("."), text(box).removeprefix(name)
    for entry in doctree.findall(desc):
        if entry[0]["ids"] and not isinstance(entry.parent, desc_content):
            first = entry[-1].next_node(nodes.paragraph)
            yield entry[0]["ids"][0], entry[0]["fullname"], text(first) if first else ""


@cache
def names():
    "{(page, end of the link): the words of the house that are defined there, and what others call them}"
    known = {}
    for word, _, where, elsewhere in lines():
        place = places().statements.get(where, ("", where, ""))[1:]
        known[place] = f"{known.get(place, '')} | {word}; {elsewhere}"
    # names of other libraries, which an error message knows too
    for theirs, ours in rn._HABITS.items():
        if ours in api.homes():
            place = f"api/{ours}", f"rkhs_notes.{api.homes()[ours][0]}.{ours}"
            known[place] = f"{known.get(place, ours)}; {theirs}"
    return known


def collect(app, doctree, docname):
    "doctree-resolved"
    path = find(docname)
    kind = (room(path) or "course") if path else docname.rpartition("/")[0]
    PAGES[docname] = (
        kind,
        [[*line, names().get((docname, line[0]), "")] for line in found(doctree, bool(path))],
    )


def store(app, exception):
    "build-finished: one script that needs no server"
    said = json.dumps(PAGES, ensure_ascii=False, separators=(",", ":"))
    Path(app.outdir, "_static", "sections.js").write_text(f"SECTIONS = {said};\n", encoding="utf-8")


def setup(app):
    app.connect("builder-inited", lambda app: setattr(app.builder, "search", False))
    app.connect("html-collect-pages", lambda app: [("search", {}, "search.html")])
    app.connect("doctree-resolved", collect)
    app.connect("build-finished", store)
    app.add_js_file("search.js", loading_method="defer")
    app.add_css_file("search.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
