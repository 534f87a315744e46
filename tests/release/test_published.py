"""Public manifest and external report are functions of the released table, the policy, and the published figures."""

import csv
import json
from collections.abc import Iterator

import numpy as np
import pytest

import shoal
from tests.effort import per_profile, tiered

POLICY = """
version = 1
columns.age = {{ role = "quasi", hierarchy = {{ kind = "interval", widths = [10, 40] }} }}
columns.sex = "quasi"
columns.dx = "sensitive"
require = [{{ model = "k-anonymity", k = 3 }}{more}]
search = {{ suppression = 0.2, {how} }}
{publish}
"""
WAYS = (
    "levels = { age = [0, 1] }",
    "refine = true",
    'recoding = "local"',
    'recoding = "mondrian"',
    'recoding = "microaggregation"',
    'outliers = "cells"',
)
MODELS = (
    "",
    ', { model = "t-closeness", column = "dx", t = 0.9 }',
    ', { model = "alpha-k-anonymity", column = "dx", alpha = 1, k = 3 }',
)


def released(data, policy, folder):
    """Return the bytes of a release, its public documents, and the suppressed records."""
    release = shoal.anonymize(data, policy)
    table, manifest, *_ = release.save(folder / "r.csv", force=True)
    public = (manifest.read_text(), shoal.report(release.given, release, external=True).to_json())
    return table.read_bytes(), public, np.flatnonzero(release.became(len(data["age"])) < 0)


def pairs(folder, publish="", first=0) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """Yield the public documents of two tables that differ in suppressed records and give the same release bytes."""
    for seed in range(first, first + 10**6):
        rng = np.random.default_rng(seed)
        groups, alone = rng.integers(4, 7, 3), int(rng.integers(1, 4))
        size = int(groups.sum()) + alone
        data = {
            "age": [*np.repeat([25, 35, 55], groups).tolist(), *rng.permutation(np.arange(100, 140))[:alone].tolist()],
            "sex": [*np.repeat(["f", "m", "f"], groups).tolist(), *rng.choice(["f", "m"], alone).tolist()],
            "dx": rng.choice(["flu", "ms", "gout"], size).tolist(),
        }
        how, more = WAYS[seed % len(WAYS)], MODELS[seed % len(MODELS)]
        policy = shoal.Policy.parse(POLICY.format(how=how, more=more, publish=publish))
        try:
            one, first_public, gone = released(data, policy, folder)
            other = changed(data, gone, rng)
            two, second_public, _ = released(other, policy, folder)
        except shoal.ShoalError:
            continue
        if one == two and other != data:
            yield first_public, second_public


def changed(data, gone, rng):
    """Return a table whose suppressed records are others: other values, and one record more or less."""
    other = {name: list(held) for name, held in data.items()}
    for record in gone.tolist():
        other["dx"][record] = str(rng.choice(["flu", "ms", "gout"]))
        other["age"][record] = int(rng.integers(100, 140))
    if len(gone) > 1 and rng.random() < 0.5:
        for held in other.values():
            del held[gone[-1]]
    return other


@pytest.mark.hypothesis  # the nightly profile has ten thousand pairs
@pytest.mark.parametrize("part", tiered(range(10), quick=1, exhaustive=3))
def test_equal_releases_have_equal_manifests_and_reports(part, tmp_path):
    found = pairs(tmp_path, first=part * 10**6)
    for _ in range(per_profile(quick=10, exhaustive=3, nightly=1000)):
        one, two = next(found)
        assert one == two


def test_published_figures_are_all_that_differs(tmp_path):
    """Two tables with the same release: one has 3 suppressed persons, the other 30."""
    told = []
    for alone in (3, 30):
        data = {
            "age": [25] * 60 + [35] * 50 + list(range(100, 100 + alone)),
            "sex": ["f"] * 110 + ["m"] * alone,
            "dx": ["flu", "ms"] * 55 + ["gout"] * alone,
        }
        said = "publish = { suppressed = true, risk = true }"
        policy = shoal.Policy.parse(POLICY.format(how="levels = { age = [0, 0] }", more="", publish=said))
        policy = policy.model_copy(update={"search": policy.search.model_copy(update={"suppression": 0.5})})
        release, (manifest, report), gone = released(data, policy, tmp_path)
        assert len(gone) == alone
        told.append((release, json.loads(manifest), report))
    (one, first, here), (two, second, there) = told
    assert one == two
    assert first.pop("published") != second.pop("published")
    assert first == second
    assert second["smallest_class"] == 50
    assert here != there


