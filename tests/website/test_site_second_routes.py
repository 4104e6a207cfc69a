"""Every public name has a test that is marked as its second route, and what is marked can be one."""

import ast
import re

import pytest

import conftest
import rkhs_notes
from conftest import ROOT, refuse
from website.second_routes import MODEL, WITHOUT, page, public, refusal, routes


def refused(test):
    "{what is refused in it}: the first arguments of pytest.raises and expect_fail, as they are written"
    calls = [
        item.context_expr
        for node in ast.walk(test)
        if isinstance(node, ast.With)
        for item in node.items
    ]
    calls = [
        c
        for c in calls
        if isinstance(c, ast.Call) and re.search(r"raises$|expect_fail$", ast.unparse(c.func))
    ]
    return {ast.unparse(call.args[0]) for call in calls}


def is_error(name):
    known = getattr(rkhs_notes, name)
    return isinstance(known, type) and issubclass(known, Exception)


def test_every_public_name_has_a_second_route():
    marked = {name for route in routes() for name in route.names}
    refuse([f"{home}.{name} has no second route: mark the test that compares it,"
            f" {MODEL.replace('ridge', name)}, or say why in WITHOUT of website/second_routes.py"
            for name, home in public().items() if name not in marked | WITHOUT.keys()])  # fmt: skip
    refuse([f"{name} leaves WITHOUT: it has a second route, or is no public name"
            for name in WITHOUT if name in marked or name not in public()])  # fmt: skip
    assert len(WITHOUT) <= 5  # may only fall


def test_laws_are_shown_impostors_and_errors_are_raised():
    found = {name: set() for name in public()}
    for route in routes():
        for name in route.names:
            found[name] |= refused(route.test)
    refuse([f"{name} is never shown an impostor, in no test that is marked"
            for name in found if name.startswith("check_") and not found[name]])  # fmt: skip
    refuse([f"{name} is never raised, in no test that is marked"
            for name in found if is_error(name) and name not in found[name]])  # fmt: skip


def test_a_function_that_is_marked_is_called_beside_the_mark():
    "A test that moves to another file takes its marks along; of classes, objects are made by functions"
    called = {path.name: set(re.findall(r"(?<![\"'])\b\w+\b(?![\"'])", path.read_text("utf-8")))
              for path in (ROOT / "tests").rglob("test_*.py")}  # fmt: skip
    refuse([f"{route.file} says {route.test.name} is a second route of {name}, and nowhere calls it"
            for route in routes() for name in route.names
            if name[0].islower() and name not in called[route.file]])  # fmt: skip
    refuse([f"{route.test.name} of {route.file} is marked, and no test"
            for route in routes() if not route.test.name.startswith("test_")])  # fmt: skip


@pytest.mark.parametrize(
    "words, says",
    [
        (["ridge", "scikit-learn"], ""),
        (["ridge", "OffsetFit", "SciPy"], ""),
        (["rigde", "scikit-learn"], "'rigde' is no public name"),
        ([3, "scikit-learn"], "3 is no public name"),
        (["ridge", " "], "say in a few words what they are compared with"),
        (["ridge", "svc"], "say in a few words"),
        (["scikit-learn"], "say in a few words"),
        ([], "say in a few words"),
    ],
)
def test_a_mark_that_says_nothing_is_refused_before_it_runs(words, says):
    assert says in refusal(words) and bool(refusal(words)) == bool(says)

    @pytest.mark.second_route(*words)
    def marked():
        pass

    if says:
        with pytest.raises(pytest.Collector.CollectError, match=re.escape(says)):
            conftest.pytest_pycollect_makeitem("test_a", marked)
    else:
        conftest.pytest_pycollect_makeitem("test_a", marked)


def test_the_page_names_every_route():
    text = page().replace("<wbr>", "")
    rows = re.findall(
        r"(?m)^\| ({py:obj}`.+`) \| (.+) \| `(\w+\.py)` <code>(test_\w+)</code> \|$", text
    )
    listed = {(name, *rest) for names, *rest in rows for name in re.findall(r"`(\w+) <", names)}
    assert listed == {(name, r.words, r.file, r.test.name) for r in routes() for name in r.names}
    assert len(listed) > 400
    assert len(re.findall(r"(?m)^## ", text)) == len({public()[name] for name, *_ in listed}) + 1
