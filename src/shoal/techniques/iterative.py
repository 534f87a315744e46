"""Iterative local recoding: each record is generalised by the cheapest scheme under which its class passes.

All schemes are tried, the cheapest first. Records that form a passing class under a scheme are kept under it; only the
others are considered again. ARX's iterative recoding does this with a few dozen schemes. Here every scheme is tried, so
no record is generalised further while a cheaper scheme would suffice for it and enough remaining records.
"""

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.errors import ModelError
from shoal.kernels.grouping import group_rows
from shoal.progress import Hook, Progress, silent
from shoal.recoding.nodes import Domain, Nodes
from shoal.remedy import Setting, by, either
from shoal.search.goal import Goal
from shoal.search.objective import Ints, LevelObjective
from shoal.techniques.jury import Jury
from shoal.techniques.refinement import better_than_scheme, refined_scheme, within_limit
from shoal.techniques.technique import TECHNIQUES, Allows, Gives, Technique, giving
from shoal.techniques.treatment import Treatment
from shoal.techniques.units import Rows

MOST_SCHEMES = 1_000_000
_TOLD = 256  # schemes between two progress reports
_TRIED = 100  # maximum number of classes that remaining records try to join
_ALONE = 1000  # maximum number of rows that try to join a class one by one


@TECHNIQUES.register("local")
class LocalRecoding(Technique):
    """Generalise each record as little as required."""

    kind: Literal["local"] = "local"
    says: ClassVar[str] = (
        "Groups of records are generalised to different levels, each as little as possible (local recoding)."
    )
    iso: ClassVar[str] = "local generalisation"
    allows: ClassVar[frozenset[Allows]] = frozenset(Allows)
    is_gentle: ClassVar[bool] = True

    def treat(self, goal: Goal, progress: Hook = silent) -> Treatment:
        """Keep the classes that pass under the cheapest scheme, and continue with the remaining records.

        The best scheme for all records, refined class by class, is used instead if it costs less, or if there are too
        many schemes to try.
        """
        if goal.space.schemes > MOST_SCHEMES or goal.by_levels is None:
            return refined_scheme(goal, progress)
        return better_than_scheme(goal, scheme_by_scheme(goal, progress), progress)


def scheme_by_scheme(goal: Goal, progress: Hook = silent) -> Treatment:
    """Keep the classes that pass under the cheapest scheme, and continue with the remaining records.

    Records that remain at the end join the class for which this costs least. They are suppressed if no class passes
    with them, or if suppression costs less and is within the limit.
    """
    if goal.space.schemes > MOST_SCHEMES:
        raise ModelError(
            "too-many-schemes",
            "There are {schemes:,} generalisation schemes, which are too many to try.",
            remedy=either(by("Restrict the levels of some columns", Setting("search.levels")), "use another technique"),
            schemes=goal.space.schemes,
        )
    jury, objective = Jury(goal), goal.by_levels
    if objective is None:
        raise ModelError(
            "quality-of-technique",
            "This technique requires a measure that is computed column by column, and {quality} is not.",
            remedy=either(
                Setting("search.quality", "loss"), Setting("search.recoding", giving(Gives.SCHEME)[0].called())
            ),
            quality=goal.quality.name,
        )
    iteration = Iteration(goal, jury, objective, progress)
    schemes = np.stack(np.unravel_index(np.arange(len(goal.space)), goal.space.shape), axis=-1)
    iteration.keep(schemes)
    iteration.join()
    return within_limit(goal, iteration.treatment(), progress)


