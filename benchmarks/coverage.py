"""What intervals and verdicts of attacks are worth, on small tables that are redrawn from populations with known laws.

    python benchmarks/coverage.py [--tables 1000] [--false 1000] [--records 300] [--only composition,events]

For each attack: the mean success over all tables, which is the truth; the means of baseline, control and ceiling (the
same attack on the original; of 50 tables); and the share of tables whose intervals contain the truth: the one over
targets (the release is fixed), and the one over tables (individuals of a class share their fate), where there is one.
Nominal: 0.95. Then the rate of false alarms: the share of tables in which the WP216 card states any risk although the
release has shuffled columns of other individuals, so that it discloses nothing; with and without a control group.
CPU seconds.
"""

import argparse
import json
import os
import sys
import time
from datetime import date, timedelta
from multiprocessing import Pool

import numpy as np

import shoal
from shoal.attacks.shadow_membership import ShadowMembership

CEILINGS = 50  # tables of which ceilings are measured
MODELS = ["attribute-inference", "reconstruction"]  # which take longest
TABLES = ["background-knowledge", "distance-linkage", "homogeneity", "inference"]
TABLES += ["interval-disclosure", "linkability", "linkage", "membership", "minimality", "probabilistic-linkage"]
TABLES += ["similarity", "singling-out", "skewness", "tracker", "collusion"]
BODIES = """
version = 1
[columns]
age = { role = "quasi", hierarchy = { kind = "interval", widths = [10, 20] } }
sex = "quasi"
weight = "insensitive"
iron = "insensitive"
dx = "sensitive"
[[require]]
model = "k-anonymity"
k = 5
[search]
suppression = 0.3
"""


def people(rng, records):
    """Draw individuals whose diagnosis depends on the age; codes of one letter belong together."""
    age, sex = rng.integers(20, 80, records), rng.choice(["f", "m"], records)
    sick = rng.random(records) < np.where(age < 40, 0.1, 0.5)
    code = np.where(sick, "A", "B").astype(object) + rng.choice(["1", "2", "3"], records, p=[0.6, 0.3, 0.1])
    weight = np.maximum(60 + age / 3 + rng.normal(0, 12, records), 30).round(1)
    return {
        "age": age,
        "sex": sex,
        "dx": code.astype(str),
        "weight": weight,
        "iron": rng.normal(9, 2, records).round(2),
    }


def grouped(data, width=5):
    """Return the individuals with intervals of ages."""
    return {**data, "age": [f"{value // width * width}-{value // width * width + width - 1}" for value in data["age"]]}


def tables(rng, records):
    data = people(rng, records)
    return data, grouped(data), {
        "quasi": ["age", "sex"], "sensitive": ["dx"], "in_order": True, "outsiders": people(rng, records),
        "hierarchies": {"dx": {"kind": "prefix", "keep": [1]}}, "attacks": TABLES,
    }  # fmt: skip


def models(rng, records):
    data, release, options = tables(rng, records)
    return data, release, {**options, "attacks": MODELS}


def policies(rng, records):
    """Releases by shoal: membership by shadows, counterfeits."""
    text = BODIES + 'outliers = "counterfeits"\nlevels = { age = [1, 1], sex = [0, 0] }\n'
    data, others = people(rng, records), people(rng, records)
    for one in (data, others):
        one["age"] = np.minimum(one["age"], 20 + rng.geometric(0.05, records))  # few are old
    release = shoal.anonymize(data, shoal.Policy.parse(text))
    return data, release, {"attacks": [ShadowMembership(shadows=8), "counterfeit-detection"], "outsiders": others}


def compositions(rng, records):
    data = people(rng, records)
    return data, grouped(data, 10), {
        "also": grouped(data, 7), "quasi": ["age", "sex"], "sensitive": ["dx"], "in_order": True,
        "attacks": ["composition"],
    }  # fmt: skip


