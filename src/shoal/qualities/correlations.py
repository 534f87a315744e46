"""Correlations between columns."""

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.grouping import group
from shoal.qualities.quality import QUALITIES, Aspect, Measured, Quality, Score, lost_share
from shoal.recoding.nodes import Floats, Ints
from shoal.recoding.recoding import Recoded, Recoding

_SMALL = 0.1  # correlations up to here are negligible
DENSE = 1 << 16  # cells up to which a dense table is faster than a sparse one


@QUALITIES.register("correlations")
class Correlations(Quality):
    """Change of the associations between columns.

    The correlations of each pair of columns before and after are compared: Pearson's r for two columns of numbers or
    dates (intervals count as their midpoint), the correlation ratio for one such column and a category, Cramér's V for
    two categories. The last two are corrected for chance (Kelley 1935, Bergsma 2013). A pair without remaining values
    has correlation 0. The value is the mean absolute difference over all pairs, 0 to 2; the value of a column is the
    mean over its own pairs. Cost: the sum of the differences as a share of the sum of the original correlations, at
    most 1. For the cost, correlations up to 0.1, or up to 2 / √n if that is smaller, are attributed to chance and count
    as 0. If the original has no others, the cost is the share of suppressed or changed cells.

    >>> import shoal
    >>> before, after = {"x": [1, 2, 3, 4], "y": [2, 4, 6, 8]}, {"x": [1, 2, 3, 4], "y": list("****")}
    >>> shoal.compare(before, after).quality["correlations"].total
    Score(value=1.0, cost=1.0)
    """

    name: ClassVar[str] = "correlations"
    title: ClassVar[str] = "correlations: change relative to those of the original, at most 1"
    unit: ClassVar[str] = "mean absolute change"
    aspect: ClassVar[Aspect] = Aspect.RELATIONS
    across_columns: ClassVar[bool] = True
    matched: ClassVar[bool] = True
    most_columns: ClassVar[int] = 20

    def measured(self, recoding: Recoding) -> Measured:
        """Compare the correlations of all pairs of columns."""
        varied = _varied(recoding)
        left_out = {column.name: "all its values are the same" for column in recoding.of_quasi if column not in varied}
        strengths = pairs(recoding)
        if not strengths:
            return self.result(None, {}, left_out)
        gone = {column.name: lost_share(column) for column in varied}
        chance = min(_SMALL, 2 / np.sqrt(max(recoding.records, 1)))
        scores = {
            name: _score([strength for names, strength in strengths.items() if name in names], lost, chance)
            for name, lost in gone.items()
        }
        return self.result(
            _score(list(strengths.values()), float(np.mean(list(gone.values()))), chance), scores, left_out
        )


def pairs(recoding: Recoding) -> dict[tuple[str, str], tuple[float, float]]:
    """Return the correlation of each pair of columns before and after; columns with a single value are omitted."""
    varied = _varied(recoding)
    before = {column.name: _Side.before(column) for column in varied}
    rows, counts = recoding.representatives
    after = {column.name: _Side.after(column.rows(rows)) for column in varied}
    return {
        (first, two): (before[first].beside(before[two], recoding.counts), after[first].beside(after[two], counts))
        for first, two in combinations(before, 2)
    }


def _varied(recoding: Recoding) -> list[Recoded]:
    return [column for column in recoding.of_quasi if np.count_nonzero(column.original) > 1]


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """One column of a pair, before or after.

    ``codes``: the code of each row, less than ``width``. ``shown``: whether the row is not suppressed. ``numbers``: its
    numeric value; None for a category.
    """

    codes: Ints
    width: int
    shown: NDArray[np.bool_]
    numbers: Floats | None

    @classmethod
    def before(cls, column: Recoded) -> "_Side":
        """Return the values of a column in the original."""
        codes, places = column.matched.astype(np.int64), column.domain.positions
        return cls(codes, column.domain.codes, np.ones(len(codes), bool), None if places is None else places[codes])

    @classmethod
    def after(cls, column: Recoded) -> "_Side":
        """Return the values of a column in the release."""
        numbers = None if column.domain.positions is None else column.values
        return cls(column.shown.astype(np.int64), column.width, ~column.nodes.lost[column.at], numbers)

    def beside(self, other: "_Side", counts: Ints) -> float:
        """Return the correlation with another column."""
        if self.numbers is not None and other.numbers is not None:
            return pearson(self.numbers, other.numbers, counts)
        if self.numbers is not None:
            return ratio(self.numbers, other.codes, np.where(other.shown, counts, 0))
        if other.numbers is not None:
            return other.beside(self, counts)
        both = self.shown & other.shown
        weights = counts if both.all() else np.where(both, counts, 0)
        return cramer(contingency(self.codes, other.codes, (self.width, other.width), weights))


