"""Sphinx extension: authors and years lead to the page Bibliography; what is counted is filled in."""

import hashlib

from .notebooks import change_text
from .references import BIB, link, mentions

PAGE = "front/bibliography"


def in_notebook(app, docname, source):
    "source-read, before the cells are turned into a page"
    change_text(app, docname, source, lambda text: link(text, f"{PAGE}.md"))


def in_docstring(app, what, name, obj, options, lines):
    "autodoc-process-docstring, after the text became reStructuredText: a mention on one line"
    for i, line in enumerate(lines):
        for start, end, _, keys in reversed(mentions(line)):
            if len(keys) == 1:
                target = f"`{line[start:end]} <../{PAGE}.html#{keys[0]}>`__"
                line = line[:start] + target + line[end:]
        lines[i] = line


def setup(app):
    version = hashlib.sha256(
        BIB.read_bytes()
    ).hexdigest()  # pages read with other sources are read again
    app.add_config_value("references_version", version, "env")
    app.connect("source-read", in_notebook, priority=400)
    app.connect("autodoc-process-docstring", in_docstring, priority=200)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
