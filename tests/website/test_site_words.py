"""Each word of the house has one sentence and a place that uses it."""

import re

import pytest

from conftest import refuse
from website import words
from website.labels import markdown
from website.notation import definitions
from website.notebooks import find


@pytest.fixture(scope="module")
def found():
    return definitions()


def said_on(word, where, found):
    "Does the page of the place use the word? Hyphens, plurals and the like apart"
    page = found[where][0] if where in found else where
    return words.bare(word).rstrip("sy") in words.bare(markdown(find(page)))


def problems(lines, found):
    "Words whose place is not there or does not use them, and sentences that are not one sentence"
    for word, sentence, where, _ in lines:
        if where not in found and not find(where):
            yield f"{word}: no place {where}"
        elif not said_on(word, where, found):
            yield f"{word} is not on the page of {where}"
        if not re.fullmatch(r"\S.*[^.]\.", sentence) or re.search(r"\. [A-Z]", sentence):
            yield f"{word}: not one sentence"


def test_words_are_those_of_the_notebooks(found):
    refuse(list(problems(words.lines(), found)))


def test_words_stand_in_order():
    listed = [word.lower() for word, *_ in words.lines()]
    assert listed == sorted(set(listed))


def test_what_is_wrong_is_noticed(found):
    lines = [
        ("kernel", "A function.", "99.1", ""),
        ("zeugma", "A figure of speech.", "1.1", ""),
        ("ridge", "Least squares. With a penalty.", "5.2", ""),
    ]
    wrong = ["kernel: no place 99.1", "zeugma is not on the page of 1.1", "ridge: not one sentence"]
    assert list(problems(lines, found)) == wrong


def test_links_of_the_page_are_those_of_the_lines(found):
    targets = re.findall(r"\]\(\.\./(\w+)\.ipynb(?:#([\w-]+))?\)", words.page())
    assert len(targets) == len(words.lines()) and len(targets) >= 40
    known = {(page, anchor) for page, anchor, *_ in found.values()}
    assert all(target in known or not target[1] for target in targets)
