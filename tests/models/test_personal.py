"""Personal requirements: each individual has a k, or a part of a hierarchy that must not be narrowed down."""

from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.errors import ModelError, PolicyError, ReleaseError
from shoal.release import making
from tests.effort import examples

POLICY = """
version = 1
data.subject = "who"
search = {{ recoding = "{recoding}", suppression = {suppression} }}
require = [{model}]
[columns]
age = {{ role = "quasi", hierarchy = {{ kind = "interval", widths = [10, 20, 40] }} }}
sex = {{ role = "quasi", hierarchy = {{ kind = "suppression" }} }}
dx = {{ role = "sensitive", hierarchy = {{ kind = "prefix", keep = [1] }} }}
own = "threshold"
guard = "threshold"
"""
OWN = '{ model = "personal-k-anonymity", threshold = "own", k = 2 }'
GUARD = '{ model = "guarding-nodes", threshold = "guard", p = 0.5 }'
BELOW = {"E*": {"E10", "E11"}, "F*": {"F20", "F32"}, "J45": {"J45"}}


def people(number, seed, *, records=1):
    """Return random people with one to ``records`` equal records."""
    seeded = np.random.default_rng(seed)
    one = {
        "who": [f"p{person}" for person in range(number)],
        "age": seeded.integers(20, 80, number).tolist(),
        "sex": [None if draw == 2 else "fm"[draw] for draw in seeded.choice(3, number, p=[0.5, 0.4, 0.1])],
        "dx": seeded.choice(["E11", "E10", "F20", "F32", "J45", "I10"], number).tolist(),
        "own": [None if k < 2 else int(k) for k in seeded.choice([1, 2, 3, 5, 9], number)],
        "guard": [node or None for node in seeded.choice(["E*", "F*", "J45", ""], number, p=[0.05, 0.05, 0.05, 0.85])],
    }
    one["guard"] = [node if node and BELOW[node] & set(one["dx"]) else None for node in one["guard"]]
    times = np.repeat(np.arange(number), seeded.integers(1, records + 1, number))
    return {name: [values[person] for person in times] for name, values in one.items()}


def released(data, release):
    """Return the members of each class of a release, with their original row, by following the origins slowly."""
    shown = release.to_frame("pyarrow").to_pylist()
    classes = defaultdict(dict)
    for row, record in zip(shown, release.records.tolist(), strict=True):
        person = {name: values[record] for name, values in data.items()}
        classes[row["age"], row["sex"]][person["who"]] = person
    return [list(members.values()) for members in classes.values()]


def unmet_k(members):
    return [person for person in members if len(members) < (person["own"] or 2)]


def unmet_guards(members):
    def share(guard):
        return Fraction(sum(person["dx"] in BELOW[guard] for person in members), len(members))

    return [person for person in members if person["guard"] and share(person["guard"]) > Fraction(1, 2)]


@pytest.mark.parametrize("recoding", ["global", "local", "mondrian", "suppression", "microaggregation"])
@pytest.mark.parametrize(("model", "unmet"), [(OWN, unmet_k), (GUARD, unmet_guards)])
@given(number=st.integers(20, 120), seed=st.integers(0, 1000), records=st.integers(1, 3))
@examples(12)
def test_no_released_individual_has_an_unmet_requirement(recoding, model, unmet, number, seed, records):
    data = people(number, seed, records=records)
    policy = shoal.Policy.parse(POLICY.format(recoding=recoding, model=model, suppression=0.2))
    try:
        release = shoal.anonymize(data, policy)
    except (ReleaseError, ModelError):
        return
    assert not any(unmet(members) for members in released(data, release))
    assert release.met
    assert not {"own", "guard", "dx with guard"} & set(release.table.names)


