"""Joined releases: combinations of records of several releases that may describe the same individual."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.joining import MOST_PAIRS, Join
from shoal.attacks.people import KnownPeople
from shoal.attacks.scene import Scene
from shoal.attacks.shown_rows import ShownRows
from shoal.kernels.covering import Covering, Sets
from shoal.kernels.grouping import group_rows
from shoal.kernels.ranges import Places, expanded
from shoal.recoding.cells import Cells
from shoal.recoding.nodes import Floats, Ints

NONE = -1  # no row: the individual is not in that release
_BALANCES = 10  # of the weights with the number of records on each side
_ROOM = 1 << 22  # pairs of individuals and combinations, or of these and values, held at a time
_CLOSE = 1 - 1e-9  # weights that differ by less are ties


@dataclass(frozen=True, eq=False)
class JoinedReleases:
    """Combinations of rows of several releases.

    ``rows[i][c]``: the row of release i in combination c, ``NONE`` if it has none. ``weights[c]``: the expected number
    of individuals whose records are in these rows. ``people``: the targets; if all combinations are too many, only
    those that are compatible with a target are formed, and there are fewer targets.
    """

    shown: tuple[ShownRows, ...]
    rows: tuple[Places, ...]
    weights: Floats
    people: KnownPeople

    @classmethod
    def of(cls, scenes: Sequence[Scene], people: KnownPeople) -> "JoinedReleases":
        """Join all releases, one after another, with the first.

        >>> import shoal
        >>> data = {"age": [31, 34, 71], "sex": ["f", "m", "m"]}
        >>> before = shoal.read(data).assign(quasi=["age", "sex"])
        >>> one, two = {**data, "age": ["30-39", "30-39", "71"]}, {**data, "age": ["*", "34", "71"]}
        >>> scene = Scene.of(before, shoal.read(one), others=[shoal.read(two)])
        >>> joined = JoinedReleases.of([scene, *scene.others], scene.targets)
        >>> [rows.tolist() for rows in joined.rows], joined.weights.tolist()
        ([[0, 1, 2], [0, 1, 2]], [1.0, 1.0, 1.0])
        """
        shown = ShownRows.of(scenes)
        first = shown[0]
        joined = cls(shown[:1], (np.arange(len(first)),), first.rows.counts.astype(np.float64), people)
        for other in shown[1:]:
            joined = joined._with(other)
        return joined

    def _with(self, other: ShownRows) -> "JoinedReleases":
        """Join one more release. Combinations and rows without a partner are kept: individuals may be missing."""
        joins = [Join.of(mine, other) for mine in self.shown]
        joinable, people = self._joinable(joins[0])
        parts = [self._partners(joins, lead, joinable) for lead in range(len(joins))]
        which, theirs, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
        lonely = np.setdiff1d(np.arange(len(self.weights)), which)
        strange = np.setdiff1d(np.arange(len(other)), theirs)
        kept, none = np.concatenate([which, lonely]), np.full(len(strange), NONE)
        rows = [np.concatenate([rows[kept], none]) for rows in self.rows]
        rows.append(np.concatenate([theirs, np.full(len(lonely), NONE), strange]))
        balanced = _balanced(weights, which, self.weights, theirs, other.rows.counts)
        weights = np.concatenate([balanced, self.weights[lonely], other.rows.counts[strange]])
        return JoinedReleases((*self.shown, other), tuple(rows), weights, people)

    def _partners(self, joins: Sequence[Join], lead: int, joinable: Places) -> tuple[Places, Places, Floats]:
        """Return pairs of a combination and a row of another release, with weights.

        ``lead``: the first release of which the combinations have a row. ``joinable``: rows of release 0 to be joined.
        """
        rows = self.rows[lead]
        leading = np.logical_and.reduce([rows != NONE, *(before == NONE for before in self.rows[:lead])])
        leading &= np.isin(rows, joinable) if lead == 0 else True
        which = np.flatnonzero(leading)
        pairs = joins[lead].pairs(np.unique(rows[which]))
        order = np.argsort(pairs.first, kind="stable")
        starts, ends = (np.searchsorted(pairs.first[order], rows[which], side) for side in ("left", "right"))
        owner, place = expanded(starts, ends - starts)
        which, theirs, weights = which[owner], pairs.second[order[place]], pairs.weights[order[place]]
        for join, others in zip(joins[lead + 1 :], self.rows[lead + 1 :], strict=True):
            there = (others[which] == NONE) | join.match(others[which], theirs)
            which, theirs, weights = which[there], theirs[there], weights[there]
        return which, theirs, weights

    def _joinable(self, join: Join) -> tuple[Places, KnownPeople]:
        """Return the rows of the first release that are joined, and the targets: as many as work permits."""
        rows, people = np.arange(len(join.first)), self.people
        if join.number(rows) <= MOST_PAIRS:
            return rows, people
        while True:
            rows = np.unique(self.shown[0].covering(people)).astype(np.intp)
            if join.number(rows) <= MOST_PAIRS or len(people) == 1:
                return rows, people
            people = people.some(slice(None, None, 2))

    @property
    def is_joined(self) -> bool:
        """Whether a record of one release was joined with one of another."""
        return any(bool((rows != NONE).any()) for rows in self.rows[1:]) and bool(self._whole.any())

    @property
    def single(self) -> NDArray[np.bool_]:
        """Mask of the combinations whose records can only belong together: one record each, and no other partner."""
        alone = self._whole.copy()
        for shown, rows in zip(self.shown, self.rows, strict=True):
            times = np.bincount(rows[rows != NONE], minlength=len(shown))
            alone[alone] &= (times[rows[alone]] == 1) & (shown.rows.counts[rows[alone]] == 1)
        return alone

    @cached_property
    def _whole(self) -> NDArray[np.bool_]:
        """Mask of the combinations that have a row of each release."""
        return np.asarray(np.logical_and.reduce([rows != NONE for rows in self.rows]))

    def records(self, releases: Sequence[int]) -> Floats:
        """Return the number of ways in which records of some releases can be combined, for each combination."""
        number = np.ones(len(self.weights))
        for at in releases:
            number *= np.where(self.rows[at] == NONE, 1, self.shown[at].rows.counts[self.rows[at]])
        return number

    def matching(self, people: KnownPeople, known: Sequence[str]) -> "Iterator[Matching]":
        """Yield, for batches of individuals, the combinations that are compatible with their known attributes."""
        names = [[name for name in known if name in shown.scene.cells] for shown in self.shown]
        sets = [self._sets(at, name) for at, of in enumerate(names) for name in of]
        codes = [people.codes[name] for of in names for name in of]
        covering = Covering(tuple(sets), np.ones(len(self.weights), np.int64))
        number = covering.counts(codes)
        specific = self.weights / np.maximum(self._reach(known), 1)
        ends = np.cumsum(number)
        begin = 0
        while begin < len(people):
            before = int(ends[begin - 1]) if begin else 0
            end = max(int(np.searchsorted(ends, before + _ROOM, side="right")), begin + 1)
            some, rows = covering.rows([codes_of[begin:end] for codes_of in codes])
            who, which = np.repeat(np.arange(end - begin), np.diff(some, prepend=0)), rows.astype(np.intp)
            yield Matching(self, slice(begin, end), who, which, specific[which])
            begin = end

    def cells(self, at: int, name: str) -> Cells:
        """Return the cells of a release."""
        return self.shown[at].scene.cells[name]

    def nodes(self, at: int, name: str) -> NDArray[np.uint32]:
        """Return the set that each combination shows in a column of a release; all values if it has no row."""
        cells, rows = self.cells(at, name), self.rows[at]
        return np.where(rows == NONE, cells.anything, self.shown[at].nodes(name)[rows]).astype(np.uint32)

    def _sets(self, at: int, name: str) -> Sets:
        cells = self.cells(at, name)
        return Sets(self.nodes(at, name), cells.starts, cells.members, cells.column.size)

    def _reach(self, known: Sequence[str]) -> Floats:
        """Return the expected number of individuals that each combination fits, assuming independent columns."""
        people = self.shown[0].scene.insiders
        reach = np.full(len(self.weights), float(len(people)))
        for name in known:
            shares = [
                self.cells(at, name).shares(people.codes[name])[self.nodes(at, name)]
                for at, shown in enumerate(self.shown)
                if name in shown.scene.cells
            ]
            if shares:
                reach *= np.minimum.reduce(shares)
        return reach


@dataclass(frozen=True, slots=True, eq=False)
class Matching:
    """Pairs of an individual and a compatible combination. ``part``: the slice of the individuals.

    ``weights``: how probable the combination is that of the individual, up to a factor.
    """

    joined: JoinedReleases
    part: slice
    who: Places
    which: Places
    weights: Floats

    @property
    def number(self) -> int:
        """The number of individuals."""
        return len(range(*self.part.indices(self.part.stop)))

    def identified(self, people: KnownPeople, owners: Sequence[NDArray[np.int64] | None]) -> tuple[Floats, Floats]:
        """Return the probability that the selected records are the individual's, and the number of candidates.

        The adversary selects one of the most probable records of each release. ``owners[i]``: the person of each record
        of release i; None if it is unknown, so that the selection in this release is not judged.
        """
        judged = {at: persons for at, persons in enumerate(owners) if persons is not None}
        ways = self.joined.records([*judged])[self.which]
        each = self.weights / ways
        highest = np.zeros(self.number)
        np.maximum.at(highest, self.who, each)
        best = each >= highest[self.who] * _CLOSE
        who, which = self.who[best], self.which[best]
        right = np.ones(len(who))
        for at, persons in judged.items():
            right *= self._own(at, persons, people, who, which)
        chosen = np.bincount(who, right, self.number) / np.maximum(np.bincount(who, ways[best], self.number), 1)
        return np.asarray(chosen), np.bincount(self.who, ways, self.number).astype(np.float64)

    def _own(self, at: int, persons: NDArray[np.int64], people: KnownPeople, who: Places, which: Places) -> Floats:
        """Return how many records of each row of a release are the individual's; 1 if the release is not used."""
        scene, shown, rows = self.joined.shown[at].scene, self.joined.shown[at], self.joined.rows[at][which]
        origin = shown.rows.origin.astype(np.int64)
        number = int(scene.person.max(initial=0)) + 1
        known = persons >= 0
        own, counts = np.unique(origin[known] * number + persons[known], return_counts=True)
        mine = scene.person[people.records[self.part]][who]
        sought = np.where(rows == NONE, -1, rows * number + mine)
        place = np.minimum(np.searchsorted(own, sought), max(len(own) - 1, 0))
        there = own[place] == sought if len(own) else np.zeros(len(sought), bool)
        return np.where(there, counts[place] if len(own) else 0, 0).astype(np.float64)

    def guessed(self, column: str) -> "Iterator[Guesses]":
        """Yield the weight of each possible value of a column, for batches of individuals."""
        sets, of_pair = self._sets(column)
        number, size = len(sets.starts) - 1, sets.values
        together = max(_ROOM // max(number, size, 1), 1)
        order = np.argsort(self.who, kind="stable")
        for begin in range(0, self.number, together):
            end = min(begin + together, self.number)
            low, high = np.searchsorted(self.who[order], [begin, end])
            pairs = order[low:high]
            at = (self.who[pairs] - begin) * number + of_pair[pairs]
            beliefs = np.bincount(at, self.weights[pairs], (end - begin) * number).astype(np.float64)
            of_values = _spread(beliefs.reshape(end - begin, number), sets)
            yield Guesses(slice(self.part.start + begin, self.part.start + end), of_values)

    def _sets(self, column: str) -> tuple[Sets, Places]:
        """Return the sets of values that combinations show in all releases, and the set of each pair."""
        releases = [at for at, shown in enumerate(self.joined.shown) if column in shown.scene.cells]
        cells = [self.joined.cells(at, column) for at in releases]
        nodes = [self.joined.nodes(at, column)[self.which] for at in releases]
        groups = group_rows(nodes, [len(of.starts) for of in cells], len(self.which))
        shown = [of[groups.first] for of in nodes]
        smallest = np.stack([of.sizes[node] for of, node in zip(cells, shown, strict=True)]).argmin(axis=0)
        owners, members = [], []
        for place, of in enumerate(cells):
            some = np.flatnonzero(smallest == place)
            owner, member = expanded(of.starts[shown[place][some]], of.sizes[shown[place][some]])
            owners.append(some[owner])
            members.append(of.members[member])
        owner, values = np.concatenate(owners), np.concatenate(members)
        for of, node in zip(cells, shown, strict=True):
            there = of.contain(node[owner], values)
            owner, values = owner[there], values[there]
        order = np.argsort(owner, kind="stable")
        starts = np.searchsorted(owner[order], np.arange(len(groups) + 1)).astype(np.int64)
        return Sets(groups.ids, starts, values[order], cells[0].column.size), groups.ids.astype(np.intp)


@dataclass(frozen=True, slots=True, eq=False)
class Guesses:
    """The possible values of some individuals: ``weights[i, v]`` for value v of individual i.

    ``part``: the slice of these individuals.
    """

    part: slice
    weights: Floats

    def right(self, truth: NDArray[np.integer[Any]]) -> Floats:
        """Return the probability that the most probable value is the true one; ties are broken at random."""
        highest = self.weights.max(axis=1, keepdims=True, initial=0)
        best = (self.weights >= highest * _CLOSE) & (self.weights > 0)
        return np.asarray(best[np.arange(len(truth)), truth] / np.maximum(best.sum(axis=1), 1))

    def certain(self, truth: NDArray[np.integer[Any]]) -> Floats:
        """Return 1 for individuals of whom only the true value is possible."""
        there = self.weights > 0
        return np.asarray(there[np.arange(len(truth)), truth] & (there.sum(axis=1) == 1), np.float64)

    @property
    def possible(self) -> Ints:
        """The number of possible values of each individual."""
        return np.asarray(np.count_nonzero(self.weights > 0, axis=1), np.int64)


def _spread(beliefs: Floats, sets: Sets) -> Floats:
    """Distribute the weight of each set equally over its values. ``beliefs[i, s]``: the weight of set s."""
    sizes, total = np.diff(sets.starts), np.zeros((len(beliefs), sets.values))
    step = max(_ROOM // max(sets.values, 1), 1)
    for begin in range(0, len(sizes), step):
        part = sizes[begin : begin + step]
        owner, member = expanded(sets.starts[begin : begin + len(part)], part)
        shares = np.zeros((len(part), sets.values))
        shares[owner, sets.codes[member]] = (1 / np.maximum(part, 1))[owner]
        total += beliefs[:, begin : begin + step] @ shares
    return total


def _balanced(weights: Floats, left: Places, of_left: Floats, right: Places, of_right: NDArray[np.int64]) -> Floats:
    """Scale the weights of pairs so that neither side exceeds its number of records.

    Where a record has one possible partner only, this partner becomes improbable for all others (Sinkhorn 1967).
    """
    weights = weights * of_left[left] * of_right[right]
    for _ in range(_BALANCES):
        for side, limits in ((left, of_left), (right, of_right)):
            total = np.bincount(side, weights, len(limits))
            weights = weights * (limits / np.maximum(total, 1e-300))[side]
    return weights
