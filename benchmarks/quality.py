"""All measures of quality that read counts, on releases of Adult and of an Adult-like table of a million rows.

    python benchmarks/quality.py FOLDER [--rows 1000000] [--lattice ORACLE.npz]

FOLDER: adult.csv and its hierarchies, as ARX ships them. A release is made with the scheme that is best for k = 5 and
2 % suppression, as a table of texts; then it is compared with its original as if a stranger had made it: records
matched, texts placed, all measures taken. CPU seconds from two tables in memory, made anew in each repetition.
``--lattice``: check loss, entropy and discernibility of every scheme of the lattice against reference values.
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
from shoal.analyses.comparison import measured_qualities
from shoal.engines.memory import MemoryEngine
from shoal.hierarchy.explicit import Explicit
from shoal.hierarchy.spec import bind
from shoal.kernels.grouping import group_rows
from shoal.qualities.quality import QUALITIES
from shoal.recoding.matching import match
from shoal.recoding.of_tables import relate
from shoal.recoding.recoding import Recoding
from shoal.table.table import Table

NAMES = "sex age race marital-status education native-country workclass occupation salary-class".split()
SCHEME = dict(zip(NAMES, (0, 3, 0, 2, 2, 1, 1, 2, 0), strict=True))
K = 5


def ladders(table, folder):
    file = "adult_hierarchy_{}.csv"
    return {
        name: bind(Explicit(file=str(folder / file.format(name)), check_labels=False), table, name) for name in NAMES
    }


def enlarged(table, rows):
    """Return codes like Adult's: random records in which each cell is, with p = 0.25, that of another record."""
    rng = np.random.default_rng(20240901)
    base = rng.integers(0, table.records, rows)
    codes = {}
    for name in table.names:
        other = rng.random(rows) < 0.25
        chosen = base.copy()
        chosen[other] = rng.integers(0, table.records, int(other.sum()))
        codes[name] = table.codes(name)[chosen]
    return codes


def of_codes(columns, codes, rows):
    return Table(columns, MemoryEngine(codes, {column.name: column.size for column in columns}, rows))


def small_classes(hierarchies, scheme, codes, counts, rows):
    """Tell which rows are in classes below k."""
    nodes = [hierarchies[name].nodes(level)[codes[place]] for place, (name, level) in enumerate(scheme.items())]
    sizes = [len(hierarchies[name].levels[level]) for name, level in scheme.items()]
    groups = group_rows(nodes, sizes, rows)
    return np.bincount(groups.ids, counts)[groups.ids]


def released(table, hierarchies):
    """Return the release as a table of texts; suppressed records show *."""
    codes = [table.codes(name) for name in SCHEME]
    hidden = small_classes(hierarchies, SCHEME, codes, None, table.records) < K
    frame = {}
    for name, level in SCHEME.items():
        texts = hierarchies[name].labels(level).to_numpy(zero_copy_only=False)[table.codes(name)]
        frame[name] = np.where(hidden, "*", texts)
    return shoal.read(frame, suppressed="*")


def fresh(table):
    return of_codes(table.columns, {name: table.codes(name) for name in table.names}, table.records)


def cost(table, hierarchies, repeat):
    release = released(table, hierarchies)
    times = {"match": [], "place": [], "measure": [], "all": []}
    for _ in range(repeat):
        before, after = fresh(table), fresh(release)
        marks = [time.process_time()]
        matched = match(before, after)
        marks.append(time.process_time())
        related = relate(before, after, NAMES, NAMES, matched, hierarchies)
        marks.append(time.process_time())
        found, _ = measured_qualities(related.recoding)
        marks.append(time.process_time())
        for part, seconds in zip(times, [*np.diff(marks), marks[-1] - marks[0]], strict=True):
            times[part].append(seconds)
    single = {}
    for name in found:
        begin = time.process_time()
        QUALITIES[name]().measure(related.recoding)
        single[name] = round((time.process_time() - begin) * 1000, 2)
    return {
        "rows": table.records,
        "distinct": len(table.distinct(NAMES)),
        "measures": len(found),
        "cpu_seconds": {part: round(median(seconds), 4) for part, seconds in times.items()},
        "milliseconds_once_counted": single,
        "peak_gib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
    }


def lattice(table, hierarchies, path):
    """Compare every scheme × k with reference values."""
    oracle, rows = np.load(path), table.distinct(NAMES)
    worst = dict.fromkeys(("loss", "nue", "dm"), 0.0)
    begin = time.process_time()
    for at, levels in enumerate(oracle["levels"].tolist()):
        scheme = dict(zip(NAMES, levels, strict=True))
        sizes = small_classes(hierarchies, scheme, rows.codes, rows.counts, len(rows))
        for k in (2, 5, 10, 100):
            recoding = Recoding.of_scheme(table, hierarchies, scheme, sizes < k, rows)
            for key, name in (("loss", "loss"), ("nue", "nue"), ("dm", "discernibility")):
                value, wanted = QUALITIES[name]().measure(recoding).total.value, oracle[f"{key}_{k}"][at]
                worst[key] = max(worst[key], abs(value - wanted) / max(abs(wanted), 1.0))
    return {
        "recodings": 4 * len(oracle["levels"]),
        "largest_relative_difference": worst,
        "cpu_seconds": round(time.process_time() - begin, 1),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--lattice", type=Path)
    given = parser.parse_args()
    table = shoal.read(given.folder / "adult.csv")
    hierarchies = ladders(table, given.folder)
    found = {"load": os.getloadavg()[0], "adult": cost(table, hierarchies, given.repeat)}
    large = of_codes(table.columns, enlarged(table, given.rows), given.rows)
    found["large"] = cost(large, hierarchies, given.repeat)
    if given.lattice:
        found["lattice"] = lattice(table, hierarchies, given.lattice)
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
