"""check: verdicts, general diagnoses, the hundred wrong answers, draws that are not blind"""

import itertools
import math
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from conftest import refuse
from rkhs_notes import exercises
from rkhs_notes.apps.diagnoses import diagnosis_of
from rkhs_notes.apps.exercises import (
    _CHAPTERS,
    _answer_key,
    _difference,
    check,
    check_exercises,
    exercise_table,
)
from rkhs_notes.apps.slips import _CONSTANTS, _TURNS, Case, _near
from wrong_answers import WRONG, table, verdicts


def said(solution, answer, draw, mistakes=None, trials=12):
    "What is said of an answer beside a solution, both plain functions"
    rng = np.random.default_rng(5)
    inputs = [draw(rng) for _ in range(trials)]
    arrays = ([np.asarray(f(*a), dtype=float) for a in inputs] for f in (answer, solution))
    return diagnosis_of(Case(inputs, *arrays, answer, solution), mistakes or {}, 1e-8)


def vectors(rng):
    return rng.normal(size=4), float(rng.uniform(0.5, 2))


def squares(rng):
    return rng.normal(size=(4, 4)), int(rng.integers(2, 7))


def shares(rng):
    return float(rng.uniform(0.05, 0.95)), float(rng.uniform(1, 2))


@pytest.mark.parametrize("words, turn", [(words, turn) for words, _, turn in _TURNS])
def test_every_row_of_the_table_of_turns(words, turn):
    def vector(v, s):
        return np.r_[v, s]

    def square(A, p):
        return A**p - 0.3

    if "tails" in words or "cosine" in words or "logarithm" in words:
        found = said(lambda p, s: p, lambda p, s: turn(p), shares)
    elif any(part in words for part in ("diagonal", "transposed", "columns")):
        found = said(square, lambda A, p: turn(square(A, p)), squares)
    else:
        found = said(vector, lambda v, s: turn(vector(v, s)), vectors)
    start, end = words.split("{}")
    assert start in found and end in found, (words, found)


@pytest.mark.parametrize(
    "words, slip",
    {
        "½ times": lambda v, s: v @ v / 2 * s,
        "here that is len(v)": lambda v, s: v @ v * s * 4,
        "len(v)/(len(v) − 1)": lambda v, s: v @ v * s * 4 / 3,
        "minus": lambda v, s: -(v @ v) * s,
        "√2 times": lambda v, s: v @ v * s * 2**0.5,
        "s times": lambda v, s: v @ v * s * s,
        "1/s² times": lambda v, s: v @ v / s,
        "plus 1 (off by one?)": lambda v, s: v @ v * s + 1,
        "plus s": lambda v, s: v @ v * s + s,
        "stays the same when v changes": lambda v, s: np.exp(s),
        "same on all inputs": lambda v, s: 1.5,
        "single precision": lambda v, s: np.float32(v @ v * s),
        "cut short": lambda v, s: np.round(v @ v * s * 1e6) / 1e6 * (1 + 1e-5),
        "NaN": lambda v, s: v @ v * s * np.log(s - 10),
        "shape": lambda v, s: v * v * s,
        "right on": lambda v, s: v @ v * (s if s < 1.2 else 1.5),
    }.items(),
)
def test_what_is_said_of_a_number(words, slip):
    with np.errstate(all="ignore"):
        assert words in said(lambda v, s: v @ v * s, slip, vectors)


@pytest.mark.parametrize(
    "words, slip",
    {
        "p − 1 in place of p": lambda A, p: A @ A.T * (p - 1) ** 3,
        "A, transposed, in place of A": lambda A, p: A.T @ A * p**3,
        "but for the diagonal": lambda A, p: (A @ A.T + np.eye(4)) * p**3,
        "but for what is below": lambda A, p: A @ A.T * p**3 + np.tril(A, -1),
        "right rows": lambda A, p: (A @ A.T * p**3)[[1, 0, 3, 2]],
        "some signs": lambda A, p: A @ A.T * p**3 * np.sign(A),
        "a number that changes from input to input": lambda A, p: A @ A.T * p**3 * np.exp(A[0, 0]),
        "A above its diagonal in place of A": lambda A, p: np.triu(A, 1) @ np.triu(A, 1).T * p**3,
        "A without its diagonal in place of A": lambda A, p: (lambda B: B @ B.T * p**3)(
            A - np.diag(A.diagonal())
        ),
        "right to 2 digits": lambda A, p: A @ A.T * p**3 * (1 + 0.007 * np.cos(A)),
    }.items(),
)
def test_what_is_said_of_a_matrix(words, slip):
    assert words in said(lambda A, p: A @ A.T * p**3, slip, squares)


