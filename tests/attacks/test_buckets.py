"""Bucket inference: values are learned from a release by buckets, and nothing is learned where nothing can be."""

import csv

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal import toml
from shoal.attacks.bucketed import BucketedValues, deduced, most_likely
from shoal.attacks.sliced import SlicedTables
from shoal.errors import AttackError
from tests.command_line import run
from tests.effort import examples

KNOWN = ("sex", "age", "race", "marital-status", "education", "native-country")


def by_bucket(names, l, sensitive):  # noqa: E741 - as in the literature
    columns = {**dict.fromkeys(names, "quasi"), sensitive: "sensitive"}
    publish = {"kind": "buckets", "l": l, "identities_public": True}
    policy = {"version": 1, "columns": columns, "search": {"publish": publish}, "draw": {"key_variable": "BUCKETS"}}
    return shoal.Policy.model_validate(policy)


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("BUCKETS", "a key that is long enough")


@pytest.fixture(scope="module")
def adult(shared):
    with (shared / "data" / "arx-adult" / "adult.csv").open(encoding="utf-8") as file:
        records = list(csv.DictReader(file, delimiter=";"))
    return {name: [record[name] for record in records] for name in (*KNOWN, "occupation")}


def attacked(data, release):
    found = shoal.attack(data, release, attacks=["bucket-inference"], targets=len(data["sex"]))
    return found.results[0]


def test_adult(adult):
    """With l = 5, the research notes found 0.437 right of 0.2 promised, and 0.324 by a model of other individuals."""
    found = attacked(adult, shoal.anonymize(adult, by_bucket(KNOWN, 5, "occupation")))
    assert found.details["most_probable_without_learning"] == 0.2
    assert found.success.low >= 0.40
    assert found.baseline == pytest.approx(0.31, abs=0.02)
    assert found.control.low <= 0.2 <= found.control.high


def test_shuffled_adult(adult):
    """Occupations that are those of random individuals go with nothing: the promise holds."""
    shuffled = {**adult, "occupation": np.random.default_rng(3).permutation(adult["occupation"]).tolist()}
    found = attacked(shuffled, shoal.anonymize(shuffled, by_bucket(KNOWN, 5, "occupation")))
    assert found.success.low - 0.01 <= 0.2 <= found.success.high + 0.01
    assert found.gain < 0.1


def test_values_that_follow_from_a_column_are_found(tmp_path):
    rng = np.random.default_rng(1)
    dx = rng.integers(0, 8, 1500)
    data = {"sex": rng.choice(["f", "m"], 1500).tolist(), "clinic": [f"c{value}" for value in dx], "dx": dx.tolist()}
    policy = by_bucket(("sex", "clinic"), 4, "dx")
    release = shoal.anonymize(data, policy)
    found = attacked(data, release)
    assert found.success.value > 0.98
    assert found.baseline > 0.98  # everybody knows what a clinic treats
    shoal.write(shoal.read(data), tmp_path / "data.csv")
    (tmp_path / "policy.toml").write_text(toml.document(policy.document()), encoding="utf-8")
    release.save(tmp_path / "out.csv")
    files = shoal.attack(
        tmp_path / "data.csv", tmp_path / "out.csv", tmp_path / "policy.toml", values=tmp_path / "out.values.csv",
        attacks=["bucket-inference"], targets=1500,
    )  # fmt: skip
    assert files.results[0].success.value > 0.98
    done = run("attack", "data.csv", "out.csv", "-p", "policy.toml", "--values", "out.values.csv", cwd=tmp_path)
    assert "bucket-inference of dx" in done.stdout


def test_individuals_with_several_values():
    rng = np.random.default_rng(2)
    data = {"who": rng.integers(0, 300, 900), "dx": rng.choice(list("abcdef"), 900)}
    data["sex"] = np.where(data["dx"] < "d", "f", "m")
    data = {name: values.tolist() for name, values in data.items()}
    policy = by_bucket(("sex",), 3, "dx")
    policy = policy.model_copy(update={"data": policy.data.model_copy(update={"subject": "who"})})
    found = attacked(data, shoal.anonymize(data, policy))
    assert found.targets == len(set(data["who"]))
    assert 0.33 < found.success.value < 0.75


