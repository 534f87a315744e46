"""Proposal of a role for a column, with reasons. Rules are applied in order; the first that applies decides.

Rules about the values come first, because they are certain. Rules about the name follow; they apply unless the values
contradict them, and the most protective of several meanings is chosen. A column that no rule recognises has the role
that columns with such values usually have, with low confidence: the data owner has to decide.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from shoal.identification.concepts import Concept, concepts
from shoal.identification.g_distinct import GDistinct, Rate
from shoal.identification.seen import FEW_RECORDS, Seen
from shoal.identification.shape import Form
from shoal.identification.value_kind import ValueKind, are_whole
from shoal.identification.vocabulary import Named, ends_with_id, says_number
from shoal.table.kind import Kind
from shoal.table.role import Role
from shoal.words import counted, short

_DENSE = 3  # maximum range of row numbers, as a multiple of the number of records
_LONG_NUMBER = 100_000
_YEAR, _DAYS = 366, 30  # day numbers range over more than a year, with more than so many values
_YEARS, _CALENDAR = (1850, 2150), {12: "months", 31: "days of a month"}
_CODES, _OFTEN = 10_000, 10  # codes are integers from this on, which occur this often on average
_FEW = "A few categories, like those of a medical condition."
_FEW_CATEGORIES = 8  # maximum number of texts of a column that tells little about an individual
_CODED = frozenset({Form.CODE, Form.CATEGORY, Form.NUMBER})
_STRICTNESS = (Role.DIRECT, Role.QUASI, Role.SENSITIVE, Role.INSENSITIVE)


class Confidence(StrEnum):
    """Confidence in a proposal.

    High: the values prove it, or a listed name suggests it and the values fit. Medium: the name was analysed. Low: the
    name was not recognised, or the values contradict it; the owner has to decide.
    """

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @property
    def remark(self) -> str:
        """The request to review a proposal that is not certain; otherwise empty."""
        return {Confidence.HIGH: "", Confidence.MEDIUM: "Probable; review.", Confidence.LOW: "Uncertain; review."}[self]


@dataclass(frozen=True, slots=True)
class Proposal:
    """Role with its reasons, the concept behind it, if there is one, and the confidence in it."""

    role: Role
    reasons: tuple[str, ...]
    concept: Concept | None = None
    confidence: Confidence = Confidence.HIGH


def proposal(seen: Seen) -> Proposal:
    """Return the proposal of the first rule that applies.

    >>> import shoal
    >>> table = shoal.read({"Geburtsdatum": ["1958-05-17", "1971-01-02"], "x": [1.5, 2.5]})
    >>> [proposal(Seen(table, name)).role.value for name in table.names]
    ['quasi', 'insensitive']
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
    ('Risk rate of 66.7%, between β = 60% and α = 70%.',)
    """
    rate = next((rate for rate in rates.rates if rate.name == name), None)
    if rate is None or proposal.role is Role.DIRECT or proposal.role.single:
        return proposal
    cut = {
        Role.SENSITIVE: f"above α = {rates.alpha:g}%",
        Role.QUASI: f"between β = {rates.beta:g}% and α = {rates.alpha:g}%",
        Role.INSENSITIVE: f"below β = {rates.beta:g}%",
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
    if seen.column.kind is not Kind.INTEGER or seen.known < FEW_RECORDS or seen.shape.values < seen.table.records:
        return None
    first, last = seen.column.values[0].as_py(), seen.column.values[-1].as_py()
    rises = _increases(seen) and last - first < _DENSE * seen.table.records
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
    large = says_number(seen.name) or float(seen.column.values[0].as_py()) >= _LONG_NUMBER
    return large and are_whole(seen.column)


def _day_numbers(seen: Seen) -> Proposal | None:
    """Propose a quasi-identifier for events that are given as numbers of days, such as a death or a diagnosis."""
    events = [named for named in seen.doubtful if not named.concept.head]
    if seen.names or not events or not _may_be_days(seen):
        return None
    reasons = (_says(events[0]), "Its integers may be dates, as numbers of days.")
    return Proposal(Role.QUASI, reasons, concepts()["day-number"], Confidence.MEDIUM)


def _may_be_days(seen: Seen) -> bool:
    """Return whether the values are integers that range over more than a year."""
    column = seen.column
    if not column.kind.numeric or seen.shape.values <= _DAYS or not are_whole(column):
        return False
    return float(column.values[-1].as_py()) - float(column.values[0].as_py()) >= _YEAR


def _called(seen: Seen) -> Proposal | None:
    """Propose the role that the name suggests, unless the values contradict it; of several, the most protective."""
    flags, doubts = seen.only_flags, list[str]()
    for named in sorted(seen.names, key=lambda named: _strictness(_fitting(seen, named.concept.role))):
        if _fitting(seen, named.concept.role) is Role.DIRECT and flags:
            doubts.append(
                f"{_says(named).rstrip('.')}, but it has only {counted(seen.shape.values, 'distinct value')}."
            )
            continue
        confidence = Confidence.HIGH if named.listed else Confidence.MEDIUM
        return Proposal(_fitting(seen, named.concept.role), (_says(named), *doubts), named.concept, confidence)
    return _by_values(seen, doubts) if doubts else None


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


def _doubted(seen: Seen) -> Proposal | None:
    """Propose what the values suggest if they contradict the name."""
    if not seen.doubtful:
        return None
    doubt = f"{_says(seen.doubtful[0])} The values do not fit."
    return _by_values(seen, [doubt])


def _unknown(seen: Seen) -> Proposal:
    """Propose the role that columns with such values usually have; the owner has to decide."""
    return _by_values(seen, ["Not recognised."])


def _by_values(seen: Seen, reasons: Sequence[str]) -> Proposal:
    role, why = _usual(seen)
    return Proposal(role, (*reasons, why), None, Confidence.LOW)


def _usual(seen: Seen) -> tuple[Role, str]:
    """Return the role that columns with such values usually have, and the reason.

    Decimal numbers and counts are rarely known to others, and seldom harm: insensitive. In health data, two values or a
    few categories mostly are those of a condition: sensitive. Many categories may be places or occupations:
    quasi-identifiers. Unique integers may identify individuals, or be dates.
    """
    kind = seen.shape.kind
    if kind is ValueKind.CATEGORY:
        few = seen.shape.form is Form.CATEGORY and seen.shape.values <= _FEW_CATEGORIES
        return (Role.SENSITIVE, _FEW) if few else (Role.QUASI, "Many categories, which others may know.")
    looks = _looks_like(seen)
    if looks is not None:
        return Role.QUASI, looks
    if kind is ValueKind.FLAG:
        return Role.SENSITIVE, "Two values, like those of a medical condition."
    return _usual_integers(seen) if are_whole(seen.column) else (Role.INSENSITIVE, "Decimals, as of measurements.")


def _usual_integers(seen: Seen) -> tuple[Role, str]:
    """Return the usual role of integers: they may count, measure, or identify."""
    unique = seen.all_differ
    if unique and _increases(seen):
        return Role.DIRECT, f"Integers that increase and differ for nearly every {unique}."
    if seen.shape.values > _DAYS and ends_with_id(seen.name):
        return Role.DIRECT, "Many integers, and the column name ends with id."
    if unique and _may_be_days(seen):
        return Role.QUASI, f"Integers that differ for nearly every {unique}."
    return Role.INSENSITIVE, "Integers, as of counts or measurements."


def _looks_like(seen: Seen) -> str | None:
    """Return what integers look like if others may know it: years, months, days of a month, or codes of a place."""
    column, number = seen.column, seen.shape.values
    if not column.kind.numeric or not number or not are_whole(column):
        return None
    low, high = (int(column.values[place].as_py()) for place in (0, -1))
    if _YEARS[0] <= low and high <= _YEARS[1]:
        return "Integers like calendar years."
    if low == 1 and high == number and high in _CALENDAR:
        return f"Integers from 1 to {high}, like {_CALENDAR[high]}."
    if low >= _CODES and number * _OFTEN <= seen.known:
        return "Large integers that recur, like codes of places."
    return None


def _increases(seen: Seen) -> bool:
    return bool((np.diff(seen.table.codes(seen.name).astype(np.int64)) > 0).all())


_RULES: tuple[Callable[[Seen], Proposal | None], ...] = (
    _subject,
    _given,
    _patterned,
    _text,
    _dated,
    _numbering,
    _naming,
    _day_numbers,
    _called,
    _diseases,
    _nothing,  # after the name: a column that is constant in this extract may vary in the next
    _doubted,
    _unknown,
)
