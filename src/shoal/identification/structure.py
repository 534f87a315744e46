"""Recognition of unrecognised columns by structure: the way their values nest in those of other columns.

``reference``: the values are those of an identifier of the same table, such as the number of a mother or a sibling.
``household``: the values divide the individuals into small groups that are numbered, or that lie within one place.
``site``: the values divide the individuals into larger groups, each within one place.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.identification.concepts import Concept, concepts
from shoal.identification.proposal import Confidence, Proposal
from shoal.identification.seen import FEW_RECORDS, Seen
from shoal.identification.value_kind import are_whole
from shoal.kernels.grouping import group
from shoal.table.column import as_text
from shoal.table.role import Role
from shoal.words import short

_HALF = 0.5  # minimum share of the range of an identifier, and of distinct values, that references have
_GROUP = (1.2, 8.0)  # average number of individuals in a household, a pair or a matched set
_LARGEST = 20  # maximum number of individuals in one of them
_GAPS = 3  # maximum range of numbers, as a multiple of their count
_ALIKE = 0.9  # minimum share of groups of the same size, as of pairs
_SITES = 3  # minimum number of sites
_PAIRED = 2  # minimum average number of individuals in a group that lies within one place
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Individuals:
    """One code of a column for each individual, in the order of their first records; the same for all their records."""

    seen: Seen
    codes: Ints

    @classmethod
    def of(cls, seen: Seen) -> "Individuals | None":
        """Return the values of a column by individual; None if values are missing or vary within individuals."""
        if seen.column.missing or not seen.shape.values:
            return None
        codes = seen.table.codes(seen.name).astype(np.int64)
        if seen.whose is None or seen.whose == seen.name:
            return cls(seen, codes)
        persons = seen.table.codes(seen.whose).astype(np.int64)
        firsts, places = np.unique(persons, return_index=True)
        by_person = np.zeros(int(persons.max(initial=0)) + 1, np.int64)
        by_person[firsts] = codes[places]
        constant = bool((by_person[persons] == codes).all())
        return cls(seen, codes[np.sort(places)]) if constant else None

    @cached_property
    def sizes(self) -> Ints:
        """The number of individuals with each value."""
        sizes = np.bincount(self.codes)
        return sizes[sizes > 0]

    @property
    def average(self) -> float:
        """The average number of individuals with a value."""
        return len(self.codes) / len(self.sizes)

    @property
    def small(self) -> bool:
        """Whether the values divide the individuals into many small groups."""
        within = _GROUP[0] <= self.average <= _GROUP[1] and self.sizes.max() <= _LARGEST
        return bool(within)

    @cached_property
    def numbered(self) -> bool:
        """Whether the values are integers that number groups: blocks of adjacent individuals, or groups of one size.

        Blocks in increasing order must be numbered without large gaps: a table may be sorted by a measurement.
        """
        low, high = (int(self.seen.column.values[place].as_py()) for place in (0, -1))
        gapless = high - low < _GAPS * len(self.sizes)
        steps = np.diff(self.codes)
        blocks = np.count_nonzero(steps) + 1 == len(self.sizes)
        alike = np.count_nonzero(self.sizes == np.bincount(self.sizes).argmax()) >= _ALIKE * len(self.sizes)
        return bool((blocks and (gapless or (steps < 0).any())) or (gapless and alike))

    def within(self, place: "Individuals") -> bool:
        """Return whether each group lies within one place, though most groups have several members."""
        if len(place.codes) != len(self.codes) or not 1 < len(place.sizes) < len(self.sizes):
            return False
        sizes = self.seen.column.size, place.seen.column.size
        pairs = (self.codes * sizes[1] + place.codes).astype(np.uint64)
        return len(group(pairs, sizes[0] * sizes[1])) == len(self.sizes)


@dataclass(frozen=True)
class Structure:
    """The columns of a table with their proposals, as far as structure matters."""

    seen: Mapping[str, Seen]
    proposals: Mapping[str, Proposal]

    @cached_property
    def places(self) -> list[Individuals]:
        """The recognised places, such as regions and hospitals."""
        recognised = (self.seen[name] for name, proposed in self.proposals.items() if _is_place(proposed.concept))
        return [place for place in map(Individuals.of, recognised) if place is not None]

    @cached_property
    def identifiers(self) -> list[Seen]:
        """The columns with an identification number of each individual or record."""
        return [
            self.seen[name]
            for name, proposed in self.proposals.items()
            if proposed.concept is not None and proposed.concept.unique and self.seen[name].shape.values >= FEW_RECORDS
        ]

    def may_be_small(self, seen: Seen) -> bool:
        """Return whether a column has enough values to divide the individuals into small groups."""
        individuals = seen.table.records if seen.whose is None else len(seen.table[seen.whose].values)
        return seen.shape.values * _GROUP[1] >= individuals

    def proposal(self, name: str) -> Proposal | None:
        """Return the proposal for a column that the first matching rule makes; None if no rule matches."""
        seen = self.seen[name]
        if seen.column.kind.numeric and not are_whole(seen.column):
            return None
        return next((proposed for rule in _RULES if (proposed := rule(self, seen)) is not None), None)


def by_structure(seen: Mapping[str, Seen], proposals: Mapping[str, Proposal]) -> dict[str, Proposal]:
    """Return the proposals with those of unrecognised columns replaced if their structure suggests a meaning.

    >>> import shoal
    >>> from shoal.identification.proposal import proposal
    >>> table = shoal.read({"u": [n // 3 + 1 for n in range(90)], "sex": ["f", "m", "f"] * 30})
    >>> seen = {name: Seen(table, name) for name in table.names}
    >>> by_structure(seen, {name: proposal(seen[name]) for name in seen})["u"].role
    <Role.HOUSEHOLD: 'household'>
    """
    structure = Structure(seen, proposals)
    return {
        name: (structure.proposal(name) if _open(proposed) else None) or proposed
        for name, proposed in proposals.items()
    }


def _open(proposed: Proposal) -> bool:
    return proposed.confidence is Confidence.LOW and proposed.role is not Role.DIRECT


def _is_place(concept: Concept | None) -> bool:
    return concept is not None and concept.place


def _reference(structure: Structure, seen: Seen) -> Proposal | None:
    """Propose a direct identifier for values that are all found in an identification number of the same table."""
    if seen.shape.values < FEW_RECORDS or seen.shape.values < _HALF * seen.known:
        return None
    for other in structure.identifiers:
        if other.name != seen.name and _refers(seen, other):
            reason = f"All values occur in {other.name}, so that they may refer to other individuals."
            return Proposal(Role.DIRECT, (reason,), concepts()["other-number"], Confidence.MEDIUM)
    return None


def _refers(seen: Seen, other: Seen) -> bool:
    """Return whether the values of a column are among those of an identifier, and spread over its range."""
    values, known = seen.column.values, other.column.values
    if seen.column.kind.numeric != other.column.kind.numeric or len(values) > len(known):
        return False
    if not pc.all(pc.is_in(as_text(values), value_set=as_text(known))).as_py():
        return False
    if not seen.column.kind.numeric:
        return True
    spread, whole = (float(ends[-1].as_py()) - float(ends[0].as_py()) for ends in (values, known))
    return spread >= _HALF * whole


def _household(structure: Structure, seen: Seen) -> Proposal | None:
    """Propose a household for small groups of individuals that are numbered, or that lie within one place."""
    if seen.shape.values < FEW_RECORDS or not structure.may_be_small(seen):
        return None
    groups = Individuals.of(seen)
    if groups is None or not groups.small:
        return None
    if seen.column.kind.numeric and groups.numbered:
        why = "Numbers groups"
    elif groups.average >= _PAIRED and any(groups.within(place) for place in structure.places):
        why = "Divides each place into groups"
    else:
        return None
    reason = f"{why} of {short(groups.average)} individuals on average, as of a household, a pair or a matched set."
    return Proposal(Role.HOUSEHOLD, (reason,), concepts()["household"], Confidence.LOW)


def _site(structure: Structure, seen: Seen) -> Proposal | None:
    """Propose a quasi-identifier for codes of groups that lie within one place, as sites do."""
    groups = Individuals.of(seen) if structure.places else None
    if groups is None or groups.average < _GROUP[1] or len(groups.sizes) < _SITES:
        return None
    place = next((place.seen.name for place in structure.places if groups.within(place)), None)
    if place is None:
        return None
    reason = f"Each value occurs with one value of {place} only, as the code of a site or a smaller place."
    return Proposal(Role.QUASI, (reason,), concepts()["hospital"], Confidence.LOW)


_RULES: tuple[Callable[[Structure, Seen], Proposal | None], ...] = (_reference, _household, _site)
