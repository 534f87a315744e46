"""Roles: what a column is to somebody who looks for a person."""

from enum import StrEnum


class Role(StrEnum):
    """The part a column plays. ``subject``, ``household`` and ``weight`` are taken by at most one column each."""

    DIRECT = "direct"
    QUASI = "quasi"
    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"
    SUBJECT = "subject"
    HOUSEHOLD = "household"
    WEIGHT = "weight"

    @property
    def meaning(self) -> str:
        """One sentence for people."""
        return _MEANINGS[self]

    @property
    def single(self) -> bool:
        """Whether only one column can have this role."""
        return self in {Role.SUBJECT, Role.HOUSEHOLD, Role.WEIGHT}


_MEANINGS = {
    Role.DIRECT: "identifies an individual on its own; not released",
    Role.QUASI: "identifies individuals in combination with other attributes",
    Role.SENSITIVE: "must not be disclosed about an individual",
    Role.INSENSITIVE: "neither known to an adversary nor sensitive",
    Role.SUBJECT: "identifies the individual of a record",
    Role.HOUSEHOLD: "identifies the household of an individual",
    Role.WEIGHT: "number of individuals of the population that a record represents",
}
