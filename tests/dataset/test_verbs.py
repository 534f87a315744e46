"""Every verb on several tables: what is known about a record includes what is known about those it refers to."""

import json
import re
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.errors import PolicyError, ReadError, ReleaseError, ShoalError
from tests.command_line import run
from tests.dataset.test_dataset import KEY, hospital
from tests.effort import examples

ROLES = """
version = 1
require = [{ model = "k-anonymity", k = 3 }]
[tables.patients]
subject = "patient"
[tables.patients.columns]
sex = "quasi"
age = { role = "quasi", hierarchy = { kind = "interval", widths = [10, 50] } }
[tables.stays]
refers.patient = "patients.patient"
[tables.stays.columns]
ward = "quasi"
dx = "sensitive"
[tables.lab]
refers.stay = "stays.stay"
[tables.lab.columns]
sodium = "insensitive"
"""


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("SHOAL_TEST_KEY", KEY)


@pytest.fixture(scope="module")
def dataset():
    return shoal.Dataset.read(hospital(), shoal.Policy.parse(ROLES))


@pytest.fixture(scope="module")
def release(dataset):
    return shoal.anonymize(dataset)


def joined(tables, *, ages="age"):
    """Return the known attributes and the person of each record of every table, by following the references slowly."""
    patients = {row["patient"]: (row["sex"], str(row[ages])) for row in tables["patients"]}
    stays = {row["stay"]: (row["patient"], (*patients[row["patient"]], row["ward"])) for row in tables["stays"]}
    return {
        "patients": list(patients.items()),
        "stays": list(stays.values()),
        "lab": [stays[row["stay"]] for row in tables["lab"]],
    }


def rows_of(columns):
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def smallest(pairs):
    persons = defaultdict(set)
    for person, known in pairs:
        persons[known].add(person)
    return min(map(len, persons.values()))


def test_assess_counts_persons_by_all_that_is_known(dataset):
    expected = joined({name: rows_of(columns) for name, columns in hospital().items()})
    found = shoal.assess(dataset)
    for name, pairs in expected.items():
        assert found[name].k == smallest(pairs)
        assert found[name].persons == len({person for person, _ in pairs})
        assert found[name].records == len(pairs)
    profiles = defaultdict(Counter)
    for name, pairs in expected.items():
        for person, known in pairs:
            profiles[person][name, known] += 1
    times = Counter(frozenset(profile.items()) for profile in profiles.values())
    assert found.figures["unique_by_all_records"] == sum(number == 1 for number in times.values())
    assert found.figures["subjects"] == 400
    assert found.figures["met"] is False
    assert found["stays"].quasi == ("ward", "patients.sex", "patients.age")


def test_a_release_without_a_key_is_made_with_a_new_one(dataset, release, tmp_path):
    shown = {name: table.to_arrow().to_pylist() for name, table in release.tables.items()}
    for pairs in joined(shown).values():
        assert smallest(pairs) >= 3
    assert any("Pseudonyms come from a new key" in note for note in release.notes)
    assert "pseudonym_key" not in repr(release.parts)
    release.save(tmp_path / "out")
    kept = (tmp_path / "out.owner-only" / "pseudonyms.key").read_text().strip()
    assert len(kept) == 64
    assert kept not in (tmp_path / "out" / "dataset.manifest.json").read_text()
    again = shoal.anonymize(dataset)
    assert again.tables["patients"]["patient"].values != release.tables["patients"]["patient"].values


def test_compare_gives_the_loss_of_own_columns_and_the_risk_of_all(dataset, release):
    found = shoal.compare(dataset, release)
    for name, part in release.parts.items():
        if name != "lab":  # no quasi-identifiers of its own
            assert (
                set(found[name].quality["loss"].columns) == {"patients": {"sex", "age"}, "stays": {"ward", "dx"}}[name]
            )
        assert found[name].after["k-anonymity"] == part.requirements[0].verdict.value["k"]
        assert found[name].before["k-anonymity"] == shoal.assess(dataset)[name].k
    assert not found["lab"].quality


def test_attack_follows_the_references(dataset, release):
    found = shoal.attack(dataset, release, attacks=["linkage", "homogeneity"])
    assert set(found.tables) == {"patients", "stays", "lab"}
    assert {result.column for result in found["stays"].results} == {None, "dx"}
    assert {result.column for result in found["lab"].results} == {None, "stays.dx"}
    for name in found:
        linkage = next(result for result in found[name].results if result.attack == "linkage")
        assert linkage.success.low <= 1 / 3


