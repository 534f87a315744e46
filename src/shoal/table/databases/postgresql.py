"""PostgreSQL."""

import re
from collections.abc import Generator, Iterator, Sequence
from io import BufferedReader, BytesIO, RawIOBase
from itertools import islice
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from shoal.progress import Hook
from shoal.table.databases.database import DATABASES
from shoal.table.databases.server import Draft, Server, beside, plain_batches, unreadable
from shoal.table.table import Table

if TYPE_CHECKING:
    import sqlalchemy as sa
    from sqlalchemy.types import TypeEngine


class Postgresql(Server):
    """A PostgreSQL server; rows are transferred by COPY."""

    name = "postgresql"
    schemes = ("postgresql", "postgres")
    driver, package = "postgresql+psycopg", "psycopg"
    session = ("SET TIME ZONE 'UTC'", "SET client_encoding TO 'UTF8'", "SET DateStyle TO ISO", "SELECT setseed(0)")
    snapshot = "REPEATABLE READ"
    port, longest_name = 5432, 63

    def rename(self, connection: "sa.Connection", drafts: Sequence[Draft]) -> None:
        """Rename the tables within the transaction."""
        of = connection.dialect.identifier_preparer
        for draft in drafts:
            if draft.there:
                connection.exec_driver_sql(f"DROP TABLE {beside(connection, draft.hidden, draft.name)}")
            connection.exec_driver_sql(f"ALTER TABLE {of.format_table(draft.hidden)} RENAME TO {of.quote(draft.name)}")

    def text(self, longest: int) -> "TypeEngine[Any]":
        """Return the column type for text, which needs no length in PostgreSQL."""
        import sqlalchemy as sa

        del longest
        return sa.Text()

    def fetch(
        self, connection: "sa.Connection", query: "sa.Select[Any]", schema: pa.Schema
    ) -> Generator[pa.RecordBatch]:
        """Fetch rows as CSV, which Arrow parses; all text is quoted, so that none of it is interpreted."""
        from sqlalchemy.dialects import postgresql

        plain: Any = postgresql.dialect(paramstyle="named")  # type: ignore[no-untyped-call] # nothing is escaped
        sql = query.compile(dialect=plain, compile_kwargs={"literal_binds": True})
        texts = ", ".join(
            plain.identifier_preparer.quote(field.name) for field in schema if pa.types.is_string(field.type)
        )
        how = f"FORMAT csv, FORCE_QUOTE ({texts})" if texts else "FORMAT csv"
        cursor: Any = connection.connection.cursor()
        with cursor, cursor.copy(f"COPY ({sql}) TO STDOUT ({how})") as copy:
            lines = _Lines(iter(copy))
            try:
                yield from _parsed(BufferedReader(lines), schema)
            except Exception:
                if lines.failed is not None:
                    raise lines.failed from None
                raise

    def fill(self, connection: "sa.Connection", target: "sa.Table", table: Table, progress: Hook) -> None:
        """Send rows as CSV: quoted cells are text, empty cells without quotes are missing."""
        of = connection.dialect.identifier_preparer
        cursor: Any = connection.connection.cursor()
        with cursor, cursor.copy(f"COPY {of.format_table(target)} FROM STDIN (FORMAT csv)") as copy:
            for batch in plain_batches(table, progress):
                lines = BytesIO()
                csv.write_csv(batch, lines, csv.WriteOptions(include_header=False))
                copy.write(lines.getbuffer())

    def unfit(self, values: pa.Array) -> str | None:
        """Return the reason why the values cannot be stored, or None."""
        text = pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
        nul = text and pc.any(pc.match_substring(values, "\0")).as_py()
        return "it holds text with the character NUL" if nul else None


class _Lines(RawIOBase):
    """Data received from a server, as a file."""

    def __init__(self, parts: Iterator[memoryview]) -> None:
        self._parts = parts
        self._rest = memoryview(b"")
        self.failed: BaseException | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        if not self._rest:
            try:
                self._rest = memoryview(b"".join(islice(self._parts, 1 << 12)))  # each part is a row
            except BaseException as error:
                self.failed = error  # Arrow would report another error
                raise
        size = min(len(room), len(self._rest))
        room[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size


def _parsed(lines: BufferedReader, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield the rows of CSV without a header; empty cells without quotes and NaN are missing."""
    if not lines.peek(1):
        return
    converted = csv.ConvertOptions(
        column_types=schema,
        null_values=["", "NaN"],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        true_values=["t"],
        false_values=["f"],
    )
    how = csv.ReadOptions(column_names=schema.names, block_size=1 << 22)
    parsed = csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False)
    try:
        with csv.open_csv(lines, how, parsed, converted) as reader:  # it reads ahead; to be closed before the lines
            yield from reader
    except pa.ArrowInvalid as error:
        place = re.search(r"column #(\d+)", str(error))
    else:
        return
    raise unreadable("" if place is None else schema.names[int(place[1])])


DATABASES.register("postgresql")(Postgresql())
