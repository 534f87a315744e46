"""The Kullback–Leibler divergence."""

from typing import ClassVar

import numpy as np

from shoal.kernels.grouping import group
from shoal.qualities.ambiguity import bits
from shoal.qualities.implied import implied, observed
from shoal.qualities.quality import QUALITIES, Aspect, Measured, Quality, Score, lost_share
from shoal.recoding.nodes import Floats
from shoal.recoding.recoding import Recoded, Recoding


@QUALITIES.register("kl-divergence")
class KullbackLeibler(Quality):
    """How far the distribution that a release implies is from that of the original, in bits per record.

    ``Σ p(x) log₂(p(x) / q(x))``, where p is the share of a combination of quasi-identifiers in the original, and q what
    the release says if all combinations that a class could be are equally likely. Kifer & Gehrke 2006. A column's
    value is that of its own distribution. In total, a combination is looked for in the classes that its own records
    are in, and among suppressed records. Others may hold it, too, unless equal records became equal: then the value is
    an upper bound.
    Value: 0 or more. Cost: the share of what it is if everything is suppressed.

    >>> import shoal
    >>> round(shoal.compare({"x": list("aaab")}, {"x": ["{a, b}"] * 4}).quality["kl-divergence"].total.value, 4)
    0.1887
    """

    name: ClassVar[str] = "kl-divergence"
    aspect: ClassVar[Aspect] = Aspect.RELATIONS
    unit: ClassVar[str] = "bits"
    matched: ClassVar[bool] = True

    def measured(self, recoding: Recoding) -> Measured:
        """Measure the columns and the whole."""
        return self.result(_joint(recoding), {column.name: _marginal(column) for column in recoding.columns})


def _marginal(recoded: Recoded) -> Score:
    before, after = observed(recoded), implied(recoded, lost=True)
    if after is None:
        return Score(0.0, 0.0)
    value = _divergence(before, after)
    most = np.log2(recoded.domain.size) - _entropy(before)
    return Score(value, _share(value, most, lost_share(recoded)))


def _joint(recoding: Recoding) -> Score:
    """Add up for each original combination what its classes and the suppressed records say about it."""
    size = recoding.records
    originals = recoding.originals
    before = np.bincount(originals.ids, recoding.counts, len(originals)) / size
    classes = recoding.classes
    number = len(classes.sizes)
    kept = np.flatnonzero(~recoding.suppressed)
    pairs = group(originals.ids[kept].astype(np.uint64) * np.uint64(number + 1) + classes.of_row[kept])
    rows = kept[pairs.first]
    width = np.sum([bits(column)[column.at[rows]] for column in recoding.of_quasi], axis=0)
    density = classes.sizes[classes.of_row[rows]] / size * np.exp2(-width)
    after = np.bincount(originals.ids[rows], density, len(before)).astype(np.float64)
    domain = float(np.sum([np.log2(column.domain.size) for column in recoding.of_quasi]))
    after += (1 - recoding.kept / size) * np.exp2(-domain)
    value, gone = _divergence(before, after), float(np.mean([lost_share(column) for column in recoding.of_quasi]))
    return Score(value, _share(value, domain - _entropy(before), gone))


def _divergence(before: Floats, after: Floats) -> float:
    held = before > 0
    return max(float((before[held] * np.log2(before[held] / after[held])).sum()), 0.0)


def _entropy(shares: Floats) -> float:
    held = shares[shares > 0]
    return float(-(held * np.log2(held)).sum())


def _share(value: float, most: float, otherwise: float) -> float:
    return min(value / most, 1.0) if most > 1e-12 else otherwise
