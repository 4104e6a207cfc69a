"""Pages open fast: website/screens.py, and the weight of each chapter of the built site."""

import base64
import io
import re
import sys

import numpy as np
import pytest
from PIL import Image, ImageDraw

from conftest import ROOT, SITE, built, refuse
from website import screens
from website.build import BUILD, mathjax
from website.notebooks import chapters

sys.path.insert(0, str(ROOT / "e2e"))
import browser  # noqa: E402

STYLE = (ROOT / "website" / "static" / "notes.css").read_text(encoding="utf-8")
MOST = 2_500_000  # bytes that come over a wire until a chapter stands
FONTS = "Main-Regular Main-Bold Math-Italic AMS-Regular Calligraphic-Regular Zero".split()
FONTS += [f"Size{i}-Regular" for i in (1, 2, 3, 4)]


def png(image):
    image.save(file := io.BytesIO(), "png")
    return file.getvalue()


def pixels(data):
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)


def drawing(ink="#1b6ca8"):
    "A circle whose edge has the many shades that smooth lines have"
    image = Image.new("RGBA", (1600, 1200), "white")
    ImageDraw.Draw(image).ellipse((200, 200, 1400, 1000), outline=ink, width=12)
    return image.resize((400, 300), Image.Resampling.LANCZOS)


def photograph():
    rng = np.random.default_rng(0)
    return Image.fromarray(rng.integers(0, 256, (200, 300, 3), dtype=np.uint8))


def test_a_drawing_loses_bytes_and_nothing_that_is_seen():
    heavy = png(drawing())
    easy = screens.light(heavy)
    assert len(easy) < 0.75 * len(heavy)
    assert np.sqrt(np.mean((pixels(easy) - pixels(heavy)) ** 2)) < 1


def test_a_photograph_keeps_every_pixel():
    heavy = png(photograph())
    assert np.array_equal(pixels(screens.light(heavy)), pixels(heavy))


def test_only_drawings_turn_light_on_dark():
    digits = Image.new("L", (300, 200), 255)
    ImageDraw.Draw(digits).rectangle((20, 20, 80, 120), fill=0)
    assert screens.is_drawing(png(drawing()))
    assert not screens.is_drawing(png(digits)) and not screens.is_drawing(png(photograph()))


def test_pictures_inside_a_text_are_made_light_and_the_text_stays():
    one, two = (base64.b64encode(png(o)).decode() for o in (drawing(), photograph()))
    text, drawings = screens.lighten(f'<img src="data:image/png;base64,{one}"> ["{one}"]')
    assert len(text) < 1.6 * len(one) and text.startswith("<img src=") and text.endswith('"]')
    assert drawings and screens.lighten(one + " " + two)[1] is False
    assert screens.lighten("<table>no picture</table>") == ("<table>no picture</table>", False)


def test_what_is_cut_from_the_style_sheet_of_the_theme_is_about_icons():
    sheet = '*/:root{--a:1}@font-face{font-family:"Font Awesome 7 Free";src:url(x.woff2)}.fa-sun{--fa:"x"}'
    sheet += (
        ".fas,.fa-lg{width:1em}.bd-search .fa-sun{left:0}@media print{.fa{color:red}p{margin:0}}"
    )
    left = "*/:root{--a:1}.bd-search .fa-sun{left:0}@media print{p{margin:0}}"
    assert screens.AWESOME.sub("", sheet) == left


def pages():
    return [SITE / f"{path.stem}.html" for path in chapters()]


def comes_with(page):
    "The files that a page brings along, and the fonts that formulas ask for"
    text = page.read_text(encoding="utf-8")
    tags = re.findall(r"<(?:script|img|source|link)\b[^>]*>", text)
    loads = [o for o in tags if "<link" not in o or re.search('rel="(stylesheet|icon|preload)"', o)]
    names = {found[1] for o in loads if (found := re.search(r'(?:src|href)="([^":?#]+)["?#]', o))}
    return {page, *(SITE / name for name in names)} | {
        SITE / "_static" / "mathfonts" / f"MathJax_{name}.woff" for name in FONTS
    }


