"""The copy gives nothing away; an answer goes with what it needs; what was handed in is read, not run."""

import ast
import json
import math
import re

import nbformat
import pytest

from conftest import NOTEBOOKS, ROOT, refuse
from rkhs_notes import check, classroom
from rkhs_notes.apps.classroom import answers_in, as_notebooks, read_submission, without_solutions
from rkhs_notes.apps.cli import main
from website.run import attempt

CHAPTERS = [path for path in NOTEBOOKS if path.stem[0].isdigit()]


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


def text(nb, kind):
    return "\n".join("".join(cell["source"]) for cell in nb["cells"] if cell["cell_type"] == kind)


def exercises(nb):
    "The text of the section Exercises"
    return re.split(
        r"(?m)^## (?!Exercises)", re.split(r"(?m)^## Exercises", text(nb, "markdown"))[1]
    )[0]


# --- the copy ---


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_no_solution_remains(path):
    full, copy = load(path), without_solutions(load(path))
    folded = re.findall(r"(?s)<details><summary>([^<]*)</summary>(.*?)</details>", exercises(full))
    gone = [body for title, body in folded if not title.startswith("Hint")]
    assert gone, "a chapter without solutions?"
    told = text(copy, "markdown")
    assert "solutions are written out" not in exercises(copy)
    lines = [line for body in gone for line in body.splitlines() if len(line) > 40]
    refuse([f"still told: {line[:80]}" for line in lines if line in told])
    hints = [body for title, body in folded if title.startswith("Hint")]
    assert all(body in told for body in hints)
    calls = [
        ast.unparse(node)
        for node in ast.walk(ast.parse(re.sub(r"(?m)^%.*", "", text(copy, "code"))))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "check"
    ]
    refuse(
        [f"judges another answer: {call}" for call in calls if "lambda" in call or "solved" in call]
    )
    assert "solved_" not in text(copy, "code") and "the solutions" not in text(copy, "code")


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_tasks_stubs_and_figures_remain(path):
    full, copy = load(path), without_solutions(load(path))
    stubs = re.findall(r"def my_\w+.*", text(full, "code"))
    assert stubs and stubs == re.findall(r"def my_\w+.*", text(copy, "code"))
    tasks = re.findall(r"\*\*\d+[a-z]?\.\d+ ★+", text(full, "markdown"))
    assert tasks and tasks == re.findall(r"\*\*\d+[a-z]?\.\d+ ★+", text(copy, "markdown"))
    assert answers_in(copy)[0] == {} and len(classroom._pairs(copy)) == len(set(stubs))
    pictures = [str(nb).count("image/png") for nb in (full, copy)]
    assert pictures[0] == pictures[1]


def test_the_copy_runs_and_has_no_answer_yet(tmp_path):
    assert main(["lab", str(tmp_path / "copy"), "--student", "--copy-only"]) == 0
    names = {path.name for path in (tmp_path / "copy").rglob("*.ipynb")}
    assert names < {path.name for path in NOTEBOOKS} and len(names) > 60
    assert not any(name.startswith(("answers_", "exercises", "classroom")) for name in names)
    (tmp_path / "rkhs_notes").symlink_to(ROOT / "rkhs_notes")
    nb, error, _ = attempt(tmp_path / "copy" / "03_rkhs.ipynb")
    assert not error, error
    said = [
        str(cell.outputs) for cell in nb.cells if "my_" in cell.source and "check(" in cell.source
    ]
    stubs = sum(cell.source.startswith("def my_") for cell in nb.cells)
    assert "".join(said).count("no answer yet") == stubs >= 4
    refuse([f"a link to what is not there: {name}" for path in (tmp_path / "copy").rglob("*.ipynb")
            for name in re.findall(r"\]\([./\w]*?(\w+\.ipynb)", path.read_text(encoding="utf-8"))
            if name not in names and name != "classroom.ipynb"])  # fmt: skip
    (tmp_path / "copy" / "answers_00.ipynb").touch()
    assert main(["lab", str(tmp_path / "copy"), "--student", "--copy-only"]) == 2


