"""Columns of a release, reduced to the values that occur in it.

A dictionary may contain values that no released record has. They must not be published with the release.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.table.column import SUPPRESSED, Column
from shoal.table.kind import Kind


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
