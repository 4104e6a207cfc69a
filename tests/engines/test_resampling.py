"""Tests by resampling: p-values, labels, quadratic forms in tiles, and the result object."""

import math
import pickle
from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.stats import binomtest, chi2, chisquare, gamma, permutation_test

import rkhs_notes as rn
from rkhs_notes import settings
from rkhs_notes.deeper.dependence import (
    conditional_independence_test,
    dhsic_test,
    generalized_covariance_test,
)
from rkhs_notes.engines.testing.resampling import (
    TestResult,
    binomial_interval,
    chi2_mixture,
    critical_value,
    gamma_null,
    in_batches,
    linear_forms,
    quadratic_forms,
    random_labels,
    random_signs,
    resampled_pvalue,
    step_down,
    studentised_max,
)

rng = np.random.default_rng(0)


@pytest.mark.second_route("resampled_pvalue", "SciPy's permutation test")
def test_the_pvalue_is_that_of_scipy():
    x, y = rng.normal(size=12), rng.normal(size=9) + 0.4

    def gap(a, b, axis):
        return a.mean(axis=axis) - b.mean(axis=axis)

    theirs = permutation_test((x, y), gap, n_resamples=499, vectorized=True, alternative="greater")
    assert resampled_pvalue(theirs.statistic, theirs.null_distribution) == pytest.approx(
        theirs.pvalue
    )


@pytest.mark.second_route("critical_value", "the p-value on both sides")
@pytest.mark.parametrize("B", [1, 19, 20, 99, 100, 999])
@pytest.mark.parametrize("level", [0.01, 0.05, 0.1, 0.5])
def test_the_critical_value_is_where_p_passes_the_level(B, level):
    null = rng.normal(size=B)
    c = critical_value(null, level)
    if np.isfinite(c):
        assert resampled_pvalue(np.nextafter(c, np.inf), null) <= level < resampled_pvalue(c, null)
    else:
        assert resampled_pvalue(null.max() + 1, null) > level


def test_ties_and_rounding_count_against_rejection():
    assert resampled_pvalue(1.0, np.ones(99)) == 1.0
    assert resampled_pvalue(1.0 + 1e-15, np.ones(99), rounding=1e-14) == 1.0
    assert resampled_pvalue(1.0 + 1e-15, np.ones(99)) == 0.01


@pytest.mark.second_route("binomial_interval", "SciPy's binomial test")
def test_the_binomial_interval_holds_its_confidence():
    low, high = binomial_interval(0.05, 2000)
    assert (
        binomtest(low, 2000, 0.05).pvalue > 0.005 and binomtest(high + 6, 2000, 0.05).pvalue < 0.01
    )
    assert binomial_interval(0.5, 1) == (0, 1)


@pytest.mark.parametrize(
    "level, n, confidence", [(0.05, 400, 0.99), (0.5, 37, 0.9), (0.2, 100, 0.999)]
)
def test_the_binomial_interval_leaves_half_of_the_rest_on_each_side(level, n, confidence):
    "Sums of the law itself: what lies beyond an end is at most (1 − confidence)/2, and with that end more"
    low, high = binomial_interval(level, n, confidence)
    p = Fraction(level).limit_denominator(100)
    law = [math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(n + 1)]
    rest = (1 - Fraction(confidence)) / 2
    for beyond, end in ((law[:low], law[low]), (law[high + 1 :], law[high])):
        assert sum(beyond) <= rest < sum(beyond) + end


@pytest.mark.second_route("quadratic_forms", "one product a vector")
@pytest.mark.parametrize("mib", [64, 0.02, 1e-4])
@pytest.mark.parametrize("single", [False, True])
def test_quadratic_forms_against_the_definition(mib, single):
    A = rng.normal(size=(77, 77))
    A = A + A.T
    for S in (random_labels(30, 77, 21, 0), random_signs(77, 21, 0)):
        with settings.using(block_mib=mib):
            got, made = (
                quadratic_forms(A, S, single),
                quadratic_forms(lambda i, j: A[i, j], S, single),
            )
        expected = [s @ A @ s for s in S.T.astype(float)]
        np.testing.assert_allclose(got, expected, atol=1e-3 if single else 1e-11)
        np.testing.assert_array_equal(got, made)


