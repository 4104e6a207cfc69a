"""Choosing a kernel for a test: the variance of MMD², the kernel of largest ratio, the split that uses it."""

from functools import partial

import numpy as np
import pytest

from rkhs_notes import Rank1
from rkhs_notes.deeper.power import choose_kernel, mmd2_variance
from rkhs_notes.deeper.two_samples import gaussian_grid, mmd_test, mmd_test_split
from rkhs_notes.deeper.zoo import Delta, Mahalanobis
from rkhs_notes.engines.functions.measures import Measure
from rkhs_notes.engines.solving.searches import gradient_through
from rkhs_notes.engines.testing.criteria import criterion
from rkhs_notes.engines.testing.discrepancies import DistanceInduced, mmd2_u, witness
from rkhs_notes.kernels import Constant, Gaussian, Linear, Polynomial

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(20, 3)), rng.normal(size=(31, 3)) + 0.4
POOL = np.r_[X, Y]


@pytest.mark.second_route("mmd2_variance", "the values of the witness, and draws")
@pytest.mark.parametrize("k", [Gaussian(1.3), Linear(), Polynomial(2), DistanceInduced()], ids=str)
def test_the_variance_is_that_of_the_witness(k):
    f = witness(k, X, Y, normalized=False)
    expected = 4 * f(X).var(ddof=1) / 20 + 4 * f(Y).var(ddof=1) / 31
    assert mmd2_variance(k, X, Y) == pytest.approx(expected, rel=1e-10)
    assert mmd2_variance(k, Y, X) == pytest.approx(expected, rel=1e-10)
    assert mmd2_variance(3 * k, X, Y) == pytest.approx(9 * expected, rel=1e-10)


def test_the_variance_is_that_of_draws():
    draw, k = np.random.default_rng(1), Gaussian(1.0)
    pairs = [(draw.normal(size=60), draw.normal(size=40) + 1) for _ in range(600)]
    found = np.var([mmd2_u(k, A, B) for A, B in pairs])
    assert np.mean([mmd2_variance(k, A, B) for A, B in pairs]) == pytest.approx(found, rel=0.25)


def test_far_away_and_among_constants_nothing_changes():
    expected = mmd2_variance(Linear(), X, Y)
    assert mmd2_variance(Linear(), X + 1e6, Y + 1e6) == pytest.approx(expected, rel=1e-6)
    assert mmd2_variance(Constant(1e6) + Linear(), X, Y) == pytest.approx(expected, rel=1e-6)
    assert mmd2_variance(Constant(2.0), X, Y) == 0


@pytest.mark.parametrize("k", [Gaussian(1.3), Polynomial(2, offset=0.8)], ids=str)
def test_the_criterion_is_the_ratio_and_its_matrix_the_gradient(k):
    own = sum(4 * np.sum(k.diag(A) ** 2) / len(A) ** 4 for A in (X, Y))
    value, M = criterion(k, POOL, 20)
    assert value == pytest.approx(
        mmd2_u(k, X, Y) / (mmd2_variance(k, X, Y) + own) ** 0.5, rel=1e-10
    )
    assert np.array_equal(M, M.T)
    for name, slope in gradient_through(k, POOL, M).items():
        at = k.get_params()[name]
        if isinstance(at, float):
            up, down = (
                criterion(k.with_params(**{name: at + e}), POOL, 20)[0] for e in (1e-5, -1e-5)
            )
            assert slope == pytest.approx((up - down) / 2e-5, rel=1e-4, abs=1e-8)


@pytest.mark.second_route("choose_kernel", "a search over a grid, and the column that differs")
def test_the_kernel_chosen_has_the_largest_ratio():
    draw = np.random.default_rng(2)
    A, B = draw.normal(size=80), draw.normal(size=70) + 0.8
    best = choose_kernel([Gaussian(1.0)], A, B, max_iter=100)
    pool, widths = np.r_[A, B][:, None], 2.0 ** np.linspace(-6, 8, 150)
    largest = max(criterion(Gaussian(w), pool, 80)[0] for w in widths)
    assert criterion(best, pool, 80)[0] >= largest - 1e-6
    A, B = draw.normal(size=(2, 150, 6))
    B[:, 4] *= 2.5
    chosen = choose_kernel(None, A, B)
    assert type(chosen) is Mahalanobis and np.argmin(chosen.scales) == 4
    start = max(criterion(Gaussian(g.bandwidth), np.r_[A, B], 150)[0] for g in gaussian_grid(A, B))
    assert criterion(chosen, np.r_[A, B], 150)[0] > start


