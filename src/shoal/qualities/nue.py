"""Generic non-uniform entropy, for any mix of generalisation, local recoding and suppression."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.qualities.nesting import Forest
from shoal.qualities.quality import QUALITIES, Aspect, Counts, LevelQuality, Pricing, Score, lost_share
from shoal.recoding.nodes import Floats, Ints
from shoal.recoding.recoding import Recoded, Recoding
from shoal.recoding.rungs import Rungs


@QUALITIES.register("nue")
class NonUniformEntropy(LevelQuality):
    """Non-uniform entropy for any mix of recodings: the information lost by generalisation, in bits.

    A value v that is released as the set N passes through the released sets {v} ⊂ M ⊂ … ⊂ N. A step from M' to M costs
    ``log₂(f(M) / f(M'))``, where f counts only the records that are generalised at least as far as M. The loss of a
    table is the sum over its records. Prasser, Bild & Kuhn 2016. The paper uses the levels of a hierarchy; only the
    sets that occur matter, so no hierarchy is needed.

    Value: bits, 0 or more. Cost: the value as a share of the loss if everything is suppressed, ``Σ log₂(n / f(v))``.

    >>> import shoal
    >>> age = [20, 65, 55, 40, 65, 65]
    >>> shown = ["20-79", "20-79", "40-59", "40-59", "65", "65"]
    >>> shoal.compare({"age": age}, {"age": shown}).quality["nue"].total.value
    4.0
    """

    name: ClassVar[str] = "nue"
    title: ClassVar[str] = "non-uniform entropy"
    aspect: ClassVar[Aspect] = Aspect.VALUES
    unit: ClassVar[str] = "bits"
    matched: ClassVar[bool] = True

    def column(self, recoded: Recoded) -> Score:
        """Measure one column."""
        lost, most = generic_loss(recoded), greatest_loss(recoded)
        return Score(lost, lost / most if most else lost_share(recoded))

    def total(self, scores: Mapping[str, Score], recoding: Recoding) -> Score:
        """Return the sum over the columns, and its share of the sum of their greatest losses."""
        return pooled(scores, recoding)

    def pricing(self, rungs: Rungs) -> Pricing:
        """Return a function that computes the loss of the column.

        The loss is that of generalising all records to their node, and suppressed records from there to the whole
        domain.
        """
        hidden, _ = rungs.spread(lambda nodes: nodes.lost.astype(np.float64))
        climbed = xlogx(rungs.records).sum(axis=-1) - _weighed(rungs.original)
        always = np.where(hidden > 0, rungs.records, 0)

        def prices(levels: Counts, lost: Counts) -> Floats:
            gone = np.maximum(lost, always[levels])
            bits: Floats = climbed[levels] + xlogx(gone.sum(axis=-1)) - xlogx(gone).sum(axis=-1)
            return bits

        return prices

    def price(self, score: Score) -> float:
        """Return the loss in bits."""
        return score.value

    def steady(self, rungs: Rungs) -> bool:
        """Return whether the same values are suppressed on every level, apart from the top levels where all are."""
        hidden, _ = rungs.spread(lambda nodes: nodes.lost.astype(np.float64))
        shown = rungs.by_code(hidden) == 0
        some = shown.any(axis=1)
        return bool((np.diff(some.astype(np.int8)) <= 0).all() and (shown[some] == shown[:1]).all())

    def whole(self, sums: Floats, weight: float) -> Floats:  # noqa: ARG002 - the divisor of other measures
        """Return the sum of the bits."""
        return sums


def xlogx(counts: Counts) -> Floats:
    """Return c log₂ c for each count.

    >>> import numpy as np
    >>> xlogx(np.array([0, 1, 2, 4])).tolist()
    [0.0, 0.0, 2.0, 8.0]
    """
    numbers = counts.astype(np.float64)
    return numbers * np.log2(np.maximum(numbers, 1.0))


def pooled(scores: Mapping[str, Score], recoding: Recoding) -> Score:
    """Return the sum of the bits, and its share of the sum of the greatest losses of the columns."""
    lost = sum(score.value for score in scores.values())
    most = sum(greatest_loss(recoding[name]) for name in scores)
    constant = np.mean([score.cost for score in scores.values()])  # if no column has anything to lose
    return Score(lost, lost / most if most else float(constant))


def greatest_loss(recoded: Recoded) -> float:
    """Return the loss if everything is suppressed: ``Σ log₂(n / f(v))`` over all records.

    >>> import shoal
    >>> recoding = shoal.compare({"sex": list("fmfm")}, {"sex": list("****")}).recoding
    >>> greatest_loss(recoding["sex"])
    4.0
    """
    return entropy(recoded.original)


def entropy(counts: NDArray[np.integer]) -> float:
    """Return the number of bits needed to identify the group of each of the Σ c records."""
    counts = counts[counts > 0].astype(np.float64)
    whole = counts.sum()
    return float(whole * np.log2(whole) - (counts * np.log2(counts)).sum()) if len(counts) > 1 else 0.0


def generic_loss(recoded: Recoded) -> float:
    """Return the generic non-uniform entropy of a column, in bits."""
    pairs, nodes = recoded.pairs, recoded.nodes
    wide = nodes.sizes[pairs.nodes] > 1
    if not wide.any():
        return 0.0
    used, of_pair = np.unique(pairs.nodes[wide], return_inverse=True)
    sets: dict[bytes, int] = {}
    same = np.array([sets.setdefault(nodes.members(node).tobytes(), len(sets)) for node in used.tolist()])
    different = used[np.unique(same, return_index=True)[1]]
    return _climbed(Forest.of(nodes, different), pairs.codes[wide], same[of_pair], pairs.counts[wide])


def _climbed(forest: Forest, codes: Ints, target: Ints, counts: Ints) -> float:
    """Return the total cost of the steps from the values of all records to the sets that they show."""
    sizes, limit = forest.sizes, forest.sizes[target]
    passing, leaving = np.zeros(len(sizes)), np.zeros(len(sizes))
    alone = np.zeros(len(forest.first))
    here, following = np.full(len(codes), -1), forest.first[codes]
    going = (following >= 0) & (sizes[following] <= limit)
    np.add.at(alone, codes[going], counts[going])
    while going.any():
        here[going] = following[going]
        np.add.at(passing, here[going], counts[going])
        following = np.where(going, forest.parent[here], -1)
        going &= (following >= 0) & (sizes[following] <= limit)
        np.add.at(leaving, here[going], counts[going])
    apart = forest.loose[target]
    into = np.bincount(target[apart], counts[apart])
    child = np.where(here[apart] >= 0, here[apart], len(sizes) + codes[apart])
    _, of_child = np.unique(np.stack([target[apart], child]), axis=1, return_inverse=True)
    lost = _weighed(passing) - _weighed(leaving) - _weighed(alone)
    return lost + _weighed(into) - _weighed(np.bincount(of_child, counts[apart]))


def _weighed(counts: NDArray[Any]) -> float:
    """Return Σ c log₂ c, identical to the last digit for any order of the counts."""
    counts = np.sort(counts[counts > 0])
    return float((counts * np.log2(counts)).sum())
