"""Capacity: the number of distinct rows that fit into memory, and an early check whether a table stays below it."""

import os
from dataclasses import dataclass

from shoal.errors import CapacityError

BYTES_PER_ROW = 48  # per distinct row during counting: its slot, half of the next table, its final codes
SHARE = 0.5  # maximum share of the memory for distinct rows
_FALLBACK = 4 << 30


def memory() -> int:
    """Return the memory of this machine in bytes; the variable ``SHOAL_MEMORY`` overrides it."""
    given = os.environ.get("SHOAL_MEMORY", "")
    if given.isdecimal():
        return int(given)
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # pragma: no cover - not on Linux or macOS
        return _FALLBACK


def most_rows(columns: int) -> int:
    """Return the number of distinct rows with ``columns`` columns that fit into memory."""
    return int(SHARE * memory() / (BYTES_PER_ROW + 4 * columns))


@dataclass
class Watch:
    """Check of the number of distinct rows during counting, which stops early if there will be too many.

    ``rows``: the total number of records. New distinct rows become rarer over time, so the rate of the last block gives
    an upper bound on the number that is still to be expected.

    >>> watch = Watch(1000, columns=2, most=100)
    >>> watch.seen(100, 60)
    >>> watch.seen(100, 90)
    Traceback (most recent call last):
      ...
    shoal.errors.CapacityError: After 20% of the records there are 90 distinct combinations, ...
    """

    rows: int
    columns: int
    most: int = 0
    _done: int = 0
    _different: int = 0

    def __post_init__(self) -> None:
        self.most = self.most or most_rows(self.columns)

    def seen(self, records: int, different: int) -> None:
        """Record one more block, and the number of distinct rows so far."""
        new, before = different - self._different, self._done
        self._done, self._different = before + records, different
        expected = different + round(new * (self.rows - self._done) / max(records, 1))
        too_soon = not before or different < self.most // 2
        if different > self.most or (expected > 3 * self.most and not too_soon):
            raise too_many(self._done / max(self.rows, 1), different, expected, self.most)


def too_many(share: float, different: int, expected: int, most: int) -> CapacityError:
    """Return the error for too many distinct rows, with its remedy."""
    return CapacityError(
        "too-many-combinations",
        "After {share:share} of the records there are {different:,} distinct combinations, and up to {expected:,} "
        "are expected. This machine can hold {most:,} in memory.",
        remedy="Generalise a column beforehand (a date to a year, a number rounded), omit a column, take a sample of "
        "the individuals, or use a machine with more memory.",
        share=share,
        different=different,
        expected=expected,
        most=most,
    )
