"""Lines of text put together from pieces: each dictionary entry is rendered once, however many cells show it."""

from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.progress import Hook, Progress
from shoal.table.table import Table

ROWS = 1 << 14


def write_lines(file: BinaryIO, table: Table, pieces: list[pa.Array], separator: str, progress: Hook) -> None:
    """Write a line for each record; ``pieces[j][code]`` is how a code of column j is written."""
    codes = [table.codes(name) for name in table.names]
    for start in range(0, table.records, ROWS):
        rows = slice(start, start + ROWS)
        cells = [piece.take(pa.array(column[rows])) for piece, column in zip(pieces, codes, strict=True)]
        joined = pc.binary_join_element_wise(*cells, separator)
        _, offsets, text = joined.buffers()
        file.write(memoryview(text)[: int(np.frombuffer(offsets, np.int32)[len(joined)])])
        progress(Progress("writing", start, table.records))
