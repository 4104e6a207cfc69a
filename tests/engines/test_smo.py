"""The engine of the machines by itself: torn pairs, both signs, rows that give way, near misses, ties."""

import warnings
from collections import OrderedDict
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

from rkhs_notes.base.errors import IndefiniteKernel
from rkhs_notes.deeper.machines import svc_multiclass
from rkhs_notes.deeper.variants import one_class
from rkhs_notes.engines.kernels.laws import FullGram, to_unit_length
from rkhs_notes.engines.machines.boxes import BoxProblem, PairDistances, _Recent
from rkhs_notes.engines.machines.kernel_machines import svc
from rkhs_notes.engines.machines.pair_steps import _ascend
from rkhs_notes.engines.machines.smo import _summed_in_double, solve_box
from rkhs_notes.engines.machines.support import certified, gap_of, require_kernel, votes
from rkhs_notes.kernels import Gaussian, Kernel, Linear

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
SIGNS = np.where(X[:, 0] + 0.5 * RNG.normal(size=40) > 0, 1.0, -1.0)
k = Gaussian(1.0)


def priced(C):
    return BoxProblem(SIGNS, np.minimum(0, C * SIGNS), np.maximum(0, C * SIGNS))


def test_values_of_a_box_at_small_whole_numbers():
    b, f = np.array([2, 1, 3, 2], "i1"), np.array([100, 120, 50, 7], "i1")
    box = BoxProblem(np.zeros(4), np.full(4, -5.0), np.full(4, 4.0), eps=1.0)
    assert box.dual(b, f) == -8 - (200 + 120 + 150 + 14) / 2
    assert box.primal(b, f, 0) == (200 + 120 + 150 + 14) / 2 + 5 * (99 + 119 + 49 + 6)
    assert box.losses(np.array([100, 0], "u1").repeat(2)).tolist() == [4 * 99, 4 * 99, 0, 0]


# Ctrl-C


class Torn(list):
    "Its first change is followed by Ctrl-C"

    def __setitem__(self, place, value):
        super().__setitem__(place, value)
        if not hasattr(self, "is_torn"):
            self.is_torn = True
            raise KeyboardInterrupt


class Tearing(np.ndarray):
    def tolist(self):
        return Torn(super().tolist())


def test_ctrl_c_between_the_two_of_a_pair_moves_both():
    box, b = priced(1.0), np.zeros(40).view(Tearing)
    D = k(X).max() - k(X) + 1e-12
    steps, _, interrupted = _ascend(D, box.slopes(b, SIGNS), b, box, 1e-3, 100)
    assert interrupted and steps == 0 and np.count_nonzero(b) == 2 and b.sum() == 0


def test_ctrl_c_beside_the_steps_ends_the_search():
    calls = []

    def callback(steps, violation):
        calls.append(steps)
        raise KeyboardInterrupt

    found = solve_box(PairDistances(k, X), priced(100.0), callback=callback)
    assert len(calls) == 1 and not found.converged and found.violation > 1e-3
    assert abs(found.b.sum()) < 1e-12 * np.abs(found.b).sum()


# the optimum where Σ|b| is fixed, by another program


@pytest.mark.second_route(
    "BoxProblem", "PairDistances", "SmoResult", "solve_box", "SciPy's quadratic program"
)
@pytest.mark.parametrize("p", [SIGNS, X[:, 1]], ids=["classes", "tube"])
def test_both_signs_climb_to_the_optimum(p, n=6, size=1.5):
    box, K = BoxProblem(p[:n], -np.ones(n), np.ones(n), size=size), k(X[:n])
    i, j = p[:n].argmax(), p[:n].argmin()
    start = (np.arange(n) == i) * size / 2 - (np.arange(n) == j) * size / 2
    found = solve_box(PairDistances(k, X[:n]), box, start, tol=1e-8)
    both = np.kron(np.eye(2), np.ones(n))  # b = u − v with Σu = Σv = size / 2
    best = minimize(lambda w: (b := w[:n] - w[n:]) @ K @ b / 2 - p[:n] @ b, np.full(2 * n, size / 2 / n),
                    bounds=[(0, 1)] * (2 * n), constraints=LinearConstraint(both, size / 2, size / 2),
                    method="SLSQP", options={"ftol": 1e-12})  # fmt: skip
    assert found.converged and box.dual(found.b, found.f) == pytest.approx(-best.fun, abs=1e-6)
    assert np.abs(found.b).sum() == pytest.approx(size) and abs(found.b.sum()) < 1e-12


