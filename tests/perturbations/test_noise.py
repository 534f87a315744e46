"""Noise: mean and covariance stay in expectation, bounds hold, and whole numbers stay whole."""

from datetime import date, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples, per_profile
from tests.perturbed_values import read, released

from shoal.errors import PolicyError
from shoal.perturbations.noise import Noise

KEYS = per_profile(60, 200, 600)


@pytest.fixture(scope="module")
def correlated():
    rng = np.random.default_rng(5)
    height = rng.normal(170, 10, 300)
    return {"height": height.round(1), "weight": (height - 100 + rng.normal(0, 8, 300)).round(1)}


def within(estimates, truth):
    """Whether the mean of estimates is within three standard errors of the truth."""
    estimates = np.array(estimates)
    return abs(estimates.mean() - truth) <= 3 * estimates.std(ddof=1) / np.sqrt(len(estimates)) + 1e-12


def test_mean_and_variance_over_many_keys(correlated):
    table = read(**correlated)
    runs = [released(Noise(share=0.3), table, "weight", key=key) for key in range(KEYS)]
    truth = np.array(runs[0][0])
    assert within([np.mean(after) for _, after in runs], truth.mean())
    assert within([np.var(after) for _, after in runs], truth.var())
    added = np.array([np.subtract(after, before) for before, after in runs])
    assert 0.27 < added.std() / truth.std() < 0.31  # of the noise, and of the shrinking towards the mean


def test_without_rescaling_the_variance_grows(correlated):
    before, after = released(Noise(share=0.5, rescale=False), read(**correlated), "weight")
    assert np.var(after) / np.var(before) == pytest.approx(1.25, abs=0.12)


def test_correlated_noise_keeps_covariances_over_many_keys(correlated):
    table, noise, names = read(**correlated), Noise(share=0.4, correlated=True), ("height", "weight")
    truth = np.cov(*correlated.values(), bias=True)
    matrices, pure = [], []
    for key in range(KEYS):
        pairs = [released(noise, table, name, key=key, alike=names) for name in names]
        matrices.append(np.cov(*(after for _, after in pairs), bias=True))
        pure.append(np.corrcoef(*(np.subtract(after, before) for before, after in pairs))[0, 1])
    for row, column in ((0, 0), (0, 1), (1, 1)):
        assert within([matrix[row, column] for matrix in matrices], truth[row, column])
    assert np.mean(pure) == pytest.approx(np.corrcoef(*correlated.values())[0, 1], abs=0.03)


@given(st.lists(st.integers(0, 40), min_size=3, max_size=40), st.floats(0.05, 3), st.integers(0, 99))
@examples(150)
def test_whole_numbers_stay_whole_bounds_hold_and_zeros_stay(values, share, key):
    table = read(x=values)
    try:
        before, after = released(Noise(share=share, maximum=45), table, "x", key=key)
    except PolicyError as error:
        assert error.code == "nothing-perturbed"
        return
    assert all(isinstance(value, int) and 0 <= value <= 45 for value in after)
    assert all(new == 0 for old, new in zip(before, after, strict=True) if old == 0)


def test_decimals_keep_their_places(correlated):
    _, after = released(Noise(share=0.1), read(**correlated), "weight")
    assert all(value == round(value, 1) for value in after)
    _, after = released(Noise(share=0.1), read(x=np.random.default_rng(1).normal(size=50)), "x")
    assert all(len(str(value)) < 12 for value in after)  # no digits beyond what the noise leaves meaningful


def test_zeros_may_move_and_bounds_are_checked():
    table = read(x=[0, 0, 0, 5, 9, 30])
    _, after = released(Noise(share=2, zeros=False), table, "x")
    assert after.count(0) < 3
    with pytest.raises(PolicyError, match="beyond the minimum or maximum"):
        released(Noise(share=0.1, maximum=20), table, "x")


def test_dates_move_by_days():
    days = [date(2024, 1, 1) + timedelta(day) for day in range(0, 300, 7)]
    before, after = released(Noise(share=0.1), read(x=days), "x")
    assert all(isinstance(value, date) for value in after)
    moved = [abs((new - old).days) for old, new in zip(before, after, strict=True)]
    assert 0 < np.mean(moved) < 30


def test_missing_values_stay_missing():
    before, after = released(Noise(share=0.5), read(x=[1.5, None, 2.5, 8.0, None, 9.5]), "x")
    assert [value is None for value in after] == [value is None for value in before]


@pytest.mark.parametrize("values", [[5, 5, 5], [None, None, 4]])
def test_a_column_without_spread_is_refused(values):
    with pytest.raises(PolicyError, match="change nothing"):
        released(Noise(share=0.5), read(x=values), "x")


def test_infinite_numbers_are_refused():
    with pytest.raises(PolicyError, match="infinite"):
        released(Noise(share=0.5), read(x=[1.0, 2.0, float("inf")]), "x")


def test_heavy_tails_do_not_take_away_the_noise():
    """Few huge values make the range wide; the grid of released values stays fine, and small."""
    values = np.concatenate([np.random.default_rng(0).normal(1000, 5, 400).round(6), [1e9, -1e9]])
    before, after = released(Noise(share=1e-7, rescale=False), read(x=values), "x")
    moved = np.subtract(after, before)[np.array(before) < 2000]
    assert moved.std() == pytest.approx(1e-7 * np.std(values), rel=0.15)


def test_two_keys_differ_and_one_repeats():
    table = read(x=range(100))
    first, again, other = (released(Noise(share=0.2), table, "x", key=key)[1] for key in (1, 1, 2))
    assert first == again != other