@pytest.mark.parametrize("kind", ["i1", "u1", bool, "f4", "f8", "g"])
def test_sums_of_counts_are_theirs(kind):
    r, S = np.full((10, 2), 100).astype(kind), np.ones((10, 3), np.int8)
    assert linear_forms(r, S).tolist() == [[10 * int(r[0, 0])] * 2] * 3
    assert linear_forms(r[:, 0], -S).tolist() == [-10 * int(r[0, 0])] * 3


def test_a_tile_is_asked_for_once_and_above_the_diagonal():
    asked = []

    def tile(rows, columns):
        asked.append((rows.start, columns.start))
        return np.ones((rows.stop - rows.start, columns.stop - columns.start))

    with settings.using(block_mib=0.01):
        quadratic_forms(tile, random_labels(50, 200, 7, 0))
    assert len(set(asked)) == len(asked) > 3 and all(i <= j for i, j in asked)


@pytest.mark.second_route("in_batches", "all draws at once")
@pytest.mark.parametrize(
    "draw", [lambda b, r: random_labels(3, 13, b, r), lambda b, r: random_signs(13, b, r)]
)
def test_draws_do_not_depend_on_the_memory(draw):
    def first(S):
        return (S.astype(float) * np.arange(13)[:, None]).sum(axis=0)

    whole = in_batches(draw, first, 13, 301, 5)
    np.testing.assert_array_equal(whole, first(draw(301, np.random.default_rng(5))))
    for mib in (1e-6, 1e-4, 2.7e-4):
        with settings.using(block_mib=mib):
            np.testing.assert_array_equal(in_batches(draw, first, 13, 301, 5), whole)


@pytest.mark.second_route("random_labels", "random_signs", "shares, counted")
def test_labels_have_the_right_size_and_are_uniform():
    S = random_labels(4, 9, 20_000, 3)
    assert S.shape == (9, 20_000) and (S.sum(axis=0) == 4).all()
    assert np.abs(S.mean(axis=1) - 4 / 9).max() < 4 * np.sqrt(4 / 9 * 5 / 9 / 20_000)
    signs = random_signs(9, 20_000, 3)
    assert set(np.unique(signs)) == {-1, 1} and np.abs(signs.mean(axis=1)).max() < 4 / np.sqrt(
        20_000
    )


class _Coarse(np.random.Generator):
    "Numbers of 4 bits: in nearly every row some are equal"

    def random(self, *shape, **kind):
        return np.floor(super().random(*shape, **kind) * 16) / np.float32(16)


def test_equal_random_numbers_leave_every_subset_equally_likely():
    S = random_labels(4, 9, 20_000, _Coarse(np.random.PCG64(1)))
    assert (S.sum(axis=0) == 4).all()
    subsets = np.unique(2 ** np.arange(9) @ S, return_counts=True)[1]
    assert len(subsets) == math.comb(9, 4) and chisquare(subsets).pvalue > 0.001


@pytest.mark.second_route("chi2_mixture", "gamma_null", "SciPy's laws")
def test_fitted_laws():
    tail, null = gamma_null(2.0, 3.0, 500, shift=-2.0)
    assert tail(1.3) == pytest.approx(gamma(4 / 3, scale=1.5).sf(3.3))
    assert tail(null[0]) == pytest.approx(1 - 0.5 / 500) and np.all(np.diff(null) > 0)
    assert type(tail(1e9)) is float and 0 < tail(1e9) < 1e-300
    draws = chi2_mixture([2.0], 20_000, 0)
    assert np.mean(draws > 2 * chi2(1).ppf(0.95)) == pytest.approx(0.05, abs=0.006)


def test_the_maximum_does_not_care_for_units():
    T, null = rng.normal(size=4), rng.normal(size=(199, 4))
    m0, m, z = studentised_max(T, null)
    for scale in (1e-300, 1e-12, 1e12):
        again = studentised_max(T * scale, null * scale)
        np.testing.assert_allclose(again[0], m0, rtol=1e-9)
        np.testing.assert_allclose(again[1], m, rtol=1e-9)
    assert m0 == z.max() and len(m) == 199


