"""Attacks on perturbed numbers: interval disclosure and linkage with a tolerance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.attacks.interval_disclosure import IntervalDisclosure
from shoal.attacks.linkage_rate import LinkageRate
from shoal.attacks.probabilistic_linkage import ProbabilisticLinkage
from shoal.errors import ReleaseError
from shoal.policy.requirements import AttackLimit
from shoal.release.measuring import measured_limits
from tests.effort import examples


def attacked(before, after, attack, **roles):
    found = shoal.attack(
        before, after, **{"quasi": list(before), **roles}, in_order=True, attacks=[attack], targets=5000
    )
    return found.results[0]


def slow(before, after, tolerance, spread):
    """Return the share of rows whose numbers are all close, cell by cell."""
    columns = list(before)
    source = before if spread == "original" else after
    spreads = {name: np.std([value for value in source[name] if value is not None], ddof=1) for name in columns}
    close = 0
    for row in range(len(before[columns[0]])):
        pairs = [(before[name][row], after[name][row], spreads[name]) for name in columns]
        close += all(
            old is not None and new is not None and abs(old - new) <= tolerance * spread for old, new, spread in pairs
        )
    return close / len(before[columns[0]])


@given(st.integers(0, 10_000), st.sampled_from([0.01, 0.1, 0.5]), st.sampled_from(["original", "released"]))
@examples(100)
def test_interval_disclosure_as_it_is_defined(seed, tolerance, spread):
    rng = np.random.default_rng(seed)
    number = int(rng.integers(4, 30))
    before = {"x": rng.normal(0, 5, number).round(2).tolist(), "y": rng.integers(0, 50, number).tolist()}
    after = {"x": (np.array(before["x"]) + rng.normal(0, 0.5, number)).round(2).tolist()}
    after["y"] = [value if rng.random() < 0.7 else None for value in before["y"]]
    if len({value for value in after["y"] if value is not None}) < 2:
        return
    found = attacked(before, after, IntervalDisclosure(tolerance=tolerance, spread=spread))
    assert found.success.value == pytest.approx(slow(before, after, tolerance, spread))


def test_a_wider_release_does_not_raise_its_own_risk():
    """dRisk of sdcMicro takes the interval from the masked numbers: spreading them widens it. The original does not."""
    rng = np.random.default_rng(0)
    before = {"x": rng.normal(0, 1, 500).tolist()}
    after = {"x": (np.array(before["x"]) * 1.0).tolist()}
    after["x"][:5] = [50.0, -50.0, 60.0, -60.0, 70.0]  # five wild values
    after["x"][5:] = (np.array(after["x"][5:]) + rng.normal(0, 0.3, 495)).tolist()
    ours, theirs = (attacked(before, after, IntervalDisclosure(spread=spread)) for spread in ("original", "released"))
    assert theirs.success.value > 2 * ours.success.value


def test_records_of_others_disclose_nothing():
    rng = np.random.default_rng(1)
    x = rng.normal(0, 1, 800)
    found = attacked({"x": x.tolist()}, {"x": rng.permutation(x).tolist()}, IntervalDisclosure(tolerance=0.2))
    assert found.success.low <= found.baseline <= found.success.high


def test_each_column_is_judged_by_itself():
    """A column that is hardly changed is found, although all numbers together are never close."""
    rng = np.random.default_rng(4)
    before = {"x": rng.normal(0, 1, 400).tolist(), "y": rng.normal(0, 1, 400).tolist()}
    after = {"x": (np.array(before["x"]) + 0.001).tolist(), "y": (np.array(before["y"]) + 0.5).tolist()}
    found = shoal.attack(before, after, quasi=["x", "y"], in_order=True, attacks=["interval-disclosure"], targets=400)
    assert {result.column: result.success.value for result in found.results} == {None: 0.0, "x": 1.0, "y": 0.0}
    assert [result.title for result in found.results][1:] == ["interval-disclosure of x", "interval-disclosure of y"]
    for column, satisfied in ((None, False), ("x", False), ("y", True)):
        limit = AttackLimit(attack="interval-disclosure", at_most=0.1, column=column)
        assert measured_limits([limit], found)[0].verdict.satisfied is satisfied
    with pytest.raises(ReleaseError, match=r"could not be measured\. It is about 'x', 'y'\."):
        measured_limits([AttackLimit(attack="interval-disclosure", at_most=0.1, column="z")], found)


def test_text_has_no_interval():
    found = shoal.attack(
        {"x": ["a", "b"], "y": [1, 2]}, {"x": ["b", "a"], "y": [1, 2]}, quasi="x", in_order=True,
        attacks=["interval-disclosure"],
    )  # fmt: skip
    assert found.results == ()
    assert "interval-disclosure" in found.left_out


def noisy(seed=2, number=400, share=0.05):
    rng = np.random.default_rng(seed)
    before = {name: rng.normal(0, 10, number).round(1) for name in ("a", "b", "c")}
    after = {name: (values + rng.normal(0, 10 * share, number)).round(1) for name, values in before.items()}
    return [{name: values.tolist() for name, values in table.items()} for table in (before, after)]


def test_a_tolerance_links_perturbed_records():
    """An adversary who expects noise finds nearly everybody whom exact agreement misses."""
    before, after = noisy()
    exact = attacked(before, after, ProbabilisticLinkage(tolerances=(0.0,)))
    tolerant = attacked(before, after, ProbabilisticLinkage())
    assert exact.success.value < 0.35
    assert tolerant.success.value > 0.7
    assert tolerant.details["tolerance"] > 0


def test_true_numbers_need_no_tolerance():
    before, _ = noisy()
    found = attacked(before, before, ProbabilisticLinkage())
    assert found.success.value > 0.99
    assert "tolerance" not in found.details


def test_linkage_rate_is_that_of_the_stronger_attack():
    before, after = noisy(share=0.1)
    rate = attacked(before, after, LinkageRate())
    both = [attacked(before, after, name) for name in ("distance-linkage", "probabilistic-linkage")]
    assert rate.success == max((found.success for found in both), key=lambda success: success.value)
    assert rate.attack == "linkage-rate"


def test_shuffled_records_link_nobody():
    before, _ = noisy()
    rng = np.random.default_rng(5)
    after = {name: rng.permutation(values).tolist() for name, values in before.items()}
    found = attacked(before, after, LinkageRate())
    assert found.success.low <= found.baseline
