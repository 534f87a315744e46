"""Interned text: a text column, added block by block and stored as codes.

Interning does not pay for a column in which nearly every value is distinct, such as an identifier or a measurement.
Once such a column is recognised, its cells are no longer looked up.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from shoal.kernels.cells import CellTexts
from shoal.kernels.interning import text_interner
from shoal.kernels.translation import Codes, narrowest
from shoal.table.raw import RawColumn

BLOCK = 1 << 16
ENOUGH = 1 << 15  # rows after which the share of distinct values is assessed
DIFFERENT = 0.98  # share of distinct values from which interning does not pay; a few repeats soon become many


class InternedText:
    """Interner of a text column, block by block."""

    def __init__(self) -> None:
        self._interner = text_interner()
        self._parts: list[Codes] = []
        self._rows = 0
        self._repeats = True
        self._missing = False

    @classmethod
    def of(cls, cells: pa.ChunkedArray) -> "InternedText":
        """Intern a whole column."""
        interned = cls()
        for block in blocks(cells):
            interned.add(CellTexts.of(block.cast(pa.string())))
        return interned

    def add(self, block: CellTexts) -> None:
        """Add a block; its codes are stored in the narrowest type for the current number of entries."""
        self._repeats = self._repeats and (self._rows < ENOUGH or len(self._interner) < DIFFERENT * self._rows)
        codes = self._interner.add(block) if self._repeats else self._interner.append(block)
        self._rows += len(block)
        self._missing = self._missing or (len(codes) > 0 and int(codes.min()) == 0)
        self._parts.append(codes.astype(narrowest(len(self._interner) + 1)))

    def taken(self) -> tuple[RawColumn, pa.LargeStringArray]:
        """Return the raw codes and their entries, and reset the interner."""
        entries = self._interner.values()
        used = np.ones(len(entries) + 1, bool)
        used[0] = self._missing
        raw = RawColumn(self._parts, used)
        self._parts, self._interner = [], text_interner()
        return raw, entries


def blocks(cells: pa.ChunkedArray) -> Iterator[pa.Array]:
    """Split a column into blocks that stay in the cache."""
    for chunk in cells.chunks:
        for start in range(0, len(chunk), BLOCK):
            yield chunk.slice(start, BLOCK)
