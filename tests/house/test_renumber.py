"""Numbers that run in order: what the script changes, and what it leaves."""

import json

import pytest

import renumber
from renumber import changes, in_code, main, renumbered, rewrite

TABLES = {"5.5a": "5.6", "5.6": "5b.1", "5.7": "5.7"}, {"5.10": "5b.1", "5.10a": "5b.2"}


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("> **Theorem 5.6 (gap).** x", "> **Theorem 5b.1 (gap).** x"),
        ("by Theorems 5.5a and 5.6, or Law 5.7", "by Theorems 5.6 and 5b.1, or Law 5.7"),
        ("see [5.6](05_x.ipynb#thm-5-6)", "see [5b.1](05_x.ipynb#thm-5-6)"),
        (r"$$x=y \tag{5.10a}$$", r"$$x=y \tag{5b.2}$$"),
        ("by (5.10) and (5.10a)", "by (5b.1) and (5b.2)"),
        ("(5.10, 5.10a), (5.10)–(5.10a)", "(5b.1, 5b.2), (5b.1)–(5b.2)"),
        ("Wahba 1990, Theorem 5.6", "Wahba 1990, Theorem 5.6"),
        ("**05.6 ★** `Matern(5.10)`, 5.10 metres", "**05.6 ★** `Matern(5.10)`, 5.10 metres"),
    ],
)
def test_what_is_named(text, wanted):
    assert renumbered(text, *TABLES) == wanted


def test_code_changes_in_comments_and_strings_only():
    code = 'def f(x):\n    "Theorem 5.6   (5.10)"\n    return (5.10)  # (5.10a)\n'
    assert in_code(code, *TABLES) == (
        'def f(x):\n    "Theorem 5b.1   (5b.1)"\n    return (5.10)  # (5b.2)\n'
    )
    assert in_code("%time f(\n", *TABLES) == "%time f(\n"


def notebook(path, *texts):
    path.parent.mkdir(parents=True, exist_ok=True)
    cells = [{"cell_type": "markdown", "source": [text]} for text in texts]
    path.write_text(json.dumps({"cells": cells}), "utf-8")


def test_a_book_is_put_in_order_once(tmp_path, capsys):
    for folder in ("tests", "website"):
        (tmp_path / folder).mkdir()
    notebook(tmp_path / "nbs" / "00_a.ipynb", "> **Law 0.1.** a", "> **Law 0.3 (b).** by Law 0.2")
    notebook(tmp_path / "nbs" / "deeper" / "00a_b.ipynb", r"> **Lemma 0.2.** $$1 \tag{0.7}$$ (0.7)")
    (tmp_path / "tests" / "test_a.py").write_text("# Law 0.3, (0.7)\nx = '0.2'\n", "utf-8")
    (tmp_path / "website" / "notation.py").write_text(
        '("n", "0.7 of it", "0.2", "(0.7)")\n', "utf-8"
    )
    (tmp_path / "website" / "words.txt").write_text("bound | 0.2 of it | 0.2 | a\n", "utf-8")
    main(root=tmp_path)
    assert "Law 0.2 (b).** by Law 0a.1" in renumber.text_of(tmp_path / "nbs" / "00_a.ipynb")
    assert "tag{0a.1}$$ (0a.1)" in renumber.text_of(tmp_path / "nbs" / "deeper" / "00a_b.ipynb")
    assert (tmp_path / "tests" / "test_a.py").read_text("utf-8") == "# Law 0.2, (0a.1)\nx = '0.2'\n"
    table = (tmp_path / "website" / "notation.py").read_text("utf-8")
    words = (tmp_path / "website" / "words.txt").read_text("utf-8")
    assert (
        table == '("n", "0.7 of it", "0a.1", "(0a.1)")\n'
        and words == "bound | 0.2 of it | 0a.1 | a\n"
    )
    main(root=tmp_path)  # nothing is left to do, and what each number was is kept
    assert capsys.readouterr().out.splitlines() == ["3 numbers changed", "0 numbers changed"]
    kept = json.loads((tmp_path / "tests" / "numbers.json").read_text("utf-8"))
    assert kept == [{"0.1": "0.1", "0.3": "0.2", "0.2": "0a.1"}, {"0.7": "0a.1"}]
    with pytest.raises(SystemExit) as done:
        main(check=True, root=tmp_path)
    assert done.value.code == 0


def test_a_message_names_the_new_number(tmp_path):
    path = tmp_path / "05_a.ipynb"
    output = {"output_type": "stream", "text": ["refused by Theorem 5.6\n", "after 5.6 s"]}
    cell = {"cell_type": "code", "source": ["f()"], "outputs": [output]}
    path.write_text(json.dumps({"cells": [cell]}), "utf-8")
    (cell,) = json.loads(rewrite(path, *TABLES))["cells"]
    assert cell["outputs"][0]["text"] == ["refused by Theorem 5b.1\n", "after 5.6 s"]


def test_a_number_that_stands_twice_is_refused(tmp_path):
    notebook(tmp_path / "01_a.ipynb", "> **Law 1.1.** a", "> **Lemma 1.1.** b")
    with pytest.raises(ValueError, match="1.1 stands twice"):
        changes([tmp_path / "01_a.ipynb"])
