"""What a class shows: against the statistics module, class by class."""

import statistics
from collections import defaultdict
from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.errors import PolicyError
from tests.effort import examples

POLICY = """
version = 1
columns.age = {{ role = "quasi", hierarchy = {{ kind = "interval", widths = [10, 40] }}, show = "{how}" }}
columns.sex = "quasi"
columns.note = "insensitive"
require = [{{ model = "k-anonymity", k = 2 }}]
search = {{ suppression = 0.3, recoding = "{recoding}" }}
"""
ages = st.one_of(st.integers(0, 90), st.none())


def expected(how, values):
    known = sorted(value for value in values if value is not None)
    if len(known) < 2:  # of fewer than k persons nothing is shown
        return None
    if how == "mean":
        return float(f"{statistics.fmean(known):.6g}")
    return statistics.median_low(known) if how == "median" else min(statistics.multimode(known))


@pytest.mark.parametrize("recoding", ["global", "mondrian", "microaggregation"])
@pytest.mark.parametrize("how", ["mean", "median", "mode"])
@examples(20)
@given(rows=st.lists(st.tuples(ages, st.sampled_from("fm")), min_size=4, max_size=30))
def test_classes_show_one_value(how, recoding, rows):
    data = {"age": [age for age, _ in rows], "sex": [sex for _, sex in rows], "note": list(range(len(rows)))}
    labels = shoal.anonymize(data, shoal.Policy.parse(POLICY.format(how="label", recoding=recoding)))
    release = shoal.anonymize(data, shoal.Policy.parse(POLICY.format(how=how, recoding=recoding)))
    assert release.mapping is None
    plain, shown = (one.to_frame("pyarrow").to_pydict() for one in (labels, release))
    of_note = {note: (age, sex) for note, age, sex in zip(plain["note"], plain["age"], plain["sex"], strict=True)}
    members = defaultdict(list)
    for note, key in of_note.items():
        members[key].append(data["age"][note])
    assert set(shown["note"]) == set(of_note)
    for note, age in zip(shown["note"], shown["age"], strict=True):
        label, _ = of_note[note]
        if label is None or str(label) in set(map(str, data["age"])):
            assert (age is None and label is None) or float(age) == float(label)  # a value stays what it is
            continue
        value = expected(how, members[of_note[note]])
        assert age == "*" if value is None else float(age) == value


def test_midpoints_and_dates():
    text = POLICY.format(how="midpoint", recoding="global").replace("suppression = 0.3", "suppression = 0")
    shown = shoal.anonymize({"age": [31, 34, 71, 78], "sex": ["f"] * 4, "note": range(4)}, shoal.Policy.parse(text))
    assert shown.to_frame("pyarrow").to_pydict()["age"] == [34.5, 34.5, 74.5, 74.5]
    assert "one representative value for a whole class" in shown.facts["truthful"]
    text = """
        version = 1
        columns.born = { role = "quasi", hierarchy = { kind = "date", units = ["month"] }, show = "HOW" }
        require = [{ model = "k-anonymity", k = 2 }]
        search.suppression = 0
    """
    born = {"born": [date(1970, 1, 3), date(1970, 1, 9), date(1980, 5, 1), date(1980, 5, 1)]}
    release = shoal.anonymize(born, shoal.Policy.parse(text.replace("HOW", "median")))
    assert release.to_frame("pyarrow").to_pydict()["born"] == [date(1970, 1, 3)] * 2 + [date(1980, 5, 1)] * 2
    with pytest.raises(PolicyError, match="cannot show a mean"):
        shoal.anonymize(born, shoal.Policy.parse(text.replace("HOW", "mean")))


def test_every_person_counts_once():
    text = POLICY.replace("columns.note", 'data.subject = "who"\ncolumns.note').replace(
        "widths = [10, 40]", "widths = [50]"
    )
    ages = [10] * 10 + [20] * 4
    data = {"who": [1] * 10 + [2, 3, 4, 5], "age": ages, "sex": ["f"] * 14, "note": range(14)}
    for how, value in (("mean", 18), ("median", 20), ("mode", 20)):
        release = shoal.anonymize(
            data, shoal.Policy.parse(text.format(how=how, recoding="global").replace("k = 2", "k = 5"))
        )
        assert set(release.to_frame("pyarrow").to_pydict()["age"]) == {value}


def test_only_quasi_identifiers_show_one_value():
    text = 'version = 1\ncolumns.a = "quasi"\ncolumns.b = { role = "sensitive", show = "mean" }'
    policy = shoal.Policy.parse(text + '\nrequire = [{ model = "k-anonymity", k = 2 }]')
    with pytest.raises(PolicyError, match="cannot show a value per class, because it is not a"):
        shoal.anonymize({"a": [1, 1], "b": [1, 2]}, policy)


@pytest.mark.parametrize("recoding", ["global", "local", "mondrian", "microaggregation"])
def test_an_individual_with_several_records_counts_once(recoding):
    """Three records of one of five individuals: the mean is that of the individuals, and not of the records."""
    data = {"who": [0, 0, 0, 1, 2, 3, 4], "age": [20, 20, 20, 40, 40, 40, 40], "lab": [1, 2, 3, 4, 5, 6, 7]}
    interval = {"kind": "interval", "widths": [50]}
    columns = {"age": {"role": "quasi", "hierarchy": interval, "show": "mean"}}
    columns["lab"] = {"role": "quasi", "hierarchy": {"kind": "suppression"}}
    policy = {"version": 1, "data": {"subject": "who"}, "columns": columns}
    policy |= {"require": [{"model": "k-anonymity", "k": 5}], "search": {"recoding": recoding}}
    release = shoal.anonymize(data, shoal.Policy.model_validate(policy))
    assert set(map(float, release.table.to_frame("pyarrow").column("age").to_pylist())) == {36}


