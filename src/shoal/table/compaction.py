"""Compaction: removal of dictionary values that occur in no record."""

import numpy as np
import pyarrow as pa

from shoal.kernels.translation import Codes, narrowest
from shoal.table.column import Column


def compacted(column: Column, codes: Codes) -> tuple[Column, Codes]:
    """Remove the values that occur in no record, and renumber the codes.

    >>> from shoal.table.kind import Kind
    >>> column = Column("dx", Kind.TEXT, pa.array(["flu", "gout", "ms"]), missing=True)
    >>> kept, codes = compacted(column, np.array([2, 0, 2], np.uint8))
    >>> kept.values.to_pylist(), kept.missing, codes.tolist()
    (['flu', 'ms'], False, [1, 0, 1])
    """
    there = np.zeros(column.size, bool)
    there[codes] = True
    number = np.cumsum(there) - 1
    values = column.values.filter(pa.array(there[: len(column.values)]))
    missing = column.missing and bool(there[column.missing_code])
    suppressed = column.suppressed and bool(there[column.suppressed_code])
    column_of = Column(column.name, column.kind, values, missing, suppressed)
    return column_of, number.astype(narrowest(max(column_of.size, 1)))[codes]
