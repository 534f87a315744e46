"""Place of an error: the table of a dataset that caused it."""

from collections.abc import Iterator
from contextlib import contextmanager

from shoal.errors import Cancelled, ShoalError


@contextmanager
def of_table(name: str) -> Iterator[None]:
    """Add the name of a table to the errors that it causes."""
    try:
        yield
    except Cancelled:
        raise
    except ShoalError as error:
        failure = error
    else:
        return
    raise failure.within("Table '{table}': ", table=name) from None
