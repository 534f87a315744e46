"""Encoding: codes ascend with values, decode to what was there, and do not know the order of rows."""

import datetime as dt
import decimal
import random

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels import library
from shoal.table.encoding import encode

CELLS = {
    pa.string(): st.text(max_size=40),
    pa.large_string(): st.text(max_size=4),
    pa.int64(): st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3),
    pa.uint64(): st.integers(0, 2**64 - 1),
    pa.int8(): st.integers(-128, 127),
    pa.float64(): st.floats(allow_nan=False) | st.sampled_from([0.0, -0.0, float("inf")]),
    pa.float32(): st.floats(width=32, allow_nan=False),
    pa.bool_(): st.booleans(),
    pa.date32(): st.dates(),
    pa.date64(): st.dates(),
    pa.timestamp("us"): st.datetimes(),
    pa.time64("us"): st.times(),
    pa.decimal128(12, 3): st.decimals(-1000, 1000, places=3),
    pa.dictionary(pa.int32(), pa.string()): st.text(max_size=3),
}


@pytest.mark.parametrize("kernels", ["c", "numpy"])
@pytest.mark.parametrize("arrow", CELLS, ids=str)
@given(data=st.data())
def test_codes_are_ranks(kernels, arrow, data):
    cells = data.draw(st.lists(st.none() | CELLS[arrow], max_size=25))
    array = pa.array(cells, arrow)
    expected = array.cast(arrow.value_type) if pa.types.is_dictionary(arrow) else array
    with library.using(kernels):
        encoded = encode("a", pa.chunked_array([array[:7], array[7:]]))
        shuffled = random.Random(1).sample(range(len(cells)), len(cells))
        again = encode("a", pa.chunked_array([array.take(pa.array(shuffled, pa.int64()))]))
    column = encoded.column
    decoded = column.cells().take(pa.array(encoded.codes)) if len(cells) else pa.array([], column.values.type)
    assert decoded.to_pylist() == expected.to_pylist()
    values = column.values.to_pylist()
    assert values == sorted(set(values), key=lambda v: v.encode() if isinstance(v, str) else v)
    assert column.missing == (None in cells)
    assert again.codes.tolist() == [encoded.codes[place] for place in shuffled]


def test_text_is_ordered_by_code_points_whatever_its_length():
    words = ["", "a", "a\0", "aa", "aaaaaaaa", "aaaaaaaab", "b" * 100, "z", "é", "\U0001f41f"]
    column = encode("a", pa.chunked_array([words[::-1]])).column
    assert column.values.to_pylist() == words


def test_dictionaries_with_odd_entries():
    numbers = pa.array([1.0, float("nan"), -0.0, 0.0]).dictionary_encode()
    column = encode("a", pa.chunked_array([numbers])).column
    assert (column.values.to_pylist(), column.missing) == ([0.0, 1.0], True)
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["b", "a", "b"]), ordered=True)
    encoded = encode("a", pa.chunked_array([twice]))
    assert (encoded.codes.tolist(), encoded.column.values.to_pylist()) == ([0, 1, 0], ["b", "a"])
    chunks = [pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array([word, None])) for word in "ba"]
    assert encode("a", pa.chunked_array(chunks)).codes.tolist() == [1, 2, 0, 2]


def test_both_zeros_are_one_value_whatever_comes_first():
    for cells in (pa.array([-0.0, 0.0]), pa.array([0.0, -0.0])):
        for array in (cells, cells.dictionary_encode()):
            values = encode("a", pa.chunked_array([array])).column.values.to_pylist()
            assert [str(value) for value in values] == ["0.0"]


@pytest.mark.parametrize("arrow", [pa.float16(), pa.decimal32(5, 2), pa.decimal64(12, 2)], ids=str)
def test_rare_types(arrow):
    cells = pa.array([1.5, 2.5]) if arrow == pa.float16() else pa.array(["1.50", "2.50"])
    cells = cells.cast(arrow)
    assert encode("a", pa.chunked_array([cells])).codes.tolist() == [0, 1]


def test_labels():
    cells = pa.chunked_array([[dt.datetime(2020, 1, 1, 5), dt.datetime(2020, 1, 1, 5, 0, 0, 120), None]])
    labels = encode("a", cells).column.labels().to_pylist()
    assert labels == ["2020-01-01T05:00:00", "2020-01-01T05:00:00.00012", None]
    column = encode("a", pa.chunked_array([[decimal.Decimal("1.50")]])).column
    assert column.labels().to_pylist() == ["1.50"]
    times = encode("a", pa.chunked_array([[dt.time(10), dt.time(10, 0, 0, 5000)]])).column
    assert times.labels().to_pylist() == ["10:00:00", "10:00:00.005"]
