"""Sparse histogram of sensitive values per class."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.classes.members import Counts, Ids
from shoal.table.column import Column


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """The values of one sensitive column that occur in each class.

    Entry i: ``counts[i]`` persons in class ``classes[i]`` have the value ``codes[i]``. Entries are sorted by class,
    then by code; the entries of class c are ``starts[c] : starts[c + 1]``, at least one per class. ``reference[code]``:
    the number of persons with a value in the whole table, including suppressed records.
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
        """Locate the first entry of each class; ``number``: the number of classes."""
        return cls(column, classes, codes, counts, np.searchsorted(classes, np.arange(number + 1)), reference)

    def totals(self) -> Counts:
        """Return the sum of counts per class: the class size, or more if persons have several values."""
        return self.summed(self.counts)

    def largest(self) -> Counts:
        """Return the count of the most frequent value per class."""
        return np.maximum.reduceat(self.counts, self.starts[:-1])

    def distinct(self) -> Counts:
        """Return the number of distinct values per class."""
        return np.diff(self.starts)

    def summed(self, numbers: NDArray[np.int64]) -> Counts:
        """Sum the numbers of the entries per class."""
        return np.add.reduceat(numbers, self.starts[:-1])

    def spread(self, numbers: NDArray[np.int64]) -> Counts:
        """Assign to every entry the number of its class."""
        return numbers[self.classes]
