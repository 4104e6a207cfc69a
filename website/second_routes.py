"""The page of second routes: what each public name is compared with, and in which test.

A test that compares public names with an independent computation says so, names first, then the route:

    @pytest.mark.second_route("ridge", "OffsetFit", "scikit-learn")

Whoever writes the mark has seen that the other side does not use the name. This file reads the marks without
running the tests; a name that has none fails them, unless WITHOUT says why.
"""

import ast
from collections import defaultdict
from dataclasses import dataclass
from functools import cache

import rkhs_notes
from rkhs_notes._modidx import d as INDEX

from .notebooks import ROOT, all_pages, module, read
from .statements import heading

WITHOUT = {
    "Classes": "a record of labels; the functions that read labels are tested by what they answer",
    "KernelEstimator": "what all estimators share; each of them is tested",
    "Value": "what all objects with checked fields share; each of them is tested",
    "calibrate": "measures this machine, and no second clock shows the same number",
}
MODEL = '@pytest.mark.second_route("ridge", "scikit-learn")'
PAGE = """# Second routes

The package has {count} public functions and classes, and {routed} of them are compared, in a test, with
something that does not use them: another library, quadrature, a loop or a formula written out on the spot, a
number that is known. A law (`check_...`) must refuse impostors, or what is almost right; an error must be
raised. Who writes such a test marks it, and the table is made of the marks.

{sections}

## Without a second route

{without}
"""


@dataclass(frozen=True)
class Route:
    "A mark: names, what they are compared with, and the test"

    names: tuple
    words: str
    file: str
    test: ast.FunctionDef


@cache
def public():
    "{name: module} of all functions and classes that readers may call"
    known = {symbol for names in INDEX["syms"].values() for symbol in names}
    return {
        name: home
        for name, home in rkhs_notes._owners().items()
        if f"rkhs_notes.{home}.{name}" in known
    }


def refusal(words):
    "Why a mark with these words says nothing, and what to write; nothing if all is well"
    unknown = [word for word in words[:-1] if word not in public()]
    mark = f"second_route({', '.join(map(repr, words))})"
    if unknown:
        return f"{mark}: {unknown[0]!r} is no public name of rkhs_notes; write it as in {MODEL}"
    if len(words) < 2 or words[-1] in public() or not str(words[-1]).strip():
        return f"{mark}: after the names, say in a few words what they are compared with, as in {MODEL}"
    return ""


@cache
def routes():
    "All marks, in the order of files and tests"
    found = []
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for test in ast.parse(path.read_text("utf-8")).body:
            for mark in getattr(test, "decorator_list", ()):
                if (
                    isinstance(mark, ast.Call)
                    and ast.unparse(mark.func) == "pytest.mark.second_route"
                ):
                    words = [ast.literal_eval(word) for word in mark.args]
                    if wrong := refusal(words):
                        raise ValueError(f"{path.name}: {wrong}")
                    found.append(Route(tuple(words[:-1]), words[-1], path.name, test))
    return found


# the page


def row(route, home):
    names = sorted(name for name in route.names if public()[name] == home)
    said = ", ".join(f"{{py:obj}}`{name} <rkhs_notes.{home}.{name}>`" for name in names)
    test = route.test.name.replace("_", "_<wbr>")  # a line may break there
    return f"| {said} | {route.words} | `{route.file}` <code>{test}</code> |"


def section(path, rows):
    "The table of one notebook"
    head = "| name | compared with | test |\n|---|---|---|\n"
    place = f"[{path.stem}](../{path.name}), exported to `rkhs_notes.{module(read(path))}`"
    return f"## {heading(path.stem)}\n\n{place}\n\n{head}" + "\n".join(sorted(rows, key=str.lower))


def page():
    "The page, as Markdown"
    rows = defaultdict(list)
    for route in routes():
        for home in sorted({public()[name] for name in route.names}):
            rows[home].append(row(route, home))
    homes = {module(read(path)): path for path in all_pages()}
    return PAGE.format(
        count=len(public()),
        routed=len({name for route in routes() for name in route.names}),
        sections="\n\n".join(
            section(path, rows[home]) for home, path in homes.items() if home in rows
        ),
        without="\n".join(f"- `{name}`: {reason}." for name, reason in WITHOUT.items()),
    )
