"""Sums over many machines: one answer from every source and schedule, small graphs, faults, samples."""

import os
import pickle
import time
import tracemalloc
from functools import partial, reduce

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import rkhs_notes as rn
from rkhs_notes import (
    StreamingMeans,
    StreamingRidge,
    settings,
    stream_means,
    stream_ridge,
    stream_sample,
)
from rkhs_notes.base.points import names_of
from rkhs_notes.engines.data.clusters import is_lazy, lazy_blocks, tree_of
from rkhs_notes.engines.data.sums import FileBlocks

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")

PHI = rn.fourier_features(rn.Gaussian(1.5), 3, 40, rng=1)
B, N = 16, 50  # blocks, rows of each


def made(number, n=N):
    "Block `number`: (X, y)"
    rng = np.random.default_rng([7, number])
    X = rng.normal(size=(n, 3))
    return X, np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=n)


X, Y = map(np.concatenate, zip(*map(made, range(B)), strict=True))
W = np.random.default_rng(0).uniform(0.5, 2, len(X))


def table(make=made, *more):
    "The blocks, delayed"
    return [dask.delayed(make)(i, *more) for i in range(B)]


def bits(s):
    return s._state.sum.high.tobytes() + s._state.sum.low.tobytes() + bytes(f"{s.n}", "ascii")


def relative(v, w):
    return np.linalg.norm(v - w) / np.linalg.norm(w)


@pytest.fixture(scope="module")
def client():
    "Two processes"
    options = dict(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50)
    with (
        distributed.LocalCluster(processes=True, **options) as machines,
        distributed.Client(machines) as found,
    ):
        yield found


# one answer


@pytest.mark.second_route("stream_ridge", "stream_means", "one machine, one block after the other")
def test_a_cluster_answers_as_one_machine(client):
    "Delayed blocks and Dask arrays, ridge, weights, leave-one-out, means, MMD and components"
    here, sums = stream_ridge(PHI, map(made, range(B)), 0.1), StreamingRidge(PHI)
    f = stream_ridge(PHI, table(), 0.1, into=sums, client=client)
    assert relative(f.w, here.w) < 1e-12 and (sums.n, sums.blocks) == (B * N, B)
    lazy = [da.from_array(A, chunks=(N, *A.shape[1:])) for A in (X, Y, W)]
    for w, arrays in ((None, lazy[:2]), (W, lazy)):
        expected = stream_ridge(PHI, (X, Y) if w is None else (X, Y, W), 0.1, offset=True)
        found = stream_ridge(PHI, tuple(arrays), 0.1, offset=True, client=client)
        assert relative(found.function.w, expected.function.w) < 1e-10
    lams = [0.1, 1.0]
    expected = sums.leave_one_out((X, Y), lams)
    for blocks in (table(), tuple(lazy[:2])):
        scores = sums.leave_one_out(blocks, lams, client=client)
        np.testing.assert_allclose(scores, expected, rtol=1e-10)
    one = stream_means(PHI, lazy[0][:300], client=client)
    two = stream_means(PHI, (lazy[0][300:], None, lazy[2][300:]), client=client)
    plain = StreamingMeans(PHI).update(X[:300]), StreamingMeans(PHI).update(X[300:], None, W[300:])
    assert one.mmd2(two) == pytest.approx(plain[0].mmd2(plain[1]), rel=1e-10)
    assert relative(two.components(3)(X), plain[1].components(3)(X)) < 1e-9
    assert relative(one.mean_embedding().w, PHI(X[:300]).mean(axis=0)) < 1e-12


def slow_first(number):
    time.sleep(0.3 * (number in (0, 5)))
    return made(number)


