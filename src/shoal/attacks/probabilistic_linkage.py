"""Probabilistic linkage: records weighed by how telling it is that they agree with what is known."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.attacks.attack import ATTACKS, Attack, Need
from shoal.attacks.people import People
from shoal.attacks.result import Adversary, Criterion, Result
from shoal.attacks.scene import Scene
from shoal.engines.protocol import DistinctRows
from shoal.recoding.nodes import Floats

MOST_COLUMNS = 16
_ROOM = 1 << 24  # pairs that are held at a time
_ROUNDS = 100


@ATTACKS.register("probabilistic-linkage")
class ProbabilisticLinkage(Attack):
    """The share of people whose record has the highest weight, as record linkage weighs it.

    A person and a record agree in a column if the cell may stand for the person's value. How likely a column agrees if
    they do not belong together (u) is read from all pairs; if they do (m), it is estimated by
    expectation–maximisation. A pair has the weight Σ log(m/u) over the columns that agree, and log((1−m)/(1−u)) over
    the others. Of records with the same weight one is taken by chance. Fellegi & Sunter 1969. It bears wrong facts and
    changed cells, unlike plain linkage.
    Baseline: any record. Details: precision and recall of links that are more likely right than not.

    >>> import shoal
    >>> before = shoal.read({"age": [30, 40, 50], "sex": ["f", "m", "m"]}).assign(quasi=["age", "sex"])
    >>> changed = shoal.read({"age": [30, 40, 50], "sex": ["m", "m", "m"]})
    >>> next(ProbabilisticLinkage().run(Scene.of(before, changed, truth=np.arange(3)))).success.value
    1.0
    """

    name: ClassVar[str] = "probabilistic-linkage"
    adversary: ClassVar[Adversary] = Adversary.STATISTICAL
    criterion: ClassVar[Criterion] = Criterion.LINKABILITY
    needs: ClassVar[frozenset[Need]] = frozenset({Need.KNOWN, Need.TRUTH})

    targets: int = Field(default=1000, ge=1, description="how many people are attacked at most")

    def run(self, scene: Scene) -> Iterator[Result]:
        """Weigh all pairs of people and records."""
        if scene.truth is None:
            return
        people = scene.targets.drawn(self.targets, scene.rng(self.name))
        columns = scene.known[:MOST_COLUMNS]
        rows = scene.rows(columns)
        tallies = np.zeros(1 << len(columns))
        for _, agreeing in _agreeing(scene, people, rows):
            weights = np.broadcast_to(rows.counts, agreeing.shape)
            tallies += np.bincount(agreeing.ravel(), weights.ravel(), len(tallies))
        fitted = Fitted.of(tallies, len(columns), 1 / max(scene.release.records, 1))
        own = scene.truth[people.records]
        right, claimed = np.zeros(len(people)), np.zeros(len(people), bool)
        for part, agreeing in _agreeing(scene, people, rows):
            weight = fitted.weights[agreeing]
            best = weight.max(axis=1)
            first = weight >= best[:, None] - 1e-9
            mine = first[np.arange(len(first)), rows.origin[np.maximum(own[part], 0)]]
            right[part] = mine * (own[part] >= 0) / np.maximum((rows.counts * first).sum(axis=1), 1)
            claimed[part] = fitted.likely[agreeing].max(axis=1) >= 0.5
        yield self.result(
            scene,
            "the record with the highest weight is the right one",
            right,
            1 / max(scene.release.records, 1),
            persons=scene.over_original(people, right),
            details={
                "precision": float(right[claimed].mean()) if claimed.any() else None,
                "recall": float((right * claimed).mean()),
                "agree_if_same": dict(zip(columns, fitted.same.round(4).tolist(), strict=True)),
                "agree_if_not": dict(zip(columns, fitted.other.round(4).tolist(), strict=True)),
            },
        )


def _agreeing(scene: Scene, people: People, rows: DistinctRows) -> Iterator[tuple[slice, NDArray[np.uint16]]]:
    """Yield for some people at a time in which columns they agree with each row, as bits."""
    together = max(_ROOM // max(len(rows), 1), 1)
    sets = [scene.cells[name].sets(codes) for name, codes in zip(rows.columns, rows.codes, strict=True)]
    for begin in range(0, len(people), together):
        part = slice(begin, min(begin + together, len(people)))
        found = np.zeros((part.stop - begin, len(rows)), np.uint16)
        for bit, (name, held) in enumerate(zip(rows.columns, sets, strict=True)):
            agrees = held.held(people.codes[name][part])[:, held.of_row]
            found |= agrees.astype(np.uint16) << np.uint16(bit)
        yield part, found


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """``same[j]``: how likely column j agrees in pairs that belong together, ``other[j]``: in others.

    ``weights``: of each pattern of agreement. ``likely``: how likely a pair with it belongs together.
    """

    same: Floats
    other: Floats
    weights: Floats
    likely: Floats

    @classmethod
    def of(cls, tallies: Floats, columns: int, share: float) -> "Fitted":
        """Estimate from how many pairs show each pattern; ``share``: of those that belong together.

        Nearly all pairs do not, so how likely these agree is read from all of them.
        """
        agrees = (np.arange(len(tallies))[:, None] >> np.arange(columns) & 1).astype(np.float64)
        other = np.clip((tallies @ agrees) / max(tallies.sum(), 1.0), 1e-6, 1 - 1e-6)
        same = np.full(columns, 0.95)
        for _ in range(_ROUNDS):
            mine, before = tallies * _likely(agrees, same, other, share), same
            same = np.clip((mine @ agrees) / max(mine.sum(), 1e-12), np.maximum(other, 0.5), 1 - 1e-6)
            if np.abs(same - before).max(initial=0) < 1e-9:
                break
        return cls(same, other, _logs(agrees, same) - _logs(agrees, other), _likely(agrees, same, other, share))


def _logs(agrees: Floats, rates: Floats) -> Floats:
    logs: Floats = agrees @ np.log(rates) + (1 - agrees) @ np.log1p(-rates)
    return logs


def _likely(agrees: Floats, same: Floats, other: Floats, share: float) -> Floats:
    odds = np.exp(np.clip(_logs(agrees, same) - _logs(agrees, other), -700, 700)) * share / (1 - share)
    return np.asarray(odds / (1 + odds))
