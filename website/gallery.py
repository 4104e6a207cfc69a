"""Front matter: the signature picture of every page, small; one finds by eye what one has no word for."""

import base64
import io
import re
from functools import cache

from PIL import Image

from .notebooks import NBS, chapters, read, split
from .statements import heading

WIDTH = 320  # pixels of a thumbnail
CHOSEN = {  # of the treatise, which figure, where it is not the first
    "00a": 1, "01b": 1, "01c": 1, "02a": 1, "03a": 3, "05a": 2, "05b": 3, "06a": 2, "07a": 2, "07b": 2,
    "10a": 1, "11a": 1, "12a": 1, "14": 4, "15": 1, "16": 2,
}  # fmt: skip
HEAD = """# Gallery

A picture of each of the forty-five pages; click on one to open it.

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
    "{page: (alt text, PNG)}: of the course the pictures of its table, of the others a figure each"
    chosen = {path: CHOSEN.get(path.stem.partition("_")[0], 0) for path in chapters()}
    found = {path.stem: [*figures(path)][place] for path, place in chosen.items()}
    return found | course()


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
