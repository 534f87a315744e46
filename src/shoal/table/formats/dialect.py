"""The dialect of a text file: encoding, separator and quoting, found out from its beginning."""

import codecs
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa

from shoal.errors import ReadError

SAMPLE = 1 << 16
SEPARATORS = (",", ";", "\t", "|")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_UNDEFINED_IN_CP1252 = set(b"\x81\x8d\x8f\x90\x9d")

Field: TypeAlias = tuple[str, bool]  # the text, and whether it was quoted


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a text file is written, and its first rows."""

    encoding: str
    separator: str
    rows: tuple[tuple[Field, ...], ...]
    bytes_per_row: float

    def quoted_columns(self) -> set[int]:
        """Return the columns that were quoted on purpose, which says that they are text.

        Some programs quote text and leave numbers bare; others quote everything, which says nothing.
        """
        if all(quoted or not text for row in self.rows for text, quoted in row):
            return set()
        width = len(self.rows[0]) if self.rows else 0
        return {place for place in range(width) if self._is_quoted(place)}

    def _is_quoted(self, place: int) -> bool:
        """Tell whether all cells of a column are quoted, and not only because they had to be."""
        cells = [row[place] for row in self.rows[1:] if place < len(row) and any(row[place])]
        optional = [text for text, _ in cells if not set(text) & {self.separator, '"', "\r", "\n"}]
        return bool(optional) and all(quoted for _, quoted in cells)


def detect(path: Path, encoding: str | None, separator: str | None) -> Dialect:
    """Look at the beginning of a file and find out how it is written."""
    with pa.input_stream(str(path), compression="detect") as stream:
        sample = stream.read(SAMPLE)
    whole = len(sample) < SAMPLE
    encoding = encoding or detect_encoding(sample)
    text = decode(sample, encoding, whole=whole)
    separator = separator or detect_separator(text, whole=whole)
    if len(separator) != 1:
        raise ReadError("The separator must be one character.", hint="For a tab, give the character itself: '\\t'.")
    rows = split(text, separator, whole=whole)
    size = len(sample) / max(len(rows), 1)
    return Dialect(encoding, separator, tuple(rows), size)


def detect_encoding(sample: bytes) -> str:
    """Return the encoding of a text: by its mark, by its zero bytes, or by what can be decoded.

    >>> detect_encoding("Müller".encode()), detect_encoding("Müller".encode("latin-1"))
    ('utf-8', 'latin-1')
    """
    for mark, encoding in _MARKS:
        if sample.startswith(mark):
            return encoding
    zeros = sample[:1000].count(0)
    if zeros > len(sample[:1000]) // 4:
        return "utf-16-le" if sample[1:2] == b"\0" else "utf-16-be"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return detect_single_byte(sample)
    return "utf-8"


def detect_single_byte(sample: bytes) -> str:
    """Tell Windows' CP1252 from Latin-1: only the former has characters between 0x80 and 0x9f."""
    used = {byte for byte in sample if 0x80 <= byte <= 0x9F}
    return "cp1252" if used and not used & _UNDEFINED_IN_CP1252 else "latin-1"


def decode(sample: bytes, encoding: str, *, whole: bool) -> str:
    """Decode a sample, whose last character may be cut."""
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(sample, final=whole)
    except LookupError:
        raise ReadError(f"There is no encoding called '{encoding}'.", hint="Try utf-8, cp1252 or latin-1.") from None
    except UnicodeDecodeError as error:
        raise wrong_encoding(encoding, error.start) from None
    return text.removeprefix("\ufeff")


def wrong_encoding(encoding: str, place: int | None = None) -> ReadError:
    """Build the error for bytes that are none of the encoding's characters."""
    where = "" if place is None else f" at byte {place + 1:,}"
    return ReadError(
        f"The file is not in the encoding {encoding}: it holds bytes that are no characters there{where}.",
        hint="Give the right encoding, for example encoding='cp1252' (--encoding cp1252).",
    )


def detect_separator(text: str, *, whole: bool) -> str:
    r"""Return the separator that cuts the rows into the most, and equally many, fields.

    >>> detect_separator("age;weight\n34;71,5\n", whole=True)
    ';'
    """
    best, fields = SEPARATORS[0], 1
    for candidate in SEPARATORS:
        widths = [len(row) for row in split(text[: SAMPLE >> 2], candidate, whole=whole and len(text) <= SAMPLE >> 2)]
        if widths and widths[0] > fields and widths.count(widths[0]) >= 0.9 * len(widths):
            best, fields = candidate, widths[0]
    return best


def split(text: str, separator: str, *, whole: bool) -> list[tuple[Field, ...]]:
    r"""Cut text into rows of fields; the last row of a sample may be incomplete and is left out.

    >>> split("a,'b'\n1,\n", ",", whole=True)
    [(('a', False), ("'b'", False)), (('1', False), ('', False))]
    """
    field = re.compile(rf'(?:"((?:[^"]|"")*)"|([^{re.escape(separator)}\r\n]*))({re.escape(separator)}|\r\n|\n|\r|$)')
    rows: list[tuple[Field, ...]] = []
    row: list[Field] = []
    at = 0
    while at < len(text):
        match = field.match(text, at)
        if match is None:  # a quote that is never closed, or text behind a closing quote: the parser will tell
            break
        quoted, bare, end = match.groups()
        row.append((bare, False) if quoted is None else (quoted.replace('""', '"'), True))
        at = match.end()
        if end != separator:
            if len(row) > 1 or any(row[0]):  # an empty line holds no record
                rows.append(tuple(row))
            row = []
        elif at == len(text):
            row.append(("", False))
    if row:
        rows.append(tuple(row))
    return rows if whole or not rows else rows[:-1]
