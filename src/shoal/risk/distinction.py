"""Distinction and separation: the power of columns to distinguish persons (Motwani & Xu 2008)."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shoal.classes.classes import Classes


def distinction(classes: Classes) -> Fraction:
    """Return the number of classes divided by the number of persons: 1 if every person is unique.

    >>> import shoal
    >>> distinction(Classes.of(shoal.read({"age": [34, 34, 71, 80]}), ["age"]))
    Fraction(3, 4)
    """
    return Fraction(classes.number, int(classes.members.counts.sum()))


def separation(classes: Classes) -> Fraction:
    """Return the share of pairs of persons that are in different classes: 1 if every person is unique.

    >>> import shoal
    >>> separation(Classes.of(shoal.read({"age": [34, 34, 71, 80]}), ["age"]))
    Fraction(5, 6)
    """
    return separated(classes.sizes, classes.copies, int(classes.members.counts.sum()))


def separated(sizes: NDArray[np.int64], copies: NDArray[np.int64], persons: int) -> Fraction:
    """Return the separation of groups with the given sizes; ``copies``: the number of groups of each size.

    >>> separated(np.array([2, 1]), np.array([1, 2]), 4)
    Fraction(5, 6)
    """
    if persons < 2:
        return Fraction(1)
    sizes, place = np.unique(sizes, return_inverse=True)
    copies = np.bincount(place, weights=copies).astype(np.int64)
    together = sum(int(size) * (int(size) - 1) * int(n) for size, n in zip(sizes, copies, strict=True))
    return 1 - Fraction(together, persons * (persons - 1))
