"""Bucket inference: learning from a release by buckets which value of a bucket is whose."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.attacks.attack import ATTACKS, Attack, AttackNeed
from shoal.attacks.bucketed import BucketedValues, Indices, ValueModel, deduced, most_likely
from shoal.attacks.people import KnownPeople
from shoal.attacks.result import Adversary, Criterion, Result
from shoal.attacks.scene import Scene
from shoal.attacks.slice_inference import SliceGuesses, of_strangers
from shoal.attacks.sliced import SlicedTables
from shoal.kernels.ranges import expanded
from shoal.recoding.nodes import Floats, Ints
from shoal.table.scale import binned

_STRANGERS = 20_000  # individuals whose values a model of others guesses


@ATTACKS.register("bucket-inference")
class BucketInference(Attack):
    """Share of individuals whose sensitive value is guessed among the values of their bucket.

    The adversary knows which record of the first table belongs to an individual, or, in a release by groups of columns,
    all quasi-identifiers; learns from the tables which values go with which other columns, by expectation–maximisation
    under the constraint of the buckets (after Kifer 2009), and guesses the most likely value. Buckets promise at most
    1/l for who does not learn. Baseline: a model of other individuals, without the release, which tells what is known
    about anybody. Control: the same attack after the records were assigned to the buckets at random; it finds 1/l. This
    control is not a group of other individuals: a gain over the baseline alone counts as a risk.
    """

    name: ClassVar[str] = "bucket-inference"
    adversary: ClassVar[Adversary] = Adversary.STATISTICAL
    criterion: ClassVar[Criterion] = Criterion.INFERENCE
    baseline_is: ClassVar[str] = "a model of other individuals, without the release"
    needs: ClassVar[frozenset[AttackNeed]] = frozenset({AttackNeed.TRUTH, AttackNeed.BUCKETS})

    most: int = Field(default=1_000_000, ge=1, description="maximum number of pairs of a record and a value")

    @classmethod
    def must_run(cls, scene: Scene) -> bool:
        """Return whether the release is in several tables: all other attacks know a bucket, and learn nothing."""
        return bool(scene.link)

    def run(self, scene: Scene) -> Iterator[Result]:
        """Guess the value of each target."""
        rng = scene.rng(self.name)
        for bucketed in scene.buckets:
            yield self._of_buckets(scene, bucketed, rng)
        for sliced in scene.slices:
            yield self._of_slices(scene, sliced, rng)

    def _of_buckets(self, scene: Scene, bucketed: BucketedValues, rng: np.random.Generator) -> Result:
        """Return the result for values by bucket; the record of each target in the first table is known."""
        chosen = self._chosen(bucketed, rng)
        features, sizes = _features(scene, chosen)
        part = bucketed.some(chosen)
        truth = np.full(scene.release.records, -1, np.int64)
        if scene.truth is not None:
            there = np.flatnonzero(scene.truth >= 0)
            truth[scene.truth[there]] = scene.original.codes(bucketed.column.name)[there]
        true = truth[chosen]
        guess, sure = most_likely(*deduced(part, features, sizes), len(chosen))
        people, right = _reached(scene, chosen, guess == true, part.column.name)
        shuffled, null = _shuffled(part, rng)
        others, _ = most_likely(*deduced(shuffled, features, sizes), len(chosen))
        some = rng.permutation(np.flatnonzero(true >= 0))[:_STRANGERS]
        strangers = ValueModel.crossed([codes[some] for codes in features], sizes, true[some], part.column.size)
        promise = (part.counts / np.bincount(part.buckets, part.counts)[part.buckets]).max(initial=0.0)
        details = {
            "most_probable_without_learning": float(promise),
            **_of_several(scene, bucketed),
            **_certain(sure, guess == true),
        }
        says = "the value is guessed from the other columns and the values of the bucket"
        fates = None if scene.truth is None else bucketed.of_record[scene.truth[people.records]].astype(np.int64)
        return self._told(scene, people, right, others == null, strangers, part.column.name, says, details, fates)

    def _of_slices(self, scene: Scene, sliced: SlicedTables, rng: np.random.Generator) -> Result:
        """Return the result for groups of columns; only the quasi-identifiers of each target are known."""
        first = sliced.slices[0]
        chosen = np.unique(first.buckets[self._chosen(sliced.bucketed(first), rng)])
        guesses = SliceGuesses.of(sliced, scene, chosen, rng)
        strangers = of_strangers(scene, sliced.column.name, _STRANGERS, rng)
        details = {"most_probable_without_learning": guesses.promise, **_certain(guesses.sure, guesses.right)}
        says = "the value is guessed from the quasi-identifiers and the buckets that match them"
        right = guesses.right.astype(np.float64)
        return self._told(scene, guesses.people, right, guesses.others, strangers, sliced.column.name, says, details)

    def _told(  # noqa: PLR0913, PLR0917 - the parts of a result
        self,
        scene: Scene,
        people: KnownPeople,
        right: Floats,
        others: NDArray[np.bool_],
        strangers: float,
        column: str,
        says: str,
        details: Mapping[str, float | None],
        fates: Ints | None = None,
    ) -> Result:
        persons = scene.over_original(people, right)
        return self.result(
            scene,
            says,
            right,
            strangers,
            others.astype(np.float64),
            control_is_chance=True,
            people=people,
            fates=fates,
            column=column,
            persons=persons,
            details=details,
        )

    def _chosen(self, bucketed: BucketedValues, rng: np.random.Generator) -> Indices:
        """Return the records that are attacked: all of them, or those of random buckets."""
        records, _ = bucketed.pairs()
        if len(records) <= self.most:
            return np.arange(len(bucketed.of_record))
        order = rng.permutation(int(bucketed.of_record.max()) + 1)
        pairs = np.bincount(bucketed.of_record[records], minlength=len(order))[order]
        taken = np.zeros(len(order), bool)
        taken[order[np.cumsum(pairs) <= self.most]] = True
        taken[order[0]] = True
        return np.flatnonzero(taken[bucketed.of_record])


def _features(scene: Scene, chosen: Indices) -> tuple[list[Indices], list[int]]:
    """Return the codes of the records in each column beside the values, in groups if it has many numbers."""
    features, sizes = list[Indices](), list[int]()
    apart = {bucketed.column.name for bucketed in scene.buckets}
    for column in scene.release.columns:
        if column.name in apart:
            continue
        groups, number = binned(column)
        features.append(groups[scene.release.codes(column.name)[chosen]])
        sizes.append(number)
    return features, sizes


def _reached(scene: Scene, chosen: Indices, right: NDArray[np.bool_], column: str) -> tuple[KnownPeople, Floats]:
    """Return the targets with an attacked record, and the share of correct guesses among the records of each."""
    place = np.full(scene.release.records, -1, np.int64)
    place[chosen] = np.arange(len(chosen))
    targets = scene.having(column)
    which, records = scene.own(targets)
    attacked = place[records] >= 0
    which, records = which[attacked], place[records[attacked]]
    number = np.bincount(which, minlength=len(targets))
    hits = np.bincount(which, right[records], len(targets))
    return targets.some(number > 0), np.asarray(hits[number > 0] / number[number > 0])


def _shuffled(bucketed: BucketedValues, rng: np.random.Generator) -> tuple[BucketedValues, Indices]:
    """Return the release with records in random buckets, and a random value of its bucket for each record."""
    shuffled = BucketedValues(
        bucketed.column, rng.permutation(bucketed.of_record), bucketed.buckets, bucketed.values, bucketed.counts
    )
    records, places = shuffled.pairs()
    keys = rng.random(len(records)) ** (1 / shuffled.counts[places])  # a value with a higher count wins more often
    return shuffled, most_likely(records, shuffled.values[places], keys, len(shuffled.of_record))[0]


def _of_several(scene: Scene, bucketed: BucketedValues) -> dict[str, float]:
    """Return the highest probability that one of several values of an individual is a given one, without learning.

    The bound is the sum over the buckets of the individual: with m records in a bucket of n values, n_s of them s, the
    probability of s is 1 − C(n − n_s, m) / C(n, m). Records share their value if the bucket has fewer values than
    records. Nothing if no individual has several values. ``individuals_above``: the number of individuals with a higher
    probability than any single value has.
    """
    known = np.flatnonzero(scene.owners >= 0)
    number = int(max(bucketed.of_record.max(initial=0), bucketed.buckets.max(initial=0))) + 1
    pairs, records = np.unique(scene.owners[known] * number + bucketed.of_record[known], return_counts=True)
    persons, buckets = pairs // number, pairs % number
    totals = np.bincount(bucketed.buckets, bucketed.counts, number).astype(np.int64)
    is_shared = totals < np.bincount(bucketed.of_record, minlength=number)
    drawn = np.where(is_shared[buckets], 1, records)
    several = np.isin(persons, np.flatnonzero(np.bincount(persons, drawn) > 1))
    if not several.any():
        return {}
    persons, buckets, drawn = persons[several], buckets[several], drawn[several]
    sizes = np.bincount(bucketed.buckets, minlength=number)
    pair, place = expanded((np.cumsum(sizes) - sizes)[buckets], sizes[buckets])
    none = np.ones(len(pair))
    for step in range(int(drawn.max())):
        whole = np.maximum(totals[buckets[pair]] - step, 1)
        left = np.maximum(whole - bucketed.counts[place], 0)
        none *= np.where(step < drawn[pair], left / whole, 1)
    keys, at = np.unique(persons[pair] * bucketed.column.size + bucketed.values[place], return_inverse=True)
    sums = np.minimum(np.bincount(at, 1 - none), 1.0)
    single = (bucketed.counts / totals[bucketed.buckets]).max()
    above = np.unique(keys[sums > single * (1 + 1e-9)] // bucketed.column.size)
    return {"most_probable_of_several_values": float(sums.max()), "individuals_above": float(len(above))}


def _certain(sure: Floats, right: NDArray[np.bool_]) -> dict[str, float | None]:
    """Return the share of guesses with a probability above one half, and the correct share of these."""
    certain = sure > 0.5
    return {
        "believed_above_one_half": float(certain.mean()),
        "right_among_these": float(right[certain].mean()) if certain.any() else None,
    }