def test_slow_workers_and_other_schedulers_change_no_bit(client):
    with distributed.Client(processes=False, n_workers=3, dashboard_address=":0") as threads:
        found = []
        for make, who in ((made, client), (slow_first, client), (made, threads)):
            found.append(stream_means(PHI, table(make), client=who))
    assert len(set(map(bits, found))) == 1
    with dask.config.set(scheduler="synchronous"):
        assert bits(stream_means(PHI, table())) == bits(found[0])
    parts = [StreamingMeans(PHI).update(made(i)[0]) for i in range(B)]
    line = reduce(StreamingMeans.merge, parts)._state.about(found[0]._state.origin)
    high, low = found[0]._state.sum.high, found[0]._state.sum.low
    gap = (high - line.sum.high) + (low - line.sum.low)
    assert np.abs(gap).max() <= 12 * 2.0**-106 * (B - 1) * len(X)  # (14b.1); no entry is above 1


def deadly(number, flag):
    "The same block; who makes the seventh first is gone"
    if number == 7 and not os.path.exists(flag):
        open(flag, "w").close()
        os._exit(1)
    return made(number)


def test_a_dead_worker_changes_no_bit(client, tmp_path):
    whole, flag = stream_means(PHI, table(), client=client), str(tmp_path / "died")
    found = stream_means(PHI, table(deadly, flag), client=client)
    assert os.path.exists(flag) and bits(found) == bits(whole)


# faults


def spoilt(number):
    X, y = made(number)
    if number == 5:
        y[17], X[3, 1] = np.nan, np.inf
    return X, y


def narrow(number):
    X, y = made(number)
    return X[:, : 3 - (number == 4)], y


def two_targets(number):
    X, y = made(number)
    return X, np.column_stack([y] * (1 + (number == 4)))


def no_pair(number):
    return made(number)[: 1 + (number != 9)]


def test_a_bad_block_is_named_and_nothing_is_added(client):
    into, means = StreamingRidge(PHI).update(X, Y), StreamingMeans(PHI).update(X)
    before = bits(into), bits(means)
    cases = [
        (spoilt, "block 5: X is not finite .*3, 1.*Nothing was added"),
        (narrow, "block 4: X has 2 columns, but this map was made for 3"),
        (two_targets, r"block 4: y has shape \(50, 2\)"),
        (no_pair, "block 9: the block is of type tuple, not a pair"),
    ]
    for make, words in cases:
        with pytest.raises((ValueError, TypeError), match=words):
            stream_ridge(PHI, table(make), 0.1, into=into, client=client)
    with pytest.raises(ValueError, match="block 5: X is not finite"):
        stream_means(PHI, table(spoilt), into=means, client=client)
    assert (bits(into), bits(means)) == before
    with pytest.raises(ValueError, match="y has (1|2) columns in some blocks and (2|1) in others"):
        stream_ridge(PHI, table(two_targets), 0.1, client=client)
    with pytest.raises(ValueError, match="^block 5: y is not finite"):
        into.leave_one_out(
            [dask.delayed(lambda i: (made(i)[0], spoilt(i)[1]))(i) for i in range(B)],
            [0.1],
            client=client,
        )
    stream_ridge(PHI, table(), 0.1, into=into, client=client)
    assert into.n == 2 * len(X)  # and goes on


def test_blocks_without_rows_are_none_and_a_stream_of_them_is_empty():
    "Rows that a condition chooses"
    lazy = da.from_array(X, chunks=(N, 3))
    chosen, y = lazy[lazy[:, 0] > 2], da.from_array(Y, chunks=N)[lazy[:, 0] > 2]
    at = X[:, 0] > 2
    assert 0 < at.sum() and min(at.reshape(B, N).sum(axis=1)) == 0
    assert (
        relative(stream_ridge(PHI, (chosen, y), 1.0).w, stream_ridge(PHI, (X[at], Y[at]), 1.0).w)
        < 1e-10
    )
    into = StreamingMeans(PHI)
    assert stream_means(PHI, chosen, into=into) is into and into.n == at.sum()
    with pytest.raises(ValueError, match="blocks is empty"):
        stream_means(PHI, lazy[lazy[:, 0] > 99])
    before = bits(into)
    assert bits(stream_means(PHI, lazy[lazy[:, 0] > 99], into=into)) == before


