"""Sliceable records: the released records of individuals with one record each, in random order."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.grouping import Groups, group_rows
from shoal.kernels.translation import Codes
from shoal.perturbations.column_values import Draws
from shoal.table.column import Column

Ids = NDArray[np.uint32]
Mask = NDArray[np.bool_]
Cells = Mapping[str, tuple[Column, Codes]]


@dataclass(frozen=True, slots=True, eq=False)
class SliceableRecords:
    """Records in the order of their random words, which are those of ``draws``.

    ``quasi``, ``sensitive``: the released columns with the code of each record. ``order[name]``: the place of each
    record's value of a quasi-identifier, in which similar values are adjacent. ``failing(chosen, classes, number)``:
    which classes violate a requirement on sensitive values, given by the class of each chosen record.
    """

    draws: Draws
    quasi: Cells
    sensitive: Cells
    order: Mapping[str, Ids]
    failing: Callable[[NDArray[np.intp], Ids, int], Mask]

    def __len__(self) -> int:
        return len(self.draws)

    def tuples(self, names: Sequence[str]) -> Groups:
        """Group records by the cells of some quasi-identifiers."""
        cells = [self.quasi[name] for name in names]
        return group_rows([codes for _, codes in cells], [column.size for column, _ in cells], len(self))
