"""Information loss of a release, measured on its released cells as ``shoal.compare`` measures it."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from shoal.classes.shown import counted_rows
from shoal.kernels.compatibility import Persons
from shoal.kernels.grouping import group_rows
from shoal.kernels.summing import summed
from shoal.kernels.translation import Codes, narrowest
from shoal.qualities.quality import Measured, Quality
from shoal.recoding.nodes import Domain, Floats, Ints
from shoal.recoding.of_tables import relate, whole
from shoal.recoding.placing import place
from shoal.recoding.recoding import Recoded, Recoding
from shoal.release.case import Case
from shoal.release.origins import Origins
from shoal.release.sampling import taken
from shoal.release.transformation import Transformation
from shoal.release.transformed import Transformed
from shoal.table.column import Column
from shoal.table.compaction import compacted


def measured(
    case: Case, transformation: Transformation, transformed: Transformed, asked: Mapping[str, Quality]
) -> dict[str, Measured]:
    """Return the quality measures of a release.

    The search knows the level of every label. A recipient of the release does not, and the same label may occur on
    several levels. Cells are therefore interpreted here as in ``shoal.compare``, so that both report the same values.
    Linked columns are not counted.
    """
    if case.whole is not case.given or transformation.drawn:  # codes or dates differ, or cells differ by record
        recoding = _by_record(case, transformed, [name for quality in asked.values() for name in quality.beside])
        return {name: quality.measure(recoding) for name, quality in asked.items()}
    recoding = _by_row(case, transformation)
    return {name: quality.measure(recoding.beside(case.table, quality.beside)) for name, quality in asked.items()}


def _by_row(case: Case, transformation: Transformation) -> Recoding:
    """Return the recoding of each distinct row."""
    rows, cells = transformation.rows, transformation.cells
    kept = np.flatnonzero(~transformation.suppressed)
    persons = None if case.table.subject is None else counted_rows(case.table, rows.columns)[1].holders()
    columns = []
    for name, codes in zip(rows.columns, rows.codes, strict=True):
        if name not in case.table.quasi:
            continue  # the subject, which tells rows apart
        domain = Domain.of(case.table[name], case.hierarchies[name])
        column, shown = compacted(cells[name][0], cells[name][1][kept])
        written = np.full(len(rows), column.size, narrowest(column.size + 1))  # suppressed rows have the last code
        written[kept] = shown
        known = np.flatnonzero(codes < len(domain.column.values))
        shares = None if persons is None else _persons(persons, written, known, column.size + 1)
        columns.append(_placed(case, column, codes, written, rows.counts, shares, domain))
    quasi = tuple(column.name for column in columns)
    apart = () if quasi == rows.columns else rows.columns
    return whole(columns, quasi, rows.counts, told_apart=apart)


def _placed(  # noqa: PLR0913, PLR0917 - a column before and after
    case: Case, column: Column, codes: Codes, shown: Codes, counts: Ints, persons: Floats | None, domain: Domain
) -> Recoded:
    """Return the recoding of a quasi-identifier."""
    original = summed(codes, counts, domain.codes)
    is_represented = column.name in case.show
    return place(domain, column, codes, shown, counts, original, persons=persons, represented=is_represented).recoded


def _persons(persons: Persons, shown: Codes, known: NDArray[np.intp], width: int) -> Floats:
    """Return the number of persons in each row: once among rows that show the same, in equal shares of the known."""
    is_known = np.zeros(len(shown), bool)
    is_known[known] = True
    there = np.flatnonzero(is_known[persons.rows])
    rows, holders = persons.rows[there], persons.holders[there]
    alike = group_rows([holders, shown[rows]], [len(persons.weights), width], len(there))
    return np.asarray(np.bincount(rows, persons.weights[holders] / alike.counts[alike.ids], len(shown)), np.float64)


def _by_record(case: Case, transformed: Transformed, beside: list[str]) -> Recoding:
    """Return the recoding of each record of the original table, or of its sample."""
    given = case.given if case.drawn is None else taken(case.given, case.drawn)[0]
    match = Origins(transformed.origins()).match(given, transformed.table)
    quasi, ladders = case.table.quasi, case.policy.hierarchies(given)
    return relate(given, transformed.table, [*quasi, *beside], quasi, match, ladders, case.show).recoding
