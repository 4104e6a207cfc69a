"""Sphinx extension: authors and years lead to the page Bibliography; what is counted is filled in."""

import hashlib
import json

from . import tally
from .references import BIB, link, mentions

PAGE = "front/bibliography"


def in_notebook(app, docname, source):
    "source-read, before the cells are turned into a page"
    if not str(app.env.doc2path(docname)).endswith(".ipynb"):
        return
    nb = json.loads(source[0])
    for cell in nb["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = link(tally.fill("".join(cell["source"])), f"{PAGE}.md")
    source[0] = json.dumps(nb)


def in_docstring(app, what, name, obj, options, lines):
    "autodoc-process-docstring, after the text became reStructuredText: a mention on one line"
    for i, line in enumerate(lines):
        for start, end, _, keys in reversed(mentions(line)):
            if len(keys) == 1:
                target = f"`{line[start:end]} <../{PAGE}.html#{keys[0]}>`__"
                line = line[:start] + target + line[end:]
        lines[i] = line


def setup(app):
    version = hashlib.sha256(BIB.read_bytes()).hexdigest()  # pages read with other sources are read again
    app.add_config_value("references_version", version, "env")
    app.connect("source-read", in_notebook, priority=400)
    app.connect("autodoc-process-docstring", in_docstring, priority=200)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
