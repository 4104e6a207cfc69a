"""Races between this library and its peers: results are compared first, then time and memory.

    python benchmarks/runner.py              every row, as `make bench` does; PROFILE=full: the long ones too
    python benchmarks/runner.py gram         the rows named
    python benchmarks/gram.py --only d=784   one row, the races whose title holds this text
    python benchmarks/gram.py --cpu          process time on one thread: for a machine that is busy

A row is a file beside this one that ends with `main(__file__, rows)`; rows(quick) is a list of
functions without arguments, each of which makes its data and returns a Race. What
it should reach stands in aims.py; report.py makes the page, check.py the guard.

Time: the contenders take turns, A B A B, so that a busy moment of the machine falls on all of
them. Before a turn they wait until no thread computes: those of BLAS spin for 0.1 s after a product,
on a core that the next contender needs. A turn of less than 0.1 s is run twice, and the second is
timed: the wait has cooled the caches. Medians and quartiles are of the wall clock (of the process
with --cpu). Freeing the result is not timed.

Memory: each contender runs once in a process of its own, forked from one in which nothing has run
yet, and the kernel of the system says by how much its resident memory rose at most. That sees
everything: NumPy, work space of BLAS, C libraries, threads. tracemalloc would see only what Python
and NumPy allocate, and ru_maxrss starts at the size of the process that forked.
"""

import argparse
import ctypes
import gc
import json
import math
import multiprocessing
import os
import platform
import statistics
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from fnmatch import fnmatchcase
from importlib import metadata
from pathlib import Path

import numpy as np
from aims import aims_of, idle

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / "_bench"  # made by the tools, like _site and _build
TOOLS = {"runner", "aims", "levels", "report", "check"}
# with PROFILE=full
LONG = {"dependence_level", "mmd_calibration", "mmd_power", "scale_million"}
FULL = os.environ.get("PROFILE") == "full"
SMALL = 64.0  # MiB beside the result that nobody minds
PATIENCE = math.inf if FULL else 6.0  # seconds; who takes longer for a turn is timed once
SHORT = 0.1  # seconds; a shorter turn follows one that warms the caches


class Disagreement(Exception):
    "Two contenders gave different results: there is nothing to time."


@dataclass(frozen=True)
class Race:
    """Functions that do the same work on the same data.

    Parameters
    ----------
    title : str
    contenders : dict              {name: function without arguments}, ours first
    agree : function               agree(ours, theirs) raises AssertionError if results differ
    reach : dict, optional         {name, * for anything: times longer than ours}; from aims.py
    limit : str                    the contender that does only what nobody can avoid; its result
                                   is another one and is not compared
    error : function, optional     error(result) ≥ 0, the distance from an exact reference
    repeats : int                  how often each contender is timed; once if it is slow (PATIENCE)
    once : tuple of str            contenders so slow, and with so little to warm up, that the run whose
                                   result is compared is also their only turn; not with PROFILE=full
    """

    title: str
    contenders: dict
    agree: Callable
    reach: dict | None = None
    limit: str | None = None
    error: Callable | None = None
    repeats: int = 7
    once: tuple = ()


# ---------------------------------------------------------------- data


def points(n, d, dtype=float, seed=0):
    "Standard normal points (n, d); √d is then the usual bandwidth, and k(x, y) is about 1/e."
    return np.random.default_rng(seed).standard_normal((n, d)).astype(dtype)


# ---------------------------------------------------------------- time


def run(race, clock=time.perf_counter):
    """The rows of one race.

    Parameters
    ----------
    race : Race
    clock : function              the time now, in seconds

    Returns
    -------
    list of dict                  one a contender: race, contender, role (ours, peer or limit),
                                  agrees, error, result_mib; also seconds, median, lower
                                  and upper quartile, ratio (their median / ours), low and high
                                  (quartiles of the turns' ratios), reach, reached,
                                  sure (the aim lies outside the quartiles of the turns' ratios)

    Raises
    ------
    Disagreement                  names the contender; nothing was timed
    ValueError                    there is nobody to compare with
    """
    rows = compare(race, clock)
    known = {row["contender"]: row.pop("seconds") for row in rows if "seconds" in row}
    others = {name: work for name, work in race.contenders.items() if name not in known}
    add_times(rows, race, interleave(others, race.repeats, clock) | known)
    return rows


