"""What the errors are made of: laws, limits and signs, numbers that are none, words that a terminal lacks."""

import io
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from rkhs_notes import Gaussian, Linear, StreamingRidge, leave_groups_out
from rkhs_notes.base.errors import (
    ConvergenceFailure,
    IndefiniteKernel,
    LawBroken,
    NotPositiveDefinite,
    at_edge,
    expect_fail,
    finite,
    not_negative,
    require,
    say,
    settled,
)


@pytest.mark.second_route("require", "the next float above the bound")
@pytest.mark.second_route("ConvergenceFailure", "LawBroken", "raised where it should be")
def test_a_law_holds_up_to_its_bound_and_nan_breaks_it():
    assert require("a law", 2.0, 2.0) == 2.0 and settled("a gap", 2.0, 2.0, "") is None
    for value, said in ((np.nextafter(2.0, 3.0), "is 2, allowed 2"), (np.nan, "is not a number")):
        with pytest.raises(LawBroken, match=f"^a law: {said}. Why.$"):
            require("a law", value, 2.0, "Why.")
        with pytest.raises(ConvergenceFailure, match="^a gap is (2|nan), wanted 2. Why.$"):
            settled("a gap", value, 2.0, "Why.")
    with pytest.raises(LawBroken):
        require("a law", 0.0, np.nan)


@pytest.mark.second_route("IndefiniteKernel", "raised where it should be")
def test_one_negative_number_among_many_is_named():
    values = np.array([3.0, -1e-3, 2.0, -5e-4])
    with pytest.raises(IndefiniteKernel, match="^k is .*: at point 1, k.x, x. is -0.001 < 0"):
        not_negative(values, "k(x, x)", "k")
    with pytest.raises(IndefiniteKernel, match="^k is .*: the trace is -2 < 0"):
        not_negative(-2.0, "the trace", "k")
    assert not_negative(np.abs(values), "k(x, x)", "k") is not None


def test_what_rounding_explains_may_be_negative_and_no_more():
    values, rounding = np.array([-1.0, -0.5, 4.0]), np.array([2.0, 0.5, 0.0])
    assert not_negative(values, "v", "k", rounding) is values
    rounding[1] = 0.45
    with pytest.raises(
        IndefiniteKernel, match="at point 1, v is -0.5 < 0"
    ):  # not -1, which is explained
        not_negative(values, "v", "k", rounding)


def test_what_overflows_is_told_from_what_is_no_number():
    large = np.array([1e308, 1e308, -1e300])  # the sum overflows, no entry does
    assert finite(large, "f") is large
    for infinite in (np.inf, -np.inf):
        with pytest.raises(ValueError, match="^f overflows float64; rescale X, or use float64.$"):
            finite(np.array([1.0, infinite]), "f")
    with pytest.raises(ValueError, match="^f overflows float64: it is NaN.*; less.$"):
        finite(np.array([1.0, np.nan, np.inf]), "f", "less")
    S = sp.csr_array(np.diag([1.0, 2.0, np.inf]))
    with pytest.raises(ValueError, match="^f overflows float64;"):
        finite(S, "f")
    with pytest.raises(ValueError, match="NaN"):
        finite(float("nan"), "f")


@pytest.mark.second_route("expect_fail", "pytest")
def test_what_should_fail_and_does_not_fails():
    with pytest.raises(
        AssertionError, match="ValueError or TypeError was expected: this check cannot fail"
    ):
        with expect_fail((ValueError, TypeError)):
            pass
    with pytest.raises(AssertionError, match="raised ValueError, but its message lacks 'two': one"):
        with expect_fail(ValueError, contains="two"):
            raise ValueError("one")
    with pytest.raises(KeyError):
        with expect_fail(ValueError):
            raise KeyError("one")


def test_a_terminal_without_greek_letters_gets_question_marks(monkeypatch):
    plain = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", plain)
    say("λ = 1")
    with expect_fail(ValueError):
        raise ValueError("‖f‖")
    plain.flush()
    assert plain.buffer.getvalue().split(b"\n")[0].strip() == b"? = 1"
    assert b"ValueError: ?f?" in plain.buffer.getvalue()


@pytest.mark.parametrize(
    "call",
    (
        lambda X, y: leave_groups_out(Gaussian(1.0), X, y, 1e-18, [0, 0, 1, 1, 2, 2]),
        lambda X, y: StreamingRidge((Linear() + Linear()).feature_map(1)).update(X, y).solve(1e-18),
    ),
)
def test_the_next_move_names_an_argument_of_the_function_that_was_called(call):
    with pytest.raises(NotPositiveDefinite, match=r"lam I has .* Try a larger lam, such as "):
        call(np.repeat([0.0, 1.0], [5, 1]), np.arange(6.0))


def test_a_best_at_an_edge_is_told_and_warned_of_where_the_score_still_falls():
    def edge(scores, tried=(3.0, 1.0, 2.0)):
        return at_edge("lam", tried, scores, 0.1, "go on")

    with pytest.warns(
        UserWarning, match="^lam = 3 is the largest that was tried, and .* beyond: go on[.]$"
    ):
        assert edge([0.0, 2.0, 1.0]) == "lam = 3 is the largest that was tried"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (
            edge([1.0, 0.95, 1.0]) == "lam = 1 is the least that was tried"
        )  # flat: said, not warned of
        assert edge([1.0, 1.0, 0.0]) == ""
        assert edge(
            [9.0, 5.0, 0.05, 0.0], [1.0, 2.0, 3.0, 4.0]
        )  # the last step counts, not the first
        assert at_edge("lam", [1.0, 2.0], [0.0, 1.0], 0.1, "go on") == ""  # two are no search
