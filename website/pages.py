"""Sphinx extension: notebooks written for nbdev become pages.

Directive lines steer how a cell is shown and vanish, blockquotes that open with **Theorem 3.1** become boxes,
<a id="..."> become targets that links from other notebooks find, `Gaussian` in text links to its API entry.
"""

import hashlib
import inspect
import json
import re
from pathlib import Path

import nbformat
from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.transforms import SphinxTransform

from rkhs_notes._modidx import d as INDEX

from .downloads import launches
from .fold import hidden, setup_cells
from .front import SIDEBAR, toctree
from .links import link, places
from .notebooks import ROOMS, all_pages, find, is_notebook, module, split
from .screens import above, caption, lighten

BOX = re.compile(
    r"(Theorem|Definition|Lemma|Proposition|Corollary|Example|Remark|Law|Algorithm|Puzzle)\b"
)
DEFINED = re.compile(r"(?m)^(?:class|def) ([A-Za-z]\w*)")
ANCHOR = re.compile(r'<a id="([^"]+)">')


def listed(room):
    "The pages of a room, as the sidebar has them; some stand elsewhere"
    apart = {"index", *(o for group in SIDEBAR for o in toctree(group))}
    return [path.stem for path in all_pages(room) if path.stem not in apart]


TOCTREES = "\n\n".join(
    f"```{{toctree}}\n:hidden:\n:glob:\n:caption: {caption}\n\n{files}\n```"
    for caption, files in [
        ("Ways in", "\n".join(toctree("Ways in"))),
        *((name, "\n".join(listed(room))) for room, name in list(ROOMS.items())[:3]),
        ("API", "api/index"),
        ("Reference", "\n".join(toctree("Reference"))),
        ("The lectures", "\n".join(toctree("The lectures"))),
        *((name, "\n".join(listed(room))) for room, name in list(ROOMS.items())[3:]),
        ("Races", "benchmarks/*"),
    ]
)
SYMBOLS = {
    name.removeprefix(f"{mod}."): name for mod, names in INDEX["syms"].items() for name in names
}


def shown(cell, exported_to, folded=False):
    "The cells that stand on the page for this one: none, itself, or itself and a note"
    if cell.cell_type != "code":
        return [cell]
    options, body = split(cell.source)
    if "hide" in options or not body:
        return []
    cell.source = body
    tags = cell.metadata.setdefault("tags", [])
    if options.get("echo") == "false":
        tags.append("remove-input")
    mystnb = cell.metadata.setdefault("mystnb", {})
    if folded:
        tags.append("hide-input")
        line = f"✓ checked: {options['checked']}" if "checked" in options else "The imports"
        mystnb.update(code_prompt_show=line, code_prompt_hide=line)
    elif options.get("code-fold") == "true":
        tags.append("hide-input")
        if defined := DEFINED.findall(body):
            mystnb["code_prompt_show"] = f"Show the code of {' and '.join(defined)}"
    if "fig-alt" in options:
        mystnb["image"] = {"alt": options["fig-alt"]}
        mystnb["figure"] = {"caption": caption(options)}
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        data.pop(
            "application/vnd.jupyter.widget-view+json", None
        )  # a slider's html needs no kernel
        for kind in {"image/png", "text/html"} & set(data):
            data[kind], drawing = lighten(data[kind])
            if drawing:
                tags.append("drawing")
    if {"export", "exporti"} & set(options) and not cell.metadata.get("joined"):
        names = [f"`{name}`" for name in DEFINED.findall(body)]
        note = f"exported as {', '.join(names)}" if names else f"exported to `{exported_to}`"
        return [cell, nbformat.v4.new_markdown_cell(f"{{.exported}}\n{note}")]
    return [cell]


def join_imports(nb):
    "Import cells that follow one another become one, under one bar; the page says no more of where they go"
    imports, cells = {id(cell) for cell in setup_cells(nb)}, []
    for cell in nb.cells:
        if cells and {id(cell), id(cells[-1])} <= imports:
            cells[-1].source += "\n" + split(cell.source)[1]
            cells[-1].metadata["joined"] = True
        else:
            cells.append(cell)
    nb.cells = cells


def prepare(app, docname, source):
    "source-read: the notebook as MyST-NB should see it"
    if not is_notebook(app, docname):
        return
    nb = nbformat.reads(source[0], as_version=4)
    exported_to = f"rkhs_notes.{module(nb)}"
    join_imports(nb)
    folded = {id(cell) for cell in hidden(nb)}
    nb.cells = [new for cell in nb.cells for new in shown(cell, exported_to, id(cell) in folded)]
    if elsewhere := launches(find(docname)):
        nb.cells.insert(1, nbformat.v4.new_markdown_cell(f"{{.exported}}\n{elsewhere}"))
    if docname == "index":
        nb.cells.append(nbformat.v4.new_markdown_cell(TOCTREES))
    source[0] = json.dumps(nb)


