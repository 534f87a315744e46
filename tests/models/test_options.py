"""Options that would have no effect, or make no sense, are refused with words."""

import math
from decimal import Decimal
from fractions import Fraction

import pandas as pd
import pytest

import shoal
from shoal.errors import ColumnError, ModelError, PolicyError, ShoalError

DATA = {"a": [1, 1, 2], "s": ["x", "y", "x"]}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: shoal.k_anonymity(DATA, quasi="a", k=3), "k is the result of this function and cannot be given"),
        (lambda: shoal.k_anonymity(DATA, quasi="a", sensitive="s"), "The model k-anonymity has no option"),
        (
            lambda: shoal.l_diversity(DATA, quasi="a", sensitive="s", population=5),
            "The model l-diversity has no option",
        ),
        (lambda: shoal.k_anonymity(DATA, quasy="a"), "The model k-anonymity has no option"),
        (lambda: shoal.measures(DATA, quasy="a"), "no option 'quasy'"),
        (lambda: shoal.measures(DATA, quasi="a", distance="ordered"), "no option 'distance'"),
        (lambda: shoal.k_anonymity(DATA, quasi="a", missing=1), "no rule '1'"),
        (lambda: shoal.t_closeness(DATA, quasi="a", sensitive="s", hierarchies=["s"]), "given by column"),
        (
            lambda: shoal.k_map(DATA, quasi="a", population=math.nan),
            "The population must be a number of individuals, or the",
        ),
        (
            lambda: shoal.k_map(DATA, quasi="a", population=200.7),
            "The population must be a number of individuals, or the",
        ),
        (lambda: shoal.k_map(DATA, quasi="a", population=100, significance=1), "at most 0.5"),
        (lambda: shoal.l_diversity(DATA, quasi="a", sensitive=["s", "s"]), "'s' is named twice"),
        (lambda: shoal.k_anonymity(DATA, quasi="a,s"), "There is no column 'a,s'"),
        (lambda: shoal.delta_disclosure(DATA, quasi="a", sensitive="s", base=3), "must be one of 2, 10, e"),
        (lambda: shoal.ke_anonymity({"a": [1, 1], "s": [math.inf, 1.0]}, quasi="a", sensitive="s"), "infinite"),
        (lambda: shoal.assess(DATA, {"version": 1}), "This is not a policy"),
        (lambda: shoal.assess(DATA, quasi="a", threshold=2), "at most 1"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ShoalError, match=message):
        call()


@pytest.mark.parametrize(
    ("requirement", "message"),
    [
        ('model = "t-closeness"\nt = 2', "t must be between 0 and 1"),
        ('model = "delta-presence"\ndelta_min = 0.6\ndelta_max = 0.5', "must not be more than delta_max"),
        ('model = "l-diversity"\nl = 2\ncolumn = "s"\nreading = "combined"', "applies to several columns"),
        ('model = "p-alpha-sensitive-k-anonymity"\np = 1\nk = 1\nalpha = 1\nweights = { A = -1 }', "must be 0 or more"),
    ],
)
def test_requirements_that_make_no_sense(requirement, message):
    with pytest.raises(PolicyError, match=message):
        shoal.Policy.parse(f"version = 1\n[[require]]\n{requirement}")


def test_the_whole_population_is_a_fraction_of_one():
    assert shoal.k_map(DATA, quasi="a", population=1.0) == 1
    assert shoal.k_map(DATA, quasi="a", population=Fraction(1)) == 1


def test_decimals_and_extremes_have_a_range():
    decimals = {"a": [1, 1], "s": [Decimal("1.10"), Decimal("1.3")]}
    assert shoal.ke_anonymity(decimals, quasi="a", sensitive="s") == {"k": 2, "e": 0.2}
    assert "ke-anonymity" in shoal.measures(decimals, quasi="a", sensitive="s")
    assert shoal.ke_anonymity({"a": [1, 1], "s": [1e308, -1e308]}, quasi="a", sensitive="s")["e"] == math.inf


def test_no_named_values_means_all():
    columns = {"quasi": "a", "sensitive": "s"}
    assert shoal.alpha_k_anonymity(DATA, **columns, values=[]) == shoal.alpha_k_anonymity(DATA, **columns)


def test_missing_values_weigh_nothing():
    data = {"a": [1, 1], "s": ["E11", None]}
    ladder = {"s": {"kind": "prefix", "keep": [1]}}
    found = shoal.p_alpha_sensitive_k_anonymity(data, quasi="a", sensitive="s", hierarchies=ladder)
    assert found["alpha"] == 0


def test_intervals_of_pandas_are_refused_with_words():
    frame = pd.DataFrame({"age": pd.cut([1, 5, 9], [0, 5, 10])})
    with pytest.raises(ColumnError, match="Column 'age'"):
        shoal.k_anonymity(frame, quasi="age")


def test_unknown_columns_do_not_list_the_others():
    """In a file without a header, the names of columns are somebody's data."""
    with pytest.raises(ColumnError) as caught:
        shoal.read({"Zyxwvut": [1], "Meier": [2]})["age"]
    assert "Zyxwvut" not in str(caught.value)


def test_help_explains_every_option():
    for name in ("k_anonymity", "t_closeness", "k_map"):
        text = getattr(shoal, name).__doc__
        assert "missing: when a missing quasi-identifier" in text
        assert "data: a table, any dataframe" in text
    with pytest.raises(ShoalError, match="no privacy model 'k'"):
        shoal.measures(DATA, quasi="a", models="k")


def test_too_many_combinations_are_refused():
    data = {f"c{place}": [1, 2] for place in range(100)}
    with pytest.raises(ModelError, match="161,700 combinations of 3 of 100"):
        shoal.subset_k_anonymity(data, quasi=list(data))
    assert shoal.subset_k_anonymity(data, quasi=list(data)[:5]) == 1
    assert "subset-k-anonymity" not in shoal.measures(data, quasi=list(data))
    assert shoal.measures(data, quasi=list(data)[:5], models=["subset-k-anonymity"]) == {"subset-k-anonymity": 1}
