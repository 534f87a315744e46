"""The codebook: the variables of the release, as its users find them."""

from collections.abc import Iterator

import numpy as np

from shoal.reporting.audience import Audience
from shoal.reporting.chapters.variables import technique
from shoal.reporting.document import Section, Text, Tone
from shoal.reporting.findings import Findings
from shoal.sheet import Sheet
from shoal.table.column import SUPPRESSED, Column
from shoal.table.kind import Kind
from shoal.table.scale import scale
from shoal.words import short

MOST = 24  # values of a column that are listed
FEW = 60  # numbers that are listed one by one; more are described


def codebook(found: Findings, audience: Audience) -> Section:
    """Describe each variable of the release: its values, how frequent they are, and how it was made."""
    told = f" Values of fewer than {audience.least:,} records are not named." if audience.external else ""
    lead = Text(f"The variables of the released table. * means that a value is not shown.{told}", Tone.LEAD)
    parts = [_overview(found, audience), *_values(found, audience)]
    return Section.of("Codebook", "codebook", [lead, *parts])


def _overview(found: Findings, audience: Audience) -> Sheet:
    rows = []
    for column in found.released.columns:
        counts = _counts(found, column.name)
        gaps = [0 if code is None else int(counts[code]) for code in (column.missing_code, column.suppressed_code)]
        made = technique(found, column.name) if column.name in found.original else "added"
        numbers = (audience.count(gap) if gap else "·" for gap in gaps)
        rows.append((column.name, str(column.kind), made, f"{len(column.values):,}", *numbers))
    headings = ("variable", "kind", "how it was made", "values", "missing", "not shown (*)")
    return Sheet("Variables", headings, tuple(rows), words=3)


def _counts(found: Findings, name: str) -> np.ndarray:
    return np.bincount(found.released.codes(name), minlength=found.released[name].size)


def _values(found: Findings, audience: Audience) -> Iterator[Sheet]:
    for column in found.released.columns:
        counts = _counts(found, column.name)
        if len(column.values) > FEW and scale(column) is not None:
            yield _described(column, counts, audience)
        else:
            yield _listed(column, counts, audience)


def _listed(column: Column, counts: np.ndarray, audience: Audience) -> Sheet:
    """List the values that are frequent enough, and put the others together."""
    hidden, size = audience.hidden(counts), max(int(counts.sum()), 1)
    order = np.argsort(-counts, kind="stable")
    shown = [code for code in order.tolist() if counts[code] and not hidden[code]][:MOST]
    labels = _labels(column)
    rows = [(labels[code], f"{counts[code]:,}", f"{counts[code] / size:.1%}") for code in shown]
    number = int(np.count_nonzero(counts)) - len(shown)
    rest = size - int(counts[shown].sum())
    if number:
        rows.append((f"{number:,} others", f"{rest:,}", f"{rest / size:.1%}"))
    return Sheet(column.name, ("value", "records", "share"), tuple(rows))


def _labels(column: Column) -> list[str]:
    found = ["" if label is None else str(label) for label in column.labels().to_pylist()]
    if column.missing_code is not None:
        found[column.missing_code] = "(missing)"
    if column.suppressed_code is not None:
        found[column.suppressed_code] = SUPPRESSED
    return found


def _described(column: Column, counts: np.ndarray, audience: Audience) -> Sheet:
    """Describe numbers; the smallest, the largest and the quartiles are somebody's, and are for the owner only."""
    places = scale(column)
    known = ~np.isnan(places) & (counts > 0) if places is not None else np.zeros(len(counts), bool)
    days = column.kind in {Kind.DATE, Kind.DATETIME}
    rows = [("records with a value", f"{int(counts[known].sum()):,}")]
    if places is not None and known.any() and not days:
        mean = float(np.average(places[known], weights=counts[known]))
        spread = float(np.sqrt(np.average((places[known] - mean) ** 2, weights=counts[known])))
        rows += [("mean", short(mean)), ("standard deviation", short(spread))]
    if places is not None and known.any() and not audience.external:
        rows += _quartiles(column, counts, known)
    return Sheet(column.name, ("", "value"), tuple(rows))


def _quartiles(column: Column, counts: np.ndarray, known: np.ndarray) -> list[tuple[str, str]]:
    """Return values of the release at the quartiles; the codes of an ordered column ascend."""
    places = scale(column)
    codes = np.flatnonzero(known)
    codes = codes if places is None else codes[np.argsort(places[codes], kind="stable")]
    sums = np.cumsum(counts[codes])
    labels = _labels(column)
    names = {"smallest": 0.0, "first quartile": 0.25, "median": 0.5, "third quartile": 0.75, "largest": 1.0}
    at = {name: codes[min(np.searchsorted(sums, share * sums[-1]), len(codes) - 1)] for name, share in names.items()}
    return [(name, labels[code]) for name, code in at.items()]
