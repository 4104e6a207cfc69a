"""One house, one rule: where a page lies its module lies too; no folder is full; two READMEs lead the way."""

import ast
import re
from pathlib import Path

import rkhs_notes
from conftest import NOTEBOOKS, ROOT, refuse
from website import build
from website.notebooks import NBS, ROOMS, chapters, flat, module, read, room

MOST = 40  # entries of a folder
LARGE = {"estimators": 9000}  # modules that may have more than 4000 syntax nodes
FREE = (ast.Constant, ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
SOURCES = ["nbs", "rkhs_notes", "tests", "website", "e2e", "benchmarks"]


def module_of(path):
    "engines.kernels.gram, as a notebook's path has it"
    name = re.sub(r"^\d+[a-z]?_", "", path.stem)
    return ".".join([*path.parent.relative_to(NBS).parts, name])


def test_a_module_lies_where_its_notebook_lies():
    wrong = []
    for path in NOTEBOOKS:
        said = module(read(path))
        if said is None or said == "__init__":
            continue
        exported = ROOT.joinpath("rkhs_notes", *said.split(".")).with_suffix(".py")
        if said != module_of(path) or not exported.exists():
            wrong.append(f"{path.relative_to(ROOT)} exports {said}")
    refuse(wrong)
    assert len(NOTEBOOKS) > 120


def test_every_notebook_has_a_room_and_a_name_of_its_own():
    assert {room(path) for path in NBS.rglob("*.ipynb")} == set(ROOMS)
    stems = [path.stem for path in NBS.rglob("*.ipynb")]
    assert len(stems) == len(set(stems)) == len(NOTEBOOKS)
    names = [path.stem for path in (ROOT / "rkhs_notes").rglob("[!_]*.py")]
    assert len(names) == len(set(names)) == len({*rkhs_notes._modules()} - {*rkhs_notes._JOINED})


def entries(folder):
    "What one sees in a folder: tracked files and folders, without what tools leave there"
    return [path for path in folder.iterdir() if not re.match(r"__pycache__|\.|_modidx", path.name)]


def test_no_page_takes_the_place_of_one_that_sphinx_writes():
    taken = {"search", "genindex", "modindex", "py-modindex"}
    assert not taken & {path.stem for path in NBS.rglob("*.ipynb")}


def test_no_folder_holds_too_much():
    folders = [ROOT / name for name in SOURCES]
    folders += [
        path
        for top in folders
        for path in top.rglob("*")
        if path.is_dir() and "__pycache__" not in path.parts
    ]
    full = {path: len(entries(path)) for path in folders if len(entries(path)) > MOST}
    refuse([f"{path.relative_to(ROOT)}: {n} entries, at most {MOST}" for path, n in full.items()])


def nodes(path):
    "Syntax nodes of a file; constants, operators and contexts are free"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return sum(not isinstance(node, FREE) for node in ast.walk(tree))


def test_no_module_is_too_large():
    sizes = {path.stem: nodes(path) for path in (ROOT / "rkhs_notes").rglob("[!_]*.py")}
    keys = {name for name in sizes if name.startswith("answers_")}
    most = {name: LARGE.get(name, 4000) for name in sizes}
    refuse([f"{name}: {n} syntax nodes, at most {most[name]}" for name, n in sizes.items()
            if n > most[name] and name not in keys])  # fmt: skip
    assert all(sizes[name] > 4000 for name in LARGE)  # what became smaller leaves the list


def test_what_serves_the_notes_stays_light():
    """The site, its audit and the races together

    30 000 until the site had the API by public name, a search by section, a gallery and downloads, the
    audit formulas that are cut, and the page of the races its first sentence;
    630 more when arrays on a card got a race, and the page said what was not raced.
    """
    sizes = {
        name: sum(map(nodes, (ROOT / name).rglob("*.py")))
        for name in ("website", "e2e", "benchmarks")
    }
    assert min(sizes.values()) > 1000 and sum(sizes.values()) <= 32_830, sizes


def test_what_the_rooms_name_is_a_module():
    "In the table of the package: a module that moved or ended leaves it"
    text = (ROOT / "rkhs_notes" / "README.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith(("| `", "| the top"))]
    named = {name for row in rows for name in re.findall(r"`([a-z_]+)`", row)}
    known = {path.stem for path in (ROOT / "rkhs_notes").rglob("*") if path.suffix in ("", ".py")}
    assert len(named) > 50 and not named - known


def test_the_course_stands_in_a_table_with_its_pictures():
    text = (NBS / "README.md").read_text(encoding="utf-8")
    for path in chapters():
        name = path.relative_to(NBS).as_posix()
        title = read(path).cells[0].source.splitlines()[0].removeprefix("# ")
        assert f"]({name})" in text and f"[{title}]({name})" in text, name
    pictures = re.findall(r"!\[[^\]]+\]\((images/[^)]+)\)", text)
    assert len(pictures) == len(list(NBS.glob("[0-9]*.ipynb"))) == 13


def test_the_links_of_both_readmes_lead_somewhere():
    for file in (NBS / "README.md", ROOT / "rkhs_notes" / "README.md"):
        links = re.findall(r"\]\(([^)#]+)", file.read_text(encoding="utf-8"))
        assert len(links) > 2
        refuse(
            [f"{file.parent.name}: {link}" for link in links if not (file.parent / link).exists()]
        )


def test_every_room_is_described():
    notes = (NBS / "README.md").read_text(encoding="utf-8")
    package = (ROOT / "rkhs_notes" / "README.md").read_text(encoding="utf-8")
    for name in filter(None, ROOMS):
        assert f"`{name}/`" in notes, name
        assert f"| `{name.replace('/', '.')}` |" in package, name


def test_links_of_the_site_are_flat():
    text = "[a](../engines/kernels/gram.ipynb#x) [b](03_rkhs.ipynb) ![c](../../images/a.png)"
    text += " [d](../begin.md#e) [f](desk.md)"
    assert (
        flat(text)
        == "[a](gram.ipynb#x) [b](03_rkhs.ipynb) ![c](images/a.png) [d](front/begin.md#e)"
        " [f](front/desk.md)"
    )
    assert flat("[a](../nbs/deeper/01a_zoo.ipynb)", "../") == "[a](../01a_zoo.ipynb)"
    assert flat("[a](https://example.org/x.ipynb)") == "[a](https://example.org/x.ipynb)"


def test_a_former_address_is_the_same_module():
    import importlib
    import warnings

    for name, path in rkhs_notes._modules().items():
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            former = importlib.import_module(f"rkhs_notes.{name}")
        assert former is importlib.import_module(f"rkhs_notes.{path}")
        told = [str(w.message) for w in said if w.category is DeprecationWarning]
        assert all(f"rkhs_notes.{name} is now rkhs_notes.{path}" in text for text in told)


def test_only_engines_and_base_warn_at_their_former_addresses():
    import subprocess
    import sys

    script = "import rkhs_notes.zoo, rkhs_notes.estimators, rkhs_notes.answers_00; print('silent')"
    run = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning", "-c", script],
        capture_output=True,
        text=True,
    )
    assert run.stdout == "silent\n", run.stderr
    for name in ("gram", "errors"):
        script = f"import rkhs_notes.{name}"
        run = subprocess.run(
            [sys.executable, "-W", "error::DeprecationWarning", "-c", script],
            capture_output=True,
            text=True,
        )
        assert (
            f"rkhs_notes.{name} is now rkhs_notes." in run.stderr
            and Path(run.stderr.split('"')[1]).name != "gram.py"
        )


def test_a_former_address_of_the_site_leads_to_the_page():
    moved = build.former_addresses()
    stems = {path.stem for path in NOTEBOOKS}
    modules = {name: moved.pop(name) for name in list(moved) if name.startswith("api/")}
    assert modules["api/engines.solving.ridge_fits"] == modules["api/kpca"] == "index"
    assert moved["S_gram"] == "gram" and moved["V_answers_00"] == "answers_00" and len(moved) > 90
    assert set(moved.values()) <= stems and not set(moved) & stems
