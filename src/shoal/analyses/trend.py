"""Trend: the weighted sum of some numbers of a record that another number follows, with deviations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.analyses.places import as_numbers
from shoal.recoding.nodes import Floats

_WORTH = 0.2  # explained variance from which a trend is followed
_COMPLETE = 0.5  # share of the records in which a cause must be known
_IDLE = 1e-3  # share of the spread below which a cause contributes nothing
_EXACT = 1e-9  # unexplained variance of a number that is the sum itself
_FEWEST = 10  # records for each cause


@dataclass(frozen=True, slots=True)
class Trend:
    """The weights of other numbers in the sum that a number follows. ``leaves_rest``: whether it deviates from it."""

    causes: tuple[str, ...]
    weights: tuple[float, ...]
    leaves_rest: bool

    @classmethod
    def of(cls, places: Mapping[str, Floats], name: str, causes: Sequence[str]) -> "Trend | None":
        """Return the least-squares weights; None if the sum explains little, or if too few records are complete.

        >>> x = np.arange(100.0)
        >>> Trend.of({"x": x, "y": 3 * x + 1}, "y", ["x"]).weights
        (3.0,)
        """
        wanted = as_numbers(places[name])
        known = {cause: as_numbers(places[cause]) for cause in causes}
        known = {cause: part for cause, part in known.items() if np.isfinite(part).mean() >= _COMPLETE}
        there = np.logical_and.reduce([np.isfinite(part) for part in (wanted, *known.values())])
        if not known or np.count_nonzero(there) < _FEWEST * (len(known) + 1) or not wanted[there].std():
            return None
        parts = [part[there] - part[there].mean() for part in known.values()]
        told = wanted[there] - wanted[there].mean()
        scales = [float(part.std()) or 1.0 for part in parts]
        columns = np.stack([part / scale for part, scale in zip(parts, scales, strict=True)], axis=1)
        weights = np.linalg.lstsq(columns, told, rcond=None)[0]
        rest = float((told - columns @ weights).var() / told.var())
        if rest > 1 - _WORTH:
            return None
        plain = [round(float(weight) / scale, 12) for weight, scale in zip(weights, scales, strict=True)]
        return cls(tuple(known), tuple(plain), rest > _EXACT)

    def without_idle(self, places: Mapping[str, Floats], spread: float) -> "Trend":
        """Return the trend without causes that contribute nothing. ``spread``: the standard deviation of the number."""
        kept = {
            name: weight
            for name, weight in zip(self.causes, self.weights, strict=True)
            if abs(weight) * float(np.nanstd(as_numbers(places[name]))) > _IDLE * spread
        }
        return Trend(tuple(kept), tuple(kept.values()), self.leaves_rest)

    def sums(self, places: Mapping[str, Floats]) -> Floats:
        """Return the weighted sum of each record, up to a constant; NaN where a number is missing."""
        parts = (weight * as_numbers(places[name]) for name, weight in zip(self.causes, self.weights, strict=True))
        return np.asarray(sum(parts))

    def difference(self, made: Mapping[str, Floats], others: Mapping[str, Floats], chosen: NDArray[np.intp]) -> Floats:
        """Return by how much records differ from the chosen others in the sum; 0 where a number is missing."""
        gap = self.sums(made) - self.sums(others)[chosen]
        return np.where(np.isfinite(gap), gap, 0.0)