def compare(race, clock=time.perf_counter):
    "One row a contender; every peer's result has been compared with ours. Only who runs once is timed."
    names, once = list(race.contenders), () if FULL else race.once
    limit = race.limit
    if limit is not None and limit not in names[1:]:
        raise ValueError(f"{race.title}: the limit {limit!r} is no contender after the first.")
    if not [name for name in names[1:] if name != limit]:
        raise ValueError(f"{race.title}: no peer says whether the result is right.")
    ours, rows = None, []
    for name in names:
        role = "ours" if name == names[0] else "limit" if name == limit else "peer"
        start = clock() if name in once else None
        result = race.contenders[name]()
        timed = dict(seconds=[clock() - start]) if name in once else {}
        ours = result if role == "ours" else ours
        rows.append(
            dict(race=race.title, contender=name, role=role)
            | timed
            | judge(race, name, role, ours, result)
        )
    return rows


def judge(race, name, role, ours, result):
    "What can be said of one result before any time is taken."
    error = float(race.error(result)) if race.error is not None and role != "limit" else None
    row = dict(agrees=None, error=error, result_mib=mib(result))
    if role == "peer":
        try:
            race.agree(ours, result)
        except AssertionError as e:
            first = next(iter(race.contenders))
            raise Disagreement(
                f"{race.title}: {name!r} and {first!r} give different results, "
                f"so nothing was timed. {e}"
            ) from None
        row["agrees"] = True
    return row


def interleave(contenders, repeats, clock=time.perf_counter, patience=PATIENCE):
    """Seconds of every turn; the turns go A B A B, and who took too long in the first sits out.

    Parameters
    ----------
    contenders : dict     {name: function without arguments}
    repeats : int         turns of each
    clock : function      the time now, in seconds
    patience : float      seconds of a turn after which a contender has no other

    Returns
    -------
    dict                  {name: list of seconds}
    """
    seconds = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, work in contenders.items():
            if max(seconds[name], default=0) > patience:
                continue
            settle()
            took = timed(work, clock)
            seconds[name].append(timed(work, clock) if took < SHORT else took)
    return seconds


def timed(work, clock):
    "Seconds of one turn."
    start = clock()
    result = work()
    took = clock() - start
    del result  # freed outside of the clock
    return took


def settle(patience=0.3):
    "Wait until this process computes nothing for 20 ms, but not for longer than so many seconds."
    quiet = 0
    for _ in range(int(patience / 0.005)):
        start, used = time.perf_counter(), time.process_time()
        time.sleep(0.005)
        idle = time.process_time() - used < 0.2 * (time.perf_counter() - start)
        quiet = (quiet + 1) * idle  # a thread may wait for a processor for a while
        if quiet == 4:
            return


def add_times(rows, race, seconds):
    "Medians, quartiles and ratios into the rows of a race."
    ours = seconds[rows[0]["contender"]]
    for row in rows:
        times = seconds[row["contender"]]
        lower, median, upper = quartiles(times)
        low, _, high = quartiles([t / own for t, own in zip(times, ours, strict=False)])
        row |= dict(
            seconds=times,
            median=median,
            lower=lower,
            upper=upper,
            low=low,
            high=high,
            ratio=median / statistics.median(ours),
            reach=target(race, row),
            reached=None,
            sure=None,
        )
        if row["reach"] is not None:
            row |= dict(reached=row["ratio"] >= row["reach"], sure=not low <= row["reach"] <= high)


def quartiles(times):
    "Lower quartile, median and upper quartile; of a single time three times that one."
    return statistics.quantiles(times, n=4, method="inclusive") if len(times) > 1 else times * 3


def target(race, row):
    "The ratio that this row should reach, or None."
    met = [
        times for name, times in (race.reach or {}).items() if fnmatchcase(row["contender"], name)
    ]
    return met[0] if met and row["role"] != "ours" else None


def process_clock():
    "Seconds that this process and the ones it has waited for have computed, all threads together."
    try:
        import resource

        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.process_time() + children.ru_utime + children.ru_stime
    except ImportError:
        return time.process_time()


