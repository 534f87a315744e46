"""Bucket inference: learning from a release by buckets which value of a bucket is whose."""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.attacks.attack import ATTACKS, Attack, AttackNeed
from shoal.attacks.bucketed import BucketedValues, Indices, ValueModel, deduced, most_likely
from shoal.attacks.people import KnownPeople
from shoal.attacks.result import Adversary, Criterion, Result
from shoal.attacks.scene import Scene
from shoal.recoding.nodes import Floats
from shoal.table.scale import binned

_STRANGERS = 20_000  # individuals whose values a model of others guesses


@ATTACKS.register("bucket-inference")
class BucketInference(Attack):
    """Share of individuals whose sensitive value is guessed among the values of their bucket.

    The adversary knows which record of the first table belongs to an individual, learns from both tables which values
    go with which other columns, by expectation–maximisation under the constraint of the buckets (after Kifer 2009), and
    guesses the most likely value. A bucket of l different values promises at most 1/l for who does not learn. Baseline:
    a model of other individuals, without the release, which tells what is known about anybody. Control: the same attack
    after the records were assigned to the buckets at random; it finds 1/l.
    """

    name: ClassVar[str] = "bucket-inference"
    adversary: ClassVar[Adversary] = Adversary.STATISTICAL
    criterion: ClassVar[Criterion] = Criterion.INFERENCE
    baseline_is: ClassVar[str] = "a model of other individuals, without the release"
    needs: ClassVar[frozenset[AttackNeed]] = frozenset({AttackNeed.TRUTH, AttackNeed.BUCKETS})

    most: int = Field(default=1_000_000, ge=1, description="maximum number of pairs of a record and a value")

    def run(self, scene: Scene) -> Iterator[Result]:
        """Guess the value of each target's records."""
        bucketed = scene.buckets
        if bucketed is None:
            return
        rng = scene.rng(self.name)
        chosen = self._chosen(bucketed, rng)
        features, sizes = _features(scene, chosen)
        part = bucketed.some(chosen)
        truth = np.full(scene.release.records, -1, np.int64)
        if scene.truth is not None:
            there = np.flatnonzero(scene.truth >= 0)
            truth[scene.truth[there]] = scene.original.codes(bucketed.column.name)[there]
        true = truth[chosen]
        guess, sure = most_likely(*deduced(part, features, sizes), len(chosen))
        people, right = _reached(scene, chosen, guess == true)
        shuffled, null = _shuffled(part, rng)
        others, _ = most_likely(*deduced(shuffled, features, sizes), len(chosen))
        promise = (part.counts / np.bincount(part.buckets, part.counts)[part.buckets]).max(initial=0.0)
        certain = sure > 0.5
        yield self.result(
            scene,
            "the value is guessed from the other columns and the values of the bucket",
            right,
            _of_strangers(features, sizes, true, part.column.size, rng),
            (others == null).astype(np.float64),
            column=part.column.name,
            persons=scene.over_original(people, right),
            details={
                "most_frequent_in_a_bucket": float(promise),
                "believed_above_one_half": float(certain.mean()),
                "right_among_these": float((guess == true)[certain].mean()) if certain.any() else None,
            },
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
    """Return the codes of the records in each column of the first table, in groups if it has many numbers."""
    features, sizes = list[Indices](), list[int]()
    for column in scene.release.columns:
        if column.name == scene.link:
            continue
        groups, number = binned(column)
        features.append(groups[scene.release.codes(column.name)[chosen]])
        sizes.append(number)
    return features, sizes


def _reached(scene: Scene, chosen: Indices, right: NDArray[np.bool_]) -> tuple[KnownPeople, Floats]:
    """Return the targets with an attacked record, and the share of correct guesses among the records of each."""
    place = np.full(scene.release.records, -1, np.int64)
    place[chosen] = np.arange(len(chosen))
    which, records = scene.own(scene.targets)
    attacked = place[records] >= 0
    which, records = which[attacked], place[records[attacked]]
    number = np.bincount(which, minlength=len(scene.targets))
    hits = np.bincount(which, right[records], len(scene.targets))
    return scene.targets.some(number > 0), np.asarray(hits[number > 0] / number[number > 0])


def _shuffled(bucketed: BucketedValues, rng: np.random.Generator) -> tuple[BucketedValues, Indices]:
    """Return the release with records in random buckets, and a random value of its bucket for each record."""
    shuffled = BucketedValues(
        bucketed.column, rng.permutation(bucketed.of_record), bucketed.buckets, bucketed.values, bucketed.counts
    )
    records, places = shuffled.pairs()
    keys = rng.random(len(records)) ** (1 / shuffled.counts[places])  # a value with a higher count wins more often
    return shuffled, most_likely(records, shuffled.values[places], keys, len(shuffled.of_record))[0]


def _of_strangers(
    features: list[Indices], sizes: list[int], true: Indices, number: int, rng: np.random.Generator
) -> float:
    """Return the share of values that a model of the other half of the individuals guesses."""
    there = rng.permutation(np.flatnonzero(true >= 0))[:_STRANGERS]
    right = 0
    for seen, others in ((there[::2], there[1::2]), (there[1::2], there[::2])):
        codes = [column[seen].astype(np.int64) for column in features]
        model = ValueModel.of(codes, sizes, true[seen], np.ones(len(seen)), number)
        beside = [column[others].astype(np.int64) for column in features]
        values = np.arange(number)
        likelihood = np.stack([model.likelihood(beside, np.full(len(others), value)) for value in values], axis=1)
        right += int(np.count_nonzero(likelihood.argmax(axis=1) == true[others]))
    return right / max(len(there), 1)
