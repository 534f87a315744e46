"""Dialect of a text file: encoding and separator, detected from its beginning."""

import codecs
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.errors import ReadError
from shoal.remedy import Option

SAMPLE = 1 << 16
LARGEST_SAMPLE = 1 << 26
SEPARATORS = (",", ";", "\t", "|")
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_UNDEFINED_IN_CP1252 = set(b"\x81\x8d\x8f\x90\x9d")
_SPREADSHEET_HINT = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)


class Quoted(str):
    """Text that was quoted, and is therefore certainly text."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Dialect:
    """Dialect of a text file.

    ``encodings``: the encoding, and alternatives in case it turns out to be wrong. ``first_row``: the fields of the
    first row. ``skip``: number of lines before it. ``single_row``: whether the file ends with this row, without a line
    end. ``ends_well``: whether the file is not compressed and its last line has a line end.
    """

    encodings: tuple[str, ...]
    separator: str
    first_row: tuple[str, ...]
    skip: int
    single_row: bool
    bytes_per_row: float
    ends_well: bool


def _check_separator(path: Path, separator: str, rows: list[tuple[str, ...]]) -> None:
    """Refuse a separator that the first rows do not contain, if each of them contains another one equally often."""
    first = [row[0] for row in rows if row]
    usual = max(SEPARATORS, key=first[0].count)
    if first[0].count(usual) and len({row.count(usual) for row in first}) == 1:
        raise ReadError(
            "wrong-separator",
            "The first row of '{file}' contains no {separator}, but contains {usual}.",
            remedy=Option("separator", usual if usual != "\t" else "tab"),
            file=path.name,
            separator=_named(separator),
            usual=_named(usual),
        )


def _named(separator: str) -> str:
    """Return a separator for a message."""
    return "tab" if separator == "\t" else f"'{separator}'"


def detect(path: Path, *, encoding: str | None, separator: str | None, skip: int) -> Dialect:
    """Detect the dialect of a file from its beginning."""
    size = SAMPLE
    while True:
        sample, whole = _beginning(path, size)
        encodings = (encoding,) if encoding else detect_encodings(sample)
        text = decode(sample, encodings[0], whole=whole)
        start, lines, note = _start_of_rows(text, skip)
        chosen = separator or note or detect_separator(text[start:], whole=whole)
        rows = split(text[start:], chosen, whole=whole, most=2)
        if rows or whole or size >= LARGEST_SAMPLE:
            break
        size *= 8  # no complete row: the table must be very wide
    if not rows:
        raise ReadError(
            "empty-file", "The file '{file}' is empty, or has no row after the skipped lines.", file=path.name
        )
    if separator and len(rows[0]) == 1:
        _check_separator(path, separator, rows)
    if any("\0" in name for name in rows[0]):
        raise ReadError(
            "zero-bytes",
            "'{file}' contains NUL bytes: it is not a text file, or its encoding cannot be detected.",
            remedy=Option("encoding", "utf-32"),
            file=path.name,
        )
    single = whole and len(rows) == 1 and not text.endswith(("\n", "\r"))
    line_ends = max(text.count("\n"), text.count("\r"), 1)
    return Dialect(encodings, chosen, rows[0], lines, single, len(sample) / line_ends, _ends_well(path))


def _ends_well(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, 2)
        return not is_compressed(path) and file.read() in {b"\n", b"\r"}


class Utf8File(io.RawIOBase):
    """Text of a file in UTF-8, with a line end after the last line in any case."""

    def __init__(self, path: Path, encoding: str) -> None:
        super().__init__()
        self._blocks = chain(utf8_blocks(path, encoding), [b"\n"])
        self._left = b""

    def readable(self) -> bool:
        """Return True: the file can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer with the next text, and return the number of bytes."""
        while not self._left:
            block = next(self._blocks, None)
            if block is None:
                return 0
            self._left = block
        count = min(len(buffer), len(self._left))
        buffer[:count], self._left = self._left[:count], self._left[count:]
        return count


def _beginning(path: Path, size: int) -> tuple[bytes, bool]:
    for block in utf8_blocks(path, "utf-8", size=size, transcode=False):
        return block, len(block) < size
    return b"", True


def is_compressed(path: Path) -> bool:
    """Return whether the suffix of a file is that of gzip, in any case."""
    return path.suffix.lower() == ".gz"


def utf8_blocks(path: Path, encoding: str, *, size: int = 1 << 20, transcode: bool = True) -> Iterator[bytes]:
    """Yield the text of a file, which may be compressed, in blocks; in UTF-8 unless ``transcode`` is False."""
    decoder = codecs.getincrementaldecoder(encoding)() if transcode and encoding != "utf-8" else None
    failed = False
    try:
        with pa.input_stream(str(path), compression="gzip" if is_compressed(path) else None) as stream:
            while block := stream.read(size):
                yield block if decoder is None else decoder.decode(block).encode()
    except OSError:
        failed = True
    if failed:
        raise ReadError(
            "damaged",
            "'{file}' cannot be read: it is damaged, or not compressed as its suffix says.",
            file=path.name,
        )


def _start_of_rows(text: str, skip: int) -> tuple[int, int, str | None]:
    """Return the start of the first row, the number of lines before it, and the separator of a ``sep=`` line."""
    at, lines, note = 0, 0, None
    while lines < skip and (end := re.compile(r"\r\n|\n|\r").search(text, at)):
        at, lines = end.end(), lines + 1
    if lines < skip:
        return len(text), lines, None
    if hint := _SPREADSHEET_HINT.match(text, at):  # spreadsheets understand a first line "sep=;"
        at, lines, note = hint.end(), lines + 1, hint[1]
    while blank := re.compile(r"\r\n|\n|\r").match(text, at):
        at, lines = blank.end(), lines + 1
    return at, lines, note


def detect_encodings(sample: bytes) -> tuple[str, ...]:
    """Return the likely encodings of a text, the best first.

    They are detected from the byte order mark, from zero bytes, or by decoding.

    >>> detect_encodings("Müller".encode()), detect_encodings("Müller".encode("latin-1"))
    (('utf-8',), ('cp1252', 'latin-1'))
    """
    for mark, encoding in _MARKS:
        if sample.startswith(mark):
            return (encoding,)
    zeros = sample[:1000].count(0)
    if zeros > len(sample[:1000]) // 4:
        return ("utf-16-le",) if sample[1:2] == b"\0" else ("utf-16-be",)
    if sample.isascii():
        return "utf-8", "cp1252", "latin-1"
    # Valid multi-byte characters do not arise by chance; invalid bytes among them are damage.
    lenient = codecs.getincrementaldecoder("utf-8")("replace").decode(sample)
    strange = lenient.count("\ufffd")
    if strange < sum(not character.isascii() for character in lenient) - strange or strange == 0:
        return ("utf-8",)
    return ("latin-1",) if set(sample) & _UNDEFINED_IN_CP1252 else ("cp1252", "latin-1")


def decode(sample: bytes, encoding: str, *, whole: bool) -> str:
    """Decode a sample, whose last character may be truncated."""
    place: int | None = None
    try:
        known = codecs.lookup(encoding)
        text = known.incrementaldecoder().decode(sample, final=whole)
        if isinstance(text, str):
            return text.removeprefix("\ufeff")
    except UnicodeError as error:
        place = getattr(error, "start", 0)
    except (LookupError, TypeError, ValueError):  # an unknown encoding, or not a text encoding
        pass
    if place is not None:
        raise wrong_encoding(encoding, place)
    raise ReadError(
        "unknown-encoding",
        "There is no text encoding '{encoding}'.",
        remedy="Try utf-8, cp1252 or latin-1.",
        encoding=encoding,
    )


def wrong_encoding(encoding: str, place: int | None = None) -> ReadError:
    """Return the error for bytes that are invalid in the encoding."""
    where = "" if place is None else f" at byte {place + 1:,}"
    return ReadError(
        "wrong-encoding",
        "The file is not encoded in {encoding}: it contains invalid bytes{where}.",
        remedy=Option("encoding", "cp1252"),
        encoding=encoding,
        where=where,
    )


def detect_separator(text: str, *, whole: bool) -> str:
    r"""Return the separator that splits the rows into the most fields, and into equally many in at least 90 % of them.

    >>> detect_separator("age;weight\n34;71,5\n", whole=True)
    ';'
    """
    best, fields = SEPARATORS[0], 1
    for candidate in SEPARATORS:
        widths = [len(row) for row in split(text, candidate, whole=whole, most=100)]
        if widths and widths[0] > fields and widths.count(widths[0]) >= 0.9 * len(widths):
            best, fields = candidate, widths[0]
    return best


def split(text: str, separator: str, *, whole: bool, most: int) -> list[tuple[str, ...]]:
    r"""Split text into at most ``most`` rows of fields; an incomplete last row of a sample is omitted.

    >>> split("a,'b'\n1,\n", ",", whole=True, most=9)
    [('a', "'b'"), ('1', '')]
    """
    mark = re.escape(separator)
    field = re.compile(rf'(?:"((?:[^"]|"")*)"|([^{mark}\r\n]*))({mark}|\r\n|\n|\r|$)')
    rows: list[tuple[str, ...]] = []
    row: list[str] = []
    at = 0
    while at < len(text) and len(rows) < most:
        match = field.match(text, at)
        if match is None:  # an unclosed quote, or text after a closing quote: the scan of quotes reports it
            return rows
        quoted, bare, end = match.groups()
        row.append(bare if quoted is None else Quoted(quoted.replace('""', '"')))
        at = match.end()
        if end == separator and at < len(text):
            continue
        if end == separator:
            row.append("")
        if (end or whole) and (len(row) > 1 or match.end() - match.start() > len(end)):  # skip empty lines
            rows.append(tuple(row))
        row = []
    return rows
