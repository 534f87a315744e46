"""The share of its domain that a label covers, from labels alone, against a count of the values it covers."""

from datetime import date, timedelta
from pathlib import Path

import pytest

import shoal
from shoal.hierarchy.date import UNITS, Date
from shoal.hierarchy.explicit import Explicit
from shoal.hierarchy.frequency import Frequency
from shoal.hierarchy.interval import Interval
from shoal.hierarchy.spec import bind
from shoal.hierarchy.spread import of_dates, of_numbers


@pytest.mark.parametrize("width", [5, 10, 25])
def test_intervals_cover_as_many_integers_as_are_counted(width):
    """All integers of whole intervals: the width relative to the range is (m − 1) / (d − 1)."""
    ages = list(range(100))
    labels = bind(Interval(widths=[width]), shoal.read({"age": ages}), "age").labels(1).to_pylist()
    distinct = sorted(set(labels))
    expected = [(labels.count(label) - 1) / 99 for label in distinct]
    assert of_numbers(distinct) == pytest.approx(expected)


@pytest.mark.parametrize("unit", UNITS)
def test_periods_cover_as_many_days_as_are_counted(unit):
    days = [date(2000, 1, 1) + timedelta(day) for day in range((date(2019, 12, 31) - date(2000, 1, 1)).days + 1)]
    labels = bind(Date(units=[unit]), shoal.read({"day": days}), "day").labels(1).to_pylist()
    distinct = sorted(set(labels))
    counts = {label: labels.count(label) for label in distinct} if unit != "day" else dict.fromkeys(distinct, 1)
    expected = [(counts[label] - 1) / (len(days) - 1) for label in distinct]
    assert of_dates(distinct) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["[0, 5)", "[5, 10)"], [0.5, 0.5]),
        (["<20", "20-39", "40+"], [19 / 58] * 3),  # an open end is as far as the widest interval is wide
        (["<40", "90+", "60"], [1, 1, 0]),  # no interval to compare with
        (["90+"], [1]),
        (["7"], [0]),
        (["7", "about 8"], None),
        (["2019-05", "2019-06"], None),  # years and months are no intervals
        ([], None),
    ],
)
def test_numbers(labels, expected):
    found = of_numbers(labels)
    assert found is None if expected is None else found == pytest.approx(expected)


@pytest.mark.parametrize("label", ["2019-13", "0000", "soon", "2019-02-30"])
def test_texts_that_are_no_dates(label):
    assert of_dates([label, "2020"]) is None


def test_sides_of_dates():
    """The decade has 3,653 days from first to last; each side is as long, and begins one day beyond it."""
    assert of_dates(["before 1920", "1920-1929", "after 1929"]) == pytest.approx([3652 / (3 * 3652 + 2)] * 3)


def test_labels_on_several_levels_count_where_they_are_narrowest():
    spec = Explicit(values={"a": ["x", "x"], "b": ["x", "x"], "c": ["c", "x"]})
    assert spec.spread(["x", "c"], Path()).tolist() == [0.5, 0]
    assert spec.spread(["x", "strange"], Path()) is None


def test_frequencies_depend_on_the_original_if_categories_are_merged():
    assert Frequency(keep=[2]).spread(["flu", "other"], Path()) is None
    assert Frequency(keep=[5, 2]).spread(["flu", "other (not in top 2)"], Path()) is None
    assert Frequency(keep=[2]).spread(["flu", "ms"], Path()).tolist() == [0, 0]
