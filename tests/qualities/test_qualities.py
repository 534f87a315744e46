"""Measures of quality: against the papers, the oracles, a slow reference, and what must always hold."""

import json
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import shoal
from shoal.errors import RecodingError
from shoal.hierarchy.explicit import Explicit
from shoal.hierarchy.spec import bind
from shoal.kernels.grouping import group_rows
from shoal.qualities.implied import implied
from shoal.qualities.nesting import _crossing
from shoal.qualities.quality import QUALITIES, Score
from shoal.recoding.recoding import Recoding
from tests.qualities import reference

ADULT = "sex age race marital-status education native-country workclass occupation salary-class".split()


def measured(recoding, target=None):
    made = {name: QUALITIES[name] for name in QUALITIES if QUALITIES[name].of_counts}
    fields = {name: {"target": target} if "target" in kind.model_fields else {} for name, kind in made.items()}
    return {
        name: kind(**fields[name]).measure(recoding) for name, kind in made.items() if fields[name] != {"target": None}
    }


# --- the papers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", ["D_g", "D_l"])
@pytest.mark.parametrize(("name", "form"), [("nue", "generic"), ("nue-conventional", "conventional")])
def test_prasser(shared, release, name, form):
    """Prasser 2016, Figures 2 and 3: without a hierarchy, and with the one that the figures imply."""
    paper = json.loads((shared / "oracles/paper_examples.json").read_text())["prasser-2016"]
    frames = {key: {c: [row[c] for row in rows] for c in ("age", "sex")} for key, rows in paper["data"].items()}
    ladders = {
        c: {"kind": "explicit", "values": {v: rungs[1:] for v, rungs in paper["hierarchies"][c].items()}}
        for c in ("age", "sex")
    }
    wanted = paper["results"][release][form]
    for hierarchies in ({}, ladders):
        found = shoal.compare(frames["D"], frames[release], hierarchies=hierarchies).quality[name]
        assert found.total.value == pytest.approx(wanted["total_bits"], abs=1e-12)
        assert found.total.cost * 100 == pytest.approx(wanted["total_pct_of_max_sum"], abs=1e-10)
        for column in ("age", "sex"):
            assert found.columns[column].value == pytest.approx(wanted[column]["bits"], abs=1e-12)


@pytest.mark.parametrize("rows", [500, 1000])
def test_menten(shared, rows):
    """Every value of NUE that the thesis prints, from its files, without a hand-made mapping."""
    stage = json.loads((shared / "oracles/menten_reference.json").read_text())["datasets"][str(rows)]["stage2"]
    folder = shared / f"data/menten/df_{rows}_rows"
    before = shoal.read(folder / "stage_2_df_original.csv", unnamed="drop")
    for step in stage["recomputed"]:
        column = stage["qids"][step["dimension"] - 1]
        after = shoal.read(folder / f"stage_2_df_{column}.csv", unnamed="drop")
        found = shoal.compare(before, after, quasi=stage["qids"], sensitive=stage["sas"])
        for name in ("nue", "nue-conventional"):
            assert found.quality[name].total.value * math.log(2) == pytest.approx(step["nue"], rel=1e-12)
            assert round(found.quality[name].total.cost * 100, 2) == step["nue_pct"]
            for qid, nats in step["nue_per_attribute"].items():
                assert found.quality[name].columns[qid].value * math.log(2) == pytest.approx(nats, rel=1e-12)
        assert found.after["k-anonymity"] == step["k"]
    nothing = shoal.read(folder / "stage_2_df_all_information_removed.csv", unnamed="drop")
    whole = shoal.compare(before, nothing, quasi=stage["qids"]).quality["nue"]
    assert whole.total.value * math.log(2) == pytest.approx(stage["max_nue"], rel=1e-12)
    assert whole.total.cost == pytest.approx(1)


def test_menten_appendix(shared):
    """Appendix 4: postcodes cut to 35xx lose everything, ages in tens 6 bits of 15.51, sex nothing."""
    paper = json.loads((shared / "oracles/paper_examples.json").read_text())["menten-2024"]["appendix4"]
    names = ("postal", "age", "sex")
    before, after = ({c: [row[c] for row in paper[key]] for c in names} for key in ("original", "anonymised"))
    before = shoal.read({**before, "age": [int(age) for age in before["age"]]})
    found = shoal.compare(before, after)
    assert [round(found.quality["nue"].columns[name].value, 2) for name in names] == [15.51, 6.0, 0.0]
    assert found.quality["nue"].columns["postal"].cost == pytest.approx(1)
    assert not found.remarks


