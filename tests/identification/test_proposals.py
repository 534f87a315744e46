"""Columns that a release would give away if they were taken for something else: each was so, once."""

import numpy as np
import pandas as pd
import pytest

import shoal
from shoal.errors import ModelError, PolicyError
from shoal.identification.sentences import is_free_text, speaking
from shoal.table.role import Role
from shoal.verbs.identify import identify

SEEDED = np.random.default_rng(0)
SIZE = 400
NUMBERS = SEEDED.permutation(SIZE) + 100_000
DAYS = [str(day.date()) for day in pd.date_range("2001-03-04", periods=SIZE)]
AGES = SEEDED.integers(20, 80, SIZE)


def role(name, values, **more):
    return str(identify({name: values, **more}, combinations=False).columns[name].role)


@pytest.mark.parametrize(
    "name",
    "lab_id biopsy_no tumor_id diagnosis_id prescription_no result_id icd_id treatment_nurse_id vaccination_id "
    "cancer_registry_number numero_historia case_no study_id hospno Laufnummer NSS zisnummer unit_number".split(),
)
def test_numbers_of_something_name_it(name):
    assert role(name, NUMBERS) == "direct"


@pytest.mark.parametrize(
    "name", "time_of_death died operation_date date_of_surgery vaccination_date relapse_date drug_start".split()
)
def test_dates_are_known_whatever_they_are_of(name):
    found = identify({name: DAYS}, combinations=False)
    assert found.columns[name].role is Role.QUASI
    assert next(item for item in found.hipaa if item.letter == "C").columns == (name,)


@pytest.mark.parametrize(("name", "values"), [("age_at_death", AGES), ("treatment_city", ["Gent", "Aalst"] * 200)])
def test_what_others_know_stays_so_beside_a_medical_word(name, values):
    assert role(name, values) == "quasi"


@pytest.mark.parametrize(
    "values",
    [
        [f"{day:02d}.03.2020 12:{day:02d}" for day in range(1, 29)] * 10,
        [f"0{month}/{day:02d}/2023" for month in range(1, 10) for day in range(1, 29)],
        [f"{day} May 19{day + 50}" for day in range(1, 29)] * 10,
    ],
)
def test_dates_are_no_telephone_numbers(values):
    assert role("seen", values) == "quasi"


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("postcode", [f"M{place % 50} {place}EG" for place in range(SIZE)]),
        ("occupation", [f"job {place}" for place in range(SIZE)]),
        ("cost", np.sort(SEEDED.permutation(10**6)[:SIZE])),
        ("hospital_name", ["St Mary", "St John", "St Anna", "St Peter", "St Paul"] * 80),
        ("n_phone_calls", SEEDED.integers(0, 9, SIZE)),
        ("release", ["1.2.3.1", "1.2.3.4", "1.2.4.1", "1.3.0.0"] * 100),
        ("dose", [f"{place / 10} mg" for place in range(SIZE)]),
        ("x", [f"{100 + place % 40}/{60 + place % 31}" for place in range(SIZE)]),
    ],
)
def test_what_names_nobody_is_not_taken_for_it(name, values):
    assert role(name, values) != "direct"


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("achternaam", ["Jansen", "de Vries", "Bakker", "Visser"] * 100),
        ("email", ["a@b.org", "b@c.org", "c@d.org", "d@e.org"] * 30),
        ("contact", ["0351 123456", "0351 223456", "(0351) 323456", "03511423456"] * 30),
        ("birth_name", ["Smith", "Jones", "Brown", "Hall"] * 30),
        ("nom_naissance", ["Petit", "Leroy", "Roux", "Morel"] * 30),
        ("ssn", [None] * 60),
        ("address", [f"fe80::{place:x}" for place in range(40)]),
    ],
)
def test_few_values_or_none_still_name_persons(name, values):
    assert role(name, values, other=list(range(len(values)))) == "direct"


def test_what_every_person_has_one_of_names_persons():
    persons = np.repeat(np.arange(100), 5)
    found = identify(
        {
            "patient_id": [f"P{person}" for person in persons],
            "ref": [f"X{103827 + 37 * person}" for person in persons],
            "hash": [f"{person * 7919:08x}" for person in persons],
            "code": [f"C{90 + person % 9}" for person in persons],
        },
        combinations=False,
    )
    roles = {name: str(one.role) for name, one in found.columns.items()}
    assert roles == {"patient_id": "subject", "ref": "direct", "hash": "direct", "code": "sensitive"}
    assert found.columns["ref"].reasons[0] == "Nearly every individual has a unique value."


@pytest.mark.parametrize("persons", [15, 100])
def test_a_patient_column_is_the_subject_though_it_has_gaps_or_few_values(persons):
    whose = [f"P-{person}" for person in np.repeat(np.arange(persons), 12)]
    found = identify({"patient_id": [None, *whose[1:]], "age": [*range(12)] * persons})
    assert found.subject == "patient_id"
    with pytest.raises(shoal.errors.ShoalError):  # records without a person are not counted as persons of their own
        shoal.anonymize({"patient_id": [None, *whose[1:]], "age": [*range(12)] * persons}, found.policy())
    assert identify({"patient_id": np.repeat(np.arange(persons), 12)}, combinations=False).subject == "patient_id"


