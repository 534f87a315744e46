"""Data shuffling: values are exchanged between persons so that their relation to other columns is kept."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.kernels.normal import normal, normal_scores
from shoal.kernels.siphash import siphash
from shoal.kernels.translation import Codes
from shoal.perturbations.assigned import Assigned
from shoal.perturbations.column_values import ColumnValues, Draws
from shoal.perturbations.perturbation import ORDERED, PERTURBATIONS, Perturbation
from shoal.table.column import Column
from shoal.table.kind import Kind
from shoal.techniques.change import Drawn

Floats = NDArray[np.float64]
_LABELS = 20  # most frequent values of a text column that are told apart


@PERTURBATIONS.register("shuffle")
class Shuffling(Perturbation):
    """Assign the values anew, by ranks drawn from their distribution given other columns (Muralidhar & Sarathy 2006).

        y* = x·β + σ·z,   β = R⁻¹·r,   σ² = 1 − r·β

    x: the normal scores of the given columns; R and r: their correlations with each other and with the column, from
    rank correlations; z: a standard normal number. The value whose rank is that of y* is assigned. The individual's own
    value has no influence beyond the given columns.
    """

    kind: Literal["shuffle"] = "shuffle"
    given: tuple[str, ...] | None = Field(
        default=None,
        title="Given columns",
        description="columns whose relation to the shuffled values is kept (default: all quasi-identifiers)",
    )
    zeros: bool = Field(
        default=True,
        title="Keep zeros",
        description="whether zeros stay, if no value is negative: they often mean none",
    )
    says: ClassVar[str] = "Values were assigned to other individuals, according to their other columns (shuffling)."
    guarantee: ClassVar[str] = (
        "The distribution of the values is unchanged. Rank correlations with the given columns are kept in "
        "expectation. Each individual is counted once per value."
    )
    iso: ClassVar[str] = "permutation (data shuffling)"
    kinds: ClassVar[frozenset[Kind]] = ORDERED

    @classmethod
    def of_amount(cls, amount: float) -> tuple[Perturbation, ...]:  # noqa: ARG003 - there are no amounts
        """Return shuffling, which has no amount."""
        return (cls(),)

    def reads(self, known: tuple[str, ...]) -> tuple[str, ...]:
        """Return the given columns."""
        return known if self.given is None else self.given

    def change(self, values: ColumnValues) -> Drawn:
        """Draw ranks given the other columns, and assign the values by rank."""
        name = values.column.name
        given = [other for other in self.reads(values.known) if other != name]
        draws = values.draws(*given).once()
        codes = draws.codes[name]
        chosen = values.moving(zeros=self.zeros)[codes]
        moving = draws.some(chosen)
        if len(np.unique(moving.codes[name])) < 2:
            raise values.without_difference(zeros=self.zeros)
        own = _of_order(moving.codes[name], values.column)
        terms = [term for other in given for term in _terms(values.columns[other], moving)]
        drawn = _drawn(own, terms, normal(siphash((1, 2), [moving.words])))
        shuffled, ranked = codes.copy(), moving.codes[name].copy()
        ranked[np.argsort(drawn, kind="stable")] = np.sort(ranked)
        shuffled[chosen] = ranked
        return Drawn(values.column, Assigned.of(draws, shuffled))


@dataclass(frozen=True, slots=True, eq=False)
class _Term:
    """A column in the regression: standardised ``scores`` and, if its values are ordered, standardised ``ranks``."""

    scores: Floats
    ranks: Floats | None = None

    def correlation(self, other: "_Term") -> float:
        """Return the correlation of the scores; of two orders, that of normal variables with the same rank correlation.

        r = 2·sin(π·ρ / 6), ρ: Spearman's rank correlation (Pearson 1907)
        """
        if self.ranks is None or other.ranks is None:
            return float((self.scores * other.scores).mean())
        return float(2 * np.sin(np.pi / 6 * (self.ranks * other.ranks).mean()))


def _drawn(own: _Term, terms: Sequence[_Term], numbers: Floats) -> Floats:
    """Return a normal score for each draw, drawn from the distribution given its terms."""
    among = np.array([[one.correlation(other) for other in terms] for one in terms]).reshape(len(terms), len(terms))
    towards = np.array([own.correlation(term) for term in terms])
    weights = np.linalg.lstsq(among, towards, rcond=1e-9)[0]
    expected = sum((weight * term.scores for weight, term in zip(weights, terms, strict=True)), np.zeros(len(numbers)))
    return np.asarray(expected + np.sqrt(max(1 - (weights * towards).sum(), 0.0)) * numbers)


def _terms(column: Column, draws: Draws) -> Iterator[_Term]:
    """Yield the terms of a given column: its order, or one indicator per frequent label, and one if it is missing."""
    codes = draws.codes[column.name]
    if column.kind.ordered:
        yield _of_order(codes, column)
        labels = np.arange(len(column.values), column.size)
    else:
        counts = np.bincount(codes, minlength=column.size)
        labels = np.argsort(-counts, kind="stable")[: min(_LABELS, column.size)]
    for label in labels:
        yield _Term(_standardised((codes == label).astype(np.float64)))


def _of_order(codes: Codes, column: Column) -> _Term:
    """Return the term of ordered values; missing ones are in the middle."""
    there = codes < len(column.values)
    counts = np.bincount(codes[there], minlength=column.size)
    middle = np.cumsum(counts) - counts / 2
    scores, ranks = normal_scores(codes[there], column.size), middle - middle[codes[there]].mean()
    return _Term(*(_standardised(np.where(there, values[codes], 0.0)) for values in (scores, ranks)))


def _standardised(values: Floats) -> Floats:
    """Return values with mean 0 and variance 1; constant values are 0."""
    centred = values - values.mean()
    spread = np.sqrt((centred**2).mean())
    return np.asarray(centred / spread) if spread > 0 else centred