# --- Adult ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def adult(shared):
    folder = shared / "data/arx-adult"
    table = shoal.read(folder / "adult.csv")
    ladders = {
        name: bind(Explicit(file=str(folder / f"adult_hierarchy_{name}.csv"), check_labels=False), table, name)
        for name in ADULT
    }
    return table, ladders, table.distinct(ADULT)


def scheme_recoding(adult, levels, k):
    table, ladders, rows = adult
    scheme = dict(zip(ADULT, levels, strict=True))
    nodes = [ladders[name].nodes(level)[codes] for (name, level), codes in zip(scheme.items(), rows.codes, strict=True)]
    groups = group_rows(nodes, [len(ladders[name].levels[level]) for name, level in scheme.items()], len(rows))
    small = np.bincount(groups.ids, rows.counts)[groups.ids] < k
    return Recoding.of_scheme(table, ladders, scheme, small, rows)


def test_lattice(adult, shared):
    """Loss, NUE and discernibility of every 101st of all schemes × k; all of them: benchmarks/quality.py --lattice.

    A prime step meets every level of every column; a step of 40 would meet only the first level of some.
    """
    with np.load(shared / "oracles/adult_lattice_bruteforce.npz") as file:
        oracle = dict(file)  # unpacked once
    for at in range(0, len(oracle["levels"]), 101):
        for k in (2, 5, 10, 100):
            recoding = scheme_recoding(adult, oracle["levels"][at].tolist(), k)
            for name, key in (("loss", "loss"), ("nue", "nue"), ("discernibility", "dm")):
                value = QUALITIES[name]().measure(recoding).total.value
                assert value == pytest.approx(oracle[f"{key}_{k}"][at], rel=1e-12, abs=1e-9)
            lost = oracle[f"supp_{k}"][at]
            assert recoding.records - recoding.kept == lost
            assert len(recoding.classes.sizes) == oracle[f"classes_{k}"][at]


# What ARX calls its metrics, and what the measure says; "height" and "aecs" as they are, "prec" is 1 − precision.
ARX = {
    "loss": lambda found: found["loss"].total.value,
    "loss_arith": lambda found: 1 - found["granularity"].total.value,
    "nue": lambda found: found["nue"].total.value,
    "dm": lambda found: found["discernibility"].total.value,
    "height": lambda found: found["height"].total.value,
    "prec": lambda found: found["precision"].total.cost,
    "aecs": lambda found: found["average-class-size"].total.value,
}


def test_arx_metrics(adult, shared):
    """The binding values of ARX's metrics at its optima under k-anonymity."""
    results = json.loads((shared / "oracles/arx_adult.json").read_text())["results"]
    seen = set()
    for one in results:
        metric, k = one["params"].get("metric"), one["params"].get("k")
        if (
            one["sensitive"]
            or not one.get("oracle")
            or metric not in ARX
            or set(one["params"]) - {"k", "metric", "suppression_limit"}
        ):
            continue
        found = measured(scheme_recoding(adult, [one["levels_by_attribute"][name] for name in ADULT], k))
        assert ARX[metric](found) == pytest.approx(one["loss"], rel=1e-9), one["id"]
        seen.add(metric)
    assert seen == set(ARX)


def test_arx_report(adult, shared):
    """What ARX's quality report says about single columns, where no defect of its own is in the way."""
    results = json.loads((shared / "oracles/arx_adult.json").read_text())["results"]
    one = next(held for held in results if held["id"] == "k5_s0.02_loss")
    found = measured(scheme_recoding(adult, [one["levels_by_attribute"][name] for name in ADULT], 5))
    for name, said in one["quality_report_higher_is_better"]["per_attribute"].items():
        assert found["granularity"].columns[name].value == pytest.approx(said["granularity"], abs=1e-9)
        assert found["precision"].columns[name].value == pytest.approx(said["gen_intensity"], abs=1e-9)
        assert 1 - found["nue"].columns[name].cost == pytest.approx(said["nue"], abs=1e-9)
        assert found["suppressed-cells"].columns[name].value == pytest.approx(said["missings"], abs=1e-9)


