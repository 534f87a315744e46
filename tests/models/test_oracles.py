"""The papers' own numbers, and the corrected values of peers."""

import json
import math
from fractions import Fraction

import pytest

import shoal
from shoal.classes.classes import Classes
from shoal.classes.grouped import Coarsening
from shoal.risk.adversary import prosecutor
from shoal.risk.attribute import attribute_risk


def paper(shared, *keys):
    found = json.loads((shared / "oracles/paper_examples.json").read_text())
    for key in keys:
        found = found[key]
    return found


def check(rows, quasi, sensitive, metrics):
    data = {name: [row[name] for row in rows] for name in rows[0]}
    columns = {"quasi": quasi, "sensitive": [sensitive]}
    classes = Classes.of(shoal.read(data), quasi, [sensitive])
    identity = prosecutor(classes)
    assert classes.persons == metrics["n"]
    assert sorted(classes.sizes.tolist()) == sorted(held["size"] for held in metrics["classes"])
    assert shoal.k_anonymity(data, quasi=quasi) == metrics["k"]
    assert identity.maximum == pytest.approx(metrics["prosecutor_max_risk"], abs=1e-12)
    assert identity.average == pytest.approx(metrics["avg_record_risk"], abs=1e-12)
    assert shoal.l_diversity(data, **columns) == metrics["distinct_l"]
    assert shoal.entropy_l_diversity(data, **columns) == pytest.approx(metrics["entropy_l"], abs=1e-12)
    assert shoal.t_closeness(data, **columns) == pytest.approx(metrics["t"], abs=1e-12)
    assert shoal.alpha_k_anonymity(data, **columns) == {
        "alpha": pytest.approx(metrics["alpha_k_alpha"], abs=1e-12),
        "k": metrics["k"],
    }
    risk = attribute_risk(classes, sensitive)
    assert float(risk.maximum) == pytest.approx(metrics["max_posterior"], abs=1e-12)
    assert risk.certain == metrics["records_in_homogeneous_classes"]
    finite = [held["recursive_c_must_exceed_for_l2"] for held in metrics["classes"]]
    wanted = math.inf if None in finite else max(finite)
    assert shoal.recursive_l_diversity(data, **columns) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("figure", ["figure1_2_3", "figure4", "figure5"])
def test_peng(shared, figure):
    example = paper(shared, "peng-2021", figure)
    check(example["data"], example["qid"], example["sensitive"], example["metrics"])


def test_identity_and_attribute_risk_are_two_things(shared):
    """Peng's Figure 5: the paper says 1/3, which is identity only; a diagnosis is known with 4/7."""
    rows = paper(shared, "peng-2021", "figure5", "data")
    classes = Classes.of(
        shoal.read({name: [row[name] for row in rows] for name in rows[0]}), ["sex", "age"], ["disease"]
    )
    assert prosecutor(classes).maximum == pytest.approx(1 / 3)
    assert attribute_risk(classes, "disease").maximum == Fraction(4, 7)


def test_two_attacks_on_a_class(shared):
    """Homogeneity and background knowledge attack: posteriors in a class, with and without a value ruled out."""
    example = paper(shared, "peng-2021", "figure1_2_3")
    rows = example["data"]
    table = shoal.read({name: [row[name] for row in rows] for name in rows[0]})
    classes = Classes.of(table, ["zip", "age"], ["disease"])
    histogram = classes.histograms["disease"]
    names = [
        [table[name].labels()[int(code)].as_py() for code in key]
        for name, key in zip(["zip", "age"], classes.keys, strict=True)
    ]
    for attack in ("homogeneity_attack", "background_knowledge_attack"):
        case = example[attack]
        place = list(zip(*names, strict=True)).index(tuple(case["matches_class"]))
        inside = slice(histogram.starts[place], histogram.starts[place + 1])
        values = [histogram.column.labels()[int(code)].as_py() for code in histogram.codes[inside]]
        counts = dict(zip(values, histogram.counts[inside].tolist(), strict=True))
        assert classes.sizes[place] == case["candidates"]
        if attack == "homogeneity_attack":
            assert counts[case["inferred"]] / classes.sizes[place] == case["posterior"]
            continue
        shares = {value: n / classes.sizes[place] for value, n in counts.items()}
        assert shares == pytest.approx(case["posterior_without_knowledge"])
        left = {value: n for value, n in counts.items() if value not in case["ruled_out"]}
        assert {value: n / sum(left.values()) for value, n in left.items()} == pytest.approx(
            case["posterior_with_knowledge"]
        )


