"""The order of keys, and sums by code: the core and numpy agree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels import library
from shoal.kernels.ordering import order
from shoal.kernels.packing import pack, packed
from shoal.kernels.summing import summed

KEYS = st.lists(st.one_of(st.integers(0, 9), st.integers(0, (1 << 64) - 1), st.integers(0, 20).map(lambda at: 1 << at)))


@pytest.mark.parametrize("kernels", ["c", "numpy"])
@given(keys=KEYS)
def test_keys_ascend_and_equal_ones_stay(kernels, keys):
    with library.using(kernels):
        found = order(np.array(keys, np.uint64)).tolist()
    assert found == sorted(range(len(keys)), key=lambda place: (keys[place], place))


@pytest.mark.parametrize("kernels", ["c", "numpy"])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.int64])
@given(pairs=st.lists(st.tuples(st.integers(0, 250), st.integers(-(1 << 60), 1 << 60)), max_size=7))
def test_sums_are_exact(kernels, dtype, pairs):
    codes, counts = np.array([code for code, _ in pairs], dtype), np.array([count for _, count in pairs], np.int64)
    with library.using(kernels):
        found = summed(codes, counts, 251).tolist()
    assert found == [sum(count for code, count in pairs if code == one) for one in range(251)]


@pytest.mark.parametrize("kernels", ["c", "numpy"])
def test_codes_that_are_none(kernels):
    with library.using(kernels), pytest.raises(IndexError):
        summed(np.array([3], np.uint8), np.array([1]), 3)
    with library.using(kernels), pytest.raises(ValueError, match="as many"):
        summed(np.array([3], np.uint8), np.array([1, 2]), 4)
    with library.using(kernels), pytest.raises(ValueError, match="whole"):
        summed(np.array([3], np.uint8), np.array([1.5]), 4)
    with pytest.raises(TypeError, match="64 bits"):
        order(np.array([3], np.uint32))


@given(
    sizes=st.lists(st.sampled_from([1, 2, 3, 250, 65_536, 65_537, 1 << 20, (1 << 32) - 1, 1 << 32]), max_size=9),
    data=st.data(),
)
def test_columns_of_any_width_are_packed(sizes, data):
    rows = [[data.draw(st.integers(0, size - 1)) for size in sizes] for _ in range(3)]
    columns = [np.array([row[at] for row in rows], np.uint32) for at in range(len(sizes))]
    with library.using("c"):
        keys = packed(columns, sizes)
    done = 0
    for key in keys:
        space = end = 0
        while end == 0 or (done + end < len(sizes) and space * sizes[done + end] <= 1 << 64):
            space, end = max(space, 1) * sizes[done + end], end + 1
        expected = [0, 0, 0]
        for at in range(done, done + end):
            expected = [before * sizes[at] + row[at] for before, row in zip(expected, rows, strict=True)]
        assert key.tolist() == expected
        with library.using("numpy"):
            assert pack(columns[done : done + end], sizes[done : done + end]).tolist() == expected
        done += end
    assert done == len(sizes)
