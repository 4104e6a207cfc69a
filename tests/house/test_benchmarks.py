"""The benchmark runner compares before it times, takes turns, and counts right; no test reads a clock."""

import fnmatch
import json
import re
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from conftest import NOTEBOOKS, ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

import aims  # noqa: E402
import check  # noqa: E402
import report  # noqa: E402
import runner  # noqa: E402

HEAVY = f"""
import sys

import numpy as np

sys.path.insert(0, {str(ROOT / "benchmarks")!r})
from runner import Race, main

def waste():
    return np.ones((80, 2**17))[:1].copy()  # 80 MiB for a result of one

def frugal():
    return np.ones((1, 2**17))

def make():
    return Race("a row", dict(waste=waste, frugal=frugal), np.testing.assert_array_equal)

main(__file__, lambda quick: [make])
"""


def test_every_stored_record_names_a_row_that_make_nightly_runs():
    cells = "".join(path.read_text(encoding="utf-8") for path in NOTEBOOKS)
    named = set(re.findall(r"make bench ROW=(\w+)", cells))
    rows = {path.stem for path in (ROOT / "benchmarks").glob("*.py")} - runner.TOOLS
    assert named and named <= rows
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\nnightly:")[2]
    assert "runner.py $(RECORDS)" in recipe


class FakeTime:
    "A clock that only moves when a contender works."

    def __init__(self):
        self.now, self.turns = 0.0, []

    def clock(self):
        return self.now

    def contender(self, name, seconds, result=1.0, first=0.0):
        durations = iter([first, *seconds])  # the first call compares results

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


def test_who_takes_long_for_a_turn_is_timed_once():
    time = FakeTime()
    slow = dict(ours=time.contender("ours", [2, 4, 3]), peer=time.contender("peer", [11]))
    for work in slow.values():
        work()  # the comparison
    seconds = runner.interleave(slow, 3, time.clock, patience=10.0)
    assert seconds == dict(ours=[2, 4, 3], peer=[11])
    rows = [dict(contender=name, role=name, race="slow") for name in seconds]
    runner.add_times(rows, runner.Race("slow", slow, same, reach={"peer": 4.0}), seconds)
    assert rows[1]["ratio"] == 11 / 3 and not rows[1]["reached"]
    assert rows[1]["low"] == rows[1]["high"] == 5.5  # of the one turn both took


def test_who_is_timed_while_it_is_compared_has_no_other_turn():
    time = FakeTime()
    contenders = dict(
        ours=time.contender("ours", [2, 4, 3]), peer=time.contender("peer", [], first=30.0)
    )
    rows = runner.run(
        runner.Race("slow", contenders, same, repeats=3, once=("peer",)), clock=time.clock
    )
    assert time.turns == ["ours", "peer", "ours", "ours", "ours"]
    assert [row["seconds"] for row in rows] == [[2, 4, 3], [30]] and rows[1]["ratio"] == 10


def test_a_short_turn_follows_one_that_warms_the_caches():
    fake = FakeTime()
    ours = fake.contender("ours", [2**-9, 2**-8, 2**-7], first=2**-10)
    both = dict(ours=ours, peer=fake.contender("peer", [5], first=6))
    assert runner.interleave(both, 2, fake.clock) == dict(ours=[2**-9, 2**-7], peer=[6, 5])


def test_a_turn_waits_for_threads_that_still_compute():
    end = time.perf_counter() + 0.1

    def spin():
        while time.perf_counter() < end:
            pass

    thread = threading.Thread(target=spin)
    thread.start()
    runner.settle(patience=60)
    assert not thread.is_alive()


def test_medians_quartiles_and_ratios():
    time = FakeTime()
    ours, peer, limit = runner.run(race(time, reach={"p*": 2.5, "limit": 0.25}), clock=time.clock)
    assert ours["seconds"] == [1, 2, 9] and peer["seconds"] == [4, 6, 5]
    assert (ours["lower"], ours["median"], ours["upper"]) == (1.5, 2, 5.5)
    assert (ours["ratio"], peer["ratio"], limit["ratio"]) == (1, 2.5, 0.5)
    assert (ours["role"], peer["role"], limit["role"]) == ("ours", "peer", "limit")
    assert (ours["agrees"], peer["agrees"], limit["agrees"]) == (None, True, None)
    assert ours["reached"] is None
    assert peer["reached"] and limit["reached"] and limit["reach"] == 0.25
    assert not peer["sure"]  # the turns' own ratios are 4, 3 and 5/9


