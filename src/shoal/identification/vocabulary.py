"""Vocabulary: the meanings that the name of a column suggests.

``words/`` holds the words: one file per language, ``clinical.toml`` with the abbreviations and terms of medicine, and
one file per data standard. A name is split into words (``dateOfBirth``, ``date_of_birth``, ``DATE-OF-BIRTH``) and
compared without accents. The longest matching words decide, so that ``drug_name`` is a drug and not the name of a
person. A word that is not listed is analysed as names are abbreviated: ``tgrade``, ``celltype``, ``recur``.
"""

import re
import tomllib
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from shoal.identification.concepts import Concept, concepts

LANGUAGES = ("en", "de", "fr", "nl", "es")
_STANDARDS = ("cdisc", "omop")  # names of columns as a whole
_CLINICAL = "clinical"
_CAMEL = re.compile(r"(?<=[a-zà-ÿ0-9])(?=[A-ZÀ-Þ])|(?<=[A-Z])(?=[A-Z][a-z])")
_SPLIT = re.compile(r"[^a-z0-9]+")
_WITH_E = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
_NUMBERS = {"id", "ids", "no", "nr", "num", "number", "nummer", "numero", "identifier", "identifiant", "identificador"}
_DOMAIN = re.compile(r"[A-Z]{2}([A-Z]{2,6})")  # a CDISC variable: two letters of a domain, and an ending
_TAILS = ("stat", "stt", "wt", "yr", "bp", "vol", "vis")  # words that may follow any abbreviation: pstat, dxyr
_TERM = 7  # minimum length of a word with the ending of a medical term
_PART, _SHORT, _LONG = 3, 4, 5  # minimum length of a word beside another one, after a letter, and inside any other
_WEAK = {  # generic words that only describe the others
    *("name", "nom", "naam", "nombre", "text", "texte", "texto", "tekst", "description", "beschreibung", "descripcion"),
    *("report", "bericht", "history", "letter", "message", "image", "picture", "link", "cell", "host", "face", "plate"),
    *("position", "account", "status", "patient", "subject", "person", "participant", "contact", "kontakt", "contacto"),
    *("event", "result", "resultat", "unit", "stage", "sign", "response", "date", "datum", "fecha", "index", "row"),
    *("source", "flag", "form", "run", "version", "method", "category", "period", "study", "trial", "measure", "rate"),
    *("marker", "reading", "ratio", "risk", "side", "score", "scale", "health", "control", "active", "baseline"),
}
_DESCRIBING = tuple(  # parts of words that describe the rest: agegrp, celltype
    "group grp gp class cat type typ level lvl lev code cd num cnt ind flag value val bin yn pct perc avg mean max min "
    "std sum tot base bl log ln sqrt sq".split()
)
_COMMON = frozenset(  # words that abbreviate nothing
    "rate prop sample week weekday weekend call mask code data item number total other main part home self work line "
    "point prob test true real good best high long last next open close check order count quarter half full "
    "post pre".split()
)


@dataclass(frozen=True, slots=True)
class Named:
    """Concept that a column name suggests.

    ``words``: the matching words; ``languages``: the languages they belong to. ``listed``: whether the words are in
    the vocabulary; otherwise they were analysed.
    """

    concept: Concept
    words: str
    languages: tuple[str, ...]
    listed: bool = True


@dataclass(frozen=True, slots=True)
class _Sense:
    """One meaning of a word."""

    concept: str
    languages: tuple[str, ...]


_Senses = tuple[_Sense, ...]


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


def named(name: str) -> Named | None:
    """Return the concept that the name of a column suggests most, or None.

    >>> [(held.concept.name, held.languages) for held in map(named, ["Geburtsdatum", "drugName", "codePostal"])]
    [('birth-date', ('de',)), ('drug', ('en',)), ('postcode', ('fr',))]
    >>> named("x_19") is None
    True
    """
    return next(iter(meanings(name)), (None,))[0]


def meanings(name: str) -> list[tuple[Named, ...]]:
    """Return the words of a name that suggest a concept, the longest first, each with all its meanings.

    A word that only describes the others, such as "name" in "drug name", counts if no other word matches. A word such
    as "time" at the beginning or the end decides alone: ``time_to_relapse`` is a time.

    >>> [[word[0].concept.name for word in meanings(name)] for name in ("age_at_death", "time_to_relapse", "tsize")]
    [['outcome', 'age'], ['duration'], ['stage']]
    """
    whole = _standard(name)
    if whole:
        return [whole]
    parts = [part for token in tokens(name) for part in _divided(token)]
    matches = list(_matches(parts))
    heads = [senses for begin, end, senses in matches if _is_head(senses) and (begin == 0 or end == len(parts))]
    if heads:
        return heads[-1:]
    words = [senses for _, _, senses in matches]
    return [senses for senses in words if senses[0].words not in _WEAK] or words


