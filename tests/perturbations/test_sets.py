"""BaseRounding and coding: each released value stands for a set that contains the original one."""

from decimal import ROUND_HALF_EVEN, Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.effort import examples, per_profile
from tests.perturbed_values import read, released

from shoal.errors import PolicyError
from shoal.perturbations.code import Coding
from shoal.perturbations.perturbation import PERTURBATIONS
from shoal.perturbations.round import BaseRounding


@given(
    st.lists(st.decimals(-1000, 1000, places=2).map(float) | st.none(), min_size=1, max_size=30).filter(any),
    st.sampled_from([0.05, 0.1, 0.25, 1, 2.5, 5, 30]),
)
@examples(300)
def test_decimals_are_rounded_as_decimals(values, base):
    before, after = released(BaseRounding(to=base), read(x=values), "x")
    for old, new in zip(before, after, strict=True):
        if old is None:
            assert new is None
            continue
        multiple = (Decimal(str(old)) / Decimal(str(base))).to_integral_value(ROUND_HALF_EVEN)
        assert new == float(multiple * Decimal(str(base)))
        assert abs(Decimal(str(new)) - Decimal(str(old))) <= Decimal(str(base)) / 2


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20), st.sampled_from([0.3, 7.7, 1000]))
@examples(100)
def test_no_number_changes_by_more_than_half_the_base(values, base):
    before, after = released(BaseRounding(to=base), read(x=values), "x")
    assert all(abs(new - old) <= base / 2 * (1 + 1e-9) for old, new in zip(before, after, strict=True))


def test_whole_numbers_stay_whole():
    before, after = released(BaseRounding(to=5), read(x=[1, 2, 3, 7, 8, 12]), "x")
    assert sorted(zip(before, after, strict=True)) == [(1, 0), (2, 0), (3, 5), (7, 5), (8, 10), (12, 10)]
    assert all(isinstance(value, int) for value in after)
    with pytest.raises(PolicyError, match="whole numbers, and the base is not a whole number"):
        released(BaseRounding(to=2.5), read(x=[1, 2]), "x")


@pytest.mark.parametrize("show", ["label", "bound"])
def test_a_column_is_not_coded_as_a_whole(show):
    """Fewer than 11 have a lower value than the dominant one: the lowest values would be all of them."""
    with pytest.raises(PolicyError, match="no value would remain"):
        released(Coding(persons=11, side="bottom", show=show), read(x=[0] * 4 + [1] * 296), "x")


@pytest.mark.parametrize("kind", sorted(PERTURBATIONS))
def test_numbers_that_are_not_compared_exactly_are_not_perturbed(kind):
    options = {"round": {"to": 10}, "code": {"persons": 3}, "noise": {"share": 0.2}}.get(kind, {})
    perturbation = PERTURBATIONS[kind].model_validate(options)
    for sign in (1, -1):
        numbers = read(x=[sign * (2**53 + number) for number in range(1, 30, 2)])
        with pytest.raises(PolicyError, match="too many digits" if "integer" in perturbation.kinds else "applies to"):
            perturbation.check(numbers["x"])


def test_random_rounding_is_without_bias():
    table = read(x=[1, 2, 3, 4, 5, None] * 30)
    runs = [
        released(BaseRounding(to=5, method="random"), table, "x", key=key) for key in range(per_profile(40, 200, 500))
    ]
    for value in range(1, 6):
        drawn = [new for before, after in runs for old, new in zip(before, after, strict=True) if old == value]
        assert set(drawn) <= {0, 5}
        assert np.mean(drawn) == pytest.approx(value, abs=4 * 2.5 / np.sqrt(len(drawn)))


def extreme_values(values, persons, *, from_top):
    """Return the fewest extreme values that enough persons have together, none if one suffices; None if too few."""
    known, chosen = [value for value in values if value is not None], []
    for value in sorted(set(known), reverse=from_top):
        chosen.append(value)
        if sum(known.count(one) for one in chosen) >= persons:
            return chosen if len(chosen) > 1 else []
    return None