@given(st.integers(0, 10_000))
@examples(50)
def test_beliefs_respect_the_buckets(seed):
    """Each record has one value, and each bucket the values that it holds."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, rng.integers(1, 8))
    of_record = np.repeat(np.arange(len(sizes)), sizes)
    values = np.concatenate([rng.permutation(6)[:size] for size in sizes])
    first = shoal.read({"bucket": of_record.tolist(), "x": rng.integers(0, 3, len(of_record)).tolist()})
    second = shoal.read({"bucket": of_record.tolist(), "dx": values.tolist()})
    original = shoal.read({"dx": list(range(6))})["dx"]
    bucketed = BucketedValues.of(first, second, "bucket", original)
    records, codes, belief = deduced(bucketed, [first.codes("x").astype(np.int64)], [first["x"].size])
    assert np.bincount(records, belief) == pytest.approx(1)
    place = dict.fromkeys(zip(of_record.tolist(), values.tolist(), strict=True), 0.0)
    for record, value, part in zip(records.tolist(), codes.tolist(), belief.tolist(), strict=True):
        place[of_record[record], value] += part
    assert np.array([*place.values()]) == pytest.approx(1, abs=0.35)  # balanced up to the rounds that are made
    guess, sure = most_likely(records, codes, belief, len(of_record))
    assert all((bucket, value) in place for bucket, value in zip(of_record.tolist(), guess.tolist(), strict=True))
    assert ((sure > 0) & (sure <= 1 + 1e-9)).all()


def test_tables_of_another_release_are_refused():
    data = {"sex": list("ffmm"), "dx": list("abab")}
    first, second = {"sex": list("ffmm"), "bucket": [1, 1, 2, 2]}, {"bucket": [1, 1, 2, 2], "dx": list("abaz")}
    roles = {"quasi": ["sex"], "sensitive": ["dx"], "attacks": ["bucket-inference"], "in_order": True}
    with pytest.raises(AttackError, match="has values that the other table lacks"):
        shoal.attack(data, first, values=second, **roles)
    with pytest.raises(AttackError, match="linked by column 'group'"):
        shoal.attack(data, first, values={**second, "dx": list("abab")}, link="group", **roles)
    with pytest.raises(AttackError, match="No further table of the release contains a sensitive column"):
        shoal.attack(data, first, values={"bucket": [1, 1, 2, 2]}, **roles)


def sliced(names, l, sensitive, **options):  # noqa: E741 - as in the literature
    policy = by_bucket(names, l, sensitive)
    publish = {"kind": "slicing", "l": l, "identities_public": True, **options}
    search = shoal.Policy.model_validate({"version": 1, "search": {"publish": publish}}).search
    return policy.model_copy(update={"search": search})


def related(number, seed=5):
    """Return individuals whose diagnosis goes with their job, and whose zip code goes with nothing."""
    rng = np.random.default_rng(seed)
    job = rng.integers(0, 4, number)
    return {
        "job": job.tolist(),
        "zip": rng.integers(0, 5, number).tolist(),
        "sex": rng.choice(["f", "m"], number).tolist(),
        "dx": np.where(rng.random(number) < 0.5, job, rng.integers(0, 8, number)).tolist(),
    }


def test_slices_tell_what_their_buckets_contain():
    """The probabilities of one individual, worked out by hand: buckets 1 and 2 match, 3 does not."""
    original = shoal.read({"a": list("xxyy"), "b": list("uvuv"), "s": list("1122")}).assign(
        quasi=["a", "b"], sensitive="s"
    )
    first = shoal.read({"a": list("xyxyx"), "bucket": [1, 1, 2, 2, 3]})
    second = shoal.read({"b": list("uvuuv"), "s": list("12121"), "bucket": [1, 1, 2, 2, 3]})
    tables = SlicedTables.of([first, second], "bucket", original, "s")
    variants, owners, values, shares = tables.shown(original, np.array([0]), {})
    assert variants.people.tolist() == [0]  # x and u: half of bucket 1 is x, half is u; half of 2 is x, all of it u
    shown = dict(zip(values.tolist(), shares.tolist(), strict=True))
    assert shown == {0: 0.5 * 0.5 + 0.5 * 0.5, 1: 0.5 * 0.5}
    assert owners.tolist() == [0, 0]


def test_slices_of_related_columns():
    data = related(4000)
    release = shoal.anonymize(data, sliced(("job", "zip", "sex"), 2, "dx", together=[["job"], ["zip", "sex"]]))
    found = attacked(data, release)
    assert found.details["most_probable_without_learning"] <= 0.5 + 1e-9
    assert found.success.low > found.control.high
    assert found.success.value <= found.baseline + 0.05  # who knows the relation needs no release
    shuffled = {**data, "dx": np.random.default_rng(1).permutation(data["dx"]).tolist()}
    release = shoal.anonymize(shuffled, sliced(("job", "zip", "sex"), 2, "dx"))
    found = attacked(shuffled, release)
    assert found.success.low - 0.02 <= found.control.value <= found.success.high + 0.02


def test_slices_from_files(tmp_path):
    data = related(600)
    release = shoal.anonymize(data, sliced(("job", "zip", "sex"), 2, "dx", groups=3))
    release.save(tmp_path / "out.csv")
    shoal.write(shoal.read(data), tmp_path / "data.csv")
    roles = {"quasi": ["job", "zip", "sex"], "sensitive": ["dx"], "attacks": ["bucket-inference"], "targets": 600}
    files = sorted(path for path in tmp_path.glob("out.*.csv") if "manifest" not in path.name)
    named = shoal.attack(tmp_path / "data.csv", tmp_path / "out.csv", values=files, **roles)
    by_manifest = shoal.attack(tmp_path / "data.csv", tmp_path / "out.csv", **roles)
    made = shoal.attack(data, release, **roles)
    assert len(files) > 1
    assert made.results[0].success == named.results[0].success == by_manifest.results[0].success
    assert not any("Not in the release" in note for note in made.notes)


CLASS_ATTACKS = ["homogeneity", "background-knowledge", "skewness", "inference", "linkage"]


def test_a_permutation_is_attacked_like_its_classes():
    """Which value of a class is whose makes no difference to attacks on classes."""
    data = related(900)
    columns = {**dict.fromkeys(("job", "zip", "sex"), "quasi"), "dx": "sensitive"}
    results = []
    for form in ("table", "permutation"):
        search = {"publish": form, "suppression": 0.1}
        policy = {"version": 1, "columns": columns, "search": search, "require": [{"model": "k-anonymity", "k": 5}]}
        release = shoal.anonymize(data, shoal.Policy.model_validate(policy))
        found = shoal.attack(data, release, attacks=CLASS_ATTACKS)
        results.append({(one.attack, one.column): one.success for one in found.results})
    assert len(results[0]) == 5
    assert results[0] == results[1]


def test_knowledge_of_other_values_and_other_releases(monkeypatch):
    """Each value that is known not to be somebody's leaves one fewer, and so does each that only one release has."""
    data = {**related(900), "zip": list(range(900))}  # the bucket of each individual is known
    release = shoal.anonymize(data, by_bucket(("job", "zip", "sex"), 3, "dx"))
    some = {"attacks": ["homogeneity", "background-knowledge"]}
    alone = {one.attack: one for one in shoal.attack(data, release, **some).results}
    assert alone["homogeneity"].success.value == 0
    curve = [point.success.value for point in alone["background-knowledge"].curve]
    assert curve[:2] == [0, 0]
    assert curve[2] > 0.98  # all but the few in buckets of more than l
    monkeypatch.setenv("BUCKETS", "another key, which is long enough")
    second = shoal.anonymize(data, by_bucket(("job", "zip", "sex"), 3, "dx"))
    together = shoal.attack(data, release, also=second, attacks=["composition"]).of("composition", "dx")
    assert together.success.value > together.baseline + 0.05


def test_who_is_in_the_data():
    """Unchanged quasi-identifiers show who is in the data: outsiders with other combinations are recognised."""
    data, others = related(400), related(400, seed=6)
    data["zip"], others["zip"] = list(range(400)), list(range(400, 800))
    release = shoal.anonymize(data, by_bucket(("job", "zip", "sex"), 3, "dx"))
    found = shoal.attack(data, release, outsiders=others, attacks=["membership"]).results[0]
    assert found.success.value > 0.95
