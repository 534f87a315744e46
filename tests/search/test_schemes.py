"""All schemes: against the slow reference, and against the search for the best."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import shoal
from shoal.errors import ModelError
from shoal.search.schemes import Schemes
from tests.effort import examples


def policy(k=2, suppression=0.2, more=""):
    return shoal.Policy.parse(f"""
version = 1
columns.age = {{ role = "quasi", hierarchy = {{ kind = "interval", widths = [10, 30] }} }}
columns.sex = "quasi"
columns.dx = "sensitive"
require = [{{ model = "k-anonymity", k = {k} }}{more}]
search = {{ suppression = {suppression} }}
""")


ROWS = st.lists(st.tuples(st.integers(20, 60), st.sampled_from("fmx"), st.sampled_from("abc")), min_size=3, max_size=30)


@examples(40)
@given(rows=ROWS, k=st.integers(1, 4), limit=st.sampled_from([0, 0.1, 0.5]), diverse=st.booleans())
def test_they_agree_with_the_search_and_with_a_slow_count(rows, k, limit, diverse):
    data = dict(zip(("age", "sex", "dx"), map(list, zip(*rows, strict=True)), strict=True))
    assume(not diverse or len(set(data["dx"])) > 1)  # otherwise the requirement is refused
    told = policy(k, limit, ', { model = "l-diversity", l = 2, column = "dx" }' if diverse else "")
    found = shoal.schemes(data, told)
    table = told.apply(shoal.read(data))
    ladders = told.hierarchies(table)
    for place in range(len(found)):
        levels = found.scheme(place)
        labels = [ladders[name].labels(levels[name]).take(table.codes(name)).to_pylist() for name in ("age", "sex")]
        keys = list(zip(*labels, strict=True))
        values = {key: {dx for other, dx in zip(keys, data["dx"], strict=True) if other == key} for key in keys}
        bad = sum(keys.count(key) < k or (diverse and len(values[key]) < 2) for key in keys)
        assert found.suppressed[place] == bad
        assert found.place(levels) == place
    try:
        release = shoal.anonymize(data, told)
    except shoal.ShoalError:
        assert found.best is None
        return
    assert found.scheme(found.best) == release.scheme
    assert found.suppressed[found.best] == release.suppressed


def test_the_finest_have_no_finer_neighbour_that_will_do():
    rng = np.random.default_rng(3)
    data = {"age": rng.integers(20, 60, 80), "sex": rng.choice(list("fm"), 80), "dx": rng.choice(list("ab"), 80)}
    found = shoal.schemes(data, policy(3, 0.1))
    meets = {tuple(levels): good for levels, good in zip(found.levels.tolist(), found.meets, strict=True)}
    for levels, finest in zip(found.levels.tolist(), found.finest(), strict=True):
        below = [tuple(np.array(levels) - step) for step in np.eye(len(levels), dtype=int)]
        assert finest == (meets[tuple(levels)] and not any(meets.get(one, False) for one in below))
    assert found.finest().any()


def test_too_many_are_refused():
    with pytest.raises(ModelError, match="generalisation schemes, which are too many to list"):
        shoal.schemes({"age": [1, 2], "sex": ["f", "m"], "dx": ["a", "b"]}, policy(), most=3)


def test_many_columns_of_two_levels_take_little_room():
    """Sixteen columns have 65,536 schemes; who is finest is found without a table of all levels and one more each."""
    found = Schemes(
        tuple(f"c{place}" for place in range(16)),
        np.stack(np.unravel_index(np.arange(1 << 16), (2,) * 16), axis=1),
        np.zeros(1 << 16),
        np.where(np.arange(1 << 16) % 2, 0, 5),
        limit=0,
        persons=10,
        quality="loss",
        best=None,
        shape=(2,) * 16,
    )
    assert np.flatnonzero(found.finest()).tolist() == [1]
