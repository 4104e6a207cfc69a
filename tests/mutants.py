"""Plants faults of a machine in copies of the project, one at a time: does a test notice? (make mutants)

`make coverage` says which tests run which line. Of all faults on such lines (faults.py), the same share of
every module and operator is drawn; the tests that run the line are asked until one fails: kept answers first,
then those whose file names the function, the quickest first, for a minute at the most. What no test notices
has survived. A line of _mutants/SEED.jsonl a fault: a run that was stopped goes on. Whatever failed runs once
more without a fault: if it fails there too, it has noticed nothing. equivalent.json lists faults that no user
could see, with reasons.
"""

import argparse
import json
import multiprocessing
import os
import random
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from itertools import groupby
from pathlib import Path

import pytest
from coverage import CoverageData
from scipy.stats import binomtest

from faults import Finder, planted

ROOT = Path(__file__).resolve().parents[1]
COVERAGE, KEPT = ROOT / "_coverage", ROOT / "_mutants"
EQUIVALENT = Path(__file__).with_name("equivalent.json")
OPTIONS = ["-q", "-x", "-n", "0", "-p", "no:cacheprovider", "-W", "ignore"]
BUDGET = 60  # seconds of tests that a fault is given
TEXTUAL = "test_sync", "test_style", "test_house", "test_mutants"  # they read sources, not results
KEPT_ANSWERS = "test_answers.py"  # of all tests, they notice most in a second
USED = "numpy scipy.stats scipy.optimize scipy.sparse.linalg matplotlib.pyplot hypothesis pandas nbformat"


def place(file):
    "A file of the package, in whatever checkout its lines were followed"
    return Path("rkhs_notes") / file.rpartition("rkhs_notes/")[2]


def drawn(data, size, rng, modules):
    "[(file, fault)]: one of every N / size faults on lines that tests run, by module and operator"
    every = []
    for file in sorted(data.measured_files()):
        path = ROOT / place(file)
        if path.parent.name != "answers" and (not modules or path.stem in modules):
            ran = set(data.lines(file))
            found = Finder(path.read_text(encoding="utf-8")).found
            found = [fault for fault in found if {fault.line, fault.statement} & ran]
            rng.shuffle(found)
            every += [(file, fault) for fault in sorted(found, key=lambda fault: fault.operator)]
    step = max(1, len(every) / size)
    return [every[int(step * (i + rng.random()))] for i in range(int(len(every) / step))]


def with_tests(data, faults):
    "(file, fault, its tests in the order in which they are asked, seconds that they take)"
    seconds = json.loads((COVERAGE / "seconds.json").read_text(encoding="utf-8"))
    texts = {path.name: path.read_text("utf-8") for path in (ROOT / "tests").glob("*/test_*.py")}
    home = {test: test.split("::")[0].split("/")[-1] for test in seconds}
    asked = {test for test in seconds if home[test].removesuffix(".py") not in TEXTUAL}
    for file, pairs in groupby(faults, key=lambda pair: pair[0]):
        ran = data.contexts_by_lineno(file)
        for _, fault in pairs:
            tests = asked & set(ran.get(fault.line) or ran[fault.statement])
            # what runs when a module is imported is asked of all its tests
            tests = tests or asked & set().union(*ran.values())
            near = {name for name in texts if fault.owner and fault.owner in texts[name]}
            rank = {name: 1 for name in near} | {KEPT_ANSWERS: 0}
            tests = sorted(tests, key=lambda t: (rank.get(home[t], 2), seconds[t], t))
            spent, chosen = 0.0, []
            for test in tests:
                spent += seconds[test] + 0.01
                if chosen and spent > BUDGET:
                    break
                chosen.append(test)
            yield file, fault, chosen, spent


class First:
    "A plugin of pytest: tells which test fails first"

    def __init__(self, tell):
        self.tell = tell

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.tell.send(report.nodeid)

    def pytest_collectreport(self, report):
        if report.failed:
            self.tell.send("import")


def ask(folder, tests, tell):
    "In a process of its own: pytest in a copy"
    os.setsid(), os.chdir(folder)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # some tests send it
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1), os.dup2(silent, 2)
    sys.dont_write_bytecode = True
    sys.path[:0] = [str(folder), str(folder / "tests")]
    tell.send(f"status {int(pytest.main([*OPTIONS, *tests], plugins=[First(tell)]))}")


def first_failure(folder, tests, seconds):
    "The first of some tests that fails in a copy, 'time' if they do not end, or '': all pass"
    there, here = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=ask, args=(folder, tests, here))
    process.start(), here.close()
    try:
        said = there.recv() if there.poll(60 + 5 * seconds) else "time"
    except EOFError:
        said = "broken"  # it ended in the midst of a test
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.join()
    if said == "status 4":  # conftest.py cannot be read, or a test is not there
        return "import"
    return "" if said == "status 0" else said


