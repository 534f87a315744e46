"""Beliefs: what an adversary who finds the records that may be somebody's thinks about their sensitive value.

A record that may be few people's is likelier to be the person's than one that may be anybody's: it weighs 1/n, if n
people may be expected to fit. Within a class all weigh the same, so a value is as likely as it is frequent there.
Records that show nothing of what is known count where no other may be the person's. Where a record shows a set of
sensitive values, each of them is as likely as another.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.people import KnownPeople
from shoal.attacks.scene import Scene
from shoal.engines.protocol import DistinctRows
from shoal.kernels.covering import Covering
from shoal.kernels.ranges import expanded
from shoal.recoding.cells import Cells
from shoal.recoding.nodes import Floats, Ints

Mask: TypeAlias = NDArray[np.bool_]
_ROOM = 1 << 23  # numbers that are held at a time


@dataclass(frozen=True, slots=True, eq=False)
class Weighed:
    """What speaks for the values of some people: ``weights[i, j]`` for ``values[j]`` of the i-th of them.

    ``part``: who they are. Other values have no weight.
    """

    part: slice
    values: NDArray[np.intp]
    weights: Floats

    def at(self, truth: NDArray[np.intp], codes: NDArray[Any]) -> Floats:
        """Return what is told of one value of each person; 0 of those that have no weight."""
        if not len(self.values):
            return np.zeros(len(truth))
        place = np.minimum(np.searchsorted(self.values, truth), len(self.values) - 1)
        return np.where(self.values[place] == truth, codes[np.arange(len(truth)), place], 0.0)

    @property
    def alone(self) -> Mask:
        """Which values are the only ones of a person."""
        there = self.weights > 0
        return np.asarray(there & (there.sum(axis=1, keepdims=True) == 1))


def counted(scene: Scene, people: KnownPeople, column: str) -> Iterator[Weighed]:
    """Yield for some people at a time the weight of their candidate records with each value of a sensitive column.

    A record has the weight 1 if it fits nobody else.

    >>> import shoal
    >>> before = shoal.read({"age": [31, 34, 71], "dx": ["flu", "ms", "flu"]}).assign(quasi="age", sensitive="dx")
    >>> scene = Scene.of(before, shoal.read({"age": ["30-39", "30-39", "71"], "dx": ["flu", "ms", "flu"]}))
    >>> [held.weights.tolist() for held in counted(scene, scene.insiders, "dx")]
    [[[0.5, 0.5], [0.5, 0.5], [1.0, 0.0]]]
    """
    rows = scene.rows((*scene.known, column))
    covering = scene.covering(scene.known, rows)
    weighing = _Weighing.of(scene, rows, column)
    number = Covering(covering.columns, weighing.cells.sizes[weighing.nodes]).counts(people.known(scene.known))
    for part in _parts(number, weighing.cells.column.size):
        ends, covering_rows = covering.rows([codes[part] for codes in people.known(scene.known)])
        who = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
        yield weighing.weighed(part, who, covering_rows.astype(np.intp))


def _parts(number: Ints, values: int) -> Iterator[slice]:
    """Yield some people at a time: so many that neither their records nor a table of people and values is too large."""
    begin, total = 0, 0
    for place, mine in enumerate(number.tolist()):
        total += mine
        if place > begin and (place + 1 - begin) * min(values, total) + total > _ROOM:
            yield slice(begin, place)
            begin, total = place, mine
    if begin < len(number):
        yield slice(begin, len(number))


@dataclass(frozen=True, slots=True, eq=False)
class _Weighing:
    """How rows are weighed. ``weights``: of their records together; ``silent``: whether they show nothing."""

    cells: Cells
    nodes: NDArray[np.uint32]
    weights: Floats
    silent: Mask

    @classmethod
    def of(cls, scene: Scene, rows: DistinctRows, column: str) -> "_Weighing":
        reach, cells = scene.reach(rows, scene.known), scene.cells[column]
        silent = reach >= len(scene.insiders) * (1 - 1e-12)
        return cls(cells, cells.nodes[rows.codes[-1]], rows.counts / np.maximum(reach, 1), silent)

    def weighed(self, part: slice, who: NDArray[np.intp], row: NDArray[np.intp]) -> Weighed:
        """Add up pairs of people and rows; each value of a set has its share."""
        speaks = np.bincount(who[~self.silent[row]], minlength=part.stop - part.start) > 0
        there = ~(self.silent[row] & speaks[who])  # what shows nothing counts where nothing else is there
        who, row = who[there], row[there]
        sizes = self.cells.sizes[self.nodes[row]]
        pair, member = expanded(self.cells.starts[self.nodes[row]], sizes)
        values, place = np.unique(self.cells.members[member], return_inverse=True)
        weights = (self.weights[row] / np.maximum(sizes, 1))[pair]
        shape = (part.stop - part.start, len(values))
        weights_of = np.bincount(who[pair] * shape[1] + place, weights, shape[0] * shape[1]).reshape(shape)
        return Weighed(part, values.astype(np.intp), weights_of)


def shares(weighed: Weighed) -> Floats:
    """Return how likely each value of some people is; 1 only if no other is left."""
    total = weighed.weights.sum(axis=1, keepdims=True)
    return np.where(weighed.alone, 1.0, np.minimum(weighed.weights / np.where(total > 0, total, 1), 1 - 1e-9))


def judged(
    scene: Scene, people: KnownPeople, column: str, claims: Sequence[Callable[[Weighed], NDArray[Any]]]
) -> tuple[Floats, Floats]:
    """Return for each claim whether it is right about each person, and how likely it would be by chance.

    A claim tells of which values it would be right, or how much so. By chance: if what people have were drawn from how
    frequent values are, and had nothing to do with what is known of them.
    """
    right, chance = np.zeros((2, len(claims), len(people)))
    often = chances(scene, column)
    for weighed in counted(scene, people, column):
        truth = people.codes[column][weighed.part].astype(np.intp)
        for place, claim in enumerate(claims):
            would = claim(weighed)
            right[place, weighed.part] = weighed.at(truth, would)
            chance[place, weighed.part] = would @ often[weighed.values]
    return right, chance


def chances(scene: Scene, column: str) -> Floats:
    """Return how frequent each value is among the records of the release that have one."""
    often, missing = prior(scene, column), scene.columns[column].missing_code
    if missing is not None:
        often[missing] = 0
    return np.asarray(often / (often.sum() or 1.0))


def prior(scene: Scene, column: str) -> Floats:
    """Return how frequent each value of a sensitive column is in the release: what anybody can read there."""
    cells = scene.cells[column]
    spread = cells.spread(np.bincount(cells.nodes[cells.codes], minlength=len(cells.sizes)).astype(np.float64))
    return np.asarray(spread / max(spread.sum(), 1))
