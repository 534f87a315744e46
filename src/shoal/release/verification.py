"""Verification: a release is read again from where it was written, and judged as a stranger's table would be.

Nothing of the search is used here. What the file cannot tell is handed over: whose record each row is, and how the
sensitive values were distributed in the original.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.classes.members import Counts
from shoal.engines.memory import MemoryEngine
from shoal.errors import ReleaseError
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.kernels.translation import Codes, narrowest
from shoal.models.evidence import Gatherer
from shoal.models.model import Model
from shoal.population import Population
from shoal.release.columns import compacted, labelled
from shoal.release.judgement import Judgement
from shoal.table.column import SUPPRESSED, Column
from shoal.table.databases.database import Stored
from shoal.table.missing import Missing
from shoal.table.names import unused
from shoal.table.raw import Encoded
from shoal.table.reading import read
from shoal.table.scale import doubles
from shoal.table.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Original:
    """What is known of the original: its sensitive columns, and how many persons have each of their values.

    ``hierarchies``: of these columns. ``subject``: whose record each released one is: a column with a code for each
    record, in the order in which they are written; or a column that the released table does not show, but its engine
    has.
    """

    sensitive: Mapping[str, Column]
    reference: Mapping[str, Counts]
    hierarchies: Mapping[str, Hierarchy]
    population: Population | None
    missing: Missing
    subject: tuple[Column, Codes] | Column | None = None


def verify(
    source: Path | Stored,
    promised: Table,
    original: Original,
    requirements: Iterable[tuple[str, str, Model]],
    options: Mapping[str, Any] | None = None,
) -> tuple[Judgement, ...]:
    """Read a written release again, see that it is what was promised, and judge it by every requirement."""
    stored = _read(source, promised, options or {})
    check_same(stored, promised)
    return judged(stored, promised, original, requirements)


def judged(
    stored: Table, promised: Table, original: Original, requirements: Iterable[tuple[str, str, Model]]
) -> tuple[Judgement, ...]:
    """Judge a released table by every requirement."""
    table = with_persons(stored, promised, original)
    gatherer = Gatherer(table, original.missing, original.hierarchies, original.population, original.reference)
    return tuple(
        Judgement(source, says, model.verdict(gatherer.evidence(view)))
        for source, says, model in requirements
        for view in model.views(table.quasi, table.sensitive)
    )


def as_written(table: Table) -> Table:
    """Return a released table as its file is read: what an adversary may know is text, letter by letter."""
    columns = {}
    for column in table.columns:
        if column.name in table.quasi and not column.is_text:
            text, place = labelled(column.name, [*column.labels().to_pylist()])
            columns[column.name] = text, place.astype(narrowest(max(text.size, 1)))
    return table.recoded(columns)


def with_persons(stored: Table, promised: Table, original: Original) -> Table:
    """Return a released table with the roles that were promised, and with whose record each is, if that is known.

    A file cannot tell whose its records are. It has been seen that its rows are those that were promised, each as
    often: then it does not matter which of those that are alike is whose.
    """
    source = as_written(promised) if isinstance(original.subject, Column) else stored
    table = _with_subject(_recoded(replace(source, roles={}), original), original)
    return table.assign(quasi=list(promised.quasi), sensitive=list(promised.sensitive))


def _read(source: Path | Stored, promised: Table, options: Mapping[str, Any]) -> Table:
    """Read what was written; what an adversary may know is taken as it is written, letter by letter."""
    engine = "memory" if isinstance(promised.engine, MemoryEngine) else "disk"
    return read(source, text=list(promised.quasi), suppressed=SUPPRESSED, engine=engine, **options)


def check_same(stored: Table, promised: Table) -> None:
    """Refuse a file that is not what was promised: all rows of what models read must be there, each as often."""
    if stored.names != promised.names or stored.records != promised.records:
        raise ReleaseError(
            f"The written release has {stored.records:,} records and {len(stored.names)} columns; it should have "
            f"{promised.records:,} and {len(promised.names)}."
        )
    names, written = (*promised.quasi, *promised.sensitive), as_written(promised)
    placed = {name: (written[name], _placed(stored[name], written[name])) for name in names}
    here, there = stored.recoded(placed).distinct(names), written.distinct(names)
    same = all(np.array_equal(codes, other) for codes, other in zip(here.codes, there.codes, strict=True))
    if not same or not np.array_equal(here.counts, there.counts):
        raise ReleaseError("The written release does not have the records that it should have. It was not handed out.")
    for name in promised.names:
        if name not in names and not _same_values(stored, promised, name):
            raise ReleaseError(
                f"The written release does not have the values in column '{name}' that it should have. It was not "
                "handed out."
            )


def _same_values(stored: Table, promised: Table, name: str) -> bool:
    """Tell whether a column holds the same values, each as often, whatever kind it was read as.

    Most formats do not know the categories of a category: its labels are read as text, and are compared as such.
    """
    here, there = stored[name], promised[name]
    texts = [_written(column, numeric=here.kind.numeric and there.kind.numeric) for column in (here, there)]
    places = pc.index_in(*texts).fill_null(-1).to_numpy(zero_copy_only=False)
    counts, expected = stored.counts(name), promised.counts(name)
    if ((places < 0) & (counts > 0)).any():
        return False
    seen = np.zeros(len(expected), np.int64)
    np.add.at(seen, places[places >= 0], counts[places >= 0])
    return bool(np.array_equal(seen, expected))


def _written(column: Column, *, numeric: bool) -> pa.Array:
    """Return the values of a column, and its gaps; numbers as such, however they are written."""
    if not numeric or column.suppressed:
        return column.labels()
    values = doubles(column.values)
    return pa.concat_arrays([values, pa.nulls(int(column.missing), pa.float64())])


def _recoded(stored: Table, original: Original) -> Table:
    """Give sensitive values the codes of the original, so that values that are gone still count."""
    names = [name for name in stored.names if name in original.sensitive]
    return stored.recoded({name: (before := original.sensitive[name], _placed(stored[name], before)) for name in names})


def _placed(column: Column, before: Column) -> Codes:
    """Return which code of another column each code stands for."""
    texts = (column.labels(), before.labels())
    if column.kind.numeric and before.kind.numeric and column.values.type != before.values.type:
        texts = (doubles(column.values), doubles(before.values))  # 1.00 was written, and 1 is read
    places = pc.index_in(*texts, skip_nulls=True).fill_null(-1).to_numpy(zero_copy_only=False)
    place = np.full(column.size, -1, np.int64)
    place[: len(places)] = places
    for mine, theirs in ((column.missing_code, before.missing_code), (column.suppressed_code, before.suppressed_code)):
        if mine is not None:
            place[mine] = -1 if theirs is None else theirs
    if (place < 0).any():
        raise ReleaseError(f"The written release has values in column '{column.name}' that it should not have.")
    return place.astype(narrowest(max(before.size, 1)))


def _with_subject(table: Table, original: Original) -> Table:
    if original.subject is None:
        return table
    if isinstance(original.subject, Column):
        return replace(table, columns=(*table.columns, original.subject)).assign(subject=original.subject.name)
    column, codes = compacted(*original.subject)
    encoded = [Encoded(column, table.codes(column.name)) for column in table.columns]
    named = replace(column, name=unused(column.name, table.names))
    with_subject = Table.of([*encoded, Encoded(named, codes)], table.records, table.source)
    return with_subject.assign(subject=named.name)
