"""The same answers from a file that stays where it is."""

import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples

import shoal
from shoal.classes.classes import Classes
from shoal.engines.duckdb import DuckdbEngine
from shoal.errors import ReadError
from shoal.models.model import MODELS, Need

COLUMNS = {
    "who": st.integers(0, 3),
    "age": st.none() | st.sampled_from([1.5, 0.0, -0.0, math.nan, 70.0]),
    "place": st.none() | st.sampled_from(["Köln", 'a"b', "", "NA"]),
    "dx": st.sampled_from(["x", "y", "z"]),
    "cost": st.sampled_from([0.1, 0.3, 20.0]),
}
tables = st.lists(st.fixed_dictionaries(COLUMNS), max_size=12)
TYPES = {"who": pa.int64(), "age": pa.float64(), "place": pa.string(), "dx": pa.string(), "cost": pa.float64()}


def both(rows, folder, **options):
    """Return a table in memory and the same one in a file."""
    data = pa.table({name: pa.array([row[name] for row in rows], TYPES[name]) for name in COLUMNS})
    pq.write_table(data, folder / "t.parquet", row_group_size=3)
    tables = [shoal.read(folder / "t.parquet", **options), shoal.read(folder / "t.parquet", engine="duckdb", **options)]
    assert isinstance(tables[1].engine, DuckdbEngine)
    return tables


@examples(40)
@given(rows=tables, markers=st.sampled_from([(), ("NA",)]))
def test_rows_profiles_and_the_way_back(rows, markers, tmp_path):
    one, other = both(rows, tmp_path, markers=markers)
    assert [column.labels().to_pylist() for column in one.columns] == [c.labels().to_pylist() for c in other.columns]
    assert one.records == other.records == len(rows)
    for columns in (["age", "place"], ["dx"], []):
        first, second = one.distinct(columns), other.distinct(columns)
        assert [codes.tolist() for codes in first.codes] == [codes.tolist() for codes in second.codes]
        assert first.counts.tolist() == second.counts.tolist()
    if not rows:
        return
    numbers = np.arange(100)
    columns = ["age", "place"]
    for small in ("distinct", "profiles"):
        found = [getattr(table.assign(subject="who"), small)(columns) for table in (one, other)]
        expanded = [t.engine.expand(f, numbers[: len(f)]).tolist() for t, f in zip((one, other), found, strict=True)]
        assert expanded[0] == expanded[1]
    assert one.to_arrow().to_pydict() == other.to_arrow().to_pydict()


@examples(25)
@given(rows=tables.filter(bool), subject=st.sampled_from([None, "who"]), missing=st.sampled_from(["own", "never"]))
def test_every_model_gives_the_same_answer(rows, subject, missing, tmp_path):
    one, other = both(rows, tmp_path)
    for name in MODELS:
        needs = MODELS[name].needs
        if {Need.POPULATION, Need.HIERARCHY, Need.THRESHOLD} & needs:
            continue
        sensitive = {"sensitive": ["cost" if Need.NUMBERS in needs else "dx"]} if Need.SENSITIVE in needs else {}
        measure = getattr(shoal, name.replace("-", "_"))
        options = {"quasi": ["age", "place"], "subject": subject, "missing": missing, **sensitive}
        assert measure(one, **options) == measure(other, **options)


def test_classes_of_adult(shared, tmp_path):
    adult = shoal.read(shared / "data/arx-adult/adult.csv")
    shoal.write(adult, tmp_path / "adult.parquet")
    outside = shoal.read(tmp_path / "adult.parquet", engine="duckdb")
    quasi = [name for name in adult.names if name != "occupation"]
    one, other = (Classes.of(table, quasi, ["occupation"]) for table in (adult, outside))
    assert one.sizes.tolist() == other.sizes.tolist()
    assert one.histograms["occupation"].counts.tolist() == other.histograms["occupation"].counts.tolist()


def test_files_that_are_none(tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"PAR1 Zyxwvut PAR1")
    with pytest.raises(ReadError, match="is not a Parquet file, or is damaged") as caught:
        shoal.read(tmp_path / "t.parquet", engine="duckdb")
    assert "Zyxwvut" not in str(caught.value)
    assert caught.value.__context__ is None


def test_what_duckdb_puts_on_disk_is_private(tmp_path, monkeypatch):
    """Not in the current folder, which is where DuckDB would put it."""
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({"a": np.arange(200_000) % 150_000}), tmp_path / "t.parquet")
    table = shoal.read(tmp_path / "t.parquet", engine="duckdb")
    database = table.engine._database
    folder = database.query("SELECT current_setting('temp_directory') AS folder").column(0)[0].as_py()
    assert folder == str(database._spool.folder)
    database.query("SET memory_limit = '20MB'")
    assert len(table.distinct(["a"])) == 150_000
    assert [path.name for path in tmp_path.iterdir()] == ["t.parquet"]


def test_only_parquet_stays_outside(tmp_path):
    (tmp_path / "t.csv").write_text("a\n1\n")
    with pytest.raises(ReadError, match="Files of format csv cannot be processed in place by"):
        shoal.read(tmp_path / "t.csv", engine="duckdb")
