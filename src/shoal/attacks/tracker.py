"""Trackers: disclosure of a person's value by an interface that answers counts and refuses small sets."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.attacks.attack import ATTACKS, Attack, AttackNeed
from shoal.attacks.result import Adversary, Criterion, Result
from shoal.attacks.scene import Scene

Mask = NDArray[np.bool_]


@dataclass(eq=False)
class CountingInterface:
    """Interface that counts records, and refuses if fewer than ``least`` fulfil the condition, or fail it.

    ``asked``: the number of answered queries.

    >>> interface = CountingInterface(10, 3)
    >>> interface.count(np.arange(10) < 5), interface.count(np.arange(10) < 2)
    (5, None)
    """

    records: int
    least: int
    asked: int = field(default=0)

    def count(self, condition: Mask) -> int | None:
        """Answer a query; None if it is refused."""
        number = int(np.count_nonzero(condition))
        if not self.least <= number <= self.records - self.least:
            return None
        self.asked += 1
        return number


@ATTACKS.register("tracker")
class Tracker(Attack):
    """Share of individuals whose value is disclosed by queries to a service that counts original records.

    The interface refuses every count of fewer than ``least`` records, or of all but fewer than ``least``. A general
    tracker T is any condition that at least 2·least records fulfil and at least 2·least do not: then
    ``count(C) = count(C or T) + count(C or not T) − n`` for any condition C, however small (Denning, Denning & Schwartz
    1979). The adversary knows the quasi-identifiers of a person, queries the count of ``C and s`` for each value s, and
    infers the value if only one remains: first directly, then with a tracker. The details state the share of both.
    Baseline: the most frequent value, without the service. The attack targets an interface to the original, not the
    release.

    >>> import shoal
    >>> data = {"age": [*range(20, 40)], "sex": ["f", "m"] * 10, "dx": ["flu", "ms", "gout", "flu"] * 5}
    >>> before = shoal.read(data).assign(quasi=["age", "sex"], sensitive="dx")
    >>> result = next(Tracker(least=3).run(Scene.of(before, before)))
    >>> result.success.value, result.details["directly"], result.baseline
    (1.0, 0.0, 0.5)
    """

    name: ClassVar[str] = "tracker"
    adversary: ClassVar[Adversary] = Adversary.ADAPTIVE
    criterion: ClassVar[Criterion] = Criterion.INFERENCE
    baseline_is: ClassVar[str] = "the most frequent value"
    needs: ClassVar[frozenset[AttackNeed]] = frozenset({AttackNeed.KNOWN, AttackNeed.SENSITIVE})
    default: ClassVar[bool] = False
    off_card: ClassVar[str] = "attacks a query service, not the release"
    targets_release: ClassVar[bool] = False

    least: int = Field(default=10, ge=1, description="minimum count that is answered")
    targets: int = Field(default=100, ge=1, description="maximum number of targets")

    def run(self, scene: Scene) -> Iterator[Result]:
        """Find a tracker and query each sensitive column."""
        people = scene.targets.drawn(self.targets, scene.rng(self.name))
        interface = CountingInterface(scene.original.records, self.least)
        tracker = self._tracker(scene, interface)
        for column in scene.secret:
            asked = interface.asked
            values = scene.values(column)
            here = [_alike(scene, record) for record in people.records.tolist()]
            direct = [self._direct(interface, mine, values) for mine in here]
            asked_directly = interface.asked - asked
            tracked = (
                [None] * len(here) if tracker is None else [_tracked(interface, mine, values, tracker) for mine in here]
            )
            truth = values[people.records]
            plain, combined = (_are_right(answers, truth) for answers in (direct, tracked))
            right = plain | combined
            yield self.result(
                scene,
                "the true value is disclosed by answers of the service; the release is not attacked",
                right.astype(np.float64),
                float((truth == np.bincount(values).argmax()).mean()),
                column=column,
                people=people,
                details={
                    "directly": float(plain.mean()),
                    "by_trackers": float(combined.mean()),
                    "queries_per_person": (interface.asked - asked - asked_directly) / len(people),
                    "least": self.least,
                },
            )

    def _tracker(self, scene: Scene, interface: CountingInterface) -> Mask | None:
        """Return a general tracker: the values of one column below its median; None if there is none."""
        for name in scene.known:
            codes = scene.values(name).astype(np.int64)
            cut = np.median(codes)
            for tracker in (codes <= cut, codes < cut):
                number = np.count_nonzero(tracker)
                if 2 * self.least <= number <= interface.records - 2 * self.least:
                    return np.asarray(tracker)
        return None

    def _direct(self, interface: CountingInterface, mine: Mask, values: NDArray[np.integer]) -> int | None:
        """Return the value that all records of a condition share, by direct queries; None if it is not disclosed."""
        counts = {int(value): interface.count(mine & (values == value)) for value in np.unique(values)}
        known = {value: count for value, count in counts.items() if count is not None}
        whole = interface.count(mine)
        return next((value for value, count in known.items() if count == whole), None)


def _are_right(answers: Sequence[int | None], truth: NDArray[np.integer[Any]]) -> Mask:
    """Return the mask of the answers that are the true value."""
    return np.array([value is not None and value == true for value, true in zip(answers, truth, strict=True)], bool)


def _alike(scene: Scene, record: int) -> Mask:
    """Return the condition that the quasi-identifiers equal those of a record."""
    alike: Mask = np.logical_and.reduce([scene.values(name) == scene.values(name)[record] for name in scene.known])
    return alike


def _tracked(interface: CountingInterface, mine: Mask, values: NDArray[np.integer], tracker: Mask) -> int | None:
    """Return the value that all records of a condition share, by tracker queries; None if it is not disclosed."""
    everybody = _sum(interface.count(tracker), interface.count(~tracker))
    tracked = []
    for value in np.unique(values):
        condition = mine & (values == value)
        both = _sum(interface.count(condition | tracker), interface.count(condition | ~tracker))
        if both is None or everybody is None:
            return None
        if both > everybody:
            tracked.append(int(value))
    return tracked[0] if len(tracked) == 1 else None


def _sum(total: int | None, other: int | None) -> int | None:
    return None if total is None or other is None else total + other
