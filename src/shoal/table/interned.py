"""Interned text: a column of text, taken block by block and kept as codes.

A column in which nearly every value is different, such as an identifier or a measurement, has nothing to gain from
that: once this is clear, its cells are no longer looked up.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from shoal.kernels.cells import CellTexts
from shoal.kernels.interning import text_interner
from shoal.kernels.translation import Codes, narrowest
from shoal.table.raw import RawColumn

BLOCK = 1 << 16
ENOUGH = 1 << 15  # rows after which it is clear whether values repeat
DIFFERENT = 0.98  # share of different values from which interning does not pay: a few repeats soon become many


class InternedText:
    """Takes a column of text block by block."""

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
        """Take one more block; the codes kept are as narrow as the number of entries so far allows."""
        self._repeats = self._repeats and (self._rows < ENOUGH or len(self._interner) < DIFFERENT * self._rows)
        codes = self._interner.add(block) if self._repeats else self._interner.append(block)
        self._rows += len(block)
        self._missing = self._missing or (len(codes) > 0 and int(codes.min()) == 0)
        self._parts.append(codes.astype(narrowest(len(self._interner) + 1)))

    def taken(self) -> tuple[RawColumn, pa.LargeStringArray]:
        """Hand over the raw codes and the entries behind them; nothing is kept here."""
        entries = self._interner.values()
        used = np.ones(len(entries) + 1, bool)
        used[0] = self._missing
        raw = RawColumn(self._parts, used)
        self._parts, self._interner = [], text_interner()
        return raw, entries


def blocks(cells: pa.ChunkedArray) -> Iterator[pa.Array]:
    """Cut a column into pieces that stay in the cache."""
    for chunk in cells.chunks:
        for start in range(0, len(chunk), BLOCK):
            yield chunk.slice(start, BLOCK)
