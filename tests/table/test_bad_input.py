"""Bad input: a clear error or a correct answer; never a traceback, never a lost row, never a cell's value."""

import gzip
import json

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.errors import ColumnError, ReadError, ShoalError
from shoal.hierarchy.explicit import Explicit
from shoal.hierarchy.spec import bind

SECRET = "Zyxwvut"  # stands for a patient's value; must not show up in any message
NUMBER = "8675309"


def refusal(call, error=ShoalError):
    """Return the message, having checked that neither it nor the chain behind it holds a value."""
    with pytest.raises(error) as caught:
        call()
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    link = caught.value
    while link is not None:
        for value in (SECRET, NUMBER):
            assert value not in str(link)
        link = link.__context__
    return caught.value


def file(tmp_path, content, name="data.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_wrong_encoding(tmp_path):
    path = file(tmp_path, f"a,b\n{SECRET},Müller\n".encode("cp1252"))
    error = refusal(lambda: shoal.read(path, encoding="utf-8"), ReadError)
    assert error.message.startswith("The file is not encoded in utf-8: it contains invalid bytes")
    assert "cp1252" in error.hint


def test_wrong_encoding_behind_the_sample(tmp_path):
    path = file(tmp_path, b"a,b\n" + b"x,1\n" * 100_000 + f"{SECRET},ü\n".encode("cp1252"))
    assert "utf-8" in refusal(lambda: shoal.read(path, encoding="utf-8"), ReadError).message


def test_unknown_encoding(tmp_path):
    error = refusal(lambda: shoal.read(file(tmp_path, "a\n1\n"), encoding="utf-9"))
    assert error.message == "There is no text encoding 'utf-9'."


def test_ragged_rows(tmp_path):
    path = file(tmp_path, f"a,b,c\n1,2,3\n1,{SECRET}\n1,2,3,{NUMBER}\n")
    error = refusal(lambda: shoal.read(path), ReadError)
    assert error.message.startswith(
        "2 rows of 'data.csv' do not have 3 fields, as the first row has. The first of them is row 3, "
    )
    assert "separator was detected as ','" in error.hint


def test_ragged_rows_far_down(tmp_path):
    path = file(tmp_path, "a,b\n" + "1,2\n" * 400_000 + f"{SECRET}\n")
    assert "The first of them is row 400,002, with 1 field." in refusal(lambda: shoal.read(path), ReadError).message


def test_unclosed_quote(tmp_path):
    path = file(tmp_path, f'a,b\n1,"{SECRET}\n' + "2,x\n" * 400_000)
    message = refusal(lambda: shoal.read(path), ReadError).message
    assert message == "In row 2 of 'data.csv' a quote is opened and never closed."


def test_a_few_rows_behind_an_unclosed_quote(tmp_path):
    """They would be swallowed as one cell."""
    path = file(tmp_path, f'a,b\n1,ok\n2,"{SECRET}\n3,x\n4,y\n')
    assert "In row 3" in refusal(lambda: shoal.read(path), ReadError).message


def test_text_behind_a_closing_quote(tmp_path):
    path = file(tmp_path, f'a,b\n1,"x"{SECRET}\n')
    message = refusal(lambda: shoal.read(path), ReadError).message
    assert message == "In row 2 of 'data.csv' text follows a closing quote."


def test_a_header_wider_than_the_sample(tmp_path):
    names = [f"a_name_of_{'many_' * 60}letters_{number}" for number in range(400)]
    table = shoal.read(file(tmp_path, ";".join(names) + "\n" + ";".join("1" for _ in names) + "\n"))
    assert (len(table.columns), table.records) == (400, 1)


def test_empty_lines_above_the_header(tmp_path):
    table = shoal.read(file(tmp_path, "\n\r\nage,b\n34,1\n"))
    assert table.to_arrow().to_pydict() == {"age": [34], "b": [1]}
    workbook(tmp_path / "a.xlsx", [[], ["name", "age"], ["Meier", 5]])
    assert shoal.read(tmp_path / "a.xlsx").to_arrow().to_pydict() == {"name": ["Meier"], "age": [5]}


def test_lines_above_the_header(tmp_path):
    table = shoal.read(file(tmp_path, "Report of May\nage,b\n34,1\n"), skip=1)
    assert table.names == ("age", "b")
    workbook(tmp_path / "a.xlsx", [["Report of May"], ["name", "age"], ["Meier", 5]])
    assert shoal.read(tmp_path / "a.xlsx", skip=1).names == ("name", "age")


def test_the_separator_line_of_spreadsheets(tmp_path):
    assert shoal.read(file(tmp_path, "sep=|\na|b\n1|2\n")).to_arrow().to_pydict() == {"a": [1], "b": [2]}


def test_a_header_alone(tmp_path):
    for end in ("", "\n"):
        table = shoal.read(file(tmp_path, f"a,b{end}"))
        assert (table.names, table.records) == (("a", "b"), 0)


@pytest.mark.parametrize("encoding", ["rot13", "hex", "\0", "utf-16"])
def test_encodings_that_do_not_fit(tmp_path, encoding):
    refusal(lambda: shoal.read(file(tmp_path, f"a,b\n{SECRET},1\n"), encoding=encoding), ReadError)


@pytest.mark.parametrize("separator", ["é", ";;", '"', "\n", "1", ""])
def test_separators_that_cannot_be(tmp_path, separator):
    path = file(tmp_path, "a,b\n1,2\n")
    refusal(lambda: shoal.read(path, separator=separator), ReadError)
    refusal(lambda: shoal.write(shoal.read(path), tmp_path / "b.csv", separator=separator or "''"))


def test_damaged_files(tmp_path):
    for name in ("a.csv.gz", "b.parquet", "c.feather", "d.xlsx"):
        path = tmp_path / name
        if name.endswith("gz"):
            path.write_bytes(gzip.compress(b"a,b\n1,2\n" * 10_000)[:-40])
        else:
            shoal.write(shoal.read({"a": [SECRET] * 5000, "b": list(range(5000))}), path)
            data = bytearray(path.read_bytes())
            data[40:300] = b"\xff" * 260
            path.write_bytes(data[: len(data) // 2] if name.endswith("xlsx") else data)
        refusal(lambda path=path: shoal.read(path), ReadError)


@pytest.mark.parametrize("content", [b"null", b"[1]", b'{"a": 1}\nnull\n', b"5", b'"x"', b'{"a": "x"}\n{"\x98": "y"}'])
def test_lines_that_are_no_objects(tmp_path, content):
    refusal(lambda: shoal.read(file(tmp_path, content, "a.jsonl")), ReadError)


@pytest.mark.parametrize(
    ("beginning", "end"), [("[", "]"), ('{"b": ', "}"), ("[[],", "0]"), ('["]}", ', "0]")], ids=repr
)
def test_lines_nested_so_deep_that_readers_crash(tmp_path, beginning, end):
    """20,000 lists in each other end Arrow's reader, and with it Python."""
    deep = f'{{"a": {beginning * 20_000}1{end * 20_000}}}'
    path = file(tmp_path, f'{{"a": 1}}\n{deep}\n', "a.jsonl")
    assert "nested more than 64 deep" in refusal(lambda: shoal.read(path), ReadError).message


def test_brackets_in_text_nest_nothing(tmp_path):
    text = "[{" * 500 + '\\"' + "[" * 500
    path = file(tmp_path, json.dumps({"a": text, "b": "]"}) + "\n", "a.jsonl")
    assert shoal.read(path).to_frame("pyarrow").to_pydict() == {"a": [text], "b": ["]"]}


@pytest.mark.parametrize("name", ["a.parquet", "a.feather", "a.xlsx", "a.jsonl"])
def test_randomly_damaged_files(tmp_path, name):
    """Whatever bytes change: an error of ours or a table, never a crash."""
    path = tmp_path / name
    shoal.write(shoal.read({"a": [f"text {i}" for i in range(300)], "b": list(range(300))}), path)
    data, rng, refused = path.read_bytes(), np.random.default_rng(1), 0
    for _ in range(40):
        damaged = np.frombuffer(data, np.uint8).copy()
        damaged[rng.integers(0, len(damaged), 12)] = rng.integers(0, 256, 12)
        path.write_bytes(damaged.tobytes())
        try:
            table = shoal.read(path)
        except ShoalError:
            refused += 1
        else:
            assert table.to_arrow().num_rows == table.records
    assert refused > 0


def test_skipping_everything(tmp_path):
    refusal(lambda: shoal.read(file(tmp_path, "a,b\n1,2\n"), skip=1000), ReadError)


def test_text_that_is_no_utf8_in_json(tmp_path):
    refusal(lambda: shoal.read(file(tmp_path, b'{"a": "M\xfcller"}\n', "a.jsonl")), ReadError)


def test_one_bad_byte_does_not_change_all_others(tmp_path):
    refusal(lambda: shoal.read(file(tmp_path, "a,b\né,ü\nß,ä\n".encode() + b"\xff,x\n")), ReadError)


def test_queries_that_fail():
    frame = pl.LazyFrame({"a": [SECRET]}).with_columns(pl.col("a").cast(pl.Int64))
    assert refusal(lambda: shoal.read(frame)).message == "The query behind the frame fails."
    relation = duckdb.sql(f"select cast('{SECRET}' as integer) as a")
    refusal(lambda: shoal.read(relation))


def test_options_for_frames():
    frame = pd.DataFrame({"a": ["NA", "x"], "b": [1, 2]})
    table = shoal.read(frame, markers=["NA"], text=["b"])
    assert table.to_arrow().to_pydict() == {"a": [None, "x"], "b": ["1", "2"]}
    refusal(lambda: shoal.read(frame, separator=";"))
    assert refusal(lambda: shoal.read(frame, text=["c"])).message == "There is no column 'c'."


def test_options_for_tables_that_have_been_read():
    table = shoal.read({"a": ["NA", "x"], "b": [1, 2]})
    assert shoal.read(table, columns=["b"]).names == ("b",)
    assert shoal.read(table, engine="memory") is table
    for option in ({"markers": ["NA"]}, {"text": ["b"]}, {"separator": ";"}, {"engine": "disk"}, {"format": "csv"}):
        assert next(iter(option)) in refusal(lambda option=option: shoal.read(table, **option), ReadError).message


def test_things_that_are_no_tables():
    refusal(lambda: shoal.write(pd.DataFrame({"a": [1]}), "a.csv"))
    refusal(lambda: shoal.Policy.parse("version = 1").apply(pd.DataFrame({"a": [1]})))


def test_an_empty_sheet(tmp_path):
    workbook(tmp_path / "a.xlsx", [])
    refusal(lambda: shoal.read(tmp_path / "a.xlsx"), ReadError)


@pytest.mark.parametrize("name", ["data.csv", "data.parquet", "data.feather", "data.xlsx"])
def test_duplicate_column_names(tmp_path, name):
    """Only places are told: in a file without header the names are data."""
    path = tmp_path / name
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2]), pa.array([3])], [SECRET, "b", SECRET])
    if name.endswith("csv"):
        file(tmp_path, f"{SECRET},b,{SECRET}\n1,2,3\n")
    elif name.endswith("xlsx"):
        workbook(path, [[SECRET, "b", SECRET], [1, 2, 3]])
    else:
        (pq.write_table if name.endswith("parquet") else pyarrow.feather.write_feather)(table, path)
    assert refusal(lambda: shoal.read(path)).message == "Columns 1 and 3 have the same name."


