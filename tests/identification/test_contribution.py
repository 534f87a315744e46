"""Contributions: what Shapley values must fulfil, and that drawing orders comes near to counting all."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.identification import contribution as module
from shoal.identification.contribution import contribution, rows_of
from shoal.identification.separation import separating


@st.composite
def tables(draw):
    rows, columns = draw(st.integers(2, 25)), draw(st.integers(1, 4))
    seeded = np.random.default_rng(draw(st.integers(0, 999)))
    values = {f"c{place}": seeded.integers(0, draw(st.integers(1, 8)), rows) for place in range(columns)}
    if draw(st.booleans()):
        values["person"] = seeded.integers(0, rows // 2 + 1, rows)
        return shoal.read(values).assign(subject="person")
    return shoal.read(values)


def unique(table, names):
    """Return the share of persons of whom a row is shared by nobody else, counted one by one."""
    records = range(table.records)
    person = table.codes(table.subject).tolist() if table.subject else list(records)
    seen = [tuple(int(table.codes(name)[row]) for name in names) for row in records]
    alone = {
        person[row]
        for row in records
        if {person[other] for other in records if seen[other] == seen[row]} == {person[row]}
    }
    return len(alone) / len(set(person))


@given(table=tables())
def test_contributions_are_means_over_all_orders(table):
    names = [name for name in table.names if name != table.subject]
    found = contribution(rows_of(table, names), names)
    expected = dict.fromkeys(names, 0.0)
    orders = list(permutations(names))
    for order in orders:
        for place, name in enumerate(order):
            expected[name] += (unique(table, order[: place + 1]) - unique(table, order[:place])) / len(orders)
    assert found.shares == pytest.approx(expected, abs=1e-12)
    assert found.by_number[-1] == pytest.approx(unique(table, names))
    nobody = unique(table, [])
    assert sum(found.shares.values()) == pytest.approx(found.total - nobody)
    assert found.exact
    assert all(share >= -1e-12 for share in found.shares.values())  # more columns make nobody less unique


def test_drawn_orders_come_near(monkeypatch):
    seeded = np.random.default_rng(5)
    table = shoal.read({f"c{size}": seeded.integers(0, size, 3000) for size in (2, 3, 5, 9, 20, 60, 200)})
    exact = contribution(rows_of(table, table.names), table.names)
    monkeypatch.setattr(module, "MOST_COLUMNS", 3)
    drawn = contribution(rows_of(table, table.names), table.names, orders=200, seed=1)
    assert not drawn.exact
    assert drawn.orders == 200
    assert drawn.keys() == []
    for name in table.names:
        assert abs(drawn.shares[name] - exact.shares[name]) <= 4 * drawn.errors[name] + 1e-9
    assert sum(drawn.shares.values()) == pytest.approx(exact.total)
    assert drawn.by_number == pytest.approx(exact.by_number, abs=0.05)
    again = contribution(rows_of(table, table.names), table.names, orders=200, seed=1)
    assert again.shares == drawn.shares  # the same seed, the same numbers


def test_keys_are_minimal():
    table = shoal.read({"id": [1, 2, 3, 4], "a": [1, 1, 2, 2], "b": [1, 2, 1, 2], "c": [1, 1, 1, 1]})
    found = contribution(rows_of(table, table.names), table.names).keys(1.0)
    assert [key.columns for key in found] == [("id",), ("a", "b")]


@given(table=tables(), share=st.sampled_from([0.5, 0.9, 1.0]))
def test_greedy_keys_make_as_many_unique_as_they_say(table, share):
    names = [name for name in table.names if name != table.subject]
    key = separating(names, rows_of(table, names), share)
    if key is None:
        assert unique(table, names) < share
    else:
        assert key.share == pytest.approx(unique(table, key.columns))
        assert key.share >= share


def test_greedy_keys_are_short():
    seeded = np.random.default_rng(2)
    columns = {f"c{place}": seeded.integers(0, 3, 5000) for place in range(20)}
    table = shoal.read({**columns, "day": seeded.integers(0, 20000, 5000), "zip": seeded.integers(0, 900, 5000)})
    found = shoal.identify(table)
    assert not found.contribution.exact
    assert found.keys[0].columns == ("day", "zip")
