"""What an adversary finds who knows one column more.

A table is as safe as the choice of quasi-identifiers is right. Every other column that is released may be known to
somebody, and with it classes fall apart.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from shoal.classes.classes import Classes
from shoal.models.evidence import Evidence
from shoal.models.k_anonymity import KAnonymity
from shoal.table.missing import Missing
from shoal.table.table import Table


@dataclass(frozen=True, slots=True)
class AlsoKnown:
    """What the classes are like if ``column`` is known beside the quasi-identifiers; None: without any.

    ``k``: the smallest. ``unique``: how many persons are alone.
    """

    __module__ = "shoal"

    column: str | None
    k: int
    unique: int
    classes: int

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        return asdict(self)


def also_known(table: Table, columns: Sequence[str], missing: Missing) -> list[AlsoKnown]:
    """Measure the classes with the quasi-identifiers known, and with one more column; the worst first."""
    measured = [_measured(table, name, missing) for name in columns]
    return [_measured(table, None, missing), *sorted(measured, key=lambda known: (known.k, -known.unique))]


def _measured(table: Table, column: str | None, missing: Missing) -> AlsoKnown:
    quasi = table.quasi if column is None else (*table.quasi, column)
    classes = Classes.of(table, quasi, (), missing=missing)
    unique = classes.members.within(classes.sizes == 1)
    return AlsoKnown(column, int(KAnonymity().measure(Evidence(classes, None))["k"]), unique, classes.number)
