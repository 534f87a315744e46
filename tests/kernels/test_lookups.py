"""Sums of lookups: the core and its twin give the same bits, and what plain Python gives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels import library
from shoal.kernels.lookups import summed


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
