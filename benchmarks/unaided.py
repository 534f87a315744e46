"""The unaided way: init, anonymize, compare, attack and report on every table of a folder, without an edit.

    python benchmarks/unaided.py FOLDER [FOLDER …] [--shoal .venv/bin/shoal] [--purpose public] [--limit 900]

Prints one line of JSON for each table: the exit code of each command, the information loss, the share of `*` in each
quasi-identifier, the number of suppressed individuals, and the CPU seconds of each command. A command that takes longer
than --limit seconds is ended.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

COMMANDS = {
    "init": "init {data} -o policy.toml --purpose {purpose}",
    "anonymize": "anonymize {data} -p policy.toml -o release.csv --json",
    "compare": "compare {data} release.csv -p policy.toml --json",
    "attack": "attack {data} release.csv -p policy.toml --json",
    "report": "report {data} release.csv -p policy.toml -o report.html",
}


def ran(command, folder, limit):
    """Run a command; return its exit code, its CPU seconds, and what it printed."""
    before = os.times()
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=limit, check=False)
        code, out, errors = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        code, out, errors = "time", "", "ended after the time limit"
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return code, round(cpu, 1), out, errors


def stars(release):
    """Return the share of `*` in each column that has one."""
    with release.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    shares = {name: sum(row[name] == "*" for row in rows) / len(rows) for name in rows[0]} if rows else {}
    return {name: round(share, 3) for name, share in shares.items() if share}


def unaided(shoal, data, purpose, limit):
    """Run the five commands on one table."""
    result = {"table": data.stem, "exit": {}, "cpu": {}}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name, words in COMMANDS.items():
            arguments = words.format(data=data, purpose=purpose).split()
            code, cpu, out, errors = ran([shoal, *arguments], folder, limit)
            result["exit"][name], result["cpu"][name] = code, cpu
            if name == "anonymize" and code == 0:
                made = json.loads(out)["result"]
                result["loss"] = round(made["quality"]["loss"], 4)
                result["suppressed"], result["classes"] = made["suppressed"], made["classes"]
                result["quasi"] = len(made["scheme"])
                result["stars"] = stars(folder / "release.csv")
            if code not in {0, 1}:
                result["error"] = errors.strip()[-500:]
                break
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--shoal", default="shoal", help="the command, as installed")
    parser.add_argument("--purpose", default="public")
    parser.add_argument("--limit", type=float, default=900, help="wall seconds for each command")
    given = parser.parse_args()
    for data in sorted(path.resolve() for folder in given.folders for path in folder.glob("*.csv")):
        sys.stdout.write(json.dumps(unaided(given.shoal, data, given.purpose, given.limit)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
