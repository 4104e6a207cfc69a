"""The chapters under other seeds: does what their cells assert hold for other draws?

python -m website.seeds [how many [page ...]]      for example: seeds.py 20 05 06a

A cell must hold for nineteen of twenty seeds, or for all but one of fewer. What has run is kept in _seeds/
and not run again until the page or the package changes: end this at any time and start it again.
"""

import json
import os
import re
import signal
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context

from tqdm import tqdm

from .forks import fork_kernels
from .notebooks import ROOT, chapters, read
from .run import WORKERS, attempt, cache_key

KEPT = ROOT / "_seeds"
APART = 1000  # seeds lie this far apart: a page may draw from settings.seed + 3


def line(output):
    "An error in a line: its own words, or the assertion that has none"
    plain = re.sub(r"\x1b\[[\d;]*m", "", "\n".join(output.traceback))
    at = re.search(r"(?m)^-+> *\d+ +(.*)", plain)
    return f"{output.ename}: {output.evalue or at and at[1]}".splitlines()[0]


def is_consequence(output, failed):
    "Is this the want of a name that an earlier failed cell would have made?"
    missing = re.match(r"name '(\w+)' is not defined", output.evalue)
    return missing and any(re.search(rf"\b{missing[1]}\b", source) for source in failed)


def failures(path, seed):
    "{cell: its error, in a line} of a page; a name missed for want of an earlier failed cell does not count"
    before = os.environ.get("RKHS_NOTES_SEED")
    os.environ["RKHS_NOTES_SEED"] = str(seed)
    try:
        nb, error, _ = attempt(path, "notest", allow_errors=True)
    finally:  # what runs in this process afterwards has the seed that it had
        os.environ.pop("RKHS_NOTES_SEED")
        if before is not None:
            os.environ["RKHS_NOTES_SEED"] = before
    if nb is None:
        return {-1: error.strip().splitlines()[-1]}
    failed, said = [], {}
    for i, cell in enumerate(nb.cells):
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                if not is_consequence(output, failed):
                    said[i] = line(output)
                failed.append(cell.source)
    return said


def judged(paths, seeds, kept=KEPT):
    "Yields (path, seed, failures), those that were kept first"
    kept.mkdir(exist_ok=True)
    os.environ.pop("RKHS_NOTES_SEED", None)  # it is no part of the key
    keys = {path: cache_key(path) for path in paths}
    files = {
        (path, seed): kept / f"{path.stem}-{seed}-{keys[path]}.json"
        for seed in seeds
        for path in paths
    }
    for (path, seed), file in files.items():
        if file.exists():
            yield (
                path,
                seed,
                {int(i): error for i, error in json.loads(file.read_text("utf-8")).items()},
            )
    fresh = get_context("spawn")  # a fork would keep the locks of threads that it does not have
    pool = ProcessPoolExecutor(WORKERS, fresh, initializer=fork_kernels, initargs=[True])
    try:
        todo = {
            pool.submit(failures, *run): run for run, file in files.items() if not file.exists()
        }
        for future in as_completed(todo):
            path, seed = todo[future]
            for old in kept.glob(f"{path.stem}-{seed}-*.json"):
                old.unlink()
            if -1 not in future.result():  # a kernel that ended may have been ended
                files[path, seed].write_text(json.dumps(future.result(), indent=1), "utf-8")
            yield path, seed, future.result()
    finally:
        pool.shutdown(cancel_futures=True)


@dataclass
class Table:
    "Which cells failed, and under which seeds"

    seeds: list
    found: dict = field(default_factory=dict)

    def add(self, path, seed, failed):
        for cell, error in failed.items():
            self.found.setdefault((path.name, cell), {})[seed] = error

    def refused(self):
        "The cells that fail for more than one seed in twenty, and for more than one"
        allowed = max(len(self.seeds) // 20, len(self.seeds) > 1)
        return [where for where, failed in self.found.items() if len(failed) > allowed]

    def __str__(self):
        n, refused = len(self.seeds), self.refused()
        rows = [f"{'page':30} {'cell':>5} {'holds':>9}"]
        for where, failed in sorted(self.found.items()):
            held = f"{n - len(failed)} of {n}" + ("  FAILS" if where in refused else "")
            rows.append(
                f"{where[0]:30} {where[1]:>5} {held:>9}  {next(iter(failed.values()))[:110]}"
            )
        return "\n".join(rows)


def main(many=5, *pages):
    "The table, and 1 if a cell fails too often"
    paths = [p for p in chapters() if not pages or p.stem.split("_")[0] in pages]
    table = Table([APART * (i + 1) for i in range(int(many))])
    for run in tqdm(judged(paths, table.seeds), "pages", total=len(paths) * len(table.seeds)):
        table.add(*run)
    code = [cell.source for path in paths for cell in read(path).cells if cell.cell_type == "code"]
    numbers = sum(source.count("quoted(") for source in code)
    print(table, f"{len(paths)} pages, {numbers} quoted numbers of the stored draw", sep="\n")
    return bool(table.refused() or not paths)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped; what has run is kept"))
    sys.exit(main(*sys.argv[1:]))