def clock_of(asked):
    "(the clock, a context that holds BLAS to one thread with --cpu)"
    if not asked.cpu:
        return time.perf_counter, nullcontext()
    from threadpoolctl import threadpool_limits

    return process_clock, threadpool_limits(1)


# ---------------------------------------------------------------- memory


def mib(result):
    "Size of an array, or of a tuple or list of arrays, in MiB; None for anything else."
    parts = result if isinstance(result, (tuple, list)) else [result]
    sizes = [getattr(part, "nbytes", None) for part in parts]
    return None if None in sizes or not sizes else sum(sizes) / 2**20


def peak_mib(work):
    """MiB by which the resident memory of this process rises while work() runs, at most.

    The result counts. Call it in a fresh process: memory freed earlier and not given back to the
    system would be used again unseen.

    Parameters
    ----------
    work : function without arguments

    Returns
    -------
    float or None       None where the system does not tell (it is Linux that does)
    """
    gc.collect()
    if not reset_peak():
        return None
    before = resident("VmRSS")
    result = work()  # kept until the peak is read
    after = resident("VmHWM")
    del result
    return after - before


def reset_peak():
    "Start a new peak from the memory in use; False where the system cannot."
    try:
        ctypes.CDLL(None).malloc_trim(0)  # what making the data has freed goes back to the system
        Path("/proc/self/clear_refs").write_text("5")
        return resident("VmHWM") is not None
    except (OSError, AttributeError, TypeError):
        return False


def resident(field):
    "VmRSS, memory in use, or VmHWM, its peak since the reset, in MiB; None if it is not told."
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) / 1024
    return None


@contextmanager
def new_processes(makers):
    """A function (index, contender) -> peak_mib, or None where the system does not tell it.

    Each call runs one contender of makers[index]() in a process of its own, which is forked from one
    that was forked when the context was entered: nothing has run in it, all is imported.
    """
    if not sys.platform.startswith("linux"):
        yield lambda index, name: None
        return
    fork = multiprocessing.get_context("fork")
    here, there = fork.Pipe()
    server = fork.Process(target=serve_peaks, args=(fork, there, makers))
    server.start()

    def peak(index, name):
        here.send((index, name))
        answer = here.recv()
        if isinstance(answer, str):
            raise RuntimeError(f"{name}, measured for memory, failed:\n{answer}")
        return answer

    try:
        yield peak
    finally:
        here.send(None)
        server.join()


def serve_peaks(fork, there, makers):
    "Answers each (index, contender) that comes through the pipe, until None does"
    while (asked := there.recv()) is not None:
        mine, its = fork.Pipe()
        worker = fork.Process(target=send_peak, args=(its, makers, *asked))
        worker.start()
        worker.join()  # one answer each, also of who dies after it has sent one
        there.send(f"exit status {worker.exitcode}" if worker.exitcode else mine.recv())


def send_peak(there, makers, index, name):
    "The peak through the pipe, or what went wrong"
    try:
        there.send(peak_mib(makers[index]().contenders[name]))
    except Exception:
        there.send(traceback.format_exc())


def add_memory(rows, index, peak_of):
    "Peaks into the rows, and for ours whether it needs no more than the result again, or little."
    for row in rows:
        peak, size = peak_of(index, row["contender"]), row["result_mib"]
        extra = None if None in (peak, size) else max(0.0, peak - size)
        lean = extra <= max(size, SMALL) if extra is not None and row["role"] == "ours" else None
        row |= dict(peak_mib=peak, extra_mib=extra, lean=lean)


# ---------------------------------------------------------------- machine


def machine(cpu_time=False):
    """What the numbers depend on besides the code.

    Parameters
    ----------
    cpu_time : bool    the clock counts what the process computes, on one thread

    Returns
    -------
    dict       memory in GiB, load the mean number of busy processes in the last minute
    """
    from threadpoolctl import threadpool_info

    import rkhs_notes
    from rkhs_notes import settings

    threads = [
        f"{pool['internal_api']} {pool['version'] or ''}".strip()
        + f" x {pool['num_threads']} ({pool.get('architecture') or pool['prefix']})"
        for pool in threadpool_info()
    ]
    packages = ("numpy", "scipy", "scikit-learn", "threadpoolctl")
    return dict(
        when=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        cpu=cpu(),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        memory_gib=memory_gib(),
        load=os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        system=f"{platform.system()} {platform.release()}",
        python=platform.python_version(),
        packages={name: metadata.version(name) for name in packages},
        threads=threads,
        rkhs_notes=rkhs_notes.__version__,
        commit=commit(Path(rkhs_notes.__file__).parent),
        block_mib=settings.block_mib,
        clock="process" if cpu_time else "wall",
    )


