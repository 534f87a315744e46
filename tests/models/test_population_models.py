"""Models that look at the population: k-map and δ-presence."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.errors import ModelError
from shoal.models.evidence import Gatherer, View
from shoal.models.model import MODELS
from shoal.population import Population

people = st.lists(st.sampled_from([1, 2, 3]), min_size=1, max_size=12)


def evidence(sample, register):
    table = shoal.read({"age": sample})
    population = register if isinstance(register, Population) else Population.of(shoal.read({"age": register}))
    return Gatherer(table, population=population).evidence(View(("age",)))


@given(sample=people, others=people)
def test_a_register_is_counted(sample, others):
    everybody = sample + others
    seen = evidence(sample, everybody)
    shares = [Fraction(sample.count(age), everybody.count(age)) for age in set(everybody)]
    assert MODELS["k-map"]().measure(seen) == {"k": min(everybody.count(age) for age in set(sample))}
    assert MODELS["delta-presence"]().measure(seen) == {"delta_min": min(shares), "delta_max": max(shares)}
    exactly = MODELS["delta-presence"](delta_min=min(shares), delta_max=max(shares))
    assert exactly.verdict(seen).satisfied
    if max(shares) > 0:
        assert (
            not MODELS["delta-presence"](delta_min=0, delta_max=max(shares) - Fraction(1, 10**9))
            .verdict(seen)
            .satisfied
        )


def test_people_who_look_like_nobody_in_the_table_can_be_told_to_be_absent():
    seen = evidence([1, 1], [1, 1, 2])
    assert MODELS["delta-presence"]().measure(seen)["delta_min"] == 0
    assert not MODELS["delta-presence"](delta_min="1/100", delta_max=1).verdict(seen).satisfied


def test_a_register_that_lacks_somebody_does_not_lower_k():
    assert MODELS["k-map"]().measure(evidence([1, 1, 1], [1])) == {"k": 3}


def test_estimated_k_map():
    """ARX derives k' = 2 for k = 5 and Adult as a sample of the USA: two persons who look alike are enough."""
    few = Population(317_238_626)
    assert MODELS["k-map"](k=5).verdict(evidence([1] * 2, few)).satisfied
    alone = MODELS["k-map"](k=5).verdict(evidence([1] * 1 + [2] * 2, few))
    assert (alone.satisfied, alone.classes, alone.persons) == (False, 1, 1)
    whole = evidence([1] * 4, Population(4))
    assert MODELS["k-map"]().measure(whole) == {"k": 4}


def test_the_estimate_is_where_the_verdict_turns():
    seen = evidence([1] * 3 + [2] * 9, Population(120))
    k = MODELS["k-map"]().measure(seen)["k"]
    assert k >= 3
    assert MODELS["k-map"](k=k).verdict(seen).satisfied
    assert not MODELS["k-map"](k=k + 1).verdict(seen).satisfied


def test_what_is_lacking_is_said():
    with pytest.raises(ModelError, match="The population is not described"):
        shoal.k_map({"age": [1]}, quasi=["age"])
    with pytest.raises(ModelError, match="A register of the population is required"):
        shoal.delta_presence({"age": [1]}, quasi=["age"], population=100)
