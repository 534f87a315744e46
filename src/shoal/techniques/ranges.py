"""Ranges: groups of units, each shown as the smallest range of values that covers it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.translation import Codes
from shoal.techniques.axis import Axis, TreeAxis
from shoal.techniques.treatment import Treatment
from shoal.techniques.units import Mask, Units

Groups = NDArray[np.intp]


def ranges_of(
    units: Units, axes: Sequence[Axis], codes: Sequence[Codes], group: NDArray[np.unsignedinteger], left: Mask
) -> Treatment:
    """Return the treatment that shows each unit as the range of its group; units that are ``left`` are suppressed.

    ``codes[j]``: the value of each unit on axis j. ``group``: the group of each unit; none is empty.
    """
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order].astype(np.int64), prepend=-1))
    spans = []
    for axis, of_unit in zip(axes, codes, strict=True):
        places = axis.places[of_unit][order]
        spans.append((np.minimum.reduceat(places, starts), np.maximum.reduceat(places, starts)))
    return covered(units, axes, codes, group.astype(np.intp), spans, left)


def covered(  # noqa: PLR0913, PLR0917 - units, their values, and the ranges that cover them
    units: Units,
    axes: Sequence[Axis],
    codes: Sequence[Codes],
    group: Groups,
    spans: Sequence[tuple[NDArray[np.uint32], NDArray[np.uint32]]],
    left: Mask,
) -> Treatment:
    """Return the treatment that shows each unit as the range of its group; ``spans``: the lowest and highest places."""
    sets = []
    for axis, of_unit, (low, high) in zip(axes, codes, spans, strict=True):
        nodes, shown = axis.cells(low, high, group, of_unit)
        sets.append((nodes, shown, axis.levels(low, high)[group] if isinstance(axis, TreeAxis) else None))
    return Treatment.of_units(units, sets, left)
