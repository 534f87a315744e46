"""Advice on a release: counted by hand, and made again."""

import numpy as np
import pytest

import shoal

SEEDED = np.random.default_rng(3)
RECORDS = 120
DATA = {
    "age": SEEDED.integers(20, 90, RECORDS),
    "sex": ["f", "m"] * (RECORDS // 2),
    "days": [*range(RECORDS)],
    "arm": ["a", "b", "c"] * (RECORDS // 3),
}
POLICY = {
    "version": 1,
    "columns": {
        "age": {"role": "quasi", "hierarchy": {"kind": "interval", "widths": [10, 20, 40]}},
        "sex": "quasi",
        "days": "insensitive",
        "arm": "insensitive",
    },
    "require": [{"model": "k-anonymity", "k": 5}],
    "search": {"recoding": "global", "suppression": 0},
}


@pytest.fixture(scope="module")
def release():
    return shoal.anonymize(DATA, shoal.Policy.model_validate(POLICY))


def test_columns_that_make_individuals_unique_again(release):
    found = shoal.advise(release, seconds=0)
    assert (found.revealing[0].column, found.revealing[0].unique) == ("days", RECORDS)
    shown = release.to_frame("pyarrow").to_pylist()
    keys = [(row["age"], row["sex"], row["arm"]) for row in shown]
    arm = next(column for column in found.revealing if column.column == "arm")
    assert arm.unique == sum(keys.count(key) == 1 for key in keys)


def test_the_individuals_who_force_a_generalisation(release):
    """The age as it was, beside the sex as it is released."""
    found = next(column for column in shoal.advise(release, seconds=0).lost if column.column == "age")
    keys = list(zip(DATA["age"].tolist(), DATA["sex"], strict=True))
    small = [keys.count(key) for key in keys]
    assert found.forced_by == sum(size < 5 for size in small)
    assert len(found.records) == 10
    assert max(small[record] for record in found.records) <= sorted(small)[9]


def test_alternatives_are_really_made(release):
    found = shoal.advise(release, seconds=60)
    assert found.complete
    local = next(other for other in found.alternatives if other.change == "With recoding = local")
    search = {**POLICY["search"], "recoding": "local"}
    again = shoal.anonymize(DATA, shoal.Policy.model_validate({**POLICY, "search": search}))
    costs = [again.quality["loss"].columns[name].cost for name in ("age", "sex")]
    assert local.cost == pytest.approx(np.mean(costs))
    assert local.cost <= found.cost
    fewer = next(other for other in found.alternatives if other.change.startswith("If no adversary can know 'age'"))
    assert fewer.cost == 0  # the sex alone needs no generalisation


def test_the_time_limit_ends_the_alternatives(release):
    found = shoal.advise(release, seconds=0)
    assert (found.alternatives, found.complete) == ((), False)
    assert "within the time limit" in [*found.sentences()][-1]


def test_persons_are_counted():
    data = {**DATA, "patient": [number // 2 for number in range(RECORDS)]}
    data["age"], data["sex"] = np.repeat(DATA["age"][:60], 2), ["f"] * RECORDS
    release = shoal.anonymize(data, shoal.Policy.model_validate({**POLICY, "data": {"subject": "patient"}}))
    found = next(column for column in shoal.advise(release, seconds=0).lost if column.column == "age")
    ages = DATA["age"][:60].tolist()
    assert found.forced_by == sum(ages.count(age) < 5 for age in ages)
