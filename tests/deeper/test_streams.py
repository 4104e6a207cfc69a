"""Streams: sums against data kept whole, orders of merging, sources, faults, machines that die."""

import csv
import gzip
import os
import pickle
import signal
import sys
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import rkhs_notes as rn
import rkhs_notes.deeper.streams as streams
from rkhs_notes import LawBroken, StreamingRidge, settings, stream_ridge
from rkhs_notes.base.points import names_of
from rkhs_notes.deeper.streams import StreamingMeans, check_merge
from rkhs_notes.engines.data.sums import ExactSum, FileBlocks, pairwise, zero

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 3))
Y = np.column_stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2]]) + 0.1 * RNG.normal(size=(400, 2)) + 1
Y0 = Y[:, 0]
W = RNG.uniform(0, 2, 400)
PHI = rn.fourier_features(rn.Gaussian(1.5), 3, 40, rng=1)
GRID = rn.binning_features(rn.Laplace(3.0), X, 6, rng=1)
LINE = rn.Linear().feature_map(3)


def blocks(n=40, *more, X=X, y=Y0):
    "A stream of blocks"
    return [
        (X[i : i + n], y[i : i + n], *(m[i : i + n] for m in more)) for i in range(0, len(X), n)
    ]


def of(*parts, phi=PHI, t=1):
    "The sums of some blocks"
    s = StreamingRidge(phi, t)
    for part in parts:
        s.update(*part)
    return s


def bits(s):
    "All that a state holds, as bytes"
    return (
        s._state.sum.high.tobytes()
        + s._state.sum.low.tobytes()
        + bytes(f"{s.n} {s.blocks}", "ascii")
    )


def dense(F):
    return F.toarray() if sp.issparse(F) else F


# columns by name

NAMES = ["a", "b", "c"]


def framed(library, n=40, order=NAMES):
    "The stream as data frames, each second one with its columns in another order"
    kind = {"pandas": pd.DataFrame, "polars": pl.DataFrame}[library]
    tables = (kind(dict(zip(NAMES, part.T, strict=True))) for part, _ in blocks(n))
    return [
        (T[order] if i % 2 else T, b[1])
        for i, (T, b) in enumerate(zip(tables, blocks(n), strict=True))
    ]


def random_tree(parts, merge, rng):
    "The parts in random order, merged two neighbours at a time"
    parts = [parts[i] for i in rng.permutation(len(parts))]
    while len(parts) > 1:
        i = int(rng.integers(len(parts) - 1))
        parts[i : i + 2] = [merge(parts[i], parts[i + 1])]
    return parts[0]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_stream_puts_the_columns_of_its_blocks_in_order(library, tmp_path):
    plain, mixed = stream_ridge(PHI, blocks(), 0.1), framed(library, order=["c", "a", "b"])
    f = stream_ridge(PHI, mixed, 0.1)
    np.testing.assert_array_equal(f(X), plain(X))
    np.testing.assert_array_equal(f(mixed[1][0]), plain(X[40:80]))
    s = of(*mixed[:3])
    assert s.column_names == ("a", "b", "c")
    s.save(tmp_path / "s")
    for again in (pickle.loads(pickle.dumps(s)), StreamingRidge.load(tmp_path / "s")):
        for block in mixed[3:]:
            again.update(*block)
        np.testing.assert_array_equal(again.solve(0.1)(mixed[1][0]), plain(X[40:80]))
    scores = (
        of(*mixed).leave_one_out(mixed, [0.1, 1]),
        of(*blocks()).leave_one_out(blocks(), [0.1, 1]),
    )
    np.testing.assert_array_equal(*scores)


def test_blocks_with_other_columns_are_refused_and_sums_in_two_orders_do_not_add():
    good, other = framed("pandas"), framed("pandas", order=["c", "a", "b"])
    renamed = good[1][0].rename(columns={"b": "B"})
    with pytest.raises(
        ValueError, match="block 1: .*no column 'b'; it has a, B, c.*1 blocks are in"
    ):
        stream_ridge(PHI, [good[0], (renamed, good[1][1])], 0.1)
    first, second = (
        StreamingMeans(PHI, 1).update(*good[0]),
        StreamingMeans(PHI, 1).update(*other[1]),
    )
    for both in (first.merge, first.mmd2):
        with pytest.raises(ValueError, match="a, b, c and c, a, b"):
            both(second)
    assert first.merge(StreamingMeans(PHI, 1)).column_names == ("a", "b", "c")
    assert StreamingMeans(PHI, 1).merge(first).column_names == ("a", "b", "c")


def test_files_have_names_too(tmp_path):
    table = pd.DataFrame({"y": Y0, "b": X[:, 1], "a": X[:, 0], "c": X[:, 2]})
    table.to_csv(tmp_path / "t.csv", index=False)
    f = stream_ridge(PHI, FileBlocks(tmp_path / "t.csv", "y", NAMES, n_rows=64), 0.1)
    np.testing.assert_allclose(
        f(table[["c", "b", "a"]]), stream_ridge(PHI, (X, Y0), 0.1)(X), atol=1e-9
    )


# one sum is enough


@pytest.mark.parametrize("phi", [PHI, GRID], ids=["dense", "sparse"])
def test_weights_of_1_are_none(phi):
    told, silent = of((X, Y0, np.ones(400)), phi=phi), of((X, Y0), phi=phi)
    assert (told._state.sum.high == silent._state.sum.high).all()
    half = np.where(np.arange(400) < 200, 1.0, 4.0)  # blocks of ones beside others
    with settings.using(block_mib=0.1):
        parts = of((X, Y0, half), phi=phi).solve(0.1)(X[:9])
    np.testing.assert_allclose(parts, of((X, Y0, half), phi=phi).solve(0.1)(X[:9]), atol=1e-9)


