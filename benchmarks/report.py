"""A report about a release of a million records: how long it takes, and how large it is.

    python benchmarks/report.py [--rows 1000000]

The release is made first and is not part of the time; the report assesses both tables, compares them, and draws.
"""

import argparse
import json
import os
import resource
import sys
import time

import numpy as np

import shoal

POLICY = """
version = 1
[columns]
age = { role = "quasi", hierarchy = { kind = "interval", widths = [5, 10, 20] } }
sex = "quasi"
zip = { role = "quasi", hierarchy = { kind = "prefix", keep = [3, 2, 1] } }
ethnicity = "quasi"
marital = "quasi"
dx = "sensitive"
lab = "insensitive"
bmi = "insensitive"
days = "insensitive"
cost = "insensitive"
[[require]]
model = "k-anonymity"
k = 11
[search]
suppression = 0.02
"""


def table(rows, *, subject):
    rng = np.random.default_rng(0)
    return shoal.read(
        {
            **({"who": rng.permutation(rows)} if subject else {}),
            "age": rng.integers(18, 95, rows),
            "sex": rng.choice(["f", "m"], rows),
            "zip": rng.integers(10000, 99999, rows).astype(str),
            "ethnicity": rng.choice(list("abcde"), rows, p=[0.6, 0.2, 0.1, 0.07, 0.03]),
            "marital": rng.choice(list("smdw"), rows),
            "dx": rng.choice([f"d{number}" for number in range(30)], rows),
            "lab": rng.normal(100, 15, rows).round(1),
            "bmi": rng.normal(26, 4, rows).round(1),
            "days": rng.poisson(5, rows),
            "cost": rng.lognormal(7, 1, rows).round(2),
        }
    )


def timed(make):
    wall, cpu = time.perf_counter(), time.process_time()
    made = make()
    return made, {"wall": round(time.perf_counter() - wall, 2), "cpu": round(time.process_time() - cpu, 2)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--subject", action="store_true", help="give every record a person, in a column of its own")
    given = parser.parse_args()
    policy = shoal.Policy.parse(('data.subject = "who"\n' if given.subject else "") + POLICY)
    release = shoal.anonymize(table(given.rows, subject=given.subject), policy)
    found, gathered = timed(lambda: shoal.report(release.given, release))
    internal, drawn = timed(found.to_html)
    external, others = timed(lambda: found.external().to_html())
    result = {
        "load": os.getloadavg()[0],
        "rows": given.rows,
        "gathered": gathered,
        "internal": {**drawn, "mb": round(len(internal) / 1e6, 2)},
        "external": {**others, "mb": round(len(external) / 1e6, 2)},
        "peak_gib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
    }
    sys.stdout.write(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
