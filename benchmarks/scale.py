"""Tables of 1, 10 and 100 million rows: assess and anonymize, beside a plain ``GROUP BY`` of the same columns.

    python benchmarks/scale.py [--rows 1e6 1e7 1e8] [--engines disk duckdb spark] [--folder FOLDER] [--spread 3 2]

The files are made once: nine columns as in a census, drawn independently from skewed distributions, so that different
combinations go on growing with the rows. ``--spread``: how skewed; 3 gives about 380,000 combinations in 100 million
rows, 2 about 6 million. The plain query is Spark's for Spark, with the same session, and DuckDB's for all others. Each
run is a process of its own: CPU seconds of all threads and of its children (which is Spark's virtual machine), wall
time with all that has to be started, peak of resident memory, of the process and of its largest child.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

SIZES = {
    "age": 74,
    "sex": 2,
    "race": 5,
    "marital": 7,
    "education": 16,
    "country": 41,
    "workclass": 7,
    "occupation": 14,
    "region": 50,
}

WORKER = """
import json, os, resource, sys, time
task, path, engine = sys.argv[1:]
start, wall = os.times(), time.perf_counter()
names = {names}
if task == "group by" and engine == "spark":
    from shoal.engines.spark import session
    found = session().read.parquet(path).groupBy(*names).count().toArrow().num_rows
elif task == "group by":
    import duckdb
    found = duckdb.connect().sql(f"SELECT *, count(*) AS n FROM '{{path}}' GROUP BY ALL").to_arrow_table().num_rows
else:
    import shoal
    table = shoal.read(path, engine=engine)
    if task == "assess":
        shoal.assess(table, quasi=names)
        found = len(table.distinct(names))
    else:
        quasi = 'role = "quasi", hierarchy = {{ kind = "suppression" }}'
        lines = [name + " = {{ " + quasi + " }}" for name in names[1:]]
        policy = shoal.Policy.parse("\\n".join([
            "version = 1", "[columns]", *lines,
            'age = {{ role = "quasi", hierarchy = {{ kind = "interval", widths = [5, 10, 20, 40] }} }}',
            "[[require]]", 'model = "k-anonymity"', "k = 5", "[search]", "suppression = 0.05",
        ]))
        release = shoal.anonymize(table, policy)
        release.save(path + ".release.parquet", force=True)
        found = release.table.records
wall = time.perf_counter() - wall
if engine == "spark":  # what a child has used is known when it has ended
    from pyspark import SparkContext
    gateway = SparkContext._gateway
    SparkContext._active_spark_context.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()
end = os.times()
cpu = sum(end[:4]) - sum(start[:4])
peaks = [resource.getrusage(who).ru_maxrss * 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(json.dumps([found, cpu, wall, *peaks]))
"""


def made(folder: Path, rows: int, spread: float) -> Path:
    """Return the file, which is made if it is not there."""
    path = folder / f"census-{rows}-{spread:g}.parquet"
    if path.exists():
        return path
    rng = np.random.default_rng(7)
    columns = {}
    for name, size in SIZES.items():
        chances = 1 / np.arange(1, size + 1) ** spread
        values = (
            pa.array(np.arange(17, 17 + size)) if name == "age" else pa.array([f"{name} {n:02d}" for n in range(size)])
        )
        columns[name] = np.cumsum(chances / chances.sum()), values
    schema = pa.schema([(name, values.type) for name, (_, values) in columns.items()])
    beside = path.with_suffix(".partial")
    with pq.ParquetWriter(beside, schema, compression="zstd") as writer:
        for start in range(0, rows, 1 << 20):
            number = min(1 << 20, rows - start)
            arrays = [
                values.take(pa.array(np.searchsorted(ends, rng.random(number)).clip(0, len(ends) - 1)))
                for ends, values in columns.values()
            ]
            writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))
    beside.replace(path)
    return path


def run(task: str, path: Path, engine: str) -> tuple[int, float, float, float, float]:
    command = [sys.executable, "-c", WORKER.format(names=list(SIZES)), task, str(path), engine]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return tuple(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, nargs="+", default=[1e6, 1e7, 1e8])
    parser.add_argument("--engines", nargs="+", default=["disk"])
    parser.add_argument("--spread", type=float, nargs="+", default=[3.0, 2.0])
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    folder = given.folder or Path(tempfile.mkdtemp())
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    titles = f"{'found':>12} {'CPU s':>8} {'wall s':>8} {'GiB':>6} {'child':>6}"
    print(f"{'rows':>12} {'engine':8} {'task':10} {titles}  beside GROUP BY")
    for spread in given.spread:
        for rows in map(int, given.rows):
            path = made(folder, rows, spread)
            plain = {}
            for engine in given.engines:
                counting = engine if engine == "spark" else "duckdb"
                if counting not in plain:
                    plain[counting] = run("group by", path, counting)
                    shown(rows, "group by", counting, plain[counting], plain[counting])
                for task in ("assess", "anonymize"):
                    shown(rows, task, engine, run(task, path, engine), plain[counting])


def shown(rows: int, task: str, engine: str, found: tuple, plain: tuple) -> None:
    number, cpu, wall, peak, child = found
    memory = f"{peak / 2**30:6.2f} {child / 2**30:6.2f}"
    figures = f"{number:>12,} {cpu:8.1f} {wall:8.1f} {memory}  {cpu / plain[1]:.2f}, {wall / plain[2]:.2f}"
    print(f"{rows:>12,} {engine:8} {task:10} {figures}", flush=True)


if __name__ == "__main__":
    main()
