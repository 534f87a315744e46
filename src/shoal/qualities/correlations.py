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

_SMALL = 0.1  # a correlation that nobody would speak of
DENSE = 1 << 16  # cells up to which a whole table is quicker than only those that are not empty


@QUALITIES.register("correlations")
class Correlations(Quality):
    """Change of the associations between columns.

    For each pair of columns the difference between its correlation before and after: Pearson's r for two columns of
    numbers or dates (intervals count as their middle), the correlation ratio for one of them and a category, Cramér's V
    for two categories, the last two without what chance adds (Kelley 1935, Bergsma 2013). A pair of which nothing is
    left has 0. The value is the mean difference over all pairs, 0 to 2; a column's is the mean over its own pairs.
    Cost: the sum of the differences as a share of the sum of the original's correlations, at most 1; correlations below
    0.1, or below 2 / √n if that is less, are chance and count as 0 there. Where there are no others, the share of cells
    that are lost.

    >>> import shoal
    >>> before, after = {"x": [1, 2, 3, 4], "y": [2, 4, 6, 8]}, {"x": [1, 2, 3, 4], "y": list("****")}
    >>> shoal.compare(before, after).quality["correlations"].total
    Score(value=1.0, cost=1.0)
    """

    name: ClassVar[str] = "correlations"
    aspect: ClassVar[Aspect] = Aspect.RELATIONS
    matched: ClassVar[bool] = True
    most_columns: ClassVar[int] = 20

    def measured(self, recoding: Recoding) -> Measured:
        """Compare all pairs."""
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
    """Return the correlation of each pair of columns before and after; of columns that have only one value, none."""
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
    """One column of a pair: the code of each row below ``width``, as far as it is ``shown``; and as numbers."""

    codes: Ints
    width: int
    shown: NDArray[np.bool_]
    numbers: Floats | None

    @classmethod
    def before(cls, column: Recoded) -> "_Side":
        """Take a column as it was."""
        codes, places = column.matched.astype(np.int64), column.domain.positions
        return cls(codes, column.domain.codes, np.ones(len(codes), bool), None if places is None else places[codes])

    @classmethod
    def after(cls, column: Recoded) -> "_Side":
        """Take a column as it is shown."""
        numbers = None if column.domain.positions is None else column.values
        return cls(column.shown.astype(np.int64), column.width, ~column.nodes.lost[column.at], numbers)

    def beside(self, other: "_Side", counts: Ints) -> float:
        """Return the correlation of two columns."""
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
    """Put the differences together; ``otherwise``: the cost where there was no correlation to lose.

    Correlations up to ``chance`` are none.
    """
    before, after = np.array(pairs).T
    related, still = (np.where(np.abs(side) > chance, side, 0.0) for side in (before, after))
    most = float(np.abs(related).sum())
    cost = min(float(np.abs(related - still).sum()) / most, 1.0) if most else otherwise
    return Score(float(np.abs(before - after).mean()), cost)


def pearson(first: Floats, two: Floats, counts: Ints) -> float:
    """Return the correlation of numbers, where both are known; 0 if one of them does not vary.

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
    """Return how much of the variance of numbers lies between groups, as a correlation; 0 if they do not vary.

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
    """Return numbers around their mean, at most 1 apart from it: squares of large ones must not overflow."""
    apart = numbers - np.average(numbers, weights=weights)
    largest = float(np.abs(apart).max(initial=0.0))
    return apart / largest if largest else apart


@dataclass(frozen=True, slots=True, eq=False)
class Contingency:
    """How often values of two columns occur together: ``counts[i]`` times ``rows[i]`` and ``columns[i]``."""

    rows: Ints
    columns: Ints
    counts: Floats


def contingency(first: Ints, two: Ints, widths: tuple[int, int], counts: Ints) -> Contingency:
    """Count how often values occur together; codes are below the widths."""
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
    """Return Cramér's V of two columns of categories; 0 if one of them does not vary.

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
    squares -= (height - 1) * (width - 1) / (size - 1)  # what chance adds
    smaller = min(side - (side - 1) ** 2 / (size - 1) for side in (height, width)) - 1
    return float(np.sqrt(np.clip(squares / smaller, 0, 1))) if smaller > 0 else 0.0
