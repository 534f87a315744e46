"""Database servers: common implementation on top of SQLAlchemy."""

import secrets
from abc import abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import ColumnError, ReadError, ShoalError, WriteError, did_you_mean
from shoal.progress import Hook, Progress
from shoal.remedy import FixedText, Option, either
from shoal.table.column import Column, as_text
from shoal.table.databases.database import Address, Database, Stored
from shoal.table.formats.lines import has_odd_years, is_too_fine
from shoal.table.table import Table
from shoal.words import listed

if TYPE_CHECKING:
    import sqlalchemy as sa
    from sqlalchemy.types import TypeEngine

    from shoal.table.databases.sql.failure import Failing
    from shoal.table.databases.sql.stored import SqlTable

ROWS = 1 << 15  # rows sent or fetched at a time
_PARTIAL = "shoal_partial_"
_HERE = (None, "127.0.0.1", "::1", "localhost")


@dataclass(frozen=True, slots=True)
class Draft:
    """A table under a temporary name, its final name, and whether a table of that name already exists."""

    hidden: "sa.Table"
    name: str
    there: bool


class Server(Database):
    """A database server that SQLAlchemy supports.

    ``driver``: driver name of SQLAlchemy. ``package``: Python package to be installed. ``transactional``: whether the
    creation of a table is part of a transaction and can be rolled back. ``session``: statements executed first on every
    connection. ``snapshot``: isolation level for repeatable reads. ``table_options``: options for creating tables.
    ``random``: SQL expression for a random number from 0 to 1 per row.
    """

    driver: ClassVar[str]
    package: ClassVar[str]
    transactional: ClassVar[bool] = True
    session: ClassVar[tuple[str, ...]] = ()
    snapshot: ClassVar[str | None] = None
    table_options: ClassVar[Mapping[str, Any]] = {}
    parameters: ClassVar[Mapping[str, Any]] = {"connect_timeout": 10}
    random: ClassVar[str] = "random()"
    port: ClassVar[int]
    longest_name: ClassVar[int] = 128  # bytes
    longest: ClassVar[int] = 255  # maximum characters of a text type with a length

    @contextmanager
    def opened(self, address: Address, names: Sequence[str | None]) -> Iterator[tuple[Stored, ...]]:
        """Open tables for reading; at the isolation level ``snapshot``, concurrent changes are not visible."""
        with self._connected(address, ReadError, self.snapshot) as (connection, failing):
            with failing.reading():
                tables = [self._reflected(connection, address, name) for name in names]
            yield tuple(
                self._stored(connection, table, failing, self._place(connection, address, table.schema, table.name))
                for table in tables
            )

    @contextmanager
    def replacing(
        self, address: Address, tables: Mapping[str, Table], progress: Hook, *, force: bool
    ) -> Iterator[dict[str, Stored]]:
        """Write tables under temporary names, and rename them at the end."""
        with self._connected(address, WriteError) as (connection, failing):
            with failing.writing():
                drafts = {name: self._draft(connection, address, name, table) for name, table in tables.items()}
            _check_free(drafts, force=force)
            try:
                with failing.writing():
                    for name, draft in drafts.items():
                        self.make(connection, draft.hidden)
                        self.fill(connection, draft.hidden, tables[name], progress)
                    if not self.transactional:
                        connection.commit()
                yield {name: self._stored(connection, draft.hidden, failing) for name, draft in drafts.items()}
                with failing.writing():
                    self.rename(connection, list(drafts.values()))
                    connection.commit()
            except BaseException:
                self._undo(connection, [draft.hidden for draft in drafts.values()], address)
                raise

    def make(self, connection: "sa.Connection", hidden: "sa.Table") -> None:
        """Create a table."""
        hidden.create(connection)

    @abstractmethod
    def rename(self, connection: "sa.Connection", drafts: "Sequence[Draft]") -> None:
        """Rename tables to their final names; existing tables of these names are dropped."""

    def url(self, address: Address) -> "sa.URL":
        """Return the SQLAlchemy URL of an address."""
        import sqlalchemy as sa

        place = (address.host, address.port, address.path or None)
        return sa.URL.create(self.driver, address.user, address.password(), *place, query=dict(address.more))

    def text(self, longest: int) -> "TypeEngine[Any]":
        """Return the column type for text of at most ``longest`` characters."""
        import sqlalchemy as sa

        return sa.Unicode(max(longest, 1)) if longest <= self.longest else sa.UnicodeText()

    def plain(self, arrow: pa.DataType) -> "TypeEngine[Any]":
        """Return the column type for numbers, dates or Booleans."""
        from shoal.table.databases.sql.types import sql_type

        return sql_type(arrow)

    def fetch(
        self, connection: "sa.Connection", query: "sa.Select[Any]", schema: pa.Schema
    ) -> Generator[pa.RecordBatch]:
        """Yield the rows of a query in batches."""
        from shoal.table.databases.sql.types import cells

        query = query.with_only_columns(*map(self.selected, query.selected_columns))
        streaming = connection.execution_options(stream_results=True, max_row_buffer=ROWS)
        for rows in streaming.execute(query).partitions(ROWS):
            columns = zip(schema, zip(*rows, strict=True), strict=True)
            arrays = [_readable(cells(values, field.type), field.name) for field, values in columns]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    def selected(self, column: "sa.ColumnElement[Any]") -> "sa.ColumnElement[Any]":
        """Return the expression that selects a column without altering its values."""
        return column

    def fill(self, connection: "sa.Connection", target: "sa.Table", table: Table, progress: Hook) -> None:
        """Insert all records into a table created for them."""
        for batch in plain_batches(table, progress):
            connection.execute(target.insert(), batch.to_pylist())

    def refusal(self, column: Column) -> str | None:
        """Return the reason why a column cannot be stored, or None. With suppressed cells, it is stored as text."""
        written = as_text(column.values) if column.suppressed else column.values
        return _out_of_time(written) or self.unfit(written)

    def unfit(self, values: pa.Array) -> str | None:
        """Return the reason why this server cannot store the values, or None."""
        del values
        return None

    def table_refusal(self, table: Table) -> str | None:
        """Return the reason why a table cannot be stored, or None."""
        long = next((name for name in table.names if len(name.encode()) > self.longest_name), None)
        return None if long is None else f"names of columns may have at most {self.longest_name} bytes, unlike '{long}'"

    @contextmanager
    def _connected(
        self, address: Address, error: type[ShoalError], snapshot: str | None = None
    ) -> Iterator[tuple["sa.Connection", "Failing"]]:
        if find_spec("sqlalchemy") is None or find_spec(self.package) is None:
            raise error(
                "not-installed",
                "The driver of {database} is not installed.",
                remedy="Run pip install 'shoal[{database}]'.",
                database=self.name,
            )
        import sqlalchemy as sa

        from shoal.table.databases.sql.failure import Failing

        failing = Failing(address)
        url = self.url(address)
        with failing.connecting(error):
            how = {} if snapshot is None else {"isolation_level": snapshot}
            engine = sa.create_engine(url, poolclass=sa.NullPool, connect_args=dict(self.parameters), **how)
            connection = engine.connect()
        try:
            with failing.connecting(error):
                for statement in self.session:
                    connection.exec_driver_sql(statement)
                connection.commit()
            yield connection, failing
        finally:
            with suppress(Exception):  # a lost connection cannot be closed
                connection.close()

    def _stored(
        self, connection: "sa.Connection", table: "sa.Table", failing: "Failing", place: str = ""
    ) -> "SqlTable":
        from shoal.table.databases.sql.stored import SqlTable

        return SqlTable(connection, table, self, failing, place)

    def _place(self, connection: "sa.Connection", address: Address, schema: str | None, name: str) -> str:
        """Return an identifier of a table that is the same for all users."""
        host = "localhost" if address.host in _HERE else address.host
        where = f"{self.name}://{host}:{address.port or self.port}/{address.path}"
        return f"{where}/{schema or connection.dialect.default_schema_name}.{name}"

    def _draft(self, connection: "sa.Connection", address: Address, name: str, table: Table) -> "Draft":
        if not name:
            raise WriteError(
                "no-table-named", "The address names no table to write to.", remedy="Add ?table=release to the address."
            )
        schema, short, there = _target(connection, name)
        if len(short.encode()) > self.longest_name:
            raise WriteError(
                "table-name-too-long", "Table names may have at most {most} bytes.", most=self.longest_name
            )
        if table.source.details.get("stored") == self._place(connection, address, schema, short):
            raise WriteError(
                "overwrites-input",
                "The table '{table}' is the one that the data were read from.",
                remedy="Write to another name.",
                table=name,
            )
        return Draft(self._hidden(table, schema), short, there=there)

    def _reflected(self, connection: "sa.Connection", address: Address, name: str | None) -> "sa.Table":
        """Return the named table; without a name, the only table."""
        from shoal.table.databases.sql.stored import reflected

        names = _names(connection)
        if name is None and len(names) == 1:
            return reflected(connection, names[0], None)
        if name is None:
            what = "has several tables" if names else "has no tables that this user may see"
            raise ReadError(
                "unknown-table",
                "'{address}' {what}.",
                remedy=[FixedText(f"Tables: {listed(names)}."), either("Add ?table=… to the address", Option("table"))]
                if names
                else None,
                address=address,
                what=what,
            )
        schema, short, there = _target(connection, name)
        if not there:
            raise ReadError(
                "unknown-table",
                "'{address}' has no table '{table}'.",
                remedy=did_you_mean(name, names),
                address=address,
                table=name,
            )
        return reflected(connection, short, schema)

    def _hidden(self, table: Table, schema: str | None) -> "sa.Table":
        """Return the definition of a table with an unused temporary name."""
        import sqlalchemy as sa

        columns = [sa.Column(column.name, self._type(column)) for column in table.columns]
        name = f"{_PARTIAL}{secrets.token_hex(6)}"
        return sa.Table(name, sa.MetaData(), *columns, schema=schema, **self.table_options)

    def _type(self, column: Column) -> "TypeEngine[Any]":
        arrow = column.cells().type
        if not column.suppressed and not column.is_text:
            return self.plain(arrow)
        return self.text(pc.max(pc.utf8_length(as_text(column.values))).as_py() or 1)

    def _undo(self, connection: "sa.Connection", hidden: "Sequence[sa.Table]", address: Address) -> None:
        """Remove all temporary tables, even if the connection is lost."""
        with suppress(Exception):
            connection.rollback()
        if self.transactional:
            return  # the server discards uncommitted tables
        with suppress(Exception), self._connected(address, WriteError) as (other, _):
            for table in hidden:
                table.drop(other, checkfirst=True)
            other.commit()
            return
        raise WriteError(
            "not-removed",
            "Writing to '{address}' failed, and temporary tables could not be removed. Their names begin with "
            "{prefix}.",
            remedy="They are not releases: drop them when the server is available again.",
            address=address,
            prefix=_PARTIAL,
        ) from None


