"""The engine for tables on a cluster: Spark counts their rows, and only distinct rows are sent to this machine."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from shoal.engines.capacity import most_rows, too_many
from shoal.engines.dictionary import Dictionary
from shoal.engines.disk import Spool
from shoal.engines.outside import OutsideEngine, merged
from shoal.engines.protocol import DistinctRows, Tallied
from shoal.errors import ReadError
from shoal.kernels.translation import Codes

_FIRST = 1 << 17  # number of first records that show whether records repeat
_REPEATED = 0.75  # maximum share of distinct records among them, if records repeat
_MOST_CELLS = 1 << 26  # maximum number of cells of distinct records held in memory

# Settings of sessions that are started here. Spark's default driver memory of 1 GB and its limit on the size of results
# are too small for millions of combinations. A result arrives in as many pieces as there are partitions, so partitions
# must be small: if a piece does not fit into memory, the receiving thread dies and Spark waits for it forever.
# Therefore the driver exits when it runs out of memory.
_SESSION = {
    "spark.driver.memory": "4g",
    "spark.driver.maxResultSize": "0",
    "spark.driver.defaultJavaOptions": "-XX:+ExitOnOutOfMemoryError",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "16m",
    "spark.network.timeout": "600s",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.shuffle.partitions": "64",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


def session(master: str | None = None) -> Any:
    """Return the active Spark session, or start one on a cluster or on this machine.

    ``master``: the cluster, such as ``spark://host:7077`` (default: the variable ``SHOAL_SPARK``, or this machine).
    """
    from pyspark.sql import SparkSession

    running = SparkSession.getActiveSession()
    if running is not None:
        return running
    master = master or os.environ.get("SHOAL_SPARK") or "local[*]"
    here = {name for name in _SESSION if "127.0.0.1" in _SESSION[name] and not master.startswith("local")}
    builder = SparkSession.builder.master(master).appName("shoal")
    for name in _SESSION.keys() - here:  # a cluster must be able to reach the driver
        builder = builder.config(name, _SESSION[name])
    return builder.getOrCreate()


class SparkFrame:
    """A Spark data frame and the queries on it."""

    def __init__(self, frame: Any, name: str) -> None:
        self.frame = frame
        self._name = name

    @classmethod
    def of_parquet(cls, files: Sequence[Path]) -> "SparkFrame":
        """Open Parquet files as one concatenated table."""
        frame = cls(None, files[0].name)
        frame.frame = frame.tried(lambda: session().read.parquet(*(str(file.resolve()) for file in files)))
        return frame

    def tried(self, action: Callable[[], Any]) -> Any:
        """Return the result of an action; an error message of Spark is discarded, because it may quote values."""
        with suppress(Exception):
            return action()
        raise ReadError(
            "unreadable",
            "'{file}' cannot be read by Spark, or Spark has stopped.",
            remedy="Spark's log has the details. If it ran out of memory, restart Python and start a session with "
            "more memory (spark.driver.memory) before reading.",
            file=self._name,
        )

    def schema(self) -> pa.Schema:
        """Return the columns and their types."""
        return self.tried(lambda: self.frame.limit(0).toArrow()).schema

    def rows(self) -> int:
        """Return the number of records."""
        return int(self.tried(self.frame.count))

    def values(self, name: str) -> pa.ChunkedArray:
        """Return the distinct values of a column, including null if it occurs."""
        return self.tried(lambda: self._chosen([name]).distinct().toArrow()).column(0)

    def drawn(self, share: float) -> pa.Table:
        """Return a random sample of about this share of the records."""
        drawn = self.frame if share >= 1 else self.frame.sample(share, seed=0)
        return self.tried(drawn.toArrow)

    def counted(self, columns: Sequence[str]) -> pa.Table:
        """Return the distinct rows of some columns, with their counts as the last column."""
        return self.tried(self._grouped(columns).toArrow)

    def repeated(self, columns: Sequence[str]) -> pa.Table | None:
        """Return the distinct rows with counts if records repeat and the rows fit into memory; otherwise None.

        The first records show whether records repeat. A table with few records counts as repeated.
        """
        if not columns or self._different_of_first(columns) > _REPEATED * _FIRST:
            return None
        from pyspark import StorageLevel

        grouped = self._grouped(columns)
        persisted = self.tried(lambda: grouped.persist(StorageLevel.DISK_ONLY))  # computed once for count and rows
        try:
            few = self.tried(persisted.count) <= _MOST_CELLS // len(columns)
            return self.tried(persisted.toArrow) if few else None
        finally:
            with suppress(Exception):
                persisted.unpersist()

    def _grouped(self, columns: Sequence[str]) -> Any:
        chosen = self._chosen(columns)
        return self.tried(lambda: chosen.groupBy(*chosen.columns).count())

    def _different_of_first(self, columns: Sequence[str]) -> int:
        """Return the number of distinct rows among the first records."""
        chosen = self._chosen(columns)
        return int(self.tried(lambda: chosen.limit(_FIRST).distinct().count()))

    def estimated(self, columns: Sequence[str]) -> int:
        """Return an estimate of the number of distinct rows."""
        from pyspark.sql import functions

        chosen = self._chosen(columns)
        asked = functions.approx_count_distinct(functions.xxhash64(*chosen.columns), 0.02)
        return int(self.tried(lambda: chosen.select(asked).toArrow()).column(0)[0].as_py())

    def batches(self, columns: Sequence[str], size: int) -> Iterator[pa.RecordBatch]:
        """Yield records in batches: Spark writes the columns to a private folder, which is read and then removed."""
        spool = Spool()
        folder = spool.folder / "rows"
        self.tried(lambda: self._chosen(columns).write.parquet(str(folder)))
        for file in sorted(folder.glob("part-*.parquet")):
            with pq.ParquetFile(file, coerce_int96_timestamp_unit="us") as opened:
                yield from opened.iter_batches(size)

    def _chosen(self, columns: Sequence[str]) -> Any:
        """Return some columns under safe names, because a column name may contain any character."""
        return self.tried(
            lambda: self.frame.select(
                *(self.frame[f"`{name.replace('`', '``')}`"].alias(f"c{at}") for at, name in enumerate(columns))
            )
        )


class SparkEngine(OutsideEngine):
    """Rows that Spark reads and counts. ``repeated``: all distinct records with their counts, if known."""

    def __init__(
        self, frame: SparkFrame, dictionaries: Mapping[str, Dictionary], repeated: pa.Table | None = None
    ) -> None:
        rows = frame.rows() if repeated is None else pc.sum(repeated.column(-1)).as_py() or 0
        super().__init__({name: dictionary.size for name, dictionary in dictionaries.items()}, rows)
        self._frame = frame
        self._dictionaries = dict(dictionaries)
        self._all = None if repeated is None else self._encoded(repeated, tuple(dictionaries))

    def chunks(self, columns: Sequence[str], size: int) -> Iterator[tuple[Codes, ...]]:
        """Yield the codes of some columns in chunks of at most ``size`` records."""
        for batch in self._frame.batches(columns, size):
            yield tuple(
                self._dictionaries[name].encoded(cells) for name, cells in zip(columns, batch.columns, strict=True)
            )

    def tallied(self, columns: Sequence[str], size: int) -> Tallied:
        """Yield the codes of some columns in chunks and in any order, with the count of each row."""
        return super().tallied(columns, size) if self._all is None else self._all.tallied(columns, size)

    def _counted(self, columns: tuple[str, ...], most: int = 0) -> DistinctRows:
        """Count distinct rows in Spark, unless all distinct records are known already."""
        most = most or most_rows(len(columns))
        if self._all is not None:
            counted = self.narrowed(self._all, columns)
            if len(counted) > most:
                raise too_many(1.0, len(counted), len(counted), most)
            return counted
        expected = self._frame.estimated(columns) if self.rows > most else 0
        if expected > 1.1 * most:
            raise too_many(1.0, expected, expected, most)
        return self._encoded(self._frame.counted(columns), columns)

    def _encoded(self, counted: pa.Table, columns: tuple[str, ...]) -> DistinctRows:
        """Encode rows that Spark has counted."""
        codes = [
            self._dictionaries[name].encoded(counted.column(at).combine_chunks()) for at, name in enumerate(columns)
        ]
        counts = counted.column(len(columns)).to_numpy().astype(np.int64)
        return merged(columns, codes, counts, self.sizes(columns))