def page(*cells):
    "A notebook as a dict: cells that begin with > are text"
    make = nbformat.v4
    return nbformat.v4.new_notebook(
        cells=[
            make.new_markdown_cell(o[1:]) if o[0] == ">" else make.new_code_cell(o) for o in cells
        ]
    )


def test_solutions_of_every_form_are_taken_out():
    fold = "<details><summary>{}</summary> SECRET{} </details>"
    nb = page(
        ">## Before\n" + fold.format("Answer", 0).replace("SECRET", "open"),
        ">words\n\n## Exercises\n**00.1** task\n"
        + fold.format("Hint", 1).replace("SECRET", "open"),
        "data = 1",
        "def my_a(x): ...",
        ">" + fold.format("Solution", 2) + "\n\n**00.2** another",
        "SECRET = 3",
        ">what the code above shows",
        "SECRET = 7",
        "def my_b(x): ...",
        "more = 2",
        ">" + fold.format("Proof", 4),
        '#| checked: SECRET\nassert check("00.1", f).passed',
        'check("00.1", my_a), check("00.2", my_b)',
        'assert check("00.1", lambda x: "SECRET").passed',
        f">{fold.format('Solutions', 5)}\n\n## On one screen\n{fold.format('Answers', 6)}",
        "'last'",
    )
    copy = without_solutions(nb)
    told = "\n".join("".join(cell["source"]) for cell in copy["cells"])
    assert re.findall(r"SECRET\d?", told) == ["SECRET6"]  # the answers to a quiz are reading
    assert [word in told for word in ("open0", "open1", "data", "more", "another", "'last'")] == [
        True
    ] * 6


# --- what is handed in ---


def handed_in(*cells):
    answers, broken = answers_in(page(*cells))
    return {number: answer["code"] for number, answer in answers.items()}, broken


def test_what_an_answer_needs_goes_with_it():
    code, _ = handed_in(
        "import numpy as np, math\nfrom functools import lru_cache",
        "%matplotlib inline\ntable = {}; unused = 1",
        "table[2] = 5\nprint(unused)",
        "def helper(x):\n    # a comment\n    return later(x) + table[2]",
        "@lru_cache\ndef my_f(K):\n    return [np.sum(K) for _ in range(helper(1))]",
        "def later(x): return deeper(x)",
        "def deeper(x): return deepest(x)",
        "def deepest(x): return math.floor(x)",
        'for number, mine in {"01.1": my_f}.items(): check(number, mine)',
    )
    scope = {}
    exec(code["01.1"], scope)
    assert scope["my_f"](3) == [3] * 6
    assert "unused" not in code["01.1"] and "# a comment" in code["01.1"]
    assert "@lru_cache\ndef my_f" in code["01.1"]


def test_what_the_page_exports_comes_from_the_package():
    nb = load(ROOT / "nbs" / "00_hilbert.ipynb")
    for cell in nb["cells"]:
        if "".join(cell["source"]).startswith("def my_nearest"):
            cell["source"] = "def my_nearest(B, v): return project(v, B)"
    answers, _ = answers_in(nb)
    assert list(answers) == ["00.3"]
    (line,) = [x for x in answers["00.3"]["code"].splitlines() if "import" in x]
    assert line.startswith("from rkhs_notes.") and "project" in line
    assert classroom._tried("00.3", answers["00.3"]) == (True, "right, on 12 fresh inputs")


@pytest.mark.parametrize("body", ["...", "pass", '"help"\n    ...'])
def test_a_stub_is_no_answer(body):
    assert handed_in(f"def my_f(x):\n    {body}", 'check("00.6", my_f)')[0] == {}


def test_the_last_definition_counts():
    stub, answer, asks = (
        "def my_f(x):\n    ...",
        "def my_f(x):\n    return 3",
        'check("00.6", my_f)',
    )
    assert handed_in(stub, answer, asks)[0] and not handed_in(answer, stub, asks)[0]


