"""Raw columns: codes in the order of the source, before their entries are interpreted and ranked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.kernels.translation import Codes, narrowest, translate
from shoal.table.column import Column, as_text
from shoal.table.kind import Kind
from shoal.table.ranking import Ranked, as_declared, rank


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """A column and the codes of its cells."""

    column: Column
    codes: Codes


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """Interpreted entries of a raw dictionary: the value of each entry, null where the entry means missing.

    ``ranked``: the non-null values, ranked, if already available.
    """

    kind: Kind
    values: pa.Array
    suppressed: NDArray[np.bool_]
    ranked: Ranked | None = None

    @classmethod
    def read(
        cls, kind: Kind, values: pa.Array, suppressed: str | None = None, missing: Sequence[str] = ()
    ) -> "Entries":
        """Keep entries as they are, except for the text that means suppressed and the texts that mean missing."""
        if pa.types.is_floating(values.type):
            values = pc.if_else(pc.is_nan(values), pa.scalar(None, values.type), values)
        marked = np.zeros(len(values), bool)
        text = pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
        if text and suppressed is not None:
            marked = pc.equal(values, suppressed).fill_null(False).to_numpy(zero_copy_only=False)
        if missing:
            empty = pc.is_in(as_text(values) if not text else values.cast(pa.string()), pa.array(missing, pa.string()))
            values = pc.if_else(empty, pa.scalar(None, values.type), values)
        return cls(kind, values, marked)


class RawColumn:
    """Raw codes of a column, in parts that are released as they are translated."""

    def __init__(self, parts: list[Codes], used: NDArray[np.bool_]) -> None:
        self._parts = parts
        self._used = used

    def copy(self) -> "RawColumn":
        """Return a copy, for a column that may be encoded in two ways."""
        return RawColumn(list(self._parts), self._used)

    def encoded(self, name: str, entries: Entries) -> Encoded:
        """Rank the entries in use, and translate the raw codes. Can be called only once."""
        column, parts = self.encoded_in_parts(name, entries)
        codes, at = np.empty(len(self), narrowest(column.size)), 0
        for part in parts:
            codes[at : at + len(part)] = part
            at += len(part)
        return Encoded(column, codes)

    def encoded_in_parts(self, name: str, entries: Entries) -> tuple[Column, Iterator[Codes]]:
        """Rank the entries in use, and translate the raw codes part by part. Can be called only once."""
        used = self._used[1:]
        valid = entries.values.is_valid().to_numpy(zero_copy_only=False)
        shown = used & valid & ~entries.suppressed
        missing = bool(self._used[0] or (used & ~valid & ~entries.suppressed).any())
        suppressed = bool((used & entries.suppressed).any())
        ranked = _ranked(entries, shown)
        column = Column(name, entries.kind, ranked.values, missing=missing, suppressed=suppressed)
        table = np.full(len(self._used), column.missing_code or 0, np.uint32)
        table[1:][shown] = ranked.ids
        table[1:][entries.suppressed] = column.suppressed_code or 0
        return column, self._translated(table, column.size)

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def _translated(self, table: NDArray[np.uint32], size: int) -> Iterator[Codes]:
        for part in _emptying(self._parts):
            codes = np.empty(len(part), narrowest(size))
            translate(part, table, codes)
            yield codes


def _emptying(parts: list[Codes]) -> Iterator[Codes]:
    parts.reverse()
    while parts:
        yield parts.pop()


def _ranked(entries: Entries, shown: NDArray[np.bool_]) -> Ranked:
    if entries.ranked is not None and len(entries.ranked.ids) == np.count_nonzero(shown):
        return entries.ranked
    values = entries.values if shown.all() else entries.values.filter(pa.array(shown))
    return as_declared(values) if entries.kind is Kind.CATEGORY else rank(values)
