"""HIPAA Safe Harbor: the eighteen identifiers of 45 CFR 164.514(b)(2)(i), and the columns that hold them."""

from collections.abc import Mapping
from dataclasses import dataclass

IDENTIFIERS = {
    "A": "names",
    "B": "places smaller than a state, except three-digit postcodes with over 20,000 inhabitants",
    "C": "dates except the year, and ages over 89",
    "D": "telephone numbers",
    "E": "fax numbers",
    "F": "e-mail addresses",
    "G": "social security numbers",
    "H": "medical record numbers",
    "I": "health plan numbers",
    "J": "account numbers",
    "K": "certificate and licence numbers",
    "L": "vehicle identifiers and licence plates",
    "M": "device identifiers and serial numbers",
    "N": "web addresses",
    "O": "IP addresses",
    "P": "biometric identifiers",
    "Q": "full-face photographs",
    "R": "any other unique number, characteristic or code",
}


@dataclass(frozen=True, slots=True)
class Item:
    """One of the eighteen identifiers, and the columns that hold it."""

    letter: str
    says: str
    columns: tuple[str, ...]


def checklist(letters: Mapping[str, str | None]) -> tuple[Item, ...]:
    """Return all eighteen identifiers, each with the columns that hold it.

    ``letters``: the letter of the identifier in each column, or None.

    >>> found = checklist({"mail": "F", "age": "C", "sex": None})
    >>> [(item.letter, item.columns) for item in found if item.columns]
    [('C', ('age',)), ('F', ('mail',))]
    """
    return tuple(
        Item(letter, says, tuple(name for name, letter_of in letters.items() if letter_of == letter))
        for letter, says in IDENTIFIERS.items()
    )
