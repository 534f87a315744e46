"""Parquet: columns with types, read one at a time."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from shoal.engines.disk import Spool, Spooled
from shoal.kernels.translation import narrowest
from shoal.progress import Hook, Progress
from shoal.table.blocks import encode_blocks
from shoal.table.column import Column
from shoal.table.formats.format import FORMATS, Format, check_options, damaged
from shoal.table.formats.typed import names_of, read_columns
from shoal.table.options import Options, Written
from shoal.table.outside import parquet_by_duckdb
from shoal.table.part import Part
from shoal.table.table import Source, Table

BLOCK = 1 << 18  # rows that are decoded at a time
MOST_AT_ONCE = 4  # columns: each needs memory of its own


class Parquet(Format):
    """Columns with types, compressed."""

    name = "parquet"
    suffixes = writes = (".parquet", ".pq")

    def read(self, path: Path, options: Options, progress: Hook) -> Table:
        """Read and encode one column after the other."""
        check_options(options, self.name, ())
        with damaged(path, "Parquet file"):
            schema = pq.read_schema(path)
            with pq.ParquetFile(path, read_dictionary=_texts(schema)) as file:
                reading = read_columns(schema, lambda name: file.read([name]).column(0), options, progress)
        return reading.table(self.name)

    def part(self, path: Path, options: Options, progress: Hook, spool: Spool | None = None) -> Part:
        """Read columns block by block, some at a time, and keep nothing but their dictionaries."""
        if spool is None:
            return super().part(path, options, progress)
        check_options(options, self.name, ())
        with damaged(path, "Parquet file"), ThreadPoolExecutor(min(os.cpu_count() or 1, MOST_AT_ONCE)) as pool:
            schema = pq.read_schema(path)
            names, notes = names_of(schema, options)
            columns: list[Column] = []
            codes: dict[str, Spooled] = {}
            taken = pool.map(partial(_spooled, path, schema, options, spool), names)
            for done, (column, held) in enumerate(taken, 1):
                columns.append(column)
                codes[column.name] = held
                progress(Progress("reading", done, len(names)))
        return Part(tuple(columns), Source(self.name, notes=notes), spooled=codes)

    def counted(self, files: tuple[Path, ...], options: Options, progress: Hook) -> Table:
        """Let DuckDB count the rows."""
        check_options(options, self.name, ())
        return parquet_by_duckdb(files, options, progress)

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


def _texts(schema: pa.Schema) -> list[str]:
    return [field.name for field in schema if pa.types.is_string(field.type)]


def _spooled(path: Path, schema: pa.Schema, options: Options, spool: Spool, name: str) -> tuple[Column, Spooled]:
    with pq.ParquetFile(path, read_dictionary=_texts(schema)) as file:
        arrow = file.schema_arrow.field(name).type
        column, parts = encode_blocks(name, arrow, _blocks(file, name), options)
        return column, spool.keep(parts, narrowest(max(column.size, 1)))


def _blocks(file: pq.ParquetFile, name: str) -> Iterator[pa.Array]:
    for batch in file.iter_batches(BLOCK, columns=[name], use_threads=False):
        block = batch.column(0)
        held = block.dictionary if pa.types.is_dictionary(block.type) else block
        held.validate(full=True)  # damaged bytes must not reach the kernels
        yield block
