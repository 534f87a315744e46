"""Inference: the kind of a text column, determined from its distinct values.

A column is converted only if no information is lost: every value must match the notation of the kind, and no two
different texts may become the same value. For example, ``01234`` remains a postcode, ``1e5`` among words remains a
word, ``250.0`` and ``250.00`` remain two codes, and integers beyond 64 bits remain text with all their digits.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from math import isinf

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.kernels.decimals import decimals
from shoal.table.kind import Kind
from shoal.table.ranking import Ranked, rank
from shoal.table.raw import Entries

# Usual markers of missing values in columns of numbers or dates. In columns of text they remain text.
MARKERS = ("", "NA", "N/A", "n/a", "na", "#N/A", "NaN", "nan", "NULL", "null", "None", ".", "?", "-")

BLOCK = 1 << 16  # texts processed together, so that intermediate results stay in the cache
_SAMPLE = 64
_NUMBER = r"^-?((0|[1-9]\d*)(\.\d+)?|\.\d+)([eE][+-]?\d{1,3})?$"
_DAY = r"(?:000[1-9]|00[1-9]\d|0[1-9]\d\d|[1-9]\d{3})-\d{2}-\d{2}"
_CLOCK = r"\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?"

_NEGATIVE_ZERO = r"^-(0*\.?0*)$"


@dataclass(frozen=True, slots=True)
class Reader:
    """Notation of one kind, and its conversion from text.

    ``convert`` returns None if text matches ``pattern`` but is not a valid value. ``checks``: ``convert`` validates any
    text itself, so that ``pattern`` is tested on a sample only.
    """

    kind: Kind
    pattern: str
    convert: Callable[[pa.Array], pa.Array | None]
    checks: bool = False

    def could_read(self, sample: pa.Array) -> bool:
        """Return whether all texts of a sample match the pattern."""
        return _all_match(sample, self.pattern)

    def read(self, text: pa.Array) -> pa.Array | None:
        """Convert texts, or return None if any of them is not of this kind."""
        return self.convert(text) if self.checks or _all_match(text, self.pattern) else None


def _cast(target: pa.DataType) -> Callable[[pa.Array], pa.Array | None]:
    def read(text: pa.Array) -> pa.Array | None:
        try:
            return text.cast(target)
        except pa.ArrowInvalid:  # such as 2024-02-30, or an integer beyond 64 bits
            return None

    return read


def _read_number(text: pa.Array) -> pa.Array | None:
    """Convert decimal numbers, or return None if digits would be lost.

    Also return None if there are exponents but no decimal point, because such texts may be codes.
    """
    has_point = any(pc.any(pc.match_substring(part, ".")).as_py() for part in (text[:_SAMPLE], text))
    if not has_point and pc.any(pc.match_substring_regex(text, "[eE]")).as_py():
        return None
    numbers = []
    for start in range(0, len(text), BLOCK):
        block = _read_number_block(text[start : start + BLOCK])
        if block is None:
            return None
        numbers.append(block)
    return pa.concat_arrays(numbers)


def _read_number_block(text: pa.Array) -> pa.Array | None:
    """Convert a block of texts, or return None if any text is not a faithful notation of its double.

    A notation is faithful if it is the shortest form of the double, or the double rounded to the number of digits of
    the text. Fewer than sixteen digits are always preserved.
    """
    read = decimals(text)
    if read is None and not _all_match(text, _NUMBER):
        return None
    numbers = pa.array(read.doubles) if read else text.cast(pa.float64())
    doubtful = pa.array(~read.faithful) if read else _may_lose_digits(text, numbers)
    pairs = zip(text.filter(doubtful).to_pylist(), numbers.filter(doubtful).to_pylist(), strict=True)
    return numbers if all(_is_written(number, written) for written, number in pairs) else None


def _may_lose_digits(text: pa.Array, numbers: pa.Array) -> pa.Array:
    """Return a mask of the numbers that may lose digits.

    Up to fifteen digits are always preserved, as are integers below 2⁵³.
    """
    sizes, tiny = pc.abs(numbers), float(np.finfo(np.float64).tiny)
    odd = pc.or_(pc.greater_equal(sizes, 2.0**53), pc.less(sizes, tiny))
    return pc.or_(odd, pc.greater(pc.binary_length(text), 16))


def _is_written(number: float, text: str) -> bool:
    if isinf(number):
        return False
    exact = Decimal(text)
    if number == 0 or exact == Decimal(repr(number)):
        return exact == Decimal(repr(number))
    return "." in text and exact == Decimal(f"{number:.{len(exact.as_tuple().digits) - 1}e}")


def _read_datetime(text: pa.Array) -> pa.Array | None:
    zoned = pc.ends_with(text, "Z")
    if pc.any(zoned).as_py() and not pc.all(zoned).as_py():
        return None
    fine = pc.any(pc.match_substring_regex(text, r"\.\d{7,}")).as_py()
    zone = "UTC" if pc.any(zoned).as_py() else None
    return _cast(pa.timestamp("ns" if fine else "us", zone))(text)


def _read_time(text: pa.Array) -> pa.Array | None:
    day, between = pa.scalar("1970-01-01", text.type), pa.scalar("T", text.type)
    moments = _cast(pa.timestamp("us"))(pc.binary_join_element_wise(day, text, between))
    return None if moments is None else moments.cast(pa.time64("us"))


DATE_READERS = (
    Reader(Kind.DATE, rf"^{_DAY}$", _cast(pa.date32())),
    Reader(Kind.DATETIME, rf"^{_DAY}[T ]{_CLOCK}Z?$", _read_datetime),
    Reader(Kind.TIME, r"^\d{2}:\d{2}:\d{2}(\.\d{1,6})?$", _read_time),
)
ALL_READERS = (
    Reader(Kind.BOOLEAN, r"^(true|false)$", _cast(pa.bool_())),
    Reader(Kind.INTEGER, r"^(0|-?[1-9]\d{0,18})$", _cast(pa.int64())),
    Reader(Kind.NUMBER, _NUMBER, _read_number, checks=True),
    *DATE_READERS,
)


def infer(
    entries: Entries,
    *,
    readers: tuple[Reader, ...] = ALL_READERS,
    decimal: str = ".",
    marked: NDArray[np.bool_] | None = None,
) -> Entries:
    """Return the entries of a text column converted to their kind, or unchanged if they are text.

    ``marked``: mask of the entries that mean missing among numbers, if already known.

    >>> import pyarrow as pa
    >>> def kind(*values):
    ...     return str(infer(Entries.read(Kind.TEXT, pa.array(values, pa.large_string()))).kind)
    >>> kind("7", "12"), kind("7", "NA"), kind("01234", "7"), kind("2024-02-28"), kind("2024-02-30")
    ('integer', 'integer', 'text', 'date', 'text')
    """
    text = entries.values
    known = (
        ~(is_marker(text) if marked is None else marked)
        & ~entries.suppressed
        & text.is_valid().to_numpy(zero_copy_only=False)
    )
    candidates = text if known.all() else text.filter(pa.array(known))
    read = _first_reading(_with_point(candidates, decimal), readers)
    if read is None:
        return entries
    kind, values, ranked = read
    if known.all():
        return Entries(kind, values, entries.suppressed, ranked)
    places = np.full(len(text), len(values))
    places[known] = np.arange(len(values))
    with_missing = pa.concat_arrays([values, pa.nulls(1, values.type)])
    return Entries(kind, with_missing.take(pa.array(places)), entries.suppressed, ranked)


def is_marker(text: pa.Array) -> NDArray[np.bool_]:
    """Return a mask of the texts that mean missing among numbers. Long texts are not looked up."""
    marked = np.zeros(len(text), bool)
    short = np.flatnonzero(pc.less_equal(pc.binary_length(text), max(map(len, MARKERS))).fill_null(False))
    marked[short] = pc.is_in(text.take(pa.array(short)), pa.array(MARKERS, text.type)).to_numpy(zero_copy_only=False)
    return marked


def _with_point(text: pa.Array, decimal: str) -> pa.Array:
    if decimal == ".":
        return text
    # With decimal commas, a point separates thousands or is not part of a number: make it unreadable.
    return pc.replace_substring(pc.replace_substring(text, ".", "·"), decimal, ".")


def _first_reading(text: pa.Array, readers: tuple[Reader, ...]) -> tuple[Kind, pa.Array, Ranked] | None:
    if len(text) == 0:
        return None
    for reader in readers:
        values = reader.read(text) if reader.could_read(text[:_SAMPLE]) else None
        if values is None:
            continue
        ranked = rank(values)
        if len(ranked.values) < len(values) and pa.types.is_floating(values.type):
            text = pc.replace_substring_regex(text, _NEGATIVE_ZERO, r"\1")  # rounding makes -0.0 of small numbers
            values = pc.add(values, 0.0)
            ranked = rank(values)
        if len(ranked.values) == len(values) or len(ranked.values) == pc.count_distinct(text).as_py():
            return reader.kind, values, ranked  # no two different texts became the same value
    return None


def _all_match(text: pa.Array, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(text, pattern)).as_py())
