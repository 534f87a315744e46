"""Placing: the set that every released cell stands for, found out from its text and from what its records were.

Of several readings of a text the narrowest counts that holds every value its records had. A text that cannot be read
stands for just these values. A cell that shows another value than it had, or a set without it, is changed: nothing true
is left. All of this is reported.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.grouping import group
from shoal.kernels.summing import summed
from shoal.kernels.translation import Codes, narrowest
from shoal.recoding.meaning import Meanings, TextReading
from shoal.recoding.nodes import Domain, Fate, Floats, Ints, Node, Nodes
from shoal.recoding.numbers import Period, Rounding, ShownNumbers, averaged, cut_off, rounded
from shoal.recoding.recoding import Pairs, Recoded
from shoal.recoding.values import days, numbers, same_values
from shoal.table.column import SUPPRESSED, Column, as_text
from shoal.table.kind import Kind
from shoal.table.scale import scale

UNREAD = "unreadable texts, interpreted as the original values of their records"
UNKNOWN = "unreadable texts, counted as suppressed"
UNTRUE = "values that contradict the original, counted as suppressed"
MERGED = "values that represent several original values"
WIDENED = "intervals or sets that do not contain all values of their records; they were extended"
AVERAGED = "means, medians or midpoints of the original values"
ROUNDED = "rounded values"
_LISTED = {UNREAD, UNKNOWN, WIDENED}  # others may be values, of which nothing is to be seen


@dataclass(frozen=True, slots=True)
class Remark:
    """Something about the texts of a released column that its owner should know.

    ``records``: how many are concerned. ``texts``: which ones, where they are no values; ``counts``: records of each.
    """

    column: str
    says: str
    texts: tuple[str, ...]
    counts: tuple[int, ...]
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
        same=placer.same,
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
        if not len(codes):
            return np.zeros(len(self.codes), bool)
        if codes[-1] - codes[0] + 1 == len(codes):  # neighbours
            return np.asarray((self.codes >= codes[0]) & (self.codes <= codes[-1]), bool)
        return np.isin(self.codes, codes, kind="sort")


class _Placer:
    """Collects the nodes of one column, after those of the single codes: nothing shown, nothing true, and sets."""

    def __init__(self, domain: Domain, release: Column) -> None:
        self._domain = domain
        self._width = release.size + 1
        self._meanings = Meanings(domain)
        self._texts: list[str] = as_text(release.values).to_pylist()
        self._suppressed, self._changed = domain.codes, domain.codes + 1
        self._notes: dict[str, list[tuple[int, int]]] = {}
        self._rounding: Rounding | Period | None = None
        self._averaged = self._cut_off = self._merging = False
        self.same = np.append(same_values(domain.column, release), -1)
        self.numbers = self._read_numbers(release)
        self.pairs: Pairs | None = None
        self.nodes = [Node.everything(domain), Node.everything(domain, Fate.CHANGED)]

    def by_records(self, codes: Codes, shown: Codes, counts: Ints) -> Ints:
        """Return the node of each row, knowing what it was."""
        pairs = group(codes.astype(np.uint64) * np.uint64(self._width) + shown, self._domain.codes * self._width)
        was, text = codes[pairs.first].astype(np.int64), shown[pairs.first].astype(np.int64)
        number = summed(pairs.ids, counts, len(pairs))
        at = np.where(self.same[text] == was, was, -1)
        blank = self._blank()
        at[(at < 0) & blank[text]] = self._suppressed
        self._look_at_numbers(was, text, number, at)
        self._place_texts(was, text, number, at, blank[text])
        self.pairs = Pairs(was, at, number)
        return at[pairs.ids]

    def by_text(self, shown: Codes, counts: Ints) -> Ints:
        """Return the node of each row, from its text alone: the first reading counts."""
        at = self.same.copy()
        at[(at < 0) & self._blank()] = self._suppressed
        records = summed(shown, counts, self._width)
        for text in np.flatnonzero((at < 0) & (records > 0)).tolist():
            beginning = self._meanings.beginning(self._texts[text])
            readings = [*self._meanings.of(self._texts[text]), *([beginning] if beginning is not None else [])]
            readings = [reading for reading in readings if len(reading.codes)]
            at[text] = self._add(text, readings[0]) if readings else self._suppressed
            if not readings:
                self._note(UNKNOWN, text, int(records[text]))
        return at[shown]

    def remarks(self) -> list[Remark]:
        """Return what is to be said."""
        return [self._remark(says, noted) for says, noted in self._notes.items()]

    def _remark(self, says: str, noted: Sequence[tuple[int, int]]) -> Remark:
        """Make a remark. Texts are named unless they are values of the original, or as many as there are records."""
        named = [(self._texts[text], records) for text, records in noted if text >= 0 and self._is_named(says, text)]
        texts, counts = zip(*named, strict=True) if named else ((), ())
        return Remark(self._domain.column.name, says, texts, counts, sum(records for _, records in noted))

    def _is_named(self, says: str, text: int) -> bool:
        return says in _LISTED or (says == UNTRUE and self.same[text] < 0)

    def _read_numbers(self, release: Column) -> Floats:
        """Read the texts as numbers, or as days, where the column holds such; NaN elsewhere."""
        read = np.full(self._width, np.nan)
        if self._domain.column.kind.numeric:
            read[: len(self._texts)] = numbers(as_text(release.values))
        elif {self._domain.column.kind, release.kind} <= {Kind.DATE, Kind.DATETIME}:
            places = scale(release)
            read[: release.size] = np.nan if places is None else places
        elif self._domain.column.kind in {Kind.DATE, Kind.DATETIME}:
            read[: len(self._texts)] = days(as_text(release.values))
        return read

    def _blank(self) -> NDArray[np.bool_]:
        """Tell which texts show nothing: missing, suppressed, nothing but *, empty, or not released."""
        blank = np.ones(self._width, bool)
        blank[: len(self._texts)] = [not text.strip(SUPPRESSED) for text in self._texts]
        return blank

    def _look_at_numbers(self, was: Ints, text: Ints, number: Ints, at: Ints) -> None:
        """Find out whether numbers are means or rounded. If they are not, those are untrue that one value became."""
        shown = ShownNumbers.of(self._domain, was, text, number, self.numbers, self.same)
        self._rounding = rounded(self._domain, shown, self._texts)
        self._cut_off = cut_off(shown)
        own = max((len(text.partition(".")[2].rstrip("0")) for text in self._meanings.texts), default=0)
        self._averaged = self._rounding is None and not self._cut_off and averaged(shown, self._texts, own)
        if self._rounding is not None or self._averaged or self._cut_off or self._domain.hierarchy is not None:
            return
        alone = np.bincount(text, minlength=self._width) == 1
        noisy = np.flatnonzero((at < 0) & alone[text] & ~np.isnan(self.numbers[text]))
        at[noisy] = self._changed
        if len(noisy):
            self._note(UNTRUE, -1, int(number[noisy].sum()))

    def _place_texts(self, was: Ints, text: Ints, number: Ints, at: Ints, blank: NDArray[np.bool_]) -> None:
        """Place text by text what is not placed yet."""
        steady = np.bincount(was[~blank], minlength=self._domain.codes) == 1  # values that always show the same text
        steady[len(self._domain.column.values) :] = False
        self._merging = self._merges(was[~blank], text[~blank], steady)
        order = np.argsort(text, kind="stable")
        unclear = np.unique(text[at < 0])
        cuts = [np.searchsorted(text[order], unclear, side) for side in ("left", "right")]
        spans = [order[start:end] for start, end in zip(*cuts, strict=True)]
        seen_texts = [_Seen(int(text[span[0]]), was[span].astype(np.uint32), number[span]) for span in spans]
        others = np.unique(was[~blank]) if self._domain.column.kind.ordered else np.zeros(0, np.int64)
        for span, seen, readings in zip(spans, seen_texts, self._readings(seen_texts), strict=True):
            at[span] = self._placed(seen, readings, steady, others)

    def _merges(self, was: Ints, text: Ints, steady: NDArray[np.bool_]) -> bool:
        """Tell whether every value that takes in others stays what it was, and these are always the same ones."""
        place = self.same[text]
        foreign = (place >= 0) & (place != was)
        taking = np.isin(text, text[foreign])
        return bool(np.isin(text[foreign], text[place == was]).all() and steady[was[taking]].all())

    def _readings(self, seen_texts: Sequence[_Seen]) -> list[list[TextReading]]:
        """Read texts. Of an end that two intervals share, as in 20-30 and 30-40, the records tell where it belongs."""
        readings_of = [self._meanings.of(self._texts[seen.text], int(self.same[seen.text])) for seen in seen_texts]
        dashed = [
            reading.ends
            for readings in readings_of
            for reading in readings
            if reading.dash and reading.ends is not None
        ]
        shared = np.intersect1d(
            [low for low, high in dashed if low < high], [high for low, high in dashed if low < high]
        )
        if not len(shared):
            return readings_of
        return [
            [self._settled(reading, seen, shared) if reading.dash else reading for reading in readings]
            for seen, readings in zip(seen_texts, readings_of, strict=True)
        ]

    def _settled(self, reading: TextReading, seen: _Seen, shared: Floats) -> TextReading:
        """Leave shared ends out that no record with this text had."""
        if self._domain.positions is None:
            return reading
        doubtful = np.intersect1d(shared, reading.ends or ())
        own = ~np.isin(self._domain.positions[reading.codes], doubtful) | np.isin(reading.codes, seen.codes)
        return replace(reading, codes=reading.codes[own])

    def _placed(
        self, seen: _Seen, readings: Sequence[TextReading], steady: NDArray[np.bool_], others: Ints
    ) -> Ints | int:
        """Return the node of a text, or one for each value that its records had."""
        numbered = self._as_number(seen)
        if numbered is not None:
            return self._where_true(seen, numbered)
        sets = [reading for reading in readings if not reading.exact]
        fitting = [
            reading for reading in (*sets, *self._as_beginning(seen, readings)) if seen.inside(reading.codes).all()
        ]
        if fitting:
            return self._add(seen.text, min(fitting, key=lambda reading: len(reading.codes)))
        if self.same[seen.text] >= 0 or not np.isnan(self.numbers[seen.text]):
            return self._value(seen)
        if sets:
            return self._set(seen, sets, steady, others)
        self._note(UNREAD, seen.text, int(seen.counts.sum()))
        return self._add(seen.text, TextReading(seen.codes))

    def _as_number(self, seen: _Seen) -> TextReading | None:
        """Read a number as what is rounded to it, or as what it is the mean of, if the whole column is like that."""
        number = float(self.numbers[seen.text])
        if np.isnan(number) or not (self._rounding is not None or self._averaged):
            return None
        if self._rounding is not None:
            self._note(ROUNDED, seen.text, int(seen.counts.sum()))
            return self._meanings.interval(*self._rounding.ends(number))
        values = seen.codes[seen.codes < len(self._domain.column.values)]
        places = np.zeros(0) if self._domain.positions is None else self._domain.positions[values]
        near = 0.5 * 10.0 ** -len(self._texts[seen.text].partition(".")[2].rstrip("0"))
        if not len(places) or not places.min() - near <= number <= places.max() + near:
            return TextReading(np.zeros(0, np.uint32))  # nobody's mean
        self._note(AVERAGED, seen.text, int(seen.counts.sum()))
        return TextReading(values)

    def _as_beginning(self, seen: _Seen, readings: Sequence[TextReading]) -> list[TextReading]:
        """Read a text as the beginning of codes, if it says nothing else."""
        beginning = None if readings else self._meanings.beginning(self._texts[seen.text])
        return [] if beginning is None else [beginning]

    def _value(self, seen: _Seen) -> Ints | int:
        """Place a text that is a value: true where records had it, unless it takes in certain others, too."""
        if self._cut_off or (self._merging and np.isnan(self.numbers[seen.text])):
            self._note(MERGED, seen.text, int(seen.counts.sum()))
            return self._add(seen.text, TextReading(seen.codes))
        place = int(self.same[seen.text])
        self._note(UNTRUE, seen.text, int(seen.counts[seen.codes != place].sum()))
        return np.where(seen.codes == place, place, self._changed)

    def _set(self, seen: _Seen, sets: Sequence[TextReading], steady: NDArray[np.bool_], others: Ints) -> Ints | int:
        """Place a text whose set does not hold all values of its records.

        Values beside it that always show it, and more than once, with nothing else between, belong to it: the text is
        wrong. For others it is untrue.
        """
        best = max(sets, key=lambda reading: int(seen.counts[seen.inside(reading.codes)].sum()))
        outside = ~seen.inside(best.codes)
        both = np.union1d(best.codes, seen.codes)
        between = others[(others >= both[0]) & (others <= both[-1])]
        always = steady[seen.codes[outside]].all() and (seen.counts[outside] > 1).all()
        if len(others) and len(best.codes) and always and np.isin(between, both).all():
            self._note(WIDENED, seen.text, int(seen.counts[outside].sum()))
            return self._add(seen.text, TextReading(both))
        return self._where_true(seen, best)

    def _where_true(self, seen: _Seen, reading: TextReading) -> Ints | int:
        """Give a text its set where that holds the value; elsewhere it is untrue."""
        outside = ~seen.inside(reading.codes)
        if outside.any():
            self._note(UNTRUE, seen.text, int(seen.counts[outside].sum()))
        return np.where(outside, self._changed, self._changed if outside.all() else self._add(seen.text, reading))

    def _add(self, text: int, reading: TextReading) -> int:
        self.nodes.append(
            Node(self._texts[text], Fate.COARSER, reading.codes, reading.leaves, reading.ends, reading.level)
        )
        return self._domain.codes + len(self.nodes) - 1

    def _note(self, says: str, text: int, records: int) -> None:
        self._notes.setdefault(says, []).append((text, records))
