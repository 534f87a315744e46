"""Verification: a release is read again from where it was written, and judged as a stranger's table would be.

Nothing of the search is used here. What the file cannot tell is handed over: whose record each row is, and how the
sensitive values were distributed in the original.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.classes.members import Counts
from shoal.errors import ReleaseError
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.kernels.translation import Codes, narrowest
from shoal.models.evidence import Gatherer
from shoal.models.model import Model, Verdict
from shoal.population import Population
from shoal.release.columns import compacted, labelled
from shoal.table.column import SUPPRESSED, Column
from shoal.table.missing import Missing
from shoal.table.raw import Encoded
from shoal.table.reading import read
from shoal.table.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Original:
    """What is known of the original: its sensitive columns, and how many persons have each of their values.

    ``hierarchies``: of these columns. ``subject``: the column that says whose record it is, and the code of each
    released record, in the order in which they are written.
    """

    sensitive: Mapping[str, Column]
    reference: Mapping[str, Counts]
    hierarchies: Mapping[str, Hierarchy]
    population: Population | None
    missing: Missing
    subject: tuple[Column, Codes] | None = None


@dataclass(frozen=True, slots=True)
class Verified:
    """A requirement, who asks for it, and how the written release fares."""

    source: str
    says: str
    verdict: Verdict


def verify(
    path: Path,
    promised: Table,
    original: Original,
    requirements: Iterable[tuple[str, str, Model]],
    options: Mapping[str, Any] | None = None,
) -> tuple[Verified, ...]:
    """Read a written release again, see that it is what was promised, and judge it by every requirement."""
    found = _read(path, promised, options or {})
    _check(found, promised)
    table = with_persons(found, promised, original)
    gatherer = Gatherer(table, original.missing, original.hierarchies, original.population, original.reference)
    return tuple(
        Verified(source, says, model.verdict(gatherer.evidence(view)))
        for source, says, model in requirements
        for view in model.views(table.quasi, table.sensitive)
    )


def as_written(table: Table) -> Table:
    """Return a released table as its file is read: what an adversary may know is text, letter by letter."""
    held = []
    for column in table.columns:
        codes = table.codes(column.name)
        if column.name not in table.quasi or column.is_text:
            held.append(Encoded(column, codes))
            continue
        made, place = labelled(column.name, [*column.labels().to_pylist()])
        held.append(Encoded(made, place.astype(narrowest(max(made.size, 1)))[codes]))
    return replace(Table.of(held, table.records, table.source), roles=table.roles)


def with_persons(found: Table, promised: Table, original: Original) -> Table:
    """Return a released table with the roles that were promised, and with whose record each is, if that is known."""
    table = _with_subject(_recoded(found, original), original)
    return table.assign(quasi=list(promised.quasi), sensitive=list(promised.sensitive))


def _read(path: Path, promised: Table, options: Mapping[str, Any]) -> Table:
    """Read the file; what an adversary may know is taken as it is written, letter by letter."""
    return read(path, text=list(promised.quasi), suppressed=SUPPRESSED, **options)


def _check(found: Table, promised: Table) -> None:
    if found.names != promised.names or found.records != promised.records:
        raise ReleaseError(
            f"The written release has {found.records:,} records and {len(found.names)} columns; it should have "
            f"{promised.records:,} and {len(promised.names)}."
        )


def _recoded(found: Table, original: Original) -> Table:
    """Give sensitive values the codes of the original, so that values that are gone still count."""
    held = []
    for column in found.columns:
        codes = found.codes(column.name)
        if column.name not in original.sensitive:
            held.append(Encoded(column, codes))
            continue
        before = original.sensitive[column.name]
        place = _places(column, before)
        if (place[codes] < 0).any():
            raise ReleaseError(f"The written release has values in column '{column.name}' that the original has not.")
        held.append(Encoded(before, place.astype(narrowest(max(before.size, 1)))[codes]))
    return Table.of(held, found.records, found.source)


def _places(column: Column, before: Column) -> NDArray[np.int64]:
    """Return which code of the original each code stands for; −1 if none."""
    found = pc.index_in(column.labels(), before.labels(), skip_nulls=True).fill_null(-1)
    place: NDArray[np.int64] = found.to_numpy(zero_copy_only=False).astype(np.int64)
    for mine, theirs in ((column.missing_code, before.missing_code), (column.suppressed_code, before.suppressed_code)):
        if mine is not None:
            place[mine] = -1 if theirs is None else theirs
    return place


def _with_subject(table: Table, original: Original) -> Table:
    if original.subject is None:
        return table
    column, codes = compacted(*original.subject)
    held = [Encoded(one, table.codes(one.name)) for one in table.columns]
    named = replace(column, name=_unused(column.name, table.names))
    made = Table.of([*held, Encoded(named, codes)], table.records, table.source)
    return made.assign(subject=named.name)


def _unused(name: str, taken: Iterable[str]) -> str:
    while name in set(taken):
        name += "'"
    return name
