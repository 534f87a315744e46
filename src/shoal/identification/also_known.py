"""The effect of one additional known column on the equivalence classes.

The protection of a table depends on the choice of its quasi-identifiers. Any other released column may also be known to
an adversary, and splits the classes further.
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
    """Equivalence classes if ``column`` is known in addition to the quasi-identifiers (None: no additional column).

    ``k``: the smallest class size. ``unique``: the number of unique persons. ``classes``: the number of classes.
    """

    __module__ = "shoal"

    column: str | None
    k: int
    unique: int
    classes: int

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        return asdict(self)


def also_known(table: Table, columns: Sequence[str], missing: Missing) -> list[AlsoKnown]:
    """Measure the classes of the quasi-identifiers, then with each additional column; the smallest k first."""
    measured = [_measured(table, name, missing) for name in columns]
    return [_measured(table, None, missing), *sorted(measured, key=lambda known: (known.k, -known.unique))]


def _measured(table: Table, column: str | None, missing: Missing) -> AlsoKnown:
    quasi = table.quasi if column is None else (*table.quasi, column)
    classes = Classes.of(table, quasi, (), missing=missing)
    unique = classes.members.within(classes.sizes == 1)
    return AlsoKnown(column, int(KAnonymity().measure(Evidence(classes, None))["k"]), unique, classes.number)
