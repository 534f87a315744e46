"""What names of columns mean: abbreviations, data standards, and the values that decide between meanings."""

import numpy as np
import pytest

import shoal
from shoal.identification.concepts import concepts
from shoal.identification.proposal import Confidence
from shoal.identification.vocabulary import meanings
from shoal.table.role import Role

SEEDED = np.random.default_rng(5)
RECORDS = 400
FLAG = SEEDED.integers(0, 2, RECORDS)
LEVEL = SEEDED.integers(1, 5, RECORDS)
AMOUNT = SEEDED.normal(80, 20, RECORDS).round(1)
DAYS = SEEDED.integers(100, 5000, RECORDS)


def finding(name, values):
    return shoal.identify({name: values, "other": AMOUNT}, combinations=False).columns[name]


@pytest.mark.parametrize(
    ("name", "values", "concept"),
    [
        ("hgb", AMOUNT, "laboratory"),
        ("serum_creat", AMOUNT, "laboratory"),
        ("sbp_baseline", AMOUNT, "vital-sign"),
        ("ecog.ps", LEVEL, "score"),
        ("trt", FLAG, "treatment-arm"),
        ("tgrade", LEVEL, "stage"),  # a letter before a word
        ("agecat", LEVEL, "age"),  # a description after it
        ("celltype", LEVEL, "stage"),
        ("recur", FLAG, "outcome"),  # the first letters
        ("wght", AMOUNT, "weight"),  # the consonants
        ("futime", DAYS, "duration"),
        ("rfstime", DAYS, "duration"),  # an unknown abbreviation before "time"
        ("time_to_relapse", DAYS, "duration"),  # not a relapse
        ("sample.yr", 1990 + LEVEL, "year"),
        ("splenomegaly", FLAG, "symptoms"),  # endings of medical terms
        ("nephrectomy", FLAG, "treatment"),
        ("USUBJID", [f"01-{number}" for number in range(RECORDS)], "patient"),
        ("AESTDTC", ["2014-01-02", "2014-03-04"] * 200, "other-date"),
        ("LBSTRESN", AMOUNT, "laboratory"),
        ("MHSTRTPT", ["BEFORE", "COINCIDENT"] * 200, "technical"),  # relative to the study, not a time
        ("readmitted", FLAG, "outcome"),
        ("RESREVENUE", DAYS, "income"),
        ("gender_concept_id", [8507, 8532] * 200, "sex"),
        ("Herzinsuffizienz", FLAG, "diagnosis"),
        ("durée_de_suivi", DAYS, "duration"),
        ("tumorgrootte", AMOUNT, "stage"),
        ("tensión", AMOUNT, "vital-sign"),
    ],
)
def test_names_of_clinical_columns(name, values, concept):
    assert finding(name, values).concept.name == concept


@pytest.mark.parametrize(
    ("name", "values", "concept"),
    [
        ("ht", AMOUNT, "height"),
        ("ht", FLAG, "diagnosis"),  # hypertension
        ("survival", DAYS, "duration"),
        ("survival", FLAG, "outcome"),
        ("year", 1990 + LEVEL, "year"),
        ("year", LEVEL, "visit"),
        ("month", [*range(1, 13)] * 33 + [1, 2, 3, 4], "calendar"),
        ("month", [0, 3, 6, 18] * 100, "visit"),
        ("insulin", FLAG, "treatment"),
        ("insulin", ["glargine", "lispro", "aspart", "NPH"] * 100, "drug"),
    ],
)
def test_values_decide_between_meanings(name, values, concept):
    assert finding(name, values).concept.name == concept


@pytest.mark.parametrize("name", ["diag", "death", "surgery", "relapse"])
def test_events_as_numbers_of_days_are_protected(name):
    """An exact day number tells a date, whatever the event."""
    assert finding(name, DAYS).role is Role.QUASI


