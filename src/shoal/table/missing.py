"""Missing values: one explicit matching rule, stated with every result."""

from enum import StrEnum
from typing import Self

from shoal.errors import ShoalError, similar


class Missing(StrEnum):
    """Rule for matching missing values.

    ``own``: missing values match each other, as a category of their own (extended match).
    ``never``: a missing value matches no other individual. The individual, or without a subject column the record, is
    unique (basic match; strictest).
    ``wildcard``: a missing value matches every value (maybe match). Matching is then no equivalence relation, so that
    only k and identity risk apply.
    """

    OWN = "own"
    NEVER = "never"
    WILDCARD = "wildcard"

    @property
    def says(self) -> str:
        """Description of the rule in one sentence."""
        return _SAYS[self]

    @classmethod
    def named(cls, word: str) -> Self:
        """Return the rule with the given name.

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
    Missing.NEVER: 'An individual with a missing value is unique (missing = "never").',
    Missing.WILDCARD: 'A missing value matches every value (missing = "wildcard"); only k and identity risk apply.',
}
