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
    Role.DIRECT: "identifies a person on its own; never released",
    Role.QUASI: "identifies a person together with others",
    Role.SENSITIVE: "must not be learned about a person",
    Role.INSENSITIVE: "neither known to others nor harmful",
    Role.SUBJECT: "says which person a row belongs to",
    Role.HOUSEHOLD: "says which household a person belongs to",
    Role.WEIGHT: "says how many people of the population a record stands for",
}
