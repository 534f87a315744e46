"""Recodings of foreign tables: what texts mean, which record is which, and what is reported."""

from datetime import date, datetime, timedelta
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.analyses.comparison import Fates
from shoal.errors import RecodingError
from shoal.recoding.matching import match
from shoal.recoding.meaning import Meanings
from shoal.recoding.nodes import Domain, Fate
from shoal.recoding.placing import ROUNDED, UNTRUE

AGES = [5, 19, 20, 21, 25, 29, 30, 38, 40, 64, 90, 101]


def meant(values, text, hierarchy=None):
    """The values that a text could stand for, in its first reading."""
    table = shoal.read({"x": values})
    ladder = (
        shoal.Policy.parse(f'version = 1\ncolumns.x = {{ role = "quasi", hierarchy = {hierarchy} }}').hierarchies(
            table
        )["x"]
        if hierarchy
        else None
    )
    readings = [one for one in Meanings(Domain.of(table["x"], ladder)).of(text) if len(one.codes)]
    held = table["x"].values.to_pylist()
    return [held[code] for code in readings[0].codes] if readings else None


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("[20, 30[", 20, 29),
        ("[20, 30)", 20, 29),
        ("[20-30)", 20, 29),
        ("(20, 30]", 21, 30),
        ("]20, 30]", 21, 30),
        ("[20; 30]", 20, 30),
        ("20-29", 20, 29),
        ("20–29", 20, 29),
        ("20 - 29", 20, 29),
        ("20 to 29", 20, 29),
        ("20..29", 20, 29),
        ("<40", 0, 39),
        ("< 40", 0, 39),
        ("<=40", 0, 40),
        ("≤40", 0, 40),
        (">90", 91, 200),
        (">=90", 90, 200),
        ("≥ 90", 90, 200),
        ("90+", 90, 200),
        ("2*", 20, 29),
        ("{20, 21, 25, 29}", 20, 29),
    ],
)
def test_intervals_of_ages(text, low, high):
    wanted = [age for age in AGES if low <= age <= high]
    assert meant(AGES, text) == wanted
    assert meant([float(age) for age in AGES], text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("476**", ["47601", "47677"]),
        ("47*01", ["47601", "47901"]),
        ("4***1", ["47601", "47901"]),
        ("476*", ["47601", "47677"]),
        ("476xx", ["47601", "47677"]),
        ("476##", ["47601", "47677"]),
        ("9*", None),
        ("{47601, 02139}", ["02139", "47601"]),
        ("{47601,99999}", ["47601"]),
        ("old", None),
    ],
)
def test_masks_and_sets_of_codes(text, wanted):
    assert meant(["47601", "47677", "47901", "02139"], text) == wanted


DAYS = [date(1958, 5, 17), date(1958, 5, 31), date(1958, 6, 1), date(1958, 12, 31), date(1961, 1, 1), date(2020, 2, 29)]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1958", DAYS[:4]),
        ("1958-05", DAYS[:2]),
        ("1958-Q2", DAYS[:3]),
        ("1958-Q4", DAYS[3:4]),
        ("1958-12", DAYS[3:4]),
        ("2020-02-29", DAYS[5:]),
        ("1950-1959", DAYS[:4]),
        ("1950–1961", DAYS[:5]),
        ("> 2019", DAYS[5:]),
        (">=1961", DAYS[4:]),
        ("before 1961", DAYS[:4]),
        ("after 1958", DAYS[4:]),
        ("<=1958", DAYS[:4]),
        ("1961+", DAYS[4:]),
        ("1958-13", None),
        ("1958-02-31", None),
        ("9999", None),
    ],
)
def test_dates_that_were_cut(text, wanted):
    assert meant(DAYS, text) == wanted
    moments = [datetime(day.year, day.month, day.day, 23, 59) for day in DAYS]
    got = meant(moments, text)
    assert (got and [moment.date() for moment in got]) == wanted


@pytest.mark.parametrize(
    ("hierarchy", "values", "text", "wanted"),
    [
        ('{ kind = "icd10" }', ["E10.1", "E11.65", "I21"], "E10-E14", ["E10.1", "E11.65"]),
        ('{ kind = "icd10" }', ["E10.1", "E11.65", "I21"], "IV", ["E10.1", "E11.65"]),
        ('{ kind = "frequency", keep = [1] }', ["a", "a", "b", "c"], "other", ["b", "c"]),
        ('{ kind = "date", earliest = 1960 }', DAYS, "before 1960", DAYS[:4]),
        ('{ kind = "order", sizes = [2], order = ["lo", "mid", "hi", "top"] }', ["lo", "hi", "top"], "hi to top",
         ["hi", "top"]),
    ],
)  # fmt: skip
def test_labels_of_hierarchies(hierarchy, values, text, wanted):
    assert meant(values, text, hierarchy) == wanted


