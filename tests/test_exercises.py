"""check: verdicts, general diagnoses, the hundred wrong answers, draws that are not blind"""
import math

import numpy as np
import pytest
from rkhs_notes.diagnoses import _TURNS, _Case, _diagnosis
from rkhs_notes.exercises import _CHAPTERS, _answer_key, check, exercise_table

from wrong_answers import WRONG, table, verdicts


def said(solution, answer, draw, mistakes=None, trials=12):
    "What is said of an answer beside a solution, both plain functions"
    rng = np.random.default_rng(5)
    inputs = [draw(rng) for _ in range(trials)]
    arrays = ([np.asarray(f(*a), dtype=float) for a in inputs] for f in (answer, solution))
    return _diagnosis(_Case(inputs, *arrays, answer, solution), mistakes or {}, 1e-8)


def vectors(rng):
    return rng.normal(size=4), float(rng.uniform(0.5, 2))


def squares(rng):
    return rng.normal(size=(4, 4)), int(rng.integers(2, 7))


def shares(rng):
    return float(rng.uniform(0.05, 0.95)), float(rng.uniform(1, 2))


@pytest.mark.parametrize("words, turn", [(words, turn) for words, _, turn in _TURNS])
def test_every_row_of_the_table_of_turns(words, turn):
    def vector(v, s): return np.r_[v, s]
    def square(A, p): return A**p - 0.3
    if "tails" in words or "cosine" in words or "logarithm" in words:
        found = said(lambda p, s: p, lambda p, s: turn(p), shares)
    elif any(part in words for part in ("diagonal", "transposed", "columns")):
        found = said(square, lambda A, p: turn(square(A, p)), squares)
    else:
        found = said(vector, lambda v, s: turn(vector(v, s)), vectors)
    start, end = words.split("{}")
    assert start in found and end in found, (words, found)


@pytest.mark.parametrize("words, slip", {
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
}.items())
def test_what_is_said_of_a_number(words, slip):
    with np.errstate(all="ignore"):
        assert words in said(lambda v, s: v @ v * s, slip, vectors)


@pytest.mark.parametrize("words, slip", {
    "p − 1 in place of p": lambda A, p: A @ A.T * (p - 1) ** 3,
    "A, transposed, in place of A": lambda A, p: A.T @ A * p**3,
    "but for the diagonal": lambda A, p: (A @ A.T + np.eye(4)) * p**3,
    "but for what is below": lambda A, p: A @ A.T * p**3 + np.tril(A, -1),
    "right rows": lambda A, p: (A @ A.T * p**3)[[1, 0, 3, 2]],
    "some signs": lambda A, p: A @ A.T * p**3 * np.sign(A),
    "a number that changes from input to input": lambda A, p: A @ A.T * p**3 * np.exp(A[0, 0]),
    "A above its diagonal in place of A": lambda A, p: np.triu(A, 1) @ np.triu(A, 1).T * p**3,
    "A without its diagonal in place of A": lambda A, p: (
        lambda B: B @ B.T * p**3)(A - np.diag(A.diagonal())),
    "right to 2 digits": lambda A, p: A @ A.T * p**3 * (1 + 0.007 * np.cos(A)),
}.items())
def test_what_is_said_of_a_matrix(words, slip):
    assert words in said(lambda A, p: A @ A.T * p**3, slip, squares)


def test_exchanged_arguments_and_shapes():
    def two(rng):
        return rng.normal(size=3), rng.normal(size=3)
    assert "x and y exchanged" in said(lambda x, y: x - 2 * y, lambda x, y: y - 2 * x, two)
    assert "the right numbers" in said(lambda x, y: x - y, lambda x, y: (x - y)[:, None], two)
    assert "the sum of your numbers" in said(lambda x, y: x @ y, lambda x, y: x * y, two)
    assert "first row is missing" in said(lambda x, y: x - y, lambda x, y: (x - y)[1:], two)


@pytest.mark.parametrize("words, solution, slip", [
    ("−v and −s in place of v and s", lambda v, s: 4 - v.sum() - s + s * v.sum(),
     lambda v, s: 4 + v.sum() + s + s * v.sum()),
    ("√v in place of v", lambda v, s: s + np.sum(v**2), lambda v, s: s + np.sum(v)),
    ("log10 in place of log2", lambda v, s: 1 + math.log2(s), lambda v, s: 1 + math.log10(s)),
    ("cos in place of sin", lambda v, s: s + np.sin(v), lambda v, s: s + np.cos(v)),
    ("mean in place of sum", lambda v, s: s + np.sum(v, axis=0), lambda v, s: s + np.mean(v)),
    ("the last term in place of sum", lambda v, s: s + sum(x * s for x in v), lambda v, s: s + v[-1] * s),
])
def test_what_is_said_of_a_slip_in_the_middle(words, solution, slip):
    assert words in said(solution, slip, vectors)


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
    assert all(verdict.inputs is not None for *_, verdict in found
               if not verdict.says.startswith("no answer"))


@pytest.mark.parametrize("seed", range(2))
def test_the_draws_are_not_blind(seed):
    for number, slip, answer in WRONG:
        assert not check(number, answer, trials=10, rng=100 + seed).passed, slip


@pytest.mark.parametrize("number, answer", [
    ("11.2", lambda T0, T: (1 + np.sum(np.abs(T) >= abs(T0))) / (len(T) + 1)),
    ("11.2", lambda T0, T: np.mean(T >= T0)),
    ("15.3", lambda alpha: int(1 / alpha) - 1),
    ("15.3", lambda alpha: int(1 / alpha)),
    ("00.1", lambda A, x, y: abs(exercise_table("00.1")["answer"](A, x, y))),
    ("01a.3", lambda x, y: x**2 * y / 2 - x**3 / 6),
    ("10.2", lambda n: round(n / 2)),
    ("16a.1", lambda b, r: 2 * r * b / (2 * r * b + 1))])
def test_one_draw_is_enough_where_it_must_be(number, answer):
    assert not any(check(number, answer, trials=1, rng=seed).passed for seed in range(8))


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
        return b @ K @ missing                                               # noqa: F821
    verdict = check("07.2", answer)
    assert "NameError" in verdict.says and "return b @ K @ missing" in verdict.says
    assert verdict.inputs is not None
    assert "written **" in check("07.2", lambda K, y, alpha: K ^ 2).says
    assert "penalty" in check("05.1", lambda K, y, lam: np.linalg.inv(0 * K)).says


def test_kinds_that_are_no_numbers():
    for given, words in ((["a", "b"], "list"), (lambda: 1, "function"), (1 + 2j, "complex"),
                         ({"a": 1}, "dict")):
        says = check("07.2", lambda K, y, alpha, given=given: given).says
        assert words in says and "expected numbers" in says
    once = iter([1.0])
    assert "nothing" in check("07.2", lambda K, y, alpha: next(once, None)).says
