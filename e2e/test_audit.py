"""Each check of the audit finds the fault it is for on a small bad page, and nothing on a good one."""

import pytest
from audit import PRUNE, ROOT, audit, read_page, weighed
from browser import chromium
from findings import is_bad

PAGE = """<!doctype html><html lang="en"><head><title>A page</title><meta charset="utf-8">
<link rel="icon" href="data:,"><style>body {{ margin: 0 }}
main {{ width: 90%; margin: auto }} {style}</style></head>
<body><main class="bd-article-container"><h1>A page</h1>{body}</main></body></html>"""
WIDE = "<mjx-math style='display: inline-block; width: 2000px; height: 10px'></mjx-math>"
FORMULA = f"<div class='math'><mjx-container display>{WIDE}</mjx-container></div>"
INLINE = f"<p>a <mjx-container>{WIDE}</mjx-container></p>"
LONG = "x" * 400
SCROLL = "mjx-container { display: block; overflow-x: auto }"
SHRUNK = "@media print, (min-width: 1000px) { mjx-math { zoom: 0.3 } }"
FADING = "mjx-container { mask-image: linear-gradient(#000, #000) }"
CENTRED = ".math { display: flex; justify-content: center; overflow-x: auto } mjx-container { flex: none }"
CELL = "<div class='cell'><div class='cell_{}'><pre>{}</pre></div></div>"
WRAP = "pre { white-space: pre-wrap; overflow-wrap: anywhere }"
SCROLLED = "pre { overflow-x: auto }"
OPEN_ON_PAPER = """@media print {
  details::details-content { content-visibility: visible; display: block; block-size: auto }
}"""
SOLUTION = "<details><summary>Solution</summary><p>It is so.</p></details>"

WIDE_TABLE = "<div><table><tr><td style='min-width: 900px'>1</td></tr></table></div>"
CUT = (
    "<div id='preview' style='width: 99px; overflow: auto'><div style='width: 300px'>1</div></div>"
)
RAW = r"<div id='preview'>\(x\)</div>"
ERROR = "<div id='preview'><mjx-merror>1</mjx-merror></div>"
OUTSIDE = "<div id='preview' style='position: fixed; left: 1270px; width: 30px'>1</div>"

BAD = {  # fault: (style, body, screen on which it must be found)
    "formula clipped at its left end": (CENTRED, FORMULA, "1280 px"),
    "formula cut": ("", FORMULA, "390 px"),
    "formula wider than its box": (SCROLL, FORMULA, "1280 px"),
    "formula scrolls, and nothing says so": (SCROLL, FORMULA, "390 px"),
    "inline formula cut": ("", INLINE, "1280 px"),
    "inline formula clipped": ("mjx-container { margin-left: -300px }", INLINE, "390 px"),
    "formula with an error": (
        "",
        "<mjx-container><mjx-math><mjx-merror></mjx-merror></mjx-math></mjx-container>",
        "390 px",
    ),
    "source not drawn": (
        "",
        r"<details><summary>Answer</summary> At $\psi_9$.</details>",
        "1280 px",
    ),
    "code wider than its box": (SCROLLED, CELL.format("input", LONG), "1280 px"),
    "output wider than its box": (SCROLLED, CELL.format("output", LONG), "390 px"),
    "picture or table cut": (
        "",
        "<table><tr><td style='min-width: 900px'>1</td></tr></table>",
        "390 px",
    ),
    "page wider than the window": ("", "<div style='width: 1600px'>1</div>", "1280 px"),
    "picture without alt": ("", "<img src='data:,'>", "1280 px"),
    "table scrolls sideways": ("div { overflow-x: auto }", WIDE_TABLE, "390 px"),
    "no preview": ("", "<a href='#thm-1-1'>1.1</a><div id='preview' hidden></div>", "390 px"),
    "preview outside the window": ("", f"<a href='#thm-1-1'>1.1</a>{OUTSIDE}", "1280 px"),
    "preview cut": ("", f"<a href='#thm-1-1'>1.1</a>{CUT}", "390 px"),
    "preview with an error": ("", f"<a href='#thm-1-1'>1.1</a>{ERROR}", "390 px"),
    "preview not typeset": ("", f"<a href='#thm-1-1'>1.1</a>{RAW}", "390 px"),
    "closed on paper": ("", SOLUTION, "print"),
}
GOOD = {
    "a formula that scrolls on a telephone": (SCROLL + SHRUNK + FADING, FORMULA),
    "text that wraps": (WRAP, CELL.format("input", LONG) + CELL.format("output", LONG)),
    "a solution that paper opens": (OPEN_ON_PAPER, SOLUTION),
    "money and code": ("", "<p>2 $ a book, <code>$x$ [a](b)</code></p>"),
    "a picture with words": ("", "<img src='data:,' alt='nothing'>"),
}
STATIC = ROOT / "website" / "static"
CARDS = """<article class='bd-article'><div style='overflow-x: auto'><table><thead><tr><th>size</th>
<th><p>at <mjx-container><svg width='20' height='9'></svg></mjx-container></p></th></tr></thead>
<tbody><tr><td>1</td><td><p style='min-width: 380px'>.5</p></td></tr></tbody></table></div></article>"""
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


