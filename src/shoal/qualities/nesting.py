"""Nested sets of values, and the path of records through them as generalisation increases."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.recoding.nodes import Ints, Nodes


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """Released sets of more than one code: set s is ``codes[starts[s] : starts[s + 1]]``.

    ``first[code]``: the smallest set that contains a code. ``parent[s]``: the next larger set that contains s. −1:
    none. Sets that overlap another set without one containing the other are ``loose``: they are no set's parent.
    """

    starts: Ints
    codes: Ints
    first: Ints
    parent: Ints
    loose: NDArray[np.bool_]

    @classmethod
    def of(cls, nodes: Nodes, used: Ints) -> "Forest":
        """Nest some nodes, which are distinct sets of more than one code."""
        lengths = nodes.sizes[used]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        at = np.repeat(nodes.starts[used] - starts[:-1], lengths) + np.arange(starts[-1])
        codes = nodes.codes[at].astype(np.int64)
        loose = np.zeros(len(used), bool)
        first, parent, nested = _nested(starts, codes, loose, nodes.domain.codes)
        if not nested:
            loose = _loose(starts, codes, nodes.domain.codes)
            first, parent, _ = _nested(starts, codes, loose, nodes.domain.codes)
        return cls(starts, codes, first, parent, loose)

    @property
    def sizes(self) -> Ints:
        """The number of codes in each set."""
        return np.diff(self.starts)


def _nested(starts: Ints, codes: Ints, loose: NDArray[np.bool_], width: int) -> tuple[Ints, Ints, bool]:
    """Return the smallest set of each code, the parent of each set, and whether its codes agree on the parent."""
    sizes = np.diff(starts)
    sets = np.repeat(np.arange(len(sizes)), sizes)
    kept = ~loose[sets]
    order = np.flatnonzero(kept)[np.lexsort((sets[kept], sizes[sets[kept]], codes[kept]))]
    code, members = codes[order], sets[order]
    following = np.full(len(order), -1)
    same = code[1:] == code[:-1]
    following[:-1][same] = members[1:][same]
    first, parent = np.full(width, -1), np.full(len(sizes), -1)
    begins = np.ones(len(order), bool)
    begins[1:] = ~same
    first[code[begins]] = members[begins]
    parent[members] = following
    return first, parent, bool((parent[members] == following).all())


def _loose(starts: Ints, codes: Ints, width: int) -> NDArray[np.bool_]:
    """Return which sets overlap another set without one containing the other."""
    first, last, sizes = codes[starts[:-1]], codes[starts[1:] - 1], np.diff(starts)
    whole = last - first + 1 == sizes  # consecutive codes
    loose = np.zeros(len(sizes), bool)
    loose[whole] = _crossing(first[whole], last[whole], width)
    for place in np.flatnonzero(~whole).tolist():
        inside = np.zeros(width, np.int64)
        inside[codes[starts[place] : starts[place + 1]]] = 1
        shared = np.add.reduceat(inside[codes], starts[:-1])
        overlapping = (shared > 0) & (shared < np.minimum(sizes, sizes[place]))
        loose |= overlapping
        loose[place] = overlapping.any()
    return loose


def _crossing(first: Ints, last: Ints, width: int) -> NDArray[np.bool_]:
    """Return which intervals cross another one, so that one begins inside the other and ends outside it."""
    furthest, nearest = np.full(width, -1), np.full(width, width)
    np.maximum.at(furthest, first, last)  # end of the longest interval that begins at a code
    np.minimum.at(nearest, last, first)  # start of the longest interval that ends at a code
    ahead = _extreme(np.maximum, furthest, first + 1, last + 1, -1) > last
    behind = _extreme(np.minimum, nearest, first, last, width) < first
    return ahead | behind


def _extreme(of: np.ufunc, values: Ints, begin: Ints, end: Ints, empty: int) -> Ints:
    """Return the maximum or minimum of values[begin : end] for many ranges at once, from tables of powers of two."""
    tables = [values]
    while 2 << (len(tables) - 1) <= len(values):
        half = 1 << (len(tables) - 1)
        tables.append(of(tables[-1][:-half], tables[-1][half:]))
    length = end - begin
    extremes = np.full(len(begin), empty)
    for power, table in enumerate(tables):
        chosen = (length >= 1 << power) & (length < 2 << power)
        extremes[chosen] = of(table[begin[chosen]], table[end[chosen] - (1 << power)])
    return extremes
