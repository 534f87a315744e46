"""What an adversary finds who knows one column more.

A table is as safe as the choice of quasi-identifiers is right. Every other column that is released may be known to
somebody, and with it classes fall apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from shoal.classes.classes import Classes
from shoal.errors import ColumnError, ModelError
from shoal.models.evidence import Evidence
from shoal.models.k_anonymity import KAnonymity
from shoal.table.missing import Missing
from shoal.table.reading import read
from shoal.table.role import Role
from shoal.table.table import Table


@dataclass(frozen=True, slots=True)
class AlsoKnown:
    """What the classes are like if ``column`` is known beside the quasi-identifiers; None: without any.

    ``k``: the smallest. ``unique``: how many persons are alone.
    """

    column: str | None
    k: int
    unique: int
    classes: int


def also_known(
    data: Any,
    quasi: Sequence[str] | str | None = None,
    *,
    columns: Sequence[str] | None = None,
    subject: str | None = None,
    missing: str = "own",
) -> list[AlsoKnown]:
    """Measure the classes of a table with its quasi-identifiers known, and with one more column; the worst first.

    ``columns``: which ones; all that are neither quasi-identifiers nor name persons, if nothing is said.

    >>> table = {"age": [30, 30, 40, 40], "sex": ["f", "m", "f", "m"], "city": ["a", "a", "b", "b"]}
    >>> [(one.column, one.k, one.unique) for one in also_known(table, ["age"])]
    [(None, 2, 0), ('sex', 1, 4), ('city', 2, 0)]
    """
    table = (data if isinstance(data, Table) else read(data)).taking(quasi=quasi, subject=subject)
    if not table.quasi:
        raise ColumnError("No quasi-identifiers are given.", hint="Say which columns an adversary may know: quasi=[…].")
    rule = Missing.named(missing)
    if rule is Missing.WILDCARD:
        raise ModelError(
            "Who is unique cannot be told where missing values match anything.", hint='Use "own" or "never".'
        )
    named = {*table.quasi, table.subject, *table.with_role(Role.DIRECT), *table.with_role(Role.HOUSEHOLD)}
    others = (
        [table[name].name for name in columns] if columns is not None else [n for n in table.names if n not in named]
    )
    found = [_measured(table, name, rule) for name in others]
    return [_measured(table, None, rule), *sorted(found, key=lambda one: (one.k, -one.unique))]


def _measured(table: Table, column: str | None, missing: Missing) -> AlsoKnown:
    quasi = table.quasi if column is None else (*table.quasi, column)
    classes = Classes.of(table, quasi, (), missing=missing)
    unique = classes.members.within(classes.sizes == 1)
    return AlsoKnown(column, int(KAnonymity().measure(Evidence(classes, None))["k"]), unique, classes.number)
