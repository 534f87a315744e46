"""Shuffling: the same values, in an order that keeps the correlation with the given columns."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples, per_profile
from tests.perturbed_values import read, values_of

from shoal.errors import PolicyError
from shoal.perturbations.shuffle import Shuffling


def shuffled(table, name, key=0, **options):
    """Return the records' values before and after, with their codes in the other columns."""
    values = values_of(table, name, key=key, known=[other for other in table.names if other != name])
    draws = values.draws(*table.names)
    change = Shuffling(**options).change(values)
    codes = draws.codes[name]
    after = change.draw(codes, draws.words)
    labels = [change.column.cells().take(of.astype(np.int64).tolist()).to_pylist() for of in (codes, after)]
    return *labels, draws.codes


@given(
    st.lists(st.tuples(st.integers(0, 9) | st.none(), st.sampled_from("ab")), min_size=2, max_size=50),
    st.integers(0, 100),
)
@examples(200)
def test_the_same_values(records, key):
    table = read(x=[x for x, _ in records], group=[group for _, group in records])
    try:
        before, after, _ = shuffled(table, "x", key)
    except PolicyError as error:
        assert error.code == "nothing-perturbed"
        return
    assert Counter(before) == Counter(after)
    kept = [pair for pair in zip(before, after, strict=True) if pair[0] in {0, None}]
    assert all(old == new for old, new in kept)


def test_rank_correlations_are_kept_in_expectation_and_the_own_value_tells_nothing_else():
    rng = np.random.default_rng(3)
    age = rng.integers(20, 90, 800)
    income = np.exp(age / 30 + rng.normal(0, 0.7, 800)).round(3)
    table = read(income=income, age=age)
    found, linked = [], []
    for key in range(per_profile(20, 200, 400)):
        before, after, codes = shuffled(table, "income", key)
        ages = np.array(sorted(set(age.tolist())))[codes["age"]]
        found.append(np.corrcoef(_ranks(after), _ranks(ages))[0, 1])
        truth = np.corrcoef(_ranks(before), _ranks(ages))[0, 1]
        rest = [_ranks(x) - np.polyval(np.polyfit(_ranks(ages), _ranks(x), 1), _ranks(ages)) for x in (before, after)]
        linked.append(np.corrcoef(*rest)[0, 1])
    assert np.mean(found) == pytest.approx(truth, abs=0.02)
    assert abs(np.mean(linked)) < 0.02


def test_groups_keep_their_level():
    rng = np.random.default_rng(4)
    group = rng.choice(["a", "b", "c"], 900)
    level = {"a": 0.0, "b": 3.0, "c": 6.0}
    table = read(x=[level[name] + rng.normal() for name in group], group=group)
    _, after, codes = shuffled(table, "x")
    means = [np.mean(np.array(after)[codes["group"] == code]) for code in range(3)]
    assert means == pytest.approx([0, 3, 6], abs=0.4)


def test_given_columns_are_chosen():
    table = read(x=range(200), twin=range(200), other=[1, 2] * 100)
    _, close, _ = shuffled(table, "x", given=["twin"])
    _, far, _ = shuffled(table, "x", given=["other"])
    before = shuffled(table, "x")[0]
    assert np.corrcoef(before, close)[0, 1] > 0.99
    assert abs(np.corrcoef(before, far)[0, 1]) < 0.3


def test_a_single_value_is_refused():
    with pytest.raises(PolicyError, match="change nothing"):
        shuffled(read(x=[0, 0, 5], y=[1, 2, 3]), "x")


def _ranks(values):
    order = np.argsort(np.argsort(np.asarray(values), kind="stable"), kind="stable")
    return order.astype(float)