@given(
    values=st.lists(st.integers(0, 60), min_size=2, max_size=30),
    cuts=st.sets(st.integers(1, 60), max_size=5),
    style=st.sampled_from(
        ["[{a}, {b}[", "[{a}-{b})", "{a}-{last}", "{a}–{last}", "]{before}; {last}]", "[{a};{last}]"]
    ),
)
def test_partitions_come_back(values, cuts, style):
    """Intervals in any way of writing stand for just the values that are in them."""
    edges = [0, *sorted(cuts), 61]
    spans = [next((a, b) for a, b in pairwise(edges) if a <= value < b) for value in values]
    texts = [style.format(a=a, b=b, last=b - 1, before=a - 1) for a, b in spans]
    found = shoal.compare({"x": values}, {"x": texts})
    column = found.recoding["x"]
    held = column.domain.column.values.to_pylist()
    for row, (code, node) in enumerate(zip(column.codes, column.at, strict=True)):
        a, b = next(span for span, value in zip(spans, values, strict=True) if value == held[code])
        assert [held[one] for one in column.nodes.members(node)] == sorted({v for v in values if a <= v < b}), row
    assert not found.remarks


# --- what the records were decides --------------------------------------------------------------------------------


def test_an_end_that_two_intervals_share_is_where_its_records_are():
    """Menten's files write 18-40 and 40-69."""
    found = shoal.compare({"age": [18, 39, 40, 69]}, {"age": ["18-40", "18-40", "40-69", "40-69"]})
    members = {found.recoding["age"].nodes.labels[2]: found.recoding["age"].nodes.members(6).tolist()}
    assert members == {"18-40": [0, 1]}
    assert found.quality["nue"].total.value == 4.0
    both = shoal.compare({"age": [18, 40, 40, 69]}, {"age": ["18-40", "18-40", "40-69", "40-69"]})
    assert [both.recoding["age"].nodes.members(5).tolist(), both.recoding["age"].nodes.members(6).tolist()] == [
        [0, 1],
        [1, 2],
    ]


def test_the_narrowest_reading_that_holds_all_records():
    """E11* is one more character, or any: its records tell."""
    one = shoal.compare({"x": ["E119", "E11.65", "E110"]}, {"x": ["E11*", "E11.65", "E11*"]})
    assert one.recoding["x"].nodes.leaves.tolist()[-1] == 2
    any_ = shoal.compare({"x": ["E119", "E11.65", "E110"]}, {"x": ["E11*", "E11*", "E11*"]})
    assert any_.recoding["x"].nodes.leaves.tolist()[-1] == 3


def test_beginnings_of_codes():
    found = shoal.compare({"x": ["SW1A 1AA", "SW1A 2BB", "N1 9GU"]}, {"x": ["SW1A", "SW1A", "N1 9GU"]})
    assert (found.columns["x"].coarser, found.columns["x"].kept, found.remarks) == (2, 1, ())


def test_a_text_that_cannot_be_read_is_reported_and_stands_for_its_records():
    found = shoal.compare({"bmi": [19.0, 22.5, 31.0]}, {"bmi": ["healthy", "healthy", "obese"]})
    (remark,) = found.remarks
    assert (remark.column, remark.texts, remark.records) == ("bmi", ("healthy", "obese"), 3)
    assert found.recoding["bmi"].nodes.leaves.tolist()[-2:] == [2, 1]


def test_an_interval_without_its_values_is_reported_and_widened():
    """Menten's files write 5.0-10.0 for 4.6."""
    found = shoal.compare({"edss": [1.0, 4.6, 4.6, 6.0]}, {"edss": ["0.0-4.5", *["5.0-10.0"] * 3]})
    (remark,) = found.remarks
    assert (remark.texts, remark.records) == (("5.0-10.0",), 2)
    assert found.columns["edss"].coarser == 4
    once = shoal.compare({"edss": [1.0, 4.6, 6.0]}, {"edss": ["0.0-4.5", "5.0-10.0", "5.0-10.0"]})
    assert once.columns["edss"].changed == 1  # a single record may just be wrong


