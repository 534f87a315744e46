"""Proposals: what names persons is found, and nothing else is taken for it."""

import numpy as np
import pytest

import shoal
from shoal.errors import ShoalError
from shoal.identification.concepts import concepts
from shoal.identification.patterns.pattern import PATTERNS
from shoal.identification.shape import Form, Shape
from shoal.identification.vocabulary import named, tokens
from shoal.table.role import Role
from shoal.verbs.identify import identify


def roles(data, **options):
    return {name: str(one.role) for name, one in identify(data, **options).columns.items()}


def test_the_demo_hospital(demo_hospital):
    found = identify(demo_hospital.patients)
    assert found.subject == "patient_id"
    assert set(found.of_role(Role.DIRECT)) == {"mrn", "first_name", "last_name", "phone", "email"}
    assert found.of_role(Role.HOUSEHOLD) == ("household_id",)
    quasi = {"birth_date", "sex", "postcode", "ethnicity", "marital_status", "insurance", "occupation"}
    assert quasi <= set(found.of_role(Role.QUASI))
    assert {"diabetes", "depression", "rare_disease", "ms_type", "edss"} <= set(found.of_role(Role.SENSITIVE))
    letters = {item.letter: item.columns for item in found.hipaa}
    assert len(letters) == 18
    assert letters["F"] == ("email",)
    assert letters["B"] == ("postcode",)
    assert letters["L"] == ()
    stays = identify(demo_hospital.admissions)
    assert stays.subject == "patient_id"
    assert stays.of_role(Role.DIRECT) == ("admission_id",)


@pytest.mark.parametrize(
    ("name", "values", "letter"),
    [
        ("age", [20, 74] * 50, None),
        ("age", [20, 89, None] * 50, None),
        ("age", [20, 90] * 50, "C"),
        ("age", ["20-29", "90+"] * 50, "C"),  # what cannot be compared may be above 89
        ("age", [None] * 50, "C"),
        ("state", ["NY", "VT"] * 50, None),
        ("Bundesland", ["Wien", "Tirol"] * 50, None),
        ("county", ["Kent", "Essex"] * 50, "B"),
        ("zip", ["03301", "03302"] * 50, "B"),
    ],
)
def test_safe_harbor_lists_ages_above_89_and_places_smaller_than_a_state(name, values, letter):
    found = identify({name: values, "x": list(range(len(values)))}, combinations=False)
    assert found.columns[name].hipaa == letter
    assert [item.letter for item in found.hipaa if name in item.columns] == ([] if letter is None else [letter])


@pytest.mark.parametrize(
    ("path", "direct"),
    [
        ("menten/df_500_rows/stage_1_df_mock_500.csv", {"secret_name"}),
        ("menten/df_1000_rows/stage_1_df_mock_1000.csv", {"secret_name"}),
        ("kroes/diabetes.csv", set()),
        ("kroes/cervical.csv", set()),
        ("kroes/adult.csv", set()),
        ("arx-adult/adult.csv", set()),
        ("pycanon/healthcare-dataset-stroke-data.csv", {"id"}),
    ],
)
def test_the_papers_datasets(shared, path, direct):
    assert set(identify(shared / "data" / path).of_role(Role.DIRECT)) == direct


@pytest.mark.parametrize(
    ("name", "concept"),
    [
        ("Vorname", "person-name"),
        ("nom_patient", "person-name"),
        ("Achternaam", "person-name"),
        ("apellidos", "person-name"),
        ("dateOfBirth", "birth-date"),
        ("DOB", "birth-date"),
        ("date_naissance", "birth-date"),
        ("geboortedatum", "birth-date"),
        ("fecha de nacimiento", "birth-date"),
        ("PLZ", "postcode"),
        ("Körpergröße", "height"),
        ("KOERPERGROESSE", "height"),
        ("drug_name", "drug"),
        ("hospitalName", "hospital"),
        ("BSN", "national-number"),
        ("hivStatus", "infection"),
        ("Entlassungsdatum", "discharge-date"),
        ("diagnosis_2", "diagnosis"),
    ],
)
def test_names_of_columns_are_understood(name, concept):
    assert named(name).concept.name == concept


