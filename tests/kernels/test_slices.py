"""Slices: what buckets tell about tuples, the same from the core, from numpy, and by the definition in fractions."""

from collections import Counter
from fractions import Fraction
from math import prod

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels import library
from shoal.kernels.slices import Slices, SubTuples
from shoal.separation.diversity import exact, excess, probable

RECORDS = st.lists(
    st.tuples(*(st.integers(0, 2) for _ in range(4)), st.integers(0, 2)), min_size=1, max_size=8
)  # three sub-tuples, a value and a bucket


def by_definition(records, tuple_):
    """Return f(t, B) · D(t, B)[s] for each bucket and value, and f(t, B) for each bucket (Li et al. 2012)."""
    shares, totals = Counter(), Counter()
    for bucket in {record[-1] for record in records}:
        inside = [record for record in records if record[-1] == bucket]
        columns = [Fraction(sum(record[i] == tuple_[i] for record in inside), len(inside)) for i in range(3)]
        beside = Counter(record[3] for record in inside if record[2] == tuple_[2])
        totals[bucket] = prod(columns)
        for value, times in beside.items():
            shares[bucket, value] = totals[bucket] * Fraction(times, beside.total())
    return shares, totals


def sliced(records):
    """Return the slices of some records, and their sub-tuples."""
    *parts, values, buckets = np.array(records, np.uint32).T
    rows = [SubTuples(np.ascontiguousarray(part), 3, buckets, np.ones(len(records), np.int64)) for part in parts]
    return Slices.of(rows, values, 3), [np.ascontiguousarray(part) for part in parts]


@given(RECORDS, st.integers(2, 4))
def test_beliefs_follow_the_definition(records, size):
    slices, tuples = sliced(records)
    results = []
    for kernels in ("c", "numpy"):
        with library.using(kernels):
            beliefs = slices.beliefs(tuples, size)
            results.append(
                [array.tolist() for array in (beliefs.total, beliefs.largest, beliefs.value, beliefs.uneven)]
            )
    assert results[0] == results[1]
    violated, _ = probable(slices, tuples, size)
    for place, record in enumerate(records):
        shares, totals = by_definition(records, record)
        sums = Counter()
        for (_, value), share in shares.items():
            sums[value] += share
        total = sum(totals.values())
        assert abs(beliefs.total[place] - float(total)) < 1e-12
        assert abs(beliefs.largest[place] - float(max(sums.values()))) < 1e-12
        assert abs(float(sums[int(beliefs.value[place])] - max(sums.values()))) < 1e-12
        highest = max(sums.values()) / total
        assert exact(slices, [codes[place : place + 1] for codes in tuples]) == highest
        assert violated[place] == (highest * size > 1)


@given(RECORDS, st.integers(2, 4))
def test_the_excess_of_all_buckets_decides(records, size):
    slices, tuples = sliced(records)
    values = np.array([record[3] for record in records], np.uint32)
    owners, buckets, more = excess(slices, tuples, values, size)
    for place, record in enumerate(records):
        shares, totals = by_definition(records, record)
        expected = {b: size * shares[b, record[3]] - total for b, total in totals.items() if total}
        mine = owners == place
        assert buckets[mine].tolist() == sorted(expected)
        assert np.allclose(more[mine], [float(expected[bucket]) for bucket in sorted(expected)])
