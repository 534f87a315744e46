"""The engine for tables of a cluster: Spark counts their rows, and only distinct rows come to this machine."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from shoal.engines.capacity import most_rows, too_many
from shoal.engines.dictionary import Dictionary
from shoal.engines.disk import Spool
from shoal.engines.outside import OutsideEngine, merged
from shoal.engines.protocol import DistinctRows
from shoal.errors import ReadError
from shoal.kernels.translation import Codes

# What a session gets that is started here. A driver of 1 GB, which is Spark's default, does not survive the answer to
# a question about millions of combinations; nor does its limit for the size of answers.
_SESSION = {
    "spark.driver.memory": "4g",
    "spark.driver.maxResultSize": "0",
    "spark.network.timeout": "600s",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.shuffle.partitions": "16",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


def session(master: str | None = None) -> Any:
    """Return the session that runs, or start one: on a cluster, or on this machine.

    ``master``: the cluster, such as ``spark://host:7077``; if none is named, the variable ``SHOAL_SPARK`` may.
    """
    from pyspark.sql import SparkSession

    running = SparkSession.getActiveSession()
    if running is not None:
        return running
    master = master or os.environ.get("SHOAL_SPARK") or "local[*]"
    here = {name for name in _SESSION if "127.0.0.1" in _SESSION[name] and not master.startswith("local")}
    builder = SparkSession.builder.master(master).appName("shoal")
    for name in _SESSION.keys() - here:  # a cluster must find its way back
        builder = builder.config(name, _SESSION[name])
    return builder.getOrCreate()


class SparkFrame:
    """A frame of Spark, and what is asked of it."""

    def __init__(self, frame: Any, name: str) -> None:
        self.frame = frame
        self._name = name

    @classmethod
    def of_parquet(cls, files: Sequence[Path]) -> "SparkFrame":
        """Take Parquet files, one below the other."""
        made = cls(None, files[0].name)
        made.frame = made.tried(lambda: session().read.parquet(*(str(file.resolve()) for file in files)))
        return made

    def tried(self, action: Callable[[], Any]) -> Any:
        """Return what an action returns; what Spark says if it fails may quote values, and is dropped."""
        with suppress(Exception):
            return action()
        raise ReadError(f"'{self._name}' cannot be read by Spark, or Spark has given up.", hint="Its log says more.")

    def schema(self) -> pa.Schema:
        """Return the columns and their types."""
        return self.tried(lambda: self.frame.limit(0).toArrow()).schema

    def rows(self) -> int:
        """Return the number of records."""
        return int(self.tried(self.frame.count))

    def values(self, name: str) -> pa.ChunkedArray:
        """Return the different values of a column, null among them if it occurs."""
        return self.tried(lambda: self._chosen([name]).distinct().toArrow()).column(0)

    def drawn(self, share: float) -> pa.Table:
        """Return about such a share of the records."""
        drawn = self.frame if share >= 1 else self.frame.sample(share, seed=0)
        return self.tried(drawn.toArrow)

    def counted(self, columns: Sequence[str]) -> pa.Table:
        """Return the different rows under some columns, and how often each comes, as the last column."""
        chosen = self._chosen(columns)
        return self.tried(lambda: chosen.groupBy(*chosen.columns).count().toArrow())

    def estimated(self, columns: Sequence[str]) -> int:
        """Return about how many different rows there are."""
        from pyspark.sql import functions

        chosen = self._chosen(columns)
        asked = functions.approx_count_distinct(functions.xxhash64(*chosen.columns), 0.02)
        return int(self.tried(lambda: chosen.select(asked).toArrow()).column(0)[0].as_py())

    def batches(self, columns: Sequence[str], size: int) -> Iterator[pa.RecordBatch]:
        """Yield records in pieces: Spark writes the columns to a folder of ours, which is then read and let go."""
        spool = Spool()
        folder = spool.folder / "rows"
        self.tried(lambda: self._chosen(columns).write.parquet(str(folder)))
        for file in sorted(folder.glob("part-*.parquet")):
            with pq.ParquetFile(file) as opened:
                yield from opened.iter_batches(size)

    def _chosen(self, columns: Sequence[str]) -> Any:
        """Return some columns under names of ours, for a name may hold anything."""
        return self.tried(
            lambda: self.frame.select(
                *(self.frame[f"`{name.replace('`', '``')}`"].alias(f"c{at}") for at, name in enumerate(columns))
            )
        )


class SparkEngine(OutsideEngine):
    """Rows that Spark reads and counts."""

    def __init__(self, frame: SparkFrame, dictionaries: Mapping[str, Dictionary], rows: int) -> None:
        super().__init__({name: held.size for name, held in dictionaries.items()}, rows)
        self._frame = frame
        self._dictionaries = dict(dictionaries)

    def chunks(self, columns: Sequence[str], size: int) -> Iterator[tuple[Codes, ...]]:
        """Yield the codes of some columns, at most so many records at a time."""
        for batch in self._frame.batches(columns, size):
            yield tuple(
                self._dictionaries[name].encoded(cells) for name, cells in zip(columns, batch.columns, strict=True)
            )

    def _counted(self, columns: tuple[str, ...], most: int = 0) -> DistinctRows:
        """Let Spark count."""
        most = most or most_rows(len(columns))
        expected = self._frame.estimated(columns) if self.rows > most else 0
        if expected > 1.1 * most:
            raise too_many(1.0, expected, expected, most)
        found = self._frame.counted(columns)
        codes = [self._dictionaries[name].encoded(found.column(at).combine_chunks()) for at, name in enumerate(columns)]
        counts = found.column(len(columns)).to_numpy().astype(np.int64)
        return merged(columns, codes, counts, self.sizes(columns))
