"""The battery on 100,000 records, and the three risks of WP216 against anonymeter, in one run on one machine.

    python benchmarks/attack.py [--rows 100000] [--peer]

--peer makes a virtual environment of its own for anonymeter, which pins old libraries, and runs it on the same files:
a table of the demo hospital, one in which a third of all cells is swapped, and as many people who are in neither. The
control of singling out is also estimated from a quarter of these people, and compared with all of them: the number of
predicates that match one person depends on the number of people, so both tools extrapolate. anonymeter 1.1 fits its
curve to the number of all predicates, which is constant, instead of those that match one person, and from 1,000 people
on only; it divides the share by about four instead of doubling it. --complete also runs every attack, with ceilings and
shadow releases. CPU seconds of the attack on tables that are loaded, after a first run that warms up.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

import numpy as np

import shoal
from shoal.attacks.inference import Inference
from shoal.attacks.linkability import Linkability
from shoal.attacks.singling_out import SinglingOut
from shoal.demo import hospital

COLUMNS = ["age", "sex", "insurance", "occupation", "marital_status", "height", "weight", "diabetes"]
FIRST, SECOND = COLUMNS[:4], COLUMNS[4:]
SECRET, ATTACKS = "diabetes", 1000
PEER = """
import json, sys, time
import pandas as pd
from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator
ori, syn, control = (pd.read_csv(path) for path in sys.argv[1:4])
first, second, secret, attacks = json.loads(sys.argv[4])
def timed(make, **how):
    for n in (20, attacks):
        begun = time.process_time()
        one = make(n)
        one.evaluate(**how)
        spent = time.process_time() - begun
    risk = one.risk()
    return {"risk": risk.value, "low": risk.ci[0], "high": risk.ci[1], "cpu": round(spent, 3),
            "success": one.results().attack_rate.value}
both = dict(ori=ori, syn=syn, control=control)
def control_rate(number):
    one = SinglingOutEvaluator(ori=ori, syn=syn, control=control.iloc[:number], n_attacks=attacks, seed=1)
    one.evaluate(mode="multivariate")
    return round(one.results().control_rate.value, 4)
