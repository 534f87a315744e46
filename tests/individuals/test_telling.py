"""Who looks like one person, for any combination of columns: against counting one by one."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.charts.heatmap import persons_in_order
from shoal.individuals import telling
from shoal.individuals.telling import Lookalikes
from shoal.kernels.subsets import Rows


@st.composite
def several(draw):
    """Draw rows of which some belong to the same persons, who stand for several."""
    number, width = draw(st.integers(1, 9)), draw(st.integers(1, 4))
    columns = [np.array(draw(st.lists(st.integers(0, 2), min_size=number, max_size=number))) for _ in range(width)]
    holders = np.array(draw(st.lists(st.integers(0, 4), min_size=number, max_size=number)))
    known, holders = np.unique(holders, return_inverse=True)
    weights = np.array(draw(st.lists(st.integers(1, 3), min_size=len(known), max_size=len(known))))
    apart = tuple(draw(st.sampled_from([None, 2])) for _ in range(width))
    return Rows(tuple(columns), holders.astype(np.uint32), weights.astype(np.int64), apart)


def slowly(rows, row, subset):
    """Count the persons with a row that agrees in all columns of a subset."""
    places = [place for place in range(len(rows.columns)) if subset >> place & 1]
    if any(rows.columns[place][row] == rows.apart[place] for place in places):
        return 1
    agree = [one for one in range(len(rows)) if all(rows.columns[p][one] == rows.columns[p][row] for p in places)]
    return int(rows.weights[sorted({int(rows.holders[one]) for one in agree})].sum())


@pytest.mark.parametrize("way", ["all at once", "one by one"])
@given(rows=several(), p=st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1, 2)]), data=st.data())
def test_persons_who_look_alike(way, rows, p, data):
    row = data.draw(st.integers(0, len(rows) - 1))
    subsets = np.arange(1 << len(rows.columns), dtype=np.uint64)
    with pytest.MonkeyPatch.context() as patch:
        if way == "one by one":
            patch.setattr(telling, "_TERMS", -1)
        alike = Lookalikes(rows, row)
    expected = [slowly(rows, row, subset) for subset in range(len(subsets))]
    assert alike.persons(subsets).tolist() == expected
    others = [subset for subset in range(len(subsets)) if not subset & 1]
    tell = [s for s in others if Fraction(expected[s] - expected[s | 1], expected[s]) <= p]
    least = [s for s in tell if not any(other != s and other & s == other for other in tell)]
    assert sorted(alike.telling(0, np.array(others, np.uint64), p).tolist()) == sorted(least)


def test_the_picture_and_the_facts_agree_for_persons_with_several_records():
    """Where a picture shows somebody breached, the page names the facts, whichever record they are in."""
    rng = np.random.default_rng(3)
    data = {"who": rng.integers(0, 60, 150), **{name: rng.integers(0, 4, 150) for name in "abcd"}}
    people = shoal.peers(data, subject="who")
    order = persons_in_order(people)
    weakest = {name: {} for name in people.variables}
    for name in people.variables:
        for record, value in enumerate(people.values(name, "ppp").tolist()):
            who = int(data["who"][record])
            weakest[name][who] = min(weakest[name].get(who, 1.0), value)
    assert len(order) == people.persons()
    for record in order.tolist():
        for one in people.for_person(record):
            assert one.ppp == weakest[one.variable][int(data["who"][record])]
            assert bool(one.minimal) == (one.ppp == 0)
