"""CPU seconds of each kind of perturbation, on its own and of ten columns together, and of sdcMicro in the same run.

    python benchmarks/perturbation.py [--rows 1000000] [--peer LIBRARY] [--reference FOLDER]

The time of a perturbation is that of shoal.anonymize with it, minus that without it: drawing, writing and verifying
included. --peer: an R library with sdcMicro, whose functions run on as many rows of one column in a process of its own.
--reference: a folder with Tarragona.csv (13 numbers of 834 companies, from sdcMicro), for interval disclosure and loss.
"""

import argparse
import csv
import os
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

import shoal
from shoal.attacks.interval_disclosure import IntervalDisclosure
from shoal.progress import silent
from shoal.techniques.near_groups import near_groups

KINDS = {
    "round": {"kind": "round", "to": 5},
    "code": {"kind": "code", "persons": 100},
    "noise": {"kind": "noise", "share": 0.1},
    "swap": {"kind": "swap", "share": 0.05},
    "shuffle": {"kind": "shuffle"},
    "pram": {"kind": "pram", "keep": 0.9},
}
PEER = """
library(sdcMicro, lib.loc = "{library}")
set.seed(1)
number <- data.frame(x = rlnorm({rows}))
label <- data.frame(f = factor(sample(c("a", "b", "c"), {rows}, TRUE, c(.7, .2, .1))))
cpu <- function(work) {{ begun <- proc.time(); work; sum((proc.time() - begun)[1:2]) }}
cat("noise", cpu(addNoise(number, noise = 10)), "\\n")
cat("swap", cpu(rankSwap(number, variables = 1, P = 0.05, seed = 3, TopPercent = 0, BottomPercent = 0)), "\\n")
cat("pram", cpu(pram(label, variables = "f")), "\\n")
"""
RISKS = {3: (0.04556354916, 4.232293865), 5: (0.01798561151, 6.261935298), 10: (0.005995203837, 7.970987148)}


def table_of(rows):
    """Return ten columns of numbers and labels, and two quasi-identifiers."""
    rng = np.random.default_rng(0)
    columns = {"age": rng.integers(20, 90, rows), "sex": rng.integers(0, 2, rows)}
    for place in range(10):
        columns[f"x{place}"] = rng.lognormal(3, 1, rows).round(1) if place % 2 else rng.integers(1, 500, rows)
        columns[f"f{place}"] = rng.choice(np.array(["a", "b", "c"]), rows, p=[0.7, 0.2, 0.1])
    return shoal.read(columns)


def cpu(table, perturbed):
    """Return the CPU seconds of a release with some perturbed columns; the others are not released."""
    columns = {"age": {"role": "quasi"}, "sex": {"role": "quasi"}}
    for name, perturb in perturbed.items():
        columns[name] = {"role": "insensitive", **({"perturb": perturb} if perturb else {})}
    policy = shoal.Policy.model_validate(
        {
            "version": 1,
            "columns": columns,
            "require": [{"model": "k-anonymity", "k": 5}],
            "draw": {"key_variable": "SHOAL_BENCHMARK_KEY"},
        }
    )
    begun = time.process_time()
    shoal.anonymize(table, policy)
    return time.process_time() - begun


def peers(library, rows):
    """Return the CPU seconds of functions of sdcMicro."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "peer.R")
        script.write_text(PEER.format(library=library, rows=rows))
        lines = subprocess.run(["Rscript", str(script)], check=True, capture_output=True, text=True).stdout.splitlines()
    return {words[0]: float(words[1]) for line in lines if len(words := line.split()) == 2 and words[0] in KINDS}


def reference(path):
    """Print interval disclosure and eigenvalues after MDAV beside the figures of sdcMicro."""
    with path.open(encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(file)
    values = np.array(rows, float)
    points = (values - values.mean(0)) / values.std(0)
    before = {name: values[:, place].tolist() for place, name in enumerate(names)}
    for k, expected in RISKS.items():
        labels = near_groups(points, np.ones(len(points), np.uint32), k, "mdav", silent, refine=False)
        means = np.stack([np.bincount(labels, column) / np.bincount(labels) for column in values.T], 1)[labels]
        after = {name: means[:, place].tolist() for place, name in enumerate(names)}
        attack = IntervalDisclosure(spread="released")
        attacked = shoal.attack(before, after, quasi=names, in_order=True, attacks=[attack], targets=len(values))
        found = shoal.compare(before, after, quasi=names, in_order=True, qualities=["absolute-error", "eigenvalues"])
        risk, eigen = attacked.results[0].success.value, found.quality["eigenvalues"].total.value
        print(f"Tarragona, k = {k:2}: interval disclosure {risk:.10f} ({expected[0]:.10f}), "
              f"eigenvalues {eigen:.9f} ({expected[1]:.9f}), "
              f"absolute error {found.quality['absolute-error'].total.value:.10f}")  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--peer")
    parser.add_argument("--reference", type=Path)
    asked = parser.parse_args()
    os.environ.setdefault("SHOAL_BENCHMARK_KEY", "a key for the figures of a benchmark")
    table = table_of(asked.rows)
    cpu(table, {"x0": None})  # warms up
    theirs = peers(asked.peer, asked.rows) if asked.peer else {}
    print(f"{asked.rows:,} rows, CPU seconds for one column")
    for kind, perturb in KINDS.items():
        column = "f0" if kind == "pram" else "x1"
        seconds = cpu(table, {column: perturb}) - cpu(table, {column: None})
        print(f"{kind:8} {seconds:6.2f}" + (f"   sdcMicro {theirs[kind]:6.2f}" if kind in theirs else ""), flush=True)
    mixed = [*KINDS.values(), *KINDS.values()][:10]
    names = [f"f{place}" if perturb["kind"] == "pram" else f"x{place}" for place, perturb in enumerate(mixed)]
    without = cpu(table, dict.fromkeys(names))
    print(f"ten columns {cpu(table, dict(zip(names, mixed, strict=True))) - without:6.2f}, the rest {without:6.2f}")
    if asked.reference:
        reference(asked.reference / "Tarragona.csv")


if __name__ == "__main__":
    main()
