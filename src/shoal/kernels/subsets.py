"""Counts over all subsets of columns: the number of rows that agree with each row, for any part of it that is known.

Subsets are bit masks: column j is in subset A if bit j of A is set. Adding a column splits the groups of rows that
agreed so far, so each subset takes one pass, and subsets share the work of their common prefixes.
"""

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shoal.kernels import library
from shoal.kernels.grouping import group_rows
from shoal.kernels.library import address
from shoal.kernels.threads import in_threads
from shoal.kernels.translation import Codes

_SPAN = 8  # as in subsets.c: the words per block
LITTLE = 1 << 20  # rows times subsets below which one thread is faster
PIECE = 256  # rows compared with all others between two progress reports
MOST = 24  # columns; with more, the counts of all subsets exceed any memory


def memory(rows: int, columns: int) -> int:
    """Return the size in bytes of the counts of all subsets.

    >>> memory(19_502, 9)
    39940096
    """
    return 4 * rows << columns


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """The codes of a column that agree with each code: those from ``lows`` to ``highs``."""

    lows: NDArray[np.uint32]
    highs: NDArray[np.uint32]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows and their holders.

    ``columns[j][i]``: the code of row i in column j. Row i belongs to ``holders[i]``, which stands for
    ``weights[holders[i]]`` persons. ``apart[j]``: the code in column j that matches nothing, if there is one.
    ``windows[j]``: the codes in column j that agree without being equal, if any; every row then has its own holder.
    """

    columns: tuple[Codes, ...]
    holders: NDArray[np.uint32]
    weights: NDArray[np.int64]
    apart: tuple[int | None, ...] = ()
    windows: tuple[Window | None, ...] = ()

    @classmethod
    def of(cls, columns: Sequence[Codes], weights: NDArray[np.int64]) -> "Rows":
        """Create rows that each belong to different persons."""
        return cls(tuple(columns), np.arange(len(weights), dtype=np.uint32), weights)

    def __len__(self) -> int:
        return len(self.holders)

    @property
    def near(self) -> bool:
        """Whether rows may agree without having equal codes."""
        return any(window is not None for window in self.windows)

    def window(self, place: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Return, per row, the first and the last code that agree with it in a column."""
        codes, window = self.columns[place].astype(np.uint32), self.windows[place] if self.windows else None
        return (codes, codes) if window is None else (window.lows[codes], window.highs[codes])

    def agreement(self, row: int) -> NDArray[np.uint64]:
        """Return, per row, a bit mask of the columns in which it agrees with the given row."""
        agree = np.zeros(len(self), np.uint64)
        for place, codes in enumerate(self.columns):
            low, high = (int(ends[row]) for ends in self.window(place))
            matches = (codes >= low) & (codes <= high) & ~self.lacking(1 << place)
            matches[row] = True
            agree |= matches.astype(np.uint64) << np.uint64(place)
        return agree

    def lacking(self, subset: int) -> NDArray[np.bool_]:
        """Return a mask of the rows with a value that matches nothing in a column of the subset."""
        lacking = np.zeros(len(self), bool)
        for place, code in enumerate(self.apart):
            if code is not None and subset >> place & 1:
                lacking |= self.columns[place] == code
        return lacking


