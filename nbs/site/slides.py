"""Slides from the notebooks, in _slides/: a deck a chapter, without a network.

A section gives one slide for each statement, each picture, and each short cell of code: exported ones of at
most twenty lines, and those that define something by hand. The page of a deck cuts what is taller than its
frame (slides.js). `python nbs/site/slides.py --check` opens them in Chromium and refuses what is clipped.
"""

import html
import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from build import mathjax
from cells import NBS, ROOT, read, split
from counts import before_exercises, lines_of
from fold import setup_cells
from labels import ANCHOR, BOX, chapters

OUT = ROOT / "_slides"
CODE_LINES = 20
PUBLIC = re.compile(r"(?m)^(def|class) [A-Za-z]")
BY_HAND = re.compile(r"(?m)^(def )?\w*by_hand\b.*[:=]")
DECK = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="reveal/reset.css"><link rel="stylesheet" href="reveal/reveal.css">
<link rel="stylesheet" href="slides.css">
<script>MathJax = {{tex: {{inlineMath: [["\\\\(", "\\\\)"]], displayMath: [["\\\\[", "\\\\]"]]}},
  svg: {{fontCache: "global"}}, startup: {{typeset: false}}}}</script>
<script src="mathjax.js"></script><script src="reveal/reveal.js"></script></head>
<body><div class="reveal"><div class="slides">
{slides}
</div></div><script src="slides.js"></script></body></html>
"""


def markdown():
    "Markdown to HTML; formulas as MathJax reads them"
    def formula(text, options):
        pair = r"\[{}\]" if options["display_mode"] else r"\({}\)"
        return pair.format(html.escape(text.strip()))

    reader = MarkdownIt("commonmark", {"html": True}).enable("table")
    return reader.use(dollarmath_plugin, renderer=formula, double_inline=True)


READER = markdown()


def rendered(text):
    "Text as HTML, links as words"
    text = re.sub(r"<!--.*?-->", "", ANCHOR.sub("", text))
    text = re.sub(r"(?<!!)\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return READER.render(text)


def slide(heading, body, kind):
    return f'<section class="{kind}"><h2>{READER.renderInline(heading)}</h2>\n{body}</section>'


def is_key(cell, imports):
    "Is this code for a slide: short, and exported or by hand?"
    options, body = split(cell.source)
    exported = "export" in options and PUBLIC.search(body)
    wanted = exported or (BY_HAND.search(body) and "checked" not in options)
    return bool(wanted) and id(cell) not in imports and 0 < len(lines_of(cell)) <= CODE_LINES


def of_markdown(text, heading):
    "The slides of the statements of a cell"
    for box in BOX.finditer(text):
        name = f" ({box['name']})" if box["name"] else ""
        body = re.sub(r"\n>[ ]?", "\n", box["body"]).strip()
        title = f'<p class="label">{READER.renderInline(box["kind"] + " " + box["number"] + name)}</p>'
        yield slide(heading, f'<div class="box">{title}{rendered(body)}</div>', "statement")


def of_code(cell, heading, imports):
    "The slides of a cell's code and pictures"
    if is_key(cell, imports):
        yield slide(heading, highlight(split(cell.source)[1], PythonLexer(), HtmlFormatter()), "code")
    alt = html.escape(split(cell.source)[0].get("fig-alt", ""), quote=True)
    for output in cell.outputs:
        if data := output.get("data", {}).get("image/png"):
            picture = f'<img alt="{alt}" src="data:image/png;base64,{"".join(data.split())}">'
            yield slide(heading, picture, "picture")


def opening(nb):
    "The title, and what one can do afterwards"
    title = nb.cells[0].source.splitlines()[0].removeprefix("# ")
    promise = re.search(r"\*\*Afterwards you can\*\* \| (.*) \|", nb.cells[0].source)
    text = f"<p>Afterwards you can {READER.renderInline(promise[1])}.</p>" if promise else ""
    return title, f'<section class="opening"><h1>{READER.renderInline(title)}</h1>{text}</section>'


def summary(nb):
    "The table of the section On one screen"
    text = "\n".join(cell.source for cell in nb.cells if cell.cell_type == "markdown")
    table = re.search(r"(?m)^## On one screen\s+((?:^\|.*\n)+)", text + "\n")
    return [slide("On one screen", rendered(table[1]), "table")] if table else []


def deck(nb):
    "(title, slides) of a chapter"
    title, first = opening(nb)
    imports = {id(cell) for cell in setup_cells(nb)}
    slides, heading = [first], title
    for cell in before_exercises(nb):
        if cell.cell_type == "code":
            slides += of_code(cell, heading, imports)
            continue
        for part in re.split(r"(?m)^(?=## )", cell.source):
            heading = part.splitlines()[0].removeprefix("## ") if part.startswith("## ") else heading
            slides += of_markdown(part, heading)
    return title, [*slides, *summary(nb)]


def reveal():
    "The folder of reveal.js, from the package sphinx-revealjs"
    found = importlib.util.find_spec("sphinx_revealjs")
    if found is None:
        sys.exit("sphinx-revealjs, which brings reveal.js, is not installed: pip install 'rkhs_notes[book]'")
    return Path(found.origin).parent / "_static" / "revealjs"


def write(out=OUT, paths=None):
    "Writes the decks and what they need; returns their files"
    shutil.rmtree(out, ignore_errors=True)
    (out / "reveal").mkdir(parents=True)
    for name in ("dist/reveal.js", "dist/reveal.css", "dist/reset.css", "LICENSE"):
        shutil.copy(reveal() / name, out / "reveal")
    for name in ("slides.css", "slides.js"):
        shutil.copy(NBS / "site" / name, out)
    with open(out / "slides.css", "a", encoding="utf-8") as file:
        file.write(HtmlFormatter(style="friendly").get_style_defs(".highlight"))
    (out / "mathjax.js").write_bytes(mathjax())
    files, rows = [], []
    for path in paths or chapters():
        title, slides = deck(read(path))
        files.append(out / f"{path.stem}.html")
        page = DECK.format(title=html.escape(title), slides="\n".join(slides))
        files[-1].write_text(page, encoding="utf-8")
        rows.append(f'<li><a href="{path.stem}.html">{html.escape(title)}</a>, {len(slides)} slides</li>')
    page = '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Slides</title><ul>'
    (out / "index.html").write_text(f"{page}{''.join(rows)}</ul></html>", encoding="utf-8")
    return files


def chromium():
    "Chromium or Chrome, or None"
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return next(filter(None, map(shutil.which, names)), None)


FLAGS = "--headless --no-sandbox --disable-gpu --disable-background-networking --no-first-run".split()


def clipped(file):
    "(slides after cutting, those that are clipped all the same) as Chromium lays a deck out"
    command = [chromium(), *FLAGS, "--virtual-time-budget=60000", "--dump-dom", file.resolve().as_uri()]
    page = subprocess.run(command, capture_output=True, text=True, timeout=300).stdout
    found = re.search(r'data-slides="(\d+)" data-clipped="([^"]*)"', page)
    if not found:
        return 0, "the page did not lay itself out"
    return int(found[1]), html.unescape(found[2]).strip()


if __name__ == "__main__":
    decks = write()
    print(f"{len(decks)} decks; open {(OUT / 'index.html').relative_to(ROOT)}")
    problems = 0
    if "--check" in sys.argv and not chromium():
        print("no Chromium or Chrome here: nobody looked whether the slides fit their frames")
    for file in decks if "--check" in sys.argv and chromium() else []:
        count, bad = clipped(file)
        print(f"{file.stem:24} {count:3} slides {bad or 'all within their frames'}", flush=True)
        problems += bool(bad)
    sys.exit(int(problems > 0))
