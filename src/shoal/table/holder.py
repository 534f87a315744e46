"""Holders: file formats and databases that tables are written to, and their limitations."""

from typing import ClassVar

from shoal.table.column import Column
from shoal.table.table import Table


class Holder:
    """A file format or a database. Values must be equal after writing and reading back."""

    name: ClassVar[str]

    def refusal(self, column: Column) -> str | None:
        """Return the reason why the values of a column could not be read back unchanged, or None."""
        del column
        return None

    def table_refusal(self, table: Table) -> str | None:
        """Return the reason why a table of this shape cannot be stored, or None."""
        del table
        return None