@pytest.mark.second_route("StreamingRidge", "NumPy's least squares on all rows")
@pytest.mark.parametrize("phi", [PHI, GRID, LINE], ids=["waves", "bins", "linear"])
@pytest.mark.parametrize("weights", [None, W], ids=["alike", "weighted"])
@pytest.mark.parametrize("offset", [False, True], ids=["through 0", "offset"])
def test_the_sums_give_what_all_rows_give(phi, weights, offset):
    "Least squares on the rows, by orthogonal factors"
    lam, w = 0.3, np.ones(400) if weights is None else weights
    F, D = dense(phi(X)), phi.dim
    root = np.sqrt(w)[:, None]
    tall = np.vstack(
        [root * np.column_stack([F, np.ones(400) * offset]), np.eye(D + 1) * np.sqrt(lam)]
    )
    tall[-1, -1] = 0 if offset else 1  # the offset is free, or not there
    solution = np.linalg.lstsq(tall, np.vstack([root * Y, np.zeros((D + 1, 2))]))[0]
    s = of(*blocks(64, *([] if weights is None else [weights]), y=Y), phi=phi, t=2)
    f = s.solve(lam, offset)
    np.testing.assert_allclose(getattr(f, "function", f).w, solution[:-1], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(
        f(X), F @ solution[:-1] + offset * solution[-1], rtol=1e-8, atol=1e-9
    )
    if offset:
        np.testing.assert_allclose(f.offset, solution[-1], rtol=1e-8)


def test_one_target_and_several_agree():
    two, one = of(*blocks(50, y=Y), t=2), of(*blocks(50))
    np.testing.assert_allclose(two.solve(0.1).w[:, 0], one.solve(0.1).w, rtol=1e-9)
    assert one.solve(0.1)(X).shape == (400,) and two.solve(0.1, True)(X).shape == (400, 2)
    assert isinstance(one.solve(0.1, True).offset, float)
    column = of(*blocks(50, y=Y0[:, None]))  # (n, 1) is one target
    assert bits(column) == bits(one)


def test_many_lam_by_one_eigendecomposition():
    s, lams = of(*blocks()), [1e-3, 0.1, 10.0]
    for f, lam in zip(s.solve(lams, True), lams, strict=True):
        single = s.solve(lam, True)
        np.testing.assert_allclose(f.function.w, single.function.w, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(f.offset, single.offset, rtol=1e-9)


def test_functions_of_several_targets_add_and_measure():
    f = of(*blocks(50, y=Y), t=2).solve(0.1)
    np.testing.assert_allclose((f + 2 * f)(X), 3 * f(X))
    assert f @ f == pytest.approx(f.norm() ** 2)
    with pytest.raises(ValueError, match="w has shape"):
        rn.FeatureFunction(PHI, np.zeros((3, 2)))


@pytest.mark.parametrize("offset", [False, True])
@pytest.mark.parametrize("weights", [None, W + 0.1], ids=["alike", "weighted"])
def test_scores_are_those_of_the_path_and_of_refitting(offset, weights):
    few, w = slice(0, 60), None if weights is None else weights[:60]
    s = StreamingRidge(LINE, 2).update(X[few], Y[few], w)
    lams = [0.1, 3.0]
    path = rn.ridge_path(rn.Linear(), X[few], Y[few], lams, offset=offset, weights=w)
    np.testing.assert_allclose(s.gcv(lams, offset), path.gcv, rtol=1e-8)
    cut = (
        [(X[:25], Y[:25]), (X[25:60], Y[25:60])]
        if w is None
        else [(X[:25], Y[:25], w[:25]), (X[25:60], Y[25:60], w[25:])]
    )
    loo = s.leave_one_out(cut, lams, offset)
    np.testing.assert_allclose(loo, path.loo, rtol=1e-8)
    if w is None:
        left = []
        for i in range(60):
            keep = np.delete(np.arange(60), i)
            f = StreamingRidge(LINE, 2).update(X[keep], Y[keep]).solve(3.0, offset)
            left.append(np.mean((Y[i] - f(X[i : i + 1])[0]) ** 2))
        np.testing.assert_allclose(loo[1], np.mean(left), rtol=1e-8)


@pytest.mark.parametrize("offset", [False, True])
def test_points_of_weight_0_never_came(offset):
    rng, lams = np.random.default_rng(4), np.array([0.1, 1.0])
    X, y, w = rng.normal(size=(60, 1)), rng.normal(size=60), np.repeat([0.0, 1.0], [20, 40])
    phi = rn.fourier_features(rn.Gaussian(1.0), 1, 20, rng=0)
    all_, few = StreamingRidge(phi).update(X, y, w), StreamingRidge(phi).update(X[20:], y[20:])
    assert all_.n == few.n == 40
    np.testing.assert_allclose(all_.gcv(lams, offset), few.gcv(lams, offset), rtol=1e-9)
    second = all_.leave_one_out([(X, y, w)], lams, offset)
    np.testing.assert_allclose(
        second, few.leave_one_out([(X[20:], y[20:])], lams, offset), rtol=1e-9
    )


def test_blocks_without_rows_or_weight_add_nothing(tmp_path):
    "M(∅) = 0: the answer is that of the rows with a weight alone"
    w, lams = np.where(np.arange(400) < 330, 0.0, W + 0.1), [0.1, 1.0]
    w[20:50] = 1
    some, none = w > 0, (X[:0], Y0[:0], W[:0])
    few = of((X[some], Y0[some], w[some]))
    table = pd.DataFrame(X, columns=NAMES).assign(y=Y0, w=w)
    table.to_csv(tmp_path / "t.csv", index=False)
    file = FileBlocks(tmp_path / "t.csv", "y", n_rows=1, weights="w")
    cut = blocks(10, w)
    import dask
    import dask.array as da

    lazy = tuple(da.from_array(A, chunks=(10, *A.shape[1:])) for A in (X, Y0, w))
    parts = [dask.delayed(part, traverse=False) for part in [none, *cut, none]]
    for stream in ([none, *cut[:7], none, *cut[7:], none], file, lazy, parts):
        into = StreamingRidge(PHI)
        found = stream_ridge(PHI, stream, 0.1, into=into)
        np.testing.assert_allclose(found(X), few.solve(0.1)(X), atol=1e-9)
        assert into.n == some.sum()
        scores = few.leave_one_out((X[some], Y0[some], w[some]), lams)
        np.testing.assert_allclose(into.leave_one_out(stream, lams), scores, rtol=1e-8)
        means = rn.stream_means(PHI, stream).mean_embedding()
        np.testing.assert_allclose(means.w, w @ PHI(X) / w.sum(), atol=1e-12)


def test_one_point_with_an_offset_has_no_score():
    one = of((X[:1], Y0[:1]))
    for score in (
        lambda offset: one.gcv([0.1], offset),
        lambda offset: one.leave_one_out([(X[:1], Y0[:1])], [0.1], offset),
    ):
        assert np.isfinite(score(False)).all()
        with pytest.raises(ValueError, match="nothing is left to score"):
            score(True)


def test_a_second_pass_over_other_points_is_refused():
    words = "^the second pass is over other data: it has 360 points, the sums 400. Pass the blocks"
    with pytest.raises(ValueError, match=words):
        of(*blocks()).leave_one_out(blocks()[1:], [0.1])


@pytest.mark.parametrize("second,words", [
    ((X, Y), "y has shape"), ((X, Y0[:-1]), "y has shape"), ((X, Y0 + np.nan), "y is not finite"),
    ((X, Y0, -W - 1), "weights"), ((X, Y0, W[:-1]), "weights"),
])  # fmt: skip
def test_a_second_pass_is_read_like_the_first(second, words):
    "Without that an error would come out: of other targets, not a number, or below 0"
    with pytest.raises(ValueError, match=f"^block 0: {words}"):
        of((X, Y0)).leave_one_out([second], [0.1])


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "dia", "bsr", "lil"])
def test_sparse_points_may_come_whole_and_a_second_time(kind):
    rows = sp.csr_array(X).asformat(kind)
    w = of((X, Y0), phi=LINE).solve(0.1).w
    np.testing.assert_array_equal(
        rn.stream_sample(rows, 5, rng=0).toarray(), rn.stream_sample(X, 5, rng=0)
    )
    for source in ((rows, Y0), [(rows, Y0)], (rows, Y0.tolist())):
        np.testing.assert_allclose(stream_ridge(LINE, source, 0.1).w, w, rtol=1e-9)
    again = [of(pair, phi=LINE).leave_one_out(pair, [0.1]) for pair in ((X, Y0), (rows, Y0))]
    np.testing.assert_allclose(*again, rtol=1e-9)
    with pytest.raises(ValueError, match=r"^y has shape \(399,\); pass \(400,\)"):
        stream_ridge(LINE, (rows, Y0[:-1].tolist()), 0.1)


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("w", [None, W])
def test_sparse_columns_far_from_0_are_summed_about_another_place(w, kind):
    "A column of 1e6 beside sparse ones: as accurate as without it, with an offset"
    few = np.where(np.abs(X) > 1, X, 0.0)
    rows = np.column_stack([few[:, :2], np.full(len(X), 1e6), few[:, 2]])
    sparse, dense = (
        of((A, Y0, w), phi=rn.Linear().feature_map(4)).solve(0.1, offset=True)
        for A in (kind(rows), rows)
    )
    without = of((few, Y0, w), phi=LINE).solve(0.1, offset=True)
    np.testing.assert_allclose(sparse(rows), dense(rows), rtol=1e-9)
    np.testing.assert_allclose(sparse(rows), without(few), rtol=1e-9)


