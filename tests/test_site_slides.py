"""Decks hold the statements, pictures and short code of chapters, ask no other host, and fit their frames."""

import re

import pytest

from cells import NBS, read, split
from conftest import NOTEBOOKS
from counts import before_exercises
from labels import chapters, statements

pytest.importorskip("mdit_py_plugins", reason="slides are made with the site's tools")
import slides  # noqa: E402

CHAPTERS = [path for path in NOTEBOOKS if path.stem[0].isdigit()]
REVEAL = pytest.mark.skipif(
    slides.importlib.util.find_spec("sphinx_revealjs") is None, reason="reveal.js comes with rkhs_notes[book]"
)
BROWSER = pytest.mark.skipif(slides.chromium() is None, reason="no Chromium here")


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_deck_holds_its_chapter(path):
    nb = read(path)
    title, made = slides.deck(nb)
    text = "\n".join(made)
    assert title in nb.cells[0].source and "Afterwards you can" in made[0]
    before = {id(cell) for cell in before_exercises(nb)}
    boxes = [box for box in statements(path) if id(nb.cells[box.cell]) in before]
    assert text.count('class="statement"') == len(boxes)
    assert all(f">{box.title}" in text for box in boxes)
    outputs = [output for cell in nb.cells if id(cell) in before for output in cell.get("outputs", [])]
    pictures = sum("image/png" in output.get("data", {}) for output in outputs)
    assert text.count('class="picture"') == pictures == text.count("<img alt=")
    assert '<img alt=""' not in text
    assert text.count('class="code"') >= 2 and made[-1].count("<tr>") > 2
    assert not re.search(r"\\(eq)?ref\b|\\label|\(\?\)|```|\]\(\w+\.ipynb", text)
    assert "solved_" not in text and "def my_" not in text


def test_which_code_is_shown(write_notebook):
    long = "def by_hand(x):\n" + "    x = 1\n" * 20
    cells = ["code:#| export\nimport math", "code:#| export\ndef f(): pass", "code:#| export\ndef _g(): pass"]
    cells += [f"code:{long}", "code:def sum_by_hand(x): return x", "code:h = 2", "code:#| export\n" + long]
    cells += ["code:#| checked: it\nassert f_by_hand(1) == 2"]
    nb = read(write_notebook("03_x.ipynb", "# 03 · T", *cells))
    code = [cell for cell in nb.cells if cell.cell_type == "code"]
    shown = [split(cell.source)[1] for cell in code if slides.is_key(cell, set())]
    assert shown == ["def f(): pass", "def sum_by_hand(x): return x"]


def test_formulas_reach_mathjax_as_written():
    text = r"By (3.4), $a<b$ and $$x_1^2 \tag{3.1}$$ [words](p.ipynb)"
    text = slides.rendered(text)
    assert "By (3.4)," in text and r"\(a&lt;b\)" in text and r"\[x_1^2 \tag{3.1}\]" in text
    assert "words" in text and "ipynb" not in text


@REVEAL
def test_a_written_deck_is_whole_and_asks_nobody(tmp_path):
    (file,) = slides.write(tmp_path / "out", [NBS / "03_rkhs.ipynb"])
    page = file.read_text(encoding="utf-8")
    for name in re.findall(r'(?:src|href)="([^"#]+)"', re.sub(r"data:[^\"]*", "", page)):
        assert (file.parent / name).exists(), name
    assert not re.search(r'(src|href)="https?:|url\(http|@import', page)
    assert not re.search(r"https?:|@import", (file.parent / "slides.css").read_text(encoding="utf-8"))


@REVEAL
@BROWSER
def test_slides_fit_or_are_told(tmp_path, monkeypatch):
    rows = "".join(f"<p>paragraph {n} of a statement too long for one slide</p>" for n in range(30))
    parts = [f'<section><h2>long</h2><div class="box">{rows}</div></section>']
    parts += ['<section><h2>short</h2><p>word</p></section>']
    monkeypatch.setattr(slides, "deck", lambda nb: ("T", parts))
    (file,) = slides.write(tmp_path / "cut", [chapters()[0]])
    count, bad = slides.clipped(file)
    assert bad == "" and 3 <= count <= 8
    parts.append('<section><h2>tower</h2><div style="height: 3000px"></div></section>')
    (file,) = slides.write(tmp_path / "tall", [chapters()[0]])
    assert slides.clipped(file)[1] == "tower"


def test_chapters_are_in_order():
    assert [path.stem for path in chapters()] == [path.stem for path in CHAPTERS]