def test_peers_of_every_table(dataset):
    found = shoal.peers(dataset, most=1)
    assert set(found.tables) == {"patients", "stays", "lab"}
    assert {"ward", "patients.age", "dx"} <= set(found["stays"].summary())


def test_files_are_matched_as_they_were_made(dataset, release, tmp_path):
    release.save(tmp_path / "out", suffix=".csv")
    read = shoal.compare(dataset, tmp_path / "out")
    made = shoal.compare(dataset, release)
    for name in made:
        assert read[name].matched == made[name].matched
        losses = [
            {measure: quality.total.value for measure, quality in compared[name].quality.items() if quality.total}
            for compared in (read, made)
        ]
        assert losses[0] == losses[1]


def test_identify_finds_references_and_individuals():
    found = shoal.identify(shoal.Dataset.read(hospital()), combinations=False)
    assert [str(reference) for reference in found.references] == [
        "stays.patient → patients.patient",
        "lab.stay → stays.stay",
    ]
    assert found.subjects == {"patients": "patient"}
    policy = found.policy(purpose="internal")
    assert policy.tables["stays"].refers == {"patient": "patients.patient"}
    assert policy.tables["patients"].columns["name"].role.value == "direct"
    assert "stay" not in policy.tables["lab"].columns
    assert shoal.anonymize(shoal.Dataset.read(hospital(), policy)).met


def test_references_need_a_name_and_keys():
    tables = {"patients": {"patient_id": range(100, 200)}, "visits": {"visit": range(50), "patient_id": [105] * 50}}
    found = shoal.identify(shoal.Dataset.read(tables), combinations=False)
    assert [str(reference) for reference in found.references] == ["visits.patient_id → patients.patient_id"]
    tables["visits"]["patient_id"] = [105] * 40 + [7] * 10  # too many that refer to nobody
    assert not shoal.identify(shoal.Dataset.read(tables), combinations=False).references
    tables["visits"] = {"visit": range(50), "age": [105] * 50}  # keys by chance
    assert not shoal.identify(shoal.Dataset.read(tables), combinations=False).references


def test_two_tables_with_one_record_per_individual():
    rng = np.random.default_rng(1)
    number = rng.permutation(9_000)[:300]
    tables = {"baseline": {"subjid": number[:250], "age": rng.integers(20, 80, 250)}, "subjects": {"subjid": number}}
    found = shoal.identify(shoal.Dataset.read(tables), combinations=False)
    assert [str(reference) for reference in found.references] == ["baseline.subjid → subjects.subjid"]
    assert found.subjects == {"subjects": "subjid"}


def test_what_is_wrong_with_a_dataset_is_told(dataset, release, tmp_path):
    with pytest.raises(PolicyError, match="option 'quasi' applies to a single table"):
        shoal.assess(dataset, quasi=["ward"])
    with pytest.raises(PolicyError, match="No policy describes the tables"):
        shoal.assess(shoal.Dataset.read(hospital()))
    data = hospital()
    del data["lab"]
    with pytest.raises(ReadError, match="describes a table 'lab'"):
        shoal.assess(shoal.Dataset.read(data), dataset.policy)
    with pytest.raises(ReadError, match="does not contain the table 'lab'"):
        shoal.compare(dataset, {name: release.tables[name] for name in ("patients", "stays")})
    with pytest.raises(ReadError, match="no folder"):
        shoal.Dataset.read(tmp_path / "nothing")
    data = hospital()
    data["stays"]["patient"][0] = "nobody"
    with pytest.raises(ReleaseError, match="Table 'stays': Records that refer to no record of another table: 1"):
        shoal.assess(shoal.Dataset.read(data), dataset.policy)
    data = hospital()
    data["patients"]["patient"][1] = data["patients"]["patient"][0]
    with pytest.raises(PolicyError, match="Table 'patients': .*identify several records"):
        shoal.assess(shoal.Dataset.read(data), dataset.policy)


def test_dropped_orphans_are_in_no_view():
    data = hospital()
    stay = data["stays"]["stay"][0]
    data["stays"]["patient"][0] = "nobody"
    policy = shoal.Policy.parse(ROLES.replace("[tables.stays]", '[tables.stays]\norphans = "drop"', 1))
    found = shoal.assess(shoal.Dataset.read(data), policy)
    assert found["stays"].records == len(data["stays"]["stay"]) - 1
    assert found["lab"].records == len(data["lab"]["stay"]) - data["lab"]["stay"].count(stay)


