"""Writing: complete or not at all, and never over existing data unless requested."""

import errno
import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from shoal.errors import ShoalError, WriteError
from shoal.fileset import FileSet, is_full
from shoal.progress import Hook, silent
from shoal.table.column import SUPPRESSED, Column, as_text
from shoal.table.databases.database import Address, Stored, database_of, is_address
from shoal.table.formats.format import Format, format_of
from shoal.table.holder import Holder
from shoal.table.options import Written, check_separator
from shoal.table.table import Table
from shoal.words import listed


def write(  # noqa: PLR0913 - keyword-only options
    table: Table,
    path: str | Path | Address,
    *,
    format: str | None = None,  # noqa: A002
    force: bool = False,
    separator: str | None = None,
    excel_safe: bool = False,
    progress: Hook | None = None,
    check_written: Callable[[Path | Stored, Mapping[str, Any]], None] | None = None,
    files: FileSet | None = None,
) -> Path | str:
    """Write a table to a file or to the address of a database, and return the path or address.

    The suffix of a file determines its format unless ``format`` is given. A table that the format cannot represent is
    rejected before anything is written. ``force``: replace an existing file. ``excel_safe``: in CSV, put an apostrophe
    before text that a spreadsheet would execute as a formula. ``check_written``: function that inspects the file
    before it appears, given the file and the options to read it; if it raises an error, nothing is changed.
    ``files``: the set of files that appear together, to be completed by the caller. Files that the table was read from
    are never replaced.
    """
    if not isinstance(table, Table):
        raise WriteError(
            "not-a-table", "Only tables can be written.", remedy="Read the frame first: shoal.read(frame)."
        )
    if is_address(path):
        _check_options(format=format, separator=separator, excel_safe=excel_safe or None)
        return _write_stored(table, Address.parse(path), progress or silent, check_written, force=force)
    target = Path(str(path))
    chosen = format_of(target, format)
    if not chosen.writes or (format is None and not target.name.lower().endswith(chosen.writes)):
        instead = listed(chosen.writes or (".parquet", ".csv"))
        raise WriteError(
            "read-only-format",
            "Files like '{file}' can only be read.",
            remedy="Write {suffixes}.",
            file=target.name,
            suffixes=instead,
        )
    check(table, chosen)
    if separator is None and target.suffix.lower() in {".tsv", ".tab"}:
        separator = "\t"
    _check_separator(separator)
    details = {"separator": separator or ",", "encoding": "utf-8", "header": True} if chosen.name == "csv" else {}
    with nullcontext(files) if files is not None else FileSet(force=force, never=table.source.files) as together:
        beside = together.add(target)
        _put(table, beside, chosen, Written(separator, excel_safe), progress or silent)
        if check_written is not None:
            check_written(beside, {"format": chosen.name, **details})
    return target


def _put(table: Table, beside: Path, chosen: Format, how: Written, progress: Hook) -> None:
    """Write a file and verify its number of records, because some libraries do not notice a full disk."""
    try:
        chosen.write(table, beside, how, progress)
        there = chosen.count(beside)
    except (ShoalError, MemoryError, OSError):
        raise
    except Exception:  # noqa: BLE001 - a library error, whose message may quote values
        if is_full(beside.parent):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from None
        raise WriteError(
            "cannot-write",
            "The table could not be written as {format}, or not read again.",
            remedy="Parquet supports all tables.",
            format=chosen.name,
        ) from None
    if there is not None and there != table.records:
        raise OSError(errno.ENOSPC if is_full(beside.parent) else errno.EIO, "not all records could be written")


def _write_stored(
    table: Table,
    address: Address,
    progress: Hook,
    check_written: Callable[[Stored, Mapping[str, Any]], None] | None,
    *,
    force: bool,
) -> str:
    """Write a table to a database."""
    name = address.table or ""  # the address alone may identify the table

    def look(stored: Mapping[str, Stored]) -> None:
        if check_written is not None:
            check_written(stored[name], {})

    return write_stored({name: table}, address, force=force, progress=progress, check_written=look)[0]


def write_stored(
    tables: Mapping[str, Table],
    address: Address,
    *,
    force: bool = False,
    progress: Hook | None = None,
    check_written: Callable[[Mapping[str, Stored]], None] | None = None,
) -> list[str]:
    """Write tables to a database, all or none; ``check_written`` inspects them before they appear."""
    database = database_of(address)
    for table in tables.values():
        check(table, database)
    with database.replacing(address, tables, progress or silent, force=force) as stored:
        if check_written is not None:
            check_written(stored)
    return [f"{address}, table {name}" if name else str(address) for name in tables]


def _check_options(**given: object) -> None:
    for name, value in given.items():
        if value is not None:
            raise WriteError(
                "option-of-format", "The option '{option}' does not apply to database tables.", option=name
            )


def _check_separator(separator: str | None) -> None:
    try:
        check_separator(separator or ",")
    except ValueError as error:
        message = str(error)
    else:
        return
    raise WriteError("cannot-write", "The file cannot be written: {message}.", message=message)


def check(table: Table, chosen: Holder) -> None:
    """Reject a table that the format or database cannot represent; the error names the column and the reason."""
    if not table.columns:
        raise WriteError("no-columns", "A table without columns cannot be written.")
    reason = chosen.table_refusal(table)
    if reason:
        raise WriteError(
            "format-cannot-hold",
            "The table cannot be written as {format}: {reason}.",
            remedy="Parquet supports it.",
            format=chosen.name,
            reason=reason,
        )
    for column in table.columns:
        reason = _ambiguous(column) or chosen.refusal(column)
        if reason:
            remedy = "Rename these texts first." if _ambiguous(column) else "Parquet supports it."
            raise WriteError(
                "format-cannot-hold",
                "Column '{column}' cannot be written as {format}: {reason}.",
                remedy=remedy,
                column=column.name,
                format=chosen.name,
                reason=reason,
            )


def _ambiguous(column: Column) -> str | None:
    """Return a reason if ``*`` is both a text of the column and the mark of suppressed cells, otherwise None."""
    if column.suppressed and SUPPRESSED in as_text(column.values).to_pylist():
        return "it holds the text *, which stands for suppressed cells"
    return None
