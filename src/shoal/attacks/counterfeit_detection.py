"""Counterfeit detection: artificial records are recognised because their values do not agree with each other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.analyses.area import area_under_curve
from shoal.analyses.equation import Equation
from shoal.analyses.links import Link, Way, links
from shoal.analyses.relations import MISSING, Flags, Records, as_numbers, places_of
from shoal.analyses.typicality import Typicality
from shoal.attacks.attack import ATTACKS, Attack, AttackNeed
from shoal.attacks.result import Adversary, Criterion, Result
from shoal.attacks.scene import Scene
from shoal.kernels.grouping import group_rows
from shoal.recoding.nodes import Floats
from shoal.table.scale import scale

_ALONE = 0.9  # share of values that occur once, from which a repeated one is suspicious
_SLACK = 1.2  # factor of the usual deviation from an equation beyond which a record breaks it


@ATTACKS.register("counterfeit-detection")
class CounterfeitDetection(Attack):
    """Area under the ROC curve for telling counterfeit from true records.

    Counterfeits fill small classes, so who recognises them is left with fewer individuals. The adversary knows the
    relations between the columns, taken from the original as general knowledge: equations, values that determine
    others, values that are missing together. Records are ordered by the number of relations that they break, then by
    repeated values in columns whose values hardly repeat, then by how unusual their pairs of values are in the release
    (see :class:`~shoal.analyses.typicality.Typicality`). Targets: the records of classes that contain counterfeits.
    Success: the probability that a counterfeit is more suspicious than a true record, with the interval of DeLong et
    al. 1988; 0.5 is guessing. The shares of counterfeits and of true records that break a relation are among the
    details, and the number of individuals left in smaller classes than the release promises.

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
        false, suspects = scene.counterfeits, _Suspects(scene)
        here = np.flatnonzero(np.isin(suspects.classes, suspects.classes[false]))
        broken = suspects.broken[here]
        ranks = np.unique(
            np.stack([broken, suspects.repeated[here], -suspects.typicality[here]]), axis=1, return_inverse=True
        )[1].astype(np.float64)
        yield Result(
            self.name,
            "a counterfeit record is distinguished from a true one",
            self.adversary,
            self.criterion,
            area_under_curve(ranks, false[here]),
            0.5,
            len(here),
            scene.seed,
            details={
                "counterfeits": int(false.sum()),
                "recognised": float((broken[false[here]] > 0).mean()),
                "falsely_recognised": float((broken[~false[here]] > 0).mean()) if (~false[here]).any() else 0.0,
                "individuals_left_in_smaller_classes": suspects.exposed(),
            },
        )


@dataclass(frozen=True, eq=False)
class _Suspects:
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
        before = {name: self.scene.values(name) for name in self.values}
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
        """How well the values of each released record agree, judged by the release."""
        places = {
            name: self.places(name) if name in self.values else cells.nodes[cells.codes].astype(np.float64)
            for name, cells in self.scene.cells.items()
        }
        numeric = [name for name in self.values if scale(self.scene.columns[name]) is not None]
        return Typicality.of(places, numeric, self.scene.known).scores(places, counted=True)

    def exposed(self) -> int:
        """Return the number of true records in classes that are too small without the recognised records."""
        sizes, left = np.bincount(self.classes), np.bincount(self.classes, self.broken == 0)
        short = (left < sizes[sizes > 0].min())[self.classes]
        return int((short & (self.broken == 0) & ~self.scene.counterfeits).sum())
