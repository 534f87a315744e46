"""Dictionaries: the mapping from the values of a source to codes."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.kernels.translation import Codes


@dataclass(frozen=True, slots=True, eq=False)
class Dictionary:
    """Distinct values of a column as the source has them, and the code of each; null has the code ``null``."""

    values: pa.Array
    codes: Codes
    null: int
    size: int

    def encoded(self, cells: pa.Array) -> Codes:
        """Return the codes of cells."""
        cells = cells if cells.type == self.values.type else cells.cast(self.values.type)
        place = pc.index_in(one_zero(cells), self.values).fill_null(len(self.values)).to_numpy()
        codes: Codes = np.append(self.codes, self.codes.dtype.type(self.null))[place]
        return codes


def one_zero(values: pa.Array) -> pa.Array:
    """Replace −0.0 by 0.0: both are the same value."""
    return pc.add(values, pa.scalar(0, values.type)) if pa.types.is_floating(values.type) else values
