"""Notes on how a source was read."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import IntEnum

from shoal.words import listed, phrase

READ_AS_MISSING = "Cells such as NA were read as missing in {columns}."


class Concern(IntEnum):
    """Subject of a note; the most important comes first."""

    VALUES = 0  # values may differ from those intended
    COLUMNS = 1  # columns or sheets were omitted
    PLACE = 2  # where the rows are


@dataclass(frozen=True, slots=True)
class ReadingNote:
    """A note on how a source was read. ``columns``: the columns it applies to, in place of ``{columns}``.

    >>> str(ReadingNote("Cells such as NA were read as missing in {columns}.", Concern.VALUES, ("age", "bmi")))
    "Cells such as NA were read as missing in 'age', 'bmi'."
    """

    template: str
    concern: Concern
    columns: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the text with the names of the columns."""
        return phrase(self.template, columns=listed(self.columns)) if self.columns else self.template


def united_notes(notes: Iterable[ReadingNote]) -> tuple[ReadingNote, ...]:
    """Return one note per fact, with all columns it applies to, in order of importance.

    >>> [str(note) for note in united_notes([
    ...     ReadingNote("One sheet was omitted.", Concern.COLUMNS),
    ...     ReadingNote("Commas in {columns} are decimal commas.", Concern.VALUES, ("age",)),
    ...     ReadingNote("Commas in {columns} are decimal commas.", Concern.VALUES, ("bmi",)),
    ... ])]
    ["Commas in 'age', 'bmi' are decimal commas.", 'One sheet was omitted.']
    """
    facts: dict[tuple[Concern, str], ReadingNote] = {}
    for note in notes:
        fact = facts.setdefault((note.concern, note.template), note)
        columns = tuple(dict.fromkeys((*fact.columns, *note.columns)))
        facts[note.concern, note.template] = replace(fact, columns=columns)
    return tuple(sorted(facts.values(), key=lambda note: note.concern))
