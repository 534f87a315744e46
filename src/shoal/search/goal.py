"""The goal of a search: the requirements on a scheme, and the quality measure that ranks schemes."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from shoal.errors import ModelError
from shoal.kernels.witness import Witnesses
from shoal.models.evidence import Evidence, Gatherer, View
from shoal.models.model import Model, Monotone, Need, Scope, SizesModel
from shoal.progress import Hook, silent
from shoal.qualities.quality import FigureQuality, LevelQuality, Quality
from shoal.recoding.nodes import Floats
from shoal.recoding.recoding import Recoding
from shoal.remedy import Setting
from shoal.search.best_first import BestFirst
from shoal.search.blanks import Blanking, Blanks
from shoal.search.cheapest import Cheapest
from shoal.search.evaluation import BySize, ByValues, Evaluator, Registered, Sensitive
from shoal.search.objective import FigureObjective, LevelObjective, MeasuredObjective, Objective
from shoal.search.optimum import DescendingSearch, Outcome
from shoal.search.plain import Plain
from shoal.search.space import Space
from shoal.table.missing import Missing
from shoal.table.role import Role

MOST_SCHEMES = 4_000_000  # searched layer by layer; with more, best first


@dataclass(frozen=True, eq=False)
class Goal:
    """Requirements and quality measure of a search.

    ``models``: the requirements that every scheme must meet. ``limit``: the number of persons that may be suppressed.
    ``weights``: the weights of columns in the quality measure, 1 by default. ``threads``: the number of threads.
    ``seconds``: the time limit if there are too many schemes to evaluate all.
    """

    space: Space
    gatherer: Gatherer
    models: tuple[Model, ...]
    quality: Quality
    limit: int
    weights: Mapping[str, float] = field(default_factory=dict)
    threads: int = os.cpu_count() or 1
    seconds: float = 60

    def __post_init__(self) -> None:
        if self.gatherer.missing is Missing.WILDCARD:
            raise ModelError(
                "wildcard-missing",
                "Schemes cannot be searched if missing values match any value, because records then form no "
                "equivalence classes.",
                remedy=Setting("data.missing", "own"),
            )
        for model in self.models:
            model.complete()

    @cached_property
    def evidence(self) -> Evidence:
        """The classes of the original table, with the sensitive columns and the thresholds of individuals."""
        table = self.space.table
        return self.gatherer.evidence(View(self.space.quasi, (*table.sensitive, *table.with_role(Role.THRESHOLD))))

    def weighing(self, names: Sequence[str]) -> Floats:
        """Return the weights of columns."""
        return np.array([float(self.weights.get(name, 1)) for name in names])

    def cost(self, recoding: Recoding) -> float:
        """Return the information loss of any recoding as a search computes it, with the weights of the goal."""
        measured = self.quality.measure(recoding.beside(self.space.table, self.quality.beside))
        if measured.total is None:
            return float("inf")
        if not isinstance(self.quality, LevelQuality):
            return measured.total.cost
        names = [name for name in self.space.quasi if name in measured.columns]
        prices = np.array([self.quality.price(measured.columns[name]) for name in names])
        return float(self.quality.combined(prices, self.weighing(names)))

    @property
    def bounds(self) -> Mapping[str, tuple[int, int]]:
        """The lowest and the highest permitted level of columns whose levels are restricted."""
        ladders = {ladder.hierarchy.column: ladder for ladder in self.space.ladders}
        return {
            name: (ladder.low, ladder.low + len(ladder.sizes) - 1)
            for name, ladder in ladders.items()
            if len(ladder.sizes) <= ladder.hierarchy.height
        }

    @cached_property
    def monotone(self) -> Monotone:
        """The guarantees that all models give together.

        No guarantee holds if a generalised scheme may blank records that a more specific one shows.
        """
        if self.space.blanks_some:
            return Monotone(generalisation=False, suppression=False)
        promised = [model.monotone(overlap=self.evidence.classes.overlap) for model in self.models]
        whole = all(model.scope is Scope.CLASS for model in self.models)
        return Monotone(
            generalisation=all(promise.generalisation for promise in promised),
            suppression=whole and all(promise.suppression for promise in promised),
        )

    @property
    def tables(self) -> tuple[SizesModel, ...]:
        """Models that set a requirement on the table as a whole."""
        return tuple(model for model in self.models if isinstance(model, SizesModel))

    @cached_property
    def needed(self) -> int:
        """The minimum class size that the models require."""
        standing = [model for model in self.models if self._views(model) is not None]
        return max((model.least(self.evidence) for model in standing), default=1)

    @property
    def size(self) -> int:
        """The minimum class size, capped at one more than the number of persons."""
        return min(self.needed, self.evidence.classes.persons + 1)

    def _views(self, model: Model) -> list[View] | None:
        """Return the views of a model, or None if they are not supported class by class.

        Views are supported if they use the classes of a scheme and at most one sensitive column.
        """
        if isinstance(model, SizesModel):
            return []
        if model.scope is not Scope.CLASS or Need.SUBSETS in model.needs:
            return None
        views = model.views(self.space.quasi, self.space.table.sensitive)
        simple = all(view.quasi == self.space.quasi and len(view.sensitive) <= 1 for view in views)
        return views if simple else None

    @property
    def registered(self) -> tuple[Model, ...]:
        """The models that compare classes with a register of the population."""
        population = self.gatherer.population
        if population is None or population.register is None:
            return ()
        return tuple(model for model in self.models if {Need.POPULATION, Need.REGISTER} & model.needs)

    @property
    def _adds_up(self) -> bool:
        """Whether the classes of a generalised scheme are unions of those of a more specific one."""
        return self.gatherer.missing is Missing.OWN or not any(
            self.space.table[name].missing for name in self.space.quasi
        )

    @cached_property
    def _in_bulk(self) -> bool:
        return isinstance(self.quality, LevelQuality | FigureQuality)

    @cached_property
    def objective(self) -> Objective:
        """The cost function for schemes."""
        space = self.space
        if self.by_levels is not None:
            return self.by_levels
        if isinstance(self.quality, FigureQuality) and not isinstance(self.evaluator, Plain):
            return FigureObjective(self.quality, space.table.records, space.table.distinct(space.quasi).counts)
        return MeasuredObjective()

    @cached_property
    def by_levels(self) -> LevelObjective | None:
        """The cost function for the levels of columns, if the quality measure is of that kind."""
        if not isinstance(self.quality, LevelQuality):
            return None
        return LevelObjective(self.quality, self.weighing(self.space.names), self.space.rungs())

    @property
    def plain(self) -> Plain:
        """The slow evaluator that supports any scheme, any model and any quality measure."""
        return Plain(self.space, self.gatherer, self.models, self.quality, self.limit)

    @property
    def _one_by_one(self) -> Plain:
        """The evaluator for any scheme and any model; it measures a recoding only if levels do not give its cost."""
        return replace(self.plain, measuring=self.by_levels is None)

    @cached_property
    def evaluator(self) -> Evaluator:
        """The fastest evaluator that supports the models and the quality measure."""
        by_class = self._by_class
        if not self.space.blanks_some:
            return by_class
        return Blanking(by_class, Blanks.of(self.space)) if isinstance(by_class, BySize) else self._one_by_one

    @cached_property
    def _by_class(self) -> Evaluator:
        views = [self._views(model) for model in self.models]
        if not (self._adds_up and self._in_bulk) or any(view is None for view in views):
            return self._one_by_one
        if all(model.enough(self.evidence) is not None for model in self.models):
            scan = self.space.scan()
            return self._one_by_one if scan is None else BySize(scan, self.size, self.limit)
        walk = self.space.walk()
        if walk is None:
            return self._one_by_one
        asked: dict[str, list[Model]] = {}
        for model, wanted in zip(self.models, views, strict=True):
            if model not in self.registered and model.enough(self.evidence) is None:
                for view in wanted or ():  # none if the model applies to the table as a whole
                    asked.setdefault(view.sensitive[0], []).append(model)
        walks = {column: self.space.walk(column) for column in asked}
        if any(walk is None for walk in walks.values()):
            return self._one_by_one
        columns = [Sensitive(column, tuple(asked[column]), walk) for column, walk in walks.items() if walk is not None]
        return ByValues(self.evidence, self.size, walk, tuple(columns), self.tables, self._register())

    @property
    def judges_classes(self) -> bool:
        """Whether each class can be judged by itself, regardless of how the classes were formed."""
        views = [self._views(model) for model in self.models]
        return self._adds_up and self._in_bulk and all(view is not None for view in views)

    def _register(self) -> Registered | None:
        population = self.gatherer.population
        if not self.registered or population is None:
            return None
        return Registered(self.registered, *self.space.people_walk(population))

    def evaluators(self, *, keeping: bool = True) -> Sequence[Evaluator]:
        """Return one evaluator per thread.

        ``keeping``: whether they will be called many times with few schemes.
        """
        return [self.evaluator.another(keeping=keeping) for _ in range(self.threads)]

    def coarsest(self) -> int:
        """Return the number of persons that the most generalised scheme suppresses.

        It is the minimum over all schemes if the models guarantee monotonicity.
        """
        return int(self.evaluator.counted(np.array([self.space.schemes - 1])).suppressed[0])

    def optimum(self, progress: Hook = silent, *, seconds: float | None = None, most: int = MOST_SCHEMES) -> Outcome:
        """Find the optimal scheme.

        If there are more than ``most`` schemes, the search ends after ``seconds`` (by default those of the goal) with
        the best scheme found and a proved lower bound.
        """
        evaluators, objective = self.evaluators(), self.objective
        asked = (self.space, evaluators, objective, self.limit, self.monotone, progress)
        if self.space.schemes > most:
            return BestFirst(*asked, self.seconds if seconds is None else seconds).outcome()
        if isinstance(objective, LevelObjective) and (witnesses := self._witnesses(objective, evaluators[0])):
            return Cheapest(*asked, witnesses, objective.whole).outcome()
        return DescendingSearch(*asked).outcome()

    def _witnesses(self, objective: LevelObjective, judge: Evaluator) -> Witnesses | None:
        """Return the witness search for the cheapest scheme, if it applies.

        It applies if suppression is not allowed, class sizes alone decide whether a scheme meets the requirements, and
        levels alone determine its cost.
        """
        if self.limit or not isinstance(judge, BySize) or not Witnesses.fit(judge.scan, judge.size):
            return None
        return Witnesses(judge.scan, objective.sums(), judge.size)
