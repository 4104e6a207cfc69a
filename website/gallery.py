"""Front matter: the signature picture of every page, small; one finds by eye what one has no word for."""

import base64
import io
import re
from functools import cache

from PIL import Image

from .notebooks import NBS, chapters, read, split
from .statements import heading

WIDTH = 320  # pixels of a thumbnail
HEAD = """# Gallery

A picture of every page; click on one to open it.

{.gallery}
"""


@cache
def course():
    "{page: (alt text, PNG)} of the pictures in nbs/README.md"
    found = re.findall(
        r"\[!\[(.*?)\]\((images/\S+)\)\]\((\w+)\.ipynb\)", (NBS / "README.md").read_text("utf-8")
    )
    return {page: (alt, (NBS / file).read_bytes()) for alt, file, page in found}


def figures(path):
    "(alt text, PNG) of the figures that a notebook has stored"
    for cell in read(path).cells:
        alt = split(cell.source)[0].get("fig-alt") if cell.cell_type == "code" else None
        for output in cell.outputs if alt else ():
            if png := output.get("data", {}).get("image/png"):
                yield alt, base64.b64decode(png)


@cache
def pictures():
    "{page: (alt text, PNG)}: of the course the pictures of its table, of the others their first figure"
    found = {path.stem: next(figures(path), None) for path in chapters()} | course()
    return {page: picture for page, picture in found.items() if picture}


def thumbnail(png):
    "The picture, WIDTH pixels wide, on white, as PNG"
    picture, out = Image.open(io.BytesIO(png)).convert("RGBA"), io.BytesIO()
    white = Image.new("RGBA", picture.size, "white")
    small = Image.alpha_composite(white, picture).convert("RGB")
    small.thumbnail((WIDTH, WIDTH), Image.Resampling.LANCZOS)
    small.quantize(128).save(out, "PNG", optimize=True)
    return out.getvalue()


def page():
    "Markdown of the gallery"
    lines = []
    for page, (alt, _) in pictures().items():
        words, number = re.sub(r"[\[\]]", "", alt), page.partition("_")[0]
        shown = f"![{words}](gallery_{page}.png)<br>**{number}** {heading(page)}"
        lines.append(f"* [{shown}](../{page}.ipynb)")
    return HEAD + "\n".join(lines) + "\n"


def thumbnails():
    "(file name, bytes) of the pictures"
    for page, (_, png) in pictures().items():
        yield f"gallery_{page}.png", thumbnail(png)