def test_the_worse_of_both_sides_and_the_middle_of_both_levels():
    box = BoxProblem(np.zeros(4), -np.ones(4), np.ones(4), size=2.0)
    b = np.array([0.5, 0.5, -0.5, -0.5])
    for g in (
        [1.0, 1.25, 4.0, 6.0],
        [4.0, 6.0, 1.0, 1.25],
    ):  # violations 0.25 and 2, levels 1.125 and 5
        assert box.violation(b, np.array(g)) == 2.0
        assert box.offset(b, np.array(g)) == (1.125 + 5.0) / 2
    box = BoxProblem(np.zeros(3), np.zeros(3), np.ones(3))
    assert (
        box.offset(np.array([0.0, 1.0, 1.0]), np.array([1.0, 2.0, 6.0])) == 1.5
    )  # between 1 and 2


# stored distances


def test_the_longest_unused_row_gives_way(n=9, room=3):
    recent, known, made = _Recent(n, np.dtype(float), 0, room), OrderedDict(), []

    def make(rows, places):
        made.extend(rows)
        recent.rows[places] = rows[:, None]

    for row in np.random.default_rng(1).integers(0, n, 200):
        count = len(made)
        [place] = recent.get(np.array([row]), make)
        assert (recent.rows[place] == row).all() and len(made) - count == (row not in known)
        known[row] = known.move_to_end(row) if row in known else None
        if len(known) > room:
            known.popitem(last=False)


@pytest.mark.parametrize("size, kind", [(1e-13, "f8"), (1e-11, "f4"), (1e11, "f4"), (1e13, "f8")])
def test_single_precision_only_within_its_range(size, kind):
    assert PairDistances(size * k, X, single=True).dtype == kind


def test_points_beyond_single_precision_are_seen_in_double():
    far = PairDistances(Gaussian(1e40), 1e40 * X, single=True)
    assert far.dtype == np.float64 and PairDistances(k, X, single=True).dtype == np.float32
    np.testing.assert_allclose(far.whole, PairDistances(k, X).whole, rtol=1e-9)


def test_what_single_precision_cannot_settle_goes_on_in_double():
    near, far = PairDistances(k, X), PairDistances(k, X + 1e8, single=True)  # 1e8 + 1 is 1e8
    assert far.dtype == np.float32
    right, found = solve_box(near, priced(10.0), tol=1e-6), solve_box(far, priced(10.0), tol=1e-6)
    assert found.converged and found.violation <= 1e-6
    assert priced(10.0).dual(found.b, found.f) == pytest.approx(
        priced(10.0).dual(right.b, right.f), rel=1e-6
    )


# near misses


class Table(Kernel):
    "Any matrix, looked up by row numbers"

    K: np.ndarray

    def _gram(self, X, Y, xp):
        return self.K[np.ix_(X[:, 0].astype(int), Y[:, 0].astype(int))]


def test_squared_distances_below_rounding_are_refused():
    edge = 16 * np.finfo(float).eps ** 0.75
    points = np.array([[0.0], [1.0]])
    pair = lambda below: Table(np.array([[1.0, 1 + below], [1 + below, 1.0]]))  # noqa: E731
    assert len(PairDistances(pair(edge / 3), points)) == 2
    with pytest.raises(IndefiniteKernel, match="at rows 0 and 1"):
        PairDistances(pair(3 * edge), points)


