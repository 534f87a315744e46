"""All measures that pyCANON has, beside pyCANON, on Adult; then how the time grows with rows and distinct rows.

    python benchmarks/measure.py ADULT.csv [--peer] [--rows 10000000]

ADULT.csv: the 30,162 records of Adult that ARX ships, separated by semicolons. ``--peer`` makes a virtual environment
for pyCANON and runs it as well, for some minutes. CPU seconds, a fresh table in each repetition.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np

SENSITIVE = "occupation"
MODELS = [
    "k-anonymity",
    "l-diversity",
    "entropy-l-diversity",
    "recursive-l-diversity",
    "t-closeness",
    "basic-beta-likeness",
    "enhanced-beta-likeness",
    "delta-disclosure",
    "alpha-k-anonymity",
]
PEER = """
import json, sys, time
import pandas as pd
from pycanon import anonymity
frame = pd.read_csv(sys.argv[1], sep=";")
quasi = [name for name in frame.columns if name != "occupation"]
for name in sys.argv[2:]:
    function = getattr(anonymity, name)
    begin = time.process_time()
    value = function(frame, quasi) if name == "k_anonymity" else function(frame, quasi, ["occupation"])
    print(json.dumps({"name": name, "cpu": time.process_time() - begin, "value": str(value)}), flush=True)
"""
PEER_NAMES = ["k_anonymity", "l_diversity", "recursive_c_l_diversity", "entropy_l_diversity", "basic_beta_likeness",
              "t_closeness", "enhanced_beta_likeness", "delta_disclosure", "alpha_k_anonymity"]  # fmt: skip


def timed(action, repeat):
    times = []
    for _ in range(repeat):
        begin = time.process_time()
        result = action()
        times.append(time.process_time() - begin)
    return median(times), result


def ours(path, repeat):
    """Nine measures from a pandas frame, all included."""
    import pandas as pd

    import shoal

    frame = pd.read_csv(path, sep=";")
    quasi = [name for name in frame.columns if name != SENSITIVE]

    def measure():
        return shoal.measures(frame, quasi=quasi, sensitive=[SENSITIVE], models=MODELS)

    measure()  # imports
    seconds, values = timed(measure, repeat)
    return {"cpu": seconds, "values": values}


def peer(path, seconds):
    """Run pyCANON in an environment of its own; what it does not finish in time is left out."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = str(Path(folder) / "bin" / "python")
        subprocess.run([python, "-m", "pip", "install", "-q", "pycanon"], check=True)
        run = subprocess.Popen(
            [python, "-W", "ignore", "-c", PEER, str(path), *PEER_NAMES], stdout=subprocess.PIPE, text=True
        )
        try:
            out, _ = run.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            run.kill()
            out, _ = run.communicate()
    return [json.loads(line) for line in out.splitlines()]


def enlarged(table, rows):
    """Return codes like Adult's: random records in which each cell is, with p = 0.25, that of another record."""
    rng = np.random.default_rng(20240901)
    base = rng.integers(0, table.records, rows)
    codes = {}
    for name in table.names:
        column = table.codes(name)
        other = rng.random(rows) < 0.25
        chosen = base.copy()
        chosen[other] = rng.integers(0, table.records, int(other.sum()))
        codes[name] = column[chosen]
    return codes


def from_codes(table, codes, rows):
    """Return what measures nine models on a table of codes, made anew each time."""
    import shoal
    from shoal.engines.memory import MemoryEngine
    from shoal.table.table import Table

    sizes = {column.name: column.size for column in table.columns}
    quasi = [name for name in table.names if name != SENSITIVE]

    def measure():
        fresh = Table(table.columns, MemoryEngine(codes, sizes, rows))
        return shoal.measures(fresh, quasi=quasi, sensitive=[SENSITIVE], models=MODELS)

    return measure


def growth(path, repeat, largest):
    import shoal

    table = shoal.read(path)
    found = {}
    for rows in (table.records, 1_000_000, largest):
        codes = {name: table.codes(name) for name in table.names} if rows == table.records else enlarged(table, rows)
        measure = from_codes(table, codes, rows)
        seconds, _ = timed(measure, repeat if rows <= 1_000_000 else 1)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        found[rows] = {"cpu": round(seconds, 4), "peak_gib": round(peak, 2)}
        if rows <= 1_000_000:
            found[rows]["distinct"] = len(Distinct(table, codes, rows))
    return found


class Distinct:
    """The number of distinct rows of some codes."""

    def __init__(self, table, codes, rows):
        from shoal.kernels.grouping import group_rows

        sizes = [column.size for column in table.columns]
        self._count = len(group_rows([codes[name] for name in table.names], sizes, rows))

    def __len__(self):
        return self._count


def shapes(repeat):
    """Tables that are hard in one way each, and four times as large: how much longer does it take?"""
    import shoal

    rng = np.random.default_rng(3)
    made = {
        "100 columns": lambda rows: {f"q{place}": rng.integers(0, 9, rows) for place in range(100)},
        "a category per row": lambda rows: {"q": rng.permutation(rows)},
        "one class": lambda rows: {"q": np.zeros(rows, int)},
        "all unique": lambda rows: {"q": np.arange(rows) // 1000, "r": np.arange(rows) % 1000},
    }
    found = {}
    for name, make in made.items():
        seconds = []
        for rows in (250_000, 1_000_000):
            table = shoal.read({**make(rows), "s": rng.integers(0, 9, rows)})
            quasi = [column for column in table.names if column != "s"]
            options = {"quasi": quasi, "sensitive": ["s"], "models": MODELS}
            seconds.append(timed(lambda: shoal.measures(table, **options), min(repeat, 3))[0])  # noqa: B023
        found[name] = {"cpu": round(seconds[-1], 3), "times_for_four_times_the_rows": round(seconds[1] / seconds[0], 1)}
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("adult", type=Path)
    parser.add_argument("--peer", action="store_true")
    parser.add_argument("--peer-seconds", type=int, default=900)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeat", type=int, default=7)
    options = parser.parse_args()
    result = {"load": os.getloadavg()[0], "adult_from_frame": ours(options.adult, options.repeat)}
    result["from_codes"] = growth(options.adult, options.repeat, options.rows)
    small, large = list(result["from_codes"].values())[:2]
    result["growth_to_a_million"] = round(large["cpu"] / small["cpu"], 1)
    result["shapes"] = shapes(options.repeat)
    if options.peer:
        found = peer(options.adult, options.peer_seconds)
        total = sum(one["cpu"] for one in found)
        result["pycanon"] = found
        result["times_less_than_pycanon"] = round(total / result["adult_from_frame"]["cpu"])
    print(json.dumps(result, indent=2, default=str))


if __name__ == "__main__":
    main()
