"""Identification: a wide table of a million rows, and the first stage of Menten 2024 against a loop like its script's.

    python benchmarks/identify.py [--rows 1000000] [--columns 50]

Prints CPU and wall seconds. The loop looks at one cell after another with ``iloc``, as the script of the thesis does.
"""

import argparse
import json
import os
import resource
import time
from collections import Counter

import numpy as np
import pandas as pd

import shoal
from shoal.identification.g_distinct import g_distinct


def timed(work):
    cpu, wall = time.process_time(), time.perf_counter()
    found = work()
    return {"cpu": round(time.process_time() - cpu, 4), "wall": round(time.perf_counter() - wall, 4)}, found


def wide(rows, columns):
    """Return a table as registries have them: categories, dates, codes, numbers, some identifiers."""
    rng = np.random.default_rng(1)
    held = {"patient_id": [f"P{number:08d}" for number in rng.permutation(rows)]}
    kinds = (
        lambda: rng.integers(0, 2, rows),
        lambda: (rng.random(rows) ** 2 * rng.integers(5, 90)).astype(int),
        lambda: rng.normal(100, 20, rows).round(1),
        lambda: np.datetime64("2015-01-01") + rng.integers(0, 3000, rows),
        lambda: np.array([f"C{code:03d}" for code in range(300)])[(rng.random(rows) ** 3 * 300).astype(int)],
    )
    while len(held) < columns:
        held[f"x{len(held)}"] = kinds[len(held) % len(kinds)]()
    return pd.DataFrame(held)


def looped(frame):
    """Rate columns cell by cell."""
    rates = {}
    for column in range(frame.shape[1]):
        counts, degrees = Counter(frame.iloc[:, column]), {}
        for row in range(frame.shape[0]):
            value = frame.iloc[row, column]
            if value not in degrees:
                degrees[value] = 1 / counts[value]
        rates[frame.columns[column]] = round(float(np.mean(list(degrees.values()))) * 100, 2)
    return rates


def first_stage(rows=50_000, columns=16):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {f"c{size}": rng.integers(0, size, rows) for size in np.geomspace(2, 5000, columns).astype(int)}
    )
    theirs, expected = timed(lambda: looped(frame))
    table = shoal.read(frame)
    ours, found = timed(lambda: g_distinct(table))
    reading, _ = timed(lambda: g_distinct(shoal.read(frame)))
    assert {rate.name: round(rate.rate, 2) for rate in found.rates} == expected
    return {
        "rows": rows,
        "columns": frame.shape[1],
        "loop": theirs,
        "shoal": ours,
        "shoal with reading": reading,
        "times faster, from the encoded table": round(theirs["cpu"] / ours["cpu"]),
        "times faster, from the frame": round(theirs["cpu"] / reading["cpu"]),
        "pandas": pd.__version__,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=50)
    given = parser.parse_args()
    frame = wide(given.rows, given.columns)
    reading, table = timed(lambda: shoal.read(frame))
    identifying, found = timed(lambda: shoal.identify(table))
    parts = found.contribution
    result = {
        "load": os.getloadavg()[0],
        "rows": given.rows,
        "columns": given.columns,
        "reading": reading,
        "identifying": identifying,
        "orders drawn": parts.orders,
        "largest standard error": round(max(parts.errors.values()), 5),
        "first stage": first_stage(),
        "peak_gib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
