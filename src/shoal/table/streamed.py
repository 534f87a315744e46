"""Tables read from a single pass over batches of rows, such as from a database."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from shoal.engines.disk import Spool
from shoal.kernels.translation import Codes, narrowest
from shoal.progress import Hook, Progress
from shoal.table.blocks import ColumnBlocks
from shoal.table.options import Options
from shoal.table.part import Part, together
from shoal.table.table import Source, Table


def read_batches(
    schema: pa.Schema, batches: Iterable[pa.RecordBatch], options: Options, source: Source, progress: Hook
) -> Table:
    """Encode rows as they arrive.

    During reading, memory holds only the distinct values of each column and one narrow code per cell.

    >>> import pyarrow as pa
    >>> from shoal.progress import silent
    >>> rows = pa.record_batch({"age": [40, 31]})
    >>> read_batches(rows.schema, [rows, rows], Options(), Source(), silent).to_arrow().to_pydict()
    {'age': [40, 31, 40, 31]}
    """
    columns = [ColumnBlocks(field.name, field.type, options) for field in schema]
    rows = 0
    for batch in batches:
        for column, cells in zip(columns, batch.columns, strict=True):
            column.add(cells)
        rows += batch.num_rows
        progress(Progress("reading", rows))
    spool = Spool() if options.engine == "disk" else None
    return together([_part(columns, source, spool)], spool)


def _part(columns: list[ColumnBlocks], source: Source, spool: Spool | None) -> Part:
    encoded = [column.encoded() for column in columns]
    read = tuple(column for column, _ in encoded)
    if spool is None:
        return Part(read, source, {column.name: _joined(list(parts)) for column, parts in encoded})
    kept = {column.name: spool.keep(parts, narrowest(max(column.size, 1))) for column, parts in encoded}
    return Part(read, source, spooled=kept)


def _joined(parts: list[Codes]) -> Codes:
    return np.concatenate(parts) if parts else np.zeros(0, np.uint8)
