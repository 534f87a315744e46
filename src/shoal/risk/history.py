"""Whole histories: what somebody can do who knows all records of a person, not one of them."""

from dataclasses import dataclass
from fractions import Fraction

from shoal.errors import ModelError
from shoal.risk.identity import Identity
from shoal.table.table import Table


@dataclass(frozen=True, slots=True)
class HistoryRisk:
    """``unique``: the share of persons whose set of records nobody else has. ``average``: the mean of 1 / n."""

    persons: int
    histories: int
    maximum: Fraction
    average: Fraction
    unique: Fraction


def history_risk(table: Table, quasi: tuple[str, ...] | None = None) -> HistoryRisk:
    """Return the risk if the set of a person's records is known, as far as their quasi-identifiers go.

    Persons with the same set of different rows form a profile; n persons have it. Missing equals missing.

    >>> import shoal
    >>> data = {"who": [1, 1, 2, 2, 3], "year": [2020, 2021, 2020, 2021, 2020]}
    >>> history_risk(shoal.read(data).assign(subject="who", quasi=["year"])).unique
    Fraction(1, 3)
    """
    if table.subject is None:
        raise ModelError("No column says which person a row belongs to.", hint='[data] subject = "…".')
    profiles = table.profiles(table.quasi if quasi is None else quasi)
    identity = Identity(profiles.counts, profiles.counts)
    return HistoryRisk(
        int(profiles.counts.sum()),
        len(profiles),
        identity.maximum(),
        identity.average(),
        identity.share_above(Fraction(1, 2)),
    )
