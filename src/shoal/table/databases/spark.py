"""Spark tables by name: ``spark:hospital.patients``, or ``spark://host:7077/hospital.patients`` on a cluster."""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.engines.spark import SparkFrame, session
from shoal.errors import CapacityError, ReadError, WriteError
from shoal.progress import Hook, Progress
from shoal.remedy import Option, either
from shoal.table.column import Column
from shoal.table.databases.database import DATABASES, Address, Database, Stored
from shoal.table.encoding import encode
from shoal.table.formats.format import check_options
from shoal.table.formats.lines import has_odd_years, is_too_fine
from shoal.table.options import Options
from shoal.table.outside import check_spark, read_by_spark
from shoal.table.schema import columns_of
from shoal.table.table import Source, Table

_MOST = 1 << 22  # maximum number of distinct records sent at once, to be repeated by Spark
_ROWS = 1 << 18  # records sent at a time if there are more
_OFTEN = 1 << 14  # maximum repetitions of a record by one task of Spark


@dataclass(frozen=True, slots=True)
class SparkTable(Stored):
    """A named Spark table."""

    frame: SparkFrame
    name: str

    def read(self, options: Options, progress: Hook) -> Table:
        """Read the distinct values of each column; Spark counts the rows in place."""
        check_options(options, "spark", ("table",))
        table = read_by_spark(self.frame, options, progress, "spark")
        return replace(table, source=replace(table.source, details={"stored": f"spark:{self.name}"}))

    def sample(self, options: Options, most: int) -> tuple[Table, int]:
        """Return a random sample of rows, and the number of all rows."""
        check_options(options, "spark", ("table",))
        rows = self.frame.rows()
        names, notes = columns_of(self.frame.schema(), options)
        drawn = self.frame.drawn(min(1.0, most / max(rows, 1)))
        encoded = [encode(name, drawn.column(name), options) for name in names]
        return Table.of(encoded, drawn.num_rows, Source("spark", readings=notes)), rows


class Spark(Database):
    """A Spark session: the active one, or a new one."""

    name = "spark"
    schemes = ("spark",)

    @contextmanager
    def opened(self, address: Address, names: Sequence[str | None]) -> Iterator[tuple[Stored, ...]]:
        """Open tables by name."""
        _started(address)
        yield tuple(_table(_name(address, name), str(address)) for name in names)

    def named(self, address: Address) -> tuple[Address, str]:
        """Return the address of the database, and the name of the table: the last part of the path."""
        *database, table = address.path.split(".")
        return replace(address, path=".".join(database)), table

    @contextmanager
    def replacing(
        self, address: Address, tables: Mapping[str, Table], progress: Hook, *, force: bool
    ) -> Iterator[dict[str, Stored]]:
        """Write tables with Spark under temporary names, and rename them at the end."""
        spark = _started(address)
        names = {name: _name(address, name) for name in tables}
        for name, table in tables.items():
            if table.source.details.get("stored") == f"spark:{names[name]}":
                raise WriteError(
                    "overwrites-input",
                    "The table is the one that the data were read from.",
                    remedy="Write to another name.",
                )
        there = {name for name, full in names.items() if spark.catalog.tableExists(full)}
        if there and not force:
            raise WriteError(
                "table-exists",
                "The table '{table}' already exists.",
                remedy=either("Give another name", Option("force", True)),
                table=min(there),
            )
        hidden = {name: _hidden(full) for name, full in names.items()}
        try:
            for name, table in tables.items():
                _tried(name, partial(_fill, spark, hidden[name], table, progress))
            yield {name: _table(draft, str(address)) for name, draft in hidden.items()}
            for name, full in names.items():
                _tried(name, partial(_rename, spark, hidden[name], full, there=name in there))
        finally:
            with suppress(Exception):  # on success they no longer exist
                for draft in hidden.values():
                    spark.sql(f"DROP TABLE IF EXISTS {_quoted(draft)} PURGE")

    def refusal(self, column: Column) -> str | None:
        """Return the reason why Spark cannot store a column, or None."""
        arrow = column.values.type
        if column.suppressed:
            return None
        if pa.types.is_time(arrow) or arrow == pa.uint64():
            return "Spark has no times of day, nor integers of 64 bits without a sign; convert it to text"
        if pa.types.is_decimal256(arrow):
            return "its numbers may have more than 38 digits"
        if has_odd_years(column.values) or (pa.types.is_timestamp(arrow) and is_too_fine(column.values)):
            return "it holds dates before the year 1 or after 9999, or times finer than microseconds"
        return None