@pytest.mark.parametrize("kind", [Fraction, Decimal, np.float32, str])
def test_an_answer_that_ignores_an_argument_is_told_in_numbers_of_any_type(kind):
    wrong = said(lambda p, s: s + np.sin(9 * p), lambda p, s: kind(s), shares)
    assert wrong.startswith("your answer stays the same when p changes")


def test_a_number_that_is_added_here_and_taken_away_there_is_no_constant():
    def sides(rng):
        return rng.normal(size=5), (-1.0) ** next(turns)

    turns = itertools.count()
    assert "plus 1" not in said(lambda v, s: v @ v, lambda v, s: v @ v + s, sides)
    wrong = said(lambda v, s: v @ v, lambda v, s: v @ v + s * s * s, sides)
    assert "minus" not in wrong and "off by one" not in wrong
    of_0 = lambda rng: (rng.normal(size=5), float(next(turns)))  # noqa: E731
    turns = itertools.count()
    assert "plus s" in said(lambda v, s: v @ v, lambda v, s: v @ v + s, of_0)


def test_exchanged_arguments_and_shapes():
    def two(rng):
        return rng.normal(size=3), rng.normal(size=3)

    assert "x and y exchanged" in said(lambda x, y: x - 2 * y, lambda x, y: y - 2 * x, two)
    assert "the right numbers" in said(lambda x, y: x - y, lambda x, y: (x - y)[:, None], two)
    assert "the sum of your numbers" in said(lambda x, y: x @ y, lambda x, y: x * y, two)
    assert "first row is missing" in said(lambda x, y: x - y, lambda x, y: (x - y)[1:], two)


@pytest.mark.parametrize(
    "words, solution, slip",
    [
        (
            "−v and −s in place of v and s",
            lambda v, s: 4 - v.sum() - s + s * v.sum(),
            lambda v, s: 4 + v.sum() + s + s * v.sum(),
        ),
        ("√v in place of v", lambda v, s: s + np.sum(v**2), lambda v, s: s + np.sum(v)),
        ("log10 in place of log2", lambda v, s: 1 + math.log2(s), lambda v, s: 1 + math.log10(s)),
        ("cos in place of sin", lambda v, s: s + np.sin(v), lambda v, s: s + np.cos(v)),
        ("mean in place of sum", lambda v, s: s + np.sum(v, axis=0), lambda v, s: s + np.mean(v)),
        (
            "the last term in place of sum",
            lambda v, s: s + sum(x * s for x in v),
            lambda v, s: s + v[-1] * s,
        ),
        (
            "mean in place of sum",  # of a generator, which NumPy's functions do not take
            lambda v, s: s + sum(math.exp(x) for x in v),
            lambda v, s: s + np.mean(np.exp(v)),
        ),
    ],
)
def test_what_is_said_of_a_slip_in_the_middle(words, solution, slip):
    assert words in said(solution, slip, vectors)


def number_named(words):
    "The value of a formula such as 1/√2π (of whatever), read as Python"
    formula = words.partition(" (")[0] if not words.startswith("√(") else "√(1/ln 2)"
    for sign, number in ("½", "1/2"), ("¼", "1/4"), ("⅓", "1/3"):
        formula = formula.replace(sign, number)
    formula = re.sub(r"(\d)π", r"(\1*π)", formula)
    formula = re.sub(r"√(\d+|π|\(.*\))", r"sqrt(\1)", formula)
    formula = re.sub(r"ln (\d+)", r"log(\1)", formula)
    return eval(formula, {"sqrt": math.sqrt, "log": math.log, "π": math.pi})


@pytest.mark.parametrize("words", _CONSTANTS)
def test_a_constant_factor_has_the_name_of_its_value(words):
    found = said(lambda v, s: v + s, lambda v, s: number_named(words) * (v + s), vectors)
    assert found.startswith(f"your answer is {words} times the solution")


