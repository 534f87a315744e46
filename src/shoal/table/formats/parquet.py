"""Parquet: columns with types, read one at a time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from shoal.errors import ReadError, ShoalError
from shoal.progress import Hook, Progress
from shoal.table.encoding import encode
from shoal.table.formats.format import FORMATS, Format, Reading, check_options
from shoal.table.kind import kind_of
from shoal.table.names import check_names, without_index
from shoal.table.options import Options, Written
from shoal.table.table import Table


class Parquet(Format):
    """Columns with types, compressed."""

    name = "parquet"
    suffixes = writes = (".parquet", ".pq")

    def read(self, path: Path, options: Options, progress: Hook) -> Table:
        """Read and encode one column after the other."""
        check_options(options, self.name, ())
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


@contextmanager
def damaged(path: Path, what: str) -> Iterator[None]:
    """Say that a file is no such file, whatever the library stumbled over."""
    try:
        yield
    except (ShoalError, MemoryError):
        raise
    except Exception:  # noqa: BLE001 - damaged bytes make libraries stumble in many ways
        raise ReadError(f"'{path.name}' is no {what}, or is damaged.") from None


def read_columns(
    schema: pa.Schema, column: Callable[[str], pa.ChunkedArray], options: Options, progress: Hook
) -> Reading:
    """Encode the columns of a typed file one after the other; ``column(name)`` brings one."""
    names = without_index(schema.names)
    check_names(names)
    notes = ("A row index that pandas had stored was left out.",) if len(names) < len(schema) else ()
    encoded = []
    for done, name in enumerate(names):
        kind_of(schema.field(name).type, name)  # refuse what cannot be encoded before it is read
        progress(Progress("reading", done, len(names)))
        cells = column(name)
        cells.validate(full=True)  # damaged bytes must not reach the kernels
        encoded.append(encode(name, cells, options))
    return Reading(encoded, len(encoded[0].codes) if encoded else 0, notes=notes)
