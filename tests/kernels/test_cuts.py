"""Cuts at the median: the core and numpy against a slow search over all boundaries."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels import library
from shoal.kernels.cuts import Parts

tables = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3), st.integers(1, 9)), min_size=1, max_size=60)


def slow_cut(values, persons):
    """Try every boundary between different values; the nearest to half wins, then the lower."""
    whole, best = sum(persons), None
    for value in sorted(set(values))[1:]:
        left = sum(count for held, count in zip(values, persons, strict=True) if held < value)
        if best is None or abs(2 * left - whole) < best[0]:
            best = abs(2 * left - whole), value, left
    return best


@pytest.mark.parametrize("kernels", ["c", "numpy"])
@given(rows=tables, cuts=st.lists(st.integers(0, 60), max_size=3), merged=st.booleans())
def test_cut_is_the_nearest_to_the_median(kernels, rows, cuts, merged):
    with library.using(kernels):
        bounds = sorted({0, len(rows), *(cut for cut in cuts if cut < len(rows))})
        starts, ends = np.array(bounds[:-1]), np.array(bounds[1:])
        places = np.array([row[:2] for row in rows], np.uint32)
        persons = np.array([row[2] for row in rows], np.uint32)
        parts = Parts(places, persons)
        spans = parts.spans(starts, ends)
        columns = np.arange(len(starts)) % 2
        groups = np.arange(8, dtype=np.uint32) // (2 if merged else 1)
        members = [set(parts.order[start:end].tolist()) for start, end in zip(starts, ends, strict=True)]
        middles, left = parts.cut(starts, ends, spans.sizes, columns, groups, np.zeros(len(starts), np.int64))
        for part, (start, end) in enumerate(zip(starts, ends, strict=True)):
            held = np.array(sorted(members[part]))
            assert spans.low[part].tolist() == places[held].min(axis=0).tolist()
            assert spans.high[part].tolist() == places[held].max(axis=0).tolist()
            assert spans.sizes[part] == persons[held].sum()
            assert set(parts.order[start:end].tolist()) == members[part]
            values = groups[places[held, columns[part]]]
            best = slow_cut(values.tolist(), persons[held].tolist())
            if best is None:
                assert middles[part] == start
                continue
            first = set(held[values < best[1]].tolist())
            assert set(parts.order[start : middles[part]].tolist()) == first
            assert left[part] == best[2]


@given(rows=tables)
def test_relaxed_cuts_divide_what_is_alike(rows):
    places, persons = np.array([row[:2] for row in rows], np.uint32), np.ones(len(rows), np.uint32)
    found = []
    for kernels in ("c", "numpy"):
        with library.using(kernels):
            parts = Parts(places, persons)
            starts, ends = np.array([0]), np.array([len(rows)])
            sizes = parts.spans(starts, ends).sizes
            groups = np.arange(8, dtype=np.uint32)
            (middle,), _ = parts.cut(starts, ends, sizes, np.array([0]), groups, np.array([0]), relaxed=True)
            assert middle == (len(rows) + 1) // 2
            first, second = parts.order[:middle], parts.order[middle:]
            assert not len(second) or places[first, 0].max() <= places[second, 0].min()
            found.append(set(first.tolist()))
    assert found[0] == found[1]


def test_many_rows_in_any_order():
    rng = np.random.default_rng(5)
    for values in (np.arange(5000), np.arange(5000)[::-1], np.repeat(7, 5000), rng.integers(0, 50, 5000)):
        parts = Parts(values.astype(np.uint32)[:, None], np.ones(5000, np.uint32))
        starts, ends = np.array([0]), np.array([5000])
        sizes = parts.spans(starts, ends).sizes
        groups = np.arange(5000, dtype=np.uint32)
        (middle,), (left,) = parts.cut(starts, ends, sizes, np.array([0]), groups, np.array([0]))
        assert left == middle
        if middle:
            assert values[parts.order[:middle]].max() < values[parts.order[middle:]].min()
