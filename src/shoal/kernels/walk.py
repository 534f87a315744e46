"""A walk through the schemes of a lattice, which counts or lists their classes, with sensitive values if required."""

import ctypes
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.kernels import library
from shoal.kernels.lattice import FIGURES, ClassListing, Lattice, Rows, Tallies, Totals
from shoal.kernels.library import address
from shoal.kernels.workspace import ListingRoom, TallyRoom, Workspace, laid

_NO_LIMIT = (1 << 64) - 1


class Walk:
    """Traverses schemes of a lattice over the rows of a table. Each thread needs its own instance.

    ``keeping``: whether intermediate tables are cached for the next call, which pays off if few schemes are requested
    many times.

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
        """Return a walk over the same rows with its own working memory."""
        keeping = self.keeping if keeping is None else keeping
        return Walk(self.lattice, self.rows, keeping=keeping, totals=self.totals)

    @cached_property
    def _held(self) -> Workspace:
        return Workspace(self.lattice, self.rows, keeping=self.keeping)

    @cached_property
    def _laid_totals(self) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        return laid(self.totals, max(self.lattice.shape))

    def tally(self, schemes: NDArray[np.int64], bounds: Sequence[int], limit: int | None = None) -> Tallies:
        """Count the classes of schemes, given in ascending order, by bands of class size.

        ``bounds``: the sizes at which a new band begins, in ascending order. ``limit``: for schemes with more persons
        in the first band, the marginals are not computed and remain 0.
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
        counts, levels = np.empty((bands, lattice.width), np.uint32), levels_of(lattice, schemes)
        arrays = (band, lattice.offsets, *self._laid_totals, counts, figures, marginals)
        out = TallyRoom(
            bands,
            _NO_LIMIT if limit is None else limit,
            len(band),
            lattice.width,
            *(address(array) for array in arrays),
        )
        native.shoal_lattice_tally(*self._held.given(), address(levels), len(schemes), ctypes.byref(out))
        return Tallies(schemes, figures, marginals)

    def listings(self, schemes: NDArray[np.int64], least: int = 1, room: int = 1 << 20) -> Iterator[ClassListing]:
        """List the classes with at least ``least`` persons of schemes in ascending order, several schemes at a time."""
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
        levels, given, done = levels_of(lattice, schemes), self._held.given(), 0
        while done < len(schemes):
            out = ListingRoom(least, lattice.values, most, inside, 0, 0, *(address(array) for array in arrays))
            begun, number = done, len(schemes)
            done = native.shoal_lattice_list(*given, address(levels), begun, number, ctypes.byref(out))
            classes, entries = out.classes, out.entries
            starts[classes] = entries
            yield ClassListing(
                schemes[begun:done],
                places[:classes] - begun,
                keys[:classes].copy(),
                sizes[:classes].copy(),
                records[:classes].copy(),
                starts[: classes + 1].copy(),
                codes[:entries].copy(),
                counts[:entries].copy(),
            )

    def spread(self, listing: ClassListing, kept: NDArray[np.bool_]) -> NDArray[np.uint32]:
        """Return, per listed scheme, the number of records of the kept classes in each node."""
        lattice, native = self.lattice, library.core()
        marginals = np.zeros((len(listing.schemes), lattice.width), np.uint32)
        if native is None:
            for offset, nodes in zip(lattice.offsets, lattice.fields(listing.keys), strict=False):
                at = (listing.of_class[kept], offset + nodes[kept].astype(np.intp))
                np.add.at(marginals, at, listing.records[kept])
            return marginals
        flags = kept.astype(np.uint8)
        arrays = (listing.keys, listing.records, listing.of_class, flags)
        pointers = [address(array) for array in arrays]
        first = (self._held.lattice, address(lattice.offsets), lattice.width)
        native.shoal_lattice_spread(*first, *pointers, len(flags), address(marginals))
        return marginals


def levels_of(lattice: Lattice, schemes: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return the level of each column in each scheme, in the format of the C core."""
    return np.ascontiguousarray(lattice.levels(schemes).astype(np.uint8))


def _nodes_of(lattice: Lattice, rows: Rows, levels: Sequence[int]) -> list[NDArray[np.intp]]:
    """Return, per column, the node of each row on the column's level."""
    nodes_of = []
    for column, nodes in enumerate(lattice.fields(rows["key"])):
        here = nodes.astype(np.intp)
        for step in lattice.steps[column][: levels[column]]:
            here = step[here].astype(np.intp)
        nodes_of.append(here)
    return nodes_of


def _classes_numpy(lattice: Lattice, rows: Rows, scheme: int) -> tuple[NDArray[np.uint64], NDArray[np.intp]]:
    """Return the keys of the classes of a scheme in ascending order, and the class of each row."""
    levels = lattice.levels(np.array([scheme]))[0]
    keys = np.zeros(len(rows), np.uint64)
    for nodes, shift in zip(_nodes_of(lattice, rows, levels), lattice.shifts, strict=True):
        keys |= nodes.astype(np.uint64) << np.uint64(shift)
    return np.unique(keys, return_inverse=True)


def _tally_numpy(  # noqa: PLR0913, PLR0917 - mirrors a function of the C core
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
                own_records = records[mine]
                figures[place, band] = mine.sum(), sizes[mine].sum(), own_records.sum(), np.square(own_records).sum()
            if band < len(bounds):
                for offset, nodes in zip(lattice.offsets, lattice.fields(keys), strict=False):
                    np.add.at(marginals[place, band], offset + nodes[mine].astype(np.intp), records[mine])


def _listed_numpy(lattice: Lattice, rows: Rows, schemes: NDArray[np.int64], least: int) -> Iterator[ClassListing]:
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
        yield ClassListing(
            np.array([scheme]),
            np.zeros(int(listed.sum()), np.int64),
            keys[listed],
            sizes[listed],
            records[listed],
            np.searchsorted(starts, np.arange(listed.sum() + 1)),
            (pairs[inside] % max(lattice.values, 1)).astype(np.uint32),
            counts[inside],
        )
