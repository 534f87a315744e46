"""Arguments and working memory of the C core for a lattice."""

import ctypes
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.lattice import ROW, Lattice, Rows
from shoal.kernels.library import address

FEWEST_SLOTS = 1 << 17
CHUNK = 1 << 10
MOST_KEPT = 1 << 20  # tables
KEPT_ROWS, MOST_KEPT_ROWS = 1 << 21, 1 << 25


class _Lattice(ctypes.Structure):
    _fields_ = (
        ("columns", ctypes.c_int32),
        ("below", ctypes.c_int32),
        *((name, ctypes.c_void_p) for name in ("shifts", "bits", "levels", "nodes", "steps", "steps_at", "tops_at")),
        ("most", ctypes.c_int64),
    )


class _Room(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("rows", "runs", "slots", "maps", "digits", "classes", "firsts")),
        ("slot_count", ctypes.c_int64),
        ("count", ctypes.c_int64),
    )


class _Memo(ctypes.Structure):
    _fields_ = (
        ("rows", ctypes.c_void_p),
        ("room", ctypes.c_int64),
        ("used", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name in ("starts", "counts", "firsts")),
    )


class TallyRoom(ctypes.Structure):
    """Arguments and output buffers for counts by band of class size, as in lattice_tally.c."""

    _fields_ = (
        ("bands", ctypes.c_int32),
        ("limit", ctypes.c_uint64),
        ("sizes", ctypes.c_int64),
        ("width", ctypes.c_int64),
        *(
            (name, ctypes.c_void_p)
            for name in ("band", "offsets", "totals", "totals_at", "counts", "figures", "marginals")
        ),
    )


class ListingRoom(ctypes.Structure):
    """Arguments and output buffers for listed classes, with their capacities, as in lattice_list.c."""

    _fields_ = (
        ("least", ctypes.c_uint32),
        ("values", ctypes.c_int32),
        *((name, ctypes.c_int64) for name in ("classes_room", "entries_room", "classes", "entries")),
        *(
            (name, ctypes.c_void_p)
            for name in ("keys", "sizes", "records", "schemes", "starts", "codes", "counts", "seen", "tally")
        ),
    )


def laid(parts: Sequence[Sequence[NDArray[Any]]], most: int) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Concatenate arrays, at most ``most`` per part; also return the start of each, by part and number."""
    at, done = np.zeros((len(parts), most), np.int64), 0
    for part, arrays in enumerate(parts):
        for number, array in enumerate(arrays):
            at[part, number] = done
            done += len(array)
    laid = [array for arrays in parts for array in arrays]
    return np.concatenate([np.zeros(0, np.uint32), *laid]).astype(np.uint32, copy=False), at


class Workspace:
    """Arguments and working memory of the C core for a lattice; must outlive the calls."""

    def __init__(self, lattice: Lattice, rows: Rows, *, keeping: bool) -> None:
        columns, most, count = len(lattice.shape), max(lattice.shape), len(rows)
        self._rows = rows
        tops = [_tops(steps, lattice.sizes[-1][level]) for level, steps in _tails(lattice.steps[-1])]
        steps, at = laid([*lattice.steps, *tops], most)
        tops_at = at[columns:].copy()
        for level in range(len(tops)):  # shifted, so that the index is the absolute level
            tops_at[level] = np.roll(tops_at[level], level)
        nodes = np.zeros((columns, most), np.int64)
        for column, sizes in enumerate(lattice.sizes):
            nodes[column, : len(sizes)] = sizes
        fields = (lattice.shifts, lattice.bits, lattice.shape)
        self._arrays: list[NDArray[Any]] = [
            *(np.array(numbers, np.int32) for numbers in fields),
            *(nodes, steps, np.ascontiguousarray(at[:columns]), tops_at),
        ]
        slots = max(4 * count, FEWEST_SLOTS)
        room = lattice.shape[-1] * (count + 1)
        self._room: list[NDArray[Any]] = [
            np.empty((columns + 1) * count, ROW),
            np.empty(count + 1, np.uint32),
            np.empty(slots, np.uint32),
            np.empty(2 * lattice.width, np.uint32),
            np.empty(2 * lattice.width + CHUNK * columns, np.uint32),
            np.empty(room, ROW),
            np.empty(room + 1, np.uint32),
        ]
        self._lattice = _Lattice(columns, lattice.bits[-1], *(address(array) for array in self._arrays), most)
        self._space = _Room(*(address(array) for array in self._room), slots, count)
        self._memo = self._kept(lattice, rows) if keeping else None

    def _kept(self, lattice: Lattice, rows: Rows) -> _Memo | None:
        """Allocate the cache of intermediate tables; its first table contains all rows."""
        prefixes = np.cumprod([1, *lattice.shape[:-1]], dtype=np.float64)
        if prefixes.sum() > MOST_KEPT:
            return None
        firsts = np.concatenate([[0], np.cumsum(prefixes)]).astype(np.int64)
        room = min(max(KEPT_ROWS, 8 * len(rows)), MOST_KEPT_ROWS)
        if room < len(rows):
            return None
        starts, counts = np.zeros(int(firsts[-1]), np.int64), np.full(int(firsts[-1]), -1, np.int64)
        kept = np.empty(room, ROW)
        kept[: len(rows)] = rows
        counts[0] = len(rows)
        self._room += [kept, starts, counts, firsts]
        tables = (address(starts), address(counts), address(firsts))
        return _Memo(address(kept), room, len(rows), *tables)

    @property
    def lattice(self) -> Any:
        """Reference to the C structure of the lattice."""
        return ctypes.byref(self._lattice)

    def given(self) -> tuple[Any, int, Any, Any]:
        """Return the first arguments of both walks."""
        memo = None if self._memo is None else ctypes.byref(self._memo)
        return self.lattice, address(self._rows), ctypes.byref(self._space), memo


def _tails(steps: Sequence[NDArray[np.uint32]]) -> Iterator[tuple[int, Sequence[NDArray[np.uint32]]]]:
    return ((level, steps[level:]) for level in range(len(steps) + 1))


def _tops(steps: Sequence[NDArray[np.uint32]], size: int) -> list[NDArray[np.uint32]]:
    """Return, for this level and each level above, the ancestor of each node of this level."""
    tops = [np.arange(size, dtype=np.uint32)]
    for step in steps:
        tops.append(step[tops[-1]])
    return tops