DATABASES.register("spark")(Spark())


def _started(address: Address) -> Any:
    """Return the Spark session for an address."""
    check_spark()
    cluster = None if address.host is None else f"spark://{address.host}:{address.port or 7077}"
    return session(cluster)


def _name(address: Address, table: str | None) -> str:
    """Return the full name of a table: the path of the address, followed by the name of the table if given."""
    name = ".".join(part for part in (address.path, table) if part)
    if not name:
        raise ReadError(
            "no-table-named",
            "The address names no Spark table.",
            remedy="An address looks like spark:hospital.patients",
        )
    return name


def _hidden(name: str) -> str:
    return ".".join([*name.split(".")[:-1], f"shoal_partial_{secrets.token_hex(6)}"])


def _table(name: str, text: str) -> SparkTable:
    frame = SparkFrame(None, text)
    frame.frame = frame.tried(lambda: session().table(_quoted(name)))
    return SparkTable(frame, name)


def _fill(spark: Any, name: str, table: Table, progress: Hook) -> None:
    """Write the records.

    If there are few distinct records, each is sent once and repeated by Spark. Otherwise all are sent in batches.
    """
    for done, (batch, often) in enumerate(_batches(table)):
        progress(Progress("writing", min(done * _ROWS, table.records), table.records))
        frame = spark.createDataFrame(batch.append_column(_unused(table), pa.array(often)))
        chosen = [f"`{column.replace('`', '``')}`" for column in table.names]
        again = f"explode(array_repeat(0, CAST({_unused(table)} AS INT))) AS {_unused(table)}"
        frame.selectExpr(*chosen, again).select(*chosen).write.saveAsTable(name, mode="append", format="parquet")


def _batches(table: Table) -> Iterator[tuple[pa.Table, list[int]]]:
    """Yield records, and the number of repetitions of each."""
    try:
        rows = table.engine.distinct_below(table.names, _MOST)
    except CapacityError:
        for batch in table.batches(_ROWS):
            yield _plain(pa.Table.from_batches([batch])), [1] * batch.num_rows
        return
    parts = np.maximum(-(-rows.counts // _OFTEN), 1)
    at = np.repeat(np.arange(len(rows)), parts)
    first = np.r_[True, at[1:] != at[:-1]] if len(at) else np.zeros(0, bool)
    often = np.where(first, rows.counts[at] - (parts[at] - 1) * _OFTEN, _OFTEN)
    cells = [column.cells().take(pa.array(codes[at])) for column, codes in zip(table.columns, rows.codes, strict=True)]
    yield _plain(pa.table(cells, list(table.names))), often.tolist()


def _plain(rows: pa.Table) -> pa.Table:
    """Return rows without dictionary encoding, which Spark does not accept."""
    for place, field in enumerate(rows.schema):
        if pa.types.is_dictionary(field.type):
            rows = rows.set_column(place, field.name, rows.column(place).cast(field.type.value_type))
    return rows


def _unused(table: Table) -> str:
    """Return an unused column name; Spark does not distinguish upper and lower case."""
    name = "often"
    while name in {column.lower() for column in table.names}:
        name += "_"
    return name


def _rename(spark: Any, hidden: str, name: str, *, there: bool) -> None:
    """Give a table its final name. An existing table is set aside before, and then dropped, or restored on failure."""
    aside = f"{hidden}_old"
    if there:
        spark.sql(f"ALTER TABLE {_quoted(name)} RENAME TO {_quoted(aside)}")
    try:
        spark.sql(f"ALTER TABLE {_quoted(hidden)} RENAME TO {_quoted(name)}")
    except Exception:
        if there:
            spark.sql(f"ALTER TABLE {_quoted(aside)} RENAME TO {_quoted(name)}")
        raise
    if there:
        spark.sql(f"DROP TABLE {_quoted(aside)} PURGE")


def _quoted(name: str) -> str:
    return ".".join(f"`{part.replace('`', '``')}`" for part in name.split("."))


def _tried(name: str, action: Any) -> None:
    """Run an action. The error message of Spark is dropped, because it may quote values."""
    with suppress(Exception):
        action()
        return
    raise WriteError(
        "cannot-write",
        "The table '{table}' cannot be written by Spark.",
        remedy="Spark's log has the details.",
        table=name,
    )