def test_nonsense_intervals_are_no_intervals():
    """A file of pyCANON's writes [87, 38.248[."""
    found = shoal.compare({"x": [6.3, 38.2]}, {"x": ["[87, 38.248["] * 2})
    assert found.remarks[0].texts == ("[87, 38.248[",)


def test_swapped_values_are_changed_and_others_are_kept():
    found = shoal.compare({"sex": list("ffmm")}, {"sex": list("fmfm")}, in_order=True)
    assert found.columns["sex"] == Fates(kept=2, coarser=0, suppressed=0, changed=2)
    assert found.remarks[0].records == 2


def test_values_merged_into_another_are_coarser():
    """All rare values always show "other", which was a value before."""
    found = shoal.compare({"x": ["a", "a", "b", "other"]}, {"x": ["a", "a", "other", "other"]})
    assert (found.columns["x"].kept, found.columns["x"].coarser) == (2, 2)


@pytest.mark.parametrize(
    ("shown", "middle"), [([2.0, 2.0, 2.0], "mean"), ([1, 1, 1], "median"), ([2.5, 2.5, 2.5], "midpoint")]
)
def test_numbers_replaced_by_a_middle(shown, middle):
    found = shoal.compare({"x": [1, 1, 4]}, {"x": shown})
    assert (found.columns["x"].coarser, found.columns["x"].changed) == (3, 0), middle


def test_means_are_taken_as_they_are_written():
    found = shoal.compare({"x": [1, 1, 4]}, {"x": [2.0, 2.0, 2.0]})
    assert found.quality["squared-error"].total.value == pytest.approx(1)  # (1 + 1 + 4) / 6, not the middle 2.5
    assert found.study().features(["x"]).after.tolist() == [[2.0], [2.0], [2.0]]


def test_rounded_means():
    found = shoal.compare({"x": [1.0, 1.0, 2.0]}, {"x": ["1.33", "1.33", "1.33"]})
    assert found.columns["x"].coarser == 3