@pytest.mark.parametrize(("model", "unmet"), [(OWN, unmet_k), (GUARD, unmet_guards)])
@given(number=st.integers(1, 60), seed=st.integers(0, 1000))
@examples(20)
def test_individuals_with_an_unmet_requirement_are_counted(model, unmet, number, seed):
    data = people(number, seed)
    classes = defaultdict(list)
    for row in range(number):
        person = {name: values[row] for name, values in data.items()}
        classes[person["age"] // 40, person["sex"]].append(person)
    coarse = {**data, "age": [age // 40 for age in data["age"]]}
    found = shoal.assess(coarse, shoal.Policy.parse(POLICY.format(recoding="global", model=model, suppression=0)))
    (requirement,) = found.requirements
    expected = sum(len(unmet(members)) for members in classes.values())
    assert requirement.verdict.persons == expected
    assert requirement.verdict.satisfied == (not expected)


def test_the_paper_s_breach_probability():
    """Xiao & Tao 2006, section 3: b of n tuples of a QI-group are below the guarding node."""
    data = {"zip": [1, 1, 1, 1], "dx": ["E10", "E11", "F20", "I10"], "guard": ["E*", None, None, None]}
    ladder = {"dx": {"kind": "prefix", "keep": [1]}}
    measured = shoal.guarding_nodes(data, quasi="zip", sensitive="dx", threshold="guard", hierarchies=ladder)
    assert measured == 0.5


@pytest.mark.parametrize(
    ("column", "values", "model", "message"),
    [
        ("own", ["2.5"] * 40, OWN, "whole numbers of at least 1"),
        ("own", [0] * 40, OWN, "whole numbers of at least 1"),
        ("guard", ["*"] * 40, GUARD, "guard the top of the hierarchy of 'dx'"),
        ("guard", ["X99"] * 40, GUARD, "no value and no label of the hierarchy of column 'dx'"),
    ],
)
def test_unusable_thresholds_are_refused_without_their_values(column, values, model, message):
    data = {**people(40, 1), column: values}
    policy = shoal.Policy.parse(POLICY.format(recoding="global", model=model, suppression=0.2))
    with pytest.raises((ModelError, ReleaseError), match=message) as raised:
        shoal.anonymize(data, policy)
    assert "X99" not in str(raised.value)


def test_thresholds_need_their_role():
    text = POLICY.format(recoding="global", model=OWN, suppression=0.2)
    with pytest.raises(PolicyError, match="'own' holds the thresholds of individuals") as raised:
        shoal.anonymize(people(40, 1), shoal.Policy.parse(text.replace('own = "threshold"', 'own = "insensitive"')))
    assert raised.value.code == "column-not-threshold"
    with pytest.raises(PolicyError, match="'mine', which does not exist"):
        shoal.anonymize(people(40, 1), shoal.Policy.parse(text.replace('threshold = "own"', 'threshold = "mine"')))


@pytest.mark.parametrize("model", [OWN, GUARD])
def test_reports_know_that_thresholds_were_met(model, tmp_path):
    data = people(200, 5)
    policy = shoal.Policy.parse(POLICY.format(recoding="local", model=model, suppression=0.2))
    release = shoal.anonymize(data, policy)
    report = shoal.report(data, release)
    assert report.findings.met
    assert "own, guard (threshold)" in " ".join(release.notes)
    shoal.write(shoal.read(data), tmp_path / "data.csv")
    release = shoal.anonymize(tmp_path / "data.csv", policy)
    release.save(tmp_path / "release.csv")
    again = shoal.report(tmp_path / "data.csv", tmp_path / "release.csv", policy=policy)
    assert again.findings.met
    (tmp_path / "release.csv.owner-only" / "internal.json").unlink()
    unknown = shoal.report(tmp_path / "data.csv", tmp_path / "release.csv", policy=policy)
    assert [requirement.outcome for requirement in unknown.findings.requirements] == ["not judged"]


@given(number=st.integers(2, 60), seed=st.integers(0, 1000))
@examples(40)
def test_the_union_of_classes_without_an_unmet_k_has_none(number, seed):
    """A search skips the generalisations of a scheme whose classes all pass."""
    data = people(number, seed)
    policy = shoal.Policy.parse(POLICY.format(recoding="global", model=OWN, suppression=0))
    fine, coarse = (
        shoal.assess({**data, "age": [age // width for age in data["age"]]}, policy).requirements[0].verdict.satisfied
        for width in (20, 60)
    )
    assert coarse or not fine


def test_classes_that_fail_together_lead_to_global_recoding(monkeypatch):
    """Classes with equal labels may violate guarding nodes together, though each of them meets it."""
    verified, calls = making.verified, []

    def once_failing(promises, policy):
        calls.append(policy.search.technique.kind)
        if len(calls) == 1:
            raise ReleaseError("requirement-not-met", "The written release does not meet 1 requirement.")
        return verified(promises, policy)

    monkeypatch.setattr(making, "verified", once_failing)
    policy = shoal.Policy.parse(POLICY.format(recoding="local", model=GUARD, suppression=0.2))
    release = shoal.anonymize(people(200, 5), policy)
    assert calls == ["local", "global"]
    assert release.scheme
    assert any("Classes with equal labels together violated a requirement" in note for note in release.notes)
