"""The engine for tables whose order tells nothing: their different rows, in order, and how often each comes."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.engines.outside import OutsideEngine, merged
from shoal.engines.protocol import DistinctRows, Engine, Tallied
from shoal.kernels.translation import Codes


class CountedEngine(OutsideEngine):
    """Rows that are repeated as often as they come; nobody holds them all."""

    def __init__(self, rows: DistinctRows, sizes: Mapping[str, int]) -> None:
        super().__init__(sizes, int(rows.counts.sum()))
        self._held = self._latest = rows  # all that can be asked is counted already, with others
        self._ends: NDArray[np.int64] = np.cumsum(rows.counts)

    def chunks(self, columns: Sequence[str], size: int) -> Iterator[tuple[Codes, ...]]:
        """Yield the codes of some columns, so many records at a time."""
        codes = [self._held.codes[self._held.columns.index(name)] for name in columns]
        for start in range(0, self.rows, size):
            end = min(start + size, self.rows)
            first, last = np.searchsorted(self._ends, [start, end - 1], side="right")
            ends = np.minimum(self._ends[first : last + 1], end)
            times = np.diff(ends, prepend=start)
            yield tuple(np.repeat(column[first : last + 1], times) for column in codes)

    def tallied(self, columns: Sequence[str], size: int) -> Tallied:
        """Yield the codes of some columns, and how often they come."""
        return self._held.tallied(columns, size)

    def translated(self, tables: Mapping[str, Codes], sizes: Mapping[str, int]) -> Engine:
        """Return the same records with other codes in some columns."""
        counted, sizes = self._held, {**self._sizes, **sizes}
        codes = [
            tables[name][codes] if name in tables else codes
            for name, codes in zip(counted.columns, counted.codes, strict=True)
        ]
        rows = merged(counted.columns, codes, counted.counts, [max(sizes[name], 1) for name in counted.columns])
        return CountedEngine(rows, sizes)