def test_a_client_that_has_nothing_to_do_is_told(client):
    with pytest.warns(RuntimeWarning, match="client is not used"):
        stream_means(PHI, X, client=client)


# what travels


def test_the_map_is_in_the_graph_once_and_a_block_is_small():
    "Each task is sent by itself: one of them holds what is held, the others say where"
    held = partial(divmod, np.zeros(10_000))
    graph = tree_of(held, max, lazy_blocks(da.ones((64, 3), chunks=(1, 3)))).dask
    sizes = np.sort([len(pickle.dumps(task)) for task in dict(graph).values()])
    assert 80_000 < sizes[-1] < 81_000 and sizes[-2] < 4000 and len(sizes) < 5 * 64


def specs(dask_scheduler):
    "The bytes of each task that the scheduler holds"
    import cloudpickle

    tasks = dask_scheduler.tasks.items()
    return {key: len(cloudpickle.dumps(task.run_spec)) for key, task in tasks}


def test_what_the_scheduler_holds_and_what_the_client_gets_does_not_grow(client, monkeypatch):
    "Of a run on the cluster one task holds the map, 180 kB, and no other more than 4 kB"
    wide = rn.nystrom_features(rn.Gaussian(1.5), X, 150, rng=1)
    sums = StreamingMeans(wide)
    held = {}

    def watched(delayed, client=None):
        future = client.compute(delayed)
        found = future.result()
        after = client.run_on_scheduler(specs)
        held["tasks"] = [after[key] for key in after.keys() - before.keys()]
        return found

    before = client.run_on_scheduler(specs)  # what other tests have left there
    monkeypatch.setattr("rkhs_notes.deeper.streams.computed", watched)
    stream_means(wide, table(), into=sums, client=client)
    sizes = np.sort(held["tasks"])
    assert sizes[-2] < 4000 and 150**2 * 8 < sizes[-1] < 1.2 * 150**2 * 8 + 8000
    assert sums.n == len(X)


def test_the_client_holds_no_rows(client):
    "640 times as many rows; the peak of what Python and NumPy allocate here is the same"

    def peak(n):
        tracemalloc.start()
        stream_means(PHI, table(made, n), client=client)
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return top

    peak(N)
    few, many = peak(N), peak(32_000)
    assert B * 32_000 * 3 * 8 > 12e6 and many < few + 1e6


def test_a_scheduler_knows_how_heavy_a_sum_is():
    from dask.sizeof import sizeof

    state = StreamingMeans(PHI).update(X)._state
    assert 16 * len(state.sum.high) <= sizeof(state) < 16 * len(state.sum.high) + 2000


