"""All schemes of a lattice, by roll-up: the classes of a scheme are made of those of a scheme that is one level finer.

A scheme puts every column on a level of its hierarchy. Rows are keys of bit fields, one for each column, in ascending
order. Nodes are numbered such that they ascend where the nodes below them do. So a coarser last column keeps the order,
a coarser other one mixes only rows that agree in the columns before it, and one pass forms the classes on all levels
of the last column.
"""

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels import library
from shoal.kernels.packing import pack
from shoal.kernels.translation import Codes

MOST_BITS = 63
MOST_COLUMNS = MOST_LEVELS = 64
_ROW = np.dtype([("key", np.uint64), ("persons", np.uint32), ("records", np.uint32)])
FIGURES = ("classes", "persons", "records", "squares")

FEWEST_SLOTS = 1 << 17
_NO_LIMIT = (1 << 64) - 1
MOST_KEPT = 1 << 20  # tables
KEPT_ROWS, MOST_KEPT_ROWS = 1 << 21, 1 << 25

Rows = NDArray[np.void]
Totals: TypeAlias = tuple[tuple[NDArray[np.uint32], ...], ...]


@dataclass(frozen=True, eq=False)
class Lattice:
    """The schemes of some columns. ``steps[j][l][node]``: the node on level l + 1 of a node of column j on level l.

    ``sizes[j][l]``: how many nodes there are. ``values``: how many sensitive values there are, 0 if none is looked at.
    Schemes are numbered; those that differ in the last column are neighbours.
    """

    steps: tuple[tuple[NDArray[np.uint32], ...], ...]
    sizes: tuple[tuple[int, ...], ...]
    values: int = 0

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """How many levels each column has."""
        return tuple(len(sizes) for sizes in self.sizes)

    @property
    def schemes(self) -> int:
        """How many schemes there are."""
        return prod(self.shape)

    @cached_property
    def bits(self) -> tuple[int, ...]:
        """How many bits the field of each column takes and, at the end, that of the sensitive value, if any."""
        fields = [sizes[0] - 1 for sizes in self.sizes]
        return tuple(most.bit_length() for most in [*fields, max(self.values - 1, min(self.values, 1))])

    @cached_property
    def shifts(self) -> tuple[int, ...]:
        """Where the field of each column begins."""
        return tuple(sum(self.bits[column + 1 :]) for column in range(len(self.sizes)))

    @property
    def fits(self) -> bool:
        """Whether a row is one key, and the core has room for the columns and levels."""
        few = len(self.sizes) <= MOST_COLUMNS and max(self.shape) <= MOST_LEVELS
        return sum(self.bits) <= MOST_BITS and few

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Where the nodes of each column begin, if those of all stand side by side; at the end, their number."""
        return np.concatenate([[0], np.cumsum([sizes[0] for sizes in self.sizes])])

    @property
    def width(self) -> int:
        """How many nodes all columns have on their lowest level."""
        return int(self.offsets[-1])

    def levels(self, schemes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the level of each column in each of some schemes."""
        return np.stack(np.unravel_index(schemes, self.shape), axis=-1)

    def rows(
        self,
        columns: Sequence[Codes],
        persons: NDArray[np.int64],
        records: NDArray[np.int64],
        values: Codes | None = None,
        chosen: NDArray[np.bool_] | None = None,
    ) -> Rows:
        """Return the rows of a table whose columns hold nodes of the lowest level, sorted, equal ones put together.

        ``chosen``: which ones, if not all.
        """
        held = list(columns) if values is None else [*columns, values]
        keys = pack(held, [1 << bits for bits in self.bits[: len(held)]])
        order = np.argsort(keys)
        if chosen is not None and not chosen.all():
            order = order[chosen[order]]
        keys = keys[order]
        starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])[: len(keys)])
        rows = np.empty(len(starts), _ROW)
        rows["key"] = keys[starts]
        for name, counts in (("persons", persons), ("records", records)):
            rows[name] = np.add.reduceat(counts[order], starts) if len(starts) < len(keys) else counts[order]
        return rows

    def fields(self, keys: NDArray[np.uint64]) -> list[NDArray[np.uint64]]:
        """Return the node of each column in some keys."""
        return [
            (keys >> np.uint64(shift)) & np.uint64((1 << bits) - 1)
            for shift, bits in zip(self.shifts, self.bits, strict=False)
        ]

    def totals(self, rows: Rows) -> Totals:
        """Return how many records have each node of each column on each level."""
        records = rows["records"].astype(np.float64)
        fields = zip(self.fields(rows["key"]), self.sizes, strict=True)
        return self.raised([np.bincount(nodes.view(np.int64), records, sizes[0]) for nodes, sizes in fields])

    def raised(self, lowest: Sequence[NDArray[Any]]) -> Totals:
        """Return the same, given the records of each node of each column on its lowest level."""
        found = []
        for counts, steps, sizes in zip(lowest, self.steps, self.sizes, strict=True):
            levels = [counts]
            for step, size in zip(steps, sizes[1:], strict=True):
                levels.append(np.bincount(step, levels[-1], size))
            found.append(tuple(level.astype(np.uint32) for level in levels))
        return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class Tallies:
    """Counts of the classes of some schemes, sorted into bands by their size.

    ``figures[i, b]``: of scheme ``schemes[i]`` and band b, one number for each of ``FIGURES``; ``squares``: Σ of the
    squared sizes in records. ``marginals[i, b, node]``: how many records
    of band b have a node; not for the last band, which has the rest.
    """

    schemes: NDArray[np.int64]
    figures: NDArray[np.uint64]
    marginals: NDArray[np.uint32]


