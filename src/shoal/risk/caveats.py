"""Caveats: notes for the reader of an assessment."""

from collections.abc import Iterator

from shoal.classes.classes import Classes
from shoal.population import Matched
from shoal.table.column import SUPPRESSED, Column
from shoal.table.missing import Missing
from shoal.table.table import Table
from shoal.words import listed


def caveats(table: Table, missing: Missing, classes: Classes, matched: Matched | None) -> Iterator[str]:
    """Yield the notes on an assessed table, the most important first.

    ``matched``: the entries of the register for each class.
    """
    text = [name for name in table.quasi if _has_stars(table[name])]
    if text:
        yield (
            f"Cells * were read as text in {listed(text)}. To count them as suppressed, declare * as the text of "
            "suppressed cells (import option suppressed)."
        )
    if matched is not None and (short := matched.counts < classes.sizes).any():
        lacking = classes.members.within(short)
        yield f"Individuals without a match in the register: {lacking:,}. They were added to the population."
    if table.subject is None:
        yield "No subject column is set: every record is counted as an individual."
    if any(table[name].missing for name in table.quasi):
        yield missing.says
    if classes.suppressed:
        yield f"Suppressed records form no class. Individuals with suppressed records: {classes.suppressed:,}."
    if classes.overlap:
        yield "An individual with several records can be in several classes."


def _has_stars(column: Column) -> bool:
    """Return whether cells such as ``*`` of a column were read as text."""
    return not column.suppressed and SUPPRESSED in column.labels().to_pylist()
