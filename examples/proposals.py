"""What shoal proposes for the tables of papers, against what their authors took the columns for.

    python examples/proposals.py DATA
    python examples/proposals.py DATA --roles examples/roles/holdout.toml

DATA holds the tables that proposals.toml names; those of the demo hospital are made on the spot. Whether a column that
names persons was missed, or one taken for it that does not, comes first; then every column whose role differs from the
paper's, with the reasons. It takes about ten seconds.

With --roles, DATA holds clinical tables as NAME.csv, and the file the roles that experts wrote down beforehand: the
share of columns with exactly this role, and with an acceptable one, and the columns whose release would be unsafe.
"""

import argparse
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import shoal
from shoal.demo import hospital

ROLES = ("direct", "subject", "household", "quasi", "sensitive", "left_out")
NAMING = {"direct", "subject"}
PROTECTED = {*NAMING, "household", "quasi"}  # not released, or generalised


def table(folder: Path, name: str) -> shoal.Table:
    made, _, part = name.partition(":")
    return getattr(hospital(), part) if made == "demo" else shoal.read(folder / name)


def taken_for(entry: dict[str, Any], found: shoal.Identification) -> dict[str, str]:
    """Return the role that each column has in the paper."""
    roles = {name: role for role in ROLES for name in entry.get(role, ())}
    return {name: roles.get(name, "insensitive") for name in found.columns}


def told(entry: dict[str, Any], found: shoal.Identification) -> Iterator[str]:
    paper = taken_for(entry, found)
    ours = {name: str(one.role) for name, one in found.columns.items()}
    missed = [name for name, role in paper.items() if role in NAMING and ours[name] not in NAMING]
    taken = [name for name, role in ours.items() if role in NAMING and paper[name] not in NAMING]
    same = [name for name in ours if ours[name] == paper[name]]
    naming = sum(role in NAMING for role in paper.values())
    yield f"{entry['paper']}: {found.table.records:,} records, {len(ours)} columns"
    yield f"  naming persons: {naming - len(missed)} of {naming} found, {len(taken)} taken for it that do not"
    yield f"  same role: {len(same)} of {len(ours)}"
    for name in [*missed, *taken, *(name for name in ours if name not in {*same, *missed, *taken})]:
        theirs, why = paper[name].replace("_", " "), "; ".join(found.columns[name].reasons)
        yield f"  {name}: {theirs} in the paper, {ours[name]} here ({why})"


def judged(columns: dict[str, Any], found: shoal.Identification) -> tuple[int, int, list[str]]:
    """Return the number of exact and of acceptable roles, and the columns whose release as proposed would be unsafe."""
    ours = {name: str(one.role) for name, one in found.columns.items()}
    exact = sum(ours[name] == entry["role"] for name, entry in columns.items())
    accepted = sum(ours[name] in {entry["role"], *entry["accept"]} for name, entry in columns.items())
    open_ = [name for name, entry in columns.items() if entry.get("unsafe") and ours[name] not in PROTECTED]
    return exact, accepted, open_


def against_experts(folder: Path, file: Path) -> Iterator[str]:
    totals = [0, 0, 0, 0]
    for name, columns in tomllib.loads(file.read_text("utf-8")).items():
        found = shoal.identify(folder / f"{name}.csv", combinations=False)
        exact, accepted, open_ = judged(columns, found)
        numbers = len(columns), exact, accepted, len(open_)
        totals = [total + number for total, number in zip(totals, numbers, strict=True)]
        yield f"{name}: {share(exact, len(columns))} exact, {share(accepted, len(columns))} acceptable, unsafe: {open_}"
    shares = f"{share(totals[1], totals[0])} exact, {share(totals[2], totals[0])} acceptable"
    yield f"All {totals[0]} columns: {shares}, {totals[3]} unsafe"


def share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder with the papers' tables")
    parser.add_argument("--roles", type=Path, help="the roles that experts wrote down for the tables of the folder")
    given = parser.parse_args()
    folder = given.data
    if given.roles is not None:
        sys.stdout.write("\n".join(against_experts(folder, given.roles)) + "\n")
        return
    entries = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["table"]
    for entry in entries:
        sys.stdout.write("\n".join(told(entry, shoal.identify(table(folder, entry["file"])))) + "\n\n")


if __name__ == "__main__":
    main()
