"""Parquet files for DuckDB and Spark: what they would read otherwise than it is, is refused and named."""

from datetime import datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.errors import ReadError

MOMENT = datetime(2020, 1, 1, 23)
ENGINES = pytest.mark.parametrize("engine", ["duckdb", "spark"])


def folder(path, *tables):
    path.mkdir(exist_ok=True)
    for number, table in enumerate(tables):
        pq.write_table(pa.table(table), path / f"{number}.parquet")
    return path


@ENGINES
@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ([{"a": [1, 2]}, {"a": [1.5, 2.0]}], "has a different type in"),
        ([{"a": [1], "b": [2]}, {"a": [1], "c": [2]}], "'1.parquet' has other columns than '0.parquet'"),
        ([{"a": [1], "A": [2]}], "cannot tell the columns 'a' and 'A' apart"),
        ([{"": [1]}], "Column 1 has no name"),
        ([{"t": pa.array([MOMENT], pa.timestamp("us", "Europe/Berlin"))}], "'t' has times of a zone"),
        ([{"d": pa.array([1], pa.decimal256(50, 2))}], "'d' has more digits"),
    ],
)
def test_what_would_be_changed_is_refused(tmp_path, engine, tables, message):
    with pytest.raises(ReadError, match=message):
        shoal.read(folder(tmp_path / "files", *tables), engine=engine)


@pytest.mark.parametrize("kind", [pa.uint64(), pa.time64("us"), pa.timestamp("ns"), pa.float16()])
def test_types_that_spark_does_not_have(tmp_path, kind):
    cells = pa.array([None], kind)
    with pytest.raises(ReadError, match="'x' .* Spark does not have"):
        shoal.read(folder(tmp_path / "files", {"x": cells}), engine="spark")
    assert shoal.read(tmp_path / "files", engine="duckdb").records == 1


@pytest.mark.spark
def test_times_of_the_zone_that_they_are_kept_in(tmp_path):
    cells = pa.array([MOMENT, datetime(1500, 1, 1)], pa.timestamp("us", "UTC"))
    files = folder(tmp_path / "files", {"t": cells})
    found = [shoal.read(files, engine=engine).to_frame("pyarrow").column("t") for engine in ("memory", "spark")]
    assert found[0].to_pylist() == found[1].to_pylist()


def test_integers_of_any_width_are_one_column(tmp_path):
    narrow, wide = {"a": pa.array([1, None], pa.int32())}, {"a": pa.array([1 << 40, 1], pa.int64())}
    for order in ([narrow, wide], [wide, narrow]):
        files = folder(tmp_path / f"{len(list(tmp_path.iterdir()))}", *order)
        for engine in ("memory", "disk"):
            table = shoal.read(files, engine=engine)
            assert (table["a"].values.to_pylist(), table.counts("a").tolist()) == ([1, 1 << 40], [2, 1, 1])


def test_a_plan_for_files_that_do_not_belong_together(tmp_path):
    with pytest.raises(ReadError, match="other columns than"):
        shoal.plan(folder(tmp_path / "files", {"a": [1], "b": [2]}, {"a": [1], "c": [2]}), quasi=["a"])
