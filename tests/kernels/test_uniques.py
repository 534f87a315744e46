"""Uniques: the core, its twin and comparing everybody with everybody agree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples

from shoal.kernels import library
from shoal.kernels.subsets import Rows
from shoal.kernels.uniques import Uniques


@st.composite
def tables(draw):
    """Return rows of few values; with ``several`` rows for some holders, some of whom are several persons."""
    number, columns = draw(st.integers(0, 30)), draw(st.integers(1, 5))
    seeded = np.random.default_rng(draw(st.integers(0, 999)))
    codes = tuple(seeded.integers(0, draw(st.integers(1, 6)), number).astype(np.uint8) for _ in range(columns))
    persons = draw(st.sampled_from([number, max(number // 2, 1)]))
    if persons == number:
        return Rows.of(codes, seeded.integers(1, 3, number))
    return Rows(codes, seeded.integers(0, persons, number).astype(np.uint32), seeded.integers(1, 3, persons))


def alone(rows, known):
    """Count persons one of whose rows differs from all rows of others."""
    found = set()
    for row, holder in enumerate(rows.holders.tolist()):
        mine = [rows.columns[column][row] for column in known]
        others = [
            other
            for other, theirs in enumerate(rows.holders.tolist())
            if theirs != holder and [rows.columns[column][other] for column in known] == mine
        ]
        if not others and rows.weights[holder] == 1:
            found.add(holder)
    return len(found)


@pytest.mark.parametrize("kernels", ["c", "numpy"])
@given(rows=tables(), seed=st.integers(0, 99))
@examples(100)
def test_who_is_alone_is_counted_for_every_subset(kernels, rows, seed):
    columns = len(rows.columns)
    order = np.random.default_rng(seed).permutation(columns).tolist()
    with library.using(kernels):
        uniques = Uniques(rows)
        found, again = uniques.of_all().tolist(), uniques.of_all().tolist()
        ordered = uniques.in_order(order).tolist()
    expected = [alone(rows, [j for j in range(columns) if subset >> j & 1]) for subset in range(1 << columns)]
    assert found == again == expected
    assert ordered == [expected[sum(1 << j for j in order[:known])] for known in range(columns + 1)]


def test_large_groups_are_split_as_small_ones_are():
    seeded = np.random.default_rng(3)
    codes = tuple(seeded.integers(0, size, 5000).astype(np.uint16) for size in (700, 3, 40, 2))
    rows = Rows.of(codes, seeded.integers(1, 3, 5000))
    with library.using("numpy"):
        expected = Uniques(rows).of_all().tolist()
    with library.using("c"):
        assert Uniques(rows).of_all().tolist() == expected
