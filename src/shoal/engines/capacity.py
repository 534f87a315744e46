"""Capacity: how many different rows this machine can hold, and whether a table will stay below that."""

import os
from dataclasses import dataclass

from shoal.errors import CapacityError

BYTES_PER_ROW = 48  # of a distinct row while it is counted: its slot, half of the next table, its codes in the end
SHARE = 0.5  # of the memory that distinct rows may take
_FALLBACK = 4 << 30


def memory() -> int:
    """Return how many bytes of memory this machine has; ``SHOAL_MEMORY`` says it otherwise."""
    given = os.environ.get("SHOAL_MEMORY", "")
    if given.isdecimal():
        return int(given)
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # pragma: no cover - not on Linux or macOS
        return _FALLBACK


def most_rows(columns: int) -> int:
    """Return how many different rows of so many columns can be held."""
    return int(SHARE * memory() / (BYTES_PER_ROW + 4 * columns))


@dataclass
class Watch:
    """Looks on while different rows are counted, and ends that early when it will come to too many.

    ``rows``: how many records there are in all. New rows come ever more rarely; that they go on coming as often as
    in the last block is the most that is to be expected.

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
        """Take note of one more block, and of how many different rows there are by now."""
        new, before = different - self._different, self._done
        self._done, self._different = before + records, different
        expected = different + round(new * (self.rows - self._done) / max(records, 1))
        too_soon = not before or different < self.most // 2
        if different > self.most or (expected > 3 * self.most and not too_soon):
            raise too_many(self._done / max(self.rows, 1), different, expected, self.most)


def too_many(share: float, different: int, expected: int, most: int) -> CapacityError:
    """Say that there are too many different rows, and what can be done."""
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
