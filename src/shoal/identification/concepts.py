"""Concepts: the meanings that a column may have, and what follows from them. ``concepts.toml`` defines them."""

import tomllib
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files

from shoal.identification.value_kind import ValueKind
from shoal.table.role import Role


class Known(StrEnum):
    """Group of people who may know an attribute of an individual."""

    ANYONE = "anyone"
    ACQUAINTANCES = "acquaintances"
    CARERS = "healthcare staff"


@dataclass(frozen=True, slots=True)
class Concept:
    """Meaning of a column, and its role.

    ``says``: the meaning in words. ``hipaa``: the letter in HIPAA's list of identifiers; ``hipaa_above``: the letter
    applies to numbers above this only. ``known``: the group that may know the attribute. ``sensitive``: the reason why
    its disclosure is harmful. ``values``: the kinds of values that fit (empty: all); ``ranges``: the intervals of
    fitting numbers (empty: all). ``head``: as the first or last word of a name it decides alone. ``nominal``: numbers
    are codes without an order. ``unique``: values differ between individuals, so that a few categories do not fit.
    ``otherwise``: the concept that the same words suggest if the values do not fit. ``varies``: the value
    changes soon, so that few know the present one. ``place``: individuals with the same value are in the same place.
    """

    name: str
    says: str
    role: Role
    hipaa: str | None = None
    known: Known | None = None
    sensitive: str | None = None
    hipaa_above: float | None = None
    values: frozenset[ValueKind] = frozenset()
    ranges: tuple[tuple[float, float], ...] = ()
    head: bool = False
    nominal: bool = False
    unique: bool = False
    otherwise: str | None = None
    varies: bool = False
    place: bool = False

    @property
    def codes(self) -> bool:
        """Whether numbers are codes, so that decimals do not fit: of individuals, households or categories."""
        return self.unique or self.nominal or self.role in {Role.SUBJECT, Role.HOUSEHOLD}


@cache
def concepts() -> dict[str, Concept]:
    """Return all concepts by name.

    >>> concepts()["postcode"].hipaa, concepts()["postcode"].known.value
    ('B', 'anyone')
    """
    texts = tomllib.loads(files("shoal.identification").joinpath("concepts.toml").read_text("utf-8"))
    return {
        name: Concept(
            name,
            section["says"],
            Role(section["role"]),
            section.get("hipaa"),
            Known(section["known"]) if "known" in section else None,
            section.get("sensitive"),
            section.get("hipaa_above"),
            frozenset(map(ValueKind, section.get("values", ()))),
            tuple((low, high) for low, high in section.get("ranges", ())),
            section.get("head", False),
            section.get("nominal", False),
            section.get("unique", False),
            section.get("otherwise"),
            section.get("varies", False),
            section.get("place", False),
        )
        for name, section in texts.items()
    }
