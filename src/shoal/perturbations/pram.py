"""Post-randomisation: values change at random, with known probabilities."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from shoal.disclosure import hidden
from shoal.kernels.siphash import Words
from shoal.kernels.translation import Codes
from shoal.perturbations.column_values import ColumnValues, with_tail
from shoal.perturbations.perturbation import PERTURBATIONS, Perturbation
from shoal.table.column import Column, as_text
from shoal.table.kind import Kind
from shoal.techniques.change import Drawn
from shoal.validation import Share

Floats = NDArray[np.float64]
_CLOSE = 1e-9  # a row of probabilities may differ from 1 by this much
_DIGITS = 9  # of published probabilities
_MOST = 256  # values of a column
_REST = "other values"
Matrix: TypeAlias = Mapping[str, Mapping[str, float]]


@PERTURBATIONS.register("pram")
class PostRandomisation(Perturbation):
    """Replace values at random, with the probabilities of a matrix (PRAM, Gouweleeuw et al. 1998).

        r_ij = keep·[i = j] + (1 − keep)·π_j

    π: the shares of the values. A value stays with the probability ``keep``; otherwise, one is drawn from the
    distribution of the column, possibly the same. This matrix is invariant: it leaves the shares unchanged in
    expectation. ``matrix``: own probabilities, by value and released value. The matrix is published, because it is
    needed to analyse the release; it does not disclose whose value changed.
    """

    kind: Literal["pram"] = "pram"
    keep: Share | None = Field(
        default=None, title="Share kept", description="smallest probability that a value stays (default: 0.9)"
    )
    matrix: Mapping[str, Mapping[str, Share]] | None = Field(
        default=None,
        title="Transition matrix",
        description="probability of each released value, by original value; probabilities that are not given are 0",
    )
    says: ClassVar[str] = "Values were replaced at random with known probabilities (PRAM)."
    guarantee: ClassVar[str] = (
        "The expected share of each value is that of the original, unless an own matrix is given. A value stays with "
        "at least the probability keep."
    )
    iso: ClassVar[str] = "post-randomisation (PRAM)"
    kinds: ClassVar[frozenset[Kind]] = frozenset(Kind) - {Kind.DATE, Kind.DATETIME, Kind.TIME}

    @classmethod
    def of_amount(cls, amount: float) -> tuple[Perturbation, ...]:
        """Return PRAM by which a value is drawn anew with this probability."""
        return (cls(keep=max(1 - amount, 0.0)),)

    @model_validator(mode="after")
    def _rows(self) -> Self:
        if self.matrix is not None and self.keep is not None:
            raise ValueError("give either keep or matrix")
        for row in (self.matrix or {}).values():
            if abs(sum(row.values()) - 1) > _CLOSE:
                raise ValueError("matrix: the probabilities of each original value must add up to 1")
        return self

    def change(self, values: ColumnValues) -> Drawn:
        """Draw a value for each value, with the probabilities of its row."""
        number = len(values.column.values)
        if number > _MOST:
            raise values.unsuitable(f"it has more than {_MOST} values")
        if self.matrix is None:
            if number < 2:
                raise values.nothing_to_draw("it has a single value")
            counts = values.counts[:number]
            matrix = invariant(counts / max(counts.sum(), 1), 0.9 if self.keep is None else self.keep)
            published = _published(as_text(values.column.values).to_pylist(), counts, matrix, values.least)
            return Drawn(values.column, _Draw.of(values.column, matrix), facts={"matrix": published})
        column, matrix = self._own(values)
        return Drawn(column, _Draw.of(column, matrix), facts={"matrix": self.matrix})

    def _own(self, values: ColumnValues) -> tuple[Column, Floats]:
        """Return the released column and the own matrix, by the codes of the original and of the released column."""
        assert self.matrix is not None  # noqa: S101 - for the type checker
        labels = as_text(values.column.values).to_pylist()
        unknown = sum(label not in self.matrix for label in labels)
        if unknown:
            raise values.unsuitable(f"the matrix has no row for {unknown:,} of its {len(labels):,} values")
        targets = {target for label in labels for target, share in self.matrix[label].items() if share}
        column = _with_labels(values, targets)
        order = as_text(column.values).to_pylist()
        return column, np.array([[self.matrix[label].get(target, 0.0) for target in order] for label in labels])


def invariant(shares: Floats, keep: float) -> Floats:
    """Return a matrix of transition probabilities that leaves the given shares unchanged in expectation.

    >>> matrix = invariant(np.array([0.7, 0.2, 0.1]), 0.8)
    >>> matrix.round(2).tolist()
    [[0.94, 0.04, 0.02], [0.14, 0.84, 0.02], [0.14, 0.04, 0.82]]
    >>> (np.array([0.7, 0.2, 0.1]) @ matrix).round(12).tolist()
    [0.7, 0.2, 0.1]
    """
    return keep * np.eye(len(shares)) + (1 - keep) * shares[None, :]


def _published(labels: Sequence[str], counts: NDArray[np.int64], matrix: Floats, least: int) -> Matrix:
    """Return the matrix by label. It discloses the shares, so values of few persons are merged.

    ``least``: the number of persons below which the frequency of a value is not published.
    """
    rare = hidden(counts, least)
    names = [label for label, is_rare in zip(labels, rare, strict=True) if not is_rare] + [_REST] * bool(rare.any())
    groups = np.where(rare, len(names) - 1, np.cumsum(~rare) - 1)
    to_group = groups[:, None] == np.arange(len(names))
    weights = np.where(rare, counts, 1.0)[:, None] * to_group
    rows = (weights / weights.sum(axis=0)).T @ matrix @ to_group
    return {
        name: dict(zip(names, row.round(_DIGITS).tolist(), strict=True)) for name, row in zip(names, rows, strict=True)
    }


def _with_labels(values: ColumnValues, labels: set[str]) -> Column:
    """Return the column with further values, given by their labels."""
    known = as_text(values.column.values).to_pylist()
    new = sorted(labels - set(known))
    if not new:
        return values.column
    raise values.unsuitable(f"the matrix leads to {len(new):,} values that it does not contain")


@dataclass(frozen=True, slots=True, eq=False)
class _Draw:
    """The draw of values: ``limits`` are the cumulative probabilities of all ``rows``, one after the other."""

    column: Column
    limits: NDArray[np.uint64]
    rows: int

    @classmethod
    def of(cls, column: Column, matrix: Floats) -> "_Draw":
        """Scale the cumulative probabilities of row i to the integers from i·2⁵² to (i + 1)·2⁵²."""
        upper = np.minimum(np.rint(np.cumsum(matrix, axis=1) * 2.0**52), 2.0**52).astype(np.uint64)
        last = matrix.shape[1] - 1 - np.argmax(matrix[:, ::-1] > 0, axis=1)
        upper[np.arange(matrix.shape[1])[None, :] >= last[:, None]] = 1 << 52
        begins = np.arange(len(matrix), dtype=np.uint64) << np.uint64(52)
        return cls(column, (upper + begins[:, None]).ravel(), len(matrix))

    def __call__(self, codes: Codes, words: Words) -> Codes:
        at = (codes.astype(np.uint64) << np.uint64(52)) + (words >> np.uint64(12))
        drawn = np.searchsorted(self.limits, at, "right")
        return with_tail(drawn % (len(self.limits) // self.rows), codes, self.rows, self.column)
