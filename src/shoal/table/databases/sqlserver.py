"""Microsoft SQL Server."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from shoal.table.databases.database import DATABASES
from shoal.table.databases.server import Draft, Server, beside

if TYPE_CHECKING:
    import sqlalchemy as sa
    from sqlalchemy.types import TypeEngine

_DIGITS = 38


class SqlServer(Server):
    """A Microsoft SQL Server."""

    name = "sqlserver"
    schemes = ("mssql", "sqlserver")
    driver, package = "mssql+pymssql", "pymssql"
    parameters: ClassVar[Mapping[str, Any]] = {"login_timeout": 10}
    random = "abs(checksum(newid())) / 2147483648.0"
    port, longest = 1433, 4000
    snapshot = "SERIALIZABLE"  # SNAPSHOT needs an option of the database

    def rename(self, connection: "sa.Connection", drafts: Sequence[Draft]) -> None:
        """Rename the tables within the transaction."""
        import sqlalchemy as sa

        of = connection.dialect.identifier_preparer
        rename = sa.text("EXEC sp_rename :old, :new, 'OBJECT'")
        for draft in drafts:
            if draft.there:
                connection.exec_driver_sql(f"DROP TABLE {beside(connection, draft.hidden, draft.name)}")
            connection.execute(rename, {"old": of.format_table(draft.hidden), "new": draft.name})

    def text(self, longest: int) -> "TypeEngine[Any]":
        """Return the column type for text, with a length where possible."""
        import sqlalchemy as sa

        return sa.NVARCHAR(max(longest, 1) if longest <= self.longest else None)

    def plain(self, arrow: pa.DataType) -> "TypeEngine[Any]":
        """Return the column type for numbers, dates or Booleans; times have microseconds."""
        from sqlalchemy.dialects import mssql

        types: Any = mssql
        if pa.types.is_timestamp(arrow):
            type_: TypeEngine[Any] = types.DATETIME2(6) if arrow.tz is None else types.DATETIMEOFFSET(6)
            return type_
        return types.TIME(6) if pa.types.is_time(arrow) else super().plain(arrow)

    def unfit(self, values: pa.Array) -> str | None:
        """Return the reason why the values cannot be stored, or None."""
        if pa.types.is_floating(values.type) and not pc.all(pc.is_finite(values)).as_py():
            return "it holds infinite numbers"
        if pa.types.is_decimal(values.type) and values.type.precision > _DIGITS:
            return f"its numbers may have more than {_DIGITS} digits"
        return None


DATABASES.register("sqlserver")(SqlServer())
