"""Every row of the lectures' catalogue and every slip has its place, and every place is one of them."""

import re
from collections import Counter
from pathlib import Path

import pytest
from test_labels import anchors

from conftest import refuse
from website import lectures
from website.lectures import Place, places, slips, table
from website.notebooks import chapters, find

CHAPTERS = chapters()


def row_problems(known, found):
    "Rows without a place, places without a row, sections that are not there, chapters that are not the row's"
    problems = [f"{row}: no place" for row in known if not found.get(row)]
    problems += [f"{row}: no such row" for row in found if row not in known]
    for row, where in found.items():
        for place in where:
            anchor = re.search(r"#(.*)\)$", place.link)
            if anchor and anchor[1] not in anchors(find(place.page)):
                problems.append(f"{row}: no place {anchor[1]} in {place.page}")
            if row.startswith("FM") != (place.page == "index"):
                problems.append(f"{row}: stands in {place.page}")
    return problems


def slip_problems(known, found):
    "Numbers without a line, lines without a number, numbers of another lecture"
    named = {number for _, slip in found for number in slip.numbers}
    problems = [f"{number}: in no chapter" for number in known if number not in named]
    problems += [f"{number}: no such slip" for number in sorted(named - set(known))]
    for stem, slip in found:
        if not slip.numbers or not {number[:2] for number in slip.numbers} <= set(
            slip.lecture.split(", ")
        ):
            problems.append(f"{stem}: {slip.lecture} has {slip.numbers}: {slip.printed}")
    return problems


def test_every_row_has_a_place():
    rows = [line["row"] for line in table("catalogue.csv")]
    assert len(set(rows)) == len(rows) == 357
    refuse(row_problems(rows, places()))


def test_every_slip_stands_in_a_chapter():
    numbers = [line["slip"] for line in table("slips.csv")]
    assert len(set(numbers)) == len(numbers)
    refuse(slip_problems(numbers, [(path.stem, slip) for path in CHAPTERS for slip in slips(path)]))


def test_every_line_of_a_table_is_read():
    for path in CHAPTERS:
        text = "\n\n".join(lectures.texts(path))
        written = re.search(r"(?s)<a id=\"slips\"></a>.*?\n\n(\|.*?)(?:\n\n|\Z)", text)
        lines = written[1].count("\n") - 1 if written else 0
        assert len(list(slips(path))) == lines == text.count("<!-- slip: "), path.stem


@pytest.mark.parametrize("page", [lectures.catalogue, lectures.slips_page])
def test_links_of_the_pages(page):
    text = page()
    links = re.findall(r"\]\(\.\./(\w+\.ipynb)(?:#([^)]*))?\)", text)
    assert len(links) > 100
    refuse(
        [f"{name}#{at}" for name, at in links if at and at not in anchors(find(Path(name).stem))]
    )
    for line in text.splitlines():
        if line.startswith("| ") and not re.match(r"\| (row|lecture) \|", line):
            assert "](../" in line.rsplit("|", 2)[1], line


def test_lost_rows_are_found():
    known = ["03.01", "03.02", "FM.01"]
    found = {"03.02": [Place("03_rkhs", "No such section")], "03.99": [Place("index", "")]}
    assert [problem.split(":")[0] for problem in row_problems(known, found)] == [
        "03.01", "FM.01", "03.99", "03.02", "03.99",
    ]  # fmt: skip


def test_lost_slips_are_found(write_notebook):
    lines = "| lecture | printed | right | shown |\n|---|---|---|---|\n"
    lines += "| MR, PK | $a$ | $b$ | [here](#x) <!-- slip: MR.01 PK.02 --> |\n"
    lines += "| CK | c | d | e <!-- slip: MR.09 --> |"
    head = '<a id="slips"></a>**Slips met in the lectures**, each.'
    path = write_notebook("03_x.ipynb", f"{head}\n\n{lines}\n\n**Next:**")
    first, second = slips(path)
    assert first == (["MR.01", "PK.02"], "MR, PK", "$a$", "$b$", "[here](../03_x.ipynb#x)")
    assert second.shown == "[e](../03_x.ipynb#slips)"
    problems = slip_problems(["MR.01", "PK.02", "PK.03"], [("03_x", first), ("03_x", second)])
    assert problems == ["PK.03: in no chapter", "MR.09: no such slip", "03_x: CK has ['MR.09']: c"]


def test_a_table_of_one_lecture(write_notebook):
    table = "| printed | right | shown |\n|---|---|---|\n| a | b | [c](04_y.ipynb#z) <!-- slip: FL.01 --> |"
    head = '<a id="slips"></a>**Slips met in the lecture FL**, each.'
    path = write_notebook("03_x.ipynb", f"{head}\n\n{table}")
    assert list(slips(path)) == [(["FL.01"], "FL", "a", "b", "[c](../04_y.ipynb#z)")]


def test_kinds_are_counted():
    kinds = Counter(line["kind"] for line in table("slips.csv"))
    page = lectures.slips_page()
    assert all(re.search(rf"\b{n} \w+", page) for n in kinds.values())
    assert f"{sum(kinds.values())} points" in page
