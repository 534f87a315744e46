"""Risks: ARX's binding values, closed forms, and brute force on small tables."""

import json
from fractions import Fraction
from math import comb, lgamma, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models import reference

import shoal
from shoal.classes.classes import Classes
from shoal.classes.identity import Identity
from shoal.errors import ModelError
from shoal.population import Population
from shoal.risk.adversary import journalist, marketer, prosecutor
from shoal.risk.attribute import attribute_risk
from shoal.risk.context import context_risk
from shoal.risk.distinction import distinction, separation
from shoal.risk.gamma import digamma
from shoal.risk.history import history_risk
from shoal.risk.household import household_risk
from shoal.risk.survey import expected_inverse, survey_risk
from shoal.risk.uniqueness import Sizes, pitman, population_uniqueness, snb, zayatz


@pytest.fixture(scope="module")
def adult(shared):
    return shoal.read(shared / "data/arx-adult/adult.csv")


def batched(pairs):
    return zip(pairs[::2], pairs[1::2], strict=True)


def arx(shared):
    return json.loads((shared / "oracles/arx_adult_risk.json").read_text())


def test_arx_sample_risks(shared, adult):
    for case in arx(shared)["risk_models"]:
        classes = Classes.of(adult, case["qi"], [])
        risk = prosecutor(classes)
        assert classes.number == case["num_classes"]
        assert risk.maximum == case["highest_risk"]
        assert risk.average == pytest.approx(case["average_risk"], abs=1e-12)
        assert marketer(classes).average == pytest.approx(case["est_marketer"], abs=1e-12)
        assert risk.share_above == pytest.approx(case["summary_threshold_0.2"]["prosecutor_records_at_risk"], abs=1e-12)
        assert shoal.sample_uniqueness(adult, quasi=case["qi"]) == pytest.approx(case["sample_uniqueness"], abs=1e-12)
        sizes = {int(size): int(n) for size, n in zip(*np.unique(classes.sizes, return_counts=True), strict=True)}
        if "class_size_histogram_size_count_pairs" in case:
            assert sizes == dict(batched(case["class_size_histogram_size_count_pairs"]))


def test_arx_distinction_and_separation_of_all_subsets(shared, adult):
    cases = arx(shared)["attribute_risks_all_subsets"]["values"]
    for case in cases:
        classes = Classes.of(adult, case["qi"], [])
        assert float(distinction(classes)) == pytest.approx(case["distinction"], abs=1e-12)
        assert float(separation(classes)) == pytest.approx(case["separation"], abs=1e-12)
    assert len(cases) == 511


def test_arx_population_uniqueness(shared, adult):
    for case in arx(shared)["risk_models"]:
        classes = Classes.of(adult, case["qi"], [])
        found = population_uniqueness(classes, Population(case["population_size"]))
        assert found.zayatz == pytest.approx(case["pop_uniq_fraction_zayatz"], abs=1e-9)
        assert found.pitman == pytest.approx(case["pop_uniq_fraction_pitman"], abs=1e-6)
        assert found.rule.upper() == case["dankar_uses"]
        assert found.dankar == pytest.approx(case["pop_uniq_fraction_dankar"], abs=1e-6)


def sizes_of(counts, people):
    """Return a sample with so many classes of size 1, 2, …."""
    sizes = np.arange(1, len(counts) + 1)
    counts = np.array(counts)
    return Sizes(sizes[counts > 0], counts[counts > 0], int((sizes * counts).sum()), people)


def test_zayatz_by_hand():
    sample = sizes_of([4, 3, 1], 33)
    drawn = {s: s * comb(33 - s, 12) / comb(33, 13) for s in (1, 2, 3)}
    unique = 4 * drawn[1] / sum(n * drawn[s] for s, n in ((1, 4), (2, 3), (3, 1)))
    assert zayatz(sample) == pytest.approx(4 * unique / (13 / 33) / 33, abs=1e-12)