def cpu():
    "The processor's name."
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line[:10] == "model name")
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def memory_gib():
    "Memory of the machine, or None."
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    except (AttributeError, OSError, ValueError):
        return None


def commit(package):
    "Commit the package was read from, with '+ changes' if it was edited since; None outside git."

    def git(*arguments):
        return subprocess.run(
            ["git", "-C", str(package), *arguments], capture_output=True, text=True, check=True
        ).stdout.strip()

    try:
        git("ls-files", "--error-unmatch", "__init__.py")  # a copy in .venv is not the checkout
        return git("rev-parse", "--short=12", "HEAD") + " + changes" * bool(
            git("status", "--porcelain", "--", ".")
        )
    except (OSError, subprocess.CalledProcessError):
        return None


# ---------------------------------------------------------------- table and JSON

COLUMNS = (
    ("", 28),
    ("median s", 9),
    ("quartiles s", 18),
    ("ratio", 6),
    ("aim", 13),
    ("error", 8),
    ("peak MiB", 9),
    ("result MiB", 11),
)


def described(facts):
    "The machine in four lines."
    memory, load = (number(facts, "memory_gib", ".0f") or "?", number(facts, "load", ".2f") or "?")
    packages = ", ".join(f"{name} {version}" for name, version in facts["packages"].items())
    return "\n".join(
        [
            f"{facts['cpu']}, {facts['cores']} cores, {memory} GiB, load {load}, {facts['system']}",
            f"Python {facts['python']}, {packages}",
            f"threads: {', '.join(facts['threads'])}; seconds of the {facts['clock']}",
            f"rkhs_notes {facts['rkhs_notes']}, commit {facts['commit'] or 'unknown'}, "
            f"block_mib {facts['block_mib']:g}; {facts['when']}",
        ]
    )


def aligned(cells):
    "One line of the table: the first column to the left, the others to the right."
    (first, width), *rest = zip(cells, (width for _, width in COLUMNS), strict=True)
    return (first.ljust(width) + "".join(cell.rjust(width + 1) for cell, width in rest)).rstrip()


def heading():
    "The names of the columns and what they mean."
    return (
        "ratio: time / time of ours, above 1 ours is faster\n"
        "aim: a ratio to reach; with ? a quarter of the turns say otherwise\n"
        "error: largest distance from an exact reference\n"
        "peak: memory while it runs, the result included\n\n"
        + aligned([name for name, _ in COLUMNS])
    )


def table(rows):
    "The rows of one race under its title."
    return "\n".join([rows[0]["race"]] + [aligned(cells(row)) for row in rows])


def cells(row):
    "A row of results as text, one string a column."
    spread = " - ".join(number(row, name, ".4f") for name in ("lower", "upper"))
    label = "  " + row["contender"] + " (limit)" * (row["role"] == "limit")
    return [
        label,
        number(row, "median", ".4f"),
        spread.strip(" -"),
        number(row, "ratio", ".2f"),
        verdict(row),
        number(row, "error", ".1e"),
        number(row, "peak_mib", ".0f"),
        number(row, "result_mib", ".0f"),
    ]


def number(row, name, form):
    "row[name] in a format, or nothing if there is no such number."
    return "" if row.get(name) is None else format(row[name], form)


def verdict(row):
    "The aim and whether it was reached."
    if row.get("reached") is None:
        return ""
    aim = f">= {row['reach']:.3g}"
    return f"{aim} {'yes' if row['reached'] else 'NO'}{'?' * (row.get('sure') is False)}"


