"""Parquet: typed columns, read one at a time."""

import base64
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from shoal.engines.disk import Spool, Spooled
from shoal.kernels.threads import ahead
from shoal.kernels.translation import Codes, narrowest
from shoal.progress import Hook, Progress
from shoal.table.blocks import encode_blocks
from shoal.table.column import Column
from shoal.table.encoding import encode
from shoal.table.fitting import check_alike, check_files
from shoal.table.formats.format import FORMATS, Format, check_options, damaged, no_such
from shoal.table.formats.typed import read_columns
from shoal.table.options import Options, Written
from shoal.table.outside import read_parquet_outside
from shoal.table.part import Part
from shoal.table.schema import columns_of
from shoal.table.table import Source, Table

BLOCK = 1 << 18  # rows decoded at a time
ROW_GROUP = 1 << 20
_PLACES = 16  # maximum number of row groups in a sample
MOST_AT_ONCE = 4  # columns read in parallel; each needs its own memory


class Parquet(Format):
    """Typed columns, compressed."""

    name = "parquet"
    suffixes = writes = (".parquet", ".pq")

    def read(self, path: Path, options: Options, progress: Hook) -> Table:
        """Read and encode the columns one by one."""
        check_options(options, self.name, ())
        with damaged(path, "Parquet file"):
            schema = pq.read_schema(path)
            with pq.ParquetFile(path, read_dictionary=_texts(schema)) as file:
                reading = read_columns(schema, lambda name: file.read([name]).column(0), options, progress)
        return reading.table(self.name)

    def part(self, path: Path, options: Options, progress: Hook, spool: Spool | None = None) -> Part:
        """Read one of several files; with a spool, only the dictionaries of the columns are kept in memory.

        Several columns are then read in parallel, block by block.
        """
        if spool is None:
            return super().part(path, options, progress)
        check_options(options, self.name, ())
        with damaged(path, "Parquet file"), ThreadPoolExecutor(min(os.cpu_count() or 1, MOST_AT_ONCE)) as pool:
            schema = pq.read_schema(path)
            names, notes = columns_of(schema, options)
            columns: list[Column] = []
            codes: dict[str, Spooled] = {}
            taken = pool.map(partial(_spooled, path, schema, options, spool), names)
            for done, (column, cells) in enumerate(taken, 1):
                columns.append(column)
                codes[column.name] = cells
                progress(Progress("reading", done, len(names)))
        return Part(tuple(columns), Source(self.name, readings=notes), spooled=codes)

    def sample(self, files: tuple[Path, ...], options: Options, most: int) -> tuple[Table, int]:
        """Return records from many places of the files, and the number of all records."""
        check_options(options, self.name, ())
        schemas = _schemas(files)
        check_alike(files, schemas, options)
        with damaged(files[0], "Parquet file"):
            groups = [(file, place, rows) for file in files for place, rows in enumerate(_groups(file))]
            records = sum(rows for _, _, rows in groups)
            places = np.unique(np.linspace(0, len(groups) - 1, min(len(groups), _PLACES)).astype(int)).tolist()
            each = -(-most // max(len(places), 1))
            names, notes = columns_of(schemas[0], options)
            parts = [_slice(file, group, each, names) for file, group, _ in map(groups.__getitem__, places)]
            table = pa.concat_tables(parts, promote_options="permissive") if parts else schemas[0].empty_table()
            arrow = table.select(names)
        encoded = [encode(name, arrow.column(name), options) for name in names]
        return Table.of(encoded, arrow.num_rows, Source(self.name, readings=notes)), records

    def counted(self, files: tuple[Path, ...], options: Options, progress: Hook) -> Table:
        """Return a table whose rows DuckDB or Spark counts in place."""
        check_options(options, self.name, ())
        check_files(files, _schemas(files), options)
        return read_parquet_outside(files, options, progress)

    def write(self, table: Table, path: Path, how: Written, progress: Hook) -> None:
        """Write batch by batch; text is passed on with its dictionary, which is written unchanged."""
        del how
        cells = [_Cells.of(column) for column in table.columns]
        schema = pa.schema(
            [(column.name, cells_of.type) for column, cells_of in zip(table.columns, cells, strict=True)]
        )
        others = [field.name for field in schema if not pa.types.is_dictionary(field.type)]  # slow for text
        options = {"compression": "zstd", "store_schema": False, "write_statistics": others or False}
        with pq.ParquetWriter(path, schema, **options) as writer:
            schema_text = base64.b64encode(table.schema().serialize()).decode()
            writer.add_key_value_metadata({"ARROW:schema": schema_text})  # readers see values, not dictionaries
            done = 0
            for chunk in ahead(table.engine.chunks(table.names, ROW_GROUP)):
                arrays = [cells_of.taken(codes) for cells_of, codes in zip(cells, chunk, strict=True)]
                writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))
                done += len(chunk[0])
                progress(Progress("writing", done, table.records))


FORMATS.register("parquet")(Parquet())


def _texts(schema: pa.Schema) -> list[str]:
    return [field.name for field in schema if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)]


def _groups(file: Path) -> list[int]:
    with pq.ParquetFile(file) as opened:
        return [opened.metadata.row_group(place).num_rows for place in range(opened.metadata.num_row_groups)]


def _slice(file: Path, group: int, most: int, names: list[str]) -> pa.Table:
    """Return records from the middle of a row group."""
    with pq.ParquetFile(file) as opened:
        rows = opened.read_row_group(group, names)
    return rows.slice(max(rows.num_rows - most, 0) // 2, most)


def _spooled(path: Path, schema: pa.Schema, options: Options, spool: Spool, name: str) -> tuple[Column, Spooled]:
    with pq.ParquetFile(path, read_dictionary=_texts(schema)) as file:
        arrow = file.schema_arrow.field(name).type
        column, parts = encode_blocks(name, arrow, _blocks(file, name), options)
        return column, spool.keep(parts, narrowest(max(column.size, 1)))


def _blocks(file: pq.ParquetFile, name: str) -> Iterator[pa.Array]:
    for batch in file.iter_batches(BLOCK, columns=[name], use_threads=False):
        block = batch.column(0)
        values = block.dictionary if pa.types.is_dictionary(block.type) else block
        values.validate(full=True)  # damaged bytes must not reach the kernels
        yield block


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """Cell contents of the codes of a column; ``missing``: the code of empty cells in a dictionary column."""

    values: pa.Array
    type: pa.DataType
    missing: int | None = None

    @classmethod
    def of(cls, column: Column) -> "_Cells":
        values = column.cells()
        if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
            return cls(values, values.type)
        return cls(values.drop_null(), pa.dictionary(pa.int32(), values.type), column.missing_code)

    def taken(self, codes: Codes) -> pa.Array:
        if not pa.types.is_dictionary(self.type) or self.type.ordered:
            return self.values.take(pa.array(codes))
        if self.missing is None:
            return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), self.values)
        empty = codes == self.missing
        places = np.where(empty, 0, codes - (codes > self.missing)).astype(np.int32)
        return pa.DictionaryArray.from_arrays(pa.array(places, mask=empty), self.values)


def _schemas(files: tuple[Path, ...]) -> list[pa.Schema]:
    """Return the schemas of files."""
    return [_schema(file) for file in files]


def _schema(file: Path) -> pa.Schema:
    with suppress(Exception):  # the error may quote the file
        return pq.read_schema(file)
    raise no_such(file, "Parquet file")
