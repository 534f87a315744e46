"""Scans: schemes counted one by one are those that a walk counts."""

import gc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples

from shoal.kernels import library
from shoal.kernels.lattice import FIGURES, Lattice
from shoal.kernels.scan import MOST_SLOTS, Scan
from shoal.kernels.wide import WideWalk

PERSONS = FIGURES.index("persons")


def column(size, *cuts):
    """Return the steps and sizes of a column whose nodes are put together so many at a time."""
    steps, here = [], size
    for cut in cuts:
        steps.append((np.arange(here) // cut).astype(np.uint32))
        here = int(steps[-1][-1]) + 1
    return tuple(steps), (size, *(int(step[-1]) + 1 for step in steps))


@st.composite
def tables(draw):
    """Return a lattice and rows: few and many combinations, in one half and in two."""
    shapes = [(3, 3), (200, 10, 20), (5,), (2, 2), (700, 7, 100), (40, 40)]
    held = [column(*shape) for shape in draw(st.lists(st.sampled_from(shapes), min_size=1, max_size=5))]
    lattice = Lattice(tuple(steps for steps, _ in held), tuple(sizes for _, sizes in held))
    seeded, rows = np.random.default_rng(draw(st.integers(0, 99))), draw(st.sampled_from([1, 7, 3000]))
    nodes = [(seeded.integers(0, sizes[0], rows) ** 2 // sizes[0]).astype(np.uint32) for sizes in lattice.sizes]
    persons = seeded.integers(1, 5, rows)
    records = persons + seeded.integers(0, 3, rows) * draw(st.booleans())
    return lattice, nodes, persons, records


def scan_of(table):
    """Return a scan of codes that are numbered backwards."""
    lattice, nodes, *counts = table
    places = [np.arange(sizes[0] - 1, -1, -1) for sizes in lattice.sizes]
    codes = [place[node].astype(np.uint32) for place, node in zip(places, nodes, strict=True)]
    return Scan(lattice, codes, places, *counts, lambda: WideWalk(*table))


def checked(table, least, limit):
    """Compare a scan with a walk that groups the rows of each scheme."""
    lattice = table[0]
    schemes = np.arange(lattice.schemes)
    walk = WideWalk(*table)
    found = scan_of(table).tally(schemes, least, limit)
    expected = walk.tally(schemes, [least], limit)
    small = expected.figures[:, 0, PERSONS]
    assert found.figures[:, 0, PERSONS].tolist() == small.tolist()
    assert found.figures[small <= limit].tolist() == expected.figures[small <= limit].tolist()
    assert found.marginals[small <= limit].tolist() == expected.marginals[small <= limit].tolist()


@given(table=tables(), least=st.sampled_from([1, 2, 5, 4000]), share=st.sampled_from([0, 0.02, 1]))
@examples(60)
def test_a_scan_counts_what_a_walk_counts(table, least, share):
    with library.using("c"):
        checked(table, least, int(share * table[2].sum()))


def test_what_leaves_too_many_combinations_is_left_to_the_walk():
    held = [column(3000, 3000), column(2000, 2000)]
    assert MOST_SLOTS < 3000 * 2000
    lattice = Lattice(tuple(steps for steps, _ in held), tuple(sizes for _, sizes in held))
    seeded, ones = np.random.default_rng(1), np.ones(500, np.int64)
    nodes = [seeded.integers(0, sizes[0], 500, np.uint32) for sizes in lattice.sizes]
    with library.using("c"):
        checked((lattice, nodes, ones, ones), 2, 500)


def test_a_column_of_very_many_nodes_is_left_to_the_walk():
    lattice = Lattice((column(70_000, 70_000)[0],), ((70_000, 1),))
    ones = np.ones(70_000, np.int64)
    with library.using("c"):
        checked((lattice, [np.arange(70_000, dtype=np.uint32)], ones, ones), 2, 70_000)


def test_scans_of_several_threads_do_not_share_room():
    table = (Lattice((column(4, 2)[0],), ((4, 2),)), [np.arange(4, dtype=np.uint32)], np.ones(4, int), np.ones(4, int))
    with library.using("c"):
        one = scan_of(table)
        other = one.another()
        found = [scan.tally(np.arange(2), 2, 4).figures.tolist() for scan in (one, other, one)]
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("kernels", ["c", "numpy"])
def test_no_rows_and_no_schemes_are_nothing(kernels):
    none = np.zeros(0, np.int64)
    table = (Lattice((column(4, 2)[0],), ((4, 2),)), [np.zeros(0, np.uint32)], none, none)
    with library.using(kernels):
        scan = scan_of(table)
        assert scan.tally(np.arange(2), 2, 4).figures.sum() == 0
        assert len(scan.tally(none, 2, 4).figures) == 0


def test_what_the_core_was_told_the_place_of_is_kept():
    """Even if rows find their nodes anew each time, as two threads at once may make them do."""
    lattice = Lattice((column(300, 300)[0],) * 2, (column(300, 300)[1],) * 2)
    seeded = np.random.default_rng(5)
    nodes, ones = [seeded.integers(0, 300, 500).astype(np.uint32) for _ in range(2)], np.ones(500, np.int64)
    table = (lattice, nodes, ones, ones)
    scan, schemes = scan_of(table), np.arange(4)
    with library.using("c"):
        expected = scan.tally(schemes, 2, 500).marginals.tolist()
        scan._shared[0]._found.clear()
        gc.collect()
        others = [np.full(500, 255, np.uint16) for _ in range(100)]
        assert scan.tally(schemes, 2, 500).marginals.tolist() == expected
    assert len(others) == 100
