"""Inheritance: whoever has all tables of a release knows of a record what the records show that it refers to.

So what those show counts as known: a record of an admission hides among the admissions of patients who look alike.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.kernels.translation import Codes, narrowest
from shoal.table.column import Column
from shoal.table.kind import Kind
from shoal.table.raw import Encoded
from shoal.table.table import Table

_BETWEEN, _MISSING = "\x1f", "\x00"


def shown_classes(table: Table, quasi: Sequence[str], inherited: Sequence[Encoded]) -> Encoded | None:
    """Return what each record shows, as one text: its quasi-identifiers, and what it has inherited itself.

    >>> import shoal
    >>> found = shown_classes(shoal.read({"sex": ["f", "m", "f"]}), ["sex"], [])
    >>> found.column.values.to_pylist(), found.codes.tolist()
    (['f', 'm'], [0, 1, 0])
    """
    own = [Encoded(table[name], table.codes(name)) for name in quasi]
    parts = [*own, *inherited]
    if not parts:
        return None
    named = [Encoded(_named(part.column, f"c{place}"), part.codes) for place, part in enumerate(parts)]
    joined = Table.of(named, table.records, table.source)
    rows = joined.distinct()
    texts = [
        np.array([_MISSING if label is None else label for label in part.column.labels().to_pylist()], object)[codes]
        for part, codes in zip(parts, rows.codes, strict=True)
    ]
    labels = [_BETWEEN.join(row) for row in zip(*texts, strict=True)]
    values = sorted(set(labels))
    place = {label: number for number, label in enumerate(values)}
    codes = np.array([place[label] for label in labels], narrowest(max(len(values), 1)))
    return Encoded(Column("class", Kind.TEXT, pa.array(values, pa.string())), joined.engine.expand(rows, codes))


def handed_down(shown: Encoded, records: NDArray[np.intp], name: str) -> Encoded:
    """Return the column that records get which refer to these records of another table."""
    codes: Codes = shown.codes[records]
    return Encoded(_named(shown.column, name), codes)


def _named(column: Column, name: str) -> Column:
    return Column(name, column.kind, column.values, column.missing, column.suppressed)
