"""Placing: the set that every released cell stands for, found out from its text and from what its records were.

Of several readings of a text the narrowest counts that holds every value its records had. A text that cannot be read
stands for just these values, and is reported; so is one whose records had other values than it says.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.grouping import group
from shoal.kernels.translation import Codes, narrowest
from shoal.recoding.matching import numbers, same_values
from shoal.recoding.meaning import Meanings, Reading
from shoal.recoding.nodes import Domain, Fate, Floats, Ints, Node, Nodes
from shoal.recoding.recoding import Pairs, Recoded
from shoal.table.column import SUPPRESSED, Column, as_text

UNREAD = "cannot be read; each is taken for the values that its records had"
UNKNOWN = "cannot be read, and count as suppressed"
UNTRUE = "are not what their records had, and count as suppressed"
OUTSIDE = "do not hold all values of their records, and were widened"


@dataclass(frozen=True, slots=True)
class Remark:
    """Something about the texts of a released column that its owner should know.

    ``texts``: which ones. ``records``: how many are concerned.
    """

    column: str
    says: str
    texts: tuple[str, ...]
    records: int


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """A column with its cells placed, and what is to be said about it."""

    recoded: Recoded
    remarks: tuple[Remark, ...]


def place(  # noqa: PLR0913, PLR0917 - what a column was and is
    domain: Domain, release: Column, codes: Codes | None, shown: Codes, counts: Ints, original: Ints
) -> Placed:
    """Place the cells of a column.

    ``codes``: what each row was; None if that is not known. ``shown``: what it is now; one number more than the release
    has codes stands for records that are not released. ``original``: how many records have each code.
    """
    placer = _Placer(domain, release)
    rows = placer.by_text(shown, counts) if codes is None else placer.by_records(codes, shown, counts)
    nodes = Nodes.of(domain, placer.nodes)
    recoded = Recoded(
        nodes,
        codes,
        at=rows.astype(narrowest(len(nodes))),
        shown=shown,
        width=release.size + 1,
        original=original,
        counts=counts,
        numbers=placer.numbers,
        said=placer.said,
        counted=placer.pairs,
    )
    return Placed(recoded, tuple(placer.remarks()))


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """What the records with one text were: their codes, ascending, and how many of each."""

    text: int
    codes: NDArray[np.uint32]
    counts: Ints

    def inside(self, codes: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """Tell which of the codes are in a set."""
        return np.isin(self.codes, codes, kind="sort")


class _Placer:
    """Collects the nodes of one column, after those of the single codes: nothing shown, nothing true, and sets."""

    def __init__(self, domain: Domain, release: Column) -> None:
        self._domain = domain
        self._width = release.size + 1
        self._meanings = Meanings(domain)
        self._texts: list[str] = as_text(release.values).to_pylist()
        self._exact = self.said = np.append(same_values(domain.column, release), -1)
        self._suppressed, self._changed = domain.codes, domain.codes + 1
        self._notes: dict[str, list[tuple[int, int]]] = {}
        self.numbers = self._numbers(release)
        self.pairs: Pairs | None = None
        self.nodes = [Node.everything(domain), Node.everything(domain, Fate.CHANGED)]

    def by_records(self, codes: Codes, shown: Codes, counts: Ints) -> Ints:
        """Return the node of each row, knowing what it was."""
        pairs = group(codes.astype(np.uint64) * np.uint64(self._width) + shown, self._domain.codes * self._width)
        was, text = codes[pairs.first].astype(np.int64), shown[pairs.first].astype(np.int64)
        number = np.bincount(pairs.ids, counts, len(pairs)).astype(np.int64)
        at = np.where(self._exact[text] == was, was, -1)
        at[(at < 0) & self._blank()[text]] = self._suppressed
        steady = np.bincount(was, minlength=self._domain.codes) == 1  # values that always show the same text
        steady[len(self._domain.column.values) :] = False
        order = np.argsort(text, kind="stable")
        unclear = np.unique(text[at < 0])
        cuts = [np.searchsorted(text[order], unclear, side) for side in ("left", "right")]
        spans = [order[start:end] for start, end in zip(*cuts, strict=True)]
        held = [_Seen(int(text[span[0]]), was[span].astype(np.uint32), number[span]) for span in spans]
        for span, seen, readings in zip(spans, held, self._readings(held), strict=True):
            at[span] = self._placed(seen, readings, steady)
        self.pairs = Pairs(was, at, number)
        return at[pairs.ids]

    def by_text(self, shown: Codes, counts: Ints) -> Ints:
        """Return the node of each row, from its text alone: the first reading counts."""
        at = self._exact.copy()
        at[(at < 0) & self._blank()] = self._suppressed
        held = np.bincount(shown, counts, self._width).astype(np.int64)
        for text in np.flatnonzero((at < 0) & (held > 0)).tolist():
            readings = self._meanings.of(self._texts[text])
            at[text] = self._add(text, readings[0].codes, readings[0]) if readings else self._suppressed
            if not readings:
                self._note(UNKNOWN, text, int(held[text]))
        return at[shown]

    def remarks(self) -> list[Remark]:
        """Return what is to be said."""
        name = self._domain.column.name
        return [
            Remark(name, says, tuple(self._texts[text] for text, _ in noted), sum(records for _, records in noted))
            for says, noted in self._notes.items()
        ]

    def _numbers(self, release: Column) -> Floats:
        """Read the texts as numbers, where the column holds numbers; NaN elsewhere."""
        read = np.full(self._width, np.nan)
        if self._domain.column.kind.numeric:
            read[: len(self._texts)] = numbers(as_text(release.values))
        return read

    def _blank(self) -> NDArray[np.bool_]:
        """Tell which texts show nothing: missing, suppressed, nothing but *, or not released."""
        blank = np.ones(self._width, bool)
        blank[: len(self._texts)] = [text != "" and not text.strip(SUPPRESSED) for text in self._texts]
        return blank

    def _readings(self, held: Sequence[_Seen]) -> list[list[Reading]]:
        """Read texts. Of an end that two intervals share, as in 20-30 and 30-40, the records tell where it belongs."""
        found = [self._meanings.of(self._texts[seen.text], int(self._exact[seen.text])) for seen in held]
        ends = [end for readings in found for one in readings if one.dash for end in set(one.ends or ())]
        values, numbers_of = np.unique(ends, return_counts=True)
        shared = values[numbers_of > 1]
        if not len(shared):
            return found
        return [
            [self._settled(one, seen, shared) if one.dash else one for one in readings]
            for seen, readings in zip(held, found, strict=True)
        ]

    def _settled(self, reading: Reading, seen: _Seen, shared: Floats) -> Reading:
        """Leave shared ends out that no record with this text had."""
        if self._domain.positions is None:
            return reading
        doubtful = np.intersect1d(shared, reading.ends or ())
        own = ~np.isin(self._domain.positions[reading.codes], doubtful) | np.isin(reading.codes, seen.codes)
        return replace(reading, codes=reading.codes[own])

    def _placed(self, seen: _Seen, readings: Sequence[Reading], steady: NDArray[np.bool_]) -> Ints | int:
        """Return the node of a text, or one for each value that its records had."""
        fitting = [one for one in readings if seen.inside(one.codes).all()]
        if fitting:
            best = min(fitting, key=lambda one: len(one.codes))
            return self._add(seen.text, best.codes, best)
        if self._is_middle(seen):
            return self._add(seen.text, seen.codes)
        sets = [one for one in readings if not one.exact]
        if sets:
            return self._widened(seen, sets)
        beginning = self._meanings.beginning(self._texts[seen.text])
        if beginning is not None and seen.inside(beginning.codes).all():
            return self._add(seen.text, beginning.codes, beginning)
        exact = self._exact[seen.text]
        merged = exact in seen.codes and steady[seen.codes].all()  # a value that always takes in certain others
        if np.isnan(self.numbers[seen.text]) and (exact < 0 or merged):
            self._note(UNREAD, seen.text, int(seen.counts.sum()))
            return self._add(seen.text, seen.codes)
        self._note(UNTRUE, seen.text, int(seen.counts[seen.codes != exact].sum()))
        return np.where(seen.codes == exact, exact, self._changed)

    def _widened(self, seen: _Seen, sets: Sequence[Reading]) -> int:
        """Take the reading that most records agree with, and add what the others had."""
        best = max(sets, key=lambda one: int(seen.counts[seen.inside(one.codes)].sum()))
        self._note(OUTSIDE, seen.text, int(seen.counts[~seen.inside(best.codes)].sum()))
        return self._add(seen.text, np.union1d(best.codes, seen.codes), replace(best, leaves=None, level=None))

    def _is_middle(self, seen: _Seen) -> bool:
        """Tell whether a number is the mean, the median or the middle of what its records had, as it is rounded."""
        number = self.numbers[seen.text]
        if np.isnan(number) or len(seen.codes) < 2 or self._domain.positions is None:
            return False
        values = self._domain.positions[seen.codes]
        share = np.cumsum(seen.counts) / seen.counts.sum()
        halves = [values[min(int(np.searchsorted(share, 0.5, side)), len(values) - 1)] for side in ("left", "right")]
        middles = (np.average(values, weights=seen.counts), np.mean(halves), (values.min() + values.max()) / 2)
        decimals = len(self._texts[seen.text].partition(".")[2])
        near = 0.5 * 10.0**-decimals + 1e-12 * abs(number)
        return any(abs(middle - number) <= near for middle in middles)

    def _add(self, text: int, codes: NDArray[np.uint32], reading: Reading | None = None) -> int:
        if reading is not None and reading.exact:
            return int(codes[0])
        read = reading or Reading(codes)
        self.nodes.append(Node(self._texts[text], Fate.COARSER, codes, read.leaves, read.ends, read.level))
        return self._domain.codes + len(self.nodes) - 1

    def _note(self, says: str, text: int, records: int) -> None:
        self._notes.setdefault(says, []).append((text, records))
