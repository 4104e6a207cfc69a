"""Plants faults in copies of the package, one at a time, and asks the tests: make mutants, or MODULE="scale sums".

mutants.json holds, for each module, the tests that should notice and pairs of texts: what stands there, once,
and what is planted in its place. Tests that end with status 1 have noticed; status 0 is a survivor: a test is
missing, or the fault is none. Anything else is a fault of the list or of this script, and ends the run.
"""

import ast
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue

ROOT = Path(__file__).resolve().parents[1]
LIST = Path(__file__).with_name("mutants.json")
PYTEST = [sys.executable, "-B", "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider"]


def planted(source, old, new):
    "The source with the fault, if `old` stands there exactly once and the rest is still Python"
    if (times := source.count(old)) != 1:
        raise ValueError(f"stands {times} times, not once: {old!r}")
    ast.parse(mutant := source.replace(old, new))
    return mutant


def copied(folder):
    "A copy of all files that git knows or would add"
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split("\0")  # fmt: skip
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def status(folder, tests, seconds=600):
    "The exit status of pytest in a copy, and the end of what it printed"
    paths = os.pathsep.join(map(str, (folder, folder / "tests", folder / "nbs" / "site")))
    env = os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
    command = ["nice", *PYTEST, *shlex.split(tests)]
    try:
        run = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return 124, f"no end after {seconds} s"
    return run.returncode, run.stdout[-1500:] + run.stderr[-500:]


def tried(folder, module, tests, old, new):
    "0 or 1 for a fault planted in a copy, or an error"
    path = folder / "rkhs_notes" / f"{module}.py"
    source = path.read_text(encoding="utf-8")
    try:
        path.write_text(planted(source, old, new), encoding="utf-8")
        code, told = status(folder, tests)
    finally:
        path.write_text(source, encoding="utf-8")
    if code not in (0, 1):
        raise RuntimeError(f"{module}, {new!r}: pytest ended with {code}\n{told}")
    return code


def main(modules):
    faults = json.loads(LIST.read_text(encoding="utf-8"))
    jobs = [
        (module, tests, old, new)
        for module in modules or faults
        for tests, pairs in faults[module].items()
        for old, new in [("", ""), *pairs]
    ]
    folders, n_workers = Queue(), int(os.environ.get("JOBS", len(os.sched_getaffinity(0))))
    with tempfile.TemporaryDirectory() as top, ThreadPoolExecutor(n_workers) as pool:
        for i in range(n_workers):
            folders.put(copied(Path(top) / str(i)))

        def job(module, tests, old, new):
            folder = folders.get()
            try:
                if old:
                    return tried(folder, module, tests, old, new)
                code, told = status(folder, tests)  # as it stands, everything passes
                return code and RuntimeError(f"without a fault, {tests} ends with {code}\n{told}")
            except (ValueError, SyntaxError, RuntimeError) as e:
                return e
            finally:
                folders.put(folder)

        found = [(one, pool.submit(job, *one)) for one in jobs]
        return report([(*one, future.result()) for one, future in found])


def report(found):
    "Prints how many of each module were noticed, and what was not; the exit status"
    bad = 0
    for module in dict.fromkeys(f[0] for f in found):
        mine = [f for f in found if f[0] == module and (f[2] or f[-1])]
        print(f"{module:<12} {sum(f[-1] == 1 for f in mine):>3} of {len(mine)} noticed")
        for _, tests, old, new, code in mine:
            if code != 1:
                bad += 1
                print(f"    survived {tests}\n        {old}\n     →  {new}" if code == 0 else f"    {code}")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
