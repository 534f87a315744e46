"""Check whether the values of counterfeits can imitate those of true records."""

from shoal.errors import PolicyError
from shoal.release.case import Case
from shoal.remedy import Setting, either
from shoal.table.role import Role
from shoal.table.scale import scale
from shoal.techniques.outliers import usual_way

_OWN = 0.5  # share of different values from which a repeated text is noticed
_FEWEST = 30  # records from which this is judged


def check_imitable(case: Case) -> None:
    """Refuse counterfeits if a column of text has a value of its own for nearly every record."""
    table, policy = case.table, case.policy
    if not policy.search.way.adds_records or table.records < _FEWEST:
        return
    replaced = {*policy.perturbed, *(() if policy.pseudonyms is None else policy.pseudonyms.columns)}
    for name in (*table.sensitive, *table.with_role(Role.INSENSITIVE)):
        column = table[name]
        if name not in replaced and scale(column) is None and len(column.values) > _OWN * table.records:
            raise PolicyError(
                "counterfeits-of-text",
                "Column '{column}' has a different value for more than half of the records, so counterfeits with "
                "repeated values would be recognised.",
                remedy=either(
                    "Do not release this column",
                    "replace its values by pseudonyms",
                    Setting("search.outliers", usual_way()),
                ),
                column=name,
            )
