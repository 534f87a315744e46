"""Suppression against partial knowledge: any m known quasi-identifiers of a person match at least k persons.

Every combination of m columns is checked in turn. In rows with fewer than k matches in a combination, cells are
suppressed: as few and as unimportant ones as give the row k matches, or all cells of the combination. This may reduce
the matches in another combination, so all are checked again until nothing changes. Cells are only ever suppressed, so
the procedure terminates, and it does so only when every combination meets the requirement. A suppressed cell counts as
a value of its own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.engines.protocol import DistinctRows
from shoal.errors import ModelError
from shoal.kernels.grouping import group_rows
from shoal.kernels.translation import Codes
from shoal.models.k_anonymity import KAnonymity
from shoal.models.model import Model
from shoal.models.subset_k_anonymity import SubsetKAnonymity
from shoal.progress import Hook, Progress, silent
from shoal.recoding.nodes import Domain, Ints, Node, Nodes
from shoal.remedy import Setting
from shoal.search.goal import Goal
from shoal.table.missing import Missing
from shoal.techniques.change import Change, Generalised, Suppressed
from shoal.techniques.technique import TECHNIQUES, Gives, Technique
from shoal.techniques.treatment import Treatment


@TECHNIQUES.register("subsets")
class SubsetSuppression(Technique):
    """Suppress single values until classes are large enough for every combination of m known columns."""

    kind: Literal["subsets"] = "subsets"
    says: ClassVar[str] = (
        "Single values are suppressed until classes are large enough for every combination of a few known columns."
    )
    iso: ClassVar[str] = "local suppression (single values)"
    gives: ClassVar[frozenset[Gives]] = frozenset()

    def treat(self, goal: Goal, progress: Hook = silent) -> Treatment:
        """Suppress cells until every required combination of columns is safe; columns with a high weight are spared."""
        space, base = goal.space, goal.plain.base
        if goal.gatherer.missing is not Missing.OWN and any(space.table[name].missing for name in space.quasi):
            raise ModelError(
                "missing-of-technique",
                "If missing values match nothing, suppressed values would match nothing either.",
                remedy=Setting("data.missing", "own"),
            )
        rows = space.table.distinct(space.quasi)
        persons = np.bincount(goal.plain.of_shown, base.grouped.shown.members.counts, len(rows)).astype(np.int64)
        weights = goal.weighing(space.quasi)
        importance = weights * np.array([_entropy(codes, persons) for codes in rows.codes])
        asked, columns = [_asked(model, len(space.quasi)) for model in goal.models], len(space.quasi)
        tries = []
        for more in (asked, [(k, columns) for k, _ in asked]):  # k in all columns implies k in any
            work = _Suppression(_visible(goal, rows), persons, weights, importance)
            _mended(work, [*more, *asked], progress)
            tries.append(work)
        return _treatment(goal, min(tries, key=lambda work: work.cost()))


def _visible(goal: Goal, rows: DistinctRows) -> list[Ints]:
    """Return the codes of rows; −1 where a hierarchy suppresses the value on every level."""
    ladders = {ladder.hierarchy.column: ladder.hierarchy for ladder in goal.space.ladders}
    hidden = [Domain.of(goal.space.table[name], ladders[name]).hidden for name in rows.columns]
    return [np.where(never[codes], np.int64(-1), codes) for never, codes in zip(hidden, rows.codes, strict=True)]


def _entropy(codes: Codes, persons: Ints) -> float:
    """Return the entropy of a column, in bits."""
    counts = np.bincount(codes, persons)
    shares = counts[counts > 0] / max(counts.sum(), 1)
    return float(-(shares * np.log2(shares)).sum())


def _mended(work: "_Suppression", asked: Sequence[tuple[int, int]], progress: Hook) -> None:
    """Check all combinations repeatedly until no more cells need to be suppressed."""
    for number in range(1, 1 << 31):
        progress(Progress(f"suppressing cells, round {number}", number))
        columns = range(len(work.codes))
        if not any([work.mend(known, k) for k, most in asked for known in combinations(columns, most)]):  # noqa: C419
            return


def _asked(model: Model, columns: int) -> tuple[int, int]:
    """Return the minimum class size and the number of known columns that a model requires."""
    if isinstance(model, KAnonymity):
        return model.k or 1, columns
    if isinstance(model, SubsetKAnonymity):
        return model.k or 1, min(model.m, columns)
    raise ModelError(
        "requirement-of-technique",
        "Cells cannot be suppressed for {model} under partial knowledge.",
        remedy="Require k-anonymity or subset-k-anonymity with this technique.",
        model=model.name,
    )


@dataclass(eq=False)
class _Suppression:
    """Rows of codes, −1 for suppressed cells. ``persons``: the number of persons per row, 0 if it shows nothing.

    ``importance``: the weight of each column, multiplied by its entropy.
    """

    codes: list[Ints]
    persons: Ints
    weights: NDArray[np.float64]
    importance: NDArray[np.float64]

    def cost(self) -> float:
        """Return the total weight of all suppressed cells."""
        return float(sum(w * self.persons[codes < 0].sum() for w, codes in zip(self.weights, self.codes, strict=True)))

    def visible(self) -> NDArray[np.intp]:
        """Return the rows that show at least one value."""
        return np.flatnonzero(np.any([codes >= 0 for codes in self.codes], axis=0) & (self.persons > 0))

    def mend(self, known: Sequence[int], k: int) -> bool:
        """Suppress cells of the known columns until every class in these columns has at least k persons.

        Return whether any cells were suppressed.
        """
        lonely = self._lonely(known, k)
        if not len(lonely):
            return False
        for pattern in self._patterns(known):
            lonely = self._try(lonely, known, pattern, k)
            if not len(lonely):
                return True
        self._hide(lonely, known)
        self._fill(known, k)
        return True

    def _patterns(self, known: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """Return the proper subsets of the known columns that could be suppressed, the least important first."""
        patterns = [pattern for size in range(1, len(known)) for pattern in combinations(known, size)]
        return iter(
            sorted(patterns, key=lambda pattern: (round(float(self.importance[list(pattern)].sum()), 9), pattern))
        )

    def _sizes(self, rows: NDArray[np.intp], keys: Sequence[Ints]) -> Ints:
        """Return the class size of each row."""
        sizes = [int(key.max(initial=-1)) + 2 for key in keys]
        groups = group_rows([(key + 1).astype(np.uint32) for key in keys], sizes, len(rows))
        return np.bincount(groups.ids, self.persons[rows], len(groups)).astype(np.int64)[groups.ids]

    def _lonely(self, known: Sequence[int], k: int) -> NDArray[np.intp]:
        rows = self.visible()
        return rows[self._sizes(rows, [self.codes[column][rows] for column in known]) < k]

    def _try(self, lonely: NDArray[np.intp], known: Sequence[int], pattern: Sequence[int], k: int) -> NDArray[np.intp]:
        """Suppress a pattern in rows whose class becomes large enough; return the rows for which it does not."""
        rows = self.visible()
        trying = np.isin(rows, lonely)
        keys = [np.where(trying & (column in pattern), -1, self.codes[column][rows]) for column in known]
        helped = rows[trying & (self._sizes(rows, keys) >= k)]
        self._hide(helped, pattern)
        return lonely[~np.isin(lonely, helped)]

    def _hide(self, rows: NDArray[np.intp], columns: Sequence[int]) -> None:
        for column in columns:
            self.codes[column][rows] = -1

    def _fill(self, known: Sequence[int], k: int) -> None:
        """Merge the smallest classes into the fully suppressed class of these columns until that has k persons."""
        while True:
            rows = self.visible()
            keys = [self.codes[column][rows] for column in known]
            nothing = np.all([key < 0 for key in keys], axis=0)
            number = int(self.persons[rows[nothing]].sum())
            if number == 0 or number >= k:
                return
            sizes = np.where(nothing, np.iinfo(np.int64).max, self._sizes(rows, keys))
            if nothing.all():
                self._hide(rows, range(len(self.codes)))  # fewer than k persons remain: nothing can be shown
                return
            first = int(np.argmin(sizes))
            alike = np.all([key == key[first] for key in keys], axis=0)
            self._hide(rows[alike], known)


def _treatment(goal: Goal, work: _Suppression) -> Treatment:
    space = goal.space
    rows = space.table.distinct(space.quasi)
    suppressed = np.ones(len(rows), bool)
    suppressed[work.visible()] = False
    changes: list[Change] = [Suppressed(suppressed, int(work.persons[suppressed].sum()))]
    for name, ladder in zip(space.names, space.ladders, strict=True):
        column = space.quasi.index(name)
        domain = Domain.of(space.table[name], ladder.hierarchy)
        hidden = suppressed | (work.codes[column] < 0)
        shown = np.where(hidden, domain.codes, rows.codes[column]).astype(np.int64)
        levels = np.where(hidden, ladder.hierarchy.height, 0).astype(np.int64)
        changes.append(Generalised(Nodes.of(domain, [Node.everything(domain)]), shown, levels))
    return Treatment(rows, tuple(changes))
