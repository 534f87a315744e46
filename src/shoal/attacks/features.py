"""Features: released records and individuals in the same numerical encoding, for attacks that train models.

Numbers and dates keep their values; intervals become their midpoint, or numbers drawn from them. Every other column has
one feature per frequent value: 1 for the value itself, 1/m for each of m values that a cell may stand for. Suppressed
and missing cells are missing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.analyses.learner import Learner
from shoal.attacks.people import KnownPeople
from shoal.attacks.scene import Scene
from shoal.recoding.cells import Cells
from shoal.recoding.nodes import Floats, Ints
from shoal.table.column import Column
from shoal.table.scale import scale

VALUES = 50  # frequent values with a feature of their own; all others share one
_BINS, _CLASSES = 5, 50  # number of classes: bins of numbers, and frequent categories
MISSING, RARE = -1, -2  # classes of missing values, and of rare categories
_FEW = 10  # distinct numbers that are not binned, and classes for boosting, at most


@dataclass(frozen=True, slots=True, eq=False)
class AttackFeatures:
    """Numerical encoding of released codes and of original values. ``columns``: the column of each feature.

    ``widths``: the widths of the intervals of released codes, for numerical columns.
    """

    of_code: tuple[Floats, ...]
    widths: tuple[Floats | None, ...]
    of_value: tuple[Floats, ...]
    names: tuple[str, ...]
    columns: tuple[str, ...]

    @classmethod
    def of(cls, scene: Scene, names: Sequence[str]) -> "AttackFeatures":
        """Build the encoding of the given columns.

        >>> import shoal
        >>> before = shoal.read({"age": [30, 40], "sex": ["f", "m"]}).assign(quasi=["age", "sex"])
        >>> scene = Scene.of(before, shoal.read({"age": ["30-39", "40-49"], "sex": ["f", "*"]}))
        >>> features = AttackFeatures.of(scene, ["age", "sex"])
        >>> features.records(scene, np.arange(2)).tolist(), features.people(scene.insiders).tolist()
        ([[34.5, 1.0, 0.0], [44.5, nan, nan]], [[30.0, 1.0, 0.0], [40.0, 0.0, 1.0]])
        """
        pairs = [_numbers(scene.cells[name]) or _indicators(scene.cells[name]) for name in names]
        widths = [of_code.shape[1] for of_code, _ in pairs]
        columns = tuple(name for name, width in zip(names, widths, strict=True) for _ in range(width))
        spans = tuple(
            None if scale(scene.columns[name]) is None else scene.cells[name].high - scene.cells[name].low
            for name in names
        )
        return cls(
            tuple(of_code for of_code, _ in pairs),
            spans,
            tuple(of_value for _, of_value in pairs),
            tuple(names),
            columns,
        )

    def records(self, scene: Scene, records: NDArray[np.intp], rng: np.random.Generator | None = None) -> Floats:
        """Return the features of released records; ``rng``: draws numbers from intervals.

        A model trained on the midpoints of intervals learns nothing about the values between them.
        """
        parts = []
        for of, width, name in zip(self.of_code, self.widths, self.names, strict=True):
            codes = scene.cells[name].codes[records]
            drawn = 0.0 if rng is None or width is None else (rng.random(len(codes)) - 0.5) * width[codes]
            parts.append(of[codes] + np.reshape(drawn, (-1, 1)))
        return np.concatenate(parts, axis=1)

    def people(self, people: KnownPeople) -> Floats:
        """Return the features of individuals, from their original values."""
        parts = [of[people.codes[name]] for of, name in zip(self.of_value, self.names, strict=True)]
        return np.concatenate(parts, axis=1)


def _numbers(cells: Cells) -> tuple[Floats, Floats] | None:
    places = scale(cells.column)
    return None if places is None else (cells.numbers[:, None], places[:, None])


def _indicators(cells: Cells) -> tuple[Floats, Floats]:
    """Return an indicator for each frequent value, and one for all others."""
    sizes = cells.sizes
    records = np.bincount(cells.nodes[cells.codes], minlength=len(sizes)).astype(np.float64)
    owner, often = np.repeat(np.arange(len(sizes)), sizes), cells.spread(records)
    group = np.full(cells.column.size, VALUES)
    group[np.argsort(-often, kind="stable")[:VALUES]] = np.arange(min(VALUES, cells.column.size))
    of_set = np.zeros((len(sizes), min(VALUES, cells.column.size) + (cells.column.size > VALUES)))
    np.add.at(of_set, (owner, group[cells.members]), 1 / np.maximum(sizes, 1)[owner])
    of_value = np.eye(of_set.shape[1])[group]
    missing = cells.column.missing_code
    of_set[(sizes == cells.column.size) & (sizes > 1)] = np.nan  # a set of all values shows nothing
    if missing is not None:
        of_value[missing] = np.nan
    return of_set[cells.nodes], of_value


def learner_for(model: Learner | None, number: int) -> Learner:
    """Return the requested learner; by default boosting for few classes and a forest for many."""
    return model or ("boosting" if number <= _FEW else "forest")


def classes(column: Column, codes: NDArray[np.unsignedinteger[Any]]) -> Ints:
    """Return the class of each value of a column to be predicted; ``MISSING`` for missing values.

    Numbers with more than ten distinct values are binned into fifths of the distribution of ``codes``. Of categories,
    each of the fifty most frequent is a class. The others are ``RARE``: no model learns them, so they are never
    predicted correctly.

    >>> import shoal
    >>> table = shoal.read({"age": [*range(20, 40)], "sex": ["f", "m"] * 10})
    >>> classes(table["age"], table.codes("age")).tolist()[:5], classes(table["sex"], table.codes("sex")).tolist()
    ([0, 0, 0, 0, 1], [0, 1])
    """
    places, number = scale(column), len(column.values)
    classes = np.full(column.size, MISSING, np.int64)
    if places is not None and number > _FEW:
        cuts = np.unique(np.nanquantile(places[codes], np.arange(1, _BINS) / _BINS))
        known = ~np.isnan(places)
        classes[known] = np.searchsorted(cuts, places[known], side="right")
        return classes
    counts = np.bincount(codes, minlength=column.size)
    order = np.argsort(-counts[:number], kind="stable")
    classes[order[:_CLASSES]] = np.arange(min(number, _CLASSES))
    classes[order[_CLASSES:]] = RARE
    return classes


def shown_classes(values: Cells, of_value: Ints) -> Ints:
    """Return the class that each released code shows; negative for several classes, a rare one, or none."""
    sizes = values.sizes
    low, high = (np.full(len(sizes), -1) for _ in range(2))
    some = np.flatnonzero(sizes)
    shown = of_value[values.members]
    low[some], high[some] = (extreme.reduceat(shown, values.starts[some]) for extreme in (np.minimum, np.maximum))
    return np.where(low == high, low, -1)[values.nodes]
