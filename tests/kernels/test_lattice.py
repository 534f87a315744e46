"""All schemes of a lattice: the core, its twin and plain counting agree."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels import library
from shoal.kernels.lattice import FIGURES, Lattice
from shoal.kernels.walk import Walk
from shoal.kernels.wide import WideWalk


@st.composite
def ladders(draw):
    """Return the steps of one column: nodes ascend where the nodes below them do."""
    size = draw(st.integers(1, 6))
    steps, here = [], size
    for _ in range(draw(st.integers(0, 3))):
        cuts = draw(st.lists(st.booleans(), min_size=here - 1, max_size=here - 1))
        steps.append(np.cumsum([0, *cuts]).astype(np.uint32))
        here = int(steps[-1][-1]) + 1
    return tuple(steps), (size, *(int(step[-1]) + 1 for step in steps))


@st.composite
def walks(draw):
    columns = draw(st.lists(ladders(), min_size=1, max_size=4))
    values = draw(st.sampled_from([0, 0, 1, 3, 70]))
    lattice = Lattice(tuple(steps for steps, _ in columns), tuple(sizes for _, sizes in columns), values)
    number = draw(st.integers(1, 60))
    seeded = np.random.default_rng(draw(st.integers(0, 1000)))
    codes = [seeded.integers(0, sizes[0], number, np.uint32) for sizes in lattice.sizes]
    persons = seeded.integers(1, 4, number)
    records = persons + seeded.integers(0, 2, number)
    held = seeded.integers(0, values, number, np.uint32) if values else None
    rows = lattice.rows(codes, persons, records, held)
    schemes = np.flatnonzero(seeded.random(lattice.schemes) < draw(st.sampled_from([0.1, 0.5, 1.0])))
    return Walk(lattice, rows), (codes, persons, records, held), schemes


def counted(walk, table, scheme):
    """Return the classes of a scheme, counted row by row: persons, records and sensitive values by nodes."""
    codes, persons, records, values = table
    levels = walk.lattice.levels(np.array([scheme]))[0]
    sizes, copies, held = Counter(), Counter(), {}
    for row in range(len(persons)):
        nodes = []
        for column, level in enumerate(levels):
            node = codes[column][row]
            for step in walk.lattice.steps[column][:level]:
                node = step[node]
            nodes.append(int(node))
        sizes[tuple(nodes)] += int(persons[row])
        copies[tuple(nodes)] += int(records[row])
        if values is not None:
            held.setdefault(tuple(nodes), Counter())[int(values[row])] += int(persons[row])
    return sizes, copies, held


@pytest.mark.parametrize("kernels", ["c", "numpy"])
@given(walk=walks(), bounds=st.sampled_from([[2], [3, 5], [1, 2, 4, 8], [100]]))
def test_tallies_are_what_counting_gives(kernels, walk, bounds):
    walk, table, schemes = walk
    with library.using(kernels):
        found = walk.tally(schemes, bounds)
    assert found.schemes.tolist() == schemes.tolist()
    for place, scheme in enumerate(schemes.tolist()):
        sizes, copies, _ = counted(walk, table, scheme)
        for band, (low, high) in enumerate(zip([0, *bounds], [*bounds, 10**9], strict=True)):
            mine = [nodes for nodes, size in sizes.items() if low <= size < high]
            squares = sum(copies[nodes] ** 2 for nodes in mine)
            figures = (len(mine), sum(sizes[n] for n in mine), sum(copies[n] for n in mine), squares)
            assert dict(zip(FIGURES, found.figures[place, band].tolist(), strict=True)) == dict(
                zip(FIGURES, figures, strict=True)
            )
            if band < len(bounds):
                marginal = np.zeros(walk.lattice.width, int)
                for nodes in mine:
                    for column, node in enumerate(nodes):
                        marginal[walk.lattice.offsets[column] + node] += copies[nodes]
                assert found.marginals[place, band].tolist() == marginal.tolist()


@pytest.mark.parametrize("kernels", ["c", "numpy"])
@given(walk=walks(), least=st.integers(1, 6), room=st.sampled_from([1, 100, 1 << 20]))
def test_listings_are_what_counting_gives(kernels, walk, least, room):
    walk, table, schemes = walk
    seen = []
    with library.using(kernels):
        for listing in walk.listings(schemes, least, room):
            seen.extend(listing.schemes.tolist())
            kept = listing.sizes >= least + 1
            marginals = walk.spread(listing, kept)
            fields = np.stack(walk.lattice.fields(listing.keys), axis=-1)
            for place, scheme in enumerate(listing.schemes.tolist()):
                sizes, copies, held = counted(walk, table, scheme)
                mine = np.flatnonzero(listing.of_class == place)
                large = sorted(nodes for nodes, size in sizes.items() if size >= least)
                assert [tuple(fields[c].tolist()) for c in mine] == large
                assert listing.sizes[mine].tolist() == [sizes[nodes] for nodes in large]
                assert listing.records[mine].tolist() == [copies[nodes] for nodes in large]
                if walk.lattice.values:
                    for c, nodes in zip(mine, large, strict=True):
                        part = slice(listing.starts[c], listing.starts[c + 1])
                        values = list(zip(listing.codes[part].tolist(), listing.counts[part].tolist(), strict=True))
                        assert values == sorted(held[nodes].items())
                expected = np.zeros(walk.lattice.width, int)
                for nodes in large:
                    if sizes[nodes] > least:
                        for column, node in enumerate(nodes):
                            expected[walk.lattice.offsets[column] + node] += copies[nodes]
                assert marginals[place].tolist() == expected.tolist()
    assert seen == schemes.tolist()


def test_blocks_of_many_rows_are_merged():
    """A column whose values mix long runs takes the way of large blocks."""
    seeded = np.random.default_rng(5)
    wide = (np.arange(40) // 20).astype(np.uint32)
    lattice = Lattice(((wide, np.zeros(2, np.uint32)), (np.zeros(90, np.uint32),)), ((40, 2, 1), (90, 1)))
    codes = [seeded.integers(0, 40, 4000, np.uint32), seeded.integers(0, 90, 4000, np.uint32)]
    ones = np.ones(4000, np.int64)
    walk = Walk(lattice, lattice.rows(codes, ones, ones))
    with library.using("numpy"):
        expected = walk.tally(np.arange(6), [3, 30])
    with library.using("c"):
        found = walk.tally(np.arange(6), [3, 30])
    assert (found.figures == expected.figures).all()
    assert (found.marginals == expected.marginals).all()


def test_schemes_are_numbered_with_the_last_column_first():
    lattice = Lattice(((np.zeros(2, np.uint32),), (np.zeros(3, np.uint32),)), ((2, 1), (3, 1)))
    assert lattice.levels(np.arange(4)).tolist() == [list(levels) for levels in product([0, 1], [0, 1])]


@given(walk=walks(), bounds=st.sampled_from([[2], [3, 5]]), limit=st.sampled_from([None, 0, 5]))
def test_a_wide_walk_counts_the_same(walk, bounds, limit):
    walk, (codes, persons, records, _), schemes = walk
    lattice = Lattice(walk.lattice.steps, walk.lattice.sizes)
    narrow = Walk(lattice, lattice.rows(codes, persons, records), keeping=True)
    wide = WideWalk(lattice, codes, persons, records)
    found, other = (one.tally(schemes, bounds, limit) for one in (narrow, wide))
    assert found.figures.tolist() == other.figures.tolist()
    assert found.marginals.tolist() == other.marginals.tolist()
