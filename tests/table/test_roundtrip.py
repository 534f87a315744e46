"""What is written comes back equal, or is refused before anything is written."""

import datetime as dt
import decimal
import re
import string

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples, pairwise

import shoal
from shoal.errors import WriteError
from shoal.table.formats.format import FORMATS
from shoal.table.formats.labelled import Labelled

STATISTICS = sorted(held.writes[0] for held in FORMATS.values() if isinstance(held, Labelled))  # names of their own
SUFFIXES = sorted(({held.writes[0] for held in FORMATS.values() if held.writes} | {".tsv"}) - {*STATISTICS})
ALL = pytest.mark.parametrize("suffix", SUFFIXES)
EVERY = pytest.mark.parametrize("suffix", [*SUFFIXES, *STATISTICS])

PLAIN = {
    "näme": ["Ä, b; c", 'x"y', "", None, "1e5", "a\nb", "=SUM(A1)", "  x\t"],
    "digits": ["1", "2", None, "4", "5", "5", "5", "5"],
    "postcode": ["01234", "99999", "00000", "1", None, "2", "3", "4"],
    "integer": [1, 2, None, -4, 5, 2**53 - 1, 0, 7],
    "number": [1.0, 2.5, None, 1e-7, 3.0, 123456.789, -0.1, 0.0],
    "date": [dt.date(2020, 1, 2), None, dt.date(1950, 12, 31), *[dt.date(2000, 2, 29)] * 4, dt.date(2199, 1, 1)],
    "moment": [dt.datetime(2020, 1, 2, 3, 4, 5), None, *[dt.datetime(2020, 1, 2, 23, 59, 59, 123000)] * 6],
    "flag": [True, False, None, True, True, False, True, True],
    "empty": pa.nulls(8, pa.string()),
    "markers": ["NA", "x", None, "NULL", "?", "-", ".", "nan"],
}


def both(table, path, **options):
    """Write and read; return the records before and after."""
    shoal.write(table, path, **options)
    return table.to_arrow().to_pydict(), shoal.read(path).to_arrow().to_pydict()


@ALL
def test_a_table_with_everything(tmp_path, suffix, kernels):
    table = shoal.read(PLAIN)
    before, after = both(table, tmp_path / f"t{suffix}")
    assert after == before
    assert [column.kind for column in shoal.read(tmp_path / f"t{suffix}").columns] == [
        column.kind for column in table.columns
    ]


@ALL
def test_the_same_table_gives_the_same_bytes(tmp_path, suffix):
    for name in "ab":
        shoal.write(shoal.read(PLAIN), tmp_path / f"{name}{suffix}")
    assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()


AWKWARD = {
    "text that looks like a date": pa.array(["2020-01-01", None]),
    "text that looks like a number": pa.array(["1.5", "2"]),
    "text that looks like true": pa.array(["true", "false"]),
    "integers beyond 2^53": pa.array([2**53 + 1, 2**62]),
    "unsigned integers beyond 2^63": pa.array([2**63 + 1, 1], pa.uint64()),
    "numbers beyond 2^53": pa.array([1e300, 1.5]),
    "infinity": pa.array([float("inf"), 1.5]),
    "time of day": pa.array([dt.time(10, 0), dt.time(23, 59, 59, 5)]),
    "old dates": pa.array([dt.date(1800, 1, 1), dt.date(1, 1, 1)]),
    "midnights": pa.array([dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 2)]),
    "microseconds": pa.array([dt.datetime(2020, 1, 1, 0, 0, 0, 1), None]),
    "nanoseconds": pa.array([1_600_000_000_000_000_001, None], pa.timestamp("ns")),
    "utc": pa.array([dt.datetime(2020, 1, 1, 5), None], pa.timestamp("us", "UTC")),
    "zoned": pa.array([dt.datetime(2020, 1, 1, 5), None], pa.timestamp("us", "Europe/Berlin")),
    "decimals": pa.array(["1.50", "2.25"]).cast(pa.decimal128(10, 2)),
    "long text": pa.array(["x" * 40_000, "y"]),
    "control characters": pa.array(["a\x00b", "c\x1bd"]),
    "carriage returns": pa.array(["a\r\nb", "c\rd"]),
    "spaces": pa.array([" ", "  a "]),
    "escapes": pa.array(["_x0041_", "b"]),
    "only the empty text": pa.array(["", ""]),
    "categories like numbers": pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["2", "1"]), ordered=True),
    "categories like dates": pa.DictionaryArray.from_arrays(
        pa.array([0, 1]), pa.array(["2020-01-01", "2019-01-01"]), ordered=True
    ),
    "ordered numbers": pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array([2, 1]), ordered=True),
    "a name, with a comma": pa.array(["1", "2"]),
    "seventeen digits": pa.array([0.30000000000000004, 1.5]),
    "small integers": pa.array([1, None], pa.int8()),
    "single precision": pa.array([1.5, None], pa.float32()),
}


