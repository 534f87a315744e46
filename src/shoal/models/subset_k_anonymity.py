"""k-anonymity over subsets of the quasi-identifiers."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.models.evidence import Evidence
from shoal.models.model import MODELS, Better, Model, Monotone, Need, Number, Scope
from shoal.models.partial import known_partly


@MODELS.register("subset-k-anonymity")
class SubsetKAnonymity(Model):
    """For every combination of at most m quasi-identifiers, classes have at least k individuals.

    ``n ≥ k`` for every combination of at most m quasi-identifiers and each of its values that occurs, where n persons
    share the value. The relational form of k^m-anonymity (Terrovitis et al. 2008); with all quasi-identifiers,
    k-anonymity. Attained: the smallest n, 1 or more; more is better.

    >>> import shoal
    >>> data = {"age": [34, 34, 71, 71], "sex": ["f", "m", "f", "m"]}
    >>> shoal.subset_k_anonymity(data, quasi=["age", "sex"], m=1), shoal.k_anonymity(data, quasi=["age", "sex"])
    (2, 1)
    """

    name: ClassVar[str] = "subset-k-anonymity"
    measured: ClassVar[Mapping[str, Better]] = {"k": Better.MORE}
    needs: ClassVar[frozenset[Need]] = frozenset({Need.SUBSETS})
    scope: ClassVar[Scope] = Scope.TABLE
    always: ClassVar[tuple[str, ...]] = ("m",)

    m: int = Field(default=3, ge=1, strict=True, description="maximum number of known quasi-identifiers")
    k: int | None = Field(default=None, ge=1, strict=True, description="minimum class size")

    def measure(self, evidence: Evidence) -> Mapping[str, Number]:
        """Return the smallest class size over all combinations."""
        return {"k": min(int(classes.sizes.min()) for classes in known_partly(evidence.classes, self.m))}

    def failing(self, evidence: Evidence) -> NDArray[np.bool_]:
        """Return a mask of all classes or none, because a combination of few columns concerns many classes."""
        return np.full(len(evidence.classes), self.measure(evidence)["k"] < (self.k or 1))

    def monotone(self, *, overlap: bool = False) -> Monotone:  # noqa: ARG002 - counts of persons only grow
        """Return the properties that a search may rely on.

        Merged classes are larger, but suppression of a person reduces the classes of others.
        """
        return Monotone(generalisation=True, suppression=False)
