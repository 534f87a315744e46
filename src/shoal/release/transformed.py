"""The transformed table: what every record shows, in an order that tells nothing."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.engines.protocol import DistinctRows, Drawing, Engine, RecordIdentity, Rewriting
from shoal.engines.translated import translated
from shoal.engines.written import rewritten
from shoal.kernels.siphash import SipKey, siphash_texts
from shoal.kernels.translation import Codes, narrowest
from shoal.recoding.recoding import Recoded, Recoding
from shoal.release.columns import compacted, labelled
from shoal.release.drawing import drawn_numbers
from shoal.release.pseudonyms import pseudonymous
from shoal.release.representative import represented
from shoal.table.about import About
from shoal.table.column import Column
from shoal.table.kind import Kind
from shoal.table.names import unused
from shoal.table.role import Role
from shoal.table.table import Source, Table
from shoal.techniques.change import Drawn

_LEFT_OUT = {
    Role.DIRECT: "it identifies persons directly",
    Role.SUBJECT: "it says whose record it is",
    Role.HOUSEHOLD: "it says who lives together",
}


@dataclass(frozen=True, slots=True, eq=False)
class Transformed:
    """``table``: what goes out. ``left_out``: columns of the original that do not go out, and why.

    ``origins()``: which record of the original each record was; −1: it is invented. ``whose``: a column that the table
    does not show, but its engine has: the number of the person.
    """

    table: Table
    origins: Callable[[], NDArray[np.intp]]
    left_out: Mapping[str, str]
    whose: Column | None = None


def shown_by(
    recoding: Recoding,
    how: Mapping[str, str] | None = None,
    persons: NDArray[np.int64] | None = None,
    least: int = 1,
) -> dict[str, tuple[Column, Codes]]:
    """Return for each quasi-identifier what the rows of a recoding show: values as they are, or labels of sets.

    ``how``: columns that show the mean, midpoint, median or mode of a class instead of a label, in which every row
    counts for its ``persons``; for its records, if nothing is said. A mean is that of ``least`` persons or more.

    >>> import shoal
    >>> from shoal.hierarchy.spec import bind_all
    >>> table = shoal.read({"age": [31, 34, 71]})
    >>> ladders = bind_all({"age": {"kind": "interval", "widths": [10]}}, table)
    >>> column, codes = shown_by(Recoding.of_scheme(table, ladders, {"age": 1}))["age"]
    >>> column.labels().take(codes.tolist()).to_pylist()
    ['30-39', '30-39', '70-79']
    """
    kept = np.flatnonzero(~recoding.suppressed)
    chosen = {name: kind for name, kind in (how or {}).items() if kind != "label"}
    return {
        column.name: represented(recoding, column.name, chosen[column.name], persons, least)
        if column.name in chosen
        else _shown(column, kept)
        for column in recoding.of_quasi
    }


def _shown(recoded: Recoded, kept: NDArray[np.intp]) -> tuple[Column, Codes]:
    column, at = recoded.domain.column, recoded.shown
    if (at[kept] < column.size).all():  # nothing but values as they were: they keep their type
        return column, np.where(at < column.size, at, 0).astype(narrowest(max(column.size, 1)))
    released, places = labelled(column.name, [*column.labels().to_pylist(), *recoded.nodes.labels])
    return released, places.astype(narrowest(max(released.size, 1)))[at]


@dataclass(frozen=True, slots=True, eq=False)
class Counterfeits:
    """Records that are invented: ``rows``: which distinct rows they look like. All else is drawn, column by column."""

    rows: NDArray[np.int64]
    key: bytes = b""

    def __len__(self) -> int:
        return len(self.rows)

    def drawn(self, table: Table, name: str, kept: NDArray[np.intp]) -> Codes:
        """Draw values of a column the way they are distributed among the records that are kept."""
        places = drawn_numbers(self.key, f"counterfeits of {name}", len(self.rows)) % np.uint64(len(kept))
        return table.codes(name)[kept[places.astype(np.intp)]]


NONE = Counterfeits(np.zeros(0, np.int64))


def transformed(  # noqa: PLR0913 - a table, what becomes of its rows, and of its columns
    table: Table,
    rows: DistinctRows,
    shown: Mapping[str, tuple[Column, Codes]],
    suppressed: NDArray[np.bool_],
    *,
    counterfeits: Counterfeits = NONE,
    keys: Mapping[str, bytes] | None = None,
    drawn: Mapping[str, tuple[Drawn, SipKey]] | None = None,
) -> Transformed:
    """Write out what distinct rows show; suppressed ones are left out. ``rows`` are those of the quasi-identifiers.

    ``keys``: columns that get pseudonyms, and with which key. ``drawn``: columns whose cells are drawn, and the key of
    the stream of random numbers.
    """
    drawn = drawn or {}
    keys = keys or {}
    left_out = {name: why for name in table.names if name not in keys and (why := _why_not(table, name)) is not None}
    there = [name for name in table.names if name not in left_out]
    by_row = {name: shown[name] for name in there if name in shown and name not in drawn}
    others = {
        name: _other(table[name], keys.get(name), len(counterfeits))
        for name in there
        if name not in by_row and name not in drawn
    }
    columns = {
        name: drawn[name][0].column if name in drawn else (by_row.get(name) or others[name])[0] for name in there
    }
    subject = None if table.subject is None else table[table.subject]
    whose = None if subject is None else _whose(subject, len(counterfeits), columns)
    how = Rewriting(
        rows=rows,
        kept=~suppressed,
        by_row={name: codes for name, (_, codes) in by_row.items()},
        by_code={name: (name, places[: table[name].size]) for name, (_, places) in others.items()},
        names=tuple(there),
        sizes={name: column.size for name, column in columns.items()},
        by_record={name: Drawing(name, key, cells.draw) for name, (cells, key) in drawn.items() if name in there},
        identity=_identity(table) if drawn else None,
    )
    if subject is not None and whose is not None:
        how = how.along(whose.name, subject.name, subject.size, whose.size)
    if len(counterfeits):
        how = replace(how, added=_invented(table, how, counterfeits, others, keys, whose))
    records = rewritten(table.engine, how)
    every = columns if whose is None else {**columns, whose.name: whose}
    compact, engine = _compacted(every, records.engine)
    released = Table(tuple(compact[name] for name in columns), engine)
    before = table.source
    about = {column.name: _about(column, table) for column in released.columns if column.name in before.about}
    source = Source(before.origin, before.frame, before.details, about=about, files=before.files)
    roles = {
        name: Role.INSENSITIVE if name in keys else role for name, role in table.roles.items() if name not in left_out
    }
    named = replace(released, source=source).assign(**_by_role(roles))
    return Transformed(named, records.origins, left_out, None if whose is None else compact[whose.name])


def _identity(table: Table) -> RecordIdentity:
    """Return what tells records apart: whose they are, or all that they hold and their number among those alike."""
    names = table.names if table.subject is None else (table.subject,)
    hashes = {name: siphash_texts((0, 0), table[name].labels()) for name in names}
    return RecordIdentity(hashes, repeats=table.subject is None)


def _other(column: Column, key: bytes | None, invented: int) -> tuple[Column, Codes]:
    """Return what becomes of a column that is no quasi-identifier, and of its codes."""
    if key is not None:
        return pseudonymous(column, key, invented)
    return column, np.arange(column.size, dtype=narrowest(max(column.size, 1)))


def _whose(subject: Column, invented: int, taken: Iterable[str]) -> Column:
    """Return a column of numbers of persons, which goes along unseen; every invented record is somebody else."""
    numbers = pa.array(np.arange(len(subject.values) + invented))
    return Column(unused("person", taken), Kind.INTEGER, numbers)


def _invented(  # noqa: PLR0913, PLR0917 - what invented records look like
    table: Table,
    how: Rewriting,
    counterfeits: Counterfeits,
    others: Mapping[str, tuple[Column, Codes]],
    keys: Mapping[str, bytes],
    whose: Column | None,
) -> dict[str, Codes]:
    """Return the codes of invented records: what their rows show, pseudonyms of nobody, and values that are drawn."""
    records = np.flatnonzero(table.engine.expand(how.rows, how.kept))
    invented = {name: codes[counterfeits.rows] for name, codes in how.by_row.items()}
    for name, (_, places) in others.items():
        drawn = None if name in keys else counterfeits.drawn(table, name, records)
        invented[name] = places[table[name].size :] if drawn is None else places[drawn]
    if whose is not None:
        invented[whose.name] = np.arange(whose.size - len(counterfeits), whose.size).astype(narrowest(whose.size))
    return invented


def _compacted(columns: Mapping[str, Column], engine: Engine) -> tuple[dict[str, Column], Engine]:
    """Leave out values that no record has any more: they must not leave with the release."""
    compact: dict[str, Column] = {}
    tables: dict[str, Codes] = {}
    for name, column in columns.items():
        codes = engine.distinct([name]).codes[0]
        small, places = compacted(column, codes)
        compact[name] = small
        if small.size < column.size:
            table = np.zeros(column.size, narrowest(max(small.size, 1)))
            table[codes] = places
            tables[name] = table
    return compact, translated(engine, tables, {name: column.size for name, column in compact.items()})


def _by_role(roles: Mapping[str, Role]) -> dict[str, list[str]]:
    by_role: dict[str, list[str]] = {}
    for name, role in roles.items():
        by_role.setdefault(role, []).append(name)
    return by_role


def _why_not(table: Table, name: str) -> str | None:
    role = table.roles.get(name)
    return "it has no role" if role is None else _LEFT_OUT.get(role)


def _about(column: Column, table: Table) -> About:
    """Return what is said about a released column: no label of a value that it does not show."""
    about = table.source.about[column.name]
    return about.of(column.values.to_pylist()) if about.values else about