def subset_counts(
    rows: Rows, threads: int = 1, progress: Callable[[int, int], None] = lambda *_: None
) -> NDArray[np.uint32]:
    """Return ``counts[A, i]``: the number of persons with a row that agrees with row i in every column of subset A.

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
    elif rows.near:
        _pairs_native(native, rows, counts, threads, progress)
    elif len(rows) and number:
        _counts_native(native, rows, counts, threads, progress)
    _stand_alone(rows, counts)
    return counts


def _stand_alone(rows: Rows, counts: NDArray[np.uint32]) -> None:
    """Set the count of rows with a value that matches nothing to 1.

    Such rows do not match any other person, including the other persons of the same holder.
    """
    lacking = np.zeros(len(rows), np.int64)
    for place, code in enumerate(rows.apart):
        if code is not None:
            lacking |= (rows.columns[place] == code).astype(np.int64) << place
    subsets = np.arange(len(counts))
    for pattern in np.unique(lacking[lacking > 0]):
        counts[np.ix_(subsets[(subsets & pattern) > 0], np.flatnonzero(lacking == pattern))] = 1


def agreeing(rows: Rows, subset: int) -> NDArray[np.uint32]:
    """Return, per row, the number of persons with a row that agrees in every column of one subset.

    >>> import numpy as np
    >>> agreeing(Rows.of([np.array([30, 30, 40], np.uint8)], np.array([5, 1, 1])), 1).tolist()
    [6, 6, 1]
    """
    agreeing_columns = [_without_matches(rows, place) for place in range(len(rows.columns)) if subset >> place & 1]
    groups = group_rows(agreeing_columns, [int(column.max(initial=0)) + 1 for column in agreeing_columns], len(rows))
    once = group_rows([groups.ids, rows.holders], [len(groups), len(rows.weights)], len(rows)).first
    persons = np.bincount(groups.ids[once], weights=rows.weights[rows.holders[once]])[groups.ids].astype(np.uint32)
    persons[rows.lacking(subset)] = 1
    return persons


def _counts_numpy(rows: Rows, counts: NDArray[np.uint32]) -> None:
    if rows.near:
        subsets = np.arange(len(counts), dtype=np.uint64)[:, None]
        for row in range(len(rows)):
            agrees = (rows.agreement(row)[None, :] & subsets) == subsets
            counts[:, row] = agrees @ rows.weights[rows.holders]
        return
    for subset in range(1, len(counts)):
        counts[subset] = agreeing(rows, subset)


def _pairs_native(
    native: ctypes.CDLL, rows: Rows, counts: NDArray[np.uint32], threads: int, progress: Callable[[int, int], None]
) -> None:
    """Compare all pairs of rows."""
    number = len(rows.columns)
    codes = np.stack([column.astype(np.uint32) for column in rows.columns])
    lows, highs = (np.stack(ends) for ends in zip(*(rows.window(place) for place in range(number)), strict=True))
    given = [codes, lows, highs - lows, rows.weights[rows.holders].astype(np.uint32)]
    addresses = [address(array) for array in given]

    def run(begin: int) -> None:
        sums = np.empty(1 << number, np.uint32)
        end = min(begin + PIECE, len(rows))
        native.shoal_pair_counts(*addresses, len(rows), number, begin, end, address(sums), address(counts))

    in_threads(run, list(range(0, len(rows), PIECE)), threads, progress)


def _without_matches(rows: Rows, place: int) -> Codes:
    """Assign a separate code to every row whose value matches nothing."""
    column: Codes = rows.columns[place].astype(np.uint32)
    apart = rows.apart[place] if rows.apart else None
    if apart is None:
        return column
    alone = np.flatnonzero(column == apart)
    column[alone] = int(column.max()) + 1 + np.arange(len(alone), dtype=np.uint32)
    return column


def _counts_native(
    native: ctypes.CDLL, rows: Rows, counts: NDArray[np.uint32], threads: int, progress: Callable[[int, int], None]
) -> None:
    codes = np.stack([column.astype(np.uint32) for column in rows.columns])
    number, size = len(rows.columns), int(codes.max()) + 1
    apart = np.array([size if code is None else code for code in rows.apart or [None] * number], np.uint32)
    holders, weights = np.ascontiguousarray(rows.holders, np.uint32), rows.weights.astype(np.uint32)
    given = [address(array) for array in (codes, apart, holders, weights)]

    def run(first: int) -> None:
        levels = np.empty(2 * (number + 1) * (len(rows) + 1), np.uint32)
        tally, seen = np.zeros(size, np.uint32), np.empty(size, np.uint32)
        counted = np.zeros(max(len(rows), len(weights)), np.uint32)
        room = [address(array) for array in (counts, levels, tally, seen, counted)]
        native.shoal_subset_counts(*given, len(rows), number, first, first + 1, *room)

    # Half of all subsets begin with the first column, half of the rest with the second, …: two threads balance.
    in_threads(run, range(number), threads if counts.size > LITTLE else 1, progress)


def largest_share(
    counts: NDArray[np.uint32], sensitive: int, subsets: NDArray[np.uint32], rows: NDArray[np.uint32], threads: int = 1
) -> NDArray[np.uint32]:
    """Return, per row, the listed subset A with the largest ``counts[A ∪ sensitive] / counts[A]``.

    ``sensitive``: the sensitive column, which none of the subsets may contain. Ties go to the first subset in the list.

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

    def run(begin: int) -> None:
        native.shoal_subset_largest(
            address(counts),
            counts.shape[1],
            address(rows[begin:]),
            min(piece, len(rows) - begin),
            address(subsets),
            len(subsets),
            bit,
            address(best[begin:]),
        )

    piece = _piece(len(rows), len(subsets), threads)
    in_threads(run, range(0, len(rows), piece), threads, _untold)
    return best


