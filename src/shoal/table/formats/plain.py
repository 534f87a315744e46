"""Plain text tables: split at separators and line ends only, which suffices for most files."""

from collections.abc import Iterator

from shoal.kernels.cells import CellTexts, split_fields

LARGEST_RECORD = 1 << 28


class NotPlainError(Exception):
    """The file has quotes, mixed line ends or rows of different lengths, and needs a full CSV parser."""


def plain_columns(text: Iterator[bytes], separator: bytes, width: int, head: int) -> Iterator[list[CellTexts]]:
    r"""Yield the columns of UTF-8 text block by block, without its first ``head`` lines.

    Raises :class:`NotPlainError` if splitting is not sufficient, and ``UnicodeDecodeError`` for bytes that are not
    UTF-8.

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
    """Move the incomplete line at the end of a block to the next block; add a missing line end to the last line."""
    left = b""
    for block in blocks:
        if len(left) > LARGEST_RECORD:
            raise NotPlainError
        end = block.rfind(b"\n") + 1
        if not end and b"\r" in block[:-1]:  # a CR at the end may be half of a CRLF
            raise NotPlainError  # lines end with CR: no LF to wait for
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
    """Pass on blocks in which all line ends are LF or CRLF; elsewhere, a single CR may end a line as well."""
    for lines in blocks:
        if b"\r" in lines and lines.count(b"\r\n") != lines.count(b"\r"):
            raise NotPlainError
        yield lines