class Iteration:
    """One run over the units of a jury. Initially all units remain, unless some are already kept.

    All units of a person are kept under the same scheme. ``levels``: the initial levels of all units. ``left``: the
    units that remain; all by default.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - the initial state and the criteria
        self,
        goal: Goal,
        jury: Jury,
        objective: LevelObjective,
        progress: Hook,
        levels: Ints | None = None,
        left: NDArray[np.bool_] | None = None,
    ) -> None:
        self._jury, self._objective, self._progress, self._space = jury, objective, progress, goal.space
        self._limit, self._units = goal.limit, jury.units
        self._codes = [codes[self._units.judged] for codes in jury.codes]
        self._nodes = [
            [nodes[ladder.places[codes]] for nodes in ladder.maps()]
            for codes, ladder in zip(self._codes, self._space.ladders, strict=True)
        ]
        self._sizes = [ladder.sizes for ladder in self._space.ladders]
        self._blank = [
            [blank[ladder.places[codes]] for blank in ladder.blank()]
            for codes, ladder in zip(self._codes, self._space.ladders, strict=True)
        ]
        self._blanks = [np.array([shown.any() for shown in column]) for column in self._blank]
        first = np.zeros(len(self._nodes), np.int64) if levels is None else levels
        self._levels = np.tile(first, (len(self._units), 1))
        self._left = np.ones(len(self._units), bool) if left is None else left.copy()

    def keep(self, schemes: Ints) -> None:
        """Try schemes in order of cost, cheapest first."""
        order = np.argsort(self._objective.floors(schemes), kind="stable")
        for done, scheme in enumerate(schemes[order]):
            if done % _TOLD == 0:
                kept = self._units.count(~self._left)
                self._progress(Progress(f"trying schemes ({kept:,} individuals recoded)", done, len(order)))
            self._keep(scheme)
            if not self._left.any():
                break

    def treatment(self) -> Treatment:
        """Return the resulting treatment."""
        sets = []
        for place, (name, ladder) in enumerate(zip(self._space.names, self._space.ladders, strict=True)):
            levels = self._levels[:, place] + ladder.low
            domain = Domain.of(self._space.table[name], ladder.hierarchy)
            nodes, of_code = Nodes.on_levels(domain, ladder.hierarchy)
            sets.append((nodes, np.asarray(of_code[levels, self._codes[place]]), levels))
        return Treatment.of_units(self._units, sets, self._left)

    def _keep(self, levels: Ints) -> None:
        """Keep those remaining units that form passing classes under a scheme.

        A person with a unit in a failing class remains with all units. This may make other classes fail, so the classes
        are formed again until all pass.
        """
        rows, several = np.flatnonzero(self._left), self._units.holders is not None
        while len(rows):
            of_row, number = self._grouped(rows, levels)
            passing = ~self._jury.failing(self._units, rows, of_row, number)
            good = self._units.whole(rows, passing[of_row] & ~self._shows_nothing(rows, levels))
            settled = not several or good.all()
            rows = rows[good]
            if settled:
                break
        self._levels[rows] = levels
        self._left[rows] = False

    def _shows_nothing(self, rows: Rows, levels: Ints) -> NDArray[np.bool_]:
        """Return which rows would be fully suppressed under a scheme.

        If all rows remain and all would be fully suppressed, no row is reported, because nothing else can be released.
        """
        none = np.zeros(len(rows), bool)
        if not all(blank_levels[level] for blank_levels, level in zip(self._blanks, levels, strict=True)):
            return none
        shown = zip(self._blank, levels, strict=True)
        blank: NDArray[np.bool_] = np.all([blank_rows[level][rows] for blank_rows, level in shown], axis=0)
        return none if len(rows) == len(self._left) and blank.all() else blank

    def _grouped(self, rows: Rows, levels: Ints) -> tuple[NDArray[np.uint32], int]:
        used = [column for column, level in enumerate(levels) if self._sizes[column][level] > 1]
        keys = [self._nodes[column][levels[column]][rows] for column in used]
        groups = group_rows(keys, [self._sizes[column][levels[column]] for column in used], len(rows))
        return groups.ids, len(groups)

    def join(self) -> None:
        """Let the remaining rows join the class for which this costs least: all the same one, or else each its own.

        They remain if suppression costs less and is within the limit. Rows that differ in sensitive values only are
        joined together, because a record is released by its quasi-identifiers. Persons with several rows join no
        class, because their rows belong to several.
        """
        if self._units.holders is not None:
            return
        left = np.flatnonzero(self._left)
        must = self._units.count(self._left) > self._limit
        self._join(left, must=must)
        remaining = left[self._left[left]]
        of_row = self._units.of_row[remaining]
        for row in np.unique(of_row)[:_ALONE] if must else ():
            self._join(remaining[of_row == row], must=True)

    def _join(self, left: Rows, *, must: bool) -> None:
        """Let some rows join a class, if one passes with them."""
        kept = np.flatnonzero(~self._left)
        if not len(left) or not len(kept):
            return
        together = self._together(kept, left)
        possible = np.flatnonzero((together < np.array(self._space.shape)).all(axis=1))  # levels may be bounded
        possible = possible[self._showing(kept[possible], together[possible])]
        kept, together = kept[possible], together[possible]
        if not len(kept):
            return
        shown = [self._nodes_at(column, kept) for column in range(len(self._nodes))]
        groups = group_rows(
            [*self._levels[kept].T.astype(np.uint32), *shown],
            [*self._space.shape, *(sizes[0] for sizes in self._sizes)],
            len(kept),
        )
        persons = self._units.sizes(kept, groups.ids, len(groups))
        now, then = self._levels[kept][groups.first], together[groups.first]
        rise = (self._objective.floors(then) - self._objective.floors(now)) * persons
        lonely = int(self._units.persons[left].sum())
        saved = (self._objective.floors(np.array([self._space.shape]) - 1) - self._objective.floors(then)) * lonely
        worth = np.ones(len(rise), bool) if must else rise <= saved  # otherwise suppression costs less
        for place in np.argsort(rise, kind="stable")[:_TRIED].tolist():
            if not worth[place]:
                continue
            rows = np.concatenate([kept[groups.ids == place], left])
            if not self._jury.failing(self._units, rows, np.zeros(len(rows), np.uint32), 1).any():
                self._levels[rows] = then[place]
                self._left[left] = False
                return

    def _showing(self, rows: Rows, levels: Ints) -> NDArray[np.bool_]:
        """Return which rows show at least one value, each on its own levels."""
        pairs = zip(self._blank, levels.T, strict=True)
        blank: NDArray[np.bool_] = np.all([np.stack(blank_rows)[level, rows] for blank_rows, level in pairs], axis=0)
        return ~blank

    def _nodes_at(self, column: int, rows: Rows) -> NDArray[np.uint32]:
        return np.asarray(np.stack(self._nodes[column])[self._levels[rows, column], rows])

    def _together(self, kept: Rows, left: Rows) -> Ints:
        """Return, for each kept row, the lowest levels on which it equals all remaining rows."""
        levels = self._levels[kept].copy()
        for column, nodes in enumerate(self._nodes):
            for level, nodes_of in enumerate(nodes):
                alike = bool((nodes_of[left] == nodes_of[left[0]]).all()) & (nodes_of[kept] == nodes_of[left[0]])
                later = ~alike & (levels[:, column] <= level)
                levels[later, column] = level + 1
        return levels
