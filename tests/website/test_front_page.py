"""The front page says what is true: its theorem, its counts, its commands, how to cite."""

import re

import numpy as np
import pytest
import yaml
from test_labels import ANCHOR, LINK, anchors

import rkhs_notes
from website.notebooks import NBS, ROOT, read

INDEX, BEGIN, README = NBS / "index.ipynb", ROOT / "website" / "begin.md", ROOT / "README.md"
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
    assert test in chapter and "witness()" in test


def test_commands():
    text = README.read_text("utf-8")
    block = re.search(r"(?s)## Two commands\n.*?```\n(.*?)```", text)[1]
    assert [line.split()[:2] for line in block.splitlines()] == [
        ["make", "notes"],
        ["make", "test"],
    ]
    targets = re.findall(r"(?m)^([a-z-]+):.*##", (ROOT / "Makefile").read_text("utf-8"))
    assert set(re.findall(r"`?\bmake ([a-z]+)`?", re.sub(r"(?m)^<!--.*", "", text))) <= set(targets)


def test_the_first_screen_says_for_whom_and_where_to_begin():
    text = README.read_text("utf-8")
    first = text[: text.index("![")]
    wanted = ("**study**", "**teach**", "**use**", "website/begin.md")
    assert all(word in first for word in wanted)
    assert len(first) < 2500 and "forge" not in text


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
