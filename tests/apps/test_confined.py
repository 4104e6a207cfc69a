"""As in a browser: no thread, no process, no fork, and none of the packages that Pyodide may lack."""

import os
import subprocess
import sys

import pytest

from conftest import ROOT
from website.notebooks import NBS, find, read, split, switched_off

# What Pyodide refuses, it refuses so: https://pyodide.org/en/stable/usage/wasm-constraints.html
GUARD = """
import importlib.abc, os, subprocess, sys, threading

def no_thread(*args, **kwargs):
    raise RuntimeError("can't start new thread")

def no_process(*args, **kwargs):
    raise OSError("emscripten does not support processes.")

class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"jinja2", "pandas", "torch"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

threading.Thread.start = no_thread
subprocess.Popen.__init__ = no_process
for name in ("fork", "forkpty", "posix_spawn", "system"):
    setattr(os, name, no_process)
sys.meta_path.insert(0, Absent())
"""


BLAS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def run_confined(source, folder, confined=True, threads=2):
    "Runs a script beside the notebooks; two BLAS threads tempt it to start more. Fails with its words"
    script = folder / "confined.py"
    script.write_text(GUARD * confined + source, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(ROOT), "MPLBACKEND": "Agg"}
    environment |= dict.fromkeys(
        BLAS, str(threads)
    )  # a Dask cluster of another test leaves them at 1
    command = [sys.executable, "-W", "error::RuntimeWarning", script]
    run = subprocess.run(
        command, cwd=NBS, env=environment, capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stderr[-3000:]
    return run.stdout


def code_of(path):
    "The code of a notebook as one script"
    code = [cell for cell in read(path).cells if cell.cell_type == "code"]
    code = [cell for cell in code if not switched_off(cell, "notest")]
    return "\n\n".join(split(cell.source)[1] for cell in code)


@pytest.mark.parametrize("chapter", ["00_hilbert", "03_rkhs", "13_structured"])
def test_a_chapter_runs(chapter, tmp_path):
    run_confined(code_of(find(chapter)), tmp_path, threads=1)


IN_PARALLEL = """
import threading
import numpy as np
from rkhs_notes.base.blocks import in_parallel, n_threads
where = {}
in_parallel(lambda i: where.update({i: threading.get_ident()}), range(20))
print(n_threads(), sorted(where) == list(range(20)), set(where.values()) == {threading.get_ident()})
"""


def test_work_for_threads_is_done_one_by_one(tmp_path):
    assert run_confined(IN_PARALLEL, tmp_path).split() == ["2", "True", "True"]
    assert run_confined(IN_PARALLEL, tmp_path, confined=False).split() == ["2", "True", "False"]


LARGE = """
import numpy as np
from rkhs_notes import Gaussian, fourier_features, ridge
X = np.random.default_rng(0).normal(size=(1500, 5))
fit = ridge(Gaussian(2.0), X, X[:, 0], lam=0.1)
Z = fourier_features(Gaussian(2.0), 5, 400, rng=0)(X)
print(repr(float(fit(X).sum())), repr(float(np.abs(Z @ Z.T - Gaussian(2.0)(X)).max())))
"""


def test_the_numbers_are_those_with_threads(tmp_path):
    alone, together = (
        run_confined(LARGE, tmp_path, confined).split() for confined in (True, False)
    )
    assert all(abs(float(a) - float(b)) < 1e-9 for a, b in zip(alone, together, strict=True))


@pytest.mark.parametrize(
    "forbidden, words",
    [
        ("import threading; threading.Thread(target=int).start()", "can't start new thread"),
        ("import os; os.fork()", "does not support processes"),
        ("import subprocess, sys; subprocess.run([sys.executable])", "does not support processes"),
        ("import pandas.testing", "No module named 'pandas'"),
        (
            "import rkhs_notes as rn; rn.torch_score(lambda x: x)([[1.0]])",
            "No module named 'torch'",
        ),
    ],
)
def test_the_guard_refuses(forbidden, words, tmp_path):
    with pytest.raises(AssertionError, match=words):
        run_confined(forbidden, tmp_path)
