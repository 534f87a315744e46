"""Proposal of a role for a column, with reasons. Rules are applied in order; the first that applies decides.

Rules about the values come first, because they are certain. Rules about the name follow; they apply unless the values
contradict them, and the most protective of several meanings is chosen. A column that no rule recognises is a
quasi-identifier until the data owner decides otherwise.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.identification.concepts import Concept, Named, all_named, concepts, says_number
from shoal.identification.g_distinct import GDistinct, Rate
from shoal.identification.shape import Form, Shape
from shoal.table.column import Column, as_text
from shoal.table.kind import Kind
from shoal.table.role import Role
from shoal.table.table import Table
from shoal.words import counted, short

_FEW_RECORDS = 20  # fewer values than this may all differ by chance
_UNIQUE = 0.9  # minimum ratio of distinct values to records, or persons, in an identifying column
_SHARED = 1.1  # maximum average number of persons per value in an identifying column
_DENSE = 3  # maximum range of row numbers, as a multiple of the number of records
_LONG_NUMBER = 100_000
_SMALL, _FEW = 1000, 50  # counts are below this, with at most this many distinct values
_CODED = frozenset({Form.CODE, Form.CATEGORY, Form.NUMBER})
_STRICTNESS = (Role.DIRECT, Role.QUASI, Role.SENSITIVE, Role.INSENSITIVE)
_FLAGS = frozenset(
    "yes no y n true false 0 1 ja nein j oui non o sí si s nee unknown unbekannt inconnu onbekend desconocido none "
    "keine aucun geen ninguno missing na n/a - ? x".split()
)


@dataclass(frozen=True, slots=True)
class Proposal:
    """Role with its reasons, and the concept behind it, if there is one."""

    role: Role
    reasons: tuple[str, ...]
    concept: Concept | None = None


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
        """All concepts that the name suggests."""
        return all_named(self.name)

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
        if self.known >= _FEW_RECORDS and self.shape.values >= _UNIQUE * self.known:
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
        if number < _FEW_RECORDS or self.shape.values < _UNIQUE * number:
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


def proposal(seen: Seen) -> Proposal:
    """Return the proposal of the first rule that applies.

    >>> import shoal
    >>> table = shoal.read({"Geburtsdatum": ["1958-05-17", "1971-01-02"], "x": [1.5, 2.5]})
    >>> [proposal(Seen(table, name)).role.value for name in table.names]
    ['quasi', 'quasi']
    >>> proposal(Seen(table, "Geburtsdatum")).reasons
    ('Column name suggests a date of birth.',)
    """
    return next(proposed for rule in _RULES if (proposed := rule(seen)) is not None)


def rated(rates: GDistinct, name: str, proposal: Proposal) -> Proposal:
    """Return the proposal by the risk rate of a column; direct identifiers and roles of a single column are kept.

    >>> import shoal
    >>> from shoal.identification.g_distinct import g_distinct
    >>> table = shoal.read({"sex": ["f", "m", "m", "m"]})
    >>> rated(g_distinct(table, alpha=70, beta=60), "sex", proposal(Seen(table, "sex"))).reasons
    ('Risk rate of 66.7%, between β = 60 and α = 70.',)
    """
    rate = next((rate for rate in rates.rates if rate.name == name), None)
    if rate is None or proposal.role is Role.DIRECT or proposal.role.single:
        return proposal
    cut = {
        Role.SENSITIVE: f"above α = {rates.alpha:g}",
        Role.QUASI: f"between β = {rates.beta:g} and α = {rates.alpha:g}",
        Role.INSENSITIVE: f"below β = {rates.beta:g}",
    }
    return Proposal(rate.role, (f"Risk rate of {_rate(rate, rates)}%, {cut[rate.role]}.",), proposal.concept)


def _rate(rate: Rate, rates: GDistinct) -> str:
    """Return a risk rate with enough digits to be on the right side of both thresholds."""
    nearest = min((rates.alpha, rates.beta), key=lambda threshold: abs(threshold - rate.rate))
    return short(rate.rate, nearest)


def _subject(seen: Seen) -> Proposal | None:
    if seen.whose != seen.name:
        return None
    claims = [named.concept for named in seen.names if named.concept.role in {Role.DIRECT, Role.SUBJECT}]
    gaps = ("Records without a value must be corrected before a release.",) if seen.column.missing else ()
    return Proposal(
        Role.SUBJECT, ("Identifies the individual of a record.", *gaps), (*claims, concepts()["patient"])[0]
    )


def _given(seen: Seen) -> Proposal | None:
    if not seen.direct:
        return None
    concepts = [named.concept for named in seen.names if named.concept.role is Role.DIRECT]
    return Proposal(Role.DIRECT, ("Declared as a direct identifier.",), (*concepts, None)[0])


def _patterned(seen: Seen) -> Proposal | None:
    pattern = seen.shape.pattern
    if pattern is None or (not pattern.sure and seen.explained):
        return None
    claims = [named.concept for named in seen.names if named.concept.role is Role.DIRECT]
    checked = " with valid check digits" if pattern.checked else ""
    concept = concepts()[pattern.concept]
    concept = claims[0] if claims and not pattern.sure else concept
    return Proposal(concept.role, (f"Values are {pattern.says}{checked}.",), concept)


def _text(seen: Seen) -> Proposal | None:
    if seen.shape.form is not Form.TEXT:
        return None
    reason = "Free text, which may identify individuals. Not released."
    return Proposal(Role.DIRECT, (reason,), concepts()["free-text"])


def _dated(seen: Seen) -> Proposal | None:
    """Propose a quasi-identifier for dates: an adversary may know any date, whatever its meaning."""
    if seen.shape.form is not Form.DATE:
        return None
    dated = [named for named in seen.names if named.concept.role is Role.QUASI]
    if dated:
        return Proposal(Role.QUASI, (_says(dated[0]),), dated[0].concept)
    return Proposal(Role.QUASI, ("Contains dates.",), concepts()["other-date"])


def _numbering(seen: Seen) -> Proposal | None:
    """Propose a direct identifier for integers that increase from record to record without large gaps.

    The name of the column does not matter.
    """
    if seen.column.kind is not Kind.INTEGER or seen.known < _FEW_RECORDS or seen.shape.values < seen.table.records:
        return None
    first, last = seen.column.values[0].as_py(), seen.column.values[-1].as_py()
    codes = seen.table.codes(seen.name).astype(np.int64)
    rises = bool((np.diff(codes) > 0).all()) and last - first < _DENSE * seen.table.records
    return Proposal(Role.DIRECT, ("Numbers the records.",), concepts()["row-number"]) if rises else None


def _naming(seen: Seen) -> Proposal | None:
    """Propose a direct identifier for codes that are unique for nearly every record or person."""
    household = any(named.concept.role is Role.HOUSEHOLD for named in seen.names)
    if seen.all_differ is None or seen.explained or household or seen.shape.form not in _CODED:
        return None
    if seen.shape.form is Form.NUMBER and not _long_numbers(seen):
        return None
    claims = [named.concept for named in seen.names if named.concept.role is Role.DIRECT]
    concept = (*claims, concepts()["record-number" if says_number(seen.name) else "other-number"])[0]
    return Proposal(Role.DIRECT, (f"Nearly every {seen.all_differ} has a unique value.",), concept)


def _long_numbers(seen: Seen) -> bool:
    """Return whether numbers are integers that are too large for measurements, or named as identification numbers."""
    values = seen.column.values
    whole = seen.column.kind is Kind.INTEGER or bool(pc.all(pc.equal(values, pc.round(values))).as_py())
    return whole and (says_number(seen.name) or float(values[0].as_py()) >= _LONG_NUMBER)


def _called(seen: Seen) -> Proposal | None:
    """Propose the role that the name suggests, unless the values contradict it; of several, the most protective."""
    if not seen.names:
        return None
    flags, doubts = seen.only_flags, list[str]()
    for named in sorted(seen.names, key=lambda named: _strictness(_fitting(seen, named.concept.role))):
        if _fitting(seen, named.concept.role) is Role.DIRECT and flags:
            doubts += [_says(named), f"Has only {counted(seen.shape.values, 'value')}."]
            continue
        return Proposal(_fitting(seen, named.concept.role), (_says(named), *doubts), named.concept)
    return Proposal(Role.QUASI, tuple(doubts), None)


def _says(named: Named) -> str:
    return f"Column name suggests {named.concept.says}."


def _strictness(role: Role) -> int:
    return _STRICTNESS.index(role) if role in _STRICTNESS else 0


def _fitting(seen: Seen, role: Role) -> Role:
    """Return the role, or another one if the column cannot have it.

    An unsuitable weight becomes a quasi-identifier. A role that only one column can have becomes a direct identifier if
    values are missing, or if it is the subject, which has been chosen before.
    """
    if role is Role.WEIGHT:
        return role if _is_weight(seen) else Role.QUASI
    gaps = seen.column.missing or role is Role.SUBJECT  # the subject has been chosen before
    return Role.DIRECT if role.single and gaps else role


def _is_weight(seen: Seen) -> bool:
    """Return whether a column can be a weight: positive numbers without missing values that do not identify records."""
    column = seen.column
    plain = column.kind.numeric and not column.missing and bool(seen.shape.values) and seen.all_differ is None
    return plain and float(column.values[0].as_py()) > 0


def _diseases(seen: Seen) -> Proposal | None:
    if not seen.shape.icd:
        return None
    return Proposal(Role.SENSITIVE, ("Values are disease codes.",), concepts()["diagnosis"])


def _nothing(seen: Seen) -> Proposal | None:
    if seen.shape.values == 0:
        return Proposal(Role.INSENSITIVE, ("Empty.",))
    if seen.shape.values == 1 and seen.known == seen.table.records and seen.known > 1:
        return Proposal(Role.INSENSITIVE, ("All records have the same value.",))
    return None


def _unknown(seen: Seen) -> Proposal:  # noqa: ARG001 - same signature as the other rules
    return Proposal(Role.QUASI, ("Not recognised; treated as a quasi-identifier to be safe.",))


_RULES: tuple[Callable[[Seen], Proposal | None], ...] = (
    _subject,
    _given,
    _patterned,
    _text,
    _dated,
    _numbering,
    _naming,
    _called,
    _diseases,
    _nothing,  # after the name: a column that is constant in this extract may vary in the next
    _unknown,
)
