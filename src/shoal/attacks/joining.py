"""Joining: pairs of records of two releases that may describe the same individual.

Two records may belong together if their cells have a value in common in every column that both releases have. Columns
that a perturbation has changed contradict the true pairs; they are not used to exclude pairs, but to weigh them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.shown_rows import ShownRows
from shoal.kernels.grouping import group_rows
from shoal.kernels.ranges import Places, expanded
from shoal.recoding.cells import Cells
from shoal.recoding.nodes import Floats, Ints
from shoal.table.scale import scale

MOST_PAIRS = 20_000_000  # pairs of rows compared at most
_TOGETHER = 1 << 22  # pairs compared at a time
_TRIED = 1000  # rows on which the consistency of a column is tried
_FEWEST, _AGREES = 10, 0.95  # a column is perturbed if so many pairs contradict it, and fewer than this share agree
_CLEAR = 0.9  # share of the weight of the possible partners of a row that makes one of them the best
_ROUNDS = 20  # of expectation and maximisation
_COMMON = 0.5  # numbers are perturbed if fewer than this share of records have a value of the other release
_NO_ROWS = np.zeros(0, np.intp)
_STEPS = (0.01, 0.1, 0.5, 1.0)  # standard deviations that grade the agreement of perturbed numbers


@dataclass(frozen=True, slots=True, eq=False)
class RowPairs:
    """Pairs of rows of two releases, each with a weight: row ``first[i]`` of one and ``second[i]`` of the other."""

    first: Places
    second: Places
    weights: Floats

    def __len__(self) -> int:
        return len(self.first)


@dataclass(frozen=True, eq=False)
class Join:
    """The join of two releases on the columns that both have.

    ``exact``: columns in which a pair must have a common value. ``perturbed``: columns that only weigh the pairs.
    """

    first: ShownRows
    second: ShownRows
    exact: tuple[str, ...]
    perturbed: tuple[str, ...] = ()
    _indices: "dict[str, _NodePairs]" = field(default_factory=dict)

    @classmethod
    def of(cls, first: ShownRows, second: ShownRows) -> "Join":
        """Join on all shared columns, except those that contradict most pairs.

        >>> import shoal
        >>> from shoal.attacks.scene import Scene
        >>> data = {"age": [31, 34, 71], "sex": ["f", "m", "m"]}
        >>> before = shoal.read(data).assign(quasi=["age", "sex"])
        >>> one, two = {**data, "age": ["30-39", "30-39", "71"]}, {**data, "age": ["*", "34", "71"]}
        >>> scene = Scene.of(before, shoal.read(one), others=[shoal.read(two)])
        >>> join = Join.of(*ShownRows.of([scene, *scene.others]))
        >>> pairs = join.pairs()
        >>> join.exact, list(zip(pairs.first.tolist(), pairs.second.tolist()))
        (('age', 'sex'), [(0, 0), (1, 1), (2, 2)])
        """
        shared = [name for name in first.scene.cells if name in second.scene.cells]
        changed = tuple(name for name in shared if _is_noisy(first, second, name))
        naming = (name for name in first.pseudonyms if name in second.pseudonyms)
        join = cls(first, second, (*naming, *(name for name in shared if name not in changed)), changed)
        rows = np.unique(np.linspace(0, len(first) - 1, _TRIED).astype(np.intp)) if len(first) else _NO_ROWS
        while len(join.exact) > 1:
            tried = {name: join._contradictions(name, rows) for name in join.exact}
            worst = max(tried, key=lambda name: tried[name][0])
            wrong, clear = tried[worst]
            if wrong < max(_FEWEST, (1 - _AGREES) * clear):
                break
            weighing = (worst,) if worst in first.scene.cells else ()
            join = replace(join._without(worst), perturbed=(*join.perturbed, *weighing))
        return join

    def _without(self, name: str) -> "Join":
        return replace(self, exact=tuple(other for other in self.exact if other != name))

    def _contradictions(self, name: str, rows: Places) -> tuple[int, int]:
        """Count the rows with one clearly best partner by the other columns, and those of them that contradict it."""
        others = self._without(name)
        if others.number(rows) > MOST_PAIRS:
            return 0, 0
        pairs = others.pairs(rows)
        total = np.bincount(pairs.first, pairs.weights, len(self.first))
        clear = pairs.weights >= _CLEAR * total[pairs.first]
        one, two = pairs.first[clear], pairs.second[clear]
        agrees = replace(self, exact=(name,)).match(one, two)
        return int(np.count_nonzero(~agrees)), len(one)

    def number(self, rows: Places | None = None) -> int:
        """Return how many pairs must be compared."""
        found = self._candidates(np.arange(len(self.first)) if rows is None else rows)
        return int((found.ends - found.starts).sum())

    def pairs(self, rows: Places | None = None) -> RowPairs:
        """Return the pairs of rows that may describe the same individual; ``rows``: those of the first release."""
        pairs = self.compatible(np.arange(len(self.first)) if rows is None else rows)
        return RowPairs(pairs.first, pairs.second, pairs.weights * self._likelihood(pairs))

    def compatible(self, rows: Places) -> RowPairs:
        """Return the pairs that have a common value in every exact column."""
        found = self._candidates(rows)
        sizes = found.ends - found.starts
        firsts, seconds = [np.zeros(0, np.intp)], [np.zeros(0, np.intp)]
        for part in _batches(sizes, _TOGETHER):
            owner, place = expanded(found.starts[part], sizes[part])
            one, two = found.rows[part][owner], found.order[place]
            for name in self._sets:
                there = self._may_match(name, one, two)
                one, two = one[there], two[there]
            firsts.append(one)
            seconds.append(two)
        first = np.concatenate(firsts)
        return RowPairs(first, np.concatenate(seconds), np.ones(len(first)))

    def match(self, one: Places, two: Places) -> NDArray[np.bool_]:
        """Return whether pairs of rows have a common value in every exact column."""
        there = np.ones(len(one), bool)
        for name in self.exact:
            if name in self.first.pseudonyms:
                there &= self.first.value(name)[one] == self.second.value(name)[two]
            else:
                there &= self._may_match(name, one, two)
        return there

    def _may_match(self, name: str, one: Places, two: Places) -> NDArray[np.bool_]:
        """Return whether pairs of rows have a common value in a column."""
        first, second = self.first, self.second
        return share_values(
            first.scene.cells[name], first.nodes(name)[one], second.scene.cells[name], second.nodes(name)[two]
        )

    @cached_property
    def _keys(self) -> tuple[str, ...]:
        """The exact columns that show single values, or names of records, in both releases."""
        both = self.first.plain & self.second.plain
        return tuple(name for name in self.exact if name in self.first.pseudonyms or name in both)

    @cached_property
    def _sets(self) -> tuple[str, ...]:
        """The other exact columns, the most selective first."""
        others = [name for name in self.exact if name not in self._keys]
        return tuple(sorted(others, key=lambda name: self._index(name).selectivity))

    def _index(self, name: str) -> "_NodePairs":
        if name not in self._indices:
            self._indices[name] = _NodePairs.of(self.first, self.second, name)
        return self._indices[name]

    def _candidates(self, rows: Places) -> "_Candidates":
        """Return rows of the first release, each with a range of possible partners.

        Possible partners show the same values in all key columns, and a common value in the most selective other one.
        """
        both = [np.concatenate([self.first.value(name)[rows], self.second.value(name)]) for name in self._keys]
        unnamed = np.logical_or.reduce([np.zeros(len(rows), bool), *(codes[: len(rows)] < 0 for codes in both)])
        sizes = [int(codes.max(initial=0)) + 2 for codes in both]
        codes_of = [(codes + 1).astype(np.uint32) for codes in both]
        keys = group_rows(codes_of, sizes, len(rows) + len(self.second)).ids.astype(np.int64)
        mine, theirs = keys[: len(rows)][~unnamed], keys[len(rows) :]
        named = rows[~unnamed]
        if self._sets:
            index = self._index(self._sets[0])
            which, node = index.partners(named)
            mine, theirs = mine[which] * index.number + node, theirs * index.number + index.theirs
            named = named[which]
        order = np.argsort(theirs, kind="stable")
        starts, ends = (np.searchsorted(theirs[order], mine, side).astype(np.int64) for side in ("left", "right"))
        return _Candidates(named, starts, ends, order)

    def _likelihood(self, pairs: RowPairs) -> Floats:
        """Return how much more probable the agreement in the perturbed columns is for true pairs than by chance.

        Expectation–maximisation (Fellegi & Sunter 1969; Winkler 1988): each row has at most one true partner, and an
        estimated share of the rows has none.
        """
        if not self.perturbed:
            return np.ones(len(pairs))
        rows = len(np.unique(pairs.first))
        levels = {name: self._levels(name, pairs.first, pairs.second) for name in self.perturbed}
        chance = {name: self._by_chance(name) for name in self.perturbed}
        true = {name: np.append(0.8, np.full(len(_STEPS), 0.2 / len(_STEPS))) for name in self.perturbed}
        ratio, overlap, usual = np.ones(len(pairs)), 0.8, max(len(pairs) / max(rows, 1), 1.0)
        for _ in range(_ROUNDS):
            ratio = np.prod([(true[name] / chance[name])[levels[name]] for name in self.perturbed], axis=0)
            each = overlap * ratio / usual
            total = np.bincount(pairs.first, each, len(self.first))
            belief = each / (1 - overlap + total)[pairs.first]
            overlap = min(float(belief.sum()) / max(rows, 1), 0.999)
            for name, degrees in levels.items():
                counts = np.bincount(degrees, belief, len(_STEPS) + 1) + 1 / (len(_STEPS) + 1)
                true[name] = counts / counts.sum()
        return ratio

    def _by_chance(self, name: str) -> Floats:
        """Return the share of pairs drawn at random that agree to each degree."""
        rng, drawn = np.random.default_rng(0), 10_000
        sides = [
            rng.choice(len(side), drawn, p=side.rows.counts / side.rows.counts.sum())
            for side in (self.first, self.second)
        ]
        counts = np.bincount(self._levels(name, *sides), minlength=len(_STEPS) + 1) + 1
        return np.asarray(counts / counts.sum())

    def _levels(self, name: str, one: Places, two: Places) -> Places:
        """Return the degree of agreement of pairs: 0 for a common value or equal numbers, then by difference."""
        first, second = self.first.scene.cells[name], self.second.scene.cells[name]
        there, places = self._may_match(name, one, two), scale(first.column)
        if places is None:
            return np.where(there, 0, len(_STEPS))
        known = places[~np.isnan(places)]
        apart = np.abs(first.numbers[self.first.codes(name)[one]] - second.numbers[self.second.codes(name)[two]])
        level = np.searchsorted(np.array(_STEPS) * (float(known.std()) if len(known) else 1.0), apart, side="left")
        return np.where(there, 0, np.minimum(level, len(_STEPS)))


@dataclass(frozen=True, slots=True, eq=False)
class _Candidates:
    """Rows of the first release, in which ``order[starts[i] : ends[i]]`` are possible partners of ``rows[i]``."""

    rows: Places
    starts: Ints
    ends: Ints
    order: Places


@dataclass(frozen=True, slots=True, eq=False)
class _NodePairs:
    """The sets of two releases in one column, and which of them have a common value.

    ``mine[r]``, ``theirs[r]``: the position of the set of row r among those that occur. Set a of the first release may
    match the sets ``partner[starts[a] : starts[a + 1]]`` of the second. ``number``: the number of sets of the second.
    ``selectivity``: the share of all pairs of records that match.
    """

    mine: Places
    theirs: Places
    starts: Ints
    partner: Places
    number: int
    selectivity: float

    @classmethod
    def of(cls, first: ShownRows, second: ShownRows, name: str) -> "_NodePairs":
        """Compare all sets that occur in a column."""
        (one, mine), (two, theirs) = (np.unique(side.nodes(name), return_inverse=True) for side in (first, second))
        whose, other = [np.zeros(0, np.intp)], [np.zeros(0, np.intp)]
        step = max(_TOGETHER // max(len(two), 1), 1)
        for begin in range(0, len(one), step):
            some = np.arange(begin, min(begin + step, len(one)))
            left, right = np.repeat(some, len(two)), np.tile(np.arange(len(two)), len(some))
            there = share_values(first.scene.cells[name], one[left], second.scene.cells[name], two[right])
            whose.append(left[there])
            other.append(right[there])
        left, right = np.concatenate(whose), np.concatenate(other)
        sizes = (np.bincount(mine, minlength=len(one)), np.bincount(theirs, minlength=len(two)))
        matching = float((sizes[0][left].astype(np.float64) * sizes[1][right]).sum())
        starts = np.searchsorted(left, np.arange(len(one) + 1)).astype(np.int64)
        return cls(mine, theirs, starts, right, len(two), matching / max(len(first) * len(second), 1))

    def partners(self, rows: Places) -> tuple[Places, Places]:
        """Return pairs of the position of a row in ``rows`` and a set of the second release that it may match."""
        sets = self.mine[rows]
        which, place = expanded(self.starts[sets], self.starts[sets + 1] - self.starts[sets])
        return which, self.partner[place]


def share_values(
    first: Cells, nodes: NDArray[np.uint32], second: Cells, others: NDArray[np.uint32]
) -> NDArray[np.bool_]:
    """Return whether pairs of sets have a value in common; both sides use the same codes.

    >>> import shoal
    >>> from shoal.attacks.scene import Scene
    >>> before = shoal.read({"age": [31, 34, 38]}).assign(quasi="age")
    >>> scene = Scene.of(before, shoal.read({"age": ["31-34", "38"]}), others=[shoal.read({"age": ["34-38", "31"]})])
    >>> one, two = scene.cells["age"], scene.others[0].cells["age"]
    >>> share_values(one, one.nodes[[0, 0, 1]], two, two.nodes[[0, 1, 0]]).tolist()
    [True, True, False]
    """
    number = len(second.starts) - 1
    pairs, place = np.unique(nodes.astype(np.int64) * number + others, return_inverse=True)
    one, two = pairs // number, pairs % number
    swapped = first.sizes[one] > second.sizes[two]  # the members of the smaller set are looked up in the larger one
    shared = np.zeros(len(pairs), bool)
    for some, small, left, large, right in (
        (~swapped, first, one, second, two),
        (swapped, second, two, first, one),
    ):
        which = np.flatnonzero(some)
        owner, at = expanded(small.starts[left[which]], small.sizes[left[which]])
        there = large.contain(right[which][owner], small.members[at])
        shared[which[owner[there]]] = True
    return shared[place]


def _is_noisy(first: ShownRows, second: ShownRows, name: str) -> bool:
    """Return whether a column shows numbers that mostly differ from those of the other release."""
    cells = (first.scene.cells[name], second.scene.cells[name])
    if scale(cells[0].column) is None or any(of.labels for of in cells):
        return False
    one, two = (of.numbers[side.codes(name)] for of, side in zip(cells, (first, second), strict=True))
    common = (np.isin(one, two), np.isin(two, one))
    return all(float(there.mean()) < _COMMON for there in common if len(there))


def _batches(sizes: Ints, most: int) -> Iterator[slice]:
    """Yield slices of consecutive elements whose sizes sum up to at most ``most``, or of one larger element."""
    ends = np.cumsum(sizes)
    begin = 0
    while begin < len(sizes):
        before = int(ends[begin - 1]) if begin else 0
        end = max(int(np.searchsorted(ends, before + most, side="right")), begin + 1)
        yield slice(begin, end)
        begin = end
