"""Places: units as points whose squared distances measure how different their values are.

Numbers and dates have one coordinate. Other values have one for each node of their hierarchy, such that the squared
distance of two values is the share of the domain that the smallest node covers that contains both. Missing values are
at the mean, and far from all others in a coordinate of their own. The variance of a column is the square of its weight.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.microaggregation import Coordinates
from shoal.kernels.translation import Codes
from shoal.recoding.nodes import Domain, Floats
from shoal.search.objective import Ints

_APART = 3.0  # standard deviations between a missing value and the mean
_MOST = 64  # maximum number of coordinates of a column


def places(domains: Sequence[Domain], codes: Sequence[Codes], persons: Ints, weights: Floats) -> Coordinates:
    """Return the coordinates of units: ``codes[j]`` are their values in column j, ``weights[j]`` its weight.

    >>> import shoal
    >>> table = shoal.read({"age": [30, 40, 50], "sex": ["f", "m", "m"]})
    >>> domains = [Domain.of(table[name]) for name in table.names]
    >>> points = places(domains, [table.codes(name) for name in table.names], np.ones(3), np.ones(2))
    >>> points.shape, points.var(axis=0).round(2).tolist()
    ((3, 3), [1.0, 0.5, 0.5])
    """
    parts = [np.zeros((len(persons), 0))]
    for domain, of_unit, weight in zip(domains, codes, weights, strict=True):
        of_code = _numbers(domain, of_unit, persons) if domain.positions is not None else _categories(domain)
        parts.append(_scaled(of_code[of_unit], persons) * weight)
    joined = np.concatenate(parts, axis=1)
    return np.ascontiguousarray(joined[:, (joined != 0).any(axis=0)])


def _scaled(coordinates: Coordinates, persons: Ints) -> Coordinates:
    """Return coordinates with mean 0, and a variance of 1 in total."""
    if not len(coordinates):
        return coordinates
    centred = coordinates - np.average(coordinates, axis=0, weights=persons)
    spread = float(np.average((centred * centred).sum(axis=1), weights=persons))
    return np.asarray(centred / np.sqrt(spread)) if spread > 0 else np.zeros(centred.shape)


def _numbers(domain: Domain, of_unit: Codes, persons: Ints) -> Coordinates:
    """Return the coordinates of each code of a column of numbers or dates."""
    positions = np.where(domain.hidden, np.nan, domain.positions if domain.positions is not None else np.nan)
    unknown = np.isnan(positions)
    known = ~unknown[of_unit]
    if not known.any():
        return np.zeros((domain.codes, 1))
    values, heavy = positions[of_unit[known]], persons[known]
    mean = float(np.average(values, weights=heavy))
    spread = float(np.sqrt(np.average((values - mean) ** 2, weights=heavy)))
    line = np.where(unknown, mean, positions)
    return np.stack([line, unknown * (_APART * (spread or 1.0))], axis=1)


def _categories(domain: Domain) -> Coordinates:
    """Return the coordinates of each code of a column without a scale.

    A node has the coordinate √((h − h′) / 2), where h is the share of the domain that the node above it covers, and h′
    its own, or 0 for a single value: two values then have the squared distance h of the node that covers both. If a
    level has too many nodes, its values are put on a line in their order instead.
    """
    levels = _levels(domain)
    heights = [np.where(np.bincount(nodes)[nodes] > 1, np.bincount(nodes)[nodes], 0) / domain.codes for nodes in levels]
    lines = [np.zeros((domain.codes, 0))]
    for number in range(len(levels) - 2, -1, -1):
        nodes, above = levels[number], heights[number + 1]
        if sum(line.shape[1] for line in lines) + int(nodes.max()) + 1 > _MOST:
            lines.append(_on_a_line(levels[number + 1], above)[:, None])
            break
        line = np.zeros((domain.codes, int(nodes.max()) + 1))
        line[np.arange(domain.codes), nodes] = np.sqrt((above - heights[number]) / 2)
        lines.append(line)
    return np.concatenate(lines, axis=1)


def _levels(domain: Domain) -> list[NDArray[np.int64]]:
    """Return the node of each code per level: from single values to one node for all."""
    single, every = np.arange(domain.codes), np.zeros(domain.codes, np.int64)
    hierarchy = domain.hierarchy
    between = [] if hierarchy is None else [hierarchy.nodes(level) for level in range(hierarchy.height)]
    numbered = [np.unique(nodes, return_inverse=True)[1].astype(np.int64) for nodes in between]
    return [single, *numbered, every]


def _on_a_line(above: NDArray[np.int64], height: Floats) -> Floats:
    """Return the place of each code among those of the same node, from 0 to the height of the node."""
    order = np.argsort(above, kind="stable")
    counts = np.bincount(above)
    rank = np.empty(len(above))
    rank[order] = np.arange(len(above)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.asarray(rank / np.maximum(counts[above] - 1, 1) * height)
