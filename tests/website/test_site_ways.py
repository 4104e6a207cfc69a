"""A way for each lecture: every row once, in the lecture's own order, with a place, minutes and its slips."""

import re
from collections import Counter

import pytest
from test_labels import anchors

from conftest import refuse
from website import ways
from website.counts import minutes, sections
from website.lectures import LECTURES, Place, catalogue, places, table
from website.notebooks import find, read
from website.references import page as bibliography


def out_of_order(rows):
    "Lectures whose places are not 1, 2, 3, ..."
    found = {letters: [] for letters in LECTURES}
    for line in rows:
        found.setdefault(line["lecture"], []).append(int(line["order"]))
    return [
        o for o, places_ in found.items() if sorted(places_) != list(range(1, len(places_) + 1))
    ]


def test_every_row_is_on_one_way():
    on = Counter(line["row"] for letters in LECTURES for line in ways.items(letters))
    assert on == Counter(line["row"] for line in table("catalogue.csv"))


def test_the_order_is_that_of_the_lecture():
    rows = table("catalogue.csv")
    refuse(out_of_order(rows))
    assert [line["row"] for line in ways.items("MR")][6:8] == ["03.02", "03.03"]  # after 00.03
    assert [line["row"] for line in ways.items("FL")][-1] == "FM.08"  # its references
    twice = [{**rows[0], "order": rows[1]["order"]}, *rows[1:]]
    assert out_of_order(twice) == [rows[0]["lecture"]]


@pytest.mark.parametrize("letters", LECTURES)
def test_links_and_slips_of_a_way(letters):
    text = ways.page(letters)
    links = re.findall(r"\]\(\.\./(\w+)\.ipynb(?:#([^)]*))?\)", text)
    refuse([f"{name}#{at}" for name, at in links if not find(name)])
    refuse([f"{name}#{at}" for name, at in links if at and at not in anchors(find(name))])
    lines = re.findall(r"(?m)^\| (\d+) \| .* \| (.*) \|$", text)
    assert [int(number) for number, _ in lines] == list(range(1, len(ways.items(letters)) + 1))
    assert all("](../" in where for _, where in lines)
    assert text.count("\n|", text.index("## Slips")) > 5
    assert f"](way_{letters}.md)" in catalogue() and f"](way_{letters}.md)" in bibliography()


def test_minutes_of_a_way():
    "Pages of the course whole; sections once, though two rows lead there; the front page costs nothing"
    where = [Place("03_rkhs", "Four steps", "Four steps"), Place("index", "The lectures")]
    where += [Place("03b_subspaces", "Free beginnings", "Sums"), where[0]]
    course, whole, part = ways.spent(where)
    assert course == ["03_rkhs"] and whole == sum(minutes(read(find("03_rkhs"))))
    wanted = ("03_rkhs", "Four steps"), ("03b_subspaces", "Sums")
    found = [o for page, title in wanted for o in sections(read(find(page))) if o.title == title]
    assert len(found) == 2 and part == sum(section.text + section.code for section in found)


def test_the_section_above_a_heading_is_known():
    found = places()
    assert Place("03b_subspaces", "Free beginnings", "Sums") in found["03.37"]
    assert {place.section for place in found["FM.01"]} == {"The lectures"}