def unreadable(name: str) -> ColumnError:
    """Return the error for values outside the type of a column."""
    return ColumnError(
        "values-outside-type",
        "Column '{column}' contains values outside its type, such as infinite dates or numbers with more than 18 "
        "decimals.",
        remedy=either("Cast it in a view", Option("columns")),
        column=name,
    )


def _readable(cells: pa.Array | None, name: str) -> pa.Array:
    if cells is None:
        raise unreadable(name)
    return cells


def _check_free(drafts: Mapping[str, Draft], *, force: bool) -> None:
    there = next((name for name, draft in drafts.items() if draft.there), None)
    if there is not None and not force:
        raise WriteError(
            "table-exists",
            "The table '{table}' already exists.",
            remedy=either("Give another name", Option("force", True)),
            table=there,
        )


def beside(connection: "sa.Connection", table: "sa.Table", name: str) -> str:
    """Return the quoted SQL name of another table in the same schema."""
    of = connection.dialect.identifier_preparer
    return f"{of.quote_schema(table.schema)}.{of.quote(name)}" if table.schema else of.quote(name)


def _names(connection: "sa.Connection") -> list[str]:
    import sqlalchemy as sa

    inspector = sa.inspect(connection)
    return sorted([*inspector.get_table_names(), *inspector.get_view_names()])


