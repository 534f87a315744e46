"""Techniques on one table: each meets what it promises, costs what other verbs measure, and is compared fairly."""

import numpy as np
import pytest

import shoal
from shoal.errors import ColumnError, ModelError, PolicyError, ReportError

pytestmark = pytest.mark.xdist_group("techniques")  # one worker compares the techniques that most tests look at
POLICY = """
version = 1
columns.age = "quasi"
columns.weight = "quasi"
columns.sex = "quasi"
columns.dx = "sensitive"
columns.days = "insensitive"
columns.died = "insensitive"
require = [{{ model = "k-anonymity", k = {k} }}{more}]
search.suppression = 0.05
"""


def policy(k=4, more=""):
    return shoal.Policy.parse(POLICY.format(k=k, more=more))


@pytest.fixture(scope="module")
def cohort():
    rng = np.random.default_rng(8)
    number = 160
    age = rng.integers(20, 80, number)
    return {
        "age": age.tolist(),
        "weight": (60 + age / 4 + rng.normal(0, 8, number)).round(0).tolist(),
        "sex": rng.choice(["f", "m"], number).tolist(),
        "dx": np.where(rng.random(number) < age / 100, "ms", "flu").tolist(),
        "days": rng.integers(1, 400, number).tolist(),
        "died": rng.integers(0, 2, number).tolist(),
    }


@pytest.fixture(scope="module")
def compared(cohort):
    return shoal.compare_techniques(cohort, policy(), target="dx", survival=["days", "died", "sex"])


def test_techniques_that_generalise_are_verified_and_cost_what_compare_measures(cohort, compared):
    true = {each.technique: each for each in compared.figures if each.is_true}
    assert {"global", "local", "mondrian", "microaggregation", "suppression"} <= {*true}
    for name, each in true.items():
        text = POLICY.format(k=4, more="") + f'search.recoding = "{name}"\n'
        release = shoal.anonymize(cohort, shoal.Policy.parse(text))
        assert each.guarantee == "verified"
        assert each.loss == release.quality["loss"].total.cost
        assert each.suppressed == release.suppressed
        assert each.amount is None


def test_perturbations_are_the_weakest_that_the_limit_allows(cohort, compared):
    assert compared.limit == 0.25
    drawn = {each.technique: each for each in compared.figures if not each.is_true}
    assert {"noise + pram", "swap + pram"} <= {*drawn}
    for each in drawn.values():
        assert each.guarantee == "measured"
        assert each.loss is None
        assert each.linked.high <= compared.limit
    strict = shoal.compare_techniques(cohort, policy(more=', { attack = "linkage-rate", at_most = 0.1 }'))
    assert strict.limit == 0.1
    amounts = [{each.technique: each.amount for each in found.figures} for found in (compared, strict)]
    assert amounts[0]["noise + pram"] <= amounts[1]["noise + pram"]


@pytest.mark.exhaustive
def test_analyses_are_those_of_a_comparison(cohort, compared):
    first = next(each for each in compared.figures if each.technique == "global")
    release = shoal.anonymize(cohort, policy())
    found = shoal.compare(cohort, release)
    assert first.trained == found.learning("dx").auc[1]
    assert compared.original == found.learning("dx").auc[0]
    assert first.gap == max(curve.largest_gap for curve in found.survival("days", "died", "sex"))
    assert 0 <= first.close <= 1
    assert 0 <= first.inferred <= 1


@pytest.mark.exhaustive
def test_the_same_seed_gives_the_same_figures(cohort):
    some = {name: cohort[name][:80] for name in ("age", "sex", "dx")}
    rules = shoal.Policy.model_validate({"version": 1, "columns": {"age": "quasi", "sex": "quasi", "dx": "sensitive"}})
    found = [shoal.compare_techniques(some, rules, seed=seed).to_dict() for seed in (1, 1, 2)]
    assert found[0] == found[1]
    assert found[0] != found[2]


def test_without_requirements_on_classes_the_limit_gives_k(cohort):
    rules = shoal.Policy.parse("""
version = 1
columns.age = { role = "quasi", perturb = { kind = "noise", share = 2 } }
columns.sex = "quasi"
columns.dx = "sensitive"
require = [{ attack = "linkage-rate", at_most = 0.1 }]
""")
    found = shoal.compare_techniques(cohort, rules)
    assert "k ≥ 10" in found.required
    assert {each.technique for each in found.figures if each.is_true} >= {"global", "local"}


def test_categories_are_perturbed_as_far_as_possible():
    data = {"sex": ["f", "m"] * 100, "town": list("abcde") * 40, "dx": ["flu", "ms", "gout", "flu"] * 50}
    rules = shoal.Policy.parse("""
version = 1
columns.sex = "quasi"
columns.town = "quasi"
columns.dx = "sensitive"
require = [{ model = "k-anonymity", k = 5 }]
""")
    found = shoal.compare_techniques(data, rules)
    assert [each.technique for each in found.figures if not each.is_true] == ["pram"]
    with pytest.raises(ModelError, match="no known column is a number"):
        shoal.charts.techniques(found)
    assert "error" not in found.sheet().headings
    report = shoal.report(data, shoal.anonymize(data, rules), techniques=found)
    assert "Techniques at comparable risk (200 individuals)" in report.to_markdown()


def test_a_report_lets_its_owner_choose(cohort, compared):
    release = shoal.anonymize(cohort, policy())
    report = shoal.report(cohort, release, techniques=compared)
    text = report.to_markdown()
    for each in compared.figures:
        assert f"| {each.title} |" in text
    assert "Smallest error: " in text
    assert "Techniques at comparable risk" not in report.external().to_markdown()
    with pytest.raises(ReportError, match="another table"):
        shoal.report(
            {name: values[:100] for name, values in cohort.items()}, release_of_part(cohort), techniques=compared
        )
    with pytest.raises(ReportError, match=r"compare_techniques\(original, policy\)"):
        shoal.report(cohort, release, techniques=3)


def release_of_part(cohort):
    return shoal.anonymize({name: values[:100] for name, values in cohort.items()}, policy())


def test_what_cannot_be_compared_is_refused_at_once(cohort):
    with pytest.raises(ColumnError, match="no column 'dxx'"):
        shoal.compare_techniques(cohort, policy(), target="dxx")
    with pytest.raises(ModelError, match="requires a time and an event"):
        shoal.compare_techniques(cohort, policy(), survival="days")
    with pytest.raises(PolicyError, match="no quasi-identifier"):
        shoal.compare_techniques(cohort, shoal.Policy.parse("version = 1\ncolumns.dx = 'sensitive'"))