def test_two_slips_one_after_the_other():
    mistakes = {"the root is missing": lambda v, s: (v @ v) * s}
    found = said(lambda v, s: np.sqrt(v @ v * s), lambda v, s: -(v @ v) * s, vectors, mistakes)
    assert found.startswith("the root is missing. And then") and "minus" in found


def test_a_step_number_gives_no_evidence():
    assert said(lambda: 3, lambda: 9, lambda rng: ()) == ""
    assert check("00.6", lambda: 9).says.startswith("not yet")


@pytest.mark.parametrize("number", [n for c in _CHAPTERS for n in _answer_key(c)])
def test_of_a_random_answer_nothing_is_said(number):
    solution, rng = exercise_table(number)["answer"], np.random.default_rng(1)

    def noise(*inputs):
        right = np.asarray(solution(*inputs), dtype=float)
        return right * rng.uniform(0.3, 3, right.shape) + rng.normal(size=right.shape)

    assert check(number, noise, trials=6, rng=3).says.startswith("not yet")


def test_a_hundred_wrong_answers():
    found = verdicts()
    assert len(WRONG) == 100 and not any(verdict.passed for *_, verdict in found)
    assert sum(named for named, _ in table(found).values()) >= 94
    assert all(
        verdict.inputs is not None
        for *_, verdict in found
        if not verdict.says.startswith("no answer")
    )


@pytest.mark.parametrize("seed", range(2))
def test_the_draws_are_not_blind(seed):
    for number, slip, answer in WRONG:
        assert not check(number, answer, trials=10, rng=100 + seed).passed, slip


def passes(n, lam, beta, R2, start, eps, log=lambda s, n: -s / n):
    "06.14, with the bound exp(−s p) for (1 − s/n)^(n p) unless `log` is the logarithm"
    s = 2 * lam / (2 * lam + beta * R2)
    return math.ceil(math.log(s * eps / (n * start)) / (n * log(s, n)))


def _top(y, C):
    return C * (y > 0)


def _low(y, C):
    return -C * (y < 0)


def box_step(K, y, b, i, j, C, top_i=_top, low_i=_low, top_j=_top, low_j=_low):
    "07.4, by a search: of the t at which the gain is stationary or a bound is met, the best"
    g, e = y - K @ b, np.eye(len(b))[i] - np.eye(len(b))[j]
    low = max(low_i(y[i], C) - b[i], b[j] - top_j(y[j], C))
    high = min(top_i(y[i], C) - b[i], b[j] - low_j(y[j], C))
    within = [t for t in (low, high, g @ e / (e @ K @ e)) if low <= t <= high]
    return max(within, key=lambda t: t * g @ e - t * t * e @ K @ e / 2)


def words(s, p):
    return {s[i : i + p] for i in range(len(s) - p + 1)}


def bootstrap(U, W, counts, **how):
    "15b.4, by sums over pairs"
    A = np.where(np.eye(len(U)), 0, U)
    null = np.einsum("ib,ij,jb->b", W, A, W, **how)
    return (1 + np.sum(counts(null, A.sum()))) / (1 + W.shape[1])


@pytest.mark.parametrize("seed", range(20))
def test_right_answers_pass_in_other_words(seed):
    def places(s, t, p):
        return sum(
            min(*(sum(x[i : i + p] == u for i in range(len(x))) for x in (s, t)))
            for u in words(s, p)
        )

    for number, answer in (
        ("06.14", lambda *given: passes(*given, lambda s, n: math.log(1 - s / n))),
        ("07.4", box_step),
        ("13.6", places),
        ("15b.4", lambda U, W: bootstrap(U, W, np.greater_equal)),
        ("15b.4", lambda U, W: bootstrap(U, W, np.greater_equal, optimize=True)),
    ):
        assert check(number, answer, rng=seed).passed, number


