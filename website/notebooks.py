"""What a notebook says about itself: its cells, and the `#| key: value` lines that open them."""

import ast
import json
import re
from functools import cache
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[1]
NBS = ROOT / "nbs"
ROOMS = {  # the folders below nbs/, in their order, and what the site calls them
    "": "The course",
    "deeper": "The treatise",
    "apps": "For practice",
    "engines/kernels": "Engines: kernels",
    "engines/functions": "Engines: functions",
    "engines/features": "Engines: features",
    "engines/solving": "Engines: solving",
    "engines/machines": "Engines: machines",
    "engines/testing": "Engines: testing",
    "engines/data": "Engines: data",
    "base": "Base",
    "answers": "Answers",
}
DIRECTIVE = re.compile(r"#\|\s*([\w-]+):?[ \t]*(.*)")


def all_pages(room=None):
    "The notebooks of a room, or of all of them, room by room; the front page comes first"
    folders = ROOMS if room is None else [room]
    return [
        path for folder in folders for path in sorted((NBS / folder).glob("*.ipynb"), key=in_order)
    ]


def in_order(path):
    return path.stem != "index", path.stem


def chapters():
    "The pages of the course and of the treatise, by their numbers"
    return sorted(
        [*NBS.glob("[0-9]*.ipynb"), *NBS.glob("deeper/[0-9]*.ipynb")], key=lambda path: path.stem
    )


def room(path):
    "The folder of a notebook below nbs/"
    return "/".join(Path(path).parent.relative_to(NBS).parts)


@cache
def _paths():
    return {path.stem: path for path in all_pages()}


def find(stem):
    "The notebook of that name: 03_rkhs, gram; None if there is none"
    return _paths().get(stem)


def flat(text, up=""):
    "Markdown with links as on the site, where all pages lie in one folder; `up` leads from the text to it"
    text = re.sub(r"(\]\(|href=\\?\")(?:\.\./)*(?:[a-z]+/)*(\w+\.ipynb)", rf"\1{up}\2", text)
    text = re.sub(r"(\]\()(?:\.\./)*(?:nbs/)?((?:begin|desk)\.md)", rf"\1{up}front/\2", text)
    text = re.sub(
        r"\[([^\]]*)\]\((?:\.\./)*(?:\w+/)*README\.md\)", r"\1", text
    )  # the sidebar has the rooms
    return re.sub(r"(\]\(|src=\\?\")(?:\.\./)+(images/)", r"\1\2", text)


def read(path):
    "The notebook at `path`, as nbformat 4"
    return nbformat.read(path, as_version=4)


def split(source):
    "({'fig-alt': 'a curve', 'export': ''}, the code below): a cell's directives and its body"
    lines, found = source.splitlines(), {}
    while lines and (match := DIRECTIVE.match(lines[0])):
        found[match[1]] = match[2].strip()
        lines.pop(0)
    return found, "\n".join(lines).strip("\n")


def parsed(code):
    "The syntax of a cell's code without its magics"
    return ast.parse(re.sub(r"(?m)^\s*[%!].*$", "", code))


def is_notebook(app, docname):
    "Does Sphinx read this page from a notebook?"
    return str(app.env.doc2path(docname)).endswith(".ipynb")


def change_text(app, docname, source, change):
    "source-read: each text cell of a notebook becomes change(text)"
    if is_notebook(app, docname):
        nb = json.loads(source[0])
        for cell in nb["cells"]:
            if cell["cell_type"] == "markdown":
                cell["source"] = change("".join(cell["source"]))
        source[0] = json.dumps(nb)


def module(nb):
    "The module a notebook exports, or None"
    found = (
        split(cell.source)[0].get("default_exp") for cell in nb.cells if cell.cell_type == "code"
    )
    return next(filter(None, found), None)


def switched_off(cell, *flags):
    "Does a directive keep this cell from running? `flags` adds names such as 'notest'."
    found = split(cell.source)[0]
    return found.get("eval") == "false" or any(flag in found for flag in flags)


SETUP = {"use_style"}  # what may stand beside imports: these calls, and rng = ...


def is_setup(source):
    "Is there nothing but imports, the style of the figures and the seed?"
    try:
        statements = parsed(source).body
    except SyntaxError:
        return False
    imports = [o for o in statements if isinstance(o, (ast.Import, ast.ImportFrom))]
    style = [o for o in statements if isinstance(o, ast.Expr) and isinstance(o.value, ast.Call)]
    style = [o for o in style if getattr(o.value.func, "id", "") in SETUP]
    seed = [
        o
        for o in statements
        if isinstance(o, ast.Assign) and getattr(o.targets[0], "id", "") == "rng"
    ]
    return bool(imports) and len(imports) + len(style) + len(seed) == len(statements)
