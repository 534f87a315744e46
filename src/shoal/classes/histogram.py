"""Histogram: how often each sensitive value occurs in each class, in sparse form."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.classes.members import Counts, Ids
from shoal.table.column import Column


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """The values of one sensitive column in each class, as far as they occur.

    Entry i: in class ``classes[i]``, ``counts[i]`` persons have the value ``codes[i]``. Entries are sorted by class,
    then by code; those of class c are ``starts[c] : starts[c + 1]``, and there is at least one. ``reference[code]``:
    how many persons have a value in the whole table, suppressed records included.
    """

    column: Column
    classes: Ids
    codes: Ids
    counts: Counts
    starts: NDArray[np.int64]
    reference: Counts

    @classmethod
    def of(  # noqa: PLR0913, PLR0917 - the fields
        cls, column: Column, classes: Ids, codes: Ids, counts: Counts, number: int, reference: Counts
    ) -> "Histogram":
        """Find where the entries of each of so many classes start."""
        return cls(column, classes, codes, counts, np.searchsorted(classes, np.arange(number + 1)), reference)

    def totals(self) -> Counts:
        """Return the sum of the counts of each class: its persons, or more if some have several values."""
        return self.summed(self.counts)

    def largest(self) -> Counts:
        """Return the count of the most frequent value of each class."""
        return np.maximum.reduceat(self.counts, self.starts[:-1])

    def distinct(self) -> Counts:
        """Return how many different values each class has."""
        return np.diff(self.starts)

    def summed(self, numbers: NDArray[np.int64]) -> Counts:
        """Add up one number per entry by class."""
        return np.add.reduceat(numbers, self.starts[:-1])

    def spread(self, numbers: NDArray[np.int64]) -> Counts:
        """Give every entry the number of its class."""
        return numbers[self.classes]
