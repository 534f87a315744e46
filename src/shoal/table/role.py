"""Roles: the significance of columns for re-identification and attribute disclosure."""

from enum import StrEnum


class Role(StrEnum):
    """Role of a column. ``subject``, ``household`` and ``weight`` are each limited to one column."""

    DIRECT = "direct"
    QUASI = "quasi"
    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"
    THRESHOLD = "threshold"
    SUBJECT = "subject"
    HOUSEHOLD = "household"
    WEIGHT = "weight"

    @property
    def meaning(self) -> str:
        """Description of the role for users."""
        return _MEANINGS[self]

    @property
    def single(self) -> bool:
        """Whether at most one column can have this role."""
        return self in {Role.SUBJECT, Role.HOUSEHOLD, Role.WEIGHT}


_MEANINGS = {
    Role.DIRECT: "identifies an individual on its own; not released",
    Role.QUASI: "identifies individuals in combination with other attributes",
    Role.SENSITIVE: "must not be disclosed about an individual",
    Role.INSENSITIVE: "assumed to be neither known to an adversary nor sensitive",
    Role.THRESHOLD: "each individual's own privacy requirement; not released",
    Role.SUBJECT: "identifies the individual that a record belongs to",
    Role.HOUSEHOLD: "identifies the household of an individual",
    Role.WEIGHT: "survey weight: number of individuals of the population that a record represents",
}
