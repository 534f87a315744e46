"""The made-up hospital: the same for a seed, realistic where it matters."""

import numpy as np
import pytest

import shoal
from shoal.demo import hospital
from shoal.errors import ShoalError


@pytest.fixture(scope="module")
def demo():
    return hospital(patients=3000, seed=11)


def test_the_same_seed_gives_the_same_hospital(tmp_path):
    for number, seed in enumerate((4, 4, 5)):
        made = hospital(patients=60, seed=seed)
        for name in ("population", "patients", "admissions"):
            shoal.write(getattr(made, name), tmp_path / f"{name}{number}.csv")
    for name in ("population", "patients", "admissions"):
        first, again, other = ((tmp_path / f"{name}{number}.csv").read_bytes() for number in range(3))
        assert first == again
        assert first != other


def test_patients_are_people_of_the_town(demo):
    people, patients = demo.population.to_arrow(), demo.patients.to_arrow()
    for name in ("first_name", "last_name", "birth_date", "sex", "postcode"):
        assert people[name].take(demo.truth).to_pylist() == patients[name].to_pylist()
    assert len(set(demo.truth.tolist())) == 3000


def test_every_stay_belongs_to_a_patient(demo):
    stays, patients = demo.admissions.to_arrow(), demo.patients.to_arrow()
    assert set(stays["patient_id"].to_pylist()) == set(patients["patient_id"].to_pylist())
    assert 1.5 < demo.admissions.records / demo.patients.records < 2.2
    lengths = np.subtract(stays["discharge_date"].to_numpy(), stays["admission_date"].to_numpy())
    assert (lengths.astype(int) >= 1).all()


def test_people_can_be_found(demo):
    def alone(table, *names):
        return (table.distinct(names).counts == 1).sum() / table.records

    assert alone(demo.patients, "birth_date", "sex", "postcode") > 0.97
    assert alone(demo.population, "birth_date", "sex", "postcode") > 0.9
    assert alone(demo.patients, "sex") < 0.01


def columns(demo):
    patients = demo.patients.to_frame("pandas").set_index("patient_id")
    stays = demo.admissions.to_frame("pandas")
    return stays.join(patients[["sex", "ethnicity", "marital_status", "birth_date"]], on="patient_id")


def effect(stays, measure, group):
    """Return the difference of means in standard deviations."""
    there, others = stays[measure][group].dropna(), stays[measure][~group].dropna()
    return abs(there.mean() - others.mean()) / stays[measure].std()


def test_there_is_signal_and_there_is_none(demo):
    stays = columns(demo)
    assert effect(stays, "hemoglobin", stays["sex"] == "m") > 1
    assert effect(stays, "creatinine", stays["sex"] == "m") > 0.2
    assert effect(stays, "sofa", stays["readmit_30d"]) > 0.3
    assert effect(stays, "saps2", stays["los_bin"] >= 6) > 0.3
    for measure in ("hemoglobin", "creatinine", "heart_rate", "sofa"):  # negative control
        assert effect(stays, measure, stays["ethnicity"] == "majority") < 0.12


def test_rates_are_those_of_a_hospital(demo):
    stays = columns(demo)
    assert 5.5 < stays["los_days"].median() < 9
    assert 0.11 < stays["readmit_30d"].mean() < 0.2
    assert 0.79 < (stays["admission_type"] == "emergency").mean() < 0.87
    assert stays["icd10"].nunique() == 53


def test_there_are_gaps_and_rarities(demo):
    for name in ("ethnicity", "occupation", "height", "rare_disease", "edss"):
        assert demo.patients[name].missing
    rare = demo.patients.distinct(["rare_disease"]).counts
    assert (rare == 1).any()
    edss = demo.patients["edss"].values.to_numpy()
    assert (edss * 2 == np.round(edss * 2)).all()


def test_a_hospital_needs_patients():
    with pytest.raises(ShoalError, match="at least one patient"):
        hospital(patients=0)
