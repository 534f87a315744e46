"""What leaves with a release, and what must not."""

import hashlib
import json
import signal
import subprocess
import sys
import textwrap
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.errors import ModelError, PolicyError, ReleaseError, ShoalError, WriteError
from shoal.release import verification
from tests.effort import examples

POLICY = """
version = 1
[columns]
name = "direct"
age = { role = "quasi", hierarchy = { kind = "interval", widths = [10, 20] } }
sex = { role = "quasi", hierarchy = { kind = "suppression" } }
dx = { role = "sensitive" }
note = "insensitive"
[[require]]
model = "k-anonymity"
k = 2
[search]
suppression = 0.2
"""


def patients(records=60, seed=3):
    seeded = np.random.default_rng(seed)
    return {
        "row": list(range(records)),
        "name": [f"Person {number}" for number in range(records)],
        "age": seeded.integers(20, 80, records).tolist(),
        "sex": ["fm"[one] for one in seeded.integers(0, 2, records)],
        "dx": [("flu", "gout", "ms")[one] for one in seeded.integers(0, 3, records)],
        "note": [f"n{one}" for one in seeded.integers(0, 4, records)],
    }


@pytest.fixture
def policy():
    return shoal.Policy.parse(POLICY)


def test_only_promised_columns_leave(policy):
    release = shoal.anonymize(patients(), policy)
    assert release.table.names == ("age", "sex", "dx", "note")
    assert "Columns not released: row (no role); name (direct identifier)." in release.notes


def test_rows_are_sorted_by_what_they_show(policy):
    """The order of the input tells who is who."""
    data = patients()
    rows = shoal.anonymize(data, policy).to_frame("pyarrow").to_pylist()
    shown = [tuple(str(row[name]) for name in ("age", "sex", "dx", "note")) for row in rows]
    assert shown == sorted(shown)
    turned = {name: values[::-1] for name, values in data.items()}
    assert shoal.anonymize(turned, policy).to_frame("pyarrow").equals(shoal.anonymize(data, policy).to_frame("pyarrow"))


def test_values_of_suppressed_records_leave_with_no_dictionary(tmp_path):
    """A category that only a suppressed record has must not be found in the file."""
    import polars as pl

    data = pl.DataFrame({"age": [30, 30, 31, 31, 99], "dx": ["flu", "flu", "ms", "flu", "CANARY"]}).with_columns(
        pl.col("dx").cast(pl.Enum(["CANARY", "flu", "ms"]))
    )
    policy = shoal.Policy.parse(
        """
        version = 1
        columns.age = { role = "quasi", hierarchy = { kind = "interval", widths = [10] } }
        columns.dx = "sensitive"
        require = [{ model = "k-anonymity", k = 2 }]
        search = { suppression = 0.2 }
        """
    )
    release = shoal.anonymize(data, policy)
    assert release.suppressed == 1
    assert "CANARY" not in release.table["dx"].labels().to_pylist()
    for name in ("out.parquet", "out.feather", "out.csv"):
        release.save(tmp_path / name)
        assert b"CANARY" not in (tmp_path / name).read_bytes()
        assert "CANARY" not in (tmp_path / f"{name}.manifest.json").read_text()


def test_the_public_manifest_tells_no_secret(policy, tmp_path):
    release = shoal.anonymize(patients(), policy)
    target, public, internal, *_ = release.save(tmp_path / "out.csv")
    told = json.loads(public.read_text())
    assert {"fingerprint", "reference", "input", "policy"} & set(told) == set()
    assert "Person" not in public.read_text()
    assert "name" not in told["columns"]
    assert json.loads(internal.read_text())["input"]["fingerprint"]
    assert json.loads(internal.read_text())["reference"]["dx"]
    assert told["file_sha256"] == hashlib.sha256(target.read_bytes()).hexdigest()


def test_the_same_input_gives_the_same_bytes(policy, tmp_path):
    first = [path.read_bytes() for path in shoal.anonymize(patients(), policy).save(tmp_path / "a.csv")]
    again = [path.read_bytes() for path in shoal.anonymize(patients(), policy, threads=1).save(tmp_path / "b.csv")]
    assert first == again


