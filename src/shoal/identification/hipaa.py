"""HIPAA's Safe Harbor: the eighteen identifiers of 45 CFR 164.514(b)(2)(i), and what of them was found."""

from collections.abc import Mapping
from dataclasses import dataclass

IDENTIFIERS = {
    "A": "names",
    "B": "places smaller than a state; of a postcode, the first three digits if over 20,000 people live there",
    "C": "dates but for the year, ages over 89",
    "D": "telephone numbers",
    "E": "fax numbers",
    "F": "e-mail addresses",
    "G": "numbers of social security",
    "H": "numbers of medical records",
    "I": "numbers of health plans",
    "J": "account numbers",
    "K": "numbers of certificates and licences",
    "L": "vehicles and their plates",
    "M": "devices and their serial numbers",
    "N": "web addresses",
    "O": "addresses in networks",
    "P": "biometric identifiers",
    "Q": "photographs of faces",
    "R": "any other number, characteristic or code that is unique",
}


@dataclass(frozen=True, slots=True)
class Item:
    """One of the identifiers, and the columns that hold it."""

    letter: str
    says: str
    columns: tuple[str, ...]


def checklist(letters: Mapping[str, str | None]) -> tuple[Item, ...]:
    """Return all eighteen, with the columns that were found for each.

    >>> found = checklist({"mail": "F", "age": "C", "sex": None})
    >>> [(item.letter, item.columns) for item in found if item.columns]
    [('C', ('age',)), ('F', ('mail',))]
    """
    return tuple(
        Item(letter, says, tuple(name for name, letter_of in letters.items() if letter_of == letter))
        for letter, says in IDENTIFIERS.items()
    )
