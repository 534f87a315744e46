"""Advice on a release: counted by hand, and made again."""

import numpy as np
import pytest

import shoal
from shoal.reporting.document import Section

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
    local = next(other for other in found.alternatives if "(local recoding)" in other.change)
    search = {**POLICY["search"], "recoding": "local"}
    again = shoal.anonymize(DATA, shoal.Policy.model_validate({**POLICY, "search": search}))
    assert local.cost == pytest.approx(again.quality["loss"].total.cost)
    assert found.cost == pytest.approx(release.quality["loss"].total.cost)
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


def test_individuals_are_counted_in_releases_without_a_subject():
    """Two records of one person with the same values are one individual, who is unique."""
    visits = {"age": [40, 40, 40, 40], "who": [1, 1, 2, 3], "days": [7, 7, 8, 8]}
    columns = {"age": {"role": "quasi"}, "days": "insensitive"}
    policy = {**POLICY, "columns": columns, "data": {"subject": "who"}, "require": [{"model": "k-anonymity", "k": 3}]}
    found = shoal.advise(shoal.anonymize(visits, shoal.Policy.model_validate(policy)), seconds=0)
    assert (found.persons, found.revealing[0].unique) == (3, 1)


def sheets(report):
    """Return the titles of all tables of a report."""
    return [title for section in report.sections for title in _titles(section)]


def _titles(section):
    for block in section.blocks:
        yield from _titles(block) if isinstance(block, Section) else [getattr(block, "title", None)]


ADVICE = {
    "Why columns were generalised",
    "Alternatives",
    "Individuals who become unique if one more released column is known",
}


def test_the_report_gives_the_advice_to_the_owner_alone(release):
    report = shoal.report(DATA, release)
    assert {*sheets(report)} >= ADVICE
    assert not {*sheets(report.external())} & ADVICE
    assert "Alternatives" not in sheets(shoal.report(DATA, release, advice_seconds=0))


def test_reports_do_not_depend_on_the_speed_of_the_machine(release, monkeypatch):
    first = shoal.report(DATA, release)
    assert first.findings.advice.complete
    assert shoal.report(DATA, release).to_json() == first.to_json()
    monkeypatch.setattr("shoal.release.advice._QUICK", 0)
    assert shoal.report(DATA, release).findings.advice.alternatives == ()


def test_a_release_read_from_its_file_gets_the_same_advice(release, tmp_path):
    release.save(tmp_path / "release.csv")
    policy = shoal.Policy.model_validate(POLICY)
    report = shoal.report(DATA, shoal.read(tmp_path / "release.csv"), policy=policy, advice_seconds=0)
    own, read = shoal.advise(release, seconds=0), report.findings.advice
    assert [(column.column, column.forced_by) for column in read.lost] == [
        (column.column, column.forced_by) for column in own.lost
    ]
    assert (read.revealing, read.persons, read.failing) == (own.revealing, own.persons, own.failing)
    assert read.cost == pytest.approx(own.cost)
