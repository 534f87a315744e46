"""The optima that ARX found on Adult, and every scheme of its lattice as counted independently."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import shoal
from shoal.hierarchy.explicit import Explicit
from shoal.hierarchy.spec import bind
from shoal.models.evidence import Gatherer
from shoal.models.model import MODELS
from shoal.population import Population
from shoal.qualities.loss import Loss
from shoal.qualities.quality import QUALITIES
from shoal.search.goal import Goal
from shoal.search.plain import Plain
from shoal.search.space import Space
from shoal.techniques.iterative import scheme_by_scheme
from tests.conftest import SHARED
from tests.effort import tiered

NAMES = "sex age race marital-status education native-country workclass occupation salary-class".split()
MEASURES = {
    "loss": "loss",
    "loss_arith": "granularity",
    "nue": "nue",
    "dm": "discernibility",
    "height": "height",
    "prec": "precision",
    "aecs": "average-class-size",
}


def models_of(params, sensitive):
    """Return the models that an entry asks for."""
    column = sensitive[0] if sensitive else None
    asked = [MODELS["k-anonymity"](k=params["k"])] if "k" in params and "k-map" not in params.get("model", "") else []
    more = {
        None: list,
        "distinct-l": lambda: [MODELS["l-diversity"](l=params["l"], column=column)],
        "entropy-l (Shannon)": lambda: [MODELS["entropy-l-diversity"](l=params["l"], column=column)],
        "entropy-l (Grassberger)": lambda: [
            MODELS["entropy-l-diversity"](l=params["l"], column=column, estimator="grassberger")
        ],
        "recursive-(c,l)": lambda: [MODELS["recursive-l-diversity"](c=params["c"], l=params["l"], column=column)],
        "t-closeness equal distance": lambda: [MODELS["t-closeness"](t=params["t"], column=column)],
        "basic beta-likeness": lambda: [MODELS["basic-beta-likeness"](beta=params["beta"], column=column)],
        "delta-disclosure privacy": lambda: [
            MODELS["delta-disclosure"](delta=params["delta"], column=column, absent="ignore")
        ],
        "k-map estimated (Poisson, sig 0.05, population USA)": lambda: [MODELS["k-map"](k=params["k"])],
        "average re-identification risk (prosecutor/marketer avg class size)": lambda: [
            MODELS["average-risk"](risk=params["threshold"])
        ],
        "sample uniqueness": lambda: [MODELS["sample-uniqueness"](share=params["threshold"])],
    }
    return [*asked, *more[params.get("model")]()]


ELSEWHERE = {  # δ-presence is about another table, see below; the other one is among ARX's defects
    *(f"dpresence_0_0.2_s{limit}" for limit in ("0.0", "0.02", "1.0")),
    "entropy_grassberger_l2_k5_s0.02",
}

LONG = set(  # seconds each; lower limits compare the same models and measures
    "avgrisk_0.01_s1.0 avgrisk_0.01_s0.02 sampleuniq_0.01_s0.02 basicb_1_k5_s1.0 ddisclosure_1_k5_s1.0 "
    "equal_t0.2_k5_s1.0 k2_s1.0_dm k5_s1.0_dm k100_s1.0_dm k5_s1.0_height k5_s1.0_aecs".split()
)


def results():
    if not SHARED.is_dir():
        return [
            pytest.param(None, marks=pytest.mark.skip("the reference data are not beside this checkout"), id="none")
        ]
    found = json.loads((SHARED / "oracles/arx_adult.json").read_text())["results"]
    return [
        pytest.param(one, marks=[pytest.mark.nightly] if one["id"] in LONG else [], id=one["id"])
        for one in found
        if one["params"]["metric"] in MEASURES and one["id"] not in ELSEWHERE
    ]


@cache
def adult():
    folder = SHARED / "data/arx-adult"
    table = shoal.read(folder / "adult.csv")
    file = "adult_hierarchy_{}.csv"
    hierarchies = {
        name: bind(Explicit(file=str(folder / file.format(name)), check_labels=False), table, name) for name in NAMES
    }
    return table, hierarchies


def goal(models, quality, limit, sensitive=(), population=None, **options):
    table, hierarchies = adult()
    quasi = [name for name in NAMES if name not in sensitive]
    table = table.assign(quasi=quasi, sensitive=list(sensitive))
    space = Space.of(table, quasi, hierarchies)
    gatherer = Gatherer(table, hierarchies=hierarchies, population=population)
    return Goal(space, gatherer, tuple(models), QUALITIES[quality](), int(limit * table.records), **options)


@pytest.mark.parametrize(
    ("limit", "classes"), [("0.0", 48), pytest.param("0.02", 110, marks=pytest.mark.nightly), ("1.0", 406)]
)
def test_presence_in_a_subset_is_that_of_arx(shared, limit, classes):
    """ARX reports the 27,146 records outside of the subset as suppressed, or counts the classes of all 30,162."""
    results = json.loads((shared / "oracles/arx_adult.json").read_text())["results"]
    one = next(one for one in results if one["id"] == f"dpresence_0_0.2_s{limit}")
    folder = shared / "data/arx-adult"
    population = Population.of(shoal.read(folder / "adult.csv"))
    table = population.covering(shoal.read(folder / "adult_subset.csv"), NAMES).assign(quasi=NAMES)
    hierarchies = {
        name: bind(Explicit(file=str(folder / f"adult_hierarchy_{name}.csv"), check_labels=False), table, name)
        for name in NAMES
    }
    space = Space.of(table, NAMES, hierarchies)
    gatherer = Gatherer(table, hierarchies=hierarchies, population=population)
    models = (MODELS["delta-presence"](delta_min=0, delta_max=0.2),)
    best = Goal(space, gatherer, models, QUALITIES["loss"](), int(float(limit) * table.records)).optimum().best
    assert space.scheme(best.scheme) == one["levels_by_attribute"]
    assert best.price == pytest.approx(one["loss"], abs=1e-8)
    assert best.suppressed == max(one["suppressed_records"] - 27_146, 0)
    assert best.classes == classes


TIED = {"k5_s0.0_height", "k5_s1.0_loss_gs1.0"}  # several schemes cost this; ARX takes the one that it finds first


@pytest.mark.shared
@pytest.mark.parametrize("one", results())
def test_the_optimum_is_that_of_arx(one):
    params = one["params"]
    population = Population(317_238_626) if "k-map" in params.get("model", "") else None
    models = models_of(params, one["sensitive"])
    limit, quality = params["suppression_limit"], MEASURES[params["metric"]]
    sought = goal(models, quality, limit, one["sensitive"], population)
    if "gs_factor" in params:
        sought = replace(sought, quality=Loss(balance=params["gs_factor"]))
    found = sought.optimum().best
    plain = Plain(sought.space, sought.gatherer, sought.models, sought.quality, sought.limit)
    judged = plain.judged(found.scheme)
    measured = sought.quality.measure(plain.recoding(found.scheme, judged.suppressed)).total
    assert judged.persons == found.suppressed == one["suppressed_records"]
    value = measured.cost if params["metric"] in {"prec", "loss_arith"} else measured.value
    value = found.price if "gs_factor" in params else value
    if "threshold" in params and found.suppressed:  # ARX leaves out the finest of the smallest classes first
        assert value < one["loss"] < 1.002 * value
    else:
        assert value == pytest.approx(one["loss"], rel=1e-8, abs=1e-12)
    if one["id"] not in TIED:
        assert sought.space.scheme(found.scheme) == one["levels_by_attribute"]
        assert found.classes == one["num_classes"]
        sizes = judged.classes.sizes[judged.kept]
        assert (sizes.min(), sizes.max()) == (one["min_class"], one["max_class"])


@pytest.mark.parametrize("k", tiered([5, 100, 2, 10], quick=0, exhaustive=2))
def test_every_scheme_of_the_lattice(shared, k):
    """Suppressed records, classes, loss, entropy and discernibility of all 12,960 schemes."""
    with np.load(shared / "oracles/adult_lattice_bruteforce.npz") as file:
        oracle = {name: file[name] for name in file.files if name == "levels" or name.endswith(f"_{k}")}
    goals = {quality: goal([MODELS["k-anonymity"](k=k)], quality, 1.0) for quality in ("loss", "nue")}
    space = goals["loss"].space
    counted = goals["loss"].evaluator.counted(np.arange(len(space)))  # the same for all measures
    columns = [space.names.index(column) for column in NAMES]
    place = {tuple(levels): number for number, levels in enumerate(counted.levels[:, columns].tolist())}
    order = np.array([place[tuple(levels)] for levels in oracle["levels"].tolist()])
    assert (counted.suppressed[order] == oracle[f"supp_{k}"]).all()
    assert (counted.classes[order] == oracle[f"classes_{k}"]).all()
    discernibility = counted.squares.astype(np.int64) + space.table.records * counted.lost
    assert (discernibility[order] == oracle[f"dm_{k}"]).all()
    for quality, sought in goals.items():
        prices = sought.objective.priced(counted).prices
        assert np.allclose(prices[order], oracle[f"{quality}_{k}"], rtol=1e-9, atol=1e-12)


def test_local_recoding_beats_the_best_of_arx(shared):
    """k = 5, nobody suppressed: finer in both measures than ARX's best setting, 0.941 and 0.739."""
    baselines = json.loads((shared / "oracles/arx_adult.json").read_text())["baselines_to_beat"]
    reports = [one["quality_report_higher_is_better"] for one in baselines]
    sought = goal([MODELS["k-anonymity"](k=5)], "loss", 0)
    found = scheme_by_scheme(sought)
    recoding = found.recoding()
    assert not found.suppressed.any()
    assert recoding.classes.sizes.min() >= 5
    granularity = QUALITIES["granularity"]().measure(recoding).total.value
    entropy = 1 - QUALITIES["nue"]().measure(recoding).total.cost
    assert granularity > max(0.941, *(report["granularity_arithmetic_mean_normalized"] for report in reports))
    assert entropy > max(0.739, *(report["nue_arithmetic_mean"] for report in reports))
