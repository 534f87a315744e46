"""Clustering agreement."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.errors import RecodingError
from shoal.models.model import Better
from shoal.qualities.quality import QUALITIES, Aspect, Measured, Quality, Score
from shoal.recoding.features import Features
from shoal.recoding.nodes import Floats, Ints
from shoal.recoding.recoding import Recoding


@QUALITIES.register("clustering-agreement")
class ClusteringAgreement(Quality):
    """Agreement of clusterings of the original and the release.

    The records are clustered twice by k-means on standardised features, before and after; suppressed records form a
    cluster of their own. The value is the adjusted Rand index of the two clusterings: 1 if they are identical, 0 if
    they agree no more than by chance. After Ferrão, Prata & Fazendeiro 2022. Cost: 1 − value, at most 1. Computed with
    scikit-learn.

    >>> import shoal
    >>> before, after = {"x": [1, 2, 8, 9]}, {"x": ["1-2", "1-2", "8-9", "8-9"]}
    >>> found = shoal.compare(before, after, qualities=["clustering-agreement"], clusters=2)
    >>> found.quality["clustering-agreement"].total.value
    1.0
    """

    name: ClassVar[str] = "clustering-agreement"
    aspect: ClassVar[Aspect] = Aspect.RELATIONS
    across_columns: ClassVar[bool] = True
    unit: ClassVar[str] = "index"
    better: ClassVar[Better] = Better.MORE
    matched: ClassVar[bool] = True
    of_counts: ClassVar[bool] = False

    clusters: int = Field(default=5, ge=2, description="number of clusters")
    seed: int = Field(default=0, ge=0, description="seed of the initial clusters")

    def measured(self, recoding: Recoding) -> Measured:
        """Cluster the records before and after, and compare the clusterings."""
        features = Features.of(recoding.of_quasi)
        kept = ~recoding.suppressed
        first = self._labels(features.before, recoding.counts)
        second = np.full(len(kept), self.clusters)
        if kept.any():
            second[kept] = self._labels(features.after[kept], recoding.counts[kept])
        index = adjusted_rand(first, second, recoding.counts)
        return self.result(Score(index, 1 - max(index, 0.0)))

    def _labels(self, features: Floats, counts: Ints) -> Ints:
        """Return the cluster of each row; a missing cell counts as the mean of its column."""
        known = ~np.isnan(features)
        weights = np.where(known, counts[:, None], 0).astype(np.float64)
        sums = np.maximum(weights.sum(axis=0), 1e-300)
        means = (np.where(known, features, 0.0) * weights).sum(axis=0) / sums
        apart = np.where(known, features - means, 0.0)
        spread = np.sqrt((apart * apart * weights).sum(axis=0) / sums)
        scaled = np.round(apart / np.where(spread > 0, spread, 1.0), 12)
        number = min(self.clusters, len(np.unique(scaled, axis=0)))
        labels: Ints = _k_means(number, self.seed, scaled, counts)
        return labels


def _k_means(clusters: int, seed: int, features: Floats, counts: Ints) -> Ints:
    try:
        from sklearn.cluster import KMeans
        from threadpoolctl import threadpool_limits
    except ImportError:
        kind = None
    else:
        kind = KMeans
    if kind is None:
        raise RecodingError(
            "not-installed",
            "Clustering requires scikit-learn, which is not installed.",
            remedy='Run pip install "shoal[analysis]".',
        )
    with threadpool_limits(1):
        clusters_of = kind(clusters, n_init=5, random_state=seed).fit(features, sample_weight=counts)
    labels: Ints = clusters_of.labels_.astype(np.int64)
    return labels


def adjusted_rand(left: Ints, two: Ints, counts: Ints) -> float:
    """Return the agreement of two clusterings beyond chance (Hubert & Arabie 1985).

    >>> import numpy as np
    >>> adjusted_rand(np.array([0, 0, 1, 1]), np.array([5, 5, 3, 3]), np.ones(4, int))
    1.0
    """
    width = int(two.max()) + 1
    both, first, second = (_pairs(np.bincount(labels, counts)) for labels in (left * width + two, left, two))
    every = _pairs(np.array([counts.sum()]))
    chance, most = first * second / every if every else 0.0, (first + second) / 2
    return float((both - chance) / (most - chance)) if most != chance else 1.0


def _pairs(sizes: NDArray[Any]) -> float:
    """Return the number of pairs of records within the same group."""
    return float((sizes * (sizes - 1) / 2).sum())
