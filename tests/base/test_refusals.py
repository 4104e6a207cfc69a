"""What IPython shows of a mistake: the cell, one place of the package at most, the message last."""

import json
import subprocess
import sys
import traceback

import numpy as np
import pytest

from conftest import refuse
from rkhs_notes import KernelRidge, Linear, kernels, ridge
from rkhs_notes.base.contracts import contract
from rkhs_notes.base.errors import door
from rkhs_notes.base.words import Function

MISTAKES = {
    "rn.ridge(k, X, y[:5], 0.1)": "y has shape (5,), but X has 20 points",
    "rn.ridge(k, table, [1, 2, 3], 0.1)": "columns=['town']) or scikit-learn's OneHotEncoder.",
    "rn.ridge(k, X, y, -1)": "lam = -1: pass a finite number > 0",
    "rn.ridge(k, X, y, lam=0.1, gamma=3)": "gamma belongs to the kernel",
    "rn.ridge(k, X)": "missing a required argument: 'y'",
    "rn.ridge('gaussian', X, y, 0.1)": "k is of type str, not a Kernel",
    "rn.ridge(k, np.zeros((0, 2)), [], 0.1)": "X is empty",
    "rn.ridge(rn.Sigmoid(1, -1), X, y, 0.1)": "IndefiniteKernel",
    "rn.Precomputed(-np.eye(3))": "the least eigenvalue is -1 < 0",
    "rn.check_kernel(rn.Sigmoid(1, -1), X)": "LawBroken",
    "rn.svc(k, X, ['a'] * 20, 1.0)": "y holds one label only",
    "rn.mmd_test(k, X, X[:1])": "needs two of positive weight",
    "rn.kernel_pca(k, X, 50)": "Pass at most 19",
    "rn.kernel_sgd(k, X, y, loss='x')": "loss = 'x': pass 'squared' or",
    "rn.load('digitz')": "Did you mean digits?",
    "rn.gausian": "did you mean Gaussian?",
    "k(nan)": "the first at index (3, 1): nan. Drop or impute them.",
    "k(table)": "encode that column first, by pandas.get_dummies(X, columns=['town'])",
    "k(['acgt', 'ca'])": "Points that are text have kernels of their own, such as Spectrum(3)",
    "k(X, X[:, :1])": "X has 2 columns, Y has 1",
    "k.points(nan)": "X is not finite everywhere",
    "rn.Spectrum(3)(X)": "pass a list of strings",
    "rn.Brownian()([-1.0, 2.0])": "which is outside",
    "rn.Gaussian(-1.0)": "bandwidth = -1: pass a finite number > 0",
    "rn.Gaussian(gamma=2)": "Did you mean bandwidth?",
    "rn.Graph([(0, 1)], labels=[1])": "pass one label for each node",
    "k.bandwidth = 2": "is a value and never changes",
    "k - k": "need not be a kernel",
    "k + X": "array (20, 2) is no kernel",
    "-1 * k": "scale = -1",
    "f(X[:, :1])": "X has shape (20, 1); pass (n, 2)",
    "f * f": "f * g lies in the RKHS of f.k * g.k",
    "f + rn.ridge(rn.Laplace(1.0), X, y, 0.1)": "they need one",
    "2j * f": "pass one real number",
    "rn.fourier_features(k, 2, 20)(X[:, :1])": "this map was made for 2",
    "rn.KernelRidge().fit(table, [1, 2, 3])": "columns=['town']) or scikit-learn's OneHotEncoder",
    "rn.KernelRidge().fit(X, lab)": "y holds text",
    "rn.KernelRidge().fit(nan, y)": "Input X contains NaN. Drop or impute them.",
    "rn.KernelRidge().fit(X, y[:4])": "inconsistent numbers of samples",
    "rn.KernelRidge().predict(X)": "not fitted yet",
    "rn.KernelRidge().fit(X, y).score(X[:, :1], y)": "expecting 2 features",
    "rn.KernelRidge(lam=-1).fit(X, y)": "lam = -1",
    "rn.KernelRidge(bandwidth='silly').fit(X, y)": "not 'silly'",
    "rn.KernelRidge(k).set_params(kernel__width=2)": "Did you mean bandwidth?",
    "rn.KernelSVC().fit(X, y > 10)": "needs two classes or more",
    "rn.KernelSVC().fit(X, y)": "Unknown label type",
    "rn.KernelSVC(probability=True).fit(X, lab).predict_proba(nan)": "Input X contains NaN",
    "rn.KernelPCA(n_components=2).fit(X).transform(X[:, :1])": "expecting 2 features",
    "rn.KernelPCA(n_components=2).fit_transform(table)": "columns=['town'])",
    "rn.StreamingKernelRidge().partial_fit(X, y[:3])": "inconsistent numbers of samples",
    "cross_val_score(rn.KernelRidge(lam=-1), X, y, error_score='raise')": "lam = -1",
}
CELLS = """
import contextlib, io, json, re, sys
from IPython.core.interactiveshell import InteractiveShell
shell, shown = InteractiveShell.instance(), {}
shell.run_cell('''
import numpy as np, pandas as pd, rkhs_notes as rn
from sklearn.model_selection import cross_val_score
X = np.random.default_rng(0).normal(size=(20, 2)); y = X[:, 0]; lab = np.where(y > 0, "a", "b")
nan = X.copy(); nan[3, 1] = np.nan
table = pd.DataFrame({"age": [1.0, 2.0, 3.0], "town": ["Ulm", "Bonn", "Kiel"]})
k = rn.Gaussian(1.0); f = rn.ridge(k, X, y, 0.1)
''')
for code in json.load(sys.stdin):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        shell.run_cell(code)
    shown[code] = re.sub(r"\\x1b\\[[0-9;]*m", "", out.getvalue()).strip()
print(json.dumps(shown))
"""


