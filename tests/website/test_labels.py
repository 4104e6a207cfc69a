"""Numbers, labels, links, alt texts and sources of the notebooks."""

import re
from collections import Counter
from functools import cache

import nbformat

from conftest import NOTEBOOKS, each_notebook, refuse
from website.notebooks import chapters, read, split

STATEMENT = re.compile(
    r"(?m)^> \*\*(Theorem|Definition|Lemma|Proposition|Corollary|Example|Law) (\w+)\.(\d+[a-z]?)"
)
TAG = re.compile(r"\\tag\{(\w+)\.(\d+[a-z]?)\}")
# all notebooks open in JupyterLab share one list of labels, and a forge shows ??? for them
LABEL = re.compile(r"\\(?:label|eqref|ref)\{[^}]*\}")
CODE_LABEL = re.compile(r"#\s*\((\d+[a-z]?|[A-Z]+)\.(\d+[a-z]?)\)")
LINK = re.compile(r"\]\(([^)\s:]*)\)")  # no scheme: a link inside the notes
ANCHOR = re.compile(r'<a id="([^"]+)"')
HEADING = re.compile(r"(?m)^#+ +(.+)$")
CARD = ["Afterwards you can", "Time", "Before", "Level"]
ROWS = re.compile(r"<!--\s*rows:(.*?)-->", re.S)
SLIPS = re.compile(
    r'(?m)^(<a id="slips"></a>)?\*\*Slips met in the (?!lectures\.\*\* None).*(\n\n\|.*\| shown \|$)?'
)
FORMULA = re.compile(r"\$(?:\\.|[^$\\])+\$")


def text(path):
    "The markdown of a notebook, without fenced code"
    return _text(path, path.stat().st_mtime_ns)


@cache
def _text(path, written):
    cells = (cell.source for cell in read(path).cells if cell.cell_type == "markdown")
    return re.sub(r"(?ms)^```.*?^```", "", "\n\n".join(cells))


def code(path):
    return "\n".join(cell.source for cell in read(path).cells if cell.cell_type == "code")


def chapter(path):
    "'3' for 03_rkhs and 03a_interpolation: what the numbers of a page of the book begin with"
    return re.sub(r"(?<=\d)[a-z]$", "", path.stem.partition("_")[0]).lstrip("0") or "0"


def lettered(path):
    "'3a' for 03a_interpolation, '3' for 03_rkhs: what its own numbers begin with"
    return re.sub(r"^0(?=\d)", "", path.stem.partition("_")[0])


def labels(path):
    "(kind, chapter, number) of statements, then of equations"
    found = [(match[1], match[2], match[3]) for match in STATEMENT.finditer(text(path))]
    return found + [("equation", match[1], match[2]) for match in TAG.finditer(text(path))]


def place(number):
    "3.10 < 3.10a < 3.11"
    return int(re.match(r"\d+", number)[0]), number.lstrip("0123456789")


def number_problems(path, notebooks=()):
    "Statements and equations carry the chapter's number and count upwards; a pair 03, 03a shares none"
    problems, last = [], {}
    other_pages = [
        other for other in notebooks if chapter(other) == chapter(path) and other.stem < path.stem
    ]
    taken = {label for other in other_pages if path.stem[0].isdigit() for label in labels(other)}
    for kind, major, minor in labels(path):
        own = (
            not path.stem[0].isdigit() and major.isupper()
        )  # other pages have letters of their own
        if major not in (lettered(path), chapter(path)) and not own:
            problems.append(f"{kind} {major}.{minor} does not carry the number of {path.stem}")
        if kind in last and place(minor) <= place(last[kind]):
            problems.append(f"{kind} {major}.{minor} stands after {kind} {major}.{last[kind]}")
        if (kind, major, minor) in taken:
            problems.append(f"{kind} {major}.{minor} stands on two pages")
        last[kind] = minor
    return problems + [f"{name}: say (3.2) in plain text" for name in LABEL.findall(text(path))]


def code_label_problems(path, notebooks):
    r"Every `# (3.1)` needs a \tag{3.1} in the text of chapter 3"
    tags = {match.groups() for other in {path, *notebooks} for match in TAG.finditer(text(other))}
    return [
        f"# ({major}.{minor}) has no \\tag"
        for major, minor in CODE_LABEL.findall(code(path))
        if (major, minor) not in tags
    ]


