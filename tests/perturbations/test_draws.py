"""Random draws of every kind: they hang on the key and the person, on nothing else, and on the key as a whole."""

import tracemalloc

import numpy as np
import pytest
from tests.effort import per_profile
from tests.perturbed_values import read, released

import shoal
from shoal.perturbations.perturbation import PERTURBATIONS

KINDS = {name: kind.of_amount(0.3)[0] for name in PERTURBATIONS if (kind := PERTURBATIONS[name]).of_amount(0.3)}
KEY = "SHOAL_KEY_OF_DRAWS"


def numbers(rows=60, seed=2):
    return {name: np.random.default_rng(seed + place).integers(0, 9, rows).tolist() for place, name in enumerate("xy")}


@pytest.mark.parametrize("kind", KINDS)
def test_no_two_keys_give_the_same_values(kind):
    """addNoise(method = "restr") of sdcMicro ignores the seed; its rankSwap gives the same for the seeds 1 and 3."""
    table = read(**numbers())
    found = [
        tuple(released(KINDS[kind], table, "x", key=key, known=("y",))[1]) for key in range(per_profile(30, 200, 500))
    ]
    assert len(set(found)) == len(found)


def policy(kind):
    return shoal.Policy.model_validate(
        {
            "version": 1,
            "data": {"subject": "id"},
            "columns": {"y": "quasi", "x": {"role": "sensitive", "perturb": KINDS[kind].options}},
            "require": [{"model": "k-anonymity", "k": 2}],
            "draw": {"key_variable": KEY},
        }
    )


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_rows_says_nothing(kind, monkeypatch):
    """addNoise(method = "restr") of sdcMicro adds column means down the rows: a shift tells the number of the row."""
    monkeypatch.setenv(KEY, "a key for draws of every kind")
    data = {"id": list(range(60)), **numbers()}
    order = np.random.default_rng(9).permutation(60).tolist()
    shuffled = {name: [values[place] for place in order] for name, values in data.items()}
    frames = [shoal.anonymize(table, policy(kind)).to_frame("pandas") for table in (data, shuffled)]
    assert frames[0].equals(frames[1])


def test_memory_grows_with_the_rows_only():
    """addNoise(method = "ROMM") of sdcMicro needs a matrix of all pairs of rows: 200 MB for 5,000 of them."""
    rows = 5_000
    table = read(**{name: np.random.default_rng(place).integers(0, 99, rows) for place, name in enumerate("xyz")})
    for kind in KINDS.values():
        tracemalloc.start()
        released(kind, table, "x", known=("y", "z"))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 8 * rows * rows / 4
