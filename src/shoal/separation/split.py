"""Split: release of a table in several parts that only numbers of buckets link."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.siphash import Words
from shoal.kernels.translation import Codes

Numbers: TypeAlias = NDArray[np.integer[Any]]
VALUES = "values"  # the name of the table with sensitive values
LINK = "bucket"  # the usual name of the column with the number of the bucket


@dataclass(frozen=True, slots=True, eq=False)
class RowBuckets:
    """Buckets of distinct rows: the records of row r are in bucket ``of_row[r]``. The numbers are drawn later."""

    of_row: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class RecordBuckets:
    """Buckets of records.

    ``bucket`` maps the codes of ``column`` and the words of the records to numbers below ``number``, which tell nothing
    about the order in which buckets were formed.
    """

    column: str
    number: int
    bucket: Callable[[Codes, Words], Codes]


@dataclass(frozen=True, slots=True, eq=False)
class PlaceBuckets(RecordBuckets):
    """Buckets of places: each value of a person, or of a record if records are persons, has a place in one bucket.

    ``codes[p]``, ``of_place[p]``: the value of place p, and its bucket.
    """

    codes: Codes
    of_place: Codes


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Release of some columns in tables of their own, whose cells cannot be attributed to single records.

    ``tables``: the columns of each further table, by the suffix of its name. All tables contain the column ``link``,
    the number of a bucket. ``notes``: notes for the owner.
    """

    tables: Mapping[str, tuple[str, ...]]
    buckets: RowBuckets | RecordBuckets
    link: str = LINK
    notes: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the first table does not have."""
        return tuple(name for names in self.tables.values() for name in names)
