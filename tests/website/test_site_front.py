"""Front matter: each line of the registry is a page that can be written."""

import re
from types import SimpleNamespace

import pytest

from website import front


@pytest.mark.parametrize("name", front.PAGES)
def test_a_page_is_written(name):
    data = front.render(front.PAGES[name])
    assert len(data) > 100
    if name.endswith(".md"):
        assert re.match("# .+\n", data.decode()) and data.decode().count("\n# ") == 0


def test_pages_stand_in_the_order_of_the_registry(monkeypatch):
    monkeypatch.setattr(front, "PAGES", {"b.md": "x:y", "b.png": "x:y", "a.md": "x:y"})
    assert front.toctree_entries() == ["front/b", "front/a"]


def test_text_and_pictures_are_bytes(monkeypatch):
    module = SimpleNamespace(text=lambda: "# é", picture=lambda: b"\x89PNG")
    monkeypatch.setattr(front, "import_module", {"website.m": module}.get)
    assert front.render("m:text") == "# é".encode() and front.render("m:picture") == b"\x89PNG"
