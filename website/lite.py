"""JupyterLite, the notebooks in a browser, from a Pyodide distribution that the reader brings.

python -m website.lite FOLDER    writes _lite/; FOLDER holds pyodide.mjs, pyodide-lock.json and wheels
python -m website.lite --only-look FOLDER    only refuses a folder that lacks them
"""

import shutil
import subprocess
import sys
from pathlib import Path

import nbformat

from .notebooks import ROOT, chapters, flat, read

STAGE, LITE = ROOT / "_build" / "lite", ROOT / "_lite"
PURE = ["array-api-compat", "tqdm", "threadpoolctl"]  # what the package needs and Pyodide may lack
INSTALL = "%pip install -q rkhs_notes"  # the page finds its wheel in the folder beside it
BRING = """make lite needs a Pyodide distribution: PYODIDE=folder, with pyodide.mjs and pyodide-lock.json.
Download pyodide-VERSION.tar.bz2 from the releases of pyodide/pyodide on GitHub, unpack it, and
pass PYODIDE=path/to/pyodide. It carries NumPy, SciPy, Matplotlib and scikit-learn."""


def distribution(folder):
    "The folder as a path, if it holds Pyodide; else an exit that says what to bring"
    folder = Path(folder or ".").resolve()
    lacks = [name for name in ("pyodide.mjs", "pyodide-lock.json") if not (folder / name).is_file()]
    if lacks:
        sys.exit(f"{BRING}\nMissing in {folder}: {' and '.join(lacks)}.")
    return folder


def stage(notebooks, folder, pyodide):
    "Pyodide, and copies of notebooks, without outputs, that install the package first; returns their folder"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "nbs").mkdir(parents=True)
    (folder / "static").mkdir()
    (folder / "static" / "pyodide").symlink_to(
        pyodide, target_is_directory=True
    )  # where the page looks
    for path in notebooks:
        nb = read(path)
        nb.cells.insert(0, nbformat.v4.new_code_cell(INSTALL, id="install"))
        for cell in nb.cells:
            if cell.cell_type == "code":
                cell.outputs = []
            else:
                cell.source = flat(cell.source)
        nbformat.write(nb, folder / "nbs" / path.name)
    return folder / "nbs"


def commands(stage, out):
    "What builds the wheels, and what builds the page from them"
    wheels = stage / "wheels"
    yield [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", wheels, ROOT, *PURE]
    lite = [sys.executable, "-m", "jupyter", "lite", "build"]
    lite += ["--lite-dir", stage, "--contents", stage / "nbs"]
    found = [f"--piplite-wheels={wheel}" for wheel in sorted(wheels.glob("*.whl"))]
    yield [*lite, *found, "--output-dir", out]


def main(*arguments):
    pyodide = distribution(arguments[-1])
    if "--only-look" in arguments:
        return
    stage(chapters(), STAGE, pyodide)
    for command in commands(STAGE, LITE):
        subprocess.run(list(map(str, command)), check=True, cwd=STAGE)
    print(f"serve it: {sys.executable} -m http.server -d {LITE.relative_to(ROOT)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
