"""Missing values: one explicit rule, printed with every result."""

from enum import StrEnum
from typing import Self

from shoal.errors import ShoalError, similar


class Missing(StrEnum):
    """When a missing value matches another value.

    ``own``: missing equals missing, as if it were a value (extended match).
    ``never``: it matches nothing of anybody else, so the person, or without a subject the record, stands alone (basic
    match; strictest).
    ``wildcard``: it matches anything (maybe match); no equivalence, so only k and identity risk can read it.
    """

    OWN = "own"
    NEVER = "never"
    WILDCARD = "wildcard"

    @property
    def says(self) -> str:
        """The rule in a sentence."""
        return _SAYS[self]

    @classmethod
    def named(cls, word: str) -> Self:
        """Return the rule of a name.

        >>> Missing.named("never")
        <Missing.NEVER: 'never'>
        """
        if word not in set(cls):
            raise ShoalError(
                "unknown-rule",
                "There is no rule '{word}' for missing values.",
                remedy=similar(str(word), cls),
                word=word,
            )
        return cls(word)


_SAYS = {
    Missing.OWN: 'Missing values are treated as a category of their own (missing = "own").',
    Missing.NEVER: 'A missing value matches no other person: its person is unique (missing = "never").',
    Missing.WILDCARD: 'A missing value matches every value (missing = "wildcard"); only k and identity risk apply.',
}
