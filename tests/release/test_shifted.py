"""Dates that are moved: all of a person's alike, whatever holds the rows."""

from datetime import date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.errors import PolicyError
from shoal.release.shifted import offset, shifted

KEY = b"0123456789abcdef"
POLICY = """
version = 1
data.subject = "id"
columns.sex = "quasi"
columns.came = "insensitive"
columns.left = "insensitive"
dates = { columns = ["came", "left"], days = 30, key_variable = "SHOAL_TEST_KEY" }
require = [{ model = "k-anonymity", k = 2 }]
search.suppression = 0
"""
STAYS = {
    "id": [1, 1, 2, 2, 3, 4],
    "sex": ["f", "f", "f", "f", "m", "m"],
    "came": [date(2024, 2, 28), date(2023, 12, 31), date(2024, 1, 1), None, date(2024, 1, 1), date(2010, 1, 1)],
    "left": [
        datetime(2024, 3, 1, 7, 30),
        None,
        datetime(2009, 12, 31, 23, 59, 59, 5),
        None,
        None,
        datetime(2024, 1, 1),
    ],
}


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("SHOAL_TEST_KEY", KEY.decode())


@given(st.lists(st.tuples(st.integers(0, 9), st.none() | st.dates(date(1900, 1, 1), date(2100, 1, 1))), min_size=1))
def test_as_counted_by_hand(rows):
    table = shoal.read({"id": [person for person, _ in rows], "day": [day for _, day in rows]}).assign(subject="id")
    found = shifted(table, ["day"], KEY, 400).to_arrow().column("day").to_pylist()
    assert found == [None if day is None else day + timedelta(offset(KEY, str(who), 400)) for who, day in rows]


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_in_a_release(engine):
    release = shoal.anonymize(shoal.read(STAYS, engine=engine), shoal.Policy.parse(POLICY))
    moved = [timedelta(offset(KEY, str(who), 30)) for who in STAYS["id"]]
    for name in ("came", "left"):
        expected = [None if day is None else day + by for day, by in zip(STAYS[name], moved, strict=True)]
        assert sorted(map(str, release.to_frame("pyarrow").column(name).to_pylist())) == sorted(map(str, expected))
    assert "Dates were shifted" in release.facts["truthful"]
    assert release.facts["moved_dates"] == ["came", "left"]
    assert release.mapping is None
    assert release.given.to_arrow().column("came").to_pylist() == STAYS["came"]


@pytest.mark.parametrize("day", [date(9999, 12, 31), date(2099, 12, 31), date(1900, 1, 1)])
def test_dates_that_stand_for_none_are_refused(day):
    given = {**STAYS, "came": [*STAYS["came"][:-1], day]}
    with pytest.raises(PolicyError, match="cannot be shifted, because it contains dates more than"):
        shoal.anonymize(given, shoal.Policy.parse(POLICY))
    table = shoal.read(given, markers=[day.isoformat()])
    assert shoal.anonymize(table, shoal.Policy.parse(POLICY)).met


def test_what_is_not_moved_beside_what_is_is_told():
    text = POLICY.replace('columns = ["came", "left"]', 'columns = ["came"]')
    assert any("not shifted: 'left'." in note for note in shoal.anonymize(STAYS, shoal.Policy.parse(text)).notes)


def test_never_by_nothing_and_never_too_far():
    found = {offset(KEY, str(number), 3) for number in range(1000)}
    assert found == {-3, -2, -1, 1, 2, 3}


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('data.subject = "id"', "", "Dates cannot be shifted, because no column is the"),
        ('columns.came = "insensitive"', 'columns.came = "quasi"', "not insensitive"),
        ('columns = ["came", "left"]', 'columns = ["sex"]', "not insensitive"),
        (
            'columns.sex = "quasi"',
            'columns.sex = "insensitive"\ncolumns.id2 = "quasi"',
            "cannot be shifted, because it does not contain dates",
        ),
        ("SHOAL_TEST_KEY", "SHOAL_NO_KEY", "key"),
        ("days = 30", "days = 0", "days"),
    ],
)
def test_what_is_wrong_is_told(old, new, says):
    text = POLICY.replace(old, new)
    if "id2" in new:
        text = text.replace('["came", "left"]', '["sex"]')
    with pytest.raises(PolicyError, match=says):
        shoal.anonymize({**STAYS, "id2": [1] * 6}, shoal.Policy.parse(text))


@pytest.mark.parametrize("cell", [date(9999, 12, 31), date(1, 1, 1), datetime(9999, 12, 31, 23, 59)], ids=str)
def test_dates_at_the_end_of_the_calendar_are_refused(cell):
    table = shoal.read({"id": [1, 2], "day": [cell, cell]}).assign(subject="id")
    with pytest.raises(PolicyError, match="end of the calendar"):
        shifted(table, ["day"], KEY, 365)
