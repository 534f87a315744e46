"""Re-identification by the time between dates, beside slow references."""

from datetime import date, datetime, timedelta
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.attacks.date_sequence import DateSequence
from shoal.attacks.scene import Scene

START = date(2024, 1, 1)


def scene_of(persons, shifts, kept, columns=("came", "left")):
    """Return the scene of shifted dates: ``persons[p]`` lists the days of each record."""
    who, days = zip(*((person, record) for person, records in enumerate(persons) for record in records), strict=True)
    before = {
        "who": list(who),
        **{name: [START + timedelta(record[at]) for record in days] for at, name in enumerate(columns)},
    }
    after = {
        name: [value + timedelta(shifts[person]) for person, value, here in zip(who, values, kept, strict=True) if here]
        for name, values in before.items()
        if name != "who"
    }
    after["who"] = [f"p{person}" for person, here in zip(who, kept, strict=True) if here]
    truth = np.full(len(who), -1)
    truth[np.flatnonzero(kept)] = np.arange(sum(kept))
    table = shoal.read(before).assign(subject="who", quasi="came", insensitive="left")
    return Scene.of(table, shoal.read(after).assign(subject="who"), truth=truth), list(who), days


def slow(persons, who, days, kept):
    """The probability of each person by trying all shifts."""
    shown = {}
    for person, record, here in zip(who, days, kept, strict=True):
        if here:
            shown.setdefault(person, []).extend((at, day) for at, day in enumerate(record))
    result = []
    for person, records in enumerate(persons):
        mine = sorted((at, day) for record in records for at, day in enumerate(record))
        if person not in shown:
            continue
        same = [other for other, theirs in shown.items() if normal(theirs) == normal(mine)]
        if not same:
            gaps = {(one[0], two[0], two[1] - one[1]) for one, two in combinations(in_order(mine), 2)}
            fits = {}
            for other, theirs in shown.items():
                ordered = in_order(theirs)
                steps = [(one[0], two[0], two[1] - one[1]) for one, two in pairwise(ordered)]
                if steps and all(step in gaps for step in steps):
                    fits[other] = len(steps)
            same = [other for other, number in fits.items() if number == max(fits.values())]
        result.append((person in same) / max(len(same), 1))
    return result


def in_order(dates):
    return sorted(dates, key=lambda one: (one[1], one[0]))


def normal(dates):
    first = min(day for _, day in dates)
    return sorted((at, day - first) for at, day in dates)


record = st.tuples(st.integers(0, 6), st.integers(7, 12))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(record, min_size=1, max_size=3, unique=True), min_size=2, max_size=6), st.data())
def test_intervals_beside_a_slow_reference(persons, data):
    number = sum(map(len, persons))
    kept = data.draw(st.lists(st.booleans(), min_size=number, max_size=number).filter(any))
    shifts = data.draw(st.lists(st.integers(100, 400), min_size=len(persons), max_size=len(persons)))
    distinct = [sorted(set(records)) for records in persons]
    scene, who, days = scene_of(distinct, shifts, kept)
    found = [*DateSequence().run(scene)]
    assert found[0].success.value == pytest.approx(np.mean(slow(distinct, who, days, kept)))


def test_unique_stays_re_identify_although_all_dates_are_shifted():
    rng = np.random.default_rng(0)
    persons = [[(int(day), int(day) + int(stay)) for day, stay in rng.integers(1, 300, (3, 2))] for _ in range(60)]
    scene, _, _ = scene_of(persons, rng.integers(1000, 2000, 60).tolist(), [True] * 180)
    intervals, period = DateSequence().run(scene)
    assert intervals.success.value == 1.0
    assert intervals.baseline == pytest.approx(1 / 60)
    assert period.variant == "study period"


def test_dates_at_both_ends_of_the_study_leave_few_shifts():
    """A study of 101 days; the dates of the first person span 100, of the second 50 days."""
    scene, _, _ = scene_of([[(0, 100)], [(20, 70)]], [30, -30], [True, True])
    result = [*DateSequence().run(scene)][1]
    assert result.success.value == pytest.approx((1 / 1 + 1 / 51) / 2)
    assert result.details["known_to_a_week"] == 0.5
    assert result.baseline == pytest.approx(1 / 101)
    known = [*DateSequence(days=35).run(scene)][1]
    assert known.success.value == pytest.approx((1 + 1 / 26) / 2)  # 10 to 60 days earlier, at most 35


def test_times_and_records_without_subject():
    moments = [datetime(2024, 1, day, 8) for day in (1, 2, 4)]
    before = {
        "in": moments,
        "out": [moment + timedelta(hours=hours) for moment, hours in zip(moments, (5, 7, 7), strict=True)],
    }
    after = {name: [value + timedelta(days=9) for value in values] for name, values in before.items()}
    found = shoal.attack(before, after, quasi="in", in_order=True, attacks="date-sequence")
    assert found.of("date-sequence").success.value == pytest.approx((1 + 0.5 + 0.5) / 3)


@pytest.mark.parametrize("change", [lambda day: day, lambda day: day.strftime("%Y-%m")])
def test_dates_that_are_not_shifted_are_not_attacked(change):
    days = [START + timedelta(number) for number in range(20)]
    found = shoal.attack({"day": days}, {"day": [change(day) for day in days]}, quasi="day", in_order=True,
                         attacks="date-sequence")  # fmt: skip
    assert not found.results
