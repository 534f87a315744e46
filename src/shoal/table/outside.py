"""Tables whose rows stay outside of memory: only the different values of each column, and distinct rows, come in."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.engines.dictionary import Dictionary, one_zero
from shoal.engines.duckdb import DuckDatabase, DuckdbEngine
from shoal.engines.spark import SparkEngine, SparkFrame
from shoal.errors import ReadError
from shoal.progress import Hook, Progress
from shoal.table.column import Column
from shoal.table.encoding import encode
from shoal.table.options import Options
from shoal.table.raw import Encoded
from shoal.table.schema import columns_of
from shoal.table.table import Source, Table


def read_by_duckdb(database: DuckDatabase, options: Options, progress: Hook, origin: str) -> Table:
    """Read the columns of what DuckDB holds, value by value; its rows are counted where they are."""
    columns, dictionaries, notes = read_dictionaries(database.schema(), database.values, options, progress)
    engine = DuckdbEngine(database, dictionaries, database.rows())
    remarks = (*notes, "The rows stay where they are; DuckDB counts them.")
    return Table(columns, engine, source=Source(origin, notes=remarks))


def read_by_spark(frame: SparkFrame, options: Options, progress: Hook, origin: str) -> Table:
    """Read the columns of what Spark holds; its rows are counted where they are.

    Where records repeat, all are counted at once, and nothing else need be asked; else columns are read one by one.
    """
    schema = frame.schema()
    names, _ = columns_of(schema, options)
    progress(Progress("counting by Spark", 0))
    repeated = frame.repeated(names)

    def values(name: str) -> pa.ChunkedArray:
        if repeated is None:
            return frame.values(name)
        return pa.chunked_array([repeated.column(names.index(name)).unique()])

    columns, dictionaries, notes = read_dictionaries(schema, values, options, progress)
    engine = SparkEngine(frame, dictionaries, repeated)
    return Table(columns, engine, source=Source(origin, notes=(*notes, "The rows stay with Spark, which counts them.")))


def read_parquet_outside(files: tuple[Path, ...], options: Options, progress: Hook) -> Table:
    """Let DuckDB or Spark count the rows of Parquet files."""
    if options.engine == "spark":
        check_spark()
        return read_by_spark(SparkFrame.of_parquet(files), options, progress, "parquet")
    check_duckdb()
    return read_by_duckdb(DuckDatabase.of_parquet(files), options, progress, "parquet")


def is_of_spark(source: Any) -> bool:
    """Tell whether something is a frame of Spark, without importing it."""
    return type(source).__module__.startswith("pyspark.sql")


def check_spark() -> None:
    """Refuse if Spark is not there."""
    if find_spec("pyspark") is None:
        raise ReadError(
            "not-installed",
            "Spark is not installed.",
            remedy="Run pip install 'shoal[spark]', and install Java 17 or newer.",
        )


def check_duckdb() -> None:
    """Refuse if DuckDB is not there."""
    if find_spec("duckdb") is None:
        raise ReadError("not-installed", "DuckDB is not installed.", remedy="Run pip install 'shoal[duckdb]'.")


def read_dictionaries(
    schema: pa.Schema, values: Callable[[str], pa.ChunkedArray], options: Options, progress: Hook
) -> tuple[tuple[Column, ...], dict[str, Dictionary], tuple[str, ...]]:
    """Read the different values of columns, which ``values`` brings; return also what is to be said about it."""
    names, notes = columns_of(schema, options)
    encoded: dict[str, Encoded] = {}
    dictionaries: dict[str, Dictionary] = {}
    for done, name in enumerate(names):
        progress(Progress("reading", done, len(names)))
        encoded[name], dictionaries[name] = _column(name, values(name), options)
    return tuple(part.column for part in encoded.values()), dictionaries, notes


def _column(name: str, different: pa.ChunkedArray, options: Options) -> tuple[Encoded, Dictionary]:
    """Encode the different values of a column: their codes are the codes of all cells that hold them."""
    values = one_zero(pa.concat_arrays([pa.array([], different.type), *different.chunks])).drop_null()
    with_null = different.null_count > 0
    cells = pa.concat_arrays([values, pa.nulls(1, values.type)]) if with_null else values
    encoded = encode(name, pa.chunked_array([cells]), options)
    null = int(encoded.codes[-1]) if with_null else 0
    codes = encoded.codes[: len(values)].astype(np.uint32)
    return encoded, Dictionary(values, codes, null, max(encoded.column.size, 1))
