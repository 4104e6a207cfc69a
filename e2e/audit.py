"""Open the pages of a built site on every screen and say what a reader cannot see or reach.

Every page, of the API's a sample, is measured at two widths and on paper. axe-core, which is slow, weighs
all but colours in light; colours, in light and dark, on the first page where a text looks like that.

python e2e/audit.py [pages ...]    exits with 1 if anything is found
"""

import argparse
import re
import sys
import time
from importlib.util import find_spec
from pathlib import Path

from browser import chromium, served
from findings import axe_findings, dead_links, finding, foreign, is_bad, table

HERE = Path(__file__).parent
ROOT = HERE.parent
SITE = ROOT / "_site"
MEASURE, PRUNE, LOOKS = (
    (HERE / f"{name}.js").read_text() for name in ("measure", "prune", "looks")
)
COLUMN = ".bd-article-container"
A4 = 718  # pixels between margins of one centimetre
WIDTHS, HEIGHT = (1280, 390), 300  # what is painted costs time
THEMES, COLOURS = ("light", "dark"), ("color-contrast", "link-in-text-block")
READY = """async () => {
  if (window.MathJax?.startup?.promise) await MathJax.startup.promise
  if (document.fonts) await document.fonts.ready
}"""
OPEN = "() => document.querySelectorAll('details').forEach(o => { o.open = true })"
SETTLE = """async () => {
  const wait = (ms) => new Promise(done => setTimeout(done, ms))
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))
  await wait(60)  // sidebars slide away when the window becomes narrow
  await Promise.race([Promise.allSettled(document.getAnimations().map(o => o.finished)), wait(2000)])
}"""
FIRST = "() => performance.getEntriesByName('formulas')[0]?.startTime ?? 0"
THEME = "theme => Object.assign(document.documentElement.dataset, {theme, mode: theme})"
CLOSE = "() => document.querySelectorAll('details').forEach(o => { o.open = false })"
PREVIEW = r"""async () => {
  const box = document.getElementById("preview"), ends = /#(thm|prop|prp|def|lem|cor|law|alg|eq)-/;
  const link = [...document.querySelectorAll("main a[href*='#']")].find(
    (o) => ends.test(o.href) && o.getClientRects().length && !o.closest("mjx-container"));
  if (!box || !link) return null;
  link.focus();
  const raw = () => /\\[([]/.test(box.textContent);
  for (let i = 0; i < 200 && (box.hidden || raw()); i++) await new Promise((done) => setTimeout(done, 50));
  const { left, right, height } = box.getBoundingClientRect();
  const kind = box.hidden || !height ? "no preview"
    : raw() ? "preview not typeset"
    : left < 0 || right > innerWidth ? "preview outside the window"
    : box.scrollWidth > box.clientWidth + 1 ? "preview cut"
    : box.querySelector("[data-mjx-error], mjx-merror") ? "preview with an error" : "";
  link.blur();
  dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
  return [kind, link.getAttribute("href")];
}"""
LINKS = """() => [[...document.querySelectorAll('[id], a[name]')].map(o => o.id || o.name),
  [...document.querySelectorAll('a[href]')].map(o => o.getAttribute('href'))]"""
ONLY = "() => document.body.querySelectorAll('*').forEach(o => looks.has(o) || o.remove())"
AXE = """rules => axe.run(document, {resultTypes: ['violations'], preload: false, ...rules}).then(
  found => found.violations.map(({id, impact, nodes}) => ({id, impact, nodes: nodes.map(
    ({target}) => ({target}))})))"""


def axe_script():
    "axe-core, which the package axe-playwright-python brings along"
    if not (spec := find_spec("axe_playwright_python")):
        sys.exit("axe-playwright-python is not installed: pip install -e '.[book]'")
    return str(Path(spec.origin).parent / "axe.min.js")


def on_screen(page, width, theme="light"):
    "Sets the width and the theme, and waits until the page has followed"
    page.set_viewport_size({"width": width, "height": HEIGHT})
    page.evaluate(THEME, theme)
    page.evaluate(SETTLE)


def measured(page, name, screen, paper=False):
    for found in page.evaluate(MEASURE, {"column": COLUMN, "print": paper}):
        yield finding(name, screen, found["kind"], found["where"], found["by"])


