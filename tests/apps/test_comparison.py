"""Two tables compared: files of every kind, columns of every kind, level and power, memory, the command."""

import gzip
import io
import json
import re
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest
from matplotlib.figure import Figure

from rkhs_notes import comparison, settings, tables
from rkhs_notes.apps.cli import main
from rkhs_notes.apps.comparison import (
    BINS,
    Binned,
    bin_plan,
    compare_tables,
    evenly,
    row_features,
    spacing,
)
from rkhs_notes.apps.estimators import TwoSampleDrift
from rkhs_notes.engines.data.tables import Column, Encoder, Reservoir, Table, encoded, read_table
from rkhs_notes.engines.features.spectral import fourier_features
from rkhs_notes.engines.testing.discrepancies import mmd2_features
from rkhs_notes.engines.testing.resampling import binomial_interval
from rkhs_notes.kernels import Gaussian


def drawn(n, rng, shift=0.0):
    return {
        "x": rng.normal(shift, 1, n),
        "age": rng.integers(20, 70, n),
        "town": rng.choice(["Berne", "Basle", "Zug"], n),
    }


def entries(table, columns=None):
    "All rows of a table, as a list of columns of texts"
    blocks = list(table.blocks(columns))
    return [[str(v) for b in blocks for v in b[j].tolist()] for j in range(len(blocks[0]))]


def written(folder, name, frame):
    "The data frame as a file of the kind that its name says"
    path = folder / name
    if name.endswith(".parquet"):
        frame.to_parquet(path)
    elif name.endswith(".npy"):
        np.save(path, frame.to_numpy())
    else:
        frame.to_csv(
            path, index=False, sep="\t" if ".tsv" in name else ";" if "semi" in name else ","
        )
    return path


@pytest.mark.parametrize(
    "text, kept, line",
    [
        ("x\n1\n\n3\n", ["1", "", "3"], 3),
        ('x\n\n\n"2"\n', ["", "", "2"], 2),
        ("1\n\n3\n\n", ["1", "", "3"], 2),
        ("x\n1\n3\n\n\n", ["1", "3"], None),  # behind the last row nothing is missing
    ],
)
@pytest.mark.parametrize("n_rows", [1, 2, 100])
def test_an_empty_line_in_a_single_column_is_a_gap(text, kept, line, n_rows, tmp_path):
    (tmp_path / "t.csv").write_text(text)
    table = read_table(tmp_path / "t.csv")
    assert entries(table) == [kept]
    if line:
        with pytest.raises(ValueError, match=f"t.csv, line {line}: column .* has a gap"):
            list(table.numbers(table.columns, n_rows))
        with pytest.warns(UserWarning, match=f"{kept.count('')} of {len(kept)} rows with a gap"):
            A = np.concatenate(list(table.numbers(table.columns, n_rows, gaps="drop")))
    else:
        A = np.concatenate(list(table.numbers(table.columns, n_rows)))
    assert A.ravel().tolist() == [float(v) for v in kept if v]


@pytest.mark.parametrize("named", ([1], (1,), "1", ["1"], np.array([1])), ids=repr)
def test_columns_numbered_by_a_frame_are_taken_one_by_one_or_in_a_list(named):
    two = [pandas.DataFrame(np.random.default_rng(i).normal(size=(40, 3))) for i in range(2)]
    here = [compare_tables(*two, n_permutations=99, rng=0, columns=c) for c in (1, named)]
    assert repr(here[0]) == repr(here[1]) and repr(here[0].columns) == repr(here[1].columns)
    assert len(compare_tables(*two, n_permutations=99, rng=0, drop=named).columns) == 2


@pytest.mark.second_route("Table", "encoded", "read_table", "the frame that was written, by pandas")
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "semi.csv", "a.csv.gz", "a.parquet"])
def test_a_file_of_any_kind_holds_the_same_rows(tmp_path, name):
    frame = pandas.DataFrame(drawn(50, np.random.default_rng(0)))
    frame.loc[3, "x"] = np.nan
    table = read_table(written(tmp_path, name, frame))
    assert table.columns == ["x", "age", "town"]
    encoder, _, counts = encoded(table, frame)
    assert counts == (50, 50)
    one, two = (encoder(next(t.blocks())) for t in (table, read_table(frame)))
    np.testing.assert_allclose(one, two, rtol=1e-14, atol=1e-15)


def test_an_array_on_disk_is_read_as_a_memory_map(tmp_path):
    X = np.random.default_rng(0).normal(size=(tables.ROWS + 7, 2))
    np.save(tmp_path / "x.npy", X)
    blocks = list(read_table(tmp_path / "x.npy").blocks())
    assert [len(b[0]) for b in blocks] == [tables.ROWS, 7]
    np.testing.assert_array_equal(np.concatenate([np.stack(b, 1) for b in blocks]), X)


def test_frames_of_three_libraries_and_columns_in_another_order():
    rng = np.random.default_rng(1)
    a, b = drawn(80, rng), drawn(70, rng)
    plain = compare_tables(a, b, rng=5, n_permutations=99)
    turned = lambda columns: dict(reversed(columns.items()))  # noqa: E731
    for frame in (pandas.DataFrame, polars.DataFrame, pyarrow.table, turned):
        again = compare_tables(a, frame(b), rng=5, n_permutations=99)
        assert (
            again.test.statistic == plain.test.statistic and again.test.pvalue == plain.test.pvalue
        )


@pytest.mark.parametrize(
    "first, header", [("x,y", True), ("1.5,2", False), ("7,7", False), ("a,", False)]
)
def test_whether_the_first_line_is_a_header(tmp_path, first, header):
    path = tmp_path / "t.csv"
    path.write_text(f"{first}\n3,4\n5,6\n", encoding="utf-8")
    table = read_table(path)
    assert table.columns == (first.split(",") if header else ["c0", "c1"])
    assert len(entries(table)[0]) == (2 if header else 3)
    assert len(entries(read_table(path, header=False))[0]) == 3


def test_empty_lines_and_the_mark_of_a_byte_order_are_no_rows(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"\xef\xbb\xbfx,y\n1,2\n\n3,4\n\n")
    table = read_table(tmp_path / "t.csv")
    assert table.columns == ["x", "y"] and entries(table) == [["1", "3"], ["2", "4"]]


@pytest.mark.parametrize("gap", ["", "NA", "n/a", "NaN", "null", "None", "<NA>", "NaT"])
def test_words_for_nothing_are_gaps(tmp_path, gap):
    (tmp_path / "t.csv").write_text(f"x,y\n1,a\n{gap},b\n3,{gap}\n")
    table = read_table(tmp_path / "t.csv")
    x, y = encoded(table, table)[0].columns
    assert (x.is_number, x.numbers, x.gaps) == (True, 4, 2)  # of two tables
    assert (y.is_number, dict(y.words), y.gaps) == (False, {"a": 2, "b": 2}, 2)


def test_a_comma_in_a_word_that_is_declared_is_part_of_it():
    x = {"x": ["1,5", "2,5"]}
    assert set(encoded(x, x, categorical=["x"])[0].columns[0].words) == {"1,5", "2,5"}


def test_a_thousand_words_are_not_too_many():
    words = {"x": [f"n{i}" for i in range(Column.MOST)]}
    assert encoded(words, words)[0].width == 1000
    with pytest.raises(ValueError, match="more than 1000 different texts"):
        encoded(words, {"x": ["one more", "n0"]})


SCALES = {
    "quartiles": ([0.0, 1.0, 2.0, 3.0, 100.0], 2.0, 2 / 1.349),
    "most are equal": ([5.0] * 9 + [15.0], 5.0, 3.0),  # their standard deviation
    "gaps": ([np.nan, 1.0, 2.0, 3.0, np.nan, np.nan], 2.0, 1 / 1.349),
    "all equal": ([7.0] * 5, 7.0, 1.0),
    "nothing": ([np.nan] * 5, 0.0, 1.0),
}


@pytest.mark.parametrize("case", SCALES)
def test_numbers_are_measured_from_their_median_in_units_of_their_spread(case):
    values, middle, scale = SCALES[case]
    column = Column("x")
    column.add(np.array(values), "t")
    encoder = Encoder([column], [np.array(values)])
    assert (encoder.middle[0], encoder.scale[0]) == pytest.approx((middle, scale))
    X = encoder([np.array(values)])
    np.testing.assert_allclose(
        X[:, 0], np.where(np.isnan(values), 0, (np.array(values) - middle) / scale)
    )


