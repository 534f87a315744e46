"""Links: columns that tell the same are found, and others are not."""

import numpy as np
import pytest

import shoal
from shoal.demo import hospital
from shoal.identification.links import Way, links

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


def test_gaps_do_not_hide_what_was_computed():
    table = shoal.read(hospital(patients=2000).patients)
    assert [str(link) for link in links(table, table.names)] == ["bmi can be computed from height and weight"]
