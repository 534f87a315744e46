"""A column as the rules of identification see it: its values, and the meanings of its name."""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.identification.concepts import Concept, concepts
from shoal.identification.shape import Shape
from shoal.identification.value_kind import are_whole
from shoal.identification.vocabulary import Named, meanings, says_number
from shoal.table.column import Column, as_text
from shoal.table.kind import Kind
from shoal.table.role import Role
from shoal.table.table import Table

FEW_RECORDS = 20  # fewer values than this may all differ by chance
_UNIQUE = 0.9  # minimum ratio of distinct values to records, or persons, in an identifying column
_SHARED = 1.1  # maximum average number of persons per value in an identifying column
_SMALL, _FEW = 1000, 50  # counts are below this, with at most this many distinct values
_CLASSES, _CLASS_SIZE = 20, 5  # categories are at most so many, with at least so many records each
_FLAGS = frozenset(
    "yes no y n true false 0 1 ja nein j oui non o sí si s nee unknown unbekannt inconnu onbekend desconocido none "
    "keine aucun geen ninguno missing na n/a - ? x".split()
)


def _with_otherwise(named: Named) -> tuple[Named, ...]:
    other = named.concept.otherwise
    return (named,) if other is None else (named, replace(named, concept=concepts()[other]))


@dataclass(frozen=True, eq=False)
class Seen:
    """A column as the rules see it.

    ``whose``: the subject column, if there is one. ``direct``: whether the column is declared as a direct identifier.
    """

    table: Table
    name: str
    whose: str | None = None
    direct: bool = False

    @property
    def column(self) -> Column:
        """The column itself."""
        return self.table[self.name]

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """The number of records per code."""
        return self.table.counts(self.name)

    @cached_property
    def shape(self) -> Shape:
        """The shape of the values."""
        return Shape.of(self.column, self.counts)

    @cached_property
    def names(self) -> list[Named]:
        """The concepts that the name suggests and the values do not contradict; one for each word of the name."""
        fitting = (next((sense for sense in senses if self._fits(sense.concept)), None) for senses in self._meanings)
        return [named for named in fitting if named is not None]

    @cached_property
    def doubtful(self) -> list[Named]:
        """The concepts that the name suggests, but the values contradict."""
        return [senses[0] for senses in self._meanings if not any(self._fits(sense.concept) for sense in senses)]

    @cached_property
    def _meanings(self) -> list[tuple[Named, ...]]:
        """The meanings of each word of the name, with those that the same words have for other values."""
        return [tuple(chain.from_iterable(map(_with_otherwise, senses))) for senses in meanings(self.name)]

    def _fits(self, concept: Concept) -> bool:
        """Return whether the values can be those of a concept."""
        if not self.shape.values:
            return True
        if concept.values and self.shape.kind not in concept.values:
            return False
        if concept.unique and self.categories and not says_number(self.name):
            return False
        if concept.codes and self.column.kind.numeric and not are_whole(self.column):
            return False
        if not concept.ranges or not self.column.kind.numeric:
            return True
        low, high = (float(self.column.values[place].as_py()) for place in (0, -1))
        return any(least <= low and high <= most for least, most in concept.ranges)

    @cached_property
    def categories(self) -> bool:
        """Whether the values are texts that divide the records into a few large groups."""
        few = 1 < self.shape.values <= _CLASSES and self.known >= _CLASS_SIZE * self.shape.values
        return few and not self.column.kind.numeric

    @cached_property
    def known(self) -> int:
        """The number of records with a value."""
        return int(self.counts[: len(self.column.values)].sum())

    @cached_property
    def missing(self) -> float:
        """The share of records without a value."""
        return 1 - self.known / self.table.records if self.table.records else 0.0

    @cached_property
    def all_differ(self) -> str | None:
        """The unit, "record" or "individual", for which nearly all values are unique; None if there is none.

        A unit with few members does not count.
        """
        if self.known >= FEW_RECORDS and self.shape.values >= _UNIQUE * self.known:
            return "record"
        if self.whose is None or self.whose == self.name:
            return None
        mine = self.table.codes(self.name) < len(self.column.values)
        persons, there = (
            self.table.codes(self.whose)[mine].astype(np.int64),
            np.zeros(self.table[self.whose].size, bool),
        )
        there[persons] = True
        number = int(np.count_nonzero(there))
        if number < FEW_RECORDS or self.shape.values < _UNIQUE * number:
            return None
        pairs = persons * self.column.size + self.table.codes(self.name)[mine]
        return "individual" if len(np.unique(pairs)) <= _SHARED * self.shape.values else None

    @cached_property
    def explained(self) -> bool:
        """Whether the name suggests a concept, and neither identifies persons nor denotes an identification number."""
        naming = any(named.concept.role is Role.DIRECT or named.concept.role.single for named in self.names)
        return bool(self.names) and not naming and not says_number(self.name)

    @cached_property
    def only_flags(self) -> bool:
        """Whether all values are flags (yes and no), single letters, or small numbers that count something."""
        column = self.column
        if column.kind is Kind.BOOLEAN:
            return True
        if not self.shape.values:
            return False
        if column.kind.numeric:
            few = self.shape.values <= _FEW and self.all_differ is None
            return few and float(column.values[0].as_py()) > -1 and float(column.values[-1].as_py()) < _SMALL
        texts = [] if self.shape.values > _FEW else pc.utf8_lower(as_text(column.values)).to_pylist()
        return bool(texts) and all(text.strip() in _FLAGS or len(text.strip()) < 2 for text in texts)