def test_the_loss_can_be_recomputed_from_the_released_file(tmp_path):
    """The reference reads the CSV and the hierarchy, and nothing else."""
    data = {"age": [21, 24, 35, 36, 58, 52, 90], "job": ["nurse", "smith", "baker", "nurse", "smith", "baker", "nurse"]}
    jobs = "values = { nurse = ['care'], smith = ['craft'], baker = ['craft'] }"
    policy = shoal.Policy.parse(f"""
        version = 1
        columns.age = {{ role = "quasi", hierarchy = {{ kind = "interval", widths = [10, 40] }} }}
        columns.job = {{ role = "quasi", hierarchy = {{ kind = "explicit", {jobs} }} }}
        require = [{{ model = "k-anonymity", k = 2 }}]
        search = {{ recoding = "local", suppression = 0.2, quality = "loss-arithmetic" }}
    """)
    path, manifest, *_ = shoal.anonymize(data, policy).save(tmp_path / "r.csv")
    rows = list(csv.DictReader(path.read_text().splitlines()))
    ends = {text: [int(end) for end in text.split("-")] for text in {row["age"] for row in rows} - {"*"}}
    low, high = min(map(min, ends.values())), max(map(max, ends.values()))
    ages = [1.0 if row["age"] == "*" else (ends[row["age"]][-1] - ends[row["age"]][0]) / (high - low) for row in rows]
    jobs = [{"*": 1.0, "craft": 0.5}.get(row["job"], 0.0) for row in rows]
    loss = json.loads(manifest.read_text())["loss_by_label"]
    assert loss["columns"] == pytest.approx({"age": np.mean(ages), "job": np.mean(jobs)})
    assert loss["total"] == pytest.approx((np.mean(ages) + np.mean(jobs)) / 2)
    assert 0 < loss["total"] < 1


@pytest.mark.parametrize("chosen", [True, False])
def test_only_what_the_owner_publishes_is_told(chosen, tmp_path):
    data = {"age": [31] * 20 + [33] * 15 + [71] * 2 + [22], "sex": ["f"] * 38, "dx": ["flu", "ms"] * 19}
    said = f"publish = {{ suppressed = {str(chosen).lower()} }}"
    policy = shoal.Policy.parse(POLICY.format(how="levels = { age = [0, 0] }", more="", publish=said))
    release = shoal.anonymize(data, policy)
    assert release.suppressed == 3
    manifest = json.loads(release.save(tmp_path / "r.csv")[1].read_text())
    assert ("published" in manifest) == chosen
    if chosen:
        assert manifest["published"]["suppressed"] == {"value": 0, "rounded_to": 10}
    assert manifest["smallest_class"] == 15
    assert (manifest["classes"], manifest["mean_class"]) == (2, 17.5)  # measures of compare count suppressed ones, too
    assert {"suppressed", "scheme", "heights", "records_on_levels"}.isdisjoint(manifest)


def test_a_column_that_is_suppressed_altogether_costs_all(tmp_path):
    """Left out of the mean, it would make the loss smaller the more is suppressed."""
    data = {"age": list(range(20, 80)), "sex": ["f", "m"] * 30}
    policy = shoal.Policy.parse("""
        version = 1
        columns.age = { role = "quasi", hierarchy = { kind = "interval", widths = [10] } }
        columns.sex = { role = "quasi", hierarchy = { kind = "suppression" } }
        require = [{ model = "k-anonymity", k = 30 }]
        search = { suppression = 0, levels = { sex = [0, 0] } }
    """)
    manifest = json.loads(shoal.anonymize(data, policy).save(tmp_path / "r.csv")[1].read_text())
    assert manifest["suppressed_cells"] == {"age": 1, "sex": 0}
    assert manifest["loss_by_label"] == {"total": 0.5, "columns": {"age": 1, "sex": 0}}


@pytest.mark.parametrize("given", ['"yes"', "1", '"false"'])
def test_only_true_publishes(given):
    with pytest.raises(shoal.ShoalError, match="publish"):
        shoal.Policy.parse(f"version = 1\npublish = {{ attacks = {given} }}")
