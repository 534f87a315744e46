"""p-sensitive k-anonymity, and two stricter variants based on categories of sensitive values."""

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.classes.histogram import Histogram
from shoal.errors import ModelError
from shoal.exact import Positive
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.kernels.grouping import group
from shoal.kernels.ratios import Ratios
from shoal.models.evidence import Evidence
from shoal.models.model import MODELS, AttributeModel, Better, Need, Number


class _KAndP(AttributeModel):
    counts_up: ClassVar[bool] = True
    measured: ClassVar[Mapping[str, Better]] = {"p": Better.MORE, "k": Better.MORE}

    p: int | None = Field(default=None, ge=1, strict=True, description="minimum number of distinct values")
    k: int | None = Field(default=None, ge=1, strict=True, description="minimum class size")

    @property
    def distinct(self) -> float:
        """The minimum number of distinct sensitive values, or categories, in a class."""
        return self.p or 1

    def measure(self, evidence: Evidence) -> Mapping[str, Number]:
        """Return the smallest number of distinct values, and the smallest class size."""
        return {"p": int(self._different(evidence).min()), "k": int(evidence.classes.sizes.min())}

    def failing(self, evidence: Evidence) -> NDArray[np.bool_]:
        """Return the mask of classes that are too small, or have too few distinct values."""
        return (self._different(evidence) < (self.p or 1)) | (evidence.classes.sizes < (self.k or 1))

    def least(self, evidence: Evidence) -> int:  # noqa: ARG002 - the same for all tables
        """Return the larger of k and p."""
        return max(self.k or 1, self.p or 1)

    def _different(self, evidence: Evidence) -> NDArray[np.int64]:
        return evidence.histogram.distinct()


@MODELS.register("p-sensitive-k-anonymity")
class PSensitiveKAnonymity(_KAndP):
    """Every class has at least k individuals and at least p distinct sensitive values.

    ``n ≥ k`` and ``#{s : s occurs in the class} ≥ p``. Truta & Vinay 2006. Attained: both minima; more is better.

    >>> import shoal
    >>> data = {"age": [34, 34, 34], "dx": ["flu", "flu", "gout"]}
    >>> shoal.p_sensitive_k_anonymity(data, quasi=["age"], sensitive=["dx"])
    {'p': 2, 'k': 3}
    """

    name: ClassVar[str] = "p-sensitive-k-anonymity"


@MODELS.register("p-plus-sensitive-k-anonymity")
class PPlusSensitiveKAnonymity(_KAndP):
    """Every class has at least k individuals and at least p distinct categories of sensitive values.

    ``n ≥ k`` and ``#{category : one of its values occurs in the class} ≥ p``. Sun et al. 2008 (p⁺-sensitive). The
    categories are the nodes on one level of the column's hierarchy. Attained: both minima; more is better.

    >>> import shoal
    >>> data = {"age": [34, 34], "dx": ["E11", "E10"]}
    >>> ladder = {"dx": {"kind": "prefix", "keep": [1]}}
    >>> shoal.p_plus_sensitive_k_anonymity(data, quasi=["age"], sensitive=["dx"], hierarchies=ladder)
    {'p': 1, 'k': 2}
    """

    name: ClassVar[str] = "p-plus-sensitive-k-anonymity"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.SENSITIVE, Need.HIERARCHY})

    p: int | None = Field(default=None, ge=1, strict=True, description="minimum number of distinct categories")
    level: int = Field(default=1, ge=0, strict=True, description="level of the hierarchy that defines the categories")

    def _different(self, evidence: Evidence) -> NDArray[np.int64]:
        node = _categories(evidence.hierarchy, self.level)[evidence.histogram.codes]
        return _distinct_pairs(evidence.histogram, node)


