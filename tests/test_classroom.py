"""The copy gives nothing away; grading runs what submitting ran; a bad file costs nobody else's row."""

import ast
import csv
import json
import os
import re
import sys

import nbformat
import numpy as np
import pytest
from rkhs_notes import classroom
from rkhs_notes.classroom import answers_in, examine, without_solutions
from rkhs_notes.cli import main

from conftest import NOTEBOOKS, ROOT, refuse
from run import attempt

CHAPTERS = [path for path in NOTEBOOKS if path.stem[0].isdigit()]
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="limits of memory, signals and forks are POSIX's")


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


def text(nb, kind):
    return "\n".join("".join(cell["source"]) for cell in nb["cells"] if cell["cell_type"] == kind)


def exercises(nb):
    "The text of the section Exercises"
    return re.split(r"(?m)^## (?!Exercises)", re.split(r"(?m)^## Exercises", text(nb, "markdown"))[1])[0]


# --- the copy ---


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_no_solution_remains(path):
    full, copy = load(path), without_solutions(load(path))
    folded = re.findall(r"(?s)<details><summary>([^<]*)</summary>(.*?)</details>", exercises(full))
    gone = [body for title, body in folded if not title.startswith("Hint")]
    assert gone, "a chapter without solutions?"
    told = text(copy, "markdown")
    lines = [line for body in gone for line in body.splitlines() if len(line) > 40]
    refuse([f"still told: {line[:80]}" for line in lines if line in told])
    hints = [body for title, body in folded if title.startswith("Hint")]
    assert all(body in told for body in hints)
    calls = [
        ast.unparse(node)
        for node in ast.walk(ast.parse(re.sub(r"(?m)^%.*", "", text(copy, "code"))))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "check"
    ]
    refuse([f"judges another answer: {call}" for call in calls if "lambda" in call or "solved" in call])
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
    names = {path.name for path in (tmp_path / "copy").glob("*.ipynb")}
    assert names < {path.name for path in NOTEBOOKS} and len(names) > 60
    assert not any(name.startswith(("V_", "W_classroom")) for name in names)
    (tmp_path / "rkhs_notes").symlink_to(ROOT / "rkhs_notes")
    nb, error, _ = attempt(tmp_path / "copy" / "03_rkhs.ipynb")
    assert not error, error
    said = [str(cell.outputs) for cell in nb.cells if "my_" in cell.source and "check(" in cell.source]
    stubs = sum(cell.source.startswith("def my_") for cell in nb.cells)
    assert "".join(said).count("no answer yet") == stubs >= 4
    refuse([f"a link to what is not there: {name}" for path in (tmp_path / "copy").glob("*.ipynb")
            for name in re.findall(r"\]\((\w+\.ipynb)", path.read_text(encoding="utf-8"))
            if name not in names and name != "W_classroom.ipynb"])  # fmt: skip
    (tmp_path / "copy" / "V_answers_00.ipynb").touch()
    assert main(["lab", str(tmp_path / "copy"), "--student", "--copy-only"]) == 2


def page(*cells):
    "A notebook as a dict: cells that begin with > are text"
    make = nbformat.v4
    return nbformat.v4.new_notebook(
        cells=[make.new_markdown_cell(o[1:]) if o[0] == ">" else make.new_code_cell(o) for o in cells]
    )


