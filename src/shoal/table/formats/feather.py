"""Arrow files (Feather): typed columns in Arrow's memory layout."""

from functools import partial
from pathlib import Path

import pyarrow as pa
from pyarrow import feather, ipc

from shoal.progress import Hook
from shoal.table.formats.format import FORMATS, Format, check_options, damaged
from shoal.table.formats.typed import read_columns
from shoal.table.options import Options, Written
from shoal.table.table import Table


class Feather(Format):
    """Typed columns in Arrow's memory layout."""

    name = "feather"
    suffixes = writes = (".feather", ".arrow", ".ipc")

    def read(self, path: Path, options: Options, progress: Hook) -> Table:
        """Read and encode the columns one by one."""
        check_options(options, self.name, ())
        with damaged(path, "Arrow file"):
            with pa.memory_map(str(path)) as source:
                schema = ipc.open_file(source).schema
            column = partial(_column, path)
            return read_columns(schema, column, options, progress).table(self.name)

    def write(self, table: Table, path: Path, how: Written, progress: Hook) -> None:
        """Write the columns."""
        del how, progress
        feather.write_feather(table.to_arrow(), str(path), compression="zstd")


FORMATS.register("feather")(Feather())


def _column(path: Path, name: str) -> pa.ChunkedArray:
    return feather.read_table(path, columns=[name]).column(0)
