"""What users got wrong, or what answered wrongly: found by people who tried releases in several tables."""

import hashlib
import json
import shutil
from itertools import combinations, product

import numpy as np
import pytest
from tests.effort import tiered

import shoal
from shoal.errors import AttackError, ModelError, PolicyError, RecodingError, ReleaseError, ShoalError

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


FORMS, LINKED = ("buckets", "permutation", "slicing"), ("insensitive", "quasi", "direct")


@pytest.mark.parametrize(
    ("kind", "role"),
    tiered(sorted(product(FORMS, LINKED), key=lambda pair: FORMS.index(pair[0]) != LINKED.index(pair[1])), quick=3),
)
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
    with pytest.raises(ShoalError, match="No l is possible") as caught:
        shoal.anonymize(skewed, policy(l=2))
    assert 'publish = "table"' in caught.value.hint
    for kind in ("buckets", "slicing"):
        with pytest.raises(PolicyError, match="No column is sensitive") as caught:
            shoal.anonymize(data(), policy(kind, K, columns={"dx": "direct"}))
        assert 'publish = "table"' in caught.value.hint
    two = {**data(), "dx": [*"aabb"] * 90 + ["c"] * 40}
    asked = {"model": "l-diversity", "l": 3}
    for own in (2, 4, None):
        with pytest.raises(PolicyError, match="The largest possible l is 2") as caught:
            shoal.anonymize(two, policy("buckets", K, asked, l=own))
        assert caught.value.hint.startswith("Reduce the requirement")
        assert ("set l = 2 for the buckets" in caught.value.hint) == (own == 4)
    with pytest.raises(PolicyError, match="The largest possible l is 2") as caught:
        shoal.anonymize(two, policy(l=3))
    assert "publish.l = 2 under [search]" in caught.value.hint
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


def test_slices_may_leave_all_quasi_identifiers_in_one_table():
    """Then it can be seen who is unique, and the adversary still knows the quasi-identifiers only."""
    table = data(600)
    table["dx"] = [f"v{place % 6}" for place in range(600)]
    table["age"] = [20 + age % 20 for age in table["age"]]
    release = shoal.anonymize(table, policy("slicing"))
    first, *_ = release.tables.values()
    assert {"age", "sex"} <= {*first.names}
    assert not release.part.promise.divides_identities
    report = shoal.report(table, release)
    for text in (report.to_markdown(), report.external().to_markdown()):
        assert "No table contains all quasi-identifiers" not in text
        assert "so that there are no equivalence classes" not in text
    found = shoal.attack(table, release, attacks=["bucket-inference"]).results[0]
    assert found.details["most_probable_without_learning"] <= 1 / 3 + 1e-9
    figures = shoal.compare_forms(table, policy("slicing"), l=3).figures
    assert next(each.unique for each in figures if each.form == "slicing") is not None


def test_what_buckets_tell_is_a_risk_if_it_exceeds_the_baseline():
    """The control of bucket-inference finds 1/l, which is already much for who knows nothing."""
    rng = np.random.default_rng(8)
    table = data(800)
    table["dx"] = rng.choice([f"v{value}" for value in range(20)], 800).tolist()
    found = shoal.attack(table, shoal.anonymize(table, policy(l=2)), attacks=["bucket-inference"])
    result = found.results[0]
    assert result.control is not None
    assert result.success.low < result.control.value + 0.05
    assert result.is_sure
    assert result.risk is None
    assert found.card()[result.criterion] is result


def test_a_risk_is_not_assessed_without_the_attack_that_decides_it(tmp_path):
    asked = policy("buckets", K)
    shoal.anonymize(data(), asked).save(tmp_path / "out.csv")
    shutil.rmtree(tmp_path / "out.csv.owner-only")
    found = shoal.attack(data(), tmp_path / "out.csv", asked)
    assert {question.value for question in found.undecided} == {"inference"}
    assert found.to_dict()["wp216"]["inference"] is None
    assert "bucket-inference was not run" in str(shoal.charts.wp216(found).spec)
    single = shoal.anonymize(data(), quasi=["age", "sex"], sensitive="dx", k=5)
    assert not shoal.attack(data(), single, attacks=["homogeneity"]).undecided


