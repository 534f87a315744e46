"""What users got wrong, or what answered wrongly: found by people who tried releases in several tables."""

import shutil

import numpy as np
import pytest

import shoal
from shoal.errors import AttackError, ModelError, PolicyError, RecodingError, ShoalError

ROLES = {"age": "quasi", "sex": "quasi", "dx": "sensitive"}


def data(number=400, **more):
    rng = np.random.default_rng(6)
    return {
        "age": rng.integers(20, 60, number).tolist(),
        "sex": rng.choice(["f", "m"], number).tolist(),
        "dx": rng.choice(list("abcdef"), number).tolist(),
        **more,
    }


def policy(kind="buckets", *require, columns=None, **options):
    publish = {"kind": kind, **({} if kind == "permutation" else {"l": 3, "identities_public": True, **options})}
    search = {"publish": publish, "suppression": 0.2}
    columns = {**ROLES, **(columns or {})}
    return shoal.Policy.model_validate({"version": 1, "columns": columns, "require": list(require), "search": search})


K = {"model": "k-anonymity", "k": 5}


def test_whose_bucket_it_is_must_be_known(tmp_path):
    """Matched by content, a record may be that of another individual of its class, whose bucket is another one."""
    asked = policy("buckets", K)
    shoal.anonymize(data(), asked).save(tmp_path / "out.csv")
    files = {"attacks": ["bucket-inference"], "policy": asked}
    assert len(shoal.attack(data(), tmp_path / "out.csv", **files).results) == 1
    shutil.rmtree(tmp_path / "out.csv.owner-only")
    found = shoal.attack(data(), tmp_path / "out.csv", **files)
    assert not found.results
    assert "matched by the owner's record mapping, a key or the order" in str(found.to_dict())


@pytest.mark.parametrize("kind", ["buckets", "permutation", "slicing"])
@pytest.mark.parametrize("role", ["insensitive", "quasi", "direct"])
def test_an_original_may_have_a_column_of_that_name(kind, role, tmp_path):
    table = data(bucket=[place % 3 for place in range(400)])
    asked = policy(kind, K, {"model": "l-diversity", "l": 2}, columns={"bucket": role})
    release = shoal.anonymize(table, asked)
    assert release.link == "bucket_2"
    release.save(tmp_path / "out.csv")
    made, read = (shoal.query_error(table, each, asked) for each in (release, tmp_path / "out.csv"))
    assert made.to_dict() == read.to_dict()
    assert shoal.attack(table, tmp_path / "out.csv", asked, attacks=["bucket-inference"]).results
    assert r"bucket\_2" in shoal.report(table, tmp_path / "out.csv", policy=asked).to_markdown()


def test_errors_of_counts_need_the_tables_of_one_release(tmp_path):
    first, other = (shoal.anonymize(data(), policy(l=size)) for size in (3, 2))
    tables = [table.to_frame("pyarrow") for table in first.tables.values()]
    theirs = [table.to_frame("pyarrow") for table in other.tables.values()]
    roles = {"quasi": ["age", "sex"], "sensitive": ["dx"]}
    assert shoal.query_error(data(), tables[0], values=tables[1], **roles).median < 0.5
    with pytest.raises(RecodingError, match="Column 'dx' is in no table of the release"):
        shoal.query_error(data(), tables[0], **roles)
    with pytest.raises(RecodingError, match="have other buckets, or other numbers"):
        shoal.query_error(data(), tables[0], values=theirs[1], **roles)
    with pytest.raises(RecodingError, match="linked by column 'bukket', which one of them lacks"):
        shoal.query_error(data(), tables[0], values=tables[1], link="bukket", **roles)


def test_the_number_of_a_bucket_is_known_to_nobody():
    release = shoal.anonymize(data(), policy("buckets", K))
    found = shoal.assess(release)
    assert found.k >= 5
    assert found.quasi == ("age", "sex")


