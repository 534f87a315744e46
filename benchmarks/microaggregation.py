"""Information loss of microaggregation on the reference sets, beside anonypyx; then how the time grows with records.

    python benchmarks/microaggregation.py FOLDER [--peer] [--rows 1000000]

FOLDER: CASCrefmicrodata.csv (Census) and EIA.csv of the CASC project. Loss: 100 times the sum of squared distances
within groups as a share of that of all records, standardised. ``--peer`` makes a virtual environment for anonypyx and
runs its MDAV on Census and on the first rows of the large table. CPU seconds of all threads, one run each, in one
process; the large table has lognormal columns, two of which depend on others.
"""

import argparse
import csv
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from shoal.progress import silent
from shoal.techniques.near_groups import near_groups
from shoal.techniques.squares import sum_of_squares

SIZES = (3, 4, 5, 6, 10)
FILES = {"Census": "CASCrefmicrodata.csv", "EIA": "EIA.csv"}
LOST = {"UTILNAME", "STATE", "YEAR", "MONTH"}  # the literature uses the other eleven columns of EIA
K, PEER_ROWS = 5, 2_000
PEER = """
import json, sys, time
import numpy as np, pandas as pd
from anonypyx.microaggregation import MDAVGeneric
for path in sys.argv[2:]:
    frame = pd.DataFrame(np.load(path)).astype(float)
    frame.columns = [f"c{place}" for place in frame.columns]
    begun = time.process_time()
    groups = MDAVGeneric(frame, list(frame.columns)).partition(int(sys.argv[1]))
    print(json.dumps({"seconds": time.process_time() - begun, "groups": [list(map(int, group)) for group in groups]}))
"""


def standardised(values):
    return np.ascontiguousarray((values - values.mean(axis=0)) / values.std(axis=0))


def reference(folder, name):
    with (folder / FILES[name]).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    cells = [[row[column] for column in rows[0] if column not in LOST] for row in rows]
    return standardised(np.array(cells, float))


def lognormal(rows):
    rng = np.random.default_rng(1)
    values = rng.lognormal(size=(rows, 6))
    values[:, 1] += values[:, 0]
    values[:, 3] += values[:, 2] / 2
    return standardised(values)


def loss(points, labels):
    ones = np.ones(len(points), np.uint32)
    return 100 * sum_of_squares(points, ones, labels) / sum_of_squares(points, ones, np.zeros(len(points), np.uint32))


def grouped(points, k, method, *, refine):
    """Return the loss of the groups, the CPU seconds and the peak memory in MiB."""
    begun = time.process_time()
    labels = near_groups(points, np.ones(len(points), np.uint32), k, method, silent, refine=refine)
    seconds = time.process_time() - begun
    return loss(points, labels), seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def peer(python, folder, tables):
    """Yield the loss and the CPU seconds of anonypyx for each table."""
    paths = []
    for number, points in enumerate(tables):
        paths.append(folder / f"{number}.npy")
        np.save(paths[-1], points)
    run = subprocess.run([python, "-c", PEER, str(K), *map(str, paths)], check=True, capture_output=True, text=True)
    for points, line in zip(tables, run.stdout.splitlines(), strict=True):
        result = json.loads(line)
        labels = np.zeros(len(points), np.uint32)
        for group, members in enumerate(result["groups"]):
            labels[members] = group
        yield loss(points, labels), result["seconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--peer", action="store_true")
    parser.add_argument("--rows", type=int, default=1_000_000)
    asked = parser.parse_args()
    print("table    k   MDAV loss      s   default loss      s")
    for name in FILES:
        points = reference(asked.folder, name)
        for k in SIZES:
            first, best = grouped(points, k, "mdav", refine=False), grouped(points, k, None, refine=True)
            print(f"{name:7} {k:2}  {first[0]:10.6f} {first[1]:6.2f} {best[0]:14.4f} {best[1]:6.2f}", flush=True)
    if asked.peer:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, "-m", "venv", f"{folder}/venv"], check=True)
            subprocess.run([f"{folder}/venv/bin/pip", "install", "-qq", "anonypyx"], check=True)
            tables = {"Census": reference(asked.folder, "Census"), f"{PEER_ROWS} rows": lognormal(PEER_ROWS)}
            results = peer(f"{folder}/venv/bin/python", Path(folder), [*tables.values()])
            for (name, points), theirs in zip(tables.items(), results, strict=True):
                ours = grouped(points, K, "mdav", refine=False)
                print(
                    f"{name}, k = {K}: anonypyx {theirs[0]:.6f} {theirs[1]:.2f} s, MDAV {ours[0]:.6f} {ours[1]:.4f} s"
                )
    print("rows        exchange     loss       s   MiB")
    rows = 1_000
    while rows <= asked.rows:
        points = lognormal(rows)
        for refine in (False, True):
            result = grouped(points, K, None if refine else "mdav", refine=refine)
            print(f"{rows:9,}  {refine!s:8}  {result[0]:8.4f} {result[1]:7.2f} {result[2]:5}", flush=True)
        rows *= 10


if __name__ == "__main__":
    main()
