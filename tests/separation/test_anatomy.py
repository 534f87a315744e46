"""Anatomy: property 1 of Xiao & Tao 2006, persons with several places, and what is drawn."""

import csv
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples

from shoal.separation.anatomy import anatomised
from shoal.separation.eligibility import most_diverse


def words(number, seed):
    return np.random.default_rng(seed).integers(0, 1 << 63, 2 * number, dtype=np.uint64)


def contents(values, of_place):
    held = {}
    for value, bucket in zip(values, of_place.tolist(), strict=True):
        held.setdefault(bucket, []).append(value)
    return held


@given(st.lists(st.integers(0, 6), min_size=1, max_size=60), st.integers(1, 6), st.integers(0, 1 << 32))
@examples(200)
def test_buckets_hold_different_values(values, size, seed):
    of_place = anatomised(np.array(values), size, words(len(values), seed))
    if max(map(values.count, values)) * size > len(values):
        assert of_place is None
        return
    held = contents(values, of_place)
    assert sorted(held) == list(range(len(values) // size))
    for places in held.values():
        assert len(places) == len(set(places)) >= size
    assert sum(len(places) - size for places in held.values()) == len(values) % size


def test_the_largest_diversity_by_brute_force():
    """The largest l for which the values can be dealt at all, over all divisions of up to six places."""

    def possible(values, size):
        number = len(values) // size
        return any(
            all(len(set(held)) == len(held) >= size for held in contents(values, np.array(division)).values())
            for division in product(range(max(number, 1)), repeat=len(values))
        )

    for values in ("a", "aab", "abc", "aabb", "aabbcc", "aaabcc", "aaaabc", "aabbc", "abcdef"):
        codes = np.array([ord(letter) - ord("a") for letter in values])
        largest = max(size for size in range(1, len(values) + 1) if possible(values, size))
        assert most_diverse(np.bincount(codes)) == largest
        assert anatomised(codes, largest, words(len(values), 1)) is not None
        assert anatomised(codes, largest + 1, words(len(values), 1)) is None


@given(st.integers(0, 1 << 32))
@examples(100)
def test_no_person_has_two_places_of_a_bucket(seed):
    rng = np.random.default_rng(seed)
    pairs = np.unique(np.stack([rng.integers(0, 40, 120), rng.integers(0, 8, 120)], 1), axis=0)
    persons, values = rng.permutation(pairs).T
    size = int(rng.integers(2, most_diverse(np.bincount(values)) + 1))
    of_place = anatomised(values, size, words(len(values), seed), persons)
    assert of_place is not None
    for places in contents(values.tolist(), of_place).values():
        assert len(places) == len(set(places)) >= size
    for places in contents(persons.tolist(), of_place).values():
        assert len(places) == len(set(places))


def test_a_person_who_fills_every_bucket_is_refused():
    """Two buckets of two places: a person with three different values must be in one of them twice."""
    persons = np.array([0, 0, 0, 1])
    assert anatomised(np.array([0, 1, 2, 0]), 2, words(4, 0), persons) is None


def test_every_place_is_as_likely_in_every_bucket():
    """Which of the places with a value is in a bucket is random: the order of the places, which is drawn, decides."""
    met = np.zeros((6, 2))
    for seed in range(400):
        order = np.random.default_rng(seed).permutation(6)
        values = np.array([0, 0, 1, 1, 2, 2])[order]
        of_place = anatomised(values, 3, words(6, seed))
        met[order, of_place] += 1
    assert met == pytest.approx(200, abs=60)


@pytest.mark.parametrize("size", [2, 3, 5, 7])
def test_adult(size, shared):
    """The buckets of the research notes: ⌊30,162 / l⌋, and 8 different values are impossible."""
    with (shared / "data" / "arx-adult" / "adult.csv").open(encoding="utf-8") as file:
        names = [record["occupation"] for record in csv.DictReader(file, delimiter=";")]
    values = np.unique(names, return_inverse=True)[1]
    assert most_diverse(np.bincount(values)) == 7
    of_place = anatomised(values, size, words(len(values), 0))
    sizes = np.bincount(of_place)
    assert len(sizes) == len(values) // size
    assert sizes.min() == size
    assert sizes.max() <= 2 * size - 1
    assert len(np.unique(np.stack([of_place, values]), axis=1).T) == len(values)
