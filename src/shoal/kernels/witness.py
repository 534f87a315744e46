"""Witnesses: rows in small classes, and the schemes that they rule out.

Two rows belong to the same class in all schemes at or above the one at which they meet. One pass over the rows and one
over the lattice therefore give the class size of a row in every scheme; schemes in which it is too small need no
further counting.
"""

import ctypes
from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.kernels import library
from shoal.kernels.lattice import FIGURES, MOST_COLUMNS
from shoal.kernels.library import address
from shoal.kernels.scan import MOST_NODES, Scan

MOST_SCHEMES, SCHEMES_PER_ROW = (1 << 16) - 1, 64  # leaves one 16-bit number unused
MOST_LEAST = (1 << 8) - 1
_TOGETHER = 64  # schemes counted between two opportunities to interrupt
_OPEN, _HOLDS, _FAILS, _UNKNOWN = range(4)  # as in witness.c


class _Search(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("levels", "order", "ends", "prices", "known", "persons", "company")),
        *((name, ctypes.c_int64) for name in ("schemes", "looked_at", "begin", "height")),
        ("least", ctypes.c_uint32),
    )


class Witnesses:
    """Finds the cheapest scheme in which all classes have at least ``least`` persons.

    ``prices``: the cost of each scheme. ``looked_at``: the number of schemes counted so far.

    Schemes that cost less than the incumbent are processed from the most generalised to the most specific: a row whose
    class is too small in one scheme is a witness against all more specific schemes.

    >>> from shoal.kernels.lattice import Lattice
    >>> from shoal.kernels.wide import WideWalk
    >>> lattice, codes = Lattice(((np.array([0, 0, 1], np.uint32),),), ((3, 2),)), np.arange(3, dtype=np.uint8)
    >>> walk = WideWalk(lattice, [codes], np.array([1, 1, 5]), np.array([1, 1, 5]))
    >>> scan = Scan(lattice, [codes], [np.arange(3)], walk.persons, walk.records, lambda: walk)
    >>> [scheme for scheme in Witnesses(scan, np.array([0.1, 0.3]), 2).holding() if scheme is not None]
    [1]
    """

    def __init__(self, scan: Scan, prices: NDArray[np.float64], least: int) -> None:
        if not self.has_room(scan, least):
            raise ValueError(f"there are too many schemes, or classes may need more than {MOST_LEAST} persons")
        self.scan = scan
        self.prices = np.ascontiguousarray(prices)
        self.least = least
        self.looked_at = 0
        self._known = np.zeros(len(self.prices), np.uint8)
        self._ceiling = np.inf  # schemes with a higher cost are ignored

    @staticmethod
    def has_room(scan: Scan, least: int) -> bool:
        """Return whether schemes, nodes and persons are within the limits of the counters."""
        lattice = scan.lattice
        narrow = len(lattice.shape) <= MOST_COLUMNS and max(sizes[0] for sizes in lattice.sizes) <= MOST_NODES
        return lattice.schemes <= MOST_SCHEMES and narrow and least <= MOST_LEAST and scan.fits

    @staticmethod
    def fit(scan: Scan, least: int) -> bool:
        """Return whether the method is possible and worthwhile; each witness takes a pass over all schemes."""
        return Witnesses.has_room(scan, least) and scan.lattice.schemes <= SCHEMES_PER_ROW * len(scan.persons)

    @property
    def decided(self) -> int:
        """The number of schemes for which it is known whether they hold."""
        return int(np.count_nonzero(self._known))

    def holding(self, close: float = 0.0) -> Iterator[int | None]:
        """Yield schemes that hold, each cheaper than those before or within the relative tolerance ``close``.

        None is yielded after a batch of schemes without a result, so that the caller can stop.
        """
        known = self._known
        for scheme in self._judged():
            if scheme is not None and known[scheme] == _UNKNOWN:
                known[scheme] = _HOLDS if self._holds(scheme) else _FAILS
            if scheme is None or known[scheme] == _FAILS:
                yield None
                continue
            price = float(self.prices[scheme])
            self._ceiling = min(self._ceiling, price + close * abs(price))
            yield scheme

    def _judged(self) -> Iterator[int | None]:
        """Yield schemes that hold or cannot be decided here, and None after schemes that fail."""
        native = library.core()
        heights = np.zeros(1, np.uint16)
        for number in reversed(self.scan.lattice.shape):
            heights = np.add.outer(np.arange(number, dtype=np.uint16), heights).ravel()
        if native is None or not len(self.scan.persons):
            return self._by_numpy(heights)
        return self._by_core(native, heights)

    def _by_core(self, native: ctypes.CDLL, heights: NDArray[np.uint16]) -> Iterator[int | None]:
        order, ends = _from_the_top(heights)
        number, levels = len(self._known), np.array(self.scan.lattice.shape, np.int64)
        room = (np.empty(number + 1, np.uint32), np.empty(number, np.uint8))
        arrays = (levels, order, ends, self.prices, self._known, *room)
        search = _Search(*(address(array) for array in arrays), number, 0, 0, 0, self.least)
        table, is_done = self.scan.on_all_levels(), False
        while not is_done:
            before = search.looked_at
            scheme = native.shoal_witness(table, ctypes.byref(search), self._ceiling, _TOGETHER)
            self.looked_at += search.looked_at - before
            is_done = scheme < 0 and search.looked_at == before
            yield None if scheme < 0 else scheme

    def _by_numpy(self, heights: NDArray[np.uint16]) -> Iterator[int | None]:
        nodes, known = self.scan.lowest(), self._known
        while len(open_ := np.flatnonzero((known == _OPEN) & (self.prices <= self._ceiling))):
            coarsest = open_[heights[open_] == heights[open_].max()]
            scheme = int(coarsest[np.argmin(self.prices[coarsest])])
            sizes = self._sizes(nodes, self.scan.lattice.levels(np.array([scheme]))[0])
            self.looked_at += 1
            if (sizes >= self.least).all():
                known[scheme] = _HOLDS
                yield scheme
            else:
                known[self._company(nodes, int(np.argmin(sizes))) < self.least] = _FAILS
                yield None

    def _holds(self, scheme: int) -> bool:
        """Decide a scheme with too many combinations, for which only a more generalised scheme was counted."""
        tally = self.scan.tally(np.array([scheme]), self.least, 0)
        return not tally.figures[0, 0, FIGURES.index("persons")]

    def _sizes(self, nodes: list[NDArray[np.intp]], levels: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return, per row, its class size in a scheme."""
        keys = np.zeros(len(nodes[0]), np.int64)
        for up, nodes_of, level, sizes in zip(self._up, nodes, levels, self.scan.lattice.sizes, strict=True):
            keys = np.unique(keys * sizes[level] + up[level][nodes_of], return_inverse=True)[1]
        return np.bincount(keys, self.scan.persons)[keys].astype(np.int64)

    def _company(self, nodes: list[NDArray[np.intp]], witness: int) -> NDArray[np.int64]:
        """Return, per scheme, the class size of a row."""
        shape = self.scan.lattice.shape
        meet = [
            np.sum([above[nodes_of] != above[nodes_of[witness]] for above in up], axis=0)
            for up, nodes_of in zip(self._up, nodes, strict=True)
        ]
        ever = np.all([level < levels for level, levels in zip(meet, shape, strict=True)], axis=0)
        cells = np.ravel_multi_index([level[ever] for level in meet], shape)
        company = np.bincount(cells, self.scan.persons[ever], len(self.prices)).reshape(shape)
        for axis in range(company.ndim):
            company = np.cumsum(company, axis)
        return company.astype(np.int64).ravel()

    @cached_property
    def _up(self) -> list[list[NDArray[np.intp]]]:
        """Per column and level, the ancestor of each node of the lowest level."""
        lattice = self.scan.lattice
        maps: list[list[NDArray[np.intp]]] = [[np.arange(sizes[0])] for sizes in lattice.sizes]
        for up, steps in zip(maps, lattice.steps, strict=True):
            for step in steps:
                up.append(step[up[-1]].astype(np.intp))
        return maps


def _from_the_top(heights: NDArray[np.uint16]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return the schemes in descending order of height, and the end of each height."""
    depths = heights.max() - heights
    return np.argsort(depths, kind="stable").astype(np.uint32), np.cumsum(np.bincount(depths), dtype=np.int64)
