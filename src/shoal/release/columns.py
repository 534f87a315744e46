"""Columns of a release, reduced to the values that occur in it.

A dictionary may contain values that no released record has. They must not be published with the release.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.errors import ReleaseError
from shoal.kernels.translation import Codes, narrowest
from shoal.table.column import SUPPRESSED, Column
from shoal.table.kind import Kind
from shoal.table.scale import doubles
from shoal.table.table import Table


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


def as_written(table: Table) -> Table:
    """Return a released table as read from its file: quasi-identifiers are text, compared character by character."""
    columns = {}
    for column in table.columns:
        if column.name in table.quasi and not column.is_text:
            text, place = labelled(column.name, [*column.labels().to_pylist()])
            columns[column.name] = text, place.astype(narrowest(max(text.size, 1)))
    return table.recoded(columns)


def placed(column: Column, before: Column) -> Codes:
    """Return the code of another column with the same value, for each code of a column."""
    texts = (column.labels(), before.labels())
    if column.kind.numeric and before.kind.numeric and column.values.type != before.values.type:
        texts = (doubles(column.values), doubles(before.values))  # 1.00 may be written and read as 1
    places = pc.index_in(*texts, skip_nulls=True).fill_null(-1).to_numpy(zero_copy_only=False)
    place = np.full(column.size, -1, np.int64)
    place[: len(places)] = places
    for mine, theirs in ((column.missing_code, before.missing_code), (column.suppressed_code, before.suppressed_code)):
        if mine is not None:
            place[mine] = -1 if theirs is None else theirs
    if (place < 0).any():
        raise ReleaseError(
            "not-as-promised", "Column '{column}' of the written release has unexpected values.", column=column.name
        )
    return place.astype(narrowest(max(before.size, 1)))
