"""Witnesses: whatever rows rule out, exactly the schemes that hold are found, in their order."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples, tiered
from tests.kernels.test_scan import PERSONS, column, scan_of, tables

from shoal.kernels import library
from shoal.kernels.lattice import Lattice
from shoal.kernels.scan import MOST_SLOTS
from shoal.kernels.wide import WideWalk
from shoal.kernels.witness import MOST_LEAST, Witnesses


def cheapest(table, prices, *leasts):
    """Count every scheme; return for each least size the cheapest schemes without smaller classes."""
    figures = WideWalk(*table).tally(np.arange(table[0].schemes), list(leasts)).figures
    return [cheapest_of(np.flatnonzero(figures[:, place, PERSONS] == 0), prices) for place in range(len(leasts))]


def cheapest_of(schemes, prices):
    return schemes[prices[schemes] == prices[schemes].min()].tolist() if len(schemes) else []


def best_of(witnesses, close=0.0):
    """Return the cheapest schemes that hold; every one that was found was not dearer than those before."""
    found = [scheme for scheme in witnesses.holding(close) if scheme is not None]
    prices = witnesses.prices[found].tolist()
    assert all(after <= before * (1 + close) for before, after in pairwise(prices))
    return sorted(scheme for scheme in found if witnesses.prices[scheme] <= min(prices) * (1 + close))


@pytest.mark.parametrize("kernels", ["c", "numpy"])
@given(table=tables(), least=st.sampled_from([1, 2, 5, 200, MOST_LEAST]), seed=st.integers(0, 9), of=st.integers(1, 50))
@examples(60)
def test_the_cheapest_schemes_are_found(kernels, table, least, seed, of):
    """Whatever they cost; also where columns have no common top, and where several cost the same."""
    prices = np.random.default_rng(seed).integers(0, of, table[0].schemes) / 8
    with library.using(kernels):
        witnesses = Witnesses(scan_of(table), prices, least)
        assert [best_of(witnesses)] == cheapest(table, prices, least)
    assert witnesses.looked_at <= len(prices)


def test_classes_that_would_have_to_be_too_large_are_refused():
    ones = np.ones(4, np.int64)
    table = (lattice_of(column(4, 4)), [np.zeros(4, np.uint32)], ones, ones)
    with pytest.raises(ValueError, match="255"):
        Witnesses(scan_of(table), np.zeros(2), MOST_LEAST + 1)


@pytest.mark.parametrize("kernels", ["c", "numpy"])
def test_prices_that_are_nearly_the_same(kernels):
    ones = np.ones(4, np.int64)
    table = (lattice_of(column(4, 4), column(4, 4)), [np.zeros(4, np.uint32)] * 2, ones, ones)
    with library.using(kernels):
        prices = np.array([1.0, 1 + 1e-14, 1 + 1e-9, 1 - 1e-14])
        assert best_of(Witnesses(scan_of(table), prices, 2), 1e-12) == [0, 1, 3]
        assert best_of(Witnesses(scan_of(table), prices, 2)) == [3]


def lattice_of(*columns):
    return Lattice(tuple(steps for steps, _ in columns), tuple(sizes for _, sizes in columns))


@pytest.mark.parametrize("kernels", ["c", "numpy"])
@pytest.mark.parametrize("persons", [1, 9])
def test_schemes_with_too_many_combinations(kernels, persons):
    """A coarser one is counted instead; if that holds, the finer one has to be counted elsewhere."""
    lattice = lattice_of(column(3000, 3000), column(2000, 2000))
    assert MOST_SLOTS < 3000 * 2000
    seeded, counts = np.random.default_rng(1), np.full(500, persons)
    nodes = [seeded.integers(0, sizes[0], 500, np.uint32) for sizes in lattice.sizes]
    table, prices = (lattice, nodes, counts, counts), np.arange(lattice.schemes) / 4
    with library.using(kernels):
        assert [best_of(Witnesses(scan_of(table), prices, 5))] == cheapest(table, prices, 5)


MANY_COLUMNS = [column(60, 10, 6)] * 3 + [column(5)] + [column(2, 2)] * 6  # the levels of which make up two bytes
MANY_LEVELS = [column(300, *[2] * 16)] * 3  # three


@pytest.mark.parametrize("columns", [MANY_COLUMNS, MANY_LEVELS])
@pytest.mark.parametrize("seed", tiered(range(4), quick=1))
def test_lattices_of_which_a_byte_cannot_number_the_schemes(columns, seed):
    lattice, seeded = lattice_of(*columns), np.random.default_rng(seed)
    nodes = [(seeded.integers(0, sizes[0], 400) ** 3 // sizes[0] ** 2).astype(np.uint32) for sizes in lattice.sizes]
    counts = seeded.integers(1, 90, 400)
    table, prices = (lattice, nodes, counts, counts), seeded.integers(0, 900, lattice.schemes) / 8
    assert lattice.schemes > 1 << 8
    leasts = (2, 40, 180)
    expected = cheapest(table, prices, *leasts)
    for kernels in ("c", "numpy"):
        with library.using(kernels):
            assert [best_of(Witnesses(scan_of(table), prices, least)) for least in leasts] == expected


def test_few_schemes_are_counted():
    """One row that is like no other rules out all schemes that do not hide it."""
    lattice = lattice_of(*[column(4, 4)] * 6)
    nodes = [np.repeat(np.uint32(0), 50) for _ in range(6)]
    for held in nodes:
        held[-1] = 3
    ones = np.ones(50, np.int64)
    with library.using("c"):
        witnesses = Witnesses(scan_of((lattice, nodes, ones, ones)), np.arange(lattice.schemes) / 4, 2)
        assert best_of(witnesses) == [lattice.schemes - 1]
        assert witnesses.decided == lattice.schemes
    assert witnesses.looked_at == 2


@pytest.mark.parametrize("kernels", ["c", "numpy"])
def test_no_rows(kernels):
    none = np.zeros(0, np.int64)
    table = (lattice_of(column(4, 2)), [np.zeros(0, np.uint32)], none, none)
    with library.using(kernels):
        assert best_of(Witnesses(scan_of(table), np.array([0.5, 0.25]), 2)) == [1]


def test_what_has_no_room_or_does_not_pay():
    def fits(rows, *columns, least=5):
        ones = np.ones(rows, np.int64)
        nodes = [np.arange(rows, dtype=np.uint32) % sizes[0] for _, sizes in columns]
        return Witnesses.fit(scan_of((lattice_of(*columns), nodes, ones, ones)), least)

    assert fits(3000, *[column(2, 2)] * 15)
    assert not fits(3000, *[column(2, 2)] * 16)
    assert fits(3000, column(2, 2), least=255)
    assert not fits(3000, column(2, 2), least=256)
    assert not fits(3, *[column(2, 2)] * 8)
    assert not fits(70_000, column(70_000, 70_000))
    assert not fits(3000, *[column(1)] * 65)
