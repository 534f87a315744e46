"""Protection from an adversary who knows several records of a person, against the definition."""

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples

import shoal
from shoal.errors import ModelError
from shoal.kernels import library

cells = st.fixed_dictionaries(
    {"who": st.integers(0, 3), "a": st.integers(0, 2), "b": st.integers(0, 1), "c": st.sampled_from("xyz")}
)
tables = st.lists(cells, min_size=1, max_size=9)


def records_of(rows):
    records = {}
    for row in rows:
        records.setdefault(row["who"], []).append(row)
    return records


def agree(row, other, names, missing):
    """Whether two records agree; under the rule "never", a missing value (0) agrees with its own record only."""
    return row is other or all(row[n] == other[n] and (missing == "own" or row[n] != 0) for n in names)


def ppp(row, events, known, sensitive, records, missing):
    """The proportion of protective peers of a record if some records of its person are known, word by word."""
    if missing == "never" and any(event[n] == 0 for event in events for n in known):
        return Fraction(0)
    peers = {w for w, own in records.items() if all(any(agree(e, o, known, missing) for o in own) for e in events)}
    same = {
        w
        for w in peers
        if any(agree(row, other, known, missing) and other[sensitive] == row[sensitive] for other in records[w])
    }
    return Fraction(len(peers) - len(same), len(peers))


def protective(row, events, known, sensitive, records):
    """The number of protective peers of a record, word by word."""
    peers = {w for w, own in records.items() if all(any(agree(e, o, known, "own") for o in own) for e in events)}
    return sum(
        not any(agree(row, other, known, "own") and other[sensitive] == row[sensitive] for other in records[who])
        for who in peers
    )


@given(rows=tables, events=st.integers(2, 3))
@examples(200)
def test_protective_peers_if_everything_is_known(rows, events):
    """Of several sets of records with the same share, that with the fewest peers counts."""
    data = {name: [row[name] for row in rows] for name in rows[0]}
    people = shoal.peers(data, subject="who", sensitive="c", auxiliary=["a", "b"], events=events)
    records = records_of(rows)
    for row, npp, share in zip(rows, people.values("c", "npp"), people.values("c", "ppp"), strict=True):
        others = [other for other in records[row["who"]] if other is not row]
        sets = [(row, *chosen) for size in range(events) for chosen in combinations(others, size)]
        shares = {chosen: ppp(row, sets[chosen], ("a", "b"), "c", records, "own") for chosen in range(len(sets))}
        weakest = [chosen for chosen in shares if shares[chosen] == min(shares.values())]
        assert npp == min(protective(row, sets[chosen], ("a", "b"), "c", records) for chosen in weakest)
        assert share <= min(shares.values()) + 1e-12


def literal(rows, sensitive, known, most, missing):
    """The smallest share for each record, and the combinations of known variables that disclose its value."""
    records, least, telling = records_of(rows), [], []
    for row in rows:
        others = [other for other in records[row["who"]] if other is not row]
        sets = [(row, *chosen) for size in range(most) for chosen in combinations(others, size)]
        shares = {
            names: min(ppp(row, events, names, sensitive, records, missing) for events in sets)
            for size in range(1, len(known) + 1)
            for names in combinations(known, size)
        }
        least.append(min(shares.values()))
        telling.append({frozenset(names) for names, share in shares.items() if share == 0})
    return least, telling


@given(
    rows=tables,
    events=st.integers(1, 4),
    missing=st.sampled_from(["own", "never"]),
    kernels=st.sampled_from(["c", "numpy"]),
)
@examples(600)
def test_known_records_against_the_definition(rows, events, missing, kernels):
    data = {name: [row[name] for row in rows] for name in ("who", "c")}
    data |= {name: [None if row[name] == 0 else row[name] for row in rows] for name in "ab"}
    with library.using(kernels):
        people = shoal.peers(data, subject="who", sensitive="c", auxiliary=["a", "b"], events=events, missing=missing)
    least, telling = literal(rows, "c", ["a", "b"], events, missing)
    shares = [float(share) for share in least]
    assert people.values("c", "ppp").tolist() == pytest.approx(shares)
    assert people.to_frame().column("c.ppp").to_pylist() == pytest.approx(shares)
    for place, row in enumerate(rows):
        own = {names for number, other in enumerate(rows) for names in telling[number] if other["who"] == row["who"]}
        minimal = {names for names in own if not any(other < names for other in own)}
        assert set(map(frozenset, people.for_person(place)[0].minimal)) == minimal
    disclosed = {row["who"] for row, share in zip(rows, least, strict=True) if share == 0}
    assert people.summary()["c"]["breached"] == len(disclosed)


