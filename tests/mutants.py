"""Plants faults in copies of the package, one at a time, and asks the tests (make mutants).

mutants.json holds, for each module, the tests that should notice and the faults: what stands there, once,
what is planted in its place, and its class, if that is not the last of CLASSES. Tests that end with status 1
have noticed; status 0 is a survivor: a test is missing, or the fault is none. Anything else is a mistake in
the list or here, and is shown as it is.

All tests of a file that the list asks for run once without a fault, in a process of their own, which sees how
long each takes and which functions it enters. Each fault of a function is then given to the functions of a
fork of that process, where all is imported and collected, and the tests that enter them run, the shortest
first. What survives there, or stands outside of functions, is planted in the file, for a fresh process.
"""

import ast
import gc
import json
import multiprocessing
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from inspect import CO_OPTIMIZED
from itertools import pairwise
from pathlib import Path
from queue import Queue

import pytest
from _pytest.mark import KeywordMatcher
from _pytest.mark.expression import Expression
from _pytest.runner import runtestprotocol
from hypothesis import Phase, settings

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from website.forks import FORKS  # noqa: E402

LIST = Path(__file__).with_name("mutants.json")
OPTIONS = ["-q", "-x", "-n", "0", "-p", "no:cacheprovider"]
CLASSES = {
    "bound": "certificates and bounds that are tested from one side only",
    "weights": "weights, ties and rank",
    "checker": "laws that meet gross impostors only: a tolerance that grows",
    "settings": "what the settings say",
    "branch": "branches that hardly ever run",
    "level": "counts and levels of tests",
    "formula": "all others: a sign, a factor, an axis, an argument that is ignored",
}


def planted(source, old, new):
    "The source with the fault, if `old` stands there exactly once and the rest is still Python"
    if (times := source.count(old)) != 1:
        raise ValueError(f"stands {times} times, not once: {old!r}")
    ast.parse(mutant := source.replace(old, new))
    return mutant


def file_of(package, module):
    "The file of a module, in whatever room"
    return min(package.rglob(f"{module}.py"), key=lambda path: len(path.parts))


def copied(folder):
    "A copy of all files that git knows or would add"
    ask = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(ask, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def changed(old, new):
    "{code: code in its place} of the functions that differ in two modules, or None if more than functions do"
    inner = [[c for c in code.co_consts if isinstance(c, types.CodeType)] for code in (old, new)]
    own = [
        (
            code.co_code,
            code.co_names,
            [c for c in code.co_consts if not isinstance(c, types.CodeType)],
        )
        for code in (old, new)
    ]
    if own[0] != own[1] or len(inner[0]) != len(inner[1]):
        return None
    pairs = {}
    for a, b in zip(*inner, strict=True):
        if a != b and (more := {a: b} if a.co_flags & CO_OPTIMIZED else changed(a, b)) is None:
            return None
        pairs |= {} if a == b else more
    return pairs


def functions_of(package):
    "{code: functions} of all that is imported from a folder"
    found = defaultdict(list)
    for f in gc.get_objects():
        if isinstance(f, types.FunctionType) and f.__code__.co_filename.startswith(package):
            found[f.__code__].append(f)
    return found


def first_failure(items, given, seconds):
    "The place of the first test that fails in a fork, where functions get other codes, or None: none in time"
    there, here = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(
        target=in_a_fork, args=(items, given, here)
    )
    process.start(), here.close()
    try:
        return there.recv() if there.poll(seconds) else None
    except EOFError:  # it broke, or the code needs variables that the function has not
        return None
    finally:
        process.kill(), process.join()


def in_a_fork(items, given, answer):
    "Sends what first_failure says"
    for function, code in given:
        function.__code__ = code
    reports = (
        runtestprotocol(item, log=False, nextitem=after) for item, after in pairwise([*items, None])
    )
    answer.send(next((i for i, some in enumerate(reports) if any(r.failed for r in some)), None))


class Planting:
    "A plugin of pytest: its status goes to `answers`, then 0 or 1 for each fault: does a fork notice?"

    def __init__(self, folder, faults, answers):
        self.package, self.faults, self.answers = str(folder / "rkhs_notes"), faults, answers
        self.seconds, self.entered, self.sound = {}, {}, {}

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self):
        "What breaks is not made smaller"
        settings.register_profile("hasty", settings(phases=[Phase.explicit, Phase.generate]))
        settings.load_profile("hasty")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        codes, start = {}, time.perf_counter()

        def enter(frame, event, _):
            codes[id(frame.f_code)] = frame.f_code

        threading.settrace(enter), sys.settrace(enter if self.faults else None)
        try:
            return (yield)
        finally:
            sys.settrace(None), threading.settrace(None)
            self.seconds[item] = time.perf_counter() - start
            self.entered[item] = {
                c for c in codes.values() if c.co_filename.startswith(self.package)
            }

    def pytest_sessionfinish(self, session, exitstatus):
        inside = str(getattr(sys.modules.get("rkhs_notes"), "__file__", "")).startswith(
            self.package
        )
        self.answers.send(int(exitstatus) if inside else 99)  # of another copy, nothing is known
        if self.faults and inside and exitstatus == 0:
            functions = functions_of(self.package)
            gc.freeze()  # forks share what nobody touches
            for tests, *fault in self.faults:
                self.answers.send(self.noticed(tests, session.items, functions, *fault))

    def noticed(self, tests, items, functions, module, old, new):
        "1 if a test fails with the fault, and does not in a fork without it"
        path = file_of(Path(self.package), module)
        source = path.read_text(encoding="utf-8")
        try:
            pairs = (
                changed(*(compile(s, path, "exec") for s in (source, planted(source, old, new))))
                or {}
            )
        except (ValueError, SyntaxError):  # it cannot be planted: a fresh process says why
            return 0
        given = [
            (f, pairs[c])
            for c in pairs
            for f in functions[c]
            if f.__code__.co_filename == str(path)
        ]
        if {f.__code__ for f, _ in given} != pairs.keys():
            return 0
        wanted = Expression.compile(chosen(tests))
        items = [i for i in items if wanted.evaluate(KeywordMatcher.from_item(i))]
        items = sorted((i for i in items if self.entered[i] & pairs.keys()), key=self.seconds.get)
        limit = 10 + 10 * sum(
            map(self.seconds.get, items)
        )  # some tests wait for threads that a fork has not
        while items and (place := first_failure(items, given, limit)) is not None:
            if (item := items[place]) not in self.sound:
                self.sound[item] = first_failure([item], [], limit) is None
            if self.sound[item]:
                return 1
            items = items[place + 1 :]
        return 0


