"""The search finds what trying every scheme finds, whatever the models, the measure and the limit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.hierarchy.spec import bind_all
from shoal.kernels import library
from shoal.models.evidence import Gatherer
from shoal.models.model import MODELS
from shoal.population import Population
from shoal.qualities.quality import QUALITIES, FigureQuality, LevelQuality
from shoal.search.goal import Goal
from shoal.search.plain import Plain
from shoal.search.space import Space

LADDERS = {
    "age": {"kind": "interval", "widths": [2, 4]},
    "sex": {"kind": "suppression"},
    "zip": {"kind": "prefix", "keep": [1]},
}
REQUIREMENTS = [
    ("k-anonymity", {"k": 2}),
    ("k-anonymity", {"k": 3}),
    ("k-map", {"k": 4}),
    ("l-diversity", {"l": 2, "column": "dx"}),
    ("l-diversity", {"l": 2}),
    ("entropy-l-diversity", {"l": 1.5, "column": "dx"}),
    ("recursive-l-diversity", {"c": 2, "l": 2, "column": "dx"}),
    ("t-closeness", {"t": 0.4, "column": "dx"}),
    ("delta-disclosure", {"delta": 1.5, "column": "dx"}),
    ("basic-beta-likeness", {"beta": 1, "column": "dx"}),
    ("enhanced-beta-likeness", {"beta": 1, "column": "dx"}),
    ("alpha-k-anonymity", {"alpha": 0.6, "k": 2, "column": "dx"}),
    ("p-sensitive-k-anonymity", {"p": 2, "k": 2, "column": "dx"}),
    ("average-risk", {"risk": 0.4}),
    ("sample-uniqueness", {"share": 0.2}),
    ("subset-k-anonymity", {"m": 2, "k": 2}),
    ("lkc-privacy", {"l": 2, "k": 2, "c": 0.9}),
]


@st.composite
def goals(draw):
    size = draw(st.integers(1, 14))
    seeded = np.random.default_rng(draw(st.integers(0, 10_000)))
    table = shoal.read(
        {
            "age": seeded.integers(0, 9, size).tolist(),
            "sex": [None if one > 1 else "fm"[one] for one in seeded.integers(0, draw(st.sampled_from([2, 3])), size)],
            "zip": [f"{one // 2}{one}" for one in seeded.integers(0, 4, size)],
            "dx": [("flu", "gout", "ms")[one] for one in seeded.integers(0, 3, size)],
            "ward": [("a", "b")[one] for one in seeded.integers(0, 2, size)],
        }
    ).assign(quasi=["age", "sex", "zip"], sensitive=["dx", "ward"])
    hierarchies = bind_all(LADDERS, table)
    asked = draw(st.lists(st.sampled_from(REQUIREMENTS), min_size=1, max_size=3))
    models = tuple(MODELS[name](**parameters) for name, parameters in asked)
    space = Space.of(table, ["age", "sex", "zip"], hierarchies)
    missing = draw(st.sampled_from(["own", "own", "never"]))
    gatherer = Gatherer(table, missing=shoal.table.missing.Missing(missing), population=Population(size * 10))
    bulk = [name for name in QUALITIES if issubclass(QUALITIES[name], LevelQuality | FigureQuality)]
    quality = QUALITIES[draw(st.sampled_from([*bulk, "loss", "nue", "ambiguity"]))]()
    limit = draw(st.sampled_from([0, size // 4, size]))
    return Goal(space, gatherer, models, quality, limit, threads=draw(st.sampled_from([1, 2])))


def tried(goal):
    """Return every scheme that suppresses few enough, with its cost, by the slow way."""
    plain = Plain(goal.space, goal.gatherer, goal.models, goal.quality, goal.limit)
    counted = plain.counted(np.arange(len(goal.space)))
    fits = counted.suppressed <= goal.limit
    return {
        int(n): (float(p), int(s))
        for n, p, s in zip(counted.schemes[fits], counted.prices[fits], counted.suppressed[fits], strict=True)
    }


@pytest.mark.parametrize("kernels", ["c", "numpy"])
@given(goal=goals())
@settings(max_examples=120)
def test_the_search_finds_what_trying_every_scheme_finds(kernels, goal):
    with library.using(kernels):
        found = goal.optimum().best
        expected = tried(goal)
    if not expected:
        assert found is None
        return
    cheapest = min(price for price, _ in expected.values())
    assert found is not None
    assert expected[found.scheme][0] <= cheapest + 1e-9 * abs(cheapest)
    fewest = min(persons for price, persons in expected.values() if price <= cheapest + 1e-12 * abs(cheapest))
    assert expected[found.scheme][1] == found.suppressed
    assert found.suppressed <= fewest or not isinstance(goal.evaluator, Plain)


@given(goal=goals())
def test_fast_counts_are_those_of_the_slow_way(goal):
    if isinstance(goal.evaluator, Plain):
        return
    everything = Plain(goal.space, goal.gatherer, goal.models, goal.quality, 10**9)
    schemes = np.arange(len(goal.space))
    slow, fast = everything.counted(schemes), goal.evaluator.counted(schemes)
    assert fast.suppressed.tolist() == slow.suppressed.tolist()
    assert fast.lost.tolist() == slow.lost.tolist()
    assert fast.classes.tolist() == slow.classes.tolist()
