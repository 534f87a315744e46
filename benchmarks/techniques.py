"""One table treated by every technique at comparable risk: what each costs, and what adversaries still achieve.

    python benchmarks/techniques.py [--trial FOLDER] [--patients 2000]

Two tables: patients of the demo hospital and, with --trial, the subjects of the CDISC pilot study (dm.csv and ds.csv in
FOLDER). Techniques that generalise require k = 5; perturbations are as weak as a linkage rate of at most 20% allows,
the risk in a class of five. The figures are those of ``shoal compare-techniques``.
"""

import argparse
import csv
import time
from datetime import date
from pathlib import Path

import shoal
from shoal.demo import hospital

K = 5
ROLES = {
    "patients": {
        "quasi": ("age", "sex", "height", "weight"),
        "sensitive": ("diabetes",),
        "insensitive": ("hypertension",),
    },
    "trial": {"quasi": ("age", "sex", "race", "site"), "sensitive": ("left",), "insensitive": ("arm", "days")},
}
ANALYSES = {"patients": {"target": "hypertension"}, "trial": {"target": "left", "survival": ("days", "left", "sex")}}


def patients(number):
    """Return patients of the demo hospital: known are age, sex, height and weight."""
    table = hospital(patients=number, seed=3).patients.to_frame("pyarrow")
    columns = {name: table.column(name).to_pylist() for name in ("sex", "height", "weight", "diabetes", "hypertension")}
    ages = [None if born is None else 2024 - born.year for born in table.column("birth_date").to_pylist()]
    return {"age": ages, **columns}


def trial(folder):
    """Return the subjects of a study: age, sex and race, days in the study, and whether they left it early."""
    with (folder / "ds.csv").open(encoding="utf-8", newline="") as file:
        ends = {row["USUBJID"]: row for row in csv.DictReader(file) if row["DSCAT"] == "DISPOSITION EVENT"}
    with (folder / "dm.csv").open(encoding="utf-8", newline="") as file:
        subjects = [row for row in csv.DictReader(file) if row["USUBJID"] in ends and row["RFSTDTC"] != "NA"]
    days = [_days(row["RFSTDTC"], ends[row["USUBJID"]]["DSSTDTC"]) for row in subjects]
    return {
        "age": [int(row["AGE"]) for row in subjects],
        "sex": [row["SEX"] for row in subjects],
        "race": [row["RACE"] for row in subjects],
        "site": [row["SITEID"] for row in subjects],
        "arm": [row["ARM"] for row in subjects],
        "days": days,
        "left": [int(ends[row["USUBJID"]]["DSDECOD"] != "COMPLETED") for row in subjects],
    }


def _days(first, last):
    return max((date.fromisoformat(last[:10]) - date.fromisoformat(first[:10])).days + 1, 1)


def policy(name):
    """Return the policy for a table."""
    columns = {column: role for role, columns in ROLES[name].items() for column in columns}
    asked = [{"model": "k-anonymity", "k": K}]
    return shoal.Policy.model_validate({"version": 1, "columns": columns, "require": asked})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trial", type=Path)
    parser.add_argument("--patients", type=int, default=2000)
    asked = parser.parse_args()
    tables = {"patients": patients(asked.patients), **({"trial": trial(asked.trial)} if asked.trial else {})}
    for name, columns in tables.items():
        begun = time.process_time()
        compared = shoal.compare_techniques(columns, policy(name), seed=1, **ANALYSES[name])
        print(f"\n{name}\n{compared.sheet().text()}\nCPU: {time.process_time() - begun:.1f} s", flush=True)


if __name__ == "__main__":
    main()
