"""Front matter: the notes as files, and where else they run.

The address of the repository stands in pyproject.toml, `[project.urls] Repository`; until it does,
nothing leads to Binder or Colab.
"""

import shutil
from functools import cache
from importlib.metadata import metadata
from tempfile import TemporaryDirectory

from rkhs_notes.apps.cli import copy_notebooks

from .notebooks import NBS, ROOT

BOOK = ROOT / "_book"
BOOKS = {
    "rkhs_notes_course.pdf": "the course, thirteen pages, to print",
    "rkhs_notes.pdf": "everything, to print",
}
COPIES = {  # file: (a student's?, what it is)
    "notebooks.zip": (False, "all notebooks with their outputs"),
    "notebooks_student.zip": (True, "the same without solutions and answer keys, to hand out"),
}
PAGE = """# Take it with you

## As files

{files}

Each page has its own notebook behind the arrow at its head.

## Elsewhere

* **On your machine**: `pip install '.[lab]'` in a clone, then `rkhs-notes lab my-copy`; `make lab` does both.
* **In a browser, with nothing installed**: `make lite PYODIDE=folder` builds JupyterLite in `_lite/`
  from a Pyodide distribution that you bring.
{elsewhere}
"""
ON_BINDER = "https://mybinder.org/v2/gh/{name}/HEAD?urlpath=lab/tree/{file}"
ON_COLAB = "https://colab.research.google.com/github/{name}/blob/HEAD/{file}"


@cache
def repository():
    "The address of the repository, or nothing"
    urls = dict(url.split(", ", 1) for url in metadata("rkhs_notes").get_all("Project-URL") or ())
    return urls.get("Repository", "").rstrip("/").removesuffix(".git")


def launches(path, address=None):
    "Markdown that opens a notebook on Binder and on Colab, where the repository is one that they read"
    address = repository() if address is None else address
    host, _, name = address.removeprefix("https://").partition("/")
    if host != "github.com":
        return ""
    where = {"name": name, "file": path.relative_to(ROOT).as_posix()}
    binder, colab = ON_BINDER.format(**where), ON_COLAB.format(**where)
    return f"[Binder]({binder}) · [Colab]({colab}), where `%pip install git+{address}` comes first"


def page():
    "Markdown of the page"
    known = BOOKS | {file: about for file, (_, about) in COPIES.items()}
    there = [file for file in known if file in COPIES or (BOOK / file).exists()]
    lines = [f"* [{file}]({file}): {known[file]}" for file in there]
    if len(there) == len(COPIES):
        lines += [
            "* `make pdf` prints the course and the whole; the next `make notes` puts them here."
        ]
    where = launches(NBS / "index.ipynb")
    return PAGE.format(
        files="\n".join(lines), elsewhere=f"* **In the cloud**: {where}" * bool(where)
    )


def zipped(student):
    "A copy of the notebooks as a zip file, as bytes"
    with TemporaryDirectory() as folder:
        copy_notebooks(f"{folder}/rkhs_notes", student)
        made = shutil.make_archive(f"{folder}/copy", "zip", folder, "rkhs_notes")
        with open(made, "rb") as file:
            return file.read()


def files():
    "(file name, bytes) of what the page leads to"
    for file, (student, _) in COPIES.items():
        yield file, zipped(student)
    for file in BOOKS:
        if (BOOK / file).exists():
            yield file, (BOOK / file).read_bytes()
