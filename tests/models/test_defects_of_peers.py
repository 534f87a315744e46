"""Where a peer is wrong: the case, and the right answer."""

import math

import numpy as np
import pandas as pd
import pytest

import shoal
from shoal.errors import ModelError


def test_missing_quasi_identifiers_are_not_dropped():
    """P1: pyCANON loses the record and reports k = 5."""
    frame = pd.DataFrame({"q": ["a"] * 5 + [None]})
    assert shoal.k_anonymity(frame, quasi=["q"]) == 1
    assert shoal.k_anonymity(pd.DataFrame({"q": ["a"] * 5 + [None] * 2}), quasi=["q"]) == 2
    assert shoal.k_anonymity(pd.DataFrame({"q": ["a"] * 5 + [None] * 2}), quasi=["q"], missing="never") == 1
    assert shoal.k_anonymity(pd.DataFrame({"q": ["a"] * 5 + [None] * 2}), quasi=["q"], missing="wildcard") == 7


@pytest.mark.parametrize("index", [[0, 2, 1, 3], [10, 11, 12, 13], ["x", "x", "y", "z"]])
def test_the_index_of_a_frame_does_not_matter(index):
    """P2: pyCANON answers l = 2, t = 0 for a shuffled index, and fails for a filtered one."""
    frame = pd.DataFrame({"q": ["a", "a", "b", "b"], "s": ["x", "x", "y", "y"]}, index=index)
    assert shoal.l_diversity(frame, quasi=["q"], sensitive=["s"]) == 1
    assert shoal.t_closeness(frame, quasi=["q"], sensitive=["s"]) == 0.5


def test_recursive_diversity_starts_with_the_most_frequent():
    """P3: pyCANON takes the smallest count for the largest, and says c = 1."""
    frame = pd.DataFrame({"q": ["a"] * 10, "s": ["x"] * 7 + ["y"] * 2 + ["z"]})
    assert shoal.recursive_l_diversity(frame, quasi=["q"], sensitive=["s"], l=3) == 7
    assert shoal.recursive_l_diversity(frame, quasi=["q"], sensitive=["s"], l=2) == pytest.approx(7 / 3)
    assert shoal.recursive_l_diversity(frame, quasi=["q"], sensitive=["s"], l=4) == math.inf


@pytest.mark.parametrize("number", range(1, 50))
def test_entropy_of_uniform_classes(number):
    """P4: pyCANON cuts 2.9999999999999996 down to 2; ARX fails classes for it."""
    frame = pd.DataFrame({"q": ["a"] * (3 * number), "s": list(range(number)) * 3})
    assert shoal.entropy_l_diversity(frame, quasi=["q"], sensitive=["s"]) == number
    assert not _failing("entropy-l-diversity", frame, l=number)
    assert _failing("entropy-l-diversity", frame, l=str(number + 1))


def test_entropy_is_judged_exactly_where_it_is_not_uniform():
    """Counts 4, 4, 1, 1: exp(H) = 10 / 4^0.8 = 3.2987…; no float may decide."""
    frame = pd.DataFrame({"q": ["a"] * 10, "s": list("xxxxyyyyzw")})
    value = shoal.entropy_l_diversity(frame, quasi=["q"], sensitive=["s"])
    assert value == pytest.approx(10 / 4**0.8)
    assert not _failing("entropy-l-diversity", frame, l=f"{int(value * 10**12)}/{10**12}")
    assert _failing("entropy-l-diversity", frame, l=f"{int(value * 10**12) + 2}/{10**12}")


def test_enhanced_likeness_can_be_out_of_reach():
    """P5: pyCANON returns 1.609 although the gain of 4 exceeds −ln p, so no β will do."""
    frame = pd.DataFrame({"q": ["a", "b", "b", "b", "b"], "s": ["x", "y", "y", "y", "y"]})
    assert shoal.basic_beta_likeness(frame, quasi=["q"], sensitive=["s"]) == 4
    assert shoal.enhanced_beta_likeness(frame, quasi=["q"], sensitive=["s"]) == math.inf


def test_values_absent_from_a_class():
    """P6: an absent value has an infinite logarithm; pyCANON and ARX look at present values only."""
    frame = pd.DataFrame({"q": ["a", "a", "b", "b"], "s": ["x", "x", "x", "y"]})
    columns = {"quasi": ["q"], "sensitive": ["s"]}
    assert shoal.delta_disclosure(frame, **columns) == math.inf
    assert shoal.delta_disclosure(frame, **columns, absent="ignore") == 1
    assert shoal.delta_disclosure(frame, **columns, absent="ignore", base="e") == pytest.approx(math.log(2))


def test_coded_diagnoses_are_not_taken_for_an_order():
    """P7: the distance is what is asked for, whatever the type; a constant column is no division by zero."""
    frame = pd.DataFrame({"q": ["a", "a", "b", "b", "c", "c"], "s": [1, 1, 2, 3, 2, 3]})
    columns = {"quasi": ["q"], "sensitive": ["s"]}
    assert shoal.t_closeness(frame, **columns) == pytest.approx(2 / 3)
    assert shoal.t_closeness(frame, **columns, distance="ordered") == 0.5
    constant = pd.DataFrame({"q": ["a", "b"], "s": [1, 1]})
    assert shoal.t_closeness(constant, **columns, distance="ordered") == 0
    dates = pd.DataFrame({"q": ["a", "b"], "s": pd.to_datetime(["2020-01-01", "2021-01-01"])})
    assert shoal.t_closeness(dates, **columns, distance="ordered") == 0.5


