"""Concepts: what a column is about, told by its name in English, German, French, Dutch or Spanish.

``concepts.toml`` says what each concept means for identification, ``words/`` holds the words of each language. A name
is taken apart (``dateOfBirth``, ``date_of_birth``, ``DATE-OF-BIRTH``) and compared without accents; the longest words
that fit decide, so that ``drug_name`` is a drug and no person's name.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files

from shoal.table.role import Role

_CAMEL = re.compile(r"(?<=[a-zà-ÿ0-9])(?=[A-ZÀ-Þ])|(?<=[A-Z])(?=[A-Z][a-z])")
_SPLIT = re.compile(r"[^a-z0-9]+")


class Known(StrEnum):
    """Who may know something about a person."""

    ANYONE = "anyone"
    ACQUAINTANCES = "acquaintances"
    CARERS = "carers"


@dataclass(frozen=True, slots=True)
class Concept:
    """``hipaa``: the letter of HIPAA's list of identifiers. ``sensitive``: what makes it harmful to be learned."""

    name: str
    role: Role
    hipaa: str | None = None
    known: Known | None = None
    sensitive: str | None = None

    @property
    def says(self) -> str:
        """The concept in plain words."""
        return self.name.replace("-", " ")


@dataclass(frozen=True, slots=True)
class Named:
    """What a column's name says: the concept, and in which languages the ``words`` were found."""

    concept: Concept
    words: str
    languages: tuple[str, ...]


@cache
def concepts() -> dict[str, Concept]:
    """Return all concepts by name.

    >>> concepts()["postcode"].hipaa, concepts()["postcode"].known.value
    ('B', 'anyone')
    """
    held = tomllib.loads(files("shoal.identification").joinpath("concepts.toml").read_text("utf-8"))
    return {
        name: Concept(
            name,
            Role(said["role"]),
            said.get("hipaa"),
            Known(said["known"]) if "known" in said else None,
            said.get("sensitive"),
        )
        for name, said in held.items()
    }


def plain(text: str) -> str:
    """Write a text in small letters without accents.

    >>> plain("Größe"), plain("Âge")
    ('grosse', 'age')
    """
    folded = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in folded if not unicodedata.combining(letter))


def tokens(name: str) -> list[str]:
    """Take the name of a column apart.

    >>> tokens("dateOfBirth"), tokens("PATIENT_ID"), tokens("Geb.-Datum")
    (['date', 'of', 'birth'], ['patient', 'id'], ['geb', 'datum'])
    """
    apart = " ".join(_CAMEL.sub(" ", name).split())
    return [token for token in _SPLIT.split(plain(apart)) if token]


@cache
def _dictionary() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return for each entry, written together, the concept and the languages that have it."""
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    for language in ("en", "de", "fr", "nl", "es"):
        path = files("shoal.identification").joinpath("words").joinpath(f"{language}.toml")
        for concept, entries in tomllib.loads(path.read_text("utf-8")).items():
            for entry in entries:
                key = "".join(tokens(entry))
                before = found.get(key, (concept, ()))
                if before[0] == concept:
                    found[key] = (concept, tuple(dict.fromkeys((*before[1], language))))
    return found


def _runs(parts: list[str]) -> Iterator[str]:
    """Yield neighbouring tokens written together, the longest first."""
    for length in range(len(parts), 0, -1):
        for begin in range(len(parts) - length, -1, -1):  # what stands last says what it is
            yield "".join(parts[begin : begin + length])


def named(name: str) -> Named | None:
    """Tell what the name of a column says it is about, if anything.

    >>> [(held.concept.name, held.languages) for held in map(named, ["Geburtsdatum", "drugName", "codePostal"])]
    [('birth-date', ('de',)), ('drug', ('en',)), ('postcode', ('fr',))]
    >>> named("x_19") is None
    True
    """
    parts = tokens(name)
    together = "".join(parts)
    entries = _dictionary()
    for run in sorted(_runs(parts), key=len, reverse=True):
        for entry in (run, run.rstrip("0123456789")):
            if entry in entries and (len(entry) > 2 or entry == together):
                concept, languages = entries[entry]
                return Named(concepts()[concept], entry, languages)
    return None