def _plain(value):
    """Decimals come back as numbers from formats that have no decimals."""
    return float(value) if isinstance(value, decimal.Decimal) else value


@EVERY
@pytest.mark.parametrize("awkward", AWKWARD)
def test_equal_or_refused(tmp_path, suffix, awkward):
    """Values that some formats cannot hold: never changed in silence."""
    name = re.sub(r"\W+", "_", awkward) if suffix in STATISTICS else awkward
    table = shoal.read({name: AWKWARD[awkward], "x": ["a", "b"]})
    path = tmp_path / f"t{suffix}"
    try:
        before, after = both(table, path)
    except WriteError as error:
        assert f"'{name}'" in error.message
        assert list(tmp_path.iterdir()) == []
        assert suffix not in {".parquet", ".feather"}
    else:
        assert [type(_plain(v)) for v in after[name]] == [type(_plain(v)) for v in before[name]]
        assert [_plain(v) for v in after[name]] == [_plain(v) for v in before[name]]


@ALL
@given(
    cells=st.lists(
        st.none() | st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn")) | st.sampled_from("\n\t\"',;")),
        min_size=1,
        max_size=8,
    )
)
@examples(40)
def test_any_text(tmp_path, suffix, cells):
    table = shoal.read({"a": pa.array(cells, pa.string()), "b": ["x"] * len(cells)})
    before, after = both(table, tmp_path / f"t{suffix}", force=True)
    assert after == before


@given(cells=st.lists(st.none() | st.text(string.digits + "-.eNA ", max_size=8), min_size=1, max_size=8))
def test_text_like_numbers_through_csv(tmp_path, cells):
    table = shoal.read({"a": pa.array(cells, pa.string()), "b": ["x"] * len(cells)})
    before, after = both(table, tmp_path / "t.csv", force=True)
    assert after == before


@given(cells=st.lists(st.none() | st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8))
def test_any_number_through_csv(tmp_path, cells):
    table = shoal.read({"a": pa.array(cells, pa.float64())})
    before, after = both(table, tmp_path / "t.csv", force=True)
    assert after == before


@EVERY
@pytest.mark.parametrize("rows", [0, 1])
def test_few_rows(tmp_path, suffix, rows):
    table = shoal.read({"a": pa.array(["x"][:rows], pa.string()), "b": pa.array(["y"][:rows], pa.string())})
    if suffix == ".jsonl" and rows == 0:
        with pytest.raises(WriteError, match="would lose its columns"):
            shoal.write(table, tmp_path / "t.jsonl")
        return
    before, after = both(table, tmp_path / f"t{suffix}")
    assert after == before


def test_ordered_categories_keep_their_order(tmp_path):
    grades = pa.DictionaryArray.from_arrays(pa.array([1, 0, None]), pa.array(["mild", "severe", "never"]), ordered=True)
    table = shoal.read({"grade": grades})
    assert table["grade"].values.to_pylist() == ["mild", "severe"]
    for suffix in (".parquet", ".feather"):
        shoal.write(table, tmp_path / f"t{suffix}")
        column = shoal.read(tmp_path / f"t{suffix}")["grade"]
        assert (column.kind, column.values.to_pylist()) == ("category", ["mild", "severe"])


@EVERY
def test_records_without_any_value(tmp_path, suffix):
    """A last record that is all missing must not get lost."""
    table = shoal.read({"a": [None, 1, None], "b": [None, "x", None]})
    try:
        before, after = both(table, tmp_path / f"t{suffix}")
    except WriteError as error:
        assert suffix == ".xlsx"
        assert "last record is empty" in error.message
    else:
        assert after == before


