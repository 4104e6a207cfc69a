"""Front matter: each line of the registry is a page that can be written."""

import io
import re
import zipfile
from types import SimpleNamespace

import pytest
from PIL import Image

from website import downloads, front, gallery
from website import pages as pages_of_the_site
from website.notebooks import NBS, ROOMS, all_pages, chapters, find


@pytest.mark.parametrize("name", front.PAGES)
def test_a_page_is_written(name):
    data = front.render(front.PAGES[name])
    assert len(data) > 100
    if name.endswith(".md"):
        assert re.match("# .+\n", data.decode()) and data.decode().count("\n# ") == 0


def test_the_sidebar_lists_each_page_once():
    named = " ".join(front.SIDEBAR.values()).split()
    pages = {name.removesuffix(".md") for name in front.PAGES if name.endswith(".md")}
    assert len(named) == len(set(named)) and pages <= set(named)
    assert all(find(name) for name in set(named) - pages)  # the others are notebooks
    assert front.toctree("Ways in")[:2] == ["front/begin", "ten_minutes"]
    here = {page for room in ROOMS for page in pages_of_the_site.listed(room)}
    everywhere = here.union(*(front.toctree(group) for group in front.SIDEBAR))
    assert {path.stem for path in all_pages() if path.stem != "index"} <= everywhere


def test_text_and_pictures_are_bytes(monkeypatch):
    module = SimpleNamespace(text=lambda: "# é", picture=lambda: b"\x89PNG")
    monkeypatch.setattr(front, "import_module", {"website.m": module}.get)
    assert front.render("m:text") == "# é".encode() and front.render("m:picture") == b"\x89PNG"


def test_the_gallery_has_a_picture_of_every_page():
    text, small = gallery.page(), dict(gallery.thumbnails())
    stems = [path.stem for path in chapters()]
    assert [*gallery.pictures()] == stems and set(small) == {f"gallery_{o}.png" for o in stems}
    assert all(f"](../{stem}.ipynb)" in text for stem in stems)
    assert gallery.pictures()["00_hilbert"][0].startswith("A vector, its projection on a line")
    assert re.findall(r"!\[(.{20,})\]\(gallery_", text) and "![]" not in text
    assert max(Image.open(io.BytesIO(png)).width for png in small.values()) <= gallery.WIDTH
    assert sum(map(len, small.values())) < 600_000


def test_the_notes_as_files():
    files = dict(downloads.files())
    names = {name: zipfile.ZipFile(io.BytesIO(data)).namelist() for name, data in files.items()
             if name.endswith(".zip")}  # fmt: skip
    whole, student = names["notebooks.zip"], names["notebooks_student.zip"]
    assert "rkhs_notes/00_hilbert.ipynb" in whole and "rkhs_notes/answers/answers_00.ipynb" in whole
    assert "rkhs_notes/00_hilbert.ipynb" in student and "answers_" not in str(student)
    assert all(f"]({name})" in downloads.page() for name in files)


def test_pages_open_elsewhere_once_the_address_is_known():
    path = NBS / "deeper" / "03a_interpolation.ipynb"
    said = downloads.launches(path, "https://github.com/o/r")
    assert "mybinder.org/v2/gh/o/r/HEAD?urlpath=lab/tree/nbs/deeper/03a_interpolation.ipynb" in said
    assert "github/o/r/blob/HEAD/nbs/deeper/03a_interpolation.ipynb" in said
    assert downloads.launches(path, "") == downloads.launches(path, "https://x.org/o/r") == ""
    assert bool(downloads.repository()) == ("Binder" in downloads.page())
