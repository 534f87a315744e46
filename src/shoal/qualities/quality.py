"""Base classes of quality measures, which give a value in their own unit and its cost on a scale from 0 to 1."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.errors import RecodingError
from shoal.models.model import Better
from shoal.plain import in_numbers
from shoal.recoding.nodes import Fate, Floats, Nodes
from shoal.recoding.recoding import Recoded, Recoding
from shoal.recoding.rungs import Rungs
from shoal.registry import Registry
from shoal.remedy import Option, by
from shoal.validation import Checked
from shoal.words import short

Counts = NDArray[np.integer]
Pricing: TypeAlias = Callable[[Counts, Counts], Floats]


class Aspect(StrEnum):
    """The aspect of a release that a measure assesses."""

    VALUES = "values"
    CLASSES = "classes"
    RELATIONS = "distributions"
    RECORDS = "suppressed or changed records"


@dataclass(frozen=True, slots=True)
class Score:
    """The score of a measure. ``value``: in its own unit. ``cost``: 0 if nothing is lost, 1 if everything is."""

    value: float
    cost: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", float(self.value))  # a Python float, whatever type was given
        object.__setattr__(self, "cost", float(self.cost))

    @classmethod
    def of_cost(cls, cost: float) -> "Score":
        """Return the score of a measure whose value is its cost."""
        return cls(cost, cost)

    @classmethod
    def kept(cls, share: float) -> "Score":
        """Return the score of a measure whose value is the retained share."""
        return cls(share, 1 - share)


@dataclass(frozen=True, slots=True)
class Measured:
    """The result of a measure, in total over the quasi-identifiers and per column.

    ``better``: whether higher or lower values are better; a lower cost always is. ``left_out``: the columns that cannot
    be measured, with the reason.
    """

    quality: str
    aspect: Aspect
    unit: str
    better: Better
    total: Score | None
    columns: Mapping[str, Score]
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The full term of the measure, followed by its name if both differ."""
        title = QUALITIES[self.quality].title if self.quality in QUALITIES else ""
        return f"{title} ({self.quality})" if title else self.quality

    @property
    def amount(self) -> str:
        """The total value with its unit, for display; shares have none."""
        value = "–" if self.total is None else short(self.total.value)
        return value if self.unit == "share" else f"{value} {self.unit}"

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data."""
        score = {"value": None, "cost": None} if self.total is None else in_numbers(asdict(self.total))
        return {
            "unit": self.unit,
            "better": self.better.value,
            **score,
            "columns": {name: in_numbers(asdict(score)) for name, score in self.columns.items()},
            "left_out": dict(self.left_out),
        }


class NotMeasurableError(Exception):
    """A column cannot be measured; the message gives the reason."""


class Quality(Checked):
    """The base of all measures. Parameters are fields."""

    name: ClassVar[str]
    aspect: ClassVar[Aspect]
    across_columns: ClassVar[bool] = False  # whether it depends on which values of several columns belong together
    unit: ClassVar[str] = "share"
    title: ClassVar[str] = ""  # the full term, if the name abbreviates it
    better: ClassVar[Better] = Better.LESS
    matched: ClassVar[bool] = False  # whether records of original and release must be matched
    most_columns: ClassVar[int | None] = None  # maximum number of quasi-identifiers for which it is a default
    of_counts: ClassVar[bool] = True  # whether it uses only counts of values and classes
    of_perturbed: ClassVar[bool] = False  # whether it says how much the values of a perturbed column changed
    costs_all: ClassVar[bool] = True  # whether a fully suppressed table costs 1

    @property
    def beside(self) -> tuple[str, ...]:
        """The columns that the measure uses in addition to the quasi-identifiers."""
        return ()

    def measure(self, recoding: Recoding) -> Measured:
        """Measure a transformation; refuse it if the measure requires matched records and they are not matched."""
        if self.matched and not recoding.matched:
            raise RecodingError(
                "records-not-matched",
                "The measure {quality} requires matched records of the original and the release.",
                remedy=by("Name a column that identifies the records in both tables", Option("key")),
                quality=self.name,
            )
        return self.measured(recoding)

    @abstractmethod
    def measured(self, recoding: Recoding) -> Measured:
        """Measure a transformation that provides all required information."""

    def result(
        self, total: Score | None, columns: Mapping[str, Score] | None = None, left_out: Mapping[str, str] | None = None
    ) -> Measured:
        """Return a result with the properties of this measure."""
        return Measured(self.name, self.aspect, self.unit, self.better, total, columns or {}, left_out or {})


class ColumnQuality(Quality):
    """A measure of single columns, whose total is derived from theirs."""

    @abstractmethod
    def column(self, recoded: Recoded) -> Score:
        """Measure one column."""

    def total(self, scores: Mapping[str, Score], recoding: Recoding) -> Score:  # noqa: ARG002 - for subclasses
        """Return the total: the mean of the columns."""
        values = np.array([(score.value, score.cost) for score in scores.values()])
        return Score(*values.mean(axis=0).tolist())

    def measured(self, recoding: Recoding) -> Measured:
        """Measure every column; the total covers the quasi-identifiers."""
        scores, left_out = {}, {}
        for recoded in recoding.columns:
            try:
                scores[recoded.name] = self.column(recoded)
            except NotMeasurableError as reason:
                left_out[recoded.name] = str(reason)
        ours = {name: scores[name] for name in recoding.quasi if name in scores}
        return self.result(self.total(ours, recoding) if ours else None, scores, left_out)


class LevelQuality(ColumnQuality):
    """A measure that a search can compute for many schemes at once, column by column, from counts."""

    @abstractmethod
    def pricing(self, rungs: Rungs) -> Pricing:
        """Return a function that computes the cost of the column in many schemes.

        In scheme i the column is on level ``levels[i]``, and ``lost[i, node]`` records of each node of that level are
        suppressed.
        """

    def price(self, score: Score) -> float:
        """Return the cost of a measured column, in the unit of ``pricing``."""
        return score.cost

    @abstractmethod
    def steady(self, rungs: Rungs) -> bool:
        """Return whether the cost that suppression adds to the column never decreases.

        Suppressing more records, or the same records on a lower level, must add at least as much.
        """

    def combined(self, prices: Floats, weights: Floats) -> Floats:
        """Return the cost of tables, given the costs of their columns (along the last axis) and the column weights."""
        sums: Floats = (self.summands(prices) * weights).sum(axis=-1)
        return self.whole(sums, float(weights.sum()))

    def summands(self, prices: Floats) -> Floats:
        """Return the contribution of each column to the sum that determines the cost of a table.

        The contribution increases with the cost of the column.
        """
        return prices

    def whole(self, sums: Floats, weight: float) -> Floats:
        """Return the cost of tables: the weighted mean of their columns. ``weight``: the total weight of all columns.

        A larger sum costs more, and sums that are nearly equal, relative to their size, cost nearly the same.
        """
        return sums / weight


class CellQuality(LevelQuality):
    """A measure whose cost is the mean over all cells of the cost of the node that a cell shows."""

    @abstractmethod
    def cells(self, nodes: Nodes) -> Floats:
        """Return the cost of each node, from 0 to 1."""

    def column(self, recoded: Recoded) -> Score:
        """Return the mean over the cells of a column."""
        cost = recoded.mean(self.cells(recoded.nodes))
        return Score.kept(1 - cost) if self.better is Better.MORE else Score.of_cost(cost)

    def steady(self, rungs: Rungs) -> bool:
        """Return whether no value costs less on a level than on the level below.

        It may, because a label can be more specific than one on a lower level.
        """
        costs, suppressed = rungs.spread(self.cells)
        climbing = np.vstack([rungs.by_code(costs), np.full(np.count_nonzero(rungs.original), suppressed[0])])
        return bool((np.diff(climbing, axis=0) >= 0).all())

    def pricing(self, rungs: Rungs) -> Pricing:
        """Return a function that adds the costs of the nodes and the additional costs of suppressed records."""
        costs, suppressed = rungs.spread(self.cells)
        base = (rungs.records * costs).sum(axis=-1)
        more = suppressed[:, None] - costs

        def prices(levels: Counts, lost: Counts) -> Floats:
            prices: Floats = (base[levels] + np.einsum("ij,ij->i", lost, more[levels])) / rungs.total
            return prices

        return prices


@dataclass(frozen=True, slots=True, eq=False)
class Figures:
    """Class counts of many schemes: ``kept`` records in ``classes`` classes, whose squared sizes sum to ``squares``.

    ``records``: the number of records of the table. ``sizes``: the class sizes of the original.
    """

    records: int
    sizes: NDArray[np.int64]
    kept: Floats
    classes: Floats
    squares: Floats


class FigureQuality(Quality):
    """A measure that a search can compute for many schemes at once, from counts of their classes."""

    @abstractmethod
    def of_figures(self, figures: Figures) -> Floats:
        """Return the cost of each scheme."""


def lost_share(recoded: Recoded) -> float:
    """Return the share of suppressed or changed cells, the cost of a column that has nothing else to lose."""
    return recoded.records(Fate.SUPPRESSED, Fate.CHANGED) / int(recoded.counts.sum())


QUALITIES: Registry[type[Quality]] = Registry("quality", "shoal.qualities")


def quality_named(name: str, **parameters: Any) -> Quality:
    """Return the measure with a name, with those of the given parameters that it accepts."""
    kind = QUALITIES[name]
    return kind(**{field: value for field, value in parameters.items() if field in kind.model_fields})