@built
def test_a_chapter_is_light():
    assert len(pages()) > 40
    weights = {page.stem: sum(o.stat().st_size for o in comes_with(page)) for page in pages()}
    refuse([f"{name}: {weight}" for name, weight in weights.items() if weight > MOST])
    names = {path.name for path in comes_with(pages()[0])}
    assert {"mathjax.js", "pydata-sphinx-theme.css", "notes.css", "bootstrap.js"} <= names


@built
def test_every_icon_is_drawn_and_none_is_fetched():
    wanted, drawn = set(), set(re.findall(r"\.fa-([\w-]+) \{ --icon", STYLE))
    for page in SITE.rglob("*.html"):
        for names in re.findall(r'<(?:i|span) class="([^"]*\bfa-[^"]*)"', page.read_text("utf-8")):
            wanted |= {o[3:] for o in names.split() if o.startswith("fa-")}
    assert wanted - {"solid", "lg", "fw"} <= drawn and "magnifying-glass" in wanted
    refuse([o for o in SITE.rglob("*") if "fontawesome" in o.name or o.name.startswith("fa-")])


LONG = r"\[" + "+".join(f"x_{{{i}}}" for i in range(40)) + r"\tag{1.1}\]"
SHORT = "<p><span class='math'>\\(\\frac ab\\)</span></p>"
FORMULAS = f"""<!doctype html><meta charset="utf-8"><style>{STYLE} main {{ max-width: 700px }}</style><main>
<div class='math'>{LONG}</div><p>So <span class='math'>\\({"+ x" * 40}\\)</span>.</p>{SHORT * 150}
<h2 id='goal'>Goal</h2><p style='height: 900px'></p>
<script defer src='{BUILD}/static/mathjax.js'></script></main>"""


@pytest.fixture(scope="module")
def formulas(tmp_path_factory):
    "A page opened from a file at a place below many formulas, two of them wide"
    pytest.importorskip("playwright", reason="comes with rkhs_notes[book]")
    if not any(map(browser.shutil.which, browser.NAMES)):
        pytest.skip("no Chromium here")
    mathjax()
    file = tmp_path_factory.mktemp("formulas") / "page.html"
    file.write_text(FORMULAS, encoding="utf-8")
    with browser.chromium() as found:
        page = found.new_page(viewport={"width": 1280, "height": 600})
        page.goto(f"{file.as_uri()}#goal")
        page.evaluate("() => MathJax.startup.promise")
        yield page


def test_a_page_is_typeset_whole_and_a_link_lands(formulas):
    assert formulas.locator("mjx-container").count() == 152
    assert formulas.locator("mjx-merror").count() == 0
    assert abs(formulas.locator("#goal").bounding_box()["y"]) < 100
    fonts = "() => [...document.fonts].filter(o => o.status == 'loaded').length"
    assert formulas.evaluate(fonts) >= 3


@pytest.mark.parametrize("width, floor", [(1280, 0.75), (390, 0.8)])
def test_a_wide_formula_shrinks_to_a_floor_then_fades_where_it_goes_on(formulas, width, floor):
    formulas.set_viewport_size({"width": width, "height": 600})
    formulas.wait_for_timeout(300)
    zoom = formulas.locator("div.math > mjx-container").evaluate("o => getComputedStyle(o).zoom")
    assert float(zoom) == pytest.approx(floor)
    edges = "o => ['--before', '--behind'].map(name => parseInt(o.style.getPropertyValue(name)))"
    for one in [formulas.locator(o) for o in ("div.math", "mjx-container.wide")][
        : 1 + (width < 600)
    ]:
        one.evaluate("o => { o.scrollLeft = 0 }")
        formulas.wait_for_timeout(100)
        assert one.evaluate("o => o.classList.contains('fades') && o.scrollWidth > o.clientWidth")
        assert one.evaluate(edges) == [0, 40]
        one.evaluate("o => { o.scrollLeft = o.scrollWidth }")
        formulas.wait_for_timeout(100)
        assert one.evaluate(edges) == [40, 0]
