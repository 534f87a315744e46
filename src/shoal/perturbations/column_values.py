"""Values of a column, as far as a perturbation may read them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.errors import PolicyError
from shoal.kernels.siphash import Words
from shoal.kernels.translation import Codes, narrowest
from shoal.table.column import Column
from shoal.table.scale import scale

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """Draws of a perturbation: each person and value once, so that repeated records do not average the draws out.

    ``words``: the random words of the draws, ascending. ``codes``: the codes of columns. A draw is repeated if its
    records differ in another column.
    """

    words: Words
    codes: Mapping[str, Codes]

    def __len__(self) -> int:
        return len(self.words)

    def once(self) -> "Draws":
        """Return each draw once, with the smallest of its codes in other columns."""
        return self.some(np.concatenate([np.ones(min(len(self), 1), bool), np.diff(self.words) != 0]))

    def some(self, chosen: NDArray[np.bool_]) -> "Draws":
        """Return the draws that a mask chooses."""
        return Draws(self.words[chosen], {name: codes[chosen] for name, codes in self.codes.items()})


@dataclass(frozen=True)
class ColumnValues:
    """One ``column`` and its relations to others.

    ``draws(*names)``: the draws of the records to be released, with their codes in this column and in others.
    ``tally()``: the number of draws with each code. ``ends()``: the number of persons whose lowest, and whose highest,
    value has each code.
    ``columns``: all columns of the table. ``known``: the quasi-identifiers. ``alike``: the columns with the same
    perturbation, this one among them.
    """

    column: Column
    draws: Callable[..., Draws]
    tally: Callable[[], NDArray[np.int64]]
    ends: Callable[[], tuple[NDArray[np.int64], NDArray[np.int64]]]
    columns: Mapping[str, Column]
    known: tuple[str, ...] = ()
    alike: tuple[str, ...] = ()

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """The number of draws with each code."""
        return self.tally()

    @cached_property
    def places(self) -> Floats:
        """The position of each value: the number itself, or days since 1970."""
        places = scale(self.column)
        if places is None:
            raise TypeError("only numbers and dates have positions")
        return places[: len(self.column.values)]

    @cached_property
    def is_zero(self) -> NDArray[np.bool_]:
        """Whether each value is a structural zero: 0, if no value is negative."""
        if not self.column.kind.numeric or not len(self.places) or np.nanmin(self.places, initial=0) < 0:
            return np.zeros(len(self.column.values), bool)
        return np.asarray(self.places == 0)

    def moving(self, *, zeros: bool) -> NDArray[np.bool_]:
        """Return whether each code may change: not if it is missing or infinite, nor a zero if ``zeros`` stay."""
        moving = np.zeros(self.column.size, bool)
        moving[: len(self.column.values)] = np.isfinite(self.places) if self.column.kind.numeric else True
        if zeros:
            moving[: len(self.column.values)] &= ~self.is_zero
        return moving

    def moments(self, weights: NDArray[np.int64]) -> tuple[float, float]:
        """Return the mean and the standard deviation of the values, with a weight for each."""
        total = int(weights.sum())
        if not total:
            return 0.0, 0.0
        places = np.where(weights > 0, self.places, 0.0)
        mean = float((places * weights).sum() / total)
        return mean, float(np.sqrt(((places - mean) ** 2 * weights * (weights > 0)).sum() / total))

    def unsuitable(self, reason: str) -> PolicyError:
        """Return the error for a column that cannot be perturbed."""
        return PolicyError(
            "column-not-perturbed",
            "Column '{column}' cannot be perturbed as requested: {reason}.",
            remedy="Change its perturbation, or correct the column.",
            column=self.column.name,
            reason=reason,
        )

    def without_difference(self, *, zeros: bool) -> PolicyError:
        """Return the error for a column whose values do not differ; ``zeros``: whether zeros stay."""
        beside = ", apart from the zeros, which stay (zeros = true)," if zeros and self.is_zero.any() else ""
        return self.nothing_to_draw(f"its values{beside} do not differ")

    def nothing_to_draw(self, reason: str) -> PolicyError:
        """Return the error for a column that the perturbation would leave unchanged."""
        return PolicyError(
            "nothing-perturbed",
            "The perturbation of column '{column}' would change nothing: {reason}.",
            remedy="Perturb more, choose another perturbation, or remove it.",
            column=self.column.name,
            reason=reason,
        )


def with_tail(shown: NDArray[np.integer], codes: NDArray[np.integer], before: int, column: Column) -> Codes:
    """Return the codes of a released column: ``shown`` for values, and those of missing and suppressed cells.

    ``before``: the number of values of the original column, whose ``codes`` are given.

    >>> import pyarrow as pa
    >>> from shoal.table.kind import Kind
    >>> column = Column("age", Kind.INTEGER, pa.array([30, 40, 50]), missing=True)
    >>> with_tail(np.array([2, 0]), np.array([0, 5], np.uint8), 5, column).tolist()
    [2, 3]
    """
    tail = codes.astype(np.int64) - before + len(column.values)
    return np.where(codes < before, shown, tail).astype(narrowest(max(column.size, 1)))
