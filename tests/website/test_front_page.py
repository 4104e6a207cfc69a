"""The front page says what is true: its theorem, its counts, its commands, how to cite."""

import re
import subprocess
import sys

import numpy as np
import pytest
import yaml
from test_labels import ANCHOR, LINK, anchors

import rkhs_notes
from website.notebooks import NBS, ROOT, is_setup, read

INDEX, BEGIN, README = NBS / "index.ipynb", NBS / "begin.md", ROOT / "README.md"
CFF = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
# the Citation File Format 1.2.0: what it requires, and what else it knows
REQUIRED = {"cff-version", "message", "title", "authors"}
OPTIONAL = {
    *(
        "abstract",
        "commit",
        "contact",
        "date-released",
        "doi",
        "identifiers",
        "keywords",
        "license",
    ),
    *("license-url", "preferred-citation", "references", "repository", "repository-artifact"),
    *("repository-code", "type", "url", "version"),
}


def sources(kind):
    return [cell.source for cell in read(INDEX).cells if cell.cell_type == kind]


def test_the_theorem_and_its_test_are_those_of_the_chapter():
    chapter = [cell.source for cell in read(NBS / "01_kernels.ipynb").cells]
    (box,) = [
        line
        for text in sources("markdown")
        for line in text.splitlines()
        if line.startswith("> **")
    ]
    lines = "\n".join(chapter).splitlines()
    assert box in [re.sub(ANCHOR.pattern + "></a> ", "", line) for line in lines]
    (test,) = [source for source in sources("code") if "expect_fail(" in source]
    imports, _, law = test.rpartition("\n\n")
    assert law in chapter and "witness()" in law and is_setup(imports)


def test_commands():
    text = README.read_text("utf-8")
    block = re.search(r"(?s)## Install\n.*?```\n(.*?)```", text)[1]
    commands = [line.partition("#")[0].split() for line in block.splitlines()]
    wanted = ["pip install .", "make lab", "make notes", "make test"]
    assert [" ".join(command) for command in commands] == wanted
    targets = re.findall(r"(?m)^([a-z-]+):.*##", (ROOT / "Makefile").read_text("utf-8"))
    assert set(re.findall(r"`?\bmake ([a-z]+)`?", re.sub(r"(?m)^<!--.*", "", text))) <= set(targets)


def test_the_first_screen_says_for_whom_and_shows_lines_that_work():
    text = README.read_text("utf-8")
    first = text[: text.index("## Install")]
    doors = ("nbs/00_hilbert.ipynb", "nbs/desk.md", "ten_minutes.ipynb", "cheat_sheet.ipynb", "![")
    assert all(door in first for door in doors) and first.count("```python\nimport") == 1
    lines = re.search(r"(?s)```python\n(.*?)```", first)[1].splitlines()
    assert len([line for line in lines if line and "import" not in line]) <= 10
    shown = re.sub(
        r"!\[.*?\]|\]\(.*?\)", "", first
    )  # without the words for those who do not see it
    assert len(shown) < 2000 and "forge" not in text


def blocks(language, text):
    return re.findall(rf"(?s)```{language}\n(.*?)```", text)


@pytest.mark.parametrize("code", blocks("python", README.read_text("utf-8")), ids=len)
def test_a_block_of_the_readme_runs_as_pasted_and_prints_what_it_says(code, tmp_path):
    "Each by itself, in an interpreter that holds nothing else, in an empty folder"
    text = README.read_text("utf-8")
    (said,) = re.findall(rf"(?s)```python\n{re.escape(code)}```\n\n```text\n(.*?)```", text)
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr  # which may hold a bar of progress
    assert done.stdout.split() == said.split()


def test_both_blocks_of_the_readme_are_tried():
    assert len(blocks("python", README.read_text("utf-8"))) == 2


@pytest.mark.parametrize("path", [BEGIN, README], ids=lambda path: path.stem)
def test_links_lead_somewhere(path):
    for link in LINK.findall(path.read_text("utf-8")):
        name, _, at = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        assert target.exists(), link
        if at and target.suffix == ".ipynb":
            assert at in anchors(target), link
        elif at:
            headings = re.findall(r"(?m)^#+ (.*)$", target.read_text("utf-8"))
            assert at in [heading.lower().replace(" ", "-") for heading in headings], link