@dataclass(frozen=True, slots=True, eq=False)
class Listing:
    """The classes of some schemes, one after another: class c is one of scheme ``schemes[of_class[c]]``.

    ``keys[c]``: its nodes. ``sizes``: in persons. The sensitive values in class c are
    ``codes[starts[c] : starts[c + 1]]``, ascending, each with a count.
    """

    schemes: NDArray[np.int64]
    of_class: NDArray[np.int64]
    keys: NDArray[np.uint64]
    sizes: NDArray[np.uint32]
    records: NDArray[np.uint32]
    starts: NDArray[np.int64]
    codes: NDArray[np.uint32]
    counts: NDArray[np.uint32]

    @classmethod
    def joined(cls, parts: Sequence["Listing"]) -> "Listing":
        """Put listings of different schemes together."""
        if len(parts) == 1:
            return parts[0]
        schemes = np.cumsum([0, *(len(part.schemes) for part in parts)])
        entries = np.cumsum([0, *(len(part.codes) for part in parts)])
        of_class = [part.of_class + before for part, before in zip(parts, schemes, strict=False)]
        starts = [part.starts[:-1] + before for part, before in zip(parts, entries, strict=False)]
        names = ("keys", "sizes", "records", "codes", "counts")
        rest = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
        return cls(
            np.concatenate([part.schemes for part in parts]),
            np.concatenate(of_class),
            starts=np.concatenate([*starts, entries[-1:]]),
            **rest,
        )