def test_a_constant_statistic_is_left_out():
    m0, m, _ = studentised_max([0.1 + 0.2, 1.0], np.c_[np.full(9, 0.3), np.arange(9.0)])
    alone, without, _ = studentised_max([1.0], np.arange(9.0)[:, None])
    assert m0 == alone < 0 and (m == without).all()
    assert studentised_max([1.0], np.ones((9, 1)))[0] == 0.0


@pytest.mark.second_route("studentised_max", "the definition, in a loop")
def test_the_step_down_maximum_by_its_definition():
    T, null = (
        rng.normal(size=5) + [0, 3, 0, 2, 0],
        rng.normal(size=(49, 5)) @ rng.normal(size=(5, 5)),
    )
    every = np.vstack([T, null])
    z = (every - every.mean(axis=0)) / every.std(axis=0)
    left, least, wanted = list(range(5)), 0.0, {}
    while left:
        first = max(left, key=lambda t: z[0, t])
        least = max(least, np.mean([max(row[left]) >= z[0, first] for row in z]))
        wanted[first] = least
        left.remove(first)
    p = step_down(T, null)
    np.testing.assert_allclose(p, [wanted[t] for t in range(5)], rtol=1e-12)
    m0, m, z0 = studentised_max(T, null)
    assert p.min() == resampled_pvalue(m0, m) and p.argmin() == z0.argmax()
    np.testing.assert_allclose(step_down(1e-200 * T, 1e-200 * null), p)
    np.testing.assert_allclose(
        step_down(np.append(T, 7.0), np.c_[null, np.full(49, 7.0)]), [*p, 1.0]
    )


def test_the_result_is_a_value():
    result = TestResult.from_draws(3.0, rng.normal(size=99), name="MMD²")
    again = pickle.loads(pickle.dumps(result))
    assert repr(again) == repr(result) and (again.null == result.null).all()
    assert result.pvalue == 0.01 and "p = 0.01" in repr(result) and "is rejected" in repr(result)
    with pytest.raises(ValueError):
        result.null[0] = 1.0
    assert result.rejects(0.01) and not result.rejects(0.009)
    ax = result.plot(plt.figure().gca())
    assert ax.get_xlabel() == "MMD²"
    plt.close("all")


k, ONE, TWO = rn.Gaussian(1.0), rng.normal(size=(12, 1)), rng.normal(size=(12, 1))
REPORTS = {
    "MMD²_U": (
        lambda: rn.mmd_test(k, ONE, TWO, 19, rng=0),
        "permutation",
        "both samples come from one distribution",
    ),
    "linear-time MMD²": (
        lambda: rn.mmd_test(k, ONE, TWO, 19, statistic="linear", rng=0),
        "swaps inside pairs",
        "both samples come from one distribution",
    ),
    **{
        f"MMD²_U, {null}": (
            lambda null=null: rn.mmd_test(k, ONE, TWO, 19, null=null, rng=0),
            method,
            "both samples come from one distribution",
        )
        for null, method in {"gamma": "gamma fit", "spectral": "spectral limit"}.items()
    },
    **{
        f"HSIC, {null}": (
            lambda null=null: rn.hsic_test(k, k, ONE, TWO, 19, null=null, rng=0),
            method,
            "the two sides are independent",
        )
        for null, method in {
            "permutation": "permutation",
            "cyclic": "cyclic pairings",
            "gamma": "gamma law",
        }.items()
    },
    "dHSIC": (
        lambda: dhsic_test([k] * 3, [ONE, TWO, ONE * TWO], 19, rng=0),
        "permutation",
        "the 3 variables are independent",
    ),
    "conditional HSIC": (
        lambda: conditional_independence_test(k, k, k, ONE, TWO, ONE + TWO, n_draws=19, lam=0.1),
        "gamma law",
        "the two sides are independent given Z",
    ),
    "conditional HSIC, wild": (
        lambda: conditional_independence_test(
            k, k, k, ONE, TWO, ONE + TWO, n_draws=19, lam=0.1, null="wild"
        ),
        "random signs",
        "the two sides are independent given Z",
    ),
    "generalized covariance": (
        lambda: generalized_covariance_test(k, ONE, TWO, ONE + TWO, lam=0.1),
        "normal multipliers",
        "X and Y are uncorrelated given Z",
    ),
    "KSD²": (
        lambda: rn.goodness_of_fit_test(k, np.negative, ONE, 0, 19),
        "wild bootstrap",
        "the sample comes from the law with this score",
    ),
}


