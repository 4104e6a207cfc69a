"""Each symbol stands where the page of notation says, and its name in code is real and means what it says."""

import re

import pytest
from test_alphabet import ALPHABET

from conftest import refuse
from website import notation
from website.pages import SYMBOLS


@pytest.fixture(scope="module")
def found():
    return notation.definitions()


def occurs(symbol, text):
    "Does a symbol stand in the formulas of a text? A letter must stand alone: there is no n in sin"
    math = " ".join(a or b for a, b in re.findall(r"\$\$(.+?)\$\$|\$(.+?)\$", text)) or text
    alone = re.escape(symbol) if len(symbol) > 1 else rf"(?<![A-Za-z\\]){symbol}(?![A-Za-z])"
    return re.search(alone, math) is not None


def problems(table, found):
    "Symbols that are not at their place, and names that are neither an argument's nor public"
    for symbol, name, _, shape, number in table:
        if number and number not in found:
            yield f"{symbol}: nothing has the number {number}"
        elif number and not occurs(symbol, found[number][3]):
            yield f"{symbol} does not occur in {number}"
        if name and name not in ALPHABET and name not in SYMBOLS:
            yield f"{name} is not a name in code"
        if name in ALPHABET and not re.match(ALPHABET[name], shape):
            yield f"{name} is {ALPHABET[name]} in signatures, and {shape} here"


def test_notation_is_that_of_the_notebooks(found):
    refuse(list(problems(notation.TABLE, found)))


def test_every_letter_of_the_alphabet_is_explained():
    assert set(ALPHABET) <= {name for _, name, *_ in notation.TABLE}


def test_a_symbol_means_one_thing():
    symbols = [symbol for symbol, *_ in notation.TABLE if symbol]
    assert len(symbols) == len(set(symbols))


def test_what_is_wrong_is_noticed(found):
    table = [
        (r"\beth", "", "", "", "5.2"),
        ("x", "", "", "", "5.99"),
        (r"\lambda", "lambda_", "", "", "5.2"),
        (r"\alpha", "alpha", "", "array (n, d)", "5.2"),
    ]
    wrong = [problem.split(" ")[0] for problem in problems(table, found)]
    assert wrong == ["\\beth", "x:", "lambda_", "alpha"]


def test_a_letter_must_stand_alone():
    assert occurs("n", r"for $n$ points") and occurs(r"x_i", r"\sum_i x_i^2")
    assert not occurs("n", r"in general $\sin(m)$, $\nu$")


def test_the_page_has_a_row_for_each(found):
    page = notation.page()
    assert len(re.findall(r"(?m)^\| ", page)) == len(notation.TABLE) + 1
    assert page.count(".ipynb#") == sum(bool(row[4]) for row in notation.TABLE)
