"""Oracle."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from shoal.table.databases.database import DATABASES, Address
from shoal.table.databases.server import Draft, Server, beside

if TYPE_CHECKING:
    import sqlalchemy as sa
    from sqlalchemy.types import TypeEngine

_DIGITS = 38


class Oracle(Server):
    """An Oracle server: ``oracle://user@host/service``. Creating or renaming a table ends a transaction."""

    name = "oracle"
    schemes = ("oracle",)
    driver, package = "oracle+oracledb", "oracledb"
    transactional = False
    parameters: ClassVar[Mapping[str, Any]] = {"tcp_connect_timeout": 10}
    snapshot = "SERIALIZABLE"
    random = "dbms_random.value"
    port = 1521
    longest = 1000  # characters of at most four bytes each

    def url(self, address: Address) -> "sa.URL":
        """Return the SQLAlchemy URL of an address, whose path is the name of a service."""
        url = super().url(address)
        return url if url.database is None else url.set(database="").update_query_dict({"service_name": url.database})

    def rename(self, connection: "sa.Connection", drafts: Sequence[Draft]) -> None:
        """Set existing tables aside, rename the new ones, and drop the old ones."""
        of = connection.dialect.identifier_preparer
        old = {draft.name: f"{draft.hidden.name}_old" for draft in drafts if draft.there}
        for name, aside in old.items():
            hidden = next(draft.hidden for draft in drafts if draft.name == name)
            connection.exec_driver_sql(f"ALTER TABLE {beside(connection, hidden, name)} RENAME TO {of.quote(aside)}")
        for draft in drafts:
            connection.exec_driver_sql(f"ALTER TABLE {of.format_table(draft.hidden)} RENAME TO {of.quote(draft.name)}")
        for draft in drafts:
            if draft.there:
                connection.exec_driver_sql(f"DROP TABLE {beside(connection, draft.hidden, old[draft.name])}")

    def plain(self, arrow: pa.DataType) -> "TypeEngine[Any]":
        """Return the column type for numbers or times."""
        from sqlalchemy.dialects import oracle

        types: Any = oracle
        if pa.types.is_timestamp(arrow):
            return oracle.TIMESTAMP()
        if pa.types.is_floating(arrow):
            return oracle.BINARY_DOUBLE()
        return types.NUMBER(19, 0) if pa.types.is_integer(arrow) else super().plain(arrow)

    def unfit(self, values: pa.Array) -> str | None:
        """Return the reason why the values cannot be stored or would be read back differently, or None."""
        arrow = values.type
        if pa.types.is_string(arrow) or pa.types.is_large_string(arrow):
            return (
                "it holds empty text, which is the same as missing there"
                if pc.any(pc.equal(values, "")).as_py()
                else None
            )
        if pa.types.is_date(arrow) or pa.types.is_boolean(arrow) or pa.types.is_time(arrow):
            return "its dates, times of day or truth values would come back as something else; convert it to text"
        if pa.types.is_timestamp(arrow) and arrow.tz is not None:
            return "its times are those of a time zone"
        if pa.types.is_decimal(arrow) and arrow.precision > _DIGITS:
            return f"its numbers may have more than {_DIGITS} digits"
        return None


DATABASES.register("oracle")(Oracle())
