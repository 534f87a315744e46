"""Recoding of two tables: an original, and a release of it from any source."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.errors import RecodingError
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.kernels.grouping import group_rows
from shoal.kernels.summing import summed
from shoal.kernels.translation import Codes, narrowest
from shoal.recoding.matching import Match
from shoal.recoding.nodes import Domain, Fate, Floats, Ints
from shoal.recoding.placing import Remark, place
from shoal.recoding.recoding import Recoded, Recoding
from shoal.table.column import Column
from shoal.table.kind import Kind
from shoal.table.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Related:
    """A recoding, with remarks on texts that could not be interpreted, or not as they are written."""

    recoding: Recoding
    remarks: tuple[Remark, ...]


def relate(  # noqa: PLR0913, PLR0917 - two tables and their match
    original: Table,
    release: Table,
    columns: Sequence[str],
    quasi: Sequence[str],
    match: Match,
    hierarchies: Mapping[str, Hierarchy],
    represented: Collection[str] = (),
) -> Related:
    """Return the recoding of every original record. ``represented``: the columns with representative values, if known.

    >>> import shoal
    >>> from shoal.recoding.matching import match
    >>> before, after = shoal.read({"age": [31, 34, 71]}), shoal.read({"age": ["30-39", "30-39", "old"]})
    >>> related = relate(before, after, ["age"], ["age"], match(before, after), {})
    >>> related.recoding["age"].nodes.labels, related.remarks[0].texts
    (('*', '*', '30-39', 'old'), ('old',))
    """
    if not original.records:
        raise RecodingError("no-records", "The original has no records.")
    codes, shown, counts, of_record = _rows(original, release, columns, match)
    persons = _Persons.of(original, release, quasi, match)
    placed = [
        place(
            Domain.of(original[name], hierarchies.get(name)),
            released(release, name),
            None if codes is None else codes[at],
            shown[at],
            counts,
            original.counts(name) if codes is None else summed(codes[at], counts, original[name].size),
            persons=None if persons is None or of_record is None else persons.of_row(name, of_record),
            represented=name in represented,
        )
        for at, name in enumerate(columns)
    ]
    recoding = whole([placed_column.recoded for placed_column in placed], quasi, counts)
    sizes = original.distinct(quasi).counts if codes is None else None
    recoding = replace(recoding, matched=codes is not None, known_sizes=sizes, of_record=of_record)
    return Related(recoding, tuple(remark for placed_column in placed for remark in placed_column.remarks))


def whole(
    columns: Sequence[Recoded], quasi: Sequence[str], counts: Ints, *, told_apart: tuple[str, ...] = ()
) -> Recoding:
    """Combine columns into a recoding, and determine the suppressed rows."""
    recoded = {column.name: column for column in columns}
    suppressed = _suppressed([recoded[name] for name in quasi])
    return Recoding(tuple(columns), tuple(quasi), counts, suppressed, told_apart=told_apart)


def released(release: Table, name: str) -> Column:
    """Return a column of the release; an empty column if the release does not contain it."""
    return release[name] if name in release else Column(name, Kind.TEXT, pa.array([], pa.string()))


def _rows(
    original: Table, release: Table, columns: Sequence[str], match: Match
) -> tuple[list[Codes] | None, list[Codes], NDArray[np.int64], NDArray[np.uint32] | None]:
    """Return the distinct rows: original codes, released codes, number of records, and the row of each record.

    Without a match, the original codes and the rows of records are None.
    """
    widths = [released(release, name).size + 1 for name in columns]
    if match.rows is None:
        there = [name for name in columns if name in release]
        rows = release.distinct(there)
        by_name = dict(zip(there, rows.codes, strict=True))
        nothing = np.zeros(len(rows), np.uint8)
        shown = [_with_last(by_name.get(name, nothing), width) for name, width in zip(columns, widths, strict=True)]
        return None, shown, np.append(rows.counts, max(original.records - release.records, 0)), None
    was = [original.codes(name) for name in columns]
    now = [_taken(release, name, match.rows, width) for name, width in zip(columns, widths, strict=True)]
    widths = [*(original[name].size for name in columns), *widths]
    groups = group_rows([*was, *now], widths, original.records)
    first = groups.first
    return [codes[first] for codes in was], [codes[first] for codes in now], groups.counts, groups.ids


@dataclass(frozen=True, slots=True, eq=False)
class _Persons:
    """The persons of the records, if persons have several. ``quasi_row``: the distinct row of each record."""

    original: Table
    release: Table
    subject: Codes
    quasi_row: NDArray[np.uint32]
    match: NDArray[np.int64]

    @classmethod
    def of(cls, original: Table, release: Table, quasi: Sequence[str], match: Match) -> "_Persons | None":
        """Return the persons; None if each record is one, or if records are not matched."""
        if original.subject is None or match.rows is None:
            return None
        codes, sizes = [original.codes(name) for name in quasi], [original[name].size for name in quasi]
        rows = group_rows(codes, sizes, original.records).ids
        return cls(original, release, original.codes(original.subject), rows, match.rows)

    def of_row(self, name: str, of_record: NDArray[np.uint32]) -> Floats | None:
        """Return the number of persons in each row, for a column of numbers; ``of_record``: the row of each record.

        A person counts once among the rows that show the same, with equal shares of those that have a value.
        """
        column = self.original[name]
        if not (column.kind.numeric or column.kind in {Kind.DATE, Kind.DATETIME}):
            return None
        width = released(self.release, name).size + 1
        there = np.flatnonzero(self.original.codes(name) < len(column.values))
        keys = [self.subject[there], _taken(self.release, name, self.match, width)[there], self.quasi_row[there]]
        sizes = [int(self.subject.max(initial=0)) + 1, width, int(self.quasi_row.max(initial=0)) + 1]
        once = group_rows(keys, sizes, len(there)).first
        alike = group_rows([key[once] for key in keys[:2]], sizes[:2], len(once))
        weights = 1 / alike.counts[alike.ids]
        return np.asarray(np.bincount(of_record[there[once]], weights, int(of_record.max(initial=0)) + 1), np.float64)


def _taken(release: Table, name: str, rows: NDArray[np.int64], width: int) -> Codes:
    """Return the released code of each original record; the last code for records that are not released."""
    if name not in release:
        return np.zeros(len(rows), np.uint8)
    taken: Codes = _with_last(release.codes(name), width)[rows]  # −1 selects the last code
    return taken


def _with_last(codes: Codes, width: int) -> Codes:
    """Append the code for records that are not released."""
    return np.append(codes, width - 1).astype(narrowest(width))


def _suppressed(quasi: Sequence[Recoded]) -> NDArray[np.bool_]:
    """Return whether each row is not released or suppressed in all quasi-identifiers.

    If all rows are blank, the columns were generalised to the highest level, and only rows not released are suppressed.
    """
    gone: NDArray[np.bool_] = np.all([column.shown == column.width - 1 for column in quasi], axis=0)
    blank: NDArray[np.bool_] = np.all([column.nodes.fates[column.at] == Fate.SUPPRESSED for column in quasi], axis=0)
    return gone if blank.all() and not gone.all() else gone | blank
