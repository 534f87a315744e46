"""Noise: random numbers are added to the values of a column."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from shoal.kernels.normal import normal
from shoal.kernels.ranges import expanded
from shoal.kernels.siphash import Words, siphash
from shoal.kernels.translation import Codes
from shoal.perturbations.column_values import ColumnValues, Draws, Floats, with_tail
from shoal.perturbations.grid import Grid
from shoal.perturbations.perturbation import DATED, NUMBERS, PERTURBATIONS, Perturbation
from shoal.table.column import Column
from shoal.table.kind import Kind
from shoal.techniques.change import Drawn

_FARTHEST = 8.5  # standard deviations: no number drawn from 53 bits lies farther
_MOST = 1 << 21  # values of a released column, if a coarser grid is fine enough
_FAINT = 8  # steps of noise below which hardly a value changes: it needs four standard deviations
_FINE = 10  # steps per standard deviation of the noise that are fine enough
_RUNG = 10 ** (1 / 24)  # ratio of neighbouring standard deviations of noise, about 1.10
_CORRELATION = 0.05  # correlations of noise are multiples of it


@PERTURBATIONS.register("noise")
class Noise(Perturbation):
    """Add normal noise to numbers or dates (Kim 1986; Tendick & Matloff 1994).

        x' = m + (x + e − m) / √(1 + s²),   e ~ N(0, s²·σ²)

    m, σ: mean and standard deviation of the column; s: the share. The division keeps mean and variance in expectation;
    ``rescale = false`` omits it. ``correlated``: noise of all columns with the same setting has their correlation, so
    that covariances are kept, too. Numbers beyond a bound are reflected at it. Zeros stay, unless ``zeros = false``.

    e has one of few standard deviations (within 5% of s·σ), so that tables with other individuals get the same e or an
    independent one. Otherwise, the difference between two releases would be a multiple of the random number of an
    individual, from which e follows. Correlations are rounded for the same reason.
    """

    kind: Literal["noise"] = "noise"
    share: float = Field(
        gt=0,
        le=10,
        allow_inf_nan=False,
        title="Amount of noise",
        description="standard deviation of the noise, as a share of the standard deviation of the column",
    )
    correlated: bool = Field(
        default=False,
        title="Correlated noise",
        description="whether the noise has the correlation of all columns with this setting and the same share",
    )
    rescale: bool = Field(
        default=True, title="Keep the variance", description="whether mean and variance are kept in expectation"
    )
    minimum: float | None = Field(
        default=None,
        title="Minimum",
        description="smallest released number, or days since 1970 (default: 0, if no value is negative)",
    )
    maximum: float | None = Field(default=None, title="Maximum", description="largest released number (default: none)")
    zeros: bool = Field(
        default=True,
        title="Keep zeros",
        description="whether zeros stay, if no value is negative: they often mean none",
    )
    says: ClassVar[str] = "Random noise was added to the values."
    guarantee: ClassVar[str] = (
        "Mean and variance are kept in expectation, up to bounds and rounding. Each individual is counted once per "
        "value."
    )
    iso: ClassVar[str] = "noise addition"
    kinds: ClassVar[frozenset[Kind]] = NUMBERS | DATED

    @model_validator(mode="after")
    def _some_room(self) -> Self:
        if self.minimum is not None and self.maximum is not None and self.minimum >= self.maximum:
            raise ValueError("minimum must be below maximum")
        return self

    @classmethod
    def of_amount(cls, amount: float) -> tuple[Perturbation, ...]:
        """Return independent and correlated noise with this share."""
        return cls(share=amount), cls(share=amount, correlated=True)

    def stream(self, alike: tuple[str, ...]) -> str | None:
        """Return the stream that correlated columns share."""
        return f"noise of {', '.join(alike)}" if self.correlated else None

    def change(self, values: ColumnValues) -> Drawn:
        """Add noise to every value."""
        moving = values.moving(zeros=self.zeros)[: len(values.column.values)]
        mean, spread = values.moments(values.counts[: len(moving)] * moving)
        if not spread:
            raise values.without_difference(zeros=self.zeros)
        common = self._common(values) if self.correlated else _Common((_rung(spread),), np.ones((1, 1)))
        place = values.alike.index(values.column.name) if self.correlated else 0
        scale = self.share * _RUNG ** common.rungs[place]
        shrink = float(np.hypot(1, scale / spread)) if self.rescale else 1.0
        shift = _Shift(mean, scale, shrink, self._bounds(values))
        draw = _Draw.of(values, moving, shift, _cholesky(common.correlations)[place])
        if shift.scale / shrink < draw.grid.step / _FAINT:
            raise values.nothing_to_draw("the noise is much smaller than the distance between neighbouring values")
        return Drawn(draw.column, draw, self.stream(values.alike), f"{self.salt}, {common.salt}")

    @property
    def salt(self) -> str:
        """The share: the noise of another share is drawn anew."""
        return f"share {self.share!r}"

    def _bounds(self, values: ColumnValues) -> tuple[float, float]:
        """Return the smallest and the largest position that may be released."""
        if not np.isfinite(values.places).all():
            raise values.unsuitable("it contains infinite numbers")
        first, last = values.places.min(initial=np.inf), values.places.max(initial=-np.inf)
        is_amount = values.column.kind.numeric and first >= 0
        low = self.minimum if self.minimum is not None else 0.0 if is_amount else -np.inf
        high = np.inf if self.maximum is None else self.maximum
        if first < low or last > high:
            raise values.unsuitable("it has values beyond the minimum or maximum of the noise")
        return low, high

    def _common(self, values: ColumnValues) -> "_Common":
        """Return what the noise of all columns with the same perturbation is derived from."""
        draws = values.draws(*values.alike)
        words = np.unique(draws.words)
        if len(words) < len(draws):
            raise values.unsuitable("some individuals have several different values, and the noise is correlated")
        parts = [
            ColumnValues(values.columns[name], values.draws, values.tally, values.ends, values.columns)
            for name in values.alike
        ]
        return _Common(
            tuple(_rung(_spread(part, draws, zeros=self.zeros)) for part in parts), _correlations(parts, draws)
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Common:
    """Rounded properties of the columns that get noise together.

    ``rungs``: the standard deviation of each, as a power of ``_RUNG``; ``correlations``: their correlations.
    """

    rungs: tuple[int, ...]
    correlations: Floats

    @property
    def salt(self) -> str:
        """The properties on which the random numbers depend."""
        rounded = np.rint(self.correlations / _CORRELATION).astype(int)
        return f"spread {self.rungs}, correlations {rounded[np.tril_indices(len(rounded), -1)].tolist()}"


def _rung(spread: float) -> int:
    """Return the power of ``_RUNG`` that is nearest to a standard deviation.

    >>> [round(_RUNG ** _rung(spread), 2) for spread in (0.98, 1.02, 12.0)]
    [1.0, 1.0, 12.12]
    """
    return int(np.rint(np.log(spread) / np.log(_RUNG))) if spread > 0 else 0


def _spread(part: ColumnValues, draws: Draws, *, zeros: bool) -> float:
    """Return the standard deviation of the values of a column that may change, over all draws."""
    weights = np.bincount(draws.codes[part.column.name], minlength=part.column.size)
    return part.moments((weights * part.moving(zeros=zeros))[: len(part.column.values)])[1]


def _correlations(parts: Sequence[ColumnValues], draws: Draws) -> Floats:
    """Return the rounded correlations of some columns, over draws with numbers in all of them."""
    known = np.logical_and.reduce(
        [draws.codes[part.column.name] < len(part.column.values) for part in parts]
    )  # neither missing nor suppressed
    standard = []
    for part in parts:
        places = part.places[draws.codes[part.column.name][known]]
        centred = places - places.mean() if len(places) else places
        standard.append(centred / max(np.sqrt((centred**2).sum()), np.finfo(float).tiny))
    exact = np.array([[(one * other).sum() for other in standard] for one in standard])
    return np.asarray(np.rint(exact / _CORRELATION) * _CORRELATION)


def _cholesky(matrix: Floats) -> Floats:
    """Return the lower triangular L with L·Lᵀ = matrix, whose rows have length 1; dependent columns get no own part.

    >>> _cholesky(np.array([[1, 0.6], [0.6, 1]])).round(3).tolist()
    [[1.0, 0.0], [0.6, 0.8]]
    """
    lower = np.zeros_like(matrix)
    for row in range(len(matrix)):
        for column in range(row):
            rest = matrix[row, column] - (lower[row, :column] * lower[column, :column]).sum()
            lower[row, column] = rest / lower[column, column] if lower[column, column] > 1e-8 else 0.0
        own = 1.0 - (lower[row, :row] ** 2).sum()
        lower[row, row] = np.sqrt(max(own, 0.0))
        if own < 0:  # rounded correlations need not be those of any columns
            lower[row] /= np.sqrt(1.0 - own)
    return lower


@dataclass(frozen=True, slots=True)
class _Shift:
    """The effect of noise on a position: ``scale`` is the standard deviation of the noise."""

    mean: float
    scale: float
    shrink: float
    bounds: tuple[float, float]

    def free(self, places: Floats, numbers: Floats | float) -> Floats:
        """Return the positions with noise, given standard normal numbers, irrespective of the bounds."""
        return self.mean + (places + self.scale * numbers - self.mean) / self.shrink

    def within(self, places: Floats) -> Floats:
        """Return positions reflected at the bounds."""
        low, high = self.bounds
        reflected = np.where(places < low, 2 * low - places, places) if np.isfinite(low) else places
        reflected = np.where(reflected > high, 2 * high - reflected, reflected) if np.isfinite(high) else reflected
        return np.asarray(np.clip(reflected, low, high))

    def reached(self, places: Floats) -> tuple[Floats, Floats]:
        """Return the smallest and the largest position that the noise of each position can reach."""
        ends = [self.free(places, number) for number in (-_FARTHEST, _FARTHEST)]
        both = [*(self.within(end) for end in ends), *(np.clip(end, *self.bounds) for end in ends)]
        return np.minimum.reduce(both), np.maximum.reduce(both)


@dataclass(frozen=True, slots=True, eq=False)
class _Draw:
    """The draw of noisy values: from codes and random words to codes of ``column``.

    ``places``: the position of each original value; ``moving``: whether it may change. ``steps``: the released values
    as steps of ``grid``. ``factors``: the weight of each random number of an individual.
    """

    column: Column
    grid: Grid
    steps: NDArray[np.int64]
    places: Floats
    moving: NDArray[np.bool_]
    shift: _Shift
    factors: Floats

    @classmethod
    def of(cls, values: ColumnValues, moving: NDArray[np.bool_], shift: _Shift, factors: Floats) -> "_Draw":
        """Prepare the dictionary of all values that can be drawn."""
        used = values.counts[: len(moving)] > 0
        low, high = shift.reached(values.places[moving & used])
        grid = Grid.of(values.column, values.places) or Grid.finer_than(shift.scale / _FINE**2)
        while _number(grid, low, high) > _MOST and grid.coarser().step <= shift.scale / _FINE:
            grid = grid.coarser()
        steps = np.union1d(_steps(grid, low, high), grid.steps(values.places[~moving & used]))
        column = grid.column(values.column, steps)
        return cls(column, grid, steps, values.places, moving, shift, factors)

    def __call__(self, codes: Codes, words: Words) -> Codes:
        drawn = np.minimum(codes.astype(np.intp), len(self.places) - 1)
        moved = self.shift.within(self.shift.free(self.places[drawn], self._numbers(words)))
        steps = np.clip(self.grid.steps(np.where(self.moving[drawn], moved, self.places[drawn])), *self._ends)
        return with_tail(np.searchsorted(self.steps, steps), codes, len(self.places), self.column)

    @property
    def _ends(self) -> tuple[int, int]:
        return int(self.steps[0]), int(self.steps[-1])

    def _numbers(self, words: Words) -> Floats:
        """Return a standard normal number for each word."""
        used = np.flatnonzero(self.factors)
        return np.asarray(sum(self.factors[at] * normal(siphash((int(at), 2), [words])) for at in used))


def _ranges(grid: Grid, low: Floats, high: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first and last steps of the disjoint ranges that cover all ranges from ``low`` to ``high``."""
    first, last = grid.steps(low), grid.steps(high)
    order = np.argsort(first, kind="stable")
    first, last = first[order], np.maximum.accumulate(last[order])
    begins = np.concatenate([[True], first[1:] > last[:-1] + 1])
    ends = np.concatenate([begins[1:], [True]])
    return first[begins], last[ends]


def _number(grid: Grid, low: Floats, high: Floats) -> int:
    first, last = _ranges(grid, low, high)
    return int((last - first + 1).sum())


def _steps(grid: Grid, low: Floats, high: Floats) -> NDArray[np.int64]:
    """Return all steps from ``low`` to ``high``, ascending."""
    first, last = _ranges(grid, low, high)
    return expanded(first, last - first + 1)[1]
