"""``shoal.write``: a table as a file or a database table."""

from shoal.table.writing import write

__all__ = ["write"]
