"""Columns without a telling name, recognised by the way their values nest in those of other columns."""

import numpy as np
import pytest

import shoal

REGIONS = 5


def finding(columns, name="v7"):
    return shoal.identify(columns, combinations=False).columns[name]


def families(sizes):
    return np.repeat(np.arange(len(sizes)), sizes)


@pytest.mark.parametrize("unordered", [False, True])
def test_numbers_of_adjacent_small_groups_are_a_household(unordered):
    rng = np.random.default_rng(1)
    family = families(rng.integers(1, 5, 200))
    numbers = rng.permutation(90_000)[:200] if unordered else np.arange(200) + 101
    found = finding({"v7": numbers[family], "chol": rng.normal(200, 30, len(family)).round(1)})
    assert found.role.value == "household"
    assert found.confidence.value == "low"
    assert "on average, as of a household" in found.reasons[0]


def test_matched_sets_need_not_be_adjacent():
    assert finding({"v7": [*range(1, 84)] * 3, "case": [1] * 83 + [0] * 166}).role.value == "household"


@pytest.mark.parametrize(
    "values",
    [
        pytest.param(lambda rng: np.sort(rng.integers(0, 9_000, 600)), id="sorted by a measurement"),
        pytest.param(lambda rng: rng.integers(0, 200, 600), id="not adjacent"),
        pytest.param(lambda rng: families(rng.integers(1, 4, 300)) / 10, id="decimals"),
        pytest.param(lambda _: np.repeat(np.arange(20), 30), id="large groups"),
        pytest.param(lambda _: np.repeat(np.arange(15), 3), id="few groups"),
    ],
)
def test_measurements_are_no_household(values):
    assert finding({"v7": values(np.random.default_rng(2))}).role.value != "household"


def test_a_household_is_the_same_in_all_records_of_an_individual():
    person = np.repeat(np.arange(300), 2)
    columns = {"patient_id": person, "v7": person // 3 + 1}
    assert finding(columns).role.value == "household"
    assert finding({**columns, "v7": np.tile([1, 2], 300)}).role.value != "household"


def test_groups_within_one_place_are_a_household_or_a_site():
    rng = np.random.default_rng(3)
    codes, group = rng.permutation(5_000)[:200], rng.permutation(np.repeat(np.arange(200), 4))
    region = np.array(["north", "east", "south", "west", "centre"])
    assert finding({"v7": codes[group], "region": region[group % REGIONS]}).role.value == "household"
    assert finding({"v7": codes[group], "region": region[rng.integers(0, 5, 800)]}).role.value == "insensitive"
    site = rng.integers(0, 40, 2_000)
    found = finding({"v7": codes[site], "region": region[site % REGIONS]})
    assert found.role.value == "quasi"
    assert "one value of region only" in found.reasons[0]
    assert finding({"v7": codes[site], "region": region[rng.integers(0, 5, 2_000)]}).role.value == "insensitive"


def test_references_to_other_individuals_are_direct_identifiers():
    rng = np.random.default_rng(4)
    numbers = rng.permutation(80_000)[:500] + 10_000
    mothers = np.where(np.arange(500) < 250, numbers[::-1], 0)
    columns = {"record_id": numbers, "v7": [int(number) if number else None for number in mothers]}
    found = finding(columns)
    assert found.role.value == "direct"
    assert found.reasons == ("All values occur in record_id, so that they may refer to other individuals.",)
    columns["v7"][0] = 9_999
    assert finding(columns).role.value != "direct"


def test_small_numbers_do_not_refer_to_row_numbers():
    rng = np.random.default_rng(5)
    found = finding({"record_id": range(1, 1_001), "v7": rng.integers(1, 120, 1_000)})
    assert found.role.value == "insensitive"


def test_a_recognised_household_keeps_its_role():
    family = families([2] * 60) + 1
    found = shoal.identify({"v7": family, "household_id": family + 500}, combinations=False)
    assert [found.columns[name].role.value for name in ("v7", "household_id")] == ["direct", "household"]
