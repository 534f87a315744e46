"""What people stumbled over: values that would have been changed in silence."""

from datetime import date, datetime, timedelta, timezone

import jsonschema
import pandas as pd
import pyarrow as pa
import pytest

import shoal
from shoal.errors import ColumnError, ReadError, WriteError
from shoal.hierarchy.automatic import propose
from shoal.hierarchy.date import Date
from shoal.hierarchy.spec import bind
from shoal.policy.policy import Policy

EAST = timezone(timedelta(hours=2))
MIXED_TIMES = [
    [date(2020, 1, 1), datetime(2020, 1, 1, 5)],
    [datetime(2020, 1, 1, 5), date(2020, 1, 1)],
    [datetime(2020, 1, 1), datetime(2020, 1, 1, tzinfo=EAST)],
    [datetime(2020, 1, 1, tzinfo=EAST), None, datetime(2020, 1, 1)],
]


@pytest.mark.parametrize("cells", MIXED_TIMES)
def test_times_are_not_cut_off_or_shifted(cells):
    with pytest.raises(ColumnError, match="Column 'a' mixes kinds"):
        shoal.read({"a": cells})
    with pytest.raises(ColumnError, match="Column 'a' mixes kinds"):
        shoal.read(pd.DataFrame({"a": pd.Series(cells, dtype=object)}))


def test_days_alone_and_moments_alone_are_fine():
    assert shoal.read({"a": [date(2020, 1, 1), None]})["a"].kind == "date"
    assert shoal.read({"a": [datetime(2020, 1, 1, 5), None]})["a"].kind == "datetime"


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".xlsx"])
@pytest.mark.parametrize(
    "cells",
    [pa.array([10**7], pa.date32()), pa.array([10**13], pa.timestamp("s", "UTC")), pa.array([-(10**6)], pa.date32())],
)
def test_years_that_cannot_be_written(tmp_path, suffix, cells):
    with pytest.raises(WriteError, match="Column 'a' cannot be written"):
        shoal.write(shoal.read({"a": cells}), tmp_path / f"a{suffix}")


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_times_too_fine_for_text(tmp_path, suffix):
    with pytest.raises(WriteError, match="finer than a microsecond"):
        shoal.write(shoal.read({"a": pa.array([45296000000001], pa.time64("ns"))}), tmp_path / f"a{suffix}")


@pytest.mark.parametrize("encoding", ["utf-32", "utf-16"])
def test_wide_encodings(tmp_path, encoding):
    (tmp_path / "a.csv").write_bytes("a,b\n1,ä\n3,ö\n".encode(encoding))
    assert shoal.read(tmp_path / "a.csv").to_arrow().to_pydict() == {"a": [1, 3], "b": ["ä", "ö"]}


def test_zero_bytes_in_names(tmp_path):
    (tmp_path / "a.csv").write_bytes("a,b\n1,2\n".encode("utf-32-le"))
    with pytest.raises(ReadError, match="NUL bytes"):
        shoal.read(tmp_path / "a.csv")


def test_a_format_without_months_invents_none():
    table = shoal.read({"a": ["1958", "1960"]})
    assert bind(Date(format="%Y"), table, "a").labels(1).to_pylist() == ["1958", "1960"]


@pytest.mark.parametrize(
    "frame", [{"a": [-99, 1]}, pd.DataFrame({"a": [-99, 1]}), pa.table({"a": pa.array([-99, 1], pa.int16())})]
)
def test_markers_mean_missing_in_columns_of_numbers(frame):
    assert shoal.read(frame, markers=["-99"]).to_arrow().to_pydict() == {"a": [None, 1]}


def test_long_records_come_back(tmp_path):
    table = shoal.read({"a": ["x" * 1_200_000, "y"], "b": [1, 2]})
    shoal.write(table, tmp_path / "a.csv")
    assert (
        shoal.read(tmp_path / "a.csv")
        .to_arrow()
        .equals(table.to_arrow().cast(pa.schema([("a", pa.large_string()), ("b", pa.int64())])))
    )


def test_thousands_are_mentioned(tmp_path):
    (tmp_path / "a.csv").write_text("a;b\n1.000;x\n2.500;y\n")
    assert "may be thousands separators" in shoal.read(tmp_path / "a.csv").source.notes[0]


def test_digits_that_json_readers_round_are_mentioned(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"a": 0.1234567890123456789}\n')
    assert "rounded" in shoal.read(tmp_path / "a.jsonl").source.notes[0]
    (tmp_path / "b.jsonl").write_text('{"a": 0.000000000000000000001}\n{"a": 1234567.5}\n')
    assert shoal.read(tmp_path / "b.jsonl").source.notes == ()


def test_days_and_months_are_not_guessed():
    told, ambiguous = shoal.read({"a": ["05/18/2020", "07/08/2020"]}), shoal.read({"a": ["05/06/2020", "07/08/2020"]})
    assert propose(told["a"]).kind == "date"
    assert propose(ambiguous["a"]).kind != "date"


def test_named_levels_of_an_index_are_data():
    index = pd.MultiIndex.from_tuples([(1, 2), (3, 4)], names=["x", None])
    assert shoal.read(pd.DataFrame({"a": [5, 6]}, index=index)).names == ("x", "a")


def test_an_index_named_like_a_column():
    with pytest.raises(ReadError, match="have the same name"):
        shoal.read(pd.DataFrame({"a": [1]}, index=pd.Index([7], name="a")))


def test_a_column_that_only_looks_like_an_index():
    assert shoal.read(pa.table({"__index_level_0__": [1, 2], "a": [1, 2]})).names == ("__index_level_0__", "a")


def test_devices_are_not_replaced(tmp_path):
    table = shoal.read({"a": [1]})
    with pytest.raises(WriteError, match="is not an ordinary file"):
        shoal.write(table, "/dev/null", format="csv", force=True)


def test_the_schema_knows_the_short_form():
    schema = Policy.model_json_schema()
    jsonschema.validate({"version": 1, "columns": {"name": "direct", "age": {"role": "quasi"}}}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"version": 1, "columns": {"name": "dirct"}}, schema)


def test_halves_of_characters():
    for frame in ({"a": ["\ud800"]}, pd.DataFrame({"a": pd.Series(["\ud800"], dtype=object)})):
        with pytest.raises(ColumnError, match="Column 'a'"):
            shoal.read(frame)


def test_cells_of_a_workbook_that_are_no_values(tmp_path):
    import xlsxwriter

    with xlsxwriter.Workbook(tmp_path / "a.xlsx") as book:
        sheet = book.add_worksheet()
        for place, row in enumerate([["age", "sex"], [5, "f"], ["NA", "m"], [7, "f"]]):
            sheet.write_row(place, 0, row)
    table = shoal.read(tmp_path / "a.xlsx")
    assert table.to_arrow().to_pydict()["age"] == [5, None, 7]
    assert table.source.notes == ("Cells such as NA were read as missing in 'age'.",)
    with xlsxwriter.Workbook(tmp_path / "b.xlsx") as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["age"])
        sheet.write_formula(1, 0, "=nothing", value="#NAME?")
        sheet.write_number(2, 0, 5)
    with pytest.raises(ReadError, match="has cells with errors, such as #NAME"):
        shoal.read(tmp_path / "b.xlsx")


def test_a_format_that_the_name_does_not_tell(tmp_path):
    (tmp_path / "a.dat").write_text("a,b\n1,2\n")
    policy = Policy.parse('version = 1\ndata.read.format = "csv"\ncolumns.a = "quasi"\n')
    assert policy.read(tmp_path / "a.dat").records == 1
