"""What an engine delivers: distinct rows with counts, profiles of persons, and the way back to single rows.

Everything else in shoal works on these small tables, so a billion rows on a cluster and a thousand in a notebook
meet here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.translation import Codes


@dataclass(frozen=True, slots=True, eq=False)
class DistinctRows:
    """The different rows of a table under some columns, in ascending order of their codes.

    ``codes[j][d]``: the code of distinct row d in column j. ``counts[d]``: how many records share it.
    ``origin``: what the engine needs to get back to single records; nobody else looks at it.
    """

    columns: tuple[str, ...]
    codes: tuple[Codes, ...]
    counts: NDArray[np.int64]
    origin: Any = None

    def __len__(self) -> int:
        return len(self.counts)


@dataclass(frozen=True, slots=True, eq=False)
class Profiles:
    """Persons with the same set of distinct rows, collapsed to one profile with a count.

    ``counts[p]``: how many persons have profile p. Its distinct rows are
    ``members[starts[p] : starts[p + 1]]``, ascending. ``origin``: as with distinct rows.
    """

    rows: DistinctRows
    counts: NDArray[np.int64]
    starts: NDArray[np.int64]
    members: NDArray[np.uint32]
    origin: Any = None

    def __len__(self) -> int:
        return len(self.counts)


class Engine(Protocol):
    """Holds the rows of a table as codes, counts them, and hands them out in pieces."""

    @property
    def rows(self) -> int:
        """How many records there are."""
        ...

    def chunks(self, columns: Sequence[str], size: int) -> Iterator[tuple[Codes, ...]]:
        """Yield the codes of some columns, so many records at a time, in input order."""
        ...

    def distinct(self, columns: Sequence[str]) -> DistinctRows:
        """Return the different rows under these columns; with no column there is one row that all share."""
        ...

    def profiles(self, columns: Sequence[str], subject: str) -> Profiles:
        """Return the persons' profiles under these columns."""
        ...

    def expand(self, small: DistinctRows | Profiles, values: NDArray[Any]) -> NDArray[Any]:
        """Turn one value per distinct row, or per profile, into one per record, in input order."""
        ...