@EVERY
def test_suppressed_cells_come_back_as_such(tmp_path, suffix):
    table = shoal.read({"a": ["1", "*", None], "b": ["x", "*", "y"], "c": ["z", "z", "z"]}, suppressed="*")
    shoal.write(table, tmp_path / f"t{suffix}")
    again = shoal.read(tmp_path / f"t{suffix}", suppressed="*")
    assert again.to_arrow().to_pydict() == table.to_arrow().to_pydict()
    assert [column.suppressed for column in again.columns] == [True, True, False]


@pytest.mark.parametrize("name", ["t.csv.gz", "t.xls", "t.ods", "t.xlsb"])
def test_what_can_only_be_read(tmp_path, name):
    with pytest.raises(WriteError, match="can only be read"):
        shoal.write(shoal.read({"a": [1]}), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_replaced_file_keeps_its_mode_and_its_link(tmp_path):
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    real.write_text("old")
    real.chmod(0o600)
    link.symlink_to(real)
    shoal.write(shoal.read({"a": [1]}), link, force=True)
    assert link.is_symlink()
    assert real.read_text() == "a\n1\n"
    assert real.stat().st_mode & 0o777 == 0o600


NAMES = ["d;e", "d,e", "d|e", "d\te", "\ufeffz", "sep=;", "=x", " x ", '"q"', "2023", "a\nb"]


@pairwise(suffix=SUFFIXES, name=NAMES, cells=[["a;b", "c,d"], [None, "x"], ["1|2", "3"]])
def test_odd_names_and_lone_columns(tmp_path, suffix, name, cells):
    for table in (shoal.read({name: cells}), shoal.read({name: cells, "other": ["p", "q"]})):
        try:
            before, after = both(table, tmp_path / f"t{suffix}", force=True)
        except WriteError as error:
            assert name == "2023"
            assert "look like data" in error.message
        else:
            assert after == before


def test_excel_safe_csv(tmp_path):
    """Formula-like text is made harmless on request only; numbers stay numbers."""
    table = shoal.read({"=a": ["=1+1", "@x", "+4", "-5 dollars", "fine"], "b": [-1, 2, 3, 4, 5]})
    shoal.write(table, tmp_path / "plain.csv")
    shoal.write(table, tmp_path / "safe.csv", excel_safe=True)
    assert (tmp_path / "plain.csv").read_text() == "=a,b\n=1+1,-1\n@x,2\n+4,3\n-5 dollars,4\nfine,5\n"
    assert (tmp_path / "safe.csv").read_text() == "'=a,b\n'=1+1,-1\n'@x,2\n'+4,3\n'-5 dollars,4\nfine,5\n"


def test_formulas_stay_text_in_excel(tmp_path):
    shoal.write(shoal.read({"a": ["=1+1", "http://x"]}), tmp_path / "t.xlsx")
    assert shoal.read(tmp_path / "t.xlsx").to_arrow().to_pydict() == {"a": ["=1+1", "http://x"]}


def test_nothing_is_overwritten_unasked(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("precious")
    with pytest.raises(WriteError, match="already exists"):
        shoal.write(shoal.read({"a": [1]}), path)
    assert path.read_text() == "precious"
    shoal.write(shoal.read({"a": [1]}), path, force=True)
    assert path.read_text() == "a\n1\n"


def test_a_failed_run_leaves_nothing(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("old")

    def fail(progress):
        raise shoal.errors.Cancelled("stopped", "Stopped.")

    with pytest.raises(shoal.errors.Cancelled):
        shoal.write(shoal.read({"a": [1, 2]}), path, force=True, progress=fail)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_no_folder(tmp_path):
    with pytest.raises(WriteError, match="no folder"):
        shoal.write(shoal.read({"a": [1]}), tmp_path / "none" / "t.csv")


def test_a_star_would_mean_two_things(tmp_path):
    table = shoal.read({"a": ["*", "x", "-"], "b": [1, 2, 3]}, suppressed="-")
    with pytest.raises(WriteError, match="'a'"):
        shoal.write(table, tmp_path / "t.csv")