def test_what_says_the_same_as_a_quasi_identifier_is_one():
    found = identify({"age": AGES, "age_score": 2 * AGES, "sex": ["f", "m"] * 200})
    assert found.columns["age_score"].role is Role.QUASI
    assert found.columns["age_score"].follows == "age"
    plain = identify({"age": AGES, "edss": 2 * AGES, "sex": ["f", "m"] * 200})
    assert plain.columns["edss"].role is Role.QUASI
    assert "Determines age and is determined by it." in plain.columns["edss"].reasons


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("fnlwgt", SEEDED.random(SIZE) * 1000, "quasi"),  # nearly unique
        ("fnlwgt", [1.5, 2.5, None, 3.5] * 100, "quasi"),
        ("fnlwgt", [0, 1, 2, 3] * 100, "quasi"),
        ("fnlwgt", [4, 1, 2, 3] * 100, "weight"),
    ],
)
def test_weights_give_nobody_away(name, values, expected):
    assert role(name, values) == expected


POLICY = "version = 1\n[columns]\nage = 'quasi'\n{}\n[[require]]\nmodel = 'k-anonymity'\nk = 2\n"
SENTENCES = [f"Mr. Peeters from room {number} said that he was fine" for number in range(15)]


@pytest.mark.parametrize(
    "values",
    [
        [*SENTENCES, *[None] * 600],
        [*SENTENCES[:1], *["none"] * 300],
        [*SENTENCES, *["I10"] * 200],
        [text.replace(" ", "\u00a0") for text in SENTENCES] * 2,
        [f"anna{number}@x.org please" for number in range(9)] + ["none"] * 300,
        ["患者は昨日から熱があり母親と一緒に来院した"] * 3 + ["none"] * 100,
        pd.Categorical([*SENTENCES, *["none"] * 30], ordered=True),
        [f"A{number:05d}" for number in range(20_000)]
        + [f"Zoe is {number}, she said to her mother" for number in range(9)],
    ],
)
def test_sentences_do_not_go_out(values):
    data = pd.DataFrame({"symptoms": values, "age": [30, 40] * (len(values) // 2) + [30] * (len(values) % 2)})
    assert identify(data, combinations=False).columns["symptoms"].role is Role.DIRECT
    policy = (
        "version = 1\n[columns]\nage = 'quasi'\nsymptoms = 'sensitive'\n[[require]]\nmodel = 'k-anonymity'\nk = 2\n"
    )
    with pytest.raises(PolicyError, match="and may identify individuals"):
        shoal.anonymize(data, shoal.Policy.parse(policy))


def test_labels_are_no_sentences():
    labels = [
        "Malignant neoplasm of bronchus and lung, unspecified",
        "Chronische ischämische Herzkrankheit, nicht näher bezeichnet",
        "Insuffisance rénale chronique, stade terminal",
        "Non-steroidal anti-inflammatory drug preparations",
    ]
    import pyarrow as pa

    assert not speaking(pa.array(labels)).any()
    assert not is_free_text(pa.array(labels), np.array([100, 90, 80, 1]))


def test_values_that_name_persons_do_not_go_out_whoever_says_so():
    data = {"age": [30, 40] * 20, "post": [f"p{number}@a.org" for number in range(40)]}
    policy = POLICY.format("post = 'insensitive'")
    with pytest.raises(PolicyError, match="contains e-mail addresses, and may identify individuals"):
        shoal.anonymize(data, shoal.Policy.parse(policy))


def test_a_star_is_no_value():
    data = {"age": [30, 40] * 20, "dx": ["*", "flu"] * 20}
    policy = POLICY.format("dx = 'sensitive'")
    with pytest.raises(PolicyError, match="which means suppressed"):
        shoal.anonymize(shoal.read(data), shoal.Policy.parse(policy))


def test_roles_that_a_table_has_are_taken_for_granted():
    table = shoal.read({"code": ["p", "q"] * 20, "secret": [1, 2] * 20, "x": [*range(8)] * 5})
    found = identify(table.assign(subject="code", direct=["secret"]))
    assert (found.subject, found.of_role(Role.DIRECT)) == ("code", ("secret",))


def test_one_person_and_odd_names_are_no_error():
    assert identify({"patient_id": [1] * 50, "x": [*range(50)]}, subject="patient_id").keys == ()
    letters = list("abcdefgh") * 5
    odd = identify({"a\nb": [*range(8)] * 5, "follow": letters, "z\x1b": letters})
    assert set(odd.policy().columns) == {"a\nb", "follow", "z\x1b"}
    assert "\x1b" not in odd.starter(name="x\x1b\n").replace('"z\\u001b"', "")


@pytest.mark.parametrize(
    "wrong",
    [{"compat": "menten-2024"}, {"alpha": 3.0}, {"method": "g-distinct", "alpha": float("nan")}, {"seed": -1}],
)
def test_options_that_would_be_ignored_are_refused(wrong):
    with pytest.raises(ModelError):
        identify({"x": [1, 2]}, **wrong)


def test_rates_are_compared_exactly():
    found = identify({"x": [*range(11)] * 100}, method="g-distinct", alpha=25, beta=1)
    assert found.rates.rates[0].rate < 1.0  # as a float; and yet
    assert found.columns["x"].role is Role.QUASI
