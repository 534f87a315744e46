"""The proposal: what a column is taken for, and why. Rules are asked one after another; the first that applies decides.

What is certain comes first: what values are. Then what the name says, where the values do not speak against it. A
column about which nothing is known is a quasi-identifier until its owner decides otherwise.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.identification.concepts import Concept, Named, concepts, named
from shoal.identification.g_distinct import GDistinct
from shoal.identification.shape import Form, Shape
from shoal.table.column import Column
from shoal.table.kind import Kind
from shoal.table.role import Role
from shoal.table.table import Table

_FEW_RECORDS = 20  # of which all may differ by chance
_UNIQUE = 0.9  # the share of records that have values of their own in a column that names them
_FEW_VALUES = 5  # that no column of names or numbers of persons has
_LONG_NUMBER = 100_000


@dataclass(frozen=True, slots=True)
class Proposal:
    """A role, why, and the concept behind it, if there is one."""

    role: Role
    reasons: tuple[str, ...]
    concept: Concept | None = None


@dataclass(frozen=True, eq=False)
class Seen:
    """A column as the rules see it.

    ``subject``: whether it is the one that says whose record it is. ``direct``: whether it is known to name persons.
    """

    table: Table
    name: str
    subject: bool = False
    direct: bool = False

    @property
    def column(self) -> Column:
        """The column itself."""
        return self.table[self.name]

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How many records have each code."""
        return self.table.counts(self.name)

    @cached_property
    def shape(self) -> Shape:
        """What the values look like."""
        return Shape.of(self.column, self.counts)

    @cached_property
    def named(self) -> Named | None:
        """What the name says."""
        return named(self.name)

    @cached_property
    def known(self) -> int:
        """How many records have a value."""
        return int(self.counts[: len(self.column.values)].sum())

    @cached_property
    def missing(self) -> float:
        """The share of records without one."""
        return 1 - self.known / self.table.records if self.table.records else 0.0

    @cached_property
    def all_differ(self) -> bool:
        """Whether nearly every record has a value of its own, and they are not few."""
        return self.known >= _FEW_RECORDS and self.shape.values >= _UNIQUE * self.known


def proposal(seen: Seen) -> Proposal:
    """Ask the rules.

    >>> import shoal
    >>> table = shoal.read({"Geburtsdatum": ["1958-05-17", "1971-01-02"], "x": [1.5, 2.5]})
    >>> [proposal(Seen(table, name)).role.value for name in table.names]
    ['quasi', 'quasi']
    >>> proposal(Seen(table, "Geburtsdatum")).reasons
    ('its name says birth date (de)',)
    """
    return next(found for rule in _RULES if (found := rule(seen)) is not None)


def rated(rates: GDistinct, name: str, made: Proposal, *, always: bool = False) -> Proposal:
    """Let the risk rate of a column decide instead; ``always``: even about one that names persons.

    >>> import shoal
    >>> from shoal.identification.g_distinct import g_distinct
    >>> table = shoal.read({"sex": ["f", "m", "m", "m"]})
    >>> rated(g_distinct(table, alpha=70, beta=60), "sex", proposal(Seen(table, "sex"))).reasons
    ('its risk rate of 66.67 % is from β = 60 to α = 70',)
    """
    rate = next((one for one in rates.rates if one.name == name), None)
    naming = made.role is Role.DIRECT or made.role.single
    if rate is None or made.role is Role.SUBJECT or (naming and not always):
        return made
    cut = {
        Role.SENSITIVE: f"above α = {rates.alpha:g}",
        Role.QUASI: f"from β = {rates.beta:g} to α = {rates.alpha:g}",
        Role.INSENSITIVE: f"below β = {rates.beta:g}",
    }
    return Proposal(rate.role, (f"its risk rate of {rate.rate:.2f} % is {cut[rate.role]}",), made.concept)


def _nothing(seen: Seen) -> Proposal | None:
    if seen.shape.values == 0:
        return Proposal(Role.INSENSITIVE, ("it is empty",))
    if seen.shape.values == 1 and seen.known == seen.table.records and seen.known > 1:
        return Proposal(Role.INSENSITIVE, ("all records have the same value",))
    return None


def _subject(seen: Seen) -> Proposal | None:
    if not seen.subject:
        return None
    return Proposal(Role.SUBJECT, ("it says whose record it is",), concepts()["patient"])


