"""Special uniques: records that are unique by a few values already, and the number of these combinations (SUDA2)."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import ModelError
from shoal.remedy import Option, either
from shoal.subsets import SubsetCounts
from shoal.table.missing import Missing
from shoal.table.table import Table

MOST = 200_000  # maximum number of evaluated combinations


@dataclass(frozen=True, slots=True, eq=False)
class SpecialUniques:
    """The minimal sample uniques of at most ``most`` columns.

    ``numbers[n]``: for each row, the number of minimal sample uniques of n columns. ``scores``: for each row, their sum
    with weights that decrease with n. ``contributions``: for each column, the share of all scores that it is part of.
    """

    counted: SubsetCounts
    most: int
    numbers: Mapping[int, NDArray[np.int64]]
    scores: NDArray[np.int64]
    contributions: Mapping[str, float]

    def values(self) -> NDArray[Any]:
        """Return the score of each record, in input order."""
        return self.counted.expand(self.scores)

    def to_dict(self) -> dict[str, Any]:
        """Return the special uniques as plain data."""
        persons = {str(size): number for size, number in self.persons().items()}
        return {"most": self.most, "persons_by_columns": persons, "contributions": dict(self.contributions)}

    def persons(self) -> dict[int, int]:
        """Return the number of persons by the smallest number of columns that singles them out."""
        rows, left = self.counted.rows, np.ones(len(self.scores), bool)
        shares = {}
        for size, number in self.numbers.items():
            here = left & (number > 0)
            left &= ~here
            shares[size] = int(rows.weights[np.unique(rows.holders[here])].sum())
        return shares


def special_uniques(
    table: Table, quasi: tuple[str, ...] | None = None, *, most: int = 3, missing: Missing = Missing.OWN
) -> SpecialUniques:
    """Find the minimal sample uniques of every record, and score them.

    A minimal sample unique is a set of columns in which the values of a record are unique, while they are not unique in
    any proper subset. A set of n columns scores ``∏ (columns − i)`` over i = n … most (at most columns − 1), so that
    small sets weigh more than large ones. Elliot, Manning & Ford 2002; Manning, Haglin & Keane 2008. Scores: 0 or more;
    less is better.

    >>> import shoal
    >>> table = shoal.read({"age": [30, 30, 40], "sex": ["f", "m", "m"], "job": ["cook", "cook", "cook"]})
    >>> found = special_uniques(table.assign(quasi=["age", "sex", "job"]), most=2)
    >>> found.values().tolist(), found.persons()
    ([2, 1, 2], {1: 2, 2: 1})
    """
    names = table.quasi if quasi is None else quasi
    most = min(most, len(names))
    number = sum(1 for size in range(1, most + 1) for _ in combinations(names, size)) if len(names) < 200 else MOST + 1
    if most < 1 or number > MOST:
        raise ModelError(
            "too-many-combinations",
            "There are no combinations of columns to evaluate, or too many.",
            remedy=either("Choose fewer columns", Option("most", 2)),
        )
    counted = SubsetCounts.of(table, names, missing=missing, budget=0)
    rows, width = len(counted.rows), len(names)
    numbers, scores = {}, np.zeros(rows, np.int64)
    parts = np.zeros(width)
    unique: dict[tuple[int, ...], NDArray[np.bool_]] = {(): np.zeros(rows, bool)}
    for size in range(1, most + 1):
        numbers[size] = np.zeros(rows, np.int64)
        weight, above = prod(width - i for i in range(size, min(most, width - 1) + 1)), {}
        for columns in combinations(range(width), size):
            lower = np.logical_or.reduce([unique[part] for part in combinations(columns, size - 1)])
            alone = counted.agreeing(sum(1 << place for place in columns)) == 1
            minimal = alone & ~lower
            above[columns] = alone | lower
            numbers[size] += minimal
            parts[list(columns)] += weight * float(counted.rows.weights[counted.rows.holders][minimal].sum())
            scores += weight * minimal
        unique = above
    total = float((scores * counted.rows.weights[counted.rows.holders]).sum())
    contributions = {name: part / total if total else 0.0 for name, part in zip(names, parts.tolist(), strict=True)}
    return SpecialUniques(counted, most, numbers, scores, contributions)