def came(dask_worker):
    return [size for entry in dask_worker.transfer_incoming_log for size in entry["keys"].values()]


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_sums_travel_as_often_as_the_bill_says(workers):
    options = dict(n_workers=workers, threads_per_worker=1, dashboard_address=":0")
    wide = rn.fourier_features(rn.Gaussian(1.5), 3, 150, rng=1)
    with distributed.Client(processes=False, **options) as mine:
        s = stream_means(wide, table(), client=mine)
        sizes = np.array(sum(mine.run(came).values(), []))
    one = 16 * len(s._state.sum.high)
    sums = np.isclose(sizes, one, rtol=0.05) if len(sizes) else np.zeros(0, bool)
    assert min(workers, 2) - 1 <= sums.sum() <= B - 1
    assert one == 16 * (150 * 151 // 2 + 150 + 1)


# sources


def test_files_are_read_where_they_lie(tmp_path, client):
    paths = []
    for i in range(4):
        rows, y = made(i, 300)
        paths.append(str(tmp_path / f"{i}.csv"))
        pd.DataFrame({"a": rows[:, 0], "b": rows[:, 1], "c": rows[:, 2], "y": y}).to_csv(
            paths[-1], index=False
        )
    blocks = [dask.delayed(FileBlocks)(path, "y", n_rows=100) for path in paths]
    whole = [np.concatenate(parts) for parts in zip(*(made(i, 300) for i in range(4)), strict=True)]
    sums = StreamingRidge(PHI)
    f = stream_ridge(PHI, blocks, 0.1, into=sums, client=client)
    assert sums.n == 1200 and sums.blocks > 4 and sums.column_names == ("a", "b", "c")
    assert relative(f.w, stream_ridge(PHI, whole, 0.1).w) < 1e-10
    np.testing.assert_allclose(
        sums.leave_one_out(blocks, [0.1], client=client), sums.leave_one_out(tuple(whole), [0.1])
    )
    assert stream_means(PHI, blocks, client=client).n == 1200
    (tmp_path / "2.csv").write_text("a,b,c,y\n1,2,3,4\n1,,3,4\n")
    with pytest.raises(ValueError, match="^block 2: 2.csv, line 3: column 'b' has a gap"):
        stream_ridge(PHI, blocks, 0.1, client=client)
    parts = [dask.delayed(list)([made(0), spoilt(5)])]
    with pytest.raises(ValueError, match="^block 0, part 1: X is not finite"):
        stream_ridge(PHI, parts, 0.1, client=client)


def test_every_source_gives_the_same_means(tmp_path):
    np.save(tmp_path / "X.npy", X)
    frame = pd.DataFrame(np.column_stack([X, Y, W]), columns=["a", "b", "c", "y", "w"])
    frame.to_parquet(tmp_path / "t.parquet")
    file = FileBlocks(tmp_path / "t.parquet", "y", ["a", "b", "c"], n_rows=100)
    lazy = da.from_array(X, chunks=(90, 2))
    halves = X[:300], X[300:]
    expected = PHI(X).mean(axis=0)
    with settings.using(block_mib=0.01):
        memory_map = stream_means(PHI, np.load(tmp_path / "X.npy", mmap_mode="r"))
        assert memory_map.blocks > 3
    for found in [
        memory_map,
        *(
            stream_means(PHI, source)
            for source in (
                X, (X, Y), (X, np.full(len(X), np.nan)), iter(halves), list(halves), [(X, Y)], file,
                frame[["a", "b", "c"]], lazy, (lazy, da.from_array(Y)), [lazy[:300], lazy[300:]],
                [dask.delayed(half) for half in halves], table(), sp.csr_array(X),
                [dask.delayed(list)(list(halves))],
            )
        ),
    ]:  # fmt: skip
        assert found.n == len(X) and type(found) is StreamingMeans
        np.testing.assert_allclose(found.mean_embedding().w, expected, rtol=1e-9, atol=1e-12)
    weighted = W @ PHI(X) / W.sum()
    for source in ((X, None, W), (X, Y, W), iter([(X, None, W)]), (lazy, None, da.from_array(W))):
        found = stream_means(PHI, source).mean_embedding().w
        np.testing.assert_allclose(found, weighted, rtol=1e-9, atol=1e-12)
    named = FileBlocks(tmp_path / "t.parquet", "y", n_rows=100, weights="w")
    np.testing.assert_allclose(stream_means(PHI, named).mean_embedding().w, weighted, atol=1e-12)


def test_targets_are_summed_where_into_has_some():
    lazy = da.from_array(X, chunks=(90, 3)), da.from_array(Y, chunks=90)
    for source in ((X, Y), lazy, table()):
        into = StreamingRidge(PHI)
        assert stream_means(PHI, source, into=into) is into
        assert relative(into.solve(0.1).w, stream_ridge(PHI, (X, Y), 0.1).w) < 1e-10
    with pytest.raises(TypeError, match="^into is .* not a StreamingMeans of the same feature map"):
        stream_means(
            PHI, X, into=StreamingMeans(rn.fourier_features(rn.Gaussian(1.5), 3, 40, rng=2))
        )
    for bad in (None, "text", 3.0, {}):
        with pytest.raises(TypeError, match="^blocks is"):
            stream_means(PHI, bad)
    with pytest.raises(ValueError, match="weights has shape"):
        stream_means(PHI, (X, None, W[:-1]))
    with pytest.raises(ValueError, match="block 1: X has 1 columns"):
        stream_means(PHI, [X, Y])  # a list is a list of blocks, never a pair
    assert not is_lazy([X, Y]) and not is_lazy([]) and is_lazy([dask.delayed(X)])


def test_columns_by_name_in_delayed_blocks():
    frames = [pd.DataFrame(made(i)[0], columns=["a", "b", "c"]) for i in range(4)]
    other = [frames[0], frames[1][["c", "a", "b"]], *frames[2:]]
    with pytest.raises(ValueError, match="a, b, c and c, a, b"):
        stream_means(PHI, [dask.delayed(T) for T in other])
    into = StreamingMeans(PHI).update(frames[0])  # whose order all blocks are put in
    found = stream_means(PHI, [dask.delayed(T) for T in other], into=into)
    expected = PHI(np.concatenate([made(i)[0] for i in (0, 0, 1, 2, 3)])).mean(axis=0)
    np.testing.assert_allclose(found.mean_embedding().w, expected, atol=1e-12)


def test_columns_by_name_in_tables_of_dask():
    dd = pytest.importorskip("dask.dataframe")
    frame, names = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=Y, w=W), ["a", "b", "c"]
    table, other = dd.from_pandas(frame, npartitions=4), ["c", "a", "b"]
    into = StreamingRidge(PHI)
    f = stream_ridge(PHI, (table[names], table["y"], table["w"]), 0.1, into=into)
    plain = stream_ridge(PHI, (X, Y, W), 0.1)
    assert into.column_names == ("a", "b", "c")
    np.testing.assert_allclose(f(frame[other]), plain(X), atol=1e-9)
    scores = into.leave_one_out((table[other], table["y"], table["w"]), [0.1])
    np.testing.assert_allclose(scores, into.leave_one_out((X, Y, W), [0.1]), rtol=1e-9)
    means = StreamingMeans(PHI)
    for columns in (names, other):
        stream_means(PHI, table[columns], into=means)
    np.testing.assert_allclose(means.mean_embedding().w, PHI(X).mean(axis=0), atol=1e-12)
    with pytest.raises(ValueError, match="a, b, c and c, a, b"):
        stream_means(PHI, [table[names], table[other]])


