"""Summary of an imported table. The table itself is held by the project."""

from dataclasses import dataclass

import numpy as np

from shoal.sheet import Sheet
from shoal.table.table import Table
from shoal.words import counted, share


@dataclass(frozen=True, slots=True)
class Loaded:
    """Size of the table, description of its columns (without any value), and import notes."""

    records: int
    columns: int
    sheet: Sheet
    notes: tuple[str, ...]

    @classmethod
    def of(cls, table: Table) -> "Loaded":
        """Summarise a table."""
        rows = []
        for column in table.columns:
            gaps = np.count_nonzero(table.codes(column.name) >= len(column.values))
            missing = share(gaps / table.records) if gaps else ""
            rows.append((column.name, str(column.kind), f"{len(column.values):,}", missing))
        title = f"{counted(table.records, 'record')} × {counted(len(rows), 'column')}"
        sheet = Sheet(title, ("column", "kind", "distinct values", "missing"), tuple(rows), words=2)
        return cls(table.records, len(rows), sheet, table.source.notes)
