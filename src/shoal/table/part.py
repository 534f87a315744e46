"""Parts: tables of several files that form one table, and the union of their columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from shoal.engines.disk import DiskEngine, Spool, Spooled
from shoal.engines.memory import MemoryEngine
from shoal.errors import ColumnError, ReadError
from shoal.kernels.translation import Codes, narrowest
from shoal.table.column import Column
from shoal.table.kind import Kind
from shoal.table.reading_note import united_notes
from shoal.table.table import Source, Table
from shoal.table.united import United


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Columns and their codes, either in memory or in the files of a spool."""

    columns: tuple[Column, ...]
    source: Source
    codes: Mapping[str, Codes] = field(default_factory=dict)
    spooled: Mapping[str, Spooled] = field(default_factory=dict)

    @classmethod
    def of(cls, table: Table, spool: Spool | None = None) -> "Part":
        """Create a part from a table; with a spool, the codes are stored there."""
        codes = {name: table.codes(name) for name in table.names}
        if spool is None:
            return cls(table.columns, table.source, codes)
        spooled = {name: spool.keep([codes_of], codes_of.dtype) for name, codes_of in codes.items()}
        return cls(table.columns, table.source, spooled=spooled)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)


def together(parts: Sequence[Part], spool: Spool | None = None) -> Table:
    """Concatenate the records of parts into one table."""
    united = {name: united_columns([_named(part, name) for part in parts]) for name in parts[0].names}
    columns = tuple(column.column for column in united.values())
    readings = united_notes(note for part in parts for note in part.source.readings)
    source = replace(parts[0].source, readings=readings)
    sizes = {column.name: column.size for column in columns}
    if spool is not None:
        spooled = {name: _translated(parts, name, column) for name, column in united.items()}
        return Table(columns, DiskEngine(spool, spooled, sizes), source=source)
    codes = {name: _joined(parts, name, column) for name, column in united.items()}
    rows = len(next(iter(codes.values()), ()))
    return Table(columns, MemoryEngine(codes, sizes, rows), source=source)


def united_columns(columns: Sequence[Column]) -> United:
    """Unite columns; a column without values takes the kind of the others."""
    if len(columns) == 1:
        return United(columns[0], (np.arange(columns[0].size).astype(narrowest(max(columns[0].size, 1))),))
    leading = next((column for column in columns if len(column.values)), columns[0])
    like = [
        column if len(column.values) else replace(column, kind=leading.kind, values=pa.array([], leading.values.type))
        for column in columns
    ]
    first = [column for column in like if column is leading]
    others = [column for column in like if column is not leading]
    united = United.of([*first, *others])
    return United(united.column, tuple(united.placed(column) for column in like))


def disagreeing(parts: Sequence[Part]) -> list[str]:
    """Return the columns whose kinds in the parts cannot be united."""
    return [name for name in parts[0].names if not _unite([_named(part, name) for part in parts])]


def check_same_names(parts: Sequence[Part], files: Sequence[str]) -> None:
    """Reject parts whose columns differ from those of the first part."""
    for part, file in zip(parts, files, strict=True):
        if set(part.names) != set(parts[0].names):
            raise other_columns(file, files[0])


def other_columns(file: str, first: str) -> ReadError:
    """Return the error for two files with different columns, which cannot form one table."""
    return ReadError(
        "different-columns",
        "'{file}' has other columns than '{first}'.",
        remedy="All files of a table must have the same column names.",
        file=file,
        first=first,
    )


def _unite(columns: Sequence[Column]) -> bool:
    kinds = {column.kind for column in columns if len(column.values)}
    if len(kinds) > 1 and kinds != {Kind.INTEGER, Kind.NUMBER}:
        return False
    try:
        united_columns(columns)
    except ColumnError:
        return False
    return True


def _named(part: Part, name: str) -> Column:
    return next(column for column in part.columns if column.name == name)


def _translated(parts: Sequence[Part], name: str, united: United) -> tuple[Spooled, ...]:
    alone = len(parts) == 1
    return tuple(
        part.spooled[name] if alone else replace(part.spooled[name], table=places)
        for part, places in zip(parts, united.places, strict=True)
    )


def _joined(parts: Sequence[Part], name: str, united: United) -> Codes:
    return np.concatenate([places[part.codes[name]] for part, places in zip(parts, united.places, strict=True)])
