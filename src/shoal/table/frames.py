"""Dataframes: any frame that narwhals supports is accepted; results use the same library, or else Arrow."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from functools import partial
from importlib.util import find_spec
from typing import Any

import pyarrow as pa

from shoal.errors import ColumnError, ReadError, similar
from shoal.table.names import check_names, without_index

LIBRARIES = ("pandas", "polars", "pyarrow", "modin", "duckdb")


def to_arrow(frame: Any) -> tuple[pa.Table, str]:
    """Return a frame as an Arrow table, and the name of the library to use for results.

    A row index without a name is not data. It is dropped, because in a release it would link records to the source.
    """
    if isinstance(frame, dict):
        return _from_dict(frame), "pyarrow"
    if isinstance(frame, pa.RecordBatch):
        frame = pa.table(frame)
    wrapped = _wrapped(_with_named_index(frame))
    library = wrapped.implementation.value
    if hasattr(wrapped, "collect"):
        wrapped = _tried(lambda: wrapped.collect("pyarrow"))
        if wrapped is None:
            raise ReadError(
                "query-fails", "The query behind the frame fails.", remedy="Collect the frame to see the reason."
            )
    check_names(wrapped.columns)
    if library == "pandas":
        _check_objects(wrapped.to_native())
    table = _tried(wrapped.to_arrow)
    if table is None:
        raise _culprit(wrapped)
    table = table.select(_without_index(table)).replace_schema_metadata(None)
    return table, library if library in LIBRARIES else "pyarrow"


def _tried(action: Callable[[], Any]) -> Any | None:
    """Return the result of an action, or None if it fails. The error is dropped, because it may quote values."""
    with suppress(Exception):
        return action()
    return None


def _with_named_index(frame: Any) -> Any:
    """Convert named index levels to columns; pandas users keep identifiers there."""
    names = getattr(getattr(frame, "index", None), "names", None)
    if not names or all(name is None for name in names) or not hasattr(frame, "reset_index"):
        return frame
    named = [place for place, name in enumerate(names) if name is not None]
    check_names([*(names[place] for place in named), *frame.columns])
    return frame.reset_index(level=named)


def _without_index(table: pa.Table) -> list[str]:
    """Return the column names without those that pandas writes for an unnamed row index."""
    return without_index(table.column_names) if b"pandas" in (table.schema.metadata or {}) else table.column_names


def _check_objects(frame: Any) -> None:
    """Reject object columns that mix dates with datetimes, or datetimes with and without a time zone."""
    for name, dtype in zip(frame.columns, frame.dtypes, strict=True):
        if str(dtype) == "object" and _mixes_times(frame[name].to_list()):
            raise _unreadable(name)


def _mixes_times(cells: Iterable[Any]) -> bool:
    """Return whether Arrow would truncate or shift times to convert the cells to one type."""
    kinds = set(map(type, cells))
    moments = {kind for kind in kinds if issubclass(kind, datetime)}
    if not moments:
        return False
    days = any(issubclass(kind, date) for kind in kinds - moments)
    return days or len({getattr(cell, "tzinfo", None) is None for cell in cells if type(cell) in moments}) > 1


def _wrapped(frame: Any) -> Any:
    import narwhals as nw

    if not hasattr(frame, "collect"):
        check_names(_names(frame))
    wrapped = _tried(lambda: nw.maybe_reset_index(nw.from_native(frame)))
    if wrapped is None:
        raise ReadError(
            "not-a-table",
            "An object of type {type} is not a table.",
            remedy="Give a file name or a dataframe (pandas, Polars, PyArrow, DuckDB, …).",
            type=type(frame).__name__,
        )
    return wrapped


def _names(frame: Any) -> list[Any]:
    """Return the column names before narwhals checks them, because its error messages would quote them."""
    return list(frame.column_names if isinstance(frame, pa.Table) else getattr(frame, "columns", []))


def _from_dict(columns: dict[Any, Any]) -> pa.Table:
    check_names(list(columns))
    arrays: dict[str, Any] = {
        name: None if isinstance(cells, list | tuple) and _mixes_times(cells) else _tried(partial(pa.array, cells))
        for name, cells in columns.items()
    }
    for name, array in arrays.items():
        if array is None:
            raise _unreadable(name)
    if len({len(array) for array in arrays.values()}) > 1:
        raise ReadError("different-lengths", "The columns have different lengths.")
    return pa.table(arrays)


def _culprit(frame: Any) -> ColumnError:
    """Return the error for the column that cannot be converted, without quoting its values."""
    for name in frame.columns:
        if _tried(frame.select(name).to_arrow) is None:
            return _unreadable(name)
    return ColumnError("no-arrow", "The frame cannot be converted to Arrow.")


def _unreadable(name: str) -> ColumnError:
    return ColumnError(
        "mixed-kinds",
        "Column '{column}' mixes kinds of values, such as text and numbers, or contains objects.",
        remedy="Convert it to one kind first, for example to text.",
        column=name,
    )


def of_rows(rows: Sequence[Mapping[str, Any]], library: str | None = None) -> Any:
    """Return rows as a frame of the named library; default: the first installed of pandas, Polars and Arrow.

    >>> of_rows([{"k": 5, "cost": 0.25}], "pyarrow").to_pydict()
    {'k': [5], 'cost': [0.25]}
    """
    names = list(dict.fromkeys(name for row in rows for name in row))
    return of_columns({name: [row.get(name) for row in rows] for name in names}, library)


def of_columns(columns: Mapping[str, Sequence[Any]], library: str | None = None) -> Any:
    """Return columns as a frame of the named library; default: the first installed of pandas, Polars and Arrow."""
    installed = next((name for name in ("pandas", "polars") if find_spec(name) is not None), "pyarrow")
    return to_frame(pa.table(dict(columns)), library or installed)


def to_frame(table: pa.Table, library: str) -> Any:
    """Return an Arrow table as a frame of the named library."""
    if library not in LIBRARIES:
        raise ReadError(
            "unknown-library",
            "'{library}' is not a supported dataframe library.",
            remedy=similar(library, LIBRARIES),
            library=library,
        )
    if library == "pyarrow":
        return table
    if find_spec(library) is None:
        raise ReadError(
            "not-installed", "{library} is not installed.", remedy="Run pip install {library}.", library=library
        )
    if library == "duckdb":
        import duckdb

        return duckdb.from_arrow(table)
    if library == "pandas":
        return _to_pandas(table)
    import narwhals as nw

    backend: Any = library
    return nw.from_arrow(table, backend=backend).to_native()


def _to_pandas(table: pa.Table) -> Any:
    """Return a pandas frame in which integers and Booleans with missing values keep their type."""
    import pandas as pd

    frame = table.to_pandas()
    nullable = {getattr(pa, name.lower())(): getattr(pd, f"{name}Dtype")() for name in _INTEGERS}
    nullable[pa.bool_()] = pd.BooleanDtype()
    for name in table.column_names:
        column = table.column(name)
        if column.null_count and column.type in nullable:
            frame[name] = column.to_pandas(types_mapper=nullable.get)
    return frame


_INTEGERS = ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")
