"""Shown rows: the distinct rows of a table over its quasi-identifiers and sensitive columns, with their persons."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.classes.members import Counts, Members
from shoal.engines.protocol import DistinctRows
from shoal.kernels.compatibility import Persons
from shoal.kernels.grouping import group_rows
from shoal.kernels.summing import summed
from shoal.kernels.translation import Codes
from shoal.table.column import Column
from shoal.table.kind import Kind
from shoal.table.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """Distinct rows sorted by their quasi-identifiers, without suppressed records.

    ``counted``: the columns of the distinct rows. ``reference[name]``: the number of persons with each value of a
    sensitive column in the whole table, including suppressed records. ``suppressed``: the number of persons with
    records whose quasi-identifiers are all blank.
    """

    counted: tuple[str, ...]
    quasi: tuple[Column, ...]
    keys: tuple[Codes, ...]
    sensitive: tuple[Column, ...]
    codes: Mapping[str, Codes]
    reference: Mapping[str, Counts]
    members: Members
    records: int
    persons: int
    suppressed: int

    @classmethod
    def of(cls, table: Table, quasi: Sequence[str], sensitive: Sequence[str], *, combined: bool) -> "Shown":
        """Count the distinct rows of a table; ``combined``: treat all sensitive columns as one."""
        rows, members, persons = counted_rows(table, (*quasi, *sensitive))
        attributes = tuple(table[name] for name in quasi)
        columns = {name: (table[name], codes) for name, codes in zip(sensitive, rows.codes[len(quasi) :], strict=True)}
        if combined:
            together, codes = combination(list(columns.values()), len(rows))
            columns = {together.name: (together, codes)}
        reference = {
            name: members.merged(codes.astype(np.uint32), column.size).counts
            for name, (column, codes) in columns.items()
        }
        shown = cls(
            counted=(*quasi, *sensitive),
            quasi=attributes,
            keys=rows.codes[: len(quasi)],
            sensitive=tuple(column for column, _ in columns.values()),
            codes={name: codes for name, (_, codes) in columns.items()},
            reference=reference,
            members=members,
            records=table.records,
            persons=persons,
            suppressed=0,
        )
        visible = showing(rows, attributes)
        return shown if visible.all() else shown.only(visible)

    def only(self, visible: NDArray[np.bool_]) -> "Shown":
        """Keep the visible rows; persons with any other row are counted as suppressed."""
        places = np.flatnonzero(visible)
        return replace(
            self,
            keys=tuple(codes[places] for codes in self.keys),
            codes={name: codes[places] for name, codes in self.codes.items()},
            members=self.members.chosen(places),
            suppressed=self.suppressed + self.members.within(~visible),
        )


def counted_rows(table: Table, names: tuple[str, ...]) -> tuple[DistinctRows, Members, int]:
    """Return the distinct rows, the persons who have each row, and the total number of persons."""
    if table.subject is None:
        rows = table.distinct(names)
        return rows, Members(rows.counts), table.records
    if table.subject in names:
        return _rows_of_persons(table, names, table.subject)
    profiles = table.profiles(names)
    number, lengths = len(profiles.rows), np.diff(profiles.starts)
    persons = int(profiles.counts.sum())
    if (lengths == 1).all():
        return profiles.rows, Members(summed(profiles.members, profiles.counts, number)), persons
    holders = np.repeat(np.arange(len(profiles), dtype=np.uint32), lengths)
    return profiles.rows, Members.of(Persons(holders, profiles.members, profiles.counts), number), persons


def _rows_of_persons(table: Table, names: tuple[str, ...], subject: str) -> tuple[DistinctRows, Members, int]:
    """Return the distinct rows of each person, and the person of each row."""
    rows = table.distinct(names)
    holders = rows.codes[names.index(subject)].astype(np.uint32)
    persons = Persons(holders, np.arange(len(rows), dtype=np.uint32), np.ones(table[subject].size, np.int64))
    return rows, Members.of(persons, len(rows)), table.person_count


def combination(columns: Sequence[tuple[Column, Codes]], rows: int) -> tuple[Column, Codes]:
    """Combine several columns into one; its values are numbers that denote the combinations."""
    together = group_rows([codes for _, codes in columns], [column.size for column, _ in columns], rows)
    name = " + ".join(column.name for column, _ in columns)
    return Column(name, Kind.TEXT, pa.array(np.arange(len(together)).astype(str))), together.ids


def class_sizes(table: Table) -> Counts:
    """Return the number of records per equivalence class.

    Blank records form no class, unless all records are blank.
    """
    rows = table.distinct(table.quasi)
    return rows.counts[showing(rows, [table[name] for name in table.quasi])]


def showing(rows: DistinctRows, quasi: Sequence[Column]) -> NDArray[np.bool_]:
    """Return a mask of the rows with at least one value that is not blank.

    If all rows are blank, the table is fully generalised rather than suppressed, and all rows count as visible.
    """
    if any(column.suppressed_code is None for column in quasi):  # a column without blank values
        return np.ones(len(rows), bool)
    visible = np.zeros(len(rows), bool)
    for column, codes in zip(quasi, rows.codes, strict=False):
        visible |= codes != column.suppressed_code
    return visible if visible.any() else ~visible
