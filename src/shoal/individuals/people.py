"""The individuals of a table, and their protection by peers for each variable."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.errors import ColumnError, ModelError
from shoal.individuals.looking import CombinationPlan, look
from shoal.individuals.person_facts import FEW, PersonFacts, facts_of
from shoal.individuals.protection import share_with
from shoal.individuals.question import Question
from shoal.individuals.sampling import mean_interval, share_interval
from shoal.individuals.sweep import Sweep, sweep
from shoal.individuals.variable import Variable
from shoal.kernels.subsets import NONE
from shoal.progress import silent
from shoal.remedy import Option
from shoal.sheet import Presentable, Sheet
from shoal.subsets import SubsetCounts
from shoal.table import frames
from shoal.words import counted, short
from shoal.words import share as share_of

ASSUMPTIONS = (
    "The adversary knows that the individual is in the table.",
    "The background knowledge of the adversary is correct.",
    "The adversary has background knowledge about one individual only.",
)
MEASURES = ("ppp", "npp", "poac")
QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class People(Presentable):
    """The result of :func:`shoal.peers`, with the question. ``plan``: the evaluation method for combinations."""

    __module__ = "shoal"

    counts: Mapping[str, SubsetCounts]
    variables: Mapping[str, Variable]
    question: Question
    plan: CombinationPlan

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The assumptions about the adversary."""
        asked, near = self.question, any(counts.rows.near for counts in self.counts.values())
        how_much = "every combination of known variables is evaluated."
        if asked.combinations is not None:
            how_much = "the given combinations are evaluated."
        elif self.plan.way == "searched":
            how_much = "the most disclosive combination is searched for."
        elif asked.most is not None:
            how_much = f"every combination of at most {asked.most} known variables is evaluated."
        nearly = ("Values within the tolerance count as known or inferred.",) if near else ()
        return (
            *ASSUMPTIONS[:2],
            f"The extent of the background knowledge is unknown: {how_much}",
            *ASSUMPTIONS[2:],
            *self._about_events(),
            *nearly,
        )

    def _about_events(self) -> tuple[str, ...]:
        """Return the assumption about known records, if persons have several different ones."""
        if len(self.counted.rows) == len(self.counted.rows.weights):
            return ()
        if self.question.events == 1:
            return ("One record of the individual is known.",)
        return (f"At most {self.question.events} records of the individual are known.",)

    def __len__(self) -> int:
        return self.counted.table.records

    def sheet(self) -> Sheet:
        """Return, per variable, the individuals disclosed, those disclosed by few attributes, and the mean PPP."""
        rows = []
        for name, summary in self.summary().items():
            few = self.breached_by_few(name)
            rows.append((name, share_of(summary["share_breached"]), few, short(summary["mean"])))
        headings = ("variable", "individuals disclosed", f"by at most {FEW} attributes", "mean PPP")
        combinations = counted(self.plan.combinations, "combination")
        title = f"{counted(self.persons(), 'individual')}, {combinations} of known attributes"
        return Sheet(title, headings, tuple(rows), self.assumptions)

    def breached_by_few(self, name: str) -> str:
        """Return the number of persons breached by at most three known attributes, as text.

        It is marked as a lower bound if a search stopped at fewer attributes.
        """
        variable = self.variables[name]
        reached = min(FEW, variable.deepest)
        persons = int(self.weights(variable)[variable.smallest <= reached].sum())
        unknown = reached < FEW and bool((variable.smallest[variable.smallest < NONE] > reached).any())
        return f"≥ {persons:,}" if unknown else f"{persons:,}"

    @property
    def counted(self) -> SubsetCounts:
        """The counts whose rows underlie the arrays of all variables."""
        return next(iter(self.counts.values()))

    @property
    def p(self) -> Fraction:
        """The threshold of upward privacy."""
        return self.question.p

    def persons(self) -> int:
        """Return the number of persons."""
        return int(self.counted.rows.weights.sum())

    def sampled(self) -> int | None:
        """Return the number of sampled persons; None if all are evaluated."""
        return None if self.question.sampled is None else int(self.question.sampled.sum())

    def stopped(self) -> bool:
        """Return whether a search was stopped before its end, so that PPP may be lower than reported."""
        return any(variable.at_least is not None for variable in self.variables.values())

    def values(self, variable: str, measure: str) -> NDArray[Any]:
        """Return a measure of one variable for each record, in input order: ``ppp``, ``npp`` or ``poac``.

        PPP is NaN for persons outside the sample, if there is one.
        """
        measured = self.variable(variable)
        if measure not in MEASURES:
            raise ModelError(
                "unknown-measure",
                "There is no measure '{measure}'.",
                remedy="Available: {measures}.",
                measure=measure,
                measures=", ".join(MEASURES),
            )
        values = self._measured(measured)[measure]
        if values is None:
            raise ModelError(
                "not-computed",
                "'{measure}' is not computed with tolerances, several known records or a limited number of variables.",
                measure=measure,
            )
        return self.counted.expand(values)

    def _measured(self, variable: Variable) -> dict[str, NDArray[Any] | None]:
        ppp = variable.least.ppp().floats()
        if self.question.sampled is not None:
            ppp = np.where(self.question.sampled > 0, ppp, np.nan)
        return {"ppp": ppp, "npp": variable.full.npp(), "poac": variable.poac()}

    def pp(self, variable: str, value: Any, known: Sequence[str] | None = None) -> NDArray[np.float64]:
        """Return PP, the posterior: for each record in input order, the share of its peers with a given value.

        ``known``: the variables that the adversary knows; by default, all that may be known.
        """
        measured = self.variable(variable)
        counts = self.counts[variable]
        if counts.rows.near or self.question.events > 1:
            raise ModelError("not-computed", "PP is not computed with tolerances or several known records.")
        column = counts.columns[measured.least.variable]
        codes = [code for code, label in enumerate(column.values.to_pylist()) if label == value]
        if not codes:
            raise ModelError(
                "unknown-value",
                "No individual has this value in '{variable}'.",
                remedy="Write the value exactly as it appears in the table.",
                variable=variable,
            )
        subset = counts.subset(measured.known if known is None else known)
        if subset >> measured.least.variable & 1:
            raise ModelError(
                "variable-is-target",
                "'{variable}' is the variable to be inferred, so it cannot be known.",
                variable=variable,
            )
        return self.counted.expand(share_with(counts, measured.least.variable, subset, codes[0]))

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data, as printed by ``shoal peers --json``."""
        return {
            "records": len(self),
            "persons": self.persons(),
            "sampled": self.sampled(),
            "p": float(self.p),
            "q": {name: float(value) for name, value in self.question.q.items()},
            "most_known": self.question.most,
            "combinations": self.plan.combinations,
            "way": self.plan.way,
            "variables": self.summary(),
            "assumptions": list(self.assumptions),
        }

    def to_frame(self, kind: str | None = None) -> Any:
        """Return one row per record, in input order, with the columns ``NAME.ppp``, ``NAME.npp`` and ``NAME.poac``."""
        arrays = {
            f"{name}.{measure}": pa.array(self.counted.expand(values))
            for name, variable in self.variables.items()
            for measure, values in self._measured(variable).items()
            if values is not None
        }
        return frames.to_frame(pa.table(arrays), kind or self.counted.table.source.frame)

    def summary(self) -> dict[str, dict[str, Any]]:
        """Return, per variable, the mean and quantiles of PPP, and the breached persons by number of known attributes.

        All figures are in persons. For a sample, ``interval`` holds the 95 % confidence intervals of mean and share.
        """
        return {name: self._summary(variable) for name, variable in self.variables.items()}

    def _summary(self, variable: Variable) -> dict[str, Any]:
        weights = self.weights(variable)
        ppp = variable.least.ppp().floats()
        total = int(weights.sum())
        breached = int(weights[variable.least.breached(self.p)].sum())
        sizes = np.bincount(variable.smallest, weights=weights, minlength=NONE + 1).astype(np.int64)
        summary = {
            "mean": float((ppp * weights).sum() / total),
            "share_breached": breached / total,
            "breached": breached,
            "quantiles": dict(zip(map(str, QUANTILES), _quantiles(ppp, weights), strict=True)),
            "breached_by_facts": {variable.facts(size): int(n) for size, n in enumerate(sizes[:NONE]) if n},
        }
        poac = variable.poac()
        if poac is not None:
            summary["mean_poac"] = float((poac * weights).sum() / total)
            summary["share_downward"] = float(weights[poac == 1].sum() / total)
        if variable.telling is not None:
            summary["mean_share_of_combinations"] = (
                float((variable.telling * weights).sum()) / total / variable.combinations
            )
        if variable.at_least is not None:
            summary["mean_at_least"] = float((variable.at_least * weights).sum() / total)
        if self.question.sampled is not None:
            share, mean = share_interval(breached, total), mean_interval(ppp, weights)
            summary["interval"] = {"share_breached": [share.low, share.high], "mean": [mean.low, mean.high]}
        return summary

    def weights(self, variable: Variable) -> NDArray[np.int64]:
        """Return the number of persons per row; a person with several rows is counted at the least protected one."""
        rows = self.counted.rows
        if self.question.sampled is not None:
            return self.question.sampled
        weights = rows.weights[rows.holders]
        if len(rows) == len(rows.weights):
            return weights
        order = np.lexsort((variable.smallest, variable.least.ppp().floats(), rows.holders))
        first = np.ones(len(order), bool)
        first[1:] = rows.holders[order][1:] != rows.holders[order][:-1]
        once = np.zeros(len(rows), np.int64)
        once[order[first]] = weights[order[first]]
        return once

    def leave_one_out(self, variable: str) -> dict[str, Variable]:
        """Return the protection of a variable if each of the known variables, in turn, were unknown."""
        measured = self.variable(variable)
        left = {unknown: [name for name in measured.known if name != unknown] for unknown in measured.known}
        return {unknown: self._looked_at(measured, known) for unknown, known in left.items() if self._asks(known)}

    def _asks(self, known: Sequence[str]) -> bool:
        return self.question.number(self.counted.subset(known)) > 0

    def sweep(self, variable: str, sensitive: str, *, smallest_class: int = 1) -> Sweep:
        """Divide a known variable into ever fewer classes, and count the protected persons (Kroes 2021, Figure 4)."""
        measured = self.variable(sensitive)
        if variable not in measured.known:
            raise ModelError(
                "variable-not-known",
                "'{variable}' is not among the known variables of '{sensitive}'.",
                variable=variable,
                sensitive=sensitive,
            )
        counts = self.counts[sensitive]
        return sweep(counts, variable, sensitive, measured.known, self.question, smallest_class=smallest_class)

    def within_reach(self, access: Mapping[str, float]) -> dict[str, dict[float, int]]:
        """Return, per variable, the number of persons breached by attributes up to each rank of accessibility.

        ``access``: the rank of each variable. Lower ranks are easier to know, such as 1 for attributes known to a
        neighbour. Variables without a rank are out of reach.
        """
        for name in access:
            self.counted.subset([name])  # raises if there is no such column
        return {
            name: {
                rank: self._breached_by(
                    variable, [other for other in variable.known if access.get(other, np.inf) <= rank]
                )
                for rank in sorted(set(access.values()))
            }
            for name, variable in self.variables.items()
        }

    def _breached_by(self, variable: Variable, known: Sequence[str]) -> int:
        if not self._asks(known):
            return 0
        seen = self._looked_at(variable, known)
        return int(self.weights(seen)[seen.least.breached(self.p)].sum())

    def _looked_at(self, variable: Variable, known: Sequence[str]) -> Variable:
        return look({variable.name: self.counts[variable.name]}, [variable.name], known, self.question, silent)[
            variable.name
        ]

    def for_person(self, record: int) -> tuple[PersonFacts, ...]:
        """Return the disclosures of the person behind a record, variable by variable, the least protected first.

        A person with several records is disclosed by attributes of any of them. ``record``: its position in the input,
        from 0.
        """
        if isinstance(record, bool) or not isinstance(record, int) or not 0 <= record < len(self):
            raise ColumnError(
                "unknown-record",
                "There is no record {record!r}. Records are numbered from 0 to {last:,}.",
                record=record,
                last=len(self) - 1,
            )
        own = np.flatnonzero(self.counted.rows.holders == self.counted.holders()[record]).tolist()
        if self.question.sampled is not None and not self.question.sampled[own].any():
            raise ModelError(
                "record-not-sampled",
                "Record {record:,} is not in the sample.",
                remedy="Measure all individuals, or choose another record.",
                record=record,
            )
        asked = self.question
        if self.plan.way == "searched":
            asked = replace(asked, most=min(asked.most or FEW, FEW))
        return facts_of(own, self.counts, self.variables, asked)

    def variable(self, name: str) -> Variable:
        """Return the protection of one variable."""
        if name in self.counted.names and name not in self.variables:
            raise ModelError(
                "not-sensitive",
                "'{variable}' is not among the sensitive variables.",
                remedy=Option("sensitive"),
                variable=name,
            )
        if name not in self.variables:
            raise ColumnError.unknown(name, self.variables)
        return self.variables[name]


def _quantiles(values: NDArray[np.float64], weights: NDArray[np.int64]) -> list[float]:
    """Return quantiles weighted by persons: the smallest value at which the cumulative share is reached."""
    order = np.argsort(values)
    reached = np.cumsum(weights[order])
    places = np.searchsorted(reached, [max(share * reached[-1], 1) for share in QUANTILES])
    return [float(values[order][min(place, len(order) - 1)]) for place in places]
