"""Counting over all subsets of columns: how many rows agree with each row, whatever part of it is known.

Subsets are written as bits: column j is in subset A if bit j of A is set. One more column splits the groups of rows
that agreed so far, so each subset costs one pass, and all share their beginnings.
"""

import ctypes
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shoal.kernels import library
from shoal.kernels.grouping import group_rows
from shoal.kernels.translation import Codes

MOST = 24  # columns; beyond, the counts of all subsets do not fit into memory anyway


def memory(rows: int, columns: int) -> int:
    """Return how many bytes the counts of all subsets take.

    >>> memory(19_502, 9)
    39940096
    """
    return 4 * rows << columns


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows, and whose they are.

    ``columns[j][i]``: the code of row i in column j. Row i belongs to ``holders[i]``, who stands for
    ``weights[holders[i]]`` persons. ``apart[j]``: the code in column j that matches nothing, if there is one.
    """

    columns: tuple[Codes, ...]
    holders: NDArray[np.uint32]
    weights: NDArray[np.int64]
    apart: tuple[int | None, ...] = ()

    @classmethod
    def of(cls, columns: Sequence[Codes], weights: NDArray[np.int64]) -> "Rows":
        """Take rows of which each belongs to persons of its own."""
        return cls(tuple(columns), np.arange(len(weights), dtype=np.uint32), weights)

    def __len__(self) -> int:
        return len(self.holders)

    def lacking(self, subset: int) -> NDArray[np.bool_]:
        """Tell which rows have, in a column of a subset, a value that matches nothing."""
        lacking = np.zeros(len(self), bool)
        for place, code in enumerate(self.apart):
            if code is not None and subset >> place & 1:
                lacking |= self.columns[place] == code
        return lacking


def subset_counts(rows: Rows, threads: int = 1) -> NDArray[np.uint32]:
    """Return ``counts[A, i]``: how many persons have a row that agrees with row i in every column of subset A.

    >>> import numpy as np
    >>> age, sex = np.array([30, 30, 40], np.uint8), np.array([0, 1, 1], np.uint8)
    >>> subset_counts(Rows.of([age, sex], np.array([5, 1, 1]))).tolist()
    [[7, 7, 7], [6, 6, 1], [5, 2, 2], [5, 1, 1]]
    """
    number = len(rows.columns)
    if number > MOST:
        raise ValueError(f"at most {MOST} columns")
    everybody = int(rows.weights[np.unique(rows.holders)].sum())
    if everybody >= 1 << 32:
        raise ValueError("more persons than a count of 32 bits can hold")
    counts = np.empty((1 << number, len(rows)), np.uint32)
    counts[0] = everybody
    native = library.core()
    if native is None:
        _counts_numpy(rows, counts)
    elif len(rows) and number:
        _counts_native(native, rows, counts, threads)
    _stand_alone(rows, counts)
    return counts


def _stand_alone(rows: Rows, counts: NDArray[np.uint32]) -> None:
    """Make rows with a value that matches nothing stand alone: a holder's persons do not even match each other."""
    lacking = np.zeros(len(rows), np.int64)
    for place, code in enumerate(rows.apart):
        if code is not None:
            lacking |= (rows.columns[place] == code).astype(np.int64) << place
    subsets = np.arange(len(counts))
    for pattern in np.unique(lacking[lacking > 0]):
        counts[np.ix_(subsets[(subsets & pattern) > 0], np.flatnonzero(lacking == pattern))] = 1


def agreeing(rows: Rows, subset: int) -> NDArray[np.uint32]:
    """Return how many persons have a row that agrees with each row in every column of one subset.

    >>> import numpy as np
    >>> agreeing(Rows.of([np.array([30, 30, 40], np.uint8)], np.array([5, 1, 1])), 1).tolist()
    [6, 6, 1]
    """
    held = [_without_matches(rows, place) for place in range(len(rows.columns)) if subset >> place & 1]
    groups = group_rows(held, [int(column.max(initial=0)) + 1 for column in held], len(rows))
    once = group_rows([groups.ids, rows.holders], [len(groups), len(rows.weights)], len(rows)).first
    persons = np.bincount(groups.ids[once], weights=rows.weights[rows.holders[once]])[groups.ids].astype(np.uint32)
    persons[rows.lacking(subset)] = 1
    return persons


def _counts_numpy(rows: Rows, counts: NDArray[np.uint32]) -> None:
    for subset in range(1, len(counts)):
        counts[subset] = agreeing(rows, subset)


def _without_matches(rows: Rows, place: int) -> Codes:
    """Give every row whose value matches nothing a code of its own."""
    column: Codes = rows.columns[place].astype(np.uint32)
    apart = rows.apart[place] if rows.apart else None
    if apart is None:
        return column
    alone = np.flatnonzero(column == apart)
    column[alone] = int(column.max()) + 1 + np.arange(len(alone), dtype=np.uint32)
    return column


