"""Sliced records: the released records of a case, as a separation by groups of columns reads them."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from shoal.classes.histogram import Histogram
from shoal.classes.shown import combination
from shoal.errors import ModelError, PolicyError
from shoal.kernels.grouping import group_rows
from shoal.kernels.tallying import RowPlaces
from shoal.kernels.translation import Codes
from shoal.models.evidence import Evidence, View
from shoal.models.model import Scope
from shoal.release.case import Case
from shoal.release.drawing import PLACES
from shoal.release.kept_records import KeptRecords
from shoal.release.transformation import Transformation
from shoal.remedy import Setting, by
from shoal.separation.sliceable import Cells, Ids, Mask, SliceableRecords
from shoal.table.column import Column


def sliceable(case: Case, transformation: Transformation, records: KeptRecords) -> SliceableRecords:
    """Return the records to be released; an error if individuals have several, or if quasi-identifiers are drawn."""
    table = case.table
    _check(case, transformation)
    draws = records.draws(table.sensitive[0], (*table.quasi, *table.sensitive), None, PLACES)
    rows = transformation.rows
    places = RowPlaces([table[name].size for name in table.quasi])
    places.of([rows.codes[rows.columns.index(name)] for name in table.quasi])
    if len(places) < len(rows):
        raise PolicyError(
            "records-divided",
            "The technique generalises records with the same values differently, so the release cannot be sliced.",
            remedy=by("Keep records with the same values together", Setting("search.recoding.strict", True)),
        )
    of_row = places.of([draws.codes[name] for name in table.quasi])
    quasi = {name: (column, codes[of_row]) for name, (column, codes) in transformation.cells.items()}
    sensitive = {name: (table[name], draws.codes[name]) for name in table.sensitive}
    ladders = dict(zip(case.space.names, case.space.ladders, strict=True))
    order = {
        name: _order(ladders[case.leaders.get(name, name)].places, draws.codes[case.leaders.get(name, name)], codes)
        for name, (_, codes) in quasi.items()
    }
    return SliceableRecords(draws, quasi, sensitive, order, _failing(case, sensitive))


def _check(case: Case, transformation: Transformation) -> None:
    """Refuse individuals with several records, and quasi-identifiers whose values are drawn record by record."""
    drawn = [*case.policy.drawn_quasi(case.given), *(change.name for change in transformation.drawn)]
    if drawn:
        raise PolicyError(
            "perturbed-and-separated",
            "The values of column '{column}' are drawn at random, so the release cannot be sliced.",
            remedy=Setting("search.publish", "table"),
            column=drawn[0],
        )
    if case.persons < case.table.records:
        raise ModelError(
            "several-records",
            "Some individuals have several records. Slicing requires one per individual.",
            remedy=Setting("search.publish", "buckets"),
        )


def _order(places: Ids, codes: Codes, cells: Codes) -> Ids:
    """Return the place of the released cell of each record: cells in the order of the mean place of their values."""
    number = int(cells.max(initial=0)) + 1
    totals, records = np.bincount(cells, places[codes], number), np.bincount(cells, minlength=number)
    means = np.where(records > 0, totals / np.maximum(records, 1), np.inf)
    return np.argsort(np.argsort(means, kind="stable"), kind="stable")[cells].astype(np.uint32)


def _failing(case: Case, sensitive: Cells) -> Callable[[NDArray[np.intp], Ids, int], Mask]:
    """Return the evaluation of the requirements on sensitive values, for classes of records."""
    models = [model for model in case.asked_of_values if model.scope is Scope.CLASS]
    views = [(model, view) for model in models for view in model.views((), case.table.sensitive)]
    if not views:
        return lambda chosen, classes, number: np.zeros(number, bool)  # noqa: ARG005 - no requirements
    base = case.gatherer.evidence(View(case.table.quasi)).classes
    columns = {view: _column(view, sensitive) for _, view in views}

    def failing(chosen: NDArray[np.intp], classes: Ids, number: int) -> Mask:
        failed = np.zeros(number, bool)
        for model, view in views:
            others = [(column, codes[chosen]) for column, codes in (sensitive[name] for name in view.quasi)]
            sizes = [number, *(column.size for column, _ in others)]
            known = group_rows([classes, *(codes for _, codes in others)], sizes, len(chosen))
            column, codes = columns[view]
            histogram = _histogram(column, codes, known.ids, codes[chosen].astype(np.uint32))
            of_classes = base.instead(known.counts, {column.name: histogram})
            evidence = Evidence(of_classes, view.column, case.gatherer.hierarchies, case.gatherer.population)
            failed[classes[known.first[model.failing(evidence)]]] = True
        return failed

    return failing


def _histogram(column: Column, codes: Codes, classes: Ids, values: Ids) -> Histogram:
    """Return the values of some records by class; ``codes``: the values of all records."""
    number, reference = int(classes.max(initial=0)) + 1, np.bincount(codes, minlength=column.size)
    cells = group_rows([classes, values], [number, column.size], len(values))
    return Histogram.of(column, classes[cells.first], values[cells.first], cells.counts, number, reference)


def _column(view: View, sensitive: Cells) -> tuple[Column, Codes]:
    """Return the sensitive column of a view; a combination of several counts as one."""
    columns = [sensitive[name] for name in view.sensitive]
    return combination(columns, len(columns[0][1])) if view.combined else columns[0]
