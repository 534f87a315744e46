"""LKC-privacy."""

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.exact import Share
from shoal.kernels.ratios import Ratios
from shoal.models.evidence import Evidence
from shoal.models.model import MODELS, AttributeModel, Better, Need, Number, Scope
from shoal.models.named_values import counts_of
from shoal.models.partial import known_partly


@MODELS.register("lkc-privacy")
class LKCPrivacy(AttributeModel):
    """For any L known quasi-identifiers, classes have at least K individuals and no value has a share above C.

    ``n ≥ k`` and ``n_s / n ≤ c`` for every combination of at most l quasi-identifiers and each of its values that
    occurs, where n persons share the value and n_s of them have s. Mohammed et al. 2009, for tables with more columns
    than any adversary knows. Attained: the smallest n, more is better; and the largest share, from 0 to 1, less is
    better.

    >>> import shoal
    >>> data = {"age": [34, 34, 71, 71], "sex": ["f", "m", "f", "m"], "dx": ["flu", "gout", "flu", "flu"]}
    >>> shoal.lkc_privacy(data, quasi=["age", "sex"], sensitive=["dx"], l=1)
    {'k': 2, 'c': 1.0}
    """

    name: ClassVar[str] = "lkc-privacy"
    measured: ClassVar[Mapping[str, Better]] = {"k": Better.MORE, "c": Better.LESS}
    needs: ClassVar[frozenset[Need]] = frozenset({Need.SENSITIVE, Need.SUBSETS})
    scope: ClassVar[Scope] = Scope.TABLE
    always: ClassVar[tuple[str, ...]] = ("l",)
    averages: ClassVar[bool] = True

    l: int = Field(  # noqa: E741 - the paper's name
        default=2, ge=1, strict=True, description="maximum number of known quasi-identifiers"
    )
    k: int | None = Field(default=None, ge=1, strict=True, description="minimum class size")
    c: Share | None = Field(default=None, description="maximum share of a sensitive value in a class, 0 to 1")
    values: tuple[str, ...] | None = Field(default=None, description="values to protect (default: all)")

    def measure(self, evidence: Evidence) -> Mapping[str, Number]:
        """Return the smallest class size, and the largest share of a value."""
        smallest, largest = [], []
        for classes in known_partly(evidence.classes, self.l):
            smallest.append(int(classes.sizes.min()))
            histogram = classes.histograms[evidence.histogram.column.name]
            counts = counts_of(histogram, self.values, self.name)
            largest.append(Ratios(np.maximum.reduceat(counts, histogram.starts[:-1]), classes.sizes).max())
        return {"k": min(smallest), "c": max(largest)}

    def failing(self, evidence: Evidence) -> NDArray[np.bool_]:
        """Return a mask of all classes or none, because a combination of few columns concerns many classes."""
        attained = self.measure(evidence)
        fails = attained["k"] < (self.k or 1) or attained["c"] > (Fraction(1) if self.c is None else self.c)
        return np.full(len(evidence.classes), fails)
