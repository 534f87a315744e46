"""Tables that belong together: what refers to what still does, nobody is left who was left out, dates move together."""

import hmac
import json
from collections import Counter, defaultdict
from datetime import date, timedelta

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.errors import PolicyError, ReadError, ReleaseError, WriteError
from shoal.release import saving, verification
from shoal.release.shifted import offset
from tests.command_line import run
from tests.effort import examples

KEY = "a key of sixteen"
POLICY = """
version = 1
data.subject = "patient"
pseudonyms.key_variable = "SHOAL_TEST_KEY"
dates = { key_variable = "SHOAL_TEST_KEY", columns = ["came", "left", "taken"], days = 100 }
require = [{ model = "k-anonymity", k = 5 }]
search.suppression = 0.3
[tables.patients.columns]
name = "direct"
sex = "quasi"
age = { role = "quasi", hierarchy = { kind = "interval", widths = [10, 50] } }
[tables.stays]
refers.patient = "patients.patient"
[tables.stays.columns]
ward = "quasi"
came = "insensitive"
left = "insensitive"
dx = "sensitive"
[tables.lab]
refers.stay = "stays.stay"
[tables.lab.columns]
taken = "insensitive"
sodium = "insensitive"
"""


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("SHOAL_TEST_KEY", KEY)


def hospital(people=400, seed=3):
    rng = np.random.default_rng(seed)
    number = rng.integers(0, 4, people)
    who = np.repeat(np.arange(people), number)
    start = [date(2024, 1, 1) + timedelta(int(day)) for day in rng.integers(0, 300, len(who))]
    stays = len(who)
    of_stay = rng.integers(0, stays, 3 * stays)
    return {
        "patients": {
            "patient": [f"P{one:04}" for one in range(people)],
            "name": [f"Name {one}" for one in range(people)],
            "sex": np.array(["f", "m"])[rng.integers(0, 2, people)].tolist(),
            "age": rng.integers(20, 90, people).tolist(),
        },
        "stays": {
            "stay": list(range(1000, 1000 + stays)),
            "patient": [f"P{one:04}" for one in who],
            "ward": np.array(["A", "B", "C"])[rng.integers(0, 3, stays)].tolist(),
            "came": start,
            "left": [None if one % 17 == 0 else day + timedelta(one % 9) for one, day in enumerate(start)],
            "dx": np.array(["flu", "gout"])[rng.integers(0, 2, stays)].tolist(),
        },
        "lab": {
            "stay": [int(1000 + one) for one in of_stay],
            "taken": [start[one] + timedelta(1) for one in of_stay],
            "sodium": rng.integers(130, 150, len(of_stay)).tolist(),
        },
    }


def anonymized(tables=None, text=POLICY):
    return shoal.anonymize(shoal.Dataset.read(tables or hospital(), shoal.Policy.parse(text)))


def rows(table):
    return table.to_arrow().to_pylist()


def pseudonym(domain, value):
    return hmac.new(KEY.encode(), f"{domain}\x1f{value}".encode(), "sha256").hexdigest()[:20]


def test_every_record_refers_to_one_that_is_there():
    found = anonymized().tables
    patients = Counter(row["patient"] for row in rows(found["patients"]))
    stays = Counter(row["stay"] for row in rows(found["stays"]))
    assert set(patients.values()) == set(stays.values()) == {1}
    assert {row["patient"] for row in rows(found["stays"])} <= set(patients)
    assert {row["stay"] for row in rows(found["lab"])} <= set(stays)
    assert found["patients"].names == ("patient", "sex", "age")
    assert found["lab"].names == ("stay", "taken", "sodium")


def test_pseudonyms_are_those_of_the_column_that_is_referred_to():
    given = hospital()
    found = anonymized(given).tables
    people = {pseudonym("patients.patient", one) for one in given["patients"]["patient"]}
    stays = {pseudonym("stays.stay", one) for one in given["stays"]["stay"]}
    assert {row["patient"] for row in rows(found["stays"])} <= people
    assert {row["stay"] for row in rows(found["lab"])} <= stays


