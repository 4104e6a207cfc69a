"""The lecturer's desk: what each chapter costs and needs, and ways through the book in 6, 10 and 13 weeks."""

import io
import re
from functools import cache
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from .counts import exercises, minutes, sections
from .notebooks import chapters, flat, module, read

# What is needed in passing, as the cards say it: no arrow of the picture and no condition of a path
PASSING = re.compile(r"for one section|for the names|further names|\btwice\b")
ACROSS = 4  # chapters beside each other in the picture

# A way through the book: its weeks, each a list of chapters in the order of reading
PATHS = {
    6: ["00 01", "02 03", "03a 04", "05 05a", "07 08", "11 11a"],
    10: ["00", "01 01a", "01b 02", "03 03a", "04 05", "05a 06", "07 07a", "08 08a", "09 10", "11 11a"],
    13: ["00", "01 01a", "01b 02", "03", "03a 04", "05", "05a 06", "07 07a", "08 08a", "09 09a", "10",
         "11 11a", "12 16"],
}  # fmt: skip
MEANT = {
    6: "Spaces, kernels, least norm, and one test: what a statistician or an engineer takes home.",
    10: "A term: everything the five lectures treat but grids and two modalities, with its proofs.",
    13: "A long term: all of Parts I to III, and why it works on new data.",
}


@cache
def pages():
    "{'03a': (notebook, path)} of the chapters, in order"
    return {path.stem.split("_")[0]: (read(path), path) for path in chapters()}


def title(number):
    "Functions known at points, of chapter 03a"
    return pages()[number][0].cells[0].source.splitlines()[0].split("·", 1)[1].strip()


@cache
def needs(number):
    "The chapters that the card of this one asks for before it, in passing left out"
    card = re.search(r"(?m)^\| \*\*Before\*\* \| (.*) \|$", pages()[number][0].cells[0].source)[1]
    clauses = [clause for clause in card.split(";") if not PASSING.search(clause)]
    found = re.findall(r"\((\d+[a-z]?)_\w+\.ipynb", flat(";".join(clauses)))
    return tuple(dict.fromkeys(found))


def implied(number, but):
    "Is `but` needed by something else that this chapter needs?"
    others = [need for need in needs(number) if need != but]
    return any(but in needs(other) or implied(other, but) for other in others)


def places():
    "{chapter: (column, row)}: in the order of the book, below what it needs, at most so many in a row"
    rows, found = [[]], {}
    for number in pages():
        row = max([len(rows) - 1, *(found[need][1] + 1 for need in needs(number))])
        row += row < len(rows) and len(rows[row]) == ACROSS
        rows += [[] for _ in range(row + 1 - len(rows))]
        rows[row].append(number)
        found[number] = (0, row)
    for row, numbers in enumerate(rows):
        above = {n: [found[need][0] for need in needs(n)] or [0] for n in numbers}
        numbers.sort(key=lambda n: sum(above[n]) / len(above[n]))
        for place, number in enumerate(numbers):
            found[number] = (place - (len(numbers) - 1) / 2, row)
    return found


def picture():
    "The prerequisites as PNG: an arrow from a chapter to each that needs it directly"
    spots = places()
    rows = max(row for _, row in spots.values()) + 1
    with matplotlib.rc_context({"font.family": "DejaVu Sans"}):
        figure = Figure(figsize=(4.2, 0.85 * rows), dpi=180)
        axes = figure.add_axes((0, 0, 1, 1))
        for number, (x, y) in spots.items():
            for need in (need for need in needs(number) if not implied(number, need)):
                a, b = spots[need]
                bend = 0 if y - b < 2 else 0.15 if x <= a else -0.15  # around the rows between
                arrow = {
                    "arrowstyle": "-|>",
                    "color": "0.6",
                    "shrinkA": 0,
                    "shrinkB": 0,
                    "lw": 0.9,
                    "connectionstyle": f"arc3,rad={bend}",
                }
                axes.annotate("", (x, y - 0.29), (a, b + 0.29), arrowprops=arrow, zorder=1)
            name = (module(pages()[number][0]) or "").replace("_", "\n")
            box = {"boxstyle": "round,pad=0.3", "fc": "white", "ec": "#2a6f97", "lw": 0.9}
            text = f"{number}\n{name}" if "\n" not in name else f"{number} {name}"
            axes.text(x, y, text, ha="center", va="center", fontsize=8.5, bbox=box, zorder=2)
        axes.set(xlim=(-ACROSS / 2 - 0.05, ACROSS / 2 + 0.05), ylim=(rows - 0.5, -0.5))
        axes.axis("off")
        file = io.BytesIO()
        figure.savefig(file, metadata={"Software": None})
    return file.getvalue()


def alt():
    "The picture in words"
    arrows = [f"{n} needs {', '.join(needs(n))}" for n in pages() if needs(n)]
    return f"Which chapter needs which: {'; '.join(arrows)}."


def link(number):
    return f"[{number}](../{pages()[number][1].name})"


def hours(time):
    "215 minutes as 3 h 35"
    whole, rest = divmod(round(time), 60)
    return f"{round(time)} min" if time < 99.5 else f"{whole} h {rest:02}"


def path_table(weeks):
    "The lines of a path: chapters, time to read and run them, exercises, what it builds on"
    yield "| week | chapters | read and run | exercises | builds on |\n|---|---|---|---|---|"
    for week, chapters_ in enumerate(weeks, 1):
        numbers = chapters_.split()
        time = sum(sum(minutes(pages()[n][0])) for n in numbers)
        count = sum(len(exercises(pages()[n][0])) for n in numbers)
        before = (
            ", ".join(sorted({need for n in numbers for need in needs(n)} - set(numbers)))
            or "nothing"
        )
        names = " · ".join(f"{link(n)} {title(n)}" for n in numbers)
        yield f"| {week} | {names} | {hours(time)} | {count} | {before} |"


def section_map():
    "A table of sections a chapter, folded to one line"
    for number, (nb, _) in pages().items():
        text, code = minutes(nb)
        tasks = exercises(nb)
        stars = ", ".join(
            f"{list(tasks.values()).count(n)} × {'★' * n}" for n in sorted(set(tasks.values()))
        )
        rows = [
            f"| {section.title or 'the card'} | {section.text:.0f} | {section.code:.0f} |"
            for section in sections(nb)
            if round(section.text) or round(section.code)
        ]
        table = "\n".join(["| section | text | code |", "|---|--:|--:|", *rows])
        yield (
            f"<details><summary>{number} {title(number)}: {hours(text)} of text, {hours(code)} of code, "
            f"{len(tasks)} exercises</summary>\n\nRead {link(number)}. Exercises: {stars or 'none'}.\n\n"
            f"{table}\n\n</details>"
        )


def page():
    "The page For lecturers"
    paths = "\n\n".join(
        "\n".join([f"### {weeks} weeks\n\n{MEANT[weeks]}\n", *path_table(path)])
        for weeks, path in PATHS.items()
    )
    return Path(__file__).with_name("desk.md").read_text(encoding="utf-8").format(
        paths=paths, sections="\n\n".join(section_map()), alt=alt()
    )  # fmt: skip
