"""What adversaries achieve who know how shoal works: releases joined, algorithms known, columns that determine others.

    python benchmarks/adversaries.py [--adult adult.csv]

Two releases of the demo hospital (local recoding with k = 11, Mondrian with k = 5) are joined record by record. The
height of its patients is generalised while weight and body mass index are released. With --adult (the Adult table with
columns such as marital-status): two values of the income class in each class and k = 5, with every technique, attacked
by minimality, beside releases whose classes are independent of the income. CPU seconds.
"""

import argparse
import json
import os
import sys
import time

import shoal
from shoal.demo import hospital

BESIDE = "\n".join(f'{name} = "insensitive"' for name in ("height", "weight", "bmi", "insurance", "marital_status"))
PATIENTS = f"""
version = 1
[columns]
birth_date = {{{{ role = "quasi", hierarchy = {{{{ kind = "date" }}}} }}}}
sex = "quasi"
postcode = {{{{ role = "quasi", hierarchy = {{{{ kind = "prefix", keep = [3, 2, 1] }}}} }}}}
occupation = "quasi"
{BESIDE}
diabetes = "sensitive"
[[require]]
model = "k-anonymity"
k = {{k}}
[search]
recoding = "{{recoding}}"
suppression = 0.02
"""
BODIES = """
version = 1
[columns]
height = { role = "quasi", hierarchy = { kind = "interval", widths = [10, 20] } }
sex = "quasi"
weight = "insensitive"
bmi = "insensitive"
[[require]]
model = "k-anonymity"
k = 11
"""
ADULT = """
version = 1
[columns]
age = {{ role = "quasi", hierarchy = {{ kind = "interval", widths = [5, 10, 20, 40] }} }}
sex = "quasi"
race = "quasi"
marital-status = "quasi"
education = "quasi"
workclass = "quasi"
salary-class = "sensitive"
[[require]]
model = "k-anonymity"
k = 5
[[require]]
model = "l-diversity"
l = 2
[search]
recoding = "{recoding}"
suppression = 0.1
independent = {independent}
"""


def timed(work):
    begun = time.process_time()
    return work(), round(time.process_time() - begun, 2)


def composition():
    """Join two releases of the same patients."""
    table = hospital(patients=5000, seed=1).patients
    one, other = (
        shoal.anonymize(table, shoal.Policy.parse(PATIENTS.format(k=k, recoding=recoding)))
        for k, recoding in ((11, "local"), (5, "mondrian"))
    )
    found, spent = timed(lambda: shoal.attack(table, one, also=other, attacks=["composition"]))
    results = {result.title: (round(result.success.value, 4), round(result.baseline, 4)) for result in found.results}
    identity = found.of("composition", variant="identity").details
    return {"success and baseline": results, "identity": {**identity}, "cpu": spent}


def derived():
    """Compute the height from weight and body mass index."""
    table = hospital(patients=5000, seed=1).patients
    release = shoal.anonymize(table, shoal.Policy.parse(BODIES))
    found, spent = timed(lambda: shoal.attack(table, release, attacks=["derived-columns"]).results[0])
    return {"success": found.success.value, "baseline": round(found.baseline, 4), **found.details, "cpu": spent}


def minimality(path):
    """Infer values from what was generalised and suppressed."""
    table, rows = shoal.read(path), []
    for recoding in ("global", "local", "mondrian"):
        for independent in ("false", "true"):
            policy = shoal.Policy.parse(ADULT.format(recoding=recoding, independent=independent))
            release, making = timed(lambda policy=policy: shoal.anonymize(table, policy))
            found, spent = timed(
                lambda release=release: shoal.attack(table, release, attacks=["minimality"]).results[0]
            )
            rows.append(
                {
                    "recoding": recoding,
                    "independent": independent,
                    "loss": round(release.quality["loss"].total.value, 4),
                    "inferred": round(found.success.value, 4),
                    "without the algorithm": round(found.baseline, 4),
                    "by the algorithm": round(found.details["inferred_by_the_algorithm"], 4),
                    "cpu": (making, spent),
                }
            )
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--adult", help="the Adult table")
    given = parser.parse_args()
    report = {"load": os.getloadavg()[0], "composition": composition(), "derived columns": derived()}
    if given.adult:
        report["minimality"] = minimality(given.adult)
    sys.stdout.write(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