@pytest.mark.parametrize(
    "number, answer",
    [
        ("11.2", lambda T0, T: (1 + np.sum(np.abs(T) >= abs(T0))) / (len(T) + 1)),
        ("11.2", lambda T0, T: np.mean(T >= T0)),
        ("15.3", lambda alpha: int(1 / alpha) - 1),
        ("15.3", lambda alpha: int(1 / alpha)),
        ("00.1", lambda A, x, y: abs(exercise_table("00.1")["answer"](A, x, y))),
        ("01a.3", lambda x, y: x**2 * y / 2 - x**3 / 6),
        ("10.2", lambda n: round(n / 2)),
        ("16a.1", lambda b, r: 2 * r * b / (2 * r * b + 1)),
        ("06.4", lambda drawn, v, n: np.bincount(drawn, np.linspace(1, 0, 10)[1:] * v)),
        ("06.14", lambda n, lam, beta, R2, start, eps: passes(n, lam, beta, R2, start, eps)),
        ("07.4", lambda *given: box_step(*given, top_j=lambda y, C: C)),
        ("07.4", lambda *given: box_step(*given, top_j=lambda y, C: np.inf)),
        ("07.4", lambda *given: box_step(*given, low_j=lambda y, C: -C)),
        ("07.4", lambda *given: box_step(*given, low_j=lambda y, C: -np.inf)),
        ("07.4", lambda *given: box_step(*given, top_i=lambda y, C: C)),
        ("07.4", lambda *given: box_step(*given, low_i=lambda y, C: -C)),
        ("11.16", lambda B, alpha: math.floor(alpha * B) / (B + 1)),
        ("13.6", lambda s, t, p: sum(min(s.count(u), t.count(u)) for u in words(s, p))),
        ("15b.4", lambda U, W: bootstrap(U, W, np.greater)),
    ],
)
def test_one_draw_is_enough_where_it_must_be(number, answer):
    assert not any(check(number, answer, trials=1, rng=seed).passed for seed in range(8))


@pytest.mark.second_route("exercise_table", "its verdict on three times the answer")
def test_the_verdict_keeps_the_input_it_failed_on():
    solution = exercise_table("07.2")["answer"]
    verdict = check("7.2", lambda K, y, alpha: 3 * solution(K, y, alpha))
    assert verdict.exercise == "07.2" and "3 times" in verdict.says
    np.testing.assert_allclose(verdict.given, 3 * solution(*verdict.inputs))
    assert "\n" not in repr(verdict) and "array" not in repr(verdict)
    right = check("07.2", solution)
    assert right.passed and right.inputs is None


def test_the_line_that_raised():
    def answer(K, y, alpha):
        b = alpha * y
        return b @ K @ missing  # noqa: F821

    verdict = check("07.2", answer)
    assert "NameError" in verdict.says and "return b @ K @ missing" in verdict.says
    assert verdict.inputs is not None
    assert "written **" in check("07.2", lambda K, y, alpha: K ^ 2).says
    assert "penalty" in check("05.1", lambda K, y, lam: np.linalg.inv(0 * K)).says


def test_kinds_that_are_no_numbers():
    for given, words in (
        (["a", "b"], "list"),
        (lambda: 1, "function"),
        (1 + 2j, "complex"),
        ({"a": 1}, "dict"),
    ):
        says = check("07.2", lambda K, y, alpha, given=given: given).says
        assert words in says and "expected numbers" in says
    once = iter([1.0])
    assert "nothing" in check("07.2", lambda K, y, alpha: next(once, None)).says


def test_a_verdict_on_whatever_is_returned():
    class Odd:
        def __array__(self, *options, **more):
            raise RuntimeError("not yet computed")

    for given, kind in (
        ((3, np.ones(2)), "tuple"),
        (10**400, "int"),
        (math, "module"),
        (np, "module"),
        (Odd(), "Odd"),
    ):
        says = check("07.2", lambda K, y, alpha, given=given: given).says
        assert says == f"your answer is {kind}, expected numbers of shape ()"


def test_a_number_that_is_no_text_is_refused_before_its_0_is_lost():
    for value in (0.10, 3.0, np.float64(0.2)):
        with pytest.raises(ValueError, match="number: .*may have lost a 0; write it as a text"):
            check(value, lambda: 0)
    assert check("0.10", lambda *inputs: 0).exercise == "00.10"


@pytest.mark.parametrize("number", [n for c in _CHAPTERS for n in _answer_key(c)])
def test_every_argument_takes_two_values(number):
    exercise, rng = exercise_table(number), np.random.default_rng(0)
    inputs = [exercise["draw"](rng) for _ in range(40)]
    refuse(
        [
            f"{number}: argument {place + 1} is always {values[0]!r}"
            for place, values in enumerate(zip(*inputs, strict=True))
            if all(np.array_equal(values[0], value) for value in values)
        ]
    )


