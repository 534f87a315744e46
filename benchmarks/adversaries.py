"""What adversaries achieve who know how shoal works, each attack beside a weaker one or a weaker defence.

    python benchmarks/adversaries.py [--adult adult.csv]

On the demo hospital: two releases (local recoding with k = 11, Mondrian with k = 5) joined record by record; the height
generalised while weight and body mass index are released; counterfeits whose values imitate true records, and the same
counterfeits with each value drawn by itself; membership by the nearest record and by shadow releases, with its ceiling;
shifted dates of stays; a service that counts; members of a class who collude. With --adult (the Adult table with
columns such as marital-status): attribute inference by its three adversaries; and two values of the income class in
each class with k = 5, with every technique, attacked by minimality, beside releases whose classes are independent of
the income. CPU seconds.
"""

import argparse
import json
import os
import sys
import time

import numpy as np

import shoal
from shoal.attacks.collusion import Collusion
from shoal.attacks.date_sequence import DateSequence
from shoal.attacks.tracker import Tracker
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
[search]
derivable = ["height"]
"""
COUNTERFEITS = PATIENTS.replace(
    "suppression = 0.02",
    """suppression = 0.99
outliers = "counterfeits"
levels = {{ birth_date = [4, 4], postcode = [2, 2], occupation = [1, 1] }}""",
)
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


def told(result):
    """Return the figures of a result."""
    figures = {"success": result.success, "low": result.success.low, "high": result.success.high}
    figures |= {"control": result.control, "original": result.ceiling, "suppressed": result.floor}
    values = {name: getattr(value, "value", value) for name, value in figures.items() if value is not None}
    return {name: round(value, 4) for name, value in values.items()} | {
        "baseline": round(result.baseline, 4),
        **result.details,
    }


def counterfeits():
    """Recognise counterfeits that imitate true records, and those whose values are drawn one by one."""
    table, policy = (
        hospital(patients=5000, seed=1).patients,
        shoal.Policy.parse(COUNTERFEITS.format(k=11, recoding="global")),
    )
    release, spent = timed(lambda: shoal.anonymize(table, policy))
    rows, false, rng = release.to_frame("pandas"), release.records < 0, np.random.default_rng(0)
    for name in ("height", "weight", "bmi", "insurance", "marital_status", "diabetes"):
        rows.loc[false, name] = rng.choice(rows.loc[~false, name].to_numpy(), int(false.sum()))
    names = table.to_frame("pandas")["patient_id"]
    rows["patient_id"] = [names[record] if record >= 0 else f"x{place}" for place, record in enumerate(release.records)]
    alone = shoal.attack(table, rows, policy, key="patient_id", attacks="counterfeit-detection").results[0]
    together = shoal.attack(table, release, attacks="counterfeit-detection").results[0]
    return {"one by one": told(alone), "imitated": told(together), "cpu of anonymize": spent}


def membership():
    """Tell patients of the data from others of the same hospital."""
    patients, rows = hospital(patients=6000, seed=2).patients.to_frame("pandas"), {}
    inside, outside = shoal.read(patients.iloc[:3000]), shoal.read(patients.iloc[3000:])
    for k in (2, 5, 11):
        release = shoal.anonymize(inside, shoal.Policy.parse(PATIENTS.format(k=k, recoding="local")))
        for attack in ("membership", "shadow-membership"):
            given = {"outsiders": outside, "attacks": attack}
            found, spent = timed(lambda release=release, given=given: shoal.attack(inside, release, **given).results[0])
            rows[f"k = {k}, {attack}"] = told(found) | {"cpu": spent}
    return rows


def dates():
    """Re-identify patients by the time between their stays, all shifted by up to a year."""
    stays = hospital(patients=5000, seed=1).admissions.to_frame("pandas")
    plain = stays.astype({"admission_date": "datetime64[s]", "discharge_date": "datetime64[s]"})
    shifts = np.random.default_rng(0).integers(-365, 366, len(stays)).astype("timedelta64[D]")
    step = shifts[stays["patient_id"].factorize()[0]]
    moved = plain.assign(admission_date=plain["admission_date"] + step, discharge_date=plain["discharge_date"] + step)
    given = {"quasi": "ward", "subject": "patient_id", "in_order": True, "attacks": [DateSequence(targets=10_000)]}
    found, spent = timed(lambda: shoal.attack(plain, moved, **given))
    return {result.variant: told(result) | {"targets": result.targets} for result in found.results} | {"cpu": spent}


def services():
    """Ask a service that counts at least ten records, and let members of a class collude."""
    table = hospital(patients=5000, seed=1).patients
    release = shoal.anonymize(table, shoal.Policy.parse(PATIENTS.format(k=5, recoding="local")))
    same = np.random.default_rng(0).choice(["a", "b"], 50).repeat(12)  # everybody in a village has the same value
    villages = {"village": np.arange(50).repeat(12), "dx": np.where(np.arange(600) < 570, same, "c")}
    given = {"in_order": True, "attacks": [Tracker()]}
    unique = shoal.attack(table, table, quasi=["birth_date", "sex"], sensitive="rare_disease", **given).results[0]
    alike = shoal.attack(villages, villages, quasi="village", sensitive="dx", **given).results[0]
    rows = {"trackers": told(unique), "direct questions": told(alike)}
    for number in (0, 2, 4):
        rows[f"{number} colluders"] = told(
            shoal.attack(table, release, attacks=[Collusion(colluders=number)]).results[0]
        )
    return rows


def inference(path):
    """Infer the income class from global recoding of Adult, k = 5."""
    table = shoal.read(path)
    text = ADULT.format(recoding="global", independent="false")
    release = shoal.anonymize(table, shoal.Policy.parse(text.replace('"l-diversity"\nl = 2', '"k-anonymity"\nk = 5')))
    return told(shoal.attack(table, release, attacks=["attribute-inference"], ceilings=True).results[0])


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
    report |= {"counterfeits": counterfeits(), "membership": membership(), "dates": dates(), "services": services()}
    if given.adult:
        report |= {"attribute inference": inference(given.adult), "minimality": minimality(given.adult)}
    sys.stdout.write(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
