"""Cells: the sets of original values that the cells of a released column cover."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchy.hierarchy import Hierarchy
from shoal.kernels.covering import Sets
from shoal.kernels.ranges import expanded
from shoal.recoding.meaning import Meanings, TextReading
from shoal.recoding.nodes import Domain, Floats
from shoal.recoding.values import same_values
from shoal.table.column import SUPPRESSED, Column
from shoal.table.scale import scale
from shoal.table.table import Table
from shoal.table.united import United

Codes = NDArray[np.unsignedinteger[Any]]
_MOST_MEMBERS = 1 << 25  # of all sets together; beyond it, the tolerance is reduced


@dataclass(frozen=True, eq=False)
class Cells:
    """A released column: the released code ``code`` stands for the set ``nodes[code]`` of values.

    Set s contains ``members[starts[s] : starts[s + 1]]``: codes of ``column``, which contains the values of all tables,
    whether they occur in the original or not. ``codes``: the released code of each released record. ``low[code]``,
    ``high[code]``: the numeric bounds of a released code; NaN where none are stated. ``labels``: whether cells are sets
    that contain the true value, rather than values that may have been changed. ``unread``: the number of released
    records with a text that could not be interpreted. ``anything``: the set of all values. ``missing``: the released
    code of an empty cell, if there is one.
    """

    column: Column
    nodes: NDArray[np.uint32]
    starts: NDArray[np.int64]
    members: NDArray[np.uint32]
    codes: Codes
    low: Floats
    high: Floats
    labels: bool
    anything: int
    missing: int | None
    unread: int = 0

    @classmethod
    def of(
        cls,
        united: United,
        original: Table,
        release: Table,
        name: str,
        hierarchies: Mapping[str, Hierarchy],
    ) -> "Cells":
        """Interpret a column of a release as values, or as labels if it contains labels."""
        codes, blank = release.codes(name), _is_blanked(name, original, release)
        if not is_plain(name, original, release):
            ladder = hierarchies.get(name)
            return cls.written(united, original[name], release[name], codes, ladder, missing_says_nothing=blank)
        places = united.placed(release[name])
        return cls.plain(united.column, places, release[name], codes, missing_says_nothing=blank)

    @classmethod
    def plain(
        cls, column: Column, places: Codes, release: Column, codes: Codes, *, missing_says_nothing: bool
    ) -> "Cells":
        """Interpret cells as single values; suppressed cells stand for all values.

        ``places``: the code in ``column`` of each released code. ``missing_says_nothing``: whether empty cells are
        suppressed.
        """
        nodes = places.astype(np.uint32)
        every = np.arange(column.size, dtype=np.uint32)
        if release.suppressed_code is not None:
            nodes[release.suppressed_code] = column.size
        if release.missing_code is not None and missing_says_nothing:
            nodes[release.missing_code] = column.size
        known = scale(release)
        numbers = np.full(release.size, np.nan) if known is None else known
        starts = np.append(np.arange(column.size + 1), 2 * column.size)
        members, missing = np.concatenate([every, every]), release.missing_code
        return cls(column, nodes, starts, members, codes, numbers, numbers, False, column.size, missing)

    @classmethod
    def written(  # noqa: PLR0913 - two columns, and how to read them
        cls,
        united: United,
        original: Column,
        release: Column,
        codes: Codes,
        hierarchy: Hierarchy | None,
        *,
        missing_says_nothing: bool = False,
    ) -> "Cells":
        """Interpret every text by its widest reading; texts that cannot be interpreted stand for all values.

        A text without another reading is interpreted as the prefix of values, such as E11 for E11.65. This applies only
        if every text of the column has a reading; otherwise the text is a word that happens to be a prefix.

        >>> import shoal
        >>> before, after = shoal.read({"age": [31, 34, 71]})["age"], shoal.read({"age": ["30-39", "71", "*"]})
        >>> cells = Cells.written(United.of([before]), before, after["age"], after.codes("age"), None)
        >>> [cells.values_of(code).tolist() for code in range(3)], cells.numbers.tolist()
        ([[0, 1, 2], [0, 1], [2]], [nan, 34.5, 71.0])
        """
        reader = _Reader.of(united, original, release, hierarchy, missing_says_nothing=missing_says_nothing)
        every = np.arange(united.column.size, dtype=np.uint32)
        sets, nodes = [every], np.zeros(release.size, np.uint32)  # set 0 contains all values
        ends, unread = np.full((release.size, 2), np.nan), np.zeros(release.size, bool)
        texts = release.labels().to_pylist()
        begins = all(reader.begins(text, code) for code, text in enumerate(texts))
        for code, text in enumerate(texts):
            reading = reader.widest(text, code, begins=begins)
            if reading is None:
                unread[code] = bool(text) and bool(text.strip(SUPPRESSED))
                continue
            nodes[code] = len(sets)
            sets.append(reader.values(text, reading))
            ends[code] = reader.ends(reading)
        starts = np.concatenate([[0], np.cumsum([len(members) for members in sets])])
        return cls(
            united.column,
            nodes,
            starts,
            np.concatenate(sets),
            codes,
            ends[:, 0],
            ends[:, 1],
            labels=True,
            anything=0,
            missing=release.missing_code,
            unread=int(np.count_nonzero(unread[codes])),
        )

    def guessing(self) -> "Cells":
        """Return the cells as read by an adversary with external knowledge: an empty cell may be any value."""
        if self.missing is None:
            return self
        nodes = self.nodes.copy()
        nodes[self.missing] = self.anything
        return replace(self, nodes=nodes)

    def within(self, tolerance: float) -> "Cells":
        """Return the cells as read by an adversary who expects perturbed numbers: each stands for all numbers nearby.

        ``tolerance``: the greatest distance, in standard deviations of the values. Cells with labels do not change.

        >>> import shoal
        >>> before, after = shoal.read({"age": [31, 34, 71]}), shoal.read({"age": [30, 33, 71]})
        >>> cells = Cells.of(United.of([before["age"], after["age"]]), before, after, "age", {})
        >>> [len(cells.within(0.1).values_of(code)) for code in range(3)]
        [2, 2, 1]
        """
        places = None if self.labels else scale(self.column)
        known = 0 if places is None else int(np.count_nonzero(~np.isnan(places)))
        if places is None or not known or not tolerance:
            return self
        ascending, near = places[:known], tolerance * float(places[:known].std())
        while True:
            first, last = (np.searchsorted(ascending, ascending + step, side) for step, side in _sides(near))
            if (last - first).sum() <= _MOST_MEMBERS:
                break
            near /= 2
        others = np.arange(known, self.column.size)
        numbers = expanded(first, last - first)[1]
        members = np.concatenate([numbers, others, np.arange(self.column.size)]).astype(np.uint32)
        sizes = np.concatenate([last - first, np.ones(len(others), np.int64), [self.column.size]])
        return replace(self, starts=np.concatenate([[0], np.cumsum(sizes)]), members=members)

    @property
    def numbers(self) -> Floats:
        """The numeric value of each released code: the midpoint of its interval, NaN without one."""
        return np.asarray((self.low + self.high) / 2)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of values in each set."""
        return np.diff(self.starts)

    @property
    def are_values(self) -> bool:
        """Whether every released cell shows a single value, or is empty."""
        used = np.flatnonzero(np.bincount(self.codes, minlength=len(self.nodes)))
        single = self.sizes[self.nodes[used]] == 1
        return bool((single | (used == (-1 if self.missing is None else self.missing))).all())

    def values_at(self, records: NDArray[np.intp]) -> NDArray[np.int64]:
        """Return the value that each of some released records shows; −1 if it does not show a single one."""
        nodes = self.nodes[self.codes[records]]
        return np.where(self.sizes[nodes] == 1, self.members[self.starts[nodes]].astype(np.int64), -1)

    def values_of(self, code: int) -> NDArray[np.uint32]:
        """Return the values that a released code may stand for."""
        node = self.nodes[code]
        return self.members[self.starts[node] : self.starts[node + 1]]

    def holds(self, released: Codes, values: Codes) -> NDArray[np.bool_]:
        """Return whether each released code may stand for the corresponding value."""
        return self.contain(self.nodes[released], values)

    def contain(self, nodes: NDArray[np.integer[Any]], values: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
        """Return whether each set contains the corresponding value."""
        sought = nodes.astype(np.int64) * self.column.size + values
        at = np.minimum(np.searchsorted(self._pairs, sought), len(self._pairs) - 1)
        return np.asarray(self._pairs[at] == sought)

    @cached_property
    def _pairs(self) -> NDArray[np.int64]:
        """All pairs of a set and a value that it contains, as ascending numbers."""
        owner = np.repeat(np.arange(len(self.starts) - 1), self.sizes)
        pairs = owner * self.column.size + self.members
        return pairs if bool((pairs[1:] > pairs[:-1]).all()) else np.unique(pairs)

    def sets(self, codes: Codes) -> Sets:
        """Return the sets shown by rows with the given released codes."""
        return Sets(self.nodes[codes], self.starts, self.members, self.column.size)

    def spread(self, weights: Floats) -> Floats:
        """Distribute the weight of each set equally over its values; return the weight of each value."""
        owner = np.repeat(np.arange(len(self.sizes)), self.sizes)
        shares = weights / np.maximum(self.sizes, 1)
        return np.bincount(self.members, shares[owner], self.column.size).astype(np.float64)

    def shares(self, values: Codes) -> Floats:
        """Return the share of the given values that each set contains."""
        counts = np.bincount(values, minlength=self.column.size)[: self.column.size]
        sums = np.concatenate([[0], np.cumsum(counts[self.members])])
        return np.asarray((sums[self.starts[1:]] - sums[self.starts[:-1]]) / max(len(values), 1))


def _sides(near: float) -> tuple[tuple[float, Literal["left"]], tuple[float, Literal["right"]]]:
    """Return the steps to both ends of an interval, with the side from which they are searched."""
    return (-near, "left"), (near, "right")


@dataclass(frozen=True, slots=True, eq=False)
class _Reader:
    """Interpreter of the texts of a released column.

    ``same``: the original code with the same value as each text, −1 if there is none. ``stated``: the readings with
    regard to the values of all tables. ``places``: the united code of each original code. ``strange``: the united codes
    of values that the original does not contain. ``values_only``: whether every text is a value of the original.
    """

    domain: Domain
    meanings: Meanings
    stated: Meanings
    same: NDArray[np.int64]
    places: NDArray[np.uint32]
    strange: NDArray[np.uint32]
    values_only: bool
    missing_says_nothing: bool

    @classmethod
    def of(
        cls,
        united: United,
        original: Column,
        release: Column,
        hierarchy: Hierarchy | None,
        *,
        missing_says_nothing: bool,
    ) -> "_Reader":
        domain, places = Domain.of(original, hierarchy), united.places[0].astype(np.uint32)
        same = same_values(original, release)
        telling = np.array([bool(text) and bool(text.strip(SUPPRESSED)) for text in release.labels().to_pylist()])
        return cls(
            domain,
            Meanings(domain),
            Meanings(Domain.of(united.column)),
            same,
            places,
            np.setdiff1d(np.arange(united.column.size, dtype=np.uint32), places),
            bool((same[telling] >= 0).all()),
            missing_says_nothing,
        )

    def begins(self, text: str | None, code: int) -> bool:
        """Return whether a text can be interpreted, if necessary as the prefix of values."""
        telling = bool(text) and bool(text.strip(SUPPRESSED)) if text is not None else False
        if not telling or text is None or self.same[code] >= 0 or self.values_only:
            return True
        return self.meanings.beginning(text) is not None or bool(self.meanings.of(text))

    def widest(self, text: str | None, code: int, *, begins: bool) -> TextReading | None:
        """Return the most conservative reading of a text, which covers most values; None if there is none.

        If every text of a column is a value of the original, each text stands for this value only.
        """
        exact = int(self.same[code])
        itself = TextReading(np.array([exact], np.uint32), exact=True) if exact >= 0 else None
        if text is None:
            return None if self.missing_says_nothing else itself
        if not text.strip(SUPPRESSED):
            return None
        if self.values_only:
            return itself
        beginning = self.meanings.beginning(text) if begins and exact < 0 else None
        readings = [*self.meanings.of(text, exact), *([] if beginning is None else [beginning])]
        return max(readings, key=lambda reading: len(reading.codes), default=None)

    def values(self, text: str | None, reading: TextReading) -> NDArray[np.uint32]:
        """Return the values of all tables that a text may stand for, whether they occur in the original or not."""
        mine = self.places[reading.codes]
        if reading.exact or not len(self.strange) or text is None:
            return np.sort(mine)
        strange = [np.intersect1d(reading.codes, self.strange) for reading in self.stated.of(text)]
        more = max(strange, key=len, default=self.strange[:0]).astype(np.uint32)
        return np.sort(np.concatenate([mine, more]))

    def ends(self, reading: TextReading) -> tuple[float, float]:
        """Return the numeric bounds of a reading."""
        if self.domain.positions is None:
            return np.nan, np.nan
        if reading.ends is not None:
            return reading.ends
        known = self.domain.positions[reading.codes]
        known = known[~np.isnan(known)]
        return (float(known.min()), float(known.max())) if len(known) else (np.nan, np.nan)


def united(name: str, original: Table, others: Sequence[Table], releases: Sequence[Table]) -> United:
    """Unite a column of the original, of the other tables, and of the releases that contain values rather than labels.

    Other tables may lack the column.
    """
    columns = [original[name], *(other[name] if name in other else _empty(original[name]) for other in others)]
    return United.of([*columns, *(release[name] for release in releases if is_plain(name, original, release))])


def is_plain(name: str, original: Table, release: Table) -> bool:
    """Return whether a released column contains values rather than labels.

    Its kind must be that of the original, and not text; all numeric kinds count as the same.
    """
    if name not in release or original[name].is_text:
        return False
    both = original[name].kind.numeric and release[name].kind.numeric
    return both or original[name].kind is release[name].kind


def _empty(column: Column) -> Column:
    return Column(column.name, column.kind, column.values[:0])


def _is_blanked(name: str, original: Table, release: Table) -> bool:
    """Return whether cells were left empty to suppress them.

    This is assumed if there are more empty cells than in the original, or if their share is clearly larger.
    """
    before, after = (_missing(table, name) for table in (original, release))
    share = before / max(original.records, 1)
    return after > before or after > (1.5 * share + 0.01) * release.records


def _missing(table: Table, name: str) -> int:
    code = table[name].missing_code
    return 0 if code is None else int(np.count_nonzero(table.codes(name) == code))
