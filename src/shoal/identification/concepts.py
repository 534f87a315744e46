"""Concepts: the meaning of a column, suggested by its name in English, German, French, Dutch or Spanish.

``concepts.toml`` defines the consequences of each concept for identification; ``words/`` holds the words of each
language. A name is split into words (``dateOfBirth``, ``date_of_birth``, ``DATE-OF-BIRTH``) and compared without
accents. The longest matching words decide, so that ``drug_name`` is a drug and not the name of a person.
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
_WITH_E = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
_NUMBERS = {"id", "ids", "no", "nr", "num", "number", "nummer", "numero", "identifier", "identifiant", "identificador"}
_WEAK = {  # generic words that only describe the others
    *("name", "nom", "naam", "nombre", "text", "texte", "texto", "tekst", "description", "beschreibung", "descripcion"),
    *("report", "bericht", "history", "letter", "message", "image", "picture", "link", "cell", "host", "face", "plate"),
    *("position", "account", "status", "patient", "subject", "person", "participant", "contact", "kontakt", "contacto"),
    *("event", "result", "resultat", "unit", "stage", "sign", "response", "date", "datum", "fecha", "index", "row"),
}


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
    its disclosure is harmful.
    """

    name: str
    says: str
    role: Role
    hipaa: str | None = None
    known: Known | None = None
    sensitive: str | None = None
    hipaa_above: float | None = None


@dataclass(frozen=True, slots=True)
class Named:
    """Concept that a column name suggests.

    ``words``: the matching words; ``languages``: the languages they belong to.
    """

    concept: Concept
    words: str
    languages: tuple[str, ...]


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
        )
        for name, section in texts.items()
    }


def plain(text: str) -> str:
    """Return a text in lower case without accents.

    >>> plain("Größe"), plain("Âge")
    ('grosse', 'age')
    """
    folded = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in folded if not unicodedata.combining(letter))


def tokens(name: str) -> list[str]:
    """Split the name of a column into words.

    >>> tokens("dateOfBirth"), tokens("PATIENT_ID"), tokens("Geb.-Datum")
    (['date', 'of', 'birth'], ['patient', 'id'], ['geb', 'datum'])
    """
    apart = " ".join(_CAMEL.sub(" ", name).split())
    return [token for token in _SPLIT.split(plain(apart)) if token]


@cache
def _dictionary() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return the concept and the languages of each entry, written as one word.

    An entry with a leading = must match the whole name.
    """
    dictionary: dict[str, tuple[str, tuple[str, ...]]] = {}
    for language in ("en", "de", "fr", "nl", "es"):
        path = files("shoal.identification").joinpath("words").joinpath(f"{language}.toml")
        for concept, entries in tomllib.loads(path.read_text("utf-8")).items():
            for key in dict.fromkeys(key for entry in entries for key in _written(entry)):
                before = dictionary.get(key, (concept, ()))
                if before[0] == concept:
                    dictionary[key] = (concept, tuple(dict.fromkeys((*before[1], language))))
    return dictionary


def _written(entry: str) -> list[str]:
    """Return the spellings of an entry: German umlauts also with an e."""
    whole = "=" * entry.startswith("=")
    return [whole + "".join(tokens(text)) for text in (entry, entry.translate(_WITH_E))]


def _entry(run: str, together: str) -> str | None:
    """Return the entry that a part of a name matches, if any; short entries must match the whole name."""
    for written in (run, run.rstrip("0123456789")):
        if f"={written}" in _dictionary() and run == together:
            return f"={written}"
        if written in _dictionary() and (len(written) > 2 or written == together):
            return written
    return None


def _found(parts: list[str]) -> Iterator[tuple[int, int, str]]:
    """Yield the position and the text of each entry in a name: the longest first, without overlaps."""
    together, taken = "".join(parts), [False] * len(parts)
    runs = [(begin, end) for begin in range(len(parts)) for end in range(begin + 1, len(parts) + 1)]
    for begin, end in sorted(runs, key=lambda run: (-len("".join(parts[slice(*run)])), -run[0])):
        entry = None if any(taken[begin:end]) else _entry("".join(parts[begin:end]), together)
        if entry is not None:
            taken[begin:end] = [True] * (end - begin)
            yield begin, end, entry


def all_named(name: str) -> list[Named]:
    """Return all concepts that the name of a column suggests, the longest words first.

    A word that only describes the others, such as "name" in "drug name", counts if no other word matches.

    >>> [held.concept.name for held in all_named("age_at_death")], [held.concept.name for held in all_named("wardName")]
    (['outcome', 'age'], ['hospital'])
    """
    matches = [
        Named(concepts()[_dictionary()[entry][0]], entry.lstrip("="), _dictionary()[entry][1])
        for _, _, entry in _found(tokens(name))
    ]
    telling = [match for match in matches if match.words not in _WEAK]
    return telling or matches


def named(name: str) -> Named | None:
    """Return the concept that the name of a column suggests, or None.

    >>> [(held.concept.name, held.languages) for held in map(named, ["Geburtsdatum", "drugName", "codePostal"])]
    [('birth-date', ('de',)), ('drug', ('en',)), ('postcode', ('fr',))]
    >>> named("x_19") is None
    True
    """
    return next(iter(all_named(name)), None)


def says_number(name: str) -> bool:
    """Return whether a name denotes an identification number: it ends with id, no, number or the like.

    >>> says_number("lab_id"), says_number("Fallnummer"), says_number("no_of_children")
    (True, True, False)
    """
    last = (tokens(name) or [""])[-1].rstrip("0123456789")
    return last in _NUMBERS or last.endswith(("nummer", "number", "kennung"))
