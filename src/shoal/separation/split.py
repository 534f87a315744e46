"""Split: release of a table in two parts that only numbers of buckets link."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.siphash import Words
from shoal.kernels.translation import Codes

Numbers: TypeAlias = NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class RowBuckets:
    """Buckets of distinct rows: the records of row r are in bucket ``of_row[r]``. The numbers are drawn later."""

    of_row: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class PlaceBuckets:
    """Buckets of places: each value of a person, or of a record if records are persons, has a place in one bucket.

    ``bucket`` maps the codes of the column and the words of the records to numbers below ``number``, which tell nothing
    about the order in which buckets were formed. ``codes[p]``, ``of_place[p]``: the value of place p, and its bucket.
    """

    number: int
    bucket: Callable[[Codes, Words], Codes]
    codes: Codes
    of_place: Codes


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Release of some ``columns`` in a second table, whose cells cannot be attributed to single records.

    Both tables contain the column ``link``, the number of a bucket. ``table``: the suffix of the name of the second
    table.
    """

    columns: tuple[str, ...]
    buckets: RowBuckets | PlaceBuckets
    table: str = "values"
    link: str = "bucket"
