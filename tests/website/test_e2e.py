"""What the audit of the site makes of its findings; the browser's part is tested by `make e2e`."""

import sys

import pytest

from conftest import NOTEBOOKS, ROOT
from website.build import MOVED
from website.notebooks import read

sys.path.insert(0, str(ROOT / "e2e"))
import browser  # noqa: E402
from audit import all_pages, sampled  # noqa: E402
from findings import axe_findings, dead_links, finding, foreign, is_bad, table  # noqa: E402
from lab import WIDGET, complaints, has_slider, unrun  # noqa: E402


def links(*addresses, page="a/b.html"):
    files = {"index.html", "a/b.html", "a/c.html", "x.png"}
    pages = {
        "a/b.html": ({"here", "Ü"}, []),
        "a/c.html": ({"there"}, []),
        "index.html": (set(), []),
    }
    pages[page] = (pages[page][0], addresses)
    return [(found["kind"], found["where"]) for found in dead_links(pages, files)]


def test_links_that_lead_somewhere():
    good = [
        "#here",
        "#%C3%9C",
        "c.html",
        "c.html#there",
        "../index.html",
        "../x.png",
        "b.html#here",
        "../",
    ]
    assert links(*good, "https://example.org/#x", "mailto:a@b", "//example.org") == []


@pytest.mark.parametrize(
    "link, kind",
    [
        ("#nowhere", "dead anchor"),
        ("c.html#here", "dead anchor"),
        ("d.html", "dead link"),
        ("index.html", "dead link"),
        ("c.ipynb#there", "dead link"),
    ],
)
def test_links_that_lead_nowhere(link, kind):
    assert links(link) == [(kind, link)]


def test_foreign_requests():
    home = "http://127.0.0.1:80/"
    inside = [home + "x.html", "data:image/png;base64,", "blob:null/1"]
    assert foreign([*inside, "https://cdn.example.org/x.js"], home) == [
        "https://cdn.example.org/x.js"
    ]


def test_serious_remarks_of_axe_count_and_others_are_told():
    rules = [
        {
            "id": "color-contrast",
            "impact": "serious",
            "nodes": [{"target": ["p"]}, {"target": ["a"]}],
        },
        {"id": "region", "impact": "moderate", "nodes": [{"target": ["div"]}]},
    ]
    found = list(axe_findings("a.html", "light", rules))
    assert [is_bad(o) for o in found] == [True, True, False]
    assert is_bad(finding("a.html", "400 px", "formula cut", "#x", 3))


def test_table_counts():
    found = [finding("a.html", "400 px", "formula cut", "#x", by) for by in (3, 40)]
    found += [finding("b.html", "400 px", "formula cut", "#y", 2)]
    line, *_, summary = table(found, 7).splitlines()[1:]
    assert line.split() == "formula cut 400 px 3 2 a.html: 2, 40 px at most".split()
    assert summary.startswith("3 findings on 2 of 7 pages")


def test_every_page_but_those_of_the_theme_and_signposts(tmp_path):
    for name in ("index.html", "api/x.html", "_static/y.html", "x.js"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "S_old.html").write_text(MOVED.format("x"), "utf-8")
    assert all_pages(tmp_path) == ["api/x.html", "index.html"]


def test_of_the_api_a_sample_is_measured():
    names = [f"api/{i}.html" for i in range(16)] + ["a.html", "api/index.html", "b.html"]
    assert sampled(names) == ["api/0.html", "api/8.html", "a.html", "api/index.html", "b.html"]


def test_without_chromium_there_are_words(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SystemExit, match="no Chromium.*apt install chromium"):
        browser.chromium_path()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_names_its_kernel(path):
    # else JupyterLab asks each reader which one to take
    assert read(path).metadata.get("kernelspec", {}).get("name") == "python3"


def code(source, count, *outputs):
    return {
        "cell_type": "code",
        "source": [source],
        "execution_count": count,
        "outputs": list(outputs),
    }


def test_what_jupyterlab_shows_is_judged():
    picture = {"output_type": "display_data", "data": {"image/png": "", WIDGET: {}}}
    wrong = {"output_type": "error", "ename": "ValueError", "evalue": "too long"}
    grumble = {"output_type": "stream", "name": "stderr", "text": ["careful"]}
    fine = [code("a = 1", 1), code("plot()", 2, picture)]
    assert list(complaints(fine)) == [] and has_slider(fine) and not has_slider(fine[:1])
    assert list(
        complaints([code("f()", 1, wrong), code("g()", None), code("h()", 3, grumble)])
    ) == [
        "failed: ValueError: too long in f()",
        "did not run: g()",
        "stderr: careful in h()",
    ]
    assert (
        len(list(complaints(unrun({"cells": fine})["cells"]))) == 2
    )  # nothing stored counts as run
