"""Policies of releases in two tables: what is refused, and what l follows from."""

import numpy as np
import pytest
from tests.web.conftest import Server

import shoal
from shoal.demo import hospital
from shoal.errors import PolicyError, ShoalError


def data(number=240, persons=None):
    rng = np.random.default_rng(4)
    table = {
        "age": rng.integers(20, 90, number).tolist(),
        "sex": rng.choice(["f", "m"], number).tolist(),
        "dx": rng.choice(list("abcdef"), number).tolist(),
        "drug": rng.choice(list("xyz"), number).tolist(),
    }
    return table if persons is None else {"who": rng.integers(0, persons, number).tolist(), **table}


def policy(publish, *require, **columns):
    named = {"age": "quasi", "sex": "quasi", "dx": "sensitive", "drug": "insensitive", **columns}
    search = {"publish": publish, "suppression": 0.1}
    return shoal.Policy.model_validate({"version": 1, "columns": named, "require": list(require), "search": search})


K = {"model": "k-anonymity", "k": 4}


def buckets(release):
    """Return the values of each bucket."""
    values = release.tables["release.values"].to_frame("pyarrow").to_pydict()
    held = {}
    for bucket, value in zip(values["bucket"], values["dx"], strict=True):
        held.setdefault(bucket, []).append(value)
    return held


@pytest.mark.parametrize(
    ("publish", "require", "size"),
    [
        ({"kind": "buckets", "l": 3}, (K,), 3),
        ("buckets", (K, {"model": "l-diversity", "l": 4}), 4),
        ({"kind": "buckets", "l": 2}, (K, {"model": "entropy-l-diversity", "l": 3.5}), 4),
        ({"kind": "buckets", "l": 4, "column": "dx"}, (K, {"model": "l-diversity", "l": 2, "column": "dx"}), 4),
    ],
)
def test_the_number_of_different_values(publish, require, size):
    release = shoal.anonymize(data(), policy(publish, *require))
    held = buckets(release)
    assert len(held) == (240 - release.suppressed) // size
    assert min(map(len, held.values())) == size
    assert release.met
    assert release.classes < len(held)  # those of the quasi-identifiers


def test_unchanged_quasi_identifiers_need_an_explicit_word():
    with pytest.raises(PolicyError, match=r"\d+ individuals of 240 are unique in them") as caught:
        shoal.anonymize(data(), policy({"kind": "buckets", "l": 3}))
    assert "identities_public = true" in caught.value.hint
    release = shoal.anonymize(data(), policy({"kind": "buckets", "l": 3, "identities_public": True}))
    ages = release.tables["release"].to_frame("pyarrow").column("age").to_pylist()
    assert sorted(map(int, ages)) == sorted(data()["age"])


@pytest.mark.parametrize(
    ("publish", "require", "columns", "problem"),
    [
        ("buckets", (K,), {}, "number of different values per bucket is not given"),
        ({"kind": "buckets", "l": 3}, (K,), {"drug": "sensitive"}, "Buckets hold one sensitive column"),
        ({"kind": "buckets", "l": 3, "column": "dx"}, (K,), {"drug": "sensitive"}, "'drug' is sensitive as well"),
        ({"kind": "buckets", "l": 3, "column": "drug"}, (K,), {}, "not sensitive|'drug' is none"),
        ({"kind": "buckets", "l": 3}, (K,), {"dx": "insensitive"}, "No column is sensitive"),
        ("permutation", (K,), {"dx": "insensitive"}, "nothing to release in a second table"),
        ({"kind": "buckets", "l": 3}, (K, {"model": "t-closeness", "t": 0.05}), {}, "does not meet"),
        (
            {"kind": "buckets", "l": 3},
            (K,),
            {"dx": {"role": "sensitive", "perturb": {"kind": "pram"}}},
            "'dx' is perturbed, so it cannot be released in a second table",
        ),
        ("bucket", (K,), {}, "there is no such form of a release"),
        ({"kind": "buckets", "l": 1}, (K,), {}, "greater than or equal to 2|at least 2"),
    ],
)
def test_what_cannot_be_released_in_two_tables(publish, require, columns, problem):
    with pytest.raises((ShoalError, ValueError), match=problem):
        shoal.anonymize(data(), policy(publish, *require, **columns))