def workbook(path, rows):
    import xlsxwriter

    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet()
        for place, row in enumerate(rows):
            sheet.write_row(place, 0, row)


def test_duplicate_names_in_frames():
    frame = pd.DataFrame([[1, 2]], columns=[SECRET, SECRET])
    assert refusal(lambda: shoal.read(frame)).message == "Columns 1 and 2 have the same name."


@pytest.mark.parametrize("text", [",a\n0,x\n", '"",a\n0,x\n', "  ,a\n0,x\n"])
def test_empty_column_names(tmp_path, text):
    error = refusal(lambda: shoal.read(file(tmp_path, text)))
    assert error.message == "Column 1 has no name."
    assert "row index written by R or pandas" in error.hint


def test_names_that_are_no_text():
    assert refusal(lambda: shoal.read(pd.DataFrame([[1, 2]]))).message == "Columns 1, 2 have no text as name."


def test_a_first_row_that_is_data(tmp_path):
    error = refusal(lambda: shoal.read(file(tmp_path, f"{SECRET},{NUMBER}\nx,1\n")))
    assert error.message == "The first row does not look like a header: it contains numbers or dates."
    assert "header=False" in error.hint


def test_unknown_column():
    table = shoal.read({"age": [1], "sex": ["f"]})
    error = refusal(lambda: table.assign(quasi=["aeg"]), ColumnError)
    assert (error.message, error.hint) == ("There is no column 'aeg'.", "Did you mean 'age'?")
    error = refusal(lambda: table.distinct(["weight"]), ColumnError)
    assert error.hint == "Check the spelling and, for a text file, the separator: the table has 2 columns."