def anchors(path):
    "Ends of links into a notebook: its <a id=...>, and its headings as JupyterLab and the forge spell them"
    headings = HEADING.findall(text(path))
    slugs = {
        re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings
    }
    return (
        set(ANCHOR.findall(text(path)))
        | slugs
        | {heading.replace(" ", "-") for heading in headings}
    )


def link_problems(path):
    "Links to files that are not there, or to places that are not in them"
    problems = []
    for link in LINK.findall(text(path)):
        name, _, anchor = link.partition("#")
        target = path.parent / name if name else path
        if not target.exists():
            problems.append(f"{link}: no such file")
        elif anchor and target.suffix == ".ipynb" and anchor not in anchors(target):
            problems.append(f"{link}: no such place")
    repeated = [anchor for anchor, n in Counter(ANCHOR.findall(text(path))).items() if n > 1]
    return problems + [f"{anchor}: two places with this id" for anchor in repeated]


def alt_problems(path):
    "Cells that show a picture and do not say, in `#| fig-alt:`, what it shows"
    cells = [cell for cell in read(path).cells if cell.cell_type == "code"]
    return [
        split(cell.source)[1][:60]
        for cell in cells
        if any("image/png" in output.get("data", {}) for output in cell.outputs)
        and not split(cell.source)[0].get("fig-alt")
    ]


def card_problems(path):
    "Rows that are missing in the card, the table in a chapter's first cell"
    opening = read(path).cells[0].source
    return [row for row in CARD if not re.search(rf"(?m)^\| \*\*{row}\*\* \| *[^|\s]", opening)]


def row_problems(notebooks):
    "Catalogue rows that are misspelled or claimed twice"
    claims = [
        (row, path.stem)
        for path in notebooks
        for rows in ROWS.findall(text(path))
        for row in rows.split()
    ]
    owners = {}
    for row, stem in claims:
        owners.setdefault(row, set()).add(stem)
    return [
        f"{row} in {', '.join(sorted(stems))}"
        for row, stems in owners.items()
        if len(stems) > 1 or not re.fullmatch(r"(\d\d|FM)\.\d\d", row)
    ]


def bar_problems(path):
    r"Formulas in tables with | or \|, which end a column there or lose a bar: \lvert, \lVert stay"
    tables = (line for line in text(path).splitlines() if line.lstrip("> ").startswith("|"))
    parts = (part for line in tables for part in FORMULA.findall(re.sub(r"`[^`]*`", "", line)))
    return [part for part in parts if re.search(r"\||\\\|", part) and " | " not in part]


def slips_problems(paths):
    "Chapters whose slips are no table with an anchor"
    found = {path: match for path in paths if (match := SLIPS.search(text(path)))}
    problems = [f"{path.stem}: no table" for path, match in found.items() if not match[2]]
    return problems + [f"{path.stem}: no anchor" for path, match in found.items() if not match[1]]


@each_notebook
def test_formulas_in_tables_keep_their_bars(path):
    refuse(bar_problems(path))


def test_slips_are_tables():
    refuse(slips_problems(chapters()))


@each_notebook
def test_numbers(path):
    refuse(
        [] if path.stem == "index" else number_problems(path, NOTEBOOKS)
    )  # the index quotes a chapter


@each_notebook
def test_code_labels(path):
    refuse(code_label_problems(path, NOTEBOOKS))


@each_notebook
def test_links(path):
    refuse(link_problems(path))


@each_notebook
def test_pictures_have_alt_text(path):
    refuse(alt_problems(path))


def test_chapters_have_a_card():
    lacking = {path.stem: card_problems(path) for path in chapters()}
    refuse([f"{page}: no {', '.join(missing)}" for page, missing in lacking.items() if missing])


def test_sources_are_claimed_once():
    refuse(row_problems(NOTEBOOKS))


def test_wrong_numbers_are_noticed(write_notebook):
    path = write_notebook(
        "03_x.ipynb",
        "# X",
        "> **Theorem 3.2 (A).** a",
        "> **Lemma 3.1.** b",
        r"$$x \tag{3.2}$$",
        "> **Theorem 3.1.** c",
        r"$$y \tag{4.3}$$ and $$z \tag{3.3}\label{eq:z}$$",
    )
    assert number_problems(path) == [
        "Theorem 3.1 stands after Theorem 3.2",
        "equation 4.3 does not carry the number of 03_x",
        "equation 3.3 stands after equation 3.3",
        r"\label{eq:z}: say (3.2) in plain text",
    ]


