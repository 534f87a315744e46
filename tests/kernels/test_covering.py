"""Rows of sets cover the people whose values are in them: the core, its twin and plain Python agree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels import library
from shoal.kernels.covering import Covering, Sets


@st.composite
def tables(draw):
    seeded = np.random.default_rng(draw(st.integers(0, 10_000)))
    rows, people, columns = (draw(st.integers(low, high)) for low, high in ((0, 9), (0, 12), (1, 4)))
    held, codes = [], []
    for _ in range(columns):
        values, number = int(seeded.integers(1, 6)), int(seeded.integers(1, 6))
        sets = [np.flatnonzero(seeded.random(values) < 0.5) for _ in range(number)]
        starts = np.concatenate([[0], np.cumsum([len(one) for one in sets])])
        members = np.concatenate(sets).astype(np.uint32)
        held.append(Sets(seeded.integers(0, number, rows).astype(np.uint32), starts, members, values))
        codes.append(seeded.integers(0, values, people).astype(np.uint8))
    return Covering(tuple(held), seeded.integers(1, 9, rows)), codes, seeded.integers(0, 3, rows).astype(np.uint32)


def covers(covering, codes, person, row):
    return all(
        codes[j][person] in held.codes[held.starts[held.of_row[row]] : held.starts[held.of_row[row] + 1]]
        for j, held in enumerate(covering.columns)
    )


@pytest.mark.parametrize("kernels", ["c", "numpy"])
@given(given=tables())
def test_all_pairs(kernels, given):
    covering, codes, said = given
    people, rows = len(codes[0]), len(covering.weights)
    expected, covered = np.zeros((people, 3), np.int64), np.zeros(rows, np.int64)
    for person in range(people):
        for row in range(rows):
            if covers(covering, codes, person, row):
                expected[person, said[row]] += covering.weights[row]
                covered[row] += 1
    with library.using(kernels):
        assert covering.counts(codes, said, 3).tolist() == expected.tolist()
        assert covering.counts(codes).tolist() == expected.sum(axis=1).tolist()
        assert covering.covered(codes).tolist() == covered.tolist()


@pytest.mark.parametrize("kernels", ["c", "numpy"])
@given(given=tables())
def test_what_is_not_known_is_in_every_set(kernels, given):
    covering, codes, _ = given
    wider = Covering(tuple(held.or_unknown() for held in covering.columns), covering.weights)
    unknown = [np.full(len(codes[0]), held.values, np.uint32) for held in covering.columns]
    with library.using(kernels):
        assert wider.counts(codes).tolist() == covering.counts(codes).tolist()
        assert wider.counts(unknown).tolist() == [int(covering.weights.sum())] * len(codes[0])
        assert wider.counts([codes[0].astype(np.uint32), *unknown[1:]]).tolist() == (
            Covering(covering.columns[:1], covering.weights).counts(codes[:1]).tolist()
        )