@pytest.mark.parametrize("kind", ["buckets", "slicing"])
def test_missing_values_are_not_guessed(kind):
    table = data()
    table["dx"] = [None if place % 10 == 0 else value for place, value in enumerate(table["dx"])]
    found = shoal.attack(table, shoal.anonymize(table, policy(kind)), attacks=["bucket-inference"]).results[0]
    assert found.targets == 360


def test_columns_that_are_drawn_cannot_be_sliced():
    noise = {"role": "quasi", "perturb": {"kind": "noise", "share": 0.5}}
    with pytest.raises(PolicyError, match="'age' are drawn at random, so the release cannot be sliced"):
        shoal.anonymize(data(), policy("slicing", {"attack": "linkage-rate", "at_most": 0.9}, columns={"age": noise}))


@pytest.mark.parametrize("kind", ["buckets", "slicing"])
def test_class_sizes_in_requirements_on_values_concern_quasi_identifiers(kind):
    alpha = {"model": "alpha-k-anonymity", "alpha": 0.34, "k": 4}
    release = shoal.anonymize(data(), policy(kind, alpha, identities_public=False))
    first = next(iter(release.tables.values())).to_frame("pyarrow")
    if kind == "buckets":
        people = list(zip(first["age"].to_pylist(), first["sex"].to_pylist(), strict=True))
        assert min(map(people.count, people)) >= 4
    assert {one.verdict.model for one in release.requirements} >= {"k-anonymity", "alpha-k-anonymity"}


def test_a_quasi_identifier_that_tells_the_value_is_named():
    table = data()
    table["drug"] = [f"for {value}" for value in table["dx"]]
    asked = policy(columns={"drug": "quasi"})
    notes = shoal.anonymize(table, asked).notes
    assert any("'drug' is strongly related to 'dx' (Cramér's V 1.00)" in note for note in notes)
    assert not any("'age' is strongly related" in note for note in notes)


def test_pseudonyms_stay_in_the_first_table(monkeypatch):
    monkeypatch.setenv("A_KEY", "a key that is long enough")
    table = data(who=[f"p{place}" for place in range(400)])
    for kind in ("buckets", "slicing"):
        asked = policy(kind, K)
        document = {**asked.document(), "pseudonyms": {"columns": ["who"], "key_variable": "A_KEY"}}
        document["data"] = {"subject": "who"}
        release = shoal.anonymize(table, shoal.Policy.model_validate(document))
        first, *_, last = release.tables.values()
        assert "who" in first
        assert "who" not in last


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"together": [["age", "sex"], []]}, "a group of columns is empty"),
        ({"together": [["age", "sex"]], "groups": 3}, "groups and together exclude each other"),
    ],
)
def test_groups_of_columns_are_given_once(options, problem):
    with pytest.raises(ValueError, match=problem):
        policy("slicing", **options)


def test_hints_lead_on():
    skewed = {**data(), "dx": ["a" if place % 10 else "b" for place in range(400)]}
    with pytest.raises(ShoalError, match="Among the released individuals") as caught:
        shoal.anonymize(skewed, policy(l=2))
    assert 'publish = "permutation"' in caught.value.hint
    close = {"model": "t-closeness", "t": 0.05}
    with pytest.raises(ShoalError, match="does not meet") as caught:
        shoal.anonymize(data(), policy("buckets", K, close))
    assert 'publish = "permutation"' in caught.value.hint
    with pytest.raises(PolicyError, match="'diagnosys' is none") as caught:
        shoal.anonymize(data(), policy(column="diagnosys"))


def test_another_release_in_slices_is_refused():
    sliced, other = shoal.anonymize(data(), policy("slicing")), shoal.anonymize(data(), policy())
    with pytest.raises(AttackError, match="of the other release are in several tables"):
        shoal.attack(data(), other, also=sliced, attacks=["composition"])


def test_individuals_with_several_records_cannot_be_sliced():
    asked = policy("slicing")
    asked = asked.model_copy(update={"data": asked.data.model_copy(update={"subject": "who"})})
    with pytest.raises(ModelError, match="requires one per individual"):
        shoal.anonymize(data(who=[place // 2 for place in range(400)]), asked)
