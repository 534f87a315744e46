"""Search, frontier and release on Adult and on an Adult-like table of a million rows, in CPU seconds.

    python benchmarks/anonymize.py FOLDER [--rows 1000000] [--repeat 7]

FOLDER: adult.csv and its hierarchies, as ARX ships them. A search begins with the encoded table: everything after that
is made anew in each repetition. The lowest of some repetitions is printed beside the median, for machines are noisy.
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

import shoal
from shoal.demo import hospital
from shoal.engines.memory import MemoryEngine
from shoal.hierarchy.explicit import Explicit
from shoal.hierarchy.spec import bind
from shoal.models.evidence import Gatherer
from shoal.models.model import MODELS
from shoal.qualities.quality import QUALITIES
from shoal.search.frontier import frontier
from shoal.search.goal import Goal
from shoal.search.space import Space
from shoal.table.table import Table
from shoal.techniques.mondrian import Mondrian

NAMES = "sex age race marital-status education native-country workclass occupation salary-class".split()
FILE = "adult_hierarchy_{}.csv"


def ladders(table, folder):
    return {
        name: bind(Explicit(file=str(folder / FILE.format(name)), check_labels=False), table, name) for name in NAMES
    }


def enlarged(table, rows):
    """Return a table like Adult: random records in which each cell is, with p = 0.25, that of another record."""
    rng = np.random.default_rng(20240901)
    base, codes = rng.integers(0, table.records, rows), {}
    for name in table.names:
        other = rng.random(rows) < 0.25
        chosen = base.copy()
        chosen[other] = rng.integers(0, table.records, int(other.sum()))
        codes[name] = table.codes(name)[chosen]
    return made_of(codes, table.columns, rows)


def made_of(codes, columns, rows):
    return Table(columns, MemoryEngine(codes, {column.name: column.size for column in columns}, rows))


def goal(table, hierarchies, models, quality, limit, *, sensitive=(), threads=1, columns=9):  # noqa: PLR0913
    quasi = [name for name in NAMES[:columns] if name not in sensitive]
    fresh = made_of(
        {name: table.codes(name) for name in table.names}, table.columns, table.records
    )  # remembers nothing
    table = fresh.assign(quasi=quasi, sensitive=list(sensitive))
    space = Space.of(table, quasi, hierarchies)
    gatherer = Gatherer(table, hierarchies=hierarchies)
    kind = QUALITIES[quality]()
    return Goal(space, gatherer, tuple(models), kind, int(limit * table.records), threads=threads)


def timed(work, repeat):
    cpu, wall = [], []
    for _ in range(repeat):
        begun, clock = time.process_time(), time.perf_counter()
        found = work()
        cpu.append(time.process_time() - begun)
        wall.append(time.perf_counter() - clock)
    figures = {"cpu_min": round(min(cpu), 4), "cpu_median": round(median(cpu), 4), "wall_min": round(min(wall), 4)}
    return figures, found


def searches(table, hierarchies, repeat):
    found = {}
    for quality in ("loss", "nue"):
        for limit in (0.0, 0.02, 1.0):
            figures, outcome = timed(
                lambda q=quality, s=limit: goal(table, hierarchies, [MODELS["k-anonymity"](k=5)], q, s).optimum(),
                repeat,
            )
            found[f"{quality} {limit:g}"] = {**figures, "evaluated": outcome.evaluated}
    return found


def complete(table, hierarchies, models, sensitive, threads, repeat):  # noqa: PLR0913, PLR0917
    """Look at every scheme: k = 5, loss."""
    figures, _ = timed(
        lambda: frontier(
            goal(table, hierarchies, models, "loss", 1.0, sensitive=sensitive, threads=threads), [5], [1.0]
        ),
        repeat,
    )
    return figures


def cut(table, hierarchies, repeat, columns=9):
    """Mondrian, k = 5, from the encoded table to what every row shows."""
    mondrian = Mondrian(cuts="anywhere")
    figures, found = timed(
        lambda: mondrian.treat(goal(table, hierarchies, [MODELS["k-anonymity"](k=5)], "loss", 0, columns=columns)),
        repeat,
    )
    return {**figures, "distinct": len(found.rows)}


WIDE = """
version = 1
[columns]
birth_date = { role = "quasi", hierarchy = { kind = "date", units = ["month", "year", "decade"], earliest = 1936 } }
postcode = { role = "quasi", hierarchy = { kind = "prefix", keep = [3, 2, 1], length = 5 } }
ethnicity = { role = "quasi", hierarchy = { kind = "frequency", keep = [1] } }
occupation = { role = "quasi", hierarchy = { kind = "frequency", keep = [20, 5, 2] } }
edss = { role = "quasi", hierarchy = { kind = "interval", widths = [1, 5] } }
height = { role = "quasi", hierarchy = { kind = "interval", widths = [5, 10, 20] } }
weight = { role = "quasi", hierarchy = { kind = "interval", widths = [5, 10, 20] } }
bmi = { role = "quasi", hierarchy = { kind = "interval", widths = [1, 5, 10] } }
ms_diagnosis_year = { role = "quasi", hierarchy = { kind = "interval", widths = [5, 10] } }
"""
PLAIN = "sex marital_status insurance hypertension diabetes copd heart_failure kidney_disease depression"
RARE = "rare_disease ms_type"


def wide(seconds):
    """Twenty quasi-identifiers of the demo hospital: the best scheme and the proved gap after some seconds."""
    policy = shoal.Policy.parse(WIDE + "\n".join(f'{name} = "quasi"' for name in f"{PLAIN} {RARE}".split()))
    table = policy.apply(shoal.read(hospital().patients))
    hierarchies = policy.hierarchies(table)
    space = Space.of(table, table.quasi, hierarchies)
    found = {"schemes": len(space)}
    for limit in seconds:
        gatherer = Gatherer(table, hierarchies=hierarchies)
        models = (MODELS["k-anonymity"](k=5),)
        sought = Goal(space, gatherer, models, QUALITIES["loss"](), int(0.02 * table.records))
        clock = time.perf_counter()
        outcome = sought.optimum(seconds=limit)
        found[f"{limit:g} s"] = {
            "loss": round(outcome.best.price, 4),
            "gap": round(outcome.gap, 4),
            "evaluated": outcome.evaluated,
            "wall": round(time.perf_counter() - clock, 1),
        }
    treated = Mondrian().treat(sought)
    found["loss of mondrian"] = round(QUALITIES["loss"]().measure(treated.recoding()).total.cost, 4)
    return found


def released(folder):
    """From the start of a process to the written and verified release."""
    kind = 'kind = "explicit", separator = ";", check_labels = false'
    files = {name: f'file = "{folder / FILE.format(name)}"' for name in NAMES}
    lines = [f'{name} = {{ role = "quasi", hierarchy = {{ {kind}, {files[name]} }} }}' for name in NAMES]
    text = "\n".join(["version = 1", "[columns]", *lines, '[[require]]\nmodel = "k-anonymity"\nk = 5'])
    with tempfile.TemporaryDirectory() as place:
        policy = Path(place) / "policy.toml"
        policy.write_text(text)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = ["-m", "shoal", "anonymize", str(folder / "adult.csv"), "-p", str(policy), "-o", f"{place}/out.csv"]
        subprocess.run([sys.executable, *command], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 3)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=7)
    given = parser.parse_args()
    folder = given.folder.resolve()
    adult = shoal.read(folder / "adult.csv")
    hierarchies = ladders(adult, folder)
    few = max(given.repeat // 3, 1)
    attribute = {
        "k alone": [],
        "l-diversity": [MODELS["l-diversity"](l=2, column="occupation")],
        "t-closeness": [MODELS["t-closeness"](t=0.2, column="occupation")],
        "basic-beta-likeness": [MODELS["basic-beta-likeness"](beta=1, column="occupation")],
    }
    result = {
        "load": os.getloadavg()[0],
        "search": searches(adult, hierarchies, given.repeat),
        "complete lattice, 1 thread": complete(adult, hierarchies, [], (), 1, few),
        "complete lattice, 2 threads": complete(adult, hierarchies, [], (), 2, few),
        "frontier, 1 thread": timed(lambda: frontier(goal(adult, hierarchies, [], "loss", 1.0)), few)[0],
        "occupation sensitive": {
            name: complete(adult, hierarchies, models, ("occupation",), 1, few) for name, models in attribute.items()
        },
        "mondrian": cut(adult, hierarchies, few),
        "release, process start to end": min(released(folder) for _ in range(few)),
    }
    curve = {}
    for rows in (30_000, 100_000, 300_000, given.rows):
        large = enlarged(adult, rows)
        figures, outcome = timed(
            lambda t=large: goal(t, hierarchies, [MODELS["k-anonymity"](k=5)], "loss", 0.02).optimum(), few
        )
        curve[rows] = {**figures, "distinct": len(large.distinct(NAMES)), "evaluated": outcome.evaluated}
    result["growing"] = curve
    result["frontier of the largest, 2 threads"] = timed(
        lambda: frontier(goal(large, hierarchies, [], "loss", 1.0, threads=2)), 1
    )[0]
    result["mondrian of the largest, 8 columns"] = cut(large, hierarchies, few, columns=8)
    result["twenty quasi-identifiers, 2 threads"] = wide((1, 10, 60))
    result["peak_gib"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2)
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
