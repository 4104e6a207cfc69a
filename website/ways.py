"""Five ways through the notes, one a lecture: what it holds in its own order, and where that is delivered.

catalogue.csv gives each row its place in its lecture, the column `order`.
"""

from .counts import hours, minutes, sections
from .lectures import places, slips, table
from .notebooks import chapters, find, read, room
from .references import entries

PAGE = """# {letters}, item by item

{authors}, *{title}* ([bibliography](bibliography.md#lecture-{letters})): {count} items in the lecture's own
order, each with the sections that deliver it.

The way leads through the numbered pages {pages}: {whole} of reading and running, if they are read whole.
The sections of the table alone, those in the treatise among them, take {part}.

| | what | where |
|---|---|---|
{rows}

## Slips of {letters}

| printed | right | shown |
|---|---|---|
{slips}
"""


def items(letters):
    "The rows of a lecture, in its own order"
    rows = [line for line in table("catalogue.csv") if line["lecture"] == letters]
    return sorted(rows, key=lambda line: int(line["order"]))


def spent(found):
    "(numbered pages, minutes of these pages, minutes of the sections alone) for the places of a way"
    pages = {place.page: read(find(place.page)) for place in found if place.page[0].isdigit()}
    course = sorted(page for page in pages if room(find(page)) == "")
    wanted = {(place.page, place.section) for place in found}
    part = sum(
        section.text + section.code
        for page, nb in pages.items()
        for section in sections(nb)
        if (page, section.title) in wanted
    )
    return course, sum(sum(minutes(pages[page])) for page in course), part


def page(letters):
    "The way of a lecture, as Markdown"
    where, lines = places(), items(letters)
    course, whole, part = spent([place for line in lines for place in where[line["row"]]])
    lecture = next(e for e in entries().values() if e.fields.get("shorthand") == letters)
    rows = [
        f"| {line['order']} | {line['topic']} | "
        + "; ".join(dict.fromkeys(place.link for place in where[line["row"]]))
        + " |"
        for line in lines
    ]
    wrong = [
        f"| {slip.printed} | {slip.right} | {slip.shown} |"
        for path in chapters()
        for slip in slips(path)
        if letters in slip.lecture.split(", ")
    ]
    return PAGE.format(
        letters=letters,
        authors=lecture.short,
        title=lecture.fields["title"],
        count=len(lines),
        pages=", ".join(f"[{page[:2]}](../{page}.ipynb)" for page in course),
        whole=hours(whole),
        part=hours(part),
        rows="\n".join(rows),
        slips="\n".join(wrong),
    )