def test_external_reports_round_what_is_learned_from_buckets():
    asked = policy("buckets", K).model_copy(update={"publish": shoal.Policy.parse(PUBLISHED).publish})
    release = shoal.anonymize(data(), asked)
    found = shoal.attack(data(), release)
    external = shoal.report(data(), release, found).external().to_markdown()
    section = external.partition("Several tables")[2].partition("\n## ")[0]
    line = next(line for line in section.splitlines() if line.startswith("| bucket-inference"))
    shares = [part.strip("%(") for part in line.replace("|", " ").split() if part.strip("()").endswith("%")]
    assert all(float(share.strip("%()")) % 5 == 0 for share in shares[1:]), line
    without = shoal.report(data(), release).external().to_markdown()
    assert "bucket-inference of dx" not in without


PUBLISHED = "version = 1\npublish.attacks = true"


def test_several_values_of_an_individual_are_more_probable_together():
    """Two values in two buckets with the same two values are both certain."""
    rng = np.random.default_rng(9)
    values = [rng.choice(["flu", "ms", "gout"], rng.integers(1, 4), replace=False).tolist() for _ in range(60)]
    persons = [f"p{person}" for person in range(60) for _ in values[person]]
    table = {
        "who": persons,
        "age": [int(who[1:]) for who in persons],
        "dx": [value for mine in values for value in mine],
    }
    asked = shoal.Policy.parse("""
version = 1
data.subject = "who"
columns = { age = "quasi", dx = "sensitive" }
search.publish = { kind = "buckets", l = 2, identities_public = true }
""")
    release = shoal.anonymize(table, asked)
    details = shoal.attack(table, release, attacks=["bucket-inference"]).results[0].details
    first, second = (frame.to_frame("pyarrow").to_pydict() for frame in release.tables.values())
    held = {bucket: [] for bucket in first["bucket"]}
    for bucket, value in zip(second["bucket"], second["dx"], strict=True):
        held[bucket].append(value)
    of = {}
    for row, bucket in zip(release.records.tolist(), first["bucket"], strict=True):
        of.setdefault(persons[row], set()).add(bucket)
    sums = [
        max(sum(held[bucket].count(value) / len(held[bucket]) for bucket in mine) for value in ("flu", "ms", "gout"))
        for mine in of.values()
        if len(mine) > 1
    ]
    assert details["most_probable_of_several_values"] == pytest.approx(min(max(sums), 1))
    assert details["individuals_above"] == sum(share > 0.5 + 1e-9 for share in sums)
    assert "Individuals for whom it exceeds" in shoal.report(table, release).to_markdown()


def test_a_replaced_release_leaves_none_of_its_files(tmp_path):
    """Tables of the release before would be handed over with those of the new one."""
    target = tmp_path / "out.csv"
    shoal.anonymize(data(), policy("buckets", K)).save(target)
    changed = tmp_path / "out.other.csv"
    changed.write_text("not of this release", encoding="utf-8")
    assert (tmp_path / "out.values.csv").exists()
    shoal.anonymize(data(), quasi=["age", "sex"], k=5).save(target, force=True)
    assert {path.name for path in tmp_path.iterdir()} == {
        "out.csv", "out.csv.manifest.json", "out.csv.owner-only", "out.other.csv"
    }  # fmt: skip


def test_tables_of_other_releases_are_not_attacked_together():
    release = shoal.anonymize(data(), policy("buckets", K))
    first, second = release.tables.values()
    half = second.to_frame("pyarrow").slice(0, 150)
    with pytest.raises(RecodingError, match="other buckets"):
        shoal.attack(data(), first, values=half, quasi=["age", "sex"], sensitive="dx", in_order=True)


def test_the_tables_of_the_manifest_are_attacked_together(tmp_path):
    """Tables of another release have the same numbers of buckets, and would hide what is learned."""
    asked = policy(l=4)
    for name in ("one.csv", "two.csv"):
        shoal.anonymize(data(), asked).save(tmp_path / name)
    files = {"attacks": ["bucket-inference"], "policy": asked}
    alone = shoal.attack(data(), tmp_path / "one.csv", **files).results[0]
    named = shoal.attack(data(), tmp_path / "one.csv", values=tmp_path / "one.values.csv", **files).results[0]
    assert named.success == alone.success
    with pytest.raises(ReleaseError, match="are not the 1 further table"):
        shoal.attack(data(), tmp_path / "one.csv", values=tmp_path / "two.values.csv", **files)
    asked = policy("slicing", together=[["age"], ["sex"]])
    shoal.anonymize(data(), asked).save(tmp_path / "slices.csv")
    orders = [
        [tmp_path / f"slices.{name}.csv" for name in names] for names in (("part2", "values"), ("values", "part2"))
    ]
    found = [
        shoal.attack(data(), tmp_path / "slices.csv", asked, values=order, attacks=["bucket-inference"])
        for order in orders
    ]
    assert found[0].results[0].control == found[1].results[0].control
    with pytest.raises(ReleaseError, match="are not the 2 further tables"):
        shoal.attack(data(), tmp_path / "slices.csv", asked, values=tmp_path / "slices.values.csv")


