"""g-distinct: attributes classified by the re-identification risk of each on its own (Mansour 2021, Menten 2024).

A value that c records have is distinct to the degree g = 1 / c. The risk rate of a column is the mean of g over its
distinct values, in percent. A rate above α makes a column sensitive, a rate from β to α makes it a quasi-identifier.

The method ranks columns. It is provided to reproduce published results, not to determine the role of a column: see
:meth:`GDistinct.advice`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.errors import ModelError
from shoal.exact import exact
from shoal.kernels.ratios import Ratios
from shoal.table.kind import Kind
from shoal.table.role import Role
from shoal.table.table import Table
from shoal.words import share

COMPATS = ("menten-2024",)
ALPHA, BETA = 25.0, 1.0
MOST_MISSING = 0.85
_CLEAR = 1e-9  # relative tolerance within which a rate is compared exactly
_DOMINATED = 0.5  # share of a rate due to unique values from which a note is given


@dataclass(frozen=True, slots=True)
class Rate:
    """Risk rate of a column in percent: the mean over its distinct values.

    ``values``: the number of distinct values. ``record_risk``: the mean risk over the records. ``single``: the share of
    the rate that is due to values of a single record. ``role``: the role according to the thresholds.
    """

    name: str
    rate: float
    values: int
    record_risk: float
    single: float
    missing: float
    role: Role


@dataclass(frozen=True, slots=True)
class GDistinct:
    """Columns in descending order of risk rate.

    ``excluded``: the columns with too many missing values, with the share that is missing.
    """

    alpha: float
    beta: float
    records: int
    rates: tuple[Rate, ...]
    excluded: dict[str, float]
    direct: tuple[str, ...]

    def of_role(self, role: Role) -> tuple[str, ...]:
        """Return the columns with a role, in descending order of risk rate."""
        return tuple(rate.name for rate in self.rates if rate.role is role)

    def to_dict(self) -> dict[str, Any]:
        """Return the rates as plain data."""
        return {
            "alpha": self.alpha,
            "beta": self.beta,
            "columns": {
                rate.name: {
                    "role": rate.role,
                    "rate": rate.rate,
                    "values": rate.values,
                    "missing": rate.missing,
                    "record_risk": rate.record_risk,
                }
                for rate in self.rates
            },
            "excluded": self.excluded,
            "direct": list(self.direct),
            "advice": self.advice(),
        }

    def advice(self) -> list[str]:
        """Return notes on the limits of the method and of the thresholds."""
        notes = [
            "Roles by risk rate follow Menten 2024: sensitive means many rare values, not harm. Review these roles.",
            "Risk rates depend on the number of records: with twice the records and the same values, they are halved.",
            (
                f"α = {self.alpha:g}% and β = {self.beta:g}% are not adjusted to the number of records, here "
                f"{self.records:,}."
            ),
        ]
        moved = [rate.name for rate in self.rates if len({self._role(rate.rate * by) for by in (0.5, 1, 2)}) > 1]
        if moved:
            notes.append(f"With half or twice the records, these columns would have another role: {', '.join(moved)}.")
        notes.extend(
            f"{rate.name}: {share(rate.single)} of its rate comes from unique values; the average risk of a record is "
            f"{share(rate.record_risk)}."
            for rate in self.rates
            if rate.single >= _DOMINATED and rate.role is not Role.INSENSITIVE
        )
        if self.beta <= 0:
            notes.append("No rate is 0 or less, so no column is insensitive with this β.")
        notes.append(
            "A high rate means many values, not sensitivity. A low rate does not mean insensitivity: columns identify "
            "individuals in combination."
        )
        return notes

    def _role(self, rate: float) -> Role:
        return _role(Fraction(rate), self.alpha, self.beta)


def g_distinct(  # noqa: PLR0913 - keyword-only options
    table: Table,
    *,
    alpha: float = ALPHA,
    beta: float = BETA,
    direct: Sequence[str] = (),
    most_missing: float = MOST_MISSING,
    compat: str | None = None,
) -> GDistinct:
    """Compute the risk rate of each column and classify it.

    Direct identifiers and columns with too many missing values are excluded. ``compat="menten-2024"``: reproduce the
    script of the thesis, which compares rates rounded to two decimals with the thresholds, and counts the text
    "missing" as a missing value when it looks for columns to exclude.

    >>> import shoal
    >>> table = shoal.read({"name": ["Ann", "Bob", "Cid", "Dan"], "sex": ["f", "m", "m", "m"]})
    >>> found = g_distinct(table, alpha=70, beta=60, direct=["name"])
    >>> [(rate.name, round(rate.rate, 2), rate.role.value) for rate in found.rates]
    [('sex', 66.67, 'quasi')]
    """
    if compat is not None and compat not in COMPATS:
        raise ModelError(
            "unknown-compatibility",
            "There is no such compatibility mode.",
            remedy="Available: {modes}.",
            modes=", ".join(COMPATS),
        )
    if not alpha >= beta:
        raise ModelError(
            "alpha-below-beta", "α is less than β, so no column could be a quasi-identifier.", remedy="Give α ≥ β."
        )
    for name in direct:
        table[name]
    missing = {name: _missing(table, name, compat) for name in table.names if name not in direct}
    excluded = {name: share for name, share in missing.items() if share > most_missing}
    rates = [
        _rate(table, name, share, (alpha, beta), compat) for name, share in missing.items() if name not in excluded
    ]
    order = sorted(rates, key=lambda rate: rate.rate if compat is None else round(rate.rate, 2), reverse=True)
    return GDistinct(alpha, beta, table.records, tuple(order), excluded, tuple(direct))


def risk_rate(counts: NDArray[np.int64]) -> float:
    """Return the mean of 1 / count over the values, in percent; 0 if there are none.

    ``counts``: the number of records per value.

    >>> round(risk_rate(np.array([1, 3])), 2)
    66.67
    """
    return 100 * float((1 / counts).sum()) / max(len(counts), 1)


def _exactly(counts: NDArray[np.int64], near: Sequence[float]) -> Fraction:
    """Return the risk rate as an exact fraction if it is close to a threshold; otherwise a float is precise enough."""
    rate = risk_rate(counts)
    if not any(abs(rate - other) <= _CLEAR * max(abs(other), 1) for other in near):
        return Fraction(rate)
    sizes, number = np.unique(counts, return_counts=True)
    return 100 * Ratios(number, sizes).sum() / max(len(counts), 1)


def _missing(table: Table, name: str, compat: str | None) -> float:
    column, counts = table[name], table.counts(name)
    lacking = 0 if column.missing_code is None else int(counts[column.missing_code])
    if compat is not None and column.kind is Kind.TEXT:
        code = pc.index(column.values, "missing").as_py()
        lacking += int(counts[code]) if code >= 0 else 0
    return lacking / max(table.records, 1)


def _role(rate: Fraction, alpha: float, beta: float) -> Role:
    if rate > exact(alpha):
        return Role.SENSITIVE
    return Role.QUASI if rate >= exact(beta) else Role.INSENSITIVE


def _rate(table: Table, name: str, missing: float, thresholds: tuple[float, float], compat: str | None) -> Rate:
    counts = table.counts(name)
    counts = counts[counts > 0]
    rate = risk_rate(counts)
    compared = _exactly(counts, thresholds) if compat is None else exact(round(rate, 2))
    single = int(np.count_nonzero(counts == 1)) / (rate / 100 * len(counts)) if len(counts) else 0.0
    record_risk = len(counts) / max(table.records, 1)
    return Rate(name, rate, len(counts), record_risk, single, missing, _role(compared, *thresholds))