def test_the_index_that_pandas_writes_is_a_column_without_a_name(tmp_path):
    frame = pandas.DataFrame({"x": [1.5, 2.5, 3.5], "town": ["a", "b", "a"]})
    frame.to_csv(tmp_path / "t.csv")
    assert read_table(tmp_path / "t.csv").columns == ["c0", "x", "town"]


def test_a_missing_text_of_pandas_is_a_gap():
    frame = pandas.DataFrame(
        {"s": pandas.array(["x", pandas.NA, "y"], dtype="string"), "gaps": [None] * 3}
    )
    assert entries(read_table(frame))[0] == ["x", "", "y"]
    assert compare_tables(frame, frame, columns="gaps", rng=0, n_permutations=9).plot() is not None


def test_gaps_are_a_column_of_their_own_and_their_share_is_told():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(2, 400))
    x[1, rng.random(400) < 0.3] = np.nan
    result = compare_tables({"x": x[0]}, {"x": x[1]}, rng=0, n_permutations=199)
    assert result.differs and result.columns[0].says.startswith("gaps 0.0% → ")
    share = float(result.columns[0].says.split("→ ")[1].rstrip("%")) / 100
    assert abs(share - np.isnan(x[1]).mean()) < 0.0006


def test_the_mean_of_a_column_with_gaps_is_that_of_its_numbers():
    x = np.random.default_rng(2).normal(3, 1, size=(2, 300))
    x[:, ::3] = np.nan
    (change,) = compare_tables({"x": x[0]}, {"x": x[1]}, rng=0, n_permutations=19).columns
    assert change.says == f"mean {np.nanmean(x[0]):.4g} → {np.nanmean(x[1]):.4g}"


@pytest.mark.parametrize(
    "first, second, digits",
    [
        (np.tile(np.arange(2015, 2024), 60), np.tile([2016, *range(2016, 2024)], 60), 5),
        (np.full(200, 1e8), np.full(200, 1e8 + 1), 9),
    ],
    ids=["years", "large"],
)
def test_means_that_are_unlike_read_unlike(first, second, digits):
    (change,) = compare_tables({"year": first}, {"year": second}, rng=0).columns
    assert change.says == f"mean {first.mean():.{digits}g} → {second.mean():.{digits}g}"
    shuffled = {"x": np.random.default_rng(0).permutation(first / 7)}
    (change,) = compare_tables({"x": first / 7}, shuffled, n_permutations=19).columns
    assert change.says == "mean {0:.4g} → {0:.4g}".format(np.mean(first / 7))  # not its rounding


def test_shares_that_are_unlike_read_unlike():
    words = {n: {"w": ["rare"] * n + ["usual"] * (20_000 - n)} for n in (2, 9)}
    (change,) = compare_tables(words[2], words[9], rng=0, n_permutations=19).columns
    assert change.says == "'rare' 0.01% → 0.04%" or change.says == "'usual' 99.99% → 99.96%"


def test_only_columns_that_changed_are_told_first_and_corrected_for_all():
    rng = np.random.default_rng(3)
    a, b = ({"age": rng.normal(size=200), "x": rng.normal(s, 1, 200)} for s in (0, 3.0))
    a["town"], b["town"] = (rng.choice(["Zug", "Berne"], 200) for _ in range(2))
    result = compare_tables(a, b, rng=0, n_permutations=199)
    x, *others = result.columns
    assert x.column == "x" and x.pvalue == pytest.approx(1 / 200)  # the least
    assert others[0].pvalue <= others[1].pvalue and min(c.pvalue for c in others) > 0.05
    assert "  x: mean" in repr(result) and "age" not in repr(result) and "town" not in repr(result)


@pytest.mark.second_route("TableComparison", "compare_tables", "NumPy's means and shares")
def test_means_and_shares_are_those_of_the_tables():
    rng = np.random.default_rng(3)
    a, b = drawn(500, rng), drawn(500, rng, shift=3.0)
    b["town"] = rng.choice(["Berne", "Basle", "Zug"], 500, p=[0.8, 0.1, 0.1])
    says = {c.column: c.says for c in compare_tables(a, b, rng=0, n_permutations=199).columns}
    assert says["x"] == f"mean {a['x'].mean():.4g} → {b['x'].mean():.4g}"
    share = [np.mean(t["town"] == "Berne") for t in (a, b)]
    assert says["town"] == f"'Berne' {share[0]:.1%} → {share[1]:.1%}"


def test_the_rows_that_are_told_are_the_extreme_ones():
    x = np.r_[np.zeros(60), np.linspace(0.5, 3, 40)]
    result = compare_tables({"x": -x}, {"x": x}, rng=0, n_permutations=99)
    witness = [w for _, _, w in result.rows]
    assert witness == sorted(witness, reverse=True)
    assert [table for table, _, _ in result.rows] == ["A"] * 5 + ["B"] * 5
    assert f"row {result.rows[-1][1]} of B" in repr(result) and witness[-1] < witness[-2]


def test_rows_are_counted_from_block_to_block(monkeypatch):
    rng = np.random.default_rng(0)
    a, b = {"x": rng.normal(size=100)}, {"x": rng.normal(2, 1, size=100)}
    whole = compare_tables(a, b, rng=0, n_permutations=19)
    monkeypatch.setattr(tables, "ROWS", 16)
    again = compare_tables(a, b, rng=0, n_permutations=19)
    assert [row[:2] for row in again.rows] == [row[:2] for row in whole.rows]
    assert max(i for _, i, _ in whole.rows) > 16


def test_blocks_of_any_source_join_to_all_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "ROWS", 4)
    X = np.arange(22.0).reshape(11, 2)
    frame = pandas.DataFrame(X, columns=["a", "b"])
    for source in (X, {"a": X[:, 0], "b": X[:, 1]}, frame, written(tmp_path, "a.csv", frame)):
        table = read_table(source)
        for columns, wanted in ((None, X), (table.columns[::-1], X[:, ::-1])):
            np.testing.assert_array_equal(np.array(entries(table, columns)).astype(float).T, wanted)


def test_a_column_that_falls_from_block_to_block_does_not_rise():
    column = Column("c")
    for block, rises in (([1.0, 2.0], True), ([2.5], True), ([2.0, 3.0], False), ([4.0], False)):
        column.add(np.array(block), "the table")
        assert column.rises == rises
    equal = Column("c")
    equal.add(np.array([1.0, 1.0]), "the table")
    assert not equal.rises


def test_floats_of_a_block_are_taken_as_they_are():
    "No copy, let alone a text of each"
    column, block = Column("c"), np.array([1.5, np.nan, 1e300])
    column.add(block, "the table")
    values, numeric = column.parsed(block)
    assert numeric and np.shares_memory(values, block)


def test_0_is_a_number_and_blanks_are_no_part_of_a_word(tmp_path):
    with pytest.raises(ValueError, match="holds numbers, and 'a'"):
        encoded({"x": ["0", "a", "a"]}, {"x": ["a", "a"]}, rng=0)
    (tmp_path / "a.csv").write_text("0,a\n1,b\n")
    assert read_table(tmp_path / "a.csv").columns == ["c0", "c1"]
    (tmp_path / "b.csv").write_text(" x , y\n1,2\n")
    assert read_table(tmp_path / "b.csv").columns == ["x", "y"]
    words, numeric = Column("c").parsed(np.array([" a", "a ", " NA ", "b c"], object))
    assert not numeric and words.tolist() == ["a", "a", "", "b c"]


def test_numbers_that_are_names():
    rng = np.random.default_rng(4)
    a, b = ({"code": rng.choice(codes, 300)} for codes in ([1, 2, 3], [1, 3]))
    result = compare_tables(a, b, categorical=["code"], rng=0, n_permutations=199)
    assert result.differs and "'2'" in result.columns[0].says