def test_every_language_has_a_word_for_every_concept():
    import tomllib
    from importlib.resources import files

    for language in ("en", "de", "fr", "nl", "es"):
        words = tomllib.loads(files("shoal.identification").joinpath(f"words/{language}.toml").read_text("utf-8"))
        assert set(words) == set(concepts())
        assert all(tokens(entry) for entries in words.values() for entry in entries)


def values_of(number, rows=60):
    """Return right values of a pattern with a checksum, found by trying."""
    pattern, seeded = PATTERNS[number], np.random.default_rng(3)
    forms = {
        "nhs-number": lambda: f"{seeded.integers(10**9, 10**10)}",
        "bsn": lambda: f"{seeded.integers(10**8, 10**9)}",
        "steuer-id": lambda: f"{seeded.integers(10**10, 10**11)}",
        "payment-card": lambda: f"{seeded.integers(4 * 10**15, 5 * 10**15)}",
    }
    import pyarrow as pa

    tried = pa.array([forms[number]() for _ in range(40 * rows)])
    return tried.filter(pa.array(pattern.matches(tried))).to_pylist()[:rows]


@pytest.mark.parametrize("number", ["nhs-number", "bsn", "steuer-id", "payment-card"])
def test_numbers_with_check_digits_are_found_whatever_their_column_is_called(number):
    right = values_of(number)
    found = identify({"x": right, "y": [value[:-1] + str((int(value[-1]) + 1) % 10) for value in right]})
    assert found.columns["x"].shape.pattern.name == number
    assert "check digits" in found.columns["x"].reasons[0]
    assert found.columns["y"].shape.pattern is None
    assert identify({"x": [int(value) for value in right]}).columns["x"].role is Role.DIRECT


def test_free_text_is_not_released():
    texts = [f"The patient from room {number} was seen by Dr. Smith and complained about pain." for number in range(40)]
    found = identify({"x": texts})
    assert found.columns["x"].role is Role.DIRECT
    assert found.columns["x"].shape.form is Form.TEXT
    assert "Not released" in found.columns["x"].reasons[0]


def test_lists_of_codes_are_sets():
    table = shoal.read({"x": ["E11;I10", "I10", "E11;I10;J45", "J45;I10", "J45"] * 5})
    assert Shape.of(table["x"], table.counts("x")).form is Form.SET


def test_what_has_few_values_names_nobody_whatever_it_is_called():
    assert roles({"phone": ["yes", "no"] * 50}) == {"phone": "sensitive"}
    assert roles({"name": [f"Name {number % 40}" for number in range(100)]}) == {"name": "direct"}


def test_numbers_that_rise_from_record_to_record_name_records():
    assert roles({"n": list(range(7, 207)), "x": [3, 1] * 100}) == {"n": "direct", "x": "sensitive"}


def test_measurements_that_all_differ_name_nobody():
    seeded = np.random.default_rng(1)
    assert roles({"glucose": seeded.normal(100, 20, 500)})["glucose"] == "insensitive"
    assert roles({"z": seeded.normal(100, 20, 500)})["z"] == "insensitive"


def test_nothing_to_see_is_no_error():
    found = identify({"a": [None, None], "b": [1, 1]})
    assert {name: one.reasons[0] for name, one in found.columns.items()} == {
        "a": "Empty.",
        "b": "All records have the same value.",
    }
    assert identify({"a": [], "b": []}).of_role(Role.INSENSITIVE) == ("a", "b")


def test_a_subject_can_be_named():
    data = {"code": ["p", "p", "q", "q"] * 10, "age": [30, 30, 40, 40] * 10}
    found = identify(data, subject="code")
    assert found.subject == "code"
    assert found.contribution.persons == 2


@pytest.mark.parametrize(
    "values",
    [
        ["Anna Schmidt", "Peter Maier", "Jürgen Weiß", "Sabine Krause", "Uwe Lang", "Xaver Huber"],
        ["DUPONT, Jean", "MARTIN, Sylvie", "PETIT, Hélène", "LEROY, Camille", "ROUX, Pascal", "MOREL, Zoé"],
        ["Smith John", "Jones Mary", "Brown Emily", "Clark Kevin", "Hall Laura", "Young Zed"],
    ],
)
def test_names_of_persons_are_known_by_their_values(values):
    found = identify({"x": values * 4})
    assert found.columns["x"].role is Role.DIRECT
    assert found.columns["x"].reasons[0] == "Values are personal names."