def summary(rows):
    "How many aims were reached, and which were not."
    aims = [row for row in rows if row.get("reached") is not None]
    missed = [
        f"  {row['race']}, {row['contender']}: {row['ratio']:.2f} < {row['reach']:.3g}"
        for row in aims
        if not row["reached"]
    ]
    missed_memory = [
        f"  {row['race']}: {row['extra_mib']:.0f} MiB beside a result of "
        f"{row['result_mib']:.0f} MiB"
        for row in rows
        if row.get("lean") is False
    ]
    lines = [f"{len(aims) - len(missed)} of {len(aims)} aims reached" + ":" * bool(missed), *missed]
    if missed_memory:
        lines += ["more memory beside the result than the result takes:", *missed_memory]
    return "\n".join(lines)


def write(path, name, facts, rows):
    """The results of one row file as JSON: {name, machine, rows}.

    Parameters
    ----------
    path : Path
    name : str
    facts : dict              of machine()
    rows : list of dict       of run(), with seconds and MiB
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(dict(name=name, machine=facts, rows=rows), indent=1)
    path.write_text(text + "\n", encoding="utf-8")


# ---------------------------------------------------------------- command line


def main(file, rows, arguments=None):
    """Run one row file: print its table and write its JSON.

    Parameters
    ----------
    file : str                  the row file's __file__
    rows : function             rows(quick) -> list of functions () -> Race
    arguments : list of str     instead of the command line
    """
    name = Path(file).stem
    asked = parser(name).parse_args(arguments)
    makers = rows(asked.quick)
    clock, threads = clock_of(asked)
    with threads, new_processes(makers) as peak_of:
        facts, results = machine(asked.cpu), []
        print(described(facts), heading(), sep="\n")
        try:
            for index, make in enumerate(makers):
                results += measured(name, index, make, asked, clock, peak_of)
        except Disagreement as e:
            sys.exit(str(e))
    print(summary(results))
    part = asked.quick or asked.only  # from which no page is made
    write(asked.json or RESULTS / ("part" if part else "") / f"{name}.json", name, facts, results)
    if not part:
        for race, contender in idle(name, [(row["race"], row["contender"]) for row in results]):
            print(f"a line of aims.py meets nobody here: {race}, {contender}", file=sys.stderr)


def parser(name):
    "The options of a row file."
    options = argparse.ArgumentParser(prog=f"{name}.py", allow_abbrev=False)
    options.add_argument(
        "--quick",
        action="store_true",
        help="few points, 3 repeats, no aims, no memory: does it run?",
    )
    options.add_argument(
        "--cpu", action="store_true", help="process time on one thread instead of the wall clock"
    )
    options.add_argument("--only", default="", metavar="TEXT", help="races with this in the title")
    options.add_argument(
        "--json",
        type=Path,
        metavar="PATH",
        help=f"where the results go; by default {RESULTS.name}/{name}.json, or /part/{name}.json",
    )
    return options


def measured(name, index, make, asked, clock, peak_of):
    "The rows of one race, printed as soon as they are there; none if it was not asked for."
    race = make()
    if asked.only not in race.title:
        return []
    # the aims hold for full sizes
    race = (
        replace(race, repeats=3) if asked.quick else replace(race, reach=aims_of(name, race.title))
    )
    rows = run(race, clock)
    if not asked.quick:
        add_memory(rows, index, peak_of)
    print(table(rows), flush=True)
    return rows


def row_files():
    "The names of all row files"
    return sorted({path.stem for path in HERE.glob("*.py")} - TOOLS)


def asked_for(arguments):
    "(the row files named, or all of them, the long ones with PROFILE=full; the options)"
    known = row_files()
    named = [argument for argument in arguments if argument in known]
    options = [argument for argument in arguments if argument not in known]
    return named or [name for name in known if FULL or name not in LONG], options


def run_files(arguments):
    "Every row file, or those named, each in a process of its own; the exit status."
    names, options = asked_for(arguments)
    failed = 0
    for name in names:
        print(f"\n== {name}", flush=True)
        failed |= subprocess.run([sys.executable, HERE / f"{name}.py", *options]).returncode != 0
    if options == list(arguments) and "--quick" not in options:
        import report

        report.main()
    return failed


if __name__ == "__main__":
    sys.exit(run_files(sys.argv[1:]))
