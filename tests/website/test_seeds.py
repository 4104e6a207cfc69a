"""Pages under other seeds: which cells hold, for how many, and what is kept between two runs."""

import os

import pytest

from website import seeds
from website.run import attempt

DRAW = (
    "code:from rkhs_notes import settings\nassert settings.seed != 2000, 'a lucky draw'\nmade = 1"
)


@pytest.fixture
def pages(write_notebook):
    good = write_notebook("98_good.ipynb", "# text", "code:x = 1")
    bad = write_notebook(
        "99_bad.ipynb", "# text", DRAW, "code:made + 1", "code:two = 2\nassert two == 3"
    )
    return [good, bad]


def table(pages, many, folder):
    found = seeds.Table([seeds.APART * (i + 1) for i in range(many)])
    runs = list(seeds.judged(pages, found.seeds, folder))
    for run in runs:
        found.add(*run)
    assert len(runs) == many * len(pages)
    return found


def test_every_cell_runs_and_is_counted(pages, tmp_path, monkeypatch):
    found = table(pages, 3, tmp_path / "kept")
    assert found.found == {
        ("99_bad.ipynb", 1): {
            2000: "AssertionError: a lucky draw"
        },  # `made` of the next cell is its doing
        ("99_bad.ipynb", 3): dict.fromkeys([1000, 2000, 3000], "AssertionError: assert two == 3"),
    }
    assert found.refused() == [("99_bad.ipynb", 3)] and "2 of 3  Assertion" in str(found)

    monkeypatch.setattr(seeds, "failures", None)  # all is kept: nothing runs again
    assert table(pages, 3, tmp_path / "kept").found == found.found


def test_how_many_must_hold():
    for many, allowed in ((1, 0), (2, 1), (5, 1), (20, 1), (39, 1), (40, 2)):
        found = seeds.Table(list(range(many)), {"held": dict.fromkeys(range(allowed))})
        assert not found.refused()
        found.found["failed"] = dict.fromkeys(range(allowed + 1))
        assert found.refused() == ["failed"]


def test_the_exit_status(pages, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(seeds, "chapters", lambda: sorted(tmp_path.glob("[0-9]*.ipynb")))
    failed = {}
    monkeypatch.setattr(
        seeds, "judged", lambda paths, seeds: ((p, s, failed) for p in paths for s in seeds)
    )
    assert seeds.main("2", "99") == 0 and "1 pages" in capsys.readouterr().out
    assert seeds.main("2", "97") == 1  # no such page
    failed[4] = "AssertionError"
    assert seeds.main("2") == 1 and "0 of 2  FAILS" in capsys.readouterr().out


def test_a_page_that_stops_the_kernel_fails(write_notebook):
    path = write_notebook("99_dead.ipynb", "code:import os\nos._exit(1)")
    assert "died" in seeds.failures(path, 1000)[-1]


def test_a_run_under_another_seed_leaves_the_seed_as_it_was(write_notebook, monkeypatch):
    path = write_notebook(
        "99_seed.ipynb", "code:import os\nassert os.environ['RKHS_NOTES_SEED'] == '1000'"
    )
    monkeypatch.delenv("RKHS_NOTES_SEED", raising=False)
    assert seeds.failures(path, 1000) == {} and "RKHS_NOTES_SEED" not in os.environ
    monkeypatch.setenv("RKHS_NOTES_SEED", "7")
    assert seeds.failures(path, 1000) == {} and os.environ["RKHS_NOTES_SEED"] == "7"


def test_an_execution_stops_at_an_error_unless_told(write_notebook):
    path = write_notebook("two.ipynb", "code:1 / 0", "code:print('after')")
    assert "ZeroDivisionError" in attempt(path)[1]
    assert attempt(path, allow_errors=True)[0].cells[1].outputs[0].text == "after\n"