def test_prasser_figure_4(adult, shared):
    """Four generalisations × 0 … 100 % suppression, as a foreign table: from its texts, with the hierarchies."""
    oracle = json.loads((shared / "oracles/arx_nue_curve.json").read_text())
    table, ladders, _ = adult
    size = table.records
    order = np.arange(size) * 7919 % size
    for name, levels in oracle["levels"].items():
        labels = {
            column: ladders[column].labels(level).to_numpy(zero_copy_only=False)[table.codes(column)]
            for column, level in zip(ADULT, levels, strict=True)
        }
        for point in oracle["curves"][name][::4]:
            hidden = order < round(point["suppressed_percent"] / 100 * size)
            frame = {column: np.where(hidden, "*", texts).tolist() for column, texts in labels.items()}
            found = shoal.compare(table, frame, quasi=ADULT, hierarchies=ladders).quality
            assert found["nue"].total.value == pytest.approx(point["generic_bits"], rel=1e-9, abs=1e-6)
            assert found["nue"].total.cost == pytest.approx(point["generic_normalized"], abs=1e-9)
            assert found["nue-conventional"].total.value == pytest.approx(
                point["conventional_bits"], rel=1e-9, abs=1e-5
            )


# --- random recodings against the reference -----------------------------------------------------------------------

LEAVES = "abcdefgh"