def test_values_missing_from_a_hierarchy():
    table = shoal.read({"job": ["nurse", SECRET, SECRET, "x"]})
    spec = Explicit(values={"nurse": ["health"]})
    error = refusal(lambda: bind(spec, table, "job"))
    assert error.message == "2 of the 3 values of column 'job', in 3 records, are not in its hierarchy."
    assert 'unknown = "suppress"' in error.hint


@pytest.mark.parametrize("cells", [pa.nulls(3), pa.nulls(3, pa.int64()), pa.nulls(3, pa.string())])
def test_all_null_column(cells, kernels):
    table = shoal.read({"a": cells, "b": [1, 1, 2]})
    assert table["a"].size == 1
    assert table["a"].missing
    assert table.distinct(["a"]).counts.tolist() == [3]
    assert table.to_arrow()["a"].null_count == 3


def test_all_null_column_in_a_file(tmp_path):
    table = shoal.read(file(tmp_path, "a,b\n,1\n,2\n"))
    assert (table.records, table["a"].size, table["a"].missing) == (2, 1, True)


def test_one_row(tmp_path, kernels):
    table = shoal.read(file(tmp_path, "a,b\n1,x\n"))
    assert table.records == 1
    assert table.distinct().counts.tolist() == [1]


def test_zero_rows(tmp_path, kernels):
    table = shoal.read(file(tmp_path, "a,b\n"))
    assert (table.records, table.names) == (0, ("a", "b"))
    assert len(table.distinct()) == 0
    assert table.to_arrow().num_rows == 0
    assert len(table.assign(subject="a").profiles(["b"])) == 0


