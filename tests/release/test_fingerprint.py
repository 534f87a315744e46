"""Fingerprints: the same for the same records in any order, and another one for any change."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.kernels import library
from shoal.release.fingerprint import fingerprint

CELLS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["a", "b", None])), min_size=1, max_size=9)


def table(rows, names=("x", "y")):
    return shoal.read(pa.table({name: [row[at] for row in rows] for at, name in enumerate(names)}))


@given(rows=CELLS, others=CELLS, seed=st.integers(0, 9))
def test_what_is_the_same(rows, others, seed):
    """Exactly tables with the same records, each as often, have the same one."""
    shuffled = [rows[at] for at in np.random.default_rng(seed).permutation(len(rows))]
    assert fingerprint(table(rows)) == fingerprint(table(shuffled))
    is_same = sorted(map(str, rows)) == sorted(map(str, others))
    assert (fingerprint(table(rows)) == fingerprint(table(others))) == is_same


def test_what_the_codes_mean_counts():
    rows = [(1, "a"), (2, "b")]
    known = {fingerprint(table(rows)), fingerprint(table([(1, "a"), (3, "b")])), fingerprint(table(rows, ("x", "z")))}
    known.add(fingerprint(table([(1, "b"), (2, "a")])))
    known.add(fingerprint(table(rows * 2)))
    assert len(known) == 5


@pytest.mark.parametrize("columns", [1, 3, 40])
def test_wide_tables(columns):
    """More columns than fit into one key; the same with both kinds of kernels, and changed by any cell."""
    cells = np.random.default_rng(3).integers(0, 50, (20, columns))
    cells[:4] = [[0], [49], [7], [8]]  # values that stay where one cell changes
    found = []
    for kernels in ("c", "numpy"):
        with library.using(kernels):
            found.append(fingerprint(shoal.read({f"c{at}": cells[:, at].tolist() for at in range(columns)})))
    assert found[0] == found[1]
    for at in range(columns):
        changed = cells.copy()
        changed[2, at], changed[3, at] = cells[3, at], cells[2, at]
        same = columns == 1
        other = fingerprint(shoal.read({f"c{place}": changed[:, place].tolist() for place in range(columns)}))
        assert (other == found[0]) == same


def test_in_pieces():
    """Many records come in several pieces."""
    numbers = np.random.default_rng(1).integers(0, 9, 600_000)
    one, other = (shoal.read({"x": held}) for held in (numbers, np.sort(numbers)))
    assert fingerprint(one) == fingerprint(other)
