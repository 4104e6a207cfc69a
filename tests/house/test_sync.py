"""Modules, README and stored outputs are what the notebooks make of them."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from conftest import NOTEBOOKS, ROOT, each_notebook, refuse
from website import readme
from website.notebooks import read, split

MACHINE_PATH = re.compile(
    r"(?<![\w.:/])/(home|root|tmp|work|mnt|opt|Users|var/folders)/|[A-Z]:\\Users"
)
DRAWS = {
    "plot",
    "scatter",
    "imshow",
    "matshow",
    "hist",
    "bar",
    "stem",
    "contour",
    "contourf",
    "pcolormesh",
    "show",
}
DRAWS |= {"semilogx", "semilogy", "loglog", "fill_between", "errorbar", "subplots"}


UNCLEAN = "unclean.ipynb"


@pytest.fixture(scope="module")
def edited(tmp_path_factory):
    "A copy of what the exporter needs, with a module edited by hand, a stray one and a notebook not clean"
    folder = tmp_path_factory.mktemp("edited")
    shutil.copy(ROOT / "pyproject.toml", folder)
    shutil.copytree(
        ROOT / "rkhs_notes", folder / "rkhs_notes", ignore=shutil.ignore_patterns("__pycache__")
    )
    with open(folder / "rkhs_notes" / "base" / "errors.py", "a") as file:
        file.write("by_hand = True\n")
    (folder / "rkhs_notes" / "stray.py").write_text("")
    for path in NOTEBOOKS:
        (folder / path.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, folder / path.relative_to(ROOT))
    make = nbformat.v4
    nb = make.new_notebook(cells=[make.new_code_cell("1 + 1", execution_count=7)])
    nbformat.write(nb, folder / "nbs" / UNCLEAN)
    return folder


def nbdev(command, folder):
    "Runs nbdev-export or nbdev-clean in a folder"
    tool = Path(sys.executable).with_name(f"nbdev-{command}")
    environment = {
        key: value for key, value in os.environ.items() if key != "IN_TEST"
    }  # nbdev does nothing under it
    subprocess.run([tool], cwd=folder, env=environment, check=True)


def contents(folder, pattern):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob(pattern))
    }


def differing(before, after):
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def test_modules_are_exported_from_the_notebooks_and_edits_noticed(edited):
    by_hand = contents(edited / "rkhs_notes", "*.py")
    shutil.rmtree(edited / "rkhs_notes")
    nbdev("export", edited)
    exported = contents(edited / "rkhs_notes", "*.py")
    refuse(sorted(differing(contents(ROOT / "rkhs_notes", "*.py"), exported)))
    assert differing(by_hand, exported) == {"base/errors.py", "stray.py"}


def test_notebooks_are_clean_and_others_noticed(edited):
    before = contents(edited / "nbs", "*.ipynb")
    nbdev("clean", edited)
    changed = differing(before, contents(edited / "nbs", "*.ipynb"))
    assert UNCLEAN in changed
    refuse(sorted(changed - {UNCLEAN}))


def test_readme_is_written_from_the_index():
    with pytest.raises(SystemExit) as exit:
        readme.main(check=True)
    assert not exit.value.code, exit.value.code


def test_a_stale_desk_is_noticed(monkeypatch):
    monkeypatch.setattr(readme.desk, "text", lambda: "# A desk of last week")
    with pytest.raises(SystemExit, match="not up to date: desk.md"):
        readme.main(check=True)


def test_a_stale_readme_is_noticed(write_notebook, tmp_path):
    path = write_notebook(
        "index.ipynb", "# Title\n\n[a](00_a.ipynb)", "code:#| hide\nsecret", "code:1 + 1"
    )
    (tmp_path / "README.md").write_text("old")
    with pytest.raises(SystemExit, match="not up to date"):
        readme.main(check=True, path=path, readme=tmp_path / "README.md")
    readme.main(path=path, readme=tmp_path / "README.md")
    text = (tmp_path / "README.md").read_text()
    assert "(nbs/00_a.ipynb)" in text and "```python\n1 + 1\n```" in text and "secret" not in text


def calls(tree):
    "Names called by a cell as it runs, outside of definitions, assertions and `with expect_fail` blocks"
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Call):
            yield (
                node.func.attr
                if isinstance(node.func, ast.Attribute)
                else getattr(node.func, "id", "")
            )
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Lambda, ast.Assert, ast.With)):
            yield from calls(node)


def output_problems(path):
    "Figures that were not stored, stored errors, paths of the machine that ran the notebook"
    problems = []
    for number, cell in enumerate(read(path).cells):
        if cell.cell_type != "code":
            continue
        options, body = split(cell.source)
        plain = re.sub(r"(?m)^\s*[%!].*$", "", body)
        shown = not {"hide", "export", "exporti"} & set(options) and options.get("eval") != "false"
        pictures = any("image/png" in output.get("data", {}) for output in cell.outputs)
        called = set(calls(ast.parse(plain)))
        draws = "fig-alt" in options or (called & DRAWS and "close" not in called)
        if shown and draws and not pictures:
            problems.append(f"cell {number} draws, and no picture is stored")
        for output in cell.outputs:
            data = output.get("data", {})
            text = output.get("text", "") + "".join(
                str(data[mime]) for mime in data if "image" not in mime
            )
            if output.output_type == "error":
                problems.append(f"cell {number} stores an error")
            elif match := MACHINE_PATH.search(text):
                problems.append(
                    f"cell {number} stores a path of this machine: {text[match.start() :][:40]}"
                )
    return problems


@each_notebook
def test_stored_outputs(path):
    refuse(output_problems(path))


def test_bad_outputs_are_noticed(write_notebook):
    path = write_notebook(
        "bad.ipynb", "code:plt.plot(x)", "code:x", "code:y", "code:def f(): plt.plot(x)"
    )
    nb = read(path)
    nb.cells[1].outputs = [nbformat.v4.new_output("stream", text="/home/you/x.py:3: UserWarning")]
    nb.cells[2].outputs = [nbformat.v4.new_output("error", ename="E", evalue="", traceback=[])]
    nbformat.write(nb, path)
    assert [problem[:13] for problem in output_problems(path)] == [
        "cell 0 draws,",
        "cell 1 stores",
        "cell 2 stores",
    ]
