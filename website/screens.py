"""Sphinx extension: numbered pictures, light ones, with captions; what a search engine and a preview show."""

import base64
import html
import io
import re
import shutil
from pathlib import Path, PurePosixPath

from docutils import nodes
from PIL import Image, ImageChops, ImageStat
from sphinx.transforms import SphinxTransform


def caption(options):
    "Markdown under a picture: `#| fig-cap:`, or the alt text, hidden from who has just heard it"
    if "fig-cap" in options:
        return options["fig-cap"]
    words = re.sub(r"([\\`*_{}\[\]<>$#|~])", r"\\\1", options["fig-alt"])
    return f'<span aria-hidden="true">{words}</span>'


def page_number(docname):
    "'5a' for 05a_processes; nothing for an appendix, whose figures are counted alone"
    match = re.match(r"0*(\d+[a-z]?)_", docname)
    return match[1] if match else ""


def is_picture(figure):
    "Does it show one? A text printed by the cell that draws is wrapped in a figure too"
    raw = any("data-frames" in node.astext() for node in figure.findall(nodes.raw))
    return raw or any(True for _ in figure.findall(nodes.image))


SAID = re.compile(r"(<figcaption>)([^<]+)")


def own_caption(figure):
    "The caption that a figure to drag brings along, taken out of it: it stands below, behind the number"
    for raw in figure.findall(nodes.raw):
        if "rn-play" in raw.astext() and (match := SAID.search(raw.astext())):
            raw[:] = [nodes.Text(SAID.sub(r"\1", raw.astext(), count=1))]
            raw.rawsource = raw.astext()
            return html.unescape(match[2])
    return ""


class Figures(SphinxTransform):
    "Figure 5a.3 is the third picture of chapter 05a; what is no picture loses its caption"

    default_priority = 340

    def apply(self):
        page, count = page_number(self.env.docname), 0
        for figure in list(self.document.findall(nodes.figure)):
            if not is_picture(figure):
                figure.replace_self(
                    [o for o in figure.children if not isinstance(o, nodes.caption)]
                )
                continue
            count += 1
            number = f"{page}.{count}" if page else str(count)
            figure["ids"] = [f"fig-{number.replace('.', '-')}"]
            said = own_caption(figure)
            for words in figure.findall(nodes.caption):
                words[:] = [nodes.Text(said)] if said else words[:]
                words.insert(0, nodes.strong("", f"Figure {number}. "))


def above(node):
    "Its parent, the parent of that, ..."
    while node := node.parent:
        yield node


class ShortCode(SphinxTransform):
    "A line does not break within a few words of code, unless they stand in a table"

    default_priority = 870

    def apply(self, most=28):
        for code in self.document.findall(nodes.literal):
            cells = (node for node in above(code) if isinstance(node, nodes.entry))
            if " " in code.astext() and len(code.astext()) <= most and not next(cells, None):
                code["classes"].append("together")


class Punctuation(SphinxTransform):
    "A line does not begin with the question mark behind a formula"

    default_priority = 880

    def apply(self):
        for formula in list(self.document.findall(nodes.math)):
            rest = formula.next_node(descend=False, siblings=True)
            if isinstance(rest, nodes.Text) and (marks := re.match(r"[.,;:?!)\]]+", rest)):
                pair = nodes.inline(
                    "", "", formula.deepcopy(), nodes.Text(marks[0]), classes=["together"]
                )
                place = next(
                    i for i, o in enumerate(rest.parent) if o is rest
                )  # texts that agree are equal
                rest.parent[place] = nodes.Text(rest[marks.end() :])
                formula.replace_self(pair)


def description(doctree, most=160):
    "The opening sentences of a page, as far as `most` letters go"
    found = (
        node.astext()
        for node in doctree.findall(nodes.paragraph)
        if type(node.parent) is nodes.section
    )
    text = " ".join(next((o for o in found if len(o) > 40), "").split())
    return text if len(text) <= most else text[: most - 1].rsplit(" ", 1)[0].rstrip(",;:") + " …"


