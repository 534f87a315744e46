"""Rounding: numbers are released as multiples of a base."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import Field

from shoal.hierarchy.automatic import Automatic
from shoal.hierarchy.interval import Interval
from shoal.hierarchy.spec import Spec
from shoal.kernels.normal import uniform
from shoal.kernels.siphash import Words
from shoal.kernels.translation import Codes
from shoal.perturbations.column_values import ColumnValues, Floats, with_tail
from shoal.perturbations.first_level import FirstLevel
from shoal.perturbations.grid import Grid
from shoal.perturbations.perturbation import PERTURBATIONS, Perturbation
from shoal.table.column import Column
from shoal.table.kind import Kind
from shoal.techniques.change import Coarsened, Drawn
from shoal.techniques.technique import Truth

Multiples = NDArray[np.int64]
_DOUBLED = 6  # levels of a hierarchy of intervals, each twice as wide as the one below


@PERTURBATIONS.register("round")
class BaseRounding(Perturbation):
    """Round numbers to multiples of a base: to the nearest one, halves to even, or up or down at random.

    A rounded number stands for all numbers that are rounded to it. With ``method = "random"``, a number is rounded up
    with the probability that makes its expectation the number itself.
    """

    kind: Literal["round"] = "round"
    to: float = Field(gt=0, allow_inf_nan=False, title="Base", description="base: 5 rounds to multiples of 5")
    method: Literal["nearest", "random"] = Field(
        default="nearest",
        title="Method",
        description="to the nearest multiple (nearest), or up or down at random without bias (random)",
    )
    says: ClassVar[str] = "Values were rounded to multiples of a base."
    guarantee: ClassVar[str] = (
        "No value changes by more than half the base; if rounded at random, every change is smaller than the base."
    )
    iso: ClassVar[str] = "rounding"
    truth: ClassVar[Truth] = Truth.TRUE

    @property
    def is_random(self) -> bool:
        """Whether numbers are rounded up or down at random."""
        return self.method == "random"

    def change(self, values: ColumnValues) -> Drawn | Coarsened:
        """Round every number."""
        column = values.column
        if column.kind is Kind.INTEGER and not self.to.is_integer():
            raise values.unsuitable("it contains whole numbers, and the base is not a whole number")
        if not np.isfinite(values.places).all():
            raise values.unsuitable("it contains infinite numbers")
        below, rest = self._divided(column, values.places)
        above = below + (rest > 0)
        nearest = np.where((rest > 0.5) | ((rest == 0.5) & (below % 2 == 1)), above, below)
        multiples = np.unique([below, above] if self.is_random else nearest)
        shown = replace(column, values=self._values(column, multiples))
        if self.is_random:
            return Drawn(shown, _Draw(shown, rest, *(np.searchsorted(multiples, side) for side in (below, above))))
        every = np.arange(column.size)
        places = np.searchsorted(multiples, nearest)[np.minimum(every, len(nearest) - 1)]
        return Coarsened(shown, with_tail(places, every, len(nearest), shown))

    def hierarchy(self, above: Spec) -> Spec:
        """Return a hierarchy with the intervals of numbers that are rounded alike, above which intervals double."""
        return _RoundedFirst(perturbation=self, above=above)

    def _divided(self, column: Column, places: Floats) -> tuple[Multiples, Floats]:
        """Return the number of whole bases in each position, and the rest as a share of the base.

        Decimals are divided as integers, so that halves are found exactly.
        """
        grid, base = Grid.of(column, places), Grid.of(replace(column, kind=Kind.NUMBER), np.array([self.to]))
        if grid is None or base is None:
            below = np.floor(places / self.to)
            return below.astype(np.int64), np.clip(places / self.to - below, 0, 1)
        common = Grid(min(grid.exponent, base.exponent))
        steps, size = common.steps(places), int(common.steps(np.array([self.to]))[0])
        return steps // size, (steps % size) / size

    def _values(self, column: Column, multiples: Multiples) -> pa.Array:
        """Return multiples of the base, with as few digits as the base has."""
        if column.kind is Kind.INTEGER:
            return pa.array(multiples * int(self.to))
        base = Grid.of(column, np.array([self.to]))
        if base is None:
            return pa.array(multiples * self.to)
        return pa.array(base.positions(multiples * base.steps(np.array([self.to]))))


class _RoundedFirst(FirstLevel):
    """A hierarchy whose first level has the intervals of numbers that are rounded alike, halves up."""

    kind: Literal["rounded"] = "rounded"

    def first(self, column: Column, counts: NDArray[np.int64]) -> tuple[Sequence[str], Spec]:
        """Return the interval of each number."""
        base = self.perturbation.to
        anchor = -base / 2 if column.kind is Kind.NUMBER else float(np.ceil(-base / 2))
        intervals = Interval(widths=[base * 2**level for level in range(_DOUBLED)], anchor=anchor)
        fine = Interval(widths=[base], anchor=anchor).build(column, counts, Path()).labels(1).to_pylist()
        is_automatic = isinstance(self.above, Automatic)
        return fine[: len(column.values)], _without_first(intervals) if is_automatic else self.above


def _without_first(intervals: Interval) -> Interval:
    return intervals.model_copy(update={"widths": intervals.widths[1:]})


@dataclass(frozen=True, slots=True, eq=False)
class _Draw:
    """The draw of multiples: with the probability ``rest`` the one ``above``, otherwise the one ``below``."""

    column: Column
    rest: Floats
    below: Multiples
    above: Multiples

    def __call__(self, codes: Codes, words: Words) -> Codes:
        places = np.minimum(codes.astype(np.intp), len(self.rest) - 1)
        drawn = np.where(uniform(words) < self.rest[places], self.above[places], self.below[places])
        return with_tail(drawn, codes, len(self.rest), self.column)
