"""The people of a table: how each of them is protected by their peers, variable by variable."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.errors import ColumnError, ModelError, counted
from shoal.individuals.protection import Protection, alternatives, at, weakest
from shoal.kernels.subsets import NONE, Breaches, breaches
from shoal.subsets import SubsetCounts, subsets_of
from shoal.table import frames

ASSUMPTIONS = (
    "The adversary knows that the person is in the table.",
    "What the adversary knows is correct.",
    "How much that is, nobody knows: every combination of the known variables is looked at.",
    "The adversary knows something about one person only.",
)
FEW = 3  # facts that are combined in a wide table to find out what gives one person away
QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Variable:
    """One variable taken as sensitive; arrays hold one number for each row of the counts.

    ``least``: the protection under the combination that tells most. ``full``: if all is known. ``others``: how many
    other values are considered possible, at least, of ``domain − 1``. ``smallest``: how many facts it takes to breach,
    or ``NONE``; beyond ``deepest`` only that it takes more. ``breaches``: how many combinations do; only where all were
    counted. ``at_least``: what PPP certainly is, where a search was stopped.
    """

    name: str
    known: tuple[str, ...]
    domain: int
    least: Protection
    full: Protection
    others: NDArray[np.int64]
    smallest: NDArray[np.uint8]
    combinations: int
    deepest: int = NONE
    breaches: Breaches | None = None
    at_least: NDArray[np.float64] | None = None

    def facts(self, size: int) -> str:
        """Write a number of facts; where it was not found out exactly, that it is more than so many."""
        return str(size) if size <= self.deepest else f">{self.deepest}"

    def poac(self) -> NDArray[np.float64]:
        """Return the proportion of alternatives considered; a variable with one value has none to consider."""
        return self.others / max(self.domain - 1, 1)


@dataclass(frozen=True, slots=True)
class Facts:
    """What gives one person away, for one variable: the minimal combinations of known variables that leave no doubt."""

    variable: str
    ppp: float
    combination: tuple[str, ...]
    minimal: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class People:
    """What :func:`shoal.peers` found. ``p`` and ``q``: the thresholds of upward and downward privacy."""

    counted: SubsetCounts
    variables: Mapping[str, Variable]
    p: Fraction
    q: Mapping[str, Fraction]
    most: int | None
    empty: bool
    assumptions: tuple[str, ...] = ASSUMPTIONS

    def __len__(self) -> int:
        return self.counted.table.records

    def persons(self) -> int:
        """Return how many persons there are."""
        return int(self.counted.rows.weights.sum())

    def stopped(self) -> bool:
        """Tell whether a search was stopped before its end, so that PPP may be lower than found."""
        return any(held.at_least is not None for held in self.variables.values())

    def values(self, variable: str, measure: str) -> NDArray[Any]:
        """Return a measure of one variable for each record, in input order: ``ppp``, ``npp`` or ``poac``."""
        held = self._variable(variable)
        if measure not in _MEASURES:
            raise ModelError(f"There is no measure '{measure}'.", hint="Measures are ppp, npp and poac.")
        return self.counted.expand(_MEASURES[measure](held))

    def to_frame(self, kind: str | None = None) -> Any:
        """Return one row per record, in input order, with the columns ``NAME.ppp``, ``NAME.npp`` and ``NAME.poac``."""
        arrays = {
            f"{name}.{measure}": pa.array(self.values(name, measure))
            for name in self.variables
            for measure in _MEASURES
        }
        return frames.to_frame(pa.table(arrays), kind or self.counted.table.source.frame)

    def summary(self) -> dict[str, dict[str, Any]]:
        """Return, per variable, the mean of PPP, its quantiles, who is breached, and by how many facts; in persons."""
        return {name: self._summary(held) for name, held in self.variables.items()}

    def _summary(self, held: Variable) -> dict[str, Any]:
        weights = self._once(held)
        ppp = held.least.ppp().floats()
        total = int(weights.sum())
        breached = held.least.breached(self.p)
        sizes = np.bincount(held.smallest, weights=weights, minlength=NONE + 1).astype(np.int64)
        summary = {
            "mean": float((ppp * weights).sum() / total),
            "share_breached": float(weights[breached].sum() / total),
            "breached": int(weights[breached].sum()),
            "quantiles": dict(zip(map(str, QUANTILES), _quantiles(ppp, weights), strict=True)),
            "breached_by_facts": {held.facts(size): int(n) for size, n in enumerate(sizes[:NONE]) if n},
            "mean_poac": float((held.poac() * weights).sum() / total),
            "share_downward": float(weights[held.poac() < 1].sum() / total),
        }
        if held.breaches is not None:
            telling = float((held.breaches.subsets * weights).sum())
            summary["mean_share_of_combinations"] = telling / total / held.combinations
        if held.at_least is not None:
            summary["mean_at_least"] = float((held.at_least * weights).sum() / total)
        return summary

    def _once(self, held: Variable) -> NDArray[np.int64]:
        """Return how many persons each row stands for; somebody with several rows is counted by the weakest one."""
        rows = self.counted.rows
        weights = rows.weights[rows.holders]
        if len(rows) == len(rows.weights):
            return weights
        order = np.lexsort((held.smallest, held.least.ppp().floats(), rows.holders))
        first = np.ones(len(order), bool)
        first[1:] = rows.holders[order][1:] != rows.holders[order][:-1]
        once = np.zeros(len(rows), np.int64)
        once[order[first]] = weights[order[first]]
        return once

    def leave_one_out(self, variable: str) -> dict[str, Variable]:
        """Return how a variable would be protected if one of the known variables, in turn, were unknown."""
        held = self._variable(variable)
        return {
            unknown: self._looked_at(held, [name for name in held.known if name != unknown])
            for unknown in held.known
            if len(held.known) > 1
        }

    def within_reach(self, access: Mapping[str, float]) -> dict[str, dict[float, int]]:
        """Return, per variable, how many persons are breached by facts up to each rank of accessibility.

        ``access``: the rank of each variable, the lower the easier to know: 1 for what a neighbour knows, …. Variables
        without a rank are out of reach.
        """
        for name in access:
            self.counted.subset([name])  # raises if there is none
        return {
            name: {
                rank: self._breached_by(held, [other for other in held.known if access.get(other, np.inf) <= rank])
                for rank in sorted(set(access.values()))
            }
            for name, held in self.variables.items()
        }

    def _breached_by(self, held: Variable, known: Sequence[str]) -> int:
        if not known and not self.empty:
            return 0
        seen = self._looked_at(held, known)
        return int(self._once(seen)[seen.least.breached(self.p)].sum())

    def _looked_at(self, held: Variable, known: Sequence[str]) -> Variable:
        return look_at(self.counted, held.name, known, p=self.p, q=self.q[held.name], most=self.most, empty=self.empty)

    def for_person(self, record: int) -> tuple[Facts, ...]:
        """Return what gives the person behind a record away, variable by variable, the least protected first.

        ``record``: its place in the input, from 0.
        """
        if not 0 <= record < len(self):
            raise ColumnError(f"There is no record {record:,}: there are {counted(len(self), 'record')}, from 0.")
        row = int(self.counted.expand(np.arange(len(self.counted.rows)))[record])
        return tuple(sorted((self._facts(held, row) for held in self.variables.values()), key=lambda one: one.ppp))

    def _facts(self, held: Variable, row: int) -> Facts:
        telling = self._telling(held, row)
        minimal = [one for one in telling if not any(other != one and other & one == other for other in telling)]
        minimal.sort(key=lambda subset: (subset.bit_count(), subset))
        return Facts(
            held.name,
            float(held.least.ppp().floats()[row]),
            self._names(int(held.least.subset[row])),
            tuple(map(self._names, minimal)),
        )

    def _telling(self, held: Variable, row: int) -> list[int]:
        """Return the combinations that breach one person; in a wide table those of a few variables only."""
        rows, known = self.counted.rows, self.counted.subset(held.known)
        most = self.most if self.counted.counts is not None else min(self.most or FEW, FEW)
        agree = np.zeros(len(rows), np.uint64)
        for place, column in enumerate(rows.columns):
            matches = (column == column[row]) & ~rows.lacking(1 << place)
            matches[row] = True
            agree |= matches.astype(np.uint64) << np.uint64(place)

        def persons(subset: int) -> int:
            if rows.lacking(subset)[row]:
                return 1
            holders = np.unique(rows.holders[agree & np.uint64(subset) == subset])
            return int(rows.weights[holders].sum())

        bit = 1 << held.least.variable
        listed = subsets_of(known, most=most, empty=self.empty)
        return [one for one in listed if Fraction(persons(one) - persons(one | bit), persons(one)) <= self.p]

    def _names(self, subset: int) -> tuple[str, ...]:
        return tuple(name for place, name in enumerate(self.counted.names) if subset >> place & 1)

    def _variable(self, name: str) -> Variable:
        if name not in self.variables:
            raise ColumnError.unknown(name, self.variables)
        return self.variables[name]


_MEASURES = {
    "ppp": lambda held: held.least.ppp().floats(),
    "npp": lambda held: held.full.npp(),
    "poac": Variable.poac,
}


def _quantiles(values: NDArray[np.float64], weights: NDArray[np.int64]) -> list[float]:
    """Return quantiles of values that stand for so many persons each: the smallest value that reaches the share."""
    order = np.argsort(values)
    reached = np.cumsum(weights[order])
    places = np.searchsorted(reached, [max(share * reached[-1], 1) for share in QUANTILES])
    return [float(values[order][min(place, len(order) - 1)]) for place in places]


def look_at(  # noqa: PLR0913 - keyword-only options
    counted_: SubsetCounts,
    name: str,
    known: Sequence[str],
    *,
    p: Fraction,
    q: Fraction,
    most: int | None = None,
    empty: bool = False,
) -> Variable:
    """Take one variable as sensitive, and some others as what may be known."""
    variable, auxiliary = counted_.names.index(name), counted_.subset(known)
    listed = list(subsets_of(auxiliary, most=most, empty=empty))
    if not listed:
        raise ModelError(f"Nothing may be known, so nothing can be learned about '{name}'.", hint="Give more columns.")
    everybody = np.arange(len(counted_.rows), dtype=np.uint32)
    if counted_.counts is None:
        raise ModelError("There are too many combinations for this.", hint="Leave columns out.")
    found = breaches(counted_.counts, variable, auxiliary, everybody, p=p, most=most, empty=empty)
    return Variable(
        name=name,
        known=tuple(known),
        domain=len(counted_.columns[variable].values),
        least=weakest(counted_, variable, listed),
        full=at(counted_, variable, auxiliary),
        others=_fewest(counted_, variable, listed, auxiliary, q),
        smallest=found.smallest,
        combinations=len(listed),
        breaches=found,
    )


def _fewest(
    counted_: SubsetCounts, variable: int, listed: Sequence[int], auxiliary: int, q: Fraction
) -> NDArray[np.int64]:
    """Return the fewest alternatives over all combinations; with q = 0, knowing more can only take some away."""
    if q == 0 and auxiliary in listed:
        return alternatives(counted_, variable, auxiliary)
    fewest = alternatives(counted_, variable, listed[0], q)
    for subset in listed[1:]:
        fewest = np.minimum(fewest, alternatives(counted_, variable, subset, q))
    return fewest