@given(people=st.integers(30, 120), seed=st.integers(0, 1000), k=st.integers(2, 5))
@examples(20)
def test_random_datasets_are_released_with_k_persons_in_every_table(people, seed, k):
    policy = shoal.Policy.parse(ROLES.replace("k = 3", f"k = {k}") + "\n[search]\nsuppression = 0.1\n")
    try:
        made = shoal.anonymize(shoal.Dataset.read(hospital(people, seed), policy))
    except ShoalError as error:
        assert isinstance(error, ReleaseError)
        return
    shown = {name: table.to_arrow().to_pylist() for name, table in made.tables.items()}
    for pairs in joined(shown).values():
        assert not pairs or smallest(pairs) >= k


def test_the_commands_take_a_folder(tmp_path):
    (tmp_path / "in").mkdir()
    for name, columns in hospital().items():
        shoal.write(shoal.read(columns), tmp_path / "in" / f"{name}.csv")
    (tmp_path / "policy.toml").write_text(ROLES)
    for command in (
        "identify in",
        "assess in -p policy.toml",
        "peers in -p policy.toml --most 1",
        "anonymize in -p policy.toml -o out",
        "compare in out -p policy.toml",
        "attack in out -p policy.toml --only linkage",
    ):
        done = run(*command.split(), "--json", cwd=tmp_path)
        assert done.returncode == (1 if "assess" in command else 0), done.stderr
        assert set(json.loads(done.stdout)["result"]["tables"]) == {"patients", "stays", "lab"}
        if "anonymize" not in command:
            shown = run(*command.split(), cwd=tmp_path)
            assert "Table stays" in shown.stdout
    done = run("init", "in", "-o", "made.toml", cwd=tmp_path)
    assert "Reference: lab.stay → stays.stay." in done.stderr
    assert shoal.Policy.load(tmp_path / "made.toml").tables["lab"].refers == {"stay": "stays.stay"}
    refused = run("assess", "in", "-p", "policy.toml", "--quasi", "ward", cwd=tmp_path)
    assert refused.returncode == 2
    assert "The option '--quasi' applies to a single table" in refused.stderr


def summaries(report):
    """Return the rows of the table on all tables, by table."""
    (sheet,) = [block for block in report.sections[0].blocks if getattr(block, "title", "") == "Tables"]
    return {row[0]: dict(zip(sheet.headings[1:], row[1:], strict=True)) for row in sheet.rows}


def test_one_report_covers_all_tables(dataset, release, tmp_path):
    report = shoal.report(dataset, release, shoal.attack(dataset, release, attacks="linkage", targets=50))
    assert report.findings.met
    assert [section.title for section in report.sections if section.title.startswith("Table ")] == [
        f"Table {name}" for name in dataset.tables
    ]
    shown = joined({name: table.to_frame("pyarrow").to_pylist() for name, table in release.tables.items()})
    given = joined({name: rows_of(columns) for name, columns in hospital().items()})
    for name, row in summaries(report).items():
        assert row["smallest class"] == f"{smallest(given[name])} → {smallest(shown[name])}"
        assert row["records"] == f"{len(given[name]):,} → {len(shown[name]):,}"
    page = report.to_html()
    anchors = [part.partition('"')[0] for part in page.split('id="')[1:]]
    assert len(anchors) == len(set(anchors))
    assert all(f'href="#{anchor}"' in page for anchor in ("summary", "table-1", "table-3-risk"))
    release.save(tmp_path / "out", suffix=".csv")
    again = shoal.report(dataset, tmp_path / "out")
    assert again.findings.ours
    assert summaries(again) == summaries(report)


def test_the_external_report_on_a_dataset_has_no_exact_counts(dataset, release):
    report = shoal.report(dataset, release, external=True, least=1000)
    assert {row["smallest class"] for row in summaries(report).values()} == {"fewer than 1,000"}
    text = report.to_markdown()
    assert "Individuals who are unique" not in text
    assert not any(str(person) in text for person in hospital()["patients"]["patient"][:20])


