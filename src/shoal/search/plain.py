"""Evaluation scheme by scheme: slow, but applicable to any model and any quality measure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.classes.classes import Classes
from shoal.classes.grouped import Coarsening
from shoal.classes.shown import showing
from shoal.engines.protocol import DistinctRows
from shoal.kernels.grouping import changes
from shoal.models.evidence import Evidence, Gatherer, View
from shoal.models.k_anonymity import KAnonymity
from shoal.models.model import Model, Scope, SizesModel
from shoal.population import RegisterRows
from shoal.qualities.quality import Quality
from shoal.recoding.recoding import Recoding
from shoal.search.objective import Counted, Ints
from shoal.search.space import Space

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class JudgedScheme:
    """Result of evaluating one scheme.

    ``suppressed[r]``: whether distinct row r must be suppressed; all rows, if the requirements cannot be met.
    """

    suppressed: Mask
    persons: int
    classes: Classes
    kept: Mask


@dataclass(eq=False)
class Plain:
    """Forms the classes of each scheme, applies every model, and measures the recoding.

    ``measuring``: whether recodings are measured; if not, the suppressed records of each node determine the cost.
    """

    space: Space
    gatherer: Gatherer
    models: tuple[Model, ...]
    quality: Quality
    limit: int
    measuring: bool = True

    def work(self, rows: int) -> int:
        """Return a large constant plus a multiple of the rows: each scheme takes some hundredths of a second."""
        return 1_000_000 + 500 * rows

    def by_sizes(self, schemes: Ints, sizes: Sequence[int]) -> list[Counted]:
        """Evaluate every scheme for each minimum class size."""
        everybody = self.space.table.records
        asked = [replace(self, models=(*self.models, KAnonymity(k=size)), limit=everybody) for size in sizes]
        return [evaluator.counted(schemes) for evaluator in asked]

    def another(self, *, keeping: bool = True) -> "Plain":  # noqa: ARG002 - it keeps nothing
        """Return a copy for another thread."""
        return replace(self)

    @cached_property
    def base(self) -> Classes:
        """The classes of the original table, with every sensitive column that a model reads."""
        table, quasi = self.space.table, self.space.quasi
        seen = [view.sensitive for model in self.models for view in model.views(quasi, table.sensitive)]
        wanted = dict.fromkeys(name for names in seen for name in names if name not in quasi)
        return Classes.of(table, quasi, tuple(wanted), missing=self.gatherer.missing)

    @cached_property
    def _rows(self) -> DistinctRows:
        return self.space.table.distinct(self.space.quasi)

    def counted(self, schemes: Ints) -> Counted:
        """Evaluate the schemes one by one."""
        levels = np.stack(np.unravel_index(schemes, self.space.shape), axis=-1)
        judged = [self.judged(scheme) for scheme in schemes.tolist()]
        return Counted(
            schemes,
            levels,
            small=np.zeros(len(schemes), np.int64),
            suppressed=np.array([scheme.persons for scheme in judged], np.int64),
            lost=np.array([self._rows.counts[scheme.suppressed].sum() for scheme in judged], np.int64),
            classes=np.array([scheme.classes.copies[scheme.kept].sum() for scheme in judged], np.int64),
            squares=np.zeros(len(schemes), np.uint64),
            nodes=np.array([self._nodes(*both) for both in zip(levels, judged, strict=True)], np.uint32),
            prices=self._prices(schemes, judged) if self.measuring else None,
        )

    def _prices(self, schemes: Ints, judged: Sequence[JudgedScheme]) -> NDArray[np.float64]:
        return np.array([self._price(*both) for both in zip(schemes.tolist(), judged, strict=True)], np.float64)

    def _nodes(self, levels: Ints, judged: JudgedScheme) -> Ints:
        """Count the suppressed records of each node on the levels of a scheme; blank records are not counted."""
        gone = judged.suppressed & self._visible
        records, nodes = self._rows.counts[gone], list[Ints]()
        for ladder, to_level, level in zip(self.space.ladders, self._to_levels, levels.tolist(), strict=True):
            codes = self._rows.codes[self.space.quasi.index(ladder.hierarchy.column)][gone]
            nodes.append(np.bincount(to_level[level][codes], records, ladder.sizes[0]).astype(np.int64))
        return np.concatenate(nodes)

    @cached_property
    def _to_levels(self) -> list[list[NDArray[np.uint32]]]:
        """The node of each code, per column and level."""
        return [[to_level[ladder.places] for to_level in ladder.maps()] for ladder in self.space.ladders]

    def _price(self, scheme: int, judged: JudgedScheme) -> float:
        if judged.persons > self.limit:
            return np.inf
        recoding = self.recoding(scheme, judged.suppressed).beside(self.space.table, self.quality.beside)
        measured = self.quality.measure(recoding)
        return np.inf if measured.total is None else measured.total.cost

    def recoding(self, scheme: int, suppressed: Mask) -> Recoding:
        """Return the recoding of the table under a scheme."""
        hierarchies = {ladder.hierarchy.column: ladder.hierarchy for ladder in self.space.ladders}
        return Recoding.of_scheme(self.space.table, hierarchies, self.space.scheme(scheme), suppressed, self._rows)

    def judged(self, scheme: int) -> JudgedScheme:
        """Suppress the classes that fail, then enforce the requirements on the table as a whole."""
        coarser = self._coarser(scheme)
        classes = self.base.rolled(coarser)
        kept = ~self._failing(coarser, classes)
        if self.space.blanks_some:
            showing = kept & self._showing(classes, scheme)
            kept = showing if showing.any() else kept  # if all classes are blank, the table is generalised
        for model in self.models:
            if model.scope is Scope.TABLE and kept.any():
                kept = self._mended(model, scheme, classes, kept)
        return self._result(classes, kept)

    def _coarser(self, scheme: int) -> dict[str, Coarsening]:
        ladders = {ladder.hierarchy.column: ladder.hierarchy for ladder in self.space.ladders}
        return {name: Coarsening.to_level(ladders[name], level) for name, level in self.space.scheme(scheme).items()}

    def _showing(self, classes: Classes, scheme: int) -> Mask:
        """Return a mask of the classes that are not blank in all quasi-identifiers."""
        levels, keys = self.space.scheme(scheme), dict(zip(classes.quasi, classes.keys, strict=True))
        showing = np.zeros(len(classes), bool)
        for ladder in self.space.ladders:
            name = ladder.hierarchy.column
            nothing = ladder.hierarchy.suppressed_node(levels[name])
            showing |= np.ones(len(classes), bool) if nothing is None else keys[name] != nothing
        return showing

    def _failing(self, coarser: dict[str, Coarsening], classes: Classes) -> Mask:
        failing = np.zeros(len(classes), bool)
        for model in self.models:
            if model.scope is Scope.TABLE:
                continue
            for view in model.views(self.space.quasi, self.space.table.sensitive):
                if self._is_plain(view):
                    failing |= model.failing(self.about(view, classes, coarser))
                else:
                    failing |= bool(model.failing(self._evidence(view, coarser)).any())
        return failing

    def _is_plain(self, view: View) -> bool:
        """Return whether a view uses the classes of the scheme itself and at most one sensitive column."""
        return view.quasi == self.space.quasi and len(view.sensitive) <= 1

    def about(self, view: View, classes: Classes, coarser: Mapping[str, Coarsening]) -> Evidence:
        """Return the evidence that a model reads about the classes of a scheme."""
        matched = None
        if self._people is not None:
            known = [self._people.codes[self.base.quasi.index(name)] for name in classes.quasi]
            seen = RegisterRows(tuple(known), self._people.counts).coarser(
                [coarser[name].nodes for name in classes.quasi]
            )
            matched = seen.matched(classes.keys, [coarser[name].size + 1 for name in classes.quasi]).ruled(classes)
        return Evidence(classes, view.column, self.gatherer.hierarchies, self.gatherer.population, matched)

    @cached_property
    def _people(self) -> RegisterRows | None:
        population = self.gatherer.population
        if population is None or population.register is None:
            return None
        return population.register_rows(self.space.table, self.base.quasi)

    def _evidence(self, view: View, coarser: dict[str, Coarsening], kept: Mask | None = None) -> Evidence:
        if self._is_plain(view):
            base = self.base.rolled(coarser)
        else:
            seen = self.gatherer.evidence(view).classes
            base = seen.rolled({name: how for name, how in coarser.items() if name in view.quasi})
        return self.about(view, base if kept is None else base.only(kept), coarser)

    def _by_size(self, scheme: int, classes: Classes) -> NDArray[np.intp]:
        """Sort classes by size; ties are in the order in which a walk visits the classes."""
        keys = dict(zip(classes.quasi, classes.keys, strict=True))
        places = []
        for name, ladder, level in zip(
            self.space.names, self.space.ladders, np.unravel_index(scheme, self.space.shape), strict=True
        ):
            place = np.zeros(len(ladder.hierarchy.levels[ladder.low + int(level)]), np.intp)
            place[ladder.numbers[int(level)]] = np.arange(len(ladder.numbers[int(level)]))
            places.append(place[keys[name]])
        return np.lexsort((*reversed(places), classes.sizes))

    def _mended(self, model: Model, scheme: int, classes: Classes, kept: Mask) -> Mask:
        """Suppress the smallest classes, as few as possible, until the model holds; if it never does, suppress all."""
        coarser = self._coarser(scheme)
        if not self._fails(model, coarser, kept):
            return kept
        order = self._by_size(scheme, classes)
        order = order[kept[order]]

        def without(number: int) -> Mask:
            chosen = np.zeros(len(kept), bool)
            chosen[order[number:]] = True
            return chosen

        low, high = 0, len(order)  # fails without the first ``low`` classes, holds without ``high``
        while isinstance(model, SizesModel) and high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._fails(model, coarser, without(middle)) else (low, middle)
        return without(high)

    def _fails(self, model: Model, coarser: dict[str, Coarsening], kept: Mask) -> bool:
        views = model.views(self.space.quasi, self.space.table.sensitive)
        return any(model.failing(self._evidence(view, coarser, kept)).any() for view in views)

    def _result(self, classes: Classes, kept: Mask) -> JudgedScheme:
        """Determine the rows to suppress: all rows with the same quasi-identifier values, if any of them must be."""
        lost = np.zeros(len(self._rows), bool)
        lost[self.of_shown[~kept[classes.of_row]]] = True
        gone = lost[self.of_shown]
        still = np.zeros(len(classes), bool)
        still[classes.of_row[~gone]] = True
        return JudgedScheme(lost | ~self._visible, classes.grouped.shown.members.within(gone), classes, still)

    @cached_property
    def of_shown(self) -> NDArray[np.intp]:
        """The distinct row over the quasi-identifiers to which each distinct row with sensitive values belongs."""
        keys = self.base.grouped.shown.keys
        return np.asarray(np.flatnonzero(self._visible)[np.cumsum(changes(keys, len(keys[0])))])

    @cached_property
    def _visible(self) -> Mask:
        return showing(self._rows, [self.space.table[name] for name in self.space.quasi])
