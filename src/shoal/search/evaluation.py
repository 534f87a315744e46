"""Evaluation of many schemes at once: the classes that must be suppressed, and the counts of the remaining ones."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.classes.histogram import Histogram
from shoal.kernels.lattice import FIGURES, ClassListing, Lattice, Tallies
from shoal.kernels.scan import Scan
from shoal.kernels.walk import Walk
from shoal.models.evidence import Evidence
from shoal.models.model import Model, SizesModel
from shoal.population import Matched
from shoal.search.objective import Counted, Ints

LISTED = 1 << 22  # maximum number of rows listed together
_CLASSES, _PERSONS, _RECORDS, _SQUARES = range(len(FIGURES))


class Evaluator(Protocol):
    """Evaluates schemes: counts suppressed persons and records and the remaining classes."""

    def work(self, rows: int) -> int:
        """Estimate the work of evaluating one scheme of a table with ``rows`` rows, in units of rows."""
        ...

    def counted(self, schemes: Ints) -> Counted:
        """Evaluate schemes, given in ascending order."""
        ...

    def by_sizes(self, schemes: Ints, sizes: Sequence[int]) -> list[Counted]:
        """Evaluate schemes for each of several minimum class sizes, given in ascending order."""
        ...

    def another(self, *, keeping: bool = True) -> "Evaluator":
        """Return an equivalent evaluator for another thread.

        ``keeping``: whether it will be called many times with few schemes.
        """
        ...


@dataclass(eq=False)
class BySize:
    """Suppresses the classes with fewer than ``size`` persons; no other criterion applies.

    ``limit``: the number of persons that may be suppressed.
    """

    scan: Scan
    size: int
    limit: int

    def work(self, rows: int) -> int:
        """Return the number of rows, multiplied if their keys do not fit into one integer."""
        return rows if self.scan.lattice.fits else 100 * rows

    def counted(self, schemes: Ints) -> Counted:
        """Count the classes below the minimum size."""
        (counted,) = by_bands(self.scan.lattice, self.scan.tally(schemes, self.size, self.limit))
        return counted

    def by_sizes(self, schemes: Ints, sizes: Sequence[int]) -> list[Counted]:
        """Count the classes below each minimum size."""
        bounds = sorted({max(size, self.size) for size in sizes})
        walk = self.scan.walk
        by_size = dict(zip(bounds, by_bands(walk.lattice, walk.tally(schemes, bounds)), strict=True))
        return [by_size[max(size, self.size)] for size in sizes]

    def another(self, *, keeping: bool = True) -> "BySize":
        """Return a copy with its own working memory."""
        return BySize(self.scan.another(keeping=keeping), self.size, self.limit)


def by_bands(lattice: Lattice, tallies: Tallies) -> list[Counted]:
    """Return the counts after suppressing the classes of the first band, of the first two bands, and so on."""
    levels = lattice.levels(tallies.schemes)
    lost = np.cumsum(tallies.figures, axis=1).astype(np.int64)
    whole = lost[:, -1]
    is_one = tallies.marginals.shape[1] == 1
    nodes = tallies.marginals if is_one else np.cumsum(tallies.marginals, axis=1, dtype=np.uint32)
    return [
        Counted(
            tallies.schemes,
            levels,
            lost[:, band, _PERSONS],
            lost[:, band, _PERSONS],
            lost[:, band, _RECORDS],
            whole[:, _CLASSES] - lost[:, band, _CLASSES],
            (whole[:, _SQUARES] - lost[:, band, _SQUARES]).astype(np.uint64),
            nodes[:, band],
        )
        for band in range(tallies.marginals.shape[1])
    ]


@dataclass(frozen=True, eq=False)
class Sensitive:
    """A sensitive column, the models that apply to it, and a walk that reads it."""

    column: str
    models: tuple[Model, ...]
    walk: Walk


@dataclass(frozen=True, eq=False)
class Registered:
    """Models that compare classes with a register, and a walk over the persons of the register.

    ``outside``: the number of persons in the register who match no class.
    """

    models: tuple[Model, ...]
    walk: Walk
    outside: int

    def failing(self, listing: ClassListing, base: Evidence) -> NDArray[np.bool_]:
        """Return a mask of the listed classes that fail; the listing must contain all classes of its schemes."""
        people = ClassListing.joined(list(self.walk.listings(listing.schemes, 1)))
        failing = np.zeros(len(listing.sizes), bool)
        schemes = np.arange(len(listing.schemes) + 1)
        ours, theirs = (np.searchsorted(listed.of_class, schemes) for listed in (listing, people))
        for scheme in range(len(listing.schemes)):
            mine, other = slice(*ours[scheme : scheme + 2]), slice(*theirs[scheme : scheme + 2])
            seen = base.classes.instead(listing.sizes[mine].astype(np.int64), {})
            matched = self._matched(listing.keys[mine], people.keys[other], people.sizes[other].astype(np.int64))
            evidence = Evidence(seen, None, base.hierarchies, base.population, matched)
            for model in self.models:
                failing[mine] |= model.failing(evidence)
        return failing

    def _matched(self, keys: NDArray[np.uint64], theirs: NDArray[np.uint64], sizes: Ints) -> Matched:
        order = np.argsort(theirs)
        place = np.searchsorted(theirs[order], keys)
        at = order[np.minimum(place, len(order) - 1)] if len(order) else np.zeros(len(keys), np.intp)
        same = (theirs[at] == keys) if len(order) else np.zeros(len(keys), bool)
        counts = np.where(same, sizes[at] if len(order) else 0, 0)
        return Matched(counts, int(sizes.sum() - counts.sum()) + self.outside)


@dataclass(eq=False)
class ByValues:
    """Suppresses the classes that are too small or whose sensitive values fail a model.

    ``tables``: requirements on the table as a whole; the smallest remaining classes are suppressed until they are met.
    ``registered``: models that compare classes with a register, if any.
    """

    evidence: Evidence
    size: int
    walk: Walk
    columns: tuple[Sensitive, ...]
    tables: tuple[SizesModel, ...] = ()
    registered: Registered | None = None

    def work(self, rows: int) -> int:
        """Return a multiple of the number of rows, because sensitive values are read as well."""
        return 5 * rows

    def counted(self, schemes: Ints) -> Counted:
        """List the classes of sufficient size, apply the models, and count the classes that pass."""
        together = max(LISTED // max(len(self.walk.rows), 1), 1)
        parts = [schemes[begin : begin + together] for begin in range(0, len(schemes), together)]
        return Counted.joined([self._counted(part) for part in parts])

    def another(self, *, keeping: bool = True) -> "ByValues":
        """Return a copy with its own working memory."""
        columns = tuple(replace(column, walk=column.walk.another(keeping=keeping)) for column in self.columns)
        registered = self.registered and replace(self.registered, walk=self.registered.walk.another(keeping=keeping))
        return replace(self, walk=self.walk.another(keeping=keeping), columns=columns, registered=registered)

    def by_sizes(self, schemes: Ints, sizes: Sequence[int]) -> list[Counted]:
        """Apply the models once, and count the results for each minimum size."""
        together = max(LISTED // max(len(self.walk.rows), 1), 1)
        parts = [self._by_sizes(schemes[begin : begin + together], sizes) for begin in range(0, len(schemes), together)]
        return [Counted.joined(list(parts_of)) for parts_of in zip(*parts, strict=True)]

    def _by_sizes(self, schemes: Ints, sizes: Sequence[int]) -> list[Counted]:
        first, kept = self._passing(schemes, max(self.size, min(sizes)))
        return [self._left(first, self._whole_table(first, kept & (first.sizes >= size))) for size in sizes]

    def _counted(self, schemes: Ints) -> Counted:
        first, kept = self._passing(schemes, self.size)
        return self._left(first, self._whole_table(first, kept))

    def _whole_table(self, listing: ClassListing, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
        for table in self.tables:
            kept = without_smallest(table, listing, kept)
        return kept

    def _passing(self, schemes: Ints, size: int) -> tuple[ClassListing, NDArray[np.bool_]]:
        """List the classes of sufficient size, and return a mask of those that pass all class models."""
        least = 1 if self.registered else size
        listed = [ClassListing.joined(list(column.walk.listings(schemes, least))) for column in self.columns]
        first = listed[0] if listed else ClassListing.joined(list(self.walk.listings(schemes, least)))
        kept = first.sizes >= size
        if self.registered:
            kept &= ~self.registered.failing(self._only_keys(first), self.evidence)
        for column, listing in zip(self.columns, listed, strict=True):
            seen = self._seen(column.column, listing)
            for model in column.models if len(kept) else ():
                kept &= ~model.failing(seen)
        return first, kept

    def _only_keys(self, listing: ClassListing) -> ClassListing:
        """Return the listing with keys in the format of a walk without a sensitive column."""
        below = self._spreader.lattice.bits[-1] if self.columns else 0
        return replace(listing, keys=listing.keys >> np.uint64(below))

    def _left(self, listing: ClassListing, kept: NDArray[np.bool_]) -> Counted:
        """Count the persons, records and classes that remain in each scheme."""
        levels = self.walk.lattice.levels(listing.schemes)
        sizes, records = listing.sizes.astype(np.int64), listing.records.astype(np.int64)
        parts = (kept, sizes * (sizes >= self.size), sizes * kept, records * kept, records * records * kept)
        classes, large, persons, left, squares = _by_scheme(listing, parts)
        everybody, all_records = (int(self.walk.rows[part].sum()) for part in ("persons", "records"))
        return Counted(
            listing.schemes,
            levels,
            everybody - large,
            everybody - persons,
            all_records - left,
            classes,
            squares.astype(np.uint64),
            self._whole(levels) - self._spreader.spread(listing, kept),
        )

    @property
    def _spreader(self) -> Walk:
        """The walk that produced the keys."""
        return self.columns[0].walk if self.columns else self.walk

    def _whole(self, levels: Ints) -> NDArray[np.uint32]:
        """Return the number of records of each node per scheme, with all columns concatenated."""
        lattice = self.walk.lattice
        whole = np.zeros((len(levels), lattice.width), np.uint32)
        for column, counts in enumerate(self.walk.totals):
            begin = lattice.offsets[column]
            for level, records in enumerate(counts):
                whole[levels[:, column] == level, begin : begin + len(records)] = records
        return whole

    def _seen(self, column: str, listing: ClassListing) -> Evidence:
        """Return the listed classes as evidence, as if they belonged to a single table."""
        base = self.evidence.classes
        sizes, number = listing.sizes.astype(np.int64), len(listing.sizes)
        before = base.histograms[column]
        classes = np.repeat(np.arange(number, dtype=np.uint32), np.diff(listing.starts))
        counts = listing.counts.astype(np.int64)
        histogram = Histogram(before.column, classes, listing.codes, counts, listing.starts, before.reference)
        seen = base.instead(sizes, {column: histogram})
        return Evidence(seen, column, self.evidence.hierarchies, self.evidence.population)


def without_smallest(table: SizesModel, listing: ClassListing, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Suppress the smallest kept classes of each scheme, as few as possible, until the table model holds.

    If it never holds, all classes of the scheme are suppressed. Returns the mask of the classes that remain.
    """
    order = np.lexsort((listing.sizes, listing.of_class))
    order = order[kept[order]]
    scheme, sizes = listing.of_class[order], listing.sizes[order].astype(np.int64)
    number = len(listing.schemes)
    ends = np.searchsorted(scheme, np.arange(number), side="right")[scheme]

    def from_here(numbers: Ints) -> Ints:
        """Sum from each class up to the largest class of its scheme."""
        summed = np.concatenate([[0], np.cumsum(numbers)])
        return np.asarray(summed[ends] - summed[:-1])

    enough = table.holds(ends - np.arange(len(order)), from_here(sizes), from_here(sizes * (sizes == 1)))
    first = np.full(number, len(order))
    np.minimum.at(first, scheme[enough], np.flatnonzero(enough))
    spared = np.zeros(len(kept), bool)
    spared[order[np.arange(len(order)) >= first[scheme]]] = True
    return spared


def _by_scheme(listing: ClassListing, parts: Sequence[NDArray[np.integer | np.bool_]]) -> list[Ints]:
    """Sum numbers of classes per scheme; the classes of a scheme are adjacent."""
    ends = np.searchsorted(listing.of_class, np.arange(len(listing.schemes) + 1))
    sums = (np.concatenate([[0], np.cumsum(part, dtype=np.int64)])[ends] for part in parts)
    return [np.diff(sums_of) for sums_of in sums]