@st.composite
def ladders(draw):
    """A ladder of one to three levels over some values; the last one is *."""
    leaves = LEAVES[: draw(st.integers(2, 6))]
    rungs = [{leaf: leaf for leaf in leaves}]
    for level in range(1, draw(st.integers(1, 3))):
        nodes = sorted(set(rungs[-1].values()))
        into = {node: draw(st.integers(0, max(len(nodes) // 2, 1) - 1)) for node in nodes}
        rungs.append({leaf: f"{level}:{into[rungs[-1][leaf]]}" for leaf in leaves})
    rungs.append(dict.fromkeys(leaves, "*"))
    return rungs


@st.composite
def recodings(draw, shape="local"):
    """Columns with their ladders: before and after. ``global``: one level per column and suppressed records."""
    rows = draw(st.integers(1, 12))
    hidden = draw(st.lists(st.booleans(), min_size=rows, max_size=rows))
    columns = []
    for _ in range(draw(st.integers(1, 3))):
        ladder = draw(ladders())
        before = draw(st.lists(st.sampled_from(sorted(ladder[0])), min_size=rows, max_size=rows))
        top = len(ladder) - 1
        if shape == "local":
            levels = draw(st.lists(st.integers(0, top), min_size=rows, max_size=rows))
        else:
            levels = [draw(st.integers(0, top))] * rows
        if shape == "suppressed":
            levels = [top if lost else level for lost, level in zip(hidden, levels, strict=True)]
        after = [ladder[level][value] for level, value in zip(levels, before, strict=True)]
        columns.append((before, after, ladder))
    return columns


def compared(columns, target=None):
    names = [f"c{place}" for place in range(len(columns))]
    before = {name: one[0] for name, one in zip(names, columns, strict=True)}
    after = {name: one[1] for name, one in zip(names, columns, strict=True)}
    hierarchies = {
        name: {"kind": "explicit", "values": {leaf: [rung[leaf] for rung in one[2][1:]] for leaf in one[2][0]}}
        for name, one in zip(names, columns, strict=True)
    }
    if target is not None:
        before, after = {**before, "target": target}, {**after, "target": target}
    return shoal.compare(before, after, quasi=names, hierarchies=hierarchies, target="target" if target else None)


@given(recodings(), st.data())
def test_reference(columns, data):
    targets = data.draw(st.lists(st.sampled_from("xyz"), min_size=len(columns[0][0]), max_size=len(columns[0][0])))
    found = compared(columns, targets)
    quality = found.quality
    rows = list(zip(*(after for _, after, _ in columns), strict=True))
    losses = [reference.column_loss(after, ladder) for _, after, ladder in columns]
    exactly = {
        "nue": sum(reference.nue(*one) for one in columns),
        "nue-conventional": sum(reference.nue_conventional(*one[:2]) for one in columns),
        "loss": reference.loss(losses),
        "loss-arithmetic": float(sum(losses) / len(losses)),
        "granularity": float(1 - sum(losses) / len(losses)),
        "precision": float(sum(reference.precision(*one[1:]) for one in columns) / len(columns)),
        "ncp": float(sum(reference.certainty_penalty(*one[1:]) for one in columns) / len(columns)),
        "discernibility": reference.discernibility(rows),
        "average-class-size": float(reference.average_class_size(rows)),
        "ambiguity": float(reference.ambiguity(rows, [ladder for *_, ladder in columns])),
        "hellinger": sum(reference.hellinger(*one) for one in columns) / len(columns),
        "classification-metric": reference.classification(rows, targets) / len(rows),
        "suppressed-cells": sum(row.count("*") for row in rows) / len(rows) / len(columns),
        "changed-cells": 0,
    }
    for name, value in exactly.items():
        assert quality[name].total.value == pytest.approx(value, abs=1e-7 if name == "hellinger" else 1e-9), name
    for place, (before, after, ladder) in enumerate(columns):
        assert quality["nue"].columns[f"c{place}"].value == pytest.approx(
            reference.nue(before, after, ladder), abs=1e-9
        )


@given(recodings() | recodings(shape="global") | recodings(shape="suppressed"))
def test_divergence(columns):
    """Exact for any recoding, in total and by column."""
    befores, afters, held = zip(*columns, strict=True)
    found = compared(columns).quality["kl-divergence"]
    assert found.total.value == pytest.approx(max(reference.divergence(befores, afters, held), 0), abs=1e-9)
    for place, one in enumerate(columns):
        alone = reference.divergence(*([part] for part in one))
        assert found.columns[f"c{place}"].value == pytest.approx(max(alone, 0), abs=1e-9)


# --- what must always hold ----------------------------------------------------------------------------------------


def varied(columns):
    return all(len(set(before)) > 1 for before, *_ in columns)


@given(recodings())
def test_identity_costs_nothing(columns):
    same = [(before, before, ladder) for before, _, ladder in columns]
    for name, held in compared(same, ["x"] * len(columns[0][0])).quality.items():
        if held.total is not None:
            assert held.total.cost == pytest.approx(0, abs=1e-9), name


@given(recodings())
def test_everything_suppressed_costs_everything(columns):
    assume(varied(columns))
    gone = [(before, ["*"] * len(before), ladder) for before, _, ladder in columns]
    for name, held in compared(gone, ["x"] * len(columns[0][0])).quality.items():
        # All of it is one class now, which no record is lost from and in which any target is predicted as well as ever.
        if (
            held.total is not None
            and QUALITIES[name].costs_all
            and name not in {"suppressed-records", "classification-metric"}
        ):
            assert held.total.cost == pytest.approx(1), name


@given(recodings())
def test_nothing_released_costs_everything(columns):
    """No record is in the release at all."""
    assume(varied(columns))
    names = [f"c{place}" for place in range(len(columns))]
    before = shoal.read(
        {"id": list(range(len(columns[0][0]))), **dict(zip(names, (c[0] for c in columns), strict=True))}
    )
    nothing = shoal.read(
        pa.table({"id": pa.array([], pa.int64()), **{name: pa.array([], pa.string()) for name in names}})
    )
    found = shoal.compare(before, nothing, key="id", quasi=names)
    for name, held in found.quality.items():
        if held.total is not None and QUALITIES[name].costs_all:
            assert held.total.cost == pytest.approx(1), name


@given(recodings())
def test_costs_are_shares(columns):
    for name, held in compared(columns).quality.items():
        for score in [*filter(None, [held.total]), *held.columns.values()]:
            assert name == "nue-conventional" or -1e-12 <= score.cost <= 1 + 1e-12, name


@given(recodings(), st.data())
def test_coarsening_never_lowers_loss(columns, data):
    """One cell is taken up one level."""
    place = data.draw(st.integers(0, len(columns) - 1))
    before, after, ladder = columns[place]
    row = data.draw(st.integers(0, len(before) - 1))
    level = reference.levels_of(ladder, after)[row]
    assume(level < len(ladder) - 1)
    coarser = [*after]
    coarser[row] = ladder[level + 1][before[row]]
    changed = [*columns]
    changed[place] = (before, coarser, ladder)
    first, second = compared(columns).quality, compared(changed).quality
    for name in ("nue", "loss", "loss-arithmetic", "ncp", "utility-criterion", "ambiguity"):
        assert second[name].total.cost >= first[name].total.cost - 1e-9, name
    for name in ("granularity", "precision"):
        assert second[name].total.value <= first[name].total.value + 1e-9, name


@given(recodings(shape="global"))
def test_generic_is_conventional_on_full_domain(columns):
    found = compared(columns).quality
    assert found["nue"].total.value == pytest.approx(found["nue-conventional"].total.value, abs=1e-9)


def test_suppression_raises_generic_entropy_linearly(adult):
    """Prasser 2016: records are suppressed at random; the curve is a straight line to within a few thousandths."""
    table, ladders, rows = adult
    rng = np.random.default_rng(1)
    for levels in ([0] * 9, [0, 1, 0, 0, 1, 0, 0, 0, 0], [0, 2, 0, 1, 2, 1, 1, 1, 0]):
        scheme = dict(zip(ADULT, levels, strict=True))
        draw = rng.random(len(rows))
        costs, shares = [], []
        for share in (0, 0.25, 0.5, 0.75, 1):
            recoding = Recoding.of_scheme(table, ladders, scheme, draw < share, rows)
            costs.append(QUALITIES["nue"]().measure(recoding).total.cost)
            shares.append(1 - recoding.kept / recoding.records)
        line = costs[0] + np.array(shares) * (1 - costs[0])
        assert np.abs(np.array(costs) - line).max() < 0.006


@given(recodings(), st.randoms())
def test_row_order_does_not_matter(columns, random):
    order = list(range(len(columns[0][0])))
    random.shuffle(order)
    turned = [([b[i] for i in order], [a[i] for i in order], ladder) for b, a, ladder in columns]
    one, two = compared(columns).quality, compared(turned).quality
    for name in one:
        if one[name].total is not None:
            assert two[name].total.value == pytest.approx(one[name].total.value, rel=1e-12, abs=1e-12), name


@given(recodings())
def test_a_hierarchy_is_not_needed_for_entropy(columns):
    """Only the sets that occur matter, as long as a text stands for the same set everywhere."""
    names = [f"c{place}" for place in range(len(columns))]
    written = [
        [
            text if text in ladder[0] or text == "*" else f"{{{', '.join(sorted(reference.members(ladder, text)))}}}"
            for text in after
        ]
        for _, after, ladder in columns
    ]
    before = dict(zip(names, (one[0] for one in columns), strict=True))
    found = shoal.compare(before, dict(zip(names, written, strict=True)))
    assert found.quality["nue"].total.value == pytest.approx(sum(reference.nue(*one) for one in columns), abs=1e-9)


# --- single cases -------------------------------------------------------------------------------------------------


def test_overlapping_sets():
    """Sets that overlap are no steps on the way to others; each costs what its own records cannot be told apart by."""
    before, after = list("abcabc"), ["{a, b}", "{a, b}", "{b, c}", "{a, b, c}", "{b, c}", "{a, b, c}"]
    value = shoal.compare({"x": before}, {"x": after}).quality["nue"].total.value
    assert value == pytest.approx(2 + 2 + 2)  # a or b, b or c, a or c: one bit for each record


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 6)), min_size=1, max_size=12))
def test_crossing_intervals(spans):
    """The quick way for intervals says the same as looking at all pairs."""
    sets = sorted({(low, min(low + more, 12)) for low, more in spans})
    first, last = np.array(sets).T
    crossed = [
        any(a < c <= b < d or c < a <= d < b for c, d in sets)  # one begins inside of the other and ends outside
        for a, b in sets
    ]
    assert _crossing(first, last, 13).tolist() == crossed