def test_sparse_rows_with_a_column_far_from_0_stay_sparse():
    n, D = 20_000, 150
    rows = sp.random_array((n, D), density=0.01, rng=np.random.default_rng(0), format="lil")
    rows[:, 0] = 1e6
    rows, y, phi = rows.tocsr(), np.sin(np.arange(n)), rn.Linear().feature_map(D)
    tracemalloc.start()
    of((rows, y), phi=phi).solve(0.1, offset=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * n * D / 3


def test_points_so_far_away_that_their_squares_overflow_are_refused():
    "All at b, with y = 1: the fit there is 1 − O(1 / b²), and not 0"
    line, lams = rn.Linear().feature_map(1), [1.0, 2.0]
    for b in (1e3, 1e100, 1e150):
        far = np.full((3, 1), b), np.ones(3)
        for f in (stream_ridge(line, far, 1.0), *stream_ridge(line, far, lams)):
            assert abs(f([[b]])[0] - 1) < 1e-6
    far = np.full((3, 1), 1e160), np.ones(3)
    s = StreamingRidge(line).update(*far)
    for refused in (
        lambda: s.solve(1.0), lambda: s.solve(lams), lambda: s.gcv(lams),
        lambda: s.leave_one_out(far, lams),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="overflows float64; pass a larger lam, or rescale X"):
            refused()
    assert s.solve(1.0, offset=True)([[1e160]])[0] == 1
    same = StreamingRidge(line).update(np.ones((5, 1)), np.full(5, 2.0))
    for offset in (False, True):
        with pytest.raises(ValueError, match="pass a larger lam"):
            same.solve(1e-309, offset)


@pytest.mark.parametrize("block", [np.float64(2.0), (np.float64(2.0), np.ones(1))])
def test_a_block_of_no_points_is_told_by_its_number(block):
    with pytest.raises(ValueError, match="^block 0: X has shape ()"):
        rn.stream_means(PHI, [block])
    with pytest.raises(ValueError, match="^block 0: X does not form an array"):
        rn.stream_sample([([[1, 2], [3]], None)], 1)


# a monoid


def test_sums_lose_nothing():
    "Against exact rational sums, with cancellation over thirty orders of magnitude"
    from fractions import Fraction

    numbers = RNG.normal(size=(60, 5)) * 10.0 ** RNG.uniform(-15, 15, (60, 1))
    numbers = np.concatenate([numbers, -numbers * (1 + 1e-12)])
    parts = [ExactSum(row, np.zeros(5)) for row in RNG.permutation(numbers)]
    by = ExactSum.__add__
    for total in (reduce(by, parts), pairwise(by, parts), reduce(by, parts, zero(5))):
        exact = [float(sum(map(Fraction, column))) for column in numbers.T]
        size = np.abs(numbers).sum(axis=0)
        assert np.all(
            np.abs(total.high - exact) <= np.abs(exact) * 2**-52 + 6 * 120 * 2.0**-106 * size
        )


@pytest.mark.parametrize("seed", range(5))
def test_merges_in_any_order_are_one(seed):
    "To 1e-12 in the solution although the condition number is 1e9; plain sums fail at that"
    rng = np.random.default_rng(seed)
    phi = rn.fourier_features(rn.Gaussian(20.0), 3, 60, rng=2)
    parts = [of(b, phi=phi) for b in blocks(10)]
    one = reduce(StreamingRidge.merge, parts)
    values = np.linalg.eigvalsh(one._parts(False)[0])
    assert values[-1] / 1e-6 > 1e8
    for _ in range(4):
        other = random_tree(parts, StreamingRidge.merge, rng)
        gap = np.linalg.norm(other.solve(1e-6).w - one.solve(1e-6).w) / np.linalg.norm(
            one.solve(1e-6).w
        )
        assert gap <= 1e-12 and (other.n, other.blocks) == (400, 40)

    def plain(a, b):
        state = a.merge(b)._state
        return a._with(state._replace(sum=ExactSum(state.sum.high, 0 * state.sum.high)))

    others = [random_tree(parts, plain, rng).solve(1e-6).w for _ in range(4)]
    assert max(np.linalg.norm(w - others[0]) for w in others) > 1e-12 * np.linalg.norm(others[0])


def test_the_neutral_element_and_what_does_not_add():
    s, empty = of(*blocks()), StreamingRidge(PHI)
    assert bits(s.merge(empty)) == bits(s) == bits(empty.merge(s))
    assert empty.n == 0 and "400 points in 10 blocks" in repr(s)
    before = bits(s)
    s.merge(s)
    assert bits(s) == before  # merge makes a new one
    for other in (StreamingRidge(LINE), StreamingRidge(PHI, 2), StreamingMeans(PHI), None):
        with pytest.raises(TypeError, match="of the same feature map and as many targets"):
            s.merge(other)
    numbers = [rn.fourier_features(rn.Gaussian(1.5), 3, 40, rng=i) for i in (1, 2)]
    exponents = [rn.Polynomial(2, c).feature_map(3) for c in (0.5, 0.6)]
    for first, second in (numbers, exponents):
        with pytest.raises(TypeError, match="of the same feature map"):
            StreamingRidge(first).merge(StreamingRidge(second))
    copy = pickle.loads(pickle.dumps(s))
    assert bits(copy.merge(s)) == bits(s.merge(copy))  # the same map, though another object


def test_a_map_with_a_python_function_is_itself():
    phi = rn.FeatureMap(rn.Linear(), 1, 1, lambda X: X)
    one = StreamingRidge(phi).update([1.0, 2.0], [1.0, 2.0])
    assert one.merge(StreamingRidge(phi)).n == 2
    with pytest.raises(TypeError, match="sums of one φ"):
        one.merge(StreamingRidge(rn.FeatureMap(rn.Linear(), 1, 1, lambda X: X)))
    with pytest.raises(TypeError, match="a file holds no code"):
        one.save("never.npz")
    assert not os.path.exists("never.npz")


def test_the_law_holds_and_refuses_mutants():
    assert check_merge(PHI, X, Y, 0.1, offset=True, rng=0) <= 1e-12
    assert check_merge(GRID, X, Y0, 0.1, rng=0) <= 1e-12
    with pytest.raises(LawBroken, match="one solution for every order"):
        check_merge(PHI, X, Y0, 0.1, lambda a, b: a, rng=0)
    with pytest.raises(LawBroken, match="no point is lost"):
        check_merge(PHI, X, Y0, 0.1, lambda a, b: a._with(a.merge(b)._state._replace(n=7)), rng=0)

    def times(a, b):
        state = a.merge(b)._state
        return a._with(state._replace(sum=ExactSum(state.sum.high * 2.0**-8, state.sum.low)))

    with pytest.raises(LawBroken):
        check_merge(PHI, X, Y0, 0.1, times, rng=0)


@pytest.mark.second_route("check_merge", "near misses refused")
def test_near_misses_of_the_law():
    "A merge that loses 1e-11 of a sum, one point that is not counted, a rounding of the whole"

    def after(change):
        def merge(a, b):
            state = a.merge(b)._state
            return a._with(change(state) if state.n == len(X) else state)

        return merge

    rng = np.random.default_rng(0)

    def shaken(state):  # another at every merge of the last two parts
        high = state.sum.high * (1 + 1e-10 * rng.normal(size=len(state.sum.high)))
        return state._replace(sum=ExactSum(high, state.sum.low))

    with pytest.raises(LawBroken, match="one solution for every order"):
        check_merge(LINE, X, Y0, 100.0, after(shaken), rng=0)
    with pytest.raises(LawBroken, match="no point is lost: is 1"):
        check_merge(LINE, X, Y0, 100.0, after(lambda state: state._replace(n=len(X) - 1)), rng=0)
    same = np.random.default_rng(1).normal(size=len(of(phi=LINE)._state.sum.high))

    def off(state):  # the same at every merge
        return state._replace(sum=ExactSum(state.sum.high * (1 + 1e-8 * same), state.sum.low))

    with pytest.raises(LawBroken, match="the merged parts are the whole"):
        check_merge(LINE, X, Y0, 100.0, after(off), rng=0)


def test_float32_blocks_are_summed_in_float64():
    low = X.astype(np.float32)
    s = of(*blocks(10, X=low, y=Y0.astype(np.float32)))
    F = PHI(low)
    assert F.dtype == np.float32
    exact = F.astype(float).T @ F.astype(float)
    np.testing.assert_allclose(s._parts(False)[0], exact, rtol=0, atol=1e-12 * np.abs(exact).max())
    assert np.abs((F.T @ F) - exact).max() > 1e-8 * np.abs(exact).max()  # what float32 would give


# means, distances, components


@pytest.mark.second_route("StreamingMeans", "all rows at once")
def test_means_and_distances():
    a, b = StreamingMeans(PHI).update(X[:150]), StreamingMeans(PHI).update(X[150:] + 0.3)
    other = X[150:] + 0.3
    for unbiased in (False, True):
        expected = rn.mmd2_features(PHI, X[:150], other, unbiased=unbiased)
        assert a.mmd2(b, unbiased) == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose(
        a.mean_embedding()(X[:5]), (PHI(X[:150]) @ PHI(X[:5]).T).mean(axis=0)
    )
    weighted = StreamingMeans(PHI).update(X[:150], weights=W[:150])
    with pytest.raises(ValueError, match="needs two or more, and no other weights"):
        weighted.mmd2(b, True)
    balanced = StreamingMeans(PHI).update(X[:150], weights=np.tile([0.5, 1.5], 75))  # of sum 150
    assert a.merge(StreamingMeans(PHI).update(X[:9], weights=np.ones(9))).mmd2(b, True)
    one = np.ones(150)
    one[7] = 2.0  # a single other weight
    single = StreamingMeans(PHI).update(X[:150], weights=one)
    for stream in (balanced, single, a.merge(balanced), b.merge(balanced).update(X)):
        with pytest.raises(ValueError, match="needs two or more, and no other weights"):
            b.mmd2(stream, True)
    with pytest.raises(TypeError, match="same feature map"):
        a.mmd2(StreamingMeans(LINE).update(X))
    with pytest.raises(ValueError, match="y has shape"):
        a.update(X, Y0)


def test_components_are_those_of_the_features():
    s = StreamingMeans(PHI).update(X[:123]).update(X[123:])
    found, F = s.components(3), PHI(X) - PHI(X).mean(axis=0)
    sizes = np.linalg.svd(F, compute_uv=False)
    np.testing.assert_allclose(found.eigenvalues, sizes[:3] ** 2, rtol=1e-9)
    np.testing.assert_allclose(found.trace, np.sum(F**2), rtol=1e-9)
    scores = found(X)
    np.testing.assert_allclose(scores.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(
        scores.T @ scores, np.diag(found.eigenvalues), atol=1e-9 * sizes[0] ** 2
    )
    assert found.explained.sum() < 1
    V = found.components.w  # of both signs of a component, always the same
    assert np.array_equal(streams.signed(-V), V)


# sources


@pytest.mark.second_route("FileBlocks", "stream_ridge", "blocks in memory")
def test_every_source_gives_one_answer(tmp_path):
    import dask.array as da
    import pandas

    w = of(*blocks(y=Y), t=2).solve(0.1).w

    def same(f):
        np.testing.assert_allclose(f.w, w, rtol=1e-8, atol=1e-10)

    same(stream_ridge(PHI, iter(blocks(7, y=Y)), 0.1))
    same(stream_ridge(PHI, (X, Y), 0.1))
    np.save(tmp_path / "X.npy", X)
    with settings.using(block_mib=0.01):  # so that a memory map is cut
        same(stream_ridge(PHI, (np.load(tmp_path / "X.npy", mmap_mode="r"), Y), 0.1))
        same(stream_ridge(PHI, [X, Y], 0.1))
    same(
        stream_ridge(PHI, (da.from_array(X, chunks=(90, 2)), da.from_array(Y, chunks=(33, 1))), 0.1)
    )
    frame = pandas.DataFrame(
        np.hstack([X, Y, W[:, None]]), columns=["a", "b", "c", "y0", "y1", "w"]
    )
    same(stream_ridge(PHI, (frame[["a", "b", "c"]], frame[["y0", "y1"]]), 0.1))
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_csv(tmp_path / "t.csv", index=False)
    weighted = of(*blocks(50, W, y=Y), t=2).solve(0.1).w
    for name in ("t.parquet", "t.csv"):
        file = FileBlocks(tmp_path / name, ["y0", "y1"], ["a", "b", "c"], n_rows=64)
        same(stream_ridge(PHI, file, 0.1))
        file = FileBlocks(str(tmp_path / name), ["y0", "y1"], n_rows=64, weights="w")
        np.testing.assert_allclose(stream_ridge(PHI, file, 0.1).w, weighted, rtol=1e-8, atol=1e-10)
        file, s = FileBlocks(tmp_path / name, ["y0", "y1"], ["a", "b", "c"]), of(*blocks(y=Y), t=2)
        np.testing.assert_allclose(
            s.leave_one_out(file, [0.1]), s.leave_one_out(blocks(y=Y), [0.1])
        )


def numbers(path, target="y", *of, **options):
    "X, y (and weights) of all blocks, joined"
    parts = zip(*FileBlocks(path, target, *of, **options), strict=True)
    return [np.concatenate(part) for part in parts]


def table_of(rows, names="a,b,c,y", sep=",", end="\n", quote=""):
    lines = [names.split(","), *[[repr(float(v)) for v in row] for row in rows]]
    return end.join(sep.join(f"{quote}{v}{quote}" for v in line) for line in lines) + end


KINDS = {
    "t.csv": {},
    "semicolons.csv": {"sep": ";"},
    "tabs.tsv": {"sep": "\t"},
    "bars.txt": {"sep": "|"},
    "windows.csv": {"end": "\r\n"},
    "mac.csv": {"end": "\r"},
    "quoted.csv": {"quote": '"'},
    "mark.csv": {"encoding": "utf-8-sig"},
    "t.csv.gz": {"opened": gzip.open},
    "quoted.csv.gz": {"opened": gzip.open, "quote": '"', "sep": ";"},
    "utf-16.csv": {"encoding": "utf-16"},
}


def test_one_table_in_every_format_gives_the_same_bits(tmp_path):
    import pandas

    rows = np.column_stack([X, Y0]) * 10.0 ** np.arange(-200, 200)[:, None]
    pandas.DataFrame(rows, columns=list("abcy")).to_parquet(tmp_path / "t.parquet")
    found = {"t.parquet": numbers(tmp_path / "t.parquet", n_rows=77)}
    for name, kind in KINDS.items():
        how = {key: kind[key] for key in kind.keys() & {"sep", "end", "quote"}}
        encoding = kind.get("encoding", "utf-8")
        with kind.get("opened", open)(tmp_path / name, "wt", encoding=encoding, newline="") as f:
            f.write(table_of(rows, **how))
        told = {"encoding": encoding} if encoding == "utf-16" else {}
        found[name] = numbers(tmp_path / name, n_rows=77, **told)
    for name, (A, y) in found.items():
        assert np.array_equal(A, rows[:, :3]) and np.array_equal(y, rows[:, 3]), name
    pandas.DataFrame(np.column_stack([X, Y0]), columns=list("abcy")).to_parquet(
        tmp_path / "t.parquet"
    )
    text = table_of(np.column_stack([X, Y0])).encode()
    (tmp_path / "t.csv").write_bytes(text)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(text))
    fits = {
        stream_ridge(PHI, FileBlocks(tmp_path / name, "y", n_rows=64), 0.1).w.tobytes()
        for name in ("t.csv", "t.csv.gz", "t.parquet")
    }
    assert len(fits) == 1


def test_columns_are_chosen_by_name_and_words_beside_them_are_none_of_our_business(tmp_path):
    (tmp_path / "t.csv").write_text(
        'name,a,w,b,y\n"Müller, A.",1,2,3,4\nB,5,6,7,8\n"two\nlines",9,1,2,3\n', encoding="utf-8"
    )
    A, y, w = numbers(tmp_path / "t.csv", "y", ["b", "a"], weights="w")
    assert A.tolist() == [[3, 1], [7, 5], [2, 9]] and y.tolist() == [4, 8, 3]
    assert w.tolist() == [2, 6, 1]
    block = next(iter(FileBlocks(tmp_path / "t.csv", ["y", "a"], "b")))
    assert block[1].tolist() == [[4, 1], [8, 5], [3, 9]] and names_of(block[0]) == ("b",)
    with pytest.raises(
        ValueError, match="line 2: 'Müller, A.' in column 'name' is no finite number"
    ):
        numbers(tmp_path / "t.csv")
    with pytest.raises(ValueError, match="has no column 'B'; it has name, a, w, b, y"):
        numbers(tmp_path / "t.csv", "y", ["B"])


GAPS = {
    "empty": ("a,y\n1,2\n3,\n,5\n6,7\n", 3, {"y": 1, "a": 1}),
    "words for nothing": ("a,y\n1,2\nNA,4\n3,null\n6,7\n", 3, {"a": 1, "y": 1}),
    "quoted": ('a,y\n"1",2\n"",4\n6,7\n', 3, {"a": 1}),
    "behind two lines": ('n,a,y\n"x\nx",1,2\nz,6,7\nz,,4\n', 5, {"a": 1}),
    "of three in a row": ("a,b,c,d,y\n1,2,3,4,2\n1,,,,2\n6,1,1,1,7\n", 3, {"a": 0, "b": 1, "d": 1}),
    "nan": ("a,y\r\n1,2\r\nNaN,4\r\n6,7\r\n", 3, {"a": 1}),
    "last": ("y,a\r\n2,1\r\n7,6\r\n4,\r\n", 4, {"a": 1}),
}


@pytest.mark.parametrize("n_rows", [1, 2, 100])
@pytest.mark.parametrize("kind", GAPS)
def test_a_gap_is_refused_by_its_place_or_counted(kind, n_rows, tmp_path):
    text, line, counts = GAPS[kind]
    path, columns = (
        tmp_path / "t.csv",
        [c for c in ("a", "b", "c", "d") if c in text.split("\n")[0]],
    )
    path.write_text(text, newline="")
    with pytest.raises(ValueError, match=f"t.csv, line {line}: column .* has a gap.*gaps=.drop"):
        numbers(path, "y", columns, n_rows=n_rows)
    with pytest.warns(UserWarning, match="with a gap are left out") as told:
        A, y = numbers(path, "y", columns, n_rows=n_rows, gaps="drop")
    assert A[:, 0].tolist() == [1, 6] and y.tolist() == [2, 7]
    for name, count in counts.items():
        assert (f", {count} in {name!r}" in str(told[0].message)) == (count > 0)
    rows = text.strip().count("\n") - text.count("x\nx")
    assert f"{rows - 2} of {rows} rows" in str(told[0].message)


def test_gaps_of_parquet_files_and_of_whole_tables(tmp_path):
    import pandas

    frame = pandas.DataFrame({"a": [1.0, None, 3.0], "y": pandas.array([1, 2, None], "Int64")})
    frame.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="t.parquet, row 2: column 'a' has a gap"):
        numbers(tmp_path / "t.parquet")
    with pytest.warns(UserWarning, match="2 of 3 rows .* left out, 1 in 'a', 1 in 'y'"):
        assert numbers(tmp_path / "t.parquet", gaps="drop")[1].tolist() == [1]
    for text, said in (("a,y\n", "has no row to read[.]"), ("a,y\n,1\n,2\n", "2 of 2 rows")):
        (tmp_path / "t.csv").write_text(text)
        with pytest.raises(ValueError, match=said):
            numbers(tmp_path / "t.csv", gaps="drop")
    with pytest.raises(ValueError, match="gaps = 'dorp'.*Did you mean drop"):
        FileBlocks(tmp_path / "t.csv", "y", gaps="dorp")


