"""Links: columns that tell the same are found, and others are not."""

from datetime import date, timedelta

import numpy as np
import pytest

import shoal
from shoal.analyses import links as module
from shoal.analyses.links import Way, links

SEEDED = np.random.default_rng(4)
ROWS = 2000
AGE = SEEDED.integers(18, 90, ROWS)
HEIGHT, WEIGHT = SEEDED.normal(170, 9, ROWS).round(), SEEDED.normal(75, 12, ROWS).round(1)


def found(**columns):
    table = shoal.read(columns)
    return {(link.way, frozenset((*link.columns, link.told))) for link in links(table, table.names)}


@pytest.mark.parametrize(
    ("columns", "way"),
    [
        ({"age": AGE, "born": 2024 - AGE}, Way.DETERMINES),
        ({"age": AGE, "decade": AGE // 10}, Way.DETERMINES),
        ({"code": AGE % 7, "text": [f"disease {number}" for number in AGE % 7]}, Way.DETERMINES),
        ({"age": AGE, "born": 2024 - AGE - SEEDED.integers(0, 2, ROWS)}, Way.NEAR),
        ({"height": HEIGHT, "weight": WEIGHT, "bmi": (WEIGHT / (HEIGHT / 100) ** 2).round(1)}, Way.COMPUTED),
        ({"from": AGE * 11, "to": AGE * 11 + HEIGHT, "days": HEIGHT + SEEDED.integers(0, 2, ROWS) / 9}, Way.COMPUTED),
    ],
)
def test_what_belongs_together_is_found(columns, way):
    assert (way, frozenset(columns)) in found(**columns)


def test_what_does_not_belong_together_is_not_found():
    assert found(age=AGE, height=HEIGHT, weight=WEIGHT, sex=SEEDED.choice(["f", "m"], ROWS)) == set()


def test_what_names_everybody_tells_nothing_about_the_others():
    assert found(id=np.arange(ROWS), age=AGE) == set()


def test_few_records_prove_nothing():
    assert found(a=[1, 1, 2], b=[1, 1, 2]) == set()


def test_gaps_do_not_hide_what_was_computed(demo_hospital):
    table = demo_hospital.patients
    assert [str(link) for link in links(table, table.names)] == [
        "bmi can be computed from height and weight (at least 99.9% of its variance)"
    ]


def test_numbers_that_follow_each_other_closely_nearly_tell_each_other():
    seeded = np.random.default_rng(3)
    days = seeded.integers(0, 30_000, 500)
    celsius = seeded.normal(37, 1, 500)
    table = shoal.read(
        {
            "born": [date(1930, 1, 1) + timedelta(int(day)) for day in days],
            "age": 95 - days // 365,
            "celsius": celsius,
            "fahrenheit": 1.8 * celsius + 32,
            "noise": seeded.normal(0, 1, 500),
        }
    )
    found = {str(link) for link in links(table, table.names)}
    assert found == {"celsius and fahrenheit determine each other", "born and age nearly determine each other"}


def test_sums_of_few_different_numbers_are_found_and_noise_is_not():
    seeded = np.random.default_rng(4)
    a, b = seeded.integers(20, 90, 400), seeded.integers(1, 20, 400)
    table = shoal.read({"a": a, "b": b, "c": a + b, "d": a + seeded.normal(0, 30, 400)})
    assert [str(link) for link in links(table, table.names)] == [
        "c can be computed from a and b (at least 99.9% of its variance)"
    ]


def test_what_one_number_explains_is_not_computed_from_two():
    seeded = np.random.default_rng(5)
    year = seeded.integers(1930, 2000, 500)
    born = [f"{y}-{m:02d}-15" for y, m in zip(year, seeded.integers(1, 13, 500), strict=True)]
    admitted = [str(np.datetime64("2020-01-01") + int(day)) for day in seeded.integers(0, 900, 500)]
    table = shoal.read({"year": year, "born": born, "admitted": admitted})
    assert not any(link.way == "computed" for link in links(table, table.names))


def test_of_many_columns_a_bounded_number_is_looked_at(monkeypatch):
    """All columns hang together, so that every pair may explain every other column: 40 × 39 × 38 / 2 fits."""
    fits, share = [], module._share
    monkeypatch.setattr(module, "_share", lambda *given: fits.append(1) or share(*given))
    monkeypatch.setattr(module, "_MOST", 30)
    monkeypatch.setattr(module, "_CHECKED", 20)
    seeded = np.random.default_rng(6)
    common = seeded.normal(0, 1, 300)
    table = shoal.read({f"x{n}": common + 0.05 * seeded.normal(0, 1, 300) for n in range(40)})
    links(table, table.names)
    assert len(fits) == 30 * 20
