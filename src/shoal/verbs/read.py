"""``shoal.read``: a file, a database table or a frame as a table."""

from shoal.table.reading import read

__all__ = ["read"]
