"""Protection by peers: persons with the same known attributes but another sensitive value (Kroes 2021).

For a person, a sensitive variable s and known variables A: ``peers`` are the persons who share the person's values in
A, ``same`` the peers who share s as well.

    NPP = peers − same        PPP = NPP / peers        PP_v = share of peers with value v
    PoAC_q = share of the other values v of s with PP_v > q
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.grouping import group, group_rows
from shoal.kernels.ratios import Ratios
from shoal.kernels.subsets import largest_share
from shoal.subsets import SubsetCounts


@dataclass(frozen=True, slots=True, eq=False)
class Protection:
    """Protection of one variable, for each row, under the most disclosive combination of known variables.

    ``subset[i]``: that combination. ``peers[i]`` and ``same[i]``: the number of persons who share its values, and of
    those who share the sensitive value as well.
    """

    variable: int
    subset: NDArray[np.uint64]
    peers: NDArray[np.int64]
    same: NDArray[np.int64]

    def ppp(self) -> Ratios:
        """Return the proportion of protective peers, exactly."""
        return Ratios(self.peers - self.same, self.peers)

    def npp(self) -> NDArray[np.int64]:
        """Return the number of protective peers under that combination."""
        return self.peers - self.same

    def breached(self, p: Fraction = Fraction(0)) -> NDArray[np.bool_]:
        """Return which rows lack p-upward privacy: PPP is at most p."""
        return self.ppp().at_most(p)


def at(counted: SubsetCounts, variable: int, subset: int) -> Protection:
    """Return the protection under one combination of known variables."""
    peers, same = counted.agreeing(subset), counted.agreeing(subset | 1 << variable)
    return Protection(variable, np.full(len(peers), subset, np.uint64), peers, same)


def weakest(counted: SubsetCounts, variable: int, subsets: Sequence[int], threads: int = 1) -> Protection:
    """Return the protection under the most disclosive of some combinations: the minimum of PPP.

    Larger combinations are evaluated first: if one leaves no protective peer, no other needs to be evaluated.

    >>> import shoal
    >>> counted = SubsetCounts.of(shoal.read({"dx": list("aab"), "age": [1, 1, 2]}), ["dx", "age"])
    >>> weakest(counted, 0, [0b10]).ppp().floats().tolist()
    [0.0, 0.0]
    """
    if counted.counts is None:
        raise ValueError("not all subsets are counted")
    listed = np.array(sorted(subsets, key=lambda subset: (-subset.bit_count(), subset)), np.uint32)
    most = at(counted, variable, int(listed[0]))
    open_ = np.flatnonzero(most.npp() > 0).astype(np.uint32)
    best = most.subset.astype(np.uint32)
    best[open_] = largest_share(counted.counts, variable, listed, open_, threads)
    rows = np.arange(len(best))
    return Protection(
        variable,
        best.astype(np.uint64),
        counted.counts[best, rows].astype(np.int64),
        counted.counts[best | np.uint32(1 << variable), rows].astype(np.int64),
    )


def alternatives(counted: SubsetCounts, variable: int, subset: int, q: Fraction = Fraction(0)) -> NDArray[np.int64]:
    """Return the number of values, other than the person's own, that more than a share q of the peers have.

    It is PoAC times the number of other values.
    """
    rows, known = counted.rows, [place for place in range(len(counted.columns)) if subset >> place & 1]
    sizes = [counted.columns[place].size for place in known]
    groups = group_rows([rows.columns[place] for place in known], sizes, len(rows)).ids
    size = counted.columns[variable].size
    cells = group(groups.astype(np.uint64) * np.uint64(size) + rows.columns[variable], (int(groups.max()) + 1) * size)
    shares = Ratios(counted.agreeing(subset | 1 << variable), counted.agreeing(subset))
    considered = ~shares.at_most(q)
    values = np.bincount(groups[cells.first], weights=considered[cells.first])
    return np.where(rows.lacking(subset), 0, values[groups] - considered).astype(np.int64)


def share_with(counted: SubsetCounts, variable: int, subset: int, code: int) -> NDArray[np.float64]:
    """Return PP of one value: the share of each person's peers who have it."""
    rows, known = counted.rows, [place for place in range(len(counted.columns)) if subset >> place & 1]
    groups = group_rows(
        [rows.columns[place] for place in known], [counted.columns[place].size for place in known], len(rows)
    ).ids
    here, alone = rows.columns[variable] == code, rows.lacking(subset)
    persons = np.zeros(int(groups.max(initial=0)) + 1)
    shared = here & ~alone & ~rows.lacking(1 << variable)
    persons[groups[shared]] = counted.agreeing(subset | 1 << variable)[shared]
    return np.where(alone, here, persons[groups] / counted.agreeing(subset))
