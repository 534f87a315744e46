"""Relocation: outliers move to the nearest class and show its values instead of their own (Nergiz and Gök 2014)."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.grouping import group_rows
from shoal.progress import Hook, Progress
from shoal.recoding.nodes import Floats, Ints, Nodes
from shoal.search.goal import Goal
from shoal.techniques.change import Change, Generalised, Moved, Suppressed
from shoal.techniques.jury import Jury
from shoal.techniques.outliers import OUTLIERS, Outliers
from shoal.techniques.technique import Truth
from shoal.techniques.treatment import Treatment
from shoal.techniques.units import Rows
from shoal.words import counted, short

_TRIED = 20  # maximum number of classes that an outlier tries, nearest first
_ROOM = 1 << 24  # distances that are computed at once


class Relocated(Outliers):
    """Outliers are moved into the nearest class."""

    brief: ClassVar[str] = "they are moved into the nearest class"
    done: ClassVar[str] = "outliers show the values of the nearest class (relocation)"
    truth: ClassVar[Truth] = Truth.PERTURBED
    was: ClassVar[str] = "Relocated records show the values of a similar class."
    may_be: ClassVar[str] = "Some records may show the values of a similar class."
    counts: ClassVar[Mapping[str, str]] = {"moved": "individuals relocated to the nearest class"}

    def told(self, facts: Mapping[str, Any]) -> str:
        """Return a sentence with the number of relocated individuals and their mean displacement."""
        far = f"{short(facts['displacement'])} of the domain"
        return f"{counted(facts['moved'], 'individual')} moved into the nearest class, {far} away on average."

    def deal(self, goal: Goal, treatment: Treatment, progress: Hook) -> Treatment:
        """Move outliers into the nearest class that still passes; suppress outliers whom no class can take."""
        jury = Jury(goal)
        units = jury.single_units
        shown = [change.shown[units.of_row] for change in treatment.generalised]
        hidden = treatment.suppressed[units.of_row]
        kept, outliers = np.flatnonzero(~hidden), np.flatnonzero(hidden)
        if not len(outliers) or not len(kept):
            return treatment
        keys = [cells[kept].astype(np.uint32) for cells in shown]
        classes = group_rows(keys, [len(change.nodes) for change in treatment.generalised], len(kept))
        looks = [cells[kept][classes.first] for cells in shown]
        weights = goal.weighing(goal.space.names)
        distances = [
            displacements(change.nodes, looks_of) for change, looks_of in zip(treatment.generalised, looks, strict=True)
        ]
        codes = [codes_of[outliers] for codes_of in jury.codes]
        near, far = _nearest(distances, codes, weights / weights.sum(), progress)
        class_of = np.full(len(units), len(classes), np.int64)
        class_of[kept] = classes.ids
        taken = _taken(jury, class_of, outliers, near, len(classes))
        first = units.of_row[kept[classes.first]]
        return _moved(treatment, units.of_row, units.persons, outliers, first, near, far, taken)


OUTLIERS.register("relocate")(Relocated())


def displacements(nodes: Nodes, shown: Ints) -> Floats:
    """Return the distance of values from the sets that classes show: ``[class, code]``, from 0 to 1.

    The distance is 0 if the value is in the set. Otherwise, for values on a scale, it is the distance to the interval
    that the set spans, as a share of the range; for other values, it is the share of the domain that the smallest node
    of the hierarchy covers that contains both.

    >>> import shoal
    >>> from shoal.hierarchy.spec import bind
    >>> from shoal.hierarchy.interval import Interval
    >>> from shoal.recoding.nodes import Domain
    >>> table = shoal.read({"age": [31, 34, 41, 71]})
    >>> ladder = bind(Interval(widths=[10, 50]), table, "age")
    >>> nodes, of_code = Nodes.on_level(Domain.of(table["age"], ladder), ladder, 1)
    >>> displacements(nodes, of_code[[0, 3]]).tolist()
    [[0.0, 0.0, 0.05, 0.8], [0.975, 0.9, 0.725, 0.0]]
    """
    size = nodes.domain.codes
    which, of_class = np.unique(shown, return_inverse=True)
    distances = _in_the_tree(nodes, which)
    least, most = nodes.domain.ends
    if nodes.domain.positions is not None and most > least:
        low, high, place = nodes.low[which][:, None], nodes.high[which][:, None], nodes.domain.positions[None, :]
        away = np.maximum(np.maximum(low - place, place - high), 0) / (most - least)
        distances = np.where(np.isnan(away), distances, np.minimum(away, 1))
    inside = nodes.holding(np.repeat(which, size), np.tile(np.arange(size, dtype=np.uint32), len(which)))
    return np.asarray(np.where(inside.reshape(distances.shape), 0.0, distances)[of_class])


def _in_the_tree(nodes: Nodes, which: Ints) -> Floats:
    """Return the share of the domain that the smallest node covers that contains both a set and a code."""
    hierarchy = nodes.domain.hierarchy
    distances = np.ones((len(which), nodes.domain.codes))
    if hierarchy is None:
        return distances
    first = nodes.codes[nodes.starts[which]]
    for level in range(hierarchy.height, -1, -1):
        of_code = hierarchy.nodes(level)
        share = hierarchy.levels[level].leaf_counts()[of_code[first]] / nodes.domain.size
        distances = np.where(of_code[first][:, None] == of_code[None, :], share[:, None], distances)
    return distances


def _nearest(
    distances: Sequence[Floats], codes: Sequence[NDArray[np.unsignedinteger]], weights: Floats, progress: Hook
) -> tuple[Ints, Floats]:
    """Return the nearest classes of each outlier, ties in the order of classes, and their distances."""
    classes, number = len(distances[0]), len(codes[0])
    tried, together = min(_TRIED, classes), max(_ROOM // classes, 1)
    near, far = np.empty((number, tried), np.int64), np.empty((number, tried))
    for begin in range(0, number, together):
        progress(Progress("relocating outliers", begin, number))
        part = slice(begin, min(begin + together, number))
        away = np.zeros((part.stop - begin, classes))
        for weight, distances_of, values in zip(weights, distances, codes, strict=True):
            away += weight * distances_of[:, values[part]].T
        order = np.argsort(away.round(12), axis=1, kind="stable")[:, :tried]
        near[part], far[part] = order, np.take_along_axis(away, order, axis=1)
    return near, far


def _taken(jury: Jury, class_of: Ints, outliers: Rows, near: Ints, classes: int) -> Ints:
    """Return the attempt with which each outlier succeeds; −1 if none succeeds.

    All outliers that try the same class in a round are accepted or rejected together.
    """
    taken = np.full(len(outliers), -1, np.int64)
    for turn in range(near.shape[1]):
        open_ = np.flatnonzero(taken < 0)
        if not len(open_):
            break
        wanted = near[open_, turn]
        attempt = class_of.copy()
        attempt[outliers[open_]] = wanted
        asked = np.zeros(classes + 1, bool)
        asked[wanted] = True
        rows = np.flatnonzero(asked[attempt])
        place = np.cumsum(asked) - 1
        failing = jury.failing(jury.units, rows, place[attempt[rows]].astype(np.uint32), int(asked.sum()))
        good = ~failing[place[wanted]]
        taken[open_[good]] = turn
        class_of = np.where(np.isin(np.arange(len(class_of)), outliers[open_[good]]), attempt, class_of)
    return taken


def _moved(  # noqa: PLR0913, PLR0917 - the treatment and the relocations
    treatment: Treatment,
    of_row: Rows,
    persons: Ints,
    outliers: Rows,
    first: Rows,
    near: Ints,
    far: Floats,
    taken: Ints,
) -> Treatment:
    moved = np.flatnonzero(taken >= 0)
    rows, target = of_row[outliers[moved]], near[moved, taken[moved]]
    changes: list[Change] = []
    for change in treatment.generalised:
        shown, levels = change.shown.copy(), None if change.levels is None else change.levels.copy()
        for array in (shown, levels):
            if array is not None:
                array[rows] = array[first[target]]
        changes.append(Generalised(change.nodes, shown, levels))
    suppressed, elsewhere = treatment.suppressed.copy(), np.zeros(len(treatment.suppressed), bool)
    suppressed[rows], elsewhere[rows] = False, True
    number = persons[outliers[moved]]
    displacement = float((far[moved, taken[moved]] * number).sum() / max(number.sum(), 1))
    left = int(persons[outliers[taken < 0]].sum())
    relocated = treatment.changed(*changes, Suppressed(suppressed, left), Moved(elsewhere))
    return relocated.with_outliers(treatment.facts, moved=int(number.sum()), displacement=displacement)
