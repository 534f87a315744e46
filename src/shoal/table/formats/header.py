"""Header of a file: the columns to read, and their names."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from shoal.errors import ReadError
from shoal.remedy import Option, by
from shoal.table.formats.dialect import Quoted
from shoal.table.names import check_names
from shoal.table.options import Options
from shoal.table.reading_note import Concern, ReadingNote

looks_like_data = re.compile(r"-?\d+([.,]\d+)?|\d{4}-\d{2}-\d{2}.*|\d{1,2}[./]\d{1,2}[./]\d{2,4}")


@dataclass(frozen=True, slots=True)
class Header:
    """Names of the columns to read, and their positions in the file."""

    names: tuple[str, ...]
    places: tuple[int, ...]
    notes: tuple[ReadingNote, ...] = ()

    @classmethod
    def of(cls, first_row: Sequence[str], options: Options, *, typed: bool = False) -> "Header":
        """Take the names from the first row, or number the columns if there is no header.

        ``typed``: whether quoted cells are certainly text. In a file that quotes every cell, quotes carry no
        information.
        """
        if options.header is False:
            numbered = tuple(f"column_{place}" for place in range(1, len(first_row) + 1))
            return cls(numbered, tuple(range(len(first_row))))
        if options.header is None:
            _check_header(first_row, typed=typed)
        places = tuple(place for place, name in enumerate(first_row) if name.strip() or options.unnamed != "drop")
        names = [first_row[place] for place in places]
        if options.unnamed == "number":
            names = [name if name.strip() else f"column_{place + 1}" for name, place in zip(names, places, strict=True)]
        check_names(names)
        dropped = len(first_row) - len(places)
        omitted = f"Columns without a name, omitted: {dropped:,}."
        notes = (ReadingNote(omitted, Concern.COLUMNS),) if dropped else ()
        return cls(tuple(names), places, notes)


def _check_header(first_row: Sequence[str], *, typed: bool) -> None:
    """Reject a first row that is data: its values would become column names and be shown everywhere."""
    bare = [name for name in first_row if not isinstance(name, Quoted)]
    if not bare and not typed:
        bare = list(first_row)
    if any(looks_like_data.fullmatch(name.strip()) for name in bare):
        raise ReadError(
            "no-header",
            "The first row does not look like a header: it contains numbers or dates.",
            remedy=[
                by("If it is data", Option("header", False)),
                by("If it is the header", Option("header", True)),
            ],
        )