def test_a_kernel_without_parameters_is_chosen_from_the_list():
    assert choose_kernel([Constant(1.0) + Linear(), Linear()], X, Y) is not None
    assert choose_kernel([Linear()], X, Y) == Linear()


def test_a_function_chooses_on_the_first_part():
    seen = []

    def choose(A, B):
        seen.append((len(A), len(B)))
        return Gaussian(2.0)

    r = mmd_test_split(choose, X, Y, 0.25, 49, rng=0)
    assert seen == [(5, 8)] and r.witness.k == Gaussian(2.0) and len(r.witness.Z) == 15 + 23
    same = mmd_test_split([Gaussian(2.0)], X, Y, 0.25, 49, rng=0)
    assert same.pvalue == r.pvalue and same.statistic == r.statistic
    found = mmd_test_split(partial(choose_kernel, None), X, Y + 2, n_permutations=49, rng=0)
    assert found.pvalue == 0.02


def test_the_level_needs_the_split():
    draw, cheat, honest = np.random.default_rng(3), 0, 0
    for _ in range(40):
        A, B = draw.normal(size=(2, 30, 10))
        cheat += mmd_test(choose_kernel(None, A, B), A, B, 19, rng=draw).pvalue <= 0.05
        choose = partial(choose_kernel, None)
        honest += mmd_test_split(choose, A, B, 0.5, 19, rng=draw).pvalue <= 0.05
    assert honest <= 7 < cheat


def test_a_classifier_trained_on_other_points_keeps_the_level():
    draw, found = np.random.default_rng(4), 0
    for _ in range(60):
        A, B = draw.normal(size=(2, 60, 2))
        w = A[:30].mean(axis=0) - B[:30].mean(axis=0)
        by_sign = Rank1(lambda Z, w=w: np.sign(Z @ w))
        found += mmd_test(by_sign, A[30:], B[30:], 19, rng=draw).pvalue <= 0.05
    assert found <= 10


WEIGHTED = Measure(X, np.arange(1.0, 21))


@pytest.mark.parametrize(
    "call, says",
    [
        (lambda: mmd2_variance(Gaussian(1.0), WEIGHTED, Y), "without weights"),
        (lambda: mmd2_variance(Gaussian(1.0), X[:1], Y), "two"),
        (lambda: choose_kernel([Constant(1.0)], X, Y), "constant"),
        (lambda: choose_kernel([], X, Y), "at least one kernel"),
        (lambda: choose_kernel(None, WEIGHTED, Y), "without weights"),
        (lambda: mmd_test_split("median", X, Y), "list of at least one kernel"),
        (lambda: mmd_test_split(lambda A, B: 3.0, X, Y), "what kernels"),
        (lambda: mmd_test_split(lambda A, B: Gaussian(), WEIGHTED, WEIGHTED), "without weights"),
    ],
)
def test_what_does_not_fit_is_refused(call, says):
    with pytest.raises((TypeError, ValueError), match=says):
        call()


def test_kernels_on_other_points():
    assert mmd2_variance(Delta(), ["a", "b", "a"], ["b", "b", "c"]) > 0


def test_points_far_from_zero_are_named_as_the_cause():
    X = np.random.default_rng(0).normal(size=(2, 40, 3)) + 1e7
    with pytest.raises(ValueError, match="subtract the mean"):
        choose_kernel([Linear()], *X)
    assert isinstance(choose_kernel([Linear()], *(X - X.mean(axis=(0, 1)))), Linear)


def test_two_copies_of_one_sample_are_called_so_and_no_constant_kernel():
    P = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ValueError, match="mean is the same over X and over Y: are they one sample"):
        choose_kernel(None, P, P)
    with pytest.raises(ValueError, match="constant there"):
        choose_kernel([Gaussian(1e9)], P, P[::-1] + 1.0)
