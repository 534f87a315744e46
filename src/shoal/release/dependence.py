"""Dependence of released labels on suppressed values.

Some hierarchies are built from the values of the table: automatic ones, frequencies, and neighbours in an order that is
not declared. Their labels may depend on a value that only suppressed persons have, and then disclose that this value
exists. To detect this, the hierarchy is built again from the released records alone.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.classes.shown import counted_rows
from shoal.errors import ReleaseError
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.kernels.summing import summed
from shoal.release.case import Case
from shoal.release.transformation import Transformation
from shoal.remedy import ColumnSetting, either
from shoal.table.column import as_text
from shoal.table.compaction import compacted


def dependent_labels(case: Case, transformation: Transformation) -> tuple[str, ...]:
    """Return the quasi-identifiers whose labels depend on suppressed values.

    Labels that contain such a value are refused.
    """
    suppressed, moved = transformation.suppressed, transformation.moved
    away = suppressed if moved is None else suppressed | moved
    if not away.any() or case.register is not None:  # the values of a register are known anyway
        return ()
    names = tuple(_dependent(case, transformation, np.flatnonzero(~away)))
    for name in names:
        if case.policy.spec(name).resolved(case.table[name]).names_values:
            raise ReleaseError(
                "labels-disclose-values",
                "Labels of column '{column}' contain values that only suppressed individuals have.",
                remedy=either(
                    ColumnSetting("hierarchy", {"kind": "order", "order": ["…"]}),
                    ColumnSetting("hierarchy", {"kind": "interval"}),
                ),
                column=name,
            )
    return names


def _dependent(case: Case, transformation: Transformation, kept: NDArray[np.intp]) -> Iterator[str]:
    """Yield the columns with a label that does not occur in the hierarchy of the released records alone."""
    rows = transformation.rows
    persons = rows.counts if case.table.subject is None else counted_rows(case.table, rows.columns)[1].counts
    for name, codes in zip(rows.columns, rows.codes, strict=True):
        if name not in case.table.quasi:
            continue  # the subject, which tells rows apart
        spec = case.policy.spec(name)
        if not spec.of_data:
            continue
        column, left = compacted(case.table[name], codes[kept])
        counts = summed(left, (persons if spec.of_persons else rows.counts)[kept], column.size)
        released, shown = transformation.cells[name]
        before, after, labels = np.unique(np.stack([codes[kept], left, shown[kept]]).astype(np.int64), axis=1)
        texts = as_text(released.labels()).take(pa.array(labels))
        rebuilt = spec.build(column, counts, case.policy.folder)
        if (_is_label(case.hierarchies[name], before, texts) & ~_is_label(rebuilt, after, texts)).any():
            yield name


def _is_label(hierarchy: Hierarchy, codes: NDArray[np.int64], texts: pa.Array) -> NDArray[np.bool_]:
    """Return whether each text is the label of its code on some level of a hierarchy."""
    labels = np.zeros(len(codes), bool)
    for level in range(hierarchy.height + 1):
        same = pc.equal(hierarchy.labels(level).take(pa.array(codes)), texts).fill_null(False)
        labels |= same.to_numpy(zero_copy_only=False)
    return labels
