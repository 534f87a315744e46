"""Event inference: disclosure of a sensitive value by some known records of a person."""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.attacks.attack import ATTACKS, Attack, AttackNeed
from shoal.attacks.events import candidates_by_events, drawn_events
from shoal.attacks.people import KnownPeople
from shoal.attacks.result import Adversary, Criterion, Result
from shoal.attacks.scene import Scene
from shoal.individuals.question import MOST_EVENTS
from shoal.recoding.nodes import Floats


@ATTACKS.register("event-inference")
class EventInference(Attack):
    """Share of individuals of whom some known records disclose a sensitive value.

    An adversary who knows the quasi-identifiers of some records of a person, but not their sensitive values, searches
    for the persons with the most of these records, as in the attack ``events``. A value is disclosed if all of them
    have it in one of their records: homogeneity (Machanavajjhala et al. 2007) of the candidates by known events. The
    curve shows the success by number of known events. Baseline: the probability of the same if sensitive values were
    independent of the quasi-identifiers.

    >>> import shoal
    >>> data = {"who": list("aabbcc"), "day": [1, 2, 1, 3, 1, 4], "dx": ["flu"] * 4 + ["ms"] * 2}
    >>> before = shoal.read(data).assign(subject="who", quasi="day", sensitive="dx")
    >>> scene = Scene.of(before, shoal.read(data), truth=np.arange(6))
    >>> next(EventInference(known=2).run(scene)).success.value
    1.0
    """

    name: ClassVar[str] = "event-inference"
    adversary: ClassVar[Adversary] = Adversary.CLASSICAL
    criterion: ClassVar[Criterion] = Criterion.INFERENCE
    baseline_is: ClassVar[str] = "expected if sensitive values were independent of the quasi-identifiers"
    needs: ClassVar[frozenset[AttackNeed]] = frozenset(
        {AttackNeed.KNOWN, AttackNeed.SENSITIVE, AttackNeed.EVENTS, AttackNeed.TRUTH}
    )
    reads_sets: ClassVar[bool] = True

    known: int = Field(default=2, ge=1, le=MOST_EVENTS, description="number of known events")
    targets: int = Field(default=1000, ge=1, description="maximum number of targets")

    def run(self, scene: Scene) -> Iterator[Result]:
        """Draw events of each target, search for the persons with the most of them, and compare their values."""
        for column in scene.secret:
            people = scene.having(column).drawn(self.targets, scene.rng(f"{self.name} {column}"))
            events = drawn_events(scene, people)
            if not events.shape[1]:
                continue
            disclosed, chance = self._disclosed(scene, people, events, column)
            known = min(self.known, events.shape[1])
            right, baselines = disclosed[known - 1], chance.mean(axis=1)
            yield self.result(
                scene,
                f"all individuals with the most of {known} known events have the true value",
                right,
                float(baselines[known - 1]),
                column=column,
                people=people,
                axis="events known",
                curve=tuple(
                    self.point(number, shares, baselines[number - 1]) for number, shares in enumerate(disclosed, 1)
                ),
            )

    @staticmethod
    def _disclosed(scene: Scene, people: KnownPeople, events: NDArray[np.intp], column: str) -> tuple[Floats, Floats]:
        """Return whether each person's value is disclosed by each number of events, and the probability by chance."""
        whose = str(scene.original.subject)
        rows = scene.rows((column, whose))
        covering, row_values = scene.covering((column,), rows), rows.codes[-1].astype(np.uint32)
        persons = scene.release[whose].size
        disclosed, chance = np.zeros((events.shape[1], len(people))), np.zeros((events.shape[1], len(people)))
        having, of_part = np.zeros((0, persons), bool), slice(0, 0)
        for part, number, candidates, right in candidates_by_events(scene, people, events):
            if part != of_part:
                having, of_part = covering.counts([people.codes[column][part]], row_values, persons) > 0, part
            size = candidates.sum(axis=1)
            disclosed[number, part] = (size > 0) & ~(candidates & ~having).any(axis=1)
            own = (right >= 0) & candidates[np.arange(len(candidates)), right]
            chance[number, part] = _by_chance(size - own, having.sum(axis=1) - own, persons - own)
        return disclosed, chance


def _by_chance(drawn: NDArray[np.int64], having: NDArray[np.int64], persons: NDArray[np.int64]) -> Floats:
    """Return the probability that all of some persons drawn at random have a value that ``having`` of all have.

    >>> _by_chance(np.array([0, 1, 2, 3]), np.array([2, 2, 2, 2]), np.array([4, 4, 4, 4])).round(3).tolist()
    [1.0, 0.5, 0.167, 0.0]
    """
    logarithms = np.append(0.0, np.cumsum(np.log(np.arange(1, int(persons.max(initial=0)) + 1))))
    possible = having >= drawn
    rest = np.where(possible, having - drawn, 0)
    power = logarithms[np.maximum(having, 0)] - logarithms[rest]
    power -= logarithms[persons] - logarithms[np.maximum(persons - drawn, 0)]
    return np.where(possible, np.exp(power), 0.0)