def test_the_salary_example_of_li():
    """Li et al. 2007: incomes 3k–11k, the class {3k, 4k, 5k} is 0.375 away, {6k, 8k, 11k} only 0.167."""
    incomes = [3, 4, 5, 6, 11, 8, 7, 9, 10]
    groups = ["a"] * 3 + ["b"] * 3 + ["c"] * 3
    frame = pd.DataFrame({"q": groups, "s": incomes})
    assert shoal.t_closeness(frame, quasi=["q"], sensitive=["s"], distance="ordered") == 0.375
    rest = pd.DataFrame({"q": ["b" if g == "b" else "z" for g in groups], "s": incomes})
    assert shoal.t_closeness(rest, quasi=["q"], sensitive=["s"], distance="ordered") == pytest.approx(1 / 6)


def test_missing_sensitive_values_are_values():
    """P8: text with gaps fails in pyCANON, numbers with gaps give shares that do not add up."""
    for values in (["x", None, "x", None], [1.0, None, 1.0, None]):
        frame = pd.DataFrame({"q": ["a", "a", "b", "b"], "s": values})
        assert shoal.t_closeness(frame, quasi=["q"], sensitive=["s"]) == 0
        assert shoal.l_diversity(frame, quasi=["q"], sensitive=["s"]) == 2
    with pytest.raises(ModelError, match="no place in the order"):
        shoal.t_closeness(frame, quasi=["q"], sensitive=["s"], distance="ordered")


def test_unused_categories():
    """P9: pyCANON says k = 0."""
    frame = pd.DataFrame({"q": pd.Categorical(["a", "a"], categories=["a", "b"])})
    assert shoal.k_anonymity(frame, quasi=["q"]) == 2


def test_average_risk_is_that_of_a_record():
    """P10: pyCANON averages over classes: 0.556 for classes of 9 and 1; a record's average risk is 0.2."""
    frame = pd.DataFrame({"q": ["a"] * 9 + ["b"]})
    assert shoal.average_risk(frame, quasi=["q"]) == 0.2


def test_several_sensitive_columns_have_three_readings():
    """pyCANON knows the first two; combinations as one value are Peng's wording."""
    frame = pd.DataFrame({"q": ["a"] * 4, "s": ["x", "x", "y", "y"], "t": ["u", "v", "w", "w"]})
    columns = {"quasi": ["q"], "sensitive": ["s", "t"]}
    assert shoal.l_diversity(frame, **columns) == 2
    assert shoal.l_diversity(frame, **columns, reading="others-known") == 1
    assert shoal.l_diversity(frame, **columns, reading="combined") == 3


def test_a_verdict_does_not_hang_on_rounding():
    """1/11 is more than 0.09; three of four are 0.75; 0.1 + 0.2 is 0.3 where counts say so."""
    eleven = pd.DataFrame({"q": ["a"] * 11})
    assert _failing("average-risk", eleven, sensitive=(), risk=0.09)
    assert not _failing("average-risk", eleven, sensitive=(), risk="1/11")
    three = pd.DataFrame({"q": ["a"] * 4, "s": ["x", "x", "x", "y"]})
    assert not _failing("alpha-k-anonymity", three, alpha=0.75, k=4)
    third = pd.DataFrame({"q": ["a"] * 10 + ["b"] * 10, "s": ["x"] * 3 + ["y"] * 7 + ["x"] * 9 + ["y"]})
    assert shoal.t_closeness(third, quasi=["q"], sensitive=["s"]) == 0.3
    assert not _failing("t-closeness", third, t=0.3)
    assert _failing("t-closeness", third, t="0.2999999999999999999")


def test_a_doubled_probability_is_not_less_than_doubled():
    frame = pd.DataFrame({"q": ["a", "a", "b", "b", "b", "b", "b", "b"], "s": list("xxxxyyyy")})
    assert _failing("delta-disclosure", frame, delta=1, absent="ignore")
    assert not _failing("delta-disclosure", frame, delta="1000000001/1000000000", absent="ignore")


def test_large_counts_do_not_overflow():
    """ARX multiplies two 32-bit integers in hierarchical t-closeness, and calls 0.19 less than 0.1."""
    from shoal.classes.histogram import Histogram
    from shoal.models.distance import equal_distance, ordered_distance

    column = shoal.read({"s": [1, 2, 3]})["s"]
    big = 3 * 10**9
    classes, codes = np.array([0, 1, 1], np.uint32), np.array([0, 1, 2], np.uint32)
    histogram = Histogram.of(column, classes, codes, np.array([big, big, big]), 2, np.array([big, big, big]))
    assert [str(value) for value in (equal_distance(histogram).max(), ordered_distance(histogram).max())] == [
        "2/3",
        "1/2",
    ]


def _failing(name, frame, sensitive=("s",), **parameters):
    from shoal.models.evidence import Gatherer, View
    from shoal.models.model import MODELS

    evidence = Gatherer(shoal.read(frame)).evidence(View(("q",), tuple(sensitive)))
    return not MODELS[name](**parameters).verdict(evidence).satisfied