def test_the_known_values_of_few_individuals_are_not_averaged():
    """Six records have a value, of two individuals: fewer than k."""
    data = {"who": [0, 0, 0, 1, 1, 1, 2, 3, 4], "age": [20, 20, 20, 41, 41, 41, None, None, None]}
    data["lab"] = list(range(9))
    columns = {"age": {"role": "quasi", "hierarchy": {"kind": "suppression"}, "show": "mean"}}
    columns["lab"] = {"role": "quasi", "hierarchy": {"kind": "suppression"}}
    policy = {"version": 1, "data": {"subject": "who"}, "columns": columns, "search": {"suppression": 0}}
    policy |= {"require": [{"model": "k-anonymity", "k": 5}]}
    release = shoal.anonymize(data, shoal.Policy.model_validate(policy))
    assert not any(str(cell)[:1].isdigit() for cell in release.table.to_frame("pyarrow").column("age").to_pylist())


@pytest.mark.parametrize("how", ["mean", "median", "mode", "midpoint"])
@pytest.mark.parametrize("recoding", ["global", "local", "mondrian", "microaggregation"])
def test_a_column_that_is_constant_within_individuals_shows_one_value_of_each(how, recoding):
    """Laboratory values divide the records of an individual into classes whose members differ in age."""
    rng = np.random.default_rng(5)
    of = np.sort(rng.integers(0, 120, 500))
    age, sex = rng.integers(0, 95, 120), rng.choice(["f", "m"], 120)
    data = {"who": of, "age": age[of], "sex": sex[of], "lab": np.round(rng.lognormal(1, 1, 500), 1)}
    columns = {"age": {"role": "quasi", "show": how}, "lab": {"role": "quasi", "show": how}, "sex": {"role": "quasi"}}
    policy = {"version": 1, "data": {"subject": "who"}, "columns": columns, "search": {"recoding": recoding}}
    policy |= {"require": [{"model": "k-anonymity", "k": 5}]}
    release = shoal.anonymize(
        {name: values.tolist() for name, values in data.items()}, shoal.Policy.model_validate(policy)
    )
    became = np.asarray(release.became(500))
    kept = became >= 0
    ages = release.to_frame("pyarrow").column("age").to_pylist()
    labs = release.to_frame("pyarrow").column("lab").to_pylist()
    by_person: dict[int, set[object]] = {}
    for person, row in zip(of[kept].tolist(), became[kept].tolist(), strict=True):
        by_person.setdefault(person, set()).add(ages[row])
    assert len(by_person) > 60
    assert all(len(shown) == 1 for shown in by_person.values())
    assert recoding == "global" or min(len(set(ages)), len(set(labs))) > 1


def test_means_of_individuals_with_several_records_are_recognised():
    """The mean counts each individual once, so that over records it looks wrong."""
    rng = np.random.default_rng(6)
    of = np.sort(rng.integers(0, 300, 900))
    age, height = rng.integers(18, 95, 300), rng.normal(170, 9, 300).round(1)
    data = {"who": of.tolist(), "age": age[of].tolist(), "height": height[of].tolist()}
    columns = {name: {"role": "quasi", "show": "mean"} for name in ("age", "height")}
    policy = {"version": 1, "data": {"subject": "who"}, "columns": columns, "search": {"recoding": "microaggregation"}}
    policy = shoal.Policy.model_validate(policy | {"require": [{"model": "k-anonymity", "k": 5}]})
    release = shoal.anonymize(data, policy)
    compared = shoal.compare(data, release, policy, qualities=["loss", "changed-cells"])
    assert compared.quality["changed-cells"].total.value == 0
    alone = shoal.anonymize({"age": age.tolist(), "height": height.tolist()}, shoal.Policy.model_validate(
        {"version": 1, "columns": columns, "search": {"recoding": "microaggregation"}, "require": policy.require}
    ))  # fmt: skip
    loss = compared.quality["loss"].total.value
    assert loss == pytest.approx(alone.quality["loss"].total.value, rel=0.5)
    assert loss == release.quality["loss"].total.value


@pytest.mark.parametrize("how", ["mean", "midpoint", "median", "mode"])
@pytest.mark.parametrize("recoding", ["global", "local", "microaggregation"])
def test_representatives_contradict_nothing(how, recoding, tmp_path):
    """The policy states that a value stands for its class, so that it is no false value of its record."""
    rng = np.random.default_rng(7)
    data = {"age": rng.integers(18, 95, 200).tolist(), "height": rng.normal(170, 9, 200).round(1).tolist()}
    columns = {name: {"role": "quasi", "show": how} for name in data}
    policy = {"version": 1, "columns": columns, "search": {"recoding": recoding, "suppression": 0.1}}
    policy = shoal.Policy.model_validate(policy | {"require": [{"model": "k-anonymity", "k": 5}]})
    release = shoal.anonymize(data, policy)
    release.save(tmp_path / "out.csv")
    for compared in (shoal.compare(data, release), shoal.compare(data, tmp_path / "out.csv", policy)):
        assert compared.quality["changed-cells"].total.value == 0
        assert compared.quality["loss"].total.value == pytest.approx(release.quality["loss"].total.value, rel=1e-12)
