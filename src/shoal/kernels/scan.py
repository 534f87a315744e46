"""Scans: schemes counted one by one, directly from the rows.

For a scheme with few combinations of nodes, a scan is faster than a roll-up, unless all neighbouring schemes are
counted as well. A search mostly evaluates such schemes, and only few of them.
"""

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.kernels import library
from shoal.kernels.lattice import FIGURES, Lattice, Tallies
from shoal.kernels.library import address
from shoal.kernels.raised import Raised
from shoal.kernels.translation import Codes
from shoal.kernels.walk import Walk, levels_of
from shoal.kernels.wide import WideWalk

MOST_SLOTS = 1 << 21  # combinations of nodes that a scan can count
MOST_NODES = 1 << 16  # per column and level
MOST_LEVELS = 1 << 8
MOST_CELLS = 1 << 28  # rows times levels of all columns
_MANY = 16  # schemes per call from which merging rows pays off


class _Table(ctypes.Structure):
    _fields_ = (
        ("columns", ctypes.c_int32),
        *((name, ctypes.c_int64) for name in ("count", "most", "width")),
        *(
            (name, ctypes.c_void_p)
            for name in ("codes", "nodes", "offsets", "persons", "records", "keys", "rows", "slots")
        ),
        ("slot_count", ctypes.c_uint64),
    )


class _CoreTable:
    """The rows as a C structure, with the addresses of their nodes on all levels requested so far.

    ``room``: the working memory.
    """

    def __init__(self, rows: Raised, room: Sequence[NDArray[np.uint32]]) -> None:
        lattice = rows.lattice
        shape = (len(lattice.shape), max(lattice.shape))
        self.rows, self.codes, self.nodes = rows, np.zeros(shape, np.uintp), np.zeros(shape, np.int64)
        arrays: tuple[NDArray[Any], ...] = (self.codes, self.nodes, lattice.offsets, rows.persons, rows.records, *room)
        addresses = (address(array) for array in arrays)
        self._held = [*arrays]  # the C core holds their addresses: keep them alive
        self.struct = _Table(shape[0], len(rows), shape[1], lattice.width, *addresses, len(room[-1]))

    def show(self, column: int, level: int) -> None:
        """Pass the address of the nodes on a level to the C core."""
        size = self.rows.lattice.sizes[column][level]
        if size > MOST_NODES:
            self.nodes[column, level] = -1
        elif not self.nodes[column, level]:
            self._held.append(self.rows.nodes(column, level))
            self.codes[column, level] = address(self._held[-1])
            self.nodes[column, level] = size


class _ByLevel:
    """The C structures for each level of the first column, created on demand by ``make``."""

    def __init__(self, lattice: Lattice, make: Callable[[int], _CoreTable]) -> None:
        self._make = make
        self._made: dict[int, _CoreTable] = {}
        self._tables = np.zeros(lattice.shape[0], np.uintp)
        self._shown = np.zeros((lattice.shape[0], len(lattice.shape), max(lattice.shape)), bool)

    def tables(self, levels: NDArray[np.uint8]) -> NDArray[np.uintp]:
        """Return the addresses of the C structures, with the nodes on all levels that the schemes use."""
        asked = levels[:, :1], np.arange(levels.shape[1]), levels
        schemes, columns = np.nonzero(~self._shown[asked])
        new = zip(levels[schemes, 0].tolist(), columns.tolist(), levels[schemes, columns].tolist(), strict=True)
        for first, column, level in set(new):
            self._show(first, column, level)
        self._shown[asked] = True
        return self._tables

    def _show(self, first: int, column: int, level: int) -> None:
        if first not in self._made:
            self._made[first] = self._make(first)
        self._made[first].show(column, level)
        self._tables[first] = ctypes.addressof(self._made[first].struct)


