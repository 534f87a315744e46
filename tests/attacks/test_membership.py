"""Membership by shadow releases, ceilings on the original, and hits at few false alarms."""

import numpy as np
import pytest

import shoal
from shoal.attacks.shadow_membership import ShadowMembership, _ratios

POLICY = """
version = 1
[columns]
age = { role = "quasi", hierarchy = { kind = "interval", widths = [5, 10, 20, 40] } }
sex = "quasi"
job = "quasi"
dx = "sensitive"
[[require]]
model = "k-anonymity"
k = %d
[search]
suppression = 0.05
recoding = "local"
"""


def people(number, seed):
    rng = np.random.default_rng(seed)
    return {
        "age": rng.integers(18, 95, number),
        "sex": rng.choice(["f", "m"], number),
        "job": rng.choice([f"j{code}" for code in range(20)], number, p=[0.15] * 5 + [0.25 / 15] * 15),
        "dx": rng.choice(list("abcdef"), number),
    }


FEW = ShadowMembership(shadows=12)


def attacked(k, number=600, attacks=("membership", FEW), release=None, **more):
    inside, outside = people(number, 0), people(number, 1)
    policy = shoal.Policy.parse(POLICY % k)
    table = shoal.read(inside)
    made = shoal.anonymize(table, policy) if release is None else release
    return shoal.attack(table, made, policy, outsiders=outside, attacks=attacks, **more)


def test_shadow_releases_find_more_than_the_nearest_record():
    found = attacked(2)
    simple, shadows = found.of("membership"), found.of("shadow-membership")
    assert shadows.success.value > simple.success.value + 0.05
    assert shadows.details["hits_at_0.01_false_alarms"] > simple.details["hits_at_0.01_false_alarms"]
    assert shadows.details["shadows"] == 12
    assert shadows.ceiling.value == simple.ceiling.value > shadows.success.value


def test_other_people_are_not_found():
    """A release of other individuals tells nothing about membership."""
    others = shoal.anonymize(shoal.read(people(600, 7)), shoal.Policy.parse(POLICY % 2))
    result = attacked(2, attacks=[FEW], release=others.table).results[0]
    assert result.success.low < 0.5 < result.success.high


def test_the_ceiling_is_the_share_of_pairs_in_which_the_insider_is_more_frequent():
    inside, outside = {"age": [1, 1, 2, 3]}, {"age": [1, 4, 4]}
    result = shoal.attack(
        inside, {"age": ["*"] * 4}, quasi="age", outsiders=outside, in_order=True, attacks="membership"
    ).results[0]
    times, theirs = [2, 2, 1, 1], [2, 0, 0]
    pairs = [(mine > other) + (mine == other) / 2 for mine in times for other in theirs]
    assert result.ceiling.value == pytest.approx(sum(pairs) / len(pairs))
    assert result.success.value == 0.5


def test_the_ceiling_of_the_battery_uses_the_people_outside():
    found = attacked(5, attacks=["membership"], ceilings=True).results[0]
    assert found.floor.value == pytest.approx(0.5)
    assert found.ceiling.value > 0.8 > found.success.value


def test_ratios_are_those_of_normal_distributions():
    """With many shadows, the ratio approaches that of the true means."""
    rng = np.random.default_rng(0)
    inside = rng.random((4000, 3)) < 0.5
    gaps = np.array([1.0, 0.2, 0.0])
    densities = rng.normal(0, 0.5, (4000, 3)) + inside * gaps
    real = np.array([1.0, 0.0, 0.3])
    expected = (real**2 - (real - gaps) ** 2) / (2 * 0.25)
    assert _ratios(densities, inside, real) == pytest.approx(expected, abs=0.1)


@pytest.mark.parametrize("has_all_columns", [True, False])
def test_what_shadows_require(has_all_columns):
    """All columns of the original, and one record for each individual."""
    inside, outside, policy = people(600, 0), people(600, 1), POLICY % 5
    if has_all_columns:
        inside["who"], outside["who"] = [0, *range(599)], list(range(1000, 1600))
        policy += '[data]\nsubject = "who"\n'
    else:
        outside.pop("dx")
    release = {**inside, "age": ["*"] * 600}
    found = shoal.attack(
        inside, release, shoal.Policy.parse(policy), outsiders=outside, in_order=True, attacks=[ShadowMembership()]
    )
    assert found.left_out["shadow-membership"].startswith("It requires a policy")


def test_a_report_shows_what_the_original_discloses():
    inside = people(300, 0)
    policy = shoal.Policy.parse(POLICY % 5)
    release = shoal.anonymize(inside, policy)
    found = shoal.attack(inside, release, attacks=["linkage"], ceilings=True)
    text = shoal.report(inside, release, found).to_markdown()
    assert "The same attacks on the original" in text
    assert "on the original" not in shoal.report(inside, release, found, external=True).to_markdown()


def test_all_attacks_can_be_requested():
    data = people(40, 0)
    given = {"quasi": ["age", "sex"], "sensitive": "dx", "in_order": True, "targets": 10}
    usual, every = (shoal.attack(data, {**data, "age": ["*"] * 40}, attacks=asked, **given) for asked in (None, "all"))
    tried = {result.attack for result in every.results} | set(every.left_out)
    assert tried == set(shoal.attacks.attack.ATTACKS)
    assert {result.attack for result in usual.results} < {result.attack for result in every.results}
