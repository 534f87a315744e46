"""Beliefs: what an adversary who finds the records that may be somebody's thinks about their sensitive value.

A record that may be few people's is likelier to be the person's than one that may be anybody's: it weighs 1/n, if n
people may be expected to fit. Within a class all weigh the same, so a value is as likely as it is frequent there.
Records that show nothing of what is known count where no other may be the person's. Where
a record shows a set of sensitive values, each of them is as likely as another.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.people import People
from shoal.attacks.scene import Scene
from shoal.engines.protocol import DistinctRows
from shoal.kernels.covering import Covering
from shoal.recoding.nodes import Floats

Mask: TypeAlias = NDArray[np.bool_]
_ROOM = 1 << 23  # numbers that are held at a time
_UNIT, _SHIFT = 1 << 22, 20  # what one record weighs that fits one person, above the digits of those that fit all


@dataclass(frozen=True, slots=True, eq=False)
class Beliefs:
    """What is believed about people, one number for each of them.

    ``candidates``: records that may be theirs. ``right``: how likely their true value is, 0 if there are no candidates.
    """

    candidates: Floats
    right: Floats

    @property
    def certain(self) -> Mask:
        """Of whom the value is known for sure, and rightly so."""
        return np.asarray((self.candidates > 0) & (self.right >= 1 - 1e-12))


def counted(scene: Scene, people: People, column: str) -> Iterator[tuple[slice, Floats]]:
    """Yield for some people at a time the weight of their candidate records with each value of a sensitive column.

    A record has the weight 1 if it fits nobody else.

    >>> import shoal
    >>> before = shoal.read({"age": [31, 34, 71], "dx": ["flu", "ms", "flu"]}).assign(quasi="age", sensitive="dx")
    >>> scene = Scene.of(before, shoal.read({"age": ["30-39", "30-39", "71"], "dx": ["flu", "ms", "flu"]}))
    >>> [counts.tolist() for _, counts in counted(scene, scene.insiders, "dx")]
    [[[0.5, 0.5], [0.5, 0.5], [1.0, 0.0]]]
    """
    rows = scene.rows((*scene.known, column))
    covering = Covering(scene.covering(scene.known, rows).columns, _weights(scene, rows))
    said = scene.cells[column].sets(rows.codes[-1])
    together = max(_ROOM // max(len(scene.columns[column].labels()), 1), 1)
    for begin in range(0, len(people), together):
        part = slice(begin, min(begin + together, len(people)))
        found = covering.counts([codes[part] for codes in people.known(scene.known)], said.of_row, said.number)
        telling, silent = found >> _SHIFT, found & ((1 << _SHIFT) - 1)
        weights = np.where(telling.any(axis=1, keepdims=True), telling / _UNIT, silent)
        yield part, _spread(weights, said.starts, said.codes, said.values)


def _weights(scene: Scene, rows: DistinctRows) -> NDArray[np.int64]:
    """Return how much the records of each row weigh together: whole numbers, so that shares of a class are exact.

    The last digits are for those that show nothing.
    """
    reach = scene.reach(rows, scene.known)
    weights = np.maximum(np.round(_UNIT / np.maximum(reach, 1)), 1).astype(np.int64) << _SHIFT
    return np.where(reach >= len(scene.insiders) * (1 - 1e-12), 1, weights) * rows.counts


def _spread(counts: Floats, starts: NDArray[np.int64], codes: NDArray[np.uint32], values: int) -> Floats:
    """Give each value its share of the records that show a set."""
    used = np.flatnonzero(counts.any(axis=0))
    sizes = np.diff(starts)
    found = np.zeros((len(counts), values))
    single = used[sizes[used] == 1]
    np.add.at(found.T, codes[starts[single]], counts[:, single].T)
    for node in used[sizes[used] > 1]:
        found[:, codes[starts[node] : starts[node + 1]]] += counts[:, [node]] / sizes[node]
    return found


def believed(scene: Scene, people: People, column: str) -> Beliefs:
    """Return what is believed about people."""
    parts = np.zeros((2, len(people)))
    for part, counts in counted(scene, people, column):
        total, truth = counts.sum(axis=1), people.codes[column][part].astype(np.intp)
        parts[:, part] = total, counts[np.arange(len(truth)), truth] / np.where(total > 0, total, 1)
    return Beliefs(*parts)


def prior(scene: Scene, column: str) -> Floats:
    """Return how frequent each value of a sensitive column is in the release: what anybody can read there."""
    said = scene.cells[column].sets(scene.cells[column].codes)
    counts = np.bincount(said.of_row, minlength=said.number)[None, :].astype(np.float64)
    spread = _spread(counts, said.starts, said.codes, said.values)[0]
    return np.asarray(spread / max(spread.sum(), 1))