@pytest.mark.parametrize(
    "text, said",
    [
        ("a,y\n1,2\n3,four\n", "line 3: 'four' in column 'y' is no finite number: a word"),
        ("a;y\n1;2\n3;4,5\n", "line 3: '4,5' .*decimal comma"),
        ("a,y\n1,2\ninf,4\n", "line 3: 'inf' in column 'a'"),
        ("a,y\n1,2\n1_000,4\n", "line 3: '1_000' in column 'a'"),
        ("a,y\n1,2\n1e999,4\n", "line 3: '1e999' in column 'a'"),
        ("a,y\n1,2\n3\n", "a row of 1 fields in line 3"),
        ("a,y\n1,2\n\n3,4\n5,6,7\n", "a row of 3 fields in line 5"),
        ("a,y\n1,2\n1,2,3\n1\n", "a row of 3 fields in line 3"),
        ('a,y\n1,2\n"3,4\n', "begins in line 3 has a quote"),
        ("a,a\n1,2\n", "two columns 'a'"),
        ("", "is empty"),
    ],
)
def test_what_is_no_table_of_numbers_is_refused_by_its_line(text, said, tmp_path):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(ValueError, match=f"t.csv.*{said}"):
        numbers(tmp_path / "t.csv")


@pytest.mark.second_route("FileBlocks", "Python's csv and float")
def test_a_file_is_read_as_python_reads_it_or_refused(tmp_path):
    rng, path, read = np.random.default_rng(48), tmp_path / "t.csv", 0
    fields = [
        "1",
        "-2.5",
        "1e-3",
        " 3 ",
        '"4"',
        "+5",
        ".5",
        "6.",
        "0x1",
        "",
        "NA",
        "x",
        '"7',
        "8,9",
    ]
    weights = np.array([20, 20, 20, 20, 1, 20, 20, 20, 0.2, 0.2, 0.2, 0.2, 0.1, 0.1])
    for _ in range(150):
        drawn = rng.choice(fields, (int(rng.integers(1, 9)), 3), p=weights / weights.sum())
        text = "a,b,y\n" + "".join(",".join(row) + "\n" for row in drawn)
        path.write_text(text)
        try:
            rows = list(csv.reader(text.splitlines()[1:], strict=True))
            truth = np.array([[float(v) for v in row] for row in rows])
            assert truth.shape[1:] == (3,)
        except (ValueError, csv.Error, AssertionError):
            with pytest.raises(ValueError, match="^t.csv"):
                numbers(path, n_rows=3)
            continue
        A, y = numbers(path, n_rows=3)
        assert np.array_equal(np.column_stack([A, y]), truth)
        read += 1
    assert 50 < read < 145


