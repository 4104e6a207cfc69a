"""Execute notebooks in fresh kernels, two at a time.

python -m website.run [notebook ...]    executes them and stores their outputs, fit to be committed
python -m website.run --without-data [notebook ...]    also where outputs of data that are not here get lost
"""

import ast
import hashlib
import os
import re
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from types import SimpleNamespace

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError

from .fold import fold
from .forks import fork_kernels
from .notebooks import ROOT, all_pages, read, split, switched_off

WORKERS = 2
BUILD = ROOT / "_build"
KERNEL = [
    "--log-level=40",  # ipykernel warns about TCP at each start
    "--HistoryManager.enabled=False",
    "--InlineBackend.figure_formats=['png']",
    "--InlineBackend.print_figure_kwargs={'bbox_inches': 'tight', 'metadata': {'Software': None}}",
]

EMPTY = "settings.data_dir is empty"  # what a page prints in place of outputs that need data
NOT_HERE = """{page}, cell {cell}: what it stores came from data, which it would now skip (if {condition}).
Set data_dir in settings.ini, or RKHS_NOTES_DATA_DIR, to the folder that holds them. To run it all the same
and lose these outputs: make outputs WITHOUT_DATA=yes NB=nbs/{page}"""


def set_environment():
    "One thread a kernel, no configuration but ours, and the package of this checkout"
    for name in (
        "IPYTHONDIR",
        "JUPYTER_CONFIG_DIR",
        "JUPYTER_DATA_DIR",
        "JUPYTER_RUNTIME_DIR",
        "MPLCONFIGDIR",
    ):
        private = BUILD / "jupyter" / name.lower()
        private.mkdir(parents=True, exist_ok=True)
        os.environ[name] = str(private)
    os.environ |= {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    os.environ.pop("MPLBACKEND", None)  # the kernel's own: inline


def execute(path, *skip, allow_errors=False):
    "The notebook at `path`, executed but for cells with a directive in `skip`; a failing cell raises, or not"
    path = Path(path).resolve()
    set_environment()
    nb = read(path)
    off = [cell for cell in nb.cells if cell.cell_type == "code" and switched_off(cell, *skip)]
    for cell in off:
        cell.metadata.tags = [*cell.metadata.get("tags", []), "skip-execution"]
    folder = {"metadata": {"path": str(path.parent)}}
    NotebookClient(
        nb,
        timeout=900,
        allow_errors=allow_errors,
        record_timing=False,
        coalesce_streams=True,  # else how the prints of a cell are cut is a matter of timing
        shutdown_kernel="graceful"
        if "COVERAGE_PROCESS_CONFIG" in os.environ
        else "immediate",  # to save it
        extra_arguments=KERNEL,
        resources=folder,
    ).execute()
    for cell in off:
        cell.metadata.tags.remove("skip-execution")
    nb.metadata.pop("widgets", None)
    return nb


def attempt(path, *skip, again=True, **options):
    "(executed notebook or None, what went wrong, seconds)"
    start = time.monotonic()
    try:
        return execute(path, *skip, **options), "", time.monotonic() - start
    except (CellExecutionError, CellTimeoutError, RuntimeError) as error:
        if again and isinstance(
            error, RuntimeError
        ):  # the kernel, not a cell: two may get one port
            return attempt(path, *skip, again=False, **options)
        return None, re.sub(r"\x1b\[[\d;]*m", "", str(error)), time.monotonic() - start


def execute_all(paths):
    "Yields (path, executed notebook) as they end; says what fails and, after the rest, exits"
    set_environment()
    import matplotlib.font_manager  # noqa: F401  it builds its cache now, and not in some notebook's output

    failed, many = [], len(paths) > 2 * WORKERS
    with ProcessPoolExecutor(WORKERS, initializer=fork_kernels if many else None) as pool:
        futures = {pool.submit(attempt, path): path for path in paths}
        for future in as_completed(futures):
            path, (nb, error, seconds) = futures[future], future.result()
            print(
                f"{'FAILED' if error else 'executed':8} {path.name:30} {seconds:6.1f} s", flush=True
            )
            if error:
                failed.append(f"\n{path.name}\n{error}")
            else:
                yield path, nb
    if failed:
        sys.exit("\n".join(failed))


def cache_key(path):
    "Changes when the notebook's sources, the package, the settings or Python change; outputs do not count"
    digest = hashlib.sha256(sys.version.encode())
    for cell in read(path).cells:
        digest.update(f"{cell.cell_type}\0{cell.source}\0".encode())
    package = [*(ROOT / "rkhs_notes").rglob("*.py"), *(ROOT / "rkhs_notes").rglob("*.js")]
    for file in [Path(__file__), ROOT / "settings.ini", *sorted(package)]:
        digest.update(file.read_bytes())
    digest.update(
        repr(sorted(o for o in os.environ.items() if o[0].startswith("RKHS_NOTES_"))).encode()
    )
    return digest.hexdigest()[:20]


def execute_cached(paths, cache=BUILD / "executed"):
    "{path: executed notebook file}; only what changed since the last time runs"
    cache.mkdir(parents=True, exist_ok=True)
    files = {path: cache / f"{path.stem}-{cache_key(path)}.ipynb" for path in paths}
    for path in (p for p in paths if files[p].exists()):
        print(f"cached   {path.name}", flush=True)
    for path, nb in execute_all([p for p in paths if not files[p].exists()]):
        for old in cache.glob(f"{path.stem}-*.ipynb"):
            old.unlink()
        nbformat.write(nb, files[path])
    return files


def fit_to_commit(output):
    "Drops widgets, and html wherever a picture or a text says the same: sliders leave their still"
    data = output.get("data", {})
    for mime in [m for m in data if "widget" in m]:
        del data[mime]
    if "image/png" in data or not data.get("text/plain", "<IPython").startswith("<IPython"):
        data.pop("text/html", None)
    return output


def unmet(cell, settings):
    "The first condition on settings.data_dir for which this cell, as settings are, skips what it has stored"
    stored = [
        output for output in cell.get("outputs", []) if not output.get("text", "").startswith(EMPTY)
    ]
    if not stored or "settings.data_dir" not in cell.source:
        return None
    tests = [
        node.test for node in ast.walk(ast.parse(split(cell.source)[1])) if isinstance(node, ast.If)
    ]
    conditions = [text for text in map(ast.unparse, tests) if "settings.data_dir" in text]
    return next((text for text in conditions if not eval(text, {"settings": settings})), None)


def data_missing(path):
    "Why running this notebook would lose outputs that came from data; nothing if it would not"
    from rkhs_notes.base.settings import read_settings

    settings = SimpleNamespace(**read_settings(path.resolve().parent))
    for i, cell in enumerate(read(path).cells):
        if condition := unmet(cell, settings):
            yield NOT_HERE.format(page=path.name, cell=i, condition=condition)


def store(paths, without_data=False):
    "Executes notebooks in place; their outputs are part of what is read on the forge"
    refused = {} if without_data else {path: list(data_missing(path)) for path in paths}
    words = [text for found in refused.values() for text in found]
    print(*words, sep="\n", end="\n" if words else "", flush=True)
    for path, nb in execute_all([path for path in paths if not refused.get(path)]):
        for cell in nb.cells:
            if cell.cell_type == "code":
                cell.outputs = [fit_to_commit(output) for output in cell.outputs]
        fold(nb)
        nbformat.write(nb, path)
    if words:
        sys.exit(f"left as they are: {', '.join(path.name for path in paths if refused[path])}")


if __name__ == "__main__":
    names = [name for name in sys.argv[1:] if name != "--without-data"]
    store([Path(name) for name in names] or all_pages(), "--without-data" in sys.argv)
