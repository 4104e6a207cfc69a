"""The PDFs: pages in order, bookmarks and numbers, links inside the book, nothing of this machine."""

import pytest

pytest.importorskip("mdit_py_plugins", reason="the book is printed with the site's tools")
pypdf = pytest.importorskip("pypdf", reason="comes with rkhs_notes[book]")
from website import pdf  # noqa: E402

PAGE = """<html><title>{0} &#8212; notes</title>
<h1>{0}<a class="headerlink" href="#a">#</a></h1><h2 id="a">Part
of {0}</h2><a href="{1}">link</a> <a href="https://example.org/">out</a>
<p style="break-before: page">two</p>"""


@pytest.fixture
def site(tmp_path, monkeypatch):
    "A site of empty pages, and notebooks for them"
    rooms = {
        "": ["index", "01_kernels", "12_cke"],
        "deeper": ["01a_zoo"],
        "base": ["gram"],
        "answers": ["a_01"],
    }
    books = {name: tmp_path / room / name for room, names in rooms.items() for name in names}
    for name in (*books, "front/bibliography", "front/words", "search"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.html").touch()
    monkeypatch.setattr(
        pdf, "all_pages", lambda *room: [books[o] for key in room or rooms for o in rooms[key]]
    )
    monkeypatch.setattr(pdf, "find", books.get)
    monkeypatch.setattr(pdf, "room", lambda path: next(o for o in rooms if path.name in rooms[o]))
    return tmp_path


def names(site, book):
    return " ".join(page.relative_to(site).as_posix().removesuffix(".html") for page in book(site))


def test_the_order_of_the_books(site):
    assert names(site, pdf.everything) == (
        "index 01_kernels 12_cke 01a_zoo gram front/words a_01 front/bibliography"
    )
    assert names(site, pdf.course) == "index 01_kernels 12_cke front/bibliography"
    assert pdf.BOOKS == {"rkhs_notes.pdf": pdf.everything, "rkhs_notes_course.pdf": pdf.course}


def test_the_course_is_thirteen_pages(tmp_path):
    stems = [page.stem for page in pdf.course(tmp_path)]
    assert stems[0] == "index" and stems[-1] == "bibliography"
    assert [stem[:2] for stem in stems[1:-1]] == [f"{number:02}" for number in range(13)]


def test_headings_get_their_spaces_back(tmp_path):
    (tmp_path / "a.html").write_text(PAGE.format("One &amp; two", ""), encoding="utf-8")
    found = pdf.headings(tmp_path / "a.html")
    assert (
        found["Onetwo"] == "One & two" and found["PartofOnetwoPartofOnetwo"] == "Part of One & two"
    )


@pytest.mark.skipif(pdf.chromium() is None, reason="no Chromium here")
def test_a_small_book(tmp_path, capsys, monkeypatch):
    site, out = tmp_path / "site", tmp_path / "out.pdf"
    books = {"short.pdf": lambda site: [site / "index.html"]}
    books["out.pdf"] = lambda site: [site / f"{name}.html" for name in ("index", "01_b", "02_c")]
    site.mkdir()
    monkeypatch.setattr(pdf, "BUILD", tmp_path / "build")
    for name, to in (("index", "01_b.html#a"), ("01_b", "index.html"), ("02_c", "nowhere.html")):
        (site / f"{name}.html").write_text(PAGE.format(f"Title of {name}", to), encoding="utf-8")
    pdf.make(site, tmp_path, books)
    said = capsys.readouterr().out
    assert "out.pdf: 3 parts, 6 pages" in said and "short.pdf: 1 parts, 2 pages" in said
    book = pypdf.PdfReader(out)
    for number, page in enumerate(book.pages, 1):
        assert page.extract_text().split()[0] == str(number)
    tops = [entry for entry in book.outline if not isinstance(entry, list)]
    assert [entry.title for entry in tops] == [
        f"Title of {name}" for name in ("index", "01_b", "02_c")
    ]
    assert [book.get_destination_page_number(entry) for entry in tops] == [0, 2, 4]
    notes = [[note.get_object() for note in page.get("/Annots", [])] for page in book.pages]
    inner = [
        [book.get_page_number(note["/Dest"][0]) for note in page if "/Dest" in note]
        for page in notes
    ]
    assert inner == [
        [0, 2],
        [],
        [2, 0],
        [],
        [4],
        [],
    ]  # to itself by one name, to the other, to nowhere
    outer = [note["/A"]["/URI"] for page in notes for note in page if "/URI" in note.get("/A", {})]
    assert outer == ["https://example.org/"] * 3
    assert str(tmp_path).encode() not in out.read_bytes() and b"file:" not in out.read_bytes()


def test_without_a_site_it_says_what_to_do(tmp_path):
    with pytest.raises(SystemExit, match="make notes"):
        pdf.make(tmp_path)
