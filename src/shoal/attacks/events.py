"""Events: some of a person's records are known, and the others are found."""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.analyses.estimate import Estimate
from shoal.attacks.attack import ATTACKS, Attack, Need
from shoal.attacks.result import Adversary, Criterion, Point, Result
from shoal.attacks.scene import Scene
from shoal.recoding.nodes import Floats

_MOST = 5  # events that are known


@ATTACKS.register("events")
class Events(Attack):
    """The share of people who are found by some of their records: a stay, a visit, a date.

    Where a release says which records belong together, by a pseudonym, whoever knows some events of a person looks for
    the persons who have all of them. With c candidates the right one is taken with probability 1/c. The curve goes over
    how many events are known, drawn by chance. Loukides et al. 2010; de Montjoye et al. 2013 (four points suffice).
    Baseline: any person of the release.

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
    needs: ClassVar[frozenset[Need]] = frozenset({Need.KNOWN, Need.EVENTS, Need.TRUTH})

    known: int = Field(default=2, ge=1, le=_MOST, description="how many events are known")
    targets: int = Field(default=1000, ge=1, description="how many people are attacked at most")

    def run(self, scene: Scene) -> Iterator[Result]:
        """Draw events of each person, and look for who has all of them."""
        whose = scene.original.subject
        if whose is None or whose not in scene.release or scene.truth is None:
            return
        people = scene.targets.drawn(self.targets, scene.rng(self.name))
        drawn = _drawn(scene, whose, people.records)
        most = min(int((drawn >= 0).sum(axis=1).max(initial=0)), _MOST)
        found = [_found(scene, whose, drawn[:, :number]) for number in range(1, most + 1)]
        baseline = 1 / max(len(scene.release[whose].values), 1)
        if not found:
            return
        main = found[min(self.known, most) - 1]
        yield self.result(
            scene,
            f"a person is found by {min(self.known, most)} known events",
            main,
            baseline,
            persons=scene.over_original(people, main),
            axis="events known",
            curve=tuple(
                Point(number, Estimate.share(float(held.mean()), len(held)), baseline)
                for number, held in enumerate(found, 1)
            ),
        )


def _drawn(scene: Scene, whose: str, records: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return some records of each person, in an order drawn by chance; −1 where there are no more."""
    codes = scene.original.codes(whose)
    shuffled = scene.rng("events").permutation(scene.original.records)
    order = shuffled[np.argsort(codes[shuffled], kind="stable")]
    starts = np.searchsorted(codes[order], codes[records])
    number = np.searchsorted(codes[order], codes[records], side="right") - starts
    places = starts[:, None] + np.arange(_MOST)
    return np.where(np.arange(_MOST) < number[:, None], order[np.minimum(places, len(order) - 1)], -1)


def _found(scene: Scene, whose: str, events: NDArray[np.intp]) -> Floats:
    """Return how likely each person is found by some events."""
    rows = scene.rows((*scene.known, whose))
    covering, persons = scene.covering(scene.known, rows), scene.release[whose].size
    has_all = np.ones((len(events), persons), bool)
    for column in events.T:
        there = np.flatnonzero(column >= 0)
        facts = [scene.values(name)[column[there]] for name in scene.known]
        has_all[there] &= covering.counts(facts, rows.codes[-1].astype(np.uint32), persons) > 0
    truth = np.zeros(0, np.intp) if scene.truth is None else scene.truth[events[:, 0]]
    own = scene.release.codes(whose)[np.maximum(truth, 0)]
    right = has_all[np.arange(len(events)), own] & (truth >= 0)
    found: Floats = right / np.maximum(has_all.sum(axis=1), 1)
    return found
