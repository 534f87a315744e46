"""Interned text: a column of text, taken block by block and kept as codes.

A column in which nearly every value is different, such as an identifier or a measurement, has nothing to gain from
that: once this is clear, its blocks are kept as they are.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

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
        self._kept: list[pa.Array] = []
        self._rows = 0
        self._entries = 0
        self._missing = False

    @classmethod
    def of(cls, cells: pa.ChunkedArray) -> "InternedText":
        """Intern a whole column."""
        interned = cls()
        for block in blocks(cells):
            interned.add(block.cast(pa.string()))
        return interned

    def add(self, block: pa.StringArray) -> None:
        """Take one more block; the codes kept are as narrow as the number of entries so far allows."""
        repeats = self._rows < ENOUGH or len(self._interner) < DIFFERENT * self._rows
        codes = self._interned(block) if repeats and not self._kept else self._numbered(block)
        self._rows += len(block)
        self._missing = self._missing or block.null_count > 0
        self._parts.append(codes.astype(narrowest(self._entries + 1)))

    def _interned(self, block: pa.StringArray) -> NDArray[np.uint32]:
        codes = self._interner.add(block)
        self._entries = len(self._interner)
        return codes

    def _numbered(self, block: pa.StringArray) -> NDArray[np.uint32]:
        """Make every cell an entry of its own."""
        present = block.is_valid().to_numpy(zero_copy_only=False)
        codes = np.zeros(len(block), np.uint32)
        count = len(block) - block.null_count
        codes[present] = np.arange(self._entries + 1, self._entries + count + 1, dtype=np.uint32)
        self._kept.append(block.drop_null() if block.null_count else block)
        self._entries += count
        return codes

    def taken(self) -> tuple[RawColumn, pa.LargeStringArray]:
        """Hand over the raw codes and the entries behind them; nothing is kept here."""
        entries = pa.concat_arrays([self._interner.values(), *(kept.cast(pa.large_string()) for kept in self._kept)])
        used = np.ones(len(entries) + 1, bool)
        used[0] = self._missing
        raw = RawColumn(self._parts, used)
        self._parts, self._kept, self._interner = [], [], text_interner()
        return raw, entries


def blocks(cells: pa.ChunkedArray) -> Iterator[pa.Array]:
    """Cut a column into pieces that stay in the cache."""
    for chunk in cells.chunks:
        for start in range(0, len(chunk), BLOCK):
            yield chunk.slice(start, BLOCK)
