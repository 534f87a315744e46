"""Columns of a release, reduced to the values that occur in it.

A dictionary may contain values that no released record has. They must not be published with the release.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.kernels.translation import Codes, narrowest
from shoal.table.column import SUPPRESSED, Column
from shoal.table.kind import Kind


def compacted(column: Column, codes: Codes) -> tuple[Column, Codes]:
    """Remove the values that occur in no record, and renumber the codes.

    >>> import numpy as np
    >>> column = Column("dx", Kind.TEXT, pa.array(["flu", "gout", "ms"]), missing=True)
    >>> held, codes = compacted(column, np.array([2, 0, 2], np.uint8))
    >>> held.values.to_pylist(), held.missing, codes.tolist()
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


def labelled(name: str, labels: Sequence[str | None]) -> tuple[Column, NDArray[np.intp]]:
    """Return a column of labels, and the code of each label. ``None`` is missing, ``*`` suppressed.

    >>> column, codes = labelled("age", ["30-39", "*", "20-29", None])
    >>> column.values.to_pylist(), codes.tolist()
    (['20-29', '30-39'], [1, 3, 0, 2])
    """
    texts = sorted({label for label in labels if label not in {None, SUPPRESSED}} - {None})
    missing, suppressed = None in labels, SUPPRESSED in labels
    place: dict[str | None, int] = {text: number for number, text in enumerate(texts)}
    place[None] = len(texts)
    place[SUPPRESSED] = len(texts) + missing
    column = Column(name, Kind.TEXT, pa.array(texts, pa.string()), missing, suppressed)
    return column, np.array([place[label] for label in labels], np.intp)
