"""Shifted dates: all dates of a person are shifted by the same number of days, derived from a key."""

import hmac
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.engines.derived import DerivedEngine
from shoal.engines.memory import MemoryEngine
from shoal.errors import PolicyError
from shoal.kernels.translation import Codes, narrowest
from shoal.remedy import Setting
from shoal.table.column import Column
from shoal.table.kind import Kind
from shoal.table.table import Table

_CHUNK = 1 << 20
_EPOCH = date(1970, 1, 1).toordinal()
_FIRST, _LAST = date.min.toordinal() - _EPOCH, date.max.toordinal() - _EPOCH  # days since 1970
_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}


def offset(key: bytes, person: str, days: int) -> int:
    """Return the shift of a person's dates in days: from −``days`` to ``days``, never 0.

    >>> offset(b"0123456789abcdef", "P1", 365) == offset(b"0123456789abcdef", "P1", 365)
    True
    >>> {offset(b"0123456789abcdef", f"P{number}", 1) for number in range(20)} == {-1, 1}
    True
    """
    drawn = int.from_bytes(hmac.digest(key, f"\x1fdates\x1f{person}".encode(), "sha256")) % (2 * days)
    return drawn - days if drawn < days else drawn - days + 1


def shifted(table: Table, columns: Sequence[str], key: bytes, days: int) -> Table:
    """Shift the dates of each person.

    >>> import shoal
    >>> from datetime import date
    >>> stays = {"id": [1, 1], "came": [date(2024, 1, 31), None], "left": [date(2024, 2, 2), None]}
    >>> moved = shifted(shoal.read(stays).assign(subject="id"), ["came", "left"], b"0123456789abcdef", 365).to_arrow()
    >>> came, left = moved.column("came").to_pylist()[0], moved.column("left").to_pylist()[0]
    >>> came == date(2024, 1, 31), (left - came).days, moved.column("came").to_pylist()[1]
    (False, 2, None)
    """
    subject = table.subject
    if subject is None:
        raise PolicyError(
            "no-subject", "Dates cannot be shifted, because no column is the subject.", remedy=Setting("data.subject")
        )
    persons = table[subject].labels().to_pylist()
    offsets = np.array([0 if person is None else offset(key, person, days) for person in persons], np.int64)
    filled = [name for name in columns if len(table[name].values)]  # columns without values need no shift
    moves = {name: _Move.of(table, name, subject, offsets) for name in filled}
    moved_columns = tuple(moves[column.name].column if column.name in moves else column for column in table.columns)
    sizes = {column.name: column.size for column in moved_columns}
    engine = DerivedEngine(table.engine, {name: ((name, subject), move) for name, move in moves.items()}, sizes)
    moved = replace(table, columns=moved_columns, engine=engine)
    return moved.in_memory() if isinstance(table.engine, MemoryEngine) else moved


@dataclass(frozen=True, slots=True, eq=False)
class _Move:
    """Shift of a date column: maps the codes of the column and of the subject to those of shifted dates.

    ``column``: the shifted column. ``numbers``: the original dates. ``steps``: the shift of each person.
    ``moved_days``: the shifted dates, ascending.
    """

    column: Column
    numbers: NDArray[np.int64]
    steps: NDArray[np.int64]
    moved_days: NDArray[np.int64]

    @classmethod
    def of(cls, table: Table, name: str, subject: str, offsets: NDArray[np.int64]) -> "_Move":
        before = table[name]
        if before.kind not in {Kind.DATE, Kind.DATETIME} or before.suppressed:
            raise PolicyError(
                "not-dates", "Column '{column}' cannot be shifted, because it does not contain dates only.", column=name
            )
        arrow = before.values.type
        numbers = _numbers(before.values)
        day = _DAY[arrow.unit] if pa.types.is_timestamp(arrow) else 1
        steps = offsets * day
        seen = [np.zeros(0, np.int64), *(np.unique(part) for part in _moved(table, name, subject, numbers, steps))]
        seen_days = np.unique(np.concatenate(seen))
        if _is_beyond(numbers, steps, day):
            raise PolicyError(
                "calendar-end",
                "Column '{column}' cannot be shifted, because it contains dates at the end of the calendar.",
                column=name,
            )
        values = (
            pa.array(seen_days).cast(pa.int32()).cast(arrow)
            if arrow == pa.date32()
            else pa.array(seen_days).cast(arrow)
        )
        return cls(replace(before, values=values), numbers, steps, seen_days)

    def __call__(self, codes: Codes, persons: Codes) -> Codes:
        there = codes < len(self.numbers)
        moved = self.numbers[np.where(there, codes, 0)] + self.steps[persons]
        places = np.where(there, np.searchsorted(self.moved_days, moved), len(self.moved_days))
        return places.astype(narrowest(max(self.column.size, 1)))


def _is_beyond(numbers: NDArray[np.int64], steps: NDArray[np.int64], day: int) -> bool:
    """Return whether a shifted date may be outside the years 1 to 9999, or exceed 64 bits. ``day``: units per day."""
    most = int(np.abs(steps).max(initial=0))
    limits = np.iinfo(np.int64)
    first, last = max(limits.min, _FIRST * day), min(limits.max, (_LAST + 1) * day - 1)
    return int(numbers[0]) - most < first or int(numbers[-1]) + most > last


def _numbers(values: pa.Array) -> NDArray[np.int64]:
    whole = values.cast(pa.int32()).cast(pa.int64()) if values.type == pa.date32() else values.cast(pa.int64())
    return np.asarray(whole)


def _moved(
    table: Table, name: str, subject: str, numbers: NDArray[np.int64], steps: NDArray[np.int64]
) -> Iterator[NDArray[np.int64]]:
    """Yield all shifted dates."""
    for codes, persons in table.engine.chunks([name, subject], _CHUNK):
        there = codes < len(numbers)
        yield numbers[codes[there]] + steps[persons[there]]
