"""Meaning: which original values a released text may stand for.

A text can often be read in several ways; each reading is a set of codes. Which one is meant is decided by what the
records were (see :mod:`shoal.recoding.placing`), or else the first one counts.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchy.labels import Range, read_range
from shoal.recoding.nodes import Domain
from shoal.table.column import SUPPRESSED, as_text
from shoal.table.kind import Kind

Codes: TypeAlias = NDArray[np.uint32]

_PERIOD = re.compile(r"(\d{4})(?:-(?:Q([1-4])|(\d{2})(?:-(\d{2}))?))?")
_YEARS = re.compile(r"(\d{4})\s*[-–]\s*(\d{4})")
_SIDE = re.compile(r"(<=?|≤|>=?|≥|before|after)\s*(\d{4})|(\d{4})\+")
_SET = re.compile(r"\{(.*)\}", re.DOTALL)
_CROSSED = re.compile(r"([^*]*[\d.-])(x+|X+|#+)")
_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """One way to read a text: the codes it stands for, ascending.

    ``exact``: it is the value itself. ``ends``: the interval that it states. ``dash``: only its neighbours tell whether
    its ends are in it, as in 20-30. ``leaves``, ``level``: of a node of the hierarchy.
    """

    codes: Codes
    exact: bool = False
    ends: tuple[float, float] | None = None
    dash: bool = False
    leaves: int | None = None
    level: int | None = None


@dataclass(frozen=True, eq=False)
class Meanings:
    """Reads texts with regard to one column.

    >>> import shoal
    >>> meanings = Meanings(Domain.of(shoal.read({"age": [19, 20, 24, 30, 41]})["age"]))
    >>> [[one.codes.tolist() for one in meanings.of(text)] for text in ("20-29", "[20, 41[", ">=30", "2*", "{19, 41}")]
    [[[1, 2]], [[1, 2, 3]], [[3, 4]], [[1, 2]], [[0, 4]]]
    """

    domain: Domain

    def of(self, text: str, exact: int = -1) -> list[Reading]:
        """Return all readings that hold any code; ``exact``: the code that is written just so."""
        found = [Reading(np.array([exact], np.uint32), exact=True)] if exact >= 0 else []
        found += self._nodes(text)
        found += self._intervals(text)
        found += self._periods(text)
        found += self._masks(text)
        found += self._sets(text)
        return [one for one in found if len(one.codes)]

    def beginning(self, text: str) -> Reading | None:
        """Read a text as the beginning of values, where these are text: E11 for E11.65."""
        codes = self._starting(text) if self.domain.column.kind is Kind.TEXT else []
        return Reading(np.array(codes, np.uint32)) if len(codes) else None

    def _starting(self, stem: str) -> Sequence[int]:
        """Return the codes whose text starts with a stem; texts are in order, so these are neighbours."""
        if self.domain.column.kind is not Kind.TEXT:
            return [code for code, text in enumerate(self._texts) if text.startswith(stem)]
        return range(bisect_left(self._texts, stem), bisect_left(self._texts, stem + chr(0x10FFFF)))

    @cached_property
    def _texts(self) -> list[str]:
        """The values as people write them: whole numbers without decimals."""
        texts = as_text(self.domain.column.values).to_pylist()
        return [text.removesuffix(".0") for text in texts] if self.domain.column.kind is Kind.NUMBER else texts

    @cached_property
    def _codes_of_text(self) -> dict[str, int]:
        return {text: code for code, text in enumerate(self._texts)}

    def _nodes(self, text: str) -> Iterator[Reading]:
        """Look the text up on every level of the hierarchy."""
        ladder = self.domain.hierarchy
        for level, rung in enumerate(ladder.levels if ladder is not None else ()):
            if text in rung.labels and ladder is not None:
                node = rung.labels.index(text)
                codes = np.flatnonzero(ladder.nodes(level) == node).astype(np.uint32)
                yield Reading(codes, leaves=int(rung.leaf_counts()[node]), level=level)

    def _intervals(self, text: str) -> Iterator[Reading]:
        if self.domain.positions is None or not self.domain.column.kind.numeric:
            return
        stated = read_range(text)
        if stated is not None:
            low, high = self._stated(stated)
            codes = self._between(low, high, stated.low_closed, stated.high_closed)
            yield Reading(codes, ends=self._inside(stated, low, high), dash=stated.dash)

    def _stated(self, stated: Range) -> tuple[float, float]:
        """Return the ends of an interval; where it has none, those of the data."""
        least, most = self.domain.ends
        low = least if stated.low is None else float(stated.low)
        return low, most if stated.high is None else float(stated.high)

    def _inside(self, stated: Range, low: float, high: float) -> tuple[float, float]:
        """Return the least and the greatest number in an interval; among whole numbers [20, 30) ends with 29."""
        whole = self.domain.column.kind is Kind.INTEGER
        if whole and not stated.low_closed:
            low = np.floor(low) + 1
        if whole and not stated.high_closed:
            high = np.ceil(high) - 1
        return (low, high) if low <= high else (high, low)

    def _periods(self, text: str) -> Iterator[Reading]:
        """Read dates that were cut, and intervals of years."""
        if self.domain.column.kind not in {Kind.DATE, Kind.DATETIME}:
            return
        text = text.strip()
        if match := _PERIOD.fullmatch(text):
            yield from self._period(*match.groups())
        if match := _YEARS.fullmatch(text):
            yield self._span(_day(int(match[1]), 1), _day(int(match[2]) + 1, 1))
        if match := _SIDE.fullmatch(text):
            yield self._side(match[1] or "≥", int(match[2] or match[3]))

    def _period(self, year: str, quarter: str | None, month: str | None, day: str | None) -> Iterator[Reading]:
        first = 3 * int(quarter) - 2 if quarter else int(month or 1)
        if not 1 <= first <= 12:
            return
        months = 3 if quarter else 1 if month else 12
        begin = _day(int(year), first)
        if day is None:
            end = first + months
            yield self._span(begin, _day(int(year) + (end > 12), end - 12 * (end > 12)))
        elif begin + int(day) <= _day(int(year) + (first == 12), first % 12 + 1):
            yield self._span(begin + int(day) - 1, begin + int(day))

    def _side(self, sign: str, year: int) -> Reading:
        """Read "before 1950", "> 2019" and the like; whole years are meant."""
        begin, end = _day(year, 1), _day(year + 1, 1)
        if sign in {"<", "before"}:
            return self._span(-np.inf, begin)
        if sign in {"<=", "≤"}:
            return self._span(-np.inf, end)
        return self._span(end if sign in {">", "after"} else begin, np.inf)

    def _span(self, begin: float, end: float) -> Reading:
        least, most = self.domain.ends
        last = end - 1 if self.domain.column.kind is Kind.DATE else end
        codes = self._between(begin, end, low_closed=True, high_closed=False)
        return Reading(codes, ends=(max(begin, least), min(last, most)))

    def _between(self, low: float, high: float, low_closed: bool, high_closed: bool) -> Codes:
        places = self.domain.positions
        if places is None:
            return np.zeros(0, np.uint32)
        above = places >= low if low_closed else places > low
        below = places <= high if high_closed else places < high
        return np.flatnonzero(above & below).astype(np.uint32)

    def _masks(self, text: str) -> Iterator[Reading]:
        """Read * as one character each; then, at the end of a text, as any characters. 35xx is read as 35**."""
        if match := _CROSSED.fullmatch(text):
            text = match[1] + SUPPRESSED * len(match[2])
        if SUPPRESSED not in text or not text.strip(SUPPRESSED):
            return
        stem, rest = text[: text.index(SUPPRESSED)], text[text.index(SUPPRESSED) :]
        pattern = re.compile("".join("." if sign == SUPPRESSED else re.escape(sign) for sign in text), re.DOTALL)
        codes = self._starting(stem)
        fitting = [code for code in codes if pattern.fullmatch(self._texts[code])]
        yield Reading(np.array(fitting, np.uint32))
        if not rest.strip(SUPPRESSED) and len(fitting) < len(codes):
            yield Reading(np.array(codes, np.uint32))

    def _sets(self, text: str) -> Iterator[Reading]:
        """Read {a, b}: the values that it names, as far as the data hold them."""
        match = _SET.fullmatch(text.strip())
        if match is None:
            return
        for separator in (",", ";", "|"):
            named = [part.strip().strip("'\"") for part in match[1].split(separator)]
            codes = [self._codes_of_text[name] for name in named if name in self._codes_of_text]
            if codes:
                yield Reading(np.array(sorted(set(codes)), np.uint32))


def _day(year: int, month: int) -> float:
    """Return the first day of a month, counted from 1970; years may be beyond what dates can be."""
    if not 1 <= year <= 9999:
        return np.inf if year > 9999 else -np.inf
    return float((date(year, month, 1) - _EPOCH).days)
