"""Event risk: the risk from an adversary who knows one, two or three of a person's records."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shoal.engines.protocol import Profiles
from shoal.errors import ModelError
from shoal.kernels.choosing import number_of_sets, sets_of
from shoal.kernels.grouping import group_rows
from shoal.remedy import Setting
from shoal.table.table import Table

MOST = 20_000_000  # maximum number of evaluated sets of events


@dataclass(frozen=True, slots=True)
class EventRisk:
    """The risk if ``known`` events of each person are known, or all events of persons with fewer.

    ``average``: the mean over all persons, and over all sets of that many of their events. ``maximum``: the risk of the
    worst set. ``unique``: the share of persons with a set of events that no other person has.
    """

    known: int
    average: float
    maximum: Fraction
    unique: Fraction


@dataclass(frozen=True, slots=True, eq=False)
class _Sets:
    """For each profile: the mean of 1 / n over its sets of events, and the smallest n."""

    average: NDArray[np.float64]
    fewest: NDArray[np.int64]


def event_risks(table: Table, quasi: tuple[str, ...] | None = None, *, most: int = 3) -> tuple[EventRisk, ...]:
    """Return the risk from an adversary who knows 1, 2, … events: distinct records of the same person.

    A set E of events is shared by n(E) persons, who have all of them and perhaps more. Its risk is ``1 / n(E)``; the
    average is over all sets of the same number of events. El Emam & Arbuckle 2013, chapter 6, with all sets instead of
    a random one. The result stops before the first number of events with more than 20 million sets.

    >>> import shoal
    >>> data = {"who": [1, 1, 2, 2, 3], "year": [2020, 2021, 2020, 2022, 2020]}
    >>> risks = event_risks(shoal.read(data).assign(subject="who", quasi=["year"]))
    >>> [(risk.known, round(risk.average, 3)) for risk in risks]
    [(1, 0.556), (2, 0.778), (3, 0.778)]
    """
    if table.subject is None:
        raise ModelError(
            "no-subject", "No column identifies the individual of a record.", remedy=Setting("data.subject")
        )
    profiles = table.profiles(table.quasi if quasi is None else quasi)
    sizes = np.diff(profiles.starts)
    counts, everybody = profiles.counts, int(profiles.counts.sum())
    average, fewest = np.zeros(len(sizes)), np.zeros(len(sizes), np.int64)
    risks = []
    for known in range(1, most + 1):
        if number_of_sets(sizes, known) > MOST:
            break
        able = sizes >= known  # profiles with fewer events keep the values for all of theirs
        here = _looked_at(profiles, sizes, known)
        average[able], fewest[able] = here.average[able], here.fewest[able]
        risks.append(
            EventRisk(
                known,
                float((average * counts).sum() / everybody),
                Fraction(1, int(fewest.min())),
                Fraction(int(counts[fewest == 1].sum()), everybody),
            )
        )
    return tuple(risks)


def _looked_at(profiles: Profiles, sizes: NDArray[np.int64], known: int) -> _Sets:
    """Evaluate all sets of ``known`` events; profiles with fewer events have none."""
    members, owners = sets_of(profiles.starts, known)
    sets = profiles.members[members]
    groups = group_rows(list(sets.T), [len(profiles.rows)] * known, len(sets))
    persons = np.bincount(groups.ids, weights=profiles.counts[owners]).astype(np.int64)[groups.ids]
    total, ways = np.bincount(owners, 1 / persons, len(sizes)), np.bincount(owners, minlength=len(sizes))
    fewest = np.full(len(sizes), np.iinfo(np.int64).max)
    np.minimum.at(fewest, owners, persons)
    return _Sets(total / np.maximum(ways, 1), fewest)
