"""Files of the statistics packages: what goes in comes out, or is refused by name before anything is written."""

from datetime import date, datetime

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples

import shoal
from shoal.errors import ReadError, WriteError
from shoal.table.about import About
from shoal.table.formats import labelled

pyreadstat = pytest.importorskip("pyreadstat", reason="SAS, SPSS and Stata are read by pyreadstat: shoal[statistics]")


def whole(moment):
    return moment.replace(microsecond=0, year=1600 + moment.year % 600, day=min(moment.day, 28))


SUFFIXES = (".sav", ".zsav", ".dta", ".xpt")
TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=12)
COLUMNS = st.one_of(
    st.lists(st.none() | TEXT, min_size=4, max_size=4),
    st.lists(st.none() | st.integers(-(2**60), 2**60) | st.integers(-9, 9), min_size=4, max_size=4),
    st.lists(st.none() | st.floats(allow_nan=False), min_size=4, max_size=4),
    st.lists(st.none() | st.dates(date(1600, 1, 1), date(2200, 1, 1)), min_size=4, max_size=4),
    st.lists(st.none() | st.booleans(), min_size=4, max_size=4),
    st.lists(st.none() | st.datetimes(datetime(1600, 1, 1), datetime(2200, 1, 1)), min_size=4, max_size=4),
    st.lists(st.none() | st.datetimes().map(whole), min_size=4, max_size=4),
)


@pytest.mark.parametrize("suffix", SUFFIXES)
@examples(80)
@given(cells=COLUMNS)
def test_equal_values_come_back_or_the_column_is_refused(tmp_path_factory, suffix, cells):
    path = tmp_path_factory.mktemp("t") / f"t{suffix}"
    table = shoal.read({"a": cells, "b": [1, 2, 3, 4]})
    try:
        shoal.write(table, path)
    except WriteError as refused:
        assert "'a'" in str(refused)
        assert not path.exists()
        return
    back = shoal.read(path)
    assert back.to_arrow().column("a").to_pylist() == table.to_arrow().column("a").to_pylist()
    assert back.to_arrow().column("b").to_pylist() == [1, 2, 3, 4]


LABELS = {"sex": About("sex at birth", {1: "female", 2: "male", 9: "unknown"}), "dx": About("diagnosis")}
DATA = {"sex": [1, 2, 2, 1, 9, 2], "dx": ["flu", "ms", "ms", "flu", "gout", "ms"], "age": [31, 34, 38, 71, 72, 78]}


@pytest.mark.parametrize("suffix", [".sav", ".zsav", ".dta"])
def test_labels_are_kept(tmp_path, suffix):
    table = shoal.read(DATA).described(LABELS)
    shoal.write(table, tmp_path / f"t{suffix}")
    assert shoal.read(tmp_path / f"t{suffix}").source.about == LABELS


def test_a_transport_file_keeps_labels_of_variables(tmp_path):
    shoal.write(shoal.read(DATA).described(LABELS), tmp_path / "t.xpt")
    back = shoal.read(tmp_path / "t.xpt")
    assert back.source.about == {"sex": About("sex at birth"), "dx": About("diagnosis")}
    assert back.to_arrow().to_pydict() == DATA


def test_a_release_has_no_labels_of_values_that_are_gone(tmp_path):
    shoal.write(shoal.read(DATA).described(LABELS), tmp_path / "t.sav")
    policy = shoal.Policy.parse(
        'version = 1\ncolumns.age = { role = "quasi", hierarchy = { kind = "interval", widths = [40] } }\n'
        'columns.dx = "insensitive"\ncolumns.sex = "sensitive"\n'
        'require = [{ model = "k-anonymity", k = 3 }]\nsearch = { suppression = 0.5 }\n'
    )
    gone = shoal.read({"sex": [1, 2, 2, 1], "dx": list("abcd"), "age": [31, 34, 38, 99]})
    shoal.write(gone.described(LABELS), tmp_path / "four.sav")
    release = shoal.anonymize(shoal.read(tmp_path / "four.sav"), policy)
    assert release.suppressed == 1
    release.save(tmp_path / "out.sav")
    back = shoal.read(tmp_path / "out.sav")
    assert back.records == 3
    assert back.source.about["sex"] == About("sex at birth", {1: "female", 2: "male"})  # nobody is 9
    assert set(back["age"].values.to_pylist()) == {"0-39"}


