"""Plants faults in copies of the package, one at a time, and asks the tests (make mutants).

mutants.json holds, for each module, the tests that should notice and pairs of texts: what stands there, once,
and what is planted in its place. Tests that end with status 1 have noticed; status 0 is a survivor: a test is
missing, or the fault is none. Anything else is a mistake in the list or here, and is shown as it is. Each
fault has a process of its own, forked from one that has imported all libraries but this one.
"""

import ast
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "nbs" / "site"))
from forks import FORKS  # noqa: E402

LIST = Path(__file__).with_name("mutants.json")
OPTIONS = ["-q", "-x", "-n", "0", "-p", "no:cacheprovider"]


def planted(source, old, new):
    "The source with the fault, if `old` stands there exactly once and the rest is still Python"
    if (times := source.count(old)) != 1:
        raise ValueError(f"stands {times} times, not once: {old!r}")
    ast.parse(mutant := source.replace(old, new))
    return mutant


def copied(folder):
    "A copy of all files that git knows or would add"
    ask = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(ask, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def run_tests(folder, tests, log):
    "In a process of its own: pytest on a copy; what it prints goes to a file"
    signal.signal(signal.SIGINT, signal.default_int_handler)  # some tests send it
    told = os.open(log, os.O_WRONLY | os.O_CREAT)
    os.dup2(told, 1), os.dup2(told, 2), os.chdir(folder)
    sys.path[:0] = [str(folder), str(folder / "tests"), str(folder / "nbs" / "site")]
    sys.dont_write_bytecode = True
    code = pytest.main([*OPTIONS, *shlex.split(tests)])
    inside = "rkhs_notes" in sys.modules and folder in Path(sys.modules["rkhs_notes"].__file__).parents
    sys.exit(int(code) if inside else 99)  # of another copy, nothing is known


def status(folder, tests, seconds=900):
    "The exit status of the tests in a copy, None if they do not end, and the end of what they print"
    log = folder.with_suffix(".log")
    log.write_text("")
    process = FORKS.Process(target=run_tests, args=(folder, tests, log))
    process.start()
    process.join(seconds)
    process.kill()
    return process.exitcode, log.read_text(encoding="utf-8")[-2000:]


def untouched(folder, tests):
    "0: without a fault, all tests pass"
    code, told = status(folder, tests)
    if code != 0:
        raise RuntimeError(f"without a fault, {tests} ends with {code}\n{told}")
    return code


def tried(folder, module, tests, old, new, sound):
    "0 or 1 for a fault planted in a copy, or an error"
    if sound.result() != 0:
        raise RuntimeError(f"not tried: {sound.result()}")
    path = folder / "rkhs_notes" / f"{module}.py"
    source = path.read_text(encoding="utf-8")
    try:
        path.write_text(planted(source, old, new), encoding="utf-8")
        code, told = status(folder, tests)
    finally:
        path.write_text(source, encoding="utf-8")
    if code not in (0, 1):
        raise RuntimeError(f"{new!r} ends with {code}\n{told}")
    return code


def main(modules):
    faults = json.loads(LIST.read_text(encoding="utf-8"))
    groups = [(module, tests) for module in modules or faults for tests in faults[module]]
    folders, n_workers = Queue(), int(os.environ.get("JOBS", len(os.sched_getaffinity(0))))
    with tempfile.TemporaryDirectory() as top, ThreadPoolExecutor(n_workers) as pool:
        for i in range(n_workers):
            folders.put(copied(Path(top) / str(i)))

        def job(work, *arguments):
            folder = folders.get()
            try:
                return work(folder, *arguments)
            except (ValueError, SyntaxError, RuntimeError) as e:
                return e
            finally:
                folders.put(folder)

        sound = {group: pool.submit(job, untouched, group[1]) for group in groups}
        found = [
            (*group, old, new, pool.submit(job, tried, *group, old, new, sound[group]))
            for group in groups
            for old, new in faults[group[0]][group[1]]
        ]
        return report([(*fault, code.result()) for *fault, code in found])


def report(found):
    "Prints how many faults of each module were noticed, and those that were not; the exit status"
    for module in dict.fromkeys(fault[0] for fault in found):
        mine = [fault for fault in found if fault[0] == module]
        print(f"{module:<12} {sum(code == 1 for *_, code in mine):>3} of {len(mine)} noticed")
        for _, tests, old, new, code in mine:
            if code != 1:
                print(f"    survived {tests}\n        {old}\n     →  {new}" if code == 0 else f"    {code}")
    return int(any(code != 1 for *_, code in found))


if __name__ == "__main__":
    os.environ |= {"OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
    sys.exit(main(sys.argv[1:]))