@given(st.lists(st.integers(0, 60) | st.none(), min_size=1, max_size=60).filter(any), st.integers(2, 12))
@examples(300)
def test_enough_persons_share_a_coded_value(values, persons):
    table = read(x=values)
    try:
        before, after = released(Coding(persons=persons), table, "x")
    except PolicyError as error:
        assert error.code == "too-few-to-code"
        ends = [extreme_values(values, persons, from_top=from_top) for from_top in (False, True)]
        is_all = any(end is not None and {*end} == {*values} - {None} for end in ends)
        assert None in ends or set(ends[0]) & set(ends[1]) or is_all
        return
    low = [old for old, new in zip(before, after, strict=True) if new is not None and new.startswith("<")]
    high = [old for old, new in zip(before, after, strict=True) if new is not None and new.endswith("+")]
    known = [value for value in values if value is not None]
    for coded, new in ((low, min), (high, max)):
        if known.count(new(known)) >= persons:  # enough have the extreme value itself
            assert not coded
            continue
        assert len(coded) >= persons
        edge = max(coded) if new is min else min(coded)
        assert len([value for value in coded if value != edge]) < persons  # one value less would be too few
        assert sorted(coded) == sorted(v for v in known if (v <= edge if new is min else v >= edge))
    rest = [(old, new) for old, new in zip(before, after, strict=True) if new is not None and new.isdigit()]
    assert all(str(old) == new for old, new in rest)


@given(
    st.lists(st.integers(-3000, 3000).map(lambda number: number / 7) | st.integers(0, 9), min_size=12, max_size=40),
    st.sampled_from(["label", "bound"]),
)
@examples(200)
def test_bounds_are_no_values_if_there_is_room(values, show):
    """A bound that is the value of one individual would disclose it."""
    values = [round(float(value), 3) for value in values]
    coding, table = Coding(persons=5, show=show), read(x=values)
    places = np.unique(values)
    try:
        bounds = coding.bounds("x", places, *[np.array([values.count(place) for place in places])] * 2)
    except PolicyError:
        return
    for bound in bounds:
        if np.isfinite(bound) and bound in places[1:]:
            below = max(place for place in places if place < bound)
            assert all(not below < round(bound, digits) < bound for digits in range(3))
    before, after = released(coding, table, "x")
    if show == "bound":
        assert all(new in {old, *bounds} for old, new in zip(before, after, strict=True))


def test_zeros_that_many_have_are_not_coded():
    values = [0] * 30 + [7] * 3 + list(range(10, 40)) + [1311, 99_000]
    before, after = released(Coding(persons=11), read(x=values), "x")
    pairs = set(zip(before, after, strict=True))
    assert (0, "0") in pairs
    assert {new for old, new in pairs if old >= 31} == {"31+"}
    bounds = Coding(persons=11, side="top").bounds("x", np.array([1.0, 1234.0, 5678.0]), *[np.array([50, 8, 8])] * 2)
    assert bounds == (-np.inf, 1000.0)


def test_bounds():
    table = read(x=[5, 17, 18, 40, 89, 90, 97])
    before, after = released(Coding(top=90, bottom=18), table, "x")
    assert dict(zip(before, after, strict=True)) == {
        5: "<18", 17: "<18", 18: "18", 40: "40", 89: "89", 90: "90+", 97: "90+",
    }  # fmt: skip
    before, after = released(Coding(top=90, bottom=18, show="bound"), table, "x")
    assert dict(zip(before, after, strict=True)) == {5: 18, 17: 18, 18: 18, 40: 40, 89: 89, 90: 90, 97: 90}
    _, after = released(Coding(top=2.5), read(x=[1.5, 2.5, None]), "x")
    assert set(after) == {"1.5", ">=2.5", None}


@pytest.mark.parametrize("options", [{}, {"persons": 5, "top": 3}, {"top": 1, "bottom": 2}, {"persons": 1}])
def test_wrong_options(options):
    with pytest.raises(ValidationError):
        Coding(**options)