def test_a_wide_table_becomes_cards_that_show_its_heads_as_drawn(browser, findings):
    style = (STATIC / "notes.css").read_text()
    script = f"<script>{(STATIC / 'reading.js').read_text()}</script>"
    assert "table scrolls sideways" in {
        o["kind"] for o in findings("div { overflow-x: auto }", CARDS)
    }
    assert findings(style, CARDS + script) == []
    page = browser.new_page(viewport={"width": 400, "height": 900})
    page.set_content(PAGE.format(style=style, body=CARDS + script))
    assert [" ".join(o.split()) for o in page.locator("td").all_inner_texts()] == ["1", "at : .5"]
    assert page.locator("td mjx-container svg").bounding_box()["width"] == 20
    page.set_viewport_size({"width": 1400, "height": 900})
    assert (
        not page.locator("td mjx-container").is_visible()
        and page.locator("th mjx-container").is_visible()
    )
    page.close()


PALE = "html[data-theme=dark] p { color: #888; background: #777 }"


def axed(browser, style, body, known=()):
    page = browser.new_page(bypass_csp=True)
    page.set_content(PAGE.format(style=style, body=body))
    page.evaluate(PRUNE)
    found, looks = weighed(page, "page.html", known)
    page.close()
    return [(o["kind"].split(": ")[1], o["screen"]) for o in found if is_bad(o)], looks


def test_axe_finds_pale_text_in_the_dark_only_and_weighs_a_look_once(browser):
    lines = "<p>Can you read this?</p>" * 9
    found, looks = axed(browser, PALE, lines)
    assert found == [("color-contrast", "dark")] * 2 and len(looks) == 2  # of nine; and the heading
    assert axed(browser, PALE, lines, looks) == ([], [])
    paler = "<p style='color: #eee'>And this?</p>"
    assert ("color-contrast", "light") in axed(browser, PALE, lines + paler, looks)[0]


FORMULA_LINK = "<mjx-container><svg><a href='#top' tabindex='0'></a></svg></mjx-container>"
UNLIKE = {
    "color-contrast": "<pre><span>a = </span><span style='color: #eee'>123</span></pre>",
    "link-in-text-block": "<p>Try <a href='#top' style='color: #222; text-decoration: none'>this</a> now</p>",
    "image-alt": "<p><img src='data:,'></p>",
    "link-name": "<a href='#top'><mjx-container><svg width='9' height='9'></svg></mjx-container></a>",
    "button-name": "<button></button>",
    "aria-hidden-focus": f"<div aria-hidden='true'>{FORMULA_LINK}</div>",
}


@pytest.mark.parametrize("rule", UNLIKE)
def test_axe_finds_after_the_page_was_made_small(browser, rule):
    assert rule in [found for found, _ in axed(browser, "", "<p>Words.</p>" * 5 + UNLIKE[rule])[0]]
    assert axed(browser, "", "<p>Words.</p>" * 5)[0] == []


def test_requests_errors_and_links(browser, tmp_path):
    body = (
        FOREIGN + "<a href='#gone'>a</a> <a href='other.html#here'>b</a> <a href='none.html'>c</a>"
    )
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
