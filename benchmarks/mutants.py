"""Faults planted one at a time in a copy of the project, and the tier of tests that catches each of them.

    python benchmarks/mutants.py [--tier quick] [--only NAME ...]

Run it from a checkout, in the environment of its tests (the second command of the README) and with ``pip install
--group dev`` for the compiler. The quick tier is run on every fault; ``--tier all`` runs the exhaustive tier on those
that the quick one does not catch. A run ends with its first failing test. Prints JSON: which tier caught each fault, by
which test, after how many seconds; and a line for each fault to stderr while it runs.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parents[1]
SHARED = HERE.parent / "shared"
OPTIONS = {"quick": [], "all": ["--all"]}  # the tiers, and what pytest is told to run them


KNOWING = "tests/test_project.py::test_every_fault_that_is_planted_can_be"  # finds any fault by its text


@dataclass(frozen=True)
class Fault:
    """A mistake somebody could make: in ``file``, ``right`` becomes ``wrong``."""

    name: str
    file: str
    right: str
    wrong: str

    def plant(self, root: Path) -> None:
        """Make the mistake; it must be possible in exactly one place."""
        path = root / "src/shoal" / self.file
        text = path.read_text(encoding="utf-8")
        if text.count(self.right) != 1:
            raise SystemExit(f"{self.name}: {self.file} does not hold its text exactly once")
        path.write_text(text.replace(self.right, self.wrong), encoding="utf-8")
        if path.suffix == ".c":
            _compile(root)


def _compile(root: Path) -> None:
    """Compile the core of a checkout, with what ``pip install --group dev`` brings."""
    sys.path.insert(0, str(HERE))
    import hatch_build

    hatch_build.compile_core(root, hatch_build.target())


FAULTS = [
    Fault(
        "a C kernel leaves out the last row",
        "kernels/c/codes.c",
        "for (; row < rows; row++) banks[0]",
        "for (; row + 1 < rows; row++) banks[0]",
    ),
    Fault(
        "a numpy twin leaves out the last row",
        "kernels/summing.py",
        "np.add.at(sums, codes, counts)",
        "np.add.at(sums, codes[:-1], counts[:-1])",
    ),
    Fault(
        "a model asks for more than its threshold",
        "models/l_diversity.py",
        "evidence.histogram.distinct() < (self.l or 1)",
        "evidence.histogram.distinct() <= (self.l or 1)",
    ),
    Fault(
        "a reader drops the first row",
        "table/formats/parquet.py",
        "file.read([name]).column(0), options",
        "file.read([name]).column(0).slice(1), options",
    ),
    Fault(
        'missing = "never" is taken for "own"',
        "classes/classes.py",
        "if missing is Missing.OWN or not lacking.any():",
        "if missing is not Missing.WILDCARD or not lacking.any():",
    ),
    Fault(
        "the report shows names and values as markup",
        "reporting/as_html.py",
        "autoescape=True",
        "autoescape=False",
    ),
    Fault(
        "verification finds no requirement that fails",
        "release/verification.py",
        "failing = [judgement for judgement in judgements if not judgement.verdict.satisfied]",
        "failing: list[Judgement] = []",
    ),
    Fault(
        "a project's folder can be read by everybody",
        "web/project.py",
        "folder.chmod(0o700)",
        "folder.chmod(0o755)",
    ),
    Fault(
        "a person is as safe as the safest of their records",
        "classes/identity.py",
        "np.minimum.at(fewest",
        "np.maximum.at(fewest",
    ),
    Fault(
        "a search suppresses one person more than its limit",
        "search/optimum.py",
        "fits = np.flatnonzero(counted.suppressed <= self.limit)",
        "fits = np.flatnonzero(counted.suppressed <= self.limit + 1)",
    ),
    Fault(
        "an attack counts as successful within its interval",
        "attacks/result.py",
        "if self.success.value - below <= self.baseline",
        "if self.success.value + below <= self.baseline",
    ),
    Fault(
        "Spark leaves out rows with missing values",
        "engines/spark.py",
        "chosen.groupBy(*chosen.columns).count()",
        "chosen.dropna().groupBy(*chosen.columns).count()",
    ),
]


@contextmanager
def copy() -> Iterator[Path]:
    """Copy what git tracks, with the compiled core and the reference data beside it."""
    with tempfile.TemporaryDirectory(prefix="shoal-mutant-") as folder:
        root = Path(folder) / "checkout"
        tracked = subprocess.run(["git", "ls-files"], cwd=HERE, check=True, capture_output=True, text=True).stdout
        core = [str(path.relative_to(HERE)) for path in (HERE / "src/shoal/kernels").glob("_core.*")]
        for name in [*tracked.splitlines(), *core]:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(HERE / name, root / name)
        if SHARED.is_dir():
            (Path(folder) / "shared").symlink_to(SHARED)
        yield root


def tested(root: Path, *options: str) -> str | None:
    """Run the tests until one fails, and return its name; None if all pass."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--deselect", KNOWING, *options]
    where = {**os.environ, "PYTHONPATH": str(root / "src")}  # before the checkout that is installed
    done = subprocess.run(command, cwd=root, env=where, check=False, capture_output=True, text=True)
    if done.returncode == 0:
        return None
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    if done.returncode != 1 and failed is None:
        raise SystemExit(f"The tests could not run:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return failed[1] if failed else "?"


def judged(fault: Fault, tiers: list[str]) -> dict[str, object]:
    """Plant a fault, and return by which of the tiers it is caught, by which test and after how many seconds."""
    with copy() as root:
        fault.plant(root)
        begun = time.monotonic()
        for tier in tiers:
            test = tested(root, *OPTIONS[tier])
            if test is not None:
                return {"fault": fault.name, "tier": tier, "test": test, "seconds": round(time.monotonic() - begun)}
    return {"fault": fault.name, "tier": None, "test": None, "seconds": round(time.monotonic() - begun)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tier", choices=list(OPTIONS), default="quick", help="the last tier to try")
    names = "; ".join(fault.name for fault in FAULTS)
    parser.add_argument("--only", nargs="*", default=[""], help=f"parts of the names of faults: {names}")
    asked = parser.parse_args()
    chosen = [fault for fault in FAULTS if any(part in fault.name for part in asked.only)]
    if not chosen:
        parser.error(f"No fault has such a name. There are: {names}.")
    results = []
    for number, fault in enumerate(chosen, 1):
        print(f"{number} of {len(chosen)}: {fault.name} …", file=sys.stderr, flush=True)
        results.append(judged(fault, list(OPTIONS)[: list(OPTIONS).index(asked.tier) + 1]))
        print(*results[-1].values(), sep=" | ", file=sys.stderr, flush=True)
    caught = {tier: sum(result["tier"] == tier for result in results) for tier in (*OPTIONS, None)}
    print(json.dumps({"load": os.getloadavg()[0], "caught": {str(k): n for k, n in caught.items()}, "faults": results}))


if __name__ == "__main__":
    main()
