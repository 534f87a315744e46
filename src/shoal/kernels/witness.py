"""Witnesses: rows that few others are like, and the schemes that they rule out.

Two rows are alike in all schemes that are no finer than the one at which they meet. So one pass over the rows, and one
over the lattice, tell how many persons are like a row in every scheme; where that is too few, nothing else need be
counted.
"""

import ctypes
from collections.abc import Iterator
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from shoal.kernels import library
from shoal.kernels.lattice import FIGURES
from shoal.kernels.scan import MOST_NODES, Scan

MOST_CELLS = 1 << 20  # schemes, and places where rows may meet
_TOGETHER = 64  # schemes that are counted before somebody may interrupt
_HOLDS, _UNKNOWN = range(2)


class _Search(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("levels", "shape", "rarity", "persons", "schemes", "cells")),
        ("count", ctypes.c_int64),
        ("least", ctypes.c_uint32),
        ("ruled_out", ctypes.c_void_p),
        ("looked_at", ctypes.c_int64),
    )


class Witnesses:
    """Goes through schemes in some order, and finds those in which all classes have at least ``least`` persons.

    ``looked_at``: how many schemes were counted until now.

    >>> from shoal.kernels.lattice import Lattice
    >>> from shoal.kernels.wide import WideWalk
    >>> lattice, codes = Lattice(((np.array([0, 0, 1], np.uint32),),), ((3, 2),)), np.arange(3, dtype=np.uint8)
    >>> walk = WideWalk(lattice, [codes], np.array([1, 1, 5]), np.array([1, 1, 5]))
    >>> scan = Scan(lattice, [codes], [np.arange(3)], walk.persons, walk.records, lambda: walk)
    >>> list(Witnesses(scan, np.arange(2), 2))
    [1]
    """

    def __init__(self, scan: Scan, schemes: NDArray[np.int64], least: int) -> None:
        self.scan = scan
        self.schemes = schemes
        self.least = least
        self.looked_at = 0
        self._levels = np.ascontiguousarray(scan.lattice.levels(schemes).astype(np.uint8))

    @staticmethod
    def fit(scan: Scan) -> bool:
        """Tell whether there is room for it."""
        return scan.fits and max(sizes[0] for sizes in scan.lattice.sizes) <= MOST_NODES and _cells(scan) <= MOST_CELLS

    def __iter__(self) -> Iterator[int]:
        """Yield the places of the schemes that hold, as they come."""
        native = library.core()
        if not len(self.scan.persons):
            yield from range(len(self.schemes))
        elif native is None:
            yield from self._by_numpy()
        else:
            yield from self._by_core(native)

    def _by_core(self, native: ctypes.CDLL) -> Iterator[int]:
        scan, place, verdict = self.scan, 0, ctypes.c_int32()
        ruled_out, rarity = np.zeros(len(self.schemes), np.uint8), np.zeros(len(scan.persons), np.uint32)
        levels, persons = np.array(scan.lattice.shape), np.empty(_cells(scan), np.uint32)
        table = scan.whole()
        native.shoal_rarity(table, levels.ctypes.data, rarity.ctypes.data)
        given = (levels, self._shape, rarity, persons, self._levels, self._cells)
        search = _Search(
            *(array.ctypes.data for array in given), len(self.schemes), self.least, ruled_out.ctypes.data, 0
        )
        while place < len(self.schemes):
            reference = ctypes.byref(search), place, _TOGETHER, ctypes.byref(verdict)
            place = native.shoal_witness(table, *reference)
            self.looked_at = search.looked_at
            if place == len(self.schemes):
                return
            if verdict.value == _HOLDS or (verdict.value == _UNKNOWN and self._holds(place)):
                yield place
            place += verdict.value in {_HOLDS, _UNKNOWN}

    def _by_numpy(self) -> Iterator[int]:
        """Count every scheme that no witness rules out."""
        open_ = np.ones(len(self.schemes), bool)
        nodes = self.scan.lowest()
        for place in range(len(self.schemes)):
            if not open_[place]:
                continue
            self.looked_at += 1
            sizes = self._sizes(nodes, self._levels[place])
            if sizes.min() >= self.least:
                yield place
            else:
                open_ &= self._company(nodes, int(np.argmin(sizes)))[self._cells] >= self.least

    @cached_property
    def _shape(self) -> NDArray[np.int64]:
        return np.array(_shape(self.scan))

    @cached_property
    def _cells(self) -> NDArray[np.uint32]:
        """Where each scheme is among the places where rows may meet."""
        found: NDArray[np.uint32] = np.ravel_multi_index(tuple(self._levels.T), tuple(self._shape)).astype(np.uint32)
        return found

    def _holds(self, place: int) -> bool:
        """Count a scheme that leaves too many combinations to count them here."""
        self.looked_at += 1
        found = self.scan.tally(self.schemes[place : place + 1], self.least, 0)
        return not found.figures[0, 0, FIGURES.index("persons")]

    def _sizes(self, nodes: list[NDArray[np.intp]], levels: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Return how many persons are like each row in a scheme."""
        keys = np.zeros(len(nodes[0]), np.int64)
        for up, held, level, sizes in zip(self._up, nodes, levels, self.scan.lattice.sizes, strict=True):
            keys = np.unique(keys * sizes[level] + up[level][held], return_inverse=True)[1]
        return np.bincount(keys, self.scan.persons)[keys].astype(np.int64)

    def _company(self, nodes: list[NDArray[np.intp]], witness: int) -> NDArray[np.int64]:
        """Return how many persons are like a row at each place where rows may meet."""
        meet = [
            np.sum([above[held] != above[held[witness]] for above in up], axis=0)
            for up, held in zip(self._up, nodes, strict=True)
        ]
        cells = np.ravel_multi_index(meet, tuple(self._shape))
        found = np.bincount(cells, self.scan.persons, int(self._shape.prod())).reshape(self._shape)
        for axis in range(found.ndim):
            found = np.cumsum(found, axis)
        return found.astype(np.int64).ravel()

    @cached_property
    def _up(self) -> list[list[NDArray[np.intp]]]:
        """The node on each level of each node on the lowest, by column."""
        lattice = self.scan.lattice
        found: list[list[NDArray[np.intp]]] = [[np.arange(sizes[0])] for sizes in lattice.sizes]
        for up, steps in zip(found, lattice.steps, strict=True):
            for step in steps:
                up.append(step[up[-1]].astype(np.intp))
        return found


def _shape(scan: Scan) -> tuple[int, ...]:
    """Return how many levels there are to meet at, and one more where rows need not meet at all."""
    return tuple(len(sizes) + (sizes[-1] > 1) for sizes in scan.lattice.sizes)


def _cells(scan: Scan) -> int:
    return prod(_shape(scan))
