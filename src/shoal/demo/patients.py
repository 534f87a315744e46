"""The patients: inhabitants of the town who were admitted to the hospital, with their medical records."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.demo.people import TODAY, Town

COMORBIDITIES = {  # prevalence at ages 20 and 90
    "hypertension": (0.05, 0.75),
    "diabetes": (0.02, 0.35),
    "copd": (0.01, 0.22),
    "heart_failure": (0.002, 0.28),
    "kidney_disease": (0.01, 0.38),
    "depression": (0.12, 0.17),
}
RARE_DISEASES = tuple(f"rare disease {number:02}" for number in range(1, 26))
COPIED = (
    "first_name last_name birth_date sex postcode ethnicity marital_status insurance occupation household_id"
).split()


@dataclass(frozen=True, slots=True, eq=False)
class Patients:
    """Patients with hidden attributes: ``place`` in the register, and ``frailty``, which drives their stays."""

    columns: dict[str, Any]
    place: NDArray[np.int64]
    frailty: NDArray[np.float64]
    age: NDArray[np.int64]
    burden: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.place)


def admitted(people: Town, size: int, rng: np.random.Generator) -> Patients:
    """Choose patients, older inhabitants more often, and generate their records."""
    chance = 0.3 + (people.age / 60) ** 2
    place = np.sort(rng.choice(len(people), size, replace=False, p=chance / chance.sum()))
    age, frailty = people.age[place], rng.normal(0, 1, size)
    man = people["sex"][place] == "m"
    illness = _comorbidities(age, frailty, rng)
    columns: dict[str, Any] = {
        "patient_id": _identifiers("P", size, rng),
        "mrn": _identifiers("", size, rng),
        **{name: people[name][place] for name in COPIED},
        **_contacts(people, place, rng),
        **_body(man, age, rng),
        **illness,
        "rare_disease": _rare_diseases(size, rng),
        **_sclerosis(age, rng),
    }
    burden = np.sum(list(illness.values()), axis=0)
    return Patients(_with_gaps(columns, age, rng), place, frailty, age, burden)


def _identifiers(letter: str, size: int, rng: np.random.Generator) -> NDArray[np.str_]:
    numbers = rng.choice(size * 20, size, replace=False) + 10_000_000
    return np.char.add(letter, numbers.astype(str))


def _contacts(people: Town, place: NDArray[np.int64], rng: np.random.Generator) -> dict[str, Any]:
    size = len(place)
    names = np.char.lower(np.char.add(np.char.add(people["first_name"][place], "."), people["last_name"][place]))
    return {
        "phone": np.char.add("+00 555 ", rng.choice(9_000_000, size, replace=False).astype(str)),
        "email": np.char.add(np.char.add(names, rng.integers(1, 100, size).astype(str)), "@example.org"),
    }


def _body(man: NDArray[np.bool_], age: NDArray[np.int64], rng: np.random.Generator) -> dict[str, Any]:
    child = np.clip(age / 18, 0.3, 1)
    height = np.round((np.where(man, 178, 165) + rng.normal(0, 7, len(age))) * child, 0)
    bmi = np.clip(rng.normal(26.5, 4.8, len(age)), 15, 55)
    weight = np.round(bmi * (height / 100) ** 2, 1)
    return {"height": height.astype(np.int64), "weight": weight, "bmi": np.round(weight / (height / 100) ** 2, 1)}


def _comorbidities(
    age: NDArray[np.int64], frailty: NDArray[np.float64], rng: np.random.Generator
) -> dict[str, NDArray[np.bool_]]:
    at = np.clip((age - 20) / 70, 0, 1)
    return {
        name: rng.random(len(age)) < (young + (old - young) * at) * np.exp(0.35 * frailty)
        for name, (young, old) in COMORBIDITIES.items()
    }


def _rare_diseases(size: int, rng: np.random.Generator) -> NDArray[Any]:
    """Give 1.2 % of the patients one of 25 rare diseases, some of which occur only once."""
    weights = 1 / np.arange(1, 26) ** 1.2
    disease = np.array(RARE_DISEASES, object)[rng.choice(25, size, p=weights / weights.sum())]
    disease[rng.random(size) >= 0.012] = None
    return disease


def _sclerosis(age: NDArray[np.int64], rng: np.random.Generator) -> dict[str, Any]:
    """Return the columns on multiple sclerosis: its duration determines type and disability (EDSS, in steps of 0.5)."""
    size = len(age)
    ill = (rng.random(size) < 0.04) & (age >= 18)
    duration = np.minimum(rng.gamma(2, 6, size), np.maximum(age - 16, 0)).astype(np.int64)
    turned = rng.random(size) < np.clip(duration / 40, 0, 0.6)
    primary = rng.random(size) < 0.13
    kind = np.select([primary, turned], ["PPMS", "SPMS"], "RRMS").astype(object)
    edss = np.clip(np.round((1 + duration / 6 + rng.normal(0, 1.2, size)) * 2) / 2, 0, 9.5)
    year = (int(str(TODAY)[:4]) - duration).astype(object)
    return {
        "ms_type": _where(ill, kind),
        "ms_diagnosis_year": _where(ill, year),
        "edss": np.where(ill, edss, np.nan),
    }


def _with_gaps(columns: dict[str, Any], age: NDArray[np.int64], rng: np.random.Generator) -> dict[str, Any]:
    """Remove some cells: body measures more often for old patients, occupations more often for young ones."""
    size = len(age)
    unmeasured = rng.random(size) < 0.03 + 0.15 * (age > 75)
    for name in ("height", "weight", "bmi"):
        columns[name] = np.where(unmeasured, np.nan, columns[name])
    for name, share in (("occupation", 0.06 + 0.1 * (age < 30)), ("ethnicity", 0.04), ("marital_status", 0.02)):
        columns[name] = _where(rng.random(size) >= share, columns[name])
    return columns


def _where(known: NDArray[np.bool_], values: NDArray[Any]) -> NDArray[Any]:
    """Return the known values, and None for the others."""
    kept = values.astype(object)
    kept[~known] = None
    return kept
