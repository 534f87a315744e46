"""Distinct l-diversity."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.models.evidence import Evidence
from shoal.models.model import MODELS, AttributeModel, Better, Number


@MODELS.register("l-diversity")
class LDiversity(AttributeModel):
    """Every class has at least l distinct sensitive values.

    ``#{s : s occurs in the class} ≥ l``. Machanavajjhala et al. 2007. Attained: the smallest number of distinct values,
    1 or more; more is better. The share of the most frequent value is not limited: see alpha-k-anonymity. A missing
    value counts as a value.

    >>> import shoal
    >>> data = {"age": [34, 34, 71, 71], "dx": ["flu", "gout", "flu", "flu"]}
    >>> shoal.l_diversity(data, quasi=["age"], sensitive=["dx"])
    1
    """

    name: ClassVar[str] = "l-diversity"
    measured: ClassVar[Mapping[str, Better]] = {"l": Better.MORE}
    counts_up: ClassVar[bool] = True

    l: int | None = Field(default=None, ge=1, strict=True, description="minimum number of distinct values")  # noqa: E741

    @property
    def distinct(self) -> float:
        """The minimum number of distinct sensitive values in a class."""
        return self.l or 1

    def measure(self, evidence: Evidence) -> Mapping[str, Number]:
        """Return the smallest number of distinct values in a class."""
        return {"l": int(evidence.histogram.distinct().min())}

    def least(self, evidence: Evidence) -> int:  # noqa: ARG002 - the same for all tables
        """Return l: a class requires at least as many persons as distinct values."""
        return self.l or 1

    def failing(self, evidence: Evidence) -> NDArray[np.bool_]:
        """Return the mask of classes with too few distinct values."""
        return evidence.histogram.distinct() < (self.l or 1)