def test_empty_file(tmp_path):
    for name in ("a.csv", "a.parquet", "a.xlsx", "a.jsonl", "a.feather"):
        assert (
            refusal(lambda name=name: shoal.read(file(tmp_path, b"", name))).message == f"The file '{name}' is empty."
        )


@pytest.mark.exhaustive
def test_a_million_categories(kernels):
    values = np.arange(1_000_000)[::-1].astype(str)
    table = shoal.read({"a": values, "b": np.zeros(1_000_000, np.int8)})
    assert len(table["a"].values) == 1_000_000
    assert len(table.distinct()) == 1_000_000
    assert table.to_arrow()["a"].to_pylist()[:2] == ["999999", "999998"]


def test_mixed_types_in_a_frame():
    frame = pd.DataFrame({"ok": [1, 2], "mixed": [SECRET, 8675309]})
    error = refusal(lambda: shoal.read(frame), ColumnError)
    assert error.message.startswith("Column 'mixed' mixes kinds of values")
    refusal(lambda: shoal.read({"mixed": [SECRET, 8675309]}), ColumnError)


def test_mixed_types_in_json(tmp_path):
    path = file(tmp_path, "\n".join(json.dumps({"a": value}) for value in (8675309, SECRET)), "a.jsonl")
    assert refusal(lambda: shoal.read(path)).message == (
        "Column 'a' of 'a.jsonl' mixes kinds of values: number and string."
    )


def test_mixed_types_in_excel_become_text(tmp_path):
    workbook(tmp_path / "a.xlsx", [["a"], ["x"], [5], [2.5]])
    assert shoal.read(tmp_path / "a.xlsx").to_arrow().to_pydict() == {"a": ["x", "5", "2.5"]}


def test_lists_cannot_be_encoded():
    error = refusal(lambda: shoal.read({"a": [[1, 2], [3]]}), ColumnError)
    assert error.message.startswith("Column 'a' contains list<")


