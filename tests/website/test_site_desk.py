"""The lecturer's desk: minutes as on the cards, no week that needs a later one, links that lead on."""

import re

import pytest
from test_labels import anchors

from conftest import NOTEBOOKS, refuse
from website import desk
from website.counts import firsts, hours, minutes, sections, tasks
from website.notebooks import NBS, read, room

CHAPTERS = [path for path in NOTEBOOKS if path.stem[0].isdigit()]
COURSE = [path.stem[:2] for path in CHAPTERS if room(path) == ""]
MOST = {13: 120, 10: 180, 6: 200}  # minutes of reading and running in a week


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
    assert len(read_) == len(set(read_)) and set(read_) <= set(COURSE)


@pytest.mark.parametrize("weeks", desk.PATHS)
def test_no_week_is_longer_than_a_week_may_be(weeks):
    costs = {week: sum(desk.spent(week)[:2]) for week in desk.PATHS[weeks]}
    refuse([f"{week}: {hours(cost)}" for week, cost in costs.items() if cost > MOST[weeks]])
    assert sum(desk.spent(" ".join(desk.PATHS[weeks]))[:2]) > max(MOST.values())


def test_thirteen_weeks_are_the_course_in_its_order():
    assert desk.PATHS[13] == COURSE
    assert set(" ".join(desk.PATHS[6]).split()) < set(" ".join(desk.PATHS[10]).split())
    in_place = [week.replace("08", "09") for week in desk.PATHS[6]]
    assert not list(too_early(in_place)), "the page says that 09 may stand for 08"


def test_what_is_beside_a_page_is_no_condition():
    assert desk.beside("01") == ["01a", "01b", "01c"] and desk.beside("13") == ["13a"]
    for number in desk.PATHS[13]:
        assert not set(desk.beside(number)) & set(COURSE)
        assert set(desk.needs(number)) <= set(COURSE), number
        row = re.search(rf"(?m)^\| \[{number} · .*$", desk.text())[0]
        assert all(f"<br>{desk.named(beside)}" in row for beside in desk.beside(number))


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


def direct(needs=desk.needs):
    "(page, a page that needs it) of the course, without what follows from others"

    def before(number):
        return {need for m in needs(number) for need in {m} | before(m)}

    for number in COURSE:
        yield from (
            (m, number) for m in needs(number) if not any(m in before(o) for o in needs(number))
        )


def test_the_picture_has_the_arrows_of_the_cards():
    "It is drawn by hand: whoever changes a card moves the arrow"
    svg = (NBS / "images" / "prerequisites.svg").read_text(encoding="utf-8")
    drawn = re.findall(r'<path id="(\d\d)-(\d\d)" d="M(\d+) (\d+)L(\d+) (\d+)"', svg)
    assert sorted((a, b) for a, b, *_ in drawn) == sorted(direct())
    boxes = re.findall(r'<text x="(\d+)" y="(\d+)"[^>]*>(\d\d) ', svg)
    place = {number: (int(x), int(y)) for x, y, number in boxes}
    assert sorted(place) == COURSE and len(set(place.values())) == len(COURSE)
    for a, b, *ends in drawn:  # from the foot of a box down to the head of the other
        x, y, to_x, to_y = map(int, ends)
        assert place[a] == (x, y - 9) and place[b] == (to_x, to_y + 17) and y < to_y


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_sections_add_up_to_the_card(path):
    nb = read(path)
    said = re.search(
        r"(\d+) minutes for the text, (\d+) for the code, (\d+) for", nb.cells[0].source
    )
    starred = [len(stars) for _, stars, _ in tasks(nb)]
    for number, total in zip(said.groups(), minutes(nb), strict=False):
        assert abs(int(number) - total) <= 1
    assert int(said[3]) == 8 * firsts(nb) == 8 * sum(starred) or "*first*" in nb.cells[0].source
    assert 0 < firsts(nb) <= sum(starred)
    titles = [section.title for section in sections(nb)]
    assert len(titles) > 5 and not any(title.startswith("Exercises") for title in titles)
    assert len(starred) >= 3


def test_minutes_of_a_small_page(write_notebook):
    body = ["# T\n" + "word " * 149, "## A\n" + "word " * 291 + "$formula$", "code:import math"]
    body += ["code:x = 1\n\ny = 2", "code:#| checked: it\nassert x", "text\n\n## B\nmore"]
    body += ["## Exercises\n**03.1 ★★** do"]
    nb = read(write_notebook("03_x.ipynb", *body))
    found = [
        (section.title, round(section.text, 1), round(section.code, 1)) for section in sections(nb)
    ]
    assert found == [("", 1.0, 0), ("A", 2.0, 0.7), ("B", 0.0, 0)]
    assert tasks(nb) == [("03.1", "★★", "")] and firsts(nb) == 2


def broken(text):
    "Links of the desk that lead nowhere from nbs/"
    for name, at in re.findall(r"\]\(([^)#]+)(?:#([^)]*))?\)", text):
        path = NBS / name
        if not path.exists() or (at and at not in anchors(path)):
            yield f"{name}#{at}"


def test_every_meeting_shows_and_leaves():
    text = desk.text()
    refuse(list(broken(text)))
    assert len(list(broken("[a](01_kernels.ipynb#nowhere) [b](03a_interpolation.ipynb)"))) == 2
    for number in COURSE:
        row = re.search(rf"(?m)^\| \[{number} · .*$", text)[0]
        _, show, leave = row.strip("| ").split(" | ")
        name = desk.pages()[number][1].name
        assert show.count(f"]({name}#") >= 4 and leave.count(f"]({name}#") >= 1, number
        assert set(re.findall(r"\]\(([^)#]+)", show + leave)) == {name}


def test_the_desk_is_one_text_for_repository_and_site():
    stored = (NBS / "desk.md").read_text(encoding="utf-8")  # test_sync.py asks whether it is fresh
    assert "](desk.md)" in (NBS / "README.md").read_text(encoding="utf-8").partition("| |")[0]
    assert set(re.findall(r"<(\w+)", stored)) <= {"br", "details", "summary"}
    assert desk.page().startswith("# ") and "](../images/prerequisites.svg)" in desk.page()


def test_the_page_tells_all():
    page = desk.page()
    assert not re.search(r"\{\w+\}", page), "a place that nobody filled"
    for number, (_, path) in desk.pages().items():
        assert f"](../{path.name}" in page and desk.named(number) in desk.text()
    assert [hours(time) for time in (59.6, 99, 119.8, 215)] == [
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
