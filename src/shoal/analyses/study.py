"""The study: single records before and after, as an analyst would take them into an analysis.

A cell becomes a number in one way, everywhere. Numbers and dates: the number itself, or the middle of the interval
that is shown. Categories: an indicator for each; a cell that could be any of m categories counts 1/m for each of them.
A suppressed cell is missing. Learning takes missing cells as they are; regressions leave such records out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.errors import RecodingError, counted
from shoal.recoding.nodes import Fate, Floats, Ints
from shoal.recoding.recoding import Recoded, Recoding

CATEGORIES = 30  # the most frequent ones; all others are one


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """One column of numbers per feature, one row per record; NaN where a cell is missing.

    ``names``: a number has the name of its column, a category ``column=category``. ``columns``: the column of each
    feature. ``reference``: the first category of each column, which regressions leave out.
    """

    names: tuple[str, ...]
    columns: tuple[str, ...]
    before: Floats
    after: Floats
    reference: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """Records of a recoding with the persons they belong to. ``persons[i]``: the person of record i."""

    recoding: Recoding
    rows: NDArray[np.uint32]
    persons: Ints

    @classmethod
    def of(cls, recoding: Recoding, persons: Ints | None = None) -> "Study":
        """Take all records of a recoding; without persons every record is one."""
        if recoding.of_record is None:
            raise RecodingError(
                "An analysis needs to know which record became which.",
                hint="Give a key: a column that names each record in both tables.",
            )
        rows = recoding.of_record
        return cls(recoding, rows, np.arange(len(rows)) if persons is None else persons)

    @property
    def released(self) -> NDArray[np.bool_]:
        """Which records are in the release and show something."""
        return ~self.recoding.suppressed[self.rows]

    def features(self, columns: Sequence[str]) -> Features:
        """Turn columns into numbers.

        >>> import shoal
        >>> found = shoal.compare({"age": [20, 30], "sex": ["f", "m"]}, {"age": ["20-30", "30"], "sex": ["*", "m"]})
        >>> features = found.study().features(["age", "sex"])
        >>> features.names, features.before.tolist(), features.after.tolist()
        (('age', 'sex=f', 'sex=m'), [[20.0, 1.0, 0.0], [30.0, 0.0, 1.0]], [[25.0, nan, nan], [30.0, 0.0, 1.0]])
        """
        parts = [_numeric(self.recoding[name]) or _categories(self.recoding[name]) for name in columns]
        names = [name for part in parts for name in part.names]
        return Features(
            tuple(names),
            tuple(column for part in parts for column in part.columns),
            np.column_stack([part.before[self.rows] for part in parts]),
            np.column_stack([part.after[self.rows] for part in parts]),
            np.concatenate([part.reference for part in parts]),
        )

    def numbers(self, name: str) -> tuple[Floats, Floats]:
        """Return a column of numbers before and after; refuse others."""
        part = _numeric(self.recoding[name])
        if part is None:
            raise RecodingError(f"Column '{name}' holds no numbers.", hint="Name a column of numbers.")
        return part.before[self.rows, 0], part.after[self.rows, 0]

    def categories(self, name: str) -> tuple[Ints, Ints]:
        """Return the codes of a column before and after; −1 where the release does not show a single value."""
        column = self.recoding[name]
        return column.matched[self.rows].astype(np.int64), shown_codes(column)[self.rows]

    def yes_or_no(self, name: str) -> tuple[Floats, Floats]:
        """Return a column of two values as 0 and 1, in their order; NaN where it is missing."""
        column = self.recoding[name].domain.column
        if len(column.values) != 2:
            raise RecodingError(
                f"Column '{name}' has {counted(len(column.values), 'value')}, not two.",
                hint="Name a column that says yes or no, 1 or 0.",
            )
        before, after = (codes.astype(np.float64) for codes in self.categories(name))
        return tuple(np.where((codes < 0) | (codes > 1), np.nan, codes) for codes in (before, after))  # type: ignore[return-value]


def shown_codes(recoded: Recoded) -> Ints:
    """Return the value that each row shows, be it true or not; −1 where it shows a set or nothing."""
    kept = recoded.nodes.fates[recoded.at] == Fate.KEPT
    said = np.full(recoded.width, -1) if recoded.said is None else recoded.said
    changed = recoded.nodes.fates[recoded.at] == Fate.CHANGED
    return np.where(kept, recoded.at, np.where(changed, said[recoded.shown], -1)).astype(np.int64)


def _numeric(recoded: Recoded) -> Features | None:
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
    reference[0] = True
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