@pytest.mark.parametrize(
    ("shown", "unit"),
    [
        (lambda v: round(v / 10) * 10, 10),
        (lambda v: v // 5 * 5, 5),
        (lambda v: -(-v // 5) * 5, 5),
    ],
)
def test_rounded_numbers(shown, unit):
    """Rounded to the nearest, down or up: each number stands for an interval as wide as the unit."""
    values = [*range(21, 80, 2), 40, 42, 50]
    found = shoal.compare({"x": values}, {"x": [shown(value) for value in values]})
    assert found.columns["x"].changed == 0
    assert [remark.says for remark in found.remarks] == [ROUNDED]
    assert found.quality["loss-arithmetic"].total.value == pytest.approx(unit / 58, rel=0.25)


def test_rounded_decimals():
    values = [5.37, 5.42, 5.58, 6.01, 6.04]
    found = shoal.compare({"x": values}, {"x": [5.4, 5.4, 5.6, 6.0, 6.0]})
    assert found.columns["x"].coarser == 5


@pytest.mark.parametrize("far", [1, 2, 3, 10])
@pytest.mark.parametrize("rows", [40, 400, 4000])
def test_noise_is_untrue(far, rows):
    """Noise hits the mean of its records nearly everywhere; not at the ends."""
    rng = np.random.default_rng(far)
    values, noise = rng.integers(20, 90, rows), rng.integers(-far, far + 1, rows)
    found = shoal.compare({"x": values.tolist()}, {"x": (values + noise).tolist()})
    assert found.columns["x"] == Fates(int((noise == 0).sum()), 0, 0, int((noise != 0).sum()))
    assert [remark.says for remark in found.remarks] == [UNTRUE]


def test_small_noise_is_no_rounding():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 100_000, 3000)
    found = shoal.compare({"x": values.tolist()}, {"x": (values + rng.integers(0, 2, 3000)).tolist()})
    assert found.columns["x"].coarser == 0
    assert shoal.compare({"x": [10, 30, 55]}, {"x": ["10", "20", "50"]}).columns["x"].changed == 2


def test_swapped_numbers_are_changed():
    before, after = [20] * 6 + [40] * 6 + [60] * 6, [20] * 5 + [60] + [40] * 6 + [60] * 5 + [20]
    found = shoal.compare({"a": before}, {"a": after})
    assert found.columns["a"] == Fates(16, 0, 0, 2)
    assert found.quality["squared-error"].total.value == pytest.approx(2 * 1600 / (12 * 400))


@pytest.mark.parametrize("values", [2, 5, 11])
@pytest.mark.parametrize("rate", [0.01, 0.1, 0.5])
def test_categories_that_are_coded_as_numbers(values, rate):
    """0/1, ECOG 0-4, a score: swapped values are near the mean of their records by chance."""
    rng = np.random.default_rng(values)
    before = rng.integers(0, values, 1000)
    after = np.where(rng.random(1000) < rate, rng.integers(0, values, 1000), before)
    found = shoal.compare({"x": before.tolist(), "y": [1] * 1000}, {"x": after.tolist(), "y": [1] * 1000})
    assert found.columns["x"] == Fates(int((before == after).sum()), 0, 0, int((before != after).sum()))


def test_months_of_shifted_dates():
    """A month in which nobody was born is not unreadable: it is untrue."""
    days = [date(1950 + i % 40, 1 + i % 12, 1 + i % 28) for i in range(300)]
    moved = [(day + timedelta(days=2000)).strftime("%Y-%m") for day in days]
    assert shoal.compare({"d": days}, {"d": moved}, in_order=True).columns["d"].changed == 300
    wrong = ["60-69", "90-99", "20-29", "30-39", "80-89", "40-49", "50-59", "70-79"]
    found = shoal.compare({"a": [21, 32, 43, 54, 65, 76, 87, 98]}, {"a": wrong}, in_order=True)
    assert found.columns["a"].changed == 8


def test_months_next_to_the_right_one():
    rng = np.random.default_rng(0)
    days = [date(1940, 1, 1) + timedelta(days=int(by)) for by in rng.integers(0, 20_000, 400)]
    moved = [
        (day + timedelta(days=int(by))).strftime("%Y-%m")
        for day, by in zip(days, rng.integers(-40, 41, 400), strict=True)
    ]
    found = shoal.compare({"d": days, "x": [1] * 400}, {"d": moved, "x": [1] * 400}, quasi=["d"])
    false = sum(day.strftime("%Y-%m") != month for day, month in zip(days, moved, strict=True))
    assert found.columns["d"].changed >= 0.97 * false


def test_one_wrong_number_does_not_undo_rounding():
    values = list(range(20, 80)) * 5
    shown = [round(value / 10) * 10 for value in values]
    shown[7] = 90
    assert shoal.compare({"x": values}, {"x": shown}).columns["x"].changed == 1


def test_means_with_suppressed_cells():
    rng = np.random.default_rng(0)
    values = np.sort((rng.random(400) * 100).round(1))
    means = values.reshape(-1, 5).mean(axis=1).repeat(5).round(6)
    shown = ["*" if place % 33 == 0 else f"{mean:.6f}" for place, mean in enumerate(means.tolist())]
    found = shoal.compare({"x": values.tolist()}, {"x": shown})
    assert found.columns["x"].suppressed == 13
    assert found.columns["x"].changed <= 4  # those whose mean lies outside of what is left of its records


def test_imputed_numbers_are_changed():
    values = [None, None, 1.5, 2.5, 3.5, 7.0]
    found = shoal.compare({"x": values}, {"x": [5.5, 5.5, 1.5, 2.5, 3.5, 7.0]})
    assert found.columns["x"] == Fates(4, 0, 0, 2)


def test_rows_of_other_subjects_are_not_matched_by_position():
    before = {"id": [1, 1, 2, 2], "x": [1, 2, 3, 4]}
    after = {"id": [2, 2, 1, 1], "x": [3, 4, 1, 2]}
    found = shoal.compare(before, after, subject="id", quasi=["x"])
    assert found.matched == "by content"
    assert found.columns["x"] == Fates(4, 0, 0, 0)
    noisy = shoal.compare(before, {**after, "x": [3.5, 4.5, 1.5, 2.5]}, subject="id", quasi=["x"])
    assert noisy.matched is None
    assert not noisy.columns


def test_shifted_dates_are_changed():
    """A standard method; nothing of the date is true any more."""
    rng = np.random.default_rng(0)
    days = [date(1950 + i % 60, 1 + i % 12, 1 + i % 28) for i in range(500)]
    for shift in ([200] * 500, rng.integers(-30, 31, 500).tolist()):
        moved = [day + timedelta(days=by) for day, by in zip(days, shift, strict=True)]
        found = shoal.compare({"d": days, "x": [1] * 500}, {"d": moved, "x": [1] * 500}, quasi=["d"])
        assert found.columns["d"].changed == sum(by != 0 for by in shift)
        assert found.quality["squared-error"].total.value > 0


@pytest.mark.parametrize("to", [{"day": 1}, {"day": 15}, {"month": 7, "day": 1}])
def test_dates_moved_to_one_day_of_the_month_or_year(to):
    days = [*(date(1950 + i, 1 + i % 12, 3 + i % 20) for i in range(30)), date(1950, 1, 9)]
    found = shoal.compare({"d": days}, {"d": [day.replace(**to) for day in days]})
    assert found.columns["d"].changed == 0
    assert found.columns["d"].coarser >= 30


def test_moments_are_cut_in_their_own_time_zone():
    moments = pa.array([datetime(2000, 1, 1, 7), datetime(2000, 1, 1, 9)], pa.timestamp("s", "America/Los_Angeles"))
    before = pa.table({"t": moments, "x": [1, 2]})
    found = shoal.compare(before, {"t": ["1999", "2000"], "x": [1, 2]}, quasi=["t"])
    assert found.columns["t"].coarser == 2
    assert not found.remarks


def test_days_and_moments_are_the_same_at_midnight():
    days, moments = [date(2000, 1, 1), date(2000, 1, 2)], [datetime(2000, 1, 1), datetime(2000, 1, 2)]
    assert shoal.compare({"d": days}, {"d": moments}).columns["d"].kept == 2
    assert shoal.compare({"d": moments}, {"d": days}).columns["d"].kept == 2


def test_swaps_are_seen_with_a_hierarchy_too():
    ladder = {"kind": "explicit", "values": {value: ["any"] for value in "ab"}}
    found = shoal.compare({"x": list("aabb")}, {"x": list("abab")}, hierarchies={"x": ladder}, in_order=True)
    assert found.columns["x"] == Fates(2, 0, 0, 2)


def test_false_intervals_are_changed_for_those_they_are_false_for():
    rng = np.random.default_rng(0)
    tens = rng.integers(2, 9, 2000)
    ages, shown = (tens * 10 + rng.integers(0, 10, 2000)).tolist(), tens.copy()
    shown[::100] = rng.integers(2, 9, 20)
    found = shoal.compare({"age": ages}, {"age": [f"{ten}0-{ten}9" for ten in shown.tolist()]})
    assert found.columns["age"].changed == (tens != shown).sum() > 10
    shuffled = {"age": [f"{ten}0-{ten}9" for ten in rng.permutation(tens).tolist()]}
    assert shoal.compare({"age": ages}, shuffled).columns["age"] == Fates(0, 2000, 0, 0)
    assert shoal.compare({"age": ages}, shuffled, in_order=True).columns["age"].changed > 1000


def test_false_intervals_of_values_that_occur_once():
    rng = np.random.default_rng(0)
    values = rng.random(1000).round(6)
    tens = (values * 10).astype(int)
    shown = tens.copy()
    shown[::50] = rng.integers(0, 10, 20)
    texts = [f"[{ten / 10:.1f}, {ten / 10 + 0.1:.1f})" for ten in shown.tolist()]
    found = shoal.compare({"x": values.tolist()}, {"x": texts})
    assert found.columns["x"].changed == (tens != shown).sum() > 10


def test_suppressed_records_do_not_make_values_unsteady():
    """4.6 always shows 5.0-10.0 where it shows anything."""
    before = [1.0, 4.6, 6.0] * 4
    after = ["0.0-4.5", "5.0-10.0", "5.0-10.0"] * 3 + ["*"] * 3
    assert shoal.compare({"edss": before}, {"edss": after}).columns["edss"] == Fates(0, 9, 3, 0)
    merged = shoal.compare({"x": ["a", "b", "other"] * 3}, {"x": ["a", "other", "other"] * 2 + ["*"] * 3})
    assert merged.columns["x"] == Fates(2, 4, 3, 0)


def test_a_few_changed_categories_are_no_merging():
    rng = np.random.default_rng(0)
    before = [f"c{n % 60}" for n in range(100)]
    after = [f"c{rng.integers(60)}" if n % 10 == 0 else value for n, value in enumerate(before)]
    found = shoal.compare({"x": before}, {"x": after})
    assert found.columns["x"].changed == sum(one != other for one, other in zip(before, after, strict=True))


def test_one_number_among_intervals():
    """40 is right for one record, and wrong for three on both sides of it: it stands for nobody else."""
    found = shoal.compare({"x": [20, 25, 30, 40, 55, 60]}, {"x": ["20-29", "20-29", *["40"] * 4]})
    assert found.columns["x"] == Fates(1, 2, 0, 3)


def test_means_that_are_rounded_where_all_are_alike():
    before, after = [5.37, 5.37, 6.12, 6.18, 7.5, 7.9], [5.4, 5.4, 6.2, 6.2, 7.7, 7.7]
    assert shoal.compare({"x": before}, {"x": after}).columns["x"].changed == 0


def test_shifted_dates_among_cut_ones():
    days = [date(1950, 1, 5), date(1951, 2, 6), date(1952, 3, 7)]
    found = shoal.compare({"d": days}, {"d": ["1950-01", "1951-02-09", "1952-03-07"]})
    assert found.columns["d"] == Fates(1, 1, 0, 1)


def test_nested_intervals_share_an_end():
    """Only where one ends and another begins it is open where the end belongs."""
    before = [20, 25, 36, 39, 39, 60, 61, 62]
    dashed = ["20-39"] * 3 + ["35-39"] * 2 + ["60", "61", "62"]
    bracketed = ["[20, 39]"] * 3 + ["[35, 39]"] * 2 + ["60", "61", "62"]
    one, two = (shoal.compare({"age": before}, {"age": after}).quality for after in (dashed, bracketed))
    for name in ("loss", "nue", "ncp"):
        assert one[name].total == two[name].total
    assert one["loss"].total.value == pytest.approx((3 * 3 + 2 * 1) / 6 / 8)


def test_empty_texts_show_nothing():
    found = shoal.compare(
        {"a": [1, 2, 3], "b": list("wxy")}, {"a": [None, 2, 3], "b": ["", "x", "*"]}, quasi=["a", "b"]
    )
    assert found.suppressed == 1
    assert found.columns["b"].suppressed == 2


def test_top_coding_with_a_bare_number():
    ages = [30, 84, 85, 86, 90, 101]
    found = shoal.compare({"age": ages}, {"age": [min(age, 85) for age in ages]})
    assert found.columns["age"] == Fates(2, 4, 0, 0)


def test_multivariate_means():
    """A value may become several means, in several classes."""
    assert shoal.compare({"x": [1, 2, 2, 3]}, {"x": [1.5, 1.5, 2.5, 2.5]}).columns["x"].coarser == 4


def test_numbers_are_equal_but_for_floating_point():
    assert shoal.compare({"x": [0.3, 0.7]}, {"x": [0.1 + 0.2, 0.7]}).columns["x"].kept == 2


def test_a_day_that_is_none():
    assert meant(DAYS, "1958-05-00") is None


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1958Q2", DAYS[:3]),
        ("05/1958", DAYS[:2]),
        ("1950s", DAYS[:4]),
        ("[1958-05-31, 1961-01-01)", DAYS[1:4]),
        ("(1958-05-31, 1961-01-01]", DAYS[2:5]),
    ],
)
def test_more_ways_to_write_dates(text, wanted):
    assert meant(DAYS, text) == wanted


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("(64, inf]", 65, 200),
        ("(-inf, 20]", 0, 20),
        ("under 40", 0, 39),
        ("90 and over", 90, 200),
        ("over 90", 91, 200),
    ],
)
def test_more_ways_to_write_intervals(text, low, high):
    assert meant(AGES, text) == [age for age in AGES if low <= age <= high]


