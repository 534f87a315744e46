"""Checks of Parquet files: columns that DuckDB or Spark would alter are rejected before reading."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from shoal.errors import ReadError
from shoal.remedy import Option
from shoal.table.options import Options
from shoal.table.part import other_columns
from shoal.table.schema import columns_of

_NAMES = {"duckdb": "DuckDB", "spark": "Spark"}
_UTC = {"UTC", "Etc/UTC", "GMT", "Z", "+00:00"}
_HINT = Option("engine", "disk")


def check_files(files: Sequence[Path], schemas: Sequence[pa.Schema], options: Options) -> None:
    """Reject Parquet files with different columns or types, and columns that the engine would alter or confuse."""
    check_alike(files, schemas, options)
    first, engine, known = schemas[0], str(options.engine), dict[str, str]()
    for name in first.names:
        if name.lower() in known:
            raise ReadError(
                "same-name",
                "{engine} cannot tell the columns '{first}' and '{second}' apart.",
                remedy=_HINT,
                engine=_NAMES[engine],
                first=known[name.lower()],
                second=name,
            )
        known[name.lower()] = name
    for name in columns_of(first, options)[0]:
        kind = first.field(name).type
        others = [file for file, schema in zip(files, schemas, strict=True) if schema.field(name).type != kind]
        if others:
            raise ReadError(
                "different-kinds",
                "Column '{column}' has a different type in '{file}' than in '{first}'.",
                remedy=_HINT,
                column=name,
                file=others[0].name,
                first=files[0].name,
            )
        for why in _changes(kind, engine):
            raise ReadError("engine-of-column", "Column '{column}' {why}.", remedy=_HINT, column=name, why=why)


def check_alike(files: Sequence[Path], schemas: Sequence[pa.Schema], options: Options) -> None:
    """Reject files whose columns differ from those of the first file."""
    names = [set(columns_of(schema, options)[0]) for schema in schemas]
    for file, mine in zip(files, names, strict=True):
        if mine != names[0]:
            raise other_columns(file.name, files[0].name)


def _changes(kind: pa.DataType, engine: str) -> Iterator[str]:
    """Yield the alterations that an engine would make to values of a type."""
    if pa.types.is_timestamp(kind) and kind.tz not in {None, *_UTC}:
        yield f"has times of a zone, which {_NAMES[engine]} would turn into those of UTC"
    if pa.types.is_decimal256(kind):
        yield f"has more digits than {_NAMES[engine]} keeps"
    if engine == "spark" and (pa.types.is_time(kind) or pa.types.is_float16(kind) or kind == pa.uint64()):
        yield f"is of the type {kind}, which Spark does not have"
    if engine == "spark" and pa.types.is_timestamp(kind) and kind.unit == "ns":
        yield "has nanoseconds, which Spark does not have"
