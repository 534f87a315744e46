"""Meaning: the original values that a released text may stand for.

Many texts have several readings; each reading is a set of codes. The original values of the records decide between them
(see :mod:`shoal.recoding.placing`). If these are unknown, the first reading counts.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.hierarchy.labels import read_range
from shoal.recoding.nodes import Domain, Floats, interval
from shoal.table.column import SUPPRESSED, Column, as_text
from shoal.table.kind import Kind

ValueCodes: TypeAlias = NDArray[np.uint32]

_PERIOD = re.compile(r"(\d{4})(?:-?Q([1-4])|-(\d{2})(?:-(\d{2}))?)?")
_MONTH = re.compile(r"(\d{2})[/.](\d{4})")
_DECADE = re.compile(r"(\d{3})0s")
_DAYS = re.compile(r"([\[(\]])\s*(\d{4}-\d{2}-\d{2})\s*[,;]\s*(\d{4}-\d{2}-\d{2})\s*([\])\[])")
_YEARS = re.compile(r"(\d{4})\s*[-–]\s*(\d{4})")
_SIDE = re.compile(r"(<=?|≤|>=?|≥|before|after)\s*(\d{4})|(\d{4})\+")
_SET = re.compile(r"\{(.*)\}", re.DOTALL)
_CROSSED = re.compile(r"([^*]*[\d.-])(x+|X+|#+)")
_TELLING = re.compile(r"[\d*{]")  # a text without these characters is a plain word
_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True, slots=True, eq=False)
class TextReading:
    """One reading of a text: the codes that it stands for, ascending.

    ``exact``: whether the text is the value itself. ``ends``: the interval that the text states. ``dash``: whether only
    neighbouring labels determine if the ends are included, as in 20-30. ``leaves``, ``level``: the number of leaves and
    the level of a node of the hierarchy.
    """

    codes: ValueCodes
    exact: bool = False
    ends: tuple[float, float] | None = None
    dash: bool = False
    leaves: int | None = None
    level: int | None = None


@dataclass(frozen=True, eq=False)
class Meanings:
    """Interpreter of released texts with regard to one column.

    >>> import shoal
    >>> meanings = Meanings(Domain.of(shoal.read({"age": [19, 20, 24, 30, 41]})["age"]))
    >>> [[one.codes.tolist() for one in meanings.of(text)] for text in ("20-29", "[20, 41[", ">=30", "2*", "{19, 41}")]
    [[[1, 2]], [[1, 2, 3]], [[3, 4]], [[1, 2]], [[0, 4]]]
    """

    domain: Domain

    def of(self, text: str, exact: int = -1) -> list[TextReading]:
        """Return all readings of a text, including those without values.

        ``exact``: the code with the same value as the text; −1 if there is none.
        """
        readings = [TextReading(np.array([exact], np.uint32), exact=True)] if exact >= 0 else []
        readings += self._nodes(text)
        readings += self._telling(text)
        return readings

    def _telling(self, text: str) -> list[TextReading]:
        """Return the readings of a text by its notation, each with the number of leaves of the hierarchy it covers."""
        if not _TELLING.search(text):
            return []
        ways = (self._intervals, self._periods, self._masks, self._sets)
        readings = [reading for way in ways for reading in way(text)]
        if self._whole is None:
            return readings
        every = self._whole._telling(text)  # noqa: SLF001 - same class, for all leaves
        if len(every) != len(readings):  # other readings: only values of the data can be counted
            return readings
        return [replace(reading, leaves=len(all_.codes)) for reading, all_ in zip(readings, every, strict=True)]

    @cached_property
    def _whole(self) -> "Meanings | None":
        """The interpreter for all leaves of the hierarchy.

        None if the hierarchy contains no values beyond the data, or if the column contains neither numbers nor text.
        """
        ladder = self.domain.hierarchy
        if ladder is None or self.domain.size <= self.domain.codes:
            return None
        labels = pa.array([label for label in ladder.levels[0].labels if label not in {None, SUPPRESSED}], pa.string())
        kind = Kind.NUMBER if self.domain.column.kind.numeric else Kind.TEXT
        if kind is Kind.NUMBER:
            plain = pc.match_substring_regex(labels, r"^-?\d+(\.\d+)?$")
            labels = pc.if_else(plain, labels, None).drop_null().cast(pa.float64())
        elif self.domain.column.kind is not Kind.TEXT:
            return None
        return Meanings(Domain.of(Column(self.domain.column.name, kind, pc.unique(labels).sort())))

    def beginning(self, text: str) -> TextReading | None:
        """Return the reading of a text as the prefix of values in a text column: E11 for E11.65.

        None if no value starts with the text.
        """
        codes = self._starting(text) if self.domain.column.kind is Kind.TEXT else []
        return TextReading(np.array(codes, np.uint32)) if len(codes) else None

    def interval(self, low: float, high: float) -> TextReading:
        """Return the reading for a closed interval of numbers."""
        return TextReading(self._between(low, high, low_closed=True, high_closed=True), ends=(low, high))

    def _starting(self, stem: str) -> Sequence[int]:
        """Return the codes whose text starts with a stem. Texts are sorted, so these are consecutive."""
        texts, codes = self._sorted
        return codes[bisect_left(texts, stem) : bisect_left(texts, stem + chr(0x10FFFF))]

    @cached_property
    def _sorted(self) -> tuple[list[str], Sequence[int]]:
        """The texts in lexicographic order, and their codes. The values of text columns are already in this order."""
        if self.domain.column.kind is Kind.TEXT:
            return self.texts, range(len(self.texts))
        codes = sorted(range(len(self.texts)), key=self.texts.__getitem__)
        return [self.texts[code] for code in codes], codes

    @cached_property
    def texts(self) -> list[str]:
        """The values in usual notation: whole numbers without decimals."""
        texts = as_text(self.domain.column.values).to_pylist()
        return [text.removesuffix(".0") for text in texts] if self.domain.column.kind is Kind.NUMBER else texts

    @cached_property
    def _codes_of_text(self) -> dict[str, int]:
        return {text: code for code, text in enumerate(self.texts)}

    def _nodes(self, text: str) -> Iterator[TextReading]:
        """Yield the nodes of the hierarchy with this label, on every level above the values."""
        for level, node in self._labels.get(text, ()):
            ladder = self.domain.hierarchy
            if ladder is not None:
                codes = np.flatnonzero(ladder.nodes(level) == node).astype(np.uint32)
                yield TextReading(codes, leaves=int(ladder.levels[level].leaf_counts()[node]), level=level)

    @cached_property
    def _labels(self) -> dict[str | None, list[tuple[int, int]]]:
        """The levels and nodes of each label of the hierarchy."""
        labels: dict[str | None, list[tuple[int, int]]] = {}
        for level, rung in enumerate(self.domain.hierarchy.levels if self.domain.hierarchy is not None else ()):
            if level == 0:
                continue  # single values, not sets
            for node, label in enumerate(rung.labels):
                labels.setdefault(label, []).append((level, node))
        return labels

    def _intervals(self, text: str) -> Iterator[TextReading]:
        stated = read_range(text) if self.domain.column.kind.numeric else None
        if stated is not None and (stated.low is None or stated.high is None or stated.low <= stated.high):
            low = -np.inf if stated.low is None else float(stated.low)
            high = np.inf if stated.high is None else float(stated.high)
            codes = self._between(low, high, stated.low_closed, stated.high_closed)
            yield TextReading(codes, ends=interval(self.domain, text), dash=stated.dash)

    def _periods(self, text: str) -> Iterator[TextReading]:
        """Read truncated dates, and intervals of dates or years."""
        if self.domain.column.kind not in {Kind.DATE, Kind.DATETIME}:
            return
        text = text.strip()
        if match := _PERIOD.fullmatch(text):
            yield from self._period(*match.groups())
        if match := _MONTH.fullmatch(text):
            yield from self._period(match[2], None, match[1], None)
        if match := _DECADE.fullmatch(text):
            yield self._span(_day(int(match[1]) * 10, 1), _day(int(match[1]) * 10 + 10, 1))
        if match := _DAYS.fullmatch(text):
            yield from self._days(*match.groups())
        if match := _YEARS.fullmatch(text):
            yield self._span(_day(int(match[1]), 1), _day(int(match[2]) + 1, 1))
        if match := _SIDE.fullmatch(text):
            yield self._side(match[1] or "≥", int(match[2] or match[3]))

    def _period(self, year: str, quarter: str | None, month: str | None, day: str | None) -> Iterator[TextReading]:
        first = 3 * int(quarter) - 2 if quarter else int(month or 1)
        if not 1 <= first <= 12:
            return
        months = 3 if quarter else 1 if month else 12
        begin = _day(int(year), first)
        if day is None:
            end = first + months
            yield self._span(begin, _day(int(year) + (end > 12), end - 12 * (end > 12)))
        elif int(day) and begin + int(day) <= _day(int(year) + (first == 12), first % 12 + 1):
            yield self._span(begin + int(day) - 1, begin + int(day))

    def _days(self, left: str, first: str, last: str, right: str) -> Iterator[TextReading]:
        """Read intervals of dates, such as [1950-01-01, 1960-01-01)."""
        try:
            low, high = (float((date.fromisoformat(day) - _EPOCH).days) for day in (first, last))
        except ValueError:
            return
        yield self._span(low + (left != "["), high + (right == "]"))

    def _side(self, sign: str, year: int) -> TextReading:
        """Read open-ended periods such as "before 1950" or "> 2019". They refer to whole years."""
        begin, end = _day(year, 1), _day(year + 1, 1)
        if sign in {"<", "before"}:
            return self._span(-np.inf, begin)
        if sign in {"<=", "≤"}:
            return self._span(-np.inf, end)
        return self._span(end if sign in {">", "after"} else begin, np.inf)

    def _span(self, begin: float, end: float) -> TextReading:
        least, most = self.domain.ends
        last = end - 1 if self.domain.column.kind is Kind.DATE else end
        codes = self._between(begin, end, low_closed=True, high_closed=False)
        return TextReading(codes, ends=(max(begin, least), min(last, most)))

    def _between(self, low: float, high: float, low_closed: bool, high_closed: bool) -> ValueCodes:
        """Return the codes of an interval. Values are ascending, so these are consecutive."""
        start = np.searchsorted(self._places, low, "left" if low_closed else "right")
        end = np.searchsorted(self._places, high, "right" if high_closed else "left")
        return np.arange(self._first + start, self._first + max(start, end), dtype=np.uint32)

    @cached_property
    def _places(self) -> Floats:
        """The positions of the values on their scale, without values that have none, such as infinite numbers."""
        return np.zeros(0) if self.domain.positions is None else self.domain.positions[~np.isnan(self.domain.positions)]

    @cached_property
    def _first(self) -> int:
        """The code of the first value on the scale. It is not 0 if the values include minus infinity."""
        places = self.domain.positions
        return 0 if places is None or not len(self._places) else int(np.flatnonzero(~np.isnan(places))[0])

    def _masks(self, text: str) -> Iterator[TextReading]:
        """Read each * as one character; at the end of a text, also as any characters. 35xx is read as 35**."""
        if match := _CROSSED.fullmatch(text):
            text = match[1] + SUPPRESSED * len(match[2])
        if SUPPRESSED not in text or not text.strip(SUPPRESSED):
            return
        stem, rest = text[: text.index(SUPPRESSED)], text[text.index(SUPPRESSED) :]
        pattern = re.compile("".join("." if sign == SUPPRESSED else re.escape(sign) for sign in text), re.DOTALL)
        codes = self._starting(stem)
        fitting = [code for code in codes if pattern.fullmatch(self.texts[code])]
        yield TextReading(np.array(sorted(fitting), np.uint32))
        if not rest.strip(SUPPRESSED) and len(fitting) < len(codes):
            yield TextReading(np.array(sorted(codes), np.uint32))

    def _sets(self, text: str) -> Iterator[TextReading]:
        """Read sets such as {a, b}: the named values that occur in the data."""
        match = _SET.fullmatch(text.strip())
        if match is None:
            return
        for separator in (",", ";", "|"):
            named = [part.strip().strip("'\"") for part in match[1].split(separator)]
            if self.domain.column.kind is Kind.NUMBER:
                named = [name.removesuffix(".0") for name in named]
            codes = [self._codes_of_text[name] for name in named if name in self._codes_of_text]
            if codes:
                yield TextReading(np.array(sorted(set(codes)), np.uint32))


def _day(year: int, month: int) -> float:
    """Return the first day of a month in days since 1970; infinite for years that dates cannot represent."""
    if not 1 <= year <= 9999:
        return np.inf if year > 9999 else -np.inf
    return float((date(year, month, 1) - _EPOCH).days)