def test_csv_needs_no_library_and_parquet_names_the_command(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text(table_of(np.column_stack([X, Y0])))
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    for name in ("pandas", "pyarrow", "pyarrow.parquet", "pyarrow.csv"):
        monkeypatch.setitem(sys.modules, name, None)
    stream = list(FileBlocks(tmp_path / "t.csv", "y", n_rows=100))
    assert len(stream) == 4 and np.array_equal(np.concatenate([x for x, _ in stream]), X)
    with pytest.raises(ImportError, match="for Parquet files:  pip install .*parquet"):
        list(FileBlocks(tmp_path / "t.parquet", "y"))


def test_memory_does_not_grow_with_a_file(tmp_path):
    line, peaks = "1.25,2.5,3.75,5\n", []
    for many in (2000, 40_000):
        with gzip.open(tmp_path / "t.csv.gz", "wt") as file:
            file.writelines(["a,b,c,y\n", *[line] * many])
        tracemalloc.start()
        n = sum(len(y) for _, y in FileBlocks(tmp_path / "t.csv.gz", "y", n_rows=500))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert n == many
    assert peaks[1] < 1.5 * peaks[0] < 2**21


def test_what_a_gz_may_unpack_to_is_limited(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,y\n" + b"1,2\n" * 300_000))
    with settings.using(result_mib=1), pytest.raises(ValueError, match="beyond 1 MiB.*a bomb"):
        numbers(path)
    assert len(numbers(path)[1]) == 300_000


def test_files_that_are_broken_or_other(tmp_path):
    import pandas

    path = tmp_path / "t.parquet"
    pandas.DataFrame({"a": X[:, 0], "y": Y0}).to_parquet(path)
    with pytest.raises(ValueError, match="has no column 'z'; it has a, y"):
        list(FileBlocks(path, "z"))
    pandas.DataFrame({"a": ["1", "b"], "y": [1, 2]}).to_parquet(path)
    with pytest.raises(ValueError, match="t.parquet, row 2: 'b' in column 'a' is no finite number"):
        list(FileBlocks(path, "y"))
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match="t.parquet is no whole Parquet file"):
        list(FileBlocks(path, "y"))
    with pytest.raises(ValueError, match="there is no file .*t.csv"):
        list(FileBlocks(tmp_path / "t.csv", "y"))
    (tmp_path / "t.xlsx").write_bytes(b"PK")
    with pytest.raises(ValueError, match="'.xlsx'; .csv"):
        list(FileBlocks(tmp_path / "t.xlsx", "y"))
    (tmp_path / "t.csv").write_text("größe,y\n1,2\n", encoding="latin-1")
    with pytest.raises(ValueError, match="byte 0xf6 in line 1 .*'größe,y'.*encoding='cp1252'"):
        list(FileBlocks(tmp_path / "t.csv", "y"))
    block = next(iter(FileBlocks(tmp_path / "t.csv", "y", encoding="cp1252")))
    assert names_of(block[0]) == ("größe",)
    with pytest.raises(ValueError, match="encoding = 'utf9': Python knows none"):
        FileBlocks(tmp_path / "t.csv", "y", encoding="utf9")


# faults


def test_nan_in_block_17_of_40_is_named_and_nothing_is_half_added():
    bad = Y0.copy()
    bad[17 * 10 + 4] = np.nan
    into = StreamingRidge(PHI)
    words = r"block 17: y is not finite .*\(4,\).*Nothing of it was added; 17 blocks"
    with pytest.raises(ValueError, match=words):
        stream_ridge(PHI, blocks(10, y=bad), 0.1, into=into)
    assert bits(into) == bits(of(*blocks(10)[:17])) and into.blocks == 17
    bad_X = X.copy()
    bad_X[23 * 10 + 7, 2] = np.inf
    with pytest.raises(ValueError, match=r"block 6: X is not finite .*\(7, 2\)"):
        stream_ridge(PHI, blocks(10, X=bad_X)[17:], 0.1, into=into)  # resumed where it broke
    stream_ridge(PHI, blocks(10)[23:], 0.1, into=into)
    assert bits(into) == bits(of(*blocks(10)))


@pytest.mark.parametrize("block,words", [
    ((X[:5, :2], Y0[:5]), "block 3: X has 2 columns, but this map was made for 3"),
    ((X[:5], Y0[:4]), "block 3: y has shape"),
    ((X[:5], Y[:5]), "block 3: y has shape"),
    ((X[:5], Y0[:5], -W[:5]), "block 3: "),
    ((X[:5],), "block 3: the block is of type tuple, not a pair"),
    (X[:5], "block 3: the block is of type ndarray, not a pair"),
    (([[1.0, 2.0, 3.0]], [1.0]), "block 3: the block is of type tuple, not a pair .X, y. of arrays"),
    ((X[:5], 1e300 * Y0[:5]), "block 3: a sum over a block overflows"),
])  # fmt: skip
def test_a_block_that_is_wrong_is_named(block, words):
    into = StreamingRidge(PHI)
    with pytest.raises((ValueError, TypeError), match=words):
        stream_ridge(PHI, [*blocks()[:3], block], 0.1, into=into)
    assert bits(into) == bits(of(*blocks()[:3]))


def test_a_pair_whose_lengths_differ_and_features_that_do_not_fit():
    for y in (Y0[:-1], Y0[:30]):
        with settings.using(block_mib=0.001), pytest.raises(ValueError, match="^y has shape"):
            stream_ridge(PHI, (X, y), 0.1)
    with pytest.raises(ValueError, match=r"^y has shape \(399, 2\); pass \(400, 2\), one row"):
        stream_ridge(PHI, (X, Y[:-1]), 0.1)
    with pytest.raises(ValueError, match="^weights has shape"):
        stream_ridge(PHI, (X, Y0, W[:-1]), 0.1)
    with (
        settings.using(result_mib=0.01),
        pytest.raises(MemoryError, match="block 0: .* fewer features"),
    ):
        stream_ridge(PHI, blocks(), 0.1)


def test_sums_of_another_map_do_not_collect():
    import dask.array as da

    other = rn.fourier_features(rn.Gaussian(1.5), 3, 40, rng=2)
    into = of((X, Y0), phi=other)
    before = bits(into)
    for pair in ((X, Y0), (da.from_array(X), da.from_array(Y0))):
        for wrong in (into, StreamingMeans(PHI), 3):
            with pytest.raises(TypeError, match="^into is .* of the same feature map"):
                stream_ridge(PHI, pair, 0.1, into=wrong)
    assert bits(into) == before
    alike = rn.fourier_features(rn.Gaussian(1.5), 3, 40, rng=1)  # equal waves, another object
    assert stream_ridge(PHI, (X, Y0), 0.1, into=StreamingRidge(alike)).phi is alike


def test_blocks_are_as_long_as_was_asked(tmp_path):
    import pandas

    table = pandas.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": Y0})
    table.to_parquet(tmp_path / "t.parquet")
    lengths = [len(y) for _, y in FileBlocks(tmp_path / "t.parquet", "y", n_rows=150)]
    assert lengths == [150, 150, 100]
    into = StreamingRidge(PHI)
    stream_ridge(PHI, (X, Y0), 0.1, into=into)  # a pair in memory: blocks of a budget, not rows
    assert into.blocks == 1
    with settings.using(block_mib=0.01):
        stream_ridge(PHI, (X, Y0), 0.1, into=into)
    assert into.blocks == 1 + 4  # of 0.01 MiB / (8 · (3 + 8)) = 119 rows


def test_a_map_without_features_fits_the_mean():
    nothing = rn.FeatureMap(rn.Gaussian(1.0), 3, 0, lambda X: np.zeros((len(X), 0)))
    s = StreamingRidge(nothing).update(X, Y0)
    assert not s.solve(0.1)(X).any() and not s.solve([0.1, 1.0])[1](X).any()
    np.testing.assert_allclose(s.solve(0.1, offset=True)(X), Y0.mean())
    assert stream_ridge(nothing, (X, Y0), 1.0).w.shape == (0,)


@pytest.mark.parametrize(
    "rows", [X[:1], np.ones((5, 3)), np.zeros((0, 3))], ids=["one", "equal", "none"]
)
def test_points_that_do_not_vary_have_no_components(rows):
    with pytest.raises(ValueError, match="variance of the features|X is empty"):
        StreamingMeans(LINE).update(rows).components(2)


@pytest.mark.parametrize("stream, words", [
    ([], "blocks is empty"), ((X[:0], Y0[:0]), "blocks is empty"),
    ([(X[:0], Y0[:0])], "blocks is empty"), ([(X, Y0, 0 * W)], "no row of it has a weight"),
    ([(X, Y0), (X, Y0, W[:0])], "block 1: weights"), ([(X, Y0, W), (X, Y0, -W)], "block 1: weights"),
    ([(X, Y0), (X[:, :2], Y0)], "block 1: X has 2 columns"),
    ([(X, Y0), (X, Y)], r"block 1: y has shape \(400, 2\)"),
    ([(X, Y0), (X, Y0[:9])], r"block 1: y has shape \(9,\)"),
])  # fmt: skip
def test_streams_of_no_rows_and_blocks_of_another_width_are_told(stream, words):
    with pytest.raises(ValueError, match=words):
        stream_ridge(PHI, stream, 0.1)


def test_an_empty_stream():
    with pytest.raises(ValueError, match="nothing came yet; update it"):
        StreamingRidge(PHI).solve(0.1)


def test_ctrl_c_leaves_the_state_before_the_block(monkeypatch):
    into, calls = StreamingRidge(PHI), []
    inner = streams.block_sum

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == 4:
            os.kill(os.getpid(), signal.SIGINT)
        return inner(*arguments)

    monkeypatch.setattr(streams, "block_sum", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # `nohup … &` ignores it
    try:
        with pytest.raises(KeyboardInterrupt):
            stream_ridge(PHI, blocks(), 0.1, into=into)
            time.sleep(1)
    finally:
        signal.signal(signal.SIGINT, before)
    assert bits(into) == bits(of(*blocks()[:3]))
    f = stream_ridge(PHI, blocks()[3:], 0.1, into=into)
    assert bits(into) == bits(of(*blocks())) and np.array_equal(f.w, of(*blocks()).solve(0.1).w)


def test_saving_is_exact_and_files_of_others_are_refused(tmp_path):
    path, s = tmp_path / "s.npz", of(*blocks(64, W, y=Y), t=2)
    s.save(path)
    back = StreamingRidge.load(path)
    assert bits(back) == bits(s) and np.array_equal(back.solve(0.1, True)(X), s.solve(0.1, True)(X))
    assert bits(back.update(*blocks(y=Y)[0])) == bits(s.update(*blocks(y=Y)[0]))  # and goes on
    with pytest.raises(TypeError, match="not a saved StreamingMeans"):
        StreamingMeans.load(path)
    means = StreamingMeans(PHI).update(X)
    means.save(path)  # over the old file
    assert bits(StreamingMeans.load(path)) == bits(means)
    means.update(X, weights=W).save(path)
    with pytest.raises(ValueError, match="no other weights"):
        StreamingMeans.load(path).mmd2(StreamingMeans(PHI).update(X), True)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ValueError, match="damaged, cut off"):
        StreamingMeans.load(path)


def test_sums_that_were_saved_about_0_load_and_go_on(tmp_path, monkeypatch):
    "Files of versions that summed every column about 0 have no origin in them"
    far, kept = X + 50, StreamingRidge._kept
    s = of((far[:200], Y0[:200]), phi=LINE)
    about_0 = s._with(s._state.about(np.zeros(4)))
    monkeypatch.setattr(StreamingMeans, "_kept", lambda self: (kept(self)[0], kept(self)[1][:-1]))
    for stream, path in ((about_0, tmp_path / "s"), (StreamingRidge(LINE), tmp_path / "empty")):
        stream.save(path)
    monkeypatch.undo()
    whole = of((far, Y0), phi=LINE).solve(0.1, True)(far)
    old, rest = StreamingRidge.load(tmp_path / "s"), of((far[200:], Y0[200:]), phi=LINE)
    more = StreamingRidge.load(tmp_path / "s").update(far[200:], Y0[200:])
    for found in (old.merge(rest), rest.merge(old), more):
        np.testing.assert_allclose(found.solve(0.1, True)(far), whole, rtol=1e-9)
    empty = StreamingRidge.load(tmp_path / "empty").update(far, Y0)
    assert empty._state.origin[0] == far[0, 0] and np.array_equal(
        empty.solve(0.1, True)(far), whole
    )


def test_a_full_disk_keeps_the_last_checkpoint(tmp_path, full_disk):
    path, s = tmp_path / "s.npz", of(*blocks()[:5])
    s.save(path)
    before = path.read_bytes()
    with full_disk(4000), pytest.raises(OSError, match="is as it was. Free some space"):
        s.update(*blocks()[5]).save(path)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["s.npz"]
    assert bits(StreamingRidge.load(path)) == bits(of(*blocks()[:5]))


def test_memory_does_not_grow_with_n():
    "Ten times as many points from a generator; the peak of what Python and NumPy allocate is the same"
    import tracemalloc

    def peak(n_blocks):
        stream = ((X, Y0) for _ in range(n_blocks))
        tracemalloc.start()
        stream_ridge(PHI, stream, 0.1)
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return top

    peak(2)
    few, many = peak(5), peak(50)
    assert many < few * 1.1 + 50_000


# many machines


def slow(folder, number, x):
    "Notes which process works on which block; after three blocks a process waits until all may go on"
    (Path(folder) / f"{number}-{os.getpid()}-{time.time_ns()}").touch()
    while len(begun(folder)[os.getpid()]) > 3 and not (Path(folder) / "go").exists():
        time.sleep(0.02)
    return x


def begun(folder):
    "{process: the blocks that it has begun}"
    found = {}
    for note in Path(folder).glob("*-*-*"):
        number, pid, _ = map(int, note.name.split("-"))
        found.setdefault(pid, []).append(number)
    return found


def wait_for(condition, seconds=60):
    "What the condition gives once it is true"
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)
    return found


