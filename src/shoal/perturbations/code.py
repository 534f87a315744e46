"""Top and bottom coding: extreme values are released as one."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import ROUND_FLOOR, Decimal
from typing import ClassVar, Literal, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pydantic import Field, model_validator

from shoal.errors import PolicyError
from shoal.hierarchy.interval import Interval, exact_decimal, interval_label
from shoal.hierarchy.spec import Spec
from shoal.kernels.translation import narrowest
from shoal.perturbations.column_values import ColumnValues, Floats, with_tail
from shoal.perturbations.first_level import FirstLevel
from shoal.perturbations.perturbation import PERTURBATIONS, Perturbation
from shoal.table.column import Column, as_text
from shoal.table.kind import Kind
from shoal.table.scale import doubles
from shoal.techniques.change import Coarsened
from shoal.techniques.technique import Truth

_DIGITS = 12  # decimal places of a bound


@PERTURBATIONS.register("code")
class Coding(Perturbation):
    """Release numbers from a bound on as one set, such as "90+", and numbers below another bound as "<18".

    ``top`` and ``bottom`` are the bounds; ``persons`` chooses them so that at least this number of individuals have
    each of the coded values, with as few digits as possible. A side on which enough individuals have the extreme value
    itself is not coded. ``show = "bound"`` releases the bound itself, so that the column stays numeric.
    """

    kind: Literal["code"] = "code"
    top: float | None = Field(
        default=None, title="Top", description="numbers from here on are released as one set, such as 90 for 90+"
    )
    bottom: float | None = Field(default=None, title="Bottom", description="numbers below are released as one set")
    persons: int | None = Field(
        default=None,
        ge=2,
        title="Individuals per coded value",
        description="instead of bounds: minimum number of individuals with the highest and with the lowest values",
    )
    side: Literal["both", "top", "bottom"] = Field(
        default="both", title="Side", description="side that is coded, if a number of individuals is given"
    )
    show: Literal["label", "bound"] = Field(
        default="label", title="Released value", description='a label such as "90+", or the bound, 90'
    )
    says: ClassVar[str] = "Extreme values were released as one set (top and bottom coding)."
    guarantee: ClassVar[str] = (
        "All other values are unchanged. If a number of individuals is given, at least as many share each coded value."
    )
    iso: ClassVar[str] = "top and bottom coding"
    truth: ClassVar[Truth] = Truth.TRUE

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.persons is None) == (self.top is None and self.bottom is None):
            raise ValueError("give either persons, or top or bottom")
        if self.top is not None and self.bottom is not None and self.bottom > self.top:
            raise ValueError("bottom must not be above top")
        if self.side != "both" and self.persons is None:
            raise ValueError("side applies only if persons is given")
        return self

    @property
    def is_random(self) -> bool:
        """Coding draws nothing."""
        return False

    def change(self, values: ColumnValues) -> Coarsened:
        """Replace the extreme values."""
        number = len(values.places)
        bottom, top = self.bounds(values.column.name, values.places, *values.ends())
        below, above = values.places < bottom, values.places >= top
        if self.show == "bound":
            shown = pa.array(np.where(below, bottom, np.where(above, top, values.places)))
            if values.column.kind is Kind.INTEGER:
                if not all(float(end).is_integer() for end in (bottom, top) if np.isfinite(end)):
                    raise values.unsuitable("it contains whole numbers, and a bound is none")
                shown = shown.cast(pa.int64())
            column = replace(values.column, values=pc.unique(shown))
        else:
            shown = self.labelled(values.column, below, above, (bottom, top))
            names = pc.unique(shown)
            column = replace(values.column, kind=Kind.TEXT, values=names.take(pc.sort_indices(names)))
        places = pc.index_in(shown, column.values).to_numpy(zero_copy_only=False)
        every = np.arange(values.column.size)
        if not number:
            return Coarsened(column, every.astype(narrowest(max(column.size, 1))))
        return Coarsened(column, with_tail(places[np.minimum(every, number - 1)], every, number, column))

    def bounds(
        self, name: str, places: Floats, lowest: NDArray[np.int64], highest: NDArray[np.int64]
    ) -> tuple[float, float]:
        """Return the bounds of a column: numbers below the first and from the second on are coded.

        ``places``: the values, ascending. ``lowest``, ``highest``: the number of individuals whose lowest, and whose
        highest, value each of them is.
        """
        if self.persons is None:
            return -np.inf if self.bottom is None else self.bottom, np.inf if self.top is None else self.top
        number, from_top, from_bottom = len(places), np.cumsum(highest[::-1])[::-1], np.cumsum(lowest)
        high = int(np.searchsorted(-from_top, -self.persons, "right")) - 1 if self.side != "bottom" else number
        low = int(np.searchsorted(from_bottom, self.persons)) + 1 if self.side != "top" else 0
        if high == number - 1 and high >= 0:  # enough individuals have the highest value itself
            high = number
        low = 0 if low == 1 else low
        if high < low or (number and (low >= number or high <= 0)):
            raise PolicyError(
                "too-few-to-code",
                "Column '{column}' cannot be coded: no value would remain if at least {persons:individual} had each "
                "coded value.",
                remedy="Reduce the number, or code the other side only.",
                column=name,
                persons=self.persons,
            )
        return (
            _between(places, low) if 0 < low < number else -np.inf if not low else np.inf,
            _between(places, high) if 0 < high < number else np.inf if high else float(places[0]),
        )

    def refusal(self, *, has_several_values: bool) -> str | None:
        """Return why a quasi-identifier cannot be coded so."""
        if self.show == "bound":
            return "it shows sets, not bounds"
        if self.persons is not None and has_several_values:
            return "individuals have several values, so give the bounds instead of a number of individuals"
        return None

    def hierarchy(self, above: Spec) -> Spec:
        """Return a hierarchy whose first level shows the extreme values as one set each."""
        return _CodedFirst(perturbation=self, above=above)

    @staticmethod
    def labelled(
        column: Column, below: NDArray[np.bool_], above: NDArray[np.bool_], bounds: tuple[float, float]
    ) -> pa.StringArray:
        """Return the label of each value."""
        whole, (bottom, top) = column.kind is Kind.INTEGER, bounds
        shown = as_text(column.values)
        if below.any():
            shown = pc.if_else(pa.array(below), interval_label(None, exact_decimal(bottom), whole=whole), shown)
        if above.any():
            shown = pc.if_else(pa.array(above), interval_label(exact_decimal(top), None, whole=whole), shown)
        return shown


def _between(places: Floats, place: int) -> float:
    """Return the number with the fewest digits above one value and not above the next: no value of an individual.

    >>> _between(np.array([1280.0, 1311.0]), 1), _between(np.array([-0.26, 0.31]), 1), _between(np.array([3.0, 4.0]), 1)
    (1300.0, 0.0, 4.0)
    """
    low, high = exact_decimal(float(places[place - 1])), exact_decimal(float(places[place]))
    for exponent in range(max(low.adjusted(), high.adjusted()) + 1, -_DIGITS, -1):
        unit = Decimal(1).scaleb(exponent)
        number = float((high / unit).to_integral_value(ROUND_FLOOR) * unit)
        if places[place - 1] < number <= places[place]:
            return number + 0.0
    return float(places[place])


class _CodedFirst(FirstLevel):
    """A hierarchy whose first level shows the extreme values as one set each, and all others as they are."""

    kind: Literal["coded"] = "coded"
    of_persons: ClassVar[bool] = True

    @property
    def of_data(self) -> bool:
        """Whether labels depend on other values: the bounds do, if they are chosen by a number of individuals."""
        return self.perturbation.persons is not None or self.above.of_data

    def first(self, column: Column, counts: NDArray[np.int64]) -> tuple[Sequence[str], Spec]:
        """Return the label of each value."""
        number = len(column.values)
        places = doubles(column.values).to_numpy(zero_copy_only=False)
        bottom, top = self.perturbation.bounds(column.name, places, counts[:number], counts[:number])
        labels = self.perturbation.labelled(column, places < bottom, places >= top, (bottom, top)).to_pylist()
        above = self.above.resolved(column)
        if isinstance(above, Interval):
            ends = {"bottom": bottom if np.isfinite(bottom) else None, "top": top if np.isfinite(top) else None}
            above = above.model_copy(update={name: end for name, end in ends.items() if end is not None})
        return labels, above
