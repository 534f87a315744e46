"""Equations, relations and typicality, beside slow references."""

from collections import Counter
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.analyses.derivations import Derivation, derivations
from shoal.analyses.equation import Equation
from shoal.analyses.places import MISSING
from shoal.analyses.relations import MissingTogether, NeverTogether, Ordered, Records
from shoal.analyses.typicality import Typicality


def records(data):
    table = shoal.read(data)
    return Records({name: table[name] for name in table.names}, {name: table.codes(name) for name in table.names})


@pytest.mark.parametrize(
    ("compute", "digits", "weights", "form"),
    [
        (lambda weight, height: weight / (height / 100) ** 2, 1, (1.0, -2.0), "product"),
        (lambda weight, height: 703 * weight / height**2, 2, (1.0, -2.0), "product"),
        (lambda weight, height: weight - height, 1, (1.0, -1.0), "sum"),
        (lambda weight, height: 0.25 * weight + 3 * height - 7, 2, (0.25, 3.0), "sum"),
    ],
)
def test_equations_have_round_weights_despite_rounding_and_errors(compute, digits, weights, form):
    rng = np.random.default_rng(0)
    weight, height = rng.normal(75, 12, 2000).round(1), rng.normal(170, 10, 2000).round()
    told = compute(weight, height).round(digits)
    told[:5] = told[:5] * 3 + 50  # wrong entries
    equation = Equation.fitted(told, [weight, height])
    assert (equation.weights, equation.form) == (weights, form)
    assert np.abs(equation.of([weight, height])[5:] - told[5:]).max() <= 0.5 * 10**-digits + 1e-6
    assert Equation.fitted(told[:3], [weight[:3], height[:3]]) is None


def test_who_breaks_which_relation():
    rng = np.random.default_rng(1)
    town, born = rng.integers(0, 9, 300), rng.integers(1940, 2000, 300)
    start, days = rng.integers(0, 900, 300), rng.integers(0, 60, 300)
    gap = np.arange(300) % 7 == 0
    data = {
        "town": [f"t{code}" for code in town],
        "state": [f"s{code // 3}" for code in town],
        "born": born,
        "age": 2024 - born - rng.integers(0, 2, 300),
        "start": start,
        "days": days,
        "end": start + days,
        "iron": [None if none else int(code) for none, code in zip(gap, rng.integers(5, 30, 300), strict=True)],
        "zinc": [None if none else int(code) for none, code in zip(gap, rng.integers(5, 30, 300), strict=True)],
    }
    some = records(data)
    relations, places = some.relations(), some.places()
    kinds = Counter(type(relation).__name__ for relation in relations)
    assert kinds["Function"] >= 1
    assert kinds["NearRange"] == 4  # age and birth, start and end
    assert kinds["Computed"] >= 1
    assert kinds["MissingTogether"] == 1
    assert kinds["Ordered"] >= 1
    assert kinds["NeverTogether"] == 1
    for relation in relations:
        assert relation.broken(places).mean() <= 0.005
        if type(relation).__name__ == "NeverTogether":
            continue
        for name in relation.columns:
            others = {other: values.copy() for other, values in places.items()}
            wrong = 5 if name in {"town", "state"} else 1000.0
            if isinstance(relation, MissingTogether):
                others[name] = np.where(others[name] == MISSING, 3.0, MISSING)
            elif isinstance(relation, Ordered):
                others[name] += wrong if name == relation.lower else -wrong
            else:
                others[name] += wrong
            unknown = name == "town" and relation.columns == ("town", "state")
            assert relation.broken(others).any() or unknown


def test_values_that_never_occur_together():
    sex = np.arange(400) % 2
    dx = np.where(np.arange(400) % 4 == 0, 2, sex)  # 0 only with 0, 1 only with 1
    some = records({"sex": [f"s{code}" for code in sex], "dx": [f"d{code}" for code in dx]})
    relation = next(one for one in some.relations() if isinstance(one, NeverTogether))
    pairs = {"sex": np.array([0.0, 0, 1, 1]), "dx": np.array([0.0, 1, 0, 1])}
    assert relation.broken(pairs).tolist() == [False, True, True, False]


@pytest.mark.parametrize("days", [2, 20])
def test_the_difference_of_close_dates_is_found(days):
    """Both dates correlate almost perfectly, so that neither says anything about the days between them."""
    rng = np.random.default_rng(0)
    start, stay = rng.integers(0, 1400, 800), np.maximum(rng.normal(6, days, 800).round(), 0)
    found = [one for one in records({"start": start, "stay": stay, "end": start + stay}).relations()
             if type(one).__name__ == "Computed"]  # fmt: skip
    assert any({*one.columns} == {"start", "stay", "end"} and one.equation.rest < 1e-6 for one in found)


