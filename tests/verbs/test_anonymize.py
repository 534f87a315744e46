"""``shoal.anonymize`` without a policy, and originals that a release was not made from."""

import json

import numpy as np
import pytest

import shoal
from shoal.errors import HierarchyError, PolicyError, ReportError
from tests.command_line import run

DATA = {"age": [31, 34, 36, 71, 78] * 20, "sex": list("ffmmm") * 20, "dx": ["flu", "ms", "flu", "gout", "flu"] * 20}


@pytest.mark.parametrize("k", [5, np.int64(5), np.uint8(5)])
def test_k_may_come_from_any_library(k):
    assert shoal.anonymize(DATA, quasi=["age", "sex"], k=k).met


@pytest.mark.parametrize("k", [0, -1, 2.5, "5", True, None])
def test_a_k_that_is_none_is_refused(k):
    with pytest.raises(PolicyError):
        shoal.anonymize(DATA, quasi=["age", "sex"], k=k)


def test_names_without_a_role_are_explained():
    with pytest.raises(PolicyError, match="list of names") as failure:
        shoal.anonymize(DATA, ["age", "sex"], k=5)
    assert "quasi=" in failure.value.hint


def test_individuals_with_several_records_are_recoded_locally():
    twice = {name: [*values, *values] for name, values in DATA.items()}
    twice["id"] = [*range(100), *range(100)]
    local = shoal.anonymize(twice, quasi=["age", "sex"], subject="id", k=5)
    assert local.policy.search.technique.kind == "local"
    twice["age"][0] = 40
    release = shoal.anonymize(twice, quasi=["age", "sex"], subject="id", k=5)
    assert release.policy.search.technique.kind == "local"
    assert release.suppressed <= 2


def test_suppression_can_be_set():
    odd = {"age": [*DATA["age"], 5], "sex": [*DATA["sex"], "f"]}
    assert shoal.anonymize(odd, quasi=["age", "sex"], k=5, suppression=0).suppressed == 0
    with pytest.raises(PolicyError, match="suppression"):
        shoal.anonymize(odd, quasi=["age", "sex"], k=5, suppression=2)


def test_the_command_takes_the_same_options(tmp_path):
    shoal.write(shoal.read(DATA), tmp_path / "data.csv")
    options = ("--quasi", "age,sex", "--sensitive", "dx", "-k", "5")
    done = run("anonymize", "data.csv", *options, "-o", "out.csv", "--json", cwd=tmp_path)
    release = shoal.anonymize(tmp_path / "data.csv", quasi=["age", "sex"], sensitive=["dx"], k=5)
    printed = json.loads(done.stdout)["result"]
    assert printed.pop("files")
    assert printed.pop("advice")["persons"] == release.table.records
    assert printed == json.loads(json.dumps(release.to_dict()))
    for wrong in (("-k", "5"), ("--quasi", "age"), (*options, "--frontier"), (*options, "-p", "none.toml")):
        assert run("anonymize", "data.csv", *wrong, "--dry-run", cwd=tmp_path).returncode == 2


def test_infinite_numbers_are_not_silently_left_out():
    with pytest.raises(HierarchyError, match="infinite") as failure:
        shoal.anonymize({"x": [1.5, 2.5, float("inf")] * 10}, quasi=["x"], k=2)
    assert "markers" in failure.value.hint


@pytest.mark.parametrize("role", ["sensitive", "insensitive"])
@pytest.mark.parametrize(
    "values",
    [["Anna Müller", "Jürgen Schmidt", "Maria Weber", "Peter Wagner", "Laura Becker"], ["123-45-6789", "234-56-7890"]],
)
def test_names_and_numbers_of_persons_do_not_go_out(role, values):
    data = {"age": [30, 40] * 10, "who": (values * 10)[:20]}
    with pytest.raises(PolicyError, match="and may identify individuals"):
        shoal.anonymize(data, quasi=["age"], k=2, **{role: ["who"]})


def test_social_security_numbers_are_no_dates():
    identified = shoal.identify({"ssn": ["123-45-6789", "234-56-7890", "345-67-8901"] * 5})
    assert str(identified.columns["ssn"].role) == "direct"
    assert str(shoal.identify({"day": ["1.2.1998", "13.11.2001", "2/3/98"] * 5}).columns["day"].role) != "direct"


def test_another_original_is_not_taken_for_the_one():
    release = shoal.anonymize(DATA, quasi=["age", "sex"], sensitive=["dx"], k=5)
    other = {"age": DATA["age"][::-1], "sex": DATA["sex"], "dx": DATA["dx"]}
    same = shoal.compare(shoal.read(DATA), release)  # read again
    assert same.quality["loss"].total == release.quality["loss"].total
    assert not any("recorded by anonymize" in note for note in shoal.attack(other, release, attacks=["linkage"]).notes)
    with pytest.raises(ReportError, match="The release was not made from this original"):
        shoal.report(other, release)
