"""Eigenvalues of the correlation matrix."""

from typing import ClassVar

import numpy as np

from shoal.qualities.correlations import pearson
from shoal.qualities.quality import QUALITIES, Aspect, Measured, Quality, Score
from shoal.recoding.nodes import Floats, Ints
from shoal.recoding.recoding import Recoding

_NONE = 1e-9  # eigenvalues up to here are those of columns that depend on others


@QUALITIES.register("eigenvalues")
class Eigenvalues(Quality):
    """Change of the eigenvalues of the correlation matrix.

    ``Σ |λ − λ'| / λ``, with the eigenvalues λ of the original and λ' of the release in descending order. Intervals
    count as their midpoint. Eigenvalues of 0, which result if a column follows from others, are omitted. Templ & Meindl
    2008. Defined for two or more columns of numbers or dates. Value: 0 or more. Cost: the value per eigenvalue, at
    most 1.

    >>> import shoal
    >>> before, after = {"x": [1, 2, 3, 4], "y": [1, 3, 2, 4]}, {"x": [1, 2, 3, 4], "y": [1, 2, 3, 4]}
    >>> shoal.compare(before, after).quality["eigenvalues"].total.value.__round__(3)
    1.111
    """

    name: ClassVar[str] = "eigenvalues"
    unit: ClassVar[str] = "sum of relative changes"
    aspect: ClassVar[Aspect] = Aspect.RELATIONS
    across_columns: ClassVar[bool] = True
    matched: ClassVar[bool] = True

    def measured(self, recoding: Recoding) -> Measured:
        """Compare the eigenvalues of the columns with numbers."""
        varied, left_out = [], {}
        for column in recoding.of_quasi:
            if column.domain.positions is None:
                left_out[column.name] = "it contains no numbers or dates"
            elif np.count_nonzero(column.original) < 2:
                left_out[column.name] = "all its values are the same"
            else:
                varied.append(column)
        if len(varied) < 2:
            return self.result(None, {}, left_out)
        rows, counts = recoding.representatives
        before = [np.asarray(column.domain.positions)[column.matched] for column in varied]
        true = _eigenvalues(before, recoding.counts)
        shown = _eigenvalues([column.rows(rows).values for column in varied], counts)
        some = true > _NONE
        change = float((np.abs(true - shown)[some] / true[some]).sum())
        return self.result(Score(change, min(change / max(int(some.sum()), 1), 1.0)), {}, left_out)


def _eigenvalues(columns: list[Floats], counts: Ints) -> Floats:
    """Return the eigenvalues of the correlation matrix, in descending order."""
    matrix = np.eye(len(columns))
    for row in range(len(columns)):
        for column in range(row):
            matrix[row, column] = matrix[column, row] = pearson(columns[row], columns[column], counts)
    return np.asarray(np.linalg.eigvalsh(matrix)[::-1])
