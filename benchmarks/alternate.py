"""Compare two checkouts by one benchmark: both are run in turns, and the medians of all figures stand side by side.

    python benchmarks/alternate.py BEFORE AFTER anonymize.py FOLDER --rows 100000 [--runs 9]

BEFORE, AFTER: checkouts, each with its core compiled (`pip install -e .`). What follows the name of the benchmark is
given to it. Only figures of time are compared; ratios above 1 are slower. Machines are noisy: runs alternate, so that
both checkouts meet the same noise, and CPU time counts, where the benchmark gives it. Memory that is freed stays with
the process: whether glibc gives it back hangs on what was allocated before, and makes the same code a fifth slower.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

KEEP_MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(1 << 30), "MALLOC_MMAP_THRESHOLD_": str(1 << 30)}
NOT_TIMES = {"load", "evaluated", "distinct", "schemes", "records", "loss", "gap", "peak_gib", "values"}


def figures(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, float]]:
    """Yield every number of a document, under the names that lead to it."""
    if isinstance(value, dict):
        for name, part in value.items():
            if name not in NOT_TIMES:
                yield from figures(part, (*path, str(name)))
    elif isinstance(value, list):
        for place, part in enumerate(value):
            yield from figures(part, (*path, str(place)))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield " / ".join(path), float(value)


def run(checkout: Path, benchmark: str, arguments: list[str]) -> dict[str, float]:
    """Run a benchmark of a checkout on its own source."""
    environment = {**os.environ, **KEEP_MEMORY, "PYTHONPATH": str(checkout / "src")}
    command = [sys.executable, str(checkout / "benchmarks" / benchmark), *arguments]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return dict(figures(json.loads(done.stdout)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=lambda text: Path(text).resolve())
    parser.add_argument("after", type=lambda text: Path(text).resolve())
    parser.add_argument("benchmark")
    parser.add_argument("--runs", type=int, default=9)
    options, arguments = parser.parse_known_args()
    results: dict[Path, list[dict[str, float]]] = {options.before: [], options.after: []}
    for _ in range(options.runs):
        for checkout, runs in results.items():
            runs.append(run(checkout, options.benchmark, arguments))
    before, after = results.values()
    print(f"{options.benchmark}, median of {options.runs} runs in turns, load {os.getloadavg()[0]:.1f}")
    print(f"{'before':>10} {'after':>10} {'ratio':>7}")
    for name in before[0]:
        was, now = (median(figures_of[name] for figures_of in runs if name in figures_of) for runs in (before, after))
        print(f"{was:>10.4g} {now:>10.4g} {now / was if was else 1:>7.3f}  {name}")


if __name__ == "__main__":
    main()
