"""Greedy separation: few columns that distinguish nearly all individuals, found in a sample of the records.

A set of columns separates two records that differ in at least one of the columns. Each step adds the column that
separates most of the remaining pairs. To find columns that separate all but a share ε of the pairs, a sample of the
order of columns / √ε records suffices, whatever the total number of records. Motwani & Xu 2008; Hildebrant et al. 2022.
"""

from collections.abc import Sequence
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

from shoal.identification.contribution import Key
from shoal.kernels.grouping import group
from shoal.kernels.subsets import Rows
from shoal.kernels.uniques import Uniques

EPSILON = 1e-5
_PER_COLUMN = 4  # sampled records per column, as a multiple of 1 / √ε


def separating(names: Sequence[str], rows: Rows, share: float = 0.9, *, seed: int = 0) -> Key | None:
    """Return greedily chosen columns that make at least ``share`` of all individuals unique.

    The result is None if all columns together do not.

    >>> import numpy as np
    >>> rows = Rows.of([np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([0, 0, 0, 1])], np.ones(4, np.int64))
    >>> separating(["a", "b", "c"], rows, 1.0).columns
    ('a', 'b')
    """
    size = min(len(rows), ceil(_PER_COLUMN * len(names) / sqrt(EPSILON)))
    chosen = np.sort(np.random.default_rng(seed).choice(len(rows), size, replace=False))
    order = _greedy([codes[chosen].astype(np.uint64) for codes in rows.columns])
    counts = Uniques(rows).in_order(order) / int(rows.weights.sum())
    enough = np.flatnonzero(counts >= share)
    if not len(enough):
        return None
    known = int(enough[0])
    return Key(tuple(names[place] for place in sorted(order[:known])), float(counts[known]))


def _greedy(columns: Sequence[NDArray[np.uint64]]) -> list[int]:
    """Order the columns greedily: each separates most of the pairs that the previous ones do not separate."""
    groups, order, left = np.zeros(len(columns[0]), np.uint64), list[int](), list(range(len(columns)))
    while left:
        tried = [group(groups * (columns[place].max() + np.uint64(1)) + columns[place]) for place in left]
        together = [int((rows.counts * (rows.counts - 1)).sum()) for rows in tried]
        best = int(np.argmin(together))
        order.append(left.pop(best))
        groups = tried[best].ids.astype(np.uint64)
        if not together[best]:
            return order + left
    return order
