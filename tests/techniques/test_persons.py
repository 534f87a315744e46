"""Persons with several records: all records of a person are released alike, in classes of enough persons."""

from collections import defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples

import shoal
from shoal.errors import ReleaseError, ShoalError

WAYS = (
    {"recoding": "global"},
    {"recoding": "global", "refine": True},
    {"recoding": "local"},
    {"recoding": "local", "refine": True},
    {"recoding": "mondrian"},
    {"recoding": "suppression"},
    {"recoding": "microaggregation"},
)
COLUMNS = {
    "born": {"role": "quasi", "hierarchy": {"kind": "interval", "widths": [5, 20]}},
    "sex": {"role": "quasi", "hierarchy": {"kind": "suppression"}},
    "year": {"role": "quasi", "hierarchy": {"kind": "interval", "widths": [2, 4]}},
    "dx": {"role": "sensitive"},
}


@st.composite
def visits(draw):
    """Persons with one to five records: the year of birth and the sex are constant, the year and the diagnosis vary."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    persons = draw(st.integers(8, 60))
    who = np.repeat(np.arange(persons), rng.integers(1, 6, persons))
    born = rng.integers(1940, 1940 + draw(st.sampled_from([3, 12, 60])), persons).astype(object)
    if draw(st.booleans()):
        born[rng.random(persons) < 0.15] = None  # missing values
    year = rng.integers(2000, 2000 + draw(st.sampled_from([1, 2, 8])), len(who))
    values = rng.choice(["flu", "gout", "ms", "hiv"], len(who), p=[0.5, 0.3, 0.15, 0.05])
    return {
        "id": [f"P{number}" for number in who],
        "born": born[who].tolist(),
        "sex": np.array(["f", "m"])[rng.integers(0, 2, persons)][who].tolist(),
        "year": year.tolist(),
        "dx": values.tolist(),
    }


def released(data, way, requirements, limit):
    policy = {
        "version": 1,
        "data": {"subject": "id"},
        "columns": COLUMNS,
        "require": requirements,
        "search": {**way, "suppression": limit},
    }
    return shoal.anonymize(data, shoal.Policy.model_validate(policy))


def classes_of(release):
    """Return the original records in each class of released values."""
    frame = release.table.to_frame("pyarrow")
    shown = [frame.column(name).to_pylist() for name in ("born", "sex", "year")]
    members = defaultdict(list)
    for record, key in zip(np.asarray(release.records).tolist(), zip(*shown, strict=True), strict=True):
        members[key].append(record)
    return members


@given(
    data=visits(),
    way=st.sampled_from(WAYS),
    k=st.integers(2, 5),
    l_=st.sampled_from([None, 2]),
    limit=st.sampled_from([0, 0.1, 0.4]),
)
@examples(150)
def test_every_class_has_k_persons_and_l_values(data, way, k, l_, limit):
    asked = [{"model": "k-anonymity", "k": k}]
    asked += [] if l_ is None else [{"model": "l-diversity", "column": "dx", "l": l_}]
    try:
        release = released(data, way, asked, limit)
    except (ReleaseError, ShoalError) as error:
        assert error.code in {"too-little-suppression", "impossible", "too-much-suppression", "too-few-individuals",
                              "too-few-values"}  # fmt: skip
        return
    kept = set()
    for records in classes_of(release).values():
        assert len({data["id"][record] for record in records}) >= k
        assert l_ is None or len({data["dx"][record] for record in records}) >= l_
        kept.update(records)
    gone = {who for record, who in enumerate(data["id"]) if record not in kept}
    assert len(gone) == release.suppressed <= limit * len(set(data["id"]))


@given(data=visits(), way=st.sampled_from([way for way in WAYS if way["recoding"] != "global"]))
@examples(60)
def test_all_records_of_a_person_are_released_alike(data, way):
    """A person's constant values are released alike. All records or none are released, unless a global scheme remains.

    Where a technique suppresses too many persons, the best scheme for all records is used, which suppresses records.
    """
    try:
        release = released(data, way, [{"model": "k-anonymity", "k": 3}], 0.4)
    except ShoalError:
        return
    shown = defaultdict(set)
    kept = defaultdict(int)
    for key, records in classes_of(release).items():
        for record in records:
            shown[data["id"][record]].add(key[:2])
            kept[data["id"][record]] += 1
    assert all(len(values) == 1 for values in shown.values())
    if way["recoding"] in {"mondrian", "microaggregation"}:
        assert all(data["id"].count(who) == number for who, number in kept.items())


def test_local_recoding_costs_no_more_than_global_recoding():
    rng = np.random.default_rng(4)
    who = np.repeat(np.arange(300), 3)
    data = {
        "id": [f"P{number}" for number in who],
        "born": rng.integers(1940, 2000, 300)[who].tolist(),
        "sex": np.array(["f", "m"])[rng.integers(0, 2, 300)][who].tolist(),
        "year": rng.integers(2000, 2006, len(who)).tolist(),
        "dx": rng.choice(["flu", "gout", "ms"], len(who)).tolist(),
    }
    asked = [{"model": "k-anonymity", "k": 5}]
    losses = [released(data, way, asked, 0.02).quality["loss"].total.cost for way in WAYS]
    assert losses[2] < losses[0]
    assert losses[1] <= losses[0]


@given(data=visits())
@examples(40)
def test_refinement_never_costs_more_than_the_scheme_that_it_refines(data):
    costs = []
    for refine in (False, True):
        try:
            release = released(data, {"recoding": "global", "refine": refine}, [{"model": "k-anonymity", "k": 3}], 0.3)
        except ShoalError:
            return
        costs.append(release.quality["loss"].total.value)
    assert costs[1] <= costs[0] + 1e-9
