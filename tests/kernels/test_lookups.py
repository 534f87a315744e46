"""Sums of lookups: the core and its twin give the same bits, and what plain Python gives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels import library
from shoal.kernels.lookups import nearest, summed


@given(seed=st.integers(0, 10_000), columns=st.integers(1, 4), number=st.integers(0, 6), rows=st.integers(0, 7))
def test_all_pairs(seed, columns, number, rows):
    seeded = np.random.default_rng(seed)
    shapes = seeded.integers(1, 5, (columns, 2))
    tables = [seeded.random(shape).astype(np.float32) for shape in shapes]
    lines = [seeded.integers(0, shape[0], number) for shape in shapes]
    nodes = [seeded.integers(0, shape[1], rows).astype(np.uint32) for shape in shapes]
    found = []
    for kernels in ("c", "numpy"):
        with library.using(kernels):
            found.append(summed(tables, lines, nodes))
    assert found[0].tobytes() == found[1].tobytes()
    for i in range(number):
        for r in range(rows):
            expected = sum(
                float(table[line[i], node[r]]) for table, line, node in zip(tables, lines, nodes, strict=True)
            )
            assert found[0][i, r] == pytest.approx(expected, rel=1e-5)


@given(seed=st.integers(0, 10_000), columns=st.integers(1, 4), number=st.integers(0, 6), rows=st.integers(1, 7))
def test_the_nearest_rows(seed, columns, number, rows):
    seeded = np.random.default_rng(seed)
    shapes = seeded.integers(1, 5, (columns, 2))
    tables = [seeded.integers(0, 3, shape).astype(np.float32) for shape in shapes]
    lines = [seeded.integers(0, shape[0], number) for shape in shapes]
    nodes = [seeded.integers(0, shape[1], rows).astype(np.uint32) for shape in shapes]
    sums, found = summed(tables, lines, nodes), []
    for kernels in ("c", "numpy"):
        with library.using(kernels):
            found.append([part.tolist() for part in nearest(tables, lines, nodes, 1.0)])
    assert found[0] == found[1]
    least, ends, near = found[0]
    assert least == sums.min(axis=1).tolist()
    for thing in range(number):
        mine = near[(ends[thing - 1] if thing else 0) : ends[thing]]
        assert mine == np.flatnonzero(sums[thing] <= least[thing] + 1).tolist()
