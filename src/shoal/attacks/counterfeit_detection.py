"""Counterfeit detection: artificial records are recognised because their values do not agree with each other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.analyses.area import area_under_curve
from shoal.analyses.equation import Equation
from shoal.analyses.estimate import NORMAL, Estimate, student
from shoal.analyses.learner import fitted_to, one_thread
from shoal.analyses.links import Link, Way, links
from shoal.analyses.places import MISSING, as_numbers, places_of
from shoal.analyses.relations import Flags, Records
from shoal.analyses.trend import Trend
from shoal.analyses.typicality import Typicality
from shoal.attacks.attack import ATTACKS, Attack, AttackNeed
from shoal.attacks.features import AttackFeatures
from shoal.attacks.learned import FEWEST
from shoal.attacks.result import Adversary, Criterion, Result
from shoal.attacks.scene import Scene
from shoal.kernels.grouping import group_rows
from shoal.recoding.nodes import Floats, Ints
from shoal.table.scale import scale

_ALONE = 0.9  # share of values that occur once, from which a repeated one is suspicious
_SLACK = 1.2  # factor of the usual deviation from an equation beyond which a record breaks it
_FOLDS = 3  # of the records, for a model that has not seen those that it judges
_MOST = 20_000  # records of the original from which relations are taken


@ATTACKS.register("counterfeit-detection")
class CounterfeitDetection(Attack):
    """Area under the ROC curve for telling counterfeit from true records of the same class.

    Counterfeits fill small classes, so who recognises them is left with fewer individuals. The adversary knows the
    relations between the columns, taken from the original as general knowledge: equations, values that determine
    others, that never occur together or are missing together, numbers whose order is always the same. Records are
    ordered by the number of relations that they break, then by repeated values in columns whose values hardly repeat,
    then by how unusual their pairs of values are among other true records (pointwise mutual information). The shares of
    counterfeits and of true records that break a relation are among the details, and the number of individuals left in
    smaller classes than the release promises.

    A second adversary has made releases of similar individuals in the same way, and trains a model (gradient boosting)
    to recognise their counterfeits. It is trained on two thirds of the records of this release and judges the others.

    Targets: the records of classes that contain counterfeits. Success: the probability that a counterfeit is more
    suspicious than a true record of its class, with the interval of DeLong et al. 1988; 0.5 is guessing.

    >>> import shoal
    >>> data = {"sex": ["f", "m"] * 30, "title": ["Ms", "Mr"] * 30}
    >>> before = shoal.read(data).assign(quasi="sex", insensitive="title")
    >>> after = shoal.read({"sex": data["sex"] + ["f"], "title": data["title"] + ["Mr"]})
    >>> result = next(CounterfeitDetection().run(Scene.of(before, after, truth=np.arange(60))))
    >>> result.success.value, result.details["recognised"], result.details["falsely_recognised"]
    (1.0, 1.0, 0.0)
    """

    name: ClassVar[str] = "counterfeit-detection"
    adversary: ClassVar[Adversary] = Adversary.STATISTICAL
    criterion: ClassVar[Criterion] = Criterion.SINGLING_OUT
    baseline_is: ClassVar[str] = "a random guess"
    unit: ClassVar[str] = "record"
    needs: ClassVar[frozenset[AttackNeed]] = frozenset({AttackNeed.KNOWN, AttackNeed.COUNTERFEITS})

    def run(self, scene: Scene) -> Iterator[Result]:
        """Order the records of classes with counterfeits by suspicion."""
        false, suspects = scene.counterfeits, Suspects(scene)
        here = np.flatnonzero(np.isin(suspects.classes, suspects.classes[false]))
        broken = suspects.broken[here]
        evidence = np.stack([broken, suspects.repeated[here], -suspects.typicality[here]])
        order = np.unique(evidence, axis=1, return_inverse=True)[1].astype(np.float64)
        yield self._judged(
            scene,
            suspects,
            here,
            order,
            counterfeits=int(false.sum()),
            recognised=float((broken[false[here]] > 0).mean()),
            falsely_recognised=float((broken[~false[here]] > 0).mean()) if (~false[here]).any() else 0.0,
            individuals_left_in_smaller_classes=suspects.exposed(),
        )
        if find_spec("sklearn") is not None and min(false[here].sum(), (~false[here]).sum()) >= FEWEST:
            scores = suspects.trained(scene.rng(self.name))
            yield self._judged(scene, suspects, here, scores[here], variant="trained model")

    def _judged(
        self,
        scene: Scene,
        suspects: "Suspects",
        here: NDArray[np.intp],
        scores: Floats,
        variant: str = "",
        **details: float,
    ) -> Result:
        """Return the result of an order of some records."""
        false, classes = scene.counterfeits[here], suspects.classes[here].astype(np.int64)
        return self.told_apart(
            scene,
            "a counterfeit record is distinguished from a true one of its class",
            scores,
            false,
            classes,
            variant=variant,
            over_tables=_over_classes(area_under_curve(scores, false, classes, classes), classes),
            details=details,
        )


def _over_classes(area: Estimate, classes: Ints) -> Estimate:
    """Return an area with an interval that is wider if there are few classes, which share their fate."""
    number = len(np.unique(classes))
    if number < 2:
        return Estimate(area.value, 0.0, 1.0)
    wider = student(number - 1) / NORMAL
    low, high = (area.value + wider * (end - area.value) for end in (area.low, area.high))
    return Estimate(area.value, max(low, 0.0), min(high, 1.0))


@dataclass(frozen=True, eq=False)
class Suspects:
    """The evidence against each released record."""

    scene: Scene

    @cached_property
    def records(self) -> NDArray[np.intp]:
        """All released records."""
        return np.arange(self.scene.release.records)

    @cached_property
    def values(self) -> list[str]:
        """The columns that show values."""
        return [name for name, cells in self.scene.cells.items() if name in self.scene.original and cells.are_values]

    def places(self, name: str) -> Floats:
        """Return the place of the value that each released record shows; ``MISSING`` if it shows none."""
        codes = self.scene.cells[name].values_at(self.records)
        return np.where(codes < 0, MISSING, places_of(self.scene.columns[name])[codes])

    @cached_property
    def classes(self) -> NDArray[np.uint32]:
        """The class of each released record."""
        release, known = self.scene.release, self.scene.known
        return group_rows(
            [release.codes(name) for name in known], [release[name].size for name in known], release.records
        ).ids

    @cached_property
    def broken(self) -> Floats:
        """The number of relations that each released record breaks."""
        total = self.scene.original.records
        some = np.sort(self.scene.rng("relations").choice(total, min(total, _MOST), replace=False))
        before = {name: self.scene.values(name)[some] for name in self.values}
        columns = {name: self.scene.columns[name] for name in self.values}
        places, number = {name: self.places(name) for name in self.values}, np.zeros(len(self.records))
        for relation in Records(columns, before).relations(self.scene.seed):
            number += relation.broken(places)
        for flags in self._outside():
            number += flags
        return number

    def _outside(self) -> Iterator[Flags]:
        """Yield whether a computed value lies outside of the generalised cell of the record, for each relation."""
        hidden = [name for name in self.scene.known if name not in self.values]
        if not hidden:
            return
        for link in links(self.scene.original, [*hidden, *self.values], seed=self.scene.seed, targets=hidden):
            for target in hidden:
                others = link.determining(target)
                if others and {*others} <= {*self.values}:
                    yield self._contradicts(link, target, others)

    def _contradicts(self, link: Link, target: str, others: Sequence[str]) -> Flags:
        """Return whether the value that follows from others contradicts the generalised cell."""
        if link.way is Way.COMPUTED:
            return self._out_of_range(target, others)
        known, told = self.scene.values(others[0]).astype(np.int64), self.scene.values(target).astype(np.int64)
        size = int(self.scene.columns[target].size)
        pairs = np.unique(known * size + told)
        seen = self.scene.cells[others[0]].values_at(self.records)
        cells = self.scene.cells[target]
        fits = np.zeros(len(self.records), bool)
        starts, ends = (np.searchsorted(pairs, (seen + step) * size) for step in (0, 1))
        for at in range(int((ends - starts).max(initial=0))):  # as often as a value has others beside it
            there = starts + at < ends
            fits[there] |= cells.holds(cells.codes[there], (pairs[(starts + at)[there]] % size).astype(np.uint32))
        return np.asarray(~fits & (ends > starts) & (seen >= 0))

    def _out_of_range(self, target: str, others: Sequence[str]) -> Flags:
        """Return whether the number that follows from others is not in the interval of the cell."""
        places = scale(self.scene.columns[target])
        numbers = {name: places_of(self.scene.columns[name]) for name in others}
        nothing = np.zeros(len(self.records), bool)
        if places is None:
            return nothing
        before = [as_numbers(numbers[name][self.scene.values(name)]) for name in others]
        equation = Equation.fitted(places[self.scene.values(target)], before)
        if equation is None:
            return nothing
        cells = self.scene.cells[target]
        after = [as_numbers(self.places(name)) for name in others]
        computed, slack = equation.of(after), _SLACK * equation.rest
        low, high = cells.low[cells.codes] - slack, cells.high[cells.codes] + slack
        return np.asarray((computed < low) | (computed > high))

    @cached_property
    def repeated(self) -> Floats:
        """The number of values of each released record that repeat, in columns where values hardly do."""
        number = np.zeros(len(self.records))
        for name in self.values:
            places = self.places(name)
            _, which, counts = np.unique(places, return_inverse=True, return_counts=True)
            times = np.where(places > MISSING, counts[which], 1)
            if (times == 1).mean() >= _ALONE:
                number += times > 1
        return number

    @cached_property
    def typicality(self) -> Floats:
        """How well the values of each released record agree, judged by true records of which it is none."""
        places = {
            name: self.places(name) if name in self.values else cells.nodes[cells.codes].astype(np.float64)
            for name, cells in self.scene.cells.items()
        }
        half = self.scene.rng("halves").random(len(self.records)) < 0.5
        scores = np.zeros(len(self.records))
        for judged in (half, ~half):
            learned = {name: values[~judged & ~self.scene.counterfeits] for name, values in places.items()}
            if learned and len(next(iter(learned.values()))):
                model = Typicality.of(learned, self.numeric, self.scene.known)
                scores[judged] = model.scores({name: values[judged] for name, values in places.items()})
        return scores

    @property
    def numeric(self) -> list[str]:
        """The columns that show numbers or dates."""
        return [name for name in self.values if scale(self.scene.columns[name]) is not None]

    def trained(self, rng: np.random.Generator) -> Floats:
        """Return the probability that each released record is a counterfeit, by a model trained on others.

        The model reads the released cells, and the deviation of each number from what the others lead to expect.
        """
        features = AttackFeatures.of(self.scene, list(self.scene.cells)).records(self.scene, self.records)
        features = np.concatenate([features, *(self._deviation(name)[:, None] for name in self.numeric)], axis=1)
        false, scores = self.scene.counterfeits, np.zeros(len(features))
        fold = rng.integers(0, _FOLDS, int(self.classes.max()) + 1)[self.classes]
        with one_thread():
            for number in range(_FOLDS):
                seen = fold != number
                model = fitted_to("boosting", False, features[seen], false[seen].astype(np.int64), self.scene.seed)
                scores[~seen] = model.score(features[~seen])
        return scores

    def _deviation(self, name: str) -> Floats:
        """Return by how much each released number deviates from what the others lead to expect, as in the original."""
        others = [other for other in self.numeric if other != name]
        before = {other: places_of(self.scene.columns[other])[self.scene.values(other)] for other in (name, *others)}
        trend = Trend.of(before, name, others)
        values = as_numbers(self.places(name))
        if trend is None:
            return np.zeros(len(values))
        return np.abs(values - trend.sums({other: self.places(other) for other in others}))

    def exposed(self) -> int:
        """Return the number of true records in classes that are too small without the recognised records."""
        sizes, left = np.bincount(self.classes), np.bincount(self.classes, self.broken == 0)
        short = (left < sizes[sizes > 0].min())[self.classes]
        return int((short & (self.broken == 0) & ~self.scene.counterfeits).sum())