def test_pitman_is_where_the_likelihood_is_largest():
    sample = sizes_of([60, 10, 4, 2, 1, 1] + [0] * 33 + [1], 1000)

    alphas, thetas = np.meshgrid(np.linspace(0.01, 0.95, 189), np.linspace(1, 80, 400), indexing="ij")
    made = sum(np.log(thetas + i * alphas) for i in range(1, sample.classes))
    drawn = sum(np.log(thetas + i) for i in range(1, sample.persons))
    inside = sum(
        n * sum(np.log(i - alphas) for i in range(1, s)) for s, n in zip(sample.sizes, sample.counts, strict=True)
    )
    best = np.argmax(made - drawn + inside)
    alpha, theta = alphas.flat[best], thetas.flat[best]
    wanted = np.exp(lgamma(theta + 1) - lgamma(theta + alpha)) * 1000**alpha / 1000
    assert pitman(sample) == pytest.approx(wanted, rel=0.01)


def test_snb_recovers_its_own_parameters():
    """Draw the expected class sizes from known parameters; the estimate must lead back to the truth."""
    rng = np.random.default_rng(0)
    people = 1 + rng.negative_binomial(1.5, 0.4, 600_000)
    drawn = rng.binomial(people, 0.3)
    seen, counts = np.unique(drawn[drawn > 0], return_counts=True)
    sample = Sizes(seen, counts, int(drawn.sum()), int(people.sum()))
    assert snb(sample) == pytest.approx((people == 1).sum() / people.sum(), rel=0.02)


def test_models_without_an_answer_say_so():
    everybody_alone = sizes_of([5], 50)
    assert pitman(everybody_alone) is None
    classes = Classes.of(shoal.read({"a": [1, 1, 2, 2]}), ["a"], [])
    assert population_uniqueness(classes, Population(10)).dankar == 0


@given(st.integers(1, 60), st.floats(1e-2, 1.0))
def test_expected_inverse_is_an_integral(size, share):
    u = (np.arange(200_000) + 0.5) / 200_000
    wanted = (u ** (size - 1) * share / (share + (1 - share) * u)).mean()
    assert expected_inverse(np.array([size]), np.array([share]))[0] == pytest.approx(wanted, rel=3e-3, abs=1e-9)


def test_expected_inverse_in_closed_form():
    for share in (0.01, 0.3, 0.6, 0.99):
        odds = share / (1 - share)
        one, two = expected_inverse(np.array([1, 2]), np.full(2, share))
        assert one == pytest.approx(odds * log(1 / share), rel=1e-12)
        assert two == pytest.approx(odds - odds**2 * log(1 / share), rel=1e-9)
    assert expected_inverse(np.array([1, 7]), np.ones(2)).tolist() == [1.0, 1 / 7]


def test_digamma():
    assert digamma(np.array([1, 2, 0.5])) == pytest.approx(
        [-0.5772156649015329, 0.42278433509846714, -1.9635100260214235]
    )
    x = np.linspace(0.01, 50, 200)
    assert digamma(x + 1) - digamma(x) == pytest.approx(1 / x, rel=1e-11)


rows = st.lists(
    st.fixed_dictionaries(
        {"who": st.integers(0, 3), "age": st.sampled_from([1, 2, None]), "dx": st.sampled_from("ab")}
    ),
    min_size=1,
    max_size=10,
)


@given(rows, st.sampled_from([None, "who"]), st.sampled_from(["own", "never"]), st.fractions(0, 1))
def test_identity_risk_against_brute_force(data, subject, missing, threshold):
    table = shoal.read({name: [row[name] for row in data] for name in data[0]})
    table = table.assign(subject=subject) if subject else table
    held = reference.classes_of(data, ["age"], (), subject=subject, missing=missing)
    smallest = reference.risks(held)
    identity = Identity.of(Classes.of(table, ["age"], [], missing=missing))
    assert identity.maximum() == Fraction(1, min(smallest.values()))
    assert identity.average() == reference.average_risk(held)
    assert identity.expected() == sum(Fraction(1, size) for size in smallest.values())
    assert identity.above(threshold) == sum(Fraction(1, size) > threshold for size in smallest.values())


