"""Condition on a column: an event or a filter given as ``column=value``."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.errors import RecodingError
from shoal.table.column import Column


@dataclass(frozen=True, slots=True)
class Condition:
    """A column, and the value that fulfils the condition; None if only the column is given."""

    column: str
    value: str | None = None

    @classmethod
    def of(cls, text: str) -> "Condition":
        """Read a condition.

        >>> Condition.of("status=2"), Condition.of("died")
        (Condition(column='status', value='2'), Condition(column='died', value=None))
        """
        column, sign, value = text.rpartition("=")
        return cls(column.strip(), value.strip()) if sign else cls(text)

    @classmethod
    def of_filter(cls, text: str) -> "Condition":
        """Read a filter, which is a condition with a value.

        >>> Condition.of_filter("visit=1").value
        '1'
        """
        condition = cls.of(text)
        if condition.value is None:
            raise RecodingError(
                "incomplete-condition",
                "A filter names a column and a value, such as visit=1.",
                remedy="Add the value after an equals sign.",
            )
        return condition

    def codes(self, column: Column) -> NDArray[np.intp]:
        """Return the code of the value in a column, of which there may be one; refuse a value that does not occur."""
        labels = column.labels().to_pylist()
        found = np.flatnonzero([label is not None and _same(label, self.value or "") for label in labels])
        if not len(found):
            raise RecodingError(
                "no-such-value",
                "Column '{column}' does not contain the value that was given after the equals sign.",
                remedy="Check the value: it must be written as in the data.",
                column=self.column,
            )
        return found


def _same(label: str, text: str) -> bool:
    """Return whether two texts are the same value; numbers are compared as numbers.

    >>> _same("2", "2.0"), _same("yes", "no")
    (True, False)
    """
    try:
        return float(label) == float(text)
    except ValueError:
        return label == text
