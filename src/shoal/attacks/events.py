"""Events: re-identification of a person by some known records."""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.attacks.attack import ATTACKS, Attack, AttackNeed
from shoal.attacks.people import KnownPeople
from shoal.attacks.result import Adversary, Criterion, Result
from shoal.attacks.scene import Scene
from shoal.recoding.nodes import Floats

_MOST = 5  # maximum number of known events
_ROOM = 1 << 23  # pairs of targets and released persons held in memory at a time


@ATTACKS.register("events")
class Events(Attack):
    """Share of individuals re-identified by some of their records, such as a stay or a visit.

    If a release links the records of a person by a pseudonym, an adversary who knows some events of the person searches
    for the persons with the most of them, because some events may be suppressed. With c such persons, the correct one
    is selected with probability 1/c. The curve shows the success by number of known events, drawn at random; of
    individuals with fewer events, all are known. Loukides et al. 2010; de Montjoye et al. 2013 (four points suffice).
    Baseline: a random person of the release.

    >>> import shoal
    >>> data = {"who": list("aabb"), "day": [1, 2, 1, 3]}
    >>> before = shoal.read(data).assign(subject="who", quasi="day")
    >>> scene = Scene.of(before, shoal.read(data), truth=np.arange(4))
    >>> result = next(Events(known=2).run(scene))
    >>> [point.success.value for point in result.curve]
    [0.75, 1.0]
    """

    name: ClassVar[str] = "events"
    adversary: ClassVar[Adversary] = Adversary.CLASSICAL
    criterion: ClassVar[Criterion] = Criterion.SINGLING_OUT
    baseline_is: ClassVar[str] = "a random individual"
    needs: ClassVar[frozenset[AttackNeed]] = frozenset({AttackNeed.KNOWN, AttackNeed.EVENTS, AttackNeed.TRUTH})

    known: int = Field(default=2, ge=1, le=_MOST, description="number of known events")
    targets: int = Field(default=1000, ge=1, description="maximum number of targets")

    def run(self, scene: Scene) -> Iterator[Result]:
        """Draw events of each target and search for the persons with the most of them."""
        whose = scene.original.subject
        if whose is None:
            return
        people = scene.targets.drawn(self.targets, scene.rng(self.name))
        drawn = _drawn(scene, whose, people.records)
        most = min(int((drawn >= 0).sum(axis=1).max(initial=0)), _MOST)
        if not most:
            return
        linked = _found(scene, whose, people, drawn[:, :most])
        baseline = 1 / max(len(scene.release[whose].values), 1)
        main = linked[min(self.known, most) - 1]
        yield self.result(
            scene,
            f"the individual is re-identified by {min(self.known, most)} known events",
            main,
            baseline,
            persons=scene.over_original(people, main),
            axis="events known",
            curve=tuple(self.point(number, shares, baseline) for number, shares in enumerate(linked, 1)),
        )


def _drawn(scene: Scene, whose: str, records: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return some records of each person in random order; −1 where there are no more."""
    codes = scene.original.codes(whose)
    shuffled = scene.rng("events").permutation(scene.original.records)
    order = shuffled[np.argsort(codes[shuffled], kind="stable")]
    starts = np.searchsorted(codes[order], codes[records])
    number = np.searchsorted(codes[order], codes[records], side="right") - starts
    places = starts[:, None] + np.arange(_MOST)
    return np.where(np.arange(_MOST) < number[:, None], order[np.minimum(places, len(order) - 1)], -1)


def _found(scene: Scene, whose: str, people: KnownPeople, events: NDArray[np.intp]) -> Floats:
    """Return the probability that each person is re-identified by the first event, by the first two, and so on."""
    rows, persons = scene.rows((*scene.known, whose)), scene.release[whose].size
    covering, row_values = scene.covering(scene.known, rows), rows.codes[-1].astype(np.uint32)
    own, record = scene.own(people)
    right = np.full(len(people), -1, np.intp)
    right[own] = scene.release.codes(whose)[record]
    linked = np.zeros((events.shape[1], len(people)))
    together = max(_ROOM // persons, 1)
    for begin in range(0, len(people), together):
        part = slice(begin, min(begin + together, len(people)))
        has = np.zeros((part.stop - begin, persons), np.uint8)
        for number, column in enumerate(events[part].T):
            there = np.flatnonzero(column >= 0)
            facts = [scene.values(name)[column[there]] for name in scene.known]
            has[there] += covering.counts(facts, row_values, persons) > 0
            first = has == np.maximum(has.max(axis=1), 1)[:, None]
            mine = first[np.arange(len(has)), right[part]] & (right[part] >= 0)
            linked[number, part] = mine / np.maximum(first.sum(axis=1), 1)
    return linked
