"""Broad groups: a last level of large intervals, so that a few extreme values do not suppress a whole column."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples

import shoal
from shoal.errors import PolicyError
from shoal.hierarchy.broad_groups import with_broad_groups
from shoal.hierarchy.interval import Interval


@given(
    values=st.lists(st.integers(-50, 200), min_size=1, max_size=60),
    width=st.sampled_from([1, 2.5, 5, 20]),
    least=st.integers(1, 11),
    top=st.none() | st.just(90),
)
@examples(200)
def test_each_group_has_enough_individuals(values, width, least, top):
    table = shoal.read({"x": values})
    before = Interval(widths=[width, 2 * width], top=top)
    grouped = with_broad_groups(before, table["x"], table.counts("x"), least)
    built = grouped.build(table["x"], table.counts("x"), None)  # nested, or it would be refused
    if not grouped.cuts:
        assert grouped == before
        return
    sizes = np.bincount(np.searchsorted(grouped.cuts[0], values, side="right"))
    assert sizes.min() >= max(least, len(values) / 4)
    assert len(sizes) >= 2
    assert built.height == 4
    assert len(built.levels[3]) < len(built.levels[2])


def test_a_starter_policy_groups_the_oldest_of_a_small_table():
    """Ages of 96 patients, 7 above 80: 20-year intervals fail, and all ages would be suppressed."""
    ages = [*range(50, 80)] * 2 + [3, 41, 43, 45, 47, 47, 48, 48, 49, 49, 49] + [81, 81, 82, 84, 86, 86, 88]
    data = {"age": ages, "dx": ["a", "b"] * 39}
    policy = shoal.identify(data).policy()
    assert policy.columns["age"].hierarchy.cuts == [[60]]
    assert shoal.anonymize(data, policy).quality["loss"].total.cost < 0.4


@pytest.mark.parametrize("cut", [65, 100, -20])
def test_further_levels_do_not_divide_intervals(cut):
    text = "version = 1\n[columns.age]\nrole = 'quasi'\nhierarchy = { kind = 'interval', widths = [5, 20], top = 90, "
    with pytest.raises(PolicyError, match="bounds of intervals of the last width"):
        shoal.Policy.parse(f"{text}bottom = 0, cuts = [[{cut}]] }}")
