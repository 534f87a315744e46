"""Dictionaries: the codes of values as a source has them."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.kernels.translation import Codes


@dataclass(frozen=True, slots=True, eq=False)
class Dictionary:
    """The different values of a column as the file has them, and the code of each; null is code ``null``."""

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
    """Turn −0.0 into 0.0: they are one value."""
    return pc.add(values, pa.scalar(0, values.type)) if pa.types.is_floating(values.type) else values
