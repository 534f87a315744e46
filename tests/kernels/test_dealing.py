"""Dealing: buckets of different values, the same from the core and from numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels import library
from shoal.kernels.dealing import dealt

COUNTS = st.lists(st.integers(0, 12), min_size=1, max_size=9)


def on_both(counts, size, seed):
    """Deal with both kernels, and see that they agree."""
    draws = np.random.default_rng(seed).integers(0, 1 << 63, sum(counts), dtype=np.uint64)
    results = []
    for kernels in ("c", "numpy"):
        with library.using(kernels):
            results.append(dealt(np.array(counts, np.int64), size, draws))
    for one, other in zip(*results, strict=True):
        assert one.tolist() == other.tolist()
    return results[0]


@given(COUNTS, st.integers(1, 5), st.integers(0, 1 << 32))
def test_the_most_frequent_values_that_are_left_go_first(counts, size, seed):
    buckets, rest = on_both(counts, size, seed)
    left = list(counts)
    for bucket in buckets.tolist():
        assert len(set(bucket)) == size
        assert sorted((left[value] for value in bucket), reverse=True) == sorted(left, reverse=True)[:size]
        assert all(left[value] > 0 for value in bucket)
        for value in bucket:
            left[value] -= 1
    assert left == rest.tolist()
    assert sum(value > 0 for value in left) < size


@given(COUNTS, st.integers(1, 5), st.integers(0, 1 << 32))
def test_values_that_are_rare_enough_are_all_dealt_but_for_different_ones(counts, size, seed):
    """Property 1 of Xiao & Tao 2006."""
    if size * max(counts) > sum(counts) or not sum(counts):
        return
    buckets, rest = on_both(counts, size, seed)
    assert len(buckets) == sum(counts) // size
    assert rest.max() <= 1
    assert rest.sum() == sum(counts) % size


def test_equally_frequent_values_are_dealt_at_random():
    """Of four equally frequent values, each of the six pairs is dealt about equally often."""
    buckets, _ = on_both([3000] * 4, 2, 1)
    pairs, times = np.unique(np.sort(buckets, axis=1), axis=0, return_counts=True)
    assert len(pairs) == 6
    assert times.min() > 0.9 * times.mean()


def test_no_word_for_each_value_is_refused():
    for counts, size, draws in (([2, 2], 2, 3), ([2, 2], 0, 4), ([2, -1], 1, 4)):
        with pytest.raises(TypeError):
            dealt(np.array(counts), size, np.zeros(draws, np.uint64))