@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.parquet", "out.feather", "out.jsonl", "out.xlsx"])
def test_a_release_is_judged_from_its_file(policy, tmp_path, name):
    """Whoever assesses the file finds what the release says."""
    release = shoal.anonymize(patients(), policy)
    release.save(tmp_path / name)
    text = ["age", "sex"] if name.endswith(("csv", "tsv")) else []
    found = shoal.assess(shoal.read(tmp_path / name, text=text, suppressed="*"), quasi=["age", "sex"], sensitive="dx")
    assert found.k == release.requirements[0].verdict.value["k"] >= 2
    assert found.records == release.table.records
    assert found.classes == release.classes


def test_a_file_that_is_not_what_was_promised_is_not_handed_out(policy, tmp_path, monkeypatch):
    """If writing goes wrong, the old file stays."""
    release = shoal.anonymize(patients(), policy)
    (tmp_path / "out.csv").write_text("old")
    reading = verification.read

    def tampered(path, **options):
        found = reading(path, **options)
        return shoal.read({name: found.to_frame("pyarrow").column(name).to_pylist()[1:] for name in found.names})

    monkeypatch.setattr(verification, "read", tampered)
    with pytest.raises(ReleaseError, match="The written release has"):
        release.save(tmp_path / "out.csv", force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]
    assert (tmp_path / "out.csv").read_text() == "old"


