"""Settings: where they are read, what is refused and in which words, how they change for a while."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rkhs_notes as rn
from rkhs_notes import settings
from rkhs_notes.base.settings import find_settings_file, read_settings, using

pytestmark = pytest.mark.filterwarnings("error")

BUILT_IN = dict(profile="quick", seed=0, block_mib=64.0, result_mib=4096.0, dpi=110.0, data_dir="")
HEADER = "[rkhs_notes]\n"


@pytest.fixture
def write(tmp_path):
    "write(text) -> the settings.ini in a folder of its own, inside which no other is found"

    def write(text, folder=tmp_path, encoding="utf-8"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "settings.ini").write_bytes(
            text if isinstance(text, bytes) else text.encode(encoding)
        )
        return folder / "settings.ini"

    return write


def read(path, **environ):
    return read_settings(path.parent, environ)


def refused(path, *words):
    "The file is refused; the message begins with its path and has the words"
    with pytest.raises(ValueError) as error:
        read(path)
    assert str(error.value).startswith(str(path))
    assert error.value.__context__ is None or error.value.__suppress_context__
    for word in words:
        assert word in str(error.value)


def test_built_in_values_and_their_types():
    found = read_settings("/", environ={})
    assert found == BUILT_IN
    assert {name: type(value) for name, value in found.items()} == {
        n: type(v) for n, v in BUILT_IN.items()
    }


def test_every_setting_from_the_file(write):
    path = write(
        HEADER
        + "profile = full\nseed = 7\nblock_mib = 0.5\nresult_mib=1e3\nDPI: 72\ndata_dir = /data\n"
    )
    assert read(path) == dict(
        profile="full", seed=7, block_mib=0.5, result_mib=1000.0, dpi=72.0, data_dir="/data"
    )


def test_environment_over_file_over_built_in(write):
    path = write(HEADER + "seed = 7\ndpi = 72")
    found = read(path, RKHS_NOTES_SEED=" 8 ", SEED="9", NOT_RKHS_NOTES_SEED="10", RKHS_NOTES="11")
    assert found == BUILT_IN | dict(seed=8, dpi=72.0)


def test_the_environment_of_the_process_is_the_default(monkeypatch):
    monkeypatch.setenv("RKHS_NOTES_DPI", "33")
    assert read_settings("/")["dpi"] == 33 and read_settings("/", environ={})["dpi"] == 110


def test_the_working_directory_is_the_default(write, monkeypatch):
    path = write(HEADER + "seed = 7")
    monkeypatch.chdir(path.parent)
    assert find_settings_file() == path and read_settings(environ={})["seed"] == 7


def test_attributes_are_what_was_read():
    script = (
        "from rkhs_notes import settings as s; print(*[getattr(s, name) for name in s._PARSERS])"
    )
    values = dict(PROFILE="full", SEED="5", BLOCK_MIB="1", RESULT_MIB="2", DPI="3", DATA_DIR="/d")
    environ = os.environ | {f"RKHS_NOTES_{name}": value for name, value in values.items()}
    printed = subprocess.check_output([sys.executable, "-c", script], env=environ, text=True)
    assert printed.split() == ["full", "5", "1.0", "2.0", "3.0", "/d"]


# which file


def test_the_nearest_file_with_the_section_counts(write, tmp_path):
    top = write(HEADER + "seed = 1")
    write("[DEFAULT]\nlib_name = rkhs_notes\n", tmp_path / "a")
    below = write(HEADER + "seed = 2", tmp_path / "a" / "b")
    (tmp_path / "a" / "b" / "c").mkdir()
    assert find_settings_file(tmp_path / "a" / "b" / "c") == below
    assert find_settings_file(tmp_path / "a") == top == find_settings_file(str(tmp_path))
    assert find_settings_file("/") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "; [rkhs_notes]\nseed = 3",
        "# [rkhs_notes]",
        "[rkhs_notes_two]\nx",
        "[rkhs_notes.two]\n",
        "[tool:rkhs_notes]\n",
        "name = [rkhs_notes]",
        "packages =\n  rkhs_notes",
        "[rkhs\n_notes",
        "[\nrkhs_notes\n",
        b"\xff\xfe\x00\x01",
        "no grammar at all",
    ],
)
def test_a_file_of_something_else_is_passed_over(write, text):
    path = write(text)
    assert find_settings_file(path.parent) is None and read(path) == BUILT_IN


def test_a_folder_of_that_name_is_passed_over(tmp_path):
    (tmp_path / "settings.ini").mkdir()
    assert find_settings_file(tmp_path) is None


def test_a_file_that_may_not_be_read_is_named(write, monkeypatch):
    path = write(HEADER)

    def refuse(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.warns(
        UserWarning, match=f"{path} cannot be read and is passed over: .*Permission denied"
    ):
        assert find_settings_file(path.parent) is None


def test_a_working_directory_that_is_gone_has_no_settings(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert find_settings_file() is None and read_settings(environ={}) == BUILT_IN


# a file that cannot be read says so


def test_a_byte_order_mark_is_no_harm(write):
    assert read(write(HEADER + "seed = 7", encoding="utf-8-sig"))["seed"] == 7
    assert read(write((HEADER + "seed = 7\n").replace("\n", "\r\n")))["seed"] == 7


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16(write, encoding):
    refused(
        write(HEADER + "seed = 7", encoding=encoding), "line 1: the file is not in UTF-8; save it"
    )


def test_another_encoding_names_the_line(write):
    refused(
        write("\n" + HEADER + "# größer\n", encoding="latin-1"), "line 3: the file is not in UTF-8"
    )
    refused(write(HEADER + "seed = 7\0\n"), "line 2: the file is not in UTF-8")


NEITHER = "is neither a header such as [rkhs_notes] nor, below one, name = value"


@pytest.mark.parametrize(
    "text, line, words",
    [
        ("[rkhs_notes\nseed = 7", 1, f"'[rkhs_notes' {NEITHER}"),
        ("rkhs_notes]\nseed = 7", 1, f"'rkhs_notes]' {NEITHER}"),
        ("[a]\nb = 1\n[rkhs_notes\nseed = 7", 3, f"'[rkhs_notes' {NEITHER}"),
        ("seed = 7\n\n[rkhs_notes]", 1, f"'seed = 7' {NEITHER}"),
        ("[rkhs_notes]\nseed = 7\n dpi\n\nfull", 5, f"'full' {NEITHER}"),
        ("[rkhs_notes]\nseed = 7\nseed = 7", 3, "'seed = 7' comes a second time"),
        ("[rkhs_notes]\n\n[a]\n[rkhs_notes]\n", 4, "'[rkhs_notes]' comes a second time"),
        ("\n[RKHS_Notes]\nseed = 7", 2, "'[RKHS_Notes]' should read [rkhs_notes]"),
        ("[ rkhs_notes ]\nseed = 7", 1, "'[ rkhs_notes ]' should read [rkhs_notes]"),
        (
            "[a]\nb = 1\n  [rkhs_notes]\n",
            3,
            "'[rkhs_notes]' should read [rkhs_notes] and begin its line",
        ),
    ],
)
def test_grammar(write, text, line, words):
    refused(write(text), f", line {line}: {words}")


# values


@pytest.mark.parametrize(
    "name, values, words",
    [
        ("profile", ["fast", "", "QUICK"], "expected quick or full"),
        ("seed", ["-1", "1.5", "x", "", "1_0", "²"], "expected a whole number ≥ 0"),
        (
            "block_mib",
            ["0", "-1", "inf", "nan", "x", "", "1e308"],
            "expected a finite number > 0, ≤ 1e12",
        ),
        ("result_mib", ["0", "inf", "1.1e12"], "expected a finite number > 0, ≤ 1e12"),
        ("dpi", ["0", "-0.5"], "expected a finite number > 0, ≤ 1e12"),
    ],
)
def test_values_out_of_range(write, name, values, words):
    for value in values:
        path, variable = write(f"{HEADER}{name} = {value}"), f"RKHS_NOTES_{name.upper()}"
        for where, environ, source in [(path.parent, {}, path), ("/", {variable: value}, variable)]:
            with pytest.raises(ValueError) as error:
                read_settings(where, environ)
            assert str(error.value) == f"{name} = {value!r} (from {source}): {words}"


def test_values_at_the_edge(write):
    assert read(write(HEADER + "seed = 0\ndpi = 1e-9\nprofile = quick"))["dpi"] == 1e-9


def test_the_largest_room_changes_nothing():
    x, y = np.linspace(0, 1, 5), np.ones(5)
    found = lambda: (rn.Gaussian()(x), rn.kernel_sgd(rn.Gaussian(), x, y, rng=0)(x))  # noqa: E731
    usual = found()
    with using(block_mib=1e12, result_mib=1e12):
        for part, wanted in zip(found(), usual, strict=True):
            np.testing.assert_array_equal(part, wanted)


def test_unknown_names(write):
    path = write(HEADER + "zeed = 1\nblocks = 2")
    known = "known are profile, seed, block_mib, result_mib, dpi, data_dir"
    refused(path, f": unknown setting 'blocks'; {known}")
    with pytest.raises(ValueError, match=f"^RKHS_NOTES_ZEED: unknown setting 'zeed'; {known}$"):
        read_settings("/", {"RKHS_NOTES_ZEED": "1"})
    with pytest.raises(ValueError, match=f"^using: unknown setting 'blocks'; {known}$"):
        with using(zeed=1, blocks=2):
            pass


def test_a_percent_sign_is_a_letter(write):
    assert read(write(HEADER + "data_dir = /a%20b%(c)s"))["data_dir"] == "/a%20b%(c)s"


def test_no_section_lends_its_values_to_ours(write):
    assert read(write("[DEFAULT]\nseed = 3\n[nothing]\nx = 1\n" + HEADER)) == BUILT_IN


def test_data_dir(write, monkeypatch):
    monkeypatch.setenv("HOME", "/home-of-tests")
    monkeypatch.setenv("USERPROFILE", "/home-of-tests")
    path = write(HEADER + "data_dir = sub/data")
    assert read(path)["data_dir"] == str(path.parent / "sub" / "data")
    assert read(path, RKHS_NOTES_DATA_DIR="sub")["data_dir"] == "sub"
    assert read(path, RKHS_NOTES_DATA_DIR="")["data_dir"] == ""
    assert read(path, RKHS_NOTES_DATA_DIR="~/x")["data_dir"] == "/home-of-tests/x"
    assert read(write(HEADER + "data_dir = ~/x"))["data_dir"] == "/home-of-tests/x"
    assert read(write(HEADER + "data_dir ="))["data_dir"] == ""


# for a while


@pytest.mark.second_route("size", "known values")
def test_size_and_using():
    before = {name: getattr(settings, name) for name in BUILT_IN}
    with using(profile="full", seed=3, block_mib=1, data_dir=Path("/x")):
        assert settings.size(1, 2) == 2 and (settings.seed, settings.block_mib) == (3, 1.0)
        assert settings.data_dir == "/x"
        with using(profile="quick", data_dir=None):
            assert settings.size(1, 2) == 1 and settings.seed == 3 and settings.data_dir == ""
        assert settings.profile == "full"
    assert {name: getattr(settings, name) for name in BUILT_IN} == before


def test_using_restores_after_an_error():
    before = settings.seed
    with pytest.raises(KeyError):
        with using(seed=before + 1):
            raise KeyError
    assert settings.seed == before


def test_using_refuses_all_or_nothing():
    before = settings.seed
    for changes in (dict(seed=before + 1, dpi=-1), dict(seed=None), dict(block_mib=True)):
        (name, value), words = list(changes.items())[-1], "expected a "
        with pytest.raises(ValueError) as error:
            with using(**changes):
                pytest.fail("the block runs")
        text = "" if value is None else str(value)
        assert str(error.value).startswith(f"{name} = {text!r} (from using): {words}")
        assert settings.seed == before


# what the text quotes

QUOTED = [
    (0.449, "45 %"),
    (0.45449, "45 %"),
    (0.704, "0.70"),
    (0.66, 0.7),
    (-0.12, "−.12"),
    (2.6e6, "3e6"),
]
MISQUOTED = [
    (0.456, "45 %"),
    (0.706, "0.70"),
    (0.64, 0.7),
    (0.12, "−.12"),
    (3.6e6, "3e6"),
    (float("nan"), 1),
]


@pytest.mark.second_route("quoted", "numbers and their roundings, listed")
@pytest.mark.parametrize(("value", "said"), QUOTED + MISQUOTED)
def test_a_quoted_number_is_compared_in_the_stored_run_only(value, said):
    for other in (dict(seed=7), dict(profile="full")):
        with using(seed=0, profile="quick"), using(**other):
            assert settings.quoted(value, said) is value
    with using(seed=0, profile="quick"):
        if (value, said) in QUOTED:
            assert settings.quoted(value, said) is value
        else:
            with pytest.raises(
                AssertionError, match=re.escape(f"says {said}, and here it is {value:.6g}")
            ):
                settings.quoted(value, said)
