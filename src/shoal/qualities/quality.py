"""What every measure of quality brings: a value in its own unit, and what that costs on a scale from 0 to 1."""

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

Counts = NDArray[np.integer]
Pricing: TypeAlias = Callable[[Counts, Counts], Floats]


class Aspect(StrEnum):
    """What a measure looks at."""

    VALUES = "values"
    CLASSES = "classes"
    RELATIONS = "distributions"
    RECORDS = "suppressed or changed records"


@dataclass(frozen=True, slots=True)
class Score:
    """``value``: in the measure's own unit. ``cost``: 0 if nothing is lost, 1 if everything is."""

    value: float
    cost: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", float(self.value))  # a plain number, whatever it was computed from
        object.__setattr__(self, "cost", float(self.cost))

    @classmethod
    def of_cost(cls, cost: float) -> "Score":
        """Make a score of a measure whose value is its cost."""
        return cls(cost, cost)

    @classmethod
    def kept(cls, share: float) -> "Score":
        """Make a score of a measure whose value is the share that is kept."""
        return cls(share, 1 - share)


@dataclass(frozen=True, slots=True)
class Measured:
    """What came out: in total over the quasi-identifiers, and for each column.

    ``better``: which way the value is better; a lower cost always is. ``left_out``: columns that the measure cannot
    speak of, and why.
    """

    quality: str
    aspect: Aspect
    unit: str
    better: Better
    total: Score | None
    columns: Mapping[str, Score]
    left_out: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the measure as plain data."""
        score = {"value": None, "cost": None} if self.total is None else in_numbers(asdict(self.total))
        return {
            "unit": self.unit,
            "better": self.better.value,
            **score,
            "columns": {name: in_numbers(asdict(score)) for name, score in self.columns.items()},
            "left_out": dict(self.left_out),
        }


class NotMeasurableError(Exception):
    """A column is not one that a measure can speak of; the message says why."""


class Quality(Checked):
    """The base of all measures. Parameters are fields."""

    name: ClassVar[str]
    aspect: ClassVar[Aspect]
    unit: ClassVar[str] = "share"
    better: ClassVar[Better] = Better.LESS
    matched: ClassVar[bool] = False  # whether it must be known which record became which
    most_columns: ClassVar[int | None] = None  # quasi-identifiers up to which it is taken unasked
    of_counts: ClassVar[bool] = True  # whether it reads nothing but counts of values and classes
    costs_all: ClassVar[bool] = True  # whether a table in which everything is suppressed costs 1

    @property
    def beside(self) -> tuple[str, ...]:
        """The columns that it looks at beside the quasi-identifiers."""
        return ()

    def measure(self, recoding: Recoding) -> Measured:
        """Measure what a transformation cost."""
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
        """Measure; it is known that the recoding tells enough."""

    def result(
        self, total: Score | None, columns: Mapping[str, Score] | None = None, left_out: Mapping[str, str] | None = None
    ) -> Measured:
        """Put a result together."""
        return Measured(self.name, self.aspect, self.unit, self.better, total, columns or {}, left_out or {})


class ColumnQuality(Quality):
    """A measure of single columns, whose total is made of theirs."""

    @abstractmethod
    def column(self, recoded: Recoded) -> Score:
        """Measure one column."""

    def total(self, scores: Mapping[str, Score], recoding: Recoding) -> Score:  # noqa: ARG002 - what others need
        """Return the total: the mean of the columns."""
        values = np.array([(score.value, score.cost) for score in scores.values()])
        return Score(*values.mean(axis=0).tolist())

    def measured(self, recoding: Recoding) -> Measured:
        """Measure every column; the total is over the quasi-identifiers."""
        scores, left_out = {}, {}
        for recoded in recoding.columns:
            try:
                scores[recoded.name] = self.column(recoded)
            except NotMeasurableError as reason:
                left_out[recoded.name] = str(reason)
        ours = {name: scores[name] for name in recoding.quasi if name in scores}
        return self.result(self.total(ours, recoding) if ours else None, scores, left_out)


class LevelQuality(ColumnQuality):
    """A measure that a search can take of many schemes at once, column by column, from counts."""

    @abstractmethod
    def pricing(self, rungs: Rungs) -> Pricing:
        """Return a function that tells what the column costs: in scheme i it is on level ``levels[i]``.

        ``lost[i, node]`` records of each node of that level are suppressed.
        """

    @abstractmethod
    def steady(self, rungs: Rungs) -> bool:
        """Tell whether suppressing more records, or the same ones of a finer level, adds no less to the column."""

    def combined(self, prices: Floats, weights: Floats) -> Floats:
        """Return what a table costs whose columns cost so much (along the last axis), and weigh so much."""
        sums: Floats = (self.summands(prices) * weights).sum(axis=-1)
        return self.whole(sums, float(weights.sum()))

    def summands(self, prices: Floats) -> Floats:
        """Return what columns that cost so much add to the sum that tells what a table costs; more, if that is more."""
        return prices

    def whole(self, sums: Floats, weight: float) -> Floats:
        """Return what tables cost: the weighted mean of their columns; ``weight``: of all of these.

        A larger sum costs more, and sums that are nearly the same, in proportion to their size, cost nearly the same.
        """
        return sums / weight


class CellQuality(LevelQuality):
    """A measure whose cost is the mean over the cells of what the node that a cell shows costs."""

    @abstractmethod
    def cells(self, nodes: Nodes) -> Floats:
        """Return what each node costs, from 0 to 1."""

    def column(self, recoded: Recoded) -> Score:
        """Return the mean over the cells of a column."""
        cost = recoded.mean(self.cells(recoded.nodes))
        return Score.kept(1 - cost) if self.better is Better.MORE else Score.of_cost(cost)

    def steady(self, rungs: Rungs) -> bool:
        """Tell whether no value costs less on a level than on the one below: a label may say more than a finer one."""
        costs, suppressed = rungs.spread(self.cells)
        climbing = np.vstack([rungs.by_code(costs), np.full(np.count_nonzero(rungs.original), suppressed[0])])
        return bool((np.diff(climbing, axis=0) >= 0).all())

    def pricing(self, rungs: Rungs) -> Pricing:
        """Add up what the nodes cost, and what suppressed records cost more."""
        costs, suppressed = rungs.spread(self.cells)
        base = (rungs.records * costs).sum(axis=-1)
        more = suppressed[:, None] - costs

        def prices(levels: Counts, lost: Counts) -> Floats:
            prices: Floats = (base[levels] + np.einsum("ij,ij->i", lost, more[levels])) / rungs.total
            return prices

        return prices


@dataclass(frozen=True, slots=True, eq=False)
class Figures:
    """Counts of many schemes: ``kept`` records in ``classes`` classes, whose squared sizes add up to ``squares``.

    ``records``: how many the table has. ``sizes``: of the classes of the original.
    """

    records: int
    sizes: NDArray[np.int64]
    kept: Floats
    classes: Floats
    squares: Floats


class FigureQuality(Quality):
    """A measure that a search can take of many schemes at once, from counts of their classes."""

    @abstractmethod
    def of_figures(self, figures: Figures) -> Floats:
        """Return the cost of each scheme."""


def lost_share(recoded: Recoded) -> float:
    """Return the share of cells in which nothing true is left: the cost where a column has nothing else to lose."""
    return recoded.records(Fate.SUPPRESSED, Fate.CHANGED) / int(recoded.counts.sum())


QUALITIES: Registry[type[Quality]] = Registry("quality", "shoal.qualities")


def quality_named(name: str, **parameters: Any) -> Quality:
    """Return a measure, with those of some parameters that it takes."""
    kind = QUALITIES[name]
    return kind(**{field: value for field, value in parameters.items() if field in kind.model_fields})