def test_sets_of_decimals():
    assert meant([1.0, 2.0, 2.5], "{1.0, 2.0}") == [1.0, 2.0]


def test_numbers_are_equal_however_they_are_written():
    assert shoal.compare({"x": [67.0, 1.5]}, {"x": ["67", "1.50"]}).columns["x"].kept == 2
    assert shoal.compare({"x": [67, 2]}, {"x": [67.0, 2.0]}).columns["x"].kept == 2


def test_large_integers_are_not_rounded():
    big = 2**53
    assert shoal.compare({"x": [big, big + 1]}, {"x": [big + 1, big]}, in_order=True).columns["x"].changed == 2
    assert shoal.compare({"x": [big, big + 1]}, {"x": [str(big), str(big + 1)]}).columns["x"].kept == 2


# --- suppressed, missing, not there -------------------------------------------------------------------------------


def test_suppressed_and_missing_cells():
    before = {"x": ["a", "b", None, "c", "d"], "y": list("vwxyz")}
    found = shoal.compare(before, {"x": ["*", None, None, "***", "d"], "y": list("vwxyz")})
    assert found.columns["x"] == Fates(kept=2, coarser=0, suppressed=3, changed=0)
    assert found.suppressed == 0


def test_an_imputed_value_is_changed():
    assert shoal.compare({"x": ["a", None]}, {"x": ["a", "a"]}).columns["x"].changed == 1


