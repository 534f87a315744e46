"""Subgroups: who was suppressed? A release may lose some people more than others."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from shoal.analyses.estimate import Estimate
from shoal.analyses.study import Study
from shoal.recoding.nodes import Ints


@dataclass(frozen=True, slots=True)
class Subgroup:
    """Records with one value of a column, or in one fifth of its numbers.

    ``suppressed``: the share of them that is not released; ``overall``: of all records. ``share_before``,
    ``share_after``: how large the subgroup is among all records and among the released ones.
    """

    column: str
    label: str
    records: int
    suppressed: Estimate
    overall: float
    share_before: float
    share_after: float

    @property
    def differs(self) -> bool:
        """Whether it loses more or fewer records than all do, beyond chance."""
        return not self.suppressed.low <= self.overall <= self.suppressed.high


def subgroups(study: Study, column: str) -> list[Subgroup]:
    """Compare the subgroups of a column, the one that loses most first; numbers are cut into fifths.

    >>> import shoal
    >>> before = {"id": list(range(8)), "sex": list("ffffmmmm")}
    >>> found = shoal.compare(before, {"id": [0, 1, 2, 3, 4], "sex": list("ffffm")}, key="id")
    >>> [(one.label, one.suppressed.value, one.share_after) for one in found.subgroups("sex")]
    [('m', 0.75, 0.2), ('f', 0.0, 0.8)]
    """
    labels, group = _groups(study, column)
    gone = (~study.released).astype(np.float64)
    overall = float(gone.mean())
    kept = max(int(study.released.sum()), 1)
    found = []
    for number, label in enumerate(labels):
        inside = group == number
        if inside.any():
            found.append(
                Subgroup(
                    column,
                    label,
                    int(inside.sum()),
                    Estimate.share(float(gone[inside].mean()), len(np.unique(study.persons[inside]))),
                    overall,
                    float(inside.mean()),
                    float((inside & study.released).sum() / kept),
                )
            )
    return sorted(found, key=lambda one: -one.suppressed.value)


def _groups(study: Study, name: str) -> tuple[list[str], Ints]:
    """Return the labels of the subgroups, and the one that each record is in."""
    column = study.recoding[name]
    codes = column.matched[study.rows].astype(np.int64)
    places = column.domain.positions
    if places is None or len(column.domain.column.values) <= 10:
        labels = ["missing" if label is None else label for label in column.domain.column.labels().to_pylist()]
        return labels, codes
    values = places[codes]
    known = values[~np.isnan(values)]
    edges = np.unique(np.quantile(known, np.linspace(0, 1, 6), method="inverted_cdf"))
    written = dict(zip(places.tolist(), column.domain.column.labels().to_pylist(), strict=True))
    texts = [written[edge] for edge in edges.tolist()]
    ranges = [f"{low} to {high}" for low, high in pairwise(texts)] or [f"{texts[0]}"]
    at = np.clip(np.searchsorted(edges, values, "left") - 1, 0, len(ranges) - 1)
    return [*ranges, "missing"], np.where(np.isnan(values), len(ranges), at)
