"""Text cells: the positions of cells in a buffer, which is an Arrow array or a block of a file."""

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.kernels import library
from shoal.kernels.library import address

_NO_ENDS = np.zeros(1, np.uint32)


class Pointers(ctypes.Structure):
    """The C structure for cells."""

    _fields_ = (
        ("text", ctypes.c_void_p),
        ("bounds", ctypes.c_void_p),
        ("stride", ctypes.c_int64),
        ("gap", ctypes.c_int64),
        ("validity", ctypes.c_void_p),
        ("first_bit", ctypes.c_int64),
    )


@dataclass(frozen=True, slots=True, eq=False)
class CellTexts:
    """Text cells. Cell i is ``text[bounds[i, 0] : bounds[i, 1] - gap]``.

    ``gap`` is 1 for fields of a file, which are followed by a separator; an empty field is missing. Otherwise
    ``validity`` marks missing cells: a bitmap in which ``first_bit`` is the bit of the first cell.
    """

    text: NDArray[np.uint8]
    bounds: NDArray[np.uint32]
    gap: int = 0
    validity: NDArray[np.uint8] | None = None
    first_bit: int = 0

    @classmethod
    def of(cls, values: pa.StringArray) -> "CellTexts":
        """View an Arrow array as cells, without copying.

        >>> import pyarrow as pa
        >>> CellTexts.of(pa.array(["a", None, "bc"])[1:]).to_arrow().to_pylist()
        [None, 'bc']
        """
        validity, offsets, text = values.buffers()
        ends = np.frombuffer(offsets, np.uint32, len(values) + 1, 4 * values.offset) if len(values) else _NO_ENDS
        bitmap = None if validity is None else np.frombuffer(validity, np.uint8)
        bounds = np.lib.stride_tricks.as_strided(ends, (len(values), 2), (4, 4), writeable=False)  # overlapping pairs
        return cls(np.frombuffer(text or b"", np.uint8), bounds, 0, bitmap, values.offset)

    def __len__(self) -> int:
        """Return the number of cells."""
        return len(self.bounds)

    def pointers(self) -> Pointers:
        """Return the addresses, which are valid as long as this object exists."""
        validity = None if self.validity is None else address(self.validity)
        stride = self.bounds.strides[0] // self.bounds.itemsize
        bounds = self.bounds.ctypes.data  # may not be contiguous, hence the stride
        return Pointers(address(self.text), bounds, stride, self.gap, validity, self.first_bit)

    def missing(self) -> NDArray[np.bool_]:
        """Return a mask of the missing cells."""
        if self.gap:
            empty: NDArray[np.bool_] = self.bounds[:, 0] + self.gap == self.bounds[:, 1]
            return empty
        if self.validity is None:
            return np.zeros(len(self), bool)
        bits = np.unpackbits(self.validity, count=self.first_bit + len(self), bitorder="little")
        return ~bits[self.first_bit :].astype(bool)

    def to_arrow(self) -> pa.StringArray:
        """Return the cells as an Arrow array."""
        text, gap = self.text.tobytes(), self.gap
        cut = [text[start : end - gap].decode() for start, end in self.bounds.tolist()]
        return pa.array(cut, pa.string(), mask=self.missing())


def split_fields(lines: bytes, separator: bytes, width: int) -> list[CellTexts] | None:
    r"""Split lines of unquoted text into columns; None if a line does not have exactly ``width`` fields.

    The last line must be terminated. Empty lines are skipped, except for a single column, where they are missing
    values.

    >>> [column.to_arrow().to_pylist() for column in split_fields(b"7;f\n\n;m\r\n", b";", 2)]
    [['7', None], ['f', 'm']]
    """
    text = np.frombuffer(lines, np.uint8)
    native = library.core()
    bounds = (
        _split_numpy(text, separator[0], width) if native is None else _split_native(native, text, separator, width)
    )
    return None if bounds is None else [CellTexts(text, bounds[:, place : place + 2], 1) for place in range(width)]


def _split_native(native: Any, text: NDArray[np.uint8], separator: bytes, width: int) -> NDArray[np.uint32] | None:
    room = (len(text) // width + 1) * (width + 1) + 1  # a line, with its end, has at least a byte per field
    bounds = np.empty(room, np.uint32)
    rows = native.shoal_split_fields(address(text), len(text), separator[0], width, address(bounds))
    return None if rows < 0 else bounds[: rows * (width + 1)].reshape(rows, width + 1)


def _split_numpy(text: NDArray[np.uint8], separator: int, width: int) -> NDArray[np.uint32] | None:
    line_ends = np.flatnonzero(text == ord("\n"))
    starts = np.concatenate([[0], line_ends[:-1] + 1])[: len(line_ends)]
    returned = (line_ends > starts) & (text[line_ends - 1] == ord("\r"))
    ends = line_ends - returned
    kept = (ends > starts) | (width == 1)
    marks = np.flatnonzero(text == separator)
    line = np.searchsorted(line_ends[kept], marks)
    if not (np.bincount(line, minlength=int(kept.sum())) == width - 1).all():
        return None
    fields = marks.reshape(-1, width - 1) + 1 if width > 1 else np.empty((int(kept.sum()), 0), int)
    return np.column_stack([starts[kept], fields, ends[kept] + 1]).astype(np.uint32)
