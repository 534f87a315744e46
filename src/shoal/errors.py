"""What can go wrong.

    ShoalError
    ├── ReadError        a source cannot be read, or not as it was asked for
    ├── CapacityError    a table is larger than this machine can deal with
    ├── ColumnError      a column is not there, or is not what it must be
    ├── HierarchyError   a hierarchy does not fit its column, or is none
    ├── ModelError       a model cannot be measured, or lacks something
    ├── RecodingError    a release cannot be held against its original, or a quality cannot be measured
    ├── PolicyError      a policy cannot be understood, or does not fit the table
    ├── ReleaseError     a goal cannot be reached, or a release is not what it should be
    ├── AttackError      an attack cannot be tried
    ├── ReportError      there is nothing that a report could be made of
    ├── WriteError       something cannot be written, or must not be overwritten
    ├── DeclarationError a registered thing does not declare what it must
    └── Cancelled        the user stopped a long run

Every message says what, where, what was given and what to do. No message ever holds a cell's value: the data are
patients. That is why errors of other libraries, which quote what they stumbled over, are replaced and not chained.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Self


class ShoalError(Exception):
    """The root of the tree: a message and, where there is one, a hint what to do."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message if hint is None else f"{message}\n\nHint: {hint}")
        self.message = message
        self.hint = hint


class ReadError(ShoalError):
    """A source cannot be read, or not as it was asked for."""


class CapacityError(ShoalError):
    """A table is larger than this machine can deal with."""


class ColumnError(ShoalError):
    """A column is not there, or is not what it must be."""

    @classmethod
    def unknown(cls, name: str, available: Iterable[str]) -> Self:
        """Build the error for a name that no column has.

        >>> raise ColumnError.unknown("aeg", ["age", "sex"])
        Traceback (most recent call last):
            ...
        shoal.errors.ColumnError: There is no column 'aeg'.
        <BLANKLINE>
        Hint: Did you mean 'age'?
        """
        available, name = list(available), str(name)
        many = (
            f"Several columns are given as a list: {[part.strip() for part in name.split(',')]}."
            if "," in name
            else None
        )
        # The names are not listed: in a file without a header they are somebody's data.
        there = f"There {'is' if len(available) == 1 else 'are'} {counted(len(available), 'other column')}."
        hint = many or did_you_mean(name, available) or there
        return cls(f"There is no column '{name}'.", hint=hint)


class HierarchyError(ShoalError):
    """A hierarchy does not fit its column, or is none."""


class ModelError(ShoalError):
    """A privacy model or a risk cannot be measured, or lacks something."""


class RecodingError(ShoalError):
    """A release cannot be held against its original, or a quality cannot be measured."""


class PolicyError(ShoalError):
    """A policy cannot be understood, or does not fit the table."""


class ReleaseError(ShoalError):
    """A goal cannot be reached, or a release is not what it should be."""


class AttackError(ShoalError):
    """An attack cannot be tried."""


class ReportError(ShoalError):
    """There is nothing that a report could be made of."""


class WriteError(ShoalError):
    """Something cannot be written, or must not be overwritten."""


class DeclarationError(ShoalError, TypeError):
    """A registered thing, such as a technique, does not declare what it must."""


class Cancelled(ShoalError):  # noqa: N818 - stopping on request is no error of anybody's
    """The user stopped a long run."""


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """Return "Did you mean …?" if a known word is close, else None.

    >>> did_you_mean("qasi", ["direct", "quasi"])
    "Did you mean 'quasi'?"
    """
    originals = {name.lower(): name for name in known}
    close = get_close_matches(word.lower(), originals, n=1)
    return f"Did you mean '{originals[close[0]]}'?" if close else None


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "row"), counted(2000, "row"), counted(2, "class")
    ('1 row', '2,000 rows', '2 classes')
    """
    plural = f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def listed(names: Iterable[str], most: int = 12) -> str:
    """Return names for a message: quoted, comma-separated, cut after ``most``.

    >>> listed(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    names = list(names)
    shown = ", ".join(f"'{name}'" for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
