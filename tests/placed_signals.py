"""Ends a save at each of its file events by a signal, and tells what is left; for ``tests/release/test_signals.py``.

``python -m tests.placed_signals single SIGTERM 1``: a child process is forked for each event, in a copy of a folder
that holds an old release.
"""

import json
import os
import shutil
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import shoal
from shoal.fileset import Leftover

EVENTS = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.truncate"}
AGES = {"old": list(range(20, 60)), "new": list(range(30, 70))}
POLICY = """
version = 1
columns.age = {{ role = "quasi", hierarchy = {{ kind = "interval", widths = [10] }} }}
columns.dx = "sensitive"
require = [{{ model = "k-anonymity", k = 5 }}]
{}
"""
SEVERAL = """
version = 1
data.subject = "id"
pseudonyms = { key_variable = "PLACED_SIGNALS_KEY" }
require = [{ model = "k-anonymity", k = 5 }]
[tables.patients.columns]
age = { role = "quasi", hierarchy = { kind = "interval", widths = [10] } }
[tables.visits]
refers.patient = "patients.id"
columns.ward = "quasi"
"""


def single(ages: list[int], recoding: str) -> Any:
    """Return the release of a table; a local one has no mapping."""
    policy = shoal.Policy.parse(POLICY.format(f'search.recoding = "{recoding}"'))
    return shoal.anonymize({"age": ages, "dx": ["flu", "ms"] * 20}, policy)


def dataset(ages: list[int], recoding: str) -> Any:
    """Return the release of two tables."""
    del recoding
    os.environ["PLACED_SIGNALS_KEY"] = "a key that is long enough"
    wards = [age // 20 for age in ages]
    tables = {"patients": {"id": list(range(40)), "age": ages}, "visits": {"patient": list(range(40)), "ward": wards}}
    return shoal.anonymize(shoal.Dataset.read(tables, shoal.Policy.parse(SEVERAL)))


MADE: dict[str, tuple[Callable[[list[int], str], Any], str]] = {
    "single": (single, "out.csv"),
    "dataset": (dataset, "out"),
}


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files that are not hidden."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


def hidden(folder: Path) -> list[str]:
    """Return the names of hidden files and folders."""
    return [path.name for path in folder.rglob(".*")]


def ended(release: Any, target: Path, number: int, event: int) -> bool:
    """Save in a child process that gets a signal at an event; tell whether it came that far."""
    child = os.fork()
    if child == 0:
        for one in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(one, lambda got, _: sys.exit(128 + got))  # as the command line does
        seen = 0

        def count(name: str, given: tuple[Any, ...]) -> None:
            nonlocal seen
            writes = name != "open" or (isinstance(given[2], int) and given[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
            if name in EVENTS and writes:
                seen += 1
                if seen == event:
                    os.kill(os.getpid(), number)

        try:
            sys.addaudithook(count)
            release.save(target, suffix=".csv", force=True) if target.suffix == "" else release.save(target, force=True)
        except (KeyboardInterrupt, SystemExit):
            pass
        finally:
            os._exit(0 if seen >= event else 77)
    status = os.waitpid(child, 0)[1]
    return not (os.WIFEXITED(status) and os.WEXITSTATUS(status) == 77)


def readable(target: Path) -> bool:
    """Tell whether a reader accepts what is there."""
    try:
        for path in [target] if target.is_file() else sorted(target.glob("*.csv")):
            shoal.read(path)
    except shoal.ShoalError:
        return False
    return True


def tried(kind: str, number: int, step: int) -> dict[str, Any]:
    """Place a signal at every file event of a save over an old release, or at every second, third, …"""
    make, name = MADE[kind]
    releases = {"old": make(AGES["old"], "global"), "new": make(AGES["new"], "local")}
    found: dict[str, Any] = {"events": 0, "mixed": [], "left": [], "unnamed": [], "refused": 0}
    with tempfile.TemporaryDirectory() as scratch:
        sets = {}
        for which, release in releases.items():
            folder = Path(scratch) / which
            folder.mkdir()
            release.save(folder / name, **({"suffix": ".csv"} if kind == "dataset" else {}))
            sets[which] = contents(folder)
        for event in range(1, 1000, step):
            folder = Path(scratch) / f"{event}"
            shutil.copytree(Path(scratch) / "old", folder)
            if not ended(releases["new"], folder / name, number, event):
                break
            found["events"] += 1
            judge(found, event, folder, folder / name, sets, releases["new"], killed=number == signal.SIGKILL)
    return found


def judge(
    found: dict[str, Any],
    event: int,
    folder: Path,
    target: Path,
    sets: dict[str, dict[str, bytes]],
    release: Any,
    *,
    killed: bool,
) -> None:
    """Note what is wrong after a save was ended."""
    there = contents(folder)
    whole = there in list(sets.values())
    found["refused"] += not readable(target)
    if not whole and readable(target):
        found["mixed"].append(event)
    left = hidden(folder)
    if left and not killed:
        found["left"].append(event)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        release.save(target, force=True, **({"suffix": ".csv"} if target.suffix == "" else {}))
    if left and not any(issubclass(one.category, Leftover) for one in told):
        found["unnamed"].append(event)
    if hidden(folder) or contents(folder) != sets["new"]:
        found["left"].append(-event)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(tried(sys.argv[1], getattr(signal, sys.argv[2]), int(sys.argv[3]))))
