"""Limits for attacks: measured on the release, and named as such wherever a requirement is named."""

import json

import pytest

import shoal
from shoal.errors import PolicyError, ReleaseError
from shoal.release.judgement import Guarantee
from tests.command_line import run

POLICY = """
version = 1
columns.age = {{ role = "quasi", hierarchy = {{ kind = "interval", widths = [5, 10, 20, 40] }} }}
columns.sex = "quasi"
columns.dx = "sensitive"
require = [{require}]
search = {{ suppression = 0.1 }}
"""
K = '{ model = "k-anonymity", k = 10 }'


def policy(*require):
    return shoal.Policy.parse(POLICY.format(require=", ".join(require)))


def data(records=400):
    ages = [20 + (7 * place) % 60 for place in range(records)]
    return {"age": ages, "sex": ["f" if age % 3 else "m" for age in ages], "dx": ["flu", "ms", "gout", "none"] * 100}


def test_a_limit_that_holds_is_measured_and_said_to_be():
    release = shoal.anonymize(data(), policy(K, '{ attack = "linkage", at_most = 0.15 }'))
    verified, measured = release.requirements
    assert (verified.guarantee, measured.guarantee) == (Guarantee.VERIFIED, Guarantee.MEASURED)
    assert (verified.outcome, measured.outcome) == ("met (verified)", "met (measured)")
    success = shoal.attack(data(), release, attacks=["linkage"]).of("linkage").success
    assert measured.verdict.value == {"success": success.value, "low": success.low, "high": success.high}
    assert success.value < success.high <= 0.15
    assert [entry["guarantee"] for entry in release.to_dict()["requirements"]] == ["verified", "measured"]


def test_the_upper_end_of_the_interval_counts():
    release = shoal.anonymize(data(), policy(K))
    success = shoal.attack(data(), release, attacks=["linkage"]).of("linkage").success
    between = (success.value + success.high) / 2
    with pytest.raises(ReleaseError, match="upper end") as failure:
        shoal.anonymize(data(), policy(K, f'{{ attack = "linkage", at_most = {between} }}'))
    assert "Increase k" in failure.value.hint
    assert shoal.anonymize(data(), policy(K, f'{{ attack = "linkage", at_most = {success.high} }}')).met


def test_all_columns_count_unless_one_is_named():
    many = {**data(), "town": ["a"] * 399 + ["b"]}
    asked = policy(K, '{ attack = "homogeneity", at_most = 0.5, column = "dx" }')
    text = shoal.Policy.parse(POLICY.format(require=K) + 'columns.town = "sensitive"')
    assert shoal.anonymize(data(), asked).met
    both = text.model_copy(update={"require": asked.require})
    assert shoal.anonymize(many, both).met
    everything = policy(K, '{ attack = "homogeneity", at_most = 0.5 }')
    with pytest.raises(ReleaseError, match="homogeneity"):
        shoal.anonymize(many, text.model_copy(update={"require": everything.require}))


def test_an_attack_that_cannot_be_tried_is_no_guarantee():
    with pytest.raises(ReleaseError, match="could not be measured"):
        shoal.anonymize(data(), policy(K, '{ attack = "composition", at_most = 0.5 }'))


def test_a_limit_may_stand_alone():
    limit = '{ attack = "linkage", at_most = 0.2 }'
    alike = {"age": [30] * 50, "sex": ["f"] * 50, "dx": ["flu", "ms"] * 25}
    coarse = shoal.anonymize(alike, policy(limit))
    assert [judged.guarantee for judged in coarse.requirements] == [Guarantee.MEASURED]
    with pytest.raises(ReleaseError, match="linkage"):
        shoal.anonymize({**data(), "age": list(range(400))}, policy(limit))


def test_documents_name_the_guarantee(tmp_path):
    (tmp_path / "policy.toml").write_text(POLICY.format(require=f'{K}, {{ attack = "linkage", at_most = 0.15 }}'))
    shoal.write(shoal.read(data()), tmp_path / "data.csv")
    done = run("anonymize", "data.csv", "-p", "policy.toml", "-o", "out.csv", cwd=tmp_path)
    assert "met (verified)" in done.stdout
    assert "met (measured)" in done.stdout
    public = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert [entry["guarantee"] for entry in public["requirements"]] == ["verified", "measured"]
    assert "value" not in public["requirements"][1]
    internal = json.loads((tmp_path / "out.csv.owner-only" / "internal.json").read_text())
    assert internal["requirements"][1]["value"].keys() == {"success", "low", "high"}
    release = shoal.anonymize(tmp_path / "data.csv", tmp_path / "policy.toml")
    report = shoal.report(tmp_path / "data.csv", release)
    for text in (report.to_markdown(), report.external().to_markdown()):
        assert "met (verified)" in text
        assert "met (measured)" in text
    assert "limits for attacks measured" in report.to_markdown()
    elsewhere = shoal.report(tmp_path / "data.csv", tmp_path / "out.csv", policy=tmp_path / "policy.toml")
    assert not elsewhere.findings.met
    assert "this report was made without attacks" in elsewhere.to_markdown()
    tried = shoal.attack(tmp_path / "data.csv", tmp_path / "out.csv", tmp_path / "policy.toml", attacks=["linkage"])
    again = shoal.report(tmp_path / "data.csv", tmp_path / "out.csv", tried, policy=tmp_path / "policy.toml")
    assert again.findings.met


def test_assess_says_what_it_does_not_judge():
    found = shoal.assess(data(), policy(K, '{ attack = "linkage", at_most = 0.15 }'))
    assert len(found.requirements) == 1
    assert any("linkage" in note and "apply to a release" in note for note in found.notes)


@pytest.mark.parametrize(
    ("require", "problem"),
    [
        ('{ attack = "linkeage", at_most = 0.1 }', "there is no such attack. Did you mean 'linkage'?"),
        ('{ attack = "linkage" }', "at_most: is missing"),
        ('{ attack = "linkage", at_most = 1.5 }', "at_most"),
        ('{ attack = "linkage", at_most = 0.1, k = 2 }', "k: there is no such setting"),
        ("{ k = 2 }", "give model, preset or attack"),
    ],
)
def test_limits_that_cannot_be_understood(require, problem):
    with pytest.raises(PolicyError) as failure:
        policy(K, require)
    assert problem in f"{failure.value.message} {failure.value.hint}"


def test_an_attack_by_sets_cannot_be_limited_on_means():
    """No mean covers all values of its class: linkage would find nobody, and the limit would be met."""
    asked = policy(K, '{ attack = "linkage", at_most = 0.1 }')
    columns = {**asked.columns, "age": asked.columns["age"].model_copy(update={"show": "mean"})}
    with pytest.raises(PolicyError, match="representative or perturbed") as caught:
        shoal.anonymize(data(), asked.model_copy(update={"columns": columns}))
    assert "linkage-rate" in caught.value.hint


@pytest.mark.parametrize("attack", ["homogeneity", "skewness", "background-knowledge", "linkage"])
def test_what_reads_sets_is_not_limited_on_perturbed_values(attack):
    limits = f'{{ attack = "{attack}", at_most = 0.1 }}', '{ attack = "linkage-rate", at_most = 0.9 }'
    asked = policy(K, *limits)
    noise = asked.columns["age"].model_validate({"role": "quasi", "perturb": {"kind": "noise", "share": 2.0}})
    with pytest.raises(PolicyError, match="takes released values for true ones"):
        shoal.anonymize(data(), asked.model_copy(update={"columns": {**asked.columns, "age": noise}}))