REFUSED = {
    "a column that one lacks": (({"x": [1, 2], "y": [1, 2]}, {"x": [1, 2]}), {}, "only A has 'y'"),
    "an unknown name": (({"x": [1, 2]}, {"x": [1, 2]}), {"columns": ["z"]}, "no column 'z'"),
    "an unknown category": (
        ({"x": [1, 2]}, {"x": [1, 2]}),
        {"categorical": ["z"]},
        "no column 'z'",
    ),
    "numbers and words": (({"x": [1, 2]}, {"x": ["7b", "8"]}), {}, "numbers, and '7b' in B"),
    "infinite": (({"x": [1, np.inf]}, {"x": [1, 2]}), {}, "1 infinite numbers"),
    "as good as infinite": (({"x": [1, 1.7e308]}, {"x": [1, 2]}), {}, "1 infinite .* beyond 1e307"),
    "a column by its place": (
        ({"x": [1, 2]}, {"x": [1, 2]}),
        {"columns": 3},
        "A has no column '3'",
    ),
    "no name": (
        ({"x": [1, 2], "y": [1, 2]},) * 2,
        {"columns": [], "drop": "x"},
        "no column is left",
    ),
    "an unknown number": (({"x": [1, 2]}, {"x": [1, 2]}), {"categorical": 3}, "no column '3'"),
    "one row": (({"x": [1]}, {"x": [1, 2]}), {}, "rows of A = 1"),
    "identifiers": (
        ({"x": [f"n{i}" for i in range(1200)]}, {"x": ["a", "b"]}),
        {},
        "names of rows",
    ),
    "a level": (({"x": [1, 2]}, {"x": [1, 2]}), {"level": 5}, "level"),
    "a number": ((3.0, {"x": [1, 2]}), {}, "A is of type float"),
    "a wrong column to drop": (
        ({"x": [1, 2]}, {"x": [1, 2]}),
        {"drop": "X"},
        "no column 'X'; it has x",
    ),
    "no column left": (({"x": [1, 2]}, {"x": [1, 2]}), {"drop": "x"}, "no column is left"),
    "a decimal comma": (
        ({"x": ["1,5", "2,5"]}, {"x": [1, 2]}),
        {},
        "of A holds '1,5': a decimal comma",
    ),
    "names in one alone": (({"x": [1, 2]}, np.ones((2, 1))), {}, "one no line of names"),
    "no file": (("none.csv", {"x": [1, 2]}), {}, "there is no file none.csv"),
    "ragged": (
        ({"x": [1, 2], "y": [1]}, {"x": [1, 2]}),
        {},
        "A has columns of different lengths: .1, 2.",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_compared_is_refused_with_its_name(case):
    arguments, options, says = REFUSED[case]
    with pytest.raises((ValueError, TypeError), match=says):
        compare_tables(*arguments, **options)


@pytest.mark.parametrize(
    "name, content, says",
    [
        ("t.csv", b"x,y\n1,2\n3\n", "a row of 1 fields in line 3"),
        ("t.csv", b"x,y\n1,2\n\n3,4\n5,6,7\n", "a row of 3 fields in line 5"),
        ("t.csv", b"", "is empty"),
        ("t.csv", b"\xef\xbb\xbf", "is empty"),
        ("t.csv", b"x,y\n1,\xff\xfe\n", "no UTF-8 text: the byte 0xff in line 2"),
        (
            "t.csv",
            "x,y\n1,Zürich\n".encode("latin-1"),
            "no UTF-8 text: the byte 0xfc in line 2.*cp1252 one reads '1,Zürich'.*encoding='cp1252'",
        ),
        ("t.csv", "x,y\n1,2\n".encode("utf-16"), "no UTF-8 text.*Pass encoding='utf-16'"),
        ("t.csv", "x,y\n1,2\n".encode("utf-16-le"), "line 1 holds a zero byte: is it UTF-16"),
        ("t.csv", b"x,y\n1,a\n2,\0\n", "line 3 holds a zero byte"),
        ("t.csv", b'x,y\n1,a\n2,"b\n3,c\n', "row that begins in line 3 has a quote"),
        ("t.csv", b'x,y\n1,a\n2,"b\n3,"c"\n4,d\n', "row that begins in line 3 has a quote"),
        ("t.csv", b'x,"y\n1,a\n2,b\n', "row that begins in line 1 has a quote"),
        (
            "t.csv",
            b"x,y\n1,a\n2," + b"b" * 140_000 + b"\n",
            "in line 3 has a field of more than 131072 char",
        ),
        ("t.csv", b"x,y,x \n1,2,3\n", "two columns 'x'"),
        ("t.csv", b"x,y,x\n1,2,3\n", "two columns 'x'; .* or say where the first line"),
        ("t.csv.gz", b"x,y\n1,2\n", "no whole gzip file"),
        ("t.csv.gz", gzip.compress(b"x\n" + b"1\n" * 9, mtime=0)[:-5], "no whole gzip file"),
        ("t.csv", gzip.compress(b"x\n1\n", mtime=0), "no UTF-8 text but a gzip file"),
        ("t.xlsx", b"zip", "'.xlsx'; .csv"),
        ("t.npy", b"\x93NUMPY no", "no whole NPY file"),
        ("t.parquet", b"PAR1 no PAR1", "no whole Parquet file"),
        ("t.parquet", b"", "no whole Parquet file"),
    ],
)
def test_files_that_are_no_tables(tmp_path, name, content, says, capsys):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=says):
        list(read_table(tmp_path / name).blocks())
    assert main(["compare", str(tmp_path / name), str(tmp_path / name)]) == 2
    said = capsys.readouterr()
    assert re.search(says, said.err) and said.err.count("\n") == 1 and said.out == ""


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "utf-16", "utf-16-le", "UTF8"])
def test_a_table_of_another_encoding_is_read_where_it_is_named(encoding, tmp_path, capsys):
    text = "town;x\nZürich;1\nGenève;2\n"
    (tmp_path / "a.csv").write_bytes(text.encode(encoding))
    (tmp_path / "b.csv").write_bytes(text.encode())
    table = read_table(tmp_path / "a.csv", encoding=encoding)
    assert entries(table) == [["Zürich", "Genève"], ["1", "2"]]
    two = [str(tmp_path / name) for name in ("a.csv", "b.csv")]
    assert main(["compare", *two, "--encoding", f"{encoding}, utf-8"]) == 0
    assert main(["compare", *two]) == (0 if encoding == "UTF8" else 2)
    capsys.readouterr()
    assert main(["compare", *two, "--encoding", "utf-8,utf-8,utf-8"]) == 2
    assert "pass one name, or two with a comma" in capsys.readouterr().err
    assert main(["compare", *two, "--encoding", "utf9"]) == 2
    assert "Python knows none of this name" in capsys.readouterr().err


def test_the_first_byte_that_is_wrong_is_told_wherever_it_stands(tmp_path):
    rows = [f"{i},word{i}\n".encode() for i in range(30_000)]
    rows[23_456] = b"23456,f\xfcr\n"
    for name, opened in (("t.csv", open), ("t.csv.gz", gzip.open)):
        with opened(tmp_path / name, "wb") as file:
            file.writelines([b"x,y\n", *rows])
        with pytest.raises(ValueError, match="byte 0xfc in line 23458 .*'23456,für'"):
            list(read_table(tmp_path / name).blocks())
    (tmp_path / "t.csv").write_bytes(b"x,y\n1,\x81\n")
    with pytest.raises(ValueError, match="is no CP1252 text: the byte 0x81 in line 2.*'latin-1'"):
        list(read_table(tmp_path / "t.csv", encoding="cp1252").blocks())


def test_signs_in_quotes_are_no_delimiters_and_a_head_may_take_two_lines(tmp_path):
    (tmp_path / "t.csv").write_text('"a,b,c";"two\nlines"\n"1, 2";"say ""no"""\n', encoding="utf-8")
    table = read_table(tmp_path / "t.csv")
    assert table.columns == ["a,b,c", "two\nlines"] and entries(table) == [["1, 2"], ['say "no"']]


def test_an_array_whose_head_says_fewer_rows_is_refused(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((50, 3)))
    whole = (tmp_path / "x.npy").read_bytes()
    (tmp_path / "x.npy").write_bytes(whole.replace(b"(50, 3)", b"(20, 3)"))
    with pytest.raises(ValueError, match="no whole NPY file"):
        read_table(tmp_path / "x.npy")


