"""Codebook: the variables of the release, for its users."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from shoal.recoding.nodes import Floats
from shoal.reporting.audience import Audience
from shoal.reporting.chapters.chapter import chapter
from shoal.reporting.chapters.variables import technique
from shoal.reporting.document import Beside, Block, Section, Text, Tone
from shoal.reporting.findings import PublicFindings, ValueCounts
from shoal.sheet import Sheet
from shoal.table.column import SUPPRESSED, Column
from shoal.table.kind import Kind
from shoal.table.scale import scale
from shoal.words import counted, short
from shoal.words import share as share_of

MOST = 24  # maximum number of values listed per column
FEW = 60  # maximum number of distinct numbers listed; more are summarised


@chapter("codebook", place=110)
def codebook(findings: PublicFindings, audience: Audience) -> Section:
    """Describe each variable of the release: its values, their frequency and the technique applied."""
    note = (
        f" Values of fewer than {audience.least:,} individuals, and values that would reveal them, are not named."
        if audience.external
        else ""
    )
    lead = Text(
        f"The variables of the released table. * means suppressed. At most {MOST} values are listed.{note}", Tone.LEAD
    )
    if audience.external and not findings.countable:
        values: Block = Text(f"{findings.uncountable} Values are therefore not listed.", Tone.NOTE)
    else:
        values = Beside(tuple(_values(findings, audience)))
    return Section.of("Codebook", "codebook", [lead, _overview(findings, audience), values])


def _overview(findings: PublicFindings, audience: Audience) -> Sheet:
    rows, counts_gaps = [], findings.countable or not audience.external
    for name in findings.own_columns:
        column, counts = findings.seen[name], findings.counts[name]
        hidden = audience.hidden(counts.persons)
        codes = (column.missing_code, column.suppressed_code) if counts_gaps else ()
        gaps = [_gap(counts, hidden, code) for code in codes]
        done = technique(findings, name) if name in findings.variables else "added"
        number = np.count_nonzero(counts.records[: len(column.values)])
        rows.append((name, str(findings.released[name].kind), done, f"{number:,}", *gaps))
    headings = ("variable", "type", "technique", "values", *(("missing", "suppressed (*)") if counts_gaps else ()))
    return Sheet("Variables", headings, tuple(rows), words=3)


def _gap(counts: ValueCounts, hidden: NDArray[np.bool_], code: int | None) -> str:
    if code is None or not counts.records[code]:
        return "·"
    return "not published" if hidden[code] else f"{counts.records[code]:,}"


def _values(findings: PublicFindings, audience: Audience) -> Iterator[Sheet]:
    for name in findings.own_columns:
        column, counts = findings.seen[name], findings.counts[name]
        if name in findings.naming or name in findings.pseudonyms:
            which = "pseudonyms" if name in findings.pseudonyms else "identifies individuals"
            yield Sheet(name, ("value", "records", "share"), ((f"{which}: not listed", "", ""),))
        elif np.count_nonzero(counts.records) > FEW and scale(column) is not None:
            yield _described(findings, name, audience)
        else:
            yield _listed(column, counts, audience)


def _listed(column: Column, counts: ValueCounts, audience: Audience) -> Sheet:
    """List the values that enough persons have, and combine the others."""
    records, hidden = counts.records, audience.hidden(counts.persons)
    size, labels = max(int(records.sum()), 1), _labels(column)
    order = np.argsort(-records, kind="stable").tolist()
    shown = [code for code in order if records[code] and not hidden[code]][:MOST]
    rows = [(labels[code], f"{records[code]:,}", share_of(records[code] / size)) for code in shown]
    others = np.setdiff1d(np.flatnonzero(records), shown)
    number, rest = int(np.count_nonzero(others < len(column.values))), int(records[others].sum())
    if len(others) and (shown or not audience.external):
        gap = " and missing or suppressed cells" if number < len(others) else ""
        rows.append((f"{counted(number, 'other value')}{gap}", f"{rest:,}", share_of(rest / size)))
    elif len(others):
        rows.append(("not published", "", ""))
    return Sheet(column.name, ("value", "records", "share"), tuple(rows))


def _labels(column: Column) -> list[str]:
    labels = ["" if label is None else str(label) for label in column.labels().to_pylist()]
    if column.missing_code is not None:
        labels[column.missing_code] = "(missing)"
    if column.suppressed_code is not None:
        labels[column.suppressed_code] = SUPPRESSED
    return labels


def _described(findings: PublicFindings, name: str, audience: Audience) -> Sheet:
    """Summarise a numeric variable.

    The minimum, the maximum and the quartiles are values of individuals and are shown to the owner only.
    """
    column, counts = findings.seen[name], findings.counts[name]
    places, records = scale(column), counts.records
    if places is None:
        return _listed(column, counts, audience)
    known = ~np.isnan(places) & (records > 0)
    holders, number = findings.holders(name, known), int(records[known].sum())
    if _hides(findings, audience, holders):
        return Sheet(name, ("", "value"), (("not published", ""),))
    rows = [("records with a value", f"{number:,}")]
    if known.any() and column.kind not in {Kind.DATE, Kind.DATETIME}:
        mean = float(np.average(places[known], weights=records[known]))
        squares = float(np.sum(records[known] * (places[known] - mean) ** 2))
        spread = short(np.sqrt(squares / (number - 1)), digits=5) if number > 1 else "·"
        rows += [("mean", short(mean, digits=5)), ("standard deviation", spread)]
    if known.any() and not audience.external:
        rows += _quartiles(column, places, records, known)
    quartiles = "" if audience.external else "; quartiles are interpolated (type 7, as in R and pandas)"
    notes = (f"Standard deviation with n − 1{quartiles}.",)
    return Sheet(column.name, ("", "value"), tuple(rows), notes if column.kind.numeric else ())


def _hides(findings: PublicFindings, audience: Audience, holders: int) -> bool:
    """Return whether the persons with a value, or those without one, are too few to be described."""
    if not audience.external:
        return False
    return not findings.countable or audience.hides(holders) or audience.hides(findings.persons - holders)


def _quartiles(
    column: Column, places: Floats, records: NDArray[np.intp], known: NDArray[np.bool_]
) -> list[tuple[str, str]]:
    """Return the minimum, quartiles and maximum of the released values.

    Numbers are interpolated; of two dates the earlier one is taken.
    """
    codes = np.flatnonzero(known)
    codes = codes[np.argsort(places[codes], kind="stable")]
    sums, labels = np.cumsum(records[codes]), _labels(column)
    names = {"smallest": 0.0, "first quartile": 0.25, "median": 0.5, "third quartile": 0.75, "largest": 1.0}

    def quantile(share: float) -> str:
        rank = share * (sums[-1] - 1)
        low, high = (int(codes[np.searchsorted(sums, at, "right")]) for at in (np.floor(rank), np.ceil(rank)))
        if low == high or not column.kind.numeric:
            return labels[low]
        return short(places[low] + (rank - np.floor(rank)) * (places[high] - places[low]), digits=5)

    return [(name, quantile(share)) for name, share in names.items()]
