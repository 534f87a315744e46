"""Features: the cells of a recoding as numbers, before and after, as an analyst would take them.

A cell becomes a number in one way, everywhere. Numbers and dates: the number itself, or the middle of the interval
that is shown. Categories: an indicator for each; a cell that could be any of m categories counts 1/m for each of them.
A suppressed cell is missing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.recoding.nodes import Fate, Floats, Ints
from shoal.recoding.recoding import Recoded

CATEGORIES = 30  # the most frequent ones; all others are one


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """One column of numbers per feature, one row per row of the recoding; NaN where a cell is missing.

    ``names``: a number has the name of its column, a category ``column=category``. ``columns``: the column of each
    feature. ``reference``: the first category of each column that is left, which regressions leave out.
    """

    names: tuple[str, ...]
    columns: tuple[str, ...]
    before: Floats
    after: Floats
    reference: NDArray[np.bool_]

    @classmethod
    def of(cls, columns: Sequence[Recoded]) -> "Features":
        """Turn columns into numbers."""
        parts = [numeric(column) or _categories(column) for column in columns]
        return cls(
            tuple(name for part in parts for name in part.names),
            tuple(column for part in parts for column in part.columns),
            np.column_stack([part.before for part in parts]),
            np.column_stack([part.after for part in parts]),
            np.concatenate([part.reference for part in parts]),
        )

    def rows(self, rows: NDArray[np.unsignedinteger[Any]]) -> "Features":
        """Return some rows, or some of them several times."""
        return replace(self, before=self.before[rows], after=self.after[rows])


def shown_codes(recoded: Recoded) -> Ints:
    """Return the value that each row shows, be it true or not; −1 where it shows a set or nothing."""
    kept = recoded.nodes.fates[recoded.at] == Fate.KEPT
    places = np.full(recoded.width, -1) if recoded.same is None else recoded.same
    changed = recoded.nodes.fates[recoded.at] == Fate.CHANGED
    return np.where(kept, recoded.at, np.where(changed, places[recoded.shown], -1)).astype(np.int64)


def numeric(recoded: Recoded) -> Features | None:
    """Return a column of numbers or dates; None if it holds none."""
    places = recoded.domain.positions
    if places is None:
        return None
    before, after = places[recoded.matched][:, None], recoded.values[:, None]
    return Features((recoded.name,), (recoded.name,), before, after, np.zeros(1, bool))


def _categories(recoded: Recoded) -> Features:
    """Make an indicator for each frequent category, the most frequent first, and one for all others."""
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
    reference[int(np.argmax(left))] = True  # the first that is left in the release; the first of all if none is
    return Features(tuple(names), (recoded.name,) * len(names), before, after, reference)


def _shares(recoded: Recoded, group: Ints, number: int) -> Floats:
    """Return for each node how likely each category is; NaN if it says nothing."""
    nodes = recoded.nodes
    shares = np.zeros((len(nodes), number))
    sizes = np.maximum(nodes.sizes, 1)
    np.add.at(
        shares, (np.repeat(np.arange(len(nodes)), nodes.sizes), group[nodes.codes]), np.repeat(1 / sizes, nodes.sizes)
    )
    shares[nodes.lost] = np.nan
    return shares
