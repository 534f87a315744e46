"""Reports on releases in several tables: what their tables tell, and nothing that only their owner knows."""

import json
import re

import numpy as np
import pytest

import shoal
from shoal.errors import RecodingError, ReportError

POLICY = """
version = 1
columns = { age = "quasi", sex = "quasi", job = "quasi", dx = "sensitive", drug = "insensitive" }
draw.key_variable = "REPORT_KEY"
search.suppression = 0.1
"""
BUCKETS = "search.publish = { kind = 'buckets', l = 3, identities_public = true }"
SLICES = "search.publish = { kind = 'slicing', l = 3, identities_public = true }"
CLASSES = (
    "search.publish = 'permutation'\nrequire = [{ model = 'k-anonymity', k = 4 }, { model = 'l-diversity', l = 3 }]"
)


def data(number=300):
    rng = np.random.default_rng(8)
    job = rng.integers(0, 4, number)
    return {
        "age": rng.integers(20, 60, number).tolist(),
        "sex": rng.choice(["f", "m"], number).tolist(),
        "job": [f"job {place}" for place in job],
        "dx": [f"d{value}" for value in np.where(rng.random(number) < 0.4, job, rng.integers(0, 7, number))],
        "drug": rng.choice(["x", "y"], number).tolist(),
    }


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("REPORT_KEY", "a key that is long enough")


def released(form):
    """Return the policy of a form, and its release."""
    policy = shoal.Policy.parse(POLICY.replace("search.suppression = 0.1", f"search.suppression = 0.1\n{form}"))
    return policy, shoal.anonymize(data(), policy)


def section(text, title="Several tables"):
    return text.partition(f"### {title}\n")[2].partition("\n## ")[0].partition("\n### ")[0]


@pytest.mark.parametrize("form", [BUCKETS, SLICES, CLASSES])
def test_reports_from_files_say_what_reports_on_releases_say(form, tmp_path):
    policy, release = released(form)
    release.save(tmp_path / "release.csv")
    for external in (False, True):
        made = shoal.report(data(), release, external=external).to_markdown()
        read = shoal.report(data(), tmp_path / "release.csv", policy=policy, external=external).to_markdown()
        assert section(made) == section(read) != ""
        for title in ("Privacy requirements", "Correct inference of sensitive attributes", "Re-identification risk"):
            parts = [
                text.partition(f"**{title}**")[2].partition("\n\n")[2].partition("\n\n")[0] for text in (made, read)
            ]
            assert parts[0] == parts[1]


def test_one_in_l_stands_beside_what_is_learned():
    _, release = released(BUCKETS)
    attacks = shoal.attack(data(), release, attacks=["bucket-inference"])
    text = section(shoal.report(data(), release, attacks).to_markdown())
    found = attacks.results[0]
    assert found.success.low > 1 / 3
    row = next(line for line in text.splitlines() if line.startswith("| bucket-inference of dx"))
    assert "33.3%" in row
    assert f"{found.success.value:.1%}" in row
    assert "median relative error" in text
    unique = re.search(r"Unique in them: ([\d,]+) of 300 records", text)
    known = list(zip(data()["age"], data()["sex"], data()["job"], strict=True))
    assert int(unique[1]) == sum(known.count(person) == 1 for person in known)
    assert "all quasi-identifiers, unchanged" in text


def test_external_reports_are_functions_of_the_released_tables():
    """Another original with the same released tables gives the same external report."""
    policy, release = released(CLASSES)
    first, values = (table.to_frame("pyarrow") for table in release.tables.values())
    groups, others = {}, data()
    for bucket, record in zip(first["bucket"].to_pylist(), release.part.records.tolist(), strict=True):
        groups.setdefault(bucket, []).append(record)
    for records in groups.values():  # the values of a bucket are those of other individuals
        moved = [others["dx"][record] for record in (*records[1:], records[0])]
        for record, value in zip(records, moved, strict=True):
            others["dx"][record] = value
    assert others != data()
    again = shoal.anonymize(others, policy)
    assert [table.to_frame("pyarrow") for table in again.tables.values()] == [first, values]
    texts = [shoal.report(*pair, external=True).to_markdown() for pair in ((data(), release), (others, again))]
    assert texts[0] == texts[1]


@pytest.mark.parametrize("form", [BUCKETS, SLICES])
def test_external_reports_do_not_join_the_tables(form, tmp_path):
    _, release = released(form)
    release.save(tmp_path / "out.csv")
    text = shoal.report(data(), release, external=True).to_markdown()
    assert "not published" in section(text)
    assert "%" not in section(text)
    assert ("Smallest equivalence class" in text) == (form == BUCKETS)
    assert text.count("Fingerprint of the released cells") == len(release.tables)
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert ("classes" in manifest) == (form == BUCKETS)


def test_who_cannot_join_the_records_gets_an_error(tmp_path):
    for form in (BUCKETS, SLICES):
        policy, release = released(form)
        release.save(tmp_path / "out.csv", force=True)
        (tmp_path / "out.csv.owner-only" / "origins.json").unlink()
        with pytest.raises(ReportError, match="whose records only its owner can join"):
            shoal.report(data(), tmp_path / "out.csv", policy=policy)
    with pytest.raises(RecodingError, match="whose records only its owner can join"):
        shoal.compare(data(), tmp_path / "out.csv", policy)


def test_comparisons_of_slices_are_of_single_columns(tmp_path):
    policy, release = released(SLICES)
    release.save(tmp_path / "out.csv")
    made, read = shoal.compare(data(), release), shoal.compare(data(), tmp_path / "out.csv", policy)
    assert made.quality.keys() == read.quality.keys()
    assert all(made.quality[name].total == read.quality[name].total for name in made.quality)
    assert "correlations" in made.left_out
    assert made.after == {}
    assert made.quality["loss"].total.cost == release.quality["loss"].total.cost