def first_picture(builder, doctree):
    "The file of the first figure of a page, from the root of the site"
    for image in doctree.findall(
        nodes.image
    ):  # the writer has put the address on the site into uri
        if (name := PurePosixPath(image["uri"]).name) in builder.images.values():
            return f"{builder.imagedir}/{name}"
    return "_static/readme_1.png"


def meta(kind, name, content):
    return f'<meta {kind}="{name}" content="{html.escape(content, quote=True)}" />'


def head(app, pagename, templatename, context, doctree):
    "html-page-context: description and link preview; html_baseurl makes the picture's address absolute"
    if doctree is None:
        return
    title = re.sub("<[^>]+>", "", html.unescape(context.get("title", "")))
    text = description(doctree) or f"{title}: {app.config.html_short_title}"
    picture, base = first_picture(app.builder, doctree), app.config.html_baseurl
    address = (
        base.rstrip("/") + "/" + picture if base else context["pathto"](picture, resource=True)
    )
    tags = [meta("name", "description", text), meta("property", "og:type", "article")]
    tags += [
        meta("property", f"og:{k}", v)
        for k, v in (("title", title), ("description", text), ("image", address))
    ]
    context["metatags"] = context.get("metatags", "") + "\n".join(
        [*tags, meta("name", "twitter:card", "summary_large_image")]
    )


PNG = re.compile(r"iVBORw0KGgo[A-Za-z0-9+/]+=*")  # in base64
AWESOME = re.compile(
    r"(?<=[{}/])(:is\()?\.fa[^{}]*\{[^{}]*\}|@font-face\{[^{}]*Font Awesome[^{}]*\}"
)


def few_colours(png):
    "A picture as it is, and in 256 colours"
    image = Image.open(io.BytesIO(png)).convert("RGB")
    return image, image.quantize(256, dither=Image.Dither.NONE)


def light(png):
    "The same picture, in 256 colours where nobody sees the difference"
    file, (image, few) = io.BytesIO(), few_colours(png)
    change = ImageStat.Stat(ImageChops.difference(image, few.convert("RGB"))).rms
    (few if max(change) < 1 else image).save(file, "png", optimize=True)
    return min(png, file.getvalue(), key=len)


def is_drawing(png):
    "Lines on white paper, which may turn light on dark; no photograph, no digits in grey, no map of values"
    few = few_colours(png)[1].convert("RGB")
    white = sum(n for n, rgb in few.getcolors() if min(rgb) >= 250)
    grey = sum(n for n, rgb in few.getcolors() if max(rgb) < 200 and max(rgb) - min(rgb) < 6)
    return white > 0.72 * few.width * few.height > 24 * grey


def lighten(text):
    "A text with every picture in it made light, and whether all are drawings"
    pictures = [base64.b64decode(o) for o in PNG.findall(text)]
    drawings = bool(pictures) and all(map(is_drawing, pictures))
    return PNG.sub(
        lambda o: base64.b64encode(light(base64.b64decode(o[0]))).decode(), text
    ), drawings


def without_icons(app, exception):
    "build-finished: the theme's icons, fonts and maps of sources go; notes.css draws the dozen in use"
    static = Path(app.outdir) / "_static"
    sheet = static / "styles" / "pydata-sphinx-theme.css"
    sheet.write_text(AWESOME.sub("", sheet.read_text(encoding="utf-8")), encoding="utf-8")
    for path in [*static.rglob("*.map"), *static.glob("scripts/fontawesome*")]:
        path.unlink(missing_ok=True)
    shutil.rmtree(static / "vendor", ignore_errors=True)


def setup(app):
    app.add_transform(Figures)
    app.add_transform(ShortCode)
    app.add_transform(Punctuation)
    app.connect("html-page-context", head)
    app.connect("build-finished", without_icons)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
