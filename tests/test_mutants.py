"""The planted faults fit the package, and the script that plants them tells noticed from survived."""

import json
import subprocess

import pytest

from mutants import LIST, ROOT, main, planted

FAULTS = json.loads(LIST.read_text(encoding="utf-8"))


@pytest.mark.parametrize("module", FAULTS)
def test_nine_faults_in_ten_can_be_planted(module):
    "The others stood in code that was rewritten since; make mutants names them"
    source = (ROOT / "rkhs_notes" / f"{module}.py").read_text(encoding="utf-8")
    pairs = sum(FAULTS[module].values(), [])
    assert len(pairs) == len({tuple(pair) for pair in pairs}) and all(old != new for old, new in pairs)
    assert sum(source.count(old) != 1 for old, _ in pairs) <= 0.1 * len(pairs)
    for old, new in pairs:
        if source.count(old) == 1:
            assert planted(source, old, new) != source


def test_what_cannot_be_planted_is_refused():
    with pytest.raises(ValueError, match="stands 2 times"):
        planted("a = 1\nb = 1\n", "1", "2")
    with pytest.raises(ValueError, match="stands 0 times"):
        planted("a = 1\n", "2", "3")
    with pytest.raises(SyntaxError):
        planted("a = 1\n", "1", "(")


PAIRS = [["x + x", "x - x"], ["x * x", "x * abs(x)"], ["return x + x", "raise SystemExit"]]


def test_noticed_survived_and_broken_are_told_apart(tmp_path, monkeypatch, capsys):
    (tmp_path / "rkhs_notes").mkdir()
    (tmp_path / "rkhs_notes" / "__init__.py").write_text("")
    (tmp_path / "rkhs_notes" / "small.py").write_text(
        "def twice(x):\n    return x + x\n\ndef square(x):\n    return x * x\n"
    )
    (tmp_path / "test_small.py").write_text(
        "from rkhs_notes.small import square, twice\ntwice(1)\n"
        "def test():\n    assert twice(3) == 6 and square(3) == 9\n"
    )
    (tmp_path / "mutants.json").write_text(json.dumps({"small": {"test_small.py": PAIRS}}))
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    monkeypatch.setattr("mutants.ROOT", tmp_path)
    monkeypatch.setattr("mutants.LIST", tmp_path / "mutants.json")
    assert main([]) == 1
    told = capsys.readouterr().out
    assert "1 of 3 noticed" in told and "survived test_small.py\n        x * x" in told
    assert "'raise SystemExit' ends with" in told
    (tmp_path / "test_small.py").write_text("import rkhs_notes\n\ndef test():\n    assert False\n")
    assert main([]) == 1 and capsys.readouterr().out.count("not tried: without a fault") == 3
