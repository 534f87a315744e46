"""The thesis of Menten 2024: every value that its scripts print, for both of its datasets."""

import json
from fractions import Fraction

import pytest

import shoal
from shoal.errors import ModelError, PolicyError, ShoalError
from shoal.identification.contribution import contribution, rows_of
from shoal.identification.dimension import Weighing, by_tables, chosen, judges
from shoal.identification.g_distinct import g_distinct
from shoal.table.role import Role

ROLES = {"SA": Role.SENSITIVE, "QID": Role.QUASI, "NSA": Role.INSENSITIVE}
ROWS = ["500", "1000"]
EXACT = {"500": Fraction(3, 4), "1000": Fraction(688, 2125)}
REPAIRED = {"500": 5, "1000": 2}


def stage_1(shared, rows):
    reference = json.loads((shared / "oracles" / "menten_reference.json").read_text())["datasets"][rows]["stage1"]
    return reference, shoal.read(shared / f"data/menten/df_{rows}_rows/stage_1_df_mock_{rows}.csv")


@pytest.mark.parametrize("rows", ROWS)
def test_the_first_stage_is_that_of_the_thesis(shared, rows):
    reference, table = stage_1(shared, rows)
    found = g_distinct(
        table,
        alpha=reference["alpha"],
        beta=reference["beta"],
        direct=[reference["direct_identifier"]],
        compat="menten-2024",
    )
    assert {name: 100 * share for name, share in found.excluded.items()} == pytest.approx(
        reference["excluded_over_85pct"]
    )
    assert [rate.name for rate in found.rates] == list(reference["attributes"])  # ties in the order of the columns
    for rate in found.rates:
        expected = reference["attributes"][rate.name]
        assert rate.rate == pytest.approx(expected["risk_rate_exact"], abs=1e-9)
        assert round(rate.rate, 2) == expected["thesis"]
        assert rate.role is ROLES[expected["classification"]]
        assert rate.values == expected["distinct_values"]
        assert rate.record_risk == pytest.approx(expected["record_avg_risk"])


@pytest.mark.parametrize("rows", ROWS)
def test_contributions_are_those_of_all_subsets(shared, rows):
    expected = json.loads((shared / "oracles" / "menten_qid_discovery.json").read_text())[rows]
    _, table = stage_1(shared, rows)
    names = list(expected["shapley_uniqueness"])
    found = contribution(rows_of(table, names), names)
    assert found.shares == pytest.approx(expected["shapley_uniqueness"], abs=1e-12)
    sizes = {str(number): round(share, 4) for number, share in enumerate(found.by_number) if number}
    assert sizes == expected["mean_uniqueness_by_size"]
    keys = found.keys(0.9)
    assert len(keys) == expected["minimal_90pct_keys"]
    assert set(keys[0].columns) == set(expected["smallest_key"])


def stage_2(shared, rows):
    reference = json.loads((shared / "oracles" / "menten_reference.json").read_text())["datasets"][rows]["stage2"]
    folder = shared / f"data/menten/df_{rows}_rows"
    names = ["original", *reference["qids"]]
    original, *tables = (shoal.read(folder / f"stage_2_df_{name}.csv", unnamed="drop") for name in names)
    return reference, original.assign(quasi=reference["qids"], sensitive=reference["sas"]), tables


@pytest.mark.parametrize("rows", ROWS)
def test_the_second_stage_is_that_of_the_thesis(shared, rows):
    reference, original, tables = stage_2(shared, rows)
    weighing = Weighing(original.sensitive, judges((), original.quasi, original.sensitive), {})
    first, *treated = by_tables(original, tables, reference["qids"])
    before = weighing.step(first)
    steps = [weighing.step(one, before.k) for one in treated]
    for step, expected, printed in zip(steps, reference["recomputed"], reference["printed_by_script"], strict=True):
        assert (step.dimension, step.k, step.privacy_gain) == (
            expected["dimension"],
            printed["k_after"],
            printed["privacy_gain"],
        )
        assert (step.classes, step.unique) == (expected["equivalence_classes"], expected["unique_records"])
        assert dict(step.l) == expected["l_per_sa"]
        assert {name: float(t) for name, t in step.t.items()} == pytest.approx(expected["t_per_sa"], abs=1e-12)
        assert step.loss == pytest.approx(expected["nue"], abs=1e-8)
        treated_only = {name: expected["nue_per_attribute"][name] for name in step.columns}
        assert dict(step.nue) == pytest.approx(treated_only, abs=1e-8)
        assert str(round(step.percent, 2)) == printed["nue_pct"]
        assert str(step.inverse) == printed["inverse_nue_pct"]
        assert step.generic == pytest.approx(step.loss)  # whole columns were made coarser: both are the same
        assert float(step.risk) == pytest.approx(expected["avg_record_risk"])
    assert steps[-1].most == pytest.approx(reference["max_nue"])
    assert max(steps[-1].t.values()) == EXACT[rows]
    found = chosen(reference["qids"], before, steps)
    assert len(found.published.columns) == reference["optimal_dimension_printed"]
    assert len(found.repaired.columns) == reference["optimal_dimension_if_list_not_reset"] == REPAIRED[rows]
    assert found.principled.columns == found.repaired.columns  # k of at least 2 at the lowest cost


