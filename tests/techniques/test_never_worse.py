"""Local recoding never costs more than global recoding; a few values on one side do not end the cuts of Mondrian."""

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

import shoal

PEOPLE = st.lists(
    st.tuples(st.integers(20, 89), st.sampled_from("fm"), st.sampled_from(["baker", "cook", "nurse", "smith"])),
    min_size=12,
    max_size=60,
)
JOBS = {"baker": ["craft"], "smith": ["craft"], "cook": ["kitchen"], "nurse": ["care"]}


def policy(recoding, k, *, suppression=0.1, weights=None):
    return shoal.Policy.model_validate(
        {
            "version": 1,
            "columns": {
                "age": {"role": "quasi", "hierarchy": {"kind": "interval", "widths": [5, 10, 20]}},
                "sex": "quasi",
                "job": {"role": "quasi", "hierarchy": {"kind": "explicit", "values": JOBS}},
            },
            "require": [{"model": "k-anonymity", "k": k}],
            "search": {"recoding": recoding, "suppression": suppression, "weights": weights or {}},
        }
    )


@hypothesis.given(PEOPLE, st.sampled_from([2, 3, 5]), st.sampled_from([{}, {"age": 5}]))
def test_local_recoding_never_costs_more_than_global_recoding(people, k, weights):
    data = dict(zip(("age", "sex", "job"), map(list, zip(*people, strict=True)), strict=True))
    local, everybody = (shoal.anonymize(data, policy(recoding, k, weights=weights)) for recoding in ("local", "global"))
    costs = [_weighted(release, weights) for release in (local, everybody)]
    assert costs[0] <= costs[1] + 1e-9


def _weighted(release, weights):
    """Return the weighted geometric mean of the losses of the columns, which the search minimises."""
    columns = release.quality["loss"].columns
    costs = np.array([columns[name].cost for name in ("age", "sex", "job")])
    parts = np.array([weights.get(name, 1) for name in ("age", "sex", "job")], float)
    return float(np.prod((1 + costs) ** (parts / parts.sum()))) - 1


@pytest.mark.parametrize("recoding", ["mondrian", {"kind": "mondrian", "strict": False}])
def test_a_few_old_persons_do_not_blank_the_age_of_all(recoding):
    """Two persons of 80 alone in their node: every cut between the nodes of the top level leaves a class of two."""
    ages = [*range(61, 80)] * 10 + [80, 80]
    ladder = {"kind": "interval", "widths": [5, 10, 20]}
    document = {
        "version": 1,
        "columns": {"age": {"role": "quasi", "hierarchy": ladder}, "sex": "quasi"},
        "require": [{"model": "k-anonymity", "k": 5}],
        "search": {"recoding": recoding, "suppression": 0},
    }
    data = {"age": ages, "sex": ["f"] * len(ages)}
    release = shoal.anonymize(data, shoal.Policy.model_validate(document))
    shown = release.to_frame("pyarrow").column("age").to_pylist()
    assert shown.count("*") < 2 * 10 + 2  # those who share a class with the two, and no others


def test_many_quasi_identifiers_are_recoded_by_another_technique():
    seeded = np.random.default_rng(1)
    data = {f"q{number}": seeded.integers(0, 40, 60) for number in range(40)}
    document = {"version": 1, "columns": dict.fromkeys(data, "quasi"), "require": [{"model": "k-anonymity", "k": 3}]}
    release = shoal.anonymize(data, shoal.Policy.model_validate(document))
    assert release.met
    assert release.notes[0].startswith("40 quasi-identifiers give too many generalisation schemes")
    assert release.facts["recoding"] == "mondrian"
