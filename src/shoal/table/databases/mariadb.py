"""MariaDB and MySQL."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import WriteError
from shoal.progress import Hook, Progress
from shoal.table.column import Column
from shoal.table.databases.database import DATABASES
from shoal.table.databases.server import ROWS, Draft, Server, beside, plain_cells
from shoal.table.table import Table

if TYPE_CHECKING:
    import sqlalchemy as sa
    from sqlalchemy.types import TypeEngine

_TEXTS = 190  # maximum number of text columns, so that texts with a length fit into a row
_PACKET = 1 << 18  # characters of at most four bytes each
_DIGITS, _DECIMALS = 65, 38  # maximum digits and decimals of a number


class Mariadb(Server):
    """A MariaDB or MySQL server. Creating a table ends a transaction; renaming tables is atomic."""

    name = "mariadb"
    schemes = ("mariadb", "mysql")
    driver, package = "mysql+pymysql", "pymysql"
    transactional = False
    session = ("SET time_zone = '+00:00'", "SET sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'")
    snapshot = "REPEATABLE READ"
    # Characters are compared exactly and none is replaced, whatever the default of the database.
    table_options: ClassVar[Mapping[str, Any]] = {
        "mysql_engine": "InnoDB",
        "mysql_charset": "utf8mb4",
        "mysql_collate": "utf8mb4_bin",
    }
    random = "rand(0)"
    port, longest_name = 3306, 64
    longest = 64  # characters; a row holds at most 65,535 bytes of such texts

    def rename(self, connection: "sa.Connection", drafts: Sequence[Draft]) -> None:
        """Rename all old and new tables in one step, then drop the old ones.

        If the first drop fails, the renaming is undone.
        """
        for draft in drafts:
            if draft.there and _is_referred_to(connection, draft):
                raise WriteError(
                    "table-referenced",
                    "The table '{table}' cannot be replaced: other tables have foreign keys that refer to it.",
                    table=draft.name,
                )
        of = connection.dialect.identifier_preparer.format_table
        moves = []  # from, to
        for draft in drafts:
            name, aside = (beside(connection, draft.hidden, to) for to in (draft.name, f"{draft.hidden.name}_old"))
            moves += [(name, aside), (of(draft.hidden), name)] if draft.there else [(of(draft.hidden), name)]
        connection.exec_driver_sql("RENAME TABLE " + ", ".join(f"{old} TO {new}" for old, new in moves))
        asides = [beside(connection, draft.hidden, f"{draft.hidden.name}_old") for draft in drafts if draft.there]
        for place, aside in enumerate(asides):
            try:
                connection.exec_driver_sql(f"DROP TABLE {aside}")
            except Exception:
                if place == 0:  # all old tables still exist
                    back = ", ".join(f"{new} TO {old}" for old, new in reversed(moves))
                    connection.exec_driver_sql(f"RENAME TABLE {back}")
                raise

    def make(self, connection: "sa.Connection", hidden: "sa.Table") -> None:
        """Create a table, and check that it can be renamed before it is filled."""
        super().make(connection, hidden)
        new, aside = (beside(connection, hidden, name) for name in (hidden.name, f"{hidden.name}_old"))
        connection.exec_driver_sql(f"RENAME TABLE {new} TO {aside}")
        connection.exec_driver_sql(f"RENAME TABLE {aside} TO {new}")

    def fetch(
        self, connection: "sa.Connection", query: "sa.Select[Any]", schema: pa.Schema
    ) -> Generator[pa.RecordBatch]:
        """Yield the rows of a query; if it ends early, keep the driver from reading the remaining rows."""
        try:
            yield from super().fetch(connection, query, schema)
        except BaseException:
            with suppress(Exception):
                driver: Any = connection.connection.driver_connection
                driver._result.unbuffered_active = False  # noqa: SLF001 - it would read them on clean-up
            raise

    def selected(self, column: "sa.ColumnElement[Any]") -> "sa.ColumnElement[Any]":
        """Select single-precision numbers with all their digits, and times as text."""
        import sqlalchemy as sa
        from sqlalchemy.dialects import mysql

        if isinstance(column.type, mysql.FLOAT):
            return sa.type_coerce(column.op("+")(sa.literal_column("0e0")), sa.Double()).label(column.name)
        if isinstance(column.type, mysql.TIME):
            return sa.func.time_format(column, "%H:%i:%s.%f", type_=sa.String()).label(column.name)
        return column

    def fill(self, connection: "sa.Connection", target: "sa.Table", table: Table, progress: Hook) -> None:
        """Insert rows by statements assembled from pieces; each dictionary entry is converted to SQL once."""
        driver: Any = connection.connection.driver_connection
        insert = f"INSERT INTO {connection.dialect.identifier_preparer.format_table(target)} VALUES "  # noqa: S608
        done = 0
        with driver.cursor() as cursor:
            pieces = [_literals(column, lambda value: cursor.mogrify("%s", (value,))) for column in table.columns]
            for chunk in table.engine.chunks(table.names, ROWS):
                cells = [piece.take(pa.array(codes)) for piece, codes in zip(pieces, chunk, strict=True)]
                rows = pc.binary_join_element_wise(*cells, ",").to_pylist()
                for part in _packets(rows):
                    cursor.execute(f"{insert}({'),('.join(part)})")
                done += len(rows)
                progress(Progress("writing", done, table.records))

    def plain(self, arrow: pa.DataType) -> "TypeEngine[Any]":
        """Return the column type for numbers, dates or Booleans; times have microseconds."""
        from sqlalchemy.dialects import mysql

        if pa.types.is_boolean(arrow):
            return mysql.BIT(1)  # BOOLEAN is a number in MariaDB, and would be read back as one
        if pa.types.is_timestamp(arrow):
            return mysql.DATETIME(fsp=6)
        return mysql.TIME(fsp=6) if pa.types.is_time(arrow) else super().plain(arrow)

    def table_refusal(self, table: Table) -> str | None:
        """Return the reason why a table cannot be stored, or None."""
        if any("`" in name for name in table.names):
            return "names of columns may not have the character `"
        if len({name.lower() for name in table.names}) < len(table.names):
            return "two names of columns differ in nothing but capital letters"
        if sum(column.is_text or column.suppressed for column in table.columns) > _TEXTS:
            return f"it has more than {_TEXTS} columns of text"
        return super().table_refusal(table)

    def text(self, longest: int) -> "TypeEngine[Any]":
        """Return the column type for text: with a length if it is short, otherwise LONGTEXT."""
        from sqlalchemy.dialects import mysql

        return super().text(longest) if longest <= self.longest else mysql.LONGTEXT()

    def unfit(self, values: pa.Array) -> str | None:
        """Return the reason why the values cannot be stored, or None."""
        arrow = values.type
        if pa.types.is_floating(arrow) and not pc.all(pc.is_finite(values)).as_py():
            return "it holds infinite numbers"
        if pa.types.is_timestamp(arrow) and arrow.tz is not None:
            return "its times are those of a time zone"
        if pa.types.is_decimal(arrow) and (arrow.precision > _DIGITS or arrow.scale > _DECIMALS):
            return f"its numbers may have more than {_DIGITS} digits"
        return None


def _is_referred_to(connection: "sa.Connection", draft: Draft) -> bool:
    """Return whether foreign keys of other tables refer to a table."""
    import sqlalchemy as sa

    asked = "SELECT count(*) FROM information_schema.referential_constraints WHERE referenced_table_name = :name "
    asked += "AND unique_constraint_schema = coalesce(:schema, database()) AND table_name <> :name"
    return bool(connection.scalar(sa.text(asked), {"name": draft.name, "schema": draft.hidden.schema}))


def _literals(column: Column, literal: Callable[[Any], str]) -> pa.Array:
    """Return the SQL literal of each code of a column."""
    return pa.array([literal(value) for value in plain_cells(column.cells()).to_pylist()], pa.string())


def _packets(rows: list[str]) -> Iterator[list[str]]:
    """Split rows into packets that every server accepts."""
    start, size = 0, 0
    for place, row in enumerate(rows):
        size += len(row) + 3
        if size > _PACKET and place > start:
            yield rows[start:place]
            start, size = place, len(row) + 3
    if start < len(rows):
        yield rows[start:]


DATABASES.register("mariadb")(Mariadb())