def test_what_unpacks_to_a_multitude_and_a_line_without_end_are_refused(tmp_path, monkeypatch):
    many = tmp_path / "t.csv.gz"
    many.write_bytes(gzip.compress(b"x,y\n" + b"1,2\n" * 300_000))  # 1.2 MB, a few KB packed
    with (
        settings.using(result_mib=1),
        pytest.raises(ValueError, match="beyond 1 MiB .result_mib., 100 times"),
    ):
        list(read_table(many).blocks())
    assert sum(len(b[0]) for b in read_table(many).blocks()) == 300_000
    long = tmp_path / "t.csv"
    long.write_bytes(b"x,y\n" + b"1" * 200_000)
    with (
        settings.using(block_mib=0.1),
        pytest.raises(ValueError, match="line 2 has more than 0.1 MiB"),
    ):
        list(read_table(long).blocks())
    noise = "".join(map(chr, np.random.default_rng(0).integers(97, 123, 10**6)))
    many.write_bytes(
        gzip.compress(
            "\n".join(["x,y", *(f"{i},{noise[i : i + 9]}" for i in range(10**5))]).encode()
        )
    )
    with settings.using(result_mib=1):  # no bomb: four times as long
        assert sum(len(b[0]) for b in read_table(many).blocks()) == 10**5