def start(top, root):
    "In each worker: a copy of all files that git knows or would add, and what the tests import"
    global FOLDER
    FOLDER = Path(tempfile.mkdtemp(dir=top)) / "copy"
    subprocess.run(["git", "clone", "-q", root, FOLDER], check=True)
    ask = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(ask, cwd=root, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        if (root / name).is_file():
            (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, FOLDER / name)
    for name in USED.split():
        import_module(name)


def tried(file, fault, tests, seconds):
    "The fault in words, and who noticed it"
    path = FOLDER / place(file)
    source = path.read_text(encoding="utf-8")
    try:
        path.write_text(planted(source, fault.span, fault.new), encoding="utf-8")
        noticed = first_failure(FOLDER, tests, seconds)
    finally:
        path.write_text(source, encoding="utf-8")
    return {"module": path.stem, **fault._asdict(), "tests": len(tests), "noticed": noticed}


def sound(tests):
    "Those of some tests that pass without a fault"
    tests = set(tests)
    while tests and (failed := first_failure(FOLDER, sorted(tests), 1000)):
        if failed not in tests:
            raise RuntimeError(f"without a fault, the tests end with {failed!r}")
        tests.remove(failed)
    return tests


def in_words(fault):
    "What equivalent.json knows a fault by, wherever its line has moved"
    return f"{fault['module']} {fault['owner']}: {fault['old']} → {fault['new']}"


def row(name, kept):
    "name, planted, noticed, share, its 95 % interval"
    noticed = sum(bool(fault["noticed"]) for fault in kept)
    test = binomtest(noticed, len(kept)).proportion_ci(method="wilson")
    share = noticed / len(kept)
    print(f"{name:<20}{len(kept):>8}{noticed:>8}{share:>8.1%}   {test.low:.1%} to {test.high:.1%}")


def report(kept):
    "Survivors, then a row a module and an operator, and all together"
    listed = json.loads(EQUIVALENT.read_text(encoding="utf-8"))
    equivalent = [fault for fault in kept if not fault["noticed"] and in_words(fault) in listed]
    kept = [fault for fault in kept if fault not in equivalent]
    for fault in kept:
        if not fault["noticed"]:
            print(f"survived {fault['tests']} tests, line {fault['line']} of {in_words(fault)}")
    print(f"{'':<20}{'planted':>8}{'noticed':>8}{'share':>8}   95 %")
    for column in ("module", "operator"):
        for name in sorted({fault[column] for fault in kept}):
            row(name, [fault for fault in kept if fault[column] == name])
    row("together", kept)
    print(f"{len(equivalent)} more are argued to change nothing, in {EQUIVALENT.name}")


def main(seed, size, modules):
    data = CoverageData(COVERAGE / "data")
    data.read()
    if not data.measured_contexts():
        sys.exit("which test runs which line? run make coverage first")
    path = KEPT / f"{seed}.jsonl"
    path.parent.mkdir(exist_ok=True)
    kept = [json.loads(line) for line in path.open(encoding="utf-8")] if path.exists() else []
    known = {(fault["module"], fault["new"], *fault["span"]) for fault in kept}
    wanted = [
        job
        for job in with_tests(data, drawn(data, size, random.Random(seed), modules))
        if (place(job[0]).stem, job[1].new, *job[1].span) not in known
    ]
    print(f"to see these faults again: make mutants SEED={seed}")
    n_workers = int(os.environ.get("JOBS", len(os.sched_getaffinity(0))))
    with (
        tempfile.TemporaryDirectory() as top,
        ProcessPoolExecutor(
            n_workers, multiprocessing.get_context("spawn"), start, (top, ROOT)
        ) as pool,
        path.open("a", encoding="utf-8") as file,
    ):
        for fault in pool.map(tried, *zip(*wanted, strict=True)) if wanted else ():
            kept.append(fault)
            print(json.dumps(fault), file=file, flush=True)
        noticed = {fault["noticed"] for fault in kept} - {"", "time", "broken", "import"}
        passing = pool.submit(sound, noticed).result()
        for fault in kept:
            if fault["noticed"] in noticed - passing:
                print(f"{fault['noticed']} fails without a fault as well")
                fault["noticed"] = ""
    report(kept)


if __name__ == "__main__":
    os.environ |= {"OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**31))
    parser.add_argument("--size", type=int, default=400)
    parser.add_argument("modules", nargs="*")
    main(**vars(parser.parse_args()))
