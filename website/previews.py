"""Sphinx extension: what a link to a statement or a formula shows before one follows it.

Each page leaves a small script, _static/previews/03_rkhs.js, with its boxes and formulas by the ends of
links; static/previews.js loads it when a reader first points at such a link. That needs no server. A page
writes its own script when it is written itself, in whichever process that is.
"""

import html
import json
import re
from pathlib import Path

from docutils import nodes

from .labels import TAGGED, slug


def inert(fragment):
    "HTML to be shown a second time: no links in it and no ids, which a page has once"
    return re.sub(r'</?a\b[^>]*>| id="[^"]*"', "", fragment)


def anchor(box):
    "The first <a id=...> in a box"
    raw = "".join(node.astext() for node in box.findall(nodes.raw))
    found = re.search(r'<a id="([^"]+)">', raw)
    return found and found[1]


def things(doctree, render):
    "{end of a link: HTML} of the boxes and tagged formulas of a page"
    shown = {}
    for node in list(doctree.findall(nodes.block_quote)):
        if "box" in node["classes"] and (name := anchor(node)):
            shown[name] = inert(render(node.deepcopy()))
    for node in doctree.findall(nodes.math_block):
        for match in TAGGED.finditer(node.astext()):
            shown[slug("eq", match["tag"])] = inert(
                f'<div class="math">{html.escape(node.astext())}</div>'
            )
    return shown


def store(app, docname, template, context, doctree):
    "html-page-context: the script of this page"
    if not doctree:
        return
    if shown := things(doctree, lambda node: app.builder.render_partial(node)["fragment"]):
        folder = Path(app.outdir) / "_static" / "previews"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{docname.replace('/', '-')}.js").write_text(
            f"(window.previews ??= {{}})[{json.dumps(docname)}] = {json.dumps(shown)};\n"
        )


def setup(app):
    app.connect("html-page-context", store)
    app.add_js_file("previews.js", loading_method="defer")
    app.add_css_file("previews.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
