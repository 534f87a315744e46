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
from shoal.individuals.question import MOST_EVENTS

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
    reads_sets: ClassVar[bool] = True

    known: int = Field(default=2, ge=1, le=MOST_EVENTS, description="number of known events")
    targets: int = Field(default=1000, ge=1, description="maximum number of targets")

    def run(self, scene: Scene) -> Iterator[Result]:
        """Draw events of each target and search for the persons with the most of them."""
        whose = scene.original.subject
        if whose is None:
            return
        people = scene.targets.drawn(self.targets, scene.rng(self.name))
        events = drawn_events(scene, people)
        most = events.shape[1]
        if not most:
            return
        linked = np.zeros((most, len(people)))
        for part, number, candidates, right in candidates_by_events(scene, people, events):
            mine = candidates[np.arange(len(candidates)), right] & (right >= 0)
            linked[number, part] = mine / np.maximum(candidates.sum(axis=1), 1)
        baseline = 1 / max(len(scene.release[whose].values), 1)
        main = linked[min(self.known, most) - 1]
        yield self.result(
            scene,
            f"the individual is re-identified by {min(self.known, most)} known events",
            main,
            baseline,
            people=people,
            persons=scene.over_original(people, main),
            axis="events known",
            curve=tuple(self.point(number, shares, baseline) for number, shares in enumerate(linked, 1)),
        )


def drawn_events(scene: Scene, people: KnownPeople) -> NDArray[np.intp]:
    """Return some records of each person in random order, at most ``MOST_EVENTS``; −1 where there are no more."""
    codes = scene.original.codes(str(scene.original.subject))
    shuffled = scene.rng("events").permutation(scene.original.records)
    order = shuffled[np.argsort(codes[shuffled], kind="stable")]
    starts = np.searchsorted(codes[order], codes[people.records])
    number = np.searchsorted(codes[order], codes[people.records], side="right") - starts
    places = starts[:, None] + np.arange(MOST_EVENTS)
    events = np.where(np.arange(MOST_EVENTS) < number[:, None], order[np.minimum(places, len(order) - 1)], -1)
    return events[:, : int(min(number.max(initial=0), MOST_EVENTS))]


def candidates_by_events(
    scene: Scene, people: KnownPeople, events: NDArray[np.intp]
) -> Iterator[tuple[slice, int, NDArray[np.bool_], NDArray[np.intp]]]:
    """Yield the released persons who have the most of the first event of each target, of the first two, and so on.

    Each item: a slice of the targets, the number of events but one, a mask of the candidates by target and released
    person, and the released person of each target, −1 if it is not released.
    """
    whose = str(scene.original.subject)
    rows, persons = scene.rows((*scene.known, whose)), scene.release[whose].size
    covering, row_values = scene.covering(scene.known, rows), rows.codes[-1].astype(np.uint32)
    own, record = scene.own(people)
    right = np.full(len(people), -1, np.intp)
    right[own] = scene.release.codes(whose)[record]
    together = max(_ROOM // persons, 1)
    for begin in range(0, len(people), together):
        part = slice(begin, min(begin + together, len(people)))
        has = np.zeros((part.stop - begin, persons), np.uint8)
        for number, column in enumerate(events[part].T):
            there = np.flatnonzero(column >= 0)
            facts = [scene.values(name)[column[there]] for name in scene.known]
            has[there] += covering.counts(facts, row_values, persons) > 0
            yield part, number, has == np.maximum(has.max(axis=1), 1)[:, None], right[part]
