"""Models that compare a table with a register, where values are missing and match nobody (missing = "never")."""

import shoal
from shoal.population import Population


def assessed(population, **asked):
    data = {"age": [4, 4, 7], "sex": [None, None, "f"]}
    policy = shoal.Policy.parse(f"version = 1\nrequire = [{asked['require']}]")
    return shoal.assess(data, policy, quasi=["age", "sex"], missing="never", population=population)


def test_an_entry_with_a_missing_value_is_one_person_and_not_the_company_of_another():
    """Two entries look like each of the two persons without a sex; each of them is one of these entries."""
    register = {"age": [4, 4, 4, 7, 7], "sex": [None, None, None, "f", "f"]}
    found = assessed(register, require='{ model = "k-map", k = 2 }')
    assert found.requirements[0].verdict.value == {"k": 1}
    assert found.journalist.maximum == 1
    shares = assessed(register, require='{ model = "delta-presence", delta_min = 0, delta_max = 0.6 }')
    assert shares.requirements[0].verdict.value == {"delta_min": 0, "delta_max": 1}  # the third entry is nobody's


def test_values_that_are_there_match_as_ever():
    register = {"age": [4, 4, 7, 7], "sex": ["f", "m", "f", "f"]}
    table = shoal.read({"age": [7], "sex": ["f"]}).assign(quasi=["age", "sex"])
    population = Population.of(shoal.read(register))
    assert shoal.k_map(table, population=population, missing="never") == 2
