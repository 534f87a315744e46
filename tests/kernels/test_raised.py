"""Rows raised to levels, and put together where they are alike on a level of the first column."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples
from tests.kernels.test_scan import column, tables

from shoal.kernels import library
from shoal.kernels.lattice import Lattice
from shoal.kernels.raised import Raised


def places_of(lattice):
    """Codes are nodes."""
    return [np.arange(sizes[0]) for sizes in lattice.sizes]


def raised(table):
    lattice, nodes, *counts = table
    return Raised.of(lattice, nodes, places_of(lattice), *(part.astype(np.uint32) for part in counts))


def shown(rows, levels):
    """Count persons and records by what rows show on levels."""
    nodes = zip(*(rows.nodes(place, level).tolist() for place, level in enumerate(levels)), strict=True)
    persons, records = Counter(), Counter()
    for combination, *counts in zip(nodes, rows.persons.tolist(), rows.records.tolist(), strict=True):
        persons[combination] += counts[0]
        records[combination] += counts[1]
    return persons, records


@pytest.mark.parametrize("kernels", ["c", "numpy"])
@given(table=tables(), data=st.data())
@examples(40)
def test_fewer_rows_show_the_same(kernels, table, data):
    with library.using(kernels):
        shape, rows = table[0].shape, raised(table)
        for first in range(shape[0]):
            levels = [first, *(data.draw(st.integers(0, number - 1)) for number in shape[1:])]
            fewer = rows.rolled(first)
            assert shown(fewer, levels) == shown(rows, levels)
            assert len(fewer) <= len(rows)
            assert fewer is rows.rolled(first)


@pytest.mark.parametrize("columns", [1, 2, 9])
def test_rows_of_any_width(columns):
    """Of one column, of as many as fit into one key, and of more."""
    seeded = np.random.default_rng(columns)
    held = [column(300, 20, 15), *[column(300, 300)] * (columns - 1)]
    lattice = Lattice(tuple(steps for steps, _ in held), tuple(sizes for _, sizes in held))
    other = seeded.integers(0, 300, (40, columns)).astype(np.uint16)
    nodes = other[seeded.integers(0, 40, 2000)]
    nodes[:, 0] = seeded.integers(0, 300, 2000)
    ones = np.ones(2000, np.uint32)
    rows = Raised.of(lattice, list(nodes.T), places_of(lattice), ones, ones)
    fewer = rows.rolled(1)
    different = {(row[0] // 20, *row[1:]) for row in nodes.tolist()}
    assert len(fewer) == len(different) < 2000
    assert fewer.persons.sum() == fewer.records.sum() == 2000


def test_the_same_array_whoever_asks():
    """The core is told where it lies: so it must not be made anew."""
    lattice, ones = Lattice((column(4, 2, 2)[0],), (column(4, 2, 2)[1],)), np.ones(4, np.uint32)
    rows = Raised.of(lattice, [np.arange(4, dtype=np.uint8)], places_of(lattice), ones, ones)
    assert all(rows.nodes(0, level) is rows.nodes(0, level) for level in range(3))


def test_rows_that_are_not_alike_are_kept_as_they_are():
    lattice = Lattice((*[column(100, 10, 10)[0]] * 2,), (*[column(100, 10, 10)[1]] * 2,))
    nodes, ones = np.arange(100, dtype=np.uint8), np.ones(100, np.uint32)
    rows = Raised.of(lattice, [nodes, nodes], places_of(lattice), ones, ones)
    assert rows.rolled(0) is rows.rolled(1) is rows