def test_a_report_says_which_files_it_does_not_know(dataset, release, tmp_path):
    """A release that was changed by hand is judged, but not called a release of this policy."""
    release.save(tmp_path / "out", suffix=".csv")
    path = tmp_path / "out" / "stays.csv"
    path.write_text(path.read_text().replace(",A,", ",B,"))
    with pytest.raises(ReadError, match="modified after its release"):
        shoal.report(dataset, tmp_path / "out")
    (tmp_path / "out" / "dataset.manifest.json").unlink()
    report = shoal.report(dataset, tmp_path / "out")
    assert not report.findings.ours
    assert "There is no record that this release was made" in report.to_markdown()


def test_a_table_with_identifiers_fails_the_report(dataset, release):
    patients = release.tables["patients"].to_frame("pyarrow")
    named = patients.append_column("name", [["x"] * patients.num_rows])
    report = shoal.report(dataset, {**release.tables, "patients": named})
    assert not report.findings.met
    assert "patients.name" in report.to_markdown()


def test_options_of_a_single_table_are_refused_by_the_report(dataset, release):
    with pytest.raises(PolicyError, match="'key' applies to a single table"):
        shoal.report(dataset, release, key="patient")
    with pytest.raises(ShoalError, match="not a result"):
        shoal.report(dataset, release, shoal.assess(dataset))