@pytest.mark.parametrize(
    ("column", "says"),
    [
        ({"long": [2**60, 1]}, "whole numbers greater than 9,007"),
        ({"blank": ["", "a"]}, "empty text"),
        ({"a b": [1, 2]}, "its name must be letters"),
        ({"x" * 65: [1, 2]}, "its name must be letters"),
        ({"far": [float("inf"), 1.5]}, "too large"),
        ({"text": ["a" * 40_000, "b"]}, "bytes"),
    ],
)
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_would_be_lost_is_refused_by_name(tmp_path, suffix, column, says):
    with pytest.raises(WriteError, match=says) as refused:
        shoal.write(shoal.read(column), tmp_path / f"t{suffix}")
    assert f"'{next(iter(column))}'" in str(refused.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".sas7bdat", ".por"])
def test_damaged_files(tmp_path, suffix):
    (tmp_path / f"t{suffix}").write_bytes(b"no such file at all" * 100)
    with pytest.raises(ReadError, match="is not a .* file, or is damaged"):
        shoal.read(tmp_path / f"t{suffix}")


def test_sas_tables_are_only_read(tmp_path):
    with pytest.raises(WriteError, match="can only be read"):
        shoal.write(shoal.read(DATA), tmp_path / "t.sas7bdat")


def test_missing_of_all_kinds(tmp_path):
    table = shoal.read({"n": [None, 1.5], "t": [None, "a"], "d": [None, date(2020, 2, 29)], "b": [None, True]})
    for suffix in (".sav", ".dta"):
        shoal.write(table, tmp_path / f"t{suffix}")
        assert shoal.read(tmp_path / f"t{suffix}").to_arrow().to_pydict() == table.to_arrow().to_pydict()


def test_values_that_a_file_marks_as_missing_are_told(tmp_path):
    import polars as pl
    import pyreadstat

    pyreadstat.write_sav(pl.DataFrame({"age": [34.0, 99.0, 71.0]}), tmp_path / "t.sav", missing_ranges={"age": [99]})
    table = shoal.read(tmp_path / "t.sav")
    assert table.to_arrow().column("age").to_pylist() == [34, None, 71]
    assert table.source.notes == ("Values that the file declares as missing were read as missing in 'age'.",)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_same_table_gives_the_same_bytes(tmp_path, suffix):
    table = shoal.read(DATA).described(LABELS)
    shoal.write(table, tmp_path / f"one{suffix}")
    written = (tmp_path / f"one{suffix}").read_bytes()
    assert f"{datetime.now():%Y}".encode() not in written  # such files tell when they were written
    assert f"{datetime.now():%b %y}".encode() not in written
    assert f"{datetime.now():%b%y}".upper().encode() not in written
    assert shoal.read(tmp_path / f"one{suffix}").to_arrow().to_pydict() == DATA


def test_labels_of_kinds_of_missing():
    """Stata names its kinds of missing by letters, and labels them beside the values."""
    labels = {1.0: "yes", "a": "refused"}
    assert labelled._column([pa.array([1.0, None, 2.0])], labels).to_pylist() == [1, None, 2]
    assert labelled._about("", labels) == About("", {1: "yes", "a": "refused"})


@pytest.mark.parametrize(
    ("values", "labels", "kept"),
    [
        (["x", "y"], {"x": "a text", "y": "another"}, {}),  # Stata labels no text
        ([1.0, 2.5], {1.0: "whole", 2.5: "not whole"}, {1: "whole"}),
        ([1, 2**31], {1: "small", 2**31: "beyond 32 bits"}, {1: "small"}),
        ([1, 2**31 - 28], {1: "small", 2**31 - 28: "the largest"}, {1: "small", 2**31 - 28: "the largest"}),
    ],
)
def test_labels_that_stata_cannot_hold_are_dropped_and_values_kept(values, labels, kept, tmp_path):
    """A file of SPSS with such labels could not be written for Stata at all."""
    frame = pl.DataFrame({"a": values})
    name = "ü" * 100
    pyreadstat.write_sav(frame, str(tmp_path / "a.sav"), variable_value_labels={"a": labels}, column_labels={"a": name})
    shoal.write(shoal.read(tmp_path / "a.sav"), tmp_path / "a.dta")
    table = shoal.read(tmp_path / "a.dta")
    assert table.to_frame("polars")["a"].to_list() == values
    assert dict(table.source.about["a"].values) == kept
    assert table.source.about["a"].label == "ü" * 80


def test_names_with_accents_are_refused_for_sas(tmp_path):
    with pytest.raises(WriteError, match="Column 'größe' cannot be written as sas: its name must be letters without"):
        shoal.write(shoal.read({"größe": [1, 2]}), tmp_path / "a.xpt")