@pytest.mark.parametrize(
    ("values", "role"),
    [
        (AMOUNT, "insensitive"),
        (FLAG, "sensitive"),
        (["ABC", "DEF", "GHI"] * 133 + ["ABC"], "sensitive"),
        ([f"value {number % 40}" for number in range(RECORDS)], "quasi"),
        (1950 + DAYS % 60, "quasi"),  # years
        ([*range(1, 32)] * 12 + [*range(1, 29)], "quasi"),  # days of a month
        (30_000 + DAYS % 20, "quasi"),  # codes of places
        (np.sort(SEEDED.permutation(9 * RECORDS)[:RECORDS]), "direct"),  # increasing numbers with gaps
    ],
)
def test_what_is_not_recognised_is_a_question_to_the_owner(values, role):
    found = shoal.identify({"zz": values, "sex": FLAG}, combinations=False)
    assert found.columns["zz"].role == role
    assert found.columns["zz"].confidence is Confidence.LOW
    assert found.unrecognised == ("zz",)
    assert found.question.startswith("Uncertain: 'zz'.")
    assert "# Uncertain: 'zz'." in found.starter()


def test_nothing_is_asked_if_everything_is_recognised():
    found = shoal.identify({"age": [*range(20, 60)], "sex": ["f", "m"] * 20}, combinations=False)
    assert (found.unrecognised, found.question) == ((), None)


@pytest.mark.parametrize(("name", "values", "role"), [("UTILITYID", DAYS, "direct"), ("steroid", FLAG, "insensitive")])
def test_names_that_end_with_id(name, values, role):
    """A recurring number of a utility, a device or a plan is not released, although nothing else says what it is."""
    assert finding(name, values).role == role


def test_a_class_of_patients_identifies_nobody():
    values = [f"class {number % 9}" for number in range(RECORDS)]
    assert finding("patient_class", values).role is not Role.DIRECT


def test_every_word_has_a_concept():
    assert all(
        sense.concept in concepts().values() for name in ("dose", "x") for word in meanings(name) for sense in word
    )


def test_years_are_not_taken_for_dates_in_numbers_of_patients():
    assert finding("SUBJID", [f"{1001 + number}" for number in range(RECORDS)]).role in {Role.DIRECT, Role.SUBJECT}


@pytest.mark.parametrize("name", ["site", "center", "race"])
def test_numbers_without_an_order_get_no_intervals(name):
    values = [number % 30 for number in range(RECORDS)]
    text = shoal.identify({name: values, "age": AMOUNT}, combinations=False).starter()
    line = next(line for line in text.splitlines() if line.startswith(f"{name} "))
    assert "interval" not in line
    assert 'kind = "frequency"' in line


def test_diversity_is_never_suggested_beyond_the_number_of_values():
    text = shoal.identify({"age": AMOUNT, "status": FLAG}, combinations=False).starter()
    assert "# l = 2\n" in text


class TestSubject:
    def visits(self, **more):
        persons = np.repeat(np.arange(100), 4)
        return {"id": persons, "sex": np.where(persons % 2, "f", "m"), "day": SEEDED.integers(0, 999, 400), **more}

    def test_a_number_that_recurs(self):
        assert shoal.identify(self.visits(), combinations=False).subject == "id"

    def test_not_if_the_sex_changes(self):
        table = self.visits(sex=["f", "m"] * 200)
        assert shoal.identify(table, combinations=False).subject is None

    def test_not_beside_a_number_for_each_record(self):
        """A matched case's number recurs, but every individual has an own number."""
        table = {**self.visits(), "id": range(400), "case.id": np.repeat(np.arange(100), 4)}
        found = shoal.identify(table, combinations=False)
        assert found.subject is None
        assert found.columns["case.id"].role is Role.DIRECT

    def test_a_release_counts_persons(self):
        policy = shoal.identify(self.visits(), combinations=False).policy()
        assert shoal.assess(self.visits(), policy).counts_persons