def test_numbers_of_a_pair_of_pages(write_notebook):
    first = write_notebook("03_x.ipynb", r"> **Theorem 3.9.** a $$x \tag{3.4}$$")
    path = write_notebook(
        "03a_y.ipynb",
        "> **Theorem 3.10.** b",
        "> **Theorem 3.10a.** c",
        "> **Theorem 3.10.** d",
        r"> **Theorem 3.11.** e $$x \tag{3.4}$$ $$x \tag{3.4a}$$",
    )
    problems = ["Theorem 3.10 stands after Theorem 3.10a"]
    assert number_problems(path) == problems
    assert number_problems(path, [path, first]) == [*problems, "equation 3.4 stands on two pages"]


def test_a_label_without_equation_is_noticed(write_notebook):
    other = write_notebook("03_x.ipynb", r"$$x \tag{3.2}$$")
    path = write_notebook(
        "04_y.ipynb", r"$$x \tag{4.1}$$", "code:x = 1  # (4.1)\ny = 2  # (3.2)\nz = 3  # (4.2)"
    )
    assert code_label_problems(path, [other]) == [r"# (4.2) has no \tag"]


def test_dead_links_are_noticed(write_notebook):
    write_notebook("03_x.ipynb", '# The title\n\n<a id="thm-3-1"></a>')
    path = write_notebook(
        "04_y.ipynb",
        '[a](03_x.ipynb#thm-3-1) [b](03_x.ipynb#The-title) [c](#here) <a id="here"></a>',
        "[d](03_x.ipynb#thm-3-2) [e](05_z.ipynb) [f](#there) [g](https://example.org/#x)",
    )
    assert link_problems(path) == [
        "03_x.ipynb#thm-3-2: no such place",
        "05_z.ipynb: no such file",
        "#there: no such place",
    ]


def test_a_picture_without_alt_text_is_noticed(write_notebook):
    path = write_notebook("03_x.ipynb", "code:#| fig-alt: a line\nplot()", "code:plot()")
    nb = read(path)
    for cell in nb.cells:
        cell.outputs = [nbformat.v4.new_output("display_data", data={"image/png": ""})]
    nbformat.write(nb, path)
    assert alt_problems(path) == ["plot()"]


def test_a_missing_card_is_noticed(write_notebook):
    rows = "| **Afterwards you can** | add |\n| **Before** | nothing |\n| **Level** | |"
    path = write_notebook(
        "03_x.ipynb", f"# X\n\n| | |\n|---|---|\n{rows}", "| **Time** | 20 minutes |"
    )
    assert card_problems(path) == ["Time", "Level"]


def test_rows_claimed_twice_are_noticed(write_notebook):
    paths = [
        write_notebook("03_x.ipynb", "<!-- rows: 03.01 03.2 -->"),
        write_notebook("04_y.ipynb", "<!-- rows: 03.01 FM.01 -->"),
    ]
    assert row_problems(paths) == ["03.01 in 03_x, 04_y", "03.2 in 03_x"]


def test_bars_in_tables_are_noticed(write_notebook):
    rows = [
        r"| $\|f\|$ | $x$ |",
        r"| $|f|$ | `a | b` $\lVert f\rVert$ |",
        "> | $a$ | $b$ |",
        "| $2 | $3 |",
    ]
    path = write_notebook("03_x.ipynb", "\n".join(rows), r"Not in a table: $\|f\|$ and $|f|$")
    assert bar_problems(path) == [r"$\|f\|$", "$|f|$"]


def test_slips_that_nobody_finds_are_noticed(write_notebook):
    table = "**Slips met in the lecture FL**, shown.\n\n| printed | right | shown |\n"
    table += "|---|---|---|\n| a | b | c |"
    anchored = f'<a id="slips"></a>{table}'
    good, plain = write_notebook("03_x.ipynb", anchored), write_notebook("04_y.ipynb", table)
    prose = write_notebook(
        "05_z.ipynb", '<a id="slips"></a>**Slips met in the lectures.** FL says a for b.'
    )
    none = write_notebook("06_w.ipynb", "**Slips met in the lectures.** None.")
    assert slips_problems([good, plain, prose, none]) == ["05_z: no table", "04_y: no anchor"]