@pytest.mark.parametrize("kind", ["buckets", "permutation"])
def test_one_of_several_values_against_all_orders(kind):
    """The values of a bucket are in any order: one of several records of an individual has a value more often."""
    table = {"who": [*"aabbcd"], "sex": ["f"] * 6, "dx": ["flu", "ms", "flu", "gout", "ms", "flu"]}
    if kind == "buckets":
        first = {"sex": ["f"] * 6, "bucket": [1, 2, 1, 3, 1, 2]}
        second = {"bucket": [1, 1, 1, 2, 2, 3], "dx": ["flu", "ms", "gout", "ms", "flu", "flu"]}
    else:
        first, second = {"sex": ["f"] * 6, "bucket": [1] * 6}, {"bucket": [1] * 6, "dx": table["dx"]}
    options = {"quasi": "sex", "sensitive": "dx", "subject": "who", "in_order": True}
    found = shoal.attack(table, first, values=second, attacks="bucket-inference", **options).results[0]
    buckets = {bucket: [] for bucket in (1, 2, 3)}
    for bucket, value in zip(second["bucket"], second["dx"], strict=True):
        buckets[bucket].append(value)
    most = []
    for person in "abcd":
        mine = [bucket for bucket, who in zip(first["bucket"], table["who"], strict=True) if who == person]
        sums = dict.fromkeys(("flu", "ms", "gout"), 0.0)
        for bucket in set(mine):
            draws = [*combinations(buckets.get(bucket, []), mine.count(bucket))]
            for value in sums:
                sums[value] += np.mean([value in draw for draw in draws])
        if len(mine) > 1:
            most.append(max(sums.values()))
    assert found.details["most_probable_of_several_values"] == pytest.approx(min(max(most), 1))


def test_external_reports_do_not_count_individuals_with_several_values():
    persons = [f"p{place // 2}" for place in range(400)]
    asked = shoal.Policy.parse("""
version = 1
data.subject = "who"
columns = { age = "quasi", sex = "quasi", dx = "sensitive" }
publish.attacks = true
search.publish = { kind = "buckets", l = 3, identities_public = true }
""")
    table = {**data(), "who": persons}
    table["age"] = [table["age"][place // 2 * 2] for place in range(400)]
    table["sex"] = [table["sex"][place // 2 * 2] for place in range(400)]
    release = shoal.anonymize(table, asked)
    report = shoal.report(table, release, shoal.attack(table, release))
    assert "Individuals for whom it exceeds" in report.to_markdown()
    external = report.external().to_markdown()
    assert "It can be more probable that one of several values" in external
    assert "Individuals for whom it exceeds" not in external


def test_manifests_name_files_of_their_release_only(tmp_path):
    """A manifest that was changed by hand must not remove other files."""
    (tmp_path / "folder").mkdir()
    target, precious = tmp_path / "folder" / "out.csv", tmp_path / "precious.csv"
    precious.write_text("x", encoding="utf-8")
    (tmp_path / "folder" / "mine.csv").write_text("x", encoding="utf-8")
    shoal.anonymize(data(), policy("buckets", K)).save(target)
    manifest = target.with_name("out.csv.manifest.json")
    content = json.loads(manifest.read_text(encoding="utf-8"))
    digest = hashlib.sha256(b"x").hexdigest()
    content["files"] |= {"../precious.csv": digest, "mine.csv": digest}
    manifest.write_text(json.dumps(content), encoding="utf-8")
    shoal.anonymize(data(), quasi=["age", "sex"], k=5).save(target, force=True)
    assert precious.exists()
    assert (tmp_path / "folder" / "mine.csv").exists()
    assert not (tmp_path / "folder" / "out.values.csv").exists()
