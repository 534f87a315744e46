"""What is known of a table once it was read; the table itself is held by the project."""

from dataclasses import dataclass

import numpy as np

from shoal.sheet import Sheet
from shoal.table.table import Table
from shoal.words import counted, share


@dataclass(frozen=True, slots=True)
class Loaded:
    """How large the table is, its columns without a value of them, and what a reader should know."""

    records: int
    columns: int
    sheet: Sheet
    notes: tuple[str, ...]

    @classmethod
    def of(cls, table: Table) -> "Loaded":
        """Look at a table."""
        rows = []
        for column in table.columns:
            gaps = np.count_nonzero(table.codes(column.name) >= len(column.values))
            missing = share(gaps / table.records) if gaps else ""
            rows.append((column.name, str(column.kind), f"{len(column.values):,}", missing))
        title = f"{counted(table.records, 'record')} × {counted(len(rows), 'column')}"
        sheet = Sheet(title, ("column", "kind", "distinct values", "missing"), tuple(rows), words=2)
        return cls(table.records, len(rows), sheet, table.source.notes)
