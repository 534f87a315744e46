"""Attained thresholds: what a table attains of every model that can be measured on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any

from shoal.models.evidence import Gatherer
from shoal.models.model import MODELS, Model, Need, Number
from shoal.table.missing import Missing


@dataclass(frozen=True, slots=True)
class Attainment:
    """Measures models on the roles of one table; what they share is counted once."""

    gatherer: Gatherer

    def of(self, model: Model) -> dict[str, Number]:
        """Return the thresholds that a table attains: the worst over all that the model looks at."""
        attained = []
        table = self.gatherer.table
        for view in model.views(table.quasi, table.sensitive):
            evidence = self.gatherer.evidence(view)
            model.admit(evidence)
            attained.append(model.measure(evidence))
        return {name: better.worst(values[name] for values in attained) for name, better in model.measured.items()}

    def all(self, models: Sequence[str] | None = None) -> dict[str, Any]:
        """Return the thresholds of several models, or of all that can be measured without asking for more."""
        chosen = [
            MODELS[name]() for name in (MODELS if models is None else models) if models or self.suffices(MODELS[name])
        ]
        # Those that look at sensitive values go first: what they have counted serves the others, too.
        order = sorted(chosen, key=lambda model: Need.SENSITIVE not in model.needs)
        values = {model.name: self.of(model) for model in order}
        return {model.name: shown(values[model.name]) for model in chosen}

    def suffices(self, model: type[Model]) -> bool:
        """Return whether a model can be measured without asking for more."""
        population, ladders = self.gatherer.population, self.gatherer.hierarchies
        table, rule = self.gatherer.table, self.gatherer.missing
        lacks = {
            Need.SENSITIVE: not table.sensitive,
            Need.HIERARCHY: any(name not in ladders for name in table.sensitive),
            Need.NUMBERS: any(not table[name].kind.numeric or table[name].missing for name in table.sensitive),
            Need.POPULATION: population is None,
            Need.REGISTER: population is None or population.register is None,
            Need.SUBSETS: True,
        }
        readable = model.reads_wildcards or rule is not Missing.WILDCARD
        return readable and not any(lacks[need] for need in model.needs)


def shown(values: Mapping[str, Number]) -> int | float | dict[str, int | float]:
    """Return one number as it is, several by name."""
    plain = {name: _nearest(value) for name, value in values.items()}
    return next(iter(plain.values())) if len(plain) == 1 else plain


def _nearest(value: Number) -> int | float:
    try:
        return float(value) if isinstance(value, Fraction) else value
    except OverflowError:  # larger than any double
        return inf if value > 0 else -inf