known = [name for name in first + second if name != secret]
print(json.dumps({
    "singling-out": timed(lambda n: SinglingOutEvaluator(**both, n_attacks=n), mode="multivariate"),
    "linkability": timed(lambda n: LinkabilityEvaluator(**both, n_attacks=n, aux_cols=(first, second))),
    "inference": timed(
        lambda n: InferenceEvaluator(**both, n_attacks=n, secret=secret, aux_cols=known, regression=False)
    ),
    "control of singling out": {str(number): control_rate(number) for number in (len(control), len(control) // 4)},
}))
"""


def tables(seed=3):
    """Return people, a release of them with a third of the cells swapped, and other people."""
    rng = np.random.default_rng(seed)
    patients = hospital(patients=12000, seed=seed).patients.to_frame("pandas")
    patients["age"] = 2024 - patients["birth_date"].map(lambda day: day.year)
    known = patients[COLUMNS].dropna().reset_index(drop=True)
    known = known.sample(frac=1, random_state=seed).reset_index(drop=True)
    ori, control = known.iloc[:4000].reset_index(drop=True), known.iloc[4000:8000].reset_index(drop=True)
    release = ori.copy()
    for name in COLUMNS:
        swapped = np.flatnonzero(rng.random(len(ori)) < 1 / 3)
        release.loc[swapped, name] = ori[name].to_numpy()[rng.permutation(swapped)]
    return ori, release, control


def ours(ori, release, control):
    given = {
        "quasi": [one for one in COLUMNS if one != SECRET],
        "sensitive": [SECRET],
        "outsiders": shoal.read(control),
        "in_order": True,
    }
    both = shoal.read(ori), shoal.read(release)
    tried = {
        "singling-out": lambda number: SinglingOut(attempts=number),
        "linkability": lambda number: Linkability(first=FIRST, targets=number),
        "inference": lambda number: Inference(targets=number),
    }
    rows = {name: timed(lambda number, make=make: shoal.attack(*both, attacks=[make(number)], **given).results[0])
            for name, make in tried.items()}  # fmt: skip
    rates = {}
    for number in (len(control), len(control) // 4):
        others = {**given, "outsiders": shoal.read(control.iloc[:number])}
        rates[str(number)] = round(shoal.attack(*both, attacks=[SinglingOut()], **others).results[0].control.value, 4)
    return {**rows, "control of singling out": rates}


def timed(attack):
    for number in (20, ATTACKS):
        begun = time.process_time()
        result = attack(number)
        spent = time.process_time() - begun
    return {
        "risk": result.risk,
        "success": result.success.value,
        "low": result.success.low,
        "high": result.success.high,
        "control": result.control and result.control.value,
        "cpu": round(spent, 3),
    }


def theirs(ori, release, control):
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        venv.create(home / "env", with_pip=True)
        python = home / "env/bin/python"
        subprocess.run([python, "-m", "pip", "install", "-q", "anonymeter"], check=True)
        paths = []
        for name, frame in (("ori", ori), ("syn", release), ("control", control)):
            paths.append(home / f"{name}.csv")
            frame.to_csv(paths[-1], index=False)
        given = json.dumps([FIRST, SECOND, SECRET, ATTACKS])
        done = subprocess.run(
            [python, "-W", "ignore", "-c", PEER, *paths, given], check=True, capture_output=True, text=True
        )
        return json.loads(done.stdout.splitlines()[-1])


def many(rng, rows):
    """Return so many records of ten columns."""
    return {
        "age": rng.integers(18, 95, rows),
        "sex": rng.choice(["f", "m"], rows),
        "zip": [f"{code:05d}" for code in rng.integers(100, 1000, rows) * 100],
        "ethnicity": rng.choice(list("abcde"), rows, p=[0.6, 0.2, 0.1, 0.07, 0.03]),
        "job": rng.choice([f"job {number}" for number in range(40)], rows),
        "marital": rng.choice(list("smdw"), rows),
        "dx": rng.choice([f"d{number}" for number in range(30)], rows),
        "lab": rng.normal(100, 15, rows).round(1),
        "bmi": rng.normal(26, 4, rows).round(1),
        "days": rng.poisson(5, rows),
    }


def battery(rows, *, complete=False):
    """Attack a release of so many records and ten columns, k = 5; completely: every attack, with a control group."""
    rng = np.random.default_rng(0)
    data = many(rng, rows)
    roles = {
        **dict.fromkeys(list(data)[:6], "quasi"),
        "dx": "sensitive",
        **dict.fromkeys(list(data)[7:], "insensitive"),
    }
    columns = "\n".join(f"{name} = '{role}'" for name, role in roles.items())
    policy = shoal.Policy.parse(
        f"version = 1\n[columns]\n{columns}\n[[require]]\nmodel = 'k-anonymity'\nk = 5\n[search]\nsuppression = 0.05\n"
    )
    table = shoal.read(data)
    release = shoal.anonymize(table, policy)
    cpu, wall = time.process_time(), time.perf_counter()
    every = {"attacks": "all", "ceilings": True, "outsiders": many(rng, rows)} if complete else {}
    found = shoal.attack(table, release, **every)
    spent = {"cpu": round(time.process_time() - cpu, 2), "wall": round(time.perf_counter() - wall, 2)}
    seconds = {}
    for one in found.results:
        seconds[one.attack] = round(seconds.get(one.attack, 0) + one.seconds, 2)
    return {"rows": rows, "results": len(found.results), **spent, "seconds": seconds, "notes": list(found.notes)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--peer", action="store_true", help="compare with anonymeter, which is installed for it")
    parser.add_argument("--complete", action="store_true", help="also run every attack, with ceilings and shadows")
    given = parser.parse_args()
    result = {"load": os.getloadavg()[0], "battery": battery(given.rows)}
    if given.complete:
        result["complete"] = battery(given.rows, complete=True)
        result["factor"] = round(result["complete"]["cpu"] / result["battery"]["cpu"], 1)
    if given.peer:
        people = tables()
        result["shoal"], result["anonymeter"] = ours(*people), theirs(*people)
        result["times faster"] = {
            name: round(one["cpu"] / result["shoal"][name]["cpu"], 1)
            for name, one in result["anonymeter"].items()
            if "cpu" in one
        }
    result["peak_gib"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2)
    sys.stdout.write(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
