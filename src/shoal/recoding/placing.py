"""Placing: the set of values for every released cell, determined from its text and the original values of its records.

The narrowest reading of a text that contains all original values of its records counts. A text that cannot be
interpreted stands for exactly these values. A cell that shows another value, or a set without its value, is changed: it
contains no true information. All these cases are reported.
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

UNREAD = (
    "labels that are neither original values nor in a hierarchy, interpreted as the original values of their records"
)
UNKNOWN = "labels that are neither original values nor in a hierarchy, counted as suppressed"
UNTRUE = "values that contradict the original, counted as suppressed"
MERGED = "values that represent several original values"
WIDENED = "intervals or sets that do not contain all values of their records; they were extended"
AVERAGED = "means, medians or midpoints of the original values"
ROUNDED = "rounded values"
_LISTED = {UNREAD, UNKNOWN, WIDENED}  # texts of other remarks may be original values, which must not be disclosed


@dataclass(frozen=True, slots=True)
class Remark:
    """A remark for the owner on the texts of a released column.

    ``says``: the description. ``records``: the number of records concerned. ``texts``: the texts concerned, unless they
    may be original values. ``counts``: the number of records with each of these texts.
    """

    column: str
    says: str
    texts: tuple[str, ...]
    counts: tuple[int, ...]
    records: int


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """A column with its interpreted cells, and the remarks on it."""

    recoded: Recoded
    remarks: tuple[Remark, ...]


def place(  # noqa: PLR0913, PLR0917 - the column before and after
    domain: Domain,
    release: Column,
    codes: Codes | None,
    shown: Codes,
    counts: Ints,
    original: Ints,
    *,
    persons: Floats | None = None,
    represented: bool = False,
) -> Placed:
    """Determine the set of values for each cell of a column.

    ``codes``: the original code of each row; None if unknown. ``shown``: the released code of each row; the number of
    codes of the release stands for records that are not released. ``counts``: the number of records of each row.
    ``original``: the number of records with each original code. ``persons``: the number of persons of each row, if
    records are not persons: a released number may be the mean of either. ``represented``: whether the policy states
    that the column shows representative values.
    """
    placer = _Placer(domain, release, represented=represented)
    rows = placer.by_text(shown, counts) if codes is None else placer.by_records(codes, shown, counts, persons)
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
    """The original codes of the records with one text, ascending, and the number of records with each code."""

    text: int
    codes: NDArray[np.uint32]
    counts: Ints

    def inside(self, codes: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """Return whether each original code is in a set."""
        if not len(codes):
            return np.zeros(len(self.codes), bool)
        if codes[-1] - codes[0] + 1 == len(codes):  # consecutive codes
            return np.asarray((self.codes >= codes[0]) & (self.codes <= codes[-1]), bool)
        return np.isin(self.codes, codes, kind="sort")


class _Placer:
    """Collector of the nodes of one column.

    After the single codes come the nodes for suppressed cells, for changed cells, and for sets.
    """

    def __init__(self, domain: Domain, release: Column, *, represented: bool) -> None:
        self._domain, self._represented = domain, represented
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

    def by_records(self, codes: Codes, shown: Codes, counts: Ints, persons: Floats | None) -> Ints:
        """Return the node of each row, given its original code."""
        pairs = group(codes.astype(np.uint64) * np.uint64(self._width) + shown, self._domain.codes * self._width)
        was, text = codes[pairs.first].astype(np.int64), shown[pairs.first].astype(np.int64)
        number = summed(pairs.ids, counts, len(pairs))
        at = np.where(self.same[text] == was, was, -1)
        blank = self._blank()
        at[(at < 0) & blank[text]] = self._suppressed
        weights = [number, *([] if persons is None else [np.bincount(pairs.ids, persons, len(pairs))])]
        self._look_at_numbers(was, text, weights, at)
        self._place_texts(was, text, number, at, blank[text])
        self.pairs = Pairs(was, at, number)
        return at[pairs.ids]

    def by_text(self, shown: Codes, counts: Ints) -> Ints:
        """Return the node of each row from its text alone: the first reading counts."""
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
        """Return the remarks on the column."""
        return [self._remark(says, noted) for says, noted in self._notes.items()]

    def _remark(self, says: str, noted: Sequence[tuple[int, int]]) -> Remark:
        """Return a remark. Texts that may be original values, and numbers that are treated as noise, are not listed."""
        named = [(self._texts[text], records) for text, records in noted if text >= 0 and self._is_named(says, text)]
        texts, counts = zip(*named, strict=True) if named else ((), ())
        return Remark(self._domain.column.name, says, texts, counts, sum(records for _, records in noted))

    def _is_named(self, says: str, text: int) -> bool:
        return says in _LISTED or (says == UNTRUE and self.same[text] < 0)

    def _read_numbers(self, release: Column) -> Floats:
        """Return the texts as numbers or days, if the column contains numbers or dates; NaN otherwise."""
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
        """Return whether each text shows nothing: missing, suppressed, only *, empty, or not released."""
        blank = np.ones(self._width, bool)
        blank[: len(self._texts)] = [not text.strip(SUPPRESSED) for text in self._texts]
        return blank

    def _look_at_numbers(self, was: Ints, text: Ints, weights: Sequence[Ints | Floats], at: Ints) -> None:
        """Detect means, rounded values, and top or bottom coding.

        ``weights``: the number of records, and if known the number of persons, with each pair. If nothing is detected,
        and there is no hierarchy, a number that is shown for only one original value, and differs from it, is untrue.
        """
        if self._represented:
            return
        number = weights[0].astype(np.int64)
        shown = ShownNumbers.of(self._domain, was, text, number, self.numbers, self.same)
        self._rounding = rounded(self._domain, shown, self._texts)
        self._cut_off = cut_off(shown)
        own = max((len(text.partition(".")[2].rstrip("0")) for text in self._meanings.texts), default=0)
        self._averaged = (self._rounding is None and not self._cut_off) and any(
            averaged(ShownNumbers.of(self._domain, was, text, weight, self.numbers, self.same), self._texts, own)
            for weight in weights
        )
        if self._rounding is not None or self._averaged or self._cut_off or self._domain.hierarchy is not None:
            return
        alone = np.bincount(text, minlength=self._width) == 1
        noisy = np.flatnonzero((at < 0) & alone[text] & ~np.isnan(self.numbers[text]))
        at[noisy] = self._changed
        if len(noisy):
            self._note(UNTRUE, -1, int(number[noisy].sum()))

    def _place_texts(self, was: Ints, text: Ints, number: Ints, at: Ints, blank: NDArray[np.bool_]) -> None:
        """Determine the nodes of the remaining texts, one by one."""
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
        """Return whether original values were merged.

        Each value that represents others must also represent itself, and all these values must always be shown as it.
        """
        place = self.same[text]
        foreign = (place >= 0) & (place != was)
        taking = np.isin(text, text[foreign])
        return bool(np.isin(text[foreign], text[place == was]).all() and steady[was[taking]].all())

    def _readings(self, seen_texts: Sequence[_Seen]) -> list[list[TextReading]]:
        """Return the readings of each text.

        If two intervals share an end, as in 20-30 and 30-40, the original values determine the interval that contains
        it.
        """
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
        """Remove shared ends that are not the original value of any record with this text."""
        if self._domain.positions is None:
            return reading
        doubtful = np.intersect1d(shared, reading.ends or ())
        own = ~np.isin(self._domain.positions[reading.codes], doubtful) | np.isin(reading.codes, seen.codes)
        return replace(reading, codes=reading.codes[own])

    def _placed(
        self, seen: _Seen, readings: Sequence[TextReading], steady: NDArray[np.bool_], others: Ints
    ) -> Ints | int:
        """Return the node of a text, or one node for each original value of its records."""
        if self._represented:
            self._note(AVERAGED, seen.text, int(seen.counts.sum()))
            return self._where_true(seen, TextReading(seen.codes[seen.codes < len(self._domain.column.values)]))
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
        """Return the reading of a number as a rounded value or a mean, if the whole column contains such numbers."""
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
            return TextReading(np.zeros(0, np.uint32))  # outside the range of its values, so not their mean
        self._note(AVERAGED, seen.text, int(seen.counts.sum()))
        return TextReading(values)

    def _as_beginning(self, seen: _Seen, readings: Sequence[TextReading]) -> list[TextReading]:
        """Return the reading of a text as the prefix of values, if it has no other reading."""
        beginning = None if readings else self._meanings.beginning(self._texts[seen.text])
        return [] if beginning is None else [beginning]

    def _value(self, seen: _Seen) -> Ints | int:
        """Place a text that is a single value.

        It is true for records with this value and untrue for others, unless values were merged or cut off.
        """
        if self._cut_off or (self._merging and np.isnan(self.numbers[seen.text])):
            self._note(MERGED, seen.text, int(seen.counts.sum()))
            return self._add(seen.text, TextReading(seen.codes))
        place = int(self.same[seen.text])
        self._note(UNTRUE, seen.text, int(seen.counts[seen.codes != place].sum()))
        return np.where(seen.codes == place, place, self._changed)

    def _set(self, seen: _Seen, sets: Sequence[TextReading], steady: NDArray[np.bool_], others: Ints) -> Ints | int:
        """Place a text whose set does not contain all original values of its records.

        Values outside the set are added to it if they always show this text, occur more than once, and no other value
        lies between: the label is wrong. Otherwise the text is untrue for them.
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
        """Assign the set to original values that it contains; for others the text is untrue."""
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
