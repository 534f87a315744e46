"""The engine for tables that are larger than memory: the codes of each column are files, read in blocks.

A file of codes is meaningless without the dictionaries, which stay in memory. It is stored in a folder that only its
owner can read, and is removed with the table.
"""

import shutil
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shoal.engines.outside import OutsideEngine
from shoal.kernels.translation import Codes
from shoal.scratch import make_folder


@dataclass(frozen=True, slots=True, eq=False)
class Spooled:
    """Codes of a column in a file; if there is a ``table``, they are positions in it.

    A column may consist of several files, each with its own codes.
    """

    path: Path
    dtype: np.dtype[np.unsignedinteger[Any]]
    rows: int
    table: Codes | None = None

    def read(self, start: int, number: int) -> Codes:
        """Return the codes of some rows."""
        codes: Codes = np.fromfile(self.path, self.dtype, number, offset=start * self.dtype.itemsize)
        return codes if self.table is None else self.table[codes]


class Spool:
    """Private folder for codes, removed when it is no longer referenced or when Python exits."""

    def __init__(self) -> None:
        self.folder = make_folder()
        self._number = 0
        self._end = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    def file(self) -> Path:
        """Return the path of a new file."""
        self._number += 1
        return self.folder / f"{self._number}.codes"

    def keep(self, parts: Iterable[Codes], dtype: np.dtype[np.unsignedinteger[Any]]) -> Spooled:
        """Write codes to a file, one part after the other."""
        path, rows = self.file(), 0
        with path.open("wb") as file:
            for part in parts:
                np.ascontiguousarray(part, dtype).tofile(file)
                rows += len(part)
        return Spooled(path, dtype, rows)


class DiskEngine(OutsideEngine):
    """Codes in files: one or several per column, with the same number of rows for every column.

    ``sizes[name]``: the number of distinct codes that a column may hold.
    """

    def __init__(self, spool: Spool, codes: Mapping[str, Sequence[Spooled]], sizes: Mapping[str, int]) -> None:
        self._ends = np.cumsum([part.rows for part in next(iter(codes.values()), ())], dtype=np.int64)
        super().__init__(sizes, int(self._ends[-1]) if len(self._ends) else 0)
        self._spool = spool  # the files exist as long as this object
        self._codes = dict(codes)

    def chunks(self, columns: Sequence[str], size: int) -> Iterator[tuple[Codes, ...]]:
        """Yield the codes of some columns in chunks of at most ``size`` records, in input order."""
        for start in range(0, self._rows, size):
            end = min(start + size, self._rows)
            yield tuple(self._read(name, start, end) for name in columns)

    def _read(self, name: str, start: int, end: int) -> Codes:
        """Return the codes of a range of records, read from one or several files."""
        first, last = np.searchsorted(self._ends, [start, end - 1], side="right").tolist()
        parts = []
        for place in range(first, last + 1):
            part, begin = self._codes[name][place], int(self._ends[place]) - self._codes[name][place].rows
            parts.append(part.read(max(start - begin, 0), min(end - begin, part.rows) - max(start - begin, 0)))
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
