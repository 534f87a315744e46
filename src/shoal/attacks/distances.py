"""Distances between people and released records, for attacks that take what is nearest.

Gower 1971: the mean over the columns of a distance from 0 to 1. Numbers and days: the difference as a share of the
range that the original has; an interval counts as its middle. Anything else: 0 if the cell shows just the person's
value, 1 − 1/m if that is one of m that it may stand for, 1 if it is none of them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.cells import Cells
from shoal.attacks.people import People
from shoal.attacks.scene import Scene
from shoal.engines.protocol import DistinctRows
from shoal.table.scale import scale

Near = NDArray[np.float32]
_ROOM = 1 << 23  # distances that are held at a time
_UNKNOWN = 0.5  # to a number that is not shown
CLOSE = np.float32(1e-6)  # distances that differ by less are the same


@dataclass(frozen=True, eq=False)
class Distances:
    """Different rows of the release in some columns, and how far people are from them."""

    scene: Scene
    columns: tuple[str, ...]
    rows: DistinctRows

    @classmethod
    def of(cls, scene: Scene, columns: Sequence[str], rows: DistinctRows | None = None) -> "Distances":
        """Take the rows of the release; ``rows``: such of more columns.

        >>> import shoal
        >>> before = shoal.read({"age": [30, 40, 50], "sex": ["f", "m", "m"]}).assign(quasi=["age", "sex"])
        >>> scene = Scene.of(before, shoal.read({"age": [30, 45, 50], "sex": ["f", "*", "m"]}))
        >>> [part.tolist() for _, part in Distances.of(scene, ["age", "sex"]).to(scene.insiders)]
        [[[0.0, 0.625, 1.0], [0.75, 0.375, 0.25], [1.0, 0.375, 0.0]]]
        """
        return cls(scene, tuple(columns), scene.rows(columns) if rows is None else rows)

    def to(self, people: People) -> Iterator[tuple[slice, Near]]:
        """Yield for some people at a time how far they are from each row."""
        parts = [_Part.of(self.scene.cells[name], self._codes(name)) for name in self.columns]
        together = max(_ROOM // max(len(self.rows), 1), 1)
        for begin in range(0, len(people), together):
            part = slice(begin, min(begin + together, len(people)))
            total = np.zeros((part.stop - begin, len(self.rows)), np.float32)
            for name, held in zip(self.columns, parts, strict=True):
                held.add(people.codes[name][part], total)
            total /= np.float32(len(self.columns))
            yield part, total

    def _codes(self, name: str) -> NDArray[np.unsignedinteger]:
        return self.rows.codes[self.rows.columns.index(name)]


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """One column: numbers of people's values and of rows, or how far each value is from each set."""

    mine: Near
    theirs: Near
    table: Near | None
    nodes: NDArray[np.uint32]

    @classmethod
    def of(cls, cells: Cells, codes: NDArray[np.unsignedinteger]) -> "_Part":
        places = scale(cells.column)
        if places is None:
            none = np.zeros(0, np.float32)
            return cls(none, none, to_sets(cells), cells.nodes[codes])
        known = places[~np.isnan(places)]
        span = float(np.ptp(known)) if len(known) else 0.0
        mine, theirs = (held / (span or 1.0) for held in (places, cells.numbers[codes]))
        return cls(mine.astype(np.float32), theirs.astype(np.float32), None, cells.nodes[codes])

    def add(self, values: NDArray[np.unsignedinteger], total: Near) -> None:
        """Add the distances of some people's values."""
        if self.table is not None:
            total += self.table[values][:, self.nodes]
            return
        apart = np.abs(self.mine[values][:, None] - self.theirs[None, :])
        total += np.where(np.isnan(apart), np.float32(_UNKNOWN), np.minimum(apart, 1))


def to_sets(cells: Cells) -> Near:
    """Return how far each value is from each set."""
    sizes = np.diff(cells.starts)
    table = np.ones((cells.column.size, len(sizes)), np.float32)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    table[cells.members, owner] = 1 - 1 / np.maximum(sizes[owner], 1)
    return table