def in_ipython(codes):
    "{code: what a cell with it shows}"
    done = subprocess.run(
        [sys.executable, "-c", CELLS], input=json.dumps(list(codes)), capture_output=True, text=True
    )
    assert not done.returncode, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def frames(text):
    return [line for line in text.splitlines() if line.startswith(("Cell In", "File "))]


def test_ipython_shows_the_cell_one_place_and_the_message():
    problems = []
    for code, text in in_ipython(MISTAKES).items():
        shown, said = frames(text), text.splitlines()[-1]
        if not 1 <= len(shown) <= 2 or not shown[0].startswith("Cell"):
            problems.append(f"{code} shows {len(shown)} frames: {shown}")
        if MISTAKES[code] not in said:
            problems.append(f"{code} ends with {said}")
        if "During handling" in text or "direct cause" in text:
            problems.append(f"{code} shows two errors")
    refuse(problems)


def test_more_frames_are_counted():
    (text,) = in_ipython(["def g(): f(X[:, :1])\ng()"]).values()
    assert len(frames(text)) == 3


def names(call):
    "The functions in the traceback of a call that fails"
    with pytest.raises(Exception) as caught:
        call()
    return [frame.f_code.co_name for frame, _ in traceback.walk_tb(caught.value.__traceback__)][1:]


def engine(module, body):
    "A function of that module, deep(...), whose own function does what the body says"
    scope = {"__name__": module}
    exec(f"def place(*a): {body}\ndef deep(*a): return place(*a)", scope)
    return scope["deep"]


def test_a_plain_traceback_is_short_too():
    X = np.array([["a", "b"]])
    assert names(lambda: kernels.Gaussian(1.0)(X))[1:] == ["read_then", "_numpy_floats"]
    assert names(lambda: ridge(Linear(), X, [1.0], 1.0))[1:] == ["read_then", "_numpy_floats"]
    assert len(names(lambda: KernelRidge().fit(X[:, :0], [1.0]))) == 3


def test_what_is_no_refusal_keeps_its_frames():
    "A mistake of ours, a mistake of NumPy's, and the functions of a caller"
    assert names(lambda: door(engine("rkhs_notes.x", "raise ValueError"))())[1:] == [
        "entered",
        "place",
    ]
    for module, body in ("rkhs_notes.x", "1 / 0"), ("numpy.x", "raise ValueError"):
        assert names(lambda m=module, b=body: door(engine(m, b))())[1:] == [
            "entered",
            "deep",
            "place",
        ]

    @contract
    def applied(g: Function):
        return engine("rkhs_notes.x", "return a[0]()")(g)

    def mine():
        return ridge(Linear(), [1.0], [1.0], -1.0)

    called = ["read_then", "applied", "mine", "as_number"]
    assert names(lambda: applied(mine))[1:] == called


def test_development_mode_shows_all_frames():
    script = "import rkhs_notes as rn\nrn.Gaussian(1.0)([['a']])"
    lines = [
        subprocess.run([sys.executable, *mode, "-c", script], capture_output=True, text=True).stderr
        for mode in ([], ["-X", "dev"])
    ]
    assert lines[0].count("\n  File ") == 3 < lines[1].count("\n  File ")