def killed_in_mid_fit(folder, allowed_failures):
    "(state, process that was killed after it had finished blocks) of a fit on two processes"
    import dask
    import dask.array as da
    from dask.distributed import Client, LocalCluster

    into = StreamingRidge(PHI)
    options = dict(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50)
    with dask.config.set({"distributed.scheduler.allowed-failures": allowed_failures}):
        with LocalCluster(processes=True, **options) as machines, Client(machines) as client:
            made = [dask.delayed(slow)(str(folder), i, X[20 * i : 20 * i + 20]) for i in range(20)]
            rows = da.concatenate([da.from_delayed(m, (20, 3), float) for m in made])
            pool = ThreadPoolExecutor(1)
            fit = pool.submit(
                stream_ridge, PHI, (rows, da.from_array(Y0, chunks=20)), 0.1, into=into
            )
            try:
                pid = wait_for(
                    lambda: next((p for p, had in begun(folder).items() if len(had) > 3), 0)
                )
                os.kill(pid, signal.SIGKILL)
                wait_for(lambda: pid not in client.run(os.getpid, on_error="ignore").values())
            finally:
                (folder / "go").touch()
            fit.result(timeout=60)
    return into, pid


def alive(pid):
    "Is there a process of this number that is no corpse?"
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


def test_a_killed_worker_changes_nothing(tmp_path):
    into, pid = killed_in_mid_fit(tmp_path, allowed_failures=3)
    assert not alive(pid) and (into.n, into.blocks) == (400, 20)
    w, expected = into.solve(0.1).w, of(*blocks(20)).solve(0.1).w
    assert np.linalg.norm(w - expected) <= 1e-12 * np.linalg.norm(expected)
    numbers = sum(begun(tmp_path).values(), [])
    assert len(numbers) > len(set(numbers)) == 20  # blocks were lost, and made again