@pytest.mark.parametrize("seed", range(20))
def test_a_named_mistake_is_what_its_name_says(seed):
    def without_diagonals(*grams):
        inner, cross, outer = (
            K[np.triu_indices(len(K), 1)].mean() if len(K) == len(K.T) else K.mean() for K in grams
        )
        return math.sqrt(inner + outer - 2 * cross)

    for number, answer, words in (
        ("07.20", lambda q: q.clip(0) / q.clip(0).sum(), "cutting at 0 and dividing by the sum"),
        ("01b.2", lambda D, o: (D[:, :1] + D[:1] - D) / 2, "that is the base point 0"),
        ("13.4", without_diagonals, "with the diagonals left out"),
    ):
        assert check(number, answer, rng=seed).says.startswith(words)


def parity(rng):
    return (int(rng.integers(1, 60)),)


def test_near_is_near_in_every_entry_and_relative_to_the_size():
    ones = np.ones(1000)
    assert _near(ones + 1e-10, ones) and not _near(ones + 1e-7 * (np.arange(1000) == 5), ones)
    assert not _near(1e-12, 2e-12) and not _near(np.nan, np.nan) and not _near([1.0], 1.0)


@pytest.mark.parametrize(
    "words, solution, slip",
    [
        ("-2 times the solution", lambda v, s: v @ v * s, lambda v, s: -2 * (v @ v) * s),
        ("that is the first of", lambda v, s: v * s, lambda v, s: v[0] * s),
        ("that is the last of", lambda v, s: v * s, lambda v, s: v[-1] * s),
        ("the last row is missing", lambda v, s: np.outer(v, v), lambda v, s: np.outer(v, v)[:-1]),
        ("the solution minus s", lambda v, s: v @ v, lambda v, s: v @ v - s),
        ("the solution is never negative", lambda v, s: v**2 * s, lambda v, s: v * abs(v) * s),
    ],
)
def test_what_is_said_of_size_sign_and_place(words, solution, slip):
    assert words in said(solution, slip, vectors)


@pytest.mark.parametrize("unit", [2.0**-40, 1.0, 2.0**40])
@pytest.mark.parametrize("words, at", [("entry 1 of 4", 0), ("entry 4 of 4", -1)])
@pytest.mark.parametrize("shape", [(4,), (4, 2, 4)])
def test_one_wrong_entry_is_named_whatever_the_unit(words, at, unit, shape):
    tossed = np.random.default_rng(0).choice([-1, 1], shape)

    def slip(v, s, rounding=1e-12):
        w = right(v, s) * (1 + rounding * tossed)
        w[at] += unit
        return w

    def right(v, s):
        return unit * (v * s + np.exp(v))

    def draw(rng):
        return rng.normal(size=shape), float(rng.uniform(0.5, 2))

    assert f"right, but for {words}" in said(right, slip, draw)
    assert "right, but" not in said(right, lambda v, s: slip(v, s, 1e-6), draw)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # check keeps them away
def test_zero_has_no_factor():
    found = said(lambda v, s: v * (s > 1), lambda v, s: v * (s > 1) + v * (s < 1), vectors)
    assert found and "times" not in found


def test_verdicts_are_equal_whatever_arrays_they_hold():
    def wrong(*arguments):
        return np.zeros(3)

    first, again = check("07.2", wrong), check("07.2", wrong)
    assert first.inputs is not None and first == again


def plane(rng):
    return tuple(rng.normal(size=2))


def test_what_is_said_holds_on_all_inputs_and_only_there():
    assert "wrong where p is even" in said(
        lambda p: p**2, lambda p: p**2 + (p % 2 == 0) * p, parity
    )
    assert "wrong where q > p" in said(lambda p, q: p * q, lambda p, q: p * q + (q > p) * p, plane)
    some = said(
        lambda v, s: v * s, lambda v, s: v * s + (1.0 if s < 1.2 else np.r_[1, v[1:] ** 3]), vectors
    )
    assert "plus" not in some
    signs = said(lambda A, p: A @ A.T * p**3, lambda A, p: A @ A.T * p**3 * np.sign(A), squares)
    assert "some signs" in signs and "never negative" not in signs
    same = said(lambda v, s: np.array([1.0, 2.0]), lambda v, s: np.array([2.0, 2.0]), vectors)
    assert "does not depend" not in same
    assert "digits" not in said(
        lambda v, s: s, lambda v, s: s * (1 + 1e-7) if s < 1.2 else 3 * s, vectors
    )


