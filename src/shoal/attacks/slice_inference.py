"""Slice inference: learning from the tables of a release by groups of columns which sensitive value is whose."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.bucketed import Indices, ValueModel, most_likely
from shoal.attacks.people import KnownPeople
from shoal.attacks.scene import Scene
from shoal.attacks.sliced import LearnedSlices, SlicedTables, Variants
from shoal.kernels.grouping import group_rows
from shoal.recoding.nodes import Floats
from shoal.table.scale import binned


@dataclass(frozen=True, slots=True, eq=False)
class SliceGuesses:
    """Guesses of the sensitive values of ``people``.

    ``right``: whether each is correct. ``sure``: its probability. ``others``: whether the guess is correct if nothing
    can be learned. ``promise``: the highest probability of a value of anybody without learning.
    """

    people: KnownPeople
    right: NDArray[np.bool_]
    sure: Floats
    others: NDArray[np.bool_]
    promise: float

    @classmethod
    def of(cls, sliced: SlicedTables, scene: Scene, chosen: Indices, rng: np.random.Generator) -> "SliceGuesses":
        """Guess the values of the targets; models are learned from the ``chosen`` buckets."""
        codes = scene.original.codes(sliced.column.name)[scene.targets.records]
        is_there = codes != sliced.column.missing_code  # a missing value cannot be disclosed
        if scene.truth is not None:
            is_there &= scene.truth[scene.targets.records] >= 0
        people = scene.targets.some(is_there)
        variants, owners, values, shares = sliced.shown(scene.original, people.records, scene.hierarchies)
        truth = scene.original.codes(sliced.column.name)[people.records]
        guess, sure = _guessed(sliced.learned(chosen), variants, owners, values, shares, len(people))
        shuffled, _ = _guessed(sliced.learned(chosen, rng=rng), variants, owners, values, shares, len(people))
        records, likely, probability = _summed(variants.people[owners], values, shares, len(people))
        _, highest = most_likely(records, likely, probability, len(people))
        drawn, _ = most_likely(records, likely, rng.random(len(records)) ** (1 / probability), len(people))
        return cls(people, guess == truth, sure, shuffled == drawn, float(highest.max(initial=0.0)))


def _guessed(  # noqa: PLR0913, PLR0917 - what the buckets show
    model: LearnedSlices, variants: Variants, owners: Indices, values: Indices, shares: Floats, number: int
) -> tuple[Indices, Floats]:
    """Return the most likely value of each individual, and its probability."""
    likelihood = model.likelihood(variants, owners, values)
    people = variants.people[owners]
    highest = np.full(number, -np.inf)
    np.maximum.at(highest, people, likelihood)
    records, likely, belief = _summed(people, values, shares * np.exp(likelihood - highest[people]), number)
    return most_likely(records, likely, belief, number)


def _summed(people: Indices, values: Indices, weights: Floats, number: int) -> tuple[Indices, Indices, Floats]:
    """Return each individual and value once, with its share of the weights of the individual."""
    width = int(values.max(initial=0)) + 1
    groups = group_rows([people.astype(np.uint32), values.astype(np.uint32)], [number, width], len(people))
    sums, owners = np.bincount(groups.ids, weights, len(groups)), people[groups.first]
    totals = np.bincount(owners, sums, number)
    return owners, values[groups.first], np.asarray(sums / totals[owners])


def of_strangers(scene: Scene, column: str, most: int, rng: np.random.Generator) -> float:
    """Return the share of values that a model of the known columns of the other half of the individuals guesses."""
    original = scene.original
    there = np.arange(original.records) if scene.truth is None else np.flatnonzero(scene.truth >= 0)
    there, number = rng.permutation(there)[:most], original[column].size
    bins = [(binned(original[name]), original.codes(name)) for name in original.quasi]
    features = [groups[codes[there]] for (groups, _), codes in bins]
    truth = original.codes(column)[there].astype(np.int64)
    return ValueModel.crossed(features, [size for (_, size), _ in bins], truth, number)
