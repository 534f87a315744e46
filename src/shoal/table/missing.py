"""Missing values: one explicit rule, printed with every result."""

from enum import StrEnum


class Missing(StrEnum):
    """When a missing value matches another value.

    ``own``: missing equals missing, as if it were a value (extended match).
    ``never``: it matches nothing, so the record stands alone (basic match; strictest).
    ``wildcard``: it matches anything (maybe match); no equivalence, so only k and identity risk can read it.
    """

    OWN = "own"
    NEVER = "never"
    WILDCARD = "wildcard"
