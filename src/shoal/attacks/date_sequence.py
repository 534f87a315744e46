"""Date sequence: re-identification of a person by the time between all dates, which shifted dates keep."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.attacks.attack import ATTACKS, Attack, AttackNeed
from shoal.attacks.people import KnownPeople
from shoal.attacks.result import Adversary, Criterion, Result
from shoal.attacks.scene import Scene
from shoal.kernels.grouping import group_rows
from shoal.kernels.ranges import expanded
from shoal.kernels.siphash import siphash
from shoal.recoding.nodes import Floats, Ints
from shoal.table.kind import Kind
from shoal.table.scale import scale

_SECONDS = 86_400
_PAIRS = 1 << 24  # pairs of a target and a released person that are held in memory
_WEEK = 7
_SHIFTED = 0.5  # share of changed dates from which dates count as shifted


@ATTACKS.register("date-sequence")
class DateSequence(Attack):
    """Share of individuals re-identified by all their dates, although these are shifted.

    If all dates of a person are shifted by the same time, the time between them does not change. The adversary knows
    all dates of a person, such as those of its stays, and searches for the released persons with the same intervals; if
    there are none, because records were suppressed, for those whose intervals all occur among the known dates, with the
    most dates. With c such persons, the correct one is selected with probability 1/c. Baseline: a random person. Dates
    that are released as they are, or generalised, are not attacked.

    A second result concerns the shift: all dates lie in the study period, from the first to the last date of the
    original, so that only few shifts are possible for a person with dates near both ends. Success: the true shift is
    guessed among those that are possible, if at most ``days`` days, where known. Baseline: a random day of the period.

    >>> import shoal
    >>> from datetime import date, timedelta
    >>> who, steps = [1, 1, 2, 2], [0, 30, 0, 365]
    >>> before = shoal.read({"who": who, "came": [date(2024, 1, 1) + timedelta(step) for step in steps]})
    >>> after = shoal.read({"who": who, "came": [date(2023, 9, 9) + timedelta(step) for step in steps]})
    >>> scene = Scene.of(before.assign(subject="who", quasi="came"), after.assign(subject="who"), truth=np.arange(4))
    >>> [result.success.value for result in DateSequence().run(scene)]
    [1.0, 0.501...]
    """

    name: ClassVar[str] = "date-sequence"
    adversary: ClassVar[Adversary] = Adversary.CLASSICAL
    criterion: ClassVar[Criterion] = Criterion.SINGLING_OUT
    baseline_is: ClassVar[str] = "a random individual; for the shift, a random day of the study period"
    needs: ClassVar[frozenset[AttackNeed]] = frozenset({AttackNeed.TRUTH})

    days: int | None = Field(default=None, ge=1, description="maximum shift in days, if the adversary knows it")
    targets: int = Field(default=1000, ge=1, description="maximum number of targets")

    def run(self, scene: Scene) -> Iterator[Result]:
        """Compare the intervals between dates, then bound the shifts."""
        if not _are_shifted(scene):
            return
        known, shown = _original(scene), _released(scene)
        if known is None or shown is None or not len(shown.steps().person):
            return
        people = scene.targets.drawn(self.targets, scene.rng(self.name))
        own = _own(scene, people)
        persons = scene.person[people.records]
        has_dates = np.isin(persons, known.person) & (own >= 0)
        people, own, persons = people.some(has_dates), own[has_dates], persons[has_dates]
        if not len(people):
            return
        yield self.result(
            scene,
            "the individual is re-identified by the time between all dates",
            _found(known, shown, persons, own),
            1 / max(len(np.unique(shown.person)), 1),
            variant="intervals",
            people=people,
        )
        yield self._shifts(scene, people, own, known, shown)

    def _shifts(self, scene: Scene, people: KnownPeople, own: Ints, known: "_Dates", shown: "_Dates") -> Result:
        """Return the success of guessing the shift of a person among those that are possible."""
        first, last = shown.ends
        there = np.isin(own, shown.person)
        low, high = (last[own] - known.day.max()) / _SECONDS, (first[own] - known.day.min()) / _SECONDS
        if self.days is not None:
            low, high = np.maximum(low, -self.days), np.minimum(high, self.days)
        number = np.maximum(np.floor(high + 1e-9) - np.ceil(low - 1e-9) + 1, 1)
        period = (known.day.max() - known.day.min()) / _SECONDS + 1
        return self.result(
            scene,
            "all true dates of the individual follow from the study period",
            np.where(there, 1 / number, 0.0),
            1 / float(period),
            variant="study period",
            people=people,
            details={
                "known_to_a_week": float((there & (number <= _WEEK)).mean()),
                "median_of_possible_shifts": float(np.median(number)),
            },
        )


@dataclass(frozen=True, eq=False)
class _Dates:
    """Dates of persons: the person, the column and the time of each, in seconds, in the order of person and time."""

    person: Ints
    column: Ints
    day: Ints

    @classmethod
    def of(cls, person: Ints, column: Ints, day: Ints) -> "_Dates":
        order = np.lexsort([column, day, person])
        return cls(person[order], column[order], day[order])

    @cached_property
    def ends(self) -> tuple[Floats, Floats]:
        """The first and the last time of each person."""
        number = int(self.person.max()) + 1
        first, last = np.full(number, np.inf), np.full(number, -np.inf)
        np.minimum.at(first, self.person, self.day)
        np.maximum.at(last, self.person, self.day)
        return first, last

    def signatures(self) -> NDArray[np.uint64]:
        """Return a word for each person that depends on the columns and on the time since its first date."""
        since = (self.day - self.ends[0][self.person]).astype(np.int64)
        words = siphash((1, 2), [self.column.astype(np.uint64), since.view(np.uint64)])
        sums = np.zeros(int(self.person.max()) + 1, np.uint64)
        np.add.at(sums, self.person, words)
        return sums

    def steps(self) -> "_Steps":
        """Return the intervals between each date and the next of the same person."""
        same = np.flatnonzero(self.person[1:] == self.person[:-1])
        return _Steps(self.person[same], self.column[same], self.column[same + 1], self.day[same + 1] - self.day[same])

    def all_steps(self, persons: Ints) -> "_Steps":
        """Return the intervals between all pairs of dates of some persons; ``person`` is the place in ``persons``."""
        starts, ends = (np.searchsorted(self.person, persons, side) for side in ("left", "right"))
        which, at = expanded(starts, ends - starts)
        first, place = expanded(at + 1, ends[which] - at - 1)
        return _Steps(which[first], self.column[at[first]], self.column[place], self.day[place] - self.day[at[first]])


@dataclass(frozen=True, eq=False)
class _Steps:
    """Intervals between dates of a person, with the columns of both."""

    person: Ints
    first: Ints
    second: Ints
    days: Ints


def _original(scene: Scene) -> _Dates | None:
    """Return the dates of all persons of the original, in the columns of dates that the release shows as values."""
    codes = {name: scene.values(name).astype(np.int64) for name in _columns(scene)}
    return _collected(scene, codes, scene.person)


def _released(scene: Scene) -> _Dates | None:
    records = np.arange(scene.release.records)
    codes = {name: scene.cells[name].values_at(records) for name in _columns(scene)}
    return _collected(scene, codes, _owners(scene))


def _owners(scene: Scene) -> Ints:
    """Return the person to whom each released record belongs; each record is a person if the release does not tell."""
    whose = scene.original.subject
    if whose is None or whose not in scene.release:
        return np.arange(scene.release.records)
    return scene.release.codes(whose).astype(np.int64)


def _columns(scene: Scene) -> list[str]:
    kinds = {Kind.DATE, Kind.DATETIME}
    return [name for name, cells in scene.cells.items() if cells.column.kind in kinds and cells.are_values]


def _collected(scene: Scene, codes: dict[str, Ints], person: Ints) -> _Dates | None:
    persons, columns, days = [], [], []
    for number, (name, mine) in enumerate(codes.items()):
        places = scale(scene.columns[name])
        if places is None:
            continue
        times = np.where(mine < 0, np.nan, places[mine])
        there = np.isfinite(times)
        persons.append(person[there])
        columns.append(np.full(int(there.sum()), number))
        days.append(np.rint(times[there] * _SECONDS).astype(np.int64))
    if not persons or not sum(map(len, persons)):
        return None
    return _Dates.of(np.concatenate(persons), np.concatenate(columns), np.concatenate(days))


def _own(scene: Scene, people: KnownPeople) -> Ints:
    """Return the released person of each target; −1 if it has no released record."""
    own = np.full(len(people), -1, np.int64)
    which, record = scene.own(people)
    own[which] = _owners(scene)[record]
    return own


def _are_shifted(scene: Scene) -> bool:
    """Return whether the dates of most released records differ from the true ones."""
    truth = scene.truth if scene.truth is not None else np.zeros(0, np.intp)
    there = np.flatnonzero(truth >= 0)
    changed = [
        (scene.cells[name].values_at(truth[there]) != scene.values(name)[there]).mean() for name in _columns(scene)
    ]
    return bool(len(there)) and max(changed, default=0.0) > _SHIFTED


def _found(known: _Dates, shown: _Dates, persons: Ints, own: Ints) -> Floats:
    """Return the probability with which each target is re-identified; ``own``: its released person."""
    theirs = shown.signatures()
    there = np.unique(shown.person)
    mine = known.signatures()[persons]
    values, counts = np.unique(theirs[there], return_counts=True)
    place = np.minimum(np.searchsorted(values, mine), len(values) - 1)
    number = np.where(values[place] == mine, counts[place], 0)
    right = np.isin(own, there) & (theirs[np.minimum(own, len(theirs) - 1)] == mine)
    exact = np.where(right, 1 / np.maximum(number, 1), 0.0)
    without = np.flatnonzero(number == 0)
    exact[without] = _by_part(known, shown, persons[without], own[without])
    return exact


def _by_part(known: _Dates, shown: _Dates, persons: Ints, own: Ints) -> Floats:
    """Return the same for targets some of whose records were suppressed, by the intervals that are released."""
    result, together = np.zeros(len(persons)), max(_PAIRS // (int(shown.person.max()) + 1), 1)
    steps = shown.steps()
    needed = np.bincount(steps.person, minlength=int(shown.person.max()) + 1)
    for start, end in pairwise([*range(0, len(persons), together), len(persons)]):
        result[start:end] = _matching(known.all_steps(persons[start:end]), steps, needed, own[start:end])
    return result


def _matching(mine: _Steps, theirs: _Steps, needed: Ints, own: Ints) -> Floats:
    parts = [np.concatenate([getattr(mine, name), getattr(theirs, name)]) for name in ("first", "second", "days")]
    codes = [np.unique(part, return_inverse=True)[1].astype(np.uint32) for part in parts]
    alike = group_rows(codes, [int(code.max(initial=0)) + 1 for code in codes], len(parts[0])).ids.astype(np.int64)
    size = int(alike.max(initial=0)) + 1
    wanted = np.unique(mine.person * size + alike[: len(mine.person)])  # each interval of a target once
    order = np.argsort(alike[len(mine.person) :], kind="stable")
    ids = alike[len(mine.person) :][order]
    starts, ends = (np.searchsorted(ids, wanted % size, side) for side in ("left", "right"))
    which, place = expanded(starts, ends - starts)
    pairs = (wanted // size)[which] * len(needed) + theirs.person[order][place]
    matched = np.bincount(pairs, minlength=len(own) * len(needed)).reshape(len(own), len(needed))
    score = np.where((matched == needed) & (needed > 0), matched, 0)
    best = score.max(axis=1)
    chosen = (score == best[:, None]) & (best > 0)[:, None]
    rows = np.arange(len(own))
    return np.asarray(chosen[rows, own] / np.maximum(chosen.sum(axis=1), 1))