def test_a_start_that_misses_its_sum_is_refused():
    distances, start = PairDistances(k, X), np.where(SIGNS > 0, 1.0, 0.0)
    box = replace(priced(1.0), total=start.sum())
    assert solve_box(distances, box, start * (1 + 3e-10)).converged
    for other, words in (
        (box, "start sums"),
        (replace(box, size=start.sum()), r"start. sums|start sums"),
    ):
        with pytest.raises(ValueError, match=words):
            solve_box(distances, other, np.clip(start * (1 - 3e-9), 0, 1))


def test_converged_is_what_the_violation_says():
    distances, box, seen = PairDistances(k, X), priced(10.0), []
    for most in (10, 20, 40, 60, 80, 120, 10_000):
        found = solve_box(distances, box, max_iter=most)
        g = SIGNS - k(X) @ found.b
        violation = g[found.b < box.hi].max() - g[found.b > box.lo].min()
        assert found.violation == pytest.approx(max(0.0, violation), abs=1e-9)
        assert found.converged == (violation <= 1e-3)
        seen.append(violation)
    assert any(1e-3 < violation < 1 for violation in seen) and seen[-1] <= 1e-3


def test_the_gap_of_a_hard_margin_by_hand():
    box = BoxProblem(np.array([-1.0, 1.0]), np.array([-np.inf, 0]), np.array([0, np.inf]))
    b = 0.9 * np.array([-0.5, 0.5])  # nine tenths of the machine of −1 and 1, whose margin is 0.9
    gap, dual = gap_of(box, b, 2 * b, 0.0)
    assert dual == pytest.approx(0.9 - 0.405) and gap == pytest.approx((0.5 - dual) / 0.5)
    b = 90 * np.array([-0.5, 0.5])  # the margin is 90: feasible, and far too long
    gap, dual = gap_of(box, b, 2 * b, 0.0)
    assert dual == pytest.approx(90 - 4050) and gap == pytest.approx((4050 - dual) / 4050)


@pytest.mark.parametrize("C", [1.0, 1e6, 1e12, 1e13])
def test_prices_that_no_point_reaches_leave_the_gap_as_it_is(C):
    "Up to where 64 roundings of C hide it: both terms of a gap have so many digits"
    b = 0.9 * np.array([-0.5, 0.5])
    machine = 4 * b  # decisions −1.8 and 1.8: no loss at any price, and too long
    box = BoxProblem(np.array([-1.0, 1.0]), np.array([-C, 0]), np.array([0, C]))
    gap, dual = gap_of(box, b, machine, 0.0)
    assert gap == pytest.approx((b @ machine / 2 - dual) / (b @ machine / 2), rel=1e-12)


def test_no_kernel_by_a_hair():
    box, b, K = (
        BoxProblem(np.zeros(2), -np.ones(2), np.ones(2)),
        np.array([-0.5, 0.5]),
        2 * np.ones((2, 2)),
    )
    for share, refused in (0.3, False), (3, True):
        f = -2e-9 * share * np.sign(b)  # bᵀf = −2e-9 share, where rounding is 1e-9 · 1² · 2
        with pytest.raises(IndefiniteKernel) if refused else np.errstate():
            certified(Table(K), np.arange(2.0)[:, None], box, b, f, 0.0)


def test_an_eigenvalue_below_rounding_is_refused(n=6):
    P, Q = (
        np.arange(float(n))[:, None],
        np.linalg.qr(np.random.default_rng(3).normal(size=(n, n)))[0],
    )
    edge = n * FullGram(k, X, k(X), *to_unit_length(k(X))).rounding  # of the cosines of n points

    def low(least):
        K = Q @ np.diag([least, 1, 1, 1, 1, 1]) @ Q.T
        root = np.sqrt(K.diagonal())
        return Table((K + K.T) / 2 / root / root[:, None])

    require_kernel(low(-edge / 10), P)
    with pytest.raises(IndefiniteKernel, match="cᵀKc"):
        require_kernel(low(-20 * edge), P)