def test_suppressed_records_are_those_that_show_nothing_or_are_not_there():
    before = {"id": [1, 2, 3, 4], "x": list("abcd"), "y": list("abcd")}
    after = {"id": [4, 2, 1], "x": ["*", "b", "*"], "y": ["*", "*", "a"]}
    found = shoal.compare(before, after, key="id", quasi=["x", "y"])
    assert (found.suppressed, found.released) == (2, 3)
    assert found.columns["x"] == Fates(kept=1, coarser=0, suppressed=3, changed=0)


def test_a_table_in_which_all_is_generalised_is_not_suppressed():
    assert shoal.compare({"x": list("ab")}, {"x": list("**")}).suppressed == 0


def test_a_column_that_is_not_released_is_suppressed():
    found = shoal.compare({"x": list("abcd"), "y": list("abcd")}, {"x": list("abcd")}, quasi=["x", "y"])
    assert found.columns["y"].suppressed == 4
    assert found.quality["loss-arithmetic"].total.value == 0.5
    assert any("'y'" in note for note in found.notes)


# --- matching -----------------------------------------------------------------------------------------------------


def test_matching_by_a_column_that_names_all():
    before = {"id": [10, 11, 12], "x": list("abc")}
    found = shoal.compare(before, {"id": [12, 10], "x": ["c", "*"]})
    assert (found.columns["x"].kept, found.suppressed) == (1, 2)
    assert "'id'" in found.matched


