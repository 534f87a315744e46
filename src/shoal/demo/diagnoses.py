"""The diagnoses: the main and the secondary diagnoses of each stay."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.demo.patients import Patients
from shoal.demo.stays import DIAGNOSES

_SECONDARY = {"hypertension": "I10", "diabetes": "E11.9", "copd": "J44.1", "heart_failure": "I50.1"}
_KNOWN = 0.7  # probability that an existing illness is coded as a secondary diagnosis


def diagnoses(patients: Patients, stays: dict[str, Any], rng: np.random.Generator) -> dict[str, NDArray[Any]]:
    """Generate the diagnoses of each stay: the main one, existing illnesses of the patient, and unrelated findings."""
    number = len(stays["admission_id"])
    place = {name: row for row, name in enumerate(patients.columns["patient_id"].tolist())}
    who = np.array([place[name] for name in stays["patient_id"].tolist()])
    of_stay, codes = [np.arange(number)], [stays["icd10"]]
    for illness, known in _SECONDARY.items():
        coded = np.flatnonzero(patients.columns[illness][who] & (rng.random(number) < _KNOWN) & (codes[0] != known))
        of_stay.append(coded)
        codes.append(np.full(len(coded), known))
    found = np.repeat(np.arange(number), rng.poisson(0.4, number))
    of_stay.append(found)
    codes.append(rng.choice(DIAGNOSES, len(found)))
    stay, code = np.concatenate(of_stay), np.concatenate(codes)
    order = np.argsort(stay, kind="stable")
    begins = np.flatnonzero(np.r_[True, np.diff(stay[order]) > 0])
    rank = np.arange(len(order)) - np.repeat(begins, np.diff(np.r_[begins, len(order)])) + 1
    return {"admission_id": stays["admission_id"][stay[order]], "rank": rank, "icd10": code[order]}
