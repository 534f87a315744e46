"""Reports on perturbed columns: true values are judged, released values are described, and attacks measure the rest."""

import numpy as np
import pytest

import shoal

KEY = "SHOAL_KEY_OF_REPORTS"


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv(KEY, "a key for reports on perturbed columns")


def policy(columns, require, data=None):
    return shoal.Policy.model_validate(
        {"version": 1, "data": data or {}, "columns": columns, "require": require, "draw": {"key_variable": KEY}}
    )


def cohort(number=300):
    """Return persons whose diagnosis follows from their sex: attribute disclosure is certain."""
    rng = np.random.default_rng(4)
    sex = rng.choice(["f", "m"], number)
    return {
        "sex": sex.tolist(),
        "age": rng.integers(20, 60, number).tolist(),
        "dx": np.where(sex == "f", "flu", "gout").tolist(),
        "lab": rng.normal(100, 15, number).round(1).tolist(),
    }


DIVERSE = {"model": "l-diversity", "l": 2}
PRAM = {"kind": "pram", "keep": 0.2}
OUTSIDE = {"sex": {"role": "quasi"}, "dx": {"role": "sensitive", "perturb": PRAM}}


def outcome(report, model):
    (found,) = [required for required in report.findings.requirements if required.title.startswith(model)]
    return found


def texts(report):
    return report.to_markdown()


def test_released_values_of_perturbed_columns_get_no_credit():
    """A release made elsewhere has two diagnoses in each class, but only because they are false."""
    before = {name: cohort()[name] for name in ("sex", "dx")}
    after = {**before, "dx": np.random.default_rng(1).permutation(before["dx"]).tolist()}
    rules = policy(OUTSIDE, [DIVERSE])
    judged = outcome(shoal.report(before, after, policy=rules, in_order=True), "l-diversity")
    assert judged.after is not None
    assert judged.after.value == {"l": 1}
    assert not judged.holds
    unperturbed = policy({**OUTSIDE, "dx": {"role": "sensitive"}}, [DIVERSE])
    assert outcome(shoal.report(before, after, policy=unperturbed, in_order=True), "l-diversity").holds


def test_perturbed_columns_are_not_judged_if_records_cannot_be_matched():
    before = {name: cohort()[name] for name in ("sex", "dx")}
    order = np.random.default_rng(1).permutation(len(before["sex"]))[:-1]
    after = {"sex": [before["sex"][place] for place in order], "dx": [before["dx"][place] for place in order[::-1]]}
    report = shoal.report(before, after, policy=policy(OUTSIDE, [DIVERSE]))
    judged = outcome(report, "l-diversity")
    assert not judged.holds
    assert judged.outcome == "not judged"
    assert "could not be matched" in judged.why
    assert [attribute.column for attribute in report.findings.after.attributes] == []


def release_of(tmp_path, columns, require):
    rules = policy(columns, require)
    release = shoal.anonymize(cohort(), rules)
    path = tmp_path / "out.csv"
    release.save(path)
    return release, path, rules