@given(st.lists(st.tuples(st.integers(0, 7), st.sets(st.integers(0, 7), max_size=4)), min_size=1, max_size=12))
def test_entropy_of_any_sets(cells):
    """Whatever sets are shown: between nothing and everything, and nothing if no cell is coarser."""
    before = [f"v{value}" for value, _ in cells]
    after = [f"{{{', '.join(f'v{one}' for one in sorted({value, *more}))}}}" for value, more in cells]
    total = shoal.compare({"x": before}, {"x": after}).quality["nue"].total
    assert total.value >= -1e-9
    assert total.cost <= 1 + 1e-9


def test_score_of_numbers():
    found = shoal.compare({"x": [0, 10, 20, 30]}, {"x": [5.0, 5.0, 25.0, 25.0]})
    assert found.quality["squared-error"].total.value == pytest.approx(0.2)
    assert found.columns["x"].coarser == 4


def test_noise_is_squared_error_and_nothing_else():
    found = shoal.compare({"x": [0, 10, 20, 30]}, {"x": [1, 9, 22, 30]})
    assert found.quality["squared-error"].total.value == pytest.approx((1 + 1 + 4) / 500)
    assert found.quality["changed-cells"].total.value == 0.75
    assert found.quality["loss"].total.value == pytest.approx(0.75)