def _target(connection: "sa.Connection", table: str) -> tuple[str | None, str, bool]:
    """Return the schema and the name of a table, and whether it exists."""
    import sqlalchemy as sa

    inspector = sa.inspect(connection)
    if inspector.has_table(table):
        return None, table, True
    schema, dot, name = table.partition(".")
    if not dot:
        return None, table, False
    return schema, name, bool(inspector.has_table(name, schema))


def plain_batches(table: Table, progress: Hook) -> Iterator[pa.RecordBatch]:
    """Yield records in types that drivers accept, and report progress."""
    done = 0
    for batch in table.batches(ROWS):
        yield pa.RecordBatch.from_arrays([plain_cells(cells) for cells in batch.columns], batch.schema.names)
        done += batch.num_rows
        progress(Progress("writing", done, table.records))


def plain_cells(cells: pa.Array) -> pa.Array:
    """Return cells in types that Python supports."""
    if pa.types.is_dictionary(cells.type):
        return cells.dictionary_decode()
    if pa.types.is_timestamp(cells.type):
        return cells.cast(pa.timestamp("us", cells.type.tz))
    if pa.types.is_floating(cells.type):
        return cells.cast(pa.float64())
    return cells.cast(pa.time64("us")) if pa.types.is_time(cells.type) else cells


def _out_of_time(values: pa.Array) -> str | None:
    """Return a reason if dates or times exceed the range or precision of servers, otherwise None."""
    if has_odd_years(values):
        return "it holds dates before the year 1 or after 9999"
    timed = pa.types.is_timestamp(values.type) or pa.types.is_time(values.type)
    return "it holds times that are finer than microseconds" if timed and is_too_fine(values) else None