def _piece(rows: int, subsets: int, threads: int) -> int:
    """Return the number of rows per thread; all rows, if the work is small."""
    return max(rows if rows * subsets < LITTLE else -(-rows // threads), 1)


def _untold(done: int, total: int) -> None:
    del done, total


NONE = 255  # size of the smallest breach if there is none


@dataclass(frozen=True, slots=True, eq=False)
class Breaches:
    """Breaches per row: the number of ``subsets`` that breach, and of ``minimal`` ones without a smaller breach inside.

    ``smallest``: the size of the smallest breach, or ``NONE``.
    """

    subsets: NDArray[np.uint32]
    minimal: NDArray[np.uint32]
    smallest: NDArray[np.uint8]


def breaches(  # noqa: PLR0913 - keyword-only options
    counts: NDArray[np.uint32],
    sensitive: int,
    known: int,
    *,
    p: Fraction = Fraction(0),
    most: int | None = None,
    empty: bool = False,
    threads: int = 1,
) -> Breaches:
    """Find, per row, the subsets A of the known columns with ``1 − counts[A ∪ sensitive] / counts[A] ≤ p``.

    ``most``: the maximum size of A. ``empty``: whether the empty subset is included.

    >>> import numpy as np
    >>> counts = subset_counts(Rows.of([np.array([0, 0, 1]), np.array([0, 1, 1])], np.array([5, 1, 1])))
    >>> breaches(counts, 1, 0b01).smallest.tolist()
    [255, 255, 1]
    """
    rows, columns = counts.shape[1], int(counts.shape[0]).bit_length() - 1
    breached = Breaches(np.zeros(rows, np.uint32), np.zeros(rows, np.uint32), np.full(rows, NONE, np.uint8))
    native = library.core()
    most = columns if most is None else most
    p = floor_fraction(p, int(counts[0].max(initial=1)))
    if native is None:
        _breaches_numpy(counts, 1 << sensitive, known, breached, p, most, empty)
        return breached

    def run(begin: int) -> None:
        inside = np.empty(_SPAN << columns, np.uint64)
        native.shoal_subset_breaches(
            address(counts),
            rows,
            begin,
            min(begin + piece, rows),
            1 << sensitive,
            known,
            most,
            int(empty),
            p.numerator,
            p.denominator,
            address(inside),
            address(breached.subsets),
            address(breached.minimal),
            address(breached.smallest),
        )

    piece = _piece(rows, len(counts), threads)
    in_threads(run, range(0, rows, piece), threads, _untold)
    return breached


def floor_fraction(p: Fraction, most: int) -> Fraction:
    """Return the largest fraction of at most p whose denominator is at most ``most``.

    A share of at most ``most`` persons is at most p if and only if it is at most this fraction, which fits into small
    integers.

    >>> floor_fraction(Fraction("0.3333333333333333"), 30162), floor_fraction(Fraction("0.05"), 30162)
    (Fraction(10053, 30160), Fraction(1, 20))
    """
    near = p.limit_denominator(most)
    if near <= p:
        return near
    below = pow(near.numerator, -1, near.denominator)  # its left neighbour a/b: numerator·b − a·denominator = 1
    below += near.denominator * ((most - below) // near.denominator)
    return Fraction((near.numerator * below - 1) // near.denominator, below)


def _breaches_numpy(  # noqa: PLR0913, PLR0917 - the parameters of ``breaches``
    counts: NDArray[np.uint32],
    bit: int,
    known: int,
    breached: Breaches,
    p: Fraction,
    most: int,
    empty: bool,
) -> None:
    inside: dict[int, NDArray[np.bool_]] = {}  # whether a subset or any subset of it breaches
    for subset in range(known + 1):
        if subset & ~known:
            continue
        peers, same = counts[subset].astype(object), counts[subset | bit].astype(object)
        size = subset.bit_count()
        allowed = size <= most and (size > 0 or empty)
        here = np.asarray((peers - same) * p.denominator <= peers * p.numerator, bool) & allowed
        lower = np.zeros(counts.shape[1], bool)
        for place in range(subset.bit_length()):
            if subset >> place & 1:
                lower |= inside[subset ^ 1 << place]
        inside[subset] = here | lower
        breached.subsets[:] += here
        breached.minimal[:] += here & ~lower
        breached.smallest[:] = np.where(here & ~lower, np.minimum(breached.smallest, size), breached.smallest)
