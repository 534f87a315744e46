"""What a file says about a column beside its values: the label of the variable, and labels of values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class About:
    """``label``: what the column is called in words. ``values``: what single values mean.

    >>> About("sex at birth", {1: "female", 2: "male"}).of([2, 3])
    About(label='sex at birth', values={2: 'male'})
    """

    label: str = ""
    values: Mapping[Any, str] = field(default_factory=dict)

    def of(self, present: list[Any]) -> "About":
        """Return what is said about values that are there: labels of others would tell what the original had."""
        return About(self.label, {value: self.values[value] for value in present if value in self.values})
