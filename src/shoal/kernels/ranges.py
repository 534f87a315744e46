"""Ranges: the concatenated positions of several ranges of a list."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.intp]


def expanded(starts: NDArray[np.integer[Any]], sizes: NDArray[np.integer[Any]]) -> tuple[Places, Places]:
    """Return the index i of each position, and the ``sizes[i]`` positions from ``starts[i]`` on, concatenated.

    >>> [part.tolist() for part in expanded(np.array([5, 0, 9]), np.array([2, 0, 3]))]
    [[0, 0, 2, 2, 2], [5, 6, 9, 10, 11]]
    """
    owner = np.repeat(np.arange(len(sizes)), sizes)
    among = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return owner, starts[owner] + among