def _counts_native(native: ctypes.CDLL, rows: Rows, counts: NDArray[np.uint32], threads: int) -> None:
    codes = np.stack([column.astype(np.uint32) for column in rows.columns])
    number, size = len(rows.columns), int(codes.max()) + 1
    apart = np.array([size if code is None else code for code in rows.apart or [None] * number], np.uint32)
    holders, weights = np.ascontiguousarray(rows.holders, np.uint32), rows.weights.astype(np.uint32)
    given = [array.ctypes.data for array in (codes, apart, holders, weights)]

    def run(begin: int, end: int) -> None:
        levels = np.empty(2 * (number + 1) * (len(rows) + 1), np.uint32)
        tally, seen = np.zeros(size, np.uint32), np.empty(size, np.uint32)
        counted = np.zeros(max(len(rows), len(weights)), np.uint32)
        room = [array.ctypes.data for array in (counts, levels, tally, seen, counted)]
        native.shoal_subset_counts(*given, len(rows), number, begin, end, *room)

    # Half of all subsets have the first column, half of the others the second, …: two threads share them evenly so.
    parts = [(0, number)] if threads < 2 else [(0, 1), (1, number)]
    with ThreadPoolExecutor(len(parts)) as pool:
        list(pool.map(lambda part: run(*part), parts))


def largest_share(
    counts: NDArray[np.uint32], sensitive: int, subsets: NDArray[np.uint32], rows: NDArray[np.uint32]
) -> NDArray[np.uint32]:
    """Return, for some rows, the subset A of a list with the largest ``counts[A ∪ sensitive] / counts[A]``.

    ``sensitive``: the column. None of the subsets may hold it. Of several such subsets, the first in the list.

    >>> import numpy as np
    >>> counts = subset_counts(Rows.of([np.array([0, 0, 1]), np.array([0, 1, 1])], np.array([5, 1, 1])))
    >>> largest_share(counts, 1, np.array([0, 1], np.uint32), np.arange(3, dtype=np.uint32)).tolist()
    [1, 0, 1]
    """
    best = np.zeros(len(rows), np.uint32)
    bit, native = 1 << sensitive, library.core()
    if native is None:
        shares = np.zeros(len(rows))
        for subset in subsets:
            share = counts[subset | bit][rows] / counts[subset][rows]
            best, shares = np.where(share > shares, subset, best), np.maximum(share, shares)
        return best.astype(np.uint32)
    rows, subsets = np.ascontiguousarray(rows, np.uint32), np.ascontiguousarray(subsets, np.uint32)
    native.shoal_subset_largest(
        counts.ctypes.data,
        counts.shape[1],
        rows.ctypes.data,
        len(rows),
        subsets.ctypes.data,
        len(subsets),
        bit,
        best.ctypes.data,
    )
    return best


NONE = 255  # the size of the smallest breach, where there is none


@dataclass(frozen=True, slots=True, eq=False)
class Breaches:
    """What breaches, for each row: ``subsets`` do, of which ``minimal`` have no smaller one inside.

    ``smallest``: the size of the smallest, or ``NONE``.
    """

    subsets: NDArray[np.uint32]
    minimal: NDArray[np.uint32]
    smallest: NDArray[np.uint8]


def breaches(  # noqa: PLR0913 - keyword-only options
    counts: NDArray[np.uint32],
    sensitive: int,
    known: int,
    rows: NDArray[np.uint32],
    *,
    p: Fraction = Fraction(0),
    most: int | None = None,
    empty: bool = False,
) -> Breaches:
    """Find, for some rows, the subsets A of the known columns with ``1 − counts[A ∪ sensitive] / counts[A] ≤ p``.

    >>> import numpy as np
    >>> counts = subset_counts(Rows.of([np.array([0, 0, 1]), np.array([0, 1, 1])], np.array([5, 1, 1])))
    >>> breaches(counts, 1, 0b01, np.arange(3, dtype=np.uint32)).smallest.tolist()
    [255, 255, 1]
    """
    number, columns = len(rows), int(counts.shape[0]).bit_length() - 1
    found = Breaches(np.zeros(number, np.uint32), np.zeros(number, np.uint32), np.full(number, NONE, np.uint8))
    native = library.core()
    if native is None:
        _breaches_numpy(counts, 1 << sensitive, known, rows, found, p, columns if most is None else most, empty)
        return found
    rows = np.ascontiguousarray(rows, np.uint32)
    words = np.empty(2 << columns, np.uint64)
    native.shoal_subset_breaches(
        counts.ctypes.data,
        counts.shape[1],
        columns,
        rows.ctypes.data,
        number,
        1 << sensitive,
        known,
        columns if most is None else most,
        int(empty),
        p.numerator,
        p.denominator,
        words.ctypes.data,
        found.subsets.ctypes.data,
        found.minimal.ctypes.data,
        found.smallest.ctypes.data,
    )
    return found


def _breaches_numpy(  # noqa: PLR0913, PLR0917 - the same as above
    counts: NDArray[np.uint32],
    bit: int,
    known: int,
    rows: NDArray[np.uint32],
    found: Breaches,
    p: Fraction,
    most: int,
    empty: bool,
) -> None:
    inside: dict[int, NDArray[np.bool_]] = {}  # whether a subset, or one inside of it, breaches
    for subset in range(known + 1):
        if subset & ~known:
            continue
        peers, same = counts[subset][rows].astype(object), counts[subset | bit][rows].astype(object)
        size = subset.bit_count()
        allowed = size <= most and (size > 0 or empty)
        here = np.asarray((peers - same) * p.denominator <= peers * p.numerator, bool) & allowed
        lower = np.zeros(len(rows), bool)
        for place in range(subset.bit_length()):
            if subset >> place & 1:
                lower |= inside[subset ^ 1 << place]
        inside[subset] = here | lower
        found.subsets[:] += here
        found.minimal[:] += here & ~lower
        found.smallest[:] = np.where(here & ~lower, np.minimum(found.smallest, size), found.smallest)
