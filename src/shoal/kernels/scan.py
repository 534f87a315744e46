"""Scans: schemes that are counted one by one, straight from the rows.

A scheme that leaves few combinations of nodes is counted faster so than by roll-up, unless all its neighbours are
counted, too. A search looks mostly at such schemes, and at few of them.
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
from shoal.kernels.translation import Codes, narrowest, translate
from shoal.kernels.walk import Walk, levels_of
from shoal.kernels.wide import WideWalk

MOST_SLOTS = 1 << 21  # combinations that may be counted
MOST_NODES = 1 << 16  # that a column may have
MOST_LEVELS = 1 << 8
MOST_CELLS = 1 << 28  # of all columns on all levels


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


@dataclass(eq=False)
class Scan:
    """Rows of codes: code c of column j is node ``places[j][c]`` on its lowest level. Each thread needs its own.

    ``make``: makes a walk over the same rows, for schemes that leave too many combinations.

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
    _on_level: dict[tuple[int, int], Codes] = field(default_factory=dict)

    @cached_property
    def walk(self) -> Walk | WideWalk:
        """The walk, made when somebody needs it."""
        return self.make()

    def another(self, *, keeping: bool | None = None) -> "Scan":
        """Return one for another thread."""
        table = (self.lattice, self.codes, self.places, self.persons, self.records)
        return Scan(*table, lambda: self.walk.another(keeping=keeping), self._on_level)

    def tally(self, schemes: NDArray[np.int64], least: int, limit: int) -> Tallies:
        """Count classes of fewer than ``least`` persons, and the others, of schemes, which ascend.

        Of schemes with more than ``limit`` persons in the first nothing but these persons may be counted.
        """
        native = library.core()
        if native is None or not len(self.persons) or not len(schemes) or not self.fits:
            return self.walk.tally(schemes, [least], limit)
        levels, done = levels_of(self.lattice, schemes), np.zeros(len(schemes), np.uint8)
        figures = np.zeros((len(schemes), 2, len(FIGURES)), np.uint64)
        marginals = np.zeros((len(schemes), 1, self.lattice.width), np.uint32)
        self._take(levels)
        out = (done, figures, marginals)
        native.shoal_scan(
            ctypes.byref(self._table),
            address(levels),
            len(schemes),
            least,
            limit,
            *(address(array) for array in out),
        )
        left = np.flatnonzero(done == 0)
        if len(left):
            rest = self.walk.tally(schemes[left], [least], limit)
            figures[left], marginals[left] = rest.figures, rest.marginals
        return Tallies(schemes, figures, marginals)

    @cached_property
    def fits(self) -> bool:
        """Whether there is room for the nodes of all rows on all levels."""
        few = len(self.persons) * sum(self.lattice.shape) <= MOST_CELLS and max(self.lattice.shape) <= MOST_LEVELS
        return few and max(int(self.persons.sum()), int(self.records.sum())) < (1 << 32) - 1  # one more is no number

    def on_all_levels(self) -> Any:
        """Return what the core is told, with the nodes of the rows on all levels."""
        for column, sizes in enumerate(self.lattice.sizes):
            for level in range(len(sizes)):
                self._take_level(column, level)
        return ctypes.byref(self._table)

    def lowest(self) -> list[NDArray[np.intp]]:
        """Return the nodes of the rows on the lowest level, by column."""
        return [place[held].astype(np.intp) for place, held in zip(self.places, self.codes, strict=True)]

    @cached_property
    def _arrays(self) -> dict[str, NDArray[Any]]:
        """What the core is told, and room to work in."""
        shape, count = (len(self.lattice.shape), max(self.lattice.shape)), len(self.persons)
        persons = self.persons.astype(np.uint32)
        same = np.array_equal(self.persons, self.records)
        return {
            "codes": np.zeros(shape, np.uintp),
            "nodes": np.zeros(shape, np.int64),
            "offsets": self.lattice.offsets,
            "persons": persons,
            "records": persons if same else self.records.astype(np.uint32),
            "keys": np.empty(count, np.uint32),
            "rows": np.empty(count, np.uint32),
            "slots": np.zeros(min(max(64 * count, MOST_NODES), MOST_SLOTS), np.uint32),
        }

    @cached_property
    def _table(self) -> _Table:
        held = self._arrays
        columns, most = held["codes"].shape
        numbers = (columns, len(self.persons), most, self.lattice.width)
        return _Table(*numbers, *(address(array) for array in held.values()), len(held["slots"]))

    def _take(self, levels: NDArray[np.uint8]) -> None:
        """Note the nodes of the rows on levels that are asked for the first time."""
        new = np.argwhere(self._arrays["nodes"][np.arange(levels.shape[1]), levels] == 0)
        for column, level in {(column, int(levels[scheme, column])) for scheme, column in new.tolist()}:
            self._take_level(column, level)

    def _take_level(self, column: int, level: int) -> None:
        codes, nodes, size = self._arrays["codes"], self._arrays["nodes"], self.lattice.sizes[column][level]
        if size > MOST_NODES:
            nodes[column, level] = -1
        elif not nodes[column, level]:
            codes[column, level], nodes[column, level] = address(self._nodes_on(column, level)), size

    @cached_property
    def _zeros(self) -> Codes:
        """The nodes on a level that has only one."""
        return np.zeros(len(self.persons), np.uint8)

    def _nodes_on(self, column: int, level: int) -> Codes:
        size = self.lattice.sizes[column][level]
        if size == 1:
            return self._zeros
        if (column, level) not in self._on_level:
            up, nodes = self.places[column], np.empty(len(self.persons), narrowest(size))
            for step in self.lattice.steps[column][:level]:
                up = step[up]
            translate(self.codes[column], up, nodes)
            return self._on_level.setdefault((column, level), nodes)
        return self._on_level[column, level]  # whichever thread came first: the core was told where it is