def test_matching_by_several_columns():
    before = {"id": [1, 1, 2], "visit": [1, 2, 1], "x": list("abc")}
    after = {"id": [2, 1, 1], "visit": [1, 2, 1], "x": list("cba")}
    assert shoal.compare(before, after, key=["id", "visit"]).columns["x"].kept == 3
    with pytest.raises(RecodingError, match="2 records share") as error:
        shoal.compare(before, after, key="id")
    assert "visit" not in str(error.value)


def test_a_declared_subject_names_records():
    before = {"id": list(range(40)), "age": [20 + i for i in range(40)]}
    order = list(reversed(range(40)))
    after = {"id": order, "age": [f"{(20 + i) // 10}0-{(20 + i) // 10}9" for i in order]}
    for options in ({"subject": "id"}, {"quasi": ["age"]}):
        found = shoal.compare(before, after, **options)
        assert found.columns["age"].coarser == 40
        assert not found.remarks


def test_a_missing_key_names_nobody():
    found = shoal.compare({"id": [1, 2, None], "x": [10, 20, 30]}, {"id": [1, None], "x": ["10", "20"]}, key="id")
    assert (found.suppressed, found.columns["x"].kept) == (2, 1)


def test_long_keys_are_not_rounded():
    before = {"id": [9007199254740993, 9007199254740995], "x": [1, 2]}
    found = shoal.compare(before, {"id": ["9007199254740992", "9007199254740995"], "x": [1, 2]}, key="id")
    assert found.suppressed == 1


def test_an_empty_release():
    table = shoal.read({"id": [1, 2], "x": [1, 2]})
    found = shoal.compare(table, shoal.read({"id": np.zeros(0, int), "x": np.zeros(0, int)}), quasi=["x"])
    assert found.suppressed == 2
    assert found.quality["nue"].total.cost == 1


def test_records_of_nobody_are_told():
    found = shoal.compare({"id": [1, 2], "x": list("ab")}, {"id": [1, 2, 3], "x": list("abc")}, key="id")
    assert any("without an original record: 1" in note for note in found.notes)
    assert found.columns["x"].kept == 2


def test_records_that_cannot_be_matched():
    """Measures of what is shown can still be taken; those of what became of whom cannot."""
    before, after = {"x": [1, 1, 2, 3], "y": list("aabb")}, {"x": ["1-2", "1-2", "3"], "y": list("baa")}
    found = shoal.compare(before, after, quasi=["x"])
    assert "nue" in found.left_out
    assert found.quality["suppressed-records"].total.value == 0.25
    assert found.quality["loss"].total.value == pytest.approx((0.5 + 0.5 + 0 + 1) / 4)
    with pytest.raises(RecodingError, match="The measure nue requires matched records of the"):
        shoal.compare(before, after, quasi=["x"], qualities=["nue"])


def test_texts_without_records_are_read_in_their_first_sense():
    found = shoal.compare({"x": [1, 2, 3, 3], "y": [1] * 4}, {"x": ["1-2", "soon", "*"], "y": [2] * 3}, quasi=["x"])
    assert found.remarks[0].texts == ("soon",)
    assert not found.columns  # it is not known what became of whom
    assert found.quality["suppressed-cells"].total.value == 0.75