@pytest.mark.parametrize("binds", [
    "my_f = lambda x: 3", "def solve(x): return 3\nmy_f = solve", "from math import exp as my_f",
    "if True:\n    def my_f(x): return 3", "class my_f:\n    def __new__(cls, x): return 3",
])  # fmt: skip
def test_what_is_bound_last_counts_whatever_binds_it(binds):
    stub, asks = "def my_f(x): ...", 'check("00.6", my_f)'
    scope = {}
    exec(handed_in(stub, binds, asks)[0]["00.6"], scope)
    assert scope["my_f"](1) == (3 if "3" in binds else math.e)
    assert handed_in(binds, stub, asks)[0] == {}


def test_a_line_that_goes_on_with_a_sign_of_magics_stays():
    asks = 'check("00.6", my_f)'
    lines = [
        "def my_f():",
        "    n = (7",
        "         % 4",
        "         != 4)",
        '    return n, """',
        "%b",
    ]
    code, broken = handed_in("\n".join([*lines, '"""']), asks)
    scope = {}
    exec(code["00.6"], scope)
    assert scope["my_f"]() == (True, "\n%b\n") and broken == []
    magics = "%time one = 1\n!ls\ndef my_f():\n    %matplotlib inline\n    return 3"
    code, broken = handed_in(magics, asks)
    assert code == {"00.6": "def my_f():\n\n    return 3"} and broken == []


def test_a_number_is_one_with_and_without_its_first_0():
    code, _ = handed_in("def my_f(): return 3", 'check("0.6", my_f)', 'check("00.6", my_f)')
    assert list(code) == ["00.6"]
    assert list(handed_in("def my_f(): return 3", 'check("0.6", my_f)')[0]) == ["00.6"]


BROKEN = ["", "[]", "3", "{}", '{"cells": null}', '{"cells": [5]}', "[" * 100_000,
          '{"cells": [{"source": ""}]}', '{"cells": [{"cell_type": "code", "source": [1]}]}']  # fmt: skip


@pytest.mark.parametrize("text", BROKEN, ids=lambda text: text[:20])
def test_a_broken_notebook_is_named_and_costs_no_other(tmp_path, capsys, text):
    (tmp_path / "Untitled.ipynb").write_text(text)
    alone = ["submit", str(tmp_path), "--name", "Ann", "--to", str(tmp_path / "a.json")]
    assert main(alone) == 2
    assert "Untitled.ipynb cannot be read as a notebook (" in capsys.readouterr().out
    nbformat.write(page("def my_f(): return 3", 'check("00.6", my_f)'), tmp_path / "a.ipynb")
    assert main(alone) == 0
    assert "Untitled.ipynb cannot be read as a notebook (" in capsys.readouterr().out
    assert list(read_submission(tmp_path / "a.json")["answers"]) == ["00.6"]


def test_a_cell_that_is_not_python_is_named():
    code, broken = handed_in("def my_f(: 3", "def my_g(): return 3", 'check("00.6", my_g)')
    assert broken == ["cell 1, line 1: invalid syntax"] and list(code) == ["00.6"]


@pytest.mark.parametrize("text", ["a = 1\0", "a = '\ud800'", "-" * 10_000 + "1", "(" * 300])
def test_a_cell_that_no_parser_reads_stops_no_other(text):
    "A NUL, half a letter, nesting that ends the parser"
    code, broken = handed_in(text, "def my_g(): return 3", 'check("00.6", my_g)')
    assert len(broken) == 1 and broken[0].startswith("cell 1, line ") and list(code) == ["00.6"]


def test_statements_keep_their_order_where_one_comes_again():
    uses, asks = "def my_f(): return scale", 'check("00.6", my_f)'
    code, _ = handed_in("scale = 2", uses, "scale = 3", "scale = 2", asks)
    right, wrong = "def my_f(): return 2", "def my_f(): return 5"
    again, _ = handed_in(right, wrong, right, asks)
    for text in (code["00.6"], again["00.6"]):
        scope = {}
        exec(text, scope)
        assert scope["my_f"]() == 2