def test_five_questions():
    text = re.search(r"(?s)## Five questions(.*?)\n## ", BEGIN.read_text("utf-8"))[1]
    folded = r"<details><summary>Answer</summary>\n\n(.*?)\n\n</details>"
    answers = re.findall(rf"(?s)\*\*\d\.\*\* (.*?){folded}", text)
    assert len(answers) == 5
    for question, answer in answers:
        assert re.search(r"[?]\n*$", question) and "*If not:*" in answer and ".ipynb" in answer


def test_the_answers():
    rng = np.random.default_rng(0)
    plane = np.linalg.svd([[1.0, 1, 1]])[2][1:]  # 1
    np.testing.assert_allclose(plane.T @ plane @ [1, 2, 3], [-1, 0, 1], atol=1e-12)
    K = np.array([[1, 2], [2, 1]])  # 2
    np.testing.assert_allclose(np.linalg.eigvalsh(K), [-1, 3], atol=1e-12)
    assert np.array([1, -1]) @ K @ [1, -1] == -2
    tail = [
        sum(j ** (-2 * a) for j in range(n, 4 * n)) for a in (0.5, 0.6) for n in (100, 10_000)
    ]  # 3
    assert abs(tail[0] - tail[1]) < 0.01 and tail[3] < tail[2] / 2
    X, y, d = rng.normal(size=(9, 3)), rng.normal(size=9), 1e-6 * rng.normal(size=3)  # 4
    w = np.linalg.solve(X.T @ X + 0.7 * np.eye(3), X.T @ y)
    cost = lambda w: np.sum((y - X @ w) ** 2) + 0.7 * w @ w  # noqa: E731
    assert abs(cost(w + d) - cost(w - d)) < 1e-12 < cost(w + d) + cost(w - d) - 2 * cost(w) + 1e-11
    values, p = np.array([1.0, 2, 4]), np.array([0.5, 0.3, 0.2])  # 5
    m, v = p @ values, p @ (values - p @ values) ** 2
    np.testing.assert_allclose([p @ np.outer(values, values) @ p, p @ values**2], [m**2, m**2 + v])


def test_citation():
    assert REQUIRED <= set(CFF) <= REQUIRED | OPTIONAL
    assert CFF["cff-version"] == "1.2.0" and CFF["type"] == "software"
    assert CFF["authors"] == [{"name": "the rkhs_notes authors"}]
    assert str(CFF["version"]) == rkhs_notes.__version__
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    assert (
        f'license = "{CFF["license"]}"' in project
        and f'name = "{CFF["authors"][0]["name"]}"' in project
    )


def test_bibtex_of_the_book():
    text = "\n".join(sources("markdown"))
    entry = re.search(r"(?s)@book\{rkhs_notes,(.*?)\n\}", text)[1]
    fields = dict(re.findall(r"(?m)^  (\w+) += \{(.*)\},$", entry))
    assert fields["title"].replace("\\", "") == CFF["title"]
    assert fields["author"].strip("{}") == CFF["authors"][0]["name"]
    assert fields["version"] == rkhs_notes.__version__ and re.fullmatch(r"20\d\d", fields["year"])


def clicks(start, goal, most=3):
    "How many links lead from one file of the repository to another, at least; None if more than `most`"
    seen, reached = {start}, {start}
    for count in range(most + 1):
        if goal in reached:
            return count
        pages = [path for path in reached if path.suffix in (".md", ".ipynb")]
        links = [(path, link) for path in pages for link in LINK.findall(path.read_text("utf-8"))]
        found = {(path.parent / link.partition("#")[0]).resolve() for path, link in links}
        reached = {path for path in found if path.is_file()} - seen
        seen |= reached
    return None


@pytest.mark.parametrize(
    "reader, start, goal, most",
    [
        ("a lecturer, on a forge", "README.md", "nbs/desk.md", 1),
        ("a student in JupyterLab, who then runs it", "nbs/index.ipynb", "nbs/00_hilbert.ipynb", 1),
        ("a student on a forge", "README.md", "nbs/00_hilbert.ipynb", 1),
        ("an engineer", "README.md", "nbs/apps/cheat_sheet.ipynb", 1),
        ("one who reads folders", "nbs/README.md", "nbs/desk.md", 1),
        ("one who reads folders, to use it", "nbs/README.md", "nbs/apps/ten_minutes.ipynb", 1),
    ],
)
def test_a_reader_is_there_after_a_click(reader, start, goal, most):
    assert clicks(ROOT / start, ROOT / goal) == most, reader


def test_clicks_are_counted():
    assert clicks(README, README) == 0 and clicks(README, ROOT / "LICENSE") is None
