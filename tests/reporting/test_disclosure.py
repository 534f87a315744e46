"""An adversary reads the external report: sums, shares, intervals and pictures must give no small number away."""

import json
import re

import numpy as np
import pytest
from tests.reporting.test_report import K, blocks, people, policy

import shoal
from shoal.attacks.result import Result
from shoal.disclosure import hidden
from shoal.reporting.document import Figure
from shoal.sheet import Sheet


def sheets(report):
    return {one.title: one for one in blocks(report.sections) if isinstance(one, Sheet)}


def numbers(report):
    """Return every number in a report, also in the data of its pictures."""
    return {float(one) for one in re.findall(r"(?<![\w.#])-?\d+\.?\d*(?:[eE]-?\d+)?(?![\w.])", report.to_json())}


@pytest.mark.parametrize("suppressed", [1, 2, 4])
def test_how_few_were_left_out_shows_nowhere(suppressed):
    """With n released and s left out, no number is s / (n + s), nor 1 − that, nor n + s."""
    data = people(397)  # shares of it are no round numbers
    for place in range(suppressed):
        data["town"][20 + place] = f"rare{place}"
    data["town"][7] = "north"
    release = shoal.anonymize(data, policy(search="suppression = 0.03\nlevels = { town = [0, 0] }"))
    number = release.suppressed
    assert number == suppressed
    tried = shoal.attack(release.given, release, attacks=["linkage", "homogeneity", "inference", "singling-out"])
    front = shoal.frontier(release.given, release.policy)
    seen = numbers(shoal.report(release.given, release, tried, frontier=front, external=True))
    whole = release.table.records + number
    assert whole not in seen
    for share in (number / whole, 1 - number / whole, 1 / whole):
        assert not [one for one in seen if abs(share - one) < 1e-6]


def test_the_manifest_that_goes_out_tells_no_small_number(tmp_path):
    release = shoal.anonymize(people(), policy())
    assert 0 < release.suppressed < K
    release.save(tmp_path / "r.csv")
    held = json.loads((tmp_path / "r.csv.manifest.json").read_text(encoding="utf-8"))
    assert {"suppressed", "suppressed_records", "records_on_levels", "scheme", "heights"}.isdisjoint(held)
    assert all("value" not in one for one in held["requirements"])
    inside = json.loads((tmp_path / "r.csv.owner-only" / "internal.json").read_text(encoding="utf-8"))
    assert inside["suppressed"] == release.suppressed


def test_what_is_hidden_cannot_be_worked_out_from_sums():
    """For random columns: the hidden cells sum to at least k, in the list and in the overview alike."""
    rng = np.random.default_rng(0)
    for _ in range(30):
        number = int(rng.integers(30, 120))
        values = rng.choice(["a", "b", "c", "d", None], number, p=rng.dirichlet([0.4] * 5)).tolist()
        data = {"q": ["x"] * number, "i": values}
        told = shoal.Policy.parse(
            'version = 1\ncolumns.q = "quasi"\ncolumns.i = "insensitive"\n'
            f'require = [{{ model = "k-anonymity", k = {K} }}]'
        )
        report = shoal.report(data, shoal.anonymize(data, told), external=True)
        found = sheets(report)
        listed = {row[0]: int(row[1].replace(",", "")) for row in found["i"].rows if row[1]}
        missing = next(row for row in found["Variables"].rows if row[0] == "i")[4]
        rest = sum(count for value, count in listed.items() if value.endswith(("other", "others")))
        assert rest == 0 or rest >= K
        if missing.isdecimal() and "(missing)" not in listed:
            assert rest - int(missing) == 0 or rest - int(missing) >= K
        assert all(count >= K for count in listed.values())


def test_one_person_with_many_numbers_is_not_described():
    rng = np.random.default_rng(0)
    who = [f"p{place}" for place in range(60)] + ["p0"] * 80
    data = {"who": who, "q": ["x"] * 140, "glucose": [None] * 60 + rng.normal(5, 1, 80).round(4).tolist()}
    told = shoal.Policy.parse(
        f'version = 1\ndata.subject = "who"\ncolumns.q = "quasi"\ncolumns.glucose = "insensitive"\n'
        f'require = [{{ model = "k-anonymity", k = {K} }}]'
    )
    release = shoal.anonymize(data, told)
    assert "mean" in {row[0] for row in sheets(shoal.report(release.given, release))["glucose"].rows}
    public = shoal.report(release.given, release, external=True)
    assert "glucose" not in sheets(public)
    assert "Values are therefore not listed." in public.to_markdown()


def test_hits_and_misses_of_attacks_cannot_be_inverted():
    """Where few were hit or missed there is no success and no interval; the answer to the question stays the same."""
    release = shoal.anonymize(people(), policy())
    tried = shoal.attack(release.given, release, attacks=["linkage", "homogeneity", "singling-out", "inference"])
    inside, outside = (
        shoal.report(release.given, release, tried),
        shoal.report(release.given, release, tried, external=True),
    )
    rows = {row[0]: row for row in sheets(outside)["Results of the attacks"].rows}
    checked = 0
    for one in tried.results:
        hits = round(one.success.value * one.targets)
        few = 0 < hits < K or 0 < one.targets - hits < K or 0 < one.targets < K
        checked += few
        assert (rows[one.title][2] == "not published") == few
        assert rows[one.title][-1] == ("yes" if one.is_sure else "no")
    assert checked
    own, public = (dict(section.blocks[2].items) for section in (inside.sections[0], outside.sections[0]))
    assert {risk: answer.partition(":")[0] for risk, answer in own.items()} == public
    assert not any(sign.isdigit() for answer in public.values() for sign in answer)
    assert all(isinstance(one, Result) for one in tried.results)


