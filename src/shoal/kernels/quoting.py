"""Quoting in text tables: whether quotes are closed, and which columns are deliberately quoted."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.kernels import library
from shoal.kernels.library import address

# As in texts.c: the position of a byte within a field, and the kinds of fields seen in a column.
_START, _BARE, _QUOTED, _CLOSED, _BROKEN = range(5)
_SEEN_BARE, _SEEN_QUOTED, _SEEN_FORCED = 1, 2, 4


@dataclass(frozen=True, slots=True, eq=False)
class Quoting:
    """Properties of the quotes in a text table.

    ``unclosed``: the row (from 0) in which a quote was opened but never closed. ``broken``: the row in which text
    follows a closing quote. ``columns``: the columns that are deliberately quoted, and hence intended as text.
    """

    unclosed: int | None
    broken: int | None
    columns: frozenset[int]


def scan_quotes(blocks: Iterable[bytes], separator: bytes, columns: int) -> Quoting:
    r"""Scan the quotes of a text table with ``columns`` columns, given in UTF-8 block by block.

    Some programs quote text and leave numbers unquoted; others quote everything, which carries no information. Neither
    do quotes that are required because the text contains a separator, a quote or a line end.

    >>> scan_quotes([b'id,age', b'\n"1",34\n'], b",", 2).columns
    frozenset({0})
    """
    scan = _NumpyScan(separator, columns) if library.core() is None else _NativeScan(separator, columns)
    for block in blocks:
        scan.add(block)
    if scan.ended()[0] != _QUOTED:
        scan.add(b"\n")  # the last line may not be terminated
    mode, row, opened = scan.ended()
    header, body = np.split(scan.seen, 2)
    everything = not ((header | body) & _SEEN_BARE).any() and (header & _SEEN_QUOTED).any()
    purposely = (body & _SEEN_QUOTED).astype(bool) & ~(body & _SEEN_BARE).astype(bool)
    return Quoting(
        unclosed=opened if mode == _QUOTED else None,
        broken=row if mode == _BROKEN else None,
        columns=frozenset() if everything else frozenset(np.flatnonzero(purposely).tolist()),
    )


class _NativeScan:
    """The C kernel, with its state between blocks."""

    def __init__(self, separator: bytes, columns: int) -> None:
        self.seen = np.zeros(2 * columns, np.uint8)
        self._state = np.zeros(5, np.int64)
        self._separator = separator[0]
        self._columns = columns

    def add(self, block: bytes) -> None:
        native = library.core()
        data = np.frombuffer(block, np.uint8)
        if native is not None:
            native.shoal_scan_quotes(
                address(data),
                len(data),
                self._separator,
                address(self._state),
                address(self.seen),
                self._columns,
            )

    def ended(self) -> tuple[int, int, int]:
        mode, _, row, opened, _ = self._state.tolist()
        return mode, row, opened


class _NumpyScan:
    """The Python implementation, which visits only special characters and the text between them."""

    def __init__(self, separator: bytes, columns: int) -> None:
        self.seen: NDArray[np.uint8] = np.zeros(2 * columns, np.uint8)
        self._columns = columns
        self._special = re.compile(rb'["\r\n' + re.escape(separator) + rb"]")
        self._mode, self._column, self._row, self._opened, self._forced = _START, 0, 0, 0, False

    def add(self, block: bytes) -> None:
        before = 0
        for sign in self._special.finditer(block):
            if self._mode == _BROKEN:
                return
            self._plain(sign.start() - before)
            self._mark(sign.group())
            before = sign.end()
        self._plain(len(block) - before)

    def _plain(self, length: int) -> None:
        if length and self._mode in {_START, _CLOSED}:
            self._mode = _BARE if self._mode == _START else _BROKEN

    def _mark(self, character: bytes) -> None:
        quote = character == b'"'
        if self._mode == _QUOTED:
            self._mode, self._forced = (_CLOSED, self._forced) if quote else (_QUOTED, True)
        elif quote and self._mode == _CLOSED:
            self._mode, self._forced = _QUOTED, True
        elif quote and self._mode == _START:
            self._mode, self._forced, self._opened = _QUOTED, False, self._row
        elif not quote and self._mode != _BROKEN:
            self._end_of_field(line=character in {b"\r", b"\n"})

    def _end_of_field(self, *, line: bool) -> None:
        empty_line = line and self._mode == _START and self._column == 0
        if self._column < self._columns and self._mode != _START:
            shown = _SEEN_BARE if self._mode == _BARE else _SEEN_FORCED if self._forced else _SEEN_QUOTED
            self.seen[(self._columns if self._row else 0) + self._column] |= shown
        self._column = 0 if line else self._column + 1
        self._row += line and not empty_line
        self._mode = _START

    def ended(self) -> tuple[int, int, int]:
        return self._mode, self._row, self._opened
