"""The search in Chromium: by keys, from a server and a file; hits land on their section."""

import pytest
from audit import AXE, READY, ROOT, THEME, axe_script
from browser import chromium, served
from findings import axe_findings, is_bad

SITE = ROOT / "_site"
QUERIES = ["how do I choose lambda", "error bars", "SVM", "nystrom", "Theorem 5.1"]
TOP = "document.getElementById(decodeURIComponent(location.hash.slice(1))).getBoundingClientRect().top"


@pytest.fixture(scope="module")
def window():
    "A page, and what its console says"
    with chromium() as browser:
        page, said = browser.new_page(), []
        page.on("console", lambda line: line.type == "error" and said.append(line.text))
        page.on("pageerror", lambda error: said.append(error))
        yield page, said


def searched(page, address, query):
    "Where the first hit of the dialog leads, which keys have opened"
    page.goto(address)
    page.keyboard.press("Control+k")
    page.keyboard.type(query)
    return page.locator("#pst-search-dialog .hits li a").first.evaluate("link => link.href")


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("is_file", [False, True])
def test_keys_lead_to_a_section(window, query, is_file):
    page, said = window
    with served(SITE) as home:
        home = f"{SITE.as_uri()}/" if is_file else home
        place = searched(page, f"{home}front/begin.html", query)
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.wait_for_url(place)
        page.evaluate(READY)
    page.wait_for_timeout(500)
    assert said == [] and ("#" not in place or -5 <= page.evaluate(TOP) < 500)


@pytest.mark.parametrize("width", [1366, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everyone_can_read_the_hits(window, width, theme):
    page, _ = window
    page.set_viewport_size({"width": width, "height": 800})
    searched(page, f"{SITE.as_uri()}/cli.html", "error bars")
    page.evaluate(THEME, theme)
    page.add_script_tag(path=axe_script())
    assert not any(map(is_bad, axe_findings("dialog", theme, page.evaluate(AXE, {}))))