@pytest.mark.parametrize("name", REPORTS)
def test_each_test_reports_its_statistic_its_null_and_what_it_tests(name):
    call, method, hypothesis = REPORTS[name]
    report = repr(call())
    assert report.startswith(f"{name.partition(',')[0]} = ") and f" ({method}" in report
    assert f". That {hypothesis} is" in report


FITTED = {
    "mmd_test": lambda B: rn.mmd_test(k, ONE, TWO, B, null="gamma"),
    "hsic_test": lambda B: rn.hsic_test(k, k, ONE, TWO, B, null="gamma"),
    "given Z": lambda B: conditional_independence_test(
        k, k, k, ONE, TWO, ONE + TWO, n_draws=B, lam=0.1
    ),
}


@pytest.mark.parametrize("name", FITTED)
def test_a_fitted_law_has_its_own_quantiles_and_no_draws(name):
    "The moments of its many quantiles give the law again, and that its 95 % point"
    few, many, most = map(FITTED[name], (19, 199, 20_000))
    assert "draws" not in repr(few) and repr(few) == repr(many)
    shift = few.fitted[2]
    mean, variance = most.null.mean() - shift, most.null.var()
    law = gamma(mean**2 / variance, loc=shift, scale=variance / mean)
    for level in (0.2, 0.05, 0.003):
        assert few.critical(level) == many.critical(level)
        assert few.critical(level) == pytest.approx(law.isf(level), rel=0.01)
        assert few.rejects(level) == (few.statistic >= few.critical(level))
    assert few.critical(few.pvalue) == pytest.approx(few.statistic)
    assert few.rejects(few.pvalue) and not few.rejects(np.nextafter(few.pvalue, 0))
    assert pickle.loads(pickle.dumps(few)).critical() == few.critical()
    with pytest.raises(ValueError, match="level"):
        few.critical(1.5)


def test_few_draws_draw_and_print_too():
    result = TestResult.from_draws(3.0, [1.0])
    assert result.pvalue == 0.5 and "is not rejected" in repr(result) and "inf" not in repr(result)
    result.plot(plt.figure().gca())
    plt.close("all")


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: resampled_pvalue(np.nan, [1.0]), "statistic"),
        (lambda: resampled_pvalue(1.0, []), "empty"),
        (lambda: resampled_pvalue(1.0, [[1.0]]), "(B,)"),
        (lambda: resampled_pvalue(1.0, [1.0], rounding=-1), "rounding"),
        (lambda: critical_value([1.0], 0), "level"),
        (lambda: random_labels(5, 4, 3, 0), "n_first"),
        (lambda: random_labels(2, 4, 0, 0), "n_draws"),
        (lambda: random_signs(4, 3, -1), "seed"),
        (lambda: gamma_null(0, 1), "mean"),
        (lambda: studentised_max([1.0], [1.0, 2.0]), "(B, t)"),
        (lambda: TestResult(np.inf, 0.5, [1.0]), "statistic"),
        (lambda: chi2_mixture(["a"], 3, 0), "eigenvalues"),
    ],
)
def test_bad_input_is_refused_in_words(call, words):
    with pytest.raises((TypeError, ValueError)) as error:
        call()
    assert words in str(error.value)


def test_draws_beyond_memory_are_refused_and_batches_are_not():
    with settings.using(result_mib=1, block_mib=1):
        for draw in (lambda b: random_signs(10, b, 0), lambda b: random_labels(3, 10, b, 0)):
            with pytest.raises(MemoryError, match="fewer draws"):
                draw(2 * 10**5)
            assert draw(10**5).shape == (10, 10**5)
        sums = in_batches(
            lambda b, rng: random_signs(10, b, rng), lambda S: S.sum(axis=0), 10, 2 * 10**5, 0
        )
    assert sums.shape == (2 * 10**5,) and abs(sums.mean()) < 5 * (10 / 2e5) ** 0.5