@pytest.mark.parametrize("reach, reached", [
    ({"*": 2.4}, True), ({"peer": 2.6}, False), ({}, None), (None, None)])  # fmt: skip
def test_an_aim_is_reached_or_missed(reach, reached):
    time = FakeTime()
    rows = runner.run(race(time, reach=reach), clock=time.clock)
    assert rows[1]["reached"] is reached
    assert ("three turns, peer: 2.50 < 2.6" in runner.summary(rows)) == (reached is False)


def test_a_part_of_a_run_leaves_the_results_of_the_whole_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    both = dict(ours=float, peer=float)
    make = [lambda: runner.Race("a race", both, same, repeats=1)]
    for arguments in (["--quick"], ["--only", "race"]):
        runner.main("stein.py", lambda quick: make, arguments)
        assert not (tmp_path / "stein.json").exists()
        (tmp_path / "part" / "stein.json").unlink()
    runner.main("stein.py", lambda quick: make, [])
    assert (tmp_path / "stein.json").exists() and list(report.results(tmp_path)) == ["stein"]


def test_json_reads_back(tmp_path):
    time = FakeTime()
    rows = runner.run(race(time, reach={"peer": 2.0}), clock=time.clock)
    runner.write(tmp_path / "new" / "race.json", "race", runner.machine(), rows)
    read = json.loads((tmp_path / "new" / "race.json").read_text(encoding="utf-8"))
    assert read["name"] == "race" and read["rows"] == rows
    assert read["machine"]["packages"]["numpy"] == np.__version__
    assert {"cpu", "cores", "memory_gib", "threads", "python", "commit", "load"} <= set(
        read["machine"]
    )


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
    command = [sys.executable, tmp_path / "row.py", "--json", tmp_path / "row.json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    wasteful, frugal = json.loads((tmp_path / "row.json").read_text(encoding="utf-8"))["rows"]
    if wasteful["peak_mib"] is None:
        pytest.skip("this system does not let a process reset its peak")
    assert 80 <= wasteful["peak_mib"] <= 84 and not wasteful["lean"]
    assert 0.5 <= frugal["peak_mib"] <= 4


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak is read from /proc")
def test_who_fails_while_memory_is_measured_is_named(tmp_path):
    rows = "import runner\nrunner.run = lambda *race: [dict(contender='frugal')]\nmain(__file__"
    broken = HEAVY.replace("return np.ones((1, 2**17))", "return {}[sys.argv[0]]")
    (tmp_path / "row.py").write_text(broken.replace("main(__file__", rows))
    done = subprocess.run([sys.executable, tmp_path / "row.py"], capture_output=True, text=True)
    assert done.returncode == 1 and "frugal, measured for memory, failed" in done.stderr
    assert "KeyError" in done.stderr


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


def test_every_aim_names_a_row_file_and_a_number():
    files = {path.stem for path in (ROOT / "benchmarks").glob("*.py")} - runner.TOOLS
    assert {file for file, *_ in aims.FASTER} < files
    for file, *_, times in aims.AIMS:
        assert fnmatch.filter(files, file) and times > 0, file


def test_aims_are_found_by_title_and_contender_and_idle_ones_are_told():
    lines = [
        ("gram", "Gaussian*", "peer *", 2.0),
        ("gram", "Laplace*", "*", 3.0),
        ("*", "*", "limit", 0.5),
    ]
    assert aims.aims_of("gram", "Gaussian n=5", lines) == {"peer *": 2.0, "limit": 0.5}
    assert aims.aims_of("ridge", "Gaussian n=5", lines) == {"limit": 0.5}
    seen = [("Gaussian n=5", "ours"), ("Gaussian n=5", "peer one"), ("Laplace", "limit")]
    assert aims.idle("gram", seen, lines) == []
    assert aims.idle("gram", [("Gaussian n=5", "another"), ("Sobolev", "peer 1")], lines) == [
        ("Gaussian*", "peer *"),
        ("Laplace*", "*"),
    ]


DYING = f"""
import os, sys
from multiprocessing.util import Finalize
import numpy as np

sys.path.insert(0, {str(ROOT / "benchmarks")!r})
from runner import Race, new_processes

def dies():
    Finalize(None, os._exit, args=(3,), exitpriority=1)  # after it has sent its peak

make = lambda: Race("a row", dict(dies=dies, lives=lambda: np.ones((8, 2**17))), None)
with new_processes([make]) as peak:
    try:
        peak(0, "dies")
    except RuntimeError as problem:
        print(str(problem).split()[-1], 8 <= peak(0, "lives") < 12)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells peaks of memory")
def test_who_dies_after_an_answer_does_not_answer_for_the_next():
    run = subprocess.run([sys.executable, "-c", DYING], capture_output=True, text=True, timeout=60)
    assert run.stdout.split() == ["3", "True"], run.stderr


def result(ratio, low, high, reach=2.0, name="peer", title="a race"):
    "A row as the runner writes it"
    return dict(
        race=title,
        contender=name,
        role="peer",
        ratio=ratio,
        low=low,
        high=high,
        reach=reach,
        median=ratio,
        lower=ratio,
        upper=ratio,
        reached=ratio >= reach,
        sure=not low <= reach <= high,
    )


@pytest.mark.parametrize("first, second, named", [
    (result(1.5, 1.4, 1.6), result(1.5, 1.4, 1.6), True),     # below twice
    (result(1.5, 1.4, 1.6), result(2.5, 2.4, 2.6), False),    # a bad moment
    (result(1.5, 1.4, 1.6), result(1.9, 1.8, 2.1), False),    # the second within its spread
    (result(1.9, 1.8, 2.1), result(1.0, 0.9, 1.1), False),    # the first within its spread: not asked again
    (result(1.5, 1.4, 1.6), None, True),                      # the second run broke
])  # fmt: skip
def test_the_guard_fails_only_where_an_aim_is_missed_twice(
    tmp_path, monkeypatch, first, second, named
):
    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    runner.write(tmp_path / "gram.json", "gram", {}, [first])
    asked = []

    def again(name, race, options):
        asked.append((name, race))
        return [second] if second else []

    short = check.twice(["gram", "ridge"], second=again)
    assert bool(short) == named and asked == [("gram", "a race")] * first["sure"]
    assert all("aim 2" in check.line(*one) for one in short)


def test_the_guard_runs_a_row_again_and_ends_with_status_one(tmp_path):
    waste, slow = (
        "return np.ones((80, 2**17))[:1].copy()",
        "time.sleep(0.05); return np.ones((1, 2**17))",
    )
    row = HEAVY.replace(waste, slow)
    (tmp_path / "slow.py").write_text("import time\n" + row)
    for name in runner.TOOLS:
        (tmp_path / f"{name}.py").write_text(
            (ROOT / "benchmarks" / f"{name}.py").read_text(encoding="utf-8")
        )
    own = (
        (tmp_path / "aims.py")
        .read_text()
        .replace("AIMS = [", 'AIMS = [("slow", "*", "frugal", TIMES),')
    )
    row = (tmp_path / "slow.py").read_text().replace(str(ROOT / "benchmarks"), str(tmp_path))
    (tmp_path / "slow.py").write_text(row)
    for times, status in (("5.0", 1), ("1e-9", 0)):
        (tmp_path / "aims.py").write_text(own.replace("TIMES", times))
        done = subprocess.run(
            [sys.executable, tmp_path / "check.py", "slow"], capture_output=True, text=True
        )
        assert done.returncode == status, done.stderr
        assert ("slow, a row, frugal" in done.stderr) == bool(status)


def test_the_page_shows_every_ratio_with_its_spread_and_aim(tmp_path):
    time = FakeTime()
    rows = runner.run(race(time, reach={"peer": 2.6, "limit": 0.25}), clock=time.clock)
    rows[0] |= dict(peak_mib=12.4)
    curves = [
        dict(
            race="", job=job, n=[1, 2, 4], seconds=[1.0, 2.0, 4.0], slope=1.0, theory=1, counts="n"
        )
        for job in "abcdef"
    ]
    facts = runner.machine()
    report.page(
        dict(gram=dict(machine=facts, rows=rows)), dict(machine=facts, rows=curves), tmp_path
    )
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "| three turns | 2 [1.5, 5.5] | peer | 2.5 [1.78, 3.5] | 2.6 *short*? | 12 |  |" in text
    assert "|  |  | limit (limit) | 0.5 [0.306, 0.75] | 0.25 |  |  |" in text
    assert np.__version__ in text and "| f | 1.00 | 1 | n |" in text
    assert text.splitlines()[2].startswith(
        "In 1 of 1 races ours is faster than the fastest of its peers;"
    )
    left = re.search(r"Not raced in this run: (.*)\.", text)[1].split(", ")
    assert "cards" in left and "ridge" in left and not {"gram", "slopes", "runner"} & {*left}
    for picture in ("best.png", "ratios.png", "slopes.png"):
        assert (tmp_path / picture).stat().st_size > 5000 and f"]({picture})" in text


def test_the_page_opens_with_what_its_tables_say():
    text = (ROOT / "benchmarks" / "page" / "README.md").read_text(encoding="utf-8")
    races = []  # the ratios of each, limits left out
    for line in text.splitlines():
        cells = [o.strip() for o in line.split("|")]
        if len(cells) == 9 and cells[4][:1].isdigit():
            if cells[1]:
                races.append([])
            if "(limit)" not in cells[3]:
                races[-1].append(float(cells[4].split()[0]))
    least = [min(race) for race in races if race]
    title, _, first, _, picture = text.splitlines()[:5]
    assert first.startswith(f"In {sum(o > 1 for o in least)} of {len(least)} races ours is faster")
    told = re.search(r"is ([\d.]+), the least ([\d.]+) \(", first).groups()
    assert told[1] == f"{min(least):.3g}"
    assert float(told[0]) == pytest.approx(np.median(least), rel=0.005)  # of three digits
    assert title.startswith("# ") and picture.endswith("](best.png)")


def test_the_page_says_why_a_peer_was_faster_and_where_nobody_knows():
    best = [
        (0.25, "sgd: an epoch, n=8", "numba loop"),
        (0.5, "sgd: an epoch, n=9", "numba loop"),
        (0.75, "path: 50 values", "a peer"),
        (1.5, "sgd: an epoch, n=9", "NumPy loop"),
    ]
    loop, unknown = report.reasons(best)
    why = next(line[-1] for line in aims.FASTER if line[:3] == ("sgd", "*", "numba loop"))
    ratios = "an epoch, n=8: 0.25; an epoch, n=9: 0.5"
    assert loop == f"- numba loop: {why} ({ratios})."
    assert unknown == "- a peer: no reason is known (50 values: 0.75)."
    assert "no reason is known" not in (report.STORED / "README.md").read_text(encoding="utf-8")


def test_the_picture_has_a_dot_for_each_contender_and_a_bar_at_one(tmp_path):
    time = FakeTime()
    rows = runner.run(race(time, reach={"peer": 2.0}), clock=time.clock)
    labels = [label for label, _ in report.picture(dict(gram=dict(rows=rows)), tmp_path / "p.png")]
    assert labels == ["gram: three turns, limit", "gram: three turns, peer"]
    assert list(report.pairs([dict(role="ours"), dict(role="peer")])) == []  # not timed: no ratio


def test_slopes_are_those_of_powers():
    import slopes

    assert slopes.slope([100, 200, 400, 800], [9.0, 4.0, 32.0, 256.0]) == pytest.approx(3)
    row = slopes.measured("ridge", True, runner.process_clock)
    assert row["n"] == [6, 12, 25, 50, 100] and min(row["seconds"]) > 0 and row["reached"] is None


def test_the_clock_of_the_process_counts_children_and_not_sleep():
    import time

    start = runner.process_clock()
    time.sleep(0.3)
    slept, start = runner.process_clock() - start, runner.process_clock()
    work = "import time\nwhile time.process_time() < 0.3: pass"
    subprocess.run([sys.executable, "-c", work], check=True)
    assert slept < 0.1 < runner.process_clock() - start
