"""The lecturer's desk: the course in 13, 10 and 6 weeks, what each meeting costs, needs, shows and leaves.

desk.md is its text, with links as in nbs/; nbs/desk.md and the page of the site are made of it.
"""

import re
from functools import cache
from pathlib import Path

from .counts import firsts, hours, minutes, sections
from .notebooks import NBS, chapters, flat, read
from .statements import heading

# What is needed in passing, as the cards say it: no arrow of the picture and no condition of a path
PASSING = re.compile(r"for one section|for the names|further names|\btwice\b")

# The course in so many weeks, each with its pages in the order of reading
PATHS = {
    13: [f"{page:02}" for page in range(13)],
    10: ["00", "01", "02", "03", "04", "05", "06 07", "08 09", "10", "11"],
    6: ["00 01", "02 03", "05", "07", "08", "11"],
}


@cache
def pages():
    "{'03a': (notebook, path)} of the chapters, in order"
    return {path.stem.split("_")[0]: (read(path), path) for path in chapters()}


def title(number):
    "Functions known at points, of page 03a"
    return heading(pages()[number][1].stem)


@cache
def needs(number):
    "The pages that the card of this one asks for before it, in passing left out"
    card = re.search(r"(?m)^\| \*\*Before\*\* \| (.*) \|$", pages()[number][0].cells[0].source)[1]
    clauses = [clause for clause in card.split(";") if not PASSING.search(clause)]
    found = re.findall(r"\((\d+[a-z]?)_\w+\.ipynb", flat(";".join(clauses)))
    return tuple(dict.fromkeys(found))


def named(number):
    "[05a · Random functions](deeper/05a_processes.ipynb), from nbs/"
    path = pages()[number][1].relative_to(NBS).as_posix()
    return f"[{number} · {title(number)}]({path})"


def beside(number):
    "The lettered pages of a numbered one"
    return [n for n in pages() if n[:2] == number and n != number]


def spent(week):
    "Minutes to read, to run, and for the exercises marked first, of the pages of a week"
    books = [pages()[number][0] for number in week.split()]
    costs = [(*minutes(nb), 8 * firsts(nb)) for nb in books]
    return [sum(cost) for cost in zip(*costs, strict=True)]


def row(week):
    "Pages | read | run | exercises | what they build on"
    numbers = week.split()
    before = {need for n in numbers for need in needs(n)} - set(numbers)
    cells = [" · ".join(map(named, numbers)), *map(hours, spent(week)), ", ".join(sorted(before))]
    return " | ".join(cells)


def path_table(weeks):
    "The rows of a path, and their sum"
    lines = [f"| {place} | {row(week)} |" for place, week in enumerate(weeks, 1)]
    total = " | ".join(map(hours, spent(" ".join(weeks))))
    head = "| week | pages | read | run | exercises | builds on |\n|---|---|--:|--:|--:|---|"
    return "\n".join([head, *lines, f"| | together | {total} | |"])


def section_table(number):
    "Minutes of the sections of a page, folded to one line"
    rows = [
        f"| {section.title or 'the card'} | {section.text:.0f} | {section.code:.0f} |"
        for section in sections(pages()[number][0])
    ]
    table = "\n".join(["| section | read | run |\n|---|--:|--:|", *rows])
    return f"<details><summary>{number} {title(number)}</summary>\n\n{table}\n\n</details>"


@cache
def text():
    "nbs/desk.md"
    return Path(__file__).with_name("desk.md").read_text(encoding="utf-8").format(
        sections="\n\n".join(map(section_table, PATHS[13])),
        treatise="\n".join(f"| {row(n)} |" for n in pages() if n not in PATHS[13]),
        **{f"page_{n}": "<br>".join(map(named, [n, *beside(n)])) for n in PATHS[13]},
        **{f"weeks_{weeks}": path_table(path) for weeks, path in PATHS.items()},
    )  # fmt: skip


def page():
    "The same as a page of the site"
    return flat(text(), "../").replace("](images/", "](../images/")