@given(rows, st.sampled_from([None, "who"]))
def test_attribute_risk_against_brute_force(data, subject):
    table = shoal.read({name: [row[name] for row in data] for name in data[0]})
    table = table.assign(subject=subject) if subject else table
    held = reference.classes_of(data, ["age"], "dx", subject=subject)
    risk = attribute_risk(Classes.of(table, ["age"], ["dx"]), "dx")
    posteriors = [(Fraction(n, one.size), n) for one in held for n in one.counts.values()]
    assert risk.maximum == max(chance for chance, _ in posteriors)
    right = sum(max(one.counts.values()) for one in held)
    assert risk.average == Fraction(right, sum(one.size for one in held))
    before = reference.reference_of(data, "dx", subject=subject)
    people = {row[subject] for row in data} if subject else data
    assert risk.baseline == Fraction(max(before.values()), len(people))
    sure = [one for one in held if max(one.counts.values()) == one.size]
    assert risk.certain == len(set().union(*(one.persons for one in sure)))


def test_whole_histories(tmp_path):
    """Google's example: three visits that each look common, and a set of visits that is unique."""
    data = {"who": [1, 1, 2, 2, 3, 3], "quarter": ["a", "b", "a", "b", "a", "c"]}
    table = shoal.read(data).assign(subject="who", quasi=["quarter"])
    risk = history_risk(table)
    assert (risk.persons, risk.histories, risk.maximum, risk.unique) == (3, 2, 1, Fraction(1, 3))
    with pytest.raises(ModelError, match="No column identifies the individual of a record"):
        history_risk(shoal.read(data).assign(quasi=["quarter"]))


def test_journalist_with_a_register_and_without():
    sample = shoal.read({"age": [1, 1, 2]})
    classes = Classes.of(sample, ["age"], [])
    register = Population.of(shoal.read({"age": [1] * 10 + [2] * 4 + [3]}))
    counted = journalist(classes, register, register.matched(classes, sample))
    assert (counted.maximum, counted.basis) == (0.25, "counted")
    assert counted.average == pytest.approx((2 / 10 + 1 / 4) / 3)
    assert journalist(classes).maximum == prosecutor(classes).maximum
    assert journalist(classes).basis == "upper bound"
    estimated = journalist(classes, Population(30))
    assert estimated.basis == "estimated"
    assert estimated.maximum == pytest.approx(expected_inverse(np.array([1]), np.array([0.1]))[0])
    assert estimated.maximum < 1


def test_a_population_smaller_than_the_table():
    classes = Classes.of(shoal.read({"age": [1, 1, 2]}), ["age"], [])
    with pytest.raises(ModelError, match="smaller than the table"):
        journalist(classes, Population(2))


def test_registers_are_matched_by_value():
    sample = shoal.read({"age": [10, 30, None], "sex": ["f", "m", "m"]})
    register = shoal.read({"sex": ["m", "f", "f", "m", "x"], "age": [30.0, 10.0, 10.0, None, 10.0]})
    classes = Classes.of(sample, ["age", "sex"], [])
    matched = Population.of(register).matched(classes, sample)
    assert matched.counts.tolist() == [2, 1, 1]
    assert matched.unseen == 1
    text = Population.of(shoal.read({"age": ["10"], "sex": ["f"]}))
    with pytest.raises(ModelError, match="is of type text in one of table and register, and"):
        text.matched(classes, sample)


def test_survey_and_household_need_their_columns():
    table = shoal.read({"age": [1, 2]}).assign(quasi=["age"])
    with pytest.raises(ModelError, match="survey weights"):
        survey_risk(table)
    with pytest.raises(ModelError, match="household"):
        household_risk(table)


def test_households():
    table = shoal.read({"home": [1, 1, 2, None], "age": [34, 34, 71, 71]}).assign(quasi=["age"], household="home")
    risk = household_risk(table)
    assert (risk.households, risk.maximum) == (2, 0.75)
    assert risk.expected_persons == pytest.approx(0.75 * 2 + 0.5 + 0.5)


def test_context_multiplies():
    risk = context_risk(0.5, {"deliberate": 0.4, "breach": 0.1})
    assert risk.overall == 0.2
    assert [threat.risk for threat in risk.threats] == [0.2, 0.05]
    assert context_risk(0.5, {}).overall == 0.5
