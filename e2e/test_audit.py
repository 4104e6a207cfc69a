"""Each check of the audit finds the fault it is for on a small bad page, and nothing on a good one."""

import pytest
from audit import audit, read_page, weighed
from browser import chromium

PAGE = """<!doctype html><html lang="en"><head><title>A page</title><meta charset="utf-8">
<link rel="icon" href="data:,"><style>body {{ margin: 0 }}
main {{ width: 90%; margin: auto }} {style}</style></head>
<body><main class="bd-article-container"><h1>A page</h1>{body}</main></body></html>"""
WRONG = "<mjx-container><svg><g data-mjx-error='x^a^b'></g></svg></mjx-container>"
WIDE = '<svg width="2000" height="10"></svg>'
FORMULA = f"<div class='math'><mjx-container display>{WIDE}</mjx-container></div>"
INLINE = f"<p>a <mjx-container>{WIDE}</mjx-container></p>"
LONG = "x" * 400
SCROLL = "mjx-container { display: block; overflow-x: auto } @media print { svg { width: 100% } }"
CENTRED = ".math { display: flex; justify-content: center; overflow-x: auto } mjx-container { flex: none }"
CELL = "<div class='cell'><div class='cell_{}'><pre>{}</pre></div></div>"
WRAP = "pre { white-space: pre-wrap; overflow-wrap: anywhere }"
SCROLLED = "pre { overflow-x: auto }"
OPEN_ON_PAPER = """@media print {
  details::details-content { content-visibility: visible; display: block; block-size: auto }
}"""
SOLUTION = "<details><summary>Solution</summary><p>It is so.</p></details>"

WIDE_TABLE = "<div><table><tr><td style='min-width: 900px'>1</td></tr></table></div>"
OUTSIDE = "<div id='preview' style='position: fixed; left: 1390px; width: 30px'>1</div>"

BAD = {  # fault: (style, body, screen on which it must be found)
    "formula clipped at its left end": (CENTRED, FORMULA, "1400 px"),
    "formula cut": ("", FORMULA, "400 px"),
    "inline formula cut": ("", INLINE, "1400 px"),
    "inline formula clipped": ("mjx-container { margin-left: -300px }", INLINE, "400 px"),
    "formula with an error": (
        "",
        "<mjx-container><svg><g data-mjx-error='x^a^b'></g></svg></mjx-container>",
        "400 px",
    ),
    "code wider than its box": (SCROLLED, CELL.format("input", LONG), "1400 px"),
    "output wider than its box": (SCROLLED, CELL.format("output", LONG), "400 px"),
    "picture or table cut": ("", "<table><tr><td style='min-width: 900px'>1</td></tr></table>", "400 px"),
    "page wider than the window": ("", "<div style='width: 1600px'>1</div>", "1400 px"),
    "picture without alt": ("", "<img src='data:,'>", "1400 px"),
    "table scrolls sideways": ("div { overflow-x: auto }", WIDE_TABLE, "400 px"),
    "no preview": ("", "<a href='#thm-1-1'>1.1</a><div id='preview' hidden></div>", "400 px"),
    "preview outside the window": ("", f"<a href='#thm-1-1'>1.1</a>{OUTSIDE}", "1400 px"),
    "closed on paper": ("", SOLUTION, "print"),
}
GOOD = {
    "a formula that scrolls": (SCROLL, FORMULA),
    "text that wraps": (WRAP, CELL.format("input", LONG) + CELL.format("output", LONG)),
    "a solution that paper opens": (OPEN_ON_PAPER, SOLUTION),
    "a picture with words": ("", "<img src='data:,' alt='nothing'>"),
}
FOREIGN = "<script src='http://127.0.0.2:9/x.js'></script><script>nowhere()</script>"


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture
def findings(browser, tmp_path):
    "findings(style, body) -> what the audit measures on that page"
    page = browser.new_page()

    def read(style, body):
        page.set_content(PAGE.format(style=style, body=body))
        return read_page(page, "page.html")[0]

    yield read
    page.close()


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_page_is_found(findings, kind):
    style, body, screen = BAD[kind]
    found = findings(style, body)
    assert (kind, screen) in {(o["kind"], o["screen"]) for o in found}, found


@pytest.mark.parametrize("name", GOOD)
def test_a_good_page_is_left_alone(findings, name):
    assert findings(*GOOD[name]) == []


def test_axe_finds_pale_text_in_the_dark_only(browser):
    page = browser.new_page(bypass_csp=True)
    style = "html[data-theme=dark] p { color: #888; background: #777 }"
    page.set_content(PAGE.format(style=style, body="<p>Can you read this?</p>"))
    found = [o for o in weighed(page, "page.html") if "color-contrast" in o["kind"]]
    assert [o["screen"] for o in found] == ["dark"]
    page.close()


def test_requests_errors_and_links(browser, tmp_path):
    body = FOREIGN + "<a href='#gone'>a</a> <a href='other.html#here'>b</a> <a href='none.html'>c</a>"
    (tmp_path / "index.html").write_text(PAGE.format(style="", body=body))
    (tmp_path / "other.html").write_text(PAGE.format(style="", body="<p id='here'>Here.</p>"))
    kinds = [
        (o["kind"], o["where"])
        for o in audit(browser, tmp_path, ["index.html", "other.html"], axe=lambda name: False)
    ]
    assert ("dead anchor", "#gone") in kinds and ("dead link", "none.html") in kinds
    assert ("another host", "http://127.0.0.2:9/x.js") in kinds
    assert any(kind == "console error" and "nowhere" in where for kind, where in kinds)
    assert not any("other.html" in where for _, where in kinds)