def test_solutions_of_every_form_are_taken_out():
    fold = "<details><summary>{}</summary> SECRET{} </details>"
    nb = page(
        ">## Before\n" + fold.format("Answer", 0).replace("SECRET", "open"),
        ">words\n\n## Exercises\n**00.1** task\n" + fold.format("Hint", 1).replace("SECRET", "open"),
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
    assert [word in told for word in ("open0", "open1", "data", "more", "another", "'last'")] == [True] * 6


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
    assert answers["00.3"]["code"].splitlines()[0] == "from rkhs_notes.hilbert import project"
    assert examine(answers, seed=2)["00.3"][0]


@pytest.mark.parametrize("body", ["...", "pass", '"help"\n    ...'])
def test_a_stub_is_no_answer(body):
    assert handed_in(f"def my_f(x):\n    {body}", 'check("00.6", my_f)')[0] == {}


def test_the_last_definition_counts():
    stub, answer, asks = "def my_f(x):\n    ...", "def my_f(x):\n    return 3", 'check("00.6", my_f)'
    assert handed_in(stub, answer, asks)[0] and not handed_in(answer, stub, asks)[0]


def test_a_cell_that_is_not_python_is_named():
    code, broken = handed_in("def my_f(: 3", "def my_g(): return 3", 'check("00.6", my_g)')
    assert broken == ["cell 1, line 1: invalid syntax"] and list(code) == ["00.6"]


def test_submit_writes_what_grade_reads(tmp_path, capsys):
    nbformat.write(page("def my_flaw(): return 3", 'check("00.6", my_flaw)'), tmp_path / "a.ipynb")
    to = tmp_path / "Ann.json"
    assert main(["submit", str(tmp_path), "--name", "Ann", "--to", str(to)]) == 0
    made = load(to)
    assert made["answers"]["00.6"]["passed"] and made["answers"]["00.6"]["notebook"] == "a.ipynb"
    assert set(made["versions"]) >= {"rkhs_notes", "python", "numpy"}
    assert len(made["notebooks"]["a.ipynb"]) == 64
    made["answers"]["00.6"]["code"] = "def my_flaw(): return 2"  # the claim is not believed
    to.write_text(json.dumps(made))
    assert main(["grade", str(tmp_path), "--json", str(tmp_path / "out.table")]) == 0
    (row,) = load(tmp_path / "out.table")["rows"]
    assert not row["verdicts"]["00.6"]["passed"] and row["looks"] == ["00.6 was claimed to pass"]
    assert "look at Ann.json: 00.6 was claimed to pass" in capsys.readouterr().out


@pytest.mark.parametrize("where", ["nothing", "page.ipynb", "no notebook.ipynb", "missing.ipynb"])
def test_submit_refuses_with_words(tmp_path, capsys, where):
    (tmp_path / "nothing").mkdir()
    nbformat.write(page("def my_flaw(): ...", 'check("00.6", my_flaw)'), tmp_path / "page.ipynb")
    (tmp_path / "no notebook.ipynb").write_text("{")
    assert main(["submit", str(tmp_path / where), "--name", "A", "--to", str(tmp_path / "a.json")]) == 2
    assert re.search("nothing to hand in|cannot be read", capsys.readouterr().out)
    assert not (tmp_path / "a.json").exists()


# --- grading: each fault in a file of its own, an honest student beside them ---

FAULTS = {
    "loop": ("while True: pass", "stopped after 3 s"),
    "memory": ("return bytearray(1 << 40)", "MemoryError"),
    "exit": ("raise SystemExit(0)", "SystemExit"),
    "os_exit": ("import os; os._exit(0)", "ended the process, with status 0"),
    "crash": ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV"),
    "noise": ("import os; [os.write(1, b'x' * 2**20) for _ in range(30)]; print('y' * 10**7); return 3", ""),
    "fork": ("import os; os.fork(); return 3", "no way to other processes (os.fork)"),
    "deletes": ("import os, shutil; shutil.rmtree(os.environ['TMPDIR'], True); return 3", ""),
    "big file": ("open('x', 'wb').write(bytes(100 << 20)); return 3", "OSError"),
    "asks": ("return input()", "EOFError"),
    "closes": ("import os; os.closerange(0, 200); return 3", "ended the process"),
    "talks": ("raise ValueError('\\x1b[31m=' + 'z' * 10**6)", "ValueError"),
}  # fmt: skip


def submission(name, body):
    answers = {
        "00.6": {"function": "my_f", "code": f"def my_f():\n    {body}", "passed": False},
        "01.8": {"function": "my_f", "code": "def my_f(): return 4", "passed": True},
    }
    return json.dumps({"format": 1, "name": name, "answers": answers})


@POSIX
def test_a_bad_submission_harms_nobody_elses_row(tmp_path, capsys):
    for name, (body, _) in FAULTS.items():
        (tmp_path / f"{name}.json").write_text(submission(name, body))
    (tmp_path / "honest.json").write_text(submission("Ann", "return 3"))
    (tmp_path / "zz.json").write_text('{"name": 3, "answers": {}}')
    (tmp_path / "zzz.json").write_text('{"name": "=cmd", "answers": {"../x": {}}}')
    out = tmp_path / "grades.table"
    options = ["--seconds", "3", "--memory", "2048", "--seed", "7", "--json", str(out)]
    assert main(["grade", str(tmp_path), *options, "--csv", str(tmp_path / "grades.csv")]) == 1
    rows = {row["file"].removesuffix(".json"): row for row in load(out)["rows"]}
    for name, (_, says) in FAULTS.items():
        verdict = rows[name]["verdicts"]["00.6"]
        assert says in verdict["says"] and len(verdict["says"]) <= 300, name
        assert verdict["passed"] == (not says), name
        assert "\x1b" not in verdict["says"]
        assert rows[name]["verdicts"]["01.8"]["passed"], f"{name}: the next exercise suffered"
    assert rows["honest"]["verdicts"]["00.6"]["passed"] and rows["honest"]["trouble"] == ""
    assert rows["zz"]["trouble"] and rows["zzz"]["trouble"]
    told = capsys.readouterr().out
    assert "look at zz.json" in told and "seed 7" in told
    with open(tmp_path / "grades.csv", newline="", encoding="utf-8") as file:
        table = list(csv.reader(file))
    assert table[0] == ["student", "file", "passed", "00.6", "01.8", "look at"]
    assert ["Ann", "honest.json", "2"] in [line[:3] for line in table] and len(table) == len(FAULTS) + 4


# what an answer tries, with `there` a folder of another, and the words that refuse it
TRIES = {
    "socket.create_connection(('127.0.0.1', 9))": "the network (socket.",
    "socket.getaddrinfo('localhost', 80)": "the network (socket.getaddrinfo)",
    "open(f'{there}/new', 'x')": "files outside of its folder (open)",
    "open(f'{there}/old', 'r+')": "files outside of its folder (open)",
    "os.open(f'{there}/new', os.O_CREAT)": "files outside of its folder (open)",
    "os.chdir(there); os.remove('old')": "files outside of its folder (os.remove)",
    "os.rename(f'{there}/old', 'mine')": "files outside of its folder (os.rename)",
    "os.mkdir(f'{there}/new')": "files outside of its folder (os.mkdir)",
    "shutil.rmtree(there)": "files outside of its folder (shutil.rmtree)",
    "os.system('true')": "other processes (os.system)",
    "subprocess.run([sys.executable, '-c', ''])": "other processes (subprocess.Popen)",
    "os.kill(os.getppid(), 0)": "other processes (os.kill)",
}
WITHIN = """open('a', 'w').write('3'); os.rename('a', 'b'); os.kill(os.getpid(), 0)
open(os.devnull, 'w'); tempfile.mkdtemp(); os.makedirs(there, exist_ok=True)
def my_f(): return int(open(f'{there}/old').read())"""


def test_an_answer_stays_in_its_folder(tmp_path):
    (tmp_path / "old").write_text("3")
    opening = f"import os, shutil, socket, subprocess, sys, tempfile\nthere = {str(tmp_path)!r}\n"
    codes = {f"0.{i}": code for i, code in enumerate(TRIES)} | {"00.6": WITHIN}
    verdicts = examine({n: {"function": "my_f", "code": opening + code} for n, code in codes.items()}, seed=1)
    assert verdicts.pop("00.6")[0]
    for (passed, says), words in zip(verdicts.values(), TRIES.values(), strict=True):
        assert not passed and f"PermissionError: an answer has no way to {words}" in says
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


def test_the_same_inputs_for_all_and_again():
    code = "import numpy as np\ndef my_f(w, f, g): raise ValueError(str(np.sum(f)))"
    answers = {"00.2": {"function": "my_f", "code": code}}
    first, again, other = (examine(answers, seed) for seed in (1, 1, 2))
    assert first == again != other


def test_each_exercise_has_inputs_of_its_own(monkeypatch):
    drawn = {}
    monkeypatch.setattr(classroom, "check", lambda number, f, rng: drawn.setdefault((number, f()), rng))
    for seed in (1, 2):
        for number in ("00.2", "00.3"):
            classroom._judged(number, {"function": "f", "code": f"def f(): return {seed}"}, seed)
    assert len(drawn) == 4 == len({np.random.default_rng(rng).random() for rng in drawn.values()})


def test_what_lies_outside_of_a_folder(tmp_path):
    folder, beside = tmp_path / "box", tmp_path / "boxes"
    folder.mkdir(), beside.mkdir()
    inside = str(folder.resolve())
    for path in (beside / "x", tmp_path, folder / ".." / "x", os.fsencode(beside)):
        assert classroom._outside(path, inside), path
    for path in (folder, folder / "x", folder / "a" / ".." / "x", os.devnull, 3):
        assert not classroom._outside(path, inside), path


@POSIX
def test_a_link_out_of_a_folder_leads_outside(tmp_path):
    folder = tmp_path / "box"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    assert classroom._outside(folder / "link" / "x", str(folder.resolve()))


def test_a_name_is_a_line_that_no_spreadsheet_computes():
    for sign in "=+-@":
        assert classroom._plain(f"{sign}1+1") == f"'{sign}1+1"
    assert classroom._plain(" a\tb\x1b ") == "a b" and classroom._plain("1-1") == "1-1"


def test_a_file_too_large_to_be_a_submission_is_not_opened(tmp_path):
    path = tmp_path / "large.json"
    path.write_text(submission("Ann", "return 3"))
    assert classroom._read(path)[1] == ""
    with open(path, "ab") as file:
        file.truncate((1 << 24) + 1)
    assert classroom._read(path) == (None, "larger than 16 MiB")


def test_mistakes_are_counted_by_name():
    verdict = {"passed": False, "says": "the root is missing"}
    row = {"file": "x.json", "trouble": "", "looks": [], "verdicts": {"03.10": verdict}}
    rows = [row | {"student": name} for name in ("Ann", "Bob")]
    rows[0]["verdicts"] = rows[0]["verdicts"] | {"03.2": {"passed": True, "says": "right"}}
    lines = list(classroom.table(rows))
    assert lines[0].split() == ["03.2", "03.10"] and lines[1].split() == ["Ann", "✓", "✗"]
    assert lines[2].split() == ["Bob", "·", "✗"] and lines[3] == "  2 × 03.10: the root is missing"
    rare = row | {"student": "Cy", "verdicts": {"03.10": {"passed": False, "says": "a sign"}}}
    often, once = "  2 × 03.10: the root is missing", "  1 × 03.10: a sign"
    assert [*classroom.table([rare, *rows])][-2:] == [often, once]


def test_a_folder_without_submissions_is_told(tmp_path, capsys):
    assert main(["grade", str(tmp_path)]) == 2
    assert "no submission" in capsys.readouterr().out
