"""Parquet: columns with types, read one at a time."""

import re
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from shoal.errors import ReadError
from shoal.progress import Hook, Progress
from shoal.table.encoding import encode
from shoal.table.formats.format import FORMATS, Format, Reading, check_options
from shoal.table.formats.options import Options, Written
from shoal.table.kind import kind_of
from shoal.table.names import check_names
from shoal.table.table import Table

_PANDAS_INDEX = re.compile(r"__index_level_\d+__")


class Parquet(Format):
    """Columns with types, compressed."""

    name = "parquet"
    suffixes = (".parquet", ".pq")

    def read(self, path: Path, options: Options, progress: Hook) -> Table:
        """Read and encode one column after the other."""
        check_options(options, self.name, ())
        try:
            schema = pq.read_schema(path)
            texts = [field.name for field in schema if pa.types.is_string(field.type)]
            file = pq.ParquetFile(path, read_dictionary=texts)
        except pa.ArrowException:
            raise ReadError(f"'{path.name}' is no Parquet file, or is damaged.") from None
        with file:
            return read_columns(schema, lambda name: file.read([name]).column(0), options, progress).table(self.name)

    def write(self, table: Table, path: Path, how: Written, progress: Hook) -> None:
        """Write batch by batch."""
        del how
        batches = table.batches()
        first = next(batches)
        with pq.ParquetWriter(path, first.schema, compression="zstd") as writer:
            writer.write_batch(first)
            for done, batch in enumerate(batches, 1):
                writer.write_batch(batch)
                progress(Progress("writing", done * first.num_rows, table.records))


FORMATS.register("parquet")(Parquet())


def read_columns(
    schema: pa.Schema, column: Callable[[str], pa.ChunkedArray], options: Options, progress: Hook
) -> Reading:
    """Encode the columns of a typed file one after the other; ``column(name)`` brings one."""
    names = [name for name in schema.names if not _PANDAS_INDEX.fullmatch(name)]
    check_names(names)
    notes = ("A row index that pandas had stored was left out.",) if len(names) < len(schema) else ()
    encoded = []
    for done, name in enumerate(names):
        kind_of(schema.field(name).type, name)  # refuse what cannot be encoded before it is read
        progress(Progress("reading", done, len(names)))
        cells = column(name)
        if name in options.text:
            cells = cells.cast(pa.string())
        encoded.append(encode(name, cells, suppressed=options.suppressed))
    return Reading(encoded, len(encoded[0].codes) if encoded else 0, notes=notes)
