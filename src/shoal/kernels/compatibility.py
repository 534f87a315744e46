"""Compatibility: the number of persons who could be behind a row, if a missing value may be any value.

Two rows are compatible if they agree in every column in which neither value is missing. Compatibility is not
transitive, hence no equivalence relation: a row can be compatible with two rows that are incompatible with each other.
Rows with the same columns missing are processed together, so the cost grows with the number of pairs of such patterns.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.grouping import group_rows
from shoal.kernels.ranges import expanded
from shoal.kernels.translation import Codes

CHUNK = 1 << 12  # rows processed at a time


@dataclass(frozen=True, slots=True, eq=False)
class Persons:
    """The persons behind each row: ``holders[i]`` has ``rows[i]`` and stands for ``weights[holders[i]]`` persons."""

    holders: NDArray[np.uint32]
    rows: NDArray[np.uint32]
    weights: NDArray[np.int64]


def compatible(
    columns: Sequence[Codes], sizes: Sequence[int], missing: NDArray[np.bool_], persons: Persons
) -> NDArray[np.int64]:
    """Return, per row, the number of distinct persons with a compatible row.

    ``missing[j, i]``: whether row i has a missing value in column j.

    >>> import numpy as np
    >>> age = np.array([0, 1, 2], np.uint8)  # 2: missing
    >>> everybody = Persons(np.arange(3, dtype=np.uint32), np.arange(3, dtype=np.uint32), np.array([4, 1, 1]))
    >>> compatible([age], [3], np.array([[False, False, True]]), everybody).tolist()
    [5, 2, 6]
    """
    rows = missing.shape[1]
    patterns = group_rows([column.astype(np.uint8) for column in missing], [2] * len(columns), rows)
    counts = np.zeros(rows, np.int64)
    for first in patterns.first:
        alike = np.flatnonzero(patterns.ids == patterns.ids[first])
        for start in range(0, len(alike), CHUNK):
            chunk = alike[start : start + CHUNK]
            counts[chunk] = _persons_for(chunk, columns, sizes, missing, patterns.ids, patterns.first, persons)
    return counts


def _persons_for(  # noqa: PLR0913, PLR0917 - one step of the loop above
    chunk: NDArray[np.intp],
    columns: Sequence[Codes],
    sizes: Sequence[int],
    missing: NDArray[np.bool_],
    pattern: NDArray[np.uint32],
    examples: NDArray[np.int64],
    persons: Persons,
) -> NDArray[np.int64]:
    """Count the persons compatible with each of several rows that have the same columns missing."""
    pairs = [
        (*_matches(chunk, persons.rows[shown], [columns[j] for j in known], [sizes[j] for j in known]), shown)
        for shown, known in _against(chunk[0], missing, pattern, examples, persons)
    ]
    targets = np.concatenate([target for target, _, _ in pairs])
    holders = persons.holders[np.concatenate([shown[place] for _, place, shown in pairs])]
    distinct = group_rows([targets, holders], [len(chunk), len(persons.weights)], len(targets)).first
    weights = persons.weights[holders[distinct]]
    return np.bincount(targets[distinct], weights=weights, minlength=len(chunk)).astype(np.int64)


def _against(
    row: np.intp, missing: NDArray[np.bool_], pattern: NDArray[np.uint32], examples: NDArray[np.int64], persons: Persons
) -> Iterator[tuple[NDArray[np.intp], list[int]]]:
    """Yield, per missing-value pattern, the holders of its rows and the columns known in both patterns."""
    for other in examples:
        shown = np.flatnonzero(pattern[persons.rows] == pattern[other])
        yield shown, np.flatnonzero(~(missing[:, row] | missing[:, other])).tolist()


def _matches(
    targets: NDArray[np.intp], rows: NDArray[np.uint32], columns: Sequence[Codes], sizes: Sequence[int]
) -> tuple[NDArray[np.uint32], NDArray[np.intp]]:
    """Return all pairs (place in targets, place in rows) that agree in the columns."""
    both = [np.concatenate([column[targets], column[rows]]) for column in columns]
    ids = group_rows(both, sizes, len(targets) + len(rows)).ids
    order = np.argsort(ids[len(targets) :], kind="stable")
    theirs = ids[len(targets) :][order]
    begin, end = (np.searchsorted(theirs, ids[: len(targets)], side) for side in ("left", "right"))
    target, place = expanded(begin, end - begin)
    return target.astype(np.uint32), order[place]