DAMAGES = {
    "a quote more": lambda raw, i, rng: raw[:i] + b'"' + raw[i:],
    "another byte": lambda raw, i, rng: raw[:i] + bytes([rng.integers(256)]) + raw[i + 1 :],
    "a byte less": lambda raw, i, rng: raw[:i] + raw[i + 1 :],
    "a zero": lambda raw, i, rng: raw[:i] + b"\0" + raw[i:],
    "a line end more": lambda raw, i, rng: raw[:i] + b"\n" + raw[i:],
    "a delimiter more": lambda raw, i, rng: raw[:i] + b"," + raw[i:],
    "five bytes twice": lambda raw, i, rng: raw[: i + 5] + raw[i:],
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_never_seems_to_hold_fewer_rows(damage, tmp_path):
    rng = np.random.default_rng(25)
    words = ["Zug", '"Berne, Bern"', '""', '"say ""hi"""', "", '"two\nlines"']
    lines = [f"{rng.normal():.3f},{rng.choice(words)},{rng.choice(words)}" for _ in range(12)]
    raw, path, refused = "\n".join(["x,town,note", *lines, ""]).encode(), tmp_path / "t.csv", 0
    for _ in range(120):
        path.write_bytes(DAMAGES[damage](raw, int(rng.integers(len(raw))), rng))
        try:
            assert len(entries(read_table(path))[0]) >= 12
        except ValueError as e:
            assert str(e).startswith(("t.csv", "the table"))
            refused += 1
    assert refused > 10


def test_no_error_ends_with_the_status_of_a_difference(two_days, monkeypatch, capsys):
    def fails(*_, **__):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(comparison, "compare_tables", fails)
    assert main(["compare", *two_days]) == 2
    assert "ZeroDivisionError: by zero. This should not happen" in capsys.readouterr().err


def test_two_columns_of_one_name_are_refused():
    with pytest.raises(ValueError, match="two columns 'x'"):
        Table("t", ["x", "x"], lambda: iter(()))


def test_a_truncated_gzip_is_an_error_with_status_2(tmp_path, capsys):
    whole = gzip.compress(b"x\n" + b"\n".join(b"%d" % i for i in range(5000)))
    (tmp_path / "a.csv.gz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "b.csv.gz").write_bytes(whole)
    assert main(["compare", str(tmp_path / "a.csv.gz"), str(tmp_path / "b.csv.gz")]) == 2
    assert "rkhs-notes compare: a.csv.gz is no whole gzip file" in capsys.readouterr().err


@pytest.mark.parametrize(
    "m, n",
    [(2, 2), (50, 60), (99, 3860), (3000, 1000), (10**6, 10**6), (100, 10**7), (10**8, 500)],
)
def test_the_plan_of_bins(m, n):
    q, s, t = bin_plan(m, n)
    assert 2 <= s <= BINS and 2 <= t <= BINS and s * q <= m and t * q <= n
    assert q == 1 or min(s, t) >= 50
    if max(m, n) < 39 * min(m, n):  # hardly a row is left out
        assert s * q > m - q and t * q > n - q


@pytest.mark.parametrize("total, wanted, size", [(100, 100, 7), (1000, 37, 64), (999, 998, 1000)])
def test_evenly_spaced_rows_whatever_the_blocks(total, wanted, size):
    used = np.concatenate(
        [evenly(i, min(i + size, total), total, wanted) for i in range(0, total, size)]
    )
    assert used.sum() == wanted
    gaps = np.diff(np.flatnonzero(used))
    assert gaps.min(initial=10**9) >= total // wanted and gaps.max(initial=0) <= -(-total // wanted)


@pytest.mark.parametrize("q", [1, 4])
def test_bins_hold_the_means_of_disjoint_rows(q):
    rng = np.random.default_rng(q)
    X = rng.normal(size=(120, 2))
    phi = fourier_features(Gaussian(1.0), 2, 50, rng)
    binned = Binned([phi], [slice(None)], 120, q, 120 // q, rng)
    for i in range(0, 120, 50):
        binned.add(X[i : i + 50])
    np.testing.assert_allclose(binned.means().mean(axis=0), phi(X).mean(axis=0), rtol=0, atol=1e-14)
    np.testing.assert_allclose(binned.row_sum, X.sum(axis=0), rtol=0, atol=1e-12)
    own = (binned.means() ** 2).sum()  # q means of unit vectors: shorter than their sum
    assert own < (phi(X) ** 2).sum() / q + 1e-9


def test_rows_that_are_left_out_of_bins_count_in_the_means_that_are_told():
    X = np.random.default_rng(0).normal(size=(120, 1))
    phi = fourier_features(Gaussian(1.0), 1, 10, np.random.default_rng(0))
    first, second = (
        Binned([phi], [slice(None)], 120, 2, 25, np.random.default_rng(i)) for i in (1, 2)
    )
    for binned in (first, second):
        binned.add(X[:70]), binned.add(X[70:])
        assert binned.dealt == 50 and binned.row_sum == pytest.approx(X.sum(axis=0))
    np.testing.assert_allclose(first.sums.sum(axis=0), second.sums.sum(axis=0))  # the same rows
    assert np.abs(first.sums - second.sums).max() > 0.1  # in other bins


def test_the_statistic_of_bins_has_the_mean_of_the_statistic_of_rows():
    "Over shuffles of the rows, bins of 5 agree with rows; a statistic that keeps the diagonal does not"
    rng = np.random.default_rng(5)
    X, Y = rng.normal(size=(100, 1)), rng.normal(0.5, 1, (100, 1))
    phi = fourier_features(Gaussian(1.0), 1, 40, rng)
    whole = mmd2_features(phi, X, Y, unbiased=True)
    F, G = phi(X), phi(Y)
    values, biased = [], []
    for _ in range(300):
        A, B = (rng.permutation(Z).reshape(20, 5, -1).mean(axis=1) for Z in (F, G))
        values.append(
            (A.sum(0) @ A.sum(0) - (A * A).sum()) / 380
            + (B.sum(0) @ B.sum(0) - (B * B).sum()) / 380
            - 2 * A.mean(0) @ B.mean(0)
        )
        biased.append(((A.mean(0) - B.mean(0)) ** 2).sum())
    spread = np.std(values) / np.sqrt(300)
    assert abs(np.mean(values) - whole) < 4.5 * spread
    assert abs(np.mean(biased) - whole) > 4.5 * spread


def test_the_level_with_bins_and_unequal_sizes(monkeypatch):
    monkeypatch.setattr("rkhs_notes.apps.comparison.BINS", 60)  # bins of 5 rows
    rng = np.random.default_rng(6)
    results = [
        compare_tables(
            {"x": rng.normal(size=120)},
            {"x": rng.normal(size=180)},
            0.1,
            n_permutations=49,
            rng=rng,
        )
        for _ in range(150)
    ]
    assert {r.per_bin for r in results} == {2}  # at least 50 bins of the smaller table
    assert results[0].to_dict()["rows_per_bin"] == 2
    low, high = binomial_interval(0.1, 150, confidence=0.999)
    assert low <= sum(r.differs for r in results) <= high


@pytest.mark.parametrize("sizes", [(3000, 3000), (200, 30_000)])
def test_a_small_shift_of_a_large_table_is_found_and_named(sizes):
    rng = np.random.default_rng(7)
    a, b = drawn(sizes[0], rng), drawn(sizes[1], rng, shift=0.4)
    result = compare_tables(a, b, rng=0, n_permutations=199)
    assert result.differs and result.columns[0].column == "x"
    table, row, value = result.rows[0]
    assert table == "A" and value == max(v for _, _, v in result.rows) and a["x"][row - 1] < 0.5


def beside(d, n, rng, shift=0.0, how="numbers"):
    "d columns, the first one moved: alike, correlated, or numbers, words, gaps and constants in turn"
    X = rng.normal(size=(n, d))
    if how == "correlated":
        X = 0.9 * rng.normal(size=(n, 1)) + 0.4 * X
    X[:, 0] += shift
    table = {f"x{j}": X[:, j] for j in range(d)}
    if how == "mixed":
        for j in range(1, d, 4):
            table[f"x{j}"] = rng.choice(["a", "b", "rare"], n, p=[0.6, 0.38, 0.02])
        for j in range(2, d, 4):
            table[f"x{j}"] = np.where(rng.random(n) < 0.2, np.nan, X[:, j])
        for j in range(3, d, 4):
            table[f"x{j}"] = np.full(n, 7.0)
    return table


@pytest.mark.parametrize("how", ["numbers", "correlated", "mixed"])
@pytest.mark.parametrize("d, draws", [(14, 199), (60, 39)])
def test_one_column_of_many_is_named_whatever_their_number(d, draws, how):
    "d / (draws + 1) is beyond the level: draws, not columns, bound the least p-value"
    rng, n = np.random.default_rng(21), 100
    before, after = (beside(d, n, rng, shift, how) for shift in (0, 1.5))
    found = compare_tables(before, after, n_permutations=draws, rng=0)
    first, *others = found.columns
    assert d / (draws + 1) > 0.05 and found.differs
    assert first.column == "x0" and first.pvalue == pytest.approx(1 / (draws + 1))
    assert "  x0: mean" in repr(found) and "No column" not in repr(found)
    assert min(c.pvalue for c in others) > 0.05
    told = found.to_dict()
    assert told["differs"] and told["columns"][0]["pvalue"] == first.pvalue


def test_one_of_three_hundred_columns_is_named_by_the_default_draws():
    test_one_column_of_many_is_named_whatever_their_number(300, 1999, "mixed")


@pytest.mark.parametrize("how", ["numbers", "correlated", "mixed"])
def test_columns_that_have_not_changed_are_named_as_rarely_as_the_level_says(how):
    "With one column that has changed, and with none"
    rng, level, runs = np.random.default_rng(22), 0.1, 80
    low, high = binomial_interval(level, runs, confidence=0.999)
    for shift in (0.0, 2.0):
        wrong = 0
        for _ in range(runs):
            first, second = beside(6, 40, rng, 0.0, how), beside(6, 50, rng, shift, how)
            found = compare_tables(first, second, level, n_permutations=29, rng=rng)
            wrong += any(
                c.pvalue <= level + 1e-12 for c in found.columns if c.column != "x0" or not shift
            )
            assert found.differs or not shift
        assert wrong <= high and (shift or wrong >= low), (shift, wrong)


def test_one_column_among_hundreds_decides_where_all_together_would_not():
    rng = np.random.default_rng(23)
    first, second = (beside(150, 60, rng, shift) for shift in (0, 1.2))
    found = compare_tables(first, second, n_permutations=99, rng=0)
    assert found.differs and found.columns[0].column == "x0"
    assert found.statistic == found.to_dict()["statistic"] != found.test.statistic


def test_draws_too_few_for_the_level_are_told():
    rng = np.random.default_rng(24)
    tables_ = drawn(100, rng), drawn(100, rng, shift=3.0)
    few = compare_tables(*tables_, n_permutations=18, rng=0)
    assert not few.differs and "18 draws reject nothing at level 0.05" in repr(few)
    assert "19 permutations at least" in few.to_dict()["notes"][0]
    enough = compare_tables(*tables_, n_permutations=19, rng=0)
    assert enough.differs and enough.columns[0].pvalue == 0.05 and not enough.notes
    rounded = compare_tables(*tables_, level=1 / 49, n_permutations=48, rng=0)  # 1 / (1 / 49) > 49
    assert rounded.differs and not rounded.notes


def test_no_column_is_surer_than_the_test():
    rng = np.random.default_rng(26)
    for _ in range(4):
        first, second = ({name: rng.normal(size=40) for name in "abc"} for _ in range(2))
        found = compare_tables(first, second, n_permutations=99, rng=0)
        assert min(c.pvalue for c in found.columns) >= found.test.pvalue


def test_the_unit_of_distance_does_not_ask_in_which_order_rows_came():
    rng = np.random.default_rng(0)
    Z = np.concatenate([rng.normal(size=(1500, 2)), rng.normal(9, 3, size=(1500, 2))])  # two tables
    assert spacing(Z) == spacing(rng.permutation(Z)) == spacing(Z[::-1])


def test_features_of_rows_approach_the_kernel_of_the_algebra():
    from rkhs_notes.deeper.zoo import Delta

    rng = np.random.default_rng(8)
    A, B = ({"x": rng.normal(size=60), "c": rng.choice(["u", "v"], 60)} for _ in range(2))
    encoder, _, _ = encoded(A, B)
    X, Y = (encoder(next(read_table(t).blocks())) for t in (A, B))
    phi = row_features(encoder, np.vstack([X, Y]), 20_000, np.random.default_rng(0))[0]
    x, c = X[:, :1], X[:, 1:] @ [[0.0], [1.0]]
    h = spacing(np.vstack([X, Y]))
    distances = np.linalg.norm(np.vstack([X, Y])[:, None] - np.vstack([X, Y])[None], axis=2)
    assert np.isclose(h, np.median(distances[distances > 0]), rtol=1e-12)
    K = np.mean(
        [
            Gaussian(s)(x) * (np.exp(-1 / s**2) + (1 - np.exp(-1 / s**2)) * Delta()(c))
            for s in (h / 2, h, 2 * h)
        ],
        axis=0,
    )
    assert np.abs(phi(X) @ phi(X).T - K).max() < 5 / np.sqrt(10_000)


def test_constant_tables():
    assert not compare_tables(
        {"x": [1.0] * 20}, {"x": [1.0] * 30}, rng=0, n_permutations=99
    ).differs
    assert compare_tables({"x": [1.0] * 20}, {"x": [2.0] * 30}, rng=0, n_permutations=99).differs


def test_every_row_of_a_stream_is_as_likely_to_be_kept():
    kept = np.zeros(20)
    for seed in range(2000):
        r = Reservoir(5, np.random.default_rng(seed))
        for i in range(0, 20, 7):
            r.add([np.arange(20.0)[i : i + 7]])
        kept[r.columns()[0].astype(int)] += 1
    assert kept.sum() == 10_000 and np.abs(kept - 500).max() < 5 * np.sqrt(2000 * 0.25 * 0.75)


PEAK = """
import resource, sys
import numpy as np
from rkhs_notes.comparison import compare_tables
compare_tables(sys.argv[1], sys.argv[1], n_permutations=99, rng=0)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
def test_memory_does_not_grow_with_the_files(tmp_path):
    peaks = []
    many = settings.size(80_000, 1_000_000)
    for n in (20_000, many):
        path = tmp_path / f"{n}.npy"
        np.save(path, np.random.default_rng(0).normal(size=(n, 4)))
        done = subprocess.run(
            [sys.executable, "-c", PEAK, path], capture_output=True, text=True, check=True
        )
        peaks.append(int(done.stdout) / 1024)
    held = many * 4 * 8 / 2**20  # what the array itself takes, mapped
    assert peaks[1] < peaks[0] + held + 25, peaks


def test_the_command(tmp_path, capsys):
    rng = np.random.default_rng(9)
    monday, wednesday = (pandas.DataFrame(drawn(200, rng, shift)) for shift in (0, 1))
    paths = []
    for name, frame in (("mon", monday), ("tue", monday[::-1]), ("wed", wednesday)):
        paths.append(str(tmp_path / f"{name}.csv"))
        frame.to_csv(paths[-1], index=False)
    assert main(["compare", *paths[:2], "--permutations", "199"]) == 0
    assert "show no difference" in capsys.readouterr().out
    assert main(["compare", paths[0], paths[2], "--json", "--plot", str(tmp_path / "p.png")]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (
        told["differs"] and told["columns"][0]["column"] == "x" and told["tables"][0]["rows"] == 200
    )
    assert (tmp_path / "p.png").stat().st_size > 2000
    assert main(["compare", *paths[:2], "--drop", "x", "--permutations", "199"]) == 0
    assert "x: mean" not in capsys.readouterr().out
    assert main(["compare", paths[0], "nothing.csv"]) == 2
    assert "there is no file nothing.csv" in capsys.readouterr().err


def test_the_seed_is_that_of_the_command_line(two_days, capsys):
    def said(seed):
        main(["compare", *two_days, "--permutations", "19", "--json", "--seed", seed])
        return capsys.readouterr().out

    assert said("1") == said("1") != said("2")


def test_a_bad_option_ends_with_status_2(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["compare", "a.csv"])
    assert stopped.value.code == 2 and "required: B" in capsys.readouterr().err


@pytest.fixture
def two_days(tmp_path):
    "Paths of two files of numbers, two columns without a line of names"
    rng, paths = np.random.default_rng(11), []
    for name in ("a", "b"):
        paths.append(str(tmp_path / f"{name}.csv"))
        np.savetxt(paths[-1], rng.normal(size=(30, 2)), delimiter=",")
    return paths


@pytest.mark.parametrize(
    "options, says",
    [
        (["--columns", "town"], "has no column 'town'"),
        (["--drop", "c0,c1"], "no column is left"),
        (["--plot", "p.picture"], "--plot p.picture: the ending says what to draw"),
        (["--plot", "picture"], "--plot picture: the ending says"),
        (["--plot", "no/folder/p.png"], "there is no such folder; make it first"),
        (["--html", "."], "--html .: that is a folder; name a file in it"),
        (["--columns", ""], "no column is left to compare of c0, c1"),
    ],
    ids=lambda part: "".join(part) if isinstance(part, list) else "",
)
def test_what_is_wrong_is_one_line_and_status_2(two_days, options, says, capsys):
    assert main(["compare", *two_days, *options]) == 2
    said = capsys.readouterr()
    assert says in said.err and said.err.count("\n") == 1 and said.out == ""


@pytest.mark.parametrize(
    "option, value, says",
    [
        ("--level", "2", "--level: pass a number > 0, < 1, not '2'"),
        ("--level", "nan", "--level: pass a number > 0, < 1, not 'nan'"),
        ("--permutations", "0", "--permutations: pass a whole number > 0"),
        ("--permutations", "9.5", "not '9.5'"),
        ("--seed", "-1", "--seed: pass a whole number > -1"),
    ],
)
def test_a_number_that_is_none_is_refused_by_its_option(two_days, option, value, says, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["compare", *two_days, option, value])
    assert stopped.value.code == 2 and says in capsys.readouterr().err


def test_a_picture_that_cannot_be_written_is_refused_before_the_work(two_days, monkeypatch, capsys):
    def work(*_, **__):
        raise ValueError("the tables were compared")

    monkeypatch.setattr(comparison, "compare_tables", work)
    assert main(["compare", *two_days, "--plot", "p.picture"]) == 2
    assert "were compared" not in capsys.readouterr().err
    main(["compare", *two_days, "--plot", "p.svg"])  # which it does with a name that fits
    assert "were compared" in capsys.readouterr().err


def test_the_first_line_is_what_one_says(two_days, capsys):
    def rows(*options):
        assert main(["compare", *two_days, "--json", *options]) in (0, 1)
        told = json.loads(capsys.readouterr().out)
        return [table["rows"] for table in told["tables"]], sorted(
            c["column"] for c in told["columns"]
        )

    assert rows() == rows("--header", "auto") == rows("--header", "no") == rows("--no-header")
    assert rows() == ([30, 30], ["c0", "c1"])
    assert main(["compare", *two_days, "--header", "yes"]) == 2  # names that differ, both numbers
    assert "differ in their columns" in capsys.readouterr().err
    assert main(["compare", two_days[0], two_days[0], "--header", "yes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tables"][0]["rows"] == 29
    with pytest.raises(SystemExit) as stopped:
        main(["compare", *two_days, "--header", "maybe"])
    assert stopped.value.code == 2


@pytest.mark.parametrize(
    "values, rises",
    [
        (np.arange(300.0), True),
        (1e9 + 0.25 * np.arange(300), True),
        ([f"2026-{i // 28 + 1:02}-{i % 28 + 1:02}" for i in range(300)], True),
        (np.r_[np.arange(299.0), 298.0], False),  # a tie
        (np.r_[np.arange(150.0), np.arange(150.0)], False),
        (-np.arange(300.0), False),
        (np.where(np.arange(300) == 7, np.nan, np.arange(300.0)), False),
    ],
    ids=["index", "clock", "dates", "tie", "twice", "falling", "gap"],
)
def test_a_clock_is_told_of(values, rises, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "ROWS", 70)  # also from block to block
    x = np.random.default_rng(12).normal(size=300)
    for folder in ("one", "two"):  # files of one name in two folders
        (tmp_path / folder).mkdir()
        pandas.DataFrame({"at": values, "x": x}).to_csv(tmp_path / folder / "day.csv", index=False)
    result = compare_tables(
        tmp_path / "one" / "day.csv", tmp_path / "two" / "day.csv", n_permutations=19
    )
    assert bool(result.notes) == rises == ("'at' rises" in str(result.to_dict()["notes"]))
    assert "Note" not in repr(result)  # equal tables need none
    shuffled = {"at": np.random.default_rng(0).permutation(np.array(values)), "x": x}
    assert not compare_tables({"at": np.array(values), "x": x}, shuffled, n_permutations=19).notes


@pytest.mark.parametrize("mean, alone", [(10, True), (14, False)])
def test_gaps_are_told_as_a_share_of_rows_beside_a_mean_that_has_moved_by_more(mean, alone):
    rng = np.random.default_rng(1)
    first, second = rng.normal(10, 2, 500), rng.normal(mean, 2, 500)
    second[:33] = np.nan
    (change,) = compare_tables({"x": first}, {"x": second}, rng=0).columns
    means = f"mean {first.mean():.4g} → {np.nanmean(second):.4g}, "
    assert change.says == means * (not alone) + "gaps 0.0% → 6.6%"
    nothing = {"x": np.full(500, np.nan)}
    (change,) = compare_tables({"x": first}, nothing, rng=0, n_permutations=19).columns
    assert change.says == "gaps 0.0% → 100.0%"


@pytest.mark.parametrize("unit", ["s", "us", "ns"])
def test_durations_are_seconds_in_every_unit(unit):
    hours = np.array([1, 2, 3, 4, "NaT"] * 20, "timedelta64[h]").astype(f"timedelta64[{unit}]")
    (change,) = compare_tables({"t": hours}, {"t": hours + np.timedelta64(3, "h")}, rng=0).columns
    assert change.says == "mean 9000 → 1.98e+04"


@pytest.mark.parametrize("codes", [[1000001, 1000002], [10**12, 10**12 + 1], [-0.5, 0.5]])
def test_codes_keep_all_their_digits(codes):
    first, second = np.repeat(codes, 100), np.full(200, codes[1])
    result = compare_tables({"c": first}, {"c": second}, categorical=["c"], rng=0)
    (change,) = result.columns
    assert result.differs and change.says == f"{str(codes[0])!r} 50.0% → 0.0%"


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_dates_are_words_in_every_unit(unit):
    first, second = (
        (np.datetime64(day, "h") + np.arange(60)).astype(f"datetime64[{unit}]")
        for day in ("2024-01-01", "2025-06-01")
    )
    result = compare_tables({"when": first}, {"when": second}, rng=0)
    assert not result.differs  # what comes once cannot be told from chance, and that is said
    assert "Note: 'when' has 120 different texts in 120 rows" in repr(result)
    days = np.repeat(np.array(["2024-01-01", "2024-01-02T06:30", "NaT"], f"datetime64[{unit}]"), 40)
    (change,) = compare_tables({"when": days}, {"when": days[:80]}, rng=0).columns
    assert change.says == "gaps 33.3% → 0.0%"
    (change,) = compare_tables({"when": days[:80]}, {"when": days[:40]}, rng=0).columns
    assert change.says in ("'2024-01-01' 50.0% → 100.0%", "'2024-01-02 06:30:00' 50.0% → 0.0%")


def other_homes(folder, frame):
    "The same rows as pandas, polars, CSV and Parquet hold them, in another order"
    again = frame.sample(frac=1, random_state=0, ignore_index=True)
    again.to_csv(folder / "p.csv", index=False)
    again.to_parquet(folder / "p.parquet")
    others = polars.read_parquet(folder / "p.parquet")
    others.write_csv(folder / "polars.csv")
    return again, others, *(folder / name for name in ("p.csv", "p.parquet", "polars.csv"))


HOURS = np.arange(9) * pandas.Timedelta("8h")
MOMENTS = {
    "hours": (pandas.Timestamp("2024-01-01") + HOURS, ["2024-01-02", "2024-01-02 16:00:00"]),
    "half seconds": (
        pandas.Timestamp("2024-01-01") + HOURS / 57600,
        ["2024-01-01", "2024-01-01 00:00:00.5", "2024-01-01 00:00:04"],
    ),
    "a zone": (
        pandas.Timestamp("2024-07-01", tz="Europe/Zurich") + HOURS,
        ["2024-06-30 22:00:00", "2024-07-01 06:00:00"],
    ),
    "gaps": (pandas.DatetimeIndex(["2024-01-01", None, "2024-01-01 12:30"]), ["2024-01-01"]),
}


@pytest.mark.parametrize("kind", MOMENTS)
def test_times_are_the_same_words_wherever_they_are_kept(kind, tmp_path):
    moments, told = MOMENTS[kind]
    frame = pandas.DataFrame({"t": moments.repeat(20)})
    for other in other_homes(tmp_path, frame):
        assert compare_tables(frame, other, rng=0, n_permutations=19).test.pvalue == 1
        words = encoded(frame, other)[0].words[0]
        assert set(told) <= set(words) and len(words) == frame["t"].nunique()


@pytest.mark.parametrize("gaps", [0, 1])
@pytest.mark.parametrize("categorical", [(), ["flag"]])
def test_truth_values_are_the_same_wherever_they_are_kept(gaps, categorical, tmp_path):
    flags = np.random.default_rng(0).random(200) < 0.3
    plain = pandas.DataFrame({"flag": flags})
    frame = plain.astype("boolean")
    frame.loc[: gaps - 1, "flag"] = pandas.NA
    means = f"mean {flags.mean():.4g} → {flags[gaps:].mean():.4g}"
    for other in (frame.astype(object), *other_homes(tmp_path, frame)):
        result = compare_tables(plain, other, categorical=categorical, rng=0, n_permutations=19)
        assert result.test.pvalue == 1 and (categorical or result.columns[0].says == means)


@pytest.mark.parametrize("held", [[True, False, None], np.array([True, False, np.nan], object)])
def test_truth_values_with_a_gap_are_numbers(held):
    "Of a dict as of a frame"
    for source in ({"flag": held}, pandas.DataFrame({"flag": held}, dtype="boolean")):
        np.testing.assert_array_equal(tables.as_columns(source)["flag"], [1.0, 0.0, np.nan])


def test_true_and_false_are_words_beside_another_word():
    A, B = {"w": ["true", "false"] * 50}, {"w": ["true", "unknown"] * 50}
    for pair in ((A, B), (B, A)):
        (change,) = compare_tables(*pair, rng=0, n_permutations=19).columns
        assert change.says.startswith(("'false' 50.0%", "'false' 0.0%", "'unknown'"))
    one = encoded(A, A)[0]
    assert one.width == 1 and one([np.array(["TRUE", "False"], object)]).tolist() != [[0], [0]]


def test_one_missing_truth_value_is_no_drift():
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"flag": rng.random(90) < 0.3, "town": rng.choice(["a", "b"], 90)})
    batch = frame.astype({"flag": "boolean"})
    batch.loc[3, "flag"] = pandas.NA
    assert TwoSampleDrift(n_permutations=19).fit(frame).score(batch) > 0.5


@pytest.mark.parametrize("kind", [np.int64, np.uint64, np.float64])
def test_codes_of_64_bits_are_refused_as_numbers_and_told_apart_as_texts(kind, tmp_path):
    def home(codes):
        "On the disk, too, a memory map"
        np.save(tmp_path / "a.npy", codes.astype(kind))
        return tmp_path / "a.npy"

    first, second = (2**60 + i + np.arange(60) % 2 for i in (0, 2))
    for source in ({"c0": first.astype(kind)}, home(first)):
        with pytest.raises(ValueError, match=r"column 'c0' is categorical.*2\*\*53.*pass texts"):
            compare_tables(source, {"c0": second.astype(kind)}, categorical="c0", rng=0)
    texts = ({"c0": codes.astype(str)} for codes in (first, second))
    result = compare_tables(*texts, categorical="c0", rng=0, n_permutations=99)
    assert result.differs and result.columns[0].says.endswith(("50.0% → 0.0%", "0.0% → 50.0%"))
    small = np.arange(2**53 - 60, 2**53)[:, None]  # of which each has a float of its own
    encoder, _, _ = encoded(small, small, categorical=["c0"])
    assert encoder.words[0].keys() == set(map(str, small[:, 0]))


def test_codes_with_an_underscore_are_words(tmp_path):
    for name, mark in (("a", "_"), ("b", "-")):
        rows = [f"{1 + i % 3}{mark}{i % 4}" for i in range(96)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["code", *rows]))
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    codes = {f"{i}{mark}{j}" for i in (1, 2, 3) for j in (0, 1, 2, 3) for mark in "_-"}
    assert encoded(a, b)[0].words[0].keys() == codes
    assert compare_tables(a, b, rng=0, n_permutations=99).differs
    with pytest.raises(ValueError, match="holds numbers, and '1_0' in A"):
        compare_tables({"code": ["1_0", "2_1"]}, {"code": ["10", "21"]})


@pytest.mark.parametrize("lists", [[[1, 2], [3]], [[1, 2], [3, 4]]])
def test_lists_in_a_column_of_a_dict_are_those_of_a_frame(lists):
    held = [pandas.DataFrame({"v": lists * 9}), {"v": lists * 9}]
    words = [encoded(source, source)[0].words for source in held]
    assert words[0] == words[1] and set(words[1][0]) == set(map(str, lists))


def test_the_largest_numbers_that_are_compared_are_drawn():
    rng = np.random.default_rng(0)
    a, b = ({"x": rng.choice([-1e307, 0, 1e307], 60)} for _ in "ab")
    result = compare_tables(a, b, rng=0, n_permutations=19)
    assert "<svg" in result.to_html() and "nan" not in result.columns[0].says


def test_codes_of_a_declared_column_are_the_same_with_and_without_a_point(tmp_path):
    codes = pandas.DataFrame({"code": np.random.default_rng(0).integers(1, 5, 200)})
    gap = codes.astype(float)
    gap.loc[3, "code"] = np.nan
    for frame in (codes, gap):
        for other in (codes, *other_homes(tmp_path, gap)):
            encoder, _, _ = encoded(frame, other, categorical=["code"])
            assert set(encoder.words[0]) == set("1234")
            result = compare_tables(frame, other, categorical="code", rng=0, n_permutations=19)
            assert result.test.pvalue == 1
    kept = ["007", "7", "3.10", "3.1", "1e3", "1.2.0"]
    encoder, _, _ = encoded({"code": kept}, {"code": ["7.0", "-0.0"]}, categorical=["code"])
    assert set(encoder.words[0]) == {*kept, "0"}


@pytest.mark.parametrize("sign", [";", "\t", "|"])
@pytest.mark.parametrize("row", [["1,5", "2,25"], ["Zug", "1,5", "2,25"], ["7", "1,5", "-2,25"]])
def test_a_decimal_comma_is_no_delimiter_and_is_refused_by_name(sign, row, tmp_path):
    (tmp_path / "t.csv").write_text(f"{sign.join(row)}\n" * 3)
    table = read_table(tmp_path / "t.csv")
    assert table.columns == [f"c{i}" for i in range(len(row))]
    assert entries(table) == [[part] * 3 for part in row]
    with pytest.raises(ValueError, match="of t.csv holds '1,5': a decimal comma. Write it with"):
        compare_tables(table, table)


@pytest.mark.parametrize(
    "line, sign", [("a,b;c,d", ","), ("1,2,3;4", ","), ("x,1;2", ","), ("1,2|b,3", ",")]
)
def test_commas_that_no_decimals_can_explain_are_delimiters(line, sign, tmp_path):
    (tmp_path / "t.csv").write_text(f"{line}\n" * 2)
    table = read_table(tmp_path / "t.csv", header=False)
    assert entries(table) == [[part] * 2 for part in line.split(sign)]


def test_numbers_that_rise_for_a_block_and_then_a_word_are_refused_by_name(monkeypatch):
    monkeypatch.setattr(tables, "ROWS", 3)
    X = np.array([1, 2, 3, "x", "y", "z"], object)
    with pytest.raises(ValueError, match="holds numbers, and 'x'"):
        compare_tables(X, X)


def test_the_note_on_a_clock_is_in_the_report():
    x = np.random.default_rng(13).normal(size=(2, 100))
    first, second = ({"at": np.arange(100.0) + 100 * i, "x": x[i]} for i in (0, 1))
    assert "Note: 'at' rises from row to row in both tables" in repr(
        compare_tables(first, second, rng=0)
    )
    few = [{name: column[:9] for name, column in table.items()} for table in (first, second)]
    assert not compare_tables(*few, rng=0).notes  # chance would do it


def test_a_parquet_file_with_words_dates_and_nulls(tmp_path):
    table = pyarrow.table(
        {"x": [1.5, None, 2.0], "w": ["a", None, "b"], "flag": [True, False, True]}
    )
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    (block,) = read_table(tmp_path / "t.parquet").blocks()
    assert (
        np.isnan(block[0][1])
        and block[1].tolist() == ["a", "", "b"]
        and block[2].tolist() == [1.0, 0.0, 1.0]
    )


def test_a_report_of_few_rows_says_that_they_show_little():
    rng = np.random.default_rng(10)
    few, many = ({"x": rng.normal(size=n)} for n in (8, 200))
    assert repr(compare_tables(few, many, rng=0, n_permutations=99)).endswith(
        "large differences only."
    )
    assert "only" not in repr(compare_tables(many, many, rng=0, n_permutations=99))


def bars(result):
    "Heights of the bars of either table, and the places of those of some height"
    first, second = result.plot(ax=Figure().add_subplot()).containers
    heights = [[bar.get_height() for bar in bars] for bars in (first, second)]
    return *heights, [[b.get_x() for b in bars if b.get_height()] for bars in (first, second)]


def test_bars_are_shares_of_the_rows_of_each_table():
    "Of 200 rows beside 60 000, of words that one table lacks, of more words than are drawn"
    rng = np.random.default_rng(0)
    A, B = rng.choice(list("abc"), 60_000), rng.choice(list("abcd"), 200)
    result = compare_tables({"w": A}, {"w": B}, rng=0, n_permutations=19)
    first, second, _ = bars(result)
    share = lambda words: sorted(np.mean(words == w) for w in "abcd")  # noqa: E731
    assert sorted(second) == share(B) and first[0] == np.mean(A == "d") == 0
    np.testing.assert_allclose(sorted(first), share(A), atol=0.03)
    gone = compare_tables({"w": [""] * 40}, {"w": ["a", "b"] * 20}, rng=0, n_permutations=19)
    assert sorted(bars(gone)[0]) == [0, 0, 1] and sorted(bars(gone)[1]) == [0, 0.5, 0.5]
    many = [f"w{i:02}" for i in range(20)] * 50
    result = compare_tables({"w": many}, {"w": [*many, *["new"] * 40]}, rng=0, n_permutations=19)
    assert "'new'" in result.columns[0].says and bars(result)[1][0] == 40 / 1040
    ax = result.plot(ax=Figure().add_subplot())
    assert ax.get_xticklabels()[0].get_text() == "new"


def test_tables_whose_files_are_named_in_formulas_are_drawn_by_their_names(tmp_path):
    paths = [tmp_path / name for name in ("$x_{$.csv", "$\\frob$.csv")]
    for path, word in zip(paths, "ab", strict=True):
        path.write_text("w\n" + 9 * f"{word}\n")
    ax = compare_tables(*paths, rng=0, n_permutations=19).plot(ax=Figure().add_subplot())
    ax.figure.savefig(io.BytesIO())  # a formula would not be read
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [p.name for p in paths]


@pytest.mark.parametrize("n", [5, 12, 20])
def test_the_histogram_holds_both_tables(n):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=4000), rng.normal(8, 1, n)
    result = compare_tables({"x": x}, {"x": y}, rng=0, n_permutations=19)
    first, second, (of_x, of_y) = bars(result)
    assert np.isfinite(first).all() and np.isfinite(second).all()
    assert min(of_x) < -2 and max(of_x) > 2 and min(of_y) > y.min() - 1 and max(of_y) > y.mean()


class Page(HTMLParser):
    "What a browser would see: texts of tags, addresses, and whether tags close in order"

    def __init__(self, text):
        super().__init__()
        self.open, self.texts, self.addresses, self.tags = [], {}, [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.addresses += [v for a, v in attrs if a.endswith(("href", "src", "url", "data"))]
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag != "meta":
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and data.strip():
            self.texts.setdefault(self.open[-1], []).append(data)


def test_a_report_is_one_page_that_fetches_nothing():
    rng, evil = np.random.default_rng(0), "<script>alert(1)</script> & $\\frob$ 'x' --> \"y\""
    A = {evil: rng.normal(size=200), "kind": rng.choice(["a", "b"], 200)}
    B = {evil: rng.normal(2, 1, 200), "kind": rng.choice(["a", "b"], 200)}
    result = compare_tables(A, B, n_permutations=199, rng=0)
    text = result.to_html()
    page = Page(text)
    assert not page.open and page.tags.count("svg") == 1 and "script" not in page.tags
    assert page.texts["p"][0] == repr(result).splitlines()[0]
    cells = page.texts["td"]
    for c in result.columns:
        i = cells.index(c.column)
        assert cells[i + 1] == c.says and float(cells[i + 2]) == pytest.approx(c.pvalue, rel=0.01)
    assert evil in cells and f"{evil} in both tables" in page.texts["figcaption"]
    assert all(address.startswith("#") for address in page.addresses)
    left = re.sub(r'xmlns(:\w+)?="[^"]*"', "", text)
    assert "http" not in left.replace("http-equiv", "") and "@import" not in left
    assert page.texts["title"] == [f"{result.tables[0][0]} and {result.tables[1][0]}"]
    assert text == result.to_html()  # the same at every call
    shown = page.tags.count("tr")
    assert shown == 2 + len(result.columns) + len(result.rows)


def test_the_command_line_writes_a_report(tmp_path, capsys):
    rng = np.random.default_rng(0)
    for name, shift in (("a.csv", 0.0), ("b.csv", 3.0)):
        rows = "\n".join(f"{v:.3f}" for v in rng.normal(shift, 1, 60))
        (tmp_path / name).write_text("x\n" + rows, encoding="utf-8")
    files = [str(tmp_path / name) for name in ("a.csv", "b.csv")]
    out = tmp_path / "report.html"
    assert main(["compare", *files, "--permutations", "99", "--html", str(out)]) == 1
    said = capsys.readouterr().out
    assert Page(out.read_text(encoding="utf-8")).texts["p"][0] == said.splitlines()[0]
    assert main(["compare", *files, "--html", str(tmp_path / "none" / "r.html")]) == 2
    assert "--html" in capsys.readouterr().err


READ = [
    "\x1b[2Jx",
    "x\nDay differs",
    "x\r",
    "\u202etxet",
    "=1+1\x07",
    "\u200bx",
    "<b>x</b>",
    "a_b$\\x",
]


@pytest.mark.parametrize("name", READ, ids=ascii)
def test_names_that_a_terminal_would_obey_are_spelled_out(name):
    "Of a column and of a word in it: no line of their own, no letter that nobody sees"
    rng = np.random.default_rng(0)
    old = pandas.DataFrame({name: rng.normal(size=90), "w": ["a"] * 90})
    new = pandas.DataFrame({name: rng.normal(3, 1, size=90), "w": [name] * 90})
    result = compare_tables(old, new, rng=0)
    plain = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in name)
    lines, page = repr(result).splitlines(), result.to_html()
    assert all(line.isprintable() for line in lines)
    assert sum(line.startswith(f"  {plain}: mean") for line in lines) == 1
    assert sum(line.startswith("  w: ") for line in lines) == 1 and len(lines) == 5
    assert f"  {result.columns[0]}" in lines
    assert plain in Page(page).texts["td"] and all(map(str.isprintable, page.splitlines()))
    assert any(
        name == told["column"] for told in json.loads(json.dumps(result.to_dict()))["columns"]
    )
