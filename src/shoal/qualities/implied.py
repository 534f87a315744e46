"""Implied distributions: value frequencies according to a release, with all values of a set equally likely."""

import numpy as np

from shoal.recoding.nodes import Fate, Floats
from shoal.recoding.recoding import Recoded


def observed(recoded: Recoded) -> Floats:
    """Return the share of records with each code in the original."""
    shares: Floats = recoded.original / recoded.original.sum()
    return shares


def implied(recoded: Recoded, *, lost: bool) -> Floats | None:
    """Return the share of each code that the release implies; None if no cell carries information.

    ``lost``: suppressed cells are included, evenly distributed over all values. The shares sum to less than 1 if sets
    contain values that do not occur in the data.

    >>> import shoal
    >>> recoding = shoal.compare({"x": list("aabc")}, {"x": ["{a, b}", "{a, b}", "{a, b}", "c"]}).recoding
    >>> implied(recoding["x"], lost=False).tolist()
    [0.375, 0.375, 0.25]
    """
    nodes, counts = recoded.nodes, recoded.node_counts
    speaking = counts if lost else np.where(nodes.fates < Fate.SUPPRESSED, counts, 0)
    if not speaking.any():
        return None
    density = speaking / speaking.sum() / np.maximum(nodes.leaves, 1)
    weights = np.repeat(density, nodes.sizes)
    single = np.arange(len(nodes.codes)) < recoded.domain.codes  # single values are not shared
    weights = weights * np.where(single, 1.0, recoded.domain.shares[nodes.codes])
    return np.bincount(nodes.codes, weights, recoded.domain.codes).astype(np.float64)
