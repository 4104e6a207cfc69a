"""Sphinx extension: notebooks written for nbdev become pages.

Directive lines steer how a cell is shown and vanish, blockquotes that open with **Theorem 3.1** become boxes,
<a id="..."> become targets that links from other notebooks find, `Gaussian` in text links to its API entry.
"""
import hashlib
import json
import re
from pathlib import Path

import nbformat
from cells import module, split
from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.transforms import SphinxTransform

from rkhs_notes._modidx import d as INDEX

BOX = re.compile(r"(Theorem|Definition|Lemma|Proposition|Corollary|Example|Remark|Law|Algorithm|Puzzle)\b")
ANCHOR = re.compile(r'<a id="([^"]+)">')
TOCTREES = "\n\n".join(f"```{{toctree}}\n:hidden:\n:glob:\n:caption: {caption}\n\n{files}\n```" for caption, files in
                       [("Chapters", "[0-9]*"), ("Appendices", "[A-Z]_*"), ("API", "api/*")])
SYMBOLS = {name.removeprefix(f"{mod}."): name for mod, names in INDEX["syms"].items() for name in names}


def shown(cell, exported_to):
    "The cells that stand on the page for this one: none, itself, or itself and a note"
    options, body = split(cell.source)
    if "hide" in options or not body:
        return []
    cell.source = body
    tags = cell.metadata.setdefault("tags", [])
    if options.get("echo") == "false":
        tags.append("remove-input")
    if options.get("code-fold") == "true":
        tags.append("hide-input")
    if "fig-alt" in options:
        cell.metadata["mystnb"] = {"image": {"alt": options["fig-alt"]}}
    for output in cell.get("outputs", []):  # a slider is shown by its html, which needs no kernel
        output.get("data", {}).pop("application/vnd.jupyter.widget-view+json", None)
    if {"export", "exporti"} & set(options):
        note = f"{{.exported}}\nexported to {{py:mod}}`{exported_to}`"
        return [cell, nbformat.v4.new_markdown_cell(note)]
    return [cell]


def prepare(app, docname, source):
    "source-read: the notebook as MyST-NB should see it"
    if not str(app.env.doc2path(docname)).endswith(".ipynb"):
        return
    nb = nbformat.reads(source[0], as_version=4)
    exported_to = f"rkhs_notes.{module(nb)}"
    nb.cells = [new for cell in nb.cells for new in (shown(cell, exported_to) if cell.cell_type == "code" else [cell])]
    if docname == "index":
        nb.cells.append(nbformat.v4.new_markdown_cell(TOCTREES))
    source[0] = json.dumps(nb)


class Boxes(SphinxTransform):
    "A blockquote that opens with a bold Theorem, Definition, ... gets the classes box and box-theorem"
    default_priority = 300

    def apply(self):
        for quote in self.document.findall(nodes.block_quote):
            opening = next(quote.findall(nodes.strong), None)
            match = opening is not None and quote.astext().startswith(opening.astext()) and BOX.match(opening.astext())
            if match:
                quote["classes"] += ["box", f"box-{match[1].lower()}"]


class Anchors(SphinxTransform):
    "Registers each <a id='thm-3-1'> where MyST looks up the end of a link"
    default_priority = 310

    def apply(self):
        found = {match[1]: (node.line or 0, match[1], "") for node in self.document.findall(nodes.raw)
                 if (match := ANCHOR.search(node.astext()))}
        self.document.myst_slugs = slugs = {**getattr(self.document, "myst_slugs", {}), **found}
        self.env.metadata[self.env.docname]["myst_slugs"] = slugs


class Formulas(SphinxTransform):
    r"Display formulas reach MathJax as written: Sphinx would wrap them in split, where \tag is not allowed"
    default_priority = 320

    def apply(self):
        for node in self.document.findall(nodes.math_block):
            if not node.get("nowrap"):
                node.children = [nodes.Text(rf"\[{node.astext()}\]")]
                node["nowrap"] = node["no-wrap"] = True


class Symbols(SphinxTransform):
    "`Gaussian` in text refers to the API entry of rkhs_notes.kernels.Gaussian"
    default_priority = 330

    def apply(self):
        for node in list(self.document.findall(nodes.literal)):
            name = SYMBOLS.get(node.astext().removesuffix("()").removeprefix("rn."))
            if name and not isinstance(node.parent, (nodes.reference, nodes.title, pending_xref)):
                node.replace_self(pending_xref("", node.deepcopy(), refdomain="py", reftype="obj", reftarget=name,
                                               refdoc=self.env.docname, refexplicit=True, refwarn=False))


def escape(app, what, name, obj, options, lines):
    "Docstrings are plain text with formulas; what reStructuredText would read as markup is escaped, `code` is kept"
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            parts = re.split(r"(``.+?``|`[^`]+`)", line)
            parts[::2] = [re.sub(r"([*|\\]|_(?=\W|$))", r"\\\1", part) for part in parts[::2]]
            lines[i] = "".join(parts)


def setup(app):
    # pages read with another version of this file, or of the index, are read again
    version = hashlib.sha256(Path(__file__).read_bytes() + repr(INDEX).encode()).hexdigest()
    app.add_config_value("pages_version", version, "env")
    app.connect("source-read", prepare)
    app.connect("autodoc-process-docstring", escape, priority=100)  # before numpydoc, at 500
    for transform in (Boxes, Anchors, Formulas, Symbols):
        app.add_transform(transform)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