def test_columns_that_tell_the_value_are_not_released_beside_its_bucket():
    """A drug that goes with the diagnosis, and a number that does, would undo the buckets; unrelated columns do not."""
    table = {**data(), "note": list(range(240))}
    related = {value: place for place, value in enumerate("abcdef")}
    for name, values in (
        ("drug", [f"for {value}" if value < "d" else "other" for value in table["dx"]]),
        ("cost", [100 * related[value] + place % 40 for place, value in enumerate(table["dx"])]),
    ):
        changed = {**table, name: values}
        asked = policy({"kind": "buckets", "l": 3}, K, **{name: "insensitive", "note": "insensitive"})
        with pytest.raises(PolicyError, match=f"Column '{name}' is strongly related to 'dx'") as caught:
            shoal.anonymize(changed, asked)
        assert 'kind = "slicing"' in caught.value.hint
        sliced = shoal.anonymize(changed, policy({"kind": "slicing", "l": 2}, K, **{name: "insensitive"}))
        assert name in sliced.tables["release.values"]
    assert shoal.anonymize(table, policy({"kind": "buckets", "l": 3}, K, note="insensitive")).met


def test_counterfeits_have_no_bucket():
    search = {"publish": "permutation", "outliers": "counterfeits"}
    with pytest.raises(PolicyError, match="cannot be combined with outliers"):
        shoal.Policy.parse(f"version = 1\nsearch = {{ publish = '{search['publish']}', outliers = 'counterfeits' }}")


def test_a_policy_is_written_as_it_was_read():
    for publish in ("table", "permutation", {"kind": "buckets", "l": 3}):
        document = policy(publish, K).document()
        assert document["search"].get("publish", "table") == publish
        assert shoal.Policy.model_validate(document).document() == document


def test_the_form_of_the_release_stays_when_the_workbench_changes_settings(tmp_path):
    """A setting that no form shows must not be lost, and the tables are searched and written like one."""
    from shoal.web.project import Project

    shoal.write(hospital(patients=60, seed=2).patients, tmp_path / "patients.csv")
    server = Server(Project.open(tmp_path / "project", tmp_path / "patients.csv"))
    try:
        server.decide()
        now = lambda: server.project.now.policy  # noqa: E731 - after each request
        sensitive = next(name for name, column in now().columns.items() if column.role == "sensitive")
        quasi = [name for name, column in now().columns.items() if column.role == "quasi"]
        together = [quasi[:1], quasi[1:]]
        slicing = {"kind": "slicing", "l": 2, "together": together}
        server.project.edit(lambda found: {"search": {**found.get("search", {}), "publish": slicing}})
        server.ask("POST", "/protect/require", body={"model": "k-anonymity", "k": "3"})
        chosen = {"publish": "slicing", "publish.slicing.l": "3"}
        server.ask("POST", "/protect/search", body={"settings": "1", "suppression": "0.5", **chosen})
        kept = now().search.publish
        assert (kept.kind, kept.l, [list(names) for names in kept.together]) == ("slicing", 3, together)
        text = server.searched(suppression="0.5", publish="permutation")
        assert now().search.publish.kind == "permutation"
        assert "released in" in text
        written = server.page("/release").text
        assert "release.values.csv" in written
        assert "further table, linked by the number of the bucket" in written
        assert f"bucket-inference of {sensitive}" in server.page("/release/shown/report.html").text
        assert "Several tables" in server.page("/compare").text
        server.ask("POST", "/attack", body={"attack": "bucket-inference"})
        assert f"bucket-inference of {sensitive}" in server.page("/attack").text
        server.searched(suppression="0.5", publish="table")
        assert now().search.publish is None
    finally:
        server.close()
