"""Dataframes in, the same kind out."""

import datetime as dt

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from shoal.table.kind import Kind

DATA = {
    "name": ["Anna", "Jürgen", None],
    "age": [34, 71, 34],
    "weight": [60.5, None, 71.0],
    "born": [dt.date(1990, 1, 1), dt.date(1953, 2, 3), None],
}
MAKERS = {
    "pandas": lambda table: table.to_pandas(),
    "polars": pl.from_arrow,
    "pyarrow": lambda table: table,
    "duckdb": duckdb.from_arrow,
}


@pytest.fixture(params=MAKERS)
def frame(request):
    return MAKERS[request.param](pa.table(DATA))


def test_the_same_kind_comes_out(frame):
    out = shoal.read(frame).to_frame()
    assert type(out) is type(frame)
    assert shoal.read(out).to_arrow().to_pydict() == DATA


def test_all_kinds_give_the_same_table(frame):
    table = shoal.read(frame)
    assert [column.kind for column in table.columns] == [Kind.TEXT, Kind.INTEGER, Kind.NUMBER, Kind.DATE]
    assert table.distinct(["age"]).counts.tolist() == [2, 1]


def test_lazy_polars():
    out = shoal.read(pl.DataFrame({"a": [1, 2]}).lazy()).to_frame()
    assert isinstance(out, pl.DataFrame)


def test_a_row_index_never_gets_in():
    """An index that came along would lead every released row back to its source."""
    frame = pd.DataFrame({"age": [1, 2, 3]}, index=[17, 5, 99])
    assert shoal.read(frame).names == ("age",)
    assert list(shoal.read(frame).to_frame().columns) == ["age"]
    assert list(shoal.read(frame).to_frame().index) == [0, 1, 2]


def test_an_index_with_a_name_is_data():
    frame = pd.DataFrame({"age": [1, 2]}, index=pd.Index(["p1", "p2"], name="patient_id"))
    assert shoal.read(frame).names == ("patient_id", "age")


def test_an_index_that_arrow_carries_is_left_out():
    table = pa.Table.from_pandas(pd.DataFrame({"age": [1, 2]}, index=[7, 9]))
    assert shoal.read(table).names == ("age",)


def test_integers_with_gaps_stay_integers():
    frame = pd.DataFrame({"a": pd.array([2**53 + 1, None], "Int64"), "b": pd.array([True, None], "boolean")})
    out = shoal.read(frame).to_frame()
    assert (str(out["a"].dtype), str(out["b"].dtype)) == ("Int64", "boolean")
    assert out["a"][0] == 2**53 + 1


def test_a_shuffled_index_changes_nothing():
    frame = pd.DataFrame({"a": ["x", "y", "x"], "b": [1, 2, 1]})
    shuffled = frame.set_axis([2, 0, 1], axis=0)
    assert shoal.read(frame).distinct().counts.tolist() == shoal.read(shuffled).distinct().counts.tolist() == [2, 1]


def test_a_row_index_in_parquet_is_left_out(tmp_path):
    pd.DataFrame({"age": [1, 2]}, index=[17, 5]).to_parquet(tmp_path / "a.parquet")
    table = shoal.read(tmp_path / "a.parquet")
    assert table.names == ("age",)
    assert "row index" in table.source.notes[0]


def test_unused_categories_do_not_count():
    frame = pd.DataFrame({"a": pd.Categorical(["x", None, "x"], categories=["w", "x", "y"])})
    column = shoal.read(frame)["a"]
    assert (column.kind, column.values.to_pylist(), column.missing) == (Kind.TEXT, ["x"], True)


def test_ordered_categories_are_ordered():
    order = ["mild", "severe", "deadly"]
    frame = pd.DataFrame({"a": pd.Categorical(["deadly", "mild"], categories=order, ordered=True)})
    column = shoal.read(frame)["a"]
    assert (column.kind, column.values.to_pylist()) == (Kind.CATEGORY, ["mild", "deadly"])
    assert shoal.read(frame).to_frame()["a"].cat.ordered
    assert shoal.read(pl.DataFrame({"a": pl.Series(["u", "v"], dtype=pl.Enum(["v", "u"]))}))[
        "a"
    ].values.to_pylist() == [
        "v",
        "u",
    ]


def test_markers_in_categories():
    cells = pd.Categorical(["low", "NA", "*"], ordered=True, categories=["low", "*", "NA"])
    column = shoal.read(pd.DataFrame({"g": cells}), markers=["NA"], suppressed="*")["g"]
    assert (column.values.to_pylist(), column.missing, column.suppressed) == (["low"], True, True)


def test_a_dictionary_with_a_null_in_it():
    cells = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2]), pa.array(["b", None, "a"]))
    table = shoal.read({"a": cells})
    assert table.to_arrow()["a"].to_pylist() == ["b", None, None, "a"]
    assert table["a"].values.to_pylist() == ["a", "b"]
