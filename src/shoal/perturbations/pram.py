"""Post-randomisation: values change at random, with known probabilities."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

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
    needed to analyse the release; it does not disclose whose value changed. The invariant one is published with the
    released shares in the place of π, because the exact shares would disclose how many individuals had a value.
    """

    kind: Literal["pram"] = "pram"
    keep: Share | None = Field(
        default=None, lt=1, title="Share kept", description="smallest probability that a value stays (default: 0.9)"
    )
    matrix: Mapping[str, Mapping[str, Share]] | None = Field(
        default=None,
        title="Transition matrix",
        description="probability of each released value, by original value; probabilities that are not given are 0",
    )
    says: ClassVar[str] = "Values were replaced at random with known probabilities (PRAM)."
    guarantee: ClassVar[str] = (
        "Unless an own matrix is given, the expected share of each value is that of the original, and a value stays "
        "with at least the probability keep. Each individual is counted once per value."
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
        if self.matrix is not None and all(row.get(label) == 1 for label, row in self.matrix.items()):
            raise ValueError("matrix: no value changes")
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
            matrix = invariant(counts / max(counts.sum(), 1), self._kept)
            exact = _by_label(as_text(values.column.values).to_pylist(), matrix)
            return Drawn(values.column, _Draw.of(values.column, matrix), facts={"matrix": exact})
        column, matrix = self._own(values)
        return Drawn(column, _Draw.of(column, matrix), facts={"matrix": self.matrix})

    def published(self, released: Column, counts: NDArray[np.int64]) -> Mapping[str, Any]:
        """Return the matrix, with the shares of the released values, which disclose nothing about the original.

        Of an own matrix, the rows and columns of released values are returned.
        """
        shown = np.flatnonzero(counts[: len(released.values)])
        if not len(shown):
            return {}
        labels = as_text(released.values.take(shown.tolist())).to_pylist()
        if self.matrix is None:
            shares = counts[shown] / max(counts[shown].sum(), 1)
            return {"matrix": _by_label(labels, invariant(shares, self._kept))}
        rows = {label: self.matrix[label] for label in labels if label in self.matrix}
        known = {label: {target: row[target] for target in labels if target in row} for label, row in rows.items()}
        rest = {label: round(1 - sum(row.values()), _DIGITS) for label, row in known.items()}
        return {
            "matrix": {label: row | ({_REST: rest[label]} if rest[label] > 0 else {}) for label, row in known.items()}
        }

    @property
    def _kept(self) -> float:
        """The smallest probability that a value stays, of an invariant matrix."""
        return 0.9 if self.keep is None else self.keep

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


def _by_label(labels: Sequence[str], matrix: Floats) -> Matrix:
    """Return a matrix by original and released label."""
    return {
        label: dict(zip(labels, row.round(_DIGITS).tolist(), strict=True))
        for label, row in zip(labels, matrix, strict=True)
    }


def _with_labels(values: ColumnValues, labels: set[str]) -> Column:
    """Return the column with further values, given by their labels."""
    known = as_text(values.column.values).to_pylist()
    new = sorted(labels - set(known))
    if not new:
        return values.column
    raise values.unsuitable(f"its matrix leads to values that the column does not contain ({len(new):,})")


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
