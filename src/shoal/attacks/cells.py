"""Cells: what the cells of a released column mean, as an adversary reads them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchy.hierarchy import Hierarchy
from shoal.kernels.covering import Sets
from shoal.recoding.matching import same_values
from shoal.recoding.meaning import Meanings, Reading
from shoal.recoding.nodes import Domain, Floats
from shoal.table.column import SUPPRESSED, Column
from shoal.table.scale import scale
from shoal.table.united import United

Codes = NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """A released column: what is written as ``code`` stands for the set ``nodes[code]`` of values.

    Set s holds ``members[starts[s] : starts[s + 1]]``: values of ``column``, which knows those of everybody, be they in
    the data or not. ``codes``: what each released record has written. ``numbers[code]``: the same as a number, the
    middle of an interval; NaN where there is none.
    """

    column: Column
    nodes: NDArray[np.uint32]
    starts: NDArray[np.int64]
    members: NDArray[np.uint32]
    codes: Codes
    numbers: Floats

    @classmethod
    def plain(cls, united: United, release: Column, codes: Codes) -> "Cells":
        """Take values as they are; the last of the places is that of the release. What is suppressed says nothing."""
        column, nodes = united.column, united.places[-1].astype(np.uint32)
        every = np.arange(column.size, dtype=np.uint32)
        if release.suppressed_code is not None:
            nodes[release.suppressed_code] = column.size
        places = scale(release)
        numbers = np.full(release.size, np.nan) if places is None else places
        starts = np.append(np.arange(column.size + 1), 2 * column.size)
        return cls(column, nodes, starts, np.concatenate([every, every]), codes, numbers)

    @classmethod
    def written(
        cls, united: United, original: Column, release: Column, codes: Codes, hierarchy: Hierarchy | None
    ) -> "Cells":
        """Read every text in the widest way; what cannot be read says nothing.

        >>> import shoal
        >>> before, after = shoal.read({"age": [31, 34, 71]})["age"], shoal.read({"age": ["30-39", "71", "*"]})
        >>> cells = Cells.written(United.of([before]), before, after["age"], after.codes("age"), None)
        >>> [cells.held(code).tolist() for code in range(3)], cells.numbers.tolist()
        ([[0, 1, 2], [0, 1], [2]], [nan, 34.5, 71.0])
        """
        domain, every = Domain.of(original, hierarchy), np.arange(united.column.size, dtype=np.uint32)
        meanings, stated = Meanings(domain), Meanings(Domain.of(united.column))
        said, places = same_values(original, release), united.places[0].astype(np.uint32)
        strange = np.setdiff1d(every, places)
        sets, numbers = [], np.full(release.size, np.nan)
        for code, text in enumerate(release.labels().to_pylist()):
            reading = _widest(meanings, text, int(said[code]))
            if reading is None:
                sets.append(every)
                continue
            more = np.zeros(0, np.uint32) if reading.exact or not len(strange) else _stated(stated, text, strange)
            sets.append(np.sort(np.concatenate([places[reading.codes], more])))
            numbers[code] = _number(domain, reading)
        starts = np.concatenate([[0], np.cumsum([len(held) for held in sets])])
        members = np.concatenate([*sets, np.zeros(0, np.uint32)])
        return cls(united.column, np.arange(release.size, dtype=np.uint32), starts, members, codes, numbers)

    def held(self, code: int) -> NDArray[np.uint32]:
        """Return the values that a released code may stand for."""
        node = self.nodes[code]
        return self.members[self.starts[node] : self.starts[node + 1]]

    def holds(self, released: Codes, values: Codes) -> NDArray[np.bool_]:
        """Tell for each of some released codes whether it may stand for a value."""
        size = self.column.size
        owner = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        inside = np.unique(owner * size + self.members)
        sought = self.nodes[released].astype(np.int64) * size + values
        at = np.minimum(np.searchsorted(inside, sought), len(inside) - 1)
        return np.asarray(inside[at] == sought)

    def sets(self, codes: Codes) -> Sets:
        """Return the sets that rows with some codes show."""
        return Sets(self.nodes[codes], self.starts, self.members, self.column.size)


def _widest(meanings: Meanings, text: str | None, exact: int) -> Reading | None:
    """Return the reading of a text that holds most values: what it surely says; None if it says nothing."""
    if text is None:
        return Reading(np.array([exact], np.uint32), exact=True) if exact >= 0 else None
    if not text.strip(SUPPRESSED):
        return None
    beginning = meanings.beginning(text) if exact < 0 else None
    readings = [*meanings.of(text, exact), *([] if beginning is None else [beginning])]
    held = [one for one in readings if len(one.codes)]
    return max(held, key=lambda one: len(one.codes), default=None)


def _stated(meanings: Meanings, text: str | None, strange: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return which values that the original does not have a text states."""
    readings = [] if text is None else meanings.of(text)
    held = [np.intersect1d(one.codes, strange) for one in readings]
    return max(held, key=len, default=strange[:0]).astype(np.uint32)


def _number(domain: Domain, reading: Reading) -> float:
    """Return the middle of what a text states, or the mean of the values that it may stand for."""
    if domain.positions is None:
        return np.nan
    if reading.ends is not None:
        return float(np.mean(reading.ends))
    known = domain.positions[reading.codes]
    return float(np.mean(known[~np.isnan(known)])) if (~np.isnan(known)).any() else np.nan
