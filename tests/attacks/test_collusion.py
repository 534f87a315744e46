"""Collusion: what members of a class or bucket infer from their own values."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.attacks.collusion import Collusion, _attacked


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=25),
    st.integers(0, 6),
    st.integers(0, 9),
)
def test_the_rest_of_a_class_beside_the_definition(rows, colluders, seed):
    groups, values = (np.array(part) for part in zip(*rows, strict=True))
    here, right = _attacked(groups, values, colluders, np.random.default_rng(seed))
    sizes = Counter(groups.tolist())
    assert Counter(groups[here].tolist()) == {group: size - min(colluders, size - 1) for group, size in sizes.items()}
    for person, chance in zip(here.tolist(), right.tolist(), strict=True):
        counts = Counter(values[other] for other in here if groups[other] == groups[person])
        top = max(counts.values())
        ties = [value for value, number in counts.items() if number == top]
        assert chance == pytest.approx((values[person] in ties) / len(ties))


def test_the_expected_success_is_that_over_all_colluders():
    """One class of five, two colluders: the mean over all pairs."""
    values = np.array([0, 0, 1, 1, 2])
    exact = []
    for pair in combinations(range(5), 2):
        rest = [values[place] for place in range(5) if place not in pair]
        counts = Counter(rest)
        ties = [value for value, number in counts.items() if number == max(counts.values())]
        exact += [(value in ties) / len(ties) for value in rest]
    drawn = [_attacked(np.zeros(5, int), values, 2, np.random.default_rng(seed))[1].mean() for seed in range(3000)]
    assert np.mean(drawn) == pytest.approx(np.mean(exact), abs=0.01)


def patients(number=240):
    rng = np.random.default_rng(0)
    return {
        "age": rng.integers(20, 90, number),
        "sex": rng.choice(["f", "m"], number),
        "dx": rng.choice(["a", "b", "c", "d"], number),
    }


POLICY = """
version = 1
[columns]
age = { role = "quasi"%s }
sex = "quasi"
dx = "sensitive"
[[require]]
model = "k-anonymity"
k = 4
[search]
recoding = "%s"
%s
"""


def test_all_but_one_member_of_a_class_of_microaggregation_compute_the_last_value():
    data = patients()
    release = shoal.anonymize(data, shoal.Policy.parse(POLICY % (', show = "mean"', "microaggregation", "")))
    found = shoal.attack(data, release, attacks="collusion")
    assert found.of("collusion", "age").success.value > 0.95
    assert found.of("collusion", "age").baseline < 0.2


def test_nothing_is_computed_from_generalised_ages():
    data = patients()
    release = shoal.anonymize(
        data, shoal.Policy.parse(POLICY % (', hierarchy = { kind = "interval", widths = [20, 40] }', "local", ""))
    )
    found = shoal.attack(data, release, attacks="collusion")
    assert [result.column for result in found.results] == ["dx"]
    curve = [point.success.value for point in found.results[0].curve]
    assert curve[-1] > curve[0]


def test_two_of_three_in_a_bucket_know_the_last_value():
    data = patients()
    publish = 'publish = { kind = "buckets", l = 3, identities_public = true }'
    text = POLICY % ("", "local", publish)
    release = shoal.anonymize(data, shoal.Policy.parse(text.replace('[[require]]\nmodel = "k-anonymity"\nk = 4\n', "")))
    result = shoal.attack(data, release, attacks=[Collusion(colluders=2)]).results[0]
    assert result.details["smallest"] == 3
    assert result.success.value > 0.9  # buckets of four keep two values
    alone = shoal.attack(data, release, attacks=[Collusion(colluders=0)]).results[0]
    assert alone.success.value == pytest.approx(1 / 3, abs=0.03)


def test_collusion_is_no_risk_of_wp216():
    data = patients()
    found = shoal.attack(data, {**data, "age": ["*"] * 240}, quasi=["age", "sex"], sensitive="dx", in_order=True,
                         attacks="collusion")  # fmt: skip
    assert all(best is None for best in found.card().values())
    assert "collude" in found.off_card