def test_zeros_count_as_any_other_number():
    """IL1 of sdcMicro divides by the original value: zeros vanish, and values near zero dominate."""
    before, after = [0, 0, 1, 3], [1, 0, 1, 3]
    found = shoal.compare({"x": before}, {"x": after}, in_order=True).quality["absolute-error"].total.value
    assert found == pytest.approx(1 / 4 / np.std(before, ddof=1) / np.sqrt(2))


def test_earth_mover_against_transport():
    before, after = {"x": [0, 1, 1, 9]}, {"x": ["0-1", "0-1", "1-9", "1-9"]}
    # 0-1: half of each; 1-9: 1 or 9, half of each. Shares before .25 .5 .25, after .25 .5 .25.
    assert shoal.compare(before, after).quality["earth-mover"].total.value == pytest.approx(0)


def test_correlations_of_numbers_and_categories():
    before = {"x": [1, 2, 3, 4], "y": [1, 2, 3, 4], "z": list("aabb")}
    found = shoal.compare(before, {"x": ["1-2", "1-2", "3-4", "3-4"], "y": [1, 2, 3, 4], "z": list("aabb")})
    r = 2 / math.sqrt(5)
    ratio = math.sqrt(1 - 0.2 * 3 / 2)  # of x by z, before; 1 after
    assert found.quality["correlations"].total.value == pytest.approx((1 - r + 1 - ratio + 0) / 3)


def test_correlations_that_never_were_are_not_lost():
    """Many different ages seem to tell the sex; without what chance adds they do not."""
    rng = np.random.default_rng(0)
    ages, sexes = rng.random(3000).round(6).tolist(), rng.choice(["f", "m"], 3000).tolist()
    codes = [f"c{int(age * 500)}" for age in rng.random(3000)]
    before = {"age": ages, "sex": sexes, "code": codes}
    after = {**before, "age": [f"[{int(age * 10) / 10}, {int(age * 10) / 10 + 0.1:.1f})" for age in ages]}
    assert shoal.compare(before, after).quality["correlations"].total.value < 0.03


def test_correlations_of_chance_cost_nothing():
    """Two columns that have nothing to do with each other: that their correlation of 0.01 becomes 0.02 is no loss."""
    rng = np.random.default_rng(3)
    ages, weights = rng.integers(20, 80, 400).tolist(), rng.integers(50, 90, 400).tolist()
    coarse = {"age": [f"{age // 20 * 20}-{age // 20 * 20 + 19}" for age in ages], "weight": weights}
    found = shoal.compare({"age": ages, "weight": weights}, coarse).quality["correlations"].total
    assert 0 < found.value < 0.05
    assert found.cost == 0


def test_large_and_infinite_numbers():
    """Nothing overflows, and nothing becomes NaN."""
    for before, after in (
        ({"x": [1e160, 2e160, 3e160], "y": [1, 2, 4]}, {"x": [None, 2e160, 3e160], "y": [1, 2, 4]}),
        ({"x": [1.0, 2, 3, 4, math.inf], "y": [1, 2, 3, 4, 5]}, {"x": [1.0, 1, 1, 1, math.inf], "y": [1, 2, 3, 4, 5]}),
        ({f"c{n}": list("abcdefghij") for n in range(320)}, {f"c{n}": ["*"] * 10 for n in range(320)}),
    ):
        for name, held in shoal.compare(before, after).quality.items():
            for score in [*filter(None, [held.total]), *held.columns.values()]:
                assert 0 <= score.cost <= 1 + 1e-12 or name == "nue-conventional", name
    found = shoal.compare({"x": [1.0, 2, 3, 4, math.inf]}, {"x": [1.0, 1, 1, 4, math.inf]})
    assert found.quality["earth-mover"].total.value > 0


