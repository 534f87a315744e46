"""Shown rows: the distinct rows of a release in all columns that it shares with others."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.attacks.people import KnownPeople
from shoal.attacks.scene import Scene
from shoal.engines.protocol import DistinctRows
from shoal.table.role import Role


@dataclass(frozen=True, eq=False)
class ShownRows:
    """The distinct rows of a release in all columns that it shares with another one.

    ``pseudonyms``: further columns of both releases that name records, by the code that both share; unequal if −1.
    """

    scene: Scene
    rows: DistinctRows
    pseudonyms: dict[str, NDArray[np.int64]]

    @classmethod
    def of(cls, scenes: Sequence[Scene]) -> "tuple[ShownRows, ...]":
        """Return the rows of several releases of the same individuals."""
        naming = _naming(scenes)
        shown = []
        for scene in scenes:
            rows = scene.rows((*scene.cells, *(name for name in naming if name in scene.release)))
            codes = {name: _codes(rows, name) for name in naming if name in scene.release}
            shared = {name: _shared(scenes, scene, name)[codes_of] for name, codes_of in codes.items()}
            shown.append(cls(scene, rows, shared))
        return tuple(shown)

    def __len__(self) -> int:
        return len(self.rows)

    def nodes(self, name: str) -> NDArray[np.uint32]:
        """Return the set of values that each row shows in a column."""
        return self.scene.cells[name].nodes[self.codes(name)]

    def codes(self, name: str) -> NDArray[np.int64]:
        """Return the released code of each row in a column."""
        return _codes(self.rows, name)

    def covering(self, people: KnownPeople) -> NDArray[np.uint32]:
        """Return the rows that are compatible with the known attributes of at least one of some individuals."""
        known = self.scene.known
        return self.scene.covering(known, self.rows).rows(people.known(known))[1]

    @cached_property
    def plain(self) -> frozenset[str]:
        """The columns in which every row shows one value."""
        return frozenset(name for name, cells in self.scene.cells.items() if (cells.sizes[self.nodes(name)] == 1).all())

    def value(self, name: str) -> NDArray[np.int64]:
        """Return the only value of each row in a plain column, or the name of its record."""
        if name in self.pseudonyms:
            return self.pseudonyms[name]
        cells = self.scene.cells[name]
        return cells.members[cells.starts[self.nodes(name)]].astype(np.int64)


def _naming(scenes: Sequence[Scene]) -> tuple[str, ...]:
    """Return the columns that name records, such as pseudonyms, in at least two releases with common names."""
    original = scenes[0].original
    names = [*original.with_role(Role.SUBJECT), *original.with_role(Role.DIRECT)]
    return tuple(name for name in names if sum(name in scene.release for scene in scenes) > 1)


def _shared(scenes: Sequence[Scene], scene: Scene, name: str) -> NDArray[np.int64]:
    """Return a number for each code of a naming column that is equal for equal labels of all releases."""
    labels = [other.release[name].labels().drop_null() for other in scenes if name in other.release]
    mine, every = scene.release[name].labels(), pc.unique(pa.concat_arrays(labels))
    places = pc.index_in(mine, every, skip_nulls=True).fill_null(-1)
    return np.asarray(places.to_numpy(zero_copy_only=False), np.int64)


def _codes(rows: DistinctRows, name: str) -> NDArray[np.int64]:
    return rows.codes[rows.columns.index(name)].astype(np.int64)
