"""Choosing: all sets of a given number of members of each of several lists."""

from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray


def sets_of(starts: NDArray[np.int64], number: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return all sets of ``number`` members of each list, and the list of each set.

    ``starts``: the members of list i are those from ``starts[i]`` to ``starts[i + 1]``. A row of the result holds the
    members of a set in ascending order; lists with fewer members have no set.

    >>> members, lists = sets_of(np.array([0, 3, 4, 6]), 2)
    >>> members.tolist(), lists.tolist()
    ([[4, 5], [0, 1], [0, 2], [1, 2]], [2, 0, 0, 0])
    """
    sizes = np.diff(starts)
    sets, owners = [np.empty((0, number), np.int64)], [np.empty(0, np.int64)]
    for size in np.unique(sizes[sizes >= number]):
        chosen = np.array(list(combinations(range(int(size)), number)), np.int64)
        who = np.flatnonzero(sizes == size)
        sets.append((starts[who][:, None, None] + chosen[None]).reshape(-1, number))
        owners.append(np.repeat(who, len(chosen)))
    return np.concatenate(sets), np.concatenate(owners)


def number_of_sets(sizes: NDArray[np.int64], number: int) -> int:
    """Return the number of sets of ``number`` members of lists of the given sizes, exactly.

    >>> number_of_sets(np.array([3, 1, 2]), 2)
    4
    """
    values, times = np.unique(sizes, return_counts=True)
    return sum(comb(int(size), number) * int(count) for size, count in zip(values, times, strict=True))
