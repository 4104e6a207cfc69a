"""Every public name has a second route, and what is no second route is not taken for one."""

import ast

import pytest

import oracles
from conftest import refuse
from flow import Reader


def routes(source, name):
    "The routes of a name that a few lines of a test show"
    reader, env = Reader("sample"), {}
    head = "import numpy as np\nimport scipy.linalg\nimport pytest\nfrom rkhs_notes import *\n"
    names = "from rkhs_notes import ridge, Gaussian, gaussian_process, hsic, check_kernel, LawBroken\n"
    reader.run(ast.parse(head + names + source).body, env)
    return oracles.gathered(reader.found)[name]


@pytest.mark.parametrize(
    "source, kind",
    [
        ("f = ridge(k, X, y)\nnp.testing.assert_allclose(f(X), scipy.linalg.solve(A, y))", "SciPy"),
        ("a, b = ridge(k, X, y), np.linalg.solve(A, y)\nassert abs(a(X) - b).max() < 1e-9", "NumPy"),
        (
            "slow = sum(a * k(x) for a, x in zip(A, X))\nassert np.allclose(ridge(k, X, y)(X), slow)",
            "brute force",
        ),
        ("def slow(y):\n  return y / (1 + lam)\nassert slow(y) == ridge(k, X, y)(X)", "by hand"),
        ("assert ridge(k, X, y)(0) == 0.25", "known value"),
        ("assert ridge(k, X, y)(0) == gaussian_process(k, X, y)(0)", "another route"),
        ("assert ridge(k, X, y)(0) == -ridge(k, X, -y)(0)", "law"),
    ],
)
def test_the_route_is_what_the_other_side_is(source, kind):
    found = sorted(routes(source, "ridge"), key=oracles.Route.key)
    assert found[0].kind == kind and found[0].settles()


@pytest.mark.parametrize(
    "source",
    [
        "ridge(k, X, y)",
        "assert ridge(k, X, y)(0) == ridge(k, X, y)(0)",
        "f = ridge(k, X, y)\nassert f is not None",
        "assert len(ridge(k, X, y)(X)) == 7",
        "assert ridge(k, X, y)(X).shape == (7,)",
        "assert isinstance(ridge(k, X, y), object)",
        "assert ridge(k, X, y)(0) < 3",
        "assert not np.allclose(ridge(k, X, y)(X), scipy.linalg.solve(A, y))",
        "with pytest.raises(ValueError):\n  assert ridge(k, X, y)(0) == 0.25",
    ],
)
def test_what_says_little_is_no_second_route(source):
    assert not any(route.settles() for route in routes(source, "ridge"))


def test_what_goes_into_both_sides_is_not_tested_by_them():
    source = "K = Gaussian(1.0)(X)\nassert np.allclose(ridge(K, X, y)(X), scipy.linalg.solve(K, y))"
    assert {route.kind for route in routes(source, "Gaussian")} == {"law"}
    assert "SciPy" in {route.kind for route in routes(source, "ridge")}


def test_a_law_must_refuse_too():
    law = "check_kernel(Gaussian(1.0), X)\n"
    impostor = "with pytest.raises(LawBroken):\n  check_kernel(k, X)\n"
    none = {name: () for name in oracles.public()}
    found = [
        [
            gap
            for gap in oracles.gaps(none | {"check_kernel": routes(text, "check_kernel")})
            if "check_kernel " in gap
        ]
        for text in (law, impostor, law + impostor)
    ]
    assert [len(gap) for gap in found] == [1, 1, 0]


@pytest.mark.parametrize(
    "body, kind, says",
    [
        ("use_style()\n  assert x == 1", "known value", ""),
        ("assert x == 1", "known value", "does not call it"),
        ("use_style()", "known value", "compares nothing"),
        ("use_style()\n  assert x == 1", "bound", "routes are"),
    ],
)
def test_a_mark_that_is_not_deserved_is_refused(body, kind, says):
    found = oracles.refusal("use_style", kind, ast.parse(f"def test_x():\n  {body}").body[0])
    assert says in found and bool(found) == bool(says)


def test_every_public_name_has_a_second_route():
    refuse(list(oracles.gaps(oracles.everything())))
    rows = oracles.page().split("|---|---|---|---|---|\n")[1].strip().splitlines()
    assert len(rows) == len(oracles.public()) > 400 and all(line.count(" | ") == 4 for line in rows)
