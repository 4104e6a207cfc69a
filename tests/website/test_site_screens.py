"""Captions, numbers of figures and the head of a page: website/screens.py."""

import re
from types import SimpleNamespace

import pytest
from docutils import nodes
from docutils.utils import new_document

from conftest import NOTEBOOKS, refuse
from website import screens
from website.notebooks import read, split

TWICE = re.compile(
    r"(?<!\\)\^\{(?:[^{}]|\{[^{}]*\})*\}\s*\^"
)  # x^{(1)}^\top: MathJax draws an error


def transformed(kind, docname, *children):
    "The children after the transform `kind` of a page named docname"
    document = new_document("page")
    document.settings.env = SimpleNamespace(docname=docname)
    document += list(children)
    transform = kind(document)
    transform.apply()
    return document


def figure(*shown):
    words = nodes.caption("", "", nodes.Text("A curve."))
    return nodes.figure("", *shown, words)


def picture():
    return nodes.container("", nodes.image(uri="x.png"))


def frames():
    return nodes.container("", nodes.raw("", '<figure data-frames="1">', format="html"))


def test_pictures_are_counted_by_page_and_text_is_no_picture():
    text = nodes.literal_block("", "Gaussian(1)")
    page = transformed(
        screens.Figures, "05a_processes", figure(picture()), figure(text), figure(frames())
    )
    assert [o["ids"] for o in page.findall(nodes.figure)] == [["fig-5a-1"], ["fig-5a-2"]]
    assert [o.astext() for o in page.findall(nodes.caption)] == [
        "Figure 5a.1. A curve.",
        "Figure 5a.2. A curve.",
    ]
    assert text.parent is page


@pytest.mark.parametrize(
    "docname, number", [("00_hilbert", "0.1"), ("10_double_descent", "10.1"), ("S_smo", "1")]
)
def test_the_number_of_a_figure(docname, number):
    page = transformed(screens.Figures, docname, figure(picture()))
    assert page.astext().strip().endswith(f"Figure {number}. A curve.")


def test_no_line_begins_with_the_mark_behind_a_formula():
    asked, words = nodes.math("", "x^2"), nodes.math("", "y")
    page = transformed(
        screens.Punctuation,
        "x",
        nodes.paragraph("", "", asked, nodes.Text("?) So"), words, nodes.Text("th")),
    )
    assert page.astext() == "x^2?) Soyth"
    (pair,) = page.findall(nodes.inline)
    assert (pair.astext(), pair["classes"]) == ("x^2?)", ["together"])


def test_a_mark_is_taken_from_behind_its_formula_and_from_nowhere_else():
    words, formula = nodes.strong("", "a"), nodes.math("", "x")
    page = transformed(
        screens.Punctuation,
        "x",
        nodes.paragraph("", "", words, nodes.Text(". "), formula, nodes.Text(". ")),
    )
    assert page.astext() == "a. x. "


DRAGGED = (
    '<figure class="rn-play"><figcaption>{}<span class="how"> Drag.</span></figcaption></figure>'
)


def test_a_figure_to_drag_keeps_one_caption_its_own():
    page = transformed(
        screens.Figures,
        "11_mmd",
        figure(
            nodes.raw("", DRAGGED.format("Where f &lt; g."), format="html"),
            nodes.image(uri="x.png"),
        ),
    )
    assert [o.astext() for o in page.findall(nodes.caption)] == ["Figure 11.1. Where f < g."]
    assert [o.astext() for o in page.findall(nodes.raw)] == [DRAGGED.format("")]


@pytest.mark.parametrize(
    "code, kept", [("k(X, Y)", True), ("ridge", False), ("f(x) + " * 8, False)]
)
def test_a_line_does_not_break_within_short_code(code, kept):
    row = nodes.row("", nodes.entry("", nodes.paragraph("", "", nodes.literal("", code))))
    page = transformed(
        screens.ShortCode, "x", nodes.paragraph("", "", nodes.literal("", code)), row
    )
    found = ["together" in o["classes"] for o in page.findall(nodes.literal)]
    assert found == [kept, False]  # in a table it may break


def test_a_screen_reader_hears_a_description_once():
    assert screens.caption({"fig-alt": "f_1 < 2 and *g*"}) == (
        r'<span aria-hidden="true">f\_1 \< 2 and \*g\*</span>'
    )
    assert (
        screens.caption({"fig-alt": "two curves", "fig-cap": "They meet **once**."})
        == "They meet **once**."
    )


def page(*paragraphs):
    document = new_document("page")
    section = nodes.section(
        "", nodes.title("", "05 · Least norm"), *(nodes.paragraph("", o) for o in paragraphs)
    )
    document += section
    return document


def test_description_is_the_first_sentence_worth_the_name():
    assert screens.description(
        page("Short.", "A kernel is " + "very " * 10 + "useful.")
    ).startswith("A kernel is")
    long = screens.description(page("word " * 100))
    assert len(long) <= 160 and long.endswith("word …")


@pytest.mark.parametrize(
    "base, address",
    [("", "../_images/a.png"), ("https://x.org/n/", "https://x.org/n/_images/a.png")],
)
def test_head(base, address):
    doctree = page('A sentence with <angles> & quotes " that is long enough for it.')
    doctree += nodes.image(uri="../_images/a.png")
    builder = SimpleNamespace(images={"up/a.png": "a.png"}, imagedir="_images")
    app = SimpleNamespace(
        builder=builder, config=SimpleNamespace(html_baseurl=base, html_short_title="notes")
    )
    context = {"title": "05 &amp; more", "pathto": lambda name, resource: "../" + name}
    screens.head(app, "05", "page.html", context, doctree)
    assert f'<meta property="og:image" content="{address}" />' in context["metatags"]
    assert 'content="A sentence with &lt;angles&gt; &amp; quotes &quot; that' in context["metatags"]
    assert 'property="og:title" content="05 &amp; more"' in context["metatags"]


def test_pages_of_the_sidebar_have_one_kind_of_name():
    problems = []
    for path in NOTEBOOKS:
        letter, title = path.stem.partition("_")[0], read(path).cells[0].source.splitlines()[0]
        if path.stem[0].isdigit() and not title.startswith(f"# {letter} · "):
            problems.append(f"{path.name}: {title!r} does not begin with '# {letter} · '")
    refuse(problems)


def test_every_picture_has_words_for_its_caption():
    problems = []
    for path in NOTEBOOKS:
        for cell in read(path).cells:
            pictures = [o for o in cell.get("outputs", ()) if "image/png" in o.get("data", {})]
            alts = [o.metadata.get("image/png", {}).get("alt") for o in pictures]
            if pictures and ("fig-alt" not in split(cell.source)[0] or None in alts or "" in alts):
                problems.append(
                    f"{path.name}: {cell.source[:60]!r} draws without `#| fig-alt:`, or it is not stored"
                )
    refuse(problems)


def test_no_formula_raises_a_power_twice():
    problems = []
    for path in NOTEBOOKS:
        for cell in read(path).cells:
            shown = [cell.source] if cell.cell_type == "markdown" else []
            shown += [
                "".join(o.data.get("text/latex", ""))
                for o in cell.get("outputs", ())
                if "data" in o
            ]
            problems += [
                f"{path.name}: {match[0]}" for text in shown for match in TWICE.finditer(text)
            ]
    refuse(problems)


def test_the_search_for_powers_finds_one():
    assert TWICE.search(r"x^{(1)}^\top y") and not TWICE.search(r"{x^{(1)}}^\top y^{(1)}")
