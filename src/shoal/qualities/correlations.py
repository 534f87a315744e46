"""Correlations between columns."""

from itertools import combinations
from typing import ClassVar

import numpy as np

from shoal.kernels.grouping import group
from shoal.kernels.translation import Codes
from shoal.qualities.quality import QUALITIES, Measured, Quality, Score
from shoal.recoding.nodes import Floats, Ints
from shoal.recoding.recoding import Recoded, Recoding


@QUALITIES.register("correlations")
class Correlations(Quality):
    """How much the relations between columns have changed.

    For each pair of columns the difference between its correlation before and after: Pearson's r for numbers and dates
    (intervals count as their middle), Cramér's V otherwise; a pair of which nothing is left has 0. The value is the
    mean difference over all pairs, 0 to 2; a column's is the mean over its own pairs. Cost: the sum of the differences
    as a share of the sum of the original's correlations, at most 1.

    >>> import shoal
    >>> before, after = {"x": [1, 2, 3, 4], "y": [2, 4, 6, 8]}, {"x": [1, 2, 3, 4], "y": list("****")}
    >>> shoal.compare(before, after).quality["correlations"].total
    Score(value=1.0, cost=1.0)
    """

    name: ClassVar[str] = "correlations"
    unit: ClassVar[str] = "correlation"
    matched: ClassVar[bool] = True

    def measured(self, recoding: Recoding) -> Measured:
        """Compare all pairs."""
        columns = [column for column in recoding.of_quasi if np.count_nonzero(column.original) > 1]
        left_out = {one.name: "all its values are the same" for one in recoding.of_quasi if one not in columns}
        if len(columns) < 2:
            return self.result(None, {}, left_out)
        pairs = {(one.name, two.name): _changed(one, two, recoding.counts) for one, two in combinations(columns, 2)}
        scores = {
            column.name: _score([held for names, held in pairs.items() if column.name in names]) for column in columns
        }
        return self.result(_score(list(pairs.values())), scores, left_out)


def _score(pairs: list[tuple[float, float]]) -> Score:
    before, after = np.array(pairs).T
    apart, most = np.abs(before - after), np.abs(before).sum()
    return Score(float(apart.mean()), min(float(apart.sum() / most), 1.0) if most else float(apart.any()))


def _changed(one: Recoded, two: Recoded, counts: Ints) -> tuple[float, float]:
    """Return the correlation of two columns before and after."""
    if one.domain.positions is not None and two.domain.positions is not None:
        before = (one.domain.positions[one.matched], two.domain.positions[two.matched])
        return pearson(*before, counts), pearson(one.values, two.values, counts)
    kept = ~(one.nodes.lost[one.at] | two.nodes.lost[two.at])
    after = cramer(one.shown[kept], two.shown[kept], two.width, counts[kept])
    return cramer(one.matched, two.matched, two.domain.codes, counts), after


def pearson(one: Floats, two: Floats, counts: Ints) -> float:
    """Return the correlation of numbers, where both are known; 0 if one of them does not vary.

    >>> import numpy as np
    >>> round(pearson(np.array([1., 2, 3]), np.array([2., 4, 7]), np.ones(3, int)), 4)
    0.9934
    """
    known = ~(np.isnan(one) | np.isnan(two))
    one, two, weights = one[known], two[known], counts[known]
    if len(one) < 2:
        return 0.0
    one, two = one - np.average(one, weights=weights), two - np.average(two, weights=weights)
    spread = np.dot(weights, one * one) * np.dot(weights, two * two)
    return float(np.clip(np.dot(weights, one * two) / np.sqrt(spread), -1, 1)) if spread > 0 else 0.0


def cramer(one: Codes, two: Codes, width: int, counts: Ints) -> float:
    """Return Cramér's V of two columns of categories; 0 if one of them does not vary. The second has ``width`` codes.

    >>> import numpy as np
    >>> cramer(np.array([0, 0, 1, 1], np.uint8), np.array([5, 5, 7, 7], np.uint8), 8, np.ones(4, int))
    1.0
    """
    if not len(one):
        return 0.0
    cells = group(one.astype(np.uint64) * np.uint64(width) + two, (int(one.max()) + 1) * width)
    held = np.bincount(cells.ids, counts, len(cells))
    rows, columns = one[cells.first], two[cells.first]
    row_sums, column_sums = np.bincount(rows, held), np.bincount(columns, held)
    smaller = min(np.count_nonzero(row_sums), np.count_nonzero(column_sums)) - 1
    if not smaller:
        return 0.0
    squares = float((held * held / (row_sums[rows] * column_sums[columns])).sum()) - 1  # Σ n²ᵢⱼ/(nᵢnⱼ) − 1 is χ²/n
    return float(np.sqrt(np.clip(squares / smaller, 0, 1)))
