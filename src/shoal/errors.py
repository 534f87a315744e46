"""Errors.

    ShoalError
    ├── ReadError        a source cannot be read, or not as requested
    ├── CapacityError    a table exceeds what this machine can process
    ├── ColumnError      a column is missing or unsuitable
    ├── HierarchyError   a hierarchy is invalid, or does not fit its column
    ├── ModelError       a model or a risk cannot be measured
    ├── RecodingError    a release cannot be compared with its original, or a quality cannot be measured
    ├── PolicyError      a policy is invalid, or does not fit the table
    ├── ReleaseError     a goal cannot be reached, or a release is not as promised
    ├── AttackError      an attack cannot be run
    ├── ReportError      a report cannot be made
    ├── WriteError       a file or table cannot be written, or must not be overwritten
    ├── DeclarationError a registered thing, such as a technique, lacks a declaration
    └── Cancelled        the user stopped a long run

An error has a code, a text with facts, and a remedy. The interface that shows it phrases the remedy in its own terms:
see ``shoal.remedy``. No text ever contains a value of the data. Errors of other libraries, which may quote the values
that caused them, are replaced and not chained.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, Self

from shoal.remedy import PYTHON, Face, FixedText, Remedy, advised
from shoal.words import listed, phrase


class ShoalError(Exception):
    """Base of all errors of shoal.

    ``code``: identifies the error, such as ``"unknown-column"``. ``message``: the text with its facts. ``facts``: the
    facts in the text, by name. ``remedy``: the recommended action; ``hint``: the remedy in terms of Python.

    >>> from shoal.remedy import Setting
    >>> error = ShoalError("no-subject", "No column of {table:listed} is the subject.", table=["stays"],
    ...     remedy=Setting("data.subject"))
    >>> error.code, error.message, error.hint
    ('no-subject', "No column of 'stays' is the subject.", 'Set subject = … under [data] in the policy.')
    """

    def __init__(self, code: str, template: str, *, remedy: Remedy | None = None, **facts: Any) -> None:
        self.code, self.template, self.facts, self.remedy = code, template, facts, remedy
        self.message = phrase(template, **facts)
        super().__init__(self.message if not self.hint else f"{self.message}\n\nHint: {self.hint}")

    @property
    def hint(self) -> str:
        """The remedy in terms of Python; empty if there is none."""
        return self.advice(PYTHON)

    def advice(self, face: Face) -> str:
        """Return the remedy in terms of an interface."""
        return advised(self.remedy, face, **self.facts)

    def within(self, template: str, kind: "type[ShoalError] | None" = None, **facts: Any) -> "ShoalError":
        """Return the same error with its place in front of the text. ``kind``: another class.

        The facts of the place do not replace those of the error, which may have the same names.

        >>> error = ColumnError("key-missing", "Tables refer to '{table}'.", table="patients")
        >>> error.within("Table '{table}': ", table="stays").message
        "Table 'stays': Tables refer to 'patients'."
        """
        place = phrase(template, **facts).replace("{", "{{").replace("}", "}}")
        return (kind or type(self))(self.code, f"{place}{self.template}", remedy=self.remedy, **self.facts)


class ReadError(ShoalError):
    """A source cannot be read, or not as requested."""


class CapacityError(ShoalError):
    """A table exceeds what this machine can process."""


class ColumnError(ShoalError):
    """A column is missing or unsuitable."""

    @classmethod
    def unknown(cls, name: str, available: Iterable[str]) -> Self:
        """Return the error for an unknown column name.

        >>> raise ColumnError.unknown("aeg", ["age", "sex"])
        Traceback (most recent call last):
            ...
        shoal.errors.ColumnError: There is no column 'aeg'.
        <BLANKLINE>
        Hint: Did you mean 'age'?
        """
        available, name = list(available), str(name)
        # The names are not listed: in a file without a header they are the data of an individual.
        spelling = "Check the spelling and, for a text file, the separator: the table has {others:column}."
        remedy: Remedy = did_you_mean(name, available) or spelling
        if "," in name:
            remedy = "Give several columns as a list: {names}."
        return cls(
            "unknown-column",
            "There is no column '{name}'.",
            remedy=remedy,
            name=name,
            others=len(available),
            names=[part.strip() for part in name.split(",")],
        )


class HierarchyError(ShoalError):
    """A hierarchy is invalid, or does not fit its column."""


class ModelError(ShoalError):
    """A privacy model or a risk cannot be measured."""


class RecodingError(ShoalError):
    """A release cannot be compared with its original, or a quality cannot be measured."""


class PolicyError(ShoalError):
    """A policy is invalid, or does not fit the table."""


class ReleaseError(ShoalError):
    """A goal cannot be reached, or a release is not as promised."""


class AttackError(ShoalError):
    """An attack cannot be run."""


class ReportError(ShoalError):
    """A report cannot be made."""


class WriteError(ShoalError):
    """A file or table cannot be written, or must not be overwritten."""


class DeclarationError(ShoalError, TypeError):
    """A registered thing, such as a technique, lacks a declaration."""


class Cancelled(ShoalError):  # noqa: N818 - stopping on request is not an error
    """The user stopped a long run."""


def similar(word: str, known: Iterable[str], most: int = 12) -> FixedText:
    """Return a suggestion of the known word that is similar, or else a list of the known words.

    >>> str(similar("qasi", ["direct", "quasi"])), str(similar("x", ["direct", "quasi"]))
    ("Did you mean 'quasi'?", "Available: 'direct', 'quasi'.")
    """
    known = list(known)
    return did_you_mean(word, known) or FixedText(f"Available: {listed(known, most)}.")


def did_you_mean(word: str, known: Iterable[str]) -> FixedText | None:
    """Return "Did you mean …?" if a known word is similar, else None.

    >>> str(did_you_mean("qasi", ["direct", "quasi"]))
    "Did you mean 'quasi'?"
    """
    originals = {name.lower(): name for name in known}
    close = get_close_matches(word.lower(), originals, n=1)
    return FixedText(f"Did you mean '{originals[close[0]]}'?") if close else None