@dataclass(eq=False)
class Scan:
    """Rows of codes: code c of column j is node ``places[j][c]`` on its lowest level.

    ``make``: creates a walk over the same rows, for schemes with too many combinations. Each thread needs its own
    instance.

    >>> import numpy as np
    >>> lattice, codes = Lattice(((np.zeros(3, np.uint32),),), ((3, 1),)), np.arange(3, dtype=np.uint8)
    >>> walk = WideWalk(lattice, [codes], np.array([1, 1, 5]), np.array([1, 1, 5]))
    >>> scan = Scan(lattice, [codes], [np.arange(3)], walk.persons, walk.records, lambda: walk)
    >>> found = scan.tally(np.arange(2), 2, 7)
    >>> found.figures[:, :, 0].tolist(), found.marginals[:, 0].tolist()
    ([[2, 1], [0, 1]], [[1, 1, 0], [0, 0, 0]])
    """

    lattice: Lattice
    codes: Sequence[Codes]
    places: Sequence[NDArray[np.integer[Any]]]
    persons: NDArray[np.int64]
    records: NDArray[np.int64]
    make: Callable[[], Walk | WideWalk]
    _shared: list[Raised] = field(default_factory=list)
    _is_busy: bool = field(init=False, default=False)  # whether many schemes have been requested at once

    @cached_property
    def walk(self) -> Walk | WideWalk:
        """The walk, created on demand."""
        return self.make()

    def another(self, *, keeping: bool | None = None) -> "Scan":
        """Return a copy for another thread."""
        table = (self.lattice, self.codes, self.places, self.persons, self.records)
        return Scan(*table, lambda: self.walk.another(keeping=keeping), self._shared)

    def tally(self, schemes: NDArray[np.int64], least: int, limit: int) -> Tallies:
        """Count the classes of schemes in two bands: fewer than ``least`` persons, and at least as many.

        The schemes are given in ascending order. For schemes with more than ``limit`` persons in the first band,
        possibly only these persons are counted.
        """
        native = library.core()
        if native is None or not len(self.persons) or not len(schemes) or not self.fits:
            return self.walk.tally(schemes, [least], limit)
        levels, done = levels_of(self.lattice, schemes), np.zeros(len(schemes), np.uint8)
        figures = np.zeros((len(schemes), 2, len(FIGURES)), np.uint64)
        marginals = np.zeros((len(schemes), 1, self.lattice.width), np.uint32)
        self._is_busy |= len(schemes) >= _MANY and self._cells * self.lattice.shape[0] <= MOST_CELLS
        tables = (self._rolled if self._is_busy else self._all).tables(levels)
        asked = (address(tables), address(levels), len(schemes), least, limit)
        native.shoal_scan(*asked, *(address(array) for array in (done, figures, marginals)))
        left = np.flatnonzero(done == 0)
        if len(left):
            rest = self.walk.tally(schemes[left], [least], limit)
            figures[left], marginals[left] = rest.figures, rest.marginals
        return Tallies(schemes, figures, marginals)

    @cached_property
    def fits(self) -> bool:
        """Whether the nodes of all rows on all levels fit into memory, and counts into 32 bits."""
        few = self._cells <= MOST_CELLS and max(self.lattice.shape) <= MOST_LEVELS
        return few and max(int(self.persons.sum()), int(self.records.sum())) < (1 << 32) - 1  # persons + 1 must fit

    @property
    def _cells(self) -> int:
        """The number of cells of all rows on all levels."""
        return len(self.persons) * sum(self.lattice.shape)

    def on_all_levels(self) -> Any:
        """Return the C structure with the nodes of the rows on all levels."""
        for column, sizes in enumerate(self.lattice.sizes):
            for level in range(len(sizes)):
                self._table.show(column, level)
        return ctypes.byref(self._table.struct)

    def lowest(self) -> list[NDArray[np.intp]]:
        """Return, per column, the nodes of the rows on the lowest level."""
        return [place[codes].astype(np.intp) for place, codes in zip(self.places, self.codes, strict=True)]

    @property
    def _rows(self) -> Raised:
        """The rows, shared by all threads."""
        if not self._shared:
            persons = self.persons.astype(np.uint32)
            same = np.array_equal(self.persons, self.records)
            records = persons if same else self.records.astype(np.uint32)
            self._shared.append(Raised.of(self.lattice, self.codes, self.places, persons, records))
        return self._shared[0]

    @cached_property
    def _room(self) -> tuple[NDArray[np.uint32], ...]:
        """Working memory: two integers per row, and the slots."""
        count = len(self.persons)
        slots = np.zeros(min(max(64 * count, MOST_NODES), MOST_SLOTS), np.uint32)
        return np.empty(count, np.uint32), np.empty(count, np.uint32), slots

    @cached_property
    def _table(self) -> _CoreTable:
        return _CoreTable(self._rows, self._room)

    @cached_property
    def _all(self) -> _ByLevel:
        """All rows, for every level of the first column."""
        return _ByLevel(self.lattice, lambda _: self._table)

    @cached_property
    def _rolled(self) -> _ByLevel:
        """Rows merged where they coincide on a level of the first column."""

        def make(level: int) -> _CoreTable:
            rows = self._rows.rolled(level)
            return self._table if rows is self._rows else _CoreTable(rows, self._room)

        return _ByLevel(self.lattice, make)
