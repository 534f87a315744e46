"""Dataframes at the door: any that narwhals knows goes in, and the same kind comes out."""

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
    """Return the rows of a frame as an Arrow table, and the name of the library to hand back.

    A row index without a name is no data: it is left behind, for in a release it would lead back to the source.
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
    """Return what an action returns, or None if it fails: the error is dropped, for it may quote values."""
    with suppress(Exception):
        return action()
    return None


def _with_named_index(frame: Any) -> Any:
    """Make an index that has names a part of the data; pandas users keep identifiers there."""
    names = getattr(getattr(frame, "index", None), "names", None)
    if not names or all(name is None for name in names) or not hasattr(frame, "reset_index"):
        return frame
    named = [place for place, name in enumerate(names) if name is not None]
    check_names([*(names[place] for place in named), *frame.columns])
    return frame.reset_index(level=named)


def _without_index(table: pa.Table) -> list[str]:
    """Return the columns without those that pandas writes for a row index without a name."""
    return without_index(table.column_names) if b"pandas" in (table.schema.metadata or {}) else table.column_names


def _check_objects(frame: Any) -> None:
    """Refuse columns of Python objects in which days and moments, or moments with and without a zone, are mixed."""
    for name, dtype in zip(frame.columns, frame.dtypes, strict=True):
        if str(dtype) == "object" and _mixes_times(frame[name].to_list()):
            raise _unreadable(name)


def _mixes_times(cells: Iterable[Any]) -> bool:
    """Tell whether Arrow would cut times off, or shift them, to make one kind of them."""
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
    """Return the names before narwhals looks at them: its complaints would show them."""
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
    """Find the column that cannot be converted, and say so without its values."""
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
    """Return rows as a frame: of the named library, or of the first that is installed of pandas, Polars and Arrow.

    >>> of_rows([{"k": 5, "cost": 0.25}], "pyarrow").to_pydict()
    {'k': [5], 'cost': [0.25]}
    """
    names = list(dict.fromkeys(name for row in rows for name in row))
    return of_columns({name: [row.get(name) for row in rows] for name in names}, library)


def of_columns(columns: Mapping[str, Sequence[Any]], library: str | None = None) -> Any:
    """Return columns as a frame: of the named library, or of the first that is installed."""
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
    """Return a pandas frame in which integers and booleans with gaps stay what they are."""
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
