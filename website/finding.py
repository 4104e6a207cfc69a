"""Sphinx extension: the search knows the names of statements, the words of the house and where they stand.

They are entries of the index, which Sphinx's search ranks above titles and text; static/scorer.js puts
chapters before the pages that only quote them.
"""

import re

from sphinx.addnodes import index
from sphinx.transforms import SphinxTransform

from .labels import statements
from .links import places
from .notebooks import find
from .words import bare, lines


def plain(name):
    "The parts of a statement's name that one would type: no formulas, no years"
    parts = re.split(r"[;,] ", re.sub(r"\$[^$]*\$|( et al\.)? \d{4}", "", name))
    return [part.strip() for part in parts if part.strip()]


def other_names(elsewhere):
    "What others call a word, where it is a name and not an explanation"
    return [
        part
        for part in re.split(r"[;,] ", elsewhere)
        if part and not re.search(r"[`(’']|\bis\b", part)
    ]


def entries(page, found):
    "[(what one types, end of the link, main or nothing)]; a word stands first where it is defined"
    boxes, defined = statements(find(page)), {bare(word) for word, *_ in lines()}
    named = [(name, box.anchor) for box in boxes for name in (box.title, *plain(box.name))]
    known = [(name, end, "" if bare(name) in defined else "main") for name, end in named]
    for word, _, where, elsewhere in lines():
        _, stem, anchor = found.statements.get(where, ("", where, ""))
        if stem == page:
            known += [(name, anchor, "main") for name in (word, *other_names(elsewhere))]
    return known


class Entries(SphinxTransform):
    "The names of a page's statements, and the words that it defines, as entries of the index"

    default_priority = 340

    def apply(self):
        if find(self.env.docname):
            known = dict.fromkeys(entries(self.env.docname, places()))
            self.document += index(
                entries=[("single", name, end, main, None) for name, end, main in known]
            )


def setup(app):
    app.add_transform(Entries)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
