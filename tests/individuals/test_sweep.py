"""The generalisation sweep against the paper's partitions, all partitions, and the definition."""

import csv
import json
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples

import shoal
from shoal.errors import ColumnError, ModelError


def points(path):
    with path.open() as file:
        return list(csv.DictReader(file))


@pytest.fixture
def cervical(shared):
    return shoal.peers(shoal.read(shared / "data/kroes/cervical.csv"), sensitive="biopsy")


FILES = {"age": "fig4_age.csv", "num_pregnancies": "fig4_pregnancies_true_value_0_11.csv"}


@pytest.mark.parametrize("variable", FILES)
def test_every_point_of_figure_4(shared, cervical, variable):
    wanted = points(shared / "oracles/kroes" / FILES[variable])
    found = cervical.sweep(variable, "biopsy").equal_width
    assert len(found) == len(wanted)
    for one, point in zip(found, wanted, strict=True):
        assert (one.categories, one.width, one.offset) == tuple(
            int(point[key]) for key in ("n_categories", "width", "offset")
        )
        assert len(one.partition.intervals) == int(point["nonempty_categories"])
        assert one.partition.share == pytest.approx(float(point["share_protected"]), abs=1e-12)


@pytest.mark.parametrize(("file", "order"), [("numeric_rank", int), ("R_lexicographic", str)])
def test_the_points_of_figure_4b_as_published(shared, file, order):
    """The paper's code numbers the pregnancies from 1, in the order of their text, in which 10 comes before 2."""
    wanted = points(shared / f"oracles/kroes/fig4_pregnancies_{file}_order.csv")
    data = shoal.read(shared / "data/kroes/cervical.csv").to_arrow().to_pydict()
    ranks = {
        value: place for place, value in enumerate(sorted(set(data["num_pregnancies"]), key=lambda v: order(int(v))), 1)
    }
    data["num_pregnancies"] = [ranks[value] for value in data["num_pregnancies"]]
    found = shoal.peers(data, sensitive="biopsy").sweep("num_pregnancies", "biopsy").equal_width
    assert [one.partition.share for one in found] == pytest.approx(
        [float(p["share_protected"]) for p in wanted], abs=1e-12
    )


@pytest.mark.parametrize("variable", FILES)
def test_the_best_partitions(shared, cervical, variable):
    wanted = json.loads((shared / "oracles/kroes/dp_optimal_partitions.json").read_text())[variable]
    swept = cervical.sweep(variable, "biopsy")
    assert len(swept.best) == len(wanted)
    for number, best in enumerate(swept.best, 1):
        assert len(best.intervals) == number
        assert best.protected == wanted[str(number)]["protected"]
    assert swept.best[0].protected == (761 if variable == "age" else 463)  # 96.5 % and 58.7 % of 789
    assert max(one.partition.protected for one in swept.equal_width) == swept.best[0].protected


rows = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1), st.integers(0, 2)), min_size=2, max_size=12)


def protected(records, intervals, p, missing):
    """Count by the definition: cut, then look at every combination of what is known."""

    def cut(value):
        return None if value is None else next(place for place, (a, b) in enumerate(intervals) if a <= value <= b)

    coarse = [(cut(v), other, secret) for v, other, secret in records]
    safe = 0
    for row in coarse:
        shares = []
        for known in ([0], [1], [0, 1]):
            lacking = missing == "never" and any(row[place] is None for place in known)
            like = [row] if lacking else [one for one in coarse if all(one[place] == row[place] for place in known)]
            shares.append(1 - Fraction(sum(one[2] == row[2] for one in like), len(like)))
        safe += min(shares) > p
    return safe


@examples(150)
@given(
    records=rows,
    p=st.sampled_from([0, Fraction(1, 3)]),
    smallest=st.integers(1, 3),
    holes=st.integers(0, 2),
    missing=st.sampled_from(["own", "never"]),
)
def test_all_partitions_by_the_definition(records, p, smallest, holes, missing):
    holes = min(holes, len(records) - 1)
    records = [(None if place < holes else v, other, secret) for place, (v, other, secret) in enumerate(records)]
    data = {"v": [r[0] for r in records], "o": [r[1] for r in records], "s": [r[2] for r in records]}
    swept = shoal.peers(data, sensitive="s", p=p, missing=missing).sweep("v", "s", smallest_class=smallest)
    values = sorted({v for v, *_ in records if v is not None})
    persons = [v for v, *_ in records if v is not None]
    span = max(values[-1] - values[0], 1)
    every = []
    for number in range(1, len(values) + 1):
        here = []
        for tops in combinations(range(1, len(values)), number - 1):
            ends = [*tops, len(values)]
            cuts = [(values[a], values[b - 1]) for a, b in zip([0, *tops], ends, strict=True)]
            sizes = [sum(a <= v <= b for v in persons) for a, b in cuts]
            loss = sum(Fraction(b - a, span) * size for (a, b), size in zip(cuts, sizes, strict=True)) / len(records)
            if min(sizes) >= smallest:
                here.append((protected(records, cuts, p, missing), loss))
        best = swept.best[number - 1]
        if not here:
            assert best is None
            continue
        most = max(safe for safe, _ in here)
        assert best.protected == most
        assert best.loss == pytest.approx(float(min(loss for safe, loss in here if safe == most)))
        assert best.smallest >= smallest
        every += here
    frontier = {pair for pair in every if not any(o[0] >= pair[0] and o[1] <= pair[1] and o != pair for o in every)}
    found = [(one.protected, pytest.approx(one.loss)) for one in swept.curve]
    assert found == [(safe, float(loss)) for safe, loss in sorted(frontier, key=lambda pair: pair[1])]


def test_what_cannot_be_swept():
    people = shoal.peers({"job": ["a", "b"], "age": [1, 2], "dx": ["x", "y"]}, sensitive="dx")
    with pytest.raises(ColumnError, match="has no order"):
        people.sweep("job", "dx")
    with pytest.raises(ModelError, match="is not among the known variables of"):
        people.sweep("dx", "dx")
    persons = shoal.peers({"who": [1, 1], "age": [1, 2], "dx": ["x", "y"]}, subject="who", sensitive="dx")
    with pytest.raises(ModelError, match="A sweep requires one record per individual, and no"):
        persons.sweep("age", "dx")
    fine = shoal.peers({"age": [n / 7 for n in range(500)], "dx": [0, 1] * 250}, sensitive="dx")
    with pytest.raises(ModelError, match="values, which give no intervals or too many"):
        fine.sweep("age", "dx")
