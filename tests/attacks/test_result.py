"""What a result of an attack concludes from its estimate, its baseline and its control."""

from dataclasses import replace

import numpy as np
import pytest

import shoal
from shoal.analyses.estimate import Estimate, over_clusters
from shoal.attacks.result import Adversary, Criterion, Result


def result(low, value, high, baseline, control=None):
    held = None if control is None else Estimate(control, control - 0.05, control + 0.05)
    success = Estimate(value, low, high)
    return Result(
        "linkage", "found", Adversary.CLASSICAL, Criterion.LINKABILITY, success, baseline, 10, 0, control=held
    )


@pytest.mark.parametrize(
    ("low", "baseline", "control", "sure"),
    [
        (0.31, 0.3, None, True),
        (0.3, 0.3, None, False),  # not above it
        (0.25, 0.3, None, False),  # the interval holds the baseline
        (0.31, 0.3, 0.2, True),
        (0.31, 0.2, 0.35, False),  # no more than on people who are not in the data
        (0.31, 0.0, 0.3, False),  # the control has an interval, too
        (0.31, 0.0, 0.29, True),
    ],
)
def test_a_gain_is_sure_only_above_baseline_and_control(low, baseline, control, sure):
    assert result(low, 0.4, 0.5, baseline, control).is_sure is sure


def test_several_results_are_judged_together():
    """With twenty attacks, one in twenty would be significant by chance."""
    alone = result(0.31, 0.4, 0.5, 0.3)
    assert [replace(alone, comparisons=number).is_sure for number in (1, 20)] == [True, False]
    rng = np.random.default_rng(1)
    wrong = 0
    for _ in range(300):
        shares = rng.binomial(500, 0.3, 15) / 500
        results = [replace(alone, success=Estimate.share(share, 500), comparisons=15) for share in shares.tolist()]
        wrong += any(one.is_sure for one in results)
    assert wrong / 300 <= 0.05


def test_individuals_of_a_class_share_their_fate():
    """Twenty classes of ten are as twenty individuals if all members of a class have the same outcome."""
    classes = np.repeat(np.arange(20), 10)
    outcomes = np.repeat(np.arange(20) < 6, 10).astype(float)
    together, alone = over_clusters(outcomes, classes), over_clusters(outcomes, np.arange(200))
    assert together.value == alone.value == 0.3
    few, many = Estimate.share(0.3, 20), Estimate.share(0.3, 200)
    assert (together.high - together.low) == pytest.approx(few.high - few.low, rel=0.15)
    assert (alone.high - alone.low) == pytest.approx(many.high - many.low, rel=0.05)
    none = over_clusters(np.zeros(200), classes)
    assert (none.low, none.high) == (0.0, pytest.approx(Estimate.share(0.0, 20).high, rel=0.2))
    assert over_clusters(np.ones(5), np.zeros(5, int)).low == 0.0  # a single class says nothing about others


def test_intervals_over_tables_are_those_of_classes():
    rng = np.random.default_rng(3)
    age, dx = rng.integers(20, 60, 400), rng.choice(["a", "b"], 400, p=[0.9, 0.1])
    release = {"age": [f"{value // 2 * 2}-{value // 2 * 2 + 1}" for value in age], "dx": dx}
    options = {"quasi": "age", "sensitive": "dx", "in_order": True, "attacks": "homogeneity"}
    found = shoal.attack({"age": age, "dx": dx}, release, **options).results[0]
    assert found.over_tables.value == found.success.value
    assert found.over_tables.high - found.over_tables.low > 1.5 * (found.success.high - found.success.low)
    assert found.to_dict()["tables_low"] == found.over_tables.low


@pytest.mark.parametrize(("baseline", "control", "gain"), [(0.2, None, 0.25), (0.2, 0.3, 1 / 7), (0.4, 0.3, 0.0)])
def test_a_gain_is_over_the_higher_of_baseline_and_control(baseline, control, gain):
    assert result(0.3, 0.4, 0.5, baseline, control).gain == pytest.approx(gain)
