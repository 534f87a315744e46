"""Frequency-based hierarchies: frequent categories are kept, rare ones become "other"."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from shoal.hierarchy.hierarchy import Hierarchy, Labels, ladder
from shoal.hierarchy.spec import KINDS, Spec
from shoal.table.column import Column, as_text


@KINDS.register("frequency")
class Frequency(Spec):
    """The most frequent categories, and "other".

    ``keep``: the maximum number of categories on each level, in descending order; equally frequent categories are kept
    or merged together. ``other``: the label of the remaining categories; with several levels, followed by the number
    kept, so that a label has the same meaning in all records. If there is a subject, persons are counted instead of
    records.

    >>> import shoal
    >>> from shoal.hierarchy.spec import bind
    >>> table = shoal.read({"job": ["nurse", "nurse", "pilot", "smith", "smith"]})
    >>> bind(Frequency(keep=[2]), table, "job").labels(1).to_pylist()
    ['nurse', 'other', 'smith']
    >>> bind(Frequency(keep=[2, 1]), table, "job").labels(2).to_pylist()
    ['other (not in top 1)', 'other (not in top 1)', 'other (not in top 1)']
    """

    kind: Literal["frequency"] = "frequency"
    keep: list[int] = Field(
        min_length=1, title="Categories kept", description="maximum number of categories on each level, descending"
    )
    other: str = Field(default="other", title="Label of other categories", description="label of all other categories")
    of_persons = True

    @property
    def of_data(self) -> bool:
        """Whether labels depend on other values: they depend on the frequencies of all values."""
        return True

    @model_validator(mode="after")
    def _check(self) -> Self:
        if any(number < 1 for number in self.keep) or self.keep != sorted(set(self.keep), reverse=True):
            raise ValueError("keep must be descending numbers of at least 1")
        return self

    def build(self, column: Column, counts: NDArray[np.int64], folder: Path) -> Hierarchy:
        """Bind to a column."""
        del folder
        values = as_text(column.values).to_pylist()
        frequencies = counts[: len(values)]
        return ladder(column, [self._labels(values, frequencies, number) for number in self.keep])

    def spread(self, labels: Sequence[str], folder: Path) -> NDArray[np.float64] | None:
        """Return 0 for each label if none of them stands for other categories, whose number the labels do not show."""
        del folder
        return None if any(label.startswith(self.other) for label in labels) else np.zeros(len(labels))

    def _labels(self, values: list[str], frequencies: NDArray[np.int64], number: int) -> Labels:
        """Keep at most ``number`` categories: those more frequent than the most frequent one that is merged."""
        ranked = np.sort(frequencies)[::-1]
        limit = ranked[number] if number < len(ranked) else 0
        other = self.other if len(self.keep) == 1 else f"{self.other} (not in top {number})"
        return [value if count > limit else other for value, count in zip(values, frequencies.tolist(), strict=True)]