@pytest.mark.parametrize(
    ("told", "form"),
    [
        (lambda x: np.log(x).round(6), "logarithm"),
        (lambda x: (2.20462 * x).round(3), "product"),
        (lambda x: x + 14, "sum"),
        (lambda x: np.exp(x / 40).round(4), "exponential"),
    ],
)
def test_exact_functions_of_unique_numbers_are_equations(told, form):
    x = np.random.default_rng(0).uniform(1, 200, 900).round(3)
    found = [one for one in records({"x": x, "told": told(x)}).relations() if type(one).__name__ == "Computed"]
    assert form in {one.equation.form for one in found}


def test_ages_are_rounded_down():
    rng = np.random.default_rng(0)
    birth, visit = rng.integers(-20000, 5000, 900).astype(float), rng.integers(18000, 19400, 900).astype(float)
    equation = Equation.fitted(np.floor((visit - birth) / 365.25), [birth, visit])
    assert equation.is_whole
    assert equation.weights == pytest.approx((-1 / 365.25, 1 / 365.25), rel=1e-3)
    assert equation.rest == 0


def test_numbers_between_known_ones_follow_their_neighbours():
    level = np.repeat(np.arange(0, 100, 2), 4)
    some = records({"level": level, "flag": ["high" if number >= 50 else "low" for number in level]})
    function = next(relation for relation in some.relations() if relation.columns == ("level", "flag"))
    high, low = (some.columns["flag"].values.to_pylist().index(value) for value in ("high", "low"))
    places = {"level": np.array([11.0, 71, 49, 49, 11]), "flag": np.array([low, high, low, high, high], float)}
    assert function.broken(places).tolist() == [False, False, False, False, True]


def test_no_relations_without_records():
    assert Records({}, {}).relations() == []
    assert records({"a": ["x"], "b": ["y"]}).relations() == []


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 2)), min_size=3, max_size=40))
def test_typicality_is_the_sum_of_the_logarithms_of_all_lifts(rows):
    places = {name: np.array(values, float) for name, values in zip("abc", zip(*rows, strict=True), strict=True)}
    typicality = Typicality.of(places, [], fixed=["a", "b"])

    def expected(row, among):
        total = 0.0
        for first, other in ((0, 2), (1, 2)):
            if min(len(set(places["abc"[at]])) for at in (first, other)) < 2:
                continue  # a column with one value says nothing
            both = sum(one[first] == row[first] and one[other] == row[other] for one in among)
            times = [sum(one[at] == row[at] for one in among) for at in (first, other)]
            total += log((both + 0.5) / (times[0] * times[1] / max(len(among), 1) + 0.5))
        return total

    assert typicality.scores(places) == pytest.approx([expected(row, rows) for row in rows])
    left = [rows[:at] + rows[at + 1 :] for at in range(len(rows))]
    assert typicality.scores(places, counted=True) == pytest.approx(
        [expected(row, among) for row, among in zip(rows, left, strict=True)]
    )


def told(rows):
    """Whether the second of each pair is told by the first: a slow reference without chance agreement."""
    right = 0
    for at, (known, value) in enumerate(rows):
        beside = Counter(other for place, (one, other) in enumerate(rows) if one == known and place != at)
        best = beside.most_common(2)
        right += bool(best) and best[0][0] == value and (len(best) == 1 or best[0][1] > best[1][1])
    common = Counter(value for _, value in rows).most_common(1)[0][1]
    return len(rows) - common >= 10 and right >= common + 0.8 * (len(rows) - common)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2), st.booleans()), min_size=30, max_size=90))
def test_what_a_column_tells_beside_the_definition(rows):
    pairs = [(known, known % 3 if follows else value) for known, value, follows in rows]
    data = {"known": [f"k{known}" for known, _ in pairs], "value": [f"v{value}" for _, value in pairs]}
    found = derivations(shoal.read(data), ["value"], ["known"])
    assert found == ([Derivation("value", ("known",))] if told(pairs) else [])


def test_records_of_the_same_individual_tell_nothing_about_others():
    rng = np.random.default_rng(2)
    who, lab, age = np.repeat(np.arange(200), 3), rng.normal(5, 1, 200), rng.integers(20, 90, 200)
    table = shoal.read({"who": who, "lab": lab[who], "age": age[who]})
    assert derivations(table.assign(subject="who"), ["age"], ["lab"]) == []
    assert derivations(table, ["age"], ["lab"]) != []