@pytest.mark.parametrize(("rows", "metrics"), [("original", "metrics_original"), ("anonymised", "metrics_anonymised")])
def test_menten(shared, rows, metrics):
    example = paper(shared, "menten-2024", "appendix4")
    check(example[rows], example["qid"], example["sensitive"], example[metrics])


def measured(table, quasi, sensitive, wanted):
    """Return what shoal measures for each corrected value of a peer."""
    columns = {"quasi": quasi, "sensitive": [sensitive]}
    found = {"k": shoal.k_anonymity(table, quasi=quasi), "l_distinct": shoal.l_diversity(table, **columns)}
    found["n_ec"] = Classes.of(table, quasi, []).number
    if "alpha" not in wanted:
        return found
    l = found["l_distinct"]  # noqa: E741
    return found | {
        "entropy_l_exact": shoal.entropy_l_diversity(table, **columns),
        "alpha": shoal.alpha_k_anonymity(table, **columns)["alpha"],
        "recursive_c_inf_at_l": shoal.recursive_l_diversity(table, **columns, l=l) if l > 1 else None,
        "beta_basic": shoal.basic_beta_likeness(table, **columns),
        "delta_ln_present_only": shoal.delta_disclosure(table, **columns, base="e", absent="ignore"),
        "delta_strict_infinite": math.isinf(shoal.delta_disclosure(table, **columns)),
        "enhanced_beta_satisfiable": math.isfinite(shoal.enhanced_beta_likeness(table, **columns)),
        "t_equal": shoal.t_closeness(table, **columns),
        "t_ordered": shoal.t_closeness(table, **columns, distance="ordered") if table[sensitive].kind.ordered else None,
    }


def agree(got, wanted):
    assert wanted.keys() <= got.keys()
    for name, value in wanted.items():
        assert got[name] == (pytest.approx(value, abs=1e-9) if isinstance(value, float) else value), name


def test_corrected_values_of_pycanon(shared):
    cases = json.loads((shared / "oracles/pypeers.json").read_text())["pycanon_csv"]
    for case in cases:
        table = shoal.read(shared / case["file"])
        for sensitive, wanted in case["correct"].items():
            agree(measured(table, case["QI"], sensitive, wanted), wanted)
    assert len(cases) == 22


LEVELS = {"sex": 0, "age": 2, "race": 1, "marital-status": 1, "education": 1, "native-country": 2, "workclass": 1}


@pytest.fixture(scope="module")
def adult(shared):
    return shoal.read(shared / "data/arx-adult/adult.csv")


def test_adult(shared, adult):
    cases = json.loads((shared / "oracles/pypeers.json").read_text())["adult"]
    case = cases["raw_1"]
    agree(measured(adult, case["QI"], "occupation", case["vecref"]), case["vecref"])


def test_adult_generalised_by_rolling_up(shared, adult):
    """The classes of the generalised table, without generalising the table."""
    from shoal.hierarchy.explicit import Explicit
    from shoal.hierarchy.spec import bind
    from shoal.models.evidence import Evidence
    from shoal.models.model import MODELS

    case = json.loads((shared / "oracles/pypeers.json").read_text())["adult"]["gen_1"]
    classes = Classes.of(adult, case["QI"], ["occupation"])
    coarser = {}
    for name, level in LEVELS.items():
        path = str(shared / f"data/arx-adult/adult_hierarchy_{name}.csv")
        hierarchy = bind(Explicit(file=path, check_labels=False), adult, name)
        coarser[name] = Coarsening.to_level(hierarchy, level)
    rolled = classes.rolled(coarser)
    evidence = Evidence(rolled, "occupation")
    wanted = case["vecref"]
    assert rolled.number == wanted["n_ec"]
    for model, name, options in (
        ("k-anonymity", "k", {}),
        ("l-diversity", "l_distinct", {}),
        ("entropy-l-diversity", "entropy_l_exact", {}),
        ("t-closeness", "t_equal", {}),
        ("basic-beta-likeness", "beta_basic", {}),
        ("delta-disclosure", "delta_ln_present_only", {"base": "e", "absent": "ignore"}),
    ):
        (value,) = MODELS[model](**options).measure(evidence).values()
        assert float(value) == pytest.approx(wanted[name], abs=1e-9)
