"""Encoding a CSV of a million rows and nine columns, beside ``polars.read_csv`` on the same file.

    python benchmarks/encode.py [--rows 1000000] [--repeat 5]

Each run is a process of its own; CPU seconds of all its threads, from after the imports. "peak" is the growth of
resident memory over the imports, "held" what the finished table keeps. Two files: ``census``, nine columns of
categories, and ``clinic``, where an identifier and a measurement are different in every row.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import numpy as np

WORKER = """
import json, sys, time
engine, path = sys.argv[1:]
if engine == "polars":
    import polars
    read = polars.read_csv
else:
    import shoal, shoal.table.formats.csv
    read = shoal.read
def peak():
    return 1024 * int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
import tempfile, pathlib
small = pathlib.Path(tempfile.mkdtemp()) / "small.csv"
small.write_text("a,b,c,d\\nx,1,2.5,2020-01-01\\n")
read(str(small))  # imports and thread pools are no part of reading
before, cpu, wall = peak(), time.process_time(), time.perf_counter()
table = read(path)
cpu, wall, grown = time.process_time() - cpu, time.perf_counter() - wall, peak() - before
if engine == "polars":
    held, cells = table.estimated_size(), table.height * table.width
else:
    held = sum(c.values.nbytes + table.codes(c.name).nbytes for c in table.columns)
    cells = table.records * len(table.columns)
print(json.dumps({"cpu": cpu, "wall": wall, "peak_bytes_per_cell": grown / cells, "held_bytes_per_cell": held / cells}))
"""


def census(rows: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    sizes = {
        "age": 72,
        "sex": 2,
        "race": 5,
        "marital": 7,
        "education": 16,
        "country": 41,
        "work": 7,
        "job": 14,
        "pay": 2,
    }
    columns = {}
    for name, size in sizes.items():
        weights = 1 / np.arange(1, size + 1)
        words = np.array([f"{name} category {number}" for number in range(size)])
        if name == "age":
            words = np.arange(17, 17 + size).astype(str)
        columns[name] = words[rng.choice(size, rows, p=weights / weights.sum())]
    return columns


def clinic(rows: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {
        "id": np.char.add("p", np.char.zfill(rng.permutation(rows).astype(str), 7)),
        "born": (np.datetime64("1930-01-01") + rng.integers(0, 30_000, rows)).astype(str),
        "postcode": np.char.zfill(rng.integers(0, 99_999, rows).astype(str), 5),
        "sex": rng.choice(["f", "m"], rows),
        "weight": np.round(rng.normal(75, 15, rows), 1).astype(str),
        "measurement": rng.normal(100, 20, rows).astype(str),
        "icd10": rng.choice([f"E11.{number}" for number in range(10)] + ["I10", "J45.9"], rows),
        "days": rng.integers(0, 100, rows).astype(str),
        "admitted": (np.datetime64("2023-01-01") + rng.integers(0, 900, rows)).astype(str),
    }


def write(path: Path, columns: dict[str, np.ndarray]) -> None:
    with path.open("w") as file:
        file.write(",".join(columns) + "\n")
        file.writelines(",".join(row) + "\n" for row in zip(*columns.values(), strict=True))


def measure(engine: str, path: Path) -> dict[str, float]:
    done = subprocess.run([sys.executable, "-c", WORKER, engine, str(path)], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    result: dict[str, object] = {"rows": options.rows, "repeat": options.repeat, "load": os.getloadavg()[0]}
    with tempfile.TemporaryDirectory() as folder:
        for make in (census, clinic):
            path = Path(folder) / f"{make.__name__}.csv"
            write(path, make(options.rows, np.random.default_rng(1)))
            runs = {"polars": [], "shoal": []}
            for _ in range(options.repeat):  # in turns: the machine's mood is the same for both
                for engine, taken in runs.items():
                    taken.append(measure(engine, path))
            medians = {
                engine: {key: round(median(run[key] for run in taken), 3) for key in taken[0]}
                for engine, taken in runs.items()
            }
            ratio = round(medians["shoal"]["cpu"] / medians["polars"]["cpu"], 2)
            result[make.__name__] = {**medians, "cpu_ratio": ratio}
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