def session(folder, tests, faults, answers, log):
    "In a process of its own: pytest on a copy; what it prints goes to a file"
    signal.signal(signal.SIGINT, signal.default_int_handler)  # some tests send it
    told = os.open(log, os.O_WRONLY | os.O_CREAT)
    os.dup2(told, 1), os.dup2(told, 2), os.chdir(folder)
    sys.path[:0] = [str(folder), str(folder / "tests")]
    sys.dont_write_bytecode = not faults  # without one, the copy is compiled for all that follow
    pytest.main([*OPTIONS, *shlex.split(tests)], plugins=[Planting(folder, faults, answers)])


def asked(folder, tests, faults=()):
    "The answers of a session, and the end of what its tests print"
    log, (there, here) = folder.with_suffix(".log"), multiprocessing.Pipe(duplex=False)
    log.write_text("")
    process = FORKS.Process(target=session, args=(folder, tests, faults, here, log))
    process.start(), here.close()
    try:
        codes = [there.recv() for _ in range(1 + len(faults)) if there.poll(900)]
    except EOFError:  # it has ended before its tests have
        codes = []
    process.kill()
    return codes or [None], log.read_text(encoding="utf-8")[-2000:]


def tried(folder, tests, module, old, new):
    "0 or 1 for a fault planted in a copy, or an error"
    path = file_of(folder / "rkhs_notes", module)
    source = path.read_text(encoding="utf-8")
    try:
        path.write_text(planted(source, old, new), encoding="utf-8")
        [code], told = asked(folder, tests)
    except (ValueError, SyntaxError) as e:
        return e
    finally:
        path.write_text(source, encoding="utf-8")
    return code if code in (0, 1) else RuntimeError(f"{new!r} ends with {code}\n{told}")


def chosen(tests):
    "x or y, of \"test_a.py -k 'x or y'\""
    return (*shlex.split(tests), "-k", "test")[2]


def together(groups):
    "One selection of all tests of one file that groups of them select"
    either = " or ".join(f"({k})" for k in sorted(set(map(chosen, groups))))
    return f"{shlex.split(groups[0])[0]} -k {shlex.quote(either)}"


def of_a_file(folder, faults):
    "The results, in order, of faults (tests, module, old, new) that tests of one file should notice"
    tests = together([fault[0] for fault in faults])
    (code, *codes), told = asked(folder, tests, faults)
    if code != 0:
        unsound = RuntimeError(f"not tried: without a fault, {tests} ends with {code}\n{told}")
        return [unsound] * len(faults)
    codes += [None] * (len(faults) - len(codes))
    return [
        code if code == 1 else tried(folder, *fault)
        for code, fault in zip(codes, faults, strict=True)
    ]


def main(modules):
    faults = json.loads(LIST.read_text(encoding="utf-8"))
    listed, kinds = {}, {}
    for module in modules or faults:
        for tests, old, new, *kind in (
            (t, *fault) for t in faults[module] for fault in faults[module][t]
        ):
            listed.setdefault(shlex.split(tests)[0], []).append((tests, module, old, new))
            kinds[tests, module, old, new] = (kind or ["formula"])[0]
    folders, n_workers = Queue(), int(os.environ.get("JOBS", len(os.sched_getaffinity(0))))
    with tempfile.TemporaryDirectory() as top, ThreadPoolExecutor(n_workers) as pool:
        for i in range(n_workers):
            folders.put(copied(Path(top) / str(i)))

        def job(of_file):
            folder = folders.get()
            try:
                return zip(of_file, of_a_file(folder, of_file), strict=True)
            finally:
                folders.put(folder)

        return report(kinds, (pair for pairs in pool.map(job, listed.values()) for pair in pairs))


def report(kinds, results):
    "Says what was not noticed as soon as that is known, then all numbers by module and by class"
    found = []
    for (tests, module, old, new), code in results:
        found.append((module, kinds[tests, module, old, new], code))
        if code == 0:
            print(f"survived in {module}: {tests}\n    {old}\n  → {new}", flush=True)
        elif code != 1:
            print(f"in {module}: {code}", flush=True)
    print(f"{'':<18} planted  noticed survived   failed")
    for place, names in enumerate([dict.fromkeys(m for m, *_ in found), CLASSES]):
        for name in names:
            print_row(name, [code for *known, code in found if known[place] == name])
    print_row("together", [code for *_, code in found])
    return int(any(code != 1 for *_, code in found))


def print_row(name, codes):
    noticed, survived = codes.count(1), codes.count(0)
    if codes:
        numbers = len(codes), noticed, survived, len(codes) - noticed - survived
        print(f"{name:<18}" + "".join(f"{n:>9}" for n in numbers))


if __name__ == "__main__":
    os.environ |= {"OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
    sys.exit(main(sys.argv[1:]))