# ties, and weights


def test_what_misses_a_bound_by_rounding_is_not_free():
    prices = np.array([0.3, 0.7, 0.3, 0.7])
    p, g = np.array([1.0, 1.0, -1.0, -1.0]), np.array([0.4, 0.1, -0.2, 0.9])
    box = BoxProblem(p, np.minimum(0, p * prices), np.maximum(0, p * prices))
    for b in (p * prices, np.array([0.3, 0.0, -0.3, 0.0])):
        near = np.where(b, b * (1 - 2**-52), 1e-17 * p)
        assert (near != b).all() and box.offset(near, g) == box.offset(b, g)
        assert box.offset(b * (1 - 1e-9), g) != box.offset(b, g)  # that is no rounding


def test_a_decision_of_0_is_the_class_that_sorts_last():
    assert votes(np.array([[0.0], [-0.0], [-1e-300]]), [(0, 1)], 2).tolist() == [
        [0, 1],
        [0, 1],
        [1, 0],
    ]
    machine = svc(k, X, np.where(SIGNS > 0, "yes", "no"))
    zero = replace(machine, function=0 * machine.function, offset=0.0)
    assert (zero(X) == 0).all() and (zero.predict(X) == "yes").all()


def test_a_point_of_weight_2_is_two_points():
    twice = np.arange(40) % 3 == 0
    weighted = one_class(Linear() + k, X, 0.3, weights=1.0 + twice, tol=1e-8)
    repeated = one_class(Linear() + k, np.concatenate([X, X[twice]]), 0.3, tol=1e-8)
    np.testing.assert_allclose(weighted.dual.sum(), 0.3 * (40 + twice.sum()))
    np.testing.assert_allclose(weighted(X), repeated(X), atol=1e-6)


def test_of_many_machines_the_worst_counts():
    y = np.r_[np.zeros(20), np.ones(18), 2, 2]  # two points of class 2 are settled at once
    Z = np.r_[X[:38], [[9.0, 9.0], [9.0, -9.0]]]
    with pytest.warns(RuntimeWarning, match="stopped"):
        found = svc_multiclass(k, Z, y, 100.0, max_iter=100)
    alone = []
    for low, high in found.pairs:
        rows = np.isin(y, [low, high])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            alone.append(svc(k, Z[rows], y[rows], 100.0, max_iter=100))
    assert len({m.converged for m in alone}) == 2 and not found.converged
    least, largest = np.sort([m.gap for m in alone])[[0, -1]]
    assert found.gap == pytest.approx(largest, rel=1e-6) and largest > 2 * least


def test_a_product_in_single_precision_is_summed_in_double():
    D = np.random.default_rng(0).random((3, 2**18), dtype=np.float32)
    exact = D.sum(axis=1, dtype=float)
    np.testing.assert_allclose(_summed_in_double(D, np.ones(2**18, np.float32)), exact, rtol=3e-8)


def test_coefficients_at_a_bound_are_there_to_the_last_bit():
    "Bounds that sums and differences round: a step ends at the bound, not at b + (bound − b)"
    draw, near = np.random.default_rng(0), 0
    for _ in range(20):
        X, prices = draw.normal(size=(60, 2)), draw.uniform(0.1, 1.9, 60)
        box = BoxProblem(X[:, 0] + draw.normal(size=60), -prices, prices, 0.1)
        b = solve_box(PairDistances(Gaussian(1.0), X), box).b
        for bound in (box.lo, box.hi, 0.0):
            there = np.abs(b - bound) < 1e-12
            near += np.count_nonzero(there)
            assert (b[there] == np.broadcast_to(bound, 60)[there]).all()
    assert near > 500
