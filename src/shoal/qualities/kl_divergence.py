"""The Kullback–Leibler divergence."""

from typing import ClassVar

import numpy as np

from shoal.kernels.grouping import group_rows
from shoal.kernels.summing import summed
from shoal.qualities.ambiguity import bits
from shoal.qualities.implied import implied, observed
from shoal.qualities.quality import QUALITIES, Aspect, Measured, Quality, Score
from shoal.recoding.nodes import Floats, Ints
from shoal.recoding.recoding import Recoded, Recoding

MOST = 20_000_000  # maximum number of pairs of a combination and a class that are compared


@QUALITIES.register("kl-divergence")
class KullbackLeibler(Quality):
    """Kullback–Leibler divergence of the distribution implied by the release from the original, in bits per record.

    ``Σ p(x) log₂(p(x) / q(x))``, where p is the share of a combination of quasi-identifier values in the original, and
    q the share implied by the release if all combinations that a record is consistent with are equally likely; a
    suppressed record is consistent with all. Kifer & Gehrke 2006. The value of a column is the divergence of its own
    distribution. Value: 0 or more. Cost: the value as a share
    of the bits of the domain, ``log₂ d``. Uniformly distributed values lose nothing by this measure, even if all are
    suppressed.

    >>> import shoal
    >>> round(shoal.compare({"x": list("aaab")}, {"x": ["{a, b}"] * 4}).quality["kl-divergence"].total.value, 4)
    0.1887
    """

    name: ClassVar[str] = "kl-divergence"
    title: ClassVar[str] = "Kullback–Leibler divergence of the joint distribution"
    aspect: ClassVar[Aspect] = Aspect.RELATIONS
    across_columns: ClassVar[bool] = True
    unit: ClassVar[str] = "bits"
    matched: ClassVar[bool] = True
    costs_all: ClassVar[bool] = False

    def measured(self, recoding: Recoding) -> Measured:
        """Measure each column and the joint distribution."""
        columns = {column.name: _marginal(column) for column in recoding.columns}
        implied_bits = _joint(recoding)
        if implied_bits is None:
            return self.result(None, columns, {"total": "too many classes could hold a combination"})
        before = recoding.sizes / recoding.records
        value = max(float((before * (np.log2(before) - implied_bits)).sum()), 0.0)
        return self.result(_score(value, sum(np.log2(column.domain.size) for column in recoding.of_quasi)), columns)


def _score(value: float, most: float) -> Score:
    return Score(value, min(value / most, 1.0) if most else 0.0)


def _marginal(recoded: Recoded) -> Score:
    before, after = observed(recoded), implied(recoded, lost=True)
    if after is None:
        return Score(0.0, 0.0)
    occurring = before > 0
    value = float((before[occurring] * np.log2(before[occurring] / after[occurring])).sum())
    return _score(max(value, 0.0), float(np.log2(recoded.domain.size)))


def _joint(recoding: Recoding) -> Floats | None:
    """Return the logarithm of the implied share of each original combination; None if there are too many pairs."""
    columns, first = recoding.of_quasi, recoding.originals.first
    lost = 1 - recoding.kept / recoding.records
    domain = sum(float(np.log2(column.domain.size)) for column in columns)
    shares = np.full(len(first), np.log2(lost) - domain if lost > 0 else -np.inf)
    if not recoding.kept:
        return shares
    rows, sizes = _shown(recoding)
    width = np.sum([bits(column)[column.at[rows]] for column in columns], axis=0)
    weight = np.log2(sizes / recoding.records) - width
    lost_records = recoding.records - recoding.kept
    nodes = [node for column in columns if (node := _steady(column, lost_records)) is not None]
    if len(nodes) == len(columns):
        nodes_of = _looked_up(recoding, first, rows, nodes)
        together: Floats = np.logaddexp2(shares, np.where(nodes_of >= 0, weight[nodes_of], -np.inf))
        return together
    return _looked_through(recoding, first, rows, weight, shares) if len(first) * len(rows) <= MOST else None


def _looked_through(recoding: Recoding, first: Ints, rows: Ints, weight: Floats, shares: Floats) -> Floats:
    """Add, for each original combination, the implied shares of all classes that may contain it."""
    for place, row in enumerate(rows.tolist()):
        holding = np.ones(len(first), bool)
        for column in recoding.of_quasi:
            member = np.zeros(column.domain.codes, bool)
            member[column.nodes.members(int(column.at[row]))] = True
            holding &= member[column.matched[first]]
        shares[holding] = np.logaddexp2(shares[holding], weight[place])
    return shares


def _shown(recoding: Recoding) -> tuple[Ints, Ints]:
    """Return a row for each released combination of sets, and its number of records."""
    rows, counts = recoding.representatives
    columns = recoding.of_quasi
    groups = group_rows([column.at[rows] for column in columns], [len(column.nodes) for column in columns], len(rows))
    return rows[groups.first], summed(groups.ids, counts, len(groups))


def _steady(column: Recoded, lost_records: int) -> Ints | None:
    """Return the set that each code is always released as, apart from suppressed records; None if it is not unique."""
    pairs, lost = column.pairs, column.nodes.lost[column.pairs.nodes]
    if int(pairs.counts[lost].sum()) != lost_records:  # single cells are suppressed or changed as well
        lost = np.zeros(len(lost), bool)
    codes, at = pairs.codes[~lost], pairs.nodes[~lost]
    nodes = np.full(column.domain.codes, -1)
    nodes[codes] = at
    used = np.unique(at)
    members, owner = _members(column, used)
    if len(np.unique(members)) < len(members) or not (nodes[codes] == at).all():
        return None
    holding = np.full(column.domain.codes, -1)
    holding[members] = owner
    return np.where(nodes < 0, holding, nodes)  # values of suppressed records only: the containing set


def _members(column: Recoded, used: Ints) -> tuple[Ints, Ints]:
    """Return the codes of some sets, and the set of each code."""
    parts = [column.nodes.members(node).astype(np.int64) for node in used.tolist()]
    return np.concatenate(parts), np.repeat(used, [len(part) for part in parts])


def _looked_up(recoding: Recoding, first: Ints, rows: Ints, nodes: list[Ints]) -> Ints:
    """Return the class of each original combination; −1 if there is none."""
    columns = recoding.of_quasi
    wanted = [node[column.matched[first]] for node, column in zip(nodes, columns, strict=True)]
    both = [
        np.concatenate([column.at[rows].astype(np.int64), want]) + 1
        for column, want in zip(columns, wanted, strict=True)
    ]
    groups = group_rows(
        [part.astype(np.uint32) for part in both], [len(column.nodes) + 1 for column in columns], len(both[0])
    )
    place = np.full(len(groups), -1)
    place[groups.ids[: len(rows)]] = np.arange(len(rows))
    return place[groups.ids[len(rows) :]]
