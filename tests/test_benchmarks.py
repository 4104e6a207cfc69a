"""The benchmark runner compares before it times, takes turns, and counts right; no test reads a clock."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest

from conftest import NOTEBOOKS, ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

import runner  # noqa: E402

HEAVY = f"""
import sys

import numpy as np

sys.path.insert(0, {str(ROOT / "benchmarks")!r})
from runner import Race, main

def waste():
    return np.ones((16, 2**17))[:1].copy()  # 16 MiB for a result of one

def frugal():
    return np.ones((1, 2**17))

def make():
    return Race("a row", dict(waste=waste, frugal=frugal), np.testing.assert_array_equal)

main(__file__, lambda quick: [make])
"""


def test_every_stored_record_names_a_row_that_make_nightly_runs():
    cells = "".join(path.read_text(encoding="utf-8") for path in NOTEBOOKS)
    named = set(re.findall(r"make bench ROW=(\w+)", cells))
    rows = {path.stem for path in (ROOT / "benchmarks").glob("*.py")} - {"runner"}
    assert named and named <= rows
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\nnightly:")[2]
    assert "runner.py $(RECORDS)" in recipe


class FakeTime:
    "A clock that only moves when a contender works."

    def __init__(self):
        self.now, self.turns = 0.0, []

    def clock(self):
        return self.now

    def contender(self, name, seconds, result=1.0):
        durations = iter([0.0, *seconds])  # the first call compares results and is not timed

        def work():
            self.turns.append(name)
            self.now += next(durations)
            return result

        return work


def same(ours, theirs):
    assert ours == theirs, f"{ours} is not {theirs}."


def race(time, **options):
    "Ours takes 1, 2 and 9 seconds, a peer 4, 6 and 5, the limit always 1."
    contenders = dict(
        ours=time.contender("ours", [1, 2, 9]),
        peer=time.contender("peer", [4, 6, 5]),
        limit=time.contender("limit", [1, 1, 1], result=None),
    )
    options = dict(limit="limit", repeats=3) | options
    return runner.Race("three turns", contenders, same, **options)


def test_a_wrong_peer_is_named_and_nothing_is_timed():
    time = FakeTime()
    contenders = dict(ours=time.contender("ours", []), fast=time.contender("fast", [], result=2.0))

    def clock():
        pytest.fail("the clock was read before the results were compared")

    with pytest.raises(runner.Disagreement, match="'fast'.*nothing was timed.*1.0 is not 2.0"):
        runner.run(runner.Race("a race", contenders, same), clock=clock)
    assert time.turns == ["ours", "fast"]


def test_an_error_inside_the_comparison_is_no_disagreement():
    time = FakeTime()
    contenders = dict(ours=time.contender("ours", []), peer=time.contender("peer", []))
    with pytest.raises(TypeError):
        runner.run(runner.Race("a race", contenders, lambda ours, theirs: ours + "text"))


def test_somebody_must_say_that_the_result_is_right():
    time = FakeTime()
    alone = dict(ours=time.contender("ours", []), limit=time.contender("limit", []))
    with pytest.raises(ValueError, match="no peer"):
        runner.run(runner.Race("a race", alone, same, limit="limit"))
    with pytest.raises(ValueError, match="'gemm'"):
        runner.run(runner.Race("a race", alone, same, limit="gemm"))


def test_turns_alternate():
    time = FakeTime()
    runner.run(race(time), clock=time.clock)
    assert time.turns == ["ours", "peer", "limit"] * 4  # compared once, timed three times


def test_medians_quartiles_and_ratios():
    time = FakeTime()
    ours, peer, limit = runner.run(race(time, reach=2.5, within=4.0), clock=time.clock)
    assert ours["seconds"] == [1, 2, 9] and peer["seconds"] == [4, 6, 5]
    assert (ours["lower"], ours["median"], ours["upper"]) == (1.5, 2, 5.5)
    assert (ours["ratio"], peer["ratio"], limit["ratio"]) == (1, 2.5, 0.5)
    assert (ours["role"], peer["role"], limit["role"]) == ("ours", "peer", "limit")
    assert (ours["agrees"], peer["agrees"], limit["agrees"]) == (None, True, None)
    assert ours["reached"] is None
    assert peer["reached"] and limit["reached"] and limit["reach"] == 0.25
    assert not peer["sure"]  # the turns' own ratios are 4, 3 and 5/9


@pytest.mark.parametrize("reach, reached", [(2.4, True), (2.6, False), ({"peer": 2.6}, False), ({}, None)])
def test_an_aim_is_reached_or_missed(reach, reached):
    time = FakeTime()
    rows = runner.run(race(time, reach=reach), clock=time.clock)
    assert rows[1]["reached"] is reached
    assert ("three turns, peer: 2.50 < 2.6" in runner.summary(rows)) == (reached is False)


def test_errors_are_shown_without_times():
    contenders = dict(ours=lambda: 1.0, theirs=lambda: 3.0)
    case = runner.Accuracy("a case", contenders, error=lambda result: abs(result - 1.0), at_most=0.5)
    ours, theirs = runner.run(case)
    assert (ours["error"], ours["reached"]) == (0.0, True)
    assert (theirs["error"], theirs["reached"]) == (2.0, None)
    assert "seconds" not in ours
    assert "5e-01 yes" in runner.table([ours, theirs])


def test_not_a_number_is_no_small_error():
    case = runner.Accuracy("a case", dict(ours=lambda: 1, theirs=lambda: 1), lambda r: float("nan"), 0.5)
    ours, _ = runner.run(case)
    assert ours["reached"] is False and "NO" in runner.table([ours])


def test_json_reads_back(tmp_path):
    time = FakeTime()
    rows = runner.run(race(time, reach=2.0), clock=time.clock)
    runner.write(tmp_path / "new" / "race.json", "race", runner.machine(), rows)
    read = json.loads((tmp_path / "new" / "race.json").read_text(encoding="utf-8"))
    assert read["name"] == "race" and read["rows"] == rows
    assert read["machine"]["packages"]["numpy"] == np.__version__
    assert {"cpu", "cores", "memory_gib", "threads", "python", "commit", "load"} <= set(read["machine"])


def test_table_is_aligned():
    time = FakeTime()
    lines = runner.table(runner.run(race(time), clock=time.clock)).splitlines()
    assert lines[0] == "three turns" and len(lines) == 4
    assert len({line.index(" - ") for line in lines[1:]}) == 1


def test_size_of_results():
    megabyte = np.zeros(2**17)
    assert runner.mib(megabyte) == 1 and runner.mib((megabyte, megabyte)) == 2
    assert runner.mib(object()) is None and runner.mib(()) is None


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak is read from /proc")
def test_memory_is_what_one_contender_needs(tmp_path):
    (tmp_path / "row.py").write_text(HEAVY)
    rows = [dict(contender=name, role="ours", result_mib=1.0) for name in ("waste", "frugal")]
    runner.add_memory(rows, tmp_path / "row.py", 0)
    if rows[0]["peak_mib"] is None:
        pytest.skip("this system does not let a process reset its peak")
    wasteful, frugal = rows
    assert 16 <= wasteful["peak_mib"] <= 20 and not wasteful["lean"]
    assert 0.5 <= frugal["peak_mib"] <= 4


def test_gram_runs_through_and_results_are_equal(tmp_path):
    command = [sys.executable, "benchmarks/gram.py", "--quick", "--json", tmp_path / "gram.json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "gram.json").read_text(encoding="utf-8"))["rows"]
    timed = [row for row in rows if "seconds" in row]
    assert all(row["agrees"] for row in timed if row["role"] == "peer")
    assert len({row["race"] for row in timed}) >= 10
    assert all(len(row["seconds"]) == 3 for row in timed)
    assert {row["race"] for row in rows} <= set(done.stdout.splitlines())


@pytest.mark.parametrize("entry, change", [((3, 5), 1e-9), ((0, 0), np.nan), ((49, 0), -1e-9)])
def test_gram_refuses_one_wrong_entry(entry, change):
    import gram

    gaussian = gram.gaussian(50, 10, np.float64, cross=False)
    ours, theirs = (gaussian.contenders[name]() for name in (gram.OURS, "sklearn rbf_kernel"))
    gaussian.agree(ours, theirs)
    theirs[entry] += change
    with pytest.raises(AssertionError, match="rounding explains"):
        gaussian.agree(ours, theirs)


def test_gram_refuses_what_all_contenders_get_wrong():
    import gram

    gaussian = gram.gaussian(50, 10, np.float64, cross=True)
    ours = gaussian.contenders[gram.OURS]() ** 1.01
    with pytest.raises(AssertionError, match="from the formula"):
        gaussian.agree(ours, ours.copy())


def test_every_row_file_runs_or_those_named(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(runner, "HERE", tmp_path)
    (tmp_path / "one.py").write_text("import sys; print(sys.argv[1:])")
    (tmp_path / "two.py").write_text("raise SystemExit('two differs')")
    (tmp_path / "runner.py").write_text("raise SystemExit('no row')")
    assert runner.run_files(["--quick"]) != 0  # one that fails does not stop the others
    printed = capfd.readouterr()
    assert "== one" in printed.out and "['--quick']" in printed.out
    assert "two differs" in printed.err and "no row" not in printed.err
    assert runner.run_files(["one"]) == 0 and "two" not in capfd.readouterr().out