def test_a_stream_far_from_0_is_one_on_a_cluster(client):
    far, line = da.from_array(X + 1e6, chunks=(N, 3)), rn.Linear().feature_map(3)
    found = stream_ridge(line, (far, da.from_array(Y + 1e6, chunks=N)), 0.1, True, client=client)
    near = stream_ridge(line, (X, Y), 0.1, True)
    np.testing.assert_allclose(found(X + 1e6) - 1e6, near(X), atol=1e-7)


# samples


@pytest.mark.second_route("stream_sample", "one pass over the rows in memory")
def test_a_sample_is_the_same_however_the_stream_is_cut(client, tmp_path):
    few = stream_sample(X, 60, rng=3)
    places = [int(np.flatnonzero((X == row).all(axis=1))[0]) for row in few]
    assert few.shape == (60, 3) and np.all(np.diff(places) > 0)  # in their order, none twice
    np.testing.assert_array_equal(few, X[places])
    lazy = da.from_array(X, chunks=(70, 2))
    frame = pd.DataFrame(np.column_stack([X, Y]), columns=["a", "b", "c", "y"])
    frame.to_parquet(tmp_path / "t.parquet")
    for source in (
        (X, Y), np.array_split(X, 9), iter(np.array_split(X, 100)), lazy, (lazy, da.from_array(Y)),
        lazy[da.ones(len(X), chunks=70) > 0], table(), FileBlocks(tmp_path / "t.parquet", "y"),
        [dask.delayed(FileBlocks)(tmp_path / "t.parquet", "y", n_rows=99)],
    ):  # fmt: skip
        np.testing.assert_array_equal(stream_sample(source, 60, rng=3), few)
    np.testing.assert_array_equal(stream_sample(table(), 60, rng=3, client=client), few)
    assert not np.array_equal(stream_sample(X, 60, rng=4), few)
    assert stream_sample(sp.csr_array(X), 60, rng=3).toarray().tolist() == few.tolist()
    np.testing.assert_array_equal(stream_sample(X, len(X), rng=1), X)


