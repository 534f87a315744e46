"""MariaDB and MySQL."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from shoal.progress import Hook, Progress
from shoal.table.column import Column
from shoal.table.databases.database import DATABASES
from shoal.table.databases.server import ROWS, Server, beside, plain_cells
from shoal.table.table import Table

if TYPE_CHECKING:
    import sqlalchemy as sa
    from sqlalchemy.types import TypeEngine

_PACKET = 1 << 18  # letters, of at most four bytes each
_DIGITS, _DECIMALS = 65, 38  # that a number may have


class Mariadb(Server):
    """A MariaDB or MySQL server. To make a table ends a transaction here; to rename it is one step."""

    name = "mariadb"
    schemes = ("mariadb", "mysql")
    driver, package = "mysql+pymysql", "pymysql"
    transactional = False
    session = ("SET time_zone = '+00:00'", "SET sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'")
    snapshot = "REPEATABLE READ"
    # Letters are compared as they are, whatever the database does with others; no letter is replaced.
    made: ClassVar[Mapping[str, Any]] = {
        "mysql_engine": "InnoDB",
        "mysql_charset": "utf8mb4",
        "mysql_collate": "utf8mb4_bin",
    }
    random = "rand(0)"
    longest_name = 64
    longest = 64  # a row has room for 65,535 bytes of such texts

    def rename(self, connection: "sa.Connection", hidden: "sa.Table", name: str, *, there: bool) -> None:
        """Rename the old and the new table in one step."""
        new = connection.dialect.identifier_preparer.format_table(hidden)
        target, old = (beside(connection, hidden, one) for one in (name, f"{hidden.name}_old"))
        if there:
            connection.exec_driver_sql(f"RENAME TABLE {target} TO {old}, {new} TO {target}")
            connection.exec_driver_sql(f"DROP TABLE {old}")
        else:
            connection.exec_driver_sql(f"RENAME TABLE {new} TO {target}")

    def fill(self, connection: "sa.Connection", made: "sa.Table", table: Table, progress: Hook) -> None:
        """Send rows as statements that are put together from pieces: every value is made SQL once."""
        driver: Any = connection.connection.driver_connection
        insert = f"INSERT INTO {connection.dialect.identifier_preparer.format_table(made)} VALUES "  # noqa: S608
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
        """Return the type of numbers, dates or truth values; times have microseconds."""
        from sqlalchemy.dialects import mysql

        if pa.types.is_boolean(arrow):
            return mysql.BIT(1)  # BOOLEAN is a number there, and would come back as one
        if pa.types.is_timestamp(arrow):
            return mysql.DATETIME(fsp=6)
        return mysql.TIME(fsp=6) if pa.types.is_time(arrow) else super().plain(arrow)

    def table_refusal(self, table: Table) -> str | None:
        """Say why a table cannot be held."""
        odd = any("`" in name for name in table.names)
        return "names of columns may not have the character `" if odd else super().table_refusal(table)

    def unfit(self, values: pa.Array) -> str | None:
        """Say why values cannot be held."""
        arrow = values.type
        if pa.types.is_floating(arrow) and not pc.all(pc.is_finite(values)).as_py():
            return "it holds infinite numbers"
        if pa.types.is_timestamp(arrow) and arrow.tz is not None:
            return "its times are those of a time zone"
        if pa.types.is_decimal(arrow) and (arrow.precision > _DIGITS or arrow.scale > _DECIMALS):
            return f"its numbers may have more than {_DIGITS} digits"
        return None


def _literals(column: Column, literal: Callable[[Any], str]) -> pa.Array:
    """Return how each code of a column is written in SQL."""
    return pa.array([literal(value) for value in plain_cells(column.cells()).to_pylist()], pa.string())


def _packets(rows: list[str]) -> Iterator[list[str]]:
    """Cut rows into parts that every server takes in one piece."""
    start, size = 0, 0
    for place, row in enumerate(rows):
        size += len(row) + 3
        if size > _PACKET and place > start:
            yield rows[start:place]
            start, size = place, len(row) + 3
    if start < len(rows):
        yield rows[start:]


DATABASES.register("mariadb")(Mariadb())
