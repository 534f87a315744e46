"""Rank swapping: the distribution stays, and no rank moves beyond the window, whatever the key."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.effort import examples, per_profile
from tests.perturbed_values import read, released

from shoal.errors import PolicyError
from shoal.kernels.partners import partners
from shoal.perturbations.swap import RankSwapping


def least_moves(before, after):
    """Return how many ranks each value moved at least; equal values share a range of ranks."""
    ranked = sorted(before)
    first = {value: ranked.index(value) for value in set(ranked)}
    last = {value: first[value] + count - 1 for value, count in Counter(ranked).items()}
    return [max(first[new] - last[old], first[old] - last[new], 0) for old, new in zip(before, after, strict=True)]


@given(
    st.lists(st.integers(-20, 20) | st.none(), min_size=3, max_size=60),
    st.sampled_from([0.05, 0.1, 0.34, 0.99]),
    st.booleans(),
    st.integers(0, 1000),
)
@examples(200)
def test_same_values_and_no_rank_beyond_the_window(values, share, zeros, key):
    table = read(x=values)
    try:
        before, after = released(RankSwapping(share=share, zeros=zeros), table, "x", key=key)
    except PolicyError as error:
        assert error.code == "nothing-perturbed"
        return
    assert Counter(before) == Counter(after)
    pairs = [pair for pair in zip(before, after, strict=True) if pair[0] is not None]
    assert all(new is None for old, new in zip(before, after, strict=True) if old is None)
    if zeros and min(old for old, _ in pairs) >= 0:
        assert all(new == 0 for old, new in pairs if old == 0)
        pairs = [pair for pair in pairs if pair[0] != 0]
    assert max(least_moves(*zip(*pairs, strict=True))) <= int(share * len(pairs) + 1e-9)


def test_two_hundred_keys():
    """The window of the documentation of sdcMicro, where a share of 0.05 of 1,000 ranks moves at most 50 of them."""
    table, moved = read(x=range(1, 1001)), []
    for key in range(per_profile(40, 200, 1000)):
        before, after = released(RankSwapping(share=0.05), table, "x", key=key)
        assert sorted(after) == sorted(before)
        far = np.abs(np.subtract(before, after))
        assert far.max() <= 50
        moved.append(far)
    assert np.mean(np.array(moved) == 0) < 0.01  # nearly everybody finds a partner
    assert 20 < np.mean(moved) < 30  # the mean distance of two ranks within a window of 50
    assert len({far.tobytes() for far in moved}) == len(moved)  # no two keys give the same swap


def test_no_share_shuffles_the_column_by_accident():
    """A share is less than 1: sdcMicro takes 5 for 5 %, uses it as 500 %, and swaps everything with everything."""
    for share in (0, 1, 5, 20, -0.1):
        with pytest.raises(ValidationError):
            RankSwapping(share=share)


def test_all_values_survive():
    """Extreme values stay: sdcMicro merges the top and bottom 5 % before it swaps."""
    _, after = released(RankSwapping(share=0.05), read(x=range(1000)), "x")
    assert len(set(after)) == 1000


def test_any_ordered_column_can_be_swapped():
    for values in (["2024-01-01", "2024-02-01", "2024-03-01", "2024-05-01"], [True, False, True, False]):
        before, after = released(RankSwapping(share=0.9), read(x=values), "x")
        assert sorted(before) == sorted(after)


@given(st.integers(2, 80), st.integers(1, 30), st.integers(0, 1000))
@examples(100)
def test_partners_are_mutual_and_only_those_without_a_free_neighbour_stay(number, window, key):
    words = np.random.default_rng(key).integers(0, 2**64, number, dtype=np.uint64)
    pairs = partners(words, window)
    assert (pairs[pairs] == np.arange(number)).all()
    assert np.abs(pairs - np.arange(number)).max() <= window
    alone = np.flatnonzero(pairs == np.arange(number))
    assert (np.diff(alone) > window).all()