@pytest.mark.parametrize("cell", ["return 3", "await later()", "def my_flaw(): yield 1\nyield 2"])
def test_a_cell_that_does_not_compile_leaves_the_folder_whole(tmp_path, cell):
    nbformat.write(
        page(cell, "def my_flaw(): return 3", 'check("00.6", my_flaw)'), tmp_path / "a.ipynb"
    )
    made, left = classroom.submission(tmp_path, "Ann")
    assert made["answers"]["00.6"]["passed"] and len(left) == 1
    assert re.fullmatch(
        r"not Python, so not handed in: a.ipynb, cell 1, line \d: .* outside.*", *left
    )


@pytest.mark.parametrize("call", [
    'check("00.6", answer=my_f)', 'check(number="00.6", answer=my_f)', "check(answer=my_f, number='00.6')",
    'check("00.6", trials=3, answer=my_f)', '[("00.6", my_f)]', 'check("00.6", my_f, 3, rng=1)',
])  # fmt: skip
def test_pairs_of_a_number_and_a_name_in_every_form(call):
    assert list(handed_in("def my_f(): return 3", call)[0]) == ["00.6"]


def test_a_star_import_goes_with_every_answer(tmp_path):
    cells = ["try:\n    from math import *\nexcept ImportError: pass", "one = exp(0)"]
    cells += ["def my_flaw(): return 3 * one", 'check("00.6", my_flaw)']
    nbformat.write(page(*cells), tmp_path / "a.ipynb")
    assert classroom.submission(tmp_path, "Ann")[0]["answers"]["00.6"]["passed"]


def test_folders_below_are_handed_in_and_the_first_of_two_answers_counts(tmp_path):
    places = {"a.ipynb": 3, "a-Copy1.ipynb": 2, "deeper/b.ipynb": 2, "deeper/.hidden/c.ipynb": 1}
    for place, value in places.items():
        (tmp_path / place).parent.mkdir(exist_ok=True)
        cells = [f"def my_flaw(): return {value}", 'check("00.6", my_flaw)']
        if place == "deeper/b.ipynb":
            cells += ["def my_count(): return 4", 'check("01.8", my_count)']
        nbformat.write(page(*cells), tmp_path / place)
    made, left = classroom.submission(tmp_path, "Ann")
    assert {n: a["notebook"] for n, a in made["answers"].items()} == {
        "00.6": "a.ipynb", "01.8": "deeper/b.ipynb"}  # fmt: skip
    assert list(made["notebooks"]) == ["a.ipynb", "deeper/b.ipynb"]
    assert all(answer["passed"] for answer in made["answers"].values())
    assert left == [
        f"00.6 of {place} is not handed in: a.ipynb has an answer to it"
        for place in ("a-Copy1.ipynb", "deeper/b.ipynb")
    ]
    single = classroom.submission(tmp_path / "deeper" / "b.ipynb", "Ann")[0]
    assert list(single["notebooks"]) == ["b.ipynb"]


def test_the_copy_of_a_student_is_handed_in_whole(tmp_path):
    main(["lab", str(tmp_path / "copy"), "--student", "--copy-only"])
    asked = 0
    for path in (tmp_path / "copy").rglob("*.ipynb"):
        nb = load(path)
        asked += len(classroom._pairs(nb))
        for cell in nb["cells"]:
            if cell["cell_type"] == "code":
                cell["source"] = re.sub(
                    r"(def my_\w+.*:).*\.\.\.", r"\1 return 0", "".join(cell["source"])
                )
        path.write_text(json.dumps(nb))
    found = [answers_in(load(path))[0] for path in classroom.notebooks_in(tmp_path / "copy")]
    assert asked > 150 and sum(map(len, found)) == asked == len(set().union(*found))


