"""Dataframes at the door: any that narwhals knows goes in, and the same kind comes out."""

from typing import Any

import pyarrow as pa

from shoal.errors import ColumnError, ReadError, did_you_mean, listed
from shoal.table.names import check_names

LIBRARIES = ("pandas", "polars", "pyarrow", "modin", "duckdb")

_UNREADABLE = (pa.ArrowException, TypeError, ValueError, OverflowError)


def to_arrow(frame: Any) -> tuple[pa.Table, str]:
    """Return the rows of a frame as an Arrow table, and the name of the library to hand back.

    A row index is no data: it is left behind, for in a release it would lead back to the source.
    """
    if isinstance(frame, dict):
        return _from_dict(frame), "pyarrow"
    wrapped = _wrapped(frame)
    library = wrapped.implementation.value
    if hasattr(wrapped, "collect"):
        wrapped = wrapped.collect("pyarrow")
    check_names(wrapped.columns)
    try:
        table = wrapped.to_arrow()
    except _UNREADABLE:
        raise _culprit(wrapped) from None
    return table.replace_schema_metadata(None), library if library in LIBRARIES else "pyarrow"


def _wrapped(frame: Any) -> Any:
    import narwhals as nw
    from narwhals.exceptions import NarwhalsError

    if not hasattr(frame, "collect"):
        check_names(_names(frame))
    try:
        return nw.maybe_reset_index(nw.from_native(frame))
    except (TypeError, NarwhalsError):
        raise ReadError(
            f"An object of type {type(frame).__name__} is no table.",
            hint="Give a file name or a dataframe (pandas, Polars, PyArrow, DuckDB, …).",
        ) from None


def _names(frame: Any) -> list[Any]:
    """Return the names before narwhals looks at them: its complaints would show them."""
    return list(frame.column_names if isinstance(frame, pa.Table) else getattr(frame, "columns", []))


def _from_dict(columns: dict[Any, Any]) -> pa.Table:
    check_names(list(columns))
    arrays = {}
    for name, cells in columns.items():
        try:
            arrays[name] = pa.array(cells)
        except _UNREADABLE:
            raise _unreadable(name) from None
    if len({len(array) for array in arrays.values()}) > 1:
        raise ReadError("The columns have different lengths.")
    return pa.table(arrays)


def _culprit(frame: Any) -> ColumnError:
    """Find the column that cannot be converted, and say so without its values."""
    for name in frame.columns:
        try:
            frame.select(name).to_arrow()
        except _UNREADABLE:
            return _unreadable(name)
    return ColumnError("The frame cannot be converted to Arrow.")


def _unreadable(name: str) -> ColumnError:
    return ColumnError(
        f"Column '{name}' mixes kinds of values (such as text and numbers), or holds what no column can.",
        hint="Convert it to one kind first, for example to text.",
    )


def to_frame(table: pa.Table, library: str) -> Any:
    """Return an Arrow table as a frame of the named library."""
    import narwhals as nw

    if library not in LIBRARIES:
        hint = did_you_mean(library, LIBRARIES) or f"Known are {listed(LIBRARIES)}."
        raise ReadError(f"'{library}' is no dataframe library that shoal hands back.", hint=hint)
    if library == "pyarrow":
        return table
    if library == "duckdb":
        import duckdb

        return duckdb.from_arrow(table)
    backend: Any = library
    return nw.from_arrow(table, backend=backend).to_native()
