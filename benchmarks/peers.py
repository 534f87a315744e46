"""Kroes' Figure 2 from CSV: every person, every variable, all combinations; then wider tables.

    python benchmarks/peers.py FOLDER [--wide]

FOLDER holds adult.csv and diabetes.csv as the paper used them. CPU seconds of one core from the file to the last PPP,
start of the process and imports excluded; then the counting alone, with one and with two threads, in wall seconds.
"""

import argparse
import json
import os
import resource
import time
from pathlib import Path
from statistics import median

import numpy as np

import shoal
from shoal.individuals.protection import weakest
from shoal.kernels.subsets import subset_counts
from shoal.subsets import SubsetCounts, subsets_of


def figure_2(path: Path) -> dict[str, float]:
    """Return the mean of the smallest PPP of every variable."""
    table = shoal.read(path)
    counted = SubsetCounts.of(table, table.names)
    every, weights = (1 << len(table.names)) - 1, counted.rows.weights
    means = {}
    for variable, name in enumerate(table.names):
        least = weakest(counted, variable, list(subsets_of(every ^ 1 << variable)))
        means[name] = float((least.ppp().floats() * weights).sum() / weights.sum())
    return means


def counting(path: Path, threads: int) -> float:
    rows = SubsetCounts.of(table := shoal.read(path), table.names, budget=0).rows
    begin = time.perf_counter()
    subset_counts(rows, threads)
    return time.perf_counter() - begin


def correlated(rows: int, columns: int) -> list[np.ndarray]:
    """Return columns that depend on four hidden traits, as those of a hospital do."""
    rng = np.random.default_rng(1)
    hidden = rng.normal(size=(rows, 4))
    noisy = [1.5 * hidden[:, place % 4] + rng.normal(size=rows) + 5 for place in range(columns)]
    return [np.clip(values, 0, 10).astype(np.uint8) // (1 + place % 3) for place, values in enumerate(noisy)]


def wide(rows: int, columns: int, seconds: float) -> dict[str, object]:
    """Measure everything that ``shoal.peers`` tells, not the smallest PPP alone."""
    table = shoal.read({f"c{place}": cells for place, cells in enumerate(correlated(rows, columns))})
    wall, cpu = time.perf_counter(), time.process_time()
    people = shoal.peers(table, seconds=seconds)
    return {
        "way": people.plan.way,
        "wall": round(time.perf_counter() - wall, 1),
        "cpu": round(time.process_time() - cpu, 1),
        "finished": not people.stopped(),
        "distinct": len(people.counted.rows),
        "peak_megabytes_so_far": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--wide", action="store_true")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    shoal.peers({"a": [1, 2], "b": [1, 1]})  # imports
    result: dict[str, object] = {"load": os.getloadavg()[0]}
    total = 0.0
    for name in ("adult", "diabetes"):
        path, times = options.folder / f"{name}.csv", []
        for _ in range(options.repeat):
            begin = time.process_time()
            means = figure_2(path)
            times.append(time.process_time() - begin)
        total += median(times)
        one, two = (median(counting(path, threads) for _ in range(options.repeat)) for threads in (1, 2))
        result[name] = {
            "cpu": round(median(times), 3),
            "counting_wall": [round(one, 3), round(two, 3)],
            "two_threads_faster": round(one / two, 2),
            "mean_ppp": {variable: round(mean, 4) for variable, mean in means.items()},
        }
    result["figure_2_cpu"] = round(total, 3)
    if options.wide:
        sizes = ((5_000, 32, 600), (100_000, 16, 600), (100_000, 12, 600))
        result["wide"] = {f"{rows} x {columns}": wide(rows, columns, seconds) for rows, columns, seconds in sizes}
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
