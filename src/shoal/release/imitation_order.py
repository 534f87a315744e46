"""Order of imitation: the columns of artificial records in the order in which they are drawn, and the computed ones."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from shoal.analyses.equation import Equation
from shoal.analyses.places import as_numbers
from shoal.analyses.relations import Computed, Function, Relation
from shoal.recoding.nodes import Floats

_CLOSE = 0.1  # of the standard deviation: an equation that leaves more unknown does not compute a number


@dataclass(frozen=True, eq=False)
class ImitationOrder:
    """The columns to draw. Those with few values come first; what follows from others comes after them.

    ``computed``: the equation of each column that is computed from columns before it.
    """

    columns: tuple[str, ...]
    computed: Mapping[str, Computed]

    @classmethod
    def of(
        cls,
        places: Mapping[str, Floats],
        sizes: Mapping[str, int],
        relations: Sequence[Relation],
        given: Collection[str],
        closed: Collection[str],
    ) -> "ImitationOrder":
        """Order the columns that are not ``given``; those that are ``closed`` are not computed.

        ``places``: the values of true records. ``sizes``: the number of different values in each column.

        >>> from shoal.analyses.relations import Function
        >>> import numpy as np
        >>> town, state = np.arange(4.0), np.array([0.0, 0, 1, 1])
        >>> places = {"town": town, "state": state}
        >>> told = Function.of("town", "state", places, frozenset())
        >>> ImitationOrder.of(places, {"town": 4, "state": 2}, [told], [], []).columns
        ('state', 'town')
        """
        chosen = dict[str, Computed]()
        for relation in relations:
            if isinstance(relation, Computed):
                free = [name for name in relation.columns if name not in {*given, *closed, *chosen}]
                finest = max(free, key=lambda name: (sizes[name], -_gap(places[name])), default=None)
                _add(chosen, relation, finest, places)
        depths = _Depths(relations, chosen)
        names = [name for name in places if name not in given]
        return cls(tuple(sorted(names, key=lambda name: (depths.of(name), sizes[name]))), chosen)


@dataclass(frozen=True)
class _Depths:
    """How many computations come before each column."""

    relations: Sequence[Relation]
    chosen: Mapping[str, Computed]
    known: dict[str, int] = field(default_factory=dict)

    def of(self, name: str) -> int:
        """Return the depth of a column: one more than that of the columns from which it follows."""
        if name not in self.known:
            self.known[name] = 0  # a circle of columns that determine each other ends here
            told_by = [
                relation.known
                for relation in self.relations
                if isinstance(relation, Function)
                and relation.told == name
                and relation.known in self.chosen
                and name not in _inputs(relation.known, self.chosen)
            ]
            causes = self.chosen[name].causes if name in self.chosen else ()
            self.known[name] = max((1 + self.of(cause) for cause in (*causes, *told_by)), default=0)
        return self.known[name]


def _gap(places: Floats) -> float:
    """Return the smallest difference of two numbers, as a share of their spread: that of rounding."""
    known = np.unique(places[np.isfinite(places)])
    return float(np.diff(known).min(initial=np.inf)) / float(np.ptp(known) or 1.0) if len(known) else np.inf


def _add(chosen: dict[str, Computed], relation: Computed, told: str | None, places: Mapping[str, Floats]) -> None:
    """Add the equation of a column, unless its own value would be needed to compute it."""
    if told is None:
        return
    causes = tuple(name for name in relation.columns if name != told)
    numbers = as_numbers(places[told])
    equation = Equation.fitted(numbers, [as_numbers(places[name]) for name in causes])
    is_close = equation is not None and equation.rest <= _CLOSE * float(np.nanstd(numbers))
    if equation is not None and is_close and not any(told in _inputs(name, chosen) for name in causes):
        chosen[told] = Computed(causes, told, equation)


def _inputs(name: str, chosen: Mapping[str, Computed]) -> set[str]:
    """Return the columns from which a column is computed, directly or not."""
    causes = chosen[name].causes if name in chosen else ()
    return {*causes, *(other for cause in causes for other in _inputs(cause, chosen))}
