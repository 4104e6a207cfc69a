"""The API by public name: a page each, and an index with every first line."""

import re

import rkhs_notes as rn
from website import api, pages


def test_every_public_function_and_class_has_one_page_called_after_it():
    found, public = api.pages(), {n for n in rn._owners() if callable(getattr(rn, n))}
    names = [name for names in found.values() for name in names]
    assert sorted(names) == sorted(public) and len(public) > 400
    assert all(home == names[0] for home, names in found.items())
    assert len({home.lower() for home in found}) == len(
        found
    )  # also where Huber.html is huber.html
    assert {*rn._DAILY} <= {*names}


def test_a_page_says_the_name_and_not_where_it_lives():
    (title, *_), text = re.findall(r"(?m)^rn\..*", api.page(["ridge"])), api.page(["ridge"])
    assert title == "rn.ridge" and ":doc:`../ridge_fits`" in text
    assert ".. autofunction:: rkhs_notes.engines.solving.ridge_fits.ridge\n" in text
    both = api.page(["frames", "Frames"])
    assert "rn.frames and rn.Frames" in both and both.count("   :members:") == 1


def test_the_index_has_each_name_with_its_first_line():
    daily, _, others = api.index().partition("## All others")
    line = "| [`ridge`](ridge.rst) | argmin over f in H of Σᵢ wᵢ (yᵢ − f(xᵢ))² + lam ‖f‖² (5.2) |"
    assert line in daily and "[`is_separable`]" in others
    for part, names in (daily, set(rn._DAILY)), (others, set(api.homes()) - set(rn._DAILY)):
        assert set(re.findall(r"(?m)^\| \[`(\w+)`\]", part)) == names


def test_a_class_shows_its_arguments():
    door = ("(*args, **kwargs)", None)
    said = pages.signature(None, "class", "Matern", rn.Matern, None, *door)
    assert said == ("(nu=1.5, bandwidth=1.0)", None)
    assert pages.signature(None, "function", "f", len, None, "(x, y)", None) == ("(x, y)", None)


def test_theorems_in_docstrings_are_links():
    said = pages.linked("of least norm, Theorem 5.2 and (5.4), in chapter 05; not (0.5)")
    assert "`Theorem 5.2 <../05_representer.html#thm-5-2>`__" in said and "not (0.5)" in said
    assert "`(5.4) <../05_representer.html#eq-5-4>`__" in said
    assert "`chapter 05 <../05_representer.html>`__" in said
