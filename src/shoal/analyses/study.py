"""Study: single records before and after, as used in an analysis.

Cells become numbers as in :mod:`shoal.recoding.features`. Learning accepts missing cells; regressions omit the records
with missing cells.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.errors import RecodingError
from shoal.recoding.features import Features, numeric, shown_codes
from shoal.recoding.nodes import Floats, Ints
from shoal.recoding.recoding import Recoding
from shoal.remedy import Option, by


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """Records of a recoding, with their persons. ``persons[i]``: the person of record i."""

    recoding: Recoding
    rows: NDArray[np.uint32]
    persons: Ints

    @classmethod
    def of(cls, recoding: Recoding, persons: Ints | None = None) -> "Study":
        """Return the study of all records of a recoding; without ``persons``, every record is a person."""
        if recoding.of_record is None:
            raise RecodingError(
                "records-not-matched",
                "The analysis requires matched records of the original and the release.",
                remedy=by("Name a column that identifies the records in both tables", Option("key")),
            )
        rows = recoding.of_record
        return cls(recoding, rows, np.arange(len(rows)) if persons is None else persons)

    @property
    def released(self) -> NDArray[np.bool_]:
        """A mask of the records that are not suppressed in the release."""
        return ~self.recoding.suppressed[self.rows]

    def features(self, columns: Sequence[str]) -> Features:
        """Return columns as numeric features.

        >>> import shoal
        >>> found = shoal.compare({"age": [20, 30], "sex": ["f", "m"]}, {"age": ["20-30", "30"], "sex": ["*", "m"]})
        >>> features = found.study().features(["age", "sex"])
        >>> features.names, features.before.tolist(), features.after.tolist()
        (('age', 'sex=f', 'sex=m'), [[20.0, 1.0, 0.0], [30.0, 0.0, 1.0]], [[25.0, nan, nan], [30.0, 0.0, 1.0]])
        """
        return Features.of([self.recoding[name] for name in columns]).rows(self.rows)

    def numbers(self, name: str) -> tuple[Floats, Floats]:
        """Return a numeric column before and after; refuse other columns."""
        part = numeric(self.recoding[name])
        if part is None:
            raise RecodingError(
                "not-numeric",
                "Column '{column}' does not contain numbers.",
                remedy="Name a numeric column.",
                column=name,
            )
        return part.before[self.rows, 0], part.after[self.rows, 0]

    def categories(self, name: str) -> tuple[Ints, Ints]:
        """Return the codes of a column before and after; −1 where the release does not show a single value."""
        column = self.recoding[name]
        return column.matched[self.rows].astype(np.int64), shown_codes(column)[self.rows]

    def yes_or_no(self, name: str) -> tuple[Floats, Floats]:
        """Return a column with two values as 0 and 1, in ascending order; NaN where it is missing."""
        column = self.recoding[name].domain.column
        if len(column.values) != 2:
            raise RecodingError(
                "not-binary",
                "Column '{column}' has {values:value}. It must have two, such as yes and no, or 1 and 0.",
                column=name,
                values=len(column.values),
            )
        before, after = (codes.astype(np.float64) for codes in self.categories(name))
        return tuple(np.where((codes < 0) | (codes > 1), np.nan, codes) for codes in (before, after))  # type: ignore[return-value]
