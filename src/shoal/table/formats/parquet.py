"""Parquet: columns with types, read one at a time."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from shoal.progress import Hook, Progress
from shoal.table.formats.format import FORMATS, Format, check_options, damaged
from shoal.table.formats.typed import read_columns
from shoal.table.options import Options, Written
from shoal.table.outside import read_outside
from shoal.table.table import Table


class Parquet(Format):
    """Columns with types, compressed."""

    name = "parquet"
    suffixes = writes = (".parquet", ".pq")

    def read(self, path: Path, options: Options, progress: Hook) -> Table:
        """Read and encode one column after the other."""
        check_options(options, self.name, ("engine",))
        if options.engine == "duckdb":
            return read_outside(path, options, progress, self.name)
        with damaged(path, "Parquet file"):
            schema = pq.read_schema(path)
            texts = [field.name for field in schema if pa.types.is_string(field.type)]
            with pq.ParquetFile(path, read_dictionary=texts) as file:
                reading = read_columns(schema, lambda name: file.read([name]).column(0), options, progress)
        return reading.table(self.name)

    def write(self, table: Table, path: Path, how: Written, progress: Hook) -> None:
        """Write batch by batch."""
        del how
        with pq.ParquetWriter(path, table.schema(), compression="zstd") as writer:
            done = 0
            for batch in table.batches():
                writer.write_batch(batch)
                done += batch.num_rows
                progress(Progress("writing", done, table.records))


FORMATS.register("parquet")(Parquet())
