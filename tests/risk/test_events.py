"""Known events and special uniques, against the definitions written out."""

from fractions import Fraction
from itertools import combinations
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.errors import ModelError
from shoal.risk import events as module
from shoal.risk.events import event_risks
from shoal.risk.special_uniques import special_uniques
from shoal.table.missing import Missing

visits = st.lists(st.tuples(st.integers(0, 4), st.sampled_from("fm"), st.integers(0, 4)), min_size=1, max_size=14)


@given(rows=visits)
def test_every_set_of_known_events(rows):
    table = shoal.read(
        {"who": [who for who, *_ in rows], "sex": [s for _, s, _ in rows], "year": [y for *_, y in rows]}
    )
    histories = {who: {(sex, year) for one, sex, year in rows if one == who} for who, *_ in rows}
    for risk in event_risks(table.assign(subject="who", quasi=["sex", "year"])):
        averages, worst, alone = [], [], 0
        for events in histories.values():
            sets = list(combinations(sorted(events), min(risk.known, len(events))))
            shared = [sum(set(one) <= other for other in histories.values()) for one in sets]
            averages.append(sum(Fraction(1, n) for n in shared) / len(sets))
            worst.append(min(shared))
            alone += min(shared) == 1
        assert risk.average == pytest.approx(float(sum(averages) / len(averages)))
        assert risk.maximum == Fraction(1, min(worst))
        assert risk.unique == Fraction(alone, len(histories))


def test_the_curve_ends_where_there_are_too_many_sets(monkeypatch):
    table = shoal.read({"who": [1] * 20, "day": list(range(20))}).assign(subject="who", quasi=["day"])
    monkeypatch.setattr(module, "MOST", 200)
    assert [risk.known for risk in event_risks(table)] == [1, 2]
    with pytest.raises(ModelError, match="No column identifies the individual of a record"):
        event_risks(shoal.read({"day": [1]}).assign(quasi=["day"]))


records = st.lists(st.tuples(*[st.sampled_from([0, 1, 2, None])] * 4), min_size=1, max_size=12)


@given(rows=records, most=st.integers(1, 4), missing=st.sampled_from(["own", "never"]))
def test_minimal_sample_uniques(rows, most, missing):
    names = tuple("abcd")
    table = shoal.read({name: [row[place] for row in rows] for place, name in enumerate(names)})
    found = special_uniques(table.assign(quasi=names), most=most, missing=Missing(missing))
    scores, parts = [], dict.fromkeys(names, 0)
    for row in rows:

        def alone(columns, row=row):
            if missing == "never" and any(row[place] is None for place in columns):
                return True
            return sum(all(other[place] == row[place] for place in columns) for other in rows) == 1

        listed = [part for size in range(1, most + 1) for part in combinations(range(4), size)]
        minimal = [
            part
            for part in listed
            if alone(part) and not any(alone(less) for n in range(1, len(part)) for less in combinations(part, n))
        ]
        weights = [prod(4 - i for i in range(len(part), min(most, 3) + 1)) for part in minimal]
        scores.append(sum(weights))
        for part, weight in zip(minimal, weights, strict=True):
            for place in part:
                parts[names[place]] += weight
    assert found.values().tolist() == scores
    total = sum(scores)
    assert found.contributions == pytest.approx({name: part / total if total else 0 for name, part in parts.items()})


def test_the_published_example_of_scores():
    """Four variables, at most three: one value alone scores 6, two 2, three 1 (World Bank's guide to sdcMicro)."""
    table = shoal.read({"a": [1, 2, 2, 2], "b": [1, 1, 2, 2], "c": [1, 1, 1, 1], "d": [1, 1, 1, 1]})
    found = special_uniques(table.assign(quasi=list("abcd")), most=3)
    assert found.values().tolist() == [6, 2, 0, 0]
    assert found.persons() == {1: 1, 2: 1, 3: 0}


def test_assess_tells_both():
    data = {"who": [1, 1, 2, 3], "year": [1, 2, 1, 3], "sex": list("ffmm")}
    found = shoal.assess(data, quasi=["year", "sex"], subject="who", uniques=2)
    assert [risk.known for risk in found.events] == [1, 2, 3]
    assert found.special_uniques.persons() == {1: 2, 2: 1}
    assert shoal.assess({"a": [1, 2]}, quasi="a").special_uniques is None
    with pytest.raises(ModelError, match="too many"):
        special_uniques(shoal.read({f"c{n}": [1] for n in range(300)}).assign(quasi=[f"c{n}" for n in range(300)]))


def test_small_sets_score_more_if_all_columns_are_searched():
    """The product ends with the number of columns less one: its last factor would be zero."""
    table = shoal.read({"a": [1, 2, 2], "b": [1, 1, 2], "c": [1, 1, 1]})
    assert special_uniques(table.assign(quasi=list("abc")), most=3).values().tolist() == [2, 1, 2]
