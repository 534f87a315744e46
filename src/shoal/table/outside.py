"""Tables whose rows stay outside memory: only the distinct values of each column, and distinct rows, are loaded."""

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
from shoal.table.reading_note import Concern, ReadingNote
from shoal.table.schema import columns_of
from shoal.table.table import Source, Table

_IN_DUCKDB = ReadingNote("The rows stay where they are; DuckDB counts them.", Concern.PLACE)
_IN_SPARK = ReadingNote("The rows stay with Spark, which counts them.", Concern.PLACE)


def read_by_duckdb(database: DuckDatabase, options: Options, progress: Hook, origin: str) -> Table:
    """Read the distinct values of the columns of a DuckDB table; DuckDB counts the rows in place."""
    columns, dictionaries, notes = read_dictionaries(database.schema(), database.values, options, progress)
    engine = DuckdbEngine(database, dictionaries, database.rows())
    return Table(columns, engine, source=Source(origin, readings=(*notes, _IN_DUCKDB)))


def read_by_spark(frame: SparkFrame, options: Options, progress: Hook, origin: str) -> Table:
    """Read the distinct values of the columns of a Spark frame; Spark counts the rows in place.

    If records repeat, Spark counts all distinct records at once, and no further query is needed. Otherwise the columns
    are read one by one.
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
    return Table(columns, engine, source=Source(origin, readings=(*notes, _IN_SPARK)))


def read_parquet_outside(files: tuple[Path, ...], options: Options, progress: Hook) -> Table:
    """Read Parquet files whose rows DuckDB or Spark counts in place."""
    if options.engine == "spark":
        check_spark()
        return read_by_spark(SparkFrame.of_parquet(files), options, progress, "parquet")
    check_duckdb()
    return read_by_duckdb(DuckDatabase.of_parquet(files), options, progress, "parquet")


def is_of_spark(source: Any) -> bool:
    """Return whether an object is a Spark dataframe, without importing Spark."""
    return type(source).__module__.startswith("pyspark.sql")


def check_spark() -> None:
    """Raise an error if Spark is not installed."""
    if find_spec("pyspark") is None:
        raise ReadError(
            "not-installed",
            "Spark is not installed.",
            remedy="Run pip install 'shoal[spark]', and install Java 17 or newer.",
        )


def check_duckdb() -> None:
    """Raise an error if DuckDB is not installed."""
    if find_spec("duckdb") is None:
        raise ReadError("not-installed", "DuckDB is not installed.", remedy="Run pip install 'shoal[duckdb]'.")


def read_dictionaries(
    schema: pa.Schema, values: Callable[[str], pa.ChunkedArray], options: Options, progress: Hook
) -> tuple[tuple[Column, ...], dict[str, Dictionary], tuple[ReadingNote, ...]]:
    """Encode the distinct values of columns, which ``values`` returns by name.

    Return the columns, their dictionaries, and notes for the reader.
    """
    names, notes = columns_of(schema, options)
    encoded: dict[str, Encoded] = {}
    dictionaries: dict[str, Dictionary] = {}
    for done, name in enumerate(names):
        progress(Progress("reading", done, len(names)))
        encoded[name], dictionaries[name] = _column(name, values(name), options)
    return tuple(part.column for part in encoded.values()), dictionaries, notes


def _column(name: str, different: pa.ChunkedArray, options: Options) -> tuple[Encoded, Dictionary]:
    """Encode the distinct values of a column; each code applies to all cells with that value."""
    values = one_zero(pa.concat_arrays([pa.array([], different.type), *different.chunks])).drop_null()
    with_null = different.null_count > 0
    cells = pa.concat_arrays([values, pa.nulls(1, values.type)]) if with_null else values
    encoded = encode(name, pa.chunked_array([cells]), options)
    null = int(encoded.codes[-1]) if with_null else 0
    codes = encoded.codes[: len(values)].astype(np.uint32)
    return encoded, Dictionary(values, codes, null, max(encoded.column.size, 1))
