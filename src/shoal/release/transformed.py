"""Transformed table: the released cells of every record, in an order that discloses nothing."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.engines.protocol import Engine, Rewriting
from shoal.engines.translated import translated
from shoal.engines.written import rewritten
from shoal.kernels.translation import Codes, narrowest
from shoal.release.counterfeits import Counterfeits
from shoal.release.drawing import drawing, drawn_numbers, identity, placing
from shoal.release.pseudonyms import pseudonymous
from shoal.release.transformation import Transformation
from shoal.separation.split import PlaceBuckets, RowBuckets, Split
from shoal.table.about import About
from shoal.table.column import Column
from shoal.table.compaction import compacted
from shoal.table.kind import Kind
from shoal.table.names import numbered, unused
from shoal.table.raw import Encoded
from shoal.table.role import Role
from shoal.table.table import Source, Table

_LEFT_OUT = {
    Role.DIRECT: "direct identifier",
    Role.SUBJECT: "subject",
    Role.HOUSEHOLD: "household",
    Role.THRESHOLD: "threshold",
}


@dataclass(frozen=True, slots=True, eq=False)
class Transformed:
    """Result of a transformation.

    ``table``: all released columns. ``tables``: the released table, or the tables into which it was split, by the
    suffix of their name. ``origins()``: the original record of each record of ``table``; −1 for a counterfeit.
    ``origins_of[part]()``: those of one of ``tables``, whose order differs if the table was split; none of a table of
    places, whose rows are no records.
    ``left_out``: the original columns that are not released, and the reason for each. ``whose``: a column with the
    number of the person, which the engine holds but the table does not show. ``thresholds``: the columns with the
    requirements of individuals, and ``truths``: the true values of sensitive columns whose cells are changed; the
    engine holds both as well. ``link``: the column that links both parts of a split table.
    """

    table: Table
    tables: Mapping[str, Table]
    origins: Callable[[], NDArray[np.intp]]
    origins_of: Mapping[str, Callable[[], NDArray[np.intp]]]
    left_out: Mapping[str, str]
    whose: Column | None = None
    thresholds: Mapping[str, Column] = field(default_factory=dict)
    truths: Mapping[str, Column] = field(default_factory=dict)
    link: str | None = None


def transformed(
    table: Table, transformation: Transformation, *, key: bytes = b"", keys: Mapping[str, bytes] | None = None
) -> Transformed:
    """Apply a transformation to the records of a table.

    The rows of the transformation are the distinct rows of the quasi-identifiers. ``key``: the secret key of all random
    draws. ``keys``: the key of each column that gets pseudonyms.
    """
    return _Writing(table, transformation, key, keys or {}).transformed()


@dataclass(frozen=True, eq=False)
class _Writing:
    """A table that is being transformed."""

    table: Table
    transformation: Transformation
    key: bytes
    keys: Mapping[str, bytes]

    def transformed(self) -> Transformed:
        """Return the table with all records rewritten."""
        how, columns = self._rewriting()
        if self.table.subject is not None:
            subject, whose = self.table[self.table.subject], self._whose()
            how = how.along(whose.name, subject.name, subject.size, whose.size)
            columns[whose.name] = whose
        for name in self._thresholds:
            how = how.along(name, name, self.table[name].size, self.table[name].size)
            columns[name] = self.table[name]
        for name, hidden_name in self._truths.items():
            how = how.along(hidden_name, name, self.table[name].size, self.table[name].size)
            columns[hidden_name] = replace(self.table[name], name=hidden_name)
        if self._invented:
            how = self._counterfeits.added(how, columns)
        whole, hidden, origins = self._released(how, columns, [name for name in how.names if self._is_shown(name)])
        split = self.transformation.split
        tables, origins_of = {"": whole}, {"": origins}
        if split is not None:
            tables, origins_of = self._split(how, columns, split)
        thresholds = {name: hidden.pop(name) for name in self._thresholds}
        truths = {name: hidden.pop(hidden_name) for name, hidden_name in self._truths.items()}
        return Transformed(
            table=whole if self._link is None else whole.assign(insensitive=[self._link]),
            tables=tables,
            origins=origins,
            origins_of=origins_of,
            left_out=self._left_out,
            whose=next(iter(hidden.values()), None),
            thresholds=thresholds,
            truths=truths,
            link=self._link,
        )

    @cached_property
    def _truths(self) -> dict[str, str]:
        """The hidden column with the true values of each sensitive column whose cells are changed."""
        changed = {*(change.name for change in self.transformation.drawn), *self.transformation.coarsened}
        taken, names = list(self.table.names), dict[str, str]()
        for name in self.table.sensitive:
            if name in changed:
                names[name] = unused(f"true {name}", taken)
                taken.append(names[name])
        return names

    @property
    def _thresholds(self) -> tuple[str, ...]:
        """The columns with the requirements of individuals, which the engine holds and no table shows."""
        return self.table.with_role(Role.THRESHOLD)

    def _is_shown(self, name: str) -> bool:
        """Return whether a released table shows a column of the engine."""
        return (name in self.table and name not in self._thresholds) or name == self._link

    @property
    def _left_out(self) -> dict[str, str]:
        """The columns that are not released, and the reason for each."""
        reasons = {name: _why_not(self.table, name) for name in self.table.names if name not in self.keys}
        return {name: why for name, why in reasons.items() if why is not None}

    @property
    def _invented(self) -> int:
        """The number of counterfeits."""
        return len(self.transformation.added)

    @property
    def _counterfeits(self) -> Counterfeits:
        """The counterfeits that are added to the records."""
        closed = {*self.transformation.coarsened, *self._truths, *self._thresholds}
        pseudonyms = {name: self._other(name)[1][self.table[name].size :] for name in self.keys}
        return Counterfeits(self.table, self.transformation.added, self.key, pseudonyms, frozenset(closed))

    @cached_property
    def _link(self) -> str | None:
        """The column that links both parts of a split table."""
        split = self.transformation.split
        return None if split is None else numbered(split.link, self.table.names)

    def _rewriting(self) -> tuple[Rewriting, dict[str, Column]]:
        """Return the rewriting of the records, and the released columns."""
        decided = self.transformation
        names = [name for name in self.table.names if name not in self._left_out]
        drawn = {change.name: change for change in decided.drawn if change.name in names}
        by_row = {name: decided.cells[name] for name in names if name in decided.cells and name not in drawn}
        others = {name: self._other(name) for name in names if name not in by_row and name not in drawn}
        columns = {
            name: drawn[name].column if name in drawn else (by_row.get(name) or others[name])[0] for name in names
        }
        by_record = {
            name: drawing(self.key, self.table[name], change.draw, change.stream, change.salt)
            for name, change in drawn.items()
        }
        if decided.split is not None and self._link is not None:
            buckets = decided.split.buckets
            if isinstance(buckets, RowBuckets):
                by_row[self._link] = self._numbered(buckets, self._link)
                columns[self._link] = by_row[self._link][0]
            else:
                by_record[self._link] = placing(self.key, self.table[buckets.column], buckets.bucket)
                columns[self._link] = _numbers(self._link, buckets.number)
        how = Rewriting(
            rows=decided.rows,
            kept=~decided.suppressed,
            by_row={name: codes for name, (_, codes) in by_row.items()},
            by_code={name: (name, places[: self.table[name].size]) for name, (_, places) in others.items()},
            names=tuple(columns),
            sizes={name: column.size for name, column in columns.items()},
            by_record=by_record,
            identity=identity(self.table) if by_record else None,
            words=self.transformation.words if by_record else None,
        )
        return how, columns

    def _other(self, name: str) -> tuple[Column, Codes]:
        """Return the released column for one that is not a quasi-identifier, and the new code of each code.

        A column of pseudonyms has additional codes for counterfeits.
        """
        column = self.table[name]
        if name in self.keys:
            return pseudonymous(column, self.keys[name], self._invented)
        if name in self.transformation.coarsened:
            return self.transformation.coarsened[name]
        return column, np.arange(column.size, dtype=narrowest(max(column.size, 1)))

    def _numbered(self, buckets: RowBuckets, name: str) -> tuple[Column, Codes]:
        """Return the column of bucket numbers, and the code of each row. The code of suppressed rows has no meaning."""
        kept = np.flatnonzero(~self.transformation.suppressed)
        numbers, of_kept = np.unique(buckets.of_row[kept], return_inverse=True)
        order = np.argsort(drawn_numbers(self.key, "numbers of the buckets", len(numbers)), kind="stable")
        column = _numbers(name, len(numbers))
        codes = np.zeros(len(buckets.of_row), narrowest(max(column.size, 1)))
        codes[kept] = np.argsort(order, kind="stable")[of_kept]
        return column, codes

    def _whose(self) -> Column:
        """Return a hidden column of person numbers. Each counterfeit counts as a person of its own."""
        persons = len(self.table[str(self.table.subject)].values)
        taken = [*self.table.names, *([] if self._link is None else [self._link])]
        return Column(unused("person", taken), Kind.INTEGER, pa.array(np.arange(persons + self._invented)))

    def _released(
        self, how: Rewriting, columns: Mapping[str, Column], shown: Sequence[str]
    ) -> tuple[Table, dict[str, Column], Callable[[], NDArray[np.intp]]]:
        """Return a table of the ``shown`` columns, the hidden columns, and the origins of the records."""
        hidden = [name for name in how.names if not self._is_shown(name)]
        records = rewritten(self.table.engine, replace(how, names=(*shown, *hidden)))
        compact, engine = _compacted({name: columns[name] for name in (*shown, *hidden)}, records.engine)
        before = self.table.source
        about = {name: _about(compact[name], self.table) for name in shown if name in before.about}
        source = Source(before.origin, before.frame, before.details, about=about, files=before.files)
        released = Table(tuple(compact[name] for name in shown), engine, source=source)
        roles = {name: self._role(name) for name in (*self.table.roles, *shown) if name in shown}
        return released.assign(**_by_role(roles)), {name: compact[name] for name in hidden}, records.origins

    def _role(self, name: str) -> Role:
        return Role.INSENSITIVE if name in self.keys else self.table.roles.get(name, Role.QUASI)

    def _split(
        self, how: Rewriting, columns: Mapping[str, Column], split: Split
    ) -> tuple[dict[str, Table], dict[str, Callable[[], NDArray[np.intp]]]]:
        """Return the parts of a split table by the suffix of their name, and the origins of their records."""
        shown = [name for name in how.names if name not in split.columns and self._is_shown(name)]
        first, _, origins = self._released(how, columns, shown)
        tables, origins_of = {"": first}, {"": origins}
        for suffix, names in split.tables.items():
            apart = [name for name in how.names if name in names]
            if isinstance(split.buckets, PlaceBuckets):
                tables[suffix] = self._places(split.buckets, columns, apart[0])
            else:
                tables[suffix], _, origins_of[suffix] = self._released(how, columns, (str(self._link), *apart))
        return tables, origins_of

    def _places(self, buckets: PlaceBuckets, columns: Mapping[str, Column], name: str) -> Table:
        """Return the table of the values by bucket, in an order that discloses nothing."""
        column, codes = compacted(columns[name], buckets.codes)
        order = np.lexsort([codes, buckets.of_place])
        link = columns[str(self._link)]
        encoded = [Encoded(link, buckets.of_place[order]), Encoded(column, codes[order])]
        before = self.table.source
        about = {name: _about(column, self.table)} if name in before.about else {}
        source = Source(before.origin, before.frame, before.details, about=about, files=before.files)
        return Table.of(encoded, len(order), source).assign(quasi=[link.name], sensitive=[name])


def _numbers(name: str, number: int) -> Column:
    """Return a column of bucket numbers."""
    return Column(name, Kind.INTEGER, pa.array(np.arange(1, number + 1)))


def _compacted(columns: Mapping[str, Column], engine: Engine) -> tuple[dict[str, Column], Engine]:
    """Remove values that occur in no released record: they must not be published with the release."""
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
    return "no role" if role is None else _LEFT_OUT.get(role)


def _about(column: Column, table: Table) -> About:
    """Return the description of a released column, without labels of values that do not occur in it."""
    about = table.source.about[column.name]
    return about.of(column.values.to_pylist()) if about.values else about
