"""Study: single records before and after, as used in an analysis.

Cells become numbers as in :mod:`shoal.recoding.features`. Learning accepts missing cells; regressions omit the records
with missing cells.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shoal.analyses.condition import Condition
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

    def _condition(self, name: str) -> Condition:
        """Return a column with the value that counts as the event, if one is given."""
        return Condition(name) if name in self.recoding else Condition.of(name)

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

    def where(self, text: str) -> "Study":
        """Return the study of the records whose original fulfils a condition such as ``visit=1``.

        >>> import shoal
        >>> data = {"visit": [1, 2, 1, 2], "age": [31, 31, 34, 34]}
        >>> len(shoal.compare(data, data, quasi=["age"]).study().where("visit=1").rows)
        2
        """
        condition = Condition.of_filter(text)
        column = self.recoding[condition.column]
        fulfilled = np.isin(column.matched[self.rows], condition.codes(column.domain.column))
        return replace(self, rows=self.rows[fulfilled], persons=self.persons[fulfilled])

    def yes_or_no(self, name: str) -> tuple[Floats, Floats]:
        """Return a column as 0 and 1; NaN where it is missing.

        Two values are taken in ascending order. Of more values, the one of a condition such as ``status=2`` is 1.
        """
        condition = self._condition(name)
        column = self.recoding[condition.column].domain.column
        if condition.value is not None:
            events, size = condition.codes(column), len(column.values)
            return tuple(
                np.where((codes < 0) | (codes >= size), np.nan, np.isin(codes, events))
                for codes in self.categories(condition.column)
            )  # type: ignore[return-value]
        if len(column.values) != 2:
            raise RecodingError(
                "not-binary",
                "Column '{column}' has {values:value}. An event or a binary outcome has two.",
                remedy="Name the value that is the event as COLUMN=VALUE; other values count as no event (censored).",
                column=name,
                values=len(column.values),
            )
        before, after = (codes.astype(np.float64) for codes in self.categories(name))
        return tuple(np.where((codes < 0) | (codes > 1), np.nan, codes) for codes in (before, after))  # type: ignore[return-value]
