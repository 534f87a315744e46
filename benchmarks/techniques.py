"""One table treated by every technique at comparable risk: what each costs, and what adversaries still achieve.

    python benchmarks/techniques.py [--trial FOLDER] [--patients 2000]

Two tables: patients of the demo hospital and, with --trial, the subjects of the CDISC pilot study (dm.csv and ds.csv in
FOLDER). Generalising techniques require k = 5. Perturbations draw the quasi-identifiers at random, with the smallest
share for which the upper end of the linkage rate is at most 20%, the risk in a class of five. Printed per technique:

    error     mean absolute change of numbers, in √2 standard deviations; intervals count as their midpoint
    correl    mean absolute change of the correlations
    learning  area under the curve of a model trained on the release; the original gives the first line
    survival  largest gap between survival curves by sex, before and after
    linkage   individuals re-identified by the stronger of two attacks, with the upper end of the interval
    interval  individuals whose numbers are all within 0.1 standard deviations of the true ones
    inference correct guesses of the sensitive value, and without the release

CPU seconds of making the release come last.
"""

import argparse
import csv
import os
import time
from datetime import date
from pathlib import Path

import shoal
from shoal.attacks.interval_disclosure import IntervalDisclosure
from shoal.demo import hospital
from shoal.errors import ShoalError

K, LIMIT = 5, 0.2
SHARES = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4)
GENERALISING = ("global", "local", "mondrian", "microaggregation", "suppression")
MEASURED = ("absolute-error", "correlations")


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


TABLES = {
    "patients": {
        "quasi": {"age": "number", "sex": "text", "height": "number", "weight": "number"},
        "sensitive": "diabetes",
        "others": ["hypertension"],
        "target": "hypertension",
        "survival": None,
    },
    "trial": {
        "quasi": {"age": "number", "sex": "text", "race": "text", "site": "text"},
        "sensitive": "left",
        "others": ["arm", "days"],
        "target": "left",
        "survival": ("days", "left", "sex"),
    },
}


def policy(about, perturb=None, recoding=None):
    """Return a policy: all known columns perturbed, or generalised."""
    columns = {name: {"role": "quasi"} for name in about["quasi"]}
    if perturb is not None:
        for name, kind in about["quasi"].items():
            columns[name]["perturb"] = perturb(kind)
    columns[about["sensitive"]] = {"role": "sensitive"}
    columns.update({name: {"role": "insensitive"} for name in about["others"]})
    asked = [{"model": "k-anonymity", "k": K}] if perturb is None else [{"attack": "linkage-rate", "at_most": LIMIT}]
    search = {} if recoding is None else {"recoding": recoding, "suppression": 0.02}
    draw = {"key_variable": "SHOAL_BENCHMARK_KEY"}
    return shoal.Policy.model_validate(
        {"version": 1, "columns": columns, "require": asked, "search": search, "draw": draw}
    )


def perturbations(share):
    """Return how each way to perturb treats numbers and text, with a share for noise and swapping."""
    pram = {"kind": "pram", "keep": max(1 - share, 0.0)}
    return {
        "noise + PRAM": lambda kind: {"kind": "noise", "share": share} if kind == "number" else pram,
        "correlated noise + PRAM": lambda kind: (
            {"kind": "noise", "share": share, "correlated": True} if kind == "number" else pram
        ),
        "swap + PRAM": lambda kind: {"kind": "swap", "share": min(share, 0.99)} if kind == "number" else pram,
        "shuffle + PRAM": lambda kind: {"kind": "shuffle"} if kind == "number" else pram,
    }


def releases(table, about):
    """Yield the name of each technique, its release, and CPU seconds."""
    for recoding in GENERALISING:
        begun = time.process_time()
        try:
            yield recoding, shoal.anonymize(table, policy(about, recoding=recoding)), time.process_time() - begun
        except ShoalError as error:
            print(f"{recoding:26} not possible: {error.message}")
    for name in perturbations(0.1):
        for share in SHARES:
            begun = time.process_time()
            try:
                release = shoal.anonymize(table, policy(about, perturbations(share)[name]))
            except ShoalError as error:
                if error.code not in {"attack-too-successful", "nothing-perturbed"}:
                    raise
                continue
            yield f"{name} ({share:g})", release, time.process_time() - begun
            break
        else:
            print(f"{name:26} not possible: the linkage rate stays above {LIMIT:.0%}")


def figures(table, release, about):
    """Return the figures of a release."""
    found = shoal.compare(table, release, quasi=list(about["quasi"]), qualities=MEASURED)
    error = found.quality["absolute-error"].total
    learned = found.learning(about["target"], seed=1)
    curves = found.survival(*about["survival"]) if about["survival"] else []
    gap = max((curve.largest_gap or 0.0 for curve in curves), default=None)
    attacks = ["linkage-rate", "inference", IntervalDisclosure(tolerance=0.1)]
    attacked = shoal.attack(table, release, attacks=attacks, seed=1)
    linked, guessed = attacked.of("linkage-rate"), attacked.of("inference")
    close = [result for result in attacked.results if result.attack == "interval-disclosure"]
    return (
        f"{error.value:5.2f}" if error else "    –",
        f"{found.quality['correlations'].total.value:6.3f}",
        f"{learned.auc[1].value:8.3f}",
        "     –" if gap is None else f"{gap:6.3f}",
        f"{linked.success.value:5.1%} ≤ {linked.success.high:5.1%}",
        f"{close[0].success.value:6.1%}" if close else "     –",
        f"{guessed.success.value:5.1%} / {guessed.baseline:5.1%}",
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trial", type=Path)
    parser.add_argument("--patients", type=int, default=2000)
    asked = parser.parse_args()
    os.environ.setdefault("SHOAL_BENCHMARK_KEY", "a key for the figures of a benchmark")
    tables = {"patients": patients(asked.patients), **({"trial": trial(asked.trial)} if asked.trial else {})}
    for name, columns in tables.items():
        table, about = shoal.read(columns), TABLES[name]
        print(f"\n{name}: {table.records:,} individuals")
        print(f"{'technique':31} error correl learning survival linkage       interval inference       CPU s")
        unchanged = shoal.compare(columns, columns, in_order=True).learning(about["target"], seed=1)
        print(f"{'the original':31} {unchanged.auc[0].value:23.3f}")
        for technique, release, seconds in releases(table, about):
            print(f"{technique:31} {'  '.join(figures(table, release, about))}  {seconds:6.2f}", flush=True)


if __name__ == "__main__":
    main()