def test_who_knows_a_person_and_one_stay_finds_k_persons():
    found = anonymized().tables
    shown = {row["patient"]: (row["sex"], row["age"]) for row in rows(found["patients"])}
    assert min(Counter(shown.values()).values()) >= 5
    persons = defaultdict(set)
    for row in rows(found["stays"]):
        persons[shown[row["patient"]], row["ward"]].add(row["patient"])
    assert len(persons) > 2
    assert min(map(len, persons.values())) >= 5


def test_dates_of_a_person_move_together_in_all_tables():
    given = hospital()
    found = anonymized(given).tables
    by_pseudonym = {pseudonym("stays.stay", one): place for place, one in enumerate(given["stays"]["stay"])}
    moved = defaultdict(set)
    for row in rows(found["stays"]):
        place = by_pseudonym[row["stay"]]
        for name in ("came", "left"):
            before = given["stays"][name][place]
            assert (row[name] is None) is (before is None)
            if before is not None:
                moved[given["stays"]["patient"][place]].add((row[name] - before).days)
    taken = defaultdict(Counter)
    for stay, day in zip(given["lab"]["stay"], given["lab"]["taken"], strict=True):
        taken[stay][day] += 1
    for row in rows(found["lab"]):
        place = by_pseudonym[row["stay"]]
        (days,) = moved[given["stays"]["patient"][place]]
        taken[given["stays"]["stay"][place]][row["taken"] - timedelta(days)] -= 1
    assert all(min(days.values()) >= 0 for days in taken.values())  # nothing that was not there
    assert sum(sum(days.values()) for days in taken.values()) == len(given["lab"]["stay"]) - found["lab"].records
    assert all(len(days) == 1 for days in moved.values())
    assert all(0 < abs(next(iter(days))) <= 100 for days in moved.values())
    assert {person: next(iter(days)) for person, days in moved.items()} == {
        person: offset(KEY.encode(), person, 100) for person in moved
    }
    assert len({next(iter(days)) for days in moved.values()}) > 50


def test_who_is_left_out_is_left_out_of_all():
    given = hospital()
    given["patients"]["age"][0] = 1000  # nobody is like this one
    text = (
        POLICY.replace("widths = [10, 50] }", "widths = [10] }")
        .replace("search.suppression = 0.3", "search = { suppression = 0.3, levels = { age = [0, 1] } }")
        .replace("[tables.stays]", "[tables.stays]\nsearch.suppression = 0.9")
    )
    found = anonymized(given, text)
    gone = pseudonym("patients.patient", "P0000")
    assert gone not in {row["patient"] for row in rows(found.tables["patients"])}
    assert gone not in {row["patient"] for row in rows(found.tables["stays"])}
    assert found.parts["stays"].promise.kin.followed > 0
    assert any("Suppressed with the record that they refer to" in note for note in found.notes)


