"""Figure 4 of Prasser et al. 2016, for any dataset with hierarchies.

    python examples/prasser.py DATA POLICY OUT.svg [--scheme low=age:1,education:1 …]

POLICY names the quasi-identifiers and their hierarchies. Without --scheme, "low", "medium" and "high" take every column
up a quarter, a half and three quarters of its ladder. Records are then suppressed, from none to all of them, and
the loss is measured with conventional and with generic non-uniform entropy. The picture shows what the paper says: the
conventional measure takes suppression for a gain of information, the generic one rises in a line.
"""

import argparse
from pathlib import Path

import shoal
from shoal import charts

SHARES = {"low": 0.25, "medium": 0.5, "high": 0.75}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("policy", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--scheme", action="append", default=[], help="a name and the level of columns")
    parser.add_argument("--force", action="store_true")
    given = parser.parse_args()
    policy = shoal.Policy.load(given.policy)
    table = policy.read(given.data)
    hierarchies = {name: ladder for name, ladder in policy.hierarchies(table).items() if name in table.quasi}
    schemes = dict(map(named, given.scheme)) or {
        name: {column: int(ladder.height * share) for column, ladder in hierarchies.items()}
        for name, share in SHARES.items()
    }
    whole = {name: {**dict.fromkeys(hierarchies, 0), **levels} for name, levels in schemes.items()}
    points = charts.curve(table, hierarchies, whole)
    for point in points:
        print(f"{point.scheme:<8} {point.suppressed:>4.0%}  generic {point.generic:.6f}  "
              f"conventional {point.conventional:+.6f}")  # fmt: skip
    charts.entropy_curve(points).save(given.out, force=given.force)


def named(text: str) -> tuple[str, dict[str, int]]:
    """Read ``low=age:1,education:1``."""
    name, _, levels = text.partition("=")
    pairs = (part.rsplit(":", 1) for part in levels.split(",") if part)
    return name, {column: int(level) for column, level in pairs}


if __name__ == "__main__":
    main()