def test_policy_and_manifest_name_no_value_and_no_key(monkeypatch):
    monkeypatch.setenv("CANARYVARIABLE", "a key that is long enough")
    told = policy(
        more='[[require]]\nmodel = "alpha-k-anonymity"\ncolumn = "dx"\nalpha = 0.9\nk = 5\nvalues = ["canarydx"]\n',
        search='suppression = 0.05\nsample = 0.9\n[draw]\nkey_variable = "CANARYVARIABLE"',
    )
    told = told.model_copy(update={"data": told.data.model_copy(update={"read": shoal.Policy.parse(
        'version = 1\ndata.read = { markers = ["canarymarker"] }').data.read})})  # fmt: skip
    said = shoal.report(people(), shoal.anonymize(people(), told), external=True).to_json()
    for secret in ("canarydx", "canarymarker", "CANARYVARIABLE"):
        assert secret not in said


def test_a_k_of_one_protects_nobody_and_is_not_what_is_told():
    told = shoal.Policy.parse(
        'version = 1\ncolumns.q = "quasi"\ncolumns.i = "insensitive"\n'
        'require = [{ model = "k-anonymity", k = 1 }, { model = "average-risk", risk = 0.5 }]'
    )
    data = {"q": ["x"] * 50, "i": ["a"] * 47 + ["canary"] * 3}
    report = shoal.report(data, shoal.anonymize(data, told), external=True)
    assert report.audience.least == 11
    assert "canary" not in report.to_json()


def test_pictures_for_others_have_few_digits():
    release = shoal.anonymize(people(), policy())
    report = shoal.report(release.given, release, frontier=shoal.frontier(release.given, release.policy), external=True)
    drawn = [one.chart.spec for one in blocks(report.sections) if isinstance(one, Figure)]
    risk = [spec for spec in drawn if "facet" in spec]
    assert len(risk) == 1
    assert all(bar["low"] > 0 for bar in risk[0]["data"]["values"])  # an axis of ever smaller risks has no 0
    for spec in drawn:
        if spec in risk:
            continue
        for number in re.findall(r"\d+\.\d+", json.dumps(spec.get("data", {}))):
            assert len(number.partition(".")[2]) <= 3


def test_all_of_few_are_hidden():
    assert hidden([3, 3], 5).tolist() == [True, True]
    assert hidden([3], 5).tolist() == [True]


def test_controls_and_exact_targets_are_for_the_owner():
    release = shoal.anonymize(people(), policy())
    strangers = people(30, seed=9)
    tried = shoal.attack(release.given, release, outsiders=strangers, attacks=["inference", "homogeneity"])
    inside, outside = (shoal.report(release.given, release, tried, external=external) for external in (False, True))
    assert "control" in sheets(inside)["Results of the attacks"].headings
    sheet = sheets(outside)["Results of the attacks"]
    assert "control" not in sheet.headings
    assert "targets" not in sheet.headings  # with the released records, they tell how many were suppressed
    assert "targets" in sheets(inside)["Results of the attacks"].headings
    drawn = json.loads(outside.to_json())
    assert not re.search(r'"control": \d', json.dumps(drawn))
    assert re.search(r'"control": \d', inside.to_json())


def test_more_can_be_asked_for_than_the_policy_does():
    report = shoal.report(people(), shoal.anonymize(people(), policy()), external=True, least=40)
    assert report.audience.least == 40
    assert report.external().audience.least == 40
    rows = [
        row
        for sheet in sheets(report).values()
        if sheet.headings == ("value", "records", "share")
        for row in sheet.rows
    ]
    assert all(int(row[1].replace(",", "")) >= 40 for row in rows if row[1])


@pytest.mark.parametrize("outliers", ["relocate", "counterfeits"])
def test_few_who_were_moved_or_given_company_are_not_counted_in_public(tmp_path, outliers):
    release = shoal.anonymize(people(), policy(search=f'suppression = 0.05\noutliers = "{outliers}"'))
    numbers = [held for held in release.facts["outliers"].values() if isinstance(held, int) and 0 < held < K]
    assert numbers
    release.save(tmp_path / "r.csv")
    held = json.loads((tmp_path / "r.csv.manifest.json").read_text(encoding="utf-8"))
    assert held["outliers"] == outliers  # how they are dealt with, and nothing else


def test_nothing_about_the_original_can_be_counted():
    """What is told is the same whichever value the person had who was left out."""
    said = []
    for diagnosis in ("flu", "gout"):
        data = people(397)
        data["town"][7], data["town"][20], data["dx"][20] = "north", "rare", diagnosis
        release = shoal.anonymize(data, policy(search="suppression = 0.03\nlevels = { town = [0, 0] }"))
        assert release.suppressed == 1
        found = shoal.compare(release.given, release).learning("dx", ["town"], model="logistic", folds=2)
        front = shoal.frontier(release.given, release.policy)
        report = shoal.report(release.given, release, frontier=front, analyses=[found], external=True)
        said.append({section.anchor: section for section in report.sections})
    for anchor in ("summary", "risk", "variables", "choice", "codebook", "data"):
        assert said[0][anchor] == said[1][anchor]