def test_without_recovery_a_killed_worker_ends_the_fit(tmp_path):
    from dask.distributed import KilledWorker

    with pytest.raises(KilledWorker):
        killed_in_mid_fit(tmp_path, allowed_failures=0)


def test_threads_and_other_schedulers_agree():
    import dask
    import dask.array as da

    bad = Y0.copy()
    bad[200] = np.nan
    lazy = da.from_array(X, chunks=(90, 3)), da.from_array(Y0, chunks=90)
    threads = stream_ridge(PHI, lazy, 0.1).w
    with dask.config.set(scheduler="synchronous"):
        assert np.array_equal(stream_ridge(PHI, lazy, 0.1).w, threads)
    with pytest.raises(ValueError, match="block 2: y is not finite"):
        stream_ridge(PHI, (lazy[0], da.from_array(bad, chunks=90)), 0.1)
    weighted = stream_ridge(PHI, (*lazy, da.from_array(W, chunks=70)), 0.1).w
    np.testing.assert_allclose(weighted, stream_ridge(PHI, (X, Y0, W), 0.1).w, rtol=1e-9)
    assert np.array_equal(stream_ridge(PHI, (lazy[0], Y0), 0.1).w, threads)  # y may lie in memory
    with pytest.raises(TypeError, match=r"not a pair \(X, y\) of arrays"):
        stream_ridge(PHI, lazy[:1], 0.1)
    with pytest.raises(ValueError, match="y has shape .*one row for each point"):
        stream_ridge(PHI, (lazy[0], lazy[1][:-1]), 0.1)
    with pytest.raises(ValueError, match="weights has shape .*one row for each point"):
        stream_ridge(PHI, (*lazy, da.from_array(W[:-1])), 0.1)
    into = StreamingRidge(PHI).update(X, Y0)  # which collects, whoever computes
    stream_ridge(PHI, lazy, 0.1, into=into)
    assert into.n == 800 and np.allclose(into.solve(0.2).w, threads, rtol=1e-9)
    unknown = [A[da.ones(len(X), chunks=90) > 0] for A in lazy]
    np.testing.assert_allclose(stream_ridge(PHI, unknown, 0.1).w, threads, rtol=1e-9)


