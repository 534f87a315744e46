"""Household risk: re-identification of one member of a household re-identifies all members."""

from dataclasses import dataclass

import numpy as np

from shoal.classes.classes import Classes
from shoal.errors import ModelError
from shoal.remedy import Setting
from shoal.table.missing import Missing
from shoal.table.table import Table


@dataclass(frozen=True, slots=True)
class HouseholdRisk:
    """The risk that at least one member of a household is re-identified.

    ``maximum``, ``average``: over the households. ``expected_persons``: the expected number of re-identified persons.
    """

    households: int
    maximum: float
    average: float
    expected_persons: float


def household_risk(table: Table, quasi: tuple[str, ...] | None = None, missing: Missing = Missing.OWN) -> HouseholdRisk:
    """Measure the risk ``1 − Π (1 − rᵢ)`` of each household, where rᵢ are the prosecutor's risks of its members.

    >>> import shoal
    >>> table = shoal.read({"home": [1, 1, 2], "age": [34, 34, 71]}).assign(quasi=["age"], household="home")
    >>> household_risk(table)
    HouseholdRisk(households=2, maximum=1.0, average=0.875, expected_persons=2.5)
    """
    home = next((name for name, role in table.roles.items() if role == "household"), None)
    if home is None:
        raise ModelError(
            "no-household", "No column identifies the household of an individual.", remedy=Setting("data.household")
        )
    quasi = table.quasi if quasi is None else quasi
    classes = Classes.of(table, quasi, (home,), missing=missing)
    histogram = classes.histograms[home]
    column = histogram.column
    known = histogram.codes < len(column.values)
    with np.errstate(divide="ignore"):
        alone = -np.log1p(-1 / histogram.spread(classes.crowd))
    members = histogram.counts * histogram.spread(classes.copies)
    safe = np.bincount(histogram.codes[known], weights=(alone * members)[known], minlength=len(column.values))
    people = np.bincount(histogram.codes[known], weights=members[known], minlength=len(column.values))
    risk = -np.expm1(-safe)
    lone = float((members / histogram.spread(classes.crowd))[~known].sum())
    return HouseholdRisk(
        len(column.values),
        float(risk.max(initial=0.0)),
        float(risk.mean()) if len(risk) else 0.0,
        float((risk * people).sum()) + lone,
    )