def test_a_table_for_each_column_is_needed(shared):
    reference, original, tables = stage_2(shared, "500")
    with pytest.raises(ModelError, match="One table per quasi-identifier is required: 4 are given for 5"):
        list(by_tables(original, tables[:-1], reference["qids"]))


def test_where_thresholds_cut_badly_it_is_said():
    """One rare value among many dominates a rate; the mean risk of the records is another thing."""
    table = shoal.read({"sex": ["X"] + ["f"] * 500 + ["m"] * 499})
    found = g_distinct(table, alpha=25, beta=1)
    assert found.of_role(Role.SENSITIVE) == ("sex",)
    assert round(found.rates[0].rate, 2) == 33.47
    assert any("comes from unique values; the average risk of a record is 0.3%" in note for note in found.advice())
    with pytest.raises(ModelError, match="α is less than β"):
        g_distinct(table, alpha=1, beta=2)


def test_one_column_more_breaks_the_published_release(shared):
    """The release with k = 4 has k = 1 as soon as the sex is known; that with k = 110 still has 50."""
    reference = json.loads((shared / "oracles" / "menten_reference.json").read_text())["datasets"]
    for rows, last in (("500", "ms_type"), ("1000", "covid19_symptoms")):
        table = shoal.read(shared / f"data/menten/df_{rows}_rows/stage_2_df_{last}.csv", unnamed="drop")
        stage = reference[rows]["stage2"]
        found = {one.column: one for one in shoal.also_known(table, stage["qids"])}
        expected = stage["recomputed"][-1]
        assert (found[None].k, found[None].unique) == (expected["k"], expected["unique_records"])
        assert (found["sex"].k, found["sex"].unique) == (
            expected["k_with_sex_added"],
            expected["unique_with_sex_added"],
        )


def test_the_dimension_is_chosen_from_hierarchies():
    patients = shoal.demo.hospital(patients=400).patients
    table = patients.assign(quasi=["postcode", "sex", "insurance"], sensitive="diabetes")
    found = shoal.dimension(table, levels={"postcode": 4, "sex": 1}, subsets=True)
    assert found.order[0] == "postcode"  # the highest rate
    assert len(found.steps) == 7
    assert {step.columns for step in found.steps[:3]} == {("postcode",), ("sex",), ("insurance",)}
    assert all(step.satisfied == (step.k >= 2) for step in found.steps)
    best = min((step for step in found.steps if step.k >= 2), key=lambda step: step.generic)
    assert found.principled.columns == best.columns
    policy = shoal.Policy.parse(
        'version = 1\ncolumns = { sex = "quasi", insurance = "quasi" }\nrequire = [{ model = "k-anonymity", k = 9999 }]'
    )
    none = shoal.dimension(patients, policy)
    assert none.principled.columns is None
    with pytest.raises(PolicyError, match="has no level"):
        shoal.dimension(table, levels={"sex": 9})
    with pytest.raises(ModelError, match="every quasi-identifier once"):
        shoal.dimension(table, order=["sex"])
    with pytest.raises(PolicyError, match="cannot be chosen by average-risk"):
        shoal.dimension(
            patients,
            shoal.Policy.parse(
                'version = 1\ncolumns = { sex = "quasi" }\nrequire = [{ model = "average-risk", risk = 0.1 }]'
            ),
        )


def test_nothing_has_to_be_made_coarser_where_all_holds():
    data = {"age": [30, 30, 32, 32], "s": list("abab"), "u": list("aabb")}
    found = shoal.dimension(data, quasi=["age"], sensitive=["s"])
    assert found.principled.columns == ()
    assert found.repaired.columns == ("age",)  # the thesis does not ask


def test_who_is_unique_counts_as_a_person_once():
    data = {"who": ["a", "a", "b", "b"], "age": [30, 31, 40, 41], "sex": ["f", "f", "m", "m"]}
    found = shoal.dimension(data, quasi=["age", "sex"], subject="who")
    assert found.before.unique == 2
    known = shoal.also_known(data, ["sex"], subject="who")
    assert [(one.column, one.unique) for one in known] == [(None, 2), ("age", 2)]


@pytest.mark.parametrize(
    "wrong",
    [
        {"distance": "far"},
        {"tables": [{"age": [30], "sex": ["f"]}] * 2},
        {"tables": [{"age": [30, 40], "sex": ["f", "m"]}] * 2, "subsets": True},
        {"levels": {"agee": 1}},
        {"levels": {"age": 1.5}},
    ],
)
def test_what_makes_no_sense_is_refused(wrong):
    with pytest.raises(ShoalError):
        shoal.dimension({"age": [30, 40], "sex": ["f", "m"]}, quasi=["age", "sex"], **wrong)


def test_missing_values_that_match_anything_make_no_dimension():
    policy = shoal.Policy.parse("version = 1\n[data]\nmissing = 'wildcard'\n[columns]\nage = 'quasi'\n")
    with pytest.raises(ModelError, match="The dimension cannot be measured if missing values"):
        shoal.dimension({"age": [30, None, 40]}, policy)
    with pytest.raises(ModelError, match="Uniqueness cannot be determined"):
        shoal.also_known({"age": [30, None, 40], "x": [1, 2, 3]}, ["age"], missing="wildcard")