def test_the_same_bytes_whatever_the_order_of_rows(tmp_path):
    given = hospital()
    anonymized(given).save(tmp_path / "a", suffix=".csv")
    rng = np.random.default_rng(1)
    for name, table in given.items():
        order = rng.permutation(len(next(iter(table.values()))))
        given[name] = {column: [values[one] for one in order] for column, values in table.items()}
    anonymized(given).save(tmp_path / "b", suffix=".csv")
    for name in ("patients.csv", "stays.csv", "lab.csv", "dataset.manifest.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_manifests_tell_what_holds_and_no_key(tmp_path):
    found = anonymized().save(tmp_path / "out")
    assert [path.name for path in found] == [
        *("patients.parquet", "stays.parquet", "lab.parquet", "dataset.manifest.json", "internal.json"),
        *("patients.parquet.origins.json", "stays.parquet.origins.json", "lab.parquet.origins.json"),
    ]
    told = json.loads((tmp_path / "out" / "dataset.manifest.json").read_text())
    assert told["references"] == ["stays.patient → patients.patient", "lab.stay → stays.stay"]
    assert told["tables"]["stays"]["pseudonyms"] == ["patient", "stay"]
    assert told["tables"]["stays"]["moved_dates"] == ["came", "left"]
    internal = (tmp_path / "out.owner-only" / "internal.json").read_text()
    assert json.loads(internal)["tables"]["patients"]["left_out"] == ["name"]
    assert KEY not in internal
    shoal.Policy.model_validate(json.loads(internal)["policy"])


def test_what_all_records_of_a_person_tell_is_said():
    found = anonymized()
    alone, persons = found.alone
    shown = {row["patient"]: (row["sex"], row["age"]) for row in rows(found.tables["patients"])}
    profiles = defaultdict(Counter)
    for person, facts in shown.items():
        profiles[person][facts] += 1
    stays = {}
    for row in rows(found.tables["stays"]):
        stays[row["stay"]] = row["patient"], (shown[row["patient"]], row["ward"])
        profiles[row["patient"]][stays[row["stay"]][1]] += 1
    for row in rows(found.tables["lab"]):
        person, facts = stays[row["stay"]]
        profiles[person]["lab", facts] += 1
    counts = Counter(frozenset(profile.items()) for profile in profiles.values())
    assert (alone, persons) == (sum(count == 1 for count in counts.values()), len(profiles))
    assert alone > 0
    assert any(f"can single out {alone:,} of {persons:,} individuals" in note for note in found.notes)


@pytest.mark.parametrize("orphan", [None, "P9999"])
def test_orphans_are_refused_or_dropped(orphan):
    given = hospital()
    given["stays"]["patient"][5] = orphan
    stay = given["stays"]["stay"][5]
    dropped = given["lab"]["stay"].count(stay)
    with pytest.raises(ReleaseError, match="Table 'stays': Records that refer to no record of another table: 1"):
        anonymized(given)
    text = POLICY.replace("[tables.stays]", '[tables.stays]\norphans = "drop"')
    found = anonymized(given, text)
    assert found.parts["stays"].promise.kin.orphans == 1
    assert found.parts["lab"].promise.kin.followed >= dropped
    assert "stays: Suppressed, because they refer to no record: 1 record." in found.notes


def test_keys_must_be_keys():
    given = hospital()
    given["patients"]["patient"][1] = given["patients"]["patient"][0]
    with pytest.raises(PolicyError, match="several records"):
        anonymized(given)
    given = hospital()
    given["stays"]["stay"][1] = None
    with pytest.raises(PolicyError, match="empty in some records"):
        anonymized(given)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"patients.patient"', '"people.patient"', "which is not a table of the policy. Available"),
        ('"patients.patient"', '"patients"', "a table and its column"),
        ("[tables.patients.columns]", '[tables.patients]\nrefers.x = "lab.x"\n[tables.patients.columns]', "circle"),
        ("[tables.patients.columns]", 'columns.x = "quasi"\n[tables.patients.columns]', "under each of them"),
        ('columns = ["came"', 'columns = ["cmae", "came"', "cannot be shifted, because no table has it"),
        ('came = "insensitive"', 'came = "quasi"', "not insensitive"),
        ("search.suppression = 0.3", 'search = { suppression = 0.3, recoding = "mondrian" }', "refers to another"),
        (
            "search.suppression = 0.3",
            'search = { suppression = 0.3, outliers = "counterfeits" }',
            "outliers must be suppressed",
        ),
        ('sex = "quasi"', 'sexx = "quasi"', "does not fit"),
    ],
)
def test_what_is_wrong_with_a_policy_is_told(old, new, says):
    with pytest.raises(PolicyError, match=says):
        anonymized(text=POLICY.replace(old, new))


def test_a_policy_of_several_tables_is_not_one_of_a_single_one():
    policy = shoal.Policy.parse(POLICY)
    with pytest.raises(PolicyError, match="several tables"):
        shoal.anonymize(hospital()["patients"], policy)
    with pytest.raises(PolicyError, match="No policy describes the tables"):
        shoal.anonymize(shoal.Dataset.read(hospital(), shoal.Policy.parse("version = 1")))
    with pytest.raises(PolicyError, match="Did you mean 'patients'"):
        policy.of("patient")
    assert shoal.assess(hospital()["patients"], policy.of("patients")) is not None


