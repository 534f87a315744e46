"""The engine for files that stay where they are: DuckDB counts their rows, and only distinct rows come to memory."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.engines.profiles import Ids, profiles_of
from shoal.engines.protocol import DistinctRows, Profiles
from shoal.errors import ReadError
from shoal.kernels.grouping import group_rows
from shoal.kernels.translation import Codes

CHUNK = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class Dictionary:
    """The different values of a column as the file has them, and the code of each; null is code ``null``."""

    values: pa.Array
    codes: Codes
    null: int
    size: int

    def encoded(self, cells: pa.Array) -> Codes:
        """Return the codes of cells."""
        place = pc.index_in(one_zero(cells), self.values).fill_null(len(self.values)).to_numpy()
        codes: Codes = np.append(self.codes, self.codes.dtype.type(self.null))[place]
        return codes


def one_zero(values: pa.Array) -> pa.Array:
    """Turn −0.0 into 0.0: they are one value."""
    return pc.add(values, pa.scalar(0, values.type)) if pa.types.is_floating(values.type) else values


class Database:
    """A file that DuckDB reads; queries see it as the table ``t``."""

    def __init__(self, path: Path) -> None:
        import duckdb

        self._path = path
        offline: dict[str, Any] = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
        self._connection = duckdb.connect(config=offline)
        self.tried(lambda: self._connection.read_parquet(str(path)).create_view("t"))

    def tried(self, action: Callable[[], Any]) -> Any:
        """Return what an action returns; what DuckDB says if it fails may quote values, and is dropped."""
        with suppress(Exception):
            return action()
        raise ReadError(f"'{self._path.name}' cannot be read by DuckDB, or is damaged.")

    def query(self, sql: str) -> pa.Table:
        """Return the whole answer to a query."""
        return self.tried(lambda: self._connection.sql(sql).to_arrow_table())

    def stream(self, sql: str, size: int) -> Iterator[pa.RecordBatch]:
        """Yield the answer to a query in batches."""
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
        """Return the different values of a column, null among them if it occurs."""
        return self.query(f"SELECT DISTINCT {quoted(name)} FROM t").column(0)  # noqa: S608 - quoted


def quoted(name: str) -> str:
    """Return a name as SQL wants it."""
    return '"' + name.replace('"', '""') + '"'


class DuckdbEngine:
    """Rows in a file, counted by DuckDB."""

    def __init__(self, database: Database, dictionaries: Mapping[str, Dictionary], rows: int) -> None:
        self._database = database
        self._dictionaries = dict(dictionaries)
        self._rows = rows

    @property
    def rows(self) -> int:
        """How many records there are."""
        return self._rows

    def chunks(self, columns: Sequence[str], size: int) -> Iterator[tuple[Codes, ...]]:
        """Yield the codes of some columns, about so many records at a time, in the order of the file."""
        names = ", ".join(map(quoted, columns)) or "1"
        for batch in self._database.stream(f"SELECT {names} FROM t", min(size, CHUNK)):  # noqa: S608 - quoted names
            yield tuple(self._codes(name, batch.column(place)) for place, name in enumerate(columns))

    def distinct(self, columns: Sequence[str]) -> DistinctRows:
        """Return the different rows under these columns."""
        found = self._counted(columns)
        codes = [self._codes(name, found.column(place)) for place, name in enumerate(columns)]
        counts = found.column("n").to_numpy().astype(np.int64)
        groups = group_rows(codes, self._sizes(columns), len(counts))  # sorted, and what has the same codes is one
        summed = np.bincount(groups.ids, weights=counts, minlength=len(groups)).astype(np.int64)
        return DistinctRows(tuple(columns), tuple(column[groups.first] for column in codes), summed)

    def profiles(self, columns: Sequence[str], subject: str) -> Profiles:
        """Return the persons' profiles under these columns."""
        rows = self.distinct(columns)
        found = self._counted([*columns, subject])
        codes = [self._codes(name, found.column(place)) for place, name in enumerate(columns)]
        persons = self._codes(subject, found.column(len(columns)))
        shown = _places(rows, codes, self._sizes(columns), len(persons))
        profiles, of_person = profiles_of(rows, persons, shown, self._dictionaries[subject].size)
        return replace(profiles, origin=(subject, of_person))

    def expand(self, small: DistinctRows | Profiles, values: NDArray[Any]) -> NDArray[Any]:
        """Turn one value per distinct row, or per profile, into one per record, in the order of the file."""
        if isinstance(small, Profiles):
            subject, of_person = small.origin
            parts = [values[of_person[persons]] for (persons,) in self.chunks([subject], CHUNK)]
        else:
            sizes = self._sizes(small.columns)
            parts = [values[_places(small, chunk, sizes, len(chunk[0]))] for chunk in self.chunks(small.columns, CHUNK)]
        return np.concatenate(parts) if parts else values[:0]

    def _counted(self, columns: Sequence[str]) -> pa.Table:
        if not columns:
            return pa.table({"n": [self._rows] if self._rows else pa.array([], pa.int64())})
        names = ", ".join(f"{quoted(name)} AS c{place}" for place, name in enumerate(columns))
        return self._database.query(f"SELECT {names}, count(*) AS n FROM t GROUP BY ALL")  # noqa: S608 - quoted names

    def _codes(self, name: str, cells: pa.Array | pa.ChunkedArray) -> Codes:
        if isinstance(cells, pa.ChunkedArray):
            cells = cells.combine_chunks()
        return self._dictionaries[name].encoded(cells)

    def _sizes(self, columns: Sequence[str]) -> list[int]:
        return [self._dictionaries[name].size for name in columns]


def _places(rows: DistinctRows, codes: Sequence[Codes], sizes: Sequence[int], number: int) -> Ids:
    """Return which distinct row each of some rows is."""
    both = [np.concatenate([known, seen]) for known, seen in zip(rows.codes, codes, strict=True)]
    ids = group_rows(both, sizes, len(rows) + number).ids
    return ids[len(rows) :]
