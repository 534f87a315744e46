"""``shoal.also_known``: the effect of one additional known column."""

from collections.abc import Sequence
from typing import Any

from shoal.errors import ColumnError, ModelError
from shoal.identification.also_known import AlsoKnown
from shoal.identification.also_known import also_known as measured
from shoal.remedy import Option, by
from shoal.table.missing import Missing
from shoal.table.role import Role
from shoal.verbs.inputs import Inputs


def also_known(
    data: Any,
    quasi: Sequence[str] | str | None = None,
    *,
    columns: Sequence[str] | None = None,
    subject: str | None = None,
    missing: str = "own",
) -> list[AlsoKnown]:
    """Measure the classes of the quasi-identifiers, then with each additional known column; the smallest k first.

    ``columns``: the additional columns (default: all columns except quasi-identifiers, direct identifiers, subject and
    household).

    >>> import shoal
    >>> table = {"age": [30, 30, 40, 40], "sex": ["f", "m", "f", "m"], "city": ["a", "a", "b", "b"]}
    >>> [(one.column, one.k, one.unique) for one in shoal.also_known(table, ["age"])]
    [(None, 2, 0), ('sex', 1, 4), ('city', 2, 0)]
    """
    inputs = Inputs.of(data, quasi=quasi, subject=subject, missing=missing)
    table = inputs.table
    if not table.quasi:
        raise ColumnError(
            "no-quasi-identifier",
            "No quasi-identifiers are given.",
            remedy=by("Name the columns that an adversary may know", Option("quasi")),
        )
    if inputs.missing is Missing.WILDCARD:
        raise ModelError(
            "wildcard-missing",
            "Uniqueness cannot be determined if missing values match any value.",
            remedy=Option("missing", "own"),
        )
    named = {*table.quasi, table.subject, *table.with_role(Role.DIRECT), *table.with_role(Role.HOUSEHOLD)}
    others = [name for name in table.names if name not in named]
    return measured(table, others if columns is None else [table[name].name for name in columns], inputs.missing)
