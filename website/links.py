"""Sphinx extension: Theorem 5.2, (5a.4), exercise 05.1 and chapter 07 in text become links.

The notebooks say them in plain words, which read well everywhere; here they are looked up among the boxes,
the tagged formulas, the exercises and the chapters. A number that nothing carries is a warning and fails the
site.
"""

import hashlib
import re
from functools import cache
from types import SimpleNamespace

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

from .labels import EXERCISE, FOREIGN, KINDS, TAGGED, exercises, formulas, slug, statements
from .notebooks import all_pages, change_text, chapters

NUMBER = r"(?:\d+[a-z]?|[A-Z]+)\.\d+[a-z]?\b(?!\.\d)"
PAGE = r"\d\d[a-z]?\b(?!\.\d)"
JOIN = r"(?:, | and |, and | or )"
MENTION = re.compile(
    rf"\b(?P<kind>{'|'.join(KINDS)})s? (?P<statements>{NUMBER}(?:{JOIN}{NUMBER})*)"
    rf"|(?P<equation>\bequations? )?(?<![\w\])])\((?P<formula>{NUMBER})\)"
    rf"|\b[Ee]xercises? (?P<exercises>\d\d[a-z]?\.\d+(?:{JOIN}\d\d[a-z]?\.\d+)*)"
    rf"|\b[Cc]hapters? (?P<chapters>{PAGE}(?:{JOIN}{PAGE})*)"
)
# no mention is in code, formulas, comments, HTML up to an empty line, links, headings, a box's own number
KEPT = re.compile(
    r"(?ms)^```.*?^```|`[^`\n]+`|\$\$.*?\$\$|\$(?:\\.|[^$\\])+\$"
    r"|<!--.*?-->|^<(?:details|div|p|table|figure)\b.*?(?=\n\n|\Z)|<[a-z/][^>\n]*>"
    r"|\[[^]\n]*\]\([^)\n]*\)|^#+ [^\n]*|^> \*\*\w+ [\w.]+"
)
log = logging.getLogger(__name__)


@cache
def places():
    "{statements: {5.2: (kind, page, anchor)}, formulas: {5.14: (page, anchor)}, ...} of all notebooks"
    found = SimpleNamespace(statements={}, formulas={}, exercises={}, chapters={})
    for path in all_pages():
        for box in statements(path):
            found.statements[box.number] = (box.kind, path.stem, box.anchor)
        found.formulas |= {tag: (path.stem, slug("eq", tag)) for tag in formulas(path)}
    for path in chapters():
        found.chapters[path.stem.partition("_")[0]] = (path.stem, "")
        found.exercises |= {number: (path.stem, slug("ex", number)) for number in exercises(path)}
    return found


def look_up(match, number, page, found):
    "(page, anchor) of one number of a mention, nothing for what needs no link; a KeyError if it is not there"
    if match["kind"]:
        kind, *place = found.statements[number]
        if kind != match["kind"]:
            raise KeyError(f"{number} is a {kind}")
        return place
    if match["exercises"]:
        return found.exercises[number]
    if match["chapters"]:
        return found.chapters[number] if found.chapters[number][0] != page else None
    if not match["equation"] and not is_formula(number, page, found):
        return None
    if number.startswith("0.") and not page.startswith("00"):
        return None  # so is (0.5), but for chapter 00
    return found.formulas[number]


def is_formula(number, page, found):
    "(2.46) is a decimal, (A.18) the formula of a lecture; a family of the page's own is neither"
    family, _, place = number.partition(".")
    own = {tag.partition(".")[0] for tag, (stem, _) in found.formulas.items() if stem == page}
    return number in found.formulas or (family in own and place[0] != "0")


def linked(match, page, found):
    "A mention with each of its numbers as a link"
    text = match[0]
    if match["formula"]:
        place = look_up(match, match["formula"], page, found)
        said = text.removeprefix(match["equation"] or "")
        return f"{match['equation'] or ''}[{said}]({target(place, page)})" if place else text
    numbers = match["statements"] or match["exercises"] or match["chapters"]
    words, rest = text[: -len(numbers)], re.split(f"({JOIN})", numbers)
    for i in range(0, len(rest), 2):
        place, said = look_up(match, rest[i], page, found), (words if i == 0 else "") + rest[i]
        rest[i] = f"[{said}]({target(place, page)})" if place else said
    return "".join(rest)


def target(place, page):
    stem, anchor = place
    return ("" if stem == page else f"{stem}.ipynb") + (f"#{anchor}" if anchor else "")


def link(text, page, found):
    "(Markdown with links, [mention that has no place]); other people's numbers stay"
    kept = [match.span() for match in KEPT.finditer(text)]
    problems, parts, last = [], [], 0
    for match in MENTION.finditer(text):
        if any(a <= match.start() < b for a, b in kept) or FOREIGN.search(text[: match.start()]):
            continue
        parts.append(text[last : match.start()])
        try:
            parts.append(linked(match, page, found))
        except KeyError as error:
            problems.append(f"{match[0]}: {error}")
            parts.append(match[0])
        last = match.end()
    return "".join(parts) + text[last:], problems


def mark_exercises(text):
    "**05.1 ★** becomes the end of links to exercise 05.1"
    return EXERCISE.sub(lambda match: f'<a id="{slug("ex", match["number"])}"></a>{match[0]}', text)


def prepare(app, docname, source):
    "source-read, before authors and years become links: the Markdown of a notebook with its links"

    def change(before):
        text, problems = link(before, docname, places())
        for problem in problems:
            log.warning("%s in %s has no place", problem, docname, type="links")
        return mark_exercises(text)

    change_text(app, docname, source, change)


class Tags(SphinxTransform):
    "A tagged formula is the end of links to it: (5.4) has the id eq-5-4"

    default_priority = 325

    def apply(self):
        slugs = self.env.metadata[self.env.docname].setdefault("myst_slugs", {})
        for node in self.document.findall(nodes.math_block):
            for match in TAGGED.finditer(node.astext()):
                name = slug("eq", match["tag"])
                if name not in slugs:
                    node["ids"].append(name)
                    slugs[name] = (0, name, "")


def setup(app):
    # pages that lead to numbered things are read again when one of these has changed its place
    app.add_config_value(
        "links_version", hashlib.sha256(repr(places()).encode()).hexdigest(), "env"
    )
    app.connect("source-read", prepare, priority=390)
    app.add_transform(Tags)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