@given(rows=tables)
def test_persons_of_one_record_do_not_depend_on_the_number_of_events(rows):
    data = {name: [row[name] for row in rows] for name in "abc"} | {"who": list(range(len(rows)))}
    one, two = (shoal.peers(data, subject="who", events=events) for events in (1, 2))
    assert one.to_frame().equals(two.to_frame())


@given(rows=tables)
def test_more_known_records_never_protect(rows):
    data = {name: [row[name] for row in rows] for name in rows[0]}
    shares = [shoal.peers(data, subject="who", events=events).values("c", "ppp") for events in (1, 2, 3)]
    assert (shares[0] >= shares[1]).all()
    assert (shares[1] >= shares[2]).all()


VISITS = {
    "who": ["ann", "ann", "bea", "bea", "cid"],
    "month": ["jan", "mar", "jan", "apr", "mar"],
    "dx": ["flu", "ms", "flu", "flu", "flu"],
}


def test_equal_records_of_different_persons_are_protected_differently():
    """The record (z, 2) is that of two persons; only of one of them another record is known."""
    data = {"who": list("BCDBB"), "a": list("xzzyz"), "s": list("21212")}
    people = shoal.peers(data, subject="who", sensitive="s", auxiliary="a", events=2)
    assert people.values("s", "ppp").tolist() == pytest.approx([0, 2 / 3, 1 / 3, 0, 0])
    assert people.for_person(2)[0].ppp == pytest.approx(1 / 3)


def test_two_visits_disclose_what_one_does_not():
    one, two = (shoal.peers(VISITS, subject="who", sensitive="dx", events=events) for events in (1, 2))
    assert one.values("dx", "ppp").tolist() == [0, 0.5, 0, 0, 0.5]  # in March: ms of ann, flu of cid
    assert two.values("dx", "ppp").tolist() == [0, 0, 0, 0, 0.5]  # January and March: only ann
    assert "At most 2 records of the individual are known." in two.assumptions
    assert "One record of the individual is known." in one.assumptions
    assert two.within_reach({"month": 1}) == {"dx": {1: 2}}
    with pytest.raises(ModelError, match="several known records"):
        two.pp("dx", "flu")
    with pytest.raises(ModelError, match="several known records"):
        two.values("dx", "poac")


@pytest.mark.parametrize("events", [0, 6, True, 1.5])
def test_numbers_of_records_that_cannot_be_known(events):
    with pytest.raises(ModelError, match="from 1 to 5"):
        shoal.peers(VISITS, subject="who", events=events)


def test_known_records_need_a_subject():
    with pytest.raises(ModelError, match="identifies the individual"):
        shoal.peers({"month": [1, 2], "dx": [1, 1]}, events=2)


def test_wide_tables_are_refused_at_once():
    wide = {"who": [1, 1, 2], **{f"c{n}": [0, 1, n] for n in range(45)}}
    with pytest.raises(ModelError, match=r"pass most=2, or limit the number of known events: pass events=1"):
        shoal.peers(wide, subject="who", events=2)


def test_known_records_of_a_dataset():
    tables = {"people": {"id": ["ann", "bea", "cid"], "sex": ["f", "f", "m"]}, "visits": VISITS}
    policy = {
        "version": 1,
        "data": {"subject": "id"},
        "tables": {
            "people": {"columns": {"sex": "insensitive"}},
            "visits": {"refers": {"who": "people.id"}, "columns": {"month": "quasi", "dx": "sensitive"}},
        },
    }
    dataset = shoal.Dataset.read(tables, shoal.Policy.model_validate(policy))
    one, two = (shoal.peers(dataset, events=events)["visits"].values("dx", "ppp").tolist() for events in (1, 2))
    assert (one, two) == ([0, 0.5, 0, 0, 0.5], [0, 0, 0, 0, 0.5])


def test_too_many_sets_of_records_are_refused():
    many = {"who": ["a"] * 600, "day": list(range(600)), "dx": [1] * 600}
    with pytest.raises(ModelError, match="too many to evaluate|sets of 3 events"):
        shoal.peers(many, subject="who", events=3)