def says_number(name: str) -> bool:
    """Return whether a name denotes an identification number: it ends with id, no, number or the like.

    >>> says_number("lab_id"), says_number("Fallnummer"), says_number("no_of_children")
    (True, True, False)
    """
    last = (tokens(name) or [""])[-1].rstrip("0123456789")
    return last in _NUMBERS or last.endswith(("nummer", "number", "kennung"))


def ends_with_id(name: str) -> bool:
    """Return whether a name ends with id, perhaps without a separator; other words, such as steroid, do so, too.

    >>> ends_with_id("UTILITYID"), ends_with_id("steroid"), ends_with_id("idp")
    (True, True, False)
    """
    return (tokens(name) or [""])[-1].endswith("id")


@cache
def _divided(token: str) -> tuple[str, ...]:
    """Return the parts of a token that is not listed, if it consists of two listed words, such as diagtime.

    >>> _divided("agediag"), _divided("status")
    (('age', 'diag'), ('status',))
    """
    word = token.rstrip("0123456789")
    if word in _dictionary():
        return (token,)
    places = range(len(word) - _PART, _PART - 1, -1)
    divided = next(((word[:at], word[at:]) for at in places if {word[:at], word[at:]} <= _dictionary().keys()), None)
    if divided is None:
        return (token,)
    return divided[1:] if divided[1] in _TAILS else divided  # docvis counts visits, and names no doctor


def _is_head(senses: tuple[Named, ...]) -> bool:
    return senses[0].concept.head and senses[0].listed


def _matches(parts: list[str]) -> Iterator[tuple[int, int, tuple[Named, ...]]]:
    """Yield the position and the meanings of words in a name: listed words first, the longest first, no overlaps."""
    together, taken = "".join(parts), [False] * len(parts)
    runs = [(begin, end) for begin in range(len(parts)) for end in range(begin + 1, len(parts) + 1)]
    for begin, end in sorted(runs, key=lambda run: (-len("".join(parts[slice(*run)])), -run[0])):
        listed = None if any(taken[begin:end]) else _entry("".join(parts[begin:end]), together)
        if listed is not None:
            taken[begin:end] = [True] * (end - begin)
            yield begin, end, _named(listed, _dictionary()[listed], listed=True)
    for place, part in enumerate(parts):
        if not taken[place] and (analysed := _analysed(part)):
            yield place, place + 1, analysed


def _named(words: str, senses: _Senses, *, listed: bool) -> tuple[Named, ...]:
    return tuple(Named(concepts()[sense.concept], words.lstrip("="), sense.languages, listed) for sense in senses)


def _entry(run: str, together: str) -> str | None:
    """Return the entry that a part of a name matches, if any; short entries must match the whole name."""
    for written in dict.fromkeys((run, run.rstrip("0123456789"))):
        if f"={written}" in _dictionary() and run == together:
            return f"={written}"
        if written in _dictionary() and (len(written) > 2 or written == together or _is_short_head(written)):
            return written
    return None


def _is_short_head(word: str) -> bool:
    """Return whether a word of two letters decides at the end of a name: yr, dt."""
    return word in _dictionary() and concepts()[_dictionary()[word][0].concept].head


def _analysed(word: str) -> tuple[Named, ...]:
    """Return the meanings of a word that is not listed: by its parts, its ending, or the words that it abbreviates."""
    for part in _parts(word.rstrip("0123456789")):
        senses = _dictionary().get(part)
        if senses is not None:
            return _named(part, senses, listed=False)
    for ending, senses in _endings().items():
        if len(word) >= _TERM and word.endswith(ending):
            return _named(word, senses, listed=False)
    return _named(word, _abbreviated(word), listed=False)


def _parts(word: str) -> Iterator[str]:
    """Yield the parts of a word that may tell its meaning: without a plural, a description or a letter; then ends."""
    if len(word) > _SHORT and word.endswith("s"):
        yield word[:-1]
    for part in _DESCRIBING:
        if len(word) >= len(part) + 3 and word.endswith(part):
            yield word[: -len(part)]
        if len(word) >= len(part) + _SHORT and word.startswith(part):
            yield word[len(part) :]
    if len(word) > _SHORT:
        yield word[1:]
    yield from (word[begin:] for begin in range(2, len(word) - 1) if _is_word(word, begin))
    yield from (tail for tail in _TAILS if word.endswith(tail) and len(word) <= len(tail) + _SHORT)
    yield from (word[:end] for end in range(len(word) - 1, _LONG - 1, -1))


def _is_word(word: str, begin: int) -> bool:
    """Return whether a word can be divided here: a long second part, or two parts that are listed."""
    rest = word[begin:]
    if len(rest) < _SHORT and not _is_short_head(rest):
        return False
    return len(rest) >= _LONG or word[:begin] in _dictionary() or (len(rest) >= _SHORT and rest in _heads())