def test_columns_of_a_sample_are_those_of_the_first_block(client):
    dd = pytest.importorskip("dask.dataframe")
    frame, few = pd.DataFrame(X, columns=["a", "b", "c"]), stream_sample(X, 60, rng=3)
    blocks = [frame[:300], frame[300:300], frame[300:][["c", "a", "b"]]]
    lazy = [dask.delayed(block) for block in blocks]
    for source, who in (
        (blocks, None), ([dask.delayed(list)(blocks)], None), (lazy, None), (lazy, client),
        (dd.from_pandas(frame, npartitions=4), client),
    ):  # fmt: skip
        found = stream_sample(source, 60, rng=3, client=who)
        assert names_of(found) == ("a", "b", "c")
        np.testing.assert_array_equal(found, few)
    blocks[2] = X[300:, :2]
    for source in (blocks, [dask.delayed(block) for block in blocks]):
        with pytest.raises(
            ValueError, match=r"block 2: X has shape .*, 2\); pass .*, 3\), as many"
        ):
            stream_sample(source, 400, rng=0)


def test_all_sets_of_rows_are_alike_probable():
    "Each row, each pair, against the counts of draws without replacement; five standard deviations"
    rng, n, m, draws = np.random.default_rng(1), 8, 3, 3000
    blocks = [np.arange(5.0)[:, None], np.arange(5.0, 8.0)[:, None]]
    drawn = np.zeros((draws, n))
    for row in drawn:
        row[stream_sample(blocks, m, rng=rng)[:, 0].astype(int)] = 1
    assert np.all(drawn.sum(axis=1) == m)
    true = np.where(np.eye(n) > 0, m / n, m * (m - 1) / (n * (n - 1)))
    assert np.all(np.abs(drawn.T @ drawn / draws - true) < 5 * np.sqrt(true * (1 - true) / draws))


def test_a_sample_of_too_few_or_bad_rows_is_told(client):
    for source in (X, da.from_array(X, chunks=(90, 3)), table()):
        with pytest.raises(ValueError, match="rows of the stream.*800"):
            stream_sample(source, 801, rng=0)
    with pytest.raises(ValueError, match="block 5: X is not finite"):
        stream_sample(table(spoilt), 400, rng=0, client=client)
    with pytest.raises(ValueError, match="block 5: X is not finite"):
        stream_sample(map(spoilt, range(B)), 4, rng=0)


def test_landmarks_of_a_sample_stream_as_features_do(client):
    few = stream_sample(table(), 200, rng=0, client=client)
    phi = rn.nystrom_features(rn.Gaussian(1.5), few, 50, rng=1)
    there = stream_ridge(phi, table(), 0.1, client=client)
    assert relative(there(X), stream_ridge(phi, (X, Y), 0.1)(X)) < 1e-8
    error = np.sqrt(np.mean((there(X) - Y) ** 2))
    assert error < 0.2 * Y.std()
    labels = np.sign(Y)
    found = stream_ridge(phi, (da.from_array(X, chunks=(N, 3)), da.from_array(labels)), 0.1)
    assert np.mean(np.sign(found(X)) == labels) > 0.95  # classes by targets ±1


def test_memory_of_a_sample_does_not_grow_with_n():
    def peak(many):
        tracemalloc.start()
        stream_sample((X for _ in range(many)), 50, rng=0)
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return top

    peak(2)
    few, many = peak(10), peak(200)
    assert 190 * X.nbytes > 3e6 and many < few + 300_000
