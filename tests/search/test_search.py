"""The search finds what trying every scheme finds, whatever the models, the measure and the limit."""

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.errors import Cancelled, ModelError, PolicyError
from shoal.hierarchy.spec import bind_all
from shoal.kernels import library
from shoal.kernels.witness import Witnesses
from shoal.models.evidence import Gatherer
from shoal.models.model import MODELS, AttributeModel, Better
from shoal.population import Population
from shoal.qualities.quality import QUALITIES, FigureQuality, LevelQuality
from shoal.search.blanks import Blanking
from shoal.search.evaluation import BySize, ByValues
from shoal.search.frontier import frontier
from shoal.search.goal import Goal
from shoal.search.plain import Plain
from shoal.search.space import Space
from shoal.table.missing import Missing
from tests.effort import examples

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
REGISTERED = [
    ("delta-presence", {"delta_min": 0, "delta_max": 0.6}),
    ("delta-presence", {"delta_min": 0.2, "delta_max": 1}),
    ("k-map", {"k": 3}),
]


@st.composite
def goals(draw, *, registered=False, several=False):
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
    if several:
        table = with_subject(table, seeded.integers(0, max(size // 2, 1), size))
    population = Population(size * 10)
    if registered:
        more = draw(st.lists(st.tuples(st.integers(0, 12), st.sampled_from("fm"), st.sampled_from("01")), max_size=20))
        own = [table.to_frame("pyarrow").to_pydict()[name] for name in ("age", "sex", "zip")]
        everybody = [*zip(*own, strict=True), *((age, sex, f"{half}{half}") for age, sex, half in more)]
        population = Population.of(
            shoal.read({name: [row[i] for row in everybody] for i, name in enumerate(("age", "sex", "zip"))})
        )
        table = population.covering(table, ["age", "sex", "zip"])
    hierarchies = bind_all(LADDERS, table)
    asked = draw(st.lists(st.sampled_from(REQUIREMENTS), min_size=0 if registered else 1, max_size=3))
    asked += draw(st.lists(st.sampled_from(REGISTERED), min_size=1, max_size=2)) if registered else []
    models = tuple(MODELS[name](**parameters) for name, parameters in asked)
    space = Space.of(table, ["age", "sex", "zip"], hierarchies)
    missing = draw(st.sampled_from(["own", "own", "never"]))
    gatherer = Gatherer(table, missing=Missing(missing), population=population)
    bulk = [name for name in QUALITIES if issubclass(QUALITIES[name], LevelQuality | FigureQuality)]
    quality = QUALITIES[draw(st.sampled_from([*bulk, "loss", "nue", "ambiguity"]))]()
    limit = draw(st.sampled_from([0, size // 4, size]))
    weights = {"age": draw(st.sampled_from([1.0, 3.0]))} if several and isinstance(quality, LevelQuality) else {}
    return Goal(space, gatherer, models, quality, limit, weights, threads=draw(st.sampled_from([1, 2])))


def with_subject(table, persons):
    columns = {**table.to_frame("pyarrow").to_pydict(), "who": persons.tolist()}
    return shoal.read(columns).assign(quasi=["age", "sex", "zip"], sensitive=["dx", "ward"], subject="who")


def tried(goal):
    """Return every scheme that suppresses few enough, with its cost, by the slow way."""
    plain = Plain(goal.space, goal.gatherer, goal.models, goal.quality, goal.limit)
    counted = plain.counted(np.arange(len(goal.space)))
    fits = counted.suppressed <= goal.limit
    return {
        int(n): (float(p), int(s))
        for n, p, s in zip(counted.schemes[fits], counted.prices[fits], counted.suppressed[fits], strict=True)
    }


@given(goal=goals(several=True))
@examples(100)
def test_the_search_finds_the_best_scheme_for_persons_with_several_records(goal):
    """Including the weights of columns, which schemes evaluated one by one once ignored."""
    plain, found = goal.plain, goal.optimum().best
    judged = {scheme: plain.judged(scheme) for scheme in range(len(goal.space))}
    costs = {
        scheme: goal.cost(plain.recoding(scheme, result.suppressed))
        for scheme, result in judged.items()
        if result.persons <= goal.limit
    }
    assert (found is None) == (not any(np.isfinite(cost) for cost in costs.values()))
    if found is not None:
        cheapest = min(costs.values())
        assert costs[found.scheme] == pytest.approx(cheapest, rel=1e-9, abs=1e-12)
        assert found.price == pytest.approx(cheapest, rel=1e-9, abs=1e-12)
        assert found.suppressed == judged[found.scheme].persons


@pytest.mark.parametrize("kernels", ["c", "numpy"])
@given(goal=goals())
@examples(60)
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


class NearMean(AttributeModel):
    """The mean of a numeric column in a class is at least ``apart`` from that of the table: merging may break it."""

    name: ClassVar[str] = "near-mean"
    measured: ClassVar[Mapping[str, Better]] = {"apart": Better.MORE}
    apart: float | None = None

    def measure(self, evidence):
        return {"apart": float(self._apart(evidence).min())}

    def failing(self, evidence):
        return self._apart(evidence) < (self.apart or 0)

    @staticmethod
    def _apart(evidence):
        histogram = evidence.histogram
        sums = np.add.reduceat(histogram.codes * histogram.counts, histogram.starts[:-1])
        reference = np.average(np.arange(len(histogram.reference)), weights=histogram.reference)
        return np.abs(sums / np.add.reduceat(histogram.counts, histogram.starts[:-1]) - reference)


@given(goal=goals(), apart=st.sampled_from([0.1, 0.25, 0.5, 0.7]))
@examples(150)
def test_a_numeric_model_that_promises_nothing_is_searched_right(goal, apart):
    """A search may skip nothing that such a model could allow."""
    goal = replace(goal, models=(*goal.models[:1], NearMean(apart=apart, column="dx")))
    found, expected = goal.optimum().best, tried(goal)
    if not expected:
        assert found is None
        return
    cheapest = min(price for price, _ in expected.values())
    assert found is not None
    assert expected[found.scheme][0] <= cheapest + 1e-9 * abs(cheapest)


@given(goal=goals(registered=True))
@examples(60)
def test_a_search_with_a_register_finds_what_trying_every_scheme_finds(goal):
    found, expected = goal.optimum().best, tried(goal)
    if not expected:
        assert found is None
        return
    cheapest = min(price for price, _ in expected.values())
    assert expected[found.scheme][0] <= cheapest + 1e-9 * abs(cheapest)
    assert expected[found.scheme][1] == found.suppressed


def test_missing_values_that_match_nobody_do_not_share_entries_of_a_register():
    """Each of two persons had both entries, and merging them only one half of that: no average of the parts."""
    rows = pa.table({"age": [4, 4], "sex": pa.array([None, None], pa.string()), "zip": ["00", "00"]})
    names = rows.column_names
    population = Population.of(shoal.read(rows))
    table = population.covering(shoal.read(rows).assign(quasi=names), names)
    gatherer = Gatherer(table, missing=Missing.NEVER, population=population)
    models = (MODELS["delta-presence"](delta_min=0, delta_max=0.6),)
    goal = Goal(Space.of(table, names, bind_all(LADDERS, table)), gatherer, models, QUALITIES["loss"](), 0)
    assert not tried(goal)
    assert goal.optimum().best is None


@given(goal=st.one_of(goals(), goals(registered=True)))
def test_fast_counts_are_those_of_the_slow_way(goal):
    if isinstance(goal.evaluator, Plain):
        return
    everything = Plain(goal.space, goal.gatherer, goal.models, goal.quality, 10**9)
    schemes = np.arange(len(goal.space))
    slow, fast = everything.counted(schemes), goal.evaluator.counted(schemes)
    fits = slow.suppressed <= goal.limit  # of others only that is counted
    assert fast.suppressed.tolist() == slow.suppressed.tolist()
    assert fast.lost[fits].tolist() == slow.lost[fits].tolist()
    assert fast.classes[fits].tolist() == slow.classes[fits].tolist()


@given(goal=goals(), sizes=st.lists(st.integers(1, 5), min_size=1, max_size=3), limits=st.just([0.0, 0.25, 1.0]))
@examples(40)
def test_every_point_of_the_frontier_is_an_optimum(goal, sizes, limits):
    found = frontier(goal, sizes, limits)
    assert [(point.k, point.limit) for point in found.points] == list(product(sorted(set(sizes)), limits))
    for point in found.points:
        models = (*goal.models, MODELS["k-anonymity"](k=point.k))
        limit = int(point.limit * goal.space.table.records)
        best = Goal(goal.space, goal.gatherer, models, goal.quality, limit, threads=1).optimum().best
        if best is None:
            assert point.scheme is None
        else:
            assert point.price == pytest.approx(best.price, rel=1e-9, abs=1e-12)
            assert (point.suppressed, point.scheme) == (best.suppressed, goal.space.scheme(best.scheme))


def small_goal(quality="loss", limit=0, bounds=None, **options):
    table = shoal.read({"age": [1, 2, 3, 4, 5, 6], "sex": list("fmfmfm"), "zip": ["00"] * 3 + ["11"] * 3})
    space = Space.of(table, ["age", "sex", "zip"], bind_all(LADDERS, table), bounds)
    return Goal(space, Gatherer(table), (MODELS["k-anonymity"](k=2),), QUALITIES[quality](), limit, **options)


def test_more_columns_than_a_search_takes_are_refused():
    table = shoal.read({f"c{number}": ["a", "b"] for number in range(65)})
    ladders = bind_all({name: {"kind": "suppression"} for name in table.names}, table)
    bounds = dict.fromkeys(table.names, (0, 0))
    with pytest.raises(PolicyError, match="64 quasi-identifiers, not 65"):
        Space.of(table, table.names, ladders, bounds)


def test_weights_decide_which_column_is_spared():
    """What counts more is made coarser last."""
    spared = {}
    for name in ("age", "sex"):
        goal = small_goal(weights={name: 50.0})
        spared[name] = goal.space.scheme(goal.optimum().best.scheme)
    assert spared["age"]["age"] < spared["sex"]["age"]
    assert spared["sex"]["sex"] < spared["age"]["sex"]


def test_levels_stay_within_their_bounds():
    goal = small_goal(limit=2, bounds={"age": (2, 2), "sex": (0, 0)})
    assert goal.space.scheme(goal.optimum().best.scheme)["age"] == 2
    assert len(goal.space) == 3
    with pytest.raises(PolicyError, match="levels 0 to 3"):
        small_goal(bounds={"age": (0, 9)})
    with pytest.raises(PolicyError, match="which is not a quasi-identifier"):
        small_goal(bounds={"dx": (0, 1)})


def test_only_few_schemes_are_looked_at():
    """Speed is guarded by counting work: here, the schemes that bounds cannot rule out."""
    seeded = np.random.default_rng(1)
    names = [f"c{number}" for number in range(6)]
    table = shoal.read({name: seeded.integers(0, 16, 3000).tolist() for name in names})
    hierarchies = bind_all({name: {"kind": "interval", "widths": [2, 4, 8]} for name in names}, table)
    space = Space.of(table, names, hierarchies)
    for limit in (0, 60, 3000):
        goal = Goal(space, Gatherer(table), (MODELS["k-anonymity"](k=5),), QUALITIES["loss"](), limit, threads=1)
        outcome = goal.optimum()
        assert outcome.schemes == 5**6
        assert outcome.evaluated < 5**6 / 5
        assert isinstance(goal.evaluator, BySize)


def test_a_search_where_missing_matches_anything_is_refused():
    goal = small_goal()
    wild = Gatherer(goal.space.table, missing=Missing.WILDCARD)
    with pytest.raises(ModelError, match="Schemes cannot be searched if missing values match any"):
        Goal(goal.space, wild, goal.models, goal.quality, 0)


def test_who_judges():
    """The fast evaluators are used where they can be."""
    table = shoal.read({"age": [1, 2, 3], "dx": ["a", "b", "a"]}).assign(quasi=["age"], sensitive=["dx"])
    space = Space.of(table, ["age"], bind_all({"age": {"kind": "suppression"}}, table))
    kinds = {
        ("k-anonymity", "loss"): BySize,
        ("l-diversity", "loss"): ByValues,
        ("average-risk", "loss"): ByValues,
        ("k-anonymity", "ambiguity"): Plain,
        ("subset-k-anonymity", "loss"): Plain,
    }
    parameters = {"average-risk": {"risk": 0.5}, "l-diversity": {"l": 2}}
    for (model, quality), kind in kinds.items():
        asked = MODELS[model](**parameters.get(model, {"k": 2}))
        goal = Goal(space, Gatherer(table), (asked,), QUALITIES[quality](), 0)
        assert isinstance(goal.evaluator, kind)


@given(
    rows=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 8), st.sampled_from("fm")), min_size=1, max_size=16),
    k=st.integers(1, 4),
    share=st.sampled_from([0, 0.3, 1]),
)
def test_persons_with_records_in_several_classes(rows, k, share):
    """k counts persons; the records of classes that are too small go, and with them persons count as suppressed."""
    data = {"who": [row[0] for row in rows], "age": [row[1] for row in rows], "sex": [row[2] for row in rows]}
    table = shoal.read(data).assign(quasi=["age", "sex"], subject="who")
    hierarchies = bind_all({name: LADDERS[name] for name in ("age", "sex")}, table)
    space = Space.of(table, ["age", "sex"], hierarchies)
    everybody = len({row[0] for row in rows})
    limit = int(share * everybody)
    found = Goal(space, Gatherer(table), (MODELS["k-anonymity"](k=k),), QUALITIES["precision"](), limit).optimum().best
    best = None
    for age, sex in product(range(4), range(2)):
        seen = [(row[1] // (1, 2, 4, 99)[age], row[2] if sex == 0 else "*") for row in rows]
        persons = {key: {row[0] for row, other in zip(rows, seen, strict=True) if other == key} for key in set(seen)}
        lost = [len(persons[key]) < k for key in seen]
        gone = {row[0] for row, left in zip(rows, lost, strict=True) if left}
        if len(gone) <= limit:
            cost = sum(1 if left else (age / 3 + sex) / 2 for left in lost) / len(rows)
            best = cost if best is None else min(best, cost)
    if best is None:
        assert found is None
    else:
        assert found.price == pytest.approx(best, abs=1e-12)


def stopped(after, limit=6):
    """Return what is told when a search is stopped after so many calls, and the last progress before."""
    calls = []

    def impatient(progress):
        calls.append(progress)
        if len(calls) == after:
            raise KeyboardInterrupt

    with pytest.raises(Cancelled) as raised:
        small_goal(limit=limit).optimum(impatient)
    return str(raised.value), calls[-1]


def test_whoever_stops_a_search_is_told_the_best_so_far():
    told, last = stopped(after=3)
    assert re.search(
        r"Best scheme so far: cost [\d.]+, \d+ individuals suppressed, levels age \d, sex \d, zip \d", told
    )
    assert "best cost so far" in last.note
    assert last.total == 4 * 2 * 3
    assert "had been found" in stopped(after=1)[0]


def test_whoever_stops_a_search_without_suppression_is_told_the_best_so_far():
    assert isinstance(small_goal(limit=0).evaluator, BySize)
    told, last = stopped(after=2, limit=0)
    assert re.search(r"Best scheme so far: cost [\d.]+, 0 individuals suppressed, levels age \d, sex \d, zip \d", told)
    assert "best cost so far" in last.note
    assert 0 < last.done <= last.total == 4 * 2 * 3
    assert "had been found" in stopped(after=1, limit=0)[0]


@examples(60)
@given(goal=goals(), seconds=st.sampled_from([1e-9, 60]))
def test_best_first_finds_the_best_and_proves_it(goal, seconds):
    """With time enough it is the best; without, nothing is cheaper than the bound."""
    best, found = goal.optimum().best, goal.optimum(most=0, seconds=seconds)
    if best is None or found.best is None:
        assert best is found.best is None
        return
    slack = 1e-9 * abs(best.price)
    assert found.best.price >= best.price - slack
    assert found.bound <= best.price + slack
    if seconds == 60:
        assert found.best.price <= best.price + slack
        assert found.gap == 0
    elif np.isfinite(found.bound):
        assert found.best.price - found.bound <= found.gap * found.best.price + slack
    else:
        assert found.gap == 1  # nothing is proved


def test_best_first_with_more_columns_than_fit_into_a_key():
    """Thirty columns of four bits, of which the first rows share most: the best scheme is known."""
    seeded = np.random.default_rng(3)
    data = {f"c{column:02}": np.repeat(seeded.integers(0, 16, 20), 2).tolist() for column in range(29)}
    data["last"] = list(range(40))
    names = list(data)
    table = shoal.read(data).assign(quasi=names)
    space = Space.of(table, names, bind_all({name: {"kind": "suppression"} for name in names}, table))
    assert len(space) > 10**9
    goal = Goal(space, Gatherer(table), (MODELS["k-anonymity"](k=2),), QUALITIES["loss"](), 0)
    found = goal.optimum(seconds=60)
    assert space.scheme(found.best.scheme) == {name: int(name == "last") for name in names}
    assert found.gap == 0


def large_goal(seed, quality, limit, threads):
    """Return a goal with some thousand schemes: layers are then looked at in parts, and from above."""
    seeded = np.random.default_rng(seed)
    rows = 400
    columns = {
        "age": (seeded.random(rows) ** 2 * 60).astype(int) + 20,
        "income": (seeded.gamma(2, 300, rows)).astype(int),
        "zip": [f"{place:03d}" for place in (seeded.random(rows) ** 3 * 120).astype(int)],
        "weight": (seeded.normal(75, 12, rows)).astype(int),
        "sex": seeded.choice(["f", "m"], rows),
        "children": seeded.poisson(1.2, rows),
    }
    ladders = {
        "age": {"kind": "interval", "widths": [2, 10, 20]},
        "income": {"kind": "interval", "widths": [50, 250, 1000]},
        "zip": {"kind": "prefix", "keep": [2, 1]},
        "weight": {"kind": "interval", "widths": [5, 20]},
        "sex": {"kind": "suppression"},
        "children": {"kind": "interval", "widths": [2, 4]},
    }
    table = shoal.read(columns)
    space = Space.of(table, table.names, bind_all(ladders, table))
    model = MODELS["k-anonymity"](k=3)
    return Goal(space, Gatherer(table), (model,), QUALITIES[quality](), int(limit * rows), threads=threads)


@pytest.mark.parametrize("limit", [0, 0.03, 0.2, 1])
@pytest.mark.parametrize(("seed", "quality", "threads"), [(1, "loss", 1), (2, "nue", 2), (3, "loss-arithmetic", 2)])
def test_in_a_large_lattice_nothing_better_is_passed_over(seed, quality, threads, limit):
    goal = large_goal(seed, quality, limit, threads)
    assert len(goal.space) > 2000
    outcome = goal.optimum()
    assert outcome.evaluated < len(goal.space) / 2
    (expected,) = frontier(goal, [1], [limit]).points
    best = outcome.best
    found = (best.price, best.suppressed, best.classes, goal.space.scheme(best.scheme))
    assert found == (expected.price, expected.suppressed, expected.classes, expected.scheme)


@pytest.mark.parametrize("limit", [0, 0.03, 0.2])
@pytest.mark.parametrize(("seed", "quality"), [(4, "loss"), (5, "nue"), (6, "granularity")])
def test_nothing_better_is_passed_over_if_few_are_looked_at_together(monkeypatch, seed, quality, limit):
    """Two at a time: then schemes above are looked at often, and tell what that means for those below."""
    from shoal.search import optimum

    monkeypatch.setattr(Witnesses, "fit", lambda *_: False)  # by layers, also where nobody may be suppressed
    monkeypatch.setattr(optimum, "_TOGETHER", 2)
    monkeypatch.setattr(optimum, "_PART", 1 << 30)
    over, seen = optimum.LayerStage.over, []
    monkeypatch.setattr(optimum.LayerStage, "over", lambda *args: seen.append(over(*args)) or seen[-1])
    goal = large_goal(seed, quality, limit, 1)
    best = goal.optimum().best
    (expected,) = frontier(goal, [1], [limit]).points
    assert (best.price, best.suppressed, goal.space.scheme(best.scheme)) == (
        expected.price,
        expected.suppressed,
        expected.scheme,
    )
    assert any(len(held) for held in seen)


def test_many_threads_for_few_schemes_are_no_matter():
    table = shoal.read({"age": [1, 2, 3, 4, 5, 6] * 3, "sex": list("fmfmfm") * 3, "dx": list("abcabc") * 3})
    table = table.assign(quasi=["age", "sex"], sensitive="dx")
    space = Space.of(table, ["age", "sex"], bind_all({name: LADDERS[name] for name in ("age", "sex")}, table))
    models = (MODELS["l-diversity"](l=2),)
    found = [
        Goal(space, Gatherer(table), models, QUALITIES["loss"](), 0, threads=threads).optimum().best
        for threads in (1, 64)
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize("k", [7, 1 << 32, (1 << 32) + 1, 10**12])
def test_no_class_is_large_enough_if_more_persons_are_asked_for_than_there_are(k):
    goal = small_goal()
    goal = Goal(goal.space, goal.gatherer, (MODELS["k-anonymity"](k=k),), goal.quality, 0)
    assert goal.optimum().best is None
    assert frontier(small_goal(), [k], [0.0]).points[0].scheme is None


def test_a_ladder_of_very_many_levels_is_searched():
    table = shoal.read({"x": [f"{number:03d}" for number in range(300)], "sex": list("fm") * 150})
    labels = {f"{number:03d}": [f"{max(number, step)}" for step in range(1, 299)] for number in range(300)}
    ladders = bind_all({"x": {"kind": "explicit", "values": labels}, "sex": {"kind": "suppression"}}, table)
    space = Space.of(table, ["x", "sex"], ladders)
    goal = Goal(space, Gatherer(table), (MODELS["k-anonymity"](k=150),), QUALITIES["loss"](), 150, threads=1)
    best = goal.optimum().best
    assert max(space.shape) > 256
    assert expected_price(goal) == pytest.approx(best.price)


def expected_price(goal):
    """Return the lowest price of all schemes, each judged by itself."""
    return min(price for price, _ in tried(goal).values())


def test_a_label_that_says_more_than_the_one_above_it_is_not_passed_over():
    """What a level costs need not rise from one to the next: a label may state more than the values above it cover."""
    seeded = np.random.default_rng(413)
    rows, ages = int(seeded.choice([40, 150])), np.array([5, 6, 50, 55, 100])
    names = [f"c{place}" for place in range(4)]
    table = shoal.read({name: ages[(seeded.random(rows) ** 2 * 5).astype(int)] for name in names})
    labels = {"5": ["0-5", "few"], "6": ["6-49", "few"], "50": ["50-54", "mid"], "55": ["55-99", "mid"]}
    labels["100"] = ["100-200", "many"]
    ladders = bind_all({name: {"kind": "explicit", "values": labels} for name in names}, table)
    space = Space.of(table.assign(quasi=names), names, ladders, dict.fromkeys(names[1:], (1, 3)))
    for limit in (10, 13, 20):
        goal = Goal(space, Gatherer(table), (MODELS["k-anonymity"](k=2),), QUALITIES["ncp"](), limit, threads=1)
        expected = expected_price(goal)
        assert goal.optimum().best.price == pytest.approx(expected)
        assert goal.optimum(most=0).best.price == pytest.approx(expected)


def hiding(seed):
    """Return a space in which some values show nothing on a level on which others do."""
    seeded = np.random.default_rng(seed)
    size, names = int(seeded.integers(20, 60)), ["a", "b", "c"]
    table = shoal.read({name: [f"v{value}" for value in seeded.integers(0, 6, size)] for name in names})
    hidden = seeded.random((3, 3)) < 0.5
    ladders = {
        name: {
            "kind": "explicit",
            "values": {f"v{i}": ["*", "*"] if lost[i // 2] else [f"g{i // 2}", f"h{i // 4}"] for i in range(6)},
        }
        for name, lost in zip(names, hidden, strict=True)
    }
    table = table.assign(quasi=names)
    return table, Space.of(table, tuple(names), bind_all(ladders, table)), seeded


@pytest.mark.parametrize("seed", range(12))
def test_what_shows_nothing_is_counted_alike_in_bulk_and_scheme_by_scheme(seed):
    table, space, seeded = hiding(seed)
    models = (MODELS["k-anonymity"](k=int(seeded.integers(2, 5))),)
    goal = Goal(space, Gatherer(table), models, QUALITIES["loss"](), table.records)
    schemes = np.arange(len(space))
    in_bulk, one_by_one = goal.evaluator.counted(schemes), goal.plain.counted(schemes)
    assert isinstance(goal.evaluator, Blanking) == space.blanks_some
    for part in ("suppressed", "lost", "classes"):
        assert getattr(in_bulk, part).tolist() == getattr(one_by_one, part).tolist()
    assert goal.objective.priced(in_bulk).prices == pytest.approx(one_by_one.prices)
    for held, k in zip(goal.evaluator.by_sizes(schemes, [2, 5]), (2, 5), strict=True):
        other = replace(goal, models=(MODELS["k-anonymity"](k=max(k, models[0].k)),)).plain.counted(schemes)
        assert held.suppressed.tolist() == other.suppressed.tolist()


@pytest.mark.parametrize("seed", [*range(10), 189, 316, 494, 536, 550, 626, 747, 788])  # some of which tell
def test_where_suppressing_costs_less_than_keeping(seed):
    """Values that are suppressed on every level make a level dearer than a record that is left out: no bound holds."""
    table, space, seeded = hiding(seed)
    limit = int(seeded.choice([0.1, 0.3, 0.5]) * table.records)
    models = (MODELS["k-anonymity"](k=int(seeded.integers(2, 5))),)
    goal = Goal(space, Gatherer(table), models, QUALITIES["height"](), limit)
    found, prices = goal.optimum().best, tried(goal)
    assert (found is None) == (not prices)
    if found is not None:
        assert prices[found.scheme][0] == pytest.approx(min(price for price, _ in prices.values()), abs=1e-12)


@pytest.mark.parametrize("limit", [0, 4])
@pytest.mark.parametrize("name", sorted(QUALITIES))
def test_every_measure_can_be_sought(name, limit):
    """What is found costs no more, by the measure itself, than any other scheme."""
    seeded = np.random.default_rng(7)
    age = seeded.integers(30, 50, 60)
    columns = {"age": age.tolist(), "sex": seeded.choice(list("fm"), 60).tolist(), "dx": (age > 41).tolist()}
    table = shoal.read(columns).assign(quasi=["age", "sex"], sensitive="dx")
    ladders = bind_all({"age": {"kind": "interval", "widths": [5, 10]}, "sex": {"kind": "suppression"}}, table)
    given_to = {"target": "dx"} if name == "classification-metric" else {}
    space, quality = Space.of(table, ["age", "sex"], ladders), QUALITIES[name](**given_to)
    goal = Goal(space, Gatherer(table), (MODELS["k-anonymity"](k=3),), quality, limit)
    plain = goal.plain.counted(np.arange(len(space)))
    best = goal.optimum().best
    assert best.suppressed == plain.suppressed[best.scheme] <= limit
    assert plain.prices[best.scheme] == pytest.approx(plain.prices[plain.suppressed <= limit].min(), rel=1e-9)


SAYS_MORE = {str(age): ["0-19" if age > 15 else str(age), "16-19" if age > 15 else "0-15"] for age in range(20)}
ODD_LADDERS = {
    "a star in the data": (["a0", "a1", "b0", "c0", "d0", "e0"], ["*"] * 4, {"kind": "prefix", "keep": [1]}, (0, 2)),
    "a label that says more": (
        list(range(16)),
        list(range(16, 20)),
        {"kind": "explicit", "values": SAYS_MORE, "check_labels": False},
        (1, 3),
    ),
    "hidden below": (
        ["a0", "a1", "b0", "c0"],
        ["x", "x", "y"],
        {"kind": "explicit", "values": {one: [one[0]] for one in ("a0", "a1", "b0", "c0")} | {"x": ["z"], "y": ["z"]}},
        (0, 2),
    ),
}


@pytest.mark.parametrize("ladder", ODD_LADDERS)
@pytest.mark.parametrize("name", [name for name in QUALITIES if issubclass(QUALITIES[name], LevelQuality)])
@pytest.mark.parametrize("limit", [3, 4, 10])
def test_labels_that_say_more_than_finer_ones(ladder, name, limit):
    """Then suppression adds less to a finer scheme than to a coarser one, and no bound may be made of it."""
    common, rare, how, bounds = ODD_LADDERS[ladder]
    values = [*(one for one in common for _ in range(5)), *rare]
    table = shoal.read({"x": values, "sex": ["f"] * len(values)}).assign(quasi=["x", "sex"])
    space = Space.of(table, ["x", "sex"], bind_all({"x": how, "sex": {"kind": "suppression"}}, table), {"x": bounds})
    goal = Goal(space, Gatherer(table), (MODELS["k-anonymity"](k=5),), QUALITIES[name](), limit)
    plain = goal.plain.counted(np.arange(len(space)))
    for best in (goal.optimum().best, goal.optimum(most=0).best):
        assert best.suppressed == plain.suppressed[best.scheme] <= limit
        assert plain.prices[best.scheme] == pytest.approx(plain.prices[plain.suppressed <= limit].min(), abs=1e-12)


def test_a_frontier_that_would_take_hours_is_refused_at_once():
    """The hint says how to have it nevertheless; what is looked at one by one takes longest."""
    names = [f"c{place}" for place in range(5)]
    table = shoal.read({name: list(range(400)) for name in names}).assign(quasi=names)
    kinds = {name: {"kind": "interval", "widths": [2, 4, 8, 16, 32, 64]} for name in names}
    quick = Goal(Space.of(table, names, bind_all(kinds, table)), Gatherer(table), (), QUALITIES["loss"](), 0)
    slow = replace(quick, quality=QUALITIES["kl-divergence"]())
    assert quick.evaluator.work(400) < slow.evaluator.work(400) / 1000
    with pytest.raises(ModelError, match="can be evaluated in a few minutes") as refused:
        frontier(slow)
    assert f"most={8**5}" in refused.value.hint
    with pytest.raises(ModelError, match="at most 2 are allowed"):
        frontier(quick, most=2)
