"""Withheld groups: what it tells about their values that they were generalised or suppressed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, lgamma
from math import log as log_of

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.publication import WithheldGroup
from shoal.attacks.scene import Scene
from shoal.classes.classes import Classes
from shoal.classes.histogram import Histogram
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.models.evidence import Evidence
from shoal.models.model import Model
from shoal.recoding.nodes import Floats
from shoal.table.column import Column

Counts = NDArray[np.int64]
_TINY = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class Judge:
    """The requirements on one sensitive column, evaluated on groups that are given by the counts of their values."""

    column: Column
    models: tuple[Model, ...]
    base: Classes
    hierarchies: Mapping[str, Hierarchy]
    reference: Counts

    @classmethod
    def of(cls, scene: Scene, name: str, models: Sequence[Model]) -> "Judge":
        """Take the requirements on a column; ``models``: those of the policy that concern it."""
        table = scene.original
        base = Classes.of(table, table.quasi, ())
        reference = np.bincount(table.codes(name), minlength=table[name].size).astype(np.int64)
        return cls(table[name], tuple(models), base, scene.hierarchies, reference)

    def fails(self, counts: Counts) -> NDArray[np.bool_]:
        """Return whether each group violates a requirement; ``counts[i, v]``: the members of group i with value v."""
        failing = np.zeros(len(counts), bool)
        filled = np.flatnonzero(counts.any(axis=1))
        groups, values = np.nonzero(counts[filled])
        if not len(filled):
            return failing
        entries = counts[filled][groups, values]
        histogram = Histogram.of(
            self.column, groups.astype(np.uint32), values.astype(np.uint32), entries, len(filled), self.reference
        )
        classes = self.base.instead(counts[filled].sum(axis=1), {self.column.name: histogram})
        evidence = Evidence(classes, self.column.name, self.hierarchies)
        for model in self.models:
            failing[filled] |= model.failing(evidence)
        return failing


def posterior(
    judge: Judge,
    group: WithheldGroup,
    prior: Floats,
    draws: int,
    rng: np.random.Generator,
) -> tuple[Floats, float] | None:
    """Return the probability of each value for a member of a group that fails, and the probability of failing.

    All assignments of the values of a class to its members are equally probable. Those in which the group, and the rest
    of its class, would have met the requirements are ruled out. The sum over the number c of members with a value is
    exact; the other values are drawn. None if the values make no difference.
    """
    size = len(group.members)
    weights = np.zeros(len(prior))
    rows, strata = list[Counts](), list[tuple[int, float, int]]()
    for value in np.flatnonzero(prior if group.values is None else group.values).tolist():
        for number, chance in _numbers(group, prior, value, size):
            drawn = _others(group, prior, value, size - number, draws if size > number else 1, rng)
            drawn[:, value] = number
            rows.append(drawn)
            strata.append((value, chance * number / size, len(drawn)))
    failing = judge.fails(np.concatenate(rows))
    if group.values is not None:
        failing |= judge.fails(group.values - np.concatenate(rows))
    if failing.all() or not failing.any():
        return None
    ends = np.cumsum([number for _, _, number in strata])
    for (value, chance, number), end in zip(strata, ends.tolist(), strict=True):
        weights[value] += chance * float(failing[end - number : end].mean())
    total = float(weights.sum())
    return (weights / total, min(total, 1.0)) if total > _TINY else None


def _numbers(group: WithheldGroup, prior: Floats, value: int, size: int) -> Iterator[tuple[int, float]]:
    """Yield the possible numbers of members with a value, from 1 on, each with its probability."""
    if group.values is None:
        for number in range(1, size + 1):
            chance = float(prior[value])
            rest = size - number
            if chance < 1 or not rest:
                log = _choose(size, number) + number * log_of(chance) + (rest * log_of(1 - chance) if rest else 0.0)
                yield number, exp(log)
        return
    whole, there = int(group.values.sum()), int(group.values[value])
    for number in range(max(1, size - (whole - there)), min(size, there) + 1):
        ways = _choose(there, number) + _choose(whole - there, size - number)
        yield number, exp(ways - _choose(whole, size))


def _choose(whole: int, part: int) -> float:
    """Return the logarithm of the number of ways to choose a part."""
    return lgamma(whole + 1) - lgamma(part + 1) - lgamma(whole - part + 1)


def _others(  # noqa: PLR0913, PLR0917 - a group, one of its values, and how to draw the others
    group: WithheldGroup, prior: Floats, value: int, size: int, draws: int, rng: np.random.Generator
) -> Counts:
    """Draw the other values of the members."""
    if group.values is None:
        shares = prior.copy()
        shares[value] = 0
        total = shares.sum()
        return (
            rng.multinomial(size, shares / total, draws) if total and size else np.zeros((draws, len(prior)), np.int64)
        )
    left = group.values.copy()
    left[value] = 0
    return rng.multivariate_hypergeometric(left, size, draws)
