"""Slicing: groups of columns in tables of their own, judged from the released tables by the definition."""

import json
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import ShoalError
from shoal.policy.pseudonyms import Draw
from shoal.separation.association import associations, grouped

QUASI = ("age", "sex", "job", "zip")


def data(number=400, seed=4):
    """Return individuals whose job goes with their age, whose zip code goes with nothing, and six diagnoses."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 60, number)
    return {
        "age": age.tolist(),
        "sex": rng.choice(["f", "m"], number).tolist(),
        "job": np.where(age < 30, "student", np.where(age < 45, "clerk", "manager")).tolist(),
        "zip": rng.choice(["10", "20", "30"], number).tolist(),
        "dx": rng.choice(list("abcdef"), number).tolist(),
        "drug": rng.choice(list("xyz"), number).tolist(),
    }


def policy(*require, columns=None, **options):
    named = {**dict.fromkeys(QUASI, "quasi"), "dx": "sensitive", "drug": "insensitive", **(columns or {})}
    publish = {"kind": "slicing", "identities_public": True, **options}
    search = {"publish": publish, "suppression": 0.1}
    return shoal.Policy.model_validate({"version": 1, "columns": named, "require": list(require), "search": search})


def frames(release):
    return [table.to_frame("pyarrow").to_pylist() for table in release.tables.values()]


def probabilities(tables, individual, column="dx"):
    """Return the probability of each value of an individual: Σ_B p(t, B) · D(t, B)[s] (Li et al. 2012)."""
    known = [[name for name in table[0] if name in individual and name not in {"bucket", column}] for table in tables]
    weights = Counter()
    for bucket in {row["bucket"] for row in tables[0]}:
        inside = [[row for row in table if row["bucket"] == bucket] for table in tables]
        alike = [
            [row for row in rows if all(row[name] == individual[name] for name in names)]
            for rows, names in zip(inside, known, strict=True)
        ]
        share = prod(Fraction(len(some), len(rows)) for some, rows in zip(alike, inside, strict=True))
        if share:
            values = Counter(row[column] for row in alike[-1])
            for value, times in values.items():
                weights[value] += share * Fraction(times, values.total())
    return {value: weight / sum(weights.values()) for value, weight in weights.items()}


@pytest.mark.parametrize(
    "options", [{"l": 3}, {"l": 4, "groups": 3}, {"l": 2, "together": [["zip"], ["age", "sex", "job"]]}]
)
def test_no_value_of_anybody_is_more_probable_than_one_in_l(options, monkeypatch):
    monkeypatch.setenv("SLICES", "a key that is long enough")  # the number of buckets depends on it
    original, draw = data(), Draw(key_variable="SLICES")
    release = shoal.anonymize(original, policy(**options).model_copy(update={"draw": draw}))
    tables = frames(release)
    assert len({row["bucket"] for row in tables[0]}) > 5
    people = {tuple(original[name][i] for name in QUASI) for i in range(len(original["age"]))}
    highest = Fraction(0)
    for person in people:
        shown = probabilities(tables, dict(zip(QUASI, person, strict=True)))
        highest = max(highest, *shown.values())
    assert highest <= Fraction(1, options["l"])
    (judgement,) = release.requirements
    assert judgement.verdict.value["l"] == pytest.approx(float(1 / highest))
    assert judgement.guarantee == "verified"


SMALL = st.lists(
    st.fixed_dictionaries({"a": st.sampled_from("xy"), "b": st.sampled_from("uvw"), "s": st.sampled_from("123")}),
    min_size=1,
    max_size=8,
)


@settings(max_examples=60)
@given(SMALL, st.sampled_from([2, 3]))
def test_small_tables_by_enumeration(rows, size):
    """Either the most frequent value is too frequent, or every individual is protected in the released tables."""
    table = {name: [row[name] for row in rows] for name in "abs"}
    asked = shoal.Policy.model_validate(
        {
            "version": 1,
            "columns": {"a": "quasi", "b": "quasi", "s": "sensitive"},
            "search": {"publish": {"kind": "slicing", "l": size, "identities_public": True}},
        }
    )
    eligible = Counter(table["s"]).most_common(1)[0][1] * size <= len(rows)
    if not eligible:
        with pytest.raises(ShoalError, match="too frequent"):
            shoal.anonymize(table, asked)
        return
    tables = frames(shoal.anonymize(table, asked))
    for row in rows:
        known = {name: row[name] for name in "ab"}
        assert max(probabilities(tables, known, "s").values()) <= Fraction(1, size)
    for number in {row["bucket"] for row in tables[0]}:
        assert len({len([row for row in table if row["bucket"] == number]) for table in tables}) == 1


def test_each_table_has_the_columns_of_a_group_and_every_record():
    original = data()
    release = shoal.anonymize(original, policy(l=3))
    tables = frames(release)
    assert [*release.tables][-1] == "release.values"
    assert {"dx", "drug"} <= {*tables[-1][0]}
    names = [name for table in tables for name in table[0] if name != "bucket"]
    assert sorted(names) == sorted(original)
    for table in tables:
        columns = [name for name in table[0] if name != "bucket"]
        before = Counter(zip(*(original[name] for name in columns), strict=True))
        assert Counter(tuple(row[name] for name in columns) for row in table) == before
    sizes = [Counter(row["bucket"] for row in table) for table in tables]
    assert all(one == other for one, other in pairwise(sizes))
    assert min(sizes[0].values()) >= 3
    assert sorted(sizes[0]) == list(range(1, len(sizes[0]) + 1))


def test_related_columns_stay_together():
    squares = associations([(np.array(np.unique(data()[name], return_inverse=True)[1]), 40) for name in QUASI])
    age, _, job, _ = grouped(squares, 3)
    assert age == job
    for groups in (2, 3):
        release = shoal.anonymize(data(), policy(l=2, groups=groups))
        assert any({"age", "job"} <= {*table.names} for table in release.tables.values())


def test_requirements_on_values_are_met_by_buckets_and_what_is_beside_them():
    """l-diversity as a requirement of the policy concerns each bucket, and each combination beside the values."""
    release = shoal.anonymize(data(900), policy({"model": "l-diversity", "l": 3}, {"model": "k-anonymity", "k": 4}))
    *_, values = frames(release)
    beside = [name for name in values[0] if name in QUASI]
    held = {}
    for row in values:
        held.setdefault((row["bucket"], *(row[name] for name in beside)), set()).add(row["dx"])
    assert min(map(len, held.values())) >= 3
    assert {judgement.verdict.model for judgement in release.requirements} == {"l-diversity", "k-anonymity"}


def test_the_manifest_tells_nothing_that_the_tables_do_not(tmp_path):
    release = shoal.anonymize(data(), policy(l=3))
    release.save(tmp_path / "out.csv")
    public = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert "classes" not in public
    assert "smallest_class" not in public
    assert public["split"]["kind"] == "slicing"
    assert public["requirements"] == [
        {
            "source": "policy",
            "model": "l-diverse slicing",
            "column": None,
            "parameters": {"l": 3},
            "satisfied": True,
            "guarantee": "verified",
        }
    ]
    assert sorted(public["files"]) == [f"out.{name.partition('.')[2]}.csv" for name in release.tables if "." in name]


@pytest.mark.parametrize(
    ("options", "columns", "problem"),
    [
        ({"l": 8}, {}, "too frequent for buckets of 8 different values. The largest possible l is 5"),
        ({}, {}, "number of different values per bucket is not given"),
        ({"l": 3}, {"dx": "insensitive"}, "nothing to protect by slicing"),
        ({"l": 3, "together": [["age", "sex"], ["job"]]}, {}, "'zip' is in no group"),
        ({"l": 3, "together": [["age", "sex", "job"], ["zip", "sex"]]}, {}, "'sex' is in several groups"),
        ({"l": 3, "together": [["age", "sex", "job", "zip", "drug"]]}, {}, "'drug' is not a quasi-identifier"),
        ({"l": 3, "groups": 1}, {}, "greater than or equal to 2|at least 2"),
        ({"l": 3, "identities_public": False}, {}, "are unique in them"),
        ({"l": 3}, {"dx": {"role": "sensitive", "perturb": {"kind": "pram"}}}, "perturbed"),
        ({"l": 3}, {"age": {"role": "quasi", "perturb": {"kind": "swap"}}}, "drawn at random|perturbed"),
    ],
)
def test_what_cannot_be_sliced(options, columns, problem):
    with pytest.raises((ShoalError, ValueError), match=problem):
        shoal.anonymize(data(), policy(columns=columns, **options))


def test_individuals_with_several_records_are_refused():
    table = {"who": [i // 2 for i in range(400)], **data()}
    asked = policy(l=2)
    asked = asked.model_copy(update={"data": asked.data.model_copy(update={"subject": "who"})})
    with pytest.raises(ShoalError, match="Slicing requires one per individual"):
        shoal.anonymize(table, asked)
    single = shoal.anonymize({**table, "who": [*range(400)]}, asked)
    assert single.met
