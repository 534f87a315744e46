"""Common parts of SQL databases, imported only when one is used."""
