"""Generalised values that follow from other columns of the released record."""

import numpy as np
import pytest

import shoal
from shoal.analyses.links import Link, Way
from shoal.attacks.derived_columns import DerivedColumns, _looked_up


def bodies(number=600, seed=1):
    rng = np.random.default_rng(seed)
    height, weight = rng.normal(170, 10, number).round(), rng.normal(75, 12, number).round(1)
    return {
        "height": height,
        "weight": weight,
        "bmi": (weight / (height / 100) ** 2).round(2),
        "sex": ["f", "m"] * (number // 2),
    }


def attacked(data, release, **more):
    given = {"quasi": ["height", "sex"], "in_order": True, "attacks": ["derived-columns"], **more}
    return shoal.attack(data, release, **given)


def test_the_height_follows_from_weight_and_body_mass_index():
    data = bodies()
    tens = [f"[{value // 10 * 10:g}, {value // 10 * 10 + 10:g})" for value in data["height"]]
    found = attacked(data, {**data, "height": tens}).results
    assert [(result.column, result.success.value) for result in found] == [("height", 1.0)]
    assert found[0].details["from"] == ["weight", "bmi"]
    assert found[0].baseline < 0.1
    without = attacked(data, {**{name: data[name] for name in ("sex", "weight")}, "height": tens})
    assert not without.results
    assert without.left_out["derived-columns"] == "The release has no column that it applies to."


def test_perturbed_columns_compute_less():
    data, rng = bodies(), np.random.default_rng(2)
    noisy = {**data, "height": ["*"] * 600, "bmi": data["bmi"] + rng.normal(0, 1.5, 600)}
    result = attacked(data, noisy).results[0]
    assert result.success.value < 0.5


def test_a_value_beside_each_value():
    """A district follows from the town, and an age from the year of birth, which is one of two for each age."""
    rng = np.random.default_rng(3)
    town = rng.integers(0, 12, 400)
    born = rng.integers(1940, 2000, 400)
    data = {
        "district": [f"d{code // 4}" for code in town],
        "town": [f"t{code}" for code in town],
        "born": born,
        "age": 2024 - born - rng.integers(0, 2, 400),
    }
    release = {**data, "district": ["*"] * 400, "age": ["*"] * 400}
    found = shoal.attack(data, release, quasi=["district", "age"], in_order=True, attacks="derived-columns")
    assert found.of("derived-columns", "district").success.value == 1.0
    assert 0.45 < found.of("derived-columns", "age").success.value < 0.85
    assert found.of("derived-columns", "age").details["from"] == ["born"]


def test_released_values_are_not_attacked():
    data = bodies()
    assert not attacked(data, data).results


@pytest.mark.parametrize(
    ("link", "target", "others"),
    [
        (Link(Way.COMPUTED, ("a", "b"), "c"), "c", ("a", "b")),
        (Link(Way.COMPUTED, ("a", "b"), "c"), "a", ("b", "c")),
        (Link(Way.DETERMINES, ("a",), "b"), "b", ("a",)),
        (Link(Way.DETERMINES, ("a",), "b"), "a", ()),
        (Link(Way.DETERMINES, ("a",), "b", both=True), "a", ("b",)),
        (Link(Way.COMPUTED, ("a", "b"), "c"), "x", ()),
    ],
)
def test_which_columns_determine_another(link, target, others):
    assert link.determining(target) == others


def test_the_most_frequent_value_beside_each():
    wanted, known = np.array([5, 5, 6, 7]), np.array([0, 0, 0, 2])
    assert _looked_up(wanted, known, np.array([0, 1, 2])).tolist() == [5, -1, 7]


def test_the_tolerance_counts_numbers_nearby():
    data = bodies()
    release = {**data, "height": ["*"] * 600}
    wide, narrow = (
        attacked(data, release, attacks=[DerivedColumns(tolerance=tolerance)]).results[0].baseline
        for tolerance in (0.5, 0.0)
    )
    assert narrow < wide
