"""Beliefs: the probabilities of a person's sensitive values, given the candidate records that an adversary finds.

A candidate record that fits few individuals is more likely the person's than one that fits all: it has the weight 1/n,
where n is the expected number of individuals it fits. Within a class all records have the same weight, so the
probability of a value is its frequency in the class. Records that show none of the known attributes count only if the
person has no other candidate. If a record shows a set of sensitive values, all of them are equally probable.
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
_ROOM = 1 << 23  # numbers held in memory at a time


@dataclass(frozen=True, slots=True, eq=False)
class Weighed:
    """The evidence for the sensitive values of some individuals: ``weights[i, j]`` for ``values[j]`` of individual i.

    ``part``: the slice of these individuals. All other values have the weight 0.
    """

    part: slice
    values: NDArray[np.intp]
    weights: Floats

    def at(self, truth: NDArray[np.intp], codes: NDArray[Any]) -> Floats:
        """Return the number in ``codes`` for one value of each individual; 0 for values without weight."""
        if not len(self.values):
            return np.zeros(len(truth))
        place = np.minimum(np.searchsorted(self.values, truth), len(self.values) - 1)
        return np.where(self.values[place] == truth, codes[np.arange(len(truth)), place], 0.0)

    @property
    def alone(self) -> Mask:
        """The mask of values that are the only possible one of an individual."""
        there = self.weights > 0
        return np.asarray(there & (there.sum(axis=1, keepdims=True) == 1))


def counted(scene: Scene, people: KnownPeople, column: str) -> Iterator[Weighed]:
    """Yield, for batches of individuals, the weight of their candidate records by value of a sensitive column.

    A record that fits no other individual has the weight 1.

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
    """Yield batches of individuals that fit into memory.

    The limit applies to their candidate records plus the table of individuals and values.
    """
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
    """The weights of rows. ``weights``: the total of the records of a row. ``silent``: rows that show nothing."""

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
        """Sum the weights over pairs of individuals and rows; the values of a set share its weight equally."""
        speaks = np.bincount(who[~self.silent[row]], minlength=part.stop - part.start) > 0
        there = ~(self.silent[row] & speaks[who])  # rows that show nothing count only if there is no other
        who, row = who[there], row[there]
        sizes = self.cells.sizes[self.nodes[row]]
        pair, member = expanded(self.cells.starts[self.nodes[row]], sizes)
        values, place = np.unique(self.cells.members[member], return_inverse=True)
        weights = (self.weights[row] / np.maximum(sizes, 1))[pair]
        shape = (part.stop - part.start, len(values))
        weights_of = np.bincount(who[pair] * shape[1] + place, weights, shape[0] * shape[1]).reshape(shape)
        return Weighed(part, values.astype(np.intp), weights_of)


def shares(weighed: Weighed) -> Floats:
    """Return the probability of each value for some individuals; 1 only if no other value is possible."""
    total = weighed.weights.sum(axis=1, keepdims=True)
    return np.where(weighed.alone, 1.0, np.minimum(weighed.weights / np.where(total > 0, total, 1), 1 - 1e-9))


def judged(
    scene: Scene, people: KnownPeople, column: str, claims: Sequence[Callable[[Weighed], NDArray[Any]]]
) -> tuple[Floats, Floats]:
    """Return, for each claim, its correctness for each individual, and the probability of that by chance.

    A claim assigns to each value whether, or to what degree, it would be correct if the value were true. By chance
    means that the sensitive values are drawn from their frequencies, independently of the known attributes.
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
    """Return the frequency of each value among the released records that have one."""
    often, missing = prior(scene, column), scene.columns[column].missing_code
    if missing is not None:
        often[missing] = 0
    return np.asarray(often / (often.sum() or 1.0))


def prior(scene: Scene, column: str) -> Floats:
    """Return the frequency of each value of a sensitive column in the release, which any reader can determine."""
    cells = scene.cells[column]
    spread = cells.spread(np.bincount(cells.nodes[cells.codes], minlength=len(cells.sizes)).astype(np.float64))
    return np.asarray(spread / max(spread.sum(), 1))