def test_before_the_work_it_is_known_where_to_write(tmp_path, capsys, monkeypatch):
    nbformat.write(page("def my_flaw(): return 3", 'check("00.6", my_flaw)'), tmp_path / "a.ipynb")
    monkeypatch.chdir(tmp_path)
    assert (
        main(["submit", "a.ipynb", "--name", "A B"]) == 0 == main(["submit", ".", "--name", "A B"])
    )
    monkeypatch.setattr(classroom, "submission", None)
    capsys.readouterr()
    for words, options in (
        ("holds the answers of 'A B'", ["--name", "A-B"]),
        ("no such folder", ["--name", "A", "--to", "nofolder/x.json"]),
        ("that is a folder", ["--name", "A", "--to", str(tmp_path)]),
    ):
        assert main(["submit", "a.ipynb", *options]) == 2 and words in capsys.readouterr().out
    assert load(tmp_path / "submission_A_B.json")["name"] == "A B"


def test_submit_writes_what_is_read_again(tmp_path, capsys):
    nbformat.write(page("def my_flaw(): return 3", 'check("00.6", my_flaw)'), tmp_path / "a.ipynb")
    to = tmp_path / "Ann.json"
    assert main(["submit", str(tmp_path), "--name", "Ann", "--to", str(to)]) == 0
    made = read_submission(to)
    assert made == load(to) and made["name"] == "Ann"
    assert made["answers"]["00.6"]["passed"] and made["answers"]["00.6"]["notebook"] == "a.ipynb"
    assert set(made["versions"]) >= {"rkhs_notes", "python", "numpy"}
    assert len(made["notebooks"]["a.ipynb"]) == 64
    out = capsys.readouterr().out
    assert "✓ 00.6: right" in out and f"{to}: 1 answers." in out


ENDS = {
    "raise SystemExit(0)": "your code raised SystemExit: 0",
    "raise KeyboardInterrupt": "your code raised KeyboardInterrupt: ",
    "return 2": "",
}


@pytest.mark.parametrize("body", ENDS)
def test_an_answer_that_fails_costs_the_next_one_nothing(tmp_path, body):
    cells = [f"def my_flaw():\n    {body}", "def my_count(): return 4"]
    nbformat.write(
        page(*cells, 'check("00.6", my_flaw), check("01.8", my_count)'), tmp_path / "a.ipynb"
    )
    made, broken = classroom.submission(tmp_path, "Ann")
    assert ENDS[body] in made["answers"]["00.6"]["says"] and broken == []
    assert [answer["passed"] for answer in made["answers"].values()] == [False, True]


def test_each_answer_is_tried_with_what_goes_with_it_and_nothing_else(tmp_path):
    cells = ["four = 4", "def my_count(): return four", 'check("01.8", my_count)']
    nbformat.write(page(*cells), tmp_path / "a.ipynb")
    nbformat.write(
        page("def my_flaw(): return four - 1", 'check("00.6", my_flaw)'), tmp_path / "b.ipynb"
    )
    answers = classroom.submission(tmp_path, "Ann")[0]["answers"]
    assert answers["01.8"]["passed"] and not answers["00.6"]["passed"]
    assert "NameError" in answers["00.6"]["says"]


@pytest.mark.parametrize("where", ["nothing", "page.ipynb", "no notebook.ipynb", "missing.ipynb"])
def test_submit_refuses_with_words(tmp_path, capsys, where):
    (tmp_path / "nothing").mkdir()
    nbformat.write(page("def my_flaw(): ...", 'check("00.6", my_flaw)'), tmp_path / "page.ipynb")
    (tmp_path / "no notebook.ipynb").write_text("{")
    assert (
        main(["submit", str(tmp_path / where), "--name", "A", "--to", str(tmp_path / "a.json")])
        == 2
    )
    assert re.search("nothing to hand in|cannot be read", capsys.readouterr().out)
    assert not (tmp_path / "a.json").exists()


def test_nothing_is_submitted_without_a_name(tmp_path, capsys):
    with pytest.raises(SystemExit) as left:
        main(["submit", str(tmp_path)])
    assert left.value.code == 2 and "required: --name" in capsys.readouterr().err


# --- what was handed in is read ---

