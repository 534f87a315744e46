"""Disclosure: which numbers of persons are not to be told, for they are small or give a small one away."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

USUAL = 11  # persons that are told of at least, where no k is required


def hides(number: int, least: int) -> bool:
    """Tell whether a number of persons is not to be told; none at all may be.

    >>> hides(3, 11), hides(0, 11), hides(11, 11)
    (True, False, False)
    """
    return 0 < number < least


def hidden(counts: Sequence[int] | NDArray[np.integer], least: int) -> NDArray[np.bool_]:
    """Tell which of some numbers, whose sum is known, are not to be told.

    If what is hidden were fewer persons in total than may be told, the sum would give it away: then the smallest of the
    others is hidden, too.

    >>> hidden([50, 3, 20, 0], 11).tolist()
    [False, True, True, False]
    """
    held = np.asarray(counts, np.int64)
    small = (held > 0) & (held < least)
    if small.any() and held[small].sum() < least and (others := np.flatnonzero((held > 0) & ~small)).size:
        small[others[np.argmin(held[others])]] = True
    return np.asarray(small)


def coarse(share: float, persons: int, least: int) -> float:
    """Return a share so coarse that fewer of the persons than may be told do not show in it.

    >>> coarse(0.0025, 400, 5), coarse(0.314159, 400, 5)
    (0.0, 0.3125)
    """
    step = max(0.01, least / max(persons, 1))
    return math.floor(share / step) * step
