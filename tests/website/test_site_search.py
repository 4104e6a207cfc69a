"""The site's search: a list of queries in readers' words, run in node by the scripts that a browser runs."""

import csv
import json
import re
import shutil
import subprocess

import pytest
from docutils.core import publish_doctree

from conftest import SITE, built, refuse
from website.notebooks import ROOT
from website.sections import MOST, found, names

SECTIONS = SITE / "_static" / "sections.js"
with open(ROOT / "tests" / "website" / "queries.csv", encoding="utf-8") as file:
    QUERIES = dict(list(csv.reader(file))[1:])


def first(queries):
    "The three places that the search of the built site lists first, for each query"
    command = ["node", ROOT / "tests" / "website" / "queries.js", SITE]
    done = subprocess.run(
        command, input=json.dumps(queries), text=True, capture_output=True, check=True
    )
    return json.loads(done.stdout)


def leads_to(place, wanted):
    "Is it that page, or the entry of that public name, wherever it stands?"
    page, _, end = place.partition("#")
    name = wanted.removeprefix("api:")
    if name != wanted:
        return page == f"api/{name}.html" or (page.startswith("api/") and end.endswith(f".{name}"))
    return page == f"{wanted}.html"


@built
@pytest.mark.skipif(not shutil.which("node"), reason="the site's search runs in node")
def test_a_reader_finds_the_page_among_the_first_three():
    missed = [
        f"{query}: {wanted} expected; {', '.join(places)} stand first"
        for (query, wanted), places in zip(QUERIES.items(), first(list(QUERIES)), strict=True)
        if not any(leads_to(place, page) for place in places for page in wanted.split())
    ]
    assert len(QUERIES) >= 80
    if len(missed) > len(QUERIES) / 20:
        refuse(missed)


@built
def test_the_index_is_small_and_loaded_on_use():
    assert SECTIONS.stat().st_size < 1_500_000 and not (SITE / "searchindex.js").exists()
    heavy = re.compile(r"<script[^>]*(sections|minisearch|searchtools|searchindex)\.js")
    refuse([path.name for path in SITE.glob("*.html") if heavy.search(path.read_text("utf-8"))])


def test_the_ranking_knows_no_page():
    ranking = (ROOT / "website" / "static" / "ranking.js").read_text("utf-8")
    assert not re.search(r"\b\d\d[a-z]?_[a-z]", ranking)


def test_words_stand_where_they_are_defined():
    known = names()
    assert "representer theorem" in known["05_representer", "thm-5-1"]
    assert "jackknife" in known["05_representer", "thm-5-3"]
    assert "median heuristic" in known["01_kernels", ""]


def test_text_is_kept_without_code():
    text = (
        "A page\n======\n\nIts *first* words.\n\nA part\n------\n\nSay :math:`\\lambda` and go.\n\n"
    )
    text += f"::\n\n    code(1)\n\n.. math:: x^2\n\nThen {'more ' * MOST}"
    doctree = publish_doctree(text, settings_overrides={"doctitle_xform": False})
    page, part = found(doctree)
    assert page == ("", "A page", "Its first words.") and part[1] == "A part"
    assert part[2].startswith(r"Say $\lambda$ and go. Then more") and len(part[2]) == MOST


def test_the_card_of_a_page_is_no_text_of_it():
    table = "=====  =====\nTime   an hour\n=====  =====\n\n"
    text = f"A page\n======\n\nWords.\n\n{table}A part\n------\n\nMore.\n\n{table}"
    doctree = publish_doctree(text, settings_overrides={"doctitle_xform": False})
    said = [[words for *_, words in found(doctree, card)] for card in (True, False)]
    assert "hour" not in said[0][0] and "hour" in said[0][1] and "hour" in said[1][0]


def test_names_of_other_libraries_lead_to_ours():
    known = names()["api/fourier_features", "rkhs_notes.engines.features.spectral.fourier_features"]
    assert known.startswith("fourier_features; ") and "rbfsampler" in known
