"""Sphinx extension: pages that open fast: pictures of few colours, and no font of two thousand icons."""

import base64
import io
import re
from pathlib import Path

from PIL import Image, ImageChops, ImageStat

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
    found = [base64.b64decode(o) for o in PNG.findall(text)]
    return PNG.sub(lambda o: base64.b64encode(light(base64.b64decode(o[0]))).decode(), text), (
        bool(found) and all(map(is_drawing, found))
    )


def without_icons(app, exception):
    "build-finished: the theme's icons, fonts and maps of sources go; notes.css draws the dozen in use"
    static = Path(app.outdir) / "_static"
    sheet = static / "styles" / "pydata-sphinx-theme.css"
    sheet.write_text(AWESOME.sub("", sheet.read_text(encoding="utf-8")), encoding="utf-8")
    for path in [
        *static.rglob("*.map"),
        *static.rglob("*fontawesome*.js"),
        *static.rglob("fa-*.woff2"),
    ]:
        path.unlink()


def setup(app):
    app.connect("build-finished", without_icons)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