def _score(pairs: list[tuple[float, float]], otherwise: float, chance: float) -> Score:
    """Combine the differences of some pairs into a score.

    ``otherwise``: the cost if the original has no correlations. Correlations up to ``chance`` count as 0 in the cost.
    """
    before, after = np.array(pairs).T
    related, still = (np.where(np.abs(side) > chance, side, 0.0) for side in (before, after))
    most = float(np.abs(related).sum())
    cost = min(float(np.abs(related - still).sum()) / most, 1.0) if most else otherwise
    return Score(float(np.abs(before - after).mean()), cost)


def pearson(first: Floats, two: Floats, counts: Ints) -> float:
    """Return Pearson's correlation over the rows in which both columns are known; 0 if one of them does not vary.

    >>> import numpy as np
    >>> round(pearson(np.array([1., 2, 3]), np.array([2., 4, 7]), np.ones(3, int)), 4)
    0.9934
    """
    known = ~(np.isnan(first) | np.isnan(two))
    first, two, weights = first[known], two[known], counts[known]
    if len(first) < 2:
        return 0.0
    first, two = (_centred(part, weights) for part in (first, two))
    spread = (weights * first * first).sum() * (weights * two * two).sum()
    return float(np.clip((weights * first * two).sum() / np.sqrt(spread), -1, 1)) if spread > 0 else 0.0


def ratio(numbers: Floats, groups: Ints, counts: Ints) -> float:
    """Return the correlation ratio of numbers and groups, corrected for chance; 0 if one of them does not vary.

    Its square is the share of the variance of the numbers that lies between the groups.

    >>> import numpy as np
    >>> ratio(np.array([1., 1, 9, 9]), np.array([0, 0, 1, 1]), np.ones(4, int))
    1.0
    """
    known = ~np.isnan(numbers) & (counts > 0)
    numbers, weights, groups = numbers[known], counts[known], groups[known]
    sizes = np.bincount(groups, weights)
    occurring = np.flatnonzero(sizes)
    size, number = float(weights.sum()), len(occurring)
    if number < 2 or size <= number:
        return 0.0
    apart = _centred(numbers, weights)
    whole = float((weights * apart * apart).sum())
    sums = np.bincount(groups, weights * apart)[occurring]
    inside = whole - float((sums * sums / sizes[occurring]).sum())
    if not whole:
        return 0.0
    return float(np.sqrt(np.clip(1 - inside / whole * (size - 1) / (size - number), 0, 1)))


def _centred(numbers: Floats, weights: Ints) -> Floats:
    """Return deviations from the mean, scaled to at most 1 so that their squares do not overflow."""
    apart = numbers - np.average(numbers, weights=weights)
    largest = float(np.abs(apart).max(initial=0.0))
    return apart / largest if largest else apart


@dataclass(frozen=True, slots=True, eq=False)
class Contingency:
    """Joint frequencies of two columns: ``counts[i]`` records have the codes ``rows[i]`` and ``columns[i]``."""

    rows: Ints
    columns: Ints
    counts: Floats


def contingency(first: Ints, two: Ints, widths: tuple[int, int], counts: Ints) -> Contingency:
    """Return the joint frequencies of two columns, whose codes are less than the widths."""
    width, size = widths[1], widths[0] * widths[1]
    keys = first * width + two
    if size <= DENSE:
        observed = np.bincount(keys, counts, size).astype(np.float64)
        cells = np.flatnonzero(observed)
        return Contingency(cells // width, cells % width, observed[cells])
    groups = group(keys.astype(np.uint64), size)
    cells = keys[groups.first]
    observed = np.bincount(groups.ids, counts, len(groups)).astype(np.float64)
    held_at = np.flatnonzero(observed)
    return Contingency(cells[held_at] // width, cells[held_at] % width, observed[held_at])


def cramer(table: Contingency) -> float:
    """Return Cramér's V of two categorical columns, corrected for chance; 0 if one of them does not vary.

    >>> import numpy as np
    >>> one, two = np.array([0, 0, 1, 1]), np.array([5, 5, 7, 7])
    >>> cramer(contingency(one, two, (2, 8), np.ones(4, int)))
    1.0
    >>> cramer(contingency(one, np.array([5, 7, 5, 7]), (2, 8), np.ones(4, int)))
    0.0
    """
    rows, columns = np.bincount(table.rows, table.counts), np.bincount(table.columns, table.counts)
    height, width, size = np.count_nonzero(rows), np.count_nonzero(columns), float(table.counts.sum())
    if min(height, width) < 2 or size < 2:
        return 0.0
    # Σ n²ᵢⱼ / (nᵢ nⱼ) − 1 is χ² / n
    squares = float((table.counts**2 / (rows[table.rows] * columns[table.columns])).sum()) - 1
    squares -= (height - 1) * (width - 1) / (size - 1)  # bias due to chance
    smaller = min(side - (side - 1) ** 2 / (size - 1) for side in (height, width)) - 1
    return float(np.sqrt(np.clip(squares / smaller, 0, 1))) if smaller > 0 else 0.0