def _given(seen: Seen) -> Proposal | None:
    if not seen.direct:
        return None
    named = None if seen.named is None or seen.named.concept.role is not Role.DIRECT else seen.named.concept
    return Proposal(Role.DIRECT, ("it was said to name persons",), named)


def _patterned(seen: Seen) -> Proposal | None:
    pattern = seen.shape.pattern
    if pattern is None:
        return None
    checked = ", with right check digits" if pattern.checked else ""
    concept = concepts()[pattern.concept]
    return Proposal(concept.role, (f"its values are {pattern.says}{checked}",), concept)


def _text(seen: Seen) -> Proposal | None:
    if seen.shape.form is not Form.TEXT:
        return None
    reason = "free text, which may name anybody: it is not released"
    return Proposal(Role.DIRECT, (reason,), concepts()["free-text"])


def _numbering(seen: Seen) -> Proposal | None:
    """Numbers that rise from record to record name records, whatever they are called."""
    if seen.column.kind is not Kind.INTEGER or seen.known < _FEW_RECORDS or seen.shape.values < seen.table.records:
        return None
    codes = seen.table.codes(seen.name).astype(np.int64)
    rises = bool((np.diff(codes) > 0).all())
    return Proposal(Role.DIRECT, ("it numbers the records",), concepts()["row-number"]) if rises else None


def _naming(seen: Seen) -> Proposal | None:
    """Codes that nearly every record has one of its own of."""
    if not seen.all_differ or seen.shape.form not in {Form.CODE, Form.CATEGORY, Form.NUMBER}:
        return None
    if seen.shape.form is Form.NUMBER and not _long_numbers(seen):
        return None
    concept = seen.named.concept if seen.named is not None else concepts()["other-number"]
    concept = concept if concept.role is Role.DIRECT else concepts()["other-number"]
    return Proposal(Role.DIRECT, ("nearly every record has a value of its own",), concept)


def _long_numbers(seen: Seen) -> bool:
    """Tell whether numbers are long and whole, and so no measurements; nothing that a name explains."""
    if seen.column.kind is not Kind.INTEGER or (seen.named is not None and seen.named.concept.role is not Role.DIRECT):
        return False
    return bool(seen.column.values[0].as_py() >= _LONG_NUMBER)


def _called(seen: Seen) -> Proposal | None:
    """What the name says, unless the values say that it cannot be."""
    if seen.named is None:
        return None
    concept = seen.named.concept
    reason = f"its name says {concept.says} ({', '.join(seen.named.languages)})"
    if concept.role is Role.DIRECT and _few_for_names(seen):
        return Proposal(Role.QUASI, (reason, f"but it has {seen.shape.values} values only"), None)
    return Proposal(_fitting(seen, concept.role), (reason,), concept)


def _fitting(seen: Seen, role: Role) -> Role:
    """Return a role that a column can have: one that only one column has takes one without gaps."""
    if role is Role.WEIGHT:
        return role if seen.column.kind.numeric and not seen.column.missing else Role.INSENSITIVE
    gaps = seen.column.missing or role is Role.SUBJECT  # which has been chosen before
    return Role.DIRECT if role.single and gaps else role


def _few_for_names(seen: Seen) -> bool:
    plain = seen.column.kind is Kind.BOOLEAN or seen.shape.values <= _FEW_VALUES
    return plain and seen.table.records >= 10 * _FEW_VALUES


def _diseases(seen: Seen) -> Proposal | None:
    if not seen.shape.icd:
        return None
    return Proposal(Role.SENSITIVE, ("its values are codes of diseases",), concepts()["diagnosis"])


def _dated(seen: Seen) -> Proposal | None:
    if seen.shape.form is not Form.DATE:
        return None
    return Proposal(Role.QUASI, ("it holds dates",), concepts()["other-date"])


def _unknown(seen: Seen) -> Proposal:  # noqa: ARG001 - as the others
    return Proposal(Role.QUASI, ("nothing says what it is: on the safe side",))


_RULES: tuple[Callable[[Seen], Proposal | None], ...] = (
    _subject,
    _given,
    _patterned,
    _text,
    _numbering,
    _naming,
    _called,
    _diseases,
    _dated,
    _nothing,  # in this extract: what a name says holds for the next one, too
    _unknown,
)
