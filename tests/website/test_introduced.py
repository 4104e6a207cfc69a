"""Nothing is used on a page of the course before it, or an earlier one, says what it is or links to it."""

import ast
import re
from itertools import chain

import rkhs_notes
from conftest import NOTEBOOKS, refuse  # first: it puts the site's tooling on the path

from website import words  # isort: skip
from website.notation import TABLE, definitions  # isort: skip
from website.notebooks import is_setup, read, split  # isort: skip

COURSE = [path for path in NOTEBOOKS if re.match(r"\d\d_", path.stem) and path.parent.name == "nbs"]
# page 00 says what these are; an exception says it when it is raised
PLUMBING = set(rkhs_notes.plots.__all__) | {"plots", "settings", "check"}
# words of every day, used here in their everyday sense before the page that gives them a narrower one
EVERYDAY = set("bound centre evidence law level power slip engine penalty margin".split())
# letters that stand on an earlier page than their definition, each said there what it is; with that page
BOUND = {
    r"\mathcal X": "00", r"\mathbb R^d": "00", "k(x,y)": "00", "K_{ij}": "00", r"\mathcal H": "00",
    r"\|f\|": "00", r"\alpha": "00", r"\varepsilon": "00", r"\mu": "00", r"x_1,\dots,x_n": "01",
    r"\sigma": "01", r"\varphi": "01", r"\lambda": "01", "w_i": "01", "y_j": "02", r"\Phi": "02",
    r"\nu": "02", r"\psi_j": "03",
}  # fmt: skip
QUOTED = re.compile(r"`([^`]+)`")
NAME = re.compile(r"[A-Za-z_]\w*")


def before_exercises(nb):
    "The cells that a meeting reads, in order"
    for cell in nb.cells:
        if cell.source.startswith("## Exercises"):
            return
        yield cell


def library_names(tree):
    "Names of the library that the code calls; annotations and decorators are words of signatures"
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rkhs_notes")
        for alias in node.names
    }
    silent = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            silent |= set(chain.from_iterable(map(ast.walk, node.decorator_list)))
        if isinstance(node, ast.FunctionDef):
            notes = [a.annotation for a in ast.walk(node.args) if isinstance(a, ast.arg)]
            silent |= {n for note in (*notes, node.returns) if note for n in ast.walk(note)}
    used = []
    for node in ast.walk(tree):
        if node in silent:
            continue
        if isinstance(node, ast.Name):
            used.append((node.lineno, node.id, False))
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "rn":
            used.append((node.lineno, node.attr, True))
    return imported, [(name, whole) for _, name, whole in sorted(used)]


def is_exception(name):
    found = getattr(rkhs_notes, name, None)
    return isinstance(found, type) and issubclass(found, BaseException)


def unexplained(pages):
    "page: names of the library that its code uses before any text has them between backticks"
    known = set(PLUMBING)
    for nb, stem in pages:
        imported = set()
        for cell in before_exercises(nb):
            if cell.cell_type == "markdown":
                known |= set(NAME.findall(" ".join(QUOTED.findall(cell.source))))
                continue
            flags, body = split(cell.source)
            if cell.cell_type != "code" or "checked" in str(flags):
                continue
            more, used = library_names(ast.parse(body))
            imported |= more
            if is_setup(body):
                continue
            for name, whole in used:
                if (whole or name in imported) and name not in known and not is_exception(name):
                    known.add(name)
                    yield f"{stem}: {name}"


def paragraphs(nb):
    "Texts of a page, a table's row or a paragraph each, links without their targets beside the whole"
    for cell in before_exercises(nb):
        if cell.cell_type == "markdown":
            for text in re.split(r"\n\n|\n(?=\|)", cell.source):
                yield text, re.sub(r"\]\([^)]*\)", "]", text)


def home(where, found):
    "The page that defines a word"
    return (found[where][0] if where in found else where).split("/")[-1]


def too_early(pages):
    "page: words whose first paragraph here neither links to the page that defines them nor defines them"
    found = definitions()
    for word, _, where, _ in words.lines():
        if word in EVERYDAY:
            continue
        there = home(where, found)
        pattern = re.compile(
            rf"\b{re.escape(word)}(?! function)", re.I if word[1:].islower() else 0
        )
        for nb, stem in pages:
            if stem == there or (stem[:2] >= there[:2] and re.match(r"\d\d_", there)):
                break
            first = next((text for text, bare in paragraphs(nb) if pattern.search(bare)), None)
            if first is None:
                continue
            introduced = re.search(rf"\*+[^*]*{re.escape(word)}", first, re.I)
            if there not in first and not introduced and not re.search(r"\]\([^)]*ipynb", first):
                yield f"{stem}: {word}, of {there}"
            break


def first_pages(pages):
    "{symbol: (number of the page of the course where it first stands, page that defines it)}"
    found = definitions()
    for symbol, *_, where in TABLE:
        pattern = re.compile(re.escape(symbol) + r"(?![A-Za-z])")
        if len(symbol) > 2 and where:
            for nb, stem in pages:
                if any(pattern.search(text) for text, _ in paragraphs(nb)):
                    yield symbol, stem[:2], home(where, found)[:2]
                    break


def course():
    return [(read(path), path.stem) for path in COURSE]


def test_a_name_is_explained_before_it_is_used():
    refuse(list(unexplained(course())))


def test_a_word_is_introduced_before_it_is_used():
    refuse(list(too_early(course())))


def test_a_symbol_does_not_come_before_the_page_that_says_what_it_is():
    early = {symbol: page for symbol, page, there in first_pages(course()) if page < there}
    assert early == {symbol: page for symbol, page in BOUND.items() if symbol in early}
    assert early.keys() == BOUND.keys(), "a letter has moved: take it off the list"


def test_what_comes_too_early_is_noticed(write_notebook):
    page = write_notebook(
        "00_x.ipynb",
        "# X",
        "A universal kernel.",
        "code:from rkhs_notes import ridge, svc",
        "Here is `svc`.",
        "code:ridge(svc)",
    )
    pages = [(read(page), page.stem)]
    assert list(unexplained(pages)) == ["00_x: ridge"]
    spoken = write_notebook("00_y.ipynb", "# Y", r"Let $\mu_P$ be there.")
    assert (r"\mu_P", "00", "11") in first_pages([(read(spoken), spoken.stem)])
    assert list(too_early(pages)) == [
        "00_x: kernel, of 01_kernels",
        "00_x: universal, of 03d_density",
    ]
