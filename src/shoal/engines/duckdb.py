"""The engine for tables that are not copied: DuckDB counts their rows, and only distinct rows are held in memory."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.engines.capacity import most_rows, too_many
from shoal.engines.dictionary import Dictionary
from shoal.engines.disk import Spool
from shoal.engines.outside import OutsideEngine, merged
from shoal.engines.protocol import DistinctRows
from shoal.errors import ReadError
from shoal.kernels.translation import Codes
from shoal.remedy import FixedText, Option
from shoal.words import listed


class DuckDatabase:
    """Files that DuckDB reads, or a table of a DuckDB file; queries see it as the view ``t``."""

    def __init__(self, name: str) -> None:
        self._spool = Spool()  # DuckDB's temporary folder, away from the user's files
        self._connection = _connected(self._spool)
        self._name = name

    @classmethod
    def of_parquet(cls, files: Sequence[Path]) -> "DuckDatabase":
        """Open Parquet files as one concatenated table."""
        database = cls(files[0].name)
        database.tried(lambda: database._connection.read_parquet(list(map(str, files))).create_view("t"))
        return database

    @classmethod
    def of_file(cls, path: Path, table: str | None) -> "DuckDatabase":
        """Open a table of a DuckDB file, read-only."""
        database = cls(path.name)
        attach = f"ATTACH '{str(path).replace(chr(39), chr(39) * 2)}' AS source (READ_ONLY)"
        database.tried(lambda: database._connection.execute(attach))
        chosen = _chosen(database.tables(), table, path.name)
        database.tried(lambda: database._connection.execute(f"CREATE TEMP VIEW t AS SELECT * FROM source.{chosen}"))  # noqa: S608 - quoted
        return database

    def tables(self) -> list[tuple[str, str]]:
        """Return the schema and the name of each table and view in the attached file."""
        listing = "SELECT schema_name, name FROM (SELECT database_name, schema_name, table_name AS name FROM "
        listing += "duckdb_tables() UNION ALL SELECT database_name, schema_name, view_name FROM duckdb_views() "
        listing += "WHERE NOT internal) WHERE database_name = 'source' ORDER BY ALL"
        return [(row["schema_name"], row["name"]) for row in self.query(listing).to_pylist()]

    def tried(self, action: Callable[[], Any]) -> Any:
        """Return the result of an action; an error message of DuckDB is discarded, because it may quote values."""
        with suppress(Exception):
            return action()
        raise ReadError("unreadable", "'{file}' cannot be read by DuckDB, or is damaged.", file=self._name)

    def query(self, sql: str) -> pa.Table:
        """Return the complete result of a query."""
        return self.tried(lambda: self._connection.sql(sql).to_arrow_table())

    def stream(self, sql: str, size: int) -> Iterator[pa.RecordBatch]:
        """Yield the result of a query in batches."""
        reader = iter(self.tried(lambda: self._connection.sql(sql).to_arrow_reader(size)))
        while (batch := self.tried(lambda: next(reader, None))) is not None:
            yield batch

    def schema(self) -> pa.Schema:
        """Return the columns and their types."""
        return self.query("SELECT * FROM t LIMIT 0").schema

    def rows(self) -> int:
        """Return the number of records."""
        return int(self.query("SELECT count(*) AS n FROM t").column("n")[0].as_py())

    def values(self, name: str) -> pa.ChunkedArray:
        """Return the distinct values of a column, including null if it occurs."""
        return self.query(f"SELECT DISTINCT {quoted(name)} FROM t").column(0)  # noqa: S608 - quoted


def _connected(spool: Spool) -> Any:
    import duckdb

    offline: dict[str, Any] = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
    return duckdb.connect(config={**offline, "temp_directory": str(spool.folder)})


def _chosen(tables: Sequence[tuple[str, str]], table: str | None, file: str) -> str:
    """Return the quoted SQL name of the requested table, or of the only table."""
    fitting = [table_name for table_name in tables if table in {None, table_name[1], ".".join(table_name)}]
    if len(fitting) == 1:
        return ".".join(map(quoted, fitting[0]))
    if not tables:
        raise ReadError("no-tables-in-file", "'{file}' contains no tables.", file=file)
    what = f"no table '{table}'" if table is not None and not fitting else "several tables"
    raise ReadError(
        "unknown-table",
        "'{file}' has {what}.",
        remedy=[FixedText(f"Tables: {listed(name for _, name in tables)}."), Option("table")],
        file=file,
        what=what,
    )


def quoted(name: str) -> str:
    """Return a name as a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


class DuckdbEngine(OutsideEngine):
    """Rows that DuckDB reads and counts."""

    def __init__(self, database: DuckDatabase, dictionaries: Mapping[str, Dictionary], rows: int) -> None:
        super().__init__({name: dictionary.size for name, dictionary in dictionaries.items()}, rows)
        self._database = database
        self._dictionaries = dict(dictionaries)

    def chunks(self, columns: Sequence[str], size: int) -> Iterator[tuple[Codes, ...]]:
        """Yield the codes of some columns in chunks of about ``size`` records, in the order of the file."""
        names = ", ".join(map(quoted, columns)) or "1"
        for batch in self._database.stream(f"SELECT {names} FROM t", size):  # noqa: S608 - quoted names
            yield tuple(self._codes(name, batch.column(place)) for place, name in enumerate(columns))

    def _counted(self, columns: tuple[str, ...], most: int = 0) -> DistinctRows:
        """Count distinct rows in DuckDB."""
        self._check_capacity(columns, most or most_rows(len(columns)))
        names = ", ".join(f"{quoted(name)} AS c{place}" for place, name in enumerate(columns))
        counts = self._database.query(f"SELECT {names}, count(*) AS n FROM t GROUP BY ALL")  # noqa: S608 - quoted names
        codes = [self._codes(name, counts.column(place)) for place, name in enumerate(columns)]
        return merged(columns, codes, counts.column("n").to_numpy().astype(np.int64), self.sizes(columns))

    def _check_capacity(self, columns: tuple[str, ...], most: int) -> None:
        """Estimate the number of distinct rows, and refuse a number that exceeds the capacity."""
        if self.rows <= most:
            return
        names = ", ".join(map(quoted, columns))
        estimate = f"SELECT approx_count_distinct(hash({names})) AS n FROM t"  # noqa: S608 - quoted names
        expected = int(self._database.query(estimate).column("n")[0].as_py())
        if expected > most:
            raise too_many(1.0, expected, expected, most)

    def _codes(self, name: str, cells: pa.Array | pa.ChunkedArray) -> Codes:
        if isinstance(cells, pa.ChunkedArray):
            cells = cells.combine_chunks()
        return self._dictionaries[name].encoded(cells)