def peak_mib():
    "The most memory that this process has held"
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


@pytest.mark.slow
def test_the_memory_of_a_worker_stays_within_its_budget():
    "A stream of 960 MB through two processes with 450 MB each, which would be killed above that"
    import dask.array as da
    from dask.distributed import Client, LocalCluster

    draws = da.random.default_rng(0).normal(size=(6_000_000, 20), chunks=(60_000, 20))
    phi, lam = rn.Linear().feature_map(20), 1.0
    options = dict(n_workers=2, threads_per_worker=1, memory_limit="450MB", dashboard_address=None)
    with (
        LocalCluster(processes=True, silence_logs=50, **options) as machines,
        Client(machines) as client,
    ):
        before = max(client.run(peak_mib).values())
        into = StreamingRidge(phi)
        f = stream_ridge(phi, (draws, draws[:, 0] - draws[:, 3]), lam, into=into)
        after = max(client.run(peak_mib).values())
    assert (into.n, into.blocks) == (6_000_000, 100) and draws.nbytes > 2 * 450e6
    assert after < 450e6 / 2**20 and after - before < 200, (before, after)
    assert np.allclose(f.w, np.eye(20)[0] - np.eye(20)[3], atol=1e-5)


def test_progress_by_dasks_own_bar():
    import io

    import dask.array as da
    from dask.diagnostics import ProgressBar

    shown, rows = io.StringIO(), da.from_array(X, chunks=20)
    with ProgressBar(out=shown, dt=0.01):
        stream_ridge(PHI, (rows, da.from_array(Y0, chunks=20)), 0.1)
    assert "100% Completed" in shown.getvalue()


def highest_split(s, q, n=30):
    "(blocks before it, n₁ n₂ / (n₁ + n₂) times the unbiased MMD²) of the highest split   (14a.6)"
    c = np.arange(6, len(s) - 5)
    n1, n2 = n * c, n * (len(s) - c)
    S, Q = (np.cumsum(A, axis=0)[c - 1] for A in (s, q))
    R = s.sum(axis=0) - S
    value = (np.sum(S**2, axis=1) - Q) / (n1 * (n1 - 1)) - 2 * np.sum(S * R, axis=1) / (n1 * n2)
    value += (np.sum(R**2, axis=1) - (q.sum() - Q)) / (n2 * (n2 - 1))
    value *= n1 * n2 / (n1 + n2)
    return c[value.argmax()], value.max()


def test_where_the_writers_change_is_as_solution_14a_8_says():
    digits, _ = rn.load("digits")
    F = rn.fourier_features(rn.Gaussian(2.0), d=64, D=400, rng=np.random.default_rng(settings.seed))
    F, rng = F(digits[:1770] / 16).reshape(59, 30, 400), np.random.default_rng(5)
    s, q = F.sum(axis=1), np.sum(F**2, axis=(1, 2))
    for part, at, top, most in (
        (slice(0, 59), 780, 2.92, 2.1), (slice(0, 26), 240, 2.86, 1.8), (slice(26, 59), 1530, 3.69, 2.2)
    ):  # fmt: skip
        s_, q_ = s[part], q[part]
        place, value = highest_split(s_, q_)
        assert 30 * (part.start + place) == at and abs(value - top) < 0.005
        orders = (rng.permutation(len(s_)) for _ in range(600))
        null = np.array([highest_split(s_[order], q_[order])[1] for order in orders])
        assert abs(np.quantile(null, 0.95) - most) < 0.25 and np.mean(null >= value) < 0.02
