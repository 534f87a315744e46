"""The inhabitants of the town: the register that an adversary could have."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

TODAY = np.datetime64("2025-01-01")

WOMEN = (
    "Anna Maria Sofia Emma Julia Laura Lena Sarah Lisa Nora Eva Clara Ida Marta Elena Hanna Paula Alma Rosa Greta "
    "Irene Vera Judith Helga Ruth Edith Gerda Ilse Nina Tessa Amina Fatima Leila Mina Yara Zoe Lucia Carmen Ines Alba"
).split()
MEN = (
    "Paul Jan Lukas Max Felix Jonas David Simon Peter Martin Thomas Karl Hans Otto Emil Oskar Anton Hugo Leo Finn "
    "Walter Heinz Kurt Ernst Rolf Werner Omar Ali Karim Yusuf Ivan Marek Pavel Luca Marco Diego Pablo Hugo Noah Theo"
).split()
_FIRST_HALVES = "Ober Nieder Stein Berg Wald Bach Linden Eichen Birken Rosen Gruen Schwarz Weiss Alt Neu Lang".split()
_SECOND_HALVES = "mann bauer feld hof thal brink horst kamp ner egger hauser meyer stedt wald ski sen".split()

ETHNICITIES = ("majority", "group a", "group b", "group c", "group d", "group e")
INSURANCES = ("statutory", "private", "state", "none")
SEXES = ("f", "m", "x")


@dataclass(frozen=True, slots=True, eq=False)
class Town:
    """All inhabitants of the town: arrays of equal length, one entry for each person."""

    columns: dict[str, NDArray[Any]]

    def __len__(self) -> int:
        return len(self.columns["sex"])

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.columns[name]

    @property
    def age(self) -> NDArray[np.int64]:
        """Age in whole years."""
        return (TODAY - self["birth_date"]).astype(np.int64) // 365


def town(size: int, rng: np.random.Generator) -> Town:
    """Generate a town: households of up to six persons, who share an address and mostly a surname."""
    household, place = _households(size, rng)
    age = _ages(household, place, rng)
    sex = rng.choice(3, size, p=[0.5095, 0.4895, 0.001])
    postcodes = _postcodes(rng)
    homes = household[-1] + 1
    surname = _surnames(homes, rng)[household]
    own_name = rng.random(size) < 0.12
    surname[own_name] = _surnames(int(own_name.sum()), rng)
    return Town(
        {
            "first_name": np.where(sex == 1, rng.choice(MEN, size), rng.choice(WOMEN, size)),
            "last_name": surname,
            "birth_date": TODAY - (age * 365.25 + rng.integers(0, 365, size)).astype(np.int64),
            "sex": np.array(SEXES)[sex],
            "postcode": postcodes[_zipf(len(postcodes), homes, 1.05, rng)][household],
            "ethnicity": np.array(ETHNICITIES)[rng.choice(6, size, p=[0.715, 0.1, 0.08, 0.05, 0.035, 0.02])],
            "marital_status": _marital(age, rng),
            "insurance": _insurance(age, rng),
            "occupation": _occupations(age, rng),
            "household_id": household + 1,
        }
    )


def _households(size: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the household of each person, and the position of the person in it."""
    sizes = rng.choice(np.arange(1, 7), size, p=[0.42, 0.33, 0.12, 0.09, 0.03, 0.01])
    household = np.repeat(np.arange(size), sizes)[:size]
    place = (np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes))[:size]
    return household, place


def _ages(household: NDArray[np.int64], place: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return ages: of the first adult of a household, of a partner of about the same age, and of children."""
    size = len(household)
    adult = np.clip(rng.normal(52, 20, size), 18, 103)
    head = adult[np.flatnonzero(place == 0)][household]
    partner = np.clip(head + rng.normal(0, 4, size), 18, 103)
    child = np.clip(head - rng.normal(31, 5, size), 0, 60)
    ages: NDArray[np.float64] = np.select([place == 0, place == 1], [head, partner], child)
    return ages.astype(np.int64)


def _postcodes(rng: np.random.Generator) -> NDArray[np.str_]:
    """Return 300 postcodes of five digits in 20 districts; some begin with 0."""
    districts = rng.choice(np.arange(1, 100), 20, replace=False)
    codes = districts[rng.integers(0, 20, 300)] * 1000 + rng.choice(1000, 300, replace=False)
    return np.char.zfill(codes.astype(str), 5)


def _surnames(number: int, rng: np.random.Generator) -> NDArray[np.str_]:
    first = np.array(_FIRST_HALVES)[_zipf(len(_FIRST_HALVES), number, 0.6, rng)]
    return np.char.add(first, np.array(_SECOND_HALVES)[_zipf(len(_SECOND_HALVES), number, 0.6, rng)])


def _zipf(kinds: int, number: int, exponent: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw categories with frequencies that decrease from the first to the last."""
    weights = 1 / np.arange(1, kinds + 1) ** exponent
    return rng.choice(kinds, number, p=weights / weights.sum())


def _marital(age: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.str_]:
    draw = rng.random(len(age))
    adult = np.select(
        [draw < 0.52, draw < 0.66, draw < 0.66 + np.clip((age - 50) / 150, 0, 0.25)],
        ["married", "divorced", "widowed"],
        "single",
    )
    return np.where(age < 25, np.where(draw < 0.04, "married", "single"), adult)


def _insurance(age: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.str_]:
    draw = rng.random(len(age))
    working = np.select([draw < 0.68, draw < 0.9, draw < 0.97], INSURANCES[:3], "none")
    return np.where(age >= 65, np.where(draw < 0.78, "state", np.where(draw < 0.92, "statutory", "private")), working)


def _occupations(age: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.str_]:
    """Return one of 140 occupations; a few are so rare that they identify a person."""
    fields = "care trade metal wood food law school music print farm energy transport paint textile".split()
    ranks = "assistant worker specialist technician teacher manager inspector adviser owner researcher".split()
    jobs = np.array([f"{field} {rank}" for field in fields for rank in ranks])
    rng.shuffle(jobs)
    job = jobs[_zipf(len(jobs), len(age), 1.1, rng)]
    return np.select([age < 19, age >= 66], ["pupil", "retired"], job)
