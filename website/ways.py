"""Five ways through the notes, one a lecture: what it holds in its own order, and where that is delivered.

catalogue.csv gives each row its place in its lecture, the column `order`.
"""

from .counts import hours, minutes, sections
from .lectures import places, shown, slips, table
from .notebooks import chapters, find, read, room

PAGE = """# {letters}, item by item

The lecture [{letters}](bibliography.md#lecture-{letters}) has {count} items. Here they stand in its own
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
    books = {o.page: read(find(o.page)) for o in found if o.page[0].isdigit()}
    course = sorted(page for page in books if room(find(page)) == "")
    wanted = {(place.page, place.section) for place in found}
    costs = [
        o.text + o.code
        for page, nb in books.items()
        for o in sections(nb)
        if (page, o.title) in wanted
    ]
    return course, sum(sum(minutes(books[page])) for page in course), sum(costs)


def page(letters):
    "The way of a lecture, as Markdown"
    where, lines = places(), items(letters)
    course, whole, part = spent([place for line in lines for place in where[line["row"]]])
    every = [slip for path in chapters() for slip in slips(path) if letters in slip.lecture]
    return PAGE.format(
        letters=letters,
        count=len(lines),
        pages=", ".join(f"[{page[:2]}](../{page}.ipynb)" for page in course),
        whole=hours(whole),
        part=hours(part),
        rows="\n".join(
            f"| {o['order']} | {o['topic']} | {shown(where[o['row']])} |" for o in lines
        ),
        slips="\n".join(o.row for o in every),
    )