def previewed(page, name, screen):
    "Does the first link to a statement, reached by Tab, show it inside the window?"
    kind, link = page.evaluate(PREVIEW) or ("", "")
    if kind:
        yield finding(name, screen, kind, link)


def on_paper(page, name):
    "The page as it is printed, from closed solutions"
    page.evaluate(CLOSE)
    page.emulate_media(media="print")
    on_screen(page, A4)
    yield from measured(page, name, "print", paper=True)
    page.emulate_media(media="screen")


def weighed(page, name, known=()):
    "axe-core, of the colours only where a text looks like none of `known`: findings, what looks are new"
    page.evaluate(OPEN)
    page.add_script_tag(path=axe_script())
    looks = page.evaluate(LOOKS, [THEMES, [*known]])
    on_screen(page, WIDTHS[0])
    but_colours = {"rules": {rule: {"enabled": False} for rule in COLOURS}}
    found = [*axe_findings(name, "light", page.evaluate(AXE, but_colours))]
    page.evaluate(ONLY)
    for theme in THEMES if looks else ():
        on_screen(page, WIDTHS[0], theme)
        found += axe_findings(name, theme, page.evaluate(AXE, {"runOnly": COLOURS}))
    return found, looks


def read_page(page, name):
    "(findings, ids, links) of the page that is open"
    page.evaluate(READY)
    page.evaluate(OPEN)
    found, (ids, links) = [], page.evaluate(LINKS)
    page.evaluate(PRUNE)
    for width in WIDTHS:
        on_screen(page, width)
        found += measured(page, name, f"{width} px")
        found += previewed(page, name, f"{width} px")
    return found + list(on_paper(page, name)), ids, links


def audit(browser, site, names, axe=lambda name: True, say=lambda text: None):
    "Findings on the pages `names` of the folder `site`; axe-core weighs those with axe(name)"
    findings, known, looks, requests, errors = [], {}, set(), [], []
    with served(site) as home:
        page = browser.new_page(
            bypass_csp=True, reduced_motion="reduce"
        )  # colours are not weighed midway
        page.set_default_timeout(180_000)
        page.set_viewport_size({"width": WIDTHS[0], "height": HEIGHT})
        page.on("request", lambda request: requests.append(request.url))
        page.on(
            "console",
            lambda o: o.type == "error" and errors.append(f"{o.text} {o.location.get('url', '')}"),
        )
        page.on("pageerror", lambda error: errors.append(str(error)))
        for name in names:
            start = time.monotonic()
            requests.clear(), errors.clear()
            page.goto(home + name, wait_until="load")
            found, ids, links = read_page(page, name)
            known[name] = (set(ids) | {"", "top"}, links)
            found += [
                finding(name, "requests", "another host", url) for url in foreign(requests, home)
            ]
            found += [finding(name, "console", "console error", text[:200]) for text in errors]
            if axe(name):
                remarks, new = weighed(page, name, looks)
                found += remarks
                looks.update(new)
            findings += found
            first = page.evaluate(FIRST)
            spent = time.monotonic() - start
            say(
                f"{name:36} {sum(map(is_bad, found)):5} {spent:6.1f} s, formulas after {first:5.0f} ms"
            )
    files = {path.relative_to(site).as_posix() for path in Path(site).rglob("*") if path.is_file()}
    return findings + list(dead_links(known, files))


def all_pages(site):
    "The pages of a site; signposts at former addresses are none"
    paths = sorted(Path(site).rglob("*.html"))
    pages = [path for path in paths if b"location.replace(" not in path.read_bytes()[:300]]
    names = (path.relative_to(site).as_posix() for path in pages)
    return [name for name in names if not name.startswith("_")]


def tell(text):
    print(text, file=sys.stderr, flush=True)


def sampled(names):
    "All pages but those of the API, which are made alike: their index, and one in eight"
    return [o for i, o in enumerate(names) if i % 8 == 0 or not re.match(r"api/(?!index)", o)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", help="pages of the site (default: all)")
    options = parser.parse_args()
    if not (SITE / "index.html").exists():
        sys.exit(f"no site in {SITE}: make notes builds it")
    names = options.pages or sampled(all_pages(SITE))
    with chromium() as browser:
        findings = audit(browser, SITE, names, say=tell)
    print(table(findings, len(names)))
    sys.exit(any(map(is_bad, findings)))


if __name__ == "__main__":
    main()
