"""A part: what goes out of one table of several."""

from dataclasses import dataclass

from shoal.dataset.inheritance import Shows
from shoal.dataset.links import Records
from shoal.release.release import Release
from shoal.table.raw import Encoded
from shoal.table.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class DatasetPart:
    """What goes out of one table of several.

    ``release``: how it was found, with what it inherits; None if nothing was searched for. ``became``: which released
    record each of the given ones is, −1 if it is left out. ``shows``: what it hands down; ``whose``: the person of each
    released record. ``pseudonyms``: columns that show these; ``left_out``: columns that do not go out. ``orphans``:
    records that refer to nothing; ``followed``: records left out because what they refer to is.
    """

    table: Table
    release: Release | None
    became: Records
    shows: Shows
    whose: Encoded | None
    pseudonyms: tuple[str, ...]
    left_out: tuple[str, ...]
    orphans: int
    followed: int

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said about the columns."""
        notes = () if self.release is None else self.release.notes
        gone = [f"Columns that do not go out: {', '.join(self.left_out)}."] if self.left_out else []
        return (*gone, *(note for note in notes if " does not go out: " not in note))
