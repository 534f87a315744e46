"""Known events: protection from an adversary who knows several records of a person.

An event is a record of a person: a stay, a visit, a laboratory result. Of each known event the adversary knows the same
variables A, and the sensitive variable s of one of these events is inferred. For a person, a set E of their events and
one event e of E: ``peers`` are the persons who have, for each event of E, a record with its values in A; ``same`` are
those who, for e, have such a record with its value in s as well. Otherwise the measures are those of one known record
(Kroes 2021): PPP is the minimum over all combinations A, and over all sets E of at most a given number of events.

Events with the same values in A count as one, and persons with fewer events have all of theirs known.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from shoal.errors import ModelError
from shoal.individuals.protection import Protection, at
from shoal.individuals.question import Question
from shoal.individuals.telling import Subsets, minimal
from shoal.individuals.variable import Variable
from shoal.individuals.weakest import Weakest, weaker
from shoal.kernels.choosing import number_of_sets, sets_of
from shoal.kernels.grouping import each_times, group, group_rows
from shoal.kernels.ratios import Ratios
from shoal.kernels.subsets import Rows
from shoal.remedy import Option, by, either
from shoal.subsets import SubsetCounts

SETS = 10_000_000  # maximum number of sets of events per combination
WORK = 5e9  # sets × combinations × variables, which take a few minutes
COST = 30_000  # fixed cost of a combination, in sets


@dataclass(frozen=True, slots=True, eq=False)
class _Sets:
    """Sets of the same number of events.

    ``events[i]``: the events of set i, in ascending order of their values. ``same_values[i]``: a number for the values
    of set i. ``peers[i]``: the persons who have all of them. ``weights[i]``: the persons whose events they are.
    """

    events: NDArray[np.int64]
    same_values: NDArray[np.uint32]
    peers: NDArray[np.int64]
    weights: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class _Events:
    """The distinct events of all persons under one combination of known variables.

    ``of_row``: the event of each row. ``sets``: the sets of two events, of three, and so on.
    """

    subset: int
    of_row: NDArray[np.uint32]
    sets: tuple[_Sets, ...]

    @classmethod
    def of(cls, counted: SubsetCounts, subset: int, most: int) -> "_Events":
        rows = counted.rows
        values = _values(counted, subset)
        groups = group_rows([rows.holders, values], [len(rows.weights), len(rows)], len(rows))
        holders, values = rows.holders[groups.first], values[groups.first]
        starts = np.searchsorted(holders, np.arange(len(rows.weights) + 1)).astype(np.int64)
        alone = rows.lacking(subset)[groups.first]
        sets = (_sets(starts, values, alone, rows.weights, number) for number in range(2, most + 1))
        return cls(subset, groups.ids, tuple(some for some in sets if len(some.events)))

    def protection(self, counted: SubsetCounts, variable: int) -> Protection:
        """Return, for each row, the weakest protection over all sets of events that contain its own."""
        protection = at(counted, variable, self.subset)
        if not self.sets:
            return protection
        size = max(counted.columns[variable].size, 1)
        codes = counted.rows.columns[variable]
        targets = group(self.of_row.astype(np.uint64) * np.uint64(size) + codes)  # an event with a sensitive value
        event, code = self.of_row[targets.first], codes[targets.first]
        starts = np.searchsorted(event, np.arange(int(event[-1]) + 2)).astype(np.int64)
        for sets in self.sets:
            for place in range(sets.events.shape[1]):
                peers, same = _weakest(sets, place, starts, code, size)
                here = Protection(variable, protection.subset, peers[targets.ids], same[targets.ids])
                protection = weaker(protection, here, fewer_peers=True)
        return protection


def _values(counted: SubsetCounts, subset: int) -> NDArray[np.uint32]:
    """Return the same number for rows that agree in a subset; a row that matches nothing has a number of its own."""
    rows = counted.rows
    places = [place for place in range(len(counted.columns)) if subset >> place & 1]
    values = group_rows(
        [rows.columns[place] for place in places], [counted.columns[place].size for place in places], len(rows)
    ).ids
    alone = np.flatnonzero(rows.lacking(subset))
    if not len(alone):
        return values
    values = values.astype(np.uint32)
    values[alone] = int(values.max()) + 1 + np.arange(len(alone), dtype=np.uint32)
    return group(values.astype(np.uint64)).ids


def _sets(
    starts: NDArray[np.int64],
    values: NDArray[np.uint32],
    alone: NDArray[np.bool_],
    weights: NDArray[np.int64],
    number: int,
) -> _Sets:
    """Return the sets of a number of events; a set with an event that matches nothing has one peer, the person."""
    if number_of_sets(np.diff(starts), number) > SETS:
        raise ModelError(
            "too-many-events",
            "The individuals have more than {most:,} sets of {number} events.",
            remedy=either(
                by("Choose a smaller number of known events", Option("events", number - 1)),
                "generalise the known variables first, so that events become equal",
            ),
            most=SETS,
            number=number,
        )
    events, owners = sets_of(starts, number)
    groups = group_rows(list(values[events].T), [len(values)] * number, len(events))
    persons = np.bincount(groups.ids, weights[owners], len(groups)).astype(np.int64)
    peers = np.where(alone[events].any(axis=1), 1, persons[groups.ids])
    return _Sets(events, groups.ids, peers, weights[owners])


def _weakest(
    sets: _Sets, place: int, starts: NDArray[np.int64], code: NDArray[np.uint32], size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, for each event with a sensitive value, the peers and same of the weakest set whose event it is.

    The sensitive value belongs to the event at one place of the sets. Events without such a set have no one who shares
    the value, and therefore do not weaken any protection.
    """
    event = sets.events[:, place]
    number = np.diff(starts)[event]  # of the sensitive values of the event
    which = np.repeat(np.arange(len(event)), number)
    target = np.repeat(starts[event], number) + each_times(number).astype(np.int64)
    groups = group(sets.same_values[which].astype(np.uint64) * np.uint64(size) + code[target])
    persons = np.bincount(groups.ids, sets.weights[which], len(groups)).astype(np.int64)
    peers = sets.peers[which]
    same = np.minimum(persons[groups.ids], peers)  # a set with one peer
    shares, largest = same / peers, np.zeros(len(code))
    np.maximum.at(largest, target, shares)  # distinct ratios of less than 2^25 persons are distinct floats
    best = np.flatnonzero(shares == largest[target])
    best = best[np.argsort(-peers[best], kind="stable")]  # of equal shares, that with the fewest peers remains
    weakest_peers, weakest_same = np.ones(len(code), np.int64), np.zeros(len(code), np.int64)
    weakest_peers[target[best]], weakest_same[target[best]] = peers[best], same[best]
    return weakest_peers, weakest_same