def stays(rng, records):
    """Individuals with one to three stays, shifted dates."""
    number = rng.integers(1, 4, records // 2)
    who = np.repeat(np.arange(len(number)), number)
    came, left = rng.integers(0, 700, len(who)), rng.integers(1, 15, len(who))
    shift = rng.integers(-365, 365, len(number))[who]
    day = date(2024, 1, 1)
    data = {
        "who": who,
        "ward": [f"w{ward}" for ward in rng.integers(0, 9, len(who))],
        "dx": rng.choice(list("abc"), len(who)),
        "came": [day + timedelta(int(step)) for step in came],
        "left": [day + timedelta(int(step + more)) for step, more in zip(came, left, strict=True)],
    }
    moved = {name: [value + timedelta(int(step)) for value, step in zip(data[name], shift, strict=True)]
             for name in ("came", "left")}  # fmt: skip
    return data, {**data, **moved}, {
        "quasi": ["ward"], "sensitive": ["dx"], "subject": "who", "in_order": True,
        "attacks": ["events", "event-inference", "date-sequence"],
    }  # fmt: skip


def derivations(rng, records):
    data = people(rng, records)
    data["height"] = rng.normal(170, 10, records).round()
    data["bmi"] = (data["weight"] / (data["height"] / 100) ** 2 + rng.normal(0, 0.05, records)).round(1)
    return data, {**data, "height": ["*"] * records}, {
        "quasi": ["height", "sex"], "in_order": True, "attacks": ["derived-columns"],
    }  # fmt: skip


def buckets(rng, records):
    text = BODIES + 'publish = { kind = "buckets", l = 2, identities_public = true }\n'
    data = people(rng, records)
    data["dx"] = rng.choice(["a", "b", "c", "d"], records, p=[0.4, 0.3, 0.2, 0.1])
    release = shoal.anonymize(data, shoal.Policy.parse(text))
    return data, release, {"attacks": ["bucket-inference"]}


SETTINGS = {one.__name__: one for one in (tables, models, policies, compositions, stays, derivations, buckets)}


def one_table(task):
    """Attack one table: rows of the title, the figures and the intervals of each result."""
    setting, number, records, has_ceilings = task
    data, release, options = SETTINGS[setting](np.random.default_rng([1, number]), records)
    found = shoal.attack(data, release, seed=number, ceilings=has_ceilings, **options)
    rows = []
    for result in found.results:
        wide = result.success if result.over_tables is None else result.over_tables
        control, ceiling = (None if one is None else one.value for one in (result.control, result.ceiling))
        one = result.success
        rows.append(
            (result.title, one.value, one.low, one.high, wide.low, wide.high, result.baseline, control, ceiling)
        )
    return rows


def false_alarm(task):
    """Whether the card states a risk for a release whose columns were shuffled, and which attack it names."""
    number, records, has_control = task
    rng = np.random.default_rng([2, number])
    data = people(rng, records)
    release = {name: rng.permutation(np.asarray(values)) for name, values in grouped(people(rng, records)).items()}
    options = {"outsiders": people(rng, records)} if has_control else {}
    given = {"quasi": ["age", "sex"], "sensitive": ["dx"], "in_order": True, "seed": number}
    found = shoal.attack(
        data, release, attacks="all", hierarchies={"dx": {"kind": "prefix", "keep": [1]}}, **given, **options
    )
    return sorted(best.title for best in found.card().values() if best is not None and best.is_sure)


def covered(rows):
    """Summarise the results of an attack over all tables."""
    values, low, high, below, above, baseline, control, ceiling = (
        np.array([np.nan if value is None else value for value in part], float) for part in zip(*rows, strict=True)
    )
    truth = values.mean()
    means = {"baseline": baseline, "control": control, "ceiling": ceiling}
    return {
        "tables": len(rows),
        "success": round(float(truth), 4),
        **{name: round(float(np.nanmean(part)), 4) for name, part in means.items() if not np.isnan(part).all()},
        "over_targets": round(float(((low <= truth) & (truth <= high)).mean()), 3),
        "over_tables": round(float(((below <= truth) & (truth <= above)).mean()), 3),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--false", type=int, default=1000, help="tables for the rate of false alarms")
    parser.add_argument("--records", type=int, default=300)
    parser.add_argument("--only", help="settings, comma-separated")
    given = parser.parse_args()
    chosen = given.only.split(",") if given.only else list(SETTINGS)
    report, begun = {"load": os.getloadavg()[0], "records": given.records}, time.perf_counter()
    with Pool(os.cpu_count()) as pool:
        for setting in chosen:
            tasks = [(setting, number, given.records, number < CEILINGS) for number in range(given.tables)]
            found = {}
            for rows in pool.imap_unordered(one_table, tasks, 4):
                for title, *figures in rows:
                    found.setdefault(title, []).append(figures)
            report[setting] = {title: covered(rows) for title, rows in found.items()}
        for name, has_control in (("with control", True), ("without control", False)):
            tasks = [(number, given.records, has_control) for number in range(given.false)]
            alarms = [*pool.imap_unordered(false_alarm, tasks, 4)]
            named = {title: sum(title in one for one in alarms) for one in alarms for title in one}
            rate = round(sum(map(bool, alarms)) / max(len(alarms), 1), 4)
            report[f"false alarms {name}"] = {"tables": len(alarms), "rate": rate, "by attack": named}
    report["minutes"] = round((time.perf_counter() - begun) / 60, 1)
    sys.stdout.write(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
