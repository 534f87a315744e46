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
_WITH_E = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
_NUMBERS = {"id", "ids", "no", "nr", "num", "number", "nummer", "numero", "identifier", "identifiant", "identificador"}
_WEAK = {  # words that say what sort of thing the others are about
    *("name", "nom", "naam", "nombre", "text", "texte", "texto", "tekst", "description", "beschreibung", "descripcion"),
    *("report", "bericht", "history", "letter", "message", "image", "picture", "link", "cell", "host", "face", "plate"),
    *("position", "account", "status", "patient", "subject", "person", "participant", "contact", "kontakt", "contacto"),
    *("event", "result", "resultat", "unit", "stage", "sign", "response", "date", "datum", "fecha", "index", "row"),
}


class Known(StrEnum):
    """Who may know something about a person."""

    ANYONE = "anyone"
    ACQUAINTANCES = "acquaintances"
    CARERS = "carers"


@dataclass(frozen=True, slots=True)
class Concept:
    """``hipaa``: the letter of HIPAA's list of identifiers; ``hipaa_above``: for numbers above it only.

    ``sensitive``: what makes it harmful to be learned.
    """

    name: str
    role: Role
    hipaa: str | None = None
    known: Known | None = None
    sensitive: str | None = None
    hipaa_above: float | None = None

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
    texts = tomllib.loads(files("shoal.identification").joinpath("concepts.toml").read_text("utf-8"))
    return {
        name: Concept(
            name,
            Role(section["role"]),
            section.get("hipaa"),
            Known(section["known"]) if "known" in section else None,
            section.get("sensitive"),
            section.get("hipaa_above"),
        )
        for name, section in texts.items()
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
    """Return for each entry, written together, the concept and the languages that have it.

    An entry with = before it must be the whole name.
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
    """Return how an entry may be written: German vowels also with an e."""
    whole = "=" * entry.startswith("=")
    return [whole + "".join(tokens(text)) for text in (entry, entry.translate(_WITH_E))]


def _entry(run: str, together: str) -> str | None:
    """Return the entry that a part of a name is, if it is one; short ones must be the whole name."""
    for written in (run, run.rstrip("0123456789")):
        if f"={written}" in _dictionary() and run == together:
            return f"={written}"
        if written in _dictionary() and (len(written) > 2 or written == together):
            return written
    return None


def _found(parts: list[str]) -> Iterator[tuple[int, int, str]]:
    """Yield where entries stand in a name, and which: the longest first, and no two that overlap."""
    together, taken = "".join(parts), [False] * len(parts)
    runs = [(begin, end) for begin in range(len(parts)) for end in range(begin + 1, len(parts) + 1)]
    for begin, end in sorted(runs, key=lambda run: (-len("".join(parts[slice(*run)])), -run[0])):
        entry = None if any(taken[begin:end]) else _entry("".join(parts[begin:end]), together)
        if entry is not None:
            taken[begin:end] = [True] * (end - begin)
            yield begin, end, entry


def all_named(name: str) -> list[Named]:
    """Return all that the name of a column says, the longest words first.

    What only says of what sort the rest is, such as "name" in "drug name", counts if nothing else is said.

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
    """Tell what the name of a column says it is about, if anything.

    >>> [(held.concept.name, held.languages) for held in map(named, ["Geburtsdatum", "drugName", "codePostal"])]
    [('birth-date', ('de',)), ('drug', ('en',)), ('postcode', ('fr',))]
    >>> named("x_19") is None
    True
    """
    return next(iter(all_named(name)), None)


def says_number(name: str) -> bool:
    """Tell whether a name says that a column holds numbers of something: it ends with id, no, number or the like.

    >>> says_number("lab_id"), says_number("Fallnummer"), says_number("no_of_children")
    (True, True, False)
    """
    last = (tokens(name) or [""])[-1].rstrip("0123456789")
    return last in _NUMBERS or last.endswith(("nummer", "number", "kennung"))
