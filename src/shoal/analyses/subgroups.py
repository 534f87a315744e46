"""Subgroups: the suppressed share of each group. A release may suppress some groups more than others."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from shoal.analyses.estimate import Estimate
from shoal.analyses.study import Study
from shoal.recoding.nodes import Ints
from shoal.recoding.recoding import Recoded

MOST = 50  # maximum number of categories evaluated one by one


@dataclass(frozen=True, slots=True)
class Subgroup:
    """Records with one value of a column, or in one fifth of its numbers.

    ``suppressed``: the share of them that is suppressed; ``overall``: that of all records. ``share_before``,
    ``share_after``: the share of the subgroup in all records and in the released ones. ``differs``: whether its
    suppressed share differs significantly from that of all records, with a Bonferroni correction for the number of
    subgroups.
    """

    column: str
    label: str
    records: int
    suppressed: Estimate
    overall: float
    share_before: float
    share_after: float
    differs: bool


def subgroups(study: Study, column: str) -> list[Subgroup]:
    """Compare the subgroups of a column, the largest suppressed share first; numbers are divided into fifths.

    >>> import shoal
    >>> before = {"id": list(range(8)), "sex": list("ffffmmmm")}
    >>> found = shoal.compare(before, {"id": [0, 1, 2, 3, 4], "sex": list("ffffm")}, key="id")
    >>> [(one.label, one.suppressed.value, one.share_after) for one in found.subgroups("sex")]
    [('m', 0.75, 0.2), ('f', 0.0, 0.8)]
    """
    labels, group = _groups(study, column)
    number, kept = len(labels), study.released
    records = np.bincount(group, minlength=number)
    gone, left = np.bincount(group[~kept], minlength=number), np.bincount(group[kept], minlength=number)
    pairs = np.unique(np.stack([group, study.persons]), axis=1)
    persons = np.bincount(pairs[0], minlength=number)
    overall = float((~kept).mean())
    codes = np.flatnonzero(records)
    groups = []
    for code in codes.tolist():
        share = float(gone[code] / records[code])
        strict = Estimate.share(share, int(persons[code]), level=1 - 0.05 / len(codes))
        groups.append(
            Subgroup(
                column,
                labels[code],
                int(records[code]),
                Estimate.share(share, int(persons[code])),
                overall,
                float(records[code] / len(group)),
                float(left[code] / max(int(kept.sum()), 1)),
                not strict.low <= overall <= strict.high,
            )
        )
    return sorted(groups, key=lambda group: -group.suppressed.value)


def _groups(study: Study, name: str) -> tuple[list[str], Ints]:
    """Return the labels of the subgroups, and the subgroup of each record."""
    column = study.recoding[name]
    codes = column.matched[study.rows].astype(np.int64)
    places = column.domain.positions
    if places is None or len(column.domain.column.values) <= 10:
        return _frequent(column, codes)
    values = places[codes]
    edges = np.unique(np.quantile(values[~np.isnan(values)], np.linspace(0, 1, 6), method="inverted_cdf"))
    written = dict(zip(places.tolist(), column.domain.column.labels().to_pylist(), strict=True))
    texts = [written[edge] for edge in edges.tolist()]
    ranges = [f"over {low} to {high}" for low, high in pairwise(texts)] or [str(texts[0])]
    ranges[0] = ranges[0].removeprefix("over ")
    at = np.clip(np.searchsorted(edges, values, "left") - 1, 0, len(ranges) - 1)
    return [*ranges, "missing"], np.where(np.isnan(values), len(ranges), at)


def _frequent(column: Recoded, codes: Ints) -> tuple[list[str], Ints]:
    """Return the most frequent categories as subgroups, and all others as one."""
    order = np.argsort(-column.original, kind="stable")
    group = np.full(column.domain.codes, MOST)
    group[order[:MOST]] = np.arange(min(MOST, len(order)))
    texts = ["missing" if text is None else text for text in column.domain.column.labels().to_pylist()]
    shown = [texts[code] for code in order[:MOST].tolist()]
    labels = [*shown, *[""] * (MOST - len(shown)), f"{max(len(order) - MOST, 0):,} others"]
    return labels, group[codes]