@pytest.mark.parametrize("of_persons", [False, True])
def test_a_report_on_files_says_the_same(tmp_path, of_persons):
    columns = {
        "sex": {"role": "quasi"},
        "age": {"role": "quasi", "perturb": {"kind": "round", "to": 10}},
        "dx": {"role": "sensitive"},
        "lab": {"role": "sensitive", "perturb": {"kind": "noise", "share": 0.5}},
    }
    asked = [{"model": "k-anonymity", "k": 3}, {"model": "l-diversity", "l": 3, "column": "lab"}]
    data = {**cohort(), "who": [number // 2 for number in range(300)]} if of_persons else cohort()
    rules = policy(columns, asked, {"subject": "who"} if of_persons else {})
    release, path = shoal.anonymize(data, rules), tmp_path / "out.csv"
    release.save(path)
    own, of_files = shoal.report(data, release), shoal.report(data, path, policy=rules)
    for model in ("k-anonymity", "l-diversity"):
        assert outcome(own, model).attained == outcome(of_files, model).attained
        assert outcome(of_files, model).outcome == "met (verified)"
    assert own.external().to_html() == of_files.external().to_html()
    risks = [[attribute.average for attribute in report.findings.after.attributes] for report in (own, of_files)]
    assert risks[0] == risks[1]


def test_perturbations_are_explained_and_their_cost_is_shown(tmp_path):
    columns = {
        "sex": {"role": "quasi"},
        "age": {"role": "quasi", "perturb": {"kind": "round", "to": 10}},
        "lab": {"role": "sensitive", "perturb": {"kind": "noise", "share": 0.5}},
    }
    release, _, _ = release_of(tmp_path, columns, [{"model": "k-anonymity", "k": 3}])
    report = shoal.report(cohort(), release)
    for version in (report, report.external()):
        text = texts(version)
        assert "| lab | noise addition | share = 0.5 | Mean and variance are kept" in text
        assert "| age | rounding | to = 10 |" in text
        assert "No requirement is met by it" in text
        assert "Add normal noise to numbers or dates" in text
    assert "| age | quasi | rounding; generalisation" in texts(report)
    assert "| lab | absolute-error |" in texts(report)
    assert "absolute-error" not in texts(report.external())


def test_a_codebook_describes_released_values(tmp_path):
    columns = {"sex": {"role": "quasi"}, "lab": {"role": "sensitive", "perturb": {"kind": "noise", "share": 1.0}}}
    release, _, _ = release_of(tmp_path, columns, [{"model": "k-anonymity", "k": 3}])
    findings = shoal.report(cohort(), release).findings
    released = release.to_frame("pyarrow").column("lab").to_pylist()
    seen, counts = findings.seen["lab"], findings.counts["lab"].records
    assert {value for value, number in zip(seen.values.to_pylist(), counts, strict=False) if number} == {*released}


DRAWN = {"kind": "noise", "share": 3.0}
MEASURED = {"attack": "linkage-rate", "at_most": 0.3}


def test_drawn_quasi_identifiers_are_in_no_class(tmp_path):
    columns = {"sex": {"role": "quasi"}, "age": {"role": "quasi", "perturb": DRAWN}, "dx": {"role": "sensitive"}}
    release, path, rules = release_of(tmp_path, columns, [{"model": "k-anonymity", "k": 3}, MEASURED])
    own, of_files = shoal.report(cohort(), release), shoal.report(cohort(), path, policy=rules)
    for report in (own, of_files):
        assert report.findings.drawn_quasi == ("age",)
        assert report.findings.after.quasi == ("sex",)
        assert outcome(report, "k-anonymity").after.value == outcome(own, "k-anonymity").after.value
        for version in (report, report.external()):
            assert "drawn at random (age), so they say nothing about the risk; attacks measure" in texts(version)
            assert "**Re-identification risk**" not in texts(version)
    assert own.findings.met
    assert not of_files.findings.met
    assert outcome(of_files, "linkage-rate").why == "this report was made without attacks"
    attacked = shoal.attack(cohort(), path, rules, attacks=["linkage-rate"])
    assert shoal.report(cohort(), path, attacked, policy=rules).findings.met


def test_reports_without_classes(tmp_path):
    columns = {"age": {"role": "quasi", "perturb": DRAWN}, "dx": {"role": "sensitive"}}
    release, path, rules = release_of(tmp_path, columns, [MEASURED])
    for report in (shoal.report(cohort(), release), shoal.report(cohort(), path, policy=rules)):
        assert report.findings.after is None
        assert report.findings.advice is None
        assert "| smallest equivalence class (records) | 2 | – |" in texts(report)
        for version in (report, report.external()):
            assert "Attribute disclosure is not assessed by classes, but by attacks." in texts(version)
            assert version.to_html().startswith("<!DOCTYPE html>")
            assert version.to_json()