class Boxes(SphinxTransform):
    "A blockquote that opens with a bold Theorem, Definition, ... gets the classes box and box-theorem"

    default_priority = 300

    def apply(self):
        for quote in self.document.findall(nodes.block_quote):
            opening = next((node.astext() for node in quote.findall(nodes.strong)), "")
            if quote.astext().startswith(opening) and (match := BOX.match(opening)):
                quote["classes"] += ["box", f"box-{match[1].lower()}"]


class Anchors(SphinxTransform):
    "Registers each <a id='thm-3-1'> where MyST looks up the end of a link"

    default_priority = 310

    def apply(self):
        matches = (ANCHOR.search(node.astext()) for node in self.document.findall(nodes.raw))
        found = {match[1]: (0, match[1], "") for match in matches if match}
        self.document.myst_slugs = slugs = {**getattr(self.document, "myst_slugs", {}), **found}
        self.env.metadata[self.env.docname]["myst_slugs"] = slugs


class Formulas(SphinxTransform):
    r"Display formulas reach MathJax as written: Sphinx would wrap them in split, where \tag is not allowed"

    default_priority = 320

    def apply(self):
        for node in self.document.findall(nodes.math_block):
            if not node.get("nowrap"):
                node[:] = [nodes.Text(rf"\[{node.astext()}\]")]
                node["nowrap"] = node["no-wrap"] = True


NO_LINKS = (nodes.reference, nodes.title, pending_xref)  # what holds no link of ours


class Symbols(SphinxTransform):
    "`Gaussian` in text refers to the API entry of rkhs_notes.kernels.Gaussian"

    default_priority = 330

    def apply(self):
        for node in list(self.document.findall(nodes.literal)):
            name = SYMBOLS.get(node.astext().removesuffix("()").removeprefix("rn."))
            if name and not any(isinstance(o, NO_LINKS) for o in above(node)):
                options = {
                    "refdomain": "py",
                    "reftype": "obj",
                    "reftarget": name,
                    "refdoc": self.env.docname,
                }
                node.replace_self(
                    pending_xref("", node.deepcopy(), refexplicit=True, refwarn=False, **options)
                )


def separate(lines):
    "Numpydoc wants `x : array (n,)    the data` as two lines: what it is and, indented, what it means"
    section = False
    for line in lines:
        if re.fullmatch("-{3,}", line) or not line:
            section = bool(line) or section
            yield line
        elif (
            section
            and not line.startswith(" ")
            and (match := re.fullmatch(r"(.*?\S) {2,}(\S.*)", line))
        ):
            yield from (match[1], f"    {match[2]}")
        else:
            yield f"    {line.strip()}" if section and line.startswith(" ") else line


def escape(line):
    "Formulas of a docstring, with what reStructuredText would read as markup escaped; `code` is kept"
    parts = re.split(r"(``.+?``|`[^`]+`)", line)
    parts[::2] = [re.sub(r"([*|\\]|_(?=\W|$))", r"\\\1", part) for part in parts[::2]]
    return "".join(parts)


def linked(line):
    "A line of reStructuredText whose Theorem 5.2 and (5.4) are links, as on the pages"
    text, _ = link(line, "", places())
    return re.sub(r"\[([^\]]+)\]\((\w+)\.ipynb(#[\w-]+)?\)", r"`\1 <../\2.html\3>`__", text)


def docstring(app, what, name, obj, options, lines):
    "autodoc-process-docstring: plain text becomes reStructuredText"
    is_code = [line.lstrip().startswith(">>>") for line in [*lines, ">>>"]]
    text, examples = lines[: is_code.index(True)], lines[is_code.index(True) :]
    lines[:] = [*map(linked, map(escape, separate(text))), *examples]


def signature(app, what, name, obj, options, arguments, returns):
    "autodoc-process-signature: that of the code; k(x, y) = ... in a docstring is a formula"
    if what == "class" and arguments == "(*args, **kwargs)":  # the door of a class, not its fields
        plan = inspect.signature(obj)
        bare = [one.replace(annotation=one.empty) for one in plan.parameters.values()]
        arguments = str(plan.replace(parameters=bare, return_annotation=plan.empty))
    return arguments, returns


def left_out(app, what, name, obj, skip, options):
    "autodoc-skip-member: the methods of metadata routing that scikit-learn adds, in its own words"
    return True if re.fullmatch(r"set_\w+_request", name) else None


def setup(app):
    # pages read with another version of this file, or of the index, are read again
    version = hashlib.sha256(Path(__file__).read_bytes() + repr(INDEX).encode()).hexdigest()
    app.add_config_value("pages_version", version, "env")
    app.connect("source-read", prepare)
    app.connect("autodoc-process-docstring", docstring, priority=100)  # before numpydoc, at 500,
    app.connect(
        "autodoc-process-signature", signature, priority=100
    )  # who takes formulas for signatures
    app.connect("autodoc-skip-member", left_out)
    for transform in (Boxes, Anchors, Formulas, Symbols):
        app.add_transform(transform)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
