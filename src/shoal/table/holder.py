"""Holders: what tables are written to, and what it cannot hold."""

from typing import ClassVar

from shoal.table.column import Column
from shoal.table.table import Table


class Holder:
    """A file format or a database; equal values must come back from it."""

    name: ClassVar[str]

    def refusal(self, column: Column) -> str | None:
        """Say why a column cannot be held so that equal values come back, or None if it can."""
        del column
        return None

    def table_refusal(self, table: Table) -> str | None:
        """Say why a table of this shape cannot be held, or None if it can."""
        del table
        return None
