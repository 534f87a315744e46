"""Order-based hierarchies: adjacent values in an order are grouped."""

from pathlib import Path
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from shoal.errors import HierarchyError
from shoal.hierarchy.hierarchy import Hierarchy, Labels, ladder
from shoal.hierarchy.spec import KINDS, Spec, refuse_unknown
from shoal.remedy import ColumnSetting
from shoal.table.column import Column, as_text


@KINDS.register("order")
class Order(Spec):
    """Groups of adjacent values, such as the grades of a scale.

    ``sizes``: the number of values per group on each level, each a multiple of the one before. ``order``: the values in
    their order; required for text, which has no order of its own. ``unknown``: the treatment of values that are not in
    the order: "refuse" or "suppress".

    >>> import shoal
    >>> from shoal.hierarchy.spec import bind
    >>> table = shoal.read({"pain": ["none", "mild", "severe", "worst"]})
    >>> spec = Order(sizes=[2], order=["none", "mild", "severe", "worst"])
    >>> sorted(set(bind(spec, table, "pain").labels(1).to_pylist()))
    ['none to mild', 'severe to worst']
    """

    kind: Literal["order"] = "order"
    names_values: ClassVar[bool] = True
    sizes: list[int] = Field(
        min_length=1,
        title="Group sizes",
        description="number of values per group on each level, each a multiple of the previous one",
    )
    order: list[str] = Field(
        default_factory=list, title="Order of the values", description="order of the values, if they are text"
    )
    unknown: Literal["refuse", "suppress"] = Field(
        default="refuse", title="Unknown values", description="treatment of values that the order does not contain"
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        for fine, coarse in zip([1, *self.sizes], self.sizes, strict=False):
            if coarse <= fine or coarse % fine:
                raise ValueError("sizes must be above 1, each a multiple of the previous one")
        if len(set(self.order)) < len(self.order):
            raise ValueError("order must not contain a value twice")
        return self

    @property
    def of_data(self) -> bool:
        """Whether labels depend on other values: the order is that of the values in the column if none is given."""
        return not self.order

    def build(self, column: Column, counts: NDArray[np.int64], folder: Path) -> Hierarchy:
        """Bind to a column."""
        del folder
        values = as_text(column.values).to_pylist()
        if not self.order and not column.kind.ordered and len(values):
            raise HierarchyError(
                "no-order",
                "Column '{column}' contains text, which has no order of its own.",
                remedy=ColumnSetting("hierarchy", {"kind": "order", "order": ["none", "mild", "severe"]}),
                column=column.name,
            )
        ordered = self.order or values
        places = {value: place for place, value in enumerate(ordered)}
        unknown = [value not in places for value in values]
        if self.unknown == "refuse":
            refuse_unknown(column, counts, unknown, "are not in the given order", "Add them to it")
        return ladder(column, [_grouped(values, places, ordered, size) for size in self.sizes], unknown)


def _grouped(values: list[str], places: dict[str, int], ordered: list[str], size: int) -> Labels:
    """Label each value with the first and last members of its group."""
    labels = []
    for value in values:
        start = places.get(value, 0) // size * size
        group = ordered[start : start + size]
        labels.append(group[0] if len(group) == 1 else f"{group[0]} to {group[-1]}")
    return labels
