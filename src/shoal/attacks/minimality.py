"""Minimality: inference from the knowledge that nothing was generalised or suppressed without need."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.attacks.attack import ATTACKS, Attack, AttackNeed
from shoal.attacks.publication import Publication, Withheld
from shoal.attacks.result import Adversary, Criterion, Result
from shoal.attacks.scene import Scene
from shoal.attacks.withheld import Judge, posterior
from shoal.models.alpha_k_anonymity import AlphaKAnonymity
from shoal.models.model import Model, Need, least_size
from shoal.recoding.nodes import Floats, Ints

_ROOM = 1 << 27  # individuals times values of a column that is attacked, at most


@ATTACKS.register("minimality")
class Minimality(Attack):
    """Share of individuals whose sensitive value is inferred with certainty by those who know the algorithm.

    An algorithm that generalises or suppresses a group only because its sensitive values violate a requirement reveals
    that they do. Attacked are groups of equal cells under a scheme that the release uses for other records, or of equal
    quasi-identifiers, whose individuals are generalised further, or suppressed. The adversary knows the
    quasi-identifiers of all individuals and the requirements of the policy. Of the assignments of the values of a class
    to its members, those in which the group and the rest of the class would have met the requirements are ruled out;
    the values of suppressed individuals have the frequencies of the release. Wong et al. 2007. If the release can be
    made again, the adversary simulates the algorithm on other values, and counts how often it withholds groups that
    meet the requirements. Success: the true value has a probability of at least ``certain``. Baseline: without
    knowledge of the algorithm.

    Without requirements on sensitive values, no value (of ``values``, if given) may have a share above 1/``l``.

    >>> import shoal
    >>> data = {"zip": ["1", "1", "2", "2", "2", "2", "2"], "dx": ["hiv", "hiv", "a", "b", "c", "d", "e"]}
    >>> before = shoal.read(data).assign(quasi="zip", sensitive="dx")
    >>> release = shoal.read({**data, "zip": ["{1, 2}"] * 7})
    >>> result = next(Minimality(l=2, values=["hiv"]).run(Scene.of(before, release, truth=np.arange(7))))
    >>> result.baseline, result.persons.round(2).tolist()[:2]  # two cases of HIV among five do not fail
    (0.0, [1.0, 1.0])
    """

    name: ClassVar[str] = "minimality"
    adversary: ClassVar[Adversary] = Adversary.ADAPTIVE
    criterion: ClassVar[Criterion] = Criterion.INFERENCE
    baseline_is: ClassVar[str] = "without knowledge of the algorithm"
    needs: ClassVar[frozenset[AttackNeed]] = frozenset({AttackNeed.KNOWN, AttackNeed.SENSITIVE, AttackNeed.TRUTH})
    reads_sets: ClassVar[bool] = True
    default: ClassVar[bool] = False

    l: int = Field(default=2, ge=2, description="l of l-diversity, if the policy requires nothing of sensitive values")  # noqa: E741
    values: list[str] = Field(default=[], description="values that must not be frequent, for l (default: all)")
    certain: float = Field(default=0.99, gt=0.5, le=1, description="probability from which on a value is inferred")
    draws: int = Field(default=20, ge=1, description="number of assignments drawn for each number of equal values")

    def run(self, scene: Scene) -> Iterator[Result]:
        """Attack each sensitive column."""
        if scene.truth is None:
            return
        for column in scene.secret:
            models = self._models(scene, column)
            fits = len(scene.insiders) * scene.original[column].size <= _ROOM
            if models and fits and len(scene.having(column)):
                yield self._result(scene, scene.truth, column, models)

    def _models(self, scene: Scene, column: str) -> tuple[Model, ...]:
        """Return the requirements on a column; if there are none on any column, that of l."""
        concerned = [model for model in scene.requirements if Need.SENSITIVE in model.needs]
        if not concerned:
            given = {"alpha": 1 / self.l, "k": 1, **({"values": tuple(self.values)} if self.values else {})}
            return (AlphaKAnonymity.model_validate(given),)
        return tuple(model for model in concerned if getattr(model, "column", None) in {None, column})

    def _result(self, scene: Scene, truth: NDArray[np.intp], column: str, models: tuple[Model, ...]) -> Result:
        values = scene.original.codes(column)[scene.insiders.records].astype(np.int64)
        publication = Publication.of(scene, truth)
        prior, without = _without(publication, values, scene.original[column].size)
        judge, rng = Judge.of(scene, column, models), scene.rng(f"{self.name} {column}")
        needless = self._without_need(scene, column, judge, without)
        with_, withheld = without[np.arange(len(values)), values].copy(), np.zeros(len(values), bool)
        guessed, highest = without.argmax(axis=1), without.max(axis=1)
        for group in publication.groups(values, judge.column.size, _least(scene)):
            inferred = posterior(judge, group, prior, self.draws, rng)
            if inferred is None:
                continue
            before = prior if group.values is None else group.values / group.values.sum()
            reliability = needless.reliability(inferred[1], group.way)
            belief = _mixed(inferred[0], inferred[1], before, reliability)
            surer = group.members[~withheld[group.members] | (belief.max() > highest[group.members])]
            with_[surer], withheld[surer], highest[surer] = belief[values[surer]], True, belief.max()
            guessed[surer] = belief.argmax()
        attacked = values != (judge.column.missing_code if judge.column.missing_code is not None else -1)
        sure = self.certain - 1e-9
        plain = without[np.arange(len(values)), values]
        return self.result(
            scene,
            f"an adversary who knows the algorithm gives the true value a probability of at least {self.certain:g}",
            (with_[attacked] >= sure).astype(np.float64),
            float((plain[attacked] >= sure).mean()),
            column=column,
            people=scene.insiders.some(attacked),
            persons=scene.over_original(scene.insiders.some(attacked), with_[attacked]),
            details={
                "inferred_by_the_algorithm": float(((with_ >= sure) & (plain < sure))[attacked].mean()),
                "withheld": int(np.count_nonzero(withheld)),
                "withheld_and_suppressed": int(np.count_nonzero(withheld & ~publication.is_released)),
                "guessed_rightly_of_withheld": _share((guessed == values)[withheld]),
                "without_the_algorithm": _share((without.argmax(axis=1) == values)[withheld]),
                **{f"{way}_without_need": share for way, share in needless.shares.items()},
            },
        )

    def _without_need(self, scene: Scene, column: str, judge: Judge, without: Floats) -> "_WithoutNeed":
        """Simulate the algorithm, and count how often it withholds groups that meet the requirements.

        The simulated values of individuals are drawn from what the release shows of their class.
        """
        if scene.remade is None:
            return _WithoutNeed(dict.fromkeys(Withheld, 0.0))
        rng = scene.rng(f"{self.name} simulation of {column}")
        cumulated = np.cumsum(without, axis=1)
        drawn = (rng.random((len(without), 1)) * cumulated[:, -1:] > cumulated).sum(axis=1)
        codes = scene.original.codes(column).copy()
        codes[scene.insiders.records] = drawn.astype(codes.dtype)
        again = scene.remade(column, codes)
        if again is None or again.truth is None:
            return _WithoutNeed(dict.fromkeys(Withheld, 0.0))
        values = codes[scene.insiders.records].astype(np.int64)
        return _WithoutNeed.of(Publication.of(again, again.truth), values, judge, _least(scene))


@dataclass(frozen=True, slots=True)
class _WithoutNeed:
    """How often groups that meet the requirements are nevertheless withheld, by the way in which they are."""

    shares: Mapping[Withheld, float]

    @classmethod
    def of(cls, publication: Publication, values: Ints, judge: Judge, least: int) -> "_WithoutNeed":
        """Count the groups of a release."""
        passing, groups = dict.fromkeys(Withheld, 0), list(publication.groups(values, judge.column.size, least))
        if groups:
            counts = np.stack([np.bincount(values[group.members], minlength=judge.column.size) for group in groups])
            rest = [
                np.zeros_like(of) if group.values is None else group.values - of
                for group, of in zip(groups, counts, strict=True)
            ]
            failing = judge.fails(counts.astype(np.int64)) | judge.fails(np.stack(rest).astype(np.int64))
            for group, fails in zip(groups, failing.tolist(), strict=True):
                passing[group.way] += not fails
        return cls({way: number / max(number + publication.number, 1) for way, number in passing.items()})

    def reliability(self, chance: float, way: Withheld) -> float:
        """Return the probability that a withheld group fails, which has the probability ``chance`` beforehand."""
        return chance / (chance + self.shares[way] * (1 - chance))


def _least(scene: Scene) -> int:
    """Return the smallest size of a group that can be published: smaller ones fail, whatever their values."""
    return max(2, least_size(scene.requirements))


def _without(publication: Publication, values: Ints, size: int) -> tuple[Floats, Floats]:
    """Return the frequency of each value in the release, and in the class of each individual."""
    classes = publication.classes.astype(np.int64)
    number = int(classes.max(initial=0)) + 1
    there = publication.is_released
    prior = np.bincount(values[there], minlength=size) / max(int(np.count_nonzero(there)), 1)
    counts = np.bincount(classes * size + values, minlength=number * size).reshape(number, size)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return prior, np.where(there[:, None], shares[classes], prior)


def _mixed(failed: Floats, chance: float, before: Floats, reliability: float) -> Floats:
    """Return the belief about the value of a member, if a withheld group fails with a given probability only.

    ``failed``: the belief if it fails, which has the probability ``chance`` beforehand.
    """
    passed = np.maximum(before - chance * failed, 0)
    total = passed.sum()
    return np.asarray(reliability * failed + (1 - reliability) * (passed / total if total > 0 else before))


def _share(right: NDArray[np.bool_]) -> float | None:
    return float(right.mean()) if len(right) else None