def test_the_command_line_reports_on_a_folder(tmp_path):
    (tmp_path / "in").mkdir()
    for name, columns in hospital().items():
        shoal.write(shoal.read(columns), tmp_path / "in" / f"{name}.csv")
    (tmp_path / "policy.toml").write_text(ROLES)
    options = ["-p", "policy.toml", "--no-attacks"]
    made = run("report", "in", *options, "-o", "made.md", "--keep", "out", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    read = run("report", "in", "out", *options, "-o", "read.md", cwd=tmp_path)
    assert read.returncode == 0, read.stderr
    assert "## Table stays" in (tmp_path / "read.md").read_text()
    refused = run("report", "in", "out", *options, "-o", "refused.md", "--key", "patient", cwd=tmp_path)
    assert refused.returncode == 2
    assert "The option '--key' applies to a single table" in refused.stderr
    assert not (tmp_path / "refused.md").exists()


TWO = """
version = 1
require = [{ model = "k-anonymity", k = 2 }]
[tables.patients]
%s
[tables.patients.columns]
sex = "quasi"
[tables.stays]
refers.patient = "patients.patient"
[tables.stays.columns]
ward = "quasi"
"""
PATIENTS = {"patient": [*"abcdefgh"], "sex": [*"fmfmfmfm"], "stay": [*range(8)]}
OWN = 'subject = "patient"'
STAYS = {"stay": [*range(8)], "patient": [*"abcdefgh"], "ward": [*"ABABABAB"]}


@pytest.mark.parametrize(
    ("patients", "stays", "more", "message"),
    [
        (PATIENTS, STAYS, 'refers.stay = "stays.stay"', "in a circle: patients → stays → patients"),
        ({**PATIENTS, "patient": [*"aacdefgh"]}, STAYS, OWN, "1 of them identify several records"),
        (PATIENTS, {**STAYS, "patient": [*"abcdexgh"]}, OWN, "no record of another table: 1. The first is record 6."),
        (PATIENTS, STAYS, 'subject = "person"', "'patients' has no column 'person', which the policy names as its"),
    ],
)
def test_what_is_wrong_between_tables_is_named(patients, stays, more, message):
    with pytest.raises(ShoalError, match=re.escape(message)):
        shoal.anonymize(shoal.Dataset.read({"patients": patients, "stays": stays}, shoal.Policy.parse(TWO % more)))


def test_references_without_individuals_are_refused():
    """A patient with five stays would count as five individuals."""
    dataset = shoal.Dataset.read({"patients": PATIENTS, "stays": STAYS}, shoal.Policy.parse(TWO % ""))
    for verb in (shoal.assess, shoal.anonymize):
        with pytest.raises(PolicyError, match="no column identifies individuals") as raised:
            verb(dataset)
        assert "patients.subject" in str(raised.value)


def test_a_subject_that_no_table_refers_to_is_counted_and_not_released():
    text = 'version = 1\nrequire = [{ model = "k-anonymity", k = 2 }]\n'
    text += '[tables.people]\nsubject = "who"\ncolumns.sex = "quasi"\n[tables.wards]\ncolumns.site = "insensitive"\n'
    people = {"who": [*"aabbccdd"], "sex": [*"ffffmmmm"]}
    release = shoal.anonymize(
        shoal.Dataset.read({"people": people, "wards": {"site": ["x"]}}, shoal.Policy.parse(text))
    )
    assert release.parts["people"].requirements[0].verdict.value == {"k": 2}
    assert release.tables["people"].names == ("sex",)


def test_columns_that_only_the_original_has_do_not_change_a_report():
    """A child table with an unlisted column named like the subject of its parent."""
    stays = {**STAYS, "person": [*"abcdefgh"]}
    patients = {"person": [*"abcdefgh"], "sex": [*"fmfmfmfm"]}
    text = (TWO % 'subject = "person"').replace("patients.patient", "patients.person")
    dataset = shoal.Dataset.read({"patients": patients, "stays": stays}, shoal.Policy.parse(text))
    report = shoal.report(dataset, shoal.anonymize(dataset))
    assert report.findings.met
    assert report.findings.unknown == ()


def test_pseudonyms_that_individuals_share_are_noted():
    """The pseudonym of a ward tells wards apart, although their names are generalised."""
    text = TWO % OWN + '[tables.wards]\nrequire = []\ncolumns.beds = "insensitive"\n'
    text = text.replace(
        'refers.patient = "patients.patient"', 'refers = { patient = "patients.patient", unit = "wards.unit" }'
    )
    stays = {**STAYS, "unit": [1, 1, 1, 1, 1, 1, 2, 1]}
    tables = {"patients": PATIENTS, "stays": stays, "wards": {"unit": [1, 2], "beds": [10, 20]}}
    notes = shoal.anonymize(shoal.Dataset.read(tables, shoal.Policy.parse(text))).notes
    assert any("'stays.unit' are shared" in note and "groups of 1 individual." in note for note in notes)
    assert not any("'stays.patient' are shared" in note for note in notes)


def test_lists_without_individuals_need_no_class():
    """Four wards are no individuals: they are released as they are, and their names count as known in the stays."""
    wards = {"ward_id": [f"W{n}" for n in range(4)], "ward_name": ["surgery", "eye", "heart", "children"]}
    number = range(60)
    patients = {"patient_id": [f"P{n:03}" for n in number], "sex": [*"fm"] * 30}
    stays = {
        "stay_id": [f"S{n:04}" for n in number],
        "patient_id": patients["patient_id"],
        "ward_id": [f"W{n % 3}" for n in number[:-2]] + ["W3", "W3"],
        "icd10": ["I10", "G35"] * 30,
    }
    tables = {"patients": patients, "wards": wards, "stays": stays}
    text = shoal.identify(shoal.Dataset.read(tables)).starter(purpose="controlled")
    policy = shoal.Policy.parse(text)
    assert policy.tables["wards"].require == []
    dataset = shoal.Dataset.read(tables, policy)
    release = shoal.anonymize(dataset)
    shown, of_stays = (release.tables[name].to_arrow().to_pylist() for name in ("wards", "stays"))
    assert {row["ward_name"] for row in shown} == set(wards["ward_name"])
    name_of = {row["ward_id"]: row["ward_name"] for row in shown}
    here = Counter(name_of[row["ward_id"]] for row in of_stays)
    assert set(here) == {"surgery", "eye", "heart"}  # two individuals on a ward are fewer than five
    assert min(here.values()) >= 5
    for results in (shoal.assess(dataset), shoal.peers(dataset), shoal.attack(dataset, release, attacks=["linkage"])):
        assert "wards" not in results.tables
    assert not shoal.compare(dataset, release)["wards"].after
    report = shoal.report(dataset, release)
    assert report.findings.met
    assert "no individuals" in report.to_markdown()
    strict = shoal.Policy.parse(re.sub(r"^suppression = \S+", "suppression = 0", text, flags=re.MULTILINE))
    release = shoal.anonymize(shoal.Dataset.read(tables, strict))
    assert {row["ward_name"] for row in release.tables["wards"].to_arrow().to_pylist()} == {"other"}
    assert release.tables["stays"].records == 60
    assert any("so that the tables that refer to this one can meet" in note for note in release.notes)
    required = shoal.Policy.parse(re.sub(r"^require = \[\].*$", "", text, flags=re.MULTILINE))
    with pytest.raises(PolicyError, match=r"are no individuals \(for example wards\).*require = \[\]"):
        shoal.anonymize(shoal.Dataset.read(tables, required))


@pytest.mark.parametrize("table", ["stays", "lab"])
def test_a_subject_that_is_a_reference_to_no_individuals_is_refused(table):
    """Results would count by stay, and stays by ward: a class of k stays may be that of fewer patients."""
    data = hospital()
    data["wards"] = {"unit": sorted(set(data["stays"]["ward"]))}
    text = ROLES.replace(
        'refers.patient = "patients.patient"', 'refers = { patient = "patients.patient", ward = "wards.unit" }'
    )
    text = text.replace('ward = "quasi"\n', "") + "[tables.wards]\ncolumns = {}\n"
    subject = {"stays": "ward", "lab": "stay"}[table]
    text = text.replace(f"[tables.{table}]", f'[tables.{table}]\nsubject = "{subject}"')
    dataset = shoal.Dataset.read(data, shoal.Policy.parse(text))
    says = {
        "stays": "The subject 'ward' refers to the table 'wards', in which no",
        "lab": "'stay' identifies another individual than the record that",
    }
    for verb in (shoal.assess, shoal.anonymize):
        with pytest.raises(PolicyError, match=says[table]):
            verb(dataset)


def test_a_subject_that_refers_to_a_list_without_individuals_is_refused():
    """No other reference contradicts it: three records of one patient on three wards would be three individuals."""
    text = """
    version = 1
    require = [{ model = "k-anonymity", k = 3 }]
    [tables.wards]
    columns = {}
    [tables.stays]
    subject = "ward"
    refers.ward = "wards.unit"
    columns.dx = "quasi"
    """
    data = {"wards": {"unit": [1, 2, 3]}, "stays": {"ward": [1, 2, 3], "who": [7, 7, 7], "dx": ["a"] * 3}}
    for verb in (shoal.assess, shoal.anonymize):
        with pytest.raises(
            PolicyError, match="'ward' refers to the table 'wards', in which no column identifies"
        ) as raised:
            verb(shoal.Dataset.read(data, shoal.Policy.parse(text)))
        assert 'subject = "unit"' in str(raised.value)


def test_a_misspelt_subject_is_refused_by_every_verb():
    text = 'data.subject = "pateint"\n' + ROLES.replace('subject = "patient"\n', "")
    dataset = shoal.Dataset.read(hospital(), shoal.Policy.parse(text))
    for verb in (shoal.assess, shoal.peers, shoal.anonymize):
        with pytest.raises(PolicyError, match="No table has the column 'pateint'") as raised:
            verb(dataset)
        assert "Did you mean 'patient'?" in str(raised.value)


def test_the_manifest_of_a_dataset_is_the_same_in_every_process(tmp_path, monkeypatch):
    text = f'pseudonyms.key_variable = "SHOAL_TEST_KEY"\n{ROLES}'
    (tmp_path / "in").mkdir()
    for name, columns in hospital(people=100).items():
        shoal.write(shoal.read(columns), tmp_path / "in" / f"{name}.csv")
    (tmp_path / "policy.toml").write_text(text)
    written = []
    for seed in ("1", "2", "3"):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        assert run("anonymize", "in", "-p", "policy.toml", "-o", f"out{seed}", cwd=tmp_path).returncode == 0
        written.append((tmp_path / f"out{seed}" / "dataset.manifest.json").read_bytes())
    assert written[0] == written[1] == written[2]


@pytest.mark.parametrize("subject", ["stay", "ward"])
def test_a_subject_that_is_not_that_of_the_reference_is_refused(subject):
    """Stays would count as individuals: the classes would have enough stays, and too few patients."""
    text = ROLES.replace("[tables.stays]", f'[tables.stays]\nsubject = "{subject}"')
    dataset = shoal.Dataset.read(hospital(), shoal.Policy.parse(text))
    for verb in (shoal.assess, shoal.anonymize):
        with pytest.raises(PolicyError, match=f"'{subject}' identifies another individual than the record that"):
            verb(dataset)


def test_one_record_of_another_individual_is_refused():
    data = hospital()
    data["stays"]["whose"] = list(data["stays"]["patient"])
    text = ROLES.replace("[tables.stays]", '[tables.stays]\nsubject = "whose"')
    assert shoal.assess(shoal.Dataset.read(data, shoal.Policy.parse(text)))["stays"].k
    data["stays"]["whose"][7] = data["stays"]["patient"][0]
    with pytest.raises(PolicyError, match="In 1 record of the table 'stays'"):
        shoal.assess(shoal.Dataset.read(data, shoal.Policy.parse(text)))


@pytest.mark.parametrize("role", ["quasi", "sensitive"])
def test_references_are_pseudonyms_and_have_no_other_role(role):
    with pytest.raises(PolicyError, match=f"'stays.patient' cannot be {role}, because it links tables"):
        shoal.Policy.parse(ROLES.replace('ward = "quasi"', f'patient = "{role}"'))


def test_one_subject_for_all_tables_and_a_list_without_individuals():
    wards = {"unit": ["A", "B", "C"], "site": ["north", "south", "south"]}
    text = f'data.subject = "patient"\n{ROLES}'.replace(
        'subject = "patient"\n[tables.patients.columns]', "[tables.patients.columns]"
    )
    text = text.replace(
        'refers.patient = "patients.patient"', 'refers = { patient = "patients.patient", ward = "wards.unit" }'
    )
    text = text.replace('ward = "quasi"\n', "") + '[tables.wards]\nrequire = []\ncolumns.site = "quasi"\n'
    data = hospital()
    wards["unit"] = sorted(set(data["stays"]["ward"]))
    wards["site"] = ["north"] + ["south"] * (len(wards["unit"]) - 1)
    release = shoal.anonymize(shoal.Dataset.read({**data, "wards": wards}, shoal.Policy.parse(text)))
    assert {row["site"] for row in release.tables["wards"].to_arrow().to_pylist()} == {"north", "south"}


def test_numbers_of_patients_under_a_short_name_are_found():
    patients = {"id": list(range(1, 61)), "sex": ["f", "m"] * 30}
    stays = {"pat_ref": [1 + n % 60 for n in range(90)], "days": [1 + n % 30 for n in range(90)]}
    found = shoal.identify(shoal.Dataset.read({"patients": patients, "stays": stays}))
    assert [str(reference) for reference in found.references] == ["stays.pat_ref → patients.id"]


def test_references_without_telling_names_are_found_by_their_values():
    patients = {"patient_id": [f"P{n:03}" for n in range(30)]}
    stays = {"pat": [f"P{n:03}" for n in range(0, 30, 2)], "code": [*"abcdefghijklmno"]}
    found = shoal.identify(shoal.Dataset.read({"patients": patients, "stays": stays}))
    assert [str(reference) for reference in found.references] == ["stays.pat → patients.patient_id"]
    assert found.tables["stays"].columns["pat"].role == "direct"


def test_options_that_contradict_the_policy_of_a_dataset_are_refused(tmp_path):
    (tmp_path / "in").mkdir()
    for name, columns in hospital().items():
        shoal.write(shoal.read(columns), tmp_path / "in" / f"{name}.csv")
    (tmp_path / "policy.toml").write_text(ROLES)
    for option in (("-k", 50), ("--suppression", 0.1), ("--quasi", "sex"), ("--subject", "patient")):
        refused = run("anonymize", "in", "-p", "policy.toml", "-o", "out", *option, cwd=tmp_path)
        assert refused.returncode == 2
        assert "applies to a single table" in refused.stderr
    assert not (tmp_path / "out").exists()


def test_tables_without_enough_attributes_are_left_out_with_a_note():
    """A list of wards has no value that could be inferred, and diagnoses no quasi-identifier of their own."""
    text = TWO % 'subject = "patient"' + '[tables.codes]\nrefers.stay = "stays.stay"\ncolumns.dx = "sensitive"\n'
    text += '[tables.wards]\nrequire = []\ncolumns.site = "quasi"\n'
    codes = {"stay": [*range(8)], "dx": [*"xyxyxyxy"]}
    wards = {"ward": ["A", "B"], "site": ["north", "north"]}
    tables = {"patients": PATIENTS, "stays": STAYS, "codes": codes, "wards": wards}
    dataset = shoal.Dataset.read(tables, shoal.Policy.parse(text))
    release = shoal.anonymize(dataset)
    assert any("'wards'" in note for note in shoal.peers(dataset).notes)
    compared = shoal.compare(dataset, release)
    assert set(compared.tables) == set(tables)
    assert compared["codes"].after["k-anonymity"] >= 2
    assert shoal.report(dataset, release).findings.met
