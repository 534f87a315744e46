"""History risk: the risk from an adversary who knows all records of a person, not one of them."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from shoal.classes.identity import Identity
from shoal.errors import ModelError
from shoal.remedy import Setting
from shoal.table.missing import Missing
from shoal.table.table import Table


@dataclass(frozen=True, slots=True)
class HistoryRisk:
    """Re-identification risk by the full history of a person.

    ``unique``: the share of persons whose set of records no other person has. ``average``: the mean of 1 / n.
    """

    persons: int
    histories: int
    maximum: Fraction
    average: Fraction
    unique: Fraction


def history_risk(table: Table, quasi: tuple[str, ...] | None = None, *, missing: Missing = Missing.OWN) -> HistoryRisk:
    """Return the risk if the quasi-identifiers of all distinct records of a person are known.

    The n persons with the same set of distinct rows form a profile; the frequency of a row is not known. If missing
    values match nothing, every person with a missing value is unique. Persons with suppressed records only are not
    counted.

    >>> import shoal
    >>> data = {"who": [1, 1, 2, 2, 3], "year": [2020, 2021, 2020, 2021, 2020]}
    >>> history_risk(shoal.read(data).assign(subject="who", quasi=["year"])).unique
    Fraction(1, 3)
    """
    if table.subject is None:
        raise ModelError(
            "no-subject", "No column identifies the individual of a record.", remedy=Setting("data.subject")
        )
    names = table.quasi if quasi is None else quasi
    profiles = table.profiles(names)
    codes = [(table[name], code) for name, code in zip(names, profiles.rows.codes, strict=True)]
    hidden = np.logical_and.reduce([codes_of == column.suppressed_code for column, codes_of in codes])
    lacking = np.logical_or.reduce([codes_of == column.missing_code for column, codes_of in codes])
    shown = ~np.logical_and.reduceat(hidden[profiles.members], profiles.starts[:-1])
    shown |= not shown.any()  # a table of * only is generalised, not suppressed
    alone = np.logical_or.reduceat(lacking[profiles.members], profiles.starts[:-1]) & (missing is Missing.NEVER)
    crowd = np.where(alone, 1, profiles.counts)[shown]
    identity = Identity(crowd, profiles.counts[shown])
    return HistoryRisk(
        int(identity.persons.sum()),
        len(crowd),
        identity.maximum(),
        identity.average(),
        identity.share_above(Fraction(1, 2)),
    )