def test_the_line_that_raised_is_the_innermost_of_the_answer():
    def answer(K, y, alpha):
        def inner():
            return missing  # noqa: F821

        return inner()

    assert ": return missing" in check("07.2", answer).says


def test_differences_are_of_numbers_to_the_tolerance():
    assert _difference(1e-12, 0.0, 1e-8) == "" == _difference([1e6 + 1e-3], [1e6], 1e-8)
    assert "off by" in _difference(1e-7, 0.0, 1e-8) and "shape (2,)" in _difference(
        [1, 2], [[1, 2]], 1e-8
    )
    assert (
        "complex" in _difference([1.0, 1j], [1.0, 0.0], 1e-8)
        and _difference([1 + 0j], [1.0], 1e-8) == ""
    )


def own(draw, answer, **mistakes):
    return dict(draw=draw, answer=answer, mistakes=mistakes)


@pytest.fixture
def table_of_one(monkeypatch):
    def put(exercise):
        monkeypatch.setattr(
            exercises, "_answer_key", lambda chapter, name="chapter": {"00.1": exercise}
        )

    return put


def test_a_mistake_explains_all_inputs_or_none(table_of_one):
    table_of_one(own(parity, lambda p: p**2, doubled=lambda p: 2 * p**2))
    assert check("00.1", lambda p: 2 * p**2, rng=0).says == "doubled"
    assert check("00.1", lambda p: 2 * p**2 if p % 2 else p**3, rng=0).says != "doubled"


@pytest.mark.second_route("Verdict", "check", "a record of every call")
def test_the_verdict_keeps_the_first_input_that_failed(table_of_one):
    calls = []
    table_of_one(own(parity, lambda p: p**2))
    verdict = check(
        "00.1", lambda p: calls.append(p) or (p**2 + 1 if len(calls) in (3, 5) else p**2), rng=0
    )
    assert verdict.inputs == (calls[2],) and verdict.given == calls[2] ** 2 + 1


def test_inputs_are_fresh_as_many_as_asked_for_and_safe_from_the_answer(table_of_one):
    table_of_one(own(lambda rng: (rng.normal(size=3),), lambda v: v.sum()))
    seen = []

    def answer(v):
        seen.append(v.tolist())
        total = v.sum()
        v[:] = 0
        return total

    assert all(check("00.1", answer, trials=n).passed for n in (3, 30)) and len(seen) == 33
    assert len(set(map(tuple, seen))) == 33
    assert check("00.1", answer, rng=5).passed and check("00.1", answer, rng=5).passed
    assert seen[33:45] == seen[45:] and tuple(seen[33]) not in set(map(tuple, seen[:33]))


def test_edges_are_tried_and_an_answer_may_be_missing_on_some_inputs(table_of_one):
    table_of_one(own(parity, lambda p: p**2) | {"edges": lambda rng: [(0,)]})
    assert check("00.1", lambda p: p**2 if p else 1).inputs == (0,)
    assert "your answer is nothing" in check("00.1", lambda p: p**2 if p else None).says
    assert "no answer yet" in check("00.1", lambda p: None).says


@pytest.mark.second_route("check_exercises", "impostors refused")
def test_a_table_whose_mistakes_are_not_told_apart_is_refused(table_of_one):
    good = own(parity, lambda p: p**2, doubled=lambda p: 2 * p**2)
    table_of_one(good)
    assert check_exercises("00") == 2
    for bad, words in (
        (
            good | {"mistakes": good["mistakes"] | {"twice": lambda p: p**2 + p**2}},
            "'twice' got the verdict",
        ),
        (good | {"mistakes": {"none": lambda p: p * p}}, "'none' got the verdict"),
        (good | {"answer": lambda p: math.nan}, "its own solution is refused"),
    ):
        table_of_one(bad)
        with pytest.raises(AssertionError, match=words):
            check_exercises("00")