def test_a_release_that_fails_is_not_handed_out(policy, tmp_path, monkeypatch):
    """The verification does not believe the search."""
    release = shoal.anonymize(patients(), policy)
    promise = release.part.promise
    more = tuple((source, says, model.model_copy(update={"k": 100})) for source, says, model in promise.asked)
    wanted = release.with_part(replace(release.part, promise=replace(promise, asked=more)))
    with pytest.raises(ReleaseError, match="does not meet 1 requirement"):
        wanted.save(tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("somebody", "of the written release has unexpected values"),
        (None, "The records of the written release differ from the"),
    ],
)
def test_a_file_with_other_records_is_not_handed_out(policy, tmp_path, monkeypatch, value, told):
    release = shoal.anonymize(patients(), policy)
    reading = verification.read

    def another(path, **options):
        rows = reading(path, **options).to_frame("pyarrow").to_pydict()
        rows["age"][0] = value or next(age for age in rows["age"] if age != rows["age"][0])
        return shoal.read(rows)

    monkeypatch.setattr(verification, "read", another)
    with pytest.raises(ReleaseError, match=told):
        release.save(tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


STAGES = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2] * 4, pa.int8()), ["low", "middle", "high"], ordered=True)
COLUMNS = {  # columns that are read back as another kind, and a value that they do not have
    "stage": (STAGES, "higher"),
    "day": (pa.array([18262, 18263, 18264] * 4, pa.date32()), "somewhen"),
    "visits": (pa.array([1, 2, 3] * 4), "many"),
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("wrong", ["unknown", "more often"])
def test_a_column_that_is_read_as_another_kind_is_compared(tmp_path, monkeypatch, name, wrong):
    column, unknown = COLUMNS[name]
    roles = f'columns.age = "quasi"\ncolumns.{name} = "insensitive"'
    policy = shoal.Policy.parse(f'version = 1\n{roles}\nrequire = [{{ model = "k-anonymity", k = 2 }}]')
    release = shoal.anonymize(pa.table({"age": [30] * 12, name: column}), policy)
    release.save(tmp_path / "right.csv")
    reading = verification.read

    def another(path, **options):
        rows = {
            key: [str(cell) for cell in cells]
            for key, cells in reading(path, **options).to_frame("pyarrow").to_pydict().items()
        }
        rows[name][0] = unknown if wrong == "unknown" else rows[name][-1]
        return shoal.read(rows, text=list(rows))

    monkeypatch.setattr(verification, "read", another)
    with pytest.raises(ReleaseError, match=f"values of column '{name}'"):
        release.save(tmp_path / "wrong.csv")
    assert not (tmp_path / "wrong.csv").exists()


def test_nothing_is_overwritten_unasked(policy, tmp_path):
    release = shoal.anonymize(patients(), policy)
    (tmp_path / "out.csv.manifest.json").write_text("old")
    with pytest.raises(WriteError, match="already exists"):
        release.save(tmp_path / "out.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv.manifest.json"]


def test_a_kill_leaves_the_old_release(policy, tmp_path):
    """kill -9 in the middle of writing: the old file is intact, and no other file looks like a release."""
    target = tmp_path / "out.csv"
    target.write_text("old")
    script = f"""
        import os, signal
        import shoal
        from shoal.table.formats import csv
        from tests.release.test_release import POLICY, patients
        release = shoal.anonymize(patients(), shoal.Policy.parse(POLICY))
        from shoal.release import verification as module
        module.check = lambda *found: os.kill(os.getpid(), signal.SIGKILL)
        release.save({str(target)!r}, force=True)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=False, cwd=Path(__file__).parents[2])
    assert done.returncode == -signal.SIGKILL
    assert target.read_text() == "old"
    others = [path.name for path in tmp_path.iterdir() if path != target]
    assert others
    assert all(name.startswith(".") and name.endswith(".partial") for name in others)


def test_the_mapping_does_the_same_to_new_data(policy):
    release = shoal.anonymize(patients(), policy)
    again = release.mapping.apply(patients())
    assert again.names == release.table.names
    shown = {tuple(row.values()) for row in release.to_frame("pyarrow").to_pylist()}
    assert shown <= {tuple(row.values()) for row in again.to_frame("pyarrow").to_pylist()}


def test_the_mapping_refuses_values_that_it_does_not_cover(policy):
    release = shoal.anonymize(patients(), policy)
    new = {**patients(), "age": [119] * 60}
    with pytest.raises(ReleaseError, match="records that the mapping does not contain") as raised:
        release.mapping.apply(new)
    assert "119" not in str(raised.value)


def test_an_impossible_goal_names_what_can_be_had():
    strict = POLICY.replace("k = 2", "k = 50").replace("suppression = 0.2", "suppression = 0")
    impossible = strict.replace("k = 50", "k = 61")
    with pytest.raises(ReleaseError, match="individuals, and the table has"):
        shoal.anonymize(patients(), shoal.Policy.parse(impossible))


def test_a_limit_that_is_too_low_names_one_that_is_not():
    """Half of the people are of one kind, and t-closeness cannot hold for the others."""
    policy = shoal.Policy.parse(
        """
        version = 1
        columns.age = { role = "quasi", hierarchy = { kind = "suppression" } }
        require = [{ model = "k-anonymity", k = 3 }]
        search = { suppression = 0.1, levels = { age = [0, 0] } }
        """
    )
    with pytest.raises(ReleaseError, match="suppression = 0.4"):
        shoal.anonymize({"age": [30, 30, 30, 40, 50]}, policy)


def test_a_policy_that_asks_for_nothing_is_refused():
    policy = shoal.Policy.parse('version = 1\ncolumns.age = "quasi"')
    with pytest.raises(PolicyError, match="The policy has no privacy requirement"):
        shoal.anonymize({"age": [1, 2]}, policy)


def test_persons_are_counted_not_records(policy):
    """One person with many alike records is no crowd, though the file does not say whose they are."""
    said = POLICY.replace("version = 1", 'version = 1\n[data]\nsubject = "name"').replace('name = "direct"\n', "")
    data = {
        "name": ["A"] * 5 + ["B", "C", "D"],
        "age": [31] * 5 + [71, 72, 73],
        "sex": ["f"] * 8,
        "dx": ["flu"] * 8,
        "note": ["n"] * 8,
    }
    said = said.replace("suppression = 0.2", "suppression = 0.3\nlevels = { age = [1, 1] }")
    release = shoal.anonymize(data, shoal.Policy.parse(said))
    assert release.suppressed == 1
    assert release.suppressed_records == 5
    assert "name" not in release.table.names


@given(seed=st.integers(0, 500), k=st.integers(2, 4), limit=st.sampled_from([0.0, 0.1, 0.5]))
@examples(25)
def test_every_release_holds_what_it_promises(seed, k, limit):
    policy = shoal.Policy.parse(
        POLICY.replace("k = 2", f"k = {k}").replace("suppression = 0.2", f"suppression = {limit}")
    )
    data = patients(40, seed)
    release = shoal.anonymize(data, policy)
    assert release.suppressed <= limit * 40
    assert release.table.records == 40 - release.suppressed_records
    assert shoal.assess(release.table, quasi=["age", "sex"]).k >= k
    held = release.table.to_arrow().to_pydict()
    came, went = (Counter(zip(one["dx"], one["note"], strict=True)) for one in (data, held))
    assert went <= came


def test_a_release_is_written_like_the_file_it_came_from(policy, tmp_path):
    shoal.write(shoal.read(patients()), tmp_path / "in.csv", separator=";")
    shoal.anonymize(tmp_path / "in.csv", policy).save(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().splitlines()[0] == "age;sex;dx;note"


def test_values_that_stay_as_they_are_keep_their_type():
    policy = shoal.Policy.parse(
        POLICY.replace("suppression = 0.2", "suppression = 1\nlevels = { age = [0, 0], sex = [0, 0] }")
    )
    data = {**patients(), "age": [30, 31] * 30, "sex": ["f"] * 60}
    assert set(shoal.anonymize(data, policy).to_frame("pyarrow").column("age").to_pylist()) == {30, 31}


def test_local_recoding_keeps_more_and_holds(tmp_path):
    """Most records stay fine; nobody is left out; the file says so."""
    data = patients(200)
    said = POLICY.replace("suppression = 0.2", "suppression = 0").replace("k = 2", "k = 4")
    local = shoal.anonymize(data, shoal.Policy.parse(said.replace("[search]", '[search]\nrecoding = "local"')))
    alike = shoal.anonymize(data, shoal.Policy.parse(said))
    assert local.suppressed == 0
    assert local.quality["loss"].total.value < alike.quality["loss"].total.value
    assert sum(local.levels["age"]) == 200
    files = local.save(tmp_path / "out.csv")
    assert [path.name for path in files] == ["out.csv", "out.csv.manifest.json", "internal.json", "origins.json"]
    text = shoal.read(tmp_path / "out.csv", text=["age", "sex"], suppressed="*")
    assert shoal.assess(text, quasi=["age", "sex"]).k >= 4


@given(seed=st.integers(0, 500), k=st.integers(1, 6), t=st.sampled_from([0.3, 0.6, 1.0]))
@examples(25)
def test_every_local_release_holds_what_it_promises(seed, k, t):
    said = POLICY.replace("k = 2", f'k = {k}\n[[require]]\nmodel = "t-closeness"\nt = {t}\ncolumn = "dx"')
    policy = shoal.Policy.parse(said.replace("suppression = 0.2", 'suppression = 0.5\nrecoding = "local"'))
    data = patients(30, seed)
    release = shoal.anonymize(data, policy)
    assert shoal.assess(release.table, quasi=["age", "sex"]).k >= k
    assert release.table.records == 30 - release.suppressed_records
    assert release.met


def test_local_recoding_refuses_what_it_cannot_do():
    said = POLICY.replace('model = "k-anonymity"\nk = 2', 'model = "average-risk"\nrisk = 0.5')
    with pytest.raises(ModelError, match="The requirement average-risk concerns the whole table,"):
        shoal.anonymize(patients(), shoal.Policy.parse(said.replace("[search]", '[search]\nrecoding = "local"')))


def test_a_requirement_about_a_column_that_is_not_sensitive_is_refused():
    said = POLICY.replace("k = 2", 'k = 2\n[[require]]\nmodel = "l-diversity"\nl = 2\ncolumn = "note"')
    with pytest.raises(PolicyError, match="A requirement names column"):
        shoal.anonymize(patients(), shoal.Policy.parse(said))


@pytest.mark.parametrize("role", ["insensitive", "sensitive", "quasi"])
def test_decimals_are_verified_by_their_digits(tmp_path, role):
    """Of 0.00 to 9.99, Arrow makes 129 doubles that are not those which their digits make."""
    decimals = pa.array([Decimal(number) / 100 for number in range(1000)], pa.decimal128(9, 2))
    table = pa.table({"age": [1] * 1000, "price": decimals})
    text = f'version = 1\n[columns]\nage = "quasi"\nprice = "{role}"\n[[require]]\nmodel = "k-anonymity"\nk = '
    release = shoal.anonymize(table, shoal.Policy.parse(text + ("1" if role == "quasi" else "2")))
    release.save(tmp_path / "release.csv")
    written = (tmp_path / "release.csv").read_text().splitlines()[1:]
    assert sorted(written) == sorted(f"1,{number / 100:.2f}" for number in range(1000))


def test_what_a_classifier_needs_is_kept():
    """The classification metric of every scheme, counted by hand: the release has the lowest."""
    seeded = np.random.default_rng(3)
    age, sex = seeded.integers(20, 80, 300), seeded.choice(list("fm"), 300)
    ill = np.where(seeded.random(300) < 0.15, age < 50, age >= 50)
    data = {"age": age.tolist(), "sex": sex.tolist(), "ill": np.where(ill, "yes", "no").tolist()}
    policy = shoal.Policy.parse("""
        version = 1
        columns.age = { role = "quasi", hierarchy = { kind = "interval", widths = [10, 30] } }
        columns.sex = { role = "quasi", hierarchy = { kind = "suppression" } }
        columns.ill = { role = "sensitive" }
        require = [{ model = "k-anonymity", k = 10 }]
        search = { quality = "classification-metric", target = "ill", suppression = 0.05 }
    """)
    values = []
    for width, keeps_sex in product([1, 10, 30, 1000], [True, False]):
        rows = list(zip((age // width).tolist(), np.where(keeps_sex, sex, "*").tolist(), data["ill"], strict=True))
        crowds = Counter(row[:2] for row in rows)
        kept = Counter(row for row in rows if crowds[row[:2]] >= 10)
        right = sum(
            max(number for row, number in kept.items() if row[:2] == crowd) for crowd in {row[:2] for row in kept}
        )
        if sum(kept.values()) >= 285:
            values.append(1 - right / 300)
    release = shoal.anonymize(data, policy)
    assert len(values) > 2
    assert release.quality["classification-metric"].total.value == pytest.approx(min(values))
    assert release.scheme["age"] == 1


def test_a_target_that_is_not_there():
    text = POLICY.replace("[search]", '[search]\nquality = "classification-metric"\ntarget = "illness"')
    with pytest.raises(ShoalError, match="no column 'illness'"):
        shoal.anonymize(patients(), shoal.Policy.parse(text))


@pytest.mark.parametrize("target", ["age", "name", "row"])
def test_a_target_that_is_not_released_unchanged(target):
    """A release that is made for a column which nobody gets is made for nothing."""
    text = POLICY.replace("[search]", f'[search]\nquality = "classification-metric"\ntarget = "{target}"')
    with pytest.raises(PolicyError, match=f"'{target}' is not released unchanged"):
        shoal.anonymize(patients(), shoal.Policy.parse(text))


def test_the_recipient_is_told_the_target():
    text = POLICY.replace("[search]", '[search]\nquality = "classification-metric"\ntarget = "dx"')
    assert shoal.anonymize(patients(), shoal.Policy.parse(text)).facts["target"] == "dx"


@pytest.mark.parametrize(
    "option", ["refine = true", 'outliers = "cells"', 'outliers = "relocate"', 'recoding = "local"']
)
def test_a_measure_that_does_not_go_with_a_treatment_is_named(option):
    asked = f'[search]\nquality = "classification-metric"\ntarget = "dx"\n{option}'
    text = POLICY.replace("suppression = 0.2", "suppression = 0.9\nlevels = { age = [0, 0] }")
    with pytest.raises(ModelError, match="quality classification-metric") as refused:
        shoal.anonymize(patients(), shoal.Policy.parse(text.replace("[search]", asked)))
    assert 'set quality = "loss"' in refused.value.hint


def test_weights_that_would_mean_nothing_are_refused():
    asked = '[search]\nquality = "discernibility"\nweights = { age = 2 }'
    with pytest.raises(PolicyError, match="Weights apply to measures of single columns, and"):
        shoal.anonymize(patients(), shoal.Policy.parse(POLICY.replace("[search]", asked)))


def test_no_more_suppression_is_proposed_than_is_needed():
    """Not what the cheapest scheme of all leaves out, but the fewest persons with whom any will do."""
    data = patients()
    text = POLICY.replace("suppression = 0.2", "suppression = 0\nlevels = { age = [1, 1] }").replace("k = 2", "k = 9")
    with pytest.raises(ReleaseError, match="No generalisation scheme meets the requirements if") as refused:
        shoal.anonymize(data, shoal.Policy.parse(text))
    crowds = Counter(age // 10 for age in data["age"])
    fewest = sum(number for number in crowds.values() if number < 9)
    assert f"With {fewest} individual" in refused.value.hint
    share = refused.value.hint.split("suppression = ")[1].split()[0]
    enough = text.replace("suppression = 0\n", f"suppression = {share}\n")
    assert shoal.anonymize(data, shoal.Policy.parse(enough)).suppressed <= fewest


def test_a_mapping_is_read_again(policy, tmp_path):
    data = patients()
    data["sex"][0] = None
    release = shoal.anonymize(data, policy)
    release.save(tmp_path / "out.csv")
    held = shoal.ValueMap.load(tmp_path / "out.csv.owner-only" / "mapping.json")
    assert held == release.mapping
    assert held.apply(data).to_frame("pyarrow").equals(release.mapping.apply(data).to_frame("pyarrow"))


def test_a_mapping_takes_whole_numbers_that_pandas_made_floats():
    """One missing value makes a column of integers one of floats there; 31.0 is 31 still."""
    policy = shoal.Policy.parse("""
        version = 1
        columns.age = { role = "quasi", hierarchy = { kind = "interval", widths = [10] } }
        require = [{ model = "k-anonymity", k = 2 }]
    """)
    release = shoal.anonymize({"age": [31, 32, 71, 72, None, None]}, policy)
    frame = pd.DataFrame({"age": [31, 72, None]})
    assert frame["age"].dtype == float
    assert release.mapping.apply(frame).to_frame("pyarrow").to_pydict() == {"age": ["30-39", "70-79", None]}
    with pytest.raises(ReleaseError, match="record that the mapping does not contain"):
        release.mapping.apply(pd.DataFrame({"age": [31.5]}))


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"kept": ["a"], "columns": {"a": [["Ann"]]}}', '{"kept": 1, "columns": {}}']
)
def test_what_is_no_mapping(text, tmp_path):
    path = tmp_path / "m.json"
    path.write_text(text)
    with pytest.raises(ReleaseError, match="is not a mapping"):
        shoal.ValueMap.load(path)
    with pytest.raises(ReleaseError, match="cannot be read"):
        shoal.ValueMap.load(tmp_path / "other.json")


@pytest.mark.parametrize("population", [None, {"size": 1000}])
def test_a_register_that_is_lacking_is_asked_for(population):
    data = {"age": [31, 34, 71, 78] * 10}
    require = [{"model": "delta-presence", "delta_min": 0, "delta_max": 0.5}]
    policy = {"version": 1, "columns": {"age": "quasi"}, "require": require}
    if population is not None:
        policy["population"] = population
    with pytest.raises(shoal.errors.PolicyError, match="compares the table with a register of the population"):
        shoal.anonymize(data, shoal.Policy.model_validate(policy))


@pytest.mark.parametrize(
    "model", [{"model": "l-diversity", "l": 3}, {"model": "p-sensitive-k-anonymity", "p": 3, "k": 2}]
)
def test_more_distinct_values_than_there_are(model):
    data = {"age": [31, 34, 71, 78] * 10, "dx": ["flu", "ms"] * 20}
    policy = {"version": 1, "columns": {"age": "quasi", "dx": "sensitive"}, "require": [model]}
    with pytest.raises(shoal.errors.ReleaseError, match="requires 3 distinct values .* column 'dx' has 2 values"):
        shoal.anonymize(data, shoal.Policy.model_validate(policy))


def test_values_that_no_released_record_has_are_noted() -> None:
    """An owner who publishes a table of diagnoses has to know that the release has no record of one of them."""
    table = {
        "place": [*"aaaaaaaaaaabbbbbbbbbb", "c"],
        "status": [*"010101010101010101010", "2"],
        "day": [*map(str, range(22))],
    }
    policy = shoal.Policy.parse("""
    version = 1
    require = [{ model = "k-anonymity", k = 5 }]
    [search]
    suppression = 0.1
    [columns]
    place = "quasi"
    status = "insensitive"
    day = "insensitive"
    """)
    notes = shoal.anonymize(table, policy).notes
    assert [note for note in notes if "no released record has" in note] == [
        "Values that no released record has, because all records with them are suppressed: status (1 of 3)."
    ]


def test_a_release_names_the_technique_that_was_used_instead():
    rng = np.random.default_rng(0)
    data = {
        "id": np.repeat(range(8), 2).tolist(),
        "age": rng.integers(0, 100, 16).tolist(),
        "sex": rng.choice(["f", "m"], 16).tolist(),
    }
    text = """
version = 1
data.subject = "id"
columns.age = {{ role = "quasi", hierarchy = {{ kind = "interval", widths = [10, 50] }} }}
columns.sex = "quasi"
require = [{{ model = "k-anonymity", k = 3 }}]
search = {{ recoding = "{recoding}", suppression = 0 }}
"""
    used = {}
    for recoding in ("microaggregation", "mondrian", "global"):
        release = shoal.anonymize(data, shoal.Policy.parse(text.format(recoding=recoding)))
        assert release.to_dict()["recoding"] == recoding
        used[recoding] = release.to_dict().get("applied")
        assert any("is released instead" in note for note in release.notes) == (used[recoding] is not None)
    assert used == {"microaggregation": "global, refined", "mondrian": None, "global": None}
