"""Imitation: values of artificial records that agree with each other as those of true records do.

Artificial records whose values contradict each other are recognised, and then protect no one. Column by column, each
artificial record gets the value of a true one that resembles it in the columns drawn before, so that no record is
copied as a whole. What follows from other columns is computed from them. A record that breaks a relation is drawn anew.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.analyses.places import MISSING, places_of
from shoal.analyses.relations import Function, MissingTogether, NearRange, NeverTogether, Records, Relation
from shoal.analyses.trend import Trend
from shoal.analyses.typicality import Typicality
from shoal.kernels.translation import Codes
from shoal.recoding.nodes import Floats
from shoal.release.imitation_order import ImitationOrder
from shoal.table.column import Column
from shoal.table.extension import Extension, held
from shoal.table.scale import scale

Random: TypeAlias = Callable[[str, int], NDArray[np.uint64]]  # numbers for a purpose
DONORS = 5_000  # maximum number of true records whose values are used
_BLOCK = 1 << 22  # maximum number of pairs of an artificial and a true record that are compared at a time
_TRIES = 8  # maximum number of times that a record is drawn
_SHARPNESS = 12.0  # of the preference for similar records: the larger, the closer they are
_CLASS = 0.3  # of the largest distance: by so much the records of the own class are avoided
_BOUND = 1e6  # by far more than any distance: a record that contradicts a relation
_FULL = 0.1  # of the ranks: numbers further apart differ entirely
_OWN = 0.5  # share of different values in a column from which they are new rather than repeated
_BINS = 8  # numbers from which their ranks are compared rather than their values
_TELLING = 5  # columns by which similar records are chosen
_TOLERANCE = 0.1  # of the standard deviation of the typicality


@dataclass(frozen=True, eq=False)
class Imitated:
    """Values of artificial records in one column: ``codes`` of ``column``; ``moved[c]``: the new code of code c."""

    column: Column
    codes: Codes
    moved: Codes | None = None


@dataclass(frozen=True, eq=False)
class Imitation:
    """Artificial records: the values that are ``given``, and the true records that they imitate.

    ``columns``, ``codes``: the true records. ``given``: the codes of the artificial records in some of the columns.
    ``closed``: columns that get no new values. ``random``: random numbers for a purpose.
    """

    columns: Mapping[str, Column]
    codes: Mapping[str, Codes]
    given: Mapping[str, Codes]
    closed: frozenset[str]
    random: Random

    def imitated(self) -> dict[str, Imitated]:
        """Return the values of the artificial records in all columns that are not given.

        >>> import shoal
        >>> table = shoal.read({"sex": ["f", "m"] * 30, "title": ["Ms", "Mr"] * 30})
        >>> codes = {name: table.codes(name) for name in table.names}
        >>> numbers = lambda purpose, number: np.arange(number, dtype=np.uint64) << np.uint64(57)
        >>> columns = {name: table[name] for name in table.names}
        >>> made = Imitation(columns, codes, {"sex": codes["sex"][:4]}, frozenset(), numbers).imitated()
        >>> [str(table["title"].values[code]) for code in made["title"].codes]
        ['Ms', 'Mr', 'Ms', 'Mr']
        """
        drawn = self._drawn()
        return {name: self._written(name, drawn[name]) for name in self._order.columns}

    @cached_property
    def _donors(self) -> dict[str, Floats]:
        """The places of the true records."""
        return Records(self.columns, self.codes).places()

    @cached_property
    def _number(self) -> int:
        """The number of artificial records."""
        return len(next(iter(self.given.values())))

    @cached_property
    def _relations(self) -> list[Relation]:
        return Records(self.columns, self.codes).relations()

    @cached_property
    def _numeric(self) -> frozenset[str]:
        return frozenset(name for name in self.columns if scale(self.columns[name]) is not None)

    @cached_property
    def _sizes(self) -> dict[str, int]:
        """The number of different values in each column."""
        return {name: len(np.unique(values)) for name, values in self._donors.items()}

    @cached_property
    def _order(self) -> ImitationOrder:
        return ImitationOrder.of(self._donors, self._sizes, self._relations, self.given, self.closed)

    def _drawn(self) -> dict[str, Floats]:
        """Return the places of all artificial records.

        A record is drawn again while it breaks a relation, or is more or less typical than it should be.
        """
        given = {name: places_of(self.columns[name])[codes] for name, codes in self.given.items()}
        drawn = {name: np.zeros(self._number) for name in self._order.columns}
        aim, tolerance = self._aims()
        worst = np.full(self._number, np.inf)
        for attempt in range(_TRIES):
            again = np.flatnonzero(worst > tolerance)
            if not len(again):
                break
            known = {name: values[again] for name, values in given.items()}
            tried = self._attempt(known, attempt)
            faults = self._faults({**tried, **known}, aim[again])
            better = faults < worst[again]
            for name in self._order.columns:
                drawn[name][again[better]] = tried[name][better]
            worst[again] = np.minimum(worst[again], faults)
        stuck = np.flatnonzero(worst >= _BOUND)
        copied = self._copied({name: values[stuck] for name, values in given.items()})
        for name, values in copied.items():
            drawn[name][stuck] = values
        return drawn

    def _copied(self, given: dict[str, Floats]) -> dict[str, Floats]:
        """Return the values of the most similar true record in all related columns, which break no relation."""
        related = {name for relation in self._relations for name in relation.columns}
        apart = np.zeros((len(next(iter(given.values()))), self._records), np.float32)
        for name, values in given.items():
            apart += self._apart(name, values) * np.float32(_BOUND if name in related else 1)
        chosen = apart.argmin(axis=1)
        return {name: self._donors[name][chosen] for name in self._order.columns if name in related}

    def _aims(self) -> tuple[Floats, float]:
        """Return how typical each record should be, like a true record drawn at random, and the tolerance."""
        scores = self._typicality.scores(self._donors, counted=True)
        chosen = self.random("typicality", self._number) % np.uint64(self._records)
        return scores[chosen.astype(np.intp)], _TOLERANCE * float(scores.std())

    @cached_property
    def _typicality(self) -> Typicality:
        return Typicality.of(self._donors, self._numeric, self.given)

    def _faults(self, places: dict[str, Floats], aim: Floats) -> Floats:
        """Return the faults of records: broken relations, which count most, and a typicality off the aim."""
        broken = np.zeros(len(aim))
        for relation in self._relations:
            broken += relation.broken(places)
        return _BOUND * broken + np.abs(self._typicality.scores(places) - aim)

    @cached_property
    def _records(self) -> int:
        """The number of true records."""
        return len(next(iter(self._donors.values())))

    def _attempt(self, given: dict[str, Floats], attempt: int) -> dict[str, Floats]:
        """Draw all columns once."""
        number, size = len(next(iter(given.values()))), max(_BLOCK // max(self._records, 1), 1)
        parts = [
            self._block({name: values[start : start + size] for name, values in given.items()}, (attempt, start))
            for start in range(0, number, size)
        ]
        return {name: np.concatenate([part[name] for part in parts]) for name in self._order.columns}

    def _block(self, given: dict[str, Floats], which: tuple[int, int]) -> dict[str, Floats]:
        """Draw all columns of some records."""
        made, number = dict(given), len(next(iter(given.values())))
        apart = {name: self._apart(name, values) for name, values in given.items()}
        own = np.logical_and.reduce([distance == 0 for distance in apart.values()])  # the class itself
        avoided = own * np.float32(_SHARPNESS * _CLASS)  # its values should not be repeated
        for name in self._order.columns:
            score = avoided - self._noise(name, which, number)
            for other, weight in self._weights(name, made).items():
                score += apart[other] * np.float32(_SHARPNESS * weight)
            for bound in self._bounds(name, made):
                score += bound
            made[name] = self._value(name, made, score.argmin(axis=1), which)
            apart[name] = self._apart(name, made[name])
        return {name: made[name] for name in self._order.columns}

    def _weights(self, name: str, made: Collection[str]) -> dict[str, float]:
        """Return the columns by which the true records that give the values of a column are chosen, with weights.

        They are those that tell most about it; there are none if none tells anything.
        """
        information = {other: self._typicality.between(name, other) for other in made}
        best = sorted(information, key=lambda other: -information[other])[:_TELLING]
        total = sum(information[other] for other in best)
        return {other: information[other] / total for other in best if information[other]}

    def _noise(self, name: str, which: tuple[int, int], number: int) -> NDArray[np.float32]:
        """Return Gumbel noise for each artificial and true record, with which the nearest is a random choice."""
        total = self._records
        uniform = (self.random(f"donors of {name}: {which}", total) >> np.uint64(11)) * 2.0**-53 + 2.0**-54
        noise = (-np.log(-np.log(uniform))).astype(np.float32)
        offsets = self.random(f"offsets of {name}: {which}", number) % np.uint64(total)
        turns = np.lib.stride_tricks.sliding_window_view(np.concatenate([noise, noise]), total)
        return np.asarray(turns[offsets.astype(np.intp)])

    def _value(self, name: str, made: dict[str, Floats], chosen: NDArray[np.intp], which: tuple[int, int]) -> Floats:
        """Return the values that the chosen true records give, the computed ones, or new ones close to them."""
        values = self._donors[name][chosen]
        if name in self._order.computed:
            computed = self._order.computed[name].value(made)
            numbers = np.where(np.isfinite(computed), computed, values)
        elif (trend := self._trend(name)) is not None:
            start = self._between(name, values, which) if trend.leaves_rest and self._is_own(name) else values
            numbers = start + trend.difference(made, self._donors, chosen)
        elif self._is_own(name):
            numbers = self._between(name, values, which)
        else:
            return values
        there = values > MISSING
        return np.where(there, held(self.columns[name], np.where(there, numbers, 0.0)), values)

    def _trend(self, name: str) -> Trend | None:
        """Return the weighted sum of the numbers drawn before that a number follows; None if there is none."""
        if name not in self._trends:
            before = [*self.given, *self._order.columns[: self._order.columns.index(name)]]
            causes = [other for other in before if other in self._numeric]
            fits = name in self._ranks and name not in self.closed
            self._trends[name] = Trend.of(self._donors, name, causes) if fits else None
        return self._trends[name]

    @cached_property
    def _trends(self) -> dict[str, Trend | None]:
        return {}

    def _is_own(self, name: str) -> bool:
        """Return whether nearly every record has a value of its own, so that a repeated one would be noticed."""
        return name in self._numeric and name not in self.closed and self._sizes[name] > _OWN * self._records

    def _between(self, name: str, values: Floats, which: tuple[int, int]) -> Floats:
        """Return random numbers between each number and the next one; those of missing values do not matter."""
        known = np.unique(self._donors[name][self._donors[name] > MISSING])
        if len(known) < 2:
            return values
        start = np.where(values > MISSING, values, known[0])
        place = np.searchsorted(known, start, "right")
        following = np.where(place < len(known), known[np.minimum(place, len(known) - 1)], known[-2])
        part = (self.random(f"between in {name}: {which}", len(values)) >> np.uint64(11)) * 2.0**-53
        return np.asarray(start + part * (following - start))

    def _apart(self, name: str, values: Floats) -> NDArray[np.float32]:
        """Return the distance of each artificial record from each true one in a column, from 0 to 1."""
        ranks = self._ranks.get(name)
        if ranks is None:
            return np.asarray(values[:, None] != self._donors[name][None, :], np.float32)
        mine = self._ranked(name, values)
        gaps = (values == MISSING)[:, None] != (self._donors[name] == MISSING)[None, :]
        near = np.minimum(np.abs(mine[:, None] - ranks[None, :]) / np.float32(_FULL), 1)
        far: NDArray[np.float32] = np.where(gaps, np.float32(1), near)
        return far

    @cached_property
    def _ranks(self) -> dict[str, NDArray[np.float32]]:
        """The rank of each true record in the columns of many numbers, from 0 to 1."""
        many = [name for name in self._numeric if self._sizes[name] > _BINS]
        return {name: self._ranked(name, self._donors[name]) for name in many}

    def _ranked(self, name: str, values: Floats) -> NDArray[np.float32]:
        ordered = np.sort(self._donors[name])
        middle = (np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")) / 2
        return (middle / len(ordered)).astype(np.float32)

    def _bounds(self, name: str, made: dict[str, Floats]) -> Iterator[NDArray[np.float32]]:
        """Yield a large distance from the true records that would break a relation with a column drawn before."""
        for relation in self._relations:
            if name not in relation.columns or not all(other in made for other in relation.columns if other != name):
                continue
            other = next(other for other in relation.columns if other != name)
            if isinstance(relation, MissingTogether):
                gap = made[other] == MISSING
                yield (gap[:, None] != (self._donors[other] == MISSING)[None, :]) * np.float32(_BOUND)
            elif isinstance(relation, Function | NearRange):
                yield self._apart(other, made[other]) * np.float32(_BOUND)
            elif isinstance(relation, NeverTogether):
                absent = relation.absent if name == relation.columns[1] else relation.absent.T
                mine, theirs = relation.groups(other, made[other]), relation.groups(name, self._donors[name])
                yield absent[mine[:, None], theirs[None, :]] * np.float32(_BOUND)

    def _written(self, name: str, values: Floats) -> Imitated:
        """Return the codes of the values of a column, with new values where there are any."""
        column, places = self.columns[name], places_of(self.columns[name])
        order = np.argsort(places, kind="stable")
        at = order[np.minimum(np.searchsorted(places[order], values), len(order) - 1)]
        new = places[at] != values
        codes = at.astype(self.codes[name].dtype)
        if not new.any():
            return Imitated(column, codes)
        extension = Extension.of(column, values[new])
        codes = extension.moved[at]
        codes[new] = extension.codes
        return Imitated(extension.column, codes, extension.moved)
