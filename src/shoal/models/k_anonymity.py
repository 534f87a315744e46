"""k-anonymity."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.models.evidence import Evidence
from shoal.models.model import MODELS, Better, Model, Number


@MODELS.register("k-anonymity")
class KAnonymity(Model):
    """Every individual shares the quasi-identifiers with at least k − 1 others.

    A class of n persons is k-anonymous if ``n ≥ k``. Samarati & Sweeney 1998; Sweeney 2002. Attained: the smallest
    class size, 1 or more; more is better.

    >>> import shoal
    >>> shoal.k_anonymity({"age": [34, 34, 71, 71, 71]}, quasi=["age"])
    2
    """

    name: ClassVar[str] = "k-anonymity"
    measured: ClassVar[Mapping[str, Better]] = {"k": Better.MORE}
    reads_wildcards: ClassVar[bool] = True
    counts_up: ClassVar[bool] = True

    k: int | None = Field(default=None, ge=1, strict=True, description="minimum class size")

    def measure(self, evidence: Evidence) -> Mapping[str, Number]:
        """Return the smallest class size."""
        return {"k": int(evidence.classes.crowd.min())}

    def enough(self, evidence: Evidence) -> int:  # noqa: ARG002 - the same for all tables
        """Return k."""
        return self.k or 1

    def failing(self, evidence: Evidence) -> NDArray[np.bool_]:
        """Return the mask of classes that are too small."""
        return evidence.classes.crowd < (self.k or 1)
