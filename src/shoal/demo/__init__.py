"""The demo: a fictitious hospital, and a tour of shoal with its data."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.demo.diagnoses import diagnoses
from shoal.demo.laboratory import laboratory
from shoal.demo.patients import admitted
from shoal.demo.people import town
from shoal.demo.stays import stays
from shoal.errors import ShoalError
from shoal.table.reading import read
from shoal.table.table import Table

__all__ = ["Hospital", "hospital"]


@dataclass(frozen=True, slots=True, eq=False)
class Hospital:
    """The tables of a hospital in a fictitious town.

    ``population``: all inhabitants, as in a register that an adversary could have. ``patients``: some of them, with
    direct identifiers and illnesses. ``admissions``: their stays. ``diagnoses``, ``laboratory``: the diagnoses
    and the blood tests of these stays. ``truth[i]``: the row of patient i in the population.
    """

    population: Table
    patients: Table
    admissions: Table
    diagnoses: Table
    laboratory: Table
    truth: NDArray[np.int64]


def hospital(*, patients: int = 5000, seed: int = 1, factor: int = 10) -> Hospital:
    """Generate a hospital; the same seed gives the same data. The town has ``factor`` times as many inhabitants.

    Ages, illnesses and measurements are correlated, so they can be inferred from each other. Ethnicity and marital
    status are independent of all measurements, so it should not be possible to infer them.

    >>> demo = hospital(patients=100, seed=7)
    >>> demo.patients.records, demo.population.records, "icd10" in demo.admissions
    (100, 1000, True)
    """
    if patients < 1 or factor < 1:
        raise ShoalError(
            "demo-size", "The demo needs at least one patient, and a town with at least as many inhabitants."
        )
    people = town(patients * factor, np.random.default_rng([seed, 1]))
    chosen = admitted(people, patients, np.random.default_rng([seed, 2]))
    rows = stays(chosen, np.random.default_rng([seed, 3]))
    rows = {"admission_id": _numbers(len(rows["icd10"]), np.random.default_rng([seed, 4])), **rows}
    coded = diagnoses(chosen, rows, np.random.default_rng([seed, 5]))
    measured = laboratory(rows, np.random.default_rng([seed, 6]))
    return Hospital(read(people.columns), read(chosen.columns), read(rows), read(coded), read(measured), chosen.place)


def _numbers(stays: int, rng: np.random.Generator) -> NDArray[np.str_]:
    """Return a number for each stay, in random order."""
    return np.char.add("A", np.char.zfill(rng.permutation(stays).astype(str), 7))
