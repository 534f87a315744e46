"""The table: columns, the engine that holds their codes, and the role of each column."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.engines.memory import MemoryEngine
from shoal.engines.protocol import DistinctRows, Engine, Profiles
from shoal.engines.translated import translated
from shoal.errors import ColumnError, did_you_mean
from shoal.kernels.translation import Codes
from shoal.sheet import Presentable, Sheet
from shoal.table import frames
from shoal.table.about import About
from shoal.table.column import Column
from shoal.table.raw import Encoded
from shoal.table.reading_note import ReadingNote, united_notes
from shoal.table.role import Role
from shoal.words import counted

_CHUNK = 1 << 20  # records that are read at a time


@dataclass(frozen=True, slots=True)
class Source:
    """Provenance of a table.

    ``origin``: a file format, or "frame". ``frame``: the dataframe library for results. ``details``: properties of the
    source, as far as known. ``readings``: notes on how the source was read. ``about``: labels of columns and values.
    ``files``: the files that were read.
    """

    origin: str = "frame"
    frame: str = "pyarrow"
    details: Mapping[str, str] = field(default_factory=dict)
    readings: tuple[ReadingNote, ...] = ()
    about: Mapping[str, About] = field(default_factory=dict)
    files: tuple[Path, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes on how the source was read, one per fact, the most important first."""
        return tuple(map(str, united_notes(self.readings)))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Table(Presentable):
    """A dictionary-encoded dataset with column roles. Immutable; created by :func:`shoal.read`.

    >>> import shoal
    >>> table = shoal.read({"age": [34, 34, 71], "sex": ["f", "f", "m"]})
    >>> table.records, table.names
    (3, ('age', 'sex'))
    >>> table.distinct(["age", "sex"]).counts.tolist()
    [2, 1]
    """

    __module__ = "shoal"

    columns: tuple[Column, ...]
    engine: Engine
    roles: Mapping[str, Role] = field(default_factory=dict)
    source: Source = field(default_factory=Source)

    @classmethod
    def of(cls, encoded: Sequence[Encoded], rows: int, source: Source) -> "Table":
        """Create a table in memory from encoded columns."""
        codes = {part.column.name: part.codes for part in encoded}
        sizes = {part.column.name: part.column.size for part in encoded}
        return cls(tuple(part.column for part in encoded), MemoryEngine(codes, sizes, rows), source=source)

    def described(self, about: Mapping[str, About]) -> "Table":
        """Return the table with the given labels of columns and values."""
        return replace(self, source=replace(self.source, about=about))

    def only(self, names: Iterable[str]) -> "Table":
        """Return the table with a subset of its columns, in table order."""
        wanted = set(self._checked(names))
        roles = {name: role for name, role in self.roles.items() if name in wanted}
        return replace(self, columns=tuple(column for column in self.columns if column.name in wanted), roles=roles)

    def in_memory(self) -> "Table":
        """Return the table with its codes in memory, for operations that need single records.

        The codes take one to four bytes per cell.

        >>> import shoal
        >>> shoal.read({"age": [34, 71]}, engine="disk").in_memory().codes("age").tolist()
        [0, 1]
        """
        if isinstance(self.engine, MemoryEngine):
            return self
        codes = {name: self.codes(name) for name in self.names}
        sizes = {column.name: column.size for column in self.columns}
        return replace(self, engine=MemoryEngine(codes, sizes, self.records))

    def recoded(self, columns: Mapping[str, tuple[Column, Codes]]) -> "Table":
        """Return the table with some columns replaced.

        ``columns``: for each replaced column, the new column and the new code of every old code.

        >>> import shoal
        >>> table = shoal.read({"sex": ["f", "m"]})
        >>> other = Column("sex", table["sex"].kind, pa.array(["male", "woman"]))
        >>> table.recoded({"sex": (other, np.array([1, 0], np.uint8))}).to_frame("pyarrow").to_pydict()
        {'sex': ['woman', 'male']}
        """
        replaced = tuple(columns[column.name][0] if column.name in columns else column for column in self.columns)
        tables = {name: table for name, (_, table) in columns.items()}
        engine = translated(self.engine, tables, {name: column.size for name, (column, _) in columns.items()})
        return replace(self, columns=replaced, engine=engine)

    @property
    def records(self) -> int:
        """Number of records (rows)."""
        return self.engine.rows

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)

    def __len__(self) -> int:
        return self.records

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __getitem__(self, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        raise ColumnError.unknown(name, self.names)

    def __post_init__(self) -> None:
        object.__setattr__(self, "roles", MappingProxyType(dict(self.roles)))

    def codes(self, name: str) -> Codes:
        """Return the codes of a column, one per record. They must not be modified."""
        whole = [codes for (codes,) in self.engine.chunks([self[name].name], max(self.records, 1))]
        return whole[0] if len(whole) == 1 else np.concatenate([np.empty(0, np.uint8), *whole])

    def codes_at(self, names: Sequence[str], records: NDArray[np.intp]) -> dict[str, Codes]:
        """Return the codes of some records, given in ascending order; no record after the last one is read.

        >>> import shoal
        >>> table = shoal.read({"age": [31, 34, 71]})
        >>> table.codes_at(["age"], np.array([0, 2]))["age"].tolist()
        [0, 2]
        """
        parts: list[tuple[Codes, ...]] = []
        begin, columns = 0, [self[name].name for name in names]
        for codes in self.engine.chunks(columns, _CHUNK) if columns and len(records) else ():
            first, last = np.searchsorted(records, [begin, begin + len(codes[0])])
            parts.append(tuple(column[records[first:last] - begin] for column in codes))
            begin += len(codes[0])
            if last == len(records):
                break
        together = [np.concatenate(column) for column in zip(*parts, strict=True)]
        return dict(zip(columns, together or [np.empty(0, np.uint8)] * len(columns), strict=True))

    def counts(self, name: str) -> NDArray[np.int64]:
        """Return the number of records per code of a column."""
        rows = self.engine.distinct([self[name].name])
        counts = np.zeros(self[name].size, np.int64)
        counts[rows.codes[0]] = rows.counts
        return counts

    def persons(self, name: str) -> NDArray[np.int64]:
        """Return the number of persons per code of a column. Without a subject column, every record is a person."""
        if self.subject is None:
            return self.counts(name)
        rows = self.engine.distinct([self[name].name, self.subject])
        return np.bincount(rows.codes[0], minlength=self[name].size)

    @property
    def person_count(self) -> int:
        """Number of persons. Without a subject column, every record is a person."""
        return self.records if self.subject is None else int(np.count_nonzero(self.counts(self.subject)))

    def with_role(self, role: Role) -> tuple[str, ...]:
        """Return the columns with a role, in table order."""
        return tuple(name for name in self.names if self.roles.get(name) is role)

    @property
    def quasi(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return self.with_role(Role.QUASI)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive columns."""
        return self.with_role(Role.SENSITIVE)

    @property
    def subject(self) -> str | None:
        """The column that identifies the person of a record, or None."""
        return next(iter(self.with_role(Role.SUBJECT)), None)

    def assign(self, **roles: str | Iterable[str] | None) -> "Table":
        """Return the table with roles assigned to columns; other columns keep their roles.

        A role that is limited to one column is taken from its previous column.

        >>> import shoal
        >>> table = shoal.read({"id": [1, 2], "age": [34, 71]})
        >>> table.assign(subject="id", quasi=["age"]).roles["id"]
        <Role.SUBJECT: 'subject'>
        """
        wanted: dict[str, Role] = {}
        for word, names in roles.items():
            role = _role(word)
            for name in _as_names(names):
                _check_fitting(self, self[name], role)
                if wanted.setdefault(name, role) is not role:
                    raise ColumnError(
                        "two-roles",
                        "Column '{column}' has two roles: {role} and {other}.",
                        column=name,
                        role=wanted[name],
                        other=role,
                    )
        for role in filter(lambda role: role.single, Role):
            holders = [name for name, wanted_role in wanted.items() if wanted_role is role]
            if len(holders) > 1:
                raise ColumnError(
                    "several-with-role",
                    "Only one column can be the {role}, and {columns} are given.",
                    role=role,
                    columns=len(holders),
                )
        kept = {name: role for name, role in self.roles.items() if not (role.single and role in wanted.values())}
        return replace(self, roles={**kept, **wanted})

    def taking(self, **roles: str | Iterable[str] | None) -> "Table":
        """Return the table with the given roles replaced.

        The columns named for a role replace all previous columns of that role. A quasi-identifier never loses its role
        implicitly: a smaller set of quasi-identifiers appears safer than it is.

        >>> import shoal
        >>> table = shoal.read({"age": [34], "dx": ["flu"]}).assign(quasi=["age"])
        >>> table.taking(sensitive="dx", subject=None).quasi
        ('age',)
        """
        given = {role: _as_names(names) for role, names in roles.items() if names is not None}
        for role, name in ((role, name) for role, names in given.items() for name in names):
            if "quasi" not in given and name in self.quasi:
                raise ColumnError(
                    "two-roles",
                    "Column '{column}' is a quasi-identifier and cannot be {role} as well.",
                    remedy="Name the quasi-identifiers again, without it.",
                    column=name,
                    role=role,
                )
        kept = {name: role for name, role in self.roles.items() if role not in given}
        return replace(self, roles=kept).assign(**given)

    def distinct(self, columns: Iterable[str] | None = None) -> DistinctRows:
        """Return the distinct rows of some columns (default: all), with counts."""
        return self.engine.distinct(self._checked(columns))

    def profiles(self, columns: Iterable[str] | None = None) -> Profiles:
        """Return the profiles of persons in some columns (default: all).

        Persons with the same set of distinct rows share a profile. Without a subject column, every record is a person.
        """
        if self.subject is None:
            return _records_as_persons(self.distinct(columns))
        names = tuple(name for name in self._checked(columns) if name != self.subject)
        column = self[self.subject]
        if column.missing or column.suppressed:
            count = int(np.count_nonzero(self.codes(self.subject) >= len(column.values)))
            raise ColumnError(
                "subject-missing",
                "The subject column '{column}' is empty in {records:record}.",
                remedy="Give these records an identifier, or remove them.",
                column=self.subject,
                records=count,
            )
        return self.engine.profiles(names, self.subject)

    def _checked(self, columns: Iterable[str] | None) -> tuple[str, ...]:
        return self.names if columns is None else tuple(self[name].name for name in _as_names(columns))

    def batches(self, size: int = 1 << 16) -> Iterator[pa.RecordBatch]:
        """Yield the records as Arrow batches, in input order."""
        cells = [column.cells() for column in self.columns]
        for chunk in self.engine.chunks(self.names, size):
            arrays = [written.take(pa.array(codes)) for written, codes in zip(cells, chunk, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, names=list(self.names))

    def to_arrow(self) -> pa.Table:
        """Return the records as an Arrow table."""
        return pa.Table.from_batches(list(self.batches()), self.schema())

    def schema(self) -> pa.Schema:
        """Return the Arrow types of the columns."""
        return pa.schema([(column.name, column.cells().type) for column in self.columns])

    def to_frame(self, kind: str | None = None) -> Any:
        """Return the records as a dataframe of the named library; default: the library of the source.

        >>> import shoal
        >>> shoal.read({"age": [34, 71]}).to_frame("pyarrow").column("age").to_pylist()
        [34, 71]
        """
        return frames.to_frame(self.to_arrow(), kind or self.source.frame)

    def sheet(self) -> Sheet:
        """Return an overview of the columns: kind, role, missing and suppressed values, number of distinct values."""
        rows = []
        for column in self.columns:
            gaps = [name for name, there in (("missing", column.missing), ("suppressed", column.suppressed)) if there]
            role = self.roles.get(column.name)
            some = f"some {' and '.join(gaps)}" if gaps else ""
            rows.append((column.name, str(column.kind), str(role or ""), some, f"{len(column.values):,}"))
        title = f"Table: {counted(self.records, 'record')} × {counted(len(self.columns), 'column')}"
        return Sheet(title, ("column", "kind", "role", "", "values"), tuple(rows), words=4)


def _as_names(names: str | Iterable[str] | None) -> tuple[str, ...]:
    if names is None:
        return ()
    if isinstance(names, str):
        return (names,)
    listed = tuple(names) if isinstance(names, Iterable) else (names,)
    if not all(isinstance(name, str) for name in listed):
        raise ColumnError("not-a-list", "Columns must be given as a list of names.")
    twice = next((name for place, name in enumerate(listed) if name in listed[:place]), None)
    if twice is not None:
        raise ColumnError("column-twice", "Column '{column}' is named twice.", column=twice)
    return listed


def _role(word: str) -> Role:
    if word not in set(Role):
        raise ColumnError(
            "unknown-role",
            "There is no role '{role}'.",
            remedy=did_you_mean(word, Role) or "Available: {roles:listed}.",
            role=word,
            roles=list(Role),
        )
    return Role(word)


def _check_fitting(table: Table, column: Column, role: Role) -> None:
    """Reject a weight column unless it contains a positive number in every record."""
    if role is not Role.WEIGHT:
        return
    if not column.kind.numeric or column.missing or column.suppressed:
        raise ColumnError(
            "bad-weight",
            "Column '{column}' cannot be the weight: it must contain a number in every record.",
            column=column.name,
        )
    if len(column.values) and column.values[0].as_py() <= 0:
        count = int(np.count_nonzero(np.less_equal(column.values.to_numpy(), 0)[table.codes(column.name)]))
        raise ColumnError(
            "bad-weight",
            "Column '{column}' cannot be the weight: {records:record} have 0 or less.",
            column=column.name,
            records=count,
        )


def _records_as_persons(rows: DistinctRows) -> Profiles:
    every = np.arange(len(rows), dtype=np.uint32)
    return Profiles(rows, rows.counts, np.arange(len(rows) + 1), every, rows.origin)
