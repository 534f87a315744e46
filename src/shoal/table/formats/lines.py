"""Lines of text assembled from pieces: each dictionary entry is rendered once, whatever its number of cells."""

from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.progress import Hook, Progress
from shoal.table.column import Column
from shoal.table.table import Table

ROWS = 1 << 14


def text_refusal(column: Column) -> str | None:
    """Return the reason why a column would be read back from text differently, or None."""
    values, arrow = column.values, column.values.type
    if pa.types.is_timestamp(arrow) and arrow.tz not in {None, "UTC"}:
        return "text does not hold its time zone; convert it to UTC"
    if has_odd_years(values):
        return "it holds dates before the year 1 or after 9999, which cannot be written"
    if pa.types.is_time64(arrow):
        return "it holds times finer than a microsecond, which come back as text" if is_too_fine(values) else None
    return _number_refusal(column)


def _number_refusal(column: Column) -> str | None:
    values, arrow = column.values, column.values.type
    if pa.types.is_floating(arrow) and pc.any(pc.is_inf(values)).as_py():
        return "it holds infinite numbers"
    if pa.types.is_decimal(arrow) and arrow.precision > 15:
        return "it holds decimals of more than 15 digits, which come back rounded; convert it to text"
    if pa.types.is_uint64(arrow) and len(values) and values[-1].as_py() >= 2**63:
        return "it holds integers beyond 63 bits, which come back as text; convert it to text"
    return None


def has_odd_years(values: pa.Array) -> bool:
    """Return whether dates, in ascending order, lie outside the years 1 to 9999 that most software supports."""
    if not (pa.types.is_date(values.type) or pa.types.is_timestamp(values.type)) or len(values) == 0:
        return False
    plain = values.cast(pa.timestamp(values.type.unit)) if pa.types.is_timestamp(values.type) else values
    first, last = pc.year(plain[:1])[0].as_py(), pc.year(plain[-1:])[0].as_py()
    return not 1 <= first <= last <= 9999


def is_too_fine(values: pa.Array) -> bool:
    """Return whether any time is finer than a microsecond."""
    return values.type.unit == "ns" and bool((values.cast(pa.int64()).to_numpy() % 1000).any())


def write_lines(file: BinaryIO, table: Table, pieces: list[pa.Array], separator: str, progress: Hook) -> None:
    """Write one line per record; ``pieces[j][code]`` is the text of a code of column j."""
    done = 0
    for chunk in table.engine.chunks(table.names, ROWS):
        cells = [piece.take(pa.array(codes)) for piece, codes in zip(pieces, chunk, strict=True)]
        joined = pc.binary_join_element_wise(*cells, separator)
        _, offsets, text = joined.buffers()
        file.write(memoryview(text)[: int(np.frombuffer(offsets, np.int32)[len(joined)])])
        done += len(joined)
        progress(Progress("writing", done, table.records))
