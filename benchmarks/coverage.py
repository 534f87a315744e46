"""Coverage of the intervals of attacks when tables are redrawn from one population.

    python benchmarks/coverage.py [--tables 1000] [--records 300]

Individuals are drawn from a population in which the value depends on the age, and released by age group and sex. For
each attack: the mean success over all tables, which is the truth, and the share of tables whose intervals contain it:
the one over targets (the release is fixed), and the one over tables (individuals of a class share their fate).
"""

import argparse
import json
import os
import sys
import time

import numpy as np

import shoal

ATTACKS = ["homogeneity", "background-knowledge", "skewness", "inference", "linkage", "attribute-inference"]


def table(rng, records):
    """Draw individuals and their release."""
    age, sex = rng.integers(20, 80, records), rng.choice(["f", "m"], records)
    sick = rng.random(records) < np.where(age < 40, 0.08, 0.4)
    data = {"age": age, "sex": sex, "dx": np.where(sick, "yes", "no")}
    return data, {**data, "age": [f"{value // 5 * 5}-{value // 5 * 5 + 4}" for value in age]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--records", type=int, default=300)
    given = parser.parse_args()
    rng, found, begun = np.random.default_rng(1), {}, time.process_time()
    for number in range(given.tables):
        data, release = table(rng, given.records)
        options = {"quasi": ["age", "sex"], "sensitive": ["dx"], "in_order": True, "seed": number}
        for result in shoal.attack(data, release, attacks=ATTACKS, **options).results:
            one, other = result.success, result.over_tables
            found.setdefault(result.title, []).append((one.value, one.low, one.high, other.low, other.high))
    report = {}
    for title, rows in found.items():
        values, low, high, below, above = np.array(rows).T
        truth = values.mean()
        report[title] = {
            "success": round(float(truth), 4),
            "over_targets": round(float(((low <= truth) & (truth <= high)).mean()), 3),
            "over_tables": round(float(((below <= truth) & (truth <= above)).mean()), 3),
        }
    spent = {"tables": given.tables, "records": given.records, "cpu": round(time.process_time() - begun, 1)}
    sys.stdout.write(json.dumps({"load": os.getloadavg()[0], **spent, "coverage": report}, indent=2) + "\n")


if __name__ == "__main__":
    main()