def look_events(
    counts: Mapping[str, SubsetCounts],
    hidden: Sequence[str],
    known: Sequence[str],
    question: Question,
    progress: Callable[[int, int], None],
) -> dict[str, Variable]:
    """Evaluate sensitive variables for an adversary who knows several events of a person."""
    counted = counts[hidden[0]]
    _check_work(counted, question.number(counted.subset(known)) * len(hidden), question)
    listed = sorted(question.subsets(counted.subset(known)), key=lambda subset: (subset.bit_count(), subset))
    weakest = {name: Weakest(name, question.p) for name in hidden}
    for step, subset in enumerate(listed):
        progress(step, len(listed))
        for name, here in _all_at(counts, hidden, subset, question.events):
            weakest[name].add(here, subset)
    return {name: _variable(counts[name], weakest[name], known, question.events) for name in hidden}


def _all_at(
    counts: Mapping[str, SubsetCounts], hidden: Sequence[str], subset: int, most: int
) -> Iterator[tuple[str, Protection]]:
    """Yield the protection of each sensitive variable that a combination does not contain."""
    events: dict[int, _Events] = {}  # variables often share their rows
    for name in hidden:
        counted = counts[name]
        if subset & counted.subset([name]):
            continue
        if id(counted.rows) not in events:
            events[id(counted.rows)] = _Events.of(counted, subset, most)
        yield name, events[id(counted.rows)].protection(counted, counted.names.index(name))


def _variable(counted: SubsetCounts, weakest: Weakest, known: Sequence[str], most: int) -> Variable:
    name, others = weakest.name, [other for other in known if other != weakest.name]
    full = _Events.of(counted, counted.subset(others), most).protection(counted, counted.names.index(name))
    return weakest.variable(counted, others, full, None)


def _check_work(counted: SubsetCounts, number: int, question: Question) -> None:
    """Refuse an evaluation that would take very long."""
    sizes = np.bincount(counted.rows.holders, minlength=len(counted.rows.weights))
    sets = sum(number_of_sets(sizes, size) * size for size in range(1, question.events + 1))
    if number * (sets + COST) > WORK:
        fewer_events = by("Limit the number of known events", Option("events", max(question.events - 1, 1)))
        fewer_variables = by("Limit the number of known variables", Option("most", min(question.most or 3, 3) - 1))
        raise ModelError(
            "too-many-combinations",
            "{number:,} combinations of variables, each with {sets:,} sets of events, are too many to evaluate.",
            remedy=fewer_events if question.most == 1 else either(fewer_variables, fewer_events),
            number=number,
            sets=sets,
        )


def telling_events(rows: Rows, own: Sequence[int], variable: int, subsets: Subsets, question: Question) -> Subsets:
    """Return the minimal combinations that disclose a variable of one person by several known events.

    ``own``: the rows of the person.
    """
    agree = np.stack([rows.agreement(row) for row in own])
    alone = np.stack([[rows.lacking(1 << place)[row] for place in range(len(rows.columns))] for row in own])
    bits = np.array([sum(1 << place for place in np.flatnonzero(row)) for row in alone], np.uint64)
    order = np.argsort(rows.holders, kind="stable")
    agree = agree[:, order]
    starts = np.flatnonzero(np.diff(rows.holders[order], prepend=-1))
    weights = rows.weights[rows.holders[order][starts]]

    def having(subset: np.uint64) -> NDArray[np.bool_]:
        return np.logical_or.reduceat(agree & subset == subset, starts, axis=1)

    target = np.uint64(1 << variable)
    disclosing = [
        subset
        for subset in subsets
        if _discloses(having(subset), having(subset | target), (bits & subset) > 0, weights, question)
    ]
    return minimal(np.array(disclosing, np.uint64))


def _discloses(
    known: NDArray[np.bool_],
    same: NDArray[np.bool_],
    alone: NDArray[np.bool_],
    weights: NDArray[np.int64],
    question: Question,
) -> bool:
    """Return whether a set of events of a person discloses the sensitive value of one of them.

    ``known``, ``same``: per event and holder, whether the holder has it, and has it with the sensitive value.
    ``alone``: the events that match nothing.
    """
    for number in range(1, min(question.events, len(known)) + 1):
        for chosen in map(list, combinations(range(len(known)), number)):
            if alone[chosen].any():
                return True
            peers = known[chosen].all(axis=0)
            alike = np.array([(weights * (peers & same[event])).sum() for event in chosen], np.int64)
            everybody = np.full(number, (weights * peers).sum(), np.int64)
            if Ratios(everybody - alike, everybody).at_most(question.p).any():
                return True
    return False
