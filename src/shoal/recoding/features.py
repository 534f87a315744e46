"""Features: the cells of a recoding as numbers, before and after, for statistical analyses.

Cells are converted in the same way everywhere. Numbers and dates: the number itself, or the midpoint of the released
interval. Categories: one indicator per category; a cell that may be any of m categories counts 1/m for each of them. A
suppressed cell is missing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.recoding.nodes import Fate, Floats, Ints
from shoal.recoding.recoding import Recoded

CATEGORIES = 30  # the most frequent categories; all others share one feature


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """One column of numbers per feature, one row per row of the recoding; NaN where a cell is missing.

    ``names``: the name of the column for a number, ``column=category`` for a category. ``columns``: the column of each
    feature. ``before``, ``after``: the original and the released features. ``reference``: whether a feature is the
    first category of its column that occurs in the release, which regressions omit.
    """

    names: tuple[str, ...]
    columns: tuple[str, ...]
    before: Floats
    after: Floats
    reference: NDArray[np.bool_]

    @classmethod
    def of(cls, columns: Sequence[Recoded]) -> "Features":
        """Convert columns to features."""
        parts = [numeric(column) or _categories(column) for column in columns]
        return cls(
            tuple(name for part in parts for name in part.names),
            tuple(column for part in parts for column in part.columns),
            np.column_stack([part.before for part in parts]),
            np.column_stack([part.after for part in parts]),
            np.concatenate([part.reference for part in parts]),
        )

    def rows(self, rows: NDArray[np.unsignedinteger[Any]]) -> "Features":
        """Return the features of the given rows, which may be repeated."""
        return replace(self, before=self.before[rows], after=self.after[rows])


def shown_codes(recoded: Recoded) -> Ints:
    """Return the value that each row shows, whether true or not; −1 where it shows a set or is suppressed."""
    kept = recoded.nodes.fates[recoded.at] == Fate.KEPT
    places = np.full(recoded.width, -1) if recoded.same is None else recoded.same
    changed = recoded.nodes.fates[recoded.at] == Fate.CHANGED
    return np.where(kept, recoded.at, np.where(changed, places[recoded.shown], -1)).astype(np.int64)


def numeric(recoded: Recoded) -> Features | None:
    """Return the feature of a column of numbers or dates; None for other columns."""
    places = recoded.domain.positions
    if places is None:
        return None
    before, after = places[recoded.matched][:, None], recoded.values[:, None]
    return Features((recoded.name,), (recoded.name,), before, after, np.zeros(1, bool))


def _categories(recoded: Recoded) -> Features:
    """Return an indicator for each frequent category, the most frequent first, and one for all others."""
    order = np.argsort(-recoded.original, kind="stable")
    kept, rest = order[:CATEGORIES], order[CATEGORIES:]
    group = np.full(recoded.domain.codes, len(kept), np.int64)
    group[kept] = np.arange(len(kept))
    labels = recoded.domain.column.labels().to_pylist()
    texts = ["missing" if labels[code] is None else labels[code] for code in kept]
    names = [f"{recoded.name}={text}" for text in (*texts, *(["others"] if len(rest) else []))]
    before = np.eye(len(names))[group[recoded.matched]]
    shares = _shares(recoded, group, len(names))
    after, shown = shares[recoded.at], shown_codes(recoded)
    changed = (recoded.nodes.fates[recoded.at] == Fate.CHANGED) & (shown >= 0)
    after[changed] = np.eye(len(names))[group[shown[changed]]]
    reference = np.zeros(len(names), bool)
    left = np.nansum(after, axis=0) > 0
    reference[int(np.argmax(left))] = True  # the first that occurs in the release, or the first of all
    return Features(tuple(names), (recoded.name,) * len(names), before, after, reference)


def _shares(recoded: Recoded, group: Ints, number: int) -> Floats:
    """Return the probability of each category for each node; NaN for nodes without information."""
    nodes = recoded.nodes
    shares = np.zeros((len(nodes), number))
    sizes = np.maximum(nodes.sizes, 1)
    np.add.at(
        shares, (np.repeat(np.arange(len(nodes)), nodes.sizes), group[nodes.codes]), np.repeat(1 / sizes, nodes.sizes)
    )
    shares[nodes.lost] = np.nan
    return shares