@MODELS.register("p-alpha-sensitive-k-anonymity")
class PAlphaSensitiveKAnonymity(_KAndP):
    """Every class has at least k individuals and p sensitive values, whose weights by category sum to at least α.

    ``n ≥ k``, ``#{s : s occurs in the class} ≥ p`` and ``Σ weight(s) ≥ α`` over these distinct values. Sun et al. 2008.
    A value has the weight of its category: ``(i − 1) / (m − 1)`` for the i-th of m categories, from most to least
    sensitive, unless ``weights`` are given. The categories are the nodes on one level of the column's hierarchy, in its
    order. Attained: the three minima; more is better.

    >>> import shoal
    >>> data = {"age": [34, 34], "dx": ["E11", "F20"]}
    >>> ladder = {"dx": {"kind": "prefix", "keep": [1]}}
    >>> shoal.p_alpha_sensitive_k_anonymity(data, quasi=["age"], sensitive=["dx"], hierarchies=ladder)
    {'p': 2, 'k': 2, 'alpha': 1.0}
    """

    name: ClassVar[str] = "p-alpha-sensitive-k-anonymity"
    measured: ClassVar[Mapping[str, Better]] = {"p": Better.MORE, "k": Better.MORE, "alpha": Better.MORE}
    needs: ClassVar[frozenset[Need]] = frozenset({Need.SENSITIVE, Need.HIERARCHY})

    alpha: Positive | None = Field(
        default=None,
        description="minimum sum of the weights of the distinct values; a value has the weight of its category, from 0 "
        "(most sensitive) to 1",
    )
    level: int = Field(default=1, ge=0, strict=True, description="level of the hierarchy that defines the categories")
    weights: dict[str, Positive] | None = Field(
        default=None, description="weight of each category, by its label; otherwise equidistant"
    )

    def measure(self, evidence: Evidence) -> Mapping[str, Number]:
        """Return the three minima."""
        return {**super().measure(evidence), "alpha": self._weighing(evidence).min()}

    def failing(self, evidence: Evidence) -> NDArray[np.bool_]:
        """Return the mask of classes that are too small, or whose distinct values are too few or weigh too little."""
        light = self._weighing(evidence).below(Fraction(0) if self.alpha is None else self.alpha)
        return super().failing(evidence) | light

    def _weighing(self, evidence: Evidence) -> Ratios:
        weights, unit = _weights(evidence.hierarchy, self.level, self.weights)
        node = _categories(evidence.hierarchy, self.level)[evidence.histogram.codes]
        sums = evidence.histogram.summed(weights[node])
        return Ratios(sums, np.full(len(sums), unit, np.int64))


def _categories(hierarchy: Hierarchy, level: int) -> NDArray[np.uint32]:
    if level > hierarchy.height:
        raise ModelError(
            "no-such-level",
            "The hierarchy of column '{column}' has no level {level}. Its last level is {top}.",
            column=hierarchy.column,
            level=level,
            top=hierarchy.height,
        )
    return hierarchy.nodes(level)


def _distinct_pairs(histogram: Histogram, node: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Count the distinct nodes of each class."""
    size, number = int(node.max()) + 1, len(histogram.starts) - 1
    pairs = group(histogram.classes.astype(np.uint64) * np.uint64(size) + node, number * size)
    return np.bincount(histogram.classes[pairs.first], minlength=number)


def _weights(hierarchy: Hierarchy, level: int, given: Mapping[str, Fraction] | None) -> tuple[NDArray[np.int64], int]:
    """Return the weights of the categories as multiples of a unit fraction, and its denominator.

    Missing values have the weight 0.
    """
    labels = hierarchy.levels[level].labels if level <= hierarchy.height else ()
    there = np.array([label is not None for label in labels])
    if given is None:
        return np.where(there, np.cumsum(there) - 1, 0), max(int(there.sum()) - 1, 1)
    unknown = set(given) - {label for label in labels if label is not None}
    lacking = [label for label in labels if label is not None and label not in given]
    if unknown or lacking:
        raise ModelError(
            "weights-of-categories",
            "The weights do not match the categories of column '{column}': {lacking:category} without a weight, "
            "{unknown:weight} without a category.",
            remedy="Give a weight to each label of that level of the hierarchy.",
            column=hierarchy.column,
            lacking=len(lacking),
            unknown=len(unknown),
        )
    exact = [Fraction(0) if label is None else given[label] for label in labels]
    unit = int(np.lcm.reduce([weight.denominator for weight in exact]))
    return np.array([int(weight * unit) for weight in exact], np.int64), unit
