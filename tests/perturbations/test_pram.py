"""Post-randomisation: the matrix is as declared, and values change with its probabilities."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.effort import examples, per_profile
from tests.perturbed_values import read, released, values_of

from shoal.errors import PolicyError
from shoal.perturbations.pram import PostRandomisation, invariant

SMOKING = ["never"] * 700 + ["former"] * 200 + ["current"] * 100
OWN = {
    "never": {"never": 0.9, "former": 0.1},
    "former": {"former": 0.8, "current": 0.2},
    "current": {"never": 0.5, "current": 0.5},
}


@given(st.lists(st.integers(0, 100), min_size=2, max_size=12).filter(any), st.floats(0, 1))
@examples(300)
def test_the_invariant_matrix(counts, keep):
    shares = np.array(counts) / sum(counts)
    matrix = invariant(shares, keep)
    assert np.abs(shares @ matrix - shares).max() < 1e-12
    assert np.abs(matrix.sum(axis=1) - 1).max() < 1e-12
    assert (np.diag(matrix) >= keep).all()
    assert (matrix >= 0).all()


@pytest.mark.parametrize("options", [{"keep": 0.8}, {"matrix": OWN}])
def test_changes_are_within_their_binomial_interval(options):
    """Over many keys, every transition has the frequency of the published matrix."""
    table, pram = read(x=SMOKING), PostRandomisation(**options)
    matrix = pram.change(values_of(table, "x")).facts["matrix"]
    seen, keys = Counter(), per_profile(40, 200, 1000)
    for key in range(keys):
        seen.update(zip(*released(pram, table, "x", key=key), strict=True))
    totals = {name: SMOKING.count(name) * keys for name in set(SMOKING)}
    for old, row in matrix.items():
        assert sum(row.values()) == pytest.approx(1, abs=1e-8)
        for new, share in row.items():
            sd = np.sqrt(share * (1 - share) / totals[old])
            assert abs(seen[old, new] / totals[old] - share) <= 4 * sd + 1e-9
    assert sum(seen.values()) == len(SMOKING) * keys


def test_the_matrix_is_not_drawn():
    """The diagonal is fixed: sdcMicro takes the stated probability as a minimum and draws the diagonal above it."""
    table = read(x=SMOKING)
    matrices = [PostRandomisation(keep=0.8).change(values_of(table, "x", key=key)).facts["matrix"] for key in (1, 2)]
    assert matrices[0] == matrices[1]
    assert matrices[0]["never"]["never"] == pytest.approx(0.8 + 0.2 * 0.7)


def test_the_published_matrix_is_a_function_of_the_release():
    """The exact shares would disclose how many persons had a value, also one that no released record has."""
    table = read(x=["a"] * 500 + ["b"] * 300 + ["c"])
    pram = PostRandomisation(keep=0.9)
    matrix = pram.published(table["x"], np.array([480, 320, 0]))["matrix"]
    assert set(matrix) == {"a", "b"}
    shares = np.array([480, 320]) / 800
    rows = np.array([list(row.values()) for row in matrix.values()])
    assert np.abs(shares @ rows - shares).max() < 1e-8
    assert (np.diag(rows) >= 0.9).all()


def test_of_an_own_matrix_released_values_are_published():
    own = {"a": {"a": 0.5, "b": 0.4, "rare": 0.1}, "b": {"b": 0.9, "a": 0.1}, "rare": {"a": 1.0}}
    table = read(x=["a", "b", "rare"])
    found = PostRandomisation(matrix=own).published(table["x"], np.array([4, 5, 0]))["matrix"]
    assert found == {"a": {"a": 0.5, "b": 0.4, "other values": 0.1}, "b": {"a": 0.1, "b": 0.9}}


def test_missing_values_stay_missing():
    before, after = released(PostRandomisation(keep=0), read(x=["a", None, "b", "b", None]), "x")
    assert [value is None for value in after] == [value is None for value in before]


def test_kinds_of_values():
    for values in ([True, False] * 20, [1, 2, 3] * 20):
        before, after = released(PostRandomisation(keep=0.2), read(x=values), "x")
        assert {type(value) for value in after} == {type(value) for value in before}
        assert before != after


def test_own_matrices():
    with pytest.raises(ValidationError, match="add up to 1"):
        PostRandomisation(matrix={"a": {"a": 0.5, "b": 0.49}})
    PostRandomisation(matrix={"a": {"a": 1 / 3, "b": 2 / 3 - 1e-10}})
    with pytest.raises(ValidationError, match="no value changes"):
        PostRandomisation(matrix={"a": {"a": 1.0}})
    with pytest.raises(ValidationError):
        PostRandomisation(keep=1)
    with pytest.raises(ValidationError, match="either keep or matrix"):
        PostRandomisation(matrix=OWN, keep=0.5)
    with pytest.raises(PolicyError, match="no row for 1 of its 4 values"):
        released(PostRandomisation(matrix=OWN), read(x=[*SMOKING, "secret"]), "x")
    with pytest.raises(PolicyError, match="does not contain"):
        released(PostRandomisation(matrix={"a": {"b": 1.0}}), read(x=["a"]), "x")
