"""Recognition of the subject: the column that identifies the individual of a record."""

from collections.abc import Collection

import numpy as np

from shoal.identification.seen import FEW_RECORDS, Seen
from shoal.identification.vocabulary import meanings, tokens
from shoal.table.role import Role
from shoal.table.table import Table

_CONSTANT = 0.95  # minimum share of the individuals for whom an attribute that does not change is the same throughout
_UNCHANGING = frozenset({"sex", "birth-date", "birth-year", "ethnicity"})
_NUMBERS = frozenset({"other-number", "record-number"})


def subject_of(table: Table, direct: Collection[str]) -> str | None:
    """Return the column that identifies the individual of a record, or None.

    A name such as ``patient_id`` suffices. A number such as ``id`` is the subject if its values recur, and attributes
    that do not change, such as the sex, are the same in all records with the same number. ``direct``: columns that are
    declared as direct identifiers.

    >>> import shoal
    >>> visits = {"id": [n // 3 for n in range(90)], "sex": ["fm"[n // 3 % 2] for n in range(90)]}
    >>> subject_of(shoal.read(visits), []), subject_of(shoal.read({"id": range(90), "sex": visits["sex"]}), [])
    ('id', None)
    """
    columns = [Seen(table, name) for name in table.names if name not in direct]
    certain = next((seen.name for seen in columns if _names_persons(seen)), None)
    if certain is not None:
        return certain
    numbers = sorted((seen for seen in columns if _is_number(seen)), key=lambda seen: tokens(seen.name) != ["id"])
    if not numbers or numbers[0].shape.values == table.records:  # a number for each record leaves none for individuals
        return None
    unchanging = [seen for seen in columns if any(named.concept.name in _UNCHANGING for named in seen.names)]
    return next((seen.name for seen in numbers if _recurs(seen) and _keeps(seen, unchanging)), None)


def names_persons(name: str) -> bool:
    """Return whether a name suggests individuals.

    >>> names_persons("patient_id"), names_persons("patients"), names_persons("ward")
    (True, True, False)
    """
    return any(sense.concept.role is Role.SUBJECT for senses in meanings(name) for sense in senses)


def _names_persons(seen: Seen) -> bool:
    """Return whether the name of a column suggests the subject, and the values do not contradict it."""
    says = any(named.concept.role is Role.SUBJECT for named in seen.names)
    return says and seen.shape.values > 2 and (seen.column.kind.numeric or not seen.only_flags)


def _is_number(seen: Seen) -> bool:
    """Return whether a column is a number without missing values that may be that of an individual."""
    says = any(named.concept.name in _NUMBERS for named in seen.names)
    return says and not seen.column.missing and seen.shape.values >= FEW_RECORDS


def _recurs(seen: Seen) -> bool:
    return seen.shape.values <= _CONSTANT * seen.table.records


def _keeps(number: Seen, unchanging: Collection[Seen]) -> bool:
    """Return whether the attributes that do not change are the same in all records with the same number."""
    persons = number.table.codes(number.name).astype(np.int64)
    for seen in unchanging:
        pairs = persons * seen.column.size + seen.table.codes(seen.name)
        if number.shape.values < _CONSTANT * len(np.unique(pairs)):
            return False
    return True