FORMER = """{"format": 1, "name": "Emmy", "time": "2026-11-27T02:14:38Z",
 "versions": {"python": "3.11.7", "system": "Linux", "rkhs_notes": "0.1.0", "numpy": "2.4.6", "scipy": "1.17.1"},
 "notebooks": {"00_hilbert.ipynb": "d208df52fc69af51fee57757a9d30ff24d1f3092c07f0b235548551e95b4ade9"},
 "answers": {"00.2": {"function": "my_distance",
   "code": "import numpy as np\\nhalf = 0.5\\ndef root(x): return x ** half\\ndef my_distance(weights, f, g):\\n    return root(np.sum(weights * (f - g) ** 2))",
   "notebook": "00_hilbert.ipynb", "passed": true, "says": "right, on 12 fresh inputs"}}}"""  # fmt: skip  # noqa: E501


def test_a_file_of_the_first_release_loads_and_passes(tmp_path):
    (tmp_path / "Emmy.json").write_text(FORMER)
    nb = as_notebooks(read_submission(tmp_path / "Emmy.json"))["00_hilbert.ipynb"]
    nbformat.validate(nbformat.from_dict(nb))
    scope = {}
    exec(text(nb, "code"), scope)
    assert check("00.2", scope["my_distance"]).passed


def test_a_notebook_has_the_answers_of_one_page_and_none_is_run(tmp_path):
    parts = {
        "03.2": ("raise SystemExit", "03.ipynb"),
        "03.4": ("def (", "deeper/03a.ipynb"),
        "03.10": ("'two'", "03.ipynb"),
    }
    answers = {
        number: {"function": "my_f", "code": code, "notebook": place}
        for number, (code, place) in parts.items()
    }
    (tmp_path / "x.json").write_text(json.dumps({"name": "Ann", "answers": answers}))
    made = as_notebooks(read_submission(tmp_path / "x.json"))
    assert {place: [cell["source"] for cell in nb["cells"]] for place, nb in made.items()} == {
        "03.ipynb": ["raise SystemExit", "'two'"],
        "deeper/03a.ipynb": ["def ("],
    }


def test_helpers_of_two_pages_stay_apart(tmp_path):
    for name, scale, number in (("00", 3, "00.6"), ("00a", 5, "00.10")):
        cells = [
            f"scale = {scale}",
            f"def my_{name}(): return scale",
            f'check("{number}", my_{name})',
        ]
        nbformat.write(page(*cells), tmp_path / f"{name}.ipynb")
    made = as_notebooks(classroom.submission(tmp_path, "Ann")[0])
    for name, scale in (("00", 3), ("00a", 5)):
        scope = {}
        exec(text(made[f"{name}.ipynb"], "code"), scope)
        assert scope[f"my_{name}"]() == scale


@pytest.mark.parametrize("written", [
    "no JSON", "[]", "{}", '{"name": 3, "answers": {}}', '{"name": "A", "answers": []}',
    '{"name": "A", "answers": {"../x": {"function": "f", "code": ""}}}',
    '{"name": "A", "answers": {"00.2": {"function": "f"}}}',
    '{"name": "A", "answers": {"00.2": {"function": "f", "code": 3}}}',
    '{"name": "A", "answers": {"00.2": {"function": "f", "code": ""}}}',
    '{"name": "A", "answers": {"00.2": "f"}}', *(
        json.dumps({"name": "A", "answers": {"00.2": {"function": "f", "code": "", "notebook": page}}})
        for page in ("../x.ipynb", "a/../../x.ipynb", "/x.ipynb", "C:x.ipynb", "..\\x.ipynb")
    ), "[" * 10**5, "\udcff",
])  # fmt: skip
def test_what_is_no_submission_is_refused_by_its_name(tmp_path, written):
    (tmp_path / "x.json").write_text(written, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(ValueError, match="x.json is no submission"):
        read_submission(tmp_path / "x.json")


@pytest.mark.parametrize("cell", ["my_x = 3\nprint(0.5, my_x)", "my_x = {0.5: 1}\n[2.0, my_x]"])
def test_a_number_beside_a_name_is_no_exercise(cell):
    right = "def my_gram(X):\n    return X @ X.T\n"
    answers, broken = answers_in(page(right, 'check("01.2", my_gram)', cell))
    assert list(answers) == ["01.2"] and not broken
