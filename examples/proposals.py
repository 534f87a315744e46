"""What shoal proposes for the tables of papers, against what their authors took the columns for.

    python examples/proposals.py DATA

DATA holds the tables that proposals.toml names; those of the demo hospital are made on the spot. Whether a column that
names persons was missed, or one taken for it that does not, comes first; then every column whose role differs from the
paper's, with the reasons. It takes about ten seconds.
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder with the papers' tables")
    folder = parser.parse_args().data
    entries = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["table"]
    for entry in entries:
        sys.stdout.write("\n".join(told(entry, shoal.identify(table(folder, entry["file"])))) + "\n\n")


if __name__ == "__main__":
    main()
