"""Stored tables: tables of an SQL database, read over an open connection."""

import warnings
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from shoal.errors import ReadError
from shoal.progress import Hook, Progress, silent
from shoal.remedy import Option
from shoal.table.databases.database import Stored
from shoal.table.databases.sql.failure import Failing
from shoal.table.databases.sql.types import arrow_type, as_numbers, as_stored, is_padded
from shoal.table.formats.format import check_options
from shoal.table.options import Options
from shoal.table.schema import columns_of
from shoal.table.streamed import read_batches
from shoal.table.table import Source, Table


class Speaks(Protocol):
    """Interface of a server: its name, its expression for random numbers, and the retrieval of rows."""

    @property
    def name(self) -> str:
        """Name of the server."""
        ...

    @property
    def random(self) -> str:
        """SQL expression for a random number from 0 to 1 per row."""
        ...

    def fetch(self, connection: sa.Connection, query: sa.Select[Any], schema: pa.Schema) -> Generator[pa.RecordBatch]:
        """Yield the rows of a query in batches; ``schema`` states the types of its columns."""
        ...


@dataclass(frozen=True, slots=True)
class SqlTable(Stored):
    """A table of an SQL database.

    ``server``: the server of the table. ``failing``: reports failures. ``place``: identifier that is unique among all
    tables.
    """

    connection: sa.Connection
    table: sa.Table
    server: Speaks
    failing: Failing
    place: str

    def read(self, options: Options, progress: Hook) -> Table:
        """Read all rows, ordered by the primary key if there is one."""
        self._check(options)
        with self.failing.reading():
            total = self.records()
        query = sa.select(self.table).order_by(*self.table.primary_key.columns)

        def hook(seen: Progress) -> None:
            progress(replace(seen, total=total))

        table = self._read(query, options, hook)
        if table.records != total:
            raise ReadError(
                "incomplete",
                "The table has {total:,} records, but {records:,} were received.",
                remedy="Try again.",
                total=total,
                records=table.records,
            )
        return table

    def sample(self, options: Options, most: int) -> tuple[Table, int]:
        """Return a random sample of rows, drawn by the server, and the number of all rows."""
        self._check(options)
        with self.failing.reading():
            total = self.records()
        query = sa.select(self.table)
        if total > most:
            query = query.where(sa.text(f"{self.server.random} < {most / total}"))
        return self._read(query, options, silent), total

    def records(self) -> int:
        """Return the number of rows."""
        return int(self.connection.scalar(sa.select(sa.func.count()).select_from(self.table)) or 0)

    def _check(self, options: Options) -> None:
        check_options(options, self.server.name, ("table",))
        if options.engine not in {"memory", "disk"}:
            raise ReadError(
                "engine-of-source",
                "A table of {server} cannot be processed by the engine {engine}.",
                remedy=Option("engine", "disk"),
                server=self.server.name,
                engine=options.engine,
            )

    def _read(self, query: sa.Select[Any], options: Options, progress: Hook) -> Table:
        whole = pa.schema([(column.name, arrow_type(column.type)) for column in self.table.columns])
        names, notes = columns_of(whole, options)
        schema = pa.schema([whole.field(name) for name in names])
        chosen = [self.table.columns[name] for name in names]
        as_numbers(chosen)
        source = Source(self.server.name, details={"stored": self.place})
        fetched = self.server.fetch(self.connection, query.with_only_columns(*chosen), schema)
        with self.failing.reading(), closing(fetched) as batches:
            table = read_batches(schema, map(_Trimmed(chosen), batches), options, source, progress)
        columns = [
            replace(column, values=as_stored(column.values, schema.field(column.name).type)) for column in table.columns
        ]
        return replace(table, columns=tuple(columns), source=replace(table.source, readings=notes))


class _Trimmed:
    """Removes the trailing blanks with which fixed-width columns pad text."""

    def __init__(self, columns: Sequence[sa.Column[Any]]) -> None:
        self._padded = [place for place, column in enumerate(columns) if is_padded(column.type)]

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        for place in self._padded:
            batch = batch.set_column(place, batch.schema[place], pc.utf8_rtrim(batch.column(place), " "))
        return batch


def reflected(connection: sa.Connection, name: str, schema: str | None) -> sa.Table:
    """Read the column definitions of a table; columns of unknown types can still be omitted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.exc.SAWarning)
        return sa.Table(name, sa.MetaData(), schema=schema, autoload_with=connection, resolve_fks=False)
