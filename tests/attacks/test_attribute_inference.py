"""The strongest of several adversaries, and what they achieve on the original and without quasi-identifiers."""

import numpy as np
import pytest

import shoal
from shoal.attacks.attribute_inference import AttributeInference

KNOWN = {"quasi": ["age", "sex"], "sensitive": ["dx"], "attacks": ["attribute-inference"]}


def by_decade(number=600, seed=1):
    """Return individuals whose value follows from the decade of their age, and a release that shows decades."""
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(20, 80, number), rng.choice(["f", "m"], number)
    dx = np.where(rng.random(number) < 0.85, np.array(list("abcaba"))[age // 10 - 2], rng.choice(list("abc"), number))
    decades = [f"{value // 10 * 10}-{value // 10 * 10 + 9}" for value in age]
    return {"age": age, "sex": sex, "dx": dx}, {"age": decades, "sex": ["*"] * number, "dx": dx}


def test_the_class_majority_is_one_of_the_adversaries():
    data, release = by_decade()
    found = shoal.attack(data, release, **KNOWN).results[0]
    majority = {}
    for decade, value in zip(release["age"], release["dx"], strict=True):
        majority.setdefault(decade, []).append(value)
    right = sum(max(map(values.count, set(values))) for values in majority.values()) / len(data["dx"])
    assert found.details["tried"].keys() == {"most probable value", "trained model", "nearest record"}
    assert found.details["tried"]["most probable value"] == pytest.approx(right, abs=0.06)  # of a third of the targets
    assert found.success.low <= right <= found.success.high
    assert np.count_nonzero(~np.isnan(found.persons)) == found.targets == 400


def test_choosing_an_adversary_does_not_inflate_its_success():
    """Values that are independent of everything are guessed as often as the most frequent one."""
    gains = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        data, release = by_decade(300, seed)
        release["dx"] = data["dx"] = rng.choice(list("ab"), 300)
        release["age"] = ["*"] * 300
        result = shoal.attack(data, release, seed=seed, **KNOWN).results[0]
        gains.append(result.success.value - result.baseline)
    assert np.mean(gains) < 2 * np.std(gains) / np.sqrt(len(gains)) + 0.005


def test_numbers_and_several_targets():
    rng = np.random.default_rng(3)
    age = rng.integers(20, 80, 500)
    data = {"age": age, "lab": age * 2 + rng.normal(0, 5, 500)}
    result = shoal.attack(data, data, quasi="age", sensitive="lab", attacks=[AttributeInference(rows=200)]).results[0]
    assert result.success.value > 0.6 > result.baseline
    assert result.details["learned_from"] == 200


def test_ceilings_are_the_success_on_the_original():
    data, release = by_decade()
    options = {**KNOWN, "attacks": ["linkage", "homogeneity"], "in_order": True}
    found = shoal.attack(data, release, ceilings=True, **options)
    plain = shoal.attack(data, data, **options)
    for result, original in zip(found.results, plain.results, strict=True):
        assert result.ceiling == original.success
        assert result.floor.value <= result.success.value + 1e-12 <= result.ceiling.value + 1e-12
    assert found.to_dict()["attacks"][0]["ceiling"] == plain.results[0].success.value
    assert shoal.attack(data, release, **options).results[0].ceiling is None


def test_a_release_that_loses_to_an_attack_is_not_green():
    data, _ = by_decade()
    release = shoal.anonymize(data, quasi=["age", "sex"], sensitive="dx", k=5)
    attacked = shoal.attack(data, release)
    report = shoal.report(data, release, attacked)
    verdict = report.sections[0].blocks[0]
    assert "meets the requirement of the policy (verified); attacks succeed: " in verdict.text
    assert verdict.tone.name == "NOTE"
    assert "linkage" not in verdict.text  # 1 in 5 is what the requirement accepts
    assert {result.attack for result in attacked.succeeding(0.2)} >= {"attribute-inference"}
    without = shoal.report(data, release).sections[0].blocks[0]
    assert (without.text, without.tone.name) == (
        "The release meets the requirement of the policy (verified).",
        "GOOD",
    )
