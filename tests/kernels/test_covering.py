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


@pytest.mark.parametrize("kernels", ["c", "numpy"])
@given(given=tables())
def test_the_best_rows(kernels, given):
    covering, codes, said = given
    ranks = said.astype(np.int64)
    with library.using(kernels):
        best, counts = covering.best(codes, ranks)
    for person in range(len(codes[0])):
        rows = [row for row in range(len(ranks)) if covers(covering, codes, person, row)]
        highest = max((int(ranks[row]) for row in rows), default=-1)
        assert best[person] == highest
        assert counts[person] == sum(covering.weights[row] for row in rows if ranks[row] == highest)


def matched(covering, codes):
    """Return how many people can have a row at once: paths of people who move on, one after another."""
    places = [row for row, weight in enumerate(covering.weights) for _ in range(weight)]
    taken = {}

    def moves(person, seen):
        for place, row in enumerate(places):
            if place not in seen and covers(covering, codes, person, row):
                seen.add(place)
                if place not in taken or moves(taken[place], seen):
                    taken[place] = person
                    return True
        return False

    return sum(moves(person, set()) for person in range(len(codes[0])))


@given(given=tables())
def test_as_many_as_can_get_a_row(given):
    covering, codes, said = given
    scarce = Covering(covering.columns, np.minimum(covering.weights, 2))
    found = {}
    for kernels in ("c", "numpy"):
        with library.using(kernels):
            found[kernels] = scarce.assigned(codes, said.astype(np.int64)).tolist()
    assert found["c"] == found["numpy"]
    taken = [(person, row) for person, row in enumerate(found["c"]) if row >= 0]
    assert all(covers(scarce, codes, person, row) for person, row in taken)
    used = np.bincount([row for _, row in taken], minlength=len(scarce.weights))
    assert (used <= scarce.weights).all()
    assert len(taken) == matched(scarce, codes)


@given(given=tables())
def test_room_is_sought_among_few_rows(given):
    covering, codes, said = given
    scarce = Covering(covering.columns, np.ones_like(covering.weights))
    found = {}
    for kernels in ("c", "numpy"):
        with library.using(kernels):
            found[kernels] = scarce.assigned(codes, said.astype(np.int64), most=2).tolist()
    assert found["c"] == found["numpy"]


@pytest.mark.parametrize("kernels", ["c", "numpy"])
def test_a_value_that_no_row_knows_is_refused(kernels):
    held = Sets(np.zeros(1, np.uint32), np.array([0, 1]), np.zeros(1, np.uint32), 1)
    with library.using(kernels), pytest.raises(ValueError, match="do not know"):
        Covering((held,), np.ones(1, np.int64)).counts([np.array([1], np.uint8)])


@pytest.mark.parametrize("kernels", ["c", "numpy"])
@given(given=tables())
def test_the_rows_of_each_person(kernels, given):
    covering, codes, _ = given
    with library.using(kernels):
        ends, rows = covering.rows(codes)
    for person in range(len(codes[0])):
        mine = rows[(ends[person - 1] if person else 0) : ends[person]].tolist()
        assert sorted(mine) == [row for row in range(len(covering.weights)) if covers(covering, codes, person, row)]
