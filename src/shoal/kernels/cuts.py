"""Cuts: partitions of rows, whose parts are cut in two at the median of a column."""

import ctypes
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.kernels import library
from shoal.kernels.library import address

Ids = NDArray[np.uint32]
Ints = NDArray[np.int64]


class _Parts(ctypes.Structure):
    _fields_ = (
        ("places", ctypes.c_void_p),
        ("columns", ctypes.c_int64),
        ("persons", ctypes.c_void_p),
        ("order", ctypes.c_void_p),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Spans:
    """Ranges of parts: from place ``low[p, j]`` to ``high[p, j]`` in column j; ``sizes``: their numbers of persons."""

    low: Ids
    high: Ids
    sizes: NDArray[np.uint64]


class Parts:
    """Rows in an order in which those of a part are adjacent. ``places[r, j]``: the place of row r in column j.

    >>> import numpy as np
    >>> parts = Parts(np.array([[3], [1], [2], [1]], np.uint32), np.array([1, 1, 1, 2], np.uint32))
    >>> starts, ends = np.array([0]), np.array([4])
    >>> spans = parts.spans(starts, ends)
    >>> alone, at = np.arange(4, dtype=np.uint32), np.array([0])
    >>> middles, left = parts.cut(starts, ends, spans.sizes, np.array([0]), alone, at)
    >>> spans.low.tolist(), spans.high.tolist(), middles.tolist(), left.tolist(), sorted(parts.order[:2].tolist())
    ([[1]], [[3]], [2], [3], [1, 3])
    """

    def __init__(self, places: Ids, persons: Ids) -> None:
        self.places = np.ascontiguousarray(places)
        self.persons = np.ascontiguousarray(persons)
        self.order = np.arange(len(places), dtype=np.uint32)
        pointers = (address(self.persons), address(self.order))
        self._told = _Parts(address(self.places), places.shape[1], *pointers)

    def spans(self, starts: Ints, ends: Ints) -> Spans:
        """Return the ranges of parts, none of which may be empty."""
        low, high = (np.empty((len(starts), self.places.shape[1]), np.uint32) for _ in range(2))
        sizes, native = np.empty(len(starts), np.uint64), library.core()
        if native is None:
            rows, begins = self.rows(starts, ends)
            if len(starts):
                low[:] = np.minimum.reduceat(self.places[rows], begins)
                high[:] = np.maximum.reduceat(self.places[rows], begins)
                sizes[:] = np.add.reduceat(self.persons[rows].astype(np.uint64), begins)
            return Spans(low, high, sizes)
        arrays = (starts, ends)
        native.shoal_spans(
            ctypes.byref(self._told),
            *(address(array) for array in arrays),
            len(starts),
            *(address(array) for array in (low, high, sizes)),
        )
        return Spans(low, high, sizes)

    def cut(  # noqa: PLR0913, PLR0917 - the parts, and how each is cut
        self,
        starts: Ints,
        ends: Ints,
        sizes: NDArray[np.uint64],
        columns: Ints,
        groups: Ids,
        at: Ints,
        *,
        relaxed: bool = False,
    ) -> tuple[Ints, NDArray[np.uint64]]:
        """Cut each part in two in the column given for it, as close to the median as possible.

        ``groups[at[p] + place]``, ascending: rows of one group stay together unless the cut is ``relaxed``. Returns the
        start of the second half of each part, or that of the part itself if it cannot be cut; and the number of persons
        in the first half.
        """
        middles, left, native = starts.copy(), np.zeros(len(starts), np.uint64), library.core()
        if native is None:
            self._cut_numpy(starts, ends, sizes, columns, groups, at, relaxed, middles, left)
            return middles, left
        scratch = np.empty(len(self.order) if relaxed else 0, np.uint32)
        native.shoal_cut(
            ctypes.byref(self._told),
            *(address(array) for array in (starts, ends, sizes)),
            len(starts),
            *(address(array) for array in (columns, groups, at)),
            address(scratch) if relaxed else None,
            address(middles),
            address(left),
        )
        return middles, left

    def rows(self, starts: Ints, ends: Ints) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the rows of several parts, concatenated, and the start of each part among them."""
        lengths = ends - starts
        begins = np.concatenate([[0], np.cumsum(lengths)])[:-1]
        at = np.arange(int(lengths.sum())) + np.repeat(starts - begins, lengths)
        return self.order[at].astype(np.intp), begins.astype(np.intp)

    def _cut_numpy(  # noqa: PLR0913, PLR0917 - mirrors a function of the C core
        self,
        starts: Ints,
        ends: Ints,
        sizes: NDArray[np.uint64],
        columns: Ints,
        groups: Ids,
        at: Ints,
        relaxed: bool,
        middles: Ints,
        left: NDArray[np.uint64],
    ) -> None:
        rows, begins = self.rows(starts, ends)
        part = np.repeat(np.arange(len(starts)), ends - starts)
        group = groups[at[part] + self.places[rows, columns[part]]]
        order = np.lexsort((rows, group, part))
        rows, group = rows[order], group[order]
        self.order[np.arange(len(rows)) + np.repeat(starts - begins, ends - starts)] = rows
        reached = np.cumsum(self.persons[rows].astype(np.int64))
        reached -= np.repeat(reached[begins] - self.persons[rows[begins]], ends - starts)
        ends_group = np.concatenate([(group[1:] != group[:-1]) | (part[1:] != part[:-1]), [True]])
        whole = sizes.astype(np.int64)[part]
        may = np.ones(len(rows), bool) if relaxed else ends_group & (reached < whole)
        distance = np.where(may, np.abs(2 * reached - whole), np.iinfo(np.int64).max)
        if relaxed:  # only from the first row that reaches half of the persons
            distance = np.where(2 * reached >= whole, distance, np.iinfo(np.int64).max)
        for place, (start, end) in enumerate(zip(begins, begins + (ends - starts), strict=True)):
            best = int(np.argmin(distance[start:end]))
            if distance[start + best] < np.iinfo(np.int64).max:
                middles[place] = starts[place] + best + 1
                left[place] = reached[start + best]