def test_leaves_that_the_data_do_not_hold_count():
    ladder = {"kind": "explicit", "values": {str(n): [f"{n // 10}0s"] for n in range(100)}}
    found = shoal.compare({"x": [12, 50]}, {"x": ["0-20", "50"]}, hierarchies={"x": ladder})
    assert found.quality["loss"].total.value == pytest.approx(20 / 99 / 2)
    names = {"kind": "explicit", "values": {v: ["any"] for v in "abcdefg"}}
    found = shoal.compare({"x": ["a", "b"]}, {"x": ["{a, c, d}", "b"]}, hierarchies={"x": names})
    assert found.quality["loss"].total.value == pytest.approx(2 / 6 / 2)


def test_leaves_written_in_another_way():
    """Decimals among the leaves of a column of whole numbers; a mask that is read in two ways only among all leaves."""
    ladder = {"kind": "explicit", "values": {text: ["any"] for text in ("2", "20.0", "21.5", "25", "29", "30")}}
    for after in (["20-29", "20-29", "30"], ["2*", "2*", "30"]):
        found = shoal.compare({"x": [20, 25, 30]}, {"x": after}, hierarchies={"x": ladder})
        assert found.columns["x"].coarser == 2
        assert not found.remarks


def test_intervals_cost_the_same_with_and_without_a_hierarchy():
    before, after = {"age": [25, 40, 80]}, {"age": ["20-29", "40-49", "80-89"]}
    for hierarchies in ({}, {"age": {"kind": "interval", "widths": [10]}}):
        found = shoal.compare(before, after, hierarchies=hierarchies)
        assert found.quality["ncp"].total.value == pytest.approx((4 + 9 + 0) / 55 / 3)  # cut to 25 … 80


def test_implied_shares_add_up_where_values_share_a_leaf():
    values = {"a": ["x"], "b": ["x"]}
    ladder = {"kind": "explicit", "values": values, "unknown": "suppress"}
    before = {"v": ["a", "b", *(f"u{n}" for n in range(8))]}
    found = shoal.compare(before, {"v": ["*"] * 10}, hierarchies={"v": ladder})
    assert implied(found.recoding["v"], lost=True).sum() <= 1 + 1e-12


def test_discernibility_does_not_overflow():
    """ARX multiplies 32-bit integers (research: its report says 1.0 where it is 0.77)."""
    rows = 200_000
    found = shoal.compare({"x": ["a", "b"] * (rows // 2)}, {"x": ["{a, b}"] * rows})
    assert found.quality["discernibility"].total == Score(float(rows**2), 1.0)


def test_classification_needs_a_target():
    with pytest.raises(RecodingError, match="The classification metric requires a target column"):
        shoal.compare({"x": ["a"]}, {"x": ["a"]}, qualities=["classification-metric"])


def test_unknown_quality():
    with pytest.raises(shoal.ShoalError, match="no quality 'lose'"):
        shoal.compare({"x": ["a"]}, {"x": ["a"]}, qualities=["lose"])


def test_clusters_agree_as_scikit_learn_says():
    from sklearn.metrics import adjusted_rand_score

    from shoal.qualities.clustering_agreement import adjusted_rand

    rng = np.random.default_rng(0)
    for _ in range(20):
        one, two = rng.integers(0, 4, 60), rng.integers(0, 3, 60)
        assert adjusted_rand(one, two, np.ones(60, int)) == pytest.approx(adjusted_rand_score(one, two))


def test_clustering_agreement():
    rng = np.random.default_rng(0)
    values = [int(value) for middle in (10, 40, 80) for value in rng.integers(middle - 3, middle + 4, 40)]
    before = {"x": values, "s": ["ab"[value > 60] for value in values]}
    asked = {"qualities": ["clustering-agreement"], "clusters": 3}
    tens = {"x": [f"[{v // 10 * 10}, {v // 10 * 10 + 10}[" for v in values], "s": before["s"]}
    for after, low, high in ((before, 1, 1), (tens, 0.8, 1), ({"x": ["*"] * 120, "s": ["*"] * 120}, 0, 0)):
        total = shoal.compare(before, after, **asked).quality["clustering-agreement"].total
        assert low <= total.value <= high
        assert total.cost == 1 - total.value


def test_every_measure_says_what_it_is():
    for name in QUALITIES:
        kind = QUALITIES[name]
        assert kind.name == name
        assert ">>>" in (kind.__doc__ or "")
        assert kind.unit