def test_read_from_a_folder(tmp_path):
    given = hospital()
    (tmp_path / "in").mkdir()
    for name, suffix in (("patients", ".csv"), ("stays", ".parquet"), ("lab", ".csv")):
        shoal.write(shoal.read(given[name]), tmp_path / "in" / f"{name}{suffix}")
    found = shoal.anonymize(shoal.Dataset.read(tmp_path / "in", shoal.Policy.parse(POLICY)))
    assert [path.name for path in found.save(tmp_path / "out")[:3]] == ["patients.csv", "stays.parquet", "lab.csv"]
    assert rows(found.tables["lab"]) == rows(anonymized(given).tables["lab"])
    with pytest.raises(WriteError, match="already"):
        found.save(tmp_path / "out")
    found.save(tmp_path / "out", force=True)
    shoal.write(shoal.read(given["lab"]), tmp_path / "in" / "lab.parquet")
    with pytest.raises(ReadError, match="files for the table"):
        shoal.anonymize(shoal.Dataset.read(tmp_path / "in", shoal.Policy.parse(POLICY)))
    (tmp_path / "in" / "stays.parquet").unlink()
    with pytest.raises(ReadError, match="has no file for the table"):
        shoal.anonymize(shoal.Dataset.read(tmp_path / "in", shoal.Policy.parse(POLICY)))


def test_several_tables_go_to_a_folder_and_come_from_one(tmp_path):
    found = anonymized()
    with pytest.raises(WriteError, match="written to a folder"):
        found.save(tmp_path / "out.csv")
    with pytest.raises(ReadError, match="There is no folder"):
        shoal.anonymize(shoal.Dataset.read(tmp_path / "nowhere", shoal.Policy.parse(POLICY)))
    given = hospital()
    given["stay"] = given.pop("stays")
    with pytest.raises(ReadError, match="Did you mean 'stay'"):
        anonymized(given)
    with pytest.raises(ReleaseError, match="Select one of release.tables: 'patients', 'stays', 'lab'"):
        _ = found.table
    with pytest.raises(ReleaseError, match="The release has"):
        _ = found.scheme


