"""The stays: admissions of patients, with vital signs, laboratory values, scores, length and outcome."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.demo.patients import Patients

WARDS = "cardiology surgery neurology oncology geriatrics pulmonology nephrology gastro trauma intensive".split()
DIAGNOSES = (
    "I21.4 I50.1 I10 I48.0 I63.9 I25.1 I26.9 J18.9 J44.1 J45.9 J20.9 J96.0 E11.9 E11.6 E10.1 E86 E87.1 N17.9 N18.4 "
    "N39.0 N20.0 K35.8 K80.2 K56.7 K92.2 K70.3 K85.9 A41.9 A09.9 A46 C34.1 C50.9 C18.7 C61 C25.0 D50.9 D64.9 F10.2 "
    "F32.1 F05.9 G40.2 G20 G35.1 G45.9 S72.0 S06.0 S52.5 S82.6 T81.4 R55 R07.4 L03.1 M54.5"
).split()
LENGTHS = (1, 2, 3, 5, 8, 14, 21, 30)  # lower bounds of the bins of length of stay, in days

# Each measure: typical value, standard deviation, and effects of severity, age (per decade), male sex, kidney disease
# and diabetes. An effect of 0 means no signal.
MEASURES: dict[str, tuple[float, float, float, float, float, float, float]] = {
    "heart_rate": (84, 13, 9, -0.8, -1, 0, 0),
    "systolic": (128, 16, -8, 2.2, 3, 4, 2),
    "diastolic": (73, 10, -5, -1.2, 2, 1, 0),
    "respiratory_rate": (17, 3, 2.6, 0.2, 0, 0, 0),
    "temperature": (37.0, 0.5, 0.25, -0.03, 0, 0, 0),
    "oxygen_saturation": (96.5, 1.8, -1.6, -0.25, 0, 0, 0),
    "glucose": (6.4, 1.4, 0.5, 0.12, 0.1, 0, 3.2),
    "creatinine": (72, 14, 9, 1.4, 17, 95, 0),
    "urea": (5.6, 1.6, 1.5, 0.35, 0.5, 8, 0),
    "sodium": (139, 3, -0.7, -0.1, 0, 0, -0.5),
    "potassium": (4.1, 0.4, 0.05, 0.02, 0.03, 0.35, 0),
    "bicarbonate": (25, 2.5, -1.3, 0, 0, -1.8, 0),
    "leukocytes": (8.6, 2.6, 1.8, 0, 0, 0, 0.2),
    "platelets": (248, 62, -10, -4, -16, 0, 0),
    "lactate": (1.3, 0.5, 0.7, 0.02, 0, 0, 0),
    "hemoglobin": (12.6, 1.1, -0.5, -0.12, 1.9, -1.2, 0),
}


def stays(patients: Patients, rng: np.random.Generator) -> dict[str, Any]:
    """Generate the admissions of two years; hidden severity and frailty drive the measurements and the outcome."""
    number = 1 + rng.poisson(np.clip(0.8 * np.exp(0.35 * patients.frailty), 0, 8))
    who = np.repeat(np.arange(len(patients)), number)
    frailty, age, burden = patients.frailty[who], patients.age[who], patients.burden[who]
    severity = 0.55 * frailty + rng.normal(0, 0.9, len(who))
    measured = _measures(patients, who, severity, rng)
    days = np.exp(1.93 + 0.38 * severity + 0.14 * frailty + 0.006 * (age - 55) + rng.normal(0, 0.55, len(who)))
    start = np.datetime64("2023-01-01") + rng.integers(0, 700, len(who))
    order = np.lexsort((start, who))
    readmission = _chance(-2.55 + 0.75 * frailty + 0.3 * burden + 0.008 * (age - 55))
    death = _chance(-4.0 + 1.25 * severity + 0.035 * (age - 60))
    columns = {
        "patient_id": patients.columns["patient_id"][who],
        "admission_date": start,
        "discharge_date": start + np.maximum(np.round(days), 1).astype(np.int64),
        "ward": _wards(burden, rng),
        "admission_type": np.where(rng.random(len(who)) < 0.833, "emergency", "elective"),
        "icd10": np.array(DIAGNOSES)[_diagnoses(patients, who, rng)],
        **measured,
        "gcs": np.clip(15 - rng.poisson(np.exp(0.7 * severity - 1.1)), 3, 15),
        "sofa": np.clip(np.round(2 + 1.7 * severity + 0.3 * burden + rng.normal(0, 1, len(who))), 0, 24).astype(int),
        "saps2": np.clip(np.round(20 + 7 * severity + age / 4 + rng.normal(0, 4, len(who))), 0, 120).astype(int),
        "los_days": np.round(days, 1),
        "los_bin": np.clip(np.searchsorted(LENGTHS, days, "right"), 1, len(LENGTHS)),
        "readmit_30d": rng.random(len(who)) < readmission,
        "died": rng.random(len(who)) < death,
    }
    return {name: cells[order] for name, cells in columns.items()}


def _chance(score: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-score))


def _measures(
    patients: Patients, who: NDArray[np.int64], severity: NDArray[np.float64], rng: np.random.Generator
) -> dict[str, NDArray[np.float64]]:
    man = patients.columns["sex"][who] == "m"
    kidney, sugar = patients.columns["kidney_disease"][who], patients.columns["diabetes"][who]
    decades = (patients.age[who] - 55) / 10
    measured = {}
    for name, (typical, spread, by_severity, by_age, by_sex, by_kidney, by_sugar) in MEASURES.items():
        value = typical + by_severity * severity + by_age * decades + by_sex * man + by_kidney * kidney
        value = value + by_sugar * sugar + rng.normal(0, spread, len(who))
        value = np.maximum(value, typical * 0.2)
        value[rng.random(len(who)) < 0.02] = np.nan
        measured[name] = np.round(value, 0 if typical > 60 else 1)
    measured["oxygen_saturation"] = np.minimum(measured["oxygen_saturation"], 100)
    return measured


def _wards(burden: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.str_]:
    weights = 1 / np.arange(1, len(WARDS) + 1) ** 0.7
    ward = rng.choice(len(WARDS), len(burden), p=weights / weights.sum())
    old = (burden >= 3) & (rng.random(len(burden)) < 0.3)
    return np.array(WARDS)[np.where(old, WARDS.index("geriatrics"), ward)]


def _diagnoses(patients: Patients, who: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return main diagnoses; a patient is admitted more often for an existing illness."""
    weights = 1 / np.arange(3, len(DIAGNOSES) + 3) ** 0.8
    diagnosis = rng.choice(len(DIAGNOSES), len(who), p=weights / weights.sum())
    for illness, code in (
        ("heart_failure", "I50.1"),
        ("copd", "J44.1"),
        ("diabetes", "E11.9"),
        ("kidney_disease", "N18.4"),
        ("depression", "F32.1"),
    ):
        drawn = patients.columns[illness][who] & (rng.random(len(who)) < 0.18)
        diagnosis[drawn] = DIAGNOSES.index(code)
    return diagnosis