def test_huge_integers(tmp_path):
    digits = ["123456789012345678901234567890", "9223372036854775808"]
    assert shoal.read(file(tmp_path, "a\n" + "\n".join(digits))).to_arrow()["a"].to_pylist() == digits
    assert shoal.read({"a": np.array([2**64 - 1, 0], np.uint64)}).to_arrow()["a"].to_pylist() == [2**64 - 1, 0]
    path = file(tmp_path, f'{{"a": {digits[0]}}}\n{{"a": 1}}\n', "a.jsonl")
    assert "so large that JSON readers round them" in refusal(lambda: shoal.read(path)).message


def test_odd_dates(tmp_path):
    for cells in (["2024-02-30"], ["0000-01-01"], ["31.12.2020"], ["2020-13-01"], ["2024-01-01T00:30:00+02:00"]):
        table = shoal.read(file(tmp_path, "a\n" + "\n".join(cells)))
        assert table.to_arrow()["a"].to_pylist() == cells


def test_formula_like_cells_are_read_as_they_are(tmp_path):
    cells = ["=cmd|' /C calc'!A0", "+1", "@x", "-x"]
    assert shoal.read(file(tmp_path, "a\n" + "\n".join(cells))).to_arrow()["a"].to_pylist() == cells


@pytest.mark.parametrize("name", ["a.parquet", "a.feather", "a.xlsx", "a.jsonl"])
def test_files_that_are_something_else(tmp_path, name):
    error = refusal(lambda: shoal.read(file(tmp_path, f"{SECRET} {NUMBER}\n" * 10, name)))
    assert f"'{name}'" in error.message


def test_binary_rubbish_as_csv(tmp_path):
    refusal(lambda: shoal.read(file(tmp_path, bytes(range(256)) * 50)))


def test_no_such_file(tmp_path):
    file(tmp_path, "a\n1\n", "patients.csv")
    error = refusal(lambda: shoal.read(tmp_path / "patient.csv"))
    assert error.hint == "Did you mean 'patients.csv'?"
    (tmp_path / "empty").mkdir()
    assert "no files" in refusal(lambda: shoal.read(tmp_path / "empty")).message
    assert "contains folders" in refusal(lambda: shoal.read(tmp_path)).message
    assert "pattern" in refusal(lambda: shoal.read(tmp_path / "*.tsv")).message


def test_unknown_suffix(tmp_path):
    error = refusal(lambda: shoal.read(file(tmp_path, "a\n1\n", "a.cvs")))
    assert "'.csv'" in error.hint


def test_no_table_at_all():
    assert refusal(lambda: shoal.read(42)).message == "An object of type int is not a table."


def test_unknown_option(tmp_path):
    path = file(tmp_path, "a\n1\n")
    error = refusal(lambda: shoal.read(path, seperator=";"))
    assert "seperator: there is no such setting" in error.message
    assert error.hint == "Did you mean 'separator'?"


def test_options_of_other_formats_are_not_ignored(tmp_path):
    shoal.write(shoal.read({"a": [1]}), tmp_path / "a.parquet")
    error = refusal(lambda: shoal.read(tmp_path / "a.parquet", separator=";"))
    assert error.message == "The option 'separator' does not apply to files of format parquet."


def test_unknown_text_column(tmp_path):
    error = refusal(lambda: shoal.read(file(tmp_path, "zip,b\n1,2\n"), text=["zpi"]))
    assert error.hint == "Did you mean 'zip'?"


def test_columns_of_different_lengths():
    assert refusal(lambda: shoal.read({"a": [1], "b": [1, 2]})).message == "The columns have different lengths."


def test_unknown_frame_library():
    assert refusal(lambda: shoal.read({"a": [1]}).to_frame("panda")).hint == "Did you mean 'pandas'?"


def test_not_a_number_is_missing():
    for frame in (pd.DataFrame({"a": [1.5, np.nan]}), pl.DataFrame({"a": [1.5, float("nan")]})):
        table = shoal.read(frame)
        assert table["a"].missing
        assert table["a"].values.to_pylist() == [1.5]


def test_no_sheet(tmp_path):
    workbook(tmp_path / "a.xlsx", [["a"], ["x"]])
    assert (
        refusal(lambda: shoal.read(tmp_path / "a.xlsx", sheet="Shet1")).message == "The workbook has no sheet 'Shet1'."
    )
