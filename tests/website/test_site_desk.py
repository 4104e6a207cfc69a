"""The lecturer's page: minutes as on the cards, no week that needs a later one, a picture of the cards."""

import re

import pytest

from conftest import NOTEBOOKS, refuse
from website import desk
from website.counts import exercises, minutes, sections
from website.notebooks import read

CHAPTERS = [path for path in NOTEBOOKS if path.stem[0].isdigit()]


def too_early(weeks, needs=desk.needs):
    "(week, chapter, what it needs) where a path needs what comes later, or never"
    known = set()
    for week, chapters_ in enumerate(weeks, 1):
        for number in chapters_.split():
            yield from ((week, number, need) for need in needs(number) if need not in known)
            known.add(number)


@pytest.mark.parametrize("weeks", desk.PATHS)
def test_no_week_needs_what_comes_later(weeks):
    path = desk.PATHS[weeks]
    assert len(path) == weeks
    refuse(list(too_early(path)))
    read_ = " ".join(path).split()
    assert len(read_) == len(set(read_)) and set(read_) <= set(desk.pages())


def test_a_path_in_the_wrong_order_is_noticed():
    needs = {"00": (), "01": ("00",), "02": ("00", "01")}.get
    assert not list(too_early(["00 01", "02"], needs))
    assert list(too_early(["01 00", "02"], needs)) == [(1, "01", "00")]
    assert list(too_early(["00", "02"], needs)) == [(2, "02", "01")]
    for weeks, path in desk.PATHS.items():
        assert list(too_early(path[::-1])), weeks


def test_what_the_cards_ask_for():
    assert desk.needs("00") == () and desk.needs("01") == ("00",)
    assert "02" in desk.needs("03b") and "03" in desk.needs("03a")
    assert "08a" not in desk.needs("11"), "its card says: for one section"
    for number, (nb, _) in desk.pages().items():
        refuse(
            [f"{number} needs {need}" for need in desk.needs(number) if need not in desk.pages()]
        )
        assert desk.needs(number) or number == "00"
        assert "| **Before** |" in nb.cells[0].source


def test_the_picture_keeps_the_order():
    spots = desk.places()
    assert set(spots) == set(desk.pages()) and len(set(spots.values())) == len(spots)
    assert all(spots[need][1] < spots[number][1] for number in spots for need in desk.needs(number))
    assert max(abs(column) for column, _ in spots.values()) <= (desk.ACROSS - 1) / 2
    arrows = {(need, n) for n in spots for need in desk.needs(n) if not desk.implied(n, need)}
    assert ("00", "01") in arrows and ("00", "02") not in arrows  # 02 needs 01, which needs 00

    def reach(number):
        before = {need for need, n in arrows if n == number}
        return before.union(*map(reach, before))

    assert all(set(desk.needs(number)) <= reach(number) for number in spots)


def test_the_picture_is_drawn():
    data = desk.picture()
    assert data[:4] == b"\x89PNG" and 50_000 < len(data) < 500_000


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_sections_add_up_to_the_card(path):
    nb = read(path)
    said = re.search(r"(\d+) minutes to read, (\d+) to run, (\d+) for", nb.cells[0].source)
    for number, total in zip(said.groups(), minutes(nb), strict=False):
        assert abs(int(number) - total) <= 1
    assert 0 < int(said[3]) <= 8 * sum(exercises(nb).values())
    titles = [section.title for section in sections(nb)]
    assert len(titles) > 5 and not any(title.startswith("Exercises") for title in titles)
    assert len(exercises(nb)) >= 3


def test_minutes_of_a_small_page(write_notebook):
    body = ["# T\n" + "word " * 149, "## A\n" + "word " * 291 + "$formula$", "code:import math"]
    body += ["code:x = 1\n\ny = 2", "code:#| checked: it\nassert x", "text\n\n## B\nmore"]
    body += ["## Exercises\n**03.1 ★★** do"]
    nb = read(write_notebook("03_x.ipynb", *body))
    found = [
        (section.title, round(section.text, 1), round(section.code, 1)) for section in sections(nb)
    ]
    assert found == [("", 1.0, 0), ("A", 2.0, 0.7), ("B", 0.0, 0)]
    assert exercises(nb) == {"03.1": 2}


def test_the_page_tells_all():
    page = desk.page()
    assert not re.search(r"\{\w+\}", page.replace("{image}", "")), "a place that nobody filled"
    for number in desk.pages():
        assert desk.link(number) in page
    assert [desk.hours(time) for time in (59.6, 99, 119.8, 215)] == [
        "60 min",
        "99 min",
        "2 h 00",
        "3 h 35",
    ]
    for command in (
        "rkhs-notes lab",
        "rkhs-notes submit",
        "nbgrader autograde",
        "otter grade",
        "make pdf",
    ):
        assert command in page
