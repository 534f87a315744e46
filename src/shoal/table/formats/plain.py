"""Plain text tables: cut at separators and line ends alone, which is all that most files need."""

from collections.abc import Iterator

from shoal.kernels.cells import CellTexts, split_fields

LARGEST_RECORD = 1 << 28


class NotPlainError(Exception):
    """The file has quotes, line ends of several kinds or rows of several lengths: it takes more than cutting."""


def plain_columns(text: Iterator[bytes], separator: bytes, width: int, head: int) -> Iterator[list[CellTexts]]:
    r"""Yield the columns of a text in UTF-8, block by block, without so many lines at its head.

    Raises :class:`NotPlainError` where cutting is not enough, and ``UnicodeDecodeError`` where bytes are no characters.

    >>> blocks = plain_columns(iter([b"a;b\n1;", b"2"]), b";", 2, 1)
    >>> [[column.to_arrow().to_pylist() for column in block] for block in blocks]
    [[['1'], ['2']]]
    """
    for lines in _without_head(_unix_lines(_whole_lines(text)), head):
        columns = split_fields(lines, separator, width)
        if columns is None or b'"' in lines:
            raise NotPlainError
        if not lines.isascii():
            lines.decode()
        if len(columns[0]):
            yield columns


def _whole_lines(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Move what is cut at the end of a block to the next one; the last line gets its end if it has none."""
    left = b""
    for block in blocks:
        if len(left) > LARGEST_RECORD:
            raise NotPlainError
        end = block.rfind(b"\n") + 1
        if not end and b"\r" in block[:-1]:  # the last one may be half of a line end
            raise NotPlainError  # returns end its lines: nothing to wait for
        if end:
            yield b"".join((left, memoryview(block)[:end]))
        left = block[end:] if end else left + block
    if left:
        yield left + b"\n"


def _without_head(blocks: Iterator[bytes], lines: int) -> Iterator[bytes]:
    for block in blocks:
        at = 0
        while lines and at < len(block):
            at, lines = block.index(b"\n", at) + 1, lines - 1
        yield block[at:] if at else block


def _unix_lines(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Let through what has line feeds only, with or without a return before: elsewhere returns may end lines, too."""
    for lines in blocks:
        if b"\r" in lines and lines.count(b"\r\n") != lines.count(b"\r"):
            raise NotPlainError
        yield lines