@pytest.mark.parametrize(
    "values",
    [
        ["January", "February", "March", "April", "May", "June", "July", "August"],
        ["Virginia", "Georgia", "Ohio", "Texas", "Utah", "Iowa", "Maine", "Idaho"],
        ["Paris", "Berlin", "Madrid", "Rome", "Charlotte", "Lisbon"],
        ["Cardiology", "Surgery", "Neurology", "Oncology", "Urology"],
    ],
)
def test_places_and_months_are_no_names_of_persons(values):
    assert identify({"x": values * 5}).columns["x"].role is not Role.DIRECT


def test_risk_rates_can_decide_but_not_about_what_names_persons():
    data = {"mail": [f"p{number}@a.org" for number in range(40)], "age": [*range(20)] * 2, "sex": ["f", "m"] * 20}
    found = identify(data, method="g-distinct", alpha=40, beta=4)
    assert {name: str(one.role) for name, one in found.columns.items()} == {
        "mail": "direct",
        "age": "sensitive",
        "sex": "quasi",
    }
    assert found.columns["age"].reasons[0] == "Risk rate of 50%, above α = 40%."
    thesis = identify(data, method="g-distinct", alpha=40, beta=4, compat="menten-2024")
    assert thesis.columns["mail"].role is Role.DIRECT
    assert thesis.rates.of_role(Role.SENSITIVE) == ("mail", "age")  # as the thesis would have it
    assert thesis.policy().columns["age"].role is Role.SENSITIVE


def test_the_text_missing_is_a_missing_value_for_the_thesis_only():
    data = shoal.read({"a": ["missing"] * 90 + ["x"] * 10, "b": [1, 2] * 50})
    assert identify(data, method="g-distinct").rates.excluded == {}
    assert identify(data, method="g-distinct", compat="menten-2024").rates.excluded == {"a": 0.9}


@pytest.mark.parametrize("wrong", [{"method": "gdistinct"}, {"method": "g-distinct", "compat": "x"}, {"direct": ["y"]}])
def test_what_nobody_knows_is_refused(wrong):
    with pytest.raises(ShoalError):
        identify({"x": [1, 2]}, **wrong)


@pytest.mark.parametrize(("values", "role"), [("P-{:05d}", "direct"), ("2024/{:04d}", "direct"), ("{:05d}", "direct")])
def test_record_numbers(values, role):
    mixed = np.random.default_rng(0).permutation(60)
    found = identify({"x": [values.format(number) for number in mixed] + [values.format(0)] * 40})
    once = identify({"x": [values.format(number) for number in mixed]})
    assert once.columns["x"].role == role
    if not values.startswith("{"):
        assert found.columns["x"].reasons[0] == "Values are record numbers."


def test_codes_of_wards_are_no_record_numbers():
    assert roles({"x": [f"ST{number:04d}" for number in range(12)] * 10}) == {"x": "quasi"}


def test_what_says_the_same_follows_in_the_policy():
    ages = np.random.default_rng(0).integers(18, 90, 400)
    data = {
        "age": ages,
        "birth_year": 2024 - ages,
        "born": [f"{2024 - age}s" for age in ages],
        "sex": ["f", "m", "m", "f"] * 100,
    }
    found = identify(data)
    assert {name: one.follows for name, one in found.columns.items()} == {
        "age": None,
        "birth_year": "age",
        "born": "age",
        "sex": None,
    }
    assert found.policy().columns["birth_year"].linked == "age"
    assert shoal.anonymize(data, found.policy(purpose="internal")).table.records >= 392


def test_keys_tell_how_far_people_are_told_apart():
    found = identify({"a": [1, 1, 2, 2, 3], "b": [1, 2, 1, 2, 2]})
    (key,) = found.keys
    assert (key.columns, key.share, key.distinction, key.separation) == (("a", "b"), 1.0, 1.0, 1.0)
