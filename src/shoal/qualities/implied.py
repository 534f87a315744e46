"""Implied distributions: how often each value occurs according to a release, all values of a set alike."""

import numpy as np

from shoal.recoding.nodes import Fate, Floats
from shoal.recoding.recoding import Recoded


def observed(recoded: Recoded) -> Floats:
    """Return the share of records that have each code in the original."""
    shares: Floats = recoded.original / recoded.original.sum()
    return shares


def implied(recoded: Recoded, *, lost: bool) -> Floats | None:
    """Return the share of each code that the release implies; ``lost``: suppressed cells speak for all values alike.

    None if no cell says anything. The shares add up to less than 1 where sets hold values that the data do not.

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
    single = np.arange(len(nodes.codes)) < recoded.domain.codes  # what is shown just so is not shared with others
    weights = weights * np.where(single, 1.0, recoded.domain.shares[nodes.codes])
    return np.bincount(nodes.codes, weights, recoded.domain.codes).astype(np.float64)
