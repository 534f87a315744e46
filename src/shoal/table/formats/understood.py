"""Columns of a text table, encoded by what their texts and their quotes mean."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from shoal.table.raw import Encoded


@dataclass(frozen=True, slots=True)
class Understood:
    """A column of inferred kind.

    ``as_text`` encodes it as text instead, if its points may separate thousands. ``as_dates`` encodes a quoted column
    as dates instead. ``ordinary``: whether it is text that needs no quotes, and yet is quoted.
    """

    encoded: Encoded
    commas: bool
    as_text: Callable[[], Encoded] | None
    as_dates: Callable[[], Encoded] | None = None
    ordinary: bool = False


def with_dates(columns: list[Understood]) -> list[Understood]:
    r"""Encode quoted dates as dates if the file also quotes ordinary text.

    Such a file quotes all that is no number, as R and SAS do. In other files, quotes mean that the column is text.

    >>> import shoal, tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write('"sex","born","age"\n"f","1958-05-17",66\n"m","1971-01-02",53\n')
    ...     file.flush()
    ...     [column.kind.value for column in shoal.read(file.name).columns]
    ['text', 'date', 'integer']
    """
    if not any(column.ordinary for column in columns):
        return columns
    return [column if column.as_dates is None else replace(column, encoded=column.as_dates()) for column in columns]


def needs_quotes(text: pa.Array, separator: str) -> bool:
    """Return whether text is empty somewhere, or contains a separator, a quote or the end of a line.

    >>> needs_quotes(pa.array(["A", "B"]), ","), needs_quotes(pa.array(["A, B", "C"]), ",")
    (False, True)
    """
    return bool(pc.any(pc.match_substring_regex(text, rf'^$|["\r\n{re.escape(separator)}]')).as_py())
