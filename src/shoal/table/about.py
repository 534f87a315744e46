"""Column metadata of a file: the variable label and the value labels."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class About:
    """Variable label (``label``) and value labels (``values``) of a column.

    >>> About("sex at birth", {1: "female", 2: "male"}).of([2, 3])
    About(label='sex at birth', values={2: 'male'})
    """

    label: str = ""
    values: Mapping[Any, str] = field(default_factory=dict)

    def of(self, present: list[Any]) -> "About":
        """Return the labels of the values present: other labels would disclose values of the original."""
        return About(self.label, {value: self.values[value] for value in present if value in self.values})