def test_another_order_is_noticed():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 50, 300)
    found = shoal.compare({"x": values.tolist()}, {"x": rng.permutation(values).tolist()})
    assert found.columns["x"] == Fates(300, 0, 0, 0)
    in_order = shoal.compare({"x": values.tolist()}, {"x": rng.permutation(values).tolist()}, in_order=True)
    assert any("another order" in note for note in in_order.notes)


@given(st.permutations(range(8)))
def test_matching_turns_the_order_back(order):
    before = shoal.read({"id": list(range(8)), "x": list("aabbccdd")})
    found = match(before, shoal.read({"id": order, "x": ["aabbccdd"[one] for one in order]}))
    assert [order[row] for row in found.rows] == list(range(8))


# --- refused ------------------------------------------------------------------------------------------------------


def test_nothing_in_common():
    with pytest.raises(RecodingError, match="no column in common"):
        shoal.compare({"x": [1]}, {"y": [1]})


def test_no_records():
    table = shoal.read({"x": [1, 2]})
    nothing = shoal.read({"x": np.zeros(0, int)})
    with pytest.raises(RecodingError, match="no records"):
        shoal.compare(nothing, nothing)
    assert shoal.compare(table, nothing, quasi=["x"]).suppressed == 2


def test_messages_hold_no_values():
    secret = "secret-value"
    with pytest.raises(RecodingError) as error:
        shoal.compare({"id": [secret, secret], "x": [1, 2]}, {"id": [secret, secret], "x": [1, 2]}, key="id")
    assert secret not in str(error.value)


def test_a_key_that_is_not_there():
    with pytest.raises(RecodingError, match="release has no column 'id'"):
        shoal.compare({"id": [1], "x": [1]}, {"x": [1]}, key="id")


# --- the peers' tables --------------------------------------------------------------------------------------------


def test_every_release_of_pycanon(shared):
    """Compared without a hand-made mapping; what cannot be placed is listed."""
    folder = shared / "data/pycanon"
    quasi = "gender age hypertension heart_disease ever_married work_type Residence_type avg_glucose_level bmi".split()
    original = shoal.read(folder / "healthcare-dataset-stroke-data.csv")
    releases = [*folder.glob("stroke_*.csv"), folder / "healthcare-dataset-stroke-data_l2.csv"]
    assert len(releases) == 17
    for path in releases:
        found = shoal.compare(original, path, quasi=[*quasi, "smoking_status"], sensitive=["stroke"])
        listed = {(remark.column, text) for remark in found.remarks for text in remark.texts}
        cut = {("age", "0")} if path.name.startswith("stroke_") else set()
        assert listed == cut, path.name  # ages below 1, cut to a number that no record had
        assert found.suppressed == original.records - found.released
        assert found.quality["nue"].total.cost > found.quality["suppressed-records"].total.cost * 0.9
    drugs = shoal.compare(
        folder / "drug_type.csv", folder / "drugs_k5.csv", quasi=["Age", "Sex", "BP", "Cholesterol", "Na_to_K"]
    )
    assert [(remark.column, remark.texts) for remark in drugs.remarks] == [("Na_to_K", ("[87, 38.248[",))]
    assert drugs.recoding["Age"].records(Fate.COARSER) == 185


def test_a_swap_is_no_other_order():
    """Values that name every record were swapped; the other columns say that the order is the same."""
    before = {"x": [1, 2, 3, 4], "y": list("abcd")}
    found = shoal.compare(before, {"x": [2, 1, 4, 3], "y": list("abcd")})
    assert (found.columns["x"].changed, found.columns["y"].kept) == (4, 4)


def test_a_label_that_only_looks_like_the_beginning_of_a_value():
    """'Other' is a group here, and not what 'Other-service' begins with: the values of its records count."""
    groups = {"Other-service": "Other", "Sales": "Other", "Tech-support": "Technical", "Craft-repair": "Technical"}
    before = {"job": sorted(groups) * 5, "x": list(range(20))}
    after = {**before, "job": [groups[job] for job in before["job"]]}
    found = shoal.compare(before, after, quasi=["job"])
    told = shoal.compare(before, after, quasi=["job"], hierarchies={"job": {"kind": "explicit", "values": {
        job: [group] for job, group in groups.items()}}})  # fmt: skip
    assert found.columns["job"] == told.columns["job"] == Fates(0, 20, 0, 0)
    assert found.quality["nue"].total.value == told.quality["nue"].total.value == pytest.approx(20)