class Walk:
    """Goes through schemes of a lattice, with the rows of a table and room to work in. Each thread needs its own.

    ``keeping``: tables on the way are kept for the next call, which pays if few schemes are asked for many times.

    >>> import numpy as np
    >>> lattice = Lattice(((np.zeros(3, np.uint32),),), ((3, 1),))
    >>> rows = lattice.rows([np.array([0, 1, 2], np.uint8)], np.array([1, 1, 5]), np.array([1, 1, 5]))
    >>> found = Walk(lattice, rows).tally(np.arange(2), [2])
    >>> found.figures[:, :, 0].tolist(), found.marginals[:, 0].tolist()
    ([[2, 1], [0, 1]], [[1, 1, 0], [0, 0, 0]])
    """

    def __init__(self, lattice: Lattice, rows: Rows, *, keeping: bool = False, totals: Totals | None = None) -> None:
        self.lattice = lattice
        self.rows = rows
        self.keeping = keeping
        self.totals = totals or lattice.totals(rows)

    def another(self, *, keeping: bool | None = None) -> "Walk":
        """Return a walk over the same rows with room of its own."""
        keeping = self.keeping if keeping is None else keeping
        return Walk(self.lattice, self.rows, keeping=keeping, totals=self.totals)

    @cached_property
    def _held(self) -> "_Held":
        return _Held(self.lattice, self.rows, keeping=self.keeping)

    @cached_property
    def _laid_totals(self) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        return _laid(self.totals, max(self.lattice.shape))

    def tally(self, schemes: NDArray[np.int64], bounds: Sequence[int], limit: int | None = None) -> Tallies:
        """Count the classes of some schemes, which ascend; ``bounds``, ascending: sizes at which a new band begins.

        ``limit``: of schemes with more persons in the first band the nodes are of no interest, and stay 0.
        """
        lattice, rows, native = self.lattice, self.rows, library.core()
        bands = len(bounds) + 1
        figures = np.zeros((len(schemes), bands, len(FIGURES)), np.uint64)
        marginals = np.zeros((len(schemes), bands - 1, lattice.width), np.uint32)
        if not len(schemes) or not len(rows):
            return Tallies(schemes, figures, marginals)
        if native is None:
            _tally_numpy(lattice, rows, schemes, bounds, figures, marginals)
            if limit is not None:
                marginals[figures[:, 0, FIGURES.index("persons")] > limit] = 0
            return Tallies(schemes, figures, marginals)
        band = np.searchsorted(bounds, np.arange(bounds[-1] if len(bounds) else 0), side="right").astype(np.uint8)
        counts, levels = np.empty((bands, lattice.width), np.uint32), _levels(lattice, schemes)
        arrays = (band, lattice.offsets, *self._laid_totals, counts, figures, marginals)
        out = _Tally(
            bands,
            _NO_LIMIT if limit is None else limit,
            len(band),
            lattice.width,
            *(array.ctypes.data for array in arrays),
        )
        native.shoal_lattice_tally(*self._held.given(), levels.ctypes.data, len(schemes), ctypes.byref(out))
        return Tallies(schemes, figures, marginals)

    def listings(self, schemes: NDArray[np.int64], least: int = 1, room: int = 1 << 20) -> Iterator[Listing]:
        """List the classes of at least so many persons of some schemes, which ascend; some schemes at a time."""
        lattice, rows, native = self.lattice, self.rows, library.core()
        if not len(rows) or not len(schemes):
            return
        if native is None:
            yield from _listed_numpy(lattice, rows, schemes, least)
            return
        most = max(room, len(rows) * lattice.shape[-1])
        inside = most if lattice.values else 0
        places, starts, keys = np.empty(most, np.int64), np.empty(most + 1, np.int64), np.empty(most, np.uint64)
        sizes, records, codes, counts = (np.empty(number, np.uint32) for number in (most, most, inside, inside))
        seen, counter = np.zeros((lattice.values + 63) // 64, np.uint64), np.zeros(lattice.values, np.uint32)
        arrays = (keys, sizes, records, places, starts, codes, counts, seen, counter)
        levels, given, done = _levels(lattice, schemes), self._held.given(), 0
        while done < len(schemes):
            out = _Listing(least, lattice.values, most, inside, 0, 0, *(array.ctypes.data for array in arrays))
            begun, number = done, len(schemes)
            done = native.shoal_lattice_list(*given, levels.ctypes.data, begun, number, ctypes.byref(out))
            made, entries = out.classes, out.entries
            starts[made] = entries
            yield Listing(
                schemes[begun:done],
                places[:made] - begun,
                keys[:made].copy(),
                sizes[:made].copy(),
                records[:made].copy(),
                starts[: made + 1].copy(),
                codes[:entries].copy(),
                counts[:entries].copy(),
            )

    def spread(self, listing: Listing, kept: NDArray[np.bool_]) -> NDArray[np.uint32]:
        """Return how many records of the kept classes of each listed scheme have each node."""
        lattice, native = self.lattice, library.core()
        marginals = np.zeros((len(listing.schemes), lattice.width), np.uint32)
        if native is None:
            for offset, nodes in zip(lattice.offsets, lattice.fields(listing.keys), strict=False):
                at = (listing.of_class[kept], offset + nodes[kept].astype(np.intp))
                np.add.at(marginals, at, listing.records[kept])
            return marginals
        flags = kept.astype(np.uint8)
        arrays = (listing.keys, listing.records, listing.of_class, flags)
        pointers = [array.ctypes.data for array in arrays]
        first = (self._held.lattice, lattice.offsets.ctypes.data, lattice.width)
        native.shoal_lattice_spread(*first, *pointers, len(flags), marginals.ctypes.data)
        return marginals


def _levels(lattice: Lattice, schemes: NDArray[np.int64]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(lattice.levels(schemes).astype(np.uint8))


class _Lattice(ctypes.Structure):
    _fields_ = (
        ("columns", ctypes.c_int32),
        ("below", ctypes.c_int32),
        *((name, ctypes.c_void_p) for name in ("shifts", "bits", "levels", "nodes", "steps", "steps_at", "tops_at")),
        ("most", ctypes.c_int64),
    )


class _Room(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("rows", "runs", "slots", "maps", "classes", "firsts")),
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


class _Tally(ctypes.Structure):
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


class _Listing(ctypes.Structure):
    _fields_ = (
        ("least", ctypes.c_uint32),
        ("values", ctypes.c_int32),
        *((name, ctypes.c_int64) for name in ("classes_room", "entries_room", "classes", "entries")),
        *(
            (name, ctypes.c_void_p)
            for name in ("keys", "sizes", "records", "schemes", "starts", "codes", "counts", "seen", "tally")
        ),
    )


def _laid(parts: Sequence[Sequence[NDArray[Any]]], most: int) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Lay arrays end to end, at most so many in each part; return also where each begins, by part and number."""
    at, done = np.zeros((len(parts), most), np.int64), 0
    for part, arrays in enumerate(parts):
        for number, array in enumerate(arrays):
            at[part, number] = done
            done += len(array)
    laid = [array for arrays in parts for array in arrays]
    return np.concatenate([np.zeros(0, np.uint32), *laid]).astype(np.uint32, copy=False), at


class _Held:
    """What the core is told about a lattice, and room to work in; lives as long as the calls."""

    def __init__(self, lattice: Lattice, rows: Rows, *, keeping: bool) -> None:
        columns, most, count = len(lattice.shape), max(lattice.shape), len(rows)
        self._rows = rows
        tops = [_tops(steps, lattice.sizes[-1][level]) for level, steps in _tails(lattice.steps[-1])]
        steps, at = _laid([*lattice.steps, *tops], most)
        tops_at = at[columns:].copy()
        for level in range(len(tops)):  # counted from the level above which they are
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
            np.empty((columns + 1) * count, _ROW),
            np.empty(count + 1, np.uint32),
            np.empty(slots, np.uint32),
            np.empty(2 * lattice.width, np.uint32),
            np.empty(room, _ROW),
            np.empty(room + 1, np.uint32),
        ]
        self._lattice = _Lattice(columns, lattice.bits[-1], *(array.ctypes.data for array in self._arrays), most)
        self._space = _Room(*(array.ctypes.data for array in self._room), slots, count)
        self._memo = self._kept(lattice, rows) if keeping else None

    def _kept(self, lattice: Lattice, rows: Rows) -> _Memo | None:
        """Make room for tables to be kept; the first one is that of all rows."""
        prefixes = np.cumprod([1, *lattice.shape[:-1]], dtype=np.float64)
        if prefixes.sum() > MOST_KEPT:
            return None
        firsts = np.concatenate([[0], np.cumsum(prefixes)]).astype(np.int64)
        room = min(max(KEPT_ROWS, 8 * len(rows)), MOST_KEPT_ROWS)
        if room < len(rows):
            return None
        starts, counts = np.zeros(int(firsts[-1]), np.int64), np.full(int(firsts[-1]), -1, np.int64)
        kept = np.empty(room, _ROW)
        kept[: len(rows)] = rows
        counts[0] = len(rows)
        self._room += [kept, starts, counts, firsts]
        tables = (starts.ctypes.data, counts.ctypes.data, firsts.ctypes.data)
        return _Memo(kept.ctypes.data, room, len(rows), *tables)

    @property
    def lattice(self) -> Any:
        return ctypes.byref(self._lattice)

    def given(self) -> tuple[Any, int, Any, Any]:
        """Return what both walks take first."""
        memo = None if self._memo is None else ctypes.byref(self._memo)
        return self.lattice, self._rows.ctypes.data, ctypes.byref(self._space), memo


def _tails(steps: Sequence[NDArray[np.uint32]]) -> Iterator[tuple[int, Sequence[NDArray[np.uint32]]]]:
    return ((level, steps[level:]) for level in range(len(steps) + 1))


def _tops(steps: Sequence[NDArray[np.uint32]], size: int) -> list[NDArray[np.uint32]]:
    """Return the nodes on each level from this one on, of each node on this one."""
    found = [np.arange(size, dtype=np.uint32)]
    for step in steps:
        found.append(step[found[-1]])
    return found


def _nodes_of(lattice: Lattice, rows: Rows, levels: Sequence[int]) -> list[NDArray[np.intp]]:
    """Return the node of each row in each column on a level."""
    found = []
    for column, nodes in enumerate(lattice.fields(rows["key"])):
        here = nodes.astype(np.intp)
        for step in lattice.steps[column][: levels[column]]:
            here = step[here].astype(np.intp)
        found.append(here)
    return found


def _classes_numpy(lattice: Lattice, rows: Rows, scheme: int) -> tuple[NDArray[np.uint64], NDArray[np.intp]]:
    """Return the keys of the classes of a scheme, ascending, and the class of each row."""
    levels = lattice.levels(np.array([scheme]))[0]
    keys = np.zeros(len(rows), np.uint64)
    for nodes, shift in zip(_nodes_of(lattice, rows, levels), lattice.shifts, strict=True):
        keys |= nodes.astype(np.uint64) << np.uint64(shift)
    return np.unique(keys, return_inverse=True)


def _tally_numpy(  # noqa: PLR0913, PLR0917 - the twin of a function of the core
    lattice: Lattice,
    rows: Rows,
    schemes: NDArray[np.int64],
    bounds: Sequence[int],
    figures: NDArray[np.uint64],
    marginals: NDArray[np.uint32],
) -> None:
    for place, scheme in enumerate(schemes.tolist()):
        keys, of_row = _classes_numpy(lattice, rows, scheme)
        sizes = np.bincount(of_row, rows["persons"]).astype(np.int64)
        records = np.bincount(of_row, rows["records"]).astype(np.int64)
        bands = np.searchsorted(bounds, sizes, side="right")
        for band in range(len(bounds) + 1):
            mine = bands == band
            if mine.any():
                held = records[mine]
                figures[place, band] = mine.sum(), sizes[mine].sum(), held.sum(), np.square(held).sum()
            if band < len(bounds):
                for offset, nodes in zip(lattice.offsets, lattice.fields(keys), strict=False):
                    np.add.at(marginals[place, band], offset + nodes[mine].astype(np.intp), records[mine])


def _listed_numpy(lattice: Lattice, rows: Rows, schemes: NDArray[np.int64], least: int) -> Iterator[Listing]:
    values = (rows["key"] & np.uint64((1 << lattice.bits[-1]) - 1)).astype(np.int64)
    for scheme in schemes.tolist():
        keys, of_row = _classes_numpy(lattice, rows, scheme)
        sizes = np.bincount(of_row, rows["persons"]).astype(np.uint32)
        records = np.bincount(of_row, rows["records"]).astype(np.uint32)
        listed = sizes >= least
        pairs, inverse = np.unique(of_row * max(lattice.values, 1) + values, return_inverse=True)
        counts = np.bincount(inverse, rows["persons"]).astype(np.uint32)
        owner = pairs // max(lattice.values, 1)
        inside = listed[owner] & (lattice.values > 0)
        starts = np.searchsorted(np.flatnonzero(listed), owner[inside])
        yield Listing(
            np.array([scheme]),
            np.zeros(int(listed.sum()), np.int64),
            keys[listed],
            sizes[listed],
            records[listed],
            np.searchsorted(starts, np.arange(listed.sum() + 1)),
            (pairs[inside] % max(lattice.values, 1)).astype(np.uint32),
            counts[inside],
        )
