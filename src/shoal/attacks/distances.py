"""Distances between individuals and released records, for attacks that select the nearest record.

Gower 1971: the mean over the columns of a distance from 0 to 1. For numbers and dates, it is the difference as a share
of the range of the original, and 1/2 if no number is shown. For labels, it is 0 if the label shows exactly the person's
value, increases with the number of values that the label covers, up to 1/10 for all values, and is 1 if the label does
not cover the value. For labels of numbers that do not cover the value, it is from 1/2 to 1, increasing with the gap.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.people import KnownPeople
from shoal.attacks.scene import Scene
from shoal.engines.protocol import DistinctRows
from shoal.kernels.covering import Sets
from shoal.kernels.lookups import Near, nearest, summed
from shoal.recoding.cells import Cells
from shoal.recoding.nodes import Floats
from shoal.table.scale import scale

_ROOM, _PAIRS = 1 << 22, 1 << 24  # distances held, and pairs compared, at a time
_UNKNOWN = 0.5  # distance to a number that is not shown, where numbers may be perturbed
_AMONG_ALL = 0.1  # distance to a label of all values: much less than to a wrong one
CLOSE = np.float32(1e-6)  # distances that differ by less are ties


@dataclass(frozen=True, eq=False)
class Distances:
    """Distances of individuals to the distinct rows of the release in the given columns."""

    scene: Scene
    columns: tuple[str, ...]
    rows: DistinctRows

    @classmethod
    def of(cls, scene: Scene, columns: Sequence[str], rows: DistinctRows | None = None) -> "Distances":
        """Take the rows of the release; ``rows``: distinct rows that may have further columns.

        >>> import shoal
        >>> before = shoal.read({"age": [30, 40, 50], "sex": ["f", "m", "m"]}).assign(quasi=["age", "sex"])
        >>> scene = Scene.of(before, shoal.read({"age": [30, 45, 50], "sex": ["f", "*", "m"]}))
        >>> [(part * 1000).round().tolist() for _, part in Distances.of(scene, ["age", "sex"]).to(scene.insiders)]
        [[[0.0, 425.0, 1000.0], [750.0, 175.0, 250.0], [1000.0, 175.0, 0.0]]]
        """
        return cls(scene, tuple(columns), scene.rows(columns) if rows is None else rows)

    def to(self, people: KnownPeople) -> Iterator[tuple[slice, Near]]:
        """Yield, for batches of individuals, their distance to each row."""
        parts = self._parts()
        together = max(_ROOM // max(len(self.rows), 1), 1)
        for begin in range(0, len(people), together):
            part = slice(begin, min(begin + together, len(people)))
            total = summed(*self._looked_up(parts, people.some(part)), [part.nodes for part in parts])
            total /= np.float32(len(self.columns))
            yield part, total

    def nearest(self, people: KnownPeople, among: NDArray[np.intp] | None = None) -> "Iterator[Nearest]":
        """Yield, for batches of individuals, the nearest rows; ``among``: the rows to search (default: all)."""
        parts = self._parts()
        rows = np.arange(len(self.rows)) if among is None else among
        nodes = [part.nodes[rows] for part in parts]
        together = max(_PAIRS // max(len(rows), 1), 1)
        for begin in range(0, len(people), together):
            part = slice(begin, min(begin + together, len(people)))
            looked_up = self._looked_up(parts, people.some(part))
            least, ends, nearest_rows = nearest(*looked_up, nodes, float(CLOSE) * len(self.columns))
            who = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
            yield Nearest(part, who, rows[nearest_rows], least / np.float32(len(self.columns)))

    def _parts(self) -> "list[_Part]":
        return [_Part.of(self.scene.cells[name], self._codes(name)) for name in self.columns]

    def _looked_up(self, parts: "Sequence[_Part]", people: KnownPeople) -> tuple[list[Near], list[NDArray[np.intp]]]:
        """Return, per column, the distances of the distinct values of individuals, and the value of each individual."""
        values = [np.unique(people.codes[name], return_inverse=True) for name in self.columns]
        tables = [part.table(mine) for part, (mine, _) in zip(parts, values, strict=True)]
        return tables, [lines for _, lines in values]

    def _codes(self, name: str) -> NDArray[np.unsignedinteger[Any]]:
        return self.rows.codes[self.rows.columns.index(name)]


@dataclass(frozen=True, slots=True, eq=False)
class Nearest:
    """Pairs of an individual and a row nearest to it. ``least``: the distance of each individual to these rows."""

    part: slice
    who: NDArray[np.intp]
    row: NDArray[np.intp]
    least: Near


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """One column of the distance. ``nodes``: the set that each row shows, or its released code if numerical.

    ``mine``: the numbers of the original values. ``low``, ``high``: the bounds of the released codes. All are shares of
    the range, and only used for numerical columns.
    """

    cells: Cells
    nodes: NDArray[np.uint32]
    mine: Floats | None
    low: Floats
    high: Floats

    @classmethod
    def of(cls, cells: Cells, codes: NDArray[np.unsignedinteger[Any]]) -> "_Part":
        """Take rows with the given released codes."""
        places = scale(cells.column)
        if places is None:
            return cls(cells, cells.nodes[codes], None, np.zeros(0), np.zeros(0))
        known = places[~np.isnan(places)]
        span = (float(np.ptp(known)) if len(known) else 0.0) or 1.0
        return cls(cells, codes.astype(np.uint32), places / span, cells.low / span, cells.high / span)

    def table(self, values: NDArray[np.unsignedinteger[Any]]) -> Near:
        """Return the distance of each value to each node."""
        if self.mine is None:
            return apart_from_sets(self.cells, values)
        mine = self.mine[values][:, None]
        beyond = np.maximum(np.maximum(self.low - mine, mine - self.high), 0)
        if self.cells.labels:
            width = np.minimum(self.high - self.low, 1)
            beyond = np.where(beyond > 0, (1 + np.minimum(beyond, 1)) / 2, _AMONG_ALL * width)
        unknown = _AMONG_ALL if self.cells.labels else _UNKNOWN
        return np.where(np.isnan(beyond), unknown, np.minimum(beyond, 1)).astype(np.float32)


def apart_from_sets(cells: Cells, values: NDArray[np.unsignedinteger[Any]]) -> Near:
    """Return the distance of each value to each set."""
    inside = Sets(cells.nodes, cells.starts, cells.members, cells.column.size).holds(values)
    among = _AMONG_ALL * (cells.sizes - 1) / max(cells.column.size - 1, 1)
    return np.where(inside, among, 1).astype(np.float32)