def test_nothing_appears_unless_everything_is_as_promised(tmp_path, monkeypatch):
    found = anonymized()
    written = saving.write

    def tampered(table, path, **options):
        if path.name.startswith("lab"):
            column = table["stay"]
            other = pa.array([*column.values.to_pylist()[:-1], "f" * 21])
            codes = np.arange(column.size, dtype=np.uint32)
            table = table.recoded({"stay": (type(column)(column.name, column.kind, other), codes)})
        return written(table, path, **options)

    monkeypatch.setattr(saving, "write", tampered)
    with pytest.raises(ReleaseError, match="of the written release differ from the expected ones."):
        found.save(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(verification, "check_same", lambda *_: None)
    with pytest.raises(ReleaseError, match="records refer to no record, and"):
        found.save(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "lab.parquet").write_text("mine")
    with pytest.raises(WriteError):
        found.save(tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["lab.parquet"]


def test_a_class_that_is_too_small_when_joined_is_found_in_the_files(tmp_path, monkeypatch):
    number = range(10)
    patients = {"patient": list(number), "name": ["x"] * 10, "sex": ["f"] * 5 + ["m"] * 5, "age": [30] * 10}
    stays = {"stay": list(number), "patient": list(number), "ward": ["A"] * 5 + ["B"] * 5, "dx": ["flu"] * 10}
    days = {name: [date(2024, 1, 1)] * 10 for name in ("came", "left")}
    lab = {"stay": list(number), "taken": [date(2024, 1, 1)] * 10, "sodium": [140] * 10}
    found = anonymized({"patients": patients, "stays": {**stays, **days}, "lab": lab})
    assert set(found.tables["stays"]["ward"].values.to_pylist()) == {"A", "B"}
    written = saving.write

    def tampered(table, path, **options):
        if path.name.startswith("patients"):  # persons swap pseudonyms: each table alone is as it was
            column = table["patient"]
            codes = np.roll(np.arange(column.size, dtype=np.uint32), 3)
            table = table.recoded({"patient": (column, codes)})
        return written(table, path, **options)

    monkeypatch.setattr(saving, "write", tampered)
    with pytest.raises(ReleaseError, match="does not meet"):
        found.save(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def of(text, **tables):
    head = 'version = 1\ndata.subject = "patient"\npseudonyms.key_variable = "SHOAL_TEST_KEY"\n'
    return shoal.anonymize(shoal.Dataset.read(tables, shoal.Policy.parse(head + text)))


def people(number, **columns):
    return {"patient": list(range(number)), **columns}


def test_what_is_required_holds_of_tables_without_quasi_identifiers():
    patients = people(10, sex=["f"] * 5 + ["m"] * 5)
    lab = {"patient": [0, 5, 6, 7, 8, 9], "hiv": ["pos"] * 6}
    text = """
    require = [{ model = "k-anonymity", k = 5 }, { model = "l-diversity", l = 2, column = "hiv" }]
    tables.patients.columns.sex = "quasi"
    tables.lab.columns.hiv = "sensitive"
    tables.lab.refers.patient = "patients.patient"
    search.suppression = 1.0
    """
    with pytest.raises(ReleaseError, match="Table 'lab'"):
        of(text, patients=patients, lab=lab)
    lab["hiv"] = ["pos", "pos", "neg", "pos", "neg", "pos"]
    found = of(text, patients=patients, lab=lab)
    assert found.tables["lab"].records == 5  # the only woman has gone
    free = text.replace("[{ model", "[{ model", 1) + "tables.lab.require = []\n"
    assert of(free, patients=patients, lab=lab).tables["lab"].records == 6
    assert "lab: No requirement applies to this table." in of(free, patients=patients, lab=lab).notes


def test_what_nobody_should_learn_of_a_person_nobody_learns_from_other_tables():
    patients = people(20, sex=["f"] * 20, hiv=["pos"] * 10 + ["neg"] * 10)
    stays = {"patient": list(range(20)), "ward": ["A"] * 10 + ["B"] * 10}
    text = """
    tables.patients.require = [{ model = "l-diversity", l = 2, column = "hiv" }]
    require = [{ model = "k-anonymity", k = 5 }]
    tables.patients.columns = { sex = "quasi", hiv = "sensitive" }
    tables.stays.columns.ward = "quasi"
    tables.stays.refers.patient = "patients.patient"
    search.suppression = 0
    """
    found = of(text, patients=patients, stays=stays)
    assert {row["ward"] for row in rows(found.tables["stays"])} == {"*"}
    only = text.replace('require = [{ model = "k-anonymity", k = 5 }]', "").replace(
        "tables.patients.require", "require"
    )
    found = of(only, patients=patients, stays=stays)
    assert {row["ward"] for row in rows(found.tables["stays"])} == {"*"}
    some = {"patient": list(range(10)), "ward": ["A"] * 10}  # to be there tells the illness
    with pytest.raises(ReleaseError, match="Table 'stays'"):
        of(only.replace('tables.stays.columns.ward = "quasi"', ""), patients=patients, stays=some)


def test_who_is_counted():
    doctors, patients = {"id": [1, 2, 3, 4, 5]}, {"patient": [7], "sex": ["f"]}
    visits = {"doctor": [1, 2, 3, 4, 5], "who": [7] * 5, "ward": ["A"] * 5}
    text = """
    require = [{ model = "k-anonymity", k = 5 }]
    tables.doctors = { subject = "id", columns = {} }
    tables.patients.columns.sex = "insensitive"
    tables.visits.columns.ward = "quasi"
    tables.visits.refers = { doctor = "doctors.id", who = "patients.patient" }
    """
    with pytest.raises(PolicyError, match="refers to several tables that identify individuals"):
        of(text, doctors=doctors, patients=patients, visits=visits)
    with pytest.raises(ReleaseError, match="individuals, and the table has"):
        of(text + 'tables.visits.subject = "who"', doctors=doctors, patients=patients, visits=visits)
    with pytest.raises(PolicyError, match="no column 'whom'"):
        of(text + 'tables.visits.subject = "whom"', doctors=doctors, patients=patients, visits=visits)


def test_a_record_is_that_of_one_person():
    patients = people(4, sex=["f"] * 4)
    stays = {"stay": [1, 2], "patient": [0, 1]}
    lab = {"stay": [1, 2], "patient": [0, 0], "x": [1, 2]}
    text = """
    require = [{ model = "k-anonymity", k = 1 }]
    tables.patients.columns.sex = "quasi"
    tables.stays.refers.patient = "patients.patient"
    tables.lab.columns.x = "insensitive"
    tables.lab.refers.stay = "stays.stay"
    """
    with pytest.raises(PolicyError, match="In 1 record of the table 'lab'"):
        of(text, patients=patients, stays=stays, lab=lab)
    births = {"patient": [0, 1], "child": [2, 3]}
    twice = text + "tables.births.refers = { patient = 'patients.patient', child = 'patients.patient' }\n"
    with pytest.raises(PolicyError, match="In 2 records of the table 'births'"):
        of(twice, patients=patients, stays=stays, lab={**lab, "patient": [0, 1]}, births=births)


def test_nothing_says_whose_records_they_are():
    text = """
    require = [{ model = "k-anonymity", k = 2 }]
    tables.visits.columns.ward = "quasi"
    """
    with pytest.raises(PolicyError, match="No table has the column 'patient'"):
        of(text, visits={"ward": ["A", "A"]})
    with pytest.raises(PolicyError, match="No column of the table 'visits' identifies individuals"):
        of(text + "tables.patients.columns = {}", visits={"ward": ["A", "A"]}, patients={"patient": [1, 2]})


def test_classes_do_not_run_into_each_other():
    patients = people(4, a=["x\x1fy", "x\x1fy", "x", "x"], b=["z", "z", "y\x1fz", "y\x1fz"])
    stays = {"patient": [0, 2], "ward": ["A", "A"]}
    text = """
    require = [{ model = "k-anonymity", k = 2 }]
    tables.patients.columns = { a = "quasi", b = "quasi" }
    tables.patients.search = { levels = { a = [0, 0], b = [0, 0] } }
    tables.stays.columns.ward = "quasi"
    tables.stays.refers.patient = "patients.patient"
    search.suppression = 1.0
    """
    with pytest.raises(ReleaseError):
        of(text, patients=patients, stays=stays)


def test_the_place_of_an_error_does_not_replace_its_facts():
    """The table that an error is about is not the one in which it occurred."""
    text = """
    require = [{ model = "k-anonymity", k = 1 }]
    tables.patients.columns.sex = "quasi"
    tables.stays.refers.patient = "patients.patient"
    """
    patients = {"patient": [1, 1, 2], "sex": ["f", "f", "f"]}
    with pytest.raises(PolicyError, match="Table 'patients': Other tables refer to the column 'patient'"):
        of(text, patients=patients, stays={"patient": [1, 2]})


def test_keys_of_another_kind_are_told():
    text = """
    require = [{ model = "k-anonymity", k = 1 }]
    tables.patients.columns.sex = "quasi"
    tables.stays.refers.patient = "patients.patient"
    """
    for other in ([0.0, 1.0], ["0", "1"]):
        with pytest.raises(PolicyError, match="is of type (number|text), and"):
            of(text, patients=people(2, sex=["f", "f"]), stays={"patient": other})


def test_households_samples_and_empty_tables():
    patients = people(40, sex=["f", "m"] * 20, home=[one // 2 for one in range(40)])
    stays = {"patient": [one // 2 for one in range(80)], "ward": ["A"] * 80}
    text = """
    data.household = "home"
    require = [{ model = "k-anonymity", k = 2 }]
    tables.patients.columns.sex = "quasi"
    tables.patients.search.sample = 0.5
    tables.stays.columns.ward = "quasi"
    tables.stays.refers.patient = "patients.patient"
    tables.stays.orphans = "drop"
    search.sample = 0.5
    """
    found = of(text, patients=patients, stays=stays)
    assert (found.tables["patients"].records, found.tables["stays"].records) == (20, 40)
    none = shoal.read(pa.table({"patient": pa.array([], pa.int64()), "sex": pa.array([], pa.string())}))
    empty = (
        text.replace("tables.patients.search.sample = 0.5", "")
        .replace("search.sample = 0.5", "")
        .replace('data.household = "home"', "")
    )
    assert of(empty, patients=none, stays=stays).tables["stays"].records == 0


def test_columns_named_for_pseudonyms_have_the_same_in_all_tables():
    patients = people(2, sex=["f", "f"], nhs=["N1", "N2"])
    stays = {"patient": [0, 1], "nhs": ["N1", "N2"]}
    text = """
    pseudonyms.columns = ["nhs"]
    require = [{ model = "k-anonymity", k = 2 }]
    tables.patients.columns.sex = "quasi"
    tables.stays.refers.patient = "patients.patient"
    """
    found = of(text, patients=patients, stays=stays).tables
    assert {row["nhs"] for row in rows(found["patients"])} == {row["nhs"] for row in rows(found["stays"])}
    with pytest.raises(PolicyError, match="Did you mean 'nhs'"):
        of(text.replace('["nhs"]', '["nsh"]'), patients=patients, stays=stays)


def test_command_line(tmp_path):
    (tmp_path / "in").mkdir()
    for name, table in hospital().items():
        shoal.write(shoal.read(table), tmp_path / "in" / f"{name}.csv")
    (tmp_path / "policy.toml").write_text(POLICY)

    def anonymize(*words):
        done = run("anonymize", "in", "-p", "policy.toml", *words, cwd=tmp_path)
        return done.returncode, done.stdout + done.stderr

    code, told = anonymize("-o", "out")
    assert code == 0, told
    assert "released in 3 tables" in told
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "dataset.manifest.json", "lab.csv", "patients.csv", "stays.csv"
    ]  # fmt: skip
    code, told = anonymize("--dry-run", "--json")
    assert code == 0
    assert set(json.loads(told)["result"]["tables"]) == {"patients", "stays", "lab"}
    assert anonymize("--frontier")[0] == 2
    assert anonymize("-o", "out2", "--separator", ";")[0] == 2
    assert anonymize("-o", "out")[0] == 2


@examples(40)
@given(st.integers(1, 40), st.integers(0, 10_000), st.sampled_from([1, 2, 3]))
def test_whatever_the_data_a_release_holds_together(people, seed, k):
    tables = hospital(people, seed)
    text = POLICY.replace("k = 5", f"k = {k}").replace("suppression = 0.3", "suppression = 1.0")
    try:
        found = anonymized(tables, text).tables
    except ReleaseError:
        return
    shown = {row["patient"]: (row["sex"], row["age"]) for row in rows(found["patients"])}
    persons = defaultdict(set)
    for row in rows(found["stays"]):
        persons[shown[row["patient"]], row["ward"]].add(row["patient"])
    assert min([k, *Counter(shown.values()).values(), *map(len, persons.values())]) >= k
    assert {row["stay"] for row in rows(found["lab"])} <= {row["stay"] for row in rows(found["stays"])}


PERTURBED = POLICY.replace(
    'age = { role = "quasi", hierarchy = { kind = "interval", widths = [10, 50] } }',
    'age = { role = "quasi", perturb = { kind = "round", to = 10 } }',
).replace('sodium = "insensitive"', 'sodium = { role = "insensitive", perturb = { kind = "noise", share = 0.5 } }')


def test_perturbed_columns_of_a_dataset(tmp_path):
    """Rounded ages are classes, also of the stays that inherit them; noise has the variance of the original."""
    text = f'{PERTURBED}\n[draw]\nkey_variable = "SHOAL_TEST_KEY"\n'
    tables = hospital(1500)
    release = anonymized(tables, text)
    patients = {row["patient"]: (row["sex"], row["age"]) for row in rows(release.tables["patients"])}
    assert min(Counter(patients.values()).values()) >= 5
    assert all("-" in age for _, age in patients.values())
    known = defaultdict(set)
    for row in rows(release.tables["stays"]):
        known[*patients[row["patient"]], row["ward"]].add(row["patient"])
    assert min(len(persons) for persons in known.values()) >= 5
    true = np.array(tables["lab"]["sodium"])[release.parts["lab"].records]
    noisy = np.array([row["sodium"] for row in rows(release.tables["lab"])])
    assert np.mean(true != noisy) > 0.5
    assert abs(np.var(noisy) / np.var(true) - 1) < 0.1
    release.save(tmp_path / "out")
    manifest = json.loads((tmp_path / "out" / "dataset.manifest.json").read_text())
    assert manifest["tables"]["lab"]["perturbed"]["sodium"]["kind"] == "noise"
    again = anonymized(tables, text)
    assert rows(again.tables["lab"]) == rows(release.tables["lab"])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('dx = "sensitive"', 'dx = { role = "sensitive", perturb = { kind = "pram", keep = 0.5 } }'),
        ('ward = "quasi"', 'ward = { role = "quasi", perturb = { kind = "pram", keep = 0.5 } }'),
    ],
)
def test_values_that_other_tables_inherit_are_not_perturbed(old, new):
    with pytest.raises(PolicyError, match="cannot be perturbed"):
        anonymized(text=POLICY.replace(old, new))
