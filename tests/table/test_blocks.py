"""Columns that come block by block are encoded as whole ones are."""

import datetime as dt
import decimal
import math

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.table.blocks import encode_blocks
from shoal.table.encoding import encode
from shoal.table.options import Options

CELLS = {
    pa.string(): st.sampled_from(["", "a", "ä", "NA", "*", "zz" * 20]),
    pa.dictionary(pa.int8(), pa.string()): st.sampled_from(["b", "a", "NA", "*"]),
    pa.dictionary(pa.int8(), pa.string(), ordered=True): st.sampled_from(["low", "high", "mid"]),
    pa.dictionary(pa.int8(), pa.int64()): st.integers(-2, 2),
    pa.int8(): st.integers(-128, 127),
    pa.int64(): st.sampled_from([-(2**63), -1, 0, 1, 2**63 - 1]),
    pa.uint64(): st.sampled_from([0, 1, 2**64 - 1]),
    pa.float32(): st.sampled_from([0.0, -0.0, 1.5, -1e30, math.inf, math.nan]),
    pa.float64(): st.sampled_from([0.0, -0.0, 0.1, -1e300, -math.inf, math.nan]),
    pa.bool_(): st.booleans(),
    pa.date32(): st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1)),
    pa.date64(): st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1)),
    pa.timestamp("us"): st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1)),
    pa.timestamp("s", "UTC"): st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1)).map(
        lambda moment: moment.replace(microsecond=0, tzinfo=dt.UTC)
    ),
    pa.time32("s"): st.times().map(lambda time: time.replace(microsecond=0)),
    pa.decimal128(5, 2): st.integers(-999, 999).map(lambda number: decimal.Decimal(number).scaleb(-2)),
}


@pytest.mark.parametrize("arrow", CELLS, ids=str)
@given(data=st.data())
def test_as_a_whole(arrow, data):
    blocks = data.draw(st.lists(st.lists(st.none() | CELLS[arrow], max_size=5), min_size=1, max_size=4))
    arrays = [pa.array(block, arrow) for block in blocks]
    for options in (Options(), Options(suppressed="*", markers=("NA",)), Options(text=("x",))):
        whole = encode("x", pa.chunked_array(arrays, arrow), options)
        column, parts = encode_blocks("x", arrow, iter(arrays), options)
        assert column.kind is whole.column.kind
        assert column.values.equals(whole.column.values.cast(column.values.type))
        assert (column.missing, column.suppressed) == (whole.column.missing, whole.column.suppressed)
        codes = [code for part in parts for code in part.tolist()]
        assert codes == whole.codes.tolist()


def test_unused_entries_of_a_dictionary_are_no_values():
    block = pa.DictionaryArray.from_arrays(pa.array([1, None, 1]), pa.array(["unused", "used"]))
    column, _ = encode_blocks("x", block.type, iter([block]))
    assert column.values.to_pylist() == ["used"]
    assert column.missing
