"""Guarding nodes: every individual names the part of the hierarchy of a sensitive column that they protect."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.classes.members import Counts
from shoal.errors import ModelError
from shoal.exact import Share
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.kernels.ratios import Ratios
from shoal.models.evidence import Evidence, View
from shoal.models.model import MODELS, Better, Model, Need, Number
from shoal.models.pairs import labels_of, pair_name
from shoal.remedy import ColumnSetting, Option, either
from shoal.table.column import SUPPRESSED


@MODELS.register("guarding-nodes")
class GuardingNodes(Model):
    """No individual is known to have a value below their guarding node with a probability above p.

    A column holds the guarding node of each individual: a value or a label of the hierarchy of the sensitive column,
    such as "any cancer". For every member i of a class of n persons, ``n_g / n ≤ p``, where n_g persons have a value
    below the node g of i. Individuals without a node have no demand. An individual with several records counts for each
    of their values, so that n_g / n is an upper bound. Xiao & Tao 2006. Attained: the largest share, 0 to 1; less is
    better.

    >>> import shoal
    >>> data = {"age": [34, 34, 34, 34], "dx": ["E11", "E10", "F20", "J45"], "guard": ["E*", None, None, "J45"]}
    >>> ladder = {"dx": {"kind": "prefix", "keep": [1]}}
    >>> shoal.guarding_nodes(data, quasi=["age"], sensitive=["dx"], hierarchies=ladder, threshold="guard")
    0.5
    """

    name: ClassVar[str] = "guarding-nodes"
    measured: ClassVar[Mapping[str, Better]] = {"p": Better.LESS}
    needs: ClassVar[frozenset[Need]] = frozenset({Need.SENSITIVE, Need.HIERARCHY, Need.THRESHOLD})
    always: ClassVar[tuple[str, ...]] = ("threshold",)

    column: str | None = Field(
        default=None, title="Sensitive column", description="sensitive column (default: the only one)"
    )
    threshold: str | None = Field(default=None, description="column with the guarding node of each individual")
    p: Share | None = Field(default=None, description="maximum probability of a value below a guarding node, 0 to 1")

    def pairs(self, sensitive: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
        """Return the sensitive column with that of the guarding nodes."""
        columns = sensitive[:1] if self.column is None and len(sensitive) == 1 else (self.column,)
        return tuple(
            (column, self.threshold) for column in columns if column is not None and self.threshold is not None
        )

    def views(self, quasi: tuple[str, ...], sensitive: tuple[str, ...]) -> list[View]:
        """Return the view of the sensitive values with the guarding nodes of their individuals."""
        pairs = self.pairs(sensitive)
        if not pairs:
            raise ModelError(
                "no-threshold",
                "The model {model} requires a sensitive column and the column with the guarding nodes.",
                remedy=either(Option("column"), Option("threshold")),
                model=self.name,
            )
        return [View(quasi, (pair_name(*pair),)) for pair in pairs]

    def measure(self, evidence: Evidence) -> Mapping[str, Number]:
        """Return the largest share of values below the guarding node of a member of the class."""
        shares = [guarded.max() for _, guarded in self._guarded(evidence)]
        return {"p": max(shares, default=Fraction(0))}

    def failing(self, evidence: Evidence) -> NDArray[np.bool_]:
        """Return the mask of classes in which the guarding node of a member has too large a share."""
        failing = np.zeros(len(evidence.classes.sizes), bool)
        for classes, guarded in self._guarded(evidence):
            failing[classes] |= ~guarded.at_most(Fraction(1) if self.p is None else self.p)
        return failing

    def individuals(self, evidence: Evidence, failing: NDArray[np.bool_]) -> int:
        """Return the number of individuals whose own demand is not met."""
        del failing
        histogram, limit = evidence.histogram, Fraction(1) if self.p is None else self.p
        guards, copies, unmet = _guards(histogram.column), evidence.classes.copies, 0
        for (guard, _), (classes, guarded) in zip(self._nodes(evidence), self._guarded(evidence), strict=True):
            of_guard = np.array([name == guard for name in guards])[histogram.codes]
            members = np.bincount(histogram.classes[of_guard], histogram.counts[of_guard], len(copies)) * copies
            unmet += int(members[classes][~guarded.at_most(limit)].sum())
        return unmet

    def _nodes(self, evidence: Evidence) -> Iterator[tuple[str, NDArray[np.bool_]]]:
        """Yield each guarding node, and a mask of the codes of pairs whose value is below it."""
        hierarchy, column = self._hierarchy(evidence), evidence.histogram.column
        values = [value for value, _ in labels_of(column)]
        for guard in sorted({guard for guard in _guards(column) if guard is not None}):
            below = _below(hierarchy, guard)
            yield guard, np.array([value in below for value in values])

    def _guarded(self, evidence: Evidence) -> Iterator[tuple[NDArray[np.intp], Ratios]]:
        """Yield, for each guarding node, the classes of its individuals, and the share of values below it in them."""
        histogram, guards = evidence.histogram, _guards(evidence.histogram.column)
        for guard, below in self._nodes(evidence):
            of_guard = np.array([name == guard for name in guards])[histogram.codes]
            classes = np.unique(histogram.classes[of_guard]).astype(np.intp)
            counts: Counts = histogram.summed(np.where(below[histogram.codes], histogram.counts, 0))[classes]
            sizes = evidence.classes.sizes[classes]
            yield classes, Ratios(np.minimum(counts, sizes), sizes)

    def _hierarchy(self, evidence: Evidence) -> Hierarchy:
        column = str(evidence.column).removesuffix(pair_name("", str(self.threshold)))
        hierarchy = evidence.hierarchies.get(column)
        if hierarchy is None:
            raise ModelError(
                "no-hierarchy",
                "The sensitive column '{column}' has no hierarchy.",
                remedy=either(ColumnSetting("hierarchy"), Option("hierarchies")),
                column=column,
            )
        return hierarchy


def _guards(pairs: object) -> list[str | None]:
    return [guard for _, guard in labels_of(pairs)]  # type: ignore[arg-type]


def _below(hierarchy: Hierarchy, guard: str) -> set[str | None]:
    """Return the values of a column that are below a node of its hierarchy, or equal to it."""
    if guard == SUPPRESSED:
        raise ModelError(
            "guards-everything",
            "Some individuals guard the top of the hierarchy of '{column}': every released value is below it.",
            remedy="Remove these individuals from the data, or let them guard a lower node.",
            column=hierarchy.column,
        )
    values = hierarchy.labels(0).to_pylist()
    for level in range(hierarchy.height + 1):
        nodes = hierarchy.labels(level).to_pylist()
        below = {value for value, node in zip(values, nodes, strict=True) if node == guard}
        if below:
            return below
    raise ModelError(
        "unknown-node",
        "A guarding node is no value and no label of the hierarchy of column '{column}', or no value is below it.",
        remedy="Write nodes exactly as in the hierarchy; leave them empty where nothing is to be guarded.",
        column=hierarchy.column,
    )