def _abbreviated(word: str) -> _Senses:
    """Return the meaning of the words that a word may abbreviate, if they all have the same role.

    A word is abbreviated by its first letters, or by its consonants: recur, wght.
    """
    if len(word) < _SHORT or word in _DESCRIBING or word in _COMMON:
        return ()
    longer = (pair for pair in _by_beginning()[word[:_SHORT]] if len(pair[0]) >= _TERM)
    beginning = [senses for entry, senses in longer if entry.startswith(word)]
    matches = beginning or _by_consonants().get(word, [])
    roles = {concepts()[senses[0].concept].role for senses in matches}
    return matches[0] if len(roles) == 1 else ()


@cache
def _by_beginning() -> defaultdict[str, list[tuple[str, _Senses]]]:
    """Return the entries of a single word by their first letters."""
    entries: defaultdict[str, list[tuple[str, _Senses]]] = defaultdict(list)
    for entry, senses in _single_words():
        entries[entry[:_SHORT]].append((entry, senses))
    return entries


@cache
def _by_consonants() -> dict[str, list[_Senses]]:
    """Return the entries of a single word by their consonants: trtmnt, wght."""
    entries: defaultdict[str, list[_Senses]] = defaultdict(list)
    for entry, senses in _single_words():
        if len(consonants := entry[0] + re.sub("[aeiou]", "", entry[1:])) >= _SHORT:
            entries[consonants].append(senses)
    return dict(entries)


def _single_words() -> Iterator[tuple[str, _Senses]]:
    """Yield the entries that consist of one word, with their meanings."""
    for language in (_CLINICAL, *LANGUAGES):
        entries = (entry for words in _words(language).values() for entry in words)
        for word in dict.fromkeys("".join(tokens(entry)) for entry in entries if len(tokens(entry)) == 1):
            if word in _dictionary():
                yield word, _dictionary()[word]


@cache
def _heads() -> frozenset[str]:
    """Return the words that decide alone at the end of a name."""
    return frozenset(entry for entry, senses in _dictionary().items() if concepts()[senses[0].concept].head)


@cache
def _dictionary() -> dict[str, _Senses]:
    """Return the meanings of each entry, written as one word. An entry with a leading = must match the whole name."""
    return _collected((language, _words(language)) for language in (_CLINICAL, *LANGUAGES))


def _collected(vocabularies: Iterable[tuple[str, dict[str, Any]]]) -> dict[str, _Senses]:
    meant: defaultdict[str, dict[str, list[str]]] = defaultdict(dict)
    for language, sections in vocabularies:
        for concept, entries in sections.items():
            for key in dict.fromkeys(key for entry in entries for key in _written(entry)):
                meant[key].setdefault(concept, []).append(language)
    return {
        key: tuple(_Sense(concept, tuple(languages)) for concept, languages in senses.items())
        for key, senses in meant.items()
    }


def _words(name: str) -> dict[str, Any]:
    """Return the entries of a file by concept, without the endings."""
    return {concept: entries for concept, entries in _file(name).items() if concept != "endings"}


@cache
def _file(name: str) -> dict[str, Any]:
    path = files("shoal.identification").joinpath("words").joinpath(f"{name}.toml")
    return tomllib.loads(path.read_text("utf-8"))


def _written(entry: str) -> list[str]:
    """Return the spellings of an entry: German umlauts also with an e."""
    whole = "=" * entry.startswith("=")
    return [whole + "".join(tokens(text)) for text in (entry, entry.translate(_WITH_E))]


@cache
def _endings() -> dict[str, _Senses]:
    """Return the endings of medical terms with their meaning, the longest first."""
    by_ending = {
        ending: (_Sense(concept, (_CLINICAL,)),)
        for concept, endings in _file(_CLINICAL)["endings"].items()
        for ending in endings
    }
    return dict(sorted(by_ending.items(), key=lambda pair: -len(pair[0])))


def _standard(name: str) -> tuple[Named, ...]:
    """Return the meaning of a column of a data standard; empty if there is none of this name.

    >>> [_standard(name)[0].concept.name for name in ("USUBJID", "AESTDTC", "gender_concept_id")], _standard("age2")
    (['patient', 'other-date', 'sex'], ())
    """
    senses = _standards().get(plain(name))
    ending = _DOMAIN.fullmatch(name)
    if senses is None and ending is not None:
        senses = _domain_endings().get(ending.group(1))
    return () if senses is None else _named(name, senses, listed=True)


@cache
def _standards() -> dict[str, _Senses]:
    return {
        plain(entry): (_Sense(concept, (standard,)),)
        for standard in _STANDARDS
        for concept, entries in _words(standard).items()
        for entry in entries
    }


@cache
def _domain_endings() -> dict[str, _Senses]:
    """Return the endings of the variables of CDISC domains with their meaning."""
    return {
        ending: (_Sense(concept, ("cdisc",)),)
        for concept, endings in _file("cdisc")["endings"].items()
        for ending in endings
    }
